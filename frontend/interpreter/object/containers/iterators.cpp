#include "frontend/interpreter/object/containers/iterators.h"

#include "frontend/core/native.h"
#include "frontend/core/str.h"
#include "frontend/text/utf8.h"

namespace tfl {

namespace {

using Advance = Result<Value> (*)(Interp&, Iterator&);

Value make(Interp& interp, Type* type, Advance advance, Value state, int64_t position = 0, int64_t stop = 0, int64_t step = 0) {
  auto* it = interp.allocate<Iterator>(type);
  it->advance = advance;
  it->state = std::move(state);
  it->position = position;
  it->stop = stop;
  it->step = step;
  return Value::adopt(it);
}

Result<Value> exhausted(Iterator& it) {
  it.state = Value();
  return Value();
}

/// The same after calls of the script, in which other iterators may have ended.
Result<Value> exhausted_by_itself(Interp& interp, Iterator& it) {
  interp.ended.forget();
  return exhausted(it);
}

Result<Value> next_of_list(Interp&, Iterator& it) {
  if (it.state.is_empty()) return Value();
  List* list = it.state.as<List>();
  if (it.position >= static_cast<int64_t>(list->items.size())) return exhausted(it);
  return list->items[static_cast<size_t>(it.position++)];
}

Result<Value> next_of_list_reversed(Interp&, Iterator& it) {
  if (it.state.is_empty()) return Value();
  List* list = it.state.as<List>();
  if (it.position < 0 || it.position >= static_cast<int64_t>(list->items.size())) return exhausted(it);
  return list->items[static_cast<size_t>(it.position--)];
}

Result<Value> next_of_tuple(Interp&, Iterator& it) {
  if (it.state.is_empty()) return Value();
  Tuple* t = it.state.as<Tuple>();
  if (it.position < 0 || it.position >= t->size) return exhausted(it);
  Value item = t->items[it.position];
  it.position += it.step;
  return item;
}

Result<Value> next_of_str(Interp& interp, Iterator& it) {
  if (it.state.is_empty()) return Value();
  const std::string& s = text_of(it.state);
  auto at = static_cast<size_t>(it.position);
  if (at >= s.size()) return exhausted(it);
  it.position += static_cast<int64_t>(utf8::size_of(static_cast<unsigned char>(s[at])));
  return character_at(interp, s, at);
}

Result<Value> next_of_str_reversed(Interp& interp, Iterator& it) {
  if (it.state.is_empty()) return Value();
  const std::string& s = text_of(it.state);
  if (it.position <= 0) return exhausted(it);
  auto end = static_cast<size_t>(it.position);
  size_t at = utf8::previous(s, end);
  it.position = static_cast<int64_t>(at);
  return character_at(interp, s, at);
}

Result<Value> next_of_bytes(Interp&, Iterator& it) {
  if (it.state.is_empty()) return Value();
  const std::string& s = it.state.as<Bytes>()->data;
  if (it.position < 0 || it.position >= static_cast<int64_t>(s.size())) return exhausted(it);
  auto byte = static_cast<unsigned char>(s[static_cast<size_t>(it.position)]);
  it.position += it.step;
  return Value::integer(byte);
}

// `stop` is how many are left.
Result<Value> next_of_range(Interp&, Iterator& it) {
  if (it.stop <= 0) return Value();
  --it.stop;
  Value v = Value::integer(it.position);
  it.position = static_cast<int64_t>(static_cast<uint64_t>(it.position) + static_cast<uint64_t>(it.step));
  return v;
}

Result<Value> next_of_set(Interp&, Iterator& it) {
  if (it.state.is_empty()) return Value();
  Set* s = it.state.as<Set>();
  if (s->used != it.stop) {
    it.stop = -1;  // and from now on always
    return fail(ErrorKind::RuntimeError, "Set changed size during iteration");
  }
  auto at = static_cast<size_t>(it.position);
  const Set::Entry* e = set_next(s, at);
  it.position = static_cast<int64_t>(at);
  if (!e) return exhausted(it);
  return e->key;
}

template <DictPart Part, bool Reversed>
Result<Value> next_of_dict(Interp& interp, Iterator& it) {
  if (it.state.is_empty()) return Value();
  Dict* d = it.state.as<Dict>();
  if (d->live != it.stop) {
    it.stop = -1;
    return fail(ErrorKind::RuntimeError, "dictionary changed size during iteration");
  }
  Dict::Entry* e = nullptr;
  if (Reversed) {
    while (it.position > 0 && !e) {
      --it.position;
      if (it.position < static_cast<int64_t>(d->entries.size()) && !d->entries[static_cast<size_t>(it.position)].key.is_empty()) {
        e = &d->entries[static_cast<size_t>(it.position)];
      }
    }
  } else {
    auto at = static_cast<size_t>(it.position);
    e = dict_next(d, at);
    it.position = static_cast<int64_t>(at);
  }
  if (!e) return exhausted(it);
  // More items than there were keys: keys were replaced while iterating.
  if (it.step++ >= it.stop) {
    it.stop = -1;
    return fail(ErrorKind::RuntimeError, "dictionary keys changed during iteration");
  }
  if (Part == DictPart::Keys) return e->key;
  if (Part == DictPart::Values) return e->value;
  if (it.last.is_empty() || it.last.counted()->refs != 1) it.last = Value::adopt(new_tuple(interp, interp.types.tuple, 2));
  Value pair = it.last;
  // What the tuple held goes last: its destructor may run code.
  Value old_key = std::exchange(pair.as<Tuple>()->items[0], e->key),
        old_value = std::exchange(pair.as<Tuple>()->items[1], e->value);
  return pair;
}

Result<Value> next_of_sequence(Interp& interp, Iterator& it) {
  if (it.state.is_empty()) return Value();
  auto item = get_item(interp, it.state, Value::integer(it.position));
  if (item) {
    ++it.position;
    return item;
  }
  Value exception = interp.exception_of(item.error());
  if (interp.is_instance(exception, interp.exception_type(ErrorKind::IndexError)) ||
      interp.is_instance(exception, interp.exception_type(ErrorKind::StopIteration))) {
    return exhausted_by_itself(interp, it);
  }
  return item.failure();
}

Result<Value> next_of_sequence_reversed(Interp& interp, Iterator& it) {
  if (it.state.is_empty() || it.position < 0) return exhausted_by_itself(interp, it);
  Value key = Value::integer(it.position--);
  auto item = get_item(interp, it.state, key);
  if (item) return item;
  Value exception = interp.exception_of(item.error());
  if (interp.is_instance(exception, interp.exception_type(ErrorKind::IndexError))) return exhausted_by_itself(interp, it);
  return item.failure();
}

Result<Value> next_of_callable(Interp& interp, Iterator& it) {
  if (it.state.is_empty()) return Value();
  Value callable = it.state.as<Tuple>()->items[0], sentinel = it.state.as<Tuple>()->items[1];
  Value item = TFL_TRY(interp.call(callable, {}));
  bool end = TFL_TRY(equals(interp, sentinel, item));
  if (end) return exhausted_by_itself(interp, it);
  return item;
}

Result<Value> next_of_native(Interp& interp, Iterator& it) {
  if (it.state.is_empty()) return Value();
  Value state = it.state;  // kept alive whatever the step does
  Value item = TFL_TRY(it.step_native(interp, state, it.position));
  if (item.is_empty()) return exhausted_by_itself(interp, it);
  if (!state.identical(it.state)) it.state = std::move(state);
  return item;
}

// --------------------------------------------------------------------------------------------------- slots

Result<Value> iter_slot(Interp&, const Value& self) { return self; }
Result<Value> next_slot(Interp& interp, const Value& self) {
  auto* it = self.as<Iterator>();
  return it->advance(interp, *it);
}

/// Whether to go on with a copy of it changes nothing.
bool may_be_walked(Interp& interp, const Iterator& it) { return !it.step_native && it.type != interp.types.callable_iterator; }

/// What a copy of an iterator would still give; the iterator stays where it is.
Result<std::vector<Value>> left_in(Interp& interp, const Iterator& it) {
  std::vector<Value> left;
  if (!it.advance) return left;
  Value held = make(interp, it.type, it.advance, it.state, it.position, it.stop, it.step);
  for (;;) {
    Value item = TFL_TRY(held.as<Iterator>()->advance(interp, *held.as<Iterator>()));
    if (item.is_empty()) return left;
    left.push_back(std::move(item));
    if (left.size() % 4096 == 0) TFL_TRY(guard_memory(interp, left.size() * sizeof(Value)));
  }
}

/// What is left, for list() of an iterator and operator.length_hint.
Result<Value> length_hint(Interp& interp, Value* a) {
  if (!a[0].is(Kind::Iterator)) return Value::integer(0);
  const Type* type = a[0].object()->type;
  auto* it = a[0].as<Iterator>();
  if (type == interp.types.range_iterator) return Value::integer(it->stop);
  if (it->state.is_empty()) return Value::integer(0);
  if (type == interp.types.list_iterator) {
    return Value::integer(std::max<int64_t>(0, static_cast<int64_t>(it->state.as<List>()->items.size()) - it->position));
  }
  if (type == interp.types.tuple_iterator)
    return Value::integer(std::max<int64_t>(0, it->state.as<Tuple>()->size - it->position));
  // Others are walked, in a copy of theirs.
  if (!may_be_walked(interp, *it)) return Value::integer(0);
  std::vector<Value> left = TFL_TRY(left_in(interp, *it));
  return Value::integer(static_cast<int64_t>(left.size()));
}

/// (iter, (what is left,)): a pickle or a copy of an iterator.
Result<Value> reduce(Interp& interp, Value* a) {
  if (!a[0].is(Kind::Iterator) || !may_be_walked(interp, *a[0].as<Iterator>()))
    return fail(ErrorKind::TypeError, "cannot pickle '{}' object", interp.type_name(a[0]));
  std::vector<Value> left = TFL_TRY(left_in(interp, *a[0].as<Iterator>()));
  const Type* type = a[0].object()->type;
  Value again = type == interp.types.tuple_iterator ? interp.tuple(std::span<const Value>(left)) : interp.list(std::move(left));
  Value iter_function = dict_get_str(interp.builtins.as<Module>()->dict.as<Dict>(), interp.intern("iter"));
  return interp.tuple({iter_function, interp.tuple({again})});
}

constexpr NativeDef kMethods[] = {method("__length_hint__", "self, /", length_hint), method("__reduce__", "self, /", reduce)};

}  // namespace

Value make_list_iterator(Interp& interp, const Value& list) {
  return make(interp, interp.types.list_iterator, next_of_list, list);
}
Value make_tuple_iterator(Interp& interp, const Value& t) {
  return make(interp, interp.types.tuple_iterator, next_of_tuple, t, 0, 0, 1);
}
Value make_str_iterator(Interp& interp, const Value& str) {
  str_length(str.as<Str>());
  return make(interp,
              str.as<Str>()->ascii() && str.object()->type == interp.types.str ? interp.types.str_ascii_iterator
                                                                               : interp.types.str_iterator,
              next_of_str, str);
}
Value make_bytes_iterator(Interp& interp, const Value& b) {
  return make(interp, interp.types.bytes_iterator, next_of_bytes, b, 0, 0, 1);
}
Value make_range_iterator(Interp& interp, int64_t start, int64_t count, int64_t step) {
  return make(interp, interp.types.range_iterator, next_of_range, Value(), start, count, step);
}
Value make_set_iterator(Interp& interp, const Value& set) {
  return make(interp, interp.types.set_iterator, next_of_set, set, 0, set.as<Set>()->used);
}

Value make_dict_iterator(Interp& interp, const Value& dict, DictPart part, bool reversed) {
  Dict* d = dict.as<Dict>();
  auto position = reversed ? static_cast<int64_t>(d->entries.size()) : 0;
  switch (part) {
    case DictPart::Keys:
      if (reversed)
        return make(interp, interp.types.dict_reversekeyiterator, next_of_dict<DictPart::Keys, true>, dict, position, d->live);
      return make(interp, interp.types.dict_keyiterator, next_of_dict<DictPart::Keys, false>, dict, position, d->live);
    case DictPart::Values:
      if (reversed)
        return make(interp, interp.types.dict_reversevalueiterator, next_of_dict<DictPart::Values, true>, dict, position,
                    d->live);
      return make(interp, interp.types.dict_valueiterator, next_of_dict<DictPart::Values, false>, dict, position, d->live);
    case DictPart::Items: break;
  }
  if (reversed)
    return make(interp, interp.types.dict_reverseitemiterator, next_of_dict<DictPart::Items, true>, dict, position, d->live);
  return make(interp, interp.types.dict_itemiterator, next_of_dict<DictPart::Items, false>, dict, position, d->live);
}

Value make_sequence_iterator(Interp& interp, const Value& sequence) {
  return make(interp, interp.types.sequence_iterator, next_of_sequence, sequence);
}
Value make_callable_iterator(Interp& interp, const Value& callable, const Value& sentinel) {
  return make(interp, interp.types.callable_iterator, next_of_callable, interp.tuple({callable, sentinel}));
}

Value make_reverse_iterator(Interp& interp, const Value& v) {
  Type* type = interp.types.reversed;
  switch (v.kind()) {
    case Kind::List:
      return make(interp, interp.types.list_reverseiterator, next_of_list_reversed, v,
                  static_cast<int64_t>(v.as<List>()->items.size()) - 1);
    case Kind::Tuple: return make(interp, type, next_of_tuple, v, v.as<Tuple>()->size - 1, 0, -1);
    case Kind::Str: return make(interp, type, next_of_str_reversed, v, static_cast<int64_t>(text_of(v).size()));
    case Kind::ByteArray:
    case Kind::Bytes: return make(interp, type, next_of_bytes, v, static_cast<int64_t>(v.as<Bytes>()->data.size()) - 1, 0, -1);
    case Kind::Range: {
      const Range* r = v.as<Range>();
      auto n = length(interp, v);
      int64_t count = n ? *n : 0;
      auto last = static_cast<int64_t>(static_cast<uint64_t>(r->start) +
                                       static_cast<uint64_t>(count - 1) * static_cast<uint64_t>(r->step));
      auto step = static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(r->step));
      return make_range_iterator(interp, count ? last : 0, count, step);
    }
    case Kind::Dict: return make_dict_iterator(interp, v, DictPart::Keys, true);
    case Kind::DictView: {
      const Type* view = v.object()->type;
      DictPart part = view == interp.types.dict_values  ? DictPart::Values
                      : view == interp.types.dict_items ? DictPart::Items
                                                        : DictPart::Keys;
      return make_dict_iterator(interp, v.as<DictView>()->dict, part, true);
    }
    default: return Value();
  }
}

Value make_reverse_sequence_iterator(Interp& interp, const Value& sequence, int64_t length) {
  return make(interp, interp.types.reversed, next_of_sequence_reversed, sequence, length - 1);
}

Value make_iterator(Interp& interp, Type* type, Result<Value> (*next)(Interp&, Value&, int64_t&), Value state, int64_t position) {
  Value v = make(interp, type, next_of_native, std::move(state), position);
  v.as<Iterator>()->step_native = next;
  return v;
}

extern const Slots iterator_slots;

const Slots iterator_slots = {.kind = Kind::Iterator, .destroy = destroy_object<Iterator>, .iter = iter_slot, .next = next_slot};

std::span<const NativeDef> iterator_methods() { return kMethods; }

}  // namespace tfl
