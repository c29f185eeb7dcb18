// Tensors: sizes, views, sharing, strings, texts.
#include "tests/unit/tensors.h"

#include "runtime/kernels/layout/walk.h"

using namespace tfl;
using namespace tfl::test;

TEST_CASE("a tensor knows its shape, and small ones take no element memory", "[tensor]") {
  Context c(options(1));
  Tensor t = Tensor::empty(c, DType::F32, Dims{2, 3, 4}).take();
  CHECK(t.rank() == 3);
  CHECK(t.size() == 24);
  CHECK(t.bytes() == 96);
  CHECK(t.contiguous());
  CHECK(t.strides()[0] == 12);
  CHECK(t.strides()[2] == 1);
  CHECK(c.memory.live_bytes() == 0);
  Tensor large = Tensor::empty(c, DType::F64, Dims{100}).take();
  CHECK(c.memory.live_bytes() >= 800);
  CHECK(reinterpret_cast<uintptr_t>(large.raw()) % 64 == 0);
  CHECK(describe(large) == "float64[100]");
  CHECK(shape_text(t.dims()) == "[2,3,4]");
  CHECK(shape_tuple_text(t.dims()) == "(2, 3, 4)");
  CHECK(shape_tuple_text(large.dims()) == "(100,)");
  CHECK(shape_tuple_text({}) == "()");
}

TEST_CASE("sizes that overflow, are negative or too many are refused", "[tensor]") {
  Context c(options(1));
  auto message = [&](Dims dims) {
    auto r = Tensor::empty(c, DType::F32, dims);
    REQUIRE_FALSE(r.ok());
    return r.error().message;
  };
  CHECK(message({2, -1}) == "Dimension -1 must be >= 0");
  CHECK(message({int64_t{1} << 40, int64_t{1} << 40}) ==
        "Shape [1099511627776,1099511627776] would have more than 2**63 - 1 elements");
  CHECK(message({int64_t{1} << 62}) == "Shape [4611686018427387904] would have more than 2**63 - 1 elements");
  CHECK(message(Dims(size_t{255}, int64_t{1})).find("255 dimensions") != std::string::npos);
  auto r = Tensor::empty(c, DType::F32, Dims{int64_t{1} << 50});
  REQUIRE_FALSE(r.ok());
  CHECK(r.error().kind == ErrorKind::ResourceExhaustedError);
  CHECK(Tensor::empty(c, DType::F32, Dims{0, int64_t{1} << 62, 8}).take().size() == 0);
}

TEST_CASE("views share elements", "[tensor]") {
  Context c(options(1));
  Tensor base = random_tensor(c, DType::F32, {10, 20}, 1);
  Tensor column = Tensor::view(c, base, Dims{10}, Dims{20}, 3);
  CHECK_FALSE(column.contiguous());
  CHECK_FALSE(base.unique());
  CHECK(element_bits(contiguous(c, column).take(), 4) == element_bits(base, 83));
  Tensor row = Tensor::view(c, base, Dims{1, 20}, Dims{7, 1}, 40);
  CHECK(row.contiguous());
  Tensor backwards = contiguous(c, Tensor::view(c, base, Dims{200}, Dims{-1}, 199)).take();
  CHECK(element_bits(backwards, 0) == element_bits(base, 199));
  column = row = Tensor();
  CHECK(base.unique());
}

TEST_CASE("views of small tensors stand alone", "[tensor]") {
  Context c(options(1));
  Tensor base = floats(c, {2, 2}, {1, 2, 3, 4});
  Tensor turned = Tensor::view(c, base, Dims{2, 2}, Dims{1, 2}, 0);
  CHECK(turned.contiguous());
  CHECK(first_difference(turned, floats(c, {2, 2}, {1, 3, 2, 4})) == -1);
  Tensor spread = Tensor::view(c, base, Dims{100, 2}, Dims{0, 1}, 2);
  base = Tensor();
  CHECK(spread.size() == 200);
  CHECK(contiguous(c, spread).take().data<float>()[199] == 4);
}

TEST_CASE("string tensors own their strings", "[tensor]") {
  Context c(options(1));
  for (int64_t n : {2, 50}) {
    Tensor t = Tensor::empty(c, DType::String, Dims{n}).take();
    for (int64_t i = 0; i < n; ++i)
      t.data<std::string>()[i] = "a string longer than what a std::string keeps inside, number " + std::to_string(i);
    Tensor view = Tensor::view(c, t, Dims{2}, Dims{n - 1}, 0);
    t = Tensor();
    CHECK(contiguous(c, view).take().data<std::string>()[1].ends_with(std::to_string(n - 1)));
  }
  CHECK(c.memory.live_bytes() == 0);
}

TEST_CASE("foreign memory is given back to its owner", "[tensor]") {
  Context c(options(1));
  struct Owned : Buffer {
    bool* gone;
    float values[3];
  };
  bool gone = false;
  auto* owned = new Owned{};
  owned->refs = 1;
  owned->bytes = sizeof owned->values;
  owned->data = reinterpret_cast<std::byte*>(owned->values);
  owned->gone = &gone;
  owned->release = [](Buffer* b) {
    *static_cast<Owned*>(b)->gone = true;
    delete static_cast<Owned*>(b);
  };
  owned->values[1] = 5;
  Tensor t = Tensor::foreign(c, DType::F32, Dims{3}, owned);
  Tensor view = Tensor::view(c, t, Dims{2}, Dims{1}, 1);
  t = Tensor();
  CHECK_FALSE(gone);
  CHECK(view.data<float>()[0] == 5);
  view = Tensor();
  CHECK(gone);
}

TEST_CASE("walks merge what is one run", "[tensor]") {
  Walk walk;
  walk.sizes = Dims{2, 3, 1, 4};
  walk.add(Dims{12, 4, 4, 1});
  walk.add(Dims{0, 4, 0, 1});
  walk.collapse();
  CHECK(walk.sizes == Dims{2, 12});
  CHECK(walk.strides[0] == Dims{12, 1});
  CHECK(walk.strides[1] == Dims{0, 1});
  int32_t from[24], to[7];
  for (int i = 0; i < 24; ++i) from[i] = i;
  pack_elements(4, walk.sizes, walk.strides[1], reinterpret_cast<const std::byte*>(from), 9, 7, reinterpret_cast<std::byte*>(to));
  CHECK(std::vector<int32_t>(to, to + 7) == std::vector<int32_t>{9, 10, 11, 0, 1, 2, 3});
}
