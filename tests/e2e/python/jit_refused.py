"""Functions that cannot be graphs. CASES: (function, arguments, error, words, text of the line)."""
import numpy as np

import graphengine as ge

KEPT = []
X = np.array([1, 2, 3], np.float32)


def shapes(x):
    y = x + 1
    return y + ge.ones((4,))


def in_one_branch(x):
    if ge.sum(x) > 0:
        y = x
    return y * 2


def types_of_branches(x):
    if ge.sum(x) > 0:
        y = x
    else:
        y = ge.astype(x, ge.int64)
    return y + 1


def structures(x):
    if ge.sum(x) > 0:
        return x, x
    return x


def carried(x):
    total = ge.zeros((), dtype=ge.int64)
    while ge.sum(x) < 100:
        x = x * 2
        total = total + x
    return total


def condition_of_many(x):
    if x > 0:
        return x
    return -x


def number(x):
    return x * float(ge.sum(x))


def text(x):
    return x + "1"


def kept_before(x):
    KEPT.append(x)
    return x + 1


def kept_behind(x):
    return x + KEPT[0]


CASES = [
    (shapes, [X], Exception, "do not broadcast", "y + ge.ones((4,))"),
    (in_one_branch, [X], TypeError, "is set in one branch", "y * 2"),
    (types_of_branches, [X], TypeError, "int64", "y + 1"),
    (structures, [X], TypeError, "one structure", "if ge.sum(x) > 0:"),
    (carried, [X], TypeError, "'total' changes its type", "while ge.sum(x) < 100:"),
    (condition_of_many, [X], TypeError, "shape (3)", "if x > 0:"),
    (number, [X], TypeError, "float", "float(ge.sum(x))"),
    (text, [X], TypeError, "str", "x + \"1\""),
]
