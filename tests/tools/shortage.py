#!/usr/bin/env python3
"""A system without memory: requests of memory are refused, one or every k-th from some place on (shortage.c), while the scripts of tests/scripts run.
Each run ends as without that, with an exception (exit code 1) or with exit code 70 and one sentence; never by a signal. Then `ulimit -v`: what
grows without end ends in a MemoryError that a script can catch. Exit status 0: all right.

usage: shortage.py --tfl PROGRAM [--scripts N] [--places N] [--seed N] [--only NAME]
"""
import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile

from sanitizers import sanitizer

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.join(HERE, "..", "scripts")
SENTENCE = "tfl: out of memory\n"

# What takes more than there is, as the statement of a loop.
GROWS = {
    "texts": "kept.append('%d' % len(kept) * 3000)",
    "lists": "kept.append([None] * 1000)",
    "dictionary": "kept.append({i: str(i) for i in range(200)})",
    "one list": "kept.extend(range(100000))",
    "tensors": "kept.append(tf.zeros([1000]) + 1.0)",
    "large tensors": "kept.append(tf.zeros([1000000]) + 1.0)",
    "bytes": "kept.append(bytes(1000000))",
}


def run(tfl, script, env, limit=None, timeout=60):
    def before():
        if limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    done = subprocess.run([tfl, "run", os.path.basename(script)], cwd=os.path.dirname(script), env=env, capture_output=True, timeout=timeout, preexec_fn=before, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def judge(plain, code, err):
    """What is wrong with how a run has ended."""
    if code == plain:
        return None
    if code == 70:
        return None if SENTENCE in err else "exit code 70 without its sentence"
    if code == 1:
        return None if err.strip() else "exit code 1 without a word"
    if code in (2, 3):
        return None if "memory" in err.lower() else "an error before running that is none of memory"
    return f"it ended with {code}"


def refusals(tfl, shim, a, folder):
    names = sorted(os.path.join(where, n) for where, _, files in os.walk(SCRIPTS) for n in files if n.endswith(".tfl"))
    rng = random.Random(a.seed)
    chosen = [n for n in names if a.only in n] if a.only else rng.sample(names, min(a.scripts, len(names)))
    base = {**os.environ, "XDG_CACHE_HOME": os.path.join(folder, "cache"), "TMPDIR": folder}
    wrong, runs = [], 0
    for name in chosen:
        count = os.path.join(folder, "count")
        if os.path.exists(count):
            os.unlink(count)
        run(tfl, name, base)  # fills the caches
        plain, _, _ = run(tfl, name, {**base, "LD_PRELOAD": shim, "SHORTAGE_COUNT": count})
        try:
            total = int(open(count).read())
        except (OSError, ValueError):
            total = 20000  # it ends without destructors
        for _ in range(a.places):
            at = rng.choice([rng.randint(1, 400), rng.randint(1, total), rng.randint(1, total)])
            every = rng.choice([0, 0, 1, 7, 101, 4999])
            env = {**base, "LD_PRELOAD": shim, "SHORTAGE_AT": str(at), "SHORTAGE_EVERY": str(every)}
            try:
                code, _, err = run(tfl, name, env)
                problem = judge(plain, code, err)
            except subprocess.TimeoutExpired:
                problem = "it does not end"
            runs += 1
            if problem:
                wrong.append(f"{os.path.basename(name)} at {at}, every {every}: {problem}\n    {err.strip().splitlines()[-1:] if problem != 'it does not end' else ''}")
    return wrong, runs


def address_space(tfl, folder):
    wrong = []
    env = {**os.environ, "XDG_CACHE_HOME": os.path.join(folder, "cache")}
    for name, statement in GROWS.items():
        path = os.path.join(folder, "grows.tfl")
        with open(path, "w") as f:
            f.write(f"import tensorflow as tf\nkept = []\ntry:\n    while True:\n        {statement}\n"
                    "except (MemoryError, tf.errors.ResourceExhaustedError) as e:\n    kept = None\n    print('caught')\nprint(sum(range(10)))\n")
        code, out, err = run(tfl, path, env, limit=400 << 20, timeout=120)
        if (code, out) != (0, "caught\n45\n") and not (code == 70 and SENTENCE in err):
            wrong.append(f"ulimit -v, {name}: exit code {code}, {out!r}, {err[-200:]!r}")
    return wrong, len(GROWS)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tfl", required=True)
    p.add_argument("--scripts", type=int, default=24)
    p.add_argument("--places", type=int, default=8)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only")
    a = p.parse_args()
    tfl = os.path.abspath(a.tfl)
    if kind := sanitizer(tfl):
        return print(f"not with the {kind} sanitizer: it has memory of its own and ends the program without it")
    with tempfile.TemporaryDirectory() as folder:
        shim = os.path.join(folder, "shortage.so")
        built = subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-o", shim, os.path.join(HERE, "shortage.c")], capture_output=True, text=True)
        if built.returncode:
            print(built.stderr)
            return 1
        wrong, runs = refusals(tfl, shim, a, folder)
        more, count = ([], 0) if a.only else address_space(tfl, folder)
    for problem in wrong + more:
        print(problem)
    print(f"{runs + count} runs, {len(wrong) + len(more)} wrong")
    return 1 if wrong or more else 0


if __name__ == "__main__":
    sys.exit(main())
