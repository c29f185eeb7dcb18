#include "frontend/interpreter/check/certainty.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "frontend/syntax/ast/walk.h"

namespace tfl::check {

using namespace ast;
using ast::each_block;
using ast::each_expression;
using ast::each_node;
using ast::List;
using ast::Module;
using ast::Tuple;

namespace {

/// Classes of which none is what this checker finds.
constexpr std::string_view kUnrelated[] = {
    "KeyboardInterrupt",   "SystemExit",      "OSError",       "IOError",           "FileNotFoundError",
    "PermissionError",     "FileExistsError", "StopIteration", "EOFError",          "RuntimeError",
    "NotImplementedError", "RecursionError",  "MemoryError",   "TimeoutError",      "UnicodeDecodeError",
    "UnicodeEncodeError",  "OverflowError",   "GeneratorExit", "StopAsyncIteration"};

bool unrelated(const Expr* type) {
  if (!type) return false;
  if (type->kind == ExprKind::Tuple) {
    for (const Expr* t : as<Tuple>(type)->items) {
      if (!unrelated(t)) return false;
    }
    return true;
  }
  return type->kind == ExprKind::Name &&
         std::find(std::begin(kUnrelated), std::end(kUnrelated), as<Name>(type)->id) != std::end(kUnrelated);
}

bool says_raises(std::string_view name) {
  for (std::string_view word : {"raise", "Raise", "suppress", "assertWarn", "expect", "fails"}) {
    if (name.find(word) != name.npos) return true;
  }
  return false;
}

/// Built-ins that call nothing of the script but what they are asked about.
bool is_builtin(std::string_view name) {
  for (std::string_view n : {"print",         "len",        "int",       "float",
                             "str",           "repr",       "bool",      "list",
                             "tuple",         "dict",       "set",       "range",
                             "open",          "isinstance", "type",      "sum",
                             "min",           "max",        "abs",       "round",
                             "enumerate",     "zip",        "reversed",  "iter",
                             "hash",          "id",         "ord",       "chr",
                             "hasattr",       "getattr",    "setattr",   "input",
                             "divmod",        "pow",        "bytes",     "format",
                             "super",         "ValueError", "TypeError", "RuntimeError",
                             "KeyError",      "IndexError", "Exception", "AssertionError",
                             "AttributeError"}) {
    if (n == name) return true;
  }
  return false;
}

}  // namespace

std::string_view called_name(const Expr* f) {
  if (f->kind == ExprKind::Name) return as<Name>(f)->id;
  if (f->kind == ExprKind::Attribute) return as<Attribute>(f)->name;
  if (f->kind == ExprKind::Call) return called_name(as<Call>(f)->function);
  return {};
}

bool Certainty::catches(const Try* s) {
  return std::any_of(s->handlers.begin(), s->handlers.end(), [](const ExceptHandler& h) { return !unrelated(h.type); });
}

bool Certainty::catches(const With* s) const {
  for (const WithItem& item : s->items) {
    bool found = false;
    each_node(item.context, [&](const Expr* e) {
      std::string_view name = e->kind == ExprKind::Call ? called_name(e) : std::string_view();
      found = found || says_raises(name) || functions_.contains(name);
      return !found;
    });
    if (found) return true;
  }
  return false;
}

bool Certainty::catches(const Call* c) const {
  std::string_view name = called_name(c->function);
  return says_raises(name) || catchers_.contains(name);
}

bool Certainty::guards(const Expr* condition) {
  bool found = false;
  each_node(condition, [&](const Expr* e) {
    if (e->kind == ExprKind::Call) {
      std::string_view name = called_name(as<Call>(e)->function);
      found |= name == "hasattr" || name == "getattr" || name == "callable" || name == "isinstance" || name == "dir" ||
               name == "find_spec";
    }
    if (e->kind == ExprKind::Attribute) {
      std::string_view name = as<Attribute>(e)->name;
      found |= name.find("version") != name.npos || name == "platform" || name == "modules" || name == "implementation";
    }
    if (e->kind == ExprKind::Name) found |= as<Name>(e)->id == "TYPE_CHECKING";
    if (e->kind == ExprKind::Constant) found |= as<Constant>(e)->constant == ConstantKind::False;
    return !found;
  });
  return found;
}

Certainty::Certainty(const Module& module) {
  // Twice: what a function catches counts for calls above it.
  for (int pass = 0; pass < 2; ++pass) {
    definitions_.clear();
    block(module.body, {}, false);
  }
  spread();
}

void Certainty::block(Block statements, std::string_view owner, bool caught) {
  for (const Stmt* s : statements) statement(s, owner, caught);
}

void Certainty::caught_call(const Call* c) {
  const Expr* f = c->function;
  std::string_view name = called_name(f);
  if (f->kind == ExprKind::Name) {
    called_safely_.insert(name);
    // A built-in, or something that came as an argument or out of a list.
    bool given = std::find(given_.begin(), given_.end(), name) != given_.end();
    if (given || (!functions_.contains(name) && !imports_.contains(name) && !is_builtin(name))) harness_ = true;
  } else if (f->kind == ExprKind::Attribute) {
    called_safely_.insert(name);
    const Expr* base = as<Attribute>(f)->value;
    while (base->kind == ExprKind::Attribute) base = as<Attribute>(base)->value;
    bool of_module = base->kind == ExprKind::Name && imports_.contains(as<Name>(base)->id);
    objects_ |= !of_module;
  } else {
    harness_ = true;
  }
}

void Certainty::expression(const Expr* whole, bool caught) {
  if (!whole) return;
  std::vector<std::pair<const Expr*, bool>> open{{whole, caught}};
  while (!open.empty()) {
    auto [e, safe] = open.back();
    open.pop_back();
    bool below = safe;
    if (e->kind == ExprKind::Call) {
      auto* c = as<Call>(e);
      if (safe) caught_call(c);
      below |= catches(c);
      std::string_view name = called_name(c->function);
      if ((name == "hasattr" || name == "getattr" || name == "setattr" || name == "delattr") && c->args.size() >= 2 &&
          c->args[1]->kind == ExprKind::Constant) {
        dynamic_.insert(as<Constant>(c->args[1])->text);
      }
      // What is called is no value that is handed on.
      if (c->function->kind != ExprKind::Name) open.push_back({c->function, below});
      for (const Expr* a : c->args) open.push_back({a, below});
      for (const Keyword& k : c->keywords) open.push_back({k.value, below});
      continue;
    }
    if (e->kind == ExprKind::Name) {
      handed_on_.insert(as<Name>(e)->id);
      if (safe) called_safely_.insert(as<Name>(e)->id);
      continue;
    }
    if (e->kind == ExprKind::Attribute) {
      handed_on_.insert(as<Attribute>(e)->name);
      if (safe) called_safely_.insert(as<Attribute>(e)->name);
    }
    if (e->kind == ExprKind::Lambda) {
      definitions_.push_back({e, {}, {}, nullptr});
      if (safe) uncertain_.insert(e);
    }
    if (safe && (e->kind == ExprKind::Binary || e->kind == ExprKind::Compare)) objects_ = true;
    ast::each_child(const_cast<Expr*>(e), [&](Expr*& child) { open.push_back({child, below}); });
  }
}

void Certainty::statement(const Stmt* s, std::string_view owner, bool caught) {
  each_expression(const_cast<Stmt*>(s), [&](Expr*& e) {
    if (e->kind == ExprKind::Attribute &&
        (s->kind == StmtKind::Assign || s->kind == StmtKind::AugAssign || s->kind == StmtKind::Delete)) {
      const Expr* root = as<Attribute>(e)->value;
      while (root->kind == ExprKind::Attribute) root = as<Attribute>(root)->value;
      bool target = s->kind != StmtKind::Assign || e != as<Assign>(s)->value;
      if (target && root->kind == ExprKind::Name && imports_.contains(as<Name>(root)->id))
        dynamic_.insert(as<Attribute>(e)->name);
    }
    expression(e, caught);
  });
  switch (s->kind) {
    case StmtKind::Import:
      for (const Alias& a : as<Import>(s)->names)
        imports_.insert(a.asname.empty() ? a.name.substr(0, a.name.find('.')) : a.asname);
      return;
    case StmtKind::ImportFrom:
      for (const Alias& a : as<ImportFrom>(s)->names) imports_.insert(a.asname.empty() ? a.name : a.asname);
      return;
    case StmtKind::FunctionDef: {
      auto* d = as<FunctionDef>(s);
      functions_.insert(d->name);
      definitions_.push_back({s, d->name, owner, s});
      if (caught) uncertain_.insert(s);
      if (!d->decorators.empty()) handed_on_.insert(d->name);
      // Does it call what it is given where it catches?
      bool before = std::exchange(harness_, false);
      size_t names = given_.size();
      for (const Parameter& p : d->params) given_.push_back(p.name);
      block(d->body, {}, false);
      given_.resize(names);
      if (harness_) catchers_.insert(d->name);
      harness_ |= before;
      return;
    }
    case StmtKind::ClassDef: {
      auto* c = as<ClassDef>(s);
      functions_.insert(c->name);
      if (caught) uncertain_.insert(s);
      block(c->body, c->name, caught);
      return;
    }
    case StmtKind::Try: {
      auto* t = as<Try>(s);
      block(t->body, owner, caught || catches(t));
      for (const ExceptHandler& h : t->handlers) block(h.body, owner, caught);
      block(t->orelse, owner, caught);
      block(t->finally, owner, caught);
      return;
    }
    case StmtKind::For:
      each_node(as<For>(s)->target, [&](const Expr* e) {
        if (e->kind == ExprKind::Name) given_.push_back(as<Name>(e)->id);
        return true;
      });
      block(as<For>(s)->body, owner, caught), block(as<For>(s)->orelse, owner, caught);
      return;
    case StmtKind::With: block(as<With>(s)->body, owner, caught || catches(as<With>(s))); return;
    default: each_block(const_cast<Stmt*>(s), [&](Block& b) { block(b, owner, caught); });
  }
}

/// What is called from where errors are caught calls others there.
void Certainty::spread() {
  auto counts_not = [&](const Definition& d) {
    if (uncertain_.contains(d.node)) return true;
    if (!d.body) return harness_;
    bool method = !d.owner.empty();
    if (called_safely_.contains(d.name) || (method && called_safely_.contains(d.owner))) return true;
    if (method && (objects_ || harness_)) return true;
    return harness_ && handed_on_.contains(d.name);
  };
  for (bool more = true; more;) {
    more = false;
    for (const Definition& d : definitions_) {
      if (!counts_not(d)) continue;
      if (uncertain_.insert(d.node).second) more = true;
      if (!d.body) continue;
      // All names in its body.
      std::vector<const Stmt*> open(as<FunctionDef>(d.body)->body.begin(), as<FunctionDef>(d.body)->body.end());
      while (!open.empty()) {
        Stmt* s = const_cast<Stmt*>(open.back());
        open.pop_back();
        each_expression(s, [&](Expr*& e) {
          each_node(e, [&](const Expr* n) {
            std::string_view name = n->kind == ExprKind::Name        ? as<Name>(n)->id
                                    : n->kind == ExprKind::Attribute ? as<Attribute>(n)->name
                                                                     : std::string_view();
            if (!name.empty() && called_safely_.insert(name).second) more = true;
            if (n->kind == ExprKind::Lambda && uncertain_.insert(n).second) more = true;
            return true;
          });
        });
        each_block(s, [&](Block& b) { open.insert(open.end(), b.begin(), b.end()); });
        if (s->kind == StmtKind::FunctionDef) {
          if (uncertain_.insert(s).second) more = true;
          open.insert(open.end(), as<FunctionDef>(s)->body.begin(), as<FunctionDef>(s)->body.end());
        }
        if (s->kind == StmtKind::ClassDef) open.insert(open.end(), as<ClassDef>(s)->body.begin(), as<ClassDef>(s)->body.end());
      }
    }
  }
}

}  // namespace tfl::check
