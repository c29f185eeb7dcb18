// Natives of linear algebra and segments.
#include "frontend/core/native.h"
#include "frontend/tensors/tensor/natives.h"

namespace tfl {

namespace {

/// k as one diagonal or a pair of them.
Result<Attrs> band_attrs(Interp& interp, const Value& k, const Value& align) {
  Attrs attrs;
  Dims band = TFL_TRY(to_axes(interp, k));
  if (band.size() != 1 && band.size() != 2)
    return fail(ErrorKind::InvalidArgumentError, "diag_index must be a scalar or vector of size 1 or 2");
  attrs.set_ints(Attr::k, band);
  std::string mode = TFL_TRY(str_text(interp, align));
  if (mode != "RIGHT_LEFT" && mode != "LEFT_RIGHT" && mode != "LEFT_LEFT" && mode != "RIGHT_RIGHT") {
    return fail(ErrorKind::InvalidArgumentError,
                "Value for attr 'align' of \"{}\" is not in the list of allowed values: \"LEFT_RIGHT\", \"RIGHT_LEFT\", "
                "\"LEFT_LEFT\", \"RIGHT_RIGHT\"",
                mode);
  }
  attrs.set_text(Attr::mode, mode);
  return attrs;
}

Result<Value> padding_like(Interp& interp, const Value& padding, const Value& x) {
  ToTensor wanted;
  wanted.dtype = dtype_of(interp, x);
  if (wanted.dtype == DType::Bool && padding.is_int()) return to_tensor(interp, Value::boolean(padding.as_int() != 0), wanted);
  return to_tensor(interp, padding, wanted);
}

Result<Value> diag(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Attrs attrs = TFL_TRY(band_attrs(interp, args[2], args[6]));
  attrs.set_int(Attr::num_rows, TFL_TRY(to_index(interp, args[3]))).set_int(Attr::num_cols, TFL_TRY(to_index(interp, args[4])));
  Value padding = TFL_TRY(padding_like(interp, args[5], x));
  return apply_op(interp, Op::matrix_diag, {x, padding}, attrs);
}

Result<Value> diag_part(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Attrs attrs = TFL_TRY(band_attrs(interp, args[2], args[4]));
  Value padding = TFL_TRY(padding_like(interp, args[3], x));
  return apply_op(interp, Op::matrix_diag_part, {x, padding}, attrs);
}

Result<Value> set_diag(Interp& interp, Value* args) {
  Value operands[2] = {args[0], args[1]};
  TFL_TRY(unify_operands(interp, operands));
  Attrs attrs = TFL_TRY(band_attrs(interp, args[3], args[4]));
  return apply_op(interp, Op::matrix_set_diag, {operands[0], operands[1]}, attrs);
}

Result<Value> band_part(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Value bounds[2] = {args[1], args[2]};
  TFL_TRY(unify_operands(interp, bounds));
  return apply_op(interp, Op::matrix_band_part, {x, bounds[0], bounds[1]});
}

template <Op op>
Result<Value> of_matrix(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  return apply_op(interp, op, {x});
}

template <Op op>
Result<Value> function_of_matrix(Interp& interp, Value* args) {
  return apply_op(interp, op, {TFL_TRY(to_tensor(interp, args[0]))});
}

template <Op op>
Result<Value> parts_of_matrix(Interp& interp, Value* args) {
  Value operands[1] = {TFL_TRY(to_tensor(interp, args[0]))};
  return apply_many(interp, op, operands, Attrs());
}

/// _qr(x, full_matrices), _svd(x, full_matrices)
template <Op op>
Result<Value> factors(Interp& interp, Value* args) {
  Value operands[1] = {TFL_TRY(to_tensor(interp, args[0]))};
  return apply_many(interp, op, operands, Attrs().set_bool(Attr::full_matrices, TFL_TRY(truth(interp, args[1]))));
}

/// _svd_values(x), _eigh_values(x): without vectors
template <Op op>
Result<Value> values_of_matrix(Interp& interp, Value* args) {
  Value operands[1] = {TFL_TRY(to_tensor(interp, args[0]))};
  return apply_many(interp, op, operands, Attrs().set_text(Attr::mode, "values"));
}

Result<Value> inverse(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  return apply_op(interp, Op::matrix_inverse, {x}, Attrs().set_bool(Attr::adjoint, TFL_TRY(truth(interp, args[1]))));
}

Result<Value> solve(Interp& interp, Value* args) {
  Value operands[2] = {args[0], args[1]};
  TFL_TRY(unify_operands(interp, operands));
  return apply_list(interp, Op::matrix_solve, operands, Attrs().set_bool(Attr::adjoint, TFL_TRY(truth(interp, args[2]))));
}

Result<Value> triangular_solve_native(Interp& interp, Value* args) {
  Value operands[2] = {args[0], args[1]};
  TFL_TRY(unify_operands(interp, operands));
  Attrs attrs;
  attrs.set_bool(Attr::lower, TFL_TRY(truth(interp, args[2]))).set_bool(Attr::adjoint, TFL_TRY(truth(interp, args[3])));
  return apply_list(interp, Op::triangular_solve, operands, attrs);
}

/// unsorted_segment_*(data, segment_ids, num_segments)
template <Op op>
Result<Value> segment(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Value ids = TFL_TRY(index_operand(interp, args[1]));
  Value count = TFL_TRY(index_operand(interp, args[2]));
  return apply_op(interp, op, {x, ids, count});
}

constexpr const char* kSegment = "data, segment_ids, num_segments, name=None";

constexpr NativeDef kLinalgNatives[] = {
    function("diag", "diagonal, name='diag', k=0, num_rows=-1, num_cols=-1, padding_value=0, align='RIGHT_LEFT'", diag),
    function("diag_part", "input, name='diag_part', k=0, padding_value=0, align='RIGHT_LEFT'", diag_part),
    function("set_diag", "input, diagonal, name='set_diag', k=0, align='RIGHT_LEFT'", set_diag),
    function("band_part", "input, num_lower, num_upper, name=None", band_part),
    function("cholesky", "input, name=None", of_matrix<Op::cholesky>),
    function("det", "input, name=None", of_matrix<Op::matrix_determinant>),
    function("inv", "input, adjoint=False, name=None", inverse),
    function("solve", "matrix, rhs, adjoint=False, name=None", solve),
    function("triangular_solve", "matrix, rhs, lower=True, adjoint=False, name=None", triangular_solve_native),
    function("_lu", "input", parts_of_matrix<Op::lu>),
    function("_slogdet", "input", parts_of_matrix<Op::log_matrix_determinant>),
    function("_eigh", "input", parts_of_matrix<Op::eigh>),
    function("_eigh_values", "input", values_of_matrix<Op::eigh>),
    function("_svd_values", "input", values_of_matrix<Op::svd>),
    function("_eig", "input", parts_of_matrix<Op::eig>),
    function("_matrix_square_root", "input", function_of_matrix<Op::matrix_square_root>),
    function("_matrix_logarithm", "input", function_of_matrix<Op::matrix_logarithm>),
    function("_qr", "input, full_matrices", factors<Op::qr>),
    function("_svd", "input, full_matrices", factors<Op::svd>),
    function("unsorted_segment_sum", kSegment, segment<Op::unsorted_segment_sum>),
    function("unsorted_segment_prod", kSegment, segment<Op::unsorted_segment_prod>),
    function("unsorted_segment_max", kSegment, segment<Op::unsorted_segment_max>),
    function("unsorted_segment_min", kSegment, segment<Op::unsorted_segment_min>),
};

}  // namespace

std::span<const NativeDef> linalg_natives() { return kLinalgNatives; }

}  // namespace tfl
