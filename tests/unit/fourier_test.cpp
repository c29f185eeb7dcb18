// Fourier transforms against the sum that defines them, and to the bit among instruction set levels, threads and layouts.
#include <cmath>
#include <cstring>
#include <numbers>

#include "runtime/kernels/context_workers.h"
#include "runtime/kernels/fourier/fourier_loops.h"
#include "tests/unit/tensors.h"

using namespace tfl;
using namespace tfl::test;

namespace {

template <class T>
std::vector<T> noise(int64_t n) {
  std::vector<T> x(static_cast<size_t>(n));
  uint64_t state = 88172645463325252u;
  for (T& v : x) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    v = static_cast<T>(static_cast<double>(state >> 11) / (1 << 30) / (1 << 22) - 1);
  }
  return x;
}

struct How {
  FourierKind kind = FourierKind::complex;
  bool inverse = false;
  FourierNorm norm = FourierNorm::none;
  int64_t outer = 1, n = 1, inner = 1;
};

int64_t row_of(const How& how, bool result) {
  const bool half = how.kind == (result ? FourierKind::to_half : FourierKind::from_half);
  return half ? 2 * (how.n / 2 + 1) : how.kind == FourierKind::complex ? 2 * how.n : how.n;
}

template <class T>
std::vector<T> transform(Context& context, const How& how, const std::vector<T>& x, int64_t lots = 4) {
  std::vector<T> y(static_cast<size_t>(how.outer * how.inner * row_of(how, true)));
  const int64_t room = fourier::fourier_room(how.kind, how.n, how.inner);
  std::vector<T> z(static_cast<size_t>(2 * room * lots));
  RoutineCall c{};
  c.flags = static_cast<int64_t>(how.kind) | (how.inverse ? kFourierInverse : 0) | static_cast<int64_t>(how.norm) << kFourierNorm;
  c.at[0] = const_cast<T*>(x.data());
  c.at[1] = y.data();
  c.at[2] = z.data();
  c.sizes[0] = how.outer;
  c.sizes[1] = how.n;
  c.sizes[2] = how.inner;
  c.sizes[3] = room;
  c.sizes[4] = lots;
  FourierPlans plans;
  const FourierLevel& level = fourier_level(context.isa());
  bool done;
  if constexpr (sizeof(T) == 4)
    done = fourier::transform_all<float>(workers_of(context), plans, *level.f32, *level.f64, c);
  else
    done = fourier::transform_all<double>(workers_of(context), plans, *level.f64, *level.f64, c);
  REQUIRE(done);
  return y;
}

ContextOptions at(int threads, IsaLevel isa = IsaLevel::v4) {
  ContextOptions o;
  o.threads = threads;
  o.max_isa = isa;
  return o;
}

/// The farthest that a result is from the sum in long double, over the root of its mean square, in units of T's epsilon.
template <class T>
double distance(const How& how, const std::vector<T>& x, const std::vector<T>& y) {
  const int64_t n = how.n, bins = how.kind == FourierKind::to_half ? n / 2 + 1 : n;
  std::vector<long double> re(static_cast<size_t>(n)), im(static_cast<size_t>(n));
  double worst = 0;
  const T *from = x.data(), *to = y.data();
  for (int64_t i = 0; i < n; ++i) {
    const size_t at = static_cast<size_t>(i);
    if (how.kind == FourierKind::complex) re[at] = from[2 * i], im[at] = from[2 * i + 1];
    if (how.kind == FourierKind::to_half) re[at] = from[i];
    if (how.kind == FourierKind::from_half) {
      const int64_t k = std::min(i, n - i);
      re[at] = from[2 * k];
      im[at] = k == 0 || 2 * k == n ? 0 : i == k ? from[2 * k + 1] : -from[2 * k + 1];
    }
  }
  const bool inverse = how.inverse || how.kind == FourierKind::from_half;
  const long double scale = how.norm == FourierNorm::none    ? 1
                            : how.norm == FourierNorm::whole ? 1.0L / n
                                                             : 1 / std::sqrt(1.0L * n);
  long double energy = 0;
  for (int64_t i = 0; i < n; ++i)
    energy += re[static_cast<size_t>(i)] * re[static_cast<size_t>(i)] + im[static_cast<size_t>(i)] * im[static_cast<size_t>(i)];
  const long double norm = std::sqrt(energy) * scale;
  for (int64_t k = 0; k < bins; k += bins > 200 ? 37 : 1) {
    long double a = 0, b = 0;
    for (int64_t i = 0; i < n; ++i) {
      const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(i * k % n) / n;
      const long double c = std::cos(angle), s = inverse ? std::sin(angle) : -std::sin(angle);
      const size_t at = static_cast<size_t>(i);
      a += re[at] * c - im[at] * s;
      b += re[at] * s + im[at] * c;
    }
    const long double got_a = how.kind == FourierKind::from_half ? to[k] : to[2 * k],
                      got_b = how.kind == FourierKind::from_half ? b * scale : to[2 * k + 1];
    worst = std::max(worst, static_cast<double>(std::hypot(got_a - a * scale, got_b - b * scale) / norm));
  }
  return worst / static_cast<double>(std::numeric_limits<T>::epsilon());
}

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

// One step, two steps, three, convolutions.
constexpr int64_t kLengths[] = {1,   2,   3,   4,   5,   6,   7,   8,   9,    10,   11,   12,   13,   15,  16,  17,
                                21,  25,  32,  35,  47,  63,  64,  65,  67,   96,   100,  121,  127,  128, 131, 169,
                                200, 227, 243, 256, 262, 333, 512, 625, 1000, 1009, 1024, 2310, 4096, 4099};

template <class T>
void check_lengths() {
  Context best(at(1));
  for (int64_t n : kLengths) {
    for (FourierKind kind : {FourierKind::complex, FourierKind::to_half, FourierKind::from_half}) {
      How how{kind, false, FourierNorm::none, 1, n};
      CAPTURE(n, static_cast<int>(kind));
      std::vector<T> x = noise<T>(row_of(how, false));
      CHECK(distance(how, x, transform(best, how, x)) < 8);
      how.norm = n % 2 ? FourierNorm::whole : FourierNorm::root;
      how.inverse = kind == FourierKind::complex;
      CHECK(distance(how, x, transform(best, how, x)) < 8);
    }
  }
}

template <class T>
void check_bits() {
  Context best(at(1)), threads(at(3)), middle(at(1, IsaLevel::v3)), plain(at(1, IsaLevel::base));
  for (int64_t n : kLengths) {
    for (FourierKind kind : {FourierKind::complex, FourierKind::to_half, FourierKind::from_half}) {
      How how{kind, false, FourierNorm::root, 19, n};
      CAPTURE(n, static_cast<int>(kind));
      std::vector<T> x = noise<T>(how.outer * row_of(how, false)), y = transform(best, how, x);
      CHECK(same(y, transform(threads, how, x)));
      CHECK(same(y, transform(middle, how, x)));
      if (n < 600) CHECK(same(y, transform(plain, how, x)));
      How one = how;  // a row by itself
      one.outer = 1;
      x.resize(static_cast<size_t>(row_of(how, false)));
      y.resize(static_cast<size_t>(row_of(how, true)));
      CHECK(same(y, transform(best, one, x)));
    }
    // As columns of a matrix.
    for (int64_t columns : {3, 16, 21}) {
      How rows{FourierKind::complex, true, FourierNorm::whole, columns, n}, side = rows;
      side.outer = 1;
      side.inner = columns;
      CAPTURE(n, columns);
      std::vector<T> x = noise<T>(2 * n * columns), turned(x.size()), expected(x.size()), y = transform(best, rows, x);
      for (int64_t i = 0; i < columns; ++i) {
        for (int64_t k = 0; k < n; ++k) {
          std::memcpy(&turned[static_cast<size_t>(2 * (k * columns + i))], &x[static_cast<size_t>(2 * (i * n + k))],
                      2 * sizeof(T));
          std::memcpy(&expected[static_cast<size_t>(2 * (k * columns + i))], &y[static_cast<size_t>(2 * (i * n + k))],
                      2 * sizeof(T));
        }
      }
      CHECK(same(expected, transform(best, side, turned)));
    }
  }
}

}  // namespace

TEST_CASE("transforms of any length are near the sums that define them", "[fourier]") {
  check_lengths<float>();
  check_lengths<double>();
}

TEST_CASE("a transform has the same bits at every level, beside others, and as a column", "[fourier]") {
  check_bits<float>();
  check_bits<double>();
}

TEST_CASE("long transforms are shared among threads and keep their bits", "[fourier]") {
  Context one(at(1)), many(at(3));
  for (int64_t n : {int64_t{1} << 17, int64_t{90000}, int64_t{65537}, int64_t{1} << 18}) {
    for (FourierKind kind : {FourierKind::complex, FourierKind::to_half, FourierKind::from_half}) {
      How how{kind, false, FourierNorm::whole, 1, n};
      CAPTURE(n, static_cast<int>(kind));
      std::vector<float> x = noise<float>(row_of(how, false));
      CHECK(same(transform(one, how, x), transform(many, how, x)));
    }
  }
}
