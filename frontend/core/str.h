// Strings for other natives: characters, slices, and the methods, which lie in several files.
#pragma once

#include "frontend/core/native.h"
#include "frontend/text/stop.h"

namespace tfl {

/// What ends work on long texts: who gives it looks for an interrupt afterwards.
inline Stop stop_of(const Interp& interp) { return &interp.context.interrupt; }
inline constexpr size_t kLookEvery = 4096;  // pieces, between two looks for an interrupt
inline Result<void> look_for_interrupt(Interp& interp) {
  if (interp.context.interrupt.load(std::memory_order_relaxed) == 0) [[likely]]
    return {};
  return interp.check_interrupt();
}

/// Byte offset of character `index`, which is at most the length.
size_t str_offset(Str* s, int64_t index);
/// Characters [start, stop) as bytes.
std::string_view str_range(Str* s, int64_t start, int64_t stop);
/// The character that begins at this byte.
inline Value character_at(Interp& interp, std::string_view text, size_t at) {
  auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return interp.character(lead);
  if (lead < 0xC4)
    return interp.character(static_cast<unsigned char>((lead & 0x03) << 6 | (static_cast<unsigned char>(text[at + 1]) & 0x3F)));
  Value c = interp.str(std::string(text.substr(at, lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4)));
  c.as<Str>()->length = 1;
  return c;
}
/// Character index of a byte offset.
int64_t str_character(Str* s, size_t offset);
/// start and end arguments (None: the ends) of find() and the like, clamped; in characters.
Result<void> str_bounds(Interp& interp, const Value& start, const Value& end, int64_t length, int64_t& from, int64_t& to);
/// "must be str, not int"
Result<Str*> need_str(Interp& interp, const Value& v);

/// str.format (format_fields.cpp); without positional values (null) str.format_map.
Result<std::string> format_fields(Interp& interp, std::string_view text, const std::vector<Value>* positional,
                                  const Value& named);

// The methods: text in, text out.
namespace str_method {
#define TFL_STR_METHOD(name) Result<Value> name(Interp& interp, Value* a)
TFL_STR_METHOD(find);
TFL_STR_METHOD(rfind);
TFL_STR_METHOD(index);
TFL_STR_METHOD(rindex);
TFL_STR_METHOD(count);
TFL_STR_METHOD(startswith);
TFL_STR_METHOD(endswith);
TFL_STR_METHOD(replace);
TFL_STR_METHOD(split);
TFL_STR_METHOD(rsplit);
TFL_STR_METHOD(splitlines);
TFL_STR_METHOD(partition);
TFL_STR_METHOD(rpartition);
TFL_STR_METHOD(strip);
TFL_STR_METHOD(lstrip);
TFL_STR_METHOD(rstrip);
TFL_STR_METHOD(removeprefix);
TFL_STR_METHOD(removesuffix);
TFL_STR_METHOD(join);
#undef TFL_STR_METHOD
}  // namespace str_method

}  // namespace tfl
