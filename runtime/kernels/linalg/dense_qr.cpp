// Householder reflections, taken together as I - v' t v, and the factorisation that is made of them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/kernels/linalg/dense.h"

namespace tfl::dense {

template <class T>
T reflection(const MatrixKernels<T>& kernels, T& head, int64_t n, T* x) {
  T squares = kernels.dot(n, x, x) + head * head;
  // Squares that overflow, or lose their digits, are taken of multiples.
  constexpr T kSmall = std::numeric_limits<T>::min() * T(1 << 20) / std::numeric_limits<T>::epsilon(),
              kLarge = std::numeric_limits<T>::max() / 4;
  T scale = 1;
  if (!(squares > kSmall && squares < kLarge)) {
    T most = 0;
    for (int64_t i = 0; i < n; ++i) most = std::max(most, std::fabs(x[i]));
    if (most == 0 && squares == squares) return 0;
    most = std::max(most, std::fabs(head));
    if (most < std::numeric_limits<T>::infinity()) {
      int exponent;
      std::frexp(most, &exponent);
      scale = std::ldexp(
          T(1), std::clamp(-exponent, -std::numeric_limits<T>::max_exponent + 2, std::numeric_limits<T>::max_exponent - 2));
      for (int64_t i = 0; i < n; ++i) x[i] *= scale;
      head *= scale;
      squares = kernels.dot(n, x, x) + head * head;
    }
  } else if (kernels.dot(n, x, x) == 0) {
    // A column that is zero below the diagonal is left as it is, its sign too, as LAPACK and Eigen do.
    bool clear = true;
    for (int64_t i = 0; i < n && clear; ++i) clear = x[i] == 0;
    if (clear) return 0;
  }
  const T norm = std::sqrt(squares), result = head >= 0 ? -norm : norm, away = head - result;
  for (int64_t i = 0; i < n; ++i) x[i] /= away;
  const T factor = -away / result;
  head = result / scale;
  return factor;
}

template <class T>
void reflection_triangle(const MatrixKernels<T>& kernels, int64_t count, int64_t n, const T* v, int64_t stride, const T* factors,
                         T* t) {
  T along[kReflections];
  for (int64_t j = 0; j < count; ++j) {
    kernels.dots(j, n, v, stride, v + j * stride, along);
    for (int64_t i = 0; i < count; ++i) {
      T sum = 0;
      for (int64_t k = i; k < j; ++k) sum += t[i * count + k] * along[k];
      t[i * count + j] = i < j ? -factors[j] * sum : i == j ? factors[j] : 0;
    }
  }
}

template <class T>
void turn(int64_t count, int64_t n, const T* v, int64_t stride, T* to, int64_t to_stride) {
  constexpr int64_t kBlock = 16;
  for (int64_t i0 = 0; i0 < n; i0 += kBlock) {
    for (int64_t j = 0; j < count; ++j) {
      for (int64_t i = i0; i < std::min(n, i0 + kBlock); ++i) to[i * to_stride + j] = v[j * stride + i];
    }
  }
}

template <class T>
void reflect_columns(Tools<T> tools, int64_t count, int64_t n, const T* v, int64_t stride, const T* turned, const T* t,
                     bool transposed, int64_t columns, T* a, int64_t a_stride) {
  if (columns == 0 || tools.interrupted()) return;
  const int64_t width = stride_of(columns);
  T *along = tools.take(count * width), *scaled = tools.take(count * width), *minus = tools.take(count * count);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < count; ++j) minus[i * count + j] = -(transposed ? t[j * count + i] : t[i * count + j]);
  }
  tools.multiply(count, columns, n, v, stride, a, a_stride, along, width, false);
  tools.multiply(count, columns, count, minus, count, along, width, scaled, width, false);
  tools.multiply(n, columns, count, turned, kReflections, scaled, width, a, a_stride, true);
}

template <class T>
void reflect_rows(Tools<T> tools, int64_t count, int64_t n, const T* v, int64_t stride, const T* turned, const T* t, int64_t rows,
                  T* a, int64_t a_stride) {
  if (rows == 0 || tools.interrupted()) return;
  const int64_t width = kReflections + 8;
  T *along = tools.take(rows * width), *scaled = tools.take(rows * width), *minus = tools.take(count * count);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < count; ++j) minus[i * count + j] = -t[j * count + i];
  }
  tools.multiply(rows, count, n, a, a_stride, turned, kReflections, along, width, false);
  tools.multiply(rows, count, count, along, width, minus, count, scaled, width, false);
  tools.multiply(rows, n, count, scaled, width, v, stride, a, a_stride, true);
}

template <class T>
Reflections<T> reflections_of(Tools<T>& tools, int64_t m, int64_t n) {
  Reflections<T> r{std::min(m, n), m, stride_of(m), nullptr, nullptr, nullptr};
  r.vectors = tools.take(r.count * r.stride);
  r.triangles = tools.take((r.count + kReflections) * kReflections);
  r.turned = tools.take(m * kReflections);
  return r;
}

template <class T>
void qr_factor(Tools<T> tools, int64_t m, int64_t n, T* a, int64_t stride, const Reflections<T>& r) {
  T factors[kReflections], along[kReflections];
  for (int64_t at = 0; at < r.count && !tools.interrupted(); at += kReflections) {
    const int64_t count = r.together(at), rows = m - at, length = r.stride;
    T *panel = r.panel(at), *t = r.triangle(at), *corner = a + at * stride + at;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < count; ++j) panel[j * length + i] = corner[i * stride + j];
    }
    for (int64_t j = 0; j < count; ++j) {
      T* v = panel + j * length;
      for (int64_t i = 0; i < j; ++i) corner[i * stride + j] = v[i], v[i] = 0;
      factors[j] = reflection(tools.kernels, v[j], rows - j - 1, v + j + 1);
      corner[j * stride + j] = v[j];
      v[j] = 1;
      if (factors[j] == 0) continue;
      tools.kernels.dots(count - j - 1, rows - j, v + length + j, length, v + j, along);
      for (int64_t l = j + 1; l < count; ++l)
        tools.kernels.add(rows - j, -factors[j] * along[l - j - 1], v + j, panel + l * length + j);
    }
    for (int64_t i = 1; i < rows; ++i) std::fill(corner + i * stride, corner + i * stride + std::min(i, count), T(0));
    reflection_triangle(tools.kernels, count, rows, panel, length, factors, t);
    turn(count, rows, panel, length, r.turned, kReflections);
    reflect_columns(tools, count, rows, panel, length, r.turned, t, true, n - at - count, corner + count, stride);
  }
}

template <class T>
void reflect_all_rows(Tools<T> tools, const Reflections<T>& r, int64_t rows, T* a, int64_t stride) {
  for (int64_t at = r.last(); at >= 0 && !tools.interrupted(); at -= kReflections) {
    turn(r.together(at), r.length - at, r.panel(at), r.stride, r.turned, kReflections);
    reflect_rows(tools, r.together(at), r.length - at, r.panel(at), r.stride, r.turned, r.triangle(at), rows, a + at, stride);
  }
}

template <class T>
void qr(Tools<T> tools, int64_t m, int64_t n, T* a, int64_t stride, int64_t k, T* q, int64_t q_stride) {
  const Reflections<T> r = reflections_of(tools, m, n);
  qr_factor(tools, m, n, a, stride, r);
  for (int64_t i = 0; i < m && k > 0; ++i) {
    std::fill(q + i * q_stride, q + i * q_stride + k, T(0));
    if (i < k) q[i * q_stride + i] = 1;
  }
  for (int64_t at = r.last(); at >= 0 && k > 0 && !tools.interrupted(); at -= kReflections) {
    turn(r.together(at), m - at, r.panel(at), r.stride, r.turned, kReflections);
    reflect_columns(tools, r.together(at), m - at, r.panel(at), r.stride, r.turned, r.triangle(at), false, k - at,
                    q + at * q_stride + at, q_stride);
  }
}

#define TFL_INSTANTIATE(T)                                                                                                \
  template T reflection<T>(const MatrixKernels<T>&, T&, int64_t, T*);                                                     \
  template void reflection_triangle<T>(const MatrixKernels<T>&, int64_t, int64_t, const T*, int64_t, const T*, T*);       \
  template void turn<T>(int64_t, int64_t, const T*, int64_t, T*, int64_t);                                                \
  template void reflect_columns<T>(Tools<T>, int64_t, int64_t, const T*, int64_t, const T*, const T*, bool, int64_t, T*,  \
                                   int64_t);                                                                              \
  template void reflect_rows<T>(Tools<T>, int64_t, int64_t, const T*, int64_t, const T*, const T*, int64_t, T*, int64_t); \
  template Reflections<T> reflections_of<T>(Tools<T>&, int64_t, int64_t);                                                 \
  template void qr_factor<T>(Tools<T>, int64_t, int64_t, T*, int64_t, const Reflections<T>&);                             \
  template void reflect_all_rows<T>(Tools<T>, const Reflections<T>&, int64_t, T*, int64_t);                               \
  template void qr<T>(Tools<T>, int64_t, int64_t, T*, int64_t, int64_t, T*, int64_t);
TFL_INSTANTIATE(float)
TFL_INSTANTIATE(double)
#undef TFL_INSTANTIATE

}  // namespace tfl::dense
