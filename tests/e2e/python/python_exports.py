#!/usr/bin/env python3
"""export: functions and networks as ONNX, checked by onnx and run by onnxruntime at two sizes; freeze; what
cannot be exported.

It needs onnx and onnxruntime. Example: python tests/e2e/python/python_exports.py --build build/release --scratch F"""
import jit_cases
import jit_loops
import numpy as np
import onnx
import onnxruntime
from python_checks import check, run_all

import graphengine as ge
from graphengine import nn

RNG = np.random.default_rng(3)


def draw(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def same(name, function, path, feeds):
    """onnxruntime answers what the function does."""
    onnx.checker.check_model(onnx.load(path), full_check=True)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for feed in feeds:
        theirs = session.run(None, feed)
        ours = function(**{k: ge.asarray(v) for k, v in feed.items()})
        ours = list(ours.values()) if isinstance(ours, dict) else list(ours) if isinstance(ours, tuple) else [ours]
        good = len(ours) == len(theirs) and all(
            np.allclose(a.numpy(), b, rtol=1e-5, atol=1e-5) and a.shape == b.shape for a, b in zip(ours, theirs))
        check(f"{name} at {[v.shape for v in feed.values()]}", good)


def functions(args):
    jit_cases.xp = jit_loops.xp = ge
    rows, flat = ge.Spec("n", 2), ge.Spec("n")
    for function, spec in (
            *[(f, flat) for f in (jit_cases.if_else, jit_cases.elif_chain, jit_cases.early_return, jit_cases.and_or,
                                  jit_cases.dict_in_branch, jit_loops.while_sum, jit_loops.while_true,
                                  jit_loops.while_else, jit_cases.newton)],
            *[(f, rows) for f in (jit_loops.for_rows, jit_loops.for_rows_if, jit_loops.for_rows_break,
                                  jit_loops.for_enumerate, jit_loops.append_stack, jit_loops.append_carry,
                                  jit_cases.running_max, jit_cases.tuple_carried)]):
        path = str(args.scratch / f"{function.__name__}.onnx")
        ge.export(function, path, x=spec)
        first = [np.abs(draw(*(k if n == "n" else n for n in spec.shape))) + 0.5 for k in (3, 5)]
        same(function.__name__, ge.jit(function), path, [{"x": x} for x in first])


def networks(args):
    nets = {"mlp": (nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3)), (6,)),
            "conv": (nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
                                   nn.Flatten(), nn.Dropout(0.5), nn.Linear(64, 5)), (1, 8, 8)),
            "norm": (nn.Sequential(nn.LayerNorm(6), nn.GELU(), nn.Linear(6, 6), nn.Softmax()), (6,))}
    for name, (net, shape) in nets.items():
        path = str(args.scratch / f"{name}.onnx")
        ge.export(net, path, x=ge.Spec("batch", *shape))
        check(f"{name} is in training again", net.training)
        net.eval()
        same(name, ge.jit(lambda x, net=net: net(x)), path, [{"x": draw(n, *shape)} for n in (2, 7)])
        x = ge.asarray(draw(3, *shape))
        frozen = ge.freeze(net)
        check(f"{name}, frozen", np.allclose(frozen(x).numpy(), net(x).numpy(), atol=1e-6))
        check(f"{name}, frozen, has no states", "ge.Read" not in frozen.dump())


def refusals(args):
    weight = ge.Variable(np.zeros(3, np.float32), "w")

    def assigns(x):
        weight.assign(x)
        return x
    for name, call, words in (
            ("no specs", lambda: ge.export(lambda x: x, args.scratch / "a.onnx", x="text"), "wanted a ge.Spec"),
            ("a size", lambda: ge.Spec(1.5), "wanted a number"),
            ("no answer", lambda: ge.export(lambda x: None, args.scratch / "a.onnx", x=ge.Spec(2)), "wanted tensors"),
            ("an assignment", lambda: ge.export(assigns, args.scratch / "a.onnx", x=ge.Spec(3)), "is a constant"),
            ("no function", lambda: ge.export(3, args.scratch / "a.onnx"), "wanted a function")):
        try:
            call()
            check(f"{name} was not refused", False)
        except TypeError as error:
            check(f"{name}: {error}", words in str(error))
        check(f"{name} leaves no file", not (args.scratch / "a.onnx").exists())


if __name__ == "__main__":
    run_all([functions, networks, refusals])
