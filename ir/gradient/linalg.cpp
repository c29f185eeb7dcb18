// Gradients of matrix decompositions and solutions. Formulas: M. B. Giles, "An extended collection of matrix derivative results for
// forward and reverse mode algorithmic differentiation" (2008); S. F. Walter, L. Lehmann, "Algorithmic differentiation of linear
// algebra functions" (2012) for QR; J. Townsend, "Differentiating the singular value decomposition" (2016).
#include "ir/gradient/compose.h"
#include "ir/gradient/rules.h"

namespace tfl::gradient {

namespace {

/// The conjugate transpose: what is the transpose in formulas for real matrices.
X transposed(X m) {
  m = conjugate(m);
  if (!m) return {};
  Dims perm;
  int64_t rank = static_cast<int64_t>(m.type().dims.size());
  for (int64_t i = 0; i < rank; ++i) perm.push_back(i);
  std::swap(perm[static_cast<size_t>(rank - 1)], perm[static_cast<size_t>(rank - 2)]);
  return emit(Op::transpose, {m}, Attrs().set_ints(Attr::perm, perm));
}

/// The product of two matrices, of which each may be taken by its conjugate transpose.
X adjoint_product(X a, X b, bool adjoint_a = false, bool adjoint_b = false) {
  return product(adjoint_a ? conjugate(a) : a, adjoint_b ? conjugate(b) : b, adjoint_a, adjoint_b);
}

// The lower (or upper) triangle with its diagonal.
X triangle(X m, bool lower) {
  if (!m) return {};
  Adjoint& a = *m.adjoint();
  return emit(Op::matrix_band_part, {m, int_scalar(a, lower ? -1 : 0), int_scalar(a, lower ? 0 : -1)});
}
X diagonal_part(X m) {
  if (!m) return {};
  return emit(Op::matrix_band_part, {m, int_scalar(*m.adjoint(), 0), int_scalar(*m.adjoint(), 0)});
}
X expand(X x, int64_t axis) { return emit(Op::expand_dims, {x}, Attrs().set_int(Attr::axis, axis)); }
// v as a column: [..., n, 1]; as a row: [..., 1, n].
X column(X v) { return expand(v, -1); }
X row(X v) { return expand(v, -2); }
X scalar_matrix(X v) { return expand(expand(v, -1), -1); }
X solve_lower(X l, X b, bool adjoint) {
  return emit(Op::triangular_solve, {l, b}, Attrs().set_bool(Attr::lower, true).set_bool(Attr::adjoint, adjoint));
}
X inverse(X m) { return emit(Op::matrix_inverse, {m}); }
X reciprocal_or_zero(X x) { return emit(Op::divide_no_nan, {literal_like(x, 1.0), x}); }

void cholesky(RuleCall& c) {
  X l = c.r();
  X p = triangle(adjoint_product(l, c.g(), true), true);
  p = p - X(0.5) * diagonal_part(p);
  // S = L^-T P L^-1, and its symmetric part.
  X left = solve_lower(l, p, true);
  X s = transposed(solve_lower(l, transposed(left), true));
  c.give(0, X(0.5) * (s + transposed(s)));
}

// As TensorFlow has it, which does not conjugate the determinant.
void determinant(RuleCall& c) { c.give(0, scalar_matrix(c.g() * c.r()) * transposed(inverse(c.x()))); }

void log_determinant(RuleCall& c) {
  if (X g = c.g(1)) c.give(0, scalar_matrix(g) * transposed(inverse(c.x())));
}

void matrix_inverse(RuleCall& c) {
  X r = c.r();
  if (c.attrs.get_bool(Attr::adjoint)) {
    // r = (x^T)^-1: the gradient of x^T transposed.
    return c.give(0, transposed(neg(adjoint_product(adjoint_product(r, c.g(), true), r, false, true))));
  }
  c.give(0, neg(adjoint_product(adjoint_product(r, c.g(), true), r, false, true)));
}

void matrix_solve(RuleCall& c) {
  bool adjoint = c.attrs.get_bool(Attr::adjoint);
  X b = emit(Op::matrix_solve, {c.x(0), c.g()}, Attrs().set_bool(Attr::adjoint, !adjoint));
  if (c.wanted(1)) c.give_unbroadcast(1, b);
  if (c.wanted(0))
    c.give_unbroadcast(0, neg(adjoint ? adjoint_product(c.r(), b, false, true) : adjoint_product(b, c.r(), false, true)));
}

void triangular_solve(RuleCall& c) {
  bool adjoint = c.attrs.get_bool(Attr::adjoint), lower = c.attrs.get_bool(Attr::lower, true);
  X b = emit(Op::triangular_solve, {c.x(0), c.g()}, Attrs().set_bool(Attr::lower, lower).set_bool(Attr::adjoint, !adjoint));
  if (c.wanted(1)) c.give_unbroadcast(1, b);
  if (c.wanted(0)) {
    X a = neg(adjoint ? adjoint_product(c.r(), b, false, true) : adjoint_product(b, c.r(), false, true));
    c.give_unbroadcast(0, triangle(a, lower));
  }
}

// 1 / (v_j - v_i) off the diagonal, 0 on it and where both are equal.
X inverse_gaps(X v) { return reciprocal_or_zero(row(v) - column(v)); }

/// Real numbers in the type of the matrices they belong to.
X as_type(X x, DType dtype) { return !x || x.dtype() == dtype ? x : emit(Op::cast, {x}, Attrs().set_dtype(Attr::dtype, dtype)); }

// General matrices: values and vectors are complex. The vectors have length 1, and their phase is free.
void eig(RuleCall& c) {
  X v = c.r(1), adjoint = transposed(v), inner;
  if (X g = c.g(0)) inner = emit(Op::matrix_diag, {g});
  if (X g = c.g(1)) {
    X vg = adjoint_product(v, g, true);
    X diagonal = diagonal_part(vg);
    X real = X(0.5) * (diagonal + transposed(diagonal));
    X off = conjugate(inverse_gaps(c.r(0))) * (vg - adjoint_product(adjoint_product(v, v, true), real));
    inner = inner ? inner + off : off;
  }
  X whole = emit(Op::matrix_solve, {adjoint, adjoint_product(inner, adjoint)});
  c.give(0, is_complex(c.operand_type(0).tensor.dtype) ? whole : emit(Op::real, {whole}));
}

// The results with vectors, which are computed now where the operation gave values alone.
std::vector<X> with_vectors(RuleCall& c, Op op, size_t results) {
  if (c.attrs.get_text(Attr::mode) == "values") {
    const X x[] = {c.x(0)};
    return emit_many(op, x);
  }
  std::vector<X> out;
  for (size_t i = 0; i < results; ++i) out.push_back(c.r(i));
  return out;
}

void eigh(RuleCall& c) {
  const std::vector<X> r = with_vectors(c, Op::eigh, 2);
  X v = r[1];
  X inner;
  if (X g = c.g(0)) inner = emit(Op::matrix_diag, {g});
  if (X g = c.g(1)) {
    X off = inverse_gaps(r[0]) * adjoint_product(v, g, true);
    inner = inner ? inner + off : off;
  }
  X full = adjoint_product(adjoint_product(v, inner), v, false, true);
  // Only the lower triangle is read: what belongs to the upper one is added to it.
  X lower = triangle(full + transposed(full), true);
  c.give(0, lower - X(0.5) * diagonal_part(lower));
}

void svd(RuleCall& c) {
  const DType dtype = c.operand_type(0).tensor.dtype;
  const std::vector<X> r = with_vectors(c, Op::svd, 3);
  X s = as_type(r[0], dtype), u = r[1], v = r[2];
  X inner;  // between u and v^T
  auto add = [](X& sum, X term) { sum = sum ? sum + term : term; };
  // What is imaginary of a diagonal: left and right vectors turn together, which is written down on the shorter side.
  const Dims& sizes = c.operand_type(0).tensor.dims;
  const bool tall = sizes.size() >= 2 && sizes.back() >= 0 && sizes[sizes.size() - 2] > sizes.back();
  auto imaginary = [](X m) {
    X diagonal = diagonal_part(m);
    return X(0.5) * (diagonal - transposed(diagonal));
  };
  X outer;
  if (X g = c.g(0)) add(inner, emit(Op::matrix_diag, {as_type(g, dtype)}));
  if (c.g(1) || c.g(2)) {
    X gaps = inverse_gaps(s * s);
    X inverse_s = reciprocal_or_zero(s);
    if (X g = c.g(1)) {
      X ug = adjoint_product(u, g, true);
      add(inner, gaps * (ug - transposed(ug)) * row(s));
      if (is_complex(dtype) && tall) add(inner, imaginary(ug) * row(inverse_s));
      add(outer, adjoint_product((g - adjoint_product(u, ug)) * row(inverse_s), v, false, true));
    }
    if (X g = c.g(2)) {
      X vg = adjoint_product(v, g, true);
      add(inner, column(s) * (gaps * (vg - transposed(vg))));
      if (is_complex(dtype) && !tall) add(inner, neg(imaginary(vg)) * row(inverse_s));
      add(outer, adjoint_product(u * row(inverse_s), g - adjoint_product(v, vg), false, true));
    }
  }
  X whole = inner ? adjoint_product(adjoint_product(u, inner), v, false, true) : X();
  if (outer) add(whole, outer);
  c.give(0, whole);
}

// The gradient of what has as many rows as columns, or more: q r with an upper triangle r.
X qr_input(X q, X r, X gq, X gr) {
  X m;
  if (gr) m = adjoint_product(r, gr, false, true);
  if (gq) m = m ? m - adjoint_product(gq, q, true) : neg(adjoint_product(gq, q, true));
  X lower = triangle(m, true), diagonal = diagonal_part(m);
  X symmetric = lower + transposed(lower - diagonal);
  if (m && is_complex(m.dtype())) symmetric = symmetric + X(0.5) * (transposed(diagonal) - diagonal);
  X left = adjoint_product(q, symmetric);
  if (gq) left = gq + left;
  // left R^-T
  X solved =
      emit(Op::triangular_solve, {r, transposed(left)}, Attrs().set_bool(Attr::lower, false).set_bool(Attr::adjoint, false));
  return transposed(solved);
}

// The columns [begin, begin + count) of matrices; -1: all that follow.
X columns_of(Adjoint& a, X x, size_t rank, int64_t begin, int64_t count) {
  std::vector<int64_t> from(rank, 0), sizes(rank, -1);
  from.back() = begin;
  sizes.back() = count;
  return emit(Op::slice, {x, int_vector(a, from), int_vector(a, sizes)});
}

void qr(RuleCall& c) {
  X q = c.r(0), r = c.r(1);
  const TensorType& whole = c.operand_type(0).tensor;
  if (whole.ranked && c.attrs.get_bool(Attr::full_matrices) && whole.dims[whole.dims.size() - 2] > whole.dims.back()) {
    return c.a.fail_with(
        fail(ErrorKind::NotImplementedError, "QrGrad not implemented when nrows > ncols and full_matrices is true."));
  }
  X gq = c.g(0), gr = c.g(1);
  if (!gq && !gr) return;
  size_t rank = whole.dims.size();
  if (!whole.ranked || whole.dims[rank - 2] < 0 || whole.dims[rank - 2] >= whole.dims[rank - 1]) {
    return c.give(0, qr_input(q, r, gq, gr));
  }
  // [x y] = q [u v]: a square x with x = q u, and y = q v beside it.
  int64_t rows = whole.dims[rank - 2];
  X u = columns_of(c.a, r, rank, 0, rows);
  if (!gr) {
    X sizes = emit(Op::shape, {columns_of(c.a, r, rank, rows, -1)}, Attrs().set_dtype(Attr::dtype, DType::I32));
    X zeros = emit(Op::fill, {sizes, literal(c.a, whole.dtype, 0.0)});
    return c.give(0, emit(Op::concat, {qr_input(q, u, gq, {}), zeros}, Attrs().set_int(Attr::axis, -1)));
  }
  X gv = columns_of(c.a, gr, rank, rows, -1);
  X across = adjoint_product(columns_of(c.a, c.x(0), rank, rows, -1), gv, false, true);
  X gx = qr_input(q, u, gq ? gq + across : across, columns_of(c.a, gr, rank, 0, rows));
  c.give(0, emit(Op::concat, {gx, adjoint_product(q, gv)}, Attrs().set_int(Attr::axis, -1)));
}

// The rows of x in the order p are L U; L has ones on its diagonal. Both gradients meet between the factors.
void lu(RuleCall& c) {
  X both = c.r(0), g = c.g(0);
  X diagonal = diagonal_part(both);
  if (!g || !diagonal) return;
  X ones = emit(Op::stop_gradient, {emit(Op::divide_no_nan, {diagonal, diagonal})});
  X u = triangle(both, false), l = both - u + ones;
  X g_upper = triangle(g, false);
  X below = triangle(adjoint_product(l, g - g_upper, true), true);
  X middle = below - diagonal_part(below) + triangle(adjoint_product(g_upper, u, false, true), false);
  X left = solve_lower(l, middle, true);
  X solved =
      emit(Op::triangular_solve, {u, transposed(left)}, Attrs().set_bool(Attr::lower, false).set_bool(Attr::adjoint, false));
  X rows = transposed(solved);
  X order = emit(Op::argsort, {c.r(1)}, Attrs().set_int(Attr::axis, -1));
  if (!rows || !order) return;
  int64_t batch = static_cast<int64_t>(rows.type().dims.size()) - 2;
  c.give(0, emit(Op::gather, {rows, order}, Attrs().set_int(Attr::axis, batch).set_int(Attr::batch_dims, batch)));
}

constexpr RuleRow kLinalgRules[] = {
    {Op::cholesky, cholesky},
    {Op::matrix_determinant, determinant},
    {Op::log_matrix_determinant, log_determinant},
    {Op::matrix_inverse, matrix_inverse},
    {Op::matrix_solve, matrix_solve},
    {Op::triangular_solve, triangular_solve},
    {Op::eigh, eigh},
    {Op::eig, eig},
    {Op::svd, svd},
    {Op::qr, qr},
    {Op::lu, lu},
};

}  // namespace

std::span<const RuleRow> linalg_rules() { return kLinalgRules; }

}  // namespace tfl::gradient
