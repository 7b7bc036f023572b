#!/usr/bin/env python3
"""grad, vjp, jvp, hessian and jacobian of functions in float64, against central differences: value and
gradient, the second and third order, a step of gradients in a Loop that is differentiated.

Example: python tests/e2e/python/python_gradients.py --build build/release --scratch FOLDER
"""
import gradient_cases
import numpy as np
from python_checks import check, run_all

import graphengine as ge


def where(test, then, orelse, x):
    return then(x) if test else orelse(x)


def loop(count, body, first):
    out = first
    for i in range(ge.asarray(count)):
        out = body(ge.astype(i, ge.float64), out)
    return out


gradient_cases.xp, gradient_cases.where, gradient_cases.loop = ge, where, loop


def number(function, args):
    return float(function(*[ge.asarray(a) for a in args]))


def differences(function, args, i, step=1e-5):
    """The gradient for argument i by central differences."""
    out = np.zeros_like(args[i])
    for k in np.ndindex(args[i].shape):
        values = []
        for sign in (1, -1):
            moved = [a.copy() for a in args]
            moved[i][k] += sign * step
            values.append(number(function, moved))
        out[k] = (values[0] - values[1]) / (2 * step)
    return out


def near(got, wanted, tolerance=1e-6):
    got = np.asarray(got.numpy() if hasattr(got, "numpy") else got)
    return got.shape == np.shape(wanted) and np.allclose(got, wanted, rtol=tolerance, atol=tolerance)


def gradients(_):
    for function, args in gradient_cases.CASES:
        given = [ge.asarray(a) for a in args]
        run = ge.jit(function)
        value, found = ge.value_and_grad(function, wrt=tuple(range(len(args))))(*given)
        name = f"{function.__name__} at {args[0]}"
        check(f"value of {name}", near(value, number(run, args), 1e-12))
        for i, g in enumerate(found):
            wanted = differences(run, args, i)
            check(f"gradient {i} of {name}: {g}, wanted {wanted}", near(g, wanted))


def orders(_):
    def f(x):
        return ge.sum(ge.sin(x) * x * x)
    x = np.array([0.4, -1.1, 0.9])
    t = ge.asarray(x)
    check("second order", near(ge.grad(lambda v: ge.sum(ge.grad(f)(v)))(t),
                               -np.sin(x) * x * x + 4 * x * np.cos(x) + 2 * np.sin(x)))
    third = ge.grad(lambda v: ge.sum(ge.grad(lambda u: ge.sum(ge.grad(f)(u)))(v)))
    check("third order", near(third(t), -np.cos(x) * x * x - 6 * x * np.sin(x) + 6 * np.cos(x)))
    check("hessian", near(ge.hessian(f)(t), np.diag(-np.sin(x) * x * x + 4 * x * np.cos(x) + 2 * np.sin(x))))
    mixed = ge.hessian(lambda v: v[0] * v[0] * v[1] + v[1] * v[2])(t)
    check("hessian of products", near(mixed, [[2 * x[1], 2 * x[0], 0], [2 * x[0], 0, 1], [0, 1, 0]]))
    jacobian = ge.jacobian(lambda v: ge.stack([v[0] * v[1], v[2] * v[2]]))(t)
    check("jacobian", near(jacobian, [[x[1], x[0], 0], [0, 0, 2 * x[2]]]))


def directions(_):
    rng = np.random.default_rng(5)
    for function, args in gradient_cases.CASES[:20]:
        given = tuple(ge.asarray(a) for a in args)
        tangents = [rng.standard_normal(a.shape) for a in args]
        value, derivative = ge.jvp(function, given, tuple(ge.asarray(t) for t in tangents))
        _, pull = ge.vjp(function, *given)
        back = pull(ge.asarray(1.0, dtype=ge.float64))
        wanted = sum(float((b.numpy() * t).sum()) for b, t in zip(back, tangents))
        check(f"jvp of {function.__name__}: {derivative}, wanted {wanted}", near(derivative, wanted, 1e-9))
        check(f"value of jvp of {function.__name__}", near(value, number(ge.jit(function), args), 1e-12))


def structures(_):
    def f(p, scale):
        return ge.sum(p["w"] * p["b"][0]) * scale
    p = {"w": ge.asarray([1.0, 2.0]), "b": (ge.asarray([3.0, 4.0]),)}
    g = ge.grad(f)(p, 2.0)
    check("gradient of a dict", near(g["w"], [6, 8]) and near(g["b"][0], [2, 4]))
    (value, others), g = ge.value_and_grad(lambda x: (ge.sum(x * x), x + 1), has_aux=True)(ge.asarray([1.0, 2.0]))
    check("has_aux", near(value, 5.0) and near(others, [2, 3]) and near(g, [2, 4]))
    stopped = ge.grad(lambda x: ge.sum(x * ge.stop_gradient(x)))(ge.asarray([1.0, 2.0]))
    check("stop_gradient", near(stopped, [1, 2]))
    weight = ge.Variable(np.array([1.0, 2.0]), "weight")
    g = ge.grad(lambda x: ge.sum(weight.value * weight.value * x), wrt=weight)(ge.asarray([3.0, 4.0], dtype=ge.float64))
    check("gradient of a Variable", near(g, [6, 16]))


def step_in_a_loop(_):
    """Steps of gradients in a Loop, and the gradient of where they lead for where they begin."""
    def target(x):
        return ge.sum((x - 3) ** 2)

    def after(x):
        for _ in range(ge.asarray(3)):
            x = x - 0.1 * ge.grad(target)(x)
        return ge.sum(x * x)
    x = np.array([1.0, 5.0])
    end = x - 3
    for _ in range(3):
        end = end - 0.2 * end
    value, g = ge.value_and_grad(after)(ge.asarray(x))
    check("value", near(value, ((end + 3) ** 2).sum(), 1e-12))
    check("gradient", near(g, 2 * (end + 3) * 0.8 ** 3, 1e-12))


def refusals(_):
    x = ge.asarray([1.0, 2.0])
    for name, call, words in (
            ("many", lambda: ge.grad(lambda v: v * 2)(x), "wanted one number"),
            ("integers", lambda: ge.grad(lambda v: ge.sum(v) * 1.5)(ge.asarray([1, 2])), "wanted floats"),
            ("argument", lambda: ge.grad(lambda v: ge.sum(v), wrt=3)(x), "wrt is 3"),
            ("nothing", lambda: ge.grad(lambda v, k: ge.sum(v), wrt=1)(x, "text"), "holds no tensor"),
            ("wrt", lambda: ge.grad(lambda v: ge.sum(v), wrt="x"), "wrt is 'x'"),
            ("function", lambda: ge.grad(3), "wanted a function")):
        try:
            call()
            check(f"{name} was not refused", False)
        except TypeError as error:
            check(f"{name}: {error}", words in str(error))


def at_once(_):
    """Under ge.eager() the same, and the function sees numbers."""
    for function, args in gradient_cases.CASES:
        given = [ge.asarray(a) for a in args]
        wrt = tuple(range(len(args)))
        value, found = ge.value_and_grad(function, wrt=wrt)(*given)
        with ge.eager():
            now, gradients_now = ge.value_and_grad(function, wrt=wrt)(*given)
        name = f"{function.__name__} at {args[0]} at once"
        check(f"value of {name}: {now}, wanted {value}", near(now, value.numpy(), 1e-12))
        for a, b in zip(gradients_now, found):
            check(f"gradient of {name}: {a}, wanted {b}", near(a, b.numpy(), 1e-12))
    seen, total = [], ge.Variable(ge.asarray(1.0))

    def looks(x):
        seen.append((float(x[0]), bool(x[1] > 1), f"{x[0]:.2f}", str(x), x.tolist(), np.asarray(x).sum()))
        total.assign(total.value * x[0])
        return ge.sum(x[x > 1]) * total.value
    x = ge.asarray([0.5, 2.0])
    with ge.eager():
        check("what it assigned", near(ge.grad(looks)(x), [2, 0.5], 1e-6) and near(total.numpy(), 0.5))
        check(f"what it saw: {seen}", seen == [(0.5, True, "0.50", "[0.5 2. ]", [0.5, 2.0], 2.5)])
        cube = lambda v: ge.sum(v ** 3)
        check("second order at once", near(ge.hessian(cube)(x), [[3, 0], [0, 12]], 1e-5))
        check("forward at once", near(ge.jvp(cube, (x,), (x,))[1], 3 * 0.125 + 3 * 8, 1e-5))
        check("back at once", near(ge.vjp(cube, x)[1](ge.asarray(2.0))[0], [1.5, 24], 1e-5))


if __name__ == "__main__":
    run_all([gradients, orders, directions, structures, step_in_a_loop, refusals, at_once])
