// "Did you mean": the candidate that looks most like a misspelt name, by the measure CPython uses.
// This header must not know where the names come from.
#pragma once

#include <string_view>
#include <vector>

namespace tfl {

/// The most similar of `candidates`, empty when none is close enough.
std::string_view suggest(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace tfl
