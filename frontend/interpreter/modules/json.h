// What the module `_json` is made of beside its parser: values as JSON texts.
#pragma once

#include "frontend/core/native_module.h"

namespace tfl::json {

/// quote(text, ascii)
Result<Value> quote(Interp& interp, Value* args);
/// encode(value, indent, item_separator, key_separator, default, sort_keys, skipkeys, ensure_ascii, check_circular, allow_nan)
Result<Value> encode(Interp& interp, Value* args);

}  // namespace tfl::json
