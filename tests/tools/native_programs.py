#!/usr/bin/env python3
"""Random programs over tensors, run eagerly, as graphs and as machine code: values, errors and their texts must be the same bits.

Modes: eager; graph (--no-jit); graph as traced, after one pass of the optimiser alone and after passes in a random order (of each batch
others; --all-passes: each pass); machine code for two processors, with one thread and three; of some also machine code from the
cache, and machine code that becomes ready on another thread (--graphs: none of those). --gpu: eager, graph, and on a GPU. What fails eagerly may succeed as a graph, where
nobody needs the failing operation, and where two operations fail, passes may find that nobody needs the first. A difference is printed with the program (--shrink: with what is left of it when statements are
deleted as long as the difference stays) and makes the exit status 1.

  native_programs.py --tfl build/tfl --count 2000 --seed 1
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from program_source import Program  # noqa: E402
from program_text import smaller  # noqa: E402

HEADER = '''import sys
import traceback
import tensorflow as tf

eager = sys.argv[1] == "eager"
traced = (lambda f: f) if eager else tf.function
state = tf.Variable(0.5)
cells = tf.Variable([0.5, 1.0, -2.0])
BITS = {1: tf.uint8, 2: tf.uint16, 4: tf.uint32, 8: tf.uint64}


def data(dtype, shape, seed):
    """Numbers of all sizes, some special."""
    dtype = tf.as_dtype(dtype)
    seed = [seed, len(shape)]
    if dtype == tf.bool:
        return tf.random.stateless_uniform(shape, seed) < 0.5
    u = tf.random.stateless_uniform(shape, seed, -4, 4, tf.float64)
    if dtype.is_floating:
        kind = tf.random.stateless_uniform(shape, [seed[0], 77], 0, 60, tf.int32)
        special = tf.constant([float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1e30, -1e-30, 1.0], tf.float64)
        if seed[0] % 2:
            u = tf.where(kind < 8, tf.gather(special, tf.minimum(kind, 7)), u)
        return tf.cast(u, dtype)
    if seed[0] % 3 == 0:
        u = u * 1e9
    return tf.cast(tf.cast(tf.abs(u) if dtype.is_unsigned else u, tf.int64), dtype)


def bits(t):
    if t.dtype.is_floating:
        t = tf.where(t == t, t, tf.cast(float("nan"), t.dtype))  # a NaN has any sign
        t = tf.where(tf.math.is_nan(t), tf.constant(float("nan"), t.dtype), t)
    raw = tf.cast(t, tf.uint8) if t.dtype == tf.bool else tf.bitcast(t, BITS[t.dtype.size])
    if tf.size(t) <= 16:
        return t.numpy().tolist() if not t.dtype.is_floating else (t.numpy().tolist(), raw.numpy().tolist())
    flat = tf.reshape(tf.cast(raw, tf.uint64), [-1])
    place = tf.cast(tf.range(tf.size(flat)), tf.uint64)
    return "sum " + str(tf.reduce_sum(flat * (place * 2 + 1)).numpy()) + " first " + str(tf.reshape(t, [-1])[:6].numpy().tolist())


def run(index, f, signature, calls):
    g = f if eager else tf.function(f, input_signature=signature)
    for k, call in enumerate(calls):
        for again in range(1 if eager else 2):
            state.assign(0.5)
            cells.assign([0.5, 1.0, -2.0])
            try:
                out = [f"{t.dtype.name} {t.shape} {bits(t)}" for t in g(*call())]
                out.append(f"variables {bits(state.read_value())} {bits(cells.read_value())}")
            except Exception as e:
                out = [f"error {type(e).__name__}: {e}".replace("\\n", " ")]
            if not again:
                first = out
        print("program", index, "call", k, " | ".join(first) if first == out else f"{first} and then {out}")


'''

GRAPH = ["--no-jit", "--threads", "2"]
GRAPHS = {"eager": ["--threads", "1", "--no-jit"], "graph": GRAPH}
MACHINE_CODE = {
    "v4, 1 thread": ["--jit=wait", "--cpu", "x86-64-v4", "--threads", "1"],
    "v3, 3 threads": ["--jit=wait", "--cpu", "x86-64-v3", "--threads", "3"],
}
ON_GPU = ["--device", "gpu", "--jit=wait", "--cpu", "x86-64-v3"]
CACHED = ["--jit=wait", "--cpu", "x86-64-v4", "--threads", "2"]


def script(programs):
    return HEADER + "\n".join(p.text(index) for index, p in programs)


class Runner:
    def __init__(self, tfl, gpu=None):
        self.tfl, self.gpu = tfl, gpu

    def run(self, folder, name, flags, seconds):
        path = os.path.join(folder, "programs.tfl")
        env = {k: v for k, v in os.environ.items() if not k.startswith("TFL_")}
        env.update(XDG_CACHE_HOME=os.path.join(folder, "cache"))
        if "--device" in flags and self.gpu == "emulate":
            env["TFL_GPU"] = self.gpu
        try:
            done = subprocess.run([self.tfl, "run", *flags, path, name], capture_output=True, text=True, timeout=seconds, env=env, errors="backslashreplace")
        except subprocess.TimeoutExpired:
            return {}, "no answer"
        lines = {}
        for line in done.stdout.splitlines():
            found = re.match(r"program (\d+) call (\d+) (.*)", line)
            if found:
                lines[int(found[1]), int(found[2])] = found[3]
        return lines, f"exit status {done.returncode}: {done.stderr[-1500:]}" if done.returncode else ""

    def modes(self, batch, args):
        """How the programs of a batch are run: {name: flags}"""
        if args.gpu:
            return {**GRAPHS, "a GPU": ON_GPU}
        rng = random.Random(f"{args.seed}.{batch}")
        listed = subprocess.run([os.path.join(os.path.dirname(self.tfl), "tfl-opt"), "--list"], capture_output=True, text=True, check=True).stdout
        passes = [line.split()[0] for line in listed.splitlines() if line.strip()]
        modes = dict(GRAPHS)
        orders = ["none"] + passes if args.all_passes else [(["none"] + passes)[batch % (len(passes) + 1)]]
        for order in orders + [",".join(rng.choices(passes, k=2 * len(passes)))]:
            modes["passes " + order] = GRAPH + ["--passes", order]
        if not args.graphs:
            modes.update(MACHINE_CODE)
        if not args.graphs and batch % 4 == 0:
            modes["from the cache"] = CACHED
            modes["while it is compiled"] = ["--jit=auto", "--no-cache", "--threads", "2"]
        return modes

    def differences(self, programs, modes, seconds=300):
        """{index: what differs}"""
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "programs.tfl"), "w", encoding="utf-8") as f:
                f.write(script(programs))
            results = {name: self.run(folder, name, flags, seconds) for name, flags in modes.items()}
        out = {}
        graph, failure = results["graph"]
        for index, program in programs:
            for name, (lines, failure) in results.items():
                for call in range(4):
                    want, got = graph.get((index, call)), lines.get((index, call))
                    eager = results["eager"][0].get((index, call)) if "eager" in results else None
                    if want == got or want is not None and got is not None and may_differ(program, name, got, want, eager):
                        continue
                    out.setdefault(index, []).append((name, f"call {call}: graph: {want}\n  {name}: {got} {failure}"))
        return out


def error_of(line):
    return re.sub(r" \[Op:.*", "", line) if line is not None and line.startswith("error") else None


def may_differ(program, mode, got, graph, eager):
    """Eager code fails in operations that nobody needs, which passes find some of: where two fail, a loop that keeps a variable nobody
    reads raises what eager code raises. And types of the graph may say less than values."""
    if mode.startswith("passes"):
        return (error_of(got) is None) != (error_of(graph) is None) or error_of(got) is not None and error_of(got) == error_of(eager)
    if mode != "eager":
        return False
    if got.startswith("error"):
        return True
    return re.match(r"error (ValueError|TypeError|NotImplementedError|InvalidArgumentError.*(shape|Shape|rank))", graph) is not None and program.unknown


def shrink(runner, index, program, modes, names):
    modes = {name: flags for name, flags in modes.items() if name in ("graph", "eager") or name in names[:1]}

    def still(p):
        try:
            return index in runner.differences([(index, p)], modes, seconds=20)
        except (ValueError, OSError):
            return False

    again = True
    while again:
        again = False
        candidates = []
        for k in range(len(program.returned) if len(program.returned) > 1 else 0):
            candidates.append(("returned", program.returned[:k] + program.returned[k + 1:]))
        candidates += [("body", body) for body in smaller(program.body)]
        for field, value in candidates:
            old = getattr(program, field)
            setattr(program, field, value)
            if still(program):
                again = True
                break
            setattr(program, field, old)
    return program


def report(runner, first, args):
    """What is to be said of the programs of a batch that differ."""
    programs = [(i, Program(f"{args.seed}.{i}")) for i in range(first, min(first + args.batch, args.first + args.count))]
    modes = runner.modes(first // args.batch, args)
    found = runner.differences(programs, modes)
    if len(found) > 3 and len(found) == len([i for i, _ in programs if i >= min(found)]):
        # One program ended the process: those after it are run alone.
        again = {}
        for index, program in programs:
            if index in found:
                again.update(runner.differences([(index, program)], modes))
        found = again
    out = []
    for index, program in programs:
        if index not in found:
            continue
        lines = [f"program {index} of seed {args.seed}:"] + ["  " + what[:1500] for _, what in found[index]]
        if args.shrink:
            program = shrink(runner, index, program, modes, [name for name, _ in found[index] if name not in ("graph", "eager")])
            lines += ["  smaller: " + what[:1500] for _, what in runner.differences([(index, program)], modes).get(index, [])]
        out.append("\n".join(lines + [program.text(index)]))
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tfl", default="build/tfl")
    p.add_argument("--count", type=int, default=40)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--batch", type=int, default=20, help="programs of a process")
    p.add_argument("--jobs", type=int, default=1, help="batches at once")
    p.add_argument("--shrink", action="store_true")
    p.add_argument("--graphs", action="store_true", help="no machine code")
    p.add_argument("--gpu", nargs="?", const="emulate", choices=["emulate", "real"], help="on a GPU instead; an emulated one when nothing else is said")
    p.add_argument("--all-passes", action="store_true", help="each pass alone for every program")
    p.add_argument("--print", type=int, metavar="INDEX", help="print this program and run nothing")
    args = p.parse_args()
    if args.print is not None:
        print(script([(args.print, Program(f"{args.seed}.{args.print}"))]))
        return 0
    runner = Runner(os.path.abspath(args.tfl), args.gpu)
    failed = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        batches = range(args.first, args.first + args.count, args.batch)
        for text in pool.map(lambda first: report(runner, first, args), batches):
            failed += len(text)
            for one in text:
                print(one, flush=True)
    print(f"{args.count} programs, {failed} with a difference")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
