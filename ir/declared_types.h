// Whether the types written in a graph follow from its operations. verify() asks that they may be true; machine code and
// kernels rely on them, so that a graph from a file must also show that they are. This header must not know where graphs come
// from.
#pragma once

#include <string>

#include "ir/graph.h"

namespace tfl::ir {

/// The first type of `f` and of what it calls that is narrower than what its operation gives, or that its operation cannot
/// have, in words; empty when all follow.
std::string unproven_type(Context& context, const Function& f);

/// Whether every call of a function around its caller (`recursive`) finds that function alive as long as `f` is: the way from
/// `f` to such a call goes through the function that is called.
bool owns_what_it_calls(const Function& f);

}  // namespace tfl::ir
