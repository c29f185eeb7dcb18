#include "frontend/staging/autograph/definite.h"

#include <algorithm>
#include <iterator>

#include "frontend/syntax/ast/walk.h"

namespace tfl::autograph {

namespace {

/// The variables that have a value at a point. A point that is never reached has them all.
struct Assigned {
  NameSet names;
  bool dead = false;

  void meet(const Assigned& other) {
    if (other.dead) return;
    if (dead) {
      *this = other;
      return;
    }
    names = common(names, other.names);
  }
};

class Analysis {
 public:
  explicit Analysis(const NameSet& locals) : locals_(locals) {}
  NameSet unsafe;  // perhaps read without a value
  NameSet early;   // with a value before the first compound statement that binds them

  void function(Block body, Assigned at) {
    NameSet met;
    for (Stmt* s : body) {
      bool compound = false;
      each_block(s, [&](const Block&) { compound = true; });
      if (compound) {
        Names names;
        names_of(s, names);
        for (std::string_view n : names.binds) {
          if (met.insert(n).second && at.names.contains(n)) early.insert(n);
        }
      }
      statement(s, at);
    }
  }

 private:
  void read(const Names& names, const Assigned& at) {
    if (at.dead) return;
    for (std::string_view n : names.reads) {
      if (locals_.contains(n) && !at.names.contains(n)) unsafe.insert(n);
    }
  }

  void block(Block b, Assigned& at) {
    for (Stmt* s : b) statement(s, at);
  }

  void statement(Stmt* s, Assigned& at) {
    Names names;
    own_names_of(s, names);
    switch (s->kind) {
      case StmtKind::If: {
        read(names, at);
        Assigned other = at;
        block(as<If>(s)->body, at);
        block(as<If>(s)->orelse, other);
        at.meet(other);
        return;
      }
      case StmtKind::While:
      case StmtKind::For: return loop(s, names, at);
      case StmtKind::Try: return try_(as<Try>(s), names, at);
      case StmtKind::With:
        read(names, at);
        add(at.names, names.binds);
        block(as<With>(s)->body, at);
        return;
      case StmtKind::Return:
      case StmtKind::Raise:
        read(names, at);
        at.dead = true;
        return;
      case StmtKind::Break:
        broken_.meet(at);
        at.dead = true;
        return;
      case StmtKind::Continue: at.dead = true; return;
      case StmtKind::Delete:
        read(names, at);
        for (std::string_view n : names.binds) at.names.erase(n);
        return;
      default:
        read(names, at);
        add(at.names, names.binds);
        return;
    }
  }

  void loop(Stmt* s, const Names& names, Assigned& at) {
    read(names, at);
    Assigned outer = std::move(broken_);
    broken_ = {{}, true};
    Assigned inside = at;
    bool endless = false;
    if (s->kind == StmtKind::While) {
      endless = is_true(as<While>(s)->condition);
      block(as<While>(s)->body, inside);
    } else {
      add(inside.names, names.binds);
      block(as<For>(s)->body, inside);
    }
    // What the body deletes may be gone at the start of the next iteration.
    Names body;
    each_block(s, [&](const Block& b) { deleted(b, body.binds); });
    for (std::string_view n : body.binds) unsafe.insert(n), at.names.erase(n);
    Assigned broken = std::move(broken_);
    broken_ = std::move(outer);
    if (endless) at.dead = true;
    block(s->kind == StmtKind::While ? as<While>(s)->orelse : as<For>(s)->orelse, at);
    at.meet(broken);
  }

  static void deleted(Block b, NameSet& out) {
    for (Stmt* s : b) {
      if (s->kind == StmtKind::Delete) {
        Names names;
        own_names_of(s, names);
        add(out, names.binds);
      }
      each_block(s, [&](const Block& inner) { deleted(inner, out); });
    }
  }

  // An exception may come from anywhere in the body.
  void try_(Try* s, const Names& names, Assigned& at) {
    Assigned start = at;
    read(names, at);
    block(s->body, at);
    block(s->orelse, at);
    for (ExceptHandler& h : s->handlers) {
      Assigned handler = start;
      if (!h.name.empty()) handler.names.insert(h.name);
      block(h.body, handler);
      handler.names.erase(h.name);
      at.meet(handler);
    }
    Assigned last = start;
    block(s->finally, last);
    if (last.dead && !start.dead)
      at.dead = true;
    else
      add(at.names, last.names);
  }

  const NameSet& locals_;
  Assigned broken_{{}, true};
};

}  // namespace

NameSet always_assigned(const FunctionDef* def) {
  Names names;
  names_of(def->body, names);
  NameSet locals = names.binds;
  for (const NameSet* other : {&names.globals, &names.nonlocals, &names.writes_from_inside}) {
    for (std::string_view n : *other) locals.erase(n);
  }
  Assigned start;
  for (const Parameter& p : def->params) start.names.insert(p.name);
  Analysis analysis(locals);
  analysis.function(def->body, start);
  NameSet out;
  for (std::string_view n : locals) {
    if (!analysis.unsafe.contains(n) && !analysis.early.contains(n) && !start.names.contains(n)) out.insert(n);
  }
  return out;
}

}  // namespace tfl::autograph
