#!/usr/bin/env python3
"""docs/operations.md, made from the tables of runtime/ops. Without arguments: `ok RULE` or `FAIL RULE`, as tests/run expects, for whether the
page is what the tables say. With --write the page is written."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "operations.md")

HEAD = """# Operations

Made from `runtime/ops/elementwise.def` and `runtime/ops/structural.def` by `tests/lint/operations.py --write`; a test sees that it is current.
How far functions are from their mathematical values, in ulp, is in [accuracy.md](accuracy.md); those marked *exact* are what
IEEE 754 or integer arithmetic defines, to the bit.

## Elementwise

A formula over the operands x, y and z, of whose element type V is.

| operation | TensorFlow's | element types | result | value | accuracy |
|---|---|---|---|---|---|
"""

# Names in a formula whose value is not exact.
INEXACT = re.compile(r"\b(pow|exp|expm1|log|log1p|x?logy|xlog1py|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh|erf\w*|ndtri|lgamma|"
                     r"digamma|igammac?|zeta|polygamma|betainc|bessel_\w+|sigmoid|softplus|elu|selu|gelu\w*|silu)\(")
ROUNDED = re.compile(r"\brsqrt\(|x / \(|V\(1\) - ")


def rows(file, macro):
    """The arguments of each row of a table, split at the commas that stand outside parentheses."""
    for line in open(os.path.join(ROOT, "runtime", "ops", file)):
        if not line.startswith(macro + "("):
            continue
        depth, fields, text = 0, [""], line[len(macro) + 1:]
        for c in text:
            if c == ")" and depth == 0:
                break
            depth += (c == "(") - (c == ")")
            if c == "," and depth == 0:
                fields.append("")
            else:
                fields[-1] += c
        note = line.rstrip().partition("//")[2].strip()
        yield [f.strip() for f in fields], note


def page():
    out = [HEAD]
    for (name, tf_name, _, types, result, value, *_), _ in rows("elementwise.def", "TFL_ELEMENTWISE"):
        kind = "ulp" if INEXACT.search(value) else "rounded steps" if ROUNDED.search(value) else "exact"
        shown = value.replace("|", "\\|")
        out.append(f"| `{name}` | {tf_name} | {types.replace('_', ' ')} | {result} | `{shown}` | {kind} |\n")
    out.append("\n## The others\n\nOperands stand first, attributes in brackets.\n\n| operation | TensorFlow's | kind | operands and attributes |\n|---|---|---|---|\n")
    for (name, tf_name, kind, *_), note in rows("structural.def", "TFL_OP"):
        shown = note.replace("|", "\\|")
        out.append(f"| `{name}` | {tf_name} | {kind} | {shown} |\n")
    return "".join(out)


def main():
    text = page()
    if "--write" in sys.argv:
        with open(PAGE, "w") as f:
            f.write(text)
        return 0
    same = os.path.exists(PAGE) and open(PAGE).read() == text
    print("ok operations_page" if same else "FAIL operations_page\n  docs/operations.md is not what runtime/ops says: run tests/lint/operations.py --write")
    return 0 if same else 1


sys.exit(main())
