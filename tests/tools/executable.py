#!/usr/bin/env python3
"""Programs that `tfl build --emit executable` makes print what `tfl run` prints, with the same exit status: also elsewhere, stripped, with no
environment and no cache, with the script and its modules gone. Exit status 0: all right.

usage: executable.py --tfl PROGRAM
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

from sanitizers import sanitizer

SCRIPTS = {
    "main.tfl": '''import sys

import tensorflow as tf

import helper


@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def scaled(x):
    return helper.twice(x) + 1.0


@tf.function
def steps(n):
    total = tf.constant(0)
    for i in tf.range(n):
        if i % 3 == 0:
            total += i
    return total


if __name__ == "__main__":
    print(sys.argv[1:], scaled(tf.constant([1.0, 2.5])), steps(tf.constant(100)), steps(10))
    print(helper.NAME, __file__)
    if "fail" in sys.argv:
        helper.fail(tf.constant([1, 2]))
    sys.exit(3)
''',
    "helper.tfl": '''import tensorflow as tf

NAME = __name__


def twice(x):
    return x * 2.0


@tf.function
def fail(x):
    return 10 // (x - 1)
''',
}


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def in_empty_root(folder, program, wanted):
    """With nothing around it but the C library: a root folder that holds the program and what `ldd` names."""
    root = os.path.join(folder, "root")
    os.mkdir(root)
    shutil.copy(program, os.path.join(root, "main"))
    for library in re.findall(r"(/\S+) \(0x", run("ldd", program).stdout):
        place = root + os.path.dirname(library)
        os.makedirs(place, exist_ok=True)
        shutil.copy(os.path.realpath(library), os.path.join(place, os.path.basename(library)))
    enter = ["unshare", "--map-root-user", "--root", root]
    if os.geteuid() == 0:
        enter = ["chroot", root]
    elif subprocess.run([*enter, "/main"], capture_output=True).stderr.startswith(b"unshare:"):
        return  # no other root for this user
    for arguments, want in wanted.items():
        got = run(*enter, "/main", *arguments)
        # A sanitizer looks for leaks at the end of every run, and for its options: both in /proc, which is not there.
        blind = "LeakSanitizer has encountered a fatal error" in got.stderr
        if got.stdout != want.stdout or (got.returncode != want.returncode and not blind):
            sys.exit(f"in an empty root {arguments}: status {got.returncode}, output\n{got.stdout}{got.stderr}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tfl", required=True)
    tfl = os.path.abspath(p.parse_args().tfl)
    with tempfile.TemporaryDirectory(prefix="tfl-executable-") as folder:
        source, place = os.path.join(folder, "source"), os.path.join(folder, "place")
        os.mkdir(source)
        os.mkdir(place)
        for name, text in SCRIPTS.items():
            with open(os.path.join(source, name), "w") as f:
                f.write(text)
        wanted = {arguments: run(tfl, "run", "main.tfl", *arguments, cwd=source) for arguments in ((), ("a", "-b"), ("fail",))}
        built = run(tfl, "build", "main.tfl", "--emit", "executable", "-o", place, cwd=source)
        if built.returncode != 0 or built.stdout.strip() != place + "/main":
            sys.exit(f"tfl build ended with {built.returncode}: {built.stdout}{built.stderr}")
        with open(place + "/main", "rb") as f:
            converted = re.findall(rb"bytecode/[0-9a-f]{32}", f.read())
        if len(converted) < 2:
            sys.exit(f"the program would have to parse its source for AutoGraph: it carries {len(converted)} converted functions")
        for name in SCRIPTS:
            os.remove(os.path.join(source, name))
        for stripped in (False, True):
            if stripped and run("strip", place + "/main").returncode != 0:
                sys.exit("strip failed")
            for arguments, want in wanted.items():
                got = run(place + "/main", *arguments, cwd=place, env={})
                if (got.returncode, got.stdout) != (want.returncode, want.stdout):
                    sys.exit(f"{arguments}: status {got.returncode}, output\n{got.stdout}{got.stderr}\ninstead of {want.returncode},\n{want.stdout}{want.stderr}")
                if got.stderr.splitlines()[-1:] != want.stderr.splitlines()[-1:] or ("fail" in arguments and 'helper.tfl", line 12' not in got.stderr):
                    sys.exit(f"{arguments}: errors\n{got.stderr}\ninstead of\n{want.stderr}")
        needed, own = (re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", program).stdout) for program in (place + "/main", tfl))
        sanitized = sanitizer(tfl)  # then the C++ library is a shared one
        if not needed or any(not re.match(r"lib(c|m)\.so|ld-linux", n) and not (sanitized and n in own) for n in needed):
            sys.exit(f"the program needs {needed}")
        in_empty_root(folder, place + "/main", wanted)
    print("all right")


main()
