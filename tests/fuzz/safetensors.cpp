// Any bytes as a .safetensors file: arrays, or an error of the file.
#include "tests/fuzz/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tfl::fuzz::Reader reader(R"(
from safetensors import read
)");
  return reader.read(data, size);
}
