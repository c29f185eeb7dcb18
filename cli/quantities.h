// Sizes, times and lines as words of a command line. False: the text is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace tfl::cli {

/// "2G", "512M", "1.5GiB", "1000000": bytes; false when it is none.
bool parse_size(const std::string& text, size_t& bytes);
/// "10", "10s", "250ms", "2m", "1h": seconds.
bool parse_duration(const std::string& text, double& seconds);
/// "10-20" or "10": lines, counted from 1.
bool parse_lines(const std::string& text, std::pair<uint32_t, uint32_t>& lines);

}  // namespace tfl::cli
