// The reference evaluator: control flow, calls, effects, arrays.
#include "tests/unit/graphs.h"

namespace tfl::test {

namespace {

std::string run(std::string_view text, std::vector<Tensor> inputs = {}) {
  Context c;
  std::vector<ir::Datum> data;
  for (Tensor& t : inputs) data.push_back(datum(std::move(t)));
  Ran ran = run_graph(c, parse_graph(c, text), std::move(data), 5000);
  return ran.printed + ran.text;
}

}  // namespace

TEST_CASE("graph: operations and constants") {
  Context c;
  auto f = parse_graph(c, R"(func @f(%x: f32[2,3]) -> (f32[2,2], i32[2]) {
    %k = constant [1, 2, 3, 4, 5, 6] : f32[3,2]
    %m = matmul(%x, %k) : f32[2,2]
    %s = shape(%m) {dtype = i32} : i32[2]
    return %m, %s
  })");
  Ran ran = run_graph(c, f, {datum(floats(c, {2, 3}, {1, 0, 0, 0, 1, 1}))});
  CHECK(ran.text == "[1.0, 2.0, 8.0, 10.0] : f32[2,2]; splat 2 : i32[2]");
}

TEST_CASE("graph: branches take their operands and leave results") {
  const char* text = R"(func @f(%p: bool, %x: f32) -> (f32, f32) {
    %one = constant 1 : f32
    %a, %b = cond(%p, %x, %one, %x) : f32, f32 then (%u: f32, %v: f32, %w: f32) {
      %s = add(%u, %v) : f32
      yield %s, %w
    } else (%u: f32, %v: f32, %w: f32) {
      yield %v, %v
    }
    return %a, %b
  })";
  Context c;
  CHECK(run_graph(c, parse_graph(c, text), {datum(scalar<uint8_t>(c, DType::Bool, 1).take()), datum(floats(c, {}, {5}))}).text ==
        "6.0 : f32; 5.0 : f32");
  CHECK(run_graph(c, parse_graph(c, text), {datum(scalar<uint8_t>(c, DType::Bool, 0).take()), datum(floats(c, {}, {5}))}).text ==
        "1.0 : f32; 1.0 : f32");
}

TEST_CASE("graph: switch_case, an index out of range takes the last branch") {
  const char* text = R"(func @f(%i: i32) -> (i32) {
    %a = switch_case(%i) : i32 case () {
      %r = constant 10 : i32
      yield %r
    } case () {
      %r = constant 20 : i32
      yield %r
    } case () {
      %r = constant 30 : i32
      yield %r
    }
    return %a
  })";
  Context c;
  for (auto [i, expected] : {std::pair{0, "10"}, {1, "20"}, {2, "30"}, {3, "30"}, {-1, "30"}})
    CHECK(run_graph(c, parse_graph(c, text), {datum(ints(c, {}, {i}))}).text == std::string(expected) + " : i32");
}

TEST_CASE("graph: loops swap variables, keep invariants, stop at their limit") {
  const char* text = R"(func @f(%n: i32) -> (i32, i32) {
    %zero = constant 0 : i32
    %one = constant 1 : i32
    %i, %a, %b = while_loop(%zero, %zero, %one, %n, %one) {num = 3} : i32, i32, i32 while (%i: i32, %a: i32, %b: i32, %n: i32, %k: i32) {
      %p = less(%i, %n) : bool
      yield %p
    } do (%i: i32, %a: i32, %b: i32, %n: i32, %k: i32) {
      %s = add(%a, %b) : i32
      %j = add(%i, %k) : i32
      yield %j, %b, %s
    }
    return %a, %n
  })";
  Context c;
  CHECK(run_graph(c, parse_graph(c, text), {datum(ints(c, {}, {10}))}).text == "55 : i32; 10 : i32");
  CHECK(run_graph(c, parse_graph(c, text), {datum(ints(c, {}, {0}))}).text == "0 : i32; 0 : i32");
  std::string limited(text);
  limited.replace(limited.find("num = 3"), 7, "num = 3, limit = 5");
  CHECK(run_graph(c, parse_graph(c, limited), {datum(ints(c, {}, {10}))}).text == "5 : i32; 10 : i32");
  CHECK(run_graph(c, parse_graph(c, text), {datum(ints(c, {}, {2000000000}))}, 50).text ==
        "DeadlineExceededError: too many iterations");
}

TEST_CASE("graph: the same value twice among operands and results") {
  CHECK(run(R"(func @f() -> (i32, i32, i32, i32) {
    %x = constant 3 : i32
    %y = add(%x, %x) : i32
    %p = constant true : bool
    %a, %b, %c = while_loop(%y, %y, %y, %y) {num = 3} : i32, i32, i32 while (%a: i32, %b: i32, %c: i32, %d: i32) {
      %t = constant 100 : i32
      %p = less(%a, %t) : bool
      yield %p
    } do (%a: i32, %b: i32, %c: i32, %d: i32) {
      %s = add(%a, %d) : i32
      yield %s, %s, %a
    }
    return %a, %b, %c, %c
  })") == "102 : i32; 102 : i32; 96 : i32; 96 : i32");
}

TEST_CASE("graph: nothing overwrites what somebody else still sees") {
  Context c;
  auto f = parse_graph(c, R"(func @f(%x: f32[40]) -> (f32[40], f32[40], f32[40]) {
    %k = constant splat 2 : f32[40]
    %a = add(%x, %k) : f32[40]
    %b = multiply(%a, %k) : f32[40]
    %c = negative(%b) : f32[40]
    %d = exp(%x) : f32[40]
    return %b, %c, %x
  })");
  Tensor x = Tensor::empty(c, DType::F32, Dims{40}).take();
  for (int i = 0; i < 40; ++i) x.data<float>()[i] = 1;
  for (int round = 0; round < 2; ++round) {
    Ran ran = run_graph(c, f, {datum(x)});
    CHECK(ran.text == "splat 6.0 : f32[40]; splat -6.0 : f32[40]; splat 1.0 : f32[40]");
  }
  CHECK(x.data<float>()[7] == 1);
}

TEST_CASE("graph: functions call others and themselves") {
  const char* text = R"(func @factorial(%n: i32) -> (i32) {
    %one = constant 1 : i32
    %p = less_equal(%n, %one) : bool
    %r = cond(%p, %n, %one) : i32 then (%n: i32, %k: i32) {
      yield %k
    } else (%n: i32, %k: i32) {
      %m = subtract(%n, %k) : i32
      %q = call recursive @factorial(%m) : i32
      %r = multiply(%n, %q) : i32
      yield %r
    }
    return %r
  }
  func @main(%n: i32) -> (i32) {
    %a = call @factorial(%n) : i32
    %b = call @factorial(%n) : i32
    %c = add(%a, %b) : i32
    return %c
  })";
  Context c;
  auto functions = parse_graphs(c, text);
  CHECK(run_graph(c, functions[1], {datum(ints(c, {}, {5}))}).text == "240 : i32");
  CHECK(run_graph(c, functions[0], {datum(ints(c, {}, {990}))}).text == "0 : i32");
  CHECK(run_graph(c, functions[0], {datum(ints(c, {}, {1005}))}).text == "RecursionError: maximum recursion depth exceeded");
}

TEST_CASE("graph: effects happen in program order") {
  Context c;
  auto f = parse_graph(c, R"(func @f(%v: variable f32) -> (f32, f32, i64[3]) {
    %hello = constant "before" : str
    print(%hello) {end = "|"}
    %a = read_variable(%v) : f32
    %k = constant 2 : f32
    %b = multiply(%a, %k) : f32
    assign_variable(%v, %b)
    %c = read_variable(%v) : f32
    %groups = constant 5 : i64
    %seed = next_seed(%groups) {seed = 7} : i64[3]
    %there = constant "after" : str
    print(%there)
    return %a, %c, %seed
  })");
  auto v = std::make_shared<TestVariable>(floats(c, {}, {21}));
  Ran ran = run_graph(c, f, {ir::Datum{{}, {}, v}});
  CHECK(ran.printed == "before|after\n");
  CHECK(ran.text == "21.0 : f32; 42.0 : f32; [7, 0, 5] : i64[3]");
  CHECK(result_text(datum(v->value)) == "42.0 : f32");
}

TEST_CASE("graph: a failed check names its place") {
  Context c;
  const char* text = R"(func @f(%x: i32) -> (i32) {
    %zero = constant 0 : i32
    %ok = greater(%x, %zero) : bool
    check(%ok) {text = "x must be positive"} @ "m.tfl":7:2
    %y = floordiv(%x, %zero) : i32 @ "m.tfl":8:4
    return %y
  })";
  Ran ran = run_graph(c, parse_graph(c, text), {datum(ints(c, {}, {-1}))});
  CHECK(ran.text == "InvalidArgumentError: x must be positive");
  CHECK(ran.failed_line == 7);
  ran = run_graph(c, parse_graph(c, text), {datum(ints(c, {}, {1}))});
  CHECK(ran.text.substr(0, 46) == "InvalidArgumentError: Integer division by zero");
  CHECK(ran.failed_line == 8);
}

TEST_CASE("graph: arrays are values") {
  CHECK(run(R"(func @f() -> (f32[?,2], i32, f32[2], f32[?], f32[2,2]) {
    %n = constant 2 : i32
    %zero = constant 0 : i32
    %one = constant 1 : i32
    %x = constant [1, 2] : f32[2]
    %a = array_new(%n) {dtype = f32, shape = [2], grows = true} : array f32[2]
    %b = array_write(%a, %one, %x) : array f32[2]
    %c = array_write(%b, %zero, %x) : array f32[2]
    %d = array_push(%c, %x) : array f32[2]
    %unset = array_read(%b, %zero) : f32[2]
    %e, %last = array_pop(%d) : array f32[2], f32[2]
    %sum = array_sum(%e, %b) : array f32[2]
    %all = array_stack(%sum) : f32[?,2]
    %long = array_concat(%b) : f32[?]
    %count = array_size(%d) : i32
    %which = constant [1, 1] : i32[2]
    %picked = array_gather(%b, %which) : f32[2,2]
    return %all, %count, %unset, %long, %picked
  })") ==
        "[1.0, 2.0, 2.0, 4.0] : f32[2,2]; 3 : i32; splat 0.0 : f32[2]; [0.0, 0.0, 1.0, 2.0] : f32[4]; [1.0, 2.0, 1.0, 2.0] : "
        "f32[2,2]");
}

TEST_CASE("graph: arrays check their bounds and shapes") {
  auto failing = [](std::string middle) {
    return run(
        "func @f() -> () {\n%n = constant 2 : i32\n%at = constant 5 : i32\n%x = constant [1, 2, 3] : f32[3]\n"
        "%a = array_new(%n) {dtype = f32, shape = [2]} : array f32[2]\n" +
        middle + "return\n}");
  };
  CHECK(failing("%b = array_read(%a, %at) : f32[2]\n") ==
        "InvalidArgumentError: Trying to access element 5 in a list with 2 elements.");
  CHECK(failing("%y = constant [1, 2] : f32[2]\n%b = array_write(%a, %at, %y) : array f32[2]\n") ==
        "InvalidArgumentError: Trying to modify element 5 in a list with 2 elements.");
  CHECK(failing("%b = array_from(%x) : array f32\n%c, %d = array_pop(%b) : array f32, f32\n%z = constant [1, 2] : i32[2]\n"
                "%e = array_scatter(%a, %z, %x) : array f32[2]\n")
            .find("InvalidArgumentError") == 0);
}

TEST_CASE("graph: an array in a loop is written in place") {
  CHECK(run(R"(func @f() -> (i32[?]) {
    %n = constant 4 : i32
    %zero = constant 0 : i32
    %a = array_new(%n) {dtype = i32, shape = []} : array i32
    %i, %b = while_loop(%zero, %a, %n) {num = 2} : i32, array i32 while (%i: i32, %a: array i32, %n: i32) {
      %p = less(%i, %n) : bool
      yield %p
    } do (%i: i32, %a: array i32, %n: i32) {
      %sq = multiply(%i, %i) : i32
      %w = array_write(%a, %i, %sq) : array i32
      %one = constant 1 : i32
      %j = add(%i, %one) : i32
      yield %j, %w
    }
    %s = array_stack(%b) : i32[?]
    return %s
  })") == "[0, 1, 4, 9] : i32[4]");
}

}  // namespace tfl::test
