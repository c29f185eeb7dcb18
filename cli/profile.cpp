// tfl profile: a run, and where its time went.
#include <fmt/core.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "cli/commands.h"
#include "cli/session.h"
#include "frontend/diagnostics/render.h"
#include "frontend/profile/sampler.h"
#include "frontend/profile/summary.h"
#include "runtime/support/file.h"

namespace tfl::cli {

namespace {

bool written(const std::string& path, const std::string& text) {
  int error = write_whole_file(path, text);
  if (error) fmt::print(stderr, "tfl: can't write '{}': [Errno {}] {}\n", path, error, std::strerror(error));
  return error == 0;
}

std::vector<std::string> notes(Session& session) {
  codegen::JitCounts n = session.context.jit.counts();
  return {fmt::format("Machine code: {} compiled in {:.3f} s, {} loaded from the cache, {} failed", n.compiled,
                      n.seconds, n.loaded, n.failed),
          fmt::format("Tensors: {:.1f} MiB at most",
                      static_cast<double>(session.context.memory.peak_bytes()) / (1024.0 * 1024.0))};
}

}  // namespace

int profile_script(const Arguments& a) {
  const std::string& name = a.script[0];
  std::string text;
  if (!read_source(name, text)) return kExitUsage;
  std::string file = name == "-" ? std::string() : name, shown = name == "-" ? "<stdin>" : name;
  Session session(a, file);
  Interp& interp = session.interp;
  auto source = std::make_shared<const Source>(shown, std::move(text));
  CompileResult compiled = file.empty() ? compile_module(interp, source) : compile_cached(interp, source);
  if (!compiled.diagnostics.empty())
    interp.streams.err(render_diagnostics(*source, compiled.diagnostics, interp.options.color));
  if (compiled.code.is_empty()) return kExitFoundBefore;
  Value module = session.main_module("__main__", file);

  profile::Sampler sampler(interp);
  if (!sampler.start()) {
    std::fputs("tfl: the system gives no timer for profiles\n", stderr);
    return kExitUncaught;
  }
  auto done = interp.run_module(compiled.code, module);
  sampler.stop();
  int code = done ? 0 : session.report(done.error());
  interp.streams.flush();

  profile::Profile result = profile::summarise(sampler);
  result.notes = notes(session);
  std::string tables = profile::to_text(result, shown);
  std::fwrite(tables.data(), 1, tables.size(), stderr);
  bool all = a.profile.html.empty() || written(a.profile.html, profile::to_html(result, shown));
  all = (a.profile.trace.empty() || written(a.profile.trace, profile::to_trace(result))) && all;
  return all || code != 0 ? code : kExitUncaught;
}

}  // namespace tfl::cli
