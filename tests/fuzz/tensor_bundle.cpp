// Any bytes as the index of a checkpoint, beside a file of elements: tensors, or an error of the file.
#include "tests/fuzz/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tfl::fuzz::Reader reader(R"(
import os
import tempfile
import tensorflow as tf

prefix = os.path.join(tempfile.mkdtemp(), "c")
with open(prefix + ".data-00000-of-00001", "wb") as f:
    f.write(bytes(4096))

def read(data):
    with open(prefix + ".index", "wb") as f:
        f.write(data)
    reader = tf.train.load_checkpoint(prefix)
    for name in reader.get_variable_to_shape_map():
        reader.get_tensor(name)
)");
  return reader.read(data, size);
}
