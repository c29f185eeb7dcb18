// The methods of list.
#include <algorithm>

#include "frontend/core/native.h"
#include "frontend/interpreter/object/containers/list.h"
#include "frontend/interpreter/object/containers/sort.h"

namespace tfl {

namespace {

List* self_list(Value* a) { return a[0].as<List>(); }

Result<Value> append(Interp& interp, Value* a) {
  TFL_TRY(list_append(interp, self_list(a), std::move(a[1])));
  return Value::none();
}

Result<Value> extend(Interp& interp, Value* a) {
  TFL_TRY(list_extend(interp, self_list(a), a[1]));
  return Value::none();
}

Result<Value> insert(Interp& interp, Value* a) {
  int64_t at = TFL_TRY(to_index(interp, a[1]));
  List* list = self_list(a);
  auto n = static_cast<int64_t>(list->items.size());
  if (at < 0) at = std::max<int64_t>(0, at + n);
  at = std::min(at, n);
  TFL_TRY(list_insert(interp, list, at, std::move(a[2])));
  return Value::none();
}

/// Index of an equal item in [start, stop), -1 when there is none.
Result<int64_t> find(Interp& interp, List* list, const Value& item, int64_t start, int64_t stop) {
  for (int64_t i = start; i < stop && i < static_cast<int64_t>(list->items.size()); ++i) {
    Value candidate = list->items[static_cast<size_t>(i)];
    bool same = TFL_TRY(equals(interp, candidate, item));
    if (same) return i;
  }
  return int64_t{-1};
}

Result<Value> remove(Interp& interp, Value* a) {
  List* list = self_list(a);
  int64_t i = TFL_TRY(find(interp, list, a[1], 0, INT64_MAX));
  if (i < 0) return fail(ErrorKind::ValueError, "list.remove(x): x not in list");
  if (i < static_cast<int64_t>(list->items.size())) {
    Value old = list_take(list, i);
  }
  return Value::none();
}

Result<Value> pop(Interp& interp, Value* a) {
  List* list = self_list(a);
  int64_t i = a[1].is_int() ? a[1].as_int() : TFL_TRY(to_index(interp, a[1]));
  auto n = static_cast<int64_t>(list->items.size());
  if (n == 0) return fail(ErrorKind::IndexError, "pop from empty list");
  if (i < 0) i += n;
  if (i < 0 || i >= n) return fail(ErrorKind::IndexError, "pop index out of range");
  return list_take(list, i);
}

Result<Value> clear(Interp&, Value* a) {
  std::vector<Value> old;
  old.swap(self_list(a)->items);
  return Value::none();
}

Result<Value> index(Interp& interp, Value* a) {
  List* list = self_list(a);
  auto n = static_cast<int64_t>(list->items.size());
  int64_t start = TFL_TRY(search_bound(interp, a[2], n));
  int64_t stop = TFL_TRY(search_bound(interp, a[3], n));
  int64_t i = TFL_TRY(find(interp, list, a[1], start, stop));
  if (i >= 0) return Value::integer(i);
  std::string text = TFL_TRY(repr_text(interp, a[1]));
  return fail(ErrorKind::ValueError, "{} is not in list", text);
}

Result<Value> count(Interp& interp, Value* a) {
  List* list = self_list(a);
  int64_t n = 0;
  for (size_t i = 0; i < list->items.size(); ++i) {
    Value candidate = list->items[i];
    bool same = TFL_TRY(equals(interp, candidate, a[1]));
    n += same;
  }
  return Value::integer(n);
}

Result<Value> sort(Interp& interp, Value* a) {
  bool reverse = TFL_TRY(to_index(interp, a[2])) != 0;
  List* list = self_list(a);
  // The list is empty while its items are compared, so that what key functions do to it cannot matter.
  std::vector<Value> items;
  items.swap(list->items);
  auto done = sort_values(interp, items, a[1], reverse);
  bool modified = !list->items.empty() || list->items.capacity() != 0;
  items.swap(list->items);
  if (!done) return done.failure();
  if (modified) return fail(ErrorKind::ValueError, "list modified during sort");
  return Value::none();
}

Result<Value> reverse(Interp&, Value* a) {
  // Values may be moved as bytes, which counts no references.
  struct Bytes16 {
    std::byte bytes[sizeof(Value)];
  };
  std::vector<Value>& items = self_list(a)->items;
  auto* first = reinterpret_cast<Bytes16*>(items.data());
  std::reverse(first, first + items.size());
  return Value::none();
}

Result<Value> copy(Interp& interp, Value* a) {
  TFL_TRY(guard_memory(interp, self_list(a)->items.size() * sizeof(Value)));
  return interp.list(self_list(a)->items);
}

Result<Value> init(Interp& interp, CallArgs& args) {
  if (args.count == 0 || !args.values[0].is(Kind::List))
    return fail(ErrorKind::TypeError, "descriptor '__init__' of 'list' object needs an argument");
  Value self = args.values[0], iterable;
  CallArgs rest{args.values + 1, args.count - 1, args.keywords};
  TFL_TRY(take_arguments(interp, "list", rest, {"iterable"}, 0, 1, &iterable));
  std::vector<Value> old;
  old.swap(self.as<List>()->items);
  if (!iterable.is_empty()) TFL_TRY(list_extend(interp, self.as<List>(), iterable));
  return Value::none();
}

constexpr NativeDef kMethods[] = {
    raw_method("__init__", init),
    method("append", "self, object, /", append),
    method("extend", "self, iterable, /", extend),
    method("insert", "self, index, object, /", insert),
    method("remove", "self, value, /", remove),
    method("pop", "self, index=-1, /", pop),
    method("clear", "self, /", clear),
    method("index", "self, value, start=0, stop=9223372036854775807, /", index),
    method("count", "self, value, /", count),
    method("sort", "self, /, *, key=None, reverse=False", sort),
    method("reverse", "self, /", reverse),
    method("copy", "self, /", copy),
};

}  // namespace

std::span<const NativeDef> list_methods() { return kMethods; }

}  // namespace tfl
