// Source text to syntax tree: literals, precedence, spans, layout, what a prompt waits for, and texts that mean harm.
// Messages are tested by tests/golden/syntax; here only that each row of the registry has a file there.
#include "frontend/syntax/parse/parse.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include "tests/catch.h"

#include "frontend/syntax/ast/dump.h"
#include "frontend/syntax/diagnostics/render.h"

using namespace tfl;

namespace {

/// The one expression of `text`, dumped without spans on one line: "Binary + (…)".
std::string shape(const std::string& text) {
  Source source("test.tfl", text);
  ParseResult result = parse_module(source);
  if (!result.ok()) return "error: " + result.diagnostics.front().message;
  std::string dump = ast::dump_ast(result.module), out;
  std::istringstream lines(dump);
  for (std::string line; std::getline(lines, line);) {
    size_t begin = line.find_first_not_of(' ');
    size_t end = line.find_last_of(' ');
    bool span = end != std::string::npos && end > begin && line.find('-', end) != std::string::npos &&
                line.find(':', end) != std::string::npos;
    std::string word = line.substr(begin, span ? end - begin : std::string::npos);
    if (word == "Module" || word == "Expression") continue;
    if (!out.empty()) out += ' ';
    out += word;
  }
  return out;
}

std::string first_error(const std::string& text) {
  ParseResult result = parse_module(Source("test.tfl", text));
  return result.diagnostics.empty() ? "" : std::string(diagnostic_name(result.diagnostics.front().id));
}

std::string repeated(std::string_view part, size_t times) {
  std::string out;
  out.reserve(part.size() * times);
  for (size_t i = 0; i < times; ++i) out += part;
  return out;
}

InteractiveState typed(const std::string& text) { return parse_interactive(Source("<stdin>", text)).state; }

}  // namespace

TEST_CASE("precedence and grouping", "[parse]") {
  CHECK(shape("1 + 2 * 3") == "Binary + right Binary * right Int 3 Int 2 Int 1");
  CHECK(shape("(1 + 2) * 3") == "Binary * right Int 3 Binary + right Int 2 Int 1");
  CHECK(shape("1 - 2 - 3") == "Binary - right Int 3 Binary - right Int 2 Int 1");
  CHECK(shape("2 ** 3 ** 4") == "Binary ** right Binary ** right Int 4 Int 3 Int 2");
  CHECK(shape("-2 ** -3") == "Unary - Binary ** right Unary - Int 3 Int 2");
  CHECK(shape("a ** -b * c") == "Binary * right Name c Binary ** right Unary - Name b Name a");
  CHECK(shape("not a == b") == "Unary not Compare Name a == Name b");
  CHECK(shape("not a and b or c") == "BoolOp or BoolOp and Unary not Name a Name b Name c");
  CHECK(shape("a < b <= c is not d not in e") == "Compare Name a < Name b <= Name c is not Name d not in Name e");
  CHECK(shape("a | b ^ c & d << e + f") ==
        "Binary | right Binary ^ right Binary & right Binary << right Binary + right Name f Name e Name d Name c Name "
        "b Name a");
  CHECK(shape("a if b else c if d else e") ==
        "Conditional condition Name b then Name a else Conditional condition Name d then Name c else Name e");
  CHECK(shape("lambda x, *, y=1: x or y") ==
        "Lambda param positional x param keyword-only y default Int 1 BoolOp or Name x Name y");
  CHECK(shape("a @ b // c % d") == "Binary % right Name d Binary // right Name c Binary @ right Name b Name a");
}

TEST_CASE("numbers", "[parse]") {
  CHECK(shape("0xFF_FF") == "Int 65535");
  CHECK(shape("0o17") == "Int 15");
  CHECK(shape("0b1010") == "Int 10");
  CHECK(shape("1_000") == "Int 1000");
  CHECK(shape("00") == "Int 0");
  CHECK(shape("9223372036854775807") == "Int 9223372036854775807");
  CHECK(shape("-9223372036854775808") == "Unary - Int 9223372036854775808");
  CHECK(first_error("9223372036854775808") == "");
  CHECK(first_error(std::string(4300, '1')) == "");
  CHECK(first_error(std::string(4301, '1')) == "IntegerTooLong");
  CHECK(shape("1e400") == "Float inf");
  CHECK(shape("1e-400") == "Float 0");
  CHECK(shape(".5e1") == "Float 5");
  CHECK(shape("1_0.2_5") == "Float 10.25");
  CHECK(shape("1if a else 2") == "Conditional condition Name a then Int 1 else Int 2");
}

TEST_CASE("strings", "[parse]") {
  CHECK(shape(R"('a' "b" '''c''')") == "String 'abc'");
  CHECK(shape(R"("\x41\u00e9\101\n\q\\")") ==
        "String 'Aé"
        "A\\n\\\\q\\\\'");
  CHECK(shape(R"(r"\n\"")") == "String '\\\\n\\\\\"'");
  CHECK(shape("b'a\\xff'") == "Bytes 'a\\xff'");
  CHECK(shape("'a\\\nb'") == "String 'ab'");
  CHECK(shape("'''a\r\nb\rc'''") == "String 'a\\nb\\nc'");
  CHECK(shape("''''a''' ''") == "String '\\'a'");
  CHECK(shape("u'a' Rb'b'") == "error: a bytes literal beside a string");
}

TEST_CASE("f-strings", "[parse]") {
  CHECK(shape("f'a{b}c{{}}'") == "FormattedString 'a' field Name b 'c{}'");
  CHECK(shape("f'{a!r:>{b}.2f}'") == "FormattedString field !r Name a spec FormattedString '>' field Name b '.2f'");
  CHECK(shape("f'{a = }'") == "FormattedString 'a = ' field !r Name a");
  CHECK(shape("f'{a=:.2f}'") == "FormattedString 'a=' field Name a spec String '.2f'");
  CHECK(shape("f'{a == b} {c != d} {e <= f}'") ==
        "FormattedString field Compare Name a == Name b ' ' field Compare Name c != Name d ' ' field Compare Name e <= "
        "Name f");
  CHECK(shape("f'{x:{y}}' 'z' f'{w}'") == "FormattedString field Name x spec FormattedString field Name y 'z' field Name w");
  CHECK(shape("f'{d[\"k:}\"]}'") == "FormattedString field Subscript index String 'k:}' Name d");
  CHECK(shape("f'{ {1: 2}[1] }'") == "FormattedString field Subscript index Int 1 Dict key Int 1 value Int 2");
  CHECK(shape("f'{(lambda x: x)(1)}'") == "FormattedString field Call arg Int 1 Lambda param positional x Name x");
  CHECK(shape("f'{a, b}'") == "FormattedString field Tuple () Name a Name b");
  CHECK(shape("rf'\\{a}'") == "FormattedString '\\\\' field Name a");
  CHECK(shape("f''") == "FormattedString");
  SECTION("places are those of the source") {
    ParseResult r = parse_module(Source("t", "x = f'é{a + bb}'\n"));
    auto* assign = ast::as<ast::Assign>(r.module.body[0]);
    auto* f = ast::as<ast::FormattedString>(assign->value);
    CHECK(f->parts[1].value->span == Span{1, 8, 1, 14});
    r = parse_module(Source("t", "f'''\n  {a} {\n  b}'''\n"));
    f = ast::as<ast::FormattedString>(ast::as<ast::Expression>(r.module.body[0])->value);
    CHECK(f->parts[1].value->span == Span{2, 3, 2, 4});
    CHECK(f->parts[3].value->span == Span{3, 2, 3, 3});
  }
}

TEST_CASE("statements", "[parse]") {
  CHECK(shape("a = b = *c, d") == "Assign target Name a target Name b value Tuple Starred Name c Name d");
  CHECK(shape("a[0].b += 1") == "AugAssign += target Attribute b Subscript index Int 0 Name a value Int 1");
  CHECK(shape("x: int = 3") == "AnnAssign simple target Name x annotation Name int value Int 3");
  CHECK(shape("(x): int") == "AnnAssign target Name x annotation Name int");
  CHECK(shape("x[1:2, ::3, ...]") == "Subscript index Tuple Slice lower Int 1 upper Int 2 Slice step Int 3 Ellipsis Name x");
  CHECK(shape("f(a, *b, c=1, **d)") == "Call arg Name a arg Starred Name b c= Int 1 ** Name d Name f");
  CHECK(shape("f(x for x in y)") == "Call arg Comprehension generator element Name x for Name x in Name y Name f");
  CHECK(shape("{a: b for a, b in c if d if e}") ==
        "Comprehension dict element Name a value Name b for Tuple Name a Name b in Name c if Name d if Name e");
  CHECK(shape("{**a, 1: 2}") == "Dict ** Name a key Int 1 value Int 2");
  CHECK(shape("print((n := 5))") == "Call arg NamedExpr n Int 5 Name print");
  CHECK(shape("with (a as b, c):\n  pass") == "With context Name a as Name b context Name c body Pass");
  CHECK(shape("with (a, b).c as d: pass") == "With context Attribute c Tuple () Name a Name b as Name d body Pass");
  CHECK(shape("with (yield_):\n  pass") == "With context Name yield_ body Pass");
  CHECK(shape("import a.b as c, d") == "Import a.b as c d");
  CHECK(shape("from a.b import (c as d, e,)") == "ImportFrom a.b c as d e");
  CHECK(shape("del a, (b, c)") == "Delete Name a Tuple () Name b Name c");
  CHECK(shape("match = case = 3") == "Assign target Name match target Name case value Int 3");
  CHECK(shape("try:\n  a\nexcept B as c:\n  d\nelse:\n  e\nfinally:\n  f") ==
        "Try body Name a except as c Name B body Name d else Name e finally Name f");
  CHECK(shape("@a.b(1)\nclass C(D): x = 1") ==
        "ClassDef C decorator Call arg Int 1 Attribute b Name a base Name D body Assign target Name x value Int 1");
  CHECK(shape("def f(a, /, b: int = 1, *c, d, **e) -> g: return") ==
        "FunctionDef f param positional-only a param positional b annotation Name int default Int 1 param * c param "
        "keyword-only d "
        "param ** e returns Name g body Return");
}

TEST_CASE("layout", "[parse]") {
  CHECK(dump_tokens(Source("t", "if a:  # c\n\n  b\n # d\n  c\nd")) ==
        "1:1 IF if\n1:4 NAME a\n1:5 COLON :\n1:6 NEWLINE\n3:3 INDENT\n3:3 NAME b\n3:4 NEWLINE\n5:3 NAME c\n5:4 NEWLINE\n"
        "6:1 DEDENT\n6:1 NAME d\n6:2 NEWLINE\n6:2 EOF\n");
  CHECK(dump_tokens(Source("t", "a = (\n  1,\n\n2)\\\n  + 3\r\nb\r")) ==
        "1:1 NAME a\n1:3 ASSIGN =\n1:5 LPAREN (\n2:3 NUMBER 1\n2:4 COMMA ,\n4:1 NUMBER 2\n4:2 RPAREN )\n5:3 PLUS "
        "+\n5:5 NUMBER 3\n"
        "5:6 NEWLINE\n6:1 NAME b\n6:2 NEWLINE\n7:1 EOF\n");
  CHECK(shape("\xEF\xBB\xBF"
              "a") == "Name a");
  CHECK(shape("if a:\n\tb\n\tc") == "If condition Name a body Name b Name c");
  CHECK(shape("\f\nif a:\n  b\n\f\n  c") == "If condition Name a body Name b Name c");
  CHECK(shape("if a: b; c;") == "If condition Name a body Name b Name c");
  CHECK(shape("名前 = 1") == "Assign target Name 名前 value Int 1");
  CHECK(shape("ﬁ = 1") == "Assign target Name fi value Int 1");  // as NFKC makes it
  CHECK(first_error("x = €") == "InvalidCharacter");
}

TEST_CASE("spans", "[parse]") {
  ParseResult r = parse_module(Source("t", "é = (a + b) * c.d(1)\nif x:\n    y = [\n        1]\nz\n"));
  REQUIRE(r.ok());
  auto* assign = ast::as<ast::Assign>(r.module.body[0]);
  CHECK(assign->span == Span{1, 0, 1, 20});
  auto* product = ast::as<ast::Binary>(assign->value);
  CHECK(product->span == Span{1, 4, 1, 20});
  CHECK(product->left->span == Span{1, 5, 1, 10});
  CHECK(product->op_span == Span{1, 12, 1, 13});
  auto* call = ast::as<ast::Call>(product->right);
  CHECK(call->span == Span{1, 14, 1, 20});
  CHECK(ast::as<ast::Attribute>(call->function)->name_span == Span{1, 16, 1, 17});
  CHECK(r.module.body[1]->span == Span{2, 0, 4, 10});
}

TEST_CASE("several independent errors, none twice", "[parse]") {
  ParseResult r = parse_module(Source("t", "a = \nb = 3\nif c\n  d = = 1\nelse:\n  e = )\nreturn\n"));
  REQUIRE(r.diagnostics.size() == 5);
  CHECK(r.diagnostics[1].id == DiagnosticId::ExpectedColon);
  CHECK(r.diagnostics[4].id == DiagnosticId::ReturnOutsideFunction);
  REQUIRE(r.module.body.size() >= 1);
  CHECK(parse_module(Source("t", repeated("x = = 1\n", 5000))).diagnostics.size() == 20);
}

TEST_CASE("bytes that are no text", "[parse]") {
  CHECK(first_error("x = '\xff'") == "InvalidUtf8");
  CHECK(first_error("x = '\xed\xa0\x80'") == "InvalidUtf8");
  CHECK(first_error("x = '\xc0\x80'") == "InvalidUtf8");
  CHECK(first_error("x = '\xf5\x80\x80\x80'") == "InvalidUtf8");
  CHECK(first_error(std::string("x = 1\0", 6)) == "NulByte");
  CHECK(first_error("x = 1 + \\") == "EndAfterLineJoin");
  CHECK(first_error(std::string(kMaxSourceBytes + 1, ' ')) == "SourceTooLarge");
  CHECK(find_invalid_utf8("aé漢\U0001F600") == std::string_view::npos);
}

TEST_CASE("texts that mean harm end in an answer", "[parse]") {
  CHECK(first_error(repeated("(", 1000000)) == "TooManyBrackets");
  CHECK(first_error(repeated("[", 1000000) + repeated("]", 1000000)) == "TooManyBrackets");
  CHECK(first_error(repeated("(\n", 8000)) == "TooManyBrackets");
  CHECK(first_error(repeated("f(1,\n", 150)) == "NeverClosed");
  CHECK(first_error(repeated("-", 100000) + "1") == "TooDeepExpression");
  CHECK(first_error(repeated("not ", 100000) + "a if b else c") == "TooDeepExpression");
  CHECK(first_error("1" + repeated("**1", 100000)) == "TooDeepExpression");
  CHECK(first_error(repeated("lambda: ", 100000) + "1") == "TooDeepExpression");
  CHECK(first_error(repeated("1 if a else ", 100000) + "1") == "TooDeepExpression");
  CHECK(first_error(repeated("(------", 190) + "1" + repeated(")", 190)) == "TooDeepExpression");
  CHECK(first_error("if a: b\n" + repeated("elif a: b\n", 5000)) == "TooManyBranches");
  CHECK(first_error("f'" + repeated("{a b}", 10000) + "'") == "CallWithoutParentheses");
  CHECK(first_error(repeated("$", 100000)) == "InvalidCharacter");
  CHECK(first_error(repeated("\"\"\" ", 100001)) == "UnterminatedLongString");
  std::string blocks;
  for (size_t i = 0; i < 1000; ++i) blocks += std::string(i, ' ') + "if x:\n";
  CHECK(first_error(blocks) == "TooManyIndents");
}

TEST_CASE("long chains to the left are not deep", "[parse]") {
  ParseResult r = parse_module(Source("t", "x = 1" + repeated("+1", 100000)));
  REQUIRE(r.ok());
  size_t terms = 1;
  for (const ast::Expr* e = ast::as<ast::Assign>(r.module.body[0])->value; e->kind == ast::ExprKind::Binary; ++terms) {
    e = ast::as<ast::Binary>(e)->left;
  }
  CHECK(terms == 100001);
  CHECK(ast::dump_ast(r.module).size() < 100'000'000);
  CHECK(parse_module(Source("t", "a" + repeated(".b", 100000))).ok());
  CHECK(parse_module(Source("t", "a" + repeated("()", 100000))).ok());
  CHECK(parse_module(Source("t", "a" + repeated("[0]", 100000))).ok());
  CHECK(parse_module(Source("t", "a" + repeated(" or a", 100000))).ok());
  CHECK(parse_module(Source("t", "a" + repeated(" < a", 100000))).ok());
}

TEST_CASE("what a prompt waits for", "[parse]") {
  using enum InteractiveState;
  CHECK(typed("x = 1\n") == Complete);
  CHECK(typed("") == Complete);
  CHECK(typed("x = (1,\n") == Incomplete);
  CHECK(typed("x = '''a\n") == Incomplete);
  CHECK(typed("x = 1 + \\\n") == Incomplete);
  CHECK(typed("if x:\n") == Incomplete);
  CHECK(typed("if x:\n    y\n") == Incomplete);
  CHECK(typed("if x:\n    y\n\n") == Complete);
  CHECK(typed("if x: y\n") == Incomplete);
  CHECK(typed("try:\n    y\n") == Incomplete);
  CHECK(typed("try:\n    y\n\n") == Error);
  CHECK(typed("@a\n") == Incomplete);
  CHECK(typed("@a\ndef f():\n    pass\n\n") == Complete);
  CHECK(typed("x = = 1\n") == Error);
  CHECK(typed("if x = 1:\n") == Error);
  CHECK(typed("x = 'a\n") == Error);
  CHECK(typed("x = )\n") == Error);
}

TEST_CASE("rendering", "[parse]") {
  Source source("m.tfl", "if x > 3\n    y = 1\n");
  ParseResult r = parse_module(source);
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(render_diagnostic(source, r.diagnostics[0], false) ==
        "m.tfl:1:9: error: expected ':' after the condition\n  1 | if x > 3\n    |         ^ write ':' here\n");
  CHECK(render_diagnostic(source, r.diagnostics[0], true).find("\x1b[") != std::string::npos);
  Source wide("m.tfl", "\tx = '漢字' +\n");
  r = parse_module(wide);
  REQUIRE(r.diagnostics.size() == 2);
  std::string text = render_diagnostic(wide, r.diagnostics[1], false);
  CHECK(text.find("    | " + std::string(8 + 12, ' ') + "^") != std::string::npos);
  Source broken("m.tfl", "x = '\xff\x01'");
  r = parse_module(broken);
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(find_invalid_utf8(render_diagnostic(broken, r.diagnostics[0], false)) == std::string_view::npos);
}

TEST_CASE("every diagnostic has a golden test", "[parse]") {
  namespace fs = std::filesystem;
  const std::vector<std::string> elsewhere = {"source_too_large", "invalid_utf8", "end_after_line_join",  // above
                                              "code_too_large"};                                          // takes megabytes
  std::string root = TFL_SOURCE_DIR "/tests/golden";
  std::string missing;
  for (size_t i = 0; i < diagnostic_count(); ++i) {
    std::string name;
    for (char c : diagnostic_name(static_cast<DiagnosticId>(i))) {
      bool upper = c >= 'A' && c <= 'Z';
      if (upper && !name.empty()) name += '_';
      name += upper ? static_cast<char>(c - 'A' + 'a') : c;
    }
    if (std::find(elsewhere.begin(), elsewhere.end(), name) != elsewhere.end()) continue;
    bool found = false;
    for (const auto& folder : fs::directory_iterator(root)) found = found || fs::exists(folder.path() / (name + ".test"));
    if (!found) missing += name + " ";
  }
  INFO("write tests/golden/FOLDER/NAME.test");
  CHECK(missing == "");
}
