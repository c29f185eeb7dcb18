// Profiles as a page: what took the time first, then the sources, each line with its share of the run.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "frontend/interpreter/profile/summary.h"

namespace tfl::profile {

namespace {

constexpr std::string_view kStyle = R"(body { font: 14px sans-serif; margin: 2em; color: #222; background: #fff }
h1 { font-size: 1.4em } h2 { font-size: 1.1em; margin-top: 2em }
table { border-collapse: collapse; width: 100% } td, th { padding: 0 .8em 0 0; text-align: right; vertical-align: top }
th { color: #777; font-weight: normal; white-space: nowrap } td.text, th.text { text-align: left; width: 100% }
td.text { font-family: monospace; white-space: pre-wrap; overflow-wrap: anywhere } td.text span { color: #777 }
td.number { color: #999 } .bar { display: inline-block; height: .8em; background: #e07b39 }
td.place { min-width: 100px; text-align: left }
tr:hover { background: #f4f4f4 }
.flames { position: relative; overflow: hidden; --from: 0; --times: 1 }
.flames div { position: absolute; left: calc((var(--x) - var(--from)) * var(--times) * 1%); width: calc(var(--w) * var(--times) * 1% - 1px); height: 17px;
  box-sizing: border-box; padding: 0 3px; font: 12px/17px sans-serif; white-space: nowrap; overflow: hidden; background: #f2b07b; cursor: pointer }
.flames div.library { background: #dfe4ea } .flames div.step { background: #a9cfe8 } .flames div:hover { background: #e07b39 }
)";

std::string share(const Profile& p, uint64_t nanoseconds) {
  return nanoseconds == 0 ? std::string() : fmt::format("{:.1f}", percent(p, nanoseconds));
}

std::string bar(const Profile& p, uint64_t nanoseconds) {
  if (nanoseconds == 0) return {};
  return fmt::format("<span class=\"bar\" style=\"width: {:.1f}px\"></span>", std::max(1.0, percent(p, nanoseconds)));
}

struct File {
  std::shared_ptr<const Source> source;
  std::map<uint32_t, const LineTime*> lines;
  uint64_t self = 0;
};

void add_functions(std::string& out, const Profile& p, bool library) {
  auto order = busiest_functions(p, library);
  if (order.empty()) return;
  out += fmt::format(
      "<h2>{}</h2>\n<table>\n<tr><th>self s</th><th>total s</th><th>%</th><th></th><th "
      "class=\"text\">function</th></tr>\n",
      library ? "Called in the library" : "Functions");
  for (uint32_t i : order) {
    const FunctionTime& f = p.functions[i];
    uint64_t shown = library ? f.total : f.self;
    std::string place = library ? std::string() : fmt::format(" <span>{}:{}</span>", escaped(f.file), f.line);
    out += fmt::format("<tr><td>{}</td><td>{:.3f}</td><td>{}</td><td class=\"place\">{}</td><td class=\"text\">{}{}</td></tr>\n",
                       library ? std::string() : fmt::format("{:.3f}", static_cast<double>(f.self) * 1e-9),
                       static_cast<double>(f.total) * 1e-9, share(p, shown), bar(p, shown), escaped(f.name), place);
  }
  out += "</table>\n";
}

void add_steps(std::string& out, const Profile& p) {
  auto order = busiest_steps(p);
  if (order.empty()) return;
  out +=
      "<h2>In machine code</h2>\n<table>\n<tr><th>time s</th><th>%</th><th></th><th>runs</th><th>Gop/s</th><th>GB/s</th><th "
      "class=\"text\">step</th></tr>\n";
  for (const StepTime& s : order) {
    out += fmt::format(
        "<tr><td>{:.3f}</td><td>{}</td><td class=\"place\">{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"text\">{} "
        "<span>{}</span></td></tr>\n",
        static_cast<double>(s.self) * 1e-9, share(p, s.self), bar(p, s.self), s.step->runs, rate(s.step->operations, s.self),
        rate(s.step->bytes, s.self), escaped(s.step->name), escaped(place_of(*s.step)));
  }
  out += "</table>\n";
}

void add_source(std::string& out, const Profile& p, const File& file) {
  out += fmt::format("<h2>{}</h2>\n<table>\n<tr><th>total %</th><th>self %</th><th></th><th></th><th></th></tr>\n",
                     escaped(file.source->name));
  auto count = static_cast<uint32_t>(file.source->line_starts().size());
  for (uint32_t n = file.source->first_line; n < file.source->first_line + count; ++n) {
    auto found = file.lines.find(n);
    const LineTime* l = found == file.lines.end() ? nullptr : found->second;
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td class=\"place\">{}</td><td class=\"number\">{}</td><td "
        "class=\"text\">{}</td></tr>\n",
        share(p, l ? l->total : 0), share(p, l ? l->self : 0), bar(p, l ? l->self : 0), n, escaped(file.source->line(n)));
  }
  out += "</table>\n";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 32 || c == '\t')
      out += c;
  }
  return out;
}

std::string to_html(const Profile& p, const std::string& name) {
  std::map<const Source*, File> by_source;
  for (const LineTime& l : p.lines) {
    File& f = by_source[l.source.get()];
    f.source = l.source;
    f.lines[l.line] = &l;
    f.self += l.self;
  }
  std::vector<const File*> files;
  for (const auto& [source, f] : by_source) files.push_back(&f);
  std::stable_sort(files.begin(), files.end(), [](const File* a, const File* b) {
    return a->self != b->self ? a->self > b->self : a->source->name < b->source->name;
  });

  std::string title = escaped(name);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>Profile of "
      "{}</title>\n<style>\n{}</style>\n"
      "</head>\n<body>\n<h1>Profile of {}</h1>\n<p>{:.3f} s, {} samples</p>\n",
      title, kStyle, title, static_cast<double>(p.nanoseconds) * 1e-9, p.samples);
  for (const std::string& note : p.notes) out += fmt::format("<p>{}</p>\n", escaped(note));
  out += flame_graph(p);
  add_functions(out, p, false);
  add_steps(out, p);
  for (const File* f : files) add_source(out, p, *f);
  add_functions(out, p, true);
  out += "</body>\n</html>\n";
  return out;
}

}  // namespace tfl::profile
