#include "tests/catch.h"

#include <map>

#include "frontend/core/exception.h"
#include "frontend/core/file_access.h"
#include "frontend/core/hashing.h"
#include "frontend/interpreter/object/containers/set_table.h"
#include "frontend/interpreter/object/containers/sort.h"
#include "frontend/interpreter/object/numbers/number.h"
#include "frontend/text/float_text.h"
#include "frontend/text/format_spec.h"
#include "frontend/text/int_text.h"
#include "frontend/text/quote.h"
#include "frontend/text/search.h"
#include "frontend/text/unicode.h"
#include "frontend/text/utf8.h"

using namespace tfl;

namespace {

struct Host {
  Context context;
  Interp interp;
  explicit Host(ContextOptions o = {}) : context(o), interp(context, {}) {}
  std::string shown(const Value& v) { return repr_text(interp, v).take(); }
  Value call(std::string_view builtin, std::initializer_list<Value> args) {
    Value f = dict_get_str(interp.builtins.as<Module>()->dict.as<Dict>(), interp.intern(builtin));
    auto r = interp.call(f, args);
    REQUIRE(r.ok());
    return r.take();
  }
  std::string error(Result<Value> r) {
    REQUIRE(!r.ok());
    return exception_headline(interp, interp.exception_of(r.error()));
  }
};

uint64_t next_random(uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

}  // namespace

TEST_CASE("floats: shortest text, and text that reads back", "[objects]") {
  CHECK(float_repr(0.1) == "0.1");
  CHECK(float_repr(1e16) == "1e+16");
  CHECK(float_repr(9999999999999998.0) == "9999999999999998.0");
  CHECK(float_repr(0.0001) == "0.0001");
  CHECK(float_repr(0.00001) == "1e-05");
  CHECK(float_repr(-0.0) == "-0.0");
  CHECK(float_repr(5e-324) == "5e-324");
  uint64_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    uint64_t bits = next_random(state) << 33 ^ next_random(state) << 11 ^ next_random(state);
    double v;
    std::memcpy(&v, &bits, 8);
    if (!std::isfinite(v)) continue;
    REQUIRE(parse_float(float_repr(v)) == v);
    bool overflow;
    REQUIRE(parse_float_hex(float_hex(v), overflow) == v);
  }
}

TEST_CASE("floats: rounding to decimal places is exact", "[objects]") {
  CHECK(round_decimal(2.675, 2) == 2.67);
  CHECK(round_decimal(0.125, 2) == 0.12);
  CHECK(round_decimal(250.0, -2) == 200.0);
  CHECK(round_decimal(350.0, -2) == 400.0);
  CHECK(round_decimal(50.0, -2) == 0.0);
  CHECK(round_decimal(50.00001, -2) == 100.0);
  CHECK(std::isinf(round_decimal(1.7e308, -308)));
  CHECK(round_decimal(1e-300, 400) == 1e-300);
}

TEST_CASE("ints: what 64 bits do not hold is a BigInt, what they hold never is", "[objects]") {
  Host h;
  auto op = [&](BinaryOp o, int64_t a, int64_t b) { return int_arithmetic(h.interp, o, a, b).take(); };
  auto text = [&](const Value& v) { return int_text(h.interp, v).take(); };
  Value above = op(BinaryOp::Add, INT64_MAX, 1);
  CHECK(above.is(Kind::BigInt));
  CHECK(text(above) == "9223372036854775808");
  CHECK(int_binary(h.interp, BinaryOp::Sub, above, Value::integer(1)).take().as_int() == INT64_MAX);
  CHECK(int_negate(h.interp, above).take().as_int() == INT64_MIN);
  CHECK(text(op(BinaryOp::Mul, INT64_MIN, -1)) == "9223372036854775808");
  CHECK(text(op(BinaryOp::FloorDiv, INT64_MIN, -1)) == "9223372036854775808");
  CHECK(text(op(BinaryOp::LShift, 1, 64)) == "18446744073709551616");
  CHECK(h.error(int_arithmetic(h.interp, BinaryOp::LShift, 1, int64_t{1} << 60)) == "MemoryError");
  CHECK(h.error(int_arithmetic(h.interp, BinaryOp::Pow, 10, int64_t{1} << 60)) == "MemoryError");
  CHECK(int_arithmetic(h.interp, BinaryOp::Pow, -2, 63).take().as_int() == INT64_MIN);
  CHECK(int_arithmetic(h.interp, BinaryOp::Mod, INT64_MIN, -1).take().as_int() == 0);
  CHECK(int_of_double(h.interp, 9223372036854775808.0).take().is(Kind::BigInt));
  CHECK(int_of_double(h.interp, -9223372036854775808.0).take().as_int() == INT64_MIN);
  int64_t v;
  CHECK(parse_int("9223372036854775808", 10, v) == IntParse::Large);
  CHECK(parse_int("-9223372036854775808", 10, v) == IntParse::Ok);
  CHECK(parse_int("1__0", 10, v) == IntParse::Malformed);
}

TEST_CASE("ints: long products, quotients and texts agree with each other", "[objects]") {
  Host h;
  h.interp.max_str_digits = 0;
  auto op = [&](BinaryOp o, const Value& a, const Value& b) { return int_binary(h.interp, o, a, b).take(); };
  // Long enough for Karatsuba's products and the recursive quotients, and of unlike sizes.
  for (int64_t bits : {300, 5000, 40000, 200000}) {
    Value a = op(BinaryOp::Pow, Value::integer(3), Value::integer(bits));
    Value b = op(BinaryOp::Add, op(BinaryOp::Pow, Value::integer(7), Value::integer(bits / 3)), Value::integer(5));
    Value q = op(BinaryOp::FloorDiv, a, b), r = op(BinaryOp::Mod, a, b);
    CHECK(int_compare(op(BinaryOp::Add, op(BinaryOp::Mul, q, b), r), a) == 0);
    CHECK(int_compare(r, b) < 0);
    Value square = op(BinaryOp::Mul, a, a);
    CHECK(int_compare(op(BinaryOp::FloorDiv, square, a), a) == 0);
    CHECK(int_compare(int_square_root(h.interp, square).take(), a) == 0);
    std::string text = int_text(h.interp, a).take();
    CHECK(int_compare(int_of_text(h.interp, text, 10, "").take(), a) == 0);
  }
}

TEST_CASE("ints: true division rounds once", "[objects]") {
  CHECK(int_true_div(9007199254740993, 1) == 9007199254740992.0);
  CHECK(int_true_div(9007199254740995, 1) == 9007199254740996.0);
  CHECK(int_true_div(INT64_MIN, -1) == 9223372036854775808.0);
  CHECK(int_true_div(INT64_MAX, INT64_MAX) == 1.0);
  CHECK(int_true_div(0, INT64_MAX) == 0.0);
}

TEST_CASE("hashes: equal numbers hash equal", "[objects]") {
  for (int64_t i :
       {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{1} << 61, -(int64_t{1} << 61), int64_t{1} << 62, int64_t{123456789}}) {
    CHECK(hash_int(i) == hash_double(static_cast<double>(i)));
  }
  CHECK(static_cast<int64_t>(hash_int(-1)) == -2);
  CHECK(static_cast<int64_t>(hash_double(1.5)) == 1152921504606846977);
}

TEST_CASE("dict: agrees with a plain map under random changes", "[objects]") {
  Host h;
  Value d = h.interp.dict();
  std::map<int64_t, int64_t> plain;
  uint64_t state = 7;
  for (int i = 0; i < 20000; ++i) {
    auto key = static_cast<int64_t>(next_random(state) % 300) << (i % 3 * 16);
    if (next_random(state) % 3 != 0) {
      REQUIRE(dict_set(h.interp, d.as<Dict>(), Value::integer(key), Value::integer(i)).ok());
      plain[key] = i;
    } else {
      Value old = dict_pop(h.interp, d.as<Dict>(), Value::integer(key)).take();
      REQUIRE(old.is_empty() == (plain.erase(key) == 0));
    }
    REQUIRE(d.as<Dict>()->live == static_cast<int64_t>(plain.size()));
  }
  for (auto& [key, value] : plain) CHECK(dict_get(h.interp, d.as<Dict>(), Value::integer(key)).take().as_int() == value);
  size_t at = 0, seen = 0;
  while (dict_next(d.as<Dict>(), at)) ++seen;
  CHECK(seen == plain.size());
}

TEST_CASE("dict: text keys, interned or not, are the same key", "[objects]") {
  Host h;
  Value d = h.interp.dict();
  for (int i = 0; i < 40; ++i) dict_set_str(d.as<Dict>(), h.interp.intern("k" + std::to_string(i)), Value::integer(i));
  Value built = h.interp.str("k17");
  CHECK(dict_get(h.interp, d.as<Dict>(), built).take().as_int() == 17);
  REQUIRE(dict_set(h.interp, d.as<Dict>(), built, Value::integer(-1)).ok());
  CHECK(d.as<Dict>()->live == 40);
  CHECK(dict_get_str(d.as<Dict>(), h.interp.intern("k17")).as_int() == -1);
  CHECK(dict_find_str(d.as<Dict>(), h.interp.intern("nothing")) == -1);
}

TEST_CASE("dict: a queue of keys does not become slow", "[objects]") {
  Host h;
  Value d = h.interp.dict();
  for (int i = 0; i < 200000; ++i) {
    REQUIRE(dict_set(h.interp, d.as<Dict>(), Value::integer(i), Value::none()).ok());
    if (i >= 10) {
      size_t at = 0;
      Value first = dict_next(d.as<Dict>(), at)->key;
      REQUIRE(first.as_int() == i - 10);
      REQUIRE(dict_pop(h.interp, d.as<Dict>(), first).ok());
    }
  }
  CHECK(d.as<Dict>()->entries.size() < 100);
}

TEST_CASE("set: ints come in CPython's order", "[objects]") {
  Host h;
  Value s = h.call(
      "set",
      {h.interp.list({Value::integer(100), Value::integer(3), Value::integer(-1), Value::integer(17), Value::integer(8)})});
  CHECK(h.shown(s) == "{3, 100, 8, 17, -1}");
  Value more = h.call("set", {h.call("range", {Value::integer(10)})});
  CHECK(h.shown(more) == "{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}");
}

TEST_CASE("sort: stable, and nothing is lost when a comparison fails", "[objects]") {
  Host h;
  std::vector<Value> items;
  uint64_t state = 3;
  for (int i = 0; i < 3000; ++i)
    items.push_back(h.interp.tuple({Value::integer(static_cast<int64_t>(next_random(state) % 50)), Value::integer(i)}));
  std::vector<Value> sorted = items;
  REQUIRE(sort_values(h.interp, sorted, Value::none(), false).ok());
  for (size_t i = 1; i < sorted.size(); ++i) {
    auto key = [&](size_t k, int part) { return sorted[k].as<Tuple>()->items[part].as_int(); };
    REQUIRE((key(i - 1, 0) < key(i, 0) || (key(i - 1, 0) == key(i, 0) && key(i - 1, 1) < key(i, 1))));
  }
  std::vector<Value> mixed;
  for (int i = 0; i < 500; ++i)
    mixed.push_back(i == 250 ? h.interp.str("x") : Value::integer(static_cast<int64_t>(next_random(state) % 99)));
  CHECK(!sort_values(h.interp, mixed, Value::none(), false).ok());
  CHECK(std::none_of(mixed.begin(), mixed.end(), [](const Value& v) { return v.is_empty(); }));
  std::vector<Value> floats;
  for (int i = 0; i < 500; ++i)
    floats.push_back(Value::real(i % 7 == 0 ? std::nan("") : static_cast<double>(next_random(state) % 99)));
  CHECK(sort_values(h.interp, floats, Value::none(), true).ok());
}

TEST_CASE("memory: what cannot fit is refused before it is taken", "[objects]") {
  ContextOptions o;
  o.memory_limit = size_t{4} << 30;
  Host h(o);
  auto times = [&](Value v, int64_t n) { return binary(h.interp, BinaryOp::Mul, v, Value::integer(n)); };
  CHECK(h.error(times(h.interp.list({Value::integer(0)}), 1000000000000)) == "MemoryError");
  CHECK(h.error(times(h.interp.str("x"), 1000000000000)) == "MemoryError");
  CHECK(h.error(times(h.interp.tuple({Value::none()}), INT64_MAX)) == "MemoryError");
  CHECK(h.error(times(h.interp.bytes("ab"), INT64_MAX)) == "MemoryError");
  CHECK(h.error(format_value(h.interp, Value::integer(1), "999999999999d")) == "MemoryError");
  CHECK(h.error(binary(h.interp, BinaryOp::Mod, h.interp.str("%2147483647d%2147483647d%2147483647d"),
                       h.interp.tuple({Value::integer(1), Value::integer(1), Value::integer(1)}))) == "MemoryError");
}

TEST_CASE("nesting: deep structures end in RecursionError", "[objects]") {
  Host h;
  Value deep = h.interp.list(), other = h.interp.list();
  for (int i = 0; i < 100000; ++i) {
    deep = h.interp.list({deep});
    other = h.interp.list({other});
  }
  CHECK(h.error(repr(h.interp, deep)).starts_with("RecursionError: maximum recursion depth exceeded"));
  CHECK(h.error(compare(h.interp, CompareOp::Eq, deep, other)).starts_with("RecursionError: maximum recursion depth exceeded"));
  Value nested = h.interp.empty_tuple;
  for (int i = 0; i < 100000; ++i) nested = h.interp.tuple({nested});
  CHECK(!hash_value(h.interp, nested).ok());
}

TEST_CASE("text: UTF-8", "[objects]") {
  std::string s = "aé中😀";
  CHECK(utf8::count(s) == 4);
  CHECK(utf8::encode(utf8::decode(s)) == s);
  CHECK(utf8::offset(s, 3) == 6);
  CHECK(utf8::validate(s).at == std::string_view::npos);
  CHECK(utf8::validate("a\xff").at == 1);
  CHECK(utf8::validate("\xed\xa0\x80").at == 0);
  CHECK(utf8::validate("\xc0\x80").at == 0);
  CHECK(std::string(utf8::validate("\xe2\x82").reason) == "unexpected end of data");
}

TEST_CASE("text: Unicode's case and classes", "[objects]") {
  CHECK(unicode::upper("straße ŉ") == "STRASSE ʼN");
  CHECK(unicode::lower("ΑΣ ΑΣΑ İ") == "ας ασα i̇");
  CHECK(unicode::title("they're ǆ") == "They'Re ǅ");
  CHECK(unicode::casefold("ẞß") == "ssss");
  CHECK(unicode::is_alpha(0x4E2D));
  CHECK(!unicode::is_printable(0xAD));
  CHECK(unicode::decimal_value(0x663) == 3);
  CHECK(quote_text("it's") == "\"it's\"");
  CHECK(quote_text("\x7f\xc2\xa0😀") == "'\\x7f\\xa0😀'");
}

TEST_CASE("text: searching and splitting", "[objects]") {
  CHECK(replace_occurrences("aéa", "", "-", -1, Alphabet::Text) == "-a-é-a-");
  CHECK(count_occurrences("aaaa", "aa", Alphabet::Text) == 2);
  CHECK(split_blanks(" a  b c ", 1, false, Alphabet::Text) == std::vector<std::string_view>{"a", "b c "});
  CHECK(split_blanks(" a  b c ", 1, true, Alphabet::Text) == std::vector<std::string_view>{" a  b", "c"});
  CHECK(split_lines("a\r\nb\nc", true, Alphabet::Text) == std::vector<std::string_view>{"a\r\n", "b\n", "c"});
}

TEST_CASE("formats: numbers in fields", "[objects]") {
  auto real = [](std::string_view spec, double v) {
    return format_real(parse_format_spec(spec, 0, '>', "float").take(), v, "float").take();
  };
  CHECK(real("020,", 1234567.5) == "00,000,001,234,567.5");
  CHECK(real(".400f", 0.1).size() == 402);
  CHECK(real(".2000e", 1.0 / 3).size() == 2006);
  CHECK(real("z.1f", -0.01) == "0.0");
  auto whole = [](std::string_view spec, int64_t v) {
    return format_integer(parse_format_spec(spec, 'd', '>', "int").take(), v, "int").take();
  };
  CHECK(whole("#_x", INT64_MIN) == "-0x8000_0000_0000_0000");
  CHECK(whole("012,", 1234567) == "0,001,234,567");
}

TEST_CASE("files: only below the folders a script may use", "[objects]") {
  auto may_access = [](Interp& interp, const char* path, Access access) {
    FilePlace place;
    sandbox(interp).find(path, access, Links::Follow, place);
    return !place.refused;
  };
  Host h;
  CHECK(may_access(h.interp, "some/new/file.txt", Access::Write));
  CHECK(!may_access(h.interp, "/etc/passwd", Access::Read));
  CHECK(!find_file(h.interp, "nowhere/../../../../../../../../etc/passwd", Access::Read).ok());
  CHECK(!may_access(h.interp, "../../../../../../../../../etc/passwd", Access::Read));
  CHECK(!may_access(h.interp, "/", Access::Read));
  Host free;
  free.interp.options.allow_all = true;
  CHECK(may_access(free.interp, "/usr/share", Access::Read));
  CHECK(!may_access(free.interp, "/proc/self/mem", Access::Write));
  CHECK(!may_access(free.interp, "/dev/null", Access::Write));
  auto denied = find_file(h.interp, "/etc/passwd", Access::Read);
  REQUIRE(!denied.ok());
  CHECK(h.error(denied.failure()).starts_with("PermissionError: [Errno 13] Permission denied: '/etc/passwd'"));
}
