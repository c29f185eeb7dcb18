#include "runtime/kernels/linalg/complex_linalg.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/kernels/linalg/complex_dense.h"
#include "runtime/shapes/rules.h"
#include "runtime/tensor/element.h"

namespace tfl {

namespace {

using complex_dense::Matrix;
using complex_dense::Z;

Matrix complex_matrix(const Tensor& x, int64_t number, int64_t rows, int64_t columns) {
  Matrix m(rows, columns);
  const auto element = static_cast<int64_t>(dtype_size(x.dtype()));
  const std::byte* at = x.raw() + number * rows * columns * element;
  for (Z& v : m.elements) {
    v = {load_double(x.dtype(), at), load_imag(x.dtype(), at)};
    at += element;
  }
  return m;
}

/// Elements of a result that begin at `first`.
void put_complex(const Z* from, int64_t count, Tensor& out, int64_t first) {
  const auto element = static_cast<int64_t>(dtype_size(out.dtype()));
  std::byte* at = out.raw() + first * element;
  for (int64_t i = 0; i < count; ++i, at += element) store_complex(out.dtype(), from[i].real(), from[i].imag(), at);
}
void put_complex(const Matrix& m, Tensor& out, int64_t number) {
  put_complex(m.elements.data(), m.rows * m.columns, out, number * m.rows * m.columns);
}
void put_real(const double* from, int64_t count, Tensor& out, int64_t first) {
  const auto element = static_cast<int64_t>(dtype_size(out.dtype()));
  for (int64_t i = 0; i < count; ++i) {
    std::byte* at = out.raw() + (first + i) * element;
    if (is_complex(out.dtype()))
      store_complex(out.dtype(), from[i], 0, at);
    else
      store_double(out.dtype(), from[i], at);
  }
}

int64_t count_of(const Tensor& x) {
  int64_t n = 1;
  for (int i = 0; i + 2 < x.rank(); ++i) n *= x.dim(i);
  return n;
}

bool finite(const Matrix& m) {
  for (const Z& v : m.elements) {
    if (!std::isfinite(v.real()) || !std::isfinite(v.imag())) return false;
  }
  return true;
}

constexpr Z kNothing = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};

Result<Tensor> zeros_f64(Context& context, int64_t n) {
  Tensor t = TFL_TRY(Tensor::empty(context, DType::F64, Dims{n, n}));
  std::fill_n(t.raw(), t.bytes(), std::byte{0});
  return t;
}

/// The first columns of what reflections unwind: `inner` of them times real numbers, those that follow as they are.
Matrix unwound(const complex_dense::Reflections& all, int64_t rows, int64_t inner, const double* real, int64_t columns) {
  Matrix start = complex_dense::unit(rows, columns);
  for (int64_t i = 0; i < inner; ++i) {
    for (int64_t j = 0; j < inner; ++j) start.at(i, j) = real[i * inner + j];
  }
  all.unwind(start);
  return start;
}

/// U T U* with a real T.
Result<void> complex_eigen(Context& context, const Matrix& m, int64_t i, Tensor& values, Tensor& vectors) {
  const int64_t n = m.rows;
  if (n == 0) return {};
  if (!finite(m)) {
    const std::vector<Z> nothing(static_cast<size_t>(n * n), kNothing);
    put_complex(nothing.data(), n, values, i * n);
    put_complex(nothing.data(), n * n, vectors, i * n * n);
    return {};
  }
  std::vector<double> diagonal, beside;
  complex_dense::Reflections u = complex_dense::tridiagonal(m, diagonal, beside);
  Tensor t = TFL_TRY(zeros_f64(context, n)), d = TFL_TRY(Tensor::empty(context, DType::F64, Dims{n})),
         v = TFL_TRY(Tensor::empty(context, DType::F64, Dims{n, n}));
  auto* at = reinterpret_cast<double*>(t.raw());
  for (int64_t k = 0; k < n; ++k) at[k * n + k] = diagonal[static_cast<size_t>(k)];
  for (int64_t k = 0; k + 1 < n; ++k) at[k * n + k + 1] = at[(k + 1) * n + k] = beside[static_cast<size_t>(k)];
  TFL_TRY(factor_real(context, MatrixFactor::eigen, t, d, v, nullptr));
  put_real(reinterpret_cast<const double*>(d.raw()), n, values, i * n);
  put_complex(unwound(u, n, n, reinterpret_cast<const double*>(v.raw()), n), vectors, i);
  return {};
}

Result<void> complex_singular(Context& context, Matrix m, bool full, int64_t i, Tensor& values, Tensor& u, Tensor& v) {
  const bool wide = m.rows < m.columns;
  if (wide) m = complex_dense::adjoint(m);
  Tensor &tall = wide ? v : u, &small = wide ? u : v;
  const int64_t rows = m.rows, n = m.columns, wanted = full ? rows : n;
  if (!finite(m)) {
    const std::vector<Z> nothing(static_cast<size_t>(rows * std::max(wanted, n)), kNothing);
    std::vector<double> none(static_cast<size_t>(n), std::numeric_limits<double>::quiet_NaN());
    put_real(none.data(), n, values, i * n);
    put_complex(nothing.data(), rows * wanted, tall, i * rows * wanted);
    put_complex(nothing.data(), n * n, small, i * n * n);
    return {};
  }
  complex_dense::Reflections left, right;
  std::vector<double> diagonal, above;
  complex_dense::bidiagonal(m, left, right, diagonal, above);
  Tensor b = TFL_TRY(zeros_f64(context, n)), d = TFL_TRY(Tensor::empty(context, DType::F64, Dims{n})),
         p = TFL_TRY(Tensor::empty(context, DType::F64, Dims{n, n})), q = TFL_TRY(Tensor::empty(context, DType::F64, Dims{n, n}));
  if (n > 0) {
    auto* at = reinterpret_cast<double*>(b.raw());
    for (int64_t k = 0; k < n; ++k) at[k * n + k] = diagonal[static_cast<size_t>(k)];
    for (int64_t k = 0; k + 1 < n; ++k) at[k * n + k + 1] = above[static_cast<size_t>(k)];
    TFL_TRY(factor_real(context, MatrixFactor::singular, b, d, p, &q));
  }
  put_real(reinterpret_cast<const double*>(d.raw()), n, values, i * n);
  put_complex(unwound(left, rows, n, reinterpret_cast<const double*>(p.raw()), wanted), tall, i);
  put_complex(unwound(right, n, n, reinterpret_cast<const double*>(q.raw()), n), small, i);
  return {};
}

}  // namespace

Result<void> solve_complex(RunCall& call, MatrixSolve kind, int64_t flags, const char* refusal) {
  Tensor a = TFL_TRY(contiguous(call.context, call.operands[0])), b;
  if (call.operands.size() == 2) b = TFL_TRY(contiguous(call.context, call.operands[1]));
  Tensor out = TFL_TRY(call.allocate());
  const int64_t n = a.dim(a.rank() - 1), columns = call.operands.size() == 2 ? b.dim(b.rank() - 1) : n;
  const bool adjoint = call.attrs.get_bool(Attr::adjoint);
  for (int64_t i = 0, count = count_of(a); i < count; ++i) {
    TFL_TRY(check_whole(call.context));
    Matrix m = complex_matrix(a, i, n, n);
    if (kind == MatrixSolve::cholesky) {
      Matrix l(n, n);
      if (!complex_dense::cholesky(m, l)) {
        for (int64_t r = 0; r < n; ++r) std::fill_n(l.row(r), r + 1, kNothing);
      }
      put_complex(l, out, i);
    } else if (kind == MatrixSolve::triangular) {
      Matrix x = complex_matrix(b, i, n, columns);
      if (!complex_dense::solve_triangle(m, (flags & kMatrixLower) != 0, adjoint, false, x))
        return shape_rules::invalid(call.op, "{}", *refusal ? refusal : "Input matrix is not invertible.");
      put_complex(x, out, i);
    } else {
      const complex_dense::Lu lu(std::move(m));
      if (kind == MatrixSolve::determinant) {
        Z product = lu.odd ? -1 : 1;
        for (int64_t k = 0; k < n; ++k) product *= lu.factors.at(k, k);
        put_complex(&product, 1, out, i);
        continue;
      }
      if (!lu.whole) return shape_rules::invalid(call.op, "{}", refusal);
      put_complex(lu.solve(kind == MatrixSolve::inverse ? complex_dense::unit(n, n) : complex_matrix(b, i, n, columns), adjoint),
                  out, i);
    }
  }
  return call.give(std::move(out));
}

Result<void> factor_complex(RunCall& call, MatrixFactor kind, int64_t flags) {
  Tensor a = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor one = TFL_TRY(call.allocate(0)), two = TFL_TRY(call.allocate(1)), three;
  if (kind == MatrixFactor::singular) three = TFL_TRY(call.allocate(2));
  const int64_t rows = a.dim(a.rank() - 2), columns = a.dim(a.rank() - 1);
  const bool full = (flags & kMatrixFull) != 0;
  for (int64_t i = 0, count = count_of(a); i < count; ++i) {
    TFL_TRY(check_whole(call.context));
    Matrix m = complex_matrix(a, i, rows, columns);
    switch (kind) {
      case MatrixFactor::lu:
      case MatrixFactor::log_determinant: {
        const complex_dense::Lu lu(std::move(m));
        if (kind == MatrixFactor::lu) {
          if (!lu.whole) return shape_rules::invalid(call.op, "Input is not invertible.");
          put_complex(lu.factors, one, i);
          std::copy(lu.order.begin(), lu.order.end(), reinterpret_cast<int32_t*>(two.raw()) + i * rows);
          break;
        }
        Z sign = lu.odd ? -1 : 1;
        double size = 0;
        for (int64_t k = 0; k < rows; ++k) {
          const Z pivot = lu.factors.at(k, k);
          const double length = std::abs(pivot);
          size += std::log(length);
          sign = length == 0 ? Z(0) : sign * (pivot / length);
        }
        const Z logarithm = size;
        put_complex(&sign, 1, one, i);
        put_complex(&logarithm, 1, two, i);
        break;
      }
      case MatrixFactor::qr: {
        const int64_t k = full ? rows : std::min(rows, columns);
        const complex_dense::Reflections h = complex_dense::triangular(m);
        Matrix q = complex_dense::unit(rows, k);
        h.unwind(q);
        put_complex(q, one, i);
        put_complex(m.elements.data(), k * columns, two, i * k * columns);
        break;
      }
      case MatrixFactor::eigen: TFL_TRY(complex_eigen(call.context, m, i, one, two)); break;
      case MatrixFactor::singular: TFL_TRY(complex_singular(call.context, std::move(m), full, i, one, two, three)); break;
    }
  }
  TFL_TRY(call.give(std::move(one)));
  TFL_TRY(call.give(std::move(two)));
  return kind == MatrixFactor::singular ? call.give(std::move(three)) : Result<void>();
}

}  // namespace tfl
