// The pass manager, and random graphs after the passes (tfl_graphs runs many more).
#include "optimizer/pass.h"
#include "tests/tools/random_graph.h"

namespace tfl::test {

TEST_CASE("optimizer: pipelines are text") {
  auto passes = optimizer::parse_pipeline("cse,dce,fold");
  REQUIRE(passes.ok());
  CHECK(passes->size() == 3);
  CHECK((*passes)[2]->name == "fold");
  CHECK(optimizer::parse_pipeline("")->empty());
  CHECK(optimizer::parse_pipeline("cse,nothing").error().message == "no pass 'nothing'");
  CHECK(optimizer::parse_pipeline(optimizer::default_pipeline(2)).ok());
}

TEST_CASE("optimizer: reports say what changed") {
  Context c;
  auto f =
      parse_graph(c, "func @f(%x: f32) -> (f32) {\n%a = exp(%x) : f32\n%b = exp(%x) : f32\n%c = add(%a, %b) : f32\nreturn %c }");
  std::vector<optimizer::PassReport> reports;
  optimizer::PipelineOptions options;
  options.reports = &reports;
  options.verify = true;
  auto passes = optimizer::parse_pipeline("cse,dce,cse");
  REQUIRE(optimizer::run_pipeline(c, *f, *passes, options).ok());
  REQUIRE(reports.size() == 3);
  CHECK(reports[0].changed);
  CHECK(reports[0].nodes_before == 3);
  CHECK(reports[0].nodes_after == 2);
  CHECK_FALSE(reports[2].changed);
}

TEST_CASE("optimizer: strict functions keep what may fail") {
  Context c;
  const char* text = "func @f(%x: i32) -> (i32) {\n%a = floordiv(%x, %x) : i32\nreturn %x }";
  auto f = parse_graph(c, text);
  REQUIRE(optimizer::optimize(c, *f, 1).ok());
  CHECK(ir::node_count(*f) == 0);
  f = parse_graph(c, text);
  ir::prune(*f, true);
  REQUIRE(optimizer::optimize(c, *f, 2).ok());
  CHECK(ir::node_count(*f) == 1);
}

TEST_CASE("optimizer: random graphs mean the same afterwards") {
  Context c(options(1));
  for (uint64_t seed = 5000; seed < 5150; ++seed) {
    auto f = RandomGraph(c, seed).function();
    ir::prune(*f);
    std::string texts[3];
    for (int level = 0; level < 3; ++level) {
      auto g = ir::clone(*f);
      REQUIRE(optimizer::optimize(c, *g, level).ok());
      REQUIRE(ir::verify(c, *g).empty());
      std::vector<std::shared_ptr<TestVariable>> variables;
      Ran ran = run_graph(c, g, RandomGraph(c, seed).inputs(*g, variables));
      texts[level] = ran.printed + ran.text;
      for (const auto& v : variables) texts[level] += "; " + result_text(datum(v->value));
      if (ran.outputs.empty()) texts[level].clear();
    }
    INFO("seed " << seed);
    if (texts[0].empty()) continue;  // it fails when run: which of two failures comes first is not kept
    CHECK(texts[1] == texts[0]);
    CHECK(texts[2] == texts[0]);
  }
}

}  // namespace tfl::test
