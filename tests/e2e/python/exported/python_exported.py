#!/usr/bin/env python3
"""export: functions and networks with free sizes, If and Loop as ONNX: checked by onnx, and run by onnxruntime
at two sizes; what ONNX has no form for is refused by name.

It needs onnx and onnxruntime. Example: python tests/e2e/python/exported/python_exported.py --build build/release
--scratch FOLDER
"""
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent)]

import exported_nets  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from python_checks import check, run_all  # noqa: E402
from python_exports import same  # noqa: E402

import graphengine as ge  # noqa: E402
from graphengine import nn, optim  # noqa: E402

RNG = exported_nets.RNG


def drawn(specs, free, own):
    """A feed for these free sizes."""
    out = {}
    for name, spec in specs.items():
        if name in own:
            out[name] = own[name](free)
        else:
            shape = [free.get(n, n) for n in spec.shape]
            out[name] = np.asarray(RNG.standard_normal(shape)).astype(str(getattr(spec.dtype, "name", spec.dtype)))
    return out


def operators(path):
    """All of a model's, those in bodies too."""
    def of(graph):
        for node in graph.node:
            yield node.op_type
            for a in node.attribute:
                if a.type == onnx.AttributeProto.GRAPH:
                    yield from of(a.g)
    return set(of(onnx.load(path).graph))


def nets(args):
    seen = set()
    for name, what, specs, sizes, own in exported_nets.NETS:
        path = str(args.scratch / f"{name}.onnx")
        if isinstance(what, nn.Module):
            what.eval()
        ge.export(what, path, **specs)
        seen |= operators(path)
        jitted = ge.jit(lambda what=what, **words: what(**words))
        same(name, jitted, path, [drawn(specs, free, own) for free in sizes])
    check(f"operators: {sorted(seen)}", {"If", "Loop"} <= seen)


def power(x, n):
    return x if n < 1 else power(x * 2, n - 1)


@ge.custom_op
def twice(x):
    return x * 2


def training():
    net = nn.Linear(3, 2)
    step = optim.Adam(net, 0.1)

    def train(x):
        loss, gradients = ge.value_and_grad(lambda v: ge.sum(net(v)), wrt=net)(x)
        step(gradients)
        return loss
    return train


def squares(x):
    return ge.sum(ge.where(x > 0, x * x, x))


def slope_of(x):
    return ge.grad(squares)(x)


def sized(x):
    return x * [1.0, 2.0, 3.0][x.shape[0] - 1]


def shuffled(x):
    return x + ge.random.uniform(x.shape)


ROWS = {"x": ge.Spec("n", 3)}
REFUSED = [  # name, function, specs, kind, words, line of the program that is named
    ("recursion", lambda x, n: power(x, n), {**ROWS, "n": ge.Spec(dtype=ge.int64)}, NotImplementedError,
     ("ge.Call", "recursion"), "power(x * 2, n - 1)"),
    ("a gradient", slope_of, ROWS, NotImplementedError, ("ge.Gradient",), "ge.grad(squares)(x)"),
    ("training", training(), ROWS, TypeError, ("'weight'", "assigned"), None),
    ("random numbers", shuffled, ROWS, TypeError, ("'random'", "assigned"), None),
    ("a function of Python", lambda x: twice(x), ROWS, TypeError, ("twice", "ONNX"), None),
    ("a number of a free size", sized, ROWS, TypeError, ("index", "wanted a number of Python"), None),
]


def refusals(args):
    for name, function, specs, kind, words, line in REFUSED:
        path = args.scratch / "refused.onnx"
        try:
            ge.export(function, path, **specs)
            check(f"{name} was not refused", False)
        except kind as error:
            text = "\n".join([str(error), *getattr(error, "__notes__", ())])
            check(f"{name}: {text}", all(w in text for w in words) and (line is None or line in text))
        check(f"{name} leaves no file", not path.exists())


if __name__ == "__main__":
    run_all([nets, refusals])
