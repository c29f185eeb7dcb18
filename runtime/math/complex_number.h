// One complex number in memory: the real part, then the imaginary part. What loops over single elements need of it, and no more;
// vectors of them are runtime/math/complex.h.
// This header must not know vectors.
#pragma once

#include <type_traits>

namespace tfl {

template <class T>
struct ComplexNumber {
  using Part = T;
  T re = 0, im = 0;
  ComplexNumber() = default;
  constexpr ComplexNumber(T real, T imag = 0) : re(real), im(imag) {}  // NOLINT: real numbers mix with complex ones
  friend ComplexNumber operator+(ComplexNumber a, ComplexNumber b) { return {a.re + b.re, a.im + b.im}; }
  friend ComplexNumber operator-(ComplexNumber a, ComplexNumber b) { return {a.re - b.re, a.im - b.im}; }
  friend ComplexNumber operator*(ComplexNumber a, ComplexNumber b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend bool operator==(ComplexNumber a, ComplexNumber b) { return a.re == b.re && a.im == b.im; }
};
using c64 = ComplexNumber<float>;
using c128 = ComplexNumber<double>;

template <class T>
inline constexpr bool is_complex_number = std::is_same_v<T, c64> || std::is_same_v<T, c128>;

}  // namespace tfl
