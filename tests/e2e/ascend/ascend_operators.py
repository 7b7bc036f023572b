#!/usr/bin/env python3
"""What the engine ascend computes on the simulated vendor, beside ref.

Random cases of operators (--cases of each: float32, float16, bfloat16 and the others), also on a chip
without bfloat16 and on one that nobody knows.

Example: tests/e2e/ascend/ascend_operators.py --build build/release --cases 3
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
LEAST_OPERATORS = 150
# Parameters of a bfloat16 model's text; the chip's name and whether the engine takes it.
HALF = """ge 1
opset "" 28
fn main(x: DTYPE[2,3,4]) -> (y) {
  y = Relu(x)
}
entry infer "main" = main
"""
CHIPS = [("910b", "bf16", True), ("310p", "bf16", False), ("310p", "f16", True),
         ("unknown", "bf16", False), ("unknown", "f16", True)]


class Checks:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.passed = self.failed = self.skipped = 0

    def check(self, good, name, detail=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    {str(detail).strip()[-2000:]}")

    def run(self, program, *args, sim=""):
        env = {**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed", "GE_SIM_ASCEND": sim,
               "LD_LIBRARY_PATH": str(self.build / "lib/sim/ascend")}
        if not sim:
            del env["GE_SIM_ASCEND"]
        return subprocess.run([self.build / "bin" / program, *map(str, args)], cwd=ROOT, env=env,
                              capture_output=True, text=True, timeout=1500, check=False)

    def ran(self, *args, engines, sim=""):
        """The report of a run, and its outputs by name."""
        with tempfile.TemporaryDirectory(dir=self.folder) as out:
            done = self.run("ge", "run", *args, "--engines", engines, "--policy", "priority",
                            "--seed", 3, "--json", "--output", out, sim=sim)
            self.check(done.returncode == 0, f"a run on {engines}", done.stderr)
            report = json.loads(done.stdout) if done.returncode == 0 else {}
            return report, {f.stem: np.load(f) for f in pathlib.Path(out).iterdir()}


def operators(c, cases):
    for chip, count in [("910b", cases), ("310p", 1), ("unknown", 1)]:
        done = c.run("ge-test", "--random", count, "--engines", "ascend", "--seed", 7,
                     sim=f"chip={chip}")
        found = re.search(r"ascend: (\d+) operators, (\d+) cases", done.stdout)
        c.check(done.returncode == 0, f"random cases on the chip {chip}", done.stdout)
        c.check(found and int(found[1]) >= LEAST_OPERATORS, f"operators on {chip}",
                done.stdout[-200:])
        print(f"{chip}: {found[2] if found else 0} cases of operators, seed 7")


def halves(c):
    for chip, dtype, taken in CHIPS:
        model = c.folder / f"{chip}_{dtype}.gt"
        model.write_text(HALF.replace("DTYPE", dtype))
        report, _ = c.ran(model, "--input", "x=2x3x4:rand", engines="ascend,ref",
                          sim=f"chip={chip}")
        wanted = {"ascend": 1} if taken else {"ref": 1}
        c.check(report.get("engines") == wanted, f"{dtype} on {chip}", report.get("engines"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--cases", type=int, default=3, help="of each operator")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        c = Checks(options.build.resolve(), pathlib.Path(folder))
        operators(c, options.cases)
        halves(c)
    print(f"{c.passed} passed, {c.failed} failed, {c.skipped} skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
