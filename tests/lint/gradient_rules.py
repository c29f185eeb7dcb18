#!/usr/bin/env python3
"""Every operation has a gradient or stands below with the reason why. Prints `ok RULE` or `FAIL RULE` and names."""
import argparse
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

NONE = {
    "the result is a step, a truth value or an index": """floordiv truncatediv floor ceil round rint equal not_equal less
        less_equal greater greater_equal is_nan is_inf is_finite logical_and logical_or logical_xor logical_not reduce_any reduce_all
        argmax argmin argsort argsort_rows nonzero searchsorted unique unique_with_counts""",
    "of integers and bits": "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift population_count",
    "of sizes, made of no tensor, or of integers alone": "shape size rank range eye",
    "what it is for": "stop_gradient",
    "the library computes it of operations that have one": "linspace",
    "of strings": """string_length string_upper string_lower string_strip string_join reduce_join substr as_string
        string_to_number string_split bytes_split unicode_decode unicode_encode string_format regex_replace regex_full_match
        string_to_hash_bucket encode_base64 decode_base64 decode_raw decode_csv decode_image encode_image""",
    "random numbers do not depend on their seed": """stateless_uniform stateless_uniform_int stateless_uniform_full_int stateless_permutation
        stateless_normal stateless_truncated_normal stateless_poisson stateless_binomial stateless_truncated""",
    "not written: TensorFlow has one": "stateless_gamma matrix_square_root",
    "TensorFlow has none": "matrix_logarithm",
}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def elementwise():
    """(name, whether a formula is given) of each row: the seventh argument of the macro is the list of formulas."""
    for row in re.findall(r"^TFL_ELEMENTWISE\((.*)$", re.sub(r"\\\n\s*", " ", read("runtime/ops/elementwise.def")), re.M):
        depth, fields = 0, [""]
        for c in row:
            depth += (c == "(") - (c == ")")
            if c == "," and depth == 0:
                fields.append("")
            else:
                fields[-1] += c
        yield fields[0].strip(), re.sub(r"\bnone\b|[(), ]", "", fields[6]) != ""


def structural():
    rules = set()
    for path in glob.glob(os.path.join(ROOT, "ir/gradient/*.cpp")):
        with open(path, encoding="utf-8") as f:
            rules.update(re.findall(r"\{Op::(\w+), ", f.read()))
    for name in re.findall(r"^TFL_OP\((\w+)", read("runtime/ops/structural.def"), re.M):
        yield name, name in rules


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--build")  # what every lint program is given
    p.parse_args()
    have = dict(elementwise())
    have.update(structural())
    listed = {name for names in NONE.values() for name in names.split()}
    wrong = [f"{name} has no gradient and is not listed" for name, has in have.items() if not has and name not in listed]
    wrong += [f"{name} is listed and has a gradient" for name, has in have.items() if has and name in listed]
    wrong += [f"{name} is listed and no operation" for name in sorted(listed - set(have))]
    print("FAIL gradient_rules" if wrong else "ok gradient_rules")
    for line in wrong:
        print("  " + line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
