// The module `_source`: what the parser and the checker know of a text, for the language server (stdlib/tools/_language_server.tfl) and other tools
// that are written in TFL; and messages over standard input and output as that server speaks them. It judges nothing itself.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "frontend/core/native_module.h"
#include "frontend/interpreter/compile/compile.h"
#include "frontend/stdlib/embedded.h"
#include "frontend/syntax/format/format.h"
#include "frontend/syntax/outline/occurrences.h"
#include "frontend/syntax/parse/parse.h"

namespace tfl {

namespace {

constexpr size_t kLargestMessage = size_t{1} << 28, kLongestHeader = 4096;

std::vector<Value> place_row(const Span& s) {
  return {Value::integer(s.line), Value::integer(s.column), Value::integer(s.end_line), Value::integer(s.end_column)};
}

Value diagnostic_rows(Interp& interp, const std::vector<Diagnostic>& found) {
  std::vector<Value> rows;
  for (const Diagnostic& d : found) {
    std::vector<Value> row = place_row(d.span);
    row.push_back(interp.str(std::string(diagnostic_name(d.id))));
    row.push_back(Value::boolean(d.severity == Severity::Error));
    row.push_back(interp.str(d.message));
    row.push_back(interp.str(d.hint));
    std::vector<Value> notes;
    for (const Note& n : d.notes) {
      std::vector<Value> note = place_row(n.span);
      note.push_back(interp.str(n.message));
      notes.push_back(interp.tuple(note));
    }
    row.push_back(interp.list(std::move(notes)));
    rows.push_back(interp.tuple(row));
  }
  return interp.list(std::move(rows));
}

/// check(name, text): (diagnostics, values). Diagnostics are rows (line, column, end line, end column, name, is error, message, hint, notes);
/// values rows (line, column, end line, end column, value, own) of the expressions whose value is known: names, attributes, calls.
Result<Value> source_check(Interp& interp, Value* args) {
  auto source = std::make_shared<const Source>(text_of(args[0]), text_of(args[1]));
  std::vector<Value> values;
  std::function<void(const ast::Expr&, const Value&, bool)> seen = [&](const ast::Expr& e, const Value& v, bool own) {
    if (e.kind != ast::ExprKind::Name && e.kind != ast::ExprKind::Attribute && e.kind != ast::ExprKind::Call) return;
    std::vector<Value> row = place_row(e.span);
    row.push_back(v);
    row.push_back(Value::boolean(own));
    values.push_back(interp.tuple(row));
  };
  CompileOptions options;
  options.check = true;
  options.seen = &seen;
  CompileResult compiled = compile_module(interp, source, options);
  return interp.tuple({diagnostic_rows(interp, compiled.diagnostics), interp.list(std::move(values))});
}

/// diagnostics(): the registry, as rows (name, is error, message, hint).
Result<Value> source_diagnostics(Interp& interp, Value*) {
  std::vector<Value> rows;
  auto add = [&](std::string_view name, Severity severity, std::string_view message, std::string_view hint) {
    rows.push_back(interp.tuple({interp.str(std::string(name)), Value::boolean(severity == Severity::Error),
                                 interp.str(std::string(message)), interp.str(std::string(hint))}));
  };
#define TFL_DIAGNOSTIC(id, severity, message, hint) add(#id, Severity::severity, message, hint);
#include "frontend/syntax/diagnostics/diagnostics.def"
#undef TFL_DIAGNOSTIC
  return interp.list(std::move(rows));
}

/// occurrences(text): (names, symbols, folds, assignments), of what of the text is understood. Names are rows (line, column, length, key, kind,
/// is definition): those with one key are one name. Symbols are rows (kind, name, place, place of the name, index of the parent); folds
/// (first line, last line); assignments (key, place of the value, place of the function that it is the call of).
Result<Value> source_occurrences(Interp& interp, Value* args) {
  Source source("", text_of(args[0]));
  Occurrences found = find_occurrences(source);
  std::vector<Value> names, symbols, folds, assignments;
  for (const NameRow& n : found.names) {
    names.push_back(interp.tuple({Value::integer(n.line), Value::integer(n.column), Value::integer(n.length), interp.str(n.key),
                                  interp.str(std::string(n.kind)), Value::boolean(n.definition)}));
  }
  for (const SymbolRow& s : found.symbols) {
    symbols.push_back(interp.tuple({interp.str(std::string(s.kind)), interp.str(s.name), interp.tuple(place_row(s.span)),
                                    interp.tuple(place_row(s.name_span)), Value::integer(s.parent)}));
  }
  for (auto [first, last] : found.folds) folds.push_back(interp.tuple({Value::integer(first), Value::integer(last)}));
  for (const AssignmentRow& a : found.assignments) {
    assignments.push_back(
        interp.tuple({interp.str(a.key), interp.tuple(place_row(a.value)), interp.tuple(place_row(a.function))}));
  }
  return interp.tuple({interp.list(std::move(names)), interp.list(std::move(symbols)), interp.list(std::move(folds)),
                       interp.list(std::move(assignments))});
}

/// format(text, line_length, first, last): the formatted text, or None where it has errors. first 0: all lines.
Result<Value> source_format(Interp& interp, Value* args) {
  Source source("", text_of(args[0]));
  FormatOptions options;
  options.line_length = static_cast<uint32_t>(TFL_TRY(to_index(interp, args[1])));
  int64_t first = TFL_TRY(to_index(interp, args[2])), last = TFL_TRY(to_index(interp, args[3]));
  if (first > 0) options.ranges.push_back({static_cast<uint32_t>(first), static_cast<uint32_t>(last)});
  FormatResult result = format_source(source, options);
  if (!result.ok()) return Value::none();
  return interp.str(std::move(result.text));
}

/// typed(text): what a prompt makes of a text so far: "complete", "incomplete" or "invalid"; and the line on which its last statement begins
/// where that is an expression, else 0.
Result<Value> source_typed(Interp& interp, Value* args) {
  Source source("", text_of(args[0]));
  InteractiveResult typed = parse_interactive(source);
  int64_t line = 0;
  ParseResult whole = parse_module(source);
  if (whole.ok() && !whole.module.body.empty()) {
    const ast::Stmt* last = whole.module.body[whole.module.body.size() - 1];
    if (last->kind == ast::StmtKind::Expression) line = last->span.line;
  }
  const char* state = typed.state == InteractiveState::Complete     ? "complete"
                      : typed.state == InteractiveState::Incomplete ? "incomplete"
                                                                    : "invalid";
  return interp.tuple({interp.str(state), Value::integer(line)});
}

/// statements(text): rows (kind, place) of the statements of a module that parses: "import", "define", "assign", "expression" or "other".
Result<Value> source_statements(Interp& interp, Value* args) {
  Source source("", text_of(args[0]));
  ParseResult whole = parse_module(source);
  std::vector<Value> rows;
  if (!whole.ok()) return interp.list();
  for (const ast::Stmt* s : whole.module.body) {
    const char* kind = "other";
    switch (s->kind) {
      case ast::StmtKind::Import:
      case ast::StmtKind::ImportFrom: kind = "import"; break;
      case ast::StmtKind::FunctionDef:
      case ast::StmtKind::ClassDef: kind = "define"; break;
      case ast::StmtKind::Assign:
      case ast::StmtKind::AnnAssign:
      case ast::StmtKind::AugAssign: kind = "assign"; break;
      case ast::StmtKind::Expression: kind = "expression"; break;
      default: break;
    }
    Span span = s->span;
    if (s->kind == ast::StmtKind::FunctionDef || s->kind == ast::StmtKind::ClassDef) {
      const auto& marks = s->kind == ast::StmtKind::FunctionDef ? static_cast<const ast::FunctionDef*>(s)->decorators
                                                                : static_cast<const ast::ClassDef*>(s)->decorators;
      for (const ast::Expr* d : marks) span.line = std::min(span.line, d->span.line);
    }
    rows.push_back(interp.tuple({interp.str(kind), interp.tuple(place_row(span))}));
  }
  return interp.list(std::move(rows));
}

/// The next `size` bytes of standard input; false at its end.
bool read_message_bytes(char* out, size_t size) {
  while (size > 0) {
    ssize_t n = read(STDIN_FILENO, out, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    out += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

/// receive(): the text of the next message; None at the end. Nothing is read ahead, so that `pending` is right.
Result<Value> source_receive(Interp& interp, Value*) {
  std::string header;
  for (char c; !header.ends_with("\r\n\r\n");) {
    if (header.size() > kLongestHeader || !read_message_bytes(&c, 1)) return Value::none();
    header += c;
  }
  size_t length = 0;
  constexpr std::string_view kLength = "Content-Length:";
  if (size_t at = header.find(kLength); at != std::string::npos)
    length = std::strtoull(header.c_str() + at + kLength.size(), nullptr, 10);
  if (length > kLargestMessage) return Value::none();
  TFL_TRY(guard_memory(interp, length));
  std::string text(length, '\0');
  if (!read_message_bytes(text.data(), length)) return Value::none();
  if (find_invalid_utf8(text) != std::string_view::npos) text.clear();
  return interp.str(std::move(text));
}

/// pending(milliseconds): is there something to read, or will there be within this time?
Result<Value> source_pending(Interp& interp, Value* args) {
  pollfd one{STDIN_FILENO, POLLIN, 0};
  int64_t wait = TFL_TRY(to_index(interp, args[0]));
  return Value::boolean(poll(&one, 1, static_cast<int>(std::min<int64_t>(wait, 60000))) > 0);
}

/// library_text(name): the text of a file of the library, as tracebacks name it; None where there is none.
Result<Value> source_library_text(Interp& interp, Value* args) {
  std::string_view name = text_of(args[0]);
  constexpr std::string_view kRoot = "<stdlib>/";
  if (name.starts_with(kRoot)) name.remove_prefix(kRoot.size());
  const EmbeddedFile* file = find_stdlib_file(name);
  return file ? interp.str(std::string(file->text())) : Value::none();
}

/// send(text): a message.
Result<Value> source_send(Interp&, Value* args) {
  const std::string& text = text_of(args[0]);
  std::printf("Content-Length: %zu\r\n\r\n", text.size());
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
  return Value::none();
}

constexpr NativeDef kFunctions[] = {
    function("check", "name: str, text: str, /", source_check),
    function("diagnostics", "", source_diagnostics),
    function("occurrences", "text: str, /", source_occurrences),
    function("typed", "text: str, /", source_typed),
    function("statements", "text: str, /", source_statements),
    function("format", "text: str, line_length, first, last, /", source_format),
    function("receive", "", source_receive),
    function("pending", "milliseconds, /", source_pending),
    function("send", "text: str, /", source_send),
    function("library_text", "name: str, /", source_library_text),
};

}  // namespace

Result<void> init_source(Interp& interp, Module& module) {
  define_all(interp, module, kFunctions);
  return {};
}

}  // namespace tfl
