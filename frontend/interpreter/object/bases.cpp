#include "frontend/interpreter/object/bases.h"

#include <algorithm>

#include "frontend/core/attributes.h"

namespace tfl {

namespace {

constexpr size_t kMaxClassDepth = 100;  // length of an order

bool may_be_base(Interp& interp, const Type* base) {
  const Types& t = interp.types;
  for (const Type* no :
       {t.bool_, t.none_type, t.ellipsis_type, t.not_implemented_type, t.range, t.slice, t.function, t.native_function,
        t.method_descriptor, t.method, t.module, t.cell, t.code, t.generator, t.coroutine, t.async_generator, t.memory_view}) {
    if (base == no) return false;
  }
  return true;
}

std::vector<Type*> order_of(const Type* type) {
  std::vector<Type*> order;
  for (Lineage l(type); l.at; l.next()) order.push_back(l.at);
  return order;
}

bool has_own_slots(const Type* type) {
  if (!type->has_slots) return false;
  const auto& space = type->dict.as<Dict>()->entries;
  return std::any_of(space.begin(), space.end(), [&](const Dict::Entry& e) {
    return e.value.is(Kind::Property) && e.value.as<Property>()->is_slot() && e.value.as<Property>()->set.counted() == type;
  });
}

/// What first has the layout of `type`: a class with slots, or a native type.
const Type* layout_of(const Type* type) {
  const Type* found = type;
  for (const Type* t = type; t; t = t->base) {
    if (has_own_slots(t)) return t;
    if (t->slots == type->slots) found = t;
  }
  return found;
}

/// The base whose layout includes that of all others; null when two exclude each other.
Type* best_layout(std::span<Value> bases) {
  Type* best = nullptr;
  for (const Value& v : bases) {
    Type* candidate = v.as<Type>();
    if (!best || (layout_of(candidate) != layout_of(best) && layout_of(candidate)->is_subtype_of(layout_of(best))))
      best = candidate;
    else if (!layout_of(best)->is_subtype_of(layout_of(candidate)))
      return nullptr;
  }
  return best;
}

/// C3: each class before its bases, bases as they are written, and every base's own order kept. Empty when that cannot be.
std::vector<Type*> merged(std::vector<std::vector<Type*>> lists) {
  std::vector<Type*> order;
  std::vector<size_t> heads(lists.size(), 0);
  auto is_later = [&](const Type* t) {
    for (size_t i = 0; i < lists.size(); ++i) {
      if (heads[i] < lists[i].size() &&
          std::find(lists[i].begin() + static_cast<std::ptrdiff_t>(heads[i]) + 1, lists[i].end(), t) != lists[i].end())
        return true;
    }
    return false;
  };
  for (;;) {
    bool done = true;
    Type* next = nullptr;
    for (size_t i = 0; i < lists.size() && !next; ++i) {
      if (heads[i] == lists[i].size()) continue;
      done = false;
      if (!is_later(lists[i][heads[i]])) next = lists[i][heads[i]];
    }
    if (done) return order;
    if (!next) return {};
    order.push_back(next);
    for (size_t i = 0; i < lists.size(); ++i) {
      if (heads[i] < lists[i].size() && lists[i][heads[i]] == next) ++heads[i];
    }
  }
}

Failure too_long() { return fail(ErrorKind::RecursionError, "classes derive from each other more than {} deep", kMaxClassDepth); }

}  // namespace

Result<Bases> resolve_bases(Interp& interp, const Value& bases) {
  Bases result;
  std::span<Value> given;
  if (!bases.is_empty()) given = bases.as<Tuple>()->span();
  for (const Value& v : given) {
    if (!v.is(Kind::Type)) {
      return fail(ErrorKind::TypeError, "the base of a class must be a class, not '{}'", interp.type_name(v));
    }
    if (!may_be_base(interp, v.as<Type>()))
      return fail(ErrorKind::TypeError, "type '{}' is not an acceptable base type", v.as<Type>()->name->text);
  }
  if (given.empty()) {
    result.layout = interp.types.object;
    return result;
  }
  for (size_t i = 0; i < given.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (given[i].identical(given[j]))
        return fail(ErrorKind::TypeError, "duplicate base class {}", given[i].as<Type>()->name->text);
    }
  }
  result.layout = best_layout(given);
  if (!result.layout) return fail(ErrorKind::TypeError, "multiple bases have instance lay-out conflict");
  if (given.size() > 1) result.several = bases;
  if (given.size() == 1 && !result.layout->order) {
    if (order_of(result.layout).size() > kMaxClassDepth) return too_long();
    return result;
  }
  std::vector<std::vector<Type*>> lists;
  std::vector<Type*> written;
  for (const Value& v : given) {
    lists.push_back(order_of(v.as<Type>()));
    written.push_back(v.as<Type>());
  }
  lists.push_back(written);
  std::vector<Type*> order = merged(std::move(lists));
  if (order.empty()) {
    std::string names;
    for (const Type* t : written) names += (names.empty() ? "" : ", ") + t->name->text;
    return fail(ErrorKind::TypeError, "Cannot create a consistent method resolution\norder (MRO) for bases {}", names);
  }
  if (order.size() > kMaxClassDepth) return too_long();
  result.order = std::make_unique<Type*[]>(order.size() + 2);
  std::copy(order.begin(), order.end(), result.order.get() + 1);
  return result;
}

Result<Type*> resolve_metaclass(Interp& interp, Type* metaclass, const Value& bases) {
  if (bases.is_empty()) return metaclass;
  for (const Value& v : bases.as<Tuple>()->span()) {
    Type* own = interp.type_of(v);
    if (!v.is(Kind::Type) || metaclass->is_subtype_of(own)) continue;
    if (!own->is_subtype_of(metaclass)) {
      return fail(
          ErrorKind::TypeError,
          "metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of the metaclasses of all "
          "its bases");
    }
    metaclass = own;
  }
  return metaclass;
}

Result<Value> resolve_entries(Interp& interp, const Value& bases) {
  std::vector<Value> resolved;
  bool changed = false;
  for (const Value& base : bases.as<Tuple>()->span()) {
    if (base.is(Kind::Type)) {
      resolved.push_back(base);
      continue;
    }
    // typing.NamedTuple and the like give classes when they are derived from.
    Value entries = TFL_TRY(find_attr(interp, base, interp.intern("__mro_entries__")));
    if (!entries.is_empty()) {
      Value replaced = TFL_TRY(interp.call(entries, {bases}));
      if (!replaced.is(Kind::Tuple)) return fail(ErrorKind::TypeError, "__mro_entries__ must return a tuple");
      for (const Value& v : replaced.as<Tuple>()->span()) resolved.push_back(v);
      changed = true;
    } else if (interp.type_of(base) == interp.types.generic_alias) {
      resolved.push_back(TFL_TRY(get_attr(interp, base, interp.intern("__origin__"))));
      changed = true;
    } else {
      resolved.push_back(base);
    }
  }
  return changed ? interp.tuple(std::span<const Value>(resolved)) : bases;
}

}  // namespace tfl
