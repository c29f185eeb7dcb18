// Any bytes at all as an object of machine code: it is loaded or refused. What was loaded is not run.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "codegen/load/loader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto code = tfl::codegen::LoadedCode::load(std::string_view(reinterpret_cast<const char*>(data), size));
  if (code.ok() && !(*code)->entry()) __builtin_trap();
  return 0;
}
