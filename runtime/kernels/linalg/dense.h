// Factorisations of large dense matrices over the products of runtime/kernels: blocked, so that most of the work is products. Each has one
// order of operations, whatever the number of threads. After an interrupt what is left is not computed. This header must not know tensors.
#pragma once

#include <cstdint>

#include "runtime/kernels/linalg/matrix_kernels.h"
#include "runtime/kernels/product/product.h"

namespace tfl::dense {

/// Elements from one row to the next: rows begin on a line, and do not all fall on the same cache sets.
constexpr int64_t stride_of(int64_t columns) {
  int64_t n = (columns + 7) / 8 * 8;
  return n % 64 == 0 ? n + 8 : n;
}
/// Elements of memory that a product of m x k by k x n may take for its copies, if rows of its first operand are dense.
constexpr int64_t product_memory(int64_t n, int64_t k) { return (n + 64) * k + 64; }

inline constexpr int64_t kReflections = 32;    // taken together
inline constexpr int64_t kPartsPay = 100'000;  // multiply-adds from which a second thread pays

/// Who computes, and the memory that is left for it.
template <class T>
struct Tools {
  Workers workers;
  const MatrixKernels<T>& kernels;
  const ProductTiles<T>& tiles;
  T* next;
  T* end;
  int threads = workers.threads;

  bool interrupted() const { return workers.interrupted(); }
  T* take(int64_t n) {
    T* from = next;
    next += (n + 7) / 8 * 8;
    if (next > end) __builtin_trap();  // the sizes below are wrong
    return from;
  }
  /// c = a b, or c + a b, with c of m x n.
  void multiply(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_row, const T* b, int64_t b_row, T* c, int64_t c_row,
                bool onto) const {
    ProductBatch<T> batch;
    batch.one = {m, n, k, a, a_row, 1, b, b_row, 1, c, c_row, onto};
    if (m == 0 || n == 0) return;
    const size_t needed = products_scratch(batch, tiles, threads);
    if (needed > static_cast<size_t>(end - next)) __builtin_trap();
    run_products(workers, batch, tiles, threads, needed ? next : nullptr);
  }
  /// body(part of these tools, first, last) over [0, n) in parts of `grain`, on the threads where that pays; each part has `memory` elements. `cost`: of one unit,
  /// in multiply-adds.
  template <class F>
  void parts(int64_t n, int64_t grain, int64_t cost, int64_t memory, const F& body) const {
    const int64_t count = (n + grain - 1) / grain;
    auto part = [&](int64_t i) {
      if (interrupted()) return;
      Tools own{workers, kernels, tiles, next + i * memory, next + (i + 1) * memory, 1};
      body(own, i * grain, (i + 1) * grain < n ? (i + 1) * grain : n);
    };
    if (count * memory > end - next) __builtin_trap();
    if (threads == 1 || count < 2 || n * cost < kPartsPay) {
      for (int64_t i = 0; i < count; ++i) part(i);
      return;
    }
    workers.parallel_for(count, 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) part(i);
    });
  }
};

// ---- elimination (dense_lu.cpp). `stride` is of `a`.

/// As lu_in_place of matrix.h.
template <class T>
int lu(Tools<T> tools, int64_t n, T* a, int64_t stride, int32_t* order);
/// b = inverse(a) b for a triangular a.
template <class T>
void triangular(Tools<T> tools, int64_t n, int64_t columns, const T* a, int64_t stride, T* b, int64_t b_stride, bool lower,
                bool unit);
/// y = the inverse of the lower triangle of a, with ones on its diagonal.
template <class T>
void lower_inverse(Tools<T> tools, int64_t n, const T* a, int64_t stride, T* y, int64_t y_stride);
/// The lower factor of what the lower triangle stands for; the upper one gets its transpose. False where it is not positive definite.
template <class T>
bool cholesky(Tools<T> tools, int64_t n, T* a, int64_t stride);
constexpr int64_t triangular_memory(int64_t n, int64_t columns) {
  return n * stride_of(n) + (columns + 64 + 128) * (n + 128) + 64;
}
constexpr int64_t lu_memory(int64_t n) { return 4 * n * stride_of(n) + 256 * n + 1024; }

// ---- reflections (dense_qr.cpp)

/// A reflection that takes (head, x) to (result, 0): x becomes the rest of its vector, whose first element is 1. Its factor, or 0 where x is 0.
template <class T>
T reflection(const MatrixKernels<T>& kernels, T& head, int64_t n, T* x);
/// t = the triangle of the product of `count` reflections, I - v' t v, whose vectors are the rows of v.
template <class T>
void reflection_triangle(const MatrixKernels<T>& kernels, int64_t count, int64_t n, const T* v, int64_t stride, const T* factors,
                         T* t);
/// a = (I - v' t v) a, or of the transposed product: a has n rows. `turned`: v', dense.
template <class T>
void reflect_columns(Tools<T> tools, int64_t count, int64_t n, const T* v, int64_t stride, const T* turned, const T* t,
                     bool transposed, int64_t columns, T* a, int64_t a_stride);
/// Each row x of a becomes (I - v' t v) x: a has n columns.
template <class T>
void reflect_rows(Tools<T> tools, int64_t count, int64_t n, const T* v, int64_t stride, const T* turned, const T* t, int64_t rows,
                  T* a, int64_t a_stride);
/// to = v', `count` columns wide.
template <class T>
void turn(int64_t count, int64_t n, const T* v, int64_t stride, T* to, int64_t to_stride);
constexpr int64_t reflect_memory(int64_t n, int64_t others) {
  return 2 * kReflections * stride_of(others) + 2 * (others + 64) * kReflections + (n + 64) * (kReflections + 64) +
         product_memory(others, n) + 1024;
}

/// Reflections whose product is to be applied: `count` vectors of `length` elements, vector i beginning with i zeros.
template <class T>
struct Reflections {
  int64_t count, length, stride;
  T *vectors, *triangles, *turned;  // `turned`: memory for a panel
  int64_t together(int64_t at) const { return kReflections < count - at ? kReflections : count - at; }
  int64_t last() const { return count == 0 ? -1 : (count - 1) / kReflections * kReflections; }
  T* panel(int64_t at) const { return vectors + at * stride + at; }
  T* triangle(int64_t at) const { return triangles + at * kReflections; }
};
/// Memory for those that make an m x n matrix triangular.
template <class T>
Reflections<T> reflections_of(Tools<T>& tools, int64_t m, int64_t n);
/// a (m x n) becomes R above its diagonal.
template <class T>
void qr_factor(Tools<T> tools, int64_t m, int64_t n, T* a, int64_t stride, const Reflections<T>& r);
/// Every row x of a becomes Q x.
template <class T>
void reflect_all_rows(Tools<T> tools, const Reflections<T>& r, int64_t rows, T* a, int64_t stride);
/// a (m x n) becomes R above its diagonal; q (m x k, where wanted) the first k columns of the orthogonal factor.
template <class T>
void qr(Tools<T> tools, int64_t m, int64_t n, T* a, int64_t stride, int64_t k, T* q, int64_t q_stride);
constexpr int64_t qr_memory(int64_t m, int64_t n, int64_t k) {
  const int64_t least = m < n ? m : n, most = n > k ? n : k;
  return (least + kReflections) * stride_of(m) + (least + 64) * kReflections + (m + 64) * 64 + reflect_memory(m, most) + 4096;
}

}  // namespace tfl::dense
