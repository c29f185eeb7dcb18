// Matrix products on threads, compiled once for each element type. Must not know tensors or operations.
#pragma once

#include <cstddef>

#include "runtime/kernels/product/product_batch.h"

namespace tfl {

inline namespace product_loops {
/// Elements of scratch memory that `run_products` needs, in lots for the threads: SIZE_MAX when they cannot be counted.
template <class T>
size_t products_scratch(const ProductBatch<T>& batch, const ProductTiles<T>& tiles, int threads);
/// `threads` > 1 uses the workers where the product is large enough; results do not depend on it.
template <class T>
void run_products(const Workers& workers, const ProductBatch<T>& batch, const ProductTiles<T>& tiles, int threads, T* scratch);
}  // namespace product_loops

}  // namespace tfl
