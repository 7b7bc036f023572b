"""Types that do not fit."""
import numpy as np
from wrong import PLAIN, wrong

import graphengine as ge
from graphengine import nn


def ones(*shape):
    return ge.ones(shape)


def ints(*values):
    return ge.asarray(list(values))


@wrong(TypeError, "float32", "bool", args=lambda: (ones(3), ones(3)), good=lambda: (ints(6, 7), ints(3, 4)))
def bits(x, y):
    return x & y
    #      ^^^^^


@wrong(TypeError, "float32", "bool", args=lambda: (ones(3), ones(3)), good=lambda: (ones(3) > 0, ones(3) > 1))
def logical(x, y):
    return ge.logical_and(x, y)
    #      ^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "float32", args=lambda: (ones(3),), good=lambda: (ints(1, 2),))
def shift(x):
    return x << 2
    #      ^^^^^^


@wrong(IndexError, "float32", args=lambda: (ones(3), ones(2)), good=lambda: (ones(3), ints(1, 2)))
def float_index(x, i):
    return x[i]
    #      ^^^^


@wrong(TypeError, "f32", "i64", args=lambda: (ones(3), ones(2)), good=lambda: (ones(3), ints(1, 2)))
def float_gather(x, i):
    return ge.ops.Gather(x, i)
    #      ^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "str", own=True, args=lambda: (ones(3),))
def text(x):
    return x + "1"
    #      ^^^^^^^


@wrong(TypeError, "NoneType", own=True, args=lambda: (ones(3),))
def none(x):
    mask = {}.get("mask")
    return x * mask
    #      ^^^^^^^^


@wrong(TypeError, "i64", "f32", args=lambda: (ints(1, 2, 3),), good=lambda: (ones(3),))
def int_layer(x):
    return ge.ops.Sigmoid(x)
    #      ^^^^^^^^^^^^^^^^^


@wrong(TypeError, "i64", "f32", args=lambda: (ones(2, 3), ints(1, 2, 3)), good=lambda: (ones(2, 3), ones(3)))
def mixed(x, y):
    return ge.ops.Mul(x, y)
    #      ^^^^^^^^^^^^^^^^


@wrong(TypeError, "float3", how=PLAIN)
def no_type():
    return ge.zeros((3,), dtype="float3")
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "dict", args=lambda: (ones(3),))
def objects(x):
    return ge.stack([x, {"a": 1}])
    #      ^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "['a', 'b']", how=PLAIN)
def of_text():
    return ge.asarray(["a", "b"])
    #      ^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "kernel", own=True, args=lambda: (ones(1, 1, 4, 4),))
def option(x):
    return nn.functional.max_pool(x, kernel=2)
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(AttributeError, "Convolution", "dir", "Conv", args=lambda: (ones(1, 1, 4, 4),))
def no_operator(x):
    return ge.ops.Convolution(x, x)
    #      ^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "Conv", "W", args=lambda: (ones(1, 1, 4, 4),))
def missing_input(x):
    return ge.ops.Conv(x)
    #      ^^^^^^^^^^^^^^


@wrong(TypeError, "stride", args=lambda: (ones(1, 1, 4, 4), ones(1, 1, 3, 3)))
def attribute(x, w):
    return ge.ops.Conv(x, w, stride=2)
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "group", "1.5", args=lambda: (ones(1, 1, 4, 4), ones(1, 1, 3, 3)))
def float_attribute(x, w):
    return ge.ops.Conv(x, w, group=1.5)
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "300", "int8", args=lambda: (ge.asarray(np.array([1, 2], np.int8)),))
def too_great(x):
    return x + 300
    #      ^^^^^^^


@wrong(TypeError, "2.5", how=PLAIN)
def float_size():
    return ge.ones((2.5, 3))
    #      ^^^^^^^^^^^^^^^^^
