#include "codegen/plan/arrays.h"

#include <cstring>

#include "codegen/plan/native_ops.h"
#include "ir/ref_map.h"
#include "runtime/ops/infer_util.h"
#include "runtime/tensor/element.h"

namespace tfl::plan {

namespace {

using ir::Node;
using ir::Ref;

// What elements hold that nobody has written, bits that are hardly ever a value; where one is met the evaluator has to look.
constexpr uint64_t kUnwritten = 0x7ff5'a3c7'7fe5'7e93;

bool is_array(const ir::Type& t) { return t.kind == ir::TypeKind::Array; }
bool all_known(const TensorType& t) { return t.ranked && shape_rules::all_known(t.dims); }

class Lowering {
 public:
  Lowering(Context& context, ir::Function& f) : context_(context), f_(f) {}

  bool run() {
    for (const auto& p : f_.body.params) {
      if (is_array(p->types[0])) return false;
    }
    for (Ref r : f_.body.results) {
      if (is_array(r.type())) return false;
    }
    if (!learn(f_.body)) return false;
    for (auto& [r, parent] : parents_) {
      const Kind& k = kinds_[root(r)];
      bool sentinel = k.declared || dtype_size(k.dtype) > 1;
      if (!k.known || k.broken || !sentinel) return false;
    }
    rewrite(f_.body);
    return !failed_;
  }

 private:
  // Of arrays that are one: what is known of their elements.
  struct Kind {
    bool known = false, declared = true, broken = false;
    DType dtype = DType::F32;
    Dims dims;
  };

  Ref root(Ref r) {
    auto it = parents_.try_emplace(r, r).first;
    while (!(it->second == it->first)) it = parents_.find(it->second);
    return it->first;
  }
  void learn_dims(Kind& k, DType dtype, const Dims& dims) {
    k.broken = k.broken || (k.known && (!(k.dims == dims) || k.dtype != dtype));
    k.known = true;
    k.dtype = dtype;
    k.dims = dims;
  }
  void same(Ref a, Ref b) {
    if (!is_array(a.type())) return;
    a = root(a);
    b = root(b);
    if (a == b) return;
    Kind from = kinds_[a];
    Kind& to = kinds_[b];
    if (from.known) learn_dims(to, from.dtype, from.dims);
    to.declared = to.declared && from.declared;
    to.broken = to.broken || from.broken;
    parents_[a] = b;
  }
  void element(Ref array, const TensorType& t) {
    Kind& k = kinds_[root(array)];
    if (all_known(t))
      learn_dims(k, t.dtype, t.dims);
    else
      k.broken = true;
  }

  bool learn(ir::Block& b) {
    for (const auto& node : b.nodes) {
      Node& n = *node;
      Ref result{&n, 0};
      switch (n.op) {
        case Op::array_new: {
          const TensorType& t = n.types[0].tensor;
          Kind& k = kinds_[root(result)];
          if (n.attrs.get_bool(Attr::grows)) return false;
          if (all_known(t))
            learn_dims(k, t.dtype, t.dims);
          else
            k.declared = false;
          break;
        }
        case Op::array_from:
          if (n.attrs.get_bool(Attr::grows)) return false;
          element(result, row(n.operands[0].type().tensor));
          break;
        case Op::array_write:
          same(n.operands[0], result);
          element(result, n.operands[2].type().tensor);
          break;
        case Op::array_scatter:
          same(n.operands[0], result);
          element(result, row(n.operands[2].type().tensor));
          break;
        case Op::while_loop:
          for (size_t i = 0; i < n.operands.size(); ++i) {
            same(n.operands[i], n.regions[0]->param(i));
            same(n.operands[i], n.regions[1]->param(i));
            if (i >= n.types.size()) continue;
            same(n.operands[i], n.regions[1]->results[i]);
            same(n.operands[i], {&n, static_cast<uint32_t>(i)});
          }
          break;
        case Op::cond:
        case Op::switch_case:
          for (const auto& region : n.regions) {
            for (size_t i = 0; i < region->params.size(); ++i) same(n.operands[i + 1], region->param(i));
            for (size_t i = 0; i < region->results.size(); ++i) same(region->results[i], {&n, static_cast<uint32_t>(i)});
          }
          break;
        default:
          for (const ir::Type& t : n.types) {
            if (is_array(t)) return false;
          }
          if (!n.operands.empty() && is_array(n.operands[0].type()) && !is_array_of_rows(n)) return false;
          break;
      }
      for (const auto& region : n.regions) {
        if (!learn(*region)) return false;
      }
    }
    return true;
  }
  static TensorType row(const TensorType& t) {
    TensorType out = t;
    if (out.ranked && !out.dims.empty())
      out.dims.erase(0);
    else
      out.ranked = false;
    return out;
  }

  // A type before it is changed is asked for its kind; afterwards arrays are tensors everywhere.
  void rewrite(ir::Block& b) {
    for (auto& p : b.params) become(Ref{p.get(), 0});
    std::vector<std::unique_ptr<Node>> nodes = std::move(b.nodes);
    b.nodes.clear();
    for (auto& node : nodes) {
      Node& n = *node;
      block_ = &b;
      location_ = n.location;
      std::vector<Ref> checks;
      lower(n, checks);
      for (uint32_t i = 0; i < n.types.size(); ++i) become({&n, i});
      for (const auto& region : n.regions) rewrite(*region);
      b.nodes.push_back(std::move(node));
      block_ = &b;
      for (Ref r : checks) require_written(r);
    }
  }
  void become(Ref r) {
    ir::Type& t = r.node->types[r.index];
    if (!is_array(t)) return;
    const Kind& k = kinds_[root(r)];
    Dims dims = k.dims;
    dims.insert(0, -1);
    t = ir::Type::of({k.dtype, true, std::move(dims)});
  }

  Ref add(Op op, std::vector<Ref> operands, Attrs attrs, TensorType type) {
    Node* n = block_->add(op, std::move(operands), std::move(attrs), {ir::Type::of(std::move(type))});
    n->location = location_;
    return {n, 0};
  }
  Ref constant(DType dtype, const Dims& dims, std::span<const int64_t> values) {
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
  Ref constant(const Dims& values) { return constant(DType::I32, Dims{static_cast<int64_t>(values.size())}, values); }
  Ref reshape(Ref x, const Dims& dims) { return add(Op::reshape, {x, constant(dims)}, {}, {x.type().tensor.dtype, true, dims}); }
  static Attrs along(int64_t axis) { return Attrs().set_int(Attr::axis, axis); }

  // Other operands and another operation, in the same place; `checks` are rows that must have been written.
  void lower(Node& n, std::vector<Ref>& checks) {
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
    switch (n.op) {
      case Op::array_new: {
        const Kind& k = kind({&n, 0});
        Dims sizes;
        Ref dims;
        if (known_integers(context_, array, sizes) && sizes.size() == 1) {
          sizes.append(k.dims.begin(), k.dims.end());
          failed_ = failed_ || sizes[0] < 1;
          dims = constant(sizes);
        } else {
          Ref size = array.type().tensor.dtype == DType::I32 ? array : add(Op::cast, {array}, Attrs().set_dtype(Attr::dtype, DType::I32), {DType::I32, true, {}});
          dims = reshape(size, {1});
          if (!k.dims.empty()) dims = add(Op::concat, {dims, constant(k.dims)}, along(0), {DType::I32, true, {static_cast<int64_t>(k.dims.size()) + 1}});
        }
        become_op(Op::fill, {dims, missing(k)});
        return;
      }
      case Op::array_from: return become_op(Op::identity, {array});
      case Op::array_size: return become_op(Op::gather, {add(Op::shape, {array}, Attrs().set_dtype(Attr::dtype, DType::I32), {DType::I32, true, {array_rank(array)}}), constant(DType::I32, {}, {{int64_t{0}}})}, along(0));
      case Op::array_read:
      case Op::array_gather:
      case Op::array_stack: {
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
      case Op::array_write: {
        Dims one = kind(array).dims;
        one.insert(0, 1);
        return become_op(Op::tensor_scatter_update, {array, reshape(n.operands[1], {1, 1}), reshape(n.operands[2], one)});
      }
      case Op::array_scatter: return become_op(Op::tensor_scatter_update, {array, reshape(n.operands[1], {-1, 1}), n.operands[2]});
      default: return;
    }
  }
  static int64_t array_rank(Ref r) { return static_cast<int64_t>(r.type().tensor.dims.size()); }  // it has become a tensor

  Ref missing(const Kind& k) {
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

  // The first element of each row of `r`, which was read from an array, is not what was there at first.
  void require_written(Ref r) {
    const TensorType t = r.type().tensor;
    if (!all_known(TensorType{t.dtype, t.ranked, t.dims.empty() ? Dims{} : Dims(std::span<const int64_t>(t.dims.begin() + 1, t.dims.end()))})) {
      failed_ = true;
      return;
    }
    constexpr DType kBits[] = {DType::U16, DType::U32, DType::U64};
    DType bits = kBits[dtype_size(t.dtype) == 2 ? 0 : dtype_size(t.dtype) == 4 ? 1 : 2];
    int64_t width = 1;
    for (size_t i = 1; i < t.dims.size(); ++i) width *= t.dims[i];
    Ref first = r;
    if (!t.dims.empty()) first = add(Op::gather, {reshape(r, {-1, width}), constant(DType::I32, {}, {{int64_t{0}}})}, along(1), {t.dtype, true, {-1}});
    const Dims dims = first.type().tensor.dims;
    Ref raw = add(Op::bitcast, {first}, Attrs().set_dtype(Attr::dtype, bits), {bits, true, dims});
    Ref other = add(Op::not_equal, {raw, constant(bits, {}, {{static_cast<int64_t>(kUnwritten)}})}, {}, {DType::Bool, true, dims});
    if (!dims.empty()) other = add(Op::reduce_all, {other}, {}, {DType::Bool, true, {}});
    Node* check = block_->add(Op::check, {other}, {}, {});
    check->location = location_;
  }

  Context& context_;
  ir::Function& f_;
  ir::RefMap<Ref> parents_;
  ir::RefMap<Kind> kinds_;
  ir::Block* block_ = nullptr;
  uint32_t location_ = 0;
  bool failed_ = false;
};

}  // namespace

bool is_array_of_rows(const ir::Node& n) {
  switch (n.op) {
    case Op::array_new:
    case Op::array_from: return !n.attrs.get_bool(Attr::grows);
    case Op::array_size:
    case Op::array_read:
    case Op::array_write:
    case Op::array_stack:
    case Op::array_gather:
    case Op::array_scatter: return true;
    default: return false;
  }
}

std::shared_ptr<ir::Function> without_arrays(Context& context, const ir::Function& f, bool& possible) {
  bool any = false;
  ir::walk(f.body, [&](const Node& n) {
    for (const ir::Type& t : n.types) any = any || is_array(t);
    for (Ref r : n.operands) any = any || is_array(r.type());
  });
  possible = true;
  if (!any) return nullptr;
  std::shared_ptr<ir::Function> copy = ir::clone(f);
  possible = Lowering(context, *copy).run();
  return possible ? copy : nullptr;
}

}  // namespace tfl::plan
