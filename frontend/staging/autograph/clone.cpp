#include "frontend/staging/autograph/clone.h"

#include "frontend/syntax/ast/walk.h"

namespace tfl::autograph {

using namespace ast;

namespace {

template <class T>
List<T> copy(Arena& arena, List<T> items) {
  return arena.list(std::vector<T>(items.begin(), items.end()));
}

template <class T>
T* copy(Arena& arena, const Expr* e) {
  return arena.make<T>(*as<T>(e));
}

template <class T>
T* copy(Arena& arena, const Stmt* s) {
  return arena.make<T>(*as<T>(s));
}

/// One node with lists of its own; what is below it is shared with the original.
Expr* shallow(Arena& arena, const Expr* e) {
  switch (e->kind) {
    case ExprKind::Constant: return copy<Constant>(arena, e);
    case ExprKind::Name: return copy<Name>(arena, e);
    case ExprKind::Attribute: return copy<Attribute>(arena, e);
    case ExprKind::Subscript: return copy<Subscript>(arena, e);
    case ExprKind::Slice: return copy<Slice>(arena, e);
    case ExprKind::Unary: return copy<Unary>(arena, e);
    case ExprKind::Binary: return copy<Binary>(arena, e);
    case ExprKind::Conditional: return copy<Conditional>(arena, e);
    case ExprKind::NamedExpr: return copy<NamedExpr>(arena, e);
    case ExprKind::Starred: return copy<Starred>(arena, e);
    case ExprKind::Yield: return copy<Yield>(arena, e);
    case ExprKind::YieldFrom: return copy<YieldFrom>(arena, e);
    case ExprKind::FormattedString: {
      auto* n = copy<FormattedString>(arena, e);
      n->parts = copy(arena, n->parts);
      return n;
    }
    case ExprKind::Call: {
      auto* n = copy<Call>(arena, e);
      n->args = copy(arena, n->args);
      n->keywords = copy(arena, n->keywords);
      return n;
    }
    case ExprKind::BoolOp: {
      auto* n = copy<BoolOp>(arena, e);
      n->values = copy(arena, n->values);
      return n;
    }
    case ExprKind::Compare: {
      auto* n = copy<Compare>(arena, e);
      n->comparators = copy(arena, n->comparators);
      return n;
    }
    case ExprKind::Lambda: {
      auto* n = copy<Lambda>(arena, e);
      n->params = copy(arena, n->params);
      return n;
    }
    case ExprKind::Tuple: {
      auto* n = copy<Tuple>(arena, e);
      n->items = copy(arena, n->items);
      return n;
    }
    case ExprKind::ListDisplay: {
      auto* n = copy<ListDisplay>(arena, e);
      n->items = copy(arena, n->items);
      return n;
    }
    case ExprKind::SetDisplay: {
      auto* n = copy<SetDisplay>(arena, e);
      n->items = copy(arena, n->items);
      return n;
    }
    case ExprKind::DictDisplay: {
      auto* n = copy<DictDisplay>(arena, e);
      n->items = copy(arena, n->items);
      return n;
    }
    case ExprKind::Comprehension: {
      auto* n = copy<Comprehension>(arena, e);
      n->clauses = copy(arena, n->clauses);
      for (ComprehensionFor& c : n->clauses) c.conditions = copy(arena, c.conditions);
      return n;
    }
  }
  return nullptr;
}

Stmt* shallow(Arena& arena, const Stmt* s) {
  switch (s->kind) {
    case StmtKind::Expression: return copy<Expression>(arena, s);
    case StmtKind::AugAssign: return copy<AugAssign>(arena, s);
    case StmtKind::AnnAssign: return copy<AnnAssign>(arena, s);
    case StmtKind::If: return copy<If>(arena, s);
    case StmtKind::While: return copy<While>(arena, s);
    case StmtKind::For: return copy<For>(arena, s);
    case StmtKind::Break: return copy<Break>(arena, s);
    case StmtKind::Continue: return copy<Continue>(arena, s);
    case StmtKind::Pass: return copy<Pass>(arena, s);
    case StmtKind::Return: return copy<Return>(arena, s);
    case StmtKind::Raise: return copy<Raise>(arena, s);
    case StmtKind::Assert: return copy<Assert>(arena, s);
    case StmtKind::Import: return copy<Import>(arena, s);
    case StmtKind::ImportFrom: return copy<ImportFrom>(arena, s);
    case StmtKind::Global: return copy<Global>(arena, s);
    case StmtKind::Nonlocal: return copy<Nonlocal>(arena, s);
    case StmtKind::Assign: {
      auto* n = copy<Assign>(arena, s);
      n->targets = copy(arena, n->targets);
      return n;
    }
    case StmtKind::FunctionDef: {
      auto* n = copy<FunctionDef>(arena, s);
      n->decorators = copy(arena, n->decorators);
      n->params = copy(arena, n->params);
      return n;
    }
    case StmtKind::ClassDef: {
      auto* n = copy<ClassDef>(arena, s);
      n->decorators = copy(arena, n->decorators);
      return n;
    }
    case StmtKind::With: {
      auto* n = copy<With>(arena, s);
      n->items = copy(arena, n->items);
      return n;
    }
    case StmtKind::Try: {
      auto* n = copy<Try>(arena, s);
      n->handlers = copy(arena, n->handlers);
      return n;
    }
    case StmtKind::Delete: {
      auto* n = copy<Delete>(arena, s);
      n->targets = copy(arena, n->targets);
      return n;
    }
  }
  return nullptr;
}

/// The expression that continues the chain on the left: such chains may be of any length.
Expr** spine(Expr* e) {
  switch (e->kind) {
    case ExprKind::Binary: return &as<Binary>(e)->left;
    case ExprKind::Attribute: return &as<Attribute>(e)->value;
    case ExprKind::Call: return &as<Call>(e)->function;
    case ExprKind::Subscript: return &as<Subscript>(e)->value;
    default: return nullptr;
  }
}

}  // namespace

Expr* clone(Arena& arena, const Expr* e) {
  Expr* result = nullptr;
  Expr** place = &result;
  while (e) {
    Expr* node = shallow(arena, e);
    *place = node;
    Expr** left = spine(node);
    each_child(node, [&](Expr*& slot) {
      if (&slot != left) slot = clone(arena, slot);
    });
    place = left;
    e = left ? *left : nullptr;
  }
  return result;
}

Stmt* clone(Arena& arena, const Stmt* s) {
  auto block = [&](Block& b) {
    std::vector<Stmt*> copies;
    for (const Stmt* inner : b) copies.push_back(clone(arena, inner));
    b = arena.list(copies);
  };
  Stmt* node = shallow(arena, s);
  each_expression(node, [&](Expr*& slot) { slot = clone(arena, slot); });
  each_block(node, block);
  if (node->kind == StmtKind::FunctionDef) block(as<FunctionDef>(node)->body);
  if (node->kind == StmtKind::ClassDef) block(as<ClassDef>(node)->body);
  return node;
}

}  // namespace tfl::autograph
