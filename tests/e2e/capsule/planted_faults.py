#!/usr/bin/env python3
"""Faults planted one by one into a pass, a kernel, what an engine says of its memory, its packs, and a model
as it is loaded: `ge bisect` of a recorded run names each by its kind, its pass or engine and its nodes, and
accuses nobody of the same run by the sound twin. `ge replay --lockstep`, `--expect`, `--runs` and `--pin` beside
them. Plugins are built from tests/plugins/planted.

Prints each fault and, last, the counts.

Example: tests/e2e/capsule/planted_faults.py --build build/release
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("numpy")

import numpy as np  # noqa: E402

# Every operator of the planted engine, with values that live long and short.
NET = """ge 1
opset "" 28
const c : f32[4,4] = [0.1, -0.2, 0.3, 0.4, 0.5, -0.6, 0.7, 0.8, 0.9, -1.0, 1.1, 1.2, 1.3, 1.4, -1.5, 1.6]
const d : f32[4,4] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
fn main(x: f32[4,4], z: f32[4,4]) -> (y, w) {
  p = MatMul(x, z) "one/product"
  t = Tanh(p) "one/curve"
  m = Mul(t, c) "two/scale"
  o = Add(m, d) "two/shift"
  u = Tanh(x) "three/curve"
  s = Sub(z, u) "three/minus"
  a = Add(s, p) "three/plus"
  r = Relu(a) "three/bend"
  k = Sub(r, c) "four/minus"
  q = Mul(t, k) "four/gate"
  y = Sub(q, o) "four/last"
  w = Mul(s, t) "five/other"
}
entry infer "main" = main
"""
# FAULT of tests/plugins/planted/pass.c: the node that it edits wrongly.
PASSES = {"SUBTRACTS": ["three/plus", "two/shift"], "DROPS": ["three/bend"],
          "FUSES": ["three/bend", "three/plus"], "FOLDS": ["two/shift"],
          "MERGES": ["three/curve", "one/curve"], "SWAPS": ["three/minus", "four/minus", "four/last"]}
# FAULT of tests/plugins/planted/worker.c: kind and node.
ENGINES = {"MATMUL_ROW": ("engine", "one/product"), "RELU_NEGATIVE": ("engine", "three/bend"),
           "TANH_COARSE": ("engine", "three/curve"), "ADD_TWICE": ("engine", "three/plus"),
           "SUB_NAN": ("engine", "three/minus"), "MUL_TAIL": ("engine", "five/other"),
           "COMES_AND_GOES": ("engine", "three/plus"), "REMEMBERS": ("engine", "four/gate"),
           "WRITES_BEFORE": ("memory", "three/plus"), "CHANGES_INPUT": ("memory", "five/other"),
           "LIES_OF_ALIAS": ("memory", "four/minus"), "LIES_OF_STEPS": ("memory", "three/curve"),
           "LIES_OF_INNER": ("memory", "three/curve"), "FILLS_LESS": ("pack", "four/minus"),
           "SHORT_KEY": ("pack", "four/minus")}


class Checks:
    def __init__(self, build, folder):
        self.ge, self.folder, self.passed, self.failed = build / "bin" / "ge", folder, 0, 0

    def check(self, good, name, found=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    {str(found).strip()[-1500:]}")

    def run(self, *words):
        return subprocess.run([self.ge, *map(str, words)], capture_output=True, text=True, cwd=self.folder)

    def built(self, source, name, fault):
        done = subprocess.run(["cc", "-std=c11", "-O1", "-shared", "-fPIC", f"-DFAULT={fault}",
                               f"-I{ROOT}/sdk/include", ROOT / "tests/plugins/planted" / source, "-lm",
                               "-o", self.folder / f"{name}.so"], capture_output=True, text=True)
        self.check(done.returncode == 0, f"{name} is built", done.stderr)

    def recorded(self, name, *flags):
        done = self.run("dump", "net.gt", "--values", "-o", f"{name}.gecap", *flags)
        self.check(done.returncode == 0, f"{name} is recorded", done.stderr)

    def verdict(self, name, *flags):
        done = self.run("bisect", f"{name}.gecap", "--json", *flags)
        try:
            return done.returncode, json.loads(done.stdout)
        except json.JSONDecodeError:
            return done.returncode, {"kind": "", "nodes": [], "engine": "", "pass": "", "said": done.stderr}


def passes(c):
    c.built("pass.c", "sound_pass", "SOUND")
    for fault, nodes in PASSES.items():
        c.built("pass.c", fault, fault)
        for name in (fault, "sound_pass"):
            c.recorded(name, "--plugins", f"./{name}.so", "--engines", "ref")
            code, v = c.verdict(name)
            if name == "sound_pass":
                c.check(code == 0 and v["kind"] == "none", f"the twin of {fault} is not accused", v)
            else:
                c.check(code == 1 and v["kind"] == "pass" and v["pass"] == "planted-swap" and
                        v["nodes"] and set(v["nodes"]) <= set(nodes), f"{fault} is named", v)


def engines(c):
    c.built("worker.c", "NONE", "NONE")
    sound = ["--engines", "./NONE.so,ref"]
    c.recorded("NONE", "--policy", "priority", *sound)
    for fault, (kind, node) in ENGINES.items():
        c.built("worker.c", fault, fault)
        flags = ["--engines", f"./{fault}.so,ref"]
        more = ["--runs", "12"] if fault == "COMES_AND_GOES" else []
        for _ in range(12 if more else 1):  # until the recorded run is a wrong one
            c.recorded(fault, "--policy", "priority", *flags)
            code, v = c.verdict(fault, *flags, *more)
            if v["kind"] != "none":
                break
        named = v["nodes"] == [node] or (more and v["nodes"] in (["two/shift"], [node]))
        c.check(code == 1 and v["kind"] == kind and v["engine"] == "worker" and named, f"{fault} is named", v)
        code, v = c.verdict("NONE", *sound, *more)
        c.check(code == 0 and v["kind"] == "none", f"the twin of {fault} is not accused", v)


def expected(c):
    """The values of the net by NumPy; what another runtime would say of a model that is loaded otherwise."""
    with np.load(c.folder / "NONE.gecap") as f:
        x, z = (f[n] for n in sorted(f.files) if n.startswith("input/"))
    k = np.array([0.1, -0.2, 0.3, 0.4, 0.5, -0.6, 0.7, 0.8, 0.9, -1.0, 1.1, 1.2, 1.3, 1.4, -1.5, 1.6],
                 "float32").reshape(4, 4)
    p = x @ z
    t = np.tanh(p)
    m = t * k
    u = np.tanh(x)
    s = z - u
    return {"p": p, "t": t, "u": u, "m": m, "o": m + np.arange(1, 17, dtype="float32").reshape(4, 4), "s": s,
            "a": s + p, "r": np.maximum(s + p, 0), "w": s * t}


def models(c):
    """A node that was loaded as another one: the reference and the run agree, and NumPy does not."""
    np.savez(c.folder / "right.npz", **expected(c))
    code, v = c.verdict("NONE", "--engines", "./NONE.so,ref", "--expect", "right.npz")
    c.check(code == 0 and v["kind"] == "none", "values as expected accuse nobody", v)
    for value, node in (("t", "one/curve"), ("s", "three/minus"), ("a", "three/plus")):
        values = expected(c)
        later = {"t": "tmow", "s": "sarw", "a": "ar"}[value]
        for name in later:  # and what comes of it
            values[name] = values[name] * np.float32(1.25) + np.float32(0.5)
        np.savez(c.folder / "wrong.npz", **values, **{"/not/a/name": values["p"]})
        code, v = c.verdict("NONE", "--engines", "./NONE.so,ref", "--expect", "wrong.npz")
        c.check(code == 1 and v["kind"] == "model" and v["nodes"] == [node], f"the model at '{value}'", v)
        done = c.run("replay", "NONE.gecap", "--expect", "wrong.npz", "--json")
        found = json.loads(done.stdout or "{}")
        c.check(done.returncode == 1 and found["first"]["value"] == value and
                found["unknown"] == ["/not/a/name"], f"replay names the value '{value}'",
                done.stdout + done.stderr)
    done = c.run("replay", "NONE.gecap", "--expect", "right.npz")
    c.check(done.returncode == 0 and "9 of 9 expected values" in done.stdout, "or that all are right",
            done.stdout + done.stderr)


def replays(c):
    for fault in ("ADD_TWICE", "TANH_COARSE"):
        done = c.run("replay", f"{fault}.gecap", "--lockstep", "--engines", f"./{fault}.so,ref", "--json")
        found = json.loads(done.stdout or "{}")
        c.check(done.returncode == 1 and found["first"]["nodes"] == [ENGINES[fault][1]] and
                any(s["wrong"] and not s["own_wrong"] for s in found["steps"]),
                f"in lockstep {fault} is the node's own error, and others inherit it", done.stdout + done.stderr)
    done = c.run("replay", "NONE.gecap", "--lockstep", "--engines", "./NONE.so,ref")
    c.check(done.returncode == 0 and done.stdout.splitlines()[-1].startswith("none: 12 values"),
            "its twin has none", done.stdout + done.stderr)
    done = c.run("replay", "ADD_TWICE.gecap", "--lockstep", "--engines", "./ADD_TWICE.so,ref")
    c.check(done.returncode == 1 and "engine worker, nodes three/plus: 'a' differs" in done.stdout,
            "for people, the last line is the first own error", done.stdout + done.stderr)
    flags = ["--engines", "./COMES_AND_GOES.so,ref", "--json"]
    found = json.loads(c.run("replay", "COMES_AND_GOES.gecap", "--runs", "40", *flags).stdout or "{}")
    c.check(found.get("runs") == 40 and 0 < found["wrong_runs"] <= 40, "of many runs some are others", found)
    done = c.run("replay", "ADD_TWICE.gecap", "--engines", "./ADD_TWICE.so,ref", "--pin", "three/plus=ref", "--json")
    found = json.loads(done.stdout or "{}")
    c.check(done.returncode == 1 and found["first"]["value"] == "a" and not found["same_machine"],
            "pinned elsewhere, a node is right", done.stdout + done.stderr)


def inner(c):
    """In a segment of many nodes the values inside of it tell them apart: one that was recorded otherwise."""
    c.recorded("whole", "--engines", "ref")
    with zipfile.ZipFile(c.folder / "whole.gecap") as old, zipfile.ZipFile(c.folder / "inner.gecap", "w") as new:
        values = json.loads(old.read("manifest.json"))["values"]
        member = next(v["member"] for v in values if v["name"] == "t")
        for m in old.namelist():
            read = bytearray(old.read(m))
            if m == member:
                read[-1] ^= 0x40
            new.writestr(m, bytes(read))
    for words in (["replay", "inner.gecap", "--lockstep", "--engines", "ref"], ["bisect", "inner.gecap"]):
        done = c.run(*words)
        c.check(done.returncode == 1 and "engine ref, nodes one/curve: 't' differs in 1 of 16" in
                done.stdout.splitlines()[-1], f"{words[0]} names the node inside of its segment",
                done.stdout + done.stderr)
    code, v = c.verdict("whole")
    c.check(code == 0 and v["kind"] == "none", "its twin is not accused", v)


def refusals(c):
    for words, text in ((["--lockstep", "--expect", "right.npz"], "leave one out"),
                        (["--expect", "net.gt"], "it is no .npz; write it by numpy.savez"),
                        (["--expect", "packed.npz"], "it is compressed; write it by numpy.savez"),
                        (["--expect", "other.npz"], "has no value of these names, the first is 'other'"),
                        (["--expect", "none.npz"], "none.npz")):
        np.savez_compressed(c.folder / "packed.npz", t=np.zeros((64, 64), "float32"))
        np.savez(c.folder / "other.npz", other=np.zeros(4, "float32"))
        done = c.run("replay", "NONE.gecap", *words)
        c.check(done.returncode in (2, 3) and text in done.stderr, f"{words} says '{text}'", done.stderr)
    done = c.run("bisect", "NONE.gecap", "--expect", "other.npz")
    c.check(done.returncode == 2 and "the model has no value of any of its 1 names" in done.stderr,
            "and so says bisect", done.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ge-faults.") as folder:
        c = Checks(args.build.resolve(), pathlib.Path(folder))
        (c.folder / "net.gt").write_text(NET)
        for part in (passes, engines, models, replays, inner, refusals):
            part(c)
    print(f"{c.passed} passed, {c.failed} failed, 0 skipped")
    return c.failed != 0


if __name__ == "__main__":
    sys.exit(main())
