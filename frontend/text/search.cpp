#include "frontend/text/search.h"

#include <algorithm>
#include <cstring>

#include "frontend/text/unicode.h"
#include "frontend/text/utf8.h"

namespace tfl {

namespace {

constexpr size_t kNone = std::string_view::npos;

bool is_ascii_blank(char32_t c) { return c == ' ' || (c >= 9 && c <= 13); }

bool is_blank(char32_t c, Alphabet alphabet) {
  if (is_ascii_blank(c)) return true;
  if (alphabet == Alphabet::Bytes || (c > ' ' && c < 0x80)) return false;
  return unicode::is_space(c);
}

char32_t next(std::string_view s, size_t& at, Alphabet alphabet) {
  if (alphabet == Alphabet::Text) return utf8::next(s, at);
  return static_cast<unsigned char>(s[at++]);
}
size_t previous(std::string_view s, size_t at, Alphabet alphabet) {
  return alphabet == Alphabet::Text ? utf8::previous(s, at) : at - 1;
}

bool is_line_end(char32_t c, Alphabet alphabet) {
  if (c == '\n' || c == '\r') return true;
  return alphabet == Alphabet::Text &&
         (c == 0x0B || c == 0x0C || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029);
}

template <class Out>
std::string_view strip_if(std::string_view s, bool left, bool right, Alphabet alphabet, Out&& out) {
  size_t b = 0, e = s.size();
  while (left && b < e) {
    size_t at = b;
    if (!out(next(s, at, alphabet))) break;
    b = at;
  }
  while (right && e > b) {
    size_t p = previous(s, e, alphabet), at = p;
    if (!out(next(s, at, alphabet))) break;
    e = p;
  }
  return s.substr(b, e - b);
}

}  // namespace

size_t find_first(std::string_view s, std::string_view what) {
  if (what.empty()) return 0;
  if (what.size() > s.size()) return kNone;
  const void* p = memmem(s.data(), s.size(), what.data(), what.size());
  return p ? static_cast<size_t>(static_cast<const char*>(p) - s.data()) : kNone;
}

size_t find_last(std::string_view s, std::string_view what) { return s.rfind(what); }

int64_t count_occurrences(std::string_view s, std::string_view what, Alphabet alphabet, Stop stop) {
  if (what.empty()) return (alphabet == Alphabet::Text ? utf8::count(s) : static_cast<int64_t>(s.size())) + 1;
  int64_t n = 0;
  for (size_t at = 0;;) {
    size_t i = find_first(s.substr(at), what);
    if (i == kNone || stops(stop)) return n;
    ++n;
    at += i + what.size();
  }
}

std::string replace_occurrences(std::string_view s, std::string_view what, std::string_view with, int64_t limit,
                                Alphabet alphabet, Stop stop) {
  std::string out;
  size_t at = 0;
  if (what.empty()) {
    for (; limit != 0 && !stops(stop); --limit) {
      out += with;
      if (at >= s.size()) return out;
      size_t start = at;
      next(s, at, alphabet);
      out += s.substr(start, at - start);
    }
  }
  while (limit != 0 && !what.empty() && !stops(stop)) {
    size_t i = find_first(s.substr(at), what);
    if (i == kNone) break;
    out += s.substr(at, i);
    out += with;
    at += i + what.size();
    --limit;
  }
  out += s.substr(at);
  return out;
}

std::vector<std::string_view> split_at(std::string_view s, std::string_view separator, int64_t limit, bool from_right,
                                       Stop stop) {
  std::vector<std::string_view> out;
  while (limit != 0 && !stops(stop)) {
    size_t i = from_right ? find_last(s, separator) : find_first(s, separator);
    if (i == kNone) break;
    size_t after = i + separator.size();
    if (from_right) {
      out.push_back(s.substr(after));
      s = s.substr(0, i);
    } else {
      out.push_back(s.substr(0, i));
      s = s.substr(after);
    }
    --limit;
  }
  out.push_back(s);
  if (from_right) std::reverse(out.begin(), out.end());
  return out;
}

std::vector<std::string_view> split_blanks(std::string_view s, int64_t limit, bool from_right, Alphabet alphabet, Stop stop) {
  std::vector<std::string_view> out;
  while (!stops(stop)) {
    s = strip_blanks(s, !from_right, from_right, alphabet);
    if (s.empty()) break;
    if (limit == 0) {
      out.push_back(from_right ? strip_blanks(s, false, true, alphabet) : s);
      break;
    }
    size_t at = from_right ? s.size() : 0;
    while (from_right ? at > 0 : at < s.size()) {
      if (from_right) {
        size_t p = previous(s, at, alphabet), q = p;
        if (is_blank(next(s, q, alphabet), alphabet)) break;
        at = p;
      } else {
        size_t q = at;
        if (is_blank(next(s, q, alphabet), alphabet)) break;
        at = q;
      }
    }
    out.push_back(from_right ? s.substr(at) : s.substr(0, at));
    s = from_right ? s.substr(0, at) : s.substr(at);
    --limit;
  }
  if (from_right) std::reverse(out.begin(), out.end());
  return out;
}

std::vector<std::string_view> split_lines(std::string_view s, bool keep_ends, Alphabet alphabet, Stop stop) {
  std::vector<std::string_view> out;
  size_t line = 0;
  for (size_t at = 0; at < s.size() && !stops(stop);) {
    size_t start = at;
    char32_t c = next(s, at, alphabet);
    if (!is_line_end(c, alphabet)) continue;
    if (c == '\r' && at < s.size() && s[at] == '\n') ++at;
    out.push_back(s.substr(line, (keep_ends ? at : start) - line));
    line = at;
  }
  if (line < s.size()) out.push_back(s.substr(line));
  return out;
}

std::string_view strip_blanks(std::string_view s, bool left, bool right, Alphabet alphabet) {
  return strip_if(s, left, right, alphabet, [alphabet](char32_t c) { return is_blank(c, alphabet); });
}

std::string_view strip_characters(std::string_view s, std::string_view characters, bool left, bool right, Alphabet alphabet) {
  return strip_if(s, left, right, alphabet, [characters, alphabet](char32_t c) {
    for (size_t at = 0; at < characters.size();) {
      if (next(characters, at, alphabet) == c) return true;
    }
    return false;
  });
}

std::string expand_tabs(std::string_view s, int64_t size, Alphabet alphabet) {
  std::string out;
  int64_t column = 0;
  for (size_t at = 0; at < s.size();) {
    size_t start = at;
    char32_t c = next(s, at, alphabet);
    if (c == '\t') {
      if (size > 0) {
        int64_t n = size - column % size;
        out.append(static_cast<size_t>(n), ' ');
        column += n;
      }
      continue;
    }
    out += s.substr(start, at - start);
    column = c == '\n' || c == '\r' ? 0 : column + 1;
  }
  return out;
}

}  // namespace tfl
