"""Tensors of a trace that are asked for their numbers."""
import math

import numpy as np
from wrong import JIT, wrong

import graphengine as ge


def ones(*shape):
    return ge.ones(shape)


@wrong(TypeError, "float", "ge.eager()", how=JIT, args=lambda: (ones(3),))
def as_float(x):
    return x * float(ge.sum(x))
    #          ^^^^^^^^^^^^^^^^


@wrong(TypeError, "int", "ge.eager()", how=JIT, args=lambda: (ones(3),))
def as_int(x):
    return x * int(x[0])
    #          ^^^^^^^^^


@wrong(TypeError, "bool", "ge.eager()", how=JIT, args=lambda: (ones(3),))
def as_bool(x):
    return x * bool(x[0])
    #          ^^^^^^^^^^


@wrong(TypeError, "float", "ge.eager()", how=JIT, args=lambda: (ones(3),))
def item(x):
    return x * x[0].item()
    #          ^^^^^^^^^^^


@wrong(TypeError, "index", "ge.eager()", how=JIT, args=lambda: (ge.asarray(1), ones(3)))
def list_by_tensor(i, x):
    layers = [x, x + 1, x + 2]
    return layers[i]
    #      ^^^^^^^^^


@wrong(TypeError, "array", "ge.eager()", how=JIT, args=lambda: (ones(3),))
def numpy_call(x):
    return np.sin(np.asarray(x))
    #             ^^^^^^^^^^^^^


@wrong(TypeError, "array", "ge.eager()", how=JIT, args=lambda: (ones(3),))
def to_numpy(x):
    return ge.asarray(x.numpy() + 1)
    #                 ^^^^^^^^^


@wrong(TypeError, "float", "ge.eager()", how=JIT, args=lambda: (ones(3),))
def math_call(x):
    return x * math.sqrt(ge.sum(x))
    #          ^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "ge.eager()", how=JIT, args=lambda: (ones(3),))
def format_number(x):
    name = f"{ge.sum(x):.2f}"
    #      ^^^^^^^^^^^^^^^^^^
    return x, name


@wrong(TypeError, "ge.eager()", how=JIT, args=lambda: (ones(3),))
def to_list(x):
    return x * x.tolist()[0]
    #          ^^^^^^^^^^


@wrong(TypeError, "axis=", "wanted int", how=JIT, args=lambda: (ge.asarray(0),))
def size_of_tensor(n):
    return ge.ops.Concat(ge.ones((2,)), axis=n)
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "index", "ge.eager()", how=JIT, args=lambda: (ge.asarray(2), ones(3)))
def times_of_list(n, x):
    return ge.stack([x] * n)
    #               ^^^^^^^


@wrong(TypeError, "len()", "reshape", args=lambda: (ge.sum(ones(3)),))
def len_of_scalar(x):
    return x * len(x)
    #          ^^^^^^


@wrong(ValueError, "element", how="eager", args=lambda: (ones(3),))
def float_of_array(x):
    return float(x)
    #      ^^^^^^^^


@wrong(TypeError, "del", "assignment", args=lambda: (ones(3),))
def deleted(x):
    del x[0]
    #   ^^^^
    return x


@wrong(TypeError, "number", "runs", how=JIT, args=lambda: (ones(3),))
def size_of_data(x):
    kept = x[x > 0]
    return ge.zeros((kept.shape[0] * 2,)), [0] * kept.shape[0]
    #                                      ^^^^^^^^^^^^^^^^^^^
