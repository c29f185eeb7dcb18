// How operands of nodes with regions belong to the regions' parameters. This header must not know passes or plans.
#pragma once

#include "ir/graph.h"

namespace tfl::ir {

/// How many operands stand before the regions' inputs.
inline size_t inputs_from(const Node& n) { return n.op == Op::while_loop ? 0 : 1; }
/// Loop variables come before invariants; branches have no variables.
inline size_t variable_count(const Node& n) { return n.op == Op::while_loop ? n.types.size() : 0; }

}  // namespace tfl::ir
