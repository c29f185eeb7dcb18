#include "frontend/staging/autograph/jumps.h"

#include "frontend/syntax/ast/walk.h"

namespace tfl::autograph {

Identifier FreshNames::next(std::string_view base) {
  std::string candidate(base);
  for (int i = 1; taken_.contains(candidate); ++i) candidate = std::string(base) + "_" + std::to_string(i);
  Identifier id = builder_.intern(candidate);
  taken_.insert(id);
  return id;
}

namespace {

/// How a block can be left.
struct Exits {
  bool falls = true;  // its end can be reached with no flag set
  bool ends = false;  // every way through it sets a flag, as far as no exception is swallowed on the way
  bool returns = false, breaks = false, continues = false;
  bool jumps() const { return returns || breaks || continues; }
};

/// One of two ways is taken.
Exits either(const Exits& a, const Exits& b) {
  return {a.falls || b.falls, a.ends && b.ends, a.returns || b.returns, a.breaks || b.breaks, a.continues || b.continues};
}

bool returns_inside(Block block, bool nested) {
  for (Stmt* s : block) {
    if (s->kind == StmtKind::Return && nested) return true;
    bool deeper = nested || s->kind == StmtKind::If || s->kind == StmtKind::While || s->kind == StmtKind::For;
    bool found = false;
    each_block(s, [&](const Block& b) { found = found || returns_inside(b, deeper); });
    if (found) return true;
  }
  return false;
}

class Lowering {
 public:
  Lowering(Builder& build, FreshNames& names, LoopNotes& notes) : build_(build), names_(names), notes_(notes) {}

  void function(FunctionDef* def) {
    bool flagged = returns_inside(def->body, false);
    if (flagged) flag_ = names_.next("do_return"), value_ = names_.next("retval_");
    Block body = def->body;
    std::vector<Stmt*> out;
    if (!body.empty() && body[0]->kind == StmtKind::Expression && as<Expression>(body[0])->value->kind == ExprKind::Constant) {
      out.push_back(body[0]);
      body = body.subspan(1);
    }
    Span start = def->name_span;
    if (flagged) {
      out.push_back(build_.assign(flag_, build_.boolean(false, start), start));
      out.push_back(build_.assign(value_, build_.op("no_value", start), start));
    }
    Exits exits = block(body, out);
    if (flagged) {
      Span at = def->body.back()->span;
      std::vector<Expr*> args{build_.name(value_, at)};
      if (!exits.ends) args.push_back(build_.name(flag_, at)), args.push_back(lines(at));
      out.push_back(build_.give_back(build_.op_call("returned", args, at), at));
    }
    def->body = build_.block(out);
  }

 private:
  struct Loop {
    Identifier stop, skip;
  };

  Expr* lines(Span at) {
    std::vector<Expr*> items;
    for (uint32_t line : return_lines_) items.push_back(build_.integer(line, at));
    return build_.tuple(items, at);
  }

  void set(std::vector<Stmt*>& out, Identifier flag, Span span) {
    out.push_back(build_.assign(flag, build_.boolean(true, span), span));
  }

  std::vector<Expr*> flags(const Exits& exits, Span span) {
    std::vector<Expr*> items;
    if (exits.continues) items.push_back(build_.name(loop_->skip, span));
    if (exits.breaks) items.push_back(build_.name(loop_->stop, span));
    if (exits.returns) items.push_back(build_.name(flag_, span));
    return items;
  }

  /// Lowers `rest`, which follows something left in the way of `before`.
  Exits follow(const Exits& before, Block rest, std::vector<Stmt*>& out) {
    if (rest.empty()) return before;
    if (!before.jumps()) return block(rest, out);
    std::vector<Stmt*> guarded;
    Exits after = block(rest, guarded);
    Span span = rest.front()->span;
    out.push_back(build_.if_(build_.op_call("none_of", flags(before, span), span), build_.block(guarded), {}, span));
    return {before.falls && after.falls, before.ends || after.ends, before.returns || after.returns,
            before.breaks || after.breaks, before.continues || after.continues};
  }

  Exits block(Block in, std::vector<Stmt*>& out) {
    for (size_t i = 0; i < in.size(); ++i) {
      Stmt* s = in[i];
      Block rest = in.subspan(i + 1);
      Exits exits;
      switch (s->kind) {
        case StmtKind::Return: return give_back(as<Return>(s), out);
        case StmtKind::Raise: out.push_back(s); return {false, true, false, false, false};
        case StmtKind::Break: set(out, loop_->stop, s->span); return {false, true, false, true, false};
        case StmtKind::Continue: set(out, loop_->skip, s->span); return {false, true, false, false, true};
        case StmtKind::If:
          if (branch(as<If>(s), rest, out, exits)) return exits;
          continue;
        case StmtKind::While:
        case StmtKind::For: exits = loop(s, out); break;
        case StmtKind::With: {
          std::vector<Stmt*> body;
          exits = block(as<With>(s)->body, body);
          as<With>(s)->body = build_.block(body);
          exits.falls = true;  // what it manages may swallow an exception
          out.push_back(s);
          break;
        }
        case StmtKind::Try: exits = try_(as<Try>(s), out); break;
        default: out.push_back(s); continue;
      }
      if (exits.jumps()) return follow(exits, rest, out);
      if (exits.ends && !exits.falls) return exits;
    }
    return {};
  }

  Exits give_back(Return* s, std::vector<Stmt*>& out) {
    if (flag_.empty()) {
      out.push_back(s);
      return {false, true, false, false, false};
    }
    return_lines_.push_back(s->span.line);
    Expr* value = s->value ? s->value : build_.constant(ConstantKind::None, s->span);
    out.push_back(build_.assign(value_, value, s->span));
    set(out, flag_, s->span);
    return {false, true, true, false, false};
  }

  /// True: `rest` has become part of it, and `exits` are those of all.
  bool branch(If* s, Block rest, std::vector<Stmt*>& out, Exits& exits) {
    std::vector<Stmt*> body, orelse;
    Exits a = block(s->body, body);
    if (a.jumps() && !a.falls) {
      // What follows happens only behind the other branch.
      std::vector<Stmt*> all(s->orelse.begin(), s->orelse.end());
      all.insert(all.end(), rest.begin(), rest.end());
      exits = either(a, block(build_.block(all), orelse));
      out.push_back(build_.if_(s->condition, build_.block(body), build_.block(orelse), s->span));
      return true;
    }
    Exits b = block(s->orelse, orelse);
    if (b.jumps() && !b.falls) {
      exits = either(follow(a, rest, body), b);
      out.push_back(build_.if_(s->condition, build_.block(body), build_.block(orelse), s->span));
      return true;
    }
    out.push_back(build_.if_(s->condition, build_.block(body), build_.block(orelse), s->span));
    exits = either(a, b);
    if (!exits.jumps()) return false;
    exits = follow(exits, rest, out);
    return true;
  }

  Exits loop(Stmt* s, std::vector<Stmt*>& out) {
    Block& body_slot = s->kind == StmtKind::While ? as<While>(s)->body : as<For>(s)->body;
    Block& else_slot = s->kind == StmtKind::While ? as<While>(s)->orelse : as<For>(s)->orelse;
    Loop here{names_.next("break_"), names_.next("continue_")};
    Loop* outer = loop_;
    loop_ = &here;
    std::vector<Stmt*> body;
    Block written = body_slot;
    Exits inside = block(body_slot, body);
    loop_ = outer;
    if (inside.continues) body.insert(body.begin(), build_.assign(here.skip, build_.boolean(false, s->span), s->span));
    if (inside.breaks) out.push_back(build_.assign(here.stop, build_.boolean(false, s->span), s->span));
    LoopNote& note = notes_[s];
    if (inside.breaks) note.stop.push_back(here.stop);
    if (inside.returns) note.stop.push_back(flag_);
    bool decided = !written.empty() && written.back()->kind == StmtKind::If;
    note.returns = decided && !outer && inside.returns && inside.ends && !inside.falls && !inside.breaks && !inside.continues;
    body_slot = build_.block(body);
    std::vector<Stmt*> behind;
    Block else_block = else_slot;
    Exits after = block(else_block, behind);
    else_slot = {};
    out.push_back(s);
    if (!else_block.empty() && !note.stop.empty()) {
      std::vector<Expr*> stop;
      Span span = else_block.front()->span;
      for (Identifier id : note.stop) stop.push_back(build_.name(id, span));
      out.push_back(build_.if_(build_.op_call("none_of", stop, span), build_.block(behind), {}, span));
    } else {
      out.insert(out.end(), behind.begin(), behind.end());
    }
    Exits exits;
    exits.returns = inside.returns || after.returns;
    exits.breaks = after.breaks;
    exits.continues = after.continues;
    bool endless = s->kind == StmtKind::While && is_true(as<While>(s)->condition);
    exits.falls = inside.breaks || (!endless && after.falls);
    exits.ends = !inside.breaks && (endless || after.ends);
    return exits;
  }

  Exits try_(Try* s, std::vector<Stmt*>& out) {
    std::vector<Stmt*> body, orelse, last;
    Exits exits = block(s->body, body);
    exits = follow(exits, s->orelse, orelse);
    Exits all = exits;
    for (ExceptHandler& h : s->handlers) {
      std::vector<Stmt*> lowered;
      all = either(all, block(h.body, lowered));
      h.body = build_.block(lowered);
    }
    Exits finally = block(s->finally, last);
    s->body = build_.block(body), s->orelse = build_.block(orelse), s->finally = build_.block(last);
    out.push_back(s);
    all.falls = true;
    all.ends = all.ends || finally.ends;
    all.returns = all.returns || finally.returns;
    all.breaks = all.breaks || finally.breaks;
    all.continues = all.continues || finally.continues;
    return all;
  }

  Builder& build_;
  FreshNames& names_;
  LoopNotes& notes_;
  Loop* loop_ = nullptr;
  Identifier flag_, value_;
  std::vector<uint32_t> return_lines_;
};

}  // namespace

void lower_jumps(Builder& builder, FreshNames& names, LoopNotes& notes, FunctionDef* def) {
  Lowering(builder, names, notes).function(def);
}

}  // namespace tfl::autograph
