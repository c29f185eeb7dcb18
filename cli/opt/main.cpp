// tfl-opt: graphs as text in, graphs as text out. For looking at passes and testing them one at a time.
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "codegen/formula/measure.h"
#include "ir/dot.h"
#include "ir/infer.h"
#include "ir/text.h"
#include "optimizer/pass.h"
#include "runtime/core/context.h"
#include "runtime/files/file.h"

namespace {

constexpr std::string_view kUsage =
    "usage: tfl-opt [OPTIONS] [FILE]\n"
    "Reads graphs as text (standard input without FILE), runs passes over each, prints the result.\n"
    "  --passes=A,B,...  the passes to run, in order; --list names them, --list-operations what follows of formulas\n"
    "  --level=N         the passes that a trace (1) or native code (2) gets, until nothing changes\n"
    "  --verify          check every invariant after each pass\n"
    "  --strict          keep what may fail although nothing needs its result\n"
    "  --print-after     print the graph after each pass, too\n"
    "  --timing          time and node counts of each pass, on standard error\n"
    "  --dot             print Graphviz text\n"
    "  --locations --names   print places in the source, names of nodes\n";

struct Arguments {
  std::string passes, file;
  int level = -1;
  bool verify = false, strict = false, print_after = false, timing = false, dot = false;
  tfl::ir::TextOptions text;
};

bool read_arguments(int argc, char** argv, Arguments& a) {
  for (int i = 1; i < argc; ++i) {
    std::string_view s = argv[i];
    if (s.starts_with("--passes="))
      a.passes = s.substr(9);
    else if (s.starts_with("--level=") && s.size() == 9)
      a.level = s[8] - '0';
    else if (s == "--verify")
      a.verify = true;
    else if (s == "--strict")
      a.strict = true;
    else if (s == "--print-after")
      a.print_after = true;
    else if (s == "--timing")
      a.timing = true;
    else if (s == "--dot")
      a.dot = true;
    else if (s == "--locations")
      a.text.locations = true;
    else if (s == "--names")
      a.text.names = true;
    else if (s.starts_with("--") || !a.file.empty())
      return false;
    else
      a.file = s;
  }
  return true;
}

// What follows of the formulas of elementwise operations: a line each, for docs/operations.md.
void list_operations() {
  using namespace tfl;
  constexpr const char* kAccuracies[] = {"exact", "rounded steps", "ulp"};
  for (int i = 0; i < op_count(); ++i) {
    const Op op = static_cast<Op>(i);
    const OpInfo& info = op_info(op);
    if (info.kind != OpKind::Elementwise) continue;
    std::printf("%.*s\t%d\t%s\n", static_cast<int>(info.name.size()), info.name.data(), static_cast<int>(formula::cost_of(op)),
                kAccuracies[static_cast<int>(formula::accuracy_of(op))]);
  }
}

int report(const tfl::Error& e) {
  std::fprintf(stderr, "%s\n", e.message.c_str());
  if (!e.hint.empty()) std::fprintf(stderr, "%s\n", e.hint.c_str());
  return e.kind == tfl::ErrorKind::InternalError ? 70 : 1;
}

std::string read_standard_input() {
  std::string text;
  char block[4096];
  for (size_t n; (n = std::fread(block, 1, sizeof block, stdin)) > 0;) text.append(block, n);
  return text;
}

void print_after(const tfl::optimizer::PassInfo& pass, const tfl::ir::Function& f, void*) {
  std::string text = tfl::ir::to_text(f);
  std::printf("// after %.*s\n%s\n", static_cast<int>(pass.name.size()), pass.name.data(), text.c_str());
}

int run(const Arguments& a) {
  using namespace tfl;
  Context context;
  std::string text;
  if (a.file.empty()) {
    text = read_standard_input();
  } else {
    if (int error = read_whole_file(a.file, size_t{1} << 30, text)) {
      std::fprintf(stderr, "%s: %s\n", a.file.c_str(), std::strerror(error));
      return 2;
    }
  }
  auto functions = ir::parse_text(context, text, a.file.empty() ? "<stdin>" : a.file);
  if (!functions) return report(functions.error());
  auto passes = optimizer::parse_pipeline(a.passes);
  if (!passes) return report(passes.error());
  std::vector<optimizer::PassReport> reports;
  optimizer::PipelineOptions options;
  options.verify = a.verify;
  if (a.timing) options.reports = &reports;
  if (a.print_after) options.after = print_after;
  // Called functions are printed with the first that calls them.
  for (const auto& f : *functions) {
    f->strict = a.strict;
    Result<void> done =
        a.level >= 0 ? optimizer::optimize(context, *f, a.level) : optimizer::run_pipeline(context, *f, *passes, options);
    if (!done) return report(done.error());
  }
  const ir::Function& first = *functions->front();
  std::string out = a.dot ? ir::to_dot(first) : ir::to_text(first, a.text);
  std::fwrite(out.data(), 1, out.size(), stdout);
  for (const optimizer::PassReport& r : reports) {
    std::fprintf(stderr, "%-14.*s %8.1f us  %5zu -> %5zu nodes%s\n", static_cast<int>(r.pass->name.size()), r.pass->name.data(),
                 r.seconds * 1e6, r.nodes_before, r.nodes_after, r.changed ? "" : "  (unchanged)");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments a;
  if (argc == 2 && std::string_view(argv[1]) == "--list") {
    for (const auto& p : tfl::optimizer::all_passes())
      std::printf("%-14.*s %.*s\n", static_cast<int>(p.name.size()), p.name.data(), static_cast<int>(p.summary.size()),
                  p.summary.data());
    return 0;
  }
  if (argc == 2 && std::string_view(argv[1]) == "--list-operations") {
    list_operations();
    return 0;
  }
  if (!read_arguments(argc, argv, a)) {
    std::fputs(kUsage.data(), stderr);
    return 2;
  }
  return run(a);
}
