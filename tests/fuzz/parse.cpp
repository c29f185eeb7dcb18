// Any bytes at all go through the parser, as a file and as text typed at a prompt, and what is found is rendered.
#include <cstddef>
#include <cstdint>
#include <string>

#include "frontend/syntax/ast/dump.h"
#include "frontend/syntax/diagnostics/render.h"
#include "frontend/syntax/parse/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tfl::Source source("fuzz.tfl", std::string(reinterpret_cast<const char*>(data), size));
  tfl::ParseResult result = tfl::parse_module(source);
  std::string text = tfl::render_diagnostics(source, result.diagnostics, false) + tfl::ast::dump_ast(result.module);
  // Whatever the source was, what is printed about it is UTF-8, but for the text of bytes literals in dumps.
  if (tfl::find_invalid_utf8(text) != std::string::npos) __builtin_trap();
  tfl::dump_tokens(source);
  tfl::parse_interactive(source);
  return 0;
}
