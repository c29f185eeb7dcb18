// Gradients of convolutions, pooling and resizing: each is an operation of its own, with a gradient in turn.
#include "ir/gradient/compose.h"
#include "ir/gradient/rules.h"

namespace tfl::gradient {

namespace {

// A product of an input and a filter, and the two operations that are its gradients.
struct Family {
  Op forward, input, filter;
};
constexpr Family kConv2d = {Op::conv2d, Op::conv2d_backprop_input, Op::conv2d_backprop_filter};
constexpr Family kConv3d = {Op::conv3d, Op::conv3d_backprop_input, Op::conv3d_backprop_filter};
constexpr Family kDepthwise = {Op::depthwise_conv2d, Op::depthwise_conv2d_backprop_input, Op::depthwise_conv2d_backprop_filter};

template <const Family& F>
void forward(RuleCall& c) {
  if (c.wanted(0)) c.give(0, emit(F.input, {c.x_shape(0), c.x(1), c.g()}, c.attrs));
  if (c.wanted(1)) c.give(1, emit(F.filter, {c.x(0), c.x_shape(1), c.g()}, c.attrs));
}
template <const Family& F>
void backprop_input(RuleCall& c) {  // sizes, filter, gradient
  if (c.wanted(1)) c.give(1, emit(F.filter, {c.g(), c.x_shape(1), c.x(2)}, c.attrs));
  if (c.wanted(2)) c.give(2, emit(F.forward, {c.g(), c.x(1)}, c.attrs));
}
template <const Family& F>
void backprop_filter(RuleCall& c) {  // input, sizes, gradient
  if (c.wanted(0)) c.give(0, emit(F.input, {c.x_shape(0), c.g(), c.x(2)}, c.attrs));
  if (c.wanted(2)) c.give(2, emit(F.forward, {c.x(0), c.g()}, c.attrs));
}

// Flat positions of the maxima of `x`.
X maxima(RuleCall& c, X x) {
  Attrs attrs = c.attrs;
  attrs.set_bool(Attr::include_batch, true).set_dtype(Attr::dtype, DType::I64);
  std::vector<X> operands = {x};
  std::vector<X> both = emit_many(Op::max_pool_with_argmax, operands, attrs);
  return both.size() == 2 ? both[1] : X();
}

void max_pool(RuleCall& c) { c.give(0, emit(Op::max_pool_grad, {c.x(), c.r(), c.g()}, c.attrs)); }

void max_pool_grad(RuleCall& c) {
  if (c.wanted(2)) c.give(2, emit(Op::gather, {flatten(c.g()), maxima(c, c.x(0))}));
}

void max_pool_with_argmax(RuleCall& c) { give_from(c, maxima(c, c.x(0)), c.g(0)); }

void avg_pool(RuleCall& c) { c.give(0, emit(Op::avg_pool_grad, {c.x_shape(0), c.g()}, c.attrs)); }
void avg_pool_grad(RuleCall& c) {
  if (c.wanted(1)) c.give(1, emit(Op::avg_pool, {c.g()}, c.attrs));
}

X height_and_width(RuleCall& c, X shape) {
  int64_t begin = 1, size = 2;
  return emit(Op::slice, {shape, int_vector(c.a, {&begin, 1}), int_vector(c.a, {&size, 1})});
}

void resize_bilinear(RuleCall& c) {
  if (c.wanted(0)) c.give(0, emit(Op::resize_bilinear_grad, {c.g(), c.x(0)}, c.attrs));
}
void resize_bilinear_grad(RuleCall& c) {
  if (c.wanted(0)) c.give(0, emit(Op::resize_bilinear, {c.g(), height_and_width(c, c.x_shape(0))}, c.attrs));
}
void resize_nearest(RuleCall& c) {
  if (c.wanted(0)) c.give(0, emit(Op::resize_nearest_grad, {c.g(), height_and_width(c, c.x_shape(0))}, c.attrs));
}
void resize_nearest_grad(RuleCall& c) {
  if (c.wanted(0)) c.give(0, emit(Op::resize_nearest, {c.g(), height_and_width(c, c.x_shape(0))}, c.attrs));
}

constexpr RuleRow kWindowRules[] = {
    {Op::conv2d, forward<kConv2d>},
    {Op::conv2d_backprop_input, backprop_input<kConv2d>},
    {Op::conv2d_backprop_filter, backprop_filter<kConv2d>},
    {Op::conv3d, forward<kConv3d>},
    {Op::conv3d_backprop_input, backprop_input<kConv3d>},
    {Op::conv3d_backprop_filter, backprop_filter<kConv3d>},
    {Op::depthwise_conv2d, forward<kDepthwise>},
    {Op::depthwise_conv2d_backprop_input, backprop_input<kDepthwise>},
    {Op::depthwise_conv2d_backprop_filter, backprop_filter<kDepthwise>},
    {Op::max_pool, max_pool},
    {Op::max_pool_grad, max_pool_grad},
    {Op::max_pool_with_argmax, max_pool_with_argmax},
    {Op::avg_pool, avg_pool},
    {Op::avg_pool_grad, avg_pool_grad},
    {Op::resize_bilinear, resize_bilinear},
    {Op::resize_bilinear_grad, resize_bilinear_grad},
    {Op::resize_nearest, resize_nearest},
    {Op::resize_nearest_grad, resize_nearest_grad},
};

}  // namespace

std::span<const RuleRow> window_rules() { return kWindowRules; }

}  // namespace tfl::gradient
