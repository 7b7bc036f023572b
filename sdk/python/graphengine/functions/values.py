"""What functions are made of: nodes, Tensors of what a caller gave, sizes and axes.

A size is an int, or an object with tensor(), which is the size of a free axis as an int64 scalar. The
number of such a size is never asked for.
"""
import functools
import operator
from typing import Any, Iterable, List, Optional, Sequence, Tuple, Union

import numpy

from graphengine import _native
from graphengine.functions.dtypes import (DEFAULT_FLOAT, DEFAULT_INT, FLOATING, INTEGRAL, NUMBERS, is_number,
                                          kind_of, listed, name_of, numpy_of, promoted, weak)

Tensor = _native.Tensor
apply = _native.apply
made_tensor = _native.tensor  # of an array, whose memory it shares

Shape = Tuple[Any, ...]


def node(op: str, *inputs: Any, **attributes: Any) -> Any:
    """One operator of ONNX with one output."""
    return apply("", op, inputs, attributes, 1)


def nodes(op: str, outputs: int, *inputs: Any, **attributes: Any) -> Any:
    """One operator of ONNX with several outputs: a tuple."""
    return apply("", op, inputs, attributes, outputs)


def same(x: Any) -> Any:
    """Another Tensor of the same value, so that an assignment to one leaves the other as it is."""
    return _native.alias(x)


def type_of(x: Any) -> str:
    """The name of a Tensor's type."""
    return x.dtype.name  # type: ignore[no-any-return]


def constant(value: Any, name: str) -> Any:
    """A Tensor of numbers."""
    return made_tensor(numpy.asarray(value, numpy_of(name)))


@functools.lru_cache(maxsize=4096, typed=True)
def _scalar(value: Union[bool, int, float], sign: float, name: str) -> Any:
    del sign  # part of the key: 0.0 and -0.0 are equal
    return constant(value, name)


def scalar(value: Union[bool, int, float], name: str) -> Any:
    """A number as a Tensor of this type."""
    if name in INTEGRAL:
        limits = numpy.iinfo(name)
        if not limits.min <= value <= limits.max:
            raise ValueError(f"found the number {value}, wanted one of {name}, {limits.min} to {limits.max}; "
                             "cast the array to a wider type first")
        value = int(value)
    elif name == "bool":
        value = bool(value)
    if name == "bfloat16":  # numpy lacks it
        return cast(scalar(value, "float32"), name)
    sign = 0.0
    if isinstance(value, float) and value == 0:
        sign = float(numpy.copysign(1, value))
    return _scalar(value, sign, name)


def _nested(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(
        not isinstance(v, (int, float)) and (isinstance(v, Tensor) or _is_size(v) or _nested(v)) for v in value)


def _of_list(value: Any, name: Optional[str]) -> Any:
    """A list of numbers: 64-bit integers, floats of the default type."""
    made = numpy.asarray(value)
    if made.dtype == object or made.dtype.kind not in "biufV":
        raise TypeError(f"found {value!r:.60}, wanted an array, a number or lists of them; "
                        "lists have to be of one size each")
    if name is None and made.dtype == numpy.float64 and not _any_array(value):
        name = DEFAULT_FLOAT
    return made_tensor(made if name is None else made.astype(numpy_of(name)))


def _any_array(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_any_array(v) for v in value)
    return isinstance(value, (numpy.ndarray, numpy.generic)) and not isinstance(value, float)


def tensor(value: Any, name: Optional[str] = None) -> Any:
    """A Tensor of what a caller gave: a Tensor, an array, a number, lists of them, or a size.

    name: the type of numbers; arrays keep theirs.
    """
    if isinstance(value, Tensor):
        return value
    if is_number(value):
        return same(scalar(value, name or _type_of_number(value)))  # that one is used again
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        name_of(value.dtype)
        return made_tensor(numpy.asarray(value))
    if hasattr(value, "tensor"):
        return value.tensor()
    if _nested(value):
        parts = [tensor(v) for v in value]
        found = functools.reduce(promoted, [type_of(p) for p in parts])
        parts = [node("Unsqueeze", cast(p, found), ints([0])) for p in parts]
        return node("Concat", *parts, axis=0)
    if hasattr(value, "__dlpack__"):
        return made_tensor(value)
    if isinstance(value, (list, tuple)) or hasattr(value, "__array__"):
        return _of_list(value, name)
    raise TypeError(f"found {type(value).__name__}, wanted a Tensor, an array or a number; convert it with asarray(x)")


def _type_of_number(value: Any) -> str:
    return "bool" if isinstance(value, bool) else DEFAULT_INT if isinstance(value, int) else DEFAULT_FLOAT


def cast(x: Any, name: str) -> Any:
    """A Tensor of this type; the same object where it has it."""
    return x if type_of(x) == name else node("Cast", x, to=NUMBERS[name])


def wanted(function: str, x: Any, names: Sequence[str]) -> str:
    """The type of a Tensor, which has to be one of these."""
    name = type_of(x)
    if name not in names:
        raise TypeError(f"{function}: found {name}, wanted {listed(names)}; cast it with astype(x, dtype)")
    return name


def pair(x1: Any, x2: Any) -> Tuple[Any, Any, str]:
    """Two Tensors of one type, promoted, and its name. Numbers take the type of the array."""
    if isinstance(x1, Tensor) and isinstance(x2, Tensor):
        kind = x1.dtype
        if kind is x2.dtype:
            return x1, x2, kind.name
        name = promoted(kind.name, x2.dtype.name)
        return cast(x1, name), cast(x2, name), name
    if is_number(x1) and is_number(x2):
        name = promoted(_type_of_number(x1), _type_of_number(x2))
        return scalar(x1, name), scalar(x2, name), name
    if is_number(x2) or _is_size(x2):
        x1 = tensor(x1)
        name = _beside(type_of(x1), x2)
        return cast(x1, name), _number(x2, name), name
    if is_number(x1) or _is_size(x1):
        x2 = tensor(x2)
        name = _beside(type_of(x2), x1)
        return _number(x1, name), cast(x2, name), name
    return pair(tensor(x1), tensor(x2))


def _is_size(value: Any) -> bool:
    return hasattr(value, "tensor") and not isinstance(value, Tensor)


def _beside(name: str, value: Any) -> str:
    return weak(name, value if is_number(value) else 1)


def _number(value: Any, name: str) -> Any:
    return scalar(value, name) if is_number(value) else cast(value.tensor(), name)


def floating(function: str, x: Any) -> Tuple[Any, str]:
    """A Tensor of floats and its type's name; integers and bool become the default float."""
    x = tensor(x)
    name = type_of(x)
    if kind_of(name) == "complex":
        wanted(function, x, FLOATING)
    if name not in FLOATING:
        name = DEFAULT_FLOAT
        x = cast(x, name)
    return x, name


def whole(value: Any) -> bool:
    """Whether a size is a number."""
    return isinstance(value, int)


def size_of(value: Any, function: str) -> Any:
    """A size as a caller gave it: an int, a size of a free axis, or a Tensor of one integer."""
    if isinstance(value, int):
        return int(value)
    if isinstance(value, Tensor):
        if value.ndim != 0 or type_of(value) not in INTEGRAL:
            raise TypeError(f"{function}: found a Tensor of {type_of(value)} of {value.ndim} axes, "
                            "wanted a whole number; cast it with astype(x, \"int64\")")
        return Number(value)
    if hasattr(value, "tensor"):
        return value
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{function}: found {value!r:.60}, wanted a whole number; round it with int()") from None


class Number:
    """A size whose number is a Tensor's."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def tensor(self) -> Any:
        """The number, an int64 scalar."""
        return cast(self._value, "int64")


def shape_of(shape: Any, function: str) -> Shape:
    """A shape as a caller gave it: one size or several."""
    if isinstance(shape, Tensor) and shape.ndim == 1:
        raise TypeError(f"{function}: found a Tensor as the shape, wanted a tuple of sizes; "
                        "give x.shape of a Tensor of this shape")
    if isinstance(shape, (list, tuple)):
        return tuple(size_of(n, function) for n in shape)
    if isinstance(shape, numpy.ndarray):
        return tuple(int(n) for n in shape)
    return (size_of(shape, function),)


def sizes(shape: Any, function: str) -> Shape:
    """A shape whose sizes are not negative."""
    found = shape_of(shape, function)
    if any(whole(n) and n < 0 for n in found):
        raise ValueError(f"{function}: found the shape {found}, wanted sizes of 0 and more; -1 stands for a size in "
                         "reshape alone")
    return found


def fixed(shape: Iterable[Any]) -> bool:
    """Whether all sizes are numbers."""
    return all(isinstance(n, int) for n in shape)


@functools.lru_cache(maxsize=4096)
def _ints(values: Tuple[int, ...]) -> Any:
    return made_tensor(numpy.array(values, numpy.int64).reshape(-1))


def ints(values: Iterable[Any]) -> Any:
    """Whole numbers and sizes as a Tensor of int64, one axis."""
    values = tuple(values)
    if fixed(values):
        return _ints(values)
    parts: List[Any] = []
    known: List[int] = []
    for value in values:
        if whole(value):
            known.append(value)
            continue
        if known:
            parts.append(_ints(tuple(known)))
            known = []
        parts.append(node("Unsqueeze", value.tensor(), _ints((0,))))
    if known:
        parts.append(_ints(tuple(known)))
    return parts[0] if len(parts) == 1 else node("Concat", *parts, axis=0)


def size_tensor(value: Any) -> Any:
    """A size as an int64 scalar."""
    return scalar(value, "int64") if whole(value) else value.tensor()


def elements(x: Any) -> Any:
    """How many a Tensor has: an int, or an int64 scalar where an axis is free."""
    if fixed(x.shape):
        count = 1
        for n in x.shape:
            count *= n
        return count
    return node("Size", x)


def expanded(x: Any, shape: Shape) -> Any:
    """Broadcast to a shape; the same object where it has it."""
    if fixed(shape) and fixed(x.shape) and tuple(x.shape) == shape:
        return x
    return node("Expand", x, ints(shape))


def spread(value: Any, x: Any) -> Any:
    """A value in the shape of x."""
    return expanded(value, tuple(x.shape)) if fixed(x.shape) else node("Expand", value, node("Shape", x))


def in_shape_of(flat: Any, x: Any) -> Any:
    """As many elements as x has, in its shape."""
    return reshaped(flat, x.shape) if fixed(x.shape) else node("Reshape", flat, node("Shape", x), allowzero=1)


def reshaped(x: Any, shape: Iterable[Any]) -> Any:
    """Of another shape, one size of which may be -1; the caller knows that it fits."""
    shape = tuple(shape)
    if any(whole(n) and n == -1 for n in shape):
        return node("Reshape", x, ints(shape))
    return node("Reshape", x, ints(shape), allowzero=1)


def axis_of(axis: Any, rank: int, function: str) -> int:
    """One axis, counted from the front."""
    try:
        found = operator.index(axis)
    except TypeError:
        raise TypeError(f"{function}: found the axis {axis!r:.60}, wanted a whole number; several go as a tuple "
                        "where a function takes them") from None
    if not -rank <= found < rank:
        raise ValueError(f"{function}: found axis {found}, wanted {-rank} to {rank - 1} for {rank} axes; "
                         "take one of these, or give the array more axes by reshape"
                         if rank else f"{function}: found axis {found} for an array without axes, wanted one axis "
                         "and more; reshape it to (1,)")
    return found % rank


def axes_of(axis: Any, rank: int, function: str) -> Tuple[int, ...]:
    """Axes as a caller gave them: one, a tuple, or None for all."""
    if axis is None:
        return tuple(range(rank))
    if not isinstance(axis, (list, tuple)):
        return (axis_of(axis, rank, function),)
    found = tuple(axis_of(a, rank, function) for a in axis)
    if len(set(found)) != len(found):
        raise ValueError(f"{function}: found the axes {tuple(axis)}, which name one twice, wanted each once; "
                         "leave one out")
    return found


def squeezed(x: Any, axes: Iterable[int]) -> Any:
    """Without these axes, which have one element."""
    return node("Squeeze", x, ints(axes))


def unsqueezed(x: Any, axes: Iterable[int]) -> Any:
    """With new axes of one element at these places of the result."""
    return node("Unsqueeze", x, ints(axes))


def on_host(device: Any, function: str) -> None:
    """Refuses devices that a Tensor cannot lie on."""
    if device is not None and str(device) != "cpu":
        raise ValueError(f"{function}: found the device {device!r}, wanted \"cpu\" or None; "
                         "engines of other devices are named by Session(engines=...)")
