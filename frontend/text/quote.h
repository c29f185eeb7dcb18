// repr() of text and bytes: quotes chosen and characters escaped as CPython does. This header must not know about host values.
#pragma once

#include <string>
#include <string_view>

#include "frontend/text/stop.h"

namespace tfl {

std::string quote_text(std::string_view text, bool ascii_only, Stop stop);
inline std::string quote_text(std::string_view text, bool ascii_only = false) { return quote_text(text, ascii_only, nullptr); }
std::string quote_bytes(std::string_view data);  // b'...'
/// ascii(): what is not ASCII in `text` (a repr already) becomes \x, \u and \U escapes.
std::string escape_non_ascii(std::string_view text);

}  // namespace tfl
