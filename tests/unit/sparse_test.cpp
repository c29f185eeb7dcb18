// Rows in order, and products with matrices that are given by their elements: to the bit, whatever the number of threads.
#include "tests/unit/tensors.h"

#include <algorithm>
#include <numeric>
#include <random>

using namespace tfl;
using namespace tfl::test;

namespace {

Tensor longs(Context& c, Dims dims, const std::vector<int64_t>& values) {
  Tensor t = Tensor::empty(c, DType::I64, std::move(dims)).take();
  std::copy(values.begin(), values.end(), t.data<int64_t>());
  return t;
}

std::vector<int64_t> drawn(int64_t n, int64_t low, int64_t high, uint32_t seed) {
  std::mt19937_64 bits(seed);
  std::vector<int64_t> out(static_cast<size_t>(n));
  for (int64_t& v : out) v = low + static_cast<int64_t>(bits() % static_cast<uint64_t>(high - low + 1));
  return out;
}

}  // namespace

TEST_CASE("argsort_rows orders rows as sequences and keeps equal ones as they are", "[sparse]") {
  Context c;
  struct Case {
    int64_t rows, width, low, high;
  };
  for (Case k : {Case{0, 2, 0, 1}, Case{1, 3, 0, 1}, Case{50, 0, 0, 1}, Case{300, 1, -5, 5}, Case{300, 3, 0, 4},
                 Case{300, 2, -(int64_t{1} << 61), int64_t{1} << 61}, Case{300, 4, 0, int64_t{1} << 40}}) {
    std::vector<int64_t> at = drawn(k.rows * k.width, k.low, k.high, static_cast<uint32_t>(k.rows + k.width));
    Tensor order = apply1(c, Op::argsort_rows, {longs(c, Dims{k.rows, k.width}, at)}).take();
    std::vector<int64_t> expected(static_cast<size_t>(k.rows));
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(), [&](int64_t a, int64_t b) {
      return std::lexicographical_compare(at.begin() + a * k.width, at.begin() + (a + 1) * k.width, at.begin() + b * k.width,
                                          at.begin() + (b + 1) * k.width);
    });
    CHECK(std::vector<int64_t>(order.data<int64_t>(), order.data<int64_t>() + order.size()) == expected);
  }
}

TEST_CASE("sparse_dense_matmul adds in the order of the elements", "[sparse]") {
  constexpr int64_t kRows = 40, kInner = 30, kElements = 20000;
  Context c;
  std::vector<int64_t> rows = drawn(kElements, 0, kRows - 1, 1), inner = drawn(kElements, 0, kInner - 1, 2), at;
  for (size_t i = 0; i < rows.size(); ++i) {
    at.push_back(rows[i]);
    at.push_back(inner[i]);
  }
  for (int64_t width : {1, 7, 600}) {
    for (bool adjoint : {false, true}) {
      Tensor values = random_tensor(c, DType::F32, {kElements}, 3, true);
      Tensor b = random_tensor(c, DType::F32, {adjoint ? kRows : kInner, width}, 4, true);
      int64_t outer = adjoint ? kInner : kRows;
      std::vector<float> expected(static_cast<size_t>(outer * width), 0.0f);
      for (size_t i = 0; i < rows.size(); ++i) {
        int64_t row = adjoint ? inner[i] : rows[i], from = adjoint ? rows[i] : inner[i];
        for (int64_t j = 0; j < width; ++j) {
          float step = values.data<float>()[i] * b.data<float>()[from * width + j];
          expected[static_cast<size_t>(row * width + j)] += step;
        }
      }
      for (int threads : {1, 3}) {
        c.set_thread_count(threads);
        Tensor out =
            apply1(c, Op::sparse_dense_matmul, {longs(c, Dims{kElements, 2}, at), values, longs(c, Dims{2}, {kRows, kInner}), b},
                   Attrs().set_bool(Attr::adjoint, adjoint))
                .take();
        CHECK(std::equal(expected.begin(), expected.end(), out.data<float>()));
      }
    }
  }
}

TEST_CASE("sparse_dense_matmul refuses what lies outside", "[sparse]") {
  Context c;
  Tensor one = floats(c, {1}, {1}), b = floats(c, {4, 1}, {1, 2, 3, 4}), shape = longs(c, Dims{2}, {3, 4});
  auto text = [&](int64_t row, int64_t column) {
    auto r = apply1(c, Op::sparse_dense_matmul, {longs(c, Dims{1, 2}, {row, column}), one, shape, b});
    return r ? std::string("no error") : r.error().message;
  };
  CHECK(text(0, 9).find("k (9) from index[0,1] out of bounds (>=4)") != std::string::npos);
  CHECK(text(-1, 0).find("m (-1) from index[0,0] out of bounds (>=3)") != std::string::npos);
}
