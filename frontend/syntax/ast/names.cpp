#include "frontend/syntax/ast/names.h"

#include <algorithm>
#include <array>

namespace tfl::ast {

namespace {

void names_of_optional(const Expr* e, Names& out) {
  if (e) names_of(e, out);
}

void comprehension_names(const Comprehension* c, Names& out) {
  Names inner;
  NameSet own;
  for (size_t i = 0; i < c->clauses.size(); ++i) {
    const ComprehensionFor& clause = c->clauses[i];
    names_of(clause.iterable, i == 0 ? out : inner);
    Names target;
    target_names(clause.target, target);
    add(own, target.binds);
    add(inner.reads, target.reads);
    for (const Expr* condition : clause.conditions) names_of(condition, inner);
  }
  names_of(c->element, inner);
  names_of_optional(c->value, inner);
  for (std::string_view n : inner.reads) {
    if (!own.contains(n)) out.reads.insert(n);
  }
  add(out.binds, inner.binds);  // of :=
  add(out.mutates, inner.mutates);
  add(out.writes_from_inside, inner.writes_from_inside);
}

void take(const Captures& captures, Names& out) {
  add(out.reads, captures.reads);
  add(out.writes_from_inside, captures.writes);
}

Captures captures_of_class(const ClassDef* def) {
  // The class body reads as it runs; its own names hide nothing from its methods, but almost always mean themselves.
  Names body;
  names_of(def->body, body);
  Captures out;
  for (std::string_view n : body.reads) {
    if (!body.binds.contains(n)) out.reads.insert(n);
  }
  out.writes = body.writes_from_inside;
  return out;
}

void defaults_of(List<Parameter> params, Names& out) {
  for (const Parameter& p : params) names_of_optional(p.default_value, out);
}

void note_composite(const Expr* target, Names& out) {
  std::string text = composite_text(target);
  if (!text.empty()) out.composites.emplace(std::move(text), target);
}

}  // namespace

bool is_mutating_method(std::string_view name) {
  constexpr std::array kNames = {"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

void names_of(const Expr* e, Names& out) {
  // The left side of a chain may be of any length.
  for (;;) {
    switch (e->kind) {
      case ExprKind::Name: out.reads.insert(as<Name>(e)->id); return;
      case ExprKind::Binary:
        names_of(as<Binary>(e)->right, out);
        e = as<Binary>(e)->left;
        continue;
      case ExprKind::Attribute: e = as<Attribute>(e)->value; continue;
      case ExprKind::Subscript:
        names_of(as<Subscript>(e)->index, out);
        e = as<Subscript>(e)->value;
        continue;
      case ExprKind::Call: {
        auto* call = as<Call>(e);
        for (const Expr* a : call->args) names_of(a, out);
        for (const Keyword& k : call->keywords) names_of(k.value, out);
        if (call->function->kind == ExprKind::Attribute) {
          auto* method = as<Attribute>(static_cast<const Expr*>(call->function));
          if (method->value->kind == ExprKind::Name && is_mutating_method(method->name)) {
            out.mutates.insert(as<Name>(static_cast<const Expr*>(method->value))->id);
          }
        }
        e = call->function;
        continue;
      }
      case ExprKind::Lambda:
        defaults_of(as<Lambda>(e)->params, out);
        take(captures_of(as<Lambda>(e)), out);
        return;
      case ExprKind::Comprehension: comprehension_names(as<Comprehension>(e), out); return;
      case ExprKind::NamedExpr:
        names_of(as<NamedExpr>(e)->value, out);
        out.binds.insert(as<NamedExpr>(e)->target->id);
        return;
      default: each_child(const_cast<Expr*>(e), [&](Expr* const& child) { names_of(child, out); }); return;
    }
  }
}

void target_names(const Expr* target, Names& out) {
  switch (target->kind) {
    case ExprKind::Name: out.binds.insert(as<Name>(target)->id); return;
    case ExprKind::Starred: target_names(as<Starred>(target)->value, out); return;
    case ExprKind::Tuple:
      for (const Expr* t : as<Tuple>(target)->items) target_names(t, out);
      return;
    case ExprKind::ListDisplay:
      for (const Expr* t : as<ListDisplay>(target)->items) target_names(t, out);
      return;
    default:
      names_of(target, out);
      note_composite(target, out);
      // An item of a local list or array: assigning it changes what the name stands for.
      if (target->kind == ExprKind::Subscript && as<Subscript>(target)->value->kind == ExprKind::Name) {
        const Expr* key = as<Subscript>(target)->index;
        bool text = key->kind == ExprKind::Constant && as<Constant>(key)->constant == ConstantKind::String;
        if (!text) out.mutates.insert(as<Name>(static_cast<const Expr*>(as<Subscript>(target)->value))->id);
      }
  }
}

void own_names_of(const Stmt* s, Names& out) {
  switch (s->kind) {
    case StmtKind::Assign:
      names_of(as<Assign>(s)->value, out);
      for (const Expr* t : as<Assign>(s)->targets) target_names(t, out);
      break;
    case StmtKind::AugAssign:
      names_of(as<AugAssign>(s)->target, out);
      names_of(as<AugAssign>(s)->value, out);
      target_names(as<AugAssign>(s)->target, out);
      break;
    case StmtKind::AnnAssign:
      if (as<AnnAssign>(s)->value) {
        names_of(as<AnnAssign>(s)->value, out);
        target_names(as<AnnAssign>(s)->target, out);
      }
      break;
    case StmtKind::For:
      names_of(as<For>(s)->iterable, out);
      target_names(as<For>(s)->target, out);
      break;
    case StmtKind::With:
      for (const WithItem& item : as<With>(s)->items) {
        names_of(item.context, out);
        if (item.target) target_names(item.target, out);
      }
      break;
    case StmtKind::Try:
      for (const ExceptHandler& h : as<Try>(s)->handlers) {
        names_of_optional(h.type, out);
        if (!h.name.empty()) out.binds.insert(h.name);
      }
      break;
    case StmtKind::Delete:
      for (const Expr* t : as<Delete>(s)->targets) {
        target_names(t, out);
        if (t->kind == ExprKind::Name) out.reads.insert(as<Name>(t)->id);
      }
      break;
    case StmtKind::FunctionDef: {
      auto* def = as<FunctionDef>(s);
      for (const Expr* d : def->decorators) names_of(d, out);
      defaults_of(def->params, out);
      take(captures_of(def), out);
      out.binds.insert(def->name);
      break;
    }
    case StmtKind::ClassDef: {
      auto* def = as<ClassDef>(s);
      for (const Expr* d : def->decorators) names_of(d, out);
      names_of_optional(def->base, out);
      take(captures_of_class(def), out);
      out.binds.insert(def->name);
      break;
    }
    case StmtKind::Import:
      for (const Alias& a : as<Import>(s)->names)
        out.binds.insert(a.asname.empty() ? a.name.substr(0, a.name.find('.')) : a.asname);
      break;
    case StmtKind::ImportFrom:
      for (const Alias& a : as<ImportFrom>(s)->names) out.binds.insert(a.asname.empty() ? a.name : a.asname);
      break;
    case StmtKind::Global:
      for (Identifier id : as<Global>(s)->names) out.globals.insert(id);
      break;
    case StmtKind::Nonlocal:
      for (Identifier id : as<Nonlocal>(s)->names) out.nonlocals.insert(id);
      break;
    default: each_expression(const_cast<Stmt*>(s), [&](Expr* const& e) { names_of(e, out); }); break;
  }
}

void names_of(const Stmt* s, Names& out) {
  own_names_of(s, out);
  each_block(const_cast<Stmt*>(s), [&](const Block& b) { names_of(b, out); });
}

void names_of(Block block, Names& out) {
  for (const Stmt* s : block) names_of(s, out);
}

Captures captures_of(const FunctionDef* def) {
  Names body;
  names_of(def->body, body);
  NameSet own = body.binds;
  for (const Parameter& p : def->params) own.insert(p.name);
  for (std::string_view n : body.nonlocals) own.erase(n);
  for (std::string_view n : body.globals) own.erase(n);
  Captures out;
  auto outside = [&](std::string_view n) { return !own.contains(n) && !body.globals.contains(n); };
  for (std::string_view n : body.reads) {
    if (outside(n)) out.reads.insert(n);
  }
  for (std::string_view n : body.writes_from_inside) {
    if (outside(n)) out.writes.insert(n);
  }
  for (std::string_view n : body.nonlocals) {
    out.reads.insert(n);
    if (body.binds.contains(n)) out.writes.insert(n);
  }
  return out;
}

Captures captures_of(const Lambda* lambda) {
  Names body;
  names_of(lambda->body, body);
  NameSet own;
  for (const Parameter& p : lambda->params) own.insert(p.name);
  Captures out;
  for (std::string_view n : body.reads) {
    if (!own.contains(n)) out.reads.insert(n);
  }
  out.writes = body.writes_from_inside;
  return out;
}

void all_identifiers(const Expr* e, NameSet& out) {
  each_node(e, [&](const Expr* node) {
    if (node->kind == ExprKind::Name) out.insert(as<Name>(node)->id);
    if (node->kind == ExprKind::NamedExpr) out.insert(as<NamedExpr>(node)->target->id);
    if (node->kind == ExprKind::Lambda) {
      for (const Parameter& p : as<Lambda>(node)->params) out.insert(p.name);
    }
    return true;
  });
}

void all_identifiers(const Stmt* s, NameSet& out) {
  Names names;
  own_names_of(s, names);
  add(out, names.reads);
  add(out, names.binds);
  add(out, names.globals);
  add(out, names.nonlocals);
  each_expression(const_cast<Stmt*>(s), [&](Expr* const& e) { all_identifiers(e, out); });
  each_block(const_cast<Stmt*>(s), [&](const Block& b) {
    for (const Stmt* inner : b) all_identifiers(inner, out);
  });
  if (s->kind == StmtKind::FunctionDef) {
    for (const Parameter& p : as<FunctionDef>(s)->params) out.insert(p.name);
    for (const Stmt* inner : as<FunctionDef>(s)->body) all_identifiers(inner, out);
  }
  if (s->kind == StmtKind::ClassDef) {
    for (const Stmt* inner : as<ClassDef>(s)->body) all_identifiers(inner, out);
  }
}

std::string composite_text(const Expr* e) {
  std::vector<std::string> parts;
  for (; e->kind != ExprKind::Name;) {
    if (e->kind == ExprKind::Attribute) {
      parts.push_back("." + std::string(as<Attribute>(e)->name));
      e = as<Attribute>(e)->value;
    } else if (e->kind == ExprKind::Subscript && as<Subscript>(e)->index->kind == ExprKind::Constant) {
      auto* key = as<Constant>(static_cast<const Expr*>(as<Subscript>(e)->index));
      bool on_name = as<Subscript>(e)->value->kind == ExprKind::Name;
      if (key->constant == ConstantKind::String)
        parts.push_back("['" + std::string(key->text) + "']");
      else if (key->constant == ConstantKind::Int && (!on_name || !parts.empty()))
        parts.push_back("[" + std::to_string(key->integer) + "]");
      else
        return {};
      e = as<Subscript>(e)->value;
    } else {
      return {};
    }
  }
  if (parts.empty()) return {};
  std::string out(as<Name>(e)->id);
  std::reverse(parts.begin(), parts.end());
  for (const std::string& p : parts) out += p;
  return out;
}

std::string_view root_of(const Expr* e) {
  for (;;) {
    if (e->kind == ExprKind::Attribute)
      e = as<Attribute>(e)->value;
    else if (e->kind == ExprKind::Subscript)
      e = as<Subscript>(e)->value;
    else
      break;
  }
  return e->kind == ExprKind::Name ? as<Name>(e)->id : std::string_view();
}

bool contains_walrus(const Expr* e) {
  bool found = false;
  each_node(e, [&](const Expr* node) {
    found = found || node->kind == ExprKind::NamedExpr;
    return node->kind != ExprKind::Lambda;
  });
  return found;
}

namespace {

bool yields(const Expr* e) {
  bool found = false;
  each_node(e, [&](const Expr* node) {
    found = found || node->kind == ExprKind::Yield || node->kind == ExprKind::YieldFrom;
    return node->kind != ExprKind::Lambda && node->kind != ExprKind::Comprehension;
  });
  return found;
}

bool yields(Block block) {
  for (Stmt* s : block) {
    bool found = false;
    each_expression(s, [&](Expr* const& e) { found = found || yields(e); });
    each_block(s, [&](const Block& b) { found = found || yields(b); });
    if (found) return true;
  }
  return false;
}

}  // namespace

bool is_generator(const FunctionDef* def) { return def->asynchronous || yields(def->body); }

}  // namespace tfl::ast
