// The inner loops of Fourier transforms, one copy an instruction set level (isa/fourier.cpp). Complex numbers are pairs, and all steps are in
// elements of T unless they are said to count pairs. This header must not know who sets memory aside.
#pragma once

#include "runtime/kernels/fourier/fourier_plan.h"

namespace tfl {

enum class IsaLevel : uint8_t;

/// Which transform: the sign of the exponent, what the results are multiplied by, and what those bins of half a spectrum are that the other
/// half has, too.
template <class T>
struct FourierWay {
  bool inverse;
  T scale, sides = T(1);
};

template <class T>
struct FourierKernels {
  /// exp(-2 pi i at[j] / n) as pairs (c, s), at[j] < n < 2^48.
  void (*roots)(int64_t n, const int64_t* at, int64_t count, T* out);
  /// The first step of a row, for p in [first, last); first is a multiple of 16.
  void (*first)(const FourierStep<T>& step, const FourierWay<T>& way, bool ends, const T* x, T* y, int64_t first, int64_t last);
  /// Another step of a row, for p s + q in [first, last).
  void (*next)(const FourierStep<T>& step, const FourierWay<T>& way, bool ends, const T* x, T* y, int64_t first, int64_t last);
  /// All steps for `vectors` vectors of transforms that lie side by side; z has room for as many.
  void (*columns)(const FourierPlan<T>& plan, const FourierWay<T>& way, const T* x, int64_t x_step, T* y, int64_t y_step,
                  int vectors, T* z);
  int lanes;  // complex numbers in a vector
  /// Rows of n pairs side by side as `vectors` vectors of lanes, and back. At most lanes * vectors rows; others are zeros, and not written.
  void (*turn_in)(const T* x, int64_t x_row, int rows, int64_t n, T* out, int vectors);
  void (*turn_out)(const T* in, int vectors, T* y, int64_t y_row, int rows, int64_t n);
  /// Between the transform of n pairs and that of the 2 n real numbers they are. Forward x and y may be the same; y has n + 1 pairs then.
  void (*fold)(const FourierPlan<T>& plan, const FourierWay<T>& way, const T* x, T* y, int64_t first, int64_t last);
  /// y = x (c - i s) scale, or the conjugate.
  void (*multiply)(const FourierWay<T>& way, const T* x, const T* roots, T* y, int64_t n);
};

struct FourierLevel {
  const FourierKernels<float>* f32;
  const FourierKernels<double>* f64;
};

const FourierLevel& fourier_level(IsaLevel isa);

}  // namespace tfl
