#!/usr/bin/env python3
"""Every C++ file is formatted as .clang-format says. Prints `ok RULE` or `FAIL RULE` and the files, as tests/run expects.
With --write (./dev format) the files are formatted instead."""
import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = ["runtime", "ir", "optimizer", "codegen", "frontend", "cli", "tests", "cmake"]
FORMATTER = "clang-format-19"  # versions differ in details


def sources():
    for folder in FOLDERS:
        for where, _, names in os.walk(os.path.join(ROOT, folder)):
            yield from (os.path.relpath(os.path.join(where, n), ROOT) for n in sorted(names) if n.endswith((".cpp", ".h")))


def unformatted(paths):
    done = subprocess.run([FORMATTER, "--dry-run", *paths], cwd=ROOT, capture_output=True, text=True, check=False)
    return sorted({line.split(":")[0] for line in done.stderr.splitlines() if "clang-format-violations" in line})


def write(paths):
    subprocess.run([FORMATTER, "-i", *paths], cwd=ROOT, check=True)
    return []


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build")
    p.add_argument("--write", action="store_true")
    args = p.parse_args()
    if not shutil.which(FORMATTER):
        print(f"FAIL format\n  {FORMATTER} is not installed")
        return 1
    paths = list(sources())
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        work = write if args.write else unformatted
        found = [path for some in pool.map(work, [paths[i : i + 24] for i in range(0, len(paths), 24)]) for path in some]
    print("FAIL format" if found else "ok format")
    for path in found:
        print(f"  {path}: run ./dev format")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
