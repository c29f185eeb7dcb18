// Regular expressions: one compiled pattern and searches with it. What a dialect writes differently (TensorFlow's RE2, Python's re)
// is translated by who offers it. Work and memory of a search are limited: no pattern hangs.
// This header must not know the library behind it, nor host values and tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/support/result.h"

namespace tfl {

/// Flags of a pattern; any of them together.
inline constexpr uint32_t kRegexIgnoreCase = 1;
inline constexpr uint32_t kRegexMultiLine = 2;        // ^ and $ at every line
inline constexpr uint32_t kRegexDotAll = 4;           // . takes newlines
inline constexpr uint32_t kRegexExtended = 8;         // white space and # comments in the pattern are nothing
inline constexpr uint32_t kRegexUtf8 = 16;            // characters, not bytes; what is no UTF-8 in a subject matches nothing
inline constexpr uint32_t kRegexUnicodeClasses = 32;  // \w \d \s \b and cases by Unicode's properties
inline constexpr uint32_t kRegexDollarEndOnly = 64;   // $ not before a last newline
inline constexpr uint32_t kRegexUngreedy = 128;       // quantifiers are lazy, and greedy with ?
inline constexpr uint32_t kRegexValidText =
    256;  // with kRegexUtf8: pattern and subjects are known to be UTF-8 and not looked at, which
          // every search would do from end to end

/// How a search is bound to its place.
inline constexpr uint32_t kMatchAtStart = 1;  // only at `start`
inline constexpr uint32_t kMatchToEnd = 2;    // only what ends with the subject
inline constexpr uint32_t kMatchAdvance = 4;  // nothing empty at `start`: how to go on after an empty match

/// What is wrong with a pattern, and where.
struct RegexProblem {
  std::string text;
  size_t offset = 0;  // in bytes
};

class Regex {
 public:
  /// The pattern ready to search with; ValueError with the library's words, which `problem` holds on their own.
  static Result<Regex> compile(std::string_view pattern, uint32_t flags, RegexProblem* problem = nullptr);
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  /// Groups in parentheses, without the whole.
  size_t groups() const;
  /// Names of groups and their numbers.
  std::vector<std::pair<std::string, size_t>> names() const;

  struct Span {
    static constexpr size_t kNone = ~size_t{0};
    size_t begin = kNone, end = kNone;  // bytes of the subject; kNone: the group took no part
    bool matched() const { return begin != kNone; }
  };
  /// The first match at `start` or after it: spans[0] is the whole, spans[k] group k. False when there is none;
  /// ResourceExhaustedError when the search takes too many steps or too much memory. One thread at a time.
  Result<bool> search(std::string_view subject, size_t start, uint32_t how, std::vector<Span>& spans) const;

 private:
  struct State;
  explicit Regex(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tfl
