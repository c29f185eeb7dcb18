// Any bytes as an ONNX model: a model, or an error of the file. It is not run: what a damaged model computes may take any time.
#include "tests/fuzz/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tfl::fuzz::Reader reader(R"(
import tfl

def read(data):
    return tfl.import_onnx(data)
)");
  return reader.read(data, size);
}
