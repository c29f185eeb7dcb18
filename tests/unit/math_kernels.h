// Runs elementwise kernels of every instruction set level that this machine has on plain arrays, for the tests of runtime/math.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/kernels/elementwise/elementwise.h"
#include "runtime/ops/op.h"

namespace math_kernels {

struct Level {
  tfl::IsaLevel isa;
  const char* name;
};
inline std::vector<Level> levels() {
  std::vector<Level> out{{tfl::IsaLevel::base, "base"}};
  if (tfl::best_isa_level() >= tfl::IsaLevel::v3) out.push_back({tfl::IsaLevel::v3, "v3"});
  if (tfl::best_isa_level() >= tfl::IsaLevel::v4) out.push_back({tfl::IsaLevel::v4, "v4"});
  return out;
}

struct Row {
  tfl::Op op;
  const char* name;
  int arity;
  tfl::TypeClass types;
  tfl::ResultType result;
};
inline constexpr Row kRows[] = {
#define TFL_ELEMENTWISE(name, tf_name, arity, types, result, value, gradients, ...) \
  {tfl::Op::name, #name, arity, tfl::TypeClass::types, tfl::ResultType::result},
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
};

// The loop of `op` for elements of `type`; null where it has none.
inline tfl::ElementwiseLoop loop(tfl::IsaLevel isa, tfl::DType type, tfl::Op op) {
  const tfl::ElementwiseLoop* loops = tfl::elementwise_loops(isa).of[static_cast<int>(type)];
  return loops ? loops[static_cast<int>(op)] : nullptr;
}

// Result bytes of op over arrays of n elements; `in` as the loop wants them.
inline std::vector<std::byte> run(tfl::ElementwiseLoop f, std::int64_t n, std::size_t out_size, const void* x,
                                  const void* y = nullptr, const void* z = nullptr) {
  std::vector<std::byte> out(static_cast<std::size_t>(n) * out_size);
  const std::byte* in[3] = {static_cast<const std::byte*>(x), static_cast<const std::byte*>(y), static_cast<const std::byte*>(z)};
  const std::int64_t step[3] = {1, 1, 1};
  f(n, out.data(), in, step);
  return out;
}

template <class T>
std::vector<T> compute(tfl::IsaLevel isa, tfl::DType type, tfl::Op op, const std::vector<T>& x, const std::vector<T>& y = {},
                       const std::vector<T>& z = {}) {
  std::vector<std::byte> bytes =
      run(loop(isa, type, op), static_cast<std::int64_t>(x.size()), sizeof(T), x.data(), y.data(), z.data());
  std::vector<T> out(x.size());
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  }
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace math_kernels
