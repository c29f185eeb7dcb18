// Stable sorting of host values, by keys when there are any. This header must not know about lists.
#pragma once

#include "frontend/core/protocol.h"

namespace tfl {

/// Sorts `items` by <. With a `key` function (not None) items are compared by what it gives for them. `reverse` keeps the order
/// of equal items.
Result<void> sort_values(Interp& interp, std::vector<Value>& items, const Value& key, bool reverse);

}  // namespace tfl
