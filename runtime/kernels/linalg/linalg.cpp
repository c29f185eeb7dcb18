// Linear algebra over batches: matrix_loops.h over tensors.
#include "runtime/kernels/context_workers.h"
#include "runtime/kernels/linalg/complex_linalg.h"
#include "runtime/kernels/linalg/matrix_loops.h"
#include "runtime/shapes/rules.h"
#include "runtime/tensor/dtype_dispatch.h"
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

/// What matrix_loops.h computes of the matrices `a`: where it lies, and sizes as the kind of routine has them.
RoutineCall matrix_call(int64_t flags, Tensor& a, void* second, void* third, void* scratch, int64_t rows, int64_t columns,
                        int64_t lots) {
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
  c.sizes[3] = lots;
  return c;
}

Result<Tensor> factor_memory(Context& context, MatrixFactor kind, int64_t flags, int64_t lots, int64_t rows, int64_t columns) {
  const int64_t least = std::min(rows, columns);
  return Tensor::empty(context, DType::F64,
                       Dims{lots, matrices::factor_scratch<int64_t>(kind, flags, least <= matrices::matrix_small(kind), rows,
                                                                    columns, least * least)});
}

Result<void> solve(RunCall& call, MatrixSolve kind, int64_t flags, const char* refusal = "") {
  if (is_complex(call.operands[0].dtype())) return solve_complex(call, kind, flags, refusal);
  Tensor a = TFL_TRY(contiguous(call.context, call.operands[0])), b;
  bool system = call.operands.size() == 2;
  if (system) b = TFL_TRY(contiguous(call.context, call.operands[1]));
  Tensor out = TFL_TRY(call.allocate());
  int64_t n = a.dim(a.rank() - 1), columns = system ? b.dim(b.rank() - 1) : n;
  const int64_t lots = matrices::matrix_lots(matrix_count(a), n, columns);
  const int64_t elements = matrices::solve_scratch<int64_t>(n <= matrices::matrix_small(kind), n, columns);
  Tensor memory = TFL_TRY(Tensor::empty(call.context, DType::F64, Dims{lots, elements}));
  flags |= static_cast<int64_t>(kind) | (call.attrs.get_bool(Attr::adjoint) ? kMatrixAdjoint : 0);
  RoutineCall c = matrix_call(flags, a, system ? b.raw() : nullptr, out.raw(), memory.raw(), n, columns, lots);
  Workers workers = workers_of(call.context);
  const MatrixLevel& level = matrix_level(call.context.isa());
  bool done = a.dtype() == DType::F16 ? matrices::solve_all<f16>(workers, level, c) : matrices::solve(workers, level, c);
  if (!done) return shape_rules::invalid(call.op, "{}", refusal);
  return call.give(std::move(out));
}

int64_t values_flag(const RunCall& call) { return call.attrs.get_text(Attr::mode) == "values" ? matrices::kMatrixValues : 0; }

Result<void> factor(RunCall& call, MatrixFactor kind) {
  if (is_complex(call.operands[0].dtype()))
    return factor_complex(call, kind, call.attrs.get_bool(Attr::full_matrices) ? kMatrixFull : 0);
  Tensor a = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor first = TFL_TRY(call.allocate(0)), second = TFL_TRY(call.allocate(1));
  int64_t rows = a.dim(a.rank() - 2), columns = a.dim(a.rank() - 1);
  int64_t flags = static_cast<int64_t>(kind) |
                  (kind == MatrixFactor::qr && call.attrs.get_bool(Attr::full_matrices) ? kMatrixFull : 0) | values_flag(call);
  const int64_t lots = matrices::matrix_lots(matrix_count(a), rows, columns);
  Tensor memory = TFL_TRY(factor_memory(call.context, kind, flags, lots, rows, columns));
  RoutineCall c = matrix_call(flags, a, first.raw(), second.raw(), memory.raw(), rows, columns, lots);
  Workers workers = workers_of(call.context);
  const MatrixLevel& level = matrix_level(call.context.isa());
  bool done = a.dtype() == DType::F16 ? matrices::factor_all<f16>(workers, level, c) : matrices::factor(workers, level, c);
  if (!done) return shape_rules::invalid(call.op, "Input is not invertible.");
  TFL_TRY(call.give(std::move(first)));
  return call.give(std::move(second));
}

/// Eigenvalues and vectors, or singular values and both kinds of vectors.
Result<void> spectrum(Context& context, MatrixFactor kind, int64_t flags, Tensor& a, Tensor& first, Tensor& second,
                      Tensor* third) {
  int64_t rows = a.dim(a.rank() - 2), columns = a.dim(a.rank() - 1);
  flags |= static_cast<int64_t>(kind);
  const int64_t lots = matrices::matrix_lots(matrix_count(a), rows, columns);
  Tensor memory = TFL_TRY(factor_memory(context, kind, flags, lots, rows, columns));
  RoutineCall c = matrix_call(flags, a, first.raw(), second.raw(), third ? third->raw() : memory.raw(), rows, columns, lots);
  if (third) c.at[4] = memory.raw();
  Workers workers = workers_of(context);
  const MatrixLevel& level = matrix_level(context.isa());
  if (a.dtype() == DType::F16)
    matrices::factor_all<f16>(workers, level, c);
  else
    matrices::factor(workers, level, c);
  return {};
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
  if (is_complex(call.operands[0].dtype()))
    return factor_complex(call, MatrixFactor::singular, call.attrs.get_bool(Attr::full_matrices) ? kMatrixFull : 0);
  Tensor a = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor values = TFL_TRY(call.allocate(0)), u = TFL_TRY(call.allocate(1)), v = TFL_TRY(call.allocate(2));
  int64_t flags = (call.attrs.get_bool(Attr::full_matrices) ? kMatrixFull : 0) | values_flag(call);
  TFL_TRY(spectrum(call.context, MatrixFactor::singular, flags, a, values, u, &v));
  TFL_TRY(call.give(std::move(values)));
  TFL_TRY(call.give(std::move(u)));
  return call.give(std::move(v));
}

Result<void> factor_real(Context& context, MatrixFactor kind, Tensor& a, Tensor& first, Tensor& second, Tensor* third) {
  return spectrum(context, kind, 0, a, first, second, third);
}

}  // namespace tfl
