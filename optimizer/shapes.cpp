// Sizes that follow from types become constants, and types become as exact as inference now knows them.
//
//   %s = shape(%x) {dtype = i32} : i32[2]                 (%x: f32[3,4])
//   %b = reshape(%y, %s) : f32[?,?]
// becomes
//   %s = constant [3, 4] : i32[2]
//   %b = reshape(%y, %s) : f32[3,4]
#include "ir/infer.h"
#include "optimizer/pass.h"
#include "optimizer/rewrite.h"

namespace tfl::optimizer {

namespace {

// What both know of a value; false when they contradict each other, which only code that never runs does.
bool meet(const ir::Type& a, const ir::Type& b, ir::Type& out) {
  if (!ir::may_overlap(a, b)) return false;
  out = a;
  if (a.opaque || !b.tensor.ranked) return true;
  if (!a.tensor.ranked) {
    out.tensor = b.tensor;
    return true;
  }
  for (size_t i = 0; i < a.tensor.dims.size(); ++i) {
    int64_t x = a.tensor.dims[i], y = b.tensor.dims[i];
    out.tensor.dims[i] = x >= 0 ? x : y >= 0 ? y : x != -1 ? x : y;
  }
  return true;
}

class Shapes {
 public:
  explicit Shapes(PassCall& call) : call_(call) {}

  // Outermost first: what is known of an operand is known of the region's parameter.
  void operator()(Block& block) {
    rewrite(block, call_.changed, [&](Node& n, Rewriter& rewriter) { return visit(n, block, rewriter); });
  }

 private:
  bool visit(Node& n, Block& block, Rewriter& rewriter) {
    if (n.op == Op::constant) return true;
    enter(n);
    for (auto& region : n.regions) (*this)(*region);
    refine(n);
    if (is_pure(n) && n.types.size() == 1 && small_integers(n.types[0])) {
      if (Tensor value = ir::static_value(call_.context, {&n, 0})) {
        Ref c = ir::append_constant(block, std::move(value));
        c.node->location = n.location;
        rewriter.replace({&n, 0}, c);
        return false;
      }
    }
    return true;
  }

  static bool small_integers(const ir::Type& t) {
    return t.is_tensor() && t.tensor.ranked && t.tensor.dims.size() <= 1 && is_integer(t.tensor.dtype);
  }

  // Parameters that have their operand's value each time: of branches, and invariants of loops.
  void enter(Node& n) {
    size_t skip = inputs_from(n);
    for (auto& region : n.regions) {
      for (size_t i = variable_count(n); i < region->params.size(); ++i)
        refine(region->params[i]->types[0], n.operands[skip + i].type());
    }
  }

  void refine(ir::Type& t, const ir::Type& by) {
    ir::Type met;
    if (!meet(t, by, met) || met == t) return;
    t = std::move(met);
    call_.changed = true;
  }

  void refine(Node& n) {
    if (n.op == Op::host_call || n.op == Op::while_loop || n.types.empty()) return;
    if (op_info(n.op).kind == OpKind::Elementwise && has_static_shape(n.types[0])) return;
    std::vector<ir::Type> inferred;
    if (!ir::infer_node(call_.context, n.op, n.operands, n.attrs, n.regions, n.target(), inferred)) return;
    for (size_t i = 0; i < inferred.size() && i < n.types.size(); ++i) refine(n.types[i], inferred[i]);
  }

  PassCall& call_;
};

}  // namespace

void run_shapes(PassCall& call) {
  Shapes shapes(call);
  shapes(call.function.body);
}

}  // namespace tfl::optimizer
