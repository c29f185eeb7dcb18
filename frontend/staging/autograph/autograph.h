// AutoGraph's door: from a host function to one that does the same, and whose control flow is staged where a tensor of a graph in the
// making decides it. The operators that converted code calls are the module tensorflow.autograph._operators.
// This header must not know how functions are rewritten.
#pragma once

#include <string>

#include "frontend/core/interp.h"

namespace tfl {

/// What a traced function calls in the place of `callee`: converted functions and methods, the overloads of built-ins. Whatever needs
/// no conversion, or cannot have one (natives, generators, the library, what do_not_convert has marked), is given back as it is.
/// `calls`: a function that was found to call itself where a tensor decides may become a graph function of its own.
Result<Value> autograph_converted(Interp& interp, const Value& callee, bool calls = false);

/// The converted function as source text.
Result<std::string> autograph_source(Interp& interp, const Value& function);

}  // namespace tfl
