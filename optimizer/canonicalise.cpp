// One form for graphs that mean the same, so that other passes see through more.
//
//   %b = add(%one, %x) : f32                              (%one a constant)
//   %c = cond(%p, %x, %x, %one) : f32 then (%a: f32, %b: f32, %k: f32) {...} else ...
// becomes
//   %b = add(%x, %one) : f32
//   %c = cond(%p, %x) : f32 then (%a: f32) { %k = constant 1 : f32 ... } else ...
#include "ir/infer.h"
#include "optimizer/pass.h"
#include "optimizer/rewrite.h"
#include "runtime/ops/facts.h"

namespace tfl::optimizer {

namespace {

class Canonicaliser {
 public:
  explicit Canonicaliser(PassCall& call) : call_(call) {}

  // Outermost first: a constant that enters a region goes on into the regions inside it.
  void operator()(Block& block) {
    for (auto& n : block.nodes) {
      constants_to_the_right(*n);
      if (n->regions.empty()) continue;
      share_inputs(*n);
      take_constants_in(*n);
      for (auto& region : n->regions) (*this)(*region);
    }
  }

 private:
  void constants_to_the_right(Node& n) {
    if (n.operands.size() != 2 || !op_facts(n.op).commutes || n.types[0].tensor.dtype == DType::String) return;
    if (n.operands[0].node->op != Op::constant || n.operands[1].node->op == Op::constant) return;
    if (effects_of(n).fails) return;  // its message names the operands in their order
    std::swap(n.operands[0], n.operands[1]);
    call_.changed = true;
  }

  void replace_param(Node& n, size_t input, size_t by) {
    for (auto& region : n.regions) replace_uses(*region, region->param(input), region->param(by));
  }

  // An input given twice, as far as the regions cannot give it another value.
  void share_inputs(Node& n) {
    size_t skip = inputs_from(n);
    for (size_t i = n.operands.size() - skip; i-- > variable_count(n);) {
      for (size_t j = variable_count(n); j < i; ++j) {
        if (!(n.operands[skip + i] == n.operands[skip + j])) continue;
        if (!same_params(n, i, j)) continue;
        replace_param(n, i, j);
        drop_region_input(n, i);
        call_.changed = true;
        break;
      }
    }
  }
  static bool same_params(const Node& n, size_t i, size_t j) {
    for (const auto& region : n.regions) {
      if (!(region->params[i]->types[0] == region->params[j]->types[0])) return false;
    }
    return true;
  }

  void take_constants_in(Node& n) {
    size_t skip = inputs_from(n);
    for (size_t i = n.operands.size() - skip; i-- > variable_count(n);) {
      const Node& from = *n.operands[skip + i].node;
      if (from.op != Op::constant) continue;
      for (auto& region : n.regions) {
        Ref inside = ir::append_constant(*region, from.constant);
        std::unique_ptr<Node> node = std::move(region->nodes.back());
        node->location = from.location;
        region->nodes.pop_back();
        region->nodes.insert(region->nodes.begin(), std::move(node));
        replace_uses(*region, region->param(i), inside);
      }
      drop_region_input(n, i);
      call_.changed = true;
    }
  }

  PassCall& call_;
};

}  // namespace

void run_canonicalise(PassCall& call) {
  Canonicaliser canonicalise(call);
  canonicalise(call.function.body);
}

}  // namespace tfl::optimizer
