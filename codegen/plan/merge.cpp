// Two kernels become one: their axes are brought together, and what the first stores is what the second would load.
#include <algorithm>

#include "codegen/plan/builder.h"

namespace tfl::plan {

namespace {

void note(std::vector<ValueId>& list, ValueId v) {
  if (v != kNone && std::find(list.begin(), list.end(), v) == list.end()) list.push_back(v);
}

// What an access means when axis k of its kernel is axis to[k] of another; kNone: an axis of one index.
Access moved(const Access& a, std::span<const uint32_t> to, size_t axes) {
  Access out = a;
  out.strides.clear();
  out.strides.resize(axes, 0);
  for (size_t k = 0; k < a.strides.size(); ++k) {
    if (to[k] != kNone) out.strides[to[k]] = a.strides[k];
  }
  return out;
}

struct Merger {
  Kernel& into;
  std::unordered_map<std::string, ExprId> known;

  explicit Merger(Kernel& k) : into(k) {
    for (size_t i = 0; i < k.exprs.size(); ++i) known.try_emplace(expr_key(k.exprs[i]), static_cast<ExprId>(i));
  }
  ExprId add(Expr e) {
    auto [it, fresh] = known.try_emplace(expr_key(e), static_cast<ExprId>(into.exprs.size()));
    if (fresh) into.exprs.push_back(std::move(e));
    return it->second;
  }
};

// Adds `k`, its axes moved; false where it loads what `into` stores in another way than element by element.
bool append(Kernel& into, const Kernel& k, std::span<const uint32_t> to, bool once) {
  Merger merger(into);
  size_t stages = into.stages.size();
  std::vector<ExprId> ids;
  auto shift = [&](Access a) {
    a = moved(a, to, into.axes.size());
    if (a.mask != kNone) a.mask = ids[a.mask];
    for (Access::Indexed& i : a.indexed) i.index = ids[i.index];
    return a;
  };
  for (const Expr& e : k.exprs) {
    Expr copy = e;
    for (ExprId& o : copy.operands) o = ids[o];
    if (e.kind == ExprKind::load) {
      copy.access = shift(e.access);
      bool stored = false, found = false;
      for (size_t s = 0; s < stages; ++s) {
        const Stage& stage = into.stages[s];
        if (stage.target.value != e.access.value) continue;
        stored = true;
        if (!equal_access(stage.target, copy.access)) continue;
        ids.push_back(stage.expr);
        found = true;
        break;
      }
      if (found) continue;
      if (stored) return false;
    } else if (e.kind == ExprKind::index) {
      if (to[e.axis] == kNone) {
        Expr zero;
        zero.dtype = DType::I64;
        ids.push_back(merger.add(std::move(zero)));
        continue;
      }
      copy.axis = to[e.axis];
    } else if (e.kind == ExprKind::reduced || e.kind == ExprKind::kept) {
      copy.stage += static_cast<uint32_t>(stages);
    }
    ids.push_back(merger.add(std::move(copy)));
  }
  for (const Stage& s : k.stages) {
    Stage copy = s;
    copy.expr = ids[s.expr];
    if (s.target.value != kNone) copy.target = shift(s.target);
    if (once) copy.kind = Stage::Kind::store_once;
    into.stages.push_back(std::move(copy));
  }
  return true;
}

SmallVec<uint32_t, 8> straight(size_t n) {
  SmallVec<uint32_t, 8> out;
  for (size_t i = 0; i < n; ++i) out.push_back(static_cast<uint32_t>(i));
  return out;
}

// How a map over `map` lies in a reduction: over all of its axes, or (`once`) over those that are kept.
bool place_map(Builder& b, const Loop& map, const Loop& reduction, SmallVec<uint32_t, 8>& to, bool& once) {
  const Sizes& axes = reduction.kernel.axes;
  to.clear();
  once = false;
  if (b.same(map.kernel.axes, axes)) {
    to = straight(axes.size());
    return true;
  }
  once = true;
  Sizes kept;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (i >= reduction.outer && i < reduction.outer + reduction.reduced) continue;
    kept.push_back(axes[i]);
    to.push_back(static_cast<uint32_t>(i));
  }
  if (kept.empty() && map.kernel.axes.size() == 1 && is_one(map.kernel.axes[0])) {
    to.push_back(kNone);
    return true;
  }
  return b.same(map.kernel.axes, kept);
}

size_t count_stores(const Kernel& k) {
  return static_cast<size_t>(
      std::count_if(k.stages.begin(), k.stages.end(), [](const Stage& s) { return s.kind != Stage::Kind::keep; }));
}

}  // namespace

void kernel_values(const Kernel& k, std::vector<ValueId>& reads, std::vector<ValueId>& writes) {
  for (const Expr& e : k.exprs) {
    if (e.kind == ExprKind::load || e.kind == ExprKind::value) note(reads, e.access.value);
  }
  for (const Stage& s : k.stages) note(writes, s.target.value);
}

bool assign_passes(Builder&, Loop& loop) {
  Kernel& k = loop.kernel;
  std::vector<uint32_t> level(k.exprs.size(), 0);
  uint32_t passes = 0;
  // Expressions stand before their users, and a reduction before its result.
  auto measure = [&] {
    for (size_t i = 0; i < k.exprs.size(); ++i) {
      const Expr& e = k.exprs[i];
      uint32_t l = 0;
      if (e.kind == ExprKind::reduced) l = k.stages[e.stage].pass + 1;
      if (e.kind == ExprKind::kept) l = k.stages[e.stage].pass;
      for (ExprId o : e.operands) l = std::max(l, level[o]);
      if (e.access.mask != kNone) l = std::max(l, level[e.access.mask]);
      for (const Access::Indexed& x : e.access.indexed) l = std::max(l, level[x.index]);
      level[i] = l;
    }
  };
  for (Stage& s : k.stages) s.pass = 0;
  for (bool changed = true; changed;) {
    changed = false;
    measure();
    for (Stage& s : k.stages) {
      uint32_t pass = level[s.expr];
      if (s.kind == Stage::Kind::store_once) pass = pass > 0 ? pass - 1 : 0;
      if (pass != s.pass) {
        s.pass = pass;
        changed = true;
      }
      if (pass > 64) return false;
      passes = std::max(passes, pass + 1);
    }
  }
  return k.form == Form::map || k.form == Form::rows || passes == 1;
}

bool axes_fit(Builder& b, const Loop& loop) {
  const Kernel& k = loop.kernel;
  if (k.form == Form::map) return true;
  auto joins = [&](size_t axis) {
    auto fits = [&](const Access& a) {
      if (a.strides.empty()) return true;
      return a.strides[axis] == b.multiply(a.strides[axis + 1], k.axes[axis + 1]);
    };
    for (const Expr& e : k.exprs) {
      if (e.kind == ExprKind::index && (e.axis == axis || e.axis == axis + 1)) return false;
      if (e.kind == ExprKind::load && !fits(e.access)) return false;
    }
    for (const Stage& s : k.stages) {
      if (s.target.value == kNone || (k.form == Form::blocks && s.kind == Stage::Kind::reduce)) continue;
      if (!fits(s.target)) return false;
    }
    return true;
  };
  for (size_t i = loop.outer; i + 1 < loop.outer + loop.reduced; ++i) {
    if (!joins(i)) return false;
  }
  for (size_t i = loop.outer + loop.reduced; i + 1 < k.axes.size(); ++i) {
    if (!joins(i)) return false;
  }
  return true;
}

bool merge_loops(Builder& b, Loop& first, const Loop& second) {
  const Kernel& x = first.kernel;
  const Kernel& y = second.kernel;
  if (x.exprs.size() + y.exprs.size() > kMostExprs || count_stores(x) + count_stores(y) > 2 * kMostStores) return false;
  if (!x.loops.empty() || !y.loops.empty()) return false;
  auto mergeable = [](const Kernel& k) { return k.form == Form::map || k.form == Form::rows || k.form == Form::columns; };
  if (!mergeable(x) || !mergeable(y)) return false;
  const Loop& shape = x.form == Form::map ? second : first;
  SmallVec<uint32_t, 8> to_first, to_second;
  bool once_first = false, once_second = false;
  if (x.form == y.form) {
    if (first.outer != second.outer || first.reduced != second.reduced || !b.same(x.axes, y.axes)) return false;
    to_first = to_second = straight(x.axes.size());
  } else if (x.form == Form::map) {
    if (!place_map(b, first, second, to_first, once_first)) return false;
    to_second = straight(y.axes.size());
  } else if (y.form == Form::map) {
    if (!place_map(b, second, first, to_second, once_second)) return false;
    to_first = straight(x.axes.size());
  } else {
    return false;
  }
  Loop merged;
  merged.kernel.form = shape.kernel.form;
  merged.kernel.axes = shape.kernel.axes;
  merged.outer = shape.outer;
  merged.reduced = shape.reduced;
  merged.columns = shape.columns;
  if (!append(merged.kernel, x, to_first, once_first) || !append(merged.kernel, y, to_second, once_second)) return false;
  if (!assign_passes(b, merged) || !axes_fit(b, merged)) return false;
  first = std::move(merged);
  return true;
}

}  // namespace tfl::plan
