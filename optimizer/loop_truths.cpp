// Booleans that are true in every iteration of a loop, one way or another, and those that are true after a loop which is certain to run.
// Gradients have such: whether a value that a loop hands on has a gradient by now.
//
//   %r, %s = while_loop(%true, %false) ... do (%p: bool, %q: bool) { %a = logical_or(%p, %q)  ... yield %false, %a }
// becomes
//   %r, %s = while_loop(%true, %false) ... do (%p: bool, %q: bool) { ... yield %false, %true }      (%s is %true where it runs)
#include "ir/loop_truths.h"

#include "ir/infer.h"
#include "optimizer/pass.h"
#include "optimizer/rewrite.h"

namespace tfl::optimizer {

namespace {

class Truths {
 public:
  explicit Truths(PassCall& call) : call_(call) {}

  void operator()(Block& block) {
    rewrite(block, call_.changed, [&](Node& n, Rewriter& rewriter) {
      if (n.op == Op::while_loop) visit(n, block, rewriter);
      return true;
    });
  }

 private:
  void visit(Node& loop, Block& block, Rewriter& rewriter) {
    Block& body = *loop.regions[1];
    std::vector<ir::HandedTruth> handed;
    for (size_t i = 0; i < loop.types.size(); ++i) {
      const ir::Type& t = body.param(i).type();
      if (!t.is_tensor() || t.tensor.dtype != DType::Bool || !t.tensor.ranked || !t.tensor.dims.empty()) continue;
      const Node& first = *loop.operands[i].node;
      handed.push_back({body.param(i), body.results[i], first.op == Op::constant && *first.constant.data<uint8_t>() != 0});
    }
    if (handed.empty()) return;
    const ir::LoopTruths truths(body, handed);
    std::vector<bool> after(loop.types.size(), false);
    bool any = false;
    for (size_t i = 0; i < loop.types.size(); ++i) any |= after[i] = truths.holds(body.results[i]);
    if (any && ir::surely_runs(call_.context, loop)) {
      for (uint32_t i = 0; i < loop.types.size(); ++i) {
        if (!after[i]) continue;
        Result<Tensor> yes = scalar<uint8_t>(call_.context, DType::Bool, 1);
        if (!yes) return;
        rewriter.replace({&loop, i}, ir::append_constant(block, yes.take()));
      }
    }
    if (truths.found().empty()) return;
    Result<Tensor> yes = scalar<uint8_t>(call_.context, DType::Bool, 1);
    if (!yes) return;
    Ref constant = ir::append_constant(body, yes.take());
    std::unique_ptr<Node> node = std::move(body.nodes.back());
    body.nodes.pop_back();
    body.nodes.insert(body.nodes.begin(), std::move(node));
    for (Ref r : truths.found()) replace_uses(body, r, constant);
    call_.changed = true;
  }

  PassCall& call_;
};

}  // namespace

void run_loop_truths(PassCall& call) {
  Truths pass(call);
  innermost_first(call.function.body, pass);
}

}  // namespace tfl::optimizer
