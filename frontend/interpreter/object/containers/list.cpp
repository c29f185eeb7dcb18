// list: construction, items and slices, operators. Its methods are in list_methods.cpp.
#include "frontend/interpreter/object/containers/list.h"

#include <algorithm>
#include <cstring>

#include "frontend/core/native.h"
#include "frontend/interpreter/object/containers/iterators.h"

namespace tfl {

Result<void> list_insert(Interp& interp, List* list, int64_t at, Value item) {
  TFL_TRY(list_append(interp, list, Value()));
  // A value may be moved as bytes: the place behind the last item is Empty, and no reference is counted twice.
  Value* place = list->items.data() + at;
  std::memmove(static_cast<void*>(place + 1), static_cast<const void*>(place),
               (list->items.size() - 1 - static_cast<size_t>(at)) * sizeof(Value));
  new (place) Value(std::move(item));
  return {};
}

Value list_take(List* list, int64_t at) {
  Value* place = list->items.data() + at;
  Value item = std::move(*place);
  std::memmove(static_cast<void*>(place), static_cast<const void*>(place + 1),
               (list->items.size() - 1 - static_cast<size_t>(at)) * sizeof(Value));
  new (&list->items.back()) Value();
  list->items.pop_back();
  return item;
}

Result<void> list_extend(Interp& interp, List* list, const Value& iterable) {
  auto room = [&](size_t more) { return guard_memory(interp, more * sizeof(Value)); };
  if (iterable.is(Kind::List) && !iterable.object()->type->script) {
    List* other = iterable.as<List>();
    TFL_TRY(room(other->items.size()));
    size_t n = other->items.size();  // the list may be extended by itself
    list->items.reserve(list->items.size() + n);
    for (size_t i = 0; i < n; ++i) list->items.push_back(other->items[i]);
    return {};
  }
  if (iterable.is(Kind::Tuple) && !iterable.object()->type->script) {
    auto items = iterable.as<Tuple>()->span();
    list->items.insert(list->items.end(), items.begin(), items.end());
    return {};
  }
  if (iterable.is(Kind::Range)) {
    int64_t n = TFL_TRY(length(interp, iterable));
    if (n > (int64_t{1} << 58)) return fail(ErrorKind::MemoryError, "");
    TFL_TRY(room(static_cast<size_t>(n)));
    const Range* r = iterable.as<Range>();
    list->items.reserve(list->items.size() + static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) list->items.push_back(Value::integer(r->start + i * r->step));
    return {};
  }
  if (interp.type_of(iterable)->script) {
    Value it = TFL_TRY(iter(interp, iterable));
    TFL_TRY(ask_length_hint(interp, iterable));
    for (;;) {
      Value item = TFL_TRY(next(interp, it));
      if (item.is_empty()) return {};
      TFL_TRY(list_append(interp, list, std::move(item)));
    }
  }
  if (iterable.is(Kind::Iterator) && iterable.object()->type == interp.types.list_reverseiterator) {
    auto* it = iterable.as<Iterator>();
    if (it->state.is_empty()) return {};
    Value from = std::move(it->state);  // it is exhausted by now
    int64_t last = std::min(it->position, static_cast<int64_t>(from.as<List>()->items.size()) - 1);
    if (last != it->position) return {};
    TFL_TRY(room(static_cast<size_t>(last + 1)));
    list->items.reserve(list->items.size() + static_cast<size_t>(last + 1));
    for (int64_t i = last; i >= 0; --i) list->items.push_back(from.as<List>()->items[static_cast<size_t>(i)]);
    return {};
  }
  return for_each(interp, iterable, [&](Value item) -> Result<bool> {
    TFL_TRY(list_append(interp, list, std::move(item)));
    return true;
  });
}

Value list_slice(Interp& interp, const List* list, int64_t start, int64_t stop, int64_t step) {
  std::vector<Value> out;
  if (step == 1) {
    if (start < stop) out.assign(list->items.begin() + start, list->items.begin() + stop);
  } else {
    int64_t n = slice_length(start, stop, step);
    out.reserve(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) out.push_back(list->items[static_cast<size_t>(start + i * step)]);
  }
  return interp.list(std::move(out));
}

namespace {

Result<Value> construct(Interp& interp, Type* type, CallArgs& args) {
  Value out[1];
  bool own_init = type->script && has_script_init(interp, type);
  if (!own_init) TFL_TRY(take_arguments(interp, "list", args, {"iterable"}, 0, 1, out));
  List* list = interp.allocate<List>(type);
  Value self = Value::adopt(list);
  if (!out[0].is_empty()) TFL_TRY(list_extend(interp, list, out[0]));
  return self;
}

Result<Value> repr_slot(Interp& interp, const Value& self) {
  List* list = self.as<List>();
  std::string text = TFL_TRY(repr_items(interp, list, &list->items, {}, "[", "]", "[...]"));
  return interp.str(std::move(text));
}

Result<bool> truth_slot(Interp&, const Value& self) { return !self.as<List>()->items.empty(); }
Result<int64_t> length_slot(Interp&, const Value& self) { return static_cast<int64_t>(self.as<List>()->items.size()); }

/// The index of an item. __index__ may have changed the list: what it says is compared with the length as it is then.
Result<int64_t> item_index(Interp& interp, const Value& key, List* list, std::string_view wording) {
  int64_t i = TFL_TRY(sequence_index(interp, key, static_cast<int64_t>(list->items.size()), "list", wording));
  if (i < static_cast<int64_t>(list->items.size())) [[likely]]
    return i;
  return fail(ErrorKind::IndexError, "list {} out of range", wording);
}

Result<Value> get_item_slot(Interp& interp, const Value& self, const Value& key) {
  List* list = self.as<List>();
  if (key.is(Kind::Slice)) {
    int64_t start, stop, step;
    TFL_TRY(slice_unpack(interp, *key.as<Slice>(), start, stop, step));
    slice_adjust(static_cast<int64_t>(list->items.size()), start, stop, step);
    return list_slice(interp, list, start, stop, step);
  }
  int64_t i = TFL_TRY(item_index(interp, key, list, "index"));
  return list->items[static_cast<size_t>(i)];
}

/// Replaces [start, stop) by `with`. What was there is dropped last: destructors may run code.
void replace_range(List* list, int64_t start, int64_t stop, std::vector<Value> with) {
  auto& items = list->items;
  std::vector<Value> old(std::make_move_iterator(items.begin() + start), std::make_move_iterator(items.begin() + stop));
  size_t common = std::min(old.size(), with.size());
  for (size_t i = 0; i < common; ++i) items[static_cast<size_t>(start) + i] = std::move(with[i]);
  auto at = items.begin() + start + static_cast<ptrdiff_t>(common);
  if (with.size() > common) {
    items.insert(at, std::make_move_iterator(with.begin() + static_cast<ptrdiff_t>(common)), std::make_move_iterator(with.end()));
  } else {
    items.erase(at, items.begin() + stop);
  }
}

Result<void> set_slice(Interp& interp, List* list, const Slice& slice, const Value& value) {
  // The new items are taken first: making them may change the list.
  std::vector<Value> with;
  bool deleting = value.is_empty();
  if (!deleting) {
    auto items = to_vector(interp, value);
    if (!items) {
      if (items.error().kind == ErrorKind::TypeError && !items.error().payload &&
          items.error().message.ends_with("object is not iterable")) {
        return slice.step.is_none() ? fail(ErrorKind::TypeError, "can only assign an iterable")
                                    : fail(ErrorKind::TypeError, "must assign iterable to extended slice");
      }
      return items.failure();
    }
    with = items.take();
  }
  int64_t start, stop, step;
  TFL_TRY(slice_unpack(interp, slice, start, stop, step));
  slice_adjust(static_cast<int64_t>(list->items.size()), start, stop, step);
  if (step == 1) {
    replace_range(list, start, std::max(start, stop), std::move(with));
    return {};
  }
  int64_t n = slice_length(start, stop, step);
  if (!deleting) {
    if (static_cast<int64_t>(with.size()) != n) {
      return fail(ErrorKind::ValueError, "attempt to assign sequence of size {} to extended slice of size {}", with.size(), n);
    }
    for (int64_t i = 0; i < n; ++i) std::swap(list->items[static_cast<size_t>(start + i * step)], with[static_cast<size_t>(i)]);
    return {};
  }
  std::vector<Value> gone;
  if (step < 0) {
    start += (n - 1) * step;
    step = -step;
  }
  std::vector<Value> kept;
  kept.reserve(list->items.size() - static_cast<size_t>(n));
  for (int64_t i = 0; i < static_cast<int64_t>(list->items.size()); ++i) {
    Value& item = list->items[static_cast<size_t>(i)];
    bool out = i >= start && (i - start) % step == 0 && (i - start) / step < n;
    (out ? gone : kept).push_back(std::move(item));
  }
  list->items.swap(kept);
  return {};
}

Result<void> set_item_slot(Interp& interp, const Value& self, const Value& key, const Value& value) {
  List* list = self.as<List>();
  if (key.is(Kind::Slice)) return set_slice(interp, list, *key.as<Slice>(), value);
  int64_t i = TFL_TRY(item_index(interp, key, list, "assignment index"));
  if (value.is_empty()) {
    Value old = list_take(list, i);
  } else {
    list->items[static_cast<size_t>(i)] = value;
  }
  return {};
}

Result<bool> contains_slot(Interp& interp, const Value& self, const Value& item) {
  List* list = self.as<List>();
  for (size_t i = 0; i < list->items.size(); ++i) {
    Value candidate = list->items[i];
    bool same = TFL_TRY(equals(interp, candidate, item));
    if (same) return true;
  }
  return false;
}

Result<Value> iter_slot(Interp& interp, const Value& self) { return make_list_iterator(interp, self); }

Result<Value> repeat(Interp& interp, const List* list, int64_t times) {
  size_t total = TFL_TRY(guard_repeat(interp, list->items.size(), times, sizeof(Value)));
  std::vector<Value> out;
  out.reserve(total);
  if (list->items.size() == 1) {
    out.assign(total, list->items[0]);
  } else {
    while (out.size() < total) out.insert(out.end(), list->items.begin(), list->items.end());
  }
  return interp.list(std::move(out));
}

Result<Value> binary_slot(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  if (op == BinaryOp::Add && a.is(Kind::List) && b.is(Kind::List)) {
    List *x = a.as<List>(), *y = b.as<List>();
    TFL_TRY(guard_memory(interp, (x->items.size() + y->items.size()) * sizeof(Value)));
    std::vector<Value> out;
    out.reserve(x->items.size() + y->items.size());
    out.insert(out.end(), x->items.begin(), x->items.end());
    out.insert(out.end(), y->items.begin(), y->items.end());
    return interp.list(std::move(out));
  }
  if (op == BinaryOp::Mul) {
    const Value& list = a.is(Kind::List) ? a : b;
    const Value& times = a.is(Kind::List) ? b : a;
    Value plain = unboxed(times);
    if (plain.is_int() || plain.is_bool()) return repeat(interp, list.as<List>(), plain.as_int());
  }
  return interp.not_implemented;
}

Result<Value> inplace_slot(Interp& interp, BinaryOp op, const Value& self, const Value& b) {
  List* list = self.as<List>();
  if (op == BinaryOp::Add) {
    TFL_TRY(list_extend(interp, list, b));
    return self;
  }
  Value times = unboxed(b);
  if (op == BinaryOp::Mul && (times.is_int() || times.is_bool())) {
    size_t n = list->items.size();
    size_t total = TFL_TRY(guard_repeat(interp, n, times.as_int(), sizeof(Value)));
    if (total == 0) {
      std::vector<Value> old;
      old.swap(list->items);
      return self;
    }
    list->items.reserve(total);
    for (size_t i = n; i < total; ++i) list->items.push_back(list->items[i - n]);
    return self;
  }
  return interp.not_implemented;
}

Result<Value> compare_slot(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if (!a.is(Kind::List) || !b.is(Kind::List)) return interp.not_implemented;
  return compare_sequences(interp, op, a, b);
}

}  // namespace

extern const Slots list_slots;

const Slots list_slots = {.kind = Kind::List,
                          .destroy = destroy_object<List>,
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
