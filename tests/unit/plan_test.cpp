// What clusters become: which loops run, what is fused, where values lie; and that a plan, run element by element, gives what the
// evaluator gives.
#include "tests/catch.h"

#include "tests/tools/plan_interpreter.h"
#include "tests/unit/graphs.h"

namespace tfl::test {

namespace {

using plan::Form;
using plan::Step;

struct Planned {
  plan::Plan plan;
  std::vector<Form> forms;  // of the kernels that are not epilogues
};

Tensor input(Context& c, const TensorType& t, uint32_t seed) {
  Dims dims = t.dims;
  for (int64_t& d : dims) d = d < 0 ? 5 : d;
  return random_tensor(c, t.dtype, dims, seed, true);
}

// The plan of a graph's only function, whose results on random inputs are the evaluator's.
Planned check_plan(Context& c, std::string_view text) {
  std::shared_ptr<ir::Function> f = parse_graph(c, text);
  std::optional<plan::Plan> p = plan::build_plan(c, *f);
  REQUIRE(p);
  std::vector<ir::Datum> data;
  std::vector<Tensor> inputs, results(f->body.results.size());
  uint32_t seed = 7;
  for (const auto& param : f->body.params) {
    inputs.push_back(input(c, param->types[0].tensor, ++seed));
    data.push_back(datum(inputs.back()));
  }
  std::string expected = run_graph(c, f, data).text;
  REQUIRE(PlanRun(c, *p, inputs).run(results));
  std::string actual;
  for (const Tensor& t : results) actual += (actual.empty() ? "" : "; ") + result_text(datum(t));
  CHECK(actual == expected);
  Planned out;
  std::vector<bool> epilogue(p->kernels.size(), false);
  for (const plan::Product& product : p->products) {
    if (product.epilogue != plan::kNone) epilogue[product.epilogue] = true;
  }
  for (size_t i = 0; i < p->kernels.size(); ++i) {
    if (!epilogue[i]) out.forms.push_back(p->kernels[i].form);
  }
  out.plan = std::move(*p);
  return out;
}

using Forms = std::vector<Form>;

}  // namespace

TEST_CASE("Elementwise operations over one shape are one kernel over one axis", "[plan]") {
  Context c(options(1));
  Planned p = check_plan(c, R"(func @f(%x: f32[4,6], %b: f32[4,6], %k: f32) -> (f32[4,6], f32[4,6]) {
  %0 = exp(%x) : f32[4,6]
  %1 = multiply(%0, %b) : f32[4,6]
  %2 = multiply(%1, %k) : f32[4,6]
  %3 = subtract(%0, %k) : f32[4,6]
  return %2, %3
})");
  CHECK(p.forms == Forms{Form::map});
  CHECK(p.plan.kernels[0].axes.size() == 1);
  CHECK(p.plan.kernels[0].stages.size() == 2);
  CHECK(p.plan.slots.empty());
  CHECK(p.plan.donations.size() == 2);
}

TEST_CASE("A softmax is one kernel of three passes, of any length of its rows", "[plan]") {
  Context c(options(1));
  for (std::string n : {"40", "?"}) {
    std::string text = R"(func @f(%x: f32[?,N]) -> (f32[?,N]) {
  %0 = reduce_max(%x) {axes = [-1], keepdims = true} : f32[?,1]
  %1 = subtract(%x, %0) : f32[?,N]
  %2 = exp(%1) : f32[?,N]
  %3 = reduce_sum(%2) {axes = [-1], keepdims = true} : f32[?,1]
  %4 = divide(%2, %3) : f32[?,N]
  return %4
})";
    for (size_t at = text.find('N'); at != std::string::npos; at = text.find('N')) text.replace(at, 1, n);
    Planned p = check_plan(c, text);
    CHECK(p.forms == Forms{Form::rows});
    CHECK(p.plan.slots.empty());
    int exponentials = 0;
    for (const plan::Expr& e : p.plan.kernels[0].exprs) exponentials += e.kind == plan::ExprKind::apply && e.op == Op::exp;
    CHECK(exponentials == 1);
  }
}

TEST_CASE("Reductions of leading axes go through columns, with what comes before and after them", "[plan]") {
  Context c(options(1));
  Planned p = check_plan(c, R"(func @f(%x: f32[9,6], %b: f32[6]) -> (f32[6], f32[9,6]) {
  %0 = tanh(%x) : f32[9,6]
  %1 = reduce_sum(%0) {axes = [0]} : f32[6]
  %2 = subtract(%b, %1) : f32[6]
  return %2, %0
})");
  CHECK(p.forms == Forms{Form::columns});
  // An axis in the middle; and axes that take a copy, which the first kernel makes on its way.
  CHECK(check_plan(c, R"(func @f(%x: f16[3,4,5]) -> (f16[3,5], bf16[4]) {
  %0 = reduce_mean(%x) {axes = [1]} : f16[3,5]
  %1 = cast(%x) {dtype = bf16} : bf16[3,4,5]
  %2 = reduce_sum(%1) {axes = [0, 2]} : bf16[4]
  return %0, %2
})")
            .forms == Forms{Form::columns, Form::rows});
}

TEST_CASE("Long reductions are cut into blocks", "[plan]") {
  Context c(options(1));
  Planned p = check_plan(c, R"(func @f(%x: f32[20000], %y: i8[17000]) -> (f32, i8, f32) {
  %0 = reduce_sum(%x) : f32
  %1 = reduce_mean(%y) : i8
  %2 = sqrt(%0) : f32
  return %0, %1, %2
})");
  CHECK(p.forms == Forms{Form::blocks, Form::tree, Form::blocks, Form::tree});
  CHECK(p.plan.results[2].kind == plan::ResultPlace::Kind::scalar);
}

TEST_CASE("Elementwise users of a product are its epilogue", "[plan]") {
  Context c(options(1));
  Planned p =
      check_plan(c, R"(func @f(%x: f32[?,24], %w1: f32[24,16], %b1: f32[16], %w2: f32[16,10], %b2: f32[10]) -> (f32[?,10]) {
  %0 = matmul(%x, %w1) : f32[?,16]
  %1 = add(%0, %b1) : f32[?,16]
  %2 = relu(%1) : f32[?,16]
  %3 = matmul(%2, %w2) : f32[?,10]
  %4 = add(%3, %b2) : f32[?,10]
  return %4
})");
  CHECK(p.forms.empty());
  CHECK(p.plan.products.size() == 2);
  CHECK(p.plan.slots.size() == 1);
  // Products of matrices over one another are one; others keep their batch.
  p = check_plan(
      c,
      R"(func @f(%a: f32[2,3,4], %b: f32[4,5], %d: f32[1,4,5], %e: f32[2,4,5]) -> (f32[2,3,5], f32[2,3,5], f32[2,5,3]) {
  %0 = matmul(%a, %b) : f32[2,3,5]
  %1 = tanh(%0) : f32[2,3,5]
  %2 = matmul(%a, %d) : f32[2,3,5]
  %3 = matmul(%e, %a) {transpose_a = true, transpose_b = true} : f32[2,5,3]
  return %1, %2, %3
})");
  CHECK(p.forms.empty());
  CHECK(p.plan.products[0].batch == 1);
  CHECK(p.plan.products[2].batch == 2);
}

TEST_CASE("Convolutions and pools are products over windows", "[plan]") {
  Context c(options(1));
  // What follows is done with rows as they are finished.
  Planned p = check_plan(c, R"(func @f(%x: f32[?,9,8,3], %w: f32[3,3,3,5], %b: f32[5]) -> (f32[?,4,4,5]) {
  %0 = conv2d(%x, %w) {strides = [1, 1], dilations = [1, 1], padding = "SAME"} : f32[?,9,8,5]
  %1 = add(%0, %b) : f32[?,9,8,5]
  %2 = relu(%1) : f32[?,9,8,5]
  %3 = max_pool(%2) {strides = [2, 2], ksize = [2, 2], padding = "VALID"} : f32[?,4,4,5]
  return %3
})");
  CHECK(p.forms.empty());
  CHECK(p.plan.windows.size() == 2);
  CHECK(p.plan.products[0].epilogue != plan::kNone);
  CHECK(p.plan.slots.size() == 1);
  // Other positions still read what an epilogue reads: it does not write there.
  p = check_plan(c, R"(func @f(%x: f32[2,9,8,4], %w: f32[3,3,4,4]) -> (f32[2,9,8,4]) {
  %0 = tanh(%x) : f32[2,9,8,4]
  %1 = conv2d(%0, %w) {strides = [1, 1], dilations = [1, 1], padding = "SAME"} : f32[2,9,8,4]
  %2 = add(%1, %0) : f32[2,9,8,4]
  %3 = conv2d(%2, %w) {strides = [1, 1], dilations = [1, 1], padding = "SAME"} : f32[2,9,8,4]
  return %3
})");
  const plan::Product& first = p.plan.products[0];
  REQUIRE(first.epilogue != plan::kNone);
  const plan::Value &read = p.plan.values[first.a],
                    &written = p.plan.values[p.plan.kernels[first.epilogue].stages[0].target.value];
  REQUIRE((read.home == plan::Home::temporary && written.home == plan::Home::temporary));
  CHECK(read.index != written.index);
  // Gradients; their sizes come from what they are gradients of.
  p = check_plan(c, R"(func @f(%x: f64[?,9,8,3], %w: f64[3,3,3,5], %g: f64[?,3,2,5]) -> (f64[?,9,8,3], f64[3,3,3,5]) {
  %0 = conv2d(%x, %w) {strides = [1, 2], dilations = [1, 1], padding = "VALID"} : f64[?,7,3,5]
  %1 = max_pool(%0) {strides = [2, 1], ksize = [3, 2], padding = "VALID"} : f64[?,3,2,5]
  %2 = max_pool_grad(%0, %1, %g) {strides = [2, 1], ksize = [3, 2], padding = "VALID"} : f64[?,7,3,5]
  %3 = shape(%x) {dtype = i32} : i32[4]
  %4 = conv2d_backprop_input(%3, %w, %2) {strides = [1, 2], dilations = [1, 1], padding = "VALID"} : f64[?,9,8,3]
  %5 = constant [3, 3, 3, 5] : i32[4]
  %6 = conv2d_backprop_filter(%x, %5, %2) {strides = [1, 2], dilations = [1, 1], padding = "VALID"} : f64[3,3,3,5]
  return %4, %6
})");
  CHECK(p.plan.windows.size() == 4);  // of the pool the gradient takes the sizes alone
  // Channel by channel, averages, volumes.
  p = check_plan(
      c,
      R"(func @f(%x: f32[2,7,6,4], %w: f32[2,3,4,2], %v: f32[2,4,5,6,3], %k: f32[2,2,2,3,4]) -> (f32[2,4,3,8], f32[2,4,5,6,4]) {
  %0 = depthwise_conv2d(%x, %w) {strides = [1, 1], dilations = [1, 1], padding = "SAME"} : f32[2,7,6,8]
  %1 = avg_pool(%0) {strides = [2, 2], ksize = [3, 3], padding = "SAME"} : f32[2,4,3,8]
  %2 = conv3d(%v, %k) {strides = [1, 1, 1], dilations = [1, 1, 1], padding = "SAME"} : f32[2,4,5,6,4]
  return %1, %2
})");
  CHECK(p.plan.windows.size() == 3);
}

TEST_CASE("Views are places of elements", "[plan]") {
  Context c(options(1));
  Planned p = check_plan(c, R"(func @f(%x: f32[8,7]) -> (f32[7,3], f32[10,7], f32[8,7]) {
  %0 = constant [1, 0] : i32[2]
  %1 = constant [7, 0] : i32[2]
  %2 = constant [2, 1] : i32[2]
  %3 = strided_slice(%x, %0, %1, %2) {end_mask = 2} : f32[3,7]
  %4 = transpose(%3) : f32[7,3]
  %5 = square(%4) : f32[7,3]
  %6 = constant [1, 1, 0, 0] : i32[2,2]
  %7 = pad(%x, %6) : f32[10,7]
  %8 = reverse(%x) {axes = [1]} : f32[8,7]
  %9 = add(%8, %x) : f32[8,7]
  return %5, %7, %9
})");
  CHECK(p.forms == Forms{Form::map, Form::map, Form::map});
  CHECK(p.plan.slots.empty());
  // What a reshape cannot express is copied once; what it can is not.
  p = check_plan(c, R"(func @f(%x: f32[2,6]) -> (f32[3,4], f32[12]) {
  %0 = constant [3, 4] : i32[2]
  %1 = constant [12] : i32[1]
  %2 = transpose(%x) : f32[6,2]
  %3 = reshape(%2, %0) : f32[3,4]
  %4 = exp(%x) : f32[2,6]
  %5 = reshape(%4, %1) : f32[12]
  return %3, %5
})");
  CHECK(p.plan.slots.empty());
}

TEST_CASE("Indices are checked before they are used", "[plan]") {
  Context c(options(1));
  std::string_view text = R"(func @f(%x: f32[9,4], %i: i32[5], %k: i32) -> (f32[5,4], f32[4]) {
  %0 = gather(%x, %i) {axis = 0} : f32[5,4]
  %1 = gather(%x, %k) {axis = 0} : f32[4]
  return %0, %1
})";
  std::shared_ptr<ir::Function> f = parse_graph(c, text);
  std::optional<plan::Plan> p = plan::build_plan(c, *f);
  REQUIRE(p);
  Tensor x = random_tensor(c, DType::F32, Dims{9, 4}, 3, false);
  auto declines = [&](std::vector<int32_t> indices, int32_t k) {
    std::vector<Tensor> inputs{x, ints(c, Dims{5}, indices), ints(c, Dims{}, {k})};
    std::vector<Tensor> results(2);
    return !PlanRun(c, *p, inputs).run(results);
  };
  CHECK_FALSE(declines({0, 8, 3, 3, 1}, 8));
  CHECK(declines({0, 9, 3, 3, 1}, 8));
  CHECK(declines({0, -1, 3, 3, 1}, 8));
  CHECK(declines({0, 8, 3, 3, 1}, 9));
}

TEST_CASE("Loops over scalars have no kernels", "[plan]") {
  Context c(options(1));
  Planned p = check_plan(c, R"(func @f(%n: i32) -> (f32, i32) {
  %0 = constant 0.0 : f32
  %1 = constant 0 : i32
  %2, %3 = while_loop(%1, %0, %n) {num = 2, limit = 20} : i32, f32 while (%4: i32, %5: f32, %6: i32) {
    %7 = less(%4, %6) : bool
    yield %7
  } do (%8: i32, %9: f32, %10: i32) {
    %11 = constant 1 : i32
    %12 = add(%8, %11) : i32
    %13 = cast(%8) {dtype = f32} : f32
    %14 = square(%13) : f32
    %15 = add(%9, %14) : f32
    yield %12, %15
  }
  return %3, %2
})");
  CHECK(p.forms.empty());
}

TEST_CASE("An elementwise loop is one kernel in which elements stay in registers", "[plan]") {
  Context c(options(1));
  Planned p = check_plan(c, R"(func @f(%x: f32[5,7]) -> (f32[5,7], i32) {
  %0 = constant 0 : i32
  %1, %2 = while_loop(%0, %x, %x) {num = 2} : i32, f32[5,7] while (%i: i32, %y: f32[5,7], %z: f32[5,7]) {
    %3 = constant 6 : i32
    %4 = less(%i, %3) : bool
    yield %4
  } do (%i: i32, %y: f32[5,7], %z: f32[5,7]) {
    %5 = square(%y) : f32[5,7]
    %6 = add(%5, %z) : f32[5,7]
    %7 = constant 2.0 : f32
    %8 = minimum(%6, %7) : f32[5,7]
    %9 = constant 1 : i32
    %10 = add(%i, %9) : i32
    yield %10, %8
  }
  return %2, %1
})");
  CHECK(p.forms == Forms{Form::map});
  CHECK(p.plan.kernels[0].loops.size() == 1);
  CHECK(p.plan.slots.empty());
}

TEST_CASE("Tensors that a loop changes are written in place, or go between two places", "[plan]") {
  Context c(options(1));
  auto loop = [&](std::string next) {
    return check_plan(c, R"(func @f(%x: f32[7]) -> (f32[7], i32) {
  %0 = constant 0 : i32
  %1, %2 = while_loop(%0, %x) {num = 2} : i32, f32[7] while (%i: i32, %y: f32[7]) {
    %3 = constant 6 : i32
    %4 = less(%i, %3) : bool
    yield %4
  } do (%i: i32, %y: f32[7]) {
    %5 = reduce_max(%y) : f32
    %6 = )" + next + R"( : f32[7]
    %7 = subtract(%6, %5) : f32[7]
    %9 = constant 1 : i32
    %10 = add(%i, %9) : i32
    yield %10, %7
  }
  return %2, %1
})");
  };
  auto points = [](const plan::Plan& p) {
    size_t n = 0;
    for (const Step& s : p.body.steps) n += s.kind == Step::Kind::point;
    return n;
  };
  CHECK(points(loop("square(%y)").plan) == 0);
  CHECK(points(loop("reverse(%y) {axes = [0]}").plan) == 2);
}

TEST_CASE("Long loops that do not need one another run side by side", "[plan]") {
  Context c(options(1));
  auto two = [&](std::string first, std::string limit) {
    auto loop = [&](const std::string& i, const std::string& y, const std::string& from, const std::string& rest) {
      return i + ", " + y + " = while_loop(%0, " + from + R"() {num = 2} : i32, f32[40,40] while (%i: i32, %y: f32[40,40]) {
    %l = constant )" +
             limit + R"( : i32
    %p = less(%i, %l) : bool
    yield %p
  } do (%i: i32, %y: f32[40,40]) {
    %m = matmul(%y, %y) : f32[40,40]
    %t = tanh(%m) : f32[40,40]
    %r = )" + rest +
             R"( : f32[40,40]
    %one = constant 1 : i32
    %j = add(%i, %one) : i32
    yield %j, %r
  })";
    };
    plan::Plan p =
        check_plan(
            c, "func @f(%x: f32[40,40]) -> (f32[40,40], i32) {\n  %0 = constant 0 : i32\n  %a = negative(%x) : f32[40,40]\n  " +
                   loop("%1", "%2", "%a", "reverse(%t) {axes = [0]}") + "\n  %b = exp(" + first + ") : f32[40,40]\n  " +
                   loop("%3", "%4", "%b", "square(%t)") +
                   "\n  %5 = add(%2, %4) : f32[40,40]\n  %6 = add(%1, %3) : i32\n  return %5, %6\n}")
            .plan;
    size_t n = 0;
    for (const plan::Step& s : p.body.steps) n += s.beside;
    return n;
  };
  CHECK(two("%x", "40") == 1);
  CHECK(two("%2", "40") == 0);  // one after the other
}

TEST_CASE("Branches write results where they belong", "[plan]") {
  Context c(options(1));
  Planned p = check_plan(c, R"(func @f(%x: f32[6,5], %k: f32) -> (f32[6,5], f32[6,5], f32) {
  %0 = constant 0.0 : f32
  %1 = greater(%k, %0) : bool
  %2, %3, %4 = cond(%1, %x, %k) : f32[6,5], f32[6,5], f32 then (%a: f32[6,5], %b: f32) {
    %5 = exp(%a) : f32[6,5]
    %6 = square(%b) : f32
    yield %5, %a, %6
  } else (%a: f32[6,5], %b: f32) {
    %5 = constant splat 2.0 : f32[6,5]
    %6 = add(%5, %b) : f32[6,5]
    yield %6, %6, %b
  }
  return %2, %3, %4
})");
  CHECK(p.forms == Forms{Form::map, Form::map});
  CHECK(p.plan.slots.empty());
}

TEST_CASE("What no kernel can say is a call of a routine between kernels", "[plan]") {
  Context c(options(1));
  struct Case {
    const char* call;
    const char* result;
    Routine routine;
  };
  const Case cases[] = {
      {"cumsum(%0) {axis = 1, exclusive = true}", "f32[6,9]", Routine::scan},
      {"cumprod(%0) {axis = 0, reverse = true}", "f32[6,9]", Routine::scan},
      {"argmax(%0) {axis = 1}", "i64[6]", Routine::arg},
      {"argmin(%0) {axis = 0, dtype = i32}", "i32[9]", Routine::arg},
      {"sort(%0) {axis = -1, descending = true}", "f32[6,9]", Routine::sort},
      {"argsort(%0) {axis = -1}", "i32[6,9]", Routine::sort},
      {"tensor_scatter_add(%0, %at, %rows)", "f32[6,9]", Routine::scatter},
      {"tensor_scatter_update(%0, %at, %rows)", "f32[6,9]", Routine::scatter},
      {"unsorted_segment_sum(%0, %ids, %three)", "f32[3,9]", Routine::segment},
      {"unsorted_segment_max(%0, %ids, %three)", "f32[3,9]", Routine::segment},
      {"stateless_uniform(%dims, %seed) {dtype = f32}", "f32[6,9]", Routine::random},
      {"stateless_normal(%dims, %seed) {dtype = f32}", "f32[6,9]", Routine::random},
  };
  for (const Case& k : cases) {
    std::string type = k.result, call = k.call;
    INFO(call);
    Planned p = check_plan(c, "func @f(%x: f32[6,9], %rows: f32[2,9]) -> (" + type + R"() {
  %at = constant [4, 1] : i32[2,1]
  %ids = constant [0, 2, 2, 1, 0, 2] : i32[6]
  %three = constant 3 : i32
  %dims = constant [6, 9] : i32[2]
  %seed = constant [3, 5] : i32[2]
  %0 = square(%x) : f32[6,9]
  %1 = )" + call + " : " + type +
                                  "\n  %2 = add(%1, %1) : " + type + "\n  return %2\n}");
    REQUIRE(p.plan.routines.size() == 1);
    CHECK(p.plan.routines[0].routine == k.routine);
    CHECK(p.forms.size() == (k.routine == Routine::random ? 1 : 2));
  }
}

TEST_CASE("Many rows of few columns are reduced in blocks", "[plan]") {
  Context c(options(1));
  auto reduced = [&](std::string_view dims, std::string_view op, std::string_view result) {
    return check_plan(c, "func @f(%x: " + std::string(dims) + ") -> (" + std::string(result) +
                             ") {\n  %0 = negative(%x) : " + std::string(dims) + "\n  %1 = " + std::string(op) +
                             "(%0) {axes = [0]} : " + std::string(result) + "\n  return %1\n}")
        .forms;
  };
  Forms blocks{Form::columns, Form::columns, Form::tree};
  CHECK(reduced("f32[33000,3]", "reduce_sum", "f32[3]") == blocks);
  CHECK(reduced("f16[32769,2]", "reduce_mean", "f16[2]") == blocks);
  CHECK(reduced("i8[40000,3]", "reduce_mean", "i8[3]") == blocks);
  CHECK(reduced("i32[32768,2,2]", "reduce_max", "i32[2,2]") == Forms{Form::columns, Form::tree});
  CHECK(reduced("f32[30000,3]", "reduce_sum", "f32[3]") == Forms{Form::columns});
}

TEST_CASE("Sizes that only the run knows become symbols", "[plan]") {
  Context c(options(1));
  Planned p = check_plan(c, R"(func @f(%x: f32[?,4], %y: f32[?,4]) -> (f32[?,8], f32, f32[?]) {
  %0 = add(%x, %y) : f32[?,4]
  %1 = concat(%0, %x) {axis = 1} : f32[?,8]
  %2 = reduce_mean(%1) : f32
  %3 = shape(%x) {dtype = i32} : i32[2]
  %b = constant [0] : i32[1]
  %o = constant [1] : i32[1]
  %4 = strided_slice(%3, %b, %o, %o) {shrink_axis_mask = 1} : i32
  %5 = cast(%4) {dtype = f32} : f32
  %6 = multiply(%2, %5) : f32
  %7 = reduce_max(%0) {axes = [1]} : f32[?]
  return %1, %6, %7
})");
  CHECK_FALSE(p.plan.guards.empty());
}

}  // namespace tfl::test
