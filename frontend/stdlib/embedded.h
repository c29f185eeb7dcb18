// The files of stdlib/ as the build put them into the program: names, text and bytecode. Knows nothing of what they mean;
// whoever imports a module of the library looks its file up here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tfl {

struct EmbeddedFile {
  const char* name;  // path below stdlib/, with '/' between folders, e.g. "tensorflow/nn/__init__.tfl"
  const char* data;  // `size` bytes of text, followed by a zero byte
  std::size_t size;
  const char* code_data;  // its bytecode, 16-byte aligned; null in the program that makes it
  std::size_t code_size;

  std::string_view text() const { return {data, size}; }
  std::string_view code() const { return {code_data, code_size}; }
};

// Sorted by name; `stdlib_file_count` of them. The symbols are made by cmake/EmbedStdlib.cmake.
extern const EmbeddedFile stdlib_files[] __asm__("tfl_stdlib_files");
extern const std::size_t stdlib_file_count __asm__("tfl_stdlib_file_count");

// The file of that name, or null.
inline const EmbeddedFile* find_stdlib_file(std::string_view name) {
  const EmbeddedFile *end = stdlib_files + stdlib_file_count,
                     *found = std::lower_bound(stdlib_files, end, name,
                                               [](const EmbeddedFile& f, std::string_view n) { return f.name < n; });
  return found != end && found->name == name ? found : nullptr;
}

}  // namespace tfl
