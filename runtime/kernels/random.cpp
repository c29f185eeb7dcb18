// Random tensors from a seed: each group of elements from its own counter, so that any number of threads gives the same stream.
#include <cmath>

#include "runtime/kernels/parallel.h"
#include "runtime/kernels/philox.h"
#include "runtime/math/log.h"
#include "runtime/math/trig.h"
#include "runtime/ops/infer_util.h"
#include "runtime/tensor/element.h"

namespace tfl {

namespace {

Philox stream_of(const Tensor& seed) {
  size_t size = dtype_size(seed.dtype());
  ptrdiff_t step = seed.strides()[0] * static_cast<ptrdiff_t>(size);
  auto word = [&](ptrdiff_t i) { return static_cast<uint64_t>(load_int(seed.dtype(), seed.raw() + i * step)); };
  if (seed.dim(0) == 2) return Philox::from_seed(word(0), word(1));
  // Three words are the state of a generator: the counter and the key as they stand.
  auto low = [&](ptrdiff_t i) { return static_cast<uint32_t>(word(i)); };
  auto high = [&](ptrdiff_t i) { return static_cast<uint32_t>(word(i) >> 32); };
  return Philox({low(0), high(0), low(1), high(1)}, {low(2), high(2)});
}

float unit_float(uint32_t x) { return __builtin_bit_cast(float, (127u << 23) | (x & 0x7fffffu)) - 1.0f; }
double unit_double(uint32_t x0, uint32_t x1) {
  uint64_t mantissa = (static_cast<uint64_t>(x0 & 0xfffffu) << 32) | x1;
  return __builtin_bit_cast(double, (uint64_t{1023} << 52) | mantissa) - 1.0;
}

/// The two normals of two uniform words (Box and Muller). The angle is a product of doubles, as TensorFlow's is; the functions are
/// taken in doubles and rounded, which agrees with its results nearly everywhere.
void normal_pair(uint32_t x0, uint32_t x1, float& a, float& b) {
  constexpr double kTwoPi = 6.2831853071795864769;
  float u = unit_float(x0);
  if (u < 1.0e-7f) u = 1.0e-7f;
  using V = Vec<double, 2>;
  auto angle = static_cast<float>(kTwoPi * unit_float(x1));
  float length = std::sqrt(-2.0f * static_cast<float>(math::log(V(u)).get()));
  a = static_cast<float>(math::sin(V(angle)).get()) * length;
  b = static_cast<float>(math::cos(V(angle)).get()) * length;
}
void normal_pair(uint32_t x0, uint32_t x1, uint32_t x2, uint32_t x3, double& a, double& b) {
  constexpr double kTwoPi = 6.2831853071795864769;
  double u = unit_double(x0, x1);
  if (u < 1.0e-7) u = 1.0e-7;
  using V = Vec<double, 2>;
  double angle = kTwoPi * unit_double(x2, x3), length = std::sqrt(-2.0 * math::log(V(u)).get());
  a = math::sin(V(angle)).get() * length;
  b = math::cos(V(angle)).get() * length;
}

/// Elements [first, last) of groups of `width`, each from the words of its group: make(words, values) fills `width` values.
template <class V, int width, class Make, class Put>
void fill_groups(Context& context, const Philox& base, int64_t n, Make make, Put put) {
  int64_t groups = (n + width - 1) / width;
  in_parallel(context, groups, 4096, [&](int64_t first, int64_t last) {
    Philox stream = base;
    stream.skip(static_cast<uint64_t>(first));
    for (int64_t g = first; g < last; ++g) {
      V values[width];
      make(stream.next(), values);
      for (int i = 0; i < width && g * width + i < n; ++i) put(g * width + i, values[i]);
    }
  }, 16);
}

Result<void> give_floats(RunCall& call, bool normal) {
  Tensor out = TFL_TRY(call.allocate());
  Philox base = stream_of(call.operands[1]);
  int64_t n = out.size();
  DType d = out.dtype();
  if (d == DType::F64) {
    double* to = out.data<double>();
    auto put = [to](int64_t i, double v) { to[i] = v; };
    if (normal) {
      fill_groups<double, 2>(call.context, base, n, [](Philox::Words w, double* v) { normal_pair(w[0], w[1], w[2], w[3], v[0], v[1]); }, put);
    } else {
      fill_groups<double, 2>(call.context, base, n, [](Philox::Words w, double* v) {
        v[0] = unit_double(w[0], w[1]);
        v[1] = unit_double(w[2], w[3]);
      }, put);
    }
  } else {
    std::byte* raw = out.raw();
    auto put = [raw, d](int64_t i, float v) {
      if (d == DType::F32) reinterpret_cast<float*>(raw)[i] = v;
      else store_double(d, v, raw + i * 2);
    };
    if (normal) {
      fill_groups<float, 4>(call.context, base, n, [](Philox::Words w, float* v) {
        normal_pair(w[0], w[1], v[0], v[1]);
        normal_pair(w[2], w[3], v[2], v[3]);
      }, put);
    } else {
      fill_groups<float, 4>(call.context, base, n, [d](Philox::Words w, float* v) {
        for (int i = 0; i < 4; ++i) {
          // As many bits as the type's mantissa holds, so that storing rounds nothing.
          if (d == DType::F16) v[i] = static_cast<float>(w[static_cast<size_t>(i)] & 0x3ffu) / 1024.0f;
          else if (d == DType::BF16) v[i] = static_cast<float>(w[static_cast<size_t>(i)] & 0x7fu) / 128.0f;
          else v[i] = unit_float(w[static_cast<size_t>(i)]);
        }
      }, put);
    }
  }
  return call.give(std::move(out));
}

/// Words as integers: all of their range, or `low` + word modulo `range`.
Result<void> give_integers(RunCall& call, bool full, uint64_t low, uint64_t range) {
  Tensor out = TFL_TRY(call.allocate());
  Philox base = stream_of(call.operands[1]);
  if (dtype_size(out.dtype()) == 4) {
    uint32_t* to = out.data<uint32_t>();
    auto narrow = static_cast<uint32_t>(range);
    fill_groups<uint32_t, 4>(call.context, base, out.size(), [=](Philox::Words w, uint32_t* v) {
      for (size_t i = 0; i < 4; ++i) v[i] = full ? w[i] : static_cast<uint32_t>(low) + w[i] % narrow;
    }, [to](int64_t i, uint32_t v) { to[i] = v; });
  } else {
    uint64_t* to = out.data<uint64_t>();
    fill_groups<uint64_t, 2>(call.context, base, out.size(), [=](Philox::Words w, uint64_t* v) {
      for (size_t i = 0; i < 2; ++i) {
        uint64_t bits = w[2 * i] | (static_cast<uint64_t>(w[2 * i + 1]) << 32);
        v[i] = full ? bits : low + bits % range;
      }
    }, [to](int64_t i, uint64_t v) { to[i] = v; });
  }
  return call.give(std::move(out));
}

/// A group of the truncated normal has 256 words for each element set aside: it draws until its elements are found.
constexpr uint64_t kWordsSetAside = 256;

class SingleWords {
 public:
  explicit SingleWords(Philox& stream) : stream_(stream) {}
  uint32_t next() {
    if (at_ == 4) {
      words_ = stream_.next();
      at_ = 0;
    }
    return words_[at_++];
  }

 private:
  Philox& stream_;
  Philox::Words words_{};
  size_t at_ = 4;
};

}  // namespace

Result<void> run_stateless_uniform(RunCall& call) { return give_floats(call, false); }
Result<void> run_stateless_normal(RunCall& call) { return give_floats(call, true); }

Result<void> run_stateless_uniform_int(RunCall& call) {
  DType d = call.operands[2].dtype();
  auto low = static_cast<uint64_t>(load_int(d, call.operands[2].raw())), high = static_cast<uint64_t>(load_int(d, call.operands[3].raw()));
  uint64_t range = high - low;
  if (dtype_size(d) == 4) range = static_cast<uint32_t>(range);
  if (range == 0 || (is_unsigned(d) && high <= low)) return shape_rules::invalid(call.op, "Need minval < maxval, got {} >= {}", low, high);
  return give_integers(call, false, low, range);
}

Result<void> run_stateless_uniform_full_int(RunCall& call) { return give_integers(call, true, 0, 1); }

Result<void> run_stateless_truncated_normal(RunCall& call) {
  Tensor out = TFL_TRY(call.allocate());
  Philox base = stream_of(call.operands[1]);
  int64_t n = out.size();
  DType d = out.dtype();
  bool wide = d == DType::F64;
  int64_t width = wide ? 2 : 4;
  int64_t groups = (n + width - 1) / width;
  std::byte* raw = out.raw();
  in_parallel(call.context, groups, 1024, [&](int64_t first, int64_t last) {
    for (int64_t g = first; g < last; ++g) {
      Philox stream = base;
      stream.skip(static_cast<uint64_t>(g) * static_cast<uint64_t>(width) * kWordsSetAside / 4);
      SingleWords words(stream);
      for (int64_t found = 0; found < width;) {
        double pair[2];
        if (wide) {
          uint32_t w[4];
          for (uint32_t& x : w) x = words.next();
          normal_pair(w[0], w[1], w[2], w[3], pair[0], pair[1]);
        } else {
          uint32_t x0 = words.next(), x1 = words.next();
          float a, b;
          normal_pair(x0, x1, a, b);
          pair[0] = a;
          pair[1] = b;
        }
        for (double v : pair) {
          if (found == width || std::fabs(v) >= 2) continue;
          int64_t at = g * width + found++;
          if (at < n) store_double(d, v, raw + static_cast<size_t>(at) * dtype_size(d));
        }
      }
    }
  }, 64);
  return call.give(std::move(out));
}

}  // namespace tfl
