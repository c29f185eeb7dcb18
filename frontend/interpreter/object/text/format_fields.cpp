// str.format: literal text and replacement fields "{name.attribute[key]!conversion:spec}", whose spec may hold fields again.
#include "frontend/core/str.h"
#include "frontend/text/quote.h"
#include "frontend/text/utf8.h"

namespace tfl {

namespace {

class Formatter {
 public:
  Formatter(Interp& interp, const std::vector<Value>* positional, const Value& named)
      : interp_(interp), positional_(positional), named_(named) {}

  Result<std::string> run(std::string_view s, int depth) {
    if (depth < 0) return fail(ErrorKind::ValueError, "Max string recursion exceeded");
    std::string out;
    for (size_t at = 0; at < s.size();) {
      char c = s[at];
      if (c != '{' && c != '}') {
        size_t end = s.find_first_of("{}", at);
        if (end == std::string_view::npos) end = s.size();
        out += s.substr(at, end - at);
        at = end;
        continue;
      }
      if (at + 1 < s.size() && s[at + 1] == c) {
        out += c;
        at += 2;
        continue;
      }
      if (c == '}') return fail(ErrorKind::ValueError, "Single '}' encountered in format string");
      if (at + 1 >= s.size()) return fail(ErrorKind::ValueError, "Single '{' encountered in format string");
      ++at;
      out += TFL_TRY(field(s, at, depth));
      TFL_TRY(guard_memory(interp_, out.size()));
    }
    return out;
  }

 private:
  /// `at` is behind the opening brace, and moves behind the closing one.
  Result<std::string> field(std::string_view s, size_t& at, int depth) {
    size_t name_start = at;
    bool in_brackets = false;
    while (at < s.size()) {
      char c = s[at];
      if (c == '{') return fail(ErrorKind::ValueError, "unexpected '{' in field name");
      if (c == '[') in_brackets = true;
      if (c == ']') in_brackets = false;
      if (!in_brackets && (c == '}' || c == ':' || c == '!')) break;
      ++at;
    }
    if (at >= s.size()) return fail(ErrorKind::ValueError, "expected '}' before end of string");
    std::string_view name = s.substr(name_start, at - name_start);
    char32_t conversion = 0;
    std::string_view spec;
    bool nested = false;
    if (s[at] == '!') {
      ++at;
      if (at >= s.size()) return fail(ErrorKind::ValueError, "end of string while looking for conversion specifier");
      conversion = utf8::next(s, at);
      if (conversion == '}' || at >= s.size()) return fail(ErrorKind::ValueError, "unmatched '{' in format spec");
      if (s[at] != ':' && s[at] != '}') return fail(ErrorKind::ValueError, "expected ':' after conversion specifier");
    }
    if (s[at] == ':') {
      size_t spec_start = ++at;
      int open = 1;
      for (; at < s.size(); ++at) {
        if (s[at] == '{') {
          ++open;
          nested = true;
        } else if (s[at] == '}' && --open == 0) {
          break;
        }
      }
      if (at >= s.size())
        return fail(ErrorKind::ValueError,
                    spec_start >= s.size() ? "expected '}' before end of string" : "unmatched '{' in format spec");
      spec = s.substr(spec_start, at - spec_start);
    }
    ++at;
    Value v = TFL_TRY(value_of(name));
    if (conversion != 0) {
      switch (conversion) {
        case 'r': v = TFL_TRY(repr(interp_, v)); break;
        case 's': v = TFL_TRY(to_str(interp_, v)); break;
        case 'a': {
          std::string text = TFL_TRY(repr_text(interp_, v));
          v = interp_.str(escape_non_ascii(text));
          break;
        }
        default: {
          if (conversion > 32 && conversion < 127) {
            return fail(ErrorKind::ValueError, "Unknown conversion specifier {}", static_cast<char>(conversion));
          }
          return fail(ErrorKind::ValueError, "Unknown conversion specifier \\x{:x}", static_cast<uint32_t>(conversion));
        }
      }
    }
    std::string inner;
    if (nested) {
      inner = TFL_TRY(run(spec, depth - 1));
      spec = inner;
    }
    Value text = TFL_TRY(format_value(interp_, v, spec));
    return text_of(text);
  }

  /// "" or digits: a position; else a name. Then attributes and items.
  Result<Value> value_of(std::string_view name) {
    size_t end = name.find_first_of(".[");
    std::string_view first = name.substr(0, end);
    Value v;
    int64_t number = -1;
    TFL_TRY(integer(first, number));
    if (first.empty() || number >= 0) {
      bool automatic = first.empty();
      if (numbering_ == Numbering::Unknown) numbering_ = automatic ? Numbering::Automatic : Numbering::Manual;
      if (automatic != (numbering_ == Numbering::Automatic)) {
        return fail(ErrorKind::ValueError, automatic
                                               ? "cannot switch from manual field specification to automatic field numbering"
                                               : "cannot switch from automatic field numbering to manual field specification");
      }
      if (automatic) number = next_++;
      if (!positional_) {
        return fail(ErrorKind::ValueError, "Format string contains positional fields");
      }
      if (number >= static_cast<int64_t>(positional_->size())) {
        return fail(ErrorKind::IndexError, "Replacement index {} out of range for positional args tuple", number);
      }
      v = (*positional_)[static_cast<size_t>(number)];
    } else {
      v = TFL_TRY(get_item(interp_, named_, interp_.str(std::string(first))));
    }
    size_t at = first.size();
    while (at < name.size()) {
      if (name[at] == '.') {
        size_t stop = name.find_first_of(".[", at + 1);
        std::string_view attribute = name.substr(at + 1, stop == std::string_view::npos ? stop : stop - at - 1);
        if (attribute.empty()) return fail(ErrorKind::ValueError, "Empty attribute in format string");
        v = TFL_TRY(get_attr(interp_, v, interp_.intern(attribute)));
        at = stop == std::string_view::npos ? name.size() : stop;
      } else if (name[at] == '[') {
        size_t stop = name.find(']', at + 1);
        if (stop == std::string_view::npos) return fail(ErrorKind::ValueError, "Missing ']' in format string");
        std::string_view key = name.substr(at + 1, stop - at - 1);
        if (key.empty()) return fail(ErrorKind::ValueError, "Empty attribute in format string");
        int64_t index = -1;
        TFL_TRY(integer(key, index));
        v = TFL_TRY(get_item(interp_, v, index >= 0 ? Value::integer(index) : interp_.str(std::string(key))));
        at = stop + 1;
      } else {
        return fail(ErrorKind::ValueError, "Only '.' or '[' may follow ']' in format field specifier");
      }
    }
    return v;
  }

  /// -1 when `s` is not a number.
  static Result<void> integer(std::string_view s, int64_t& value) {
    value = -1;
    if (s.empty()) return {};
    int64_t v = 0;
    for (char c : s) {
      if (c < '0' || c > '9') return {};
      if (__builtin_mul_overflow(v, int64_t{10}, &v) || __builtin_add_overflow(v, int64_t{c - '0'}, &v)) {
        return fail(ErrorKind::ValueError, "Too many decimal digits in format string");
      }
    }
    value = v;
    return {};
  }

  enum class Numbering : uint8_t { Unknown, Automatic, Manual };
  Interp& interp_;
  const std::vector<Value>* positional_;  // null: format_map
  const Value& named_;
  Numbering numbering_ = Numbering::Unknown;
  int64_t next_ = 0;
};

}  // namespace

Result<std::string> format_fields(Interp& interp, std::string_view text, const std::vector<Value>* positional,
                                  const Value& named) {
  return Formatter(interp, positional, named).run(text, 1);
}

}  // namespace tfl
