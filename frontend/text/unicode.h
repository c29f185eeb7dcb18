// What Unicode says about a character: classes as str's methods name them, and case mappings. The tables are made by
// unicode_tables.py. This header must not know about host values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "frontend/text/stop.h"

namespace tfl::unicode {

bool is_alpha(char32_t c);
bool is_decimal(char32_t c);
bool is_digit(char32_t c);
bool is_numeric(char32_t c);
bool is_space(char32_t c);
bool is_printable(char32_t c);
bool is_upper(char32_t c);
bool is_lower(char32_t c);
bool is_title(char32_t c);
bool is_id_start(char32_t c);
bool is_id_continue(char32_t c);
bool is_identifier(std::string_view s);
inline bool is_cased(char32_t c) { return is_upper(c) || is_lower(c) || is_title(c); }
inline bool is_alnum(char32_t c) { return is_alpha(c) || is_decimal(c) || is_digit(c) || is_numeric(c); }
/// 0 .. 9 for a decimal digit of any script, else -1.
int decimal_value(char32_t c);

std::string upper(std::string_view s, Stop stop = nullptr);
std::string lower(std::string_view s, Stop stop = nullptr);
std::string title(std::string_view s, Stop stop = nullptr);
std::string capitalize(std::string_view s, Stop stop = nullptr);
std::string swapcase(std::string_view s, Stop stop = nullptr);
std::string casefold(std::string_view s, Stop stop = nullptr);

}  // namespace tfl::unicode
