#!/usr/bin/env python3
"""tfl inspect DIR and tfl run DIR on the kept saved model (tests/scripts/saving/saved_models/first), with files in and out, and what they say when
they are used wrongly. NumPy files are written and read here byte by byte."""
import argparse
import ast
import json
import os
import struct
import subprocess
import sys
import tempfile

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts", "saving", "saved_models", "first")
failures = []


def npy(rows):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(rows) * len(rows[0])}f", *sum(rows, []))


def read_npy(path):
    with open(path, "rb") as f:
        data = f.read()
    size = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + size].decode())
    return header["shape"], list(struct.unpack(f"<{(len(data) - 10 - size) // 4}f", data[10 + size:]))


def check(what, condition, detail=""):
    if not condition:
        failures.append(what)
        print(f"{what}: {detail}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tfl", default="tfl")
    tfl = os.path.abspath(parser.parse_args().tfl)
    folder = tempfile.mkdtemp()
    os.symlink(os.path.abspath(MODEL), os.path.join(folder, "first"))

    def run(*words, code=0, err=""):
        done = subprocess.run([tfl, *words], cwd=folder, capture_output=True, text=True, timeout=60)
        check(" ".join(words), done.returncode == code and err in done.stderr, f"exit {done.returncode}\n{done.stderr}")
        return done.stdout

    out = run("inspect", "first")
    for line in ("first: saved model, version 1, tags serve", "  steps(*, n: i32[]) -> {x: i32[], y: i32[]}",
                 "    (x: f32[2], mode='twice', *, scale=2.0) -> f32[2], 10 nodes", "variables: 8, 79 B",
                 "  count         i32[]                 4 B  not trainable", "  part/kernel   f32[2,2]             16 B", "constants: 1, 8 B"):
        check("inspect", line in out.splitlines(), f"no line {line!r} in\n{out}")
    out = run("inspect", "first", "--function", "collatz")
    check("graph", out.startswith("func @collatz(%n: i32) -> (i32, i32) {\n") and "= while_loop(" in out, out)
    out = run("inspect", "first", "--function", "serving_default", "--svg")
    check("picture", out.startswith("<svg ") and out.endswith("</svg>\n") and ">matmul</text>" in out and out.count("<rect ") > 20, out[:500])

    with open(os.path.join(folder, "x.npy"), "wb") as f:
        f.write(npy([[1.0, 2.0], [-3.0, 0.5]]))
    out = run("run", "first", "--inputs", "x.npy")
    check("run", out.startswith("hidden: f32[2,2]\n[[ 1.251e+00  1.000e+30]\n [-9.990e-01  1.000e+30]]\nlabel: str[2]\n[b'yes' b'no']\n"), out)
    check("by name", run("run", "first", "--inputs", "rows=x.npy") == out, "")
    check("outputs", run("run", "first/", "--outputs", "out", "--inputs", "x.npy") == "out/hidden.npy: f32[2,2]\nout/label.json: str[2]\n", "")
    shape, values = read_npy(os.path.join(folder, "out", "hidden.npy"))
    check("npy", shape == (2, 2) and abs(values[0] - 1.251) < 1e-6, (shape, values))
    with open(os.path.join(folder, "out", "label.json"), encoding="utf-8") as f:
        check("json", json.load(f) == ["yes", "no"])
    check("steps", run("run", "first", "--function", "steps", "--inputs", "27") == "x: i32[]\n111\ny: i32[]\n9232\n")
    check("attribute", run("run", "first", "--function", "squares", "--inputs", "[1, -2, 3]") == "output_0: f32[2]\n[1. 9.]\n")

    run("run", "first", code=2, err="serving_default takes rows: f32[?,2]; there is nothing for rows")
    run("run", "first", "--inputs", "x.npy", "x.npy", code=2, err="there are more inputs than that")
    run("run", "first", "--inputs", "[1.5]", code=2, err="the input 'rows' is f32[1], and serving_default takes f32[?,2]")
    run("run", "first", "--inputs", "y=x.npy", code=2, err="serving_default has no input 'y'; it takes rows")
    run("run", "first", "--inputs", "x.txt", code=2, err="'x.txt' is neither a file .npy or .npz nor JSON")
    run("run", "first", "--inputs", "no.npy", code=1, err="No such file or directory")
    run("run", "first", "--function", "nothing", code=2, err="there is no function 'nothing' in the model; there are serving_default, steps, ")
    run("run", "first", "--function", "__call__", code=2, err="has 2 traces")
    run("run", "first", "--inputs", code=2, err="--inputs needs a value")
    run("run", "first", "x.npy", code=2, err="unexpected argument 'x.npy'")
    run("run", ".", code=2, err=". holds no saved model: there is no saved_model.json")
    run("inspect", "nowhere", code=2, err="nowhere holds no saved model")
    run("inspect", code=2, err="folder is required")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
