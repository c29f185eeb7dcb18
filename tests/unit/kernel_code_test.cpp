// Kernels as machine code against eager operations: every form, odd sizes, sizes that only the run knows, memory in place, every
// processor this machine can play, calls cut anywhere.
#include "tests/catch.h"

#include "tests/unit/kernel_plans.h"

using namespace tfl;
using namespace tfl::test;

namespace {

constexpr int64_t kLengths[] = {0, 1, 3, 15, 16, 17, 63, 64, 65, 130, 1000};
constexpr int64_t kBlockLengths[] = {4095, 4096, 4097, 8192, 20000};
constexpr DType kTypes[] = {DType::F32, DType::F64, DType::F16, DType::BF16, DType::I8,  DType::I16, DType::I32,
                            DType::I64, DType::U8,  DType::U16, DType::U32,  DType::U64, DType::Bool};

bool is_bool(DType d) { return d == DType::Bool; }
Op sum_op(DType d) { return is_bool(d) ? Op::logical_or : Op::add; }

// x[i] * y[i] + x[i], or what a bool has.
void flat_map(Context& c, DType dtype, int64_t n, bool symbolic, int64_t cost, int64_t cut = 0, int64_t offset = 0) {
  KernelPlan p(c);
  ValueId x = p.random(dtype, n + offset, 1), y = p.random(dtype, n, 2), out = p.zeros(dtype, n + offset);
  KernelMaker k(p.plan, Form::map, {symbolic ? p.symbol(n) : n});
  ExprId a = k.load(x, {1}, offset), b = k.load(y, {1});
  ExprId product = k.apply(is_bool(dtype) ? Op::logical_and : Op::multiply, dtype, {a, b});
  k.store(0, k.apply(sum_op(dtype), dtype, {product, a}), out, {1}, offset);
  k.done(cost);
  p.cut = cut;
  p.check();
}

}  // namespace

TEST_CASE("kernels: a flat map of every type and length") {
  Context c(options(1));
  for (DType dtype : kTypes) {
    INFO(dtype_name(dtype));
    flat_map(c, dtype, 333, true, 1);
    flat_map(c, dtype, 130, false, 1);
  }
  for (int64_t n : kLengths) {
    INFO(n);
    for (bool symbolic : {false, true}) {
      flat_map(c, DType::F32, n, symbolic, 1);
      if (symbolic) flat_map(c, DType::U8, n, symbolic, 20);
    }
  }
}

TEST_CASE("kernels: calls are cut anywhere") {
  Context c(options(1));
  for (int64_t cut : {0, 1, 37, 5000}) {
    flat_map(c, DType::F32, 70000, cut == 37, 4, cut, 3);
    flat_map(c, DType::Bool, 140001, true, 1, std::max<int64_t>(cut, 16));
  }
}

TEST_CASE("kernels: results that pass by the caches") {
  Context c(options(1));
  flat_map(c, DType::I64, 4200003, false, 1, 1000001);
}

TEST_CASE("kernels: maps over several axes") {
  Context c(options(1));
  struct Shape {
    int64_t a, b, d;
  };
  for (Shape s : {Shape{3, 5, 7}, {2, 1, 40}, {1, 1, 1}, {5, 17, 3}, {4, 0, 3}, {2, 3, 100}, {40, 50, 60}}) {
    for (bool symbolic : {false, true}) {
      INFO(s.a << " " << s.b << " " << s.d << " " << symbolic);
      KernelPlan p(c);
      int64_t n = s.a * s.b * s.d;
      auto size = [&](int64_t v) { return symbolic ? p.symbol(v) : v; };
      Size a = size(s.a), b = size(s.b), d = size(s.d);
      Size bd = symbolic ? p.symbol(s.b * s.d) : s.b * s.d;
      if (symbolic) p.plan.symbols.back() = {Symbol::Kind::multiply, 0, 0, b, d};
      Size row = is_known(d) ? d : d;
      ValueId x = p.random(DType::F32, n, 1), bias = p.random(DType::F32, s.d, 2), column = p.random(DType::F32, s.a, 3);
      ValueId turned = p.random(DType::F32, n, 4), out = p.zeros(DType::F32, n), second = p.zeros(DType::I32, n);
      KernelMaker k(p.plan, Form::map, {a, b, d});
      ExprId v = k.load(x, {bd, row, 1});
      ExprId w = k.apply(Op::add, DType::F32, {v, k.load(bias, {0, 0, 1})});
      w = k.apply(Op::multiply, DType::F32, {w, k.load(column, {1, 0, 0})});
      ExprId index = k.of(ExprKind::index, DType::I32, 1), last = k.of(ExprKind::index, DType::I32, 2);
      // turned has the last axis first.
      ExprId t = k.load(turned, {is_known(b) ? b : b, 1, symbolic ? p.symbol(s.a * s.b) : s.a * s.b});
      k.store(0, k.apply(Op::add, DType::F32, {w, t}), out, {bd, row, 1});
      k.store(0,
              k.apply(Op::subtract, DType::I32,
                      {k.apply(Op::multiply, DType::I32, {index, last}), k.of(ExprKind::size, DType::I32, 0, 0, b)}),
              second, {bd, row, 1});
      k.done(3);
      p.cut = 2;
      p.check();
    }
  }
}

TEST_CASE("kernels: turned") {
  Context c(options(1));
  for (DType dtype : {DType::F32, DType::F64, DType::U8, DType::BF16}) {
    for (auto [rows, columns] : {std::pair<int64_t, int64_t>{64, 64}, {33, 70}, {100, 17}, {200, 400}}) {
      bool symbolic = rows == 33;
      INFO(dtype_name(dtype) << " " << rows << " x " << columns);
      KernelPlan p(c);
      int64_t each = rows * columns;
      Size r = symbolic ? p.symbol(rows) : rows, w = symbolic ? p.symbol(columns) : columns;
      Size stride = symbolic ? p.symbol(each) : each;
      ValueId x = p.random(dtype, 2 * each, 1), y = p.random(dtype, 2 * each, 2), z = p.random(dtype, rows, 3);
      ValueId out = p.zeros(dtype, 2 * each), indices = p.zeros(DType::I32, 2 * each);
      KernelMaker k(p.plan, Form::map, {2, r, w});
      ExprId turned = k.load(x, {stride, 1, r});
      ExprId sum = k.apply(Op::add, dtype, {turned, k.load(y, {stride, w, 1})});
      ExprId scaled = k.apply(Op::multiply, dtype, {sum, k.load(z, {0, 1, 0})});
      k.store(0, scaled, out, {stride, w, 1});
      ExprId row = k.of(ExprKind::index, DType::I32, 1), column = k.of(ExprKind::index, DType::I32, 2);
      k.store(0, k.apply(Op::subtract, DType::I32, {row, column}), indices, {stride, w, 1});
      k.done(3);
      p.cut = 3;
      p.check();
    }
  }
}

TEST_CASE("kernels: backwards, gathered, scattered, masked") {
  Context c(options(1));
  for (int64_t n : {1, 16, 45, 200}) {
    KernelPlan p(c);
    ValueId x = p.random(DType::F32, 3 * n, 1), h = p.random(DType::F16, n, 5), out = p.zeros(DType::F32, 2 * n);
    ValueId halves = p.zeros(DType::F16, n), table = p.random(DType::I16, 50, 7), small = p.zeros(DType::I16, n);
    Size minus = p.symbol(-1);
    p.plan.symbols.back() = {Symbol::Kind::subtract, 0, 0, 0, 1};
    Tensor indices = Tensor::empty(c, DType::I32, Dims{n}).take();
    for (int64_t i = 0; i < n; ++i) indices.data<int32_t>()[i] = static_cast<int32_t>(i * 7 % 25);
    ValueId at = p.value(indices);
    KernelMaker k(p.plan, Form::map, {n});
    ExprId strided = k.load(x, {3}), backwards = k.load(x, {minus}, n - 1);
    ExprId sum = k.apply(Op::add, DType::F32, {strided, backwards});
    ExprId i = k.of(ExprKind::index, DType::I64, 0);
    ExprId in = k.apply(Op::less, DType::Bool, {i, k.constant(DType::I64, static_cast<uint64_t>(n / 2))});
    ExprId masked = k.load(x, {1}, 0, {}, in);
    k.store(0, k.apply(Op::subtract, DType::F32, {sum, masked}), out, {2}, 1);
    k.store(0, k.load(h, {1}), halves, {minus}, n - 1);
    ExprId index = k.load(at, {1});
    k.store(0, k.load(table, {0}, 0, {{index, 2}}, in), small, {1}, 0, k.apply(Op::logical_not, DType::Bool, {in}));
    k.store(0, k.load(table, {0}, 1, {{index, 1}}), small, {1}, 0, in);
    k.done();
    p.check();
  }
}

TEST_CASE("kernels: the result in the memory of an operand") {
  Context c(options(1));
  for (int64_t n : {5, 64, 999}) {
    KernelPlan p(c);
    ValueId x = p.random(DType::F32, n, 1), y = p.random(DType::F32, n, 2);
    KernelMaker k(p.plan, Form::map, {n});
    ExprId a = k.load(x, {1}), b = k.load(y, {1});
    k.store(0, k.apply(Op::add, DType::F32, {a, b}), x, {1});
    k.store(0, k.apply(Op::multiply, DType::F32, {a, b}), y, {1});
    k.done();
    p.check();
  }
}

TEST_CASE("kernels: an operation that would raise") {
  Context c(options(1));
  for (int64_t bad : {-1, 0, 7, 33, 36}) {
    KernelPlan p(c);
    Tensor y = Tensor::empty(c, DType::I32, Dims{37}).take();
    for (int64_t i = 0; i < 37; ++i) y.data<int32_t>()[i] = i == bad ? 0 : static_cast<int32_t>(i % 3 + 1);
    ValueId x = p.random(DType::I32, 37, 1), divisor = p.value(y), out = p.zeros(DType::I32, 37);
    KernelMaker k(p.plan, Form::map, {37});
    k.store(0, k.apply(Op::floordiv, DType::I32, {k.load(x, {1}), k.load(divisor, {1})}), out, {1});
    k.done();
    p.check();
  }
}

TEST_CASE("kernels: rows of every reduction") {
  Context c(options(1));
  std::vector<codegen::Cpu> cpus = test_cpus();
  if (cpus.empty()) return;
  size_t number = 0;
  for (DType dtype : kTypes) {
    for (ReduceKind kind : {ReduceKind::sum, ReduceKind::prod, ReduceKind::max, ReduceKind::min, ReduceKind::wide_sum}) {
      if (kind == ReduceKind::wide_sum && !is_integer(dtype)) continue;
      if (is_bool(dtype) && kind != ReduceKind::max && kind != ReduceKind::min) continue;
      INFO(dtype_name(dtype) << " " << static_cast<int>(kind));
      for (int64_t n : {number % 3 == 0 ? 5 : number % 3 == 1 ? 16 : 1, 300}) {
        KernelPlan p(c);
        ValueId x = p.random(dtype, 7 * n, static_cast<uint32_t>(n)), out = p.zeros(dtype, 7);
        KernelMaker k(p.plan, Form::rows, {7, n});
        Size divisor = kind == ReduceKind::wide_sum || (kind == ReduceKind::sum && is_floating(dtype)) ? n : 0;
        ExprId result = k.reduce(0, k.load(x, {n, 1}), kind, dtype, divisor);
        k.store(0, result, out, {1, 0}, 0, kNone, true);
        k.done();
        p.check({cpus[++number % cpus.size()]});  // each by turns: there are many
      }
    }
  }
}

TEST_CASE("kernels: rows of every length") {
  Context c(options(1));
  auto run = [&](int64_t rows, int64_t n, bool symbolic, int64_t cost) {
    INFO(rows << " x " << n << " " << symbolic << " " << cost);
    KernelPlan p(c);
    Size length = symbolic ? p.symbol(n) : n, count = symbolic ? p.symbol(rows) : rows;
    ValueId x = p.random(DType::F32, rows * n, 3, true), out = p.zeros(DType::F32, 3 * rows),
            means = p.zeros(DType::F32, rows * n);
    KernelMaker k(p.plan, Form::rows, {count, length});
    ExprId v = k.load(x, {length, 1});
    ExprId mean = k.reduce(0, v, ReduceKind::sum, DType::F32, length);
    ExprId most = k.reduce(0, v, ReduceKind::max, DType::F32);
    ExprId d = k.apply(Op::subtract, DType::F32, {v, mean});
    ExprId variance = k.reduce(1, k.apply(Op::multiply, DType::F32, {d, d}), ReduceKind::sum, DType::F32, length);
    ExprId least = k.reduce(2, k.apply(Op::multiply, DType::F32, {d, variance}), ReduceKind::min, DType::F32);
    k.store(1, d, means, {length, 1});
    k.store(0, most, out, {3, 0}, 0, kNone, true);
    k.store(1, variance, out, {3, 0}, 1, kNone, true);
    k.store(2, least, out, {3, 0}, 2, kNone, true);
    k.done(cost);
    p.cut = 3;
    p.check();
  };
  for (int64_t n : kLengths) {
    for (bool symbolic : {false, true}) run(7, n, symbolic, n % 2 ? 2 : 20);
  }
  for (int64_t n : kBlockLengths) run(3, n, n % 2 == 0, 2);
  run(300, 300, false, 2);
  run(300, 300, true, 2);
}

TEST_CASE("kernels: softmax") {
  Context c(options(1));
  for (int64_t n : {10, 64, 257, 1024}) {
    KernelPlan p(c);
    ValueId x = p.random(DType::F32, 9 * n, 3, true), out = p.zeros(DType::F32, 9 * n);
    KernelMaker k(p.plan, Form::rows, {3, 3, n});
    ExprId v = k.load(x, {3 * n, n, 1});
    ExprId most = k.reduce(0, v, ReduceKind::max, DType::F32);
    ExprId e = k.keep(1, k.apply(Op::exp, DType::F32, {k.apply(Op::subtract, DType::F32, {v, most})}));
    ExprId sum = k.reduce(1, k.kernel.stages.back().expr, ReduceKind::sum, DType::F32);
    k.store(2, k.apply(Op::divide, DType::F32, {e, sum}), out, {3 * n, n, 1});
    k.done(16);
    p.check();
  }
}

TEST_CASE("kernels: columns") {
  Context c(options(1));
  auto run = [&](DType dtype, int64_t outer, int64_t length, int64_t columns, bool symbolic, ReduceKind kind) {
    INFO(dtype_name(dtype) << " " << outer << " x " << length << " x " << columns << " " << symbolic);
    KernelPlan p(c);
    int64_t each = length * columns;
    ValueId x = p.random(dtype, outer * each, 3, true), bias = p.random(dtype, columns, 4, true);
    ValueId out = p.zeros(dtype, outer * columns), rows = p.zeros(dtype, outer * each);
    Size l = symbolic ? p.symbol(length) : length, w = symbolic ? p.symbol(columns) : columns;
    KernelMaker k(p.plan, Form::columns, {outer, l, w});
    Size stride = symbolic ? p.symbol(each) : each;
    ExprId v = k.apply(sum_op(dtype), dtype, {k.load(x, {stride, w, 1}), k.load(bias, {0, 0, 1})});
    ExprId sum = k.reduce(0, v, kind, dtype, kind == ReduceKind::sum && is_floating(dtype) ? l : 0);
    k.store(0, v, rows, {stride, w, 1});
    k.store(0, k.apply(sum_op(dtype), dtype, {sum, k.load(bias, {0, 0, 1})}), out, {w, 0, 1}, 0, kNone, true);
    k.done(2);
    p.cut = 1;
    p.check();
  };
  for (int64_t columns : {1, 7, 16, 33, 64, 130}) {
    run(DType::F32, 2, 50, columns, false, ReduceKind::sum);
    run(DType::F32, 2, 9, columns, true, ReduceKind::max);
  }
  run(DType::F32, 1, 4096, 20, false, ReduceKind::sum);
  run(DType::F32, 1, 9000, 70, true, ReduceKind::sum);
  run(DType::F32, 3, 0, 5, true, ReduceKind::sum);
  for (DType dtype : kTypes) run(dtype, 2, 20, 70, false, is_bool(dtype) ? ReduceKind::max : ReduceKind::sum);
}

TEST_CASE("kernels: blocks and their tree") {
  Context c(options(1));
  auto run = [&](DType dtype, ReduceKind kind, int64_t outer, int64_t n, bool symbolic, int64_t cost) {
    INFO(dtype_name(dtype) << " " << outer << " x " << n << " " << symbolic);
    KernelPlan p(c);
    int64_t count = (n + kReduceBlock - 1) / kReduceBlock;
    DType partial = kind == ReduceKind::wide_sum ? DType::I64 : dtype == DType::F16 ? DType::F32 : dtype;
    ValueId x = p.random(dtype, outer * n, 3, true), partials = p.zeros(partial, outer * count), out = p.zeros(dtype, outer);
    Size length = symbolic ? p.symbol(n) : n, blocks = symbolic ? p.symbol(count) : count;
    KernelMaker k(p.plan, Form::blocks, {outer, length});
    ExprId v = k.load(x, {length, 1});
    v = k.apply(Op::multiply, dtype, {v, v});
    k.reduce(0, v, kind, partial);
    k.kernel.stages[0].target = {partials, 0, Sizes{blocks, 1}, {}, kNone};
    k.done(cost);
    KernelMaker t(p.plan, Form::tree, {outer, blocks});
    ExprId sum =
        t.reduce(0, t.load(partials, {blocks, 1}), kind, dtype, kind == ReduceKind::sum && is_integer(dtype) ? 0 : length);
    t.store(0, t.apply(Op::add, dtype, {sum, sum}), out, {1, 0}, 0, kNone, true);
    t.done();
    p.cut = 3;
    p.check();
  };
  for (int64_t n : {1, 100, 4095, 4096, 4097, 40000, 70000}) {
    run(DType::F32, ReduceKind::sum, 1, n, false, 2);
    run(DType::F32, ReduceKind::sum, 3, n, true, n % 2 ? 2 : 30);
  }
  run(DType::I32, ReduceKind::sum, 2, 30000, true, 1);
  run(DType::I32, ReduceKind::wide_sum, 2, 30000, false, 1);
  run(DType::F64, ReduceKind::sum, 2, 30000, true, 1);
}

TEST_CASE("kernels: loops inside elements") {
  Context c(options(1));
  for (int64_t n : {1, 40, 500}) {
    for (int64_t limit : {-1, 7}) {
      KernelPlan p(c);
      ValueId x = p.random(DType::F32, n, 1, true), y = p.random(DType::F32, n, 2, true), out = p.zeros(DType::F32, n);
      ValueId steps = p.zeros(DType::I32, n), bound = p.value(ints(c, {1}, {30}));
      KernelMaker k(p.plan, Form::map, {n});
      ExprId cr = k.load(x, {1}), ci = k.load(y, {1}), most = k.load(bound, {0});
      ExprId zero = k.number(0), none = k.constant(DType::I32, 0);
      ExprId zr = k.of(ExprKind::variable, DType::F32, 0), zi = k.of(ExprKind::variable, DType::F32, 1);
      ExprId count = k.of(ExprKind::variable, DType::I32, 2), i = k.of(ExprKind::variable, DType::I32, 3);
      ExprId rr = k.apply(Op::multiply, DType::F32, {zr, zr}), ii = k.apply(Op::multiply, DType::F32, {zi, zi});
      ExprId next_r = k.apply(Op::add, DType::F32, {k.apply(Op::subtract, DType::F32, {rr, ii}), cr});
      ExprId twice = k.apply(Op::multiply, DType::F32, {k.number(2), k.apply(Op::multiply, DType::F32, {zr, zi})});
      ExprId next_i = k.apply(Op::add, DType::F32, {twice, ci});
      ExprId inside = k.apply(Op::less, DType::Bool, {k.apply(Op::add, DType::F32, {rr, ii}), k.number(4)});
      ExprId next_count = k.apply(Op::add, DType::I32, {count, k.cast(DType::I32, inside)});
      ExprId next_step = k.apply(Op::add, DType::I32, {i, k.constant(DType::I32, 1)});
      KernelLoop loop;
      loop.variables = {
          {zero, next_r, DType::F32}, {zero, next_i, DType::F32}, {none, next_count, DType::I32}, {none, next_step, DType::I32}};
      loop.condition = k.apply(Op::less, DType::Bool, {i, most});
      loop.limit = limit;
      k.kernel.loops.push_back(std::move(loop));
      ExprId last = k.of(ExprKind::looped, DType::F32, 1), counted = k.of(ExprKind::looped, DType::I32, 2);
      ExprId turns = k.of(ExprKind::looped, DType::I32, 3);
      k.store(0, last, out, {1});
      k.store(0, k.apply(Op::add, DType::I32, {counted, turns}), steps, {1});
      k.done(10);
      p.check();
    }
  }
}

TEST_CASE("kernels: an endless loop inside elements is left when somebody asks") {
  Context c(options(1));
  KernelPlan p(c);
  ValueId x = p.random(DType::F32, 100, 1), out = p.zeros(DType::F32, 100);
  KernelMaker k(p.plan, Form::map, {100});
  ExprId first = k.load(x, {1}), always = k.constant(DType::Bool, 1), now = k.of(ExprKind::variable, DType::F32, 0);
  KernelLoop loop;
  loop.variables = {{first, k.apply(Op::negative, DType::F32, {now}), DType::F32}};
  loop.condition = always;
  k.kernel.loops.push_back(std::move(loop));
  k.store(0, k.of(ExprKind::looped, DType::F32, 0), out, {1});
  k.done();
  p.interrupt = 1;
  for (codegen::Cpu cpu : test_cpus()) CHECK(p.run(*p.compile(cpu)) != codegen::kDone);
}

TEST_CASE("kernels: code for another processor") {
  Context c(options(1));
  KernelPlan p(c);
  ValueId x = p.random(DType::F32, 6000, 1), h = p.random(DType::F16, 6000, 2), out = p.zeros(DType::F32, 6000),
          sums = p.zeros(DType::F32, 60);
  KernelMaker rows(p.plan, Form::rows, {60, 100});
  ExprId v = rows.load(x, {100, 1});
  rows.store(1, rows.apply(Op::divide, DType::F32, {v, rows.reduce(0, v, ReduceKind::max, DType::F32)}), out, {100, 1});
  rows.done();
  KernelMaker columns(p.plan, Form::columns, {100, 60});
  ExprId sum = columns.reduce(0, columns.cast(DType::F32, columns.load(h, {60, 1})), ReduceKind::sum, DType::F32);
  columns.store(0, sum, sums, {0, 1}, 0, kNone, true);
  columns.done();
  codegen::CompileRequest request;
  request.plan = &p.plan;
  request.cpu = codegen::Cpu::aarch64;
  request.output = codegen::CompileRequest::Output::assembly;
  codegen::CompileResult result;
  codegen::compile_plan(request, result);
  CHECK(result.error == "");
  CHECK(result.bytes.find("fadd\tv") != std::string::npos);
}
