// Functions of graphs get machine code: at once, on another thread, from the disk; and run with the evaluator's bits all the
// while.
#include "codegen/jit/jit.h"
#include "runtime/files/cache_files.h"
#include "runtime/support/tools.h"

#include <malloc.h>
#include <unistd.h>

#include <fmt/core.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "tests/unit/graphs.h"

namespace tfl::test {

namespace {

using codegen::Jit;
using codegen::JitOptions;

std::string scaled(double by, std::string_view name = "f") {
  return fmt::format(R"(func @{}(%x: f32[?], %y: f32[?]) -> (f32[?]) {{
    %k = constant {} : f32
    %a = multiply(%x, %k) : f32[?]
    %b = add(%a, %y) : f32[?]
    %c = exp(%b) : f32[?]
    return %c
  }})",
                     name, by);
}

constexpr const char* kLoop = R"(func @g(%n: i32, %x: f32) -> (f32) {
    %zero = constant 0 : i32
    %i, %v = while_loop(%zero, %x, %n) {num = 2} : i32, f32 while (%i: i32, %v: f32, %m: i32) {
      %p = less(%i, %m) : bool
      yield %p
    } do (%i: i32, %v: f32, %m: i32) {
      %one = constant 1 : i32
      %j = add(%i, %one) : i32
      %half = constant 0.5 : f32
      %w = multiply(%v, %half) : f32
      %u = add(%w, %half) : f32
      yield %j, %u
    }
    return %v
  })";

struct Prepared {
  Prepared(Context& c, Jit& jit, const std::string& text) : context(c), function(parse_graph(c, text)) {
    REQUIRE(jit.prepare(c, *function).ok());
    program = ir::Program::build(function).take();
  }
  Tensor run(std::vector<Tensor> inputs) {
    std::vector<ir::Datum> data, results;
    for (Tensor& t : inputs) data.push_back(datum(std::move(t)));
    RecordingHost host(context);
    auto done = program->run(context, host, data, results, nullptr);
    REQUIRE(done.ok());
    return results.at(0).tensor;
  }
  Context& context;
  std::shared_ptr<ir::Function> function;
  std::shared_ptr<const ir::Program> program;
};

std::vector<Tensor> two(Context& c, int64_t n) {
  Tensor x = Tensor::empty(c, DType::F32, Dims{n}).take(), y = Tensor::empty(c, DType::F32, Dims{n}).take();
  for (int64_t i = 0; i < n; ++i)
    x.data<float>()[i] = static_cast<float>(i % 13) * 0.17f, y.data<float>()[i] = static_cast<float>(i % 7) - 3;
  return {x, y};
}
bool same(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.bytes() == b.bytes() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

JitOptions waiting(const std::string& folder = {}) {
  JitOptions o;
  o.wait = true;
  o.cache_folder = folder;
  return o;
}
Tensor expected(Context& c, const std::string& text, std::vector<Tensor> inputs) {
  JitOptions off;
  off.enabled = false;
  Jit none(off);
  return Prepared(c, none, text).run(std::move(inputs));
}

size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  size_t n = 0;
  while (std::getline(maps, line)) n += line.find("r-xp") != line.npos && line.find('/') == line.npos;
  return n;
}

}  // namespace

TEST_CASE("machine code before the first run, and from the disk", "[jit]") {
  Context c;
  ScratchFolder folder;
  for (int round = 0; round < 3; ++round) {
    Jit jit(waiting(folder.path()));
    Prepared f(c, jit, scaled(1.5));
    for (int64_t n : {0, 1, 17, 1000}) CHECK(same(f.run(two(c, n)), expected(c, scaled(1.5), two(c, n))));
    codegen::JitCounts counts = jit.counts();
    CHECK(counts.compiled == (round == 1 ? 0 : 1));
    CHECK(counts.loaded == (round == 1 ? 1 : 0));
    CHECK(counts.failed + counts.unplanned == 0);
    if (round == 1) trim_cache(folder.path(), 0, 0);
  }
}

TEST_CASE("a damaged object is compiled again", "[jit]") {
  Context c;
  ScratchFolder folder;
  {
    Jit jit(waiting(folder.path()));
    Prepared(c, jit, scaled(2)).run(two(c, 3));
  }
  // Half of every file is lost.
  std::string command = "for f in " + folder.path() + "/*; do truncate -s 1000 $f; done";
  REQUIRE(std::system(command.c_str()) == 0);
  Jit jit(waiting(folder.path()));
  Prepared f(c, jit, scaled(2));
  CHECK(same(f.run(two(c, 5)), expected(c, scaled(2), two(c, 5))));
  CHECK(jit.counts().compiled == 1);
  CHECK(jit.counts().loaded == 0);
}

TEST_CASE("what is run again is compiled while the evaluator answers", "[jit]") {
  Context c;
  JitOptions options;
  Jit jit(options);
  Prepared f(c, jit, scaled(3));
  Tensor wanted = expected(c, scaled(3), two(c, 100));
  CHECK(same(f.run(two(c, 100)), wanted));
  CHECK(jit.counts().compiled == 0);
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (jit.counts().compiled == 0 && std::chrono::steady_clock::now() < end) {
    CHECK(same(f.run(two(c, 100)), wanted));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(jit.counts().compiled == 1);
  CHECK(same(f.run(two(c, 100)), wanted));
}

TEST_CASE("a loop is compiled before it runs", "[jit]") {
  Context c;
  JitOptions options;
  options.loop_patience = 60;
  Jit jit(options);
  Prepared f(c, jit, kLoop);
  auto inputs = [&](int32_t n) {
    return std::vector<Tensor>{scalar<int32_t>(c, DType::I32, n).take(), scalar<float>(c, DType::F32, 7).take()};
  };
  CHECK(same(f.run(inputs(10)), expected(c, kLoop, inputs(10))));
  CHECK(jit.counts().compiled == 1);
  CHECK(same(f.run(inputs(0)), expected(c, kLoop, inputs(0))));
  CHECK(same(f.run(inputs(1000)), expected(c, kLoop, inputs(1000))));
}

TEST_CASE("a function that is to be compiled waits for its code", "[jit]") {
  Context c;
  Jit jit(JitOptions{});
  Prepared f(c, jit, scaled(6));
  ir::walk(f.function->body, [](ir::Node& n) {
    if (n.callee && n.callee->native) n.callee->native->wanted = true;
  });
  CHECK(same(f.run(two(c, 100)), expected(c, scaled(6), two(c, 100))));
  CHECK(jit.counts().compiled == 1);
}

TEST_CASE("the evaluator runs a loop whose code takes too long", "[jit]") {
  Context c;
  JitOptions options;
  options.loop_patience = 0;
  Jit jit(options);
  Prepared f(c, jit, kLoop);
  auto inputs = [&] {
    return std::vector<Tensor>{scalar<int32_t>(c, DType::I32, 9).take(), scalar<float>(c, DType::F32, 7).take()};
  };
  Tensor wanted = expected(c, kLoop, inputs());
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  do {
    CHECK(same(f.run(inputs()), wanted));
  } while (jit.counts().compiled == 0 && std::chrono::steady_clock::now() < end);
  CHECK(jit.counts().compiled == 1);
  CHECK(same(f.run(inputs()), wanted));
}

TEST_CASE("equal functions share their code", "[jit]") {
  Context c;
  Jit jit(waiting());
  Prepared f(c, jit, scaled(4)), g(c, jit, scaled(4, "another_name")), h(c, jit, scaled(5));
  CHECK(same(f.run(two(c, 9)), g.run(two(c, 9))));
  CHECK_FALSE(same(f.run(two(c, 9)), h.run(two(c, 9))));
  CHECK(jit.counts().compiled == 2);
}

TEST_CASE("code goes with its function", "[jit]") {
  Context c;
  Jit jit(waiting());
  size_t before = mappings(), bytes = c.memory.live_bytes();
  {
    std::vector<Prepared> functions;
    for (int i = 0; i < 20; ++i) functions.emplace_back(c, jit, scaled(100 + i)).run(two(c, 50));
    CHECK(mappings() == before + 20);
  }
  CHECK(mappings() == before);
  CHECK(c.memory.live_bytes() == bytes);
  CHECK(jit.counts().compiled == 20);
}

TEST_CASE("nothing is left of functions that were compiled", "[jit]") {
  Context c;
  Jit jit(waiting());
  auto some = [&](int first, int last) {
    for (int i = first; i < last; ++i) Prepared(c, jit, scaled(0.125 * i)).run(two(c, 40));
  };
  constexpr int kFunctions = 60;
  some(0, kFunctions);  // what is allocated once
  size_t code = mappings(), heap = mallinfo2().uordblks;
  some(kFunctions, 2 * kFunctions);
  CHECK(jit.counts().compiled == 2 * kFunctions);
  CHECK(mappings() == code);
  // A table of the compiler's may grow meanwhile; a plan or an object for each would be several times as much.
  CHECK(mallinfo2().uordblks < heap + kFunctions * 512);
}

TEST_CASE("functions and programs may go while something is compiled", "[jit]") {
  Context c;
  for (int round = 0; round < 4; ++round) {
    JitOptions options;
    Jit jit(options);
    Prepared kept(c, jit, scaled(200 + round));
    for (int i = 0; i < 6; ++i) {
      Prepared f(c, jit, scaled(300 + 10 * round + i));
      for (int k = 0; k < 3; ++k) f.run(two(c, 10));
    }
    for (int k = 0; k < 3; ++k) kept.run(two(c, 10));
    if (round % 2) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  SUCCEED();
}

TEST_CASE("no machine code where it is switched off", "[jit]") {
  Context c;
  JitOptions options = waiting();
  options.enabled = false;
  Jit jit(options);
  Prepared f(c, jit, scaled(6));
  CHECK(f.run(two(c, 4)).size() == 4);
  CHECK(jit.counts().compiled == 0);
  CHECK(ir::to_text(*f.function).find("call") == std::string::npos);
}

}  // namespace tfl::test
