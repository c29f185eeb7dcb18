// Transposes and reshapes move behind elementwise operations, towards others that undo them, and into products that can read their
// operands either way.
//
//   %t = transpose(%x) : f32[4,3]
//   %e = exp(%t) : f32[4,3]
//   %m = matmul(%t2, %y) : f32[4,5]               (%t2 = transpose(%z), of two axes)
// becomes
//   %e0 = exp(%x) : f32[3,4]
//   %e = transpose(%e0) : f32[4,3]
//   %m = matmul(%z, %y) {transpose_a = true} : f32[4,5]
#include <unordered_map>

#include "ir/infer.h"
#include "optimizer/moves.h"
#include "optimizer/pass.h"
#include "optimizer/rewrite.h"

namespace tfl::optimizer {

namespace {

bool moves_elements(const Node& n) {
  return n.op == Op::transpose || n.op == Op::reshape || n.op == Op::expand_dims || n.op == Op::squeeze;
}

class Sinker {
 public:
  explicit Sinker(PassCall& call) : call_(call) {}

  void operator()(Block& block) {
    uses_.clear();
    auto use = [this](Ref r) { ++uses_[r.node]; };
    for (auto& n : block.nodes) {
      for (Ref r : n->operands) use(r);
    }
    for (Ref r : block.results) use(r);
    Rewriter rewriter(block);
    rewriter.run([&](Node& n) {
      if (n.op == Op::matmul) {
        if (into_product(n)) rewriter.mark_changed();
        return true;
      }
      return !behind(n, block, rewriter);
    });
    call_.changed |= rewriter.changed();
  }

 private:
  bool only_here(Ref r) { return uses_[r.node] == 1; }

  // Elementwise operations of one moved operand; others are scalars, which fit any shape.
  bool behind(Node& n, Block& block, Rewriter& rewriter) {
    if (op_info(n.op).kind != OpKind::Elementwise || !has_static_shape(n.types[0]) || effects_of(n).fails) return false;
    size_t moved = n.operands.size();
    for (size_t i = 0; i < n.operands.size(); ++i) {
      const ir::Type& t = n.operands[i].type();
      if (has_static_shape(t) && t.tensor.dims.empty()) continue;
      if (moved != n.operands.size()) return false;
      moved = i;
    }
    if (moved == n.operands.size()) return false;
    Ref x = n.operands[moved];
    if (!moves_elements(*x.node) || !only_here(x) || !has_static_shape(x.type()) || !has_static_shape(x.node->operands[0].type()))
      return false;
    if (x.type().tensor.dims.empty() || x.node->operands[0].type().tensor.dims.empty()) return false;
    std::vector<Ref> operands(n.operands.begin(), n.operands.end());
    operands[moved] = x.node->operands[0];
    Result<Node*> inner = ir::append(call_.context, block, n.op, std::move(operands), n.attrs);
    if (!inner) return false;
    (*inner)->location = n.location;
    (*inner)->variable = n.variable;
    std::vector<Ref> rest(x.node->operands.begin(), x.node->operands.end());
    rest[0] = {*inner, 0};
    Result<Node*> outer = ir::append(call_.context, block, x.node->op, std::move(rest), x.node->attrs);
    if (!outer) {
      block.nodes.pop_back();
      return false;
    }
    (*outer)->location = x.node->location;
    uses_[*outer] = uses_[&n];
    rewriter.replace({&n, 0}, {*outer, 0});
    return true;
  }

  // A transpose of the last two axes becomes an attribute of the product: its sums keep their order.
  static bool into_product(Node& n) {
    bool any = false;
    for (size_t i = 0; i < 2; ++i) {
      Dims perm;
      const Node& t = *n.operands[i].node;
      if (t.op != Op::transpose || !permutation(t, perm) || perm.size() < 2) continue;
      int64_t rank = static_cast<int64_t>(perm.size());
      bool swaps = perm[perm.size() - 1] == rank - 2 && perm[perm.size() - 2] == rank - 1;
      for (int64_t k = 0; k + 2 < rank; ++k) swaps &= perm[static_cast<size_t>(k)] == k;
      if (!swaps) continue;
      bool now = !n.attrs.get_bool(i ? Attr::transpose_b : Attr::transpose_a);
      Attrs changed;
      changed.set_bool(Attr::transpose_a, i == 0 ? now : n.attrs.get_bool(Attr::transpose_a));
      changed.set_bool(Attr::transpose_b, i == 1 ? now : n.attrs.get_bool(Attr::transpose_b));
      if (n.attrs.find(Attr::name)) changed.set_text(Attr::name, std::string(n.attrs.get_text(Attr::name)));
      n.attrs = std::move(changed);
      n.operands[i] = t.operands[0];
      any = true;
    }
    return any;
  }

  PassCall& call_;
  std::unordered_map<const Node*, size_t> uses_;
};

}  // namespace

void run_sink(PassCall& call) {
  Sinker sink(call);
  innermost_first(call.function.body, sink);
}

}  // namespace tfl::optimizer
