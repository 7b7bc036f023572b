"""Functions of order."""
from typing import Any

from graphengine.functions.dtypes import NUMERIC
from graphengine.functions.searching import order_of
from graphengine.functions.values import axis_of, node, scalar, tensor, wanted


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The places that put an axis in order, int64; equal elements keep their own (ONNX TopK)."""
    del stable  # TopK always is
    x = tensor(x)
    wanted("argsort", x, NUMERIC)
    if x.ndim == 0:
        return node("Sub", *(scalar(0, "int64"),) * 2)
    return order_of(x, axis_of(axis, x.ndim, "argsort"), descending)


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The elements of an axis in order (ONNX TopK)."""
    del stable  # TopK always is
    x = tensor(x)
    wanted("sort", x, NUMERIC)
    if x.ndim == 0:
        return node("Identity", x)
    place = axis_of(axis, x.ndim, "sort")
    return node("GatherElements", x, order_of(x, place, descending), axis=place)
