// Matrix products: what the driver (matmul.cpp) and the tiles of each instruction set level (isa/matmul.cpp) agree on.
//
// The value of one element of the product is defined by the language: inside each block of 512 values of k one chain of fused
// multiply-adds that begins at +0, in order of k; the results of the blocks added in order of k. Integers wrap. So how the
// product is cut into tiles and given to threads cannot be seen in the result.
#pragma once

#include <cstdint>

namespace tfl {

enum class IsaLevel : uint8_t;

inline constexpr int64_t kProductBlock = 512;  // of k
inline constexpr int64_t kAheadBytes = 64;     // a line
inline constexpr int kMaxTileRows = 16;
inline constexpr int kMaxTileVectors = 4;

/// A tile of c, some rows by some vectors of columns: c = a b, or c = c + a b, over k values. a[i, p] is a[i * a_row + p * a_k],
/// b[p, j] is b[p * b_k + j]. The last vector has `tail` columns in c; whole vectors of b are read, but for an `edge`, which
/// touches no other element of it. Meanwhile k lines from `ahead` on are fetched into the second-level cache, from wherever they are.
template <class T>
using ProductTile = void (*)(int64_t k, const T* a, int64_t a_row, int64_t a_k, const T* b, int64_t b_k, T* c, int64_t c_row,
                             int tail, bool add, const void* ahead);

template <class T>
struct ProductTiles {
  int lanes;                                               // columns of a vector
  int max_vectors;                                         // tiles have 1 .. max_vectors vectors
  int vectors;                                             // of a tile that does best where there are rows enough
  bool masked;                                             // there are edges
  int max_rows[kMaxTileVectors];                           // of a tile with that many vectors, less one
  ProductTile<T> tile[kMaxTileVectors][kMaxTileRows + 1];  // [vectors - 1][rows]
  ProductTile<T> edge[kMaxTileRows + 1];                   // of one vector
  int row_vectors;
  ProductTile<T> row;  // one row by row_vectors vectors
  /// One row by any number of columns, for a matrix that comes from far away: rows of b are read in long pieces. The chains go on in
  /// chains[j], from what stands there.
  void (*stream)(int64_t k, const T* a, int64_t a_k, const T* b, int64_t b_k, int64_t columns, T* chains);
  /// c[i] = sum over p of a[i * a_row + p] x[p * x_step], or that added to c[i].
  void (*dots)(int64_t rows, int64_t k, const T* a, int64_t a_row, const T* x, int64_t x_step, T* c, bool add);
  /// to[p * width + j] = b[j * b_col + p] for `columns` columns, zeros for the rest of the width.
  void (*pack_columns)(int64_t k, int64_t columns, int64_t width, const T* b, int64_t b_col, T* to);
};

struct ProductKernels {
  const ProductTiles<float>* f32;
  const ProductTiles<double>* f64;
  const ProductTiles<int32_t>* i32;
  const ProductTiles<int64_t>* i64;
};

const ProductKernels& product_kernels(IsaLevel isa);

}  // namespace tfl
