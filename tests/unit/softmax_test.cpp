// Softmax of rows against the operations that it stands for, to the bit.
#include "tests/unit/graphs.h"

#include <cmath>

#include "ir/program.h"
#include "runtime/kernels/reduce/softmax.h"

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
            INFO(dtype_name(dtype) << " " << n << " level " << static_cast<int>(isa) << " threads " << threads << " logs "
                                   << logs);
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

namespace {

// The operations of tf.nn.softmax or its logarithm over an axis as a graph, which may give their sum besides.
std::string softmax_graph(std::string_view type, std::string_view reduced, int axis, bool logs, bool gives_sum) {
  std::string over = fmt::format("{{axes = [{}], keepdims = true}} : {}", axis, reduced);
  std::string text = fmt::format("func @f(%x: {0}) -> ({0}{1}{2}) {{\n", type, gives_sum ? ", " : "", gives_sum ? reduced : "");
  text += fmt::format("%m = reduce_max(%x) {1}\n%d = subtract(%x, %m) : {0}\n%e = exp(%d) : {0}\n%s = reduce_sum(%e) {1}\n", type,
                      over);
  text += logs ? fmt::format("%l = log(%s) : {1}\n%y = subtract(%d, %l) : {0}\n", type, reduced)
               : fmt::format("%y = divide(%e, %s) : {}\n", type);
  return text + (gives_sum ? "return %y, %s\n}" : "return %y\n}");
}

size_t instructions(const ir::Function& f) { return ir::program::compile(f)[0]->instructions.size(); }

}  // namespace

TEST_CASE("graph: softmax is run at once where nobody sees what lies between", "[softmax]") {
  Context c;
  for (bool logs : {false, true}) {
    const size_t apart = logs ? 7 : 6;
    for (auto [type, reduced, axis, dims, length] :
         {std::tuple{"f32[3,100]", "f32[3,1]", -1, Dims{3, 100}, size_t{2}},
          {"f64[?,?]", "f64[?,1]", 1, Dims{2, 70}, 2},
          {"f64[?,?]", "f64[?,1]", -1, Dims{2, 7}, 2},  // short rows: the operations, one by one
          {"f32[3,10]", "f32[3,1]", -1, Dims{3, 10}, apart},
          {"f32[100,100]", "f32[1,100]", 0, Dims{100, 100}, apart},
          {"f16[3,100]", "f16[3,1]", -1, Dims{3, 100}, apart}}) {
      INFO(type << " axis " << axis << " logs " << logs);
      auto alone = parse_graph(c, softmax_graph(type, reduced, axis, logs, false)),
           seen = parse_graph(c, softmax_graph(type, reduced, axis, logs, true));
      CHECK(instructions(*alone) == length);
      CHECK(instructions(*seen) == apart);
      Tensor x = random_tensor(c, alone->body.params[0]->types[0].tensor.dtype, dims, 5, true);
      Ran once = run_graph(c, alone, {datum(x)}), apiece = run_graph(c, seen, {datum(x)});
      REQUIRE(once.outputs.size() == 1);
      REQUIRE(apiece.outputs.size() == 2);
      CHECK(first_difference(once.outputs[0].tensor, apiece.outputs[0].tensor) == -1);
    }
  }
}

TEST_CASE("graph: a softmax of a softmax, in a loop, with an operand that lives on", "[softmax]") {
  // The operand is a loop's variable, and is given beside the result: the slot must not be emptied too early.
  Context c;
  auto f = parse_graph(c, R"(func @f(%x: f32[2,64]) -> (f32[2,64], f32[2,64]) {
    %n = constant 2 : i32
    %zero = constant 0 : i32
    %i, %v, %w = while_loop(%zero, %x, %x, %n) {num = 3} : i32, f32[2,64], f32[2,64]
    while (%i: i32, %v: f32[2,64], %w: f32[2,64], %n: i32) {
      %p = less(%i, %n) : bool
      yield %p
    } do (%i: i32, %v: f32[2,64], %w: f32[2,64], %n: i32) {
      %m = reduce_max(%v) {axes = [-1], keepdims = true} : f32[2,1]
      %d = subtract(%v, %m) : f32[2,64]
      %e = exp(%d) : f32[2,64]
      %s = reduce_sum(%e) {axes = [-1], keepdims = true} : f32[2,1]
      %y = divide(%e, %s) : f32[2,64]
      %one = constant 1 : i32
      %j = add(%i, %one) : i32
      yield %j, %y, %v
    }
    return %v, %w
  })");
  Tensor x = random_tensor(c, DType::F32, Dims{2, 64}, 5, true);
  Ran ran = run_graph(c, f, {datum(x)});
  REQUIRE(ran.outputs.size() == 2);
  Tensor once = composed(c, x, false);
  CHECK(first_difference(ran.outputs[1].tensor, once) == -1);
  CHECK(first_difference(ran.outputs[0].tensor, composed(c, once, false)) == -1);
}
