// Images of other heights and widths: the nearest pixel, or a mean of four. Positions are computed in f32, as TensorFlow's are.
#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/kernels/parallel.h"
#include "runtime/ops/structural.h"
#include "runtime/tensor/dtype_dispatch.h"

namespace tfl {

namespace {

struct Scale {
  float factor;
  bool half_pixel;
  Scale(const Attrs& attrs, int64_t in, int64_t out) : half_pixel(attrs.get_bool(Attr::half_pixel_centers)) {
    bool corners = attrs.get_bool(Attr::align_corners) && out > 1;
    factor =
        corners ? static_cast<float>(in - 1) / static_cast<float>(out - 1) : static_cast<float>(in) / static_cast<float>(out);
  }
  float operator()(int64_t i) const {
    return half_pixel ? (static_cast<float>(i) + 0.5f) * factor - 0.5f : static_cast<float>(i) * factor;
  }
};

struct Between {
  int64_t low, high;
  float part;  // of the way from low to high
};
std::vector<Between> between(const Attrs& attrs, int64_t in, int64_t out) {
  Scale scale(attrs, in, out);
  std::vector<Between> places(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    float at = scale(i), floor = std::floor(at);
    int64_t low = static_cast<int64_t>(floor), high = static_cast<int64_t>(std::ceil(at));
    places[static_cast<size_t>(i)] = {std::clamp<int64_t>(low, 0, in - 1), std::clamp<int64_t>(high, 0, in - 1), at - floor};
  }
  return places;
}

std::vector<int64_t> nearest(const Attrs& attrs, int64_t in, int64_t out) {
  Scale scale(attrs, in, out);
  bool corners = attrs.get_bool(Attr::align_corners), half = attrs.get_bool(Attr::half_pixel_centers);
  std::vector<int64_t> places(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    float at = half ? (static_cast<float>(i) + 0.5f) * scale.factor : static_cast<float>(i) * scale.factor;
    int64_t place = static_cast<int64_t>(corners ? std::round(at) : std::floor(at));
    places[static_cast<size_t>(i)] = std::clamp<int64_t>(place, 0, in - 1);
  }
  return places;
}

Result<Tensor> as_float(Context& context, const Tensor& t) {
  if (t.dtype() == DType::F32) return contiguous(context, t);
  return apply1(context, Op::cast, {t}, Attrs().set_dtype(Attr::dtype, DType::F32));
}

}  // namespace

Result<void> run_resize_bilinear(RunCall& call) {
  Context& context = call.context;
  Tensor x = TFL_TRY(as_float(context, call.operands[0]));
  Tensor out = TFL_TRY(call.allocate());
  if (out.size() == 0) return call.give(std::move(out));
  int64_t height = x.dim(1), width = x.dim(2), channels = x.dim(3), rows = out.dim(1), columns = out.dim(2);
  std::vector<Between> ys = between(call.attrs, height, rows), xs = between(call.attrs, width, columns);
  in_parallel(
      context, x.dim(0) * rows, 1,
      [&](int64_t first, int64_t last) {
        for (int64_t line = first; line < last; ++line) {
          const Between& y = ys[static_cast<size_t>(line % rows)];
          const float* image = x.data<float>() + line / rows * height * width * channels;
          const float* top = image + y.low * width * channels;
          const float* bottom = image + y.high * width * channels;
          float* to = out.data<float>() + line * columns * channels;
          for (const Between& place : xs) {
            int64_t left = place.low * channels, right = place.high * channels;
            for (int64_t c = 0; c < channels; ++c) {
              float above = top[left + c] + (top[right + c] - top[left + c]) * place.part;
              float below = bottom[left + c] + (bottom[right + c] - bottom[left + c]) * place.part;
              *to++ = above + (below - above) * y.part;
            }
          }
        }
      },
      columns * channels * 8);
  return call.give(std::move(out));
}

Result<void> run_resize_bilinear_grad(RunCall& call) {
  Context& context = call.context;
  Tensor g = TFL_TRY(contiguous(context, call.operands[0]));
  Tensor out = TFL_TRY(Tensor::empty(context, DType::F32, call.types[0].dims));
  std::fill(out.data<float>(), out.data<float>() + out.size(), 0.0f);
  if (out.size() > 0 && g.size() > 0) {
    int64_t height = out.dim(1), width = out.dim(2), channels = out.dim(3), rows = g.dim(1), columns = g.dim(2);
    std::vector<Between> ys = between(call.attrs, height, rows), xs = between(call.attrs, width, columns);
    in_parallel(
        context, out.dim(0), 1,
        [&](int64_t first, int64_t last) {
          for (int64_t image = first; image < last; ++image) {
            const float* from = g.data<float>() + image * rows * columns * channels;
            float* to = out.data<float>() + image * height * width * channels;
            for (const Between& y : ys) {
              for (const Between& x : xs) {
                float* top = to + y.low * width * channels;
                float* bottom = to + y.high * width * channels;
                for (int64_t c = 0; c < channels; ++c) {
                  float v = *from++;
                  top[x.low * channels + c] += v * (1 - y.part) * (1 - x.part);
                  top[x.high * channels + c] += v * (1 - y.part) * x.part;
                  bottom[x.low * channels + c] += v * y.part * (1 - x.part);
                  bottom[x.high * channels + c] += v * y.part * x.part;
                }
              }
            }
          }
        },
        rows * columns * channels * 16);
  }
  DType dtype = call.types[0].dtype;
  if (dtype != DType::F32) out = TFL_TRY(apply1(context, Op::cast, {out}, Attrs().set_dtype(Attr::dtype, dtype)));
  return call.give(std::move(out));
}

Result<void> run_resize_nearest(RunCall& call) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor out = TFL_TRY(call.allocate());
  if (out.size() == 0) return call.give(std::move(out));
  int64_t height = x.dim(1), width = x.dim(2), channels = x.dim(3), rows = out.dim(1), columns = out.dim(2);
  std::vector<int64_t> ys = nearest(call.attrs, height, rows), xs = nearest(call.attrs, width, columns);
  with_storage_type(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    in_parallel(
        call.context, x.dim(0) * rows, 1,
        [&](int64_t first, int64_t last) {
          for (int64_t line = first; line < last; ++line) {
            const T* from = x.data<T>() + (line / rows * height + ys[static_cast<size_t>(line % rows)]) * width * channels;
            T* to = out.data<T>() + line * columns * channels;
            for (int64_t place : xs) to = std::copy(from + place * channels, from + (place + 1) * channels, to);
          }
        },
        columns * channels);
  });
  return call.give(std::move(out));
}

Result<void> run_resize_nearest_grad(RunCall& call) {
  Context& context = call.context;
  DType dtype = call.types[0].dtype, computed = dtype == DType::F16 || dtype == DType::BF16 ? DType::F32 : dtype;
  Tensor g = TFL_TRY(contiguous(context, call.operands[0]));
  if (computed != dtype) g = TFL_TRY(as_float(context, g));
  Tensor out = TFL_TRY(Tensor::empty(context, computed, call.types[0].dims));
  with_element_type(computed, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      std::fill(out.data<T>(), out.data<T>() + out.size(), T(0));
      if (out.size() == 0 || g.size() == 0) return;
      int64_t height = out.dim(1), width = out.dim(2), channels = out.dim(3), rows = g.dim(1), columns = g.dim(2);
      std::vector<int64_t> ys = nearest(call.attrs, height, rows), xs = nearest(call.attrs, width, columns);
      const T* from = g.data<T>();
      for (int64_t image = 0; image < out.dim(0); ++image) {
        for (int64_t y : ys) {
          for (int64_t x : xs) {
            T* to = out.data<T>() + ((image * height + y) * width + x) * channels;
            for (int64_t c = 0; c < channels; ++c) to[c] = static_cast<T>(to[c] + *from++);
          }
        }
      }
    }
  });
  if (computed != dtype) out = TFL_TRY(apply1(context, Op::cast, {out}, Attrs().set_dtype(Attr::dtype, dtype)));
  return call.give(std::move(out));
}

}  // namespace tfl
