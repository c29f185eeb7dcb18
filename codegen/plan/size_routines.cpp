// Sizes of what routines give.
#include "codegen/plan/size_rules.h"
#include "runtime/kernels/fourier/fourier_sizes.h"
#include "runtime/ops/facts.h"
#include "runtime/shapes/rules.h"

namespace tfl::plan {

using ir::Node;

bool SizeRules::arg(const Node& n, PolyDims& out) {
  const PolyDims& x = dims(n.operands[0]);
  int64_t axis = shape_rules::front_axis(n.attrs.get_int(Attr::axis), static_cast<int64_t>(x.size()));
  if (axis < 0) return false;
  out = x;
  out.erase(out.begin() + axis);
  return true;
}

bool SizeRules::top_k(const Node& n, std::vector<PolyDims>& out) {
  const PolyDims& x = dims(n.operands[0]);
  std::optional<Poly> k = element(n.operands[1], 0);
  if (int64_t known = n.types[0].tensor.dims.empty() ? -1 : n.types[0].tensor.dims.back(); known >= 0)
    k = SizeTable::constant(known);
  if (x.empty() || !k || !table.assume_at_least(*k, {}) || !table.assume_at_least(x.back(), *k)) return false;
  PolyDims first = x;
  first.back() = *k;
  out = {first, first};
  return true;
}

// Updates have the sizes of the indices, but for the last, and behind them those of what is written to, from `depth` on.
bool SizeRules::updates_fit(const PolyDims& indices, const PolyDims& updates, const PolyDims& target) {
  std::optional<int64_t> depth = indices.empty() ? std::nullopt : SizeTable::literal(indices.back());
  if (!depth || *depth > static_cast<int64_t>(target.size())) return false;
  PolyDims wanted(indices.begin(), indices.end() - 1);
  wanted.insert(wanted.end(), target.begin() + *depth, target.end());
  if (wanted.size() != updates.size()) return false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!table.assume_equal(wanted[i], updates[i])) return false;
  }
  return true;
}

bool SizeRules::scatter_new(const Node& n, PolyDims& out) {
  return wanted_sizes(n.operands[2], out) && updates_fit(dims(n.operands[0]), dims(n.operands[1]), out);
}

bool SizeRules::scatter(const Node& n, PolyDims& out) {
  const PolyDims& x = dims(n.operands[0]);
  out = x;
  return updates_fit(dims(n.operands[1]), dims(n.operands[2]), x);
}

bool SizeRules::segments(const Node& n, PolyDims& out) {
  const PolyDims &x = dims(n.operands[0]), &ids = dims(n.operands[1]);
  std::optional<Poly> segments = element(n.operands[2], 0);
  if (int64_t known = n.types[0].tensor.dims.empty() ? -1 : n.types[0].tensor.dims[0]; known >= 0)
    segments = SizeTable::constant(known);
  if (!segments || ids.size() > x.size() || !table.assume_at_least(*segments, {})) return false;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!table.assume_equal(ids[i], x[i])) return false;
  }
  out.push_back(*segments);
  out.insert(out.end(), x.begin() + static_cast<ptrdiff_t>(ids.size()), x.end());
  return true;
}

bool SizeRules::fourier(const Node& n, PolyDims& out) {
  const PolyDims& x = dims(n.operands[0]);
  auto bins = [&](const Poly& size) { return table.add(table.divide(size, SizeTable::constant(2)), SizeTable::constant(1)); };
  const Poly pair = SizeTable::constant(2);
  switch (static_cast<FourierKind>(op_facts(n.op).how)) {
    case FourierKind::complex: out = x; return x.size() >= 2 && table.assume_equal(x.back(), pair);
    case FourierKind::to_half:
      if (x.empty()) return false;
      out = x;
      out.back() = bins(x.back());
      out.push_back(pair);
      return true;
    case FourierKind::from_half: {
      if (!wanted_sizes(n.operands[1], out) || out.empty() || out.size() + 1 != x.size()) return false;
      for (size_t i = 0; i + 1 < out.size(); ++i) {
        if (!table.assume_equal(x[i], out[i])) return false;
      }
      return table.assume_equal(x.back(), pair) && table.assume_equal(x[out.size() - 1], bins(out.back()));
    }
  }
  return false;
}

bool SizeRules::random(const Node& n, PolyDims& out) { return wanted_sizes(n.operands[0], out); }

bool SizeRules::samples(const Node& n, PolyDims& out) {
  if (!wanted_sizes(n.operands[0], out)) return false;
  for (size_t i = 2; i < n.operands.size(); ++i) {
    const PolyDims& own = dims(n.operands[i]);  // the last sizes of the result
    if (own.size() > out.size()) return false;
    for (size_t k = 0; k < own.size(); ++k) {
      if (!table.assume_equal(own[k], out[out.size() - own.size() + k])) return false;
    }
  }
  return true;
}

bool SizeRules::square(const PolyDims& x) { return x.size() >= 2 && table.assume_equal(x[x.size() - 2], x.back()); }

bool SizeRules::square_matrix(const Node& n, PolyDims& out) {
  out = dims(n.operands[0]);
  return square(dims(n.operands[0]));
}

bool SizeRules::determinant(const Node& n, PolyDims& out) {
  const PolyDims& x = dims(n.operands[0]);
  if (!square(x)) return false;
  out.assign(x.begin(), x.end() - 2);
  return true;
}

bool SizeRules::system(const Node& n, PolyDims& out) {
  const PolyDims& x = dims(n.operands[0]);
  out = dims(n.operands[1]);
  if (out.size() != x.size() || !square(x)) return false;
  for (size_t i = 0; i + 1 < x.size(); ++i) {
    if (!table.assume_equal(x[i], out[i])) return false;
  }
  return true;
}

// The sizes in front of the last two, and those with one more behind them.
SizeRules::PolyDims SizeRules::batch_of(const PolyDims& x) { return {x.begin(), x.end() - 2}; }
SizeRules::PolyDims SizeRules::with(PolyDims dims, std::initializer_list<Poly> behind) {
  dims.insert(dims.end(), behind);
  return dims;
}

bool SizeRules::lu(const Node& n, std::vector<PolyDims>& out) {
  const PolyDims& x = dims(n.operands[0]);
  if (!square(x)) return false;
  out = {x, with(batch_of(x), {x[x.size() - 2]})};
  return true;
}

bool SizeRules::log_determinant(const Node& n, std::vector<PolyDims>& out) {
  const PolyDims& x = dims(n.operands[0]);
  if (!square(x)) return false;
  out = {batch_of(x), batch_of(x)};
  return true;
}

namespace {
// Vectors that are not wanted have no elements.
bool values_only(const Node& n) { return n.attrs.get_text(Attr::mode) == "values"; }
}  // namespace

bool SizeRules::eigh(const Node& n, std::vector<PolyDims>& out) {
  const PolyDims& x = dims(n.operands[0]);
  if (!square(x)) return false;
  const Poly size = x[x.size() - 2];
  out = {with(batch_of(x), {size}), values_only(n) ? with(batch_of(x), {size, Poly{}}) : x};
  return true;
}

bool SizeRules::qr(const Node& n, std::vector<PolyDims>& out) {
  const PolyDims& x = dims(n.operands[0]);
  if (x.size() < 2) return false;
  const Poly rows = x[x.size() - 2], columns = x.back();
  const Poly k = n.attrs.get_bool(Attr::full_matrices) ? rows : table.smaller(rows, columns);
  out = {with(batch_of(x), {rows, k}), with(batch_of(x), {k, columns})};
  return true;
}

bool SizeRules::svd(const Node& n, std::vector<PolyDims>& out) {
  const PolyDims& x = dims(n.operands[0]);
  if (x.size() < 2) return false;
  const Poly rows = x[x.size() - 2], columns = x.back(), k = table.smaller(rows, columns);
  const bool full = n.attrs.get_bool(Attr::full_matrices);
  const Poly none{}, u = values_only(n) ? none : full ? rows : k, v = values_only(n) ? none : full ? columns : k;
  out = {with(batch_of(x), {k}), with(batch_of(x), {rows, u}), with(batch_of(x), {columns, v})};
  return true;
}

}  // namespace tfl::plan
