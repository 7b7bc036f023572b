"""Tensor: arrays of numbers with the methods of the Python array standard, and those of numpy."""
import builtins
import sys
from typing import Any, Iterator, Optional, Tuple, Union

import numpy

from graphengine import _native
from graphengine._doors import doors

Axes = Union[None, int, Tuple[int, ...]]


def _functions() -> Any:
    """graphengine.functions, which itself makes Tensors."""
    from graphengine import functions  # pylint: disable=import-outside-toplevel
    return functions


@doors
class Tensor(_native.Tensor):
    """An array of numbers: of a type `dtype`, of sizes `shape`.

    Tensor(object, dtype=None, copy=None) takes arrays, which it shares, numbers and lists of them.
    Operators are the standard's; numbers of Python and arrays of numpy mix in. `x[i] = v` and
    `x += y` give the object another value, and nobody who has a part of the former one sees that.
    """

    __slots__ = ()
    __array_priority__ = 1000  # operators of numpy's arrays leave the work to ours

    def __array_namespace__(self, *, api_version: Optional[str] = None) -> Any:
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
            raise ValueError(f"api_version is {api_version!r}, this is 2024.12")
        return _functions()

    @property
    def device(self) -> str:
        """Where its numbers lie."""
        return "cpu"

    def to_device(self, device: Any, /, *, stream: Any = None) -> "Tensor":
        """Itself: there is one device, "cpu"."""
        if str(device) != "cpu" or stream is not None:
            raise ValueError(f"device is {device!r}, stream {stream!r}; Tensors lie on \"cpu\"")
        return self

    @property
    def T(self) -> "Tensor":  # pylint: disable=invalid-name
        """Of two axes: with these exchanged."""
        if self.ndim != 2:
            raise ValueError(f"T is of Tensors with 2 axes, this one has {self.ndim}; mT or "
                             "permute_dims takes others")
        return _functions().permute_dims(self, (1, 0))

    @property
    def mT(self) -> "Tensor":  # pylint: disable=invalid-name
        """With the last two axes exchanged."""
        return _functions().matrix_transpose(self)

    # What numpy's arrays have beside the standard.

    def astype(self, dtype: Any, *, copy: bool = True) -> "Tensor":
        """Its numbers as those of another type."""
        return _functions().astype(self, dtype, copy=copy)

    def reshape(self, *shape: Any) -> "Tensor":
        """The same elements under other sizes; one of these may be -1."""
        return _functions().reshape(self, shape[0] if len(shape) == 1 and not isinstance(shape[0], int)
                                    and hasattr(shape[0], "__iter__") else shape)

    def transpose(self, *axes: Any) -> "Tensor":
        """With its axes in this order, or in the opposite one."""
        if len(axes) == 1 and not isinstance(axes[0], int):
            axes = tuple(axes[0]) if axes[0] is not None else ()
        return _functions().permute_dims(self, axes or tuple(reversed(range(self.ndim))))

    def flatten(self) -> "Tensor":
        """With one axis."""
        return _functions().reshape(self, (-1,))

    ravel = flatten

    def squeeze(self, axis: Axes = None) -> "Tensor":
        """Without these axes of one element, or without all such."""
        if axis is None:
            axis = tuple(i for i, n in enumerate(self.shape) if n == 1)
        return _functions().squeeze(self, axis)

    def copy(self) -> "Tensor":
        """Another Tensor of the same value."""
        return _native.tensor(self, copy=True)

    def tolist(self) -> Any:
        """Lists of lists of numbers; a number where there are no axes."""
        return self.numpy().tolist() if self.ndim else self.item()

    def sum(self, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> "Tensor":
        """The sum of its elements, along these axes or of all."""
        return _functions().sum(self, axis=axis, dtype=dtype, keepdims=keepdims)

    def prod(self, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> "Tensor":
        """The product of its elements."""
        return _functions().prod(self, axis=axis, dtype=dtype, keepdims=keepdims)

    def mean(self, axis: Axes = None, keepdims: bool = False) -> "Tensor":
        """The mean of its elements."""
        return _functions().mean(self, axis=axis, keepdims=keepdims)

    def std(self, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> "Tensor":
        """The standard deviation; correction is numpy's ddof."""
        return _functions().std(self, axis=axis, correction=correction, keepdims=keepdims)

    def var(self, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> "Tensor":
        """The variance; correction is numpy's ddof."""
        return _functions().var(self, axis=axis, correction=correction, keepdims=keepdims)

    def max(self, axis: Axes = None, keepdims: bool = False) -> "Tensor":
        """The greatest element."""
        return _functions().max(self, axis=axis, keepdims=keepdims)

    def min(self, axis: Axes = None, keepdims: bool = False) -> "Tensor":
        """The least element."""
        return _functions().min(self, axis=axis, keepdims=keepdims)

    def argmax(self, axis: Optional[int] = None, keepdims: bool = False) -> "Tensor":
        """The index of the greatest element."""
        return _functions().argmax(self, axis=axis, keepdims=keepdims)

    def argmin(self, axis: Optional[int] = None, keepdims: bool = False) -> "Tensor":
        """The index of the least element."""
        return _functions().argmin(self, axis=axis, keepdims=keepdims)

    def all(self, axis: Axes = None, keepdims: bool = False) -> "Tensor":
        """Whether all elements are true."""
        return _functions().all(self, axis=axis, keepdims=keepdims)

    def any(self, axis: Axes = None, keepdims: bool = False) -> "Tensor":
        """Whether an element is true."""
        return _functions().any(self, axis=axis, keepdims=keepdims)

    def cumsum(self, axis: Optional[int] = None) -> "Tensor":
        """Sums of its first elements; of all in one row where there is no axis."""
        x = self.flatten() if axis is None and self.ndim != 1 else self
        return _functions().cumulative_sum(x, axis=0 if axis is None else axis)

    def clip(self, min: Any = None, max: Any = None) -> "Tensor":  # pylint: disable=redefined-builtin
        """Its elements, but none below min or above max."""
        return _functions().clip(self, min, max)

    def round(self) -> "Tensor":
        """Its elements, rounded to whole numbers, halves to the even one."""
        return _functions().round(self)

    def dot(self, other: Any) -> "Tensor":
        """Its product with another one, as `@`."""
        return self @ other

    def take(self, indices: Any, axis: Optional[int] = None) -> "Tensor":
        """Its elements at these indices of an axis; of all in one row where there is none."""
        x = self.flatten() if axis is None else self
        return _functions().take(x, indices, axis=0 if axis is None else axis)

    # What Python asks for.

    def __reversed__(self) -> Iterator["Tensor"]:
        return (self[i] for i in range(len(self) - 1, -1, -1))

    def __iter__(self) -> Iterator["Tensor"]:
        if self.ndim == 0:
            raise TypeError("iteration over a Tensor without axes, wanted one axis or more; reshape it to (1,)")
        return map(self.__getitem__, range(len(self)))

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __complex__(self) -> builtins.complex:
        return builtins.complex(self.item())

    def __round__(self, digits: Optional[int] = None) -> Any:
        return builtins.round(self.item(), digits)

    def __getattr__(self, name: str) -> Any:
        from graphengine._hints import METHODS, hint

        raise AttributeError(f"'Tensor' object has no attribute {name!r}{hint(name, METHODS, dir(type(self)))}")

    def __copy__(self) -> "Tensor":
        return self.copy()

    def __deepcopy__(self, memo: Any) -> "Tensor":
        return self.copy()

    def __reduce__(self) -> Any:
        return Tensor, (self.numpy(), None, True)

    def __format__(self, spec: str) -> str:
        self = _with_numbers(self)
        if self.is_traced and spec:
            try:
                return builtins.format(str(self), spec)
            except ValueError:  # one of numbers
                return builtins.format(self.item(), spec)
        if self.is_traced or self.ndim:
            return builtins.format(str(self), spec)
        return builtins.format(self.item(), spec)

    def __repr__(self) -> str:
        self = _with_numbers(self)
        if self.is_traced:
            sizes = ", ".join(str(n) for n in self.shape)
            return f"Tensor(traced {self.dtype.name}[{sizes}])"
        text = numpy.array2string(_shown(self), separator=", ", prefix="Tensor(")
        sizes = "" if self.size else f", shape={self.shape}"
        return f"Tensor({text}{sizes}, dtype={self.dtype.name})"

    def __str__(self) -> str:
        self = _with_numbers(self)
        return repr(self) if self.is_traced else str(_shown(self))


def _with_numbers(tensor: Any) -> Any:
    """The Tensor itself; under ge.eager() the one with numbers that a traced one stands for."""
    if not tensor.is_traced:
        return tensor
    scope = sys.modules.get("graphengine.jit.scope")  # else nothing of it is traced
    found = None if scope is None else scope.known(tensor)
    return tensor if found is None else found


def _shown(tensor: Tensor) -> Any:
    """An array of numpy with its numbers; types that numpy lacks as those that hold them."""
    name = tensor.dtype.name
    if name.startswith(("bfloat", "float4", "float6", "float8")):
        return _native.tensor(tensor, "float32").numpy()
    if name in ("int2", "int4", "uint2", "uint4"):
        return _native.tensor(tensor, "int8").numpy()
    return tensor.numpy()


def dtype_named(name: str) -> _native.DType:
    """The type of this name, for pickle."""
    return _native.dtype(name)


_native.use_tensor_type(Tensor)
