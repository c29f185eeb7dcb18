// tfl_ulp: how far the elementwise kernels are from the mathematical functions, in units in the last place.
//
//   tfl_ulp                     every f32 argument of every one-argument function (an hour), then f64 and two arguments sampled
//   tfl_ulp --sample N          about N f32 arguments instead, evenly spread over the bit patterns
//   tfl_ulp --f64 N             N random arguments per range for f64 and for functions of two arguments (default 20000)
//   tfl_ulp --fast              f32 against the f64 kernels, three times as fast; says nothing where f32 goes through f64
//   tfl_ulp --isa base|v3|v4    the kernels of this level (default: the best)     --threads N     NAME...  only these
//
// Prints the largest error and where it is, and exits with 1 if a function is worse than its bound. An f32 result is compared
// with one computed in f64 or better, an f64 result with one in 113 bits.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "runtime/kernels/elementwise/elementwise.h"
#include "runtime/ops/op.h"
#include "tests/tools/reference.h"

namespace {

using tfl::DType;
using tfl::Op;
using namespace reference;

struct Function {
  const char* name;
  Op op;
  double (*f32)(double x, double got);  // reference; some need the result to start from
  double f32_bound;
  Quad (*f64)(Quad x, double got);  // null: not measured
  double f64_bound;
  double lo, hi;  // range of the f64 samples; also logarithmically towards 0 from hi
};

#define TFL_SAME(name) [](double x, double) { return double(std::name(x)); }
#define TFL_QUAD(name) [](Quad x, double) { return Quad(name##q(x)); }
const Function kFunctions[] = {
    {"exp", Op::exp, TFL_SAME(exp), 1, TFL_QUAD(exp), 1, -745, 710},
    {"expm1", Op::expm1, TFL_SAME(expm1), 1, TFL_QUAD(expm1), 1.25, -40, 709},
    {"log", Op::log, TFL_SAME(log), 1, TFL_QUAD(log), 1, 0.4, 3},
    {"log1p", Op::log1p, TFL_SAME(log1p), 1, TFL_QUAD(log1p), 1, -1, 3},
    {"sqrt", Op::sqrt, TFL_SAME(sqrt), 0.5, TFL_QUAD(sqrt), 0.501, 0, 10},
    {"rsqrt", Op::rsqrt, [](double x, double) { return double(1 / std::sqrt((long double)x)); }, 0.501,
     [](Quad x, double) { return 1 / sqrtq(x); }, 0.55, 0, 10},
    {"sin", Op::sin, TFL_SAME(sin), 1, TFL_QUAD(sin), 1, -100, 100},
    {"cos", Op::cos, TFL_SAME(cos), 1, TFL_QUAD(cos), 1, -100, 100},
    {"tan", Op::tan, TFL_SAME(tan), 0.501, TFL_QUAD(tan), 1, -100, 100},
    {"asin", Op::asin, TFL_SAME(asin), 0.501, TFL_QUAD(asin), 1, -1, 1},
    {"acos", Op::acos, TFL_SAME(acos), 0.501, TFL_QUAD(acos), 1, -1, 1},
    {"atan", Op::atan, TFL_SAME(atan), 0.501, TFL_QUAD(atan), 1, -10, 10},
    {"sinh", Op::sinh, TFL_SAME(sinh), 0.501, TFL_QUAD(sinh), 2, -20, 20},
    {"cosh", Op::cosh, TFL_SAME(cosh), 0.501, TFL_QUAD(cosh), 2, -20, 20},
    {"tanh", Op::tanh, TFL_SAME(tanh), 1, TFL_QUAD(tanh), 1.25, -20, 20},
    {"asinh", Op::asinh, TFL_SAME(asinh), 0.501, TFL_QUAD(asinh), 2, -20, 20},
    {"acosh", Op::acosh, TFL_SAME(acosh), 0.501, TFL_QUAD(acosh), 2, 1, 20},
    {"atanh", Op::atanh, TFL_SAME(atanh), 0.501, TFL_QUAD(atanh), 2, -1, 1},
    {"sigmoid", Op::sigmoid, sigmoid, 1, sigmoid_quad, 1, -700, 40},
    {"softplus", Op::softplus, softplus, 0.501, softplus_quad, 2, -40, 40},
    {"erf", Op::erf, TFL_SAME(erf), 1, TFL_QUAD(erf), 1, -6, 6},
    {"erfc", Op::erfc, TFL_SAME(erfc), 0.501, TFL_QUAD(erfc), 4, -6, 26},
    {"erfinv", Op::erfinv, erfinv, 0.501, erfinv_quad, 4, -1, 1},
    {"ndtri", Op::ndtri, ndtri, 0.501, ndtri_quad, 4, 0, 1},
    {"lgamma", Op::lgamma, TFL_SAME(lgamma), 0.501, TFL_QUAD(lgamma), 6, 0, 40},
    {"digamma", Op::digamma, digamma, 0.501, nullptr, 0, 0, 0},
    {"bessel_i0", Op::bessel_i0, bessel_i0, 0.501, nullptr, 0, 0, 0},
    {"bessel_i0e", Op::bessel_i0e, bessel_i0e, 0.501, nullptr, 0, 0, 0},
    {"bessel_i1", Op::bessel_i1, bessel_i1, 0.501, nullptr, 0, 0, 0},
    {"bessel_i1e", Op::bessel_i1e, bessel_i1e, 0.501, nullptr, 0, 0, 0},
};

struct Function2 {
  const char* name;
  Op op;
  Quad (*reference)(Quad x, Quad y);
  double f32_bound, f64_bound;
  double x_lo, x_hi, y_lo, y_hi;
};
const Function2 kFunctions2[] = {
    {"pow", Op::pow, [](Quad x, Quad y) { return powq(x, y); }, 0.501, 1, 0, 20, -250, 250},
    {"atan2", Op::atan2, [](Quad x, Quad y) { return atan2q(x, y); }, 0.501, 1, -9, 9, -9, 9},
    {"truncatemod", Op::truncatemod, [](Quad x, Quad y) { return fmodq(x, y); }, 0, 0, -1e9, 1e9, -9, 9},
    {"divide", Op::divide, [](Quad x, Quad y) { return x / y; }, 0.5, 0.501, -9, 9, -9, 9},
    {"igamma", Op::igamma, igamma_quad, 0.501, 200, 1, 40, 0, 60},
    {"igammac", Op::igammac, igammac_quad, 0.501, 200, 1, 40, 0, 60},
};

struct Options {
  std::uint64_t sample = 0;
  int f64 = 20000;
  int threads = 1;
  bool fast = false;
  const tfl::ElementwiseLoops* loops = nullptr;
  std::vector<std::string> names;

  bool wants(const char* name) const {
    if (names.empty()) return true;
    for (const std::string& n : names) {
      if (n == name) return true;
    }
    return false;
  }
};

// The error of an f32 result in units of the last place of the wanted value; a wrong NaN, infinity or sign of zero is huge.
constexpr double kWrong = 1e9;
double error_f32(float got, double want) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want) ? 0 : kWrong;
  if (got == 0 && want == 0) return std::signbit(got) == std::signbit(want) ? 0 : kWrong;
  if (std::isinf(want)) return got == want ? 0 : kWrong;
  // Infinity counts as 2^128, which is where the next number would be.
  double g = std::isinf(got) ? std::copysign(0x1p128, got) : got;
  double w = std::min(std::max(want, -0x1p128), 0x1p128);
  std::uint64_t bits;
  std::memcpy(&bits, &w, sizeof bits);
  int e = std::max(static_cast<int>(bits >> 52 & 0x7ff) - 1023, -126);
  std::uint64_t unit = static_cast<std::uint64_t>(std::min(e, 127) - 23 + 1023) << 52;
  double ulp;
  std::memcpy(&ulp, &unit, sizeof ulp);
  return std::fabs(g - w) / ulp;
}
double error_f64(double got, Quad want) {
  if (std::isnan(got) || isnanq(want)) return std::isnan(got) && isnanq(want) ? 0 : kWrong;
  if (std::isinf(got) || isinfq(want)) return got == double(want) ? 0 : kWrong;
  if (want == 0) return got == 0 ? 0 : kWrong;
  int e = std::max(ilogbq(want), -1022);
  return double(fabsq(Quad(got) - want) / scalbnq(1, e - 52));
}

// Whether the error is at most `bound`, cheaply; false also means "look closer".
inline bool within(float got, double want, double bound) {
  std::uint64_t bits;
  std::memcpy(&bits, &want, sizeof bits);
  bits &= 0x7ff0000000000000;
  double binade;
  std::memcpy(&binade, &bits, sizeof binade);
  return std::fabs(got - want) <= binade * (bound * 0x1p-23) && want != 0;
}

struct Worst {
  double error = 0;
  double x = 0, y = 0;
  void see(double e, double at, double at2 = 0) {
    if (!(e <= error)) {
      error = e;
      x = at;
      y = at2;
    }
  }
};

bool report(const char* name, const char* type, const Worst& w, double bound, bool two) {
  bool good = w.error <= bound;
  std::printf("%-12s %s  max %-8.4g ulp at %a = %.9g", name, type, w.error, w.x, w.x);
  if (two) std::printf(", %a = %.9g", w.y, w.y);
  std::printf("%s\n", good ? "" : "  EXCEEDS ITS BOUND");
  std::fflush(stdout);
  return good;
}

template <class T>
void evaluate(const tfl::ElementwiseLoops& loops, DType type, Op op, int n, const T* x, const T* y, T* out) {
  const std::byte* in[3] = {reinterpret_cast<const std::byte*>(x), reinterpret_cast<const std::byte*>(y), nullptr};
  const std::int64_t step[3] = {1, 1, 1};
  loops.of[static_cast<int>(type)][static_cast<int>(op)](n, reinterpret_cast<std::byte*>(out), in, step);
}

bool measure_f32(const Options& o, const Function& f) {
  constexpr int kBlock = 1 << 14;
  std::uint64_t stride = o.sample ? std::max<std::uint64_t>(1, (std::uint64_t{1} << 32) / o.sample) | 1 : 1;
  std::uint64_t count = ((std::uint64_t{1} << 32) + stride - 1) / stride;
  std::atomic<std::uint64_t> next{0};
  std::vector<Worst> worst(static_cast<std::size_t>(o.threads));
  auto work = [&](int id) {
    std::vector<float> x(kBlock), out(kBlock);
    std::vector<double> wide(kBlock), want(kBlock);
    for (;;) {
      std::uint64_t begin = next.fetch_add(kBlock);
      if (begin >= count) return;
      int n = static_cast<int>(std::min<std::uint64_t>(kBlock, count - begin));
      for (int i = 0; i < n; ++i) {
        auto bits = static_cast<std::uint32_t>((begin + static_cast<std::uint64_t>(i)) * stride);
        std::memcpy(&x[static_cast<std::size_t>(i)], &bits, sizeof bits);
      }
      evaluate<float>(*o.loops, DType::F32, f.op, n, x.data(), nullptr, out.data());
      if (o.fast) {
        for (int i = 0; i < n; ++i) wide[static_cast<std::size_t>(i)] = x[static_cast<std::size_t>(i)];
        evaluate<double>(*o.loops, DType::F64, f.op, n, wide.data(), nullptr, want.data());
      }
      Worst& mine = worst[static_cast<std::size_t>(id)];
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        double w = o.fast ? want[i] : f.f32(x[i], out[i]);
        if (!within(out[i], w, mine.error)) mine.see(error_f32(out[i], w), x[i]);
      }
    }
  };
  std::vector<std::thread> pool;
  for (int id = 1; id < o.threads; ++id) pool.emplace_back(work, id);
  work(0);
  for (std::thread& t : pool) t.join();
  Worst all;
  for (const Worst& w : worst) all.see(w.error, w.x);
  return report(f.name, "f32", all, f.f32_bound, false);
}

class Samples {
 public:
  double uniform(double lo, double hi) { return lo + (hi - lo) * std::uniform_real_distribution<double>()(engine_); }
  // Half the numbers uniform in the range, half spread evenly over the magnitudes towards 0.
  double number(double lo, double hi) {
    double x = uniform(lo, hi);
    return engine_() & 1 ? x : x * std::exp(-uniform(0, 60));
  }

 private:
  std::mt19937_64 engine_{20260101};
};

bool measure_f64(const Options& o, const Function& f) {
  Samples samples;
  std::vector<double> x(static_cast<std::size_t>(o.f64)), out(x.size());
  for (double& v : x) v = f.lo >= 1 ? samples.uniform(f.lo, f.hi) : samples.number(f.lo, f.hi);
  evaluate<double>(*o.loops, DType::F64, f.op, o.f64, x.data(), nullptr, out.data());
  Worst worst;
  for (std::size_t i = 0; i < x.size(); ++i) worst.see(error_f64(out[i], f.f64(x[i], out[i])), x[i]);
  return report(f.name, "f64", worst, f.f64_bound, false);
}

bool measure_two(const Options& o, const Function2& f) {
  Samples samples;
  auto n = static_cast<std::size_t>(o.f64);
  std::vector<double> x(n), y(n), out(n);
  std::vector<float> xf(n), yf(n), outf(n);
  for (std::size_t i = 0; i < n; ++i) {
    xf[i] = static_cast<float>(x[i] = samples.number(f.x_lo, f.x_hi));
    yf[i] = static_cast<float>(y[i] = samples.number(f.y_lo, f.y_hi));
  }
  if (f.op == Op::igamma || f.op == Op::igammac) {  // the reference knows whole orders only
    for (std::size_t i = 0; i < n; ++i) xf[i] = static_cast<float>(x[i] = std::ceil(x[i]));
  }
  evaluate<float>(*o.loops, DType::F32, f.op, o.f64, xf.data(), yf.data(), outf.data());
  evaluate<double>(*o.loops, DType::F64, f.op, o.f64, x.data(), y.data(), out.data());
  Worst worst, worst32;
  for (std::size_t i = 0; i < n; ++i) {
    worst32.see(error_f32(outf[i], static_cast<double>(f.reference(xf[i], yf[i]))), xf[i], yf[i]);
    worst.see(error_f64(out[i], f.reference(x[i], y[i])), x[i], y[i]);
  }
  bool good = report(f.name, "f32", worst32, f.f32_bound, true);
  return report(f.name, "f64", worst, f.f64_bound, true) && good;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  tfl::IsaLevel isa = tfl::best_isa_level();
  for (int i = 1; i < argc; ++i) {
    std::string a = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (a == "--sample") {
      o.sample = std::strtoull(value, nullptr, 10);
    } else if (a == "--f64") {
      o.f64 = std::atoi(value);
    } else if (a == "--fast") {
      o.fast = true;
      continue;
    } else if (a == "--threads") {
      o.threads = std::max(1, std::atoi(value));
    } else if (a == "--isa") {
      std::string level = value;
      isa = std::min(isa, level == "base" ? tfl::IsaLevel::base : level == "v3" ? tfl::IsaLevel::v3 : tfl::IsaLevel::v4);
    } else {
      o.names.push_back(a);
      continue;
    }
    ++i;
  }
  o.loops = &tfl::elementwise_loops(isa);
  bool good = true;
  for (const Function& f : kFunctions) {
    if (!o.wants(f.name)) continue;
    good = measure_f32(o, f) && good;
    if (f.f64 && o.f64) good = measure_f64(o, f) && good;
  }
  for (const Function2& f : kFunctions2) {
    if (o.wants(f.name) && o.f64) good = measure_two(o, f) && good;
  }
  return good ? 0 : 1;
}
