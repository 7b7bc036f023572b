#!/usr/bin/env python3
"""jit: functions with control flow answer the same as plain Python on arrays, as tensors at once, and
as graphs, in which conditions of data are If and Loop; what a graph cannot hold is refused at the
user's line.

Example: python tests/e2e/python/python_jit.py --build build/release --scratch FOLDER
"""
import gc
import sys
import threading
import traceback

import jit_cases
import jit_loops
import jit_recursion
import jit_refused
import numpy as np
from python_checks import check, run_all

import graphengine as ge
from graphengine.variable import STATES


def flat(value):
    """A value's numbers as arrays, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [x for v in value for x in flat(v)]
    if isinstance(value, jit_cases.Pair):
        return flat((value.first, value.second))
    return [np.asarray(value.numpy() if hasattr(value, "numpy") else value)]


def equal(got, wanted):
    got, wanted = flat(got), flat(wanted)
    return len(got) == len(wanted) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-5, atol=1e-5) for a, b in zip(got, wanted))


def under(library, function, args):
    jit_cases.xp = jit_loops.xp = jit_recursion.xp = library
    try:
        return function(*args)
    finally:
        jit_cases.xp = jit_loops.xp = jit_recursion.xp = np


def cases(_):
    for function, calls, wanted in (*jit_cases.CASES, *jit_recursion.CASES):
        name = function.__name__
        jitted = ge.jit(function)
        for args in calls:
            plain = under(np, function, [a.copy() for a in args])
            try:
                eager = under(ge, function, [ge.asarray(a) for a in args])
                check(f"{name} at once: {flat(eager)}, wanted {flat(plain)}", equal(eager, plain))
                graph = under(ge, jitted, [ge.asarray(a) for a in args])
                check(f"{name} as a graph: {flat(graph)}, wanted {flat(plain)}", equal(graph, plain))
            except Exception:
                check(f"{name}\n{traceback.format_exc()}", False)
        if jitted.traces():
            text = jitted.dump()
            for op in wanted:
                check(f"{name} has {op}:\n{text}", f" = {op}(" in text)


def rounds(_):
    """A loop of 100 rounds has no more nodes than one of 10."""
    def run(x):
        total = x[0] * 0
        for row in x:
            total = total * 0.5 + row
        return total
    sizes = []
    for n in (10, 100):
        jitted = ge.jit(run)
        jitted(ge.ones((n, 3)))
        sizes.append(jitted.dump().count("\n"))
    check(f"lines of 10 and 100 rounds: {sizes}", sizes[0] == sizes[1])


def ranges(_):
    """ge.range() is a loop of the graph for numbers of Python, too; at once it is Python's."""
    def run(x):
        for i in ge.range(2, 40, 3):
            x = x + ge.astype(i, ge.float32)
        return x
    jitted, wanted = ge.jit(run), sum(range(2, 40, 3))
    check("of numbers", float(jitted(ge.asarray(0.0))) == wanted)
    check("it is a Loop", jitted.dump().count(" = Add(") <= 3 and " = Loop(" in jitted.dump())
    check("at once", float(run(ge.asarray(0.0))) == wanted)
    with ge.eager():
        check("under eager()", float(jitted(ge.asarray(0.0))) == wanted)

    def tensors(x, n):
        for _ in ge.range(n):
            x = x * 2
        return x
    check("of a tensor", float(ge.jit(tensors)(ge.asarray(1.0), ge.asarray(5))) == 32)
    check("of a tensor at once", float(tensors(ge.asarray(1.0), ge.asarray(5))) == 32)
    for args in ((), (1, 2, 3, 4)):
        try:
            ge.range(*args)
            check("too many arguments were not refused", False)
        except TypeError as error:
            check(str(error), "takes 1 to 3" in str(error))


def programs(_):
    """One program for each structure and type; an axis that has had two sizes is free."""
    seen = []

    def run(x):
        seen.append(x.shape)
        return x * 2 if ge.sum(x) > 0 else x
    jitted = ge.jit(run)
    for n in (3, 3, 4, 5, 6):
        got = jitted(ge.ones((n,)))
        check(f"size {n}", got.shape == (n,) and float(ge.sum(got)) == 2 * n)
    check(f"traces: {jitted.traces()}", jitted.traces() == 2)

    def asks(x):
        return x * x.shape[0] if int(x.shape[0]) > 3 else x
    jitted = ge.jit(asks)
    for n in (2, 4, 5, 4):
        got = jitted(ge.ones((n,)))
        check(f"a number of size {n}: {got}", float(ge.sum(got)) == (n * n if n > 3 else n))
    check(f"traces of one that asks: {jitted.traces()}", jitted.traces() == 3)

    def sized(x):
        return ge.sum(x) / x.shape[0]
    jitted = ge.jit(sized)
    for n in (2, 4, 7):
        check(f"mean of {n}", float(jitted(ge.ones((n, 2)))) == 2)
    check(f"traces of one with sizes as data: {jitted.traces()}", jitted.traces() == 2)


def one_trace(_):
    """Eight threads that call first at once trace once."""
    traced = []

    def run(x):
        traced.append(1)
        return ge.tanh(x * 2 + 1)
    jitted, out = ge.jit(run), [None] * 8
    ready = threading.Barrier(8)

    def call(i):
        ready.wait()
        out[i] = jitted(ge.ones((4,)) * i).numpy()
    threads = [threading.Thread(target=call, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check(f"traces: {len(traced)}", len(traced) == 1)
    check("answers", all(np.allclose(o, np.tanh(np.ones(4) * i * 2 + 1)) for i, o in enumerate(out)))


def refusals(_):
    """The place that a refusal names, and that the next call is right."""
    for function, args, kind, words, line in jit_refused.CASES:
        name = function.__name__
        try:
            ge.jit(function)(*[ge.asarray(a) for a in args])
            check(f"{name} was not refused", False)
            continue
        except kind as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            check(f"{name}: {error}", words in str(error))
            check(f"{name}: last frame is the user's: {last.filename}:{last.lineno}",
                  last.filename == jit_refused.__file__ and line in (last.line or ""))
        except Exception:
            check(f"{name}: another error\n{traceback.format_exc()}", False)
        good = ge.jit(lambda x: x + 1)(ge.ones((2,)))
        check(f"the call after {name}", float(ge.sum(good)) == 4)


def eager_mode(_):
    """with ge.eager(): the function itself runs."""
    kinds = []

    def run(x):
        kinds.append(x.symbol is None)
        return x + 1
    jitted = ge.jit(run)
    with ge.eager():
        jitted(ge.ones((2,)))
    jitted(ge.ones((2,)))
    check(f"at once, then traced: {kinds}", kinds == [True, False])


class Counted(ge.nn.Module):
    """Says when it is traced, and in which mode."""

    def __init__(self, calls):
        super().__init__()
        self.calls = calls
        self.bias = ge.Variable(ge.zeros((3,)))

    def forward(self, x):
        self.calls.append(self.training)
        return x + self.bias.value + (1 if self.training else 2)


def known_calls(_):
    """Calls with Tensors alone that were made before run without Python, until something changes."""
    calls = []
    net = Counted(calls)
    jitted, x = ge.jit(net), ge.ones((3,))
    for _ in range(3):
        check("training", float(jitted(x)[0]) == 2)
    net.eval()
    for _ in range(3):
        check("evaluation", float(jitted(x)[0]) == 3)
    net.train()
    check("training again", float(jitted(x)[0]) == 2)
    net.bias.assign(ge.ones((3,)))
    check("a Variable's new value", float(jitted(x)[0]) == 3)
    with ge.eager():
        check("at once", float(jitted(x)[0]) == 3)
    check(f"traces: {calls}", calls == [True, False, True])
    check("other types", str(jitted(ge.ones((3,), dtype=ge.float64)).dtype.name) == "float64")
    check("an array", float(jitted(np.ones(3, np.float32))[0]) == 3)
    check("a keyword", float(jitted(x=x)[0]) == 3)
    for n in range(1, 40):
        got = ge.jit(lambda v: v * 2)(ge.ones((n,)))
        check(f"{n} sizes", got.shape == (n,))
    many = ge.jit(lambda v: v * 2)
    for _ in range(2):
        for n in range(1, 40):
            check(f"{n} sizes of one function", many(ge.ones((n,))).shape == (n,))
    outer = ge.jit(lambda v: many(v) + 1)
    check("within another", float(outer(ge.ones((5,)))[0]) == 3)
    try:
        jitted(x, x, x)
        check("too many arguments were not refused", False)
    except TypeError as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        check(f"too many arguments: {error}", last.filename == __file__)


def variables_go(_):
    """A program that is gone lets its Variables go, and these their memory."""
    gc.collect()
    before = sorted(STATES.names())
    net = Counted([])
    jitted = ge.jit(net)
    for _ in range(3):
        jitted(ge.ones((3,)))
    check("there while it is in use", len(STATES.names()) == len(before) + 1)
    del net, jitted
    gc.collect()
    check("gone with it", sorted(STATES.names()) == before)


if __name__ == "__main__":
    sys.path.insert(0, ".")
    run_all([cases, rounds, ranges, programs, one_trace, refusals, eager_mode, known_calls, variables_go])
