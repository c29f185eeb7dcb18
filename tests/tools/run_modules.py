#!/usr/bin/env python3
"""`tfl run -m`: modules and packages by their names, beside CPython where python3 is 3.11.

  run_modules.py --tfl build/tfl
"""
import argparse
import os
import subprocess
import sys
import tempfile

FILES = {
    "alone": "import sys\nprint('alone', __name__, repr(__package__), sys.argv[1:], sys.argv[0].endswith('alone.' + KIND))\n",
    "pkg/__init__": "print('package', __name__)\nvalue = 3\n",
    "pkg/__main__": "from . import value\nfrom .helper import double\nprint('main', __name__, __package__, double(value))\n",
    "pkg/helper": "def double(x):\n    return 2 * x\nif __name__ == '__main__':\n    print('helper', __package__, double(4))\n",
    "pkg/inner/__init__": "from ..helper import double\nprint('inner', double(1))\n",
    "pkg/inner/deep": "import sys\nfrom .. import value\nprint('deep', __package__, value, sys.argv[1:])\nsys.exit(5)\n",
    "broken/__init__": "raise ValueError('no')\n",
    "broken/part": "print('never')\n",
}
CALLS = (["alone"], ["alone", "a", "-v", "--name=b"], ["pkg"], ["pkg.helper"], ["pkg.inner.deep", "-x"], ["pkg.inner"], ["pkg.absent"], ["absent"], ["absent.part"],
         ["broken.part"], [".alone"])


def answer(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    last = done.stderr.strip().splitlines()[-1:] or [""]
    return done.returncode, done.stdout, last[0].partition(": ")[2] if done.returncode else ""


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tfl", default="build/tfl")
    args = p.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("py", "tfl"):
            for name, text in FILES.items():
                path = os.path.join(folder, kind, f"{name}.{kind}")
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as f:
                    f.write(text.replace("KIND", repr(kind)))
        for call in CALLS:
            want = answer([sys.executable, "-B", "-m", *call], os.path.join(folder, "py"))
            got = answer([os.path.abspath(args.tfl), "run", "-m", *call], os.path.join(folder, "tfl"))
            if want != got:
                failed += 1
                print(f"-m {' '.join(call)}\n  CPython: {want}\n  TFL:     {got}")
    print(f"{len(CALLS)} calls, {failed} with a difference")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
