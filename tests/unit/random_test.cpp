// The random loops of every instruction set level against the definition of one group of words, at the ends of counters and of
// vectors.
#include "runtime/kernels/random/random_loops.h"

#include <cstring>
#include <vector>

#include "runtime/kernels/context_workers.h"
#include "tests/unit/tensors.h"

namespace tfl::test {

namespace {

using Words = std::vector<uint32_t>;

const Philox kStreams[] = {
    Philox::from_seed(7, 11), Philox({0xfffffff9u, 0xffffffffu, 5, 6}, {1, 2}),  // the lower half of the counter overflows
    Philox({0xfffffffcu, 0xffffffffu, 0xffffffffu, 3}, {~0u, 0x1234567u}),       // and with it the next word
};

Words words_of(const Philox& base, uint64_t first, uint64_t step, int64_t groups) {
  Words out;
  for (int64_t g = 0; g < groups; ++g) {
    Philox stream = base;
    stream.skip((first + static_cast<uint64_t>(g)) * step);
    for (uint32_t w : stream.next()) out.push_back(w);
  }
  return out;
}

template <class T>
bool same_bits(const T* x, const T* y, int64_t n) {
  return std::memcmp(x, y, static_cast<size_t>(n) * sizeof(T)) == 0;
}

/// Words that hold every end of what a number is made of.
Words special_words() {
  Words w;
  const uint32_t ends[] = {0, 1, 0x7fffff, 0x800000, 0xfffff, 0x100000, 0xffffffff, 0x400000, 0x200000, 0x600000, 0x80000000, 3};
  for (uint32_t a : ends) {
    for (uint32_t b : ends) w.insert(w.end(), {a, b, b ^ 0x55555, a});
  }
  w.resize(w.size() + kRandomSlack);
  return w;
}

}  // namespace

TEST_CASE("Words of many groups are those of each group", "[random]") {
  for (IsaLevel isa : isa_levels()) {
    for (const Philox& base : kStreams) {
      for (auto [first, step, groups] : {std::tuple{uint64_t{0}, uint64_t{1}, int64_t{37}}, {5, 1, 8}, {3, 256, 9}, {0, 64, 1}}) {
        INFO("level " << static_cast<int>(isa) << " first " << first << " step " << step);
        Words out(static_cast<size_t>(4 * groups + kRandomSlack));
        random_kernels(isa).words(base.state(), first, step, groups, out.data());
        CHECK(same_bits(out.data(), words_of(base, first, step, groups).data(), 4 * groups));
      }
    }
  }
}

TEST_CASE("Numbers of many words are those of each word", "[random]") {
  Words w = special_words();
  Words more = words_of(kStreams[0], 0, 1, 2000);
  w.insert(w.begin(), more.begin(), more.end());
  const auto n = static_cast<int64_t>(w.size()) - kRandomSlack;
  std::vector<float> unit, normal(static_cast<size_t>(n));
  std::vector<double> wide_unit, wide(static_cast<size_t>(n / 2));
  for (int64_t i = 0; i < n; ++i) unit.push_back(unit_float(w[static_cast<size_t>(i)]));
  for (size_t i = 0; i + 1 < static_cast<size_t>(n); i += 2) {
    normal_pair(w[i], w[i + 1], normal[i], normal[i + 1]);
    wide_unit.push_back(unit_double(w[i], w[i + 1]));
  }
  for (size_t i = 0; i + 3 < static_cast<size_t>(n); i += 4)
    normal_pair(w[i], w[i + 1], w[i + 2], w[i + 3], wide[i / 2], wide[i / 2 + 1]);
  for (IsaLevel isa : isa_levels()) {
    INFO("level " << static_cast<int>(isa));
    const RandomKernels& kernels = random_kernels(isa);
    std::vector<float> floats(w.size());
    std::vector<double> doubles(w.size());
    kernels.unit_f32(w.data(), n, floats.data());
    CHECK(same_bits(floats.data(), unit.data(), n));
    kernels.normal_f32(w.data(), n / 2, floats.data());
    CHECK(same_bits(floats.data(), normal.data(), n));
    kernels.unit_f64(w.data(), n / 2, doubles.data());
    CHECK(same_bits(doubles.data(), wide_unit.data(), n / 2));
    kernels.normal_f64(w.data(), n / 4, doubles.data());
    CHECK(same_bits(doubles.data(), wide.data(), n / 2));
  }
}

TEST_CASE("Truncated normal numbers are the first that fit, of each group's own words", "[random]") {
  constexpr int64_t n = 9999;
  std::vector<float> want(n);
  for (int64_t g = 0; 4 * g < n; ++g) {
    Philox stream = kStreams[0];
    stream.skip(static_cast<uint64_t>(g) * 256);
    for (int64_t found = 0; found < 4;) {
      Philox::Words w = stream.next();
      float made[4];
      normal_pair(w[0], w[1], made[0], made[1]);
      normal_pair(w[2], w[3], made[2], made[3]);
      for (float v : made) {
        if (found == 4 || std::fabs(v) >= 2) continue;
        if (4 * g + found < n) want[static_cast<size_t>(4 * g + found)] = v;
        ++found;
      }
    }
  }
  for (IsaLevel isa : isa_levels()) {
    for (int threads : {1, 3}) {
      Context c(options(threads, isa));
      std::vector<float> got(n, 9.0f);
      randoms::give_truncated(workers_of(c), random_kernels(isa), kStreams[0], DType::F32, n, got.data());
      CHECK(same_bits(got.data(), want.data(), n));
      std::vector<double> wide(n, 9.0);
      randoms::give_truncated(workers_of(c), random_kernels(isa), kStreams[0], DType::F64, n - 2, wide.data());
      CHECK(std::all_of(wide.begin(), wide.end() - 2, [](double v) { return std::fabs(v) < 2; }));
      CHECK(wide[n - 2] == 9.0);
      CHECK(wide[n - 1] == 9.0);
    }
  }
}

TEST_CASE("Random numbers do not depend on threads", "[random]") {
  constexpr int64_t n = 70001;
  for (bool normal : {false, true}) {
    std::vector<float> one(n), three(n);
    Context a(options(1, IsaLevel::base)), b(options(3));
    randoms::give_floats(workers_of(a), random_kernels(IsaLevel::base), kStreams[1], DType::F32, n, normal, one.data());
    randoms::give_floats(workers_of(b), random_kernels(b.isa()), kStreams[1], DType::F32, n, normal, three.data());
    CHECK(same_bits(one.data(), three.data(), n));
  }
}

}  // namespace tfl::test
