#include "frontend/staging/autograph/find.h"

#include "frontend/syntax/ast/walk.h"

namespace tfl::autograph {

using namespace ast;

namespace {

bool before(uint32_t line, uint32_t column, uint32_t other_line, uint32_t other_column) {
  return line < other_line || (line == other_line && column < other_column);
}

bool holds(Span outer, Span inner) {
  return !before(inner.line, inner.column, outer.line, outer.column) &&
         !before(outer.end_line, outer.end_column, inner.end_line, inner.end_column);
}

class Finder {
 public:
  Finder(Span span, bool lambda) : span_(span), lambda_(lambda) {}
  Found found;

  bool block(Block statements) {
    for (Stmt* s : statements) {
      if (statement(s)) return true;
    }
    return false;
  }

 private:
  bool statement(Stmt* s) {
    // Decorators may stand above the span of what they decorate.
    bool decorated = s->kind == StmtKind::FunctionDef || s->kind == StmtKind::ClassDef;
    if (!decorated && !holds(s->span, span_)) return false;
    if (s->kind == StmtKind::FunctionDef && !lambda_ && s->span == span_) {
      found.def = as<FunctionDef>(s);
      return true;
    }
    bool here = false;
    each_expression(s, [&](Expr* const& e) { here = here || expression(e); });
    if (here) return true;
    if (s->kind == StmtKind::FunctionDef) return holds(s->span, span_) && block(as<FunctionDef>(s)->body);
    if (s->kind == StmtKind::ClassDef) {
      if (!holds(s->span, span_)) return false;
      std::string_view outer = found.owner;
      found.owner = as<ClassDef>(s)->name;
      if (block(as<ClassDef>(s)->body)) return true;
      found.owner = outer;
      return false;
    }
    each_block(s, [&](const Block& b) { here = here || block(b); });
    return here;
  }

  bool expression(const Expr* e) {
    if (!lambda_) return false;
    each_node(e, [&](const Expr* node) {
      if (node->kind == ExprKind::Lambda && node->span == span_) found.lambda = as<Lambda>(node);
      return !found.lambda;
    });
    return found.lambda != nullptr;
  }

  Span span_;
  bool lambda_;
};

}  // namespace

Found find_definition(Block module, Span span, bool lambda) {
  Finder finder(span, lambda);
  finder.block(module);
  return finder.found;
}

}  // namespace tfl::autograph
