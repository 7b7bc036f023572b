#!/usr/bin/env python3
"""What a call of the Python package costs above the engine: times of a tiny model by Session.run and
InferenceSession.run, and by the C API from a C program (ge run), in turns. Asserts nothing.

Runs under the environment that tests/e2e/python/python.sh makes, build/python/venv, or another with the package.

Examples:
  tools/bench/door/python_call.py
  tools/bench/door/python_call.py --rounds 9 --calls 50000 --threads 2
"""
import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
PYTHON = ROOT / "build" / "python" / "venv" / "bin" / "python"
MODEL = ROOT / "tests" / "e2e" / "models" / "three_nodes.gt"


def enter():
    """Restarts under build/python/venv where this interpreter has not the package."""
    if importlib.util.find_spec("graphengine") and importlib.util.find_spec("numpy"):
        return
    if PYTHON.exists() and pathlib.Path(sys.prefix).resolve() != PYTHON.parents[1].resolve():
        os.execv(PYTHON, [str(PYTHON), *sys.argv])
    sys.exit(f"{sys.argv[0]}: the package graphengine is not here; run: bash tests/e2e/python/python.sh")


def median_us(call, calls):
    """The median time of a call in us, without what taking the time costs."""
    def times(timed):
        out, clock = [], time.perf_counter_ns
        for _ in range(calls):
            begin = clock()
            timed()
            out.append(clock() - begin)
        return statistics.median(out) / 1e3
    for _ in range(200):
        call()
    return times(call) - times(lambda: None)


def by_c(args):
    """The median of `ge run`: ge's own runs, without Python."""
    words = [word for name in "abc" for word in ("--input", f"{name}=256:rand")]
    done = subprocess.run(
        [str(args.ge), "run", str(MODEL), *words, "--json", "--repeat", str(args.calls),
         "--warmup", "200", "--threads", str(args.threads)], capture_output=True, check=True)
    return json.loads(done.stdout)["median_ms"] * 1e3


def calls(args):
    """What is timed, by the words that are shown."""
    import numpy as np  # pylint: disable=import-outside-toplevel
    import graphengine  # pylint: disable=import-outside-toplevel
    session = graphengine.Session(MODEL, threads=args.threads)
    drop_in = graphengine.InferenceSession(str(MODEL))
    feed = {name: np.ones(256, np.float32) for name in "abc"}
    out = {"y": np.zeros(256, np.float32)}
    return {
        "C": lambda: by_c(args),
        "run": lambda: median_us(lambda: session.run(feed), args.calls),
        "run, out=": lambda: median_us(lambda: session.run(feed, out), args.calls),
        "run, dlpack out": lambda: median_us(lambda: session.run(feed, outputs="dlpack"),
                                             args.calls),
        "InferenceSession.run": lambda: median_us(lambda: drop_in.run(None, feed), args.calls),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ge", type=pathlib.Path, default=ROOT / "build/release/bin/ge")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=20000, help="a round and row")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    enter()
    rows, found = calls(args), {}
    for _ in range(args.rounds):
        for name, timed in rows.items():
            found.setdefault(name, []).append(timed())
    plain = statistics.median(found["C"])
    print(f"three inputs and one output of 256 floats, medians of {args.rounds} rounds of "
          f"{args.calls} calls, us")
    for name, times in found.items():
        middle = statistics.median(times)
        print(f"{name:<22} {middle:8.2f}   above C {middle - plain:8.2f}   "
              f"rounds {min(times):.2f} to {max(times):.2f}")


if __name__ == "__main__":
    main()
