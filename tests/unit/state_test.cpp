// Variables in staged loops and branches: as values they give what the evaluator gives, in machine code too, and what fails in the
// middle leaves them as if there were none.
#include "ir/state.h"

#include "tests/catch.h"

#include "codegen/jit/jit.h"
#include "codegen/plan/outline.h"
#include "tests/unit/graphs.h"

namespace tfl::test {

namespace {

// Adds i to `total` and counts the even numbers below `n`; `odd` is only read.
constexpr const char* kLoop =
    R"(func @f(%n: i32, %total: variable i32, %odd: variable i32, %w: variable f32[3]) -> (i32, i32) {
  %zero = constant 0 : i32
  %last = while_loop(%zero, %n, %total, %odd, %w) {num = 1} : i32 while (%i: i32, %m: i32, %t: variable i32, %o: variable i32, %v: variable f32[3]) {
    %p = less(%i, %m) : bool
    yield %p
  } do (%i: i32, %m: i32, %t: variable i32, %o: variable i32, %v: variable f32[3]) {
    %one = constant 1 : i32
    %two = constant 2 : i32
    %k = read_variable(%o) : i32
    %rest = mod(%i, %two) : i32
    %even = not_equal(%rest, %k) : bool
    %seen = cond(%even, %t, %i) : i32 then (%t: variable i32, %i: i32) {
      %a = read_variable(%t) : i32
      %b = add(%a, %i) : i32
      assign_variable(%t, %b)
      %c = read_variable(%t) : i32
      yield %c
    } else (%t: variable i32, %i: i32) {
      yield %i
    }
    %x = read_variable(%v) : f32[3]
    %f = cast(%seen) {dtype = f32} : f32
    %y = add(%x, %f) : f32[3]
    assign_variable(%v, %y)
    %j = add(%i, %one) : i32
    yield %j
  }
  %after = read_variable(%total) : i32
  return %last, %after
})";

struct Outcome {
  std::string text, variables;
  bool operator==(const Outcome&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Outcome& o) { return out << o.text << " | " << o.variables; }

Outcome run_with(Context& c, std::shared_ptr<const ir::Function> f, int32_t n, bool same_variable = false) {
  std::vector<std::shared_ptr<TestVariable>> variables = {std::make_shared<TestVariable>(ints(c, {}, {100})),
                                                          std::make_shared<TestVariable>(ints(c, {}, {1})),
                                                          std::make_shared<TestVariable>(floats(c, {3}, {0.5, 1, -0.0}))};
  if (same_variable) variables[1] = variables[0];
  std::vector<ir::Datum> inputs = {datum(ints(c, {}, {n}))};
  for (const auto& v : variables) inputs.push_back({{}, {}, v});
  Outcome out{run_graph(c, f, inputs).text, {}};
  for (const auto& v : variables) out.variables += result_text(datum(v->value)) + "; ";
  return out;
}

std::string with(std::string text, std::string_view from, std::string_view to) {
  size_t at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

// A copy whose clusters have machine code, and how many there are.
struct Compiled {
  std::shared_ptr<ir::Function> function;
  codegen::Jit jit;

  static codegen::JitOptions waiting() {
    codegen::JitOptions o;
    o.wait = true;
    return o;
  }
  Compiled(Context& c, std::string_view text) : function(parse_graph(c, text)), jit(waiting()) {
    REQUIRE(jit.prepare(c, *function).ok());
  }
};

}  // namespace

TEST_CASE("variables become parameters, loop variables and results", "[state]") {
  Context c(options(1));
  auto f = parse_graph(c, kLoop);
  std::vector<ir::VariableUse> uses;
  bool possible = false;
  auto values = ir::without_variables(c, *f, uses, possible);
  REQUIRE(possible);
  REQUIRE(values);
  CHECK(verify(c, *values).empty());
  REQUIRE(uses.size() == 3);
  CHECK(uses[0].input == 1);
  CHECK(uses[0].result == 2);
  CHECK(uses[1].result == ir::VariableUse::kUnchanged);
  CHECK(uses[2].result == 3);
  size_t left = 0;
  ir::walk(values->body, [&](const ir::Node& n) { left += n.op == Op::read_variable || n.op == Op::assign_variable; });
  CHECK(left == 0);
  for (const auto& n : values->body.nodes) {
    if (n->op == Op::while_loop) CHECK(n->types.size() == 3);
  }
  std::vector<ir::Datum> inputs = {datum(ints(c, {}, {7})), datum(ints(c, {}, {100})), datum(ints(c, {}, {1})),
                                   datum(floats(c, {3}, {0.5, 1, -0.0}))};
  Outcome expected = run_with(c, f, 7);
  CHECK(run_graph(c, values, inputs).text == "7 : i32; 112 : i32; 112 : i32; [429.5, 430.0, 429.0] : f32[3]");
  CHECK(expected.text == "7 : i32; 112 : i32");
  CHECK(expected.variables == "112 : i32; 1 : i32; [429.5, 430.0, 429.0] : f32[3]; ");
}

TEST_CASE("what cannot be a value stays a variable", "[state]") {
  Context c(options(1));
  std::vector<ir::VariableUse> uses;
  bool possible = true;
  // Assigned by the condition, of any size, handed on.
  CHECK_FALSE(ir::without_variables(c, *parse_graph(c, with(kLoop, "%p = less", "assign_variable(%t, %i)\n    %p = less")), uses,
                                    possible));
  CHECK_FALSE(possible);
  std::string any = kLoop;
  while (any.find("variable f32[3]") != any.npos) any = with(any, "variable f32[3]", "variable f32[?]");
  for (std::string_view type : {"%x = read_variable(%v) : f32[3]", "%y = add(%x, %f) : f32[3]"}) {
    any = with(any, type, std::string(type.substr(0, type.size() - 2)) + "?]");
  }
  CHECK_FALSE(ir::without_variables(c, *parse_graph(c, any), uses, possible));
  CHECK_FALSE(possible);
  // A graph without variables is left alone.
  uses.clear();
  CHECK_FALSE(ir::without_variables(c, *parse_graph(c, "func @f(%x: f32) -> (f32) {\n  return %x\n}"), uses, possible));
  CHECK(possible);
  CHECK(uses.empty());
}

TEST_CASE("loops that assign variables are machine code", "[state]") {
  Context c(options(1));
  auto f = parse_graph(c, kLoop);
  Compiled compiled(c, kLoop);
  for (int32_t n : {0, 1, 2, 7, 1000}) CHECK(run_with(c, compiled.function, n) == run_with(c, f, n));
  CHECK(compiled.jit.counts().compiled == 1);
  CHECK(compiled.jit.counts().unplanned == 0);
  // One variable twice: what is assigned as the one is read as the other.
  CHECK(run_with(c, compiled.function, 9, true) == run_with(c, f, 9, true));
  CHECK(run_with(c, f, 9, true).variables != run_with(c, f, 9).variables);
}

TEST_CASE("a loop that fails leaves its variables where it failed", "[state]") {
  Context c(options(1));
  // 3 - i is zero in the fourth iteration.
  std::string text = with(kLoop, "%rest = mod(%i, %two) : i32",
                          "%three = constant 3 : i32\n    %d = subtract(%three, %i) : i32\n"
                          "    %q = floordiv(%two, %d) : i32\n    %rest = mod(%i, %two) : i32");
  text = with(text, "%f = cast(%seen)", "%sum = add(%seen, %q) : i32\n    %f = cast(%sum)");
  auto f = parse_graph(c, text);
  Compiled compiled(c, text);
  for (int32_t n : {3, 10}) CHECK(run_with(c, compiled.function, n) == run_with(c, f, n));
  Outcome failed = run_with(c, compiled.function, 10);
  CHECK(failed.text.find("Integer division by zero") != std::string::npos);
  CHECK(failed.variables.substr(0, 9) == "102 : i32");
}

TEST_CASE("clusters with variables keep their place among other effects", "[state]") {
  Context c(options(1));
  std::string text =
      with(kLoop, "  %after = read_variable(%total) : i32\n  return %last, %after",
           "  %after = read_variable(%total) : i32\n  %minus = constant -5 : i32\n  assign_variable(%total, %minus)\n"
           "  %again = read_variable(%total) : i32\n  %both = add(%after, %again) : i32\n  return %last, %both");
  text = with(text, "  %zero = constant 0 : i32\n",
              "  %zero = constant 0 : i32\n  %start = constant 50 : i32\n  assign_variable(%total, %start)\n");
  auto f = parse_graph(c, text);
  Compiled compiled(c, text);
  CHECK(run_with(c, f, 7).text == "7 : i32; 57 : i32");
  CHECK(run_with(c, compiled.function, 7) == run_with(c, f, 7));
  CHECK(compiled.jit.counts().compiled >= 1);
}

}  // namespace tfl::test
