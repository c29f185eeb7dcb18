#!/usr/bin/env python3
"""The Python package tfl as the build makes it: tests/python/*.py run under the Python with NumPy that there is, the blocks of docs/python.md print
what stands below them. Exit status 0: all right.

usage: python_package.py --tfl PROGRAM
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def python_with_numpy():
    for python in (sys.executable, "python3", "/usr/bin/python3"):
        done = subprocess.run([python, "-c", "import numpy, sys; sys.exit(sys.version_info < (3, 11))"], capture_output=True)
        if done.returncode == 0:
            return python
    sys.exit("no Python 3.11 with NumPy: Debian has it in the package python3-numpy")


def run(command, folder, environment):
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def blocks(page):
    """Of a page, the files that it shows (```tfl NAME) and the programs with their output."""
    with open(page, encoding="utf-8") as f:
        text = f.read()
    files = re.findall(r"`(\w+\.tfl)`[^`]*```python\n(.*?)```", text, re.S)
    programs = re.findall(r"```python\n((?:(?!```).)*?)```\n\n```output\n(.*?)```", text, re.S)
    return files, programs


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tfl", required=True)
    build = os.path.dirname(os.path.abspath(p.parse_args().tfl))
    if not os.path.exists(os.path.join(build, "python", "tfl", "_native.abi3.so")):
        sys.exit("the package was not built: Debian has Python's headers in libpython3-dev")
    python = python_with_numpy()
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, PYTHONPATH=os.path.join(build, "python"), PYTHONDONTWRITEBYTECODE="1",
                           PATH=build + os.pathsep + os.environ.get("PATH", ""))
        tests = os.path.join(ROOT, "tests", "python")
        for name in sorted(n for n in os.listdir(tests) if n.endswith(".py")):
            run([python, os.path.join(tests, name)], folder, environment)
        files, programs = blocks(os.path.join(ROOT, "docs", "python.md"))
        for name, text in files:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        for number, (text, expected) in enumerate(programs):
            with open(os.path.join(folder, f"block_{number}.py"), "w", encoding="utf-8") as f:
                f.write(text)
            said = run([python, f"block_{number}.py"], folder, environment)
            if said != expected:
                sys.exit(f"docs/python.md: block {number} prints\n{said}and not\n{expected}")
        if len(programs) < 3:
            sys.exit(f"docs/python.md has {len(programs)} programs with their output")
        said = run([python, os.path.join(ROOT, "examples", "python", "train.py"), "15"], folder, environment)
        if not (right := re.search(r"right: ([\d.]+)%", said)) or float(right.group(1)) < 90:
            sys.exit(f"examples/python/train.py says\n{said}")
        said = run([python, "-m", "tfl", "--version"], folder, environment)
        if not said.startswith("tfl 0."):
            sys.exit(f"python -m tfl --version says {said!r}")


if __name__ == "__main__":
    main()
