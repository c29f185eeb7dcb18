// Loops over the channels of rows of pixels: what windows are computed with where no matrix product serves. Each result element is one
// chain in order of the rows given. Must not know tensors or operations.
#pragma once

#include <cstdint>

namespace tfl {

enum class IsaLevel : uint8_t;

template <class T>
struct WindowLoops {
  /// out[c] = fma(x[i][c], w[i][c], ...) from +0 over i < count, or that added to out[c].
  void (*multiply_add)(int64_t channels, int64_t count, const T* const* x, const T* const* w, T* out, bool add);
  /// out[c] = the largest of rows[i][c], the first of equal ones; NaN is passed over. The lowest value of none.
  void (*largest)(int64_t channels, int64_t count, const T* const* rows, T* out);
  /// Which row it comes from; 0 when every one is NaN or the lowest value.
  void (*where_largest)(int64_t channels, int64_t count, const T* const* rows, int32_t* out);
  /// out[c] = (rows[0][c] + rows[1][c] + ...) / divisor.
  void (*average)(int64_t channels, int64_t count, const T* const* rows, T divisor, T* out);
  /// out[c] = rows[0][c] * factors[0] + rows[1][c] * factors[1] + ..., every operation rounded.
  void (*weighted)(int64_t channels, int64_t count, const T* const* rows, const T* factors, T* out);
};

struct WindowKernels {
  const WindowLoops<float>* f32;
  const WindowLoops<double>* f64;
  const WindowLoops<int32_t>* i32;
  const WindowLoops<int64_t>* i64;
};

const WindowKernels& window_kernels(IsaLevel isa);

}  // namespace tfl
