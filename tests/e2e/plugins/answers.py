#!/usr/bin/env python3
"""The answers of docs/plugin-guide.md under "Questions", as an engine sees them (answers.c): what a
segment's outputs are, which buffers may share bytes, what is joined, which operators reach query.

Needs a C compiler. Prints each fault and, last, the counts.

Example: tests/e2e/plugins/answers.py --build build/release
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
HEAD = 'ge 1\nopset "" 28\n'
# s is read inside and outside of a pattern of the first two nodes, and m is read and a result.
CHAIN = HEAD + """fn main(a: f32[{n}], b: f32[{n}]) -> ({results}) {{
  s = Add(a, b) "first"
  m = Mul(s, s) "middle"
  y = Relu(m) "last"
  {more}
}}
entry infer "main" = main
"""
GELU = HEAD + """const half : f32[] = 0.5
const one : f32[] = 1
const root : f32[] = 1.4142135
const scale : f32[8] = splat 1
const eps : f32[] = 1e-05
const two : f32[] = 2
const axes : i64[1] = [-1]
fn main(x: f32[4,8]) -> (y, n) {
  d = Div(x, root)
  e = Erf(d)
  p = Add(e, one)
  m = Mul(x, p)
  y = Mul(m, half)
  mean = ReduceMean(x, axes)
  c = Sub(x, mean)
  sq = Pow(c, two)
  v = ReduceMean(sq, axes)
  ve = Add(v, eps)
  sd = Sqrt(ve)
  q = Div(c, sd)
  w = Mul(q, scale)
  n = Add(w, scale)
}
entry infer "main" = main
"""


class Asked:
    """What the engine said, by kind, and how the command ended."""

    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.said = {"query": [], "compile": [], "enqueue": []}
        for line in self.err.splitlines():
            if line.startswith('{"'):
                said = json.loads(line)
                self.said[next(iter(said))].append(said)

    def compiled(self):
        """(nodes of each offer, inputs, outputs) of each segment."""
        return [(c["compile"], c["in"], c["out"]) for c in self.said["compile"]]


class Checks:
    def __init__(self, build, folder):
        self.ge, self.folder, self.engine = build / "bin/ge", folder, folder / "answers.so"
        self.passed = self.failed = 0
        subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-O1", "-Wall", "-shared", "-fPIC",
                        "-I", ROOT / "sdk/include", ROOT / "tests/e2e/plugins/answers.c", "-o",
                        self.engine, *os.environ.get("CFLAGS", "").split()], check=True)

    def check(self, good, name, found=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    {str(found).strip()[-3000:]}")

    def ask(self, command, text, mode, *more):
        model = self.folder / "model.gt"
        model.write_text(text)
        return Asked(subprocess.run(
            [self.ge, command, model, "--engines", f"{self.engine}:mode={mode},ref", *more],
            capture_output=True, text=True, timeout=60,
            env={**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed"}))

    def outputs(self, text, mode):
        """{file: bytes} that a run with the engine and one with ref alone write, and the first."""
        to = self.folder / str(self.passed + self.failed)
        asked = self.ask("run", text, mode, "--output", to / "asked")
        plain = subprocess.run([self.ge, "run", self.folder / "model.gt", "--engines", "ref",
                                "--output", to / "ref"], capture_output=True, timeout=60,
                               check=False)
        read = {f.name: f.read_bytes() for f in (to / "asked").glob("*.npy")}
        want = {f.name: f.read_bytes() for f in (to / "ref").glob("*.npy")}
        self.check(asked.code == 0 and plain.returncode == 0 and read and read == want,
                   f"{mode}: the outputs of ref", asked.err)
        return asked


def inner_values(c):
    asked = c.outputs(CHAIN.format(n=256, results="y, m", more=""), "pattern")
    c.check(asked.compiled() == [([[0, 1, 2]], ["a", "b"], ["m", "y"])],
            "a result that the pattern reads itself is in segment.out", asked.compiled())
    more = 'z = Neg(s) "outside"'
    text = CHAIN.format(n=256, results="y, z", more=more)
    asked = c.ask("run", text, "overlap")
    segments = asked.compiled()
    c.check(any([0, 1] in offers and "s" in outs for offers, _, outs in segments),
            "a value with a reader outside of the pattern is in segment.out", segments)
    for line in asked.said["enqueue"]:
        c.check(line["enqueue"]["overlap"] == 0, "what a launch is given lies apart", line)


def steps(c):
    asked = c.outputs(CHAIN.format(n=256, results="y, s", more=""), "pattern")
    said = [line["enqueue"] for line in asked.said["enqueue"]]
    c.check(len(said) == 1 and said[0]["overlap"] == 0 and asked.compiled()[0][2] == ["s", "y"],
            "an output that a step wrote is there for later steps, beside all other buffers", said)


def joined(c):
    text = CHAIN.format(n=256, results="y", more="")
    single, grown = c.outputs(text, "single").compiled(), c.outputs(text, "grow").compiled()
    c.check([s[0] for s in single] == [[[0]], [[1]], [[2]]],
            "without GROWABLE a segment takes one offer", single)
    c.check([s[0] for s in grown] == [[[0], [1], [2]]],
            "growable offers that are connected are one segment", grown)


def overlapping(c):
    asked = c.outputs(CHAIN.format(n=256, results="y", more=""), "overlap")
    taken = sorted(node for s in asked.compiled() for offer in s[0] for node in offer)
    c.check(taken == [0, 1, 2], "of offers that overlap each node is taken once", taken)
    c.check(sorted(len(s[0][0]) for s in asked.compiled()) == [1, 2],
            "and the cheapest cover is taken", asked.compiled())


def declined(c):
    text = CHAIN.format(n=256, results="y", more="")
    asked = c.outputs(text, "declined")
    c.check(asked.compiled() == [([[0, 1, 2]], ["a", "b"], ["y"])],
            "a pattern of declined nodes is taken", asked.compiled())
    said = c.ask("explain", text, "declined")
    c.check(said.code == 0 and said.out.count("not by itself") == 3,
            "explain tells why a node was declined", said.out)


def empty_tensors(c):
    asked = c.outputs(CHAIN.format(n=0, results="y, s", more=""), "single")
    said = [line["enqueue"] for line in asked.said["enqueue"]]
    c.check(said and all(s["bytes"] == 0 and s["null"] == 0 and s["rank"] == 1 for s in said),
            "tensors without elements are offered, compiled and launched, with an address", said)


def operators(c):
    asked = c.ask("run", GELU, "none")
    queries = [line["query"] for line in asked.said["query"]]
    names = [[op for _, op, _ in q] for q in queries]
    c.check(asked.code == 0 and any(set(n) == {"Gelu", "LayerNormalization"} for n in names),
            "recognised operators reach query", asked.err)
    c.check(any("Erf" in n and "Gelu" not in n for n in names) and len(queries) > 1,
            "and their parts in another query of the same graph", names)
    c.check(all(v == 28 and d == "" for q in queries for d, _, v in q),
            "operators of ONNX come at opset 28", queries)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ge-answers.") as folder:
        c = Checks(args.build.resolve(), pathlib.Path(folder))
        for question in (inner_values, steps, joined, overlapping, declined, empty_tensors,
                         operators):
            question(c)
    print(f"{c.passed} passed, {c.failed} failed, 0 skipped")
    sys.exit(1 if c.failed else 0)


if __name__ == "__main__":
    main()
