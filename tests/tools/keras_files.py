#!/usr/bin/env python3
"""Files that Keras wrote (tests/tools/keras_files), and TensorFlow (tests/tools/tensorflow_files): loaded, compared, trained on and
written again. Exit status 0: all right.

usage: keras_files.py --tfl PROGRAM
"""
import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


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
            break
        source = os.path.join(HERE, name)
        with tempfile.TemporaryDirectory() as folder:
            folder = options.keep or folder
            run = subprocess.run([tfl, "run", "--allow-read", source, "--allow-write", folder, os.path.join(source, "check.tfl"), source, folder],
                                 capture_output=True, text=True)
            if run.returncode:
                wrong = 1
                print(run.stdout[-500:], run.stderr[-1500:])
    return wrong


if __name__ == "__main__":
    sys.exit(main())
