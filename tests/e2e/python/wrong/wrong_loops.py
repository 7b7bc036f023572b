"""Loops of the graph whose rounds do not fit one another."""
from wrong import JIT, wrong

import graphengine as ge


def ones(*shape):
    return ge.ones(shape)


@wrong(TypeError, "'total'", "changes its type", "int64", how=JIT, args=lambda: (ones(3),))
def carried_type(x):
    total = ge.zeros((), dtype=ge.int64)
    while ge.sum(x) < 100:
    #     ^^^^^^^^^^^^^^^
        x = x * 2
        total = total + ge.sum(x)
    return total


@wrong(TypeError, "'x'", "changes its type", how=JIT, args=lambda: (ones(3),))
def carried_axes(x):
    while ge.sum(x) < 100:
    #     ^^^^^^^^^^^^^^^
        x = ge.stack([x, x])
    return x


@wrong(TypeError, "'best'", "None", how=JIT, args=lambda: (ones(3, 2),))
def carried_none(x):
    best = None
    for row in x:
    #          ^
        if best is None:
            best = row
        else:
            best = ge.maximum(best, row)
    return best


@wrong(TypeError, "'pair'", "a tuple", how=JIT, args=lambda: (ones(3),))
def carried_structure(x):
    pair = x
    while ge.sum(x) < 100:
    #     ^^^^^^^^^^^^^^^
        x = x * 2
        pair = (x, x)
    return pair


@wrong(TypeError, "'names'", "wanted tensors", how=JIT, args=lambda: (ones(3, 2),))
def appended_text(x):
    names = []
    for row in x:
    #          ^
        names.append("row")
    return x, names


@wrong(TypeError, "'word'", how=JIT, args=lambda: (ones(3, 2),))
def carried_text(x):
    word = ""
    for row in x:
    #          ^
        word = word + "a"
    return x * len(word)


@wrong(TypeError, "'rows'", "read", "loop", how=JIT, args=lambda: (ones(3, 2),))
def read_while_appended(x):
    rows = []
    for row in x:
        rows.append(row)
        x = x + rows[0]
        #   ^^^^^^^^^^^
    return x


@wrong(ValueError, "one element", how=JIT, args=lambda: (ones(3),))
def while_of_array(x):
    while x < 10:
    #     ^^^^^^
        x = x * 2
    return x


@wrong(TypeError, "without axes", "reshape", how=JIT, args=lambda: (ge.sum(ones(3)),))
def rows_of_scalar(x):
    total = x * 0
    for row in x:
    #          ^
        total = total + row
    return total


@wrong(ValueError, "step", own=True, how=JIT, args=lambda: (ge.asarray(5),))
def step_of_zero(n):
    total = n * 0
    for i in range(0, n, 0):
    #        ^^^^^^^^^^^^^^
        total = total + i
    return total


@wrong(TypeError, "float32", "integer", how=JIT, args=lambda: (ge.asarray(5.0),))
def range_of_float(n):
    total = n * 0
    for i in range(n):
    #        ^^^^^^^^
        total = total + i
    return total


@wrong(TypeError, "zip()", "ge.stack()", how=JIT, args=lambda: (ones(3, 2),))
def zip_with_list(x):
    total = x[0] * 0
    for row, weight in zip(x, [1.0, 2.0, 3.0]):
    #                  ^^^^^^^^^^^^^^^^^^^^^^^
        total = total + row * weight
    return total


@wrong(TypeError, "index", "ge.eager()", how=JIT, args=lambda: (ge.asarray(5),))
def range_as_list(n):
    return ge.stack([n * i for i in range(n)])
    #                               ^^^^^^^^


@wrong(TypeError, "'last'", "size in each round", how=JIT, args=lambda: (ones(3, 2),))
def size_of_round(x):
    n = ge.asarray(1)
    while n < 4:
        last = ge.ones((3,))[:n]
        n = n + 1
    return last * 2
    #      ^^^^^^^^


@wrong(ValueError, "[2]", "[3]", args=lambda: (ones(3, 2), ones(3)))
def shape_in_body(x, y):
    total = x[0]
    for row in x:
        total = total + row * y
        #               ^^^^^^^
    return total


@wrong(NameError, "total", own=True, args=lambda: (ones(3, 2),))
def unbound(x):
    for row in x:
        total = total + row
        #       ^^^^^
    return total


@wrong(KeyError, "3", own=True, args=lambda: (ones(3, 2),))
def key_of_dict(x):
    table = {0: x}
    if ge.sum(x) > 0:
        return table[3]
        #      ^^^^^^^^
    return x
