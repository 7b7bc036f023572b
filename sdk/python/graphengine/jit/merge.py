"""Two values of one place, of two branches or of two rounds of a loop, as one tree of tensors."""
from typing import Any, Callable, List, Tuple

from graphengine import _native
from graphengine.jit import trees
from graphengine.jit.places import UNSET, same
from graphengine.jit.scope import Size, TraceError

RETURNED_VALUE = "__ge_value"  # what `return` in a loop or branch leaves for the end of the function


class Differ(TraceError):
    """Two values that no one type holds."""

    def __init__(self, a: Any, b: Any, what: str = "") -> None:
        self.both = f"{describe(a)} and {describe(b)}"
        super().__init__(f"{what + ': ' if what else ''}found {self.both}, wanted one type and number of axes; {SAME}")


SAME = "give both one, as by astype, reshape, or a first value such as ge.zeros(shape)"


class Undefined:
    """Stands for what is set on some paths alone; any use of it is an error."""

    def __init__(self, name: str, why: str) -> None:
        object.__setattr__(self, "_ge_text", f"'{name}' {why}")
        object.__setattr__(self, "why", lambda: why)

    def _ge_fail(self, *_: Any, **__: Any) -> Any:
        raise TraceError(object.__getattribute__(self, "_ge_text"))

    __getattr__ = _ge_fail
    __call__ = __bool__ = __iter__ = __len__ = __getitem__ = __setitem__ = _ge_fail
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _ge_fail
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _ge_fail
    __neg__ = __pos__ = __abs__ = __invert__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _ge_fail
    __index__ = __int__ = __float__ = _ge_fail
    __hash__ = object.__hash__


def is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, Size))


def is_float(tensor: Any) -> bool:
    """Whether it has a gradient."""
    return tensor.dtype.name in ("float16", "bfloat16", "float32", "float64")


def is_value(value: Any) -> bool:
    """What a graph can hold."""
    return isinstance(value, _native.Tensor) or is_number(value) or hasattr(value, "__array_interface__")


def as_tensor(value: Any, like: Any = None) -> Any:
    """A Tensor of a value; a number takes the dtype of `like`."""
    if isinstance(value, _native.Tensor):
        return value
    if isinstance(value, Size):
        return value.tensor()
    from graphengine import functions

    if like is not None and is_number(value):
        kind = like.dtype
        fits = isinstance(value, bool) == functions.isdtype(kind, "bool") and not (
            isinstance(value, float) and functions.isdtype(kind, "integral"))
        if fits:
            return functions.asarray(value, dtype=kind)
    return functions.asarray(value)


def describe(value: Any) -> str:
    """What an error says of a value."""
    if value is UNSET:
        return "nothing"
    if isinstance(value, _native.Tensor):
        return f"a tensor of {value.dtype.name} of shape ({', '.join(map(str, value.shape))})"
    if type(value) is dict and 0 < len(value) <= 5:
        return f"a dict of {', '.join(map(repr, value))}"
    if trees.children_of(value) is not None:
        return f"a {type(value).__name__} of {len(trees.children_of(value)[0])}"
    return repr(value)


Pairs = List[Tuple[Any, Any]]


def pair(a: Any, b: Any, leaves: Pairs, keep: Callable[[Any, Any], bool] = same) -> Any:
    """The tree of both, whose leaves are added to `leaves`; Differ where there is none. keep(a, b):
    whether a stays what Python has."""
    if keep(a, b):
        return trees.Static(a)
    if is_value(a) and is_value(b):
        leaves.append((a, b))
        return trees.LEAF
    first, second = trees.children_of(a), trees.children_of(b)
    if first is None or second is None or type(a) is not type(b) or first[0] != second[0]:
        raise Differ(a, b)
    return trees.Node(type(a), first[0], tuple(pair(x, y, leaves, keep) for x, y in zip(first[1], second[1])))


def alike(a: Any, b: Any, what: str) -> Tuple[Any, Any]:
    """Both as Tensors of one dtype and number of axes."""
    numbers = is_number(a), is_number(b)
    if all(numbers):
        kind = float if isinstance(a, float) or isinstance(b, float) else int
        if not (isinstance(a, bool) and isinstance(b, bool)):
            a, b = (x if isinstance(x, Size) else kind(x) for x in (a, b))
        return as_tensor(a), as_tensor(b)
    first = as_tensor(a, b if numbers[0] and not numbers[1] and isinstance(b, _native.Tensor) else None)
    second = as_tensor(b, first if numbers[1] else None)
    if first.dtype != second.dtype or len(first.shape) != len(second.shape):
        raise Differ(first, second, what)
    return first, second
