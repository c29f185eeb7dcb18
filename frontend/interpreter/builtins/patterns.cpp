// What the patterns of `case` ask of a subject (frontend/syntax/parse/build_match.cpp): its items, the values of its keys, its attributes, as
// a tuple for the patterns within, or None where it does not match. Their names begin with a dot, so that no script can say them.
#include <algorithm>

#include "frontend/core/attributes.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/builtins/functions.h"
#include "frontend/interpreter/object/class.h"

namespace tfl::builtin {

namespace {

/// An instance of collections.abc's class of this name. No class is one before somebody has imported that module.
Result<bool> is_abstract(Interp& interp, const Value& v, const char* name) {
  Value module = interp.find_module("collections.abc");
  if (module.is_empty()) return false;
  Value cls = TFL_TRY(find_attr(interp, module, interp.intern(name)));
  return cls.is_empty() ? Result<bool>(false) : is_instance_of(interp, v, cls);
}

bool is_deque(Interp& interp, const Value& v) {
  for (Lineage l(interp.type_of(v)); l.at; l.next()) {
    if (!l.at->script && l.at->name->text == "deque") return true;
  }
  return false;
}

Result<bool> is_sequence(Interp& interp, const Value& v) {
  switch (v.kind()) {
    case Kind::List:
    case Kind::Tuple:
    case Kind::Range: return true;
    case Kind::Str:
    case Kind::Bytes:
    case Kind::Free: return false;
    default: return is_deque(interp, v) ? Result<bool>(true) : is_abstract(interp, v, "Sequence");
  }
}

/// A class whose only positional sub-pattern is for the subject itself.
bool matches_itself(Interp& interp, const Type* type) {
  const Types& t = interp.types;
  for (const Type* own : {t.bool_, t.bytes, t.bytearray, t.dict, t.float_, t.frozenset, t.int_, t.list, t.set, t.str, t.tuple}) {
    if (type->is_subtype_of(own)) return true;
  }
  return false;
}

}  // namespace

/// .match_sequence(subject, count, star): the items for `count` patterns, the one at `star` (if not -1) as a list of what the others leave.
Result<Value> match_sequence(Interp& interp, Value* a) {
  const Value& subject = a[0];
  const int64_t count = a[1].as_int(), star = a[2].as_int();
  bool sequence = TFL_TRY(is_sequence(interp, subject));
  if (!sequence) return Value::none();
  int64_t n = TFL_TRY(length(interp, subject));
  if (star < 0 ? n != count : n < count - 1) return Value::none();
  std::vector<Value> items;
  for (int64_t i = 0, at = 0; i < count; ++i) {
    if (i != star) {
      items.push_back(TFL_TRY(get_item(interp, subject, Value::integer(at++))));
      continue;
    }
    std::vector<Value> rest;
    for (const int64_t end = at + n - (count - 1); at < end; ++at)
      rest.push_back(TFL_TRY(get_item(interp, subject, Value::integer(at))));
    items.push_back(interp.list(std::move(rest)));
  }
  return interp.tuple(std::span<const Value>(items));
}

/// .match_mapping(subject, keys, wants_rest): the values of the keys, and behind them a dictionary of all others.
Result<Value> match_mapping(Interp& interp, Value* a) {
  const Value& subject = a[0];
  std::span<Value> keys = a[1].as<Tuple>()->span();
  bool mapping = subject.is(Kind::Dict);
  if (!mapping && subject.is_object()) mapping = TFL_TRY(is_abstract(interp, subject, "Mapping"));
  if (!mapping) return Value::none();
  int64_t n = TFL_TRY(length(interp, subject));
  if (n < static_cast<int64_t>(keys.size())) return Value::none();
  Value seen = interp.set(), missing = interp.dict();
  std::vector<Value> values;
  const bool plain = subject.is(Kind::Dict) && !subject.object()->type->script;
  for (const Value& key : keys) {
    bool fresh = TFL_TRY(set_add(interp, seen, key));
    if (!fresh) {
      std::string text = TFL_TRY(repr_text(interp, key));
      return fail(ErrorKind::ValueError, "mapping pattern checks duplicate key ({})", text);
    }
    Value found;
    if (plain) {
      found = TFL_TRY(dict_get(interp, subject.as<Dict>(), key));
    } else {
      found = TFL_TRY(interp.call_method(subject, interp.intern("get"), {key, missing}));
      if (found.identical(missing)) found = Value();
    }
    if (found.is_empty()) return Value::none();
    values.push_back(std::move(found));
  }
  if (a[2].as_bool()) {
    Value rest = TFL_TRY(interp.call(Value::share(interp.types.dict), {subject}));
    for (const Value& key : keys) TFL_TRY(dict_pop(interp, rest.as<Dict>(), key));
    values.push_back(std::move(rest));
  }
  return interp.tuple(std::span<const Value>(values));
}

/// .match_class(subject, cls, positional, names): the attributes that as many positional sub-patterns and these names stand for.
Result<Value> match_class(Interp& interp, Value* a) {
  const Value &subject = a[0], &cls = a[1];
  const int64_t positional = a[2].as_int();
  if (!cls.is(Kind::Type)) return fail(ErrorKind::TypeError, "called match pattern must be a type");
  const Type* type = cls.as<Type>();
  bool instance = TFL_TRY(is_instance_of(interp, subject, cls));
  if (!instance) return Value::none();
  std::vector<Value> values;
  std::vector<Str*> names;
  Value match_args;
  if (positional > 0) {
    match_args = TFL_TRY(find_attr(interp, cls, interp.sym.__match_args__));
    int64_t accepted = 0;
    if (match_args.is_empty()) {
      accepted = matches_itself(interp, type) ? 1 : 0;
    } else if (!match_args.is(Kind::Tuple)) {
      return fail(ErrorKind::TypeError, "{}.__match_args__ must be a tuple (got {})", type->name->text,
                  interp.type_name(match_args));
    } else {
      accepted = match_args.as<Tuple>()->size;
    }
    if (positional > accepted) {
      return fail(ErrorKind::TypeError, "{}() accepts {} positional sub-pattern{} ({} given)", type->name->text, accepted,
                  accepted == 1 ? "" : "s", positional);
    }
    if (match_args.is_empty()) values.push_back(subject);
  }
  auto attribute = [&](const Value& name) -> Result<bool> {
    if (!name.is_str())
      return fail(ErrorKind::TypeError, "__match_args__ elements must be strings (got {})", interp.type_name(name));
    Str* id = interp.intern(name.as<Str>()->text);
    if (std::find(names.begin(), names.end(), id) != names.end())
      return fail(ErrorKind::TypeError, "{}() got multiple sub-patterns for attribute '{}'", type->name->text, id->text);
    names.push_back(id);
    Value found = TFL_TRY(find_attr(interp, subject, id));
    if (found.is_empty()) return false;
    values.push_back(std::move(found));
    return true;
  };
  for (int64_t i = 0; i < positional && !match_args.is_empty(); ++i) {
    bool there = TFL_TRY(attribute(match_args.as<Tuple>()->items[i]));
    if (!there) return Value::none();
  }
  for (const Value& name : a[3].as<Tuple>()->span()) {
    bool there = TFL_TRY(attribute(name));
    if (!there) return Value::none();
  }
  return interp.tuple(std::span<const Value>(values));
}

}  // namespace tfl::builtin
