// The table of public names (frontend/stdlib/exports.h), made from the texts of the library and from what natives say.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tfl {

/// Of files as pairs of their name ("tensorflow/nn/__init__.tfl") and text; `error` says what is wrong with a mark.
std::string exports_table(const std::vector<std::pair<std::string, std::string>>& files, std::string& error);

}  // namespace tfl
