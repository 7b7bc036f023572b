"""Derivatives of all kinds, the same source here and on jax. `xp` is the library of functions, `d` has
grad, value_and_grad, vjp, jvp, hessian, stop_gradient, custom_vjp, and `where` and `loop` of
gradient_cases.py; ours, or jax's. Each function answers arrays of its arguments, float64.

CASES: (function, arguments)."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import gradient_cases  # noqa: E402

xp = None
d = None


# ---- grad

def of_a_dict(x, w):
    def f(p):
        return xp.sum(xp.tanh(xp.matmul(p["w"], p["x"][0])) * p["x"][0])
    g = d.grad(f)({"w": w, "x": (x,)})
    return g["w"], g["x"][0]


def of_two(x, w):
    return d.grad(lambda a, b: xp.sum(xp.exp(-xp.matmul(b, a) ** 2)), (0, 1))(x, w)


def with_others(x, w):
    def f(a):
        y = xp.matmul(w, a)
        return xp.sum(y * y), (y, xp.mean(y))
    (value, others), g = d.value_and_grad(f, has_aux=True)(x)
    return value, *others, g


def stopped(x):
    return d.grad(lambda v: xp.sum(v * xp.sin(d.stop_gradient(v)) + v ** 2))(x)


def network(x, w):
    def f(p):
        h = xp.tanh(xp.matmul(p[0], x) + p[1])
        y = xp.matmul(p[2], h)
        y = y - xp.max(y)
        return xp.log(xp.sum(xp.exp(y))) - y[1]
    return d.grad(f)((w, x, xp.permute_dims(w, (1, 0)) * 0.5))


def unused(x, w):
    return d.grad(lambda a, b: xp.sum(a * a), (0, 1))(x, w)


def captured(x, w):
    y = xp.matmul(w, x)
    return d.grad(lambda v: xp.sum(v * y * y))(x), d.grad(lambda v: xp.sum(xp.matmul(w, v) * v))(x)


# ---- vjp

def pulled(x, w):
    y, pull = d.vjp(lambda a, b: xp.sin(xp.matmul(b, a)) * a, x, w)
    return y, *pull(xp.cos(y))


def pulled_pair(x):
    (a, b), pull = d.vjp(lambda v: (v * v, xp.sum(xp.exp(v))), x)
    return a, b, pull((a * 0.5, b * 2))[0]


def pulled_matrix(w):
    y, pull = d.vjp(lambda m: xp.matmul(m, xp.permute_dims(m, (1, 0))), w)
    return y, pull(y + 1)[0]


def pulled_twice(x):
    y, pull = d.vjp(lambda v: v ** 3 * xp.cos(v), x)
    return y, pull(xp.ones_like(x))[0], pull(x)[0]


def pull_of_gradient(x):
    g, pull = d.vjp(d.grad(lambda v: xp.sum(v ** 4 + xp.prod(v))), x)
    return g, pull(x * 0.3)[0]


# ---- jvp

def pushed(x, w):
    return d.jvp(lambda a, b: xp.tanh(xp.matmul(b, a)), (x, w), (x * x, w + 1))


def pushed_pair(x):
    (a, b), (da, db) = d.jvp(lambda v: (xp.cumulative_sum(v), xp.max(v) * v[0]), (x,), (x + 2,))
    return a, b, da, db


def pushed_gradient(x):
    return d.jvp(d.grad(lambda v: xp.sum(xp.sin(v) * xp.sum(v * v))), (x,), (xp.cos(x),))


def pushed_push(x):
    def first(v):
        return d.jvp(lambda u: xp.sum(u ** 5 / (1 + u * u)), (v,), (v * 0.5,))[1]
    return d.jvp(first, (x,), (xp.ones_like(x),))


def pushed_where(x):
    return d.jvp(lambda v: xp.where(v > 0, v ** 3, xp.exp(v)) * v[::-1], (x,), (xp.sin(x),))


def gradient_of_push(x):
    return d.grad(lambda v: d.jvp(lambda u: xp.sum(xp.exp(u) * u), (v,), (v * v,))[1])(x)


# ---- hessian, third order and more

def hessian_of_products(x):
    return d.hessian(lambda v: v[0] * v[1] ** 2 * xp.exp(v[2]) + xp.sum(v) ** 3)(x)


def hessian_of_softmax(x, w):
    def f(v):
        y = xp.matmul(w, v)
        return xp.log(xp.sum(xp.exp(y)))
    return d.hessian(f)(x)


def hessian_of_a_norm(x):
    return d.hessian(lambda v: xp.sqrt(xp.sum(v * v) + 0.1))(x)


def hessian_times(x, w):
    f = lambda v: xp.sum(xp.sin(xp.matmul(w, v)) ** 2)
    return d.grad(lambda v: xp.sum(d.grad(f)(v) * xp.cos(x)))(x), d.jvp(d.grad(f), (x,), (xp.cos(x),))[1]


def third(x, w):
    f = lambda v: xp.sum(xp.exp(xp.sin(xp.matmul(w, v)) * 0.3))
    second = lambda v: xp.sum(d.grad(f)(v) * xp.cos(v))
    return d.grad(lambda v: xp.sum(d.grad(second)(v) * v))(x)


def third_of_one(x):
    f = lambda v: xp.tanh(v) * v * v
    return d.grad(d.grad(d.grad(f)))(x[0]), d.grad(d.grad(d.grad(f)))(x[1])


def fourth_of_one(x):
    return d.grad(d.grad(d.grad(d.grad(lambda v: xp.log(1 + v * v) * v))))(x[2])


def hessian_of_gradient_norm(x):
    return d.hessian(lambda v: xp.sum(d.grad(lambda u: xp.sum(u ** 3 * xp.sin(u)))(v) ** 2))(x)


# ---- Loops

def steps(x):
    """Steps of gradients in a Loop, which is differentiated."""
    def after(v):
        return xp.sum(d.loop(6, lambda i, u: u - 0.05 * d.grad(lambda t: xp.sum((t * t - 2) ** 2))(u), v) ** 2)
    return d.value_and_grad(after)(x)


def steps_by_rate(x, w):
    """For the rate and for what the inner loss is made of."""
    def after(rate, m):
        inner = lambda t: xp.sum(xp.tanh(xp.matmul(m, t)) ** 2) + 0.1 * xp.sum(t * t)
        return xp.sum(xp.cos(d.loop(4, lambda i, u: u - rate * d.grad(inner)(u), x)))
    return d.value_and_grad(after, (0, 1))(x[0], w)


def steps_twice(x):
    def after(v):
        return xp.sum(d.loop(3, lambda i, u: u - 0.1 * d.grad(lambda t: xp.sum(xp.cos(t) * t))(u), v) ** 3)
    return d.hessian(after)(x)


def steps_with_momentum(x, w):
    def after(v):
        loss = lambda t: xp.sum(xp.sin(xp.matmul(w, t)) ** 2)

        def body(i, state):
            moved = 0.9 * state[1] - 0.05 * d.grad(loss)(state[0])
            return xp.stack([state[0] + moved, moved])
        return xp.sum(d.loop(5, body, xp.stack([v, v * 0]))[0] ** 2)
    return d.value_and_grad(after)(x)


def newton_in_a_loop(x):
    def root(a):
        return d.loop(6, lambda i, v: v - (v * v - a) / d.grad(lambda u: xp.sum(u * u - a))(v), a * 0.5 + 0.7)
    value, pull = d.vjp(root, xp.abs(x))
    return value, pull(xp.ones_like(x))[0]


def push_of_a_loop(x):
    return d.jvp(lambda v: d.loop(5, lambda i, u: xp.sin(u) + 0.1 * i * u, v), (x,), (x * x,))


def hessian_of_a_loop(x):
    return d.hessian(lambda v: xp.sum(d.loop(4, lambda i, u: xp.tanh(u * 1.1) + u * u * 0.1, v) ** 2))(x)


def loop_in_a_loop(x):
    inner = lambda i, u: d.loop(3, lambda k, t: xp.sin(t) + 0.01 * i * k, u)
    return d.value_and_grad(lambda v: xp.sum(d.loop(3, inner, v) ** 2))(x)


def branch_in_a_loop(x):
    def body(i, u):
        return d.where(xp.sum(u) > 0.5, lambda t: t * 0.8 - 0.1, lambda t: xp.cos(t) + t, u)
    f = lambda v: xp.sum(d.loop(5, body, v) * v)
    return *d.value_and_grad(f)(x), d.hessian(f)(x)


# ---- recursion

def power(v, n):
    if n == 0:
        return xp.ones_like(v)
    return v * power(xp.sin(v), n - 1)


def recursion(x):
    return d.value_and_grad(lambda v: xp.sum(power(v, d.count(5))))(x)


def recursion_twice(x):
    return d.grad(lambda u: xp.sum(d.grad(lambda v: xp.sum(power(v, d.count(3))))(u) ** 2))(x)


def tree(v, n):
    if n <= 0:
        return v * v
    return tree(xp.cos(v), n - 1) + tree(v * 0.5, n - 2)


def recursion_of_two(x, w):
    return d.value_and_grad(lambda v: xp.sum(tree(xp.matmul(w, v), d.count(4))))(x)


def push_of_recursion(x):
    return d.jvp(lambda v: power(v, d.count(4)), (x,), (x + 1,))


# ---- custom_vjp

def custom_halves(x):
    f = d.custom_vjp(lambda v: xp.sin(v) * v)
    f.defvjp(lambda v: (xp.sin(v) * v, v), lambda kept, ct: (ct * kept * 0.5,))
    return d.value_and_grad(lambda v: xp.sum(f(v) ** 2))(x)


def custom_of_two(x, w):
    f = d.custom_vjp(lambda a, b: xp.matmul(b, a))
    f.defvjp(lambda a, b: (xp.matmul(b, a), (a, b)),
             lambda kept, ct: (xp.matmul(xp.permute_dims(kept[1], (1, 0)), ct) + 1, kept[1] * 0.25))
    return d.value_and_grad(lambda a, b: xp.sum(xp.cos(f(a, b))), (0, 1))(x, w)


def custom_stable(x):
    f = d.custom_vjp(lambda v: xp.log1p(xp.exp(v)))
    f.defvjp(lambda v: (xp.log1p(xp.exp(v)), v), lambda v, ct: (ct / (1 + xp.exp(-v)),))
    g = d.grad(lambda v: xp.sum(f(v)))
    return g(x), d.grad(lambda v: xp.sum(g(v) * v))(x)


def custom_clipped(x):
    f = d.custom_vjp(lambda v: v)
    f.defvjp(lambda v: (v, ()), lambda kept, ct: (xp.clip(ct, -1.0, 1.0),))
    return d.grad(lambda v: xp.sum(f(v) ** 3))(x)


def custom_in_a_loop(x):
    f = d.custom_vjp(lambda v: xp.tanh(v))
    f.defvjp(lambda v: (xp.tanh(v), v), lambda v, ct: (ct * (1 - 0.3 * v * v),))
    return d.value_and_grad(lambda v: xp.sum(d.loop(4, lambda i, u: f(u) + 0.1 * i, v) ** 2))(x)


def custom_pair(x):
    f = d.custom_vjp(lambda p: (p["a"] * p["b"], xp.sum(p["a"])))
    f.defvjp(lambda p: ((p["a"] * p["b"], xp.sum(p["a"])), p),
             lambda p, ct: ({"a": ct[0] * p["b"] * 2, "b": ct[1] * xp.cos(p["b"])},))

    def total(v):
        y, s = f({"a": v, "b": v * v})
        return xp.sum(y) * s
    return d.value_and_grad(total)(x)


def custom_of_custom(x):
    inner = d.custom_vjp(lambda v: v * v)
    inner.defvjp(lambda v: (v * v, v), lambda v, ct: (ct * 3 * v,))
    outer = d.custom_vjp(lambda v: xp.sin(inner(v)))
    outer.defvjp(lambda v: (xp.sin(inner(v)), v), lambda v, ct: (ct * xp.cos(inner(v)) * v,))
    g = d.grad(lambda v: xp.sum(outer(v)))
    return g(x), d.grad(lambda v: xp.sum(g(v) ** 2))(x)


def custom_hessian(x):
    f = d.custom_vjp(lambda v: xp.exp(-v * v))
    f.defvjp(lambda v: (xp.exp(-v * v), v), lambda v, ct: (-2 * ct * v * f(v),))
    g = d.grad(lambda v: xp.sum(f(v) * v))
    return g(x), d.grad(lambda v: g(v)[0] + 2 * g(v)[1])(x)


VECTOR, OTHER, MATRIX = gradient_cases.VECTOR, gradient_cases.OTHER, gradient_cases.MATRIX
ONE = (stopped, pulled_pair, pulled_twice, pull_of_gradient, pushed_pair, pushed_gradient, pushed_push, pushed_where,
       gradient_of_push, hessian_of_products, hessian_of_a_norm, third_of_one, fourth_of_one,
       hessian_of_gradient_norm, steps, steps_twice, newton_in_a_loop, push_of_a_loop, hessian_of_a_loop,
       loop_in_a_loop, branch_in_a_loop, recursion, recursion_twice, push_of_recursion, custom_halves, custom_stable,
       custom_clipped, custom_in_a_loop, custom_pair, custom_of_custom, custom_hessian)
TWO = (of_a_dict, of_two, with_others, network, unused, captured, pulled, pushed, hessian_of_softmax, hessian_times,
       third, steps_by_rate, steps_with_momentum, recursion_of_two, custom_of_two)
CASES = [*[(f, (v,)) for f in ONE for v in (VECTOR, OTHER)], *[(f, (v, MATRIX)) for f in TWO for v in (VECTOR, OTHER)],
         (pulled_matrix, (MATRIX,))]


def orders(function, args):
    """Of a function of gradient_cases.py: forward, and for one argument the second and third order."""
    tangents = tuple(xp.cos(a) for a in args)
    found = d.jvp(function, args, tangents)
    if len(args) > 1:
        return found
    second = lambda v: xp.sum(d.grad(function)(v) * xp.cos(args[0]))
    return *found, d.hessian(function)(args[0]), d.grad(lambda v: xp.sum(d.grad(second)(v) * v))(args[0])
