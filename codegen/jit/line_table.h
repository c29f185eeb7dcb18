// Where the nodes of a graph stand in the script, for the line tables of machine code.
#pragma once

#include "codegen/llvm/compile.h"
#include "ir/graph.h"

namespace tfl::codegen {

/// The locations that `function` uses; its table is that of all that was traced with it.
LineTable line_table(const ir::Function& function);

}  // namespace tfl::codegen
