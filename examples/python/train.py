"""Trains the network of step.tfl on batches that Python makes: three spirals of points, which the network is to tell apart.

    PYTHONPATH=build/python python3 examples/python/train.py [EPOCHS]
"""
import os
import sys

import numpy as np

import tfl


def spirals(count, seed):
    """Points of three spirals, and which each belongs to."""
    random = np.random.default_rng(seed)
    label = random.integers(0, 3, count)
    radius = random.uniform(0.1, 1.0, count)
    angle = 4.0 * radius + label * (2 * np.pi / 3) + random.normal(0, 0.1, count)
    return np.stack([radius * np.sin(angle), radius * np.cos(angle)], axis=1).astype(np.float32), label


def batches(x, y, size, random):
    order = random.permutation(len(x))
    for begin in range(0, len(x), size):
        chosen = order[begin:begin + size]
        yield x[chosen], y[chosen]


def main(epochs):
    model = tfl.load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "step.tfl"))
    x, y = spirals(3000, 0)
    random = np.random.default_rng(1)
    for epoch in range(epochs):
        losses = [model.step(*batch) for batch in batches(x, y, 50, random)]
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}")
    x, y = spirals(1000, 2)
    print(f"right: {np.mean(model.classify(x) == y):.1%}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
