"""Spec: the type of an argument or a result."""
from typing import Any, Tuple, Union

from graphengine import _native


class Spec:
    """The type of a tensor: sizes, and a dtype, float32 by default.

    Sizes come one by one, Spec("batch", 784), or as a shape, Spec(x.shape[:-1], x.dtype): numbers, names
    of free sizes of an argument, None for a size that a result of a custom_op decides.
    """

    def _make(self, *shape: Union[int, str, None, Tuple[Any, ...]], dtype: Any = None) -> None:
        sizes: Tuple[Any, ...] = shape
        if shape and isinstance(shape[0], (tuple, list)):
            sizes = tuple(shape[0])
            if len(shape) > 2 or (len(shape) == 2 and dtype is not None):
                raise TypeError(f"Spec{shape!r} has a shape and more, wanted a shape and a dtype")
            dtype = shape[1] if len(shape) == 2 else dtype
        for size in sizes:
            good = isinstance(size, (int, str)) and not isinstance(size, bool) or size is None
            if not good and not hasattr(size, "__index__") or isinstance(size, bool) or (
                    isinstance(size, int) and size < 0):
                raise TypeError(f"Spec() has the size {size!r}, wanted a number of 0 or more, or a name")
        self.shape, self.dtype = sizes, _native.dtype("float32") if dtype is None else dtype

    __init__ = _native.Door(_make)  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Spec({', '.join(map(repr, self.shape))}, dtype={self.dtype})"
