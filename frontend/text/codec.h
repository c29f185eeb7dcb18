// Encodings by name: text to bytes and back, with CPython's error handlers and messages. Knows no host values.
#pragma once

#include <string>
#include <string_view>

#include "runtime/support/result.h"

namespace tfl {

Result<std::string> encode_text(std::string_view text, std::string_view encoding, std::string_view errors);
Result<std::string> decode_text(std::string_view data, std::string_view encoding, std::string_view errors);

}  // namespace tfl
