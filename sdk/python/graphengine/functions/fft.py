"""The standard's extension of Fourier transforms, as far as Tensors reach: they hold no complex numbers.

The operator DFT takes pairs of real numbers: graphengine.ops.DFT.
"""
from typing import Any, NoReturn

import numpy

from graphengine.functions.dtypes import DEFAULT_FLOAT, name_of
from graphengine._doors import door
from graphengine.functions.manipulation import roll
from graphengine.functions.values import axes_of, constant, on_host, same, tensor, whole

__all__ = ["fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft",
           "irfftn", "rfft", "rfftfreq", "rfftn"]


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies of a transform of n samples that stand d apart."""
    on_host(device, "fftfreq")
    return constant(numpy.fft.fftfreq(n, d), DEFAULT_FLOAT if dtype is None else name_of(dtype))


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies of a transform of n real samples that stand d apart."""
    on_host(device, "rfftfreq")
    return constant(numpy.fft.rfftfreq(n, d), DEFAULT_FLOAT if dtype is None else name_of(dtype))


def _shifted(function: str, x: Any, axes: Any, back: bool) -> Any:
    x = tensor(x)
    places = axes_of(axes, x.ndim, function)
    for a in places:
        if not whole(x.shape[a]):
            raise ValueError(f"{function}: found axis {a} of free size, wanted a number; use roll")
    if not places:
        return same(x)
    shifts = tuple(-(x.shape[a] // 2) if back else x.shape[a] // 2 for a in places)
    return roll(x, shifts, axis=places)


def fftshift(x: Any, /, *, axes: Any = None) -> Any:
    """Frequency 0 moved to the middle."""
    return _shifted("fftshift", x, axes, False)


def ifftshift(x: Any, /, *, axes: Any = None) -> Any:
    """The inverse of fftshift."""
    return _shifted("ifftshift", x, axes, True)


def _refuse(what: str) -> NoReturn:
    raise NotImplementedError(f"{what} has complex numbers, which a Tensor does not hold; "
                              "graphengine.ops.DFT takes pairs of real numbers")


def fft(x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    """Refused: no complex numbers."""
    _refuse("fft")


def ifft(x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    """Refused: no complex numbers."""
    _refuse("ifft")


def fftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    """Refused: no complex numbers."""
    _refuse("fftn")


def ifftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    """Refused: no complex numbers."""
    _refuse("ifftn")


def rfft(x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    """Refused: no complex numbers."""
    _refuse("rfft")


def irfft(x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    """Refused: no complex numbers."""
    _refuse("irfft")


def rfftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    """Refused: no complex numbers."""
    _refuse("rfftn")


def irfftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    """Refused: no complex numbers."""
    _refuse("irfftn")


def hfft(x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    """Refused: no complex numbers."""
    _refuse("hfft")


def ihfft(x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    """Refused: no complex numbers."""
    _refuse("ihfft")


for _name in __all__:
    globals()[_name] = door(globals()[_name])
