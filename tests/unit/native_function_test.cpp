// Running the code of a plan on tensors. The code here is C++ that reads the frame as machine code does.
#include "codegen/jit/native_function.h"

#include <xmmintrin.h>

#include <cstring>
#include <thread>
#include "tests/catch.h"

#include "codegen/load/services.h"
#include "runtime/kernels/context_workers.h"
#include "runtime/ops/op.h"
#include "tests/unit/tensors.h"

using namespace tfl;
using namespace tfl::plan;
using codegen::Frame;
using codegen::NativeFunction;

namespace {

constexpr Size kSymbol0 = ~Size{0}, kSymbol1 = ~Size{1}, kSymbol2 = ~Size{2};

Value value(DType dtype, Sizes dims, Home home, uint32_t index, uint32_t word) {
  Value v;
  v.dtype = dtype;
  v.dims = std::move(dims);
  v.home = home;
  v.index = index;
  v.word = word;
  return v;
}

Tensor vector(Context& context, std::initializer_list<float> items) {
  Tensor t = Tensor::empty(context, DType::F32, Dims{static_cast<int64_t>(items.size())}).take();
  std::copy(items.begin(), items.end(), t.data<float>());
  return t;
}
Tensor ramp(Context& context, Dims dims) {
  Tensor t = Tensor::empty(context, DType::F32, dims).take();
  for (int64_t i = 0; i < t.size(); ++i) t.data<float>()[i] = static_cast<float>(i % 97) * 0.25f - 7;
  return t;
}

// result[i] = input[i] + constant[i], input[?] (symbol 0), through a slot of as many elements; and the sum of symbol 0 and 1 as
// a scalar.
Plan add_plan() {
  Plan p;
  p.name = "add";
  p.inputs = {{DType::F32, Sizes{kSymbol0}}};
  p.symbols = {{Symbol::Kind::dim, 0, 0, 0, 0}, {Symbol::Kind::multiply, 0, 0, kSymbol0, 4}};
  p.slots = {kSymbol1};
  p.values = {value(DType::F32, {kSymbol0}, Home::input, 0, 2), value(DType::F32, {1}, Home::constant, 0, 3),
              value(DType::F32, {kSymbol0}, Home::temporary, 0, 4), value(DType::F32, {kSymbol0}, Home::result, 0, 5),
              value(DType::I32, {}, Home::scalar, 0, 6)};
  p.results = {{ResultPlace::Kind::memory, 0, DType::F32, {kSymbol0}}, {ResultPlace::Kind::scalar, 4, DType::I32, {}}};
  p.words = 7;
  return p;
}
int64_t add_code(Frame* f) {
  int64_t n = f->words[0];
  auto* x = reinterpret_cast<const float*>(f->words[2]);
  auto* c = reinterpret_cast<const float*>(f->words[3]);
  auto* t = reinterpret_cast<float*>(f->words[4]);
  auto* r = reinterpret_cast<float*>(f->words[5]);
  for (int64_t i = 0; i < n; ++i) t[i] = x[i] + c[0];
  for (int64_t i = 0; i < n; ++i) r[i] = t[i];
  f->words[6] = static_cast<int64_t>(0xABCDEF0000000000) + (f->words[0] + f->words[1]);
  return codegen::kDone;
}

struct Runner {
  explicit Runner(Plan p, std::vector<Tensor> constants = {})
      : function(std::make_shared<const Plan>(std::move(p)), std::move(constants)) {
    REQUIRE(function.usable());
  }
  bool run(Context& context, codegen::EntryFunction code, std::vector<Tensor>& inputs, size_t count) {
    results.assign(count, Tensor());
    return function.run(context, code, inputs, results);
  }
  NativeFunction function;
  std::vector<Tensor> results;
};

}  // namespace

TEST_CASE("sizes, slots, constants and results of one run", "[jit]") {
  Context context;
  Runner r(add_plan(), {vector(context, {0.5f})});
  for (int64_t n : {0, 1, 3, 500, 200000}) {
    INFO(n);
    std::vector<Tensor> inputs = {ramp(context, Dims{n})};
    size_t before = context.memory.live_bytes();
    REQUIRE(r.run(context, add_code, inputs, 2));
    REQUIRE(r.results[0].size() == n);
    for (int64_t i = 0; i < n; ++i) REQUIRE(r.results[0].data<float>()[i] == inputs[0].data<float>()[i] + 0.5f);
    CHECK(r.results[1].rank() == 0);
    CHECK(*r.results[1].data<int32_t>() == n + 4 * n);
    r.results.clear();
    CHECK(context.memory.live_bytes() == before);
  }
}

TEST_CASE("runs that have begun are executed by other threads and ended in any order", "[jit][threads]") {
  Context context;
  Runner r(add_plan(), {vector(context, {0.5f})});
  const size_t before = context.memory.live_bytes();
  {
    std::vector<Tensor> inputs;
    std::vector<std::unique_ptr<ir::BegunRun>> runs;
    for (int64_t n : {0, 3, 500, 70000, 4}) {
      inputs.push_back(ramp(context, Dims{n}));
      runs.push_back(r.function.begin(context, add_code, {&inputs.back(), 1}));
      REQUIRE(runs.back());
      CHECK(runs.back()->bytes >= static_cast<size_t>(n) * sizeof(float));
    }
    std::atomic<uint32_t> stop{0};
    std::vector<std::thread> threads;
    for (size_t i = 1; i < runs.size(); ++i) {
      threads.emplace_back([&, i] { runs[i]->execute(alone(context, stop), false); });
    }
    runs[0]->execute(workers_of(context), true);
    for (std::thread& t : threads) t.join();
    for (size_t i = runs.size(); i-- > 0;) {
      std::vector<Tensor> results(2);
      REQUIRE(runs[i]->finish(results));
      REQUIRE(results[0].size() == inputs[i].size());
      CHECK_FALSE(results[0].same_object(inputs[i]));
      for (int64_t k = 0; k < inputs[i].size(); ++k) {
        REQUIRE(results[0].data<float>()[k] == inputs[i].data<float>()[k] + 0.5f);
      }
      CHECK(*results[1].data<int32_t>() == 5 * inputs[i].size());
    }
    // One that nobody executes, one that was stopped, one that does not fit.
    CHECK_FALSE(r.function.begin(context, add_code, {&inputs[1], 1})->finish({}));
    auto stopped = r.function.begin(context, add_code, {&inputs[1], 1});
    stop = 1;
    stopped->execute(alone(context, stop), true);
    std::vector<Tensor> results(2);
    CHECK_FALSE(stopped->finish(results));
    CHECK_FALSE(r.function.begin(context, add_code, {}));
  }
  CHECK(context.memory.live_bytes() == before);
}

TEST_CASE("inputs with gaps are copied", "[jit]") {
  Context context;
  Runner r(add_plan(), {vector(context, {1})});
  Tensor base = ramp(context, Dims{100});
  std::vector<Tensor> inputs = {Tensor::view(context, base, Dims{50}, Dims{-2}, 99)};
  REQUIRE(r.run(context, add_code, inputs, 2));
  for (int i = 0; i < 50; ++i) REQUIRE(r.results[0].data<float>()[i] == base.data<float>()[99 - 2 * i] + 1);
}

TEST_CASE("what does not fit is declined and changes nothing", "[jit]") {
  Context context;
  Plan p = add_plan();
  p.guards = {{Guard::Kind::at_least, kSymbol0, 4}};
  Runner r(p, {vector(context, {1})});
  auto declined = [&](Tensor t) {
    std::vector<Tensor> inputs = {t};
    bool done = r.run(context, add_code, inputs, 2);
    CHECK(inputs[0].same_object(t));
    CHECK((done || (!r.results[0] && !r.results[1])));
    return !done;
  };
  CHECK_FALSE(declined(ramp(context, Dims{4})));
  CHECK(declined(ramp(context, Dims{3})));
  CHECK(declined(ramp(context, Dims{2, 2})));
  CHECK(declined(Tensor::empty(context, DType::I32, Dims{8}).take()));
  std::vector<Tensor> none;
  CHECK_FALSE(r.run(context, add_code, none, 2));

  // Symbols: overflow, division by zero, negative sizes.
  p = add_plan();
  p.symbols[1] = {Symbol::Kind::multiply, 0, 0, kSymbol0, INT64_MAX / 2};
  CHECK_FALSE([&] {
    std::vector<Tensor> i = {ramp(context, Dims{3})};
    return Runner(p, {vector(context, {1})}).run(context, add_code, i, 2);
  }());
  p.symbols[1] = {Symbol::Kind::divide, 0, 0, 4, kSymbol0};
  CHECK_FALSE([&] {
    std::vector<Tensor> i = {ramp(context, Dims{0})};
    return Runner(p, {vector(context, {1})}).run(context, add_code, i, 2);
  }());
  p.symbols[1] = {Symbol::Kind::subtract, 0, 0, 0, kSymbol0};
  CHECK_FALSE([&] {
    std::vector<Tensor> i = {ramp(context, Dims{3})};
    return Runner(p, {vector(context, {1})}).run(context, add_code, i, 2);
  }());

  // Code that gives up.
  std::vector<Tensor> inputs = {ramp(context, Dims{5})};
  CHECK_FALSE(r.run(context, [](Frame*) { return codegen::kFailed; }, inputs, 2));
  CHECK_FALSE(r.results[0]);
  CHECK_FALSE(r.run(context, [](Frame* f) { return f->failed = 1, codegen::kDone; }, inputs, 2));
  context.interrupt = 1;
  CHECK_FALSE(r.run(context, add_code, inputs, 2));
  context.interrupt = 0;
  CHECK(r.run(context, add_code, inputs, 2));
}

TEST_CASE("division of sizes rounds down", "[jit]") {
  Context context;
  Plan p = add_plan();
  p.symbols.push_back({Symbol::Kind::subtract, 0, 0, 0, kSymbol0});
  p.symbols[1] = {Symbol::Kind::multiply, 0, 0, kSymbol0, 4};
  p.symbols.push_back({Symbol::Kind::divide, 0, 0, kSymbol2, 2});
  p.words = 9;
  for (Value& v : p.values) v.word += 2;
  p.guards = {{Guard::Kind::equal, ~Size{3}, kSymbol2}};
  Runner r(p, {vector(context, {1})});
  // -1 / 2 is -1 and not 0.
  std::vector<Tensor> inputs = {ramp(context, Dims{1})};
  CHECK(r.run(context, [](Frame* f) { return f->words[3] == -1 ? codegen::kDone : codegen::kFailed; }, inputs, 2));
}

TEST_CASE("memory over the limit is declined", "[jit]") {
  ContextOptions options;
  options.memory_limit = 8 << 20;
  Context context(options);
  Runner r(add_plan(), {vector(context, {1})});
  std::vector<Tensor> inputs = {ramp(context, Dims{1 << 20})};
  size_t before = context.memory.live_bytes();
  CHECK_FALSE(r.run(context, add_code, inputs, 2));
  CHECK(context.memory.live_bytes() == before);
}

TEST_CASE("an input that nobody else holds gives its memory to a result", "[jit]") {
  Context context;
  Plan p = add_plan();
  p.donations = {{0, 0}};
  Runner r(p, {vector(context, {1})});
  std::vector<Tensor> inputs = {ramp(context, Dims{1000})};
  const std::byte* memory = inputs[0].raw();
  Tensor other = ramp(context, Dims{1000});
  REQUIRE(r.run(context, add_code, inputs, 2));
  CHECK(r.results[0].raw() == memory);
  CHECK_FALSE(inputs[0]);
  for (int i = 0; i < 1000; ++i) REQUIRE(r.results[0].data<float>()[i] == other.data<float>()[i] + 1);
  // Somebody else looks at it.
  inputs = {other};
  REQUIRE(r.run(context, add_code, inputs, 2));
  CHECK(r.results[0].raw() != other.raw());
  CHECK(inputs[0].same_object(other));
  // The run fails, or could: the input is still there.
  inputs = {ramp(context, Dims{1000})};
  CHECK_FALSE(r.run(context, [](Frame*) { return codegen::kInterrupted; }, inputs, 2));
  CHECK(inputs[0]);
  p.body.steps.emplace_back();
  p.body.steps[0].kind = Step::Kind::check;
  Runner fails(p, {vector(context, {1})});
  memory = inputs[0].raw();
  REQUIRE(fails.run(context, add_code, inputs, 2));
  CHECK(fails.results[0].raw() != memory);
  CHECK(inputs[0]);
}

TEST_CASE("results that are inputs or constants", "[jit]") {
  Context context;
  Plan p;
  p.inputs = {{DType::F32, Sizes{40, 6}}};
  p.results = {{ResultPlace::Kind::input, 0, DType::F32, {40, 6}},
               {ResultPlace::Kind::input, 0, DType::F32, {240}},
               {ResultPlace::Kind::constant, 0, DType::F32, {2, 1}}};
  Tensor c = vector(context, {1, 2});
  Runner r(p, {c});
  std::vector<Tensor> inputs = {ramp(context, Dims{40, 6})};
  auto nothing = [](Frame*) { return codegen::kDone; };
  REQUIRE(r.run(context, nothing, inputs, 3));
  CHECK(r.results[0].same_object(inputs[0]));
  CHECK(r.results[1].rank() == 1);
  CHECK(r.results[1].data<float>()[239] == inputs[0].data<float>()[239]);
  CHECK(r.results[2].rank() == 2);
  CHECK(r.results[2].data<float>()[1] == 2);
  inputs = {Tensor::view(context, ramp(context, Dims{6, 40}), Dims{40, 6}, Dims{1, 40}, 0)};
  REQUIRE(r.run(context, nothing, inputs, 3));
  CHECK(r.results[1].data<float>()[1] == inputs[0].data<float>()[40]);
}

TEST_CASE("plans that make no sense are not run", "[jit]") {
  Context context;
  auto usable = [&](const Plan& p) { return NativeFunction(std::make_shared<const Plan>(p), {vector(context, {1})}).usable(); };
  Plan p = add_plan();
  CHECK(usable(p));
  p.values[0].word = 99;
  CHECK_FALSE(usable(p));
  p = add_plan();
  p.values[4].word = kNone;
  CHECK_FALSE(usable(p));
  p = add_plan();
  p.values[3].index = 7;
  CHECK_FALSE(usable(p));
  p = add_plan();
  p.symbols[0].axis = 1;
  CHECK_FALSE(usable(p));
}

TEST_CASE("machine code runs with the language's arithmetic", "[jit]") {
  Context context;
  Runner r(add_plan(), {vector(context, {1})});
  unsigned before = _mm_getcsr();
  _mm_setcsr((before & ~0x6000u) | 0x8040u | 0x2000u);  // flush subnormals, round down
  unsigned set = _mm_getcsr();
  std::vector<Tensor> inputs = {vector(context, {0})};
  bool done =
      r.run(context, [](Frame*) { return (_mm_getcsr() & ~0x3Fu) == 0x1F80 ? codegen::kDone : codegen::kFailed; }, inputs, 2);
  unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  CHECK(done);
  CHECK((after & ~0x3Fu) == (set & ~0x3Fu));
}

namespace {

// result[m, n] = a b, then the epilogue adds the row's number to each element, once.
struct ProductCase {
  int64_t batch, m, n, k;
  bool ta, tb;
};
thread_local ProductCase product_case;

Plan product_plan(const ProductCase& c) {
  Plan p;
  Sizes a = c.ta ? Sizes{c.k, c.m} : Sizes{c.m, c.k}, b = c.tb ? Sizes{c.n, c.k} : Sizes{c.k, c.n}, r = {c.m, c.n};
  if (c.batch > 1) {
    a.insert(0, c.batch);
    b.insert(0, c.batch);
    r.insert(0, c.batch);
  }
  p.inputs = {{DType::F32, a}, {DType::F32, b}};
  p.results = {{ResultPlace::Kind::memory, 0, DType::F32, r}};
  p.values = {value(DType::F32, a, Home::input, 0, 0), value(DType::F32, b, Home::input, 1, 1),
              value(DType::F32, r, Home::result, 0, 2)};
  Product product;
  product.a = 0, product.b = 1, product.result = 2;
  product.batch = c.batch, product.m = c.m, product.n = c.n, product.k = c.k;
  product.a_batch = c.m * c.k, product.b_batch = c.k * c.n;
  product.transpose_a = c.ta, product.transpose_b = c.tb;
  p.products = {product};
  p.words = 6;
  return p;
}
void add_row_number(Frame* f, int64_t first, int64_t last) {
  auto* r = reinterpret_cast<float*>(f->words[2]);
  int64_t n = f->words[3];
  for (int64_t i = first; i < last; ++i) {
    for (int64_t j = 0; j < n; ++j) r[i * n + j] += static_cast<float>(i);
  }
}
int64_t product_code(Frame* f) {
  const ProductCase& c = product_case;
  codegen::ProductCall call{reinterpret_cast<const void*>(f->words[0]),
                            reinterpret_cast<const void*>(f->words[1]),
                            reinterpret_cast<void*>(f->words[2]),
                            static_cast<int64_t>(DType::F32),
                            c.batch,
                            c.m,
                            c.n,
                            c.k,
                            c.ta ? 1 : c.k,
                            c.ta ? c.m : 1,
                            c.m * c.k,
                            c.tb ? 1 : c.n,
                            c.tb ? c.k : 1,
                            c.k * c.n,
                            nullptr,
                            c.batch == 1 ? add_row_number : nullptr};
  f->words[3] = c.n;
  f->services->product(f, &call);
  return codegen::kDone;
}

}  // namespace

TEST_CASE("products have the bits of matmul, and their rows are finished once", "[jit]") {
  const ProductCase cases[] = {
      {1, 3, 5, 7, false, false},       {1, 1, 900, 700, false, false},  {1, 900, 1, 700, false, false},
      {1, 300, 200, 1100, true, true},  {1, 250, 4500, 30, false, true}, {1, 40, 5000, 600, false, false},
      {1, 5000, 1, 2000, false, false}, {1, 64, 64, 0, false, false},    {1, 0, 5, 3, false, false},
      {4, 5, 6, 7, false, true},        {3, 200, 100, 300, true, false}, {6, 10, 10, 10, false, false}};
  for (int threads : {1, 2, 5}) {
    ContextOptions options;
    options.threads = threads;
    Context context(options);
    for (const ProductCase& c : cases) {
      CAPTURE(threads, c.batch, c.m, c.n, c.k, c.ta, c.tb);
      product_case = c;
      Plan p = product_plan(c);
      Dims a(p.inputs[0].dims.begin(), p.inputs[0].dims.end()), b(p.inputs[1].dims.begin(), p.inputs[1].dims.end());
      std::vector<Tensor> inputs = {ramp(context, a), ramp(context, b)};
      Attrs attrs;
      attrs.set_bool(Attr::transpose_a, c.ta);
      attrs.set_bool(Attr::transpose_b, c.tb);
      Tensor expected = apply1(context, Op::matmul, {inputs[0], inputs[1]}, attrs).take();
      Runner r(p);
      size_t before = context.memory.live_bytes();
      REQUIRE(r.run(context, product_code, inputs, 1));
      const Tensor& got = r.results[0];
      CHECK(context.memory.live_bytes() - before <= got.bytes() + 64);
      REQUIRE(got.size() == expected.size());
      int64_t wrong = 0;
      for (int64_t i = 0; i < got.size(); ++i) {
        float e = expected.data<float>()[i];
        if (c.batch == 1) e += static_cast<float>(i / c.n);
        wrong += std::memcmp(&e, got.data<float>() + i, sizeof e) != 0;
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("kernels run over every unit once, on any number of threads", "[jit]") {
  for (int threads : {1, 2, 3}) {
    ContextOptions options;
    options.threads = threads;
    Context context(options);
    Plan p = add_plan();
    Runner r(p, {vector(context, {1})});
    for (int64_t n : {0, 1, 100, 1000, 99999}) {
      CAPTURE(threads, n);
      std::vector<Tensor> inputs = {ramp(context, Dims{n})};
      REQUIRE(r.run(
          context,
          [](Frame* f) {
            std::memset(reinterpret_cast<void*>(f->words[5]), 0, static_cast<size_t>(f->words[0]) * 4);
            f->services->parallel(
                f,
                [](Frame* g, int64_t first, int64_t last) {
                  for (int64_t i = first; i < last; ++i) reinterpret_cast<float*>(g->words[5])[i] += 1;
                },
                f->words[0], 64);
            return codegen::kDone;
          },
          inputs, 2));
      float sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += r.results[0].data<float>()[i] == 1;
      CHECK(sum == static_cast<float>(n));
    }
  }
}
