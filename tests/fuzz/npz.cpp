// Any bytes as a .npz file: arrays, or an error of the file.
#include "tests/fuzz/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tfl::fuzz::Reader reader(R"(
from numpy._io import NpzFile


def read(data):
    archive = NpzFile(data, "object")
    for name in archive.files:
        archive[name]
)");
  return reader.read(data, size);
}
