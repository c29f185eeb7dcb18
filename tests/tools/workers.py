#!/usr/bin/env python3
"""Several workers of one MPI job: the same bits for any number of them, and faults that end all of them with one text.

  workers.py --tfl build/tfl [--all]      (--all: every network, way of running and number of workers)

Open MPI and MPICH are tried where they are installed and TFL was built with them; without either a line says so, and nothing is tried.
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "workers")

BROKEN = '''import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
rank = strategy.cluster_resolver.task_id
print("begun", strategy.num_replicas_in_sync)
if rank == RANK or RANK < 0:
    raise ValueError("it broke")
strategy.reduce("SUM", tf.constant(1.0), axis=None)
'''
DIFFERENT_SIZES = '''import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
strategy.reduce("SUM", tf.zeros([3 + strategy.cluster_resolver.task_id]), axis=None)
'''
DIFFERENT_SETTINGS = '''import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    v = tf.Variable([1.0, 2.0])
    optimizer = tf.keras.optimizers.SGD(0.1 + strategy.cluster_resolver.task_id)
strategy.run(lambda: optimizer.apply_gradients([(tf.constant([1.0, 1.0]), v)]))
'''
ONE_LEAVES = '''import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
if strategy.cluster_resolver.task_id == 0:
    strategy.reduce("SUM", tf.constant(1.0), axis=None)
'''


# MPICH's launcher says on standard output, now and then, that a program ended by a signal: its own text about those that it ended itself.
LAUNCHERS_OWN = re.compile(r"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: .*\n(?:This typically refers .*\n)?(?:Please see the FAQ .*\n)?")


class Launcher:
    """A launcher of one MPI."""

    def __init__(self, name, command, tfl):
        self.name, self._command, self._tfl = name, command, tfl
        self._environment = dict(os.environ, TFL_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                                 OMPI_MCA_rmaps_base_oversubscribe="1")

    def run(self, workers, words, **options):
        """(exit code, standard output, standard error)"""
        done = subprocess.run(self._command + ["-n", str(workers), self._tfl, "run"] + words, capture_output=True, text=True, timeout=300, env=self._environment, **options)
        return done.returncode, LAUNCHERS_OWN.sub("", done.stdout), done.stderr

    def start(self, workers, words):
        return subprocess.Popen(self._command + ["-n", str(workers), self._tfl, "run"] + words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=self._environment, start_new_session=True)


def launchers(tfl):
    found, folder = [], os.path.dirname(os.path.abspath(tfl))
    for name, program, library in (("Open MPI", "mpirun.openmpi", "libtfl_mpi.so"), ("MPICH", "mpiexec.mpich", "libtfl_mpich.so")):
        path = shutil.which(program)
        if path and os.path.exists(os.path.join(folder, library)):
            found.append(Launcher(name, [path] + (["--oversubscribe", "-q"] if name == "Open MPI" else ["-disable-auto-cleanup"]), tfl))
    return found


failed = []


def check(what, ok, told):
    if not ok:
        failed.append(what)
        print(f"FAIL {what}\n{told}")


def same_bits(launcher, every):
    """One text for all numbers of workers, eager and traced, with and without machine code."""
    networks = ("mlp", "cnn")
    counts = (1, 2, 3, 4, 8) if every else (1, 3)
    ways = [["traced", "--no-jit"], ["traced", "--jit=wait"], ["eager"]] if every else [["traced", "--no-jit"]]
    for network in networks:
        texts = {}
        for way in ways:
            for workers in counts:
                code, out, err = launcher.run(workers, way[1:] + [os.path.join(HERE, "train.tfl"), network, way[0]])
                texts[(workers, *way)] = out if code == 0 else f"{code} {out}{err}"
        if not every:
            for workers, way in ((2, ["traced", "--jit=wait"]), (2, ["eager"])):
                code, out, err = launcher.run(workers, way[1:] + [os.path.join(HERE, "train.tfl"), network, way[0]])
                texts[(workers, *way)] = out if code == 0 else f"{code} {out}{err}"
        check(f"{launcher.name}: {network} has the same bits", len(set(texts.values())) == 1 and list(texts.values())[0].startswith(network), texts)
    texts = {}
    for workers in counts:
        for way in ([], ["eager"]):
            code, out, err = launcher.run(workers, ["--replicas", "8", os.path.join(HERE, "loop.tfl")] + way)
            texts[(workers, *way)] = out if code == 0 else f"{code} {out}{err}"
    check(f"{launcher.name}: a loop has the same bits", len(set(texts.values())) == 1 and list(texts.values())[0].strip().endswith("8"), texts)


def faults(launcher):
    with tempfile.TemporaryDirectory() as folder:
        def run(text, workers=3):
            path = os.path.join(folder, "script.tfl")
            with open(path, "w") as f:
                f.write(text)
            begun = time.monotonic()
            code, out, err = launcher.run(workers, [path])
            check(f"{launcher.name}: ends in time", time.monotonic() - begun < 30, text)
            return code, out, err

        for rank, named in ((0, ""), (2, "In rank 2 of 3:\n"), (-1, "")):
            code, out, err = run(BROKEN.replace("RANK", str(rank)))
            check(f"{launcher.name}: an error of rank {rank}", code == 1 and out == "begun 3\n" and err.count("ValueError: it broke") == 1 and named in err, (code, out, err))
        code, out, err = run(DIFFERENT_SIZES, 2)
        check(f"{launcher.name}: different sizes", code == 1 and "rank 0 came to reduce SUM of float32[3], rank 1 to reduce SUM of float32[4]" in err, (code, out, err))
        code, out, err = run(DIFFERENT_SETTINGS, 2)
        check(f"{launcher.name}: different settings", code == 1 and "SGD's learning_rate is 0.1" in err and "in rank 0, and 1.1" in err, (code, out, err))
        code, out, err = run(ONE_LEAVES, 2)
        check(f"{launcher.name}: one has left", code == 1 and "the end of the script" in err, (code, out, err))


def restart(launcher):
    """A worker that is killed ends the run, which goes on with another number of workers and the same bits."""
    script = os.path.join(HERE, "train.tfl")
    with tempfile.TemporaryDirectory() as folder:
        words = ["--allow-write", folder, script, "mlp", "traced"]
        code, whole, err = launcher.run(1, words + [os.path.join(folder, "whole")])
        check(f"{launcher.name}: a run with backups", code == 0, (code, whole, err))
        backup = os.path.join(folder, "cut")
        run = launcher.start(3, words + [backup])
        until = time.monotonic() + 60
        while not os.path.exists(os.path.join(backup, "training_metadata.json")) and time.monotonic() < until and run.poll() is None:
            time.sleep(0.01)
        if run.poll() is None:
            os.kill(worker_of(run.pid, 1), signal.SIGKILL)
        out, err = run.communicate(timeout=30)
        if run.returncode != 0:  # else it was over before
            check(f"{launcher.name}: a killed worker", "rank 1 of 3 is gone" in err and "the last checkpoint is epoch" in err, (run.returncode, out, err))
        code, out, err = launcher.run(2, words + [backup])
        check(f"{launcher.name}: going on with two workers", code == 0 and (run.returncode == 0 or out == whole), (code, out, whole, err))


def worker_of(launcher, rank):
    """The process of a rank below a launcher."""
    waiting = [launcher]
    while waiting:
        pid = waiting.pop()
        with open(f"/proc/{pid}/environ", "rb") as f:
            words = f.read().split(b"\0")
        if f"OMPI_COMM_WORLD_RANK={rank}".encode() in words or f"PMI_RANK={rank}".encode() in words:
            return pid
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as f:
                waiting += [int(c) for c in f.read().split()]
    raise RuntimeError(f"there is no rank {rank}")


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--tfl", required=True)
    p.add_argument("--all", action="store_true")
    args = p.parse_args()
    found = launchers(args.tfl)
    if not found:
        print("skipped: neither Open MPI nor MPICH is installed, or TFL was built without them")
    for number, launcher in enumerate(found):
        if number == 0 or args.all:
            same_bits(launcher, args.all)
            restart(launcher)
        faults(launcher)
    if not failed:
        print("ok workers")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
