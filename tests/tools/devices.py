#!/usr/bin/env python3
"""GPUs without one: a driver library that pretends (fake_cuda.c, compiled here), and everything that may be missing or go wrong.

  devices.py --tfl build/tfl
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

NO_LIBRARY = "The NVIDIA driver's library cannot be loaded: "
# What the pretended driver does, and the sentence about it.
MISSING = [
    ("no-device", "The NVIDIA driver finds no GPU."),
    ("none", "The NVIDIA driver finds no GPU."),
    ("old-driver", "The NVIDIA driver is too old: it is for CUDA 10.2, and TFL needs 11.2."),
    ("no-permission", "The NVIDIA driver does not start: OS call failed or operation not supported on this OS (CUDA_ERROR_OPERATING_SYSTEM)."),
    ("mismatch", "The NVIDIA driver's kernel module and its libcuda.so.1 are of different versions; restarting the machine mends that."),
    ("stub", "The libcuda.so.1 that was found is the CUDA Toolkit's stub and no driver."),
    ("old-gpu", "Pretended GPU 0 has compute capability 7.5, and TFL needs 8.0."),
    ("no-pools", "Pretended GPU 0 has no stream-ordered memory, which TFL needs."),
]

LISTS = '''import tensorflow as tf
gpus = tf.config.list_physical_devices("GPU")
print(gpus, tf.config.list_logical_devices("GPU"))
print(tf.config.experimental.get_device_details(gpus[0]))
print(tf.test.is_gpu_available(), tf.test.is_gpu_available(min_cuda_compute_capability=(9, 5)), tf.test.gpu_device_name())
tf.config.set_visible_devices(gpus[1], "GPU")
print(tf.config.get_visible_devices("GPU"), tf.config.list_logical_devices("GPU"))
tf.config.set_visible_devices([], "GPU")
with tf.device("/GPU:0"):
    print(tf.constant(1.0).device)
'''

MEMORY = '''import tensorflow as tf
info = tf.config.experimental.get_memory_info
print(info("GPU:0"))
with tf.device("/GPU:0"):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    big = tf.ones([1000])
    v = tf.Variable(x)
print(x.device, big.device, v.device)
print(info("GPU:0"))
print(x.numpy().tolist(), x.device)
big = None
print(info("GPU:0"))
tf.config.experimental.reset_memory_stats("GPU:0")
print(info("GPU:0"))
y = tf.constant([5.0]).gpu()
print(y.device, y.cpu().device, (y + 1.0).numpy())
with tf.device("/GPU:0"):
    z = tf.identity(tf.constant([7.0, 8.0]))
print(z.device)
with tf.device("/CPU:0"):
    z = tf.identity(z)
print(z.device, z.numpy())
try:
    tf.constant([1.0]).gpu(1)
except RuntimeError as e:
    print(e)
try:
    tf.config.set_soft_device_placement(False)
    with tf.device("/GPU:4"):
        tf.constant([1.0])
except tf.errors.InvalidArgumentError as e:
    print(e)
'''

FULL = '''import tensorflow as tf
try:
    tf.constant([1.0] * 1000).gpu()
except MemoryError as e:
    print(e)
print(tf.constant([1.0] * 100).gpu().device)
'''

PLACED = '''import tensorflow as tf
tf.debugging.set_log_device_placement(True)
a = tf.constant([1.0, 2.0])
b = a * a
with tf.device("/GPU:0"):
    c = tf.matmul([[1.0]], [[2.0]])
'''

# A loop of launches over many blocks, which the pretended driver does not run.
LOOP = '''import tensorflow as tf
@tf.function
def doubled(x):
    while tf.reduce_sum(x) < 1e7:
        x = x * 2.0
    return x
with tf.device("/GPU:0"):
    y = doubled(tf.ones([100000]))
print(y.device, float(y[-1]))
'''

# Two launches, five times.
STRAIGHT = '''import tensorflow as tf
@tf.function
def spread(x):
    return x / tf.reduce_sum(x, 0)
x = tf.ones([1000, 1000])
for _ in range(5):
    with tf.device("/GPU:0"):
        y = spread(x)
print(y.device)
'''

PRODUCTS = '''import tensorflow as tf
print(tf.config.experimental.tensor_float_32_execution_enabled())
tf.config.experimental.enable_tensor_float_32_execution(True)
print(tf.config.experimental.tensor_float_32_execution_enabled())
def numbers(shape):
    return tf.reshape(tf.cast(tf.range(tf.reduce_prod(shape)) % 13 - 6, tf.float32), shape)
def product(ta, tb):
    return tf.function(lambda a, b: tf.matmul(a, b, transpose_a=ta, transpose_b=tb))
for ta in [False, True]:
    for tb in [False, True]:
        a, b = numbers([70, 90] if ta else [90, 70]), numbers([110, 70] if tb else [70, 110])
        with tf.device("/CPU:0"):
            want = product(ta, tb)(a, b)
        with tf.device("/GPU:0"):
            given = product(ta, tb)(a, b)
        print("right" if given.numpy().tolist() == want.numpy().tolist() else "wrong")
a, b = numbers([3, 60, 50]), numbers([3, 50, 70])
with tf.device("/CPU:0"):
    want = product(False, False)(a, b)
given = product(False, False)(a, b)
print("right" if given.numpy().tolist() == want.numpy().tolist() else "wrong")
tf.config.experimental.enable_tensor_float_32_execution(False)
print(tf.config.experimental.tensor_float_32_execution_enabled(), "zeros" if float(tf.reduce_sum(tf.abs(product(False, False)(a, b)).numpy())) == 0 else "wrong")
'''


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tfl", required=True)
    args = p.parse_args()
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        print("there is no C compiler: nothing was tried")
        return 0
    with tempfile.TemporaryDirectory(prefix="tfl-devices-") as folder:
        return Check(args.tfl, compiler, folder).all()


class Check:
    def __init__(self, tfl, compiler, folder):
        self.tfl, self.folder, self.failed = os.path.abspath(tfl), folder, 0
        self.library = os.path.join(folder, "libpretended.so")
        self.calls = os.path.join(folder, "calls")
        self.products = os.path.join(folder, "libproducts.so")
        for made, source in ((self.library, "fake_cuda.c"), (self.products, "fake_cublaslt.c")):
            subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", made, os.path.join(HERE, source)], check=True)

    def run(self, *command, behaviour="", script=None, **environment):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("TFL_", "CUDA_"))}
        env.update(TFL_CUDA_LIBRARY=self.library, TFL_CUBLASLT_LIBRARY=self.products, TFL_FAKE_CUDA=behaviour, TFL_FAKE_CUDA_LOG=self.calls, XDG_CACHE_HOME=self.folder)
        env.update(environment)
        if os.path.exists(self.calls):
            os.unlink(self.calls)
        if script is not None:
            path = os.path.join(self.folder, "script.tfl")
            with open(path, "w", encoding="utf-8") as f:
                f.write(script)
            command = (*command, path)
        done = subprocess.run([self.tfl, *command], capture_output=True, text=True, env=env, timeout=120, cwd=self.folder)
        calls = ""
        if os.path.exists(self.calls):
            with open(self.calls, encoding="utf-8") as f:
                calls = f.read()
        return done, calls

    def same(self, name, got, want):
        if got != want:
            self.failed += 1
            print(f"{name}\n--- wanted\n{want}\n--- given\n{got}")

    def has(self, name, got, part):
        if part not in got:
            self.failed += 1
            print(f"{name}: not found: {part}\n--- given\n{got}")

    def all(self):
        self.info()
        self.missing()
        self.lists()
        self.memory()
        self.placement()
        self.loops()
        self.fast_products()
        self.first_run()
        if not self.failed:
            print("all is well")
        return 1 if self.failed else 0

    def info(self):
        done, calls = self.run("info", behaviour="two")
        line = "{}, compute capability 9.0, 132 multiprocessors, 1.0 GiB; driver for CUDA 12.4, PTX 8.4"
        self.same("info", done.stdout.splitlines()[-3:],
                  ["devices       CPU:0, GPU:0, GPU:1"] + [f"GPU:{i}         " + line.format(f"Pretended GPU {i}") for i in (0, 1)])
        self.same("info takes nothing of a GPU", calls, "")

    def missing(self):
        for behaviour, sentence in MISSING:
            done, _ = self.run("info", behaviour=behaviour)
            self.same(behaviour, done.stdout.splitlines()[-2:], ["devices       CPU:0", "GPU           none. " + sentence])
        for value in ("", "-1", "NoDevFiles"):
            done, _ = self.run("info", behaviour="no-device", CUDA_VISIBLE_DEVICES=value)
            self.same("hidden", done.stdout.splitlines()[-1], f"GPU           none. CUDA_VISIBLE_DEVICES='{value}' hides all GPUs.")
        done, _ = self.run("info", TFL_CUDA_LIBRARY="/nowhere/libcuda.so.1")
        self.has("no library", done.stdout, "GPU           none. " + NO_LIBRARY)
        done, _ = self.run("info", TFL_GPU="off")
        self.has("off", done.stdout, "GPU           none. TFL_GPU=off hides all GPUs.")
        # A script that asks for a GPU: one warning, and it runs.
        script = 'import tensorflow as tf\nfor _ in range(3):\n    with tf.device("/GPU:0"):\n        print((tf.constant([1.0]) + 1.0).numpy())\n'
        done, _ = self.run("run", behaviour="none", script=script)
        self.same("runs on the CPU", (done.returncode, done.stdout), (0, "[2.]\n" * 3))
        self.same("one warning", done.stderr, "tfl: warning: GPU:0 was asked for, and the NVIDIA driver finds no GPU: the CPU does its work\n")
        done, _ = self.run("run", "--device", "gpu", behaviour="none", script='print("here")\n')
        self.same("--device gpu", (done.stdout, done.stderr),
                  ("here\n", "tfl: warning: a GPU was asked for, and there is none: the CPU does its work. The NVIDIA driver finds no GPU.\n"))
        # Who does not ask is not told, and no driver is loaded.
        done, calls = self.run("run", behaviour="none", script='import tensorflow as tf\nprint(tf.constant(1.0).device)\n')
        self.same("not asked", (done.stdout, done.stderr, calls), ("/job:localhost/replica:0/task:0/device:CPU:0\n", "", ""))

    def lists(self):
        done, calls = self.run("run", behaviour="two", script=LISTS)
        devices = ["[PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU'), PhysicalDevice(name='/physical_device:GPU:1', device_type='GPU')] "
                   "[LogicalDevice(name='/device:GPU:0', device_type='GPU'), LogicalDevice(name='/device:GPU:1', device_type='GPU')]",
                   "{'device_name': 'Pretended GPU 0', 'compute_capability': (9, 0)}",
                   "True False /device:GPU:0",
                   "[PhysicalDevice(name='/physical_device:GPU:1', device_type='GPU')] [LogicalDevice(name='/device:GPU:0', device_type='GPU')]",
                   "/job:localhost/replica:0/task:0/device:CPU:0"]
        self.same("lists", done.stdout.splitlines(), devices)
        self.same("lists take nothing of a GPU", calls, "")

    def memory(self):
        gpu, cpu = "/job:localhost/replica:0/task:0/device:GPU:0", "/job:localhost/replica:0/task:0/device:CPU:0"
        done, calls = self.run("run", script=MEMORY)
        want = ["{'current': 0, 'peak': 0}", f"{gpu} {gpu} {gpu}", "{'current': 4016, 'peak': 4016}", f"[[1.0, 2.0], [3.0, 4.0]] {gpu}",
                "{'current': 0, 'peak': 4016}", "{'current': 0, 'peak': 0}", f"{gpu} {cpu} [6.]", gpu, f"{cpu} [7. 8.]", "GPU:1 unknown device.",
                "Could not satisfy device specification '/job:localhost/replica:0/task:0/device:GPU:4'. enable_soft_placement=0. "
                f"Supported device types [CPU, GPU]. All available devices [{cpu}, {gpu}]."]
        self.same("memory", done.stdout.splitlines(), want)
        self.same("memory, exit", (done.returncode, done.stderr), (0, ""))
        for line in ("context 0", "pool attribute 1", "no context 0"):
            self.same("once: " + line, calls.splitlines().count(line), 1)
        self.same("what is taken is released", sum(line.startswith("allocate") for line in calls.splitlines()), calls.splitlines().count("release"))
        done, calls = self.run("run", behaviour="out-of-memory", script=FULL)
        self.same("out of memory", done.stdout.splitlines(),
                  ["allocating 4000 bytes on GPU 0 (0 of 1073741824 in use) failed: out of memory (CUDA_ERROR_OUT_OF_MEMORY)", gpu])
        self.has("out of memory: what was kept is given back first", calls, "trim 0")

    def placement(self):
        done, _ = self.run("run", script=PLACED)
        here, there = "in device /job:localhost/replica:0/task:0/device:CPU:0", "in device /job:localhost/replica:0/task:0/device:GPU:0"
        self.same("log", done.stderr.splitlines()[:2], [f"Executing op _EagerConst {here}", f"Executing op Mul {here}"])
        self.same("log of a scope", done.stderr.splitlines()[-1], f"Executing op MatMul {there}")

    def loops(self):
        """A loop over launches is a part of a graph; with an older driver the launches of an iteration are one, and the host decides. What fails
        while they are recorded leaves them to be launched one by one."""
        gpu = "/job:localhost/replica:0/task:0/device:GPU:0"
        done, calls = self.run("run", "--jit=wait", script=LOOP)
        nodes = [line for line in calls.splitlines() if line.startswith(("node", "record", "launch", "no graph"))]
        blocks = "node: * blocks"
        shape = [blocks if line.endswith(" blocks") and line.startswith("node") else line for line in nodes]
        part = ["node: condition 1000 begins", "node: 1000 repeats"]
        self.same("a loop in a graph", (done.returncode, done.stdout.split()[:1]), (0, [gpu]))
        self.same("its parts", [line for line in shape if line != blocks], ["record", *part, "node: condition 1000 again", "recorded", "launch graph", "no graph"])
        self.same("its body is not empty", shape.index("node: condition 1000 again") > shape.index("node: 1000 repeats") + 1, True)
        for older in ("driver-12.2", "no-conditions"):
            done, calls = self.run("run", "--jit=wait", behaviour="loops-go-on," + older, script=LOOP)
            lines = calls.splitlines()
            tries = 2 if older == "no-conditions" else 1
            self.same("a recorded iteration, " + older, (done.returncode, done.stdout.split()[:1], lines.count("record"), lines.count("recorded"),
                                                         lines.count("launch graph"), lines.count("no graph")), (0, [gpu], tries, 1, 4, 1))
        done, calls = self.run("run", "--jit=wait", behaviour="loops-go-on,launch-refused-in-recording,driver-12.2", script=LOOP)
        lines = calls.splitlines()
        self.same("a launch fails in a recording", (done.returncode, done.stdout.split()[-1:], lines.count("record"), lines.count("recorded"), lines.count("launch graph")),
                  (0, ["128.0"], 1, 0, 0))
        done, calls = self.run("run", "--jit=wait", script=LOOP, TFL_GPU_GRAPHS="off", behaviour="loops-go-on")
        self.same("without graphs", (done.stdout.split()[:1], calls.splitlines().count("record")), ([gpu], 0))
        # A function that is called again and again: one launch from the third time on.
        done, calls = self.run("run", "--jit=wait", script=STRAIGHT)
        lines = [line.split()[0] + line[line.index(" "):].replace("launch", "").strip()[:5] for line in calls.splitlines() if line.startswith("launch ")]
        self.same("a graph for what is called often", (done.stdout.split()[:1], calls.splitlines().count("recorded"), lines.count("launchgraph")), ([gpu], 1, 3))

    def fast_products(self):
        """Products of TF32 are a library's, when a script asks for them: the pretended GPU computes nothing else."""
        done, calls = self.run("run", "--jit=wait", "--device=gpu", script=PRODUCTS)
        self.same("products", (done.returncode, done.stdout, done.stderr), (0, "False\nTrue\nright\nright\nright\nright\nright\nFalse zeros\n", ""))
        self.has("descriptions go", calls, "library ends with 0 descriptions")
        done, calls = self.run("run", "--jit=wait", "--device=gpu", script=PRODUCTS, TFL_CUBLASLT_LIBRARY="/nowhere/libcublasLt.so")
        self.same("no library", (done.returncode, done.stdout.count("right"), "library ends" in calls), (0, 0, False))

    def first_run(self):
        """gpu_first_run.py names what does not work."""
        def steps(behaviour, *names, **environment):
            env = {k: v for k, v in os.environ.items() if not k.startswith(("TFL_", "CUDA_"))}
            env.update(TFL_CUDA_LIBRARY=self.library, TFL_FAKE_CUDA=behaviour, **environment)
            done = subprocess.run([sys.executable, os.path.join(HERE, "gpu_first_run.py"), "--tfl", self.tfl, *names], capture_output=True, text=True, env=env, timeout=300)
            return done.returncode, done.stdout
        self.same("no GPU", steps("none"), (3, "driver: no GPU can be used. GPU           none. The NVIDIA driver finds no GPU.\n"))
        code, text = steps("bad-code", "module")
        self.same("code that does not load, status", code, 1)
        self.has("code that does not load", text, "module: FAILED")
        self.has("what the driver said", text, "Unexpected instruction")
        code, text = steps("", "module")
        self.has("wrong values", text, "other values\n  --- GPU\n  [0. 0. 0.]")
        code, text = steps("", "module", TFL_GPU="emulate")
        self.same("a step that passes, status", code, 0)
        self.has("a step that passes", text, "module: ok")


if __name__ == "__main__":
    sys.exit(main())
