#!/usr/bin/env python3
"""Kills a worker of a training run at a random moment, lets the run go on with another number of workers, perhaps kills it again, and compares what it
came to with a run that nobody touched.

  kill_workers.py --tfl build/tfl [--runs 200] [--seed 1] [--most 4]
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from workers import HERE, launchers, worker_of

SECONDS = 10  # a run ends so soon after one of its workers was killed
JOINING = 75  # ... before all had met, under a launcher that does not tell


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--tfl", required=True)
    p.add_argument("--runs", type=int, default=200)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--most", type=int, default=4, help="workers of a run, at most")
    args = p.parse_args()
    chance = random.Random(args.seed)
    found = launchers(args.tfl)
    if not found:
        print("skipped: no MPI is installed, or TFL was built without it")
        return 0
    script, wrong, slowest, killed = os.path.join(HERE, "train.tfl"), 0, 0.0, 0
    for number in range(args.runs):
        launcher = found[number % len(found)]
        with tempfile.TemporaryDirectory() as folder:
            words = ["--allow-write", folder, script, chance.choice(["mlp", "cnn"]), "traced"]
            begun = time.monotonic()
            code, whole, err = launcher.run(1, words + [os.path.join(folder, "whole")])
            length = time.monotonic() - begun
            if code != 0:
                print(f"FAIL the run itself: {code}\n{err}")
                return 1
            backup, out = os.path.join(folder, "cut"), ""
            for attempt in range(4):
                workers = chance.randint(2, args.most)
                run = launcher.start(workers, words + [backup])
                if attempt < 3:
                    time.sleep(chance.uniform(0.05, length * 1.5))
                    victim = chance.randrange(workers)
                    try:
                        os.kill(worker_of(run.pid, victim), signal.SIGKILL)
                        killed += 1
                    except (RuntimeError, OSError):
                        pass  # it was over, or had not begun
                    at = time.monotonic()
                try:
                    out, err = run.communicate(timeout=JOINING)
                except subprocess.TimeoutExpired:
                    os.killpg(run.pid, signal.SIGKILL)
                    print(f"FAIL run {number}: it does not end")
                    return 1
                if run.returncode == 0:
                    break
                if "did not come within" not in err:
                    slowest = max(slowest, time.monotonic() - at)
            if run.returncode != 0 or out != whole:
                wrong += 1
                print(f"FAIL run {number} ({launcher.name}): {run.returncode}\n{out}{whole}{err}")
    if slowest > SECONDS:
        print(f"FAIL a run ended {slowest:.1f} s after its worker was killed")
    print(f"{args.runs} runs, {killed} kills, {wrong} wrong; the slowest end took {slowest:.1f} s")
    return 1 if wrong or slowest > SECONDS else 0


if __name__ == "__main__":
    sys.exit(main())
