// matmul on tensors: batches, transposes as strides, the types that are computed in a wider one.
#include "runtime/kernels/product/matmul.h"

#include <algorithm>

#include "runtime/kernels/context_workers.h"
#include "runtime/kernels/product/product.h"
#include "runtime/ops/structural.h"

namespace tfl {

namespace {

struct Matrix {
  int64_t rows, cols, row_stride, col_stride;
};

Matrix matrix_of(const Tensor& t, bool transposed) {
  int r = t.rank() - (transposed ? 1 : 2), c = t.rank() - (transposed ? 2 : 1);
  return {t.dim(r), t.dim(c), t.strides()[r], t.strides()[c]};
}

// The strides of the batch axes of `t` against those of the result: 0 where it is broadcast.
Dims batch_strides(const Tensor& t, std::span<const int64_t> batch) {
  Dims out(batch.size(), 0);
  size_t own = static_cast<size_t>(t.rank() - 2);
  for (size_t i = 0; i < own; ++i) {
    if (t.dim(static_cast<int>(i)) != 1) out[batch.size() - own + i] = t.strides()[i];
  }
  return out;
}

int64_t batch_offset(int64_t index, std::span<const int64_t> batch, std::span<const int64_t> strides) {
  int64_t offset = 0;
  for (size_t i = batch.size(); i-- > 0;) {
    offset += index % batch[i] * strides[i];
    index /= batch[i];
  }
  return offset;
}

// A single b for every batch, and rows of a that follow each other at one distance: the batches are more rows.
bool batches_are_rows(const Tensor& a, const Matrix& x, std::span<const int64_t> batch, std::span<const int64_t> a_batch,
                      std::span<const int64_t> b_batch) {
  if (a.rank() < 2 || batch.empty()) return false;
  for (int64_t s : b_batch) {
    if (s != 0) return false;
  }
  int64_t distance = x.row_stride * x.rows;
  for (size_t i = batch.size(); i-- > 0;) {
    if (batch[i] != 1 && a_batch[i] != distance) return false;
    distance *= batch[i];
  }
  return true;
}

template <class T>
Result<void> multiply(Context& context, const ProductTiles<T>& tiles, const Tensor& a, const Tensor& b, bool ta, bool tb,
                      Tensor& out) {
  Matrix x = matrix_of(a, ta), y = matrix_of(b, tb);
  std::span<const int64_t> batch = out.dims().first(static_cast<size_t>(out.rank() - 2));
  Dims a_batch = batch_strides(a, batch), b_batch = batch_strides(b, batch);
  int64_t batches = 1;
  for (int64_t d : batch) batches *= d;
  Product<T> p{x.rows,      y.cols,       x.cols,       a.data<T>(),   x.row_stride, x.col_stride,
               b.data<T>(), y.row_stride, y.col_stride, out.data<T>(), y.cols};
  if (batches > 1 && batches_are_rows(a, x, batch, a_batch, b_batch)) {
    p.m *= batches;
    batches = 1;
  }
  struct Places {
    std::span<const int64_t> batch, a, b;
  } places{batch, a_batch, b_batch};
  ProductBatch<T> all{
      .one = p, .count = batches, .places = &places, .place = [](const void* self, int64_t i, int64_t& from_a, int64_t& from_b) {
        const auto& at = *static_cast<const Places*>(self);
        from_a = batch_offset(i, at.batch, at.a);
        from_b = batch_offset(i, at.batch, at.b);
      }};
  int threads = context.thread_count();
  Tensor scratch;
  if (size_t elements = products_scratch(all, tiles, threads)) {
    int64_t bytes;
    if (__builtin_mul_overflow(elements, sizeof(T), &bytes)) bytes = INT64_MAX;
    constexpr int64_t kHugePage = 2 << 20;
    if (bytes > kHugePage / 8) bytes = std::max(bytes, kHugePage);  // worth a large page
    scratch = TFL_TRY(Tensor::empty(context, DType::U8, Dims{bytes}));
  }
  run_products(workers_of(context), all, tiles, threads, scratch ? scratch.data<T>() : nullptr);
  return {};
}

Result<Tensor> converted(Context& context, const Tensor& t, DType dtype) {
  Attrs attrs;
  attrs.set_dtype(Attr::dtype, dtype);
  return apply1(context, Op::cast, {t}, attrs);
}

// Four products of parts, each in its own order; then (ar br - ai bi, ar bi + ai br).
Result<Tensor> complex_product(RunCall& call) {
  Context& context = call.context;
  const Tensor &a = call.operands[0], &b = call.operands[1];
  auto part = [&](Op op, const Tensor& t) { return apply1(context, op, {t}); };
  auto product = [&](const Tensor& x, const Tensor& y) { return apply1(context, Op::matmul, {x, y}, call.attrs); };
  Tensor ar = TFL_TRY(part(Op::real, a)), ai = TFL_TRY(part(Op::imag, a));
  Tensor br = TFL_TRY(part(Op::real, b)), bi = TFL_TRY(part(Op::imag, b));
  Tensor re = TFL_TRY(product(ar, br)), im = TFL_TRY(product(ar, bi));
  re = TFL_TRY(apply1(context, Op::subtract, {re, TFL_TRY(product(ai, bi))}));
  im = TFL_TRY(apply1(context, Op::add, {im, TFL_TRY(product(ai, br))}));
  return apply1(context, Op::complex, {re, im});
}

}  // namespace

Result<void> run_matmul(RunCall& call) {
  if (is_complex(call.operands[0].dtype())) return call.give(TFL_TRY(complex_product(call)));
  Context& context = call.context;
  Tensor a = call.operands[0], b = call.operands[1];
  DType dtype = a.dtype(), computed = dtype;
  if (dtype == DType::F16 || dtype == DType::BF16) computed = DType::F32;
  if (dtype == DType::I16 || dtype == DType::U8 || dtype == DType::U16) computed = DType::I32;
  if (computed != dtype) {
    a = TFL_TRY(converted(context, a, computed));
    b = TFL_TRY(converted(context, b, computed));
  }
  bool ta = call.attrs.get_bool(Attr::transpose_a), tb = call.attrs.get_bool(Attr::transpose_b);
  Tensor out = TFL_TRY(Tensor::empty(context, computed, call.types[0].dims));
  const ProductKernels& kernels = product_kernels(context.isa());
  if (out.size() > 0) {
    switch (computed) {
      case DType::F32: TFL_TRY(multiply(context, *kernels.f32, a, b, ta, tb, out)); break;
      case DType::F64: TFL_TRY(multiply(context, *kernels.f64, a, b, ta, tb, out)); break;
      case DType::I32:
      case DType::U32: TFL_TRY(multiply(context, *kernels.i32, a, b, ta, tb, out)); break;
      default: TFL_TRY(multiply(context, *kernels.i64, a, b, ta, tb, out)); break;
    }
  }
  if (computed != dtype) out = TFL_TRY(converted(context, out, dtype));
  return call.give(std::move(out));
}

}  // namespace tfl
