// Reductions and scans against a plain statement of their order (runtime/kernels/reduce/reduce.h), to the bit.
#include "tests/unit/tensors.h"

#include "runtime/kernels/reduce/reduce.h"
#include "runtime/math/half.h"

using namespace tfl;
using namespace tfl::test;

namespace {

double as_double(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::F16: return to_f32(t.data<f16>()[i]);
    case DType::BF16: return to_f32(t.data<bf16>()[i]);
    case DType::F32: return t.data<float>()[i];
    case DType::F64: return t.data<double>()[i];
    default: return 0;
  }
}

template <class C>
C combine(Op op, C a, C b) {
  if (op == Op::reduce_sum || op == Op::reduce_mean) return a + b;
  if (op == Op::reduce_prod) return a * b;
  const bool first = op == Op::reduce_max ? a >= b : a <= b;
  return first || a != a ? a : b;
}

// The order, as it is written down: blocks, lanes, trees over what exists.
template <class C>
C reference(Op op, const std::vector<C>& x) {
  std::vector<C> blocks;
  for (size_t at = 0; at < x.size(); at += kReduceBlock) {
    size_t n = std::min<size_t>(kReduceBlock, x.size() - at);
    std::vector<C> lanes;
    for (size_t i = 0; i < n; ++i) {
      if (i < kReduceLanes) {
        lanes.push_back(x[at + i]);
      } else {
        lanes[i % kReduceLanes] = combine(op, lanes[i % kReduceLanes], x[at + i]);
      }
    }
    for (size_t half = kReduceLanes / 2; half > 0; half /= 2) {
      for (size_t j = 0; j < half && j + half < lanes.size(); ++j) lanes[j] = combine(op, lanes[j], lanes[j + half]);
      if (lanes.size() > half) lanes.resize(half);
    }
    blocks.push_back(lanes[0]);
  }
  while (blocks.size() > 1) {
    std::vector<C> next;
    for (size_t i = 0; i < blocks.size(); i += 2)
      next.push_back(i + 1 < blocks.size() ? combine(op, blocks[i], blocks[i + 1]) : blocks[i]);
    blocks = next;
  }
  return op == Op::reduce_mean ? blocks[0] / static_cast<C>(x.size()) : blocks[0];
}

uint64_t reference_bits(Op op, DType dtype, const std::vector<double>& values) {
  uint64_t bits = 0;
  if (dtype == DType::F64) {
    double r = reference(op, values);
    std::memcpy(&bits, &r, 8);
    return bits;
  }
  float r = reference(op, std::vector<float>(values.begin(), values.end()));
  if (dtype == DType::F16) return to_f16(r).bits;
  if (dtype == DType::BF16) return to_bf16(r).bits;
  std::memcpy(&bits, &r, 4);
  return bits;
}

// x of any layout, [outer][length][columns] as `dims`, reduced over the middle axis.
void check_middle(Context& c, Op op, const Tensor& x) {
  Tensor out = apply1(c, op, {x}, Attrs().set_ints(Attr::axes, {1})).take();
  Tensor plain = contiguous(c, x).take();
  int64_t n = x.dim(1), columns = x.dim(2);
  for (int64_t o = 0; o < x.dim(0); ++o) {
    for (int64_t k = 0; k < columns; ++k) {
      std::vector<double> sequence;
      for (int64_t r = 0; r < n; ++r) sequence.push_back(as_double(plain, (o * n + r) * columns + k));
      uint64_t want = reference_bits(op, x.dtype(), sequence), got = element_bits(out, o * columns + k);
      if (!same_bits(x.dtype(), want, got)) {
        FAIL_CHECK(op_info(op).name << " " << describe(x) << " result " << o << ',' << k << ": " << std::hex << got
                                    << " instead of " << want);
        return;
      }
    }
  }
}

constexpr Op kFloatReductions[] = {Op::reduce_sum, Op::reduce_prod, Op::reduce_mean, Op::reduce_max, Op::reduce_min};

}  // namespace

TEST_CASE("float reductions keep the defined order, on every level and with any number of threads", "[reduce]") {
  for (auto [threads, isa] :
       {std::pair{1, IsaLevel::base}, {1, IsaLevel::v3}, {1, IsaLevel::v4}, {2, IsaLevel::v4}, {3, IsaLevel::v3}}) {
    Context c(options(threads, isa));
    for (DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16}) {
      for (Op op : kFloatReductions) {
        for (const Dims& dims : {Dims{1, 1, 1}, Dims{3, 5, 1}, Dims{2, 16, 1}, Dims{5, 37, 1}, Dims{2, 4096, 1}, Dims{3, 9001, 1},
                                 Dims{1, 70001, 1}, Dims{2, 3, 7}, Dims{1, 40, 131}, Dims{2, 5000, 3}, Dims{300, 2, 3}}) {
          bool tame = (dims[1] + dims[2]) % 2 || dims[1] > 5000;
          check_middle(c, op, random_tensor(c, dtype, dims, static_cast<uint32_t>(dims[1] * 7 + dims[2]), tame));
        }
        // Layouts that are copied first, reversed ones, and rows with gaps.
        Tensor base = random_tensor(c, dtype, {13, 6, 50}, 4, true);
        check_middle(c, op, Tensor::view(c, base, Dims{6, 50, 13}, Dims{50, 1, 300}, 0));
        check_middle(c, op, Tensor::view(c, base, Dims{13, 50, 6}, Dims{300, -1, 50}, 49));
        check_middle(c, op, Tensor::view(c, base, Dims{13, 6, 20}, Dims{300, 50, 1}, 3));
        check_middle(c, op, Tensor::view(c, base, Dims{13, 6, 20}, Dims{300, -50, 1}, 250));
        check_middle(c, op, Tensor::view(c, base, Dims{4, 50, 3}, Dims{0, 1, 300}, 0));
      }
    }
  }
}

TEST_CASE("several axes are one row-major sequence", "[reduce]") {
  Context c(options(2));
  Tensor x = random_tensor(c, DType::F32, {3, 4, 5, 6}, 11, true);
  for (const Dims& axes : {Dims{0, 1, 2, 3}, Dims{0, 2}, Dims{1, 3}, Dims{-1, 0}, Dims{1, 2}, Dims{0, 1}, Dims{}}) {
    for (bool keep : {false, true}) {
      Tensor out = apply1(c, Op::reduce_sum, {x}, Attrs().set_ints(Attr::axes, axes).set_bool(Attr::keepdims, keep)).take();
      bool reduced[4] = {};
      for (int64_t a : axes) reduced[a < 0 ? a + 4 : a] = true;
      Dims want;
      for (int i = 0; i < 4; ++i) {
        if (!reduced[i])
          want.push_back(x.dim(i));
        else if (keep)
          want.push_back(1);
      }
      REQUIRE(shape_text(out.dims()) == shape_text(want));
      if (axes.empty()) continue;
      std::vector<std::vector<double>> sequences(static_cast<size_t>(out.size()));
      for (int64_t i = 0; i < x.size(); ++i) {
        int64_t at[4] = {i / 120, i / 30 % 4, i / 6 % 5, i % 6}, index = 0;
        for (int d = 0; d < 4; ++d) index = reduced[d] ? index : index * x.dim(d) + at[d];
        sequences[static_cast<size_t>(index)].push_back(as_double(x, i));
      }
      for (int64_t i = 0; i < out.size(); ++i) {
        CHECK(same_bits(DType::F32, element_bits(out, i),
                        reference_bits(Op::reduce_sum, DType::F32, sequences[static_cast<size_t>(i)])));
      }
    }
  }
}

TEST_CASE("integer reductions wrap; their mean does not", "[reduce]") {
  Context c(options(1));
  auto sum = [&](const Tensor& t, Op op) { return apply1(c, op, {t}).take(); };
  Tensor i8 = tensor<int8_t>(c, DType::I8, {3}, {100, 100, 100});
  CHECK(*sum(i8, Op::reduce_sum).data<int8_t>() == 44);
  CHECK(*sum(i8, Op::reduce_mean).data<int8_t>() == 100);
  CHECK(*sum(ints(c, {4}, {-7, -7, -7, 0}), Op::reduce_mean).data<int32_t>() == -5);
  CHECK(*sum(ints(c, {3}, {-7, 9, 3}), Op::reduce_max).data<int32_t>() == 9);
  CHECK(*sum(ints(c, {3}, {-7, 9, 3}), Op::reduce_min).data<int32_t>() == -7);
  CHECK(*sum(tensor<uint16_t>(c, DType::U16, {2}, {256, 256}), Op::reduce_prod).data<uint16_t>() == 0);
  Tensor flags = tensor<uint8_t>(c, DType::Bool, {2, 2}, {1, 0, 1, 1});
  CHECK(*sum(flags, Op::reduce_any).data<uint8_t>() == 1);
  CHECK(*sum(flags, Op::reduce_all).data<uint8_t>() == 0);
  for (DType d : {DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64}) {
    Tensor x = random_tensor(c, d, {10007}, 3);
    uint64_t total = 0, mask = dtype_size(d) == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * dtype_size(d)) - 1;
    for (int64_t i = 0; i < x.size(); ++i) total += element_bits(x, i);
    CHECK(element_bits(sum(x, Op::reduce_sum), 0) == (total & mask));
  }
}

TEST_CASE("nothing reduces to the neutral element", "[reduce]") {
  Context c(options(1));
  auto of = [&](Op op, DType d, Dims dims = {0}) { return apply1(c, op, {Tensor::empty(c, d, dims).take()}).take(); };
  CHECK(*of(Op::reduce_sum, DType::F32).data<float>() == 0);
  CHECK(*of(Op::reduce_prod, DType::F32).data<float>() == 1);
  CHECK(*of(Op::reduce_max, DType::F32).data<float>() == -__builtin_inff());
  CHECK(*of(Op::reduce_min, DType::F64).data<double>() == __builtin_inf());
  CHECK(is_nan_bits(DType::F32, element_bits(of(Op::reduce_mean, DType::F32), 0)));
  CHECK(*of(Op::reduce_mean, DType::I32).data<int32_t>() == 0);
  CHECK(*of(Op::reduce_max, DType::I32).data<int32_t>() == INT32_MIN);
  CHECK(*of(Op::reduce_min, DType::I8).data<int8_t>() == 127);
  CHECK(*of(Op::reduce_max, DType::U8).data<uint8_t>() == 0);
  CHECK(*of(Op::reduce_min, DType::U64).data<uint64_t>() == UINT64_MAX);
  CHECK(*of(Op::reduce_any, DType::Bool).data<uint8_t>() == 0);
  CHECK(*of(Op::reduce_all, DType::Bool).data<uint8_t>() == 1);
}

TEST_CASE("argmax and argmin: the first, and never NaN", "[reduce]") {
  const float nan = __builtin_nanf(""), inf = __builtin_inff();
  for (IsaLevel isa : isa_levels()) {
    Context c(options(2, isa));
    auto index = [&](Op op, const Tensor& t, int64_t axis = 0) {
      return apply1(c, op, {t}, Attrs().set_int(Attr::axis, axis)).take();
    };
    CHECK(*index(Op::argmax, floats(c, {4}, {1, nan, 3, nan})).data<int64_t>() == 2);
    CHECK(*index(Op::argmin, floats(c, {4}, {nan, 1, 3, nan})).data<int64_t>() == 1);
    CHECK(*index(Op::argmax, floats(c, {2}, {nan, nan})).data<int64_t>() == 0);
    CHECK(*index(Op::argmax, floats(c, {3}, {-inf, -inf, -1})).data<int64_t>() == 2);
    CHECK(*index(Op::argmax, floats(c, {3}, {2, 5, 5})).data<int64_t>() == 1);
    for (DType d : {DType::F32, DType::F64, DType::F16, DType::I8, DType::U8, DType::I32, DType::I64, DType::Bool}) {
      Tensor x = cast_to(c, random_tensor(c, DType::I8, {37, 301}, 8), d);
      if (d == DType::F32) {
        for (int64_t i = 0; i < x.size(); i += 7) x.data<float>()[i] = nan;
      }
      Tensor numbers = cast_to(c, x, DType::F64);
      for (Op op : {Op::argmax, Op::argmin}) {
        for (int axis : {0, 1}) {
          Tensor got = index(op, x, axis);
          int64_t wrong = -1;
          for (int64_t i = 0; i < got.size(); ++i) {
            double best = op == Op::argmax ? -1e300 : 1e300;
            int64_t want = 0;
            for (int64_t j = 0; j < x.dim(axis); ++j) {
              double v = numbers.data<double>()[axis == 0 ? j * 301 + i : i * 301 + j];
              if (op == Op::argmax ? v > best : v < best) best = v, want = j;
            }
            // Nothing is better than the lowest value of a type, not even itself.
            bool start = (d == DType::I8 || d == DType::U8 || d == DType::Bool) &&
                         (op == Op::argmax ? best <= -128 || best == 0 : best >= 127);
            if (got.data<int64_t>()[i] != want && !start) wrong = i;
          }
          CHECK(wrong == -1);
        }
      }
    }
  }
}

TEST_CASE("scans are sequential within a block and carried over blocks by the binary digits of their number", "[scan]") {
  Context c(options(2));
  for (int64_t n : {0, 1, 5, 4096, 4097, 8192, 8193, 30000}) {
    for (int64_t columns : {1, 3, 70}) {
      if (n > 9000 && columns > 3) continue;
      Tensor x = random_tensor(c, DType::F32, {n, columns}, 6, true);
      Tensor got = apply1(c, Op::cumsum, {x}).take();
      Tensor exclusive = apply1(c, Op::cumsum, {x}, Attrs().set_bool(Attr::exclusive, true)).take();
      for (int64_t k = 0; k < columns; ++k) {
        std::vector<float> totals;
        float prefix = 0;
        int64_t wrong = -1;
        auto tree = [&](auto&& self, size_t first, size_t count) -> float {
          return count == 1 ? totals[first] : self(self, first, count / 2) + self(self, first + count / 2, count / 2);
        };
        float previous = 0;
        for (int64_t i = 0; i < n; ++i) {
          float v = x.data<float>()[i * columns + k];
          if (i % 4096 == 0 && i) totals.push_back(prefix);
          prefix = i % 4096 == 0 ? v : prefix + v;
          float want = prefix, carry = 0;
          if (!totals.empty()) {
            size_t first = 0;
            for (size_t bit = size_t{1} << 20; bit; bit >>= 1) {
              if (!(totals.size() & bit)) continue;
              float run = tree(tree, first, bit);
              carry = first == 0 ? run : carry + run;
              first += bit;
            }
            want = carry + prefix;
          }
          uint32_t a, b;
          float result = got.data<float>()[i * columns + k];
          std::memcpy(&a, &want, 4);
          std::memcpy(&b, &result, 4);
          if (!same_bits(DType::F32, a, b)) wrong = i;
          float ex = exclusive.data<float>()[i * columns + k], want_ex = i % 4096 == 0 && i ? carry : previous;
          std::memcpy(&a, &want_ex, 4);
          std::memcpy(&b, &ex, 4);
          if (!same_bits(DType::F32, a, b)) wrong = i;
          previous = want;
        }
        CHECK(wrong == -1);
      }
    }
  }
  Tensor x = floats(c, {3}, {1, 2, 3});
  Tensor both = apply1(c, Op::cumsum, {x}, Attrs().set_bool(Attr::exclusive, true).set_bool(Attr::reverse, true)).take();
  CHECK(first_difference(both, floats(c, {3}, {5, 3, 0})) == -1);
  CHECK(first_difference(apply1(c, Op::cumprod, {x}, Attrs().set_bool(Attr::reverse, true)).take(), floats(c, {3}, {6, 6, 3})) ==
        -1);
  Tensor m = ints(c, {2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(first_difference(apply1(c, Op::cumsum, {m}, Attrs().set_int(Attr::axis, -1)).take(),
                         ints(c, {2, 3}, {1, 3, 6, 4, 9, 15})) == -1);
  CHECK(first_difference(apply1(c, Op::cumprod, {m}).take(), ints(c, {2, 3}, {1, 2, 3, 4, 10, 18})) == -1);
}

TEST_CASE("errors of reductions are TensorFlow's", "[reduce]") {
  Context c(options(1));
  Tensor x = ints(c, {1}, {1});
  auto message = [&](Op op, const Tensor& t, const Attrs& attrs) {
    auto r = apply1(c, op, {t}, attrs);
    REQUIRE_FALSE(r.ok());
    CHECK(r.error().kind == ErrorKind::InvalidArgumentError);
    return r.error().message;
  };
  CHECK(message(Op::reduce_sum, x, Attrs().set_ints(Attr::axes, {3})) ==
        "Invalid reduction dimension (3 for input with 1 dimension(s) [Op:Sum] name: ");
  CHECK(message(Op::reduce_sum, x, Attrs().set_ints(Attr::axes, {0, -1})) ==
        "Invalid reduction arguments: Axes contains duplicate dimension: 0 [Op:Sum]");
  CHECK(message(Op::reduce_any, x, {}) ==
        "cannot compute Any as input #0(zero-based) was expected to be a bool tensor but is a int32 tensor [Op:Any] "
        "name: ");
  CHECK(message(Op::argmax, x, Attrs().set_int(Attr::axis, 2)) ==
        "Expected dimension in the range [-1, 1), but got 2 [Op:ArgMax] name: ");
  CHECK(message(Op::argmax, Tensor::empty(c, DType::F32, Dims{0, 3}).take(), {}) ==
        "Reduction axis 0 is empty in shape [0,3] [Op:ArgMax] name: ");
  CHECK(message(Op::cumsum, x, Attrs().set_int(Attr::axis, 2)) ==
        "ScanOp: Expected scan axis in the range [-1, 1), but got 2 [Op:Cumsum] name: ");
}

TEST_CASE("reductions of views are those of their copies", "[reduce]") {
  Context c(options(1));
  Tensor x = random_tensor(c, DType::F32, {7, 6, 5, 4}, 11, true);
  // Every choice of axes over views with gaps, turned and reversed ones.
  const Tensor views[] = {
      Tensor::view(c, x, Dims{7, 2, 5, 4}, Dims{120, 20, 4, 1}, 20), Tensor::view(c, x, Dims{3, 6, 2, 4}, Dims{240, 20, 8, 1}, 0),
      Tensor::view(c, x, Dims{7, 6, 5, 2}, Dims{120, 20, 4, 1}, 1), Tensor::view(c, x, Dims{4, 5, 6, 7}, Dims{1, 4, 20, 120}, 0),
      Tensor::view(c, x, Dims{7, 6, 5, 4}, Dims{120, -20, 4, -1}, 103)};
  for (const Tensor& view : views) {
    Tensor copy = contiguous(c, view).take();
    for (int mask = 0; mask < 16; ++mask) {
      Dims axes;
      for (int i = 0; i < 4; ++i) {
        if (mask >> i & 1) axes.push_back(i);
      }
      for (Op op : {Op::reduce_sum, Op::reduce_max}) {
        INFO(shape_text(view.dims()) << " strides " << shape_text(view.strides()) << " axes " << shape_text(axes));
        Attrs attrs = Attrs().set_ints(Attr::axes, axes);
        CHECK(first_difference(apply1(c, op, {copy}, attrs).take(), contiguous(c, apply1(c, op, {view}, attrs).take()).take()) ==
              -1);
      }
    }
  }
}
