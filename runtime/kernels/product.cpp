#include "runtime/kernels/product.h"

#include "runtime/kernels/product_loops.h"
#include "runtime/threads/thread_pool.h"

namespace tfl {

namespace {

Workers workers_of(Context& context) {
  static_assert(sizeof(context.interrupt) == sizeof(uint32_t));
  Workers w;
  w.threads = context.thread_count();
  w.interrupt = reinterpret_cast<const uint32_t*>(&context.interrupt);
  w.self = &context;
  w.run = [](void* self, int64_t n, int64_t grain, void (*body)(void*, int64_t, int64_t), void* argument) {
    static_cast<Context*>(self)->threads().parallel_for(n, grain, [=](int64_t first, int64_t last) { body(argument, first, last); });
  };
  return w;
}

}  // namespace

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
  template void run_product<T>(Context&, const Product<T>&, const ProductTiles<T>&, int, T*);
TFL_INSTANTIATE(float)
TFL_INSTANTIATE(double)
TFL_INSTANTIATE(int32_t)
TFL_INSTANTIATE(int64_t)
#undef TFL_INSTANTIATE

}  // namespace tfl
