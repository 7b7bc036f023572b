"""Functions of sets of elements. Their results' sizes are known when they run."""
from typing import Any, NamedTuple, Tuple

from graphengine.functions.dtypes import NUMERIC
from graphengine.functions.searching import searchsorted
from graphengine.functions.values import cast, in_shape_of, ints, node, nodes, pair, reshaped, tensor, wanted


class UniqueAll(NamedTuple):
    """What unique_all answers."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """What unique_counts answers."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """What unique_inverse answers."""

    values: Any
    inverse_indices: Any


def _unique(function: str, x: Any) -> Tuple[Any, Any, Any, Any]:
    x = tensor(x)
    wanted(function, x, ("bool",) + NUMERIC)
    values, indices, inverse, counts = nodes("Unique", 4, reshaped(x, (-1,)), sorted=1)
    return values, indices, in_shape_of(inverse, x), counts


def unique_all(x: Any, /) -> UniqueAll:
    """Each value once, in order; where it is first; which one each element is; how many there are."""
    return UniqueAll(*_unique("unique_all", x))


def unique_counts(x: Any, /) -> UniqueCounts:
    """Each value once, in order, and how many there are (ONNX Unique)."""
    values, _, _, counts = _unique("unique_counts", x)
    return UniqueCounts(values, counts)


def unique_inverse(x: Any, /) -> UniqueInverse:
    """Each value once, in order, and which one each element is (ONNX Unique)."""
    values, _, inverse, _ = _unique("unique_inverse", x)
    return UniqueInverse(values, inverse)


def unique_values(x: Any, /) -> Any:
    """Each value once, in order (ONNX Unique)."""
    return _unique("unique_values", x)[0]


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """Whether elements of x1 are among those of x2; with invert, whether they are not."""
    a, b, name = pair(x1, x2)
    if name == "bool":
        a, b = cast(a, "uint8"), cast(b, "uint8")
    wanted("isin", a, NUMERIC)
    b = reshaped(b, (-1,))
    order = nodes("TopK", 2, b, ints(b.shape), axis=0, largest=0)[0]
    # What is behind all equal elements is further on than what is before them.
    found = node("Less", searchsorted(order, a, side="left"), searchsorted(order, a, side="right"))
    # NaN equals nothing.
    found = node("And", found, node("Equal", a, a))
    return node("Not", found) if invert else found


