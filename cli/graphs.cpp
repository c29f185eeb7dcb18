// tfl dump --ir, --optimized, --passes, --dot, --svg and tfl explain: what became of a script's traced functions. Which function and
// which trace is meant is decided in the library (tensorflow._function.inspection).
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "cli/aside.h"
#include "cli/commands.h"
#include "cli/session.h"
#include "codegen/jit/code_text.h"
#include "frontend/core/attributes.h"
#include "frontend/core/concrete.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/object/containers/dict.h"
#include "ir/dot.h"
#include "ir/text.h"
#include "optimizer/pass.h"

namespace tfl::cli {

namespace {

/// What is no file and looks like none: a name, or a message with its spaces.
bool names_diagnostic(const std::string& text) {
  if (text == "-" || access(text.c_str(), F_OK) == 0) return false;
  return text.find(' ') != text.npos || text.find_first_of("./") == text.npos;
}

}  // namespace

int dump_graph(const Arguments& a) {
  std::string file = a.files[0], path;
  if (size_t at = file.rfind("::"); at != std::string::npos) {
    path = file.substr(at + 2);
    file.resize(at);
  }
  if (path.empty()) {
    std::fputs("tfl: error: which function? write FILE::FUNCTION\n", stderr);
    return kExitUsage;
  }
  const GraphOptions& g = a.graph;
  auto passes = optimizer::parse_pipeline(g.passes);
  if (!passes) {
    print(stderr, "tfl: error: " + passes.error().message + "\n" + passes.error().hint + "\n");
    return kExitUsage;
  }
  Session session(a, file);
  Ran ran = run_aside(session, file, "__dump__", a.fixed);
  // What failed has been reported; a function that was defined before can be shown all the same.
  if (ran.names.is_empty()) return ran.code;
  Interp& interp = session.interp;
  Result<Value> found = [&] {
    OutputAside aside(interp);
    return ask_library(interp, "tensorflow._function.inspection", "graph_or_reason",
                       {ran.names, interp.str(path), interp.str(g.signature)});
  }();
  if (!found) return session.report(found.error());
  if (found->is_str()) {
    print(stderr, "tfl: error: " + std::string(text_of(*found)) + "\n");
    return kExitUsage;
  }
  const FunctionCall& call = static_cast<TracedGraph*>(found->object())->call;
  std::shared_ptr<ir::Function> f = ir::clone(*call.function);
  Result<void> done;
  bool code = g.plan || g.llvm || g.assembly || g.ptx;
  if (g.optimized || code || (!g.ir && g.passes.empty() && !g.dot && !g.svg)) {
    ir::prune(*f, a.strict);
    done = optimizer::optimize(session.context, *f, 1);
  } else if (!g.passes.empty()) {
    optimizer::PipelineOptions options;
    options.verify = true;
    done = optimizer::run_pipeline(session.context, *f, *passes, options);
  }
  if (!done) return session.report(done.error());
  if (code) {
    codegen::CodeText what = g.plan   ? codegen::CodeText::plan
                             : g.llvm ? codegen::CodeText::llvm
                             : g.ptx  ? codegen::CodeText::ptx
                                      : codegen::CodeText::assembly;
    Result<std::string> text = codegen::code_text(session.context, *f, what, *codegen::cpu_from_name(a.cpu));
    if (!text) return session.report(text.error());
    print(stdout, *text);
    return 0;
  }
  if (g.svg) {
    Result<Value> picture = ask_library(interp, "_dot_picture", "draw", {interp.str(ir::to_dot(*f))});
    if (!picture) return session.report(picture.error());
    print(stdout, std::string(text_of(*picture)));
    return 0;
  }
  ir::TextOptions text;
  text.names = true;
  text.most_elements = 64;
  print(stdout, g.dot ? ir::to_dot(*f) : ir::to_text(*f, text));
  return 0;
}

int explain_script(const Arguments& a) {
  if (names_diagnostic(a.files[0])) {
    Arguments words = a;
    words.tool = "_explain";
    words.script = a.files;
    return run_tool(words);
  }
  Session session(a, a.files[0]);
  std::string on_gpu;
  if (a.device == "gpu") session.context.gpu_report = &on_gpu;
  Ran ran = run_aside(session, a.files[0], "__main__", a.fixed);
  session.context.gpu_report = nullptr;
  if (ran.names.is_empty()) return ran.code;
  Interp& interp = session.interp;
  Result<Value> report = ask_library(interp, "tensorflow._function.inspection", "explain", {ran.names, interp.str(ran.text)});
  if (!report) return session.report(report.error());
  print(stdout, std::string(text_of(*report)));
  if (!on_gpu.empty()) print(stdout, "on a GPU\n" + on_gpu);
  return ran.code;
}

}  // namespace tfl::cli
