// dict: construction, items, operators. Methods are in dict_methods.cpp, views in dict_views.cpp.
#include "frontend/interpreter/object/containers/dict.h"

#include "frontend/core/attributes.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/object/containers/iterators.h"
#include "frontend/interpreter/object/containers/keys.h"

namespace tfl {

/// Everything of `from`, which has no gaps, into an empty dict.
static void copy_entries(Dict* to, const Dict* from) {
  to->entries = from->entries;
  to->index = from->index;
  to->live = from->live;  // none deleted: no head either
  ++to->keys_version;
}

Result<void> dict_update(Interp& interp, Dict* d, const Value& from) {
  if (from.is(Kind::Dict) && !(from.object()->type->script && script_lookup(interp, from.object()->type, interp.sym.__iter__))) {
    Dict* other = from.as<Dict>();
    if (other == d) return {};
    if (d->entries.empty() && d->index.empty() && other->live == static_cast<int64_t>(other->entries.size())) {
      TFL_TRY(guard_memory(interp, other->entries.size() * sizeof(Dict::Entry) + other->index.size() * sizeof(uint32_t)));
      copy_entries(d, other);
      return {};
    }
    uint32_t version = other->keys_version;
    size_t at = 0;
    while (Dict::Entry* e = dict_next(other, at)) {
      Value key = e->key, value = e->value;
      TFL_TRY(dict_set(interp, d, key, std::move(value)));
      if (other->keys_version != version) return fail(ErrorKind::RuntimeError, "dict mutated during update");
    }
    return {};
  }
  Str* keys_name = interp.intern("keys");
  Value keys = TFL_TRY(find_attr(interp, from, keys_name));
  if (!keys.is_empty()) {
    Value names = TFL_TRY(interp.call(keys, {}));
    return for_each(interp, names, [&](Value key) -> Result<bool> {
      Value value = TFL_TRY(get_item(interp, from, key));
      TFL_TRY(dict_set(interp, d, key, std::move(value)));
      return true;
    });
  }
  int64_t number = 0;
  return for_each(interp, from, [&](Value pair) -> Result<bool> {
    if (pair.is(Kind::Tuple) && pair.object()->type == interp.types.tuple && pair.as<Tuple>()->size == 2) {
      TFL_TRY(dict_set(interp, d, pair.as<Tuple>()->items[0], pair.as<Tuple>()->items[1]));
      ++number;
      return true;
    }
    auto items = to_vector(interp, pair);
    if (!items) {
      if (items.error().kind == ErrorKind::TypeError && !items.error().payload &&
          items.error().message.ends_with("is not iterable")) {
        return fail(ErrorKind::TypeError, "cannot convert dictionary update sequence element #{} to a sequence", number);
      }
      return items.failure();
    }
    if (items->size() != 2) {
      return fail(ErrorKind::ValueError, "dictionary update sequence element #{} has length {}; 2 is required", number,
                  items->size());
    }
    TFL_TRY(dict_set(interp, d, (*items)[0], (*items)[1]));
    ++number;
    return true;
  });
}

Result<void> dict_update_call(Interp& interp, std::string_view function, Dict* d, CallArgs& args, uint32_t first) {
  if (args.count > first + 1) {
    return fail(ErrorKind::TypeError, "{} expected at most 1 argument, got {}", function, args.count - first);
  }
  if (args.count == first + 1) TFL_TRY(dict_update(interp, d, args.values[first]));
  for (size_t k = 0; k < args.keywords.size(); ++k) {
    dict_set_str(d, args.keywords[k], std::move(args.values[args.count + k]));
  }
  return {};
}

Value dict_copy(Interp& interp, Dict* d) {
  Value copy = interp.dict();
  Dict* c = copy.as<Dict>();
  if (d->live == static_cast<int64_t>(d->entries.size())) {
    copy_entries(c, d);
    return copy;
  }
  size_t at = 0;
  c->entries.reserve(static_cast<size_t>(d->live));
  while (Dict::Entry* e = dict_next(d, at)) {
    // Neither hashing nor comparing can fail for keys that are in a dict already; text keys take the short way.
    if (is_plain_str(e->key))
      dict_set_str(c, e->key.as<Str>(), e->value);
    else if (auto r = dict_set(interp, c, e->key, e->value); !r)
      break;
  }
  return copy;
}

extern const Slots dict_slots;

namespace {

Result<Value> construct(Interp& interp, Type* type, CallArgs& args) {
  Dict* d = interp.allocate<Dict>(type);
  d->keys_version = 1;
  Value self = Value::adopt(d);
  if (!(type->script && has_script_init(interp, type))) TFL_TRY(dict_update_call(interp, "dict", d, args, 0));
  return self;
}

Result<Value> repr_slot(Interp& interp, const Value& self) {
  Dict* d = self.as<Dict>();
  if (d->flags & kReprActive) return interp.str(std::string("{...}"));
  Nesting nesting(interp);
  if (!nesting.ok()) return too_deep(" while getting the repr of an object");
  d->flags |= kReprActive;
  auto text = [&]() -> Result<std::string> {
    std::string out = "{";
    size_t at = 0;
    while (Dict::Entry* e = dict_next(d, at)) {
      Value key = e->key, value = e->value;
      if (out.size() > 1) out += ", ";
      out += TFL_TRY(repr_text(interp, key));
      out += ": ";
      out += TFL_TRY(repr_text(interp, value));
    }
    out += "}";
    return out;
  }();
  d->flags &= static_cast<uint8_t>(~kReprActive);
  if (!text) return text.failure();
  return interp.str(text.take());
}

Result<bool> truth_slot(Interp&, const Value& self) { return self.as<Dict>()->live != 0; }
Result<int64_t> length_slot(Interp&, const Value& self) { return self.as<Dict>()->live; }

Result<Value> get_item_slot(Interp& interp, const Value& self, const Value& key) {
  Dict* d = self.as<Dict>();
  Value found = TFL_TRY(dict_get(interp, d, key));
  if (!found.is_empty()) return found;
  if (d->type->script) {
    Value made = TFL_TRY(call_special(interp, self, interp.sym.__missing__, {key}));
    if (!made.is_empty()) return made;
  }
  if (!d->factory.is_empty() && !d->factory.is_none()) {
    Value factory = d->factory;
    Value made = TFL_TRY(interp.call(factory, {}));
    TFL_TRY(dict_set(interp, d, key, made));
    return made;
  }
  return key_error(interp, key);
}

Result<void> set_item_slot(Interp& interp, const Value& self, const Value& key, const Value& value) {
  Dict* d = self.as<Dict>();
  if (!value.is_empty()) return dict_set(interp, d, key, value);
  Value old = TFL_TRY(dict_pop(interp, d, key));
  if (old.is_empty()) return key_error(interp, key);
  return {};
}

Result<bool> contains_slot(Interp& interp, const Value& self, const Value& item) {
  Value found = TFL_TRY(dict_get(interp, self.as<Dict>(), item));
  return !found.is_empty();
}

Result<Value> iter_slot(Interp& interp, const Value& self) { return make_dict_iterator(interp, self, DictPart::Keys, false); }

Result<Value> binary_slot(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  if (op != BinaryOp::BitOr || !a.is(Kind::Dict) || !b.is(Kind::Dict)) return interp.not_implemented;
  if (a.object()->type == interp.types.dict && b.object()->type->slots->binary != dict_slots.binary)
    return interp.not_implemented;  // b knows better
  Value out = dict_copy(interp, a.as<Dict>());
  if (!a.as<Dict>()->factory.is_empty()) {
    out.as<Dict>()->factory = a.as<Dict>()->factory;
    out.as<Dict>()->type = a.object()->type;
  }
  TFL_TRY(dict_update(interp, out.as<Dict>(), b));
  return out;
}

Result<Value> inplace_slot(Interp& interp, BinaryOp op, const Value& self, const Value& b) {
  if (op != BinaryOp::BitOr) return interp.not_implemented;
  TFL_TRY(dict_update(interp, self.as<Dict>(), b));
  return self;
}

Result<Value> compare_slot(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if (!a.is(Kind::Dict) || !b.is(Kind::Dict) || (op != CompareOp::Eq && op != CompareOp::Ne)) return interp.not_implemented;
  Dict *x = a.as<Dict>(), *y = b.as<Dict>();
  bool same = x->live == y->live;
  Nesting nesting(interp);
  if (!nesting.ok()) return too_deep(" in comparison");
  size_t at = 0;
  while (same) {
    Dict::Entry* e = dict_next(x, at);
    if (!e) break;
    Value key = e->key, value = e->value;
    Value other = TFL_TRY(dict_get(interp, y, key));
    same = !other.is_empty();
    if (same) same = TFL_TRY(equals(interp, value, other));
  }
  return Value::boolean(same == (op == CompareOp::Eq));
}

}  // namespace

const Slots dict_slots = {.kind = Kind::Dict,
                          .destroy = destroy_object<Dict>,
                          .construct = construct,
                          .repr = repr_slot,
                          .truth = truth_slot,
                          .length = length_slot,
                          .get_item = get_item_slot,
                          .set_item = set_item_slot,
                          .contains = contains_slot,
                          .iter = iter_slot,
                          .binary = binary_slot,
                          .inplace = inplace_slot,
                          .compare = compare_slot};

}  // namespace tfl
