#include "frontend/text/unicode.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "frontend/text/utf8.h"

namespace tfl::unicode {

namespace {

struct CaseRange {
  uint32_t first, last;
  int32_t step, delta;
};
struct CaseText {
  uint32_t c;
  const char* text;
};

#include "frontend/text/unicode_case.inc"
#include "frontend/text/unicode_classes.inc"
#include "frontend/text/unicode_letters.inc"

template <size_t N>
bool in(const uint32_t (&edges)[N], char32_t c) {
  return (std::upper_bound(edges, edges + N, static_cast<uint32_t>(c)) - edges) & 1;
}

struct CaseMap {
  const CaseRange* ranges;
  size_t range_count;
  const CaseText* texts;
  size_t text_count;

  constexpr CaseMap(const CaseRange* r, size_t n, const CaseText* t, size_t m)
      : ranges(r), range_count(n), texts(t), text_count(m) {}
  /// The one character that `c` becomes; 0: it becomes a text.
  char32_t single(char32_t c) const {
    const CaseRange* r =
        std::upper_bound(ranges, ranges + range_count, c, [](char32_t a, const CaseRange& b) { return a < b.first; });
    if (r != ranges) {
      --r;
      if (c <= r->last && (c - r->first) % static_cast<uint32_t>(r->step) == 0) {
        return static_cast<char32_t>(static_cast<int64_t>(c) + r->delta);
      }
    }
    const CaseText* t = text_of(c);
    return t != texts + text_count && t->c == c ? 0 : c;
  }
  void append(std::string& out, char32_t c) const {
    if (char32_t to = single(c))
      utf8::append(out, to);
    else
      out += c == 0 ? std::string(1, '\0') : std::string(text_of(c)->text);
  }

 private:
  const CaseText* text_of(char32_t c) const {
    return std::lower_bound(texts, texts + text_count, c, [](const CaseText& a, char32_t b) { return a.c < b; });
  }
};

/// A case map over a text: what a character became is remembered, since texts repeat theirs.
class CaseMapping {
 public:
  explicit CaseMapping(const CaseMap& map) : map_(map) {}
  void append(std::string& out, char32_t c) {
    Known& known = known_[c % kKnown];
    if (known.from != c) known = {c, map_.single(c)};
    if (known.to)
      utf8::append(out, known.to);
    else
      map_.append(out, c);
  }

 private:
  static constexpr size_t kKnown = 64;
  struct Known {
    char32_t from = 0, to = 0;
  };
  const CaseMap& map_;
  Known known_[kKnown] = {};
};

template <size_t N, size_t M>
constexpr CaseMap case_map(const CaseRange (&ranges)[N], const CaseText (&texts)[M]) {
  return {ranges, N, texts, M};
}
constexpr CaseMap kUpper = case_map(k_to_upper, k_to_upper_text);
constexpr CaseMap kLower = case_map(k_to_lower, k_to_lower_text);
constexpr CaseMap kTitle = case_map(k_to_title, k_to_title_text);
constexpr CaseMap kFold = case_map(k_to_fold, k_to_fold_text);

constexpr char32_t kSigma = 0x3A3;

// Capital sigma becomes a final sigma at the end of a word: a cased letter before it and none after, ignorable ones apart.
void append_lower(std::string& out, std::string_view s, size_t at, size_t next, char32_t c) {
  if (c != kSigma) {
    kLower.append(out, c);
    return;
  }
  bool before = false, after = false;
  for (size_t i = at; i > 0;) {
    i = utf8::previous(s, i);
    char32_t p = utf8::first(s.substr(i));
    if (in(k_case_ignorable, p)) continue;
    before = is_cased(p);
    break;
  }
  for (size_t i = next; i < s.size();) {
    char32_t p = utf8::next(s, i);
    if (in(k_case_ignorable, p)) continue;
    after = is_cased(p);
    break;
  }
  utf8::append(out, before && !after ? 0x3C2 : 0x3C3);
}

bool ascii_between(char32_t c, char32_t low, char32_t high) { return c >= low && c <= high; }

bool all_ascii(std::string_view s) {
  size_t i = 0;
  for (; i + 8 <= s.size(); i += 8) {
    uint64_t w;
    std::memcpy(&w, s.data() + i, 8);
    if (w & 0x8080808080808080u) return false;
  }
  for (; i < s.size(); ++i) {
    if (static_cast<unsigned char>(s[i]) >= 0x80) return false;
  }
  return true;
}

/// An ASCII text with the letters from `first` on, 26 of them, in the other case: eight at a time.
std::string other_case(std::string_view s, char first) {
  constexpr uint64_t kOnes = 0x0101010101010101u;
  const uint64_t from = kOnes * static_cast<uint64_t>(0x80 - first), behind = kOnes * static_cast<uint64_t>(0x80 - first - 26);
  std::string out(s);
  size_t i = 0;
  for (; i + 8 <= out.size(); i += 8) {
    uint64_t w;
    std::memcpy(&w, out.data() + i, 8);
    w ^= ((w + from) & ~(w + behind) & (kOnes << 7)) >> 2;
    std::memcpy(out.data() + i, &w, 8);
  }
  for (; i < out.size(); ++i) {
    if (out[i] >= first && out[i] < first + 26) out[i] = static_cast<char>(out[i] ^ 0x20);
  }
  return out;
}
char ascii_upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }
char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

}  // namespace

bool is_alpha(char32_t c) {
  if (c < 0x80) return ascii_between(c | 32, 'a', 'z');
  return in(k_alpha, c);
}
bool is_decimal(char32_t c) { return c < 0x80 ? ascii_between(c, '0', '9') : in(k_decimal, c); }
bool is_digit(char32_t c) { return c < 0x80 ? ascii_between(c, '0', '9') : in(k_digit, c); }
bool is_numeric(char32_t c) { return c < 0x80 ? ascii_between(c, '0', '9') : in(k_numeric, c); }
bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || ascii_between(c, 9, 13) || ascii_between(c, 28, 31);
  return in(k_space, c);
}
bool is_printable(char32_t c) { return c < 0x80 ? ascii_between(c, 32, 126) : in(k_printable, c); }
bool is_upper(char32_t c) { return c < 0x80 ? ascii_between(c, 'A', 'Z') : in(k_upper, c); }
bool is_lower(char32_t c) { return c < 0x80 ? ascii_between(c, 'a', 'z') : in(k_lower, c); }
bool is_title(char32_t c) { return c >= 0x80 && in(k_titlecase, c); }
bool is_id_start(char32_t c) { return in(k_id_start, c); }
bool is_id_continue(char32_t c) { return in(k_id_continue, c); }

int decimal_value(char32_t c) {
  if (c < 0x80) return ascii_between(c, '0', '9') ? static_cast<int>(c - '0') : -1;
  const uint32_t* z = std::upper_bound(std::begin(k_decimal_zeros), std::end(k_decimal_zeros), static_cast<uint32_t>(c));
  if (z == k_decimal_zeros) return -1;
  uint32_t d = c - z[-1];
  return d < 10 ? static_cast<int>(d) : -1;
}

std::string upper(std::string_view s, Stop stop) {
  if (all_ascii(s)) return other_case(s, 'a');
  std::string out;
  out.reserve(s.size());
  CaseMapping mapping(kUpper);
  for (size_t at = 0; at < s.size() && !stops(stop);) {
    char32_t c = utf8::next(s, at);
    if (c < 0x80)
      out += ascii_upper(static_cast<char>(c));
    else
      mapping.append(out, c);
  }
  return out;
}

std::string lower(std::string_view s, Stop stop) {
  if (all_ascii(s)) return other_case(s, 'A');
  std::string out;
  out.reserve(s.size());
  CaseMapping mapping(kLower);
  for (size_t at = 0; at < s.size() && !stops(stop);) {
    size_t start = at;
    char32_t c = utf8::next(s, at);
    if (c < 0x80)
      out += ascii_lower(static_cast<char>(c));
    else if (c == kSigma)
      append_lower(out, s, start, at, c);
    else
      mapping.append(out, c);
  }
  return out;
}

std::string title(std::string_view s, Stop stop) {
  std::string out;
  bool inside = false;
  for (size_t at = 0; at < s.size() && !stops(stop);) {
    size_t start = at;
    char32_t c = utf8::next(s, at);
    if (inside)
      append_lower(out, s, start, at, c);
    else
      kTitle.append(out, c);
    inside = is_cased(c);
  }
  return out;
}

std::string capitalize(std::string_view s, Stop stop) {
  std::string out;
  for (size_t at = 0; at < s.size() && !stops(stop);) {
    size_t start = at;
    char32_t c = utf8::next(s, at);
    if (start == 0)
      kTitle.append(out, c);
    else
      append_lower(out, s, start, at, c);
  }
  return out;
}

std::string swapcase(std::string_view s, Stop stop) {
  std::string out;
  for (size_t at = 0; at < s.size() && !stops(stop);) {
    size_t start = at;
    char32_t c = utf8::next(s, at);
    if (is_upper(c))
      append_lower(out, s, start, at, c);
    else if (is_lower(c))
      kUpper.append(out, c);
    else
      utf8::append(out, c);
  }
  return out;
}

bool is_identifier(std::string_view s) {
  size_t at = 0;
  if (s.empty() || !is_id_start(utf8::next(s, at))) return false;
  while (at < s.size()) {
    if (!is_id_continue(utf8::next(s, at))) return false;
  }
  return true;
}

std::string casefold(std::string_view s, Stop stop) {
  std::string out;
  for (size_t at = 0; at < s.size() && !stops(stop);) kFold.append(out, utf8::next(s, at));
  return out;
}

}  // namespace tfl::unicode
