// The program of the build that turns one file of stdlib/ into bytecode, tfl_stdlib_compiler NAME SOURCE OUTPUT, and makes the table of
// public names, tfl_stdlib_compiler --exports LIST OUTPUT; LIST has a line NAME|SOURCE for each file.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/interpreter/bytecode/bytecode.h"
#include "frontend/interpreter/compile/compile.h"
#include "frontend/stdlib/compiler/exports.h"
#include "frontend/syntax/diagnostics/render.h"

namespace {

bool read_file(const char* path, std::string& text) {
  std::FILE* file = std::fopen(path, "rb");
  if (!file) return false;
  char buffer[65536];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
  bool good = !std::ferror(file);
  std::fclose(file);
  return good;
}

bool write_file(const char* path, const std::string& data) {
  std::FILE* file = std::fopen(path, "wb");
  if (!file) return false;
  bool good = std::fwrite(data.data(), 1, data.size(), file) == data.size();
  return std::fclose(file) == 0 && good;
}

int run(const char* name, const char* path, const char* output) {
  std::string text;
  if (!read_file(path, text)) {
    std::fprintf(stderr, "tfl_stdlib_compiler: cannot read %s\n", path);
    return 1;
  }
  tfl::Context context;
  tfl::Interp interp(context, {});
  auto source = std::make_shared<tfl::Source>(path, std::move(text));
  source->internal = true;
  tfl::CompileResult result = tfl::compile_module(interp, source);
  if (!result.diagnostics.empty()) {
    std::string report = tfl::render_diagnostics(*source, result.diagnostics, false);
    std::fprintf(stderr, "%s\n", report.c_str());
  }
  if (result.code.is_empty()) return 1;
  std::string data = tfl::serialise_code(interp, result.code);
  // What is written must be what can be read.
  auto again = tfl::deserialise_code(interp, data, source);
  if (!again) {
    std::fprintf(stderr, "tfl_stdlib_compiler: %s: %s\n", name, again.error().message.c_str());
    return 1;
  }
  if (!write_file(output, data)) {
    std::fprintf(stderr, "tfl_stdlib_compiler: cannot write %s\n", output);
    return 1;
  }
  return 0;
}

int write_exports(const char* list, const char* output) {
  std::string lines;
  bool good = read_file(list, lines);
  std::vector<std::pair<std::string, std::string>> files;
  for (size_t at = 0; good && at < lines.size();) {
    const size_t end = std::min(lines.find('\n', at), lines.size()), bar = lines.find('|', at);
    if (bar < end) {
      std::string text;
      good = read_file(lines.substr(bar + 1, end - bar - 1).c_str(), text);
      files.emplace_back(lines.substr(at, bar - at), std::move(text));
    }
    at = end + 1;
  }
  std::string error;
  const std::string table = tfl::exports_table(files, error);
  if (!error.empty()) std::fprintf(stderr, "%s", error.c_str());
  if (good && error.empty() && write_file(output, table)) return 0;
  std::fprintf(stderr, "tfl_stdlib_compiler: the table of public names could not be made\n");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: tfl_stdlib_compiler NAME SOURCE OUTPUT | --exports LIST OUTPUT\n");
    return 2;
  }
  if (std::string_view(argv[1]) == "--exports") return write_exports(argv[2], argv[3]);
  return run(argv[1], argv[2], argv[3]);
}
