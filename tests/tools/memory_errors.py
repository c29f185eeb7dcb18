#!/usr/bin/env python3
"""A sample of tests/scripts under valgrind, half of them with machine code: nothing reads what nobody wrote, frees what another kind of request gave,
touches what is not its own, or loses memory for good. Exit status 0: all right, or there is no valgrind.

usage: memory_errors.py --tfl PROGRAM [--scripts N] [--seed N] [--only NAME]
"""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile

from sanitizers import sanitizer

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts")
STAGED = "import tensorflow as tf\n\n\n@tf.function\ndef f(x):\n    return tf.reduce_sum(tf.sin(x) * 2.0 + x)\n\n\nprint(f(tf.ones([100])), f(tf.ones([3, 3])))\n"
LARGEST = 2500  # bytes of a script: valgrind takes fifty times as long


def check(tfl, path, flags, env, cwd, log):
    command = ["valgrind", "-q", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite", "--show-leak-kinds=definite", "--num-callers=16",
               f"--log-file={log}", tfl, "run", *flags, path]
    try:
        done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=900, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return "it does not end"
    with open(log) as f:
        said = f.read()
    if done.returncode == 99:
        return said[:4000]
    return f"ended with {done.returncode}\n{done.stderr[-400:]}{said[:2000]}" if done.returncode < 0 else None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tfl", required=True)
    p.add_argument("--scripts", type=int, default=4)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only")
    a = p.parse_args()
    tfl = os.path.abspath(a.tfl)
    if sanitizer(tfl) or not shutil.which("valgrind"):
        return print("there is no valgrind, or a sanitizer looks already")
    names = sorted(os.path.join(where, n) for where, _, files in os.walk(SCRIPTS) for n in files if n.endswith(".tfl"))
    small = [n for n in names if os.path.getsize(n) <= LARGEST]
    chosen = [n for n in names if a.only in n] if a.only else random.Random(a.seed).sample(small, min(a.scripts, len(small)))
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "XDG_CACHE_HOME": os.path.join(folder, "cache"), "TMPDIR": folder}
        staged = os.path.join(folder, "staged.tfl")
        with open(staged, "w") as f:
            f.write(STAGED)
        runs = [(staged, ("--jit=wait",))] + [(n, ("--jit=wait",) if i % 2 else ()) for i, n in enumerate(chosen)]
        for name, flags in runs:
            problem = check(tfl, os.path.basename(name), flags, env, os.path.dirname(name), os.path.join(folder, "log"))
            if problem:
                wrong += 1
                print(f"{os.path.basename(name)} {' '.join(flags)}:\n{problem}")
    print(f"{len(runs)} scripts, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
