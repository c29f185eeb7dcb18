// Types that must follow, calls that must find their function alive, several functions in one text.
#include <fmt/core.h>

#include "ir/declared_types.h"
#include "ir/text.h"
#include "tests/unit/graphs.h"

namespace tfl::test {

namespace {

std::string wrong(std::string_view text) {
  Context c;
  return ir::unproven_type(c, *parse_graph(c, text));
}

}  // namespace

TEST_CASE("claims: a type may be wider than what follows, and not narrower") {
  CHECK(wrong("func @f(%x: f32[?,2]) -> (f32[?,2]) {\n  %0 = exp(%x) : f32[?,2]\n  return %0\n}") == "");
  CHECK(wrong("func @f(%x: f32[3,2]) -> (f32[...]) {\n  %0 = exp(%x) : f32[...]\n  return %0\n}") == "");
  CHECK(wrong("func @f(%x: f32[?,2]) -> (f32[3,2]) {\n  %0 = exp(%x) : f32[3,2]\n  return %0\n}") ==
        "@f: exp: result 0 is f32[?,2], which may be other than f32[3,2]");
  CHECK(wrong("func @f(%x: f32[2], %y: f32[3]) -> (f32[3]) {\n  %0 = add(%x, %y) : f32[3]\n  return %0\n}") != "");
}

TEST_CASE("claims: what regions and functions take holds what they are given") {
  const char* call =
      "func @f(%x: f32[?]) -> (f32[2]) {\n  %0 = call @g(%x) : f32[2]\n  return %0\n}\n"
      "func @g(%x: f32[2]) -> (f32[2]) {\n  %0 = exp(%x) : f32[2]\n  return %0\n}";
  CHECK(wrong(call) == "@f: call: input 0 is f32[?], which may be other than f32[2]");
  // A name of a size stands for one size.
  auto named = [](std::string_view x, std::string_view y, std::string_view a, std::string_view b) {
    return fmt::format(
        "func @f(%x: f32[{}], %y: f32[{}]) -> (f32[?]) {{\n  %0 = call @g(%x, %y) : f32[?]\n  return %0\n}}\n"
        "func @g(%a: f32[{}], %b: f32[{}]) -> (f32[{}]) {{\n  %0 = exp(%a) : f32[{}]\n  return %0\n}}",
        x, y, a, b, a, a);
  };
  CHECK(wrong(named("?", "?", "n", "m")) == "");
  CHECK(wrong(named("k", "n", "n", "k")) == "");
  CHECK(wrong(named("k", "k", "n", "n")) == "");
  CHECK(wrong(named("3", "3", "n", "n")) == "");
  CHECK(wrong(named("?", "?", "n", "n")) != "");
  CHECK(wrong(named("k", "n", "n", "n")) != "");
  CHECK(wrong(named("3", "4", "n", "n")) != "");
  const char* loop =
      "func @f(%x: f32[2], %y: f32[?]) -> (f32[2]) {\n  %0 = while_loop(%x, %y) {num = 1} : f32[2] while (%a: f32[2], "
      "%b: f32[?]) {\n"
      "    %p = constant true : bool\n    yield %p\n  } do (%a: f32[2], %b: f32[?]) {\n    yield %b\n  }\n  return "
      "%0\n}";
  CHECK(wrong(loop) == "@f: while_loop: variable 0 is f32[?], which may be other than f32[2]");
}

TEST_CASE("claims: a function that is called recursively is alive as long as the caller") {
  Context c;
  const char* around = "func @f(%x: i32) -> (i32) {\n  %0 = call recursive @f(%x) : i32\n  return %0\n}";
  CHECK(ir::owns_what_it_calls(*parse_graph(c, around)));
  const char* through =
      "func @f(%x: i32) -> (i32) {\n  %0 = call @g(%x) : i32\n  return %0\n}\n"
      "func @g(%x: i32) -> (i32) {\n  %0 = call recursive @f(%x) : i32\n  return %0\n}";
  auto both = ir::parse_text(c, through, "test.ir").take();
  CHECK(ir::owns_what_it_calls(*both[0]));
  CHECK_FALSE(ir::owns_what_it_calls(*both[1]));
}

TEST_CASE("text: several functions share what they call, names are told") {
  Context c;
  const char* text =
      "func @a(%x: i32) -> (i32) {\n  %0 = call @g(%x) : i32\n  return %0\n}\n\n"
      "func @b(%x: i32) -> (i32) {\n  %0 = call @g(%x) : i32\n  return %0\n}\n\n"
      "func @g(%x: i32) -> (i32) {\n  return %x\n}\n";
  auto functions = ir::parse_text(c, text, "test.ir").take();
  functions[1]->name.assign(1, 'a');  // g++ 12 warns of the assignment of a literal here
  const ir::Function* two[] = {functions[0].get(), functions[1].get()};
  std::vector<std::string> names;
  std::string printed = ir::to_text(two, {}, names);
  CHECK(names == std::vector<std::string>{"a", "a_1"});
  CHECK(ir::parse_text(c, printed, "again.ir").take().size() == 3);
  CHECK(printed.find("func @g(") == printed.rfind("func @g("));
}

}  // namespace tfl::test
