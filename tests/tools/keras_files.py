#!/usr/bin/env python3
"""Files that Keras wrote (tests/tools/keras_files), and TensorFlow (tests/tools/tensorflow_files): loaded, compared, trained on and
written again; and the commands that take such files. Exit status 0: all right.

usage: keras_files.py --tfl PROGRAM
"""
import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def commands(tfl, folder):
    """What is wrong with inspect, run, build, explain, convert and diff of the recorded files."""
    keras, tensorflow = os.path.join(HERE, "keras_files"), os.path.join(HERE, "tensorflow_files")
    wrong = []

    def told(words, expected, code=0):
        done = subprocess.run([tfl, *words], capture_output=True, text=True, cwd=folder)
        text = done.stdout + done.stderr
        if done.returncode != code or any(part not in text for part in expected):
            wrong.append(f"tfl {' '.join(words)}: {done.returncode}, {text[-400:]}")

    x = "[[0.1, 0.2, 0.3, 0.4]]"
    for model in (os.path.join(keras, "trained_SGD.keras"), os.path.join(keras, "trained_SGD.h5")):
        told(["inspect", model], ["Total params"])
        told(["run", model, "--inputs", x], ["output_0: float32[1, 1]"])
        told(["explain", model], ["predict: 1 trace", "nodes as traced"])
        told(["build", model, "-o", folder], [".h"])
    saved = os.path.join(tensorflow, "mod_loops")
    told(["inspect", saved], ["saved model of TensorFlow", "serving_default(*, x: f32[?,4])"])
    told(["run", saved, "--inputs", x], ["output_0"])
    told(["explain", saved], ["model.run: 1 trace", "nodes as traced"])
    told(["build", os.path.join(tensorflow, "seq_dense"), "-o", folder], [".h"])
    checkpoint, weights = os.path.join(tensorflow, "trained_adam"), os.path.join(keras, "seq_lstm.weights.h5")
    told(["inspect", checkpoint], ["checkpoint of TensorFlow", "optimizer/_iterations: int64[]"])
    told(["inspect", checkpoint + ".index"], ["checkpoint of TensorFlow"])
    told(["run", checkpoint], ["it is a checkpoint, which holds values and no functions"], 2)
    told(["run", weights, "--inputs", x], ["holds weights and no model"], 1)
    told(["explain", weights], ["holds weights and no model"], 1)
    trained, plain = os.path.join(keras, "trained_Adam.keras"), os.path.join(keras, "fn_operators.keras")
    for source, target in ((trained, "a.h5"), ("a.h5", "b.keras"), (plain, "c.weights.h5"), (plain, "d.safetensors"), (trained, "saved"), ("saved", "saved_2"),
                           (checkpoint, "e.safetensors")):
        told(["convert", source, target], [])
    for one, other in ((trained, "b.keras"), (plain, "c.weights.h5"), (plain, "d.safetensors")):
        told(["diff", one, other], ["no difference in"])
    told(["diff", checkpoint, "e.safetensors"], ["no difference in"])
    told(["diff", trained, os.path.join(keras, "trained_SGD.keras")], ["elements differ"], 1)
    told(["convert", saved, "f.keras"], ["holds functions and no layers"], 1)
    told(["convert", checkpoint, "f.keras"], ["holds values and no model"], 1)
    told(["convert", trained, "f.zip"], ["names no form that models are written in"], 1)
    told(["convert", trained, "f.onnx"], ["tfl export writes such files"], 1)
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tfl", required=True)
    parser.add_argument("--keep")
    options = parser.parse_args()
    tfl = os.path.abspath(options.tfl)
    wrong = 0
    for name in ("keras_files", "tensorflow_files"):
        if not os.path.exists(os.path.join(os.path.dirname(tfl), "libtfl_hdf5.so")):
            print("this build is without HDF5: nothing to test")
            return 0
        source = os.path.join(HERE, name)
        with tempfile.TemporaryDirectory() as folder:
            folder = options.keep or folder
            run = subprocess.run([tfl, "run", "--allow-read", source, "--allow-write", folder, os.path.join(source, "check.tfl"), source, folder],
                                 capture_output=True, text=True)
            if run.returncode:
                wrong = 1
                print(run.stdout[-500:], run.stderr[-1500:])
    with tempfile.TemporaryDirectory() as folder:
        for line in commands(tfl, folder) if not wrong else []:
            wrong = 1
            print(line)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
