#!/usr/bin/env python3
"""Rules about what was compiled: nothing of ours runs before main(), and code for one instruction-set level cannot be taken for
another's. Prints `ok RULE` or `FAIL RULE` and the places, as tests/run expects."""
import argparse
import os
import re
import subprocess
import sys

LIBRARIES = re.compile(r"CMakeFiles/tfl(_runtime|_ir|_optimizer|_codegen|_frontend|_kernels_\w+)?\.dir/")


def objects(build):
    for where, _, names in os.walk(os.path.join(build, "CMakeFiles")):
        for name in sorted(names):
            path = os.path.join(where, name)
            if name.endswith(".cpp.o") and LIBRARIES.search(path):
                yield path


def symbols(build, paths):
    """(object, kind, name) of every symbol."""
    if not paths:
        return
    done = subprocess.run(["nm", "-A", "--", *paths], capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        path, _, rest = line.rpartition(".o:")
        fields = rest.split()
        if len(fields) >= 2:
            yield os.path.relpath(path, build), fields[-2], fields[-1]


def check_static_constructors(build, paths):
    # The headers of ANTLR and CLI11 bring their own: in what parses and in what reads the command line, and nowhere else.
    ours = [p for p in paths if "/frontend/syntax/parse/" not in p and not p.endswith("/cli/arguments.cpp.o")]
    for path, _, name in symbols(build, ours):
        if name.startswith("_GLOBAL__sub_I") and not name.endswith(".cold"):
            yield f"{path}: something is constructed before main()"


def check_levels(build, paths):
    for level in ("v3", "v4"):
        mark = f"{len(level)}{level}"
        mine = [p for p in paths if f"/tfl_kernels_{level}.dir/" in p]
        for path, kind, name in symbols(build, mine):
            # Weak symbols are merged by name: the linker keeps one, whatever it was compiled for.
            if kind in "WVu" and mark not in name and not name.startswith("DW.ref."):
                yield f"{path}: {name} is not in the namespace {level}"


def report(rule, places):
    places = list(places)
    print(f"{'FAIL' if places else 'ok'} {rule}")
    for place in places[:20]:
        print("  " + place)
    return not places


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", required=True)
    build = os.path.abspath(p.parse_args().build)
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as f:
        sanitized = re.search(r"^TFL_SANITIZE:\w+=(.+)$", f.read(), re.M)
    paths = list(objects(build))
    results = [report("nothing-before-main", [] if sanitized else check_static_constructors(build, paths))]
    results.append(report("levels-are-apart", [] if sanitized else check_levels(build, paths)))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
