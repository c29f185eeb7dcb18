// Matrix products over strided operands, one or many of the same sizes: what is to be multiplied, and by whom. This header must not know
// tensors, operations or contexts: libraries made by `tfl build` run the same code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/kernels/product/matmul.h"
#include "runtime/kernels/workers.h"

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
  bool onto = false;  // the product is added to what c holds
  // Told when rows [first, last) of c have their value, on any thread, while they lie in a cache; every row once.
  void* finisher = nullptr;
  void (*finish)(void* finisher, int64_t first, int64_t last) = nullptr;
};

/// Products of the same sizes. Results lie one after the other.
template <class T>
struct ProductBatch {
  Product<T> one;  // the first; only a product that is alone may have a `finish`
  int64_t count = 1;
  int64_t a_step = 0, b_step = 0;  // elements from one operand to the next; 0: the same for all
  // Where the operands do not follow each other in steps: how far those of product `index` are from the first.
  const void* places = nullptr;
  void (*place)(const void* places, int64_t index, int64_t& a, int64_t& b) = nullptr;
};

/// The products that a call of machine code asks for, by whatever struct it does so.
template <class T, class Call>
ProductBatch<T> batch_of(const Call& c) {
  ProductBatch<T> b;
  b.one = {c.m,
           c.n,
           c.k,
           static_cast<const T*>(c.a),
           c.a_row,
           c.a_k,
           static_cast<const T*>(c.b),
           c.b_k,
           c.b_col,
           static_cast<T*>(c.result),
           c.n};
  b.count = c.batch;
  b.a_step = c.a_batch;
  b.b_step = c.b_batch;
  // One b for all, and rows of a that follow each other: the batches are more rows.
  if (b.count > 1 && c.b_batch == 0 && c.a_batch == c.m * c.a_row) {
    b.one.m *= b.count;
    b.count = 1;
  }
  return b;
}

/// Multiply-adds from which more than one thread pays.
inline constexpr int64_t kThreadedProduct = 1'000'000;

}  // namespace tfl
