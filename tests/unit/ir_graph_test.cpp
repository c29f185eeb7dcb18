// Types, inference, effects, pruning and the verifier of graphs.
#include "tests/unit/graphs.h"

namespace tfl::test {

namespace {

// The type of the function's first result after its nodes are inferred anew, one after the other.
std::string inferred(std::string_view text) {
  Context c;
  auto f = parse_graph(c, text);
  for (auto& n : f->body.nodes) {
    if (n->op == Op::constant) continue;
    std::vector<ir::Type> types;
    Result<void> done = ir::infer_node(c, n->op, n->operands, n->attrs, n->regions, n->target(), types);
    if (!done) return done.error().message;
    n->types = types;
  }
  return ir::type_text(f->body.results[0].type(), &f->symbols);
}

std::string reshaped(std::string_view sizes) {
  return inferred(
      "func @f(%x: f32[?,784], %y: f32[n,784]) -> (f32[...]) {\n"
      "%zero = constant [0] : i32[1]\n%one = constant [1] : i32[1]\n%k = constant 28 : i32\n"
      "%sx = shape(%x) {dtype = i32} : i32[2]\n%sy = shape(%y) {dtype = i32} : i32[2]\n"
      "%nx = strided_slice(%sx, %zero, %one, %one) {shrink_axis_mask = 1} : i32\n"
      "%ny = strided_slice(%sy, %zero, %one, %one) {shrink_axis_mask = 1} : i32\n" +
      std::string(sizes) + "\nreturn %r\n}");
}

}  // namespace

TEST_CASE("ir type: joins, subtypes, text") {
  ir::Type a = ir::Type::of({DType::F32, true, {2, 3}}), b = ir::Type::of({DType::F32, true, {2, 4}}), out;
  CHECK(ir::join(a, b, out));
  CHECK(ir::type_text(out) == "f32[2,?]");
  CHECK(ir::is_subtype(a, out));
  CHECK_FALSE(ir::is_subtype(out, a));
  CHECK_FALSE(ir::may_overlap(a, b));
  CHECK_FALSE(ir::join(a, ir::Type::of({DType::I32, true, {2, 3}}), out));
  CHECK_FALSE(ir::join(a, ir::Type::array({DType::F32, true, {2, 3}}), out));
  CHECK(ir::join(a, ir::Type::of({DType::F32, true, {}}), out));
  CHECK(ir::type_text(out) == "f32[...]");
  CHECK(ir::type_text(ir::Type::variable({DType::F64, true, {-2}})) == "variable f64[s0]");
}

TEST_CASE("ir infer: sizes computed in the graph stay as static as they can") {
  CHECK(reshaped("%s = stack(%nx, %k, %k) {axis = 0} : i32[3]\n%r = reshape(%x, %s) : f32[...]") == "f32[?,28,28]");
  CHECK(reshaped("%s = stack(%ny, %k, %k) {axis = 0} : i32[3]\n%r = reshape(%y, %s) : f32[...]") == "f32[n,28,28]");
  CHECK(reshaped("%m = constant -1 : i32\n%s = stack(%m, %k, %k) {axis = 0} : i32[3]\n%r = reshape(%y, %s) : f32[...]") ==
        "f32[n,28,28]");
  CHECK(reshaped("%s = stack(%ny, %k) {axis = 0} : i32[2]\n%v = constant 1.0 : f32\n%r = fill(%s, %v) : f32[...]") ==
        "f32[n,28]");
  CHECK(reshaped("%v = constant 1.0 : f32\n%r = fill(%sy, %v) : f32[...]") == "f32[n,784]");
  CHECK(reshaped("%d = add(%k, %k) : i32\n%s = stack(%d, %k) {axis = 0} : i32[2]\n%v = constant 1.0 : f32\n%r = broadcast_to(%v, "
                 "%s) : f32[...]") == "f32[56,28]");
  CHECK(inferred("func @f() -> (i32[...]) {\n%z = constant 0 : i32\n%k = constant 28 : i32\n%o = constant 2 : i32\n%r = "
                 "range(%z, %k, %o) : i32[...]\nreturn %r }") == "i32[14]");
  CHECK(reshaped("%m = constant [1, 2] : i32[2]\n%r = tile(%y, %m) : f32[...]") == "f32[n,1568]");
  CHECK(reshaped("%o = constant 1 : i32\n%m = stack(%o, %nx) {axis = 0} : i32[2]\n%r = tile(%y, %m) : f32[...]") == "f32[n,?]");
  CHECK(reshaped("%b = constant [0, 4] : i32[2]\n%s = constant [-1, 10] : i32[2]\n%r = slice(%y, %b, %s) : f32[...]") ==
        "f32[n,10]");
  CHECK(reshaped("%r = reshape(%x, %sy) : f32[...]") == "f32[n,784]");
  CHECK(inferred("func @f(%x: f32[n,4], %y: f32[4,m]) -> (f32[...]) {\n%r = matmul(%x, %y) : f32[...]\nreturn %r }") ==
        "f32[n,m]");
  CHECK(inferred("func @f(%x: f32[n,1], %y: f32[n,4]) -> (f32[...]) {\n%r = add(%x, %y) : f32[...]\nreturn %r }") == "f32[n,4]");
}

TEST_CASE("ir infer: values that follow from constants and shapes") {
  Context c;
  auto f = parse_graph(c, R"(func @f(%x: f32[3,5], %i: i32) -> () {
    %s = shape(%x) {dtype = i32} : i32[2]
    %p = reduce_prod(%s) : i32
    %k = constant 2 : i32
    %q = multiply(%p, %k) : i32
    %h = constant 0.5 : f32
    %w = cast(%q) {dtype = f32} : f32
    %v = multiply(%w, %h) : f32
    %u = cast(%v) {dtype = i64} : i64
    %no = add(%i, %k) : i32
    return
  })");
  auto value = [&](size_t i) { return ir::static_value(c, {f->body.nodes[i].get(), 0}); };
  CHECK(result_text(datum(value(3))) == "30 : i32");
  CHECK(result_text(datum(value(7))) == "15 : i64");
  CHECK_FALSE(value(8));
  Dims sizes;
  CHECK(ir::static_sizes(c, {f->body.nodes[8].get(), 0}, sizes));
  CHECK(sizes == Dims{-1});
}

TEST_CASE("ir effects: what may happen, regions and callees included") {
  Context c;
  auto functions = parse_graphs(c, R"(func @f(%x: f32, %i: i32, %v: variable f32, %y: f32[?], %z: f32[?]) -> () {
    %0 = add(%x, %x) : f32
    %1 = add(%y, %z) : f32[?]
    %2 = floordiv(%i, %i) : i32
    %two = constant 2 : i32
    %3 = floordiv(%i, %two) : i32
    %4 = read_variable(%v) : f32
    %5 = call @writer(%v, %x) : f32
    %6 = call @pure(%x) : f32
    %7 = exp(%y) : f32[?]
    return
  }
  func @writer(%v: variable f32, %x: f32) -> (f32) {
    assign_variable(%v, %x)
    return %x
  }
  func @pure(%x: f32) -> (f32) {
    %a = exp(%x) : f32
    return %a
  })");
  auto effects = [&](size_t i) {
    ir::Effects e = ir::effects_of(*functions[0]->body.nodes[i]);
    return std::string(e.reads ? "r" : "-") + (e.writes ? "w" : "-") + (e.fails ? "f" : "-");
  };
  CHECK(effects(0) == "---");
  CHECK(effects(1) == "--f");  // the sizes may differ
  CHECK(effects(2) == "--f");
  CHECK(effects(4) == "---");  // a constant that is not zero
  CHECK(effects(5) == "r-f");
  CHECK(effects(6) == "-wf");
  CHECK(effects(7) == "---");
  CHECK(effects(8) == "---");
}

TEST_CASE("ir prune: what nobody needs goes, what can be seen stays") {
  const char* text = R"(func @f(%x: f32, %i: i32, %v: variable f32) -> (f32) {
    %a = floordiv(%i, %i) : i32 @ "m.tfl":3:4
    %b, %c = cond(%p, %x, %a) : f32, i32 then (%y: f32, %k: i32) {
      %d = mod(%k, %k) : i32
      yield %y, %d
    } else (%y: f32, %k: i32) {
      yield %y, %k
    }
    assign_variable(%v, %x)
    return %b
  })";
  std::string with_predicate(text);
  with_predicate.replace(with_predicate.find("    %a = "), 0, "    %p = constant true : bool\n");
  Context c;
  auto f = parse_graph(c, with_predicate);
  ir::prune(*f);
  CHECK(ir::node_count(*f) == 3);
  CHECK(ir::verify(c, *f).empty());
  REQUIRE(f->dropped.size() == 2);
  CHECK(f->dropped[1] == "floordiv at m.tfl:3");
  auto strict = parse_graph(c, with_predicate);
  ir::prune(*strict, true);
  CHECK(ir::node_count(*strict) == 5);
  CHECK(strict->dropped.empty());
}

TEST_CASE("ir verify: names what is broken") {
  Context c;
  auto broken = [&c](auto change) {
    auto f = parse_graph(c, R"(func @f(%x: f32, %p: bool) -> (f32) {
      %a = exp(%x) : f32
      %b = negative(%a) : f32
      %c = cond(%p, %b) : f32 then (%y: f32) { yield %y } else (%y: f32) { yield %y }
      return %c
    })");
    change(*f);
    std::vector<std::string> list = ir::verify(c, *f);
    return list.empty() ? std::string() : list[0];
  };
  CHECK(broken([](ir::Function&) {}).empty());
  CHECK(broken([](ir::Function& f) { std::swap(f.body.nodes[0], f.body.nodes[1]); }) ==
        "negative: operand 0 is not defined before in its block");
  CHECK(broken([](ir::Function& f) { f.body.nodes[0]->types.clear(); }).find("exp: 0 results") == 0);
  CHECK(broken([](ir::Function& f) { f.body.nodes[1]->operands.clear(); }) == "negative: 0 operands");
  CHECK(broken([](ir::Function& f) { f.body.nodes[0]->name = f.body.nodes[1]->name = "n"; }) ==
        "negative n: its name is not unique");
  CHECK(broken([](ir::Function& f) { f.body.nodes[2]->regions.pop_back(); }).find("cond: ") == 0);
  CHECK(broken([](ir::Function& f) {
          f.body.nodes[2]->regions[0]->results[0] = f.body.param(0);
        }).find("is not defined before in its block") != std::string::npos);
  CHECK(broken([](ir::Function& f) { f.body.nodes[0]->location = 99; }) == "exp: an unknown location");
  CHECK(broken([](ir::Function& f) {
          f.body.nodes[2]->regions[0]->params[0]->types[0].tensor.dtype = DType::I32;
        }).find("cond: ") == 0);
}

}  // namespace tfl::test
