// Convolutions, their gradients and pooling against the order that the language defines, to the bit, at every level and number of
// threads.
#include "tests/unit/tensors.h"

#include <cmath>

#include "runtime/kernels/product/matmul.h"
#include "runtime/shapes/window.h"

using namespace tfl;
using namespace tfl::test;

namespace {

// A chain of fused multiply-adds from +0 in blocks, the blocks added in order.
struct Chain {
  float total = 0, sum = 0;
  int64_t n = 0;
  void add(float x, float y) {
    if (n > 0 && n % kProductBlock == 0) close();
    sum = std::fma(x, y, sum);
    ++n;
  }
  void close() {
    total = n <= kProductBlock ? sum : total + sum;
    sum = 0;
  }
  float value() {
    if (n == 0) return 0;
    total = n <= kProductBlock ? sum : total + sum;
    return total;
  }
};

struct Case {
  Dims x, filter;
  int64_t stride, dilation;
  const char* padding;
};

Attrs attrs_of(const Case& k, Attr second = Attr::dilations, Dims values = {}) {
  Attrs attrs;
  attrs.set_ints(Attr::strides, Dims{k.stride, k.stride})
      .set_ints(second, second == Attr::dilations ? Dims{k.dilation, k.dilation} : values);
  attrs.set_text(Attr::padding, k.padding);
  if (std::string_view(k.padding) == "EXPLICIT") attrs.set_ints(Attr::explicit_paddings, Dims{1, 2, 0, 1});
  return attrs;
}

float at(const Tensor& t, int64_t a, int64_t b, int64_t c, int64_t d) {
  return t.data<float>()[((a * t.dim(1) + b) * t.dim(2) + c) * t.dim(3) + d];
}

struct Setting {
  Convolution c;
  bool depthwise;
  WindowAxis rows = c.windows.axes[1], columns = c.windows.axes[2];
  int64_t in() const { return depthwise ? 1 : c.channels_in / c.groups; }
  int64_t out() const { return c.channels_out / c.groups; }
};

Tensor forward(Context& context, const Setting& s, const Tensor& x, const Tensor& w) {
  Tensor out = Tensor::empty(context, DType::F32, convolution_sizes(s.c, 2)).take();
  float* to = out.data<float>();
  for (int64_t b = 0; b < s.c.batch; ++b)
    for (int64_t y = 0; y < s.rows.out; ++y)
      for (int64_t z = 0; z < s.columns.out; ++z)
        for (int64_t o = 0; o < s.c.channels_out; ++o) {
          Chain chain;
          int64_t group = o / s.out();
          for (int64_t p = 0; p < s.rows.kernel; ++p)
            for (int64_t q = 0; q < s.columns.kernel; ++q)
              for (int64_t i = 0; i < s.in(); ++i) {
                int64_t iy = s.rows.first(y) + p * s.rows.dilation, ix = s.columns.first(z) + q * s.columns.dilation;
                bool inside = iy >= 0 && iy < s.rows.in && ix >= 0 && ix < s.columns.in;
                float weight = s.depthwise ? at(w, p, q, group, o % s.out()) : at(w, p, q, i, o);
                chain.add(inside ? at(x, b, iy, ix, group * s.in() + i) : 0.0f, weight);
              }
          *to++ = chain.value();
        }
  return out;
}

Tensor to_input(Context& context, const Setting& s, const Tensor& w, const Tensor& g) {
  Tensor out = Tensor::empty(context, DType::F32, Dims{s.c.batch, s.rows.in, s.columns.in, s.c.channels_in}).take();
  float* to = out.data<float>();
  for (int64_t b = 0; b < s.c.batch; ++b)
    for (int64_t y = 0; y < s.rows.in; ++y)
      for (int64_t z = 0; z < s.columns.in; ++z)
        for (int64_t i = 0; i < s.c.channels_in; ++i) {
          Chain chain;
          int64_t group = i / s.in();
          for (int64_t p = 0; p < s.rows.kernel; ++p)
            for (int64_t q = 0; q < s.columns.kernel; ++q) {
              int64_t oy = y + s.rows.before - p * s.rows.dilation, ox = z + s.columns.before - q * s.columns.dilation;
              if (oy % s.rows.stride != 0 || ox % s.columns.stride != 0) continue;
              oy /= s.rows.stride;
              ox /= s.columns.stride;
              bool inside = oy >= 0 && oy < s.rows.out && ox >= 0 && ox < s.columns.out;
              for (int64_t o = 0; o < s.out(); ++o)
                chain.add(inside ? at(g, b, oy, ox, group * s.out() + o) : 0.0f,
                          s.depthwise ? at(w, p, q, group, o) : at(w, p, q, i % s.in(), group * s.out() + o));
            }
          *to++ = chain.value();
        }
  return out;
}

Tensor to_filter(Context& context, const Setting& s, const Dims& sizes, const Tensor& x, const Tensor& g) {
  Tensor out = Tensor::empty(context, DType::F32, sizes).take();
  float* to = out.data<float>();
  for (int64_t p = 0; p < s.rows.kernel; ++p)
    for (int64_t q = 0; q < s.columns.kernel; ++q)
      for (int64_t i = 0; i < sizes[2]; ++i)
        for (int64_t o = 0; o < sizes[3]; ++o) {
          Chain chain;
          int64_t channel = s.depthwise ? i * sizes[3] + o : o, group = channel / s.out();
          for (int64_t b = 0; b < s.c.batch; ++b)
            for (int64_t y = 0; y < s.rows.out; ++y)
              for (int64_t z = 0; z < s.columns.out; ++z) {
                int64_t iy = s.rows.first(y) + p * s.rows.dilation, ix = s.columns.first(z) + q * s.columns.dilation;
                bool inside = iy >= 0 && iy < s.rows.in && ix >= 0 && ix < s.columns.in;
                chain.add(inside ? at(x, b, iy, ix, s.depthwise ? i : group * s.in() + i) : 0.0f, at(g, b, y, z, channel));
              }
          *to++ = chain.value();
        }
  return out;
}

Tensor sizes_tensor(Context& c, const Dims& dims) {
  Tensor t = Tensor::empty(c, DType::I64, Dims{static_cast<int64_t>(dims.size())}).take();
  std::copy(dims.begin(), dims.end(), t.data<int64_t>());
  return t;
}

void check(const Case& k, bool depthwise) {
  Context plain(options(1));
  Attrs attrs = attrs_of(k);
  Op ops[3] = {depthwise ? Op::depthwise_conv2d : Op::conv2d,
               depthwise ? Op::depthwise_conv2d_backprop_input : Op::conv2d_backprop_input,
               depthwise ? Op::depthwise_conv2d_backprop_filter : Op::conv2d_backprop_filter};
  Setting s{make_convolution(ops[0], k.x, k.filter, depthwise, attrs).take(), depthwise};
  Tensor x = random_tensor(plain, DType::F32, k.x, 3, true), w = random_tensor(plain, DType::F32, k.filter, 4, true);
  Tensor y = forward(plain, s, x, w);
  Tensor g = random_tensor(plain, DType::F32, Dims(y.dims()), 5, true);
  Tensor dx = to_input(plain, s, w, g), dw = to_filter(plain, s, k.filter, x, g);
  for (IsaLevel isa : isa_levels()) {
    for (int threads : {1, 3}) {
      Context c(options(threads, isa));
      INFO(shape_text(k.x) << " " << shape_text(k.filter) << " stride " << k.stride << " dilation " << k.dilation << " "
                           << k.padding << " depthwise " << depthwise << " level " << static_cast<int>(isa) << " threads "
                           << threads);
      CHECK(first_difference(y, apply1(c, ops[0], {x, w}, attrs).take()) == -1);
      CHECK(first_difference(dx, apply1(c, ops[1], {sizes_tensor(c, k.x), w, g}, attrs).take()) == -1);
      CHECK(first_difference(dw, apply1(c, ops[2], {x, sizes_tensor(c, k.filter), g}, attrs).take()) == -1);
    }
  }
}

}  // namespace

TEST_CASE("convolutions have the defined bits", "[convolution]") {
  for (const Case& k : {Case{{2, 7, 6, 3}, {3, 3, 3, 4}, 1, 1, "SAME"},
                        {{2, 7, 6, 3}, {3, 2, 3, 5}, 2, 1, "SAME"},
                        {{1, 9, 8, 4}, {3, 3, 2, 6}, 1, 2, "VALID"},
                        {{1, 9, 8, 6}, {2, 3, 2, 6}, 3, 1, "EXPLICIT"},
                        {{2, 5, 5, 70}, {3, 3, 70, 40}, 1, 1, "SAME"},
                        {{1, 12, 11, 1}, {5, 5, 1, 3}, 2, 2, "SAME"},
                        {{2, 5, 6, 17}, {1, 1, 17, 33}, 1, 1, "VALID"},
                        {{1, 4, 4, 2}, {2, 2, 2, 1}, 3, 1, "VALID"},
                        {{3, 20, 20, 2}, {3, 3, 2, 3}, 1, 1, "SAME"},
                        {{1, 3, 4, 2}, {2, 3, 2, 3}, 1, 4000, "SAME"},
                        {{1, 9, 31, 3}, {3, 5, 3, 130}, 2, 1, "SAME"},
                        {{1, 8, 9, 9}, {3, 3, 9, 160}, 1, 1, "SAME"},    // the filter is read where it lies
                        {{1, 23, 23, 4}, {3, 3, 2, 192}, 1, 1, "SAME"},  // seen by many positions
                        {{2, 1, 300, 8}, {1, 3, 4, 34}, 1, 1, "VALID"}}) {
    check(k, false);
  }
}

TEST_CASE("every padding, stride, dilation and number of groups, for each type", "[convolution]") {
  Context plain(options(1));
  for (const char* padding : {"SAME", "VALID", "EXPLICIT"}) {
    for (int64_t stride : {1, 2, 3}) {
      for (int64_t dilation : {1, 2}) {
        for (int64_t groups : {1, 2}) {
          Case k{{2, 8, 7, 4}, {3, 2, 4 / groups, 6}, stride, dilation, padding};
          check(k, false);
          // Small integers are exact in every type, so they give the same sums.
          Attrs attrs = attrs_of(k);
          auto as = [&](Context& c, const Tensor& t, DType to) {
            return apply1(c, Op::cast, {t}, Attrs().set_dtype(Attr::dtype, to)).take();
          };
          auto whole = [&](const Dims& dims, uint32_t seed) {
            Tensor t = random_tensor(plain, DType::F32, dims, seed);
            for (int64_t i = 0; i < t.size(); ++i) t.data<float>()[i] = static_cast<float>((i * 7 + seed * 5) % 9 - 4);
            return t;
          };
          Tensor x = whole(k.x, 1), w = whole(k.filter, 2), y = apply1(plain, Op::conv2d, {x, w}, attrs).take();
          Tensor g = whole(Dims(y.dims()), 3);
          Tensor dx = apply1(plain, Op::conv2d_backprop_input, {sizes_tensor(plain, k.x), w, g}, attrs).take();
          Tensor dw = apply1(plain, Op::conv2d_backprop_filter, {x, sizes_tensor(plain, k.filter), g}, attrs).take();
          for (DType t : {DType::F64, DType::F16, DType::BF16, DType::I32}) {
            Context c(options(3));
            INFO(padding << " stride " << stride << " dilation " << dilation << " groups " << groups << " type "
                         << static_cast<int>(t));
            Tensor a = as(c, x, t), b = as(c, w, t), d = as(c, g, t);
            CHECK(first_difference(as(c, y, t), apply1(c, Op::conv2d, {a, b}, attrs).take()) == -1);
            CHECK(first_difference(as(c, dx, t),
                                   apply1(c, Op::conv2d_backprop_input, {sizes_tensor(c, k.x), b, d}, attrs).take()) == -1);
            if (t == DType::I32) continue;
            CHECK(first_difference(as(c, dw, t),
                                   apply1(c, Op::conv2d_backprop_filter, {a, sizes_tensor(c, k.filter), d}, attrs).take()) == -1);
          }
        }
      }
    }
  }
}

TEST_CASE("depthwise convolutions have the defined bits", "[convolution]") {
  for (const Case& k : {Case{{2, 7, 6, 3}, {3, 3, 3, 1}, 1, 1, "SAME"},
                        {{1, 7, 6, 5}, {3, 2, 5, 3}, 2, 1, "SAME"},
                        {{1, 9, 8, 80}, {3, 3, 80, 1}, 1, 2, "VALID"},
                        {{1, 9, 8, 2}, {2, 3, 2, 2}, 3, 1, "EXPLICIT"},
                        {{2, 14, 14, 33}, {5, 5, 33, 1}, 2, 1, "SAME"},
                        {{3, 20, 20, 2}, {3, 3, 2, 1}, 1, 1, "SAME"}}) {
    check(k, true);
  }
}

TEST_CASE("volumes are convolved as images are", "[convolution]") {
  // A filter of depth 1 over a volume is the same filter over each of its slices.
  Context c;
  Tensor x = random_tensor(c, DType::F64, {2, 3, 5, 6, 4}, 1, true), w = random_tensor(c, DType::F64, {1, 3, 2, 4, 5}, 2, true);
  Attrs volumes, images;
  volumes.set_ints(Attr::strides, Dims{1, 2, 1}).set_text(Attr::padding, "SAME");
  images.set_ints(Attr::strides, Dims{2, 1}).set_text(Attr::padding, "SAME");
  Tensor y = apply1(c, Op::conv3d, {x, w}, volumes).take();
  auto reshaped = [&](const Tensor& t, Dims dims) { return apply1(c, Op::reshape, {t, sizes_tensor(c, dims)}).take(); };
  Tensor flat = apply1(c, Op::conv2d, {reshaped(x, {6, 5, 6, 4}), reshaped(w, {3, 2, 4, 5})}, images).take();
  CHECK(shape_text(y.dims()) == "[2,3,3,6,5]");
  CHECK(first_difference(reshaped(y, {6, 3, 6, 5}), flat) == -1);
}

TEST_CASE("pooling looks past the padding", "[convolution]") {
  for (int threads : {1, 3}) {
    for (IsaLevel isa : isa_levels()) {
      Context c(options(threads, isa));
      Case k{{}, {}, 2, 1, "SAME"};
      Tensor x = floats(c, {1, 3, 3, 1}, {1, 2, 3, 4, -5, 6, 7, 8, 8});
      Attrs attrs = attrs_of(k, Attr::ksize, {2, 2});
      CHECK(first_difference(apply1(c, Op::max_pool, {x}, attrs).take(), floats(c, {1, 2, 2, 1}, {4, 6, 8, 8})) == -1);
      CHECK(first_difference(apply1(c, Op::avg_pool, {x}, attrs).take(), floats(c, {1, 2, 2, 1}, {0.5f, 4.5f, 7.5f, 8})) == -1);
      Tensor g = floats(c, {1, 2, 2, 1}, {1, 2, 4, 8}), y = floats(c, {1, 2, 2, 1}, {4, 6, 8, 8});
      CHECK(first_difference(apply1(c, Op::max_pool_grad, {x, y, g}, attrs).take(),
                             floats(c, {1, 3, 3, 1}, {0, 0, 0, 1, 0, 2, 0, 4, 8})) == -1);
      CHECK(first_difference(apply1(c, Op::avg_pool_grad, {sizes_tensor(c, {1, 3, 3, 1}), g}, attrs).take(),
                             floats(c, {1, 3, 3, 1}, {0.25f, 0.25f, 1, 0.25f, 0.25f, 1, 2, 2, 8})) == -1);
      // Many channels, overlapping windows: the average's gradient is the transpose of the average.
      Case wide{{}, {}, 1, 1, "VALID"};
      Attrs overlapping = attrs_of(wide, Attr::ksize, {3, 2});
      Tensor images = random_tensor(c, DType::F64, {2, 6, 5, 19}, 7, true),
             gradient = random_tensor(c, DType::F64, {2, 4, 4, 19}, 8, true);
      Tensor average = apply1(c, Op::avg_pool, {images}, overlapping).take();
      Tensor back = apply1(c, Op::avg_pool_grad, {sizes_tensor(c, {2, 6, 5, 19}), gradient}, overlapping).take();
      double forward_sum = 0, backward_sum = 0;
      for (int64_t i = 0; i < average.size(); ++i) forward_sum += average.data<double>()[i] * gradient.data<double>()[i];
      for (int64_t i = 0; i < back.size(); ++i) backward_sum += back.data<double>()[i] * images.data<double>()[i];
      CHECK(forward_sum == Approx(backward_sum).epsilon(1e-9));
    }
  }
}

TEST_CASE("what a convolution refuses", "[convolution]") {
  Context c;
  auto message = [&](Dims x, Dims w, const char* padding, int64_t stride) {
    Case k{x, w, stride, 1, padding};
    Result<Tensor> r =
        apply1(c, Op::conv2d, {random_tensor(c, DType::F32, x, 1), random_tensor(c, DType::F32, w, 1)}, attrs_of(k));
    return r ? std::string("no error") : r.error().message;
  };
  CHECK(message({1, 5, 5, 3}, {3, 3, 2, 4}, "SAME", 1) ==
        "input depth must be evenly divisible by filter depth: 3 vs 2 [Op:Conv2D]");
  CHECK(message({1, 5, 5, 4}, {3, 3, 2, 3}, "SAME", 1) ==
        "output depth must be evenly divisible by number of groups: 3 vs 2 [Op:Conv2D]");
  CHECK(message({5, 5, 3}, {3, 3, 3, 4}, "SAME", 1) == "convolution input must be 4-dimensional: [5,5,3] [Op:Conv2D]");
  CHECK(message({1, 5, 5, 3}, {7, 7, 3, 1}, "VALID", 1) ==
        "Computed output size would be negative: -1 [input_size: 5, effective_filter_size: 7, stride: 1] [Op:Conv2D]");
  CHECK(message({1, 5, 5, 3}, {3, 3, 3, 4}, "SAME", 0) == "Row and column strides should be larger than 0. [Op:Conv2D]");
  CHECK(message({0, 5, 5, 3}, {3, 3, 3, 4}, "SAME", 1) == "no error");
}
