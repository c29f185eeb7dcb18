#!/usr/bin/env python3
"""How long single operations go on after Ctrl-C, and after the time limit: each of the table goes on for seconds or forever when nobody stops
it, and is over about a tenth of a second after the signal on an idle machine.

  stop_times.py --tfl build/tfl                a sample
  stop_times.py --tfl build/tfl --all          the whole table; --only NAME one row, --how timeout the time limit, --limit SECONDS
"""
import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time

LONGEST = 20  # seconds that an operation is given to end

TF = "import tensorflow as tf\n"
NP = "import numpy as np\n"

# name -> (what is made ready, what is stopped).
TABLE = {
    "singular values": (TF + "a = tf.random.stateless_normal([3000, 3000], [1, 2])", "tf.linalg.svd(a)"),
    "eigenvalues": (TF + "a = tf.random.stateless_normal([4000, 4000], [1, 2])", "tf.linalg.eigh(a + tf.transpose(a))"),
    "orthogonal factors": (TF + "a = tf.random.stateless_normal([3000, 3000], [1, 2])", "tf.linalg.qr(a)"),
    "determinant": (TF + "a = tf.random.stateless_normal([6000, 6000], [1, 2])", "tf.linalg.det(a)"),
    "cholesky": (TF + "a = tf.eye(6000)", "tf.linalg.cholesky(a)"),
    "exponential of a matrix": (TF + "a = tf.random.stateless_normal([2000, 2000], [1, 2])", "tf.linalg.expm(a)"),
    "singular values, NumPy": (NP + "a = np.random.default_rng(1).normal(size=(3000, 3000))", "np.linalg.svd(a)"),
    "product": (TF + "a = tf.random.stateless_normal([9000, 9000], [1, 2])", "a @ a"),
    "integer product": (TF + "a = tf.ones([3000, 3000], tf.int32)", "a @ a"),
    "many small products": (TF + "a = tf.ones([3000000, 8, 8])", "for i in range(99): a = a @ a"),
    "convolution": (TF + "x, k = tf.ones([64, 200, 200, 64]), tf.ones([5, 5, 64, 64])", "tf.nn.conv2d(x, k, 1, 'SAME')"),
    "pooling": (TF + "x = tf.ones([64, 400, 400, 16])", "for i in range(99): tf.nn.max_pool2d(x, 9, 1, 'SAME')"),
    "sort": (TF + "a = tf.random.stateless_uniform([50000000], [1, 2])", "for i in range(99): tf.sort(a)"),
    "argsort": (TF + "a = tf.random.stateless_uniform([50000000], [1, 2])", "for i in range(99): tf.argsort(a)"),
    "sort in place": (NP + "a = np.random.default_rng(1).random(50000000)", "a.sort()"),
    "top": (TF + "a = tf.random.stateless_uniform([50000000], [1, 2])", "for i in range(99): tf.math.top_k(a, 1000000)"),
    "unique": (TF + "a = tf.cast(tf.random.stateless_uniform([50000000], [1, 2]) * 1e9, tf.int32)", "for i in range(99): tf.unique(a)"),
    "unique, NumPy": (NP + "a = np.random.default_rng(1).random(50000000)", "for i in range(99): np.unique(a)"),
    "search": (TF + "a = tf.range(50000000.0)", "for i in range(99): tf.searchsorted(a, a[::-1])"),
    "histogram": (NP + "a = np.random.default_rng(1).random(50000000)", "np.histogram(a, 1000)"),
    "percentile": (NP + "a = np.random.default_rng(1).random(50000000)", "np.percentile(a, [1, 50, 99])"),
    "interpolation": (NP + "a = np.random.default_rng(1).random(50000000)", "np.interp(a, [0, 0.5, 1], [1, 2, 3])"),
    "convolution, NumPy": (NP + "a = np.random.default_rng(1).random(500000)", "np.convolve(a, a)"),
    "random": (TF, "for i in range(99): tf.random.normal([200000000])"),
    "stateless": (TF, "for i in range(99): tf.random.stateless_uniform([200000000], [1, 2])"),
    "gamma": (TF, "tf.random.gamma([100000000], 0.5)"),
    "poisson": (TF, "tf.random.poisson([100000000], 5.0)"),
    "shuffle": (TF + "a = tf.range(50000000)", "tf.random.shuffle(a)"),
    "normal, NumPy": (NP, "for i in range(99): np.random.normal(size=50000000)"),
    "integers, NumPy": (NP + "r = np.random.default_rng(1)", "r.integers(0, 1000, 200000000)"),
    "doubles, NumPy": (NP + "r = np.random.default_rng(1)", "for i in range(99): r.random(200000000)"),
    "exponential, NumPy": (NP + "r = np.random.default_rng(1)", "r.exponential(size=200000000)"),
    "permutation, NumPy": (NP + "r = np.random.default_rng(1)", "r.permutation(100000000)"),
    "shuffle, NumPy": (NP + "a = np.arange(50000000)", "np.random.shuffle(a)"),
    "resize area": (TF + "a = tf.ones([64, 700, 700, 3])", "tf.image.resize(a, [701, 701], 'area')"),
    "resize lanczos": (TF + "a = tf.ones([1, 500, 500, 3])", "tf.image.resize(a, [9000, 9000], 'lanczos5')"),
    "resize nearest": (TF + "a = tf.ones([1, 500, 500, 3])", "for i in range(99): tf.image.resize(a, [9000, 9000], 'nearest')"),
    "hue": (TF + "a = tf.ones([8, 2000, 2000, 3])", "for i in range(99): tf.image.adjust_hue(a, 0.2)"),
    "tensor of a range": (TF, "for i in range(99): tf.constant(range(5 * 10**7))"),
    "tensor of a list": (TF + "a = list(range(20000000))", "for i in range(99): tf.constant(a)"),
    "array of a range": (NP, "for i in range(99): np.array(range(5 * 10**7))"),
    "set of a range": ("", "set(range(10**18))"),
    "tuple of a range": ("", "tuple(range(10**18))"),
    "sum of a range": ("", "sum(range(10**18))"),
    "maximum of a range": ("", "max(range(10**18))"),
    "sorted range": ("", "sorted(range(10**18))"),
    "all of a range": ("", "all(range(1, 10**18))"),
    "joined range": ("", "''.join(map(str, range(10**18)))"),
    "bytes of a map": ("", "bytes(map(lambda i: i % 256, range(10**18)))"),
    "dictionary of a range": ("", "dict.fromkeys(range(10**18))"),
    "in a map": ("", "-1 in map(abs, range(10**18))"),
    "count": ("import itertools", "list(itertools.count())"),
    "deque": ("import collections", "collections.deque(range(10**18), maxlen=3)"),
    "unpacked": ("", "a, *b = range(10**18)"),
    "zip": ("", "for a in zip(range(10**18), range(10**18)): pass"),
    "filter": ("", "next(filter(None, map(lambda i: 0, range(10**18))))"),
    "empty loop": ("", "while True: pass"),
    "join": ("a = ['ab'] * 10**7", "for i in range(999): ','.join(a)"),
    "JSON text": ("import json; a = [0.5] * 10**7", "json.dumps(a)"),
    "substitution": ("import re; a = 'ab' * 10**7", "for i in range(99): re.sub('a', 'c', a)"),
    "patterns on tensors": (TF + "a = tf.fill([3000000], 'abababab')", "tf.strings.regex_replace(a, '(a|b)*c|a', 'x')"),
    "base64": (TF + "a = tf.constant(b'a' * 10**8)", "for i in range(99): tf.io.encode_base64(a)"),
    "gather": (TF + "a = tf.range(100000000); i = tf.random.stateless_uniform([100000000], [1, 2], 0, 100000000, tf.int32)", "for k in range(99): tf.gather(a, i)"),
    "places": (TF + "a = tf.ones([50000000])", "for k in range(99): tf.where(a > 0)"),
    "elementwise": (TF + "a = tf.ones([100000000])", "for k in range(99): tf.math.lgamma(a)"),
    "elementwise in place": (NP + "a = np.ones(50000000)", "for k in range(99): np.power(a, 1.5, out=a)"),
    "broadcast": (TF + "a = tf.ones([20000, 1]); b = tf.ones([10000])", "for k in range(99): tf.pow(a, b)"),
    "cast": (TF + "a = tf.ones([200000000])", "for k in range(99): tf.cast(a, tf.float16)"),
    "range": (TF, "for k in range(99): tf.range(200000000)"),
    "fill": (TF, "for k in range(99): tf.fill([300000000], 1.5)"),
    "concatenated": (TF + "a = tf.ones([100000000])", "for k in range(99): tf.concat([a, a, a], 0)"),
    "filtered dataset": (TF + "d = iter(tf.data.Dataset.range(10**15).filter(lambda i: i < 0))", "next(d)"),
    "running sum": (TF + "a = tf.ones([200000000])", "for k in range(99): tf.cumsum(a)"),
    "running sum of columns": (TF + "a = tf.ones([20000, 10000])", "for k in range(99): tf.cumsum(a, 0)"),
    "running product, NumPy": (NP + "a = np.ones(100000000)", "for k in range(99): np.cumprod(a)"),
    "segments": (TF + "a = tf.ones([100000000]); i = tf.range(100000000) % 7", "for k in range(99): tf.math.unsorted_segment_sum(a, i, 7)"),
    "largest of segments": (TF + "a = tf.ones([100000000]); i = tf.range(100000000) % 7", "for k in range(99): tf.math.unsorted_segment_max(a, i, 7)"),
    "scattered": (TF + "a = tf.ones([50000000]); i = tf.range(50000000)[:, None]", "for k in range(99): tf.scatter_nd(i, a, [50000000])"),
    "scattered into": (TF + "a = tf.ones([50000000]); i = tf.range(50000000)[:, None]", "for k in range(99): tf.tensor_scatter_nd_add(a, i, a)"),
    "padded": (TF + "a = tf.ones([10000, 10000])", "for k in range(99): tf.pad(a, [[1, 1], [1, 1]])"),
    "mirrored": (TF + "a = tf.ones([10000, 10000])", "for k in range(99): tf.pad(a, [[1, 1], [1, 1]], 'REFLECT')"),
    "tiled": (TF + "a = tf.ones([1000, 3])", "for k in range(99): tf.tile(a, [1000, 100])"),
    "transposed": (TF + "a = tf.ones([10000, 10000])", "for k in range(99): tf.transpose(a) + 0"),
    "counted": (TF + "a = tf.range(100000000) % 7", "for k in range(99): tf.math.bincount(a)"),
    "counted, NumPy": (NP + "a = np.arange(100000000) % 7", "for k in range(99): np.bincount(a)"),
    "PNG": (TF + "a = tf.cast(tf.random.stateless_uniform([6000, 6000, 3], [1, 2], 0, 255, tf.int32), tf.uint8)", "for k in range(99): tf.io.encode_png(a)"),
    "JPEG": (TF + "a = tf.cast(tf.random.stateless_uniform([6000, 6000, 3], [1, 2], 0, 255, tf.int32), tf.uint8)", "for k in range(99): tf.io.encode_jpeg(a)"),
    "texts of numbers": (TF + "a = tf.range(20000000.0)", "for k in range(99): tf.strings.as_string(a)"),
    "numbers of texts": (TF + "a = tf.fill([20000000], '1.5')", "for k in range(99): tf.strings.to_number(a)"),
    "text of an array": (NP + "import sys\na = np.random.default_rng(1).random(3000000)\nnp.set_printoptions(threshold=sys.maxsize)", "for k in range(99): str(a)"),
    "list of an array": (NP + "a = np.ones(50000000)", "for k in range(99): a.tolist()"),
    "translated": ("a = 'abcdefgh' * 12500000; t = str.maketrans({'a': 'xy', 'b': None})", "for k in range(99): a.translate(t)"),
    "replaced": ("a = 'ab' * 50000000", "for k in range(99): a.replace('a', 'xyz')"),
    "split": ("a = 'ab ' * 33000000", "for k in range(99): a.split()"),
    "split at a comma": ("a = 'ab,' * 33000000", "for k in range(99): a.split(',')"),
    "lines": ("a = 'ab\\n' * 33000000", "for k in range(99): a.splitlines()"),
    "counted in text": ("a = 'ab' * 50000000", "for k in range(999): a.count('ab')"),
    "upper case": ("a = 'ab\u00e9' * 33000000", "for k in range(99): a.upper()"),
    "encoded": ("a = 'ab\u00e9' * 33000000", "for k in range(99): a.encode('utf-16')"),
    "decoded": ("a = b'ab\\xe9' * 33000000", "for k in range(99): a.decode('latin-1')"),
    "repr of text": ("a = 'ab\u00e9' * 33000000", "for k in range(99): repr(a)"),
    "hexadecimal": ("a = bytes(100000000)", "for k in range(99): a.hex()"),
    "bytes replaced": ("a = b'ab' * 50000000", "for k in range(99): a.replace(b'a', b'xyz')"),
    "sorted": ("import random\na = [random.random() for i in range(3000000)]", "for k in range(99): sorted(a)"),
    "sorted texts": ("import random\na = [str(random.random()) for i in range(2000000)]", "for k in range(99): sorted(a)"),
    "list repeated": ("a = [1, 2, 3] * 10000000", "for k in range(99): a * 3"),
    "list compared": ("a = [1.5] * 30000000; b = list(a)", "for k in range(999): a == b"),
    "looked for in a list": ("a = [1.5] * 30000000", "for k in range(999): 2.5 in a"),
    "dictionary copied": ("a = dict.fromkeys(range(5000000))", "for k in range(99): dict(a)"),
    "hash": ("import hashlib; a = bytes(500000000)", "for k in range(99): hashlib.sha256(a).hexdigest()"),
    "compressed": ("import zlib; a = bytes(range(256)) * 1000000", "for k in range(99): zlib.compress(a)"),
    "large integers": ("a = 3 ** 300000", "for k in range(10**6): a * a"),
    "large integer as text": ("import sys; sys.set_int_max_str_digits(0); a = 3 ** 400000", "for k in range(99): str(a)"),
    "solution": (TF + "a = tf.random.stateless_normal([5000, 5000], [1, 2])", "for k in range(99): tf.linalg.solve(a, a)"),
    "solution, one column": (TF + "a = tf.random.stateless_normal([5000, 5000], [1, 2])", "for k in range(99): tf.linalg.solve(a, a[:, :1])"),
    "inverse": (TF + "a = tf.random.stateless_normal([5000, 5000], [1, 2])", "for k in range(99): tf.linalg.inv(a)"),
    "sleep": ("import time", "time.sleep(1000)"),
    "finaliser": ("class A:\n    def __del__(self):\n        while True: pass", "a = A(); del a; x = [i for i in range(10)]"),
    "at exit": ("import atexit\ndef f():\n    print('ready', flush=True)\n    while True: pass\natexit.register(f)", None),
}

# These show what the table is about, quickly.
SAMPLE = ["singular values", "eigenvalues", "sort", "unique", "search", "normal, NumPy", "tensor of a range", "set of a range", "filtered dataset", "texts of numbers", "scattered",
          "PNG", "split", "translated", "sorted", "at exit"]


class Row:
    def __init__(self, tfl, folder, name, how):
        ready, work = TABLE[name]
        self.how = how
        self.path = os.path.join(folder, "script.tfl")
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(f"import sys, os\nout = {os.path.join(folder, 'out')!r}\n{ready}\n" + ("" if work is None else f"print('ready', flush=True)\n{work}\n") +
                    "print('done', flush=True)\n")
        self.command = [tfl, "run", *(["--timeout", "3s"] if how == "timeout" else []), self.path]
        self.env = {**os.environ, "XDG_CACHE_HOME": os.path.join(folder, "cache")}

    def seconds(self):
        """From the signal to the end, and what is wrong with that end."""
        begin = time.monotonic()
        process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.env)
        try:
            line = process.stdout.readline()
            while line == "done\n":
                line = process.stdout.readline()
            if line != "ready\n":
                return 0, "it is not ready: " + process.stderr.read()[-300:]
            if self.how == "timeout":
                begin += 3
            else:
                time.sleep(0.25)
                begin = time.monotonic()
                process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            return LONGEST, "it goes on"
        finally:
            process.kill()
            process.wait()
        seconds = time.monotonic() - begin
        code = 4 if self.how == "timeout" else 130
        if process.returncode == 0:
            return seconds, "it is over too soon"
        if process.returncode != code or (code == 130 and not err.rstrip().endswith("KeyboardInterrupt")):
            return seconds, f"exit status {process.returncode} and not {code}: {err[-200:]}"
        return seconds, ""


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tfl", default="build/tfl")
    p.add_argument("--all", action="store_true")
    p.add_argument("--only")
    p.add_argument("--how", choices=["interrupt", "timeout"], default="interrupt")
    p.add_argument("--limit", type=float, default=1.0, help="seconds; a loaded machine is slow")
    a = p.parse_args()
    names = [a.only] if a.only else list(TABLE) if a.all else SAMPLE
    failed = 0
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            seconds, wrong = Row(os.path.abspath(a.tfl), folder, name, a.how).seconds()
        if not wrong and seconds > a.limit:
            wrong = "that is too long"
        failed += bool(wrong)
        if wrong or a.all or a.only:
            print(f"{seconds:7.3f} s  {name}{': ' + wrong if wrong else ''}", flush=True)
    print(f"{len(names)} operations, {failed} faults")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
