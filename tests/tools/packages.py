#!/usr/bin/env python3
"""The packages that `./dev package` makes, tried as their users do: the archive runs from a folder of its own and embeds, compiles and builds a
library; the wheel in an environment of its own; the files of the .deb from a root of its own; two runs give the same bytes. Exit status 0: all right.

usage: packages.py --tfl PROGRAM
"""
import argparse
import filecmp
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SCRIPT = """import tensorflow as tf
@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def twice(x):
    return x + x
print(twice(tf.constant([1.5, 2.0])).numpy())
"""
PYTHON = """import array
import tfl
m = tfl.load("numbers.tfl")
print(memoryview(m.twice(array.array("f", [4.0]))).tolist())
"""


def run(*command, cwd=None, env=None):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=280, cwd=cwd, env=env)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(c) for c in command)}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def says(expected, *command, **options):
    said = run(*command, **options)
    if said != expected:
        sys.exit(f"{' '.join(str(c) for c in command)} printed {said!r}")


def try_folder(prefix, folder, home):
    """The program, its compiler and its libraries, as they lie below `prefix`."""
    environment = {"HOME": home, "PATH": os.path.join(prefix, "bin") + ":/usr/bin:/bin", "LANG": "C.UTF-8"}
    says("[3. 4.]\n", "tfl", "run", "--jit=wait", "numbers.tfl", cwd=folder, env=environment)
    run("tfl", "build", "numbers.tfl", "-o", os.path.join(home, "out"), cwd=folder, env=environment)
    for name in ("include/tfl.h", "include/tfl.hpp", "lib/libtfl.so.1", "lib/cmake/tfl/tflConfig.cmake", "lib/pkgconfig/tfl.pc",
                 "share/man/man1/tfl.1", "share/doc/tfl/copyright", "share/doc/tfl/tfl.spdx.json",
                 "share/bash-completion/completions/tfl"):
        if not os.path.exists(os.path.join(prefix, name)):
            sys.exit(f"{name} is missing in {prefix}")
    if not os.listdir(os.path.join(prefix, "share/doc/tfl/licences")):
        sys.exit("there are no licences of what is linked in")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tfl", required=True)
    build = os.path.dirname(os.path.abspath(p.parse_args().tfl))
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "numbers.tfl"), "w", encoding="utf-8") as f:
            f.write(SCRIPT)
        with open(os.path.join(folder, "use.py"), "w", encoding="utf-8") as f:
            f.write(PYTHON)
        made = [os.path.join(folder, name) for name in ("first", "second")]
        for out, mask in zip(made, (0o022, 0o077)):
            os.umask(mask)
            run(sys.executable, os.path.join(ROOT, "cmake", "package.py"), "--build", build, "--out", out, "--fast")
        os.umask(0o022)
        names = sorted(os.listdir(made[0]))
        _, different, missing = filecmp.cmpfiles(*made, names, shallow=False)
        if different or missing or len(names) != 4:
            sys.exit(f"of {names} there differ between two runs: {different + missing}")
        archive, deb, wheel = (os.path.join(made[0], next(n for n in names if n.endswith(e))) for e in (".tar.zst", ".deb", ".whl"))
        for path in (archive, deb, wheel):
            if os.path.getsize(path) > 45e6:
                sys.exit(f"{path} has {os.path.getsize(path)} bytes")

        unpacked, home = os.path.join(folder, "some where"), os.path.join(folder, "home")
        os.mkdir(unpacked)
        os.mkdir(home)
        run("tar", "--use-compress-program=zstd -d --long=27", "-xf", archive, "-C", unpacked)
        try_folder(os.path.join(unpacked, os.listdir(unpacked)[0]), folder, home)
        root = os.path.join(folder, "root")
        run("dpkg-deb", "-x", deb, root)
        try_folder(os.path.join(root, "usr"), folder, home)
        environment = os.path.join(folder, "environment")
        run(sys.executable, "-m", "zipfile", "-e", wheel, environment)  # as pip unpacks it
        os.chmod(os.path.join(environment, "tfl", "tfl"), 0o755)
        env = {"HOME": home, "PATH": "/usr/bin:/bin", "PYTHONPATH": environment}
        says("[3. 4.]\n[8.0]\n", sys.executable, "use.py", cwd=folder, env=env)
        says("[3. 4.]\n", sys.executable, "-m", "tfl", "run", "numbers.tfl", cwd=folder, env=env)


if __name__ == "__main__":
    main()
