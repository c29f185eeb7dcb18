#!/usr/bin/env python3
"""`tfl fmt` over the scripts of the repository, at widths that split much and little: every one keeps its syntax tree (the program checks
that itself, and says so where it does not), and what was formatted is left as it is the next time. Then what the command does with files,
folders, ranges and standard input.

  formatter.py --tfl build/tfl [--step N]
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = ["tests/scripts", "tests/conformance", "tests/golden", "examples", "bench", "stdlib"]
WIDTHS = (88, 40, 160)


def scripts():
    found = []
    for folder in FOLDERS:
        for where, _, names in os.walk(os.path.join(ROOT, folder)):
            found += [os.path.join(where, n) for n in names if n.endswith(".tfl")]
    return sorted(found)


def run(tfl, arguments, text="", folder=None):
    return subprocess.run([tfl, "fmt", "--color=never"] + arguments, input=text, capture_output=True, text=True, cwd=folder)


def comments(text):
    return sorted(re.sub(r"\W", "", line[line.index("#"):]) for line in text.split("\n") if line.lstrip().startswith("#"))


def keeps_meaning(tfl, step):
    problems = []
    for i, path in enumerate(scripts()[::step]):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        width = f"--line-length={WIDTHS[i % len(WIDTHS)]}"
        once = run(tfl, [width, "-"], text)
        if once.returncode == 3 and "left as it is" not in once.stderr:
            continue  # a script with a syntax error
        if once.returncode != 0:
            problems.append(f"{path} {width}: {once.stderr.strip()}")
            continue
        if comments(text) != comments(once.stdout):
            problems.append(f"{path} {width}: its comments are others")
        twice = run(tfl, [width, "-"], once.stdout)
        if twice.stdout != once.stdout:
            problems.append(f"{path} {width}: formatted once more it differs")
    return problems


def files(tfl):
    problems = []

    def expect(what, right):
        if not right:
            problems.append(what)

    def read(name):
        with open(os.path.join(folder, name), encoding="utf-8", newline="") as f:
            return f.read()

    with tempfile.TemporaryDirectory() as folder:
        def write(name, text):
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", newline="") as f:
                f.write(text)

        write("a.tfl", "x=1\n")
        write("below/b.tfl", "y = 2\n")
        write("below/.hidden/c.tfl", "z=3\n")
        write("bad.tfl", "x = (\n")
        r = run(tfl, ["--check", "a.tfl", "below"], folder=folder)
        expect("--check tells what would change", r.returncode == 1 and "would reformat a.tfl" in r.stderr and read("a.tfl") == "x=1\n")
        expect("the summary counts", "1 file would be reformatted, 1 file would be left unchanged." in r.stderr)
        r = run(tfl, ["--diff", "a.tfl"], folder=folder)
        expect("--diff shows it", r.returncode == 0 and "@@ -1 +1 @@\n-x=1\n+x = 1\n" in r.stdout and read("a.tfl") == "x=1\n")
        os.chmod(os.path.join(folder, "a.tfl"), 0o750)
        r = run(tfl, ["."], folder=folder)
        expect("a file with an error is left alone", r.returncode == 3 and read("bad.tfl") == "x = (\n" and "never closed" in r.stderr)
        expect("the others are written", read("a.tfl") == "x = 1\n" and read("below/.hidden/c.tfl") == "z=3\n")
        expect("the mode stays", os.stat(os.path.join(folder, "a.tfl")).st_mode & 0o777 == 0o750)
        r = run(tfl, ["nowhere.tfl"], folder=folder)
        expect("a file that is not there", r.returncode == 2 and "nowhere.tfl" in r.stderr)
        write("crlf.tfl", "x=1\r\ny='''a\r\nb'''\r\n")
        run(tfl, ["-q", "crlf.tfl"], folder=folder)
        expect("line ends stay", read("crlf.tfl") == 'x = 1\r\ny = """a\r\nb"""\r\n')
        write("range.tfl", "a=1\nb=2\n\n\n\nc=3\nd = [1,\n  2]\n")
        run(tfl, ["-q", "--range", "2-2", "--range", "8", "range.tfl"], folder=folder)
        expect("--range leaves other lines alone", read("range.tfl") == "a=1\nb = 2\n\n\n\nc=3\nd = [1, 2]\n")
        for text in ("", "0-2", "3-1", "x"):
            expect(f"--range {text!r} is refused", run(tfl, ["--range", text, "a.tfl"], folder=folder).returncode == 2)
        for text, want in (("", ""), ("\n\n", "\n"), ("  # only\n\n", "# only\n"), ("x", "x\n"), ("x = 'a' \\\n  'b'", 'x = "a" "b"\n')):
            r = run(tfl, ["-"], text)
            expect(f"{text!r} gives {r.stdout!r}", r.returncode == 0 and r.stdout == want)
        expect("-S leaves quotes", run(tfl, ["-S", "-"], "x='a'\n").stdout == "x = 'a'\n")
        expect("-C joins", run(tfl, ["-C", "-"], "x=[1,\n2,]\n").stdout == "x = [1, 2]\n")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tfl", required=True)
    parser.add_argument("--step", type=int, default=1, help="every N-th script")
    options = parser.parse_args()
    problems = files(options.tfl) + keeps_meaning(options.tfl, options.step)
    for p in problems[:20]:
        print(p)
    print(f"{len(problems)} problems")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
