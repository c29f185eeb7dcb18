// Compiled patterns and matches as the module `_re` has them; scripts know them as re.Pattern and re.Match.
#pragma once

#include "frontend/core/native_module.h"
#include "frontend/core/registry.h"
#include "runtime/text/regex.h"

namespace tfl::patterns {

struct Pattern : Object {
  std::unique_ptr<Regex> regex;
  bool bytes = false;
  Value source;  // what was compiled: Str or Bytes
  int64_t flags = 0, groups = 0;
  Value names;            // Dict: numbers of the named groups
  Value closing;          // Tuple: numbers of groups in the order in which they close
  Type* match = nullptr;  // the type of its matches
};

struct Match : Object {
  Value pattern, string;
  int64_t pos = 0, endpos = 0;
  std::vector<Regex::Span> spans;  // bytes of the string; the whole first
};

extern const Slots kPattern;  // regex_pattern.cpp
extern const Slots kMatch;    // regex_match.cpp
std::span<const NativeDef> pattern_methods();
std::span<const NativeDef> match_methods();

/// A pattern and the text that it looks at: both of one kind, the place to begin at and the end in bytes.
struct Subject {
  Pattern* pattern;
  Value string;
  std::string_view text;  // up to the end
  size_t at = 0;
  int64_t pos = 0, endpos = 0;  // in characters
  bool empty = false;           // the place lies behind the end: nothing is found

  bool single() const { return pattern->bytes || string.as<Str>()->ascii(); }  // a character is a byte
  /// The number of the character that begins at a byte.
  int64_t place(size_t byte) const;
  /// A part of the text as a value of its own.
  Value part(Interp& interp, size_t begin, size_t end) const;
  Value group(Interp& interp, const Regex::Span& span, const Value& absent) const {
    return span.matched() ? part(interp, span.begin, span.end) : absent;
  }
};
Result<Subject> subject_of(Interp& interp, const Value& pattern, const Value& string, int64_t pos, int64_t endpos);
/// The same for what has been looked at already.
Subject subject_of(const Match& match);

/// A match of these places, which it takes.
Value make_match(Interp& interp, const Value& pattern, const Subject& subject, std::vector<Regex::Span> spans);

/// Everything that a pattern matches, one after the other.
class Matches {
 public:
  Matches(Interp& interp, const Subject& subject) : interp_(interp), subject_(subject), at_(subject.at) {}
  /// False: there are no more. spans() holds the places.
  Result<bool> next();
  std::vector<Regex::Span>& spans() { return spans_; }
  size_t at() const { return at_; }
  bool advance() const { return advance_; }
  /// Goes on where another one stood.
  void go_on(size_t at, bool advance) {
    at_ = at;
    advance_ = advance;
  }

 private:
  Interp& interp_;
  const Subject& subject_;
  size_t at_;
  bool advance_ = false;  // the last match was empty: nothing empty at the same place
  uint32_t found_ = 0;
  std::vector<Regex::Span> spans_;
};

}  // namespace tfl::patterns
