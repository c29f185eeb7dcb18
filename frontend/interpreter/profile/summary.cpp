#include "frontend/interpreter/profile/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace tfl::profile {

namespace {

/// "tensorflow/keras/layers/_dense" and "Dense.call": tf.keras.layers.Dense.call
std::string library_name(std::string_view file, std::string_view function) {
  constexpr std::string_view kRoot = "<stdlib>/", kEnd = ".tfl";
  if (file.starts_with(kRoot)) file.remove_prefix(kRoot.size());
  if (file.ends_with(kEnd)) file.remove_suffix(kEnd.size());
  std::string name;
  while (!file.empty()) {
    size_t end = std::min(file.find('/'), file.size());
    std::string_view part = file.substr(0, end);
    file.remove_prefix(std::min(end + 1, file.size()));
    if (part.starts_with('_')) continue;
    if (!name.empty()) name += '.';
    if (name.empty() && part == "tensorflow")
      name += "tf";
    else if (name.empty() && part == "numpy")
      name += "np";
    else
      name += part;
  }
  if (function == "<module>") return "import " + name;
  if (!name.empty()) name += '.';
  return name += function;
}

/// Rows of equal keys become one.
class Rows {
 public:
  explicit Rows(Profile& profile) : profile_(profile) {}

  // Functions that AutoGraph made have the name and the place of those they were made from.
  uint32_t function(const Code& code) {
    auto [known, fresh] = by_code_.try_emplace(&code, 0);
    if (!fresh) return known->second;
    FunctionTime f;
    const Source* source = code.source.get();
    std::string_view name = "?";
    if (const Str* known_as = code.qualname ? code.qualname : code.name) name = known_as->text;
    f.library = !source || source->internal;
    f.file = source ? source->name : std::string();
    f.name = f.library ? library_name(f.file, name) : std::string(name);
    f.line = code.span.line;
    // What AutoGraph makes of a branch or a loop is part of the function around it, which called it and is known.
    for (auto i = static_cast<uint32_t>(profile_.functions.size()); code.helper && i-- > 0;) {
      const FunctionTime& around = profile_.functions[i];
      if (around.file == f.file && around.name == f.name && around.line <= f.line) return known->second = i;
    }
    auto [row, added] =
        by_place_.try_emplace({f.file, f.name, f.library ? 0 : f.line}, static_cast<uint32_t>(profile_.functions.size()));
    if (added) profile_.functions.push_back(std::move(f));
    return known->second = row->second;
  }

  // A traced function is known by the file, its name and a line inside it: the last of that name that begins before it.
  uint32_t function(const CodeStep::Line& at) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < profile_.functions.size(); ++i) {
      const FunctionTime& f = profile_.functions[i];
      if (f.library || f.file != at.file || f.name != at.function || f.line > at.line) continue;
      if (best == UINT32_MAX || profile_.functions[best].line < f.line) best = i;
    }
    if (best != UINT32_MAX) return best;
    auto [row, added] = by_place_.try_emplace({at.file, at.function, 0}, static_cast<uint32_t>(profile_.functions.size()));
    if (added) profile_.functions.push_back({at.function, at.file, at.line, false, 0, 0});
    return row->second;
  }

  uint32_t line(const std::shared_ptr<const Source>& source, uint32_t number) {
    auto [row, added] = by_line_.try_emplace({source.get(), number}, static_cast<uint32_t>(profile_.lines.size()));
    if (added) profile_.lines.push_back({source, number});
    return row->second;
  }

 private:
  struct Key {
    std::string file, name;
    uint32_t line;
    auto operator<=>(const Key&) const = default;
  };
  Profile& profile_;
  std::unordered_map<const Code*, uint32_t> by_code_;
  std::map<Key, uint32_t> by_place_;
  std::map<std::pair<const Source*, uint32_t>, uint32_t> by_line_;
};

bool add_once(std::vector<uint32_t>& seen, uint32_t what) {
  if (std::find(seen.begin(), seen.end(), what) != seen.end()) return false;
  seen.push_back(what);
  return true;
}

}  // namespace

Profile summarise(const Sampler& sampler) {
  Profile p;
  p.nanoseconds = sampler.nanoseconds();
  p.samples = sampler.samples();
  p.moments.assign(sampler.moments().begin(), sampler.moments().end());
  auto nodes = sampler.nodes();
  Rows rows(p);
  std::unordered_map<std::string_view, std::shared_ptr<const Source>> sources;
  for (const Node& n : nodes) {
    if (n.code && n.code->source) sources.try_emplace(n.code->source->name, n.code->source);
  }
  p.stacks.resize(nodes.size());
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> line_rows(nodes.size(), kNone);  // of those of the script
  for (size_t i = 1; i < nodes.size(); ++i) {
    if (nodes[i].step) continue;
    const Code& code = *nodes[i].code;
    uint32_t line = code.span_at(static_cast<uint32_t>(nodes[i].ip - code.instructions.data())).span.line;
    if (line == 0) line = code.span.line;
    p.stacks[i] = {nodes[i].parent, rows.function(code), line};
    if (!p.functions[p.stacks[i].function].library) line_rows[i] = rows.line(code.source, line);
  }
  // What machine code runs is a line of a traced function, or of who called it where nobody knows.
  std::vector<std::vector<std::pair<uint32_t, double>>> shares(nodes.size());
  std::unordered_map<const CodeStep*, uint32_t> step_rows;
  for (size_t i = 1; i < nodes.size(); ++i) {
    if (!nodes[i].step) continue;
    const CodeStep& step = *nodes[i].step;
    p.stacks[i] = p.stacks[nodes[i].parent];
    p.stacks[i].parent = nodes[i].parent;
    p.stacks[i].step = &step;
    auto [row, added] = step_rows.try_emplace(&step, static_cast<uint32_t>(p.steps.size()));
    if (added) p.steps.push_back({&step, 0});
    p.steps[row->second].self += nodes[i].self;
    for (const CodeStep::Line& at : step.lines) {
      auto source = sources.find(at.file);
      if (source != sources.end() && !source->second->internal)
        shares[i].push_back({rows.line(source->second, at.line), at.share});
    }
    if (shares[i].empty()) continue;
    line_rows[i] = shares[i][0].first;
    p.stacks[i].function = rows.function(step.lines[0]);
    p.stacks[i].line = step.lines[0].line;
  }
  std::vector<uint32_t> functions, lines;
  for (size_t i = 0; i < nodes.size(); ++i) {
    uint64_t self = nodes[i].self;
    p.stacks[i].self = self;
    if (self == 0) continue;
    functions.clear();
    lines.clear();
    bool innermost = true;
    uint32_t called = kNone;  // the library's function that the script calls
    for (uint32_t at = static_cast<uint32_t>(i); at != 0; at = p.stacks[at].parent) {
      if (line_rows[at] == kNone) {
        if (innermost && !p.stacks[at].step) called = p.stacks[at].function;
        continue;
      }
      FunctionTime& f = p.functions[p.stacks[at].function];
      LineTime& l = p.lines[line_rows[at]];
      if (innermost) f.self += self;
      if (innermost && shares[at].empty()) l.self += self;
      uint64_t left = self;  // of what is shared among lines
      for (size_t k = shares[at].size(); k-- > 0;) {
        LineTime& part = p.lines[shares[at][k].first];
        auto own = k == 0 ? left : std::min(left, static_cast<uint64_t>(shares[at][k].second * static_cast<double>(self)));
        left -= own;
        part.self += own;
        if (add_once(lines, shares[at][k].first)) part.total += own;
      }
      innermost = false;
      if (add_once(functions, p.stacks[at].function)) f.total += self;
      if (add_once(lines, line_rows[at])) l.total += self;
    }
    if (called != kNone) p.functions[called].total += self;
    if (innermost) p.outside += self;
  }
  return p;
}

double percent(const Profile& profile, uint64_t nanoseconds) {
  return profile.nanoseconds == 0 ? 0 : 100.0 * static_cast<double>(nanoseconds) / static_cast<double>(profile.nanoseconds);
}

std::vector<uint32_t> busiest_functions(const Profile& profile, bool library) {
  std::vector<uint32_t> order;
  const auto& f = profile.functions;
  for (uint32_t i = 0; i < f.size(); ++i) {
    if (f[i].library == library && f[i].total > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return f[a].self != f[b].self ? f[a].self > f[b].self : f[a].total > f[b].total;
  });
  return order;
}

std::vector<StepTime> busiest_steps(const Profile& profile) {
  std::vector<StepTime> order;
  for (const StepTime& s : profile.steps) {
    if (s.self > 0) order.push_back(s);
  }
  std::stable_sort(order.begin(), order.end(), [](const StepTime& a, const StepTime& b) { return a.self > b.self; });
  return order;
}

std::string rate(double count, uint64_t nanoseconds) {
  return count == 0 || nanoseconds == 0 ? "-" : fmt::format("{:.1f}", count / static_cast<double>(nanoseconds));
}

std::string place_of(const CodeStep& step) {
  return step.lines.empty() ? std::string() : fmt::format("{}:{}", step.lines[0].file, step.lines[0].line);
}

std::vector<uint32_t> busiest_lines(const Profile& profile) {
  std::vector<uint32_t> order;
  const auto& l = profile.lines;
  for (uint32_t i = 0; i < l.size(); ++i) {
    if (l[i].self > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return l[a].self > l[b].self; });
  return order;
}

}  // namespace tfl::profile
