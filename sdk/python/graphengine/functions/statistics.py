"""Functions over axes: sums, means, extremes, running sums, truth."""
from typing import Any, Optional, Sequence, Tuple

from graphengine.functions.dtypes import FLOATING, INTEGRAL, NUMERIC, SIGNED, name_of
from graphengine.functions.elementwise import not_equal
from graphengine.functions.values import (axes_of, axis_of, cast, fixed, floating, ints, node, same, scalar,
                                          size_tensor, tensor, type_of, wanted, whole)

# What ONNX sums, multiplies and accumulates.
_SUMMED = ("int32", "int64", "uint32", "uint64") + FLOATING
_COMPARED = _SUMMED + ("int8", "uint8", "bool")


def _reduced(op: str, x: Any, axes: Tuple[int, ...], keepdims: bool) -> Any:
    if not axes:
        return same(x)
    return node(op, x, ints(axes), keepdims=int(bool(keepdims)))


def _summed_type(function: str, x: Any, dtype: Any) -> str:
    """The type of a sum: integers of less than 64 bits become those of 64."""
    name = wanted(function, x, ("bool",) + NUMERIC)
    if dtype is not None:
        return name_of(dtype)
    if name in FLOATING:
        return name
    return "int64" if name in SIGNED or name == "bool" else "uint64"


def _wide(name: str) -> str:
    """A type that ONNX sums and whose sums, cast to this one, are those of this one."""
    if name in _SUMMED:
        return name
    if name not in INTEGRAL:
        raise TypeError(f"found dtype={name}, wanted a type of numbers")
    return "int32" if name in SIGNED else "uint32"


def _total(function: str, op: str, x: Any, axis: Any, dtype: Any, keepdims: bool) -> Any:
    x = tensor(x)
    name = _summed_type(function, x, dtype)
    wide = _wide(name)
    found = _reduced(op, cast(x, wide), axes_of(axis, x.ndim, function), keepdims)
    return cast(found, name)


def sum(x: Any, /, *, axis: Any = None, dtype: Any = None,  # pylint: disable=redefined-builtin
        keepdims: bool = False) -> Any:
    """The sum; 0 of no element (ONNX ReduceSum). Integers give 64 bits where dtype is None."""
    return _total("sum", "ReduceSum", x, axis, dtype, keepdims)


def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The product; 1 of no element (ONNX ReduceProd). Integers give 64 bits where dtype is None."""
    return _total("prod", "ReduceProd", x, axis, dtype, keepdims)


def _extreme(function: str, op: str, x: Any, axis: Any, keepdims: bool) -> Any:
    x = tensor(x)
    name = wanted(function, x, NUMERIC)
    axes = axes_of(axis, x.ndim, function)
    if 0 in [x.shape[a] for a in axes if whole(x.shape[a])]:
        raise ValueError(f"{function}: found no element along the axes, wanted one and more")
    wide = name if name in _COMPARED else "int32"
    return cast(_reduced(op, cast(x, wide), axes, keepdims), name)


def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:  # pylint: disable=redefined-builtin
    """The greatest element; NaN where one is (ONNX ReduceMax)."""
    return _extreme("max", "ReduceMax", x, axis, keepdims)


def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:  # pylint: disable=redefined-builtin
    """The least element; NaN where one is (ONNX ReduceMin)."""
    return _extreme("min", "ReduceMin", x, axis, keepdims)


def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The sum by the count, as floats (ONNX ReduceMean)."""
    x, _ = floating("mean", x)
    return _reduced("ReduceMean", x, axes_of(axis, x.ndim, "mean"), keepdims)


def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The mean square of what is left without the mean; `correction` is taken from the count."""
    return _variance("var", x, axis, correction, keepdims)


def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The square root of var."""
    return node("Sqrt", _variance("std", x, axis, correction, keepdims))


def _variance(function: str, x: Any, axis: Any, correction: float, keepdims: bool) -> Any:
    x, name = floating(function, x)
    axes = axes_of(axis, x.ndim, function)
    if not axes:
        rest = node("Sub", x, x)
        return node("Div", node("Mul", rest, rest), scalar(_at_least_0(1 - correction), name))
    rest = node("Sub", x, node("ReduceMean", x, ints(axes), keepdims=1))
    squares = node("ReduceSum", node("Mul", rest, rest), ints(axes), keepdims=int(bool(keepdims)))
    return node("Div", squares, _count(x, axes, correction, name))


def _at_least_0(count: float) -> float:
    return float(count) if count > 0 else 0.0


def _count(x: Any, axes: Sequence[int], correction: float, name: str) -> Any:
    """The elements of these axes less the correction, as floats."""
    along = [x.shape[a] for a in axes]
    if fixed(along):
        count = 1
        for n in along:
            count *= n
        return scalar(_at_least_0(count - correction), name)
    found = size_tensor(along[0])
    for n in along[1:]:
        found = node("Mul", found, size_tensor(n))
    found = node("Sub", cast(found, name), scalar(float(correction), name))
    return node("Max", found, scalar(0.0, name))


def _running(function: str, op: str, x: Any, axis: Optional[int], dtype: Any, include_initial: bool) -> Any:
    x = tensor(x)
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"{function}: found {x.ndim} axes and no axis=, wanted axis=")
        axis = 0
    place = axis_of(axis, x.ndim, function)
    name = _summed_type(function, x, dtype)
    wide = _wide(name)
    found = cast(node(op, cast(x, wide), scalar(place, "int64")), name)
    if not include_initial:
        return found
    shape = [1 if i == place else n for i, n in enumerate(x.shape)]
    first = node("Expand", scalar(int(op == "CumProd"), name), ints(shape))
    return node("Concat", first, found, axis=place)


def cumulative_sum(x: Any, /, *, axis: Optional[int] = None, dtype: Any = None,
                   include_initial: bool = False) -> Any:
    """Running sums along an axis (ONNX CumSum); include_initial puts a 0 before them."""
    return _running("cumulative_sum", "CumSum", x, axis, dtype, include_initial)


def cumulative_prod(x: Any, /, *, axis: Optional[int] = None, dtype: Any = None,
                    include_initial: bool = False) -> Any:
    """Running products along an axis (ONNX CumProd); include_initial puts a 1 before them."""
    return _running("cumulative_prod", "CumProd", x, axis, dtype, include_initial)


def _truth(function: str, op: str, x: Any, axis: Any, keepdims: bool) -> Any:
    x = tensor(x)
    wanted(function, x, ("bool",) + NUMERIC)
    axes = axes_of(axis, x.ndim, function)
    return _reduced(op, x if type_of(x) == "bool" else not_equal(x, 0), axes, keepdims)


def all(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:  # pylint: disable=redefined-builtin
    """Whether all are true, or other than zero; so it is of no element (ONNX ReduceMin)."""
    return _truth("all", "ReduceMin", x, axis, keepdims)


def any(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:  # pylint: disable=redefined-builtin
    """Whether one is true, or other than zero (ONNX ReduceMax)."""
    return _truth("any", "ReduceMax", x, axis, keepdims)
