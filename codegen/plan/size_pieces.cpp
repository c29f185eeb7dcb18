// Sizes of what puts tensors together and takes them apart: concatenation, parts, products, ranges, padding.
#include "codegen/plan/size_rules.h"
#include "runtime/shapes/rules.h"

namespace tfl::plan {

using ir::Node;
using shape_rules::front_axis;
using Poly = SizeTable::Poly;
using PolyDims = SizeRules::PolyDims;

bool SizeRules::concat(const Node& n, PolyDims& out) {
  out = dims(n.operands[0]);
  int64_t rank = static_cast<int64_t>(out.size());
  bool stack = n.op == Op::stack;
  int64_t axis = front_axis(n.attrs.get_int(Attr::axis), stack ? rank + 1 : rank);
  if (axis < 0) return false;
  for (size_t k = 1; k < n.operands.size(); ++k) {
    const PolyDims& x = dims(n.operands[k]);
    if (x.size() != out.size()) return false;
    for (size_t i = 0; i < x.size(); ++i) {
      if (!stack && i == static_cast<size_t>(axis))
        out[i] = table.add(out[i], x[i]);
      else if (!table.assume_equal(out[i], x[i]))
        return false;
    }
  }
  if (stack) out.insert(out.begin() + axis, SizeTable::constant(static_cast<int64_t>(n.operands.size())));
  return true;
}

// Of split, split_v and unstack.
bool SizeRules::parts(const Node& n, std::vector<PolyDims>& out) {
  const PolyDims& x = dims(n.operands[0]);
  int64_t axis = front_axis(n.attrs.get_int(Attr::axis), static_cast<int64_t>(x.size()));
  if (axis < 0) return false;
  size_t at = static_cast<size_t>(axis);
  Poly count = SizeTable::constant(static_cast<int64_t>(n.types.size()));
  Poly each = n.op == Op::split ? table.divide(x[at], count) : SizeTable::constant(1);
  Poly left = x[at];
  Dims sizes;
  if (n.op == Op::split_v && (!known_integers(context_, n.operands[1], sizes) || sizes.size() != n.types.size())) return false;
  for (int64_t s : sizes) left = table.subtract(left, SizeTable::constant(s == -1 ? 0 : s));
  bool open = std::find(sizes.begin(), sizes.end(), -1) != sizes.end();
  if (n.op != Op::split_v && !table.assume_equal(x[at], table.multiply(each, count))) return false;
  if (n.op == Op::split_v && !(open ? table.assume_at_least(left, {}) : table.assume_equal(left, {}))) return false;
  for (size_t i = 0; i < n.types.size(); ++i) {
    PolyDims part = x;
    if (n.op == Op::unstack)
      part.erase(part.begin() + axis);
    else
      part[at] = n.op == Op::split ? each : sizes[i] == -1 ? left : SizeTable::constant(sizes[i]);
    out.push_back(std::move(part));
  }
  return true;
}

bool SizeRules::product(const Node& n, PolyDims& out) {
  const PolyDims& a = dims(n.operands[0]);
  const PolyDims& b = dims(n.operands[1]);
  if (a.size() < 2 || b.size() < 2) return false;
  bool ta = n.attrs.get_bool(Attr::transpose_a), tb = n.attrs.get_bool(Attr::transpose_b);
  size_t rank = std::max(a.size(), b.size());
  for (size_t axis = 0; axis + 2 < rank; ++axis) {
    Poly size = SizeTable::constant(1);
    for (const PolyDims* x : {&a, &b}) {
      if (axis + x->size() < rank) continue;
      const Poly& d = (*x)[axis + x->size() - rank];
      if (SizeTable::literal(d) == 1) continue;
      if (SizeTable::literal(size) == 1)
        size = d;
      else if (!table.assume_equal(size, d))
        return false;
    }
    out.push_back(std::move(size));
  }
  out.push_back(a[a.size() - (ta ? 1 : 2)]);
  out.push_back(b[b.size() - (tb ? 2 : 1)]);
  return table.assume_equal(a[a.size() - (ta ? 2 : 1)], b[b.size() - (tb ? 1 : 2)]);
}

bool SizeRules::range(const Node& n, PolyDims& out) {
  if (int64_t known = n.types[0].tensor.dims[0]; known >= 0) {
    out.push_back(SizeTable::constant(known));
    return true;
  }
  std::optional<Poly> start = element(n.operands[0], 0), limit = element(n.operands[1], 0), step = element(n.operands[2], 0);
  int64_t by = step ? SizeTable::literal(*step).value_or(0) : 0;
  if (!start || !limit || by <= 0 || !table.assume_at_least(*limit, *start)) return false;
  out.push_back(table.divide(table.add(table.subtract(*limit, *start), SizeTable::constant(by - 1)), SizeTable::constant(by)));
  return true;
}

bool SizeRules::pad(const Node& n, PolyDims& out) {
  Dims paddings;
  out = dims(n.operands[0]);
  if (!known_integers(context_, n.operands[1], paddings) || paddings.size() != 2 * out.size()) return false;
  for (size_t i = 0; i < out.size(); ++i) {
    int64_t both = 0;
    if (paddings[2 * i] < 0 || paddings[2 * i + 1] < 0 || __builtin_add_overflow(paddings[2 * i], paddings[2 * i + 1], &both))
      return false;
    out[i] = table.add(out[i], SizeTable::constant(both));
  }
  return true;
}

bool SizeRules::sum_to_shape(const Node& n, PolyDims& out) {
  const PolyDims& x = dims(n.operands[0]);
  if (!wanted_sizes(n.operands[1], out) || out.size() > x.size()) return false;
  for (size_t i = 0; i < out.size(); ++i) {
    if (SizeTable::literal(out[i]) != 1 && !table.assume_equal(out[i], x[i + x.size() - out.size()])) return false;
  }
  return true;
}

}  // namespace tfl::plan
