#!/usr/bin/env python3
"""Every C++ file is formatted as .clang-format says. Prints `ok RULE` or `FAIL RULE` and the files, as tests/run expects.
With --write (./dev format) the files are formatted instead. With --build the folder keeps what was found well formatted, so that a run reads what is new."""
import argparse
import concurrent.futures
import hashlib
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


def known(build):
    """Digests of contents that were found formatted before, and where they are kept: a run looks at what has changed since."""
    path = os.path.join(build, "formatted") if build else ""
    if not path or not os.path.exists(path):
        return set(), path
    with open(path, encoding="ascii") as f:
        return set(f.read().split()), path


def digest(path, style):
    with open(os.path.join(ROOT, path), "rb") as f:
        return hashlib.sha256(style + path.encode() + b"\0" + f.read()).hexdigest()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build")
    p.add_argument("--write", action="store_true")
    args = p.parse_args()
    if not shutil.which(FORMATTER):
        print(f"FAIL format\n  {FORMATTER} is not installed")
        return 1
    with open(os.path.join(ROOT, ".clang-format"), "rb") as f:
        style = f.read()
    good, kept = known(args.build)
    digests = {path: digest(path, style) for path in sources()}
    paths = list(digests) if args.write else [path for path, d in digests.items() if d not in good]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        work = write if args.write else unformatted
        found = [path for some in pool.map(work, [paths[i : i + 24] for i in range(0, len(paths), 24)]) for path in some]
    if kept:
        with open(kept, "w", encoding="ascii") as f:
            f.write("\n".join(sorted(d for path, d in digests.items() if path not in found)))
    print("FAIL format" if found else "ok format")
    for path in found:
        print(f"  {path}: run ./dev format")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
