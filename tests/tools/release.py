#!/usr/bin/env python3
"""The steps of a release (cmake/release.py) that need no clean root: a change log without the version or without a date is refused; what is signed is
accepted by the command that the page tells, and no longer once a byte has changed. Exit status 0: all right.

usage: release.py --tfl PROGRAM
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

from library import run

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RELEASE = os.path.join(ROOT, "cmake", "release.py")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tfl", required=True)
    build = os.path.dirname(os.path.abspath(p.parse_args().tfl))
    version = re.match(r"tfl (\d+\.\d+\.\d+)", run(os.path.join(build, "tfl"), "--version"))[1]
    with open(os.path.join(ROOT, "docs", "packages.md"), encoding="utf-8") as f:
        verify = re.search(r"^(ssh-keygen -Y verify .*)$", f.read(), re.M)[1]
    with tempfile.TemporaryDirectory() as folder:
        out, key, changes = (os.path.join(folder, name) for name in ("out", "key", "CHANGELOG.md"))

        def release(*arguments):
            command = [sys.executable, RELEASE, "--build", build, "--out", out, "--changes", changes, *arguments]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            return done.returncode, done.stderr

        for text, wanted in (("## 0.0.1, 2020-01-01\n", f"has no section of version {version}"), (f"## {version}, not released\n", "in place of a date")):
            with open(changes, "w", encoding="utf-8") as f:
                f.write(text)
            status, said = release("--only", "check")
            if status != 1 or wanted not in said:
                sys.exit(f"{text!r}: {status}, {said}")
        if release("--only", "check", "--draft")[0] != 0:
            sys.exit("a draft needs no date")

        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
        for name in ("tfl.deb", "tfl.whl"):
            with open(os.path.join(out, name), "wb") as f:
                f.write(name.encode())
        for _ in range(2):   # signed anew, the old signature is no part of the sums
            status, said = release("--only", "sign", "--key", key)
            if status != 0:
                sys.exit(f"it is not signed: {said}")
        run("bash", "-c", verify, cwd=out)
        for name in ("tfl.deb", "SHA256SUMS"):
            with open(os.path.join(out, name), "ab") as f:
                f.write(b"x")
            if subprocess.run(["bash", "-c", verify], cwd=out, capture_output=True, check=False).returncode == 0:
                sys.exit(f"a changed {name} is accepted")
            with open(os.path.join(out, name), "rb+") as f:
                f.truncate(os.path.getsize(f.name) - 1)
        run("bash", "-c", verify, cwd=out)


if __name__ == "__main__":
    main()
