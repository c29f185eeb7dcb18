// Natives that take elements by index, sort and search, and products of matrices.
#include "frontend/core/native.h"
#include "frontend/tensors/tensor/natives.h"

namespace tfl {

namespace {

Result<Value> gather(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Value indices = TFL_TRY(index_operand(interp, args[1]));
  int64_t batch_dims = TFL_TRY(optional_int(interp, args[4], 0, "batch_dims"));
  int64_t axis = TFL_TRY(optional_int(interp, args[3], batch_dims));
  return apply_op(interp, Op::gather, {x, indices}, Attrs().set_int(Attr::axis, axis).set_int(Attr::batch_dims, batch_dims));
}

/// The scores of the labels' classes; the text names the loss that asks for them.
Result<Value> gather_labels(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Value labels = TFL_TRY(index_operand(interp, args[1]));
  int64_t batch_dims = TFL_TRY(optional_int(interp, args[2], 0, "batch_dims"));
  Attrs attrs = Attrs().set_int(Attr::axis, batch_dims).set_int(Attr::batch_dims, batch_dims);
  if (args[3].is(Kind::Str)) attrs.set_text(Attr::text, args[3].as<Str>()->text);
  return apply_op(interp, Op::gather, {x, labels}, std::move(attrs));
}

Result<Value> gather_nd(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Value indices = TFL_TRY(index_operand(interp, args[1]));
  int64_t batch_dims = TFL_TRY(optional_int(interp, args[2], 0, "batch_dims"));
  return apply_op(interp, Op::gather_nd, {x, indices}, Attrs().set_int(Attr::batch_dims, batch_dims));
}

Result<Value> scatter_nd(Interp& interp, Value* args) {
  Value indices = TFL_TRY(index_operand(interp, args[0]));
  Value updates = TFL_TRY(to_tensor(interp, args[1]));
  ToTensor wanted;
  wanted.preferred = dtype_of(interp, indices);
  Value shape = is_tensor_like(args[2]) || args[2].is(Kind::Shape) ? TFL_TRY(shape_operand(interp, args[2]))
                                                                   : TFL_TRY(to_tensor(interp, args[2], wanted));
  // A tensor's own shape has no type: it takes that of the indices.
  if (args[2].is(Kind::Shape)) shape = TFL_TRY(cast_value(interp, shape, *wanted.preferred));
  return apply_op(interp, Op::scatter_nd, {indices, updates, shape});
}

template <Op op>
Result<Value> tensor_scatter(Interp& interp, Value* args) {
  Value operands[2] = {args[0], args[2]};
  TFL_TRY(unify_operands(interp, operands));
  Value indices = TFL_TRY(index_operand(interp, args[1]));
  return apply_op(interp, op, {operands[0], indices, operands[1]});
}

Result<Value> boolean_mask_native(Interp& interp, Value* args) { return boolean_mask(interp, args[0], args[1], args[2]); }

Result<Value> one_hot(Interp& interp, Value* args) {
  Value indices = TFL_TRY(index_operand(interp, args[0]));
  ToTensor depth_type;
  depth_type.dtype = DType::I32;
  Value depth = is_tensor_like(args[1]) ? TFL_TRY(to_tensor(interp, args[1])) : TFL_TRY(to_tensor(interp, args[1], depth_type));
  if (dtype_of(interp, depth) != DType::I32) depth = TFL_TRY(cast_value(interp, depth, DType::I32));
  std::optional<DType> dtype;
  if (!args[5].is_none()) dtype = TFL_TRY(to_dtype(interp, args[5]));
  Value on = args[2], off = args[3];
  // Each value given has a type of its own: the two must agree with each other and with dtype.
  std::optional<DType> on_type, off_type;
  if (!on.is_none()) {
    ToTensor hint;
    hint.preferred = dtype;
    on = TFL_TRY(to_tensor(interp, on, hint));
    on_type = dtype_of(interp, on);
  }
  if (!off.is_none()) {
    ToTensor hint;
    hint.preferred = dtype;
    off = TFL_TRY(to_tensor(interp, off, hint));
    off_type = dtype_of(interp, off);
  }
  auto shown = [](DType d) { return fmt::format("<dtype: '{}'>", dtype_name(d)); };
  if (dtype && on_type && *on_type != *dtype) {
    return fail(ErrorKind::TypeError, "dtype {} of on_value does not match dtype parameter {}", shown(*on_type), shown(*dtype));
  }
  if (dtype && off_type && *off_type != *dtype) {
    return fail(ErrorKind::TypeError, "dtype {} of off_value does not match dtype parameter {}", shown(*off_type), shown(*dtype));
  }
  if (!dtype) dtype = on_type ? on_type : off_type ? off_type : DType::F32;
  ToTensor wanted;
  wanted.dtype = dtype;
  if (on.is_none())
    on = TFL_TRY(
        apply_op(interp, Op::cast, {TFL_TRY(to_tensor(interp, Value::integer(1)))}, Attrs().set_dtype(Attr::dtype, *dtype)));
  if (off.is_none())
    off = TFL_TRY(
        apply_op(interp, Op::cast, {TFL_TRY(to_tensor(interp, Value::integer(0)))}, Attrs().set_dtype(Attr::dtype, *dtype)));
  if (dtype_of(interp, on) != dtype_of(interp, off)) {
    return fail(ErrorKind::TypeError, "dtype {} of on_value does not match dtype {} of off_value", shown(*dtype_of(interp, on)),
                shown(*dtype_of(interp, off)));
  }
  int64_t axis = TFL_TRY(optional_int(interp, args[4], -1));
  return apply_op(interp, Op::one_hot, {indices, depth, on, off}, Attrs().set_int(Attr::axis, axis));
}

/// _sort(values, axis, descending) and _argsort: the public functions read `direction`.
template <Op op>
Result<Value> sorted(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  int64_t axis = TFL_TRY(static_int(interp, args[1]));
  bool descending = TFL_TRY(truth(interp, args[2]));
  return apply_op(interp, op, {x}, Attrs().set_int(Attr::axis, axis).set_bool(Attr::descending, descending));
}

/// _top_k(x, k, sorted, index_type) -> (values, indices)
Result<Value> top_k(Interp& interp, Value* args) {
  Value operands[2] = {TFL_TRY(to_tensor(interp, args[0])), TFL_TRY(index_operand(interp, args[1]))};
  bool sorted_result = TFL_TRY(truth(interp, args[2]));
  DType dtype = TFL_TRY(optional_dtype(interp, args[3], DType::I32));
  return apply_many(interp, Op::top_k, operands, Attrs().set_bool(Attr::sorted, sorted_result).set_dtype(Attr::dtype, dtype));
}

template <Op op>
Result<Value> unique(Interp& interp, Value* args) {
  Value operands[1] = {TFL_TRY(to_tensor(interp, args[0]))};
  DType dtype = TFL_TRY(optional_dtype(interp, args[1], DType::I32));
  return apply_many(interp, op, operands, Attrs().set_dtype(Attr::dtype, dtype));
}

/// _searchsorted(rows, values, right, out_type)
Result<Value> searchsorted(Interp& interp, Value* args) {
  Value operands[2] = {args[0], args[1]};
  TFL_TRY(unify_operands(interp, operands));
  bool right = TFL_TRY(truth(interp, args[2]));
  DType dtype = TFL_TRY(optional_dtype(interp, args[3], DType::I32));
  return apply_list(interp, Op::searchsorted, operands, Attrs().set_bool(Attr::right, right).set_dtype(Attr::dtype, dtype));
}

/// _argsort_rows(x)
Result<Value> argsort_rows(Interp& interp, Value* args) { return apply_op(interp, Op::argsort_rows, {args[0]}); }

/// _sparse_dense_matmul(indices, values, shape, b, adjoint_a)
Result<Value> sparse_dense_matmul(Interp& interp, Value* args) {
  bool adjoint = TFL_TRY(truth(interp, args[4]));
  return apply_op(interp, Op::sparse_dense_matmul, {args[0], args[1], args[2], args[3]},
                  Attrs().set_bool(Attr::adjoint, adjoint));
}

Result<Value> matmul(Interp& interp, Value* args) {
  bool transpose_a = TFL_TRY(truth(interp, args[2])), transpose_b = TFL_TRY(truth(interp, args[3]));
  bool adjoint_a = TFL_TRY(truth(interp, args[4])), adjoint_b = TFL_TRY(truth(interp, args[5]));
  if (transpose_a && adjoint_a)
    return fail(ErrorKind::ValueError,
                "Only one of `transpose_a` and `adjoint_a` can be True. Received `transpose_a`=True, `adjoint_a`=True.");
  if (transpose_b && adjoint_b)
    return fail(ErrorKind::ValueError,
                "Only one of `transpose_b` and `adjoint_b` can be True. Received `transpose_b`=True, `adjoint_b`=True.");
  Value a = args[0], b = args[1];
  if (is_tensor_like(b) && !is_tensor_like(a)) {
    ToTensor hint;
    hint.preferred = dtype_of(interp, b);
    a = TFL_TRY(to_tensor(interp, a, hint));
  } else {
    a = TFL_TRY(to_tensor(interp, a));
  }
  ToTensor hint;
  hint.preferred = dtype_of(interp, a);
  b = TFL_TRY(to_tensor(interp, b, hint));
  if (adjoint_a && is_complex(*dtype_of(interp, a))) a = TFL_TRY(apply_op(interp, Op::conj, {a}));
  if (adjoint_b && is_complex(*dtype_of(interp, b))) b = TFL_TRY(apply_op(interp, Op::conj, {b}));
  if (!args[8].is_none()) {
    // The sums are of the wider type: int8 and uint8 may be mixed, and nothing wraps.
    DType wide = TFL_TRY(to_dtype(interp, args[8]));
    a = TFL_TRY(cast_value(interp, a, wide));
    b = TFL_TRY(cast_value(interp, b, wide));
  }
  return apply_op(
      interp, Op::matmul, {a, b},
      Attrs().set_bool(Attr::transpose_a, transpose_a || adjoint_a).set_bool(Attr::transpose_b, transpose_b || adjoint_b));
}

constexpr NativeDef kGatherNatives[] = {
    function("gather", "params, indices, validate_indices=None, axis=None, batch_dims=0, name=None", gather),
    function("_gather_labels", "scores, labels, batch_dims, loss", gather_labels),
    function("gather_nd", "params, indices, batch_dims=0, name=None, bad_indices_policy=''", gather_nd),
    function("scatter_nd", "indices, updates, shape, name=None, bad_indices_policy=''", scatter_nd),
    function("tensor_scatter_nd_update", "tensor, indices, updates, name=None, bad_indices_policy=''",
             tensor_scatter<Op::tensor_scatter_update>),
    function("tensor_scatter_nd_add", "tensor, indices, updates, name=None", tensor_scatter<Op::tensor_scatter_add>),
    function("tensor_scatter_nd_sub", "tensor, indices, updates, name=None", tensor_scatter<Op::tensor_scatter_sub>),
    function("tensor_scatter_nd_min", "tensor, indices, updates, name=None", tensor_scatter<Op::tensor_scatter_min>),
    function("tensor_scatter_nd_max", "tensor, indices, updates, name=None", tensor_scatter<Op::tensor_scatter_max>),
    function("boolean_mask", "tensor, mask, axis=None, name='boolean_mask'", boolean_mask_native),
    function("one_hot", "indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None", one_hot),
    function("_sort", "values, axis, descending", sorted<Op::sort>),
    function("_argsort", "values, axis, descending", sorted<Op::argsort>),
    function("_top_k", "input, k, sorted, index_type", top_k),
    function("_unique", "x, out_idx", unique<Op::unique>),
    function("_unique_with_counts", "x, out_idx", unique<Op::unique_with_counts>),
    function("_argsort_rows", "x", argsort_rows),
    function("_sparse_dense_matmul", "indices, values, shape, b, adjoint_a", sparse_dense_matmul),
    function("_searchsorted", "rows, values, right, out_type", searchsorted),
    function("matmul",
             "a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, a_is_sparse=False, "
             "b_is_sparse=False, output_type=None, "
             "grad_a=False, grad_b=False, name=None",
             matmul),
};

}  // namespace

Result<Value> boolean_mask(Interp& interp, const Value& tensor, const Value& mask, const Value& axis) {
  Value x = TFL_TRY(to_tensor(interp, tensor));
  Value m = TFL_TRY(to_tensor(interp, mask));
  if (m.is_tensor() && m.tensor_rep()->rank == 0) return fail(ErrorKind::ValueError, "mask cannot be scalar.");
  int64_t at = TFL_TRY(optional_int(interp, axis, 0));
  if (x.is_tensor() && m.is_tensor()) {
    Tensor t = x.tensor(), k = m.tensor();
    int64_t front = at < 0 ? at + t.rank() : at;
    bool fits = front >= 0 && front + k.rank() <= t.rank();
    for (int i = 0; fits && i < k.rank(); ++i) fits = t.dim(static_cast<int>(front) + i) == k.dim(i);
    if (!fits) {
      Dims part;
      for (int64_t i = std::max<int64_t>(front, 0); i < std::min<int64_t>(front + k.rank(), t.rank()); ++i)
        part.push_back(t.dim(static_cast<int>(i)));
      return fail(ErrorKind::ValueError, "Shapes {} and {} are incompatible", shape_tuple_text(part), shape_tuple_text(k.dims()));
    }
    at = front;
  }
  m = TFL_TRY(cast_value(interp, m, DType::Bool));
  return apply_op(interp, Op::boolean_mask, {x, m}, Attrs().set_int(Attr::axis, at));
}

std::span<const NativeDef> gather_natives() { return kGatherNatives; }

}  // namespace tfl
