// Views and moves: against the definition of each operation, written element by element; every layout of the operand.
#include "tests/unit/tensors.h"

#include "runtime/shapes/strided_slice.h"
#include "runtime/tensor/copy.h"

using namespace tfl;
using namespace tfl::test;

namespace {

Tensor counting(Context& c, Dims dims) {
  Tensor t = Tensor::empty(c, DType::I32, dims).take();
  for (int64_t i = 0; i < t.size(); ++i) t.data<int32_t>()[i] = static_cast<int32_t>(i);
  return t;
}

// The same values in a buffer that is transposed, reversed and has gaps.
Tensor scattered(Context& c, const Tensor& t) {
  Dims wide, strides;
  int rank = t.rank();
  for (int i = rank; i-- > 0;) wide.push_back(t.dim(i) * 2 + 1);
  Tensor buffer = Tensor::empty(c, t.dtype(), wide).take();
  int64_t offset = 0;
  for (int i = 0; i < rank; ++i) {
    int64_t step = buffer.strides()[rank - 1 - i] * 2;
    if (i % 2 && t.size() > 0) {
      offset += (t.dim(i) - 1) * step;
      step = -step;
    }
    strides.push_back(step);
  }
  Tensor view = Tensor::view(c, buffer, t.dims(), strides, offset);
  copy_strided(c, t.dtype(), t.dims(), view.raw(), view.strides(), t.raw(), t.strides());
  return view;
}

std::vector<int32_t> values(Context& c, const Tensor& t) {
  Tensor dense = contiguous(c, t).take();
  return std::vector<int32_t>(dense.data<int32_t>(), dense.data<int32_t>() + dense.size());
}
Dims dims_of(const Tensor& t) { return Dims(t.dims()); }

Tensor vector_of(Context& c, std::vector<int32_t> v) { return ints(c, {static_cast<int64_t>(v.size())}, v); }

std::string message(Result<Tensor> r) { return r ? std::string("no error") : r.error().message; }

}  // namespace

TEST_CASE("reshape infers one size and checks the rest", "[move]") {
  Context c;
  Tensor x = counting(c, {3, 4});
  Tensor y = apply1(c, Op::reshape, {x, vector_of(c, {2, -1, 2})}).take();
  CHECK(dims_of(y) == Dims{2, 3, 2});
  CHECK(values(c, y) == values(c, x));
  CHECK(values(c, apply1(c, Op::reshape, {scattered(c, x), vector_of(c, {12})}).take()) == values(c, x));
  CHECK(dims_of(apply1(c, Op::reshape, {counting(c, {0}), vector_of(c, {-1, 0})}).take()) == Dims{1, 0});
  CHECK(message(apply1(c, Op::reshape, {x, vector_of(c, {5, 2})})) ==
        "Input to reshape is a tensor with 12 values, but the requested shape has 10 [Op:Reshape]");
  CHECK(message(apply1(c, Op::reshape, {x, vector_of(c, {5, -1})})) ==
        "Input to reshape is a tensor with 12 values, but the requested shape requires a multiple of 5 [Op:Reshape]");
  CHECK(message(apply1(c, Op::reshape, {x, vector_of(c, {-1, -1})})) ==
        "Only one input size may be -1, not both 0 and 1 [Op:Reshape]");
}

TEST_CASE("transpose moves strides; copies follow them", "[move]") {
  Context c;
  for (Dims dims : {Dims{3, 4}, Dims{2, 3, 4}, Dims{5, 1, 7, 2}, Dims{70, 90}, Dims{1, 40, 33}}) {
    Tensor x = counting(c, dims);
    int rank = x.rank();
    std::vector<int> perm(rank);
    for (int i = 0; i < rank; ++i) perm[i] = i;
    do {
      std::vector<int32_t> p(perm.begin(), perm.end());
      for (const Tensor& from : {x, scattered(c, x)}) {
        Tensor y = apply1(c, Op::transpose, {from, vector_of(c, p)}).take();
        std::vector<int32_t> got = values(c, y), expected;
        Dims at(static_cast<size_t>(rank), 0);
        for (int64_t i = 0; i < y.size(); ++i) {
          int64_t offset = 0, rest = i;
          for (int d = rank; d-- > 0;) {
            offset += rest % y.dim(d) * x.strides()[perm[d]];
            rest /= y.dim(d);
          }
          expected.push_back(x.data<int32_t>()[offset]);
        }
        CHECK(got == expected);
      }
    } while (std::next_permutation(perm.begin(), perm.end()));
  }
  Tensor x = counting(c, {2, 2});
  CHECK(message(apply1(c, Op::transpose, {x, vector_of(c, {0, 0})})) == "1 is missing from {0,0}. [Op:Transpose]");
  CHECK(message(apply1(c, Op::transpose, {x, vector_of(c, {0, 5})})) == "5 is out of range [0 .. 2) [Op:Transpose]");
}

TEST_CASE("large copies of every layout and element size", "[move]") {
  for (int threads : {1, 3}) {
    Context c(options(threads));
    for (DType dtype : {DType::U8, DType::I16, DType::F32, DType::F64}) {
      Tensor x = random_tensor(c, dtype, {700, 3, 411}, 5);
      Tensor turned = apply1(c, Op::transpose, {x, vector_of(c, {2, 0, 1})}).take();
      Tensor dense = contiguous(c, turned).take();
      Tensor back = contiguous(c, apply1(c, Op::transpose, {dense, vector_of(c, {1, 2, 0})}).take()).take();
      CHECK(first_difference(x, back) == -1);
    }
  }
}

TEST_CASE("strided slices are Python's", "[move]") {
  Context c;
  auto at = [](int64_t begin, int64_t end, int64_t step, int64_t size) {  // PySlice_AdjustIndices
    std::vector<int32_t> out;
    if (begin < 0)
      begin = begin + size < 0 ? (step < 0 ? -1 : 0) : begin + size;
    else if (begin >= size)
      begin = step < 0 ? size - 1 : size;
    if (end < 0)
      end = end + size < 0 ? (step < 0 ? -1 : 0) : end + size;
    else if (end >= size)
      end = step < 0 ? size - 1 : size;
    for (int64_t i = begin; step < 0 ? i > end : i < end; i += step) out.push_back(static_cast<int32_t>(i));
    return out;
  };
  Tensor x = counting(c, {6});
  for (int begin = -8; begin <= 8; ++begin) {
    for (int end = -8; end <= 8; ++end) {
      for (int step : {-3, -2, -1, 1, 2, 3}) {
        SliceSpec spec;
        spec.begin = {begin};
        spec.end = {end};
        spec.strides = {step};
        REQUIRE(values(c, slice_view(c, x, spec).take()) == at(begin, end, step, 6));
      }
    }
  }
  Tensor m = counting(c, {2, 3, 4});
  Attrs attrs;  // m[..., None, 1:, -1]
  attrs.set_int(Attr::ellipsis_mask, 1)
      .set_int(Attr::new_axis_mask, 2)
      .set_int(Attr::end_mask, 4)
      .set_int(Attr::shrink_axis_mask, 8);
  Tensor y = apply1(c, Op::strided_slice,
                    {m, vector_of(c, {0, 0, 1, -1}), vector_of(c, {0, 0, 0, 0}), vector_of(c, {1, 1, 1, 1})}, attrs)
                 .take();
  CHECK(dims_of(y) == Dims{2, 1, 2});
  CHECK(values(c, y) == std::vector<int32_t>{7, 11, 19, 23});
  auto index = [&](std::vector<int32_t> i) {
    std::vector<int32_t> ones(i.size(), 1);
    Attrs a;
    a.set_int(Attr::shrink_axis_mask, (1 << i.size()) - 1);
    return apply1(c, Op::strided_slice, {m, vector_of(c, i), vector_of(c, i), vector_of(c, ones)}, a);
  };
  CHECK(values(c, index({1, -1, 2}).take()) == std::vector<int32_t>{22});
  CHECK(message(index({0, 3})) == "slice index 3 of dimension 1 out of bounds. [Op:StridedSlice]");
  CHECK(message(index({-3})) == "slice index -1 of dimension 0 out of bounds. [Op:StridedSlice]");
  CHECK(message(index({0, 0, 0, 0})) == "Index out of range using input dim 3; input has only 3 dims [Op:StridedSlice]");
}

TEST_CASE("concat, stack, split and unstack undo each other", "[move]") {
  Context c;
  for (DType dtype : {DType::Bool, DType::BF16, DType::I32, DType::F64, DType::String}) {
    Tensor x = random_tensor(c, dtype, {4, 6, 5}, 11);
    for (int axis = 0; axis < 3; ++axis) {
      Attrs attrs;
      attrs.set_int(Attr::axis, axis - 3);
      Attrs parts_attrs = attrs;
      parts_attrs.set_int(Attr::num, x.dim(axis));
      Tensors parts;
      REQUIRE(apply(c, Op::unstack, std::initializer_list<Tensor>{x}, parts_attrs, parts));
      REQUIRE(static_cast<int64_t>(parts.size()) == x.dim(axis));
      Tensors stacked;
      REQUIRE(apply(c, Op::stack, parts.span(), attrs, stacked));
      CHECK(first_difference(x, stacked[0]) == -1);
      Tensors split, joined;
      Tensor sizes = vector_of(c, {1, static_cast<int32_t>(x.dim(axis)) - 3, 0, -1});
      Attrs split_attrs = attrs;
      split_attrs.set_int(Attr::num, 4);
      REQUIRE(apply(c, Op::split_v, std::initializer_list<Tensor>{x, sizes}, split_attrs, split));
      CHECK(split[3].dim(axis) == 2);
      REQUIRE(apply(c, Op::concat, split.span(), attrs, joined));
      CHECK(first_difference(x, joined[0]) == -1);
    }
  }
  Tensor a = counting(c, {2, 2}), b = counting(c, {2, 3});
  CHECK(message(apply1(c, Op::concat, {a, b}, Attrs().set_int(Attr::axis, 0))) ==
        "ConcatOp : Dimension 1 in both shapes must be equal: shape[0] = [2,2] vs. shape[1] = [2,3] [Op:ConcatV2]");
  CHECK(message(apply1(c, Op::stack, {a, b}, Attrs().set_int(Attr::axis, 0))) ==
        "Shapes of all inputs must match: values[0].shape = [2,2] != values[1].shape = [2,3] [Op:Pack]");
}

TEST_CASE("tile, pad and roll by their definition", "[move]") {
  Context c;
  Tensor x = counting(c, {3, 4});
  for (const Tensor& from : {x, scattered(c, x)}) {
    auto element = [&](const Tensor& t, int64_t i, int64_t j) { return t.data<int32_t>()[i * t.dim(1) + j]; };
    Tensor tiled = apply1(c, Op::tile, {from, vector_of(c, {2, 3})}).take();
    for (int64_t i = 0; i < 6; ++i) {
      for (int64_t j = 0; j < 12; ++j) CHECK(element(tiled, i, j) == element(x, i % 3, j % 4));
    }
    Tensor paddings = ints(c, {2, 2}, {2, 1, 0, 3});
    for (const char* mode : {"CONSTANT", "REFLECT", "SYMMETRIC"}) {
      Tensor padded = apply1(c, Op::pad, {from, paddings}, Attrs().set_text(Attr::mode, mode)).take();
      REQUIRE(dims_of(padded) == Dims{6, 7});
      auto mirrored = [&](int64_t i, int64_t n) {
        int64_t skip = mode[0] == 'R' ? 1 : 0;
        return i < 0 ? -i - 1 + skip : i >= n ? 2 * n - 1 - skip - i : i;
      };
      for (int64_t i = 0; i < 6; ++i) {
        for (int64_t j = 0; j < 7; ++j) {
          int64_t r = i - 2, s = j;
          bool inside = r >= 0 && r < 3 && s < 4;
          int32_t expected = mode[0] == 'C' ? (inside ? element(x, r, s) : 0) : element(x, mirrored(r, 3), mirrored(s, 4));
          CHECK(element(padded, i, j) == expected);
        }
      }
    }
    Tensor rolled = apply1(c, Op::roll, {from, vector_of(c, {4, -1, 2})}, Attrs().set_ints(Attr::axes, {0, 1, -1})).take();
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t j = 0; j < 4; ++j) CHECK(element(rolled, (i + 1) % 3, (j + 1) % 4) == element(x, i, j));
    }
  }
  CHECK(message(apply1(c, Op::pad, {x, ints(c, {2, 2}, {3, 0, 0, 0})}, Attrs().set_text(Attr::mode, "REFLECT"))) ==
        "paddings must be less than the dimension size: 3, 0 not less than 3 [Op:MirrorPad]");
}

TEST_CASE("diagonals and bands", "[move]") {
  Context c;
  Tensor m = counting(c, {3, 4});
  CHECK(values(c, apply1(c, Op::matrix_diag_part, {m}).take()) == std::vector<int32_t>{0, 5, 10});
  Attrs band;
  band.set_ints(Attr::k, {-1, 1});
  Tensor packed = apply1(c, Op::matrix_diag_part, {m, tensor<int32_t>(c, DType::I32, {}, {9})}, band).take();
  CHECK(values(c, packed) == std::vector<int32_t>{1, 6, 11, 0, 5, 10, 4, 9, 9});
  Tensor cleared =
      apply1(c, Op::matrix_band_part, {m, tensor<int32_t>(c, DType::I32, {}, {1}), tensor<int32_t>(c, DType::I32, {}, {1})})
          .take();
  CHECK(values(c, cleared) == std::vector<int32_t>{0, 1, 0, 0, 4, 5, 6, 0, 0, 9, 10, 11});
  Attrs wide = band;
  wide.set_int(Attr::num_rows, 3).set_int(Attr::num_cols, 4);
  CHECK(values(c, apply1(c, Op::matrix_diag, {packed}, wide).take()) == values(c, cleared));
  CHECK(values(c, apply1(c, Op::matrix_set_diag, {m, vector_of(c, {-1, -2, -3})}).take()) ==
        std::vector<int32_t>{-1, 1, 2, 3, 4, -2, 6, 7, 8, 9, -3, 11});
}
