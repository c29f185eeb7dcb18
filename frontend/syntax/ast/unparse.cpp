#include "frontend/syntax/ast/unparse.h"

#include <fmt/core.h>

#include "frontend/syntax/ast/class_arguments.h"
#include "frontend/syntax/ast/unparse_writer.h"

namespace tfl::ast {

void Writer::block(Block b, int indent) {
  for (const Stmt* s : b) statement(s, indent);
  if (b.empty()) line(indent), out += "pass\n";
}

void Writer::statement(const Stmt* s, int indent) {
  line(indent);
  switch (s->kind) {
    case StmtKind::Expression: expr(as<Expression>(s)->value, kAny); break;
    case StmtKind::Assign:
      for (const Expr* t : as<Assign>(s)->targets) expr(t, kAny), out += " = ";
      expr(as<Assign>(s)->value, kAny);
      break;
    case StmtKind::AugAssign:
      expr(as<AugAssign>(s)->target, kAny);
      out += fmt::format(" {}= ", kBinaryForms[static_cast<int>(as<AugAssign>(s)->op)].text);
      expr(as<AugAssign>(s)->value, kAny);
      break;
    case StmtKind::AnnAssign: {
      auto* a = as<AnnAssign>(s);
      bool bare_name = a->target->kind == ExprKind::Name && !a->simple;
      if (bare_name) out += '(';
      expr(a->target, kTest);
      if (bare_name) out += ')';
      out += ": ";
      expr(a->annotation, kTest);
      if (a->value) out += " = ", expr(a->value, kAny);
      break;
    }
    case StmtKind::If: if_chain(as<If>(s), indent); return;
    case StmtKind::While:
      out += "while ";
      expr(as<While>(s)->condition, kNamed);
      suite(as<While>(s)->body, indent);
      otherwise("else", as<While>(s)->orelse, indent);
      return;
    case StmtKind::For:
      out += as<For>(s)->asynchronous ? "async for " : "for ";
      expr(as<For>(s)->target, kAny);
      out += " in ";
      expr(as<For>(s)->iterable, kAny);
      suite(as<For>(s)->body, indent);
      otherwise("else", as<For>(s)->orelse, indent);
      return;
    case StmtKind::Break: out += "break"; break;
    case StmtKind::Continue: out += "continue"; break;
    case StmtKind::Pass: out += "pass"; break;
    case StmtKind::Return:
      out += "return";
      if (as<Return>(s)->value) out += ' ', expr(as<Return>(s)->value, kAny);
      break;
    case StmtKind::FunctionDef: {
      auto* def = as<FunctionDef>(s);
      decorators(def->decorators, indent);
      out += fmt::format("{}def {}(", def->asynchronous ? "async " : "", def->name);
      parameters(def->params, true);
      out += ')';
      if (def->returns) out += " -> ", expr(def->returns, kTest);
      suite(def->body, indent);
      return;
    }
    case StmtKind::ClassDef: {
      auto* def = as<ClassDef>(s);
      decorators(def->decorators, indent);
      out += fmt::format("class {}", def->name);
      if (const Call* call = class_arguments(def))
        arguments(call);
      else if (def->base)
        out += '(', expr(def->base, kTest), out += ')';
      suite(def->body, indent);
      return;
    }
    case StmtKind::With: {
      out += as<With>(s)->asynchronous ? "async with " : "with ";
      bool first = true;
      for (const WithItem& item : as<With>(s)->items) {
        if (!first) out += ", ";
        first = false;
        expr(item.context, kTest);
        if (item.target) out += " as ", expr(item.target, kPrimary);
      }
      suite(as<With>(s)->body, indent);
      return;
    }
    case StmtKind::Try: try_(as<Try>(s), indent); return;
    case StmtKind::Raise:
      out += "raise";
      if (as<Raise>(s)->exception) out += ' ', expr(as<Raise>(s)->exception, kTest);
      if (as<Raise>(s)->cause) out += " from ", expr(as<Raise>(s)->cause, kTest);
      break;
    case StmtKind::Assert:
      out += "assert ";
      expr(as<Assert>(s)->condition, kTest);
      if (as<Assert>(s)->message) out += ", ", expr(as<Assert>(s)->message, kTest);
      break;
    case StmtKind::Import:
      out += "import ";
      aliases(as<Import>(s)->names);
      break;
    case StmtKind::ImportFrom:
      out += fmt::format("from {} import ", as<ImportFrom>(s)->module);
      aliases(as<ImportFrom>(s)->names);
      break;
    case StmtKind::Global:
      out += "global ";
      identifiers(as<Global>(s)->names);
      break;
    case StmtKind::Nonlocal:
      out += "nonlocal ";
      identifiers(as<Nonlocal>(s)->names);
      break;
    case StmtKind::Delete:
      out += "del ";
      list(as<Delete>(s)->targets);
      break;
  }
  out += '\n';
}

void Writer::decorators(List<Expr*> all, int indent) {
  for (const Expr* d : all) {
    out += '@';
    expr(d, kNamed);
    out += '\n';
    line(indent);
  }
}

void Writer::if_chain(const If* s, int indent) {
  out += "if ";
  for (;;) {
    expr(s->condition, kNamed);
    suite(s->body, indent);
    if (s->orelse.size() != 1 || s->orelse[0]->kind != StmtKind::If) break;
    s = as<If>(static_cast<const Stmt*>(s->orelse[0]));
    line(indent);
    out += "elif ";
  }
  otherwise("else", s->orelse, indent);
}

void Writer::try_(const Try* s, int indent) {
  out += "try";
  suite(s->body, indent);
  for (const ExceptHandler& h : s->handlers) {
    line(indent);
    out += s->groups ? "except*" : "except";
    if (h.type) out += ' ', expr(h.type, kTest);
    if (!h.name.empty()) out += fmt::format(" as {}", h.name);
    suite(h.body, indent);
  }
  otherwise("else", s->orelse, indent);
  otherwise("finally", s->finally, indent);
}

void Writer::otherwise(std::string_view word, Block b, int indent) {
  if (b.empty()) return;
  line(indent);
  out += word;
  suite(b, indent);
}

void Writer::suite(Block b, int indent) {
  out += ":\n";
  block(b, indent + 1);
}

void Writer::aliases(List<Alias> names) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (i) out += ", ";
    out += names[i].name;
    if (!names[i].asname.empty()) out += fmt::format(" as {}", names[i].asname);
  }
}

void Writer::identifiers(List<Identifier> names) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (i) out += ", ";
    out += names[i];
  }
}

std::string unparse(const Expr* e) {
  Writer w;
  w.expr(e, kAny);
  return std::move(w.out);
}

std::string unparse(const Stmt* s, int level) {
  Writer w;
  w.statement(s, level);
  return std::move(w.out);
}

std::string unparse(Block block, int level) {
  if (block.empty() && level == 0) return {};  // a module may hold nothing
  Writer w;
  w.block(block, level);
  return std::move(w.out);
}

}  // namespace tfl::ast
