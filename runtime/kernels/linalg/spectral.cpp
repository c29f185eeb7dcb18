// Eigenvalues of general matrices, square roots and logarithms: schur.h over tensors.
#include "runtime/kernels/linalg/real_schur.h"
#include "runtime/kernels/linalg/schur.h"
#include "runtime/shapes/rules.h"
#include "runtime/tensor/element.h"

namespace tfl {

namespace {

schur::Matrix matrix_at(const Tensor& x, int64_t n, int64_t number) {
  schur::Matrix m(static_cast<size_t>(n * n));
  auto element = static_cast<int64_t>(dtype_size(x.dtype()));
  const std::byte* at = x.raw() + number * n * n * element;
  for (schur::Z& v : m) {
    v = {load_double(x.dtype(), at), is_complex(x.dtype()) ? load_imag(x.dtype(), at) : 0.0};
    at += element;
  }
  return m;
}

void put(const schur::Matrix& m, Tensor& out, int64_t number) {
  auto element = static_cast<int64_t>(dtype_size(out.dtype()));
  std::byte* at = out.raw() + number * static_cast<int64_t>(m.size()) * element;
  for (const schur::Z& v : m) {
    if (is_complex(out.dtype()))
      store_complex(out.dtype(), v.real(), v.imag(), at);
    else
      store_double(out.dtype(), v.real(), at);
    at += element;
  }
}

/// For each matrix: f(number, matrix), false when nothing comes of it.
template <class F>
Result<void> each_matrix(RunCall& call, const char* refusal, F f) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  int64_t n = x.dim(x.rank() - 1), count = n ? x.size() / (n * n) : 0;
  for (int64_t i = 0; i < count; ++i) {
    TFL_TRY(check_whole(call.context));
    if (!f(i, n, matrix_at(x, n, i))) return shape_rules::invalid(call.op, "{}", refusal);
  }
  return {};
}

Result<void> function_of_matrix(RunCall& call, bool (*function)(int64_t, schur::Matrix, schur::Matrix&)) {
  Tensor out = TFL_TRY(call.allocate());
  TFL_TRY(each_matrix(call, "Schur decomposition did not converge.", [&](int64_t i, int64_t n, schur::Matrix m) {
    schur::Matrix result;
    if (!function(n, std::move(m), result)) return false;
    put(result, out, i);
    return true;
  }));
  return call.give(std::move(out));
}

}  // namespace

Result<void> run_eig(RunCall& call) {
  Tensor values = TFL_TRY(call.allocate(0)), vectors = TFL_TRY(call.allocate(1));
  TFL_TRY(each_matrix(call, "Eigen decomposition was not successful. The input might not be valid.",
                      [&](int64_t i, int64_t n, schur::Matrix m) {
                        std::vector<schur::Z> own;
                        schur::Matrix columns;
                        bool real = !is_complex(call.operands[0].dtype());
                        if (real) {
                          std::vector<double> parts;
                          for (const schur::Z& v : m) parts.push_back(v.real());
                          if (!schur::real_eigen(n, std::move(parts), false, own, columns)) return false;
                        } else if (!schur::eigen(n, std::move(m), schur::Order::rising, own, columns))
                          return false;
                        put(own, values, i);
                        put(columns, vectors, i);
                        return true;
                      }));
  TFL_TRY(call.give(std::move(values)));
  return call.give(std::move(vectors));
}

Result<void> run_matrix_square_root(RunCall& call) { return function_of_matrix(call, schur::square_root); }
Result<void> run_matrix_logarithm(RunCall& call) { return function_of_matrix(call, schur::logarithm); }

}  // namespace tfl
