// deque, the double-ended queue of the module `_collections`: a ring, so that both ends and every place are reached in the same time.
#include <algorithm>

#include "frontend/core/registry.h"
#include "frontend/interpreter/modules/deque.h"
#include "frontend/interpreter/object/containers/list.h"

namespace tfl::deques {

struct Deque : Object {
  std::vector<Value> ring;  // a power of two, or empty; the places outside of the items are Empty
  size_t head = 0, count = 0;
  int64_t most = -1;     // maxlen; -1: none
  uint64_t changes = 0;  // what iterators look at
  Value& at(size_t i) { return ring[(head + i) & (ring.size() - 1)]; }
};

namespace {

Deque& of(const Value& v) { return *v.as<Deque>(); }
bool is_deque(const Value& v);
extern const Slots kIterator;

Result<void> make_room(Interp& interp, Deque& d) {
  if (d.count < d.ring.size()) return {};
  size_t size = std::max<size_t>(8, d.ring.size() * 2);
  TFL_TRY(guard_memory(interp, size * sizeof(Value)));
  std::vector<Value> wider(size);
  for (size_t i = 0; i < d.count; ++i) wider[i] = std::move(d.at(i));
  d.ring = std::move(wider);
  d.head = 0;
  return {};
}

Value take_last(Deque& d) {
  ++d.changes;
  return std::move(d.at(--d.count));
}

Value take_first(Deque& d) {
  ++d.changes;
  Value item = std::move(d.at(0));
  d.head = (d.head + 1) & (d.ring.size() - 1);
  --d.count;
  return item;
}

Result<void> push_last(Interp& interp, Deque& d, Value item) {
  if (d.most == 0) return {};
  Value gone;
  if (d.most > 0 && d.count >= static_cast<size_t>(d.most)) gone = take_first(d);
  TFL_TRY(make_room(interp, d));
  ++d.changes;
  d.at(d.count++) = std::move(item);
  return {};
}

Result<void> push_first(Interp& interp, Deque& d, Value item) {
  if (d.most == 0) return {};
  Value gone;
  if (d.most > 0 && d.count >= static_cast<size_t>(d.most)) gone = take_last(d);
  TFL_TRY(make_room(interp, d));
  ++d.changes;
  d.head = (d.head - 1) & (d.ring.size() - 1);
  ++d.count;
  d.at(0) = std::move(item);
  return {};
}

std::vector<Value> items_of(Deque& d) {
  std::vector<Value> items;
  items.reserve(d.count);
  for (size_t i = 0; i < d.count; ++i) items.push_back(d.at(i));
  return items;
}

void set_items(Deque& d, std::vector<Value> items) {
  std::vector<Value> old;
  old.swap(d.ring);
  d.head = 0;
  d.count = items.size();
  ++d.changes;
  size_t size = 8;
  while (size < items.size()) size *= 2;
  d.ring = std::move(items);
  d.ring.resize(size);
}

Result<void> extend_by(Interp& interp, const Value& self, Value iterable, bool first) {
  if (iterable.identical(self)) iterable = interp.list(items_of(of(self)));
  return for_each(interp, iterable, [&](Value item) -> Result<bool> {
    TFL_TRY(first ? push_first(interp, of(self), std::move(item)) : push_last(interp, of(self), std::move(item)));
    return true;
  });
}

// --------------------------------------------------------------------------------------------------- construction

Result<void> begin(Interp& interp, const Value& self, const Value& iterable, const Value& maxlen) {
  int64_t most = -1;
  if (!maxlen.is_empty() && !maxlen.is_none()) {
    Value plain = unboxed(maxlen);
    if (!plain.is_int() && !plain.is_bool()) return fail(ErrorKind::TypeError, "an integer is required");
    most = plain.as_int();
    if (most < 0) return fail(ErrorKind::ValueError, "maxlen must be non-negative");
  }
  of(self).most = most;
  if (of(self).count > 0) set_items(of(self), {});
  if (!iterable.is_empty()) TFL_TRY(extend_by(interp, self, iterable, false));
  return {};
}

Result<Value> construct(Interp& interp, Type* type, CallArgs& args) {
  Value out[2];
  bool own_init = type->script && has_script_init(interp, type);
  if (!own_init) TFL_TRY(take_arguments(interp, "deque", args, {"iterable", "maxlen"}, 0, 0, out));
  Value self = Value::adopt(interp.allocate<Deque>(type));
  TFL_TRY(begin(interp, self, out[0], out[1]));
  return self;
}

Result<Value> init(Interp& interp, Value* a) {
  TFL_TRY(begin(interp, a[0], a[1], a[2]));
  return Value::none();
}

/// An empty one of the same class and length.
Result<Value> like(Interp& interp, const Value& self, std::vector<Value> items) {
  Type* type = self.object()->type;
  Value maxlen = of(self).most < 0 ? Value::none() : Value::integer(of(self).most);
  Value made;
  if (!type->script)
    made = Value::adopt(interp.allocate<Deque>(type));
  else
    made = TFL_TRY(of(self).most < 0 ? interp.call(Value::share(type), {self}) : interp.call(Value::share(type), {self, maxlen}));
  if (!is_deque(made))
    return fail(ErrorKind::TypeError, "{}() must return a deque, not {}", type->name->text, interp.type_name(made));
  of(made).most = of(self).most;
  if (of(made).most >= 0 && items.size() > static_cast<size_t>(of(made).most))
    items.erase(items.begin(), items.end() - of(made).most);
  set_items(of(made), std::move(items));
  return made;
}

// -------------------------------------------------------------------------------------------------------- methods

Result<Value> append(Interp& interp, Value* a) {
  TFL_TRY(push_last(interp, of(a[0]), std::move(a[1])));
  return Value::none();
}

Result<Value> appendleft(Interp& interp, Value* a) {
  TFL_TRY(push_first(interp, of(a[0]), std::move(a[1])));
  return Value::none();
}

Result<Value> extend(Interp& interp, Value* a) {
  TFL_TRY(extend_by(interp, a[0], a[1], false));
  return Value::none();
}

Result<Value> extendleft(Interp& interp, Value* a) {
  TFL_TRY(extend_by(interp, a[0], a[1], true));
  return Value::none();
}

Result<Value> pop(Interp&, Value* a) {
  if (of(a[0]).count == 0) return fail(ErrorKind::IndexError, "pop from an empty deque");
  return take_last(of(a[0]));
}

Result<Value> popleft(Interp&, Value* a) {
  if (of(a[0]).count == 0) return fail(ErrorKind::IndexError, "pop from an empty deque");
  return take_first(of(a[0]));
}

Result<Value> clear(Interp&, Value* a) {
  set_items(of(a[0]), {});
  return Value::none();
}

Result<Value> copy(Interp& interp, Value* a) { return like(interp, a[0], items_of(of(a[0]))); }

Failure mutated() { return fail(ErrorKind::RuntimeError, "deque mutated during iteration"); }

Result<Value> count(Interp& interp, Value* a) {
  Deque& d = of(a[0]);
  uint64_t changes = d.changes;
  int64_t found = 0;
  for (size_t i = 0; i < d.count; ++i) {
    Value item = d.at(i);
    bool same = TFL_TRY(equals(interp, item, a[1]));
    if (d.changes != changes) return mutated();
    found += same;
  }
  return Value::integer(found);
}

/// The place of an equal item in [from, to), -1 where there is none.
Result<int64_t> find(Interp& interp, Deque& d, const Value& what, int64_t from, int64_t to) {
  uint64_t changes = d.changes;
  for (int64_t i = from; i < to && i < static_cast<int64_t>(d.count); ++i) {
    Value item = d.at(static_cast<size_t>(i));
    bool same = TFL_TRY(equals(interp, item, what));
    if (d.changes != changes) return mutated();
    if (same) return i;
  }
  return int64_t{-1};
}

Failure absent(Interp& interp, const Value& what) {
  auto text = repr_text(interp, what);
  if (!text) return text.failure();
  return fail(ErrorKind::ValueError, "{} is not in deque", *text);
}

Result<Value> index(Interp& interp, Value* a) {
  auto n = static_cast<int64_t>(of(a[0]).count);
  auto bound = [&](const Value& v, int64_t otherwise) -> Result<int64_t> {
    return v.is_empty() ? Result<int64_t>(otherwise) : search_bound(interp, v, n);
  };
  int64_t from = TFL_TRY(bound(a[2], 0)), to = TFL_TRY(bound(a[3], n));
  int64_t i = TFL_TRY(find(interp, of(a[0]), a[1], from, to));
  if (i < 0) return absent(interp, a[1]);
  return Value::integer(i);
}

Result<Value> insert(Interp& interp, Value* a) {
  Deque& d = of(a[0]);
  int64_t at = TFL_TRY(to_index(interp, a[1]));
  if (d.most >= 0 && d.count >= static_cast<size_t>(d.most))
    return fail(ErrorKind::IndexError, "deque already at its maximum size");
  auto n = static_cast<int64_t>(d.count);
  at = std::clamp<int64_t>(at < 0 ? at + n : at, 0, n);
  TFL_TRY(push_last(interp, d, std::move(a[2])));
  for (auto i = static_cast<size_t>(n); i > static_cast<size_t>(at); --i) d.at(i).swap(d.at(i - 1));
  return Value::none();
}

void remove_at(Deque& d, size_t i) {
  for (; i + 1 < d.count; ++i) d.at(i).swap(d.at(i + 1));
  Value gone = take_last(d);
}

Result<Value> remove(Interp& interp, Value* a) {
  int64_t i = TFL_TRY(find(interp, of(a[0]), a[1], 0, INT64_MAX));
  if (i < 0) return absent(interp, a[1]);
  remove_at(of(a[0]), static_cast<size_t>(i));
  return Value::none();
}

Result<Value> reverse(Interp&, Value* a) {
  Deque& d = of(a[0]);
  for (size_t i = 0; i + 1 < d.count - i; ++i) d.at(i).swap(d.at(d.count - 1 - i));
  ++d.changes;
  return Value::none();
}

Result<Value> rotate(Interp& interp, Value* a) {
  int64_t n = TFL_TRY(to_index(interp, a[1]));
  Deque& d = of(a[0]);
  if (d.count < 2) return Value::none();
  auto size = static_cast<int64_t>(d.count);
  n = ((n % size) + size) % size;
  ++d.changes;
  // The shorter way round.
  for (; n > 0 && n <= size / 2; --n) {
    Value item = take_last(d);
    d.head = (d.head - 1) & (d.ring.size() - 1);
    ++d.count;
    d.at(0) = std::move(item);
  }
  for (int64_t back = n > 0 ? size - n : 0; back > 0; --back) {
    Value item = take_first(d);
    d.at(d.count++) = std::move(item);
  }
  return Value::none();
}

Result<Value> maxlen(Interp&, Value* a) { return of(a[0]).most < 0 ? Value::none() : Value::integer(of(a[0]).most); }

// ------------------------------------------------------------------------------------------------------ iteration

struct DequeIterator : Object {
  Value deque;
  size_t position = 0;
  uint64_t changes = 0;
  bool backward = false;
};

Result<Value> itself(Interp&, const Value& self) { return self; }

Result<Value> step(Interp&, const Value& self) {
  auto* it = self.as<DequeIterator>();
  if (it->deque.is_empty()) return Value();
  Deque& d = of(it->deque);
  if (d.changes != it->changes) {
    it->changes = ~uint64_t{0};
    return mutated();
  }
  if (it->position >= d.count) {
    it->deque = Value();
    return Value();
  }
  size_t i = it->position++;
  return d.at(it->backward ? d.count - 1 - i : i);
}

Result<Value> iterate(Interp& interp, const Value& self, bool backward) {
  Type* type = TFL_TRY(module_type(interp, "_collections", backward ? "_deque_reverse_iterator" : "_deque_iterator", kIterator));
  auto* it = interp.allocate<DequeIterator>(type);
  Value made = Value::adopt(it);
  it->deque = self;
  it->changes = of(self).changes;
  it->backward = backward;
  return made;
}

Result<Value> iter_slot(Interp& interp, const Value& self) { return iterate(interp, self, false); }
Result<Value> reversed(Interp& interp, Value* a) { return iterate(interp, a[0], true); }

Result<Value> left(Interp&, Value* a) {
  auto* it = a[0].as<DequeIterator>();
  return Value::integer(
      it->deque.is_empty() ? 0 : static_cast<int64_t>(of(it->deque).count - std::min(of(it->deque).count, it->position)));
}

// ---------------------------------------------------------------------------------------------------------- slots

Result<int64_t> place(Interp& interp, Deque& d, const Value& key) {
  auto i = to_index(interp, key);
  if (!i && !i.error().payload && i.error().kind == ErrorKind::TypeError) {
    return fail(ErrorKind::TypeError, "sequence index must be integer, not '{}'", interp.type_name(key));
  }
  if (!i) return i;
  auto n = static_cast<int64_t>(d.count);
  int64_t at = *i < 0 ? *i + n : *i;
  if (at < 0 || at >= n) return fail(ErrorKind::IndexError, "deque index out of range");
  return at;
}

Result<Value> get_item_slot(Interp& interp, const Value& self, const Value& key) {
  int64_t i = TFL_TRY(place(interp, of(self), key));
  return of(self).at(static_cast<size_t>(i));
}

Result<void> set_item_slot(Interp& interp, const Value& self, const Value& key, const Value& value) {
  int64_t i = TFL_TRY(place(interp, of(self), key));
  if (value.is_empty())
    remove_at(of(self), static_cast<size_t>(i));
  else
    Value old = std::exchange(of(self).at(static_cast<size_t>(i)), value);
  return {};
}

Result<bool> contains_slot(Interp& interp, const Value& self, const Value& item) {
  int64_t i = TFL_TRY(find(interp, of(self), item, 0, INT64_MAX));
  return i >= 0;
}

Result<int64_t> length_slot(Interp&, const Value& self) { return static_cast<int64_t>(of(self).count); }

Result<Value> repr_slot(Interp& interp, const Value& self) {
  std::vector<Value> items = items_of(of(self));
  std::string close = of(self).most < 0 ? "])" : "], maxlen=" + std::to_string(of(self).most) + ")";
  std::string text =
      TFL_TRY(repr_items(interp, self.object(), nullptr, items, self.object()->type->name->text + "([", close, "[...]"));
  return interp.str(std::move(text));
}

Result<Value> times(Interp& interp, const Value& self, int64_t n) {
  std::vector<Value> items = items_of(of(self)), more;
  size_t total = TFL_TRY(guard_repeat(interp, items.size(), n, sizeof(Value)));
  while (more.size() < total) more.insert(more.end(), items.begin(), items.end());
  return like(interp, self, std::move(more));
}

Result<Value> binary_slot(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  if (op == BinaryOp::Add && is_deque(a)) {
    if (!is_deque(b)) return fail(ErrorKind::TypeError, "can only concatenate deque (not \"{}\") to deque", interp.type_name(b));
    std::vector<Value> items = items_of(of(a)), more = items_of(of(b));
    items.insert(items.end(), more.begin(), more.end());
    return like(interp, a, std::move(items));
  }
  if (op == BinaryOp::Mul) {
    Value n = unboxed(is_deque(a) ? b : a);
    if (n.is_int() || n.is_bool()) return times(interp, is_deque(a) ? a : b, n.as_int());
  }
  return interp.not_implemented;
}

Result<Value> inplace_slot(Interp& interp, BinaryOp op, const Value& self, const Value& b) {
  if (op == BinaryOp::Add) {
    TFL_TRY(extend_by(interp, self, b, false));
    return self;
  }
  Value n = unboxed(b);
  if (op != BinaryOp::Mul || !(n.is_int() || n.is_bool())) return interp.not_implemented;
  Value product = TFL_TRY(times(interp, self, n.as_int()));
  set_items(of(self), items_of(of(product)));
  return self;
}

Result<Value> compare_slot(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if (!is_deque(a) || !is_deque(b)) return interp.not_implemented;
  return compare_sequences(interp, op, interp.list(items_of(of(a))), interp.list(items_of(of(b))));
}

const Slots kDeque = {.kind = Kind::Native,
                      .destroy = destroy_object<Deque>,
                      .construct = construct,
                      .repr = repr_slot,
                      .length = length_slot,
                      .get_item = get_item_slot,
                      .set_item = set_item_slot,
                      .contains = contains_slot,
                      .iter = iter_slot,
                      .binary = binary_slot,
                      .inplace = inplace_slot,
                      .compare = compare_slot};
const Slots kIterator = {.kind = Kind::Native, .destroy = destroy_object<DequeIterator>, .iter = itself, .next = step};

bool is_deque(const Value& v) { return v.is(Kind::Native) && v.object()->type->slots == &kDeque; }

constexpr NativeDef kMethods[] = {
    method("__init__", "self, iterable=..., maxlen=None", init),
    method("append", "self, item, /", append),
    method("appendleft", "self, item, /", appendleft),
    method("extend", "self, iterable, /", extend),
    method("extendleft", "self, iterable, /", extendleft),
    method("pop", "self, /", pop),
    method("popleft", "self, /", popleft),
    method("clear", "self, /", clear),
    method("copy", "self, /", copy),
    method("__copy__", "self, /", copy),
    method("count", "self, value, /", count),
    method("index", "self, value, start=..., stop=..., /", index),
    method("insert", "self, index, value, /", insert),
    method("remove", "self, value, /", remove),
    method("reverse", "self, /", reverse),
    method("rotate", "self, n=1, /", rotate),
    method("__reversed__", "self, /", reversed),
    getter("maxlen", maxlen),
};
constexpr NativeDef kIteratorMethods[] = {method("__length_hint__", "self, /", left)};

}  // namespace

void define(Interp& interp, Module& module) {
  define_native_type(interp, module, "deque", kDeque, kMethods, "collections");
  define_native_type(interp, module, "_deque_iterator", kIterator, kIteratorMethods);
  define_native_type(interp, module, "_deque_reverse_iterator", kIterator, kIteratorMethods);
}

}  // namespace tfl::deques
