#!/usr/bin/env python3
"""Passes that plugins bring (sdk/samples/pass, tests/plugins/passes), run by `ge`: a rewrite is kept where
the engines' prices say that it pays; an entry and states that a pass adds run and persist; rules of
operators answer through the host. A pass that breaks a rule is refused by name, or rolled back
while the model runs on; one that changes values is caught by GE_CHECK_PASSES=1.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))
from ge_session import GeError, GeSession  # noqa: E402

MODEL = ROOT / "tests/e2e/models/passes.gt"
SQUARE = ROOT / "tests/e2e/models/acme_square.gt"
KEPT = ROOT / "tests/e2e/models/kept.gt"
# Of tests/plugins/passes/bad.c, by -DFAULT: what the refusal says. These no session takes.
REFUSED = {"no_run": "run of pass 'bad' is NULL", "bad_kind": "pass 'bad' is of kind 7",
           "no_phase": "pass 'bad' has phases 0x4; wanted GE_PHASE_LOAD",
           "derive_at_bind": "pass 'bad' derives, which is done once, at load",
           "bad_name": "pass 0 is named 'Bad Pass'; wanted 1 to 64 characters of [a-z0-9-]",
           "short_record": "pass 0 says that it is 40 bytes, wanted at least 104",
           "no_passes": "0 passes are said to be at",
           "option_kind": "option 'x' of pass 'bad' is of kind 7",
           "own_circle": "passes want to run in a circle: ",
           "takes_our_name": "pass 'fold-constants' of plugin 'bad' has the name of pass "
                             "'fold-constants'; load one of them",
           "twice_named": "pass 'bad' of plugin 'bad' has the name of pass 'bad' of plugin 'bad'"}
# With these the model runs as without them, and a warning says why.
ROLLED_BACK = {"bad_function": "there is no function 9; they are 1 to 1",
               "bad_value": "function 'main' has no value 1000; they are 1 to ",
               "bad_node": "function 'main' has no node with id 1000",
               "bad_input": "input 7 of Pow is set, which has 2",
               "bad_attr": "attribute 'axis' is of kind 99",
               "bad_effect": "an effect is of kind 0 on object 7; there are 0 states",
               "dangling": "which nothing produces",
               "cycle": "it left an illegal graph",
               "wrong_dtype": "a new Add is not legal",
               "wrong_type": "is f64[] and cannot stand for value",
               "other_shape": "after pass 'bad' of plugin 'bad'",
               "never_settles": "still changes the graph in round 8",
               "says_no": "not today (code 11)",
               "adds_entry": "it adds an entry, which only a pass of kind GE_PASS_DERIVE may",
               "replaces_entry": "it replaces the function of an entry, which only a pass of kind "
                                 "GE_PASS_DERIVE may",
               "replaces_state": "it replaces a state, which only a pass of kind",
               "adds_metadata": "it adds metadata, which only a pass of kind",
               "adds_param": "parameters of function 'main' are changed, which was there before"}
# Of tests/plugins/passes/replaces.c, by its option: what the refusal says.
REPLACED = {"unknown_entry": "there is no entry 'watch' to replace; the entries are step, look",
            "fewer_inputs": "entry 'step' is replaced by function 'halves.step': it has 0 inputs, "
                            "wanted 1 as before",
            "other_name": "it has input 'z' of f32[2] at place 0, wanted 'x' of f32[4]",
            "other_rank": "it has input 'x' of f32[2,2] at place 0, wanted 'x' of f32[4]",
            "other_dtype": "it has output 'now' of f64[2] at place 0, wanted 'now' of f32[4]",
            "old_reader": "entry 'look' reads state 'w' as f32[4], and the pass has replaced it by "
                          "one of f32[2]",
            "old_writer": "entry 'step' reads state 'w' as f32[4]",
            "made_before": "entry 'look' reads state 'w' as f32[4]",
            "other_state_dtype": "state 'w' is f32[4] and is replaced by one of i32[2]; dtype and "
                                 "rank stay",
            "other_state_rank": "is replaced by one of f32[2,1]",
            "no_state": "there is no state 9; they are 1 to 2",
            "short_content": "a constant of 8 bytes is given 4",
            "bad_json": "metadata 'halves' is no JSON: ",
            "taken": "there is metadata 'note' already",
            "twice": "there is metadata 'halves' already",
            "own_key": "metadata is named 'ge.model.x'; wanted 1 to 128 characters"}


class Run:
    def __init__(self, build, scratch):
        self.ge, self.scratch = build / "bin" / "ge", scratch
        self.samples = build / "lib" / "samples"
        self.library = build / "lib" / "libgraphengine.so"
        self.passed = self.failed = 0
        self.x = np.random.default_rng(7).standard_normal((64, 64)).astype(np.float32)
        np.save(scratch / "x.npy", self.x)

    def check(self, name, good, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}\n    " + str(detail).strip().replace("\n", "\n    "))

    def so(self, name):
        return str(self.samples / f"{name}.so")

    def call(self, *args, **env):
        return subprocess.run([str(self.ge), *map(str, args)], cwd=ROOT, capture_output=True,
                              text=True, timeout=120, check=False,
                              env={**os.environ, "GE_CHECK_PASSES": "0", **env})

    def run(self, plugin, *args, model=MODEL, **env):
        """(exit code, stderr, {output: array}) of a run on x.npy."""
        out = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
        done = self.call("run", model, "--engines", "ref", "--plugins", self.so(plugin), "--input",
                         f"x={self.scratch / 'x.npy'}", "--output", out, *args, **env)
        return done.returncode, done.stderr, {p.stem: np.load(p) for p in out.glob("*.npy")}

    def pays(self):
        """Two lists of engines, and one of the two graphs is the cheaper one on each."""
        near = f"ref,{self.so('devsim')}:wrap=ref;ops=Pow;price=1;link_latency_ns=0;link_gbps=1000"
        shape = ["--input", "x=64x64:rand", "--plugins", self.so("square"), "--prices", "analytic"]
        for engines, kept in (("ref", True), (near, False)):
            done = self.call("dump", MODEL, "--to", "bind", "--engines", engines, *shape)
            said = 'from "square" ["power"]' in done.stdout
            self.check(f"square on {engines[:8]}", said == ("Mul(x, x)" in done.stdout) == kept
                       and ("Pow(" in done.stdout) != kept, done.stdout + done.stderr)
        done = self.call("dump", MODEL, "--to", "rewrite", "--engines", "ref", *shape[2:])
        self.check("square waits for shapes", "Pow(" in done.stdout, done.stdout + done.stderr)
        code, err, out = self.run("square", GE_CHECK_PASSES="1")
        self.check("square keeps values", code == 0 and
                   np.allclose(out["y"], np.tanh(self.x ** 2), rtol=1e-5), err)
        done = self.call("dump", MODEL, "--to", "bind", "--engines", "ref", "--skip", "square",
                         *shape)
        self.check("square is skipped", "Pow(" in done.stdout, done.stdout + done.stderr)

    def observes(self):
        """An entry and two states, shared by the runs of a session."""
        asked = ["--pass", "observe:output=0", "--entry", "observe", "--repeat", "3"]
        code, err, out = self.run("observe", *asked)
        y = np.tanh(self.x ** 2)
        self.check("ge run --entry observe", code == 0 and np.allclose(out["mean"], y, rtol=1e-5)
                   and out["runs"] == 3, f"{code} {err} {out.get('runs')}")
        code, err, out = self.run("observe", "--pass", "observe")
        self.check("the first entry stays", code == 0 and np.allclose(out["y"], y, rtol=1e-5), err)
        code, err, _ = self.run("observe", "--entry", "observe")
        self.check("nobody asked", code == 2 and "observe" in err and "main" in err, err)
        session = GeSession(MODEL, library=self.library, plugins=self.so("observe"),
                            passes="observe", engines="ref", entry="observe")
        total = np.zeros_like(y)
        for run in range(1, 5):
            total += np.tanh((self.x * run) ** 2)
            mean, runs = session.run({"x": self.x * run})
            self.check(f"the mean of {run} runs", np.allclose(mean, total / run, rtol=1e-5,
                                                              atol=1e-6) and runs == run, runs)
        session.reset()
        self.check("reset begins anew", session.run({"x": self.x})[1] == 1)
        session.close()
        for passes, text in (("observe:output=9", "the first entry has no such output"),
                             ("observe:size=1", "there is no option 'size'; the options are"),
                             ("observe:output=a", "option output is 'a', wanted a whole number"),
                             ("observe:output", "'output' is not option=value"),
                             ("watch", "there is no pass 'watch' to run; the passes are "),
                             ("fold-constants:x=1", "pass 'fold-constants' takes no options")):
            code, err, out = self.run("observe", "--pass", passes)
            self.check(f"--pass {passes}", code in (2, 3) and text in err and not out, err)
        dynamic = self.scratch / "dynamic.gt"
        dynamic.write_text(MODEL.read_text().replace("[64,64]", "[N,64]"))
        code, err, out = self.run("observe", "--pass", "observe", model=dynamic)
        self.check("a derivation that does not suit the model", code == 2 and not out and
                   "pass 'observe' of plugin 'observe' failed: wanted a float32 output of known "
                   "sizes" in err, err)
        try:
            GeSession(MODEL, library=self.library, passes="watch")
            self.check("an unknown pass by ge.h", False)
        except GeError as error:
            self.check("an unknown pass by ge.h", "there is no pass 'watch'" in str(error), error)

    def replaces(self):
        """Entries and states of the model itself, and metadata."""
        asked = {"library": self.library, "plugins": self.so("pass_replaces"), "engines": "ref"}
        one = np.ones(2, np.float32)
        step = GeSession(KEPT, passes="halves", entry="step", **asked)
        for run, wanted in enumerate(([8, 10], [18, 22])):
            self.check(f"step {run} on the second half",
                       np.array_equal(step.run({"x": one})[0], wanted), step.arrays())
        self.check("a state of another size", np.array_equal(step.state("w"), [18, 22]))
        self.check("a filled state", np.array_equal(step.state("v"), [2, 2]))
        step.reset()
        self.check("reset begins with the other content",
                   np.array_equal(step.state("w"), [3, 4]), step.state("w"))
        self.check("metadata", json.loads(step.metadata("halves")) == {"first": 2, "size": 2} and
                   step.metadata("note") == "of the model" and step.metadata("more") is None)
        step.close()
        look = GeSession(KEPT, passes="halves", entry="look", **asked)
        self.check("another entry", np.array_equal(look.run({})[0], [3, 4]), look.arrays())
        look.close()
        done = self.call("dump", KEPT, "--to", "rewrite", "--plugins", self.so("pass_replaces"),
                         "--pass", "halves")
        self.check("what entries ran before is gone", done.returncode == 0 and
                   "f32[4]" not in done.stdout and 'entry train_step "step"' in done.stdout,
                   done.stdout + done.stderr)
        for fault, text in REPLACED.items():
            done = self.call("dump", KEPT, "--to", "rewrite", "--plugins",
                             self.so("pass_replaces"), "--pass", f"halves:wrong={fault}")
            self.check(f"replaces: {fault}", done.returncode == 3 and text in done.stderr,
                       f"{done.returncode} {done.stderr}")

    def rules(self):
        """Decompositions, gradients and tangents of operators, whoever brought them."""
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        np.save(self.scratch / "six.npy", x)
        feed = ["--engines", "ref", "--plugins", self.so("pass_rules"), "--input",
                f"x={self.scratch / 'six.npy'}"]
        done = self.call("dump", SQUARE, "--to", "bind", "--pass", "apart", *feed)
        self.check("an operator is taken apart", "Mul(x, x)" in done.stdout and "acme" not in
                   done.stdout.split("fn main")[-1], done.stdout + done.stderr)
        for entry in ("grad", "jvp"):
            out = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
            np.save(self.scratch / "given.npy", np.float32(3) + x)
            done = self.call("run", SQUARE, "--pass", "derivatives", "--entry", entry, "--input",
                             f"given={self.scratch / 'given.npy'}", "--output", out, *feed)
            good = done.returncode == 0 and np.array_equal(np.load(out / "made.npy"),
                                                           2 * x * (3 + x))
            self.check(f"the entry {entry}", good, done.stderr)
        done = self.call("passes", "--plugins", self.so("pass_rules"))
        order = [line.split()[0] for line in done.stdout.splitlines()]
        self.check("ge passes lists them in order", done.returncode == 0 and
                   order.index("derivatives") < order.index("fold-constants")
                   < order.index("apart"), done.stdout + done.stderr)
        page = self.scratch / "passes.md"
        done = subprocess.run([sys.executable, ROOT / "tools/gen/passes_doc.py", "--bin",
                               self.ge.parent, "--plugins", self.so("pass_rules"), "-o", page],
                              capture_output=True, text=True, check=False)
        rows = page.read_text().splitlines() if page.exists() else []
        mine = [r for r in rows if r.startswith("| derivatives (rules) | derive | load asked | ")]
        self.check("docs/passes.md names them", done.returncode == 0 and len(mine) == 1 and
                   len(rows) > len(order), done.stderr + "\n".join(rows[-5:]))
        done = self.call("plugins", "--json", GE_PLUGIN_PATH=self.so("pass_rules"))
        self.check("ge plugins names them", '"passes":["apart","derivatives"]' in done.stdout,
                   done.stdout + done.stderr)
        done = self.call("run", MODEL, "--plugins", self.so("pass_rules"), "--pass", "derivatives")
        self.check("no rule for derivatives", done.returncode == 2 and
                   "no rule for derivatives" in done.stderr, done.stderr)

    def refusals(self):
        wanted = np.tanh(self.x ** 2)
        for fault, text in REFUSED.items():
            code, err, out = self.run(f"bad_pass_{fault}")
            self.check(f"refused: {fault}", code in (2, 3) and text in err and not out, err)
        for fault, text in ROLLED_BACK.items():
            code, err, out = self.run(f"bad_pass_{fault}")
            named = "pass 'bad' of plugin 'bad'" in err and text in err
            self.check(f"rolled back: {fault}", code == 0 and named and err.count(text) == 1 and
                       np.allclose(out["y"], wanted, rtol=1e-5), f"{code} {err}")
            code, err, out = self.run(f"bad_pass_{fault}", GE_CHECK_PASSES="1")
            self.check(f"with GE_CHECK_PASSES: {fault}", code == 3 and text in err and not out,
                       f"{code} {err}")
            code, err, out = self.run(f"bad_pass_{fault}", "--skip", "bad")
            self.check(f"skipped: {fault}", code == 0 and "pass 'bad'" not in err, err)
        code, err, out = self.run("bad_pass_changes_values")
        self.check("nobody looks", code == 0 and not np.allclose(out["y"], wanted), err)
        code, err, out = self.run("bad_pass_changes_values", GE_CHECK_PASSES="1")
        self.check("changes_values", code == 3 and not out and "pass 'bad' of plugin 'bad' changed "
                   "the model's values: entry 'main': element" in err, err)
        code, err, out = self.run("bad_pass_tries_alone", GE_CHECK_PASSES="1")
        self.check("tries_alone", code == 0 and "pass 'bad'" not in err and
                   np.allclose(out["y"], wanted, rtol=1e-5), err)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        run = Run(args.build.resolve(), pathlib.Path(scratch))
        run.pays()
        run.observes()
        run.replaces()
        run.rules()
        run.refusals()
    print(f"{run.passed} passed, {run.failed} failed, 0 skipped")
    return run.failed != 0


if __name__ == "__main__":
    sys.exit(main())
