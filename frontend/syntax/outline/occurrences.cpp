#include "frontend/syntax/outline/occurrences.h"

#include <cctype>
#include <unordered_map>
#include <unordered_set>

#include "frontend/syntax/ast/walk.h"
#include "frontend/syntax/parse/parse.h"
#include "frontend/syntax/scope/scope.h"

namespace tfl {

namespace {

using namespace ast;
using scope::Scope;
using scope::Storage;
using scope::Symbol;

class Finder {
 public:
  Finder(const Source& source, scope::ScopeTree& tree) : source_(source), tree_(tree) {
    int n = 0;
    for (const Scope& s : tree_.scopes) numbers_[&s] = n++;
  }

  Occurrences run(const Module& module) {
    block(module.body, tree_.module(), -1);
    for (NameRow& row : out_.names) {
      if (row.kind.empty()) {
        auto it = kinds_.find(row.key);
        row.kind = it != kinds_.end() ? it->second : row.key.starts_with("b:") ? "builtin" : "variable";
      }
    }
    return std::move(out_);
  }

 private:
  std::string key_of(std::string_view id, const Scope& from) {
    std::string_view name = tree_.mangle(from, id);
    const Scope* owner = &from;
    const Symbol* here = from.find(name);
    if (!here) return "b:" + std::string(id);
    bool own = from.kind == scope::ScopeKind::Module || here->storage == Storage::Local || here->storage == Storage::Cell ||
               (from.kind == scope::ScopeKind::Class && here->bound && !here->global && !here->nonlocal);
    if (!own) {
      owner = &tree_.module();
      if (here->storage == Storage::Free || here->storage == Storage::NamespaceOrFree) {
        for (const Scope* s = from.parent; s; s = s->parent) {
          const Symbol* sym = s->is_function() ? s->find(name) : nullptr;
          if (sym && (sym->storage == Storage::Cell || sym->storage == Storage::Local)) {
            owner = s;
            break;
          }
        }
      }
    }
    const Symbol* found = owner->find(name);
    if (owner == &tree_.module() && !(found && found->bound) && !tree_.module_names.contains(name)) return "b:" + std::string(id);
    return std::to_string(numbers_[owner]) + ":" + std::string(name);
  }

  void name(std::string_view id, Span span, const Scope& scope, bool definition, std::string_view kind = {}) {
    if (span.line == 0) return;
    std::string key = key_of(id, scope);
    if (definition && !kind.empty()) kinds_.emplace(key, kind);
    out_.names.push_back({span.line, span.column, count_characters(id), std::move(key), {}, definition});
  }

  /// Where `id` stands as a word of its own in a region: the first place, or the last.
  Span word(std::string_view id, Span region, bool last) const {
    Span found;
    for (uint32_t line = region.line; line <= region.end_line; ++line) {
      std::string_view text = source_.line(line);
      uint32_t column = 0;
      for (size_t at = 0; at < text.size();) {
        bool inside = (line > region.line || column >= region.column) && (line < region.end_line || column < region.end_column);
        if (text[at] == '#') break;
        size_t end = at;
        while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_' ||
                                     static_cast<unsigned char>(text[end]) >= 0x80)) {
          ++end;
        }
        if (end == at) {
          ++at, ++column;
          continue;
        }
        std::string_view here = text.substr(at, end - at);
        uint32_t width = count_characters(here);
        if (inside && here == id) {
          found = {line, column, line, column + width};
          if (!last) return found;
        }
        column += width;
        at = end;
      }
    }
    return found;
  }

  void expressions(const Expr* start, const Scope& start_scope) {
    std::vector<std::pair<const Expr*, const Scope*>> open{{start, &start_scope}};
    while (!open.empty()) {
      auto [e, scope] = open.back();
      open.pop_back();
      if (!e) continue;
      switch (e->kind) {
        case ExprKind::Name:
          name(as<Name>(e)->id, e->span, *scope, stores_.contains(e), stores_.contains(e) ? "variable" : "");
          break;
        case ExprKind::Attribute: {
          auto* a = as<Attribute>(e);
          if (a->name_span.line)
            out_.names.push_back({a->name_span.line, a->name_span.column, count_characters(a->name), "", "property", false});
          open.push_back({a->value, scope});
          break;
        }
        case ExprKind::NamedExpr:
          stores_.insert(as<NamedExpr>(e)->target);
          open.push_back({as<NamedExpr>(e)->target, scope});
          open.push_back({as<NamedExpr>(e)->value, scope});
          break;
        case ExprKind::Lambda: {
          auto* l = as<Lambda>(e);
          auto it = tree_.by_node.find(e);
          const Scope* inner = it == tree_.by_node.end() ? scope : it->second;
          for (const Parameter& p : l->params) {
            if (p.default_value) open.push_back({p.default_value, scope});
            parameter(p, *inner);
          }
          open.push_back({l->body, inner});
          break;
        }
        case ExprKind::Comprehension: {
          auto* c = as<Comprehension>(e);
          auto it = tree_.by_node.find(e);
          const Scope* inner = it == tree_.by_node.end() ? scope : it->second;
          bool first = true;
          for (const ComprehensionFor& clause : c->clauses) {
            open.push_back({clause.iterable, first ? scope : inner});
            first = false;
            stores(clause.target);
            open.push_back({clause.target, inner});
            for (const Expr* condition : clause.conditions) open.push_back({condition, inner});
          }
          open.push_back({c->element, inner});
          if (c->value) open.push_back({c->value, inner});
          break;
        }
        default:
          const Scope* here = scope;
          ast::each_child(const_cast<Expr*>(e), [&](Expr*& child) { open.push_back({child, here}); });
      }
    }
  }

  void parameter(const Parameter& p, const Scope& inner) {
    if (!p.name.empty()) name(p.name, word(p.name, p.span, false), inner, true, "parameter");
  }

  void stores(const Expr* target) {
    ast::each_node(target, [&](const Expr* e) {
      if (e->kind == ExprKind::Name) stores_.insert(e);
      return e->kind == ExprKind::Tuple || e->kind == ExprKind::ListDisplay || e->kind == ExprKind::Starred;
    });
  }

  void symbol(std::string_view kind, std::string_view id, Span span, Span at, int parent) {
    out_.symbols.push_back({kind, std::string(id), span, at, parent});
  }

  void block(Block statements, const Scope& scope, int parent) {
    for (const Stmt* s : statements) statement(s, scope, parent);
  }

  bool in_class(int parent) const { return parent >= 0 && out_.symbols[static_cast<size_t>(parent)].kind == "class"; }

  void statement(const Stmt* s, const Scope& scope, int parent) {
    if (s->span.end_line > s->span.line) out_.folds.push_back({s->span.line, s->span.end_line});
    switch (s->kind) {
      case StmtKind::FunctionDef: {
        auto* d = as<FunctionDef>(s);
        auto it = tree_.by_node.find(s);
        const Scope& inner = it == tree_.by_node.end() ? scope : *it->second;
        for (const Expr* e : d->decorators) expressions(e, scope);
        name(d->name, d->name_span, scope, true, "function");
        symbol(in_class(parent) ? "method" : "function", d->name, s->span, d->name_span, parent);
        auto self = static_cast<int>(out_.symbols.size()) - 1;
        for (const Parameter& p : d->params) {
          if (p.default_value) expressions(p.default_value, scope);
          if (p.annotation) expressions(p.annotation, scope);
          parameter(p, inner);
        }
        if (d->returns) expressions(d->returns, scope);
        return block(d->body, inner, self);
      }
      case StmtKind::ClassDef: {
        auto* c = as<ClassDef>(s);
        auto it = tree_.by_node.find(s);
        const Scope& inner = it == tree_.by_node.end() ? scope : *it->second;
        for (const Expr* e : c->decorators) expressions(e, scope);
        if (c->base) expressions(c->base, scope);
        name(c->name, c->name_span, scope, true, "class");
        symbol("class", c->name, s->span, c->name_span, parent);
        return block(c->body, inner, static_cast<int>(out_.symbols.size()) - 1);
      }
      case StmtKind::Import:
        for (const Alias& a : as<Import>(s)->names) {
          std::string_view bound = a.asname.empty() ? a.name.substr(0, a.name.find('.')) : a.asname;
          name(bound, word(bound, a.span, !a.asname.empty()), scope, true, "namespace");
        }
        return;
      case StmtKind::ImportFrom:
        for (const Alias& a : as<ImportFrom>(s)->names) {
          std::string_view bound = a.asname.empty() ? a.name : a.asname;
          if (bound != "*") name(bound, word(bound, a.span, !a.asname.empty()), scope, true, "variable");
        }
        return;
      case StmtKind::Global:
      case StmtKind::Nonlocal: {
        auto names = s->kind == StmtKind::Global ? as<Global>(s)->names : as<Nonlocal>(s)->names;
        for (Identifier id : names) name(id, word(id, s->span, false), scope, false);
        return;
      }
      case StmtKind::Assign: {
        auto* a = as<Assign>(s);
        for (const Expr* t : a->targets) stores(t);
        if (a->targets.size() == 1 && a->targets[0]->kind == ExprKind::Name) {
          std::string_view id = as<Name>(a->targets[0])->id;
          Span function = a->value->kind == ExprKind::Call ? as<Call>(a->value)->function->span : Span{};
          out_.assignments.push_back({key_of(id, scope), a->value->span, function});
          bool shown = scope.kind == scope::ScopeKind::Module || scope.kind == scope::ScopeKind::Class;
          if (shown) symbol("variable", id, s->span, a->targets[0]->span, parent);
        }
        break;
      }
      case StmtKind::AugAssign: stores(as<AugAssign>(s)->target); break;
      case StmtKind::AnnAssign: {
        const Expr* t = as<AnnAssign>(s)->target;
        stores(t);
        if (t->kind == ExprKind::Name && (in_class(parent) || scope.kind == scope::ScopeKind::Module))
          symbol("variable", as<Name>(t)->id, s->span, t->span, parent);
        break;
      }
      case StmtKind::For: stores(as<For>(s)->target); break;
      case StmtKind::With:
        for (const WithItem& item : as<With>(s)->items) {
          if (item.target) stores(item.target);
        }
        break;
      case StmtKind::Try:
        for (const ExceptHandler& h : as<Try>(s)->handlers) {
          if (h.name.empty()) continue;
          Span region = h.span;
          if (h.type) region.line = h.type->span.end_line, region.column = h.type->span.end_column;
          name(h.name, word(h.name, region, false), scope, true, "variable");
        }
        break;
      default: break;
    }
    ast::each_expression(const_cast<Stmt*>(s), [&](Expr*& e) { expressions(e, scope); });
    // An `elif` is an If in the If before it: those follow each other in a loop.
    while (s->kind == StmtKind::If && as<If>(s)->orelse.size() == 1 && as<If>(s)->orelse[0]->kind == StmtKind::If) {
      block(as<If>(s)->body, scope, parent);
      s = as<If>(s)->orelse[0];
      expressions(as<If>(s)->condition, scope);
    }
    ast::each_block(const_cast<Stmt*>(s), [&](Block& b) { block(b, scope, parent); });
  }

  const Source& source_;
  scope::ScopeTree& tree_;
  Occurrences out_;
  std::unordered_map<const Scope*, int> numbers_;
  std::unordered_map<std::string, std::string_view> kinds_;
  std::unordered_set<const Expr*> stores_;  // names that are given a value there
};

}  // namespace

Occurrences find_occurrences(const Source& source) {
  ParseResult parsed = parse_tolerant(source);
  std::vector<Diagnostic> ignored;
  auto scopes = scope::analyse_scopes(parsed.module, ignored);
  return Finder(source, *scopes).run(parsed.module);
}

}  // namespace tfl
