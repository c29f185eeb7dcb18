// Sizes of what routines give, and of the other operations that choose elements by index.
#include "codegen/plan/size_rules.h"
#include "runtime/shapes/rules.h"

namespace tfl::plan {

bool SizeRules::routine(const ir::Node& n, PolyDims& out) {
  const PolyDims& x = dims(n.operands[0]);
  // Updates have the sizes of the indices, but for the last, and behind them those of what is written to, from `depth` on.
  auto updates_fit = [&](const PolyDims& indices, const PolyDims& updates, const PolyDims& target) {
    std::optional<int64_t> depth = indices.empty() ? std::nullopt : SizeTable::literal(indices.back());
    if (!depth || *depth > static_cast<int64_t>(target.size())) return false;
    PolyDims wanted(indices.begin(), indices.end() - 1);
    wanted.insert(wanted.end(), target.begin() + *depth, target.end());
    if (wanted.size() != updates.size()) return false;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (!table.assume_equal(wanted[i], updates[i])) return false;
    }
    return true;
  };
  switch (n.op) {
    case Op::cumsum:
    case Op::cumprod:
    case Op::sort:
    case Op::argsort:
    case Op::roll: out = x; return !x.empty();
    case Op::argmax:
    case Op::argmin: {
      int64_t axis = shape_rules::front_axis(n.attrs.get_int(Attr::axis), static_cast<int64_t>(x.size()));
      if (axis < 0) return false;
      out = x;
      out.erase(out.begin() + axis);
      return true;
    }
    case Op::top_k: {
      std::optional<Poly> k = element(n.operands[1], 0);
      if (int64_t known = n.types[0].tensor.dims.empty() ? -1 : n.types[0].tensor.dims.back(); known >= 0) k = SizeTable::constant(known);
      if (x.empty() || !k || !table.assume_at_least(*k, {}) || !table.assume_at_least(x.back(), *k)) return false;
      out = x;
      out.back() = *k;
      return true;
    }
    case Op::gather_nd: {
      const PolyDims& indices = dims(n.operands[1]);
      std::optional<int64_t> depth = indices.empty() ? std::nullopt : SizeTable::literal(indices.back());
      if (!depth || *depth > static_cast<int64_t>(x.size())) return false;
      out.assign(indices.begin(), indices.end() - 1);
      out.insert(out.end(), x.begin() + *depth, x.end());
      return true;
    }
    case Op::scatter_nd: return wanted_sizes(n.operands[2], out) && updates_fit(x, dims(n.operands[1]), out);
    case Op::tensor_scatter_update:
    case Op::tensor_scatter_add:
    case Op::tensor_scatter_sub:
    case Op::tensor_scatter_min:
    case Op::tensor_scatter_max: out = x; return updates_fit(dims(n.operands[1]), dims(n.operands[2]), x);
    case Op::unsorted_segment_sum:
    case Op::unsorted_segment_prod:
    case Op::unsorted_segment_max:
    case Op::unsorted_segment_min: {
      const PolyDims& ids = dims(n.operands[1]);
      std::optional<Poly> segments = element(n.operands[2], 0);
      if (int64_t known = n.types[0].tensor.dims.empty() ? -1 : n.types[0].tensor.dims[0]; known >= 0) segments = SizeTable::constant(known);
      if (!segments || ids.size() > x.size() || !table.assume_at_least(*segments, {})) return false;
      for (size_t i = 0; i < ids.size(); ++i) {
        if (!table.assume_equal(ids[i], x[i])) return false;
      }
      out.push_back(*segments);
      out.insert(out.end(), x.begin() + static_cast<ptrdiff_t>(ids.size()), x.end());
      return true;
    }
    case Op::stateless_uniform:
    case Op::stateless_uniform_int:
    case Op::stateless_uniform_full_int:
    case Op::stateless_permutation:
    case Op::stateless_normal:
    case Op::stateless_truncated_normal: return wanted_sizes(n.operands[0], out);
    case Op::stateless_gamma:
    case Op::stateless_poisson:
    case Op::stateless_binomial:
    case Op::stateless_truncated:
      if (!wanted_sizes(n.operands[0], out)) return false;
      for (size_t i = 2; i < n.operands.size(); ++i) {
        const PolyDims& own = dims(n.operands[i]);  // the last sizes of the result
        if (own.size() > out.size()) return false;
        for (size_t k = 0; k < own.size(); ++k) {
          if (!table.assume_equal(own[k], out[out.size() - own.size() + k])) return false;
        }
      }
      return true;
    case Op::cholesky:
    case Op::matrix_inverse: out = x; return square(x);
    case Op::matrix_determinant:
      if (!square(x)) return false;
      out.assign(x.begin(), x.end() - 2);
      return true;
    case Op::matrix_solve:
    case Op::triangular_solve: {
      out = dims(n.operands[1]);
      if (out.size() != x.size() || !square(x)) return false;
      for (size_t i = 0; i + 1 < x.size(); ++i) {
        if (!table.assume_equal(x[i], out[i])) return false;
      }
      return true;
    }
    default: return false;
  }
}

bool SizeRules::square(const PolyDims& x) { return x.size() >= 2 && table.assume_equal(x[x.size() - 2], x.back()); }

bool SizeRules::factors(const ir::Node& n, std::vector<PolyDims>& out) {
  const PolyDims x = dims(n.operands[0]);
  if (x.size() < 2 || (n.op != Op::qr && n.op != Op::svd && !square(x))) return false;
  PolyDims batch(x.begin(), x.end() - 2), values = batch;
  Poly rows = x[x.size() - 2], columns = x.back();
  values.push_back(rows);
  if (n.op == Op::lu) out = {x, values};
  if (n.op == Op::log_matrix_determinant) out = {batch, batch};
  if (n.op == Op::eigh) out = {values, x};
  if (n.op == Op::qr) {
    Poly k = n.attrs.get_bool(Attr::full_matrices) ? rows : table.smaller(rows, columns);
    PolyDims q = values, r = batch;
    q.push_back(k);
    r.push_back(k);
    r.push_back(columns);
    out = {q, r};
  }
  if (n.op == Op::svd) {
    const bool full = n.attrs.get_bool(Attr::full_matrices);
    Poly k = table.smaller(rows, columns);
    PolyDims s = batch, u = values, v = batch;
    s.push_back(k);
    u.push_back(full ? rows : k);
    v.push_back(columns);
    v.push_back(full ? columns : k);
    out = {s, u, v};
  }
  return true;
}

}  // namespace tfl::plan
