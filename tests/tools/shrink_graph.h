// Makes a graph that shows an error as small as it can be.
#pragma once

#include "tests/unit/graphs.h"

namespace tfl::test {

using FunctionPtr = std::shared_ptr<ir::Function>;

// The nodes of all blocks, in order.
inline ir::Node* nth_node(ir::Function& f, size_t n) {
  ir::Node* found = nullptr;
  walk(f.body, [&](ir::Node& node) {
    if (n-- == 0) found = &node;
  });
  return found;
}

// Takes node `n` out of the function: uses get an earlier value of the same type.
inline bool remove_node(ir::Function& f, size_t n) {
  ir::Node* node = nth_node(f, n);
  if (!node) return false;
  ir::Block& b = *node->block;
  size_t at = 0;
  while (b.nodes[at].get() != node) ++at;
  for (uint32_t i = 0; i < node->types.size(); ++i) {
    ir::Ref other;
    for (const auto& p : b.params) {
      if (p->types[0] == node->types[i]) other = {p.get(), 0};
    }
    for (size_t k = 0; k < at && !other; ++k) {
      for (uint32_t r = 0; r < b.nodes[k]->types.size(); ++r) {
        if (b.nodes[k]->types[r] == node->types[i]) other = {b.nodes[k].get(), r};
      }
    }
    if (!other) {
      bool used = false;
      for (const auto& user : b.nodes) {
        for (ir::Ref r : user->operands) used |= r == ir::Ref{node, i};
      }
      for (ir::Ref r : b.results) used |= r == ir::Ref{node, i};
      if (used) return false;
      continue;
    }
    replace_uses(b, {node, i}, other);
  }
  b.nodes.erase(b.nodes.begin() + static_cast<ptrdiff_t>(at));
  return true;
}

/// The smallest that was found for which `still_wrong` holds; it holds for `f`.
template <class StillWrong>
FunctionPtr shrink_graph(Context& c, FunctionPtr f, StillWrong still_wrong) {
  auto wrong = [&](const FunctionPtr& g) { return verify(c, *g).empty() && still_wrong(g); };
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (size_t i = f->body.results.size(); i-- > 0 && f->body.results.size() > 1;) {
      FunctionPtr g = clone(*f);
      g->body.results.erase(g->body.results.begin() + static_cast<ptrdiff_t>(i));
      if (wrong(g)) {
        f = g;
        smaller = true;
      }
    }
    for (size_t i = node_count(*f); i-- > 0;) {
      FunctionPtr g = clone(*f);
      if (remove_node(*g, i) && wrong(g)) {
        f = g;
        smaller = true;
      }
    }
  }
  return f;
}

}  // namespace tfl::test
