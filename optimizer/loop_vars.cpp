// A loop variable that the body hands on unchanged is no variable: it becomes an invariant, and after the loop it is what it was
// before. (Variables that nobody needs are dead code: dce.)
//
//   %i, %k = while_loop(%zero, %x) {num = 2} ... do (%i: i32, %k: f32) { ... yield %j, %k }
// becomes
//   %i = while_loop(%zero, %x) {num = 1} ... do (%i: i32, %k: f32) { ... yield %j }      (%k is %x)
#include "optimizer/pass.h"
#include "optimizer/rewrite.h"

namespace tfl::optimizer {

namespace {

class LoopVariables {
 public:
  explicit LoopVariables(PassCall& call) : call_(call) {}

  void operator()(Block& block) {
    rewrite(block, call_.changed,
            [&](Node& n, Rewriter& rewriter) { return n.op != Op::while_loop || visit(n, block, rewriter); });
  }

 private:
  bool visit(Node& n, Block& block, Rewriter& rewriter) {
    Block& body = *n.regions[1];
    SmallVec<uint32_t, 8> moving, staying;
    for (uint32_t i = 0; i < n.types.size(); ++i) {
      // The type of the variable may be wider than that of what enters it; who uses it may count on no more.
      bool same = body.results[i] == body.param(i);
      (same ? moving : staying).push_back(i);
    }
    if (moving.empty()) return true;

    auto loop = std::make_unique<Node>();
    loop->op = Op::while_loop;
    loop->attrs = ir::with_int(n.attrs, Attr::num, static_cast<int64_t>(staying.size()));
    loop->name = n.name;
    loop->variable = n.variable;
    loop->location = n.location;
    loop->block = &block;
    SmallVec<uint32_t, 8> order = staying;
    for (uint32_t i = static_cast<uint32_t>(n.types.size()); i < n.operands.size(); ++i) order.push_back(i);
    for (uint32_t i : moving) order.push_back(i);
    for (uint32_t i : order) loop->operands.push_back(n.operands[i]);
    for (auto& region : n.regions) {
      std::vector<std::unique_ptr<Node>> params;
      for (uint32_t i : order) params.push_back(std::move(region->params[i]));
      region->params = std::move(params);
      region->owner = loop.get();
    }
    std::vector<Ref> results;
    for (uint32_t i : staying) results.push_back(body.results[i]);
    body.results = std::move(results);
    loop->regions = std::move(n.regions);
    for (uint32_t k = 0; k < staying.size(); ++k) {
      loop->types.push_back(n.types[staying[k]]);
      rewriter.replace({&n, staying[k]}, {loop.get(), k});
    }
    for (uint32_t i : moving) rewriter.replace({&n, i}, n.operands[i]);
    block.nodes.push_back(std::move(loop));
    return false;
  }

  PassCall& call_;
};

}  // namespace

void run_loop_vars(PassCall& call) {
  LoopVariables pass(call);
  innermost_first(call.function.body, pass);
}

}  // namespace tfl::optimizer
