// What expressions certainly are: modules and what they have, literals, and what the library computes of literals.
#include <algorithm>
#include <iterator>

#include "frontend/core/advice.h"
#include "frontend/core/attributes.h"
#include "frontend/core/big_int.h"
#include "frontend/core/complex_value.h"
#include "frontend/core/exception.h"
#include "frontend/core/frame.h"
#include "frontend/core/protocol.h"
#include "frontend/core/signature.h"
#include "frontend/interpreter/check/checker.h"
#include "frontend/syntax/ast/walk.h"
#include "frontend/syntax/diagnostics/suggest.h"

namespace tfl::check {

using namespace ast;
using ast::List;
using ast::Module;
using ast::Slice;
using ast::Tuple;

namespace {

constexpr int kDeepest = 200;
constexpr int64_t kLargest = 1000;    // of a number that decides how much is computed
constexpr size_t kMostItems = 10000;  // of a display

/// Names that a module has without binding them.
constexpr std::string_view kModuleNames[] = {"__name__",        "__file__",     "__doc__",    "__builtins__", "__debug__",
                                             "__annotations__", "__package__",  "__loader__", "__spec__",     "__class__",
                                             "__module__",      "__qualname__", "_"};

/// Functions that compute a value of small arguments and do nothing else.
constexpr std::string_view kPure[] = {"tensorflow.constant",      "tensorflow.convert_to_tensor",
                                      "tensorflow.zeros",         "tensorflow.ones",
                                      "tensorflow.eye",           "tensorflow.fill",
                                      "tensorflow.range",         "tensorflow.reshape",
                                      "tensorflow.transpose",     "tensorflow.expand_dims",
                                      "tensorflow.squeeze",       "tensorflow.concat",
                                      "tensorflow.stack",         "tensorflow.matmul",
                                      "tensorflow.cast",          "tensorflow.add",
                                      "tensorflow.subtract",      "tensorflow.multiply",
                                      "tensorflow.divide",        "tensorflow.reduce_sum",
                                      "tensorflow.reduce_mean",   "tensorflow.reduce_max",
                                      "tensorflow.reduce_min",    "tensorflow.zeros_like",
                                      "tensorflow.ones_like",     "tensorflow.one_hot",
                                      "tensorflow.gather",        "tensorflow.tile",
                                      "tensorflow.linalg.matmul", "tensorflow.linalg.matvec",
                                      "tensorflow.tensordot",     "tensorflow.split",
                                      "tensorflow.pad",           "tensorflow.identity"};
constexpr std::string_view kPureBuiltins[] = {"len", "int",   "float", "str", "abs",   "min",  "max",
                                              "sum", "tuple", "ord",   "chr", "round", "bool", "divmod"};

/// Classes of Keras that only hold what they are given: made, they say what is wrong with it.
constexpr std::string_view kHolders[] = {"tensorflow.keras.layers",       "tensorflow.keras.losses",
                                         "tensorflow.keras.metrics",      "tensorflow.keras.optimizers",
                                         "tensorflow.keras.initializers", "tensorflow.keras.regularizers",
                                         "tensorflow.keras.constraints"};

bool is_holder(std::string_view module) {
  return std::find(std::begin(kHolders), std::end(kHolders), module) != std::end(kHolders);
}
bool is_pure(std::string_view path) { return std::find(std::begin(kPure), std::end(kPure), path) != std::end(kPure); }

/// Numbers in arguments are sizes as often as not.
bool is_small(const Value& v, int depth = 0) {
  if (depth > 4) return false;
  if (v.is_int()) return v.as_int() <= kLargest && v.as_int() >= -kLargest;
  if (v.is_str()) return v.as<Str>()->text.size() <= kMostItems;
  if (v.is_tensor()) return v.tensor().size() <= kLargest * kLargest;
  std::span<const Value> items;
  if (v.is(Kind::List)) items = v.as<tfl::List>()->items;
  if (v.is(Kind::Tuple)) items = v.as<tfl::Tuple>()->span();
  double product = 1;
  for (const Value& item : items) {
    if (!is_small(item, depth + 1)) return false;
    if (item.is_int() && items.size() <= 8 && item.as_int() > 1) product *= static_cast<double>(item.as_int());
  }
  return product <= static_cast<double>(kLargest * kLargest) && items.size() <= kMostItems;
}

}  // namespace

bool only_computes(std::string_view module, std::string_view name, const Value& v) {
  return is_pure(std::string(module) + "." + std::string(name)) || (v.is(Kind::Type) && is_holder(module));
}

Known Checker::compute(const Expr* e, Result<Value> made) {
  if (made) return {.value = made.take()};
  report(e->span, made.failure());
  return {};
}

Known Checker::evaluate(const Expr* e) {
  if (depth_ > kDeepest) return {};
  ++depth_;
  Known known = evaluate_inner(e);
  if (seen_ && known) (*seen_)(*e, known.value, known.own);
  --depth_;
  return known;
}

Known Checker::evaluate_inner(const Expr* e) {
  switch (e->kind) {
    case ExprKind::Constant: {
      auto* c = as<Constant>(e);
      switch (c->constant) {
        case ConstantKind::None: return {Value::none()};
        case ConstantKind::True: return {Value::boolean(true)};
        case ConstantKind::False: return {Value::boolean(false)};
        case ConstantKind::Int:
          if (!c->text.empty()) return {int_literal(interp_, c->text)};
          return {Value::integer(c->integer)};
        case ConstantKind::Float: return {Value::real(c->real)};
        case ConstantKind::Imaginary: return {complex_value(interp_, 0, c->real)};
        case ConstantKind::String: return {interp_.str(std::string(c->text))};
        default: return {};
      }
    }
    case ExprKind::FormattedString:
      for (const FormatPart& p : as<FormattedString>(e)->parts) walk(p.value), walk(p.spec);
      return {.value = dummy_, .type_only = true};
    case ExprKind::Name: return name(as<Name>(e));
    case ExprKind::Attribute: return attribute(as<Attribute>(e));
    case ExprKind::Call: return call(as<Call>(e));
    case ExprKind::Binary: return binary(as<Binary>(e));
    case ExprKind::Subscript: return subscript(as<Subscript>(e));
    case ExprKind::Unary: {
      auto* u = as<Unary>(e);
      Known v = evaluate(u->operand);
      if (!v || v.type_only || v.own || u->op == UnaryOp::Not) return {};
      return compute(e, unary(interp_, u->op, v.value));
    }
    case ExprKind::Tuple:
    case ExprKind::ListDisplay:
    case ExprKind::SetDisplay:
    case ExprKind::DictDisplay: return display(e);
    case ExprKind::BoolOp: {
      bool guarded = false;
      for (const Expr* v : as<BoolOp>(e)->values) {
        uncertainly(guarded, [&] { guarded = guarded || evaluate(v); });
        guarded = guarded || Certainty::guards(v);
      }
      return {};
    }
    case ExprKind::Conditional: {
      auto* c = as<Conditional>(e);
      bool decided(evaluate(c->condition));
      uncertainly(decided || Certainty::guards(c->condition), [&] { walk(c->then_value), walk(c->else_value); });
      return {};
    }
    case ExprKind::Lambda:
      for (const Parameter& p : as<Lambda>(e)->params) walk(p.default_value);
      uncertainly(!certainty_.body_counts(e), [&] { inside(e, [&] { walk(as<Lambda>(e)->body); }); });
      return {};
    case ExprKind::Comprehension: comprehension(as<Comprehension>(e)); return {};
    default: ast::each_child(const_cast<Expr*>(e), [&](Expr*& child) { walk(child); }); return {};
  }
}

Known Checker::name(const Name* e) {
  const scope::Scope* owner = nullptr;
  const scope::Symbol* sym = symbol_of(e->id, owner);
  if (!owner) return {};  // a class's own
  if (sym && (sym->bound || sym->parameter)) return known_of(sym);
  std::string_view id = scopes_.mangle(*scope_, e->id);
  bool global = owner == &scopes_.module();
  if (!global || star_ || scopes_.module_names.contains(id)) return {};
  Dict* builtins = interp_.builtins.as<tfl::Module>()->dict.as<Dict>();
  if (Value v = dict_get_str(builtins, interp_.intern(id)); !v.is_empty()) {
    return {.value = v, .pure = std::find(std::begin(kPureBuiltins), std::end(kPureBuiltins), id) != std::end(kPureBuiltins)};
  }
  auto* builtin_names = interp_.builtins.as<tfl::Module>();
  if (auto later = builtin_names->lazy(interp_, builtin_names, interp_.intern(id)); later && !later->is_empty())
    return {.value = *later};
  if (std::find(std::begin(kModuleNames), std::end(kModuleNames), id) != std::end(kModuleNames) || !certain_) return {};
  const scope::Symbol* here = scope_->find(id);
  if (!here || !told_.insert(here).second) return {};
  // What is meant: a word of another language, a module that is not imported, a name of this place.
  Value text = interp_.str("");
  Value error = make_exception(interp_, interp_.exception_type(ErrorKind::NameError), {&text, 1});
  error.as<Exception>()->name = interp_.str(std::string(id));
  std::string hint = advice(interp_, error.as<Exception>());
  for (const scope::Scope* s = scope_; s && hint.empty(); s = s->parent) {
    const scope::Symbol* own = s->kind == scope::ScopeKind::Class ? s->find(id) : nullptr;
    if (own && own->bound) hint = "write self." + std::string(id);
  }
  if (hint.empty()) {
    std::vector<std::string_view> candidates;
    for (const scope::Symbol& local : scope_->symbols) {
      if (local.bound && local.name != ".0") candidates.push_back(local.name);
    }
    for (const auto& [bound, from] : scopes_.module_names) candidates.push_back(bound);
    for (const Dict::Entry& entry : builtins->entries) {
      if (entry.key.is_str()) candidates.push_back(entry.key.as<Str>()->text);
    }
    std::sort(candidates.begin(), candidates.end());
    if (std::string_view near = suggest(id, candidates); !near.empty()) hint = "did you mean '" + std::string(near) + "'?";
  }
  report(hint.empty() ? DiagnosticId::UnknownName : DiagnosticId::UnknownNameSuggest, e->span, {id, hint});
  return {};
}

Known Checker::attribute(const Attribute* e) {
  Known base = evaluate(e->value);
  if (!base || base.own || certainty_.is_dynamic(e->name)) return {};
  Str* name = interp_.intern(e->name);
  bool module = base.value.is(Kind::Module);
  auto found = get_attr(interp_, base.value, name);
  if (!found) {
    if (error_is(found.error(), ErrorKind::AttributeError)) report(e->name_span.line ? e->name_span : e->span, found.failure());
    return {};
  }
  Known known{.value = found.take(), .type_only = base.type_only};
  // What a module or a class holds beside functions may be another thing by then.
  bool kept = known.value.is(Kind::Module) || known.value.is(Kind::Type) || known.value.is(Kind::Function) ||
              known.value.is(Kind::NativeFunction) || known.value.is(Kind::BoundMethod) || known.value.is(Kind::DType);
  if ((module || base.value.is(Kind::Type)) && !kept) return {};
  if (module) known.pure = only_computes(base.value.as<tfl::Module>()->name->text, e->name, known.value);
  return known;
}

Known Checker::display(const Expr* e) {
  List<Expr*> items;
  bool starred = false, known = true;
  if (e->kind == ExprKind::DictDisplay) {
    for (const DictItem& item : as<DictDisplay>(e)->items) walk(item.key), walk(item.value);
    return {.value = interp_.dict(), .type_only = true};
  }
  items = e->kind == ExprKind::Tuple         ? as<Tuple>(e)->items
          : e->kind == ExprKind::ListDisplay ? as<ListDisplay>(e)->items
                                             : as<SetDisplay>(e)->items;
  std::vector<Value> values;
  for (const Expr* item : items) {
    starred = starred || item->kind == ExprKind::Starred;
    Known v = evaluate(item);
    known = known && v && !v.type_only && !v.own;
    if (known && values.size() < kMostItems) values.push_back(v.value);
  }
  known = known && !starred && values.size() == items.size();
  if (e->kind == ExprKind::SetDisplay) return {};
  if (e->kind == ExprKind::Tuple)
    return {.value = interp_.tuple(known ? std::span<const Value>(values) : std::span<const Value>()), .type_only = !known};
  Value list = interp_.list();
  if (known) list.as<tfl::List>()->items = std::move(values);
  return {.value = list, .type_only = !known};
}

Known Checker::binary(const Binary* e) {
  Known a = evaluate(e->left), b = evaluate(e->right);
  bool both = a && b && !a.type_only && !b.type_only && !a.own && !b.own;
  // These can make much of little.
  bool grows = e->op == BinaryOp::Pow || e->op == BinaryOp::LShift || e->op == BinaryOp::Mod ||
               (e->op == BinaryOp::Mul && !(a.value.is(Kind::Free) && b.value.is(Kind::Free)) && !a.value.is_tensor() &&
                !b.value.is_tensor());
  if (!both || grows || !is_small(a.value) || !is_small(b.value)) return {};
  return compute(e, tfl::binary(interp_, e->op, a.value, b.value));
}

Known Checker::subscript(const Subscript* e) {
  Known v = evaluate(e->value), i = evaluate(e->index);
  bool whole = i && !i.type_only && (i.value.is_int() || i.value.is_str());
  bool indexed = v && !v.type_only && !v.own &&
                 (v.value.is_str() || v.value.is(Kind::Tuple) || v.value.is(Kind::List) || v.value.is_tensor());
  if (!whole || !indexed) return {};
  return compute(e, get_item(interp_, v.value, i.value));
}

Known Checker::call(const Call* e) {
  Known callee = evaluate(e->function);
  std::vector<Value> values;
  bool known = true, several = false;
  uncertainly(certainty_.catches(e), [&] {
    for (const Expr* a : e->args) {
      Known v = evaluate(a);
      several = several || a->kind == ExprKind::Starred;
      known = known && v && !v.type_only && !v.own;
      values.push_back(v.value);
    }
    for (const Keyword& k : e->keywords) {
      Known v = evaluate(k.value);
      several = several || k.name.empty();
      known = known && v && !v.type_only && !v.own;
      values.push_back(v.value);
    }
  });
  if (!callee) return {};
  if (auto bound = bind(callee, e); !bound) {
    report(e->span, bound.failure());
    return {};
  }
  if (!known || several || callee.own || callee.type_only || !callee.pure ||
      !std::all_of(values.begin(), values.end(), [](const Value& v) { return is_small(v); })) {
    return {};
  }
  std::vector<Str*> names;
  for (const Keyword& k : e->keywords) names.push_back(interp_.intern(k.name));
  CallArgs args{values.data(), static_cast<uint32_t>(e->args.size()), names};
  Known made = compute(e, interp_.call(callee.value, args));
  // What objects have may be added to them.
  if (callee.value.is(Kind::Type) && callee.value.as<Type>()->script) return {};
  return made;
}

void Checker::comprehension(const Comprehension* e) {
  // The first iterable belongs to the scope around.
  bool first = true;
  if (!e->clauses.empty()) walk(e->clauses[0].iterable);
  inside(e, [&] {
    bool guarded = false;
    for (const ComprehensionFor& clause : e->clauses) {
      if (!first) walk(clause.iterable);
      first = false;
      target(clause.target);
      for (const Expr* c : clause.conditions) {
        walk(c);
        guarded = guarded || Certainty::guards(c);
      }
    }
    uncertainly(guarded, [&] { walk(e->element), walk(e->value); });
  });
}

/// Binds the arguments of a call to the parameters of what is called, without calling it; where their number is not known nothing is asked.
Result<void> Checker::bind(const Known& callee, const Call* e) {
  for (const Expr* a : e->args) {
    if (a->kind == ExprKind::Starred) return {};
  }
  for (const Keyword& k : e->keywords) {
    if (k.name.empty()) return {};
  }
  Value function = callee.value, self;
  if (function.is(Kind::BoundMethod)) {
    self = function.as<BoundMethod>()->self;
    function = Value(function.as<BoundMethod>()->function);
  } else if (function.is(Kind::Type)) {
    // A class whose instances are made by its __init__ alone.
    Type* type = function.as<Type>();
    if (!type->script || type->is_subtype_of(interp_.exception_type(ErrorKind::BaseException))) return {};
    const Value* make = lookup(interp_, type, interp_.sym.__new__);
    const Value* init = lookup(interp_, type, interp_.sym.__init__);
    if (!init || !init->is(Kind::Function) || (make && make->is(Kind::Function))) return {};
    function = *init;
    self = dummy_;
  }
  std::vector<Value> values;
  if (!self.is_empty()) values.push_back(self);
  const auto given = static_cast<uint32_t>(values.size() + e->args.size());
  values.resize(given + e->keywords.size(), dummy_);
  std::vector<Str*> names;
  for (const Keyword& k : e->keywords) names.push_back(interp_.intern(k.name));
  CallArgs args{values.data(), given, names};
  if (function.is(Kind::Function)) {
    auto* f = function.as<Function>();
    TFL_TRY(complete(interp_, *f->code.as<Code>()));
    std::vector<Value> out(f->code.as<Code>()->params.size());
    return bind_parameters(interp_, f, args, out.data());
  }
  if (function.is(Kind::NativeFunction)) return bind_native_call(interp_, function.as<NativeFunction>(), args, !self.is_empty());
  return {};
}

}  // namespace tfl::check
