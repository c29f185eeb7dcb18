"""Finds the tests of every kind. A test has a name and a function that returns None, or the reason why it failed."""
import dataclasses
import fnmatch
import os
import re
import shlex
import sys
import time

from . import golden, process


@dataclasses.dataclass
class Context:
    root: str       # of the project
    build: str      # the build folder
    scratch: str    # a folder that is removed at the end
    patience: float
    bless: bool
    every: bool     # run what is not expected to pass, too

    @property
    def tfl(self):
        return os.path.join(self.build, "tfl")

    def path(self, *parts):
        return os.path.join(self.root, "tests", *parts)


@dataclasses.dataclass
class Test:
    name: str
    function: object

    def timed(self):
        begin = time.monotonic()
        try:
            reason = self.function()
        except Exception as e:  # a broken test file must not end the run
            reason = f"{type(e).__name__}: {e}"
        return reason, time.monotonic() - begin


def all_tests(context):
    for kind in (examples, unit, golden_files, conformance, scripts, native, tools, lint):  # the longest first
        yield from kind(context)


def below(folder, suffix):
    for where, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            if name.endswith(suffix):
                yield os.path.join(where, name)


def list_lines(path):
    """The lines of a list file, without comments."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        lines = [line.split("#")[0].strip() for line in f]
    return [line for line in lines if line]


def unit(context):
    program = os.path.join(context.build, "tfl_tests")
    if not os.path.exists(program):
        yield Test("unit", lambda: f"{program} is not built")
        return
    listed = process.run([program, "--list-test-names-only"], context.root, context.scratch, 60 * context.patience)
    for case in process.text(listed.out).splitlines():
        if case.strip():
            yield Test("unit/" + case.strip(), lambda case=case: unit_case(context, program, case.strip()))


def unit_case(context, program, case):
    timeout = 120 * context.patience
    pattern = re.sub(r'([\\,\[\]"~*])', r"\\\1", case)
    outcome = process.run([program, pattern], context.root, context.scratch, timeout)
    if outcome.code == 0 and b"No test cases matched" not in outcome.out:
        return None
    return process.status(outcome, timeout) + "\n" + process.tail(outcome.out + outcome.err, 40)


def golden_files(context):
    for path in below(context.path("golden"), ".test"):
        name = os.path.splitext(os.path.relpath(path, context.path()))[0]
        yield Test(name, lambda path=path: golden.run(path, context.tfl, context))


def script(context, path, arguments=(), cwd=None, timeout=30, flags=()):
    """Runs a script whose output is recorded in the .out file beside it."""
    with open(path[:-4] + ".out", "rb") as f:
        want = f.read()
    timeout *= context.patience * (4 if flags else 1)  # compilers take their time
    cwd = cwd or os.path.dirname(path)
    outcome = process.run([context.tfl, "run", *flags, os.path.relpath(path, cwd), *arguments], cwd, context.scratch, timeout)
    problems = []
    if outcome.out != want:
        problems.append(process.difference(process.text(want), process.text(outcome.out), 20))
    if outcome.code != 0:
        problems.append(process.status(outcome, timeout) + "\n" + process.tail(outcome.err))
    return "\n".join(problems) or None


def conformance(context, flags=()):
    patterns = list_lines(context.path("conformance", "expected.txt"))
    for path in below(context.path("conformance"), ".tfl"):
        name = os.path.basename(path)[:-4]
        if context.every or any(fnmatch.fnmatchcase(name, p) for p in patterns):
            yield Test("conformance/" + name, lambda path=path: script(context, path, flags=flags))


def scripts(context, flags=()):
    for path in below(context.path("scripts"), ".tfl"):
        if os.path.exists(path[:-4] + ".out"):  # the others are imported
            yield Test(os.path.relpath(path, context.path())[:-4], lambda path=path: script(context, path, flags=flags))


def native(context):
    """What traces functions, with machine code from the first call on, shared by the runs of one test run."""
    for test in (*conformance(context, ("--jit=wait",)), *scripts(context, ("--jit=wait",))):
        with open(context.path(test.name + ".tfl"), encoding="utf-8") as f:
            if "tensorflow" in f.read():
                yield dataclasses.replace(test, name="native/" + test.name)


def examples(context):
    for line in list_lines(context.path("examples.list")):
        yield Test("examples/" + line.removeprefix("examples/"), lambda line=line: example(context, line))


def example(context, line):
    """Runs `PATH ARGS...` in the project's folder. tests/examples/NAME.out is its whole output; tests/examples/NAME.expect holds
    regular expressions, one a line, that must be found in the output in this order."""
    path, *arguments = shlex.split(line)
    name = os.path.splitext(os.path.basename(path))[0]
    timeout = 300 * context.patience
    outcome = process.run([context.tfl, "run", path, *arguments], context.root, context.scratch, timeout)
    if outcome.code != 0:
        return process.status(outcome, timeout) + "\n" + process.tail(outcome.err)
    out = process.text(outcome.out)
    whole, patterns = context.path("examples", name + ".out"), context.path("examples", name + ".expect")
    if os.path.exists(whole):
        with open(whole, encoding="utf-8") as f:
            want = f.read()
        return None if out == want else process.difference(want, out, 20)
    if not os.path.exists(patterns):
        return f"neither {whole} nor {patterns} says what it should print"
    at = 0
    with open(patterns, encoding="utf-8") as f:
        for pattern in f.read().splitlines():
            found = re.compile(pattern, re.M).search(out, at)
            if not found:
                return f"not found in the output: {pattern}\n" + process.tail(outcome.out, 20)
            at = found.end()
    return None


def tools(context):
    for line in list_lines(context.path("tools.list")):
        yield Test("tools/" + line, lambda line=line: tool(context, line))


def tool(context, line, timeout=300):
    name, *arguments = shlex.split(line)
    timeout *= context.patience
    command = [os.path.join(context.build, name)]
    if name.endswith(".py"):
        command = [sys.executable, context.path("tools/" + name), "--tfl", os.path.join(context.build, "tfl")]
    outcome = process.run([*command, *arguments], context.root, context.scratch, timeout)
    return None if outcome.code == 0 else process.status(outcome, timeout) + "\n" + process.tail(outcome.out + outcome.err, 30)


def lint(context):
    """Each program prints `ok NAME` or `FAIL NAME` for every rule; the lines after FAIL that begin with a blank belong to it."""
    for path in below(context.path("lint"), ".py"):
        outcome = process.run([sys.executable, path, "--build", context.build], context.root, context.scratch, 120 * context.patience)
        lines = process.text(outcome.out).splitlines()
        if outcome.code not in (0, 1) or not lines:
            yield Test("lint/" + os.path.basename(path)[:-3], lambda o=outcome: process.tail(o.err) or "it printed nothing")
        for i, line in enumerate(lines):
            verdict, _, name = line.partition(" ")
            details = []
            for following in lines[i + 1:]:
                if not following.startswith(" "):
                    break
                details.append(following.strip())
            if verdict == "ok":
                yield Test("lint/" + name, lambda: None)
            elif verdict == "FAIL":
                yield Test("lint/" + name, lambda d=details: "\n".join(d) or "failed")
