#!/usr/bin/env python3
"""Traced functions of scripts as ONNX files and back: each trace of the functions at the top of a script is exported, read again and run beside
the function on made-up inputs. What has no ONNX form is counted by operation; nothing may differ or fail in another way.

    onnx_round_trips.py --tfl PROGRAM [--keep FOLDER] [-k SUBSTRING] [--least N] [--why] [SCRIPT|FOLDER...]

--keep leaves NAME.onnx with the inputs and results in NAME.npz, for other programs; --least fails when fewer traces were written.
"""
import argparse
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TAIL = '''

def round_trips_of(named, folder, title):
    import numpy as np
    import tensorflow as tf
    import tfl
    for name, function in named:
        for i, concrete in enumerate(getattr(function, "_list_all_concrete_functions", list)()):
            where = f"{title}_{name}_{i}"
            specs = [v for v in tf.nest.flatten(concrete.structured_input_signature) if hasattr(v, "dtype") and hasattr(v, "shape")]
            if len(specs) != len(concrete.inputs) - len(concrete.captured_inputs) or any([s.dtype == tf.string or s.dtype.is_complex for s in specs]):
                print("@@", where, "left", "inputs")
                continue
            inputs = []
            for k, s in enumerate(specs):
                sizes = [3 if d is None else d for d in s.shape.as_list()] if s.shape.rank is not None else [3]
                draw = np.random.RandomState(k)
                if s.dtype == tf.bool:
                    inputs.append(tf.constant(draw.uniform(size=sizes) < 0.5))
                elif s.dtype.is_integer:
                    inputs.append(tf.cast(tf.constant(draw.randint(1, 4, sizes)), s.dtype))
                else:
                    inputs.append(tf.cast(tf.constant(draw.uniform(0.1, 0.9, sizes)), s.dtype))
            path = f"{folder}/{where}.onnx"
            try:
                tfl.export_onnx(concrete, path)
            except tf.errors.UnimplementedError as e:
                print("@@", where, "refused", e.message.split("ONNX: ", 1)[-1])
                continue
            except Exception as e:
                print("@@", where, "failed", type(e).__name__, str(e).replace("\\n", " ")[:300])
                continue
            try:
                want = [np.asarray(v) for v in tf.nest.flatten(concrete(*inputs)) if v is not None]
            except Exception as e:
                print("@@", where, "left", "raises", type(e).__name__)
                continue
            try:
                got = tfl.import_onnx(path)(*inputs)
                got = [np.asarray(v) for v in (got if isinstance(got, list) else [got])]
                if not any([v.dtype == object for v in want]):
                    np.savez(f"{folder}/{where}.npz", **{f"in_{k}": v.numpy() for k, v in enumerate(inputs)}, **{f"out_{k}": v for k, v in enumerate(want)})
            except Exception as e:
                print("@@", where, "failed", type(e).__name__, str(e).replace("\\n", " ")[:300])
                continue
            same = len(got) == len(want) and all([g.shape == w.shape and g.dtype == w.dtype for g, w in zip(got, want)])
            if same and not all([np.allclose(g, w, rtol=1e-5, atol=1e-5, equal_nan=True) for g, w in zip(got, want) if g.dtype != object]):
                same = False
            print("@@", where, "same" if same else "differs", "" if same else f"{got} {want}".replace("\\n", " ")[:300])
'''


def functions_of(text):
    """Names of the functions at the top of a script that are traced."""
    found = re.findall(r"^@tf\.function[^\n]*\n(?:@[^\n]*\n)*def (\w+)", text, re.M)
    found += re.findall(r"^(\w+) = tf\.function\(", text, re.M)
    return list(dict.fromkeys(found))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tfl", required=True)
    p.add_argument("--keep")
    p.add_argument("-k", default="")
    p.add_argument("--least", type=int, default=1)
    p.add_argument("--why", action="store_true")
    p.add_argument("scripts", nargs="*")
    options = p.parse_args()
    options.tfl = os.path.abspath(options.tfl)
    scripts = []
    for s in options.scripts or [os.path.join(HERE, "..", "conformance")]:
        scripts += sorted(glob.glob(os.path.join(s, "**", "*.tfl"), recursive=True)) if os.path.isdir(s) else [s]
    counts, refused, bad = collections.Counter(), collections.Counter(), []
    with tempfile.TemporaryDirectory(prefix="onnx_round_trips") as scratch:
        folder = options.keep or scratch
        os.makedirs(folder, exist_ok=True)
        for script in scripts:
            if options.k not in script:
                continue
            with open(script, encoding="utf-8") as f:
                text = f.read()
            names = functions_of(text)
            if not names:
                continue
            title = os.path.basename(script)[:-4]
            here = os.path.join(scratch, title + "_.tfl")
            with open(here, "w", encoding="utf-8") as f:
                f.write(text + TAIL + f"round_trips_of([{', '.join([f'({n!r}, {n})' for n in names])}], {folder!r}, {title!r})\n")
            try:
                done = subprocess.run([options.tfl, "run", "--allow-all", "--timeout", "60", here], capture_output=True, text=True, errors="replace", timeout=100,
                                      cwd=os.path.dirname(os.path.abspath(script)))
            except subprocess.TimeoutExpired:
                bad.append(f"{title}: takes longer than 100 s")
                continue
            if done.returncode < 0 or done.returncode >= 70:
                bad.append(f"{title}: exit {done.returncode}")
            for line in done.stdout.splitlines():
                if line.startswith("@@ "):
                    _, where, what, *rest = line.split(" ", 3)
                    counts[what] += 1
                    if what == "refused":
                        refused[re.sub(r" \(.*?\), line.*?:", ":", rest[0]) if rest else ""] += 1
                    if what in ("differs", "failed"):
                        bad.append(f"{where} {what}: {rest[0] if rest else ''}")
    for line in bad:
        print(line)
    if options.why:
        for why, n in refused.most_common():
            print(f"{n:6} {why}")
    print(", ".join([f"{n} {what}" for what, n in counts.most_common()]))
    if counts["same"] < options.least:
        print(f"fewer than {options.least}")
    return 1 if bad or counts["same"] < options.least else 0


if __name__ == "__main__":
    sys.exit(main())
