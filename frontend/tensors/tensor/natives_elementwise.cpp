// One native for each elementwise operation, made from its row, and those whose arguments are more than operands.
#include <array>

#include "frontend/core/native.h"
#include "frontend/tensors/tensor/natives.h"
#include "runtime/kernels/elementwise/elementwise.h"

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

template <Op op, int arity>
Result<Value> elementwise_native(Interp& interp, Value* args) {
  if constexpr (op == Op::logical_and || op == Op::logical_or || op == Op::logical_xor || op == Op::logical_not) {
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

constexpr const char* kPlainSignatures[] = {"x, name=None", "x, y, name=None", "x, y, z, name=None"};

/// The arguments' names where TensorFlow has others than x, y, z.
constexpr const char* signature_of(std::string_view name, int arity) {
  constexpr std::array<std::pair<std::string_view, const char*>, 19> kNamed = {{
      {"relu", "features, name=None"}, {"relu6", "features, name=None"}, {"elu", "features, name=None"},
      {"selu", "features, name=None"}, {"softplus", "features, name=None"}, {"softsign", "features, name=None"},
      {"atan2", "y, x, name=None"}, {"igamma", "a, x, name=None"}, {"igammac", "a, x, name=None"},
      {"zeta", "x, q, name=None"}, {"polygamma", "a, x, name=None"}, {"betainc", "a, b, x, name=None"},
      {"nextafter", "x1, x2, name=None"}, {"clip_by_value", "t, clip_value_min, clip_value_max, name=None"},
      {"gelu", "features, name=None"}, {"silu", "features, name=None"}, {"where", "condition, x, y, name=None"},
      {"leaky_relu", "features, alpha, name=None"}, {"gelu_approximate", "features, name=None"},
  }};
  for (const auto& row : kNamed) {
    if (row.first == name) return row.second;
  }
  return kPlainSignatures[arity - 1];
}

/// tf.add converts its operands one after the other; the second takes the first's type where it fits.
Result<Value> add(Interp& interp, Value* args) {
  args[0] = TFL_TRY(to_tensor(interp, args[0]));
  ToTensor hint;
  hint.preferred = dtype_of(interp, args[0]);
  args[1] = TFL_TRY(to_tensor(interp, args[1], hint));
  return apply_to_arguments(interp, Op::add, std::span<Value>(args, 2), named(args[2]));
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
  if (args[1].is_none() != args[2].is_none()) return fail(ErrorKind::ValueError, "x and y must both be non-None or both be None.");
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

constexpr NativeDef kElementwiseNatives[] = {
#define TFL_ELEMENTWISE(name, tf_name, arity, types, result, value, gradients) \
  function(#name, signature_of(#name, arity), elementwise_native<Op::name, arity>),
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
    // Later rows replace earlier ones of the same name.
    function("add", "x, y, name=None", add),
    function("divide", "x, y, name=None", divide_as_operator),
    function("truediv", "x, y, name=None", divide),
    function("_divide_floats", "x, y, name=None", elementwise_native<Op::divide, 2>),
    function("leaky_relu", "features, alpha=0.2, name=None", leaky_relu),
    function("gelu", "features, approximate=False, name=None", gelu),
    function("silu", "features, beta=1.0", silu),
    function("where", "condition, x=None, y=None, name=None", where),
};

}  // namespace

std::span<const NativeDef> elementwise_natives() { return kElementwiseNatives; }

}  // namespace tfl
