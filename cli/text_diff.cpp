#include "cli/text_diff.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tfl::cli {

namespace {

constexpr size_t kContext = 3;
constexpr ptrdiff_t kMostEdits = 4000;  // beyond, what lies between the first and the last difference is one change

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    size_t end = text.find('\n');
    size_t size = end == text.npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

struct Edit {
  char kind;  // ' ', '-', '+'
  size_t a, b;
};

/// The shortest way from a to b (Myers), as one entry a line.
std::vector<Edit> edits(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  const auto n = static_cast<ptrdiff_t>(a.size() - head - tail), m = static_cast<ptrdiff_t>(b.size() - head - tail);
  auto equal = [&](ptrdiff_t x, ptrdiff_t y) { return a[head + static_cast<size_t>(x)] == b[head + static_cast<size_t>(y)]; };
  std::vector<Edit> middle;
  const ptrdiff_t most = std::min(n + m, kMostEdits);
  std::vector<std::vector<ptrdiff_t>> trace;
  std::vector<ptrdiff_t> v(static_cast<size_t>(2 * most + 3), 0);
  auto at = [&](std::vector<ptrdiff_t>& of, ptrdiff_t k) -> ptrdiff_t& { return of[static_cast<size_t>(k + most + 1)]; };
  bool found = false;
  for (ptrdiff_t d = 0; d <= most && !found; ++d) {
    trace.push_back(v);
    for (ptrdiff_t k = -d; k <= d && !found; k += 2) {
      ptrdiff_t x = k == -d || (k != d && at(v, k - 1) < at(v, k + 1)) ? at(v, k + 1) : at(v, k - 1) + 1;
      ptrdiff_t y = x - k;
      while (x < n && y < m && equal(x, y)) ++x, ++y;
      at(v, k) = x;
      found = x >= n && y >= m;
    }
  }
  if (found) {
    ptrdiff_t x = n, y = m;
    for (auto d = static_cast<ptrdiff_t>(trace.size()) - 1; d >= 0; --d) {
      std::vector<ptrdiff_t>& past = trace[static_cast<size_t>(d)];
      ptrdiff_t k = x - y;
      ptrdiff_t from = k == -d || (k != d && at(past, k - 1) < at(past, k + 1)) ? k + 1 : k - 1;
      ptrdiff_t px = d == 0 ? 0 : at(past, from), py = d == 0 ? 0 : px - from;
      while (x > px && y > py) --x, --y, middle.push_back({' ', static_cast<size_t>(x), static_cast<size_t>(y)});
      if (d == 0) break;
      middle.push_back({x == px ? '+' : '-', static_cast<size_t>(px), static_cast<size_t>(py)});
      x = px;
      y = py;
    }
    std::reverse(middle.begin(), middle.end());
  } else {
    for (ptrdiff_t i = 0; i < n; ++i) middle.push_back({'-', static_cast<size_t>(i), 0});
    for (ptrdiff_t i = 0; i < m; ++i) middle.push_back({'+', 0, static_cast<size_t>(i)});
  }
  std::vector<Edit> out;
  for (size_t i = 0; i < head; ++i) out.push_back({' ', i, i});
  for (const Edit& e : middle) out.push_back({e.kind, e.a + head, e.b + head});
  for (size_t i = 0; i < tail; ++i) out.push_back({' ', a.size() - tail + i, b.size() - tail + i});
  return out;
}

std::string range(size_t first, size_t count) {
  std::string begin = std::to_string(count ? first + 1 : first);
  return count == 1 ? begin : begin + "," + std::to_string(count);
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, const std::string& before_name,
                         const std::string& after_name) {
  if (before == after) return {};
  std::vector<std::string_view> a = lines_of(before), b = lines_of(after);
  std::vector<Edit> all = edits(a, b);
  std::string out = "--- " + before_name + "\n+++ " + after_name + "\n";
  size_t line_a = 0, line_b = 0;  // of the entry `i`
  for (size_t i = 0; i < all.size();) {
    if (all[i].kind == ' ') {
      ++line_a, ++line_b, ++i;
      continue;
    }
    size_t begin = i - std::min(i, kContext);
    size_t lead = i - begin, end = i, quiet = 0;
    while (end < all.size() && quiet <= 2 * kContext) quiet = all[end++].kind == ' ' ? quiet + 1 : 0;
    if (quiet > kContext) end -= quiet - kContext;
    std::string text;
    size_t count_a = 0, count_b = 0;
    for (size_t k = begin; k < end; ++k) {
      std::string_view line = all[k].kind == '+' ? b[all[k].b] : a[all[k].a];
      text += all[k].kind;
      text += line;
      if (!line.ends_with('\n')) text += "\n\\ No newline at end of file\n";
      count_a += all[k].kind != '+';
      count_b += all[k].kind != '-';
    }
    out += "@@ -" + range(line_a - lead, count_a) + " +" + range(line_b - lead, count_b) + " @@\n" + text;
    line_a += count_a - lead;
    line_b += count_b - lead;
    i = end;
  }
  return out;
}

}  // namespace tfl::cli
