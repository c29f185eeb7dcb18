// Roots of unity, to less than 0.6 units in the last place of a double, by the same steps on every processor: angles are brought into the
// first octant as integers, and Taylor's series are summed with what their first terms lost.
#pragma once

#include "runtime/math/vec.h"

namespace tfl {
inline namespace TFL_ISA {

template <class V>
TFL_INLINE void octant_root(const V& part, double n, V& sine, V& cosine) {
  constexpr double kQuarterPi = 0.78539816339744830962, kQuarterPiRest = 3.0616169978683830e-17;
  V fraction = part / V(n), rest = fma(V(0) - fraction, V(n), part) / V(n);
  V x = V(kQuarterPi) * fraction;
  V low = fma(V(kQuarterPi), fraction, V(0) - x) + (V(kQuarterPi) * rest + V(kQuarterPiRest) * fraction);
  V square = x * x, square_low = fma(x, x, V(0) - square) + V(2) * x * low;
  auto series = [&](std::initializer_list<double> factorials) {
    V sum(0);
    for (double f : factorials) sum = fma(sum, square, V(1) / V(f));
    return sum;
  };
  // 17! .. 3!, and 18! .. 4!, with their signs
  V odd = series({355687428096000.0, -1307674368000.0, 6227020800.0, -39916800.0, 362880.0, -5040.0, 120.0, -6.0});
  V even = series({-6402373705728000.0, 20922789888000.0, -87178291200.0, 479001600.0, -3628800.0, 40320.0, -720.0, 24.0});
  V half = V(0.5) * square, first = V(1) - half;
  sine = x + (low * first + x * square * odd);
  cosine = first + ((V(1) - first) - half + (square * square * even - V(0.5) * square_low));
}

template <class T>
void roots(int64_t n, const int64_t* at, int64_t count, T* out) {
  constexpr int kMany = kVectorBytes / 8;
  using V = Vec<double, kMany>;
  for (int64_t i = 0; i < count; i += kMany) {
    const int many = count - i < kMany ? static_cast<int>(count - i) : kMany;
    double part[kMany] = {};
    bool back[kMany] = {}, left[kMany] = {}, over[kMany] = {};
    for (int j = 0; j < many; ++j) {  // in eighths of 1 / n
      int64_t a = 8 * at[i + j];
      if ((back[j] = a > 4 * n)) a = 8 * n - a;
      if ((left[j] = a > 2 * n)) a = 4 * n - a;
      if ((over[j] = a > n)) a = 2 * n - a;
      part[j] = static_cast<double>(a);
    }
    V sine, cosine;
    octant_root(V::load(part), static_cast<double>(n), sine, cosine);
    for (int j = 0; j < many; ++j) {
      double c = over[j] ? sine[j] : cosine[j], s = over[j] ? cosine[j] : sine[j];
      out[2 * (i + j)] = static_cast<T>(left[j] ? -c : c);
      out[2 * (i + j) + 1] = static_cast<T>(back[j] ? -s : s);
    }
  }
}

}  // namespace TFL_ISA
}  // namespace tfl
