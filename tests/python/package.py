"""The package tfl: values both ways, arrays without copies, errors, contexts, threads."""
import gc
import os
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import unittest

import tfl

SCRIPT = """import numpy as np
import tensorflow as tf

weights = tf.Variable([1.0, 2.0, 3.0])
kept = []

def same(x):
    return x

def mean(a):
    return a.mean()

def write(a):
    a[0] = -1.0
    return a

def keep(x):
    weights.assign(x)

@tf.function
def graph_same(x):
    return x

@tf.function
def twice(x):
    return x + x

def inner(b, i):
    return b[i]

def outer(i, *, names=()):
    return inner([1, 2], i)

def slow(n):
    total = 0
    for i in range(n):
        total += i * i
    return total

class Counter:
    def __init__(self):
        self.n = 0
    def add(self, k=1):
        self.n += k
        return self.n
"""


def address(array):
    return array.__array_interface__["data"][0]


def setUpModule():
    with open("module.tfl", "w", encoding="utf-8") as f:
        f.write(SCRIPT)


class Values(unittest.TestCase):
    def setUp(self):
        self.m = tfl.load("module.tfl")

    def test_both_ways(self):
        for value in (None, True, 7, -(2**63), 2.5, "text ü\0x", b"\0\xff", [1, [2.0, "a"]], (1, None), {"a": [1], 2: (3,)}, [], {}):
            got = self.m.same(value)
            self.assertEqual(got, value)
            self.assertIs(type(got), type(value))

    def test_too_large(self):
        with self.assertRaises(OverflowError):
            self.m.same(2**63)

    def test_no_such_thing(self):
        with self.assertRaisesRegex(TypeError, "object.*cannot be handed to TFL"):
            self.m.same(object())
        loop = []
        loop.append(loop)
        with self.assertRaises(RecursionError):
            self.m.same(loop)

    def test_paths_and_indices(self):
        import pathlib
        self.assertEqual(self.m.same(pathlib.Path("a/b")), "a/b")

    def test_objects(self):
        counter = self.m.Counter()
        self.assertEqual(counter.add(), 1)
        self.assertEqual(counter.add(k=4), 5)
        counter.n = 10
        self.assertEqual(counter.n, 10)
        self.assertIn("add", dir(counter))
        self.assertEqual(counter._type, "Counter")
        self.assertFalse(hasattr(counter, "nothing"))

    def test_modules(self):
        from tfl import np, tf
        self.assertEqual(tf.add(1, 2), 3)
        self.assertEqual(np.arange(4).sum(), 6)
        self.assertEqual(tfl.import_module("math").floor(2.5), 2)


class Arrays(unittest.TestCase):
    def setUp(self):
        import numpy
        self.np = numpy
        self.m = tfl.load("module.tfl")

    def test_element_types(self):
        for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"):
            for shape in ((), (0,), (3,), (2, 3, 4), (100, 7)):
                a = (self.np.arange(int(self.np.prod(shape))).reshape(shape) % 2).astype(name)
                for f in (self.m.same, self.m.graph_same):
                    b = f(a)
                    self.assertEqual(b.dtype, a.dtype)
                    self.assertEqual(b.shape, a.shape)
                    self.assertTrue((b == a).all())

    def test_strides(self):
        a = self.np.arange(600.0).reshape(20, 30)
        for view in (a.T, a[::2], a[:, ::-1], a[5:7, 3:20:4], self.np.broadcast_to(a[0], (4, 30)), a[::-1, ::-1].T):
            for f in (self.m.same, self.m.graph_same):
                self.assertTrue((f(view) == view).all())
            self.assertTrue((self.m.twice(view) == 2 * view).all())

    def test_no_copies(self):
        a = self.np.zeros(25_000_000, self.np.float32)
        for f in (self.m.same, self.m.graph_same):
            b = f(a)
            self.assertEqual(address(a), address(b))
            self.assertFalse(b.flags.writeable)
        b = self.m.twice(a)
        self.assertTrue(b.flags.writeable)
        b[0] = 1

    def test_given_back(self):
        a = self.np.zeros(1000)
        before = sys.getrefcount(a)
        self.m.mean(a)
        self.m.twice(a)
        self.assertEqual(sys.getrefcount(a), before)
        b = self.m.same(a)
        self.assertGreater(sys.getrefcount(a), before)
        del b
        gc.collect()
        self.m.mean(1.0 * a)
        self.assertEqual(sys.getrefcount(a), before)

    def test_scripts_do_not_write_to_it(self):
        a = self.np.arange(1000.0)
        b = self.m.write(a)
        self.assertEqual((a[0], b[0]), (0, -1))
        x = self.np.array([4, 5, 6], self.np.float32)
        self.m.keep(x)
        x[:] = 0
        self.assertEqual(self.m.weights.numpy().tolist(), [4, 5, 6])
        with self.assertRaises(ValueError):
            self.m.weights.numpy()[0] = 1

    def test_plain_functions_get_arrays(self):
        self.assertEqual(self.m.mean(self.np.arange(5.0)), 2.0)
        self.assertIsInstance(self.m.mean(self.np.arange(5.0)), self.np.float64)
        self.assertEqual(self.m.mean(self.np.float32(3)), 3)

    def test_texts(self):
        a = self.m.same(self.np.array([["a", "b"], ["c", "d"]]))
        self.assertEqual(self.np.asarray(a).tolist(), [["a", "b"], ["c", "d"]])
        from tfl import tf
        self.assertEqual(tf.constant(["x", "y"]).tolist(), [b"x", b"y"])

    def test_dlpack(self):
        t = tfl.tensor(self.np.arange(100.0))
        a = self.np.from_dlpack(t)
        self.assertEqual(address(a), address(t.numpy()))

        class Foreign:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **kwargs):
                return self.array.__dlpack__()

            def __dlpack_device__(self):
                return (1, 0)
        a = self.np.arange(100.0)
        self.assertEqual(address(self.m.graph_same(Foreign(a))), address(a))

    def test_buffers(self):
        import array
        self.assertEqual(self.m.twice(array.array("d", [1, 2])).tolist(), [2, 4])
        self.assertEqual(memoryview(tfl.tensor(self.np.arange(40.0))).shape, (40,))

    def test_outlives_its_context(self):
        context = tfl.Context()
        a = context.run_text("import numpy as np\na = np.arange(1000.0)\n").a
        del context
        gc.collect()
        self.assertEqual(a.sum(), 499500)

    def test_other_context(self):
        other = tfl.Context()
        with self.assertRaisesRegex(ValueError, "another tfl.Context"):
            self.m.same(other.import_module("math"))


class Errors(unittest.TestCase):
    def setUp(self):
        self.m = tfl.load("module.tfl")

    def test_lines(self):
        try:
            self.m.outer(5)
        except IndexError as e:
            self.assertIsInstance(e, tfl.Error)
            self.assertIs(type(e), tfl.IndexError)
            self.assertEqual((str(e), e.kind), ("list index out of range", "IndexError"))
            self.assertIn("where: b is a list of 2, i is 5", e.traceback)
            text = "".join(traceback.format_exception(e))
            self.assertIn('module.tfl", line 32, in outer\n    return inner([1, 2], i)\n', text)
            self.assertIn('module.tfl", line 29, in inner\n    return b[i]\n', text)
            self.assertTrue(text.endswith("tfl.IndexError: list index out of range\n"))
        else:
            self.fail("no error")

    def test_classes(self):
        from tfl import tf
        with self.assertRaises(tfl.InvalidArgumentError):
            tf.reshape(tf.range(6), [4])
        with self.assertRaises(TypeError):
            self.m.outer()
        with self.assertRaises(AttributeError):
            _ = self.m.nothing
        with self.assertRaises(FileNotFoundError):
            tfl.load("nothing.tfl")
        with self.assertRaisesRegex(KeyError, "^'k'$"):
            tfl.context().run_text("{}['k']\n")
        with self.assertRaises(AttributeError):
            _ = tfl.nothing

    def test_syntax(self):
        with self.assertRaises(SyntaxError) as caught:
            tfl.context().run_text("x = 1\nif x > 3\n    pass\n", "wrong.tfl", 10)
        self.assertEqual((caught.exception.filename, caught.exception.lineno), ("wrong.tfl", 11))

    def test_exit(self):
        with self.assertRaises(SystemExit) as caught:
            tfl.context().run_text("import sys\nsys.exit(3)\n")
        self.assertEqual(caught.exception.code, 3)


class Contexts(unittest.TestCase):
    def test_limits(self):
        with self.assertRaises(tfl.ResourceExhaustedError):
            tfl.Context(memory=50 << 20).run_text("import tensorflow as tf\ntf.zeros([100000000])\n")
        with self.assertRaises(TimeoutError):
            tfl.Context(time=0.05).run_text("while True:\n    pass\n")
        with self.assertRaises(RecursionError):
            tfl.Context(depth=50).run_text("def f(n): return f(n + 1)\nf(0)\n")
        with self.assertRaises(PermissionError):
            tfl.Context().run_text("open('/etc/hostname')\n")
        with tempfile.TemporaryDirectory() as other:
            path = os.path.join(other, "a.txt")
            with open(path, "w", encoding="utf-8") as f:
                f.write("allowed")
            read = f"text = open({path!r}).read()\n"
            with self.assertRaises(PermissionError):
                tfl.Context().run_text(read)
            self.assertEqual(tfl.Context(allow_read=[other]).run_text(read).text, "allowed")
        with self.assertRaises(ValueError):
            tfl.Context(threads=-1)

    def test_apart(self):
        a, b = tfl.Context(), tfl.Context()
        first, second = a.load("module.tfl"), b.load("module.tfl")
        first.keep([0.0, 0.0, 1.0])
        self.assertEqual(second.weights.numpy().tolist(), [1, 2, 3])
        with b:
            self.assertIs(tfl.context(), b)
        self.assertIsNot(tfl.context(), b)

    def test_run(self):
        with open("script.tfl", "w", encoding="utf-8") as f:
            f.write("import sys\nfrom module import slow\nresult = slow(int(sys.argv[1])), __name__\n")
        self.assertEqual(tfl.run("script.tfl", [4]).result, (14, "__main__"))

    def test_printing(self):
        script = "import tfl, io, sys\nsys.stdout = io.StringIO()\ntfl.Context().run_text('print(1 + 1)')\nsys.stderr.write(sys.stdout.getvalue())\n"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("", "2\n"))
        done = subprocess.run([sys.executable, "-c", "import tfl\nprint('a')\ntfl.Context().run_text('print(1)')\nprint('b')"],
                              capture_output=True, text=True)
        self.assertEqual(done.stdout, "a\n1\nb\n")

    def test_cancel(self):
        context = tfl.Context()
        threading.Timer(0.05, context.cancel).start()
        with self.assertRaises(KeyboardInterrupt):
            context.run_text("while True:\n    pass\n")

    def test_interrupt(self):
        script = ("import os, signal, threading, tfl\n"
                  "threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
                  "try:\n    tfl.Context().run_text('while True:\\n    pass\\n')\n"
                  "except KeyboardInterrupt:\n    print('stopped')\nprint('on')\n")
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.stdout, done.stderr), ("stopped\non\n", ""))

    def test_interpreter_lock_is_released(self):
        # The script runs until Python, on this thread, has got to stop it.
        context = tfl.Context()
        thread = threading.Thread(target=self.assertRaises, args=(KeyboardInterrupt, context.run_text, "while True:\n    pass\n"))
        thread.start()
        while thread.is_alive():
            time.sleep(0.01)
            context.cancel()
        thread.join()

    def test_threads(self):
        import numpy
        results = [None] * 4

        def work(i):
            with tfl.Context(threads=1):
                m = tfl.load("module.tfl")
                results[i] = [m.slow(1000 + i), m.twice(numpy.array([1.0, i])).tolist()]
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for i, (total, pair) in enumerate(results):
            self.assertEqual(total, sum(k * k for k in range(1000 + i)))
            self.assertEqual(pair, [2, 2 * i])

    def test_one_context_on_many_threads(self):
        import numpy
        m = tfl.load("module.tfl")
        a = numpy.arange(1000, dtype=numpy.float32)
        wrong = []

        def work():
            for _ in range(200):
                if m.twice(a)[-1] != 1998 or m.mean(a) != 499.5:
                    wrong.append(1)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_library(self):
        with open("lib.tfl", "w", encoding="utf-8") as f:
            f.write("import tensorflow as tf\n@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])\ndef half(x):\n    return x / 2.0\n")
        subprocess.run(["tfl", "build", "lib.tfl", "--name", "halves", "-o", "."], check=True, capture_output=True)
        import numpy
        self.assertEqual(tfl.load("libhalves.so").half(numpy.array([3.0], numpy.float32)).tolist(), [1.5])

    def test_saved_model(self):
        import numpy
        tfl.context().run_text("import tensorflow as tf\nclass M(tf.Module):\n    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])\n"
                               "    def three(self, x):\n        return x * 3.0\ntf.saved_model.save(M(), 'saved')\n")
        self.assertEqual(tfl.load("saved").three(numpy.array([2.0], numpy.float32)).tolist(), [6])


class Import(unittest.TestCase):
    def test_needs_no_numpy(self):
        done = subprocess.run([sys.executable, "-c", "import sys, tfl\nprint('numpy' in sys.modules, tfl.__version__ in tfl.__build__)"],
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "False True\n")

    def test_stubs(self):
        import ast
        stub = os.path.join(os.path.dirname(tfl.__file__), "__init__.pyi")
        with open(stub, encoding="utf-8") as f:
            tree = ast.parse(f.read())
        names = {getattr(n, "name", None) for n in tree.body}
        self.assertLessEqual(set(tfl.__all__), names)


if __name__ == "__main__":
    unittest.main()
