// Profiles as Chrome's trace events, for chrome://tracing and Perfetto.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/interpreter/profile/summary.h"

namespace tfl::profile {

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (static_cast<unsigned char>(c) < 32)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out += '"';
}

struct Event {
  uint64_t begin, end;
  uint32_t stack, depth;
};

}  // namespace

std::string to_trace(const Profile& p) {
  std::vector<Event> events;
  std::vector<Event> open;
  std::vector<uint32_t> path;
  auto close_to = [&](size_t depth, uint64_t time) {
    while (open.size() > depth) {
      open.back().end = time;
      events.push_back(open.back());
      open.pop_back();
    }
  };
  for (const Moment& m : p.moments) {
    path.clear();
    for (uint32_t at = m.node; at != 0; at = p.stacks[at].parent) path.push_back(at);
    std::reverse(path.begin(), path.end());
    size_t same = 0;
    while (same < path.size() && same < open.size() && p.stacks[path[same]].function == p.stacks[open[same].stack].function &&
           p.stacks[path[same]].step == p.stacks[open[same].stack].step)
      ++same;
    close_to(same, m.begin);
    for (size_t d = same; d < path.size(); ++d) open.push_back({m.begin, 0, path[d], static_cast<uint32_t>(d)});
  }
  close_to(0, p.nanoseconds);
  // Who calls comes before who is called.
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.begin != b.begin ? a.begin < b.begin : a.depth < b.depth; });

  std::string out =
      "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":1,"
      "\"args\":{\"name\":\"tfl\"}}";
  for (const Event& e : events) {
    const StackNode& s = p.stacks[e.stack];
    const FunctionTime& f = p.functions[s.function];
    out += fmt::format(
        ",\n{{\"name\":{},\"cat\":\"{}\",\"ph\":\"X\",\"ts\":{:.3f},\"dur\":{:.3f},\"pid\":1,\"tid\":1,\"args\":{{"
        "\"place\":{}}}}}",
        quoted(s.step ? s.step->name : f.name),
        s.step      ? "machine code"
        : f.library ? "library"
                    : "script",
        static_cast<double>(e.begin) * 1e-3, static_cast<double>(e.end - e.begin) * 1e-3,
        quoted(fmt::format("{}:{}", f.file, s.line)));
  }
  return out += "\n]}\n";
}

}  // namespace tfl::profile
