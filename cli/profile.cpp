// tfl profile: a run, and where its time went.
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cli/commands.h"
#include "cli/session.h"
#include "frontend/diagnostics/render.h"
#include "frontend/profile/sampler.h"
#include "frontend/profile/summary.h"

namespace tfl::cli {

namespace {

/// The whole file or none.
bool write_whole(const std::string& path, const std::string& text) {
  std::string part = fmt::format("{}.{}", path, getpid());
  std::FILE* f = std::fopen(part.c_str(), "wb");
  bool ok = f && std::fwrite(text.data(), 1, text.size(), f) == text.size();
  int error = errno;
  if (f && std::fclose(f) != 0 && ok) {
    ok = false;
    error = errno;
  }
  if (ok && std::rename(part.c_str(), path.c_str()) != 0) {
    ok = false;
    error = errno;
  }
  if (ok) return true;
  if (f) unlink(part.c_str());
  fmt::print(stderr, "tfl: can't write '{}': [Errno {}] {}\n", path, error, std::strerror(error));
  return false;
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
  bool written = a.profile.html.empty() || write_whole(a.profile.html, profile::to_html(result, shown));
  written = (a.profile.trace.empty() || write_whole(a.profile.trace, profile::to_trace(result))) && written;
  return written || code != 0 ? code : kExitUncaught;
}

}  // namespace tfl::cli
