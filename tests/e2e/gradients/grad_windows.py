#!/usr/bin/env python3
"""`loop-checkpoint` of the passes `grad` and `train`: loops whose rounds are kept in windows and run
again on the way back. Gradients have the bits that they have without, whatever ends a loop, is
scanned or carried; memory grows with the root of the rounds; what is left alone, and refusals."""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "training"))
import grad  # noqa: E402
import train_pass  # noqa: E402
from ge_session import GeError  # noqa: E402

ROOT = grad.ROOT
RNG = np.random.default_rng(7)


def whole(*numbers):
    return np.array(numbers[0] if len(numbers) == 1 else numbers, np.int64)


def loop_inputs(rounds, most, first=True):
    return {"x": RNG.standard_normal(3), "w": RNG.standard_normal(3), "rounds": whole(rounds),
            "most": whole(most), "first": np.array(first)}


def scan_inputs(rounds):
    shapes = {"h": 2, "x": (rounds, 3), "y": (2, 5, rounds), "w": (3, 2), "mix": (5, 2)}
    return {"n": whole(3), **{k: RNG.standard_normal(v) for k, v in shapes.items()}}


# Bounds that are met; a condition that ends a loop early, in a window and behind all; none at all.
LOOPS = [loop_inputs(7, 100), loop_inputs(6, 100), loop_inputs(7, 4), loop_inputs(40, 13),
         loop_inputs(2**40, 13), loop_inputs(1, 100), loop_inputs(0, 100), loop_inputs(-3, 100),
         loop_inputs(7, 100, False)]
SCANS = [scan_inputs(n) for n in (7, 6, 12, 1, 0)]
DRAWN = [{"x": RNG.standard_normal(3), "w": RNG.standard_normal(3), "step": whole(n)}
         for n in (0, 5)]
FLOATS = {"windows_loop": "x+w", "windows_scan": "h+x+y+w+mix", "windows_drawn": "x+w"}

# Program, options: what the refusal says.
REFUSED = [
    ("loop", "wrt=x;loop-checkpoint=often",
     "loop-checkpoint is 'often', wanted none, auto, or a number of rounds from 1 to 2^31"),
    ("loop", "wrt=x;loop-checkpoint=-1", "loop-checkpoint is '-1', wanted none, auto, or"),
    ("loop", "wrt=x;loop-checkpoint=3000000000", "loop-checkpoint is '3000000000', wanted"),
    ("loop", "wrt=x;kind=hvp;loop-checkpoint=3",
     "loop-checkpoint is 3, wanted none, or kind=grad, not hvp"),
    ("loop", "wrt=x;kind=jvp;loop-checkpoint=auto",
     "loop-checkpoint is auto, wanted none, or kind=grad, not jvp"),
    ("windows_refused", "wrt=x;of=counted;loop-checkpoint=auto",
     "Loop 'as often as told' <- 'x': loop-checkpoint=auto takes the root of how many rounds there "
     "are, and input M is no constant below 2^31; wanted a number of rounds that is known, or "
     "loop-checkpoint=NUMBER"),
    ("loop", "wrt='x;y", "a quote ' has no end in: "),
    ("loop", "wrt='x;y'", "x;y"),
    ("windows_scan", "wrt=h;loop-checkpoint=auto",
     "the size of the axis that is scanned is not known"),
    ("windows_refused", "wrt=x;of=loss;loop-checkpoint=2",
     "Loop 'fill' <- 'x': what it carries as number 1 is a sequence or a function, and "
     "loop-checkpoint stacks tensors"),
    ("windows_refused", "wrt=x;of=drawn;loop-checkpoint=2",
     "Loop 'shaken' <- 'x': it runs RandomNormalLike 'noise', which has no seed and draws other "
     "numbers when loop-checkpoint runs a round again; give it a seed")]


def same(a, b):
    return all(x.shape == y.shape and x.tobytes() == y.tobytes() for x, y in zip(a, b, strict=True))


class Windows(grad.Check):
    def programs(self):
        """All programs of tests/e2e/gradients/programs with loops, and those that were written for windows."""
        rng = np.random.default_rng(5)
        for name, shapes in grad.PROGRAMS:
            feeds = {k: rng.standard_normal(v) if isinstance(v, tuple) else v
                     for k, v in shapes.items()}
            self.alike(name, "+".join(feeds), [feeds], "1234")
        for name, runs in (("windows_loop", LOOPS), ("windows_scan", SCANS),
                           ("windows_drawn", DRAWN)):
            self.alike(name, FLOATS[name], runs, "12346")
        self.alike("windows_drawn", FLOATS["windows_drawn"], DRAWN, ["auto", "10", "0"])
        self.alike("scan", "+".join(grad.SCAN),
                   [{k: rng.standard_normal(v) for k, v in grad.SCAN.items()}], ["auto"])
        for name, runs in (("windows_loop", LOOPS[:4]), ("windows_scan", SCANS[:2])):
            self.alike(name, FLOATS[name], runs, "3", engines="")

    def alike(self, name, wrt, runs, every, engines="ref", more=""):
        plain = self.open(name, f"wrt={wrt}", "grad", engines)
        wanted = [plain.run(feeds) for feeds in runs]
        for k in every:
            session = self.open(name, f"wrt={wrt};loop-checkpoint={k}{more}", "grad", engines)
            for i, feeds in enumerate(runs):
                got = session.run(feeds)
                self.check(f"{name}, loop-checkpoint={k}{more}, run {i}: the same bits",
                           same(got, wanted[i]), f"{got} instead of {wanted[i]}")

    def with_remat(self):
        for remat in ("3", "all", "dots", "names:?", "bytes:100M;rows=4"):
            more = f";remat={remat}"
            self.alike("windows_loop", "x+w", LOOPS[:3], "2", more=more)
            self.alike("windows_drawn", "x+w", DRAWN, "3", more=more)

    def dump(self, name, options):
        made = subprocess.run([ROOT / "build/release/bin/ge", "dump", ROOT / f"tests/e2e/gradients/programs/{name}.gt",
                               "--plugins", "grad", "--pass", f"grad:{options}", "--to", "rewrite"],
                              capture_output=True, text=True, check=True)
        return made.stdout

    def changes(self):
        """Windows where there is more than one; no other graph where there is not."""
        plain = self.dump("windows_drawn", "wrt=x+w")
        for k in ("0", "none", "10", "11", str(2**31)):
            self.check(f"loop-checkpoint={k} leaves ten rounds alone",
                       self.dump("windows_drawn", f"wrt=x+w;loop-checkpoint={k}") == plain)
        for k in ("1", "9", "auto"):
            text = self.dump("windows_drawn", f"wrt=x+w;loop-checkpoint={k}")
            self.check(f"loop-checkpoint={k} makes windows", "grad.WIN" in text, text)
        text = self.dump("windows_drawn", "wrt=x+w;loop-checkpoint=5")
        self.check("ten rounds in two windows have no rest", text.count("calls {body=\"grad.FWD")
                   == 2, text)
        self.check("a loop that gives nothing back is left alone", "grad.WIN" not in
                   self.dump("branch", "wrt=x;loop-checkpoint=1"))

    def memory(self):
        """400 rounds over 1 MB: both that a round reads are stacked, or 20 and 20 of them."""
        rng = np.random.default_rng(2)
        with tempfile.TemporaryDirectory() as folder:
            inputs = []
            for name in ("x", "w"):
                np.save(f"{folder}/{name}.npy",
                        rng.standard_normal((512, 512)).astype(np.float32))
                inputs += ["--input", f"{name}={folder}/{name}.npy"]
            for k, limit, taken in (("none", "1000M", False), ("auto", "1000M", True),
                                    ("auto", "120M", True)):
                made = subprocess.run(
                    [ROOT / "build/release/bin/ge", "run", ROOT / "tests/e2e/gradients/programs/long_loop.gt",
                     "--plugins", "grad", "--pass", f"grad:wrt=x+w;loop-checkpoint={k}", "--entry",
                     "grad", *inputs, "--memory-limit", limit, "--threads", "1", "--repeat", "1",
                     "--warmup", "0", "--json"], capture_output=True, text=True)
                self.check(f"loop-checkpoint={k} within {limit}: {taken}",
                           (made.returncode == 0) == taken, made.stderr)
                if not taken:
                    self.check("what is too much is named", "beyond the limit" in made.stderr,
                               made.stderr)

    def training(self):
        """Steps of an LSTM with Dropout by the pass `train`: the same weights, bit for bit."""
        rng = np.random.default_rng(4)
        with tempfile.TemporaryDirectory() as folder:
            path = lstm(f"{folder}/lstm.onnx")
            feeds = {"x": rng.standard_normal((9, 4, 3)),
                     "label": rng.integers(0, 5, 4).astype(np.int64)}
            options = "loss=softmax-ce;optimizer=adam;lr=0.01"
            losses = {}
            for more in ("", ";loop-checkpoint=auto", ";loop-checkpoint=4",
                         ";loop-checkpoint=3;remat=all"):
                session = train_pass.Session(path, options + more)
                losses[more] = [session.run(feeds)[0] for _ in range(4)]
                losses[more] += [session.state("w"), session.state("r"), session.state("out")]
                self.check(f"train{more}: the same bits", same(losses[more], losses[""]),
                           f"{losses[more]} instead of {losses['']}")

    def refused(self):
        for program, options, text in REFUSED:
            try:
                self.open(program, options, "grad")
                self.check(f"refused: {options}", False, "it was taken")
            except GeError as e:
                self.check(f"refused: {options}", text in str(e), str(e))


def lstm(path):
    rng = np.random.default_rng(1)
    inits = {"w": rng.standard_normal((1, 16, 3)) / 3, "r": rng.standard_normal((1, 16, 4)) / 3,
             "b": rng.standard_normal((1, 32)) / 9, "out": rng.standard_normal((4, 5)),
             "drop": np.array(.3), "on": np.array(True)}
    h = train_pass.helper
    nodes = [h.make_node("Dropout", ["x", "drop", "on"], ["xd"]),
             h.make_node("LSTM", ["xd", "w", "r", "b"], ["y", "yh"], hidden_size=4),
             h.make_node("Squeeze", ["yh", "front"], ["last"]),
             h.make_node("MatMul", ["last", "out"], ["z"])]
    inits["front"] = np.array([0], np.int64)
    graph = h.make_graph(
        nodes, "net", [h.make_tensor_value_info("x", train_pass.TensorProto.DOUBLE, [9, "N", 3])],
        [h.make_tensor_value_info("z", train_pass.TensorProto.DOUBLE, ["N", 5])],
        [train_pass.numpy_helper.from_array(v, k) for k, v in inits.items()])
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8)
    train_pass.onnx.save(model, path)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    check = Windows(parser.parse_args().build.resolve())
    check.programs()
    check.with_remat()
    check.changes()
    check.memory()
    check.training()
    check.refused()
    print(f"{check.passed} passed, {check.failed} failed, 0 skipped")
    return check.failed != 0


if __name__ == "__main__":
    sys.exit(main())
