// tfl_plans [COUNT [FIRST_SEED [print]]]: random graphs whose clusters are run by their plans, element by element; results must be those of
// the evaluator to the bit. A difference is shrunk and printed.
// tfl_plans COUNT FIRST_SEED compile: the same with machine code, for the processors in turn.
// tfl_plans FILE [compile]: the graphs of a text, on random inputs; prints their plans, or runs machine code.
#define CATCH_CONFIG_RUNNER
#include "tests/catch.h"

#include "codegen/jit/jit.h"
#include "codegen/plan/outline.h"
#include "ir/native.h"
#include "optimizer/pass.h"
#include "runtime/files/file.h"
#include "tests/tools/plan_interpreter.h"
#include "tests/tools/random_graph.h"
#include "tests/tools/shrink_graph.h"

namespace tfl::test {

namespace {

// A cluster that its plan runs.
struct PlannedFunction : ir::Native {
  explicit PlannedFunction(plan::Plan p) : plan(std::move(p)) {}
  bool run(Context& context, std::span<Tensor> inputs, std::span<Tensor> results) override {
    bool done = PlanRun(context, plan, inputs).run(results);
    ++(done ? runs : declined);
    return done;
  }
  plan::Plan plan;
  size_t runs = 0, declined = 0;
};

struct Counts {
  size_t clusters = 0, unplanned = 0, runs = 0, declined = 0;
};
enum class How : uint8_t { plans, print, compile };

// The sign and the payload of a NaN are nobody's business.
ir::Datum with_plain_nans(Context& c, ir::Datum d) {
  if (!d.tensor || !is_floating(d.tensor.dtype())) return d;
  DType dtype = d.tensor.dtype();
  Tensor dense = *contiguous(c, d.tensor);
  Tensor copy = *Tensor::empty(c, dtype, dense.dims());
  size_t bytes = dtype_size(dtype);
  for (size_t i = 0; i < static_cast<size_t>(dense.size()); ++i) {
    double v = load_double(dtype, dense.raw() + i * bytes);
    if (v != v)
      store_double(dtype, __builtin_nan(""), copy.raw() + i * bytes);
    else
      std::memcpy(copy.raw() + i * bytes, dense.raw() + i * bytes, bytes);
  }
  d.tensor = std::move(copy);
  return d;
}

std::string run(Context& c, const FunctionPtr& f, uint64_t seed) {
  std::vector<std::shared_ptr<TestVariable>> variables;
  RandomGraph maker(c, seed);
  Ran ran = run_graph(c, f, maker.inputs(*f, variables), 100000);
  if (ran.outputs.empty() && !f->body.results.empty()) return ran.text;
  std::string text = ran.printed;
  for (const ir::Datum& d : ran.outputs) text += result_text(with_plain_nans(c, d)) + "; ";
  for (const auto& v : variables) text += "\nvariable " + result_text(with_plain_nans(c, datum(v->value)));
  return text;
}

// With machine code.
std::string compiled(Context& c, const FunctionPtr& f, uint64_t seed, const std::string& expected, Counts& counts) {
  codegen::JitOptions options;
  options.wait = true;
  options.cpu = seed % 2 ? codegen::Cpu::x86_64_v3 : codegen::this_cpu();
  codegen::Jit jit(options);
  FunctionPtr copy = clone(*f);
  Result<void> done = jit.prepare(c, *copy);
  std::string actual = done ? run(c, copy, seed) : done.error().message;
  codegen::JitCounts made = jit.counts();
  counts.clusters += made.compiled + made.unplanned + made.failed;
  counts.unplanned += made.unplanned;
  counts.runs += made.compiled;
  if (actual == expected && made.failed == 0) return {};
  return (made.failed ? "the compiler refused a plan; " : "") + ("expected\n" + expected) + "\nand got\n" + actual + "\n";
}

std::string difference(Context& c, const FunctionPtr& given, uint64_t seed, Counts& counts, How how) {
  bool print = how == How::print;
  // What nothing needs may fail in one way of running and not in another.
  FunctionPtr f = clone(*given);
  prune(*f);
  std::string expected = run(c, f, seed);
  if (how == How::compile) return compiled(c, f, seed, expected, counts);
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
    bool possible = true;
    (void)without_variables(c, *cluster, planned.back()->variables, possible);
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

bool check(Context& c, uint64_t seed, Counts& counts, How how) {
  FunctionPtr f = RandomGraph(c, seed).function();
  // What only gives a size need not be computed, and then does not fail; the optimiser sees to that.
  if (seed % 3 != 0 || run(c, f, seed).find("Error") != std::string::npos) (void)optimizer::optimize(c, *f, 1);
  std::string wrong = difference(c, f, seed, counts, how);
  if (wrong.empty()) return true;
  Counts unused;
  FunctionPtr small = shrink_graph(c, f, [&](const FunctionPtr& g) {
    return !difference(c, g, seed, unused, how == How::compile ? how : How::plans).empty();
  });
  std::printf("seed %llu: %s\n%s\n", static_cast<unsigned long long>(seed),
              difference(c, small, seed, unused, how == How::compile ? how : How::plans).c_str(), to_text(*small).c_str());
  return false;
}

int check_file(Context& c, const char* path, How how) {
  std::string text;
  if (read_whole_file(path, size_t{1} << 26, text) != 0) {
    std::printf("cannot read %s\n", path);
    return 1;
  }
  Counts counts;
  size_t wrong = 0;
  uint64_t seed = 0;
  for (const FunctionPtr& f : parse_graphs(c, text)) {
    std::string what = difference(c, f, ++seed, counts, how);
    if (!what.empty()) std::printf("%s\n", what.c_str());
    wrong += !what.empty();
  }
  std::printf("%zu clusters, %zu without a plan, %zu runs, %zu declined, %zu differences\n", counts.clusters, counts.unplanned,
              counts.runs, counts.declined, wrong);
  return wrong ? 1 : 0;
}

}  // namespace

}  // namespace tfl::test

int main(int argc, char** argv) {
  if (argc > 1 && std::strtoull(argv[1], nullptr, 10) == 0) {
    tfl::Context context(tfl::test::options(1));
    return tfl::test::check_file(context, argv[1], argc > 2 ? tfl::test::How::compile : tfl::test::How::print);
  }
  size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  tfl::test::How how = argc <= 3                                ? tfl::test::How::plans
                       : argv[3] == std::string_view("compile") ? tfl::test::How::compile
                                                                : tfl::test::How::print;
  size_t wrong = 0;
  tfl::test::Counts counts;
  tfl::Context context(tfl::test::options(1));
  for (size_t i = 0; i < count && wrong < 5; ++i) wrong += !tfl::test::check(context, first + i, counts, how);
  std::printf("%zu clusters, %zu without a plan, %zu runs, %zu declined, %zu differences\n", counts.clusters, counts.unplanned,
              counts.runs, counts.declined, wrong);
  return wrong ? 1 : 0;
}
