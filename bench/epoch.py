#!/usr/bin/env python3
"""Seconds for an epoch of a network (784 to 128 to 10, Adam, batches of 128) on the 60,000 pictures of Fashion-MNIST, in tfl and its peers: Keras on
TensorFlow, PyTorch eager and compiled, JAX. Where the data set is not there the pictures are random.

usage: epoch.py [--tfl build/tfl] [--tf PYTHON] [--jax PYTHON] [--torch PYTHON] [--rounds 2] [--epochs 4]
The sides take turns; a figure is the fastest epoch of all rounds, the first epoch with what it compiles included among them. The last loss is
shown beside it: it is about the same for all.
"""
import argparse
import gzip
import os
import subprocess
import sys
import tempfile
import time

from compare import ENVIRONMENT

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = "/usr/share/datasets/fashion-mnist"
BATCH, RATE = 128, 1e-3


def pictures(path):
    import numpy as np
    try:
        with gzip.open(os.path.join(FOLDER, "train-images-idx3-ubyte.gz")) as f:
            x = np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 784)
        with gzip.open(os.path.join(FOLDER, "train-labels-idx1-ubyte.gz")) as f:
            y = np.frombuffer(f.read(), np.uint8, offset=8)
    except OSError:
        r = np.random.default_rng(0)
        x, y = r.integers(0, 256, (60000, 784)), r.integers(0, 10, 60000)
    np.savez(path, x=x.astype(np.float32) / 255, y=y.astype(np.int32))


def with_torch(x, y, epochs, compiled):
    import torch
    torch.set_num_threads(2)
    x, y = torch.from_numpy(x), torch.from_numpy(y).long()
    model = torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    optimizer = torch.optim.Adam(model.parameters(), RATE)
    loss_of = torch.nn.CrossEntropyLoss()
    forward = torch.compile(lambda a, b: loss_of(model(a), b), dynamic=False) if compiled else lambda a, b: loss_of(model(a), b)
    for _ in range(epochs):
        start, total = time.perf_counter(), 0.0
        order = torch.randperm(len(x))
        for i in range(0, len(x), BATCH):
            at = order[i:i + BATCH]
            optimizer.zero_grad()
            loss = forward(x[at], y[at])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(at)
        yield time.perf_counter() - start, total / len(x)


def with_jax(x, y, epochs):
    import jax
    import jax.numpy as jnp
    keys = jax.random.split(jax.random.key(0), 2)
    limits = [(6 / (784 + 128)) ** 0.5, (6 / (128 + 10)) ** 0.5]
    w = [jax.random.uniform(keys[0], (784, 128), minval=-limits[0], maxval=limits[0]), jnp.zeros(128),
         jax.random.uniform(keys[1], (128, 10), minval=-limits[1], maxval=limits[1]), jnp.zeros(10)]

    def loss_of(w, x, y):
        z = jax.nn.relu(x @ w[0] + w[1]) @ w[2] + w[3]
        return jnp.mean(jax.nn.logsumexp(z, 1) - jnp.take_along_axis(z, y[:, None], 1)[:, 0])

    @jax.jit
    def step(w, m, v, n, x, y, at):
        loss, g = jax.value_and_grad(loss_of)(w, x[at], y[at])
        m = [0.9 * a + 0.1 * b for a, b in zip(m, g)]
        v = [0.999 * a + 0.001 * b * b for a, b in zip(v, g)]
        rate = RATE * jnp.sqrt(1 - 0.999 ** n) / (1 - 0.9 ** n)
        return [a - rate * b / (jnp.sqrt(c) + 1e-7) for a, b, c in zip(w, m, v)], m, v, loss

    import numpy as np
    r = np.random.default_rng(0)
    x, y = jnp.array(x), jnp.array(y)
    m = v = [jnp.zeros_like(a) for a in w]
    n = 0
    for _ in range(epochs):
        start, total = time.perf_counter(), 0.0
        order = r.permutation(len(x))
        for i in range(0, len(x), BATCH):
            at, n = order[i:i + BATCH], n + 1
            w, m, v, loss = step(w, m, v, float(n), x, y, at)
            total += loss * len(at)
        total = float(total)
        yield time.perf_counter() - start, total / len(x)


def peer(name, path, epochs):
    import numpy as np
    data = np.load(path)
    sides = {"torch": lambda x, y: with_torch(x, y, epochs, False), "torch.compile": lambda x, y: with_torch(x, y, epochs, True),
             "JAX": lambda x, y: with_jax(x, y, epochs)}
    taken = list(sides[name](data["x"], data["y"]))
    print(min(seconds for seconds, _ in taken), taken[-1][1])


def main():
    if sys.argv[1:2] == ["--peer"]:
        return peer(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    if sys.argv[1:2] == ["--pictures"]:
        return pictures(sys.argv[2])
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tfl", default=os.path.join(HERE, "..", "build", "tfl"))
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--epochs", type=int, default=4)
    for name in ("tf", "jax", "torch"):
        p.add_argument("--" + name, default=os.environ.get("TFL_BENCH_" + name.upper()), metavar="PYTHON")
    o = p.parse_args()
    python = o.tf or o.jax or o.torch or sys.executable
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pictures.npz")
        subprocess.run([python, __file__, "--pictures", path], check=True)
        script, epochs = os.path.join(HERE, "epoch.tfl"), str(o.epochs)
        sides = [("tfl", [o.tfl, "run", script, path, epochs])]
        if o.tf:
            sides.append(("Keras on TensorFlow", [o.tf, script, path, epochs]))
        sides += [(name, [interpreter, __file__, "--peer", name, path, epochs])
                  for name, interpreter in (("torch", o.torch), ("torch.compile", o.torch), ("JAX", o.jax)) if interpreter]
        best = {}
        for _ in range(o.rounds):
            for name, command in sides:
                done = subprocess.run(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
                if done.returncode != 0:
                    print(f"{name}: " + (done.stderr.strip().splitlines() or ["failed"])[-1][:150], file=sys.stderr)
                    continue
                figures = tuple(float(word) for word in done.stdout.split()[-2:])
                best[name] = min(figures, best.get(name, figures))
        for name, (seconds, loss) in best.items():
            ratio = f"{seconds / best['tfl'][0]:6.2f} times as long as tfl" if "tfl" in best else ""
            print(f"{name:20} {seconds * 1000:8.1f} ms an epoch  loss {loss:.4f}  {ratio}")


if __name__ == "__main__":
    main()
