#include "runtime/kernels/product.h"

#include "runtime/kernels/product_loops.h"
#include "runtime/kernels/context_workers.h"

namespace tfl {

template <class T>
void run_product(Context& context, const Product<T>& p, const ProductTiles<T>& tiles, int threads, T* scratch) {
  product_loops::run_product(workers_of(context), p, tiles, threads, scratch);
}
template <class T>
void run_products(Context& context, const ProductBatch<T>& batch, const ProductTiles<T>& tiles, int threads, T* scratch) {
  product_loops::run_products(workers_of(context), batch, tiles, threads, scratch);
}

#define TFL_INSTANTIATE(T)                                                                                    \
  template size_t product_loops::product_scratch<T>(const Product<T>&, const ProductTiles<T>&, int);          \
  template size_t product_loops::products_scratch<T>(const ProductBatch<T>&, const ProductTiles<T>&, int);    \
  template void run_products<T>(Context&, const ProductBatch<T>&, const ProductTiles<T>&, int, T*);           \
  template void product_loops::run_products<T>(const Workers&, const ProductBatch<T>&, const ProductTiles<T>&, int, T*); \
  template void run_product<T>(Context&, const Product<T>&, const ProductTiles<T>&, int, T*);
TFL_INSTANTIATE(float)
TFL_INSTANTIATE(double)
TFL_INSTANTIATE(int32_t)
TFL_INSTANTIATE(int64_t)
#undef TFL_INSTANTIATE

}  // namespace tfl
