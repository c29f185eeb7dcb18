// The formulas of runtime/math through the kernels of every instruction set level: equal bits, special values, known values.
#include <limits>
#include <random>
#include "tests/catch.h"

#include "runtime/math/pow.h"
#include "runtime/math/trig.h"
#include "tests/unit/math_kernels.h"

using namespace math_kernels;
using tfl::DType;
using tfl::IsaLevel;
using tfl::Op;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Bit patterns of every kind: special values, small integers, all exponents.
template <class T>
std::vector<T> samples(std::size_t n, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::vector<T> out(n);
  for (T& x : out) {
    std::uint64_t r = engine();
    if constexpr (std::is_floating_point_v<T>) {
      const T special[] = {T(0),
                           T(-0.0),
                           T(1),
                           T(-1),
                           T(kInf),
                           T(-kInf),
                           T(kNan),
                           T(0.5),
                           std::numeric_limits<T>::denorm_min(),
                           std::numeric_limits<T>::max(),
                           std::numeric_limits<T>::min(),
                           T(2),
                           T(3),
                           T(-2)};
      switch (engine() % 4) {
        case 0: x = special[r % std::size(special)]; break;
        case 1: x = static_cast<T>(static_cast<double>(r) / 0x1p64 * 20 - 10); break;
        case 2: x = static_cast<T>(static_cast<int>(r % 41) - 20) / 2; break;
        default: std::memcpy(&x, &r, sizeof x);
      }
    } else {
      x = static_cast<T>(engine() % 3 == 0 ? r % 19 - 9 : r);
    }
  }
  return out;
}

template <class T>
std::size_t result_size(const Row& row) {
  return row.result == tfl::ResultType::same ? sizeof(T) : row.result == tfl::ResultType::pair ? 2 * sizeof(T) : 1;
}

template <class T>
void compare_levels(DType type) {
  std::vector<Level> all = levels();
  constexpr std::size_t n = 203;  // a multiple of no vector length
  for (const Row& row : kRows) {
    if (!loop(IsaLevel::base, type, row.op)) continue;
    std::vector<T> x = samples<T>(n, 1), y = samples<T>(n, 2), z = samples<T>(n, 3);
    if (std::string(row.name) == "where") {
      for (T& v : x) std::memset(&v, 1, sizeof v);
    }
    std::size_t size = result_size<T>(row);
    std::vector<std::byte> want = run(loop(IsaLevel::base, type, row.op), n, size, x.data(), y.data(), z.data());
    for (const Level& level : all) {
      std::vector<std::byte> got = run(loop(level.isa, type, row.op), n, size, x.data(), y.data(), z.data());
      for (std::size_t i = 0; i < n; ++i) {
        bool equal = std::memcmp(&got[i * size], &want[i * size], size) == 0;
        if (std::is_floating_point_v<T> && size == sizeof(T) && !equal) {
          T a, b;
          std::memcpy(&a, &got[i * size], size);
          std::memcpy(&b, &want[i * size], size);
          equal = same(a, b);
        }
        if (!equal) {
          INFO(row.name << " " << level.name << " x=" << +x[i] << " y=" << +y[i]);
          CHECK(equal);
        }
      }
      // One element alone gives what it gives among others.
      for (std::size_t i = 0; i < n; i += 29) {
        std::vector<std::byte> alone = run(loop(level.isa, type, row.op), 1, size, &x[i], &y[i], &z[i]);
        if (std::memcmp(alone.data(), &got[i * size], size) != 0) {
          T a = T(0), b = T(0);
          std::memcpy(&a, alone.data(), size);
          std::memcpy(&b, &got[i * size], size);
          INFO(row.name << " " << level.name << " alone, x=" << +x[i] << " y=" << +y[i]);
          CHECK(same(a, b));
        }
      }
    }
  }
}

struct Special {
  Op op;
  double x, result;
};
struct Special2 {
  Op op;
  double x, y, result;
};

template <class T>
void check_special(DType type, const Special2& s, bool two) {
  for (const Level& level : levels()) {
    T got = compute<T>(level.isa, type, s.op, {static_cast<T>(s.x)}, {static_cast<T>(two ? s.y : 0)})[0];
    INFO(kRows[static_cast<int>(s.op)].name << "(" << s.x << ", " << s.y << ") at " << level.name << " gives " << got);
    CHECK(same(got, static_cast<T>(s.result)));
  }
}

}  // namespace

TEST_CASE("math: every row gives the same bits at every instruction set level", "[math]") {
  compare_levels<float>(DType::F32);
  compare_levels<double>(DType::F64);
  compare_levels<std::int8_t>(DType::I8);
  compare_levels<std::int16_t>(DType::I16);
  compare_levels<std::int32_t>(DType::I32);
  compare_levels<std::int64_t>(DType::I64);
  compare_levels<std::uint8_t>(DType::U8);
  compare_levels<std::uint16_t>(DType::U16);
  compare_levels<std::uint32_t>(DType::U32);
  compare_levels<std::uint64_t>(DType::U64);
}

TEST_CASE("math: a formula on a single value gives the kernel's bits", "[math]") {
  std::vector<float> x = samples<float>(500, 7), y = samples<float>(500, 8);
  std::vector<float> sine = compute<float>(tfl::best_isa_level(), DType::F32, Op::sin, x);
  std::vector<float> power = compute<float>(tfl::best_isa_level(), DType::F32, Op::pow, x, y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    using One = tfl::Vec<float, 1>;
    INFO(x[i] << " " << y[i]);
    CHECK(same(tfl::math::sin(One(x[i])).get(), sine[i]));
    CHECK(same(tfl::math::pow(One(x[i]), One(y[i])).get(), power[i]));
  }
}

TEST_CASE("math: special values of one argument", "[math]") {
  const Special table[] = {
      {Op::exp, -kInf, 0},
      {Op::exp, kInf, kInf},
      {Op::exp, kNan, kNan},
      {Op::exp, -0.0, 1},
      {Op::exp, 1e4, kInf},
      {Op::exp, -1e4, 0},
      {Op::expm1, -0.0, -0.0},
      {Op::expm1, -kInf, -1},
      {Op::expm1, kInf, kInf},
      {Op::expm1, -1e4, -1},
      {Op::expm1, 1e4, kInf},
      {Op::log, 0, -kInf},
      {Op::log, -0.0, -kInf},
      {Op::log, -1, kNan},
      {Op::log, kInf, kInf},
      {Op::log, 1, 0},
      {Op::log, kNan, kNan},
      {Op::log1p, -1, -kInf},
      {Op::log1p, -2, kNan},
      {Op::log1p, -0.0, -0.0},
      {Op::log1p, kInf, kInf},
      {Op::sqrt, -0.0, -0.0},
      {Op::sqrt, -1, kNan},
      {Op::sqrt, kInf, kInf},
      {Op::rsqrt, 0, kInf},
      {Op::rsqrt, -0.0, -kInf},
      {Op::rsqrt, kInf, 0},
      {Op::rsqrt, 4, 0.5},
      {Op::rsqrt, -1, kNan},
      {Op::sin, -0.0, -0.0},
      {Op::sin, kInf, kNan},
      {Op::cos, -0.0, 1},
      {Op::cos, -kInf, kNan},
      {Op::tan, -0.0, -0.0},
      {Op::tan, kInf, kNan},
      {Op::asin, 1.5, kNan},
      {Op::asin, -0.0, -0.0},
      {Op::acos, 1, 0},
      {Op::acos, -1.5, kNan},
      {Op::atan, -0.0, -0.0},
      {Op::sinh, -kInf, -kInf},
      {Op::sinh, -0.0, -0.0},
      {Op::cosh, -kInf, kInf},
      {Op::cosh, 0, 1},
      {Op::tanh, -kInf, -1},
      {Op::tanh, 100, 1},
      {Op::tanh, -0.0, -0.0},
      {Op::tanh, kNan, kNan},
      {Op::asinh, -kInf, -kInf},
      {Op::asinh, -0.0, -0.0},
      {Op::acosh, 1, 0},
      {Op::acosh, 0.5, kNan},
      {Op::acosh, kInf, kInf},
      {Op::atanh, 1, kInf},
      {Op::atanh, -1, -kInf},
      {Op::atanh, 2, kNan},
      {Op::atanh, -0.0, -0.0},
      {Op::erf, kInf, 1},
      {Op::erf, -kInf, -1},
      {Op::erf, -0.0, -0.0},
      {Op::erfc, kInf, 0},
      {Op::erfc, -kInf, 2},
      {Op::erfc, 0, 1},
      {Op::erfinv, 1, kInf},
      {Op::erfinv, -1, -kInf},
      {Op::erfinv, 2, kNan},
      {Op::erfinv, -0.0, -0.0},
      {Op::ndtri, 0, -kInf},
      {Op::ndtri, 1, kInf},
      {Op::ndtri, 0.5, 0},
      {Op::ndtri, -1, kNan},
      {Op::lgamma, 0, kInf},
      {Op::lgamma, -0.0, kInf},
      {Op::lgamma, -1, kInf},
      {Op::lgamma, -kInf, kInf},
      {Op::lgamma, kInf, kInf},
      {Op::lgamma, 1, 0},
      {Op::lgamma, 2, 0},
      {Op::digamma, 0, kNan},
      {Op::digamma, -3, kNan},
      {Op::digamma, -kInf, kNan},
      {Op::digamma, kInf, kInf},
      {Op::sigmoid, -kInf, 0},
      {Op::sigmoid, kInf, 1},
      {Op::sigmoid, 0, 0.5},
      {Op::sigmoid, kNan, kNan},
      {Op::softplus, -kInf, 0},
      {Op::softplus, kInf, kInf},
      {Op::softplus, kNan, kNan},
      {Op::relu, -0.0, -0.0},
      {Op::relu, kNan, kNan},
      {Op::relu, -1, 0},
      {Op::relu6, 9, 6},
      {Op::relu6, kNan, kNan},
      {Op::relu6, -3, 0},
      {Op::elu, -0.0, -0.0},
      {Op::elu, -kInf, -1},
      {Op::selu, kNan, kNan},
      {Op::softsign, -0.0, -0.0},
      {Op::softsign, kInf, kNan},
      {Op::sign, -0.0, 0},
      {Op::sign, kNan, kNan},
      {Op::sign, -kInf, -1},
      {Op::round, 2.5, 2},
      {Op::round, -0.5, -0.0},
      {Op::round, 1.5, 2},
      {Op::floor, -0.5, -1},
      {Op::floor, -0.0, -0.0},
      {Op::ceil, -0.5, -0.0},
      {Op::bessel_i0, 0, 1},
      {Op::bessel_i0, -kInf, kInf},
      {Op::bessel_i1, -kInf, -kInf},
      {Op::bessel_i1, -0.0, -0.0},
      {Op::bessel_i0e, kInf, 0},
  };
  for (const Special& s : table) {
    check_special<float>(DType::F32, {s.op, s.x, 0, s.result}, false);
    check_special<double>(DType::F64, {s.op, s.x, 0, s.result}, false);
  }
}

TEST_CASE("math: special values of two arguments", "[math]") {
  const Special2 table[] = {
      {Op::pow, -kInf, 0.5, kInf},
      {Op::pow, -0.0, 0.5, 0},
      {Op::pow, 1, kNan, 1},
      {Op::pow, kNan, 0, 1},
      {Op::pow, -1, kInf, 1},
      {Op::pow, 0, -1, kInf},
      {Op::pow, -0.0, -1, -kInf},
      {Op::pow, -0.0, -2, kInf},
      {Op::pow, -0.0, -3, -kInf},
      {Op::pow, -kInf, 5, -kInf},
      {Op::pow, -kInf, -3, -0.0},
      {Op::pow, 0, kNan, kNan},
      {Op::pow, -8, 0.25, kNan},
      {Op::pow, -8, 5, -32768},
      {Op::pow, 2, -kInf, 0},
      {Op::pow, 0.5, -kInf, kInf},
      {Op::pow, -0.0, 2.5, 0},
      {Op::pow, kInf, -2.5, 0},
      {Op::pow, -2, 1e30, kInf},
      {Op::pow, 4, 0.5, 2},
      {Op::pow, 4, -1, 0.25},
      {Op::pow, 3, 3, 27},
      {Op::atan2, 0, 0, 0},
      {Op::atan2, -0.0, 0, -0.0},
      {Op::atan2, 0, -0.0, M_PI},
      {Op::atan2, -0.0, -0.0, -M_PI},
      {Op::atan2, kInf, kInf, M_PI_4},
      {Op::atan2, -kInf, -kInf, -3 * M_PI_4},
      {Op::atan2, 1, kInf, 0},
      {Op::atan2, 1, -kInf, M_PI},
      {Op::atan2, kInf, 1, M_PI_2},
      {Op::atan2, 1, kNan, kNan},
      {Op::mod, -1, kInf, kInf},
      {Op::mod, 1, -kInf, -kInf},
      {Op::mod, -0.0, 2, -0.0},
      {Op::mod, -6, 3, -0.0},
      {Op::mod, 1, 0, kNan},
      {Op::mod, kInf, 2, kNan},
      {Op::mod, 7, -2, -1},
      {Op::floordiv, 7, -2, -4},
      {Op::floordiv, -1, 0, -kInf},
      {Op::floordiv, 0, 0, kNan},
      {Op::truncatemod, -7, 2, -1},
      {Op::truncatediv, -7, 2, -3},
      {Op::maximum, kNan, 1, kNan},
      {Op::maximum, 1, kNan, kNan},
      {Op::maximum, 0, -0.0, 0},
      {Op::minimum, kNan, 1, kNan},
      {Op::minimum, 1, kNan, kNan},
      {Op::minimum, 2, 1, 1},
      {Op::xlogy, 0, kNan, 0},
      {Op::xlogy, 0, 0, 0},
      {Op::xlogy, 1, 0, -kInf},
      {Op::xdivy, 0, 0, 0},
      {Op::xlog1py, 0, -1, 0},
      {Op::divide_no_nan, 3, 0, 0},
      {Op::divide_no_nan, kNan, 0, 0},
      {Op::multiply_no_nan, kInf, 0, 0},
      {Op::nextafter, 1, kNan, kNan},
      {Op::nextafter, 0, -0.0, -0.0},
      {Op::igamma, 0, 1, kNan},
      {Op::igamma, 1, 0, 0},
      {Op::igamma, 1, kInf, 1},
      {Op::igamma, 2, -1, kNan},
      {Op::igammac, 1, 0, 1},
      {Op::igammac, 1, kInf, 0},
      {Op::zeta, 1, 1, kInf},
      {Op::zeta, 0.5, 1, kNan},
      {Op::zeta, 2, -1, kInf},
      {Op::zeta, 3, -1, kNan},
      {Op::zeta, 2.5, -0.5, kNan},
      {Op::polygamma, -1, 1, kNan},
      {Op::squared_difference, 1, 4, 9},
      {Op::leaky_relu, -0.0, 0.5, -0.0},
      {Op::leaky_relu, -2, 0.5, -1},
  };
  for (const Special2& s : table) {
    check_special<float>(DType::F32, s, true);
    check_special<double>(DType::F64, s, true);
  }
}

TEST_CASE("math: functions of several parameters against values computed with mpmath", "[math]") {
  struct {
    Op op;
    double x, y, z, result, tolerance;
  } const table[] = {
      {Op::igamma, 0.01, 0.5, 0.0, 0.994373243806032816, 2e-12},
      {Op::igammac, 0.01, 0.5, 0.0, 0.00562675619396718415, 2e-12},
      {Op::igamma, 0.5, 0.1, 0.0, 0.34527915398142298, 2e-12},
      {Op::igammac, 0.5, 0.1, 0.0, 0.65472084601857702, 2e-12},
      {Op::igamma, 1.5, 2.0, 0.0, 0.738535870050889378, 2e-12},
      {Op::igammac, 1.5, 2.0, 0.0, 0.261464129949110622, 2e-12},
      {Op::igamma, 3.0, 10.0, 0.0, 0.997230604284488424, 2e-12},
      {Op::igammac, 3.0, 10.0, 0.0, 0.00276939571551157594, 2e-12},
      {Op::igamma, 20.0, 15.0, 0.0, 0.124781215032524823, 2e-12},
      {Op::igammac, 20.0, 15.0, 0.0, 0.875218784967475177, 2e-12},
      {Op::igamma, 100.0, 120.0, 0.0, 0.972136260109479339, 2e-12},
      {Op::igammac, 100.0, 120.0, 0.0, 0.0278637398905206615, 2e-12},
      {Op::igamma, 1000.0, 990.0, 0.0, 0.379521378537963941, 2e-12},
      {Op::igammac, 1000.0, 990.0, 0.0, 0.620478621462036059, 2e-12},
      {Op::igamma, 0.5, 30.0, 0.0, 0.999999999999990514, 2e-12},
      {Op::igammac, 0.5, 30.0, 0.0, 9.48573757107384839e-15, 2e-12},
      {Op::betainc, 0.5, 0.5, 0.25, 0.333333333333333333, 1e-12},
      {Op::betainc, 2.0, 3.0, 0.1, 0.0523000000000000054, 1e-12},
      {Op::betainc, 10.0, 1.5, 0.9, 0.540197006501854553, 1e-12},
      {Op::betainc, 100.0, 80.0, 0.55, 0.438319667945194833, 1e-12},
      {Op::betainc, 0.01, 5.0, 0.5, 0.999889784288554189, 1e-12},
      {Op::zeta, 2.0, 1.0, 0.0, 1.64493406684822644, 1e-14},
      {Op::zeta, 1.1, 0.3, 0.0, 13.9256226309160478, 1e-14},
      {Op::zeta, 3.5, 10.0, 0.0, 0.00143221064371786352, 1e-14},
      {Op::zeta, 30.0, 2.0, 0.0, 9.31327432419668183e-10, 1e-14},
      {Op::zeta, 2.0, -0.5, 0.0, 8.93480220054467931, 1e-14},
      {Op::polygamma, 0.0, 2.5, 0.0, 0.703156640645243187, 1e-13},
      {Op::polygamma, 1.0, 0.5, 0.0, 4.93480220054467931, 1e-13},
      {Op::polygamma, 2.0, 3.0, 0.0, -0.154113806319188571, 1e-13},
      {Op::polygamma, 5.0, 1.2, 0.0, 41.3896784177725242, 1e-13},
      {Op::lgamma, 0.3, 0.0, 0.0, 1.09579799481807556, 4e-15},
      {Op::lgamma, 5.0, 0.0, 0.0, 3.17805383034794562, 4e-15},
      {Op::lgamma, 20.0, 0.0, 0.0, 39.339884187199494, 4e-15},
      {Op::lgamma, -2.5, 0.0, 0.0, -0.0562437164976740507, 4e-15},
      {Op::digamma, 0.3, 0.0, 0.0, -3.50252422220013312, 4e-15},
      {Op::digamma, 5.0, 0.0, 0.0, 1.50611766843180047, 4e-15},
      {Op::digamma, 20.0, 0.0, 0.0, 2.97052399224214905, 4e-15},
      {Op::digamma, -2.5, 0.0, 0.0, 1.10315664064524319, 4e-15},
      {Op::bessel_i0, 0.7, 0.0, 0.0, 1.12630301830680918, 4e-15},
      {Op::bessel_i1e, 0.7, 0.0, 0.0, 0.18466998276274732, 4e-15},
      {Op::bessel_i0, 7.5, 0.0, 0.0, 268.161311515189365, 4e-15},
      {Op::bessel_i1e, 7.5, 0.0, 0.0, 0.138041211548554202, 4e-15},
      {Op::bessel_i0, 30.0, 0.0, 0.0, 781672297823.97749, 4e-15},
      {Op::bessel_i1e, 30.0, 0.0, 0.0, 0.0719163305986475547, 4e-15},
      {Op::bessel_i0, -3.0, 0.0, 0.0, 4.88079258586502409, 4e-15},
      {Op::bessel_i1e, -3.0, 0.0, 0.0, -0.196826713297300854, 4e-15},
  };
  for (const auto& t : table) {
    for (const Level& level : levels()) {
      double got = compute<double>(level.isa, DType::F64, t.op, {t.x}, {t.y}, {t.z})[0];
      INFO(kRows[static_cast<int>(t.op)].name << " " << t.x << " " << t.y << " " << t.z << " gives " << got);
      CHECK(std::fabs(got - t.result) <= t.tolerance * std::fabs(t.result));
    }
  }
}

TEST_CASE("math: truncatemod is C's fmod for every quotient", "[math]") {
  std::vector<float> xf = samples<float>(20000, 11), yf = samples<float>(20000, 12);
  std::vector<double> x = samples<double>(20000, 13), y = samples<double>(20000, 14);
  for (const Level& level : levels()) {
    std::vector<float> f = compute<float>(level.isa, DType::F32, Op::truncatemod, xf, yf);
    std::vector<double> d = compute<double>(level.isa, DType::F64, Op::truncatemod, x, y);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!same(f[i], std::fmod(xf[i], yf[i]))) FAIL("fmod of " << xf[i] << " and " << yf[i] << " gives " << f[i]);
      if (!same(d[i], std::fmod(x[i], y[i]))) FAIL("fmod of " << x[i] << " and " << y[i] << " gives " << d[i]);
    }
  }
}
