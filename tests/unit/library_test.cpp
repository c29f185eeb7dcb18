// What modules of the library stand on: digests, wide encodings, the translation of Python's regular expressions.
#include "tests/catch.h"

#include "frontend/interpreter/modules/regex_syntax.h"
#include "frontend/text/codec.h"
#include "runtime/support/digest.h"

using namespace tfl;

namespace {

std::string hex(std::string_view data) {
  std::string out;
  for (char c : digest_of("sha512", data)) {
    const auto b = static_cast<uint8_t>(c);
    out += "0123456789abcdef"[b >> 4];
    out += "0123456789abcdef"[b & 15];
  }
  return out;
}

struct Translated {
  bool ok;
  PythonRegex regex;
  PythonRegexProblem problem;
};
Translated translate(std::string_view pattern, uint32_t flags = 0) {
  Translated t{};
  t.ok = translate_python_regex(pattern, flags, false, t.regex, t.problem);
  return t;
}

}  // namespace

TEST_CASE("SHA-512 gives the digests of the standard's examples") {
  CHECK(hex("").substr(0, 32) == "cf83e1357eefb8bdf1542850d66d8007");
  CHECK(hex("abc") ==
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94f"
        "a54ca49f");
  // Padding that needs a block of its own.
  CHECK(hex(std::string(112, 'a')).substr(0, 16) == "c01d080efd492776");
}

TEST_CASE("UTF-16 and UTF-32 come back as they went") {
  const std::string text = "a\u00e9\u65e5\U0001F600";
  for (const char* name : {"utf-16", "UTF_16_LE", "utf-16be", "utf-32", "utf-32-be"}) {
    auto there = encode_text(text, name, "strict");
    REQUIRE(there);
    auto back = decode_text(*there, name, "strict");
    REQUIRE(back);
    CHECK(*back == text);
  }
  auto half = decode_text(std::string_view("\x00\xd8", 2), "utf-16-le", "strict");
  REQUIRE(!half);
  CHECK(half.error().kind == ErrorKind::UnicodeDecodeError);
  auto lenient = decode_text(std::string_view("\x00\xd8", 2), "utf-16-le", "replace");
  REQUIRE(lenient);
  CHECK(*lenient == "\uFFFD");
}

TEST_CASE("Python's patterns are written for the library") {
  CHECK(translate("a{,3}\\Z").regex.pattern == "a{0,3}\\z");
  CHECK(translate("(?P<n>x)(?P=n)").regex.pattern == "(x)\\g{1}");
  CHECK(translate("[[a]").regex.pattern == "[\\x{5b}a]");
  CHECK(translate("a b # c\n+", kPyVerbose).regex.pattern == "ab{1,}");
  auto flags = translate("(?im)x");
  CHECK((flags.regex.flags & (kPyIgnoreCase | kPyMultiLine)) == (kPyIgnoreCase | kPyMultiLine));
  auto groups = translate("((a)(?P<b>c))");
  CHECK(groups.regex.groups == 3);
  CHECK(groups.regex.closing == std::vector<size_t>{2, 3, 1});
}

TEST_CASE("Wrong patterns are told as Python tells them") {
  auto check = [](std::string_view pattern, const char* text, std::optional<size_t> where) {
    auto t = translate(pattern);
    CHECK(!t.ok);
    CHECK(t.problem.text == text);
    CHECK(t.problem.offset == where);
  };
  check("a**", "multiple repeat", 2);
  check("(a", "missing ), unterminated subpattern", 0);
  check("(?<=a+)b", "look-behind requires fixed-width pattern", {});
  check("[z-a]", "bad character range z-a", 1);
  check("(?(2)a)", "invalid group reference 2", 3);
  CHECK(!translate(std::string(100000, '(')).ok);
}
