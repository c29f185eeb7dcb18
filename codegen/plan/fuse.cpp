// Which units become one kernel, what stays in memory, and the order of the steps. Units form a graph by the values that they read
// and write; two may be joined when no third one stands between them.
#include <algorithm>
#include <cstring>

#include "codegen/plan/builder.h"
#include "codegen/plan/parallel_loops.h"
#include "runtime/kernels/elementwise/elementwise_checks.h"
#include "runtime/tensor/element.h"

namespace tfl::plan {

namespace {

bool shares(const std::vector<ValueId>& a, const std::vector<ValueId>& b) {
  return std::any_of(a.begin(), a.end(), [&](ValueId v) { return std::find(b.begin(), b.end(), v) != b.end(); });
}

void take_marks(const Unit& from, Unit& to) {
  to.tokens.insert(to.tokens.end(), from.tokens.begin(), from.tokens.end());
  to.changes.insert(to.changes.end(), from.changes.begin(), from.changes.end());
  to.marks.insert(to.marks.end(), from.marks.begin(), from.marks.end());
}

constexpr size_t kWindow = 48;    // how far back a partner is looked for
constexpr int64_t kShortRow = 8;  // rows of fewer elements are not worth taking maps in that only share an operand

}  // namespace

void BlockBuilder::find_ancestors() {
  size_t n = units_.size(), words = (n + 63) / 64;
  ancestors_.assign(n, std::vector<uint64_t>(words, 0));
  std::unordered_map<ValueId, SmallVec<uint32_t, 2>> writers;
  for (size_t i = 0; i < n; ++i) {
    if (units_[i].dead) continue;
    for (ValueId v : units_[i].writes) writers[v].push_back(static_cast<uint32_t>(i));
  }
  // Units were made after those that they read from.
  for (size_t i = 0; i < n; ++i) {
    if (units_[i].dead) continue;
    for (ValueId v : units_[i].reads) {
      auto it = writers.find(v);
      if (it == writers.end()) continue;
      for (uint32_t w : it->second) {
        if (w == i) continue;
        for (size_t k = 0; k < words; ++k) ancestors_[i][k] |= ancestors_[w][k];
        ancestors_[i][w / 64] |= uint64_t{1} << (w % 64);
      }
    }
  }
}

bool BlockBuilder::can_join(size_t x, size_t y) const {
  for (size_t k = 0; k < units_.size(); ++k) {
    if (units_[k].dead || k == x || k == y) continue;
    if ((depends(k, x) && depends(y, k)) || (depends(k, y) && depends(x, k))) return false;
  }
  return true;
}

void BlockBuilder::join_ancestors(size_t gone, size_t into) {
  auto& joined = ancestors_[into];
  for (size_t k = 0; k < joined.size(); ++k) joined[k] |= ancestors_[gone][k];
  for (size_t i : {gone, into}) joined[i / 64] &= ~(uint64_t{1} << (i % 64));
  for (size_t i = 0; i < units_.size(); ++i) {
    if (i == into || units_[i].dead || !(depends(i, gone) || depends(i, into))) continue;
    for (size_t k = 0; k < joined.size(); ++k) ancestors_[i][k] |= joined[k];
    ancestors_[i][into / 64] |= uint64_t{1} << (into % 64);
  }
}

void BlockBuilder::fuse() {
  find_ancestors();
  auto try_join = [&](size_t x, size_t y) {
    size_t first = x, second = y;
    if (depends(x, y)) std::swap(first, second);
    if (shares(units_[x].reads, units_[y].changes) || shares(units_[y].reads, units_[x].changes) || !can_join(x, y)) return false;
    Loop merged = units_[first].loop;
    if (!merge_loops(b, merged, units_[second].loop)) return false;
    Unit& into = units_[y];
    into.loop = std::move(merged);
    take_marks(units_[x], into);
    units_[x].dead = true;
    refresh(into);
    join_ancestors(x, y);
    return true;
  };
  auto short_rows = [](const Loop& l) {
    return l.kernel.form == Form::rows && is_known(l.kernel.axes.back()) && l.kernel.axes.back() < kShortRow;
  };
  // Producers and consumers first, then kernels that only have their axes in common.
  for (bool related : {true, false}) {
    for (size_t y = 0; y < units_.size(); ++y) {
      if (units_[y].dead || units_[y].kind != Unit::Kind::kernel) continue;
      size_t looked = 0;
      for (size_t x = y; x-- > 0 && looked < kWindow;) {
        if (units_[x].dead || units_[x].kind != Unit::Kind::kernel) continue;
        ++looked;
        const Unit &p = units_[x], &c = units_[y];
        bool flows = shares(p.writes, c.reads) || shares(c.writes, p.reads);
        if (flows != related) continue;
        bool maps = p.loop.kernel.form == Form::map && c.loop.kernel.form == Form::map;
        if (!related && !maps && (!shares(p.reads, c.reads) || short_rows(p.loop) || short_rows(c.loop))) continue;
        if (try_join(x, y)) x = y;
      }
    }
  }
}

// A map over the elements of a product's result runs on its rows as they are finished.
void BlockBuilder::attach_epilogues() {
  for (size_t p = 0; p < units_.size(); ++p) {
    Unit& unit = units_[p];
    if (unit.dead || unit.kind != Unit::Kind::product || unit.product.batch != 1) continue;
    if (unit.product.window != kNone && !tells_rows(b.plan.windows[unit.product.window].kind)) continue;
    Sizes matrix = without_ones({unit.product.m, unit.product.n});
    for (size_t k = p + 1; k < units_.size() && !unit.epilogue; ++k) {
      Unit& map = units_[k];
      if (map.dead || map.kind != Unit::Kind::kernel || map.loop.kernel.form != Form::map || !map.loop.kernel.loops.empty())
        continue;
      if (std::find(map.reads.begin(), map.reads.end(), unit.product.result) == map.reads.end() ||
          shares(unit.reads, map.changes) || !can_join(p, k))
        continue;
      Kernel& kernel = map.loop.kernel;
      // Its axes are those of the result, whose rows may be several axes.
      if (kernel.axes.empty() || !b.same(b.count(kernel.axes), b.multiply(unit.product.m, unit.product.n))) continue;
      bool flat = is_one(unit.product.m) || is_one(unit.product.n);
      if (flat ? !(b.same(kernel.axes, matrix) || matrix.empty())
               : kernel.axes.size() < 2 || !b.same(kernel.axes.back(), unit.product.n))
        continue;
      Sizes dense = b.row_major(kernel.axes);
      bool aligned = true;
      for (const Expr& e : kernel.exprs) {
        if (e.kind != ExprKind::load || e.access.value != unit.product.result) continue;
        Access plain;
        plain.value = e.access.value;
        plain.strides = dense;
        aligned = aligned && equal_access(plain, e.access);
      }
      if (!aligned) continue;
      Loop loop = map.loop;
      finish_kernel(b, loop, true);
      Kernel& made = loop.kernel;
      auto insert_axis = [&](size_t at) {
        made.axes.insert(at, 1);
        for (Expr& e : made.exprs) {
          if (e.kind == ExprKind::load) e.access.strides.insert(at, 0);
          if (e.kind == ExprKind::index && e.axis >= at) ++e.axis;
        }
        for (Stage& s : made.stages) s.target.strides.insert(at, 0);
      };
      if (made.axes.size() == 1 && !(is_one(unit.product.m) && is_one(unit.product.n)))
        insert_axis(is_one(unit.product.m) ? 0 : 1);
      else if (made.axes.size() == 1)
        insert_axis(0);
      if (made.axes.size() != 2) continue;
      unit.loop = std::move(loop);
      unit.epilogue = true;
      take_marks(map, unit);
      map.dead = true;
      refresh(unit);
      // Its own result is no operand any more.
      std::erase(unit.reads, unit.product.result);
      join_ancestors(k, p);
    }
  }
}

namespace {

// Whether `e` is a row that may refuse its second operand. `operand` finds an operand: a constant's expression, or null.
template <typename Operand, typename Type>
bool is_refusing(const Expr& e, Operand operand, Type type) {
  if (e.kind != ExprKind::apply || !row_has_checks(e.op) || !is_integer(type(e.operands[1]))) return false;
  const Expr* y = operand(e.operands[1]);
  if (!y) return true;
  std::byte bytes[sizeof y->bits];
  std::memcpy(bytes, &y->bits, sizeof bytes);
  return refuses(e.op, y->dtype, load_int(y->dtype, bytes));
}

// Stages that nobody reads stay where they alone run what may refuse elements.
void keep_refusals(const Kernel& k, std::vector<bool>& needed) {
  std::vector<bool> refusing(k.exprs.size(), false);
  bool any = false;
  for (size_t i = 0; i < k.exprs.size(); ++i) {
    auto operand = [&](ExprId o) { return k.exprs[o].kind == ExprKind::constant ? &k.exprs[o] : nullptr; };
    refusing[i] = is_refusing(k.exprs[i], operand, [&](ExprId o) { return k.exprs[o].dtype; });
    any = any || refusing[i];
  }
  if (!any) return;
  std::vector<bool> all(k.stages.size(), true);
  const std::vector<bool> before = used_exprs(k, all);
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) continue;
    std::vector<bool> others = needed;
    for (size_t j = i + 1; j < others.size(); ++j) others[j] = true;
    const std::vector<bool> used = used_exprs(k, others);
    for (size_t e = 0; e < refusing.size(); ++e) needed[i] = needed[i] || (refusing[e] && before[e] && !used[e]);
  }
}

}  // namespace

void BlockBuilder::drop_dead_stores() {
  std::unordered_map<ValueId, const Expr*> constants;
  for (const Unit& u : units_) {
    if (u.kind == Unit::Kind::step && u.step.kind == Step::Kind::scalar && u.step.expr.kind == ExprKind::constant)
      constants[u.step.result] = &u.step.expr;
  }
  auto constant = [&](ValueId v) {
    auto found = constants.find(v);
    return found == constants.end() ? nullptr : found->second;
  };
  auto type = [&](ValueId v) { return b.plan.values[v].dtype; };
  for (bool changed = true; changed;) {
    changed = false;
    std::unordered_set<ValueId> read = kept_;
    for (const Unit& u : units_) {
      if (!u.dead) read.insert(u.reads.begin(), u.reads.end());
    }
    for (Unit& u : units_) {
      if (u.dead) continue;
      if (u.kind == Unit::Kind::step) {
        if (u.step.kind == Step::Kind::scalar && !read.contains(u.step.result) && !is_refusing(u.step.expr, constant, type)) {
          u.dead = true;
          changed = true;
        }
        continue;
      }
      if (u.kind == Unit::Kind::product && !u.epilogue) continue;
      Kernel& k = u.loop.kernel;
      std::vector<bool> needed(k.stages.size(), true);
      for (size_t i = 0; i < k.stages.size(); ++i) {
        const Stage& s = k.stages[i];
        if (s.target.value != kNone && !read.contains(s.target.value)) needed[i] = false;
      }
      keep_refusals(k, needed);
      if (std::find(needed.begin(), needed.end(), false) == needed.end()) continue;
      changed = true;
      remove_stages(k, needed);
      refresh(u);
      if (u.kind == Unit::Kind::product) std::erase(u.reads, u.product.result);
      if (k.stages.empty() && u.kind == Unit::Kind::kernel) u.dead = true;
    }
  }
}

namespace {

// Of what it stores last.
uint32_t location_of(const Kernel& k) {
  for (size_t i = k.stages.size(); i-- > 0;) {
    if (uint32_t at = k.exprs[k.stages[i].expr].location) return at;
  }
  return 0;
}

}  // namespace

bool BlockBuilder::is_ready(const Unit& u, const std::unordered_map<ValueId, uint32_t>& missing) const {
  return std::all_of(u.reads.begin(), u.reads.end(), [&](ValueId v) {
    auto it = missing.find(v);
    bool own = std::find(u.writes.begin(), u.writes.end(), v) != u.writes.end();
    return it == missing.end() || it->second == (own ? 1 : 0);
  });
}

void BlockBuilder::emit_unit(Unit& u, plan::Block& out) {
  Step step = std::move(u.step);
  auto add_kernel = [&](bool epilogue) {
    if (!epilogue) finish_kernel(b, u.loop, false);
    b.plan.kernels.push_back(std::move(u.loop.kernel));
    return static_cast<uint32_t>(b.plan.kernels.size() - 1);
  };
  if (u.kind == Unit::Kind::kernel) {
    step.kind = Step::Kind::kernel;
    step.index = add_kernel(false);
    step.location = location_of(b.plan.kernels.back());
  } else if (u.kind == Unit::Kind::product) {
    step.kind = Step::Kind::product;
    if (u.epilogue && !u.loop.kernel.stages.empty()) u.product.epilogue = add_kernel(true);
    step.index = static_cast<uint32_t>(b.plan.products.size());
    b.plan.products.push_back(u.product);
  }
  out.steps.push_back(std::move(step));
}

// Those whose operands stand, the earliest made first; but a write by index comes after all that may read the old value, and long loops wait for
// one another, so that they can run at the same time.
void BlockBuilder::emit(plan::Block& out) {
  std::unordered_map<ValueId, uint32_t> missing;  // writers that have not been emitted
  std::vector<bool> done(units_.size(), false), delayed(units_.size(), false);
  size_t left = 0, loops = 0;
  for (size_t i = 0; i < units_.size(); ++i) {
    const Unit& u = units_[i];
    done[i] = u.dead;
    if (u.dead) continue;
    ++left;
    for (ValueId v : u.writes) ++missing[v];
    delayed[i] = &block_ == &b.cluster.body && u.kind == Unit::Kind::step && is_long_loop(b.plan, u.step);
    loops += delayed[i];
  }
  if (loops < 2) delayed.assign(units_.size(), false);
  for (size_t first = 0; left > 0;) {
    size_t next = units_.size(), waiting = next;
    std::vector<size_t> long_loops;
    for (size_t i = first; i < units_.size() && next == units_.size(); ++i) {
      const Unit& u = units_[i];
      if (done[i]) {
        if (i == first) ++first;
        continue;
      }
      if (!is_ready(u, missing)) continue;
      if (delayed[i])
        long_loops.push_back(i);
      else if (u.step.kind == Step::Kind::routine && b.plan.routines[u.step.index].routine == Routine::scatter)
        waiting = std::min(waiting, i);
      else
        next = i;
    }
    if (next == units_.size() && long_loops.empty()) next = waiting;
    if (next != units_.size()) long_loops = {next};
    if (long_loops.empty()) return b.fail();
    const size_t begin = out.steps.size();
    for (size_t i : long_loops) {
      done[i] = true;
      --left;
      for (ValueId v : units_[i].writes) --missing[v];
      emit_unit(units_[i], out);
    }
    if (long_loops.size() > 1) run_beside(out, begin);
  }
}

// Scalars that pass between the loops and what stands around them go through the frame.
void BlockBuilder::run_beside(plan::Block& out, size_t begin) {
  for (size_t i = begin; i < out.steps.size(); ++i) {
    Step& s = out.steps[i];
    s.beside = (i - begin) % kMostBeside != 0;
    std::vector<ValueId> shared = s.initial;
    shared.insert(shared.end(), s.results.begin(), s.results.end());
    step_reads(b.plan, s, shared);
    for (ValueId v : shared) {
      if (b.plan.values[v].home == Home::scalar) b.word_of(v);
    }
  }
}

}  // namespace tfl::plan
