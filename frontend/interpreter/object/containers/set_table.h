// The table of sets by hash, for set's own operations. protocol.h has what others need.
#pragma once

#include "frontend/core/protocol.h"

namespace tfl {

inline constexpr uint64_t kDeletedKey = ~uint64_t{0};  // no hash is this

Result<bool> set_add_hashed(Interp& interp, Set* s, const Value& key, uint64_t hash);
Result<bool> set_contains_hashed(Interp& interp, const Set* s, const Value& key, uint64_t hash);
Result<bool> set_remove_hashed(Interp& interp, Set* s, const Value& key, uint64_t hash);
/// Adds every key of `other`, as CPython's set_merge does it.
Result<void> set_merge(Interp& interp, Set* s, const Set* other);
/// After many removals: makes the table anew when more than a quarter of it is deleted entries.
Result<void> set_sweep(Interp& interp, Set* s);
/// Takes some key out; Empty when there is none.
Value set_pop_any(Set* s);
/// Also makes the table of a new set.
void set_clear(Set* s);

}  // namespace tfl
