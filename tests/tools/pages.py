#!/usr/bin/env python3
"""Has every public name of the library a page, and do the examples in the pages give what they say? Counts with `tfl test --doctest
--collect-only` and runs with `tfl test --doctest`. Exit status 0 when nothing is worse than what is recorded here."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

# Docstrings with examples: may only rise.
WITH_EXAMPLES = 619

SCRIPT = '''def area(r):
    """The area of a circle.

    >>> area(2)
    12
    >>> area(-1)
    Traceback (most recent call last):
        ...
    ValueError: no circle
    >>> [area(i) for i in range(3)]
    [0, ...]
    """
    if r < 0:
        raise ValueError("no circle")
    return 3 * r * r


class Square:
    def side(self):
        """
        >>> Square().side()
        WRONG
        """
        return 1
'''

SESSION = '''def f(a, b=1):
    """Adds."""

f?
x = [1]
x.append?
tf?
'''


def run(tfl, *arguments, text=None):
    done = subprocess.run([tfl, *arguments], input=text or "", capture_output=True, text=True, errors="replace", timeout=600, check=False)
    return done.returncode, done.stdout + done.stderr


def check(tfl, folder):
    """What is wrong."""
    status, text = run(tfl, "test", "--doctest", "--collect-only", "library")
    found = re.search(r"^(\d+) names, (\d+) without a docstring$", text, re.M)
    if status != 0 or not found:
        yield f"the public names cannot be counted: {text[-300:]}"
    else:
        print(found[0])
        if int(found[2]) > 0:
            yield "every public name has a docstring but these:\n" + text[-1500:]

    status, text = run(tfl, "test", "--doctest", "library")
    found = re.search(r"^(\d+) of (\d+) examples passed, in (\d+) docstrings$", text, re.M)
    if status != 0 or not found:
        yield f"examples fail:\n{text[-3000:]}"
    else:
        print(found[0])
        if int(found[3]) < WITH_EXAMPLES:
            yield f"{found[3]} docstrings have examples, {WITH_EXAMPLES} are recorded"

    # A file of the user's.
    path = os.path.join(folder, "shapes.tfl")
    with open(path, "w", encoding="utf-8") as f:
        f.write(SCRIPT)
    status, text = run(tfl, "test", "--doctest", path)
    if status != 1 or "3 of 4 examples passed, in 2 docstrings" not in text or "WRONG" not in text or "shapes.tfl::Square.side" not in text:
        yield f"examples of a file: {status}\n{text}"

    # The prompt.
    status, text = run(tfl, "repl", text=SESSION)
    for wanted in ("f(a, b=1)\n    Adds.\n", "append", "NameError"):
        if wanted not in text:
            yield f"the prompt does not show {wanted!r}:\n{text}"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tfl", required=True)
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wrong = list(check(a.tfl, folder))
    for text in wrong:
        print(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
