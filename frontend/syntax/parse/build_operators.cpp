// Operator precedence. A parse-tree node holds prefixes, operands and operators in a row; two explicit stacks make a tree of them,
// so neither a long sum nor a long chain of prefixes recurses.
#include "frontend/syntax/parse/tree_builder.h"

namespace tfl::parse {
namespace {

using ast::BinaryOp;
using ast::CompareOp;

enum Level : uint8_t { kOr = 1, kAnd, kNot, kCompare, kBitOr, kBitXor, kBitAnd, kShift, kSum, kProduct, kUnary, kPower };

struct Operator {
  Level level;
  bool prefix;
  uint8_t op;  // UnaryOp, BinaryOp or CompareOp, as the level says
  Token token;
};

struct Operand {
  ast::Expr* expr;
  Span span;  // with the parentheses around it, which the expression's own span leaves out
};

struct Infix {
  Level level;
  uint8_t op;
};

Infix infix(TokenKind kind) {
  auto binary = [](Level level, BinaryOp op) { return Infix{level, static_cast<uint8_t>(op)}; };
  auto compare = [](CompareOp op) { return Infix{kCompare, static_cast<uint8_t>(op)}; };
  switch (kind) {
    case TokenKind::Or: return {kOr, 0};
    case TokenKind::And: return {kAnd, 0};
    case TokenKind::In: return compare(CompareOp::In);
    case TokenKind::Not: return compare(CompareOp::NotIn);
    case TokenKind::Is: return compare(CompareOp::Is);
    case TokenKind::Eq: return compare(CompareOp::Eq);
    case TokenKind::Ne: return compare(CompareOp::Ne);
    case TokenKind::Lt: return compare(CompareOp::Lt);
    case TokenKind::Le: return compare(CompareOp::Le);
    case TokenKind::Gt: return compare(CompareOp::Gt);
    case TokenKind::Ge: return compare(CompareOp::Ge);
    case TokenKind::Bar: return binary(kBitOr, BinaryOp::BitOr);
    case TokenKind::Caret: return binary(kBitXor, BinaryOp::BitXor);
    case TokenKind::Ampersand: return binary(kBitAnd, BinaryOp::BitAnd);
    case TokenKind::LeftShift: return binary(kShift, BinaryOp::LShift);
    case TokenKind::RightShift: return binary(kShift, BinaryOp::RShift);
    case TokenKind::Plus: return binary(kSum, BinaryOp::Add);
    case TokenKind::Minus: return binary(kSum, BinaryOp::Sub);
    case TokenKind::Star: return binary(kProduct, BinaryOp::Mul);
    case TokenKind::Slash: return binary(kProduct, BinaryOp::Div);
    case TokenKind::DoubleSlash: return binary(kProduct, BinaryOp::FloorDiv);
    case TokenKind::Percent: return binary(kProduct, BinaryOp::Mod);
    case TokenKind::At: return binary(kProduct, BinaryOp::MatMul);
    default: return binary(kPower, BinaryOp::Pow);
  }
}

ast::UnaryOp unary(TokenKind kind) {
  return kind == TokenKind::Not     ? ast::UnaryOp::Not
         : kind == TokenKind::Plus  ? ast::UnaryOp::Plus
         : kind == TokenKind::Minus ? ast::UnaryOp::Minus
                                    : ast::UnaryOp::Invert;
}

/// `a or b or c` and `a < b < c` are one node each.
bool gathers(Level level) { return level == kOr || level == kAnd || level == kCompare; }
/// Operators whose right operand is nested in them however long the row is.
bool nests(const Operator& o) { return o.prefix || o.level == kPower; }

class Precedence {
 public:
  Precedence(ast::Arena& arena, std::vector<Diagnostic>& diagnostics, const Source& source)
      : arena_(arena), diagnostics_(diagnostics), source_(source) {}

  uint32_t nested() const { return nested_; }

  void prefix(const Token& token) {
    bool is_not = token.kind == TokenKind::Not;
    if (is_not && !operators_.empty() && operators_.back().level > kNot) {
      diagnostics_.push_back(make_diagnostic(DiagnosticId::NotNeedsParentheses, span_of(source_, token),
                                             {text_of(source_, operators_.back().token)}));
    }
    push({is_not ? kNot : kUnary, true, static_cast<uint8_t>(unary(token.kind)), token});
  }

  void infix_operator(const Token& token, Infix in) {
    // ** binds tighter than a prefix on its left and groups to the right; the rest group to the left.
    while (!operators_.empty()) {
      Level top = operators_.back().level;
      if (top < in.level || (top == in.level && (gathers(top) || top == kPower))) break;
      reduce();
    }
    push({in.level, false, in.op, token});
  }

  void operand(ast::Expr* e, Span span) { operands_.push_back({e, span}); }

  Operand finish() {
    while (!operators_.empty()) reduce();
    return operands_.back();
  }

 private:
  void push(const Operator& o) {
    operators_.push_back(o);
    if (nests(o)) ++nested_;
  }

  static Span across(const Operand& a, const Operand& b) {
    return {a.span.line, a.span.column, b.span.end_line, b.span.end_column};
  }

  void reduce() {
    Operator o = operators_.back();
    if (nests(o)) --nested_;
    if (gathers(o.level) && !o.prefix) return gather(o.level);
    operators_.pop_back();
    if (o.prefix) {
      Operand& x = operands_.back();
      Span span{o.token.line, o.token.column, x.span.end_line, x.span.end_column};
      x.expr = arena_.make<ast::Unary>(ast::Expr{ast::ExprKind::Unary, span}, static_cast<ast::UnaryOp>(o.op), x.expr);
      x.span = span;
      return;
    }
    Operand right = operands_.back();
    operands_.pop_back();
    Operand& left = operands_.back();
    Span span = across(left, right);
    left.expr = arena_.make<ast::Binary>(ast::Expr{ast::ExprKind::Binary, span}, static_cast<BinaryOp>(o.op), left.expr,
                                         right.expr, span_of(source_, o.token));
    left.span = span;
  }

  /// Joins the whole run of operators of one level on top of the stack.
  void gather(Level level) {
    size_t first = operators_.size();
    while (first > 0 && operators_[first - 1].level == level) --first;
    size_t run = operators_.size() - first;
    size_t base = operands_.size() - run - 1;
    Span span = across(operands_[base], operands_.back());
    std::vector<ast::Expr*> values;
    for (size_t i = base; i < operands_.size(); ++i) values.push_back(operands_[i].expr);
    ast::Expr* e;
    if (level == kCompare) {
      std::vector<CompareOp> ops;
      for (size_t i = first; i < operators_.size(); ++i) ops.push_back(static_cast<CompareOp>(operators_[i].op));
      ast::Expr* left = values.front();
      values.erase(values.begin());
      e = arena_.make<ast::Compare>(ast::Expr{ast::ExprKind::Compare, span}, left, arena_.list(ops), arena_.list(values));
    } else {
      auto op = level == kOr ? ast::BoolOpKind::Or : ast::BoolOpKind::And;
      e = arena_.make<ast::BoolOp>(ast::Expr{ast::ExprKind::BoolOp, span}, op, arena_.list(values));
    }
    operators_.resize(first, Operator{});
    operands_.resize(base);
    operands_.push_back({e, span});
  }

  ast::Arena& arena_;
  std::vector<Diagnostic>& diagnostics_;
  const Source& source_;
  std::vector<Operator> operators_;
  std::vector<Operand> operands_;
  uint32_t nested_ = 0;
};

bool is_literal(const ast::Expr* e) {
  if (e->kind != ast::ExprKind::Constant) return false;
  auto kind = static_cast<const ast::Constant*>(e)->constant;
  return kind == ast::ConstantKind::Int || kind == ast::ConstantKind::Float || kind == ast::ConstantKind::Imaginary ||
         kind == ast::ConstantKind::String || kind == ast::ConstantKind::Bytes;
}

}  // namespace

ast::Expr* TreeBuilder::operators(Node* node) {
  Children children(node);
  return operators(node, children);
}

ast::Expr* TreeBuilder::operators(Node* node, Children& children) {
  if (children.size() == 1) {
    ast::Expr* e = primary(children.node());
    return e;
  }
  Precedence precedence(arena_, diagnostics_, source_);
  uint32_t outer = nesting_;
  bool want_operand = true;
  while (!children.done() && !children.at(TokenKind::If)) {
    if (want_operand && children.at_token()) {
      precedence.prefix(children.take());
    } else if (want_operand) {
      nesting_ = outer + precedence.nested();
      if (nesting_ > kMaxNesting) {
        if (!nesting_reported_) report(DiagnosticId::TooDeepExpression, span(node), {std::to_string(kMaxNesting)});
        nesting_reported_ = true;
        nesting_ = outer;
        while (!children.done() && !children.at(TokenKind::If)) children.skip();
        return none(span(node));
      }
      Node* operand = children.node();
      precedence.operand(primary(operand), span(operand));
      want_operand = false;
    } else {
      const Token& token = children.take();
      Infix in = infix(token.kind);
      if (token.kind == TokenKind::Not) children.take();  // not in
      if (token.kind == TokenKind::Is && children.accept(TokenKind::Not)) in.op = static_cast<uint8_t>(CompareOp::IsNot);
      precedence.infix_operator(token, in);
      want_operand = true;
    }
  }
  nesting_ = outer;
  ast::Expr* e = precedence.finish().expr;
  if (e->kind == ast::ExprKind::Compare) {
    auto* c = static_cast<ast::Compare*>(e);
    const ast::Expr* left = c->left;
    for (size_t i = 0; i < c->ops.size(); ++i) {
      bool identity = c->ops[i] == CompareOp::Is || c->ops[i] == CompareOp::IsNot;
      if (identity && (is_literal(left) || is_literal(c->comparators[i]))) {
        report(DiagnosticId::IdentityOfLiteral, e->span,
               {c->ops[i] == CompareOp::Is ? "is" : "is not", c->ops[i] == CompareOp::Is ? "==" : "!="});
      }
      left = c->comparators[i];
    }
  }
  return e;
}

}  // namespace tfl::parse
