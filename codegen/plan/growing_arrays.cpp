// Arrays that grow from nothing: a tensor with room for more rows than the array has elements, and how many those are.
//
//   %a = array_push(%array, %x) : array f32[3]
// becomes, where %t and %n stand for the array
//   check(less(%n, rows of %t)) {grows}
//   %a = tensor_scatter_update(%t, [[%n]], [%x]) : f32[?,3]      and %n + 1
#include <algorithm>

#include "codegen/plan/array_lowering.h"
#include "runtime/ops/groups.h"

namespace tfl::plan {

bool ArrayLowering::is_unchanged(const Node& loop, size_t i) {
  const ir::Block& body = *loop.regions[1];
  Ref r = body.results[i];
  while (r.node->op == Op::array_pop && r.index == 0) r = r.node->operands[0];
  return r == body.param(i);
}

void ArrayLowering::carry_counts(Node& n) {
  const bool loop = n.op == Op::while_loop;
  const size_t from = ir::inputs_from(n), variables = loop ? n.types.size() : 0;
  std::vector<Ref> counts;
  size_t at = loop ? variables : n.operands.size() - from;  // where the next parameter goes
  std::vector<std::pair<size_t, size_t>> carried;           // the array's place and its count's
  for (bool changing : {true, false}) {
    const size_t first = changing ? 0 : variables, last = changing ? variables : n.operands.size() - from;
    if (!changing) at = n.operands.size() - from + counts.size();
    for (size_t i = first; i < last; ++i) {
      if (!grows(n.operands[from + i])) continue;
      carried.push_back({i, at++});
      counts.push_back(counts_[n.operands[from + i]]);
    }
  }
  now(n.operands);
  for (size_t k = 0; k < carried.size(); ++k) {
    auto [array, place] = carried[k];
    n.operands.insert(from + place, counts[k]);
    for (const auto& region : n.regions) {
      // The array's own place has moved when counts of variables stand before it.
      size_t moved = array;
      for (size_t j = 0; j < k; ++j) moved += carried[j].second <= array + j;
      auto p = std::make_unique<Node>();
      p->op = Op::parameter;
      p->types.push_back(count_type());
      p->block = region.get();
      Ref own = region->param(moved);
      region->params.insert(region->params.begin() + static_cast<ptrdiff_t>(place), std::move(p));
      counts_[own] = region->param(place);
    }
  }
  for (uint32_t i = 0, had = static_cast<uint32_t>(n.types.size()); i < had; ++i) {
    Ref r{&n, i};
    if (!grows(r)) continue;
    counts_[r] = {&n, static_cast<uint32_t>(n.types.size())};
    n.types.push_back(count_type());
  }
  if (loop) n.attrs = ir::with_int(n.attrs, Attr::num, static_cast<int64_t>(n.types.size()));
}

void ArrayLowering::give_counts(Node& n) {
  for (size_t k = n.op == Op::while_loop ? 1 : 0; k < n.regions.size(); ++k) {
    std::vector<Ref>& results = n.regions[k]->results;
    for (size_t i = 0, had = results.size(); i < had; ++i) {
      if (grows(results[i])) results.push_back(counts_[results[i]]);
    }
  }
  for (const auto& region : n.regions) now(region->results);
  for (uint32_t i = 0; n.op == Op::while_loop && i < n.types.size(); ++i) {
    const bool same = n.regions[1]->results[i] == n.regions[1]->param(i);
    if (same && grows({&n, i})) now_[{&n, i}] = n.operands[i];
  }
}

Ref ArrayLowering::rows(Ref tensor) {
  const int64_t rank = static_cast<int64_t>(tensor.type().tensor.dims.size());
  Ref sizes = add(Op::shape, {tensor}, Attrs().set_dtype(Attr::dtype, DType::I32), {DType::I32, true, {rank}});
  return add(Op::gather, {sizes, number(0)}, along(0), {DType::I32, true, {}});
}

void ArrayLowering::require(Ref condition, bool room) {
  Node* check = block_->add(Op::check, {condition}, room ? Attrs().set_bool(Attr::grows, true) : Attrs(), {});
  check->location = location_;
}

Ref ArrayLowering::as_i32(Ref r) {
  if (r.type().tensor.dtype == DType::I32) return r;
  return add(Op::cast, {r}, Attrs().set_dtype(Attr::dtype, DType::I32), {DType::I32, true, {}});
}

bool ArrayLowering::lower_growing(Node& n) {
  const Ref result{&n, 0}, array = n.op == Op::array_new || n.operands.empty() ? result : n.operands[0];
  if (!grows(array)) return false;
  const Kind k = kinds_[root(array)];
  const Ref count = n.op == Op::array_new ? Ref{} : counts_[array];
  now(n.operands);
  auto become_op = [&](Op op, std::vector<Ref> operands, Attrs attrs = {}) {
    n.op = op;
    n.operands.clear();
    for (Ref r : operands) n.operands.push_back(r);
    n.attrs = std::move(attrs);
  };
  auto put = [&](Ref index, Ref value) {
    Dims one = k.dims;
    one.insert(0, 1);
    require(truth(Op::less, index, rows(n.operands[0])), true);
    Ref tensor = n.operands[0], at = reshape(index, {1, 1}), row = reshape(value, one);
    become_op(Op::tensor_scatter_update, {tensor, at, row});
  };
  switch (static_cast<ArrayOp>(n.op)) {
    case ArrayOp::array_new: {
      Ref dims = reshape(rows(room_), {1});
      if (!k.dims.empty())
        dims = add(Op::concat, {dims, constant(k.dims)}, along(0), {DType::I32, true, {static_cast<int64_t>(k.dims.size()) + 1}});
      Kind zeros = k;
      zeros.declared = true;
      Ref none = missing(zeros);
      counts_[result] = number(0);
      become_op(Op::fill, {dims, none}, Attrs().set_bool(Attr::grows, true));  // nobody reads what has not been written
      return true;
    }
    case ArrayOp::array_size: become_op(Op::identity, {count}); return true;
    case ArrayOp::array_push:
      counts_[result] = integer(Op::add, count, number(1));
      put(count, n.operands[1]);
      return true;
    case ArrayOp::array_write: {
      // Behind the last element, or over one that is there: others the evaluator writes.
      Ref index = as_i32(n.operands[1]);
      require(truth(Op::logical_and, truth(Op::greater_equal, index, number(0)), truth(Op::less_equal, index, count)), false);
      counts_[result] = integer(Op::maximum, count, integer(Op::add, index, number(1)));
      put(index, n.operands[2]);
      return true;
    }
    case ArrayOp::array_pop: {
      require(truth(Op::greater, count, number(0)), false);
      Ref left = integer(Op::subtract, count, number(1)), tensor = n.operands[0];
      now_[{&n, 1}] = element_of(tensor, left, k);
      now_[result] = tensor;
      counts_[result] = left;
      n.types.pop_back();
      become_op(Op::identity, {tensor});
      return true;
    }
    case ArrayOp::array_read: {
      Ref index = as_i32(n.operands[1]), tensor = n.operands[0];
      require(truth(Op::logical_and, truth(Op::greater_equal, index, number(0)), truth(Op::less, index, count)), false);
      if (!n.types[0].tensor.ranked) n.types[0].tensor = {k.dtype, true, k.dims};
      become_op(Op::gather, {tensor, index}, along(0));
      return true;
    }
    case ArrayOp::array_from:
    case ArrayOp::array_stack:
    case ArrayOp::array_concat:
    case ArrayOp::array_gather:
    case ArrayOp::array_scatter:
    case ArrayOp::array_split:
    case ArrayOp::array_add:
    case ArrayOp::array_zeros_like:
    case ArrayOp::array_sum: break;
  }
  failed_ = true;
  return true;
}

ir::RefSet growing_arrays(const ir::Block& b) {
  ir::RefSet growing;
  for (const auto& n : b.nodes) {
    const bool begins = n->op == Op::array_new && n->attrs.get_bool(Attr::grows), takes = takes_growing(*n, growing);
    for (uint32_t i = 0; i < n->types.size(); ++i) {
      // A loop hands on what it was given in the same place; of others nobody looks which operand it was.
      const bool grows = n->op == Op::while_loop ? growing.contains(n->operands[i]) : begins || takes;
      if (grows && is_array(n->types[i])) growing.insert({n.get(), i});
    }
  }
  return growing;
}

bool takes_growing(const Node& n, const ir::RefSet& growing) {
  return std::any_of(n.operands.begin(), n.operands.end(), [&](Ref r) { return growing.contains(r); });
}

bool touches_growing(const Node& n, const ir::RefSet& growing) {
  bool gives = false;
  for (uint32_t i = 0; i < n.types.size(); ++i) gives = gives || growing.contains({const_cast<Node*>(&n), i});
  return gives || takes_growing(n, growing);
}

bool has_its_length(const Node& n, const ir::RefSet& growing) {
  return (n.op == Op::array_stack || n.op == Op::array_gather) && takes_growing(n, growing);
}

}  // namespace tfl::plan
