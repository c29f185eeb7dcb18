// Shape rules of convolutions and their gradients.
#include <algorithm>

#include "runtime/shapes/rules.h"
#include "runtime/shapes/window.h"

namespace tfl {

using namespace shape_rules;

namespace {

constexpr DType kConvolved[] = {DType::F16, DType::BF16, DType::F32, DType::F64, DType::I32};

std::string_view name_of(const InferCall& call) { return op_info(call.op).tf_name; }

Result<void> check_rank(InferCall& call, const TensorType& t, size_t rank, std::string_view what) {
  if (!t.ranked || t.dims.size() == rank) return {};
  return invalid(call.op, "convolution {} must be {}-dimensional: {}", what, rank, shape_words(t.dims));
}

Dims unknown_sizes(size_t rank) { return Dims(rank, -1); }
Dims sizes_or_unknown(const TensorType& t, size_t rank) { return t.ranked ? t.dims : unknown_sizes(rank); }

Result<void> check_filter(InferCall& call, std::span<const int64_t> filter) {
  for (size_t i = 0; i + 1 < filter.size(); ++i) {
    if (filter[i] == 0) return invalid(call.op, "filter must not have zero elements (i.e. all dimensions must be non-zero)");
  }
  return {};
}

Result<void> forward(InferCall& call, bool depthwise) {
  size_t axes = call.attrs.get_ints(Attr::strides)->size(), rank = axes + 2;
  const TensorType& x = call.operands[0].type;
  const TensorType& filter = call.operands[1].type;
  TFL_TRY(check_dtype(name_of(call), "T", x.dtype, std::span<const DType>(kConvolved).first(axes == 2 && !depthwise ? 5 : 4)));
  TFL_TRY(check_same_dtype(name_of(call), 1, x.dtype, filter.dtype));
  TFL_TRY(check_rank(call, x, rank, "input"));
  TFL_TRY(check_rank(call, filter, rank, "filter"));
  Dims in = sizes_or_unknown(x, rank), window = sizes_or_unknown(filter, rank);
  TFL_TRY(check_filter(call, window));
  Convolution c = TFL_TRY(make_convolution(call.op, in, window, depthwise, call.attrs));
  Dims out = convolution_sizes(c, axes);
  TFL_TRY(product(call.op, out));
  return give(call, ranked(x.dtype, std::move(out)));
}

// The sizes that an operand holds: unknown ones when its value is.
Result<Dims> given_sizes(InferCall& call, size_t operand, size_t rank, std::string_view name) {
  const OperandInfo& sizes = call.operands[operand];
  if (sizes.type.dtype != DType::I32 && sizes.type.dtype != DType::I64)
    return check_same_dtype(name_of(call), operand, DType::I32, sizes.type.dtype).failure();
  if (sizes.type.ranked && sizes.type.dims.size() != 1)
    return invalid(call.op, "{} must be a vector, but its shape is {}", name, shape_words(sizes.type.dims));
  std::optional<Dims> values = integers(sizes);
  if (!values) return unknown_sizes(rank);
  if (values->size() != rank)
    return invalid(call.op, "{} requires {} to contain {} values, but got: {}", op_info(call.op).tf_name, name, rank,
                   values->size());
  // A negative size among known values is a fault and not an unknown one; tracing hands over -1 for what it does not know.
  for (int64_t d : *values) {
    if (d < -1) return invalid(call.op, "{} must not be negative: {}", name, shape_words(*values));
  }
  return *values;
}

Result<void> check_gradient(InferCall& call, const Convolution& c, const TensorType& g, size_t axes) {
  if (!g.ranked) return {};
  Dims expected = convolution_sizes(c, axes);
  std::string_view name = name_of(call);
  if (name == "Conv2DBackpropInput") name = "Conv2DCustomBackpropInput";  // as TensorFlow's messages say
  if (!may_equal(expected.back(), g.dims.back()))
    return invalid(call.op, "{}: filter and out_backprop must have the same out_depth", name);
  if (!may_equal(c.batch, g.dims[0]))
    return invalid(
        call.op, "{}: input and out_backprop must have the same batch size. Input batch: {}, outbackprop batch: {}, batch_dim: 0",
        name, c.batch, g.dims[0]);
  for (size_t i = 0; i < axes; ++i) {
    const WindowAxis& a = c.windows.axes[i + 3 - axes];
    if (!may_equal(a.out, g.dims[i + 1]))
      return invalid(call.op,
                     "{}: Size of out_backprop doesn't match computed: actual = {}, computed = {} spatial_dim: {} input: {} "
                     "filter: {} output: {} stride: {} dilation: {}",
                     name, g.dims[i + 1], a.out, i + 1, a.in, a.kernel, g.dims[i + 1], a.stride, a.dilation);
  }
  return {};
}

Result<void> backprop(InferCall& call, bool depthwise, bool to_filter) {
  size_t axes = call.attrs.get_ints(Attr::strides)->size(), rank = axes + 2;
  const TensorType& g = call.operands[2].type;
  const TensorType& other = call.operands[to_filter ? 0 : 1].type;
  TFL_TRY(check_dtype(name_of(call), "T", g.dtype,
                      std::span<const DType>(kConvolved).first(axes == 2 && !depthwise && !to_filter ? 5 : 4)));
  TFL_TRY(check_same_dtype(name_of(call), to_filter ? 0 : 1, g.dtype, other.dtype));
  if (other.ranked && other.dims.size() != rank)
    return invalid(call.op, "{} must be {}-dimensional, got: {}", to_filter ? "input" : "filter", rank, other.dims.size());
  if (g.ranked && g.dims.size() != rank)
    return invalid(call.op, "input_sizes must be {}-dimensional, got: {}", rank, g.dims.size());
  Dims given = TFL_TRY(given_sizes(call, to_filter ? 1 : 0, rank, to_filter ? "filter_sizes" : "input_sizes"));
  Dims x = to_filter ? sizes_or_unknown(other, rank) : given;
  Dims filter = to_filter ? given : sizes_or_unknown(other, rank);
  // A batch size or channels that are not given are the other operand's.
  if (!to_filter && !known(x[0]) && g.ranked) x[0] = g.dims[0];
  TFL_TRY(check_filter(call, filter));
  Convolution c = TFL_TRY(make_convolution(call.op, x, filter, depthwise, call.attrs));
  TFL_TRY(check_gradient(call, c, g, axes));
  Dims out = to_filter ? filter : x;
  TFL_TRY(product(call.op, out));
  return give(call, ranked(g.dtype, std::move(out)));
}

}  // namespace

Result<void> infer_conv2d(InferCall& call) { return forward(call, false); }
Result<void> infer_conv2d_backprop_input(InferCall& call) { return backprop(call, false, false); }
Result<void> infer_conv2d_backprop_filter(InferCall& call) { return backprop(call, false, true); }
Result<void> infer_conv3d(InferCall& call) { return forward(call, false); }
Result<void> infer_conv3d_backprop_input(InferCall& call) { return backprop(call, false, false); }
Result<void> infer_conv3d_backprop_filter(InferCall& call) { return backprop(call, false, true); }
Result<void> infer_depthwise_conv2d(InferCall& call) { return forward(call, true); }
Result<void> infer_depthwise_conv2d_backprop_input(InferCall& call) { return backprop(call, true, false); }
Result<void> infer_depthwise_conv2d_backprop_filter(InferCall& call) { return backprop(call, true, true); }

}  // namespace tfl
