// printf-style formatting: what % means for text and for bytes.
#pragma once

#include "frontend/core/protocol.h"

namespace tfl {

Result<Value> percent_format(Interp& interp, const Value& text, const Value& values);
Result<Value> percent_format_bytes(Interp& interp, const Value& data, const Value& values);

}  // namespace tfl
