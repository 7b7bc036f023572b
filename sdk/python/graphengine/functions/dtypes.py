"""Types of elements: their names, the standard's promotion, and what it says of each type."""
import dataclasses
import functools
from typing import Any, Dict, Tuple, Union

import numpy

from graphengine import _native

# In the order of ONNX's numbers, from 1; None stands for texts.
_NUMBERED = ("float32", "uint8", "int8", "uint16", "int16", "int32", "int64", None, "bool", "float16",
             "float64", "uint32", "uint64", "complex64", "complex128", "bfloat16", "float8_e4m3fn",
             "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
NUMBERS: Dict[str, int] = {name: i + 1 for i, name in enumerate(_NUMBERED) if name}

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGRAL = SIGNED + UNSIGNED
FLOATING = ("float16", "bfloat16", "float32", "float64")
NUMERIC = INTEGRAL + FLOATING
COMPLEX = ("complex64", "complex128")

DEFAULT_FLOAT = "float32"
DEFAULT_INT = "int64"

float16, float32, float64 = (_native.dtype(name) for name in ("float16", "float32", "float64"))
int8, int16, int32, int64 = (_native.dtype(name) for name in SIGNED)
uint8, uint16, uint32, uint64 = (_native.dtype(name) for name in UNSIGNED)
bfloat16, bool_ = _native.dtype("bfloat16"), _native.dtype("bool")

_OF_PYTHON = {bool: "bool", int: DEFAULT_INT, float: DEFAULT_FLOAT}


def listed(names: Any) -> str:
    """The names as a sentence has them."""
    names = list(names)
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


@functools.lru_cache(maxsize=256, typed=True)
def name_of(dtype: Any) -> str:
    """The name of a type of elements, which is given as numpy takes it, or as bool, int or float."""
    try:
        name = str(_native.dtype(dtype).name)
    except Exception:  # pylint: disable=broad-except
        name = ""
    if name not in NUMBERS:
        raise TypeError(f"found the type {dtype!r}, wanted {listed(('bool',) + NUMERIC)}; "
                        "give one of these names or graphengine's own, as graphengine.float32")
    return name


def object_of(name: str) -> Any:
    """The type of this name."""
    return _native.dtype(name)


@functools.lru_cache(maxsize=64)
def numpy_of(name: str) -> Any:
    """numpy's type of this name; bfloat16 and float8 are those of ml_dtypes."""
    try:
        return numpy.dtype(name)
    except TypeError:
        pass
    try:
        import ml_dtypes  # pylint: disable=import-outside-toplevel
        return numpy.dtype(getattr(ml_dtypes, name))
    except (ImportError, AttributeError):
        raise TypeError(f"numpy has no {name}; install the package ml_dtypes") from None


def kind_of(name: str) -> str:
    """bool, integral, floating or complex."""
    if name in FLOATING:
        return "floating"
    if name in INTEGRAL:
        return "integral"
    return "bool" if name == "bool" else "complex"


def bits_of(name: str) -> int:
    """Of one element."""
    return 8 if name == "bool" else int("".join(c for c in name.split("_")[0] if c.isdigit()))


@functools.lru_cache(maxsize=1024)
def promoted(first: str, second: str) -> str:
    """The type of a result of these two.

    The standard's table; what it leaves open goes as in jax: bool gives way to integers, integers to
    floats, float16 with bfloat16 is float32.
    """
    if first == second:
        return first
    order = ("bool", "integral", "floating", "complex")
    a, b = sorted((first, second), key=lambda name: (order.index(kind_of(name)), bits_of(name)))
    if kind_of(b) == "complex" or kind_of(a) != kind_of(b):
        return b
    if kind_of(a) == "floating":
        return "float32" if bits_of(a) == bits_of(b) else b
    if (a in SIGNED) == (b in SIGNED):
        return b
    signed, unsigned = (a, b) if a in SIGNED else (b, a)
    bits = max(bits_of(signed), 2 * bits_of(unsigned))
    if bits > 64:
        raise TypeError(f"found {first} and {second}, which no integer type holds both; "
                        f"cast one with astype(x, \"{signed}\") or astype(x, \"{unsigned}\")")
    return f"int{bits}"


def weak(name: str, number: Union[bool, int, float]) -> str:
    """The type of a Python number beside an array of this type."""
    if isinstance(number, bool) or name in FLOATING or name in COMPLEX:
        return name
    if isinstance(number, int):
        return DEFAULT_INT if name == "bool" else name
    return DEFAULT_FLOAT


def is_number(value: Any) -> bool:
    """Whether promotion takes it for a Python number."""
    return isinstance(value, (bool, int, float))


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The type that promotion gives for arrays, types and Python numbers together."""
    names, numbers = [], []
    for one in arrays_and_dtypes:
        if is_number(one):
            numbers.append(one)
        elif isinstance(one, (_native.Tensor, numpy.ndarray, numpy.generic)):
            names.append(name_of(one.dtype))
        else:
            names.append(name_of(one))
    if not names and not numbers:
        raise ValueError("result_type: found no argument, wanted at least one array or type")
    if not names:
        names = [_OF_PYTHON[type(number)] for number in numbers]
    name = functools.reduce(promoted, names)
    for number in numbers:
        name = promoted(name, weak(name, number))
    return object_of(name)


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether promotion of both gives `to`; between kinds of types the answer is no."""
    first = name_of(from_.dtype if isinstance(from_, (_native.Tensor, numpy.ndarray)) else from_)
    second = name_of(to)
    if kind_of(first) != kind_of(second):
        return False
    try:
        return promoted(first, second) == second
    except TypeError:
        return False


_KINDS = {"bool": ("bool",), "signed integer": SIGNED, "unsigned integer": UNSIGNED, "integral": INTEGRAL,
          "real floating": FLOATING, "complex floating": COMPLEX, "numeric": NUMERIC + COMPLEX}


def isdtype(dtype: Any, kind: Union[str, Tuple[Any, ...], Any]) -> bool:
    """Whether a type is of a kind ("integral", "real floating" ...), is a type, or one of a tuple."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return name_of(dtype) in _KINDS[kind]
    if isinstance(kind, str) and kind not in NUMBERS:
        raise ValueError(f"isdtype: found the kind {kind!r}, wanted {listed(_KINDS)}")
    return name_of(dtype) == name_of(kind)


@dataclasses.dataclass(frozen=True)
class FloatInfo:
    """What finfo answers: limits of a type of floats, as Python floats."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


@dataclasses.dataclass(frozen=True)
class IntInfo:
    """What iinfo answers: limits of a type of integers."""

    bits: int
    max: int
    min: int
    dtype: Any


def _asked(of: Any, what: str, wanted: Tuple[str, ...]) -> str:
    name = name_of(of.dtype if isinstance(of, (_native.Tensor, numpy.ndarray)) else of)
    if name not in wanted:
        raise TypeError(f"{what}: found {name}, wanted {listed(wanted)}; cast it with astype(x, dtype)")
    return name


def finfo(type: Any, /) -> FloatInfo:  # pylint: disable=redefined-builtin
    """Limits of a type of floats, or of an array's type."""
    name = _asked(type, "finfo", FLOATING)
    if name == "bfloat16":
        most = (2 - 2.0**-7) * 2.0**127
        return FloatInfo(16, 2.0**-7, most, -most, 2.0**-126, object_of(name))
    of: Any = numpy.finfo(name)
    return FloatInfo(int(of.bits), float(of.eps), float(of.max), float(of.min), float(of.smallest_normal),
                     object_of(name))


def iinfo(type: Any, /) -> IntInfo:  # pylint: disable=redefined-builtin
    """Limits of a type of integers, or of an array's type."""
    name = _asked(type, "iinfo", INTEGRAL)
    of: Any = numpy.iinfo(name)
    return IntInfo(int(of.bits), int(of.max), int(of.min), object_of(name))
