// Mutation testing: a build with TFL_MUTANTS gets one thing wrong on purpose, which the variable TFL_MUTANT names, and some test must then
// fail (tests/tools/mutants.py). In every other build nothing of this is there.
#pragma once

#ifdef TFL_MUTANTS
#include <cstdlib>
#include <string>
#include <string_view>
#endif

namespace tfl {

#ifdef TFL_MUTANTS
/// Whether the run was asked to get `name` wrong in the way of `kind`: TFL_MUTANT is "KIND NAME".
inline bool mutated(std::string_view kind, const auto& name) {
  static const char* asked = std::getenv("TFL_MUTANT");
  if (!asked) return false;
  std::string wanted(kind);
  wanted += ' ';
  if constexpr (std::is_integral_v<std::decay_t<decltype(name)>>)
    wanted += std::to_string(name);
  else
    wanted += name;
  return wanted == asked;
}
#else
constexpr bool mutated(const char*, const auto&) { return false; }
#endif

}  // namespace tfl
