#!/usr/bin/env python3
"""ONNX files that are damaged, empty or of another kind: each is a model or an ordinary error that the library words; nothing crashes, hangs
or takes memory beyond what the file could need. The models are those of tests/scripts/saving/onnx_operations.json, changed at random.

    onnx_files.py --tfl PROGRAM [--count N] [--seed N]
"""
import argparse
import base64
import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = """
import sys
import tensorflow as tf
import tfl

loaded = ran = refused = 0
for path in sys.argv[1:]:
    try:
        model = tfl.import_onnx(path)
        loaded += 1
        model.rehearse(1)
        ran += 1
    except (ValueError, TypeError, OSError, MemoryError, OverflowError, tf.errors.OpError) as e:
        refused += 1
        if not str(e):
            print("no text:", path, type(e).__name__)
    except Exception as e:
        print("not an error of the file:", path, type(e).__name__, e)
print("ok", loaded, ran, refused)
"""


def damaged(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        kind = rng.choice([0, 0, 0, 1, 1, 1, 2, 3, 4, 5])  # what changes no length is read further
        at = rng.randrange(max(len(data), 1))
        if kind == 0 and data:
            data[at] = rng.randrange(256)
        elif kind == 1 and data:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            del data[at:at + rng.randrange(1, 20)]
        elif kind == 4:
            data[at:at] = bytes([rng.choice([0, 1, 127, 128, 255, rng.randrange(256)]) for _ in range(rng.randrange(1, 12))])
        else:
            size = rng.randrange(1, 40)
            data[at:at] = data[at:at + size]
    return bytes(data)


def fail(text):
    print(text)
    sys.exit(1)


def check_words(tfl, folder):
    """Files that are no models are named for what they are."""
    files = {"empty": (b"", "is an empty file"), "zip": (b"PK\x03\x04" + bytes(40), "zip archive"), "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(40), "HDF5"),
             "text": (b"hello, world\n", "no ONNX model"), "zeros": (bytes(64), "no ONNX model"), "npy": (b"\x93NUMPY\x01\x00", "NumPy")}
    for name, (data, words) in files.items():
        path = os.path.join(folder, name + ".onnx")
        with open(path, "wb") as f:
            f.write(data)
        for command in (["run"], ["inspect"], ["build"], ["explain"]):
            p = subprocess.run([tfl] + command + [path], capture_output=True, text=True, timeout=120, cwd=folder)
            if p.returncode not in (1, 2) or words not in p.stderr:
                fail(f"tfl {command[0]} of the file {name}: exit {p.returncode}, {p.stderr!r}")


def check_commands(tfl, folder, models):
    """What the commands that take scripts do with a model."""
    path = os.path.join(folder, "model.onnx")
    with open(path, "wb") as f:
        f.write(models["Conv"])
    for command, words in ((["build", "-o", os.path.join(folder, "out")], "libmodel.so"), (["explain"], "run"), (["profile"], "rehearse"), (["inspect"], "Conv"),
                           (["dump", "--ir"], "conv2d")):
        where = path + "::run" if command[0] == "dump" else path
        p = subprocess.run([tfl] + command + [where], capture_output=True, text=True, timeout=300, cwd=folder)
        if p.returncode != 0 or words not in p.stdout + p.stderr:
            fail(f"tfl {command[0]} of a model: exit {p.returncode}, {p.stdout!r} {p.stderr!r}")
    with open(os.path.join(folder, "out", "model.h")) as f:
        header = f.read()
    if "model_run(" not in header or "x0" not in header:
        fail("the header of the library does not name the graph's inputs: " + header)
    p = subprocess.run([tfl, "build", "--fix", "batch=1", path], capture_output=True, text=True, timeout=300, cwd=folder)
    if p.returncode != 1 or "neither an input nor a size 'batch'" not in p.stderr:
        fail(f"--fix of a name that is not there: exit {p.returncode}, {p.stderr!r}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tfl", required=True)
    p.add_argument("--count", type=int, default=2000)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    a.tfl = os.path.abspath(a.tfl)
    with open(os.path.join(HERE, "..", "scripts", "saving", "onnx_operations.json")) as f:
        rows = json.load(f)
    models = [base64.b64decode(row["model"]) for row in rows]
    rng = random.Random(a.seed)
    with tempfile.TemporaryDirectory() as folder:
        check_words(a.tfl, folder)
        check_commands(a.tfl, folder, {row["op"]: model for row, model in reversed(list(zip(rows, models)))})
        script = os.path.join(folder, "load.tfl")
        with open(script, "w") as f:
            f.write(SCRIPT)
        totals = [0, 0, 0]
        for first in range(0, a.count, 250):
            paths = []
            for i in range(first, min(first + 250, a.count)):
                paths.append(os.path.join(folder, f"{i}.onnx"))
                with open(paths[-1], "wb") as f:
                    f.write(damaged(rng.choice(models), rng))
            p = subprocess.run([a.tfl, "run", "--max-memory", "1G", "--timeout", "300", script] + paths, capture_output=True, text=True, timeout=600)
            last = p.stdout.strip().splitlines()[-1:] or [""]
            if p.returncode != 0 or not last[0].startswith("ok ") or len(p.stdout.strip().splitlines()) != 1:
                keep = os.path.join(tempfile.gettempdir(), "onnx_files")
                os.makedirs(keep, exist_ok=True)
                for path in paths:
                    os.replace(path, os.path.join(keep, os.path.basename(path)))
                fail(f"exit {p.returncode}: {p.stdout[-2000:]} {p.stderr[-2000:]}\nthe files are in {keep}")
            totals = [t + int(n) for t, n in zip(totals, last[0].split()[1:])]
        print(f"{a.count} damaged models: {totals[0]} were read, {totals[1]} ran, {totals[2]} gave an error")


if __name__ == "__main__":
    main()
