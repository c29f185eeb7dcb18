// Gathers, scatters, masks and sorts against plain loops.
#include "tests/unit/tensors.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace tfl;
using namespace tfl::test;

namespace {

Tensor vector_of(Context& c, std::vector<int32_t> v) { return ints(c, {static_cast<int64_t>(v.size())}, v); }
std::vector<int32_t> values(Context& c, const Tensor& t) {
  Tensor dense = contiguous(c, t).take();
  return std::vector<int32_t>(dense.data<int32_t>(), dense.data<int32_t>() + dense.size());
}
std::string message(Result<Tensor> r) { return r ? std::string("no error") : r.error().message; }
std::vector<Tensor> apply_all(Context& c, Op op, std::initializer_list<Tensor> operands, const Attrs& attrs = {}) {
  Tensors out;
  REQUIRE(apply(c, op, operands, attrs, out));
  return std::vector<Tensor>(out.begin(), out.end());
}

}  // namespace

TEST_CASE("gather along every axis, in batches, of every type", "[index]") {
  for (int threads : {1, 3}) {
    Context c(options(threads));
    for (DType dtype : {DType::Bool, DType::F16, DType::F32, DType::I64, DType::String}) {
      Tensor x = random_tensor(c, dtype, {3, 4, 5}, 1);
      for (int axis = 0; axis < 3; ++axis) {
        for (int batch = 0; batch <= axis; ++batch) {
          Dims dims;
          for (int i = 0; i < batch; ++i) dims.push_back(x.dim(i));
          dims.push_back(7);
          Tensor indices = Tensor::empty(c, DType::I64, dims).take();
          for (int64_t i = 0; i < indices.size(); ++i) indices.data<int64_t>()[i] = i * i % x.dim(axis);
          Tensor y =
              apply1(c, Op::gather, {x, indices}, Attrs().set_int(Attr::axis, axis - 3).set_int(Attr::batch_dims, batch)).take();
          REQUIRE(y.rank() == 3);
          REQUIRE(y.dim(axis) == 7);
          for (int64_t n = 0; n < y.size(); ++n) {
            int64_t at[3] = {n / (y.dim(1) * y.dim(2)), n / y.dim(2) % y.dim(1), n % y.dim(2)};
            int64_t slot = 0;
            for (int i = 0; i < batch; ++i) slot = slot * x.dim(i) + at[i];
            at[axis] = indices.data<int64_t>()[slot * 7 + at[axis]];
            int64_t from = (at[0] * 4 + at[1]) * 5 + at[2];
            if (dtype == DType::String)
              CHECK(y.data<std::string>()[n] == x.data<std::string>()[from]);
            else
              CHECK(element_bits(y, n) == element_bits(x, from));
          }
        }
      }
    }
    Tensor large = random_tensor(c, DType::F32, {5000, 100}, 3), order = Tensor::empty(c, DType::I32, Dims{6000}).take();
    for (int i = 0; i < 6000; ++i) order.data<int32_t>()[i] = static_cast<int32_t>(i * 7919LL % 5000);
    Tensor rows = apply1(c, Op::gather, {large, order}).take();
    bool same = true;
    for (int64_t i = 0; i < 6000; ++i)
      same &= std::memcmp(rows.data<float>() + i * 100, large.data<float>() + order.data<int32_t>()[i] * 100, 400) == 0;
    CHECK(same);
  }
}

TEST_CASE("an index out of range is named by its place", "[index]") {
  Context c;
  Tensor x = vector_of(c, {1, 2, 3}), m = ints(c, {2, 2}, {1, 2, 3, 4});
  CHECK(message(apply1(c, Op::gather, {x, vector_of(c, {0, 5, -1})})) == "indices[1] = 5 is not in [0, 3) [Op:GatherV2]");
  CHECK(message(apply1(c, Op::gather, {x, ints(c, {}, {-1})})) == "indices = -1 is not in [0, 3) [Op:GatherV2]");
  CHECK(message(apply1(c, Op::gather, {m, ints(c, {2, 2}, {0, 1, 2, 0})}, Attrs().set_int(Attr::axis, 1))) ==
        "indices[1,0] = 2 is not in [0, 2) [Op:GatherV2]");
  CHECK(message(apply1(c, Op::gather_nd, {m, ints(c, {2, 2}, {0, 0, 1, 9})})) ==
        "indices[1] = [1, 9] does not index into param shape [2,2], node name: GatherNd [Op:GatherNd]");
  CHECK(message(apply1(c, Op::scatter_nd, {ints(c, {1, 1}, {5}), vector_of(c, {1}), vector_of(c, {3})})) ==
        "indices[0] = [5] does not index into shape [3] [Op:ScatterNd]");
  CHECK(message(apply1(c, Op::tensor_scatter_update, {x, ints(c, {1, 1}, {7}), vector_of(c, {0})})) ==
        "indices[0] = [7] does not index into shape [3] [Op:TensorScatterUpdate]");
}

TEST_CASE("scatters apply their updates in order", "[index]") {
  Context c;
  Tensor x = vector_of(c, {10, 20, 30, 40}), where = ints(c, {4, 1}, {2, 0, 2, 2}), updates = vector_of(c, {1, 2, 35, 4});
  CHECK(values(c, apply1(c, Op::tensor_scatter_update, {x, where, updates}).take()) == std::vector<int32_t>{2, 20, 4, 40});
  CHECK(values(c, apply1(c, Op::tensor_scatter_add, {x, where, updates}).take()) == std::vector<int32_t>{12, 20, 70, 40});
  CHECK(values(c, apply1(c, Op::tensor_scatter_sub, {x, where, updates}).take()) == std::vector<int32_t>{8, 20, -10, 40});
  CHECK(values(c, apply1(c, Op::tensor_scatter_min, {x, where, updates}).take()) == std::vector<int32_t>{2, 20, 1, 40});
  CHECK(values(c, apply1(c, Op::tensor_scatter_max, {x, where, updates}).take()) == std::vector<int32_t>{10, 20, 35, 40});
  CHECK(values(c, x) == std::vector<int32_t>{10, 20, 30, 40});
  Tensor rows = apply1(c, Op::scatter_nd, {ints(c, {2, 1}, {1, 1}), ints(c, {2, 2}, {1, 2, 3, 4}), vector_of(c, {3, 2})}).take();
  CHECK(values(c, rows) == std::vector<int32_t>{0, 0, 4, 6, 0, 0});
}

TEST_CASE("nonzero, boolean_mask and one_hot", "[index]") {
  Context c;
  for (DType dtype : {DType::Bool, DType::F16, DType::F32, DType::U8, DType::I64}) {
    Tensor x = random_tensor(c, dtype, {4, 3, 5}, 9);
    Tensor mask = cast_to(c, x, DType::Bool);
    Tensor where = apply1(c, Op::nonzero, {x}).take();
    std::vector<int64_t> expected;
    for (int64_t i = 0; i < x.size(); ++i) {
      if (!mask.data<bool>()[i]) continue;
      for (int64_t v : {i / 15, i / 5 % 3, i % 5}) expected.push_back(v);
    }
    CHECK(std::vector<int64_t>(where.data<int64_t>(), where.data<int64_t>() + where.size()) == expected);
    Tensor kept = apply1(c, Op::boolean_mask, {x, mask}).take();
    Tensor same = apply1(c, Op::gather_nd, {x, where}).take();
    CHECK(first_difference(kept, same) == -1);
  }
  Tensor m = ints(c, {2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor mask = tensor<uint8_t>(c, DType::Bool, {3}, {1, 0, 1});
  CHECK(values(c, apply1(c, Op::boolean_mask, {m, mask}, Attrs().set_int(Attr::axis, 1)).take()) ==
        std::vector<int32_t>{1, 3, 4, 6});
  Tensor hot = apply1(c, Op::one_hot, {vector_of(c, {1, -1, 2}), ints(c, {}, {3}), ints(c, {}, {5}), ints(c, {}, {0})},
                      Attrs().set_int(Attr::axis, 0))
                   .take();
  CHECK(values(c, hot) == std::vector<int32_t>{0, 0, 0, 5, 0, 0, 0, 0, 5});
}

TEST_CASE("sorts are stable, NaN is the largest, -0 equals 0", "[index]") {
  for (int threads : {1, 3}) {
    Context c(options(threads));
    for (DType dtype :
         {DType::F16, DType::BF16, DType::F32, DType::F64, DType::I8, DType::I32, DType::U32, DType::I64, DType::U64}) {
      Tensor x = random_tensor(c, dtype, {40, 57, 3}, 21);
      Tensor keys = is_floating(dtype) ? cast_to(c, x, DType::F64) : x;
      auto less = [&](int64_t a, int64_t b) {
        if (is_floating(dtype)) {
          double u = keys.data<double>()[a], v = keys.data<double>()[b];
          return u != u ? false : v != v ? true : u < v;
        }
        uint64_t u = element_bits(x, a), v = element_bits(x, b);
        if (is_unsigned(dtype)) return u < v;
        int shift = 64 - 8 * static_cast<int>(dtype_size(dtype));
        return static_cast<int64_t>(u << shift) < static_cast<int64_t>(v << shift);
      };
      for (bool descending : {false, true}) {
        Attrs attrs;
        attrs.set_int(Attr::axis, 1).set_bool(Attr::descending, descending);
        Tensor sorted = contiguous(c, apply1(c, Op::sort, {x}, attrs).take()).take();
        Tensor order = contiguous(c, apply1(c, Op::argsort, {x}, attrs).take()).take();
        bool same = true;
        for (int64_t i = 0; i < 40; ++i) {
          for (int64_t j = 0; j < 3; ++j) {
            std::vector<int64_t> expected(57);
            std::iota(expected.begin(), expected.end(), 0);
            auto at = [&](int64_t p) { return (i * 57 + p) * 3 + j; };
            std::stable_sort(expected.begin(), expected.end(),
                             [&](int64_t a, int64_t b) { return descending ? less(at(b), at(a)) : less(at(a), at(b)); });
            for (int64_t p = 0; p < 57; ++p) {
              same &= order.data<int32_t>()[at(p)] == expected[p];
              same &= element_bits(sorted, at(p)) == element_bits(x, at(expected[p]));
            }
          }
        }
        CHECK(same);
      }
    }
  }
}

TEST_CASE("top_k, unique and searchsorted", "[index]") {
  Context c;
  std::vector<Tensor> top =
      apply_all(c, Op::top_k, {floats(c, {2, 4}, {1, __builtin_nanf(""), 3, 3, 4, 1, 9, 2}), ints(c, {}, {2})});
  CHECK(values(c, top[1]) == std::vector<int32_t>{1, 2, 2, 0});
  CHECK(top[0].data<float>()[2] == 9);
  std::vector<Tensor> distinct = apply_all(c, Op::unique_with_counts, {vector_of(c, {3, 1, 3, 2, 1, 3})});
  CHECK(values(c, distinct[0]) == std::vector<int32_t>{3, 1, 2});
  CHECK(values(c, distinct[1]) == std::vector<int32_t>{0, 1, 0, 2, 1, 0});
  CHECK(values(c, distinct[2]) == std::vector<int32_t>{3, 2, 1});
  CHECK(apply_all(c, Op::unique, {floats(c, {4}, {__builtin_nanf(""), __builtin_nanf(""), 0.0f, -0.0f})})[0].size() == 3);
  Tensor many = random_tensor(c, DType::I32, {5000}, 4);
  std::vector<Tensor> u = apply_all(c, Op::unique, {many});
  std::map<int32_t, int32_t> seen;
  bool same = true;
  for (int64_t i = 0; i < 5000; ++i) {
    auto it = seen.emplace(many.data<int32_t>()[i], static_cast<int32_t>(seen.size())).first;
    same &= u[1].data<int32_t>()[i] == it->second && u[0].data<int32_t>()[it->second] == it->first;
  }
  CHECK(same);
  Tensor sorted = ints(c, {1, 4}, {1, 3, 3, 5}), wanted = ints(c, {1, 4}, {0, 3, 4, 9});
  CHECK(values(c, apply1(c, Op::searchsorted, {sorted, wanted}).take()) == std::vector<int32_t>{0, 1, 3, 4});
  CHECK(values(c, apply1(c, Op::searchsorted, {sorted, wanted}, Attrs().set_bool(Attr::right, true)).take()) ==
        std::vector<int32_t>{0, 3, 3, 4});
}

TEST_CASE("shape rules of structural operations hold for unknown sizes", "[index]") {
  Context c;
  Tensor x = ints(c, {2, 3}, {1, 2, 3, 4, 5, 6});
  auto unknown = [](const Tensor& t, int how) {
    OperandInfo info{{t.dtype(), true, Dims(t.dims())}, {}};
    if (how == 1) {
      for (int64_t& d : info.type.dims) d = -1;
    } else if (how == 2) {
      info.type = {t.dtype(), false, {}};
    }
    return info;
  };
  struct Case {
    Op op;
    std::vector<Tensor> operands;
    Attrs attrs;
  };
  std::vector<Case> cases = {
      {Op::reshape, {x, vector_of(c, {3, 2})}, {}},
      {Op::transpose, {x, vector_of(c, {1, 0})}, {}},
      {Op::slice, {x, vector_of(c, {0, 1}), vector_of(c, {1, 2})}, {}},
      {Op::strided_slice,
       {x, vector_of(c, {0}), vector_of(c, {1}), vector_of(c, {1})},
       Attrs().set_int(Attr::shrink_axis_mask, 1)},
      {Op::concat, {x, x}, Attrs().set_int(Attr::axis, 0)},
      {Op::tile, {x, vector_of(c, {1, 2})}, {}},
      {Op::gather, {x, vector_of(c, {0})}, {}},
      {Op::gather_nd, {x, ints(c, {1, 1}, {0})}, {}},
      {Op::matmul, {x, x}, Attrs().set_bool(Attr::transpose_b, true)},
      {Op::top_k, {x, ints(c, {}, {1})}, {}},
      {Op::nonzero, {x}, {}},
  };
  for (const Case& k : cases) {
    std::vector<OperandInfo> full;
    for (const Tensor& t : k.operands) full.push_back({{t.dtype(), true, Dims(t.dims())}, t});
    SmallVec<TensorType, 2> exact;
    REQUIRE(infer(c, k.op, full, k.attrs, exact));
    for (int how = 0; how < 3; ++how) {
      std::vector<OperandInfo> partial;
      for (const Tensor& t : k.operands) partial.push_back(unknown(t, how));
      SmallVec<TensorType, 2> types;
      REQUIRE(infer(c, k.op, partial, k.attrs, types));
      REQUIRE(types.size() == exact.size());
      for (size_t i = 0; i < types.size(); ++i) {
        CHECK(types[i].dtype == exact[i].dtype);
        if (!types[i].ranked) continue;
        REQUIRE(types[i].dims.size() == exact[i].dims.size());
        for (size_t d = 0; d < types[i].dims.size(); ++d)
          CHECK((types[i].dims[d] < 0 || exact[i].dims[d] < 0 || types[i].dims[d] == exact[i].dims[d]));
      }
    }
  }
}
