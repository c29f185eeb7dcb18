// Recorded formulas, table-wide: what they give for an element is what the eager kernels give, with operands known when they are
// recorded and without.
#include "codegen/formula/record.h"

#include "tests/unit/formulas.h"

using namespace tfl;
using namespace tfl::test;
using formula::Formula;
using formula::Operand;

namespace {

// As formulas see elements: half types as f32.
Tensor widened(Context& c, const Tensor& t) { return is_half_type(t.dtype()) ? cast_to(c, t, DType::F32) : t; }

int64_t first_wrong(Context& c, const Formula& f, const std::vector<Tensor>& in, const Tensor& want) {
  std::vector<Tensor> wide;
  for (const Tensor& t : in) wide.push_back(widened(c, t));
  Tensor expected = widened(c, want);
  for (int64_t i = 0; i < expected.size(); ++i) {
    uint64_t arguments[kMaxArity] = {};
    for (size_t k = 0; k < wide.size(); ++k) arguments[k] = element_bits(wide[k], i);
    if (!same_bits(expected.dtype(), formula::evaluate(f, arguments), element_bits(expected, i))) return i;
  }
  return -1;
}

Tensor all_equal(const Tensor& t, int64_t i) {
  Tensor out = t;
  auto size = static_cast<int64_t>(dtype_size(t.dtype()));
  std::vector<std::byte> element(t.raw() + i * size, t.raw() + (i + 1) * size);
  for (int64_t j = 0; j < t.size(); ++j) std::memcpy(out.raw() + j * size, element.data(), element.size());
  return out;
}

size_t instructions(const Formula& f) {
  size_t n = 0;
  for (const formula::Region& r : f.regions) n += r.body.size();
  return n;
}

Formula row(Op op, DType dtype, std::initializer_list<Operand> operands = {}) {
  std::vector<Operand> known(operands);
  auto f = formula::record_row(op, dtype, {known.data(), known.size()});
  REQUIRE(f);
  return *f;
}

uint64_t f32_bits(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

}  // namespace

TEST_CASE("every row's formula gives what its kernel gives", "[formula]") {
  Context c(options(1));
  for_rows_and_types([&](Op op, DType dtype) {
    INFO(op_info(op).name << " " << dtype_name(dtype));
    int64_t size = is_slow_row(op) ? 24 : 400;
    std::vector<Tensor> in;
    for (int k = 0; k < op_info(op).max_operands; ++k) in.push_back(row_operand(c, op, static_cast<size_t>(k), dtype, size, 3));
    auto f = formula::record_row(op, dtype, {});
    REQUIRE(f);
    CHECK(first_wrong(c, *f, in, run_row(c, op, in)) == -1);
  });
}

TEST_CASE("operands that are known when a formula is recorded", "[formula]") {
  Context c(options(1));
  for_rows_and_types([&](Op op, DType dtype) {
    if (is_slow_row(op)) return;
    auto n = static_cast<size_t>(op_info(op).max_operands);
    for (size_t known = 0; known < n; ++known) {
      for (int64_t at : {1, 2, 3, 5, 6, 7}) {
        INFO(op_info(op).name << " " << dtype_name(dtype) << " operand " << known << " element " << at);
        std::vector<Tensor> in;
        for (size_t k = 0; k < n; ++k) in.push_back(row_operand(c, op, k, dtype, 40, 8));
        in[known] = all_equal(in[known], at);
        std::vector<Operand> operands(n);
        operands[known] = element_bits(widened(c, in[known]), 0);
        auto f = formula::record_row(op, dtype, {operands.data(), n});
        REQUIRE(f);
        CHECK(first_wrong(c, *f, in, run_row(c, op, in)) == -1);
      }
    }
  });
}

TEST_CASE("every cast's formula gives what its kernel gives", "[formula]") {
  Context c(options(1));
  for (int from = 0; from < kRealTypes; ++from) {
    Tensor x = any_tensor(c, static_cast<DType>(from), 500, 21);
    for (int to = 0; to < kRealTypes; ++to) {
      INFO(dtype_name(x.dtype()) << " to " << dtype_name(static_cast<DType>(to)));
      Formula f = formula::record_cast(x.dtype(), static_cast<DType>(to));
      CHECK(first_wrong(c, f, {x}, cast_to(c, x, static_cast<DType>(to))) == -1);
    }
  }
}

TEST_CASE("what a constant operand decides is not in the formula", "[formula]") {
  Operand none;
  // An argument and a multiplication.
  CHECK(instructions(row(Op::pow, DType::F32, {none, f32_bits(2)})) == 2);
  CHECK(instructions(row(Op::pow, DType::F32, {none, f32_bits(1)})) == 1);
  CHECK(instructions(row(Op::pow, DType::F32, {none, f32_bits(3)})) == 3);
  CHECK(instructions(row(Op::pow, DType::I64, {none, 5})) == 4);
  CHECK(instructions(row(Op::where, DType::F64, {1})) == 1);
  CHECK(row(Op::exp, DType::F32, {f32_bits(0)}).at(row(Op::exp, DType::F32, {f32_bits(0)}).value()).extra == f32_bits(1));
  size_t with_exponent = instructions(row(Op::pow, DType::F64, {none, 0x4004000000000000}));  // 2.5
  CHECK(with_exponent < instructions(row(Op::pow, DType::F64)) - 20);
}

TEST_CASE("half types are rounded once, and not where the value is an operand's", "[formula]") {
  auto rounds = [](const Formula& f) {
    int n = 0;
    for (const formula::Region& r : f.regions) {
      for (formula::Id id : r.body) n += f.at(id).prim == formula::Prim::round_f16;
    }
    return n;
  };
  CHECK(rounds(row(Op::add, DType::F16)) == 1);
  CHECK(rounds(row(Op::tanh, DType::F16)) == 1);
  CHECK(rounds(row(Op::relu, DType::F16)) == 0);
  CHECK(rounds(row(Op::maximum, DType::F16)) == 0);
  CHECK(rounds(row(Op::floor, DType::F16)) == 0);
  CHECK(rounds(row(Op::where, DType::F16)) == 0);
  CHECK(rounds(row(Op::less, DType::F16)) == 0);
}

TEST_CASE("what rows refuse", "[formula]") {
  auto refused = [](Op op, DType dtype, uint64_t y) {
    auto f = formula::record_violation(op, dtype, {});
    REQUIRE(f);
    uint64_t arguments[] = {7, y};
    return formula::evaluate(*f, arguments) != 0;
  };
  for (Op op : {Op::floordiv, Op::mod, Op::truncatediv, Op::truncatemod}) {
    CHECK(refused(op, DType::I32, 0));
    CHECK_FALSE(refused(op, DType::U8, 3));
    CHECK_FALSE(formula::record_violation(op, DType::F32, {}));
  }
  CHECK(refused(Op::pow, DType::I16, 0xffff));
  CHECK_FALSE(refused(Op::pow, DType::I16, 0));
  CHECK_FALSE(formula::record_violation(Op::pow, DType::F16, {}));
  CHECK_FALSE(formula::record_violation(Op::add, DType::I32, {}));
  Operand three[] = {{}, 3};
  CHECK_FALSE(formula::record_violation(Op::mod, DType::I32, three));
}
