"""Gradients of what has none."""
from wrong import GRAPH, PLAIN, wrong

import graphengine as ge


def ones(*shape):
    return ge.ones(shape)


@wrong(NotImplementedError, "RoiAlign", "no gradient", how=PLAIN)
def no_rule():
    regions = ones(1, 4)

    def loss(v):
        parts = ge.ops.RoiAlign(v, regions, ge.asarray([0]))
        #~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
        return ge.sum(parts)
    return ge.grad(loss)(ones(1, 1, 4, 4))
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "one number", "ge.sum()", args=lambda: (ones(3),))
def of_many(x):
    return ge.grad(lambda v: v * v)(x)
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "int64", "floats", args=lambda: (ge.asarray([1, 2, 3]),), good=lambda: (ones(3),))
def of_integers(x):
    return ge.grad(lambda v: ge.sum(v * 1.0))(x)
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "wrt is 1", "1 arguments", args=lambda: (ones(3),))
def no_argument(x):
    return ge.grad(lambda v: ge.sum(v), wrt=1)(x)
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "wrt is 'x'", "number", args=lambda: (ones(3),))
def by_name(x):
    return ge.grad(lambda v: ge.sum(v), wrt="x")(x)
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "ndarray", "function", how=PLAIN)
def of_no_function():
    return ge.grad(ge.ones((3,)).numpy())
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "(value, others)", args=lambda: (ones(3),))
def no_aux(x):
    return ge.grad(lambda v: ge.sum(v), has_aux=True)(x)
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "cotangent", "structure", args=lambda: (ones(3),))
def cotangent(x):
    value, back = ge.vjp(lambda v: (v, v * 2), x)
    return back(value[0])
    #      ^^^^^^^^^^^^^^


@wrong(ValueError, "[3]", "[2]", args=lambda: (ones(3),))
def cotangent_of_another_shape(x):
    _, back = ge.vjp(lambda v: v * 2, x)
    return back(ones(2))
    #      ^^^^^^^^^^^^^


@wrong(TypeError, "2 tangents", args=lambda: (ones(3),))
def tangents(x):
    return ge.jvp(lambda v: v * 2, (x,), (x, x))
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "[3]", "[2]", args=lambda: (ones(3), ones(2)), good=lambda: (ones(3), ones(3)))
def shape_in_loss(w, x):
    def loss(v):
        return ge.sum((v - x) ** 2)
        #              ^^^^^
    return ge.grad(loss)(w)


@wrong(TypeError, "'y'", "one branch", how=GRAPH, args=lambda: (ones(3),))
def branch_in_loss(w):
    def loss(v):
        if ge.sum(v) > 0:
            y = v * 2
        return ge.sum(y)
        #      ^^^^^^^^^
    return ge.grad(loss)(w)


@wrong(TypeError, "float", "ge.eager()", how=GRAPH, args=lambda: (ones(3),))
def number_in_loss(w):
    def loss(v):
        return ge.sum(v) * float(v[0])
        #                  ^^^^^^^^^^^
    return ge.grad(loss)(w)
