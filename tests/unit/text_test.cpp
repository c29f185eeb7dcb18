// The text of arrays and numbers, as NumPy 2.4 and CPython write them.
#include "tests/unit/tensors.h"

#include "runtime/math/half.h"
#include "runtime/text/array_text.h"
#include "runtime/text/decimal.h"

using namespace tfl;
using namespace tfl::test;

namespace {

const double kNan = __builtin_nan(""), kInf = __builtin_inf();

Tensor of(Context& c, DType dtype, Dims dims, const std::vector<double>& values) {
  Tensor t = Tensor::empty(c, dtype, dims).take();
  for (size_t i = 0; i < values.size(); ++i) {
    switch (dtype) {
      case DType::F16: t.data<f16>()[i] = to_f16(values[i]); break;
      case DType::BF16: t.data<bf16>()[i] = to_bf16(values[i]); break;
      case DType::F32: t.data<float>()[i] = static_cast<float>(values[i]); break;
      case DType::F64: t.data<double>()[i] = values[i]; break;
      case DType::I32: t.data<int32_t>()[i] = static_cast<int32_t>(values[i]); break;
      case DType::I64: t.data<int64_t>()[i] = static_cast<int64_t>(values[i]); break;
      default: t.data<bool>()[i] = values[i] != 0; break;
    }
  }
  return t;
}

Tensor counting(Context& c, DType dtype, Dims dims, double scale = 1) {
  std::vector<double> values(static_cast<size_t>(element_count(dims).take()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) * scale;
  return of(c, dtype, dims, values);
}

}  // namespace

TEST_CASE("floats of one array share a format", "[text]") {
  struct Case {
    DType dtype;
    std::vector<double> values;
    const char* text;
  };
  Context c;
  const std::vector<Case> cases = {
      {DType::F32, {1.0, 1000.0}, "[   1. 1000.]"},
      {DType::F32, {0.001, 1.0}, "[0.001 1.   ]"},
      {DType::F32, {0.0001, 1.0}, "[1.e-04 1.e+00]"},
      {DType::F32, {0.0001}, "[0.0001]"},
      {DType::F32, {0.1, 0.25, 100.0}, "[  0.1    0.25 100.  ]"},
      {DType::F32, {999999.0, 1.0}, "[9.99999e+05 1.00000e+00]"},
      {DType::F32, {1000000.0, 0.5}, "[1.e+06 5.e-01]"},
      {DType::F32, {0.3333333333333333, 0.6666666666666666}, "[0.33333334 0.6666667 ]"},
      {DType::F32, {16777216.0, 0.1}, "[1.6777216e+07 1.0000000e-01]"},
      {DType::F32, {1e-45, 3.4028235e+38}, "[1.4012985e-45 3.4028235e+38]"},
      {DType::F64, {0.1, 0.2, 0.30000000000000004}, "[0.1 0.2 0.3]"},
      {DType::F64, {0.3333333333333333, 100000000.0}, "[3.33333333e-01 1.00000000e+08]"},
      {DType::F64, {123456.789, 0.001}, "[1.23456789e+05 1.00000000e-03]"},
      {DType::F64, {5e-324, 1.0}, "[5.e-324 1.e+000]"},
      {DType::F64, {99999999.0, 1.0}, "[9.9999999e+07 1.0000000e+00]"},
      {DType::F64, {1e-310, 1e+308}, "[1.e-310 1.e+308]"},
      {DType::F64, {kNan, 1.5, -2.0}, "[ nan  1.5 -2. ]"},
      {DType::F64, {kInf, -kInf}, "[ inf -inf]"},
      {DType::F64, {10000000000.0, kNan}, "[1.e+10    nan]"},
      {DType::F64, {0.0, -0.0}, "[ 0. -0.]"},
      {DType::F64, {-1.0, 2.5, -100.0}, "[  -1.     2.5 -100. ]"},
      {DType::F16, {0.1, 1.0}, "[0.1 1. ]"},
      {DType::F16, {65504.0, 6e-08, 0.1}, "[6.55e+04 5.96e-08 1.00e-01]"},
      {DType::F16, {999.0, 1.0}, "[999.   1.]"},
      {DType::F16, {1000.0, 1.0}, "[1.e+03 1.e+00]"},
      {DType::F16, {2049.0, 0.5}, "[2.048e+03 5.000e-01]"},
      {DType::F16, {0.0001, 0.001}, "[0.0001 0.001 ]"},
      {DType::BF16, {0.1, -2, 1e20, kNan, kInf}, "[0.100098 -2 9.97277e+19 nan inf]"},
  };
  for (const Case& k : cases) CHECK(array_str(of(c, k.dtype, {static_cast<int64_t>(k.values.size())}, k.values)) == k.text);
}

TEST_CASE("scalars", "[text]") {
  struct Case {
    DType dtype;
    double value;
    const char* text;
  };
  const std::vector<Case> cases = {
      {DType::F32, 0.1, "0.1"},
      {DType::F32, 1e6, "1e+06"},
      {DType::F32, 999999, "999999.0"},
      {DType::F32, 1e-4, "1e-04"},
      {DType::F32, 0.00010001, "0.00010001"},
      {DType::F32, 123456.789, "123456.79"},
      {DType::F32, 16777216, "1.6777216e+07"},
      {DType::F32, 1e20, "1e+20"},
      {DType::F32, -0.0, "-0.0"},
      {DType::F32, 3, "3.0"},
      {DType::F64, 0.1, "0.1"},
      {DType::F64, 1e15, "1000000000000000.0"},
      {DType::F64, 1e16, "1e+16"},
      {DType::F64, 1e-4, "0.0001"},
      {DType::F64, 1e-5, "1e-05"},
      {DType::F64, 2.0 / 3, "0.6666666666666666"},
      {DType::F16, 0.1, "0.1"},
      {DType::F16, 999, "999.0"},
      {DType::F16, 1000, "1e+03"},
      {DType::F16, 2048, "2.048e+03"},
      {DType::F16, 60000, "6e+04"},
      {DType::F16, 1e-4, "0.0001"},
      {DType::F16, 1e-5, "1e-05"},
      {DType::BF16, 0.1, "0.100098"},
      {DType::F32, kNan, "nan"},
      {DType::F64, -kInf, "-inf"},
  };
  Context c;
  for (const Case& k : cases) CHECK(element_str(of(c, k.dtype, {}, {k.value})) == k.text);
  CHECK(element_item_repr(of(c, DType::F32, {}, {0.1})) == "0.10000000149011612");
  CHECK(element_item_repr(of(c, DType::F16, {}, {0.1})) == "0.0999755859375");
  CHECK(element_item_repr(of(c, DType::F32, {}, {1e20})) == "1.0000000200408773e+20");
  CHECK(element_item_repr(of(c, DType::Bool, {}, {1})) == "True");
  CHECK(double_repr(1e22) == "1e+22");
  CHECK(double_repr(123456789.125) == "123456789.125");
  CHECK(bytes_repr(std::string_view("a'\n\\\0\xff", 6)) == "b\"a'\\n\\\\\\x00\\xff\"");
}

TEST_CASE("every half is printed by digits that read back as it", "[text]") {
  for (uint32_t bits = 1; bits < 0x7c00; ++bits) {
    double value = to_f32(f16{static_cast<uint16_t>(bits)});
    Digits d = shortest_digits(DType::F16, value);
    double back =
        std::strtod((d.digits.substr(0, 1) + "." + d.digits.substr(1) + "e" + std::to_string(d.exponent)).c_str(), nullptr);
    REQUIRE(to_f16(back).bits == bits);
    REQUIRE(d.digits.size() <= 5);
  }
}

TEST_CASE("rows, nesting and line breaks", "[text]") {
  Context c;
  CHECK(array_str(counting(c, DType::I32, {30})) ==
        "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
        " 24 25 26 27 28 29]");
  CHECK(array_repr(counting(c, DType::I32, {30})) ==
        "array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16,\n"
        "       17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29], dtype=int32)");
  CHECK(array_str(counting(c, DType::I32, {2, 2, 3})) ==
        "[[[ 0  1  2]\n"
        "  [ 3  4  5]]\n"
        "\n"
        " [[ 6  7  8]\n"
        "  [ 9 10 11]]]");
  CHECK(array_repr(counting(c, DType::I32, {2, 2, 3})) ==
        "array([[[ 0,  1,  2],\n"
        "        [ 3,  4,  5]],\n"
        "\n"
        "       [[ 6,  7,  8],\n"
        "        [ 9, 10, 11]]], dtype=int32)");
  CHECK(array_str(counting(c, DType::F32, {2, 24}, 0.5)) ==
        "[[ 0.   0.5  1.   1.5  2.   2.5  3.   3.5  4.   4.5  5.   5.5  6.   6.5\n"
        "   7.   7.5  8.   8.5  9.   9.5 10.  10.5 11.  11.5]\n"
        " [12.  12.5 13.  13.5 14.  14.5 15.  15.5 16.  16.5 17.  17.5 18.  18.5\n"
        "  19.  19.5 20.  20.5 21.  21.5 22.  22.5 23.  23.5]]");
  CHECK(array_repr(of(c, DType::Bool, {2, 2}, {1, 0, 0, 1})) == "array([[ True, False],\n       [False,  True]])");
  CHECK(array_repr(counting(c, DType::F32, {0, 3})) == "array([], shape=(0, 3), dtype=float32)");
  CHECK(array_repr(counting(c, DType::F64, {0})) == "array([], dtype=float64)");
  CHECK(array_repr(counting(c, DType::I64, {3})) == "array([0, 1, 2])");
  CHECK(array_repr(of(c, DType::F32, {}, {5.5})) == "array(5.5, dtype=float32)");
  Tensor words = tensor<std::string>(c, DType::String, {4},
                                     {"long string element number one", "two", "long string element number three", "q'\""});
  CHECK(array_repr(words) ==
        "array([b'long string element number one', b'two',\n"
        "       b'long string element number three', b'q\\'\"'], dtype=object)");
}

TEST_CASE("summaries", "[text]") {
  Context c;
  CHECK(array_str(counting(c, DType::I32, {1000})).size() > 1000);
  CHECK(array_str(counting(c, DType::I32, {1001})) == "[   0    1    2 ...  998  999 1000]");
  CHECK(array_repr(counting(c, DType::I32, {1001})) ==
        "array([   0,    1,    2, ...,  998,  999, 1000],\n"
        "      shape=(1001,), dtype=int32)");
  CHECK(array_repr(counting(c, DType::I64, {1, 1001})) == "array([[   0,    1,    2, ...,  998,  999, 1000]], shape=(1, 1001))");
  CHECK(array_str(counting(c, DType::F64, {2, 520}, 1.0 / 3)).substr(0, 74) ==
        "[[0.00000000e+00 3.33333333e-01 6.66666667e-01 ... 1.72333333e+02\n  1.7266");
  CHECK(array_str(counting(c, DType::I32, {7, 2, 100})).substr(0, 40) == "[[[   0    1    2 ...   97   98   99]\n  ");
}

TEST_CASE("print options", "[text]") {
  Context c;
  PrintOptions o;
  o.threshold = 10;
  o.edge_items = 2;
  o.line_width = 40;
  CHECK(array_repr(counting(c, DType::I32, {3, 10}), o) ==
        "array([[ 0,  1, ...,  8,  9],\n"
        "       [10, 11, ..., 18, 19],\n"
        "       [20, 21, ..., 28, 29]],\n"
        "      shape=(3, 10), dtype=int32)");
  PrintOptions short_digits;
  short_digits.precision = 3;
  short_digits.suppress = true;
  CHECK(array_str(of(c, DType::F64, {2}, {1e-10, 1.23456}), short_digits) == "[0.    1.235]");
  CHECK(array_str(of(c, DType::F64, {3}, {1e-10, 1.23456, 1e10}), short_digits) == "[1.000e-10 1.235e+00 1.000e+10]");
  PrintOptions fixed;
  fixed.float_mode = FloatMode::fixed;
  CHECK(array_str(of(c, DType::F64, {3}, {1.5, 2, 0.1}), fixed) == "[1.50000000 2.00000000 0.10000000]");
  PrintOptions sign;
  sign.sign = '+';
  CHECK(array_str(of(c, DType::F64, {2}, {1.5, -2}), sign) == "[+1.5 -2. ]");
}
