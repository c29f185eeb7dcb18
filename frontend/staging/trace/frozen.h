// Host values of a module that a trace has taken in: when one of them changes later, the trace still has the old one, and the
// script is told so. This header must not know how traces are found.
#pragma once

#include <vector>

#include "frontend/core/tensor_api.h"

namespace tfl {

struct FrozenGlobal {
  Value module;  // whose names it is one of
  Str* name;
  Value value;  // None, bool, int, float or text
};

/// The names of the module that `function` and what is defined inside it read, as far as they are plain host values now.
std::vector<FrozenGlobal> frozen_globals(Interp&, const Value& function);
/// Warns about those that have another value now, and forgets them.
void check_frozen(Interp&, std::string_view function, std::vector<FrozenGlobal>& frozen);

}  // namespace tfl
