// Python's syntax of regular expressions: checked with Python's messages and rewritten for runtime/text/regex.h. It must not know host
// values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tfl {

/// Python's numbers of the flags.
inline constexpr uint32_t kPyIgnoreCase = 2, kPyLocale = 4, kPyMultiLine = 8, kPyDotAll = 16, kPyUnicode = 32, kPyVerbose = 64,
                          kPyAscii = 256;

struct PythonRegex {
  std::string pattern;  // rewritten
  uint32_t flags = 0;   // Python's, those of the pattern itself included
  size_t groups = 0;
  std::vector<std::pair<std::string, size_t>> names;
  std::vector<size_t> closing;  // numbers of the groups in the order in which they end
};

struct PythonRegexProblem {
  std::string text;
  std::optional<size_t> offset;  // in bytes; none: it is the pattern as a whole
};

/// False with `problem` filled in when the pattern is wrong.
bool translate_python_regex(std::string_view pattern, uint32_t flags, bool is_bytes, PythonRegex& out,
                            PythonRegexProblem& problem);

}  // namespace tfl
