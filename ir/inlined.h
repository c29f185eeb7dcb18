// Places of nodes that were put in the place of a call. This header must not know who puts them there.
#pragma once

#include "ir/graph.h"

namespace tfl::ir {

/// The nodes of `block` from number `first` to before `end`, and what is inside them, were reached through a call at location `call` of the
/// block's function: so do tracebacks tell.
void set_call_place(Block& block, size_t first, size_t end, uint32_t call);

}  // namespace tfl::ir
