// Any bytes as an IDX file, packed or not: arrays, or an error of the file.
#include "tests/fuzz/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tfl::fuzz::Reader reader(R"(
from tensorflow.keras.datasets._idx import read
)");
  return reader.read(data, size);
}
