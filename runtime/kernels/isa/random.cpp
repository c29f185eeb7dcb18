// Random words and numbers of this level: a vector holds a group of words, or a pair of numbers, in each of its lanes of 64
// bits. What they are is told by runtime/kernels/random/philox.h and random_words.h, which say the same for one group.
#include "runtime/kernels/random/random_kernels.h"

#include "runtime/math/log.h"
#include "runtime/math/trig.h"

namespace tfl {
inline namespace TFL_ISA {

namespace {

constexpr int N = kLanes<std::uint64_t>;
using Lanes = Vec<std::uint64_t, N>;
using Doubles = Vec<double, N>;
using Floats = Vec<float, N>;
constexpr std::uint64_t kLow = 0xffffffffu;
constexpr double kTwoPi = 6.2831853071795864769;

// The product of the lower halves of the lanes with a factor of 32 bits.
TFL_INLINE Lanes low_product(const Lanes& x, std::uint32_t factor) {
#if defined(__SSE2__)
  return detail::lift<Lanes>(
      [](auto a, auto b) {
        using R = decltype(a);
#if TFL_HAS_AVX512
        return (R)_mm512_maskz_mul_epu32((__mmask8)-1, (__m512i)a, (__m512i)b);
#elif TFL_HAS_AVX2
        return (R)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#else
        return (R)_mm_mul_epu32((__m128i)a, (__m128i)b);
#endif
      },
      x, Lanes(std::uint64_t{factor}));
#else
  return (x & kLow) * std::uint64_t{factor};
#endif
}

// a[0], b[0], a[1], b[1], ...: the first or the second half of them.
template <int First, class R, int... I>
TFL_INLINE R zipped(R a, R b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (First + I / 2 + I % 2 * static_cast<int>(sizeof...(I)))...);
}

void words(const PhiloxState& s, std::uint64_t first, std::uint64_t step, std::int64_t groups, std::uint32_t* out) {
  constexpr auto kAll = std::make_integer_sequence<int, N>();
  std::uint64_t numbers[N];
  for (int i = 0; i < N; ++i) numbers[i] = (first + static_cast<std::uint64_t>(i)) * step;
  Lanes number = Lanes::load(numbers);
  for (std::int64_t g = 0; g < groups; g += N, number = number + N * step, out += 4 * N) {
    Lanes low = number + s.low, high = Lanes(s.high) + select(low < number, Lanes(1), Lanes(0));
    // Above its word a lane may hold anything: products and the end look at the lower half alone.
    Lanes c0 = low, c1 = shr(low, 32), c2 = high, c3 = shr(high, 32);
    std::uint32_t k0 = s.key[0], k1 = s.key[1];
    for (int round = 0; round < 10; ++round) {
      Lanes p0 = low_product(c0, 0xD2511F53u), p1 = low_product(c2, 0xCD9E8D57u);
      c0 = shr(p1, 32) ^ c1 ^ std::uint64_t{k0};
      c2 = shr(p0, 32) ^ c3 ^ std::uint64_t{k1};
      c1 = p1;
      c3 = p0;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    Lanes a = (c0 & kLow) | shl(c1, 32), b = (c2 & kLow) | shl(c3, 32);
    Lanes lower, upper;
    lower.r = zipped<0>(a.r, b.r, kAll);
    upper.r = zipped<N / 2>(a.r, b.r, kAll);
    lower.store(out);
    upper.store(out + 2 * N);
  }
}

void unit_f32(const std::uint32_t* from, std::int64_t n, float* out) {
  using W = Vec<std::uint32_t, kLanes<float>>;
  for (std::int64_t i = 0; i < n; i += W::lanes) {
    W bits = (W::load(from + i) & 0x7fffffu) | (127u << 23);
    (bitcast<float>(bits) - 1.0f).store(out + i);
  }
}

// Of the mantissa in the lower 52 bits.
TFL_INLINE Doubles unit(const Lanes& mantissa) { return bitcast<double>(mantissa | std::uint64_t{1023} << 52) - 1.0; }
TFL_INLINE Doubles unit_of_words(const Lanes& two) { return unit(shl(two & 0xfffffu, 32) | shr(two, 32)); }
// What unit_float gives, as doubles.
TFL_INLINE Doubles unit_of_word(const Lanes& word) { return unit(shl(word & 0x7fffffu, 29)); }

void unit_f64(const std::uint32_t* from, std::int64_t n, double* out) {
  for (std::int64_t i = 0; i < n; i += N) unit_of_words(Lanes::load(from + 2 * i)).store(out + i);
}

struct Turn {
  Doubles sine, cosine;
};
// Of an angle of at most a turn, which needs no more than the reduction of small angles.
TFL_INLINE Turn turn(const Doubles& angle) {
  math::Reduced<Doubles> a = math::reduce_medium(angle);
  Doubles sine = select(angle == 0, angle, math::sin_of(a));
  a.quadrant = a.quadrant + 1;
  return {sine, math::sin_of(a)};
}

void normal_f32(const std::uint32_t* from, std::int64_t pairs, float* out) {
  for (std::int64_t i = 0; i < pairs; i += N) {
    Lanes two = Lanes::load(from + 2 * i);
    Doubles u = unit_of_word(two);
    u = select(u < static_cast<double>(1.0e-7f), Doubles(static_cast<double>(1.0e-7f)), u);
    Floats angle = convert<float>(unit_of_word(shr(two, 32)) * kTwoPi);
    Floats length = sqrt(convert<float>(math::log(u)) * -2.0f);
    Turn t = turn(convert<double>(angle));
    Floats a = convert<float>(t.sine) * length, b = convert<float>(t.cosine) * length;
    Lanes pair = convert<std::uint64_t>(bitcast<std::uint32_t>(a)) | shl(convert<std::uint64_t>(bitcast<std::uint32_t>(b)), 32);
    pair.store(out + 2 * i);
  }
}

void normal_f64(const std::uint32_t* from, std::int64_t pairs, double* out) {
  constexpr auto kAll = std::make_integer_sequence<int, N>();
  for (std::int64_t i = 0; i < pairs; i += N) {
    std::uint64_t first[N], second[N];
    for (int j = 0; j < N; ++j) {
      std::memcpy(&first[j], from + 4 * (i + j), sizeof first[j]);
      std::memcpy(&second[j], from + 4 * (i + j) + 2, sizeof second[j]);
    }
    Doubles u = unit_of_words(Lanes::load(first));
    u = select(u < 1.0e-7, Doubles(1.0e-7), u);
    Doubles length = sqrt(math::log(u) * -2.0);
    Turn t = turn(unit_of_words(Lanes::load(second)) * kTwoPi);
    Doubles a = t.sine * length, b = t.cosine * length, lower, upper;
    lower.r = zipped<0>(a.r, b.r, kAll);
    upper.r = zipped<N / 2>(a.r, b.r, kAll);
    lower.store(out + 2 * i);
    upper.store(out + 2 * i + N);
  }
}

}  // namespace

extern const RandomKernels kRandomKernels;
const RandomKernels kRandomKernels = {words, unit_f32, unit_f64, normal_f32, normal_f64};

}  // namespace TFL_ISA
}  // namespace tfl
