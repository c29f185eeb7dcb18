#!/usr/bin/env python3
"""tfl profile: the busy function comes first, the files it writes can be read, and the script ends as it would without.

  profile.py --tfl build/tfl
"""
import argparse
import html.parser
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

BUSY = '''import sys
import time
import tensorflow as tf

def busy(seconds):
    end = time.monotonic() + seconds
    n = 0
    while time.monotonic() < end:
        n = (n + 1) % 1000
    return "<&>"

def idle(x):
    made = [(lambda k: (lambda: k + i))(i) for i in range(100)]
    return sum(f() for f in made) + tf.reduce_sum(tf.ones([4]))

def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)

busy(0.6)
for _ in range(20):
    idle(1)
    deep(300)
print(sys.argv[1:])
sys.exit(7)
'''

ENDLESS = '''def spin():
    n = 0
    while True:
        n = (n + 1) % 1000
print("ready", flush=True)
spin()
'''


COMPILED = '''import tensorflow as tf

@tf.function(jit_compile=True)
def layers(x, w):
    for _ in tf.range(3):
        x = tf.tanh(x @ w)
    return tf.exp(x) + 1.0

x = tf.ones([400, 500])
w = tf.ones([500, 500]) * 0.001
for _ in range(60):
    layers(x, w)
'''


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.text, self.wrong = [], "", ""

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "link", "img"):
            self.wrong = f"<{tag}>"
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong = f"</{tag}>"

    def handle_data(self, data):
        self.text += data


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def busiest(err):
    """(function, per cent, seconds of the run) of the first row."""
    run = re.search(r"^Profile of .*: ([\d.]+) s, \d+ samples$", err, re.M)
    row = re.search(r"function\n +[\d.]+ +[\d.]+ +([\d.]+)  (\S+) \(", err)
    return (row[2], float(row[1]), float(run[1])) if run and row else None


def whole(tfl, folder):
    script = write(folder, "busy.tfl", BUSY)
    page, trace = os.path.join(folder, "page.html"), os.path.join(folder, "trace.json")
    done = subprocess.run([tfl, "profile", "--html", page, "--trace", trace, script, "a", "--html"], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 7 or done.stdout != "['a', '--html']\n":
        return f"exit status {done.returncode}, output {done.stdout!r}: {done.stderr}"
    first = busiest(done.stderr)
    if not first or first[0] != "busy" or first[1] <= 50:
        return f"busy is not the busiest function: {done.stderr}"
    if "Machine code: " not in done.stderr or "Tensors: " not in done.stderr:
        return "no word of machine code or memory: " + done.stderr
    reader = Page()
    with open(page, encoding="utf-8") as f:
        text = f.read()
    reader.feed(text)
    flames = re.findall(r'<div[^>]* style="--x: ([\d.]+); --w: ([\d.]+); top: (\d+)px" title="(busy), [^"]*busy\.tfl:\d+, [^"]*">busy</div>', text)
    if not flames or max(float(w) for _, w, _, _ in flames) <= 50 or not text.index('class="flames"') < text.index("<table>"):
        return f"no flame of busy before the tables: {flames}"
    if re.search(r"white-space: pre[^-]", text):
        return "long lines make the page scroll sideways"
    if reader.wrong or reader.open or 'return "<&>"' not in reader.text:
        return f"the page is not well-formed: {reader.wrong} {reader.open}"
    with open(trace, encoding="utf-8") as f:
        events = [e for e in json.load(f)["traceEvents"] if e["ph"] == "X"]
    # Outermost calls: those that begin when all before have ended.
    end = seconds = 0.0
    for e in events:
        if e["ts"] >= end - 0.01:
            seconds += e["dur"] / 1e6
            end = e["ts"] + e["dur"]
    if abs(seconds - first[2]) > 0.2 * first[2]:
        return f"the events take {seconds} s of {first[2]} s"
    if not any(e["name"] == "busy" and re.search(r"busy\.tfl:\d+$", e["args"]["place"]) for e in events):
        return "no event of busy"
    left = set(os.listdir(folder)) - {"busy.tfl", "page.html", "trace.json", "cache"}
    return f"files are left: {left}" if left else ""


def compiled(tfl, folder):
    """What runs inside a traced function: the function waits for its code, so that each of its calls is counted."""
    script = write(folder, "compiled.tfl", COMPILED)
    page, trace = os.path.join(folder, "page.html"), os.path.join(folder, "trace.json")
    done = subprocess.run([tfl, "profile", "--html", page, "--trace", trace, script], capture_output=True, text=True, timeout=60, check=False)
    first = busiest(done.stderr)
    if done.returncode != 0 or not first or first[0] != "layers" or first[1] <= 50:
        return f"exit status {done.returncode}, layers is not the busiest function: {done.stderr}"
    row = re.search(r" ([\d.]+) +60 +([\d.]+) +[\d.]+  matmul 400x500x500 \(\S*compiled.tfl:6\)", done.stderr)
    if not row or float(row[1]) < 20 or float(row[2]) == 0:
        return "no row of the product: " + done.stderr
    if not re.search(r"time s +%  line\n +[\d.]+ +[\d.]+  \S*compiled.tfl:6 ", done.stderr):
        return "its line is not the busiest: " + done.stderr
    if not re.search(r"layers.*: 60 runs, [\d.]+ MiB", done.stderr) or "This machine" not in done.stderr:
        return "no word of the function's memory or the machine's limits: " + done.stderr
    with open(page, encoding="utf-8") as f:
        if "matmul 400x500x500" not in f.read():
            return "the page does not show the product"
    with open(trace, encoding="utf-8") as f:
        if not any(e["name"] == "matmul 400x500x500" for e in json.load(f)["traceEvents"]):
            return "no event of the product"
    return ""


def failing(tfl, folder):
    script = write(folder, "fails.tfl", "x = 1\nraise ValueError('no')\n")
    done = subprocess.run([tfl, "profile", script], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 1 or "ValueError: no" not in done.stderr or "Profile of " not in done.stderr:
        return f"exit status {done.returncode}: {done.stderr}"
    done = subprocess.run([tfl, "profile", "--html", os.path.join(folder, "none", "p.html"), "-"], input="x = 1\n", capture_output=True, text=True, timeout=60, check=False)
    return "" if done.returncode == 1 and "can't write" in done.stderr else f"a page without a folder: {done.returncode}: {done.stderr}"


def interrupted(tfl, folder):
    process = subprocess.Popen([tfl, "profile", write(folder, "endless.tfl", ENDLESS)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        process.stdout.readline()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
    first = busiest(err)
    if process.returncode != 130 or "KeyboardInterrupt" not in err:
        return f"exit status {process.returncode}: {err}"
    return "" if first and first[0] == "spin" else "spin is not the busiest function: " + err


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tfl", required=True)
    tfl = os.path.abspath(parser.parse_args().tfl)
    wrong = 0
    for check in (whole, compiled, failing, interrupted):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
            if message := check(tfl, folder):
                print(f"{check.__name__}: {message}")
                wrong += 1
    print(f"{wrong} of 4 checks failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
