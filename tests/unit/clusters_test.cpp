// Clusters: what is moved out of a graph and in which order, sizes as symbols, plans as text.
#include "tests/catch.h"

#include "codegen/plan/native_ops.h"
#include "codegen/plan/outline.h"
#include "codegen/plan/shapes.h"
#include "ir/native.h"
#include "tests/unit/graphs.h"

using namespace tfl;
using namespace tfl::test;

namespace {

// Moves clusters out; the names of their operations, then what is left of the function.
std::string outlined(Context& c, std::string_view text, std::vector<std::shared_ptr<ir::Function>>* made = nullptr) {
  auto f = parse_graph(c, text);
  std::string out;
  plan::outline(c, *f, [&](const std::shared_ptr<ir::Function>& cluster) {
    CHECK(verify(c, *cluster).empty());
    out += cluster->name + ":";
    for (const auto& n : cluster->body.nodes) {
      if (n->op != Op::constant) out += " " + std::string(op_info(n->op).name);
    }
    out += "; ";
    if (made) made->push_back(cluster);
  });
  CHECK(verify(c, *f).empty());
  out += "left:";
  for (const auto& n : f->body.nodes) {
    if (n->op != Op::constant) out += " " + (n->op == Op::call ? n->callee->name : std::string(op_info(n->op).name));
  }
  return out;
}

struct Sized {
  plan::Plan plan;
  std::optional<plan::Shapes> shapes;
  std::shared_ptr<ir::Function> f;

  std::string text(const plan::Sizes& sizes) const {
    std::string out;
    for (plan::Size s : sizes)
      out += (out.empty() ? "" : ",") + (plan::is_known(s) ? std::to_string(s) : "s" + std::to_string(plan::symbol_of(s)));
    return out;
  }
  std::string result(size_t i = 0) const { return text(shapes->dims(f->body.results[i])); }
  std::string guards() const {
    std::string out;
    for (const plan::Guard& g : plan.guards)
      out += text({g.a}) + (g.kind == plan::Guard::Kind::equal ? "==" : ">=") + text({g.b}) + " ";
    return out;
  }
};

void size(Context& c, std::string_view text, Sized& s) {
  s.f = parse_graph(c, text);
  s.shapes = plan::Shapes::of(c, *s.f, s.plan);
  REQUIRE(s.shapes);
}

}  // namespace

TEST_CASE("a function of native nodes is one cluster") {
  Context c(options(1));
  CHECK(outlined(c, R"(
func @f(%x: f32[3], %y: f32[3]) -> (f32[3]) {
  %0 = add(%x, %y) : f32[3]
  return %0
})") == "f.0: add; left: f.0");
}

TEST_CASE("one operation among others stays where it is") {
  Context c(options(1));
  CHECK(outlined(c, R"(
func @f(%x: f16[3, 3]) -> (f16[3, 3]) {
  %0 = matmul(%x, %x) : f16[3, 3]
  %1 = exp(%0) : f16[3, 3]
  return %1
})") == "left: matmul exp");
}

TEST_CASE("clusters are as large as the order of dependence allows") {
  Context c(options(1));
  CHECK(outlined(c, R"(
func @f(%x: f16[3, 3], %y: f16[3, 3]) -> (f16[3, 3], f16[3, 3]) {
  %0 = exp(%x) : f16[3, 3]
  %1 = multiply(%0, %x) : f16[3, 3]
  %2 = matmul(%1, %1) : f16[3, 3]
  %3 = add(%2, %0) : f16[3, 3]
  %4 = exp(%y) : f16[3, 3]
  %5 = multiply(%3, %4) : f16[3, 3]
  return %5, %1
})") == "f.0: exp multiply; f.1: add exp multiply; left: f.0 matmul f.1");
}

TEST_CASE("what may fail keeps its place among outputs, what cannot need not") {
  Context c(options(1));
  constexpr std::string_view kText = R"(
func @f(%x: i32[3], %y: i32[3], %s: str) -> (i32[3], i32[3]) {
  %0 = OP(%x, %y) : i32[3]
  %1 = multiply(%0, %y) : i32[3]
  print(%s) {stream = "stderr"}
  %2 = OP(%1, %y) : i32[3]
  %3 = add(%2, %y) : i32[3]
  return %1, %3
})";
  auto with = [&](std::string_view op) {
    std::string text(kText);
    for (int i = 0; i < 2; ++i) text.replace(text.find("OP"), 2, op);
    return outlined(c, text);
  };
  CHECK(with("subtract") == "f.0: subtract multiply subtract add; left: print f.0");
  CHECK(with("floordiv") == "f.0: floordiv multiply; f.1: floordiv add; left: f.0 print f.1");
}

TEST_CASE("a value that is assigned is read again behind the assignment") {
  Context c(options(1));
  CHECK(outlined(c, R"(
func @f(%v: variable f32[3], %x: f32[3]) -> (f32[3]) {
  %0 = read_variable(%v) : f32[3]
  %1 = multiply(%0, %x) : f32[3]
  %2 = add(%1, %x) : f32[3]
  assign_variable(%v, %2)
  %3 = read_variable(%v) : f32[3]
  %4 = exp(%3) : f32[3]
  %5 = add(%4, %x) : f32[3]
  return %5
})") == "f.0: read_variable multiply add assign_variable read_variable exp add; left: f.0");
}

TEST_CASE("the words of a check go along, plans leave them out") {
  Context c(options(1));
  std::vector<std::shared_ptr<ir::Function>> made;
  CHECK(outlined(c, R"(
func @f(%x: f32) -> (f32) {
  %0 = constant 0.0 : f32
  %1 = greater(%x, %0) : bool
  %2 = string_format(%x) {template_text = "{}", placeholder = "{}", summarize = 3} : str
  check(%1, %2)
  %3 = exp(%x) : f32
  return %3
})",
                 &made) == "f.0: greater string_format check exp; left: f.0");
  auto needed = plan::needed_nodes(made[0]->body);
  for (const auto& n : made[0]->body.nodes) CHECK(needed.contains(n.get()) == (n->op != Op::string_format));
}

TEST_CASE("views of what no cluster computes stay views") {
  Context c(options(1));
  CHECK(outlined(c, R"(
func @f(%x: f32[4,3], %y: f32[12]) -> (f32[12], f32[12]) {
  %0 = constant [12] : i32[1]
  %1 = reshape(%x, %0) : f32[12]
  %2 = exp(%y) : f32[12]
  %3 = negative(%2) : f32[12]
  return %1, %3
})") == "f.0: exp negative; left: reshape f.0");
}

TEST_CASE("loops whose variables grow are no cluster, the rest of the block is") {
  Context c(options(1));
  CHECK(outlined(c, R"(
func @f(%x: f32[?], %n: i32) -> (f32[?], f32[?]) {
  %0 = constant 0 : i32
  %1 = exp(%x) : f32[?]
  %2 = negative(%1) : f32[?]
  %3, %4 = while_loop(%0, %x, %n) {num = 2} : i32, f32[?] while (%5: i32, %6: f32[?], %7: i32) {
    %8 = less(%5, %7) : bool
    yield %8
  } do (%9: i32, %10: f32[?], %11: i32) {
    %12 = constant 1 : i32
    %13 = add(%9, %12) : i32
    %14 = concat(%10, %10) {axis = 0} : f32[?]
    yield %13, %14
  }
  return %2, %4
})") == "f.0: exp negative; f.1: add concat; left: while_loop f.0");
}

TEST_CASE("a loop that is no cluster has clusters inside") {
  Context c(options(1));
  CHECK(outlined(c, R"(
func @f(%x: f32[?], %n: i32) -> (f32[?]) {
  %0 = constant 0 : i32
  %1, %2 = while_loop(%0, %x, %n) {num = 2} : i32, f32[?] while (%3: i32, %4: f32[?], %5: i32) {
    %6 = less(%3, %5) : bool
    yield %6
  } do (%7: i32, %8: f32[?], %9: i32) {
    %10 = constant 1 : i32
    %11 = add(%7, %10) : i32
    %12 = exp(%8) : f32[?]
    %13 = concat(%8, %12) {axis = 0} : f32[?]
    yield %11, %13
  }
  return %2
})") == "f.0: add exp concat; left: while_loop");
}

TEST_CASE("sizes that only the run knows keep their users out") {
  Context c(options(1));
  CHECK(outlined(c, R"(
func @f(%x: f32[?], %n: i32[2]) -> (f32[?,?]) {
  %0 = exp(%x) : f32[?]
  %1 = negative(%0) : f32[?]
  %2 = reshape(%1, %n) : f32[?,?]
  return %2
})") == "f.0: exp negative; left: f.0 reshape");
}

TEST_CASE("sizes that meet are one symbol, with a guard") {
  Context c(options(1));
  Sized s;
  size(c, R"(
func @f(%x: f32[?,3], %y: f32[?,1], %z: f32[?]) -> (f32[?,3], f32[?,?]) {
  %0 = add(%x, %y) : f32[?,3]
  %1 = add(%y, %z) : f32[?,?]
  return %0, %1
})",
       s);
  CHECK(s.result(0) == "s0,3");
  CHECK(s.result(1) == "s0,s1");
  CHECK(s.guards() == "s2==s0 ");
}

TEST_CASE("a size that turns out to be known is known everywhere") {
  Context c(options(1));
  Sized s;
  size(c, R"(
func @f(%x: f32[?], %y: f32[4]) -> (f32[?], f32[4]) {
  %0 = concat(%x, %x) {axis = 0} : f32[?]
  %1 = add(%x, %y) : f32[4]
  return %0, %1
})",
       s);
  CHECK(s.result(0) == "8");
  CHECK(s.result(1) == "4");
  CHECK(s.guards() == "s0==4 ");
}

TEST_CASE("reshapes and slices of unknown sizes follow from their operands") {
  Context c(options(1));
  Sized s;
  size(c, R"(
func @f(%x: f32[?,28,28]) -> (f32[?,784], f32[?,28,28], f32[?]) {
  %0 = constant [-1, 784] : i32[2]
  %1 = reshape(%x, %0) : f32[?,784]
  %2 = constant [1] : i32[1]
  %3 = constant [0] : i32[1]
  %4 = strided_slice(%x, %2, %3, %2) {begin_mask = 0, end_mask = 1, ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0} : f32[?,28,28]
  %5 = shape(%x) {dtype = i32} : i32[3]
  %6 = strided_slice(%5, %3, %2, %2) {begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0} : i32[1]
  %7 = constant 1.0 : f32
  %8 = fill(%6, %7) : f32[?]
  return %1, %4, %8
})",
       s);
  CHECK(s.result(0) == "s0,784");
  CHECK(s.result(2) == "s0");
  CHECK(s.guards() == "s0>=1 2147483647>=s0 ");
  plan::Size rest = s.shapes->dims(s.f->body.results[1])[0];
  const plan::Symbol& symbol = s.plan.symbols[plan::symbol_of(rest)];
  CHECK(symbol.kind == plan::Symbol::Kind::subtract);
  CHECK(symbol.b == 1);
  plan::Slice slice = s.shapes->slice(*s.f->body.results[1].node);
  CHECK(slice.axes[0].begin == 1);
  CHECK(slice.axes[0].length == rest);
  CHECK(s.shapes->add(rest, 1) == s.shapes->dims(s.f->body.results[0])[0]);
}

TEST_CASE("an index that is computed is read as a scalar") {
  Context c(options(1));
  Sized s;
  size(c, R"(
func @f(%x: f32[5,3], %i: i32) -> (f32[3]) {
  %0 = stack(%i) {axis = 0} : i32[1]
  %1 = constant 1 : i32
  %2 = add(%i, %1) : i32
  %3 = stack(%2) {axis = 0} : i32[1]
  %4 = constant [1] : i32[1]
  %5 = strided_slice(%x, %0, %3, %4) {begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 1} : f32[3]
  return %5
})",
       s);
  CHECK(s.result() == "3");
  plan::Slice slice = s.shapes->slice(*s.f->body.results[0].node);
  CHECK(slice.axes[0].index.node == s.f->body.params[1].get());
  CHECK(!slice.axes[1].index);
}

TEST_CASE("sizes that contradict each other have no plan") {
  Context c(options(1));
  auto f = parse_graph(c, R"(
func @f(%x: f32[?], %y: f32[3], %z: f32[4]) -> (f32[?], f32[?]) {
  %0 = add(%x, %y) : f32[?]
  %1 = add(%x, %z) : f32[?]
  return %0, %1
})");
  plan::Plan plan;
  const ir::Node* culprit = nullptr;
  CHECK(!plan::Shapes::of(c, *f, plan, &culprit));
  CHECK(culprit == f->body.nodes[1].get());
}
