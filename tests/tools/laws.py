#!/usr/bin/env python3
"""Proves every law of optimizer/laws.def with Z3 (Debian's python3-z3), for every element type that the law names and the operation takes.

    laws.py [--tfl build/tfl] [--only add]

The formula of an operation is read from its row in runtime/ops/elementwise.def; the functions in it are defined below as runtime/math has
them. Integers are bit vectors, floats IEEE's with all NaN as one value and two zeros; half types compute in f32 and round once. Where a
program is given, the formulas are also compared with what it computes for special values, so that the proofs are about its operations.
Exit status 0: every law is proved; 1: one is false, or a formula is not what the program computes; 2: Z3 gave up on one."""
import argparse
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import z3
except ModuleNotFoundError:  # Debian's package belongs to Debian's Python
    system = "/usr/bin/python3"
    if os.path.exists(system) and os.path.realpath(system) != os.path.realpath(sys.executable):
        os.execv(system, [system, *sys.argv])
    sys.exit("laws.py needs Z3: Debian has it in the package python3-z3")

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEAREST = z3.RNE()
FLOATS = {"float16": z3.FPSort(5, 11), "bfloat16": z3.FPSort(8, 8), "float32": z3.Float32(), "float64": z3.Float64()}
INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
DTYPES = [*FLOATS, *INTEGERS, "bool"]
TAKES = {  # TypeClass of runtime/ops/type_class.h without strings and complex numbers, of which no law speaks
    **dict.fromkeys(["numeric", "number", "number_or_string"], {*FLOATS, *INTEGERS}), "any": set(DTYPES),
    **dict.fromkeys(["floating", "fractional"], set(FLOATS)), "integer": set(INTEGERS), "boolean": {"bool"},
    **dict.fromkeys(["real_signed", "signed_number"], {*FLOATS, "int8", "int16", "int32", "int64"}),
}
NAMED = {"integers": set(INTEGERS), "floats": set(FLOATS), "numbers": {*FLOATS, *INTEGERS}, "booleans": {"bool"}}


def arguments(text):
    """The arguments of a macro's call, split where no bracket or quotation is open."""
    parts, depth, quoted = [""], 0, False
    for c in text:
        quoted ^= c == '"'
        depth += (c in "([{") - (c in ")]}") if not quoted else 0
        if c == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts]


class V:
    """A vector of one element, as the formulas of the rows have it."""

    def __init__(self, dtype, value):
        self.dtype, self.value = dtype, value

    def of(self, x):
        return x.value if isinstance(x, V) else literal(self.dtype, x)

    @property
    def real(self):
        return self.dtype in FLOATS

    @property
    def unsigned(self):
        return self.dtype[0] == "u" or self.dtype == "bool"

    def both(self, other, real, integer):
        return V(self.dtype, real(self.value, self.of(other)) if self.real else integer(self.value, self.of(other)))

    def __add__(self, y): return self.both(y, lambda a, b: z3.fpAdd(NEAREST, a, b), lambda a, b: a + b)
    def __sub__(self, y): return self.both(y, lambda a, b: z3.fpSub(NEAREST, a, b), lambda a, b: a - b)
    def __mul__(self, y): return self.both(y, lambda a, b: z3.fpMul(NEAREST, a, b), lambda a, b: a * b)
    def __truediv__(self, y): return self.both(y, lambda a, b: z3.fpDiv(NEAREST, a, b), None)
    def __and__(self, y): return self.both(y, None, lambda a, b: a & b)
    def __or__(self, y): return self.both(y, None, lambda a, b: a | b)
    def __xor__(self, y): return self.both(y, None, lambda a, b: a ^ b)
    def __invert__(self): return V(self.dtype, ~self.value)

    def compared(self, y, real, signed, unsigned):
        return (real if self.real else unsigned if self.unsigned else signed)(self.value, self.of(y))

    def __eq__(self, y): return self.compared(y, z3.fpEQ, lambda a, b: a == b, lambda a, b: a == b)
    def __ne__(self, y): return z3.Not(self == y)
    def __lt__(self, y): return self.compared(y, z3.fpLT, lambda a, b: a < b, z3.ULT)
    def __le__(self, y): return self.compared(y, z3.fpLEQ, lambda a, b: a <= b, z3.ULE)
    def __gt__(self, y): return self.compared(y, z3.fpGT, lambda a, b: a > b, z3.UGT)
    def __ge__(self, y): return self.compared(y, z3.fpGEQ, lambda a, b: a >= b, z3.UGE)


def literal(dtype, x):
    if dtype in FLOATS:
        return z3.FPVal(x, FLOATS[dtype])
    return z3.BitVecVal(int(x), 8 if dtype == "bool" else int(re.sub(r"\D", "", dtype)))


def select(mask, x, y):
    return V(x.dtype, z3.If(mask, x.value, y.value))


def rounded(mode):
    return lambda x: V(x.dtype, z3.fpRoundToIntegral(mode, x.value)) if x.real else x


def neg(x):
    return V(x.dtype, z3.fpNeg(x.value) if x.real else -x.value)


def magnitude(x):
    return V(x.dtype, z3.fpAbs(x.value)) if x.real else select(x < 0, neg(x), x)


def sign(x):
    positive = select(x > 0, V(x.dtype, x.of(1)), V(x.dtype, x.of(0)))
    if x.unsigned:
        return positive
    signed = select(x < 0, V(x.dtype, x.of(-1)), positive)
    return select(x != x, x, signed) if x.real else signed


def chosen(first):
    """maximum and minimum: of two zeros the first; NaN if either is."""
    return lambda a, b: select(z3.Or(first(a, b), a != a), a, b)


def truncate_div(a, b):
    if a.real:
        return rounded(z3.RTZ())(a / b)
    return V(a.dtype, z3.UDiv(a.value, b.value) if a.unsigned else a.value / b.value)


def floor_div(a, b):
    if a.real:
        return rounded(z3.RTN())(a / b)
    quotient = truncate_div(a, b)
    if a.unsigned:
        return quotient
    remainder = a - quotient * b
    return select(z3.And(remainder != 0, z3.Xor(remainder < 0, b < 0)), quotient - 1, quotient)


def shift(a, count, by):
    most = a.value.size() - 1
    c = select(count > most, V(a.dtype, a.of(most)), count)
    return V(a.dtype, by(a.value, (c if a.unsigned else select(c < 0, V(a.dtype, a.of(0)), c)).value))


FUNCTIONS = {
    "select": select, "neg": neg, "abs": magnitude, "sign": sign, "floor": rounded(z3.RTN()), "ceil": rounded(z3.RTP()),
    "rint": rounded(NEAREST), "round_to_even": rounded(NEAREST), "truncate_div": truncate_div, "floor_div": floor_div,
    "maximum": chosen(lambda a, b: a >= b), "minimum": chosen(lambda a, b: a <= b),
    "left_shift": lambda a, n: shift(a, n, lambda v, c: v << c),
    "right_shift": lambda a, n: shift(a, n, z3.LShR if a.unsigned else lambda v, c: v >> c),
    "relu": lambda x: select(x < 0, V(x.dtype, x.of(0)), x),
    "relu6": lambda x: select(x < 0, V(x.dtype, x.of(0)), select(x > 6, V(x.dtype, x.of(6)), x)),
}


class Operation:
    def __init__(self, row):
        self.name, self.arity, self.types, self.formula = row[0], int(row[2]), row[3], row[5]

    def __call__(self, *operands):
        dtype = operands[0].dtype
        if dtype in ("float16", "bfloat16"):  # computed in f32, rounded once
            wide = [V("float32", z3.fpToFP(NEAREST, x.value, z3.Float32())) for x in operands]
            r = self(*wide)
            return V(dtype, z3.fpToFP(NEAREST, r.value, FLOATS[dtype])) if isinstance(r, V) else r
        names = dict(zip("xyz", operands), V=lambda c: V(dtype, literal(dtype, c)), **FUNCTIONS)
        return eval(self.formula, {"__builtins__": {}}, names)


def operations():
    rows = re.findall(r"^TFL_ELEMENTWISE\((.*)\)", (ROOT / "runtime/ops/elementwise.def").read_text(), re.M)
    return {row[0]: Operation(row) for row in map(arguments, rows)}


def free(dtype, name):
    x = V(dtype, z3.FP(name, FLOATS[dtype]) if dtype in FLOATS else z3.BitVec(name, literal(dtype, 0).size()))
    return x, [z3.ULE(x.value, 1)] if dtype == "bool" else []


def claims(ops):
    """(law, dtype, assumptions, claim) of every law and element type."""
    for line, kind, text in re.findall(r"^(TFL_(\w+)\((.*)\))$", (ROOT / "optimizer/laws.def").read_text(), re.M):
        parts = arguments(text)
        op = ops[parts[0]]
        for dtype in DTYPES:
            if dtype not in TAKES[op.types] or (kind == "NEUTRAL" and dtype not in NAMED[parts[2]]):
                continue
            if kind == "NEGATED" and parts[2] == "false" and dtype in FLOATS:
                continue
            (x, is_x), (y, is_y) = free(dtype, "x"), free(dtype, "y")
            if kind == "NEUTRAL":
                c = V(dtype, literal(dtype, float(parts[3])))
                claim = (op(x, c) if parts[1] == "right" else op(c, x)).value == x.value
            elif kind == "INVOLUTION":
                claim = op(op(x)).value == x.value
            elif kind == "IDEMPOTENT":
                claim = op(op(x)).value == op(x).value
            elif kind == "SELF":
                claim = op(x, x).value == x.value
            else:
                claim = z3.Not(op(x, y)) == ops[parts[1]](x, y)
            yield line, dtype, is_x + is_y, claim


SPECIAL = {"float": ["0.0", "-0.0", "1.0", "-1.0", "0.5", "-0.5", "1.5", "2.5", "-2.5", "6.0", "7.0", "float('inf')", "float('-inf')", "float('nan')"],
           "int": ["0", "1", "-1", "2", "-2", "6", "7", "-7", "100", "-128", "127"], "uint": ["0", "1", "2", "6", "7", "100", "255"], "bool": ["False", "True"]}


def differences(ops, tfl):
    """Where the program computes something else than the formulas here: the laws' operations on special values."""
    used = {arguments(t)[0] for t in re.findall(r"^TFL_\w+\((.*)\)$", (ROOT / "optimizer/laws.def").read_text(), re.M)}
    script, expected = ["import tensorflow as tf", "import numpy as np"], []
    homes = {op: home for op in used for home in ["tf", "tf.math", "tf.bitwise", "tf.nn"]
             if re.search(rf'\({op},.*"[^"]*\b{home.replace("tf.", "")}\b[^"]*"', (ROOT / "runtime/ops/elementwise.def").read_text())}
    for name in sorted(used):
        op = ops[name]
        for dtype in DTYPES:
            if dtype not in TAKES[op.types]:
                continue
            values = SPECIAL[re.sub(r"\d|^b(?=f)", "", dtype)]
            rows = [r for r in itertools.product(values, repeat=op.arity) if not ("div" in name and r[1] == "0")]
            columns = ", ".join(f"tf.constant([{', '.join(c)}], tf.{dtype})" for c in zip(*rows))
            result = f"{homes[name]}.{name}({columns})"
            if dtype in FLOATS:
                result = f"tf.cast({result}, tf.float64)"
            script.append(f"print(*np.array({result}).tolist())")
            for row in rows:
                r = op(*(V(dtype, literal(dtype, eval(v))) for v in row))
                expected.append((f"{name}({', '.join(row)}) of {dtype}", r))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "formulas.tfl"
        path.write_text("\n".join(script) + "\n")
        printed = subprocess.run([tfl, "run", path], capture_output=True, text=True, timeout=300)
    if printed.returncode:
        return [printed.stderr]
    found = printed.stdout.split()
    if len(found) != len(expected):
        return [f"{len(found)} values printed, {len(expected)} expected"]
    return [f"{what}: the program computes {got}" for (what, r), got in zip(expected, found) if not same(r, got)]


def same(r, got):
    if not isinstance(r, V):
        return z3.is_true(z3.simplify(r)) == (got in ("True", "1.0"))
    if r.dtype not in FLOATS:
        value = z3.simplify(r.value)
        return (got == "True" if r.dtype == "bool" else int(got)) == (value.as_long() if r.unsigned else value.as_signed_long())
    wide = z3.fpToFP(NEAREST, r.value, z3.Float64())
    return z3.is_true(z3.simplify(wide == z3.FPVal(float(got), z3.Float64())))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tfl")
    parser.add_argument("--only", help="laws whose operation has this name")
    parser.add_argument("--seconds", type=int, default=120, help="for each law and element type")
    args = parser.parse_args()
    ops, proved, failed, given_up = operations(), 0, 0, 0
    for line, dtype, assumptions, claim in claims(ops):
        if args.only and f"({args.only}," not in line:
            continue
        solver = z3.Solver()
        solver.set("timeout", args.seconds * 1000)
        solver.add(*assumptions, z3.Not(claim))
        answer = solver.check()
        proved += answer == z3.unsat
        if answer == z3.sat:
            failed += 1
            print(f"{line}\n  is false for {dtype}: {solver.model()}")
        elif answer == z3.unknown:
            given_up += 1
            print(f"{line}\n  {dtype}: not decided in {args.seconds} s")
    wrong = differences(ops, args.tfl) if args.tfl else []
    print("\n".join(wrong[:20]))
    print(f"{proved} laws of one element type proved, {failed} false, {given_up} not decided; {len(wrong)} formulas differ from the program's")
    sys.exit(1 if failed or wrong or proved == 0 else 2 if given_up else 0)


main()
