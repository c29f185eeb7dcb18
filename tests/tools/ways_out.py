#!/usr/bin/env python3
"""Loops of machine code that do not end: Ctrl-C and --timeout end them soon, with the line they were at; and what a compiled function
leaves behind when it is gone.

  ways_out.py --tfl build/tfl
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from sanitizers import sanitizer

# Each with the line of its loop.
ENDLESS = {
    "a reduction in the condition": (4, '''import tensorflow as tf
@tf.function
def f(x, limit):
    while tf.reduce_sum(x) < limit:
        x = tf.sin(x)
    return x
f(tf.ones([8]), tf.constant(0.0))
print("ready", flush=True)
f(tf.ones([8]), tf.constant(1e30))
'''),
    "scalars": (5, '''import tensorflow as tf
@tf.function
def f(n, more):
    i = tf.constant(0)
    while i < n or more:
        i = (i + 1) % 1000
    return i
f(tf.constant(0), tf.constant(False))
print("ready", flush=True)
f(tf.constant(0), tf.constant(True))
'''),
    "products": (4, '''import tensorflow as tf
@tf.function
def f(x, n):
    for i in tf.range(n):
        x = tf.matmul(x, x)
        x = x / tf.reduce_max(x)
    return x
f(tf.ones([200, 200]), tf.constant(1))
print("ready", flush=True)
f(tf.ones([200, 200]), tf.constant(100000000))
'''),
    "elements": (4, '''import tensorflow as tf
@tf.function
def f(x, n):
    for i in tf.range(n):
        x = x * 1.0001 + tf.cast(i, tf.float32)
    return x
f(tf.ones([3000]), tf.constant(1))
print("ready", flush=True)
f(tf.ones([3000]), tf.constant(2000000000))
'''),
}

MANY = '''import tensorflow as tf

def once(i):
    @tf.function
    def f(x):
        return x * float(i) + 1.0
    return f(tf.constant([1.0, 2.0]))

for i in range(400):
    once(i)
    if i % 200 == 199:
        print("ready", flush=True)
        input()
'''


def start(tfl, folder, flags, source):
    path = os.path.join(folder, "script.tfl")
    with open(path, "w", encoding="utf-8") as f:
        f.write(source)
    env = {**os.environ, "XDG_CACHE_HOME": os.path.join(folder, "cache"), "TFL_JIT_DEBUG": "log"}
    env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"  # a sanitizer's, which would keep what is freed
    return subprocess.Popen([tfl, "run", "--jit=wait", *flags, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


def wait_ready(process):
    """Reads up to the line `ready`, then waits until the process is at work."""
    for line in process.stdout:
        if line == "ready\n":
            return
    raise RuntimeError(process.stderr.read())


def interrupted(tfl, folder, name, line, source, how):
    """What is wrong with the end of a loop, or nothing."""
    process = start(tfl, folder, ["--timeout", "2s"] if how == "timeout" else [], source)
    try:
        wait_ready(process)
        begin = time.monotonic()
        if how == "interrupt":
            time.sleep(0.5)
            begin = time.monotonic()
            process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        seconds = time.monotonic() - begin
    except subprocess.TimeoutExpired:
        return "it does not end"
    finally:
        process.kill()
    if " compiled in " not in err and " loaded from the cache" not in err:
        return "nothing was compiled: " + err
    code, place = (130, f"line {line}, in f") if how == "interrupt" else (4, f"script.tfl:{line}")
    if process.returncode != code or place not in err:
        return f"exit status {process.returncode} and not {code}, or another line than {line}: {err}"
    # A loaded machine is slow; what does not listen takes forever.
    return f"it took {seconds:.1f} s" if seconds > (5 if how == "interrupt" else 10) else ""


def resident(process):
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1])


def left_behind(tfl, folder):
    process = start(tfl, folder, [], MANY)
    try:
        sizes, mappings = [], []
        for _ in range(2):
            wait_ready(process)
            sizes.append(resident(process))
            with open(f"/proc/{process.pid}/maps", encoding="utf-8") as f:
                mappings.append(len(f.readlines()))
            process.stdin.write("\n")
            process.stdin.flush()
        process.communicate(timeout=30)
    finally:
        process.kill()
    if mappings[1] > mappings[0] + 8:
        return f"{mappings} mappings after 200 and 400 functions"
    return f"{sizes} KiB after 200 and 400 functions" if sizes[1] > sizes[0] + 2000 else ""


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tfl", default="build/tfl")
    tfl = os.path.abspath(p.parse_args().tfl)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        names = list(ENDLESS)
        if sanitizer(tfl) == "thread":
            # It puts handlers of signals off until the program makes a call that it knows of: loops of machine code make none.
            names = ["products"]
            print("the thread sanitizer keeps signals from loops that call nothing")
        checks = [(f"{how}, {name}", lambda name=name, how=how: interrupted(tfl, folder, name, *ENDLESS[name], how))
                  for name in names for how in ("interrupt", "timeout")]
        for name, check in checks + [("many functions", lambda: left_behind(tfl, folder))]:
            wrong = check()
            failed += bool(wrong)
            if wrong:
                print(f"{name}: {wrong}")
    print(f"{len(checks) + 1} checks, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
