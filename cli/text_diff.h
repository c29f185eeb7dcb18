// What differs between two texts, line by line, in the form that patch(1) reads.
#pragma once

#include <string>
#include <string_view>

namespace tfl::cli {

/// Empty: nothing differs. The names head it.
std::string unified_diff(std::string_view before, std::string_view after, const std::string& before_name,
                         const std::string& after_name);

}  // namespace tfl::cli
