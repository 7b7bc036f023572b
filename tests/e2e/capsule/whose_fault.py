#!/usr/bin/env python3
"""Faults on purpose, each beside a sound twin: `ge bisect` of a recorded run names the pass or the engine
and its node, and accuses no twin. Plugins are built from tests/plugins/planted.

Prints each fault and, last, the counts.

Example: tests/e2e/capsule/whose_fault.py --build build/release
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Five rows: the planted engine, which takes no constants, leaves the last term out of the last row.
NET = """ge 1
opset "" 28
const b : f32[4] = [1, 2, 3, 4]
const v : f32[4,3] = [1, 0, 2, 0, 1, 1, 3, 1, 0, 1, 2, 1]
fn main(x: f32[5,6], w: f32[6,4]) -> (y) {
  p = MatMul(x, w) "layer/product"
  s = Add(p, b) "layer/sum"
  t = Tanh(s) "layer/curve"
  y = MatMul(t, v) "second/product"
}
entry infer "main" = main
"""
LAST_ROW, CRASHES, HANGS, FAILS = "3", "5", "6", "7"  # of tests/plugins/planted/engine.c


class Checks:
    def __init__(self, ge, folder):
        self.ge, self.folder, self.passed, self.failed = ge, folder, 0, 0

    def check(self, good, name, found=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    {str(found).strip()[-1500:]}")

    def run(self, *words, **more):
        return subprocess.run([self.ge, *map(str, words)], capture_output=True, text=True, cwd=self.folder,
                              **more)

    def built(self, source, name, fault):
        done = subprocess.run(["cc", "-std=c11", "-O1", "-shared", "-fPIC", f"-DFAULT={fault}",
                               f"-I{ROOT}/sdk/include", ROOT / "tests/plugins/planted" / source,
                               "-o", self.folder / f"{name}.so"], capture_output=True, text=True)
        self.check(done.returncode == 0, f"{name} is built", done.stderr)

    def verdict(self, name, *flags):
        done = self.run("dump", "net.gt", "--values", "-o", f"{name}.gecap", *flags)
        self.check(done.returncode == 0, f"{name} is recorded", done.stderr)
        engines = [w for i, w in enumerate(flags) if "--engines" in (w, flags[i - 1])]
        done = self.run("bisect", f"{name}.gecap", "--json", *engines)
        try:
            return done.returncode, json.loads(done.stdout)
        except json.JSONDecodeError:
            self.check(False, f"{name}: JSON", done.stdout + done.stderr)
            return done.returncode, {"kind": "", "nodes": []}


def isolated(c):
    """A segment, and a node, of the run that was wrong: the piece is wrong by itself, as file and as case."""
    test = c.ge.parent / "ge-test"
    for name, right in (("wrong_engine", False), ("sound_engine", True)):
        capsule, flags = f"{name}.gecap", ["--engines", f"./{name}.so,ref"]
        done = c.run("isolate", capsule, "layer/product", "-o", "piece.gecap")
        c.check(done.returncode == 0 and "1 nodes from 'layer/product', which ran on planted" in done.stdout,
                "a node is isolated", done.stdout + done.stderr)
        done = c.run("replay", "piece.gecap", "--engines", "ref", "--json")
        c.check(done.returncode == (0 if right else 1) and json.loads(done.stdout)["compared"] == 1,
                f"on ref the piece of {name} is {'the same' if right else 'another'}", done.stdout)
        done = c.run("isolate", capsule, "#0", "-o", "piece.gt")
        c.check(done.returncode == 0, "a segment is isolated as a case", done.stderr)
        done = subprocess.run([test, "piece.gt"], capture_output=True, text=True, cwd=c.folder)
        c.check((done.returncode == 0) == right, f"the case of {name} {'passes' if right else 'fails'}",
                done.stdout)
    for piece, text in (("#9", "segment 9 is not there; the plan has segments 0 to 1"),
                        ("#x", "'#x' is no segment"), ("none", "no node is named 'none'"),
                        ("layer/curve", "values inside of segment 1 are not, and isolate '#1' takes")):
        of = "sound_engine.gecap"
        if "inside" in text:
            of = "border.gecap"
            c.run("dump", "net.gt", "--values=border", "-o", of, "--engines", "ref")
            text = text.replace("segment 1", "segment 0").replace("#1", "#0")
        done = c.run("isolate", of, piece, "-o", "piece.gecap")
        c.check(done.returncode == (3 if "inside" in text else 2) and text in done.stderr, f"{piece} says '{text}'", done.stderr)
    done = c.run("isolate", "sound_engine.gecap", "#0", "-o", "piece.onnx")
    c.check(done.returncode == 2 and "wanted F.gecap or F.gt" in done.stderr, "other files are refused",
            done.stderr)


def ended(c):
    """Runs that never ended: what the file has names the engine and its node, and replay ends so, too."""
    for name, fault, text in (("crashes", CRASHES, "signal 11"), ("hangs", HANGS, "has not ended after"),
                              ("fails", FAILS, "failed in enqueue")):
        c.built("engine.c", name, fault)
        engines = ["--engines", f"./{name}.so,ref"]
        try:
            done = c.run("dump", "net.gt", "--values", "-o", f"{name}.gecap", "--policy", "priority", *engines,
                         timeout=3 if name == "hangs" else None)
            c.check(done.returncode != 0, f"a run that {name} says so", done.stdout)
        except subprocess.TimeoutExpired:
            pass
        done = c.run("bisect", f"{name}.gecap", "--json", "--seconds", "3", *engines)
        v = json.loads(done.stdout) if done.stdout else {}
        c.check(done.returncode == 1 and v["kind"] == "engine" and v["engine"] == "planted" and
                v["nodes"] == ["layer/product"] and text in v["why"], f"the engine that {name} is named",
                done.stdout + done.stderr)
        done = c.run("bisect", f"{name}.gecap", "--seconds", "3")
        c.check(done.returncode in (2, 3) and "'planted'" in done.stderr,
                "an engine that is not named again is no verdict", done.stdout + done.stderr)
        if name != "hangs":
            done = c.run("replay", f"{name}.gecap", *engines)
            c.check(done.returncode not in (0, 1), f"its replay {name}, too", done.stdout + done.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ge-bisect.") as folder:
        c = Checks(args.build.resolve() / "bin" / "ge", pathlib.Path(folder))
        (c.folder / "net.gt").write_text(NET)
        for name, fault in (("sound", "0"), ("wrong", LAST_ROW)):
            c.built("engine.c", f"{name}_engine", fault)
        for name, fault in (("sound", "0"), ("wrong", "1")):
            c.built("pass.c", f"{name}_pass", fault)

        engine = ["--policy", "priority", "--engines"]
        code, v = c.verdict("wrong_engine", *engine, "./wrong_engine.so,ref")
        c.check(code == 1 and v["kind"] == "engine" and v["engine"] == "planted" and
                v["nodes"] == ["layer/product"], "the engine and its node are named", v)
        code, v = c.verdict("sound_engine", *engine, "./sound_engine.so,ref")
        c.check(code == 0 and v["kind"] == "none", "its sound twin is not", v)
        code, v = c.verdict("wrong_pass", "--plugins", "./wrong_pass.so")
        c.check(code == 1 and v["kind"] == "pass" and v["pass"] == "planted-swap", "the pass is named", v)
        code, v = c.verdict("sound_pass", "--plugins", "./sound_pass.so")
        c.check(code == 0 and v["kind"] == "none", "its sound twin is not", v)

        done = c.run("bisect", "wrong_engine.gecap", "--engines", "./wrong_engine.so,ref")
        c.check(done.returncode == 1 and "engine planted, nodes layer/product" in done.stdout,
                "for people, the last line is the verdict", done.stdout + done.stderr)
        isolated(c)
        ended(c)
        done = c.run("bisect", "net.gt")
        c.check(done.returncode == 2 and "does not begin as a ZIP file does" in done.stderr,
                "what is no capsule is refused", done.stderr)
    print(f"{c.passed} passed, {c.failed} failed, 0 skipped")
    return c.failed != 0


if __name__ == "__main__":
    sys.exit(main())
