"""Plugins in the Python package: operators, passes, and a net that is trained by grad.so of the package."""
import os
import pathlib
import subprocess
import sys

import numpy as np

import graphengine
from python_checks import check, refused, run_all

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "training"))
import train_numpy  # noqa: E402

SWISH = b"""ge 1
opset "" 28
opset "sample" 1
fn main(x: f32[N]) -> (y) {
  y = sample.Swish(x) {beta=2.0} "swish"
}
entry infer "main" = main
"""
POWER = b"""ge 1
opset "" 28
const two : f32[] = 2
fn main(x: f32[N]) -> (y) {
  y = Pow(x, two)
}
entry infer "main" = main
"""
X = np.array([-1, 0, 0.5, 2], np.float32)


def built(scratch, source):
    """A plugin, by the headers that the package has."""
    out = scratch / (pathlib.Path(source).stem + ".so")
    plain = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    subprocess.run(["cc", "-shared", "-fPIC", "-I", graphengine.get_include(), source, "-o", str(out)],
                   check=True, env=plain)
    return out


def operators(args):
    swish = built(args.scratch, "sdk/samples/op/op.c")
    wanted = X / (1 + np.exp(-2 * X))
    refused("an operator that nobody brings", "UNSUPPORTED", "'sample'", lambda: graphengine.Session(SWISH),
            node="swish")
    for plugins in (str(swish), [str(swish)], swish):
        y = graphengine.Session(SWISH, plugins=plugins).run(X)["y"]
        check(f"plugins={plugins!r}", np.allclose(y, wanted, atol=1e-6))
    before = os.getcwd()
    os.chdir(args.scratch)
    try:
        y = graphengine.Session(SWISH, plugins=pathlib.Path("op.so")).run(X)["y"]
        check("a plugin in this folder", np.allclose(y, wanted, atol=1e-6))
        options = graphengine.SessionOptions()
        options.register_custom_ops_library("op.so")
        y = graphengine.InferenceSession(SWISH, options).run(None, {"x": X})[0]
        check("register_custom_ops_library", np.allclose(y, wanted, atol=1e-6))
    finally:
        os.chdir(before)
    options = graphengine.SessionOptions()
    options.register_custom_ops_library(args.scratch / "nothing.so")
    for name, call in (("plugins", lambda: graphengine.Session(SWISH, plugins="./nothing.so")),
                       ("register_custom_ops_library",
                        lambda: graphengine.InferenceSession(SWISH, options))):
        refused(f"{name} of no file", "IO_ERROR", "nothing.so", call)


def passes(args):
    square = built(args.scratch, "sdk/samples/pass/square.c")

    def operators_of(**words):
        session = graphengine.Session(POWER, engines="ref", prices="analytic", **words)
        y = session.run(X)["y"]
        check(f"the square, {words}", np.allclose(y, X * X))
        return [node["op"] for node in session.explain()["nodes"]]
    check("without the pass", "Pow" in operators_of())
    check("with the pass", "Mul" in operators_of(plugins=[square]))
    check("with the pass skipped", "Pow" in operators_of(plugins=[square], skip_passes="square"))
    refused("a pass that nobody brings", "INVALID_ARGUMENT", "nothing",
            lambda: graphengine.Session(POWER, passes="nothing"))


def training(_):
    rng = np.random.default_rng(3)
    weights = {"w0": rng.standard_normal((7, 5)), "b0": rng.standard_normal(7) / 10,
               "w1": rng.standard_normal((3, 7)), "b1": rng.standard_normal(3) / 10}
    consts = "".join(
        f"const {name} : f64[{','.join(map(str, w.shape))}] = [{', '.join(map(repr, w.ravel().tolist()))}]\n"
        for name, w in weights.items())
    text = (f'ge 1\nopset "" 28\n{consts}fn main(x: f64[N,5]) -> (z) {{\n  y = Gemm(x, w0, b0) {{transB=1}}\n'
            '  r = Relu(y)\n  z = Gemm(r, w1, b1) {transB=1}\n}\nentry infer "main" = main\n')
    session = graphengine.Session(text.encode(), plugins="grad",
                                  passes=["train:loss=softmax-ce;optimizer=adam;lr=0.05"])
    check("the entries of training", {"train_step", "eval"} <= set(session.entries))
    mine, losses = train_numpy.Optimizer("adam", lr=0.05), []
    for _ in range(6):
        x, label = rng.standard_normal((8, 5)), rng.integers(0, 3, 8)
        found = session.run({"x": x, "label": label}, entry="train_step")["loss"]
        loss, grads = train_numpy.gradients(weights, x, label, "softmax-ce")
        weights = mine.step(weights, grads)
        losses.append(abs(float(found) - loss))
    check(f"six losses as numpy's: {losses}", max(losses) < 1e-12)
    for name, w in weights.items():
        check(f"{name} as numpy's", np.allclose(session.get_state(name), w, rtol=0, atol=1e-11))
    check("steps are counted", session.get_state("train.step") == 6)
    refused("an option that the pass has not", "INVALID_ARGUMENT", "los",
            lambda: graphengine.Session(text.encode(), plugins="grad", passes="train:los=mse"))


if __name__ == "__main__":
    run_all([operators, passes, training])
