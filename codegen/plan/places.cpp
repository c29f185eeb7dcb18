// Where the elements of a view are: indices of a result's axes become indices of the operand's.
#include <algorithm>

#include "codegen/plan/builder.h"
#include "runtime/ops/groups.h"
#include "runtime/shapes/rules.h"

namespace tfl::plan {

Index Builder::plus(const Index& a, const Index& c) {
  Index out;
  out.offset = add(a.offset, c.offset);
  size_t n = std::max(a.strides.size(), c.strides.size());
  for (size_t i = 0; i < n; ++i) {
    Size x = i < a.strides.size() ? a.strides[i] : 0, y = i < c.strides.size() ? c.strides[i] : 0;
    out.strides.push_back(add(x, y));
  }
  out.indexed = a.indexed;
  out.indexed.append(c.indexed.begin(), c.indexed.end());
  return out;
}

Index Builder::times(const Index& a, Size factor) {
  Index out;
  out.offset = multiply(a.offset, factor);
  for (Size s : a.strides) out.strides.push_back(multiply(s, factor));
  for (const Access::Indexed& i : a.indexed) out.indexed.push_back({i.index, multiply(i.factor, factor)});
  return out;
}

namespace {

Index zero_like(const Place& at) {
  Index out;
  if (!at.empty()) out.strides.resize(at[0].strides.size(), 0);
  return out;
}

// The axes other than ones of two shapes of one number of elements, in groups of equal products: axes [from, from_end) of one
// are axes [to, to_end) of the other.
struct Group {
  size_t from, from_end, to, to_end;
};

std::vector<Group> groups(const Builder& b, const Sizes& from, const Sizes& to) {
  std::vector<Group> out;
  size_t i = 0, j = 0, m = from.size(), n = to.size(), tail = 0;
  while (i < m && j < n && b.same(from[i], to[j])) {
    out.push_back({i, i + 1, j, j + 1});
    ++i;
    ++j;
  }
  while (m - tail > i && n - tail > j && b.same(from[m - tail - 1], to[n - tail - 1])) ++tail;
  size_t m_end = m - tail, n_end = n - tail;
  bool known =
      std::all_of(from.begin() + i, from.begin() + m_end, is_known) && std::all_of(to.begin() + j, to.begin() + n_end, is_known);
  while (known && i < m_end && j < n_end) {
    Group g{i, i + 1, j, j + 1};
    Size a = from[i], c = to[j];
    while (a != c) {
      if (a < c && g.from_end < m_end)
        a *= from[g.from_end++];
      else if (c < a && g.to_end < n_end)
        c *= to[g.to_end++];
      else
        break;
    }
    if (a != c) break;
    out.push_back(g);
    i = g.from_end;
    j = g.to_end;
  }
  if (i < m_end || j < n_end) out.push_back({i, m_end, j, n_end});
  for (size_t k = tail; k > 0; --k) out.push_back({m - k, m - k + 1, n - k, n - k + 1});
  return out;
}

}  // namespace

Place Builder::broadcast(const Sizes& from, const Sizes& to, const Place& at) {
  Place out;
  size_t lead = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    out.push_back(is_one(from[i]) ? zero_like(at) : at[lead + i]);
  }
  return out;
}

bool Builder::splits_only(const Sizes& from, const Sizes& to) const {
  for (const Group& g : groups(*this, without_ones(from), without_ones(to))) {
    if (g.from_end - g.from > 1) return false;
  }
  return true;
}

bool Builder::reshape(const Sizes& from, const Sizes& to, const Place& at, Place& out) {
  Sizes a = without_ones(from), c = without_ones(to);
  Place results;  // of the axes of `to` that are not ones
  for (size_t i = 0; i < to.size(); ++i) {
    if (!is_one(to[i])) results.push_back(at[i]);
  }
  Place operands;
  for (const Group& g : groups(*this, a, c)) {
    if (g.from_end == g.from) continue;
    Index linear = zero_like(at);
    Size step = 1;
    for (size_t j = g.to_end; j-- > g.to;) {
      linear = plus(linear, times(results[j], step));
      step = multiply(step, c[j]);
    }
    if (g.from_end - g.from > 1) return false;
    operands.push_back(std::move(linear));
  }
  out.clear();
  size_t next = 0;
  for (Size d : from) out.push_back(is_one(d) ? zero_like(at) : operands[next++]);
  return true;
}

bool Builder::view(ir::Ref r, const Place& at, ir::Ref& operand, Place& out) {
  const ir::Node& n = *r.node;
  if (!is_view(n)) return false;
  operand = n.operands[0];
  out.clear();
  const Sizes& from = dims(operand);
  const Sizes& to = dims(r);
  auto rank = static_cast<int64_t>(from.size());
  switch (static_cast<ViewOp>(n.op)) {
    case ViewOp::identity:
    case ViewOp::stop_gradient:
    case ViewOp::ensure_shape: out = at; return true;
    case ViewOp::reshape:
    case ViewOp::expand_dims:
    case ViewOp::squeeze: return reshape(from, to, at, out);
    case ViewOp::broadcast_to: out = broadcast(from, to, at); return true;
    case ViewOp::transpose: {
      Dims perm;
      if (const Dims* attr = n.attrs.get_ints(Attr::perm)) {
        perm = *attr;
      } else if (n.operands.size() == 2) {
        Tensor t = known(n.operands[1]);
        if (!t) return false;
        perm = shape_rules::integers(t);
      } else {
        for (int64_t i = rank; i-- > 0;) perm.push_back(i);
      }
      out.resize(from.size());
      for (size_t i = 0; i < perm.size(); ++i) out[static_cast<size_t>(perm[i] < 0 ? perm[i] + rank : perm[i])] = at[i];
      return true;
    }
    case ViewOp::reverse: {
      out = at;
      const Dims* axes = n.attrs.get_ints(Attr::axes);
      for (size_t i = 0; axes && i < axes->size(); ++i) {
        auto a = static_cast<size_t>((*axes)[i] < 0 ? (*axes)[i] + rank : (*axes)[i]);
        Index last = zero_like(at);
        last.offset = subtract(from[a], 1);
        Index back = times(at[a], negative(1));
        out[a] = plus(last, back);
      }
      return true;
    }
    case ViewOp::unstack: {
      int64_t axis = n.attrs.get_int(Attr::axis);
      if (axis < 0) axis += rank;
      out = at;
      Index index = zero_like(at);
      index.offset = r.index;
      // The result may have no axis to tell how many the kernel has.
      out.insert(static_cast<size_t>(axis), index);
      return true;
    }
    case ViewOp::split:
    case ViewOp::split_v: {
      int64_t axis = n.attrs.get_int(Attr::axis);
      auto a = static_cast<size_t>(axis < 0 ? axis + rank : axis);
      Index begin = zero_like(at);
      for (uint32_t i = 0; i < r.index; ++i) begin.offset = add(begin.offset, dims({r.node, i})[a]);
      out = at;
      out[a] = plus(at[a], begin);
      return true;
    }
    case ViewOp::matrix_diag_part: {
      if (const Dims* k = n.attrs.get_ints(Attr::k)) {
        for (int64_t v : *k) {
          if (v != 0) return false;
        }
      }
      out = at;
      if (out.empty()) return false;
      out.push_back(at.back());
      return true;
    }
    case ViewOp::slice:
    case ViewOp::strided_slice: return false;  // Expressions::sliced
  }
  return false;
}

}  // namespace tfl::plan
