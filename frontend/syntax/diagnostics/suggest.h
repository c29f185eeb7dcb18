// "Did you mean": the candidate that looks most like a misspelt name. Names are compared word by word (reduce_mean has two), without
// regard to case; letters too many, too few, other or exchanged count. The one measure for names, attributes, keywords, strings, flags, files.
// This header must not know where the names come from.
#pragma once

#include <string_view>
#include <vector>

namespace tfl {

/// The most similar of `candidates`, empty when none is close enough. Private names (_x) are near private ones only.
std::string_view suggest(std::string_view name, const std::vector<std::string_view>& candidates);

/// The keyword argument among `known` that was meant: the one that other libraries or older versions call so, else the most similar.
std::string_view suggest_keyword(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace tfl
