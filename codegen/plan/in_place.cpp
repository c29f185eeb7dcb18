// Variables of loops of which each iteration changes a part: one element of an array, a row that is added to a sum of gradients, in this
// loop or in loops and branches inside of it. They keep their memory from the first iteration to the last, and a kernel writes the part.
//
//   %a2 = tensor_scatter_update(%a, [[%i]], [%x])              a2[i] = x
//   %a2 = add(%a, strided_slice_grad(sizes, [%i], ..., %x))    a2[i] = a[i] + x, where no element of a is -0: others stay what they are
//   %a2 = add(%a, unsorted_segment_sum([%x], [%i], n))
//   %a2 = add(%a, where(%c, strided_slice_grad(...), -0))      the same where c holds
//
// Whoever reads the memory as it was before a change comes before it: units have marks that say so.
#include <algorithm>
#include <queue>

#include "codegen/plan/builder.h"
#include "codegen/plan/native_ops.h"
#include "runtime/ops/facts.h"
#include "runtime/tensor/element.h"

namespace tfl::plan {

namespace {

// A change of a part of `base`.
struct Part {
  ir::Ref base, update;
  ir::Ref condition;                   // a scalar: where it is false nothing changes
  ir::Ref index;                       // a tuple of indices along the first axes
  const ir::Node* slice = nullptr;     // instead: a gradient of a slice
  const ir::Node* absorbed = nullptr;  // which is not computed by itself
  bool adds = false;
  bool adds_zeros = false;  // to all other elements
};

class Finder {
 public:
  explicit Finder(Builder& b) : b(b) {}

  std::vector<std::pair<ir::Ref, size_t>> links;  // what lies in place, and which operand of a branch it was
  std::unordered_set<const ir::Node*> absorbed;
  bool sets = false, adds_zeros = false, conditions = false;

  // The parameter of `block` that `r` is made of by changes in place, each of which nobody but the next one sees; none for others.
  ir::Ref origin(const ir::Block& block, ir::Ref r) {
    if (r.node->op == Op::parameter) return r.node->block == &block ? r : ir::Ref();
    ir::Node& n = *r.node;
    if (n.block != &block || !r.type().is_tensor()) return {};
    if (n.op == Op::while_loop) {
      const ir::Block& body = *n.regions[1];
      ir::Ref x = n.operands[r.index], param = body.param(r.index);
      if (uses(block, x) != 1 || !(origin(body, body.results[r.index]) == param)) return {};
      links.push_back({r, r.index});
      return origin(block, x);
    }
    if (op_facts(n.op).regions) {
      size_t operand = 0;
      for (const auto& region : n.regions) {
        ir::Ref param = origin(*region, region->results[r.index]);
        if (!param) return {};
        size_t i = 0;
        while (region->params[i].get() != param.node) ++i;
        if (operand != 0 && operand != i + 1) return {};
        operand = i + 1;
      }
      if (operand == 0 || uses(block, n.operands[operand]) != 1) return {};
      links.push_back({r, operand});
      return origin(block, n.operands[operand]);
    }
    Part p;
    if (!part_of(n, p)) return {};
    if (p.base.node->op != Op::parameter && uses(block, p.base) != 1) return {};
    links.push_back({r, 0});
    if (p.absorbed) absorbed.insert(p.absorbed);
    adds_zeros = adds_zeros || p.adds_zeros;
    conditions = conditions || p.condition;
    sets = sets || !p.adds;
    return origin(block, p.base);
  }

  bool part_of(const ir::Node& n, Part& out) {
    if (n.op == Op::tensor_scatter_update || n.op == Op::tensor_scatter_add) {
      out.base = n.operands[0];
      out.update = n.operands[2];
      out.index = n.operands[1];
      out.adds = n.op == Op::tensor_scatter_add;
      return is_tuple(out.index, b.dims(out.base));
    }
    if (n.op != Op::add) return false;
    for (size_t k = 0; k < 2; ++k) {
      ir::Ref zeros = n.operands[k];
      if (zeros.node->block != n.block) continue;
      out.condition = {};
      if (zeros.node->op == Op::where && uses(*n.block, zeros) == 1 && b.dims(zeros.node->operands[0]).empty() &&
          is_negative_zero(zeros.node->operands[2])) {
        out.condition = zeros.node->operands[0];
        zeros = zeros.node->operands[1];
        if (zeros.node->block != n.block) continue;
      }
      const bool slice = zeros.node->op == Op::strided_slice_grad;
      if (!slice && zeros.node->op != Op::unsorted_segment_sum) continue;
      out.base = n.operands[1 - k];
      if (out.base == zeros || !b.same(b.dims(out.base), b.dims(zeros))) continue;
      out.adds = true;
      out.adds_zeros = is_floating(b.dtype(zeros));
      if (slice) {
        out.slice = zeros.node;
        out.update = zeros.node->operands[4];
        return true;
      }
      if (uses(*n.block, zeros) != 1) continue;
      out.absorbed = zeros.node;
      out.update = zeros.node->operands[0];
      out.index = zeros.node->operands[1];
      return b.count(b.dims(out.index)) == 1;
    }
    return false;
  }

  // Whether no element can be -0, of what comes from outside of a loop.
  bool never_negative_zero(ir::Ref r) {
    r = b.resolve(r);
    if (r.node->op == Op::fill) return never_negative_zero(r.node->operands[1]);
    if (keeps_order(*r.node) || r.node->op == Op::broadcast_to) return never_negative_zero(r.node->operands[0]);
    if (r.node->op == Op::add) return never_negative_zero(r.node->operands[0]) || never_negative_zero(r.node->operands[1]);
    // It is a loop's that adds to what is none.
    if (auto it = b.in_place.find(r); it != b.in_place.end() && r.node->op == Op::while_loop)
      return b.sums.contains(r) && never_negative_zero(r.node->operands[r.index]);
    uint64_t bits = 0;
    return splat(r, bits) && bits != sign_of(r);
  }

 private:
  bool splat(ir::Ref r, uint64_t& bits) {
    return r.node->op == Op::constant && is_floating(b.dtype(r)) && splat_bits(r.node->constant, bits);
  }
  uint64_t sign_of(ir::Ref r) { return uint64_t{1} << (8 * dtype_size(b.dtype(r)) - 1); }
  bool is_negative_zero(ir::Ref r) {
    uint64_t bits = 0;
    return splat(r, bits) && bits == sign_of(r);
  }

  // One tuple of indices, each into an axis of its own.
  bool is_tuple(ir::Ref indices, const Sizes& dims) {
    const Sizes& at = b.dims(indices);
    return !at.empty() && is_known(at.back()) && at.back() >= 1 && at.back() <= static_cast<Size>(dims.size()) &&
           b.count(Sizes(at.begin(), at.end() - 1)) == 1;
  }

  uint32_t uses(const ir::Block& block, ir::Ref r) {
    auto [it, fresh] = uses_.try_emplace(&block);
    if (fresh) {
      for (const auto& n : block.nodes) {
        for (ir::Ref o : n->operands) ++it->second[o];
      }
      for (ir::Ref o : block.results) ++it->second[o];
    }
    auto found = it->second.find(r);
    return found == it->second.end() ? 0 : found->second;
  }

  Builder& b;
  std::unordered_map<const ir::Block*, RefMap<uint32_t>> uses_;
};

}  // namespace

bool BlockBuilder::stays_in_place(const ir::Node& loop, size_t i, bool& adds_zeros) {
  const ir::Block& body = *loop.regions[1];
  Finder find(b);
  if (!(find.origin(body, body.results[i]) == body.param(i)) || find.links.empty()) return false;
  adds_zeros = find.adds_zeros && !find.never_negative_zero(loop.operands[i]);
  if (find.adds_zeros && (find.sets || (adds_zeros && (find.conditions || !begins_simply(loop))))) return false;
  for (const auto& [r, operand] : find.links) {
    b.in_place[r] = operand;
    if (!find.sets) b.sums.insert({r, true});
  }
  b.absorbed.insert(find.absorbed.begin(), find.absorbed.end());
  return true;
}

void BlockBuilder::change_part(const ir::Node& n) {
  ir::Ref r{const_cast<ir::Node*>(&n), 0};
  Part p;
  ValueId from = Finder(b).part_of(n, p) ? b.memory_of(p.base) : kNone;
  if (from == kNone) return b.fail();
  const Sizes dims = b.dims(r), update = b.dims(p.update);
  ValueId to = b.add_changed(from);
  b.memory[r] = to;
  Loop loop;
  loop.kernel.axes = without_ones(update);
  if (loop.kernel.axes.empty()) loop.kernel.axes.push_back(1);
  loop.outer = loop.kernel.axes.size();
  Expressions e(*this, &loop.kernel);
  Place at = whole(loop, update), place;
  if (p.slice) {
    if (!e.sliced(*p.slice, dims, at, place)) return b.fail();
  } else {
    const Sizes indices = b.dims(p.index);
    const bool segment = p.absorbed;  // an index of any shape, not a tuple
    const size_t depth = segment ? 1 : static_cast<size_t>(indices.back());
    // A scalar is checked and read as one.
    ir::Ref scalar = depth == 1 ? scalar_index(p.index) : ir::Ref();
    ValueId token = scalar
                        ? checked(scalar, {dims[0]}, false, n.location)
                        : checked(p.index, Sizes(dims.begin(), dims.begin() + static_cast<ptrdiff_t>(depth)), false, n.location);
    if (b.failed) return;
    if (token != kNone) e.tokens.push_back(token);
    for (size_t d = 0; d < depth; ++d) {
      Place tuple(indices.size(), Index{});
      for (Index& i : tuple) i.strides.resize(loop.kernel.axes.size(), 0);
      if (!segment) tuple.back().offset = static_cast<Size>(d);
      Index chosen;
      chosen.strides.resize(loop.kernel.axes.size(), 0);
      chosen.indexed.push_back({e.cast(scalar ? e.element(scalar, {}) : e.element(p.index, tuple), DType::I64), 1});
      place.push_back(std::move(chosen));
    }
    // The last axes of the update are those of a row.
    for (size_t i = depth; i < dims.size(); ++i) place.push_back(at[update.size() - dims.size() + i]);
  }
  Stage s;
  s.expr = e.element(p.update, at);
  if (p.adds) {
    ExprId old = e.load(from, dims, place, kNone);
    s.expr = e.apply(Op::add, b.dtype(r), {old, s.expr});
    if (p.condition) s.expr = e.apply(Op::where, b.dtype(r), {e.element(p.condition, {}), s.expr, old});
  }
  s.target = e.access(to, dims, place, kNone);
  loop.kernel.stages.push_back(std::move(s));
  Unit u;
  u.loop = std::move(loop);
  u.tokens = std::move(e.tokens);
  u.tokens.push_back(from);
  u.changes.push_back(from);
  refresh(u);
  add_unit(std::move(u));
}

// Whether it is a few operations on scalars that tell if a loop runs at all.
bool BlockBuilder::begins_simply(const ir::Node& loop) {
  const ir::Block& test = *loop.regions[0];
  return loop.attrs.get_int(Attr::limit, -1) != 0 && std::all_of(test.nodes.begin(), test.nodes.end(), [&](const auto& n) {
           bool scalars = n->op == Op::constant || (op_info(n->op).kind == OpKind::Elementwise && !may_raise(b, *n));
           return scalars && b.dims({n.get(), 0}).empty();
         });
}

// What a variable begins with whose first iteration adds a zero to every element: x + 0 if there is one.
void BlockBuilder::make_first_sum(const ir::Node& loop, size_t variable, ValueId target) {
  const ir::Block& test = *loop.regions[0];
  RefMap<ValueId> outside;
  for (size_t i = 0; i < test.params.size(); ++i) {
    ir::Ref param = test.param(i);
    if (auto known = b.scalars.find(param); known != b.scalars.end()) outside.insert(*known);
    if (!b.aliases.contains(param) && b.dims(loop.operands[i]).empty()) b.scalars[param] = scalar_of(loop.operands[i]);
  }
  ValueId runs = scalar_of(test.results[0]);
  for (const auto& n : test.nodes) b.scalars.erase({n.get(), 0});
  for (size_t i = 0; i < test.params.size(); ++i) b.scalars.erase(test.param(i));
  for (const auto& [param, scalar] : outside) b.scalars[param] = scalar;
  b.word_of(runs);
  ir::Ref first = b.resolve(loop.operands[variable]);
  const Sizes dims = b.dims(first);
  Loop map;
  map.kernel.axes = without_ones(dims);
  if (map.kernel.axes.empty()) map.kernel.axes.push_back(1);
  map.outer = map.kernel.axes.size();
  Expressions e(*this, &map.kernel);
  Place at = whole(map, dims);
  const DType dtype = b.dtype(first);
  ExprId x = e.element(first, at);
  Expr ran;
  ran.kind = ExprKind::value;
  ran.dtype = DType::Bool;
  ran.access.value = runs;
  Stage s;
  s.expr = e.apply(Op::where, dtype, {e.add(std::move(ran)), e.apply(Op::add, dtype, {x, e.number(dtype, 0)}), x});
  s.target = e.access(target, dims, at, kNone);
  map.kernel.stages.push_back(std::move(s));
  add_kernel(std::move(map), std::move(e.tokens));
}

ir::Ref BlockBuilder::scalar_index(ir::Ref r) {
  for (r = b.resolve(r); keeps_order(*r.node) && !b.dims(r).empty(); r = b.resolve(r.node->operands[0])) {
  }
  return b.dims(r).empty() ? r : ir::Ref();
}

// Marks for those that read what another unit changes, and the units in an order in which they can run.
void BlockBuilder::order_changes() {
  std::unordered_map<ValueId, std::vector<size_t>> readers;
  for (const Unit& u : units_) {
    for (ValueId v : u.changes) readers.try_emplace(v);
  }
  if (readers.empty()) return;
  for (size_t i = 0; i < units_.size(); ++i) {
    for (ValueId v : units_[i].reads) {
      if (auto it = readers.find(v); it != readers.end()) it->second.push_back(i);
    }
  }
  for (size_t w = 0; w < units_.size(); ++w) {
    const std::vector<ValueId> changed = units_[w].changes;
    for (ValueId v : changed) {
      for (size_t r : readers[v]) {
        if (r == w) continue;
        ValueId mark = b.add_scalar(DType::Bool);
        for (auto* list : {&units_[r].marks, &units_[r].writes}) list->push_back(mark);
        for (auto* list : {&units_[w].tokens, &units_[w].reads}) list->push_back(mark);
      }
    }
  }
  std::unordered_map<ValueId, std::vector<size_t>> writers;
  for (size_t i = 0; i < units_.size(); ++i) {
    for (ValueId v : units_[i].writes) writers[v].push_back(i);
  }
  std::vector<std::vector<size_t>> users(units_.size());
  std::vector<size_t> missing(units_.size(), 0);
  for (size_t i = 0; i < units_.size(); ++i) {
    for (ValueId v : units_[i].reads) {
      auto it = writers.find(v);
      if (it == writers.end()) continue;
      for (size_t w : it->second) {
        if (w == i) continue;
        users[w].push_back(i);
        ++missing[i];
      }
    }
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < units_.size(); ++i) {
    if (missing[i] == 0) ready.push(i);
  }
  std::vector<Unit> sorted;
  while (!ready.empty()) {
    size_t i = ready.top();
    ready.pop();
    sorted.push_back(std::move(units_[i]));
    for (size_t user : users[i]) {
      if (--missing[user] == 0) ready.push(user);
    }
  }
  if (sorted.size() != units_.size()) return b.fail();
  units_ = std::move(sorted);
}

}  // namespace tfl::plan
