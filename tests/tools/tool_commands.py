#!/usr/bin/env python3
"""The commands that are TFL source: explain CODE, new, watch, doc, bench and pictures of graphs, called as users call them.

  tool_commands.py --tfl build/tfl
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

failed = []


def expect(what, good, told=""):
    if not good:
        failed.append(what)
        print(f"FAILED {what}: {told!r}")


class Program:
    def __init__(self, tfl, folder):
        self.tfl, self.folder = tfl, folder

    def __call__(self, *words, folder="", code=0):
        done = subprocess.run([self.tfl, *words], cwd=os.path.join(self.folder, folder), capture_output=True, text=True, timeout=120)
        expect(f"exit status of {' '.join(words)}", done.returncode == code, (done.returncode, done.stdout, done.stderr))
        return done.stdout + done.stderr

    def write(self, path, text):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)


def explanations(tfl):
    """Each diagnostic of the registry has a text; its mistake gives it, and its mend gives nothing."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "../../frontend/syntax/diagnostics/diagnostics.def")) as f:
        rows = re.findall(r'^TFL_DIAGNOSTIC\((\w+), \w+, "((?:[^"\\]|\\.)*)"', f.read(), re.M)
    texts = {}
    for name in ("_diagnostics_syntax", "_diagnostics_names"):
        with open(os.path.join(here, f"../../stdlib/tools/{name}.tfl")) as f:
            names = {}
            exec(f.read(), names)
            texts.update(names["TEXTS"])
    expect("a text for every diagnostic and for nothing else", {n for n, _ in rows} == set(texts), {n for n, _ in rows} ^ set(texts))
    told = 0
    for name, message in rows:
        text, wrong, right = texts.get(name, ("", None, None))
        expect(f"{name} has a text", text.endswith("."), text)
        if wrong is None:
            continue
        told += 1
        for kind, source in (("mistake", wrong), ("mend", right)):
            tfl.write("x.tfl", source)
            done = subprocess.run([tfl.tfl, "check", "--color=always", "x.tfl"], cwd=tfl.folder, capture_output=True, text=True, timeout=60)
            names = re.findall(r"(?:error|warning)\[(\w+)\]:", done.stderr)
            expect(f"{kind} of {name}", name in names if kind == "mistake" else not names, names)
    expect("nearly all have examples", told >= len(rows) - 5, told)
    page = tfl("explain", "NeverClosed")
    expect("a page", "The mistake:" in page and "    x = [1, 2\n" in page and "The mend:" in page, page)
    number = [n for n, _ in rows].index("NeverClosed") + 1
    for other in ("never-closed", str(number), "'(' was never closed", "x.tfl:1:2: error[NeverClosed]: '[' was never closed"):
        expect(f"explain {other}", tfl("explain", other) == page, other)
    expect("a name that is none", "did you mean NeverClosed?" in tfl("explain", "NeverClose", code=2))


def projects(tfl):
    tfl("new", "two-moons")
    expect("parts", {"two_moons.tfl", "test_two_moons.tfl", "data", "Makefile", ".github"} <= set(os.listdir(f"{tfl.folder}/two-moons")))
    expect("its tests", "1 passed" in tfl("test", folder="two-moons"))
    tfl("fmt", "--check", ".", folder="two-moons")
    tfl("check", ".", folder="two-moons")
    expect("it runs", "y = 1.940 x + 1.090" in tfl("two_moons.tfl", folder="two-moons"))
    expect("it is there", "there is a 'two-moons' already" in tfl("new", "two-moons", code=2))
    expect("no name", "cannot name a script" in tfl("new", "2 moons", code=2))


def watching(tfl):
    tfl.write("watched/helper.tfl", "x = 1\n")
    tfl.write("watched/main.tfl", "import helper\nprint('x is', helper.x, flush=True)\n")
    tfl.write("watched/data.txt", "1\n")
    log = os.path.join(tfl.folder, "log")
    with open(log, "w") as out:
        process = subprocess.Popen([tfl.tfl, "watch", "watched/main.tfl"], cwd=tfl.folder, stdout=out, stderr=subprocess.STDOUT)

    def wait_for(text, count=1):
        for _ in range(600):
            with open(log) as f:
                if f.read().count(text) >= count:
                    return
            time.sleep(0.05)
        with open(log) as f:
            expect(f"watch says {text!r}", False, f.read())

    try:
        wait_for("waiting for changes")
        tfl.write("watched/helper.tfl", "x = 22\n")
        wait_for("x is 22")
        wait_for("waiting for changes", 2)
        tfl.write("watched/data.txt", "1\n2\n")
        wait_for("x is 22", 2)
        wait_for("waiting for changes", 3)
        tfl.write("watched/main.tfl", "x = (\n")
        wait_for("was never closed")
        wait_for("exit status 3")
    finally:
        process.send_signal(2)
        expect("Ctrl-C leaves", process.wait(30) in (0, 130), process.returncode)
    expect("no file", "there is no file" in tfl("watch", "nothing.tfl", code=2))


def pages(tfl):
    tfl.write("lib/shapes.tfl", '"""Shapes & sizes."""\n\nraise ValueError("this runs nowhere")\n\n\nclass Box:\n    """A box of `n` sides."""\n\n'
              "    def __init__(self, n):\n        self.n = n\n\n    def area(self, scale=1.0, *, unit: str = \"a:b\"):\n"
              '        """The area.\n\n        >>> Box(2).area()\n        4\n        """\n        return self.n\n\n\n'
              "def double(\n    x,  # a comment: with a colon\n    y=(1, 2),\n) -> int:\n    '''Twice <x>.'''\n    return x\n\n\ndef _hidden():\n    pass\n")
    tfl.write("lib/sub/__init__.tfl", "def deep():\n    pass\n")
    tfl.write("lib/test_shapes.tfl", "def test_nothing():\n    pass\n")
    tfl("doc", "lib", "-o", "out")
    expect("pages", sorted(os.listdir(f"{tfl.folder}/out")) == ["index.html", "shapes.html", "sub.html"], os.listdir(f"{tfl.folder}/out"))
    with open(f"{tfl.folder}/out/shapes.html") as f:
        page = f.read()
    for wanted in ("Shapes &amp; sizes.", "A box of <code>n</code> sides.", 'id="Box.area"', "def area(self, scale=1.0, *, unit: str = &quot;a:b&quot;)",
                   "<pre>&gt;&gt;&gt; Box(2).area()\n4</pre>", "Twice &lt;x&gt;.", "def double(x, y=(1, 2)) -&gt; int"):
        expect(f"page has {wanted}", wanted in page, page)
    expect("what is hidden", "_hidden" not in page)
    expect("no scripts", "there are no scripts" in tfl("doc", "out", code=2))
    said = tfl("doc", "--library", "-o", "library")
    count = int(re.search(r"(\d+) names", said)[1])
    expect("all names have their place", count > 4000, said)
    with open(f"{tfl.folder}/library/reference/tf.nn.md", encoding="utf-8") as f:
        page = f.read()
    expect("a function's section", "## tf.nn.relu\n\n```python\nrelu(features, name=None)\n```\n" in page and "```pycon\n>>> tf.nn.relu([-1., 0., 2.])" in page, page[:2000])
    with open(f"{tfl.folder}/library/errors.md", encoding="utf-8") as f:
        errors = f.read()
    expect("an error's section", "## ExpectedColon\n" in errors and "```text\nif True\n    x = 1\n```" in errors, errors[:2000])


def benches(tfl):
    tfl.write("benches/bench_sum.tfl", "import tensorflow as tf\n\nx = tf.ones([100])\n\n\ndef bench_sum():\n    return tf.reduce_sum(x)\n\n\ndef bench_other():\n    return 1\n")
    told = tfl("bench", "benches", "-k", "sum", "--seconds", "0.01", "--repeat", "3", "--save", "times.json")
    expect("times", re.search(r"bench_sum.tfl::bench_sum +best +[\d.]+ [mµn]?s +median", told) and "bench_other" not in told, told)
    with open(f"{tfl.folder}/times.json") as f:
        saved = json.load(f)
    expect("saved", len(saved) == 1 and saved["benches/bench_sum.tfl::bench_sum"]["best"] > 0, saved)
    told = tfl("bench", "benches", "--seconds", "0.01", "--repeat", "1", "--compare", "times.json")
    expect("compared", len(re.findall(r"[\d.]+ of before", told)) == 1 and "bench_other" in told, told)
    tfl("bench", "lib", code=5)
    told = tfl("bench", "benches", "--seconds", "0.002", "--repeat", "6", "--against", tfl.tfl)
    expect("in turns with another build", len(re.findall(r"bench_sum\.tfl::bench_\w+ .*[\d.]+ \([\d.]+ to [\d.]+\) ", told)) >= 1 and "6 pairs" in told, told)
    expect("no such build", "nowhere" in tfl("bench", "benches", "--against", "/nowhere/tfl", code=3))


def coverage(tfl):
    """Which lines run: branches not taken, functions not called, traced functions, modules that tests import, elif."""
    tfl.write("cover/part.tfl", '"""Doc."""\nimport tensorflow as tf\n\n\ndef sign(x):\n    if x > 0:\n        return 1\n    elif x == 0:\n        return 0\n    else:\n        return -1\n\n\n'
              "@tf.function\ndef traced(x):\n    y = x\n    if tf.reduce_sum(x) > 0:\n        y = x * 2\n    for _ in range(2):\n        y = y + 1\n    return y\n\n\ndef never():\n    global z\n    z = 1\n")
    tfl.write("cover/test_part.tfl", "import tensorflow as tf\n\nfrom part import sign, traced\n\n\ndef test_sign():\n    assert sign(3) == 1\n    assert sign(0) == 0\n\n\n"
              "def test_traced():\n    assert traced(tf.ones([1])).shape == (1,)\n")
    for mode in ("both", "staged", "eager"):
        for _ in range(2):  # the second time all is in the caches, and they are not used
            told = tfl("test", "--coverage", "--mode", mode, "--coverage-html", "pages", "--coverage-lcov", "c.info", folder="cover")
            # What a tensor decides in a graph goes both ways there, and none that could be counted.
            row = r"16 +2 +4 +1 +85%  11, 26, 8 never false" if mode != "eager" else r"16 +2 +8 +2 +83%  11, 26, 8 never false, 17 never false"
            expect(f"coverage {mode}", re.search(rf"\npart\.tfl +{row}\n", told), told)
            expect(f"coverage of tests {mode}", re.search(r"test_part\.tfl +7 +0 +0 +0 +100%\n", told), told)
    with open(f"{tfl.folder}/cover/c.info") as f:
        info = f.read()
    expect("lcov", "DA:11,0\n" in info and "DA:9,1\n" in info and "LF:16\nLH:14\nend_of_record" in info and "BRDA:8,0,0,1\nBRDA:8,0,1,0\n" in info, info)
    with open(f"{tfl.folder}/cover/pages/part.tfl.html") as f:
        page = f.read()
    expect("page", '<span class="missed">   11          return -1</span>' in page and '<span class="ran">    9 ' in page and "# never false</i>" in page, page)
    expect("without it", "coverage" not in tfl("test", folder="cover"))


PICTURED = '''import tensorflow as tf


@tf.function
def inner(x):
    return tf.nn.relu(x) + 1.0


@tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([])])
def f(x, y):
    s = tf.reduce_sum(x * x)
    if s > 1.0:
        x = x / tf.sqrt(s)
    else:
        for i in tf.range(10):
            x = x + tf.cast(i, tf.float32) * y
            if tf.reduce_max(x) > 5.0:
                break
    return inner(x), s
'''


def overlaps(boxes):
    """Pairs of boxes of which neither holds the other and that share a place."""
    def inside(a, b):
        return a[0] >= b[0] and a[1] >= b[1] and a[0] + a[2] <= b[0] + b[2] and a[1] + a[3] <= b[1] + b[3]
    return [(a, b) for i, a in enumerate(boxes) for b in boxes[:i]
            if a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3] and not inside(a, b) and not inside(b, a)]


def pictures(tfl):
    tfl.write("pictured.tfl", PICTURED)
    for words in (["--svg"], ["--svg", "--passes=cse,dce"]):
        text = tfl("dump", *words, "pictured.tfl::f")
        root = xml.etree.ElementTree.fromstring(text)
        size = (0.0, 0.0, float(root.get("width")), float(root.get("height")))
        boxes = [tuple(float(e.get(k)) for k in ("x", "y", "width", "height")) for e in root.iter() if e.tag.endswith("rect") and e.get("x")]
        labels = [e.text for e in root.iter() if e.tag.endswith("text")]
        expect("labels", {"f", "x", "reduce_sum", "sqrt", "while_loop", "then of cond", "else of cond", "inner", "result 1"} <= set(labels), labels)
        expect("boxes lie in the picture", all(x >= 0 and y >= 0 and x + w <= size[2] and y + h <= size[3] for x, y, w, h in boxes), (size, boxes))
        expect("boxes lie apart", len(boxes) > 30 and not overlaps(boxes), overlaps(boxes))
        expect("lines", text.count("marker-end") > 25 and text.count('class="part"') >= 4, text)


SHAPES = """import tensorflow as tf
from tensorflow import keras

inputs = keras.Input((4,))
h = keras.layers.Dense(3)(inputs)
both = keras.layers.Add()([h, keras.Input((5,))])
print("not run")


def f(x: tf.TensorSpec([2, 3]), y: tf.TensorSpec([4, 5])):
    return x @ y


class Net(tf.Module):
    def __init__(self):
        self.w = tf.Variable(tf.ones([3, 2]))

    @tf.function(input_signature=[tf.TensorSpec([None, 4])])
    def __call__(self, x):
        return tf.matmul(x, self.w)


net = Net()


def g(x: "f32[n, 784]", w: "f32[784, 10]"):
    return tf.matmul(x, w)


@tf.function(input_signature=[tf.TensorSpec([3])])
def expected(x):
    return tf.reshape(x, [2, 2])


try:
    expected(tf.zeros([3]))
except ValueError as e:
    open("written.txt", "w").write(str(e))
"""


def shapes(tfl):
    """Shapes that do not fit, found without running: by annotations, signatures and Keras's inputs; and none where an error is expected."""
    tfl.write("shapes/net.tfl", SHAPES)
    told = tfl("check", "--shapes", "net.tfl", folder="shapes", code=3)
    lines = re.findall(r"net\.tfl:(\d+):(\d+): error\[ShapesDoNotFit\]: (.*)", told)
    expect("places", [(int(a), int(b)) for a, b, _ in lines] == [(6, 1), (11, 5), (20, 9)], told)
    expect("what they are", "In[0]: [2,3], In[1]: [4,5]" in told and "where: x is float32[2, 3], y is float32[4, 5]" in told and "not run" not in told, told)
    told = tfl("shapes", "net.tfl", folder="shapes", code=3)
    expect("types", "net.tfl:27: tf.matmul(x, w): f32[n,10]" in told, told)
    tfl.write("shapes/loop.tfl", "import tensorflow as tf\nwhile True:\n    pass\n\n\n@tf.function(input_signature=[tf.TensorSpec([3])])\ndef f(x):\n    return x + [1.0, 2.0]\n")
    expect("a script that never ends", "loop.tfl:8" in tfl("check", "--shapes", "loop.tfl", folder="shapes", code=3))
    expect("nothing is written", sorted(os.listdir(f"{tfl.folder}/shapes")) == ["loop.tfl", "net.tfl"])


def graphs(tfl):
    """tfl trace: a picture with the time of each operation."""
    tfl.write("graph.tfl", "import tensorflow as tf\nW = tf.Variable(tf.ones([8, 4]))\n\n\n@tf.function(input_signature=[tf.TensorSpec([None, 8])])\ndef f(x):\n    return tf.nn.relu(tf.matmul(x, W))\n\n\n"
              "def g(x):\n    return x + 1.0\n")
    told = tfl("trace", "graph.tfl::f", "-o", "f.svg")
    expect("times", re.search(r"f\.svg: f: .* one after the other, .* as one compiled function", told) and "MatMul" in told and "Relu" in told, told)
    with open(f"{tfl.folder}/f.svg") as f:
        picture = f.read()
    expect("a picture", picture.startswith("<svg") and "relu" in picture and "f32" not in told and "µs" in picture, picture[:200])
    expect("a signature", "<svg" in tfl("trace", "graph.tfl::g", "--signature", "f32[3]", "-o", "-", "--no-times"))
    tfl("trace", "graph.tfl::g", code=2)
    tfl("trace", "graph.tfl::nothing", code=2)
    tfl("trace", "graph.tfl", code=2)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--tfl", default="build/tfl")
    with tempfile.TemporaryDirectory() as folder:
        tfl = Program(os.path.abspath(p.parse_args().tfl), folder)
        for part in (explanations, projects, watching, pages, benches, coverage, pictures, shapes, graphs):
            part(tfl)
    print(f"tool commands: {len(failed)} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
