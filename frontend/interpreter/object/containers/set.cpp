#include "frontend/interpreter/object/containers/set.h"

#include "frontend/core/native.h"
#include "frontend/interpreter/object/containers/iterators.h"
#include "frontend/interpreter/object/containers/keys.h"

namespace tfl {

Value new_set(Interp& interp, Type* type) {
  Set* s = interp.allocate<Set>(type);
  set_clear(s);
  return Value::adopt(s);
}

Result<void> set_update(Interp& interp, Set* s, const Value& from) {
  if (from.is(Kind::Set)) return set_merge(interp, s, from.as<Set>());
  Value self = Value::share(s);
  return for_each(interp, from, [&](Value item) -> Result<bool> {
    TFL_TRY(set_add(interp, self, item));
    return true;
  });
}

Result<Value> set_copy_as(Interp& interp, Type* type, const Set* s) {
  Value copy = new_set(interp, type);
  TFL_TRY(set_merge(interp, copy.as<Set>(), s));
  return copy;
}

Result<Value> set_intersection(Interp& interp, Type* type, const Value& a, const Value& b) {
  Value out = new_set(interp, type);
  Set* result = out.as<Set>();
  if (b.is(Kind::Set)) {
    const Set *large = a.as<Set>(), *small = b.as<Set>();
    if (small == large) return set_copy_as(interp, type, large);
    if (small->used > large->used) std::swap(large, small);
    size_t at = 0;
    while (const Set::Entry* e = set_next(small, at)) {
      Value key = e->key;
      uint64_t hash = e->hash;
      bool both = TFL_TRY(set_contains_hashed(interp, large, key, hash));
      if (both) TFL_TRY(set_add_hashed(interp, result, key, hash));
    }
    return out;
  }
  TFL_TRY(for_each(interp, b, [&](Value item) -> Result<bool> {
    uint64_t hash = TFL_TRY(hash_key(interp, item));
    bool both = TFL_TRY(set_contains_hashed(interp, a.as<Set>(), item, hash));
    if (both) TFL_TRY(set_add_hashed(interp, result, item, hash));
    return true;
  }));
  return out;
}

Result<void> set_difference_update(Interp& interp, Set* s, const Value& from) {
  if (from.is(Kind::Set)) {
    const Set* other = from.as<Set>();
    if (other == s) {
      set_clear(s);
      return {};
    }
    size_t at = 0;
    while (const Set::Entry* e = set_next(other, at)) {
      Value key = e->key;
      TFL_TRY(set_remove_hashed(interp, s, key, e->hash));
    }
    return set_sweep(interp, s);
  }
  TFL_TRY(for_each(interp, from, [&](Value item) -> Result<bool> {
    TFL_TRY(set_remove(interp, s, item));
    return true;
  }));
  return set_sweep(interp, s);
}

Result<Value> set_difference(Interp& interp, Type* type, const Value& a, const Value& b) {
  const Set* s = a.as<Set>();
  int64_t other_size = b.is(Kind::Set) ? b.as<Set>()->used : b.is(Kind::Dict) ? b.as<Dict>()->live : -1;
  if (other_size < 0 || (s->used >> 2) > other_size) {
    Value copy = TFL_TRY(set_copy_as(interp, type, s));
    TFL_TRY(set_difference_update(interp, copy.as<Set>(), b));
    return copy;
  }
  Value out = new_set(interp, type);
  size_t at = 0;
  while (const Set::Entry* e = set_next(s, at)) {
    Value key = e->key;
    uint64_t hash = e->hash;
    bool found = TFL_TRY(b.is(Kind::Set) ? set_contains_hashed(interp, b.as<Set>(), key, hash) : contains(interp, b, key));
    if (!found) TFL_TRY(set_add_hashed(interp, out.as<Set>(), key, hash));
  }
  return out;
}

Result<void> set_symmetric_update(Interp& interp, Set* s, const Set* other) {
  if (other == s) {
    set_clear(s);
    return {};
  }
  size_t at = 0;
  while (const Set::Entry* e = set_next(other, at)) {
    Value key = e->key;
    uint64_t hash = e->hash;
    bool removed = TFL_TRY(set_remove_hashed(interp, s, key, hash));
    if (!removed) TFL_TRY(set_add_hashed(interp, s, key, hash));
  }
  return {};
}

Result<Value> set_symmetric_difference(Interp& interp, Type* type, const Value& a, const Value& b) {
  Value out = new_set(interp, type);
  TFL_TRY(set_update(interp, out.as<Set>(), b));
  TFL_TRY(set_symmetric_update(interp, out.as<Set>(), a.as<Set>()));
  return out;
}

Result<bool> set_is_subset(Interp& interp, const Set* a, const Set* b) {
  if (a->used > b->used) return false;
  size_t at = 0;
  while (const Set::Entry* e = set_next(a, at)) {
    Value key = e->key;
    bool found = TFL_TRY(set_contains_hashed(interp, b, key, e->hash));
    if (!found) return false;
  }
  return true;
}

Result<Value> as_set(Interp& interp, const Value& v) {
  if (v.is(Kind::Set)) return v;
  Value s = new_set(interp, interp.types.set);
  TFL_TRY(set_update(interp, s.as<Set>(), v));
  return s;
}

Result<Value> set_compare(Interp& interp, CompareOp op, const Set* a, const Set* b) {
  Nesting nesting(interp);
  if (!nesting.ok()) return too_deep(" in comparison");
  bool r = false;
  switch (op) {
    case CompareOp::Eq:
    case CompareOp::Ne:
      if (a->used == b->used) r = TFL_TRY(set_is_subset(interp, a, b));
      if (op == CompareOp::Ne) r = !r;
      break;
    case CompareOp::Le: r = TFL_TRY(set_is_subset(interp, a, b)); break;
    case CompareOp::Ge: r = TFL_TRY(set_is_subset(interp, b, a)); break;
    case CompareOp::Lt:
      if (a->used < b->used) r = TFL_TRY(set_is_subset(interp, a, b));
      break;
    case CompareOp::Gt:
      if (a->used > b->used) r = TFL_TRY(set_is_subset(interp, b, a));
      break;
    default: return interp.not_implemented;
  }
  return Value::boolean(r);
}

namespace {

Result<Value> construct(Interp& interp, Type* type, CallArgs& args) {
  bool frozen = type->is_subtype_of(interp.types.frozenset);
  Value out[1];
  if (type->script && has_script_init(interp, type)) args.keywords = {};  // they are for __init__
  if (frozen || !has_script_init(interp, type) || !type->script) {
    std::string_view name = args.keywords.empty() ? std::string_view(type->name->text) : frozen ? "frozenset" : "set";
    TFL_TRY(take_arguments(interp, name, args, {"iterable"}, 0, 1, out));
  }
  if (frozen && type == interp.types.frozenset && out[0].is(Kind::Set) && out[0].object()->type == type) return out[0];
  Value self = new_set(interp, type);
  if (!out[0].is_empty()) TFL_TRY(set_update(interp, self.as<Set>(), out[0]));
  return self;
}

Result<Value> repr_slot(Interp& interp, const Value& self) {
  Set* s = self.as<Set>();
  std::string_view name = s->type->name->text;
  if (s->used == 0) return interp.strf("{}()", name);
  std::vector<Value> keys;
  size_t at = 0;
  while (const Set::Entry* e = set_next(s, at)) keys.push_back(e->key);
  bool plain = s->type == interp.types.set;
  std::string open = plain ? "{" : std::string(name) + "({";
  std::string text = TFL_TRY(repr_items(interp, s, &keys, {}, open, plain ? "}" : "})", std::string(name) + "(...)"));
  return interp.str(std::move(text));
}

Result<uint64_t> frozen_hash(Interp&, const Value& self) {
  const Set* s = self.as<Set>();
  uint64_t hash = 0;
  size_t at = 0;
  while (const Set::Entry* e = set_next(s, at)) hash ^= ((e->hash ^ 89869747u) ^ (e->hash << 16)) * 3644798167u;
  hash ^= (static_cast<uint64_t>(s->used) + 1) * 1927868237u;
  hash ^= (hash >> 11) ^ (hash >> 25);
  hash = hash * 69069u + 907133923u;
  return hash == ~uint64_t{0} ? 590923713u : hash;
}

Result<bool> truth_slot(Interp&, const Value& self) { return self.as<Set>()->used != 0; }
Result<int64_t> length_slot(Interp&, const Value& self) { return self.as<Set>()->used; }
Result<Value> iter_slot(Interp& interp, const Value& self) { return make_set_iterator(interp, self); }

Result<bool> contains_slot(Interp& interp, const Value& self, const Value& item) {
  // A set cannot be a key, but an equal frozenset can.
  if (item.is(Kind::Set) && item.object()->type->is_subtype_of(interp.types.set)) {
    uint64_t hash = TFL_TRY(frozen_hash(interp, item));
    return set_contains_hashed(interp, self.as<Set>(), item, hash);
  }
  return set_contains(interp, self.as<Set>(), item);
}

Type* native_set_type(Interp& interp, const Value& v) {
  return v.object()->type->is_subtype_of(interp.types.frozenset) ? interp.types.frozenset : interp.types.set;
}

Result<Value> binary_slot(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  if (!a.is(Kind::Set) || !b.is(Kind::Set)) return interp.not_implemented;
  Type* type = native_set_type(interp, a);
  switch (op) {
    case BinaryOp::BitOr: {
      Value out = TFL_TRY(set_copy_as(interp, type, a.as<Set>()));
      TFL_TRY(set_merge(interp, out.as<Set>(), b.as<Set>()));
      return out;
    }
    case BinaryOp::BitAnd: return set_intersection(interp, type, a, b);
    case BinaryOp::Sub: return set_difference(interp, type, a, b);
    case BinaryOp::BitXor: return set_symmetric_difference(interp, type, a, b);
    default: return interp.not_implemented;
  }
}

Result<Value> inplace_slot(Interp& interp, BinaryOp op, const Value& self, const Value& b) {
  if (!b.is(Kind::Set)) return interp.not_implemented;
  Set* s = self.as<Set>();
  switch (op) {
    case BinaryOp::BitOr: TFL_TRY(set_merge(interp, s, b.as<Set>())); return self;
    case BinaryOp::BitAnd: {
      Value both = TFL_TRY(set_intersection(interp, interp.types.set, self, b));
      s->table.swap(both.as<Set>()->table);
      std::swap(s->used, both.as<Set>()->used);
      std::swap(s->fill, both.as<Set>()->fill);
      return self;
    }
    case BinaryOp::Sub: TFL_TRY(set_difference_update(interp, s, b)); return self;
    case BinaryOp::BitXor: TFL_TRY(set_symmetric_update(interp, s, b.as<Set>())); return self;
    default: return interp.not_implemented;
  }
}

Result<Value> compare_slot(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if (!a.is(Kind::Set) || !b.is(Kind::Set)) return interp.not_implemented;
  return set_compare(interp, op, a.as<Set>(), b.as<Set>());
}

}  // namespace

extern const Slots set_slots, frozenset_slots;

const Slots set_slots = {.kind = Kind::Set,
                         .destroy = destroy_object<Set>,
                         .construct = construct,
                         .repr = repr_slot,
                         .truth = truth_slot,
                         .length = length_slot,
                         .contains = contains_slot,
                         .iter = iter_slot,
                         .binary = binary_slot,
                         .inplace = inplace_slot,
                         .compare = compare_slot};

const Slots frozenset_slots = {.kind = Kind::Set,
                               .destroy = destroy_object<Set>,
                               .construct = construct,
                               .repr = repr_slot,
                               .hash = frozen_hash,
                               .truth = truth_slot,
                               .length = length_slot,
                               .contains = contains_slot,
                               .iter = iter_slot,
                               .binary = binary_slot,
                               .compare = compare_slot};

}  // namespace tfl
