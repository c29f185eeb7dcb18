// Linear algebra over batches: matrix_loops.h over tensors, and singular values.
#include "runtime/kernels/context_workers.h"
#include "runtime/kernels/dispatch.h"
#include "runtime/kernels/matrix_loops.h"
#include "runtime/ops/infer_util.h"
#include "runtime/tensor/element.h"

namespace tfl {

namespace matrices {

template <>
void widen(const f16* from, int64_t n, double* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = load_double(DType::F16, reinterpret_cast<const std::byte*>(from + i));
}
template <>
void narrow(const double* from, int64_t n, f16* to) {
  for (int64_t i = 0; i < n; ++i) store_double(DType::F16, from[i], reinterpret_cast<std::byte*>(to + i));
}

}  // namespace matrices

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

/// What matrix_loops.h computes of the matrices `a`: where it lies, and sizes as the kind of routine has them.
RoutineCall matrix_call(int64_t flags, Tensor& a, void* second, void* third, void* scratch, int64_t rows, int64_t columns) {
  RoutineCall c{};
  c.flags = flags;
  c.dtype = static_cast<int64_t>(a.dtype());
  c.at[0] = a.raw();
  c.at[1] = second;
  c.at[2] = third;
  c.at[3] = scratch;
  c.sizes[0] = matrix_count(a);
  c.sizes[1] = rows;
  c.sizes[2] = columns;
  return c;
}

Result<void> solve(RunCall& call, MatrixSolve kind, int64_t flags, const char* refusal = "") {
  Tensor a = TFL_TRY(contiguous(call.context, call.operands[0])), b;
  bool system = call.operands.size() == 2;
  if (system) b = TFL_TRY(contiguous(call.context, call.operands[1]));
  Tensor out = TFL_TRY(call.allocate());
  int64_t n = a.dim(a.rank() - 1), columns = system ? b.dim(b.rank() - 1) : n;
  Tensor memory = TFL_TRY(Tensor::empty(call.context, DType::F64, Dims{matrices::solve_scratch(kind, n, columns)}));
  flags |= static_cast<int64_t>(kind) | (call.attrs.get_bool(Attr::adjoint) ? kMatrixAdjoint : 0);
  RoutineCall c = matrix_call(flags, a, system ? b.raw() : nullptr, out.raw(), memory.raw(), n, columns);
  Workers workers = workers_of(call.context);
  bool done = a.dtype() == DType::F16 ? matrices::solve_all<f16>(workers, c) : matrices::solve(workers, c);
  if (!done) return shape_rules::invalid(call.op, "{}", refusal);
  return call.give(std::move(out));
}

Result<void> factor(RunCall& call, MatrixFactor kind) {
  Tensor a = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor first = TFL_TRY(call.allocate(0)), second = TFL_TRY(call.allocate(1));
  int64_t rows = a.dim(a.rank() - 2), columns = a.dim(a.rank() - 1);
  Tensor memory = TFL_TRY(Tensor::empty(call.context, DType::F64, Dims{matrices::factor_scratch(kind, rows, columns)}));
  int64_t flags = static_cast<int64_t>(kind) | (kind == MatrixFactor::qr && call.attrs.get_bool(Attr::full_matrices) ? kMatrixFull : 0);
  RoutineCall c = matrix_call(flags, a, first.raw(), second.raw(), memory.raw(), rows, columns);
  Workers workers = workers_of(call.context);
  bool done = a.dtype() == DType::F16 ? matrices::factor_all<f16>(workers, c) : matrices::factor(workers, c);
  if (!done) return shape_rules::invalid(call.op, "Input is not invertible.");
  TFL_TRY(call.give(std::move(first)));
  return call.give(std::move(second));
}

}  // namespace

Result<void> run_cholesky(RunCall& call) { return solve(call, MatrixSolve::cholesky, 0); }
Result<void> run_matrix_determinant(RunCall& call) { return solve(call, MatrixSolve::determinant, 0); }
Result<void> run_matrix_inverse(RunCall& call) { return solve(call, MatrixSolve::inverse, 0, "Input is not invertible."); }
Result<void> run_matrix_solve(RunCall& call) { return solve(call, MatrixSolve::solve, 0, "Input matrix is not invertible."); }
Result<void> run_triangular_solve(RunCall& call) {
  return solve(call, MatrixSolve::triangular, call.attrs.get_bool(Attr::lower, true) ? kMatrixLower : 0);
}
Result<void> run_lu(RunCall& call) { return factor(call, MatrixFactor::lu); }
Result<void> run_log_matrix_determinant(RunCall& call) { return factor(call, MatrixFactor::log_determinant); }
Result<void> run_qr(RunCall& call) { return factor(call, MatrixFactor::qr); }
Result<void> run_eigh(RunCall& call) { return factor(call, MatrixFactor::eigen); }

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

}  // namespace tfl
