#include "tests/catch.h"

#include <sys/stat.h>

#include <cstdlib>

#include "frontend/interpreter/bytecode/bytecode.h"
#include "frontend/interpreter/bytecode/format.h"
#include "frontend/interpreter/bytecode/operands.h"
#include "frontend/interpreter/bytecode/spans.h"
#include "frontend/interpreter/compile/compile.h"
#include "frontend/interpreter/compile/function_compiler.h"

using namespace tfl;

namespace {

struct World {
  Context context;
  Interp interp{context, {}};

  CompileResult compile(std::string text, const CompileOptions& options = {}) {
    return compile_module(interp, std::make_shared<Source>("test.tfl", std::move(text)), options);
  }
  Value code(std::string text, const CompileOptions& options = {}) {
    CompileResult r = compile(std::move(text), options);
    for (const Diagnostic& d : r.diagnostics) UNSCOPED_INFO(d.message);
    REQUIRE(r.code.is(Kind::Code));
    auto fine = verify_code(*r.code.as<Code>());
    if (!fine) UNSCOPED_INFO(fine.error().message << "\n" << dump_code(interp, r.code));
    REQUIRE(fine.ok());
    return r.code;
  }
  std::string dump(std::string text) { return dump_code(interp, code(std::move(text))); }
  /// The dump of the only function in the text.
  std::string function(std::string text) {
    std::string all = dump(std::move(text));
    return all.substr(all.find("\n\n") + 2);
  }
};

/// Reads what there is of `code` and all inside it.
Result<void> complete_all(Interp& interp, Code& code) {
  TFL_TRY(complete(interp, code));
  for (const Value& k : code.constants) {
    if (k.is(Kind::Code)) TFL_TRY(complete_all(interp, *k.as<Code>()));
  }
  return {};
}

std::string with_header(const std::string& body) {
  std::string file(format::kMagic);
  for (uint64_t word : {format::format_version(), uint64_t{body.size()}, format::checksum(body)}) {
    file.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  return file + body;
}

int count(std::string_view text, std::string_view piece) {
  int n = 0;
  for (size_t at = text.find(piece); at != text.npos; at = text.find(piece, at + 1)) ++n;
  return n;
}

constexpr std::string_view kEverything = R"TFL(
"""Doc."""
from __future__ import annotations
import os.path as p, sys
from math import sin as s, cos
a, (b, *c), d.e, f[0] = 1, [2, 3], 4, -5
x: int = 3
def deco(n, /, k=1, *args, z: int = 2, **kw) -> str:
    """Inner doc."""
    global g
    g = lambda q=1: q + k
    try:
        with open(n) as h, other() as (i, j):
            for v in h:
                if v is None:
                    continue
                elif v == 3 and not k or k < v <= 9:
                    break
                else:
                    return v
            else:
                k += 1
            while k < 10:
                k -= 1
                if k % 2: raise ValueError("x") from None
    except (ValueError, KeyError) as e:
        print(e, *args, sep="", **kw)
        raise
    except TypeError:
        pass
    else:
        del k, f[1:2], d.e
    finally:
        f[0] += 1
        d.e **= 2
    yield k
    r = yield from args
    return f"{n!r:>{k}} {k=} {{}}" if r else {**kw, "a": 1}
@deco(1)
@other
class K(Base):
    """Class doc."""
    y: int = 1
    __z = 2
    def m(self):
        return super().m(self.__z, k=2)[1:2, ..., ::2]
    t = [w for w in y if w for u in w]
print({1, 2, *c}, {k: v for k, v in c}, (q for q in c), {q for q in c}, b"bytes", 1.5, "é", (1, (2.5, None)), [1, 2, 3, 4])
assert x, "message"
print((lambda: (yield))(), x if y else z, not a, ~b, +c, a @ b, a in b, a is not b, (n := 10))
)TFL";

}  // namespace

TEST_CASE("bytecode: everything compiles and verifies", "[bytecode]") {
  World w;
  w.code(std::string(kEverything));
  w.code("");
  w.code("pass\n");
  CompileOptions asserts;
  asserts.rewrite_asserts = true;
  w.code("assert x == 1, 'm'\nassert not f(x)\nassert x\nassert a < b < c\n", asserts);
  CompileOptions repl;
  repl.show_results = true;
  CHECK(count(dump_code(w.interp, w.code("'text'\n1 + 1\nx\n", repl)), "ShowResult") == 3);
}

TEST_CASE("bytecode: dump", "[bytecode]") {
  World w;
  CHECK(w.function("def f(a, b):\n    c = a + b * 2\n    return c\n") ==
        "f: 5 registers\n"
        "  parameters: a, b\n"
        "     2     0  LoadConst          r4, 2\n"
        "           1  Mul                r3, r1:b, r4\n"
        "           2  Add                r2:c, r0:a, r3\n"
        "     3     3  Return             r2:c\n");
}

TEST_CASE("bytecode: constants are folded", "[bytecode]") {
  World w;
  CHECK(w.function("def f():\n    return 2 * 3 + 10 ** 6\n").find("1000006") != std::string::npos);
  CHECK(w.function("def f():\n    return -5, (1, 'a'), 'ab' * 3\n").find("(-5, (1, 'a'), 'ababab')") != std::string::npos);
  CHECK(w.function("def f():\n    return 9223372036854775807 + 1\n").find("AddConst") != std::string::npos);
  CHECK(w.function("def f():\n    return 1 / 0\n").find("Div") != std::string::npos);
  CHECK(w.function("def f():\n    if 0:\n        g()\n    return 1\n").find("Call") == std::string::npos);
}

TEST_CASE("bytecode: locals are checked only where they may be unbound", "[bytecode]") {
  World w;
  auto checks = [&](std::string text) { return count(w.function(std::move(text)), "CheckLocal"); };
  CHECK(checks("def f(a):\n    b = a\n    return a + b\n") == 0);
  CHECK(checks("def f(a):\n    if a:\n        b = 1\n    return b\n") == 1);
  CHECK(checks("def f(a):\n    if a:\n        b = 1\n    else:\n        b = 2\n    return b\n") == 0);
  CHECK(checks("def f(a):\n    for i in a:\n        b = i\n    return b, b\n") == 1);
  CHECK(checks("def f(a):\n    while True:\n        b = 1\n        if a: break\n    return b\n") == 0);
  CHECK(checks("def f(a):\n    try:\n        b = a()\n    except E:\n        return 0\n    return b\n") == 0);
  CHECK(checks("def f(a):\n    try:\n        b = a()\n    except E:\n        pass\n    return b\n") == 1);
  CHECK(checks("def f(a):\n    b = 1\n    del b\n    return b\n") == 1);
  CHECK(checks("def f(a):\n    if a:\n        return 1\n    else:\n        b = 1\n    return b\n") == 0);
}

TEST_CASE("bytecode: loops compare and jump at once", "[bytecode]") {
  World w;
  std::string text = w.function("def f(n):\n    i = 0\n    while i < n:\n        i += 1\n    return i\n");
  CHECK(text ==
        "f: 2 registers\n"
        "  parameters: n\n"
        "     2     0  LoadConst          r1:i, 0\n"
        "     3     1  JumpCompare        unless r1:i < r0:n\n"
        "           2  Extra              -> 6\n"
        "     4     3  AddConst           r1:i, r1:i, 1, in place\n"
        "     3     4  JumpCompare        if r1:i < r0:n\n"
        "           5  Extra              -> 3\n"
        "           6  Renew\n"
        "     5     7  Return             r1:i\n"
        "  a tensor in 1..2 renews r1:i\n"
        "  a tensor in 4..5 renews r1:i\n");
}

TEST_CASE("bytecode: finally is copied to every way out", "[bytecode]") {
  World w;
  std::string text = w.function(
      "def f(a):\n    for x in a:\n        try:\n            if x: break\n            if a: continue\n"
      "            return x\n        finally:\n            g()\n");
  CHECK(count(text, "LoadGlobal") == 4);  // break, continue, return, an error; the normal end cannot be reached
}

TEST_CASE("bytecode: binary form round trip", "[bytecode]") {
  World w;
  Value code = w.code(std::string(kEverything));
  std::string data = serialise_code(w.interp, code);
  auto source = code.as<Code>()->source;
  auto again = deserialise_code(w.interp, data, source);
  REQUIRE(again.ok());
  CHECK(dump_code(w.interp, *again) == dump_code(w.interp, code));
  CHECK(serialise_code(w.interp, *again) == data);
}

TEST_CASE("bytecode: damaged bytes are an error", "[bytecode]") {
  World w;
  Value code = w.code(std::string(kEverything));
  std::string data = serialise_code(w.interp, code);
  auto source = code.as<Code>()->source;
  for (size_t size = 0; size < data.size(); size += 37)
    CHECK_FALSE(deserialise_code(w.interp, data.substr(0, size), source).ok());
  std::string payload = data.substr(format::kHeaderSize);
  REQUIRE(deserialise_code(w.interp, with_header(payload), source).ok());
  int refused = 0;
  uint64_t state = 1;
  for (int round = 0; round < 3000; ++round) {
    std::string body = payload;
    for (int n = 0; n <= round % 3; ++n) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      body[(state >> 33) % body.size()] = static_cast<char>(state >> 20);
    }
    auto result = deserialise_code(w.interp, with_header(body), source);
    if (!result)
      ++refused;
    else
      dump_code(w.interp, *result);
  }
  CHECK(refused > 1000);
  for (size_t i = 0; i < data.size(); i += 101) {
    std::string flipped = data;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x40);
    CHECK_FALSE(deserialise_code(w.interp, flipped, source).ok());
  }
}

TEST_CASE("bytecode: functions of the library are read when somebody asks", "[bytecode]") {
  World w;
  Value code = w.code(std::string(kEverything));
  std::string data = serialise_code(w.interp, code);
  auto source = code.as<Code>()->source;
  auto again = deserialise_code(w.interp, data, source, CodeFile::library);
  REQUIRE(again.ok());
  Code& module = *again->as<Code>();
  CHECK(module.instructions.empty());
  REQUIRE(complete(w.interp, module).ok());
  int functions = 0;
  for (const Value& k : module.constants) {
    if (!k.is(Kind::Code)) continue;
    ++functions;
    CHECK(!k.as<Code>()->name->text.empty());
    CHECK(k.as<Code>()->instructions.empty());
  }
  CHECK(functions > 2);
  REQUIRE(complete_all(w.interp, module).ok());
  CHECK(dump_code(w.interp, *again) == dump_code(w.interp, code));

  std::string payload = data.substr(format::kHeaderSize);
  int refused = 0, late = 0;
  uint64_t state = 1;
  std::vector<std::string> kept;  // what they are read from
  kept.reserve(3000);
  for (int round = 0; round < 3000; ++round) {
    std::string& body = kept.emplace_back(payload);
    for (int n = 0; n <= round % 3; ++n) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      body[(state >> 33) % body.size()] = static_cast<char>(state >> 20);
    }
    body = with_header(body);
    auto result = deserialise_code(w.interp, body, source, CodeFile::library);
    if (!result) {
      ++refused;
      continue;
    }
    auto done = complete_all(w.interp, *result->as<Code>());
    if (done) {
      dump_code(w.interp, *result);
      continue;
    }
    ++late;
    CHECK(done.error().kind == ErrorKind::SystemError);
    CHECK(done.error().message.find("is damaged") != std::string::npos);
  }
  CHECK(refused > 5);
  CHECK(late > 500);
}

TEST_CASE("bytecode: spans pack and unpack", "[bytecode]") {
  std::vector<InstructionSpan> spans = {
      {{1, 0, 1, 5}, {}}, {{1, 0, 1, 5}, {}}, {{7, 4, 9, 2}, {}}, {{3, 1, 3, 9}, {3, 3, 3, 4}}, {{0, 0, 0, 0}, {}}};
  std::string packed = pack_spans(spans);
  auto again = unpack_spans(packed, spans.size());
  REQUIRE(again.size() == spans.size());
  for (size_t i = 0; i < spans.size(); ++i) {
    CHECK(again[i].span == spans[i].span);
    CHECK(again[i].anchor == spans[i].anchor);
  }
  CHECK(unpack_spans("\x01\xff", 4).size() == 4);
}

TEST_CASE("bytecode: anchors are where CPython puts them", "[bytecode]") {
  World w;
  auto anchor = [&](std::string text, Opcode op) {
    Value code = w.code(std::move(text));
    const Code& c = *code.as<Code>();
    for (uint32_t i = 0; i < c.instructions.size(); ++i) {
      if (c.instructions[i].op == op) return std::pair(c.span_at(i).anchor.column, c.span_at(i).anchor.end_column);
    }
    return std::pair(0u, 0u);
  };
  CHECK(anchor("x = a + b\n", Opcode::Add) == std::pair(6u, 7u));
  CHECK(anchor("x = a ** b\n", Opcode::Pow) == std::pair(6u, 8u));
  CHECK(anchor("x = (a) * b\n", Opcode::Mul) == std::pair(8u, 9u));
  CHECK(anchor("x = a[b]\n", Opcode::GetItem) == std::pair(5u, 8u));
  CHECK(anchor("é = ü[b]\n", Opcode::GetItem) == std::pair(5u, 8u));
}

TEST_CASE("bytecode: limits are diagnostics", "[bytecode]") {
  World w;
  std::string deep = "def f():\n    return ";
  for (int i = 0; i < 150; ++i) deep += "lambda: ";
  w.compile(deep + "1\n");
  std::string many = "def f():\n";
  for (int i = 0; i < 70000; ++i) many += "    v" + std::to_string(i) + " = 1\n";
  CompileResult r = w.compile(many);
  CHECK(r.code.is_empty());
  REQUIRE(!r.diagnostics.empty());
  CHECK(r.diagnostics[0].id == DiagnosticId::CodeTooLarge);
  std::string blocks;
  for (int i = 0; i < 25; ++i) blocks += std::string(static_cast<size_t>(i), ' ') + "while x:\n";
  r = w.compile(blocks + std::string(25, ' ') + "pass\n");
  REQUIRE(!r.diagnostics.empty());
  CHECK(r.diagnostics[0].id == DiagnosticId::TooManyBlocks);
  std::string sum = "x = 1";
  for (int i = 0; i < 50000; ++i) sum += "+a";
  w.code(sum + "\n");
  std::string finals;
  for (int i = 0; i < 18; ++i)
    finals += std::string(static_cast<size_t>(i), ' ') + "try: f()\n" + std::string(static_cast<size_t>(i), ' ') + "finally:\n";
  w.compile(finals + std::string(18, ' ') + "f()\n");
}

TEST_CASE("bytecode: big displays and calls are built in pieces", "[bytecode]") {
  World w;
  std::string items;
  for (int i = 0; i < 1000; ++i) items += "x" + std::to_string(i % 7) + ", ";
  for (const std::string& text : {"[" + items + "]", "(" + items + ")", "{" + items + "}", "f(" + items + ")"}) {
    Value code = w.code("y = " + text + "\n");
    CHECK(code.as<Code>()->registers < 300);
  }
}

TEST_CASE("bytecode: cache on disk", "[bytecode]") {
  char folder[] = "/tmp/tfl_cache_XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  setenv("XDG_CACHE_HOME", folder, 1);
  auto source = std::make_shared<Source>("test.tfl", std::string(kEverything));
  std::string first, second;
  {
    World w;
    first = dump_code(w.interp, compile_cached(w.interp, source).code);
  }
  struct stat s{};
  CHECK(stat((std::string(folder) + "/tfl/bytecode").c_str(), &s) == 0);
  {
    World w;
    second = dump_code(w.interp, compile_cached(w.interp, source).code);
  }
  CHECK(first == second);
  CHECK(!first.empty());
  unsetenv("XDG_CACHE_HOME");
  std::string remove = "rm -r " + std::string(folder);
  CHECK(std::system(remove.c_str()) == 0);
}
