// Every law of optimizer/laws.def is applied, and only where it says (tests/tools/laws.py proves that each is true).
#include <fmt/format.h>

#include "optimizer/pass.h"
#include "runtime/ops/op.h"
#include "tests/unit/graphs.h"

namespace tfl::test {

namespace {

// What is left of a function of x and y after the pass: its operations, in their order.
std::string left_over(Context& c, const std::string& type, const std::string& body) {
  auto f = parse_graph(c, fmt::format("func @f(%x: {0}, %y: {0}) -> ({1}) {{\n{2}\nreturn %r }}", type,
                                      body.ends_with(": bool[3]") ? "bool[3]" : type, body));
  auto passes = optimizer::parse_pipeline("simplify,dce");
  REQUIRE(optimizer::run_pipeline(c, *f, *passes, {}).ok());
  std::string ops;
  for (const auto& n : f->body.nodes) {
    if (n->op != Op::constant) ops += fmt::format("{} ", op_info(n->op).name);
  }
  return ops;
}

std::string number(const std::string& type, double value) {
  if (type == "bool") return value == 0 ? "false" : "true";
  if (type == "i32") return fmt::format("{:.0f}", value);
  return fmt::format("{:.1f}", value);
}

std::vector<std::string> types_of(std::string_view types) {
  if (types == "integers") return {"i32"};
  if (types == "floats") return {"f32"};
  if (types == "booleans") return {"bool"};
  return {"i32", "f32"};
}

// An element type that the operation takes.
std::string type_for(Op op) {
  const OpInfo& info = op_info(op);
  if (type_class_has(info.types, DType::F32)) return "f32";
  return type_class_has(info.types, DType::I32) ? "i32" : "bool";
}

void neutral(Op op, std::string_view side, std::string_view types, double value) {
  Context c;
  for (const std::string& t : types_of(types)) {
    auto with = [&](double constant) {
      return left_over(c, t + "[3]",
                       fmt::format("%c = constant {0} : {1}\n%r = {2}({3}) : {1}[3]", number(t, constant), t, op_info(op).name,
                                   side == "right" ? "%x, %c" : "%c, %x"));
    };
    INFO(op_info(op).name << " of " << t);
    CHECK(with(value).empty());
    CHECK(with(t == "bool" ? 1 - value : value + 1) == fmt::format("{} ", op_info(op).name));
  }
}

std::string twice(Op op) {
  Context c;
  std::string t = type_for(op) + "[3]";
  return left_over(c, t, fmt::format("%a = {0}(%x) : {1}\n%r = {0}(%a) : {1}", op_info(op).name, t));
}

void self(Op op) {
  Context c;
  std::string t = type_for(op) + "[3]";
  INFO(op_info(op).name);
  CHECK(left_over(c, t, fmt::format("%r = {0}(%x, %x) : {1}", op_info(op).name, t)).empty());
  CHECK(left_over(c, t, fmt::format("%r = {0}(%x, %y) : {1}", op_info(op).name, t)) == fmt::format("{} ", op_info(op).name));
}

void negated(Op op, Op becomes, bool of_floats) {
  Context c;
  for (const char* t : {"i32[3]", "f32[3]"}) {
    INFO(op_info(op).name << " of " << t);
    std::string body = fmt::format("%a = {}(%x, %y) : bool[3]\n%r = logical_not(%a) : bool[3]", op_info(op).name);
    std::string kept = fmt::format("{} logical_not ", op_info(op).name);
    CHECK(left_over(c, t, body) == (t[0] == 'i' || of_floats ? fmt::format("{} ", op_info(becomes).name) : kept));
  }
}

}  // namespace

TEST_CASE("laws: each is applied where it says") {
#define TFL_NEUTRAL(op, side, types, value, law) neutral(Op::op, #side, #types, value);
#define TFL_INVOLUTION(op, law) CHECK(twice(Op::op).empty());
#define TFL_IDEMPOTENT(op, law) CHECK(twice(Op::op) == fmt::format("{} ", #op));
#define TFL_SELF(op, law) self(Op::op);
#define TFL_NEGATED(op, becomes, floats, law) negated(Op::op, Op::becomes, floats);
#include "optimizer/laws.def"
}

}  // namespace tfl::test
