#!/usr/bin/env python3
"""The files that the build makes, and those that `tfl build` makes, are position-independent, bound before they start, read-only where they can be,
and without an executable stack; the program checks frames and sizes. The list of linked packages (tfl.spdx.json) has every package that the
linker was given a file of. Exit status 0: all right.

usage: hardening.py --tfl PROGRAM
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from sanitizers import sanitizer

SCRIPT = '''import tensorflow as tf


@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def scaled(x):
    return x * 2.0


print(scaled(tf.constant([1.0])))
'''


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], capture_output=True, text=True, check=True).stdout


def wrong(path, program):
    """What is missing in an ELF file."""
    headers, dynamic = readelf("-hl", path), readelf("-d", path)
    if not re.search(r"Type:\s+DYN", headers):
        yield "is not position-independent"
    if program and "PIE" not in dynamic:
        yield "is no PIE"
    if "GNU_RELRO" not in headers:
        yield "has no RELRO"
    if not re.search(r"BIND_NOW|Flags:.*NOW", dynamic):
        yield "is bound late: RELRO is not full"
    if "TEXTREL" in dynamic:
        yield "has relocations in its code"
    stack = re.search(r"GNU_STACK.* ([RWE ]{3}) 0x", headers)
    if not stack or "E" in stack.group(1):
        yield "has an executable stack"
    if re.search(r"LOAD.* RWE 0x", headers):
        yield "has memory that is written and run"


def packages_of_linker_inputs(build):
    """Of the archives and objects outside of the build folder that the program and its libraries are linked from."""
    with open(os.path.join(build, "build.ninja")) as f:
        text = f.read()
    files = set()
    for target in ("tfl", "libtfl_llvm.so", "libtfl_lld.so"):
        for block in re.findall(rf"^build {re.escape(target)}: (?:.|\n)*?\n\n", text, re.M):
            libraries = re.search(r"LINK_LIBRARIES = (.*)", block)
            files.update(w for w in libraries.group(1).split() if w.startswith("/") and w.endswith(".a"))
    packages = {}
    for path in sorted(files):
        found = subprocess.run(["dpkg-query", "-S", os.path.realpath(path)], capture_output=True, text=True).stdout
        if owner := re.match(r"([^ ,:\n]+)[:,] ", found):
            packages[owner.group(1)] = path
    return packages


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tfl", required=True)
    tfl = os.path.abspath(p.parse_args().tfl)
    if kind := sanitizer(tfl):
        return print(f"not with the {kind} sanitizer: its program is linked in its own way")
    if not shutil.which("readelf"):
        return print("there is no readelf")
    build = os.path.dirname(tfl)
    complaints = []
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/sample.tfl", "w") as f:
            f.write(SCRIPT)
        for kind, name in (("shared-lib", "shared"), ("executable", "sample")):
            subprocess.run([tfl, "build", "sample.tfl", "-o", name, "--emit", kind], cwd=folder, check=True, capture_output=True)
        made = [os.path.join(path, n) for path, _, names in os.walk(folder) for n in names]
        elf = [n for n in made if open(n, "rb").read(4) == b"\x7fELF"]
        if len(elf) != 2:
            complaints.append(f"tfl build made {made}")
        files = [tfl, *(n for n in (f"{build}/libtfl_llvm.so", f"{build}/libtfl_lld.so") if os.path.exists(n)), *elf]
        for path in files:
            complaints += [f"{os.path.basename(path)} {w}" for w in wrong(path, not path.endswith(".so"))]
    symbols = readelf("--dyn-syms", tfl)
    for name, what in (("__stack_chk_fail", "checks no frames"), ("__memcpy_chk", "checks no sizes")):
        if name not in symbols:
            complaints.append(f"tfl {what}")

    with open(os.path.join(build, "tfl.spdx.json")) as f:
        listed = json.load(f)
    if listed["spdxVersion"] != "SPDX-2.3" or not listed["documentNamespace"].startswith("https://"):
        complaints.append("tfl.spdx.json is no SPDX 2.3")
    names = {package["name"]: package for package in listed["packages"]}
    ids = {package["SPDXID"] for package in listed["packages"]} | {"SPDXRef-DOCUMENT"}
    related = {r["relatedSpdxElement"] for r in listed["relationships"]}
    if related | {"SPDXRef-DOCUMENT"} != ids:
        complaints.append("tfl.spdx.json relates other packages than it lists")
    if os.path.exists(os.path.join(build, "build.ninja")) and shutil.which("dpkg-query"):
        linked = packages_of_linker_inputs(build)
        if not linked:
            complaints.append("no linked package was found in build.ninja")
        for package, path in linked.items():
            if package not in names:
                complaints.append(f"tfl.spdx.json does not list {package}, of which {path} is")
            elif not names[package].get("versionInfo"):
                complaints.append(f"tfl.spdx.json does not tell the version of {package}")
    if complaints:
        sys.exit("\n".join(complaints))


if __name__ == "__main__":
    main()
