// Machine code of every row and cast for every type that they take: elements in vectors of every width that kernels use.
#include "tests/unit/formulas.h"
#include "tests/unit/kernel_plans.h"

using namespace tfl;
using namespace tfl::test;
using codegen::Cpu;

namespace {

// Whole vectors and what is left.
constexpr int64_t kElements = 83;

// One kernel a type.
void add_row(KernelPlan& p, Op op, DType dtype) {
  const OpInfo& info = op_info(op);
  int64_t n = is_slow_row(op) ? 19 : kElements;
  KernelMaker k(p.plan, Form::map, {n});
  Expr e;
  e.kind = ExprKind::apply;
  e.op = op;
  for (int i = 0; i < info.max_operands; ++i) {
    ValueId from = p.value(row_operand(p.context, op, static_cast<size_t>(i), dtype, n, 5));
    e.operands.push_back(k.load(from, {1}));
  }
  e.dtype = info.result == ResultType::boolean ? DType::Bool : info.result == ResultType::byte ? DType::U8 : dtype;
  DType result = e.dtype;
  ExprId value = k.add(std::move(e));
  k.store(0, value, p.zeros(result, n), {1});
  k.done();
}

// Every other type and every row, or all types that a row takes.
void check_rows(bool all) {
  Context c(options(1));
  std::vector<Cpu> cpus = test_cpus();
  for (int i = 0; i < kElementwiseCount; ++i) {
    Op op = static_cast<Op>(i);
    INFO(op_info(op).name);
    KernelPlan p(c);
    for (int d = 0; d < kRealTypes && op_info(op).result != ResultType::pair; ++d) {
      auto dtype = static_cast<DType>(d);
      if (dtype == DType::String || !type_class_has(op_info(op).types, dtype)) continue;
      bool often = dtype == DType::F32 || dtype == DType::I32 || dtype == DType::Bool;
      if (all || often || (i + d) % 4 == 0) add_row(p, op, dtype);
    }
    if (all) {
      p.check(cpus);
    } else if (!cpus.empty()) {
      p.check({cpus[static_cast<size_t>(i) % cpus.size()]});
    }
  }
}

}  // namespace

TEST_CASE("machine code of every row, a sample of types", "[element code]") { check_rows(false); }
TEST_CASE("machine code of every row and type for every processor", "[.][all element code]") { check_rows(true); }

TEST_CASE("machine code of every cast", "[element code]") {
  Context c(options(1));
  std::vector<Cpu> cpus = test_cpus();
  for (int from = 0; from < kRealTypes; ++from) {
    INFO(dtype_name(static_cast<DType>(from)));
    KernelPlan p(c);
    ValueId x = p.value(any_tensor(c, static_cast<DType>(from), kElements, 9));
    for (int to = 0; to < kRealTypes; ++to) {
      KernelMaker k(p.plan, Form::map, {kElements});
      k.store(0, k.cast(static_cast<DType>(to), k.load(x, {1})), p.zeros(static_cast<DType>(to), kElements), {1});
      k.done();
    }
    if (!cpus.empty()) p.check({cpus[static_cast<size_t>(from) % cpus.size()]});
  }
}

TEST_CASE("machine code with a constant operand", "[element code]") {
  Context c(options(1));
  KernelPlan p(c);
  for (float exponent : {0.0f, 1.0f, 2.0f, 3.0f, -1.0f, 0.5f, 2.5f, -2.0f}) {
    KernelMaker k(p.plan, Form::map, {kElements});
    ExprId x = k.load(p.value(any_tensor(c, DType::F32, kElements, 3)), {1});
    k.store(0, k.apply(Op::pow, DType::F32, {x, k.number(exponent)}), p.zeros(DType::F32, kElements), {1});
    k.done();
  }
  for (uint64_t divisor : {1, 2, 3, 7, 10, 255}) {
    KernelMaker k(p.plan, Form::map, {kElements});
    ExprId x = k.load(p.value(any_tensor(c, DType::I32, kElements, 3)), {1});
    k.store(0, k.apply(Op::floordiv, DType::I32, {x, k.constant(DType::I32, divisor)}), p.zeros(DType::I32, kElements), {1});
    k.store(0, k.apply(Op::mod, DType::I32, {x, k.constant(DType::I32, 0 - divisor)}), p.zeros(DType::I32, kElements), {1});
    k.store(0, k.apply(Op::pow, DType::I32, {x, k.constant(DType::I32, divisor)}), p.zeros(DType::I32, kElements), {1});
    k.done();
  }
  p.check();
}

// LLVM sees a maximum in `x < 0 ? 0 : x` where a conversion stands between, and takes its zero for -0.
TEST_CASE("machine code keeps -0 beside conversions", "[element code]") {
  Context c(options(1));
  KernelPlan p(c);
  using Pair = std::pair<DType, DType>;
  for (auto [from, to] :
       {Pair(DType::F16, DType::F16), Pair(DType::F32, DType::F64), Pair(DType::F64, DType::F32), Pair(DType::F16, DType::F32)}) {
    KernelMaker k(p.plan, Form::map, {kElements});
    Tensor values = any_tensor(c, from, kElements, 4);
    auto size = static_cast<int64_t>(dtype_size(from));
    for (int64_t i = 1; i < kElements; i += 10) {
      std::memset(values.raw() + i * size, 0, dtype_size(from));
      values.raw()[(i + 1) * size - 1] = std::byte{0x80};
    }
    ExprId x = k.load(p.value(values), {1});
    ExprId y = from == to ? x : k.cast(to, x);
    k.store(0, k.apply(Op::relu, to, {y}), p.zeros(to, kElements), {1});
    k.store(0, k.apply(Op::sign, to, {y}), p.zeros(to, kElements), {1});
    ExprId negative = k.apply(Op::less, DType::Bool, {x, k.constant(from, 0)});
    k.store(0, k.apply(Op::where, to, {negative, k.constant(to, 0), y}), p.zeros(to, kElements), {1});
    k.store(0, k.apply(Op::where, DType::I32, {negative, k.constant(DType::I32, 0), k.cast(DType::I32, x)}),
            p.zeros(DType::I32, kElements), {1});
    k.done();
  }
  p.check();
}

namespace {

// Random expressions over loads, constants, rows and casts; every one of them is stored.
void check_random_kernel(Context& c, uint32_t seed, Cpu cpu) {
  std::mt19937 random(seed);
  auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  KernelPlan p(c);
  KernelMaker k(p.plan, Form::map, {kElements});
  std::vector<ExprId> made;
  auto of_type = [&](DType dtype) {
    std::vector<ExprId> fit;
    for (ExprId e : made) {
      if (k.kernel.exprs[e].dtype == dtype) fit.push_back(e);
    }
    if (fit.empty() || below(6) == 0) {
      Tensor values = any_tensor(c, dtype, kElements, static_cast<uint32_t>(random()));
      bool constant = below(3) == 0;
      fit = {constant ? k.constant(dtype, element_bits(values, 1)) : k.load(p.value(values), {1})};
      if (!constant) made.push_back(fit[0]);
    }
    return fit[below(fit.size())];
  };
  DType type = static_cast<DType>(below(kRealTypes));
  for (int n = 0; n < 14; ++n) {
    if (below(4) == 0) {
      DType to = static_cast<DType>(below(kRealTypes));
      ExprId x = of_type(type);
      if (to != type) made.push_back(k.cast(to, x));
      if (below(2) == 0) type = to;
      continue;
    }
    Op op = static_cast<Op>(below(kElementwiseCount));
    const OpInfo& info = op_info(op);
    bool checked = row_has_checks(op) && is_integer(type);
    if (is_slow_row(op) || checked || info.result == ResultType::pair || !type_class_has(info.types, type)) continue;
    Expr e;
    e.kind = ExprKind::apply;
    e.op = op;
    for (int i = 0; i < info.max_operands; ++i) {
      e.operands.push_back(of_type(info.types == TypeClass::choice && i == 0 ? DType::Bool : type));
    }
    e.dtype = info.result == ResultType::boolean ? DType::Bool : info.result == ResultType::byte ? DType::U8 : type;
    made.push_back(k.add(std::move(e)));
  }
  for (ExprId e : made) {
    if (k.kernel.exprs[e].kind == ExprKind::load) continue;
    DType dtype = k.kernel.exprs[e].dtype;
    k.store(0, e, p.zeros(dtype, kElements), {1});
  }
  if (k.kernel.stages.empty()) return;
  k.done();
  INFO("seed " << seed);
  p.check({cpu});
}

void check_random_kernels(uint32_t first, uint32_t count) {
  Context c(options(1));
  std::vector<Cpu> cpus = test_cpus();
  for (uint32_t seed = first; !cpus.empty() && seed < first + count; ++seed) {
    check_random_kernel(c, seed, cpus[seed % cpus.size()]);
  }
}

}  // namespace

TEST_CASE("machine code of random expressions", "[element code]") { check_random_kernels(1, 20); }
TEST_CASE("machine code of many random expressions", "[.][random element code]") { check_random_kernels(1000, 1000); }
