// The characters of one of Python's regular expressions as they are read, and what is written for them: literals, escapes, sets. It
// must not know groups and repeats (regex_syntax.cpp).
#pragma once

#include "frontend/interpreter/modules/regex_syntax.h"

namespace tfl {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_octal(char c) { return c >= '0' && c <= '7'; }
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class PatternReader {
 public:
  PatternReader(std::string_view pattern, bool is_bytes, PythonRegex& out, PythonRegexProblem& problem)
      : in_(pattern), bytes_(is_bytes), out_(out), problem_(problem) {}

 protected:
  bool done() const { return at_ >= in_.size(); }
  char peek() const { return done() ? '\0' : in_[at_]; }
  bool take(char c);
  /// The whole character at `at_`, moving behind it.
  std::string_view character();
  bool wrong(std::string text, std::optional<size_t> where);
  void emit(std::string_view text) { out_.pattern += text; }
  void emit_code(uint32_t code);
  /// One character that stands for itself.
  void emit_literal(uint32_t code);
  uint32_t decode(std::string_view c) const;
  bool hex_escape(size_t start, size_t digits, uint32_t& code);
  /// The escapes that stand for one character, in a set or outside; `found` says whether it was one. `at_` is behind the letter.
  bool character_escape(size_t start, char c, uint32_t& code, bool& found);
  bool octal_too_large(size_t start);
  /// One member of a set: a character, or a class such as \d (`code` is empty then).
  bool member(size_t set_start, std::optional<uint32_t>& code, std::string& text);
  bool set();

  std::string_view in_;
  bool bytes_;
  PythonRegex& out_;
  PythonRegexProblem& problem_;
  size_t at_ = 0;
};

}  // namespace tfl
