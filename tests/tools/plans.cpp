// tfl_plans [COUNT [FIRST_SEED [print]]]: random graphs whose clusters are run by their plans, element by element; results must be those of
// the evaluator to the bit. A difference is shrunk and printed.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "codegen/plan/outline.h"
#include "optimizer/pass.h"
#include "tests/tools/plan_interpreter.h"
#include "tests/tools/random_graph.h"
#include "tests/tools/shrink_graph.h"

namespace tfl::test {

namespace {

struct Counts {
  size_t clusters = 0, unplanned = 0, runs = 0, declined = 0;
};

std::string run(Context& c, const FunctionPtr& f, uint64_t seed) {
  std::vector<std::shared_ptr<TestVariable>> variables;
  RandomGraph maker(c, seed);
  Ran ran = run_graph(c, f, maker.inputs(*f, variables), 100000);
  if (ran.outputs.empty() && !f->body.results.empty()) return ran.text;
  std::string text = ran.printed + ran.text;
  for (const auto& v : variables) text += "\nvariable " + result_text(datum(v->value));
  return text;
}

std::string difference(Context& c, const FunctionPtr& f, uint64_t seed, Counts& counts, bool print) {
  std::string expected = run(c, f, seed);
  FunctionPtr copy = clone(*f);
  std::vector<std::shared_ptr<PlannedFunction>> planned;
  std::string plans;
  plan::outline(c, *copy, [&](const std::shared_ptr<ir::Function>& cluster) {
    ++counts.clusters;
    std::optional<plan::Plan> p = plan::build_plan(c, *cluster);
    if (!p) {
      ++counts.unplanned;
      if (print) std::printf("no plan for\n%s\n", to_text(*cluster).c_str());
      return;
    }
    if (print) {
      std::printf("%s\n%s\n", to_text(*cluster).c_str(), plan_text(*p).c_str());
      std::fflush(stdout);
    }
    plans += plan_text(*p);
    planned.push_back(std::make_shared<PlannedFunction>(std::move(*p)));
    cluster->native = planned.back();
  });
  std::string actual = run(c, copy, seed);
  for (const auto& p : planned) {
    counts.runs += p->runs;
    counts.declined += p->declined;
  }
  if (actual == expected) return {};
  return "expected\n" + expected + "\nand got\n" + actual + "\n" + plans;
}

bool check(Context& c, uint64_t seed, Counts& counts, bool print) {
  FunctionPtr f = RandomGraph(c, seed).function();
  prune(*f);
  if (seed % 3 != 0) (void)optimizer::optimize(c, *f, 1);
  std::string wrong = difference(c, f, seed, counts, print);
  if (wrong.empty()) return true;
  Counts unused;
  FunctionPtr small = shrink_graph(c, f, [&](const FunctionPtr& g) { return !difference(c, g, seed, unused, false).empty(); });
  std::printf("seed %llu: %s\n%s\n", static_cast<unsigned long long>(seed), difference(c, small, seed, unused, false).c_str(), to_text(*small).c_str());
  return false;
}

}  // namespace

}  // namespace tfl::test

int main(int argc, char** argv) {
  size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  size_t wrong = 0;
  tfl::test::Counts counts;
  tfl::Context context(tfl::test::options(1));
  for (size_t i = 0; i < count && wrong < 5; ++i) wrong += !tfl::test::check(context, first + i, counts, argc > 3);
  std::printf("%zu clusters, %zu without a plan, %zu runs, %zu declined, %zu differences\n", counts.clusters, counts.unplanned, counts.runs, counts.declined, wrong);
  return wrong ? 1 : 0;
}
