// What lists do for other natives and for the VM. This header must not know about the protocol's dispatch.
#pragma once

#include "frontend/core/native.h"

namespace tfl {

/// list.append with the guard against running out of memory.
inline Result<void> list_append(Interp& interp, List* list, Value item) {
  if (list->items.size() == list->items.capacity()) [[unlikely]] {
    TFL_TRY(guard_memory(interp, list->items.size() * 2 * sizeof(Value)));
  }
  list->items.push_back(std::move(item));
  return {};
}
/// Puts `item` in front of item number `at`; takes item number `at` out. What lies behind moves as memory does.
Result<void> list_insert(Interp& interp, List* list, int64_t at, Value item);
Value list_take(List* list, int64_t at);
Result<void> list_extend(Interp& interp, List* list, const Value& iterable);
/// Items start, start + step, ... of bounds that slice_bounds has made.
Value list_slice(Interp& interp, const List* list, int64_t start, int64_t stop, int64_t step);

/// start or stop of index() in a sequence of n items: counted from the end when negative.
Result<int64_t> search_bound(Interp& interp, const Value& v, int64_t n);

/// slice_bounds in two steps, for sequences that __index__ might change: the numbers, then what they mean for a length.
Result<void> slice_unpack(Interp& interp, const Slice& s, int64_t& start, int64_t& stop, int64_t& step);
void slice_adjust(int64_t length, int64_t& start, int64_t& stop, int64_t step);

/// Number of items of bounds that slice_bounds has made.
inline int64_t slice_length(int64_t start, int64_t stop, int64_t step) {
  if (step > 0) return start < stop ? (stop - start - 1) / step + 1 : 0;
  return start > stop ? (start - stop - 1) / -step + 1 : 0;
}

}  // namespace tfl
