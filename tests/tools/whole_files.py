#!/usr/bin/env python3
"""Files are written whole or not at all: every writer of the library is killed at each call that changes files, before it, after it and in
the middle of writes, and meets a full disk at each; what was there before, or the new content, is there then, and the next writer
removes what is left. Files of records, which grow, have whole records and at most one torn behind them, after a full disk none. The state
of a native library is written as whole as the library's own files.

  whole_files.py --tfl build/tfl
"""
import argparse
import io
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

HEAD = '''import json, os, sys
import numpy as np
import tensorflow as tf
n = int(sys.argv[1])
where = "place/"
try:
    {text}
except (OSError, tf.errors.OpError) as e:
    print("failed", type(e).__name__)
'''

# What writes, with a number that is in the content. Files are below `place`.
WRITERS = {
    "np.save": "np.save(where + 'a.npy', np.full(40000, n, np.float32))",
    "np.savez": "np.savez(where + 'a.npz', a=np.full(40000, n, np.float32), b=np.arange(n))",
    "np.savetxt": "np.savetxt(where + 'a.csv', np.full((3000, 4), n), delimiter=',')",
    "tf.io.write_file": "tf.io.write_file(where + 'a.bin', str(n) * 100000)",
    "gfile.copy": "(tf.io.write_file('source' + str(n), str(n) * 100000), tf.io.gfile.copy('source' + str(n), where + 'a.bin', overwrite=True))",
    "weights": "model(n).save_weights(where + 'a.weights.h5')",
    "a Keras model": "model(n).save(where + 'a.keras')",
    "a figure": "plot(n)",
    "a checkpoint": "tf.train.Checkpoint(v=tf.Variable(tf.fill([n * 3000], n))).write(where + 'a')",
    "a saved model": "saved(n)",
    "a data set": "tf.data.Dataset.range(n).save(where + 'set')",
    "the list of checkpoints": "tf.train.update_checkpoint_state('place', where + 'c' + str(n)) if hasattr(tf.train, 'update_checkpoint_state') else tf.io.write_file(where + 'checkpoint', str(n))",
}

# What grows record by record: (the statement, what each record has).
STREAMS = {
    "records": ("records(n)", lambda n, record: record == bytes([n]) * 700),
    "events": ("events(n)", lambda n, record: b"brain.Event:2" in record or b"loss" in record),
}

HELPERS = '''
def records(n):
    with tf.io.TFRecordWriter(where + "a.tfrecord") as writer:
        for i in range(40):
            writer.write(bytes([n]) * 700)

def events(n):
    writer = tf.summary.create_file_writer(where + "log")
    with writer.as_default():
        for i in range(30):
            tf.summary.scalar("loss", float(n), step=i)
            if i % 10 == 9:
                writer.flush()
    writer.close()

def model(n):
    m = tf.keras.Sequential([tf.keras.Input((60,)), tf.keras.layers.Dense(100, kernel_initializer=tf.keras.initializers.Constant(n))], name="m")
    return m

def plot(n):
    import plot
    f = plot.Figure() if hasattr(plot, "Figure") else None
    tf.io.write_file(where + "a.svg", str(n)) if f is None else f.save(where + "a.svg")

class Kept(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(self, x):
        return x + self.v

def saved(n):
    m = Kept()
    m.v = tf.Variable(tf.fill([20000], float(n)))
    m.w = tf.Variable(tf.fill([n], 1.0))
    m.f = tf.function(lambda x: x + m.w[0], input_signature=[tf.TensorSpec([None], tf.float32)])
    tf.saved_model.save(m, where + "model")
'''

# Read by the library, because the two files of a checkpoint may be of two times: what it says is.
READERS = {"a checkpoint": "print(int(tf.train.load_checkpoint(where + 'a').get_tensor('v/.ATTRIBUTES/VARIABLE_VALUE').sum()))"}


def is_part(name):
    return ".tfl-part" in name or name.endswith(".part")  # of the library, of native libraries


def undated(data):
    """The bytes of a file without the time at which a Keras model was saved, which its archive says."""
    if not data.startswith(b"PK") or b"metadata.json" not in data:
        return data
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return [(n, archive.read(n)) for n in archive.namelist() if n != "metadata.json"]
    except (zipfile.BadZipFile, zlib.error, EOFError):
        return data


def same(files):
    return {name: undated(data) for name, data in files.items()}


def contents(folder):
    """Every file below a folder with its bytes, without what is being written."""
    found = {}
    for where, folders, names in os.walk(folder):
        folders[:] = [f for f in folders if not is_part(f)]
        for name in names:
            if not is_part(name):
                path = os.path.join(where, name)
                with open(path, "rb") as f:
                    found[os.path.relpath(path, folder)] = f.read()
    return found


def split_records(data):
    """The records of a file, and the bytes behind the last whole one."""
    found, at = [], 0
    while len(data) - at >= 16:
        length = struct.unpack_from("<Q", data, at)[0]
        if len(data) - at < 16 + length:
            break
        found.append(data[at + 12:at + 12 + length])
        at += 16 + length
    return found, data[at:]


def parts(folder):
    return [os.path.join(w, n) for w, folders, names in os.walk(folder) for n in folders + names if is_part(n)]


class Trial:
    def __init__(self, tfl, shim, root, name, program=None):
        """Of a writer of the library, or of `program`, which takes the number."""
        self.tfl, self.shim, self.root, self.name, self.program = tfl, shim, root, name, program
        self.place = os.path.join(root, "place")
        self.script = os.path.join(root, "script.tfl")
        statement = STREAMS[name][0] if name in STREAMS else WRITERS.get(name, "")
        with open(self.script, "w") as f:
            f.write(HEAD.replace("where = \"place/\"\n", "where = \"place/\"\n" + HELPERS).replace("{text}", statement))
        self.reader = os.path.join(root, "reader.tfl")
        if name in READERS:
            with open(self.reader, "w") as f:
                f.write(HEAD.replace("{text}", READERS[name]))

    def run(self, n, script=None, room=None, deaf=False, **fault):
        """`room`: files may have so many bytes; who writes more is killed or, when it is deaf to the signal, gets an error."""
        def before():
            if room is not None:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN if deaf else signal.SIG_DFL)
                resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

        environment = dict(os.environ, XDG_CACHE_HOME=os.path.join(self.root, "cache"), FAULT_FOLDER=self.place, FAULT_COUNT=os.path.join(self.root, "count"))
        if script is None:
            environment["LD_PRELOAD"] = self.shim
        environment.update(fault)
        command = [self.program] if self.program else [self.tfl, "run", script or self.script]
        done = subprocess.run([*command, str(n)], cwd=self.root, env=environment, capture_output=True, text=True, timeout=120, preexec_fn=before)
        return done.stdout.strip() + done.stderr.strip(), done.returncode

    def begin(self, content):
        shutil.rmtree(self.place, ignore_errors=True)
        os.mkdir(self.place)
        for name, data in content.items():
            path = os.path.join(self.place, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(data)

    def states(self):
        """What there is before and after a write over it, and how many calls that takes."""
        self.begin({})
        said, code = self.run(7)
        assert code == 0 and not said, f"{self.name}: {said}"
        old = contents(self.place)
        assert old, f"{self.name} writes nothing"
        said, code = self.run(9)
        assert code == 0 and not said, f"{self.name}: {said}"
        with open(os.path.join(self.root, "count")) as f:
            count = int(f.read())
        return old, contents(self.place), count

    def value(self):
        return self.run(0, script=self.reader)

    def check(self, wanted, values, what):
        now = contents(self.place)
        if same(now) in map(same, wanted):
            return None
        if values and self.value() in values:
            return None
        return f"{self.name}, {what}: neither the old nor the new content: " + ", ".join(f"{k} {len(v)}" for k, v in now.items())

    def streams(self):
        """Each fault at each call, over what an earlier run has left."""
        wrong, tried = [], 0
        is_one = STREAMS[self.name][1]
        self.begin({})
        said, code = self.run(7)
        assert code == 0 and not said, f"{self.name}: {said}"
        old = contents(self.place)
        with open(os.path.join(self.root, "count")) as f:
            count = int(f.read())
        for fault in ("kill", "half", "after", "full"):
            for at in range(1, count + 1):
                self.begin(old)
                said, code = self.run(9, FAULT=fault, FAULT_AT=str(at))
                tried += 1
                for name, data in contents(self.place).items():
                    if old.get(name) == data:
                        continue
                    found, torn = split_records(data)
                    if torn and fault == "full":
                        wrong.append(f"{self.name}, full at call {at}: {name} ends with a torn record")
                    if not all(is_one(9, r) for r in found):
                        wrong.append(f"{self.name}, {fault} at call {at}: {name} has what nobody wrote")
                if fault == "full" and code != 0 and "Error" not in said:
                    wrong.append(f"{self.name}, full at call {at}: {said} ({code})")
        return wrong, tried

    def within(self):
        """A program of which the calls that write are out of the shim's reach: files may not grow beyond some sizes."""
        wrong, tried = [], 0
        old, new, _ = self.states()
        size = max(len(data) for data in new.values())
        for room in (0, 1, 4096, size // 2, size - 1, size):
            for deaf in (False, True):
                self.begin(old)
                said, _ = self.run(9, room=room, deaf=deaf)
                tried += 1
                problem = self.check((new,) if room == size else (old,), [], f"room for {room} bytes")
                if deaf and room < size:
                    problem = problem or (None if "Error" in said else f"{self.name}, room for {room} bytes: it said {said!r}")
                    problem = problem or (f"{self.name}, room for {room} bytes: left {parts(self.place)}" if parts(self.place) else None)
                wrong += [problem] if problem else []
        return wrong, tried

    def go(self, quick):
        if self.name in STREAMS:
            return self.streams()
        old, new, count = self.states()
        values = []
        if self.name in READERS:
            for state in (old, new):
                self.begin(state)
                values.append(self.value())
        wrong, tried = [], 0
        for fault in ("kill", "half", "after", "full"):
            for at in range(1, count + 1):
                if quick and fault in ("half", "after") and at % 3 != 0:
                    continue
                self.begin(old)
                said, code = self.run(9, FAULT=fault, FAULT_AT=str(at))
                tried += 1
                problem = self.check((old, new), values, f"{fault} at call {at}")
                if fault == "full":
                    left = parts(self.place)
                    problem = problem or (f"{self.name}, full at call {at}: left {left}" if left else None)
                    problem = problem or (f"{self.name}, full at call {at}: {said} ({code})" if code != 0 and "Error" not in said else None)
                    if "failed" in said and contents(self.place) == new and new != old:
                        problem = problem or f"{self.name}, full at call {at}: it failed, and the new content is there"
                elif not problem and at == count // 2:
                    # The next writer takes away what this one left.
                    self.run(9)
                    problem = f"{self.name}, {fault} at call {at}: left {parts(self.place)}" if parts(self.place) else self.check((new,), values[1:], "written again")
                if problem:
                    wrong.append(problem)
        return wrong, tried


LIBRARY = '''import tensorflow as tf

w = tf.Variable(tf.zeros([20000]), name="w")


@tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
def put(x):
    w.assign(tf.fill([20000], x))
    return x
'''

LIBRARY_HOST = '''#include <stdio.h>
#include <stdlib.h>
#include "kept.h"
int main(int count, char **arguments) {
  float x = count > 1 ? (float)atoi(arguments[1]) : 0, y = 0;
  tfl_context *c = NULL;
  if (kept_context_new(NULL, &c) != TFL_OK || kept_put_f32(c, &x, &y) != TFL_OK) return 3;
  if (kept_state_save(c, "place/state.safetensors") != TFL_OK) printf("failed, Error: %s\\n", kept_last_error(c));
  kept_context_free(c);
  return 0;
}
'''


def library_host(tfl, folder):
    """A C program that saves the state of a native library."""
    for name, text in (("kept.tfl", LIBRARY), ("host.c", LIBRARY_HOST)):
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)
    program = os.path.join(folder, "host")
    for command in ([tfl, "build", "kept.tfl", "-o", "kept"],
                    [os.environ.get("CC", "cc"), "-O1", "-Ikept", "-o", program, "host.c", "kept/libkept.so", "-Wl,-rpath," + os.path.join(folder, "kept")]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
    return program


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--tfl", required=True)
    p.add_argument("--only")
    p.add_argument("--all", action="store_true", help="every kind of fault at every call")
    a = p.parse_args()
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as folder:
        shim = os.path.join(folder, "fault.so")
        built = subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-o", shim, os.path.join(here, "fault.c"), "-ldl"], capture_output=True, text=True)
        if built.returncode:
            print(built.stderr)
            return 1
        wrong, tried = [], 0
        for name in (*WRITERS, *STREAMS, "a library's state"):
            if a.only in (None, name):
                program = library_host(os.path.abspath(a.tfl), folder) if name == "a library's state" else None
                root = os.path.join(folder, "trial")
                os.mkdir(root)
                trial = Trial(os.path.abspath(a.tfl), shim, root, name, program)
                for problems, n in (trial.go(not a.all), trial.within() if program else ([], 0)):
                    wrong += problems
                    tried += n
                shutil.rmtree(root)
    for problem in wrong:
        print(problem)
    print(f"{tried} writers stopped, {len(wrong)} wrong")
    return 1 if wrong or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
