// Any bytes as a .npy file: arrays, or an error of the file.
#include "tests/fuzz/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tfl::fuzz::Reader reader(R"(
from numpy._io import _read_npy as read
)");
  return reader.read(data, size);
}
