"""The program's own exceptions, and what functions under jit cannot be."""
import contextlib

import numpy as np
from wrong import JIT, PLAIN, wrong

import graphengine as ge


def ones(*shape):
    return ge.ones(shape)


class Refused(Exception):
    pass


@wrong(Refused, "too few", own=True, args=lambda: (ones(2),), good=lambda: (ones(3),))
def own_exception(x):
    if x.shape[0] < 3:
        raise Refused("too few")
        #^^^^^^^^^^^^^^^^^^^^^^^
    return x * 2


@wrong(Refused, "empty", own=True, args=lambda: (ones(2),))
def raised_in_a_branch(x):
    if ge.sum(x) > 0:
        raise Refused("empty")
        #^^^^^^^^^^^^^^^^^^^^^
    return x


@wrong(ZeroDivisionError, "division", own=True, args=lambda: (ones(2),))
def division_of_python(x):
    n = len(x.shape) - 1
    return x * (1 / n)
    #           ^^^^^


@wrong(NameError, "undefined_name", own=True, args=lambda: (ones(2),))
def undefined(x):
    return x + undefined_name  # noqa: F821
    #          ^^^^^^^^^^^^^^


@wrong(AttributeError, "relu", own=True, args=lambda: (ones(2),))
def method(x):
    return x.relu()
    #      ^^^^^^


@wrong(AttributeError, "softmin", own=True, args=lambda: (ones(2),))
def function_of_module(x):
    return ge.softmin(x)
    #      ^^^^^^^^^^


@wrong(RecursionError, "recursion", own=True, how=PLAIN, column=False)
def without_end():
    @ge.jit
    def run(x):
        def down(v):
            return down(v + 1)
            #      ^^^^^^^^^^^
        return down(x)
    return run(ge.ones((2,)))


@wrong(TypeError, "NoneType", own=True, args=lambda: (ones(2),))
def none_of_a_helper(x):
    def helper(v):
        v * 2
    return helper(x) + 1
    #      ^^^^^^^^^^^^^


@wrong(TypeError, "ndarray", "function", how=PLAIN)
def jit_of_an_array():
    return ge.jit(np.ones(3))
    #      ^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "positional", own=True, how=PLAIN)
def arguments():
    run = ge.jit(lambda x: x)
    return run(ge.ones((3,)), 1)
    #      ^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "generator", how=PLAIN)
def generator():
    def run(x):
        yield x
        yield x * 2
    return ge.jit(run)(ge.ones((3,)))
    #      ^^^^^^^^^^^


@wrong(TypeError, "coroutine", how=PLAIN)
def coroutine():
    async def run(x):
        return x
    return ge.jit(run)(ge.ones((3,)))
    #      ^^^^^^^^^^^


@wrong(TypeError, "Answer", "dataclass", how=PLAIN)
def answer_of_no_kind():
    class Answer:
        def __init__(self, x):
            self.x = x

    @ge.jit
    def run(x):
        return Answer(x)
    return run(ge.ones((3,))).x + 1
    #      ^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "[3]", "[2]", how=JIT, args=lambda: (ones(3), ones(2)))
def in_a_with(x, y):
    with contextlib.suppress(KeyError):
        return x + y
        #      ^^^^^


@wrong(ValueError, "[3]", "[2]", args=lambda: (ones(3), ones(2)))
def from_a_handler(x, y):
    try:
        return {}["a"]
    except KeyError:
        return x + y
        #      ^^^^^


@wrong(Refused, "of a shape", own=True, args=lambda: (ones(3), ones(2)))
def raised_from(x, y):
    try:
        return x + y
    except ValueError as error:
        raise Refused("of a shape") from error
        #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(AssertionError, "3 features", own=True, args=lambda: (ones(2, 2),), good=lambda: (ones(2, 3),))
def asserted(x):
    assert x.shape[1] == 3, "3 features"
    #      ^^^^^^^^^^^^^^^
    return x


@wrong(TypeError, "structures", "ge.asarray", how=PLAIN)
def a_number_that_changes():
    run = ge.jit(lambda x, n: x * n)
    for n in range(100):
        run(ge.ones((3,)), n)
        #^^^^^^^^^^^^^^^^^^^^
