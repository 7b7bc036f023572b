"""Functions whose control flow is converted: each is called as it is and converted, and answers the
same. Numbers, loops and exits in every mixture that people write.
"""

import functools
import math as maths


def plain(x):
    """With a docstring."""
    return x + 1


def branch(x):
    if x > 3:
        y = x * 2
    elif x > 1:
        y = x - 1
    else:
        y = -x
    return y


def early(x):
    if x < 0:
        return "negative"
    if x == 0:
        return "zero"
    return "positive"


def early_without_else(x):
    if x > 5:
        x = x - 5
        if x > 5:
            return x
    x += 100
    return x


def nothing_returned(x):
    if x > 2:
        return 7


def may_return(x):
    total = 0
    if x > 1:
        if x > 4:
            return "big"
        total += 1
    elif x < -1:
        if x < -4:
            return "small"
        total -= 1
    total *= 2
    return total


def loop(n):
    total = 0
    while n > 0:
        total += n
        n -= 1
    return total


def loop_else(n):
    while n > 0:
        if n == 3:
            break
        n -= 1
    else:
        return "all"
    return n


def loop_returns(n):
    for i in range(n):
        for j in range(n):
            if i * j == 6:
                return i, j
    return None


def continues(n):
    out = []
    for i in range(n):
        if i % 2:
            continue
        if i == 8:
            break
        out.append(i)
    else:
        out.append("end")
    return out


def guarded(n):
    out = []
    for i in range(n):
        if i > 2:
            if i % 3 == 0:
                continue
            out.append(-i)
            if i == 7:
                break
        out.append(i)
    return out, i if n > 0 else None


def else_returns(n):
    for i in range(n):
        if i == 5:
            break
    else:
        return "no five"
    return "five"


def else_breaks(n):
    count = 0
    while True:
        count += 1
        for i in range(n):
            if i == count:
                break
        else:
            break
        if count > 20:
            return "never"
    return count


def chained(a, b, c):
    return 1 < a < b < c, a == b != c, (a < b) is True


def once(x):
    seen = []

    def middle():
        seen.append(x)
        return x

    return 0 < middle() < 10, seen


def logic(a, b):
    return a and b, a or b, not a, (a and b) or (not b and "x"), a and b and a or 5


def conditional(x):
    return "a" if x > 2 else "b" if x > 0 else "c"


def unbound(x):
    if x > 2:
        y = 1
    return y


def deleted(x):
    y = 1
    if x > 2:
        del y
    return y


def recursion(n):
    return 1 if n < 2 else n * recursion(n - 1)


def closure(x):
    count = 0

    def more(k):
        nonlocal count
        if k > 1:
            count += k
        return count

    for i in range(x):
        more(i)
    return count, more(3)


def comprehension(n):
    return [i if i % 2 else -i for i in range(n) if i != 3], {i: i > 2 and i for i in range(n)}, (
        sum(i for i in range(n) if i > 1 or i == 0))


def walrus(n):
    while (n := n - 1) > 2:
        pass
    if (m := n * 2) > 3:
        return m, n
    return n


def lambdas(x):
    f = lambda y, z=2: y * z if y > 1 else z
    return f(x), f(x, z=5)


def unpacking(x):
    for a, (b, *c) in [(x, (1, 2, 3)), (2, (x, 5))]:
        if a == 2:
            a, b = b, a
    return a, b, c


def tries(x):
    out = []
    try:
        if x > 2:
            raise ValueError(x)
        out.append("fine")
        if x == 1:
            return out, "one"
    except ValueError as e:
        out.append(str(e))
        if x > 4:
            return out
    else:
        out.append("else")
    finally:
        out.append("finally")
    return out, "end"


class Managed:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, *_):
        self.log.append("out")


def managed(x):
    log = []
    with Managed(log) as m:
        if x > 3:
            return log, m is not None
        if x > 1:
            log.append("mid")
    with Managed(log):
        for i in range(x):
            if i == 1:
                return log, i
    return log


def matched(x):
    match x:
        case 1:
            return "one"
        case [a, b] if a > b:
            return a
        case [a, *rest]:
            y = rest
        case _:
            y = None
    return y


def keywords(*args, k=2, **more):
    if k > 1 and args:
        return args[0], more
    return sorted(more)


_counter = 0


def globals_(x):
    global _counter
    _counter = 0
    if x > 1:
        _counter = x
    for i in range(x):
        _counter += i
    return _counter


class Base:
    def size(self):
        return 3


class Derived(Base):
    __secret = 4

    def size(self):
        if self.__secret > 3:
            return super().size() + self.__secret
        return 0

    @property
    def half(self):
        return self.size() / 2 if self.size() else 0


def methods(x):
    d = Derived()
    return d.size() + x, d.half, Derived.size(d)


def nested_loops(n):
    total = 0
    for i in range(n):
        j = 0
        while j < n:
            j += 1
            if j == i:
                continue
            if j * i > 12:
                break
            total += j
        else:
            total += 100
            if total > 300:
                return "much", total
        if total > 250:
            break
    return total


def while_true(n):
    while True:
        n -= 3
        if n < 0:
            return n
        if n == 1:
            break
    return "one"


def generator(n):
    for i in range(n):
        if i != 2:
            yield i


def uses_generator(n):
    return list(generator(n))


def augmented(x):
    d = {"a": 1}
    xs = [0, 0]
    if x > 1:
        d["a"] += x
        xs[0] = x
    elif x == 1:
        xs[1] -= 1
    return d, xs


def imports(x):
    if x > 1:
        import math as m
    else:
        import cmath as m
    return m.sqrt(4)


def not_in(x):
    return not x in (1, 2), x not in (1, 2), 0 <= x in (1, 2)


def of_modules(x):
    if maths.fabs(x) > 3:
        return functools.reduce(max, [x, maths.ceil(2.5)])
    return maths.floor(x / 2)


INTS = [(-6,), (-2,), (0,), (1,), (2,), (3,), (5,), (9,), (13,)]
CASES = [(f, INTS) for f in (
    plain, branch, early, early_without_else, nothing_returned, may_return, loop, loop_else, loop_returns, continues,
    guarded, else_returns, else_breaks, once, conditional, unbound, deleted, closure, comprehension, walrus, lambdas,
    unpacking, tries, managed, globals_, methods, nested_loops, while_true, uses_generator, augmented, imports,
    not_in, of_modules)]
CASES += [(recursion, [(1,), (5,), (9,)]), (matched, [(1,), ([3, 2],), ([2, 3],), (7,)]),
          (chained, [(2, 3, 4), (0, 1, 2), (2, 2, 3), (3, 2, 1)]),
          (logic, [(0, 0), (0, 3), (2, 0), (2, 3), ("", "a")])]
