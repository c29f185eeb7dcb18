// The last touches of a kernel: what is kept between passes, dead expressions, neighbouring axes that are one, its cost and name.
#include <algorithm>

#include "codegen/plan/builder.h"

namespace tfl::plan {

namespace {

void for_operands(const Expr& e, auto&& f) {
  for (ExprId o : e.operands) f(o);
  if (e.access.mask != kNone) f(e.access.mask);
  for (const Access::Indexed& i : e.access.indexed) f(i.index);
}

void for_operands(const Stage& s, auto&& f) {
  f(s.expr);
  if (s.target.mask != kNone) f(s.target.mask);
  for (const Access::Indexed& i : s.target.indexed) f(i.index);
}

void drop_dead_exprs(Kernel& k) {
  std::vector<bool> needed(k.exprs.size(), false);
  for (const Stage& s : k.stages) for_operands(s, [&](ExprId o) { needed[o] = true; });
  for (const KernelLoop& l : k.loops) {
    if (l.condition != kNone) needed[l.condition] = true;
    for (const KernelLoop::Variable& v : l.variables) needed[v.init] = needed[v.next] = true;
  }
  for (size_t i = k.exprs.size(); i-- > 0;) {
    if (needed[i]) for_operands(k.exprs[i], [&](ExprId o) { needed[o] = true; });
  }
  std::vector<ExprId> to(k.exprs.size(), kNone);
  std::vector<Expr> kept;
  auto move = [&](ExprId& e) {
    if (e != kNone) e = to[e];
  };
  for (size_t i = 0; i < k.exprs.size(); ++i) {
    if (!needed[i]) continue;
    to[i] = static_cast<ExprId>(kept.size());
    Expr e = std::move(k.exprs[i]);
    for (ExprId& o : e.operands) move(o);
    move(e.access.mask);
    for (Access::Indexed& x : e.access.indexed) move(x.index);
    kept.push_back(std::move(e));
  }
  k.exprs = std::move(kept);
  for (Stage& s : k.stages) {
    move(s.expr);
    move(s.target.mask);
    for (Access::Indexed& x : s.target.indexed) move(x.index);
  }
  for (KernelLoop& l : k.loops) {
    move(l.condition);
    for (KernelLoop::Variable& v : l.variables) {
      move(v.init);
      move(v.next);
    }
  }
}

// Stages in the order of their passes; those behind the loop of a pass last.
void order_stages(Kernel& k) {
  std::vector<uint32_t> order(k.stages.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  auto rank = [&](uint32_t i) { return k.stages[i].pass * 2 + (k.stages[i].kind == Stage::Kind::store_once); };
  std::stable_sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) { return rank(x) < rank(y); });
  std::vector<uint32_t> to(order.size());
  std::vector<Stage> stages;
  for (uint32_t i = 0; i < order.size(); ++i) {
    to[order[i]] = i;
    stages.push_back(std::move(k.stages[order[i]]));
  }
  k.stages = std::move(stages);
  for (Expr& e : k.exprs) {
    if (e.kind == ExprKind::reduced || e.kind == ExprKind::kept) e.stage = to[e.stage];
  }
}

int64_t own_cost(const Expr& e) {
  switch (e.kind) {
    case ExprKind::apply: return cost_of(e.op);
    case ExprKind::cast: return 1;
    case ExprKind::load: return e.access.indexed.empty() ? 1 : 4;
    default: return 0;
  }
}

// Rows of several passes: an expensive element that more than one of them needs is computed by the first and kept, in scratch memory
// when the row is short, else in a temporary of all rows (which may turn out to be the memory of a result).
void keep_values(Builder& b, Loop& loop) {
  Kernel& k = loop.kernel;
  uint32_t passes = 0;
  for (const Stage& s : k.stages) passes = std::max(passes, s.pass + 1);
  if (passes < 2) return;
  size_t last = k.axes.size() - 1;
  // The whole cost of an expression, and whether it differs along the row.
  std::vector<int64_t> cost(k.exprs.size(), 0);
  std::vector<bool> varies(k.exprs.size(), false);
  for (size_t i = 0; i < k.exprs.size(); ++i) {
    const Expr& e = k.exprs[i];
    cost[i] = own_cost(e);
    if (e.kind == ExprKind::load) {
      for (size_t a = loop.outer; a <= last; ++a) varies[i] = varies[i] || e.access.strides[a] != 0;
    }
    if (e.kind == ExprKind::index) varies[i] = e.axis >= loop.outer;
    for_operands(e, [&](ExprId o) {
      cost[i] = std::min<int64_t>(cost[i] + cost[o], 1 << 20);
      varies[i] = varies[i] || varies[o];
    });
  }
  int64_t room = 256 << 10;
  int64_t length = 1;
  bool short_row = true;
  for (size_t a = loop.outer; a <= last; ++a) {
    short_row = short_row && is_known(k.axes[a]) && !__builtin_mul_overflow(length, k.axes[a], &length) && length <= kLongestRow;
  }
  std::vector<uint32_t> computed(k.exprs.size(), UINT32_MAX);  // the first pass that computes it
  std::unordered_map<ExprId, uint32_t> kept;                   // its stage
  for (uint32_t pass = 0; pass < passes; ++pass) {
    std::vector<ExprId> replacement(k.exprs.size(), kNone);
    std::vector<ExprId> stack;
    std::vector<bool> seen(k.exprs.size(), false);
    for (size_t s = 0; s < k.stages.size(); ++s) {
      if (k.stages[s].pass == pass && k.stages[s].kind != Stage::Kind::store_once) stack.push_back(k.stages[s].expr);
    }
    while (!stack.empty()) {
      ExprId e = stack.back();
      stack.pop_back();
      if (seen[e]) continue;
      seen[e] = true;
      if (pass > 0 && computed[e] < pass && varies[e] && cost[e] > kRecomputeCost) {
        auto it = kept.find(e);
        int64_t bytes = short_row ? length * static_cast<int64_t>(dtype_size(k.exprs[e].dtype)) : 0;
        if (it == kept.end() && bytes <= room) {
          room -= bytes;
          Stage keep;
          keep.kind = short_row ? Stage::Kind::keep : Stage::Kind::store;
          keep.pass = computed[e];
          keep.expr = e;
          if (!short_row) {
            keep.target.value = b.add_value(k.exprs[e].dtype, k.axes, Home::temporary);
            keep.target.strides = b.row_major(k.axes);
          }
          it = kept.emplace(e, static_cast<uint32_t>(k.stages.size())).first;
          k.stages.push_back(std::move(keep));
        }
        if (it != kept.end()) {
          replacement[e] = 0;
          continue;
        }
      }
      computed[e] = std::min(computed[e], pass);
      for_operands(k.exprs[e], [&](ExprId o) { stack.push_back(o); });
    }
    if (std::find(replacement.begin(), replacement.end(), 0u) == replacement.end()) continue;
    // The expressions of this pass anew, in terms of what was kept.
    size_t n = k.exprs.size();
    std::vector<ExprId> to(n, kNone);
    for (ExprId i = 0; i < n; ++i) {
      if (!seen[i]) continue;
      if (i < replacement.size() && replacement[i] != kNone) {
        Expr read;
        read.dtype = k.exprs[i].dtype;
        if (short_row) {
          read.kind = ExprKind::kept;
          read.stage = kept[i];
        } else {
          read.kind = ExprKind::load;
          read.access = k.stages[kept[i]].target;
        }
        to[i] = static_cast<ExprId>(k.exprs.size());
        k.exprs.push_back(std::move(read));
      } else {
        Expr copy = k.exprs[i];
        bool changed = false;
        auto move = [&](ExprId& o) {
          if (o != kNone && to[o] != kNone && to[o] != o) {
            o = to[o];
            changed = true;
          }
        };
        for (ExprId& o : copy.operands) move(o);
        move(copy.access.mask);
        for (Access::Indexed& x : copy.access.indexed) move(x.index);
        if (!changed) {
          to[i] = i;
          continue;
        }
        to[i] = static_cast<ExprId>(k.exprs.size());
        k.exprs.push_back(std::move(copy));
      }
      // What is known of the original is true of the copy.
      cost.push_back(cost[i]);
      varies.push_back(varies[i]);
      bool read = replacement[i] != kNone;
      computed.push_back(read ? UINT32_MAX : pass);
      if (read) cost.back() = 0;
    }
    for (Stage& s : k.stages) {
      if (s.pass == pass && s.kind != Stage::Kind::store_once && s.kind != Stage::Kind::keep && to[s.expr] != kNone)
        s.expr = to[s.expr];
    }
  }
}

bool merge_axis(Builder& b, Kernel& k, size_t axis) {
  auto fits = [&](const Access& a) {
    return a.strides.empty() || a.strides[axis] == b.multiply(a.strides[axis + 1], k.axes[axis + 1]);
  };
  for (const Expr& e : k.exprs) {
    if (e.kind == ExprKind::index && (e.axis == axis || e.axis == axis + 1)) return false;
    if (e.kind == ExprKind::load && !fits(e.access)) return false;
  }
  for (const Stage& s : k.stages) {
    bool block = k.form == Form::blocks && s.kind == Stage::Kind::reduce;
    if (s.target.value != kNone && !block && !fits(s.target)) return false;
  }
  auto drop = [&](Access& a) {
    if (!a.strides.empty()) a.strides.erase(axis);
  };
  k.axes[axis] = b.multiply(k.axes[axis], k.axes[axis + 1]);
  k.axes.erase(axis + 1);
  for (Expr& e : k.exprs) {
    if (e.kind == ExprKind::load) drop(e.access);
    if (e.kind == ExprKind::index && e.axis > axis) --e.axis;
  }
  for (Stage& s : k.stages) drop(s.target);
  return true;
}

}  // namespace

bool writes_in_place(const Kernel& k, size_t i, ValueId v) {
  const Stage& stage = k.stages[i];
  if (stage.kind != Stage::Kind::store || !k.loops.empty() || !stage.target.indexed.empty() || stage.target.mask != kNone)
    return false;
  std::vector<bool> reaches(k.exprs.size(), false);
  for (size_t e = 0; e < k.exprs.size(); ++e) {
    const Expr& x = k.exprs[e];
    if (x.kind == ExprKind::load && x.access.value == v) {
      Access there = x.access;
      there.value = stage.target.value;
      if (!equal_access(there, stage.target)) return false;
      reaches[e] = true;
    }
    for_operands(x, [&](ExprId o) { reaches[e] = reaches[e] || reaches[o]; });
  }
  // All expressions of a pass are computed for an element before anything of it is stored.
  for (const Stage& later : k.stages) {
    if (later.pass > stage.pass && reaches[later.expr]) return false;
  }
  return true;
}

std::vector<bool> used_exprs(const Kernel& k, std::vector<bool>& stays) {
  std::vector<bool> used(k.exprs.size(), false);
  for (size_t i = 0; i < k.stages.size(); ++i) {
    const Stage& s = k.stages[i];
    bool target = s.target.value != kNone;
    if (!target) stays[i] = false;
    if (stays[i]) for_operands(s, [&](ExprId o) { used[o] = true; });
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = k.exprs.size(); i-- > 0;) {
      if (!used[i]) continue;
      for_operands(k.exprs[i], [&](ExprId o) { used[o] = true; });
      bool link = k.exprs[i].kind == ExprKind::reduced || k.exprs[i].kind == ExprKind::kept;
      if (link && !stays[k.exprs[i].stage]) {
        stays[k.exprs[i].stage] = true;
        for_operands(k.stages[k.exprs[i].stage], [&](ExprId o) { used[o] = true; });
        changed = true;
      }
    }
  }
  return used;
}

void remove_stages(Kernel& k, const std::vector<bool>& needed) {
  std::vector<uint32_t> to(k.stages.size(), kNone);
  std::vector<Stage> stages;
  std::vector<bool> stays = needed;
  used_exprs(k, stays);
  for (size_t i = 0; i < k.stages.size(); ++i) {
    if (!stays[i]) continue;
    to[i] = static_cast<uint32_t>(stages.size());
    stages.push_back(std::move(k.stages[i]));
  }
  k.stages = std::move(stages);
  for (Expr& e : k.exprs) {
    if (e.kind == ExprKind::reduced || e.kind == ExprKind::kept) e.stage = to[e.stage] == kNone ? 0 : to[e.stage];
  }
  drop_dead_exprs(k);
}

void finish_kernel(Builder& b, Loop& loop, bool epilogue) {
  Kernel& k = loop.kernel;
  drop_dead_exprs(k);
  if (!assign_passes(b, loop)) b.fail();
  if (k.form == Form::rows) keep_values(b, loop);
  drop_dead_exprs(k);
  order_stages(k);
  // From the last axis on, so that an axis sees its whole neighbour.
  auto join = [&](size_t from, size_t to, bool wanted) {
    for (size_t i = to; i-- > from + 1;) {
      if (!merge_axis(b, k, i - 1) && wanted) b.fail();
    }
  };
  size_t outer = loop.outer, reduced = loop.reduced, columns = loop.columns;
  join(outer + reduced, outer + reduced + columns, true);
  join(outer, outer + reduced, true);
  if (epilogue) {
    if (outer > 1) join(0, outer - 1, false);
  } else {
    join(0, outer, false);
  }
  int64_t cost = 0, times = k.loops.empty() ? 1 : std::max<int64_t>(1, k.cost);
  std::string name;
  size_t names = 0;
  for (const Expr& e : k.exprs) {
    cost += own_cost(e);
    bool row = e.kind == ExprKind::apply || e.kind == ExprKind::cast;
    if (!row || names > 4) continue;
    name += (name.empty() ? "" : "_") + std::string(op_info(e.kind == ExprKind::cast ? Op::cast : e.op).name);
    ++names;
  }
  for (const Stage& s : k.stages) {
    if (s.kind != Stage::Kind::reduce) continue;
    constexpr const char* kNames[] = {"sum", "prod", "max", "min", "sum"};
    name += (name.empty() ? "" : "_") + std::string(kNames[static_cast<int>(s.reduce)]);
    ++cost;
  }
  cost += static_cast<int64_t>(k.stages.size());
  k.cost = std::max<int64_t>(1, cost * times);
  k.name = name.empty() ? "copy" : name;
}

}  // namespace tfl::plan
