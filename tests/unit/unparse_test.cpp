// Trees as source text: what is written reads back as the same tree, for every construct and for every file of the library.
#include "frontend/syntax/ast/unparse.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include "tests/catch.h"

#include "frontend/syntax/ast/dump.h"
#include "frontend/syntax/parse/parse.h"

using namespace tfl;

namespace {

/// The tree of `text` without spans; "error: ..." when it does not parse.
std::string shape(const std::string& text) {
  ParseResult result = parse_module(Source("test.tfl", text));
  if (!result.ok()) return "error: " + result.diagnostics.front().message + "\n" + text;
  std::istringstream lines(ast::dump_ast(result.module));
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    size_t end = line.find_last_of(' ');
    bool span = end != std::string::npos && line.find('-', end) != std::string::npos && line.find(':', end) != std::string::npos;
    out += (span ? line.substr(0, end) : line) + "\n";
  }
  return out;
}

std::string written(const std::string& text) {
  ParseResult result = parse_module(Source("test.tfl", text));
  return ast::unparse(result.module.body);
}

}  // namespace

TEST_CASE("what is written reads back", "[unparse]") {
  const char* text = GENERATE(
      "a + b * c - (d - e) ** -f ** g\n", "(a ** b) ** c, -a ** b, (-a) ** b, (a + b) @ c // d % e << f >> g & h | i ^ j\n",
      "not (a and b) or c and not d, (a or b) and c, (not a) in b, not a in b\n", "a < b == c is not d not in e, (a < b) < c\n",
      "x if (y if a else b) else z if c else w\n", "(lambda: 0)(), lambda x, /, y=1, *z, k, m=2, **n: (x, y), lambda *, k: k\n",
      "f(a, *b, c=d, **e)[1:2, ::3, ..., None](x for x in y)\n",
      "f((x for x in y), z), [x for x in (a if b else c) if (d if e else f) for g in h]\n",
      "{}, {1}, {1: 2, **a}, {x: y for x, y in z if x if y}, [], (), (a,), [*a, b], {x for x in y}, *a, b\n",
      "1 .real, 1.5.real, (1).x, 'a'.b, -1 .real, (-1).real, 1e999, 0.1, 123456789012\n",
      "'it\\'s', \"q\", 'two\\nlines', b'\\x00\\xff', '\\\\', ''\n",
      "f'{a}{b!r}{c:>{d}}{e!s:.2f} {{}} x\\n', f'{ {1: 2}[1] }', f'{\"x\"}'\n",
      "a = b = c, d = e\n(x): int = 1\ny: f32[n, 3]\nx.y += 1\nx[0] @= 2\na, *b = c\ndel a, b.c, d[0]\n",
      "if a:\n    b\nelif c:\n    d\nelse:\n    if e:\n        f\n    g\n",
      "while a:\n    break\nelse:\n    pass\nfor a, b in c, d:\n    continue\nelse:\n    pass\n",
      "try:\n    a\nexcept (B, C) as d:\n    raise\nexcept E:\n    raise f from g\nexcept:\n    pass\nelse:\n    h\nfinally:\n   "
      " i\n",
      "with a as b, c, d() as (e, f):\n    pass\nassert a, b\nassert (a, b)[0]\n",
      "import a.b as c, d\nfrom a.b import c as d, e\n",
      "@a.b(c)\n@d\ndef f(a: int, b: str = 1, *c, d: int = 2, e, **f) -> g:\n    global h\n    return\n",
      "@a\nclass B(C):\n    x = 1\n\n    def f(self):\n        nonlocal_ = 1\n        return (yield), (yield from a)\nclass D:\n "
      "   pass\n",
      "if (n := f(x)) > 1 and (m := 2):\n    print(f'{(k := 3)}', (j := 4))\nx = (y := 1)\n",
      "def g():\n    x = yield a, b\n    yield\n    await_ = yield from c\n    return *x, y\n");
  INFO(text);
  std::string out = written(text);
  INFO(out);
  REQUIRE_FALSE(shape(text).starts_with("error"));
  CHECK(shape(out) == shape(text));
  CHECK(written(out) == out);
}

TEST_CASE("the library reads back", "[unparse]") {
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(TFL_SOURCE_DIR "/stdlib")) {
    if (entry.path().extension() != ".tfl") continue;
    std::ifstream in(entry.path());
    std::stringstream text;
    text << in.rdbuf();
    INFO(entry.path().string());
    CHECK((shape(written(text.str())) == shape(text.str())));
    ++files;
  }
  CHECK(files > 10);
}
