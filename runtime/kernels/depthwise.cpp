// Depthwise convolutions: every channel by itself, so no matrix product. Output channel c * multiplier + m is one chain over the taps
// (blocks of 512, as in products); padding is a zero. The gradient of the input runs over (tap, m), taps that reach the pixel's phase;
// that of the filter over (batch, output position).
#include <algorithm>
#include <vector>

#include "runtime/kernels/matmul.h"
#include "runtime/kernels/parallel.h"
#include "runtime/kernels/window_kernels.h"
#include "runtime/ops/window.h"

namespace tfl {

namespace {

/// The rows of one chain: what is multiplied with what.
template <class T>
struct Rows {
  std::vector<const T*> x, w;
  void clear() {
    x.clear();
    w.clear();
  }
  void add(const T* a, const T* b) {
    x.push_back(a);
    w.push_back(b);
  }
  void run(const WindowLoops<T>& loops, int64_t channels, T* out) const {
    int64_t n = static_cast<int64_t>(x.size());
    if (n == 0) std::fill(out, out + channels, T(0));
    for (int64_t i = 0; i < n; i += kProductBlock)
      loops.multiply_add(channels, std::min(kProductBlock, n - i), x.data() + i, w.data() + i, out, i > 0);
  }
};

/// Every element of t `times` times, one after the other.
template <class T>
Result<Tensor> repeated(Context& context, const Tensor& t, int64_t times, DType dtype) {
  if (times == 1) return t;
  int64_t n;
  if (__builtin_mul_overflow(t.size(), times, &n)) n = INT64_MAX;
  Tensor out = TFL_TRY(Tensor::empty(context, dtype, Dims{n}));
  T* to = out.data<T>();
  for (int64_t i = 0; i < t.size(); ++i, to += times) std::fill(to, to + times, t.data<T>()[i]);
  return out;
}

/// Planes instead of interleaved elements: [..., times] becomes [times, ...].
template <class T>
Result<Tensor> planes(Context& context, const Tensor& t, int64_t times, DType dtype) {
  if (times == 1) return t;
  int64_t n = t.size() / times;
  Tensor out = TFL_TRY(Tensor::empty(context, dtype, Dims{t.size()}));
  for (int64_t m = 0; m < times; ++m) {
    for (int64_t i = 0; i < n; ++i) out.data<T>()[m * n + i] = t.data<T>()[i * times + m];
  }
  return out;
}

template <class T>
struct Depthwise {
  Context& context;
  const WindowLoops<T>& loops;
  const Convolution& c;
  DType dtype;
  const WindowAxis& rows = c.windows.axes[1];
  const WindowAxis& columns = c.windows.axes[2];
  int64_t multiplier = c.channels_out / c.channels_in;

  Result<Tensor> zeros(int64_t n) const {
    Tensor t = TFL_TRY(Tensor::empty(context, dtype, Dims{n}));
    std::fill(t.data<T>(), t.data<T>() + n, T(0));
    return t;
  }

  Result<void> forward(const Tensor& images, const Tensor& filter, Tensor& out) const {
    Tensor x = TFL_TRY(repeated<T>(context, images, multiplier, dtype));
    Tensor zero = TFL_TRY(zeros(c.channels_out));
    const int64_t n = c.channels_out;
    in_parallel(
        context, c.batch * rows.out, 1,
        [&](int64_t first, int64_t last) {
          Rows<T> chain;
          for (int64_t line = first; line < last; ++line) {
            const T* image = x.data<T>() + line / rows.out * rows.in * columns.in * n;
            int64_t y = rows.first(line % rows.out);
            T* to = out.data<T>() + line * columns.out * n;
            for (int64_t o = 0; o < columns.out; ++o, to += n) {
              chain.clear();
              const T* w = filter.data<T>();
              for (int64_t a = 0; a < rows.kernel; ++a) {
                int64_t iy = y + a * rows.dilation;
                for (int64_t b = 0; b < columns.kernel; ++b, w += n) {
                  int64_t ix = columns.first(o) + b * columns.dilation;
                  bool inside = iy >= 0 && iy < rows.in && ix >= 0 && ix < columns.in;
                  chain.add(inside ? image + (iy * columns.in + ix) * n : zero.data<T>(), w);
                }
              }
              chain.run(loops, n, to);
            }
          }
        },
        columns.out * n * c.windows.taps());
    return {};
  }

  Result<void> to_input(const Tensor& filter, const Tensor& gradient, Tensor& out) const {
    const int64_t n = c.channels_in;
    Tensor w = TFL_TRY(planes<T>(context, filter, multiplier, dtype));
    Tensor g = TFL_TRY(planes<T>(context, gradient, multiplier, dtype));
    Tensor zero = TFL_TRY(zeros(n));
    int64_t filter_plane = c.windows.taps() * n, plane = c.batch * rows.out * columns.out * n;
    in_parallel(
        context, c.batch * rows.in, 1,
        [&](int64_t first, int64_t last) {
          Rows<T> chain;
          for (int64_t line = first; line < last; ++line) {
            int64_t image = line / rows.in * rows.out * columns.out * n, y = line % rows.in;
            T* to = out.data<T>() + line * columns.in * n;
            for (int64_t x = 0; x < columns.in; ++x, to += n) {
              chain.clear();
              for (int64_t a = 0; a < rows.kernel; ++a) {
                int64_t oy = y + rows.before - a * rows.dilation;
                if (oy % rows.stride != 0) continue;
                oy /= rows.stride;
                for (int64_t b = 0; b < columns.kernel; ++b) {
                  int64_t ox = x + columns.before - b * columns.dilation;
                  if (ox % columns.stride != 0) continue;
                  ox /= columns.stride;
                  bool inside = oy >= 0 && oy < rows.out && ox >= 0 && ox < columns.out;
                  for (int64_t m = 0; m < multiplier; ++m) {
                    chain.add(inside ? g.data<T>() + m * plane + image + (oy * columns.out + ox) * n : zero.data<T>(),
                              w.data<T>() + m * filter_plane + (a * columns.kernel + b) * n);
                  }
                }
              }
              chain.run(loops, n, to);
            }
          }
        },
        columns.in * n * c.windows.taps());
    return {};
  }

  Result<void> to_filter(const Tensor& images, const Tensor& g, Tensor& out) const {
    const int64_t n = c.channels_out;
    Tensor x = TFL_TRY(repeated<T>(context, images, multiplier, dtype));
    Tensor zero = TFL_TRY(zeros(n));
    const int64_t positions = c.batch * rows.out * columns.out;
    in_parallel(
        context, c.windows.taps(), 1,
        [&](int64_t first, int64_t last) {
          Rows<T> chain;
          for (int64_t tap = first; tap < last; ++tap) {
            int64_t a = tap / columns.kernel, b = tap % columns.kernel;
            T* to = out.data<T>() + tap * n;
            if (positions == 0) std::fill(to, to + n, T(0));
            for (int64_t p0 = 0; p0 < positions; p0 += kProductBlock) {
              chain.clear();
              for (int64_t p = p0; p < std::min(positions, p0 + kProductBlock); ++p) {
                int64_t image = p / columns.out / rows.out;
                int64_t iy = rows.first(p / columns.out % rows.out) + a * rows.dilation, ix = columns.first(p % columns.out) + b * columns.dilation;
                bool inside = iy >= 0 && iy < rows.in && ix >= 0 && ix < columns.in;
                chain.add(inside ? x.data<T>() + ((image * rows.in + iy) * columns.in + ix) * n : zero.data<T>(), g.data<T>() + p * n);
              }
              loops.multiply_add(n, static_cast<int64_t>(chain.x.size()), chain.x.data(), chain.w.data(), to, p0 > 0);
            }
          }
        },
        positions * n);
    return {};
  }
};

Result<Tensor> as(Context& context, const Tensor& t, DType dtype) {
  if (t.dtype() == dtype) return contiguous(context, t);
  return apply1(context, Op::cast, {t}, Attrs().set_dtype(Attr::dtype, dtype));
}

enum class Part { Result, Input, Filter };

template <class T>
Result<void> compute(Context& context, const WindowLoops<T>& loops, Part part, const Convolution& c, const Tensor& a, const Tensor& b, DType dtype,
                     Tensor& out) {
  Depthwise<T> d{context, loops, c, dtype};
  switch (part) {
    case Part::Result: return d.forward(a, b, out);
    case Part::Input: return d.to_input(a, b, out);
    case Part::Filter: return d.to_filter(a, b, out);
  }
  __builtin_unreachable();
}

Result<void> convolve(RunCall& call, Part part) {
  Context& context = call.context;
  DType dtype = call.types[0].dtype, computed = dtype == DType::F64 ? DType::F64 : DType::F32;
  std::span<const int64_t> x = part == Part::Input ? call.types[0].dims : call.operands[0].dims();
  std::span<const int64_t> filter = part == Part::Filter ? call.types[0].dims : call.operands[1].dims();
  Convolution c = TFL_TRY(make_convolution(call.op, x, filter, true, call.attrs));
  Tensor a = TFL_TRY(as(context, call.operands[part == Part::Input ? 1 : 0], computed));
  Tensor b = TFL_TRY(as(context, call.operands[part == Part::Result ? 1 : 2], computed));
  Tensor out = TFL_TRY(Tensor::empty(context, computed, call.types[0].dims));
  if (out.size() > 0) {
    const WindowKernels& kernels = window_kernels(context.isa());
    if (computed == DType::F64) {
      TFL_TRY(compute(context, *kernels.f64, part, c, a, b, computed, out));
    } else {
      TFL_TRY(compute(context, *kernels.f32, part, c, a, b, computed, out));
    }
  }
  return call.give(TFL_TRY(as(context, out, dtype)));
}

}  // namespace

Result<void> run_depthwise_conv2d(RunCall& call) { return convolve(call, Part::Result); }
Result<void> run_depthwise_conv2d_backprop_input(RunCall& call) { return convolve(call, Part::Input); }
Result<void> run_depthwise_conv2d_backprop_filter(RunCall& call) { return convolve(call, Part::Filter); }

}  // namespace tfl
