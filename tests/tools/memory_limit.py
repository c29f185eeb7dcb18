#!/usr/bin/env python3
"""`--max-memory` holds whatever grows: each statement below, repeated without end, comes to an error that the script can catch, before the process has
much more than it may; after the script has let go of what it kept, it goes on. Exit status 0: all right.

usage: memory_limit.py --tfl PROGRAM [--only NAME]
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile

from sanitizers import sanitizer

LIMIT = 100 << 20
MOST = 220 << 20  # with the program, its libraries and what is taken between two measurements

# NAME: (what comes before, the statement). It may use `n`, which counts.
GROWS = {
    "small texts": ("", "kept.append('%d' % n)"),
    "texts": ("", "kept.append('%d' % n * 1000)"),
    "names": ("class Some: pass\nsome = Some()", "setattr(some, 'name%d' % n, n)"),
    "interned texts": ("", "kept.append(getattr(tf, 'name%d' % n, n))"),
    "lists": ("", "kept.append([])"),
    "nested lists": ("", "kept = [kept, n]"),
    "dictionaries": ("", "kept.append({n: n})"),
    "one dictionary": ("kept = {}", "kept[n] = n"),
    "a set": ("kept = set()", "kept.add((n, n))"),
    "instances": ("class Some:\n    def __init__(self): self.a = 1", "kept.append(Some())"),
    "closures": ("def make(x):\n    return lambda: x", "kept.append(make(n))"),
    "generators": ("def make(x):\n    yield x", "kept.append(make(n)); next(kept[-1])"),
    "patterns": ("import re", "kept.append(re.compile('(a|b%d)*[c-x]+' % n * 8))"),
    "tensors": ("", "kept.append(tf.constant(n))"),
    "text tensors": ("", "kept.append(tf.constant('%d' % n * 40))"),
    "a tape": ("x = tf.Variable(1.0)\ntape = tf.GradientTape(persistent=True)\ntape.__enter__()\ny = x * 1.0", "y = y * 1.5 + 0.5"),
    "traces": ("@tf.function(reduce_retracing=False)\ndef f(x, k):\n    for i in range(20):\n        x = x * 2.0 + float(k)\n    return x", "f(tf.constant(1.0), n)"),
    "one graph": ("@tf.function\ndef f(x):\n    while True:\n        x = x * 1.5\nstatement = lambda: f(tf.constant(1.0))", "statement()"),
    "functions": ("", "kept.append(tf.function(lambda x: x + 1).get_concrete_function(tf.TensorSpec([], tf.float32)))"),
    "variables": ("", "kept.append(tf.Variable([1.0, 2.0]))"),
    "a dataset": ("", "kept.append(tf.data.Dataset.range(n).map(lambda x: x + 1))"),
    "arrays": ("import numpy as np", "kept.append(np.arange(5) + n)"),
    "exceptions": ("", "kept.append(ValueError('%d' % n))"),
    "json": ("import json", "kept.append(json.loads('[[%d], {\"a\": 1.5}]' % n))"),
    "bytes": ("", "kept.append(b'ab' * (n % 500))"),
}

SCRIPT = '''import tensorflow as tf
kept = []
n = 0
{before}
try:
    while True:
        n += 1
        {statement}
except (MemoryError, tf.errors.ResourceExhaustedError):
    kept = some = x = y = tape = f = None
    print("caught")
print(sum(range(10)))
'''


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tfl", required=True)
    p.add_argument("--only")
    a = p.parse_args()
    tfl = os.path.abspath(a.tfl)
    if kind := sanitizer(tfl):
        return print(f"not with the {kind} sanitizer: its records of the memory count, too, and what is freed is kept")
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "grows.tfl")
        for name, (before, statement) in GROWS.items():
            if a.only and a.only not in name:
                continue
            with open(path, "w") as f:
                f.write(SCRIPT.format(before=before, statement=statement))
            report = os.path.join(folder, "peak")
            pid = os.fork()
            if pid == 0:  # a process of its own, so that its children's peak is this run's
                resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))  # what does not hold does not take the machine
                done = subprocess.run([tfl, "run", "--max-memory=100M", "--timeout=100s", path], capture_output=True, text=True)
                peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
                with open(report, "w") as f:
                    f.write(repr((done.returncode, done.stdout, done.stderr[-300:], peak)))
                os._exit(0)
            os.waitpid(pid, 0)
            with open(report) as f:
                code, out, err, peak = eval(f.read())  # what was written above
            if (code, out) != (0, "caught\n45\n"):
                wrong.append(f"{name}: exit code {code}, {out!r}, {err!r}, {peak >> 20} MiB")
            elif peak > MOST:
                wrong.append(f"{name}: {peak >> 20} MiB")
            elif a.only:
                print(f"{name}: {peak >> 20} MiB")
    for problem in wrong:
        print(problem)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
