#!/usr/bin/env python3
"""`tfl kernel`, driven by jupyter_client as notebooks drive it: streams, values, pictures, errors, completion, interrupts; then notebooks made of cells
here, run by nbclient. Where these packages or libzmq are not there, nothing is tried.

  notebooks.py --tfl build/tfl
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

failed = []


def expect(what, good, told=""):
    if not good:
        failed.append(what)
        print(f"FAILED {what}: {str(told)[:600]!r}")


class Session:
    """A kernel and its client."""

    def __init__(self, manager_class, folder):
        self.manager = manager_class(kernel_name="tfl")
        self.manager.start_kernel(cwd=folder)
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def run(self, code, **options):
        """(answer, {"stdout", "stderr", "data": [...], "result", "error", "states"}) of a cell."""
        out = {"stdout": "", "stderr": "", "data": [], "result": None, "error": None, "cleared": 0, "updated": []}
        number = self.client.execute(code, **options)
        return self.collect(number, out)

    def collect(self, number, out):
        while True:
            message = self.client.get_iopub_msg(timeout=60)
            if message["parent_header"].get("msg_id") != number:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                out[content["name"]] += content["text"]
            elif kind == "display_data":
                out["data"].append(content["data"])
            elif kind == "update_display_data":
                out["updated"].append(content["data"])
            elif kind == "execute_result":
                out["result"] = content["data"]
            elif kind == "clear_output":
                out["cleared"] += 1
            elif kind == "error":
                out["error"] = content
            elif kind == "status" and content["execution_state"] == "idle":
                break
        while True:
            answer = self.client.get_shell_msg(timeout=60)
            if answer["parent_header"].get("msg_id") == number:
                return answer["content"], out

    def ask(self, number):
        while True:
            answer = self.client.get_shell_msg(timeout=60)
            if answer["parent_header"].get("msg_id") == number:
                return answer["content"]

    def stop(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=False)


def messages(manager_class, folder):
    s = Session(manager_class, folder)
    c = s.client
    info = s.ask(c.kernel_info())
    expect("who it is", info["implementation"] == "tfl" and info["language_info"]["file_extension"] == ".tfl", info)
    answer, out = s.run("import tensorflow as tf\nimport numpy as np\nx = 3\nprint('hello')\nx * 2")
    expect("a value", answer["status"] == "ok" and out["stdout"] == "hello\n" and out["result"]["text/plain"] == "6", (answer, out))
    answer, out = s.run("1\n2\nx = 4")
    expect("only the last value", out["result"] is None and out["stdout"] == "", out)
    answer, out = s.run("x + 1;")
    expect("a semicolon", out["result"] is None, out)
    answer, out = s.run("_2, Out if False else _", user_expressions={"a": "x"})
    expect("expressions of the client", answer["user_expressions"]["a"]["data"]["text/plain"] == "4" if answer["status"] == "ok" else True, answer)
    answer, out = s.run("import sys\nprint('e', file=sys.stderr)\ntf.print('from the graph')\nprint('o')")
    expect("both streams", "e\n" in out["stderr"] and "from the graph" in out["stderr"] and "o\n" in out["stdout"], out)
    answer, out = s.run("def f(a):\n    return a / 0\n\nf(1)")
    expect("an error", answer["ename"] == "ZeroDivisionError" and "\033[" in "".join(out["error"]["traceback"]) and "Cell In[" in "".join(out["error"]["traceback"]), (answer, out))
    answer, out = s.run("y = (1,")
    expect("an error of syntax", answer["ename"] == "SyntaxError" and "never closed" in answer["evalue"], answer)
    answer, out = s.run("tf.constant([[1.0, 2.0], [3.0, 4.0]])")
    expect("a tensor", "<table" in out["result"]["text/html"] and "float32[2, 2]" in out["result"]["text/html"] and "tf.Tensor" in out["result"]["text/plain"], out)
    answer, out = s.run("np.arange(100).reshape(50, 2)")
    expect("a long array", out["result"]["text/html"].count("<tr>") == 22, out["result"]["text/html"].count("<tr>"))
    answer, out = s.run("import plot as plt\nplt.plot([1, 2, 3])")
    expect("a figure", any(d.get("image/svg+xml", "").startswith("<svg") for d in out["data"]), out)
    answer, out = s.run("@tf.function\ndef g(v):\n    return tf.reduce_sum(v * 2.0)\n\ng.get_concrete_function(tf.TensorSpec([None], tf.float32))")
    expect("a graph", out["result"].get("image/svg+xml", "").startswith("<svg"), out["result"])
    answer, out = s.run("from IPython.display import HTML, Image, Markdown, display, clear_output\ndisplay(HTML('<b>x</b>'), Markdown('*y*'))\n"
                        "h = display('one', display_id=True)\nh.update('two')\nclear_output()")
    expect("display", out["data"][0]["text/html"] == "<b>x</b>" and out["data"][1]["text/markdown"] == "*y*" and out["updated"][0]["text/plain"] == "'two'" and out["cleared"] == 1, out)
    answer, out = s.run("tf.io.write_file('p.png', tf.io.encode_png(tf.zeros([2, 2, 3], tf.uint8)))\nImage('p.png')")
    expect("an image", out["result"].get("image/png", "").startswith("iVBOR"), out)
    answer, out = s.run("from tensorflow import keras\nm = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])\nm.summary()\nm.compile('sgd', 'mse')\n"
                        "m.fit(np.zeros((8, 4)), np.zeros((8, 2)), epochs=1)\nlen(m.weights)")
    expect("a model", "Total params" in out["stdout"] and "1/1 ━" in out["stdout"] and out["result"]["text/plain"] == "2", out)
    answer, out = s.run("%time sum(range(10))\n%timeit -n 10 x + 1\nz = 7\nz")
    expect("magics between statements", "wall time" in out["stdout"] and "per loop" in out["stdout"] and out["result"]["text/plain"] == "7", out)
    answer, out = s.run("%%file note.txt\nhello\nthere")
    with open(os.path.join(folder, "note.txt")) as f:
        expect("%%file", "Writing note.txt" in out["stdout"] and f.read() == "hello\nthere\n", out)
    for code, word in (("%load_ext tensorboard", "extensions"), ("!ls", "starts other programs"), ("%%bash\nls", "starts no other"), ("%pip install x", "cannot be used"), ("%nope", "there is no %nope")):
        answer, out = s.run(code)
        expect(code, answer["status"] == "error" and word in answer["evalue"], answer)
    answer, out = s.run("%matplotlib inline\nx?")
    expect("x?", "int" in out["stdout"], out)
    answer, out = s.run("%%capture kept\nprint('quiet')")
    answer, out = s.run("kept.stdout")
    expect("%%capture", out["result"]["text/plain"] == r"'quiet\n'", out)
    got = s.ask(c.complete("tf.reduce_su", 12))
    expect("completion", got["matches"] == ["tf.reduce_sum"] and got["cursor_start"] == 0, got)
    got = s.ask(c.complete("m.fit(epo", 9))
    expect("completion of keywords", "epochs=" in got["matches"] and got["cursor_start"] == 6, got)
    got = s.ask(c.inspect("tf.nn.relu(x", 10))
    expect("inspection", got["found"] and "relu(" in got["data"]["text/plain"], got)
    for code, state in (("x = 1", "complete"), ("for i in x:", "incomplete"), ("x = (", "incomplete"), ("x = )", "invalid"), ("def f():\n    return 1\n", "complete")):
        got = s.ask(c.is_complete(code))
        expect(f"is {code!r} complete", got["status"] == state, got)
    got = s.ask(c.history(hist_access_type="tail", n=1, raw=True, output=False))
    expect("history", got["history"][0][2] == "kept.stdout", got)
    number = c.execute("import time\nprint('begun', flush=True)\nwhile True:\n    time.sleep(0.01)")
    while True:
        message = c.get_iopub_msg(timeout=60)
        if message["msg_type"] == "stream" and "begun" in message["content"]["text"]:
            break
    s.manager.interrupt_kernel()
    answer, out = s.collect(number, {"stdout": "", "stderr": "", "data": [], "result": None, "error": None, "cleared": 0, "updated": []})
    expect("an interrupt", answer["status"] == "error" and answer["ename"] == "KeyboardInterrupt", answer)
    answer, out = s.run("x")
    expect("after an interrupt", out["result"]["text/plain"] == "4", out)
    number = c.execute("name = input('who? ')\nprint('it is', name)", allow_stdin=True)
    asked = c.get_stdin_msg(timeout=60)
    expect("input", asked["content"]["prompt"] == "who? ", asked)
    c.input("tfl")
    answer, out = s.collect(number, {"stdout": "", "stderr": "", "data": [], "result": None, "error": None, "cleared": 0, "updated": []})
    expect("an answer", "it is tfl" in out["stdout"], out)
    expect("the heartbeat", s.manager.is_alive() and c.hb_channel.is_beating())
    s.stop()


# Notebooks: cells, and what some of them give.
NOTEBOOKS = {
    "arithmetic": [("a = 2", None), ("a ** 10", "1024"), ("[i * i for i in range(4)]", "[0, 1, 4, 9]")],
    "tensors": [("import tensorflow as tf", None), ("x = tf.range(6)", None), ("tf.reshape(x, [2, 3]).shape", "TensorShape([2, 3])"), ("int(tf.reduce_sum(x))", "15")],
    "variables": [("import tensorflow as tf\nv = tf.Variable([1.0, 2.0])", None), ("v.assign_add([1.0, 1.0])\nv.numpy().tolist()", "[2.0, 3.0]")],
    "gradients": [("import tensorflow as tf", None), ("x = tf.constant(3.0)\nwith tf.GradientTape() as t:\n    t.watch(x)\n    y = x * x\nfloat(t.gradient(y, x))", "6.0")],
    "functions": [("import tensorflow as tf\n@tf.function\ndef f(x):\n    print('traced')\n    return x + 1\n", None), ("int(f(tf.constant(1))), int(f(tf.constant(2)))", "(2, 3)")],
    "autograph": [("import tensorflow as tf\n@tf.function\ndef f(n):\n    s = 0\n    for i in tf.range(n):\n        s += i\n    return s", None), ("int(f(tf.constant(10)))", "45")],
    "arrays": [("import numpy as np\na = np.eye(3)", None), ("a.sum()", "np.float64(3.0)"), ("(a @ a).tolist()[0]", "[1.0, 0.0, 0.0]")],
    "strings": [("s = 'naïve ☕'", None), ("len(s)", "7"), ("f'{s!r:>12}'", "\"   'naïve ☕'\"")],
    "classes": [("class A:\n    def __init__(self, n):\n        self.n = n\n\n    def __repr__(self):\n        return f'A({self.n})'", None), ("A(3)", "A(3)")],
    "generators": [("def g():\n    yield 1\n    yield 2", None), ("list(g())", "[1, 2]"), ("sum(g())", "3")],
    "errors": [("try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    print(e)", None), ("'went on'", "'went on'")],
    "keras": [("from tensorflow import keras\nimport numpy as np", None), ("m = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2), keras.layers.Dense(1)])", None), ("m.count_params()", "11"),
              ("m(np.zeros((4, 3), 'float32')).shape", "TensorShape([4, 1])")],
    "training": [("from tensorflow import keras\nimport numpy as np\nx = np.linspace(0, 1, 64).reshape(64, 1).astype('float32')\ny = 3 * x + 1", None),
                 ("m = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])\nm.compile(keras.optimizers.SGD(0.5), 'mse')\nh = m.fit(x, y, epochs=60, verbose=0)", None),
                 ("bool(h.history['loss'][-1] < 0.05)", "True")],
    "datasets": [("import tensorflow as tf\nd = tf.data.Dataset.range(10).batch(4)", None), ("[int(b.shape[0]) for b in d]", "[4, 4, 2]")],
    "tables": [("import pandas as pd\nt = pd.DataFrame({'a': [1, 2], 'b': [3.0, 4.0]})", None), ("t", "   a    b\n0  1  3.0\n1  2  4.0"), ("list(t.columns)", "['a', 'b']")],
    "figures": [("import plot as plt\nfig, ax = plt.subplots()\nax.plot([0, 1], [1, 0])\nplt.show()", None), ("'shown'", "'shown'")],
    "magics": [("%%file part.tfl\nvalue = 41 + 1", None), ("%run part.tfl\nvalue", "42"), ("%time value", None)],
    "modules": [("%%file helper.tfl\ndef twice(n):\n    return 2 * n", None), ("import helper\nhelper.twice(4)", "8")],
    "random": [("import tensorflow as tf\na = tf.random.stateless_normal([3], [1, 2])\nb = tf.random.stateless_normal([3], [1, 2])", None), ("bool(tf.reduce_all(a == b))", "True")],
    "ragged": [("import tensorflow as tf\nr = tf.ragged.constant([[1], [2, 3]])", None), ("r.to_list()", "[[1], [2, 3]]"), ("r.bounding_shape().numpy().tolist()", "[2, 2]")],
}


def notebooks(nbclient, nbformat, folder):
    for name, cells in NOTEBOOKS.items():
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code, _ in cells])
        book.metadata["kernelspec"] = {"name": "tfl", "display_name": "TFL", "language": "tfl"}
        try:
            nbclient.NotebookClient(book, timeout=120, kernel_name="tfl", resources={"metadata": {"path": folder}}).execute()
        except nbclient.exceptions.CellExecutionError as problem:
            expect(f"notebook {name}", False, problem)
            continue
        for cell, (code, wanted) in zip(book.cells, cells):
            got = [o["data"]["text/plain"] for o in cell.outputs if o["output_type"] == "execute_result"]
            if wanted is not None:
                expect(f"notebook {name}: {code}", got == [wanted], got)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tfl", required=True)
    tfl = os.path.abspath(p.parse_args().tfl)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["JUPYTER_DATA_DIR"] = os.environ["JUPYTER_PATH"] = os.path.join(folder, "jupyter")
        os.environ["JUPYTER_PLATFORM_DIRS"] = "1"
        done = subprocess.run([tfl, "kernel", "--install"], capture_output=True, text=True, timeout=60)
        with open(os.path.join(folder, "jupyter", "kernels", "tfl", "kernel.json")) as f:
            expect("kernel.json", json.load(f)["argv"][1:] == ["kernel", "-f", "{connection_file}"], done)
        done = subprocess.run([tfl, "kernel", "-f", "/nowhere.json"], capture_output=True, text=True, timeout=60)
        expect("no connection file", done.returncode == 2 and "nowhere.json" in done.stderr, done)
        try:
            import jupyter_client
            import nbclient
            import nbformat
        except ImportError as e:
            print(f"{e.name} is not installed: the kernel is not tried (pip install nbclient)")
            return bool(failed)
        connection = os.path.join(folder, "c.json")
        with open(connection, "w") as f:
            json.dump({"ip": "127.0.0.1", "transport": "tcp", "key": "k", "shell_port": 0, "iopub_port": 0, "stdin_port": 0, "control_port": 0, "hb_port": 0, "signature_scheme": "hmac-sha256"}, f)
        probe = subprocess.Popen([tfl, "kernel", "-f", connection], stderr=subprocess.PIPE, text=True)
        time.sleep(0.5)
        if probe.poll() is not None:
            print(f"the kernel does not start here: {probe.stderr.read().strip()}")
            return bool(failed)
        probe.kill()
        probe.wait()
        work = os.path.join(folder, "work")
        os.mkdir(work)
        messages(jupyter_client.KernelManager, work)
        notebooks(nbclient, nbformat, work)
    print(f"{len(NOTEBOOKS)} notebooks, {len(failed)} wrong")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
