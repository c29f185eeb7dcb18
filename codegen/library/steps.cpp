// Functions whose sizes follow from values (the elements of a mask that are true, the distinct ones): machine code up to such an
// operation, which the library's runtime does, and machine code for what comes after it.
//
//   %m = greater(%x, %zero)              step part 0: (x) -> m
//   %y = boolean_mask(%x, %m)            step boolean_mask: (x, m) -> y
//   %s = reduce_sum(%y)                  step part 1: (y) -> s
//
// Branches and loops with such operations have steps of their own.
#include <fmt/core.h>

#include <algorithm>

#include "codegen/library/library.h"
#include "codegen/plan/native_ops.h"
#include "codegen/plan/outline.h"
#include "ir/ref_map.h"
#include "runtime/ops/facts.h"
#include "runtime/text/print_tensor.h"

namespace tfl::codegen {

namespace {

using ir::Node;
using ir::Ref;

std::optional<Step::Kind> kind_of(Op op) {
  constexpr std::pair<Op, Step::Kind> kKinds[] = {{Op::nonzero, Step::Kind::nonzero},
                                                  {Op::boolean_mask, Step::Kind::boolean_mask},
                                                  {Op::unique, Step::Kind::unique},
                                                  {Op::unique_with_counts, Step::Kind::unique_with_counts},
                                                  {Op::range, Step::Kind::range}};  // where it is not native
  for (const auto& [of, kind] : kKinds) {
    if (of == op) return kind;
  }
  return std::nullopt;
}

// Text that only prints take.
bool is_words(const Node& n) { return n.op == Op::string_format || n.op == Op::string_join; }

// The node that is in the way: of a staged branch or loop, what it holds that is no step either.
const Node& culprit_in(Context& context, const Node& n) {
  for (const auto& region : n.regions) {
    for (const auto& inner : region->nodes) {
      plan::SizeValues sizes;
      if (inner->op != Op::constant && inner->op != Op::print && !is_words(*inner) && !kind_of(inner->op) &&
          !plan::is_native(context, *inner, sizes))
        return culprit_in(context, *inner);
    }
  }
  return n;
}

std::string refusal(Context& context, const ir::Function& f, const Node& stays) {
  const Node& n = culprit_in(context, stays);
  std::string place = place_of(f, n), why = plan::why_not_native(context, n, false);
  std::string_view name = op_info(n.op).name;
  if (op_facts(n.op).regions)
    return fmt::format("{}{} cannot be part of a library: a staged {} has {}", place, f.name,
                       n.op == Op::while_loop ? "loop" : "branch", why);
  std::string_view way = op_info(n.op).kind == OpKind::Effect
                             ? "leave it to the program that calls the library"
                             : "leave it to the program that calls the library, or build the script with --emit executable";
  if (why.empty() || why == "a library operation")
    return fmt::format("{}{} cannot be part of a library: there is no machine code for {}; {}", place, f.name, name, way);
  return fmt::format("{}{} cannot be part of a library: there is no machine code for {} with {}; {}", place, f.name, name, why,
                     way);
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
        return fail(ErrorKind::ValueError, "{}{} cannot be part of a library: it gives text", place_of(function_, *r.node),
                    function_.name);
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
    if (is_words(n)) return {};
    Step step;
    std::optional<Step::Kind> kind = kind_of(n.op);
    if (plan::SizeValues unused; n.op == Op::range && plan::is_native(context_, n, unused)) kind = std::nullopt;
    for (const ir::Type& t : n.types) {
      if (!plan::is_tensor_of_numbers(t)) return fail(ErrorKind::ValueError, "{}", refusal(context_, function_, n));
    }
    if (n.op == Op::print) {
      step.kind = Step::Kind::print;
      step.pieces.push_back({FailureText::Piece::Kind::text, std::string(n.attrs.get_text(Attr::stream))});
      if (!words(n.operands[0], step)) return fail(ErrorKind::ValueError, "{}", refusal(context_, function_, n));
      const AttrValue* end = n.attrs.find(Attr::end);
      step.pieces.push_back({FailureText::Piece::Kind::text, end ? end->text : "\n"});
      into.push_back(std::move(step));
      return {};
    }
    std::vector<Ref> operands(n.operands.begin(), n.operands.end()), taken;
    if (!n.regions.empty()) std::erase_if(operands, is_text);
    plan::SizeValues sizes;
    bool native = !kind && n.op != Op::call && plan::is_native(context_, n, sizes);
    std::shared_ptr<ir::Function> own;
    if (native) own = alone(n, sizes, taken);
    step.inputs = TFL_TRY(values(native ? taken : operands));
    if (n.op == Op::call) {
      if (!part(ir::clone(*n.callee), step)) return inlined(n, into);  // which needs the locations as they are
    } else if (kind) {
      step.kind = *kind;
      step.axis = n.attrs.get_int(Attr::axis);
      if (n.op == Op::range) {
        step.pieces.push_back({FailureText::Piece::Kind::text, fmt::format("{}{}: ", place_of(function_, n), function_.name)});
        step.pieces.push_back(
            {FailureText::Piece::Kind::text, fmt::format(" [Op:Range] name: {}", n.attrs.get_text(Attr::name))});
      }
      if (n.op == Op::boolean_mask && step.axis < 0) step.axis += static_cast<int64_t>(n.operands[0].type().tensor.dims.size());
    } else if (native && part(own, step)) {
    } else if (!n.regions.empty()) {
      step.inputs = TFL_TRY(values(operands));
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
        if (is_text({p.get(), 0})) continue;  // read from outside by what prints it
        if (!plan::is_tensor_of_numbers(p->types[0])) return fail(ErrorKind::ValueError, "{}", refusal(context_, function_, n));
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
        "{}{} cannot be part of a library: sizes of {} follow from values in a way that there is no machine code for",
        place_of(function_, n), function_.name, op_info(n.op).name);
  }

  // A function of nothing but `n` and what joins scalars to its operands; constants go along, since sizes may follow from them.
  // `operands` becomes what its parameters stand for.
  std::shared_ptr<ir::Function> alone(const Node& n, const plan::SizeValues& sizes, std::vector<Ref>& operands) {
    auto f = std::make_shared<ir::Function>();
    f->name = function_.name;
    f->locations = function_.locations;
    f->symbols = function_.symbols;
    operands.clear();
    std::vector<Ref> inside;
    for (Ref r : n.operands) inside.push_back(inner(r, *f, sizes, operands));
    Node* copy = f->body.add(n.op, std::move(inside), n.attrs, n.types);
    copy->name = n.name;
    copy->location = n.location;
    for (const auto& region : n.regions) copy->regions.push_back(ir::clone_region(*region, copy, f.get()));
    for (uint32_t i = 0; i < n.types.size(); ++i) f->body.results.push_back({copy, i});
    return f;
  }
  static Ref inner(Ref r, ir::Function& f, const plan::SizeValues& sizes, std::vector<Ref>& operands) {
    const Node& n = *r.node;
    bool joins = (n.op == Op::stack || n.op == Op::concat || n.op == Op::expand_dims) && is_integer(r.type().tensor.dtype) &&
                 n.types[0].tensor.ranked && n.types[0].tensor.dims.size() == 1;
    if (n.op == Op::constant || joins) {
      std::vector<Ref> parts;
      for (Ref o : n.operands) parts.push_back(inner(o, f, sizes, operands));
      Node* copy = f.body.add(n.op, std::move(parts), n.attrs, n.types);
      copy->constant = n.constant;
      return {copy, 0};
    }
    for (size_t i = 0; i < operands.size(); ++i) {
      if (operands[i] == r) return f.body.param(i);
    }
    operands.push_back(r);
    Ref p = f.body.add_param(r.type(), n.name);
    if (std::find(sizes.all.begin(), sizes.all.end(), r) != sizes.all.end()) p.node->attrs.set_bool(Attr::size, true);
    return p;
  }

  // The text `r` as pieces of what a step prints; false where more than tensors and constants is in it.
  bool words(Ref r, Step& step) {
    const Node& n = *r.node;
    auto say = [&](std::string_view text) {
      if (!text.empty()) step.pieces.push_back({FailureText::Piece::Kind::text, std::string(text)});
      return true;
    };
    if (n.op == Op::constant)
      return n.constant.dtype() == DType::String && n.constant.size() == 1 && say(*n.constant.data<std::string>());
    if (n.op == Op::parameter) {
      Ref outer = plan::outside(r);
      return outer && words(outer, step);
    }
    if (n.op == Op::string_join) {
      for (size_t i = 0; i < n.operands.size(); ++i) {
        if ((i && !say(n.attrs.get_text(Attr::separator))) || !words(n.operands[i], step)) return false;
      }
      return true;
    }
    if (n.op != Op::string_format) return false;
    const int64_t items = n.attrs.get_int(Attr::summarize, 3);
    return format_pieces(n, say, [&](Ref operand) {
      if (is_text(operand)) return operand.node->op == Op::constant && say(print_tensor(operand.node->constant, items));
      auto number = numbers_.find(operand);
      if (number == numbers_.end()) return false;
      step.pieces.push_back({FailureText::Piece::Kind::tensor, {}, static_cast<int64_t>(step.inputs.size()), 0, items});
      step.inputs.push_back(number->second);
      return true;
    });
  }
  static bool is_text(Ref r) { return r.type().is_tensor() && r.type().tensor.dtype == DType::String; }

  Context& context_;
  ir::Function& function_;
  LoweredFunction& out_;
  ir::RefMap<uint32_t> numbers_;
};

}  // namespace

Result<void> lower_to_steps(Context& context, ir::Function& graph, LoweredFunction& out) {
  out.parts.clear();
  std::optional<Part> sizes = sizes_of(context, graph);
  if (!sizes) sizes = typed_sizes(context, graph);
  if (sizes) out.parts.push_back(std::move(*sizes));
  plan::outline(context, graph, [](const std::shared_ptr<ir::Function>&) {}, true);
  return Lowering(context, graph, out).run();
}

}  // namespace tfl::codegen
