#!/usr/bin/env python3
"""Builds native libraries of tests/library and uses them as their users do: from C99 (shared and static), C++20 through CMake, Python with NumPy,
two in one process, eight threads under a race detector; every function gives the bits that `tfl run` gives. Exit status 0: all right.

usage: library.py --tfl PROGRAM
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "..", "library")
C_TYPES = {"float32": "float", "float64": "double", "float16": "uint16_t", "bfloat16": "uint16_t", "bool": "uint8_t"}
CODES = {"float": 2, "int": 0, "uint": 1, "bool": 6, "bfloat": 4}
C_FLAGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-D_POSIX_C_SOURCE=200112L", "-O1"]


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=240, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(c) for c in command)}\nended with status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def python_with_numpy():
    for python in (sys.executable, "python3", "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0:
            return python
    sys.exit("no Python with NumPy: Debian has it in the package python3-numpy")


def bits_of(dtype):
    return 8 if dtype == "bool" else int(re.search(r"\d+$", dtype).group())


def code_of(dtype):
    return CODES[re.match(r"[a-z]+", dtype).group()]


def shape_of(text):
    return [] if text == "-" else [int(d) for d in text.split(",")]


def cases_program(metadata, cases, folder, library):
    """A C99 program that calls each function with the inputs of each case and compares every byte."""
    functions = {f["name"]: f for f in metadata["functions"]}
    out = ["#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>", f'#include "{library}.h"', '#include "tensor.h"', """
static void *read_file(const char *name, size_t bytes) {
  char *data = calloc(1, bytes + 1);
  FILE *f = fopen(name, "rb");
  if (!f || !data || fread(data, 1, bytes + 1, f) != bytes) {
    printf("%s cannot be read, or is not %lu bytes long\\n", name, (unsigned long)bytes);
    exit(2);
  }
  fclose(f);
  return data;
}
int main(void) {
  tfl_context *c = NULL, *flat = NULL;
  int failures = 0;
  if (LIBRARY_context_new(NULL, &c) != TFL_OK || LIBRARY_context_new(NULL, &flat) != TFL_OK) return 3;""".replace("LIBRARY", library)]
    for case in cases:
        name, number, *shapes = case.split()
        f = functions[name]
        values = f["arguments"] + f["results"]
        inputs = len(f["arguments"])
        assert len(shapes) == len(values), case
        out.append("  {")
        calls, checks, wanted = [], [], []
        for i, (v, text) in enumerate(zip(values, shapes)):
            shape, bits = shape_of(text), bits_of(v["dtype"])
            bytes_ = bits // 8
            for d in shape:
                bytes_ *= d
            kind = f"in{i}" if i < inputs else f"out{i - inputs}"
            if i < inputs or not f["allocates"]:
                out.append(f"    int64_t s{i}[] = {{{', '.join(str(d) for d in shape) or '0'}}};")
            out.append(f"    void *d{i} = read_file(\"{folder}/{name}.{number}.{kind}\", {bytes_});")
            if i >= inputs and f["allocates"]:
                out.append(f"    tfl_tensor t{i};")
                checks += [f"t{i}.ndim == {len(shape)}", f"t{i}.dtype.bits == {bits}"] + [f"t{i}.shape[{k}] == {d}" for k, d in enumerate(shape)]
                checks += [f"memcmp(t{i}.data, d{i}, {bytes_}) == 0"]
            elif i < inputs:
                out.append(f"    tfl_tensor t{i} = tensor(d{i}, {code_of(v['dtype'])}, {bits}, {len(shape)}, s{i});")
            else:
                out.append(f"    void *r{i} = calloc(1, {bytes_} + 1);")
                out.append(f"    int64_t g{i}[{max(len(shape), 1)}] = {{0}};")
                out.append(f"    tfl_tensor t{i} = tensor(r{i}, {code_of(v['dtype'])}, {bits}, {len(shape)}, s{i});")
                wanted.append(f"g{i}")
                checks += [f"g{i}[{k}] == {d}" for k, d in enumerate(shape)] + [f"memcmp(r{i}, d{i}, {bytes_}) == 0"]
            calls.append(f"&t{i}")
        shape_call = "" if f["allocates"] else f"{library}_{name}_shape(c, {', '.join(calls[:inputs] + wanted)}) != TFL_OK || "
        out.append(f"    if ({shape_call}{library}_{name}{'_alloc' if f['allocates'] else ''}(c, {', '.join(calls)}) != TFL_OK) {{")
        out.append(f"      printf(\"{name}.{number}: %s\\n\", {library}_last_error(c));\n      ++failures;")
        out.append(f"    }} else if (!({' && '.join(checks)})) {{\n      printf(\"{name}.{number} gives other bits than tfl run\\n\");\n      ++failures;\n    }}")
        if not f["allocates"]:
            # The form for plain pointers gives the same, in a context of its own for the variables.
            sizes, clear, same = {}, [], []
            for v, text in zip(f["arguments"], shapes):
                for d, n in zip(v["shape"], shape_of(text)):
                    if isinstance(d, str):
                        sizes.setdefault(d, n)
            for i, v in list(enumerate(values))[inputs:]:
                bytes_ = bits_of(v["dtype"]) // 8
                for d in shape_of(shapes[i]):
                    bytes_ *= d
                clear.append(f"memset(r{i}, 119, {bytes_} + 1);")
                same.append(f"memcmp(r{i}, d{i}, {bytes_}) == 0")
            flat = [f"d{i}" for i in range(inputs)] + [str(n) for n in sizes.values()] + [f"r{i}" for i in range(inputs, len(values))]
            first = values[0]["dtype"] if values else "float32"
            suffix = {"bfloat16": "bf16", "bool": "bool"}.get(first, first[0] + str(bits_of(first)))
            out.append("    " + " ".join(clear))
            out.append(f"    if ({library}_{name}_{suffix}(flat, {', '.join(flat)}) != TFL_OK || !({' && '.join(same)})) {{")
            out.append(f"      printf(\"{name}.{number} by plain pointers: %s\\n\", {library}_last_error(flat));\n      ++failures;\n    }}")
        out += [f"    free(d{i});" for i in range(len(values))]
        out += [f"    {library}_tensor_free(c, &t{i});" if f["allocates"] else f"    free(r{i});" for i in range(inputs, len(values))] + ["  }"]
    out.append(f"  {library}_context_free(c);\n  {library}_context_free(flat);")
    out.append('  printf(failures ? "%d failures\\n" : "all right\\n", failures);\n  return failures != 0;\n}\n')
    return "\n".join(out)


def check_bits(tfl, folder, library, targets):
    """Every case of a script, from a program that is linked with the shared and one with the static library; gives the functions."""
    run(tfl, "run", "--allow-write", folder, f"{library}.tfl", folder, cwd=folder)
    with open(f"{folder}/{library}.cases") as f:
        cases = f.read().split("\n")[:-1]
    for target in targets:
        place = f"{folder}/{target.replace(',', '+')}"
        files = run(tfl, "build", f"{library}.tfl", "-o", place, "--target", target, "--emit", "shared-lib,static-lib,object", cwd=folder).split()
        missing = [f for f in files if not os.path.exists(f)]
        if missing or f"{place}/lib{library}.so" not in files:
            sys.exit(f"tfl build names files that are not there: {missing or files}")
        with open(f"{place}/{library}.json") as f:
            metadata = json.load(f)
        with open(f"{folder}/{library}_cases.c", "w") as f:
            f.write(cases_program(metadata, cases, folder, library))
        program = f"{folder}/{library}_cases"
        run("cc", *C_FLAGS, "-I", place, "-I", folder, f"{program}.c", "-o", f"{program}_shared", "-L", place, f"-l{library}", f"-Wl,-rpath,{place}")
        run(f"{program}_shared")
        run("cc", *C_FLAGS, "-I", place, "-I", folder, f"{program}.c", f"{place}/lib{library}.a", "-o", f"{program}_static", "-lm", "-lpthread")
        run(f"{program}_static")
    return {c.split()[0] for c in cases}


def prints(tfl, folder):
    """What tf.print writes from a library is what it writes from the script, stream by stream."""
    said = subprocess.run([tfl, "run", "prints.tfl"], capture_output=True, timeout=120, cwd=folder)
    place = f"{folder}/prints"
    run(tfl, "build", "prints.tfl", "-o", place, cwd=folder)
    own = subprocess.run([python_with_numpy(), "prints.py", place], capture_output=True, timeout=120, cwd=folder)
    if own.returncode or own.stdout != said.stdout or own.stderr != said.stderr or said.returncode or b"..." not in said.stderr:
        sys.exit(f"a library prints\n{own.stdout.decode()}{own.stderr.decode()}and tfl run\n{said.stdout.decode()}{said.stderr.decode()}")


def gpus(tfl, folder):
    """Code for GPUs beside that for the processor; without a driver the library works as any other."""
    place, driver = f"{folder}/gpu", f"{folder}/pretended.so"
    run("cc", "-shared", "-fPIC", "-w", os.path.join(HERE, "fake_cuda.c"), "-o", driver)
    run(tfl, "build", "gpu.tfl", "-o", place, "--target", "sm_90,x86-64-v3", "--emit", "shared-lib,ptx", cwd=folder)
    needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", f"{place}/libgpu.so"))
    if any(not re.match(r"lib(c|m)\.so|ld-linux", n) for n in needed):
        sys.exit(f"libgpu.so needs {needed}")
    run(python_with_numpy(), "gpu.py", place, driver, f"{folder}/log", cwd=folder)


def own_linker(tfl, folder):
    """Without any tool in the PATH; the linker is left out of builds on machines that lack its library."""
    if not os.path.exists(os.path.join(os.path.dirname(os.path.realpath(tfl)), "libtfl_lld.so")):
        return
    place, empty = f"{folder}/own", f"{folder}/empty"
    os.mkdir(empty)
    run(tfl, "build", "other.tfl", "-o", place, "--emit", "shared-lib,static-lib", cwd=folder, env={**os.environ, "PATH": empty})
    program = f"{folder}/other.c"
    with open(program, "w") as f:
        f.write("""#include "other.h"
int main(void) {
  tfl_context *c;
  float x[2] = {1, 2}, y[2];
  if (other_context_new(0, &c) != TFL_OK || other_scale_f32(c, x, 2, y) != TFL_OK) return 1;
  other_context_free(c);
  return y[1] != 6;
}
""")
    run("cc", *C_FLAGS, "-I", place, program, "-o", f"{folder}/own_shared", "-L", place, "-lother", f"-Wl,-rpath,{place}")
    run(f"{folder}/own_shared")
    run("cc", *C_FLAGS, "-I", place, program, f"{place}/libother.a", "-o", f"{folder}/own_static", "-lm", "-lpthread")
    run(f"{folder}/own_static")
    shown = [line.split()[-1] for line in run("nm", "-D", "--defined-only", f"{place}/libother.so").splitlines()]
    if not shown or any(not s.startswith("other_") for s in shown) or os.path.getsize(f"{place}/libother.so") > 100_000:
        sys.exit(f"the library that our own linker made shows {shown}, or is large")


def refusals(tfl, folder):
    """What refused.tfl holds is refused with the words that each function begins with."""
    with open(f"{folder}/refused.tfl") as f:
        functions = re.findall(r'def (\w+)\((.*)\):\n    """(.*)"""', f.read())
    for name, parameters, words in functions:
        types = ", ".join(re.findall(r'"(.*?)"', parameters))
        asked = f"{name}({types})" if "]" in types else name
        done = subprocess.run([tfl, "build", "refused.tfl", "-o", "refused", "--export", asked], capture_output=True, text=True, timeout=120, cwd=folder)
        if done.returncode == 0 or words not in done.stderr:
            sys.exit(f"{name} is not refused with '{words}': status {done.returncode}, {done.stderr}")
    if len(functions) < 4:
        sys.exit("refused.tfl does not look as it did")


def names(tfl, folder):
    """Names that others have, too: headers that compile, a Python module that works; two functions of one symbol are refused."""
    place, each = f"{folder}/names", "save close context error check _check metadata halve by_name".split()
    run(tfl, "build", "names.tfl", "-o", place, *(word for f in each for word in ("--export", f)), cwd=folder)
    for ending, source, compiler in (("h", "names.c", ["cc", *C_FLAGS]), ("hpp", "names.cpp", ["c++", "-std=c++20", "-Wall", "-Wextra", "-Werror"])):
        with open(f"{folder}/{source}", "w") as f:
            f.write(f'#include "names.{ending}"\nint main(void) {{ return 0; }}\n')
        run(*compiler, "-I", place, "-c", f.name, "-o", f"{folder}/names.o")
    run(python_with_numpy(), "names.py", place, cwd=folder)
    done = subprocess.run([tfl, "build", "names.tfl", "-o", place], capture_output=True, text=True, timeout=120, cwd=folder)
    if done.returncode == 0 or "halve and halve_shape cannot be in one library: both have a function names_halve_shape" not in done.stderr:
        sys.exit(f"two functions of one symbol are not refused: status {done.returncode}, {done.stderr}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tfl", required=True)
    tfl = os.path.abspath(p.parse_args().tfl)
    with tempfile.TemporaryDirectory(prefix="tfl-library-") as folder:
        for name in os.listdir(SOURCES):
            shutil.copy(os.path.join(SOURCES, name), folder)
        functions = check_bits(tfl, folder, "functions", ("x86-64-v3,x86-64-v4", "x86-64-v3", "native"))
        functions |= check_bits(tfl, folder, "dynamic", ("x86-64-v3,x86-64-v4", "native"))
        if len(functions) < 60:
            sys.exit("fewer than 60 functions")
        place = f"{folder}/native"

        run("cc", *C_FLAGS, "-I", place, f"{folder}/errors.c", "-o", f"{folder}/errors", "-L", place, "-lfunctions", f"-Wl,-rpath,{place}")
        run(f"{folder}/errors", folder)
        run(tfl, "build", "other.tfl", "-o", "native", "--emit", "shared-lib,static-lib", cwd=folder)
        run("cc", *C_FLAGS, "-fsanitize=thread", "-I", place, f"{folder}/threads.c", f"{place}/libfunctions.a", f"{place}/libother.a", "-o", f"{folder}/threads", "-lm", "-lpthread")
        run(f"{folder}/threads")
        run("cmake", "-G", "Ninja", "-S", folder, "-B", f"{folder}/cmake", f"-Dfunctions_DIR={place}", f"-Dother_DIR={place}", "-DCMAKE_BUILD_RPATH=" + place)
        run("cmake", "--build", f"{folder}/cmake")
        run(f"{folder}/cmake/two")
        run(python_with_numpy(), f"{folder}/consumer.py", place)

        said = run(tfl, "run", "failures.tfl", cwd=folder)
        run(tfl, "build", "failures.tfl", "-o", "native", cwd=folder)
        run(python_with_numpy(), f"{folder}/failures.py", place, input=said)

        # The same input gives the same bytes; nothing but the interface is visible; a small library is small.
        run(tfl, "build", "other.tfl", "-o", "again", cwd=folder)
        own_linker(tfl, folder)
        refusals(tfl, folder)
        prints(tfl, folder)
        names(tfl, folder)
        gpus(tfl, folder)
        for name in ("libother.so", "other.h", "other.json", "other.py"):
            with open(f"{place}/{name}", "rb") as a, open(f"{folder}/again/{name}", "rb") as b:
                if a.read() != b.read():
                    sys.exit(f"{name} differs from build to build")
        for library in ("functions", "other"):
            symbols = [line.split()[-1] for line in run("nm", "-D", "--defined-only", f"{place}/lib{library}.so").splitlines()]
            stray = [s for s in symbols if not s.startswith(library + "_")]
            if stray or not symbols:
                sys.exit(f"lib{library}.so shows {stray or 'nothing'}")
            needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", f"{place}/lib{library}.so"))
            if any(not re.match(r"lib(c|m)\.so|ld-linux", n) for n in needed):
                sys.exit(f"lib{library}.so needs {needed}")
        with open(f"{place}/other.json") as f:
            if run(tfl, "inspect", "--json", f"{place}/libother.so") != f.read():
                sys.exit("tfl inspect tells something else than other.json")
        shown = run(tfl, "inspect", f"{place}/libfunctions.so")
        for line in ("  step(x: f32[n,2]) -> y_0: f32[n,2], y_1: i32\n    Changes the variables: each call gives another result.\n", "  weights  f32[2,2]             16 B"):
            if line not in shown:
                sys.exit("tfl inspect shows\n" + shown)
        if "matmul" not in run(tfl, "inspect", f"{place}/libfunctions.so", "--function", "step") or "<svg" not in run(tfl, "inspect", f"{place}/libfunctions.a", "--function", "digits", "--svg"):
            sys.exit("tfl inspect shows no graph")
        if os.path.getsize(f"{place}/libother.so") > 100_000:
            sys.exit(f"libother.so has {os.path.getsize(f'{place}/libother.so')} bytes")
        kinds = run(tfl, "build", "other.tfl", "-o", "kinds", "--emit", "llvm,asm,object,ptx", "--target", "aarch64,sm_90", cwd=folder)
        with open(f"{folder}/kinds/other_scale.ptx") as f:
            if ".target sm_90" not in f.read():
                sys.exit("PTX for another GPU")
        if "other_scale.ll" not in kinds or "other_scale.s" not in kinds:
            sys.exit("no LLVM IR or assembly: " + kinds)
    print("all right")


if __name__ == "__main__":
    main()
