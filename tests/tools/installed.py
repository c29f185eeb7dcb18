#!/usr/bin/env python3
"""What `cmake --install` puts into a folder works from there: the program runs and compiles, and a CMake project that says find_package(tfl)
links a library of traced functions.

  installed.py --tfl build/tfl
"""
import argparse
import os
import subprocess
import sys
import tempfile

SCRIPT = """import tensorflow as tf
@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def twice(x):
    return x + x
print(twice(tf.constant([1.5, 2.0])).numpy())
"""
PROJECT = """cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(tfl 0.1 REQUIRED)
tfl_add_library(numbers numbers.tfl EXPORT twice)
add_executable(user user.c)
target_link_libraries(user numbers)
"""
USER = """#include <stdio.h>
#include <numbers.h>
int main(void) {
  tfl_context *context = NULL;
  float in[3] = {1, 2, 3.5f}, out[3] = {0};
  if (numbers_context_new(NULL, &context) != 0) return 1;
  if (numbers_twice_f32(context, in, 3, out) != 0) return 2;
  printf("%g %g %g\\n", out[0], out[1], out[2]);
  numbers_context_free(context);
  return 0;
}
"""


def run(command, folder, **more):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tfl", required=True)
    build = os.path.dirname(os.path.abspath(p.parse_args().tfl))
    with tempfile.TemporaryDirectory() as folder:
        prefix, project = os.path.join(folder, "prefix"), os.path.join(folder, "project")
        run(["cmake", "--install", build, "--prefix", prefix], folder)
        os.mkdir(project)
        for name, text in (("numbers.tfl", SCRIPT), ("CMakeLists.txt", PROJECT), ("user.c", USER)):
            with open(os.path.join(project, name), "w", encoding="utf-8") as f:
                f.write(text)
        said = run([os.path.join(prefix, "bin", "tfl"), "run", "--jit=wait", "--no-cache", "numbers.tfl"], project)
        if said != "[3. 4.]\n":
            sys.exit(f"the installed program printed {said!r}")
        run(["cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}"], project)
        run(["cmake", "--build", "build"], project)
        said = run([os.path.join(project, "build", "user")], project)
        if said != "2 4 7\n":
            sys.exit(f"the program of the project printed {said!r}")
    print("installed, found and linked")


if __name__ == "__main__":
    main()
