"""Operators in numpy, and of plugins: at once, under jit, in a Loop, in branches, in fit and with
gradients they answer what numpy does.

Example: python tests/e2e/python/custom_op/custom_op_values.py --build build/release --scratch FOLDER
"""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from custom_op_cases import CASES, built  # noqa: E402
from python_checks import check, run_all  # noqa: E402

import graphengine as ge  # noqa: E402
from graphengine import nn  # noqa: E402

SEED = 60


def rows(n, width=4):
    return np.random.default_rng(SEED + n).uniform(-2, 2, (n, width))


def close(name, got, wanted, tolerance=1e-12):
    got, wanted = np.asarray(got), np.asarray(wanted)
    good = got.shape == wanted.shape and got.dtype == wanted.dtype
    check(f"{name}: {got}, wanted {wanted}", good and np.allclose(got, wanted, rtol=tolerance, atol=tolerance))


def numeric(f, x, dy, h=1e-6):
    """The gradient of sum(f(x) * dy) by central differences."""
    out = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        step = np.zeros_like(x)
        step[i] = h
        out[i] = ((f(x + step) - f(x - step)) * dy).sum() / (2 * h)
    return out


def everywhere(name, op, forward, back, keeps_shape, tolerance=1e-12, dtype=np.float64):
    """The operator at once, in graphs, with gradients and in fit."""
    x = rows(5).astype(dtype)
    close(f"{name} at once", op(ge.asarray(x)), forward(x), tolerance)
    jitted = ge.jit(lambda x: op(x) * 2)
    for n in (5, 3, 7):
        close(f"{name} of {n} rows", jitted(ge.asarray(rows(n).astype(dtype))), forward(rows(n).astype(dtype)) * 2,
              tolerance)
    check(f"{name}: programs {jitted.traces()}", jitted.traces() == 2)
    dy = np.cos(np.arange(forward(x).size, dtype=dtype)).reshape(forward(x).shape)
    wanted = back(x, forward(x), dy)
    if dtype == np.float64:
        close(f"{name}: its gradient by differences", wanted, numeric(forward, x, dy), 1e-5)
    gradient = ge.grad(lambda x: ge.sum(op(x) * ge.asarray(dy)))(ge.asarray(x))
    close(f"{name}: its gradient", gradient, wanted, tolerance)
    if keeps_shape:
        loops(name, op, forward, back, dtype, tolerance)
    branches(name, op, forward, dtype, tolerance)
    fits(name, op, forward, back)


def loops(name, op, forward, back, dtype, tolerance):
    @ge.jit
    def loop(x, n):
        for _ in range(n):
            x = op(x) * 0.5 + 1
        return x

    x = wanted = rows(3).astype(dtype)
    values = []
    for _ in range(4):
        values.append(wanted)
        wanted = forward(wanted) * 0.5 + 1
    close(f"{name} in a Loop", loop(ge.asarray(x), ge.asarray(4)), wanted, tolerance)
    check(f"{name} in a Loop is one", " = Loop(" in loop.dump())
    gradient = np.ones_like(x)
    for value in reversed(values):
        gradient = back(value, forward(value), gradient * 0.5)
    made = ge.grad(lambda x: ge.sum(loop(x, ge.asarray(4))))(ge.asarray(x))
    close(f"{name}: its gradient through a Loop", made, gradient, max(tolerance, 1e-10))


def branches(name, op, forward, dtype, tolerance):
    @ge.jit
    def branch(x):
        if ge.sum(x) > 0:
            y = op(x)
        else:
            y = op(-x) * 3
        return y

    for sign in (1, -1):
        x = sign * np.abs(rows(3)).astype(dtype)
        close(f"{name} in a branch", branch(ge.asarray(x)), forward(x) if sign > 0 else forward(-x) * 3, tolerance)


class Net(nn.Module):
    def __init__(self, op, w):
        super().__init__()
        self.op, self.w = op, ge.Variable(w)

    def __call__(self, x):
        return self.op(ge.matmul(x, self.w.value))


def fits(name, op, forward, back):
    """Three steps of fit are those of numpy, in float32."""
    w = (rows(4) * 0.5).astype(np.float32)
    batches = []
    for i in range(3):
        x, other = rows(8 + i)[:8].astype(np.float32), rows(20 + i)[:8].astype(np.float32)
        batches.append((x, forward(other)))
    net = Net(op, ge.asarray(w))
    model = ge.Model(net, lambda y, t: ge.sum((y - t) ** 2) * 0.01, ge.optim.SGD(net, 0.002))
    told = model.fit(batches)[-1]["loss"]
    losses, first = [], w
    for x, t in batches:
        z = x @ w
        y = forward(z)
        losses.append(((y - t) ** 2).sum() * 0.01)
        w = w - np.float32(0.002) * (x.T @ back(z, y, np.float32(0.02) * (y - t))).astype(np.float32)
    check(f"{name}: fit moves the weights by {np.abs(w - first).max()}", np.abs(w - first).max() > 1e-4)
    close(f"{name}: what fit learned", net.w.numpy(), w, 2e-6)
    close(f"{name}: the loss of fit", np.float64(told), np.float64(np.mean(losses)), 1e-4)


def numpys(_):
    for case in CASES:
        everywhere(case.name, case.op, case.forward, case.back, case.keeps_shape)


def plugins(args):
    """Operators of plugins, made of others or with kernels of their own."""
    sample = built(args.scratch, "sdk/samples/op/op.c")
    acme = built(args.scratch, "tests/plugins/ops/decomposed.c")
    kernels = built(args.scratch, "tests/plugins/ops/kernels.c")

    def swish(x):
        return x / (1 + np.exp(-2 * x))

    def swish_back(x, y, dy):
        s = 1 / (1 + np.exp(-2 * x))
        return dy * (s + 2 * x * s * (1 - s))

    def mish(x):
        return x * np.tanh(np.logaddexp(x, 0))

    def mish_back(x, y, dy):
        t = np.tanh(np.logaddexp(x, 0))
        return dy * (t + x * (1 - t * t) / (1 + np.exp(-x)))

    centres = rows(2).astype(np.float32)

    def distances(x):
        return np.sqrt(((x[:, None] - centres) ** 2).sum(-1))

    def distances_back(x, y, dy):
        return (((x[:, None] - centres) / y[..., None]) * dy[..., None]).sum(1)

    everywhere("Swish", lambda x: sample.Swish(x, beta=2.0), swish, swish_back, True, 1e-9)
    everywhere("Mish", acme.Mish, mish, mish_back, True, 1e-9)
    everywhere("Distances", lambda x: kernels.Distances(x, centres), distances, distances_back, False, 1e-4, np.float32)


def several(_):
    """Several inputs and results, of several types, and none."""
    @ge.custom_op(outputs=lambda x, k: (ge.Spec(x.shape, x.dtype), ge.Spec((), ge.int64)))
    def split(x, k):
        return np.where(x > k, x, 0), np.sum(x > k)

    x = rows(3)
    for run in (split, ge.jit(split)):
        above, count = run(ge.asarray(x), ge.asarray(0.5))
        close("above", above, np.where(x > 0.5, x, 0))
        close("count", count, np.int64((x > 0.5).sum()))
    numbers = ge.custom_op(lambda x, *more: x + sum(more), name="several.more")
    close("any number of inputs", ge.jit(lambda x: numbers(x, x, 1.0))(ge.asarray(x)), x + x + 1)
    made = ge.jit(lambda x: split(x, 0.5)[1])(ge.asarray(x))
    close("a result that nobody reads", made, np.int64((x > 0.5).sum()))

    @ge.custom_op(outputs=ge.Spec(2, 3))
    def constant():
        return np.full((2, 3), 7, np.float32)

    close("no input", ge.jit(lambda x: x + constant())(ge.zeros((2, 3))), np.full((2, 3), 7, np.float32))

    @ge.custom_op(outputs=[ge.Spec(1)])
    def alone():
        return [np.ones(1, np.float32)]

    check("a list of one is a tuple of one", len(alone()) == 1 and len(ge.jit(lambda x: alone())(ge.ones(1))) == 1)
    check("it has the function's words", split.__name__ == "split" and "custom_op" in repr(split))


def sizes(_):
    """Sizes that the result decides, arithmetic on free ones, and numbers asked of them."""
    @ge.custom_op(outputs=lambda x: (ge.Spec((None,), x.dtype), ge.Spec((None,), ge.int64)))
    def distinct(x):
        return np.unique(x, return_counts=True)

    x = np.array([3, 1, 3, 2, 1, 3], np.float32)
    for run in (distinct, ge.jit(distinct), ge.jit(lambda x: tuple(t * 1 for t in distinct(x)))):
        values, counts = run(ge.asarray(x))
        close("values", values, np.array([1, 2, 3], np.float32))
        close("counts", counts, np.array([2, 1, 3]))

    @ge.custom_op(outputs=lambda x, y: ge.Spec((x.shape[0] + y.shape[0], (x.shape[1] * 2 - 1) % 7), x.dtype))
    def strange(x, y):
        return np.ones((len(x) + len(y), (x.shape[1] * 2 - 1) % 7), x.dtype)

    jitted = ge.jit(strange)
    for n in (2, 3, 5):
        check(f"sizes of {n}", tuple(jitted(ge.ones((n, n + 1)), ge.ones((4, 1))).shape) == (n + 4, (2 * n + 1) % 7))
    check(f"free sizes stay free: {jitted.traces()}", jitted.traces() == 2)

    @ge.custom_op(outputs=lambda x: ge.Spec((3 if x.shape[0] > 4 else 2,), x.dtype))
    def choosing(x):
        return x[: 3 if len(x) > 4 else 2]

    jitted = ge.jit(lambda x: choosing(x) + 0)
    for n in (4, 5, 6):
        check(f"a number asked of {n}", len(jitted(ge.ones(n))) == (3 if n > 4 else 2))
    check(f"a number asked is a program each: {jitted.traces()}", jitted.traces() == 3)


def orders(_):
    """The second derivative, of rules that have rules, and jvp."""
    op = ge.custom_op(np.tanh, name="orders.tanh")
    back = ge.custom_op(lambda y, dy: dy * (1 - y * y), outputs=lambda y, dy: ge.Spec(y.shape, y.dtype),
                        name="orders.tanh_back")
    op.gradient(lambda x, y, dy: back(y, dy))
    back.gradient(lambda y, dy, r, ct: (-2 * ct * dy * y, ct * (1 - y * y)))
    x = rows(1)[0]
    t = np.tanh(x)
    close("hessian", ge.hessian(lambda x: ge.sum(op(x)))(ge.asarray(x)), np.diag(-2 * t * (1 - t * t)))
    _, pushed = ge.jvp(op, (ge.asarray(x),), (ge.asarray(x),))
    close("jvp", pushed, x * (1 - t * t))
    with ge.eager():
        close("a gradient at once", ge.grad(lambda x: ge.sum(op(x) * 2))(ge.asarray(x)), 2 * (1 - t * t))
    stopped = ge.grad(lambda x: ge.sum(ge.stop_gradient(CASES[0].op(x)) * x))(ge.asarray(x))
    close("stop_gradient", stopped, np.clip(x, -0.5, 0.5))


def others(_):
    """With functions that bring their own derivative, and with recursion."""
    square = ge.custom_op(np.square, name="others.square")

    @ge.custom_vjp
    def chosen(x):
        return square(x)

    def back(x, dy):
        if ge.sum(x) > 0:
            made = dy * square(x)
        else:
            made = dy * 0
        return (made,)

    chosen.defvjp(lambda x: (square(x), x), back)
    for sign in (1, -1):
        x = sign * np.abs(rows(1)[0])
        close("custom_vjp", ge.grad(lambda x: ge.sum(chosen(x)))(ge.asarray(x)), x * x if sign > 0 else 0 * x)

    @ge.jit
    def power(x, n):
        if n <= 0:
            return x
        return power(square(x), n - 1)

    close("recursion", power(ge.asarray(np.array([1.5, 0.5])), ge.asarray(3)), np.array([1.5, 0.5]) ** 8)


def inside(_):
    """An operator that calls ge's functions and functions under jit: runs within runs."""
    inner = ge.jit(lambda x: ge.tanh(x) + 1)

    @ge.custom_op
    def outer(x):
        twice = ge.asarray(x) * 2
        return inner(twice) + CASES[0].op(x)

    x = rows(2)
    wanted = np.tanh(2 * x) + 1 + np.clip(x, -0.5, 0.5)
    close("at once", outer(ge.asarray(x)), wanted, 1e-9)
    close("in a graph", ge.jit(lambda x: outer(x) * 1)(ge.asarray(x)), wanted, 1e-9)

    @ge.custom_op
    def tracing(x):
        return ge.jit(lambda x: outer(x) - 1)(ge.asarray(x))
    close("a trace within a run", ge.jit(lambda x: tracing(x) * 1)(ge.asarray(x)), wanted - 1, 1e-9)


def memory(_):
    """Arrays are read-only, over the engine's memory where they lie, and numbers those of numpy: small
    ones are not flushed to zero."""
    seen = []

    @ge.custom_op
    def look(x):
        seen.append((x.flags.writeable, x.flags.owndata, x.flags.c_contiguous, x.dtype))
        return x * np.float32(0.5)

    x = ge.asarray(np.full(4, 2.0 ** -127, np.float32))
    for run in (look, ge.jit(look)):
        close("half of a denormal number", run(x), np.full(4, 2.0 ** -128, np.float32), 0)
    check(f"arrays: {seen}", seen == [(False, False, True, np.float32)] * 2)

    @ge.custom_op(outputs=lambda x: (ge.Spec(x.shape, x.dtype),) * 2)
    def views(x):
        return x[::-1], np.broadcast_to(x[:1], x.shape)

    x = np.arange(4, dtype=np.float32)
    for run in (views, ge.jit(views)):
        a, b = run(ge.asarray(x))
        close("a view backwards", a, x[::-1])
        close("a view of one", b, np.zeros(4, np.float32))
    logarithm = ge.jit(ge.custom_op(np.log, name="memory.log"))
    with np.errstate(all="raise"):
        try:
            logarithm(ge.asarray([-1.0]))
            check("numpy.errstate holds in a run of its thread", False)
        except FloatingPointError as error:
            check(f"numpy.errstate holds in a run of its thread: {error}", "invalid value" in str(error))
    with np.errstate(all="ignore"):
        check("and is that of each call", np.isnan(logarithm(ge.asarray([-1.0])).numpy()).all())
    same = ge.custom_op(lambda x: x, name="memory.same")
    again = ge.jit(lambda x: same(x))
    for dtype in ("bool", "int8", "uint64", "float16", "complex64", "complex128"):
        x = np.array([[0, 1], [2, 3]], dtype)
        close(dtype, again(ge.asarray(x)), x)
    for shape in ((), (0,), (2, 0, 3), (1, 1, 1, 1, 1)):
        x = np.ones(shape, np.float32)
        close(f"shape {shape}", again(ge.asarray(x)), x)


def files(args):
    """A saved graph is loaded where its functions are."""
    op = ge.custom_op(lambda x: x + 1, name="files.increased")
    for ending in ("gt", "gepb"):
        path = args.scratch / f"saved.{ending}"
        ge.export(lambda x: op(x) * 2, path, x=ge.Spec("n", 3))
        with ge.Session(path) as session:
            close(ending, session.run(np.ones((2, 3), np.float32))["output"], np.full((2, 3), 4, np.float32))
    square = ge.custom_op(np.square, name="files.square")
    square.gradient(lambda x, y, dy: 2 * x * dy)
    path = args.scratch / "square.gt"
    ge.export(lambda x: ge.sum(square(x)), path, x=ge.Spec("n"))
    with ge.Session(path, plugins="grad", passes="grad:of=output;wrt=x") as session:
        x = np.arange(4, dtype=np.float32)
        close("a gradient of a loaded graph", session.run(x, entry="grad")["grad.x"], 2 * x)
    path = args.scratch / "saved.gepb"
    with ge.Session(path) as session:
        session.run(np.ones((2, 3), np.float32))
        session.save_compiled(args.scratch / "saved.gecap")
    with ge.Session(args.scratch / "saved.gecap") as session:
        check("functions of a compiled file", session.entries == ["main"])
        close("gecap", session.run(np.ones((2, 3), np.float32))["output"], np.full((2, 3), 4, np.float32))


if __name__ == "__main__":
    print(f"seed {SEED}")
    run_all([numpys, plugins, several, sizes, orders, others, inside, memory, files])
