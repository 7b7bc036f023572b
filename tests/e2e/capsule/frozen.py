#!/usr/bin/env python3
"""Capsules of version 1, as release 0.1.0 wrote them, are read by every later release: a recording is a
model, is replayed, judged and shown by NumPy; a compiled model runs, with the same numbers, although
its engines have other builds now. The files in frozen/ are never written anew.

Prints each fault and, last, the counts.

Example: tests/e2e/capsule/frozen.py --build build/release
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("numpy")

import numpy as np  # noqa: E402

FROZEN = pathlib.Path(__file__).resolve().parent / "frozen"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    args = parser.parse_args()
    ge = ROOT / args.build / "bin" / "ge"
    counts = [0, 0]

    def check(good, name, found=""):
        counts[0 if good else 1] += 1
        if not good:
            print(f"FAILED  {name}\n    {str(found)[:500]}")

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def run(*words):
            return subprocess.run([str(ge), *map(str, words)], capture_output=True, text=True, cwd=folder,
                                  env=dict(os.environ, GE_CACHE_DIR="off"))

        recorded, compiled = FROZEN / "run-1.gecap", FROZEN / "compiled-1.gecap"
        arrays = np.load(recorded)
        x = arrays["input/0-x"]
        wanted = {n: arrays[f"output/{i}-{n}"] for i, n in enumerate(("y", "z"))}
        check(x.shape == (2, 4) and wanted["y"].shape == (2, 4), "NumPy reads it", arrays.files)
        for words in (["--from", "plan"], ["--from", "load"], ["--from", "load", "--engines", "native,ref"]):
            done = run("replay", recorded, *words)
            check(done.returncode == 0, f"it is replayed {words}", done.stdout + done.stderr)
        done = run("bisect", recorded, "--json")
        check(done.returncode == 0 and json.loads(done.stdout)["kind"] == "none", "nobody is at fault",
              done.stdout + done.stderr)
        done = run("isolate", recorded, "#0", "-o", "piece.gecap")
        check(done.returncode == 0, "a segment is isolated", done.stderr)
        np.save(folder / "x.npy", x)
        for model in (recorded, compiled):
            done = run("run", model, "--input", "x=x.npy", "--output", "out", "--json")
            check(done.returncode == 0, f"{model.name} runs", done.stderr)
            for port, want in wanted.items():
                made = np.load(folder / "out" / f"{port}.npy")
                check(np.allclose(made, want, rtol=1e-5, atol=1e-6), f"{model.name}: {port}", (made, want))
    print(f"{counts[0]} passed, {counts[1]} failed, 0 skipped")
    return 1 if counts[1] else 0


if __name__ == "__main__":
    sys.exit(main())
