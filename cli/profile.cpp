// tfl profile: a run, and where its time went.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>

#include "cli/commands.h"
#include "cli/session.h"
#include "frontend/interpreter/profile/sampler.h"
#include "frontend/interpreter/profile/summary.h"
#include "frontend/syntax/diagnostics/render.h"
#include "runtime/files/file.h"

namespace tfl::cli {

namespace {

bool written(const std::string& path, const std::string& text) {
  int error = write_whole_file(path, text);
  if (error) fmt::print(stderr, "tfl: can't write '{}': [Errno {}] {}\n", path, error, std::strerror(error));
  return error == 0;
}

std::string mebibytes(size_t bytes) { return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024.0 * 1024.0)); }

/// The best of a few runs, in thousands of millions a second.
double best_rate(Context& context, Op op, const Tensor& x, double count) {
  double best = 0;
  for (int i = 0; i < 4; ++i) {
    auto begin = std::chrono::steady_clock::now();
    if (!apply1(context, op, {x, x})) return 0;
    std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    best = std::max(best, count / took.count());
  }
  return best;
}

/// What this machine can do: a product of matrices, and a sum of what no cache holds.
std::string limits(Context& context) {
  constexpr int64_t kSide = 768, kLong = 1 << 23;
  auto zeros = [&](std::initializer_list<int64_t> dims) -> Result<Tensor> {
    Tensor t = TFL_TRY(Tensor::empty(context, DType::F32, Dims(dims)));
    std::memset(t.raw(), 0, t.bytes());
    return t;
  };
  Result<Tensor> square = zeros({kSide, kSide}), row = zeros({kLong});
  if (!square || !row) return {};
  double operations = best_rate(context, Op::matmul, *square, 2.0 * kSide * kSide * kSide);
  double bytes = best_rate(context, Op::add, *row, 2.0 * kLong * sizeof(float));
  return fmt::format("This machine, measured now: {:.1f} Gop/s in a product of matrices of f32, {:.1f} GB/s of memory in a sum",
                     operations, bytes);
}

std::vector<std::string> notes(Session& session) {
  codegen::JitCounts n = session.context.jit.counts();
  const size_t peak = session.context.memory.peak_bytes();
  std::vector<std::string> out = {fmt::format("Machine code: {} compiled in {:.3f} s, {} loaded from the cache, {} failed",
                                              n.compiled, n.seconds, n.loaded, n.failed)};
  // The parts of a function one after the other.
  std::map<std::string, std::pair<uint64_t, size_t>> functions;
  for (const auto& f : session.context.jit.profile().functions) {
    auto& [runs, bytes] = functions[f->name];
    runs = std::max(runs, f->runs);
    bytes = std::max(bytes, f->most_bytes);
  }
  for (const auto& [name, f] : functions) {
    if (f.first > 0)
      out.push_back(fmt::format("  {}: {} runs, {} for temporaries and results at most", name, f.first, mebibytes(f.second)));
  }
  if (out.size() > 1) out.push_back(limits(session.context));
  out.push_back(fmt::format("Tensors: {} at most", mebibytes(peak)));
  return out;
}

}  // namespace

int profile_script(const Arguments& a) {
  const std::string& name = a.script[0];
  std::string text;
  if (!read_source(name, text, a.fixed)) return kExitUsage;
  std::string file = name == "-" ? std::string() : name, shown = name == "-" ? "<stdin>" : name;
  Session session(a, file);
  Interp& interp = session.interp;
  auto source = std::make_shared<const Source>(shown, std::move(text));
  CompileResult compiled = file.empty() ? compile_module(interp, source) : compile_cached(interp, source);
  if (!compiled.diagnostics.empty()) interp.streams.err(render_diagnostics(*source, compiled.diagnostics, interp.options.color));
  if (compiled.code.is_empty()) return kExitFoundBefore;
  Value module = session.main_module("__main__", file);

  profile::Sampler sampler(interp, session.context.jit.profile().running);
  if (!sampler.start()) {
    std::fputs("tfl: the system gives no timer for profiles\n", stderr);
    return kExitUncaught;
  }
  auto done = interp.run_module(compiled.code, module);
  sampler.stop();
  int code = session.finish(done ? 0 : session.report(done.error()));

  profile::Profile result = profile::summarise(sampler);
  result.notes = notes(session);
  std::string tables = profile::to_text(result, shown);
  std::fwrite(tables.data(), 1, tables.size(), stderr);
  bool all = a.profile.html.empty() || written(a.profile.html, profile::to_html(result, shown));
  all = (a.profile.trace.empty() || written(a.profile.trace, profile::to_trace(result))) && all;
  return all || code != 0 ? code : kExitUncaught;
}

}  // namespace tfl::cli
