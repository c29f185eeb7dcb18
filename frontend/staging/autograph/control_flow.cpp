// if, while and for. Before and after:
//
//   if c:                 def if_body():
//     x = a                 nonlocal x
//   else:                   x = a
//     x = b        ->     def else_body():
//                           nonlocal x
//                           x = b
//                         ag__.if_stmt(c, if_body, else_body, ('x',), 1)
//
// The operators read and write the state, the variables named, through the cells that the helpers share with the function.
#include <algorithm>

#include "frontend/staging/autograph/clone.h"
#include "frontend/staging/autograph/converter.h"
#include "frontend/syntax/ast/unparse.h"

namespace tfl::autograph {

/// What is bound under these names and belongs to this function, or to one around it.
NameSet Converter::bound_here(const Names& names) const {
  NameSet out = names.binds;
  for (std::string_view n : names.mutates) {
    if (current_->locals.contains(n)) out.insert(n);
  }
  for (std::string_view n : current_->live->writes_through(names)) {
    if (current_->locals.contains(n)) out.insert(n);
  }
  return out;
}

Converter::State Converter::state_of(const Stmt* s, const Names& inside, std::vector<Stmt*>& out) {
  State state;
  state.binds = bound_here(inside);
  const Flow& flow = current_->live->of(s);
  bool loop = s->kind != StmtKind::If;
  NameSet outputs, inputs;
  for (std::string_view n : state.binds) {
    if (flow.out.contains(n) || (loop && flow.in.contains(n)))
      outputs.insert(n);
    else if (flow.in.contains(n))
      inputs.insert(n);
  }
  state.names.assign(outputs.begin(), outputs.end());
  state.outputs = outputs.size();
  state.names.insert(state.names.end(), inputs.begin(), inputs.end());
  // Attributes and items of what is the same object before and after.
  std::vector<Expr*> composites;
  for (auto& [text, e] : inside.composites) {
    std::string_view root = root_of(e);
    if (root.empty() || inside.binds.contains(root)) continue;
    Span span = e->span;
    auto define = [&](std::string_view base, const std::vector<std::string_view>& params, Stmt* body) {
      Identifier id = current_->names.next(base);
      FunctionDef* def = build_.function(id, params, {body}, span);
      helpers_.insert(def);
      out.push_back(def);
      return build_.name(id, span);
    };
    Expr* write = define("set_state", {"value_"}, build_.assign(clone(build_.arena, e), build_.name("value_", span), span));
    Expr* remove = define("del_state", {}, build_.remove(clone(build_.arena, e), span));
    composites.push_back(build_.tuple({build_.text(text, span), later(clone(build_.arena, e)), write, remove}, span));
  }
  state.composites = build_.tuple(composites, s->span);
  return state;
}

/// Defines a function that holds `body` and gives its name. `inside`: the names of the body.
Expr* Converter::helper(std::string_view base, const std::vector<std::string_view>& params, const Names& inside,
                        std::vector<Stmt*> body, Span span, std::vector<Stmt*>& out) {
  std::vector<Identifier> nonlocals, globals;
  for (std::string_view n : bound_here(inside)) (current_->globals.contains(n) ? globals : nonlocals).push_back(build_.intern(n));
  for (std::string_view n : nonlocals) current_->shared.insert(n);
  if (body.empty()) body.push_back(build_.pass(span));
  if (!globals.empty()) body.insert(body.begin(), build_.global(globals, span));
  if (!nonlocals.empty()) body.insert(body.begin(), build_.nonlocal(nonlocals, span));
  Identifier id = current_->names.next(base);
  FunctionDef* def = build_.function(id, params, body, span);
  helpers_.insert(def);
  out.push_back(def);
  return build_.name(id, span);
}

Expr* Converter::state_names(const State& state, Span span) {
  std::vector<Expr*> items;
  for (std::string_view n : state.names) items.push_back(build_.text(mangled(owner_, n), span));
  return build_.tuple(items, span);
}

/// Attributes and items, and the variables that are never read without a value; nothing where there are none.
void Converter::state_extras(const State& state, Span span, std::vector<Expr*>& args) {
  std::vector<Expr*> safe;
  for (std::string_view n : state.names) {
    if (current_->safe.contains(n)) safe.push_back(build_.text(mangled(owner_, n), span));
  }
  if (!as<Tuple>(state.composites)->items.empty() || !safe.empty()) args.push_back(state.composites);
  if (!safe.empty()) args.push_back(build_.tuple(safe, span));
}

void Converter::if_statement(If* s, std::vector<Stmt*>& out) {
  Names first, second, both;
  names_of(s->body, first);
  names_of(s->orelse, second);
  names_of(s->body, both);
  names_of(s->orelse, both);
  Span at = s->condition->span;
  State state = state_of(s, both, out);
  Block body = block(s->body);
  Expr* then_name = helper("if_body", {}, first, {body.begin(), body.end()}, s->span, out);
  Expr* else_name = build_.constant(ConstantKind::None, at);
  if (!s->orelse.empty()) {
    Block orelse = block(s->orelse);
    else_name = helper("else_body", {}, second, {orelse.begin(), orelse.end()}, s->span, out);
  }
  std::vector<Expr*> args{expr(s->condition), then_name, else_name, state_names(state, at),
                          build_.integer(static_cast<int64_t>(state.outputs), at)};
  state_extras(state, at, args);
  out.push_back(build_.expression(build_.op_call("if_stmt", args, at)));
}

/// lambda: ag__.none_of(break_, do_return); None where nothing but its condition ends the loop.
Expr* Converter::stop_test(const Stmt* loop) {
  auto note = current_->notes.find(loop);
  if (note == current_->notes.end() || note->second.stop.empty()) return build_.constant(ConstantKind::None, loop->span);
  std::vector<Expr*> flags;
  for (Identifier id : note->second.stop) flags.push_back(build_.name(id, loop->span));
  return later(build_.op_call("none_of", flags, loop->span));
}

/// The options of a loop, as a function: they are asked for when it is staged.
Expr* Converter::options(const Stmt* loop, std::string_view iterate) {
  std::vector<DictItem> items;
  Span span = loop->span;
  if (!iterate.empty()) items.push_back({build_.text("iterate", span), build_.text(mangled(owner_, iterate), span)});
  auto note = current_->notes.find(loop);
  if (note != current_->notes.end()) {
    if (note->second.returns) items.push_back({build_.text("returns", span), build_.boolean(true, span)});
    for (auto& [name, value] : note->second.options) {
      if (name == "shape_invariants" && (value->kind == ExprKind::ListDisplay || value->kind == ExprKind::Tuple)) {
        // A variable is told by its name rather than by its value, which another may share.
        for (Expr* pair : value->kind == ExprKind::Tuple ? as<Tuple>(value)->items : as<ListDisplay>(value)->items) {
          if (pair->kind != ExprKind::Tuple || as<Tuple>(pair)->items.size() != 2) continue;
          Expr*& variable = as<Tuple>(pair)->items[0];
          if (variable->kind == ExprKind::Name) variable = build_.text(mangled(owner_, as<Name>(variable)->id), variable->span);
        }
      }
      items.push_back({build_.text(name, value->span), expr(value)});
    }
  }
  if (items.empty()) return build_.constant(ConstantKind::None, span);
  return later(build_.arena.make<DictDisplay>(Expr{ExprKind::DictDisplay, span}, build_.arena.list(items)));
}

void Converter::while_statement(While* s, std::vector<Stmt*>& out) {
  Names test, body_names, both;
  names_of(s->condition, test);
  names_of(s->body, body_names);
  names_of(s->condition, both);
  names_of(s->body, both);
  Span at = s->condition->span;
  State state = state_of(s, both, out);
  Expr* stop = stop_test(s);
  Expr* loop_options = options(s, {});
  Block body = block(s->body);
  Expr* body_name = helper("loop_body", {}, body_names, {body.begin(), body.end()}, s->span, out);
  Expr* test_name = helper("loop_test", {}, test, {build_.give_back(expr(s->condition), at)}, at, out);
  std::vector<Expr*> args{test_name, body_name, stop, state_names(state, at), loop_options};
  state_extras(state, at, args);
  out.push_back(build_.expression(build_.op_call("while_stmt", args, at)));
}

void Converter::for_statement(For* s, std::vector<Stmt*>& out) {
  Names body_names;
  target_names(s->target, body_names);
  names_of(s->body, body_names);
  Span at = s->iterable->span;
  State state = state_of(s, body_names, out);
  Expr* stop = stop_test(s);
  Expr* loop_options = options(s, s->target->kind == ExprKind::Name ? as<Name>(s->target)->id : std::string_view());
  // tf.range in this place is a counter and no tensor.
  Expr* iterable = expr(s->iterable);
  if (iterable->kind == ExprKind::Call && s->iterable->kind == ExprKind::Call) {
    Expr* function = as<Call>(iterable)->function;
    if (function->kind == ExprKind::Call && as<Call>(function)->function->kind == ExprKind::Attribute) {
      as<Call>(function)->function = build_.op("iterated", function->span);
    }
  }
  Identifier item = current_->names.next("itr");
  std::vector<Stmt*> body;
  statement(build_.assign(s->target, build_.name(item, s->target->span), s->target->span), body);
  for (Stmt* inner : s->body) statement(inner, body);
  Expr* body_name = helper("loop_body", {item}, body_names, body, s->span, out);
  std::vector<Expr*> args{iterable, body_name, stop, state_names(state, at), loop_options};
  state_extras(state, at, args);
  out.push_back(build_.expression(build_.op_call("for_stmt", args, at)));
}

}  // namespace tfl::autograph
