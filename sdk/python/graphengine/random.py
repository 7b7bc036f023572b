"""Random numbers. First values of layers are drawn at once; in a function under jit numbers are a hash
of a counter, which is a Variable, so that runs repeat and checkpoints go on.
"""
import threading
from typing import Any, Optional, Sequence

import numpy as np

from graphengine import functions
from graphengine._native import apply
from graphengine.variable import Variable


class _Source(threading.local):
    generator: Optional[np.random.Generator] = None


_SOURCE = _Source()
_COUNTER: Optional[Variable] = None
_LOCK = threading.Lock()


def seed(value: int) -> None:
    """Begins anew: the first values of layers made behind this, and numbers drawn."""
    _SOURCE.generator = np.random.default_rng(value)
    counter().assign(functions.asarray([value & 0xFFFFFFFF, 0], dtype=functions.uint32))


def generator() -> np.random.Generator:
    """The source of first values, of this thread."""
    if _SOURCE.generator is None:
        _SOURCE.generator = np.random.default_rng(0)
    return _SOURCE.generator


def counter() -> Variable:
    """(seed, draws so far)."""
    global _COUNTER  # pylint: disable=global-statement
    with _LOCK:
        if _COUNTER is None:
            _COUNTER = Variable(np.zeros(2, np.uint32), "random", trainable=False)
        return _COUNTER


def _draw(count: Any) -> Any:
    """`count` random words of 64 bits, whose upper bits count; the counter goes on."""
    value = counter().value
    kind = functions.uint64
    key = _mixed(functions.astype(value[0], kind) * _word(_FIRST) + functions.astype(value[1], kind) * _word(_GOLDEN))
    place = functions.astype(functions.arange(count), kind) if isinstance(count, int) else functions.astype(
        apply("", "Range", [functions.asarray(0), count, functions.asarray(1)], {}, 1), kind)
    counter().assign(value + functions.asarray([0, 1], dtype=functions.uint32))
    return _mixed(place * _word(_GOLDEN) + key)


# The finalizer of splitmix64, but for its last step, which leaves the upper bits alone.
_GOLDEN, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def _word(value: int) -> Any:
    return functions.asarray(np.array(value, np.uint64))


def _right(z: Any, bits: int) -> Any:
    return apply("", "BitShift", [z, _word(bits)], {"direction": "RIGHT"}, 1)


def _mixed(z: Any) -> Any:
    z = (z ^ _right(z, 30)) * _word(_FIRST)
    return (z ^ _right(z, 27)) * _word(_SECOND)


def _count(shape: Sequence[Any]) -> Any:
    count: Any = 1
    for size in shape:
        count = count * size
    return count


def uniform(shape: Sequence[Any] = (), low: float = 0.0, high: float = 1.0) -> Any:
    """float32 numbers from low to below high, of 24 random bits."""
    shape = tuple(shape)
    bits = functions.astype(_right(_draw(_count(shape)), 40), functions.float32)
    unit = functions.reshape(bits * (1.0 / (1 << 24)), shape)
    return unit if (low, high) == (0.0, 1.0) else unit * (high - low) + low


def normal(shape: Sequence[Any] = (), mean: float = 0.0, deviation: float = 1.0) -> Any:
    """float32 numbers of the normal distribution (Box-Muller)."""
    first, second = uniform(shape), uniform(shape)
    unit = functions.sqrt(-2.0 * functions.log(1.0 - first)) * functions.cos(2 * np.pi * second)
    return unit * deviation + mean


def bernoulli(p: float, shape: Sequence[Any] = ()) -> Any:
    """True with probability p."""
    return uniform(shape) < p
