// Rewriting a block from its first node to its last: each node is visited once its operands are final, and is kept, dropped or
// replaced; what is appended to the block meanwhile comes to stand before it. This header must not know any pass.
#pragma once

#include "ir/regions.h"

namespace tfl::optimizer {

using ir::Block;
using ir::inputs_from;
using ir::Node;
using ir::Ref;
using ir::variable_count;

class Rewriter {
 public:
  explicit Rewriter(Block& block) : block_(block) {}

  /// Later uses of `from`, a result of a node not yet kept, mean `to`.
  void replace(Ref from, Ref to);
  void replace_all(Node& from, std::span<const Ref> to) {
    for (uint32_t i = 0; i < from.types.size(); ++i) replace({&from, i}, to[i]);
  }
  Ref resolve(Ref r) const;
  bool changed() const { return changed_; }
  void mark_changed() { changed_ = true; }

  /// visit(node) -> bool: whether the node stays.
  template <class Visit>
  void run(Visit visit) {
    begin();
    for (auto& slot : old_) {
      Node& node = *slot;
      for (Ref& r : node.operands) r = resolve(r);
      bool stays = visit(node);
      if (stays)
        block_.nodes.push_back(std::move(slot));
      else
        changed_ = true;
    }
    finish();
  }

 private:
  void begin();
  void finish();

  Block& block_;
  std::vector<std::unique_ptr<Node>> old_;  // dropped nodes stay here until the end: refs may still name them
  std::vector<Ref> to_;                     // by Node::id + result
  std::vector<Node*> owner_;                // by Node::id: the node that has it in this rewriting
  bool changed_ = false;
};

/// Rewrites a block: visit(node, rewriter) -> bool, whether the node stays. `changed` is set when anything did.
template <class Visit>
void rewrite(Block& block, bool& changed, Visit visit) {
  Rewriter rewriter(block);
  rewriter.run([&](Node& n) { return visit(n, rewriter); });
  changed |= rewriter.changed();
}

/// Runs `visit(Block&)` on the regions inside a block first, then on the block.
template <class Visit>
void innermost_first(Block& block, Visit& visit) {
  for (auto& n : block.nodes) {
    for (auto& region : n->regions) innermost_first(*region, visit);
  }
  visit(block);
}

/// Adds an input to a node with regions: an operand, and a parameter of every region (returned for region `which`).
Ref add_region_input(Node& n, Ref value, size_t which);
/// Drops input `i` (counted without the predicate); no region may use it.
void drop_region_input(Node& n, size_t i);

/// No effect, no host, no region: may be computed twice, never, or elsewhere.
bool is_pure(const Node& n);
bool same_type_exactly(const ir::Type& a, const ir::Type& b);
bool has_static_shape(const ir::Type& t);

/// The integers of a constant operand; false when it is none.
bool constant_integers(Ref r, Dims& out);

}  // namespace tfl::optimizer
