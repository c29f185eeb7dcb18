#include "frontend/syntax/diagnostics/suggest.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace tfl {
namespace {

// What a slip costs. Two neighbours exchanged is what fingers do most; another letter makes another word soonest.
constexpr size_t kExchange = 10;
constexpr size_t kMove = 12;  // a letter more or less
constexpr size_t kReplace = 16;
constexpr size_t kShape = 1;     // only case, underscores or the first letter speak against it
constexpr size_t kOrder = 8;     // the same words in another order
constexpr size_t kLetters = 22;  // the same letters in another order
constexpr size_t kShortened = 14;
constexpr size_t kMostAcrossWords = 2 * kMove;  // where one has more words than the other

constexpr size_t kLongest = 64;
constexpr size_t kShortestStem = 4;
constexpr size_t kNone = static_cast<size_t>(-1);

/// A word with a third of its letters wrong is another word. (CPython's measure; rustc's is nearly the same.)
size_t limit_of(size_t a, size_t b) { return (a + b + 3) * kMove / 6; }

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
char lower(char c) { return is_upper(c) ? static_cast<char>(c + ('a' - 'A')) : c; }

/// A name in lower case, whole and as its words: reduce_mean and ReduceMean have two.
struct Words {
  std::string joined;
  std::vector<std::string> parts;

  explicit Words(std::string_view name) {
    for (size_t i = 0; i < name.size(); ++i) {
      char c = name[i];
      if (c == '_' || c == '-' || c == '.' || c == ' ') {
        if (!parts.empty() && !parts.back().empty()) parts.emplace_back();
        continue;
      }
      bool hump = is_upper(c) && i > 0 &&
                  (is_lower(name[i - 1]) || (is_upper(name[i - 1]) && i + 1 < name.size() && is_lower(name[i + 1])));
      if (parts.empty() || (hump && !parts.back().empty())) parts.emplace_back();
      parts.back() += lower(c);
      joined += lower(c);
    }
    if (!parts.empty() && parts.back().empty()) parts.pop_back();
  }
};

/// Damerau's distance (optimal string alignment) with the costs above; kNone above `limit`.
size_t distance(std::string_view a, std::string_view b, size_t limit) {
  if (a == b) return 0;
  if (a.size() > kLongest || b.size() > kLongest) return kNone;
  size_t first = !a.empty() && !b.empty() && a[0] != b[0] ? kShape : 0;
  size_t rows[3][kLongest + 1];
  size_t *before = rows[0], *above = rows[1], *row = rows[2];
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j * kMove;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t least = row[0] = i * kMove;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t best = std::min(above[j], row[j - 1]) + kMove;
      best = std::min(best, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : kReplace));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && a[i - 1] != a[i - 2])
        best = std::min(best, before[j - 2] + kExchange);
      row[j] = best;
      least = std::min(least, best);
    }
    if (least > limit) return kNone;
    std::swap(before, above);
    std::swap(above, row);
  }
  size_t d = above[b.size()] + first;
  return d > limit + first ? kNone : d;
}

template <class T>
bool same_when_sorted(T a, T b) {
  if (a.size() != b.size()) return false;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

size_t word_cost(std::string_view a, std::string_view b) {
  size_t d = distance(a, b, limit_of(a.size(), b.size()));
  if (d != kNone) return d;
  if (a.size() >= kShortestStem && b.starts_with(a)) return kShortened + b.size() - a.size();
  if (a.size() >= kShortestStem && a[0] == b[0] && same_when_sorted(std::string(a), std::string(b))) return kLetters;
  return kNone;
}

/// How far `b` is from what was written; kNone: it is something else.
size_t cost(const Words& a, const Words& b) {
  if (a.joined == b.joined) return kShape;
  if (a.parts.size() > 1 && same_when_sorted(a.parts, b.parts)) return kOrder;
  if (a.parts.size() != b.parts.size())
    return distance(a.joined, b.joined, std::min(kMostAcrossWords, limit_of(a.joined.size(), b.joined.size())));
  // Each word has to be near: reduce_max is not what reduce_sum was meant to be, however much the two share.
  size_t sum = 0;
  for (size_t i = 0; i < a.parts.size(); ++i) {
    size_t c = word_cost(a.parts[i], b.parts[i]);
    if (c == kNone) return kNone;
    sum += c;
  }
  return sum;
}

}  // namespace

std::string_view suggest(std::string_view name, const std::vector<std::string_view>& candidates) {
  const Words given(name);
  std::string_view best;
  size_t least = kNone;
  if (given.joined.empty()) return best;
  for (std::string_view c : candidates) {
    if (c == name || (c.starts_with('_') && !name.starts_with('_'))) continue;
    Words words(c);
    size_t far = cost(given, words);
    if (far == kNone) continue;
    // Of two that are as near, the one that is written in the same manner.
    far = 2 * far + (is_upper(c[0]) != is_upper(name[0]) ? 1 : 0);
    if (far >= least) continue;
    best = c;
    least = far;
  }
  return best;
}

}  // namespace tfl
