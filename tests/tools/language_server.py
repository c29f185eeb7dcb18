#!/usr/bin/env python3
"""`tfl lsp`, driven as an editor does: each answer to a request over a small text, then random edits of a large one, which must neither end
the server nor make its text differ from the editor's.

  language_server.py --tfl build/tfl [--edits N] [--seed N] [--times]
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

TEXT = '''import numpy as np
import tensorflow as tf
from tensorflow import keras


class Net:
    """A net."""

    depth = 3

    def run(self, x, scale=2.0):
        """Runs it."""
        total = tf.nn.relu(x) * scale
        return total


def double(value):
    return value * 2


net = Net()
model = keras.Sequential()
result = double(value=3)
total = [result for result in range(3)]
print(tf.reduce_sum(result), np.sort([2, 1]))
'''


class Editor:
    def __init__(self, tfl, folder):
        self.server = subprocess.Popen([tfl, "lsp", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder,
                                       env={**os.environ, "XDG_DATA_HOME": os.path.join(folder, ".data")})
        self.number = 0
        self.diagnostics = {}
        self.versions = {}  # of the texts as they were sent last

    def send(self, method, params, request=False):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if request:
            self.number += 1
            message["id"] = self.number
        data = json.dumps(message).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.server.stdin.flush()

    def receive(self):
        length = 0
        while True:
            line = self.server.stdout.readline()
            if not line:
                raise EOFError("the server has ended")
            if line == b"\r\n":
                break
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        message = json.loads(self.server.stdout.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]
        return message

    def ask(self, method, params):
        self.send(method, params, True)
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                return message

    def start(self, folder):
        return self.ask("initialize", {"rootUri": "file://" + folder, "capabilities": {}})

    def open(self, uri, text):
        self.versions[uri] = 1
        self.send("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "tfl", "version": 1, "text": text}})

    def replace(self, uri, text):
        version = self.versions[uri] = self.versions[uri] + 1
        self.send("textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]})

    def wait(self, uri):
        self.diagnostics.pop(uri, None)
        while uri not in self.diagnostics or self.diagnostics[uri]["version"] != self.versions[uri]:
            self.receive()
        return self.diagnostics[uri]["diagnostics"]

    def stop(self):
        self.ask("shutdown", None)
        self.send("exit", None)
        return self.server.wait(20)


def answers(tfl):
    problems = []

    def expect(what, right, got=None):
        if not right:
            problems.append(f"{what}: {json.dumps(got)[:300]}")

    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "other.tfl"), "w") as f:
            f.write("def far_away():\n    pass\n")
        editor = Editor(tfl, folder)
        capabilities = editor.start(folder)["result"]["capabilities"]
        expect("capabilities", capabilities["hoverProvider"] and capabilities["textDocumentSync"]["change"] == 2)
        uri = f"file://{folder}/a.tfl"
        lines = TEXT.split("\n")

        def at(needle, offset=0, nth=0):
            """The place of the nth occurrence of a text."""
            found = [(i, m.start()) for i, line in enumerate(lines) for m in re.finditer(re.escape(needle), line)]
            return {"textDocument": {"uri": uri}, "position": {"line": found[nth][0], "character": found[nth][1] + offset}}

        def ask(method, params):
            message = editor.ask("textDocument/" + method, params)
            if "error" in message:
                problems.append(f"{method}: {message['error']}")
            return message.get("result")

        editor.open(uri, TEXT)
        expect("no diagnostics", editor.wait(uri) == [])
        for needle, offset, words in (("relu(x)", 1, ["relu(", "Computes"]), ("np.sort", 4, ["sort("]), ("double(value=3)", 1, ["def double(value)"]),
                                      ("Net()", 1, ["class Net", "A net."]), ("keras.Sequential", 8, ["class Sequential"]), ("print", 1, ["print("])):
            got = ask("hover", at(needle, offset))
            expect(f"hover over {needle}", got and all(w in got["contents"]["value"] for w in words[:1]), got)
        got = ask("definition", at("double(value=3)", 1))
        expect("definition of double", got and got[0]["range"]["start"] == {"line": 16, "character": 4}, got)
        got = ask("definition", at("Sequential()", 1))
        expect("definition in the library", got and os.path.exists(got[0]["uri"][7:]), got)
        got = ask("references", {**at("result = ", 1), "context": {"includeDeclaration": True}})
        expect("references know scopes", got and len(got) == 2, got)
        got = ask("references", {**at("total = tf", 1), "context": {"includeDeclaration": False}})
        expect("references without the definition", got and len(got) == 1, got)
        got = ask("rename", {**at("def double", 5), "newName": "twice"})
        expect("rename", got and len(got["changes"][uri]) == 2 and got["changes"][uri][0]["newText"] == "twice", got)
        got = editor.ask("textDocument/rename", {**at("def double", 5), "newName": "net"})
        expect("rename to a name that is there", "error" in got, got)
        got = editor.ask("textDocument/rename", {**at("def double", 5), "newName": "if"})
        expect("rename to a keyword", "error" in got, got)
        got = editor.ask("textDocument/rename", {**at("print", 1), "newName": "show"})
        expect("rename of a built-in", "error" in got, got)
        got = ask("documentSymbol", {"textDocument": {"uri": uri}})
        expect("symbols", [s["name"] for s in got][:2] == ["Net", "double"] and [c["name"] for c in got[0]["children"]] == ["depth", "run"], got)
        got = editor.ask("workspace/symbol", {"query": "far"})["result"]
        expect("symbols of other files", [s["name"] for s in got] == ["far_away"], got)
        got = ask("foldingRange", {"textDocument": {"uri": uri}})
        expect("folds", {"startLine": 16, "endLine": 17} in got, got)
        got = ask("semanticTokens/full", {"textDocument": {"uri": uri}})
        expect("tokens", got and len(got["data"]) % 5 == 0 and len(got["data"]) > 50 and min(got["data"]) >= 0, got)
        got = ask("signatureHelp", at("tf.reduce_sum(result)", 14))
        expect("signature", got and got["signatures"][0]["label"].startswith("reduce_sum("), got)
        got = ask("signatureHelp", at("double(value=3)", 13))
        expect("signature of an own function", got and got["signatures"][0]["label"] == "double(value)", got)

        def completed(text, at_end):
            """Names that are offered behind a text typed at the end."""
            editor.replace(uri, TEXT + text)
            line = len(lines) - 1 + text.count("\n")
            got = ask("completion", {"textDocument": {"uri": uri}, "position": {"line": line, "character": len(text.split("\n")[-1])}})
            return [i["label"] for i in got["items"]]

        for text, name in (("tf.reduce_", "reduce_sum"), ("x = tf.nn.", "relu"), ("model.", "fit"), ("model.fit(epo", "epochs="), ("dou", "double"), ("imp", "import"),
                           ("from tensorflow import ke", "keras"), ("import num", "numpy"), ("open('", "other.tfl"), ("pri", "print"), ("np.ze", "zeros"),
                           ("if tf.siz", "size"), ("double(val", "value="), ("x = [tf.math.si", "sin")):
            got = completed(text, True)
            expect(f"completion of {text!r}", name in got, got[:20])
        expect("nothing in a comment", completed("# tf.", True) == [])
        editor.replace(uri, TEXT + "x = tf.reduce_smu(1)\ny = (\nz = [1, 2\ndef f(:\n    pass\n")
        got = editor.wait(uri)
        expect("several errors at once", len(got) >= 2, got)
        editor.replace(uri, TEXT + "x = tf.reduce_smu([1.0])\n")
        got = editor.wait(uri)
        expect("a wrong name", len(got) == 1 and "reduce_sum" in got[0]["message"] and got[0]["range"]["start"]["line"] == len(lines) - 1, got)
        fixes = ask("codeAction", {"textDocument": {"uri": uri}, "range": got[0]["range"], "context": {"diagnostics": got}}) if got else []
        edit = fixes[0]["edit"]["changes"][uri][0] if fixes else {}
        expect("a fix", edit.get("newText") == "reduce_sum" and edit["range"]["start"]["character"] == 7, fixes)
        editor.replace(uri, "x=1\n")
        got = ask("formatting", {"textDocument": {"uri": uri}, "options": {"tabSize": 4, "insertSpaces": True}})
        expect("formatting", got and got[0]["newText"] == "x = 1\n", got)
        editor.replace(uri, "x=1\ny=2\n")
        got = ask("rangeFormatting", {"textDocument": {"uri": uri}, "range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 2}}, "options": {}})
        expect("formatting of lines", got and got[0]["newText"] == "x=1\ny = 2\n", got)
        editor.replace(uri, "s = '\U0001f600'; abc = 1\nprint(abc)\n")
        got = ask("references", {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 7}, "context": {"includeDeclaration": True}})
        expect("columns are UTF-16", sorted(r["range"]["start"]["character"] for r in got) == [6, 10], got)
        for message in (b"{", b"[]", b'{"jsonrpc": "2.0", "id": 9, "method": "nothing"}', b'{"jsonrpc": "2.0", "id": 10, "method": "textDocument/hover", "params": {}}'):
            editor.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(message) + message)
            editor.server.stdin.flush()
            got = editor.receive()
            while "method" in got:
                got = editor.receive()
            expect(f"{message!r} gets an error", "error" in got, got)
        expect("the end", editor.stop() == 0)
    return problems


def projects(tfl):
    """Names across files, and shapes."""
    problems = []

    def expect(what, right, got=None):
        if not right:
            problems.append(f"{what}: {json.dumps(got)[:400]}")

    files = {
        "lib/__init__.tfl": "",
        "lib/parts.tfl": "LIMIT = 3\n\n\ndef area(a, b):\n    return a * b\n\n\ndef twice(x):\n    return area(x, 2)\n",
        "main.tfl": "from lib.parts import area, twice as double\nimport lib.parts as p\n\nprint(area(1, 2), double(3), p.area(4, 5), p.LIMIT)\n",
        "other.tfl": "from main import area\n\n\ndef f(area):\n    return area\n\n\nprint(area(2, 2))\n",
        "net.tfl": "import tensorflow as tf\n\nW = tf.Variable(tf.zeros([784, 10]))\n\n\n@tf.function(input_signature=[tf.TensorSpec([None, 784], tf.float32)])\ndef forward(x):\n"
                   "    y = tf.matmul(x, W)\n    z = tf.nn.softmax(y)\n    return tf.argmax(z, axis=1)\n",
    }
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        for name, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "w") as f:
                f.write(text)
        editor = Editor(tfl, folder)
        editor.start(folder)
        uri = {name: f"file://{folder}/{name}" for name in files}

        def at(name, needle, offset=0):
            line = next(i for i, text in enumerate(files[name].split("\n")) if needle in text)
            return {"textDocument": {"uri": uri[name]}, "position": {"line": line, "character": files[name].split("\n")[line].index(needle) + offset}}

        def places(rows):
            return sorted((r["uri"].rsplit("/", 1)[-1], r["range"]["start"]["line"], r["range"]["start"]["character"]) for r in rows or [])

        editor.open(uri["main.tfl"], files["main.tfl"])
        editor.wait(uri["main.tfl"])
        everywhere = [("main.tfl", 0, 22), ("main.tfl", 3, 6), ("main.tfl", 3, 31), ("other.tfl", 0, 17), ("other.tfl", 7, 6), ("parts.tfl", 3, 4), ("parts.tfl", 8, 11)]
        for name, needle, offset in (("main.tfl", "area(1", 1), ("main.tfl", "p.area", 3), ("main.tfl", "area, twice", 1)):
            got = editor.ask("textDocument/references", {**at(name, needle, offset), "context": {"includeDeclaration": True}}).get("result")
            expect(f"references from {needle}", places(got) == everywhere, places(got))
        got = editor.ask("textDocument/definition", at("main.tfl", "double(3)", 1)).get("result")
        expect("definition behind an alias", places(got) == [("parts.tfl", 7, 4)], got)
        got = editor.ask("textDocument/definition", at("main.tfl", "p.LIMIT", 3)).get("result")
        expect("definition of an attribute of a module", places(got) == [("parts.tfl", 0, 0)], got)
        got = editor.ask("textDocument/rename", {**at("main.tfl", "area(1", 1), "newName": "surface"}).get("result")
        changed = sorted((u.rsplit("/", 1)[-1], len(e)) for u, e in (got or {"changes": {}})["changes"].items())
        expect("rename in all files", changed == [("main.tfl", 3), ("other.tfl", 2), ("parts.tfl", 2)], got)
        got = editor.ask("textDocument/rename", {**at("main.tfl", "twice as", 1), "newName": "two"}).get("result")
        changed = sorted((u.rsplit("/", 1)[-1], len(e)) for u, e in (got or {"changes": {}})["changes"].items())
        expect("rename behind an alias", changed == [("main.tfl", 1), ("parts.tfl", 1)], got)
        got = editor.ask("textDocument/rename", {**at("main.tfl", "area(1", 1), "newName": "twice"})
        expect("rename to a name of another file", "error" in got, got)
        got = editor.ask("workspace/symbol", {"query": "area"})["result"]
        expect("symbols of all files", [s["location"]["uri"] for s in got] == [uri["lib/parts.tfl"]], got)

        editor.open(uri["net.tfl"], files["net.tfl"])
        expect("no diagnostics", editor.wait(uri["net.tfl"]) == [])
        got = None
        for _ in range(200):  # shapes come when nobody types
            got = editor.ask("textDocument/inlayHint", {"textDocument": {"uri": uri["net.tfl"]}, "range": {"start": {"line": 0, "character": 0}, "end": {"line": 20, "character": 0}}}).get("result")
            if got:
                break
            time.sleep(0.4)
        expect("inlay hints", [(h["position"]["line"], h["position"]["character"], h["label"]) for h in got or []] == [(7, 5, ": f32[?,10]"), (8, 5, ": f32[?,10]")], got)
        got = editor.ask("textDocument/hover", at("net.tfl", "tf.argmax", 4)).get("result")
        expect("hover with a shape", got and "i64[?]" in got["contents"]["value"] and "argmax" in got["contents"]["value"], got)
        got = editor.ask("textDocument/hover", at("net.tfl", "softmax(y)", 8)).get("result")
        expect("hover over a name", got and "f32[?,10]" in got["contents"]["value"], got)
        editor.replace(uri["net.tfl"], files["net.tfl"].replace("[784, 10]", "[100, 10]"))
        editor.wait(uri["net.tfl"])
        got = editor.wait(uri["net.tfl"])
        expect("shapes that do not fit", len(got) == 1 and got[0]["code"] == "ShapesDoNotFit" and got[0]["range"]["start"]["line"] == 7 and "784" in got[0]["message"] and "100" in got[0]["message"], got)
        expect("the end", editor.stop() == 0)
    return problems


def apply(text, start, end, fresh):
    lines = text.split("\n")
    before = lines[start[0]][: start[1]]
    after = lines[end[0]][end[1]:]
    return "\n".join(lines[: start[0]] + [before + fresh + after] + lines[end[0] + 1:])


def edits(tfl, count, seed, times):
    """Random edits; after each one a request. The text is asked for at the end by formatting it."""
    rng = random.Random(seed)
    text = (TEXT + "\n") * 40
    text += "\n".join(f"def f{i}(a, b={i}):\n    c = tf.reduce_sum(a) + b\n    return c\n" for i in range(240))
    taken = []
    with tempfile.TemporaryDirectory() as folder:
        editor = Editor(tfl, folder)
        editor.start(folder)
        uri = f"file://{folder}/a.tfl"
        editor.open(uri, text)
        editor.wait(uri)
        words = ["(", ")", "[", "'", '"""', "\n", "    ", "def ", "class ", "tf.", "x", ":", "#", "=", ",", "lambda ", "return ", "\n\n", "for i in ", "@", "\\\n", "é", "if x:\n", "}"]
        for n in range(count):
            lines = text.split("\n")
            line = rng.randrange(len(lines))
            column = rng.randrange(len(lines[line]) + 1)
            end_line, end_column = line, column
            if rng.random() < 0.3:
                end_line = min(len(lines) - 1, line + rng.choice([0, 0, 0, 1, 2]))
                end_column = rng.randrange(len(lines[end_line]) + 1)
                if (end_line, end_column) < (line, column):
                    end_line, end_column = line, column
            fresh = rng.choice(words) if rng.random() < 0.8 else ""
            where = {"start": {"line": line, "character": column}, "end": {"line": end_line, "character": end_column}}
            begin = time.monotonic()
            editor.send("textDocument/didChange", {"textDocument": {"uri": uri, "version": n + 2}, "contentChanges": [{"range": where, "text": fresh}]})
            text = apply(text, (line, column), (end_line, end_column), fresh)
            method = rng.choice(["completion", "hover", "signatureHelp", "documentSymbol", "definition", "semanticTokens/full", "foldingRange"])
            place = {"line": min(line, text.count("\n")), "character": column}
            got = editor.ask("textDocument/" + method, {"textDocument": {"uri": uri}, "position": place, "context": {}})
            taken.append(time.monotonic() - begin)
            if "error" in got:
                return [f"edit {n} with seed {seed}: {method}: {got['error']}"]
        editor.replace(uri, "x=1\n")
        got = editor.ask("textDocument/formatting", {"textDocument": {"uri": uri}, "options": {}})
        problems = [] if got["result"] and got["result"][0]["newText"] == "x = 1\n" else [f"after {count} edits: {got}"]
        if editor.stop() != 0:
            problems.append("the server did not end well")
    if times:
        taken.sort()
        print(f"{text.count(chr(10))} lines: median {taken[len(taken) // 2] * 1000:.1f} ms, 99 %: {taken[len(taken) * 99 // 100] * 1000:.1f} ms")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tfl", required=True)
    parser.add_argument("--edits", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--times", action="store_true")
    options = parser.parse_args()
    problems = answers(options.tfl) + projects(options.tfl) + edits(options.tfl, options.edits, options.seed, options.times)
    for p in problems:
        print(p)
    print(f"{len(problems)} problems")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
