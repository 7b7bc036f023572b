"""Shapes that do not fit."""
from wrong import PLAIN, wrong

import graphengine as ge
from graphengine import nn


def ones(*shape):
    return ge.ones(shape)


@wrong(ValueError, "[3] and [4]", args=lambda: (ones(3), ones(4)), good=lambda: (ones(3), ones(3)))
def add(x, y):
    total = x * 2
    return total + y
    #      ^^^^^^^^^


@wrong(ValueError, "4 and 3", "equal", args=lambda: (ones(3, 4), ones(3, 4)), good=lambda: (ones(3, 4), ones(4, 2)))
def matmul(x, w):
    return ge.tanh(x @ w)
    #              ^^^^^


@wrong(ValueError, "axis 0", "found 2 and 3", args=lambda: (ones(2, 3), ones(3, 3)), good=lambda: (ones(2, 3), ones(2, 3)))
def concat(a, b):
    joined = ge.concat([a, b], axis=1)
    #        ^^^^^^^^^^^^^^^^^^^^^^^^^
    return joined


@wrong(ValueError, "12 elements", "(5, 2)", args=lambda: (ones(3, 4),), good=lambda: (ones(2, 5),))
def reshape(x):
    return x.reshape(5, 2)
    #      ^^^^^^^^^^^^^^^


@wrong(ValueError, "(3, 4)", "(5, 4)", args=lambda: (ones(3, 4),), good=lambda: (ones(1, 4),))
def broadcast(x):
    return ge.broadcast_to(x, (5, 4)) - 1
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "axis 2", args=lambda: (ones(3, 4),), good=lambda: (ones(3, 4, 2),))
def axis_of_sum(x):
    return ge.sum(x, axis=2)
    #      ^^^^^^^^^^^^^^^^^


@wrong(ValueError, "axis 0", "3", args=lambda: (ones(3, 4),), good=lambda: (ones(1, 4),))
def squeeze(x):
    return ge.squeeze(x, axis=0)
    #      ^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "(0, 0)", args=lambda: (ones(3, 4),))
def transpose(x):
    return ge.permute_dims(x, (0, 0))
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "(3,)", "(4,)", args=lambda: (ones(3), ones(4)), good=lambda: (ones(3), ones(3)))
def stack(a, b):
    return ge.stack([a, b])
    #      ^^^^^^^^^^^^^^^^


@wrong(ValueError, "8", "3", args=lambda: (ones(1, 8, 5, 5), ones(4, 3, 3, 3)),
       good=lambda: (ones(1, 3, 5, 5), ones(4, 3, 3, 3)))
def conv(x, w):
    return nn.functional.conv(x, w, padding=1)
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "pads", "3", args=lambda: (ones(1, 3, 5, 5), ones(4, 3, 3, 3)))
def pads(x, w):
    return ge.ops.Conv(x, w, pads=[1, 1, 1])
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "size 0", "kernel 3", args=lambda: (ones(1, 3, 2, 2),), good=lambda: (ones(1, 3, 4, 4),))
def pool(x):
    return nn.functional.max_pool(x, (3, 3), stride=1)
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "[2,3]", "[2,1,4]", args=lambda: (ones(2, 3), ones(2, 1, 4)), good=lambda: (ones(2, 3), ones(2, 1)))
def where(a, b):
    return ge.where(a > 0, a, b)
    #      ^^^^^^^^^^^^^^^^^^^^^


@wrong(IndexError, "index 5", "3", args=lambda: (ones(3),), good=lambda: (ones(6),))
def index(x):
    return x[5] * 2
    #      ^^^^


@wrong(IndexError, "2 indices", "(3,)", args=lambda: (ones(3),), good=lambda: (ones(3, 3),))
def indices(x):
    return x[1, 2]
    #      ^^^^^^^


@wrong(ValueError, "2", "3", own=True, args=lambda: (ones(2, 3),), good=lambda: (ones(3, 2),))
def unpack(x):
    first, second, third = x
    #^^^^^^^^^^^^^^^^^^^
    return first + second + third


@wrong(ValueError, "one element", "any()", args=lambda: (ones(3),), good=lambda: (ones(1),))
def condition(x):
    if x > 0:
    #  ^^^^^
        return x
    return -x


@wrong(ValueError, "(2,)", "(3,)", args=lambda: (ones(3, 2),), good=lambda: (ones(2, 3),))
def store(x):
    x = x + 1
    x[1] = ge.ones((3,))
    #^^^
    return x


@wrong(TypeError, "'b'", "whole", args=lambda: (ones(2, 2),))
def words(x):
    return ge.reshape(x, ("b", 2))
    #      ^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "-1", how=PLAIN)
def made():
    return ge.zeros((3, -1))
    #      ^^^^^^^^^^^^^^^^^
