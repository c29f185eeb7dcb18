// The scripts that arguments mean: files, and folders with them.
#pragma once

#include <string>
#include <vector>

namespace tfl::cli {

/// The names in order; of a folder the .tfl and .py files below it in order of their names, hidden ones and hidden folders apart.
std::vector<std::string> scripts_of(const std::vector<std::string>& names);

}  // namespace tfl::cli
