// Calls of functions that do not call themselves are replaced by what they do.
//
//   %y = call @square(%x) : f32
// becomes
//   %y = multiply(%x, %x) : f32
#include <unordered_set>

#include "ir/inlined.h"
#include "optimizer/pass.h"
#include "optimizer/rewrite.h"

namespace tfl::optimizer {

namespace {

constexpr size_t kMostNodes = 4000;     // of a function that is inlined
constexpr size_t kMostGrowth = 100000;  // nodes added by one run of the pass

// A function from which a call leads back to it, or to something around it that is still called by name.
bool calls_itself(const ir::Function& f) {
  bool found = false;
  std::unordered_set<const ir::Function*> seen;
  std::vector<const ir::Function*> waiting{&f};
  while (!waiting.empty() && !found) {
    const ir::Function* g = waiting.back();
    waiting.pop_back();
    if (!seen.insert(g).second) continue;
    walk(g->body, [&](const Node& n) {
      found |= n.recursive != nullptr;
      if (n.callee) waiting.push_back(n.callee.get());
    });
  }
  return found;
}

class Inliner {
 public:
  explicit Inliner(PassCall& call) : call_(call) {}

  void operator()(Block& block) {
    rewrite(block, call_.changed, [&](Node& n, Rewriter& rewriter) { return n.op != Op::call || visit(n, block, rewriter); });
  }

 private:
  bool visit(Node& n, Block& block, Rewriter& rewriter) {
    if (!n.callee || n.callee->body.params.size() != n.operands.size() || calls_itself(*n.callee)) return true;
    size_t size = node_count(*n.callee);
    if (size > kMostNodes || grown_ + size > kMostGrowth) return true;
    grown_ += size;
    size_t first = block.nodes.size();
    std::vector<Ref> results = inline_block(n.callee->body, block, {n.operands.begin(), n.operands.end()});
    ir::set_call_place(block, first, block.nodes.size(), n.location);
    ++calls_;
    finish(n, block, first);
    rewriter.replace_all(n, results);
    return false;
  }

  // Names and named sizes in terms of the caller.
  void finish(const Node& n, Block& block, size_t first) {
    if (!n.callee->symbols.empty()) ir::set_sizes(block, first, block.nodes.size(), ir::sizes_at_call(*n.callee, n.operands));
    auto visit = [&](Node& inner, auto& self) -> void {
      if (const AttrValue* seeds = inner.attrs.find(Attr::graph_seeds); seeds && seeds->ints.size() == 3) {
        // Each call draws from streams of its own.
        auto draw = (static_cast<uint64_t>(seeds->ints[2]) + calls_) * 0x9E3779B97F4A7C15u;
        inner.attrs = Attrs()
                          .set_text(Attr::stream, std::string(inner.attrs.get_text(Attr::stream)))
                          .set_int(Attr::seed, inner.attrs.get_int(Attr::seed, -1))
                          .set_ints(Attr::graph_seeds, {seeds->ints[0], seeds->ints[1], static_cast<int64_t>(draw >> 1)});
      }
      inner.name = n.name.empty() || inner.name.empty() ? std::string() : n.name + "/" + inner.name;
      for (auto& region : inner.regions) {
        for (auto& deeper : region->nodes) self(*deeper, self);
      }
    };
    for (size_t i = first; i < block.nodes.size(); ++i) visit(*block.nodes[i], visit);
  }

  PassCall& call_;
  size_t grown_ = 0;
  uint64_t calls_ = 0;
};

}  // namespace

void run_inline(PassCall& call) {
  // What is inlined may call on: as deep as calls go.
  for (int depth = 0; depth < 50; ++depth) {
    bool before = call.changed;
    call.changed = false;
    Inliner pass(call);
    innermost_first(call.function.body, pass);
    bool again = call.changed;
    call.changed |= before;
    if (!again) break;
  }
}

}  // namespace tfl::optimizer
