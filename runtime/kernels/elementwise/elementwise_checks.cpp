// What elementwise operations refuse at run time, and the few operations that take strings.
#include <algorithm>
#include <string>

#include "runtime/kernels/elementwise/elementwise.h"
#include "runtime/kernels/elementwise/elementwise_checks.h"
#include "runtime/kernels/layout/walk.h"
#include "runtime/ops/op.h"
#include "runtime/tensor/dtype_dispatch.h"

namespace tfl {

namespace {

struct Row {
  Op op;
  ElementwiseRefusal refusal;
};
constexpr Row kChecks[] = {
#define TFL_ELEMENTWISE_CHECK(name, types, violated, kind, text) {Op::name, {ErrorKind::kind, text}},
#include "runtime/ops/elementwise_checks.def"
#undef TFL_ELEMENTWISE_CHECK
};

// Whether any of n elements in a row violates check number `row`; without an early exit, so that it becomes vector code.
template <class V>
bool violates(size_t row, const V* elements, int64_t n) {
  [[maybe_unused]] size_t number = 0;
#define TFL_ELEMENTWISE_CHECK(name, types, violated, kind, text)                          \
  if (row == number++) {                                                                  \
    if constexpr (std::is_signed_v<V> || TypeClass::types != TypeClass::signed_integer) { \
      bool bad = false;                                                                   \
      for (int64_t i = 0; i < n; ++i) {                                                   \
        V y = elements[i];                                                                \
        bad |= violated;                                                                  \
      }                                                                                   \
      return bad;                                                                         \
    }                                                                                     \
  }
#include "runtime/ops/elementwise_checks.def"
#undef TFL_ELEMENTWISE_CHECK
  return false;
}

}  // namespace

const ElementwiseRefusal* refused(Op op, const Tensor& y) {
  if (!is_integer(y.dtype())) return nullptr;
  size_t row = 0;
  while (kChecks[row].op != op) ++row;
  bool bad = with_element_type(y.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (y.contiguous()) return violates(row, y.data<T>(), y.size());
      T block[512];
      for (int64_t at = 0; at < y.size(); at += 512) {
        int64_t n = std::min<int64_t>(512, y.size() - at);
        pack_elements(sizeof(T), y.dims(), y.strides(), y.raw(), at, n, reinterpret_cast<std::byte*>(block));
        if (violates(row, block, n)) return true;
      }
    }
    return false;
  });
  return bad ? &kChecks[row].refusal : nullptr;
}

void run_elementwise_strings(Op op, std::span<const Tensor> operands, Tensor& out) {
  std::span<const int64_t> dims = out.dims();
  size_t rank = dims.size();
  Dims strides[kMaxArity];
  for (size_t k = 0; k < operands.size(); ++k) strides[k] = broadcast_strides(operands[k].dims(), operands[k].strides(), dims);
  Dims at(rank);
  int64_t offset[kMaxArity] = {};
  auto text = [&](size_t k) -> const std::string& { return operands[k].data<std::string>()[offset[k]]; };
  for (int64_t i = 0; i < out.size(); ++i) {
    if (op == Op::equal || op == Op::not_equal)
      out.data<uint8_t>()[i] = (text(0) == text(1)) == (op == Op::equal);
    else if (op == Op::add)
      out.data<std::string>()[i] = text(0) + text(1);
    else  // where
      out.data<std::string>()[i] = operands[0].data<uint8_t>()[offset[0]] ? text(1) : text(2);
    for (size_t d = rank; d-- > 0;) {
      for (size_t k = 0; k < operands.size(); ++k) offset[k] += strides[k][d];
      if (++at[d] < dims[d]) break;
      for (size_t k = 0; k < operands.size(); ++k) offset[k] -= strides[k][d] * dims[d];
      at[d] = 0;
    }
  }
}

}  // namespace tfl
