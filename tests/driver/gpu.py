"""Tests on a GPU (tests/run --gpu): what a first run on a machine looks at, scripts with every traced function compiled for it and run there,
random programs, what stays behind, and some of them under NVIDIA's compute-sanitizer where that is installed. TFL_GPU=emulate runs them on an
emulated one."""
import os
import shutil

from . import collect, process

FLAGS = ("--jit=wait", "--device=gpu")
# Texts that are those of a machine without a GPU.
WITHOUT = ("scripts/tensors/devices",)
# Of every kind of kernel something, and short: a sanitizer takes its time.
SANITIZED = ("basic_dense_inference", "basic_loops", "eager_reductions", "grad_descent_fits", "autograph_mandelbrot_life")

LEAK = '''import tensorflow as tf
@tf.function
def step(x, w):
    y = tf.nn.relu(tf.matmul(x, w))
    return tf.reduce_sum(y), w - 0.01 * y[:64]
x = tf.ones([64, 64])
w = tf.ones([64, 64])
used = []
for i in range(200):
    loss, w = step(x, w)
    if i % 50 == 49:
        loss.numpy()
        used.append(tf.config.experimental.get_memory_info("GPU:0")["current"])
print("same" if len(set(used)) == 1 else used)
'''


def missing(context):
    """Why there is no GPU, or None."""
    outcome = process.run([context.tfl, "info"], context.root, context.scratch, 60)
    for line in process.text(outcome.out).splitlines():
        if line.startswith("GPU:"):
            return None
        if line.startswith("GPU "):
            return line.removeprefix("GPU").strip()
    return process.status(outcome, 60)


def tools():
    """Lines as those of tools.list: what tries a GPU."""
    which = os.environ.get("TFL_GPU") or "real"
    return "gpu_first_run.py --all", f"native_programs.py --gpu {which} --count 200 --seed 31"


def all_tests(context):
    for tool in tools():
        yield collect.Test("gpu/" + tool.split()[0], lambda tool=tool: collect.tool(context, tool, 1800))
    for test in (*collect.conformance(context, FLAGS), *collect.scripts(context, FLAGS)):
        with open(context.path(test.name + ".tfl"), encoding="utf-8") as f:
            if "tensorflow" in f.read() and test.name not in WITHOUT:
                yield collect.Test("gpu/" + test.name, test.function)
    yield collect.Test("gpu/leaks", lambda: leaks(context))
    sanitizer = shutil.which("compute-sanitizer")
    if sanitizer:
        for name in SANITIZED:
            yield collect.Test("gpu/sanitizer/" + name, lambda name=name: sanitized(context, sanitizer, name))


def leaks(context):
    path = os.path.join(context.scratch, "leaks.tfl")
    with open(path, "w", encoding="utf-8") as f:
        f.write(LEAK)
    outcome = process.run([context.tfl, "run", *FLAGS, path], context.root, context.scratch, 120 * context.patience)
    return None if process.text(outcome.out) == "same\n" else process.text(outcome.out) + process.tail(outcome.err)


def sanitized(context, sanitizer, name):
    timeout = 600 * context.patience
    path = context.path("conformance", name + ".tfl")
    outcome = process.run([sanitizer, "--error-exitcode", "9", "--leak-check", "full", context.tfl, "run", *FLAGS, path], os.path.dirname(path), context.scratch, timeout)
    return None if outcome.code == 0 else process.status(outcome, timeout) + "\n" + process.tail(outcome.out + outcome.err, 30)
