#!/usr/bin/env python3
"""Files that older versions wrote (tests/old/VERSION: saved model, checkpoint, Keras file, native library, caches) are read and run by this one, and
give what they gave. Exit status 0: all right.

usage: old_artefacts.py --tfl PROGRAM [--make]

--make writes the folder of this program's version; a release does that once, and the folder never changes afterwards.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

from library import python_with_numpy, run

OLD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "old")
PROBABILITIES = "0.5432, 0.4568, 0.4908, 0.5092"
SAID = f"""made anew: {PROBABILITIES}, 111 steps
saved model: {PROBABILITIES}, 111 steps
checkpoint: {PROBABILITIES}, 111 steps
Keras: 0.5622, 0.4378, 0.3775, 0.6225
safetensors: True True
"""
CONSUMER = """
import numpy as np
import old
context = old.Context(num_threads=1)
x = np.array([[1, 2, -1], [0.5, 1.5, 3]], np.float32)
print(", ".join(f"{v:.4f}" for v in context.predict(x).ravel()), int(context.collatz(np.array(27, np.int32))))
"""


def make(tfl):
    version = re.search(r"tfl (\d+\.\d+\.\d+)", run(tfl, "--version"))[1]
    folder = os.path.join(OLD, version)
    if os.path.exists(folder):
        sys.exit(f"{folder} is there; what a version wrote never changes")
    os.makedirs(os.path.join(folder, "checkpoint"))
    environment = dict(os.environ, XDG_CACHE_HOME=os.path.join(folder, "cache"))
    print(run(tfl, "run", "--jit=wait", "network.tfl", "make", version, cwd=OLD, env=environment), end="")
    run(tfl, "build", "saved", "--name", "old", "--target", "x86-64-v3", "-o", "library", cwd=folder, env=environment)
    for name in os.listdir(os.path.join(folder, "library")):
        if not name.endswith((".so", ".py", ".json")):   # what is used here
            os.remove(os.path.join(folder, "library", name))
    shutil.rmtree(os.path.join(folder, "saved", "assets"), ignore_errors=True)


def wrong(tfl, version, python):
    """What a version's folder gives besides what it should."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.join(scratch, "old")
        shutil.copytree(OLD, folder)   # caches are written to
        for flags in (["--jit=wait"], ["--no-jit"]):
            environment = dict(os.environ, XDG_CACHE_HOME=os.path.join(folder, version, "cache"))
            done = subprocess.run([tfl, "run", *flags, "network.tfl", "check", version], cwd=folder, env=environment, capture_output=True, text=True,
                                  timeout=120, check=False)
            if done.returncode or done.stdout != SAID or done.stderr:
                yield f"{version}, {flags[0]}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        environment = dict(os.environ, PYTHONPATH=os.path.join(folder, version, "library"))
        said = run(python, "-c", CONSUMER, env=environment)
        if said != f"{PROBABILITIES} 111\n":
            yield f"{version}: its library says {said}"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tfl", required=True)
    p.add_argument("--make", action="store_true")
    options = p.parse_args()
    tfl = os.path.abspath(options.tfl)
    if options.make:
        return make(tfl)
    versions = sorted(name for name in os.listdir(OLD) if os.path.isdir(os.path.join(OLD, name)))
    problems = [problem for version in versions for problem in wrong(tfl, version, python_with_numpy())]
    print(*problems, sep="\n")
    return 1 if problems or not versions else 0


if __name__ == "__main__":
    sys.exit(main())
