// One matrix product over strided operands: the plan (which tiles, what is packed, how many threads) around the tiles of
// matmul.h. Must not know tensors or operations.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/context.h"
#include "runtime/kernels/matmul.h"

namespace tfl {

/// c[i, j] = sum over p of a[i, p] b[p, j]; the columns of c are dense.
template <class T>
struct Product {
  int64_t m, n, k;
  const T* a;
  int64_t a_row, a_k;
  const T* b;
  int64_t b_k, b_col;
  T* c;
  int64_t c_row;
};

/// Elements of scratch memory that `run_product` needs, 0 for many small products.
template <class T>
size_t product_scratch(const Product<T>& p, const ProductTiles<T>& tiles, int threads);
/// `threads` > 1 uses the context's pool where the product is large enough; results do not depend on it.
template <class T>
void run_product(Context& context, const Product<T>& p, const ProductTiles<T>& tiles, int threads, T* scratch);

/// Multiply-adds from which more than one thread pays.
inline constexpr int64_t kThreadedProduct = 5'000'000;

}  // namespace tfl
