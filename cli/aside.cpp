#include "cli/aside.h"

#include <unistd.h>

#include <cstdio>
#include <memory>

#include "frontend/core/attributes.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/object/containers/dict.h"
#include "frontend/syntax/diagnostics/render.h"

namespace tfl::cli {

OutputAside::OutputAside(Interp& interp) : interp_(interp), saved_(dup(1)) { dup2(2, 1); }
OutputAside::~OutputAside() {
  interp_.streams.flush();
  dup2(saved_, 1);
  close(saved_);
}

Ran run_aside(Session& session, const std::string& file, const std::string& name, const std::vector<std::string>& fixed) {
  Ran ran;
  if (!read_source(file, ran.text, fixed)) {
    ran.code = kExitUsage;
    return ran;
  }
  auto source = std::make_shared<const Source>(file == "-" ? "<stdin>" : file, ran.text);
  CompileResult compiled = compile_module(session.interp, source);
  if (!compiled.diagnostics.empty()) {
    std::string text = render_diagnostics(*source, compiled.diagnostics, session.interp.options.color);
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
  if (compiled.code.is_empty()) {
    ran.code = kExitFoundBefore;
    return ran;
  }
  OutputAside aside(session.interp);
  Value module = session.main_module(name, file == "-" ? std::string() : file);
  auto done = session.interp.run_module(compiled.code, module);
  if (!done) ran.code = session.report(done.error());
  ran.names = module.as<Module>()->dict;
  return ran;
}

Result<Value> ask_library(Interp& interp, std::string_view module, std::string_view function,
                          std::initializer_list<Value> arguments) {
  std::string name(module);
  TFL_TRY(interp.import_module(name));
  Value loaded = interp.find_module(name);
  Value f = TFL_TRY(get_attr(interp, loaded, interp.intern(std::string(function))));
  return interp.call(f, arguments);
}

}  // namespace tfl::cli
