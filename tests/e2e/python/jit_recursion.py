"""Functions that call themselves where data decides; see jit_cases."""
import numpy as np

xp = np


def power_of(x, n):
    if n == 0:
        return xp.ones_like(x)
    return x * power_of(x, n - 1)


def fibonacci_twice(n):
    if n < 2:
        return n
    return fibonacci_twice(n - 1) + fibonacci_twice(n - 2)


def factorial_of_one(n):
    if n == 0:
        return 1
    return n * factorial_of_one(n - 1)


def greatest_common(a, b):
    return a if b == 0 else greatest_common(b, a % b)


def halved(x, depth=0):
    if xp.sum(x) < 1:
        return x, depth
    return halved(x / 2, depth + 1)


def is_even(n):
    if n == 0:
        return xp.asarray(True)
    return is_odd(n - 1)


def is_odd(n):
    if n == 0:
        return xp.asarray(False)
    return is_even(n - 1)


def in_a_loop(n):
    total = 0
    if n > 0:
        for _ in range(n):
            total = total + in_a_loop(n - 1) + 1
    return total


def inner_function(x):
    w = x * 0.5

    def go(n):
        if n <= 0:
            return w
        return go(n - 1) * 2

    return go(xp.max(x))


def root(x, a):
    y = 0.5 * (x + a / x)
    if abs(y - x) < 1e-5:
        return y
    return root(y, a)


def both_ends(x):
    if xp.sum(x) > 50 or xp.max(x) < 0:
        return {"end": x}
    return {"end": both_ends(x * 2)["end"] + 1}


def by_statement(n):
    y = n * 0
    if n > 0:
        y = by_statement(n - 1) + n
    return y


def python_levels(x, levels):
    if xp.sum(x) > 0:
        if levels == 0:
            return x
        return python_levels(x * 2, levels - 1)
    return -x


def two_levels(x):
    return python_levels(x, 3)


UP = np.array([1, 2, 3], np.float32)
INTEGERS = [np.array(n, np.int64) for n in (0, 1, 6)]
CASES = [
    (power_of, [(UP, n) for n in INTEGERS], ("If", "ge.Call")),
    *[(f, [(n,) for n in INTEGERS], ("If", "ge.Call")) for f in (
        fibonacci_twice, factorial_of_one, is_even, by_statement)],
    (in_a_loop, [(np.array(n, np.int64),) for n in (0, 1, 4)], ("Loop", "ge.Call")),
    (greatest_common, [(np.array(a, np.int64), np.array(b, np.int64)) for a, b in ((48, 18), (7, 0), (13, 5))],
     ("ge.Call",)),
    (halved, [(UP,), (UP * 1000,), (UP / 100,)], ("ge.Call",)),
    (inner_function, [(UP,), (-UP,)], ("ge.Call",)),
    (root, [(np.array(1, np.float32), np.array(a, np.float32)) for a in (2, 9)], ("ge.Call",)),
    (both_ends, [(UP,), (-UP,), (UP * 40,)], ("ge.Call",)),
    (two_levels, [(UP,), (-UP,)], ("If",)),
]
