#!/usr/bin/env python3
"""Files of Keras and TensorFlow, damaged: each must load, where nobody can see the damage, or give an error of the language with exit code
1, within a bounded time and memory. Exit status 0: all did.

usage: damaged_files.py --tfl PROGRAM [--files N] [--seed N] [--keep FOLDER]

The sources are the recorded files beside this (keras_files, tensorflow_files). What is done to them: cut off, bits and bytes changed,
runs of one byte, numbers made giant, checksums changed, zip members that become far larger or lie about their sizes.
"""
import argparse
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
MOST_SECONDS, MOST_MEMORY = 60, 1 << 30
GIANT = (0x7FFFFFFF, 0xFFFFFFFF, 1 << 40, (1 << 63) - 1, (1 << 64) - 1)

LOAD = '''import sys
import numpy as np
import tensorflow as tf
kind, path, name = sys.argv[1:]
if kind == "weights":
    import keras_models as M
    model = M.CASES[name][0]()
    model.load_weights(path)
elif kind == "keras":
    tf.keras.models.load_model(path)
elif kind == "saved":
    model = tf.saved_model.load(path)
    for signature in model.signatures.values():
        print(signature.structured_input_signature, signature.structured_outputs)
        signature.graph.get_operations()
else:
    reader = tf.train.load_checkpoint(path)
    for key in reader.get_variable_to_shape_map():
        reader.get_tensor(key)
    tf.train.Checkpoint(x=tf.Variable(0.0)).restore(path).expect_partial()
print("loaded")
'''


# ------------------------------------------------------------------------------------------------------------------ damage


def cut(data, rng):
    return data[:rng.randrange(len(data))]


def changed(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        at = rng.randrange(len(data))
        data[at] = rng.randrange(256) if rng.random() < 0.5 else data[at] ^ 1 << rng.randrange(8)
    return bytes(data)


def run_of_one(data, rng):
    at, length = rng.randrange(len(data)), rng.choice((8, 64, 512))
    return data[:at] + bytes([rng.choice((0, 127, 255))]) * len(data[at:at + length]) + data[at + length:]


def giant(data, rng):
    """A small number, which may be a size, becomes a giant one: of four or eight bytes, or a varint."""
    if rng.random() < 0.4:
        at = rng.randrange(len(data))
        return data[:at] + rng.choice((b"\xff\xff\xff\xff\x07", b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f")) + data[at + 1:]
    width = rng.choice((4, 8))
    places = [i for i in range(0, len(data) - width, 4) if 0 < int.from_bytes(data[i:i + width], "little") < 1 << 20]
    if not places:
        return changed(data, rng)
    at = rng.choice(places)
    return data[:at] + (rng.choice(GIANT) & (1 << 8 * width) - 1).to_bytes(width, "little") + data[at + width:]


def appended(data, rng):
    return data + bytes(rng.randrange(256) for _ in range(rng.choice((1, 16, 4096))))


def other_checksum(data, rng):
    """One of the zip file's checksums, or the last four bytes of a table's block."""
    places = [m.start() + 16 for m in re.finditer(b"PK\x01\x02", data)] or [len(data) - 53, max(len(data) - 60, 0)]
    at = min(max(rng.choice(places), 0), len(data) - 4)
    return data[:at] + bytes(b ^ rng.randrange(1, 256) for b in data[at:at + 4]) + data[at + 4:]


def zip_of(members):
    """A zip file of (name, data, size that it tells of, checksum)."""
    out, directory = b"", b""
    for name, data, size, checksum in members:
        head = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 0, checksum & 0xFFFFFFFF, len(data), size & 0xFFFFFFFF, len(name), 0)
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + head + struct.pack("<HHHII", 0, 0, 0, 0, len(out)) + name
        out += b"PK\x03\x04" + head + name + data
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(out), 0)
    return out + directory + end


def deflated(chunk, times):
    """`times` copies of a chunk, compressed, and their checksum."""
    packer, checksum, parts = zlib.compressobj(9, zlib.DEFLATED, -15), 0, []
    for _ in range(times):
        parts.append(packer.compress(chunk))
        checksum = zlib.crc32(chunk, checksum)
    return b"".join(parts) + packer.flush(), checksum


def bomb(data, rng):
    """A member of two gigabytes in two megabytes, with its true size or with a small one."""
    chunk = rng.choice((b" ", b"\0", b"[")) * (1 << 20)
    times = rng.choice((256, 2048))
    packed, checksum = deflated(chunk, times)
    name = rng.choice((b"config.json", b"model.weights.h5"))
    members = [(name, packed, rng.choice((times << 20, 100, 0xFFFFFFFF)), checksum)]
    for other in (b"metadata.json", b"config.json"):
        if other != name:
            packed, checksum = deflated(b"{}", 1)
            members.append((other, packed, 2, checksum))
    return zip_of(members)


# ----------------------------------------------------------------------------------------------------------------- sources


def sources():
    """(kind, name of the model, file or folder, the files in it that are damaged)"""
    found, keras, tensorflow = [], os.path.join(HERE, "keras_files"), os.path.join(HERE, "tensorflow_files")
    for name in sorted(os.listdir(keras)):
        if name.endswith((".keras", ".h5")) and not name.startswith("sharded"):
            found.append(("weights" if name.endswith(".weights.h5") else "keras", name.split(".")[0], os.path.join(keras, name), [""]))
    for name in sorted(os.listdir(tensorflow)):
        path = os.path.join(tensorflow, name)
        if os.path.exists(os.path.join(path, "saved_model.pb")):
            found.append(("saved", name, path, ["saved_model.pb", "saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001"]))
        elif name.endswith(".index"):
            found.append(("checkpoint", name[:-6], path[:-6], [".index", ".data-00000-of-00001"]))
    return found


def make(number, seed, kinds, folder):
    """A damaged file: what it is, its path, the name of its model, what was done to it."""
    rng = random.Random(f"{seed}/{number}")
    group = sorted(kinds)[number % len(kinds)]
    kind, name, path, parts = rng.choice(kinds[group])
    part = rng.choice(parts)
    ways = [cut, changed, changed, run_of_one, giant, giant, appended, other_checksum]
    if path.endswith(".keras") and rng.random() < 0.02:
        ways = [bomb]
    way = rng.choice(ways)
    target = os.path.join(folder, f"d{number}")
    if kind == "saved":
        shutil.copytree(path, target)
        broken = os.path.join(target, part)
    elif kind == "checkpoint":
        os.mkdir(target)
        target = os.path.join(target, "c")
        for end in parts:
            shutil.copy(path + end, target + end)
        broken = target + part
    else:
        target += path[path.index("."):] if "." in os.path.basename(path) else ""
        target = os.path.join(folder, f"d{number}." + os.path.basename(path).split(".", 1)[1])
        shutil.copy(path, target)
        broken = target
    os.chmod(broken, 0o644)
    with open(broken, "rb") as file:
        data = file.read()
    with open(broken, "wb") as file:
        file.write(way(data, rng))
    return kind, target, name, way.__name__


# --------------------------------------------------------------------------------------------------------------------- runs


def run(command, folder):
    """Exit code (or what happened instead), the last line of its errors, memory in bytes, seconds."""
    begin = time.monotonic()
    with open(os.path.join(folder, "errors"), "w+b") as errors:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        while True:
            done, status, used = os.wait4(child.pid, os.WNOHANG)
            if done:
                break
            if time.monotonic() - begin > MOST_SECONDS:
                child.kill()
                os.wait4(child.pid, 0)
                return "no answer", "", 0, MOST_SECONDS
            time.sleep(0.005)
        child.returncode = code = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        lines = [line for line in errors.read().decode(errors="replace").splitlines() if line.strip()]
    message = next((line for line in reversed(lines) if re.match(r"[A-Za-z_.]+(Error|Exception|Interrupt)\b", line)), "")
    return code, message, used.ru_maxrss * 1024, time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tfl", required=True)
    parser.add_argument("--files", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    options = parser.parse_args()
    tfl = os.path.abspath(options.tfl)
    kinds = {}
    for source in sources():
        kinds.setdefault(source[0], []).append(source)
    if not os.path.exists(os.path.join(os.path.dirname(tfl), "libtfl_hdf5.so")):
        kinds = {kind: found for kind, found in kinds.items() if kind in ("saved", "checkpoint")}
    seen, wrong, most = {}, [], (0, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        folder = options.keep or folder
        script = os.path.join(folder, "load.tfl")
        with open(script, "w") as file:
            file.write(LOAD)
        shutil.copy(os.path.join(HERE, "keras_files", "keras_models.tfl"), folder)
        for number in range(options.files):
            kind, path, name, way = make(number, options.seed, kinds, folder)
            code, message, memory, seconds = run([tfl, "run", "--max-memory", "1GB", script, kind, path, name], folder)
            most = (max(most[0], memory), max(most[1], seconds))
            result = "loaded" if code == 0 else "refused" if code == 1 and message else "wrong"
            seen[kind, result] = seen.get((kind, result), 0) + 1
            if result == "wrong" or memory > MOST_MEMORY:
                wrong.append(f"{path} ({name}, {way}): {code}, {memory >> 20} MB, {seconds:.1f} s, {message!r}")
            elif not options.keep:
                shutil.rmtree(os.path.dirname(path) if kind == "checkpoint" else path, ignore_errors=True)
                if os.path.isfile(path):
                    os.remove(path)
    print(f"{options.files} damaged files, at most {most[0] >> 20} MB and {most[1]:.1f} s:", ", ".join(f"{k} {r} {n}" for (k, r), n in sorted(seen.items())), f"; wrong {len(wrong)}")
    for line in wrong[:20]:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
