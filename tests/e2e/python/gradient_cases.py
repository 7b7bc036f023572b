"""Functions whose gradients are known: each answers one number of its arguments, float64 arrays. `xp`
is the library of functions: ours, or jax.numpy.

CASES: (function, arguments). What jax (0.8) has for them stands in gradient_values.json.
"""
import numpy as np

xp = None
where = None  # a branch by a tensor, as the library does it
loop = None  # loop(count, body, first): `count` rounds


def square(x):
    return xp.sum(x * x)


def polynomial(x):
    return xp.sum(x ** 3 - 2 * x ** 2 + 5 * x)


def quotient(x):
    return xp.sum(x / (1 + x * x))


def exponential(x):
    return xp.sum(xp.exp(-x) * xp.sin(x))


def logarithm(x):
    return xp.sum(xp.log(1 + x * x))


def hyperbolic(x):
    return xp.sum(xp.tanh(x) * xp.cosh(x))


def roots(x):
    return xp.sum(xp.sqrt(1 + xp.square(x)))


def matrix(x, w):
    return xp.sum(xp.tanh(xp.matmul(w, x)))


def quadratic_form(x, w):
    return xp.sum(x * xp.matmul(w, x))


def softmax_loss(x):
    shifted = x - xp.max(x)
    return xp.log(xp.sum(xp.exp(shifted))) - shifted[1]


def norm(x):
    return xp.sqrt(xp.sum(x * x))


def mean_and_variance(x):
    m = xp.mean(x)
    return xp.mean((x - m) ** 2) / (1 + m * m)


def products(x):
    return xp.prod(x)


def reshaped(x, w):
    y = xp.reshape(w, (-1,))
    return xp.sum(y[:3] * x) + xp.sum(y[3:6] * x * x)


def transposed(x, w):
    return xp.sum(xp.matmul(xp.permute_dims(w, (1, 0)), x) ** 2)


def concatenated(x):
    y = xp.concat([x, x * x, xp.sin(x)])
    return xp.sum(y * y[::-1])


def stacked(x):
    return xp.sum(xp.stack([x, x ** 2], axis=1) ** 2)


def broadcast(x, w):
    return xp.sum(xp.exp(w * 0.1 + x))


def chosen(x):
    return xp.sum(xp.where(x > 0.5, x * x, xp.sin(x)))


def greatest(x):
    return xp.max(x) * xp.min(x)


def clipped(x):
    return xp.sum(xp.clip(x, -0.4, 0.9) ** 2)


def indexed(x):
    return x[0] * x[1] - x[2] ** 2 * x[-1]


def branch(x):
    return where(xp.sum(x) > 0, lambda v: xp.sum(v ** 3), lambda v: xp.sum(xp.cos(v)), x)


def rounds(x):
    return xp.sum(loop(5, lambda i, v: xp.sin(v) + v * v * 0.1, x))


def rounds_of_index(x):
    return xp.sum(loop(4, lambda i, v: v * (1 + 0.1 * i) + 0.01 * v * v, x))


def composed(x):
    def inner(v):
        return xp.tanh(v * 2)
    return xp.sum(inner(inner(inner(x))) * x)


def cumulated(x):
    return xp.sum(xp.cumulative_sum(x) ** 2)


def sorted_(x):
    return xp.sum(xp.sort(x) * xp.asarray([1.0, 2.0, 3.0]))


def layer(x, w):
    y = xp.matmul(w, x)
    m = xp.mean(y)
    v = xp.mean((y - m) ** 2)
    return xp.sum(((y - m) / xp.sqrt(v + 1e-5)) ** 3)


def attention(x, w):
    q = w * x
    s = xp.matmul(q, xp.permute_dims(q, (1, 0)))
    e = xp.exp(s - xp.max(s, axis=-1, keepdims=True))
    p = e / xp.sum(e, axis=-1, keepdims=True)
    return xp.sum(xp.matmul(p, q) ** 2)


VECTOR = np.array([0.3, -1.2, 2.1])
OTHER = np.array([-0.7, 0.8, 0.4])
MATRIX = np.array([[0.5, -1.0, 0.2], [1.5, 0.3, -0.8], [0.1, 0.9, 1.1]])
ONE = (square, polynomial, quotient, exponential, logarithm, hyperbolic, roots, softmax_loss, norm,
       mean_and_variance, products, concatenated, stacked, chosen, greatest, clipped, indexed, branch, rounds,
       rounds_of_index, composed, cumulated, sorted_)
TWO = (matrix, quadratic_form, reshaped, transposed, broadcast, layer, attention)
CASES = [*[(f, (VECTOR,)) for f in ONE], *[(f, (OTHER,)) for f in (branch, rounds, square)],
         *[(f, (VECTOR, MATRIX)) for f in TWO]]
