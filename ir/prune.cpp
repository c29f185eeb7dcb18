// Non-strict execution: a graph keeps what its results and its visible effects need. Goes through regions as well: a result of a
// branch that nobody reads, a loop variable that only feeds itself.
#include "ir/graph.h"

namespace tfl::ir {

namespace {

class Pruner {
 public:
  Pruner(Function& f, bool strict) : f_(f), strict_(strict) {}

  // Removes nodes of `block`; afterwards Node::id of a parameter tells whether it is used.
  void block(Block& b) {
    std::vector<char> used = mark(b);
    size_t removed = 0;
    for (size_t i = b.nodes.size(); i-- > 0;) {
      Node& n = *b.nodes[i];
      if (keeps(n, used)) {
        narrow(n, used);
        for (Ref r : n.operands) used[r.node->id + r.index] = 1;
        continue;
      }
      if (effects_of(n).fails) note(n);
      b.nodes[i].reset();
      ++removed;
    }
    if (removed) std::erase_if(b.nodes, [](const auto& n) { return !n; });
    for (auto& p : b.params) p->id = used[p->id];
  }

 private:
  // Numbers the results of the block and marks what its own results use.
  std::vector<char> mark(Block& b) {
    uint32_t next = 0;
    for (auto& p : b.params) p->id = next++;
    for (auto& n : b.nodes) {
      n->id = next;
      next += static_cast<uint32_t>(n->types.size());
    }
    std::vector<char> used(next, 0);
    for (Ref r : b.results) used[r.node->id + r.index] = 1;
    return used;
  }

  bool keeps(const Node& n, const std::vector<char>& used) const {
    for (size_t i = 0; i < n.types.size(); ++i) {
      if (used[n.id + i]) return true;
    }
    if (n.op == Op::constant) return false;
    Effects e = effects_of(n);
    return e.writes || (strict_ && e.fails);
  }

  void note(const Node& n) {
    if (f_.dropped.size() >= 1000) return;
    std::string text(op_info(n.op).name);
    if (n.location < f_.locations->size() && n.location) {
      const Location& l = (*f_.locations)[n.location];
      text += " at " + l.file + ":" + std::to_string(l.line);
    }
    f_.dropped.push_back(std::move(text));
  }

  void narrow(Node& n, const std::vector<char>& used) {
    if (n.regions.empty()) return;
    if (n.op == Op::while_loop) return narrow_loop(n, used);
    narrow_branches(n, used);
  }

  // Later uses of a node's results get new indices when earlier results go.
  static void drop_results(Node& n, const std::vector<char>& keep) {
    SmallVec<uint32_t, 8> to;
    std::vector<Type> types;
    for (size_t i = 0; i < n.types.size(); ++i) {
      to.push_back(static_cast<uint32_t>(types.size()));
      if (keep[i]) types.push_back(std::move(n.types[i]));
    }
    if (types.size() != to.size()) {
      auto renumber = [&](Ref& r) {
        if (r.node == &n) r.index = to[r.index];
      };
      for (auto& user : n.block->nodes) {
        if (!user) continue;
        for (Ref& r : user->operands) renumber(r);
      }
      for (Ref& r : n.block->results) renumber(r);
    }
    n.types = std::move(types);
  }

  static void erase(std::vector<Ref>& refs, const std::vector<char>& keep) {
    size_t at = 0;
    for (size_t i = 0; i < refs.size(); ++i) {
      if (i >= keep.size() || keep[i]) refs[at++] = refs[i];
    }
    refs.resize(at);
  }

  // Operands (after the first `skip`) and the parameters of every region that no region uses.
  static void drop_inputs(Node& n, size_t skip, const std::vector<char>& keep) {
    SmallVec<Ref, 2> operands;
    for (size_t i = 0; i < n.operands.size(); ++i) {
      if (i < skip || keep[i - skip]) operands.push_back(n.operands[i]);
    }
    if (operands.size() == n.operands.size()) return;
    n.operands = std::move(operands);
    for (auto& region : n.regions) {
      size_t at = 0;
      for (size_t i = 0; i < keep.size(); ++i) {
        if (!keep[i]) continue;
        if (at != i) region->params[at] = std::move(region->params[i]);
        ++at;
      }
      region->params.resize(at);
    }
  }

  void narrow_branches(Node& n, const std::vector<char>& used) {
    std::vector<char> keep(used.begin() + n.id, used.begin() + n.id + static_cast<ptrdiff_t>(n.types.size()));
    for (auto& region : n.regions) erase(region->results, keep);
    drop_results(n, keep);
    std::vector<char> inputs(n.operands.size() - 1, 0);
    for (auto& region : n.regions) {
      block(*region);
      for (size_t i = 0; i < inputs.size(); ++i) inputs[i] |= static_cast<char>(region->params[i]->id);
    }
    drop_inputs(n, 1, inputs);
  }

  // Which parameters the block needs for its effects and for those of its results that are wanted.
  std::vector<char> needs(Block& b, const std::vector<char>& wanted) {
    std::vector<char> used = mark(b);
    std::fill(used.begin(), used.end(), 0);
    for (size_t i = 0; i < b.results.size(); ++i) {
      if (wanted[i]) used[b.results[i].node->id + b.results[i].index] = 1;
    }
    for (size_t i = b.nodes.size(); i-- > 0;) {
      Node& n = *b.nodes[i];
      if (!keeps(n, used)) continue;
      for (Ref r : n.operands) used[r.node->id + r.index] = 1;
    }
    used.resize(b.params.size());
    return used;
  }

  void narrow_loop(Node& n, const std::vector<char>& used) {
    Block& condition = *n.regions[0];
    Block& body = *n.regions[1];
    size_t variables = n.types.size();
    std::vector<char> keep(used.begin() + n.id, used.begin() + n.id + static_cast<ptrdiff_t>(variables));
    block(condition);
    for (size_t i = 0; i < variables; ++i) keep[i] |= static_cast<char>(condition.params[i]->id);
    // A variable is needed when a needed one is computed from it.
    for (bool grown = true; grown;) {
      grown = false;
      std::vector<char> from = needs(body, keep);
      for (size_t i = 0; i < variables; ++i) {
        if (from[i] && !keep[i]) keep[i] = grown = true;
      }
    }
    erase(body.results, keep);
    drop_results(n, keep);
    block(body);
    std::vector<char> inputs(n.operands.size(), 0);
    for (size_t i = 0; i < inputs.size(); ++i) {
      // A kept variable stays although only its own next value uses it.
      inputs[i] = i < variables ? keep[i] : static_cast<char>(condition.params[i]->id | body.params[i]->id);
    }
    drop_inputs(n, 0, inputs);
    n.attrs = with_int(n.attrs, Attr::num, static_cast<int64_t>(n.types.size()));
  }

  Function& f_;
  bool strict_;
};

}  // namespace

void prune(Function& f, bool strict) {
  f.strict |= strict;
  Pruner(f, f.strict).block(f.body);
}

}  // namespace tfl::ir
