// Any bytes as a saved_model.pb of TensorFlow: a model whose signatures are traced, or an error of the file.
#include "tests/fuzz/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tfl::fuzz::Reader reader(R"(
import os
import tempfile
import tensorflow as tf

folder = tempfile.mkdtemp()

def read(data):
    with open(os.path.join(folder, "saved_model.pb"), "wb") as f:
        f.write(data)
    model = tf.saved_model.load(folder, options=tf.saved_model.LoadOptions(experimental_skip_checkpoint=True))
    signatures = getattr(model, "signatures", None)
    for signature in signatures.values() if hasattr(signatures, "values") else []:
        signature.graph
)");
  return reader.read(data, size);
}
