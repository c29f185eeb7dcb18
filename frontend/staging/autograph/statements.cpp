#include "frontend/staging/autograph/clone.h"
#include "frontend/staging/autograph/converter.h"
#include "frontend/staging/autograph/definite.h"
#include "frontend/syntax/ast/class_arguments.h"

namespace tfl::autograph {

std::string mangled(std::string_view owner, std::string_view id) {
  if (owner.empty() || !id.starts_with("__") || id.ends_with("__")) return std::string(id);
  size_t first = owner.find_first_not_of('_');
  if (first == owner.npos) return std::string(id);
  return "_" + std::string(owner.substr(first)) + std::string(id);
}

namespace {

bool is_docstring(const Stmt* s) {
  if (s->kind != StmtKind::Expression || as<Expression>(s)->value->kind != ExprKind::Constant) return false;
  return as<Constant>(static_cast<const Expr*>(as<Expression>(s)->value))->constant == ConstantKind::String;
}

/// The last name of `a.b.name`, or of `name`, or of what is called.
std::string_view last_name(const Expr* e) {
  if (e->kind == ExprKind::Call) return last_name(as<Call>(e)->function);
  if (e->kind == ExprKind::Attribute) return as<Attribute>(e)->name;
  return e->kind == ExprKind::Name ? as<Name>(e)->id : std::string_view();
}

bool is_excluded(const FunctionDef* def) {
  if (is_generator(def)) return true;
  for (const Expr* d : def->decorators) {
    if (last_name(d) == "do_not_convert") return true;
  }
  return false;
}

/// The call of set_loop_options that a statement is; null for every other one.
Call* loop_options(Stmt* s) {
  if (s->kind != StmtKind::Expression || as<Expression>(s)->value->kind != ExprKind::Call) return nullptr;
  Call* c = as<Call>(as<Expression>(s)->value);
  return last_name(c->function) == "set_loop_options" ? c : nullptr;
}

}  // namespace

void Converter::function(FunctionDef* def) {
  NameSet taken{kOperators};
  all_identifiers(def, taken);
  Function here{FreshNames(build_, taken), {}, {}, {}, {}, {}, nullptr, {}};
  Function* outer = current_;
  current_ = &here;
  find_options(def->body);
  here.safe = always_assigned(def);
  lower_jumps(build_, here.names, here.notes, def);
  Names names;
  names_of(def->body, names);
  here.globals = names.globals;
  here.locals = names.binds;
  for (const Parameter& p : def->params) here.locals.insert(p.name);
  for (std::string_view n : names.globals) here.locals.erase(n);
  for (const Parameter& p : def->params) {
    if (p.kind != ParamKind::PositionalOnly && p.kind != ParamKind::PositionalOrKeyword) continue;
    here.first_parameter = p.name;
    break;
  }
  Liveness live(def, here.notes);
  here.live = &live;
  def->body = block(def->body);
  declare(def, names);
  current_ = outer;
}

void Converter::lambda(Lambda* lambda) {
  NameSet taken{kOperators};
  all_identifiers(lambda, taken);
  Function here{FreshNames(build_, taken), {}, {}, {}, {}, {}, nullptr, {}};
  if (!lambda->params.empty()) here.first_parameter = lambda->params[0].name;
  Function* outer = current_;
  current_ = &here;
  lambda->body = expr(lambda->body);
  current_ = outer;
}

/// Declarations of the user's, which hold for the whole function wherever they stand; and a name that only helpers bind is this
/// function's all the same:
///   if False:
///     x = y = None
void Converter::declare(FunctionDef* def, const Names& before) {
  NameSet missing = current_->shared;
  Names after;
  names_of(def->body, after);
  for (std::string_view n : after.binds) missing.erase(n);
  for (std::string_view n : before.nonlocals) missing.erase(n);
  for (const Parameter& p : def->params) missing.erase(p.name);
  Span span = def->name_span;
  std::vector<Stmt*> first;
  auto identifiers = [&](const NameSet& names) {
    std::vector<Identifier> ids;
    for (std::string_view n : names) ids.push_back(build_.intern(n));
    return ids;
  };
  if (!before.globals.empty()) first.push_back(build_.global(identifiers(before.globals), span));
  if (!before.nonlocals.empty()) first.push_back(build_.nonlocal(identifiers(before.nonlocals), span));
  if (!missing.empty()) {
    std::vector<Expr*> targets;
    for (std::string_view n : missing) targets.push_back(build_.name(n, span));
    Stmt* assign = build_.arena.make<Assign>(Stmt{StmtKind::Assign, span}, build_.arena.list(targets),
                                             build_.constant(ConstantKind::None, span));
    first.push_back(build_.if_(build_.boolean(false, span), build_.block({assign}), {}, span));
  }
  if (first.empty()) return;
  std::vector<Stmt*> body(def->body.begin(), def->body.end());
  std::ptrdiff_t at = !body.empty() && is_docstring(body[0]) ? 1 : 0;
  body.insert(body.begin() + at, first.begin(), first.end());
  def->body = build_.block(body);
}

// ------------------------------------------------------------------------------------------------- options of loops

void Converter::find_options(Block statements) {
  for (Stmt* s : statements) {
    if (s->kind == StmtKind::While) take_options(as<While>(s)->body, s), move_binding_test(as<While>(s));
    if (s->kind == StmtKind::For) take_options(as<For>(s)->body, s);
    each_block(s, [&](const Block& b) { find_options(b); });
  }
}

/// What a test binds the body may read, and test and body are traced apart: the test becomes the body's first statement.
///   while (k := f()) > 0: body     ->     while True: if not (k := f()) > 0: break  body
void Converter::move_binding_test(While* s) {
  if (!contains_walrus(s->condition) || !s->orelse.empty()) return;
  Span span = s->condition->span;
  Expr* negated = build_.arena.make<Unary>(Expr{ExprKind::Unary, span}, UnaryOp::Not, s->condition);
  Stmt* leave = build_.arena.make<Break>(Stmt{StmtKind::Break, span});
  std::vector<Stmt*> body{build_.if_(negated, build_.block({leave}), {}, span)};
  body.insert(body.end(), s->body.begin(), s->body.end());
  s->body = build_.block(body);
  s->condition = build_.boolean(true, span);
}

/// set_loop_options(...) in the body of a loop is no statement but a remark on the loop.
void Converter::take_options(Block& body, Stmt* loop) {
  constexpr std::string_view kPositional[] = {"parallel_iterations", "swap_memory", "maximum_iterations", "shape_invariants"};
  std::vector<Stmt*> rest;
  for (Stmt* s : body) {
    Call* c = loop_options(s);
    if (!c) {
      rest.push_back(s);
      continue;
    }
    LoopNote& note = current_->notes[loop];
    for (size_t i = 0; i < c->args.size() && i < std::size(kPositional); ++i)
      note.options.emplace_back(kPositional[i], c->args[i]);
    for (Keyword& k : c->keywords) note.options.emplace_back(k.name, k.value);
    if (body.size() == 1) rest.push_back(build_.pass(s->span));
  }
  if (rest.size() != body.size() || current_->notes.contains(loop)) body = build_.block(rest);
}

// ------------------------------------------------------------------------------------------------------- statements

Block Converter::block(Block in) {
  std::vector<Stmt*> out;
  for (Stmt* s : in) statement(s, out);
  return build_.block(out);
}

void Converter::statement(Stmt* s, std::vector<Stmt*>& out) {
  switch (s->kind) {
    case StmtKind::If: return if_statement(as<If>(s), out);
    case StmtKind::While: return while_statement(as<While>(s), out);
    case StmtKind::For: return for_statement(as<For>(s), out);
    case StmtKind::Assign: return assignment(as<Assign>(s), out);
    case StmtKind::AugAssign: return augmented(as<AugAssign>(s), out);
    case StmtKind::AnnAssign: {
      // The annotation says nothing here, and a helper may not annotate what it declares nonlocal.
      auto* a = as<AnnAssign>(s);
      if (!a->value) return;
      Stmt* plain = build_.assign(a->target, a->value, s->span);
      return assignment(as<Assign>(plain), out);
    }
    case StmtKind::Expression: as<Expression>(s)->value = expr(as<Expression>(s)->value); break;
    case StmtKind::Return: optional(as<Return>(s)->value); break;
    case StmtKind::Raise:
      optional(as<Raise>(s)->exception);
      optional(as<Raise>(s)->cause);
      break;
    case StmtKind::Assert: {
      auto* a = as<Assert>(s);
      optional(a->message);
      Span span = a->condition->span;
      Expr* message = a->message ? later(clone(build_.arena, a->message)) : build_.constant(ConstantKind::None, span);
      a->condition = build_.op_call("asserted", {expr(a->condition), message}, span);
      break;
    }
    case StmtKind::With:
      for (WithItem& item : as<With>(s)->items) {
        item.context = expr(item.context);
        if (item.target) target(item.target);
      }
      as<With>(s)->body = block(as<With>(s)->body);
      break;
    case StmtKind::Try:
      for (ExceptHandler& h : as<Try>(s)->handlers) optional(h.type);
      each_block(s, [&](Block& b) { b = block(b); });
      break;
    case StmtKind::Delete:
      for (Expr* t : as<Delete>(s)->targets) target(t);
      break;
    case StmtKind::FunctionDef: {
      auto* def = as<FunctionDef>(s);
      bool excluded = is_excluded(def);
      for (Expr*& d : def->decorators) d = expr(d);
      for (Parameter& p : def->params) optional(p.default_value);
      if (!excluded) function(def);
      break;
    }
    case StmtKind::ClassDef:
      for (Expr*& d : as<ClassDef>(s)->decorators) d = expr(d);
      if (class_arguments(as<ClassDef>(s))) {
        auto* call = as<Call>(as<ClassDef>(s)->base);
        for (Expr*& b : call->args) b = expr(b);
        for (Keyword& k : call->keywords) k.value = expr(k.value);
      } else {
        optional(as<ClassDef>(s)->base);
      }
      class_body(as<ClassDef>(s));
      break;
    case StmtKind::Break:
    case StmtKind::Continue:
    case StmtKind::Pass:
    case StmtKind::Import:
    case StmtKind::ImportFrom: break;
    case StmtKind::Global:
    case StmtKind::Nonlocal: return;  // declare() puts one in front of everything
  }
  out.push_back(s);
}

/// Only the methods: the statements of a class body run once, where the class is made.
void Converter::class_body(ClassDef* def) {
  std::string outer = std::move(owner_);
  owner_ = std::string(def->name);
  for (Stmt* s : def->body) {
    if (s->kind == StmtKind::FunctionDef && !is_excluded(as<FunctionDef>(s))) function(as<FunctionDef>(s));
    if (s->kind == StmtKind::ClassDef) class_body(as<ClassDef>(s));
  }
  owner_ = std::move(outer);
}

// ------------------------------------------------------------------------------------------------------- assignment

/// The expressions inside a target.
void Converter::target(Expr* t) {
  switch (t->kind) {
    case ExprKind::Name: break;
    case ExprKind::Starred: target(as<Starred>(t)->value); break;
    case ExprKind::Tuple:
      for (Expr* item : as<Tuple>(t)->items) target(item);
      break;
    case ExprKind::ListDisplay:
      for (Expr* item : as<ListDisplay>(t)->items) target(item);
      break;
    case ExprKind::Attribute: as<Attribute>(t)->value = expr(as<Attribute>(t)->value); break;
    case ExprKind::Subscript:
      as<Subscript>(t)->value = expr(as<Subscript>(t)->value);
      as<Subscript>(t)->index = expr(as<Subscript>(t)->index);
      break;
    default: break;
  }
}

/// `x[i]` of a local x: assigning it may give x a new value, if x is a tensor. Items with a text as key are states of their own.
bool Converter::is_local_item(const Expr* t) const {
  if (t->kind != ExprKind::Subscript || as<Subscript>(t)->value->kind != ExprKind::Name) return false;
  const Expr* index = as<Subscript>(t)->index;
  if (index->kind == ExprKind::Constant && as<Constant>(index)->constant == ConstantKind::String) return false;
  return current_->locals.contains(as<Name>(static_cast<const Expr*>(as<Subscript>(t)->value))->id);
}

/// A subscript as an argument.
Expr* Converter::key(Expr* index) {
  if (index->kind == ExprKind::Slice) {
    auto* s = as<Slice>(index);
    auto part = [&](Expr* e) { return e ? expr(e) : build_.constant(ConstantKind::None, index->span); };
    return build_.op_call("slice_", {part(s->lower), part(s->upper), part(s->step)}, index->span);
  }
  if (index->kind == ExprKind::Tuple) {
    std::vector<Expr*> items;
    for (Expr* item : as<Tuple>(index)->items) items.push_back(key(item));
    return build_.tuple(items, index->span);
  }
  return expr(index);
}

void Converter::item_target(Expr*& t, std::vector<Stmt*>& behind) {
  if (t->kind == ExprKind::Tuple || t->kind == ExprKind::ListDisplay) {
    for (Expr*& item : t->kind == ExprKind::Tuple ? as<Tuple>(t)->items : as<ListDisplay>(t)->items) item_target(item, behind);
  } else if (is_local_item(t)) {
    auto* item = as<Subscript>(t);
    Identifier value = current_->names.next("item");
    Identifier id = as<Name>(item->value)->id;
    Span span = t->span;
    behind.push_back(build_.assign(
        id, build_.op_call("set_item", {build_.name(value, span), build_.name(id, span), key(item->index)}, span), span));
    t = build_.name(value, span);
  } else {
    target(t);
  }
}

void Converter::assignment(Assign* s, std::vector<Stmt*>& out) {
  s->value = expr(s->value);
  if (s->targets.size() == 1 && is_local_item(s->targets[0])) {
    auto* item = as<Subscript>(s->targets[0]);
    Identifier id = as<Name>(item->value)->id;
    Expr* made = build_.op_call("set_item", {s->value, build_.name(id, item->span), key(item->index)}, item->span);
    out.push_back(build_.assign(id, made, s->span));
    return;
  }
  std::vector<Stmt*> behind;
  for (Expr*& t : s->targets) item_target(t, behind);
  out.push_back(s);
  out.insert(out.end(), behind.begin(), behind.end());
}

void Converter::augmented(AugAssign* s, std::vector<Stmt*>& out) {
  if (!is_local_item(s->target)) {
    target(s->target);
    s->value = expr(s->value);
    out.push_back(s);
    return;
  }
  constexpr std::string_view kNames[] = {"add",    "sub",    "mul",    "div", "floordiv", "mod", "pow",
                                         "matmul", "lshift", "rshift", "and", "or",       "xor"};
  auto* item = as<Subscript>(s->target);
  Identifier id = as<Name>(item->value)->id;
  Expr* name = build_.text(kNames[static_cast<int>(s->op)], s->span);
  Expr* made = build_.op_call("augment_item", {name, build_.name(id, item->span), key(item->index), expr(s->value)}, s->span);
  out.push_back(build_.assign(id, made, s->span));
}

}  // namespace tfl::autograph
