// Complex rows, table-wide: the same bits on every instruction set level, in every layout, and whatever the number of elements; sums and
// products of them against their parts.
#include <complex>
#include <memory>

#include "runtime/kernels/elementwise/elementwise.h"
#include "tests/unit/tensors.h"

using namespace tfl;
using namespace tfl::test;

namespace {

Tensor run(Context& c, Op op, const std::vector<Tensor>& in, const Attrs& attrs = {}) {
  Tensors results;
  auto r = apply(c, op, {in.data(), in.size()}, attrs, results);
  if (!r) FAIL(op_info(op).name << ": " << r.error().message);
  return results[0];
}

Tensor operand(Context& c, Op op, size_t k, DType dtype, Dims dims) {
  bool mask = op_info(op).types == TypeClass::choice && k == 0;
  return random_tensor(c, mask ? DType::Bool : dtype, std::move(dims), 7 + static_cast<uint32_t>(k));
}

std::complex<double> number(const Tensor& t, int64_t i) {
  if (t.dtype() == DType::C64) return std::complex<double>(t.data<std::complex<float>>()[i]);
  return t.data<std::complex<double>>()[i];
}

}  // namespace

TEST_CASE("complex rows give the same bits on every level, one by one and side by side", "[complex]") {
  for (int i = 0; i < kElementwiseCount; ++i) {
    Op op = static_cast<Op>(i);
    for (DType dtype : {DType::C64, DType::C128, DType::F32, DType::F64}) {
      bool pair = op_info(op).result == ResultType::pair;
      if (!type_class_has(op_info(op).types, dtype) || (!is_complex(dtype) && !pair)) continue;
      std::vector<std::unique_ptr<Context>> contexts;  // they hold what is compared
      Tensor first;
      for (IsaLevel isa : isa_levels()) {
        INFO(op_info(op).name << " " << dtype_name(dtype) << " level " << static_cast<int>(isa));
        contexts.push_back(std::make_unique<Context>(options(2, isa)));
        Context& c = *contexts.back();
        std::vector<Tensor> in;
        for (int k = 0; k < op_info(op).max_operands; ++k) in.push_back(operand(c, op, static_cast<size_t>(k), dtype, {203}));
        Tensor all = run(c, op, in);
        for (int64_t at : {0, 5, 202}) {
          std::vector<Tensor> one;
          for (const Tensor& t : in) one.push_back(contiguous(c, Tensor::view(c, t, Dims{1}, Dims{1}, at)).take());
          CHECK(first_difference(run(c, op, one), contiguous(c, Tensor::view(c, all, Dims{1}, Dims{1}, at)).take()) == -1);
        }
        // Every other element, backwards: packed before it is computed.
        std::vector<Tensor> strided;
        for (const Tensor& t : in) strided.push_back(Tensor::view(c, t, Dims{100}, Dims{-2}, 201));
        CHECK(first_difference(run(c, op, strided), contiguous(c, Tensor::view(c, all, Dims{100}, Dims{-2}, 201)).take()) == -1);
        if (!first)
          first = all;
        else
          CHECK(first_difference(first, all) == -1);
      }
    }
  }
}

TEST_CASE("elementary functions of complex numbers are near the library's", "[complex]") {
  Context c(options(1));
  using Z = std::complex<double>;
  struct Function {
    Op op;
    Z (*f)(const Z&);
  };
  const Function kFunctions[] = {{Op::exp, std::exp},     {Op::log, std::log},     {Op::sqrt, std::sqrt},  {Op::sin, std::sin},
                                 {Op::cos, std::cos},     {Op::tan, std::tan},     {Op::sinh, std::sinh},  {Op::cosh, std::cosh},
                                 {Op::tanh, std::tanh},   {Op::asin, std::asin},   {Op::acos, std::acos},  {Op::atan, std::atan},
                                 {Op::asinh, std::asinh}, {Op::acosh, std::acosh}, {Op::atanh, std::atanh}};
  for (DType dtype : {DType::C64, DType::C128}) {
    Tensor x = random_tensor(c, dtype, {500}, 3, true);
    for (const Function& f : kFunctions) {
      INFO(op_info(f.op).name << " " << dtype_name(dtype));
      Tensor y = run(c, f.op, {x});
      double worst = 0;
      for (int64_t i = 0; i < x.size(); ++i) {
        Z want = f.f(number(x, i)), got = number(y, i);
        if (dtype == DType::C64) want = Z(std::complex<float>(want));
        if (std::isfinite(std::abs(want))) worst = std::max(worst, std::abs(got - want) / std::max(std::abs(want), 1e-30));
      }
      CHECK(worst < (dtype == DType::C64 ? 2e-7 : 2e-15));
    }
  }
}

TEST_CASE("sums of complex numbers are the sums of their parts", "[complex]") {
  Context c(options(2));
  for (DType dtype : {DType::C64, DType::C128}) {
    for (const Dims& dims : {Dims{3}, Dims{7, 5}, Dims{9000}, Dims{4, 3000, 3}, Dims{0, 2}}) {
      Tensor x = random_tensor(c, dtype, dims, 11, true);
      for (int64_t axis = 0; axis < static_cast<int64_t>(dims.size()); ++axis) {
        Attrs attrs = Attrs().set_ints(Attr::axes, Dims{axis});
        Tensor sum = run(c, Op::reduce_sum, {x}, attrs);
        for (Op part : {Op::real, Op::imag})
          CHECK(first_difference(run(c, part, {sum}), run(c, Op::reduce_sum, {run(c, part, {x})}, attrs)) == -1);
      }
    }
  }
}

TEST_CASE("products of complex matrices are four products of parts", "[complex]") {
  Context c(options(2));
  Tensor a = random_tensor(c, DType::C128, {5, 17}, 1, true), b = random_tensor(c, DType::C128, {17, 9}, 2, true);
  Tensor p = run(c, Op::matmul, {a, b});
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t j = 0; j < 9; ++j) {
      std::complex<double> sum = 0;
      double size = 0;
      for (int64_t k = 0; k < 17; ++k) {
        sum += number(a, i * 17 + k) * number(b, k * 9 + j);
        size += std::abs(number(a, i * 17 + k)) * std::abs(number(b, k * 9 + j));
      }
      CHECK(std::abs(sum - number(p, i * 9 + j)) <= 1e-14 * size);
    }
  }
}
