// Elementwise while loops:
//
//   while test(s): x, s = f(x, c, s), g(s)      over tensors x, element by element
//
// becomes one kernel, in which each element goes through all iterations while it is in a register:
//
//   for each element i: x, s = x0[i], s0;  while test(s): x, s = f(x, c[i], s), g(s)
//
// The condition must not depend on elements. What else the loop gives, the scalars, is computed by a loop of the driver.
#include <algorithm>

#include "codegen/plan/builder.h"
#include "codegen/plan/native_ops.h"

namespace tfl::plan {

namespace {

constexpr size_t kMostVariables = 16;
constexpr int64_t kIterations = 32;  // that a loop is taken to have

}  // namespace

bool BlockBuilder::make_interchanged(const ir::Node& n, const std::vector<bool>& fixed) {
  const ir::Block &test = *n.regions[0], &body = *n.regions[1];
  ir::Node* node = const_cast<ir::Node*>(&n);
  std::vector<uint32_t> tensors, scalars;
  Sizes axes;
  for (uint32_t i = 0; i < n.types.size(); ++i) {
    if (fixed[i]) continue;
    const Sizes& dims = b.dims(n.operands[i]);
    if (dims.empty()) {
      scalars.push_back(i);
      continue;
    }
    if (!tensors.empty() && !b.same(without_ones(dims), axes)) return false;
    axes = without_ones(dims);
    tensors.push_back(i);
  }
  if (tensors.empty() || tensors.size() + scalars.size() > kMostVariables) return false;
  auto simple = [&](const ir::Block& block) {
    std::unordered_set<const ir::Node*> needed = needed_nodes(block);
    for (const auto& inner : block.nodes) {
      if (!needed.contains(inner.get()) || inner->op == Op::constant) continue;
      if (!is_deferrable(*inner) || may_raise(b, *inner)) return false;
      if (inner->op == Op::gather || is_strided(inner->op)) return false;
      // Scalars must not look at elements.
      for (ir::Ref o : inner->operands) {
        if (b.dims({inner.get(), 0}).empty() && !b.dims(o).empty() && b.resolve(o).node->block == &block) return false;
      }
    }
    return true;
  };
  if (!simple(test) || !simple(body)) return false;

  Loop loop;
  loop.kernel.form = Form::map;
  loop.kernel.axes = axes;
  if (loop.kernel.axes.empty()) loop.kernel.axes.push_back(1);
  loop.outer = loop.kernel.axes.size();
  Expressions e(*this, &loop.kernel);
  KernelLoop repeat;
  repeat.limit = n.attrs.get_int(Attr::limit, -1);
  std::vector<uint32_t> variables = tensors;
  variables.insert(variables.end(), scalars.begin(), scalars.end());
  for (uint32_t i : variables) {
    const Sizes& dims = b.dims(n.operands[i]);
    repeat.variables.push_back({e.element(n.operands[i], whole(loop, dims)), kNone, b.dtype(n.operands[i])});
  }
  e.inside = {&test, &body};
  for (size_t v = 0; v < variables.size(); ++v) {
    Expr variable;
    variable.kind = ExprKind::variable;
    variable.dtype = repeat.variables[v].dtype;
    variable.axis = static_cast<uint32_t>(v);
    ExprId id = e.add(std::move(variable));
    e.given[test.param(variables[v])] = e.given[body.param(variables[v])] = id;
  }
  repeat.condition = e.element(test.results[0], {});
  for (size_t v = 0; v < variables.size(); ++v) {
    const Sizes& dims = b.dims(n.operands[variables[v]]);
    repeat.variables[v].next = e.element(body.results[variables[v]], whole(loop, dims));
  }
  if (b.failed || e.displaced || loop.kernel.exprs.size() > kMostExprs) return false;
  bool any = false;
  for (size_t v = 0; v < tensors.size(); ++v) {
    ir::Ref r{node, tensors[v]};
    if (!is_used(r)) continue;
    any = true;
    Expr end;
    end.kind = ExprKind::looped;
    end.dtype = repeat.variables[v].dtype;
    end.axis = static_cast<uint32_t>(v);
    auto target = targets_.find(r);
    const Sizes& dims = b.dims(r);
    ValueId to = target != targets_.end() ? target->second : b.add_value(b.dtype(r), dims, Home::temporary);
    b.memory[r] = to;
    Stage s;
    s.expr = e.add(std::move(end));
    s.target.value = to;
    s.target.strides = b.row_major(loop.kernel.axes);
    loop.kernel.stages.push_back(std::move(s));
  }
  loop.kernel.loops.push_back(std::move(repeat));
  loop.kernel.cost = kIterations;
  if (any) add_kernel(std::move(loop), std::move(e.tokens));

  bool wanted_scalars = std::any_of(scalars.begin(), scalars.end(), [&](uint32_t i) { return is_used({node, i}); });
  if (!wanted_scalars) return true;
  Unit u;
  u.kind = Unit::Kind::step;
  u.step.kind = Step::Kind::loop;
  u.step.limit = n.attrs.get_int(Attr::limit, -1);
  u.step.location = n.location;
  u.step.blocks.resize(2);
  std::vector<Wanted> wanted;
  for (uint32_t i : scalars) {
    u.step.initial.push_back(scalar_of(n.operands[i]));
    size_t which = 0;
    for (const ir::Block* region : {&test, &body}) {
      ValueId p = b.add_scalar(b.dtype(n.operands[i]));
      u.step.blocks[which++].params.push_back(p);
      b.scalars[region->param(i)] = p;
    }
    wanted.push_back({body.results[i], kNone});
    ir::Ref r{node, i};
    ValueId end = b.add_scalar(b.dtype(r));
    b.scalars[r] = end;
    scoped_scalars_.push_back(r);
    u.step.results.push_back(end);
    u.writes.push_back(end);
  }
  BlockBuilder(b, test).build({{test.results[0], kNone}}, u.step.blocks[0]);
  BlockBuilder(b, body).build(std::move(wanted), u.step.blocks[1]);
  if (b.failed) return true;
  for (ValueId v : u.step.initial) u.reads.push_back(v);
  step_reads(b.plan, u.step, u.reads);
  add_unit(std::move(u));
  return true;
}

}  // namespace tfl::plan
