// Softmax of rows against the operations that it stands for, to the bit.
#include "tests/unit/tensors.h"

#include <cmath>

#include "runtime/kernels/softmax.h"

using namespace tfl;
using namespace tfl::test;

namespace {

Tensor composed(Context& c, const Tensor& x, bool logs) {
  Attrs last;
  last.set_ints(Attr::axes, Dims{-1}).set_bool(Attr::keepdims, true);
  Tensor shifted = apply1(c, Op::subtract, {x, apply1(c, Op::reduce_max, {x}, last).take()}).take();
  Tensor powers = apply1(c, Op::exp, {shifted}).take();
  Tensor sum = apply1(c, Op::reduce_sum, {powers}, last).take();
  if (!logs) return apply1(c, Op::divide, {powers, sum}).take();
  return apply1(c, Op::subtract, {shifted, apply1(c, Op::log, {sum}).take()}).take();
}

}  // namespace

TEST_CASE("softmax of rows has the bits of the operations it stands for", "[softmax]") {
  for (DType dtype : {DType::F32, DType::F64}) {
    for (int64_t n : {64, 67, 1000, 4096, 4097, 13000}) {
      for (IsaLevel isa : isa_levels()) {
        for (int threads : {1, 3}) {
          Context c(options(threads, isa));
          Tensor x = random_tensor(c, dtype, Dims{3, 11, n}, 5, true);
          REQUIRE(has_softmax_rows(x));
          for (bool logs : {false, true}) {
            INFO(dtype_name(dtype) << " " << n << " level " << static_cast<int>(isa) << " threads " << threads
                                   << " logs " << logs);
            CHECK(first_difference(composed(c, x, logs), softmax_rows(c, x, logs).take()) == -1);
          }
        }
      }
    }
  }
}

TEST_CASE("shares of softmax, from 1 down to the subnormal ones, are quotients", "[softmax]") {
  for (DType dtype : {DType::F32, DType::F64}) {
    for (double width : {4.0, 30.0, 110.0, 800.0}) {  // exp(-103) and exp(-745) are the smallest numbers
      Context c;
      Tensor wide = Tensor::empty(c, DType::F64, Dims{300, 500}).take();
      std::mt19937_64 random(11);
      for (int64_t i = 0; i < wide.size(); ++i) wide.data<double>()[i] = static_cast<double>(random() >> 11) * 0x1p-53 * width;
      for (IsaLevel isa : isa_levels()) {
        Context at_level(options(2, isa));
        Tensor x = cast_to(at_level, wide, dtype);
        INFO(dtype_name(dtype) << " " << width << " level " << static_cast<int>(isa));
        CHECK(first_difference(composed(at_level, x, false), softmax_rows(at_level, x, false).take()) == -1);
      }
    }
  }
}

TEST_CASE("softmax of rows with infinities and NaN", "[softmax]") {
  Context c;
  Tensor x = random_tensor(c, DType::F32, Dims{4, 100}, 5, true);
  x.data<float>()[3] = std::numeric_limits<float>::infinity();
  x.data<float>()[150] = -std::numeric_limits<float>::infinity();
  x.data<float>()[250] = std::numeric_limits<float>::quiet_NaN();
  std::fill_n(x.data<float>() + 300, 100, -std::numeric_limits<float>::infinity());
  for (bool logs : {false, true}) CHECK(first_difference(composed(c, x, logs), softmax_rows(c, x, logs).take()) == -1);
}

TEST_CASE("tensors that softmax of rows does not take", "[softmax]") {
  Context c;
  CHECK_FALSE(has_softmax_rows(random_tensor(c, DType::F32, Dims{4, 63}, 5)));
  CHECK_FALSE(has_softmax_rows(random_tensor(c, DType::F16, Dims{4, 100}, 5)));
  CHECK_FALSE(has_softmax_rows(random_tensor(c, DType::F32, Dims{0, 100}, 5)));
  Attrs turn;
  turn.set_ints(Attr::perm, Dims{1, 0});
  Tensor turned = apply1(c, Op::transpose, {random_tensor(c, DType::F32, Dims{100, 70}, 5)}, turn).take();
  CHECK((turned.contiguous() || !has_softmax_rows(turned)));
}
