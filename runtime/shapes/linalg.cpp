// Shape rules of linear algebra.
#include "runtime/shapes/rules.h"

namespace tfl {

using namespace shape_rules;

namespace {

Result<void> check_matrices(InferCall& call, size_t operand = 0) {
  const TensorType& x = call.operands[operand].type;
  if (!is_complex(x.dtype) && x.dtype != DType::F32 && x.dtype != DType::F64 && x.dtype != DType::F16) {
    return invalid(call.op,
                   "Value for attr 'T' of {} is not in the list of allowed values: double, float, half, complex64, complex128",
                   dtype_tf_name(x.dtype));
  }
  if (x.ranked && x.dims.size() < 2)
    return invalid(call.op, "Input tensor {} must have rank >= 2, got {}", operand, x.dims.size());
  return {};
}

Result<void> check_square(InferCall& call) {
  TFL_TRY(check_matrices(call));
  const TensorType& x = call.operands[0].type;
  if (x.ranked && !may_equal(x.dims[x.dims.size() - 2], x.dims.back())) return invalid(call.op, "Input matrix must be square.");
  return {};
}

TensorType without_axes(const TensorType& x, size_t n) {
  TensorType out = x;
  for (size_t i = 0; out.ranked && i < n; ++i) out.dims.pop_back();
  return out;
}

Result<void> square_to_same(InferCall& call) {
  TFL_TRY(check_square(call));
  return give(call, call.operands[0].type);
}

Result<void> check_system(InferCall& call) {
  TFL_TRY(check_matrices(call, 0));
  const TensorType &a = call.operands[0].type, &b = call.operands[1].type;
  TFL_TRY(check_same_dtype(op_info(call.op).tf_name, 1, a.dtype, b.dtype));
  if (!a.ranked || !b.ranked) return {};
  if (a.dims.size() != b.dims.size()) return invalid(call.op, "All input tensors must have the same rank.");
  TFL_TRY(check_square(call));
  size_t n = a.dims.size();
  if (!may_equal(a.dims.back(), b.dims[n - 2])) return invalid(call.op, "Input matrix and rhs are incompatible.");
  for (size_t i = 0; i + 2 < n; ++i) {
    if (!may_equal(a.dims[i], b.dims[i])) return invalid(call.op, "All input tensors must have the same outer dimensions.");
  }
  return {};
}

Result<void> system_to_rhs(InferCall& call) {
  TFL_TRY(check_system(call));
  return give(call, call.operands[1].type);
}

// Whether values alone are wanted: vectors are then results without elements.
bool values_only(const InferCall& call) {
  return call.attrs.get_text(Attr::mode) == "values" && !is_complex(call.operands[0].type.dtype);
}

TensorType without_elements(TensorType t) {
  if (t.ranked) t.dims.back() = 0;
  return t;
}

int64_t smaller(int64_t m, int64_t n) { return known(m) && known(n) ? std::min(m, n) : -1; }

}  // namespace

Result<void> infer_cholesky(InferCall& call) { return square_to_same(call); }
Result<void> infer_matrix_inverse(InferCall& call) { return square_to_same(call); }
Result<void> infer_matrix_solve(InferCall& call) { return system_to_rhs(call); }
Result<void> infer_triangular_solve(InferCall& call) { return system_to_rhs(call); }

Result<void> infer_lu(InferCall& call) {
  TFL_TRY(check_square(call));
  call.results.push_back(call.operands[0].type);
  TensorType p = without_axes(call.operands[0].type, 1);
  p.dtype = DType::I32;
  return give(call, p);
}

Result<void> infer_matrix_determinant(InferCall& call) {
  TFL_TRY(check_square(call));
  return give(call, without_axes(call.operands[0].type, 2));
}

Result<void> infer_log_matrix_determinant(InferCall& call) {
  TFL_TRY(check_square(call));
  call.results.push_back(without_axes(call.operands[0].type, 2));
  return give(call, without_axes(call.operands[0].type, 2));
}

Result<void> infer_eigh(InferCall& call) {
  TFL_TRY(check_square(call));
  call.results.push_back(without_axes(call.operands[0].type, 1));
  return give(call, values_only(call) ? without_elements(call.operands[0].type) : call.operands[0].type);
}

Result<void> infer_eig(InferCall& call) {
  TFL_TRY(check_square(call));
  TensorType vectors = call.operands[0].type;
  vectors.dtype = complex_of(vectors.dtype);
  call.results.push_back(without_axes(vectors, 1));
  return give(call, vectors);
}

Result<void> infer_matrix_square_root(InferCall& call) {
  TFL_TRY(check_square(call));
  return give(call, call.operands[0].type);
}

Result<void> infer_matrix_logarithm(InferCall& call) {
  TFL_TRY(check_square(call));
  if (!is_complex(call.operands[0].type.dtype))
    return invalid(call.op, "Value for attr 'T' of {} is not in the list of allowed values: complex64, complex128",
                   dtype_tf_name(call.operands[0].type.dtype));
  return give(call, call.operands[0].type);
}

Result<void> infer_qr(InferCall& call) {
  TFL_TRY(check_matrices(call));
  const TensorType& x = call.operands[0].type;
  TensorType q = x, r = x;
  if (x.ranked) {
    size_t rank = x.dims.size();
    int64_t m = x.dims[rank - 2];
    int64_t k = call.attrs.get_bool(Attr::full_matrices) ? m : smaller(m, x.dims[rank - 1]);
    q.dims[rank - 1] = k;
    r.dims[rank - 2] = k;
  }
  call.results.push_back(q);
  return give(call, r);
}

Result<void> infer_svd(InferCall& call) {
  TFL_TRY(check_matrices(call));
  const TensorType& x = call.operands[0].type;
  TensorType s = without_axes(x, 1), u = x, v = x;
  s.dtype = part_dtype(x.dtype);
  if (x.ranked) {
    size_t rank = x.dims.size();
    int64_t m = x.dims[rank - 2], n = x.dims[rank - 1], k = smaller(m, n);
    bool full = call.attrs.get_bool(Attr::full_matrices);
    s.dims[rank - 2] = k;
    u.dims[rank - 1] = full ? m : k;
    v.dims[rank - 2] = n;
    v.dims[rank - 1] = full ? n : k;
  }
  call.results.push_back(s);
  call.results.push_back(values_only(call) ? without_elements(u) : u);
  return give(call, values_only(call) ? without_elements(v) : v);
}

}  // namespace tfl
