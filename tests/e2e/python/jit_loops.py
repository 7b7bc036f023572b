"""Loops over tensors, as people write them; see jit_cases.py. `xp` is the library of functions."""
import numpy as np

xp = np


def while_sum(x):
    while xp.sum(x) < 100:
        x = x * 2 + 1
    return x


def while_count(x):
    n = 0
    while xp.sum(x) > 1:
        x = x / 2
        n += 1
    return x, n


def while_two(x, y):
    while xp.sum(x) < 50 and xp.sum(y) > -50:
        x, y = x + y + 1, y - x - 1
    return x, y


def while_true(x):
    while True:
        x = x + 1
        if xp.sum(x) > 20:
            break
    return x


def while_true_first(x):
    while True:
        if xp.sum(x) > 20:
            break
        x = x + 1
    return x


def while_continue(x):
    n = 0
    total = x * 0
    while n < xp.sum(x):
        n += 1
        if n % 2 == 0:
            continue
        total = total + n
    return total


def while_else(x):
    n = 0
    while n < 5:
        n += 1
        if xp.sum(x) + n > 7:
            break
    else:
        return x * 0
    return x + n


def while_return(x):
    n = 0
    while n < 10:
        x = x + 1
        if xp.sum(x) > 12:
            return x * 100
        n += 1
    return x


def while_nested(x):
    i = 0
    while i < 7 and i < xp.sum(x):
        j = 0
        while j < i:
            x = x + 0.25
            j = j + 1
        i = i + 2
    return x


def for_count(x, n):
    for _ in range(n):
        x = x * 1.5
    return x


def for_index(x, n):
    total = x * 0
    for i in range(n):
        total = total + i * x
    return total


def for_from_to(x, n):
    total = x * 0
    for i in range(1, n, 2):
        total = total + i
    return total


def for_down(x, n):
    total = x * 0
    for i in range(n, 0, -1):
        total = total * 2 + i
    return total


def for_rows(x):
    total = x[0] * 0
    for row in x:
        total = total * 0.5 + row
    return total


def for_rows_number(x):
    total = 0
    for row in x:
        total = total + row
    return total


def for_rows_if(x):
    total = x[0] * 0
    for row in x:
        if xp.sum(row) > 0:
            total = total + row
        else:
            total = total - row
    return total


def for_rows_break(x):
    total = x[0] * 0
    for row in x:
        if xp.sum(row) < 0:
            break
        total = total + row
    return total


def for_rows_continue(x):
    total = x[0] * 0
    for row in x:
        if xp.sum(row) < 0:
            continue
        total = total + row
    return total


def for_rows_return(x):
    for row in x:
        if xp.sum(row) > 4:
            return row
    return x[0] * 0


def for_else(x):
    for row in x:
        if xp.sum(row) > 100:
            found = row
            break
    else:
        found = x[0] - 1
    return found


def for_enumerate(x):
    total = x[0] * 0
    for i, row in enumerate(x):
        total = total + row * i
    return total


def for_zip(x, y):
    total = x[0] * 0
    for a, b in zip(x, y):
        total = total + a * b
    return total


def for_reversed(x):
    total = x[0] * 0
    for row in reversed(x):
        total = total * 2 + row
    return total


def for_zip_enumerate(x, y):
    total = x[0] * 0
    for i, (a, b) in enumerate(zip(x, y)):
        total = total + a * b * (i + 1)
    return total


def for_last(x):
    for row in x:
        last = row * 2
    return last


def unrolled(x):
    for i in range(4):
        x = x + i
    return x


def unrolled_if(x):
    for i in range(3):
        if xp.sum(x) > i:
            x = x - 1
        else:
            x = x + 2
    return x


def unrolled_break(x):
    for k in [1.0, 2.0, 4.0]:
        if xp.sum(x) > 10:
            break
        x = x * k + 1
    return x


def unrolled_return(x):
    for k in (1, 2, 3):
        if xp.sum(x) > 3 * k:
            return x * k
    return x


def unrolled_else(x):
    for k in (5, 6):
        if xp.sum(x) > k:
            break
    else:
        x = x * 0 + 1
    return x + k


def append_stack(x):
    out = []
    for row in x:
        out.append(row * 2)
    return xp.stack(out)


def append_two(x):
    out = []
    for row in x:
        out.append(row)
        out.append(-row)
    return xp.stack(out)


def append_carry(x):
    out, state = [], x[0] * 0
    for row in x:
        state = state * 0.5 + row
        out.append(state)
    return xp.stack(out), state


def append_behind(x):
    out = [x[0] * 0]
    for row in x:
        out.append(row)
    out.append(x[0])
    return xp.stack(out)


def append_count(x):
    out = []
    for row in x:
        out.append(row)
    return len(out) + xp.sum(x)
