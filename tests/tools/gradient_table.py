#!/usr/bin/env python3
"""Every operation with a gradient is run by tests/scripts/gradients/operations.tfl, in every type of floats that it takes.

The rows of runtime/ops with a gradient's formula or a rule in ir/gradient are compared with what the script says that it ran (the script itself
compares first and second gradients with TensorFlow's, with central differences, and other types with float64).

  gradient_table.py --tfl build/tfl
"""
import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TYPES = {"float16", "bfloat16", "float32", "float64"}

# Operations that the script's graphs do not show, and where they are tested.
ELSEWHERE = {
    "call": "functions under a tape: grad_modes, grad_functions", "switch_case": "inside the script's loop; grad_modes",
    "array_push": "made by gradients of loops: grad_modes, gradient_programs.py", "array_pop": "the same", "array_sum": "the same",
    "read_variable": "a type of its own: grad_tape_uses", "sparse_dense_matmul": "sparse/products_gradients",
    "bitcast": "what has a gradient is in signal/fourier", "eig": "complex results: tensors/complex_matrices",
    **{name: "complex_gradients" for name in "angle complex complex_abs conj imag real".split()},
}
# Types that an operation does not take, as in TensorFlow.
HALVES = {"float16", "bfloat16"}
REFUSED = {name: {"bfloat16"} for name in """cholesky lu matrix_determinant log_matrix_determinant matrix_inverse matrix_solve triangular_solve
qr svd eigh""".split()} | {name: HALVES for name in "betainc zeta polygamma nextafter fft rfft irfft".split()}


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return f.read()


def differentiable():
    """Names of operations that have a gradient -> TensorFlow's names."""
    tf_names, out = {}, {}
    for row in re.finditer(r"^TFL_ELEMENTWISE\((\w+), (\w+), \d, \w+, \w+, (.*)\)\s*$", read("runtime", "ops", "elementwise.def"), re.M):
        tf_names[row[1]] = row[2]
        if not re.search(r"\(none(, none)*\), \"", row[3]):
            out[row[1]] = row[2]
    for name in ("structural.def", "control.def"):
        for row in re.finditer(r"^TFL_(?:OP|CONTROL|ARRAY)\((\w+), (\w+),", read("runtime", "ops", name), re.M):
            tf_names[row[1]] = row[2]
    for name in sorted(os.listdir(os.path.join(ROOT, "ir", "gradient"))):
        if name.endswith(".cpp"):
            for row in re.finditer(r"\{Op::(\w+), ?\w+\}", read("ir", "gradient", name)):
                if row[1] in tf_names:
                    out[row[1]] = tf_names[row[1]]
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tfl", default="build/tfl")
    args = p.parse_args()
    done = subprocess.run([args.tfl, "run", os.path.join(ROOT, "tests", "scripts", "gradients", "operations.tfl")], capture_output=True, text=True,
                          env={**os.environ, "GRADIENT_TABLE": "1"})
    if done.returncode:
        print(done.stderr[-2000:])
        return 1
    ran = {}
    for line in done.stdout.splitlines():
        if line.startswith("RAN "):
            _, _, types, *operations = line.split()
            for o in operations:
                ran.setdefault(o, set()).update(types.split(","))
    table, wrong = differentiable(), []
    for name, tf_name in sorted(table.items()):
        if (tf_name in ran) == (name in ELSEWHERE):
            wrong.append(f"{name}: " + ("is run and stands among those that are not" if name in ELSEWHERE else "no example runs it"))
        missing = TYPES - ran.get(tf_name, TYPES) - REFUSED.get(name, set())
        if missing:
            wrong.append(f"{name}: no example runs it with {', '.join(sorted(missing))}")
    wrong += [f"{name}: is no operation with a gradient" for name in sorted((set(ELSEWHERE) | set(REFUSED)) - set(table))]
    for line in wrong:
        print(line)
    print(f"{len(table)} operations with a gradient, {len(table) - len(ELSEWHERE)} run by the script, {len(wrong)} without")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
