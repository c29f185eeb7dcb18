#!/usr/bin/env python3
"""libtfl as other programs use it: a C99 and a C++20 program of tests/embed, built outside of the tree against what `cmake --install` puts into a
folder, by find_package and by pkg-config; the library shows what tfl.h declares and no more, and needs the C library alone. Exit status 0: all
right.

usage: embedding.py --tfl PROGRAM
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "..", "embed")
C_FLAGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-D_POSIX_C_SOURCE=200809L", "-O1"]
SYSTEM = re.compile(r"^(linux-vdso|lib(c|m|pthread|dl|rt)|ld-linux-x86-64|/lib64/ld-linux-x86-64)\.so")


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=280, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(c) for c in command)}\nended with status {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def check_symbols(prefix, library):
    with open(os.path.join(prefix, "include", "tfl.h"), encoding="utf-8") as f:
        declared = set(re.findall(r"TFL_API [^;(]*?(tfl_\w+)\(", f.read()))
    shown = {line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()}
    shown -= {"tfl_memory_take", "tfl_memory_give"}  # for its own libraries
    if declared != shown:
        sys.exit(f"tfl.h declares {sorted(declared - shown)}, which the library has not; it shows {sorted(shown - declared)}")
    needed = [line.split()[0] for line in run("ldd", library).splitlines()]
    if extra := [n for n in needed if not SYSTEM.match(n)]:
        sys.exit(f"libtfl needs {extra}")


def check_page(folder, prefix, environment):
    """The programs of docs/embedding.md print what stands below them."""
    with open(os.path.join(HERE, "..", "..", "docs", "embedding.md"), encoding="utf-8") as f:
        blocks = re.findall(r"```(c|cpp)\n(.*?)```\n\n```output\n(.*?)```", f.read(), re.S)
    for language, text, expected in blocks:
        source, program = os.path.join(folder, "page." + language), os.path.join(folder, "page_" + language)
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        compiler = ["cc", "-std=c99"] if language == "c" else ["c++", "-std=c++20"]
        run(*compiler, "-Wall", "-Wextra", "-Werror", source, "-o", program, "-I" + os.path.join(prefix, "include"),
            "-L" + os.path.join(prefix, "lib"), "-ltfl")
        said = run(program, env=environment, cwd=folder)
        if said != expected:
            sys.exit(f"docs/embedding.md: the {language} program prints {said!r}")
    if len(blocks) != 2:
        sys.exit(f"docs/embedding.md has {len(blocks)} programs with their output")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tfl", required=True)
    build = os.path.dirname(os.path.abspath(p.parse_args().tfl))
    with tempfile.TemporaryDirectory() as folder:
        prefix, consumer = os.path.join(folder, "prefix"), os.path.join(folder, "consumer")
        run("cmake", "--install", build, "--prefix", prefix)
        check_symbols(prefix, os.path.join(prefix, "lib", "libtfl.so"))
        environment = dict(os.environ, LD_LIBRARY_PATH=os.path.join(prefix, "lib"), PKG_CONFIG_PATH=os.path.join(prefix, "lib", "pkgconfig"))
        program = os.path.join(folder, "embed_c")
        flags = run("pkg-config", "--cflags", "--libs", "tfl", env=environment).split() if shutil.which("pkg-config") else [
            "-I" + os.path.join(prefix, "include"), "-L" + os.path.join(prefix, "lib"), "-ltfl"]
        run("cc", *C_FLAGS, os.path.join(SOURCES, "embed.c"), "-o", program, *flags, "-lpthread")
        run(program, env=environment, cwd=folder)
        check_page(folder, prefix, environment)
        shutil.copytree(SOURCES, consumer)
        run("cmake", "-S", consumer, "-B", os.path.join(consumer, "build"), "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={prefix}")
        run("cmake", "--build", os.path.join(consumer, "build"))
        run(os.path.join(consumer, "build", "embed"), cwd=folder)


if __name__ == "__main__":
    main()
