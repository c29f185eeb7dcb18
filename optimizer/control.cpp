// Control flow that is decided already: a branch on a constant, a loop that ends at once or after few iterations, results that are the
// same whichever branch runs.
//
//   %y = cond(%true, %x) : f32 then (%a: f32) { %b = exp(%a) : f32 yield %b } else (%a: f32) { yield %a }
// becomes
//   %y = exp(%x) : f32
#include <unordered_set>

#include "ir/infer.h"
#include "optimizer/pass.h"
#include "optimizer/rewrite.h"
#include "runtime/tensor/element.h"

namespace tfl::optimizer {

namespace {

constexpr int kMostIterations = 8;     // of a loop that is unrolled
constexpr size_t kMostUnrolled = 256;  // nodes that unrolling one loop may make

size_t nodes_in(const Block& b) {
  size_t n = 0;
  walk(b, [&n](const Node&) { ++n; });
  return n;
}

bool has_effects(const Block& b) {
  for (const auto& n : b.nodes) {
    if (effects_of(*n).writes) return true;
  }
  return false;
}

bool scalar_constant(Ref r) { return r.node->op == Op::constant && r.node->constant.rank() == 0; }
bool is_true(const Tensor& t) { return *t.data<uint8_t>() != 0; }
bool same_constant(Ref a, Ref b) {
  if (!scalar_constant(a) || !scalar_constant(b)) return false;
  const Tensor &x = a.node->constant, &y = b.node->constant;
  if (x.dtype() != y.dtype() || x.dtype() == DType::String) return false;
  return std::equal(x.raw(), x.raw() + x.bytes(), y.raw());
}

class Control {
 public:
  explicit Control(PassCall& call) : call_(call) {}

  void operator()(Block& block) {
    Rewriter rewriter(block);
    rewriter.run([&](Node& n) {
      if (n.op == Op::cond || n.op == Op::switch_case) return !branch(n, block, rewriter);
      if (n.op == Op::while_loop) return !unroll(n, block, rewriter);
      return true;
    });
    call_.changed |= rewriter.changed();
  }

 private:
  // Replaces the node by the branch that its constant chooses.
  bool branch(Node& n, Block& block, Rewriter& rewriter) {
    if (n.op == Op::cond) {
      negated_predicate(n);
      known_inside(n);
    }
    size_t chosen = 0;
    Ref first = n.operands[0];
    if (scalar_constant(first)) {
      const Tensor& t = first.node->constant;
      if (n.op == Op::cond && t.dtype() == DType::Bool) {
        chosen = is_true(t) ? 0 : 1;
      } else if (n.op == Op::switch_case && is_integer(t.dtype())) {
        int64_t index = load_int(t.dtype(), t.raw());
        chosen = index < 0 || index >= static_cast<int64_t>(n.regions.size()) ? n.regions.size() - 1 : static_cast<size_t>(index);
      } else {
        return false;
      }
    } else if (n.regions.size() != 1) {
      same_results(n, block, rewriter);
      return false;
    }
    rewriter.replace_all(n, inline_block(*n.regions[chosen], block, {n.operands.begin() + 1, n.operands.end()}));
    return true;
  }

  // cond(not p) with its branches exchanged.
  void negated_predicate(Node& n) {
    Ref p = n.operands[0];
    if (p.node->op != Op::logical_not || !p.type().tensor.ranked || !p.type().tensor.dims.empty()) return;
    n.operands[0] = p.node->operands[0];
    std::swap(n.regions[0], n.regions[1]);
    call_.changed = true;
  }

  // A branch knows the predicate that led to it.
  void known_inside(Node& n) {
    Ref p = n.operands[0];
    if (p.type().tensor.dtype != DType::Bool || !p.type().tensor.ranked || !p.type().tensor.dims.empty() ||
        p.node->op == Op::constant)
      return;
    for (size_t i = n.operands.size() - 1; i-- > 0;) {
      if (!(n.operands[i + 1] == p)) continue;
      for (size_t r = 0; r < 2; ++r) {
        Result<Tensor> value = scalar<uint8_t>(call_.context, DType::Bool, r == 0 ? 1 : 0);
        if (!value) return;
        Block& region = *n.regions[r];
        Ref c = ir::append_constant(region, value.take());
        std::unique_ptr<Node> node = std::move(region.nodes.back());
        region.nodes.pop_back();
        region.nodes.insert(region.nodes.begin(), std::move(node));
        replace_uses(region, region.param(i), c);
      }
      drop_region_input(n, i);
      call_.changed = true;
    }
  }

  // A result that is one and the same input, or one constant, in every branch.
  void same_results(Node& n, Block& block, Rewriter& rewriter) {
    for (uint32_t i = 0; i < n.types.size(); ++i) {
      Ref same = outside(n, 0, i);
      bool constant = !same && scalar_constant(n.regions[0]->results[i]);
      for (size_t r = 1; r < n.regions.size() && (same || constant); ++r) {
        if (constant)
          constant = same_constant(n.regions[0]->results[i], n.regions[r]->results[i]);
        else if (!(outside(n, r, i) == same))
          same = Ref();
      }
      if (constant) same = ir::append_constant(block, n.regions[0]->results[i].node->constant);
      if (same) rewriter.replace({&n, i}, same);
    }
  }
  static Ref outside(const Node& n, size_t region, uint32_t result) {
    const Block& b = *n.regions[region];
    for (size_t i = 0; i < b.params.size(); ++i) {
      if (b.results[result] == b.param(i)) return n.operands[i + 1];
    }
    return {};
  }

  // Copies the loop's body as often as it is known to run; takes everything back when that is not known or too much.
  bool unroll(Node& n, Block& block, Rewriter& rewriter) {
    const Block& condition = *n.regions[0];
    const Block& body = *n.regions[1];
    if (has_effects(condition)) return false;
    size_t start = block.nodes.size(), each = nodes_in(body) + nodes_in(condition);
    int64_t limit = n.attrs.find(Attr::limit) ? n.attrs.get_int(Attr::limit) : -1;
    std::vector<Ref> values(n.operands.begin(), n.operands.end());
    std::vector<size_t> iterations;  // where each begins
    bool known = false;
    for (int64_t trips = 0; static_cast<size_t>(trips) * each <= kMostUnrolled && trips <= kMostIterations; ++trips) {
      Ref test = inline_block(condition, block, values)[0];
      Tensor value = ir::static_value(call_.context, test);
      if (!value || value.rank() != 0 || value.dtype() != DType::Bool) break;
      if (!is_true(value) || (limit >= 0 && trips >= limit)) {
        known = true;
        break;
      }
      iterations.push_back(block.nodes.size());
      std::vector<Ref> next = inline_block(body, block, values);
      for (size_t i = 0; i < next.size(); ++i) values[i] = settled(block, next[i]);
    }
    values.resize(n.types.size());
    if (!known || loses_failures(block, start, iterations, body.nodes.size(), values)) {
      while (block.nodes.size() > start) block.nodes.pop_back();
      return false;
    }
    for (size_t i = start; i < block.nodes.size(); ++i) {
      block.nodes[i]->name.clear();
      for (auto& region : block.nodes[i]->regions) walk(*region, [](Node& inner) { inner.name.clear(); });
    }
    rewriter.replace_all(n, values);
    return true;
  }

  // A variable that no iteration reads is computed in each of them, and may fail in each; unrolled, only the last would be live.
  static bool loses_failures(const Block& block, size_t start, std::span<const size_t> iterations, size_t count,
                             std::span<const Ref> results) {
    std::unordered_set<const Node*> live;
    for (Ref r : results) live.insert(r.node);
    for (size_t i = block.nodes.size(); i-- > start;) {
      const Node& n = *block.nodes[i];
      if (!live.contains(&n) && !effects_of(n).writes) continue;
      live.insert(&n);
      for (Ref r : n.operands) live.insert(r.node);
    }
    for (size_t k = 0; k < count && !iterations.empty(); ++k) {
      if (!live.contains(block.nodes[iterations.back() + k].get())) continue;
      for (size_t begin : iterations) {
        const Node& n = *block.nodes[begin + k];
        if (!live.contains(&n) && effects_of(n).fails) return true;
      }
    }
    return false;
  }

  // A value that is known stands for itself, so that the next iteration need not look far.
  Ref settled(Block& block, Ref r) {
    if (r.node->op == Op::constant || !r.type().is_tensor() || !r.type().tensor.ranked || !r.type().tensor.dims.empty()) return r;
    Tensor value = ir::static_value(call_.context, r);
    return value ? ir::append_constant(block, std::move(value)) : r;
  }

  PassCall& call_;
};

}  // namespace

void run_control(PassCall& call) {
  Control control(call);
  innermost_first(call.function.body, control);
}

}  // namespace tfl::optimizer
