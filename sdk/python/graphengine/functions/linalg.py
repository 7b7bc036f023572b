"""The standard's extension of linear algebra, as far as operators reach.

cholesky, eigh, eigvalsh, matrix_rank, pinv, qr, svd, svdvals, and matrix_norm of orders 2, -2 and
"nuc" need factorizations, which no operator has.
"""
import math
from typing import Any, NamedTuple, NoReturn, Union

from graphengine.functions import statistics
from graphengine.functions.dtypes import NUMERIC
from graphengine._doors import door
from graphengine.functions.elementwise import abs as absolute
from graphengine.functions.elementwise import multiply, not_equal, subtract
from graphengine.functions.linear_algebra import (matmul, matrix_transpose, outer, square_matrix, tensordot,
                                                  vecdot)
from graphengine.functions.values import (apply, axes_of, cast, fixed, floating, ints, node, pair, reshaped,
                                          same, scalar, size_tensor, squeezed, tensor, type_of, unsqueezed,
                                          wanted)

__all__ = ["cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm",
           "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd",
           "svdvals", "tensordot", "trace", "vecdot", "vector_norm"]


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Vector products along an axis of 3 elements."""
    a, b, _ = pair(tensor(x1), tensor(x2))
    wanted("cross", a, NUMERIC)
    rank = min(a.ndim, b.ndim)
    if not -rank <= axis < rank or (axis >= 0 and a.ndim != b.ndim):
        raise ValueError(f"cross: found axis {axis} for {a.ndim} and {b.ndim} axes, wanted {-rank} to -1")
    for x in (a, b):
        if fixed(x.shape[axis:][:1]) and x.shape[axis] != 3:
            raise ValueError(f"cross: found {x.shape[axis]} elements along axis {axis}, wanted 3")
    turned = [[node("Gather", x, ints(order), axis=axis) for order in ((1, 2, 0), (2, 0, 1))] for x in (a, b)]
    return subtract(multiply(turned[0][0], turned[1][1]), multiply(turned[0][1], turned[1][0]))


def det(x: Any, /) -> Any:
    """Determinants of square matrices (ONNX Det)."""
    x, _ = floating("det", square_matrix("det", x))
    return node("Det", x)


class SlogDet(NamedTuple):
    """What slogdet answers."""

    sign: Any
    logabsdet: Any


def slogdet(x: Any, /) -> SlogDet:
    """Signs of determinants, and logarithms of their sizes; a determinant has to fit its type."""
    found = det(x)
    return SlogDet(node("Sign", found), node("Log", node("Abs", found)))


def inv(x: Any, /) -> Any:
    """Inverses of square matrices (com.microsoft Inverse)."""
    x, _ = floating("inv", square_matrix("inv", x))
    return apply("com.microsoft", "Inverse", (x,), {}, 1)


def solve(x1: Any, x2: Any, /) -> Any:
    """What x1 has to be multiplied with to give x2: vectors where x2 has one axis, else matrices."""
    a, b, _ = pair(tensor(x1), tensor(x2))
    inverse = inv(a)
    b = cast(b, type_of(inverse))
    if b.ndim == 1:
        return squeezed(matmul(inverse, unsqueezed(b, (1,))), (-1,))
    return matmul(inverse, b)


def _diagonal_places(rows: Any, columns: Any, offset: int) -> Any:
    """Where the diagonal stands in a matrix laid out flat."""
    down, right = max(-offset, 0), max(offset, 0)
    if fixed((rows, columns)):
        count = max(min(rows - down, columns - right), 0)
        return ints((i + down) * columns + i + right for i in range(count))
    rows, columns = size_tensor(rows), size_tensor(columns)
    zero, one = scalar(0, "int64"), scalar(1, "int64")
    count = node("Min", node("Sub", rows, scalar(down, "int64")), node("Sub", columns, scalar(right, "int64")))
    i = node("Range", zero, node("Max", count, zero), one)
    row = node("Mul", node("Add", i, scalar(down, "int64")), columns)
    return node("Add", row, node("Add", i, scalar(right, "int64")))


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """Diagonals of matrices, the `offset`-th above the main one."""
    x = tensor(x)
    if x.ndim < 2:
        raise ValueError(f"diagonal: found {x.ndim} axes, wanted two and more")
    places = _diagonal_places(x.shape[-2], x.shape[-1], int(offset))
    if fixed(x.shape):
        flat = reshaped(x, tuple(x.shape[:-2]) + (x.shape[-2] * x.shape[-1],))
    else:
        size = node("Mul", size_tensor(x.shape[-2]), size_tensor(x.shape[-1]))
        leading = [ints([n]) for n in x.shape[:-2]]
        flat = node("Reshape", x, node("Concat", *leading, unsqueezed(size, (0,)), axis=0), allowzero=1)
    return node("Gather", flat, places, axis=-1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Sums of diagonals; integers give 64 bits where dtype is None."""
    return statistics.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def matrix_power(x: Any, n: int, /) -> Any:
    """The product of n of the same matrix; of a negative n, of its inverse."""
    x = square_matrix("matrix_power", x)
    if n < 0:
        x, n = inv(x), -n
    if n == 0:
        eye = node("EyeLike", node("ConstantOfShape", ints(x.shape[-2:])), dtype=1)
        return node("Expand", cast(eye, type_of(x)), node("Shape", x))
    found: Any = None
    while n:
        if n & 1:
            found = x if found is None else matmul(found, x)
        n >>= 1
        x = matmul(x, x) if n else x
    return same(found) if found is x else found


_Order = Union[int, float, str, None]


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: _Order = 2) -> Any:  # pylint: disable=redefined-builtin
    """Sums of powers of sizes, to the root: the norm of order `ord`; all elements where axis is None."""
    x, name = floating("vector_norm", x)
    axes = axes_of(axis, x.ndim, "vector_norm")
    if ord in (math.inf, -math.inf):
        extreme = statistics.max if ord == math.inf else statistics.min
        return extreme(absolute(x), axis=axes, keepdims=keepdims)
    if ord == 0:
        return statistics.sum(cast(not_equal(x, 0), name), axis=axes, keepdims=keepdims)
    if not axes:
        return absolute(x)
    if ord in (1, 2):
        return node(f"ReduceL{ord}", x, ints(axes), keepdims=int(bool(keepdims)))
    if isinstance(ord, str) or ord is None:
        raise ValueError(f"vector_norm: found ord={ord!r}, wanted a number")
    powers = node("Pow", node("Abs", x), scalar(float(ord), name))
    total = node("ReduceSum", powers, ints(axes), keepdims=int(bool(keepdims)))
    return node("Pow", total, scalar(1 / ord, name))


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: _Order = "fro") -> Any:  # pylint: disable=redefined-builtin
    """Norms of matrices: "fro", or the largest or least sum of a column (1, -1) or row (inf, -inf)."""
    x, _ = floating("matrix_norm", x)
    if x.ndim < 2:
        raise ValueError(f"matrix_norm: found {x.ndim} axes, wanted two and more")
    if ord == "fro":
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord in (1, -1, math.inf, -math.inf):
        along = -2 if ord in (1, -1) else -1
        sums = node("ReduceL1", x, ints([along]), keepdims=1)
        extreme = statistics.max if ord > 0 else statistics.min  # type: ignore[operator]
        return extreme(sums, axis=(-2, -1), keepdims=keepdims)
    if ord in (2, -2, "nuc"):
        _refuse(f"matrix_norm of ord={ord!r}", "singular values")
    raise ValueError(f"matrix_norm: found ord={ord!r}, wanted \"fro\", 1, -1, inf or -inf")


def _refuse(what: str, needs: str = "a factorization") -> NoReturn:
    raise NotImplementedError(f"{what} needs {needs}, which no operator has; "
                              "take numpy.linalg over numpy.asarray(x)")


def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """Refused: no operator factorizes."""
    _refuse("cholesky")


def eigh(x: Any, /) -> Any:
    """Refused: no operator factorizes."""
    _refuse("eigh")


def eigvalsh(x: Any, /) -> Any:
    """Refused: no operator factorizes."""
    _refuse("eigvalsh")


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Any:
    """Refused: no operator factorizes."""
    _refuse("matrix_rank")


def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """Refused: no operator factorizes."""
    _refuse("pinv")


def qr(x: Any, /, *, mode: str = "reduced") -> Any:
    """Refused: no operator factorizes."""
    _refuse("qr")


def svd(x: Any, /, *, full_matrices: bool = True) -> Any:
    """Refused: no operator factorizes."""
    _refuse("svd")


def svdvals(x: Any, /) -> Any:
    """Refused: no operator factorizes."""
    _refuse("svdvals")


for _name in __all__:
    globals()[_name] = door(globals()[_name])
