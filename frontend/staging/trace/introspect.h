// What a script sees of a graph: its nodes and their values.
#pragma once

#include "frontend/core/native.h"
#include "ir/graph.h"

namespace tfl {

/// Natives of the module `_graph`.
std::span<const NativeDef> introspection_natives();
/// Those of program_record.cpp.
std::span<const NativeDef> program_record_natives();

/// One node as (name, op, inputs, {attribute: value}, types, constant or None, variable, regions, callee, our name).
Value node_value(Interp& interp, const ir::Node& n);

}  // namespace tfl
