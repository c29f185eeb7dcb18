#include "frontend/staging/autograph/liveness.h"

namespace tfl::autograph {

Liveness::Liveness(const FunctionDef* def, const LoopNotes& notes) : notes_(notes) {
  Names names;
  names_of(def->body, names);
  add(everywhere_, names.globals);
  add(everywhere_, names.nonlocals);
  collect(def->body);
  spread();
  block(def->body, {});
}

/// Notes which names are given a nested function, or something made from one.
void Liveness::collect(Block statements) {
  for (Stmt* s : statements) {
    Names names;
    own_names_of(s, names);
    Held held;
    if (s->kind == StmtKind::FunctionDef) {
      Captures c = captures_of(as<FunctionDef>(s));
      held = {c.reads, c.writes, names.reads};
    } else if (s->kind == StmtKind::ClassDef) {
      held = {names.reads, names.writes_from_inside, names.reads};
    } else if (s->kind != StmtKind::If && s->kind != StmtKind::While) {
      held.sources = names.reads;
      each_expression(s, [&](Expr* const& e) {
        each_node(e, [&](const Expr* node) {
          if (node->kind != ExprKind::Lambda) return true;
          Captures c = captures_of(as<Lambda>(node));
          add(held.reads, c.reads);
          add(held.writes, c.writes);
          return false;
        });
      });
    }
    NameSet targets = names.binds;
    add(targets, names.mutates);
    for (std::string_view target : targets) {
      Held& h = held_[target];
      add(h.reads, held.reads), add(h.writes, held.writes), add(h.sources, held.sources);
    }
    each_block(s, [&](const Block& b) { collect(b); });
  }
}

void Liveness::spread() {
  bool any = false;
  for (auto& [name, h] : held_) any = any || !h.reads.empty() || !h.writes.empty();
  if (!any) return held_.clear();
  bool changed = true;
  while (changed) {
    changed = false;
    for (auto& [name, h] : held_) {
      size_t before = h.reads.size() + h.writes.size();
      NameSet sources = h.sources;
      add(sources, h.reads);  // a captured name may itself hold a function
      for (std::string_view source : sources) {
        auto other = held_.find(source);
        if (other == held_.end() || other->first == name) continue;
        NameSet reads = other->second.reads, writes = other->second.writes;
        add(h.reads, reads), add(h.writes, writes);
      }
      changed = changed || h.reads.size() + h.writes.size() != before;
    }
  }
}

void Liveness::read(const NameSet& names, NameSet& live) const {
  add(live, names);
  if (held_.empty()) return;
  for (std::string_view n : names) {
    auto it = held_.find(n);
    if (it != held_.end()) add(live, it->second.reads);
  }
}

NameSet Liveness::writes_through(const Names& names) const {
  NameSet out = names.writes_from_inside;
  for (std::string_view n : names.reads) {
    auto it = held_.find(n);
    if (it != held_.end()) add(out, it->second.writes);
  }
  return out;
}

NameSet Liveness::block(Block b, NameSet out) {
  for (size_t i = b.size(); i > 0; --i) {
    add(out, everywhere_);
    out = statement(b[i - 1], std::move(out));
  }
  add(out, everywhere_);
  return out;
}

NameSet Liveness::statement(const Stmt* s, NameSet out) {
  switch (s->kind) {
    case StmtKind::If: {
      Flow flow;
      flow.out = out;
      flow.in = block(as<If>(s)->body, out);
      add(flow.in, block(as<If>(s)->orelse, out));
      NameSet live = flow.in;
      Names names;
      own_names_of(s, names);
      read(names.reads, live);
      flows_[s] = std::move(flow);
      return live;
    }
    case StmtKind::While:
    case StmtKind::For: return loop(s, std::move(out));
    case StmtKind::With: {
      Names names;
      own_names_of(s, names);
      NameSet live = block(as<With>(s)->body, std::move(out));
      for (std::string_view n : names.binds) live.erase(n);
      read(names.reads, live);
      return live;
    }
    case StmtKind::Try: return try_(as<Try>(s), std::move(out));
    case StmtKind::FunctionDef: {
      auto* def = as<FunctionDef>(s);
      out.erase(def->name);
      Names names;
      for (const Expr* d : def->decorators) names_of(d, names);
      for (const Parameter& p : def->params) {
        if (p.default_value) names_of(p.default_value, names);
      }
      if (!def->decorators.empty()) add(names.reads, captures_of(def).reads);
      read(names.reads, out);
      return out;
    }
    case StmtKind::Return: out.clear(); break;
    default: break;
  }
  Names names;
  own_names_of(s, names);
  for (std::string_view n : names.binds) out.erase(n);
  read(names.reads, out);
  return out;
}

NameSet Liveness::loop(const Stmt* s, NameSet out) {
  Names names;
  own_names_of(s, names);
  Flow flow;
  flow.out = out;
  NameSet head = out;
  auto note = notes_.find(s);
  if (note != notes_.end()) {
    for (Identifier flag : note->second.stop) head.insert(flag);
  }
  if (s->kind == StmtKind::While) read(names.reads, head);
  Block body = s->kind == StmtKind::While ? as<While>(s)->body : as<For>(s)->body;
  for (size_t before = head.size() + 1; before != head.size();) {
    before = head.size();
    NameSet live = block(body, head);
    if (s->kind == StmtKind::For) {
      Names target;
      target_names(as<For>(s)->target, target);
      for (std::string_view n : target.binds) live.erase(n);
      read(target.reads, live);
    }
    add(head, live);
  }
  flow.in = head;
  flows_[s] = std::move(flow);
  if (s->kind == StmtKind::For) read(names.reads, head);
  return head;
}

NameSet Liveness::try_(const Try* s, NameSet out) {
  NameSet last = block(s->finally, std::move(out));
  NameSet handlers = last;
  for (const ExceptHandler& h : s->handlers) {
    NameSet live = block(h.body, last);
    live.erase(h.name);
    add(handlers, live);
  }
  Names names;
  own_names_of(s, names);
  read(names.reads, handlers);
  NameSet otherwise = block(s->orelse, last);
  // An exception may leave the body anywhere.
  NameSet outer = everywhere_;
  add(everywhere_, handlers);
  NameSet live = block(s->body, otherwise);
  everywhere_ = std::move(outer);
  return live;
}

}  // namespace tfl::autograph
