// What elementwise operations refuse at run time (runtime/ops/elementwise_checks.def).
// This header must not know shape rules or loops.
#pragma once

#include <span>
#include <string_view>

#include "runtime/ops/op.h"

namespace tfl {

/// What the operation refuses in these operands (elementwise_checks.def): the error kind and text.
struct ElementwiseRefusal {
  ErrorKind kind;
  std::string_view text;
};
/// `y` is the second operand, which is what the checks look at.
const ElementwiseRefusal* refused(Op op, const Tensor& y);
/// Whether `op` has any such check.
constexpr bool row_has_checks(Op op) {
#define TFL_ELEMENTWISE_CHECK(name, types, violated, kind, text) \
  if (op == Op::name) return true;
#include "runtime/ops/elementwise_checks.def"
#undef TFL_ELEMENTWISE_CHECK
  return false;
}

}  // namespace tfl
