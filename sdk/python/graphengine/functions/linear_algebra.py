"""Products of matrices and vectors."""
import string
from typing import Any, Sequence, Tuple, Union

from graphengine.functions.dtypes import FLOATING, NUMERIC, SIGNED
from graphengine.functions.values import (axis_of, cast, fixed, ints, node, pair, tensor, type_of, unsqueezed,
                                          wanted, whole)

# What MatMul takes; products of others are those of a wider type, cast back.
_MULTIPLIED = ("int32", "int64", "uint32", "uint64") + FLOATING


def _wide(name: str) -> str:
    return name if name in _MULTIPLIED else "int32" if name in SIGNED else "uint32"


def matmul(x1: Any, x2: Any, /) -> Any:
    """Products of matrices, the leading axes broadcast (ONNX MatMul)."""
    a, b, name = pair(tensor(x1), tensor(x2))
    wanted("matmul", a, NUMERIC)
    if not a.ndim or not b.ndim:
        raise ValueError("matmul: found an array without axes, wanted one axis and more; multiply by *")
    rows, columns = a.shape[-1], b.shape[-2 if b.ndim > 1 else -1]
    if whole(rows) and whole(columns) and rows != columns:
        raise ValueError(f"matmul: found the shapes {tuple(a.shape)} and {tuple(b.shape)}, whose inner sizes "
                         f"{rows} and {columns} differ, wanted equal; transpose or reshape one")
    wide = _wide(name)
    return cast(node("MatMul", cast(a, wide), cast(b, wide)), name)


def matrix_transpose(x: Any, /) -> Any:
    """The last two axes exchanged (ONNX Transpose)."""
    x = tensor(x)
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: found {x.ndim} axes, wanted two and more")
    order = list(range(x.ndim))
    order[-2:] = [x.ndim - 1, x.ndim - 2]
    return node("Transpose", x, perm=order)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Sums of products along one axis; the other axes are broadcast."""
    a, b, name = pair(tensor(x1), tensor(x2))
    wanted("vecdot", a, NUMERIC)
    rank = min(a.ndim, b.ndim)
    if not -rank <= axis < 0:
        raise ValueError(f"vecdot: found axis {axis}, wanted {-rank} to -1")
    sizes = a.shape[axis], b.shape[axis]
    if fixed(sizes) and sizes[0] != sizes[1]:
        raise ValueError(f"vecdot: found {sizes[0]} and {sizes[1]} elements along axis {axis}, wanted as many")
    wide = _wide(name)
    found = node("ReduceSum", node("Mul", cast(a, wide), cast(b, wide)), ints([axis]), keepdims=0)
    return cast(found, name)


_Axes = Union[int, Tuple[Sequence[int], Sequence[int]]]


def tensordot(x1: Any, x2: Any, /, *, axes: _Axes = 2) -> Any:
    """Sums of products along axes of both: the last of x1 and first of x2, or two lists (ONNX Einsum)."""
    a, b, name = pair(tensor(x1), tensor(x2))
    wanted("tensordot", a, NUMERIC)
    first, second = _summed_axes(a, b, axes)
    for i, j in zip(first, second):
        sizes = a.shape[i], b.shape[j]
        if fixed(sizes) and sizes[0] != sizes[1]:
            raise ValueError(f"tensordot: found {sizes[0]} elements along axis {i} of x1 and {sizes[1]} along "
                             f"axis {j} of x2, wanted as many")
    letters = iter(string.ascii_letters)
    of_a = [next(letters) for _ in range(a.ndim)]
    of_b = [of_a[first[second.index(j)]] if j in second else next(letters) for j in range(b.ndim)]
    out = [c for i, c in enumerate(of_a) if i not in first] + [c for j, c in enumerate(of_b) if j not in second]
    equation = f"{''.join(of_a)},{''.join(of_b)}->{''.join(out)}"
    wide = _wide(name)
    return cast(node("Einsum", cast(a, wide), cast(b, wide), equation=equation), name)


def _summed_axes(a: Any, b: Any, axes: _Axes) -> Tuple[Tuple[int, ...], Tuple[int, ...]]:
    if isinstance(axes, int):
        if not 0 <= axes <= min(a.ndim, b.ndim):
            raise ValueError(f"tensordot: found axes={axes}, wanted 0 to {min(a.ndim, b.ndim)}")
        return tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    first = tuple(axis_of(i, a.ndim, "tensordot") for i in axes[0])
    second = tuple(axis_of(j, b.ndim, "tensordot") for j in axes[1])
    if len(first) != len(second) or len(set(first)) != len(first) or len(set(second)) != len(second):
        raise ValueError(f"tensordot: found the axes {axes}, wanted as many of both, each once")
    return first, second


def outer(x1: Any, x2: Any, /) -> Any:
    """Products of all elements of one vector with all of another."""
    a, b, _ = pair(tensor(x1), tensor(x2))
    wanted("outer", a, NUMERIC)
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(f"outer: found {a.ndim} and {b.ndim} axes, wanted one each")
    return node("Mul", unsqueezed(a, (1,)), unsqueezed(b, (0,)))


def square_matrix(function: str, x: Any) -> Any:
    """A Tensor of square matrices."""
    x = tensor(x)
    if x.ndim < 2 or (fixed(x.shape[-2:]) and x.shape[-1] != x.shape[-2]):
        raise ValueError(f"{function}: found the shape {tuple(x.shape)}, wanted square matrices")
    if type_of(x) not in NUMERIC:
        wanted(function, x, NUMERIC)
    return x
