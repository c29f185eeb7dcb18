// Natives that look at or change shapes, and those that move elements: reshape, transpose, concat, split, pad ...
#include "frontend/core/native.h"
#include "frontend/core/scope.h"
#include "frontend/tensors/tensor/natives.h"
#include "runtime/tensor/element.h"

namespace tfl {

namespace {

Result<Value> with_axis(Interp& interp, Op op, const Value& x, int64_t axis) {
  Value t = TFL_TRY(to_tensor(interp, x));
  return apply_op(interp, op, {t}, Attrs().set_int(Attr::axis, axis));
}

/// What TensorFlow checks before the operation is called: axis within [-rank, rank).
Result<void> check_axis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank) return {};
  return fail(ErrorKind::ValueError, "Argument `axis` = {} not in range [{}, {})", axis, -rank, rank);
}

/// A vector of integers given where only one does: axes of reverse.
Result<Dims> vector_axes(Interp& interp, const Value& v, std::string_view tf_name) {
  if (v.is_int() || (v.is_tensor() && v.tensor_rep()->rank == 0)) {
    return fail(ErrorKind::InvalidArgumentError, "'dims' must be 1-dimension, not 0 [Op:{}]", tf_name);
  }
  return to_axes(interp, v);
}

Result<Value> reshape(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Value shape = TFL_TRY(shape_operand(interp, args[1]));
  return apply_op(interp, Op::reshape, {x, shape});
}

Result<Value> transpose(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  if (TFL_TRY(truth(interp, args[2])) && is_complex(*dtype_of(interp, x))) x = TFL_TRY(apply_op(interp, Op::conj, {x}));
  if (args[1].is_none()) return apply_op(interp, Op::transpose, {x});
  Value perm = TFL_TRY(index_operand(interp, args[1]));
  return apply_op(interp, Op::transpose, {x, perm});
}

Result<Value> expand_dims(Interp& interp, Value* args) {
  int64_t axis = TFL_TRY(static_int(interp, args[1]));
  return with_axis(interp, Op::expand_dims, args[0], axis);
}

Result<Value> squeeze(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Attrs attrs;
  if (!args[1].is_none()) attrs.set_ints(Attr::axes, TFL_TRY(to_axes(interp, args[1])));
  return apply_op(interp, Op::squeeze, {x}, attrs);
}

Result<Value> broadcast_to(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Value shape = TFL_TRY(shape_operand(interp, args[1]));
  return apply_op(interp, Op::broadcast_to, {x, shape});
}

Result<Value> slice(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Value operands[2] = {TFL_TRY(shape_operand(interp, args[1])), TFL_TRY(shape_operand(interp, args[2]))};
  TFL_TRY(unify_operands(interp, operands));
  return apply_op(interp, Op::slice, {x, operands[0], operands[1]});
}

/// How many elements a vector has; -1 while that is not known.
int64_t vector_length(const Value& v) {
  if (v.is_tensor()) return v.tensor_rep()->size;
  const TensorType& type = symbolic_type(v);
  return type.ranked && type.dims.size() == 1 ? type.dims[0] : -1;
}

Result<Value> strided_slice(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Value begin = TFL_TRY(shape_operand(interp, args[1]));
  Value end = TFL_TRY(shape_operand(interp, args[2]));
  Value strides = args[3];
  if (strides.is_none()) {
    DType d = *dtype_of(interp, begin);
    int64_t n = vector_length(begin);
    if (n < 0) {
      return fail(ErrorKind::ValueError,
                  "tf.strided_slice needs `strides` here: the length of `begin` is not known when the function is traced");
    }
    Tensor ones = TFL_TRY(Tensor::empty(interp.context, d, std::initializer_list<int64_t>{n}));
    for (int64_t i = 0; i < n; ++i) store_int(d, 1, ones.raw() + static_cast<size_t>(i) * dtype_size(d));
    strides = Value::of(std::move(ones));
  } else {
    strides = TFL_TRY(shape_operand(interp, strides));
  }
  Attrs attrs;
  constexpr Attr kMasks[] = {Attr::begin_mask, Attr::end_mask, Attr::ellipsis_mask, Attr::new_axis_mask, Attr::shrink_axis_mask};
  for (size_t i = 0; i < std::size(kMasks); ++i) attrs.set_int(kMasks[i], TFL_TRY(to_index(interp, args[4 + i])));
  return apply_op(interp, Op::strided_slice, {x, begin, end, strides}, attrs);
}

Result<Value> reverse(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Dims axes = TFL_TRY(vector_axes(interp, args[1], "ReverseV2"));
  return apply_op(interp, Op::reverse, {x}, Attrs().set_ints(Attr::axes, axes));
}

Result<Value> roll(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Value shift = TFL_TRY(index_operand(interp, args[1]));
  Dims axes = TFL_TRY(to_axes(interp, args[2]));
  return apply_op(interp, Op::roll, {x, shift}, Attrs().set_ints(Attr::axes, axes));
}

Result<Value> identity(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  if (!x.is_tensor() || interp.sink) return apply_op(interp, Op::identity, {x});
  // Another tensor object over the same elements, as TensorFlow's copy is.
  Tensor t = x.tensor();
  return Value::of(Tensor::view(interp.context, t, t.dims(), t.strides(), 0));
}

Result<Value> stop_gradient(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Value result = TFL_TRY(apply_op(interp, Op::stop_gradient, {x}));
  if (!x.is_tensor() || !result.is_tensor() || !result.identical(x)) return result;
  // Another tensor object over the same elements: a tape that knows x must not take this one for it.
  Tensor t = x.tensor();
  return Value::of(Tensor::view(interp.context, t, t.dims(), t.strides(), 0));
}

Result<Value> ensure_shape(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  if (args[1].is_none() || (args[1].is(Kind::Shape) && !args[1].as<ShapeObject>()->ranked)) return x;
  Dims dims = TFL_TRY(to_dims(interp, args[1], true));
  return apply_op(interp, Op::ensure_shape, {x}, Attrs().set_ints(Attr::shape, dims));
}

Result<Value> metadata(Interp& interp, Op op, const Value& input, const Value& out_type) {
  Value x = TFL_TRY(to_tensor(interp, input));
  DType dtype = TFL_TRY(optional_dtype(interp, out_type, DType::I32));
  return apply_op(interp, op, {x}, Attrs().set_dtype(Attr::dtype, dtype));
}
Result<Value> shape(Interp& interp, Value* args) { return metadata(interp, Op::shape, args[0], args[1]); }
Result<Value> size(Interp& interp, Value* args) { return metadata(interp, Op::size, args[0], args[1]); }
Result<Value> rank(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  return apply_op(interp, Op::rank, {x});
}

// ---------------------------------------------------------------------------------------------- several tensors

Result<Value> concat(Interp& interp, Value* args) {
  int64_t axis = TFL_TRY(static_int(interp, args[1]));
  Value values = args[0];
  if (!values.is(Kind::List) && !values.is(Kind::Tuple)) values = interp.list({values});
  std::vector<Value> items = TFL_TRY(convert_list(interp, values));
  if (items.empty()) {
    return fail(ErrorKind::InvalidArgumentError,
                "OpKernel 'ConcatV2' has constraint on attr 'T' not in NodeDef '[N=0, Tidx=DT_INT32]' [Op:ConcatV2] name: concat")
        .with_hint("tf.concat needs at least one tensor");
  }
  return apply_list(interp, Op::concat, items, Attrs().set_int(Attr::axis, axis).set_text(Attr::name, "concat"));
}

Result<Value> stack(Interp& interp, Value* args) { return stack_values(interp, args[0], TFL_TRY(static_int(interp, args[1]))); }

Result<Value> unstack(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  int64_t axis = TFL_TRY(static_int(interp, args[2]));
  Attrs attrs;
  attrs.set_int(Attr::axis, axis);
  if (x.is_tensor()) TFL_TRY(check_axis(axis, x.tensor_rep()->rank));
  if (!args[1].is_none()) attrs.set_int(Attr::num, TFL_TRY(static_int(interp, args[1], "num")));
  Value operands[1] = {x};
  return apply_many(interp, Op::unstack, operands, attrs);
}

Result<Value> split(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  int64_t axis = TFL_TRY(static_int(interp, args[2]));
  Attrs attrs;
  attrs.set_int(Attr::axis, axis).set_text(Attr::name, "split");
  const Value& sizes = args[1];
  if (sizes.is_int() || sizes.is_bool() || (is_tensor_like(sizes) && is_scalar(sizes))) {
    attrs.set_int(Attr::num, TFL_TRY(static_int(interp, sizes, "num_or_size_splits")));
    Value operands[1] = {x};
    return apply_many(interp, Op::split, operands, attrs);
  }
  Value operands[2] = {x, TFL_TRY(shape_operand(interp, sizes))};
  if (is_scalar(operands[1])) {
    return fail(ErrorKind::ValueError,
                "Rank-0 tensors are not supported as the num_or_size_splits argument to split. Argument provided: {}",
                TFL_TRY(repr_text(interp, sizes)));
  }
  int64_t count = vector_length(operands[1]);
  if (count < 0) {
    if (args[3].is_none())
      return fail(ErrorKind::ValueError, "Cannot infer argument `num` from shape {}", TFL_TRY(repr_text(interp, sizes)));
    count = TFL_TRY(static_int(interp, args[3], "num"));
  }
  attrs.set_int(Attr::num, count);
  return apply_many(interp, Op::split_v, operands, attrs);
}

Result<Value> tile(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Value multiples = TFL_TRY(shape_operand(interp, args[1]));
  return apply_op(interp, Op::tile, {x, multiples});
}

Result<Value> pad(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  ToTensor wanted;
  wanted.preferred = DType::I32;
  Value paddings = TFL_TRY(to_tensor(interp, args[1], wanted));
  std::string mode = args[2].is_str() ? args[2].as<Str>()->text : std::string();
  for (char& c : mode) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  if (mode != "CONSTANT" && mode != "REFLECT" && mode != "SYMMETRIC") {
    std::string given = TFL_TRY(str_text(interp, args[2]));
    return fail(
        ErrorKind::ValueError,
        "Value of argument `mode` expected to be one of \"CONSTANT\", \"REFLECT\", or \"SYMMETRIC\". Received `mode` = {}",
        given);
  }
  Attrs attrs;
  attrs.set_text(Attr::mode, mode);
  if (mode != "CONSTANT") return apply_op(interp, Op::pad, {x, paddings}, attrs);
  DType dtype = *dtype_of(interp, x);
  if (args[3].is_int() && args[3].as_int() == 0) return apply_op(interp, Op::pad, {x, paddings}, attrs);
  ToTensor same;
  same.dtype = dtype;
  Value value = TFL_TRY(to_tensor(interp, args[3], same));
  return apply_op(interp, Op::pad, {x, paddings, value}, attrs);
}

constexpr NativeDef kShapeNatives[] = {
    function("reshape", "tensor, shape, name=None", reshape),
    function("transpose", "a, perm=None, conjugate=False, name='transpose'", transpose),
    function("expand_dims", "input, axis, name=None", expand_dims),
    function("squeeze", "input, axis=None, name=None", squeeze),
    function("broadcast_to", "input, shape, name=None", broadcast_to),
    function("slice", "input_, begin, size, name=None", slice),
    function("strided_slice",
             "input_, begin, end, strides=None, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0, "
             "var=None, name=None",
             strided_slice),
    function("reverse", "tensor, axis, name=None", reverse),
    function("roll", "input, shift, axis, name=None", roll),
    function("identity", "input, name=None", identity),
    function("stop_gradient", "input, name=None", stop_gradient),
    function("ensure_shape", "x, shape, name=None", ensure_shape),
    function("shape", "input, out_type=None, name=None", shape),
    function("size", "input, out_type=None, name=None", size),
    function("rank", "input, name=None", rank),
    function("concat", "values, axis, name='concat'", concat),
    function("stack", "values, axis=0, name='stack'", stack),
    function("unstack", "value, num=None, axis=0, name='unstack'", unstack),
    function("split", "value, num_or_size_splits, axis=0, num=None, name='split'", split),
    function("tile", "input, multiples, name=None", tile),
    function("pad", "tensor, paddings, mode='CONSTANT', constant_values=0, name=None", pad),
};

}  // namespace

Result<Value> stack_values(Interp& interp, const Value& values, int64_t axis) {
  std::vector<Value> items;
  if (values.is(Kind::List))
    items = values.as<List>()->items;
  else
    items = TFL_TRY(to_vector(interp, values));
  bool host = true;
  for (const Value& v : items) host &= !v.is_tensor() && !v.is(Kind::Symbolic) && !v.is(Kind::Variable);
  if (host) {
    // Host values become one tensor where they can; rows of different sizes are told by the operation.
    auto whole = to_tensor(interp, interp.list(items));
    if (whole) {
      if (axis == 0 && whole->is_tensor() && whole->tensor_rep()->rank > 0) return shown_value(interp, whole.take(), "stack");
      ToTensor wanted;
      wanted.dtype = dtype_of(interp, *whole);
      for (Value& v : items) v = TFL_TRY(to_tensor(interp, v, wanted));
    }
  }
  TFL_TRY(unify_operands(interp, items));
  if (items.empty()) {
    return fail(ErrorKind::ValueError, "Argument `axis` = {} not in range [-1, 1)", axis);
  }
  if (items[0].is_tensor()) TFL_TRY(check_axis(axis, items[0].tensor_rep()->rank + 1));
  return apply_list(interp, Op::stack, items, Attrs().set_int(Attr::axis, axis).set_text(Attr::name, "stack"));
}

std::span<const NativeDef> shape_natives() { return kShapeNatives; }

}  // namespace tfl
