#include "frontend/ast/unparse.h"

#include <fmt/core.h>

#include <vector>

#include "frontend/text/float_text.h"
#include "frontend/text/quote.h"

namespace tfl::ast {

namespace {

/// How tightly a form binds; an operand that binds less is put in parentheses.
enum Level : int {
  kAny, kNamed, kTest, kConditional, kOr, kAnd, kNot, kCompare, kBitOr, kBitXor, kBitAnd, kShift, kSum, kTerm, kFactor, kPower, kPrimary,
};

struct BinaryForm {
  std::string_view text;
  Level level;
};

constexpr BinaryForm kBinary[] = {{"+", kSum}, {"-", kSum}, {"*", kTerm}, {"/", kTerm}, {"//", kTerm}, {"%", kTerm}, {"**", kPower},
                                  {"@", kTerm}, {"<<", kShift}, {">>", kShift}, {"&", kBitAnd}, {"|", kBitOr}, {"^", kBitXor}};
constexpr std::string_view kCompareText[] = {"==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"};
constexpr std::string_view kUnaryText[] = {"not ", "~", "+", "-"};

class Writer {
 public:
  std::string out;

  void expr(const Expr* e, Level least) {
    bool wrap = level(e) < least;
    if (wrap) out += '(';
    bare(e);
    if (wrap) out += ')';
  }

  void block(Block b, int indent) {
    for (const Stmt* s : b) statement(s, indent);
    if (b.empty()) line(indent), out += "pass\n";
  }

  void statement(const Stmt* s, int indent) {
    line(indent);
    switch (s->kind) {
      case StmtKind::Expression: expr(as<Expression>(s)->value, kAny); break;
      case StmtKind::Assign:
        for (const Expr* t : as<Assign>(s)->targets) expr(t, kAny), out += " = ";
        expr(as<Assign>(s)->value, kAny);
        break;
      case StmtKind::AugAssign:
        expr(as<AugAssign>(s)->target, kAny);
        out += fmt::format(" {}= ", kBinary[static_cast<int>(as<AugAssign>(s)->op)].text);
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
        out += "for ";
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
        out += fmt::format("def {}(", def->name);
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
        if (def->base) out += '(', expr(def->base, kTest), out += ')';
        suite(def->body, indent);
        return;
      }
      case StmtKind::With: {
        out += "with ";
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

 private:
  static Level level(const Expr* e) {
    switch (e->kind) {
      case ExprKind::Yield:
      case ExprKind::YieldFrom:
      case ExprKind::Starred: return kAny;
      case ExprKind::Tuple: return as<Tuple>(e)->parenthesised || as<Tuple>(e)->items.empty() ? kPrimary : kAny;
      case ExprKind::Slice: return kPrimary;  // stands in brackets only
      case ExprKind::NamedExpr: return kNamed;
      case ExprKind::Lambda: return kTest;
      case ExprKind::Conditional: return kConditional;
      case ExprKind::BoolOp: return as<BoolOp>(e)->op == BoolOpKind::Or ? kOr : kAnd;
      case ExprKind::Unary: return as<Unary>(e)->op == UnaryOp::Not ? kNot : kFactor;
      case ExprKind::Compare: return kCompare;
      case ExprKind::Binary: return kBinary[static_cast<int>(as<Binary>(e)->op)].level;
      case ExprKind::Constant: {
        auto* c = as<Constant>(e);
        bool negative = (c->constant == ConstantKind::Int && c->integer < 0) || (c->constant == ConstantKind::Float && c->real < 0);
        return negative ? kFactor : kPrimary;
      }
      default: return kPrimary;
    }
  }

  static Level tighter(Level l) { return static_cast<Level>(l + 1); }

  // Chains on the left may be of any length.
  void bare(const Expr* e) {
    std::vector<const Expr*> chain;
    while (e->kind == ExprKind::Binary && as<Binary>(e)->op != BinaryOp::Pow && level(as<Binary>(e)->left) >= level(e)) {
      chain.push_back(e);
      e = as<Binary>(e)->left;
    }
    if (chain.empty()) return primary_chain(e);
    expr(e, level(chain.back()));
    for (; !chain.empty(); chain.pop_back()) {
      auto* b = as<Binary>(chain.back());
      const BinaryForm& form = kBinary[static_cast<int>(b->op)];
      out += fmt::format(" {} ", form.text);
      expr(b->right, tighter(form.level));
    }
  }

  void primary_chain(const Expr* e) {
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
    bool number = e->kind == ExprKind::Constant && as<Constant>(e)->constant == ConstantKind::Int && chain.back()->kind == ExprKind::Attribute;
    if (number) out += '(', atom(e), out += ')';
    else expr(e, kPrimary);
    for (; !chain.empty(); chain.pop_back()) {
      const Expr* link = chain.back();
      if (link->kind == ExprKind::Attribute) {
        out += fmt::format(".{}", as<Attribute>(link)->name);
      } else if (link->kind == ExprKind::Subscript) {
        out += '[';
        const Expr* index = as<Subscript>(link)->index;
        if (index->kind == ExprKind::Tuple && !as<Tuple>(index)->items.empty()) items(as<Tuple>(index)->items);
        else expr(index, kAny);
        out += ']';
      } else {
        arguments(as<Call>(link));
      }
    }
  }

  void atom(const Expr* e) {
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
        const BinaryForm& form = kBinary[static_cast<int>(b->op)];
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
      case ExprKind::ListDisplay:
        out += '[', list(as<ListDisplay>(e)->items), out += ']';
        break;
      case ExprKind::SetDisplay:
        out += '{', list(as<SetDisplay>(e)->items), out += '}';
        break;
      case ExprKind::DictDisplay: {
        out += '{';
        bool first = true;
        for (const DictItem& item : as<DictDisplay>(e)->items) {
          if (!first) out += ", ";
          first = false;
          if (item.key) expr(item.key, kTest), out += ": ";
          else out += "**";
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
        out += "yield from ";
        expr(as<YieldFrom>(e)->value, kTest);
        break;
      case ExprKind::Attribute:
      case ExprKind::Subscript:
      case ExprKind::Call: break;  // primary_chain
    }
  }

  void constant(const Constant* c) {
    switch (c->constant) {
      case ConstantKind::None: out += "None"; break;
      case ConstantKind::True: out += "True"; break;
      case ConstantKind::False: out += "False"; break;
      case ConstantKind::Ellipsis: out += "..."; break;
      case ConstantKind::Int: out += std::to_string(c->integer); break;
      case ConstantKind::Float: {
        std::string text = float_repr(c->real);
        out += text == "inf" ? "1e999" : text;
        break;
      }
      case ConstantKind::String: out += quote_text(c->text); break;
      case ConstantKind::Bytes: out += quote_bytes(c->text); break;
    }
  }

  /// What stands between the quotes of an f-string, braces doubled.
  std::string formatted(const FormattedString* f) {
    std::string text;
    for (const FormatPart& part : f->parts) {
      if (!part.value) {
        for (char c : part.literal) {
          if (c == '{' || c == '}') text += c;
          if (c == '\n') text += "\\n";
          else if (c == '\\') text += "\\\\";
          else text += c;
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
        if (part.spec->kind == ExprKind::Constant) text += as<Constant>(static_cast<const Expr*>(part.spec))->text;
        else text += formatted(as<FormattedString>(static_cast<const Expr*>(part.spec)));
      }
      text += '}';
    }
    return text;
  }

  /// In quotes that do not occur inside, so that expressions of an f-string stay as they are.
  static std::string quote(const std::string& text) {
    for (std::string_view mark : {"'", "\"", "'''", "\"\"\""}) {
      bool newline = text.find('\n') != text.npos && mark.size() == 1;
      if (text.find(mark) == text.npos && !newline && !text.ends_with(mark[0])) return std::string(mark) + text + std::string(mark);
    }
    return "'''" + text + "'''";
  }

  void list(List<Expr*> all) {
    for (size_t i = 0; i < all.size(); ++i) {
      if (i) out += ", ";
      expr(all[i], all[i]->kind == ExprKind::Starred ? kAny : kNamed);
    }
  }

  void items(List<Expr*> all) {
    list(all);
    if (all.size() == 1) out += ',';
  }

  void arguments(const Call* c) {
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
      if (sole) clauses(as<Comprehension>(a));
      else expr(a, a->kind == ExprKind::Starred ? kAny : kNamed);
    }
    for (const Keyword& k : c->keywords) {
      next();
      if (k.name.empty()) out += "**", expr(k.value, kBitOr);
      else out += fmt::format("{}=", k.name), expr(k.value, kTest);
    }
    out += ')';
  }

  void clauses(const Comprehension* c) {
    expr(c->element, kNamed);
    if (c->value) out += ": ", expr(c->value, kTest);
    for (const ComprehensionFor& clause : c->clauses) {
      out += " for ";
      expr(clause.target, kAny);
      out += " in ";
      expr(clause.iterable, kOr);
      for (const Expr* condition : clause.conditions) out += " if ", expr(condition, kOr);
    }
  }

  void comprehension(const Comprehension* c) {
    constexpr std::string_view kBrackets[] = {"[]", "{}", "{}", "()"};
    std::string_view brackets = kBrackets[static_cast<int>(c->comprehension)];
    out += brackets[0];
    clauses(c);
    out += brackets[1];
  }

  void parameters(List<Parameter> params, bool annotated) {
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
      bool last_positional_only = p.kind == ParamKind::PositionalOnly && (i + 1 == params.size() || params[i + 1].kind != ParamKind::PositionalOnly);
      if (last_positional_only) out += ", /";
    }
  }

  void decorators(List<Expr*> all, int indent) {
    for (const Expr* d : all) {
      out += '@';
      expr(d, kNamed);
      out += '\n';
      line(indent);
    }
  }

  void if_chain(const If* s, int indent) {
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

  void try_(const Try* s, int indent) {
    out += "try";
    suite(s->body, indent);
    for (const ExceptHandler& h : s->handlers) {
      line(indent);
      out += "except";
      if (h.type) out += ' ', expr(h.type, kTest);
      if (!h.name.empty()) out += fmt::format(" as {}", h.name);
      suite(h.body, indent);
    }
    otherwise("else", s->orelse, indent);
    otherwise("finally", s->finally, indent);
  }

  void otherwise(std::string_view word, Block b, int indent) {
    if (b.empty()) return;
    line(indent);
    out += word;
    suite(b, indent);
  }

  void suite(Block b, int indent) {
    out += ":\n";
    block(b, indent + 1);
  }

  void aliases(List<Alias> names) {
    for (size_t i = 0; i < names.size(); ++i) {
      if (i) out += ", ";
      out += names[i].name;
      if (!names[i].asname.empty()) out += fmt::format(" as {}", names[i].asname);
    }
  }

  void identifiers(List<Identifier> names) {
    for (size_t i = 0; i < names.size(); ++i) {
      if (i) out += ", ";
      out += names[i];
    }
  }

  void line(int indent) { out.append(static_cast<size_t>(indent) * 4, ' '); }
};

}  // namespace

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
  Writer w;
  w.block(block, level);
  return std::move(w.out);
}

}  // namespace tfl::ast
