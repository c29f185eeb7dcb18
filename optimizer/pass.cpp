#include "optimizer/pass.h"

#include <fmt/core.h>

#include <chrono>

#include "ir/infer.h"
#include "runtime/support/check.h"

namespace tfl::optimizer {

namespace {

constexpr PassInfo kPasses[] = {
#define TFL_PASS(name, summary) {#name, summary, run_##name},
#include "optimizer/passes.def"
#undef TFL_PASS
};

// A pipeline repeats while it changes something: what one pass uncovers is another's work.
constexpr int kRounds[] = {0, 2, 4};  // by level
constexpr size_t kMostNodesForRounds = 20000;

/// What a pass has broken, in builds that check: the first complaint of the verifier.
[[maybe_unused]] std::string broken_by(Context& context, const PassInfo& pass, const ir::Function& f) {
  const std::vector<std::string> broken = ir::verify(context, f);
  return broken.empty() ? std::string() : fmt::format("pass {} broke function {}: {}", pass.name, f.name, broken[0]);
}

}  // namespace

std::span<const PassInfo> all_passes() { return kPasses; }

const PassInfo* find_pass(std::string_view name) {
  for (const PassInfo& p : kPasses) {
    if (p.name == name) return &p;
  }
  return nullptr;
}

Result<std::vector<const PassInfo*>> parse_pipeline(std::string_view text) {
  std::vector<const PassInfo*> passes;
  while (!text.empty()) {
    size_t comma = text.find(',');
    std::string_view name = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const PassInfo* pass = find_pass(name);
    if (!pass) {
      std::string known;
      for (const PassInfo& p : kPasses) known += fmt::format("{}{}", known.empty() ? "" : ", ", p.name);
      return fail(ErrorKind::ValueError, "no pass '{}'", name).with_hint("passes: " + known);
    }
    passes.push_back(pass);
  }
  return passes;
}

Result<void> run_pipeline(Context& context, ir::Function& f, std::span<const PassInfo* const> passes,
                          const PipelineOptions& options) {
  for (const PassInfo* pass : passes) {
    PassCall call{context, f};
    size_t before = options.reports ? node_count(f) : 0;
    auto start = std::chrono::steady_clock::now();
    pass->run(call);
    if (options.reports) {
      double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      options.reports->push_back({pass, call.changed, seconds, before, node_count(f)});
    }
    if (options.after) options.after(*pass, f, options.after_data);
    if (!options.verify) continue;
    std::vector<std::string> broken = ir::verify(context, f);
    if (!broken.empty()) return fail(ErrorKind::InternalError, "pass {} broke function {}: {}", pass->name, f.name, broken[0]);
  }
  return {};
}

std::string_view default_pipeline(int level) {
  if (level <= 0) return "";
  if (level == 1) return "inline,canonicalise,shapes,fold,loop_truths,simplify,control,stacks,loop_vars,layouts,cse,dce";
  return "inline,canonicalise,shapes,fold,loop_truths,simplify,control,stacks,loop_vars,layouts,sink,licm,cse,dce";
}

Result<void> optimize(Context& context, ir::Function& f, int level) {
  std::vector<const PassInfo*> passes = TFL_TRY(parse_pipeline(default_pipeline(level)));
  for (int round = 0; round < kRounds[level < 0 ? 0 : level > 2 ? 2 : level]; ++round) {
    bool again = false;
    for (const PassInfo* pass : passes) {
      PassCall call{context, f};
      pass->run(call);
      TFL_DEBUG_CHECK(broken_by(context, *pass, f).empty(), broken_by(context, *pass, f).c_str());
      // What these change gives work to the others; the rest only tidies up.
      again |= call.changed &&
               (pass->run == run_inline || pass->run == run_control || pass->run == run_loop_vars || pass->run == run_licm);
    }
    if (!again || node_count(f) > kMostNodesForRounds) break;
  }
  return {};
}

}  // namespace tfl::optimizer
