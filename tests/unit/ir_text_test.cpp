// The text form of graphs: what is printed parses to a graph that prints the same; what is no graph is refused and breaks nothing.
#include <random>

#include "ir/dot.h"
#include "tests/unit/graphs.h"

namespace tfl::test {

namespace {

std::string refusal(std::string_view text) {
  Context c;
  auto parsed = ir::parse_text(c, text, "t");
  return parsed ? "accepted" : parsed.error().message;
}

// Every row of control.def but parameters.
constexpr const char* kEverything =
    R"(func @everything(%p: bool, %i: i32, %x: f32[n,3], %v: variable f32[3], %h: resource, %a: array f32[3]) -> ("first": f32[n,3], "second": i32) {
  %0 = constant "a \"quoted\" \\ line\n\x01" : str
  %1 = cond(%p, %x) : f32[n,3] then (%y: f32[n,3]) {
    yield %y
  } else (%y: f32[n,3]) {
    %2 = negative(%y) : f32[n,3]
    yield %2
  }
  %3 = switch_case(%i, %i) : i32 case (%k: i32) {
    yield %k
  } case (%4: i32) {
    %5 = constant 7 : i32
    yield %5
  }
  %6, %7 = while_loop(%i, %x, %p) {num = 2, limit = 10} : i32, f32[n,3] while (%8: i32, %9: f32[n,3], %q: bool) {
    yield %q
  } do (%10: i32, %11: f32[n,3], %12: bool) {
    yield %10, %11
  }
  %13 = call @helper(%x) : f32[n,3]
  %14 = read_variable(%v) : f32[3]
  assign_variable(%v, %14)
  %15 = is_initialized(%v) : bool
  print(%0) {stream = "stderr", end = ""}
  check(%15) {text = "not yet"}
  %16 = host_call(%h, %x) : f32[...]
  %17 = next_seed(%i) {stream = "RandomUniform", seed = -1, graph_seeds = [1, 2, 3]} : i64[3]
  %18 = array_new(%i) {dtype = f32, shape = [3], grows = true} : array f32[3]
  %19 = array_write(%18, %i, %14) : array f32[3]
  %20 = array_push(%19, %14) : array f32[3]
  %21, %22 = array_pop(%20) : array f32[3], f32[3]
  %23 = array_read(%a, %i) : f32[3]
  %24 = array_stack(%a) : f32[?,3]
  %25 = array_concat(%a) : f32[?]
  %26 = array_from(%24) : array f32[3]
  %27 = array_size(%26) : i32
  %28 = constant [0, 1] : i32[2]
  %29 = array_gather(%a, %28) : f32[2,3]
  %30 = array_scatter(%a, %28, %29) : array f32[3]
  %31 = array_split(%a, %25, %28) : array f32[3]
  %32 = array_add(%a, %i, %23) : array f32[3]
  %33 = array_zeros_like(%32) : array f32[3]
  %34 = array_sum(%32, %33) : array f32[3]
  return %7, %27
}

func @helper(%x: f32[m,3]) -> (f32[m,3]) {
  %0 = constant false : bool
  %1 = cond(%0, %x) : f32[m,3] then (%y: f32[m,3]) {
    %2 = call recursive @helper(%y) : f32[m,3]
    yield %2
  } else (%y: f32[m,3]) {
    yield %y
  }
  return %1
}
)";

}  // namespace

TEST_CASE("ir text: every control operation prints as it was read") {
  Context c;
  auto f = parse_graph(c, kEverything);
  CHECK(ir::to_text(*f) == kEverything);
  CHECK(ir::verify(c, *f).empty());
  auto copy = ir::clone(*f);
  CHECK(ir::to_text(*copy) == kEverything);
  CHECK(ir::verify(c, *copy).empty());
}

TEST_CASE("ir text: constants of every type keep their bits") {
  Context c;
  for (int i = 0; i < kDTypeCount; ++i) {
    for (const Dims& dims : {Dims{}, Dims{0, 3}, Dims{7}, Dims{2, 3, 4}}) {
      ir::Function f;
      f.name = "f";
      Tensor t = random_tensor(c, static_cast<DType>(i), dims, static_cast<uint32_t>(i));
      f.body.results.push_back(ir::append_constant(f.body, t));
      std::string text = ir::to_text(f);
      auto again = parse_graph(c, text);
      CHECK(ir::to_text(*again) == text);
      CHECK(first_difference(t, again->body.nodes[0]->constant) == -1);
    }
  }
  Tensor strange = Tensor::empty(c, DType::F32, Dims{}).take();
  uint32_t bits = 0x7fc12345;
  std::memcpy(strange.raw(), &bits, 4);
  CHECK(result_text(datum(strange)) == "0x7fc12345 : f32");
  CHECK(element_bits(parse_graph(c, "func @f() -> (f32) { %a = constant 0x7fc12345 : f32 return %a }")->body.nodes[0]->constant,
                     0) == bits);
}

TEST_CASE("ir text: large constants may go apart") {
  Context c;
  std::string elements, text;
  for (int i = 0; i < 300; ++i) elements += (i ? ", " : "") + std::to_string(i);
  text = "func @f() -> (i32[300], i32[2], f32[1000]) {\n  %0 = constant [" + elements +
         "] : i32[300]\n  %1 = constant [1, 2] : i32[2]\n  %2 = constant splat 0.5 : f32[1000]\n  return %0, %1, %2\n}\n";
  auto parsed = ir::parse_text(c, text, "t");
  REQUIRE(parsed);
  std::vector<Tensor> apart;
  ir::TextOptions options;
  options.apart = &apart;
  std::string shorter = ir::to_text(*(*parsed)[0], options);
  REQUIRE(apart.size() == 1);
  CHECK(shorter.find("constant apart 0 : i32[300]") != std::string::npos);
  CHECK(shorter.find("splat 0.5") != std::string::npos);
  auto again = ir::parse_text(c, shorter, "t", apart);
  REQUIRE(again);
  CHECK(ir::to_text(*(*again)[0]) == ir::to_text(*(*parsed)[0]));
  CHECK(refusal(shorter).find("number of a tensor that comes with the text") != std::string::npos);
  CHECK(ir::parse_text(c, "func @f() -> (i32[3]) {\n  %0 = constant apart 0 : i32[3]\n  return %0\n}\n", "t", apart)
            .error()
            .message.find("another type") != std::string::npos);
}

TEST_CASE("ir text: places and names") {
  Context c;
  const char* text = R"(func @f(%x: f32) -> (f32) {
  %0 = exp(%x) : f32 name "Exp_1" var "total" @ "a b.tfl":7:12 to 7:20 in "outer.<locals>.f"
  return %0
}
)";
  auto f = parse_graph(c, text);
  CHECK(ir::to_text(*f, {true, true, SIZE_MAX}) == text);
  const ir::Node& n = *f->body.nodes[0];
  CHECK(n.variable == "total");
  CHECK((*f->locations)[n.location].line == 7);
  CHECK(ir::to_text(*f).find("Exp_1") == std::string::npos);
}

TEST_CASE("ir text: what is refused, and where") {
  CHECK(refusal("") == "t:1:1: no function");
  CHECK(refusal("func @f() -> () {\n  %a = nothing() : f32\n  return\n}") == "t:2:8: unknown operation nothing");
  CHECK(refusal("func @f(%x: f32) -> (f32) {\n  return %y\n}") == "t:2:10: %y is not defined before in its block");
  CHECK(refusal("func @f(%x: f32, %x: f32) -> () { return }") == "t:1:25: two values of one name");
  CHECK(refusal("func @f(%x: f32[2]) -> (f32[3]) {\n %y = exp(%x) : f32[3]\n return %y }") ==
        "@f: exp: result 0 is f32[2] and not f32[3]");
  CHECK(refusal("func @f(%x: f32) -> (i32) {\n %y = exp(%x) : i32\n return %y }") == "@f: exp: result 0 is f32 and not i32");
  CHECK(refusal("func @f(%x: i32) -> (i32) {\n %y = exp(%x) : i32\n return %y }").find("@f: exp") == 0);
  CHECK(refusal("func @f() -> () {\n %y = constant [1, 2] : f32[3]\n return }").find("another number of elements") !=
        std::string::npos);
  CHECK(refusal("func @f() -> () {\n %y = constant 300 : u8\n return }").find("no element of u8") != std::string::npos);
  CHECK(refusal("func @f() -> () {\n %y = constant splat 0 : f32[4000000000,4000000000]\n return }").find("elements") !=
        std::string::npos);
  CHECK(refusal("func @f() -> () {\n call @f()\n return }").find("recursive") != std::string::npos);
  CHECK(refusal("func @f() -> () {\n call @g()\n return }\nfunc @g() -> () {\n call @f()\n return }").find("recursive") !=
        std::string::npos);
  CHECK(refusal("func @f(%p: bool) -> () {\n cond(%p) then () { yield }\n return }").find("cond") != std::string::npos);
  CHECK(
      refusal(
          "func @f(%p: bool) -> () {\n %a = constant 1 : i32\n cond(%p) then () { print(%a) yield } else () { yield }\n return }")
          .find("not defined") != std::string::npos);
  std::string deep = "func @f(%p: bool) -> () {\n";
  for (int i = 0; i < 5000; ++i) deep += "cond(%p, %p) then (%p: bool) {";
  CHECK(refusal(deep).find("nested too deeply") != std::string::npos);
}

TEST_CASE("ir text: damaged text never breaks the reader") {
  Context c;
  std::string text = kEverything;
  for (size_t i = 0; i < text.size(); i += 3) (void)ir::parse_text(c, std::string_view(text).substr(0, i), "t");
  std::mt19937 random(1);
  int accepted = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string damaged = text;
    for (int k = 0; k < 2; ++k) {
      size_t at = random() % damaged.size();
      if (random() % 3 == 0)
        damaged.erase(at, 1 + random() % 8);
      else if (random() % 2)
        damaged[at] = static_cast<char>(random() % 128);
      else
        damaged.insert(at, damaged.substr(random() % damaged.size(), 12));
    }
    auto parsed = ir::parse_text(c, damaged, "t");
    if (!parsed) continue;
    ++accepted;
    for (const auto& f : *parsed) CHECK(ir::verify(c, *f).empty());
  }
  CHECK(accepted > 0);
}

TEST_CASE("ir dot: regions are clusters") {
  Context c;
  std::string dot = ir::to_dot(*parse_graph(c, kEverything));
  auto count = [&dot](std::string_view word) {
    size_t n = 0;
    for (size_t at = dot.find(word); at != std::string::npos; at = dot.find(word, at + 1)) ++n;
    return n;
  };
  CHECK(count("subgraph cluster_") == 9);  // then, else, two cases, condition, body; of the helper: itself, then, else
  CHECK(count("{") == count("}"));
  CHECK(dot.find("while_loop") != std::string::npos);
  CHECK(dot.find("label = \"first\"") != std::string::npos);
}

}  // namespace tfl::test
