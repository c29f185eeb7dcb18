#!/usr/bin/env python3
"""Runs every block of code of the book's pages (docs/book/*.md) and compares what they print with what stands below them. Exit status 0: all right.

usage: book.py --tfl PROGRAM [--write [--tensorflow PYTHON]] [PAGE ...]

A page's blocks run in one folder, in their order:

    ```python, ```c ...   with a first line `# NAME` or `/* NAME */`: a file of that name; other python blocks are scripts
    ```output             below a script: all that it prints
    ```tensorflow         below that: what CPython with TensorFlow prints for the same script (recorded, not compared here)
    ```console            commands behind "$ ", each with what it prints below it
    ```text, ```toml ...  are not run

`...` stands for any text. --write puts what is printed now in the place of what stands there, --tensorflow records the other text as well.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

from library import python_with_numpy

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
FILE = re.compile(r"\A(?:# |// |/\* )([\w.-]+\.\w+)(?: \*/)?\n")


class Page:
    def __init__(self, path, folder, environment, options):
        self.path, self.folder, self.environment, self.options = path, folder, environment, options
        self.problems, self.ran, self.printed = [], 0, None   # printed: (the script, what it printed)

    def run(self, command):
        self.ran += 1
        try:
            done = subprocess.run(command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  errors="replace", timeout=120, check=False)
        except subprocess.TimeoutExpired:
            return 124, f"{command}: no end after 120 seconds\n"
        return done.returncode, done.stdout.replace(self.folder, "")

    def block(self, match):
        """What the block is to say."""
        kind, body = match[1], match[2]
        line = self.text.count("\n", 0, match.start()) + 1
        if kind == "output":
            if self.printed is None:
                self.fault(line, "stands below no script")
            else:
                body = self.compared(line, body, self.printed)
        elif kind == "tensorflow" and self.options.tensorflow:
            done = subprocess.run([self.options.tensorflow, self.script], cwd=self.folder, capture_output=True, text=True, check=False, timeout=240)
            body = done.stdout + "\n".join(done.stderr.strip().splitlines()[-1:]) + "\n" if done.returncode else done.stdout
        elif kind == "console":
            body = self.console(line, body)
        elif named := FILE.match(body):
            with open(os.path.join(self.folder, named[1]), "w", encoding="utf-8") as f:
                f.write(body)
        elif kind == "python":
            self.script = os.path.join(self.folder, "script.tfl")
            with open(self.script, "w", encoding="utf-8") as f:
                f.write(body)
            code, self.printed = self.run(["tfl", "run", os.path.basename(self.script)])
            if code not in (0, 1, 3) or code and not self.text[match.end():].startswith("\n\n```output"):
                self.fault(line, f"ends with status {code}: {self.printed[-1500:]}")
        return f"```{kind}\n{body}```"

    def console(self, line, body):
        out = []
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", body, re.M):
            _, printed = self.run(["bash", "-c", command])
            out.append(f"$ {command}\n" + self.compared(line, expected, printed))
        return "".join(out)

    def compared(self, line, expected, printed):
        """The text that stands there where it fits, else what is printed."""
        printed = re.sub(r"[ \t]+$", "", printed, flags=re.M)
        pattern = re.escape(expected).replace(r"\.\.\.", ".*?")
        if re.fullmatch(pattern, printed, re.S) or self.options.write and not expected and not printed:
            return expected
        if not self.options.write:
            self.fault(line, f"should print\n{expected}but prints\n{printed}")
        return printed

    def fault(self, line, what):
        self.problems.append(f"{os.path.relpath(self.path, ROOT)}:{line}: {what}")

    def check(self):
        with open(self.path, encoding="utf-8") as f:
            self.text = f.read()
        written = FENCE.sub(self.block, self.text)
        if self.options.write and written != self.text:
            with open(self.path, "w", encoding="utf-8") as f:
                f.write(written)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tfl", required=True)
    p.add_argument("--write", action="store_true")
    p.add_argument("--tensorflow", metavar="PYTHON")
    p.add_argument("pages", nargs="*")
    options = p.parse_args()
    build = os.path.dirname(os.path.abspath(options.tfl))
    python = python_with_numpy()
    ran, problems = 0, []
    for path in options.pages or sorted(glob.glob(os.path.join(ROOT, "docs", "book", "*.md"))):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as programs:
            with open(os.path.join(programs, "python3"), "w", encoding="utf-8") as f:
                f.write(f'#!/bin/sh\nexec {python} "$@"\n')
            os.chmod(f.name, 0o755)
            environment = dict(os.environ, PATH=os.pathsep.join([programs, build, os.environ["PATH"]]), PYTHONPATH=os.path.join(build, "python"),
                               PYTHONDONTWRITEBYTECODE="1", TFL_THREADS="2", TMPDIR=folder)
            page = Page(path, folder, environment, options)
            page.check()
        ran += page.ran
        problems += page.problems
    print(*problems, sep="\n")
    print(f"{ran} blocks ran")
    sys.exit(1 if problems or ran == 0 else 0)


if __name__ == "__main__":
    main()
