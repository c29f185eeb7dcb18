// Finding, splitting and stripping, for text and for bytes. Positions are byte offsets; pieces are views of the input.
// This header must not know about host values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/stop.h"

namespace tfl {

/// Text is UTF-8: blanks and line ends are Unicode's, characters have several bytes. Bytes are bytes, blanks ASCII's.
enum class Alphabet : uint8_t { Text, Bytes };

size_t find_first(std::string_view s, std::string_view what);  // npos: not there
size_t find_last(std::string_view s, std::string_view what);
/// Occurrences that do not overlap; an empty `what` is between all characters.
int64_t count_occurrences(std::string_view s, std::string_view what, Alphabet alphabet, Stop stop = nullptr);
/// The first `limit` occurrences replaced, all when it is negative.
std::string replace_occurrences(std::string_view s, std::string_view what, std::string_view with, int64_t limit,
                                Alphabet alphabet, Stop stop = nullptr);

std::vector<std::string_view> split_at(std::string_view s, std::string_view separator, int64_t limit, bool from_right,
                                       Stop stop = nullptr);
std::vector<std::string_view> split_blanks(std::string_view s, int64_t limit, bool from_right, Alphabet alphabet,
                                           Stop stop = nullptr);
std::vector<std::string_view> split_lines(std::string_view s, bool keep_ends, Alphabet alphabet, Stop stop = nullptr);

std::string_view strip_blanks(std::string_view s, bool left, bool right, Alphabet alphabet);
std::string_view strip_characters(std::string_view s, std::string_view characters, bool left, bool right, Alphabet alphabet);

std::string expand_tabs(std::string_view s, int64_t size, Alphabet alphabet);

}  // namespace tfl
