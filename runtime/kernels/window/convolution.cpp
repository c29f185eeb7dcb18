// Convolutions, depthwise ones and their gradients on tensors (window_loops.h), in the order the language defines: one chain of
// fused multiply-adds in each block of 512 values of k, the blocks added in order.
//   conv2d               k runs over (tap, channel in), for depthwise ones over taps; what lies outside the image is a zero.
//   ..._backprop_input   k runs over (tap, channel out), taps in the filter's order: those that reach the pixel's phase,
//                        which with strides is only some of them; where no window is, the gradient is a zero.
//   ..._backprop_filter  k runs over (batch, output position).
#include "runtime/kernels/window/window.h"
#include "runtime/shapes/window.h"

namespace tfl {

namespace {

Result<Tensor> converted_to(Context& context, const Tensor& t, DType dtype) {
  if (t.dtype() == dtype) return contiguous(context, t);
  return apply1(context, Op::cast, {t}, Attrs().set_dtype(Attr::dtype, dtype));
}

template <class T>
Result<void> convolve_as(Context& context, WindowKind kind, const Convolution& c, const Tensor& a, const Tensor& b, Tensor& out) {
  return run_window(context, WindowJob<T>{kind, c, a.data<T>(), b.data<T>(), out.data<T>()});
}

Result<void> convolve(RunCall& call, WindowKind kind) {
  Context& context = call.context;
  bool depthwise = kind == WindowKind::depthwise || kind == WindowKind::depthwise_input || kind == WindowKind::depthwise_filter;
  bool to_input = kind == WindowKind::convolution_input || kind == WindowKind::depthwise_input;
  bool to_filter = kind == WindowKind::convolution_filter || kind == WindowKind::depthwise_filter;
  DType dtype = call.types[0].dtype, computed = dtype == DType::F16 || dtype == DType::BF16 ? DType::F32 : dtype;
  std::span<const int64_t> x = to_input ? call.types[0].dims : call.operands[0].dims();
  std::span<const int64_t> filter = to_filter ? call.types[0].dims : call.operands[1].dims();
  Convolution c = TFL_TRY(make_convolution(call.op, x, filter, depthwise, call.attrs));
  Tensor a = TFL_TRY(converted_to(context, call.operands[to_input ? 1 : 0], computed));
  Tensor b = TFL_TRY(converted_to(context, call.operands[to_input || to_filter ? 2 : 1], computed));
  Tensor out = TFL_TRY(Tensor::empty(context, computed, call.types[0].dims));
  if (out.size() > 0) {
    switch (computed) {
      case DType::F32: TFL_TRY(convolve_as<float>(context, kind, c, a, b, out)); break;
      case DType::F64: TFL_TRY(convolve_as<double>(context, kind, c, a, b, out)); break;
      default: TFL_TRY(convolve_as<int32_t>(context, kind, c, a, b, out)); break;
    }
  }
  return call.give(TFL_TRY(converted_to(context, out, dtype)));
}

}  // namespace

Result<void> run_conv2d(RunCall& call) { return convolve(call, WindowKind::convolution); }
Result<void> run_conv2d_backprop_input(RunCall& call) { return convolve(call, WindowKind::convolution_input); }
Result<void> run_conv2d_backprop_filter(RunCall& call) { return convolve(call, WindowKind::convolution_filter); }
Result<void> run_conv3d(RunCall& call) { return convolve(call, WindowKind::convolution); }
Result<void> run_conv3d_backprop_input(RunCall& call) { return convolve(call, WindowKind::convolution_input); }
Result<void> run_conv3d_backprop_filter(RunCall& call) { return convolve(call, WindowKind::convolution_filter); }
Result<void> run_depthwise_conv2d(RunCall& call) { return convolve(call, WindowKind::depthwise); }
Result<void> run_depthwise_conv2d_backprop_input(RunCall& call) { return convolve(call, WindowKind::depthwise_input); }
Result<void> run_depthwise_conv2d_backprop_filter(RunCall& call) { return convolve(call, WindowKind::depthwise_filter); }

}  // namespace tfl
