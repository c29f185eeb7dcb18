#include <fmt/core.h>

#include <vector>

#include "frontend/syntax/ast/unparse_writer.h"
#include "frontend/text/float_text.h"
#include "frontend/text/quote.h"

namespace tfl::ast {

namespace {

constexpr std::string_view kCompareText[] = {"==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"};
constexpr std::string_view kUnaryText[] = {"not ", "~", "+", "-"};

}  // namespace

void Writer::expr(const Expr* e, Level least) {
  bool wrap = level(e) < least;
  if (wrap) out += '(';
  bare(e);
  if (wrap) out += ')';
}

Level Writer::level(const Expr* e) {
  switch (e->kind) {
    case ExprKind::Yield:
    case ExprKind::Starred: return kAny;
    case ExprKind::YieldFrom: return as<YieldFrom>(e)->await ? kAwait : kAny;
    case ExprKind::Tuple: return as<Tuple>(e)->parenthesised || as<Tuple>(e)->items.empty() ? kPrimary : kAny;
    case ExprKind::Slice: return kPrimary;  // stands in brackets only
    case ExprKind::NamedExpr: return kNever;
    case ExprKind::Lambda: return kTest;
    case ExprKind::Conditional: return kConditional;
    case ExprKind::BoolOp: return as<BoolOp>(e)->op == BoolOpKind::Or ? kOr : kAnd;
    case ExprKind::Unary: return as<Unary>(e)->op == UnaryOp::Not ? kNot : kFactor;
    case ExprKind::Compare: return kCompare;
    case ExprKind::Binary: return kBinaryForms[static_cast<int>(as<Binary>(e)->op)].level;
    case ExprKind::Constant: {
      auto* c = as<Constant>(e);
      bool negative = (c->constant == ConstantKind::Int && c->integer < 0) || (c->constant == ConstantKind::Float && c->real < 0);
      return negative ? kFactor : kPrimary;
    }
    default: return kPrimary;
  }
}

void Writer::bare(const Expr* e) {
  std::vector<const Expr*> chain;
  while (e->kind == ExprKind::Binary && as<Binary>(e)->op != BinaryOp::Pow && level(as<Binary>(e)->left) >= level(e)) {
    chain.push_back(e);
    e = as<Binary>(e)->left;
  }
  if (chain.empty()) return primary_chain(e);
  expr(e, level(chain.back()));
  for (; !chain.empty(); chain.pop_back()) {
    auto* b = as<Binary>(chain.back());
    const BinaryForm& form = kBinaryForms[static_cast<int>(b->op)];
    out += fmt::format(" {} ", form.text);
    expr(b->right, tighter(form.level));
  }
}

void Writer::primary_chain(const Expr* e) {
  std::vector<const Expr*> chain;
  auto inner = [](const Expr* n) -> const Expr* {
    switch (n->kind) {
      case ExprKind::Attribute: return as<Attribute>(n)->value;
      case ExprKind::Call: return as<Call>(n)->function;
      case ExprKind::Subscript: return as<Subscript>(n)->value;
      default: return nullptr;
    }
  };
  while (const Expr* next = inner(e)) chain.push_back(e), e = next;
  if (chain.empty()) return atom(e);
  bool number = e->kind == ExprKind::Constant && as<Constant>(e)->constant == ConstantKind::Int &&
                chain.back()->kind == ExprKind::Attribute;
  if (number)
    out += '(', atom(e), out += ')';
  else
    expr(e, kPrimary);
  for (; !chain.empty(); chain.pop_back()) {
    const Expr* link = chain.back();
    if (link->kind == ExprKind::Attribute) {
      out += fmt::format(".{}", as<Attribute>(link)->name);
    } else if (link->kind == ExprKind::Subscript) {
      out += '[';
      const Expr* index = as<Subscript>(link)->index;
      if (index->kind == ExprKind::Tuple && !as<Tuple>(index)->parenthesised && !as<Tuple>(index)->items.empty())
        items(as<Tuple>(index)->items);
      else
        expr(index, kAny);
      out += ']';
    } else {
      arguments(as<Call>(link));
    }
  }
}

void Writer::atom(const Expr* e) {
  switch (e->kind) {
    case ExprKind::Constant: constant(as<Constant>(e)); break;
    case ExprKind::FormattedString:
      out += 'f';
      out += quote(formatted(as<FormattedString>(e)));
      break;
    case ExprKind::Name: out += as<Name>(e)->id; break;
    case ExprKind::Slice: {
      auto* s = as<Slice>(e);
      if (s->lower) expr(s->lower, kTest);
      out += ':';
      if (s->upper) expr(s->upper, kTest);
      if (s->step) out += ':', expr(s->step, kTest);
      break;
    }
    case ExprKind::Unary: {
      auto* u = as<Unary>(e);
      out += kUnaryText[static_cast<int>(u->op)];
      expr(u->operand, u->op == UnaryOp::Not ? kNot : kFactor);
      break;
    }
    case ExprKind::Binary: {
      auto* b = as<Binary>(e);
      const BinaryForm& form = kBinaryForms[static_cast<int>(b->op)];
      bool power = b->op == BinaryOp::Pow;
      expr(b->left, power ? kPrimary : form.level);
      out += power ? "**" : fmt::format(" {} ", form.text);
      expr(b->right, power ? kFactor : tighter(form.level));
      break;
    }
    case ExprKind::BoolOp: {
      auto* b = as<BoolOp>(e);
      bool first = true;
      for (const Expr* v : b->values) {
        if (!first) out += b->op == BoolOpKind::Or ? " or " : " and ";
        first = false;
        expr(v, tighter(level(e)));
      }
      break;
    }
    case ExprKind::Compare: {
      auto* c = as<Compare>(e);
      expr(c->left, kBitOr);
      for (size_t i = 0; i < c->ops.size(); ++i) {
        out += fmt::format(" {} ", kCompareText[static_cast<int>(c->ops[i])]);
        expr(c->comparators[i], kBitOr);
      }
      break;
    }
    case ExprKind::Conditional: {
      auto* c = as<Conditional>(e);
      expr(c->then_value, kOr);
      out += " if ";
      expr(c->condition, kOr);
      out += " else ";
      expr(c->else_value, kTest);
      break;
    }
    case ExprKind::Lambda:
      out += as<Lambda>(e)->params.empty() ? "lambda" : "lambda ";
      parameters(as<Lambda>(e)->params, false);
      out += ": ";
      expr(as<Lambda>(e)->body, kTest);
      break;
    case ExprKind::NamedExpr:
      out += fmt::format("{} := ", as<NamedExpr>(e)->target->id);
      expr(as<NamedExpr>(e)->value, kTest);
      break;
    case ExprKind::Starred:
      out += '*';
      expr(as<Starred>(e)->value, kBitOr);
      break;
    case ExprKind::Tuple: {
      auto* t = as<Tuple>(e);
      bool wrapped = t->parenthesised || t->items.empty();
      if (wrapped) out += '(';
      items(t->items);
      if (wrapped) out += ')';
      break;
    }
    case ExprKind::ListDisplay: out += '[', list(as<ListDisplay>(e)->items), out += ']'; break;
    case ExprKind::SetDisplay: out += '{', list(as<SetDisplay>(e)->items), out += '}'; break;
    case ExprKind::DictDisplay: {
      out += '{';
      bool first = true;
      for (const DictItem& item : as<DictDisplay>(e)->items) {
        if (!first) out += ", ";
        first = false;
        if (item.key)
          expr(item.key, kTest), out += ": ";
        else
          out += "**";
        expr(item.value, item.key ? kTest : kBitOr);
      }
      out += '}';
      break;
    }
    case ExprKind::Comprehension: comprehension(as<Comprehension>(e)); break;
    case ExprKind::Yield:
      out += "yield";
      if (as<Yield>(e)->value) out += ' ', expr(as<Yield>(e)->value, kAny);
      break;
    case ExprKind::YieldFrom:
      out += as<YieldFrom>(e)->await ? "await " : "yield from ";
      expr(as<YieldFrom>(e)->value, as<YieldFrom>(e)->await ? kPrimary : kTest);
      break;
    case ExprKind::Attribute:
    case ExprKind::Subscript:
    case ExprKind::Call: break;  // primary_chain
  }
}

void Writer::constant(const Constant* c) {
  switch (c->constant) {
    case ConstantKind::None: out += "None"; break;
    case ConstantKind::True: out += "True"; break;
    case ConstantKind::False: out += "False"; break;
    case ConstantKind::Ellipsis: out += "..."; break;
    case ConstantKind::Int: out += c->text.empty() ? std::to_string(c->integer) : std::string(c->text); break;
    case ConstantKind::Float: {
      std::string text = float_repr(c->real);
      out += text == "inf" ? "1e999" : text;
      break;
    }
    case ConstantKind::Imaginary: {
      std::string text = float_repr(c->real);
      if (text.ends_with(".0")) text.resize(text.size() - 2);
      out += (text == "inf" ? "1e999" : text) + "j";
      break;
    }
    case ConstantKind::String: out += quote_text(c->text); break;
    case ConstantKind::Bytes: out += quote_bytes(c->text); break;
  }
}

std::string Writer::formatted(const FormattedString* f) {
  std::string text;
  for (const FormatPart& part : f->parts) {
    if (!part.value) {
      for (char c : part.literal) {
        if (c == '{' || c == '}') text += c;
        if (c == '\n')
          text += "\\n";
        else if (c == '\\')
          text += "\\\\";
        else
          text += c;
      }
      continue;
    }
    Writer inner;
    inner.expr(part.value, kTest);
    text += inner.out.starts_with('{') ? "{ " : "{";
    text += inner.out;
    if (part.conversion) text += '!', text += part.conversion;
    if (part.spec) {
      text += ':';
      if (part.spec->kind == ExprKind::Constant)
        text += as<Constant>(static_cast<const Expr*>(part.spec))->text;
      else
        text += formatted(as<FormattedString>(static_cast<const Expr*>(part.spec)));
    }
    text += '}';
  }
  return text;
}

std::string Writer::quote(const std::string& text) {
  for (std::string_view mark : {"'", "\"", "'''", "\"\"\""}) {
    bool newline = text.find('\n') != text.npos && mark.size() == 1;
    if (text.find(mark) == text.npos && !newline && !text.ends_with(mark[0])) return std::string(mark) + text + std::string(mark);
  }
  return "'''" + text + "'''";
}

void Writer::list(List<Expr*> all) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (i) out += ", ";
    expr(all[i], all[i]->kind == ExprKind::Starred ? kAny : kNamed);
  }
}

void Writer::items(List<Expr*> all) {
  list(all);
  if (all.size() == 1) out += ',';
}

void Writer::arguments(const Call* c) {
  out += '(';
  bool first = true;
  auto next = [&] {
    if (!first) out += ", ";
    first = false;
  };
  for (const Expr* a : c->args) {
    next();
    bool sole = c->args.size() == 1 && c->keywords.empty() && a->kind == ExprKind::Comprehension &&
                as<Comprehension>(a)->comprehension == ComprehensionKind::Generator;
    if (sole)
      clauses(as<Comprehension>(a));
    else
      expr(a, a->kind == ExprKind::Starred ? kAny : kNamed);
  }
  for (const Keyword& k : c->keywords) {
    next();
    if (k.name.empty())
      out += "**", expr(k.value, kBitOr);
    else
      out += fmt::format("{}=", k.name), expr(k.value, kTest);
  }
  out += ')';
}

void Writer::clauses(const Comprehension* c) {
  expr(c->element, kNamed);
  if (c->value) out += ": ", expr(c->value, kTest);
  for (const ComprehensionFor& clause : c->clauses) {
    out += clause.asynchronous ? " async for " : " for ";
    expr(clause.target, kAny);
    out += " in ";
    expr(clause.iterable, kOr);
    for (const Expr* condition : clause.conditions) out += " if ", expr(condition, kOr);
  }
}

void Writer::comprehension(const Comprehension* c) {
  constexpr std::string_view kBrackets[] = {"[]", "{}", "{}", "()"};
  std::string_view brackets = kBrackets[static_cast<int>(c->comprehension)];
  out += brackets[0];
  clauses(c);
  out += brackets[1];
}

void Writer::parameters(List<Parameter> params, bool annotated) {
  bool first = true, keyword_only = false;
  for (size_t i = 0; i < params.size(); ++i) {
    const Parameter& p = params[i];
    if (!first) out += ", ";
    first = false;
    if (p.kind == ParamKind::KeywordOnly && !keyword_only) out += "*, ";
    if (p.kind == ParamKind::VarPositional) out += '*';
    if (p.kind == ParamKind::VarKeyword) out += "**";
    keyword_only = keyword_only || p.kind == ParamKind::VarPositional || p.kind == ParamKind::KeywordOnly;
    out += p.name;
    if (annotated && p.annotation) out += ": ", expr(p.annotation, kTest);
    if (p.default_value) out += annotated && p.annotation ? " = " : "=", expr(p.default_value, kTest);
    bool last_positional_only =
        p.kind == ParamKind::PositionalOnly && (i + 1 == params.size() || params[i + 1].kind != ParamKind::PositionalOnly);
    if (last_positional_only) out += ", /";
  }
}

}  // namespace tfl::ast
