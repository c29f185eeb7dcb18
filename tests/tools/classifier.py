#!/usr/bin/env python3
"""examples/classifier as its page says: the script learns and keeps its weights, `tfl build` makes a library of it, and C, C++, Python and the web
service name the same class for a picture. Exit status 0: all right.

usage: classifier.py --tfl PROGRAM
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

from library import python_with_numpy, run

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLE = os.path.join(ROOT, "examples", "classifier")

PICTURES = """
import sys
import numpy as np
import clothes
context = clothes.Context(num_threads=1)
context.load("clothes.safetensors")
for name in sys.argv[1:]:
    picture = np.load(name + ".npy")
    (picture * 255).round().astype(np.uint8).tofile(name)
    label, probability = context.classify(picture.reshape(1, 784))
    print(f"{name}: {int(label[0])} {100 * float(probability[0]):.1f}")
"""


def service(python, folder, environment, picture):
    """What the service answers for a picture, and for nonsense."""
    command = [python, os.path.join(EXAMPLE, "service.py"), "clothes.safetensors", "0"]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = server.stdout.readline().strip()
            with open(os.path.join(folder, picture), "rb") as f:
                answer = json.load(urllib.request.urlopen(address, f.read(), timeout=60))
            try:
                urllib.request.urlopen(address, b"nonsense", timeout=60)
                refused = "taken"
            except urllib.error.HTTPError as e:
                refused = json.load(e)["error"]
            return answer, refused
        finally:
            server.terminate()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tfl", required=True)
    tfl = os.path.abspath(p.parse_args().tfl)
    python = python_with_numpy()
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(EXAMPLE, "classifier.tfl")
        learnt = run(tfl, "run", f"--allow-write={folder}", script, "clothes.safetensors", "1", cwd=folder)
        right = float(re.match(r"([\d.]+) % of 10000 pictures after 1 epochs", learnt)[1])
        if right < 75:
            sys.exit(f"it has learnt little: {learnt}")
        run(tfl, "build", script, "--name", "clothes", "-o", "out", cwd=folder)
        environment = dict(os.environ, PYTHONPATH=os.path.join(folder, "out"))
        names = [f"picture{i}" for i in range(3)]
        said = {"Python": run(python, "-c", PICTURES, *names, cwd=folder, env=environment).split("\n")[:-1]}
        linked = ["-Iout", "-Lout", "-lclothes", "-Wl,-rpath,out"]
        for language, compiler, source in (("C", ["cc", "-std=c99"], "classify.c"), ("C++", ["c++", "-std=c++20"], "classify.cpp")):
            run(*compiler, os.path.join(EXAMPLE, source), *linked, "-o", source[-3:].strip("."), cwd=folder)
            said[language] = run("./" + source[-3:].strip("."), "clothes.safetensors", *names, cwd=folder).splitlines()
        answer, refused = service(python, folder, environment, names[0])
    shares = {language: re.findall(r"(\d+\.\d)", " ".join(lines)) for language, lines in said.items()}
    if len(set(map(tuple, shares.values()))) != 1 or len(shares["C"]) != 3:
        sys.exit(f"they do not say the same: {said}")
    if not said["C"][0].startswith(f"picture0: {answer['name']} (") or round(100 * answer["probability"], 1) != float(shares["C"][0]):
        sys.exit(f"the service says {answer}, the program {said['C'][0]}")
    if refused != "POST 784 bytes to /classify":
        sys.exit(f"nonsense is {refused}")


if __name__ == "__main__":
    main()
