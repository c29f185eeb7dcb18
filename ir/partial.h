// Integers of which some are known: the sizes a graph computes from shapes. This header must not know shape rules.
#pragma once

#include "ir/graph.h"

namespace tfl::ir {

/// An element that is not known. Named sizes are elements too: kFirstSymbol + i is symbolic dimension i.
inline constexpr int64_t kUnknownElement = INT64_MIN;
inline constexpr int64_t kFirstSymbol = INT64_MIN + 1;
inline bool element_known(int64_t v) { return v >= INT64_MIN / 2; }

/// The elements of the integer tensor `r` of rank 0 or 1; false when even their number is unknown or large. `budget` is the number
/// of nodes it may still look at.
bool partial_elements(Context& context, Ref r, Dims& out, int& budget);
/// As static_value, with a budget.
Tensor known_value(Context& context, Ref r, int& budget);

}  // namespace tfl::ir
