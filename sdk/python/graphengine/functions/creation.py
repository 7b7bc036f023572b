"""Functions that make Tensors: of numbers and arrays, of a shape, of a range."""
import math
from typing import Any, List, Optional

import numpy

from graphengine.functions.dtypes import (DEFAULT_FLOAT, DEFAULT_INT, FLOATING, NUMBERS, is_number, kind_of,
                                          name_of, numpy_of)
from graphengine.functions.values import (Tensor, cast, constant, expanded, fixed, ints, made_tensor, node, on_host,
                                          pair, reshaped, same, scalar, size_of, size_tensor, sizes, spread,
                                          tensor, type_of, whole)


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Optional[bool] = None) -> Any:
    """A Tensor of an array, a number, lists of them, or anything with __dlpack__.

    Numbers become float32, int64 or bool, arrays keep their type. copy: True copies, False refuses to
    where it would have to, None copies where it has to.
    """
    on_host(device, "asarray")
    name = None if dtype is None else name_of(dtype)
    if copy is False:
        _without_copy(obj, name)
    given = isinstance(obj, Tensor)
    if isinstance(obj, numpy.generic):
        obj = numpy.asarray(obj)
    if copy and isinstance(obj, numpy.ndarray):
        obj, given = obj.copy(), False
    made = tensor(obj, name)
    found = made if name is None else cast(made, name)
    return same(found) if copy and found is obj and given else found


def _without_copy(obj: Any, name: Optional[str]) -> None:
    typed = isinstance(obj, (Tensor, numpy.ndarray)) or hasattr(obj, "__dlpack__")
    if not typed:
        raise ValueError(f"asarray: found {type(obj).__name__}, whose numbers have to be copied; "
                         "wanted an array, or copy=None")
    if name is not None and hasattr(obj, "dtype") and name_of(obj.dtype) != name:
        raise ValueError(f"asarray: found {name_of(obj.dtype)}, which becomes {name} by a copy alone; "
                         "wanted copy=None")


def from_dlpack(x: Any, /, *, device: Any = None, copy: Optional[bool] = None) -> Any:
    """A Tensor of anything with __dlpack__ on the CPU, without a copy where copy is not True."""
    on_host(device, "from_dlpack")
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack: found {type(x).__name__}, wanted an object with __dlpack__")
    if isinstance(x, Tensor):
        return same(x) if copy else x
    if copy:
        return made_tensor(numpy.from_dlpack(x).copy())
    return made_tensor(x)


def _filled(shape: Any, value: Any, name: str) -> Any:
    """shape: sizes, or a Tensor of them."""
    if name == "bfloat16":  # numpy lacks it
        return cast(_filled(shape, value, "float32"), name)
    data = shape if isinstance(shape, Tensor) else ints(shape)
    return node("ConstantOfShape", data, value=numpy.asarray([value], numpy_of(name)))


def _name(dtype: Any, otherwise: str) -> str:
    return otherwise if dtype is None else name_of(dtype)


def _like(x: Any) -> Any:
    return tuple(x.shape) if fixed(x.shape) else node("Shape", x)


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Zeros, as `zeros`."""
    on_host(device, "empty")
    return _filled(sizes(shape, "empty"), 0, _name(dtype, DEFAULT_FLOAT))


def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Zeros of the shape of x, and of its type where dtype is None."""
    return zeros_like(x, dtype=dtype, device=device)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Zeros (ONNX ConstantOfShape)."""
    on_host(device, "zeros")
    return _filled(sizes(shape, "zeros"), 0, _name(dtype, DEFAULT_FLOAT))


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Zeros of the shape of x, and of its type where dtype is None."""
    on_host(device, "zeros_like")
    x = tensor(x)
    return _filled(_like(x), 0, _name(dtype, type_of(x)))


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Ones (ONNX ConstantOfShape)."""
    on_host(device, "ones")
    return _filled(sizes(shape, "ones"), 1, _name(dtype, DEFAULT_FLOAT))


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Ones of the shape of x, and of its type where dtype is None."""
    on_host(device, "ones_like")
    x = tensor(x)
    return _filled(_like(x), 1, _name(dtype, type_of(x)))


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """One value everywhere: a number, or a Tensor, which is broadcast."""
    on_host(device, "full")
    wanted = sizes(shape, "full")
    value = tensor(fill_value, None if dtype is None else name_of(dtype))
    if dtype is not None:
        value = cast(value, name_of(dtype))
    found = expanded(value, wanted)
    return same(found) if found is value else found


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """One value in the shape of x, and of its type where dtype is None."""
    on_host(device, "full_like")
    x = tensor(x)
    name = _name(dtype, type_of(x))
    value = cast(tensor(fill_value, name), name)
    found = spread(value, x)
    return same(found) if found is value else found


def _all_numbers(*values: Any) -> bool:
    return all(is_number(v) or isinstance(v, numpy.generic) for v in values)


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Any:
    """Numbers from start, stop excluded, by step: int64, or float32 where one is a float.

    They may be sizes of free axes and Tensors of one element, too (ONNX Range).
    """
    on_host(device, "arange")
    if stop is None:
        start, stop = 0, start
    if not _all_numbers(start, stop, step):
        return _range(start, stop, step, dtype)
    if step == 0:
        raise ValueError("arange: found the step 0, wanted another number")
    is_float = any(isinstance(v, float) for v in (start, stop, step))
    name = _name(dtype, DEFAULT_FLOAT if is_float else DEFAULT_INT)
    count = max(0, math.ceil((stop - start) / step) if is_float else -((start - stop) // step))
    if is_float or name in FLOATING:
        return constant(start + numpy.arange(count) * step, name)
    return constant(numpy.arange(start, stop, step, numpy.int64), name)


def _range(start: Any, stop: Any, step: Any, dtype: Any) -> Any:
    parts = [v if is_number(v) or isinstance(v, Tensor) else size_tensor(size_of(v, "arange"))
             for v in (start, stop, step)]
    for part in parts:
        if isinstance(part, Tensor) and part.ndim != 0:
            raise ValueError(f"arange: found a Tensor of {part.ndim} axes, wanted one of none")
    first, last, _ = pair(parts[0], parts[1])
    first, by, _ = pair(first, parts[2])
    last, by, name = pair(last, by)
    run = name if name in ("int32", "int64", "float32", "float64") else (
        DEFAULT_FLOAT if name in FLOATING else DEFAULT_INT)
    found = node("Range", *(cast(v, run) for v in (first, last, by)))
    return cast(found, _name(dtype, name))


def linspace(start: Any, stop: Any, /, num: Any, *, dtype: Any = None, device: Any = None,
             endpoint: bool = True) -> Any:
    """num numbers from start to stop, which is the last where endpoint is true."""
    on_host(device, "linspace")
    count = size_of(num, "linspace")
    if whole(count) and count < 0:
        raise ValueError(f"linspace: found num {count}, wanted 0 and more")
    name = _name(dtype, DEFAULT_FLOAT)
    if whole(count) and _all_numbers(start, stop):
        return constant(numpy.linspace(start, stop, count, endpoint=endpoint), name)
    run = name if name in FLOATING else DEFAULT_FLOAT
    first, last = (cast(tensor(v), run) for v in (start, stop))
    places = cast(node("Range", scalar(0, "int64"), size_tensor(count), scalar(1, "int64")), run)
    parts = cast(size_tensor(count), run)
    if endpoint:
        parts = node("Max", node("Sub", parts, scalar(1, run)), scalar(1, run))
    found = node("Add", first, node("Div", node("Mul", places, node("Sub", last, first)), parts))
    return cast(found, name)


def eye(n_rows: Any, n_cols: Any = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> Any:
    """Ones on the k-th diagonal of a matrix of zeros (ONNX EyeLike)."""
    on_host(device, "eye")
    shape = sizes((n_rows, n_rows if n_cols is None else n_cols), "eye")
    name = _name(dtype, DEFAULT_FLOAT)
    if fixed(shape):
        return constant(numpy.eye(*shape, k=k), name)
    return node("EyeLike", _filled(shape, 0, name), k=int(k), dtype=NUMBERS[name])


def _triangle(function: str, x: Any, k: int, upper: int) -> Any:
    x = tensor(x)
    if x.ndim < 2:
        raise ValueError(f"{function}: found {x.ndim} axes, wanted two and more")
    return node("Trilu", x, scalar(int(k), "int64"), upper=upper)


def tril(x: Any, /, *, k: int = 0) -> Any:
    """Zeros above the k-th diagonal (ONNX Trilu)."""
    return _triangle("tril", x, k, 0)


def triu(x: Any, /, *, k: int = 0) -> Any:
    """Zeros below the k-th diagonal (ONNX Trilu)."""
    return _triangle("triu", x, k, 1)


def meshgrid(*arrays: Any, indexing: str = "xy") -> List[Any]:
    """Coordinates of a grid: each array of one axis along its own axis of the result."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: found indexing={indexing!r}, wanted \"xy\" or \"ij\"")
    given = [tensor(a) for a in arrays]
    if len({kind_of(type_of(a)) for a in given}) > 1 or len({type_of(a) for a in given}) > 1:
        raise ValueError("meshgrid: found arrays of several types, wanted one; cast them with astype")
    for a in given:
        if a.ndim > 1:
            raise ValueError(f"meshgrid: found an array of {a.ndim} axes, wanted one axis")
    given = [a if a.ndim == 1 else reshaped(a, (1,)) for a in given]
    shape = [a.shape[0] for a in given]
    order = list(range(len(given)))
    if indexing == "xy" and len(given) > 1:
        order[:2] = [1, 0]
    grid = tuple(shape[i] for i in order)
    return [_along(a, order.index(i), grid) for i, a in enumerate(given)]


def _along(a: Any, axis: int, grid: Any) -> Any:
    ranks = [1] * len(grid)
    ranks[axis] = -1 if not (whole(grid[axis]) and grid[axis] == 0) else 0
    found = expanded(reshaped(a, ranks), grid)
    return same(found) if found is a else found
