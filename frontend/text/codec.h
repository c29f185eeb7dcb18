// Encodings by name: text to bytes and back, with CPython's error handlers and messages. Knows no host values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "frontend/text/stop.h"
#include "runtime/support/result.h"

namespace tfl {

/// What a UnicodeEncodeError or UnicodeDecodeError is about, beside its message: characters or bytes [start, end).
struct CodecFault {
  std::string codec, reason;
  size_t start = 0, end = 0;
};

/// `fault`, if any, is told about an error of the text itself.
Result<std::string> encode_text(std::string_view text, std::string_view encoding, std::string_view errors,
                                CodecFault* fault = nullptr, Stop stop = nullptr);
Result<std::string> decode_text(std::string_view data, std::string_view encoding, std::string_view errors,
                                CodecFault* fault = nullptr, Stop stop = nullptr);

}  // namespace tfl
