// Files that a program carries behind its own code: what `tfl build --emit executable` added to a copy of tfl. They are read in place. This
// header must not know what the files are.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tfl {

/// True when this program carries any.
bool is_bundle();
/// A file by its name; the bytes live as long as the program.
std::optional<std::string_view> bundled_file(std::string_view name);

/// The bytes that stand for these files. They become the section kBundleSection of the program, or its end.
std::string pack_bundle(const std::vector<std::pair<std::string, std::string>>& files);
inline constexpr const char* kBundleSection = ".tfl.bundle";

}  // namespace tfl
