#include "cli/quantities.h"

#include <cctype>
#include <cstdlib>

namespace tfl::cli {

bool parse_size(const std::string& text, size_t& bytes) {
  char* end = nullptr;
  double n = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !(n > 0)) return false;
  std::string unit;
  for (const char* p = end; *p; ++p) unit += static_cast<char>(std::toupper(static_cast<unsigned char>(*p)));
  double scale = 1;
  if (unit == "K" || unit == "KB" || unit == "KIB")
    scale = 1024.0;
  else if (unit == "M" || unit == "MB" || unit == "MIB")
    scale = 1024.0 * 1024;
  else if (unit == "G" || unit == "GB" || unit == "GIB")
    scale = 1024.0 * 1024 * 1024;
  else if (unit == "T" || unit == "TB" || unit == "TIB")
    scale = 1024.0 * 1024 * 1024 * 1024;
  else if (!unit.empty() && unit != "B")
    return false;
  if (n * scale > 9e18) return false;
  bytes = static_cast<size_t>(n * scale);
  return bytes > 0;
}

bool parse_duration(const std::string& text, double& seconds) {
  char* end = nullptr;
  double n = std::strtod(text.c_str(), &end);
  std::string unit = end;
  if (end == text.c_str() || !(n > 0)) return false;
  if (unit == "ms")
    n /= 1000;
  else if (unit == "m" || unit == "min")
    n *= 60;
  else if (unit == "h")
    n *= 3600;
  else if (!unit.empty() && unit != "s")
    return false;
  seconds = n;
  return n <= 1e9;
}

bool parse_lines(const std::string& text, std::pair<uint32_t, uint32_t>& lines) {
  char* end = nullptr;
  unsigned long first = std::strtoul(text.c_str(), &end, 10), last = first;
  if (end == text.c_str() || text[0] == '-') return false;
  if (*end == '-') last = std::strtoul(end + 1, &end, 10);
  if (*end || first < 1 || last < first || last > UINT32_MAX) return false;
  lines = {static_cast<uint32_t>(first), static_cast<uint32_t>(last)};
  return true;
}

}  // namespace tfl::cli
