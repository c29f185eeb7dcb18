#include "codegen/plan/arrays.h"

#include <algorithm>
#include <cstring>

#include "codegen/plan/array_lowering.h"
#include "codegen/plan/native_ops.h"
#include "runtime/ops/facts.h"
#include "runtime/ops/groups.h"
#include "runtime/tensor/element.h"

namespace tfl::plan {

namespace {

// What elements hold that nobody has written, bits that are hardly ever a value; where one is met the evaluator has to look.
constexpr uint64_t kUnwritten = 0x7ff5'a3c7'7fe5'7e93;

}  // namespace

bool ArrayLowering::run() {
  for (const auto& p : f_.body.params) {
    if (is_array(p->types[0])) return false;
  }
  if (!learn(f_.body, 0)) return false;
  bool any = false;
  for (Ref r : inner_) {
    Kind& k = kinds_[root(r)];
    k.broken = k.broken || k.grows;
  }
  for (auto& [r, parent] : parents_) {
    const Kind& k = kinds_[root(r)];
    bool sentinel = k.declared || k.grows || dtype_size(k.dtype) > 1;
    if (!k.known || k.broken || !sentinel || (k.grows ? k.fixed || !growing_ : k.moves)) return false;
    any = any || k.grows;
  }
  std::vector<Ref> given = f_.body.results;
  for (Ref r : given) {
    if (is_array(r.type()) && !kinds_[root(r)].grows) return false;
  }
  if (any) {
    room_ = f_.body.add_param(ir::Type::of({DType::Bool, true, Dims{-1, 0}}), "room");
    room_.node->attrs.set_bool(Attr::grows, true);
  }
  rewrite(f_.body);
  for (Ref r : given) {
    if (auto count = counts_.find(r); count != counts_.end()) f_.body.results.push_back(count->second);
  }
  return !failed_;
}

Ref ArrayLowering::root(Ref r) {
  auto it = parents_.try_emplace(r, r).first;
  while (!(it->second == it->first)) it = parents_.find(it->second);
  return it->first;
}

void ArrayLowering::learn_dims(Kind& k, DType dtype, const Dims& dims) {
  k.broken = k.broken || (k.known && (!(k.dims == dims) || k.dtype != dtype));
  k.known = true;
  k.dtype = dtype;
  k.dims = dims;
}

void ArrayLowering::same(Ref a, Ref b) {
  if (!is_array(a.type())) return;
  a = root(a);
  b = root(b);
  if (a == b) return;
  Kind from = kinds_[a];
  Kind& to = kinds_[b];
  if (from.known) learn_dims(to, from.dtype, from.dims);
  to.declared = to.declared && from.declared;
  to.broken = to.broken || from.broken;
  to.grows = to.grows || from.grows;
  to.fixed = to.fixed || from.fixed;
  to.moves = to.moves || from.moves;
  parents_[a] = b;
}

void ArrayLowering::element(Ref array, const TensorType& t) {
  Kind& k = kinds_[root(array)];
  if (all_known(t))
    learn_dims(k, t.dtype, t.dims);
  else
    k.broken = true;
}

// Of an operation on an array of rows: what its elements are.
bool ArrayLowering::learn_rows(const ir::Block& b, Node& n) {
  const Ref result{&n, 0};
  switch (static_cast<ArrayOp>(n.op)) {
    case ArrayOp::array_new: {
      const TensorType& t = n.types[0].tensor;
      Kind& k = kinds_[root(result)];
      if (n.attrs.get_bool(Attr::grows)) {
        if (&b != &f_.body) return false;  // regions know no room
        k.grows = true;
      } else {
        k.fixed = true;
      }
      if (all_known(t))
        learn_dims(k, t.dtype, t.dims);
      else
        k.declared = false;
      break;
    }
    case ArrayOp::array_from:
      kinds_[root(result)].fixed = true;
      element(result, row(n.operands[0].type().tensor));
      break;
    case ArrayOp::array_write:
      same(n.operands[0], result);
      element(result, n.operands[2].type().tensor);
      break;
    case ArrayOp::array_push:
    case ArrayOp::array_pop:
      same(n.operands[0], result);
      kinds_[root(result)].moves = true;
      element(result, n.op == Op::array_push ? n.operands[1].type().tensor : n.types[1].tensor);
      break;
    case ArrayOp::array_stack:
    case ArrayOp::array_gather: kinds_[root(n.operands[0])].fixed = true; break;
    case ArrayOp::array_scatter:
      same(n.operands[0], result);
      kinds_[root(result)].fixed = true;
      element(result, row(n.operands[2].type().tensor));
      break;
    case ArrayOp::array_size:
    case ArrayOp::array_read: break;
    case ArrayOp::array_concat:
    case ArrayOp::array_split:
    case ArrayOp::array_add:
    case ArrayOp::array_zeros_like:
    case ArrayOp::array_sum: return false;  // no rows
  }
  return true;
}

bool ArrayLowering::learn(ir::Block& b, int loops) {
  for (const auto& node : b.nodes) {
    Node& n = *node;
    if (n.op == Op::while_loop) {
      for (size_t i = 0; i < n.operands.size(); ++i) {
        same(n.operands[i], n.regions[0]->param(i));
        same(n.operands[i], n.regions[1]->param(i));
        if (i >= n.types.size()) continue;
        same(n.operands[i], n.regions[1]->results[i]);
        same(n.operands[i], {&n, static_cast<uint32_t>(i)});
        // A loop takes a copy of what it changes: inside another one, once an iteration.
        if (is_array(n.types[i]) && loops > 0 && !is_unchanged(n, i)) inner_.push_back(n.operands[i]);
      }
    } else if (op_facts(n.op).regions) {
      for (const auto& region : n.regions) {
        for (size_t i = 0; i < region->params.size(); ++i) same(n.operands[i + 1], region->param(i));
        for (size_t i = 0; i < region->results.size(); ++i) same(region->results[i], {&n, static_cast<uint32_t>(i)});
      }
    } else if (op_facts(n.op).rows) {
      if (!learn_rows(b, n)) return false;
    } else {
      for (const ir::Type& t : n.types) {
        if (is_array(t)) return false;
      }
      if (!n.operands.empty() && is_array(n.operands[0].type()) && !is_array_of_rows(n)) return false;
    }
    for (const auto& region : n.regions) {
      if (!learn(*region, loops + (n.op == Op::while_loop))) return false;
    }
  }
  return true;
}

TensorType ArrayLowering::row(const TensorType& t) {
  TensorType out = t;
  if (out.ranked && !out.dims.empty())
    out.dims.erase(0);
  else
    out.ranked = false;
  return out;
}

void ArrayLowering::rewrite(ir::Block& b) {
  for (auto& p : b.params) become(Ref{p.get(), 0});
  std::vector<std::unique_ptr<Node>> nodes = std::move(b.nodes);
  b.nodes.clear();
  for (auto& node : nodes) {
    Node& n = *node;
    block_ = &b;
    location_ = n.location;
    std::vector<Ref> checks;
    if (!n.regions.empty()) {
      carry_counts(n);
    } else if (!lower_growing(n)) {
      now(n.operands);
      lower(n, checks);
    }
    for (uint32_t i = 0; i < n.types.size(); ++i) become({&n, i});
    for (const auto& region : n.regions) rewrite(*region);
    if (!n.regions.empty()) give_counts(n);
    b.nodes.push_back(std::move(node));
    block_ = &b;
    for (Ref r : checks) require_written(r);
  }
  if (&b == &f_.body) now(b.results);
}

void ArrayLowering::become(Ref r) {
  ir::Type& t = r.node->types[r.index];
  if (!is_array(t)) return;
  const Kind& k = kinds_[root(r)];
  Dims dims = k.dims;
  dims.insert(0, -1);
  t = ir::Type::of({k.dtype, true, std::move(dims)});
}

Ref ArrayLowering::add(Op op, std::vector<Ref> operands, Attrs attrs, TensorType type) {
  Node* n = block_->add(op, std::move(operands), std::move(attrs), {ir::Type::of(std::move(type))});
  n->location = location_;
  return {n, 0};
}

Ref ArrayLowering::constant(DType dtype, const Dims& dims, std::span<const int64_t> values) {
  Result<Tensor> t = Tensor::empty(context_, dtype, dims);
  if (!t) {
    failed_ = true;
    return {};
  }
  for (size_t i = 0; i < values.size(); ++i) store_int(dtype, values[i], t->raw() + i * dtype_size(dtype));
  Ref r = add(Op::constant, {}, {}, {dtype, true, dims});
  r.node->constant = t.take();
  return r;
}

void ArrayLowering::lower(Node& n, std::vector<Ref>& checks) {
  auto kind = [&](Ref r) -> const Kind& { return kinds_[root(r)]; };
  auto become_op = [&](Op op, std::vector<Ref> operands, Attrs attrs = {}) {
    n.op = op;
    n.operands.clear();
    for (Ref r : operands) n.operands.push_back(r);
    n.attrs = std::move(attrs);
  };
  auto read = [&](Ref array) {
    if (!kind(array).declared) checks.push_back({&n, 0});
  };
  Ref array = n.operands.empty() ? Ref{} : n.operands[0];
  if (!op_facts(n.op).rows) return;
  switch (static_cast<ArrayOp>(n.op)) {
    case ArrayOp::array_new: {
      const Kind& k = kind({&n, 0});
      Dims sizes;
      Ref dims;
      if (known_integers(context_, array, sizes) && sizes.size() == 1) {
        sizes.append(k.dims.begin(), k.dims.end());
        failed_ = failed_ || sizes[0] < 1;
        dims = constant(sizes);
      } else {
        Ref size = array.type().tensor.dtype == DType::I32
                       ? array
                       : add(Op::cast, {array}, Attrs().set_dtype(Attr::dtype, DType::I32), {DType::I32, true, {}});
        dims = reshape(size, {1});
        if (!k.dims.empty())
          dims =
              add(Op::concat, {dims, constant(k.dims)}, along(0), {DType::I32, true, {static_cast<int64_t>(k.dims.size()) + 1}});
      }
      become_op(Op::fill, {dims, missing(k)});
      return;
    }
    case ArrayOp::array_from: return become_op(Op::identity, {array});
    case ArrayOp::array_size:
      return become_op(
          Op::gather,
          {add(Op::shape, {array}, Attrs().set_dtype(Attr::dtype, DType::I32), {DType::I32, true, {array_rank(array)}}),
           constant(DType::I32, {}, {{int64_t{0}}})},
          along(0));
    case ArrayOp::array_read:
    case ArrayOp::array_gather:
    case ArrayOp::array_stack: {
      const Kind& k = kind(array);
      TensorType& t = n.types[0].tensor;
      if (!t.ranked) {
        t = {k.dtype, true, k.dims};
        if (n.op != Op::array_read) t.dims.insert(0, -1);
      }
      read(array);
      if (n.op == Op::array_stack) return become_op(Op::identity, {array});
      return become_op(Op::gather, {array, n.operands[1]}, along(0));
    }
    case ArrayOp::array_write: {
      Dims one = kind(array).dims;
      one.insert(0, 1);
      return become_op(Op::tensor_scatter_update, {array, reshape(n.operands[1], {1, 1}), reshape(n.operands[2], one)});
    }
    case ArrayOp::array_scatter:
      return become_op(Op::tensor_scatter_update, {array, reshape(n.operands[1], {-1, 1}), n.operands[2]});
    case ArrayOp::array_push:
    case ArrayOp::array_pop:  // of arrays that grow
    case ArrayOp::array_concat:
    case ArrayOp::array_split:
    case ArrayOp::array_add:
    case ArrayOp::array_zeros_like:
    case ArrayOp::array_sum: return;
  }
}

Ref ArrayLowering::missing(const Kind& k) {
  Result<Tensor> t = Tensor::empty(context_, k.dtype, Dims{});
  if (!t) {
    failed_ = true;
    return {};
  }
  uint64_t bits = k.declared ? 0 : kUnwritten;
  std::memcpy(t->raw(), &bits, dtype_size(k.dtype));
  Ref r = add(Op::constant, {}, {}, {k.dtype, true, {}});
  r.node->constant = t.take();
  return r;
}

void ArrayLowering::require_written(Ref r) {
  const TensorType t = r.type().tensor;
  if (!all_known(TensorType{t.dtype, t.ranked,
                            t.dims.empty() ? Dims{} : Dims(std::span<const int64_t>(t.dims.begin() + 1, t.dims.end()))})) {
    failed_ = true;
    return;
  }
  constexpr DType kBits[] = {DType::U16, DType::U32, DType::U64};
  DType bits = kBits[dtype_size(t.dtype) == 2 ? 0 : dtype_size(t.dtype) == 4 ? 1 : 2];
  int64_t width = 1;
  for (size_t i = 1; i < t.dims.size(); ++i) width *= t.dims[i];
  Ref first = r;
  if (!t.dims.empty())
    first = add(Op::gather, {reshape(r, {-1, width}), constant(DType::I32, {}, {{int64_t{0}}})}, along(1), {t.dtype, true, {-1}});
  const Dims dims = first.type().tensor.dims;
  Ref raw = add(Op::bitcast, {first}, Attrs().set_dtype(Attr::dtype, bits), {bits, true, dims});
  Ref other = add(Op::not_equal, {raw, constant(bits, {}, {{static_cast<int64_t>(kUnwritten)}})}, {}, {DType::Bool, true, dims});
  if (!dims.empty()) other = add(Op::reduce_all, {other}, {}, {DType::Bool, true, {}});
  Node* check = block_->add(Op::check, {other}, {}, {});
  check->location = location_;
}
namespace {

bool is_zero(Ref r) {
  const Tensor& t = r.node->constant;
  return r.node->op == Op::constant && t.rank() == 0 && load_int(t.dtype(), t.raw()) == 0;
}

}  // namespace

bool is_array_of_rows(const ir::Node& n) {
  return op_facts(n.op).rows && (n.op != Op::array_new || !n.attrs.get_bool(Attr::grows) || is_zero(n.operands[0]));
}

bool has_arrays(const Node& n) {
  bool found = false;
  auto look = [&](const Node& x) {
    for (const ir::Type& t : x.types) found = found || is_array(t);
    for (Ref r : x.operands) found = found || is_array(r.type());
  };
  look(n);
  for (const auto& region : n.regions) ir::walk(*region, look);
  return found;
}

std::shared_ptr<ir::Function> without_arrays(Context& context, const ir::Function& f, bool& possible, bool growing) {
  bool any = std::any_of(f.body.nodes.begin(), f.body.nodes.end(), [](const auto& n) { return has_arrays(*n); });
  possible = true;
  if (!any) return nullptr;
  std::shared_ptr<ir::Function> copy = ir::clone(f);
  possible = ArrayLowering(context, *copy, growing).run();
  return possible ? copy : nullptr;
}

}  // namespace tfl::plan
