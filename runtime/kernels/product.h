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
  // Operands that lie nowhere as a matrix (the windows of a convolution) are copied from `source` block by block; a and b, where
  // their function is set, are not looked at.
  const void* source = nullptr;
  /// to[i * to_row + j] = a[row + i, p + j]
  void (*pack_a)(const void* source, int64_t row, int64_t rows, int64_t p, int64_t k, T* to, int64_t to_row) = nullptr;
  /// to[j * to_k + i] = b[p + j, column + i]
  void (*pack_b)(const void* source, int64_t p, int64_t k, int64_t column, int64_t columns, T* to, int64_t to_k) = nullptr;
  // Told when rows [first, last) of c have their value, on any thread, while they lie in a cache; every row once.
  void* finisher = nullptr;
  void (*finish)(void* finisher, int64_t first, int64_t last) = nullptr;
};

/// Products of the same sizes. Results lie one after the other.
template <class T>
struct ProductBatch {
  Product<T> one;                   // the first; only a product that is alone may have a `finish`
  int64_t count = 1;
  int64_t a_step = 0, b_step = 0;   // elements from one operand to the next; 0: the same for all
  // Where the operands do not follow each other in steps: how far those of product `index` are from the first.
  const void* places = nullptr;
  void (*place)(const void* places, int64_t index, int64_t& a, int64_t& b) = nullptr;
};

/// Elements of scratch memory that `run_product` needs, 0 for many small products.
template <class T>
size_t product_scratch(const Product<T>& p, const ProductTiles<T>& tiles, int threads);
/// `threads` > 1 uses the context's pool where the product is large enough; results do not depend on it.
template <class T>
void run_product(Context& context, const Product<T>& p, const ProductTiles<T>& tiles, int threads, T* scratch);

/// Elements of scratch memory that `run_products` needs, in lots for the threads: SIZE_MAX when they cannot be counted.
template <class T>
size_t products_scratch(const ProductBatch<T>& batch, const ProductTiles<T>& tiles, int threads);
template <class T>
void run_products(Context& context, const ProductBatch<T>& batch, const ProductTiles<T>& tiles, int threads, T* scratch);

/// Multiply-adds from which more than one thread pays.
inline constexpr int64_t kThreadedProduct = 5'000'000;

}  // namespace tfl
