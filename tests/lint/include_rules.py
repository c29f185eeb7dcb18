#!/usr/bin/env python3
"""Rules about the source files: who may include whom, how long a file may be, what no file may contain, which files texts name. Prints `ok RULE` or
`FAIL RULE` and the places, as tests/run expects."""
import argparse
import ast
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Which layers a layer may include beside itself.
LAYERS = {
    "runtime": set(),
    "ir": {"runtime"},
    "optimizer": {"runtime", "ir"},
    "codegen": {"runtime", "ir", "optimizer"},
    "frontend": {"runtime", "ir"},
    "cli": {"runtime", "ir", "optimizer", "codegen", "frontend"},
}

# Libraries that one folder alone may include.
LIBRARIES = [
    ("ANTLR", re.compile(r"antlr4|antlr4-runtime\.h|TflLexer\.h|TflParser\.h"), "frontend/syntax/parse/"),
    ("CLI11", re.compile(r"CLI/"), "cli/"),
    ("libedit", re.compile(r"histedit\.h|editline/"), "cli/"),
    ("LLVM", re.compile(r"llvm(-c)?/"), ("codegen/llvm/", "codegen/lld/")),
    ("CUDA", re.compile(r"cuda"), "runtime/gpu/"),
    ("PCRE2", re.compile(r"pcre2\.h"), "runtime/text/regex.cpp"),
    ("libpng", re.compile(r"png\.h"), "runtime/formats/"),
    ("libjpeg", re.compile(r"jpeglib\.h"), "runtime/formats/"),
    ("HDF5", re.compile(r"hdf5\.h"), "runtime/hdf5/"),
    ("MPI", re.compile(r"(^|/)mpi\.h"), "runtime/mpi/"),
    ("nettle", re.compile(r"nettle/"), "runtime/support/digest.cpp"),
    ("libtommath", re.compile(r"tommath\.h"), "frontend/interpreter/object/numbers/"),
    ("Catch2", re.compile(r"catch2/"), "tests/"),
]

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.M)
MAX_LINES = 500
COUNTED = (".cpp", ".h", ".def", ".tfl", ".py", ".g4", ".cmake")
TEXT = COUNTED + (".md", ".txt", ".list", ".test", ".json", ".out", ".expect")
SKIPPED_FOLDERS = re.compile(r"^(build.*|\..*|__pycache__)$")

WORDS = [
    ("unfinished", re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b")),
    ("machine-paths", re.compile(r"/work/|/home/\w|/tmp/(brief|oracle|b-)")),
]


def files():
    for where, folders, names in os.walk(ROOT):
        folders[:] = sorted(d for d in folders if not SKIPPED_FOLDERS.match(d))
        for name in sorted(names):
            path = os.path.join(where, name)
            relative = os.path.relpath(path, ROOT)
            if name.endswith(TEXT) or "/" not in relative or relative in ("tests/run", "bench/run"):
                if not os.path.islink(path):
                    yield relative


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def without_comments(text):
    """C++ text with comments and string literals blanked."""
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', " ", text, flags=re.S)


def check_includes(sources):
    for path, text in sources.items():
        layer = path.split("/")[0]
        for quote, name in INCLUDE.findall(text):
            target = name.split("/")[0]
            if layer in LAYERS and target in LAYERS and target != layer and target not in LAYERS[layer]:
                yield f"{path}: {layer} must not include {name}"
            if quote == '"' and layer in LAYERS and "/" not in name and not name.startswith("Tfl"):
                yield f"{path}: write the path of {name} from the project's folder"
            for library, pattern, home in LIBRARIES:
                if pattern.match(name) and not path.startswith(home):
                    yield f"{path}: only {home} may include {library} ({name})"


# The wings of the frontend: each may include those before it.
WINGS = ["frontend/text", "frontend/syntax", "frontend/core", "frontend/interpreter", "frontend/tensors", "frontend/staging"]


def circles(arrows):
    """The sets of more than one node of {node: {node, ...}} that reach each other (Tarjan's strongly connected components)."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in sorted(arrows.get(node, ())):
            if other not in order:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == order[node]:
            circle = []
            while not circle or circle[-1] != node:
                circle.append(stack.pop())
            if len(circle) > 1:
                found.append(sorted(circle))

    sys.setrecursionlimit(10000)
    for node in sorted(arrows):
        if node not in order:
            visit(node)
    return found


def check_circles(sources):
    """No circle between folders, none between files, and no wing of the frontend that includes a later one."""
    folders, files, examples = {}, {}, {}
    for path, text in sources.items():
        if path.split("/")[0] not in LAYERS:
            continue
        for quote, name in INCLUDE.findall(text):
            if quote != '"' or name not in sources:
                continue
            files.setdefault(path, set()).add(name)
            here, there = os.path.dirname(path), os.path.dirname(name)
            if here != there:
                folders.setdefault(here, set()).add(there)
                examples.setdefault((here, there), f"{path} includes {name}")
            for i, wing in enumerate(WINGS):
                if here.startswith(wing) and any(there.startswith(later) for later in WINGS[i + 1:]):
                    yield f"{path}: {wing} must not include {name}"
    for circle in circles(folders):
        yield "folders that include each other: " + ", ".join(circle)
        for (here, there), example in sorted(examples.items()):
            if here in circle and there in circle:
                yield f"  {example}"
    for circle in circles(files):
        yield "files that include each other: " + ", ".join(circle)


def check_heavy_headers(sources):
    for path, text in sources.items():
        for _, name in INCLUDE.findall(text):
            if path.split("/")[0] in LAYERS and name in ("iostream", "regex"):
                yield f"{path}: <{name}> costs too much"
            if path.endswith(".h") and name == "fmt/format.h":
                yield f"{path}: headers include <fmt/core.h> only"


# Headers that C programs include, or C files of other languages' modules.
C_HEADERS = ("cli/embed/tfl.h", "cli/python/native/native.h")


def check_headers(sources):
    for path, text in sources.items():
        if path in C_HEADERS:
            if not re.match(r"/\*.*?\*/\n#ifndef (\w+)\n#define \1\n", text, re.S):
                yield f"{path}: does not begin with what it is for and a guard"
        elif path.endswith(".h"):
            if "#pragma once" not in text:
                yield f"{path}: no #pragma once"
            if not text.startswith("//"):
                yield f"{path}: does not begin with what it is for"


# Where the exceptions of libraries end: CLI11's, that of a thread which cannot be had, and whatever is left in main(), which makes it exit
# status 70, or at the C interface of libtfl. That the system has no memory is told there by the C++ library's own exception.
CATCHES = ("cli/arguments.cpp", "cli/main.cpp", "codegen/jit/compile_queue.cpp", "cli/embed/interp.h", "cli/embed/interp.cpp",
           "runtime/core/growth.cpp")


def check_exceptions(sources):
    for path, text in sources.items():
        if path.split("/")[0] in LAYERS and not path.startswith("frontend/syntax/parse/") and path not in CATCHES:
            for number, line in enumerate(without_comments(text).split("\n"), 1):
                if re.search(r"\bthrow\s+[A-Za-z_:]|\bthrow\s*;|\bcatch\s*\(", line):
                    yield f"{path}:~{number}: errors are values here"


def lines_of_code(path):
    """The lines of a .tfl file without its docstrings: the limit is about code, and a page for each name shall not push code elsewhere."""
    text = read(path)
    count = text.count("\n")
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return count
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node, clean=False) is not None:
            count -= node.body[0].end_lineno - node.body[0].lineno + 1
    return count


def check_length(paths):
    for path in paths:
        if path.endswith(COUNTED):
            count = lines_of_code(path) if path.endswith(".tfl") else read(path).count("\n")
            if count > MAX_LINES:
                yield f"{path}: {count} lines, more than {MAX_LINES}"


# Paths of files as texts and comments name them; `*` and {a,b} stand for several.
NAMED = re.compile(r"(?<![\w./-])((?:grammar|frontend|ir|optimizer|codegen|runtime|stdlib|tests|cli|bench|docs|cmake|examples)(?:/[\w*{},-]+)+\.(?:h|cpp|c|def|inc|py|md|tfl|cmake|g4|S|ia|out|list))(?![\w/])")
# Names that stand for any: of instructions and of what a reader makes himself.
EXAMPLES = re.compile(r"NAME|AREA|SUBJECT|FOLDER|variance|stdlib/a/b")


def check_named_files(paths):
    """Texts do not name files that are gone."""
    for path in paths:
        if not path.endswith((".md", ".h", ".cpp", ".c", ".py", ".cmake", ".def", ".tfl", ".txt")) or path.startswith(("tests/golden/", "tests/fuzz/")):
            continue
        for number, line in enumerate(read(path).split("\n"), 1):
            for name in NAMED.findall(line):
                options = [name]
                while any("{" in o for o in options):
                    options = [o[:m.start()] + part + o[m.end():] for o in options for m in [re.search(r"\{([^{}]*)\}", o)] if m for part in m.group(1).split(",")]
                for option in options:
                    if not EXAMPLES.search(option) and not glob.glob(os.path.join(ROOT, option)):
                        yield f"{path}:{number}: {option} is not there"


SHELVES = ("python", "packages", "tools")  # folders of stdlib that are no part of modules' names (cmake/EmbedStdlib.cmake)


def check_library_imports(paths):
    """What the library imports from its packages is there."""
    modules = {}
    for path in paths:
        if path.startswith("stdlib/") and path.endswith(".tfl"):
            parts = path[len("stdlib/"):-len(".tfl")].split("/")
            parts = parts[parts[0] in SHELVES:]
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    for path in modules.values():
        for number, line in enumerate(read(path).split("\n"), 1):
            found = re.match(r"\s*from ((?:tensorflow|numpy)[\w.]*) import ([\w, ]*)", line) or re.match(r"\s*import (tensorflow\.[\w.]*)()", line)
            if not found:
                continue
            home = modules.get(found[1])
            names = [name.split(" as ")[0].strip() for name in found[2].split(",")]
            gone = [n for n in names if n[:1] == "_" and f"{found[1]}.{n}" not in modules and home and not re.search(rf"\b{n}\b", read(home))]
            if not home or gone:
                yield f"{path}:{number}: {'.'.join([found[1], *gone])} is not there"


def check_words(paths, pattern):
    for path in paths:
        for number, line in enumerate(read(path).split("\n"), 1):
            if pattern.search(line) and "tests/lint/" not in path:
                yield f"{path}:{number}: {line.strip()[:100]}"


def report(rule, places):
    places = list(places)
    print(f"{'FAIL' if places else 'ok'} {rule}")
    for place in places:
        print("  " + place)
    return not places


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build")
    p.parse_args()
    paths = list(files())
    sources = {path: read(path) for path in paths if path.endswith((".cpp", ".h", ".def", ".inc"))}
    results = [
        report("layers-and-libraries", check_includes(sources)),
        report("no-circles", check_circles(sources)),
        report("heavy-headers", check_heavy_headers(sources)),
        report("headers-begin-with-their-purpose", check_headers(sources)),
        report("errors-are-values", check_exceptions(sources)),
        report("named-files-are-there", check_named_files(paths)),
        report("library-imports-are-there", check_library_imports(paths)),
        report("file-length", check_length(paths)),
    ]
    results += [report(rule, check_words(paths, pattern)) for rule, pattern in WORDS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
