#!/usr/bin/env python3
"""What np.load needs of memory: the array, and little more, however it is stored. Exit status 0: all right.

usage: array_files.py --tfl PROGRAM
"""
import argparse
import os
import subprocess
import sys
import tempfile

from sanitizers import sanitizer

MIB = 1 << 20
ELEMENTS = 6 * MIB  # of eight bytes each

MAKE = f'''import sys
import numpy as np
a = np.arange({ELEMENTS}) % 1000 * 0.5
np.save(sys.argv[1], a)
np.savez(sys.argv[1], a=a)
np.savez_compressed(sys.argv[1] + "-small", a=a, b=a[:7])
'''
LOAD = f'''import sys
import numpy as np
a = np.load(sys.argv[1]) if len(sys.argv) > 1 else np.zeros(10)
a = a if isinstance(a, np.ndarray) else a["a"]
print(a.shape, a[-1])
'''


def peak(tfl, script, folder, *arguments):
    """Bytes, and what the script printed."""
    path = os.path.join(folder, "script.tfl")
    with open(path, "w") as f:
        f.write(script)
    child = subprocess.Popen([tfl, "run", "--allow-write", folder, path, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    printed = child.stdout.read().decode()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status:
        sys.exit(f"{script}\nended with status {status}")
    return usage.ru_maxrss * 1024, printed


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tfl", required=True)
    tfl = os.path.abspath(p.parse_args().tfl)
    if kind := sanitizer(tfl):
        return print(f"not with the {kind} sanitizer: its records of the memory count, too, and what is freed is kept")
    with tempfile.TemporaryDirectory(prefix="tfl-arrays-") as folder:
        base = os.path.join(folder, "a")
        peak(tfl, MAKE, folder, base)
        least, _ = peak(tfl, LOAD, folder)
        for name in ("a.npy", "a.npz", "a-small.npz"):
            most, printed = peak(tfl, LOAD, folder, os.path.join(folder, name))
            if printed != f"({ELEMENTS},) {(ELEMENTS - 1) % 1000 * 0.5}\n":
                sys.exit(f"{name} holds {printed}")
            if most - least > 1.2 * 8 * ELEMENTS:
                sys.exit(f"np.load of {name} took {(most - least) / MIB:.0f} MiB for an array of {8 * ELEMENTS / MIB:.0f}")
    print("all right")


main()
