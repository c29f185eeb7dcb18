#!/usr/bin/env python3
"""The first run on a machine with a GPU: what TFL needs of it, one thing after the other, so that the first line that is not "ok" says what
does not work there. Each step is a script that runs with everything on the GPU and on the CPU: the text must be the same, and nothing
may have been left to the CPU. `TFL_GPU=emulate` tries the steps themselves.

  gpu_first_run.py --tfl build/tfl [--all] [STEP...]      (--all: goes on after a step that failed; exit status 3: there is no GPU)
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

# (step, what it shows, script, environment, calls and operations that must have run on the GPU at least)
STEPS = [
    ("copies", "memory, and copies of all sizes in both directions", '''
import tensorflow as tf
for n in [1, 3, 1000, 16384, 16385, 300000, 5000000]:
    x = tf.range(n)
    back = x.gpu().cpu()
    print(n, bool(tf.reduce_all(back == x)))
many = [tf.fill([1000], i).gpu() for i in range(2000)]
print(sum(int(t[7]) for t in many))
many = None
print(tf.config.experimental.get_memory_info("GPU:0")["current"])
''', {}, 0),
    ("module", "code is loaded, and one launch of one block gives three numbers", '''
import tensorflow as tf
@tf.function
def f(x, y):
    return x + y * 2.0
print(f(tf.constant([1.0, 2.0, 3.0]), tf.constant([0.5, 0.25, 4.0])).numpy())
''', {}, 1),
    ("kernel", "a launch over many blocks", '''
import tensorflow as tf
@tf.function
def f(x):
    return tf.bitcast(tf.exp(x) * 0.5 - tf.sqrt(x), tf.int32)
y = f(tf.range(1000003.0) / 60000.0)
print(int(tf.reduce_sum(tf.cast(y, tf.int64))), y[:5].numpy())
''', {}, 1),
    ("reductions", "shared memory, shuffles, several launches", '''
import tensorflow as tf
@tf.function
def f(x):
    return tf.reduce_sum(x), tf.reduce_sum(x, 0), tf.reduce_max(x, 1), tf.nn.softmax(x)
x = tf.random.stateless_normal([700, 900], [1, 2])
for t in f(x):
    print(int(tf.reduce_sum(tf.cast(tf.bitcast(t, tf.int32), tf.int64))))
''', {}, 1),
    ("products", "tiles in shared memory, one chain of fused operations", '''
import tensorflow as tf
@tf.function
def f(a, b, c):
    return tf.nn.relu(tf.matmul(a, b) + c)
for dtype in [tf.float32, tf.float64]:
    a = tf.random.stateless_normal([513, 700], [1, 2], dtype=dtype)
    b = tf.random.stateless_normal([700, 301], [3, 4], dtype=dtype)
    y = f(a, b, tf.ones([301], dtype))
    print(dtype.name, float(tf.reduce_max(y)), int(tf.reduce_sum(tf.cast(y * 1000, tf.int64))))
''', {}, 2),
    ("windows", "convolutions, pooling, and their gradients", '''
import tensorflow as tf
@tf.function
def f(x, w):
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME")), 2, 2, "VALID")
        loss = tf.reduce_sum(y * y)
    return (loss, *tape.gradient(loss, [x, w]))
x = tf.random.stateless_normal([4, 28, 28, 8], [1, 2])
w = tf.random.stateless_normal([3, 3, 8, 16], [3, 4])
for t in f(x, w):
    print(int(tf.reduce_sum(tf.cast(tf.bitcast(t, tf.int32), tf.int64))))
''', {}, 1),
    ("routines", "scans, sorting, writes by index, random numbers", '''
import tensorflow as tf
@tf.function
def f(x, i):
    return (tf.cumsum(x), tf.sort(x), tf.argsort(x), tf.argmax(x), tf.tensor_scatter_nd_add(x, i[:, None], x),
            tf.math.unsorted_segment_sum(x, i, 100), tf.random.stateless_uniform([1000], [5, 6]))
x = tf.random.stateless_normal([50000], [1, 2])
for t in f(x, tf.range(50000) * 7919 % 97):
    t = tf.bitcast(t, tf.int32) if t.dtype == tf.float32 else t
    print(int(tf.reduce_sum(tf.cast(t, tf.int64))), tf.reshape(t, [-1])[:3].numpy())
''', {}, 1),
    ("checks", "what fails on the GPU is raised with its line", '''
import tensorflow as tf
@tf.function
def f(x, n):
    return tf.reduce_sum(tf.gather(x, n) // n)
x = tf.range(100000)
print(int(f(x, tf.range(1, 90000))))
for n in [tf.constant([5, 0, 3]), tf.constant([200000])]:
    try:
        f(x, n)
    except tf.errors.InvalidArgumentError as e:
        print(str(e)[:60])
''', {}, 1),
    ("graphs", "launches of a function that is called often are one graph", '''
import tensorflow as tf
@tf.function
def f(x):
    return x / tf.reduce_sum(x, 0) + 1.0
x = tf.random.stateless_uniform([1000, 300], [1, 2])
for i in range(20):
    x = f(x)
print(int(tf.reduce_sum(tf.cast(tf.bitcast(x, tf.int32), tf.int64))))
''', {}, 20),
    *((step, what, '''
import tensorflow as tf
@tf.function
def f(x, n):
    i = 0
    while i < n and tf.reduce_sum(x) < 1e12:
        if tf.reduce_max(x) > 50.0:
            x = x * 1.5
        else:
            x = x + tf.reduce_mean(x)
        i += 1
    return x, i
x = tf.random.stateless_uniform([300000], [1, 2])
for n in [0, 1, 2, 40, 1000]:
    y, i = f(x, tf.constant(n))
    print(n, int(i), int(tf.reduce_sum(tf.cast(tf.bitcast(y, tf.int32), tf.int64))))
''', environment, 5) for step, what, environment in (
        ("loops", "branches and loops around launches are conditional nodes of a graph", {}),
        ("host-loops", "the same with the host that decides", {"TFL_GPU_GRAPHS": "host"}),
        ("plain-loops", "the same without graphs", {"TFL_GPU_GRAPHS": "off"}))),
    ("kernel-loops", "a loop inside one kernel", '''
import tensorflow as tf
@tf.function
def f(n):
    s = 0.0
    i = 0
    while i < n:
        s = s * 0.5 + tf.cast(i % 7, tf.float32)
        i += 1
    return s
print(float(f(tf.constant(100000))))
''', {}, 1),
    ("eager", "single operations in a scope, variables, a training step", '''
import tensorflow as tf
with tf.device("/GPU:0"):
    v = tf.Variable(tf.random.stateless_normal([200, 200], [1, 2]))
    x = tf.random.stateless_normal([300, 200], [3, 4])
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(x @ v))
        v.assign_sub(1e-6 * tape.gradient(loss, v))
        print(float(loss))
    print(v.device)
''', {}, 1),
]

STOPS = '''
import tensorflow as tf
@tf.function
def f(x):
    while tf.reduce_sum(x) < 1e30:
        x = tf.abs(x)
    return x
f(tf.ones([300000]))
'''

FULL = '''
import tensorflow as tf
held = []
try:
    for _ in range(100000):
        held.append(tf.zeros([1 << 28]).gpu())
except MemoryError as e:
    print("full:", str(e)[:40])
held = None
print(float(tf.ones([1000]).gpu()[5]))
'''


class Steps:
    def __init__(self, tfl, folder):
        self.tfl, self.folder = os.path.abspath(tfl), folder

    def run(self, script, gpu, environment=None, flags=(), seconds=300):
        path = os.path.join(self.folder, "step.tfl")
        with open(path, "w", encoding="utf-8") as f:
            f.write(script)
        env = dict(os.environ, XDG_CACHE_HOME=self.folder, **(environment or {}))
        if gpu:
            env["TFL_JIT_DEBUG"] = "log"
            flags = ("--device=gpu", *flags)
        try:
            return subprocess.run([self.tfl, "run", "--jit=wait", *flags, path], capture_output=True, text=True, env=env, timeout=seconds, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess([], 1, "", f"no answer after {seconds} s")

    def compared(self, script, environment, least):
        """What is wrong, or None."""
        there, here = self.run(script, True, environment), self.run(script.replace(".gpu()", ""), False)
        if here.returncode:
            return "the CPU fails, too: " + here.stderr[-500:]
        if there.returncode:
            return f"exit status {there.returncode}: {there.stderr[-1500:]}"
        if there.stdout != here.stdout and "get_memory_info" not in script:
            return f"other values\n--- GPU\n{there.stdout}--- CPU\n{here.stdout}{there.stderr[-1500:]}"
        if "get_memory_info" in script and ("False" in there.stdout or not there.stdout.endswith("\n0\n")):
            return f"not what was sent, or memory is left\n{there.stdout}"
        found = re.search(r"(\d+) calls and operations ran on a GPU, (\d+) on the CPU in place of one((?:\n  .*)*)", there.stderr)
        done, left = (int(found[1]), int(found[2])) if found else (0, 0)
        raised = len(re.findall(r"because an operation would raise", there.stderr))
        if done < least or (left and not raised and "with tf.device" not in script):
            return f"{done} calls ran on the GPU, {left} on the CPU in place of it{found[3] if found else ''}\n{there.stderr[-1500:]}"
        return None

    def device(self):
        done = subprocess.run([self.tfl, "info"], capture_output=True, text=True)
        lines = [line for line in done.stdout.splitlines() if line.startswith("GPU")]
        return [line for line in lines if line.startswith("GPU:")], " ".join(lines)

    def stops(self):
        done = self.run(STOPS, True, flags=("--timeout=2s",), seconds=60)
        return None if "the time limit of 2 s was reached" in done.stderr else f"a loop without an end was not ended: exit status {done.returncode}: {done.stderr[-800:]}"

    def full(self):
        done = self.run(FULL, True)
        return None if done.stdout.startswith("full: ") and done.stdout.endswith("\n1.0\n") else f"{done.stdout}{done.stderr[-800:]}"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tfl", default="build/tfl")
    p.add_argument("--all", action="store_true")
    p.add_argument("steps", nargs="*")
    args = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="tfl-gpu-") as folder:
        steps = Steps(args.tfl, folder)
        found, why = steps.device()
        if not found:
            print("driver: no GPU can be used. " + why)
            return 3
        print("driver: ok\n  " + "\n  ".join(found))
        emulated = "emulated" in found[0]
        checks = [(name, what, lambda s=script, e=environment, n=least: steps.compared(s, e, n)) for name, what, script, environment, least in STEPS]
        checks.append(("interrupts", "a loop without an end is ended from outside", steps.stops))
        if not emulated:
            checks.append(("full", "a GPU without memory says so, and goes on when some is free", steps.full))
        failed = 0
        for name, what, check in checks:
            if args.steps and name not in args.steps:
                continue
            start = time.time()
            wrong = check()
            print(f"{name}: {'FAILED' if wrong else 'ok'} ({what}; {time.time() - start:.1f} s)", flush=True)
            if wrong:
                failed += 1
                print("  " + wrong.strip().replace("\n", "\n  "), flush=True)
                if not args.all:
                    print("later steps were not tried (--all tries them)")
                    break
        return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
