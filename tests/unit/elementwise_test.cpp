// Elementwise operations, table-wide: every row and type against its formula on single values, in every layout, on every
// instruction set level, with several threads.
#include "tests/unit/tensors.h"

#include "runtime/kernels/elementwise/elementwise_checks.h"
#include "runtime/kernels/isa/elementwise_loops.h"
#include "runtime/math/half.h"

using namespace tfl;
using namespace tfl::test;

namespace {

// The result of one row for single values: the formula itself.
template <class Row, class T>
uint64_t formula_bits(bool first, T x, T y, T z) {
  using V = Vec<T, 1>;
  uint64_t bits = 0;
  auto put = [&](auto v) { std::memcpy(&bits, &v, sizeof v); };
  auto r = [&] {
    if constexpr (Row::types == TypeClass::choice) {
      return Row::template value<V>(Mask<T, 1>(first), V(y), V(z));
    } else {
      return Row::template value<V>(V(x), V(y), V(z));
    }
  }();
  if constexpr (Row::result == ResultType::same) {
    put(r.get());
  } else if constexpr (Row::result == ResultType::boolean) {
    put(static_cast<uint8_t>(r[0]));
  } else {
    put(static_cast<uint8_t>(r.get()));
  }
  return bits;
}

// Compares `result` (contiguous) with the formula over contiguous operands of the same shape.
template <class Row, class T, bool Truth>
int64_t compare_row(std::span<const Tensor> in, const Tensor& result) {
  if constexpr (row_takes<T>(Row::types, Truth) && Row::result != ResultType::pair) {
    constexpr bool choice = Row::types == TypeClass::choice;
    for (int64_t i = 0; i < result.size(); ++i) {
      T v[3] = {};
      for (size_t k = choice ? 1 : 0; k < in.size(); ++k) v[k] = in[k].data<T>()[i];
      uint64_t want = formula_bits<Row, T>(choice && in[0].data<uint8_t>()[i], v[0], v[1], v[2]);
      if (!same_bits(result.dtype(), want, element_bits(result, i))) return i;
    }
    return -1;
  } else {
    return -1;
  }
}

template <class T, bool Truth = false>
int64_t compare(Op op, std::span<const Tensor> in, const Tensor& result) {
  constexpr int64_t (*kRows[])(std::span<const Tensor>, const Tensor&) = {
#define TFL_ELEMENTWISE(name, ...) compare_row<rows::Row_##name, T, Truth>,
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
  };
  return kRows[static_cast<size_t>(op)](in, result);
}

int64_t differs_from_formula(Context& c, Op op, std::vector<Tensor> in, Tensor result) {
  DType dtype = in.back().dtype();
  bool choice = op_info(op).types == TypeClass::choice;
  if (is_half_type(dtype) && !choice) {  // computed in f32, rounded once
    std::vector<Tensor> wide;
    for (const Tensor& t : in) wide.push_back(cast_to(c, t, DType::F32));
    Tensors results;
    REQUIRE(apply(c, op, {wide.data(), wide.size()}, {}, results));
    Tensor narrow = is_half_type(result.dtype()) ? cast_to(c, results[0], dtype) : results[0];
    return first_difference(narrow, result);
  }
  switch (dtype) {
    case DType::F16:
    case DType::BF16: return compare<uint16_t>(op, in, result);
    case DType::F32: return compare<float>(op, in, result);
    case DType::F64: return compare<double>(op, in, result);
    case DType::I8: return compare<int8_t>(op, in, result);
    case DType::I16: return compare<int16_t>(op, in, result);
    case DType::I32: return compare<int32_t>(op, in, result);
    case DType::I64: return compare<int64_t>(op, in, result);
    case DType::U8: return compare<uint8_t>(op, in, result);
    case DType::U16: return compare<uint16_t>(op, in, result);
    case DType::U32: return compare<uint32_t>(op, in, result);
    case DType::U64: return compare<uint64_t>(op, in, result);
    case DType::Bool: return compare<uint8_t, true>(op, in, result);
    default: return -1;
  }
}

// Operands that the row's checks let pass.
Tensor operand(Context& c, Op op, size_t k, DType dtype, Dims dims, uint32_t seed) {
  if (op_info(op).types == TypeClass::choice && k == 0) dtype = DType::Bool;
  Tensor t = random_tensor(c, dtype, std::move(dims), seed);
  if (row_has_checks(op) && k == 1 && is_integer(dtype)) {
    int64_t size = static_cast<int64_t>(dtype_size(dtype));
    for (int64_t i = 0; i < t.size(); ++i) {
      auto* low = reinterpret_cast<uint8_t*>(t.raw() + i * size);
      auto* high = reinterpret_cast<uint8_t*>(t.raw() + (i + 1) * size - 1);
      if (op == Op::pow) *high &= 0x7f;
      if (op != Op::pow) *low |= 1;
    }
  }
  return t;
}

Tensor broadcast_to(Context& c, const Tensor& t, const Dims& dims) {
  Tensor view = Tensor::view(
      c, t, dims,
      [&] {
        Dims s(dims.size());
        size_t skip = dims.size() - static_cast<size_t>(t.rank());
        for (size_t i = skip; i < dims.size(); ++i)
          s[i] = t.dim(static_cast<int>(i - skip)) == dims[i] ? t.strides()[i - skip] : 0;
        return s;
      }(),
      0);
  return contiguous(c, view).take();
}

template <class F>
void for_every_row_and_type(F&& f) {
  for (int i = 0; i < kElementwiseCount; ++i) {
    Op op = static_cast<Op>(i);
    for (int d = 0; d < kDTypeCount; ++d) {
      auto dtype = static_cast<DType>(d);
      if (type_class_has(op_info(op).types, dtype)) f(op, dtype);
    }
  }
}

Tensor run(Context& c, Op op, const std::vector<Tensor>& in) {
  Tensors results;
  auto r = apply(c, op, {in.data(), in.size()}, {}, results);
  if (!r) FAIL(op_info(op).name << ": " << r.error().message);
  return results[0];
}

}  // namespace

TEST_CASE("every row has a loop for every type it takes, on every level", "[elementwise]") {
  for_every_row_and_type([&](Op op, DType dtype) {
    if (dtype == DType::String || is_half_type(dtype)) return;
    for (IsaLevel isa : isa_levels()) {
      INFO(op_info(op).name << " " << dtype_name(dtype));
      CHECK(elementwise_loops(isa).of[static_cast<int>(dtype)][static_cast<int>(op)] != nullptr);
    }
  });
}

TEST_CASE("rows compute their formulas in every layout", "[elementwise]") {
  for (IsaLevel isa : isa_levels()) {
    Context c(options(1, isa));
    for_every_row_and_type([&](Op op, DType dtype) {
      if (dtype == DType::String) return;
      INFO(op_info(op).name << " " << dtype_name(dtype) << " level " << static_cast<int>(isa));
      auto n = static_cast<size_t>(op_info(op).max_operands);
      for (const Dims& dims : {Dims{}, Dims{0}, Dims{3}, Dims{61}, Dims{2, 0, 3}, Dims{7, 5}}) {
        std::vector<Tensor> in;
        for (size_t k = 0; k < n; ++k) in.push_back(operand(c, op, k, dtype, dims, static_cast<uint32_t>(17 * k + dims.size())));
        Tensor out = run(c, op, in);
        CHECK(shape_text(out.dims()) == shape_text(dims));
        CHECK(differs_from_formula(c, op, in, out) == -1);
      }
      // Strided: transposed, reversed, every second element.
      std::vector<Tensor> strided, plain;
      for (size_t k = 0; k < n; ++k) {
        Tensor base = operand(c, op, k, dtype, {31, 14}, static_cast<uint32_t>(k + 5));
        Tensor view = k == 0   ? Tensor::view(c, base, Dims{14, 31}, Dims{1, 14}, 0)
                      : k == 1 ? Tensor::view(c, base, Dims{14, 31}, Dims{-1, 14}, 13)
                               : Tensor::view(c, operand(c, op, k, dtype, {14, 62}, 9), Dims{14, 31}, Dims{62, 2}, 0);
        strided.push_back(view);
        plain.push_back(contiguous(c, view).take());
      }
      Tensor out = run(c, op, strided);
      CHECK(out.contiguous());
      CHECK(differs_from_formula(c, op, plain, out) == -1);
      if (n < 2) return;
      // Broadcast: every operand against every other.
      const std::vector<std::vector<Dims>> shapes = {{{5, 1, 7}, {3, 1}, {}},     {{}, {40, 10}, {10}},
                                                     {{10}, {40, 10}, {40, 1}},   {{4, 300}, {300}, {4, 1}},
                                                     {{2, 3, 1}, {2, 1, 5}, {1}}, {{9, 3}, {1, 1}, {}}};
      for (const auto& shape : shapes) {
        Dims whole;
        std::vector<Tensor> in;
        for (size_t k = 0; k < n; ++k) {
          in.push_back(operand(c, op, k, dtype, shape[k], static_cast<uint32_t>(k + 31)));
          while (whole.size() < shape[k].size()) whole.insert(0, 1);
          for (size_t i = 0; i < shape[k].size(); ++i) {
            int64_t& w = whole[whole.size() - shape[k].size() + i];
            w = std::max(w, shape[k][i]);
          }
        }
        std::vector<Tensor> expanded;
        for (const Tensor& t : in) expanded.push_back(broadcast_to(c, t, whole));
        Tensor result = run(c, op, in);
        CHECK(shape_text(result.dims()) == shape_text(whole));
        CHECK(differs_from_formula(c, op, expanded, result) == -1);
      }
    });
  }
}

TEST_CASE("large results agree for every level and number of threads", "[elementwise]") {
  Context reference(options(1, IsaLevel::base));
  for_every_row_and_type([&](Op op, DType dtype) {
    if (dtype == DType::String || dtype == DType::F64 || dtype == DType::I16 || dtype == DType::U32) return;
    bool slow = op == Op::igamma || op == Op::igammac || op == Op::betainc || op == Op::zeta || op == Op::polygamma;
    int64_t size = slow ? 2001 : 140003;
    auto n = static_cast<size_t>(op_info(op).max_operands);
    std::vector<Tensor> in;
    for (size_t k = 0; k < n; ++k) in.push_back(operand(reference, op, k, dtype, {size}, static_cast<uint32_t>(k + 77)));
    Tensor want = run(reference, op, in);
    for (auto [threads, isa] : {std::pair{2, IsaLevel::v4}, {3, IsaLevel::v3}}) {
      INFO(op_info(op).name << " " << dtype_name(dtype) << " threads " << threads);
      Context c(options(threads, isa));
      std::vector<Tensor> own;
      for (size_t k = 0; k < n; ++k) own.push_back(operand(c, op, k, dtype, {size}, static_cast<uint32_t>(k + 77)));
      CHECK(first_difference(run(c, op, own), want) == -1);
    }
  });
}

TEST_CASE("errors of elementwise operations are TensorFlow's", "[elementwise]") {
  Context c(options(1));
  auto message = [&](Op op, std::vector<Tensor> in) {
    Tensors results;
    auto r = apply(c, op, {in.data(), in.size()}, {}, results);
    REQUIRE_FALSE(r.ok());
    CHECK(r.error().kind == ErrorKind::InvalidArgumentError);
    return r.error().message;
  };
  Tensor i = ints(c, {2}, {1, 2}), f = floats(c, {2}, {1, 2}), zero = ints(c, {}, {0});
  CHECK(message(Op::add, {i, f}) ==
        "cannot compute AddV2 as input #1(zero-based) was expected to be a int32 tensor but is a float tensor "
        "[Op:AddV2] name: ");
  CHECK(message(Op::add, {floats(c, {2, 3}, std::vector<float>(6)), floats(c, {4}, std::vector<float>(4))}) ==
        "Incompatible shapes: [2,3] vs. [4] [Op:AddV2] name: ");
  CHECK(message(Op::logical_and, {i, i}) ==
        "cannot compute LogicalAnd as input #0(zero-based) was expected to be a bool tensor but is a int32 tensor "
        "[Op:LogicalAnd] name: ");
  CHECK(message(Op::floordiv, {i, zero}) == "Integer division by zero [Op:FloorDiv] name: ");
  CHECK(message(Op::mod, {i, ints(c, {2}, {1, 0})}) == "Integer division by zero [Op:FloorMod] name: ");
  CHECK(message(Op::pow, {i, ints(c, {}, {-1})}) == "Integers to negative integer powers are not allowed [Op:Pow] name: ");
  CHECK(message(Op::exp, {i})
            .starts_with("Value for attr 'T' of int32 is not in the list of allowed values: half, bfloat16, float, double"));
  Tensor cond = tensor<uint8_t>(c, DType::Bool, {2}, {1, 0});
  CHECK(message(Op::where, {i, i, i}) ==
        "cannot compute SelectV2 as input #0(zero-based) was expected to be a bool tensor but is a int32 tensor "
        "[Op:SelectV2] name: ");
  CHECK(message(Op::where, {cond, i, f}) ==
        "cannot compute SelectV2 as input #2(zero-based) was expected to be a int32 tensor but is a float tensor "
        "[Op:SelectV2] name: ");
  CHECK(message(Op::where, {cond, ints(c, {3}, {1, 2, 3}), ints(c, {1}, {1})}) ==
        "condition [2], then [3], and else [1] must be broadcastable [Op:SelectV2] name: ");
  // No element, no division.
  CHECK(run(c, Op::floordiv, {ints(c, {0}, {}), zero}).size() == 0);
}

TEST_CASE("strings compare, join and are chosen", "[elementwise]") {
  Context c(options(1));
  Tensor a = tensor<std::string>(c, DType::String, {3}, {"a", "b", "c"}), b = tensor<std::string>(c, DType::String, {}, {"b"});
  Tensor equal = run(c, Op::equal, {a, b});
  CHECK(equal.data<uint8_t>()[0] == 0);
  CHECK(equal.data<uint8_t>()[1] == 1);
  CHECK(run(c, Op::add, {a, b}).data<std::string>()[2] == "cb");
  CHECK(run(c, Op::where, {equal, a, b}).data<std::string>()[1] == "b");
}

TEST_CASE("a result takes over the memory of an operand that nobody else holds", "[elementwise]") {
  Context c(options(1));
  Tensor in[2] = {random_tensor(c, DType::F32, {1000}, 1), random_tensor(c, DType::F32, {1000}, 2)};
  Tensor plain = run(c, Op::subtract, {in[0], in[1]});
  const std::byte* memory = in[0].raw();
  Tensors results;
  REQUIRE(apply_consuming(c, Op::subtract, in, {}, results));
  CHECK(results[0].raw() == memory);
  CHECK(first_difference(results[0], plain) == -1);
  // Shared memory stays untouched.
  Tensor shared = random_tensor(c, DType::F32, {1000}, 3), kept = shared;
  Tensor both[2] = {shared, random_tensor(c, DType::F32, {1}, 2)};
  results.clear();
  REQUIRE(apply_consuming(c, Op::add, both, {}, results));
  CHECK(results[0].raw() != kept.raw());
}
