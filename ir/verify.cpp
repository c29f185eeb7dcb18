// The invariants of a graph, checked one by one. Whatever it lists is an error of the program that made the graph.
#include <fmt/core.h>

#include <unordered_set>
#include <utility>

#include "ir/infer.h"
#include "runtime/ops/facts.h"

namespace tfl::ir {

namespace {

constexpr size_t kMostRegions = 250;
constexpr size_t kMostComplaints = 100;

class Verifier {
 public:
  Verifier(Context& context, const Function& f) : context_(context), f_(f) {}

  std::vector<std::string> run() {
    if (f_.body.owner) complain(nullptr, "the body of a function has an owner");
    block(f_.body, nullptr, 0);
    if (!f_.result_names.empty() && f_.result_names.size() != f_.body.results.size())
      complain(nullptr, "names of {} results for {}", f_.result_names.size(), f_.body.results.size());
    return std::move(complaints_);
  }

 private:
  template <class... Args>
  void complain(const Node* n, fmt::format_string<Args...> format, Args&&... args) {
    if (complaints_.size() >= kMostComplaints) return;
    std::string text = n ? fmt::format("{}{}{}: ", op_info(n->op).name, n->name.empty() ? "" : " ", n->name) : std::string();
    complaints_.push_back(text + fmt::vformat(format, fmt::make_format_args(args...)));
  }

  void block(const Block& b, const Node* owner, size_t depth) {
    if (depth > kMostRegions) return complain(owner, "regions nested too deeply");
    if (b.owner != owner) complain(owner, "a region with another owner");
    if (b.function != &f_) complain(owner, "a block of another function");
    std::unordered_set<const Node*> defined;
    std::unordered_set<std::string> around = std::exchange(names_, {});
    for (const auto& p : b.params) {
      if (p->op != Op::parameter || p->types.size() != 1 || !p->operands.empty()) complain(p.get(), "not a parameter");
      if (p->block != &b) complain(p.get(), "a parameter of another block");
      for (const Type& t : p->types) type(p.get(), t);
      defined.insert(p.get());
    }
    for (const auto& n : b.nodes) {
      node(b, *n, defined, depth);
      defined.insert(n.get());
    }
    for (Ref r : b.results) value(owner, r, defined, "a result of the block");
    names_ = std::move(around);
  }

  bool value(const Node* n, Ref r, const std::unordered_set<const Node*>& defined, std::string_view what) {
    if (!r.node) {
      complain(n, "{} is nothing", what);
    } else if (!defined.contains(r.node)) {
      complain(n, "{} is not defined before in its block", what);
    } else if (r.index >= r.node->types.size()) {
      complain(n, "{} is result {} of {}", what, r.index, r.node->types.size());
    } else {
      return true;
    }
    return false;
  }

  void type(const Node* n, const Type& t) {
    for (int64_t d : t.tensor.dims) {
      if (d < -1 && static_cast<size_t>(-2 - d) >= f_.symbols.size()) complain(n, "a symbolic size without a name");
    }
    if (!t.tensor.ranked && !t.tensor.dims.empty()) complain(n, "sizes without a rank");
  }

  void node(const Block& b, const Node& n, const std::unordered_set<const Node*>& defined, size_t depth) {
    if (n.block != &b) complain(&n, "a node of another block");
    if (n.op == Op::parameter) return complain(&n, "a parameter among the nodes");
    if (!n.name.empty() && !names_.insert(n.name).second) complain(&n, "its name is not unique");
    if (n.location >= f_.locations->size()) complain(&n, "an unknown location");
    const OpInfo& info = op_info(n.op);
    if (n.operands.size() < static_cast<size_t>(info.min_operands) ||
        (info.max_operands >= 0 && n.operands.size() > static_cast<size_t>(info.max_operands)))
      return complain(&n, "{} operands", n.operands.size());
    bool sound = true;
    for (size_t i = 0; i < n.operands.size(); ++i) sound &= value(&n, n.operands[i], defined, fmt::format("operand {}", i));
    for (const Type& t : n.types) type(&n, t);
    bool control = op_facts(n.op).regions;
    if (!control && !n.regions.empty()) complain(&n, "has regions");
    if ((n.op == Op::call) != (n.target() != nullptr)) return complain(&n, "a call has a callee, nothing else has");
    if (n.callee && n.recursive) complain(&n, "calls two functions");
    for (const auto& region : n.regions) {
      if (!region) return complain(&n, "an empty region");
      block(*region, &n, depth + 1);
      for (Ref r : region->results) sound &= r.node && r.index < r.node->types.size();
      for (const auto& p : region->params) sound &= p->types.size() == 1;
    }
    if (n.op == Op::constant) return constant(n);
    if (n.constant) complain(&n, "has a constant");
    if (sound) types(n);
  }

  void constant(const Node& n) {
    if (!n.constant) return complain(&n, "without a value");
    Type actual = Type::of({n.constant.dtype(), true, Dims(n.constant.dims())});
    if (n.types.size() != 1 || n.types[0] != actual) complain(&n, "its type is not that of its value");
  }

  bool element_types_fit(const Node& n) {
    SmallVec<OperandInfo, 4> infos;
    for (Ref r : n.operands) infos.push_back({{r.type().tensor.dtype, false, {}}, {}});
    SmallVec<TensorType, 2> results;
    Result<void> inferred = infer(context_, n.op, infos, n.attrs, results);
    return inferred.ok() || inferred.error().kind == ErrorKind::ValueError;  // a number of results that depends on sizes
  }

  // What inference says; sizes may be known to one of them only.
  void types(const Node& n) {
    if (n.op == Op::host_call) return;
    std::vector<Type> expected;
    Result<void> inferred = infer_node(context_, n.op, n.operands, n.attrs, n.regions, n.target(), expected);
    if (!inferred) {
      // What fails on these sizes and constants may stand in a branch that is never taken; element types are right even there.
      if (inferred.error().kind == ErrorKind::InternalError || is_control(n.op) || !element_types_fit(n))
        complain(&n, "{}", inferred.error().message);
      return;
    }
    if (expected.size() != n.types.size()) return complain(&n, "{} results and not {}", n.types.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      if (!may_overlap(expected[i], n.types[i]))
        complain(&n, "result {} is {} and not {}", i, type_text(expected[i], &f_.symbols), type_text(n.types[i], &f_.symbols));
    }
  }

  Context& context_;
  const Function& f_;
  std::vector<std::string> complaints_;
  std::unordered_set<std::string> names_;  // of the nodes of a block
};

}  // namespace

std::vector<std::string> verify(Context& context, const Function& f) { return Verifier(context, f).run(); }

}  // namespace tfl::ir
