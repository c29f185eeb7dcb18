// The version of the program, in one place, and the commit it was built from.
#pragma once

namespace tfl::cli {
inline constexpr const char* kVersion = TFL_VERSION;
/// "0.1.0 (1a2b3c4d)", with a + behind the commit when files differed from it; the version alone where there was no git (cmake/Commit.cmake).
extern const char* const kBuild;
}  // namespace tfl::cli
