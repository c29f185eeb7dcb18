#!/usr/bin/env python3
"""CPython's own tests, run by TFL: how many of the methods that pass there pass here.

    tests/reference/cpython.py --python PYTHON --tfl build/tfl [NAME ...]

PYTHON is a CPython 3.11 with its package `test` (Debian: libpython3.11-testsuite). Each file test_NAME.py is copied into a temporary folder, which is removed
at the end: nothing of its text is kept. Both programs run the copy with the same small package `test.support` (cpython_support); what passes in PYTHON counts.
Left out are methods that test what the dialect refuses by name (REFUSED). A line a file is printed, then what fails with --failures, as JSON with --json FILE."""
import argparse
import ast
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# Names whose use makes a method one about something else than the language and its library: code as text, the interpreter's insides, other processes.
REFUSED = {"exec", "eval", "compile", "_testcapi", "_testinternalcapi", "ctypes", "script_helper", "assert_python_ok", "assert_python_failure", "run_python_until_end",
           "getrefcount", "getsizeof", "check_sizeof", "check_syntax_error", "check_syntax_warning", "multiprocessing", "socket", "settrace", "gettrace", "dis",
           "_getframe", "tracemalloc", "gc", "check_impl_detail", "check__all__", "spawn_python", "set_int_max_str_digits_all", "run_in_subinterp", "__code__",
           "co_code", "gi_frame", "cr_frame", "f_locals", "f_back", "tb_frame", "tb_next", "check_disallow_instantiation", "ag_frame"}

LANGUAGE = """augassign baseexception bool builtin bytes class compare complex contains coroutines asyncgen decorators defaultdict deque dict dictviews dictcomps
dynamicclassattribute enumerate except_star exception_group exceptions exception_variations float format fstring funcattrs generator_stop generators genexps grammar
hash index int int_literal isinstance iter iterlen keywordonlyarg list listcomps long memoryview opcodes operator ordered_dict patma positional_only_arg pow print
property raise range richcmp scope set setcomps slice sort string subclassinit super tuple typechecks unary unicode unpack unpack_ex userdict userlist userstring with
yield_from numeric_tower abstract_numbers descr metaclass dynamic longexp binop eof global flufl""".split()
LIBRARY = """abc array base64 binascii bisect calendar cmath cmd codecs collections colorsys configparser contextlib contextlib_async copy csv dataclass datetime decimal
difflib enum fileinput fnmatch fractions functools getopt glob graphlib hashlib heapq hmac html htmlparser inspect ipaddress itertools keyword linecache locale logging
math mimetypes minidom optparse pathlib pickle pprint queue quopri random re reprlib sched secrets shlex shutil signal statistics stringio memoryio strptime struct
subprocess tempfile textwrap threading time timeit types typing unicodedata urlparse uuid warnings weakref weakset xml_etree zipfile zlib""".split()


def names_in(node):
    for n in ast.walk(node):
        if isinstance(n, ast.Name):
            yield n.id
        elif isinstance(n, ast.Attribute):
            yield n.attr
        elif isinstance(n, ast.alias):
            yield from n.name.split(".")


def blank(lines, node, why):
    """The body of a function becomes one statement that skips it."""
    first = node.body[0].lineno - 1
    indent = re.match(r"\s*", lines[first]).group() or "    "
    if node.body[0].lineno == node.lineno:
        return
    decorator = min([d.lineno for d in getattr(node.body[0], "decorator_list", [])] + [first + 1]) - 1
    first = min(first, decorator)
    lines[first] = indent + f"import unittest; raise unittest.SkipTest({why!r})\n"
    for i in range(first + 1, node.end_lineno):
        lines[i] = "\n"


def erase(lines, node):
    """A statement becomes `pass`."""
    indent = re.match(r"\s*", lines[node.lineno - 1]).group()
    lines[node.lineno - 1] = indent + "pass\n"
    for i in range(node.lineno, node.end_lineno):
        lines[i] = "\n"


def functions(tree):
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def prepared(text):
    """The text without what is refused."""
    lines = text.splitlines(keepends=True)
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            inner = [n for n in node.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inner = [node]
        else:
            if {"exec", "eval", "compile"}.intersection(names_in(node)):
                erase(lines, node)
            continue
        for statement in node.body if isinstance(node, ast.ClassDef) else []:
            if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and {"exec", "eval", "compile"}.intersection(names_in(statement)):
                erase(lines, statement)
        for f in inner:
            hit = REFUSED.intersection(names_in(f))
            if hit:
                blank(lines, f, "refused: " + ", ".join(sorted(hit)))
    return "".join(lines)


DRIVER = '''
import json, os, sys, traceback, unittest
sys.path.insert(0, os.getcwd())
name = sys.argv[1]


class Told(unittest.TestResult):
    def said(self, test, what, why=""):
        print("@@" + json.dumps([test.id(), what, why[-300:]]), flush=True)
    def addSuccess(self, test):
        self.said(test, "pass")
    def addError(self, test, err):
        self.said(test, "fail", "".join(traceback.format_exception_only(err[0], err[1])))
    addFailure = addError
    def addSkip(self, test, reason):
        self.said(test, "skip", str(reason))
    def addExpectedFailure(self, test, err):
        self.said(test, "pass")
    def addUnexpectedSuccess(self, test):
        self.said(test, "fail", "unexpected success")
    def addSubTest(self, test, subtest, err):
        if err is not None:
            test._sub_failed = True
            self.said(test, "fail", "".join(traceback.format_exception_only(err[0], err[1])))


import importlib
module = importlib.import_module(name)
suite = unittest.defaultTestLoader.loadTestsFromModule(module)
result = Told()


def each(s):
    for t in s:
        if isinstance(t, unittest.TestSuite):
            yield from each(t)
        else:
            yield t


skip = set(json.loads(os.environ.get("SKIP_TESTS", "[]")))
if hasattr(module, "setUpModule"):
    module.setUpModule()
by_class = {}
for t in each(suite):
    by_class.setdefault(type(t), []).append(t)
for kind, tests in by_class.items():
    left = [t for t in tests if t.id() not in skip]
    for t in left:
        print("@>" + t.id(), flush=True)
    whole = unittest.TestSuite(left)
    try:
        whole.run(result)
    except Exception as e:
        for t in left:
            result.said(t, "fail", repr(e))
print("@@END", flush=True)
'''


def run(program, folder, module, timeout, env, skip):
    """{id: (what, why)} of one file, how it ended, and the identity of the test in progress."""
    results, begun = {}, []
    try:
        done = subprocess.run(program + ["driver.py", module], cwd=folder, capture_output=True, text=True, timeout=timeout, env={**env, "SKIP_TESTS": json.dumps(sorted(skip))},
                              errors="replace")
        out, err, code = done.stdout, done.stderr, done.returncode
    except subprocess.TimeoutExpired as e:
        out = (e.stdout or b"").decode(errors="replace")
        err, code = "timeout", -1
    ended = False
    for line in out.splitlines():
        if line.startswith("@@END"):
            ended = True
        elif line.startswith("@>"):
            begun.append(line[2:])
        elif line.startswith("@@["):
            try:
                test, what, why = json.loads(line[2:])
            except ValueError:
                continue
            if results.get(test, ("pass",))[0] != "fail":
                results[test] = (what, why)
    return results, ended, err, begun


def run_all(program, folder, module, timeout, env):
    """Runs a file to its end: a test that ends the program, or takes all of its time, fails, and the others are run without it."""
    results, skip = {}, set()
    for _ in range(25):
        found, ended, err, begun = run(program, folder, module, timeout, env, skip | set(results))
        results.update(found)
        if ended:
            return results, ""
        left = [t for t in begun if t not in results]
        if not left:
            return results, err
        results[left[0]] = ("fail", "ends the program: " + err.strip().splitlines()[-1][:200] if err.strip() else "ends the program")
    return results, "too many tests end the program"


def without_wrong_syntax(tfl, folder, path, env):
    """What TFL cannot compile is skipped, function by function, until the rest is understood."""
    for _ in range(40):
        done = subprocess.run(tfl[:1] + ["check", "--color=never", path], cwd=folder, capture_output=True, text=True, env=env)
        places = [(int(line), text) for line, text in re.findall(r"\.py:(\d+):\d+: error: (.*)", done.stderr + done.stdout)
                  if not re.match(r"name '|.*is not defined|module '|no module|'.*' has no|.*argument|.*object|.*always|.*division|.*index", text, re.IGNORECASE)]
        if not places:
            return
        text = open(os.path.join(folder, path)).read()
        lines = text.splitlines(keepends=True)
        tree = ast.parse(text)
        hit = False
        for line, why in places:
            inside = [f for f in functions(tree) if f.lineno <= line <= f.end_lineno]
            if inside:
                blank(lines, min(inside, key=lambda f: f.lineno), "syntax: " + why)
                hit = True
                break
        if not hit:
            return
        open(os.path.join(folder, path), "w").write("".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default="python3.11")
    parser.add_argument("--tfl", default="build/tfl")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--failures", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("names", nargs="*", help="NAME of test_NAME.py; language, library; all without one")
    args = parser.parse_args()
    names = args.names or ["language", "library"]
    names = [n for name in names for n in {"language": LANGUAGE, "library": LIBRARY}.get(name, [name])]
    where = subprocess.run([args.python, "-c", "import test; print(test.__path__[0])"], capture_output=True, text=True, check=True).stdout.strip()
    tfl = [os.path.abspath(args.tfl), "run", "--allow-all"]
    if "--allow-run" in subprocess.run(tfl[:2] + ["--help"], capture_output=True, text=True).stdout:
        tfl.append("--allow-run")
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    total = collections.Counter()
    kept = {}
    for name in names:
        path = os.path.join(where, f"test_{name}.py")
        if not os.path.exists(path):
            continue
        with tempfile.TemporaryDirectory() as folder:
            package = os.path.join(folder, "test")
            wanted = {name} | set(re.findall(r"\btest[. ](?:import )?test_(\w+)", open(path, encoding="utf-8", errors="ignore").read()))
            shutil.copytree(os.path.join(HERE, "cpython_support", "test"), package)
            for f in os.listdir(where):
                source = os.path.join(where, f)
                if f.endswith(".py") and (not f.startswith("test_") or f[5:-3] in wanted) and os.path.isfile(source) and f != "__init__.py":
                    text = open(source, encoding="utf-8", errors="surrogateescape").read()
                    try:
                        text = prepared(text)
                    except (SyntaxError, ValueError):
                        pass
                    open(os.path.join(package, f), "w", encoding="utf-8", errors="surrogateescape").write(text)
            for d in ("xmltestdata", "cjkencodings", "decimaltestdata", "data", "typinganndata"):
                if os.path.isdir(os.path.join(where, d)):
                    shutil.copytree(os.path.join(where, d), os.path.join(package, d))
            shutil.copy(os.path.join(HERE, "cpython_support", "doctest.py"), folder)
            open(os.path.join(folder, "driver.py"), "w").write(DRIVER)
            module = f"test.test_{name}"
            right, _ = run_all([args.python], folder, module, args.timeout, env)
            without_wrong_syntax(tfl, folder, f"test/test_{name}.py", env)
            ours, why = run_all(tfl, folder, module, args.timeout, env)
        counted = [t for t, (what, _) in right.items() if what == "pass"]
        passed = [t for t in counted if ours.get(t, ("absent", ""))[0] == "pass"]
        failed = {t: ours.get(t, ("absent", why.strip()[-300:])) for t in counted if t not in set(passed)}
        total["of"] += len(counted)
        total["pass"] += len(passed)
        kept[name] = {"of": len(counted), "pass": len(passed), "failed": failed}
        print(f"{name:24} {len(passed):5} of {len(counted):5}" + (f"  {why.strip().splitlines()[-1][:110]}" if why.strip() and not ours else ""), flush=True)
        if args.failures and ours:
            for t, (what, text) in sorted(failed.items()):
                print(f"    {t.split('.', 2)[-1]}: {what}: {text.strip().splitlines()[-1][:160] if text.strip() else ''}", flush=True)
    if total["of"]:
        print(f"{'all':24} {total['pass']:5} of {total['of']:5}  {100 * total['pass'] / total['of']:.1f} %")
    if args.json:
        with open(args.json, "w") as f:
            json.dump(kept, f, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
