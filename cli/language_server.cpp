// tfl lsp: the server that editors talk to, which is TFL source (stdlib/tools/_language_server.tfl).
#include "cli/commands.h"
#include "cli/session.h"
#include "cli/tool_commands.h"
#include "frontend/core/protocol.h"

namespace tfl::cli {

int run_language_server(const Arguments& a) {
  Session session(a, "");
  Interp& interp = session.interp;
  auto module = interp.import_module("_language_server");
  if (!module) return session.report(module.error());
  auto code = interp.call_method(*module, interp.intern("main"), {processes_module(interp)});
  if (!code) return session.finish(session.report(code.error()));
  return session.finish(code->is_int() ? static_cast<int>(code->as_int()) : 70);
}

}  // namespace tfl::cli
