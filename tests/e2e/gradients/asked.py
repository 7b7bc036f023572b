#!/usr/bin/env python3
"""ge.Gradient (tests/e2e/gradients/programs/asked_*.gt): values against central differences in float64, to
the third order, in bodies of If, Loop and Scan, through recursion and own derivatives, forward mode as
the transpose of a vjp; what is dead is not computed; passes `grad` and `train` behind it; names; and each
way to be refused. Rules of operators are ge-adcheck's.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = ROOT / "tests/e2e/gradients/programs"
sys.path.insert(0, str(ROOT / "tools" / "bench"))
from ge_session import GeError, GeSession  # noqa: E402

H = 1e-6
X = np.array([.3, -.7, 1.1])
HEAD = 'ge 1\nopset "" 28\nopset "ge" 1\n'
# Options of a session: what its refusal of asked_refused.gt says.
REFUSED = [
    (dict(plugins=""), "ge.Gradient in function 'main' is expanded by the pass expand-gradients of the plugin "
     "grad, which this session has not loaded: name it with --plugins grad"),
    (dict(plugins="grad"), "ge.Gradient 'take it' of 'f': no gradient:"),
    (dict(plugins="grad"), "Unique 'turn it' <- Exp <- 'x': the order of distinct elements has no gradient"),
    (dict(plugins="grad", passes="expand-gradients:recursion=no"),
     "recursion is 'no', wanted auto, held, what the way back reads, or again"),
    (dict(plugins="grad", passes="expand-gradients:loop-checkpoint=-3"), "loop-checkpoint is '-3'")]


class Check:
    def __init__(self, build, scratch):
        self.library, self.ge, self.scratch = build / "lib/libgraphengine.so", build / "bin/ge", scratch
        self.passed = self.failed = 0

    def check(self, name, good, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}\n    {detail}")

    def near(self, name, got, wanted, bound):
        got, wanted = np.asarray(got), np.asarray(wanted)
        scale = max(np.abs(wanted).max(initial=0), 1e-3)
        good = got.shape == wanted.shape and np.abs(got - wanted).max(initial=0) <= bound * scale
        self.check(name, good, f"{got} instead of {wanted}")

    def open(self, program, entry="main", plugins="grad", passes=""):
        path = program if isinstance(program, pathlib.Path) else PROGRAMS / f"asked_{program}.gt"
        return GeSession(path, library=self.library, engines="ref", entry=entry, plugins=plugins,
                         passes=passes)

    def changed(self, program, old, new):
        """The program with another line, as a file of its own."""
        text = (PROGRAMS / f"asked_{program}.gt").read_text()
        assert old in text
        path = self.scratch / f"{program}.gt"
        path.write_text(text.replace(old, new))
        return path

    def dump(self, path, *args):
        done = subprocess.run([self.ge, "dump", path, "--plugins", "grad", "--to", "rewrite", *args],
                              capture_output=True, text=True)
        self.check(f"dump of {pathlib.Path(path).name}", done.returncode == 0, done.stderr)
        return done.stdout

    def along(self, name, session, feeds, gradients, bound=1e-8, which=0):
        """Gradients, by name, against the change of result `which` along one random direction."""
        rng = np.random.default_rng(5)
        steps = {k: rng.standard_normal(np.shape(feeds[k])) for k in gradients}

        def moved(h):
            return session.run({k: v + h * steps[k] if k in steps else v for k, v in feeds.items()})[which]
        change = (moved(H) - moved(-H)) / (2 * H)
        self.near(name, sum((np.asarray(g) * steps[k]).sum() for k, g in gradients.items()), change.sum(),
                  bound)

    def first(self):
        feeds = {"x": X, "w": np.array(.9), "k": np.ones(2)}
        plain = self.open("first", "plain")
        loss, y, dx, dw, dk = self.open("first").run(feeds)
        self.near("first: the results", np.append(y, loss), np.append(*plain.run(feeds)[::-1]), 0)
        self.along("first: gradients", plain, feeds, {"x": dx, "w": dw})
        self.near("first: no influence is zeros", dk, np.zeros(2), 0)
        c, u = np.array(.4), np.array([.2, -1, .5])
        slope = np.cos(.9 * X * X)
        gw, gx = self.open("first", "weighted").run({**feeds, "c": c, "u": u})
        self.near("first: by two cotangents, x", gx, (c + u) * slope * 2 * X * .9, 1e-14)
        self.near("first: by two cotangents, w", gw, ((c + u) * slope * X * X).sum(), 1e-14)
        only, = self.open("first", "second").run({**feeds, "u": u})
        self.near("first: an absent cotangent is zero", only, u * slope * 2 * X * .9, 1e-14)
        # w is the sum of x there, and is held while x moves.
        s = X.sum()
        both, = self.open("first", "same").run({"x": X, "k": np.ones(2)})
        wanted = np.cos(X * X * s) * 2 * X * s + (np.cos(X * X * s) * X * X).sum()
        self.near("first: inputs that depend on each other", both, wanted, 1e-14)

    def orders(self):
        rng = np.random.default_rng(7)
        feeds = {"x": X, "v": rng.standard_normal(3), "u": rng.standard_normal(3)}
        eye = np.eye(3)
        main = self.open("orders")
        one, two, three = main.run(feeds)
        self.along("orders: first", self.open("orders", "plain"), {"x": X}, {"x": one})

        def moved(h, which, along):
            return main.run({**feeds, "x": X + h * along})[which]
        change = (moved(H, 0, feeds["v"]) - moved(-H, 0, feeds["v"])) / (2 * H)
        self.near("orders: second", two, change, 1e-8)
        change = (moved(H, 1, feeds["u"]) - moved(-H, 1, feeds["u"])) / (2 * H)
        self.near("orders: third", three, change, 1e-8)
        rows, = self.open("orders", "hessian").run({"x": X, "eye": eye})
        self.near("orders: a Hessian by a Scan", rows @ feeds["v"], two, 1e-13)
        self.near("orders: it is symmetric", rows, rows.T, 1e-14)
        flow = self.open("orders", "flow")
        total, change = flow.run({"x": X, "eye": eye})
        self.near("orders: its trace", total, np.trace(rows), 1e-14)
        self.along("orders: third through a Scan", flow, {"x": X, "eye": eye}, {"x": change})

    def forward(self):
        rng = np.random.default_rng(3)
        feeds = {"x": X, "w": rng.standard_normal((3, 2))}
        tangents = {"tx": rng.standard_normal(3), "tw": rng.standard_normal((3, 2))}
        plain = self.open("jvp", "plain")
        y, jvp = self.open("jvp").run({**feeds, **tangents})

        def moved(h):
            return plain.run({"x": X + h * tangents["tx"], "w": feeds["w"] + h * tangents["tw"]})[0]
        self.near("jvp: the result", y, plain.run(feeds)[0], 0)
        self.near("jvp: a vjp's transpose", jvp, (moved(H) - moved(-H)) / (2 * H), 1e-8)

    def control(self):
        feeds = {"p": np.array([.4, -.3]), "d": np.array([1.2, .8]), "rate": np.array(.1)}
        plain = self.open("loop", "plain")
        loss, last, dp, dd, dr = self.open("loop").run(feeds)
        self.near("loop: the results", np.append(last, loss), np.append(*plain.run(feeds)[::-1]), 0)
        self.along("loop: through steps of gradients", plain, feeds, {"p": dp, "d": dd, "rate": dr})
        for checkpoint in ("auto", "2"):
            made = self.open("loop", passes=f"expand-gradients:loop-checkpoint={checkpoint}").run(feeds)
            self.check(f"loop: the same bits, loop-checkpoint={checkpoint}",
                       all(np.array_equal(a, b) for a, b in zip(made, (loss, last, dp, dd, dr))))
        for x in (X, -X):
            plain = self.open("branch", "plain")
            loss, dx = self.open("branch").run({"x": x})
            self.near("branch: the result", loss, plain.run({"x": x})[0], 0)
            self.along("branch: through a gradient in it", plain, {"x": x}, {"x": dx})

    def recursion(self):
        for x in (2.7, .1):
            feeds = {"x": np.array(x), "w": np.array(.9)}
            for passes in ("", "expand-gradients:recursion=held", "expand-gradients:recursion=again"):
                path = self.changed("recursion", 'entry infer "twice" = twice\n', "")
                y, dx, dw = self.open(path, passes=passes).run(feeds)
                self.along(f"recursion {x} {passes}", self.open(path, "plain"), feeds, {"x": dx, "w": dw})
            dx, ddx, ddw = self.open("recursion", "twice").run(feeds)
            self.along(f"recursion {x}: twice", self.open("recursion", "slope"), feeds, {"x": ddx, "w": ddw})
        try:
            self.open("recursion", passes="expand-gradients:recursion=held")
            self.check("refused: held, and derived again", False, "it was taken")
        except GeError as e:
            self.check("refused: held, and derived again", "recursion=again" in str(e), str(e))

    def own_derivatives(self):
        x, w, ct = np.array([.5, 2.]), np.array(.9), np.array([.3, -.2])
        ys, dx, dw, yc, dc, yr, dr = self.open("custom").run({"x": x, "w": w, "ct": ct})
        self.near("own: results", np.stack([ys, yc, yr]), np.stack([x * x * w, x ** 3, np.sign(x)]), 1e-15)
        self.near("own: a vjp, x", dx, 7 * w * x * ct, 1e-15)
        self.near("own: a vjp, w", dw, 3 * ct.sum(), 1e-15)
        self.near("own: a jvp", dc, 2 * x * ct, 1e-15)
        self.near("own: a vjp that asks for a gradient", dr, np.cos(x) * ct, 1e-15)
        _, dx, dw = self.open("custom", "called").run({"x": x, "w": w})
        self.near("own: called, x", dx, 7 * w * x + 2 * x + np.cos(x), 1e-15)
        self.near("own: called, w", dw, 6, 1e-15)

    def free_sizes(self):
        main, plain = self.open("free_size"), self.open("free_size", "plain")
        for rows in (1, 4):
            feeds = {"x": np.linspace(-.5, .4, rows * 3).reshape(rows, 3), "w": X * .3,
                     "i": np.array([0, 2])}
            _, dx, dw = main.run(feeds)
            self.along(f"free size {rows}", plain, feeds, {"x": dx, "w": dw})
        text = subprocess.run([self.ge, "dump", PROGRAMS / "asked_free_size.gt", "--plugins", "grad", "--to",
                               "infer"],
                              capture_output=True, text=True).stdout
        self.check("free size: a gradient has its input's dims", "dx: f64[N,3], dw: f64[3] = ge.Gradient(" in text,
                   text)

    def states(self):
        """A state that is read counts as it was before the caller writes it."""
        session = self.open("state")
        for w in (np.array([3., 5]), 2 * X[:2] * np.array([9., 25])):
            loss, dx = session.run({"x": X[:2]})
            self.near("state: the result", loss, ((X[:2] * w) ** 2).sum(), 1e-14)
            self.near("state: the gradient", dx, 2 * X[:2] * w * w, 1e-14)

    def behind(self):
        """Passes that derive entries see ordinary nodes."""
        feeds = {"x": X, "w": np.array([.9, -.4, .2])}
        plain = self.open("penalty")
        for kind in ("grad", "jvp", "hvp"):
            session = self.open("penalty", "made", passes=f"grad:wrt=x+w;name=made;kind={kind}")
            if kind == "grad":
                _, dx, dw = session.run(feeds)
                self.along("behind: grad", plain, feeds, {"x": dx, "w": dw})
                grad = session
                continue
            v = {"x": np.array([1., -2, .5]), "w": np.array([.3, .1, -1])}
            letter = "t" if kind == "jvp" else "v"
            made = session.run({**feeds, **{f"{letter}.{k}": a for k, a in v.items()}})
            if kind == "jvp":
                self.near("behind: jvp", made[1], (dx * v["x"]).sum() + (dw * v["w"]).sum(), 1e-13)
                continue

            def moved(h):
                return grad.run({k: a + h * v[k] for k, a in feeds.items()})[1:]
            for got, up, down in zip(made[1:], moved(H), moved(-H)):
                self.near("behind: hvp", got, (up - down) / (2 * H), 1e-7)

    def texts(self):
        """What is left, what is not computed, and whose names nodes have."""
        text = self.dump(PROGRAMS / "asked_first.gt")
        self.check("none is left", "ge.Gradient" not in text, text)
        for name in ('"square.py:3 #2"', '"square.py:3"'):
            self.check(f"nodes keep their names: {name}", name in text, text)
        only = self.changed("first", 'entry infer "main" = main\n', "")
        only.write_text(HEAD + "fn f(x: f64[3], w: f64[3]) -> (loss, y) {\n  y = Mul(x, w)\n"
                        "  e = Exp(y)\n  loss = ReduceSum(y, _) {keepdims=0}\n}\n"
                        "fn main(x: f64[3], w: f64[3]) -> (dx) {\n"
                        "  loss, y, dx, dw = ge.Gradient(x, w) {wrt=[0, 1]} calls {fn=f}\n}\n"
                        'entry infer "main" = main\n')
        text = self.dump(only).partition("fn main(")[2]
        self.check("what is dead is not computed",
                   not any(op in text for op in ("Exp(", "ReduceSum(", "Gradient(")), text)
        text = self.dump(PROGRAMS / "branch.gt")
        self.check("a model without is left alone", "expand-gradients" not in text, text)

    def checked(self):
        """GE_CHECK_PASSES=1 tries the passes behind it."""
        for program in ("first", "orders", "loop", "branch", "custom"):
            done = subprocess.run(
                [self.ge, "run", PROGRAMS / f"asked_{program}.gt", "--plugins", "grad"],
                capture_output=True, text=True, env={**os.environ, "GE_CHECK_PASSES": "1"})
            self.check(f"passes checked: {program}", done.returncode == 0, done.stderr)

    def files(self):
        """Saved, exported and compiled."""
        feeds = {"x": X, "w": np.array(.9), "k": np.ones(2)}
        one = self.changed("first", 'entry infer "weighted" = weighted\nentry infer "second" = second\n'
                           'entry infer "same" = same\nentry infer "plain" = f\n', "")
        wanted = self.open(one).run(feeds)
        own, onnx, compiled = (self.scratch / f"first.{end}" for end in ("gepb", "onnx", "gecap"))
        self.dump(one, "--format", "onnx", "-o", str(onnx))
        made = self.open(onnx, entry="", plugins="").run(feeds)
        self.check("exported after rewrite", all(np.array_equal(a, b) for a, b in zip(made, wanted)))
        for to, path, says in (("load", own, ""), ("infer", self.scratch / "no.onnx",
                                                   "is an operator of this engine alone")):
            done = subprocess.run([self.ge, "dump", one, "--plugins", "grad", "--to", to, "--format",
                                   "proto" if not says else "onnx", "-o", path], capture_output=True, text=True)
            self.check(f"saved at {to}", (done.returncode != 0) == bool(says) and says in done.stderr, done.stderr)
        made = self.open(own).run(feeds)
        self.check("saved as our own", all(np.array_equal(a, b) for a, b in zip(made, wanted)))
        done = subprocess.run([self.ge, "compile", one, "--plugins", "grad", "-o", compiled],
                              capture_output=True, text=True)
        self.check("compiled", done.returncode == 0, done.stderr)
        made = self.open(compiled, plugins="").run(feeds)
        self.check("a compiled file needs no plugin",
                   all(np.allclose(a, b, rtol=1e-14, atol=0) for a, b in zip(made, wanted)))

    def refusals(self):
        for options, text in REFUSED:
            try:
                self.open("refused", **options)
                self.check(f"refused: {options}", False, "it was taken")
            except GeError as e:
                self.check(f"refused: {options}", text in str(e), str(e))
        done = subprocess.run([self.ge, "run", PROGRAMS / "asked_first.gt", "--plugins", "grad", "--skip",
                               "expand-gradients"], capture_output=True, text=True)
        self.check("refused: skipped", done.returncode != 0 and "which is skipped here" in done.stderr,
                   done.stderr)
        value = self.changed("refused", 'entry infer "main" = main', 'entry infer "main" = value')
        x = np.array([.1, .4, .2, .3])
        self.near("what nobody reads is not asked for", self.open(value).run({"x": x})[0], np.exp(x).sum(), 1e-14)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        check = Check(args.build.resolve(), pathlib.Path(folder))
        for part in (check.first, check.orders, check.forward, check.control, check.recursion,
                     check.own_derivatives, check.free_sizes, check.states, check.behind, check.texts,
                     check.checked, check.files, check.refusals):
            part()
    print(f"{check.passed} passed, {check.failed} failed, 0 skipped")
    return check.failed != 0


if __name__ == "__main__":
    sys.exit(main())
