// Products over axes of complex numbers, in the order of reduce.h.
#include <algorithm>
#include <cstring>

#include "runtime/kernels/reduce/reduce.h"
#include "runtime/math/complex_number.h"

namespace tfl {

namespace {

template <class T>
struct Products {
  static const T* at(const std::byte* p) { return reinterpret_cast<const T*>(p); }

  // Lanes of one block, as a tree: those that have an element.
  static T of_lanes(T* lanes, int64_t n) {
    int64_t have = std::min<int64_t>(n, kReduceLanes);
    for (int half = kReduceLanes / 2; half > 0; half /= 2) {
      for (int64_t j = 0; j + half < have && j < half; ++j) lanes[j] = lanes[j] * lanes[j + half];
      have = std::min<int64_t>(have, half);
    }
    return lanes[0];
  }
  static T of_block(const T* x, int64_t stride, int64_t n) {
    T lanes[kReduceLanes];
    for (int64_t i = 0; i < n; ++i)
      lanes[i % kReduceLanes] = i < kReduceLanes ? x[i * stride] : lanes[i % kReduceLanes] * x[i * stride];
    return of_lanes(lanes, n);
  }
  static void sequences(const std::byte* x, int64_t stride, int64_t count, int64_t n, std::byte* out) {
    for (int64_t i = 0; i < count; ++i) reinterpret_cast<T*>(out)[i] = of_block(at(x) + i * stride, 1, n);
  }
  static void columns(const std::byte* x, int64_t stride, int64_t rows, int64_t columns, std::byte* out) {
    for (int64_t c = 0; c < columns; ++c) reinterpret_cast<T*>(out)[c] = of_block(at(x) + c, stride, rows);
  }
  static void tree(std::byte* partials, int64_t blocks, int64_t width) {
    T* p = reinterpret_cast<T*>(partials);
    for (int64_t step = 1; step < blocks; step *= 2) {
      for (int64_t b = 0; b + step < blocks; b += 2 * step) {
        for (int64_t i = 0; i < width; ++i) p[b * width + i] = p[b * width + i] * p[(b + step) * width + i];
      }
    }
  }
  static void finish(const std::byte* partials, int64_t n, int64_t, std::byte* out) {
    std::memcpy(out, partials, static_cast<size_t>(n) * sizeof(T));
  }
  static constexpr ReduceLoop loop() { return {sizeof(T), sequences, columns, tree, finish}; }
};

}  // namespace

const ReduceLoop& complex_product_loop(DType dtype) {
  static constexpr ReduceLoop kSingle = Products<c64>::loop(), kDouble = Products<c128>::loop();
  return dtype == DType::C64 ? kSingle : kDouble;
}

}  // namespace tfl
