// Half types, casts and integer formulas of runtime/math.
#include <limits>
#include <random>
#include "tests/catch.h"

#include "runtime/math/cast.h"
#include "tests/unit/math_kernels.h"

using namespace math_kernels;
using tfl::bf16;
using tfl::DType;
using tfl::f16;
using tfl::Op;

TEST_CASE("half: every f16 and bf16 survives the way through f32 at every level", "[math]") {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  auto n = static_cast<std::int64_t>(all.size());
  for (const Level& level : levels()) {
    const tfl::HalfLoops& loops = tfl::half_loops(level.isa);
    for (DType type : {DType::F16, DType::BF16}) {
      std::vector<float> wide(all.size());
      std::vector<std::uint16_t> back(all.size());
      loops.widen(type, n, reinterpret_cast<const std::byte*>(all.data()), wide.data());
      loops.narrow(type, n, wide.data(), reinterpret_cast<std::byte*>(back.data()));
      int wrong = 0;
      for (std::size_t i = 0; i < all.size(); ++i) wrong += !std::isnan(wide[i]) && back[i] != all[i];
      CHECK(wrong == 0);
    }
  }
  CHECK(tfl::to_f32(f16{0x0001}) == 0x1p-24f);
  CHECK(tfl::to_f32(f16{0x7bff}) == 65504.0f);
  CHECK(tfl::to_f32(bf16{0x3f80}) == 1.0f);
}

TEST_CASE("half: rounding to nearest even, once", "[math]") {
  CHECK(tfl::to_f16(1.0f + 0x1p-11f).bits == 0x3c00);  // a tie goes to even
  CHECK(tfl::to_f16(1.0f + 0x1p-11f + 0x1p-20f).bits == 0x3c01);
  CHECK(tfl::to_f16(1.0 + 0x1p-11 + 0x1p-40).bits == 0x3c01);  // through f32 it would be a tie
  CHECK(tfl::to_f16(65519.99f).bits == 0x7bff);
  CHECK(tfl::to_f16(65520.0f).bits == 0x7c00);
  CHECK(tfl::to_f16(-1e30).bits == 0xfc00);
  CHECK(tfl::to_f16(0x1p-25f).bits == 0);
  CHECK(tfl::to_f16(0x1.8p-25f).bits == 1);
  CHECK(tfl::to_f16(0x1p-1000).bits == 0);
  CHECK(tfl::to_f16(-0.0f).bits == 0x8000);
  CHECK((tfl::to_f16(std::numeric_limits<float>::quiet_NaN()).bits & 0x7e00) == 0x7e00);
  CHECK(tfl::to_bf16(1.0f + 0x1p-8f).bits == 0x3f80);
  CHECK(tfl::to_bf16(1.0 + 0x1p-8 + 0x1p-40).bits == 0x3f81);
  CHECK(tfl::to_bf16(std::numeric_limits<float>::max()).bits == 0x7f80);
  CHECK(tfl::to_bf16(0x1p-133f).bits == 0x0001);
  CHECK(tfl::to_bf16(1e-300).bits == 0);
  CHECK(tfl::to_bf16(std::numeric_limits<double>::quiet_NaN()).bits == 0x7fc0);
}

TEST_CASE("half: narrowing gives the same bits at every level", "[math]") {
  std::mt19937 engine(5);
  std::vector<float> x(50003);
  for (float& v : x) {
    std::uint32_t bits = engine();
    if (engine() & 1) bits = (bits & 0x8fffffff) | 0x30000000 | (engine() % 3) << 27;  // around the range of f16
    std::memcpy(&v, &bits, sizeof v);
  }
  for (DType type : {DType::F16, DType::BF16}) {
    for (const Level& level : levels()) {
      std::vector<std::uint16_t> out(x.size());
      tfl::half_loops(level.isa).narrow(type, static_cast<std::int64_t>(x.size()), x.data(),
                                        reinterpret_cast<std::byte*>(out.data()));
      int wrong = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        std::uint16_t want = type == DType::F16 ? tfl::to_f16(x[i]).bits : tfl::to_bf16(x[i]).bits;
        wrong += !std::isnan(x[i]) && out[i] != want;
      }
      CHECK(wrong == 0);
    }
  }
}

namespace {
template <class To, class From>
auto cast(From x) {
  return tfl::math::cast<To, From>(tfl::Vec<From, 1>(x)).get();
}
}  // namespace

TEST_CASE("cast: floats to integers are defined for every value", "[math]") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (float x : {inf, -inf, nan, 3e9f, -3e9f, 0x1p31f}) {
    CHECK(cast<std::int32_t>(x) == INT32_MIN);
    CHECK(cast<std::int32_t>(static_cast<double>(x)) == INT32_MIN);
    CHECK(cast<std::int8_t>(x) == 0);
  }
  CHECK(cast<std::int32_t>(2147483647.9) == 2147483647);
  CHECK(cast<std::int32_t>(-2147483648.9) == INT32_MIN);
  CHECK(cast<std::int32_t>(-0x1p31f) == INT32_MIN);
  CHECK(cast<std::int8_t>(300.7f) == 44);
  CHECK(cast<std::uint8_t>(-300.7f) == 212);
  CHECK(cast<std::uint16_t>(-1.5) == 65535);
  CHECK(cast<std::int64_t>(9.3e18) == INT64_MIN);
  CHECK(cast<std::int64_t>(-1e19f) == INT64_MIN);
  CHECK(cast<std::int64_t>(nan) == INT64_MIN);
  CHECK(cast<std::int64_t>(-3e9) == -3000000000);
  CHECK(cast<std::uint32_t>(3e9f) == 3000000000u);
  CHECK(cast<std::uint32_t>(-300.7f) == 4294966996u);
  CHECK(cast<std::uint32_t>(nan) == 0);
  const std::uint64_t half = std::uint64_t{1} << 63;
  for (double x : {double(inf), double(-inf), double(nan), 1.9e19, -1e19}) CHECK(cast<std::uint64_t>(x) == half);
  CHECK(cast<std::uint64_t>(1e19) == 10000000000000000000u);
  CHECK(cast<std::uint64_t>(-300.7f) == 18446744073709551316u);
  CHECK(cast<std::uint64_t>(9.3e18f) == 9300000300729368576u);
  CHECK(cast<bool>(nan) == 1);
  CHECK(cast<bool>(-0.0f) == 0);
  CHECK(cast<bool>(0.1f) == 1);
}

TEST_CASE("cast: integers and floats", "[math]") {
  CHECK(cast<float>(std::int32_t{16777217}) == 16777216.0f);
  CHECK(cast<float>(std::uint64_t{18446744073709551615u}) == 0x1p64f);
  CHECK(cast<double>(std::uint64_t{9223372036854776833u}) == 9223372036854777856.0);
  CHECK(cast<float>(1e-40) == 1e-40f);  // subnormal, kept
  CHECK(cast<std::int8_t>(std::int32_t{300}) == 44);
  CHECK(cast<std::uint64_t>(std::int32_t{-1}) == std::numeric_limits<std::uint64_t>::max());
  CHECK(cast<std::int64_t>(std::uint32_t{4294967295u}) == 4294967295);
  // f64 to f16 in two steps, rounded once.
  float odd = cast<f16>(1.0 + 0x1p-11 + 0x1p-40);
  CHECK(tfl::to_f16(odd).bits == 0x3c01);
}

namespace {
// Every pair of bytes.
template <class T>
void check_pairs(DType type) {
  std::vector<T> x(65536), y(65536);
  for (std::size_t i = 0; i < 65536; ++i) {
    x[i] = static_cast<T>(i);
    y[i] = static_cast<T>(i >> 8);
  }
  for (const Level& level : levels()) {
    auto result = [&](Op op) { return compute<T>(level.isa, type, op, x, y); };
    std::vector<T> fdiv = result(Op::floordiv), fmod = result(Op::mod), tdiv = result(Op::truncatediv),
                   tmod = result(Op::truncatemod);
    std::vector<T> left = result(Op::left_shift), right = result(Op::right_shift), product = result(Op::multiply);
    int wrong = 0;
    for (std::size_t i = 0; i < 65536; ++i) {
      int a = x[i], b = y[i];
      if (b != 0) {
        int q = a / b, r = a % b, f = q - (r != 0 && (r < 0) != (b < 0));
        wrong += tdiv[i] != static_cast<T>(q) || tmod[i] != static_cast<T>(r);
        wrong += fdiv[i] != static_cast<T>(f) || fmod[i] != static_cast<T>(a - f * b);
      }
      int count = b < 0 ? 0 : b > 7 ? 7 : b;
      wrong +=
          left[i] != static_cast<T>(a << count) || right[i] != static_cast<T>(a >> count) || product[i] != static_cast<T>(a * b);
    }
    CHECK(wrong == 0);
  }
}
}  // namespace

TEST_CASE("integers: every pair of bytes divides, shifts and multiplies as defined", "[math]") {
  check_pairs<std::int8_t>(DType::I8);
  check_pairs<std::uint8_t>(DType::U8);
}

TEST_CASE("integers: powers, extremes, counts", "[math]") {
  for (const Level& level : levels()) {
    using V = std::vector<std::int32_t>;
    CHECK(compute(level.isa, DType::I32, Op::pow, V{3, -2, 0, 7, 5, 2}, V{20, 31, 0, 40, 1, 35}) ==
          V{-808182895, INT32_MIN, 1, -142118463, 5, 0});
    CHECK(compute(level.isa, DType::I32, Op::floordiv, V{INT32_MIN, 7}, V{-1, -2}) == V{INT32_MIN, -4});
    CHECK(compute(level.isa, DType::I32, Op::mod, V{INT32_MIN, 7}, V{-1, -2}) == V{0, -1});
    CHECK(compute(level.isa, DType::I32, Op::abs, V{INT32_MIN, -5}) == V{INT32_MIN, 5});
    CHECK(compute(level.isa, DType::I32, Op::sign, V{INT32_MIN, 0, 9}) == V{-1, 0, 1});
    std::vector<std::int64_t> bits{-1, 3, 0, INT64_MIN};
    std::vector<std::byte> counts = run(loop(level.isa, DType::I64, Op::population_count), 4, 1, bits.data());
    CHECK(counts == std::vector<std::byte>{std::byte{64}, std::byte{2}, std::byte{0}, std::byte{1}});
    using L = std::vector<std::int64_t>;
    CHECK(compute(level.isa, DType::I64, Op::left_shift, L{1, 1, 1}, L{63, 64, -1}) == L{INT64_MIN, INT64_MIN, 1});
    CHECK(compute(level.isa, DType::I64, Op::right_shift, L{-8, -8, 64}, L{63, 99, -1}) == L{-1, -1, 64});
  }
}
