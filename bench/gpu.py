#!/usr/bin/env python3
"""Measures the workloads on a GPU, in tfl and beside it in JAX and torch.compile, all in full f32 (no TF32): seconds for one call of a
function whose inputs are on the GPU, GB/s and GFLOP/s where a work has a count of them, and the cost of a launch.

usage: gpu.py [--tfl build/tfl] [--jax PYTHON] [--torch PYTHON] [--rounds 2] [--json FILE] [WORK...]
PYTHON is an interpreter with NumPy and that package for CUDA; a peer without one is left out. Calls are started one after the other and
waited for together, so that a figure is what the GPU takes, or what starting a call takes where that is more. Without a GPU it says
what is missing, and ends with exit status 3.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))

# Beside the works of peers.py, at the sizes that fill a GPU: WORK: (the function's work, shapes of f32 inputs).
LARGE = {
    "add100m": ("vecadd3", [(100_000_000,)] * 2),
    "gelu100m": ("gelu10m", [(100_000_000,)]),
    "sum100m": ("sum10m", [(100_000_000,)]),
    "softmax64k": ("softmax", [(65536, 1024)]),
    "matmul4096": ("matmul1000", [(4096, 4096)] * 2),
}
# Bytes that must pass, and floating-point operations, of one call.
BYTES = {"add100m": 12e8, "gelu100m": 8e8, "sum100m": 4e8, "softmax64k": 2 * 65536 * 4096, "gelu10m": 8e7, "sum10m": 4e7,
         "blackscholes1m": 16e6, "softmax": 2 * 4096 * 4096}
FLOPS = {"matmul4096": 2 * 4096**3, "matmul1000": 2e9, "matmul64": 2 * 64**3, "mlp1k": 2 * 1000 * 128 * 794, "mlp100k": 2 * 100000 * 128 * 794}
LAUNCH = "vecadd3"  # three numbers: nothing but starting it


def peer(name, work, path):
    """One work in a peer: runs in an interpreter that has it."""
    import numpy as np
    import peers
    if name == "jax":
        import jax
        jax.config.update("jax_default_matmul_precision", "highest")
        if not any(d.platform == "gpu" for d in jax.devices()):
            raise SystemExit("jax has no GPU")
        works, wrap, convert, flat = peers.jax_works()
        wait = jax.block_until_ready
    else:
        import torch
        if not torch.cuda.is_available():
            raise SystemExit("torch has no GPU")
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        works, wrap, _, _ = peers.torch_works(True)
        torch.set_default_device("cuda")
        convert = lambda a: torch.tensor(a, device="cuda")
        flat = lambda r: [t.detach().cpu().numpy() for t in (r if isinstance(r, (list, tuple)) else [r])]
        wait = lambda r: torch.cuda.synchronize()
    if work not in works:
        return
    data = np.load(path)
    args = [convert(data[f"arg{i}"]) for i in range(len(data))]
    f = wrap(works[work])
    start = time.perf_counter()
    wait(f(*args))
    first = time.perf_counter() - start
    for _ in range(3):
        out = f(*args)
    wait(out)
    best, n, spent = 1e9, 1, 0.0
    while spent < 1.0:
        start = time.perf_counter()
        for _ in range(n):
            out = f(*args)
        wait(out)
        taken = time.perf_counter() - start
        spent, best = spent + taken, min(best, taken / n)
        if taken < 0.05:
            n *= 2
    checksum = sum(float(np.sum(np.abs(a.astype(np.float64)))) for a in flat(out))
    print(json.dumps({"s": best, "first_s": first, "sum": checksum}))


def run(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=HERE)
    except subprocess.TimeoutExpired:
        return {"error": "no answer after 300 s"}
    lines = done.stdout.strip().splitlines()
    try:
        return json.loads(lines[-1])
    except (ValueError, IndexError):
        return {"error": (done.stderr.strip().splitlines() or ["no result"])[-1][:120]}


def gpus(tfl):
    """What `tfl info` says of GPUs: lines of those that are there, or why there is none."""
    lines = [s for s in subprocess.run([tfl, "info"], capture_output=True, text=True).stdout.splitlines() if s.startswith("GPU")]
    return [s for s in lines if not s.startswith("GPU ")], " ".join(lines).removeprefix("GPU").strip().removeprefix("none.").strip()


def write_inputs(python, folder, works):
    subprocess.run([python, os.path.join(HERE, "peers.py"), "--inputs", folder], check=True)
    code = "import sys, numpy as np; r = np.random.default_rng(0); p, *d = eval(sys.argv[1]); np.savez(p, **{f'arg{i}': r.standard_normal(s, dtype=np.float32) for i, s in enumerate(d)})"
    for name, (_, shapes) in LARGE.items():
        if name in works:
            subprocess.run([python, "-c", code, repr([os.path.join(folder, name + ".npz"), *shapes])], check=True)


def shown(work, seconds):
    text = f"{seconds * 1e6:10.1f} µs"
    if work in BYTES:
        text += f" {BYTES[work] / seconds / 1e9:8.0f} GB/s   "
    elif work in FLOPS:
        text += f" {FLOPS[work] / seconds / 1e9:8.0f} GFLOP/s"
    return text.ljust(30)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("works", nargs="*")
    p.add_argument("--tfl", default=os.path.join(HERE, "..", "build", "tfl"))
    p.add_argument("--jax"), p.add_argument("--torch"), p.add_argument("--json")
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--peer", nargs=3, help=argparse.SUPPRESS)
    o = p.parse_args()
    if o.peer:
        peer(*o.peer)
        return 0
    o.tfl = os.path.abspath(o.tfl)
    found, missing = gpus(o.tfl)
    if not found:
        print(f"There is no GPU to measure. {missing}")
        return 3
    print("\n".join(found))
    python = o.jax or o.torch or sys.executable
    if subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode:
        print(f"{python} has no NumPy, which makes the inputs: name another interpreter with --jax or --torch, or run this with one.")
        return 2
    sides = [(name, interpreter) for name, interpreter in (("jax", o.jax), ("torch-compile", o.torch)) if interpreter]
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        small = ["vecadd3", "cond", "matmul64", "matmul1000", "imatmul512", "loop100k", "power", "mlp1k", "mlp100k", "train128", "blackscholes1m", "gelu10m", "softmax",
                 "sum10m", "mandel512"]
        works = o.works or small + list(LARGE)
        write_inputs(python, folder, works)
        print(f"{'work':16}{'tfl':30}{'best peer':30}{'ratio':>7}  peer           checksum")
        for work in works:
            function, path = LARGE.get(work, (work,))[0], os.path.join(folder, work + ".npz")
            best = results[work] = {}
            for _ in range(o.rounds):
                commands = [("tfl", [o.tfl, "run", os.path.join(HERE, "gpu_works.tfl"), function, path])]
                commands += [(name, [interpreter, os.path.abspath(__file__), "--peer", name, function, path]) for name, interpreter in sides]
                for name, command in commands:
                    r = run(command)
                    if "s" in r and r["s"] < best.get(name, {}).get("s", 1e9):
                        best[name] = r
                    elif "error" in r:
                        best.setdefault(name, r)
            report(work, best)
    launch = results.get(LAUNCH, {})
    print("cost of a call: " + ", ".join(f"{name} {r['s'] * 1e6:.1f} µs" for name, r in launch.items() if "s" in r))
    if o.json:
        with open(o.json, "w", encoding="utf-8") as f:
            json.dump({"gpus": found, "works": results}, f, indent=1)
    return 0


def report(work, best):
    mine = best.get("tfl", {})
    peers = {n: r for n, r in best.items() if n != "tfl" and "s" in r}
    if "s" not in mine:
        print(f"{work:16}{mine.get('error', 'no result')}")
        return
    text = f"{work:16}{shown(work, mine['s'])}"
    if not mine["device"].endswith("GPU:0"):
        text += "(the result is on the CPU) "
    if peers:
        name, r = min(peers.items(), key=lambda item: item[1]["s"])
        same = "same" if abs(r["sum"] - mine["sum"]) <= 1e-4 * abs(r["sum"]) + 1e-6 else "DIFFERS"
        text += f"{shown(work, r['s'])}{r['s'] / mine['s']:7.2f}  {name:14} {same}"
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
