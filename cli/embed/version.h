// The version of the program, in one place.
#pragma once

namespace tfl::cli {
inline constexpr const char* kVersion = "0.1.0";
}  // namespace tfl::cli
