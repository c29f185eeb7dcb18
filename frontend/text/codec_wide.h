// UTF-16 and UTF-32, both byte orders, with and without a mark: part of what codec.h offers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "frontend/text/codec.h"

namespace tfl {

struct WideEncoding {
  size_t unit;  // 2 or 4 bytes
  bool big;
  bool mark;  // written before the text; looked for when reading
  const char* name;
};
/// `name` in lower case with '-' between its parts.
std::optional<WideEncoding> wide_encoding(std::string_view name);
std::string encode_wide(std::string_view text, const WideEncoding& e, Stop stop = nullptr);
/// UnicodeDecodeError, or a replacement character for each unit that means nothing when `lenient`.
Result<std::string> decode_wide(std::string_view data, WideEncoding e, bool lenient, CodecFault* fault = nullptr,
                                Stop stop = nullptr);

}  // namespace tfl
