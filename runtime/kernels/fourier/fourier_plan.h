// How the discrete Fourier transform of one length is computed: in which steps, and with which roots of unity. All of it follows from the
// length alone, so that a transform has the same bits whatever the instruction set, the number of threads and what stands beside it.
//
// n = R_1 ... R_t. Step j, with s = R_1 ... R_{j-1} and m = n / (s R_j), in Stockham's order:
//   y[q + s (R p + k)] = w^{p k} sum_i x[q + s (p + m i)] u^{i k},   q < s, p < m, k < R,   w = exp(-2 pi i / (R m)), u = exp(-2 pi i / R)
// The sum is a transform of length R <= kMostRadix by butterflies in the same order. A length with a large prime factor is a convolution
// of a longer transform (Bluestein). This header must not know tensors.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tfl {

inline constexpr int64_t kMostRadix = 256;      // of a step
inline constexpr int64_t kMostButterfly = 127;  // of a prime factor
inline constexpr int64_t kMostSteps = 8;
inline constexpr int64_t kRootGroup = 8;        // roots that lie side by side for vectors
inline constexpr int64_t kFineRoots = 64;       // of the transforms of real numbers
inline constexpr int64_t kRootTable = 1 << 14;  // more roots than these are products of two

/// Roots are pairs (c, s) for c - i s, each computed in double and rounded once.
template <class T>
struct FourierStep {
  int64_t radix, s, m;
  int parts;
  uint8_t part[8];     // its butterflies in order
  const T* inner[8];   // behind each but the last: roots [p][k], without k = 0
  const T* spokes[8];  // of butterflies of an odd number: all its roots
  // w^{p k}. Of the first step [p / 8][k][p % 8], of others [p][k]. Null in the last step.
  // With `coarse`, [p / 8][k], there are only those of p < 8: the root is the product.
  const T *roots, *coarse;
};

template <class T>
struct FourierPlan {
  int64_t n;
  int steps;  // 0: a convolution
  FourierStep<T> step[kMostSteps];
  // Of transforms of 2 n real numbers: exp(-2 pi i k / 2n) for k <= n / 2; with `half_coarse` those of k < kFineRoots, and of multiples of that.
  const T *half, *half_coarse;
  // Of a convolution: the transform of its length, exp(-pi i k^2 / n), and the conjugate's spectrum divided by the length.
  const FourierPlan* longer;
  const T *chirp, *filter;
};

template <class T>
struct FourierKernels;

/// The length that a convolution takes in place of n; 0: n has no large prime factor.
int64_t fourier_padded(int64_t n);

/// The plans that a context keeps: made at first use, found without a lock by several threads.
class FourierPlans {
 public:
  FourierPlans() = default;
  FourierPlans(const FourierPlans&) = delete;
  FourierPlans& operator=(const FourierPlans&) = delete;
  ~FourierPlans();

  struct Entry;
  /// A plan for as long as this lives; null without memory. Tables beyond kKept bytes in all go with it.
  template <class T>
  class Use {
   public:
    Use(FourierPlans& plans, int64_t n, bool real, const FourierKernels<T>& kernels, const FourierKernels<double>& exact);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    const FourierPlan<T>* plan() const { return plan_; }

   private:
    Entry* entry_ = nullptr;
    const FourierPlan<T>* plan_ = nullptr;
  };

 private:
  static constexpr size_t kKept = size_t{64} << 20;
  std::atomic<Entry*> first_{nullptr};
  std::atomic<size_t> bytes_{0};
};

}  // namespace tfl
