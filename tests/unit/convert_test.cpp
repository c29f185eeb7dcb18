// Host values to tensors: element types, sizes, errors; and that a tensor never sees a later change of what it was made from.
#include "tests/catch.h"

#include "frontend/core/tensor_api.h"

using namespace tfl;

namespace {

struct Session {
  Context context;
  Interp interp{context, {}};
  Value number(double v) { return Value::real(v); }
  Value row(std::initializer_list<Value> items) { return interp.list(std::vector<Value>(items)); }
};

}  // namespace

TEST_CASE("numbers choose their element type", "[convert]") {
  Session s;
  auto dtype = [&](const Value& v, ToTensor wanted = {}) {
    auto t = to_tensor(s.interp, v, wanted);
    REQUIRE(t);
    return t->tensor().dtype();
  };
  CHECK(dtype(Value::integer(1)) == DType::I32);
  CHECK(dtype(Value::integer(int64_t{1} << 31)) == DType::I64);
  CHECK(dtype(Value::real(1)) == DType::F32);
  CHECK(dtype(Value::boolean(true)) == DType::Bool);
  CHECK(dtype(s.interp.str("a")) == DType::String);
  CHECK(dtype(s.row({Value::integer(1), Value::real(2)})) == DType::F32);
  CHECK(dtype(s.row({})) == DType::F32);
  ToTensor hint;
  hint.preferred = DType::F64;
  CHECK(dtype(Value::integer(1), hint) == DType::F64);
  hint.preferred = DType::I32;
  CHECK(dtype(Value::real(1.5), hint) == DType::F32);
}

TEST_CASE("nested lists give sizes", "[convert]") {
  Session s;
  Value rows = s.row({s.row({Value::integer(1), Value::integer(2)}), s.row({Value::integer(3), Value::integer(4)}),
                      s.row({Value::integer(5), Value::integer(6)})});
  auto t = to_concrete(s.interp, rows);
  REQUIRE(t);
  CHECK(shape_text(t->dims()) == "[3,2]");
  CHECK(t->data<int32_t>()[5] == 6);
  auto back = to_host(s.interp, *t);
  REQUIRE(back);
  auto same = equals(s.interp, *back, rows);
  REQUIRE(same);
  CHECK(*same);
}

TEST_CASE("what does not fit is refused in TensorFlow's words", "[convert]") {
  Session s;
  auto message = [&](const Value& v, ToTensor wanted = {}) {
    auto t = to_tensor(s.interp, v, wanted);
    REQUIRE_FALSE(t);
    return std::string(error_kind_name(t.error().kind)) + ": " + t.error().message;
  };
  CHECK(message(s.row({s.row({Value::integer(1)}), Value::integer(2)})) ==
        "ValueError: Can't convert non-rectangular Python sequence to Tensor.");
  CHECK(message(s.row({Value::integer(1), s.interp.str("a")})) ==
        "ValueError: Can't convert Python sequence with mixed types to Tensor.");
  CHECK(message(Value::none()) ==
        "ValueError: Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.");
  ToTensor ints;
  ints.dtype = DType::I32;
  CHECK(message(Value::real(1.5), ints) == "TypeError: Cannot convert 1.5 to EagerTensor of dtype int32");
  Value deep = Value::integer(1);
  for (int i = 0; i < 300; ++i) deep = s.row({deep});
  CHECK_FALSE(to_tensor(s.interp, deep));
}

TEST_CASE("host operands take the tensor's element type", "[convert]") {
  Session s;
  auto half = to_tensor(s.interp, Value::real(1.5), {DType::F16, {}});
  REQUIRE(half);
  auto product = apply_binary(s.interp, Op::multiply, *half, Value::integer(2));
  REQUIRE(product);
  CHECK(product->tensor().dtype() == DType::F16);
  CHECK(tensor_str(s.interp, product->tensor()) == "tf.Tensor(3.0, shape=(), dtype=float16)");
  auto quotient = true_divide(s.interp, Value::integer(1), Value::integer(2));
  REQUIRE(quotient);
  CHECK(quotient->tensor().dtype() == DType::F64);
}
