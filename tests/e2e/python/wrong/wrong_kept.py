"""Tensors that are kept from a trace, where they stood for values of a graph."""
from wrong import JIT, PLAIN, wrong

import graphengine as ge

KEPT = []


def ones(*shape):
    return ge.ones(shape)


@wrong(TypeError, "kept from a trace", "ge.Variable", how=PLAIN)
def in_a_global():
    kept = []

    @ge.jit
    def first(x):
        kept.append(x * 2)
        return x
    first(ge.ones((3,)))
    return kept[0] + 1
    #      ^^^^^^^^^^^


@wrong(TypeError, "kept from a trace", "ge.Variable", how=PLAIN)
def in_another_trace():
    kept = []

    @ge.jit
    def first(x):
        kept.append(x)
        return x

    @ge.jit
    def second(x):
        return x + kept[0]
        #      ^^^^^^^^^^^
    first(ge.ones((3,)))
    return second(ge.ones((3,)))


class Cache:
    last = None


@wrong(TypeError, "kept from a trace", how=PLAIN)
def in_an_attribute():
    cache = Cache()

    @ge.jit
    def step(x):
        before, cache.last = cache.last, x
        return x if before is None else before * x
        #                               ^^^^^^^^^^
    step(ge.ones((3,)))
    return step(ge.ones((3, 3)))


@wrong(TypeError, "kept from a trace", how=PLAIN)
def result_is_printed():
    kept = []

    @ge.jit
    def first(x):
        kept.append(ge.sum(x))
        return x
    first(ge.ones((3,)))
    return float(kept[0])
    #      ^^^^^^^^^^^^^^


@wrong(TypeError, "kept from a trace", how=PLAIN)
def condition_is_kept():
    kept = []

    @ge.jit
    def first(x):
        kept.append(ge.sum(x) > 0)
        return x
    first(ge.ones((3,)))
    if kept[0]:
    #^^^^^^^^^^
        return 1
    return 0


@wrong(TypeError, "kept from a trace", how=PLAIN)
def as_an_argument():
    kept = []

    @ge.jit
    def first(x):
        kept.append(x)
        return x
    first(ge.ones((3,)))
    return first(kept[0])
    #      ^^^^^^^^^^^^^^


@wrong(TypeError, "kept from a trace", how=PLAIN)
def row_by_row():
    kept = []

    @ge.jit
    def first(x):
        kept.append(x)
        return x
    first(ge.ones((3, 2)))
    return [row for row in kept[0]]
    #      ^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "branch", how=PLAIN)
def out_of_a_branch():
    kept = []

    def keep(v):
        kept.append(v)
        return v

    @ge.jit
    def first(x):
        if ge.sum(x) > 0:
            x = keep(x * 2)
        return x + kept[0]
        #      ^^^^^^^^^^^
    return first(ge.ones((3,)))


@wrong(TypeError, "made of a value", "numbers", how=JIT, args=lambda: (ones(3),))
def variable_of_trace(x):
    state = ge.Variable(x * 2)
    #       ^^^^^^^^^^^^^^^^^^
    return state.value


@wrong(TypeError, "'count'", "int64", "float32", how=PLAIN)
def variable_of_another_type():
    count = ge.Variable(0, "count")
    count.assign(ge.sum(ge.ones((3,))))
    #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    return count


@wrong(TypeError, "'mean'", "(3,)", "(2,)", how=PLAIN)
def variable_of_another_shape():
    mean = ge.Variable(ge.zeros((3,)), "mean")

    @ge.jit
    def step(x):
        mean.assign(x[:2])
        #^^^^^^^^^^^^^^^^^
        return x
    return step(ge.ones((3,)))
