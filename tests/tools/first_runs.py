#!/usr/bin/env python3
"""The memory of a process in which a traced function goes from the evaluator to machine code: not what both need together.

  first_runs.py --tfl build/tfl
"""
import argparse
import os
import subprocess
import sys
import tempfile

from sanitizers import sanitizer

STEP = '''import tensorflow as tf
@tf.function
def step(x, y, w1, b1, w2):
    with tf.GradientTape() as tape:
        tape.watch([w1, b1, w2])
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=tf.matmul(tf.nn.relu(tf.matmul(x, w1) + b1), w2)))
    return tape.gradient(loss, [w1, b1, w2])
x, y = tf.fill([32768, 64], 0.5), tf.fill([32768], 3)
for _ in range(8):
    r = step(x, y, tf.fill([64, 512], 0.01), tf.fill([512], 0.0), tf.fill([512, 10], 0.01))
print(r[0].shape)
'''
MIB = 1 << 20
COMPILER = 80 * MIB  # what LLVM and its work take


def peak(tfl, path, cache):
    child = subprocess.Popen([tfl, "run", path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env={**os.environ, "XDG_CACHE_HOME": cache})
    printed = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status or printed != b"(64, 512)\n":
        sys.exit(f"the script ended with status {status} and printed {printed}")
    return usage.ru_maxrss * 1024


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tfl", default="build/tfl")
    tfl = os.path.abspath(p.parse_args().tfl)
    if kind := sanitizer(tfl):
        return print(f"not with the {kind} sanitizer: its records of the memory count, too")
    with tempfile.TemporaryDirectory(prefix="tfl-first-") as folder:
        path, cache = os.path.join(folder, "step.tfl"), os.path.join(folder, "cache")
        with open(path, "w") as f:
            f.write(STEP)
        compiling, cached = peak(tfl, path, cache), peak(tfl, path, cache)
        if compiling > cached + COMPILER:
            sys.exit(f"{compiling / MIB:.0f} MiB where the function is compiled after it has run, {cached / MIB:.0f} where it is loaded")
    print("all right")


main()
