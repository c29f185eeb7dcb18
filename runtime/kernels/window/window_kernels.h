// The inner loops of convolutions and pooling, one copy an instruction set level (isa/window.cpp). What a window sees is given as
// pointers to where windows begin and a table of how far its elements lie from there, the same for all of them. Must not know
// tensors or operations.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tfl {

enum class IsaLevel : uint8_t;

inline constexpr int kMaxWindowRows = 8;
inline constexpr int kMaxWindowVectors = 4;

/// to[i, j] = sum over p < k of rows[i][offsets[p]] * b[p, j], one chain of fused multiply-adds that begins at from[i, j], or at
/// +0 without `from`; or that sum added to to[i, j]. `b` and `from` have whole vectors of columns, `to` has `tail` in its last.
template <class T>
struct WindowTile {
  int64_t k;
  const T* const* rows;
  const int64_t* offsets;
  const T* b;
  int64_t b_k;
  const T* from;
  int64_t from_row;
  T* to;
  int64_t to_row;
  int tail;
  bool add;
};

template <class T>
struct WindowLoops {
  int lanes;
  int max_vectors;
  int max_rows[kMaxWindowVectors];                                            // of a tile with that many vectors, less one
  void (*tile[kMaxWindowVectors][kMaxWindowRows + 1])(const WindowTile<T>&);  // [vectors - 1][rows]
  /// Channel by channel: to[i, c] = sum over p < k of rows[i][offsets[p] + c] * b[p, c]; no `tail`.
  void (*channels[kMaxWindowRows + 1])(int64_t channels, const WindowTile<T>&);
  // Windows that begin `step` elements apart; their k pixels are at `offsets` from there, and results follow each other.
  /// The largest, the first of equal ones; NaN is passed over. The lowest value of none.
  void (*largest)(int64_t windows, int64_t step, int64_t channels, int64_t k, const T* x, const int64_t* offsets, T* to);
  /// Which pixel it is, for one window; 0 when every one is NaN or the lowest value.
  void (*where_largest)(int64_t channels, int64_t k, const T* x, const int64_t* offsets, int32_t* to);
  /// Adds the gradient to the pixel in `to`, which lies like x. Some channels of `pixel`.
  void (*to_largest)(int64_t windows, int64_t step, int64_t channels, int64_t pixel, int64_t k, const T* x,
                     const int64_t* offsets, const T* g, T* to);
  /// (0 + first + second + ...) / divisor.
  void (*average)(int64_t windows, int64_t step, int64_t channels, int64_t k, const T* x, const int64_t* offsets, T divisor,
                  T* to);
  /// 0 + first * factors[0] + second * factors[1] + ..., every operation rounded; one window.
  void (*weighted)(int64_t channels, int64_t k, const T* x, const int64_t* offsets, const T* factors, T* to);
};

struct WindowKernels {
  const WindowLoops<float>* f32;
  const WindowLoops<double>* f64;
  const WindowLoops<int32_t>* i32;
  const WindowLoops<int64_t>* i64;
};

const WindowKernels& window_kernels(IsaLevel isa);

template <class T>
const WindowLoops<T>& loops_for(const WindowKernels& kernels) {
  if constexpr (std::is_same_v<T, float>)
    return *kernels.f32;
  else if constexpr (std::is_same_v<T, double>)
    return *kernels.f64;
  else if constexpr (std::is_same_v<T, int32_t>)
    return *kernels.i32;
  else
    return *kernels.i64;
}

}  // namespace tfl
