#include "ir/native.h"

#include <unordered_map>

#include "ir/graph.h"

namespace tfl::ir {

namespace {

void put_back(Block& block) {
  std::vector<std::unique_ptr<Node>> old = std::move(block.nodes);
  block.nodes.clear();
  std::unordered_map<const Node*, std::vector<Ref>> now;  // results of the calls that are gone
  auto resolve = [&](Ref r) {
    auto found = now.find(r.node);
    return found == now.end() ? r : found->second[r.index];
  };
  for (auto& n : old) {
    for (Ref& r : n->operands) r = resolve(r);
    for (auto& region : n->regions) put_back(*region);
    if (n->op == Op::call && n->callee && n->callee->native) {
      now[n.get()] = inline_block(n->callee->body, block, {n->operands.begin(), n->operands.end()});
    } else {
      block.nodes.push_back(std::move(n));
    }
  }
  for (Ref& r : block.results) r = resolve(r);
}

}  // namespace

std::shared_ptr<Function> without_native(const Function& f) {
  std::shared_ptr<Function> copy = clone(f);
  put_back(copy->body);
  return copy;
}

}  // namespace tfl::ir
