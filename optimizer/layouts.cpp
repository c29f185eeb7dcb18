// Transposes move behind elementwise operations, pads, concats, slices and reductions until they meet others, where fewer elements are moved
// then. What lies between them works in the order in which its operands lie.
//
//   %a = transpose(%x, perm) : f32[1,8,6,6]          (from f32[1,6,6,8])
//   %b = transpose(%y, perm) : f32[1,8,6,6]
//   %c = add(%a, %b) : f32[1,8,6,6]
//   %d = reduce_max(%c) {axes = [2, 3]} : f32[1,8]
// becomes
//   %c = add(%x, %y) : f32[1,6,6,8]
//   %d = reduce_max(%c) {axes = [1, 2]} : f32[1,8]
#include "optimizer/layouts.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/infer.h"
#include "optimizer/moves.h"
#include "optimizer/pass.h"
#include "optimizer/rewrite.h"

namespace tfl::optimizer {

namespace {

/// A value that is transpose(stored, perm).
struct Member {
  Dims perm;
  size_t group;            // those that are moved together or not at all
  bool plain_use = false;  // somebody needs the value itself
  Ref stored = {};         // once it has been made
};

double elements_of(const ir::Type& t) {
  double n = 1;
  for (int64_t d : t.tensor.dims) n *= static_cast<double>(d < 0 ? 64 : d);
  return n;
}

class Layouts {
 public:
  explicit Layouts(PassCall& call) : call_(call) {}

  void operator()(Block& block) {
    members_.clear();
    above_.clear();
    gain_.clear();
    stored_.clear();
    perms_.clear();
    failed_.clear();
    for (auto& n : block.nodes) find(*n);
    if (members_.empty()) return;
    for (auto& n : block.nodes) {
      auto member = members_.find(n.get());
      for (Ref r : n->operands) {
        Member* from = lies(r);
        if (from && (member == members_.end() || !takes(*n, r))) from->plain_use = true;
      }
    }
    for (Ref r : block.results) {
      if (Member* m = lies(r)) m->plain_use = true;
    }
    for (auto& n : block.nodes) {
      auto found = members_.find(n.get());
      if (found == members_.end()) continue;
      double& gain = gain_[root(found->second.group)];
      if (n->op == Op::transpose) gain += elements_of(n->types[0]);
      if (found->second.plain_use && !is_identity(found->second.perm)) gain -= elements_of(n->types[0]);
    }
    bool any = false;
    for (auto& [group, gain] : gain_) any |= gain > 0;
    if (any) rewrite(block, call_.changed, [&](Node& n, Rewriter& rewriter) { return visit(n, block, rewriter); });
  }

 private:
  // The member that a value is, unless it lies in its own order.
  Member* lies(Ref r) {
    auto found = members_.find(r.node);
    return found == members_.end() || is_identity(found->second.perm) ? nullptr : &found->second;
  }

  size_t root(size_t g) {
    while (above_[g] != g) g = above_[g] = above_[above_[g]];
    return g;
  }

  void add(const Node& n, Dims perm) {
    size_t group = above_.size();
    above_.push_back(group);
    for (Ref r : n.operands) {
      auto from = members_.find(r.node);
      if (from != members_.end() && takes(n, r)) above_[root(from->second.group)] = root(group);
    }
    members_.emplace(&n, Member{std::move(perm), group});
  }

  // What a member takes as it is stored: all but the numbers that say how.
  bool takes(const Node& n, Ref r) { return n.op == Op::concat || is_elementwise(n) ? lies(r) != nullptr : r == n.operands[0]; }

  static bool is_elementwise(const Node& n) { return op_info(n.op).kind == OpKind::Elementwise; }

  /// Along one axis at most: a reshape puts it in any order.
  static bool is_thin(Ref r, size_t rank) {
    const ir::Type& t = r.type();
    if (!has_static_shape(t) || t.tensor.dims.size() > rank) return false;
    return std::ranges::count_if(t.tensor.dims, [](int64_t d) { return d != 1; }) <= 1;
  }

  void find(const Node& n) {
    if (n.types.size() != 1 || !n.types[0].is_tensor() || !n.types[0].tensor.ranked || n.operands.empty()) return;
    size_t rank = n.types[0].tensor.dims.size();
    if (n.op == Op::transpose) {
      Dims perm;
      if (!permutation(n, perm)) return;
      if (Member* from = lies(n.operands[0])) {
        for (int64_t& p : perm) p = from->perm[static_cast<size_t>(p)];
      }
      add(n, std::move(perm));
      return;
    }
    if (is_elementwise(n) || n.op == Op::concat) {
      if (is_elementwise(n) && effects_of(n).fails) return;
      const Dims* perm = nullptr;
      for (Ref r : n.operands) {
        if (Member* m = lies(r)) {
          if (m->perm.size() != rank || (perm && !(*perm == m->perm))) return;
          perm = &m->perm;
        }
      }
      if (!perm) return;
      for (Ref r : n.operands) {
        if (!lies(r) && (n.op == Op::concat || !is_thin(r, rank))) return;
      }
      add(n, Dims(*perm));
      return;
    }
    Member* m = lies(n.operands[0]);
    if (!m) return;
    if (Dims perm = layouts::after(n, m->perm); !perm.empty() || (rank == 0 && layouts::moves(n))) add(n, std::move(perm));
  }

  Ref made(Block& block, const Node& like, Op op, std::vector<Ref> operands, Attrs attrs) {
    Result<Node*> node = ir::append(call_.context, block, op, std::move(operands), std::move(attrs));
    if (!node) return {};
    (*node)->location = like.location;
    (*node)->variable = like.variable;
    return {*node, 0};
  }

  // A value of one long axis at most, as it lies among operands with this order.
  Ref thin(Block& block, const Node& like, Ref r, const Dims& perm) {
    const Dims& dims = r.type().tensor.dims;
    if (std::ranges::all_of(dims, [](int64_t d) { return d == 1; }) && dims.size() <= 1) return r;
    Dims stored(perm.size());
    size_t lead = perm.size() - dims.size();
    for (size_t i = 0; i < perm.size(); ++i) stored[static_cast<size_t>(perm[i])] = i < lead ? 1 : dims[i - lead];
    Result<Tensor> sizes = layouts::numbers(call_.context, stored);
    if (!sizes) return {};
    return made(block, like, Op::reshape, {r, ir::append_constant(block, sizes.take())}, {});
  }

  bool visit(Node& n, Block& block, Rewriter& rewriter) {
    auto found = members_.find(&n);
    if (found == members_.end() || gain_[root(found->second.group)] <= 0) return true;
    if (turn(n, block, rewriter, found->second)) return false;
    // What cannot be made after all stays, over the values themselves.
    failed_.insert(&n);
    for (Ref& r : n.operands) {
      if (members_.contains(r.node) && stored_[r.node])
        r = made(block, n, Op::transpose, {stored_[r.node]}, Attrs().set_ints(Attr::perm, perms_[r.node]));
    }
    return true;
  }

  bool turn(Node& n, Block& block, Rewriter& rewriter, Member& m) {
    if (std::ranges::any_of(n.operands, [&](Ref r) { return failed_.contains(r.node); })) return false;
    auto stored = [&](Ref r) { return stored_[r.node] ? stored_[r.node] : r; };
    if (n.op == Op::transpose) {
      m.stored = stored(n.operands[0]);
    } else if (is_elementwise(n) || n.op == Op::concat) {
      std::vector<Ref> operands;
      for (Ref r : n.operands) operands.push_back(stored_[r.node] || n.op == Op::concat ? stored(r) : thin(block, n, r, m.perm));
      if (std::ranges::any_of(operands, [](Ref r) { return !r; })) return false;
      Attrs attrs = n.attrs;
      if (n.op == Op::concat) {
        int64_t axis = n.attrs.get_int(Attr::axis, 0), rank = static_cast<int64_t>(m.perm.size());
        attrs = ir::with_int(attrs, Attr::axis, m.perm[static_cast<size_t>(axis < 0 ? axis + rank : axis)]);
      }
      m.stored = made(block, n, n.op, std::move(operands), std::move(attrs));
    } else {
      Ref x = stored_[n.operands[0].node];
      if (x) m.stored = layouts::moved(call_.context, block, n, x, perms_[n.operands[0].node]);
    }
    if (!m.stored) return false;
    Ref plain = m.stored;
    if (!is_identity(m.perm) && m.plain_use)
      plain = made(block, n, Op::transpose, {m.stored}, Attrs().set_ints(Attr::perm, m.perm));
    if (!is_identity(m.perm)) {
      for (const Node* key : {static_cast<const Node*>(&n), static_cast<const Node*>(plain.node)}) {
        if (key == m.stored.node) continue;
        stored_[key] = m.stored;
        perms_[key] = m.perm;
      }
    }
    if (is_identity(m.perm) || m.plain_use) rewriter.replace({&n, 0}, plain);
    return true;
  }

  PassCall& call_;
  std::unordered_map<const Node*, Member> members_;
  std::unordered_map<const Node*, Ref> stored_;  // by the value, or by the transpose that gives it
  std::unordered_map<const Node*, Dims> perms_;  // likewise
  std::unordered_set<const Node*> failed_;
  std::vector<size_t> above_;                // groups, as a forest
  std::unordered_map<size_t, double> gain_;  // elements that are moved no longer, by group
};

}  // namespace

void run_layouts(PassCall& call) {
  Layouts layouts(call);
  innermost_first(call.function.body, layouts);
}

}  // namespace tfl::optimizer
