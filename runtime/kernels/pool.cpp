// Pooling over the windows of images and volumes. Padding takes no part: a maximum looks past it, an average divides by the number of
// places that are there. Sums run over a window in row-major order.
#include <algorithm>
#include <vector>

#include "runtime/kernels/parallel.h"
#include "runtime/kernels/window_kernels.h"
#include "runtime/ops/window.h"

namespace tfl {

namespace {

struct Pool {
  Windows windows;
  int64_t batch, channels;
  /// Places of a window that are in the image, at most.
  int64_t cost() const {
    int64_t n = 1;
    for (const WindowAxis& a : windows.axes) n *= std::min(a.kernel, a.in);
    return n;
  }
};

Result<Pool> pool_of(const RunCall& call, std::span<const int64_t> x) {
  const Dims& ksize = *call.attrs.get_ints(Attr::ksize);
  Pool p{TFL_TRY(make_windows(call.op, x.subspan(1, ksize.size()), ksize, call.attrs)), x[0], x.back()};
  return p;
}

/// The part of a window that is in the image.
struct Range {
  int64_t first, last;
  Range(const WindowAxis& a, int64_t o) : first(std::max<int64_t>(a.first(o), 0)), last(std::min(a.first(o) + a.kernel, a.in)) {}
};

/// body(image, flat output position of the image, pixels of the window as offsets in pixels) for all windows of some lines.
template <class F>
void each_window(const Pool& p, int64_t first_line, int64_t last_line, std::vector<int64_t>& pixels, F body) {
  const auto& [depth, rows, columns] = p.windows.axes;
  for (int64_t line = first_line; line < last_line; ++line) {
    int64_t image = line / (depth.out * rows.out), z = line / rows.out % depth.out, y = line % rows.out;
    Range zs(depth, z), ys(rows, y);
    for (int64_t x = 0; x < columns.out; ++x) {
      Range xs(columns, x);
      pixels.clear();
      for (int64_t a = zs.first; a < zs.last; ++a) {
        for (int64_t b = ys.first; b < ys.last; ++b) {
          for (int64_t c = xs.first; c < xs.last; ++c) pixels.push_back((a * rows.in + b) * columns.in + c);
        }
      }
      body(image, (z * rows.out + y) * columns.out + x, pixels);
    }
  }
}

template <class T>
void point(std::vector<const T*>& rows, const T* image, int64_t channels, const std::vector<int64_t>& pixels) {
  rows.clear();
  for (int64_t p : pixels) rows.push_back(image + p * channels);
}

/// body(first line, last line) over the lines of output of all images, on all threads.
template <class F>
void each_line(Context& context, const Pool& p, F body) {
  const auto& axes = p.windows.axes;
  in_parallel(context, p.batch * axes[0].out * axes[1].out, 1, body, axes[2].out * p.channels * p.cost());
}

template <class T>
void max_pool(Context& context, const WindowLoops<T>& loops, const Pool& p, const Tensor& x, Tensor& out) {
  int64_t in = p.windows.inputs() * p.channels, to = p.windows.outputs() * p.channels;
  each_line(context, p, [&](int64_t first, int64_t last) {
    std::vector<int64_t> pixels;
    std::vector<const T*> rows;
    each_window(p, first, last, pixels, [&](int64_t image, int64_t at, const std::vector<int64_t>& window) {
      point(rows, x.data<T>() + image * in, p.channels, window);
      loops.largest(p.channels, static_cast<int64_t>(rows.size()), rows.data(), out.data<T>() + image * to + at * p.channels);
    });
  });
}

template <class T>
void max_pool_with_argmax(Context& context, const WindowLoops<T>& loops, const Pool& p, bool include_batch, const Tensor& x, Tensor& out, Tensor& argmax) {
  int64_t in = p.windows.inputs() * p.channels, to = p.windows.outputs() * p.channels;
  each_line(context, p, [&](int64_t first, int64_t last) {
    std::vector<int64_t> pixels;
    std::vector<const T*> rows;
    std::vector<int32_t> which(static_cast<size_t>(p.channels));
    each_window(p, first, last, pixels, [&](int64_t image, int64_t at, const std::vector<int64_t>& window) {
      point(rows, x.data<T>() + image * in, p.channels, window);
      int64_t n = static_cast<int64_t>(rows.size()), place = image * to + at * p.channels;
      loops.largest(p.channels, n, rows.data(), out.data<T>() + place);
      loops.where_largest(p.channels, n, rows.data(), which.data());
      for (int64_t c = 0; c < p.channels; ++c) {
        int64_t index = n == 0 ? 0 : window[static_cast<size_t>(which[static_cast<size_t>(c)])] * p.channels + c;
        if (include_batch) index += image * in;
        if (argmax.dtype() == DType::I32) {
          argmax.data<int32_t>()[place + c] = static_cast<int32_t>(index);
        } else {
          argmax.data<int64_t>()[place + c] = index;
        }
      }
    });
  });
}

template <class T>
void max_pool_grad(Context& context, const WindowLoops<T>& loops, const Pool& p, const Tensor& x, const Tensor& g, Tensor& out) {
  int64_t in = p.windows.inputs() * p.channels, from = p.windows.outputs() * p.channels;
  int64_t lines = p.windows.axes[0].out * p.windows.axes[1].out;
  std::fill(out.data<T>(), out.data<T>() + out.size(), T(0));
  // Windows of one image may overlap: an image is one task.
  in_parallel(
      context, p.batch, 1,
      [&](int64_t first, int64_t last) {
        std::vector<int64_t> pixels;
        std::vector<const T*> rows;
        std::vector<int32_t> which(static_cast<size_t>(p.channels));
        each_window(p, first * lines, last * lines, pixels, [&](int64_t image, int64_t at, const std::vector<int64_t>& window) {
          if (window.empty()) return;
          point(rows, x.data<T>() + image * in, p.channels, window);
          loops.where_largest(p.channels, static_cast<int64_t>(rows.size()), rows.data(), which.data());
          const T* gradient = g.data<T>() + image * from + at * p.channels;
          T* to = out.data<T>() + image * in;
          for (int64_t c = 0; c < p.channels; ++c) to[window[static_cast<size_t>(which[static_cast<size_t>(c)])] * p.channels + c] += gradient[c];
        });
      },
      in + from * p.cost());
}

template <class T>
void avg_pool(Context& context, const WindowLoops<T>& loops, const Pool& p, const Tensor& x, Tensor& out) {
  int64_t in = p.windows.inputs() * p.channels, to = p.windows.outputs() * p.channels;
  each_line(context, p, [&](int64_t first, int64_t last) {
    std::vector<int64_t> pixels;
    std::vector<const T*> rows;
    each_window(p, first, last, pixels, [&](int64_t image, int64_t at, const std::vector<int64_t>& window) {
      point(rows, x.data<T>() + image * in, p.channels, window);
      loops.average(p.channels, static_cast<int64_t>(rows.size()), rows.data(), static_cast<T>(rows.size()), out.data<T>() + image * to + at * p.channels);
    });
  });
}

// The windows o that cover place i of an axis.
Range covering(const WindowAxis& a, int64_t i) {
  Range r(a, 0);
  int64_t reach = i + a.before;
  r.last = std::min(a.out, reach / a.stride + 1);
  r.first = reach < a.kernel ? 0 : (reach - a.kernel) / a.stride + 1;
  return r;
}

template <class T>
void avg_pool_grad(Context& context, const WindowLoops<T>& loops, const Pool& p, const Tensor& g, Tensor& out) {
  const auto& [depth, rows, columns] = p.windows.axes;
  int64_t in = p.windows.inputs() * p.channels, from = p.windows.outputs() * p.channels;
  auto places = [](const WindowAxis& a, int64_t o) {
    Range r(a, o);
    return r.last - r.first;
  };
  in_parallel(
      context, p.batch * depth.in * rows.in, 1,
      [&, &depth = depth, &rows = rows, &columns = columns](int64_t first, int64_t last) {
        std::vector<const T*> found;
        std::vector<T> factors;
        for (int64_t line = first; line < last; ++line) {
          int64_t image = line / (depth.in * rows.in), z = line / rows.in % depth.in, y = line % rows.in;
          Range zs = covering(depth, z), ys = covering(rows, y);
          for (int64_t x = 0; x < columns.in; ++x) {
            Range xs = covering(columns, x);
            found.clear();
            factors.clear();
            for (int64_t a = zs.first; a < zs.last; ++a) {
              for (int64_t b = ys.first; b < ys.last; ++b) {
                for (int64_t c = xs.first; c < xs.last; ++c) {
                  found.push_back(g.data<T>() + image * from + ((a * rows.out + b) * columns.out + c) * p.channels);
                  factors.push_back(T(1) / static_cast<T>(places(depth, a) * places(rows, b) * places(columns, c)));
                }
              }
            }
            loops.weighted(p.channels, static_cast<int64_t>(found.size()), found.data(), factors.data(),
                           out.data<T>() + image * in + ((z * rows.in + y) * columns.in + x) * p.channels);
          }
        }
      },
      columns.in * p.channels * p.cost());
}

Result<Tensor> as(Context& context, const Tensor& t, DType dtype) {
  if (t.dtype() == dtype) return contiguous(context, t);
  return apply1(context, Op::cast, {t}, Attrs().set_dtype(Attr::dtype, dtype));
}

/// The type windows of `dtype` are computed in.
DType computed_in(DType dtype) {
  switch (dtype) {
    case DType::F16:
    case DType::BF16:
    case DType::F32: return DType::F32;
    case DType::F64: return DType::F64;
    case DType::U32:
    case DType::I64:
    case DType::U64: return DType::I64;
    default: return DType::I32;
  }
}

/// f(loops) with the loops of the type.
template <class F>
void with_loops(Context& context, DType computed, F f) {
  const WindowKernels& kernels = window_kernels(context.isa());
  switch (computed) {
    case DType::F32: return f(*kernels.f32);
    case DType::F64: return f(*kernels.f64);
    case DType::I32: return f(*kernels.i32);
    default: return f(*kernels.i64);
  }
}

/// One value a window of operand 0: f(loops, pool, x, out) in the type that is computed in.
template <class F>
Result<void> pooled(RunCall& call, F f) {
  DType computed = computed_in(call.types[0].dtype);
  Pool p = TFL_TRY(pool_of(call, call.operands[0].dims()));
  Tensor x = TFL_TRY(as(call.context, call.operands[0], computed));
  Tensor out = TFL_TRY(Tensor::empty(call.context, computed, call.types[0].dims));
  if (out.size() > 0) with_loops(call.context, computed, [&](const auto& loops) { f(loops, p, x, out); });
  return call.give(TFL_TRY(as(call.context, out, call.types[0].dtype)));
}

}  // namespace

Result<void> run_max_pool(RunCall& call) {
  return pooled(call, [&](const auto& loops, const Pool& p, const Tensor& x, Tensor& out) { max_pool(call.context, loops, p, x, out); });
}

Result<void> run_max_pool_with_argmax(RunCall& call) {
  DType computed = computed_in(call.types[0].dtype);
  Pool p = TFL_TRY(pool_of(call, call.operands[0].dims()));
  Tensor x = TFL_TRY(as(call.context, call.operands[0], computed));
  Tensor out = TFL_TRY(Tensor::empty(call.context, computed, call.types[0].dims));
  Tensor argmax = TFL_TRY(call.allocate(1));
  bool include_batch = call.attrs.get_bool(Attr::include_batch);
  if (out.size() > 0)
    with_loops(call.context, computed, [&](const auto& loops) { max_pool_with_argmax(call.context, loops, p, include_batch, x, out, argmax); });
  TFL_TRY(call.give(TFL_TRY(as(call.context, out, call.types[0].dtype))));
  return call.give(std::move(argmax));
}

Result<void> run_max_pool_grad(RunCall& call) {
  DType computed = computed_in(call.types[0].dtype);
  Pool p = TFL_TRY(pool_of(call, call.operands[0].dims()));
  Tensor x = TFL_TRY(as(call.context, call.operands[0], computed));
  Tensor g = TFL_TRY(as(call.context, call.operands[2], computed));
  Tensor out = TFL_TRY(Tensor::empty(call.context, computed, call.types[0].dims));
  if (out.size() > 0) with_loops(call.context, computed, [&](const auto& loops) { max_pool_grad(call.context, loops, p, x, g, out); });
  return call.give(TFL_TRY(as(call.context, out, call.types[0].dtype)));
}

Result<void> run_avg_pool(RunCall& call) {
  return pooled(call, [&](const auto& loops, const Pool& p, const Tensor& x, Tensor& out) { avg_pool(call.context, loops, p, x, out); });
}

Result<void> run_avg_pool_grad(RunCall& call) {
  DType computed = computed_in(call.types[0].dtype);
  Pool p = TFL_TRY(pool_of(call, call.types[0].dims));
  Tensor g = TFL_TRY(as(call.context, call.operands[1], computed));
  Tensor out = TFL_TRY(Tensor::empty(call.context, computed, call.types[0].dims));
  if (out.size() > 0) with_loops(call.context, computed, [&](const auto& loops) { avg_pool_grad(call.context, loops, p, g, out); });
  return call.give(TFL_TRY(as(call.context, out, call.types[0].dtype)));
}

}  // namespace tfl
