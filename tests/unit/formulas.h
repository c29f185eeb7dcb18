// Operands for tests of formulas and of the code made from them, and what eager kernels make of them.
#pragma once

#include "runtime/kernels/elementwise/elementwise.h"
#include "runtime/kernels/elementwise/elementwise_checks.h"
#include "tests/unit/tensors.h"

namespace tfl::test {

/// Elements of all magnitudes, every fourth any bits at all.
inline Tensor any_tensor(Context& c, DType dtype, int64_t n, uint32_t seed) {
  Tensor t = random_tensor(c, dtype, {n}, seed);
  if (dtype == DType::Bool) return t;
  std::mt19937_64 random(seed + 1);
  auto size = static_cast<int64_t>(dtype_size(dtype));
  for (int64_t i = 0; i < n; i += 4) {
    uint64_t bits = random();
    std::memcpy(t.raw() + i * size, &bits, dtype_size(dtype));
  }
  return t;
}

/// Operand k of the row, such that the row's checks let it pass.
inline Tensor row_operand(Context& c, Op op, size_t k, DType dtype, int64_t n, uint32_t seed) {
  if (op_info(op).types == TypeClass::choice && k == 0) dtype = DType::Bool;
  Tensor t = any_tensor(c, dtype, n, seed + 100 * static_cast<uint32_t>(k));
  if (!row_has_checks(op) || k != 1 || !is_integer(dtype)) return t;
  auto size = static_cast<int64_t>(dtype_size(dtype));
  for (int64_t i = 0; i < n; ++i) {
    auto* low = reinterpret_cast<uint8_t*>(t.raw() + i * size);
    auto* high = reinterpret_cast<uint8_t*>(t.raw() + (i + 1) * size - 1);
    if (op == Op::pow) *high &= 0x7f;
    if (op != Op::pow && element_bits(t, i) == 0) *low = 1;
  }
  return t;
}

/// Iterations that do not end soon.
inline bool is_slow_row(Op op) {
  return op == Op::igamma || op == Op::igammac || op == Op::betainc || op == Op::zeta || op == Op::polygamma;
}

template <class F>
void for_rows_and_types(F&& f) {
  for (int i = 0; i < kElementwiseCount; ++i) {
    Op op = static_cast<Op>(i);
    for (int d = 0; d < kRealTypes && op_info(op).result != ResultType::pair; ++d) {
      auto dtype = static_cast<DType>(d);
      if (dtype != DType::String && type_class_has(op_info(op).types, dtype)) f(op, dtype);
    }
  }
}

inline Tensor run_row(Context& c, Op op, const std::vector<Tensor>& in) {
  Tensors results;
  auto r = apply(c, op, {in.data(), in.size()}, {}, results);
  if (!r) FAIL(op_info(op).name << ": " << r.error().message);
  return results[0];
}

}  // namespace tfl::test
