// Matrix products on the threads of a context. Must not know tensors or operations.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/context.h"
#include "runtime/kernels/product_batch.h"

namespace tfl {

/// Elements of scratch memory that `run_product` needs, 0 for many small products.
inline namespace product_loops {
template <class T>
size_t product_scratch(const Product<T>& p, const ProductTiles<T>& tiles, int threads);
}  // namespace product_loops
/// `threads` > 1 uses the context's pool where the product is large enough; results do not depend on it.
template <class T>
void run_product(Context& context, const Product<T>& p, const ProductTiles<T>& tiles, int threads, T* scratch);

/// Elements of scratch memory that `run_products` needs, in lots for the threads: SIZE_MAX when they cannot be counted.
inline namespace product_loops {
template <class T>
size_t products_scratch(const ProductBatch<T>& batch, const ProductTiles<T>& tiles, int threads);
}  // namespace product_loops
template <class T>
void run_products(Context& context, const ProductBatch<T>& batch, const ProductTiles<T>& tiles, int threads, T* scratch);
/// The same on `workers`.
inline namespace product_loops {
template <class T>
void run_products(const Workers& workers, const ProductBatch<T>& batch, const ProductTiles<T>& tiles, int threads, T* scratch);
}  // namespace product_loops

}  // namespace tfl
