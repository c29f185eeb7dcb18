// The module `_heapq`: heaps in lists and binary search, for stdlib/python/heapq.tfl and stdlib/python/bisect.tfl.
#include <algorithm>

#include "frontend/core/native_module.h"
#include "frontend/interpreter/object/containers/list.h"
#include "frontend/interpreter/object/containers/order.h"
#include "frontend/interpreter/object/containers/sort.h"

namespace tfl::heaps {

namespace {

/// Which of two items is nearer to the top: the smaller one, or for a heap of the largest the other way round.
struct Order {
  Interp& interp;
  bool largest;
  Result<bool> operator()(const Value& a, const Value& b) const {
    return largest ? quick_less(interp, b, a) : quick_less(interp, a, b);
  }
};

Result<List*> need_heap(Interp& interp, const char* function, const Value& v) {
  if (v.is(Kind::List)) return v.as<List>();
  return fail(ErrorKind::TypeError, "{}() argument must be list, not {}", function, interp.type_name(v));
}

Failure changed() { return fail(ErrorKind::RuntimeError, "list changed size during iteration"); }

/// Moves items[at] towards `start` past parents that should be below it.
Result<void> toward_top(List* heap, size_t start, size_t at, const Order& above) {
  size_t size = heap->items.size();
  while (at > start) {
    size_t parent = (at - 1) / 2;
    Value item = heap->items[at], other = heap->items[parent];
    bool swap = TFL_TRY(above(item, other));
    if (heap->items.size() != size) return changed();
    if (!swap) break;
    heap->items[at].swap(heap->items[parent]);
    at = parent;
  }
  return {};
}

/// Moves the child that belongs above up until a leaf is reached, then the item up again: fewer comparisons than stopping early.
Result<void> sift(List* heap, size_t at, const Order& above) {
  size_t size = heap->items.size(), start = at;
  for (size_t child = 2 * at + 1; child < size; child = 2 * at + 1) {
    if (child + 1 < size) {
      Value left = heap->items[child], right = heap->items[child + 1];
      bool keep = TFL_TRY(above(left, right));
      if (heap->items.size() != size) return changed();
      child += !keep;
    }
    heap->items[at].swap(heap->items[child]);
    at = child;
  }
  return toward_top(heap, start, at, above);
}

Result<Value> push(Interp& interp, Value* a) {
  List* heap = TFL_TRY(need_heap(interp, "heappush", a[0]));
  TFL_TRY(list_append(interp, heap, a[1]));
  TFL_TRY(toward_top(heap, 0, heap->items.size() - 1, Order{interp, false}));
  return Value::none();
}

Result<Value> pop_from(Interp& interp, const char* function, const Value& v, bool largest) {
  List* heap = TFL_TRY(need_heap(interp, function, v));
  if (heap->items.empty()) return fail(ErrorKind::IndexError, "index out of range");
  Value last = std::move(heap->items.back());
  heap->items.pop_back();
  if (heap->items.empty()) return last;
  Value top = std::exchange(heap->items[0], std::move(last));
  TFL_TRY(sift(heap, 0, Order{interp, largest}));
  return top;
}

Result<Value> replace_in(Interp& interp, const char* function, const Value& v, const Value& item, bool largest) {
  List* heap = TFL_TRY(need_heap(interp, function, v));
  if (heap->items.empty()) return fail(ErrorKind::IndexError, "index out of range");
  Value top = std::exchange(heap->items[0], item);
  TFL_TRY(sift(heap, 0, Order{interp, largest}));
  return top;
}

Result<Value> heapify_list(Interp& interp, const char* function, const Value& v, bool largest) {
  List* heap = TFL_TRY(need_heap(interp, function, v));
  for (size_t i = heap->items.size() / 2; i-- > 0;) {
    if (i >= heap->items.size()) return changed();
    TFL_TRY(sift(heap, i, Order{interp, largest}));
  }
  return Value::none();
}

Result<Value> pop(Interp& interp, Value* a) { return pop_from(interp, "heappop", a[0], false); }
Result<Value> pop_max(Interp& interp, Value* a) { return pop_from(interp, "_heappop_max", a[0], true); }
Result<Value> replace(Interp& interp, Value* a) { return replace_in(interp, "heapreplace", a[0], a[1], false); }
Result<Value> replace_max(Interp& interp, Value* a) { return replace_in(interp, "_heapreplace_max", a[0], a[1], true); }
Result<Value> heapify(Interp& interp, Value* a) { return heapify_list(interp, "heapify", a[0], false); }
Result<Value> heapify_max(Interp& interp, Value* a) { return heapify_list(interp, "_heapify_max", a[0], true); }

Result<Value> push_pop(Interp& interp, Value* a) {
  List* heap = TFL_TRY(need_heap(interp, "heappushpop", a[0]));
  if (heap->items.empty()) return a[1];
  Value top = heap->items[0];
  bool below = TFL_TRY(quick_less(interp, top, a[1]));
  if (!below) return a[1];
  return replace_in(interp, "heappushpop", a[0], a[1], false);
}

// ------------------------------------------------------------------------------------------------------ selection

/// The first `n` items of the sorted ones, without sorting the others: the worst of those chosen so far is on top of a heap.
Result<Value> select(Interp& interp, Value* a, bool largest) {
  if (!a[0].is_int()) {
    // CPython compares it with the number of items where there is one, before it counts.
    if (auto size = length(interp, a[1])) TFL_TRY(compare(interp, CompareOp::Ge, a[0], Value::integer(*size)));
  }
  Value wanted = a[0];
  if (largest && !wanted.is_int()) wanted = TFL_TRY(unary(interp, UnaryOp::Minus, wanted));  // it counts down, as CPython's does
  int64_t n = TFL_TRY(to_index(interp, wanted));
  if (!wanted.identical(a[0])) n = -n;
  bool keyed = !a[2].is_none();
  struct Chosen {
    Value key, item;
    size_t number;
  };
  std::vector<Chosen> chosen;
  size_t number = 0;
  std::unique_ptr<Error> error;
  auto better = [&](const Value& x, const Value& y) {
    auto r = largest ? quick_less(interp, y, x) : quick_less(interp, x, y);
    if (!r && !error) error = std::move(r.failure().error);
    return r && *r;
  };
  // Of equal ones the earlier is better. The heap has the worst on top.
  auto before = [&](const Chosen& x, const Chosen& y) {
    if (better(x.key, y.key)) return true;
    return x.number < y.number && !better(y.key, x.key);
  };
  if (n > 0) {
    TFL_TRY(for_each(interp, a[1], [&](Value item) -> Result<bool> {
      Value key = item;
      if (keyed) key = TFL_TRY(interp.call(a[2], {item}));
      if (chosen.size() < static_cast<size_t>(n)) {
        TFL_TRY(guard_memory(interp, chosen.size() == chosen.capacity() ? chosen.size() * 2 * sizeof(Chosen) : 0));
        chosen.push_back({std::move(key), std::move(item), number++});
        std::push_heap(chosen.begin(), chosen.end(), before);
      } else if (better(key, chosen.front().key)) {
        std::pop_heap(chosen.begin(), chosen.end(), before);
        chosen.back() = {std::move(key), std::move(item), number++};
        std::push_heap(chosen.begin(), chosen.end(), before);
      }
      if (error) return Failure{std::move(error)};
      return true;
    }));
  }
  std::sort_heap(chosen.begin(), chosen.end(), before);
  if (error) return Failure{std::move(error)};
  std::vector<Value> items;
  for (Chosen& c : chosen) items.push_back(std::move(c.item));
  return interp.list(std::move(items));
}

Result<Value> nsmallest(Interp& interp, Value* a) { return select(interp, a, false); }
Result<Value> nlargest(Interp& interp, Value* a) { return select(interp, a, true); }

// ------------------------------------------------------------------------------------------------- binary search

/// The place for x in a[lo:hi]: behind equal items, or before them.
Result<int64_t> search(Interp& interp, Value* a, const Value& x, bool right) {
  int64_t low = TFL_TRY(to_index(interp, a[2]));
  if (low < 0) return fail(ErrorKind::ValueError, "lo must be non-negative");
  int64_t high = TFL_TRY(a[3].is_none() ? length(interp, a[0]) : to_index(interp, a[3]));
  bool plain = a[0].is(Kind::List) && !a[0].object()->type->script;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    Value item;
    if (plain && middle < static_cast<int64_t>(a[0].as<List>()->items.size()))
      item = a[0].as<List>()->items[static_cast<size_t>(middle)];
    else
      item = TFL_TRY(get_item(interp, a[0], Value::integer(middle)));
    if (!a[4].is_none()) item = TFL_TRY(interp.call(a[4], {item}));
    bool before = TFL_TRY(right ? quick_less(interp, x, item) : quick_less(interp, item, x));
    if (before == right)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

Result<Value> bisect(Interp& interp, Value* a, bool right) {
  int64_t i = TFL_TRY(search(interp, a, a[1], right));
  return Value::integer(i);
}

Result<Value> insort(Interp& interp, Value* a, bool right) {
  Value x = a[1];
  if (!a[4].is_none()) x = TFL_TRY(interp.call(a[4], {x}));
  int64_t i = TFL_TRY(search(interp, a, x, right));
  if (a[0].is(Kind::List) && !a[0].object()->type->script) {
    auto* list = a[0].as<List>();  // `lo` may lie behind its end
    TFL_TRY(list_insert(interp, list, std::min<int64_t>(i, static_cast<int64_t>(list->items.size())), a[1]));
    return Value::none();
  }
  TFL_TRY(interp.call_method(a[0], interp.intern("insert"), {Value::integer(i), a[1]}));
  return Value::none();
}

Result<Value> bisect_right(Interp& interp, Value* a) { return bisect(interp, a, true); }
Result<Value> bisect_left(Interp& interp, Value* a) { return bisect(interp, a, false); }
Result<Value> insort_right(Interp& interp, Value* a) { return insort(interp, a, true); }
Result<Value> insort_left(Interp& interp, Value* a) { return insort(interp, a, false); }

constexpr NativeDef kFunctions[] = {
    function("heappush", "heap, item, /", push),
    function("heappop", "heap, /", pop),
    function("heapreplace", "heap, item, /", replace),
    function("heappushpop", "heap, item, /", push_pop),
    function("heapify", "heap, /", heapify),
    function("_heappop_max", "heap, /", pop_max),
    function("_heapreplace_max", "heap, item, /", replace_max),
    function("_heapify_max", "heap, /", heapify_max),
    function("nsmallest", "n, iterable, key=None", nsmallest),
    function("nlargest", "n, iterable, key=None", nlargest),
    function("bisect_right", "a, x, lo=0, hi=None, *, key=None", bisect_right),
    function("bisect_left", "a, x, lo=0, hi=None, *, key=None", bisect_left),
    function("insort_right", "a, x, lo=0, hi=None, *, key=None", insort_right),
    function("insort_left", "a, x, lo=0, hi=None, *, key=None", insort_left),
};

}  // namespace

}  // namespace tfl::heaps

namespace tfl {

Result<void> init_heapq(Interp& interp, Module& module) {
  define_all(interp, module, heaps::kFunctions);
  return {};
}

}  // namespace tfl
