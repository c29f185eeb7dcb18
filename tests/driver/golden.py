"""Golden files: command, input and expected output in one file, compared whole.

    # test: check --color=never        arguments of tfl, as a shell would split them; {file} stands for the input's file name,
                                       which is appended when it is not named. `opt` and arguments: the program tfl-opt beside it
    # exit: 3                          expected exit status, 0 when this line is missing
    x = (1                             the input: everything up to the first section
    # file: helper.tfl                 section: another file, beside the input; any number of them
    # stdin                            section: standard input; without any input line before it there is no input file
    # expect                           section: standard output; empty when missing
    # expect-stderr                    section: standard error; empty when missing

The program runs in an empty folder that holds the input, named like the test with .tfl at the end, so that paths print bare.
TFL_BLESS=1 writes what the program printed into the file. A line `\\ no newline` ends an output that does not end with one.
"""
import os
import re
import shlex
import shutil
import tempfile

from . import process

SECTION = re.compile(r"# (stdin|expect|expect-stderr|file: (.+))$")
NO_NEWLINE = "\\ no newline\n"


def blessing():
    return os.environ.get("TFL_BLESS", "") not in ("", "0")


class GoldenFile:
    def __init__(self, path):
        self.path = path
        self.error = None
        self.arguments, self.exit = [], 0
        self.sections = []  # (name, text), in the order of the file; the input is called "input"
        with open(path, encoding="utf-8", newline="") as f:
            lines = f.read().splitlines(keepends=True)
        if not lines or not lines[0].startswith("# test:"):
            self.error = "the first line must be `# test: ARGUMENTS`"
            return
        self.command_line = lines[0]
        self.arguments = shlex.split(lines[0][len("# test:"):])
        at = 1
        if at < len(lines) and lines[at].startswith("# exit:"):
            self.exit = int(lines[at][len("# exit:"):])
            at += 1
        name, begin = "input", at
        for i in range(at, len(lines)):
            marker = SECTION.match(lines[i].rstrip("\n"))
            if marker:
                self.sections.append((name, "".join(lines[begin:i])))
                name, begin = marker.group(1), i + 1
        self.sections.append((name, "".join(lines[begin:])))

    def section(self, name):
        return next((text for n, text in self.sections if n == name), None)

    def has_input(self):
        return bool(self.section("input")) or self.section("stdin") is None

    def written(self, code, out, err):
        """The file's text with these results."""
        text = self.command_line if self.command_line.endswith("\n") else self.command_line + "\n"
        if code != 0:
            text += f"# exit: {code}\n"
        for name, content in self.sections:
            if name == "input":
                text += content
            elif not name.startswith("expect"):
                text += f"# {name}\n{content}"
        if text and not text.endswith("\n"):
            text += "\n"
        if out or not err:
            text += "# expect\n" + out
        if err:
            text += "# expect-stderr\n" + err
        return text


def marked(data, folder):
    text = process.text(data).replace(folder + "/", "")
    return text + "\n" + NO_NEWLINE if text and not text.endswith("\n") else text


def run(path, tfl, context):
    """Returns None when the test passes, or why not."""
    golden = GoldenFile(path)
    if golden.error:
        return golden.error
    folder = tempfile.mkdtemp(dir=context.scratch)
    try:
        file_name = os.path.splitext(os.path.basename(path))[0] + ".tfl"
        inputs = [(file_name, golden.section("input"))] if golden.has_input() else []
        inputs += [(n[len("file: "):], t) for n, t in golden.sections if n.startswith("file: ")]
        for name, content in inputs:
            target = os.path.join(folder, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "w", encoding="utf-8", newline="") as f:
                f.write(content)
        arguments = [a.replace("{file}", file_name) for a in golden.arguments]
        if golden.has_input() and arguments == golden.arguments:
            arguments.append(file_name)
        timeout = 60 * context.patience
        program = tfl
        if arguments and arguments[0] == "opt":
            program, arguments = os.path.join(os.path.dirname(tfl), "tfl-opt"), arguments[1:]
        outcome = process.run([program, *arguments], folder, context.scratch, timeout, (golden.section("stdin") or "").encode())
        out, err = marked(outcome.out, folder), marked(outcome.err, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if outcome.code is None or outcome.code < 0:
        return process.status(outcome, timeout) + "\n" + process.tail(outcome.err)
    if context.bless:
        new = golden.written(outcome.code, out, err)
        with open(path, "w", encoding="utf-8", newline="") as f:
            f.write(new)
        return None
    problems = []
    if outcome.code != golden.exit:
        problems.append(f"exit status {outcome.code}, expected {golden.exit}")
    for name, got in (("expect", out), ("expect-stderr", err)):
        want = golden.section(name) or ""
        if want != got:
            problems.append(f"{name}:\n" + process.difference(want, got))
    if not problems:
        return None
    short = os.path.splitext(os.path.relpath(path, os.path.join(context.root, "tests")))[0]
    return "\n".join(problems) + f"\nif this is right: TFL_BLESS=1 ./dev test -k {short}"
