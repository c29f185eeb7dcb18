#!/usr/bin/env python3
"""Files of Keras: those in tests/tools/keras_files, which Keras wrote, are loaded, compared, trained on and written again; damaged ones
give an error of the language, and the program neither dies nor hangs. Exit status 0: all right.

usage: keras_files.py --tfl PROGRAM [--damaged N] [--seed N]
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keras_files")
BATCH = 25  # damaged files that one run of the program loads

LOAD = '''import sys
import keras_models as M
import tensorflow as tf
for line in open(sys.argv[1]):
    name, path = line.split()
    try:
        if path.endswith(".weights.h5"):
            model = M.CASES[name][0]()
            model.load_weights(path)
        else:
            tf.keras.models.load_model(path)
        print("loaded", path, flush=True)
    except (ValueError, OSError, TypeError, KeyError, AttributeError, NotImplementedError, RuntimeError, UnicodeDecodeError, tf.errors.ResourceExhaustedError) as e:
        print("refused", path, type(e).__name__, str(e)[:160].replace("\\n", " "), flush=True)
'''


def damage(data, rng):
    data = bytearray(data)
    kind = rng.randrange(4)
    if kind == 0:
        return bytes(data[:rng.randrange(len(data))])
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        at = rng.randrange(len(data))
        if kind == 1:
            data[at] = rng.randrange(256)
        elif kind == 2:
            data[at] ^= 1 << rng.randrange(8)
        else:
            for i in range(at, min(at + 8, len(data))):
                data[i] = rng.choice((0, 255, 127))
    return bytes(data)


def damaged(tfl, count, seed, folder):
    rng = random.Random(seed)
    sources = sorted(n for n in os.listdir(HERE) if n.endswith((".keras", ".h5")) and not n.startswith("sharded"))
    script = os.path.join(folder, "load.tfl")
    with open(script, "w") as f:
        f.write(LOAD)
    with open(os.path.join(HERE, "keras_models.tfl")) as f, open(os.path.join(folder, "keras_models.tfl"), "w") as to:
        to.write(f.read())
    seen, bad = {"loaded": 0, "refused": 0}, []
    for start in range(0, count, BATCH):
        lines = []
        for i in range(start, min(start + BATCH, count)):
            name = rng.choice(sources)
            model, end = name.split(".", 1)
            path = os.path.join(folder, f"d{i}.{end}")
            with open(os.path.join(HERE, name), "rb") as f:
                whole = f.read()
            with open(path, "wb") as f:
                f.write(damage(whole, rng))
            lines.append((model, path))
        while lines:
            listed = os.path.join(folder, "list")
            with open(listed, "w") as f:
                f.writelines(f"{m} {p}\n" for m, p in lines)
            try:
                run = subprocess.run([tfl, "run", "--max-memory", "2GB", script, listed], capture_output=True, timeout=120)
                code = run.returncode
            except subprocess.TimeoutExpired as late:
                run, code = late, "no answer"
            done = (run.stdout or b"").decode(errors="replace").splitlines()
            for line in done:
                seen[line.split()[0]] = seen.get(line.split()[0], 0) + 1
            if code == 0 and len(done) == len(lines):
                break
            m, p = lines[len(done)]
            bad.append(f"{p} ({m}): {code} {(run.stderr or b'').decode(errors='replace')[-300:]}")
            lines = lines[len(done) + 1:]
    print(f"{count} damaged files: {seen['refused']} refused, {seen['loaded']} loaded, {len(bad)} wrong")
    for line in bad[:10]:
        print(line)
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tfl", required=True)
    parser.add_argument("--damaged", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    options = parser.parse_args()
    tfl = os.path.abspath(options.tfl)
    if not os.path.exists(os.path.join(os.path.dirname(tfl), "libtfl_hdf5.so")):
        print("this build is without HDF5: nothing to test")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        folder = options.keep or folder
        run = subprocess.run([tfl, "run", "--allow-read", HERE, "--allow-write", folder, os.path.join(HERE, "check.tfl"), HERE, folder],
                             capture_output=True, text=True)
        if run.returncode:
            print(run.stdout[-500:], run.stderr[-1500:])
            return 1
        return 1 if damaged(tfl, options.damaged, options.seed, folder) else 0


if __name__ == "__main__":
    sys.exit(main())
