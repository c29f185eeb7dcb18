#include "tests/catch.h"

#include <thread>

#include "frontend/core/exception.h"
#include "frontend/core/frame.h"
#include "frontend/core/protocol.h"
#include "frontend/interpreter/compile/compile.h"

using namespace tfl;

namespace {

struct Machine {
  Context context;
  Interp interp;
  std::string out, err;
  Value module;

  explicit Machine(InterpOptions options = {}) : interp(context, std::move(options)) {
    interp.streams.capture_out = &out;
    interp.streams.capture_err = &err;
    module = interp.module("__main__");
  }

  Result<void> run(std::string text) {
    auto source = std::make_shared<const Source>("test.tfl", std::move(text));
    CompileResult compiled = compile_module(interp, source);
    for (const Diagnostic& d : compiled.diagnostics) UNSCOPED_INFO(d.message);
    REQUIRE(compiled.code.is(Kind::Code));
    return interp.run_module(compiled.code, module);
  }
  /// What the script prints, or the last line of its traceback.
  std::string text(std::string script) {
    out.clear();
    auto done = run(std::move(script));
    if (!done) return out + exception_headline(interp, interp.exception_of(done.error()));
    return out;
  }
  std::string traceback(std::string script) {
    auto done = run(std::move(script));
    REQUIRE(!done.ok());
    return interp.format_traceback(interp.exception_of(done.error()));
  }
  Value global(std::string_view name) { return dict_get_str(module.as<Module>()->dict.as<Dict>(), interp.intern(name)); }
};

}  // namespace

TEST_CASE("interp: starts and ends without a script", "[vm]") {
  Machine m;
  CHECK(m.interp.type_of(Value::integer(1))->name->text == "int");
  CHECK(m.interp.intern("a") == m.interp.intern("a"));
  CHECK(m.interp.exception_type(ErrorKind::KeyError)->base == m.interp.exception_type(ErrorKind::LookupError));
}

TEST_CASE("interp: two of them live side by side", "[vm]") {
  Machine a, b;
  CHECK(a.text("x = [1]\nx.append(x)\nprint(len(x))\n") == "2\n");
  CHECK(b.text("print('other')\n") == "other\n");
  CHECK(a.interp.types.int_ != b.interp.types.int_);
}

TEST_CASE("vm: globals keep their values between runs of a module", "[vm]") {
  Machine m;
  REQUIRE(m.run("a = 1\ndef f():\n    return a\n").ok());
  REQUIRE(m.run("a = f() + 41\nb = f()\n").ok());
  CHECK(m.global("b").as_int() == 42);
  CHECK(m.text("del a\nf()\n") == "NameError: name 'a' is not defined");
  CHECK(m.text("a = 'back'\nprint(f())\n") == "back\n");
}

TEST_CASE("vm: natives call functions of the script", "[vm]") {
  Machine m;
  REQUIRE(m.run("def f(x, y=2, *rest, k=3):\n    return x, y, rest, k\n").ok());
  auto r = m.interp.call(m.global("f"), {Value::integer(1)});
  REQUIRE(r.ok());
  CHECK(*repr_text(m.interp, *r) == "(1, 2, (), 3)");
  auto none = m.interp.call(m.global("f"), {});
  REQUIRE(!none.ok());
  CHECK(none.error().kind == ErrorKind::TypeError);
  CHECK(none.error().message == "f() missing 1 required positional argument: 'x'");
  CHECK(m.interp.frame == nullptr);
  CHECK(m.interp.depth == 0);
}

TEST_CASE("vm: recursion ends in an error and leaves no frames", "[vm]") {
  InterpOptions options;
  options.max_depth = 200;
  Machine m(std::move(options));
  CHECK(m.text("def f(n):\n    return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError as e:\n    print(e)\n") ==
        "maximum recursion depth exceeded\n");
  CHECK(m.interp.depth == 0);
  CHECK(m.text("class A:\n    def __getattr__(self, n):\n        return getattr(self, n + 'x')\ntry:\n    A().y\nexcept "
               "RecursionError:\n    print('caught')\n") == "caught\n");
  CHECK(
      m.text("x = []\nfor i in range(100000):\n    x = [x]\ntry:\n    repr(x)\nexcept RecursionError:\n    print('caught')\n") ==
      "caught\n");
  CHECK(m.text("x = None\nfor i in range(1000000):\n    x = (x,)\ndel x\nprint('freed')\n") == "freed\n");
}

TEST_CASE("vm: a deep limit does not overflow the stack of the process", "[vm]") {
  InterpOptions options;
  options.max_depth = 1000000;
  Machine m(std::move(options));
  CHECK(m.text("def f(n):\n    return n if n == 0 else f(n - 1)\nprint(f(200000))\n") == "0\n");
  CHECK(m.text("def g(n):\n    return sorted([n], key=g)\ntry:\n    g(0)\nexcept RecursionError:\n    print('caught')\n") ==
        "caught\n");
}

TEST_CASE("vm: interrupts stop a loop and can be caught", "[vm]") {
  Machine m;
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    m.context.interrupt = kInterruptKeyboard;
  });
  CHECK(m.text("try:\n    while True:\n        pass\nexcept KeyboardInterrupt:\n    print('stopped')\n") == "stopped\n");
  later.join();
}

TEST_CASE("vm: a timeout is not seen by handlers", "[vm]") {
  Machine m;
  m.context.interrupt = kInterruptTimeout;
  auto done = m.run("try:\n    while True:\n        pass\nexcept BaseException:\n    print('no')\nfinally:\n    print('no')\n");
  CHECK(!done.ok());
  CHECK(m.interp.stopped);
  CHECK(m.out.empty());
}

TEST_CASE("vm: tracebacks", "[vm]") {
  Machine m;
  CHECK(m.traceback("def f(x):\n    return x.foo + 1\n\nf(3)\n") ==
        "Traceback (most recent call last):\n"
        "  File \"test.tfl\", line 4, in <module>\n"
        "    f(3)\n"
        "  File \"test.tfl\", line 2, in f\n"
        "    return x.foo + 1\n"
        "           ^^^^^\n"
        "AttributeError: 'int' object has no attribute 'foo'\n");
  CHECK(m.traceback("x = 0\ny = 1 + 2 / x\n") ==
        "Traceback (most recent call last):\n"
        "  File \"test.tfl\", line 2, in <module>\n"
        "    y = 1 + 2 / x\n"
        "            ~~^~~\n"
        "ZeroDivisionError: division by zero\n"
        "  where: x is 0\n");
  CHECK(m.traceback("d = {'a': {}}\nprint(d['a']['b'])\n") ==
        "Traceback (most recent call last):\n"
        "  File \"test.tfl\", line 2, in <module>\n"
        "    print(d['a']['b'])\n"
        "          ~~~~~~^^^^^\n"
        "KeyError: 'b'\n"
        "  where: d is a dict of 1\n");
  CHECK(m.traceback("try:\n    [][1]\nexcept IndexError as e:\n    raise ValueError('bad') from e\n") ==
        "Traceback (most recent call last):\n"
        "  File \"test.tfl\", line 2, in <module>\n"
        "    [][1]\n"
        "    ~~^^^\n"
        "IndexError: list index out of range\n"
        "\n"
        "The above exception was the direct cause of the following exception:\n"
        "\n"
        "Traceback (most recent call last):\n"
        "  File \"test.tfl\", line 4, in <module>\n"
        "    raise ValueError('bad') from e\n"
        "ValueError: bad\n");
  std::string deep = m.traceback("def f():\n    f()\n\nf()\n");
  CHECK(deep.find("  [Previous line repeated 996 more times]\n") != std::string::npos);
}

TEST_CASE("vm: hints name what was meant", "[vm]") {
  Machine m;
  CHECK(m.text("counter = 1\nprint(countr)\n") == "NameError: name 'countr' is not defined. Did you mean: 'counter'?");
  CHECK(m.text("[].apend(1)\n") == "AttributeError: 'list' object has no attribute 'apend'. Did you mean: 'append'?");
  CHECK(m.text("import maths\n") == "ModuleNotFoundError: No module named 'maths'. Did you mean: 'math'?");
}

TEST_CASE("vm: a generator that is dropped runs its finally block", "[vm]") {
  Machine m;
  CHECK(m.text("def g():\n    try:\n        yield 1\n    finally:\n        print('closed')\nit = g()\nnext(it)\ndel "
               "it\nprint('after')\n") == "closed\nafter\n");
}

TEST_CASE("vm: a module that fails to import is not kept", "[vm]") {
  Machine m;
  CHECK(m.text("import no_such_module\n") == "ModuleNotFoundError: No module named 'no_such_module'");
  CHECK(m.text("from math import nothing_like_it\n") ==
        "ImportError: cannot import name 'nothing_like_it' from 'math' (unknown location)");
}

TEST_CASE("vm: caches notice what changes", "[vm]") {
  Machine m;
  CHECK(m.text("class A:\n"
               "    def f(self):\n"
               "        return 1\n"
               "class B(A):\n"
               "    pass\n"
               "def run(o):\n"
               "    return o.f()\n"
               "b = B()\n"
               "log = [run(b)]\n"
               "B.f = lambda self: 2\n"
               "log.append(run(b))\n"
               "b.f = lambda: 3\n"
               "log.append(run(b))\n"
               "del b.f, B.f\n"
               "A.f = lambda self: 4\n"
               "log.append(run(b))\n"
               "def glob():\n"
               "    return len('abc')\n"
               "log.append(glob())\n"
               "len = lambda v: 'shadow'\n"
               "log.append(glob())\n"
               "del len\n"
               "log.append(glob())\n"
               "print(log)\n") == "[1, 2, 3, 4, 3, 'shadow', 3]\n");
}
