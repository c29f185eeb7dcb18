#include "ir/loop_truths.h"

#include <algorithm>

#include "ir/infer.h"
#include "runtime/tensor/element.h"

namespace tfl::ir {

namespace {

bool is_true(const Tensor& t) { return t && t.rank() == 0 && t.dtype() == DType::Bool && *t.data<uint8_t>() != 0; }

bool number(Ref r, int64_t& out) {
  const Tensor& t = r.node->constant;
  if (r.node->op != Op::constant || t.rank() != 0 || !is_integer(t.dtype()) || t.dtype() == DType::U64) return false;
  out = load_int(t.dtype(), t.raw());
  return true;
}

// What an integer is at least, of which it is known that it counts the iterations of a loop that runs.
bool at_least(Context& context, Ref r, int64_t& out) {
  if (number(r, out)) return true;
  const Node& loop = *r.node;
  if (loop.op != Op::while_loop) return false;
  const Block& body = *loop.regions[1];
  const Node& next = *body.results[r.index].node;
  int64_t first, step;
  if (next.op != Op::add || !(next.operands[0] == body.param(r.index)) || !number(next.operands[1], step) || step < 0 ||
      !number(loop.operands[r.index], first) || !surely_runs(context, loop))
    return false;
  return !__builtin_add_overflow(first, step, &out);
}

bool is_scalar(Ref r) {
  const Type& t = r.type();
  return t.is_tensor() && t.tensor.dtype == DType::Bool && t.tensor.ranked && t.tensor.dims.empty();
}

}  // namespace

bool surely_runs(Context& context, const Node& loop) {
  if (loop.attrs.get_int(Attr::limit, -1) == 0) return false;
  const Block& test = *loop.regions[0];
  const Node& last = *test.results[0].node;
  if (last.op == Op::greater && last.operands[0].node->op == Op::parameter) {
    int64_t low, than;
    for (size_t i = 0; i < test.params.size(); ++i) {
      if (last.operands[0] == test.param(i) && number(last.operands[1], than) && at_least(context, loop.operands[i], low))
        return low > than;
    }
  }
  constexpr size_t kFew = 32;
  if (test.nodes.size() > kFew) return false;
  Function scratch;
  std::vector<Ref> arguments;
  for (Ref r : loop.operands) {
    Tensor known = r.type().is_tensor() ? static_value(context, r) : Tensor();
    arguments.push_back(known ? append_constant(scratch.body, std::move(known)) : scratch.body.add_param(r.type(), ""));
  }
  return is_true(static_value(context, inline_block(test, scratch.body, std::move(arguments))[0]));
}

LoopTruths::LoopTruths(const Block& body, const std::vector<HandedTruth>& handed) {
  for (const HandedTruth& h : handed) {
    handed_[h.param] = &h;
    if (h.begins_true) true_[h.param] = true;
  }
  for (const auto& n : body.nodes) {
    Ref r{n.get(), 0};
    if (n->op == Op::logical_or && is_scalar(r) && at_first(r)) true_[r] = true;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = true_.begin(); it != true_.end();) {
      const bool stays = in_next(it->first);
      changed = changed || !stays;
      it = stays ? std::next(it) : true_.erase(it);
    }
  }
  for (const auto& n : body.nodes) {
    if (true_.contains({n.get(), 0})) found_.push_back({n.get(), 0});
  }
  for (const HandedTruth& h : handed) {
    if (true_.contains(h.param)) found_.push_back(h.param);
  }
}

bool LoopTruths::holds(Ref r) const {
  if (true_.contains(r)) return true;
  if (r.node->op == Op::constant) return is_true(r.node->constant);
  return r.node->op == Op::logical_or && is_scalar(r) && (holds(r.node->operands[0]) || holds(r.node->operands[1]));
}

bool LoopTruths::at_first(Ref r) const {
  if (r.node->op == Op::constant) return is_true(r.node->constant);
  if (auto it = handed_.find(r); it != handed_.end()) return it->second->begins_true;
  return r.node->op == Op::logical_or && is_scalar(r) && (at_first(r.node->operands[0]) || at_first(r.node->operands[1]));
}

bool LoopTruths::in_next(Ref r) const {
  if (r.node->op == Op::constant) return is_true(r.node->constant);
  if (auto it = handed_.find(r); it != handed_.end()) return holds(it->second->next);
  return r.node->op == Op::logical_or && is_scalar(r) && (in_next(r.node->operands[0]) || in_next(r.node->operands[1]));
}

}  // namespace tfl::ir
