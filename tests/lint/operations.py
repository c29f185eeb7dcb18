#!/usr/bin/env python3
"""docs/operations.md, made from the tables of runtime/ops, and switches over operations. Prints `ok RULE` or `FAIL RULE`, as tests/run
expects: whether the page is what the tables say, and whether the compiler lists what a new row lacks: a switch over operations, or over
those of one form, has no `default:`. With --write the page is written."""
import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "operations.md")

HEAD = """# Operations

Made from `runtime/ops/elementwise.def` and `runtime/ops/structural.def` by `tests/lint/operations.py --write`; a test sees that it is current.
How far functions are from their mathematical values, in ulp, is in [accuracy.md](accuracy.md). Those marked *exact* round once at most:
they are what IEEE 754 or integer arithmetic defines, to the bit; *rounded steps* round a few times. That, and what an element costs
(in additions), follows from the recorded formula.

## Elementwise

A formula over the operands x, y and z, of whose element type V is.

| operation | TensorFlow's | arguments | in tf | element types | result | value | accuracy | cost |
|---|---|---|---|---|---|---|---|---|
"""


def rows(file, macro):
    """The arguments of each row of a table, split at the commas that stand outside parentheses and quotes."""
    for line in open(os.path.join(ROOT, "runtime", "ops", file)):
        if not line.startswith(macro + "("):
            continue
        depth, quoted, fields, text = 0, False, [""], line[len(macro) + 1:]
        for c in text:
            if c == ")" and depth == 0:
                break
            depth += (c == "(") - (c == ")")
            quoted ^= c == '"'
            if c == "," and depth == 0 and not quoted:
                fields.append("")
            else:
                fields[-1] += c
        note = line.rstrip().partition("//")[2].strip()
        yield [f.strip() for f in fields], note


def shown_homes(name, homes):
    """`tf.abs`, `tf.math.abs` from "tf math"."""
    shown = []
    for home in homes.split():
        module, _, alias = home.partition(":")
        shown.append(f"`tf.{'' if module == 'tf' else module + '.'}{alias or name}`")
    return ", ".join(shown)


def facts_of_formulas(build):
    """name -> (cost, accuracy)"""
    done = subprocess.run([os.path.join(build, "tfl-opt"), "--list-operations"], capture_output=True, text=True, check=True)
    return {name: (cost, accuracy) for name, cost, accuracy in (line.split("\t") for line in done.stdout.splitlines())}


def page(build):
    out = [HEAD]
    measured = facts_of_formulas(build)
    for (name, tf_name, _, types, result, value, _, arguments, homes, *_), _ in rows("elementwise.def", "TFL_ELEMENTWISE"):
        cost, accuracy = measured[name]
        shown = value.replace("|", "\\|")
        arguments, homes = arguments.strip('"'), homes.strip('"')
        out.append(f"| `{name}` | {tf_name} | {arguments} | {shown_homes(name, homes)} | {types.replace('_', ' ')} | {result} | `{shown}` | {accuracy} "
                   f"| {cost} |\n")
    out.append("\n## The others\n\nOperands stand first, attributes in brackets. The form says how machine code computes it; without one the library does.\n\n"
               "| operation | TensorFlow's | in tf | kind | form | operands and attributes |\n|---|---|---|---|---|---|\n")
    for (name, tf_name, kind, form, _, _, _, *facts), note in rows("structural.def", "TFL_OP"):
        shown = note.replace("|", "\\|")
        homes = "".join(f[4:-2] for f in facts if f.startswith("in("))
        out.append(f"| `{name}` | {tf_name} | {shown_homes(name, homes)} | {kind} | {'' if form == 'none' else form.replace('_', ' ')} | {shown} |\n")
    return "".join(out)


SWITCH = re.compile(r"\bswitch \(")
OPERATION = re.compile(r"\bcase (?:\w+::)*(?:Op|ViewOp|DeferredOp|ArrayOp|ControlOp)::")


def own_text(text, start):
    """What stands between the braces of a switch, without those of switches inside it."""
    depth, at, out = 0, start, []
    inner = [m.start() for m in SWITCH.finditer(text, start + 1)]
    while at < len(text):
        if inner and at == inner[0]:
            opening, nested = text.index("{", at), 1
            at = opening + 1
            while nested:
                nested += (text[at] == "{") - (text[at] == "}")
                at += 1
            inner = [i for i in inner if i >= at]
            continue
        depth += (text[at] == "{") - (text[at] == "}")
        out.append(text[at])
        at += 1
        if text[at - 1] == "}" and depth == 0:
            break
    return "".join(out)


def switches_with_default():
    files = subprocess.run(["git", "-C", ROOT, "ls-files", "*.cpp", "*.h"], capture_output=True, text=True, check=True).stdout.split()
    for path in files:
        full = os.path.join(ROOT, path)
        if not os.path.exists(full):
            continue
        with open(full, encoding="utf-8") as f:
            text = re.sub(r"//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'", lambda m: " " * len(m.group()), f.read())
        for m in SWITCH.finditer(text):
            own = own_text(text, m.start())
            if OPERATION.search(own) and re.search(r"\bdefault:", own):
                yield f"{path}:{text.count(chr(10), 0, m.start()) + 1}"


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--build", default=os.path.join(ROOT, "build"))
    p.add_argument("--write", action="store_true")
    args = p.parse_args()
    text = page(args.build)
    if args.write:
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write(text)
        return 0
    with open(PAGE, encoding="utf-8") as f:
        same = f.read() == text
    print("ok operations_page" if same else "FAIL operations_page\n  docs/operations.md is not what runtime/ops says: run tests/lint/operations.py --write")
    found = list(switches_with_default())
    print("FAIL operation_switches\n  " + "\n  ".join(found) + ": a switch over operations has no default:" if found else "ok operation_switches")
    return 0 if same and not found else 1


sys.exit(main())
