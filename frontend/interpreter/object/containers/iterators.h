// Iterators over the native containers. This header must not know about the containers' operations.
#pragma once

#include "frontend/core/protocol.h"

namespace tfl {

Value make_list_iterator(Interp& interp, const Value& list);
Value make_tuple_iterator(Interp& interp, const Value& tuple);
Value make_str_iterator(Interp& interp, const Value& str);
Value make_bytes_iterator(Interp& interp, const Value& bytes);
Value make_range_iterator(Interp& interp, int64_t start, int64_t count, int64_t step);
Value make_set_iterator(Interp& interp, const Value& set);
enum class DictPart : uint8_t { Keys, Values, Items };
Value make_dict_iterator(Interp& interp, const Value& dict, DictPart part, bool reversed);
/// Over anything with __getitem__: indices from 0 until IndexError.
Value make_sequence_iterator(Interp& interp, const Value& sequence);
/// iter(callable, sentinel).
Value make_callable_iterator(Interp& interp, const Value& callable, const Value& sentinel);
/// reversed(v) of a native sequence, dict or view; Empty when it has none.
Value make_reverse_iterator(Interp& interp, const Value& v);

/// What list(), tuple() and bytes() ask a script's iterable for first: its number of items, as far as that can fail or be seen.
Result<void> ask_length_hint(Interp& interp, const Value& v);

/// reversed(v) by __len__ and __getitem__.
Value make_reverse_sequence_iterator(Interp& interp, const Value& sequence, int64_t length);

}  // namespace tfl
