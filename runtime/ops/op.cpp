#include "runtime/ops/op.h"

namespace tfl {

namespace {

constexpr OpInfo kOps[] = {
#define TFL_ELEMENTWISE(name, tf_name, arity, types, result, value, gradients, ...) \
  {#name, #tf_name, OpKind::Elementwise, arity, arity, 1, TypeClass::types, ResultType::result},
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
#define TFL_OP(name, tf_name, kind, form, min_operands, max_operands, results, ...) \
  {#name, #tf_name, OpKind::kind, min_operands, max_operands, results, TypeClass::any, ResultType::same},
#include "runtime/ops/structural.def"
#undef TFL_OP
#define TFL_CONTROL(name, tf_name, kind, min_operands, max_operands, results, ...) \
  {#name, #tf_name, OpKind::kind, min_operands, max_operands, results, TypeClass::any, ResultType::same},
#include "runtime/ops/control.def"
#undef TFL_CONTROL
};

}  // namespace

const OpInfo& op_info(Op op) { return kOps[static_cast<size_t>(op)]; }
int op_count() { return static_cast<int>(sizeof kOps / sizeof kOps[0]); }

bool is_control(Op op) { return op >= Op::parameter; }

bool type_class_has(TypeClass types, DType dtype) {
  switch (types) {
    case TypeClass::any:
    case TypeClass::choice: return true;
    case TypeClass::numeric: return is_numeric(dtype);
    case TypeClass::number: return is_numeric(dtype) || is_complex(dtype);
    case TypeClass::number_or_string: return is_numeric(dtype) || is_complex(dtype) || dtype == DType::String;
    case TypeClass::floating: return is_floating(dtype);
    case TypeClass::fractional: return is_floating(dtype) || is_complex(dtype);
    case TypeClass::complex: return is_complex(dtype);
    case TypeClass::single_or_double: return dtype == DType::F32 || dtype == DType::F64;
    case TypeClass::integer: return is_integer(dtype);
    case TypeClass::signed_integer: return dtype_group(dtype) == DTypeGroup::Signed;
    case TypeClass::boolean: return dtype == DType::Bool;
    case TypeClass::signed_number:
      if (is_complex(dtype)) return true;
      [[fallthrough]];
    case TypeClass::real_signed: return is_floating(dtype) || dtype_group(dtype) == DTypeGroup::Signed;
  }
  return false;
}

Failure op_failure(ErrorKind kind, Op op, const Attrs& attrs, std::string_view text) {
  return fail(kind, "{} [Op:{}] name: {}", text, op_info(op).tf_name, attrs.get_text(Attr::name));
}

}  // namespace tfl
