#include "frontend/diagnostics/suggest.h"

#include <algorithm>
#include <cstddef>

namespace tfl {
namespace {

constexpr size_t kMove = 2;  // inserting, removing or replacing a character
constexpr size_t kCase = 1;  // only its case is another
constexpr size_t kMaxLength = 40;
constexpr size_t kMaxCandidates = 750;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

size_t replace_cost(char a, char b) {
  if (a == b) return 0;
  return lower(a) == lower(b) ? kCase : kMove;
}

/// Levenshtein's distance with these costs, or anything above `limit` when it is more than that.
size_t distance(std::string_view a, std::string_view b, size_t limit) {
  while (!a.empty() && !b.empty() && a.front() == b.front()) a.remove_prefix(1), b.remove_prefix(1);
  while (!a.empty() && !b.empty() && a.back() == b.back()) a.remove_suffix(1), b.remove_suffix(1);
  if (a.empty() || b.empty()) return (a.size() + b.size()) * kMove;
  if (a.size() > kMaxLength || b.size() > kMaxLength) return limit + 1;
  size_t row[kMaxLength + 1];
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j * kMove;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    size_t least = row[0] = i * kMove;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = diagonal + replace_cost(a[i - 1], b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + kMove, row[j - 1] + kMove});
      least = std::min(least, row[j]);
    }
    if (least > limit) return limit + 1;
  }
  return row[b.size()];
}

}  // namespace

std::string_view suggest(std::string_view name, const std::vector<std::string_view>& candidates) {
  if (candidates.size() > kMaxCandidates) return {};
  std::string_view best;
  size_t best_distance = static_cast<size_t>(-1);
  for (std::string_view c : candidates) {
    if (c == name) continue;
    size_t limit = std::min((name.size() + c.size() + 3) * kMove / 6, best_distance - 1);
    size_t d = distance(name, c, limit);
    if (d > limit) continue;
    best = c;
    best_distance = d;
    if (d == 0) break;
  }
  return best;
}

}  // namespace tfl
