#!/usr/bin/env python3
"""Mutation testing: gets one law of the optimiser or one gradient rule wrong after the other, and tells which no test notices.

    cmake --preset dev -B build-mutants -DTFL_MUTANTS=ON && ninja -C build-mutants tfl tfl_tests tools
    mutants.py [--build build-mutants] [--only WORDS] [--jobs 2] [--state FILE]

Mutants are made by ir/mutants.h: a law that is not applied, a constant or a comparison that is not the law's, a gradient that is not there, a
gradient that is twice what it is. Tests run one after the other, the likely ones first, with the mutants that no earlier one has noticed. With
--state a run goes on where another one stopped, as long as the program is the same. Exit status 1: a mutant lives."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

from gradient_table import differentiable

ROOT = pathlib.Path(__file__).resolve().parents[2]


def rows(path, macro):
    return re.findall(rf"^{macro}\((\w+)", (ROOT / path).read_text(), re.M)


def mutants():
    for macro, kinds in {"TFL_NEUTRAL": ["not neutral", "other neutral"], "TFL_INVOLUTION": ["no involution"], "TFL_IDEMPOTENT": ["not idempotent"],
                         "TFL_SELF": ["no self"], "TFL_NEGATED": ["not negated", "other negated"]}.items():
        for i, _ in enumerate(rows("optimizer/laws.def", macro)):
            for kind in kinds:
                yield f"{kind} {i}"
    for name in sorted(differentiable()):
        yield f"no gradient {name}"
        yield f"double gradient {name}"


def commands(build, of_gradients):
    """Tests, the likely ones and the quick ones first."""
    tests = [str(build / "tfl_tests"), "--abort"]
    runner = [sys.executable, str(ROOT / "tests/run"), "--build", str(build), "-k"]
    if not of_gradients:
        return [[*tests, "laws:*"], [*tests, "optimizer:*"], [*runner, "golden/graphs"]]
    return [[*runner, name] for name in ["conformance/grad", "golden/gradient/", "fourier", "conformance/", "gradients/operations", "scripts/gradients/", "sparse",
                                         "scripts/functions", "scripts/keras/"]]


def fails(build, command, mutant):
    environment = dict(os.environ, TFL_MUTANT=mutant, XDG_CACHE_HOME=str(build / "mutants-cache"))
    try:
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build-mutants")
    parser.add_argument("--only", default="", help="mutants whose name contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--state", type=pathlib.Path)
    args = parser.parse_args()
    build = args.build.resolve()
    program = os.stat(build / "tfl").st_mtime
    state = json.loads(args.state.read_text()) if args.state and args.state.exists() else {}
    if state.get("program") != program:
        state = {"program": program, "noticed": {}, "passed": {}}
    noticed, passed = state["noticed"], state["passed"]  # mutant: the test that fails; how many tests it has lived through
    wanted = [m for m in mutants() if args.only in m]

    def meet(mutant, turn, command):
        if fails(build, command, mutant):
            noticed[mutant] = command[-1]
        else:
            passed[mutant] = turn + 1
        if args.state:
            args.state.write_text(json.dumps(state, indent=1))

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for kind in (False, True):
            for turn, command in enumerate(commands(build, kind)):
                left = [m for m in wanted if ("gradient" in m) == kind and m not in noticed and passed.get(m, 0) <= turn]
                if not left:
                    continue
                if fails(build, command, ""):
                    sys.exit(f"{command[-1]} fails without a mutant")
                list(pool.map(lambda m: meet(m, turn, command), left))
                print(f"{command[-1]}: {len([m for m in left if m in noticed])} of {len(left)} noticed", flush=True)
    alive = [m for m in wanted if m not in noticed]
    for mutant in alive:
        print(f"lives: {mutant}")
    print(f"{len(wanted)} mutants, {len(alive)} live ({100 - 100 * len(alive) / max(1, len(wanted)):.1f} % are noticed)")
    sys.exit(1 if alive or not wanted else 0)


main()
