// The calls of a run as boxes, each as wide as its share of the time and below the one that called it.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "frontend/interpreter/profile/summary.h"

namespace tfl::profile {

namespace {

constexpr double kThinnest = 0.3;  // per cent: narrower boxes cannot be seen
constexpr uint32_t kDeepest = 60;  // rows
constexpr uint32_t kRowPixels = 18;

/// A call, wherever in the one around it: stacks that differ in their lines alone are one.
struct Flame {
  uint32_t stack;  // one of its stacks
  uint64_t total = 0;
  std::map<std::pair<uint32_t, const CodeStep*>, uint32_t> inner;  // by function and step
};

struct Flames {
  const Profile& p;
  std::vector<Flame> all{{0}};
  std::vector<uint32_t> of_stack;
  std::string out;
  uint32_t rows = 0;

  explicit Flames(const Profile& profile) : p(profile), of_stack(profile.stacks.size(), 0) {
    // Parents stand before who they call.
    for (uint32_t i = 1; i < p.stacks.size(); ++i) {
      const StackNode& s = p.stacks[i];
      auto [at, fresh] = all[of_stack[s.parent]].inner.try_emplace({s.function, s.step}, static_cast<uint32_t>(all.size()));
      of_stack[i] = at->second;
      if (fresh) all.push_back({i});
    }
    for (uint32_t i = 0; i < p.stacks.size(); ++i) all[of_stack[i]].total += p.stacks[i].self;
    for (size_t i = all.size(); i-- > 1;) all[of_stack[p.stacks[all[i].stack].parent]].total += all[i].total;
  }

  void draw(uint32_t number, double from, uint32_t row) {
    const Flame& flame = all[number];
    std::vector<uint32_t> order;
    for (const auto& [key, i] : flame.inner) order.push_back(i);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return all[a].total != all[b].total ? all[a].total > all[b].total : all[a].stack < all[b].stack;
    });
    for (uint32_t i : order) {
      double width = percent(p, all[i].total);
      if (width < kThinnest || row >= kDeepest) break;
      const StackNode& s = p.stacks[all[i].stack];
      const FunctionTime& f = p.functions[s.function];
      std::string name = escaped(s.step ? std::string_view(s.step->name) : std::string_view(f.name));
      std::string place = s.step      ? escaped(place_of(*s.step))
                          : f.library ? std::string()
                                      : fmt::format("{}:{}", escaped(f.file), f.line);
      out += fmt::format("<div{} style=\"--x: {:.3f}; --w: {:.3f}; top: {}px\" title=\"{}{}{}, {:.1f} %, {:.3f} s\">{}</div>\n",
                         s.step      ? " class=\"step\""
                         : f.library ? " class=\"library\""
                                     : "",
                         from, width, row * kRowPixels, name, place.empty() ? "" : ", ", place, width,
                         static_cast<double>(all[i].total) * 1e-9, name);
      rows = std::max(rows, row + 1);
      draw(i, from, row + 1);
      from += width;
    }
  }
};

}  // namespace

std::string flame_graph(const Profile& p) {
  Flames flames(p);
  flames.draw(0, 0, 0);
  if (flames.rows == 0) return {};
  // A click makes a box as wide as the page; one on a box that is so already shows all again.
  return fmt::format(
      "<h2>Calls</h2>\n<div class=\"flames\" style=\"height: {}px\" onclick=\"const s = this.style, b = event.target.style; if "
      "(event.target === this) "
      "return; const w = b.getPropertyValue('--w'), x = b.getPropertyValue('--x'), same = s.getPropertyValue('--from') === x "
      "&amp;&amp; "
      "s.getPropertyValue('--times') == 100 / w; s.setProperty('--from', same ? 0 : x); s.setProperty('--times', same ? 1 : 100 "
      "/ w)\">\n{}</div>\n",
      flames.rows * kRowPixels, flames.out);
}

}  // namespace tfl::profile
