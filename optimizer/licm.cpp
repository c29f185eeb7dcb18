// What a loop computes from invariants alone, and what cannot fail, is computed once before it.
//
//   %r = while_loop(%i, %w) {num = 1} ... do (%i: f32, %w: f32) { %e = exp(%w) : f32  %j = add(%i, %e) : f32  yield %j }
// becomes
//   %e = exp(%w) : f32
//   %r = while_loop(%i, %w, %e) {num = 1} ... do (%i: f32, %w: f32, %e: f32) { %j = add(%i, %e) : f32  yield %j }
#include "ir/infer.h"
#include "optimizer/pass.h"
#include "optimizer/rewrite.h"

namespace tfl::optimizer {

namespace {

class Hoister {
 public:
  explicit Hoister(PassCall& call) : call_(call) {}

  void operator()(Block& block) {
    Rewriter rewriter(block);
    rewriter.run([&](Node& n) {
      if (n.op != Op::while_loop) return true;
      for (size_t i = 0; i < n.regions.size(); ++i) region(n, i, block);
      return true;
    });
    call_.changed |= rewriter.changed();
  }

 private:
  // What stands outside of the loop for a value inside; nothing for what changes.
  static Ref outside(Ref r, const Node& loop, const Block& region) {
    for (size_t i = loop.types.size(); i < region.params.size(); ++i) {
      if (region.params[i].get() == r.node) return loop.operands[i];
    }
    return {};
  }

  void region(Node& loop, size_t which, Block& block) {
    Block& inside = *loop.regions[which];
    Rewriter rewriter(inside);
    rewriter.run([&](Node& n) { return !hoist(n, loop, which, block, rewriter); });
    call_.changed |= rewriter.changed();
  }

  bool hoist(Node& n, Node& loop, size_t which, Block& block, Rewriter& rewriter) {
    if (!is_pure(n) || n.types.size() != 1 || n.operands.empty() || effects_of(n).fails) return false;
    std::vector<Ref> operands;
    bool only_constants = true;
    for (Ref r : n.operands) {
      bool constant = r.node->op == Op::constant;
      only_constants &= constant;
      operands.push_back(constant ? r : outside(r, loop, *loop.regions[which]));
      if (!operands.back()) return false;
    }
    if (only_constants) return false;
    for (Ref& r : operands) {
      if (r.node->op == Op::constant && r.node->block != &block) r = ir::append_constant(block, r.node->constant);
    }
    Result<Node*> made = ir::append(call_.context, block, n.op, std::move(operands), n.attrs);
    if (!made) return false;
    (*made)->location = n.location;
    (*made)->name = n.name;
    (*made)->variable = n.variable;
    // It comes in again as an invariant; dead code elimination drops that where only hoisted nodes used it.
    rewriter.replace({&n, 0}, add_region_input(loop, {*made, 0}, which));
    return true;
  }

  PassCall& call_;
};

}  // namespace

void run_licm(PassCall& call) {
  Hoister hoist(call);
  innermost_first(call.function.body, hoist);
}

}  // namespace tfl::optimizer
