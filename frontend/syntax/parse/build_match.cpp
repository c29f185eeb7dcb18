// `match`: the statement becomes an `if` with a branch for each case, over a hidden name that holds the subject; each pattern becomes the
// condition of its branch. What looks into sequences, mappings and objects is asked of hidden built-in functions. So scopes, bytecode
// and AutoGraph meet nothing but names, comparisons and calls, and a tensor that is compared with a literal decides as any other does.
#include <algorithm>

#include "frontend/syntax/parse/tree_builder.h"
#include "frontend/text/float_text.h"
#include "frontend/text/quote.h"

namespace tfl::parse {

using ast::Expr;
using ast::ExprKind;
using ast::Identifier;
using ast::Stmt;
using ast::StmtKind;

namespace {
constexpr std::string_view kMatchSubject = ".subject";
std::string irrefutable_reason(std::string_view name) {
  return name == "_" ? "wildcard" : "name capture '" + std::string(name) + "'";
}

}  // namespace

/// The patterns of one case.
class PatternBuilder {
 public:
  using Node = antlr4::ParserRuleContext;
  explicit PatternBuilder(TreeBuilder& builder) : tree_(builder) {}

  /// Condition under which the subject matches; nullptr: it always does.
  Expr* case_patterns(Node* node) {
    Children children(node);
    Children look(node);
    const bool comma = children.size() > 1;
    if (!comma && look.rule_index() == TflParser::RuleStar_pattern) tree_.report(DiagnosticId::StarredHere, tree_.span(node));
    if (!comma && look.rule_index() == TflParser::RulePattern) return pattern(children.node(), subject(tree_.span(node)));
    return sequence(node, subject(tree_.span(node)), tree_.span(node));
  }

  /// `x = .x` for each name that the patterns bind, in order.
  const std::vector<std::pair<Identifier, Span>>& names() const { return names_; }
  /// What an irrefutable pattern binds, to hidden names.
  std::vector<Expr*> take_bindings() { return std::move(bindings_); }

  /// What such a binding gives its name.
  Expr* bound_value(Expr* binding) const {
    return static_cast<ast::NamedExpr*>(static_cast<ast::Tuple*>(binding)->items.front())->value;
  }

  Expr* hidden(Identifier name, Span span) {
    return make<ast::Name>(Expr{ExprKind::Name, span}, tree_.arena_.intern("." + std::string(name)));
  }

 private:
  template <class T, class... Args>
  T* make(Args&&... args) {
    return tree_.arena_.make<T>(std::forward<Args>(args)...);
  }
  template <class T>
  ast::List<T> list(const std::vector<T>& items) {
    return tree_.arena_.list(items);
  }
  Expr* subject(Span span) { return make<ast::Name>(Expr{ExprKind::Name, span}, tree_.arena_.intern(kMatchSubject)); }
  Expr* constant(ast::ConstantKind kind, Span span, int64_t integer = 0, std::string_view text = {}) {
    return make<ast::Constant>(Expr{ExprKind::Constant, span}, kind, integer, 0.0, text);
  }
  Expr* integer(int64_t v, Span span) { return constant(ast::ConstantKind::Int, span, v); }
  Expr* compare(ast::CompareOp op, Expr* a, Expr* b, Span span) {
    return make<ast::Compare>(Expr{ExprKind::Compare, span}, a, list(std::vector<ast::CompareOp>{op}),
                              list(std::vector<Expr*>{b}));
  }
  Expr* all_of(std::vector<Expr*> tests, Span span) {
    std::erase(tests, nullptr);
    if (tests.empty()) return nullptr;
    if (tests.size() == 1) return tests.front();
    return make<ast::BoolOp>(Expr{ExprKind::BoolOp, span}, ast::BoolOpKind::And, list(tests));
  }
  /// `name := value` for a condition: a tuple around it is always true.
  Expr* bind(Identifier hidden_name, Expr* value, Span span) {
    auto* name = make<ast::Name>(Expr{ExprKind::Name, span}, tree_.arena_.intern("." + std::string(hidden_name)));
    Expr* named = make<ast::NamedExpr>(Expr{ExprKind::NamedExpr, span}, name, value);
    return make<ast::Tuple>(Expr{ExprKind::Tuple, span}, list(std::vector<Expr*>{named}), true);
  }
  Expr* part_of(Expr* parts, int64_t i, Span span) {
    auto* name = make<ast::Name>(Expr{ExprKind::Name, span}, static_cast<ast::Name*>(parts)->id);
    return make<ast::Subscript>(Expr{ExprKind::Subscript, span}, name, integer(i, span));
  }
  /// (.partN := FUNCTION(args)) is not None, and the name of what it gives.
  Expr* ask(std::string_view function, std::vector<Expr*> args, Span span, Expr*& parts) {
    auto* name = make<ast::Name>(Expr{ExprKind::Name, span}, tree_.arena_.intern(".part" + std::to_string(count_++)));
    Expr* callee = make<ast::Name>(Expr{ExprKind::Name, span}, tree_.arena_.intern(function));
    Expr* call = make<ast::Call>(Expr{ExprKind::Call, span}, callee, list(args), ast::List<ast::Keyword>());
    Expr* named = make<ast::NamedExpr>(Expr{ExprKind::NamedExpr, span}, name, call);
    parts = name;
    return compare(ast::CompareOp::IsNot, named, constant(ast::ConstantKind::None, span), span);
  }

  Expr* capture(const Token& token, Expr* value) {
    Identifier name = tree_.name(token);
    Span span = tree_.span(token);
    if (std::any_of(names_.begin(), names_.end(), [&](const auto& n) { return n.first == name; }))
      tree_.report(DiagnosticId::PatternNameTwice, span, {name});
    else
      names_.emplace_back(name, span);
    return bind(name, value, span);
  }

  Expr* pattern(Node* node, Expr* value) {
    Children children(node);
    std::vector<Node*> alternatives{children.node()};
    while (children.accept(TokenKind::Bar)) alternatives.push_back(children.node());
    Expr* test = alternatives.size() == 1 ? closed(alternatives.front(), value) : any_of(alternatives, value, tree_.span(node));
    if (children.accept(TokenKind::As)) {
      const Token& target = children.take();
      if (tree_.text(target) == "_") {
        tree_.report(DiagnosticId::PatternWildcardTarget, tree_.span(target));
        return test;
      }
      Expr* binding = capture(target, copy(value));
      return test ? all_of({test, binding}, tree_.span(node)) : binding_only(binding);
    }
    return test;
  }

  /// A value is a name or an item of a name; a node stands in one place of the tree only.
  Expr* copy(Expr* value) {
    if (value->kind == ExprKind::Name) return make<ast::Name>(*static_cast<ast::Name*>(value));
    auto* item = static_cast<ast::Subscript*>(value);
    return make<ast::Subscript>(Expr{ExprKind::Subscript, value->span}, copy(item->value),
                                make<ast::Constant>(*static_cast<ast::Constant*>(item->index)));
  }

  Expr* any_of(const std::vector<Node*>& alternatives, Expr* value, Span span) {
    const auto before = names_;
    std::vector<Expr*> outer = std::move(bindings_);
    std::vector<std::pair<Identifier, Span>> bound;
    std::vector<Expr*> tests;
    for (size_t i = 0; i < alternatives.size(); ++i) {
      names_ = before;
      bindings_.clear();
      Expr* test = closed(alternatives[i], copy(value));
      if (!test) {
        if (i + 1 < alternatives.size()) {
          const Token& token = first_token(alternatives[i]);
          tree_.report(DiagnosticId::PatternUnreachable, tree_.span(token), {irrefutable_reason(tree_.text(token))});
        }
        bindings_.push_back(constant(ast::ConstantKind::True, span));
        test = all_of(bindings_, span);
      }
      tests.push_back(test);
      auto key = [](auto names) {
        std::vector<Identifier> sorted;
        for (const auto& n : names) sorted.push_back(n.first);
        std::sort(sorted.begin(), sorted.end());
        return sorted;
      };
      if (i == 0)
        bound = names_;
      else if (key(bound) != key(names_))
        tree_.report(DiagnosticId::PatternNames, span);
    }
    names_ = bound;
    bindings_ = std::move(outer);
    return make<ast::BoolOp>(Expr{ExprKind::BoolOp, span}, ast::BoolOpKind::Or, list(tests));
  }

  Expr* closed(Node* node, Expr* value) {
    Children children(node);
    Span span = tree_.span(node);
    switch (children.kind()) {
      case TokenKind::None:
      case TokenKind::True:
      case TokenKind::False: return compare(ast::CompareOp::Is, value, literal(children, span), span);
      case TokenKind::Number:
      case TokenKind::Plus:
      case TokenKind::Minus:
      case TokenKind::String: return compare(ast::CompareOp::Eq, value, literal(children, span), span);
      case TokenKind::Name: return named(children, value, span);
      case TokenKind::Lparen: {
        children.take();
        if (children.at(TokenKind::Rparen)) return sequence(nullptr, value, span);
        Node* inner = children.node();
        Children parts(inner);
        if (parts.size() == 1 && parts.rule_index() == TflParser::RulePattern) return pattern(parts.node(), value);
        return sequence(inner, value, span);
      }
      case TokenKind::Lbracket:
        children.take();
        return sequence(children.at(TokenKind::Rbracket) ? nullptr : children.node(), value, span);
      default: children.take(); return mapping(children.at(TokenKind::Rbrace) ? nullptr : children.node(), value, span);
    }
  }

  Expr* literal(Children& children, Span span) {
    const Token& first = children.take();
    switch (first.kind) {
      case TokenKind::None: return constant(ast::ConstantKind::None, span);
      case TokenKind::True: return constant(ast::ConstantKind::True, span);
      case TokenKind::False: return constant(ast::ConstantKind::False, span);
      case TokenKind::String: {
        std::vector<Token> tokens{first};
        while (children.at(TokenKind::String)) tokens.push_back(children.take());
        Expr* e = tree_.strings(tokens);
        if (e->kind == ExprKind::FormattedString) tree_.report(DiagnosticId::PatternLiteral, span);
        return e;
      }
      case TokenKind::Plus: tree_.report(DiagnosticId::PatternLiteral, span); [[fallthrough]];
      case TokenKind::Minus: {
        Expr* e = tree_.number(children.take());
        e = make<ast::Unary>(Expr{ExprKind::Unary, span}, ast::UnaryOp::Minus, e);
        return complex_literal(children, e, span);
      }
      default: return complex_literal(children, tree_.number(first), span);
    }
  }

  Expr* complex_literal(Children& children, Expr* real, Span span) {
    auto imaginary = [](const Expr* e) {
      if (e->kind == ExprKind::Unary) e = static_cast<const ast::Unary*>(e)->operand;
      return static_cast<const ast::Constant*>(e)->constant == ast::ConstantKind::Imaginary;
    };
    if (!children.at(TokenKind::Plus) && !children.at(TokenKind::Minus)) return real;
    const Token& sign = children.take();
    Expr* second = tree_.number(children.take());
    if (imaginary(real)) tree_.report(DiagnosticId::PatternReal, real->span);
    if (!imaginary(second)) tree_.report(DiagnosticId::PatternImaginary, second->span);
    auto op = sign.kind == TokenKind::Plus ? ast::BinaryOp::Add : ast::BinaryOp::Sub;
    return make<ast::Binary>(Expr{ExprKind::Binary, span}, op, real, second, tree_.span(sign));
  }

  Expr* dotted(Children& children, const Token& first) {
    Expr* e = make<ast::Name>(Expr{ExprKind::Name, tree_.span(first)}, tree_.name(first));
    while (children.accept(TokenKind::Dot)) {
      const Token& part = children.take();
      e = make<ast::Attribute>(Expr{ExprKind::Attribute, tree_.span(first, part)}, e, tree_.name(part), tree_.span(part));
    }
    return e;
  }

  /// A name: a capture, the wildcard, a value with a dot in it, or a class.
  Expr* named(Children& children, Expr* value, Span span) {
    const Token& first = children.take();
    if (children.done()) {
      if (tree_.text(first) == "_") return nullptr;
      return binding_only(capture(first, value));
    }
    Expr* e = dotted(children, first);
    if (!children.accept(TokenKind::Lparen)) return compare(ast::CompareOp::Eq, value, e, span);
    return class_pattern(children.at(TokenKind::Rparen) ? nullptr : children.node(), e, value, span);
  }

  /// What only binds always matches: the binding waits for the end of the pattern.
  Expr* binding_only(Expr* binding) {
    bindings_.push_back(binding);
    return nullptr;
  }

  Expr* sequence(Node* node, Expr* value, Span span) {
    std::vector<Node*> items;
    int64_t star = -1;
    if (node) {
      Children children(node);
      while (!children.done()) {
        if (children.rule_index() == TflParser::RuleStar_pattern) {
          if (star >= 0) tree_.report(DiagnosticId::PatternStars, span);
          star = static_cast<int64_t>(items.size());
        }
        items.push_back(children.node());
        tree_.commas(children);
      }
    }
    Expr* parts;
    auto count = static_cast<int64_t>(items.size());
    std::vector<Expr*> tests{ask(".match_sequence", {value, integer(count, span), integer(star, span)}, span, parts)};
    for (int64_t i = 0; i < count; ++i) {
      Node* item = items[static_cast<size_t>(i)];
      Span place = tree_.span(item);
      if (item->getRuleIndex() == TflParser::RuleStar_pattern) {
        Children star_parts(item);
        star_parts.take();
        const Token& target = star_parts.take();
        if (tree_.text(target) != "_") tests.push_back(capture(target, part_of(parts, i, place)));
        continue;
      }
      inner(tests, item, part_of(parts, i, place));
    }
    return all_of(tests, span);
  }

  /// A pattern within another: what it tests and what it binds, in order.
  void inner(std::vector<Expr*>& tests, Node* item, Expr* value) {
    std::vector<Expr*> outer = std::move(bindings_);
    bindings_.clear();
    tests.push_back(pattern(item, value));
    for (Expr* b : bindings_) tests.push_back(b);
    bindings_ = std::move(outer);
  }

  Expr* mapping(Node* node, Expr* value, Span span) {
    std::vector<Expr*> keys;
    std::vector<Node*> values;
    const Token* rest = nullptr;
    if (node) {
      Children children(node);
      while (!children.done()) {
        Children entry(children.node());
        if (rest) tree_.report(DiagnosticId::UnexpectedToken, tree_.span(*rest), {"pattern behind '**'"});
        if (entry.accept(TokenKind::DoubleStar)) {
          rest = &entry.take();
          if (tree_.text(*rest) == "_") tree_.report(DiagnosticId::UnexpectedToken, tree_.span(*rest), {"'_' behind '**'"});
        } else {
          keys.push_back(key(entry.node()));
          entry.take();  // :
          values.push_back(entry.node());
        }
        tree_.commas(children);
      }
    }
    check_keys(keys);
    Expr* parts;
    Expr* all_keys = make<ast::Tuple>(Expr{ExprKind::Tuple, span}, list(keys), true);
    Expr* wants_rest = constant(rest ? ast::ConstantKind::True : ast::ConstantKind::False, span);
    std::vector<Expr*> tests{ask(".match_mapping", {value, all_keys, wants_rest}, span, parts)};
    for (size_t i = 0; i < values.size(); ++i)
      inner(tests, values[i], part_of(parts, static_cast<int64_t>(i), tree_.span(values[i])));
    if (rest && tree_.text(*rest) != "_")
      tests.push_back(capture(*rest, part_of(parts, static_cast<int64_t>(values.size()), tree_.span(*rest))));
    return all_of(tests, span);
  }

  Expr* key(Node* node) {
    Children children(node);
    Span span = tree_.span(node);
    if (children.at(TokenKind::Name)) {
      const Token& first = children.take();
      Expr* e = dotted(children, first);
      if (children.done() && e->kind == ExprKind::Attribute) return e;
    } else if (!is_open_bracket(children.kind())) {
      return literal(children, span);
    }
    tree_.report(DiagnosticId::PatternKey, span);
    return tree_.none(span);
  }

  void check_keys(const std::vector<Expr*>& keys) {
    for (size_t i = 0; i < keys.size(); ++i) {
      for (size_t k = 0; k < i; ++k) {
        if (keys[i]->kind != ExprKind::Constant || keys[k]->kind != ExprKind::Constant) continue;
        const auto *a = static_cast<ast::Constant*>(keys[i]), *b = static_cast<ast::Constant*>(keys[k]);
        if (a->constant != b->constant || a->integer != b->integer || a->real != b->real || a->text != b->text) continue;
        using Kind = ast::ConstantKind;
        std::string shown = a->constant == Kind::String  ? quote_text(a->text)
                            : a->constant == Kind::Bytes ? quote_bytes(a->text)
                            : a->constant == Kind::Int   ? std::to_string(a->integer)
                            : a->constant == Kind::Float ? float_repr(a->real)
                            : a->constant == Kind::None  ? "None"
                            : a->constant == Kind::True  ? "True"
                                                         : "False";
        tree_.report(DiagnosticId::PatternKeyTwice, keys[i]->span, {shown});
        return;
      }
    }
  }

  Expr* class_pattern(Node* node, Expr* cls, Expr* value, Span span) {
    std::vector<Node*> values;
    std::vector<Expr*> names;
    std::vector<Identifier> seen;
    int64_t positional = 0;
    if (node) {
      Children children(node);
      while (!children.done()) {
        Node* whole = children.node();
        Children argument(whole);
        Node* first = argument.node();
        if (argument.accept(TokenKind::Assign)) {
          const Token* name = tree_.bare_name(first);
          if (!name) tree_.report(DiagnosticId::PatternLiteral, tree_.span(first));
          Identifier id = name ? tree_.name(*name) : Identifier();
          if (std::find(seen.begin(), seen.end(), id) != seen.end())
            tree_.report(DiagnosticId::PatternAttributeTwice, tree_.span(first), {id});
          seen.push_back(id);
          names.push_back(constant(ast::ConstantKind::String, tree_.span(first), 0, id));
          values.push_back(argument.node());
        } else {
          if (!names.empty()) tree_.report(DiagnosticId::PatternPositionalLate, tree_.span(whole));
          ++positional;
          values.push_back(first);
        }
        tree_.commas(children);
      }
    }
    Expr* parts;
    Expr* all_names = make<ast::Tuple>(Expr{ExprKind::Tuple, span}, list(names), true);
    std::vector<Expr*> tests{ask(".match_class", {value, cls, integer(positional, span), all_names}, span, parts)};
    for (size_t i = 0; i < values.size(); ++i)
      inner(tests, values[i], part_of(parts, static_cast<int64_t>(i), tree_.span(values[i])));
    return all_of(tests, span);
  }

  TreeBuilder& tree_;
  std::vector<std::pair<Identifier, Span>> names_;
  std::vector<Expr*> bindings_;
  int count_ = 0;
};

void TreeBuilder::match_statement(Node* node, std::vector<Stmt*>& out) {
  Children children(node);
  const Token& word = children.take();
  Node* subject_node = children.node();
  Children subject_parts(subject_node);
  bool comma;
  std::vector<Expr*> subjects = items(subject_parts, comma);
  Expr* subject = sequence_or_only(subjects, comma, span(subject_node));
  auto* hidden = arena_.make<ast::Name>(Expr{ExprKind::Name, subject->span}, arena_.intern(kMatchSubject));
  out.push_back(
      arena_.make<ast::Assign>(Stmt{StmtKind::Assign, subject->span}, arena_.list(std::vector<Expr*>{hidden}), subject));
  for (int i = 0; i < 3; ++i) children.take();  // : NEWLINE INDENT

  struct Branch {
    Span span;
    Expr* condition;
    ast::Block body;
  };
  std::vector<Branch> branches;
  const Token* irrefutable = nullptr;
  while (!children.at_token()) {
    Node* clause = children.node();
    if (clause->getRuleIndex() == TflParser::RuleBad_statement) {
      bad_statement(clause, out);
      continue;
    }
    Children part(clause);
    const Token& case_word = part.take();
    if (irrefutable) {
      report(DiagnosticId::PatternUnreachable, span(*irrefutable), {irrefutable_reason(text(*irrefutable))});
      irrefutable = nullptr;
    }
    PatternBuilder patterns(*this);
    Node* pattern_node = part.node();
    Span place = span(pattern_node);
    Expr* condition = patterns.case_patterns(pattern_node);
    std::vector<Expr*> tests;
    std::vector<Expr*> bindings = patterns.take_bindings();
    const bool always = condition == nullptr;
    const bool guarded = part.accept(TokenKind::If);
    if (condition) {
      tests.push_back(condition);
      tests.insert(tests.end(), bindings.begin(), bindings.end());
    }
    // Names are bound when the whole pattern has matched, in front of the guard.
    std::vector<Stmt*> bound;
    for (size_t i = 0; i < patterns.names().size(); ++i) {
      const auto& [id, at] = patterns.names()[i];
      auto* target = arena_.make<ast::Name>(Expr{ExprKind::Name, at}, id);
      Expr* value = always ? patterns.bound_value(bindings[i]) : patterns.hidden(id, at);
      if (guarded) {
        Expr* named = arena_.make<ast::NamedExpr>(Expr{ExprKind::NamedExpr, at}, target, value);
        tests.push_back(arena_.make<ast::Tuple>(Expr{ExprKind::Tuple, at}, arena_.list(std::vector<Expr*>{named}), true));
      } else {
        bound.push_back(arena_.make<ast::Assign>(Stmt{StmtKind::Assign, at}, arena_.list(std::vector<Expr*>{target}), value));
      }
    }
    if (guarded) tests.push_back(named_test(part.node()));
    part.take();  // :
    ast::Block body = block(part.node());
    bound.insert(bound.end(), body.begin(), body.end());
    if (always && !guarded) irrefutable = &first_token(pattern_node);
    Expr* test = tests.size() == 1 ? tests.front()
                 : tests.empty()
                     ? nullptr
                     : arena_.make<ast::BoolOp>(Expr{ExprKind::BoolOp, place}, ast::BoolOpKind::And, arena_.list(tests));
    branches.push_back({to_end_of(span(case_word), body), test, arena_.list(bound)});
  }
  if (branches.size() > kMaxNesting) {
    report(DiagnosticId::TooManyBranches, span(word), {std::to_string(kMaxNesting)});
    branches.resize(1);
  }
  ast::Block orelse;
  for (size_t i = branches.size(); i-- > 0;) {
    Branch& b = branches[i];
    if (!b.condition) {  // the last
      if (i == 0) {
        out.insert(out.end(), b.body.begin(), b.body.end());
        return;
      }
      orelse = b.body;
      continue;
    }
    Span whole = to_end_of(b.span, orelse);
    Stmt* result = arena_.make<ast::If>(Stmt{StmtKind::If, whole}, b.condition, b.body, orelse);
    orelse = arena_.list(std::vector<Stmt*>{result});
  }
  out.insert(out.end(), orelse.begin(), orelse.end());
}

}  // namespace tfl::parse
