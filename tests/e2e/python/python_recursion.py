#!/usr/bin/env python3
"""Functions that call themselves where data decides, their gradients and what they may not do;
custom_vjp against formulas; Variables that a branch or a loop is the first to read or assign.

Example: python tests/e2e/python/python_recursion.py --build build/release --scratch FOLDER
"""
import jit_recursion
import numpy as np
from python_checks import check, run_all

import graphengine as ge

X = np.array([0.7, -1.2, 2.0])


def near(got, wanted, tolerance=1e-12):
    got = np.asarray(got.numpy() if hasattr(got, "numpy") else got)
    return got.shape == np.shape(wanted) and np.allclose(got, wanted, rtol=tolerance, atol=tolerance)


def double(value):
    return ge.asarray(value, dtype=ge.float64)


def refused(name, words, call, kind=TypeError):
    try:
        call()
    except kind as error:
        check(f"{name}: {error}", words in str(error))
        return
    check(f"{name}: was not refused", False)


# ---- recursion

def gradients(_):
    jit_recursion.xp = ge
    x, n = double(X), ge.asarray(4)
    total = lambda v, k: ge.sum(jit_recursion.power_of(v, k))
    check("gradient of a power", near(ge.grad(total)(x, n), 4 * X ** 3))
    check("second", near(ge.grad(lambda v: ge.sum(ge.grad(total)(v, n)))(x), 12 * X ** 2))
    third = ge.grad(lambda v: ge.sum(ge.grad(lambda u: ge.sum(ge.grad(total)(u, n)))(v)))
    check("third", near(third(x), 24 * X, 1e-9))
    value, slope = ge.value_and_grad(jit_recursion.root, wrt=1)(double(1.0), double(2.0))
    check(f"root: {value}", near(value, np.sqrt(2), 1e-6))
    check(f"slope of a root: {slope}", near(slope, 0.5 / np.sqrt(2), 1e-6))
    bent = ge.hessian(lambda a: jit_recursion.root(double(1.0), a))(double(2.0))
    check(f"bend of a root: {bent}", near(bent, -0.25 / 2 ** 1.5, 1e-5))


class Stack(ge.nn.Module):
    """A layer that is run as often as a tensor says."""

    def __init__(self):
        super().__init__()
        self.layer = ge.nn.Linear(3, 3)

    def forward(self, x, n):
        if n == 0:
            return x
        return self.layer(self(x, n - 1))


def modules(_):
    net = Stack()
    x = ge.asarray(X.astype(np.float32))
    w, b = (v.numpy().astype(np.float64) for v in net.parameters().values())
    run = ge.jit(net)
    check("a Module that calls itself", near(run(x, ge.asarray(2)), (X @ w.T + b) @ w.T + b, 1e-5))
    found = ge.grad(lambda v, n: ge.sum(net(v, n)), wrt=net)(x, ge.asarray(2))
    first = X @ w.T + b
    check("its weights' gradient", near(found["layer.weight"], np.outer(np.ones(3), first)
                                        + np.outer(w.sum(0), X), 1e-4))
    check("its bias' gradient", near(found["layer.bias"], 1 + w.sum(0), 1e-4))


SEEN = []


def no_end(x):
    if x > 0:
        return no_end(x - 1)
    return no_end(x + 1)


def changes(x):
    if x < 0:
        return x
    SEEN.append(1)
    return changes(x - 1)


def shrinks(x):
    if ge.sum(x) < 1:
        return x
    return shrinks(x[1:])


def alters(x, n):
    x[0] = x[0] + 1
    if n > 0:
        return alters(x, n - 1)
    return x


def grows(x, n):
    if n == 0:
        return x
    return ge.concat([grows(x, n - 1), x])


def refusals(_):
    one = ge.asarray(1.0)
    for f, args, words in (
            (no_end, (one,), "'no_end' calls itself on every path"),
            (changes, (one,), "'changes' calls itself where a tensor decides, and changes 'SEEN'"),
            (alters, (ge.ones((2,)), ge.asarray(2)), "'alters' calls itself where a tensor decides, and changes"),
            (grows, (ge.ones((2,)), ge.asarray(2)), "'grows'"),
            (shrinks, (ge.ones((40,)),), "'shrinks' calls itself with other sizes")):
        refused(f.__name__, words, lambda: ge.jit(f)(*args))  # pylint: disable=cell-var-from-loop
    check("nothing was changed", SEEN == [])
    jit_recursion.xp = ge
    check("the next call is right", int(ge.jit(jit_recursion.fibonacci_twice)(ge.asarray(7))) == 13)


def exports(args):
    jit_recursion.xp = ge
    path = args.scratch / "power.gt"
    ge.export(jit_recursion.power_of, path, x=ge.Spec("n"), n=np.int64(3))
    got = ge.Session(path).run({"x": X.astype(np.float32), "n": np.int64(4)})["output"]
    check("written and loaded", near(got, X ** 4, 1e-5))
    refused("as ONNX", "ONNX has no recursion", lambda: ge.export(
        jit_recursion.power_of, args.scratch / "power.onnx", x=ge.Spec("n"), n=np.int64(3)), ge.Error)


# ---- custom_vjp

@ge.custom_vjp
def scaled_sine(x, y):
    return ge.sin(x) * y


scaled_sine.defvjp(lambda x, y: (scaled_sine(x, y), (x, y)),
                   lambda kept, g: (2 * ge.cos(kept[0]) * g * kept[1], ge.sin(kept[0]) * g))


@ge.custom_vjp
def bounded(values, most):
    return {"clipped": [ge.clip(v, -most, most) for v in values]}


bounded.defvjp(lambda values, most: (bounded(values, most), None),
               lambda _, g: ([5 * g["clipped"][0], None], None))
TABLE = np.arange(100.0)


@ge.custom_vjp
def by_table(x):
    return x * ge.asarray(TABLE)


by_table.defvjp(lambda x: (by_table(x), ()), lambda _, g: (3 * g * ge.asarray(TABLE),))


def own_derivatives(_):
    x, y = double(X), double([3.0, 4.0, 5.0])
    loss = lambda a, b: ge.sum(scaled_sine(a, b))
    value = np.sum(np.sin(X) * y.numpy())
    check("at once", near(loss(x, y), value))
    check("as a graph", near(ge.jit(loss)(x, y), value))
    first, second = ge.grad(loss, wrt=(0, 1))(x, y)
    check("its own gradient", near(first, 2 * np.cos(X) * y.numpy()))
    check("of the other argument", near(second, np.sin(X)))
    check("the gradient of its gradient", near(ge.grad(lambda a: ge.sum(ge.grad(loss)(a, y)))(x),
                                               -2 * np.sin(X) * y.numpy()))
    _, forward = ge.jvp(lambda a: loss(a, y), (x,), (double([1.0, 0.0, 2.0]),))
    check("forward", near(forward, np.sum(2 * np.cos(X) * y.numpy() * [1, 0, 2])))
    _, pull = ge.vjp(loss, x, y)
    check("pulled back", near(pull(double(2.0))[1], 2 * np.sin(X)))
    a, b = ge.grad(lambda p, q: sum(ge.sum(v) for v in bounded([p, q], 0.5)["clipped"]), wrt=(0, 1))(x, y)
    check("structures, numbers and None", near(a, np.full(3, 5.0)) and near(b, np.zeros(3)))
    check("constants of the graph", near(ge.grad(lambda v: ge.sum(by_table(v)))(double(TABLE)), 3 * TABLE))


@ge.jit
def repeated(x, n):
    for _ in range(n):
        x = scaled_sine(x, x)
    return ge.sum(x)


def in_bodies(_):
    x = double(X)

    def slope(v):  # of sin(v) v by its own rule
        return 2 * np.cos(v) * v + np.sin(v)
    inner = np.sin(X) * X
    check("in a Loop", near(ge.grad(repeated)(x, ge.asarray(2)), slope(inner) * slope(X), 1e-9))

    def branch(v):
        return ge.sum(scaled_sine(v, v)) if ge.sum(v) > 0 else ge.sum(v)
    check("in a branch", near(ge.grad(branch)(x), slope(X)))


def around(x):
    z = x * 2

    @ge.custom_vjp
    def inner(v):
        return v * z
    inner.defvjp(lambda v: (inner(v), ()), lambda _, g: (g,))
    return ge.sum(inner(x))


def wrong_derivatives(_):
    x = double(X)

    @ge.custom_vjp
    def f(v):
        return v
    refused("without a derivative", "'f' is a custom_vjp without its derivative", lambda: f(x))
    total = ge.grad(lambda v: ge.sum(f(v)))
    plain = lambda v: (v, ())
    for forward, backward, words in (
            (plain, lambda _, g: g, "answers a tensor of"),
            (plain, lambda _, g: (g, g), "wanted a tuple of a gradient for each of 1 arguments"),
            (plain, lambda _, g: (g[:1],), "gradient 0 that backward of 'f' answers is a tensor of"),
            (plain, lambda _, g: ((g, g),), "holds 2 tensors, and the argument 1"),
            (lambda v: v, lambda _, g: (g,), "wanted (value, residuals)")):
        f.defvjp(forward, backward)
        refused(words, words, lambda: total(x))
    refused("a value from around", "reads a value of a function around it", lambda: ge.grad(around)(x))
    refused("no function", "backward is 3, wanted a function", lambda: f.defvjp(plain, 3))
    f.defvjp(plain, lambda _, g: (g * 7,))
    check("the next call is right", near(total(x), np.full(3, 7.0)))


# ---- Variables

def variables(_):
    v, w = ge.Variable(ge.asarray([1.0, 2.0])), ge.Variable(ge.asarray([1.0, 2.0]))

    @ge.jit
    def branch(x):
        if ge.sum(x) > 0:
            v.assign(v.value * 2)
            x = w.value
        return x
    check("read in a branch", near(branch(ge.asarray([3.0, 4.0])), [1, 2]))
    check("assigned in a branch", near(v.numpy(), [2, 4]))
    check("in the other", near(branch(ge.asarray([-3.0, -4.0])), [-3, -4]) and near(v.numpy(), [2, 4]))

    @ge.jit
    def loop(x):
        while ge.sum(x) > 0:
            v.assign(v.value + w.value)
            x = x - 1
        return x
    check("read in a loop", near(loop(ge.asarray([3.0, 3.0])), [0, 0]))
    check("assigned in a loop", near(v.numpy(), [5, 10]))


run_all([gradients, modules, refusals, exports, own_derivatives, in_bodies, wrong_derivatives, variables])
