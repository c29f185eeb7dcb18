#include "tests/catch.h"

#include "frontend/syntax/parse/parse.h"
#include "frontend/syntax/scope/scope.h"

using namespace tfl;
using scope::ScopeKind;
using scope::Storage;

namespace {

struct Analysed {
  Source source;
  ParseResult parsed;
  std::vector<Diagnostic> diagnostics;
  std::unique_ptr<scope::ScopeTree> tree;

  explicit Analysed(std::string text) : source("test.tfl", std::move(text)), parsed(parse_module(source)) {
    REQUIRE(parsed.ok());
    tree = scope::analyse_scopes(parsed.module, diagnostics);
  }
  const scope::Scope& of(std::string_view qualname) const {
    for (const scope::Scope& s : tree->scopes) {
      if (s.qualname == qualname) return s;
    }
    FAIL("no scope " << qualname);
    return tree->scopes.front();
  }
  Storage where(std::string_view qualname, std::string_view name) const {
    const scope::Symbol* s = of(qualname).find(name);
    REQUIRE(s != nullptr);
    return s->storage;
  }
  std::string messages() const {
    std::string all;
    for (const Diagnostic& d : diagnostics) all += std::to_string(d.span.line) + ": " + d.message + "\n";
    return all;
  }
};

std::string messages_of(std::string text) { return Analysed(std::move(text)).messages(); }

}  // namespace

TEST_CASE("scopes: locals, cells, free variables and globals", "[scope]") {
  Analysed a(R"(
x = 1
def outer(p, q):
    y = p
    def inner(z):
        return x + y + z + q + len
    return inner
)");
  CHECK(a.messages().empty());
  CHECK(a.where("<module>", "x") == Storage::Global);
  CHECK(a.where("outer", "p") == Storage::Local);
  CHECK(a.where("outer", "y") == Storage::Cell);
  CHECK(a.where("outer", "q") == Storage::Cell);
  CHECK(a.where("outer", "inner") == Storage::Local);
  CHECK(a.where("outer.<locals>.inner", "y") == Storage::Free);
  CHECK(a.where("outer.<locals>.inner", "x") == Storage::Global);
  CHECK(a.where("outer.<locals>.inner", "z") == Storage::Local);
  CHECK(a.of("outer.<locals>.inner").free == std::vector<std::string_view>{"y", "q"});
}

TEST_CASE("scopes: a cell passes through functions and classes between", "[scope]") {
  Analysed a(R"(
def f():
    v = 1
    class C:
        v = 2
        def m(self):
            def deep():
                return v
            return deep
    return C
)");
  CHECK(a.where("f", "v") == Storage::Cell);
  CHECK(a.where("f.<locals>.C", "v") == Storage::Namespace);
  CHECK(a.of("f.<locals>.C").free == std::vector<std::string_view>{"v"});
  CHECK(a.of("f.<locals>.C.m").free == std::vector<std::string_view>{"v"});
  CHECK(a.where("f.<locals>.C.m.<locals>.deep", "v") == Storage::Free);
}

TEST_CASE("scopes: class bodies read the namespace first", "[scope]") {
  Analysed a(R"(
def f(n):
    class C:
        size = n
        m = size
    return C
)");
  CHECK(a.where("f.<locals>.C", "n") == Storage::NamespaceOrFree);
  CHECK(a.where("f.<locals>.C", "size") == Storage::Namespace);
}

TEST_CASE("scopes: global and nonlocal", "[scope]") {
  Analysed a(R"(
def f():
    global g
    g = 1
    n = 0
    def h():
        nonlocal n
        n += 1
        return g
    return h
)");
  CHECK(a.messages().empty());
  CHECK(a.where("f", "g") == Storage::Global);
  CHECK(a.where("f", "n") == Storage::Cell);
  CHECK(a.where("f.<locals>.h", "n") == Storage::Free);
  CHECK(a.where("f.<locals>.h", "g") == Storage::Global);
  CHECK(a.tree->module_names.contains("g"));
}

TEST_CASE("scopes: super() and __class__", "[scope]") {
  Analysed a(R"(
class A:
    def m(self):
        return super().m()
    def n(self):
        return [__class__ for _ in [1]]
    def plain(self):
        return 1
)");
  CHECK(a.of("A").class_cell);
  CHECK(a.of("A.m").free == std::vector<std::string_view>{"__class__"});
  CHECK(a.of("A.n").free == std::vector<std::string_view>{"__class__"});
  CHECK(a.of("A.plain").free.empty());
}

TEST_CASE("scopes: comprehensions and :=", "[scope]") {
  Analysed a(R"(
def f(xs):
    r = [y for x in xs if (y := x) > 0]
    return r, y
z = [w := v for v in []]
)");
  CHECK(a.messages().empty());
  CHECK(a.where("f", "y") == Storage::Cell);
  CHECK(a.where("f.<locals>.<listcomp>", "y") == Storage::Free);
  CHECK(a.where("f.<locals>.<listcomp>", "x") == Storage::Local);
  CHECK(a.where("<listcomp>", "w") == Storage::Global);
  CHECK(a.where("<listcomp>", "v") == Storage::Local);
  CHECK(a.of("f.<locals>.<listcomp>").symbols.front().name == ".0");
}

TEST_CASE("scopes: private names are mangled in classes", "[scope]") {
  Analysed a("class _Box:\n    __secret = 1\n    def get(self, __x):\n        return __x, __init__\n");
  CHECK(a.of("_Box").find("_Box__secret") != nullptr);
  CHECK(a.of("_Box.get").find("_Box__x") != nullptr);
  CHECK(a.of("_Box.get").find("__init__") != nullptr);
}

TEST_CASE("scopes: what is wrong with names", "[scope]") {
  CHECK(messages_of("def f():\n    print(x)\n    global x\n") == "3: name 'x' is used prior to global declaration\n");
  CHECK(messages_of("def f():\n    x = 1\n    global x\n") == "3: name 'x' is assigned to before global declaration\n");
  CHECK(messages_of("def f(x):\n    global x\n") == "2: name 'x' is parameter and global\n");
  CHECK(messages_of("def f():\n    nonlocal x\n    x = 1\n") == "2: no binding for nonlocal 'x' found\n");
  CHECK(messages_of("def f():\n    x = 1\n    def g():\n        nonlocal x\n        global x\n") ==
        "5: name 'x' is nonlocal and global\n");
  CHECK(messages_of("def f():\n    x: int = 1\n    global x\n") == "3: annotated name 'x' can't be global\n");
  CHECK(messages_of("r = [x := 1 for x in [1]]\n") ==
        "1: assignment expression cannot rebind comprehension iteration variable 'x'\n");
  CHECK(messages_of("r = [1 for x in (y := [1])]\n") ==
        "1: assignment expression cannot be used in a comprehension iterable expression\n");
  CHECK(messages_of("class C:\n    r = [y := x for x in [1]]\n") ==
        "2: assignment expression within a comprehension cannot be used in a class body\n");
  CHECK(messages_of("r = [[(j := 0) for i in [1]] for j in [2]]\n") ==
        "1: assignment expression cannot rebind comprehension iteration variable 'j'\n");
  CHECK(messages_of("x = 1\nfrom __future__ import annotations\n") ==
        "2: from __future__ imports must occur at the beginning of the file\n");
  CHECK(messages_of("from __future__ import braces\n") == "1: future feature braces is not defined\n");
}

TEST_CASE("scopes: built-ins that are left out", "[scope]") {
  auto check = [&](std::string text) {
    Analysed a(std::move(text));
    scope::check_names(*a.tree, a.diagnostics);
    return a.messages();
  };
  CHECK(check("eval('1')\n") == "1: 'eval' is not in TFL\n");
  CHECK(check("def eval(x): return x\neval(1)\n").empty());
  CHECK(check("model.compile()\n").empty());
  CHECK(check("prnt(1)\n").empty());
  CHECK(check("from m import *\neval(1)\n").empty());
}

TEST_CASE("scopes: long chains and deep trees", "[scope]") {
  std::string sum = "x = 1";
  for (int i = 0; i < 100000; ++i) sum += "+a";
  CHECK(messages_of(sum + "\n").empty());
  std::string chain = "x";
  for (int i = 0; i < 20000; ++i) chain += ".a()";
  CHECK(messages_of(chain + "\n").empty());
}
