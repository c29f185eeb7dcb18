// Items and iteration of any value.
#include "frontend/core/attributes.h"
#include "frontend/core/exception.h"
#include "frontend/core/native.h"
#include "frontend/core/registry.h"
#include "frontend/interpreter/object/class.h"
#include "frontend/interpreter/object/containers/iterators.h"

namespace tfl {

namespace {

/// The iterator over an object that only has __getitem__.
Result<Value> next_by_index(Interp& interp, Value& state, int64_t& position) {
  if (state.is_empty()) return Value();
  Value sequence = state;
  auto item = get_item(interp, sequence, Value::integer(position++));
  if (item) return item;
  if (error_is(item.error(), ErrorKind::IndexError) || error_is(item.error(), ErrorKind::StopIteration)) {
    state = Value();
    return Value();
  }
  return item;
}

}  // namespace

Result<Value> get_item(Interp& interp, const Value& v, const Value& key) {
  Type* type = interp.type_of(v);
  if (type->script) {
    Nesting nesting(interp);
    if (!nesting.ok()) return too_deep(" while calling a Python object");
    Value r = TFL_TRY(call_special(interp, v, interp.sym.__getitem__, {key}));
    if (!r.is_empty()) return r;
    if (v.is(Kind::Dict) && script_lookup(interp, type, interp.sym.__missing__)) {
      Value found = TFL_TRY(dict_get(interp, v.as<Dict>(), key));
      if (!found.is_empty()) return found;
      return call_special(interp, v, interp.sym.__missing__, {key});
    }
  }
  if (type->slots->get_item) return type->slots->get_item(interp, v, key);
  return fail(ErrorKind::TypeError, "'{}' object is not subscriptable", type->name->text);
}

Result<void> set_item(Interp& interp, const Value& v, const Value& key, const Value& value) {
  Type* type = interp.type_of(v);
  if (type->script) {
    Nesting nesting(interp);
    if (!nesting.ok()) return too_deep(" while calling a Python object");
    Value r = TFL_TRY(call_special(interp, v, interp.sym.__setitem__, {key, value}));
    if (!r.is_empty()) return {};
    if (!type->slots->set_item && script_lookup(interp, type, interp.sym.__delitem__))
      return fail(ErrorKind::AttributeError, "__setitem__");
  }
  if (type->slots->set_item) return type->slots->set_item(interp, v, key, value);
  return fail(ErrorKind::TypeError, "'{}' object does not support item assignment", type->name->text);
}

Result<void> del_item(Interp& interp, const Value& v, const Value& key) {
  Type* type = interp.type_of(v);
  if (type->script) {
    Nesting nesting(interp);
    if (!nesting.ok()) return too_deep(" while calling a Python object");
    Value r = TFL_TRY(call_special(interp, v, interp.sym.__delitem__, {key}));
    if (!r.is_empty()) return {};
    // CPython has one slot for both; a class that fills it with one method is asked for the other by name.
    if (!type->slots->set_item && script_lookup(interp, type, interp.sym.__setitem__))
      return fail(ErrorKind::AttributeError, "__delitem__");
  }
  if (type->slots->set_item) return type->slots->set_item(interp, v, key, Value());
  // CPython says it in two ways: for sequences that are asked by number, and for the rest.
  bool sequence = type->script || v.is_str() || v.is(Kind::Bytes) || v.is(Kind::Tuple) || v.is(Kind::Range) || v.is(Kind::Set) ||
                  v.is(Kind::DictView);
  bool number = key.is_int() || key.is_bool();
  return fail(ErrorKind::TypeError, "'{}' object {} support item deletion", type->name->text,
              sequence && number ? "doesn't" : "does not");
}

Result<bool> contains(Interp& interp, const Value& container, const Value& item) {
  Type* type = interp.type_of(container);
  if (type->script) {
    Nesting nesting(interp);
    if (!nesting.ok()) return too_deep(" while calling a Python object");
    if (const Value* entry = script_lookup(interp, type, interp.sym.__contains__)) {
      if (entry->is_none()) return fail(ErrorKind::TypeError, "'{}' object is not a container", type->name->text);
      Value r = TFL_TRY(call_entry(interp, Value(*entry), container, {item}));
      return truth(interp, r);
    }
  }
  if (type->slots->contains) return type->slots->contains(interp, container, item);
  auto it = iter(interp, container);
  if (!it) {
    if (error_is(it.error(), ErrorKind::TypeError) && !type->slots->iter && !script_lookup(interp, type, interp.sym.__iter__)) {
      return fail(ErrorKind::TypeError, "argument of type '{}' is not iterable", type->name->text);
    }
    return it.failure();
  }
  for (;;) {
    Value v = TFL_TRY(next(interp, *it));
    if (v.is_empty()) return false;
    bool same = TFL_TRY(equals(interp, v, item));
    if (same) return true;
  }
}

Result<Value> iter(Interp& interp, const Value& v) {
  Type* type = interp.type_of(v);
  if (type->script) {
    Nesting nesting(interp);
    if (!nesting.ok()) return too_deep(" while calling a Python object");
    if (const Value* entry = script_lookup(interp, type, interp.sym.__iter__)) {
      if (entry->is_none()) return fail(ErrorKind::TypeError, "'{}' object is not iterable", type->name->text);
      Value it = TFL_TRY(call_entry(interp, Value(*entry), v, {}));
      Type* it_type = interp.type_of(it);
      if (!it_type->slots->next && !script_lookup(interp, it_type, interp.sym.__next__)) {
        return fail(ErrorKind::TypeError, "iter() returned non-iterator of type '{}'", it_type->name->text);
      }
      return it;
    }
  }
  if (type->slots->iter) return type->slots->iter(interp, v);
  if (script_lookup(interp, type, interp.sym.__getitem__)) {
    return make_iterator(interp, interp.types.sequence_iterator, next_by_index, v);
  }
  return fail(ErrorKind::TypeError, "'{}' object is not iterable", type->name->text);
}

Result<Value> next(Interp& interp, const Value& iterator) {
  interp.ended.forget();
  // Natives that go through an iterator (sum, list, all ...) can be stopped here.
  if (interp.context.interrupt.load(std::memory_order_relaxed) != 0) [[unlikely]]
    TFL_TRY(interp.check_interrupt());
  Type* type = interp.type_of(iterator);
  // Iterators over iterators over ... are as deep as the script has made them.
  if (static_cast<const char*>(__builtin_frame_address(0)) < interp.stack_limit) [[unlikely]]
    return too_deep("");
  if (type->slots == &iterator_slots) return iterator.as<Iterator>()->advance(interp, *iterator.as<Iterator>());
  if (!type->script && type->slots->next) return type->slots->next(interp, iterator);
  if (const Value* entry = script_lookup(interp, type, interp.sym.__next__)) {
    Nesting nesting(interp);
    if (!nesting.ok()) return too_deep(" while calling a Python object");
    auto r = call_entry(interp, Value(*entry), iterator, {});
    if (r || !error_is(r.error(), ErrorKind::StopIteration) || interp.stopped) return r;
    interp.ended = {Value(), std::move(r.failure().error)};
    return Value();
  }
  if (type->slots->next) return type->slots->next(interp, iterator);
  return fail(ErrorKind::TypeError, "'{}' object is not an iterator", type->name->text);
}

Result<void> ask_length_hint(Interp& interp, const Value& v) {
  const Type* type = interp.type_of(v);
  if (!type->script) return {};
  if (type->slots->length || script_lookup(interp, type, interp.sym.__len__)) {
    auto n = length(interp, v);
    if (n) return {};
    if (!error_is(n.error(), ErrorKind::TypeError)) return n.failure();
  }
  auto hint = call_special(interp, v, interp.sym.__length_hint__, {});
  if (!hint) return error_is(hint.error(), ErrorKind::TypeError) ? Result<void>() : Result<void>(hint.failure());
  if (hint->is_empty() || is_not_implemented(interp, *hint)) return {};
  const Value& n = unboxed(*hint);
  if (!n.is_int() && !n.is_bool())
    return fail(ErrorKind::TypeError, "__length_hint__ must be an integer, not {}", interp.type_name(*hint));
  if (n.as_int() < 0) return fail(ErrorKind::ValueError, "__length_hint__() should return >= 0");
  return {};
}

Result<std::vector<Value>> to_vector(Interp& interp, const Value& iterable) {
  std::vector<Value> items;
  if (!interp.type_of(iterable)->script) {
    if (iterable.is(Kind::List)) return iterable.as<List>()->items;
    if (iterable.is(Kind::Tuple)) {
      auto span = iterable.as<Tuple>()->span();
      items.assign(span.begin(), span.end());
      return items;
    }
  }
  Value it = TFL_TRY(iter(interp, iterable));
  TFL_TRY(ask_length_hint(interp, iterable));
  uint32_t count = 0;
  for (;;) {
    Value item = TFL_TRY(next(interp, it));
    if (item.is_empty()) return items;
    items.push_back(std::move(item));
    if ((++count & 0xFFF) == 0) TFL_TRY(guard_memory_slow(interp, 0x1000 * sizeof(Value)));
  }
}

Result<Value> to_list(Interp& interp, const Value& iterable) {
  std::vector<Value> items = TFL_TRY(to_vector(interp, iterable));
  return interp.list(std::move(items));
}

}  // namespace tfl
