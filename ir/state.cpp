#include "ir/state.h"

#include <algorithm>
#include <unordered_map>

#include "ir/infer.h"
#include "ir/ref_map.h"
#include "runtime/ops/facts.h"

namespace tfl::ir {

namespace {

bool is_variable(Ref r) { return r.type().kind == TypeKind::Resource && !r.type().opaque; }
bool is_loop(const Node& n) { return n.op == Op::while_loop; }
size_t before_inputs(const Node& n) { return is_loop(n) ? 0 : 1; }

// What happens to one variable in a block.
struct Fate {
  bool possible = true;
  bool assigned = false;
};

Fate fate(const Block& b, const Node* variable) {
  Fate f;
  auto is_it = [&](Ref r) { return r.node == variable; };
  f.possible = std::none_of(b.results.begin(), b.results.end(), is_it);
  for (const auto& n : b.nodes) {
    ptrdiff_t times = std::count_if(n->operands.begin(), n->operands.end(), is_it);
    if (times == 0) continue;
    if (times > 1) return {false, false};
    auto at = static_cast<size_t>(std::find_if(n->operands.begin(), n->operands.end(), is_it) - n->operands.begin());
    if (op_facts(n->op).variable) {
      f.assigned = f.assigned || op_facts(n->op).writes;
      continue;
    }
    size_t before = before_inputs(*n);
    if (n->regions.empty() || at < before || (is_loop(*n) && at < n->types.size())) return {false, false};
    for (size_t k = 0; k < n->regions.size(); ++k) {
      Fate inner = fate(*n->regions[k], n->regions[k]->params[at - before].get());
      if (!inner.possible || (inner.assigned && is_loop(*n) && k == 0)) return {false, false};
      f.assigned = f.assigned || inner.assigned;
    }
  }
  const TensorType& t = variable->types[0].tensor;
  bool one_size = t.ranked && std::all_of(t.dims.begin(), t.dims.end(), [](int64_t d) { return d >= 0; });
  if (f.assigned && !one_size) f.possible = false;
  return f;
}

class Lifter {
 public:
  explicit Lifter(Context& context) : context_(context) {}
  bool failed = false;

  // From now on parameter `variable` is a tensor.
  void begin(Node* variable) {
    variable->types[0] = Type::of(variable->types[0].tensor);
    now_[variable] = {variable, 0};
  }
  Ref value_of(const Node* variable) const { return now_.at(variable); }

  void block(Block& b) {
    RefMap<Ref> became;  // what was read
    std::vector<std::unique_ptr<Node>> old = std::move(b.nodes);
    b.nodes.clear();
    auto resolve = [&](Ref& r) {
      if (auto found = became.find(r); found != became.end()) r = found->second;
    };
    for (auto& n : old) {
      for (Ref& r : n->operands) resolve(r);
      auto found = n->operands.empty() ? now_.end() : now_.find(n->operands[0].node);
      if (found != now_.end() && n->op == Op::read_variable) {
        became[{n.get(), 0}] = found->second;
      } else if (found != now_.end() && n->op == Op::is_initialized) {
        became[{n.get(), 0}] = yes(b);
      } else if (found != now_.end() && n->op == Op::assign_variable) {
        found->second = exact(b, n->operands[1], found->first->types[0], n->location);
      } else {
        Node& at = *n;
        b.nodes.push_back(std::move(n));
        if (!at.regions.empty()) regions(at);
      }
    }
    for (Ref& r : b.results) resolve(r);
  }

 private:
  Ref yes(Block& b) {
    Result<Tensor> made = Tensor::empty(context_, DType::Bool, Dims{});
    if (!made) {
      failed = true;
      return {};
    }
    *made->data<uint8_t>() = 1;
    return append_constant(b, made.take());
  }

  // A variable's type is that of each of its values.
  Ref exact(Block& b, Ref value, const Type& type, uint32_t location) {
    if (value.type() == type) return value;
    Node* n = b.add(Op::ensure_shape, {value}, Attrs().set_ints(Attr::shape, type.tensor.dims), {type});
    n->location = location;
    return {n, 0};
  }

  void regions(Node& n) {
    std::vector<size_t> carried, assigned;  // operands
    size_t before = before_inputs(n);
    for (size_t i = before; i < n.operands.size(); ++i) {
      if (!now_.contains(n.operands[i].node)) continue;
      carried.push_back(i);
      bool changes = false;
      for (auto& r : n.regions) changes = changes || fate(*r, r->params[i - before].get()).assigned;
      if (changes) assigned.push_back(i);
    }
    if (carried.empty()) return;
    std::vector<Node*> variables;  // those that are assigned, as they are known here
    for (size_t i : assigned) variables.push_back(n.operands[i].node);
    std::vector<std::vector<Node*>> inside(n.regions.size());
    for (size_t k = 0; k < n.regions.size(); ++k) {
      Block& r = *n.regions[k];
      for (size_t i : carried) begin(r.params[i - before].get());
      for (size_t i : assigned) inside[k].push_back(r.params[i - before].get());
    }
    for (size_t i : carried) n.operands[i] = now_.at(n.operands[i].node);
    if (is_loop(n)) become_loop_variables(n, assigned);
    for (size_t k = 0; k < n.regions.size(); ++k) {
      block(*n.regions[k]);
      if (is_loop(n) && k == 0) continue;
      for (Node* p : inside[k]) n.regions[k]->results.push_back(now_.at(p));
    }
    for (Node* v : variables) {
      n.types.push_back(v->types[0]);
      now_[v] = {&n, static_cast<uint32_t>(n.types.size() - 1)};
    }
    if (is_loop(n)) n.attrs = with_int(n.attrs, Attr::num, static_cast<int64_t>(n.types.size()));
  }

  // Operands and parameters stand behind the loop's own variables.
  static void become_loop_variables(Node& n, const std::vector<size_t>& assigned) {
    auto moved = [&](size_t i) { return std::find(assigned.begin(), assigned.end(), i) != assigned.end(); };
    std::vector<size_t> order;
    for (size_t i = 0; i < n.types.size(); ++i) order.push_back(i);
    order.insert(order.end(), assigned.begin(), assigned.end());
    for (size_t i = n.types.size(); i < n.operands.size(); ++i) {
      if (!moved(i)) order.push_back(i);
    }
    SmallVec<Ref, 2> operands;
    for (size_t i : order) operands.push_back(n.operands[i]);
    n.operands = std::move(operands);
    for (auto& r : n.regions) {
      std::vector<std::unique_ptr<Node>> params;
      for (size_t i : order) params.push_back(std::move(r->params[i]));
      r->params = std::move(params);
    }
  }

  Context& context_;
  std::unordered_map<const Node*, Ref> now_;  // what variables hold, by parameter
};

}  // namespace

bool carries_variables(const Node& n) {
  size_t before = before_inputs(n);
  for (size_t i = 0; i < n.operands.size(); ++i) {
    if (n.operands[i].type().kind != TypeKind::Resource) continue;
    if (!is_variable(n.operands[i]) || n.regions.empty() || i < before || (is_loop(n) && i < n.types.size())) return false;
    for (size_t j = 0; j < i; ++j) {
      if (n.operands[j] == n.operands[i]) return false;
    }
    for (size_t k = 0; k < n.regions.size(); ++k) {
      Fate f = fate(*n.regions[k], n.regions[k]->params[i - before].get());
      if (!f.possible || (f.assigned && is_loop(n) && k == 0)) return false;
    }
  }
  return true;
}

bool assigns_variable(const Node& n, size_t operand) {
  size_t before = before_inputs(n);
  return operand >= before && std::any_of(n.regions.begin(), n.regions.end(),
                                          [&](const auto& r) { return fate(*r, r->params[operand - before].get()).assigned; });
}

std::shared_ptr<Function> without_variables(Context& context, const Function& f, std::vector<VariableUse>& uses, bool& possible) {
  possible = true;
  for (size_t i = 0; i < f.body.params.size(); ++i) {
    Ref p = f.body.param(i);
    if (p.type().kind != TypeKind::Resource) continue;
    Fate found = is_variable(p) ? fate(f.body, p.node) : Fate{false, false};
    if (!found.possible) possible = false;
    uses.push_back({static_cast<uint32_t>(i), found.assigned ? 0 : VariableUse::kUnchanged});
  }
  if (uses.empty() || !possible) return nullptr;
  std::shared_ptr<Function> copy = clone(f);
  Lifter lift(context);
  for (const VariableUse& u : uses) lift.begin(copy->body.param(u.input).node);
  lift.block(copy->body);
  if (lift.failed) possible = false;
  for (VariableUse& u : uses) {
    if (u.result == VariableUse::kUnchanged) continue;
    u.result = static_cast<uint32_t>(copy->body.results.size());
    copy->body.results.push_back(lift.value_of(copy->body.param(u.input).node));
  }
  return possible ? copy : nullptr;
}

}  // namespace tfl::ir
