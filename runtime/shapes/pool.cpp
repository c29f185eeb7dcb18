// Shape rules of pooling and of changing the size of images.
#include <algorithm>

#include "runtime/shapes/rules.h"
#include "runtime/shapes/window.h"

namespace tfl {

using namespace shape_rules;

namespace {

constexpr DType kFloats[] = {DType::F16, DType::BF16, DType::F32, DType::F64};
constexpr DType kPoolTypes[] = {DType::F16, DType::BF16, DType::F32, DType::F64, DType::I32, DType::I64,
                                DType::U8,  DType::I16,  DType::I8,  DType::U16, DType::U32, DType::U64};

std::string_view name_of(const InferCall& call) { return op_info(call.op).tf_name; }

// The result's sizes for windows over x.
Result<Dims> pooled(InferCall& call, const TensorType& x) {
  const Dims& ksize = *call.attrs.get_ints(Attr::ksize);
  const Dims& strides = *call.attrs.get_ints(Attr::strides);
  size_t axes = ksize.size();
  if (x.ranked && x.dims.size() != axes + 2)
    return invalid(call.op, "tensor_in_shape must have {} spatial dimensions. {} 0", axes, x.dims.size());
  for (int64_t k : ksize) {
    if (k <= 0) {
      std::string sizes = shape_words(ksize);
      return invalid(call.op, "Sliding window ksize must be positive. The specified or inferred ksize is: 1,{},1",
                     sizes.substr(1, sizes.size() - 2));
    }
  }
  for (int64_t s : strides) {
    if (s <= 0) return invalid(call.op, "Stride must be > 0, but got {}", s);
  }
  if (const Dims* pads = call.attrs.get_ints(Attr::explicit_paddings)) {
    constexpr std::string_view kSides[] = {"Top", "Bottom", "Left", "Right"};
    for (size_t i = 0; i < pads->size() && axes == 2; ++i) {
      if ((*pads)[i] >= ksize[i / 2])
        return invalid(call.op, "{} padding {} needs to be smaller than the window size {}", kSides[i], (*pads)[i], ksize[i / 2]);
    }
  }
  Dims in = x.ranked ? x.dims : Dims(axes + 2, -1);
  Windows w = TFL_TRY(make_windows(call.op, in.span().subspan(1, axes), ksize, call.attrs));
  Dims out{in[0]};
  for (size_t i = 3 - axes; i < 3; ++i) out.push_back(w.axes[i].out);
  out.push_back(in[axes + 1]);
  TFL_TRY(product(call.op, out));
  return out;
}

Result<void> check_sizes(InferCall& call, std::string_view what, std::span<const int64_t> expected, const TensorType& t) {
  bool fits = !t.ranked || t.dims.size() == expected.size();
  for (size_t i = 0; fits && t.ranked && i < expected.size(); ++i) fits = may_equal(expected[i], t.dims[i]);
  if (fits) return {};
  return invalid(call.op, "Expected {} shape to be {}, but got {}", what, shape_words(expected), shape_words(t.dims));
}

}  // namespace

Result<void> infer_max_pool(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  TFL_TRY(check_dtype(name_of(call), "T", x.dtype, std::span<const DType>(kPoolTypes).first(10)));
  return give(call, ranked(x.dtype, TFL_TRY(pooled(call, x))));
}

Result<void> infer_max_pool_grad(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  TFL_TRY(check_dtype(name_of(call), "T", x.dtype, kPoolTypes));
  TFL_TRY(check_same_dtype(name_of(call), 1, x.dtype, call.operands[1].type.dtype));
  TFL_TRY(check_same_dtype(name_of(call), 2, x.dtype, call.operands[2].type.dtype));
  Dims out = TFL_TRY(pooled(call, x));
  TFL_TRY(check_sizes(call, "orig_output", out, call.operands[1].type));
  TFL_TRY(check_sizes(call, "grad", out, call.operands[2].type));
  return give(call, x);
}

Result<void> infer_max_pool_with_argmax(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  TFL_TRY(check_dtype(name_of(call), "T", x.dtype, kPoolTypes));
  Dims out = TFL_TRY(pooled(call, x));
  TFL_TRY(give(call, ranked(x.dtype, out)));
  return give(call, ranked(call.attrs.get_dtype(Attr::dtype, DType::I64), std::move(out)));
}

Result<void> infer_avg_pool(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  TFL_TRY(check_dtype(name_of(call), "T", x.dtype, kFloats));
  return give(call, ranked(x.dtype, TFL_TRY(pooled(call, x))));
}

Result<void> infer_avg_pool_grad(InferCall& call) {
  const TensorType& g = call.operands[1].type;
  TFL_TRY(check_dtype(name_of(call), "T", g.dtype, kFloats));
  size_t rank = call.attrs.get_ints(Attr::ksize)->size() + 2;
  std::optional<Dims> sizes = integers(call.operands[0]);
  if (sizes && sizes->size() != rank) return invalid(call.op, "out_backprop must be {}-dimensional", rank);
  TensorType x = ranked(g.dtype, sizes ? *sizes : Dims(rank, -1));
  Dims out = TFL_TRY(pooled(call, x));
  TFL_TRY(check_sizes(call, "grad", out, g));
  TFL_TRY(product(call.op, x.dims));
  return give(call, std::move(x));
}

// ------------------------------------------------------------------------------------------------------------- resizing

namespace {

// Height and width that operand 1 holds.
Result<Dims> new_size(InferCall& call) {
  const OperandInfo& size = call.operands[1];
  TFL_TRY(check_same_dtype(name_of(call), 1, DType::I32, size.type.dtype));
  if (size.type.ranked && size.type.dims.size() != 1)
    return invalid(call.op, "shape_t must be 1-dimensional{}", shape_words(size.type.dims));
  std::optional<Dims> values = integers(size);
  if (!values) return Dims{-1, -1};
  if (values->size() != 2) return invalid(call.op, "shape_t must have two elements[{}]", values->size());
  for (int64_t d : *values) {
    if (d <= 0) return invalid(call.op, "output dimensions must be positive");
  }
  return *values;
}

Result<void> check_images(InferCall& call, const TensorType& x) {
  if (x.ranked && x.dims.size() != 4) return invalid(call.op, "input must be 4-dimensional{}", shape_words(x.dims));
  if (x.ranked && (x.dims[1] == 0 || x.dims[2] == 0)) return invalid(call.op, "input image must be of non-zero size");
  return {};
}

Result<void> resized(InferCall& call, DType dtype) {
  const TensorType& x = call.operands[0].type;
  TFL_TRY(check_dtype(name_of(call), "T", x.dtype, std::span<const DType>(kPoolTypes).first(10)));
  Dims size = TFL_TRY(new_size(call));
  TFL_TRY(check_images(call, x));
  Dims out = x.ranked ? Dims{x.dims[0], size[0], size[1], x.dims[3]} : Dims{-1, size[0], size[1], -1};
  TFL_TRY(product(call.op, out));
  return give(call, ranked(dtype, std::move(out)));
}

}  // namespace

Result<void> infer_resize_bilinear(InferCall& call) { return resized(call, DType::F32); }
Result<void> infer_resize_nearest(InferCall& call) { return resized(call, call.operands[0].type.dtype); }

Result<void> infer_resize_bilinear_grad(InferCall& call) {
  const TensorType& g = call.operands[0].type;
  const TensorType& x = call.operands[1].type;
  TFL_TRY(check_same_dtype(name_of(call), 0, DType::F32, g.dtype));
  TFL_TRY(check_dtype(name_of(call), "T", x.dtype, kFloats));
  TFL_TRY(check_images(call, g));
  TFL_TRY(check_images(call, x));
  if (g.ranked && x.ranked && (!may_equal(g.dims[0], x.dims[0]) || !may_equal(g.dims[3], x.dims[3])))
    return invalid(call.op, "the gradient {} does not belong to images {}", shape_words(g.dims), shape_words(x.dims));
  return give(call, x);
}

Result<void> infer_resize_nearest_grad(InferCall& call) {
  const TensorType& g = call.operands[0].type;
  TFL_TRY(check_dtype(name_of(call), "T", g.dtype, std::span<const DType>(kPoolTypes).first(10)));
  Dims size = TFL_TRY(new_size(call));
  TFL_TRY(check_images(call, g));
  Dims out = g.ranked ? Dims{g.dims[0], size[0], size[1], g.dims[3]} : Dims{-1, size[0], size[1], -1};
  TFL_TRY(product(call.op, out));
  return give(call, ranked(g.dtype, std::move(out)));
}

}  // namespace tfl
