#!/usr/bin/env python3
"""The first batch at 90 % of a million shuffled rows comes as soon as that at 0: medians of runs in turns, and
by how much they may differ (1.2). The last line counts checks."""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[4]
GE = ROOT / "build/release/bin/ge"
ROWS, ROUNDS, MOST = 1_000_000, 41, 1.2


def main():
    passed = failed = 0
    env = dict(os.environ, GE_CACHE_DIR="off", GE_PROBE="fixed")
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", np.random.default_rng(1).integers(0, 256, (ROWS, 32), np.uint8))
        lines = "".join(f"line {i} of a text\n" for i in range(ROWS))
        pathlib.Path(f"{folder}/t.txt").write_text(lines)
        for pipe in ("x.npy | shuffle | normalise 0.5 0.5", "t.txt | shuffle | tokens bytes | pack 16"):
            took = {0: [], ROWS * 9 // 10: []}
            for _ in range(ROUNDS):
                for first, seconds in took.items():
                    done = subprocess.run([GE, "data", "run", pipe, "--first", str(first), "--batches", "1", "--json"],
                                          cwd=folder, env=env, capture_output=True, text=True, check=True)
                    seconds.append(json.loads(done.stdout)["seconds"])
            begin, end = (statistics.median(s) for s in took.values())
            good = end <= begin * MOST
            passed, failed = passed + good, failed + (not good)
            print(f"{'' if good else 'FAILED  '}{pipe}: {begin * 1e6:.0f} us at 0, {end * 1e6:.0f} us at 90 %")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
