// Places and named sizes of nodes that were put in the place of a call. This header must not know who puts them there.
#pragma once

#include "ir/graph.h"

namespace tfl::ir {

/// What the named sizes of `callee` are in a call with these operands: known sizes, names of the caller, -1.
SmallVec<int64_t, 8> sizes_at_call(const Function& callee, std::span<const Ref> operands);
/// A type of the callee in terms of its caller.
void set_sizes(Type& type, std::span<const int64_t> sizes);
/// The same for nodes `first` to before `end` of `block`, and what is inside them, that were the callee's.
void set_sizes(Block& block, size_t first, size_t end, std::span<const int64_t> sizes);

/// The nodes of `block` from number `first` to before `end`, and what is inside them, were reached through a call at location `call` of the
/// block's function: so do tracebacks tell.
void set_call_place(Block& block, size_t first, size_t end, uint32_t call);

}  // namespace tfl::ir
