#!/usr/bin/env python3
"""What `ge run` shows beside its results.

--trace: a file of Perfetto's format, read by perfetto.py: stages and passes, runs that their parts fill,
the peak of memory in use as planned.
--profile: each node once, operators as sums of nodes, pieces of control flow too. Nothing is left of a file that cannot be written, and an earlier one stays.

Prints each fault and, last, the counts.

Example: tests/e2e/capsule/looking.py --build build/release
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools" / "bench"), str(ROOT / "tests/e2e/capsule")]

import project_venv  # noqa: E402

project_venv.enter("numpy")

import numpy as np  # noqa: E402

import perfetto  # noqa: E402

# Two segments on two engines.
TWO = """ge 1
opset "" 28
const first : f32[4] = [1, 2, 3, 4]
fn main(x: f32[2,4]) -> (y) {
  a = Add(x, first) "left"
  b = Exp(a) "right\\xff/part"
  y = Mul(b, b) "last"
}
entry infer "main" = main
"""


# Planned in pieces.
IF = """ge 1
opset "" 28
fn yes(x: f32[64]) -> (y) {
  y = Exp(x) "first"
}
fn no(x: f32[64]) -> (y) {
  y = Sin(x) "second"
}
fn main(c: bool[], x: f32[64]) -> (y) {
  y = If(c, x) calls {then_branch=yes, else_branch=no}
}
entry infer "main" = main
"""


class Checks:
    def __init__(self, ge, folder):
        self.ge, self.folder, self.passed, self.failed = ge, folder, 0, 0

    def check(self, good, name, found=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    {str(found).strip()[-1500:]}")

    def run(self, *words, env=None, **more):
        return subprocess.run([self.ge, *map(str, words)], capture_output=True, text=True,
                              cwd=self.folder, env={**os.environ, **(env or {})}, **more)

    def report(self, *words):
        done = self.run("run", *words, "--json")
        return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr}

    def refused(self, code, text, *words, **more):
        done = self.run(*words, **more)
        self.check(done.returncode == code and text in done.stderr, f"{words} says '{text}'",
                   f"{done.returncode}: {done.stdout}{done.stderr}")


def traced(c, name, model, *more):
    file = c.folder / f"{name}.pftrace"
    report = c.report(model, "--repeat", "3", "--trace", file, *more)
    try:
        trace = perfetto.read(file)
    except (AssertionError, KeyError, IndexError, OSError) as e:
        c.check(False, f"the trace of {name} is read", repr(e))
        return None, report
    runs = [s for s in trace.slices if s.category == "run" and s.name.startswith("run ")]
    c.check([r.name for r in runs] == ["run 1", "run 2", "run 3"], f"{name}: a slice for each run", runs)
    c.check(all(abs(r.inner - r.ns) <= 0.02 * r.ns for r in runs), f"{name}: parts fill the runs", runs)
    peaks = [max(v for _, v in values) for t, values in trace.counts.items() if t.startswith("memory")]
    c.check(sum(peaks) == report.get("max_live_bytes"), f"{name}: the peak is the planned one",
            f"{peaks} {report}")
    return trace, report


def traces(c):
    trace, report = traced(c, "lenet", ROOT / "build/models/lenet.onnx")
    names = [s.name for s in trace.slices if s.category == "stage"] if trace else []
    c.check(all(n in names for n in ["load model", "infer", "rewrite/fold-constants", "plan", "place",
                                     "compile", "memory", "check"]), "stages and passes are there", names)
    stage = {s.name: s for s in trace.slices if s.category == "stage"} if trace else {}
    c.check(stage and stage["infer"].depth == 1 and stage["load model"].ns > stage["infer"].ns,
            "stages lie within the load", stage)
    traced(c, "tinychain", ROOT / "build/models/tinychain.onnx")
    trace, report = traced(c, "two", "two.gt", "--pin", "left=ref", "--pin", "right*=native",
                           "--pin", "last=native")
    found = [(s.name, s.notes) for s in trace.slices if s.category == "launch"] if trace else []
    c.check(len(found) == 3 * report.get("segments", 0) == 6, "a slice for each launch", found)
    c.check(found and found[0][0] == "left" and found[0][1]["device"] == "ref/cpu", "it names its nodes",
            found)
    c.check(found and found[1][0] == "right\\xff/part + last", "names that are no UTF-8 are shown", found)


def profiles(c):
    found = c.report(ROOT / "build/models/lenet.onnx", "--profile", "--repeat", "5")
    p = found.get("profile", {"nodes": [], "operators": []})
    c.check(p.get("runs") == 4 and p["run_us"] > 0, "the first run of several does not count", p)
    nodes = [n for row in p["nodes"] for n in row["nodes"]]
    c.check(len(nodes) == len(set(nodes)) == found.get("nodes", 0) - 1,
            "each node is in one row, but for the Reshape that costs nothing", nodes)
    inside = sum(r["us"] for r in p["nodes"])
    c.check(0 < inside <= 1.5 * p["run_us"], "rows are parts of the run", p)
    by_operator = sum(r["us"] for r in p["operators"])
    c.check(abs(by_operator - inside) < 1e-6 * inside, "operators are sums of nodes", p)
    conv = [r for r in p["nodes"] if r["op"].startswith("Conv")]
    c.check(conv and all(r["gflops"] > 0 and r["predicted_us"] > 0 for r in conv),
            "rates and predictions are there", p)
    done = c.run("run", ROOT / "build/models/lenet.onnx", "--profile", "--engines", "ref")
    lines = done.stdout.splitlines()
    c.check(done.returncode == 0 and lines[0].startswith("node ") and lines[1].startswith("----"),
            "the table has a head", done.stdout)
    c.check("one run " in done.stdout and "the median of 10" in done.stdout, "and a sum", done.stdout)
    np.save(c.folder / "c.npy", np.array(False))
    found = c.report("if.gt", "--input", "c=c.npy", "--profile", "--repeat", "3")
    rows = [r["nodes"] for r in found.get("profile", {}).get("nodes", [])]
    c.check(["second"] in rows, "pieces of control flow have rows", found)


def refusals(c):
    c.refused(2, "no/such/folder", "run", "two.gt", "--trace", "no/such/folder/f.pftrace")
    (c.folder / "kept.pftrace").write_text("earlier")
    c.refused(2, "", "run", "two.gt", "--input", "x=3:rand", "--trace", "kept.pftrace")
    c.check((c.folder / "kept.pftrace").read_text() == "earlier", "a failed run leaves the earlier file")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path,
                        default=pathlib.Path(os.environ.get("GE_BUILD", ROOT / "build/release")))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "two.gt").write_bytes(TWO.encode().replace(b"\\xff", b"\xff"))
        c = Checks(str(args.build.resolve() / "bin/ge"), folder)
        (folder / "if.gt").write_text(IF)
        traces(c)
        profiles(c)
        refusals(c)
    print(f"{c.passed} passed, {c.failed} failed, 0 skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
