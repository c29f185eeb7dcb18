// Branches and loops: their regions become blocks of steps. Scalars are handed on in registers; tensors that a loop changes have two
// places, between which a pointer goes back and forth, or one, where each element is read before it is written.
#include <algorithm>

#include "codegen/plan/builder.h"
#include "codegen/plan/native_ops.h"

namespace tfl::plan {

namespace {

// What the steps of a block read from outside it, and all that they write.
void block_values(const Plan& plan, const plan::Block& block, std::vector<ValueId>& reads, std::unordered_set<ValueId>& writes) {
  auto read = [&](ValueId v) {
    if (v != kNone) reads.push_back(v);
  };
  writes.insert(block.params.begin(), block.params.end());
  auto kernel = [&](uint32_t index) {
    std::vector<ValueId> from, to;
    kernel_values(plan.kernels[index], from, to);
    for (ValueId v : from) read(v);
    writes.insert(to.begin(), to.end());
  };
  for (const Step& s : block.steps) {
    switch (s.kind) {
      case Step::Kind::scalar:
        for (ValueId v : s.expr.operands) read(v);
        read(s.expr.access.value);
        for (const Access::Indexed& i : s.expr.access.indexed) read(i.index);
        writes.insert(s.result);
        break;
      case Step::Kind::kernel: kernel(s.index); break;
      case Step::Kind::product: {
        const Product& p = plan.products[s.index];
        read(p.a);
        read(p.b);
        writes.insert(p.result);
        if (p.epilogue != kNone) kernel(p.epilogue);
        break;
      }
      case Step::Kind::routine: {
        std::vector<ValueId> from, to;
        routine_values(plan.routines[s.index], from, to);
        for (ValueId v : from) read(v);
        writes.insert(to.begin(), to.end());
        break;
      }
      case Step::Kind::check: read(s.condition); break;
      case Step::Kind::point:
        read(s.from);
        writes.insert(s.result);
        break;
      case Step::Kind::branch:
      case Step::Kind::loop:
        read(s.condition);
        for (ValueId v : s.initial) read(v);
        writes.insert(s.results.begin(), s.results.end());
        for (const plan::Block& inner : s.blocks) block_values(plan, inner, reads, writes);
        break;
    }
  }
  for (ValueId v : block.results) read(v);
}

Step point(ValueId pointer, ValueId to) {
  Step s;
  s.kind = Step::Kind::point;
  s.result = pointer;
  s.from = to;
  return s;
}

void rename(Access& a, ValueId from, ValueId to) {
  if (a.value == from) a.value = to;
}

// Whether the new value of a variable can be written over the old one, `current`: one kernel writes it, element by element, or one write by
// index changes the old value into it, or a branch in which each way does one of these; and nothing reads the old value afterwards.
bool fits_in_place(const Plan& plan, const plan::Block& body, ValueId current, ValueId next) {
  bool written = false;
  for (const Step& s : body.steps) {
    std::vector<ValueId> reads;
    std::unordered_set<ValueId> writes;
    plan::Block one;
    one.steps.push_back(s);
    block_values(plan, one, reads, writes);
    bool control = s.kind == Step::Kind::branch || s.kind == Step::Kind::loop || s.kind == Step::Kind::point;
    if (!writes.contains(next)) {
      if (written && std::find(reads.begin(), reads.end(), current) != reads.end()) return false;
      if (control && std::find(reads.begin(), reads.end(), next) != reads.end()) return false;
      continue;
    }
    if (written) return false;
    written = true;
    if (s.kind == Step::Kind::routine) {
      const RoutineStep& r = plan.routines[s.index];
      if (r.routine != Routine::scatter || r.at[0] != current || r.at[3] != next ||
          std::count(reads.begin(), reads.end(), current) != 1)
        return false;
    } else if (s.kind == Step::Kind::branch) {
      for (const plan::Block& inner : s.blocks) {
        if (!fits_in_place(plan, inner, current, next)) return false;
      }
    } else if (s.kind == Step::Kind::kernel) {
      const Kernel& k = plan.kernels[s.index];
      size_t stages = 0, at = 0;
      for (size_t j = 0; j < k.stages.size(); ++j) {
        if (k.stages[j].target.value != next) continue;
        ++stages;
        at = j;
      }
      if (stages != 1 || !writes_in_place(k, at, current)) return false;
    } else {
      return false;
    }
  }
  return written;
}

// A kernel that stores what it loads from the same place.
bool copies_itself(const Kernel& k) {
  if (k.stages.size() != 1 || k.stages[0].kind != Stage::Kind::store || !k.loops.empty()) return false;
  const Expr& e = k.exprs[k.stages[0].expr];
  return e.kind == ExprKind::load && equal_access(e.access, k.stages[0].target);
}

void rename(Plan& plan, plan::Block& body, ValueId from, ValueId to) {
  auto kernel = [&](Kernel& k) {
    for (Expr& e : k.exprs) rename(e.access, from, to);
    for (Stage& st : k.stages) rename(st.target, from, to);
  };
  for (Step& s : body.steps) {
    if (s.kind == Step::Kind::scalar) rename(s.expr.access, from, to);
    if (s.kind == Step::Kind::kernel) kernel(plan.kernels[s.index]);
    if (s.kind == Step::Kind::routine) std::replace(plan.routines[s.index].at.begin(), plan.routines[s.index].at.end(), from, to);
    if (s.kind == Step::Kind::branch) {
      for (plan::Block& inner : s.blocks) rename(plan, inner, from, to);
    }
    if (s.kind != Step::Kind::product) continue;
    Product& p = plan.products[s.index];
    for (ValueId* v : {&p.a, &p.b}) {
      if (*v == from) *v = to;
    }
    if (p.epilogue != kNone) kernel(plan.kernels[p.epilogue]);
  }
  std::erase_if(body.steps, [&](const Step& s) { return s.kind == Step::Kind::kernel && copies_itself(plan.kernels[s.index]); });
}

// Room for elements of an array that has none.
bool has_no_content(ir::Ref r) { return r.node->op == Op::fill && r.node->attrs.get_bool(Attr::grows); }

bool make_in_place(Plan& plan, plan::Block& body, ValueId current, ValueId next) {
  if (!fits_in_place(plan, body, current, next)) return false;
  rename(plan, body, next, current);
  return true;
}

}  // namespace

void step_reads(const Plan& plan, const Step& step, std::vector<ValueId>& out) {
  std::vector<ValueId> reads;
  std::unordered_set<ValueId> writes;
  for (const plan::Block& block : step.blocks) block_values(plan, block, reads, writes);
  for (ValueId v : reads) {
    if (!writes.contains(v) && std::find(out.begin(), out.end(), v) == out.end()) out.push_back(v);
  }
}

// Scalars that a region uses are computed before it.
void BlockBuilder::outside_scalars(const ir::Node& n, size_t first) {
  std::unordered_set<const ir::Node*> needed;
  for (const auto& region : n.regions) {
    for (const ir::Node* inner : needed_nodes(*region)) needed.insert(inner);
  }
  for (size_t i = first; i < n.operands.size(); ++i) {
    ir::Ref r = b.resolve(n.operands[i]);
    bool used = std::any_of(n.regions.begin(), n.regions.end(),
                            [&](const auto& region) { return needed.contains(region->params[i - first].get()); });
    if (used && b.dims(r).empty() && r.node->op != Op::constant) scalar_of(r);
  }
}

bool BlockBuilder::is_used(ir::Ref r) const { return uses_.contains(r) || targets_.contains(r) || needs_scalar_.contains(r); }

void BlockBuilder::make_cond(const ir::Node& n) {
  Unit u;
  u.kind = Unit::Kind::step;
  u.step.kind = Step::Kind::branch;
  u.step.location = n.location;
  u.step.condition = scalar_of(n.operands[0]);
  outside_scalars(n, 1);
  std::vector<ValueId> targets(n.types.size(), kNone);
  std::vector<bool> used(n.types.size(), false);
  for (uint32_t i = 0; i < n.types.size(); ++i) {
    ir::Ref r{const_cast<ir::Node*>(&n), i};
    if (auto place = b.in_place.find(r); place != b.in_place.end()) {
      ValueId from = b.memory_of(n.operands[place->second]);
      if (from == kNone) return b.fail();
      b.memory[r] = b.add_changed(from);
      u.changes.push_back(from);
      u.reads.push_back(from);
      u.writes.push_back(b.memory[r]);
      continue;
    }
    used[i] = is_used(r);
    if (!used[i]) continue;
    if (b.dims(r).empty()) {
      ValueId v = b.add_scalar(b.dtype(r));
      b.scalars[r] = v;
      scoped_scalars_.push_back(r);
      u.step.results.push_back(v);
      u.writes.push_back(v);
    } else {
      auto it = targets_.find(r);
      targets[i] = it != targets_.end() ? it->second : b.add_value(b.dtype(r), b.dims(r), Home::temporary);
      b.memory[r] = targets[i];
      u.writes.push_back(targets[i]);
    }
  }
  for (const auto& region : n.regions) {
    for (size_t i = 0; i < region->params.size(); ++i) b.aliases[region->param(i)] = n.operands[i + 1];
    std::vector<Wanted> wanted;
    for (uint32_t i = 0; i < n.types.size(); ++i) {
      if (used[i] || b.in_place.contains({const_cast<ir::Node*>(&n), i}))
        wanted.push_back({region->results[i], targets[i], !used[i]});
    }
    plan::Block block;
    BlockBuilder(b, *region).build(std::move(wanted), block);
    if (b.failed) return;
    u.step.blocks.push_back(std::move(block));
  }
  u.reads.push_back(u.step.condition);
  step_reads(b.plan, u.step, u.reads);
  add_unit(std::move(u));
}

void BlockBuilder::make_loop(const ir::Node& n) {
  const ir::Block &test = *n.regions[0], &body = *n.regions[1];
  size_t count = n.types.size();
  outside_scalars(n, 0);
  std::vector<bool> fixed(n.operands.size(), true);
  for (size_t i = 0; i < count; ++i) {
    ir::Ref next = body.results[i];
    fixed[i] = next == body.param(i);
  }
  for (size_t i = 0; i < n.operands.size(); ++i) {
    if (!fixed[i]) continue;
    b.aliases[test.param(i)] = b.aliases[body.param(i)] = n.operands[i];
    if (i >= count) continue;
    ir::Ref r{const_cast<ir::Node*>(&n), static_cast<uint32_t>(i)};
    b.aliases[r] = n.operands[i];
  }
  if (make_interchanged(n, fixed) || b.failed) return;

  struct Variable {
    size_t index;
    ir::Ref result;
    bool scalar;
    ValueId current = kNone, spare = kNone;
    bool in_place = false, inner = false,
         adds_zeros = false;  // it changes in place; as the variable of a loop around this one does
  };
  std::vector<Variable> variables;
  Unit u;
  u.kind = Unit::Kind::step;
  u.step.kind = Step::Kind::loop;
  u.step.limit = n.attrs.get_int(Attr::limit, -1);
  u.step.location = n.location;
  plan::Block blocks[2];
  for (size_t i = 0; i < count; ++i) {
    if (fixed[i]) continue;
    Variable v{i, {const_cast<ir::Node*>(&n), static_cast<uint32_t>(i)}, b.dims(n.operands[i]).empty(), kNone, kNone};
    DType dtype = b.dtype(n.operands[i]);
    if (v.scalar) {
      u.step.initial.push_back(scalar_of(n.operands[i]));
      size_t which = 0;
      for (const ir::Block* region : {&test, &body}) {
        ValueId p = b.add_scalar(dtype);
        blocks[which++].params.push_back(p);
        b.scalars[region->param(i)] = p;
      }
    } else if (v.inner = b.in_place.contains(v.result); v.inner || stays_in_place(n, i, v.adds_zeros)) {
      v.in_place = true;
      v.current = v.inner ? b.memory_of(n.operands[i]) : b.add_value(dtype, b.dims(v.result), Home::temporary);
      if (v.current == kNone) return b.fail();
      b.memory[test.param(i)] = b.memory[body.param(i)] = v.current;
    } else {
      v.current = b.add_value(dtype, b.dims(v.result), Home::pointer);
      v.spare = b.add_value(dtype, b.dims(v.result), Home::pointer);
      b.memory[test.param(i)] = b.memory[body.param(i)] = v.current;
    }
    variables.push_back(v);
  }
  if (b.failed) return;
  BlockBuilder(b, test).build({{test.results[0], kNone}}, blocks[0]);
  std::vector<Wanted> wanted;
  for (const Variable& v : variables) wanted.push_back({body.results[v.index], v.spare, v.in_place});
  if (b.failed) return;
  BlockBuilder(b, body).build(std::move(wanted), blocks[1]);
  if (b.failed) return;

  for (Variable& v : variables) {
    if (v.scalar) {
      ValueId end = b.add_scalar(b.dtype(v.result));
      b.scalars[v.result] = end;
      scoped_scalars_.push_back(v.result);
      u.step.results.push_back(end);
      u.writes.push_back(end);
      continue;
    }
    if (v.inner) {
      ValueId end = b.add_changed(v.current);
      b.memory[v.result] = end;
      u.writes.push_back(end);
      u.changes.push_back(v.current);
      continue;
    }
    Value& current = b.plan.values[v.current];
    if (v.in_place || make_in_place(b.plan, blocks[1], v.current, v.spare)) {
      // No pointer is needed; maybe it is the memory of a result.
      current.home = Home::temporary;
      b.memory[v.result] = v.current;
      if (auto it = targets_.find(v.result); it != targets_.end() && b.plan.values[it->second].home == Home::result) {
        current.home = Home::result;
        current.index = b.plan.values[it->second].index;
        b.memory[v.result] = it->second;
        u.writes.push_back(it->second);
      }
      ir::Ref first = b.resolve(n.operands[v.index]);
      if (v.adds_zeros)
        make_first_sum(n, v.index, v.current);
      else if (!has_no_content(first))
        make_map(first, v.current, false);
      u.writes.push_back(v.current);
      continue;
    }
    DType dtype = b.dtype(v.result);
    ValueId first = b.add_value(dtype, b.dims(v.result), Home::temporary);
    ValueId second = b.add_value(dtype, b.dims(v.result), Home::temporary);
    ValueId aside = b.add_value(dtype, b.dims(v.result), Home::pointer);
    for (ValueId p : {v.current, v.spare, aside}) b.pointees[p] = {first, second};
    make_map(b.resolve(n.operands[v.index]), first, false);
    for (auto [pointer, to] : {std::pair{v.current, first}, std::pair{v.spare, second}}) {
      Unit p;
      p.kind = Unit::Kind::step;
      p.step = point(pointer, to);
      if (to == first) p.reads.push_back(first);
      p.writes.push_back(pointer);
      add_unit(std::move(p));
    }
    blocks[1].steps.push_back(point(aside, v.current));
    blocks[1].steps.push_back(point(v.current, v.spare));
    blocks[1].steps.push_back(point(v.spare, aside));
    b.memory[v.result] = v.current;
    u.writes.push_back(v.current);
  }
  for (plan::Block& block : blocks) u.step.blocks.push_back(std::move(block));
  for (ValueId v : u.step.initial) u.reads.push_back(v);
  step_reads(b.plan, u.step, u.reads);
  for (const Variable& v : variables) {
    if (v.scalar) continue;
    u.reads.push_back(v.current);
    if (b.plan.values[v.current].home == Home::pointer) u.reads.push_back(v.spare);
  }
  add_unit(std::move(u));
}

}  // namespace tfl::plan
