// One native for each elementwise operation, made from its row, and those whose arguments are more than operands.
#include <algorithm>

#include "frontend/core/native.h"
#include "frontend/core/tensor_operators.h"
#include "frontend/tensors/tensor/natives.h"
#include "runtime/kernels/elementwise/elementwise.h"
#include "runtime/ops/facts.h"

namespace tfl {

namespace {

Attrs named(const Value& name) {
  Attrs attrs;
  if (name.is_str()) attrs.set_text(Attr::name, name.as<Str>()->text);
  return attrs;
}

/// Arguments belong to the call: the result takes over the memory of a large one that nobody else holds.
Result<Value> apply_to_arguments(Interp& interp, Op op, std::span<Value> args, const Attrs& attrs) {
  bool large = false;
  for (const Value& v : args) {
    if (!v.is_tensor()) return apply_list(interp, op, args, attrs);
    large = large || v.tensor_rep()->size > kSmallElements;
  }
  if (interp.sink || !large) return apply_list(interp, op, args, attrs);
  SmallVec<Tensor, 4> operands;
  for (const Value& v : args) operands.push_back(v.tensor());
  for (Value& v : args) v = Value();
  Tensors out;
  TFL_TRY(apply_consuming(interp.context, op, {operands.data(), operands.size()}, attrs, out));
  return Value::of(std::move(out[0]));
}

template <Op op, int arity, TypeClass types>
Result<Value> elementwise_native(Interp& interp, Value* args) {
  if constexpr (types == TypeClass::boolean) {
    ToTensor wanted;
    wanted.dtype = DType::Bool;
    for (int i = 0; i < arity; ++i) {
      if (!is_tensor_like(args[i])) args[i] = TFL_TRY(to_tensor(interp, args[i], wanted));
    }
  }
  if constexpr (arity == 1) {
    args[0] = TFL_TRY(to_tensor(interp, args[0]));
  } else {
    TFL_TRY(unify_operands(interp, std::span<Value>(args, arity)));
  }
  return apply_to_arguments(interp, op, std::span<Value>(args, arity), named(args[arity]));
}

/// tf.add converts its operands one after the other; the second takes the first's type where it fits.
Result<Value> add(Interp& interp, Value* args) {
  args[0] = TFL_TRY(to_tensor(interp, args[0]));
  ToTensor hint;
  hint.preferred = dtype_of(interp, args[0]);
  args[1] = TFL_TRY(to_tensor(interp, args[1], hint));
  return apply_to_arguments(interp, Op::add, std::span<Value>(args, 2), named(args[2]));
}

Result<Value> absolute(Interp& interp, Value* args) {
  args[0] = TFL_TRY(to_tensor(interp, args[0]));
  return apply_to_arguments(interp, absolute_of(*dtype_of(interp, args[0])), std::span<Value>(args, 1), named(args[1]));
}

Result<Value> divide(Interp& interp, Value* args) { return true_divide(interp, args[0], args[1]); }

/// tf.divide is the operator: a host value on the left takes the type of the tensor on the right.
Result<Value> divide_as_operator(Interp& interp, Value* args) {
  if (!is_tensor_like(args[0]) && is_tensor_like(args[1])) {
    ToTensor wanted;
    wanted.dtype = dtype_of(interp, args[1]);
    args[0] = TFL_TRY(to_tensor(interp, args[0], wanted));
  }
  return divide(interp, args);
}

Result<Value> leaky_relu(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  if (auto d = dtype_of(interp, x); d && is_integer(*d)) x = TFL_TRY(cast_value(interp, x, DType::F32));
  ToTensor wanted;
  wanted.dtype = dtype_of(interp, x);
  Value alpha = TFL_TRY(to_tensor(interp, args[1], wanted));
  return apply_op(interp, Op::leaky_relu, {x, alpha}, named(args[2]));
}

Result<Value> gelu(Interp& interp, Value* args) {
  bool approximate = TFL_TRY(truth(interp, args[1]));
  args[0] = TFL_TRY(to_tensor(interp, args[0]));
  return apply_to_arguments(interp, approximate ? Op::gelu_approximate : Op::gelu, std::span<Value>(args, 1), named(args[2]));
}

Result<Value> silu(Interp& interp, Value* args) {
  args[0] = TFL_TRY(to_tensor(interp, args[0]));
  return apply_to_arguments(interp, Op::silu, std::span<Value>(args, 1), Attrs());
}

Result<Value> where(Interp& interp, Value* args) {
  if (args[1].is_none() != args[2].is_none())
    return fail(ErrorKind::ValueError, "x and y must both be non-None or both be None.");
  if (args[1].is_none()) {
    ToTensor hint;
    hint.preferred = DType::Bool;
    Value condition = TFL_TRY(to_tensor(interp, args[0], hint));
    return apply_op(interp, Op::nonzero, {condition});
  }
  ToTensor boolean;
  boolean.dtype = DType::Bool;
  Value condition = args[0];
  if (!condition.is_tensor()) condition = TFL_TRY(to_tensor(interp, condition, is_tensor_like(condition) ? ToTensor{} : boolean));
  TFL_TRY(unify_operands(interp, std::span<Value>(args + 1, 2)));
  return apply_op(interp, Op::where, {condition, args[1], args[2]}, named(args[3]));
}

/// found(op, home, alias) for each home of each operation: "math", or "math:floormod" for another name.
template <class Found>
void each_home(Found found) {
  for (int i = 0; i < op_count(); ++i) {
    const Op op = static_cast<Op>(i);
    std::string_view homes = op_facts(op).homes;
    while (!homes.empty()) {
      const size_t space = std::min(homes.find(' '), homes.size());
      const std::string_view home = homes.substr(0, space);
      homes.remove_prefix(std::min(space + 1, homes.size()));
      const size_t colon = std::min(home.find(':'), home.size());
      found(op, home.substr(0, colon), home.substr(std::min(colon + 1, home.size())));
    }
  }
}

/// The names of elementwise operations of so many operands.
Result<Value> elementwise_of(Interp& interp, Value* args) {
  std::string out;
  each_home([&](Op op, std::string_view, std::string_view alias) {
    const OpInfo& info = op_info(op);
    if (info.kind != OpKind::Elementwise || info.min_operands != args[0].as_int()) return;
    if (!out.empty()) out += ' ';
    out += alias.empty() ? info.name : alias;
  });
  return interp.str(std::move(out));
}

constexpr NativeDef kElementwiseNatives[] = {
#define TFL_ELEMENTWISE(name, tf_name, arity, types, result, value, gradients, arguments, ...) \
  function(#name, arguments ", name=None", elementwise_native<Op::name, arity, TypeClass::types>),
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
    // Later rows replace earlier ones of the same name.
    function("add", "x, y, name=None", add),
    function("abs", "x, name=None", absolute),
    function("divide", "x, y, name=None", divide_as_operator),
    function("truediv", "x, y, name=None", divide),
    function("_divide_floats", "x, y, name=None", elementwise_native<Op::divide, 2, TypeClass::floating>),
    function("leaky_relu", "features, alpha=0.2, name=None", leaky_relu),
    function("gelu", "features, approximate=False, name=None", gelu),
    function("silu", "features, beta=1.0", silu),
    function("where", "condition, x=None, y=None, name=None", where),
    function("_elementwise", "operands: int, /", elementwise_of),
};

}  // namespace

void each_native_export(const std::function<void(std::string_view, std::string_view, std::string_view)>& found) {
  each_home([&](Op op, std::string_view home, std::string_view alias) {
    const std::string_view own = op_info(op).name;
    found(home, alias.empty() ? own : alias, own);
  });
}

std::span<const NativeDef> elementwise_natives() { return kElementwiseNatives; }

}  // namespace tfl
