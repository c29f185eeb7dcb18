// What the driver of a plan does: scalar steps, branches, loops, addresses that change, products, and the ways to leave early. The plans
// are made by hand, compiled, loaded and run.
#include <algorithm>

#include "tests/unit/plans.h"

using namespace tfl;
using namespace tfl::test_plans;

namespace {

// s = 0; i = 0; while i < n: s += i * i; i += 1
struct SquareSum {
  Maker m;
  ValueId n, sum, count;
  explicit SquareSum(int64_t limit = -1) {
    n = m.memory(DType::I64, {}, Home::input);
    Block& body = m.p.body;
    ValueId bound = m.load(body, n), zero = m.constant(body, DType::I64, 0), one = m.constant(body, DType::I64, 1);
    Step loop = step(Step::Kind::loop);
    loop.limit = limit;
    loop.initial = {zero, zero};
    Block condition, next;
    condition.params = {m.scalar(DType::I64), m.scalar(DType::I64)};
    condition.results = {m.apply(condition, Op::less, DType::Bool, {condition.params[0], bound})};
    next.params = {m.scalar(DType::I64), m.scalar(DType::I64)};
    ValueId square = m.apply(next, Op::multiply, DType::I64, {next.params[0], next.params[0]});
    next.results = {m.apply(next, Op::add, DType::I64, {next.params[0], one}),
                    m.apply(next, Op::add, DType::I64, {next.params[1], square})};
    loop.blocks.push_back(std::move(condition));
    loop.blocks.push_back(std::move(next));
    count = m.scalar(DType::I64, true), sum = m.scalar(DType::I64, true);
    loop.results = {count, sum};
    body.steps.push_back(std::move(loop));
  }
};

}  // namespace

TEST_CASE("driver: scalars and what the caller reads of them") {
  Maker m;
  ValueId x = m.memory(DType::F32, {}, Home::input), y = m.memory(DType::F32, {3}, Home::input);
  Block& b = m.p.body;
  ValueId first = m.load(b, x), third = m.load(b, y, 2);
  ValueId sum = m.apply(b, Op::add, DType::F32, {first, third}, true);
  ValueId smaller = m.apply(b, Op::less, DType::Bool, {first, third}, true);
  Run run(m.p);
  float a = 1.5f, c[] = {9, 9, 2.25f};
  run.set(m.word(x), &a);
  run.set(m.word(y), c);
  CHECK(run() == kDone);
  CHECK(run.as<float>(m.word(sum)) == 3.75f);
  CHECK(run.as<uint8_t>(m.word(smaller)) == 1);
  a = 4;
  CHECK(run() == kDone);
  CHECK(run.as<uint8_t>(m.word(smaller)) == 0);
}

TEST_CASE("driver: half types keep their rounding in registers and their 16 bits in the frame") {
  Maker m;
  Block& b = m.p.body;
  ValueId one = m.constant(b, DType::F16, 0x3c00), tiny = m.constant(b, DType::F16, 0x1000);  // 1 and 2^-11
  ValueId sum = m.apply(b, Op::add, DType::F16, {one, tiny}, true);
  ValueId bf = m.constant(b, DType::BF16, 0x4049);
  ValueId twice = m.apply(b, Op::add, DType::BF16, {bf, bf}, true);
  Run run(m.p);
  CHECK(run() == kDone);
  CHECK(run.as<uint16_t>(m.word(sum)) == 0x3c00);
  CHECK(run.as<uint16_t>(m.word(twice)) == 0x40c9);
}

TEST_CASE("driver: sizes and elements at computed places") {
  Maker m;
  m.p.symbols.push_back({plan::Symbol::Kind::dim, 0, 0});
  m.p.words = 1;
  ValueId x = m.memory(DType::I32, {~int64_t(0)}, Home::input), at = m.memory(DType::I32, {}, Home::input);
  Block& b = m.p.body;
  Expr size;
  size.kind = ExprKind::size;
  size.dtype = DType::I32;
  size.size = ~int64_t(0);
  ValueId n = m.give(b, size), index = m.load(b, at);
  ValueId inside = m.apply(b, Op::less, DType::Bool, {index, n});
  ValueId element = m.load(b, x, 0, index, 1, inside);
  ValueId farther = m.load(b, x, 1, index, 2);
  ValueId sum = m.apply(b, Op::add, DType::I32, {element, farther}, true);
  Run run(m.p);
  int32_t data[] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100}, i = 1;
  run.word(0) = 5;
  run.set(m.word(x), data);
  run.set(m.word(at), &i);
  CHECK(run() == kDone);
  CHECK(run.as<int32_t>(m.word(sum)) == 20 + 40);
  i = 4;
  run.word(0) = 3;  // 4 is outside then, and reads zero
  CHECK(run() == kDone);
  CHECK(run.as<int32_t>(m.word(sum)) == 0 + 100);
}

TEST_CASE("driver: a loop over scalars") {
  SquareSum s;
  Run run(s.m.p);
  int64_t n = 1000;
  run.set(s.m.word(s.n), &n);
  CHECK(run() == kDone);
  CHECK(run.word(s.m.word(s.sum)) == 332833500);
  CHECK(run.word(s.m.word(s.count)) == 1000);
  n = 0;
  CHECK(run() == kDone);
  CHECK(run.word(s.m.word(s.sum)) == 0);
}

TEST_CASE("driver: a loop stops at its limit, and when it is interrupted") {
  SquareSum s(7);
  Run run(s.m.p);
  int64_t n = 1000;
  run.set(s.m.word(s.n), &n);
  CHECK(run() == kDone);
  CHECK(run.word(s.m.word(s.count)) == 7);
  CHECK(run.word(s.m.word(s.sum)) == 91);
  n = 3;
  CHECK(run() == kDone);
  CHECK(run.word(s.m.word(s.count)) == 3);
  SquareSum endless;
  Run other(endless.m.p);
  n = INT64_MAX;
  other.set(endless.m.word(endless.n), &n);
  other.interrupt = 1;
  CHECK(other() == kInterrupted);
}

TEST_CASE("driver: branches") {
  for (DType type : {DType::Bool, DType::I32}) {
    Maker m;
    ValueId which = m.memory(type, {}, Home::input);
    ValueId condition = m.load(m.p.body, which);
    Step branch = step(Step::Kind::branch);
    branch.condition = condition;
    for (int i = 0; i < (type == DType::Bool ? 2 : 4); ++i) {
      Block b;
      b.results = {m.constant(b, DType::I64, static_cast<uint64_t>(10 * i)), m.constant(b, DType::Bool, i & 1)};
      branch.blocks.push_back(std::move(b));
    }
    ValueId number = m.scalar(DType::I64, true), odd = m.scalar(DType::Bool, true);
    branch.results = {number, odd};
    m.p.body.steps.push_back(std::move(branch));
    Run run(m.p);
    int32_t index = 0;
    run.set(m.word(which), &index);
    auto result = [&](int32_t i) {
      index = i;
      CHECK(run() == kDone);
      CHECK(run.as<uint8_t>(m.word(odd)) == (run.word(m.word(number)) / 10 & 1));
      return run.word(m.word(number));
    };
    if (type == DType::Bool) {
      CHECK(result(1) == 0);
      CHECK(result(0) == 10);
    } else {
      CHECK(result(0) == 0);
      CHECK(result(1) == 10);
      CHECK(result(2) == 20);
      CHECK(result(3) == 30);
      CHECK(result(4) == 30);
      CHECK(result(-1) == 30);
    }
  }
}

TEST_CASE("driver: a loop in a loop, with a branch in it") {
  // total = 0; for i < 10: for j < i: total += j if j < 5 else 1
  Maker m;
  Block& body = m.p.body;
  ValueId zero = m.constant(body, DType::I64, 0), one = m.constant(body, DType::I64, 1), five = m.constant(body, DType::I64, 5),
          ten = m.constant(body, DType::I64, 10);
  auto count_to = [&](ValueId bound, ValueId from, bool visible, auto&& inside) {
    Step loop = step(Step::Kind::loop);
    loop.initial = {zero, from};
    Block condition, next;
    condition.params = {m.scalar(DType::I64), m.scalar(DType::I64)};
    condition.results = {m.apply(condition, Op::less, DType::Bool, {condition.params[0], bound})};
    next.params = {m.scalar(DType::I64), m.scalar(DType::I64)};
    ValueId total = inside(next, next.params[0], next.params[1]);
    next.results = {m.apply(next, Op::add, DType::I64, {next.params[0], one}), total};
    loop.blocks.push_back(std::move(condition));
    loop.blocks.push_back(std::move(next));
    loop.results = {m.scalar(DType::I64), m.scalar(DType::I64, visible)};
    return loop;
  };
  Step outer = count_to(ten, zero, true, [&](Block& b, ValueId i, ValueId total) {
    Step inner = count_to(i, total, false, [&](Block& c, ValueId j, ValueId sum) {
      Step branch = step(Step::Kind::branch);
      branch.condition = m.apply(c, Op::less, DType::Bool, {j, five});
      Block yes, no;
      yes.results = {j};
      no.results = {one};
      branch.blocks.push_back(std::move(yes));
      branch.blocks.push_back(std::move(no));
      branch.results = {m.scalar(DType::I64)};
      ValueId chosen = branch.results[0];
      c.steps.push_back(std::move(branch));
      return m.apply(c, Op::add, DType::I64, {sum, chosen});
    });
    ValueId sum = inner.results[1];
    b.steps.push_back(std::move(inner));
    return sum;
  });
  ValueId total = outer.results[1];
  body.steps.push_back(std::move(outer));
  Run run(m.p);
  int64_t expected = 0;
  for (int64_t i = 0; i < 10; ++i) {
    for (int64_t j = 0; j < i; ++j) expected += j < 5 ? j : 1;
  }
  CHECK(run() == kDone);
  CHECK(run.word(m.word(total)) == expected);
}

TEST_CASE("driver: what would raise ends the run") {
  Maker m;
  ValueId x = m.memory(DType::I32, {2}, Home::input), allowed = m.memory(DType::Bool, {}, Home::input);
  Block& b = m.p.body;
  ValueId quotient = m.apply(b, Op::floordiv, DType::I32, {m.load(b, x), m.load(b, x, 1)}, true);
  Step check = step(Step::Kind::check);
  check.condition = m.load(b, allowed);
  b.steps.push_back(std::move(check));
  Run run(m.p);
  int32_t data[] = {42, 5};
  bool yes = true;
  run.set(m.word(x), data);
  run.set(m.word(allowed), &yes);
  CHECK(run() == kDone);
  CHECK(run.as<int32_t>(m.word(quotient)) == 8);
  data[1] = 0;
  CHECK(run() == kFailed);
  data[1] = 1;
  yes = false;
  CHECK(run() == kFailed);
}

TEST_CASE("driver: addresses that change places in a loop") {
  // p and q begin as two inputs; each iteration swaps them; what p points to in the end is read.
  Maker m;
  ValueId a = m.memory(DType::F64, {1}, Home::input), c = m.memory(DType::F64, {1}, Home::input),
          n = m.memory(DType::I64, {}, Home::input);
  ValueId p = m.memory(DType::F64, {1}, Home::pointer), q = m.memory(DType::F64, {1}, Home::pointer),
          t = m.memory(DType::F64, {1}, Home::pointer);
  Block& b = m.p.body;
  auto point = [&](Block& in, ValueId to, ValueId from) {
    Step s = step(Step::Kind::point);
    s.result = to;
    s.from = from;
    in.steps.push_back(std::move(s));
  };
  point(b, p, a);
  point(b, q, c);
  ValueId zero = m.constant(b, DType::I64, 0), one = m.constant(b, DType::I64, 1), bound = m.load(b, n);
  Step loop = step(Step::Kind::loop);
  loop.initial = {zero};
  Block condition, next;
  condition.params = {m.scalar(DType::I64)};
  condition.results = {m.apply(condition, Op::less, DType::Bool, {condition.params[0], bound})};
  next.params = {m.scalar(DType::I64)};
  point(next, t, p);
  point(next, p, q);
  point(next, q, t);
  next.results = {m.apply(next, Op::add, DType::I64, {next.params[0], one})};
  loop.blocks.push_back(std::move(condition));
  loop.blocks.push_back(std::move(next));
  loop.results = {m.scalar(DType::I64)};
  b.steps.push_back(std::move(loop));
  ValueId read = m.load(b, p);
  ValueId twice = m.apply(b, Op::add, DType::F64, {read, read}, true);
  Run run(m.p);
  double x = 1.25, y = -3;
  int64_t count = 4;
  run.set(m.word(a), &x);
  run.set(m.word(c), &y);
  run.set(m.word(n), &count);
  CHECK(run() == kDone);
  CHECK(run.as<double>(m.word(twice)) == 2.5);
  count = 5;
  CHECK(run() == kDone);
  CHECK(run.as<double>(m.word(twice)) == -6);
}

namespace {

// r[i] = a[i] // b[i], a step of `b`; a kernel over `size` elements.
void divide(Maker& m, Block& b, plan::Size size, ValueId x, ValueId y, ValueId r) {
  plan::Kernel kernel;
  kernel.axes = {size};
  kernel.name = "floordiv";
  auto add = [&](Expr e) {
    kernel.exprs.push_back(std::move(e));
    return static_cast<plan::ExprId>(kernel.exprs.size() - 1);
  };
  auto element = [&](ValueId of) {
    Expr e;
    e.kind = ExprKind::load;
    e.dtype = DType::I32;
    e.access.value = of;
    e.access.strides = {1};
    return add(std::move(e));
  };
  Expr quotient;
  quotient.kind = ExprKind::apply;
  quotient.op = Op::floordiv;
  quotient.dtype = DType::I32;
  quotient.operands = {element(x), element(y)};
  plan::Stage store;
  store.expr = add(std::move(quotient));
  store.target.value = r;
  store.target.strides = {1};
  kernel.stages.push_back(std::move(store));
  m.p.kernels.push_back(std::move(kernel));
  Step s = step(Step::Kind::kernel);
  s.index = static_cast<uint32_t>(m.p.kernels.size() - 1);
  b.steps.push_back(std::move(s));
}

}  // namespace

TEST_CASE("driver: kernels that fail end a loop, whatever their size") {
  for (int64_t size : {3, 1000, 1 << 20}) {  // part of the driver, a call, all threads
    // while True: b[0] = a // b
    Maker m;
    ValueId a = m.memory(DType::I32, {size}, Home::input), b = m.memory(DType::I32, {size}, Home::temporary);
    Step loop = step(Step::Kind::loop);
    Block condition, next;
    condition.results = {m.constant(condition, DType::Bool, 1)};
    divide(m, next, size, a, b, b);
    loop.blocks.push_back(std::move(condition));
    loop.blocks.push_back(std::move(next));
    m.p.body.steps.push_back(std::move(loop));
    Run run(m.p);
    run.services.parallel = [](Frame* frame, KernelFunction kernel, int64_t units, int64_t grain) {
      ++*static_cast<int64_t*>(frame->self);
      for (int64_t i = 0; i < units; i += grain) kernel(frame, i, std::min(i + grain, units));
    };
    int64_t shared = 0;
    run.frame()->self = &shared;
    std::vector<int32_t> x(static_cast<size_t>(size), 1), y(static_cast<size_t>(size), 1);
    x.back() = 7;
    y.back() = 9;  // 7 // 9 is 0, then 7 // 0 raises
    run.set(m.word(a), x.data());
    run.set(m.word(b), y.data());
    CHECK(run() == kFailed);
    CHECK(y[0] == 1);
    CHECK((shared > 0) == (size == 1 << 20));
    std::string text = compile(m.p, CompileRequest::Output::assembly);
    CHECK((text.find("call") == std::string::npos) == (size == 3));
  }
}

TEST_CASE("driver: a product is a call with sizes and strides") {
  struct Seen {
    ProductCall call;
    int64_t times;
  };
  for (bool transposed : {false, true}) {
    Maker m;
    m.p.symbols.push_back({plan::Symbol::Kind::dim, 0, 0});
    m.p.words = 1;
    ValueId a = m.memory(DType::F32, {}, Home::input), b = m.memory(DType::F32, {}, Home::input),
            r = m.memory(DType::F32, {}, Home::result);
    plan::Product product;
    product.a = a, product.b = b, product.result = r;
    product.transpose_a = product.transpose_b = transposed;
    product.batch = 2, product.m = ~int64_t(0), product.n = 3, product.k = 4;
    product.a_batch = 40;
    m.p.products.push_back(product);
    m.p.body.steps.push_back(step(Step::Kind::product));
    Run run(m.p);
    run.services.product = [](Frame* frame, const ProductCall* call) { *static_cast<Seen*>(frame->self) = {*call, 1}; };
    Seen seen{};
    float data[3] = {};
    run.frame()->self = &seen;
    run.word(0) = 10;
    run.set(m.word(a), data);
    run.set(m.word(b), data + 1);
    run.set(m.word(r), data + 2);
    CHECK(run() == kDone);
    CHECK(seen.times == 1);
    const ProductCall& c = seen.call;
    CHECK((c.a == data && c.b == data + 1 && c.result == data + 2 && c.epilogue == nullptr));
    CHECK(c.dtype == static_cast<int64_t>(DType::F32));
    CHECK((c.batch == 2 && c.m == 10 && c.n == 3 && c.k == 4 && c.a_batch == 40 && c.b_batch == 0));
    CHECK((transposed ? c.a_row == 1 && c.a_k == 10 && c.b_k == 1 && c.b_col == 4
                      : c.a_row == 4 && c.a_k == 1 && c.b_k == 3 && c.b_col == 1));
    run.frame()->failed = 1;  // as an epilogue would set it
    CHECK(run() == kFailed);
  }
}

TEST_CASE("driver: the same plan gives the same bytes, and calls nothing") {
  SquareSum s;
  CHECK(compile(s.m.p) == compile(s.m.p));
  std::string text = compile(s.m.p, CompileRequest::Output::assembly);
  CHECK(text.find("tfl_run:") != std::string::npos);
  CHECK(text.find("call") == std::string::npos);
  CHECK(compile(s.m.p, CompileRequest::Output::llvm).find("i64 @tfl_run(") != std::string::npos);
}

TEST_CASE("driver: machine code knows the lines of the script") {
  SquareSum s;
  uint32_t location = 0;
  for (Step& step : s.m.p.body.steps) step.location = ++location;
  s.m.p.body.steps.back().blocks[1].steps[0].expr.location = 5;
  LineTable lines;
  lines.lines = {{}, {"sums.tfl", "squares", 10}, {"sums.tfl", "squares", 11},
                 {}, {"other.tfl", "step", 20},   {"other.tfl", "step", 21}};
  CompileRequest request;
  request.plan = &s.m.p;
  request.lines = &lines;
  CompileResult object, text;
  compile_plan(request, object);
  REQUIRE(object.error == "");
  REQUIRE(LoadedCode::load(object.bytes));
  CHECK(object.bytes.find(".debug_line") != std::string::npos);
  request.output = CompileRequest::Output::assembly;
  compile_plan(request, text);
  CHECK(text.bytes.find("sums.tfl") != std::string::npos);
  CHECK(text.bytes.find("other.tfl") != std::string::npos);
}

TEST_CASE("driver: code for other processors") {
  SquareSum s;
  for (Cpu cpu : {Cpu::x86_64_v3, Cpu::x86_64_v4, Cpu::aarch64}) {
    CompileRequest request;
    request.plan = &s.m.p;
    request.cpu = cpu;
    request.entry = "square_sum";
    CompileResult result;
    compile_plan(request, result);
    CHECK(result.error == "");
    CHECK(result.bytes.substr(0, 4) ==
          "\x7f"
          "ELF");
    CHECK(result.bytes.find("square_sum") != std::string::npos);
  }
}

TEST_CASE("driver: a plan that makes no sense is an error of the compiler") {
  auto error = [](const Plan& p) {
    CompileRequest request;
    request.plan = &p;
    CompileResult result;
    compile_plan(request, result);
    CHECK(result.bytes == "");
    return result.error;
  };
  Maker undefined;
  undefined.apply(undefined.p.body, Op::add, DType::F32, {undefined.scalar(DType::F32), undefined.scalar(DType::F32)});
  CHECK(error(undefined.p) == "a scalar of the plan is used before it has a value");
  Maker mistyped;
  Expr e;
  e.dtype = DType::F32;
  Step s = step(Step::Kind::scalar);
  s.expr = e;
  s.result = mistyped.scalar(DType::F64);
  mistyped.p.body.steps.push_back(std::move(s));
  CHECK(error(mistyped.p) == "a scalar of the plan has another type than its value");
  Maker strange;
  e.kind = ExprKind::index;
  strange.give(strange.p.body, e);
  CHECK(error(strange.p) == "an expression of a kernel among the steps of a plan");
  SquareSum half;
  half.m.p.body.steps.back().blocks[1].results.pop_back();
  CHECK(error(half.m.p) == "a loop of the plan whose parts do not fit");
}
