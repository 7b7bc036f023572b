"""Functions with control flow over tensors, as people write them. Each is called on arrays of numpy,
on tensors at once and under jit, and answers the same; `xp` is the library of functions.

CASES: (function, arguments of each call, what its graph has to hold: "If", "Loop" or nothing).
"""
import dataclasses

import numpy as np
from jit_loops import (while_sum, while_count, while_two, while_true, while_true_first,
                       while_continue, while_else, while_return, while_nested, for_count, for_index,
                       for_from_to, for_down, for_rows, for_rows_number, for_rows_if,
                       for_rows_break, for_rows_continue, for_rows_return, for_else, for_enumerate,
                       for_zip, for_reversed, for_zip_enumerate, for_last, unrolled, unrolled_if,
                       unrolled_break, unrolled_return, unrolled_else, append_stack, append_two,
                       append_carry, append_behind, append_count)

xp = np
SCALE = 2.0


def if_else(x):
    if xp.sum(x) > 0:
        y = x * 2
    else:
        y = x - 1
    return y


def if_only(x):
    if xp.max(x) > 1:
        x = x / 2
    return x


def elif_chain(x):
    s = xp.sum(x)
    if s > 4:
        y = x + 4
    elif s > 2:
        y = x + 2
    elif s > 0:
        y = x
    else:
        y = -x
    return y


def nested_if(x):
    if xp.sum(x) > 0:
        if xp.max(x) > 2:
            y = x * 3
        else:
            y = x * 5
        y = y + 1
    else:
        y = x
    return y


def early_return(x):
    if xp.sum(x) > 0:
        return x * 2
    return x * 3


def early_return_behind(x):
    if xp.sum(x) > 0:
        x = x + 1
        if xp.sum(x) > 8:
            return x
    x = x * 10
    return x


def two_results(x):
    if xp.sum(x) > 0:
        a, b = x, x + 1
    else:
        a, b = x + 2, x
    return a, b


def swap(x, y):
    if xp.sum(x) > xp.sum(y):
        x, y = y, x
    return x - y


def python_condition(x):
    if SCALE > 1:
        return x * SCALE
    return x


def conditional(x):
    return x * 2 if xp.sum(x) > 0 else x * 3


def conditional_nested(x):
    s = xp.sum(x)
    return x if s > 3 else (x + 1 if s > 1 else x + 2)


def and_or(x):
    s = xp.sum(x)
    if s > 0 and xp.max(x) < 3 or s < -5:
        return x + 1
    return x - 1


def not_tensor(x):
    if not xp.sum(x) > 0:
        return x + 1
    return x - 1


def chained(x):
    if 0 < xp.sum(x) < 5:
        return x + 1
    return x - 1


def chained_equal(x, y):
    if xp.sum(x) == xp.sum(y) != 7:
        return x
    return y


def number_in_branch(x):
    if xp.sum(x) > 0:
        k = 2
    else:
        k = 3
    return x * k


def float_in_branch(x):
    k = 1.0
    if xp.sum(x) > 0:
        k = 0.5
    return x * k


def dict_in_branch(x):
    d = {"a": x, "b": x * 2}
    if xp.sum(x) > 0:
        d["a"] = d["b"] + 1
    return d["a"] + d["b"]


def list_in_branch(x):
    parts = [x, x + 1]
    if xp.sum(x) > 0:
        parts[0] = parts[1] * 2
    return parts[0]


def new_tuple(x):
    if xp.sum(x) > 0:
        t = (x, (x + 1, x + 2))
    else:
        t = (x * 2, (x * 3, x * 4))
    return t[0] + t[1][0] * t[1][1]


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def factorial(n):
    out = 1
    while n > 1:
        out = out * n
        n = n - 1
    return out


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def greatest_divisor(a, b):
    while b != 0:
        a, b = b, a % b
    return a


def newton(x):
    guess = x * 0 + 1
    while xp.max(xp.abs(guess * guess - x)) > 1e-6:
        guess = (guess + x / guess) / 2
    return guess


def power(x, n):
    out = x * 0 + 1
    while n > 0:
        if n % 2 == 1:
            out = out * x
        x = x * x
        n = n // 2
    return out


def running_max(x):
    best = x[0]
    for row in x:
        best = row if xp.sum(row) > xp.sum(best) else best
    return best


def find(x, value):
    place = -1
    for i in range(x.shape[0]):
        if x[i] == value and place < 0:
            place = i
    return x[0] * 0 + place


def bubble(x):
    n = x.shape[0]
    for i in range(n):
        for j in range(n - 1 - i):
            a, b = x[j], x[j + 1]
            if a > b:
                a, b = b, a
            x = xp.concat([x[:j], xp.stack([a, b]), x[j + 2:]])
    return x


def closure(x):
    def scaled(v):
        if xp.sum(v) > 0:
            return v * 2
        return v
    return scaled(x) + scaled(-x)


def nonlocal_name(x):
    total = x * 0

    def add(v):
        nonlocal total
        if xp.sum(v) > 0:
            total = total + v
    add(x)
    add(-x)
    add(x)
    return total


def lambdas(x):
    pick = lambda v: v if xp.sum(v) > 0 else -v  # noqa: E731
    return pick(x) + pick(x - 2)


def function_argument(x):
    def apply(f, v, n):
        for _ in range(n):
            v = f(v)
        return v
    return apply(lambda v: v + 1 if xp.sum(v) < 6 else v, x, 3)


def helper(x, k=3, *more, scale=1.0, **others):
    if xp.sum(x) > k:
        x = x * scale
    for m in more:
        x = x + m
    for m in others.values():
        x = x - m
    return x


def keywords(x):
    return helper(x, 1, 2.0, 3.0, scale=0.5, a=1.0) + helper(x)


def recursion_static(x, n=3):
    if n == 0:
        return x
    if xp.sum(x) > 0:
        x = x + 1
    return recursion_static(x, n - 1)


@dataclasses.dataclass
class Pair:
    first: object
    second: object

    def swapped(self):
        return Pair(self.second, self.first)


def dataclass_value(x):
    p = Pair(x, x + 1)
    if xp.sum(x) > 0:
        p = p.swapped()
    return p.first - p.second * 2


class Counter:
    def __init__(self, start):
        self.total = start

    def add(self, v):
        if xp.sum(v) > 0:
            self.total = self.total + v
        return self


def attributes(x):
    c = Counter(x * 0)
    c.add(x).add(-x).add(x + 1)
    return c.total


def attributes_in_loop(x):
    c = Counter(x[0] * 0)
    for row in x:
        c.add(row)
    return c.total


def tuple_carried(x):
    state = (x[0] * 0, (x[0], 0))
    for row in x:
        state = (state[0] + row, (row, state[1][1] + 1))
    return state[0] + state[1][0] * state[1][1]


def dict_carried(x):
    state = {"sum": x[0] * 0, "n": 0}
    for row in x:
        state["sum"] = state["sum"] + row
        state["n"] += 1
    return state["sum"] / state["n"]


def growing(x):
    out = x[:1]
    for row in x:
        if xp.sum(row) > -1000:
            out = xp.concat([out, xp.reshape(row, (1, -1))])
    return out


def walrus(x):
    if (s := xp.sum(x)) > 0:
        return x * s
    return x - s


def comprehension(x):
    parts = [x * k for k in (1, 2, 3)]
    return sum(p if xp.sum(p) > 3 else -p for p in parts)


def max_of(x, y):
    return x + max(xp.sum(x), xp.sum(y)) - min(xp.sum(x), 2.0)


def with_block(x):
    with np.errstate(all="ignore"):
        if xp.sum(x) > 0:
            x = x + 1
    return x


def try_block(x):
    try:
        if xp.sum(x) > 0:
            y = x * 2
        else:
            y = x
    finally:
        x = x + 1
    return x + y


def match_python(x, kind="double"):
    match kind:
        case "double":
            if xp.sum(x) > 0:
                return x * 2
            return x
        case _:
            return x * 0


def loop_in_if(x):
    if xp.sum(x) > 0:
        n = 0
        while n < xp.sum(x):
            n += 1
        return x + n
    return x


def if_in_loop_in_if(x):
    if xp.max(x) > 0:
        for i in range(3):
            while xp.sum(x) < 10:
                x = x + 1 if xp.min(x) > 0 else x + 2
            x = x - i
    return x


def item_set(x):
    y = x + 0
    if xp.sum(x) > 0:
        y[0] = 7
    return y


def item_set_loop(x):
    y = x * 0
    for i in range(x.shape[0]):
        if x[i] > 0:
            y[i] = x[i] * 2
    return y


def augmented(x):
    y = x + 0
    for row in x:
        y += row
        y *= 0.5
    return y


def loop_free_rounds(x, n):
    total = xp.sum(x) * 0
    for i in range(n):
        if i % 3 == 0:
            continue
        if total > 40:
            break
        total = total + i
    else:
        total = total + 1000
    return total


UP, DOWN, MIXED = (np.array(v, np.float32) for v in ([1, 2, 3], [-1, -2, -0.5], [4, -1, 2]))
GRID = np.array([[1, 2], [3, -4], [-1, -2], [5, 6]], np.float32)
OTHER = np.array([[2, 1], [0, 1], [3, 3], [-1, 2]], np.float32)
VECTORS = [(UP,), (DOWN,), (MIXED,)]
PAIRS = [(UP, DOWN), (DOWN, UP), (UP, UP)]
GRIDS = [(GRID,), (-GRID,), (OTHER,)]


def counts(*values):
    return [(UP, np.array(v, np.int64)) for v in values]


def integers(*values):
    return [tuple(np.array(v, np.int64) for v in (x if isinstance(x, tuple) else (x,))) for x in values]


CASES = [
    *[(f, VECTORS, ("If",)) for f in (
        if_else, if_only, elif_chain, nested_if, early_return, early_return_behind, two_results, conditional,
        conditional_nested, and_or, not_tensor, chained, number_in_branch, float_in_branch, dict_in_branch,
        list_in_branch, new_tuple, closure, nonlocal_name, lambdas, function_argument, keywords, recursion_static,
        dataclass_value, attributes, walrus, comprehension, with_block, try_block, match_python, unrolled_if,
        unrolled_break, unrolled_return, unrolled_else, item_set)],
    *[(f, PAIRS, ("If",)) for f in (swap, chained_equal, max_of)],
    *[(f, VECTORS, ()) for f in (python_condition, unrolled)],
    *[(f, [(UP,), (MIXED,)], ("Loop",)) for f in (
        while_sum, while_count, while_true, while_true_first, while_continue, while_else, while_return, while_nested,
        loop_in_if, if_in_loop_in_if)],
    (while_two, PAIRS, ("Loop",)),
    *[(f, counts(0, 1, 5), ("Loop",)) for f in (for_count, for_index, for_from_to, for_down, power)],
    (loop_free_rounds, counts(0, 2, 100), ("Loop",)),
    *[(f, GRIDS, ("Scan",)) for f in (
        for_rows, for_rows_number, for_rows_if, for_rows_continue, for_enumerate, for_reversed, for_last, append_stack,
        append_two, append_carry, append_behind, append_count, running_max, attributes_in_loop, tuple_carried,
        dict_carried, growing, augmented)],
    *[(f, GRIDS, ("Loop",)) for f in (for_rows_break, for_rows_return, for_else)],
    *[(f, [(GRID, OTHER), (OTHER, -GRID)], ("Scan",)) for f in (for_zip, for_zip_enumerate)],
    *[(f, integers(0, 1, 7), ("Loop",)) for f in (fibonacci, factorial)],
    (collatz, integers(1, 6, 27), ("Loop", "If")),
    (greatest_divisor, integers((12, 18), (17, 5), (4, 0)), ("Loop",)),
    (newton, [(UP,), (np.array([9, 16], np.float32),)], ("Loop",)),
    *[(f, VECTORS, ("If",)) for f in (bubble, item_set_loop)],
    (find, [(UP, np.array(2, np.float32)), (UP, np.array(9, np.float32))], ("If",)),
]
