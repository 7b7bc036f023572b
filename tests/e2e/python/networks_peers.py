#!/usr/bin/env python3
"""Layers beside torch (float32, 1e-5) and gradients beside jax (float64, 1e-9). GE_TORCH and GE_JAX name
Pythons that have them; without one its half is skipped.

Example: GE_TORCH=torch/bin/python python tests/e2e/python/networks_peers.py"""
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile

import gradient_cases
import numpy as np

import graphengine as ge
from graphengine import nn

HERE = pathlib.Path(__file__).parent
COUNTS = {"passed": 0, "failed": 0, "skipped": 0}


def check(name, difference, most):
    good = bool(difference <= most)
    COUNTS["passed" if good else "failed"] += 1
    if not good:
        print(f"FAILED  {name}: {difference}, wanted {most}")
    return difference


def off(got, wanted):
    """The greatest difference, by the size of what is wanted where that is above 1."""
    got, wanted = np.asarray(got.numpy()), np.asarray(wanted)
    return np.inf if got.shape != wanted.shape else np.max(np.abs(got - wanted) / np.maximum(1, np.abs(wanted)))


def theirs(variable, script, folder):
    """What a peer's script writes; None where there is no such peer."""
    python = os.environ.get(variable)
    if not python:
        print(f"skipped: {variable} names no Python")
        COUNTS["skipped"] += 1
        return None
    path = pathlib.Path(folder) / "theirs.pickle"
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    subprocess.run([python, HERE / script, path], check=True, env=environment)
    return pickle.loads(path.read_bytes())


def layers(found):
    for layer in found or ():
        name = layer["name"]
        net = getattr(nn, name)(*layer["args"], **layer["options"])
        net.load_state_dict(layer["values"])
        weight = np.cos(np.arange(layer["out"].size).reshape(layer["out"].shape)).astype("float32")

        def run(x):
            out = net(x, x, x) if name == "MultiheadAttention" else net(x)
            out = out[0] if isinstance(out, tuple) else out
            return ge.sum(out * weight), out
        x = ge.asarray(layer["x"])
        wrt = (0, net) if net.parameters() else (0,)
        (_, out), gradients = ge.value_and_grad(run, wrt=wrt, has_aux=True)(x)
        check(f"{name}: output", off(out, layer["out"]), 1e-5)
        check(f"{name}: gradient", off(gradients[0], layer["gradient"]), 1e-5)
        for path, wanted in layer["gradients"].items():
            check(f"{name}: gradient of {path}", off(gradients[1][path], wanted), 1e-5)
        net.eval()
        check(f"{name}: evaluation", off(ge.jit(run)(x)[1], layer["evaluated"]), 1e-5)


def where(test, then, orelse, x):
    return then(x) if test else orelse(x)


def loop(count, body, first):
    out = first
    for i in range(ge.asarray(count)):
        out = body(ge.astype(i, ge.float64), out)
    return out


def gradients_(found):
    gradient_cases.xp, gradient_cases.where, gradient_cases.loop = ge, where, loop
    worst = 0.0
    for (function, args), (value, gradients, second) in zip(gradient_cases.CASES, found or ()):
        given = [ge.asarray(a) for a in args]
        got, ours = ge.value_and_grad(function, wrt=tuple(range(len(args))))(*given)
        worst = max(worst, check(f"{function.__name__}: value", off(got, value), 1e-9))
        for i, (a, b) in enumerate(zip(ours, gradients)):
            worst = max(worst, check(f"{function.__name__}: gradient {i}", off(a, b), 1e-9))
        if second is not None:
            worst = max(worst, check(f"{function.__name__}: hessian", off(ge.hessian(function)(*given), second), 1e-9))
    if found:
        print(f"greatest difference from jax: {worst:.1e}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        layers(theirs("GE_TORCH", "networks_torch.py", scratch))
        gradients_(theirs("GE_JAX", "gradients_jax.py", scratch))
    print(f"{COUNTS['passed']} passed, {COUNTS['failed']} failed, {COUNTS['skipped']} skipped")
    sys.exit(COUNTS["failed"] != 0)
