// From the nodes of a block to units: what is kept in memory, what is computed inside its users, and in which kernel.
#include <algorithm>

#include "codegen/plan/builder.h"
#include "codegen/plan/native_ops.h"
#include "runtime/ops/facts.h"

namespace tfl::plan {

namespace {

bool is_control_flow(Op op) { return op_facts(op).regions; }
bool is_arithmetic(const ir::Node& n) {
  return op_info(n.op).kind == OpKind::Elementwise || n.op == Op::cast || n.op == Op::bitcast;
}
// Gives memory of its own, always.
bool is_material(const ir::Node& n) {
  switch (op_facts(n.op).form) {
    case PlanForm::reduction:
    case PlanForm::product:
    case PlanForm::window:
    case PlanForm::routine:
    case PlanForm::write: return true;
    case PlanForm::none:
    case PlanForm::control:
    case PlanForm::elementwise:
    case PlanForm::ordered_view:
    case PlanForm::view:
    case PlanForm::deferred: return false;
  }
  return false;
}

size_t axes_of(const Sizes& dims) { return without_ones(dims).size(); }

}  // namespace

void BlockBuilder::pin(ir::Ref r) {
  if (b.memory.contains(r)) return;
  auto target = targets_.find(r);
  ValueId v = target != targets_.end() ? target->second : b.add_value(b.dtype(r), b.dims(r), Home::temporary);
  pinned_[r] = true;
  b.memory[r] = v;
}

void BlockBuilder::need_memory(ir::Ref r) {
  for (r = b.resolve(r); keeps_order(*r.node) && !b.memory.contains(r); r = b.resolve(r.node->operands[0])) {
  }
  if (r.node->op == Op::constant || r.node->op == Op::parameter || is_control_flow(r.node->op)) return;
  if (r.node->block != &block_) return;  // what a region uses has memory already
  pin(r);
}

bool BlockBuilder::rows_scalar(ir::Ref r) {
  r = b.resolve(r);
  auto it = rows_scalar_.find(r);
  return it != rows_scalar_.end() && it->second;
}

bool BlockBuilder::is_scalar(ir::Ref r) {
  r = b.resolve(r);
  if (b.scalars.contains(r)) return true;
  return b.dims(r).empty() && is_arithmetic(*r.node) && !rows_scalar(r) && !pinned_.contains(r);
}

void BlockBuilder::analyse(const std::vector<Wanted>& wanted) {
  find_live(wanted);
  std::vector<ir::Ref> refused;  // of which nobody else computes what is refused
  for (const auto& n : block_.nodes) {
    if (refusing_.contains(n.get()) && !is_control_flow(n->op) && !is_material(*n)) refused.push_back({n.get(), 0});
  }
  for (ir::Ref r : refused) {
    if (b.dims(r).empty()) needs_scalar_[r] = true;
  }
  for (const Wanted& w : wanted) ++uses_[b.resolve(w.ref)];
  // Results go straight to where they are wanted, unless somebody else already has a claim on what holds them.
  for (const Wanted& w : wanted) {
    if (w.in_place) continue;
    ir::Ref r = b.resolve(w.ref);
    if (w.target == kNone) {
      needs_scalar_[r] = true;
      continue;
    }
    for (; keeps_order(*r.node) && !b.memory.contains(r); r = b.resolve(r.node->operands[0])) {
    }
    bool here = r.node->block == &block_ && r.node->op != Op::constant && r.node->op != Op::parameter && !b.memory.contains(r) &&
                !b.scalars.contains(r);
    if (here && !(is_control_flow(r.node->op) && b.dims(r).empty())) targets_.try_emplace(r, w.target);
  }
  auto mark = [&](ir::Ref r) { needs_scalar_[b.resolve(r)] = true; };
  for (size_t i = block_.nodes.size(); i-- > 0;) {
    const ir::Node& n = *block_.nodes[i];
    if (!live_.contains(&n)) continue;
    for (size_t k = 0; k < n.operands.size(); ++k) {
      if (!n.operands[k].type().is_tensor()) continue;
      bool control = is_control_flow(n.op);
      if (n.op == Op::check && k > 0) continue;
      if (!control && !reads_elements(n, k)) continue;
      if (control && !(k == 0 && n.op != Op::while_loop) && !live_.contains(n.operands[k].node)) continue;
      ir::Ref operand = b.resolve(n.operands[k]);
      ++uses_[operand];
      if ((control || n.op == Op::check) && b.dims(operand).empty()) mark(operand);
      if (n.op == Op::gather && k == 1 && b.dims(operand).empty()) mark(operand);
      if (is_arithmetic(n) && needs_scalar_.contains({const_cast<ir::Node*>(&n), 0})) mark(operand);
    }
    if (is_strided(n.op)) {
      for (const Slice::Axis& a : b.shapes.slice(n).axes) {
        if (a.index) mark(a.index);
      }
    }
  }
  for (const auto& node : block_.nodes) {
    const ir::Node& n = *node;
    if (!live_.contains(&n) || n.op == Op::constant || n.op == Op::check) continue;
    if (is_control_flow(n.op)) {
      for (size_t i = 0; i < n.operands.size(); ++i) {
        ir::Ref r = b.resolve(n.operands[i]);
        if (!live_.contains(n.operands[i].node) || b.dims(r).empty()) continue;
        // The first value of a variable is computed where the variable lies.
        auto cost = costs_.find(r);
        bool changes = n.op == Op::while_loop && i < n.types.size() && !(n.regions[1]->results[i] == n.regions[1]->param(i));
        bool cheap = changes && cost != costs_.end() && cost->second <= kRecomputeCost;
        if (!cheap) need_memory(r);
      }
      continue;
    }
    if (op_facts(n.op).form == PlanForm::product) {
      need_memory(n.operands[0]);
      need_memory(n.operands[1]);
    }
    if (is_routine(n.op) || is_window(n.op)) {
      for (size_t k = 0; k < n.operands.size(); ++k) {
        if (reads_elements(n, k) && axes_of(b.dims(n.operands[k])) > 0) need_memory(n.operands[k]);
      }
    }
    int64_t inherited = 0;
    for (size_t k = 0; k < n.operands.size(); ++k) {
      if (!reads_elements(n, k)) continue;
      ir::Ref operand = b.resolve(n.operands[k]);
      auto cost = costs_.find(operand);
      if (cost == costs_.end() || b.memory.contains(operand)) continue;
      bool spreads = !is_reduction(n.op) && !b.dims(operand).empty() && n.op != Op::concat && n.op != Op::stack &&
                     axes_of(b.dims(operand)) < axes_of(b.dims({node.get(), 0}));
      if (cost->second > kRecomputeCost && spreads) {
        need_memory(operand);
        continue;
      }
      inherited += cost->second;
    }
    for (uint32_t i = 0; i < n.types.size(); ++i) {
      ir::Ref r{node.get(), i};
      if (is_material(n)) {
        pin(r);
        continue;
      }
      const Sizes& dims = b.dims(r);
      if (dims.empty() && is_arithmetic(n)) {
        // Made from the short reduction of everything: a kernel that needs it can compute it on the way.
        bool follows_rows = false;
        for (ir::Ref o : n.operands) {
          ir::Ref x = b.resolve(o);
          if (!b.dims(x).empty()) continue;
          if (rows_scalar(x)) follows_rows = true;
          if (!is_reduction(x.node->op) || !pinned_.contains(x)) continue;
          Size all = b.count(b.dims(x.node->operands[0]));
          follows_rows = follows_rows || (is_known(all) && all <= kShortTotal);
        }
        rows_scalar_[r] = follows_rows && !needs_scalar_.contains(r) && !may_raise(b, n);
        if (!rows_scalar_[r]) continue;
      }
      costs_[r] = (is_view(n) ? 0 : cost_of(n.op)) + inherited;
      if (n.op == Op::roll || (n.op == Op::reshape && !b.splits_only(b.dims(n.operands[0]), dims))) need_memory(n.operands[0]);
      if ((uses_[r] > 1 && costs_[r] > kRecomputeCost) || costs_[r] > 400 || (may_raise(b, n) && !dims.empty())) need_memory(r);
    }
  }
  for (const auto& [r, target] : targets_) {
    if (!is_control_flow(r.node->op)) pin(r);
  }
  for (ir::Ref r : refused) {
    if (!b.dims(r).empty()) pin(r);
  }
}

// Of what the block needs: what is wanted here, has effects, or may refuse the elements that it is given, and all of which these take
// elements. Of other values only the sizes are taken, which are known without them. What refuses elements is run in any case, because
// its error is that of a graph that runs node by node.
void BlockBuilder::find_live(const std::vector<Wanted>& wanted) {
  std::unordered_set<const ir::Node*> needed = needed_nodes(block_);
  for (const Wanted& w : wanted) live_.insert(w.ref.node);
  for (size_t i = block_.nodes.size(); i-- > 0;) {
    const ir::Node& n = *block_.nodes[i];
    if (!needed.contains(&n)) continue;
    if (!live_.contains(&n) && n.op != Op::check && !ir::effects_of(n).writes) {
      if (!may_refuse(b, n)) continue;
      refusing_.insert(&n);
    }
    live_.insert(&n);
    for (size_t k = 0; k < n.operands.size() && !(n.op == Op::check && k > 0); ++k) {
      if (is_control_flow(n.op) || reads_elements(n, k)) live_.insert(n.operands[k].node);
    }
    if (!is_strided(n.op)) continue;
    for (const Slice::Axis& a : b.shapes.slice(n).axes) {
      if (a.index) live_.insert(a.index.node);
    }
  }
  std::erase_if(live_, [&](const ir::Node* n) { return !needed.contains(n); });
}

void BlockBuilder::build(std::vector<Wanted> wanted, plan::Block& out) {
  analyse(wanted);
  for (const auto& node : block_.nodes) {
    if (b.failed) return;
    if (live_.contains(node.get())) make_node(*node);
  }
  for (const Wanted& w : wanted) {
    if (b.failed) return;
    if (w.in_place) {
      kept_.insert(b.memory_of(w.ref));
      continue;
    }
    if (w.target == kNone) {
      out.results.push_back(scalar_of(w.ref));
      kept_.insert(out.results.back());
      continue;
    }
    kept_.insert(w.target);
    if (b.memory_of(w.ref) != w.target) make_map(b.resolve(w.ref), w.target, false);
  }
  if (b.failed) return;
  order_changes();
  fuse();
  attach_epilogues();
  drop_dead_stores();
  emit(out);
  for (ir::Ref r : scoped_scalars_) b.scalars.erase(r);
}

void BlockBuilder::make_node(const ir::Node& n) {
  if (n.op == Op::check) return make_check(n);
  if (is_control_flow(n.op)) return n.op == Op::while_loop ? make_loop(n) : make_cond(n);
  if (b.in_place.contains({const_cast<ir::Node*>(&n), 0})) return change_part(n);
  if (b.absorbed.contains(&n)) return;
  if (is_routine(n.op)) return make_routine(n);
  if (ir::Ref r{const_cast<ir::Node*>(&n), 0}; refusing_.contains(&n) && b.dims(r).empty()) scalar_of(r);
  for (uint32_t i = 0; i < n.types.size(); ++i) {
    ir::Ref r{const_cast<ir::Node*>(&n), i};
    if (!pinned_.contains(r)) continue;
    ValueId target = b.memory[r];
    switch (op_facts(n.op).form) {
      case PlanForm::reduction: make_reduction(n, target); break;
      case PlanForm::product: make_product(n, target); break;
      case PlanForm::window: make_window(n, target); break;
      case PlanForm::write: n.op == Op::tile ? make_tile(n, target) : make_parts(n, target); break;
      case PlanForm::none:
      case PlanForm::control:
      case PlanForm::elementwise:
      case PlanForm::ordered_view:
      case PlanForm::view:
      case PlanForm::deferred:
      case PlanForm::routine: make_map(r, target, true); break;
    }
  }
}

Unit& BlockBuilder::add_unit(Unit u) {
  units_.push_back(std::move(u));
  return units_.back();
}

void BlockBuilder::add_product(const Product& p, uint32_t location) {
  Unit u;
  u.step.location = location;
  u.kind = Unit::Kind::product;
  u.product = p;
  refresh(u);
  add_unit(std::move(u));
}

void BlockBuilder::refresh(Unit& u) {
  if (u.kind == Unit::Kind::step) return;
  u.reads.clear();
  u.writes.clear();
  if (u.kind == Unit::Kind::kernel || u.epilogue) kernel_values(u.loop.kernel, u.reads, u.writes);
  if (u.kind == Unit::Kind::product) {
    u.reads.push_back(u.product.a);
    u.reads.push_back(u.product.b);
    u.writes.push_back(u.product.result);
  }
  u.reads.insert(u.reads.end(), u.tokens.begin(), u.tokens.end());
  u.writes.insert(u.writes.end(), u.marks.begin(), u.marks.end());
}

void BlockBuilder::add_kernel(Loop loop, std::vector<ValueId> tokens) {
  Unit u;
  u.loop = std::move(loop);
  u.tokens = std::move(tokens);
  refresh(u);
  add_unit(std::move(u));
}

ValueId BlockBuilder::emit_scalar(Expr e) {
  if (e.kind == ExprKind::value) return e.access.value;
  auto [it, fresh] = driver_exprs_.try_emplace(expr_key(e), kNone);
  if (!fresh) return it->second;
  ValueId v = b.add_scalar(e.dtype);
  it->second = v;
  Unit u;
  u.kind = Unit::Kind::step;
  u.step.kind = Step::Kind::scalar;
  u.step.result = v;
  u.step.location = e.location;
  for (ExprId o : e.operands) u.reads.push_back(o);
  if (e.access.value != kNone) u.reads.push_back(e.access.value);
  for (const Access::Indexed& i : e.access.indexed) u.reads.push_back(i.index);
  u.writes.push_back(v);
  u.step.expr = std::move(e);
  add_unit(std::move(u));
  return v;
}

// A scalar's operands come first, one after the other: a chain of thousands would not fit on the stack.
void BlockBuilder::scalars_before(ir::Ref r) {
  std::vector<ir::Ref> stack{r};
  while (!stack.empty() && !b.failed) {
    ir::Ref top = stack.back();
    size_t size = stack.size();
    if (is_arithmetic(*top.node)) {
      for (ir::Ref o : top.node->operands) {
        o = b.resolve(o);
        if (o.node->op != Op::constant && !b.scalars.contains(o) && is_scalar(o)) stack.push_back(o);
      }
    }
    if (stack.size() > size) continue;
    stack.pop_back();
    if (top != r) scalar_of(top);
  }
}

ValueId BlockBuilder::scalar_of(ir::Ref r) {
  r = b.resolve(r);
  if (auto it = b.scalars.find(r); it != b.scalars.end()) return it->second;
  scalars_before(r);
  Expressions driver(*this, nullptr);
  ValueId v;
  uint64_t bits;
  if (r.node->op == Op::constant && splat_bits(r.node->constant, bits))
    v = driver.constant(b.dtype(r), bits);
  else if (ValueId m = b.memory_of(r); m != kNone)
    v = driver.load(m, b.dims(r), Place(b.dims(r).size(), Index{}), kNone);
  else if (r.node->op == Op::parameter)
    v = kNone;
  else
    v = driver.compute(r, {});
  if (v == kNone || b.failed) {
    b.fail();
    return b.add_scalar(b.dtype(r));
  }
  // A load behind a check reads the check's token.
  for (ValueId token : driver.tokens) {
    for (Unit& u : units_) {
      if (std::find(u.writes.begin(), u.writes.end(), v) != u.writes.end()) {
        u.reads.push_back(token);
        u.tokens.push_back(token);
      }
    }
  }
  b.scalars[r] = v;
  scoped_scalars_.push_back(r);
  return v;
}

ValueId BlockBuilder::checked(ir::Ref indices, const Sizes& sizes, bool wrap, uint32_t location) {
  indices = b.resolve(indices);
  // Not the bytes of the reference: some of them are nobody's.
  std::string key = std::to_string(reinterpret_cast<uintptr_t>(indices.node)) + "." + std::to_string(indices.index) + ":";
  for (Size s : sizes) key += std::to_string(s) + (wrap ? "w" : ",");
  if (auto it = tokens_.find(key); it != tokens_.end()) return it->second;
  const Sizes& dims = b.dims(indices);
  Size count = b.count(dims);
  const Size size = sizes[0];
  // `column`: which of the sizes, where there are several.
  auto inside = [&](Expressions& e, ExprId i, const Index* column) {
    ExprId high = e.size(sizes.back());
    for (size_t k = sizes.size() - 1; k-- > 0;) {
      ExprId here = e.apply(Op::equal, DType::Bool, {e.integer(*column), e.number(DType::I64, static_cast<int64_t>(k))});
      high = e.apply(Op::where, DType::I64, {here, e.size(sizes[k]), high});
    }
    ExprId low = wrap ? e.size(b.negative(size)) : e.number(DType::I64, 0);
    i = e.cast(i, DType::I64);
    return e.apply(Op::logical_and, DType::Bool,
                   {e.apply(Op::greater_equal, DType::Bool, {i, low}), e.apply(Op::less, DType::Bool, {i, high})});
  };
  if (count == 0) return tokens_[key] = kNone;
  Tensor known = b.known(indices);
  if (Dims values; known && std::all_of(sizes.begin(), sizes.end(), is_known) && known_integers(b.context, indices, values)) {
    for (size_t i = 0; i < values.size(); ++i) {
      Size s = sizes[i % sizes.size()];
      if (values[i] >= s || values[i] < (wrap ? -s : 0)) b.fail();
    }
    return tokens_[key] = kNone;
  }
  ValueId condition;
  if (dims.empty()) {
    ValueId index = scalar_of(indices);
    Expressions driver(*this, nullptr);
    condition = inside(driver, index, nullptr);
  } else {
    ValueId all = b.add_value(DType::Bool, {}, Home::temporary);
    Loop loop;
    loop.kernel.form = Form::rows;
    loop.kernel.axes = without_ones(dims);
    if (loop.kernel.axes.empty()) loop.kernel.axes.push_back(1);
    loop.reduced = loop.kernel.axes.size();
    Expressions e(*this, &loop.kernel);
    Stage stage;
    stage.kind = Stage::Kind::reduce;
    stage.reduce = ReduceKind::min;
    stage.dtype = DType::Bool;
    Place at = whole(loop, dims);
    stage.expr = inside(e, e.element(indices, at), &at.back());
    loop.kernel.stages.push_back(std::move(stage));
    if (!axes_fit(b, loop)) b.fail();
    add_blocks(std::move(loop), e.tokens, count, all);
    Expr load;
    load.kind = ExprKind::load;
    load.dtype = DType::Bool;
    load.access.value = all;
    condition = emit_scalar(std::move(load));
  }
  ValueId token = b.add_scalar(DType::Bool);
  Unit u;
  u.kind = Unit::Kind::step;
  u.step.kind = Step::Kind::check;
  u.step.condition = condition;
  u.step.location = location;
  u.reads.push_back(condition);
  u.writes.push_back(token);
  add_unit(std::move(u));
  return tokens_[key] = token;
}

void BlockBuilder::make_check(const ir::Node& n) {
  Unit u;
  u.kind = Unit::Kind::step;
  u.step.kind = Step::Kind::check;
  u.step.condition = scalar_of(n.operands[0]);
  u.step.room = n.attrs.get_bool(Attr::grows);
  u.step.location = n.location;
  u.reads.push_back(u.step.condition);
  add_unit(std::move(u));
}

}  // namespace tfl::plan
