// Linear algebra over batches: every matrix is widened to f64, worked on, and rounded once.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/kernels/matrix.h"
#include "runtime/ops/infer_util.h"
#include "runtime/tensor/element.h"

namespace tfl {

namespace {

int64_t matrix_count(const Tensor& x) {
  int64_t n = 1;
  for (int i = 0; i + 2 < x.rank(); ++i) n *= x.dim(i);
  return n;
}

/// An operand as contiguous f64 that may be overwritten.
Result<Tensor> widened(RunCall& call, const Tensor& x) {
  Tensor source = TFL_TRY(contiguous(call.context, x));
  Tensor copy = TFL_TRY(Tensor::empty(call.context, DType::F64, x.dims()));
  size_t size = dtype_size(x.dtype());
  for (int64_t i = 0; i < x.size(); ++i) copy.data<double>()[i] = load_double(x.dtype(), source.raw() + static_cast<size_t>(i) * size);
  return copy;
}

Matrix matrix_at(Tensor& t, int64_t i) {
  int64_t rows = t.dim(t.rank() - 2), cols = t.dim(t.rank() - 1);
  return {t.data<double>() + i * rows * cols, rows, cols};
}

/// Scratch for one matrix.
Result<Tensor> scratch(RunCall& call, int64_t rows, int64_t cols) { return Tensor::empty(call.context, DType::F64, Dims{rows, cols}); }

/// Rounds f64 elements to the type of result `i`.
Result<void> give_rounded(RunCall& call, size_t i, const Tensor& wide) {
  if (call.types[i].dtype == DType::F64) return call.give(wide);
  Tensor out = TFL_TRY(Tensor::empty(call.context, call.types[i].dtype, wide.dims()));
  size_t size = dtype_size(out.dtype());
  for (int64_t k = 0; k < out.size(); ++k) store_double(out.dtype(), wide.data<double>()[k], out.raw() + static_cast<size_t>(k) * size);
  return call.give(std::move(out));
}

Result<Tensor> wide_result(RunCall& call, size_t i) { return Tensor::empty(call.context, DType::F64, call.types[i].dims); }

void transpose_square(const Matrix& a) {
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < i; ++j) std::swap(a(i, j), a(j, i));
  }
}

bool zero_pivot(const Matrix& lu) {
  for (int64_t i = 0; i < lu.rows; ++i) {
    if (!(std::fabs(lu(i, i)) > 0)) return true;
  }
  return false;
}

}  // namespace

Result<void> run_cholesky(RunCall& call) {
  Tensor a = TFL_TRY(widened(call, call.operands[0]));
  for (int64_t i = 0; i < matrix_count(a); ++i) {
    Matrix m = matrix_at(a, i);
    if (cholesky_in_place(m)) continue;
    for (int64_t r = 0; r < m.rows; ++r) {
      for (int64_t c = 0; c < m.cols; ++c) m(r, c) = c > r ? 0 : std::numeric_limits<double>::quiet_NaN();
    }
  }
  return give_rounded(call, 0, a);
}

Result<void> run_lu(RunCall& call) {
  Tensor a = TFL_TRY(widened(call, call.operands[0]));
  Tensor order = TFL_TRY(call.allocate(1));
  for (int64_t i = 0; i < matrix_count(a); ++i) {
    Matrix m = matrix_at(a, i);
    if (lu_in_place(m, {order.data<int32_t>() + i * m.rows, static_cast<size_t>(m.rows)}) == 0) return shape_rules::invalid(call.op, "Input is not invertible.");
  }
  TFL_TRY(give_rounded(call, 0, a));
  return call.give(std::move(order));
}

namespace {
Result<void> determinants(RunCall& call, bool logarithm) {
  Tensor a = TFL_TRY(widened(call, call.operands[0]));
  Tensor sign = TFL_TRY(wide_result(call, 0)), size = TFL_TRY(wide_result(call, 0));
  Tensor order = TFL_TRY(Tensor::empty(call.context, DType::I32, Dims{a.dim(a.rank() - 1)}));
  for (int64_t i = 0; i < matrix_count(a); ++i) {
    Matrix m = matrix_at(a, i);
    int s = lu_in_place(m, {order.data<int32_t>(), static_cast<size_t>(m.rows)});
    double product = s, log_sum = 0, direction = s;
    for (int64_t k = 0; k < m.rows; ++k) {
      product *= m(k, k);
      log_sum += std::log(std::fabs(m(k, k)));
      direction *= m(k, k) < 0 ? -1 : 1;
    }
    sign.data<double>()[i] = logarithm ? direction : product;
    size.data<double>()[i] = s == 0 ? -std::numeric_limits<double>::infinity() : log_sum;
  }
  TFL_TRY(give_rounded(call, 0, sign));
  return logarithm ? give_rounded(call, 1, size) : Result<void>();
}
}  // namespace

Result<void> run_matrix_determinant(RunCall& call) { return determinants(call, false); }
Result<void> run_log_matrix_determinant(RunCall& call) { return determinants(call, true); }

Result<void> run_matrix_inverse(RunCall& call) {
  Tensor a = TFL_TRY(widened(call, call.operands[0]));
  Tensor out = TFL_TRY(wide_result(call, 0));
  Tensor order = TFL_TRY(Tensor::empty(call.context, DType::I32, Dims{a.dim(a.rank() - 1)}));
  bool adjoint = call.attrs.get_bool(Attr::adjoint);
  for (int64_t i = 0; i < matrix_count(a); ++i) {
    Matrix m = matrix_at(a, i), x = matrix_at(out, i);
    if (adjoint) transpose_square(m);
    lu_in_place(m, {order.data<int32_t>(), static_cast<size_t>(m.rows)});
    if (zero_pivot(m)) return shape_rules::invalid(call.op, "Input is not invertible.");
    for (int64_t r = 0; r < m.rows; ++r) {
      for (int64_t c = 0; c < m.rows; ++c) x(r, c) = order.data<int32_t>()[r] == c;
    }
    lu_solve(m, x);
  }
  return give_rounded(call, 0, out);
}

Result<void> run_matrix_solve(RunCall& call) {
  Tensor a = TFL_TRY(widened(call, call.operands[0])), b = TFL_TRY(widened(call, call.operands[1]));
  Tensor out = TFL_TRY(wide_result(call, 0));
  Tensor order = TFL_TRY(Tensor::empty(call.context, DType::I32, Dims{a.dim(a.rank() - 1)}));
  bool adjoint = call.attrs.get_bool(Attr::adjoint);
  for (int64_t i = 0; i < matrix_count(a); ++i) {
    Matrix m = matrix_at(a, i), y = matrix_at(b, i), x = matrix_at(out, i);
    if (adjoint) transpose_square(m);
    lu_in_place(m, {order.data<int32_t>(), static_cast<size_t>(m.rows)});
    if (zero_pivot(m)) return shape_rules::invalid(call.op, "Input matrix is not invertible.");
    for (int64_t r = 0; r < x.rows; ++r) {
      for (int64_t c = 0; c < x.cols; ++c) x(r, c) = y(order.data<int32_t>()[r], c);
    }
    lu_solve(m, x);
  }
  return give_rounded(call, 0, out);
}

Result<void> run_triangular_solve(RunCall& call) {
  Tensor a = TFL_TRY(widened(call, call.operands[0])), b = TFL_TRY(widened(call, call.operands[1]));
  bool lower = call.attrs.get_bool(Attr::lower, true), adjoint = call.attrs.get_bool(Attr::adjoint);
  for (int64_t i = 0; i < matrix_count(a); ++i) triangular_solve(matrix_at(a, i), matrix_at(b, i), lower, adjoint);
  return give_rounded(call, 0, b);
}

Result<void> run_qr(RunCall& call) {
  Tensor a = TFL_TRY(widened(call, call.operands[0]));
  Tensor q = TFL_TRY(wide_result(call, 0)), r = TFL_TRY(wide_result(call, 1));
  Tensor whole = TFL_TRY(scratch(call, a.dim(a.rank() - 2), a.dim(a.rank() - 2)));
  for (int64_t i = 0; i < matrix_count(a); ++i) {
    Matrix m = matrix_at(a, i), basis = matrix_at(whole, 0), q_out = matrix_at(q, i), r_out = matrix_at(r, i);
    qr_in_place(m, basis);
    for (int64_t k = 0; k < q_out.rows; ++k) {
      for (int64_t c = 0; c < q_out.cols; ++c) q_out(k, c) = basis(k, c);
    }
    for (int64_t k = 0; k < r_out.rows; ++k) {
      for (int64_t c = 0; c < r_out.cols; ++c) r_out(k, c) = m(k, c);
    }
  }
  TFL_TRY(give_rounded(call, 0, q));
  return give_rounded(call, 1, r);
}

Result<void> run_svd(RunCall& call) {
  Tensor a = TFL_TRY(widened(call, call.operands[0]));
  Tensor s = TFL_TRY(wide_result(call, 0)), u = TFL_TRY(wide_result(call, 1)), v = TFL_TRY(wide_result(call, 2));
  int64_t rows = a.dim(a.rank() - 2), cols = a.dim(a.rank() - 1);
  // The rotations work on a tall matrix: a wide one is transposed, and the two bases change places.
  bool wide = rows < cols;
  int64_t m = std::max(rows, cols), n = std::min(rows, cols);
  Tensor tall = TFL_TRY(scratch(call, m, n)), right = TFL_TRY(scratch(call, n, n)), left = TFL_TRY(scratch(call, m, m));
  for (int64_t i = 0; i < matrix_count(a); ++i) {
    Matrix source = matrix_at(a, i), work = matrix_at(tall, 0), vectors = matrix_at(right, 0), basis = matrix_at(left, 0);
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t c = 0; c < n; ++c) work(r, c) = wide ? source(c, r) : source(r, c);
    }
    std::span<double> values(s.data<double>() + i * n, static_cast<size_t>(n));
    singular_values(work, values, vectors);
    int64_t known = 0;
    while (known < n && values[static_cast<size_t>(known)] > 0) ++known;
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t c = 0; c < m; ++c) basis(r, c) = c < n ? work(r, c) : 0;
    }
    Matrix tall_out = matrix_at(wide ? v : u, i), small_out = matrix_at(wide ? u : v, i);
    if (known < tall_out.cols) complete_basis(basis, known);
    for (int64_t r = 0; r < tall_out.rows; ++r) {
      for (int64_t c = 0; c < tall_out.cols; ++c) tall_out(r, c) = basis(r, c);
    }
    for (int64_t r = 0; r < small_out.rows; ++r) {
      for (int64_t c = 0; c < small_out.cols; ++c) small_out(r, c) = vectors(r, c);
    }
  }
  TFL_TRY(give_rounded(call, 0, s));
  TFL_TRY(give_rounded(call, 1, u));
  return give_rounded(call, 2, v);
}

Result<void> run_eigh(RunCall& call) {
  Tensor a = TFL_TRY(widened(call, call.operands[0]));
  Tensor values = TFL_TRY(wide_result(call, 0)), vectors = TFL_TRY(wide_result(call, 1));
  int64_t n = a.dim(a.rank() - 1);
  for (int64_t i = 0; i < matrix_count(a); ++i) {
    symmetric_eigen(matrix_at(a, i), {values.data<double>() + i * n, static_cast<size_t>(n)}, matrix_at(vectors, i));
  }
  TFL_TRY(give_rounded(call, 0, values));
  return give_rounded(call, 1, vectors);
}

}  // namespace tfl
