"""Functions that find places: extremes, true elements, places in order, elements at places."""
from typing import Any, Optional, Tuple

from graphengine.functions.dtypes import INTEGRAL, NUMBERS, NUMERIC
from graphengine.functions.elementwise import not_equal
from graphengine.functions.values import (axes_of, axis_of, cast, elements, fixed, in_shape_of, ints, node, nodes,
                                          pair, reshaped, same, scalar, size_tensor, tensor, type_of, wanted,
                                          whole)

_LAST = 2**63 - 1


def _extreme(function: str, op: str, x: Any, axis: Optional[int], keepdims: bool) -> Any:
    x = tensor(x)
    wanted(function, x, NUMERIC)
    count = elements(x) if axis is None else x.shape[axis_of(axis, x.ndim, function)]
    if whole(count) and count == 0:
        raise ValueError(f"{function}: found no element, wanted one and more")
    rank = x.ndim
    if axis is None:
        x, place = reshaped(x, (-1,)), 0
    else:
        place = axis_of(axis, rank, function)
    found = node(op, x, axis=place, keepdims=int(bool(keepdims and axis is not None)))
    if axis is None:
        found = reshaped(found, (1,) * rank if keepdims else ())
    return found


def argmax(x: Any, /, *, axis: Optional[int] = None, keepdims: bool = False) -> Any:
    """The place of the first greatest element, int64 (ONNX ArgMax)."""
    return _extreme("argmax", "ArgMax", x, axis, keepdims)


def argmin(x: Any, /, *, axis: Optional[int] = None, keepdims: bool = False) -> Any:
    """The place of the first least element, int64 (ONNX ArgMin)."""
    return _extreme("argmin", "ArgMin", x, axis, keepdims)


def _true(x: Any) -> Any:
    return x if type_of(x) == "bool" else not_equal(x, 0)


def nonzero(x: Any, /) -> Tuple[Any, ...]:
    """The places of elements other than zero, an array for each axis (ONNX NonZero)."""
    x = tensor(x)
    if x.ndim == 0:
        raise ValueError("nonzero: found an array without axes, wanted one axis and more")
    places = node("NonZero", _true(x))
    return tuple(node("Gather", places, scalar(i, "int64"), axis=0) for i in range(x.ndim))


def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """How many elements are other than zero, int64."""
    x = tensor(x)
    axes = axes_of(axis, x.ndim, "count_nonzero")
    ones = node("Cast", _true(x), to=NUMBERS["int64"])
    if not axes:
        return same(ones)
    return node("ReduceSum", ones, ints(axes), keepdims=int(bool(keepdims)))


def where(condition: Any, x1: Any, x2: Any, /) -> Any:
    """x1 where the condition is true, else x2 (ONNX Where)."""
    condition = tensor(condition)
    wanted("where", condition, ("bool",))
    a, b, _ = pair(x1, x2)
    return node("Where", condition, a, b)


def take(x: Any, indices: Any, /, *, axis: Optional[int] = None) -> Any:
    """Elements at these places along an axis (ONNX Gather)."""
    x, indices = tensor(x), tensor(indices)
    wanted("take", indices, INTEGRAL)
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take: found {x.ndim} axes and no axis=, wanted axis=")
        axis = 0
    place = axis_of(axis, x.ndim, "take")
    return node("Gather", x, cast(indices, "int64"), axis=place)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """Elements at places that differ along the other axes (ONNX GatherElements)."""
    x, indices = tensor(x), cast(tensor(indices), "int64")
    if x.ndim != indices.ndim:
        raise ValueError(f"take_along_axis: found {x.ndim} axes and indices of {indices.ndim}, wanted as many")
    place = axis_of(axis, x.ndim, "take_along_axis")
    shapes = [list(x.shape), list(indices.shape)]
    if not fixed(shapes[0]) or not fixed(shapes[1]) or _differ(*shapes, place):
        x, indices = _along_others(x, indices, place)
    return node("GatherElements", x, indices, axis=place)


def _differ(first: Any, second: Any, place: int) -> bool:
    return any(a != b for i, (a, b) in enumerate(zip(first, second)) if i != place)


def _along_others(x: Any, indices: Any, place: int) -> Tuple[Any, Any]:
    """Both, broadcast against each other on all axes but one."""
    def shape(of: Any) -> Any:
        return ints(1 if i == place else n for i, n in enumerate(of.shape))
    to_x, to_indices = shape(indices), shape(x)
    return node("Expand", x, to_x), node("Expand", indices, to_indices)


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """Where the elements of x2 belong in x1, which has one axis and is in order; int64.

    side: "left" is before equal elements, "right" behind them. sorter: places that put x1 in order.
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: found side={side!r}, wanted \"left\" or \"right\"")
    a, b, _ = pair(tensor(x1), tensor(x2))
    wanted("searchsorted", a, NUMERIC)
    if a.ndim != 1:
        raise ValueError(f"searchsorted: found x1 of {a.ndim} axes, wanted one")
    if sorter is not None:
        a = take(a, sorter, axis=0)
    places = _places(a, reshaped(b, (-1,)), side == "left")
    return in_shape_of(places, b)


def _places(a: Any, b: Any, left: bool) -> Any:
    """By a stable sort of both together: what stands before an element of b, less those of b."""
    joined = node("Concat", *((b, a) if left else (a, b)), axis=0)
    order = order_of(joined, 0, False)
    of_a = (node("GreaterOrEqual", order, size_tensor(b.shape[0])) if left
            else node("Less", order, size_tensor(a.shape[0])))
    before = node("CumSum", node("Cast", of_a, to=NUMBERS["int64"]), scalar(0, "int64"))
    all_places = node("ScatterElements", order, order, before, axis=0)
    if left:
        return node("Slice", all_places, ints([0]), ints([b.shape[0]]), ints([0]))
    return node("Slice", all_places, ints([a.shape[0]]), ints([_LAST]), ints([0]))


def order_of(x: Any, axis: int, descending: bool) -> Any:
    """Places that put an axis in order; equal elements keep their own (ONNX TopK)."""
    return nodes("TopK", 2, x, ints([x.shape[axis]]), axis=axis, largest=int(descending))[1]

