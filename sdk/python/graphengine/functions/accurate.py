"""Functions of floats that no operator has, by formulas that lose no digits and have gradients.

A branch that is not taken divides by 1, since a gradient of 0 times an infinite one is NaN.
"""
import math
from typing import Any, Tuple

from graphengine.functions.dtypes import FLOATING
from graphengine.functions.elementwise import _sign_set
from graphengine.functions.values import floating, node, pair, scalar, type_of


def _two(function: str, x1: Any, x2: Any) -> Tuple[Any, Any, str]:
    a, b, name = pair(x1, x2)
    if name in FLOATING:
        return a, b, name
    (a, name), (b, _) = floating(function, a), floating(function, b)
    return a, b, name


def log2(x: Any, /) -> Any:
    """The logarithm to base 2."""
    x, name = floating("log2", x)
    return node("Div", node("Log", x), scalar(math.log(2), name))


def log10(x: Any, /) -> Any:
    """The logarithm to base 10."""
    x, name = floating("log10", x)
    return node("Div", node("Log", x), scalar(math.log(10), name))


def expm1(x: Any, /) -> Any:
    """exp(x) - 1, for small x too (W. Kahan's formula)."""
    x, name = floating("expm1", x)
    one = scalar(1.0, name)
    power = node("Exp", x)
    less_one = node("Sub", power, one)
    small = node("Equal", power, one)
    # Far from 0 the plain difference has all digits: e^-20 is below half a unit of the last place.
    plain = node("Or", node("Less", x, scalar(-1.0, name)), node("Greater", x, scalar(1.0, name)))
    log = node("Log", node("Where", node("Or", small, plain), scalar(2.0, name), power))
    near = node("Div", node("Mul", less_one, node("Where", plain, one, x)), log)
    return node("Where", small, x, node("Where", plain, less_one, near))


def log1p(x: Any, /) -> Any:
    """log(1 + x), for small x too (W. Kahan's formula)."""
    x, _ = floating("log1p", x)
    return _log1p(x)


def _log1p(x: Any) -> Any:
    name = type_of(x)
    one = scalar(1.0, name)
    more = node("Add", x, one)
    small = node("Equal", more, one)
    far = node("Or", node("IsInf", x), node("Less", more, scalar(0.0, name)))
    rest = node("Sub", more, one)
    safe = node("Where", node("Or", small, far), one, rest)
    factor = node("Div", node("Where", far, one, x), safe)
    log = node("Log", more)
    return node("Where", small, x, node("Mul", log, factor))


def logaddexp(x1: Any, x2: Any, /) -> Any:
    """log(exp(x1) + exp(x2)), without overflow."""
    a, b, name = _two("logaddexp", x1, x2)
    first = node("GreaterOrEqual", a, b)
    big, small = node("Where", first, a, b), node("Where", first, b, a)
    # Of two equal infinities the difference is NaN, and of one alone its part is 0.
    endless = node("IsInf", big)
    away = node("Where", endless, scalar(0.0, name), node("Sub", small, big))
    found = node("Add", big, _log1p(node("Exp", away)))
    return node("Where", node("And", endless, node("Not", node("IsNaN", small))), big,
                node("Where", endless, node("Add", big, small), found))


def _size(x: Any, negative: Any) -> Any:
    """|x|, whose gradient at +0 is 1."""
    return node("Where", negative, node("Neg", x), x)


def _ordered(a: Any, b: Any) -> Tuple[Any, Any, Any]:
    swap = node("Greater", b, a)
    return swap, node("Where", swap, b, a), node("Where", swap, a, b)


def hypot(x1: Any, x2: Any, /) -> Any:
    """sqrt(x1 * x1 + x2 * x2), without overflow."""
    a, b, name = _two("hypot", x1, x2)
    zero, one = scalar(0.0, name), scalar(1.0, name)
    _, big, small = _ordered(_size(a, _sign_set(a)), _size(b, _sign_set(b)))
    endless = node("Or", node("IsInf", a), node("IsInf", b))
    plain = node("Or", endless, node("Equal", big, zero))
    ratio = node("Div", node("Where", endless, zero, small), node("Where", plain, one, big))
    found = node("Mul", big, node("Sqrt", node("Add", one, node("Mul", ratio, ratio))))
    return node("Where", endless, scalar(math.inf, name), found)


def atan2(x1: Any, x2: Any, /) -> Any:
    """The angle of the point whose height is x1 and whose width is x2."""
    y, x, name = _two("atan2", x1, x2)
    zero, one = scalar(0.0, name), scalar(1.0, name)
    below, left = _sign_set(y), _sign_set(x)
    steep, big, small = _ordered(_size(x, left), _size(y, below))
    safe = node("Where", node("Equal", big, zero), one, big)
    ratio = node("Where", node("IsInf", small), one, node("Div", small, safe))
    angle = node("Atan", ratio)
    angle = node("Where", steep, node("Sub", scalar(math.pi / 2, name), angle), angle)
    angle = node("Where", left, node("Sub", scalar(math.pi, name), angle), angle)
    return node("Where", below, node("Neg", angle), angle)
