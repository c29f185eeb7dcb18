// Makes tree nodes, each with the span of the source it comes from. This header must not know what a pass wants with them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/syntax/ast/ast.h"

namespace tfl::autograph {

using namespace ast;
// Here these are nodes of the tree, not host values.
using ast::List;
using ast::Module;
using ast::Slice;
using ast::Tuple;

/// The name under which converted code finds its operators.
inline constexpr std::string_view kOperators = "ag__";

class Builder {
 public:
  explicit Builder(Arena& arena) : arena(arena) {}
  Arena& arena;

  Identifier intern(std::string_view text) { return arena.intern(text); }

  // Expressions
  Name* name(std::string_view id, Span span) { return arena.make<Name>(Expr{ExprKind::Name, span}, intern(id)); }
  Expr* attribute(Expr* value, std::string_view id, Span span) {
    return arena.make<Attribute>(Expr{ExprKind::Attribute, span}, value, intern(id), span);
  }
  Expr* text(std::string_view value, Span span) {
    return arena.make<Constant>(Expr{ExprKind::Constant, span}, ConstantKind::String, 0, 0.0, intern(value));
  }
  Expr* integer(int64_t value, Span span) {
    return arena.make<Constant>(Expr{ExprKind::Constant, span}, ConstantKind::Int, value, 0.0, std::string_view());
  }
  Expr* constant(ConstantKind kind, Span span) {
    return arena.make<Constant>(Expr{ExprKind::Constant, span}, kind, 0, 0.0, std::string_view());
  }
  Expr* boolean(bool value, Span span) { return constant(value ? ConstantKind::True : ConstantKind::False, span); }
  Expr* tuple(const std::vector<Expr*>& items, Span span) {
    return arena.make<Tuple>(Expr{ExprKind::Tuple, span}, arena.list(items), true);
  }
  Expr* names(const std::vector<std::string_view>& ids, Span span) {
    std::vector<Expr*> items;
    for (std::string_view id : ids) items.push_back(text(id, span));
    return tuple(items, span);
  }
  Expr* call(Expr* function, const std::vector<Expr*>& args, Span span) {
    return arena.make<Call>(Expr{ExprKind::Call, span}, function, arena.list(args), List<Keyword>{});
  }
  /// ag__.NAME
  Expr* op(std::string_view id, Span span) { return attribute(name(kOperators, span), id, span); }
  /// ag__.NAME(...)
  Expr* op_call(std::string_view id, const std::vector<Expr*>& args, Span span) { return call(op(id, span), args, span); }
  Lambda* lambda(Expr* body, const std::vector<std::string_view>& params = {}) {
    return arena.make<Lambda>(Expr{ExprKind::Lambda, body->span}, parameters(params, body->span), body);
  }

  // Statements
  Stmt* assign(std::string_view id, Expr* value, Span span) { return assign(name(id, span), value, span); }
  Stmt* assign(Expr* target, Expr* value, Span span) {
    return arena.make<Assign>(Stmt{StmtKind::Assign, span}, arena.list(std::vector<Expr*>{target}), value);
  }
  Stmt* expression(Expr* value) { return arena.make<Expression>(Stmt{StmtKind::Expression, value->span}, value); }
  Stmt* remove(Expr* target, Span span) {
    return arena.make<Delete>(Stmt{StmtKind::Delete, span}, arena.list(std::vector<Expr*>{target}));
  }
  Stmt* pass(Span span) { return arena.make<Pass>(Stmt{StmtKind::Pass, span}); }
  Stmt* give_back(Expr* value, Span span) { return arena.make<Return>(Stmt{StmtKind::Return, span}, value); }
  Stmt* if_(Expr* condition, Block body, Block orelse, Span span) {
    return arena.make<If>(Stmt{StmtKind::If, span}, condition, body, orelse);
  }
  Stmt* nonlocal(const std::vector<Identifier>& ids, Span span) {
    return arena.make<Nonlocal>(Stmt{StmtKind::Nonlocal, span}, arena.list(ids));
  }
  Stmt* global(const std::vector<Identifier>& ids, Span span) {
    return arena.make<Global>(Stmt{StmtKind::Global, span}, arena.list(ids));
  }
  FunctionDef* function(std::string_view id, const std::vector<std::string_view>& params, const std::vector<Stmt*>& body,
                        Span span) {
    return arena.make<FunctionDef>(Stmt{StmtKind::FunctionDef, span}, intern(id), span, List<Expr*>{}, parameters(params, span),
                                   nullptr, block(body));
  }
  Block block(const std::vector<Stmt*>& statements) { return arena.list(statements); }

 private:
  List<Parameter> parameters(const std::vector<std::string_view>& ids, Span span) {
    std::vector<Parameter> items;
    for (std::string_view id : ids) items.push_back({ParamKind::PositionalOrKeyword, intern(id), nullptr, nullptr, span});
    return arena.list(items);
  }
};

}  // namespace tfl::autograph
