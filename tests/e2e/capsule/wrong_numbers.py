#!/usr/bin/env python3
"""A new user types README's "When numbers are wrong" where an engine that was found by itself computes one
operator wrongly: replay repeats the run, bisect and lockstep end with the node's name, isolate keeps it.

Prints each fault and, last, the counts.

Example: tests/e2e/capsule/wrong_numbers.py --build build/release
"""
import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
NET = """ge 1
opset "" 28
fn main(x: f32[4,6], w: f32[6,4]) -> (y) {
  p = MatMul(x, w) "encoder/product"
  t = Tanh(p) "encoder/curve"
  y = Mul(p, t) "decoder/gate"
}
entry infer "main" = main
"""


def commands():
    """What README's section says, line by line, without what it says of each."""
    section = (ROOT / "README.md").read_text().split("## When numbers are wrong")[1].split("\n## ")[0]
    block = section.split("```")[1]
    return [re.split(r"\s{3,}", line)[0] for line in block.splitlines() if line.startswith("ge ")]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    args = parser.parse_args()
    ge = args.build.resolve() / "bin" / "ge"
    passed = failed = 0

    def check(good, name, found=""):
        nonlocal passed, failed
        passed, failed = passed + bool(good), failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    {str(found).strip()[-1500:]}")

    for fault, verdict in (("TANH_COARSE", "engine worker, nodes encoder/curve: "), ("NONE", "none: ")):
        with tempfile.TemporaryDirectory(prefix="ge-wrong.") as folder:
            subprocess.run(["cc", "-std=c11", "-O1", "-shared", "-fPIC", f"-DFAULT={fault}",
                            f"-I{ROOT}/sdk/include", ROOT / "tests/plugins/planted/worker.c", "-lm", "-o",
                            f"{folder}/worker.so"], check=True)
            pathlib.Path(folder, "net.gt").write_text(NET)
            env = {**os.environ, "GE_PLUGIN_EXTRA": f"{folder}/worker.so"}
            run = lambda words: subprocess.run([ge, *words], capture_output=True, text=True, cwd=folder, env=env)
            check(run(["dump", "net.gt", "--format", "onnx", "-o", "MODEL.onnx"]).returncode == 0,
                  "the model")
            typed = commands()
            check(len(typed) >= 5, "README has the commands", typed)
            for line in typed:
                words = shlex.split(line)[1:]
                done = run(words)
                names = "bisect" in words or "--lockstep" in words
                wrong = fault != "NONE" and names
                check(done.returncode == (1 if wrong else 0), f"{line} of {fault}", done.stdout + done.stderr)
                if names:
                    check(done.stdout.splitlines()[-1].startswith(verdict), f"{line} ends with '{verdict}'",
                          done.stdout + done.stderr)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
