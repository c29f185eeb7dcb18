#include "ir/declared_types.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/custom_gradient.h"
#include "ir/infer.h"

namespace tfl::ir {

namespace {

class Claims {
 public:
  explicit Claims(Context& context) : context_(context) {}

  std::string function(const Function& f) {
    if (!seen_.insert(&f).second) return {};
    f_ = &f;
    if (std::string wrong = block(f.body); !wrong.empty()) return fmt::format("@{}: {}", f.name, wrong);
    std::vector<const Function*> callees;
    walk(f.body, [&](const Node& n) {
      if (n.callee) callees.push_back(n.callee.get());
    });
    for (const Function* g : callees) {
      if (std::string wrong = function(*g); !wrong.empty()) return wrong;
    }
    return {};
  }

 private:
  std::string block(const Block& b) {
    for (const auto& n : b.nodes) {
      for (const auto& region : n->regions) {
        if (std::string wrong = block(*region); !wrong.empty()) return wrong;
      }
      if (std::string wrong = node(*n); !wrong.empty()) return wrong;
    }
    return {};
  }

  std::string node(const Node& n) {
    if (n.op == Op::constant) return {};
    // What the host gives is looked at when it has given it.
    if (n.op == Op::host_call) return n.operands[0].type().opaque ? std::string() : "host_call: operand 0 cannot be called";
    std::vector<Type> expected;
    Result<void> inferred = infer_node(context_, n.op, n.operands, n.attrs, n.regions, n.target(), expected);
    if (!inferred) return fmt::format("{}: {}", op_info(n.op).name, inferred.error().message);
    if (expected.size() != n.types.size())
      return fmt::format("{}: {} results and not {}", op_info(n.op).name, n.types.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      if (!is_subtype(expected[i], n.types[i])) return wrong(n, fmt::format("result {}", i), expected[i], n.types[i]);
    }
    if (is_custom(n) && !custom_fits(n)) return "cond: it is no custom gradient, as it says it is";
    size_t first = n.op == Op::cond || n.op == Op::switch_case ? 1 : 0;
    for (const auto& region : n.regions) {
      if (std::string w = inputs(n, *region, first); !w.empty()) return w;
    }
    if (n.target()) {
      if (std::string w = called(n, n.target()->body); !w.empty()) return w;
    }
    if (n.op == Op::while_loop) {
      const Block& condition = *n.regions[0];
      const Block& body = *n.regions[1];
      for (size_t i = 0; i < body.results.size(); ++i) {
        const Type& type = body.params[i]->types[0];
        if (!is_subtype(body.results[i].type(), type))
          return wrong(n, fmt::format("variable {}", i), body.results[i].type(), type);
        if (!is_subtype(type, condition.params[i]->types[0]))
          return wrong(n, fmt::format("variable {}", i), type, condition.params[i]->types[0]);
      }
    }
    return {};
  }

  // Names of sizes are the called function's own: each stands for what it is given, wherever it occurs.
  std::string called(const Node& n, const Block& to) {
    std::vector<std::pair<int64_t, int64_t>> bound;  // a name, what it stands for
    for (size_t i = 0; i < to.params.size() && i < n.operands.size(); ++i) {
      const Type& given = n.operands[i].type();
      Type wanted = to.params[i]->types[0];
      bool sized =
          !given.opaque && given.tensor.ranked && wanted.tensor.ranked && given.tensor.dims.size() == wanted.tensor.dims.size();
      for (size_t k = 0; sized && k < wanted.tensor.dims.size(); ++k) {
        int64_t &name = wanted.tensor.dims[k], size = given.tensor.dims[k];
        if (name >= -1) continue;
        auto seen = std::find_if(bound.begin(), bound.end(), [&](const auto& b) { return b.first == name; });
        if (seen == bound.end())
          bound.emplace_back(name, size);
        else if (seen->second != size || size == -1)
          return wrong(n, fmt::format("input {}", i), given, to.params[i]->types[0]);
        name = size;
      }
      if (!is_subtype(given, wanted)) return wrong(n, fmt::format("input {}", i), given, to.params[i]->types[0]);
    }
    return {};
  }

  std::string inputs(const Node& n, const Block& to, size_t first) {
    for (size_t i = 0; i < to.params.size() && first + i < n.operands.size(); ++i) {
      const Type& given = n.operands[first + i].type();
      if (!is_subtype(given, to.params[i]->types[0])) return wrong(n, fmt::format("input {}", i), given, to.params[i]->types[0]);
    }
    return {};
  }

  std::string wrong(const Node& n, std::string_view what, const Type& is, const Type& said) const {
    return fmt::format("{}{}{}: {} is {}, which may be other than {}", op_info(n.op).name, n.name.empty() ? "" : " ", n.name,
                       what, type_text(is), type_text(said));
  }

  Context& context_;
  const Function* f_ = nullptr;
  std::unordered_set<const Function*> seen_;
};

/// The functions that `f` keeps alive, those behind `without` left out.
std::unordered_set<const Function*> owned(const Function& f, const Function* without) {
  std::unordered_set<const Function*> found;
  std::vector<const Function*> waiting;
  if (&f != without) waiting.push_back(&f);
  while (!waiting.empty()) {
    const Function* g = waiting.back();
    waiting.pop_back();
    if (!found.insert(g).second) continue;
    walk(g->body, [&](const Node& n) {
      if (n.callee && n.callee.get() != without) waiting.push_back(n.callee.get());
    });
  }
  return found;
}

}  // namespace

std::string unproven_type(Context& context, const Function& f) { return Claims(context).function(f); }

bool owns_what_it_calls(const Function& f) {
  for (const Function* g : owned(f, nullptr)) {
    std::vector<const Function*> above;
    walk(g->body, [&](const Node& n) {
      if (n.recursive) above.push_back(n.recursive);
    });
    for (const Function* target : above) {
      if (owned(f, target).contains(g)) return false;
    }
  }
  return true;
}

}  // namespace tfl::ir
