// tfl_graphs [COUNT [FIRST_SEED [print]]]: random graphs, run as they are, after each pass alone, after random orders of passes and after the
// default pipelines, and with its clusters in functions of their own ("outline"). Results, output and variables must agree to the bit.
// A difference is shrunk and printed.
#include <cstdio>
#include <cstdlib>

#define CATCH_CONFIG_RUNNER
#include "tests/catch.h"

#include "codegen/plan/outline.h"
#include "ir/native.h"
#include "optimizer/pass.h"
#include "runtime/tensor/element.h"
#include "tests/tools/random_graph.h"
#include "tests/tools/shrink_graph.h"

namespace tfl::test {

namespace {

struct Outcome {
  bool failed = false;
  std::string text;  // what was printed, the results, the variables; or the error
};

Outcome run(Context& c, const FunctionPtr& f, uint64_t seed) {
  std::vector<std::shared_ptr<TestVariable>> variables;
  RandomGraph maker(c, seed);
  Ran ran = run_graph(c, f, maker.inputs(*f, variables), 100000);
  Outcome out;
  out.failed = ran.outputs.empty() && !f->body.results.empty();
  out.text = out.failed ? ran.text : ran.printed + ran.text;
  for (const auto& v : variables) {
    if (!out.failed) out.text += "\nvariable " + result_text(datum(v->value));
  }
  return out;
}

// Machine code that is never ready: the evaluator runs clusters as graphs.
struct NeverReady final : ir::Native {
  bool run(Context&, std::span<Tensor>, std::span<Tensor>) override { return false; }
};

constexpr std::string_view kOutline = "outline";

// Moves clusters out; what is wrong with the graphs, or nothing.
std::string outline(Context& c, ir::Function& f) {
  std::string wrong;
  plan::outline(c, f, [&](const FunctionPtr& cluster) {
    cluster->native = std::make_shared<NeverReady>();
    std::vector<std::string> broken = verify(c, *cluster);
    walk(cluster->body, [&](const ir::Node& n) {
      bool of_variable = !n.operands.empty() && n.operands[0].type().kind == ir::TypeKind::Resource;
      if (n.op == Op::call || (op_info(n.op).kind == OpKind::Effect && n.op != Op::check && !of_variable))
        broken.push_back(std::string(op_info(n.op).name) + " in a cluster");
    });
    if (!broken.empty() && wrong.empty()) wrong = "cluster " + cluster->name + ": " + broken[0];
  });
  std::vector<std::string> broken = verify(c, f);
  return wrong.empty() && !broken.empty() ? "outlined: " + broken[0] : wrong;
}

// Runs passes over a copy; what is wrong with the outcome, or nothing.
std::string difference(Context& c, const FunctionPtr& f, const Outcome& expected, std::string_view passes, uint64_t seed) {
  FunctionPtr copy = clone(*f);
  bool clusters = passes.ends_with(kOutline);
  if (clusters) passes.remove_suffix(kOutline.size());
  if (passes.ends_with(",")) passes.remove_suffix(1);
  auto pipeline = optimizer::parse_pipeline(passes);
  optimizer::PipelineOptions options;
  options.verify = true;
  Result<void> done = optimizer::run_pipeline(c, *copy, *pipeline, options);
  if (!done) return done.error().message;
  if (clusters) {
    if (std::string wrong = outline(c, *copy); !wrong.empty()) return wrong;
  }
  if (expected.failed) return {};
  Outcome actual = run(c, copy, seed);
  if (actual.text == expected.text) return {};
  return "expected\n" + expected.text + "\nand got\n" + actual.text + "\n";
}

FunctionPtr shrink(Context& c, const FunctionPtr& f, std::string_view passes, uint64_t seed) {
  return shrink_graph(c, f, [&](const FunctionPtr& g) {
    Outcome expected = run(c, g, seed);
    return !difference(c, g, expected, passes, seed).empty();
  });
}

std::string random_passes(uint64_t seed) {
  std::mt19937_64 random(seed * 77 + 5);
  std::string text;
  for (int i = 0; i < 7; ++i) {
    auto all = optimizer::all_passes();
    text += (i ? "," : "") + std::string(all[random() % all.size()].name);
  }
  return text;
}

bool check(Context& c, uint64_t seed, size_t& failed_runs) {
  FunctionPtr f = RandomGraph(c, seed).function();
  std::vector<std::string> broken = verify(c, *f);
  if (!broken.empty()) {
    std::printf("seed %llu: the graph itself: %s\n%s", static_cast<unsigned long long>(seed), broken[0].c_str(),
                to_text(*f).c_str());
    return false;
  }
  auto again = ir::parse_text(c, to_text(*f), "round trip");
  if (!again || to_text(*(*again)[0]) != to_text(*f)) {
    std::printf("seed %llu: does not survive its text: %s\n%s", static_cast<unsigned long long>(seed),
                again ? "" : again.error().message.c_str(), to_text(*f).c_str());
    return false;
  }
  Outcome expected = run(c, f, seed);
  if (expected.failed) {
    // What fails may be dead: then the graph without it is the measure.
    f = clone(*f);
    prune(*f);
    expected = run(c, f, seed);
  }
  failed_runs += expected.failed;
  std::vector<std::string> pipelines;
  for (const auto& p : optimizer::all_passes()) pipelines.emplace_back(p.name);
  pipelines.push_back(random_passes(seed));
  pipelines.push_back(random_passes(seed + 1000000007));
  for (int level : {1, 2}) {
    std::string text(optimizer::default_pipeline(level));
    pipelines.push_back(text + "," + text);
  }
  pipelines.emplace_back(kOutline);
  pipelines.push_back(std::string(optimizer::default_pipeline(1)) + "," + std::string(kOutline));
  for (const std::string& passes : pipelines) {
    std::string wrong = difference(c, f, expected, passes, seed);
    if (wrong.empty()) continue;
    FunctionPtr small = shrink(c, f, passes, seed);
    FunctionPtr after = clone(*small);
    bool clusters = std::string_view(passes).ends_with(kOutline);
    (void)optimizer::run_pipeline(
        c, *after,
        *optimizer::parse_pipeline(std::string_view(passes).substr(0, clusters ? passes.rfind(kOutline) : passes.size())));
    if (clusters) (void)outline(c, *after);
    wrong = difference(c, small, run(c, small, seed), passes, seed);
    std::printf("seed %llu, passes %s: %s\n%s// after\n%s\n", static_cast<unsigned long long>(seed), passes.c_str(),
                wrong.c_str(), to_text(*small).c_str(), to_text(*after).c_str());
    return false;
  }
  return true;
}

}  // namespace

}  // namespace tfl::test

int main(int argc, char** argv) {
  size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10000;
  uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  size_t wrong = 0, failed = 0;
  tfl::Context context(tfl::test::options(1));
  for (size_t i = 0; i < count && argc > 3; ++i)
    std::printf("%s\n", to_text(*tfl::test::RandomGraph(context, first + i).function()).c_str());
  for (size_t i = 0; i < count && argc <= 3 && wrong < 5; ++i) wrong += !tfl::test::check(context, first + i, failed);
  std::printf("%zu graphs, %zu of them fail when run, %zu differences\n", count, failed, wrong);
  return wrong ? 1 : 0;
}
