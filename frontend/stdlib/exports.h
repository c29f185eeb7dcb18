// The public names of the library: which module shows what is at home where. The build makes the table (frontend/stdlib/compiler) of what files
// mark with @export("tf.linalg.norm") and of what the rows of operations and natives say. Knows nothing of values and modules.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace tfl {

// Lines "MODULE NAME HOME OWN", sorted: MODULE.NAME is what HOME calls OWN. The symbols are made by cmake/EmbedStdlib.cmake.
extern const char stdlib_exports_begin[] __asm__("tfl_stdlib_exports");
extern const char stdlib_exports_end[] __asm__("tfl_stdlib_exports_end");

struct ExportedName {
  std::string_view name, home, own;
};

namespace exports_detail {

inline std::string_view table() { return {stdlib_exports_begin, static_cast<size_t>(stdlib_exports_end - stdlib_exports_begin)}; }

/// Where the first line begins that does not stand before `key`.
inline size_t first_line(std::string_view text, std::string_view key) {
  size_t low = 0, high = text.size();
  while (low < high) {
    size_t line = low + (high - low) / 2;
    while (line > low && text[line - 1] != '\n') --line;
    const size_t end = std::min(text.find('\n', line), text.size());
    if (text.substr(line, end - line) < key)
      low = end + 1;
    else
      high = line;
  }
  return low;
}

inline ExportedName read(std::string_view line) {
  line.remove_prefix(line.find(' ') + 1);
  const size_t home = line.find(' ') + 1, own = line.find(' ', home) + 1;
  return {line.substr(0, home - 1), line.substr(home, own - home - 1), line.substr(own)};
}

}  // namespace exports_detail

/// What a module of the library shows under names that begin so, in order, until `found` says false.
template <class Found>
void each_export(std::string_view module, std::string_view begin, Found found) {
  const std::string_view text = exports_detail::table();
  const std::string key = std::string(module) + ' ' + std::string(begin);
  for (size_t at = exports_detail::first_line(text, key); at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (!line.starts_with(key) || !found(exports_detail::read(line))) return;
    at = end + 1;
  }
}

inline std::optional<ExportedName> find_export(std::string_view module, std::string_view name) {
  std::optional<ExportedName> out;
  each_export(module, std::string(name) + ' ', [&](const ExportedName& e) {
    out = e;
    return false;
  });
  return out;
}

}  // namespace tfl
