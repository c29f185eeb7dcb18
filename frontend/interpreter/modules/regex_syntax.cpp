#include "frontend/interpreter/modules/regex_reader.h"

#include <algorithm>
#include <limits>

namespace tfl {

namespace {

constexpr int kMaxNesting = 200;
constexpr size_t kForever = std::numeric_limits<size_t>::max();
constexpr uint64_t kMaxRepeat = 4294967295;
constexpr uint64_t kMaxCount = 65535;  // of the library

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

size_t plus(size_t a, size_t b) { return a == kForever || b == kForever ? kForever : a + b; }
size_t times(size_t a, uint64_t n) {
  if (a == 0 || n == 0) return 0;
  return a == kForever || n >= kMaxRepeat || a > 1'000'000'000 / n ? kForever : a * n;
}

/// How many characters something can match.
struct Width {
  size_t least = 0, most = 0;
};

class Translator : PatternReader {
 public:
  Translator(std::string_view pattern, uint32_t flags, bool is_bytes, PythonRegex& out, PythonRegexProblem& problem)
      : PatternReader(pattern, is_bytes, out, problem) {
    out_.flags = flags;
    verbose_ = flags & kPyVerbose;
  }

  bool run() {
    Width width;
    if (!alternatives(width)) return false;
    if (!done()) return wrong("unbalanced parenthesis", at_);
    for (const Ahead& a : ahead_) {
      if (a.number > out_.groups) return wrong("invalid group reference " + std::to_string(a.number), a.where);
    }
    return true;
  }

 private:
  enum class Atom : uint8_t { None, Place, Repeat, Other };

  bool alternatives(Width& width) {
    if (++depth_ > kMaxNesting) return wrong("the pattern is nested too deeply", at_);
    bool ok = sequence(width);
    while (ok && take('|')) {
      emit("|");
      Width other;
      ok = sequence(other);
      width = {std::min(width.least, other.least), std::max(width.most, other.most)};
    }
    --depth_;
    return ok;
  }

  void skip_blanks() {
    while (verbose_ && !done()) {
      if (is_blank(peek())) {
        ++at_;
      } else if (peek() == '#') {
        while (!done() && peek() != '\n') ++at_;
      } else {
        return;
      }
    }
  }

  bool sequence(Width& width) {
    width = {};
    Atom last = Atom::None;
    Width last_width;
    for (;;) {
      skip_blanks();
      if (done() || peek() == '|' || peek() == ')') break;
      char c = peek();
      if (c == '*' || c == '+' || c == '?' || c == '{') {
        uint64_t least = 0, most = kMaxRepeat;
        size_t start = at_;
        bool literal = false;
        if (!repeat(least, most, literal)) return false;
        if (!literal) {
          if (last == Atom::None || last == Atom::Place) return wrong("nothing to repeat", start);
          if (last == Atom::Repeat) return wrong("multiple repeat", start);
          emit_repeat(least, most);
          if (take('?'))
            emit("?");
          else if (take('+'))
            emit("+");
          // The last item's width was added once already.
          width.least = plus(width.least, times(last_width.least, least)) - last_width.least;
          size_t most_width = times(last_width.most, most);
          width.most = width.most == kForever || most_width == kForever ? kForever : width.most - last_width.most + most_width;
          last = Atom::Repeat;
          continue;
        }
        emit_literal('{');
        last = Atom::Other;
        last_width = {1, 1};
      } else {
        Atom kind;
        Width item_width;
        if (!item(kind, item_width)) return false;
        if (kind == Atom::None) continue;  // a comment, flags
        last = kind;
        last_width = item_width;
      }
      width = {plus(width.least, last_width.least), plus(width.most, last_width.most)};
    }
    return true;
  }

  bool repeat(uint64_t& least, uint64_t& most, bool& literal) {
    char c = in_[at_++];
    if (c == '*') return true;
    if (c == '+') {
      least = 1;
      return true;
    }
    if (c == '?') {
      most = 1;
      return true;
    }
    size_t here = at_;
    if (peek() == '}') {
      literal = true;
      return true;
    }
    auto number = [&](std::string& digits) {
      while (is_digit(peek())) digits += in_[at_++];
    };
    std::string low, high;
    number(low);
    if (take(','))
      number(high);
    else
      high = low;
    if (!take('}')) {
      literal = true;
      at_ = here;
      return true;
    }
    auto value = [](const std::string& digits) {
      uint64_t v = 0;
      for (char d : digits) v = std::min<uint64_t>(v * 10 + static_cast<uint64_t>(d - '0'), kMaxRepeat);
      return v;
    };
    if (!low.empty()) least = value(low);
    if (!high.empty()) {
      most = value(high);
      if (most < least) return wrong("min repeat greater than max repeat", here);
    }
    if (least > kMaxCount || (most > kMaxCount && !high.empty())) return wrong("the repetition number is too large", here);
    return true;
  }

  void emit_repeat(uint64_t least, uint64_t most) {
    emit("{" + std::to_string(least) + ",");
    if (most < kMaxRepeat) emit(std::to_string(most));
    emit("}");
  }

  bool item(Atom& kind, Width& width) {
    kind = Atom::Other;
    width = {1, 1};
    switch (peek()) {
      case '\\': return escape(kind, width);
      case '[': return set();
      case '(': return group(kind, width);
      case '.':
        ++at_;
        emit(".");
        return true;
      case '^':
      case '$':
        out_.pattern += in_[at_++];
        kind = Atom::Place;
        width = {};
        return true;
      default: emit_literal(decode(character())); return true;
    }
  }

  bool escape(Atom& kind, Width& width) {
    size_t start = at_++;
    if (done()) return wrong("bad escape (end of pattern)", start);
    char c = peek();
    if (std::string_view("AbBZ").find(c) != std::string_view::npos) {
      ++at_;
      // \B matches nothing in an empty text.
      emit(c == 'Z' ? "\\z" : c == 'B' ? "(?!\\A\\z)\\B" : std::string{'\\', c});
      kind = Atom::Place;
      width = {};
      return true;
    }
    if (std::string_view("dDsSwW").find(c) != std::string_view::npos) {
      ++at_;
      emit(std::string{'\\', c});
      return true;
    }
    uint32_t code = 0;
    if (is_digit(c)) {
      auto octal = [&](size_t most) {
        size_t first = at_;
        while (at_ - first < most && is_octal(peek())) code = code * 8 + static_cast<uint32_t>(in_[at_++] - '0');
      };
      bool three = at_ + 2 < in_.size() && is_octal(c) && is_octal(in_[at_ + 1]) && is_octal(in_[at_ + 2]);
      if (c == '0' || three) {
        octal(3);
        if (code > 0377) return octal_too_large(start);
        emit_code(code);
        return true;
      }
      size_t number = static_cast<size_t>(in_[at_++] - '0');
      if (is_digit(peek())) number = number * 10 + static_cast<size_t>(in_[at_++] - '0');
      return reference(number, start + 1, width);
    }
    if (static_cast<uint8_t>(c) >= 0x80) {
      emit_literal(decode(character()));
      return true;
    }
    ++at_;
    bool found = false;
    if (!character_escape(start, c, code, found)) return false;
    emit_literal(found ? code : static_cast<uint8_t>(c));
    return true;
  }

  bool reference(size_t number, size_t where, Width& width) {
    if (number > out_.groups) return wrong("invalid group reference " + std::to_string(number), where);
    if (std::find(out_.closing.begin(), out_.closing.end(), number) == out_.closing.end())
      return wrong("cannot refer to an open group", where - 1);
    emit("\\g{" + std::to_string(number) + "}");
    width = widths_[number - 1];
    return true;
  }

  bool group_name(char end, std::string& name, size_t& where) {
    where = at_;
    size_t stop = in_.find(end, at_);
    if (stop == std::string_view::npos) {
      if (done()) return wrong("missing group name", at_);
      return wrong(std::string("missing ") + end + ", unterminated name", where);
    }
    name = in_.substr(at_, stop - at_);
    at_ = stop + 1;
    if (name.empty()) return wrong("missing group name", where);
    return true;
  }
  bool check_name(const std::string& name, size_t where) {
    bool ok = !is_digit(name[0]);
    for (char c : name) ok = ok && (is_letter(c) || is_digit(c) || c == '_' || (!bytes_ && static_cast<uint8_t>(c) >= 0x80));
    return ok || wrong("bad character in group name '" + name + "'", where);
  }
  const size_t* named(const std::string& name) const {
    for (const auto& n : out_.names) {
      if (n.first == name) return &n.second;
    }
    return nullptr;
  }

  bool close(size_t start) {
    if (take(')')) {
      emit(")");
      return true;
    }
    return wrong("missing ), unterminated subpattern", start);
  }

  bool capture(size_t start, const std::string* name, size_t name_at, Width& width) {
    size_t number = ++out_.groups;
    widths_.resize(number);
    if (name) {
      if (const size_t* before = named(*name)) {
        return wrong("redefinition of group name '" + *name + "' as group " + std::to_string(number) + "; was group " +
                         std::to_string(*before),
                     name_at);
      }
      out_.names.emplace_back(*name, number);
    }
    emit("(");
    bool kept = verbose_;
    if (!alternatives(width)) return false;
    verbose_ = kept;
    if (!close(start)) return false;
    widths_[number - 1] = width;
    out_.closing.push_back(number);
    return true;
  }

  /// (?prefix ... ) around alternatives.
  bool enclosed(size_t start, std::string_view prefix, Width& width) {
    emit(prefix);
    bool kept = verbose_;
    if (!alternatives(width)) return false;
    verbose_ = kept;
    return close(start);
  }

  bool group(Atom& kind, Width& width) {
    size_t start = at_++;
    if (!take('?')) return capture(start, nullptr, 0, width);
    if (done()) return wrong("unexpected end of pattern", at_);
    char c = peek();
    if (c == 'P') return named_group(start, width);
    if (c == ':' || c == '>') {
      ++at_;
      return enclosed(start, c == ':' ? "(?:" : "(?>", width);
    }
    if (c == '#') {
      size_t stop = in_.find(')', at_);
      if (stop == std::string_view::npos) return wrong("missing ), unterminated comment", start);
      at_ = stop + 1;
      kind = Atom::None;
      width = {};
      return true;
    }
    if (c == '=' || c == '!' || c == '<') {
      ++at_;
      std::string prefix = std::string("(?") + c;
      bool behind = c == '<';
      if (behind) {
        if (done()) return wrong("unexpected end of pattern", at_);
        if (peek() != '=' && peek() != '!') return wrong("unknown extension ?<" + std::string(character()), start + 1);
        prefix += in_[at_++];
      }
      if (!enclosed(start, prefix, width)) return false;
      if (behind && width.least != width.most) return wrong("look-behind requires fixed-width pattern", {});
      width = {};
      return true;
    }
    if (c == '(') return conditional(start, width);
    if (c == '-' || is_letter(c)) return flag_group(start, kind, width);
    return wrong("unknown extension ?" + std::string(character()), start + 1);
  }

  bool named_group(size_t start, Width& width) {
    ++at_;
    if (done()) return wrong("unexpected end of pattern", at_);
    std::string name;
    size_t where = 0;
    if (take('<')) {
      if (!group_name('>', name, where) || !check_name(name, where)) return false;
      return capture(start, &name, where, width);
    }
    if (take('=')) {
      if (!group_name(')', name, where) || !check_name(name, where)) return false;
      const size_t* number = named(name);
      if (!number) return wrong("unknown group name '" + name + "'", where);
      return reference(*number, where + 1, width);
    }
    return wrong("unknown extension ?P" + std::string(character()), start + 1);
  }

  bool conditional(size_t start, Width& width) {
    ++at_;
    std::string name;
    size_t where = 0, number = 0;
    if (!group_name(')', name, where)) return false;
    if (std::all_of(name.begin(), name.end(), is_digit)) {
      for (char d : name) number = std::min<size_t>(number * 10 + static_cast<size_t>(d - '0'), 1'000'000);
      if (number == 0) return wrong("bad group number", where);
      if (number > out_.groups) ahead_.push_back({number, where});
    } else {
      if (!check_name(name, where)) return false;
      const size_t* known = named(name);
      if (!known) return wrong("unknown group name '" + name + "'", where);
      number = *known;
    }
    emit("(?(" + std::to_string(number) + ")");
    Width yes, no;
    bool kept = verbose_;
    if (!sequence(yes)) return false;
    if (take('|')) {
      emit("|");
      if (!sequence(no)) return false;
      if (peek() == '|') return wrong("conditional backref with more than two branches", at_);
    }
    verbose_ = kept;
    width = {std::min(yes.least, no.least), std::max(yes.most, no.most)};
    return close(start);
  }

  bool flag_group(size_t start, Atom& kind, Width& width) {
    struct Letter {
      char letter;
      uint32_t flag;
    };
    static constexpr Letter kLetters[] = {{'i', kPyIgnoreCase}, {'L', kPyLocale}, {'m', kPyMultiLine}, {'s', kPyDotAll},
                                          {'x', kPyVerbose},    {'a', kPyAscii},  {'u', kPyUnicode}};
    uint32_t on = 0, off = 0;
    std::string added, removed;
    bool minus = false;
    for (;; ++at_) {
      if (done()) return wrong(minus && off == 0 ? "missing flag" : "missing -, : or )", at_);
      char c = peek();
      if (c == ')' || c == ':') break;
      if (c == '-' && !minus) {
        minus = true;
        continue;
      }
      uint32_t flag = 0;
      for (const Letter& l : kLetters) flag |= l.letter == c ? l.flag : 0;
      if (flag == 0) {
        if (at_ == start + 2) return wrong("unknown extension ?" + std::string(character()), start + 1);
        return wrong(is_letter(c) ? "unknown flag" : "missing -, : or )", at_);
      }
      if (flag == kPyLocale && !bytes_) return wrong("bad inline flags: cannot use 'L' flag with a str pattern", at_ + 1);
      if (flag == kPyUnicode && bytes_) return wrong("bad inline flags: cannot use 'u' flag with a bytes pattern", at_ + 1);
      (minus ? off : on) |= flag;
      if (c == 'i' || c == 'm' || c == 's') (minus ? removed : added) += c;
    }
    if (take(')')) {
      if (minus) return wrong("missing :", at_ - 1);
      if (start != 0) return wrong("global flags not at the start of the expression", start);
      out_.flags |= on;
      if (on & kPyVerbose) verbose_ = true;
      kind = Atom::None;
      width = {};
      return true;
    }
    if (minus && off == 0) return wrong("missing flag", at_);
    ++at_;
    bool kept = verbose_;
    if (on & kPyVerbose) verbose_ = true;
    if (off & kPyVerbose) verbose_ = false;
    emit("(?" + added + (removed.empty() ? "" : "-" + removed) + ":");
    if (!alternatives(width)) return false;
    verbose_ = kept;
    return close(start);
  }

  /// A condition on a group that had not begun yet.
  struct Ahead {
    size_t number, where;
  };
  std::vector<Ahead> ahead_;
  int depth_ = 0;
  bool verbose_ = false;
  std::vector<Width> widths_;  // of the groups
};

}  // namespace

bool translate_python_regex(std::string_view pattern, uint32_t flags, bool is_bytes, PythonRegex& out,
                            PythonRegexProblem& problem) {
  return Translator(pattern, flags, is_bytes, out, problem).run();
}

}  // namespace tfl
