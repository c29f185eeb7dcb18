// tf.Variable: a tensor that may be replaced, its slots and construction. Writing is in variable_assign.cpp.
#include "frontend/tensors/tensor/variable.h"

#include "frontend/core/scope.h"
#include "frontend/core/signature.h"
#include "frontend/core/tensor_operators.h"
#include "frontend/tensors/tensor/device.h"
#include "frontend/tensors/tensor/shape.h"
#include "frontend/tensors/tensor/tensor_text.h"
#include "runtime/tensor/borrowed.h"

namespace tfl {

namespace {

void destroy_variable(Object* o) {
  static_cast<VariableObject*>(o)->~VariableObject();
  Heap::release(o, sizeof(VariableObject));
}

VariableObject* self_of(const Value& v) { return variable_storage(v.as<VariableObject>()); }

std::string variable_text(Interp& interp, const VariableObject* v, std::string_view name) {
  std::string value = v->value ? elements_repr(interp, v->value) : std::string("<uninitialized>");
  std::string shape = v->shape_ranked ? dims_text(v->shape) : std::string("<unknown>");
  return fmt::format("<tf.Variable '{}' shape={} dtype={}, numpy={}>", name, shape, dtype_name(v->dtype), value);
}

Result<Value> variable_repr(Interp& interp, const Value& self) {
  if (current_scope(interp)) {
    const VariableObject* v = self_of(self);
    std::string shape = v->shape_ranked ? dims_text(v->shape) : std::string("<unknown>");
    return interp.strf("<tf.Variable '{}' shape={} dtype={}>", v->shown_name(), shape, dtype_name(v->dtype));
  }
  bool unread = self.as<VariableObject>() != self_of(self);
  return interp.str(variable_text(interp, self_of(self), unread ? std::string("UnreadVariable") : self_of(self)->shown_name()));
}

Result<uint64_t> variable_hash(Interp& interp, const Value& self) {
  return fail(ErrorKind::TypeError, "Variable is unhashable. Instead, use variable.ref() as the key. (Variable: {})",
              variable_text(interp, self_of(self), self_of(self)->shown_name()));
}

Result<Value> variable_get_item(Interp& interp, const Value& self, const Value& key) {
  Value item = TFL_TRY(tensor_get_item(interp, self, key));
  if (item.is(Kind::Symbolic)) {
    symbolic(item)->slice_of = Value::share(self_of(self));
    symbolic(item)->slice_key = key;
  }
  if (!item.is_tensor()) return item;
  return hang_slice(interp, std::move(item), self, key);
}

Result<void> variable_set_item(Interp& interp, const Value& self, const Value&, const Value& value) {
  return fail(ErrorKind::TypeError, "'{}' object does not support item {}", interp.type_name(self),
              value.is_empty() ? "deletion" : "assignment")
      .with_hint("write v[key].assign(value)");
}

Result<Value> variable_get_attr(Interp&, const Value&, Str* name) {
  for (std::string_view n : {"op", "graph"}) {
    if (n == name->text)
      return fail(ErrorKind::AttributeError, "Tensor.{} is undefined when eager execution is enabled.", name->text);
  }
  return Value();
}

constexpr std::string_view kSignature =
    "initial_value=None, trainable=None, validate_shape=True, caching_device=None, name=None, variable_def=None, dtype=None, "
    "import_scope=None, "
    "constraint=None, synchronization=None, aggregation=None, shape=None, experimental_enable_variable_lifting=True";
enum Parameter {
  Initial,
  Trainable,
  ValidateShape,
  CachingDevice,
  Name,
  Definition,
  Dtype,
  ImportScope,
  Constraint,
  Synchronization,
  Aggregation,
  ShapeParameter,
  Lifting,
  Count
};

Result<Value> construct_variable(Interp& interp, Type* type, CallArgs& args) {
  Value bound[Count];
  std::unique_ptr<Signature> signature = parse_signature(interp, kSignature);
  TFL_TRY(bind_arguments(interp, "Variable", *signature, args, bound));
  // Under a strategy with several replicas a variable is of a class that knows how their writes become one.
  Value module = type == interp.types.variable ? interp.find_module("tensorflow.distribute._variables") : Value();
  Value made;
  if (module.is(Kind::Module)) {
    Value hook = TFL_TRY(get_attr(interp, module, interp.intern("type_of_new")));
    made = TFL_TRY(interp.call(hook, {}));
    if (made.is(Kind::Type)) type = made.as<Type>();
  }
  Value variable = TFL_TRY(make_variable(interp, type, bound[Initial], bound[Dtype], bound[Name], bound[Trainable],
                                         bound[ShapeParameter], bound[Constraint]));
  if (made.is(Kind::Type))
    TFL_TRY(interp.call_method(variable, interp.intern("_set_sharing"), {bound[Synchronization], bound[Aggregation]}));
  return variable;
}

/// The initial value as elements: while a function is traced, what it depends on is computed at once.
Result<Tensor> initial_tensor(Interp& interp, const Value& initial, const ToTensor& wanted) {
  if (!current_scope(interp)) return to_concrete(interp, initial, wanted);
  Value v = TFL_TRY(to_tensor(interp, initial, wanted));
  if (v.is_tensor()) return v.tensor();
  return lift_value(interp, v);
}

}  // namespace

Result<Value> make_variable(Interp& interp, Type* type, Value initial, const Value& dtype, const Value& name,
                            const Value& trainable, const Value& shape, const Value& constraint) {
  if (initial.is_none()) {
    return fail(ErrorKind::ValueError,
                "The `initial_value` arg to `tf.Variable` must be specified except when you are not providing a `variable_def`. "
                "You provided neither.");
  }
  TFL_TRY(check_variable_creation(interp));
  if (is_callable(interp, initial) && !is_tensor_like(initial)) initial = TFL_TRY(interp.call(initial, {}));
  ToTensor wanted;
  if (!dtype.is_none()) wanted.dtype = TFL_TRY(to_dtype(interp, dtype));
  auto converted = initial_tensor(interp, initial, wanted);
  if (!converted) {
    if (is_tensor_like(initial) && converted.error().kind == ErrorKind::ValueError)
      converted.error().message = "initial_value: " + converted.error().message;
    return converted.failure();
  }
  VariableObject* v = interp.allocate<VariableObject>(type);
  Value result = Value::adopt(v);
  Tensor first = TFL_TRY(own_elements(interp.context, converted.take()));
  v->value = TFL_TRY(placed(interp, std::move(first), "VarHandleOp"));
  v->dtype = v->value.dtype();
  v->trainable = trainable.is_none() || trainable.is_empty();
  if (!v->trainable) v->trainable = TFL_TRY(truth(interp, trainable));
  v->shape_ranked = true;
  v->shape = Dims(v->value.dims());
  v->constraint = constraint;
  v->id = interp.tensors->next_variable++;
  v->name = (current_scope(interp) ? std::string() : interp.tensors->name_scope) +
            (name.is_str() ? name.as<Str>()->text : std::string("Variable"));
  if (!shape.is_none()) {
    Value declared = TFL_TRY(as_shape(interp, shape));
    const ShapeObject* s = declared.as<ShapeObject>();
    ShapeObject actual{};
    actual.ranked = true;
    actual.dims = v->shape;
    if (!shapes_compatible(s, &actual)) {
      std::string text = TFL_TRY(str_text(interp, shape));
      return fail(ErrorKind::ValueError,
                  "In this `tf.Variable` creation, the initial value's shape ({}) is not compatible with the explicitly supplied "
                  "`shape` argument ({}).",
                  dims_text(v->shape), text);
    }
    v->shape_ranked = s->ranked;
    v->shape = s->dims;
  }
  TFL_TRY(note_variable(interp, result));
  return result;
}

namespace {

/// `v += 1` would make `v` name a tensor and leave the variable as it is: TensorFlow refuses what it can be mistaken for.
Result<Value> variable_inplace(Interp& interp, BinaryOp op, const Value& self, const Value& other) {
  // In a loop of a graph the name is the loop's, and holds a tensor from the first iteration on.
  if (interp.sink && interp.sink->building()) return tensor_binary(interp, op, self, other);
  std::string_view name = op == BinaryOp::Add || op == BinaryOp::Sub ? "variable" : "var";
  auto refuse = [name](std::string_view sign, std::string_view change, std::string_view fresh) {
    return fail(ErrorKind::RuntimeError,
                "`{0} {1}= value` with `tf.Variable`s is not supported. Use `{0}.{2}` to modify the variable, or `out = {0} {3} "
                "value` if you need to get a new "
                "output Tensor.",
                name, sign, change, fresh);
  };
  switch (op) {
    case BinaryOp::Add: return refuse("+", "assign_add(value)", "+");
    case BinaryOp::Sub: return refuse("-", "assign_sub(value)", "-");
    case BinaryOp::Mul: return refuse("*", "assign(var * value)", "*");
    case BinaryOp::Div: return refuse("/", "assign(var / value)", "/");
    case BinaryOp::Pow: return refuse("**", "assign(var ** value)", "**");
    default: return tensor_binary(interp, op, self, other);
  }
}

}  // namespace

extern const Slots variable_slots;
const Slots variable_slots = {
    .kind = Kind::Variable,
    .destroy = destroy_variable,
    .construct = construct_variable,
    .repr = variable_repr,
    .hash = variable_hash,
    .truth = tensor_truth,
    .get_item = variable_get_item,
    .set_item = variable_set_item,
    .contains = tensor_contains,
    .iter = tensor_iter,
    .unary = tensor_unary,
    .binary = tensor_binary,
    .inplace = variable_inplace,
    .compare = tensor_compare,
    .get_attr = variable_get_attr,
    .has_dict = true,
};

}  // namespace tfl
