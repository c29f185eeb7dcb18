#include "runtime/kernels/product/product.h"

#include "runtime/kernels/product/product_loops.h"

namespace tfl {

#define TFL_INSTANTIATE(T)                                                                                 \
  template size_t product_loops::products_scratch<T>(const ProductBatch<T>&, const ProductTiles<T>&, int); \
  template void product_loops::run_products<T>(const Workers&, const ProductBatch<T>&, const ProductTiles<T>&, int, T*);
TFL_INSTANTIATE(float)
TFL_INSTANTIATE(double)
TFL_INSTANTIATE(int32_t)
TFL_INSTANTIATE(int64_t)
#undef TFL_INSTANTIATE

}  // namespace tfl
