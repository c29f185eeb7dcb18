#include "frontend/text/normal_form.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "frontend/text/utf8.h"

namespace tfl::unicode {

namespace {

struct NormalShift {  // first, first + step ... last: each stands for the character `delta` further
  uint32_t first, last;
  int32_t step, delta;
};
struct NormalText {
  uint32_t c;
  const char* text;
};
struct Composed {  // in the order of (first, second)
  uint32_t first, second, whole;
};
struct CombiningRange {
  uint32_t first, last;
  uint8_t order;
};

#include "frontend/text/normal_form.inc"
#include "frontend/text/normal_form_single.inc"

// Syllables of Hangul follow from their numbers.
constexpr char32_t kSyllable = 0xAC00, kLead = 0x1100, kVowel = 0x1161, kTail = 0x11A7;
constexpr char32_t kLeads = 19, kVowels = 21, kTails = 28;

/// The place of a mark among the marks that follow a letter; 0: it is no mark.
uint8_t order_of(char32_t c) {
  const CombiningRange* r = std::upper_bound(std::begin(k_combining), std::end(k_combining), c,
                                             [](char32_t a, const CombiningRange& b) { return a < b.first; });
  if (r == std::begin(k_combining) || c > r[-1].last) return 0;
  return r[-1].order;
}

void take_apart(char32_t c, std::vector<char32_t>& out) {
  if (c < 0x80) {
    out.push_back(c);
    return;
  }
  if (c - kSyllable < kLeads * kVowels * kTails) {
    char32_t n = c - kSyllable;
    out.push_back(kLead + n / (kVowels * kTails));
    out.push_back(kVowel + n / kTails % kVowels);
    if (n % kTails) out.push_back(kTail + n % kTails);
    return;
  }
  const NormalShift* s = std::upper_bound(std::begin(k_compatible), std::end(k_compatible), c,
                                          [](char32_t a, const NormalShift& b) { return a < b.first; });
  if (s != std::begin(k_compatible)) {
    --s;
    if (c <= s->last && (c - s->first) % static_cast<uint32_t>(s->step) == 0) {
      out.push_back(static_cast<char32_t>(static_cast<int64_t>(c) + s->delta));
      return;
    }
  }
  const NormalText* t = std::lower_bound(std::begin(k_compatible_text), std::end(k_compatible_text), c,
                                         [](const NormalText& a, char32_t b) { return a.c < b; });
  if (t != std::end(k_compatible_text) && t->c == c) {
    std::string_view text = t->text;
    for (size_t at = 0; at < text.size();) out.push_back(utf8::next(text, at));
    return;
  }
  const Composed* p =
      std::find_if(std::begin(k_composed), std::end(k_composed), [&](const Composed& each) { return each.whole == c; });
  if (p == std::end(k_composed)) {
    out.push_back(c);
    return;
  }
  take_apart(p->first, out);
  take_apart(p->second, out);
}

/// The character that two make together, or 0.
char32_t together(char32_t a, char32_t b) {
  if (a - kLead < kLeads && b - kVowel < kVowels) return kSyllable + ((a - kLead) * kVowels + (b - kVowel)) * kTails;
  if (a - kSyllable < kLeads * kVowels * kTails && (a - kSyllable) % kTails == 0 && b > kTail && b - kTail < kTails)
    return a + (b - kTail);
  const Composed* p = std::lower_bound(
      std::begin(k_composed), std::end(k_composed), b,
      [a](const Composed& each, char32_t second) { return each.first < a || (each.first == a && each.second < second); });
  return p != std::end(k_composed) && p->first == a && p->second == b ? p->whole : 0;
}

/// Marks go into the order of their classes, then what belongs together is put together.
std::vector<char32_t> compose(std::vector<char32_t> apart) {
  for (size_t i = 0; i < apart.size();) {
    size_t end = i;
    while (end < apart.size() && order_of(apart[end])) ++end;
    std::stable_sort(apart.begin() + static_cast<ptrdiff_t>(i), apart.begin() + static_cast<ptrdiff_t>(end),
                     [](char32_t a, char32_t b) { return order_of(a) < order_of(b); });
    i = end + 1;
  }
  std::vector<char32_t> out;
  size_t base = SIZE_MAX;  // the letter that marks may join
  uint8_t last = 0;        // the order of what stands behind it and was not joined
  for (char32_t c : apart) {
    uint8_t order = order_of(c);
    bool reachable = base != SIZE_MAX && (out.size() == base + 1 || (last != 0 && last < order));
    if (char32_t whole = reachable ? together(out[base], c) : 0) {
      out[base] = whole;
      continue;
    }
    if (order == 0) base = out.size();
    last = order;
    out.push_back(c);
  }
  return out;
}

}  // namespace

std::string normal_name(std::string_view name) {
  std::vector<char32_t> apart;
  for (size_t at = 0; at < name.size();) take_apart(utf8::next(name, at), apart);
  std::string out;
  for (char32_t c : compose(std::move(apart))) utf8::append(out, c);
  return out;
}

}  // namespace tfl::unicode
