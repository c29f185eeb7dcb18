// Any bytes as lines of CSV, for each of the readers: arrays, or an error of the file.
#include "tests/fuzz/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tfl::fuzz::Reader reader(R"(
import csv
import io

import numpy as np
import tensorflow as tf


def read(data):
    text = data.decode("utf-8", "replace")
    failure = None
    for reader in (lambda: list(csv.reader(text.splitlines())), lambda: np.loadtxt(io.StringIO(text), delimiter=","), lambda: np.genfromtxt(io.StringIO(text), delimiter=","),
                   lambda: tf.io.decode_csv(data, [0.0, "", 1])):
        try:
            reader()
        except Exception as e:
            failure = e
    if failure is not None:
        raise failure
)");
  return reader.read(data, size);
}
