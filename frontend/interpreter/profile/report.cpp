// Profiles as tables.
#include <fmt/format.h>

#include "frontend/interpreter/profile/summary.h"

namespace tfl::profile {

namespace {

constexpr size_t kRows = 20;

double seconds(uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

std::string_view trimmed(std::string_view line) {
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  constexpr size_t kMost = 80;
  if (line.size() <= kMost) return line;
  size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;  // not within a character
  return line.substr(0, end);
}

}  // namespace

std::string to_text(const Profile& p, const std::string& name) {
  std::string out = fmt::format("\nProfile of {}: {:.3f} s, {} samples\n", name, seconds(p.nanoseconds), p.samples);
  auto functions = busiest_functions(p, false), library = busiest_functions(p, true), lines = busiest_lines(p);
  out += "\n    self s    total s       %  function\n";
  for (size_t i = 0; i < functions.size() && i < kRows; ++i) {
    const FunctionTime& f = p.functions[functions[i]];
    out += fmt::format("{:10.3f} {:10.3f} {:7.1f}  {} ({}:{})\n", seconds(f.self), seconds(f.total), percent(p, f.self), f.name,
                       f.file, f.line);
  }
  if (p.outside > 0 && percent(p, p.outside) >= 0.05) {
    out += fmt::format("{:10.3f} {:10.3f} {:7.1f}  (outside of the script's functions)\n", seconds(p.outside), seconds(p.outside),
                       percent(p, p.outside));
  }
  out += "\n    time s       %  line\n";
  for (size_t i = 0; i < lines.size() && i < kRows; ++i) {
    const LineTime& l = p.lines[lines[i]];
    out += fmt::format("{:10.3f} {:7.1f}  {}:{}  {}\n", seconds(l.self), percent(p, l.self), l.source->name, l.line,
                       trimmed(l.source->line(l.line)));
  }
  auto steps = busiest_steps(p);
  if (!steps.empty()) out += "\n    time s       %       runs   Gop/s    GB/s  in machine code\n";
  for (size_t i = 0; i < steps.size() && i < kRows; ++i) {
    const StepTime& s = steps[i];
    out += fmt::format("{:10.3f} {:7.1f} {:10} {:>7} {:>7}  {}", seconds(s.self), percent(p, s.self), s.step->runs,
                       rate(s.step->operations, s.self), rate(s.step->bytes, s.self), s.step->name);
    if (std::string place = place_of(*s.step); !place.empty()) out += fmt::format(" ({})", place);
    out += '\n';
  }
  if (!library.empty()) out += "\n    time s       %  called in the library\n";
  for (size_t i = 0; i < library.size() && i < kRows; ++i) {
    const FunctionTime& f = p.functions[library[i]];
    out += fmt::format("{:10.3f} {:7.1f}  {}\n", seconds(f.total), percent(p, f.total), f.name);
  }
  out += '\n';
  for (const std::string& note : p.notes) out += note + '\n';
  return out;
}

}  // namespace tfl::profile
