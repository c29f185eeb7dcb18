#include "frontend/syntax/ast/dump.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "frontend/syntax/ast/class_arguments.h"

namespace tfl::ast {
namespace {

constexpr std::string_view kBinary[] = {"+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^"};
constexpr std::string_view kUnary[] = {"not", "~", "+", "-"};
constexpr std::string_view kCompare[] = {"==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"};
constexpr std::string_view kComprehension[] = {"list", "set", "dict", "generator"};
constexpr std::string_view kParam[] = {"positional-only", "positional", "*", "keyword-only", "**"};

template <class Enum, size_t n>
std::string_view text(const std::string_view (&names)[n], Enum value) {
  return names[static_cast<size_t>(value)];
}

/// Text as a Python literal would show it, without prefix.
std::string quoted(std::string_view s, bool bytes = false) {
  std::string out = "'";
  for (char c : s) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      out += "\\n";
    else if (c == '\\' || c == '\'')
      (out += '\\') += c;
    else if (byte < 0x20 || byte == 0x7F || (bytes && byte >= 0x80))
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out + "'";
}

/// Chains to the left (Binary, Attribute, Call, Subscript) may be very long; they are dumped outermost first, and their spine is
/// followed in a loop.
class Dumper {
 public:
  std::string out;

  void block(std::string_view label, Block body) {
    if (body.empty()) return;
    line(label);
    ++depth_;
    for (const Stmt* s : body) stmt(s);
    --depth_;
  }

  void stmt(const Stmt* s) {
    switch (s->kind) {
      case StmtKind::Expression: head(s->span, "Expression"); return child(as<Expression>(s)->value);
      case StmtKind::Assign:
        head(s->span, "Assign");
        for (const Expr* t : as<Assign>(s)->targets) labelled("target", t);
        return labelled("value", as<Assign>(s)->value);
      case StmtKind::AugAssign:
        head(s->span, fmt::format("AugAssign {}=", text(kBinary, as<AugAssign>(s)->op)));
        labelled("target", as<AugAssign>(s)->target);
        return labelled("value", as<AugAssign>(s)->value);
      case StmtKind::AnnAssign:
        head(s->span, as<AnnAssign>(s)->simple ? "AnnAssign simple" : "AnnAssign");
        labelled("target", as<AnnAssign>(s)->target);
        labelled("annotation", as<AnnAssign>(s)->annotation);
        return labelled("value", as<AnnAssign>(s)->value);
      case StmtKind::If: return if_chain(as<If>(s));
      case StmtKind::While:
        head(s->span, "While");
        labelled("condition", as<While>(s)->condition);
        return body(as<While>(s)->body, as<While>(s)->orelse);
      case StmtKind::For:
        head(s->span, as<For>(s)->asynchronous ? "For async" : "For");
        labelled("target", as<For>(s)->target);
        labelled("iterable", as<For>(s)->iterable);
        return body(as<For>(s)->body, as<For>(s)->orelse);
      case StmtKind::Break: return head(s->span, "Break");
      case StmtKind::Continue: return head(s->span, "Continue");
      case StmtKind::Pass: return head(s->span, "Pass");
      case StmtKind::Return: head(s->span, "Return"); return child(as<Return>(s)->value);
      case StmtKind::FunctionDef: {
        const auto* f = as<FunctionDef>(s);
        head(s->span, fmt::format("FunctionDef {}{}", f->asynchronous ? "async " : "", f->name));
        for (const Expr* d : f->decorators) labelled("decorator", d);
        params(f->params);
        labelled("returns", f->returns);
        return body(f->body, {});
      }
      case StmtKind::ClassDef: {
        const auto* c = as<ClassDef>(s);
        head(s->span, fmt::format("ClassDef {}", c->name));
        for (const Expr* d : c->decorators) labelled("decorator", d);
        labelled("base", only_base(c));
        if (const Call* call = class_arguments(c)) {
          for (const Expr* b : call->args) labelled("base", b);
          keywords(call);
        }
        return body(c->body, {});
      }
      case StmtKind::With:
        head(s->span, as<With>(s)->asynchronous ? "With async" : "With");
        for (const WithItem& item : as<With>(s)->items) {
          labelled("context", item.context);
          labelled("as", item.target);
        }
        return body(as<With>(s)->body, {});
      case StmtKind::Try: {
        const auto* t = as<Try>(s);
        head(s->span, "Try");
        body(t->body, {});
        ++depth_;
        for (const ExceptHandler& h : t->handlers) {
          head(h.span, fmt::format("except{}{}{}", t->groups ? "*" : "", h.name.empty() ? "" : " as ", h.name));
          child(h.type);
          body(h.body, {});
        }
        block("else", t->orelse);
        block("finally", t->finally);
        --depth_;
        return;
      }
      case StmtKind::Raise:
        head(s->span, "Raise");
        labelled("exception", as<Raise>(s)->exception);
        return labelled("from", as<Raise>(s)->cause);
      case StmtKind::Assert:
        head(s->span, "Assert");
        labelled("condition", as<Assert>(s)->condition);
        return labelled("message", as<Assert>(s)->message);
      case StmtKind::Import: head(s->span, "Import"); return aliases(as<Import>(s)->names);
      case StmtKind::ImportFrom:
        head(s->span, fmt::format("ImportFrom {}", as<ImportFrom>(s)->module));
        return aliases(as<ImportFrom>(s)->names);
      case StmtKind::Global: return head(s->span, "Global" + joined(as<Global>(s)->names));
      case StmtKind::Nonlocal: return head(s->span, "Nonlocal" + joined(as<Nonlocal>(s)->names));
      case StmtKind::Delete:
        head(s->span, "Delete");
        for (const Expr* t : as<Delete>(s)->targets) child(t);
        return;
    }
  }

  void expr(const Expr* e) {
    size_t outer = depth_;
    while (e != nullptr) e = node(e);
    depth_ = outer;
  }

 private:
  /// Chains may be a million deep: beyond kMaxIndent the lines keep their order, but not their distance from the margin.
  void indent() { out.append(2 * std::min(depth_, kMaxIndent), ' '); }
  void line(std::string_view s) {
    indent();
    (out += s) += '\n';
  }
  void head(Span s, std::string_view what) {
    indent();
    out += fmt::format("{} {}:{}-{}:{}\n", what, s.line, s.column, s.end_line, s.end_column);
  }
  void child(const Expr* e) {
    if (e == nullptr) return;
    ++depth_;
    expr(e);
    --depth_;
  }
  void labelled(std::string_view label, const Expr* e) {
    if (e == nullptr) return;
    ++depth_;
    line(label);
    child(e);
    --depth_;
  }
  void keywords(const Call* call) {
    for (const Keyword& k : call->keywords) labelled(k.name.empty() ? "**" : fmt::format("{}=", k.name), k.value);
  }
  void body(Block first, Block orelse) {
    ++depth_;
    block("body", first);
    block("else", orelse);
    --depth_;
  }

  void if_chain(const If* s) {
    head(s->span, "If");
    labelled("condition", s->condition);
    body(s->body, s->orelse);
  }

  void params(List<Parameter> list) {
    ++depth_;
    for (const Parameter& p : list) {
      head(p.span, fmt::format("param {} {}", text(kParam, p.kind), p.name));
      labelled("annotation", p.annotation);
      labelled("default", p.default_value);
    }
    --depth_;
  }

  void aliases(List<Alias> names) {
    ++depth_;
    for (const Alias& a : names) head(a.span, a.asname.empty() ? std::string(a.name) : fmt::format("{} as {}", a.name, a.asname));
    --depth_;
  }

  static std::string joined(List<Identifier> names) {
    std::string s;
    for (Identifier name : names) (s += ' ') += name;
    return s;
  }

  /// Dumps `e` but for its left spine, and returns what comes next on the spine, one level deeper.
  const Expr* node(const Expr* e) {
    switch (e->kind) {
      case ExprKind::Constant: head(e->span, constant(*as<Constant>(e))); return nullptr;
      case ExprKind::FormattedString:
        head(e->span, "FormattedString");
        ++depth_;
        for (const FormatPart& p : as<FormattedString>(e)->parts) {
          if (p.value == nullptr) {
            line(quoted(p.literal));
            continue;
          }
          line(p.conversion != 0 ? fmt::format("field !{}", p.conversion) : "field");
          child(p.value);
          labelled("spec", p.spec);
        }
        --depth_;
        return nullptr;
      case ExprKind::Name: head(e->span, fmt::format("Name {}", as<Name>(e)->id)); return nullptr;
      case ExprKind::Attribute:
        head(e->span, fmt::format("Attribute {}", as<Attribute>(e)->name));
        ++depth_;
        return as<Attribute>(e)->value;
      case ExprKind::Subscript:
        head(e->span, "Subscript");
        labelled("index", as<Subscript>(e)->index);
        ++depth_;
        return as<Subscript>(e)->value;
      case ExprKind::Slice:
        head(e->span, "Slice");
        labelled("lower", as<Slice>(e)->lower);
        labelled("upper", as<Slice>(e)->upper);
        labelled("step", as<Slice>(e)->step);
        return nullptr;
      case ExprKind::Call:
        head(e->span, "Call");
        for (const Expr* a : as<Call>(e)->args) labelled("arg", a);
        keywords(as<Call>(e));
        ++depth_;
        return as<Call>(e)->function;
      case ExprKind::Unary:
        head(e->span, fmt::format("Unary {}", text(kUnary, as<Unary>(e)->op)));
        ++depth_;
        return as<Unary>(e)->operand;
      case ExprKind::Binary:
        head(e->span, fmt::format("Binary {}", text(kBinary, as<Binary>(e)->op)));
        labelled("right", as<Binary>(e)->right);
        ++depth_;
        return as<Binary>(e)->left;
      case ExprKind::BoolOp:
        head(e->span, as<BoolOp>(e)->op == BoolOpKind::And ? "BoolOp and" : "BoolOp or");
        for (const Expr* v : as<BoolOp>(e)->values) child(v);
        return nullptr;
      case ExprKind::Compare:
        head(e->span, "Compare");
        child(as<Compare>(e)->left);
        for (size_t i = 0; i < as<Compare>(e)->ops.size(); ++i) {
          labelled(text(kCompare, as<Compare>(e)->ops[i]), as<Compare>(e)->comparators[i]);
        }
        return nullptr;
      case ExprKind::Conditional:
        head(e->span, "Conditional");
        labelled("condition", as<Conditional>(e)->condition);
        labelled("then", as<Conditional>(e)->then_value);
        labelled("else", as<Conditional>(e)->else_value);
        return nullptr;
      case ExprKind::Lambda:
        head(e->span, "Lambda");
        params(as<Lambda>(e)->params);
        ++depth_;
        return as<Lambda>(e)->body;
      case ExprKind::NamedExpr:
        head(e->span, fmt::format("NamedExpr {}", as<NamedExpr>(e)->target->id));
        ++depth_;
        return as<NamedExpr>(e)->value;
      case ExprKind::Starred:
        head(e->span, "Starred");
        ++depth_;
        return as<Starred>(e)->value;
      case ExprKind::Tuple:
        head(e->span, as<Tuple>(e)->parenthesised ? "Tuple ()" : "Tuple");
        for (const Expr* v : as<Tuple>(e)->items) child(v);
        return nullptr;
      case ExprKind::ListDisplay:
        head(e->span, "List");
        for (const Expr* v : as<ListDisplay>(e)->items) child(v);
        return nullptr;
      case ExprKind::SetDisplay:
        head(e->span, "Set");
        for (const Expr* v : as<SetDisplay>(e)->items) child(v);
        return nullptr;
      case ExprKind::DictDisplay:
        head(e->span, "Dict");
        for (const DictItem& item : as<DictDisplay>(e)->items) {
          labelled("key", item.key);
          labelled(item.key != nullptr ? "value" : "**", item.value);
        }
        return nullptr;
      case ExprKind::Comprehension: {
        const auto* c = as<Comprehension>(e);
        head(e->span, fmt::format("Comprehension {}", text(kComprehension, c->comprehension)));
        labelled("element", c->element);
        labelled("value", c->value);
        for (const ComprehensionFor& f : c->clauses) {
          labelled(f.asynchronous ? "async for" : "for", f.target);
          labelled("in", f.iterable);
          for (const Expr* condition : f.conditions) labelled("if", condition);
        }
        return nullptr;
      }
      case ExprKind::Yield:
        head(e->span, "Yield");
        ++depth_;
        return as<Yield>(e)->value;
      case ExprKind::YieldFrom:
        head(e->span, as<YieldFrom>(e)->await ? "Await" : "YieldFrom");
        ++depth_;
        return as<YieldFrom>(e)->value;
    }
    return nullptr;
  }

  static std::string constant(const Constant& c) {
    switch (c.constant) {
      case ConstantKind::None: return "None";
      case ConstantKind::True: return "True";
      case ConstantKind::False: return "False";
      case ConstantKind::Ellipsis: return "Ellipsis";
      case ConstantKind::Int: return c.text.empty() ? fmt::format("Int {}", c.integer) : fmt::format("Int {}", c.text);
      case ConstantKind::Float: return fmt::format("Float {}", c.real);
      case ConstantKind::Imaginary: return fmt::format("Imaginary {}", c.real);
      case ConstantKind::String: return "String " + quoted(c.text);
      case ConstantKind::Bytes: return "Bytes " + quoted(c.text, true);
    }
    return {};
  }

  static constexpr size_t kMaxIndent = 64;
  size_t depth_ = 0;
};

}  // namespace

std::string dump_ast(const Module& module) {
  Dumper dumper;
  dumper.block("Module", module.body);
  return std::move(dumper.out);
}

std::string dump_ast(const Expr& expr) {
  Dumper dumper;
  dumper.expr(&expr);
  return std::move(dumper.out);
}

}  // namespace tfl::ast
