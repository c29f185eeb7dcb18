#!/usr/bin/env python3
"""Every kernel that scripts would run on a GPU assembles for GPUs from 2020 on, without spills.

The scripts are run on an emulated GPU, which also writes the PTX; ptxas of the CUDA Toolkit, of the PyPI package nvidia-cuda-nvcc or from
$TFL_PTXAS assembles it. Without one nothing is tried, and a line says so. The scripts' text must be what the file beside them holds.

  ptx.py --tfl build/tfl [--works | --sample N] [SCRIPT...]      (by default every Nth script of tests/scripts and tests/conformance, and the works below)
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))
from driver.gpu import WITHOUT

TARGETS = ["sm_80", "sm_90", "sm_100"]

# Works that are large enough for all forms of kernels, sizes known and not.
WORKS = '''import tensorflow as tf

def gelu(x):
  return 0.5 * x * (1.0 + tf.tanh(0.79788456 * (x + 0.044715 * x * x * x)))
def scaled(x):
  return tf.nn.softmax(x)
def dense(a, b, c):
  return tf.nn.relu(tf.matmul(a, b) + c)
def sums(x):
  return tf.reduce_sum(x), tf.reduce_sum(x, 0), tf.reduce_max(x, 1), tf.reduce_mean(x)
def loop(n):
  s = 0.0
  i = 0
  while i < n:
    s = s + tf.cast(i * i, tf.float32)
    i = i + 1
  return s
def matrices(n, x):
  r = x
  for _ in tf.range(n):
    r = tf.matmul(x, r)
  return r
def rows(x):
  while tf.reduce_sum(x) < 1e6:
    x = tf.concat([x[1:] * 2.0, x[:1] + 1.0], 0)
  return x
def routines(x):
  i = tf.cast(x[:, 0], tf.int32) % 50
  written = tf.tensor_scatter_nd_add(x, i[:, None], x)
  return (tf.cumsum(x, 1), tf.math.cumprod(x[:, :3], 0, exclusive=True, reverse=True), tf.argmax(x, 1), tf.sort(x, 0, direction="DESCENDING"),
          tf.math.top_k(x, 7)[1], tf.math.unsorted_segment_max(x, i, 60), written)
def windows(x, w):
  y = tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME") + 1.0)
  z = tf.nn.avg_pool2d(tf.nn.max_pool2d(y, 3, 2, "SAME"), 2, 2, "VALID")
  loss = tf.reduce_sum(tf.nn.depthwise_conv2d(z, w[..., :2], [1, 1, 1, 1], "SAME"))
  return loss, *tf.gradients(loss, [x, w])
def numbers():
  return tf.random.stateless_normal([1000], [1, 2]), tf.random.stateless_uniform([1000], [1, 2], 0, 9, tf.int64)
def halves(x):
  return tf.reduce_sum(tf.exp(x), 1), tf.transpose(x)

for dtype in [tf.float32, tf.float64, tf.int32, tf.int64]:
  x = tf.cast(tf.reshape(tf.range(200 * 300) % 97, [200, 300]), dtype)
  y = tf.transpose(x)
  for known in [True, False]:
    def staged(f, *arguments):
      types = [tf.TensorSpec(a.shape if known else [None] * len(a.shape), a.dtype) for a in arguments]
      out = tf.function(f, input_signature=types)(*arguments)
      print(f.__name__, dtype.name, [float(tf.reduce_sum(tf.cast(t, tf.float64))) for t in (out if isinstance(out, tuple) else [out])])
    staged(dense, x, y, tf.ones([200], dtype))
    staged(sums, x)
    staged(matrices, tf.constant(5), x[:10, :10])
    if dtype.is_floating:
      staged(gelu, x)
      staged(scaled, x)
      staged(rows, x)
      staged(halves, tf.cast(x / 20, tf.float16))
      staged(halves, tf.cast(x / 20, tf.bfloat16))
    staged(routines, x)
    if dtype.is_floating:
      images = tf.reshape(x[:144], [3, 15, 15, 64])
      staged(windows, images, tf.reshape(x[:144, :256], [3, 3, 64, 64]))
print(tf.function(loop)(tf.constant(1000)))
print([float(tf.reduce_sum(tf.cast(t, tf.float64))) for t in tf.function(numbers)()])
'''


def find_ptxas():
    places = [os.environ.get("TFL_PTXAS"), shutil.which("ptxas"), "/usr/local/cuda/bin/ptxas"]
    for folder in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *sys.path}:
        places += sorted(glob.glob(os.path.join(folder or ".", "nvidia", "*", "bin", "ptxas")))
    return next((p for p in places if p and os.access(p, os.X_OK)), None)


def run(tfl, path, folder, device):
    env = {k: v for k, v in os.environ.items() if not k.startswith("TFL_")}
    env.update(XDG_CACHE_HOME=os.path.join(folder, "cache"), TFL_GPU_PTX=os.path.join(folder, "ptx"))
    flags = ["--jit=wait", "--no-cache"]
    if device:
        env["TFL_GPU"] = "emulate"
        flags += ["--device", "gpu"]
    return subprocess.run([tfl, "run", *flags, path], cwd=os.path.dirname(path), env=env, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL)


def assemble(ptxas, path, target):
    """What is wrong, or None."""
    done = subprocess.run([ptxas, "-v", "-arch=" + target, path, "-o", os.devnull], capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip()
    spills = [line.strip() for line in done.stderr.splitlines() if re.search(r"[1-9]\d* bytes spill", line)]
    return "; ".join(spills) or None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tfl", default="build/tfl")
    p.add_argument("--works", action="store_true", help="only the works of this file")
    p.add_argument("--sample", type=int, default=1)
    p.add_argument("scripts", nargs="*")
    args = p.parse_args()
    tfl = os.path.abspath(args.tfl)
    ptxas = find_ptxas()
    failed = kernels = files = 0
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "ptx"))
        works = os.path.join(folder, "works.tfl")
        with open(works, "w", encoding="utf-8") as f:
            f.write(WORKS)
        some = sorted(p for kind in ("scripts", "conformance") for p in glob.glob(os.path.join(ROOT, "tests", kind, "**", "*.tfl"), recursive=True))
        some = [] if args.works else [p for p in some if os.path.relpath(p, os.path.join(ROOT, "tests"))[:-4] not in WITHOUT][::args.sample]
        scripts = args.scripts or [works] + some
        for path in map(os.path.abspath, scripts):
            got = run(tfl, path, folder, True)
            expected = os.path.splitext(path)[0] + ".out"
            if os.path.exists(expected):
                with open(expected, encoding="utf-8") as f:
                    text = f.read()
            else:
                text = run(tfl, path, folder, False).stdout
            if got.stdout != text or got.returncode:
                failed += 1
                print(f"{path}: another text on the emulated GPU\n{got.stderr[-500:]}")
        with open(os.path.join(ROOT, "runtime", "gpu", "cuda_graph.cpp"), encoding="utf-8") as f:  # the kernel that looks at conditions
            written = f.read()
        with open(os.path.join(folder, "ptx", "condition.ptx"), "w", encoding="utf-8") as f:
            f.write(written[written.index('R"(') + 3:written.index(')";')])
        for path in sorted(glob.glob(os.path.join(folder, "ptx", "*.ptx"))):
            with open(path, encoding="utf-8") as f:
                text = f.read()
            files += 1
            kernels += text.count(".entry")
            if text.startswith("// ") and ".version" not in text:
                failed += 1
                print("no PTX:", text.strip())
                continue
            for target in TARGETS if ptxas else []:
                wrong = assemble(ptxas, path, target)
                if wrong:
                    failed += 1
                    print(f"{target}: {wrong[:600]}")
                    keep = os.environ.get("TFL_PTX_KEEP")
                    if keep:
                        shutil.copy(path, keep)
    print(f"{len(scripts)} scripts, {kernels} kernels in {files} files, {failed} wrong" if ptxas else
          f"{len(scripts)} scripts, {failed} wrong; {kernels} kernels in {files} files were not assembled: there is no ptxas (CUDA Toolkit, or ./dev test --ptx)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
