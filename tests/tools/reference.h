// Reference values for tfl_ulp: slow, simple and independent of runtime/math. Functions that the C library lacks are series in
// long double or 113 bits, or one Newton step from the result under test, which squares its error.
#pragma once

#if __has_include(<quadmath.h>)
#include <quadmath.h>
#else  // clang does not look where g++ keeps it; the library is the same
extern "C" {
__float128 acosq(__float128), acoshq(__float128), asinq(__float128), asinhq(__float128), atanq(__float128), atanhq(__float128),
    cosq(__float128);
__float128 coshq(__float128), erfq(__float128), erfcq(__float128), expq(__float128), expm1q(__float128), fabsq(__float128),
    lgammaq(__float128);
__float128 logq(__float128), log1pq(__float128), sinq(__float128), sinhq(__float128), sqrtq(__float128), tanq(__float128),
    tanhq(__float128);
__float128 atan2q(__float128, __float128), fmodq(__float128, __float128), powq(__float128, __float128), scalbnq(__float128, int);
int ilogbq(__float128), isinfq(__float128), isnanq(__float128);
}
#define M_PIq (__float128(0x1.921fb54442d18p+1) + 0x1.1a62633145c07p-53 - 0x1.f1976b7ed8fbcp-109)
#endif

#include <cmath>
#include <limits>

namespace reference {

using Quad = __float128;

inline double sigmoid(double x, double) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
inline Quad sigmoid_quad(Quad x, double) { return 1 / (1 + expq(-x)); }
inline double softplus(double x, double) { return std::isnan(x) ? x : std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }
inline Quad softplus_quad(Quad x, double) { return log1pq(expq(x)); }

inline double erfinv(double x, double got) {
  if (!(std::fabs(x) < 1) || x == 0) {
    return std::fabs(x) == 1 ? std::copysign(INFINITY, x) : x == 0 ? x : std::numeric_limits<double>::quiet_NaN();
  }
  double error = std::fabs(x) < 0.5 ? std::erf(got) - x : std::copysign((1 - std::fabs(x)) - std::erfc(std::fabs(got)), x);
  return got - error * (std::sqrt(M_PI) / 2) * std::exp(got * got);
}
inline Quad erfinv_quad(Quad x, double got) {
  Quad y = got;
  return y - (erfq(y) - x) * sqrtq(M_PIq) / 2 * expq(y * y);
}
inline double ndtri(double p, double got) {
  if (!(p > 0 && p < 1)) return p == 0 ? -INFINITY : p == 1 ? INFINITY : std::numeric_limits<double>::quiet_NaN();
  if (p == 0.5) return 0;
  // The small side, so that the difference keeps its digits.
  double y = got, side = p < 0.5 ? p : 1 - p, z = p < 0.5 ? y : -y;
  double error = 0.5 * std::erfc(-z * M_SQRT1_2) - side;
  double step = error * std::sqrt(2 * M_PI) * std::exp(y * y / 2);
  return p < 0.5 ? y - step : y + step;
}
inline Quad ndtri_quad(Quad p, double got) {
  Quad y = got;
  return y - (erfcq(-y / sqrtq(2)) / 2 - p) * sqrtq(2 * M_PIq) * expq(y * y / 2);
}

inline double digamma(double x, double) {
  if (std::isnan(x) || x == -INFINITY || (x <= 0 && std::floor(x) == x)) return std::numeric_limits<double>::quiet_NaN();
  if (x == INFINITY) return x;
  long double y = x <= 0 ? 1.0L - x : x, sum = 0;
  for (; y < 16; y += 1) sum -= 1 / y;
  long double w = 1 / (y * y);
  sum +=
      std::log(y) - 0.5L / y -
      w * (1.0L / 12 - w * (1.0L / 120 - w * (1.0L / 252 - w * (1.0L / 240 - w * (1.0L / 132 - w * (691.0L / 32760 - w / 12))))));
  if (x <= 0) {
    long double f = x - std::rint((long double)x);
    sum -= 3.14159265358979323846L / std::tan(3.14159265358979323846L * f);
  }
  return static_cast<double>(sum);
}

// e^-|x| I_n(x), n = 0 or 1.
inline long double bessel_scaled(int n, long double x) {
  long double a = std::fabs(x);
  long double sum, term;
  if (a <= 30) {
    long double q = a * a / 4;
    term = sum = n == 0 ? 1 : a / 2;
    for (int k = 1; term > sum * 1e-20L; ++k) sum += term *= q / (k * static_cast<long double>(k + n));
    sum *= std::exp(-a);
  } else {
    long double mu = 4 * n * n;
    term = sum = 1;
    for (int k = 1; k < 30; ++k) {
      term *= -(mu - (2 * k - 1) * (2 * k - 1)) / (k * 8 * a);
      sum += term;
      if (std::fabs(term) < 1e-20L) break;
    }
    sum /= std::sqrt(2 * 3.14159265358979323846L * a);
  }
  return n == 1 ? std::copysign(sum, x) : sum;
}
inline double bessel_i0e(double x, double) {
  return std::isnan(x) ? x : std::isinf(x) ? 0 : static_cast<double>(bessel_scaled(0, x));
}
inline double bessel_i1e(double x, double) {
  return std::isnan(x) || x == 0 ? x : std::isinf(x) ? std::copysign(0.0, x) : static_cast<double>(bessel_scaled(1, x));
}
inline double bessel_i0(double x, double) {
  if (std::isnan(x)) return x;
  return std::fabs(x) > 200 ? INFINITY : static_cast<double>(bessel_scaled(0, x) * std::exp((long double)std::fabs(x)));
}
inline double bessel_i1(double x, double) {
  if (std::isnan(x) || x == 0) return x;
  if (std::fabs(x) > 200) return std::copysign(INFINITY, x);
  return static_cast<double>(bessel_scaled(1, x) * std::exp((long double)std::fabs(x)));
}

// For whole a: Q(a, x) = e^-x sum x^k / k! over k < a, and P from the terms after that.
inline Quad igammac_quad(Quad a, Quad x) {
  Quad term = 1, sum = 0;
  for (int k = 0; k < static_cast<int>(a); ++k) {
    sum += term;
    term *= x / (k + 1);
  }
  return sum * expq(-x);
}
inline Quad igamma_quad(Quad a, Quad x) {
  Quad term = 1, sum = 0;
  int k = 0;
  for (; k < static_cast<int>(a); ++k) term *= x / (k + 1);
  for (; k < 2000; ++k) {
    sum += term;
    term *= x / (k + 1);
    if (term < sum * 1e-33Q) break;
  }
  return sum * expq(-x);
}

}  // namespace reference
