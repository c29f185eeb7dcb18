#!/usr/bin/env python3
"""A model of the time of a training step on many workers, from what this machine shows and what a network is said to give.

  bench/scale_model.py --compute SECONDS --bytes N [--replicas R] [--checkpoint BYTES] [--measured 1:T,2:T,...]

--compute: seconds that one worker takes for the whole batch; --bytes: of all gradients. The parts of the model:

  compute    seconds / workers, for batches of a fixed size; the slowest of all workers counts (stragglers: each is late by a normal time, --jitter)
  send       each worker sends and gets 2 (w - 1) / w of the gradients' bytes, and as many again for each further subtree that its replicas make; what
             is added in parts needs w - 1 messages, or 2 log2 w where it is small
  add        (w - 1) / w of the elements once, from memory

--measured compares with step times that were measured here. The table is for 8 to 4,096 workers and three networks.
"""
import argparse
import math
import sys

NETWORKS = [("10 Gbit Ethernet", 30e-6, 1.1e9), ("100 Gbit Ethernet", 10e-6, 11e9), ("InfiniBand HDR", 2e-6, 23e9)]
HERE = ("this machine", 25e-6, 0.6e9)  # a message between two processes, bytes a second each way while both compute


def nodes(workers, replicas):
    """The most subtrees that a worker's replicas make."""
    if workers >= replicas:
        return 1
    most = 1
    for w in range(workers):
        low, high, count = w * replicas // workers, (w + 1) * replicas // workers, 0
        while low < high:
            size = 1
            while low % (size * 2) == 0 and low + size * 2 <= high:
                size *= 2
            low, count = low + size, count + 1
        most = max(most, count)
    return most


def straggling(workers, jitter):
    """How much later than the mean the last of so many normal times is, in deviations."""
    return jitter * math.sqrt(2 * math.log(workers)) if workers > 1 else 0.0


def step(workers, args, network):
    _, latency, bandwidth = network
    compute = args.compute / workers
    late = compute * straggling(workers, args.jitter)
    if workers == 1:
        return compute, late, 0.0, 0.0
    share = (workers - 1) / workers * args.bytes
    send = share * (nodes(workers, args.replicas or workers) + 1) / bandwidth + 2 * (workers - 1) * latency
    small = 2 * math.ceil(math.log2(workers)) * latency  # metrics and the like
    return compute, late, send + small, share / args.memory


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--compute", type=float, required=True)
    p.add_argument("--bytes", type=float, required=True)
    p.add_argument("--replicas", type=int)
    p.add_argument("--checkpoint", type=float, default=0.0, help="bytes of a checkpoint")
    p.add_argument("--disk", type=float, default=0.5e9, help="bytes a second of the disk")
    p.add_argument("--every", type=int, default=1000, help="steps from one checkpoint to the next")
    p.add_argument("--jitter", type=float, default=0.03, help="deviation of a worker's time of a step, of its mean")
    p.add_argument("--memory", type=float, default=8e9, help="bytes a second that one thread adds")
    p.add_argument("--measured", default="", help="WORKERS:SECONDS,...")
    args = p.parse_args()
    for word in filter(None, args.measured.split(",")):
        workers, seconds = word.split(":")
        model = sum(step(int(workers), args, HERE))
        print(f"{workers:>5} workers here: {float(seconds):.4f} s measured, {model:.4f} s by the model ({model / float(seconds) - 1:+.0%})")
    save = args.checkpoint / args.disk / args.every
    print(f"{'workers':>8}  " + "  ".join(f"{name:>36}" for name, _, _ in NETWORKS))
    print(f"{'':>8}  " + "  ".join(f"{'step':>10} {'send':>7} {'late':>7} {'of ideal':>9}" for _ in NETWORKS))
    for power in range(3, 13):
        workers, row = 2 ** power, []
        for network in NETWORKS:
            compute, late, send, add = step(workers, args, network)
            total = compute + late + send + add + save
            row.append(f"{total * 1e3:>7.2f} ms {send / total:>7.0%} {late / total:>7.0%} {compute / total:>9.0%}")
        print(f"{workers:>8}  " + "  ".join(row))
    return 0


if __name__ == "__main__":
    sys.exit(main())
