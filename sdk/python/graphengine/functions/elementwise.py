"""Functions of elements: arithmetic, comparisons, logic, roots, logarithms, angles."""
from typing import Any, Optional, Sequence

import numpy

from graphengine.functions.dtypes import (FLOATING, INTEGRAL, NUMBERS, NUMERIC, SIGNED, UNSIGNED, bits_of,
                                          kind_of, name_of, promoted)
from graphengine.functions.values import (Tensor, apply, cast, floating, is_number, node, pair, same, scalar,
                                          spread, tensor, type_of, wanted)

_BITWISE = ("bool",) + INTEGRAL
_NO_ATTRIBUTES: Any = {}


def _numbers(function: str, op: str, x1: Any, x2: Any, names: Sequence[str] = NUMERIC) -> Any:
    """A binary operator over numbers of one type."""
    a, b, name = pair(x1, x2)
    if name not in names:
        wanted(function, a, names)
    return apply("", op, (a, b), _NO_ATTRIBUTES, 1)


def add(x1: Any, x2: Any, /) -> Any:
    """x1 + x2; integers wrap (ONNX Add)."""
    return _numbers("add", "Add", x1, x2)


def subtract(x1: Any, x2: Any, /) -> Any:
    """x1 - x2; integers wrap (ONNX Sub)."""
    return _numbers("subtract", "Sub", x1, x2)


def multiply(x1: Any, x2: Any, /) -> Any:
    """x1 * x2; integers wrap (ONNX Mul)."""
    return _numbers("multiply", "Mul", x1, x2)


def divide(x1: Any, x2: Any, /) -> Any:
    """x1 / x2 as floats, integers too (ONNX Div)."""
    a, b, name = pair(x1, x2)
    if name not in FLOATING:
        (a, name), (b, _) = floating("divide", a), floating("divide", b)
    return apply("", "Div", (a, b), _NO_ATTRIBUTES, 1)


def maximum(x1: Any, x2: Any, /) -> Any:
    """The greater of each two; NaN where either is (ONNX Max)."""
    return _numbers("maximum", "Max", x1, x2)


def minimum(x1: Any, x2: Any, /) -> Any:
    """The lesser of each two; NaN where either is (ONNX Min)."""
    return _numbers("minimum", "Min", x1, x2)


def remainder(x1: Any, x2: Any, /) -> Any:
    """What is left of x1 / x2, with the sign of x2, as Python's % (ONNX Mod)."""
    return _numbers("remainder", "Mod", x1, x2)


def floor_divide(x1: Any, x2: Any, /) -> Any:
    """The greatest whole number that is not above x1 / x2, as Python's //."""
    a, b, name = pair(x1, x2)
    wanted("floor_divide", a, NUMERIC)
    if name in UNSIGNED:
        return node("Div", a, b)
    rest = node("Mod", a, b, fmod=1)
    zero, one = scalar(0, name), scalar(1, name)
    signs_differ = node("Xor", node("Less", rest, zero), node("Less", b, zero))
    lower = node("And", signs_differ, node("Not", node("Equal", rest, zero)))
    if name in SIGNED:
        quotient = node("Div", a, b)
        return node("Where", lower, node("Sub", quotient, one), quotient)
    quotient = node("Div", node("Sub", a, rest), b)
    quotient = node("Where", lower, node("Sub", quotient, one), quotient)
    down = node("Floor", quotient)
    down = node("Where", node("Greater", node("Sub", quotient, down), scalar(0.5, name)),
                node("Add", down, one), down)
    exact = node("Div", a, b)
    # Of a zero, the sign of the quotient stays; a division by zero is what division gives.
    down = node("Where", node("Equal", quotient, zero), copysign(zero, exact), down)
    return node("Where", node("Equal", b, zero), exact, down)


def pow(x1: Any, x2: Any, /) -> Any:  # pylint: disable=redefined-builtin
    """x1 to the power x2; integers wrap (ONNX Pow)."""
    a, b, name = pair(x1, x2)
    wanted("pow", a, NUMERIC)
    if name in FLOATING or name in ("int32", "int64"):
        return node("Pow", a, b)
    if name == "uint64":
        bits = NUMBERS["int64"]
        return node("BitCast", node("Pow", node("BitCast", a, to=bits), b), to=NUMBERS[name])
    wide = "int32" if bits_of(name) < 32 else "int64"
    return cast(node("Pow", cast(a, wide), b), name)


def _same_type_or_identity(function: str, op: str, x: Any) -> Any:
    """An operator that leaves integers as they are."""
    x = tensor(x)
    return same(x) if wanted(function, x, NUMERIC) in INTEGRAL else node(op, x)


def abs(x: Any, /) -> Any:  # pylint: disable=redefined-builtin
    """Without the sign (ONNX Abs)."""
    x = tensor(x)
    wanted("abs", x, NUMERIC)
    return node("Abs", x)


def negative(x: Any, /) -> Any:
    """-x; unsigned integers wrap (ONNX Neg)."""
    x = tensor(x)
    name = wanted("negative", x, NUMERIC)
    return node("Sub", scalar(0, name), x) if name in UNSIGNED else node("Neg", x)


def positive(x: Any, /) -> Any:
    """The same value."""
    x = tensor(x)
    wanted("positive", x, NUMERIC)
    return same(x)


def conj(x: Any, /) -> Any:
    """The same value: Tensors hold no complex numbers."""
    x = tensor(x)
    wanted("conj", x, NUMERIC)
    return same(x)


def real(x: Any, /) -> Any:
    """The same value: Tensors hold no complex numbers."""
    x = tensor(x)
    wanted("real", x, NUMERIC)
    return same(x)


def imag(x: Any, /) -> Any:
    """Refused, as the standard has it for real numbers; no operator takes complex ones."""
    raise TypeError(f"imag: found {type_of(tensor(x))}, wanted complex numbers, which no operator takes")


def sign(x: Any, /) -> Any:
    """-1, 0 or 1; NaN stays (ONNX Sign)."""
    x = tensor(x)
    name = wanted("sign", x, NUMERIC)
    found = node("Sign", x)
    return node("Where", node("IsNaN", x), x, found) if name in FLOATING else found


def square(x: Any, /) -> Any:
    """x * x."""
    x = tensor(x)
    return _numbers("square", "Mul", x, x)


def ceil(x: Any, /) -> Any:
    """The least whole number that is not below (ONNX Ceil)."""
    return _same_type_or_identity("ceil", "Ceil", x)


def floor(x: Any, /) -> Any:
    """The greatest whole number that is not above (ONNX Floor)."""
    return _same_type_or_identity("floor", "Floor", x)


def round(x: Any, /) -> Any:  # pylint: disable=redefined-builtin
    """The nearest whole number, of two the even one (ONNX Round)."""
    return _same_type_or_identity("round", "Round", x)


def trunc(x: Any, /) -> Any:
    """The whole part."""
    x = tensor(x)
    name = wanted("trunc", x, NUMERIC)
    if name in INTEGRAL:
        return same(x)
    # Ceil gives -0.0 for what lies between -1 and 0, as wanted.
    return node("Where", node("Less", x, scalar(0, name)), node("Ceil", x), node("Floor", x))


def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:  # pylint: disable=redefined-builtin
    """Not below min, not above max; either may be None. The type is that of x."""
    x = tensor(x)
    name = wanted("clip", x, NUMERIC)
    found = x
    for bound, op in ((min, "Max"), (max, "Min")):
        if bound is None:
            continue
        bound = _bound(bound, name)
        found = node(op, found, bound)
    return same(x) if found is x else found


def _bound(bound: Any, name: str) -> Any:
    if not is_number(bound):
        bound = tensor(bound)
        if kind_of(promoted(type_of(bound), name)) != kind_of(name):
            raise TypeError(f"clip: found a bound of {type_of(bound)} for {name}; cast one of them")
        return cast(bound, name)
    if name in INTEGRAL:
        if isinstance(bound, float) and not bound.is_integer() and numpy.isfinite(bound):
            raise TypeError(f"clip: found the bound {bound} for {name}, wanted a whole number")
        limits = numpy.iinfo(name)
        bound = limits.min if bound < limits.min else limits.max if bound > limits.max else int(bound)
    return scalar(bound, name)


def _compared(function: str, op: str, x1: Any, x2: Any, names: Sequence[str]) -> Any:
    out_of_range = _beyond(op, x1, x2)
    if out_of_range is not None:
        return out_of_range
    return _numbers(function, op, x1, x2, names)


def _beyond(op: str, x1: Any, x2: Any) -> Optional[Any]:
    """A comparison of integers with a number that their type cannot hold: the same answer for all."""
    turned = {"Less": "Greater", "Greater": "Less", "LessOrEqual": "GreaterOrEqual",
              "GreaterOrEqual": "LessOrEqual", "Equal": "Equal"}
    if is_number(x1) and not is_number(x2):
        op, x1, x2 = turned[op], x2, x1
    if is_number(x1) or type(x2) is not int or not isinstance(x1, (Tensor, numpy.ndarray)):
        return None
    name = name_of(x1.dtype)
    if name not in INTEGRAL or numpy.iinfo(name).min <= x2 <= numpy.iinfo(name).max:
        return None
    answer = op.startswith("Less") if x2 > 0 else op.startswith("Greater")
    return _everywhere(answer, tensor(x1))


_ANY = ("bool",) + NUMERIC


def equal(x1: Any, x2: Any, /) -> Any:
    """x1 == x2 (ONNX Equal)."""
    return _compared("equal", "Equal", x1, x2, _ANY)


def not_equal(x1: Any, x2: Any, /) -> Any:
    """x1 != x2."""
    return node("Not", _compared("not_equal", "Equal", x1, x2, _ANY))


def less(x1: Any, x2: Any, /) -> Any:
    """x1 < x2 (ONNX Less)."""
    return _compared("less", "Less", x1, x2, NUMERIC)


def less_equal(x1: Any, x2: Any, /) -> Any:
    """x1 <= x2 (ONNX LessOrEqual)."""
    return _compared("less_equal", "LessOrEqual", x1, x2, NUMERIC)


def greater(x1: Any, x2: Any, /) -> Any:
    """x1 > x2 (ONNX Greater)."""
    return _compared("greater", "Greater", x1, x2, NUMERIC)


def greater_equal(x1: Any, x2: Any, /) -> Any:
    """x1 >= x2 (ONNX GreaterOrEqual)."""
    return _compared("greater_equal", "GreaterOrEqual", x1, x2, NUMERIC)


def logical_and(x1: Any, x2: Any, /) -> Any:
    """Whether both are true (ONNX And)."""
    return _numbers("logical_and", "And", x1, x2, ("bool",))


def logical_or(x1: Any, x2: Any, /) -> Any:
    """Whether one is true or both (ONNX Or)."""
    return _numbers("logical_or", "Or", x1, x2, ("bool",))


def logical_xor(x1: Any, x2: Any, /) -> Any:
    """Whether one alone is true (ONNX Xor)."""
    return _numbers("logical_xor", "Xor", x1, x2, ("bool",))


def logical_not(x: Any, /) -> Any:
    """Whether it is false (ONNX Not)."""
    x = tensor(x)
    wanted("logical_not", x, ("bool",))
    return node("Not", x)


def _bits(function: str, op: str, logic: str, x1: Any, x2: Any) -> Any:
    a, b, name = pair(x1, x2)
    wanted(function, a, _BITWISE)
    return node(logic if name == "bool" else op, a, b)


def bitwise_and(x1: Any, x2: Any, /) -> Any:
    """Bits that both have (ONNX BitwiseAnd, And)."""
    return _bits("bitwise_and", "BitwiseAnd", "And", x1, x2)


def bitwise_or(x1: Any, x2: Any, /) -> Any:
    """Bits that either has (ONNX BitwiseOr, Or)."""
    return _bits("bitwise_or", "BitwiseOr", "Or", x1, x2)


def bitwise_xor(x1: Any, x2: Any, /) -> Any:
    """Bits that one alone has (ONNX BitwiseXor, Xor)."""
    return _bits("bitwise_xor", "BitwiseXor", "Xor", x1, x2)


def bitwise_invert(x: Any, /) -> Any:
    """The other bits (ONNX BitwiseNot, Not)."""
    x = tensor(x)
    return node("Not" if wanted("bitwise_invert", x, _BITWISE) == "bool" else "BitwiseNot", x)


def _shift(function: str, direction: str, x1: Any, x2: Any) -> Any:
    a, b, _ = pair(x1, x2)
    wanted(function, a, INTEGRAL)
    return node("BitShift", a, b, direction=direction)


def bitwise_left_shift(x1: Any, x2: Any, /) -> Any:
    """Bits of x1 moved up by x2 places (ONNX BitShift)."""
    return _shift("bitwise_left_shift", "LEFT", x1, x2)


def bitwise_right_shift(x1: Any, x2: Any, /) -> Any:
    """Bits of x1 moved down by x2 places; the sign comes in (ONNX BitShift)."""
    return _shift("bitwise_right_shift", "RIGHT", x1, x2)


def isnan(x: Any, /) -> Any:
    """Whether it is NaN (ONNX IsNaN)."""
    x = tensor(x)
    return node("IsNaN", x) if wanted("isnan", x, NUMERIC) in FLOATING else _everywhere(False, x)


def isinf(x: Any, /) -> Any:
    """Whether it is infinite (ONNX IsInf)."""
    x = tensor(x)
    return node("IsInf", x) if wanted("isinf", x, NUMERIC) in FLOATING else _everywhere(False, x)


def isfinite(x: Any, /) -> Any:
    """Whether it is neither NaN nor infinite."""
    x = tensor(x)
    if wanted("isfinite", x, NUMERIC) in INTEGRAL:
        return _everywhere(True, x)
    return node("Not", node("Or", node("IsNaN", x), node("IsInf", x)))


def _everywhere(answer: bool, x: Any) -> Any:
    found = spread(scalar(answer, "bool"), x)
    return found if x.ndim else same(found)  # the scalar itself is used again


def signbit(x: Any, /) -> Any:
    """Whether the sign is set, of -0.0 and NaN too."""
    x = tensor(x)
    wanted("signbit", x, FLOATING)
    return _sign_set(x)


def _as_bits(x: Any) -> Any:
    return node("BitCast", x, to=NUMBERS[f"int{bits_of(type_of(x))}"])


def _sign_set(x: Any) -> Any:
    bits = _as_bits(x)
    return node("Less", bits, scalar(0, type_of(bits)))


def copysign(x1: Any, x2: Any, /) -> Any:
    """x1 with the sign of x2."""
    a, b, _ = pair(x1, x2)
    wanted("copysign", a, FLOATING)
    size = node("Abs", a)
    return node("Where", _sign_set(b), node("Neg", size), size)


def nextafter(x1: Any, x2: Any, /) -> Any:
    """The next number of the type after x1 on the way to x2."""
    a, b, name = pair(x1, x2)
    wanted("nextafter", a, FLOATING)
    bits = _as_bits(a)
    whole = type_of(bits)
    zero, one = scalar(0, name), scalar(1, whole)
    away = node("Equal", node("Less", a, b), node("Greater", a, zero))
    stepped = node("BitCast", node("Where", away, node("Add", bits, one), node("Sub", bits, one)),
                   to=NUMBERS[name])
    least = node("BitCast", one, to=NUMBERS[name])
    stepped = node("Where", node("Equal", a, zero), copysign(least, b), stepped)
    stepped = node("Where", node("Equal", a, b), b, stepped)
    return node("Where", node("Or", node("IsNaN", a), node("IsNaN", b)), node("Add", a, b), stepped)


def _map(function: str, op: str, x: Any) -> Any:
    x, _ = floating(function, x)
    return apply("", op, (x,), _NO_ATTRIBUTES, 1)


def acos(x: Any, /) -> Any:
    """The angle of this cosine (ONNX Acos)."""
    return _map("acos", "Acos", x)


def acosh(x: Any, /) -> Any:
    """The inverse of cosh (ONNX Acosh)."""
    return _map("acosh", "Acosh", x)


def asin(x: Any, /) -> Any:
    """The angle of this sine (ONNX Asin)."""
    return _map("asin", "Asin", x)


def asinh(x: Any, /) -> Any:
    """The inverse of sinh (ONNX Asinh)."""
    return _map("asinh", "Asinh", x)


def atan(x: Any, /) -> Any:
    """The angle of this tangent (ONNX Atan)."""
    return _map("atan", "Atan", x)


def atanh(x: Any, /) -> Any:
    """The inverse of tanh (ONNX Atanh)."""
    return _map("atanh", "Atanh", x)


def cos(x: Any, /) -> Any:
    """The cosine of radians (ONNX Cos)."""
    return _map("cos", "Cos", x)


def cosh(x: Any, /) -> Any:
    """The hyperbolic cosine (ONNX Cosh)."""
    return _map("cosh", "Cosh", x)


def sin(x: Any, /) -> Any:
    """The sine of radians (ONNX Sin)."""
    return _map("sin", "Sin", x)


def sinh(x: Any, /) -> Any:
    """The hyperbolic sine (ONNX Sinh)."""
    return _map("sinh", "Sinh", x)


def tan(x: Any, /) -> Any:
    """The tangent of radians (ONNX Tan)."""
    return _map("tan", "Tan", x)


def tanh(x: Any, /) -> Any:
    """The hyperbolic tangent (ONNX Tanh)."""
    return _map("tanh", "Tanh", x)


def exp(x: Any, /) -> Any:
    """e to the power x (ONNX Exp)."""
    return _map("exp", "Exp", x)


def log(x: Any, /) -> Any:
    """The natural logarithm (ONNX Log)."""
    return _map("log", "Log", x)


def sqrt(x: Any, /) -> Any:
    """The square root (ONNX Sqrt)."""
    return _map("sqrt", "Sqrt", x)


def reciprocal(x: Any, /) -> Any:
    """1 / x (ONNX Reciprocal)."""
    return _map("reciprocal", "Reciprocal", x)
