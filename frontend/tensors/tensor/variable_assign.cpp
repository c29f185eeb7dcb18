// Writing to variables: whole values, slices, scattered rows. A variable's tensor is replaced; its elements are overwritten in
// place only when nobody else can see them.
#include "frontend/core/native.h"
#include "frontend/core/scope.h"
#include "frontend/core/tensor_operators.h"
#include "frontend/tensors/tensor/device.h"
#include "frontend/tensors/tensor/tensor_text.h"
#include "frontend/tensors/tensor/transaction.h"
#include "frontend/tensors/tensor/variable.h"
#include "runtime/kernels/layout/walk.h"
#include "runtime/tensor/borrowed.h"
#include "runtime/tensor/copy.h"

namespace tfl {

namespace {

/// What a tensor made by variable[key] remembers (TensorRep::host).
struct SliceLink {
  Value variable;
  Value key;
};

VariableObject* target_of(const Value& v) { return variable_storage(v.as<VariableObject>()); }

/// The result of an assignment: an object that reads what the variable holds and prints as UnreadVariable.
Result<Value> assigned(Interp& interp, const Value& self, bool read_value) {
  if (!read_value) return Value::none();
  VariableObject* v = target_of(self);
  VariableObject* view = interp.allocate<VariableObject>(interp.types.variable);
  view->source = Value::share(v);
  view->dtype = v->dtype;
  view->trainable = v->trainable;
  view->shape_ranked = v->shape_ranked;
  view->shape = v->shape;
  view->name = v->name;
  view->constraint = v->constraint;
  view->id = v->id;
  return Value::adopt(view);
}

Result<Tensor> converted(Interp& interp, const VariableObject* v, const Value& value) {
  ToTensor wanted;
  wanted.dtype = v->dtype;
  return to_concrete(interp, value, wanted);
}

Result<void> check_initialised(const VariableObject* v) {
  if (v->value) return {};
  return fail(ErrorKind::FailedPreconditionError,
              "Could not find variable {}. This could mean that the variable has been deleted.", v->name);
}

Result<void> store(Interp& interp, VariableObject* v, Tensor t) {
  bool fits = !v->shape_ranked || v->shape.size() == t.dims().size();
  for (size_t i = 0; fits && v->shape_ranked && i < v->shape.size(); ++i) fits = v->shape[i] < 0 || v->shape[i] == t.dims()[i];
  if (!fits) {
    return fail(ErrorKind::ValueError,
                "Cannot assign value to variable ' {}': Shape mismatch.The variable shape {}, and the assigned value shape {} "
                "are incompatible.",
                v->shown_name(), dims_text(v->shape), dims_text(t.dims()));
  }
  t = TFL_TRY(own_elements(interp.context, std::move(t)));
  keep_for_undo(interp, v);
  v->value = std::move(t);
  return {};
}

Result<bool> flag(Interp& interp, const Value& v) { return truth(interp, v); }

/// Inside a graph an assignment is a node; what static sizes tell fails while tracing.
Result<Value> assign_node(Interp& interp, const Value& self, Assignment how, const Value& value, bool read_value) {
  VariableObject* v = target_of(self);
  ToTensor wanted;
  wanted.dtype = v->dtype;
  Value x = TFL_TRY(to_tensor(interp, value, wanted));
  Dims dims;
  bool ranked = true;
  if (x.is_tensor()) {
    dims = Dims(x.tensor().dims());
  } else {
    dims = symbolic_type(x).dims;
    ranked = symbolic_type(x).ranked;
  }
  bool fits = !ranked || !v->shape_ranked || v->shape.size() == dims.size();
  for (size_t i = 0; fits && ranked && v->shape_ranked && i < dims.size(); ++i)
    fits = dims[i] < 0 || v->shape[i] < 0 || v->shape[i] == dims[i];
  if (!fits && how == Assignment::Set) {
    return fail(ErrorKind::ValueError,
                "Cannot assign value to variable ' {}': Shape mismatch.The variable shape {}, and the assigned value shape {} "
                "are incompatible.",
                v->shown_name(), dims_text(v->shape), dims_text(dims));
  }
  if (!fits)
    return fail(ErrorKind::ValueError, "Shapes must be equal rank, but are {} and {}", dims_text(v->shape), dims_text(dims));
  TFL_TRY(interp.sink->assign_variable(interp, v, how, x));
  return assigned(interp, self, read_value);
}

Result<Value> assign(Interp& interp, Value* args) {
  Value target = args[0];
  if (target.is_tensor()) {
    Value done = TFL_TRY(assign_slice(interp, target, args[1]));
    return done;
  }
  if (current_scope(interp)) return assign_node(interp, target, Assignment::Set, args[1], TFL_TRY(flag(interp, args[4])));
  VariableObject* v = target_of(target);
  Tensor t = TFL_TRY(converted(interp, v, args[1]));
  TFL_TRY(store(interp, v, std::move(t)));
  return assigned(interp, target, TFL_TRY(flag(interp, args[4])));
}

Result<Value> accumulate(Interp& interp, Value* args, Op op, std::string_view tf_name) {
  VariableObject* v = target_of(args[0]);
  if (current_scope(interp)) {
    return assign_node(interp, args[0], op == Op::add ? Assignment::Add : Assignment::Subtract, args[1],
                       TFL_TRY(flag(interp, args[4])));
  }
  TFL_TRY(check_initialised(v));
  Tensor delta = TFL_TRY(converted(interp, v, args[1]));
  if (!std::equal(delta.dims().begin(), delta.dims().end(), v->value.dims().begin(), v->value.dims().end())) {
    return fail(ErrorKind::InvalidArgumentError,
                "Cannot update variable with shape {} using a Tensor with shape {}, shapes must be equal. [Op:{}] name: ",
                shape_text(v->value.dims()), shape_text(delta.dims()), tf_name);
  }
  if (v->dtype == DType::String || v->dtype == DType::Bool) {
    return fail(ErrorKind::InvalidArgumentError, "No OpKernel was registered to support Op '{}' with a variable of dtype {}",
                tf_name, dtype_name(v->dtype));
  }
  keep_for_undo(interp, v);
  // The sum is computed where the variable is.
  if (gpu::Device* there = gpu::Devices::home_of(v->value); there && interp.context.devices().run_operation) [[unlikely]] {
    Tensor given[2] = {v->value, delta};
    Tensors sum;
    if (interp.context.devices().run_operation(interp.context, *there, op, {given, 2}, Attrs(), sum)) {
      v->value = std::move(sum[0]);
      return assigned(interp, args[0], TFL_TRY(flag(interp, args[4])));
    }
  }
  // The variable lets go of its tensor, so that the sum may be written over it. That is not interrupted: what would take long is written
  // elsewhere.
  constexpr size_t kMostOverwritten = size_t{64} << 20;
  const bool over = v->value.unique() && v->value.bytes() <= kMostOverwritten;
  Tensors results;
  if (over) {
    Context::Overwriting overwriting(interp.context);
    if (!overwriting.ok()) return fail(ErrorKind::KeyboardInterrupt, "");
    Tensor operands[2] = {std::move(v->value), delta};
    auto done = apply_consuming(interp.context, op, operands, Attrs(), results);
    if (!done) {
      v->value = std::move(operands[0]);
      return done.failure();
    }
  } else {
    results.push_back(TFL_TRY(apply1(interp.context, op, {v->value, delta})));
  }
  v->value = std::move(results[0]);
  return assigned(interp, args[0], TFL_TRY(flag(interp, args[4])));
}
Result<Value> assign_add(Interp& interp, Value* args) { return accumulate(interp, args, Op::add, "AssignAddVariableOp"); }
Result<Value> assign_sub(Interp& interp, Value* args) { return accumulate(interp, args, Op::subtract, "AssignSubVariableOp"); }

// ------------------------------------------------------------------------------------------------------- scatters

Result<Value> scatter(Interp& interp, Value& self, Op op, const Value& indices, const Value& updates) {
  VariableObject* v = target_of(self);
  if (current_scope(interp)) {
    ToTensor wanted;
    wanted.dtype = v->dtype;
    Value now = TFL_TRY(to_tensor(interp, self));
    Value rows = TFL_TRY(to_tensor(interp, indices)), values = TFL_TRY(to_tensor(interp, updates, wanted));
    Value next = TFL_TRY(apply_op(interp, op, {now, rows, values}, Attrs().set_text(Attr::name, "ResourceScatterNd")));
    return assign_node(interp, self, Assignment::Set, next, true);
  }
  TFL_TRY(check_initialised(v));
  Tensor u = TFL_TRY(converted(interp, v, updates));
  Tensor i = TFL_TRY(to_concrete(interp, indices));
  Tensor next = TFL_TRY(apply1(interp.context, op, {v->value, i, u}, Attrs().set_text(Attr::name, "ResourceScatterNd")));
  keep_for_undo(interp, v);
  v->value = std::move(next);
  return assigned(interp, self, true);
}

Result<Value> scatter_nd_update(Interp& interp, Value* a) { return scatter(interp, a[0], Op::tensor_scatter_update, a[1], a[2]); }
Result<Value> scatter_nd_add(Interp& interp, Value* a) { return scatter(interp, a[0], Op::tensor_scatter_add, a[1], a[2]); }
Result<Value> scatter_nd_sub(Interp& interp, Value* a) { return scatter(interp, a[0], Op::tensor_scatter_sub, a[1], a[2]); }
Result<Value> scatter_nd_max(Interp& interp, Value* a) { return scatter(interp, a[0], Op::tensor_scatter_max, a[1], a[2]); }
Result<Value> scatter_nd_min(Interp& interp, Value* a) { return scatter(interp, a[0], Op::tensor_scatter_min, a[1], a[2]); }

/// Rows named by the indices of an IndexedSlices.
Result<void> slices_of(Interp& interp, const Value& delta, Value& indices, Value& values) {
  indices = TFL_TRY(find_attr(interp, delta, interp.intern("indices")));
  values = TFL_TRY(find_attr(interp, delta, interp.intern("values")));
  if (indices.is_empty() || values.is_empty()) {
    std::string text = TFL_TRY(repr_text(interp, delta));
    return fail(ErrorKind::TypeError, "Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {}", text);
  }
  indices = TFL_TRY(to_tensor(interp, indices));
  indices = TFL_TRY(apply_op(interp, Op::expand_dims, {indices}, Attrs().set_int(Attr::axis, -1)));
  return {};
}

Result<Value> scatter_slices(Interp& interp, Value* args, Op op) {
  Value indices, values;
  TFL_TRY(slices_of(interp, args[1], indices, values));
  return scatter(interp, args[0], op, indices, values);
}
Result<Value> scatter_update(Interp& interp, Value* a) { return scatter_slices(interp, a, Op::tensor_scatter_update); }
Result<Value> scatter_add(Interp& interp, Value* a) { return scatter_slices(interp, a, Op::tensor_scatter_add); }
Result<Value> scatter_sub(Interp& interp, Value* a) { return scatter_slices(interp, a, Op::tensor_scatter_sub); }
Result<Value> scatter_max(Interp& interp, Value* a) { return scatter_slices(interp, a, Op::tensor_scatter_max); }
Result<Value> scatter_min(Interp& interp, Value* a) { return scatter_slices(interp, a, Op::tensor_scatter_min); }

/// Multiplying or dividing has no scatter of its own: the rows are read, combined and written back.
Result<Value> scatter_combined(Interp& interp, Value* args, Op op) {
  Value indices, values;
  TFL_TRY(slices_of(interp, args[1], indices, values));
  VariableObject* v = target_of(args[0]);
  if (current_scope(interp)) {
    Value now = TFL_TRY(to_tensor(interp, args[0]));
    Value rows = TFL_TRY(apply_op(interp, Op::gather_nd, {now, indices}));
    Value combined = TFL_TRY(apply_binary(interp, op, rows, values));
    return scatter(interp, args[0], Op::tensor_scatter_update, indices, combined);
  }
  TFL_TRY(check_initialised(v));
  Tensor u = TFL_TRY(converted(interp, v, values));
  Tensor rows = TFL_TRY(apply1(interp.context, Op::gather_nd, {v->value, indices.tensor()}));
  Tensor combined = TFL_TRY(apply1(interp.context, op, {rows, u}));
  return scatter(interp, args[0], Op::tensor_scatter_update, indices, Value::of(combined));
}
Result<Value> scatter_mul(Interp& interp, Value* a) { return scatter_combined(interp, a, Op::multiply); }
Result<Value> scatter_div(Interp& interp, Value* a) { return scatter_combined(interp, a, Op::divide); }

// ----------------------------------------------------------------------------------------------------- attributes

Result<Value> read_value(Interp& interp, Value* args) { return to_tensor(interp, args[0]); }
Result<Value> numpy_value(Interp& interp, Value* args) {
  if (current_scope(interp))
    return fail(ErrorKind::NotImplementedError, "numpy() is only available when eager execution is enabled.");
  Tensor t = TFL_TRY(to_concrete(interp, args[0]));
  return numpy_of(interp, t);
}
Result<Value> get_shape(Interp& interp, Value* args) {
  VariableObject* v = target_of(args[0]);
  return v->shape_ranked ? shape_value(interp, v->shape) : unknown_shape_value(interp);
}
Result<Value> get_dtype(Interp& interp, Value* args) { return dtype_value(interp, target_of(args[0])->dtype); }
Result<Value> get_name(Interp& interp, Value* args) { return interp.str(target_of(args[0])->shown_name()); }
Result<Value> get_trainable(Interp&, Value* args) { return Value::boolean(target_of(args[0])->trainable); }
Result<Value> get_constraint(Interp&, Value* args) { return target_of(args[0])->constraint; }
Result<Value> get_device(Interp& interp, Value* args) {
  const Tensor& t = target_of(args[0])->value;
  return interp.str(device_name(t));
}
Result<Value> get_ndim(Interp&, Value* args) {
  VariableObject* v = target_of(args[0]);
  return v->shape_ranked ? Value::integer(static_cast<int64_t>(v->shape.size())) : Value::none();
}
Result<Value> get_unique_id(Interp& interp, Value* args) {
  return interp.strf("{}_{}", target_of(args[0])->name, target_of(args[0])->id);
}
Result<Value> is_initialized(Interp& interp, Value* args) {
  if (current_scope(interp)) {
    Value v = Value::share(target_of(args[0]));
    ir::Node* node = TFL_TRY(append_node(interp, Op::is_initialized, std::span<const Value>(&v, 1), Attrs()));
    return symbolic_value(interp, tracer_of(interp).scope, {node, 0});
  }
  return Value::of(TFL_TRY(scalar<bool>(interp.context, DType::Bool, static_cast<bool>(target_of(args[0])->value))));
}
Result<Value> eager_only(Interp&, Value*) {
  return fail(ErrorKind::RuntimeError, "This property is not supported when eager execution is enabled.");
}
Result<Value> set_shape(Interp& interp, Value* args) {
  VariableObject* v = target_of(args[0]);
  if (args[1].is_none()) return Value::none();
  Dims dims = TFL_TRY(to_dims(interp, args[1], true));
  bool fits = !v->shape_ranked || dims.size() == v->shape.size();
  for (size_t i = 0; fits && v->shape_ranked && i < dims.size(); ++i)
    fits = dims[i] < 0 || v->shape[i] < 0 || dims[i] == v->shape[i];
  if (!fits) return fail(ErrorKind::ValueError, "Shapes {} and {} are not compatible", dims_text(v->shape), dims_text(dims));
  return Value::none();
}
Result<Value> sparse_read(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Value i = TFL_TRY(to_tensor(interp, args[1]));
  return apply_op(interp, Op::gather, {x, i}, Attrs().set_int(Attr::axis, 0));
}
Result<Value> gather_nd(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Value i = TFL_TRY(to_tensor(interp, args[1]));
  return apply_op(interp, Op::gather_nd, {x, i});
}
Result<Value> array_method(Interp& interp, Value* args) {
  ToTensor wanted;
  Tensor t = TFL_TRY(to_concrete(interp, args[0], wanted));
  if (!args[1].is_none()) {
    DType d = TFL_TRY(to_dtype(interp, args[1]));
    Value v = TFL_TRY(cast_value(interp, Value::of(t), d));
    t = v.tensor();
  }
  return ndarray_value(interp, t);
}
Result<Value> abs_method(Interp& interp, Value* args) { return apply_unary(interp, Op::abs, args[0]); }
Result<Value> int_method(Interp& interp, Value* args) { return tensor_to_int(interp, args[0]); }
Result<Value> float_method(Interp& interp, Value* args) { return Value::real(TFL_TRY(tensor_to_double(interp, args[0]))); }

constexpr NativeDef kVariableMethods[] = {
    getter("shape", get_shape),
    getter("dtype", get_dtype),
    getter("name", get_name),
    getter("trainable", get_trainable),
    getter("constraint", get_constraint),
    getter("device", get_device),
    getter("ndim", get_ndim),
    getter("_unique_id", get_unique_id),
    getter("initial_value", eager_only),
    method("get_shape", "self", get_shape),
    method("set_shape", "self, shape", set_shape),
    method("numpy", "self", numpy_value),
    method("value", "self, do_copy=False", read_value),
    method("read_value", "self", read_value),
    method("is_initialized", "self, name=None", is_initialized),
    method("eval", "self, session=None", eager_only),
    method("assign", "self, value, use_locking=False, name=None, read_value=True", assign),
    method("assign_add", "self, delta, use_locking=None, name=None, read_value=True", assign_add),
    method("assign_sub", "self, delta, use_locking=None, name=None, read_value=True", assign_sub),
    method("scatter_nd_update", "self, indices, updates, name=None", scatter_nd_update),
    method("scatter_nd_add", "self, indices, updates, name=None", scatter_nd_add),
    method("scatter_nd_sub", "self, indices, updates, name=None", scatter_nd_sub),
    method("scatter_nd_max", "self, indices, updates, name=None", scatter_nd_max),
    method("scatter_nd_min", "self, indices, updates, name=None", scatter_nd_min),
    method("scatter_update", "self, sparse_delta, use_locking=False, name=None", scatter_update),
    method("scatter_add", "self, sparse_delta, use_locking=False, name=None", scatter_add),
    method("scatter_sub", "self, sparse_delta, use_locking=False, name=None", scatter_sub),
    method("scatter_max", "self, sparse_delta, use_locking=False, name=None", scatter_max),
    method("scatter_min", "self, sparse_delta, use_locking=False, name=None", scatter_min),
    method("scatter_mul", "self, sparse_delta, use_locking=False, name=None", scatter_mul),
    method("scatter_div", "self, sparse_delta, use_locking=False, name=None", scatter_div),
    method("sparse_read", "self, indices, name=None", sparse_read),
    method("gather_nd", "self, indices, name=None", gather_nd),
    method("ref", "self", reference_to),
    method("experimental_ref", "self", reference_to),
    method("__array__", "self, dtype=None, copy=None", array_method),
    method("__abs__", "self", abs_method),
    method("__int__", "self", int_method),
    method("__float__", "self", float_method),
};

constexpr NativeDef kSliceAssign = method("assign", "self, value, use_locking=False, name=None, read_value=True", assign);

void release_link(Context&, void* host) { delete static_cast<SliceLink*>(host); }

}  // namespace

std::span<const NativeDef> variable_methods() { return kVariableMethods; }

void init_variables(Interp& interp) { interp.context.release_host = release_link; }

Value hang_slice(Interp& interp, Value item, const Value& variable, const Value& key) {
  Tensor t = item.tensor();
  item = Value();
  // The link needs a rep of its own: v[...] may be the variable's very tensor.
  if (t.same_object(target_of(variable)->value)) t = Tensor::view(interp.context, t, t.dims(), t.strides(), 0);
  t.rep()->host = new SliceLink{Value::share(target_of(variable)), key};
  return Value::of(std::move(t));
}

Result<Value> slice_assign_method(Interp& interp, const Value& item) {
  if (!item.tensor_rep()->host) return Value();
  return interp.bound_method(interp.native(kSliceAssign, {}, interp.types.tensor), item);
}

Result<Value> assign_slice(Interp& interp, Value& item, const Value& value) {
  auto* link = static_cast<SliceLink*>(item.tensor_rep()->host);
  if (!link)
    return fail(ErrorKind::AttributeError, "'tensorflow.python.framework.ops.EagerTensor' object has no attribute 'assign'");
  Value variable = link->variable;
  SliceSpec spec = TFL_TRY(slice_spec(interp, link->key));
  VariableObject* v = target_of(variable);
  TFL_TRY(check_initialised(v));
  Tensor source = TFL_TRY(converted(interp, v, value));
  item = Value();
  keep_for_undo(interp, v);
  Tensor whole = std::move(v->value);
  if (!whole.unique() || !whole.contiguous()) {
    auto copy = Tensor::empty(interp.context, whole.dtype(), whole.dims());
    if (!copy) {
      v->value = std::move(whole);
      return copy.failure();
    }
    copy_strided(interp.context, whole.dtype(), whole.dims(), copy->raw(), copy->strides(), whole.raw(), whole.strides());
    whole = copy.take();
  }
  v->value = whole;
  // Where the slice lies in the variable's own elements: a view of a small tensor would be a copy.
  SlicePlan plan = TFL_TRY(plan_slice(whole.dims(), spec));
  bool fits = static_cast<size_t>(source.rank()) <= plan.dims.size();
  for (size_t i = 1; fits && i <= static_cast<size_t>(source.rank()); ++i) {
    int64_t n = source.dims()[static_cast<size_t>(source.rank()) - i];
    fits = n == 1 || n == plan.dims[plan.dims.size() - i];
  }
  if (!fits) {
    return fail(ErrorKind::InvalidArgumentError,
                "Cannot broadcast input shape {} into final shape {} [Op:ResourceStridedSliceAssign] name: strided_slice/_assign",
                shape_text(source.dims()), shape_text(plan.dims));
  }
  Dims strides;
  bool empty = false;
  for (size_t i = 0; i < plan.dims.size(); ++i) {
    auto axis = static_cast<size_t>(plan.axes[i]);
    empty |= plan.dims[i] == 0;
    strides.push_back(plan.axes[i] < 0 || plan.dims[i] <= 1 ? 0 : whole.strides()[axis] * plan.strides[axis]);
  }
  if (!empty) {
    int64_t offset = 0;
    for (size_t i = 0; i < whole.dims().size(); ++i) offset += plan.begin[i] * whole.strides()[i];
    std::byte* to = whole.raw() + offset * static_cast<int64_t>(dtype_size(whole.dtype()));
    copy_strided(interp.context, whole.dtype(), plan.dims, to, strides, source.raw(),
                 broadcast_strides(source.dims(), source.strides(), plan.dims));
  }
  return assigned(interp, variable, true);
}

}  // namespace tfl
