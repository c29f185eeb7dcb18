#!/usr/bin/env python3
"""Compiles every header of the project alone, with the options of a source file of its layer: ./dev headers. Prints those that do not stand
alone; exit status 1 when there are any."""
import argparse
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAYERS = ("runtime", "ir", "optimizer", "codegen", "frontend", "cli")


def options(build):
    """From the folder of a source file to the options it is compiled with; those of precompiled headers and outputs are left out."""
    found = {}
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        for entry in json.load(f):
            path = os.path.relpath(entry["file"], ROOT)
            words = shlex.split(entry["command"])
            start = next(i for i, word in enumerate(words) if word.startswith("-"))
            kept = [w for i, w in enumerate(words[start:], start) if w.startswith(("-I", "-D", "-std", "-m", "-f")) or words[i - 1] == "-isystem" or w == "-isystem"]
            found.setdefault(os.path.dirname(path), kept)
            for part in LAYERS:
                if "/" + part + "/" in "/" + path or "unity_" + part in path:
                    found.setdefault(part, kept)
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--build", default=os.path.join(ROOT, "build"))
    p.add_argument("-j", type=int, default=os.cpu_count())
    p.add_argument("headers", nargs="*", help="these alone; all when none is named")
    args = p.parse_args()
    by_folder = options(args.build)
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", *[layer + "/*.h" for layer in LAYERS]], capture_output=True, text=True, check=True)
    headers = [os.path.relpath(h, ROOT) for h in args.headers] or listed.stdout.split()

    def compile_alone(header):
        folder = os.path.dirname(header)
        while folder and folder not in by_folder:
            folder = os.path.dirname(folder)
        flags = by_folder.get(folder) or by_folder.get(header.split("/")[0], [])
        done = subprocess.run(["c++", *flags, "-I", ROOT, "-Wno-pragma-once-outside-header", "-fsyntax-only", "-x", "c++", os.path.join(ROOT, header)],
                              capture_output=True, text=True, check=False)
        return header, done.returncode, done.stderr

    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        bad = [(h, text) for h, code, text in pool.map(compile_alone, headers) if code]
    for header, text in bad:
        print(f"{header} does not compile alone:\n{text[:2000]}")
    print(f"{len(headers) - len(bad)} of {len(headers)} headers compile alone")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
