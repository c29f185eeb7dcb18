// Casts of every pair of types on every level against single-value conversions, and the values that TensorFlow gives; ranges and
// other tensors made from numbers.
#include "tests/unit/tensors.h"

#include "runtime/math/cast.h"
#include "runtime/math/half.h"

using namespace tfl;
using namespace tfl::test;

namespace {

template <class From, class To>
uint64_t single(const Tensor& t, int64_t i) {
  using F = std::conditional_t<std::is_same_v<From, bool>, uint8_t, From>;
  using S = std::conditional_t<std::is_same_v<To, bool>, uint8_t, To>;
  S out;
  store<S, 1>(&out, math::cast<To, From>(load<F, 1>(t.data<F>() + i)));
  uint64_t bits = 0;
  std::memcpy(&bits, &out, sizeof out);
  return bits;
}

#define TFL_CAST_TYPES(X) \
  X(F16, f16)             \
  X(BF16, bf16)           \
  X(F32, float)           \
  X(F64, double)          \
  X(I8, int8_t)           \
  X(I16, int16_t)         \
  X(I32, int32_t)         \
  X(I64, int64_t)         \
  X(U8, uint8_t)          \
  X(U16, uint16_t)        \
  X(U32, uint32_t)        \
  X(U64, uint64_t)        \
  X(Bool, bool)

template <class From>
uint64_t single_to(DType to, const Tensor& t, int64_t i) {
  switch (to) {
#define TFL_CASE(id, T) \
  case DType::id: return single<From, T>(t, i);
    TFL_CAST_TYPES(TFL_CASE)
#undef TFL_CASE
    default: return 0;
  }
}
uint64_t single_cast(DType to, const Tensor& t, int64_t i) {
  switch (t.dtype()) {
#define TFL_CASE(id, T) \
  case DType::id: return single_to<T>(to, t, i);
    TFL_CAST_TYPES(TFL_CASE)
#undef TFL_CASE
    default: return 0;
  }
}

std::vector<double> numbers(const Tensor& t, Context& c) {
  Tensor d = cast_to(c, t, DType::F64);
  return {d.data<double>(), d.data<double>() + d.size()};
}

}  // namespace

TEST_CASE("casts of every pair agree with single values, whatever the level and layout", "[cast]") {
  for (IsaLevel isa : isa_levels()) {
    Context c(options(2, isa));
    for (int from = 0; from < kRealTypes; ++from) {
      Tensor x = random_tensor(c, static_cast<DType>(from), {29, 11}, 5);
      Tensor turned = Tensor::view(c, x, Dims{11, 29}, Dims{1, 11}, 0);
      Tensor plain = contiguous(c, turned).take();
      for (int to = 0; to < kRealTypes; ++to) {
        auto target = static_cast<DType>(to);
        INFO(dtype_name(x.dtype()) << " to " << dtype_name(target));
        Tensor out = contiguous(c, cast_to(c, turned, target)).take();
        int64_t wrong = -1;
        for (int64_t i = 0; i < out.size(); ++i) {
          if (from != to && !same_bits(target, element_bits(out, i), single_cast(target, plain, i))) wrong = i;
        }
        CHECK(wrong == -1);
      }
    }
  }
}

TEST_CASE("casts out of range have defined results", "[cast]") {
  Context c(options(1));
  const double nan = __builtin_nan(""), inf = __builtin_inf();
  Tensor x = tensor<double>(c, DType::F64, {8}, {1.9, -1.9, 3e9, -3e9, 1e19, nan, inf, -inf});
  Tensor i32 = cast_to(c, x, DType::I32);
  CHECK(std::vector<int32_t>(i32.data<int32_t>(), i32.data<int32_t>() + 8) ==
        std::vector<int32_t>{1, -1, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN});
  Tensor i64 = cast_to(c, x, DType::I64);
  CHECK(i64.data<int64_t>()[3] == -3000000000);
  CHECK(i64.data<int64_t>()[4] == INT64_MIN);
  Tensor u32 = cast_to(c, x, DType::U32);
  CHECK(u32.data<uint32_t>()[1] == 4294967295u);
  CHECK(u32.data<uint32_t>()[2] == 3000000000u);
  CHECK(cast_to(c, x, DType::U64).data<uint64_t>()[4] == 10000000000000000000u);
  CHECK(cast_to(c, floats(c, {2}, {300.7f, -300.2f}), DType::I8).data<int8_t>()[0] == 44);
  CHECK(cast_to(c, floats(c, {2}, {static_cast<float>(nan), -0.0f}), DType::Bool).data<uint8_t>()[0] == 1);
  CHECK(cast_to(c, floats(c, {2}, {static_cast<float>(nan), -0.0f}), DType::Bool).data<uint8_t>()[1] == 0);
  CHECK(*cast_to(c, tensor<int64_t>(c, DType::I64, {}, {(int64_t{1} << 53) + 1}), DType::F64).data<double>() ==
        9007199254740992.0);
}

TEST_CASE("strings are not cast", "[cast]") {
  Context c(options(1));
  auto r = apply1(c, Op::cast, {ints(c, {}, {1})}, Attrs().set_dtype(Attr::dtype, DType::String));
  REQUIRE_FALSE(r.ok());
  CHECK(r.error().kind == ErrorKind::UnimplementedError);
  CHECK(r.error().message == "Cast int32 to string is not supported [Op:Cast] name: ");
}

TEST_CASE("bit casts change the last size", "[cast]") {
  Context c(options(1));
  Tensor x = tensor<int8_t>(c, DType::I8, {1, 4}, {1, 2, 3, 4});
  Tensor whole = apply1(c, Op::bitcast, {x}, Attrs().set_dtype(Attr::dtype, DType::I32)).take();
  CHECK(describe(whole) == "int32[1]");
  CHECK(*whole.data<int32_t>() == 67305985);
  CHECK(describe(apply1(c, Op::bitcast, {tensor<int64_t>(c, DType::I64, {1}, {1})}, Attrs().set_dtype(Attr::dtype, DType::I32))
                     .take()) == "int32[1, 2]");
  CHECK_FALSE(apply1(c, Op::bitcast, {tensor<int8_t>(c, DType::I8, {1}, {1})}, Attrs().set_dtype(Attr::dtype, DType::I32)).ok());
}

TEST_CASE("ranges count as TensorFlow does", "[create]") {
  Context c(options(1));
  auto range = [&](DType d, double start, double limit, double delta) {
    auto number = [&](double v) { return cast_to(c, tensor<double>(c, DType::F64, {}, {v}), d); };
    return apply1(c, Op::range, {number(start), number(limit), number(delta)});
  };
  CHECK(numbers(range(DType::I32, 10, 0, -3).take(), c) == std::vector<double>{10, 7, 4, 1});
  CHECK(range(DType::I32, 0, 0, 1).take().size() == 0);
  Tensor f = range(DType::F32, 0, 1, 0.1).take();
  REQUIRE(f.size() == 10);
  CHECK(element_bits(f, 7) == 1060320051);
  CHECK(element_bits(f, 9) == 1063675495);
  auto refused = [&](DType d, double start, double limit, double delta) {
    auto r = range(d, start, limit, delta);
    REQUIRE_FALSE(r.ok());
    return r.error().message;
  };
  CHECK(refused(DType::I32, 0, 10, 0) == "Requires delta != 0: 0 [Op:Range] name: ");
  CHECK(refused(DType::I32, 0, 10, -1) == "Requires start >= limit when delta < 0: 0/10 [Op:Range] name: ");
  CHECK(refused(DType::F32, 10, 0, 1) == "Requires start <= limit when delta > 0: 10/0 [Op:Range] name: ");
  CHECK(refused(DType::F32, 0, 1e30, 1) == "Requires ((limit - start) / delta) <= 9223372036854775807 [Op:Range] name: ");
  Tensor huge = tensor<int64_t>(c, DType::I64, {}, {INT64_MIN}), limit = tensor<int64_t>(c, DType::I64, {}, {INT64_MAX}),
         step = tensor<int64_t>(c, DType::I64, {}, {int64_t{1} << 62});
  Tensor wide = apply1(c, Op::range, {huge, limit, step}).take();
  REQUIRE(wide.size() == 4);
  CHECK(wide.data<int64_t>()[3] == int64_t{1} << 62);
}

TEST_CASE("linspace, fill and eye", "[create]") {
  Context c(options(1));
  Tensor points = apply1(c, Op::linspace, {floats(c, {}, {10}), floats(c, {}, {-3}), ints(c, {}, {11})}).take();
  CHECK(points.data<float>()[7] == 0.9000005722045898f);
  CHECK(points.data<float>()[10] == -3);
  Tensor filled =
      apply1(c, Op::fill,
             {ints(c, {2}, {2, 3}), tensor<std::string>(c, DType::String, {}, {"a long text that is not kept inline"})})
          .take();
  CHECK(describe(filled) == "string[2, 3]");
  CHECK(filled.data<std::string>()[5].size() == 35);
  Tensor eye = apply1(c, Op::eye, {ints(c, {3}, {2, 2, 3})}, Attrs().set_dtype(Attr::dtype, DType::F16)).take();
  CHECK(numbers(eye, c) == std::vector<double>{1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0});
  auto r = apply1(c, Op::fill, {ints(c, {2}, {2, -1}), ints(c, {}, {3})});
  REQUIRE_FALSE(r.ok());
  CHECK(r.error().message == "Dimension -1 must be >= 0 [Op:Fill] name: ");
}
