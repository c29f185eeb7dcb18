"""Runs a program under test in a clean environment, with a time limit."""
import difflib
import os
import signal
import subprocess


class Outcome:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err  # code is None when the time limit ended it


def environment(scratch):
    """The caller's environment without what could change the output; GPUs are hidden unless the caller says which."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("TFL_") and k not in ("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PYTHONPATH")}
    env.update(TFL_GPU=os.environ.get("TFL_GPU", "off"), LC_ALL="C.UTF-8", COLUMNS="80", TERM="dumb", XDG_CACHE_HOME=os.path.join(scratch, "cache"))
    return env


def run(command, cwd, scratch, timeout, stdin=b""):
    process = subprocess.Popen(command, cwd=cwd, env=environment(scratch), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = process.communicate(stdin, timeout=timeout)
        return Outcome(process.returncode, out, err)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return Outcome(None, out, err)


def status(outcome, timeout):
    if outcome.code is None:
        return f"no answer after {timeout:g} s"
    return f"signal {-outcome.code}" if outcome.code < 0 else f"exit status {outcome.code}"


def text(data):
    return data.decode("utf-8", "backslashreplace")


def tail(data, lines=12):
    return "\n".join(text(data).splitlines()[-lines:])


def difference(want, got, limit=60):
    """A unified diff of two texts, cut after some lines."""
    lines = list(difflib.unified_diff(want.splitlines(), got.splitlines(), "expected", "got", lineterm="", n=2))
    if not lines:
        lines = ["they differ in the end of the last line only"]
    cut = [line[:300] for line in lines[:limit]]
    return "\n".join(cut + ([f"... {len(lines) - limit} more lines"] if len(lines) > limit else []))
