// Functions whose sizes follow from values (the elements of a mask that are true, the distinct ones): machine code up to such an
// operation, which the library's runtime does, and machine code for what comes after it.
//
//   %m = greater(%x, %zero)              step part 0: (x) -> m
//   %y = boolean_mask(%x, %m)            step boolean_mask: (x, m) -> y
//   %s = reduce_sum(%y)                  step part 1: (y) -> s
//
// Branches and loops with such operations have steps of their own.
#include <fmt/core.h>

#include "codegen/library/library.h"
#include "codegen/plan/native_ops.h"
#include "codegen/plan/outline.h"
#include "ir/ref_map.h"

namespace tfl::codegen {

namespace {

using ir::Node;
using ir::Ref;

std::optional<Step::Kind> kind_of(Op op) {
  switch (op) {
    case Op::nonzero: return Step::Kind::nonzero;
    case Op::boolean_mask: return Step::Kind::boolean_mask;
    case Op::unique: return Step::Kind::unique;
    case Op::unique_with_counts: return Step::Kind::unique_with_counts;
    default: return std::nullopt;
  }
}

bool is_tensor_of_numbers(const ir::Type& t) {
  return t.is_tensor() && t.tensor.ranked && t.tensor.dtype != DType::String;
}

// The node that is in the way: of a staged branch or loop, what it holds that is no step either.
const Node& culprit_in(Context& context, const Node& n) {
  for (const auto& region : n.regions) {
    for (const auto& inner : region->nodes) {
      if (inner->op != Op::constant && !kind_of(inner->op) && !plan::is_native(context, *inner))
        return culprit_in(context, *inner);
    }
  }
  return n;
}

std::string refusal(Context& context, const ir::Function& f, const Node& stays) {
  const Node& n = culprit_in(context, stays);
  std::string place = place_of(f, n), why = plan::why_not_native(context, n);
  std::string_view name = op_info(n.op).name;
  if (n.op == Op::while_loop || n.op == Op::cond || n.op == Op::switch_case)
    return fmt::format("{}{} cannot be part of a library: a staged {} has {}", place, f.name,
                       n.op == Op::while_loop ? "loop" : "branch", why);
  std::string_view way =
      op_info(n.op).kind == OpKind::Effect
          ? "leave it to the program that calls the library"
          : "leave it to the program that calls the library, or build the script with --emit executable";
  if (why.empty() || why == "a library operation")
    return fmt::format("{}{} cannot be part of a library: there is no machine code for {}; {}", place, f.name, name,
                       way);
  return fmt::format("{}{} cannot be part of a library: there is no machine code for {} with {}; {}", place, f.name,
                     name, why, way);
}

class Lowering {
 public:
  Lowering(Context& context, ir::Function& f, LoweredFunction& out) : context_(context), function_(f), out_(out) {}

  Result<void> run() {
    for (auto& p : function_.body.params) number(*p);
    TFL_TRY(block(function_.body, out_.steps));
    out_.results = TFL_TRY(values(function_.body.results));
    return {};
  }

 private:
  void number(Node& n) {
    for (uint32_t i = 0; i < n.types.size(); ++i) {
      numbers_[{&n, i}] = static_cast<uint32_t>(out_.values.size());
      out_.values.push_back({n.types[i].tensor.dtype, static_cast<int64_t>(n.types[i].tensor.dims.size()), {}});
    }
  }
  template <class Refs>
  Result<std::vector<uint32_t>> values(const Refs& refs) {
    std::vector<uint32_t> out;
    for (Ref r : refs) {
      auto found = numbers_.find(r);
      if (found == numbers_.end())
        return fail(ErrorKind::ValueError, "{}{} cannot be part of a library: it gives text",
                    place_of(function_, *r.node), function_.name);
      out.push_back(found->second);
    }
    return out;
  }

  Result<void> block(const ir::Block& b, std::vector<Step>& into) {
    for (const auto& n : b.nodes) {
      if (n->op != Op::constant) {
        TFL_TRY(node(*n, into));
      } else if (n->constant.dtype() != DType::String) {
        number(*n);
        out_.values.back().constant = TFL_TRY(contiguous(context_, n->constant));
      }
    }
    return {};
  }

  // Machine code for all of `graph`, where that is possible.
  bool part(const std::shared_ptr<ir::Function>& graph, Step& step) {
    step.part = static_cast<uint32_t>(out_.parts.size());
    return add_part(context_, graph, out_.parts);
  }

  Result<void> node(Node& n, std::vector<Step>& into) {
    Step step;
    std::optional<Step::Kind> kind = kind_of(n.op);
    for (const ir::Type& t : n.types) {
      if (!is_tensor_of_numbers(t)) return fail(ErrorKind::ValueError, "{}", refusal(context_, function_, n));
    }
    step.inputs = TFL_TRY(values(n.operands));
    bool native = !kind && n.op != Op::call && plan::is_native(context_, n);
    if (n.op == Op::call) {
      if (!part(n.callee, step)) return inlined(n, into);
    } else if (kind) {
      step.kind = *kind;
      step.axis = n.attrs.get_int(Attr::axis);
      if (n.op == Op::boolean_mask && step.axis < 0)
        step.axis += static_cast<int64_t>(n.operands[0].type().tensor.dims.size());
    } else if (native && part(alone(n), step)) {
    } else if (!n.regions.empty()) {
      TFL_TRY(control(n, step));
    } else if (native) {
      return fail(ErrorKind::ValueError, "{}", no_plan(n));
    } else {
      return fail(ErrorKind::ValueError, "{}", refusal(context_, function_, n));
    }
    number(n);
    for (uint32_t i = 0; i < n.types.size(); ++i) step.results.push_back(numbers_.at({&n, i}));
    into.push_back(std::move(step));
    return {};
  }

  Result<void> control(const Node& n, Step& step) {
    step.kind = n.op == Op::cond ? Step::Kind::branch : n.op == Op::switch_case ? Step::Kind::choice : Step::Kind::loop;
    if (n.op == Op::while_loop) step.axis = static_cast<int64_t>(n.types.size());
    for (const auto& region : n.regions) {
      Step::Region made;
      for (const auto& p : region->params) {
        if (!is_tensor_of_numbers(p->types[0]))
          return fail(ErrorKind::ValueError, "{}", refusal(context_, function_, n));
        number(*p);
        made.params.push_back(numbers_.at({p.get(), 0}));
      }
      TFL_TRY(block(*region, made.steps));
      made.results = TFL_TRY(values(region->results));
      step.regions.push_back(std::move(made));
    }
    return {};
  }

  // A cluster whose sizes follow from values inside of it: one operation after the other.
  Result<void> inlined(Node& call, std::vector<Step>& into) {
    const ir::Block& body = call.callee->body;
    std::vector<uint32_t> operands = TFL_TRY(values(call.operands));
    for (size_t i = 0; i < operands.size(); ++i) numbers_[{body.params[i].get(), 0}] = operands[i];
    TFL_TRY(block(body, into));
    std::vector<uint32_t> results = TFL_TRY(values(body.results));
    for (uint32_t i = 0; i < results.size(); ++i) numbers_[{&call, i}] = results[i];
    return {};
  }

  std::string no_plan(const Node& n) {
    return fmt::format(
        "{}{} cannot be part of a library: a size follows from values here, by other means than boolean_mask, where "
        "and unique",
        place_of(function_, n), function_.name);
  }

  // A function of nothing but `n`; constant operands go along, since sizes may follow from them.
  std::shared_ptr<ir::Function> alone(const Node& n) {
    auto f = std::make_shared<ir::Function>();
    f->name = function_.name;
    f->locations = function_.locations;
    f->symbols = function_.symbols;
    std::vector<Ref> operands;
    for (Ref r : n.operands) operands.push_back(f->body.add_param(r.type(), r.node->name));
    std::vector<Ref> inside = operands;
    for (size_t i = 0; i < inside.size(); ++i) {
      if (n.operands[i].node->op != Op::constant) continue;
      Node* constant = f->body.add(Op::constant, {}, {}, n.operands[i].node->types);
      constant->constant = n.operands[i].node->constant;
      inside[i] = {constant, 0};
    }
    Node* copy = f->body.add(n.op, std::move(inside), n.attrs, n.types);
    copy->name = n.name;
    copy->location = n.location;
    for (const auto& region : n.regions) copy->regions.push_back(ir::clone_region(*region, copy, f.get()));
    for (uint32_t i = 0; i < n.types.size(); ++i) f->body.results.push_back({copy, i});
    return f;
  }

  Context& context_;
  ir::Function& function_;
  LoweredFunction& out_;
  ir::RefMap<uint32_t> numbers_;
};

}  // namespace

Result<void> lower_to_steps(Context& context, ir::Function& graph, LoweredFunction& out) {
  out.parts.clear();
  plan::outline(context, graph, [](const std::shared_ptr<ir::Function>&) {});
  return Lowering(context, graph, out).run();
}

}  // namespace tfl::codegen
