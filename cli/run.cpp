// tfl run, check, dump: from a source text to what was asked for.
#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/files_below.h"
#include "cli/session.h"
#include "cli/tool_commands.h"
#include "cli/workers.h"
#include "frontend/core/protocol.h"
#include "frontend/interpreter/bytecode/bytecode.h"
#include "frontend/interpreter/vm/script_modules.h"
#include "frontend/staging/autograph/rewrite.h"
#include "frontend/syntax/ast/dump.h"
#include "frontend/syntax/diagnostics/render.h"
#include "frontend/syntax/parse/parse.h"
#include "runtime/files/file.h"

namespace tfl::cli {

namespace {

int no_module(const std::string& text) {
  std::fprintf(stderr, "tfl: %s\n", text.c_str());
  return 1;
}

/// tfl run -m NAME: the packages around the module run first, and it knows its own, so that its relative imports hold.
int run_module(const Arguments& a) {
  Arguments with_path = a;
  std::string name = a.module, package;
  // The session comes before the search, which needs its folders; sys.argv[0] is known after it.
  Session session(with_path, "");
  Interp& interp = session.interp;
  auto parent_of = [](const std::string& module) {
    size_t dot = module.rfind('.');
    return dot == module.npos ? std::string() : module.substr(0, dot);
  };
  auto import_parent = [&](const std::string& module) -> int {
    auto done = interp.import_module(module, false);
    return done ? -1 : session.leave(session.run_exit_functions(session.report(done.error())));
  };
  auto absent = [](const ScriptModule& m) { return m.is == ScriptModule::Is::Absent; };
  package = parent_of(name);
  if (name.empty() || name.front() == '.') return no_module("Relative module names not supported");
  if (!package.empty()) {
    if (absent(find_script_module(interp, package)))
      return no_module("Error while finding module specification for '" + name + "' (ModuleNotFoundError: No module named '" +
                       package + "')");
    if (int code = import_parent(package); code >= 0) return code;
  }
  ScriptModule found = find_script_module(interp, name);
  if (found.package()) {
    if (int code = import_parent(name); code >= 0) return code;
    package = name;
    name += ".__main__";
    found = find_script_module(interp, name);
    if (absent(found))
      return no_module("No module named " + name + "; '" + package + "' is a package and cannot be directly executed");
  }
  if (absent(found)) return no_module("No module named " + name);
  if (found.is != ScriptModule::Is::File) return no_module("can't read '" + found.path + "'");
  interp.options.argv[0] = found.path;
  auto source = std::make_shared<const Source>(found.path, std::move(found.text));
  CompileResult compiled = compile_cached(interp, source);
  if (!compiled.diagnostics.empty()) interp.streams.err(render_diagnostics(*source, compiled.diagnostics, interp.options.color));
  if (compiled.code.is_empty()) return kExitFoundBefore;
  Value module = session.main_module("__main__", found.path);
  dict_set_str(module.as<Module>()->dict.as<Dict>(), interp.intern("__package__"), interp.str(package));
  auto done = interp.run_module(compiled.code, module);
  return session.leave(session.run_exit_functions(done ? 0 : session.report(done.error())));
}

}  // namespace

int run_script(const Arguments& a) {
  if (int code = arrange_workers(a); code >= 0) return code;
  if (!a.module.empty()) return run_module(a);
  const std::string& name = a.script[0];
  if (!a.from_code && (is_folder(name) || is_onnx(name) || is_model_file(name))) return run_model(a);
  std::string text, shown = name;
  if (a.from_code) {
    text = a.code;
    shown = "<string>";
  } else {
    if (!read_source(name, text)) return kExitUsage;
    if (name == "-") shown = "<stdin>";
  }
  std::string file = a.from_code || name == "-" ? std::string() : name;
  Session session(a, file);
  Interp& interp = session.interp;
  auto source = std::make_shared<const Source>(shown, std::move(text));
  CompileResult compiled = file.empty() ? compile_module(interp, source) : compile_cached(interp, source);
  if (!compiled.diagnostics.empty()) interp.streams.err(render_diagnostics(*source, compiled.diagnostics, interp.options.color));
  if (compiled.code.is_empty()) return kExitFoundBefore;
  Value module = session.main_module("__main__", file);
  auto done = interp.run_module(compiled.code, module);
  return session.leave(session.run_exit_functions(done ? 0 : session.report(done.error())));
}

int check_files(const Arguments& a) {
  Session session(a, a.files[0]);
  int worst = 0;
  size_t errors = 0;
  for (const std::string& name : scripts_of(a.files)) {
    std::string text;
    if (!read_source(name, text)) {
      worst = kExitUsage;
      continue;
    }
    auto source = std::make_shared<const Source>(name == "-" ? "<stdin>" : name, std::move(text));
    CompileOptions options;
    options.check = true;
    CompileResult compiled = compile_module(session.interp, source, options);
    if (!compiled.diagnostics.empty())
      print(stderr, render_diagnostics(*source, compiled.diagnostics, session.interp.options.color));
    for (const Diagnostic& d : compiled.diagnostics) errors += d.severity == Severity::Error;
  }
  if (a.shapes && !worst && !errors) {
    std::vector<std::string> words{"shapes", "--errors"};
    for (const std::string& name : scripts_of(a.files)) words.push_back(name);
    return run_self(words);
  }
  return worst ? worst : errors ? kExitFoundBefore : 0;
}

/// tfl dump --autograph FILE::FUNCTION
int dump_converted(const Arguments& a) {
  std::string_view file = a.files[0], function;
  if (size_t at = file.rfind("::"); at != file.npos) function = file.substr(at + 2), file = file.substr(0, at);
  std::string text;
  if (!read_source(std::string(file), text)) return kExitUsage;
  Source source(file == "-" ? "<stdin>" : std::string(file), std::move(text));
  ParseResult parsed = parse_module(source);
  if (!parsed.diagnostics.empty()) print(stderr, render_diagnostics(source, parsed.diagnostics, use_color(a)));
  if (!parsed.ok()) return kExitFoundBefore;
  std::string converted = autograph::converted_text(source, function);
  if (converted.empty() && !function.empty()) {
    print(stderr, "tfl: there is no function '" + std::string(function) + "' in " + std::string(file) + "\n");
    return kExitUsage;
  }
  if (!converted.empty() && converted.back() != '\n') converted.push_back('\n');
  print(stdout, converted);
  return 0;
}

int dump_file(const Arguments& a) {
  if (a.dump == DumpKind::Autograph) return dump_converted(a);
  if (a.dump == DumpKind::Graph) return dump_graph(a);
  std::string text;
  if (!read_source(a.files[0], text)) return kExitUsage;
  auto source = std::make_shared<const Source>(a.files[0] == "-" ? "<stdin>" : a.files[0], std::move(text));
  if (a.dump == DumpKind::Tokens) {
    print(stdout, dump_tokens(*source));
    return 0;
  }
  if (a.dump == DumpKind::Ast) {
    ParseResult parsed = parse_module(*source);
    if (!parsed.diagnostics.empty()) print(stderr, render_diagnostics(*source, parsed.diagnostics, use_color(a)));
    if (!parsed.ok()) return kExitFoundBefore;
    print(stdout, ast::dump_ast(parsed.module));
    return 0;
  }
  Session session(a, a.files[0]);
  CompileResult compiled = compile_module(session.interp, source);
  if (!compiled.diagnostics.empty()) print(stderr, render_diagnostics(*source, compiled.diagnostics, use_color(a)));
  if (compiled.code.is_empty()) return kExitFoundBefore;
  print(stdout, dump_code(session.interp, compiled.code));
  return 0;
}

}  // namespace tfl::cli
