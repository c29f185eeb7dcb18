// Matrix products against the order that the language defines, to the bit, at every level and number of threads.
#include "tests/unit/tensors.h"

#include <cmath>

#include "runtime/kernels/product/matmul.h"
#include "runtime/math/half.h"

using namespace tfl;
using namespace tfl::test;

namespace {

// One element: chains of fused multiply-adds in blocks of k, the blocks added in order.
template <class C, class At>
C element(int64_t k, At at) {
  C total{};
  for (int64_t first = 0; first < k; first += kProductBlock) {
    C sum{};
    for (int64_t p = first; p < std::min(k, first + kProductBlock); ++p) {
      auto [x, y] = at(p);
      if constexpr (std::is_floating_point_v<C>)
        sum = std::fma(static_cast<C>(x), static_cast<C>(y), sum);
      else
        sum = static_cast<C>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
    }
    if constexpr (std::is_floating_point_v<C>)
      total = first == 0 ? sum : total + sum;
    else
      total = static_cast<C>(static_cast<uint64_t>(total) + static_cast<uint64_t>(sum));
  }
  return total;
}

template <class T>
Tensor reference(Context& c, const Tensor& a, const Tensor& b, bool ta, bool tb) {
  int64_t m = a.dim(ta ? 1 : 0), k = a.dim(ta ? 0 : 1), n = b.dim(tb ? 0 : 1);
  Tensor out = Tensor::empty(c, a.dtype(), Dims{m, n}).take();
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      out.data<T>()[i * n + j] = element<T>(k, [&](int64_t p) {
        return std::pair(a.data<T>()[ta ? p * m + i : i * k + p], b.data<T>()[tb ? j * k + p : p * n + j]);
      });
    }
  }
  return out;
}

Attrs transposes(bool a, bool b) {
  Attrs attrs;
  attrs.set_bool(Attr::transpose_a, a).set_bool(Attr::transpose_b, b);
  return attrs;
}

template <class T>
void check_product(DType dtype, int64_t m, int64_t n, int64_t k, bool ta, bool tb) {
  Context plain(options(1));
  Tensor a = random_tensor(plain, dtype, ta ? Dims{k, m} : Dims{m, k}, 7, true);
  Tensor b = random_tensor(plain, dtype, tb ? Dims{n, k} : Dims{k, n}, 8, true);
  Tensor expected = reference<T>(plain, a, b, ta, tb);
  for (IsaLevel isa : isa_levels()) {
    if (isa == IsaLevel::base && m * n * k > 200000) continue;
    for (int threads : {1, 2, 3}) {
      Context c(options(threads, isa));
      INFO(dtype_name(dtype) << " " << m << "x" << k << "x" << n << " transposed " << ta << tb << " level "
                             << static_cast<int>(isa) << " threads " << threads);
      CHECK(first_difference(expected, apply1(c, Op::matmul, {a, b}, transposes(ta, tb)).take()) == -1);
    }
  }
}

}  // namespace

TEST_CASE("products have the defined bits whatever their sizes", "[matmul]") {
  struct Sizes {
    int64_t m, n, k;
  };
  for (Sizes s : {Sizes{1, 1, 1},
                  {1, 1, 700},
                  {3, 5, 0},
                  {10, 10, 10},
                  {13, 1, 600},
                  {1, 37, 513},
                  {17, 33, 65},
                  {64, 64, 64},
                  {7, 300, 1030},
                  {100, 3, 31}}) {
    for (int t = 0; t < 4; ++t) {
      check_product<float>(DType::F32, s.m, s.n, s.k, t & 1, t & 2);
      check_product<double>(DType::F64, s.m, s.n, s.k, t & 1, t & 2);
      check_product<int32_t>(DType::I32, s.m, s.n, s.k, t & 1, t & 2);
      check_product<int64_t>(DType::I64, s.m, s.n, s.k, t & 1, t & 2);
    }
  }
  check_product<float>(DType::F32, 257, 190, 700, false, false);
  check_product<float>(DType::F32, 190, 257, 530, true, true);
  check_product<float>(DType::F32, 1100, 40, 600, false, false);  // many blocks of rows, b in a cache
  check_product<float>(DType::F32, 520, 10, 128, false, false);   // less than a vector wide
  check_product<float>(DType::F32, 40, 600, 601, false, false);   // few rows, b where it lies
  check_product<float>(DType::F32, 70, 260, 1000, false, false);  // b packed, several blocks of k
  check_product<float>(DType::F32, 9, 1024, 600, true, true);     // few rows, both operands turned
  check_product<float>(DType::F32, 1, 1100, 600, false, false);   // a row by more than a cache holds
  check_product<int32_t>(DType::I32, 1, 2100, 520, false, false);
  check_product<double>(DType::F64, 250, 129, 300, false, true);
  check_product<int32_t>(DType::I32, 200, 250, 230, false, false);
}

TEST_CASE("halves accumulate in float32 and round once", "[matmul]") {
  Context c;
  for (DType dtype : {DType::F16, DType::BF16}) {
    Tensor a = random_tensor(c, dtype, {9, 600}, 1, true), b = random_tensor(c, dtype, {600, 20}, 2, true);
    Tensor wide = apply1(c, Op::matmul, {cast_to(c, a, DType::F32), cast_to(c, b, DType::F32)}).take();
    CHECK(first_difference(cast_to(c, wide, dtype), apply1(c, Op::matmul, {a, b}).take()) == -1);
  }
}

TEST_CASE("batches broadcast, operands may be views", "[matmul]") {
  for (int threads : {1, 3}) {
    Context c(options(threads));
    struct Case {
      Dims a, b;
    };
    for (const Case& k : {Case{{4, 3, 5}, {4, 5, 6}},
                          {{3, 5}, {4, 5, 6}},
                          {{4, 3, 5}, {5, 6}},
                          {{2, 1, 3, 5}, {3, 5, 6}},
                          {{2, 1, 3, 5}, {1, 4, 5, 6}},
                          {{0, 3, 5}, {5, 6}},
                          {{40, 30, 64}, {40, 64, 100}},
                          {{40, 30, 64}, {64, 100}}}) {
      Tensor a = random_tensor(c, DType::F32, k.a, 3, true), b = random_tensor(c, DType::F32, k.b, 4, true);
      Tensor y = apply1(c, Op::matmul, {a, b}).take();
      // Every batch is the product of its two matrices.
      Dims batch(y.dims().begin(), y.dims().end() - 2);
      int64_t rows = y.dim(y.rank() - 2), cols = y.dim(y.rank() - 1), inner = k.a.back();
      bool same = true;
      for (int64_t i = 0; i < (y.size() == 0 ? 0 : y.size() / (rows * cols)); ++i) {
        auto matrix = [&](const Tensor& t) {
          int64_t rest = i, at = 0, step = 1;
          for (size_t d = batch.size(); d-- > 0;) {
            int64_t own = t.rank() - 2 - static_cast<int64_t>(batch.size() - d);
            if (own >= 0 && t.dim(static_cast<int>(own)) != 1) at += rest % batch[d] * step;
            if (own >= 0) step *= t.dim(static_cast<int>(own));
            rest /= batch[d];
          }
          int64_t r = t.dim(t.rank() - 2), n = t.dim(t.rank() - 1);
          Tensor m = Tensor::empty(c, DType::F32, Dims{r, n}).take();
          std::memcpy(m.raw(), t.data<float>() + at * r * n, m.bytes());
          return m;
        };
        Tensor expected = reference<float>(c, matrix(a), matrix(b), false, false);
        same &= std::memcmp(expected.raw(), y.data<float>() + i * rows * cols, expected.bytes()) == 0;
      }
      INFO(shape_text(k.a) << " " << shape_text(k.b) << " inner " << inner);
      CHECK(same);
    }
  }
}

TEST_CASE("what a product refuses", "[matmul]") {
  Context c;
  auto message = [&](const Tensor& a, const Tensor& b) {
    Result<Tensor> r = apply1(c, Op::matmul, {a, b});
    return r ? std::string("no error") : r.error().message;
  };
  auto zeros = [&](DType dtype, Dims dims) { return random_tensor(c, dtype, dims, 1); };
  CHECK(message(zeros(DType::F32, {2, 3}), zeros(DType::F32, {2, 3})) ==
        "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3] [Op:MatMul]");
  CHECK(message(zeros(DType::F32, {3}), zeros(DType::F32, {3, 3})) == "In[0] ndims must be >= 2 [Op:MatMul]");
  CHECK(message(zeros(DType::F32, {2, 1, 1}), zeros(DType::F32, {3, 1, 1})) ==
        "In[0] and In[1] must have compatible batch dimensions: [2,1,1] vs. [3,1,1] [Op:BatchMatMulV2]");
  CHECK(message(zeros(DType::Bool, {1, 1}), zeros(DType::Bool, {1, 1}))
            .starts_with("Value for attr 'T' of bool is not in the list"));
  CHECK(message(zeros(DType::F32, {1, 1}), zeros(DType::F64, {1, 1}))
            .find("was expected to be a float tensor but is a double tensor") != std::string::npos);
}
