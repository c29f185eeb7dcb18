// tfl fmt: sources in one style. A file is written whole or not at all, and only where its syntax tree stays the same.
#include <sys/stat.h>

#include <cstdio>
#include <cstring>

#include "cli/commands.h"
#include "cli/files_below.h"
#include "cli/session.h"
#include "cli/text_diff.h"
#include "frontend/syntax/diagnostics/render.h"
#include "frontend/syntax/format/format.h"
#include "runtime/files/file.h"

namespace tfl::cli {

namespace {

std::string plural(size_t n, const char* one, const char* many) { return std::to_string(n) + (n == 1 ? one : many); }

}  // namespace

int format_files(const Arguments& a) {
  size_t changed = 0, same = 0, failed = 0;
  bool usage = false;
  const FormatArguments& f = a.format;
  FormatOptions options;
  options.line_length = static_cast<uint32_t>(f.line_length);
  options.magic_trailing_comma = !f.skip_magic_trailing_comma;
  options.normal_quotes = !f.skip_quotes;
  for (auto [first, last] : f.ranges) options.ranges.push_back({first, last});
  for (const std::string& name : scripts_of(a.files)) {
    std::string text;
    if (!read_source(name, text)) {
      usage = true;
      continue;
    }
    const bool input = name == "-";
    const std::string shown = input ? "<stdin>" : name;
    Source source(shown, text);
    FormatResult result = format_source(source, options);
    if (!result.ok()) {
      ++failed;
      if (result.problem.empty())
        print(stderr, render_diagnostics(source, result.diagnostics, use_color(a)));
      else
        say_error(shown + ": " + result.problem + "; the file is left as it is");
      continue;
    }
    if (f.diff) print(stdout, unified_diff(text, result.text, shown, shown + " (formatted)"));
    if (input && !f.diff && !f.check) print(stdout, result.text);
    if (text == result.text) {
      ++same;
      continue;
    }
    ++changed;
    if (f.check || f.diff) {
      if (!f.quiet && !input) print(stderr, "would reformat " + shown + "\n");
      continue;
    }
    if (input) continue;
    struct stat info{};
    unsigned mode = stat(name.c_str(), &info) == 0 ? info.st_mode & 07777 : 0666;
    if (int why = write_whole_file(name, result.text, mode)) {
      say_error("cannot write '" + name + "': " + std::strerror(why));
      ++failed;
      continue;
    }
    if (!f.quiet) print(stderr, "reformatted " + shown + "\n");
  }
  const bool only_input = a.files.size() == 1 && a.files[0] == "-";
  if (!f.quiet && !only_input) {
    std::string text;
    auto add = [&](size_t n, const std::string& what) {
      if (n) text += (text.empty() ? "" : ", ") + plural(n, " file ", " files ") + what;
    };
    const bool would = f.check || f.diff;
    add(changed, would ? "would be reformatted" : "reformatted");
    add(same, would ? "would be left unchanged" : "left unchanged");
    add(failed, would ? "would fail to reformat" : "failed to reformat");
    print(stderr, (text.empty() ? "no scripts were found; nothing to do" : text) + ".\n");
  }
  if (usage) return kExitUsage;
  if (failed) return kExitFoundBefore;
  return f.check && changed ? 1 : 0;
}

}  // namespace tfl::cli
