// What dicts do for other natives, beyond the table functions of protocol.h.
#pragma once

#include "frontend/core/protocol.h"

namespace tfl {

/// dict.update(from): a mapping, or an iterable of pairs.
Result<void> dict_update(Interp& interp, Dict* d, const Value& from);
/// The arguments of dict(...) and update(...), from number `first` on.
Result<void> dict_update_call(Interp& interp, std::string_view function, Dict* d, CallArgs& args, uint32_t first);
/// Makes a key the last or the first one. False: it is not there.
Result<bool> dict_move(Interp& interp, Dict* d, const Value& key, bool last);
/// Where the value of a key stands, null when it is absent; good until the dict changes.
Result<Value*> dict_place(Interp& interp, Dict* d, const Value& key);
/// A plain dict of the same items.
Value dict_copy(Interp& interp, Dict* d);

}  // namespace tfl
