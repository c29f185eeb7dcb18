// Ranges whose bounds 64 bits do not hold. They are objects of the type range with a layout of their own (Kind::Native), so that whoever
// knows the layout of Range treats them as any iterable.
#pragma once

#include "frontend/core/interp.h"

namespace tfl {

struct LargeRange : Object {
  Value start, stop, step;  // ints of any size
  Value size;
};

/// The parts of either kind of range.
struct RangeParts {
  Value start, stop, step, size;
};
RangeParts range_parts(Interp& interp, const Value& range);

/// range(start, stop, step) of ints; step is not 0.
Result<Value> range_value(Interp& interp, const Value& start, const Value& stop, const Value& step);
/// An item by its number, or a part by a slice.
Result<Value> large_range_item(Interp& interp, const Value& range, const Value& key);
/// Where `item` is; Empty: nowhere.
Result<Value> large_range_find(Interp& interp, const Value& range, const Value& item);
Result<Value> large_range_iter(Interp& interp, const Value& range);

}  // namespace tfl
