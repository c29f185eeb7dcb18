#!/usr/bin/env python3
"""`tfl debug` and breakpoint(): a session at the prompt, and one of an editor that speaks the debug adapter protocol.

  debugger.py --tfl build/tfl
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

failed = []

SCRIPT = '''import tensorflow as tf


def scale(x, by):
    y = x * by
    return y


@tf.function
def norm(x):
    total = tf.reduce_sum(x * x)
    result = x / tf.sqrt(total)
    return result


values = []
for i in range(4):
    values.append(scale(i, 10))
print("values", values)
out = norm(tf.constant([3.0, 4.0]))
print("norm", out.numpy().tolist())
'''

TRACED = '''import tensorflow as tf


@tf.function
def f(x):
    y = x + 1.0
    breakpoint()
    return y * 2.0


print(f(tf.constant(3.0)).numpy())
'''


def expect(what, good, told=""):
    if not good:
        failed.append(what)
        print(f"FAILED {what}: {told!r}")


def prompt(tfl, folder):
    def run(words, typed, code=0):
        done = subprocess.run([tfl, *words], input=typed, cwd=folder, capture_output=True, text=True, timeout=60)
        expect(f"exit status of {words} {typed!r}", done.returncode == code, (done.returncode, done.stdout, done.stderr))
        return done.stdout + done.stderr

    said = run(["debug", "-b", "5", "a.tfl"], "p x, by\nn\ny\nw\nu\nlocals\nb norm\nb\ncl 1\nc\ns\np x * 2\nx = x + 0.0\nr\nc\n")
    for text in ("run eagerly while a script is debugged", "> a.tfl(5)scale()", "-> y = x * by", "(tfl) (0, 10)", "(tfl) > a.tfl(6)scale()", "(tfl) 0\n",
                 "a.tfl(18)<module>()", "Breakpoint 2 at a.tfl:11", "> a.tfl(11)norm()", "-> total = tf.reduce_sum(x * x)", "> a.tfl(12)norm()",
                 "values [0, 10, 20, 30]", "numpy=array([6., 8.], dtype=float32)", "norm [0.6000000238418579, 0.800000011920929]"):
        expect(f"debug: {text!r}", text in said, said)
    said = run(["debug", "a.tfl"], "b 6, x == 2\nc\np y\ny = 5\ntbreak 99\nb nowhere\nwhat + 1\nc\n")
    for text in ("> a.tfl(1)<module>()", "Breakpoint 1 at a.tfl:6", "> a.tfl(6)scale()", "(tfl) 20", "values [0, 10, 5, 30]", "there is no statement at a.tfl:99", "name 'nowhere' is not defined",
                 "*** NameError"):
        expect(f"a condition: {text!r}", text in said, said)
    said = run(["debug", "a.tfl"], "q\n", 1)
    expect("quit", "values" not in said, said)
    said = run(["run", "traced.tfl"], "p y\nn\nc\n")
    for text in ("breakpoint() in the traced function f: this call of it runs eagerly", "> traced.tfl(7)f()", "numpy=4.0", "> traced.tfl(8)f()", "8.0\n"):
        expect(f"breakpoint(): {text!r}", text in said, said)
    run(["debug", "nowhere.tfl"], "", 2)
    run(["debug", "-b", "99", "a.tfl"], "", 2)
    with open(os.path.join(folder, "bad.tfl"), "w") as f:
        f.write("x = (\n")
    expect("a file with errors", "was never closed" in run(["debug", "bad.tfl"], "", 3))


class Editor:
    def __init__(self, tfl, folder):
        self.server = subprocess.Popen([tfl, "debug", "--dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder)
        self.seq, self.events, self.output = 0, [], ""

    def receive(self):
        length = 0
        while True:
            line = self.server.stdout.readline()
            if not line:
                raise EOFError("the debugger has ended")
            if line == b"\r\n":
                break
            length = int(line.split(b":")[1])
        message = json.loads(self.server.stdout.read(length))
        if message["type"] == "event":
            if message["event"] == "output":
                self.output += message["body"]["output"]
            else:
                self.events.append(message)
        return message

    def ask(self, command, good=True, **arguments):
        self.seq += 1
        text = json.dumps({"seq": self.seq, "type": "request", "command": command, "arguments": arguments}).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.server.stdin.flush()
        while True:
            message = self.receive()
            if message["type"] == "response" and message["request_seq"] == self.seq:
                expect(f"{command} {arguments}", message["success"] == good, message)
                return message.get("body") or {}

    def wait(self, event):
        while True:
            for e in self.events:
                if e["event"] == event:
                    self.events.remove(e)
                    return e.get("body") or {}
            self.receive()

    def frames(self):
        return [(f["name"], f["line"]) for f in self.ask("stackTrace", threadId=1)["stackFrames"]]

    def variables(self, reference):
        return {v["name"]: v for v in self.ask("variables", variablesReference=reference)["variables"]}

    def locals(self, frame=1):
        return self.variables(self.ask("scopes", frameId=frame)["scopes"][0]["variablesReference"])


def adapter(tfl, folder):
    path = os.path.join(folder, "a.tfl")
    e = Editor(tfl, folder)
    can = e.ask("initialize", adapterID="tfl")
    expect("capabilities", can["supportsConditionalBreakpoints"] and can["supportsLogPoints"], can)
    e.wait("initialized")
    e.ask("launch", good=False, program="/nowhere.tfl")
    e.ask("launch", program=path)
    got = e.ask("setBreakpoints", source={"path": path}, breakpoints=[{"line": 6, "condition": "x == 2"}, {"line": 11}, {"line": 18, "logMessage": "i is {i}"}, {"line": 99}])["breakpoints"]
    expect("breakpoints", [(b["verified"], b["line"]) for b in got] == [(True, 6), (True, 11), (True, 18), (False, 99)], got)
    e.ask("configurationDone")
    expect("a condition", e.wait("stopped")["reason"] == "breakpoint")
    expect("frames", e.frames() == [("scale", 6), ("<module>", 18)], e.frames())
    found = e.locals()
    expect("locals", {n: v["value"] for n, v in found.items()} == {"x": "2", "by": "10", "y": "20"}, found)
    expect("names of an outer frame", e.locals(2)["values"]["value"] == "[0, 10]")
    expect("evaluate", e.ask("evaluate", expression="y + by", frameId=1)["result"] == "30")
    e.ask("evaluate", good=False, expression="nothing_of_that_name", frameId=1)
    scope = e.ask("scopes", frameId=1)["scopes"][0]["variablesReference"]
    expect("set a variable", e.ask("setVariable", variablesReference=scope, name="y", value="7")["value"] == "7")
    e.ask("next", threadId=1)
    e.wait("stopped")
    expect("over the return", e.frames()[0] == ("<module>", 18) or e.frames()[0][0] == "<module>", e.frames())
    e.ask("continue", threadId=1)
    e.wait("stopped")
    expect("into a traced function", e.frames()[0] == ("norm", 11), e.frames())
    e.ask("next", threadId=1)
    e.wait("stopped")
    found = e.locals()
    expect("a tensor", found["total"]["value"].startswith("tf.Tensor float32[] 25.0"), found["total"])
    x = e.variables(found["x"]["variablesReference"])
    expect("its parts", set(x) >= {"dtype", "shape", "[0]", "[1]"} and "3.0" in x["[0]"]["value"], x)
    targets = e.ask("completions", frameId=1, text="tot", column=4)["targets"]
    expect("completion", "total" in [t["label"] for t in targets], targets)
    e.ask("stepOut", threadId=1)
    e.wait("stopped")
    expect("out of it", e.frames()[0][0] == "<module>", e.frames())
    e.ask("continue", threadId=1)
    expect("the exit code", e.wait("exited")["exitCode"] == 0)
    e.wait("terminated")
    expect("output", "values [0, 10, 7, 30]" in e.output and "norm [0.6" in e.output and "i is 3" in e.output, e.output)
    e.ask("disconnect")
    expect("the end", e.server.wait(20) == 0)

    e = Editor(tfl, folder)
    with open(os.path.join(folder, "loop.tfl"), "w") as f:
        f.write("n = 0\nprint('begun', flush=True)\nwhile n >= 0:\n    n = n + 1\n")
    e.ask("initialize")
    e.ask("launch", program=os.path.join(folder, "loop.tfl"), stopOnEntry=True)
    e.ask("configurationDone")
    expect("stop on entry", e.wait("stopped")["reason"] == "step")
    e.ask("continue", threadId=1)
    e.ask("pause", threadId=1)
    expect("pause", e.wait("stopped")["reason"] == "pause")
    expect("in the loop", int(e.ask("evaluate", expression="n", frameId=1)["result"]) >= 0)
    e.ask("disconnect")
    expect("the end of a loop", e.server.wait(20) == 0)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tfl", required=True)
    tfl = os.path.abspath(p.parse_args().tfl)
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        for name, text in (("a.tfl", SCRIPT), ("traced.tfl", TRACED)):
            with open(os.path.join(folder, name), "w") as f:
                f.write(text)
        prompt(tfl, folder)
        adapter(tfl, folder)
    print(f"{len(failed)} wrong")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
