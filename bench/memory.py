#!/usr/bin/env python3
"""The peak of the resident memory of processes that run a workload of works.tfl, in tfl and its peers.

usage: memory.py [--tfl build/tfl] [--tf PYTHON] [--jax PYTHON] [--torch PYTHON] [WORK...]
PYTHON is an interpreter that has the package, and NumPy. Two figures a side, in MiB: the whole process, and what that is above the same
process running `vecadd3`, whose operands are three numbers: inputs, temporaries and results.
"""
import argparse
import os
import subprocess
import sys
import tempfile

from compare import ENVIRONMENT

HERE = os.path.dirname(os.path.abspath(__file__))
WORKS = ["mlp1k", "mlp100k", "train128", "blackscholes1m", "gelu10m", "softmax", "mandel512"]


def peak(command):
    """MiB, or None where the command fails (a peer that does not have the work)."""
    child = subprocess.Popen(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    printed = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    return usage.ru_maxrss / 1024 if status == 0 and printed.strip() else None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("works", nargs="*", default=WORKS)
    p.add_argument("--tfl", default=os.path.join(HERE, "..", "build", "tfl"))
    p.add_argument("--tf"), p.add_argument("--jax"), p.add_argument("--torch")
    o = p.parse_args()
    script, peers = os.path.join(HERE, "works.tfl"), os.path.join(HERE, "peers.py")
    sides = [("tfl eager", [o.tfl, "run", script, "eager"]), ("tfl graph", [o.tfl, "run", script, "graph"])]
    if o.tf:
        sides += [(f"TF {mode}", [o.tf, script, mode]) for mode in ("eager", "graph", "xla")]
    sides += [(name, [python, peers, name]) for name, python in (("jax", o.jax), ("torch-eager", o.torch)) if python]
    with tempfile.TemporaryDirectory() as folder:
        maker = o.jax or o.torch or o.tf or sys.executable
        subprocess.run([maker, peers, "--inputs", folder], check=True, env=ENVIRONMENT)
        bare = {name: peak(command + ["vecadd3", os.path.join(folder, "vecadd3.npz")]) for name, command in sides}
        print(f"{'MiB':16}" + "".join(f"{name:>16}" for name, _ in sides))
        for work in o.works:
            cells = []
            for name, command in sides:
                mib = peak(command + [work, os.path.join(folder, work + ".npz")])
                cells.append("-" if mib is None or bare[name] is None else f"{mib:.0f} (+{mib - bare[name]:.0f})")
            print(f"{work:16}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
