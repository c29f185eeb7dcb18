// Invariants: what cannot be false unless TFL itself is wrong. A mistake of a script is an error (result.h) and never one of these.
//
//   TFL_CHECK(results.size() == types.size(), "a kernel gives as many results as its rule says");
//
// TFL_CHECK is always on; it stands where it costs next to nothing. TFL_DEBUG_CHECK is on in builds of type Dev (the presets debug, asan-ubsan,
// tsan and fuzz) and is not evaluated in others. Where one fails, the program says so and ends with exit code 70.
#pragma once

namespace tfl {

/// Tells what was expected where, and how to report it, on stderr; ends the process at once, without destructors.
[[noreturn, gnu::cold]] void check_failed(const char* file, int line, const char* function, const char* expected,
                                          const char* meaning);

}  // namespace tfl

#define TFL_CHECK(condition, meaning) \
  (__builtin_expect(!!(condition), 1) ? void(0) : ::tfl::check_failed(__FILE_NAME__, __LINE__, __func__, #condition, meaning))

#ifdef TFL_CHECKED
#define TFL_DEBUG_CHECK(condition, meaning) TFL_CHECK(condition, meaning)
#else
#define TFL_DEBUG_CHECK(condition, meaning) void(0)
#endif
