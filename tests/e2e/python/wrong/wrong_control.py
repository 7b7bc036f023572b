"""Branches of tensors that do not meet, and names that one of them sets."""
from wrong import JIT, wrong

import graphengine as ge


def ones(*shape):
    return ge.ones(shape)


@wrong(TypeError, "'y'", "one branch", "if", how=JIT, args=lambda: (ones(3),))
def one_branch(x):
    if ge.sum(x) > 0:
        y = x
    return y * 2
    #      ^^^^^


@wrong(TypeError, "'scale'", "one branch", how=JIT, args=lambda: (ones(3),))
def one_branch_call(x):
    if ge.sum(x) > 0:
        def scale(v):
            return v * 2
    return scale(x)
    #      ^^^^^^^^


@wrong(TypeError, "'y'", "float32", "int64", how=JIT, args=lambda: (ones(3),))
def types_of_branches(x):
    if ge.sum(x) > 0:
        y = x
    else:
        y = ge.astype(x, ge.int64)
    return y + 1
    #      ^^^^^


@wrong(TypeError, "'y'", "(3)", "(1, 3)", how=JIT, args=lambda: (ones(3),))
def axes_of_branches(x):
    if ge.sum(x) > 0:
        y = x
    else:
        y = ge.expand_dims(x, axis=0)
    return ge.sum(y)
    #      ^^^^^^^^^


@wrong(TypeError, "a tuple of 2", "structure", how=JIT, args=lambda: (ones(3),))
def structures(x):
    if ge.sum(x) > 0:
    #  ^^^^^^^^^^^^^
        return x, x
    return x


@wrong(TypeError, "None", "structure", how=JIT, args=lambda: (ones(3),))
def forgotten_return(x):
    if ge.sum(x) > 0:
    #  ^^^^^^^^^^^^^
        return x


@wrong(TypeError, "'a'", "structure", how=JIT, args=lambda: (ones(3),))
def keys(x):
    if ge.sum(x) > 0:
    #  ^^^^^^^^^^^^^
        return {"a": x}
    return {"b": x}


@wrong(TypeError, "'name'", "'big'", "'small'", how=JIT, args=lambda: (ones(3),))
def text_of_branches(x):
    name = "none"
    if ge.sum(x) > 0:
        name = "big"
    else:
        name = "small"
    return x, name + "!"
    #         ^^^^^^^^^^


@wrong(ValueError, "one element", "any()", args=lambda: (ones(2, 2), ones(2, 2)))
def equal_arrays(x, y):
    if x == y:
    #  ^^^^^^
        return x
    return y


@wrong(ValueError, "one element", "any()", args=lambda: (ones(2), ones(2)))
def and_of_arrays(x, y):
    return ge.where((x > 0) and (y > 0), x, y)
    #               ^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "one element", "any()", args=lambda: (ones(2),))
def not_of_array(x):
    return not (x > 0)
    #      ^^^^^^^^^^^


@wrong(ValueError, "one element", "any()", args=lambda: (ones(2),))
def chain(x):
    return 0 < x < 2
    #      ^^^^^^^^^


@wrong(TypeError, "'chosen'", "one branch", how=JIT, args=lambda: (ones(3),))
def in_a_dict(x):
    out = {}
    if ge.sum(x) > 0:
        out["chosen"] = x
    return out["chosen"] + 1
    #      ^^^^^^^^^^^^^^^^^


@wrong(TypeError, "'items'", "branch", how=JIT, args=lambda: (ones(3),))
def appended_in_one_branch(x):
    items = [x]
    if ge.sum(x) > 0:
        items.append(x * 2)
    return ge.stack(items)
    #      ^^^^^^^^^^^^^^^


class Counter:
    def __init__(self):
        self.first = None


@wrong(TypeError, "first", "None", how=JIT, args=lambda: (ones(3),))
def attribute_of_branch(x):
    counter = Counter()
    if ge.sum(x) > 0:
        counter.first = x
    return counter.first + x
    #      ^^^^^^^^^^^^^^^^^


@wrong(TypeError, "asked", "bool", "ge.eager()", how=JIT, args=lambda: (ones(3),))
def condition_of_comprehension(x):
    return [v * 2 for v in (x, x + 1) if ge.sum(v) > 3]
    #                                    ^^^^^^^^^^^^^


@wrong(TypeError, "asked", "bool", "ge.eager()", how=JIT, args=lambda: (ones(3),))
def assertion(x):
    assert ge.sum(x) > 0
    #      ^^^^^^^^^^^^^
    return x


@wrong(TypeError, "asked", "bool", "ge.eager()", how=JIT, args=lambda: (ones(3),))
def in_list(x):
    total = ge.sum(x)
    return total in [1.0, 3.0]
    #      ^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "asked", "bool", how=JIT, args=lambda: (ones(3),))
def any_of_list(x):
    return x * any([ge.sum(x) > 0, ge.sum(x) < 5])
    #          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "asked", "bool", how=JIT, args=lambda: (ones(3),))
def match_statement(x):
    match ge.sum(x):
        case 3:
    #        ^
            return x
    return -x


@wrong(TypeError, "asked", "bool", how=JIT, args=lambda: (ones(4),))
def sorted_tensors(x):
    return ge.stack(sorted([x[0], x[1], x[2]]))
    #               ^^^^^^^^^^^^^^^^^^^^^^^^^^
