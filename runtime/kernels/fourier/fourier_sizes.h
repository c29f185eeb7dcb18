// What a Fourier transform is told, and how much memory it takes, for whoever sets it aside: eager kernels and plans. This header must not know
// the loops.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/kernels/fourier/fourier_plan.h"

namespace tfl {

enum class FourierKind : uint8_t { complex, to_half, from_half };  // half of a spectrum, the other being its conjugate
enum class FourierNorm : uint8_t { none, whole, root };            // results are divided by n, or by its square root
inline constexpr int64_t kFourierKind = 3, kFourierInverse = 4, kFourierNorm = 3;  // the last: from this bit on
/// The transposed transform of the other kind: bins that stand for two are doubled where they are results and halved where they are operands.
inline constexpr int64_t kFourierAdjoint = 32;

/// What an operation's attributes say.
inline int64_t fourier_flags(FourierKind kind, bool inverse, bool adjoint, std::string_view mode) {
  const FourierNorm norm = mode == "whole" ? FourierNorm::whole : mode == "root" ? FourierNorm::root : FourierNorm::none;
  return static_cast<int64_t>(kind) | (inverse ? kFourierInverse : 0) | (adjoint ? kFourierAdjoint : 0) |
         static_cast<int64_t>(norm) << kFourierNorm;
}

namespace fourier {

inline constexpr int64_t kMostLanes = 16;  // transforms that are computed side by side

/// Pairs that one row of n pairs takes beside its result.
inline int64_t fourier_row_room(int64_t n) {
  const int64_t padded = fourier_padded(n);
  return padded ? 2 * padded : n;
}
/// Pairs that a call takes for each of its lots.
inline int64_t fourier_room(FourierKind kind, int64_t n, int64_t inner) {
  const bool halves = kind != FourierKind::complex && n % 2 == 0;
  const int64_t pairs = halves ? n / 2 : n, row = fourier_row_room(pairs) + pairs + 1;
  return (inner > 1 && !fourier_padded(pairs)) || pairs <= kMostRadix ? 3 * kMostLanes * (pairs + 1) + row : row;
}
/// No less for any length, as a polynomial: padded lengths are below 5 n / 2 + 64.
template <class N>
N fourier_room_at_most(N n, bool inner) {
  return n * (inner ? 3 * kMostLanes + 6 : 6) + (3 * kMostLanes * (kMostRadix + 1) + 256);
}
/// How many lots there are.
inline int64_t fourier_lots(int64_t n, int64_t units) {
  const int64_t most = n <= (1 << 16) ? 16 : 4;
  return units < most ? (units < 1 ? 1 : units) : most;
}

}  // namespace fourier
}  // namespace tfl
