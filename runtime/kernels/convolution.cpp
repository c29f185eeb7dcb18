// Convolutions and their gradients as matrix products (product.h), so in the order the language defines: one chain of fused
// multiply-adds in each block of 512 values of k, the blocks added in order.
//   conv2d            k runs over (tap, channel in); what lies outside the image is a zero.
//   ..._backprop_input   k runs over (tap, channel out), taps in the filter's order: those that reach the pixel's phase, which with strides
//                        is only some of them; where no window is, the gradient is a zero.
//   ..._backprop_filter  k runs over (batch, output position).
#include <algorithm>

#include "runtime/kernels/product.h"
#include "runtime/kernels/window_source.h"
#include "runtime/ops/window.h"
#include "runtime/threads/thread_pool.h"

namespace tfl {

namespace {

template <class T>
Result<void> multiply(Context& context, const ProductTiles<T>& tiles, const Product<T>& p) {
  int threads = context.thread_count();
  size_t elements = product_scratch(p, tiles, threads);
  Tensor scratch;
  if (elements > 0) scratch = TFL_TRY(Tensor::empty(context, DType::U8, Dims{static_cast<int64_t>(elements * sizeof(T))}));
  run_product(context, p, tiles, threads, elements > 0 ? scratch.data<T>() : nullptr);
  return {};
}

/// Whether every window is one pixel and the windows are all pixels in order.
bool is_pointwise(const Windows& w) {
  for (const WindowAxis& a : w.axes) {
    if (a.kernel != 1 || a.stride != 1 || a.before != 0 || a.out != a.in) return false;
  }
  return true;
}

template <class T>
WindowSource<T> forward_source(const Convolution& c, const T* x) {
  WindowSource<T> s(x, c.channels_in, c.channels_in / c.groups);
  for (int i = 0; i < 3; ++i) {
    const WindowAxis& a = c.windows.axes[static_cast<size_t>(i)];
    s.axes[i] = {a.out, a.stride, a.in, {}};
    s.axes[i].base.clear();
    for (int64_t t = 0; t < a.kernel; ++t) s.axes[i].base.push_back(t * a.dilation - a.before);
  }
  s.prepare();
  return s;
}

template <class T>
Result<void> forward(Context& context, const ProductTiles<T>& tiles, const Convolution& c, const Tensor& x, const Tensor& filter, Tensor& out) {
  int64_t in = c.channels_in / c.groups, n = c.channels_out / c.groups, m = c.batch * c.windows.outputs();
  for (int64_t group = 0; group < c.groups; ++group) {
    const T* from = x.data<T>() + group * in;
    Product<T> p{m, n, c.windows.taps() * in, from, c.channels_in, 1, filter.data<T>() + group * n, c.channels_out, 1,
                 out.data<T>() + group * n, c.channels_out};
    if (is_pointwise(c.windows)) {
      TFL_TRY(multiply(context, tiles, p));
      continue;
    }
    WindowSource<T> source = forward_source(c, from);
    p.source = &source;
    p.pack_a = WindowSource<T>::pack_a;
    TFL_TRY(multiply(context, tiles, p));
  }
  return {};
}

// One axis of the pixels of one phase: those at phase, phase + stride, ... and the taps that reach them.
struct Phase {
  int64_t first, pixels;
  SourceAxis axis;
  Dims taps;
};
Phase phase_of(const WindowAxis& a, int64_t phase) {
  Phase p;
  p.first = phase;
  p.pixels = (a.in - phase + a.stride - 1) / a.stride;
  p.axis = {p.pixels, 1, a.out, {}};
  p.axis.base.clear();
  for (int64_t t = 0; t < a.kernel; ++t) {
    int64_t place = phase + a.before - t * a.dilation;
    if (place % a.stride != 0) continue;
    p.taps.push_back(t);
    p.axis.base.push_back(place / a.stride);
  }
  return p;
}

// Rows (tap, channel out) of the taps of a phase, columns channels in, out of a filter (tap, channel in, channel out).
template <class T>
void turn_filter(const Convolution& c, const Phase (&phase)[3], int64_t group, const T* filter, T* to) {
  int64_t in = c.channels_in / c.groups, out = c.channels_out / c.groups;
  for (int64_t a : phase[0].taps) {
    for (int64_t b : phase[1].taps) {
      for (int64_t d : phase[2].taps) {
        const T* from = filter + ((a * c.windows.axes[1].kernel + b) * c.windows.axes[2].kernel + d) * in * c.channels_out + group * out;
        for (int64_t o = 0; o < out; ++o) {
          for (int64_t i = 0; i < in; ++i) *to++ = from[i * c.channels_out + o];
        }
      }
    }
  }
}

template <class T>
Result<void> to_input(Context& context, const ProductTiles<T>& tiles, const Convolution& c, const Tensor& filter, const Tensor& g, DType dtype, Tensor& out) {
  const auto& axes = c.windows.axes;
  int64_t in = c.channels_in / c.groups, n = c.channels_out / c.groups;
  bool strided = axes[0].stride > 1 || axes[1].stride > 1 || axes[2].stride > 1;
  int64_t steps[3];
  for (size_t i = 0; i < 3; ++i) steps[i] = std::min(axes[i].stride, axes[i].in);
  for (int64_t phase_index = 0; phase_index < steps[0] * steps[1] * steps[2]; ++phase_index) {
    const Phase phase[3] = {phase_of(axes[0], phase_index / (steps[1] * steps[2])), phase_of(axes[1], phase_index / steps[2] % steps[1]),
                            phase_of(axes[2], phase_index % steps[2])};
    int64_t pixels = phase[0].pixels * phase[1].pixels * phase[2].pixels, m = c.batch * pixels;
    int64_t k = static_cast<int64_t>(phase[0].taps.size() * phase[1].taps.size() * phase[2].taps.size()) * n;
    Tensor turned = TFL_TRY(Tensor::empty(context, dtype, Dims{k, in}));
    Tensor rows;
    if (strided) rows = TFL_TRY(Tensor::empty(context, dtype, Dims{m, in}));
    for (int64_t group = 0; group < c.groups; ++group) {
      turn_filter(c, phase, group, filter.data<T>(), turned.data<T>());
      WindowSource<T> source(g.data<T>() + group * n, c.channels_out, n);
      for (int i = 0; i < 3; ++i) source.axes[i] = phase[i].axis;
      T* to = strided ? rows.data<T>() : out.data<T>() + group * in;
      Product<T> p{m, in, k, source.x, c.channels_out, 1, turned.data<T>(), in, 1, to, strided ? in : c.channels_in};
      if (k > 0) {
        source.prepare();
        p.source = &source;
        p.pack_a = WindowSource<T>::pack_a;
      }
      TFL_TRY(multiply(context, tiles, p));
      if (!strided) continue;
      const T* from = rows.data<T>();
      for (int64_t b = 0; b < c.batch; ++b) {
        for (int64_t z = phase[0].first; z < axes[0].in; z += axes[0].stride) {
          for (int64_t y = phase[1].first; y < axes[1].in; y += axes[1].stride) {
            T* line = out.data<T>() + ((b * axes[0].in + z) * axes[1].in + y) * axes[2].in * c.channels_in + group * in;
            for (int64_t w = phase[2].first; w < axes[2].in; w += axes[2].stride, from += in) std::copy(from, from + in, line + w * c.channels_in);
          }
        }
      }
    }
  }
  return {};
}

template <class T>
Result<void> to_filter(Context& context, const ProductTiles<T>& tiles, const Convolution& c, const Tensor& x, const Tensor& g, DType dtype, Tensor& out) {
  int64_t in = c.channels_in / c.groups, m = c.channels_out / c.groups, n = c.windows.taps() * in, k = c.batch * c.windows.outputs();
  Tensor turned = TFL_TRY(Tensor::empty(context, dtype, Dims{m, n}));
  for (int64_t group = 0; group < c.groups; ++group) {
    const T* from = x.data<T>() + group * in;
    WindowSource<T> source = forward_source(c, from);
    Product<T> p{m, n, k, g.data<T>() + group * m, 1, c.channels_out, from, c.channels_in, 1, turned.data<T>(), n};
    if (k > 0 && !is_pointwise(c.windows)) {
      p.source = &source;
      p.pack_b = WindowSource<T>::pack_b;
    }
    TFL_TRY(multiply(context, tiles, p));
    T* to = out.data<T>() + group * m;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t o = 0; o < m; ++o) to[i * c.channels_out + o] = turned.data<T>()[o * n + i];
    }
  }
  return {};
}

Result<Tensor> as(Context& context, const Tensor& t, DType dtype) {
  if (t.dtype() == dtype) return contiguous(context, t);
  return apply1(context, Op::cast, {t}, Attrs().set_dtype(Attr::dtype, dtype));
}

enum class Part { Result, Input, Filter };

template <class T>
Result<void> compute(Context& context, const ProductTiles<T>& tiles, Part part, const Convolution& c, const Tensor& a, const Tensor& b, DType dtype,
                     Tensor& out) {
  switch (part) {
    case Part::Result: return forward(context, tiles, c, a, b, out);
    case Part::Input: return to_input(context, tiles, c, a, b, dtype, out);
    case Part::Filter: return to_filter(context, tiles, c, a, b, dtype, out);
  }
  __builtin_unreachable();
}

Result<void> convolve(RunCall& call, Part part) {
  Context& context = call.context;
  const Tensor& first = call.operands[part == Part::Input ? 1 : 0];
  const Tensor& second = call.operands[part == Part::Result ? 1 : 2];
  DType dtype = call.types[0].dtype, computed = dtype == DType::F16 || dtype == DType::BF16 ? DType::F32 : dtype;
  std::span<const int64_t> x = part == Part::Input ? call.types[0].dims : call.operands[0].dims();
  std::span<const int64_t> filter = part == Part::Filter ? call.types[0].dims : call.operands[1].dims();
  Convolution c = TFL_TRY(make_convolution(call.op, x, filter, false, call.attrs));
  Tensor a = TFL_TRY(as(context, first, computed));
  Tensor b = TFL_TRY(as(context, second, computed));
  Tensor out = TFL_TRY(Tensor::empty(context, computed, call.types[0].dims));
  if (out.size() > 0) {
    const ProductKernels& kernels = product_kernels(context.isa());
    switch (computed) {
      case DType::F32: TFL_TRY(compute(context, *kernels.f32, part, c, a, b, computed, out)); break;
      case DType::F64: TFL_TRY(compute(context, *kernels.f64, part, c, a, b, computed, out)); break;
      default: TFL_TRY(compute(context, *kernels.i32, part, c, a, b, computed, out)); break;
    }
  }
  return call.give(TFL_TRY(as(context, out, dtype)));
}

}  // namespace

Result<void> run_conv2d(RunCall& call) { return convolve(call, Part::Result); }
Result<void> run_conv2d_backprop_input(RunCall& call) { return convolve(call, Part::Input); }
Result<void> run_conv2d_backprop_filter(RunCall& call) { return convolve(call, Part::Filter); }
Result<void> run_conv3d(RunCall& call) { return convolve(call, Part::Result); }
Result<void> run_conv3d_backprop_input(RunCall& call) { return convolve(call, Part::Input); }
Result<void> run_conv3d_backprop_filter(RunCall& call) { return convolve(call, Part::Filter); }

}  // namespace tfl
