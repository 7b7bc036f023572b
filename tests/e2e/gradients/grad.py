#!/usr/bin/env python3
"""The pass `grad` on programs with control flow (tests/e2e/gradients/programs): gradients against central differences
in float64, the forward mode against the reverse one, Hessians times vectors against differences of
gradients; and each way to be refused. Rules of operators are ge-adcheck's.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))
from ge_session import GeError, GeSession  # noqa: E402

H = 1e-6
SCAN = {"h": (2,), "x": (4, 3), "w": (3, 2), "u": (2, 2)}
# Program: inputs, by shape or value; what it is differentiated for is all of them.
PROGRAMS = [("slice_of_shape", {"x": (2, 6)}),
            ("branch", {"x": np.array([.1, .5, .7]), "w": np.array(1.3)}),
            ("branch", {"x": np.array([-.1, -.5, .3]), "w": np.array(1.3)}),
            ("loop", {"x": np.array(.7), "w": np.array(.9)}),
            ("scan", SCAN),
            ("loops_in_loops", {"x": np.array(.7), "w": np.array(.9)}),
            ("rounds_of_other_length", {"x": np.array(.7), "w": np.array(.9)}),
            ("rows_in_rows", {"h": np.array([.3, .2, .4]), "w": np.array([.9, .7, .4]),
                              "x": np.linspace(.1, .6, 12).reshape(4, 3)}),
            ("functions_as_values", {"x": np.array(.7), "y": np.array(.9)}),
            ("functions_as_values", {"x": np.array(-.7), "y": np.array(.9)}),
            ("recursion", {"x": np.array(2.7), "w": np.array(.9)}),
            ("recursion", {"x": np.array(.1), "w": np.array(.9)})]
# Options of the pass: what the refusal says.
REFUSED = [("loops_in_loops", "wrt=q", "there is no input or weight 'q'"),
           ("loops_in_loops", "of=q", "there is no output 'q'; the entry has 'loss'"),
           ("loops_in_loops", "entry=q", "there is no entry 'q'; the model has 'main'"),
           ("loops_in_loops", "kind=q", "kind is 'q', wanted grad, jvp or hvp"),
           ("loop", "wrt=x;kind=hvp;remat=3", "remat is 3, wanted none, or kind=grad, not hvp"),
           ("refused", "wrt=x", "Unique 'turn it' <- Exp <- 'x': "),
           ("function_in_rounds", "wrt=x+w", "Loop 'rounds' <- 'x': its way back would keep a "
            "function of every round, and there are no stacks of functions"),
           ("recursion", "wrt=x;recursion=no", "recursion is 'no', wanted held"),
           ("refused", "wrt=x;of=chosen", "its elements are no floats")]

REFUSED_REMAT = [("sometimes", "wanted none, all, dots, names:A+B, bytes:NUMBER"),
                 ("-1", "a number of pieces from 0 to 65536"), ("bytes:0", "remat is 'bytes:0'"),
                 ("bytes:3X", "remat is 'bytes:3X'"), ("names:", "remat is 'names:'"),
                 ("names:no*", "remat names 'no*', which fits no node"),
                 ("bytes:1K", "remat=bytes:1K cannot be kept to: computed values take ")]


class Check:
    def __init__(self, build):
        self.library = build / "lib" / "libgraphengine.so"
        self.passed = self.failed = 0

    def check(self, name, good, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}\n    {detail}")

    def open(self, program, options="", entry="", engines="ref"):
        return GeSession(ROOT / "tests/e2e/gradients/programs" / f"{program}.gt", library=self.library,
                         engines=engines, entry=entry, plugins="grad" if options else "",
                         passes=f"grad:{options}" if options else "")

    def near(self, name, got, wanted, bound):
        scale = max(np.abs(wanted).max(initial=0), 1e-3)
        worst = np.abs(np.asarray(got) - wanted).max(initial=0) / scale
        self.check(name, worst <= bound, f"{got} instead of {wanted}: off by {worst:.2g}")

    def program(self, name, inputs):
        rng = np.random.default_rng(5)
        feeds = {k: rng.standard_normal(v) if isinstance(v, tuple) else v for k, v in inputs.items()}
        wrt = "wrt=" + "+".join(feeds)
        plain = self.open(name)
        grad = self.open(name, wrt, "grad")
        steps = {k: rng.standard_normal(v.shape) for k, v in feeds.items()}

        def moved(h, of=plain):
            return of.run({k: v + h * steps[k] for k, v in feeds.items()})
        loss, *gradients = grad.run(feeds)
        self.near(f"{name}: the loss", loss, plain.run(feeds)[0], 0)
        along = sum((g * steps[k]).sum() for k, g in zip(feeds, gradients))
        self.near(f"{name}: the gradient", along, (moved(H)[0] - moved(-H)[0]) / (2 * H), 1e-8)
        tangents = {f"t.{k}": v for k, v in steps.items()}
        jvp = self.open(name, wrt + ";kind=jvp;name=jvp", "jvp").run({**feeds, **tangents})[1]
        self.near(f"{name}: forward mode", jvp, along, 1e-12)
        vectors = {f"v.{k}": v for k, v in steps.items()}
        hvp = self.open(name, wrt + ";kind=hvp;name=hvp", "hvp").run({**feeds, **vectors})[1:]
        for k, got, up, down in zip(feeds, hvp, moved(H, grad)[1:], moved(-H, grad)[1:]):
            self.near(f"{name}: Hessian, {k}", got, (up - down) / (2 * H), 1e-7)

    def own_derivatives(self):
        """What a function brings counts: 7 w x and 3 for `square`, 2 x for `cube`."""
        x, w = np.array([.5, 2.]), np.array(.9)
        _, dx, dw = self.open("own_derivative", "wrt=x+w", "grad").run({"x": x, "w": w})
        self.near("own derivatives: x", dx, 7 * w * x + 2 * x, 1e-15)
        self.near("own derivatives: w", dw, 6, 1e-15)

    def remat(self):
        """The way there computed again: the same bits, in less memory."""
        x = np.random.default_rng(3).standard_normal((64, 32))
        arenas = {}
        for policy in ("none", "6", "all", "dots", "names:v8+v16+v24", "bytes:400K"):
            session = self.open("deep", f"wrt=x+w0+w31;remat={policy}", "grad")
            made = session.run({"x": x})
            if policy == "none":
                kept = made
            self.check(f"remat={policy}: the same bits",
                       all(np.array_equal(a, b) for a, b in zip(made, kept)))
            arenas[policy] = session.report()["arena_bytes"]
        for policy in ("6", "all", "names:v8+v16+v24", "bytes:400K"):
            self.check(f"remat={policy} takes less memory", arenas[policy] < .75 * arenas["none"],
                       str(arenas))
        # The pass counts values; the plan also has a block for each result that is handed out.
        self.check("remat=bytes keeps about to them", arenas["bytes:400K"] <= 1.1 * (400 << 10),
                   str(arenas))
        # Numbers without a seed are those of their node: they are kept, not drawn once more.
        feeds = {"x": np.linspace(.1, .9, 8), "w": np.linspace(-.5, .7, 8)}
        kept = self.open("noise", "wrt=x+w", "grad").run(feeds)
        for policy in ("3", "all", "dots"):
            made = self.open("noise", f"wrt=x+w;remat={policy}", "grad").run(feeds)
            self.check(f"remat={policy} draws nothing again",
                       all(np.array_equal(a, b) for a, b in zip(made, kept)), f"{made}, {kept}")
        for policy, text in REFUSED_REMAT:
            try:
                self.open("deep", f"wrt=x;remat={policy}", "grad")
                self.check(f"refused: remat={policy}", False, "it was taken")
            except GeError as e:
                self.check(f"refused: remat={policy}", text in str(e), str(e))

    def refusals(self):
        for program, options, text in REFUSED:
            try:
                self.open(program, options, "grad")
                self.check(f"refused: {options}", False, "it was taken")
            except GeError as e:
                self.check(f"refused: {options}", text in str(e), str(e))
        for recursion, text in (("held", "derive that with recursion=again"), ("again", "")):
            self.twice(recursion, text)

    def computed_bounds(self):
        """A Slice whose bounds a model computes from a shape is known where to begin: its gradient
        is a Pad, and no places are looked up."""
        text = subprocess.run(
            [self.library.parents[1] / "bin/ge", "dump", ROOT / "tests/e2e/gradients/programs/slice_of_shape.gt",
             "--plugins", "grad", "--pass", "grad:wrt=x", "--to", "rewrite"],
            capture_output=True, text=True, check=True).stdout
        self.check("bounds that come of a shape", "= Pad(" in text and "Scatter" not in text, text)

    def twice(self, recursion, refusal):
        """The gradient of a gradient of what calls itself, by the pass on what it has derived."""
        options = f"wrt=x+w;name=once;recursion={recursion}"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "once.gt"
            path.write_text(subprocess.run(
                [self.library.parents[1] / "bin/ge", "dump", ROOT / "tests/e2e/gradients/programs/recursion.gt",
                 "--plugins", "grad", "--pass", f"grad:{options}", "--to", "rewrite"],
                capture_output=True, text=True, check=True).stdout)
            try:
                made = GeSession(path, library=self.library, engines="ref", entry="grad",
                                 plugins="grad", passes="grad:entry=once;of=grad.x;wrt=x+w")
                self.check("refused: a gradient of what was held", not refusal, "it was taken")
            except GeError as e:
                return self.check("refused: a gradient of what was held",
                                  refusal and refusal in str(e), str(e))
        inputs, vectors = {"x": np.array(2.7), "w": np.array(.9)}, {"x": 1., "w": 0.}
        found = made.run(inputs)
        hvp = self.open("recursion", "wrt=x+w;kind=hvp;name=hvp", "hvp")
        wanted = hvp.run({**inputs, **{f"v.{k}": np.array(v) for k, v in vectors.items()}})
        self.near("a gradient of a gradient of recursion", np.array(found[1:]),
                  np.array(wanted[1:]), 1e-14)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    args = parser.parse_args()
    check = Check(args.build.resolve())
    for name, inputs in PROGRAMS:
        check.program(name, inputs)
    check.own_derivatives()
    check.computed_bounds()
    check.remat()
    check.refusals()
    print(f"{check.passed} passed, {check.failed} failed, 0 skipped")
    return check.failed != 0


if __name__ == "__main__":
    sys.exit(main())
