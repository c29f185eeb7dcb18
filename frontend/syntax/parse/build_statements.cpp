// Statements, definitions and imports apart.
#include <algorithm>

#include "frontend/syntax/parse/tree_builder.h"

namespace tfl::parse {

using ast::Expr;
using ast::Stmt;
using ast::StmtKind;

namespace {

ast::BinaryOp augmented_operator(std::string_view text) {
  using ast::BinaryOp;
  if (text == "+=") return BinaryOp::Add;
  if (text == "-=") return BinaryOp::Sub;
  if (text == "*=") return BinaryOp::Mul;
  if (text == "/=") return BinaryOp::Div;
  if (text == "//=") return BinaryOp::FloorDiv;
  if (text == "%=") return BinaryOp::Mod;
  if (text == "**=") return BinaryOp::Pow;
  if (text == "@=") return BinaryOp::MatMul;
  if (text == "&=") return BinaryOp::BitAnd;
  if (text == "|=") return BinaryOp::BitOr;
  if (text == "^=") return BinaryOp::BitXor;
  return text == "<<=" ? BinaryOp::LShift : BinaryOp::RShift;
}

}  // namespace

void TreeBuilder::unit(TflParser::UnitContext* node, bool damaged, std::vector<Stmt*>& out) {
  here_ = {};
  damaged_ = damaged;
  Children children(node);
  while (!children.at_token()) statement(children.node(), out);
}

void TreeBuilder::statement(Node* node, std::vector<Stmt*>& out) {
  Children children(node);
  Node* inner = children.node();
  switch (inner->getRuleIndex()) {
    case TflParser::RuleSimple_line: return simple_line(inner, out);
    case TflParser::RuleIf_statement: return out.push_back(if_statement(inner));
    case TflParser::RuleWhile_statement: return out.push_back(while_statement(inner));
    case TflParser::RuleFor_statement: return out.push_back(for_statement(inner));
    case TflParser::RuleTry_statement: return out.push_back(try_statement(inner));
    case TflParser::RuleWith_statement: return out.push_back(with_statement(inner));
    case TflParser::RuleMatch_statement: return match_statement(inner, out);
    case TflParser::RuleFunction_definition: return out.push_back(function_definition(inner, {}));
    case TflParser::RuleAsync_statement: return out.push_back(async_statement(inner));
    case TflParser::RuleClass_definition: return out.push_back(class_definition(inner, {}));
    case TflParser::RuleDecorated: return out.push_back(decorated(inner));
    default: return bad_statement(inner, out);
  }
}

void TreeBuilder::simple_line(Node* node, std::vector<Stmt*>& out) {
  Children children(node);
  while (!children.at(TokenKind::Newline)) {
    if (!children.at_token()) {
      out.push_back(small_statement(children.node()));
      continue;
    }
    const Token& semicolon = children.take();
    if (children.at(TokenKind::Semicolon)) report(DiagnosticId::RepeatedSemicolon, span(semicolon));
    while (children.at(TokenKind::Semicolon)) children.take();
  }
}

ast::Block TreeBuilder::block(Node* node) {
  std::vector<Stmt*> body;
  bool outer = here_.top_level;
  here_.top_level = false;
  Children children(node);
  if (children.rule_index() == TflParser::RuleSimple_line) {
    simple_line(children.node(), body);
  } else {
    children.take();  // NEWLINE
    children.take();  // INDENT
    while (!children.at_token()) statement(children.node(), body);
  }
  here_.top_level = outer;
  if (body.empty() && tolerant_) body.push_back(arena_.make<ast::Pass>(ast::StmtKind::Pass, span(node)));
  return arena_.list(body);
}

/// The block of `else: …` and `finally: …`.
ast::Block TreeBuilder::clause_block(Node* node) {
  Children children(node);
  children.take();
  children.take();
  return block(children.node());
}

/// The line itself was reported; what belongs to it is still checked.
void TreeBuilder::bad_statement(Node* node, std::vector<Stmt*>& out) {
  Surroundings outer = here_;
  here_ = {Body::Unknown, true, {}, false};
  std::vector<Stmt*> unused;
  std::vector<Stmt*>& kept = tolerant_ ? out : unused;
  Children children(node);
  while (!children.done()) {
    if (children.at_token()) {
      children.take();
    } else if (children.rule_index() == TflParser::RuleStatement) {
      statement(children.node(), kept);
    } else {
      Children clause(children.node());
      while (!clause.done()) {
        if (clause.rule_index() == TflParser::RuleBlock) {
          for (Stmt* s : block(clause.node())) kept.push_back(s);
        } else if (clause.at_token()) {
          clause.take();
        } else {
          clause.node();
        }
      }
    }
  }
  here_ = outer;
}

Stmt* TreeBuilder::small_statement(Node* node) {
  Children children(node);
  if (!children.at_token()) {
    Node* inner = children.node();
    if (inner->getRuleIndex() == TflParser::RuleImport_statement) return import_statement(inner);
    if (inner->getRuleIndex() == TflParser::RuleFrom_statement) return from_statement(inner);
    return assignment(node, children, inner);
  }
  Span whole = span(node);
  const Token& word = children.take();
  switch (word.kind) {
    case TokenKind::Break:
      if (here_.groups && !here_.loop)
        report(DiagnosticId::LeavesExceptStar, whole, {text(word)});
      else if (!here_.loop)
        report(DiagnosticId::BreakOutsideLoop, whole);
      return arena_.make<ast::Break>(Stmt{StmtKind::Break, whole});
    case TokenKind::Continue:
      if (here_.groups && !here_.loop)
        report(DiagnosticId::LeavesExceptStar, whole, {text(word)});
      else if (!here_.loop)
        report(DiagnosticId::ContinueOutsideLoop, whole);
      return arena_.make<ast::Continue>(Stmt{StmtKind::Continue, whole});
    case TokenKind::Return: {
      if (here_.body == Body::Module || here_.body == Body::Class) report(DiagnosticId::ReturnOutsideFunction, whole);
      if (here_.groups) report(DiagnosticId::LeavesExceptStar, whole, {text(word)});
      Expr* value = children.done() ? nullptr : expression_list(children.node());
      return arena_.make<ast::Return>(Stmt{StmtKind::Return, whole}, value);
    }
    case TokenKind::Raise: {
      Expr* exception = children.done() ? nullptr : test(children.node());
      Expr* cause = children.accept(TokenKind::From) ? test(children.node()) : nullptr;
      return arena_.make<ast::Raise>(Stmt{StmtKind::Raise, whole}, exception, cause);
    }
    case TokenKind::Del: {
      std::vector<Expr*> targets;
      Children list(children.node());
      while (!list.done()) {
        Expr* e = target(list.node(), TargetUse::Delete);
        check_target(e, TargetUse::Delete);
        targets.push_back(e);
        commas(list);
      }
      return arena_.make<ast::Delete>(Stmt{StmtKind::Delete, whole}, arena_.list(targets));
    }
    case TokenKind::Assert: {
      Expr* condition = test(children.node());
      Expr* message = children.accept(TokenKind::Comma) ? test(children.node()) : nullptr;
      if (condition->kind == ast::ExprKind::Tuple && !static_cast<ast::Tuple*>(condition)->items.empty()) {
        report(DiagnosticId::AssertOfTuple, condition->span);
      }
      return arena_.make<ast::Assert>(Stmt{StmtKind::Assert, whole}, condition, message);
    }
    case TokenKind::Global:
    case TokenKind::Nonlocal: {
      std::vector<ast::Identifier> names;
      while (!children.done()) {
        names.push_back(name(children.take()));
        children.accept(TokenKind::Comma);
      }
      if (word.kind == TokenKind::Global) return arena_.make<ast::Global>(Stmt{StmtKind::Global, whole}, arena_.list(names));
      if (here_.body == Body::Module) report(DiagnosticId::NonlocalAtModuleLevel, whole);
      return arena_.make<ast::Nonlocal>(Stmt{StmtKind::Nonlocal, whole}, arena_.list(names));
    }
    default: return arena_.make<ast::Pass>(Stmt{StmtKind::Pass, whole});
  }
}

/// A lone expression, or one that is assigned to or annotated.
Stmt* TreeBuilder::assignment(Node* node, Children& children, Node* first_node) {
  Span whole = span(node);
  Expr* first = value(first_node, children.at(TokenKind::Assign));
  if (children.done()) return arena_.make<ast::Expression>(Stmt{StmtKind::Expression, whole}, first);
  const Token& op = children.take();
  if (op.kind == TokenKind::Colon) {
    Expr* annotation = test(children.node());
    Expr* assigned = children.accept(TokenKind::Assign) ? value(children.node()) : nullptr;
    check_target(first, TargetUse::Annotated);
    bool simple = bare_name(first_node) != nullptr;
    return arena_.make<ast::AnnAssign>(Stmt{StmtKind::AnnAssign, whole}, first, annotation, assigned, simple);
  }
  if (op.kind == TokenKind::AugAssign) {
    check_target(first, TargetUse::Augmented);
    Expr* operand = value(children.node());
    return arena_.make<ast::AugAssign>(Stmt{StmtKind::AugAssign, whole}, first, augmented_operator(text(op)), operand, span(op));
  }
  std::vector<Expr*> targets;
  Expr* last = first;
  while (true) {
    check_target(last, TargetUse::Assign);
    targets.push_back(last);
    Node* next = children.node();
    bool target = !children.done();
    last = value(next, target);
    if (!target) break;
    children.take();  // =
  }
  return arena_.make<ast::Assign>(Stmt{StmtKind::Assign, whole}, arena_.list(targets), last);
}

Stmt* TreeBuilder::if_statement(Node* node) {
  Children children(node);
  struct Branch {
    const Token* word;
    Expr* condition;
    ast::Block body;
  };
  std::vector<Branch> branches;
  ast::Block orelse;
  const Token& word = children.take();
  Expr* condition = named_test(children.node());
  children.take();  // :
  branches.push_back({&word, condition, block(children.node())});
  while (!children.done()) {
    Node* clause = children.node();
    if (clause->getRuleIndex() == TflParser::RuleElse_clause) {
      orelse = clause_block(clause);
      break;
    }
    Children part(clause);
    const Token& elif = part.take();
    Expr* test = named_test(part.node());
    part.take();  // :
    branches.push_back({&elif, test, block(part.node())});
  }
  if (branches.size() > kMaxNesting) {
    report(DiagnosticId::TooManyBranches, span(*branches[kMaxNesting].word), {std::to_string(kMaxNesting)});
    branches.resize(1);
  }
  Stmt* result = nullptr;
  for (size_t i = branches.size(); i-- > 0;) {
    Branch& b = branches[i];
    Span whole = to_end_of(to_end_of(span(*b.word), b.body), orelse);
    result = arena_.make<ast::If>(Stmt{StmtKind::If, whole}, b.condition, b.body, orelse);
    orelse = arena_.list(std::vector<Stmt*>{result});
  }
  return result;
}

Stmt* TreeBuilder::while_statement(Node* node) {
  Children children(node);
  const Token& word = children.take();
  Expr* condition = named_test(children.node());
  children.take();  // :
  bool outer = here_.loop;
  here_.loop = true;
  ast::Block body = block(children.node());
  here_.loop = outer;
  ast::Block orelse;
  if (!children.done()) orelse = clause_block(children.node());
  return arena_.make<ast::While>(Stmt{StmtKind::While, to_end_of(to_end_of(span(word), body), orelse)}, condition, body, orelse);
}

Stmt* TreeBuilder::for_statement(Node* node) {
  Children children(node);
  const Token& word = children.take();
  Expr* target = target_list(children.node(), TargetUse::For);
  children.take();  // in
  Expr* iterable = expression_list(children.node());
  children.take();  // :
  bool outer = here_.loop;
  here_.loop = true;
  ast::Block body = block(children.node());
  here_.loop = outer;
  ast::Block orelse;
  if (!children.done()) orelse = clause_block(children.node());
  return arena_.make<ast::For>(Stmt{StmtKind::For, to_end_of(to_end_of(span(word), body), orelse)}, target, iterable, body,
                               orelse);
}

/// `async` in front of a function, a loop or a `with`.
Stmt* TreeBuilder::async_statement(Node* node) {
  Children children(node);
  const Token& word = children.take();
  Node* inner = children.node();
  if (inner->getRuleIndex() == TflParser::RuleFunction_definition) return function_definition(inner, {}, &word);
  bool loop = inner->getRuleIndex() == TflParser::RuleFor_statement;
  need_async(loop ? "async for" : "async with", span(word));
  Stmt* made = loop ? for_statement(inner) : with_statement(inner);
  (loop ? static_cast<ast::For*>(made)->asynchronous : static_cast<ast::With*>(made)->asynchronous) = true;
  made->span = join(span(word), made->span);
  return made;
}

Stmt* TreeBuilder::try_statement(Node* node) {
  Children children(node);
  const Token& word = children.take();
  children.take();  // :
  ast::Block body = block(children.node());
  Span whole = to_end_of(span(word), body);
  std::vector<ast::ExceptHandler> handlers;
  ast::Block orelse, finally;
  Node* else_node = nullptr;
  const Token* bare = nullptr;  // the last clause's `except`, when it names no class
  bool groups = false;
  while (!children.done()) {
    Node* clause = children.node();
    if (clause->getRuleIndex() == TflParser::RuleElse_clause) {
      else_node = clause;
      orelse = clause_block(clause);
      whole = to_end_of(whole, orelse);
      continue;
    }
    if (clause->getRuleIndex() == TflParser::RuleFinally_clause) {
      finally = clause_block(clause);
      whole = to_end_of(whole, finally);
      continue;
    }
    Children part(clause);
    const Token& except = part.take();
    const bool star = part.at(TokenKind::Star);
    Span word_span = star ? span(except, part.take()) : span(except);
    if (!handlers.empty() && star != groups) report(DiagnosticId::MixedExcept, word_span);
    groups = star;
    if (bare != nullptr) report(DiagnosticId::BareExceptNotLast, span(*bare));
    bare = nullptr;
    ast::ExceptHandler handler{};
    handler.span = span(except);
    if (!part.at_token()) handler.type = test(part.node());
    if (part.accept(TokenKind::As)) handler.name = name(part.take());
    part.take();  // :
    if (star && handler.type == nullptr) report(DiagnosticId::BareExceptStar, word_span);
    Surroundings outer = here_;
    if (star) here_.groups = true, here_.loop = false;
    handler.body = block(part.node());
    here_ = outer;
    handler.span = to_end_of(handler.span, handler.body);
    if (handler.type == nullptr) bare = &except;
    whole = to_end_of(whole, handler.body);
    handlers.push_back(handler);
  }
  if (handlers.empty() && !damaged_) {
    if (else_node != nullptr)
      report(DiagnosticId::ElseWithoutExcept, span(first_token(else_node)));
    else if (finally.empty())
      report(DiagnosticId::TryAlone, span(word));
  }
  return arena_.make<ast::Try>(Stmt{StmtKind::Try, whole}, body, arena_.list(handlers), orelse, finally, groups);
}

Stmt* TreeBuilder::with_statement(Node* node) {
  Children children(node);
  const Token& word = children.take();
  children.accept(TokenKind::WithLparen);
  std::vector<ast::WithItem> items;
  while (!children.at_token()) {
    Children part(children.node());
    ast::WithItem item{test(part.node()), nullptr};
    if (part.accept(TokenKind::As)) item.target = target(part.node(), TargetUse::With);
    items.push_back(item);
    commas(children);
  }
  if (items.size() > kMaxIndents) {  // each is a block inside those before it
    report(DiagnosticId::TooManyIndents, items[kMaxIndents].context->span, {std::to_string(kMaxIndents)});
    items.resize(kMaxIndents);
  }
  children.accept(TokenKind::Rparen);
  children.take();  // :
  ast::Block body = block(children.node());
  return arena_.make<ast::With>(Stmt{StmtKind::With, to_end_of(span(word), body)}, arena_.list(items), body);
}

}  // namespace tfl::parse
