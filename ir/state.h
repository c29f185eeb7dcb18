// Variables as values: a graph that reads and assigns variables as one that takes what they hold and gives what they hold at its
// end. Branches hand them out, loops carry them. This header must not know who runs the graph.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tfl {
class Context;
}

namespace tfl::ir {

struct Function;
struct Node;

/// A parameter that is a variable.
struct VariableUse {
  static constexpr uint32_t kUnchanged = UINT32_MAX;
  uint32_t input = 0;
  uint32_t result = kUnchanged;  // where its last value is among the results, when it is assigned
};

/// A copy of `f` whose variables are tensors: parameters hold what they hold when it begins, and results behind those of `f` are
/// what those hold that it assigns. It is the same as `f` where all of them have a value at the beginning, no two are one, and
/// nothing fails. Null when `f` has no variables, or uses them in other ways than to read and to assign them in branches and loops
/// (`possible` tells which).
std::shared_ptr<Function> without_variables(Context& context, const Function& f, std::vector<VariableUse>& uses, bool& possible);

/// Whether that is possible for a node with regions that variables are operands of.
bool carries_variables(const Node& n);
/// Whether a region of `n` may assign the variable that is its operand number `operand`.
bool assigns_variable(const Node& n, size_t operand);

}  // namespace tfl::ir
