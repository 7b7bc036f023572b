"""ge.Variable: a tensor that programs read and assign, one memory for all of them."""
import contextlib
import itertools
import threading
from typing import Any, Dict, Iterator, Optional, Tuple

from graphengine import _native
from graphengine._doors import doors

STATES = _native.States()  # what every program's sessions share
_NUMBERS = itertools.count(1)


class _Reading(threading.local):
    trace: Any = None
    frozen = False


_READING = _Reading()


@contextlib.contextmanager
def read_through(trace: Any) -> Iterator[None]:
    """Variables of this thread are values of a trace."""
    before, _READING.trace = _READING.trace, trace
    try:
        yield
    finally:
        _READING.trace = before


@contextlib.contextmanager
def frozen() -> Iterator[None]:
    """Variables of this thread are what they hold now, and cannot be assigned."""
    before, _READING.frozen = _READING.frozen, True
    try:
        yield
    finally:
        _READING.frozen = before


@doors
class Variable:
    """A tensor with a name that lives from run to run.

    value: its first content. Reading `v.value` answers the content, `v.assign(x)` gives it another of
    the same type; in a function under jit both belong to the graph, and are seen when the run ends.
    """

    _former: Tuple[str, ...] = ()  # states of other types, which programs may use yet

    def __init__(self, value: Any, name: str = "", trainable: bool = True) -> None:
        from graphengine import functions

        first = functions.asarray(value)
        if first.symbol is not None:
            raise TypeError("a Variable is made of a value that a trace computes, wanted numbers; make it outside "
                            "of the function under jit")
        self.name = name or f"variable{next(_NUMBERS)}"
        self._key = f"{self.name}#{next(_NUMBERS)}"
        self.trainable = trainable
        self.dtype, self.shape = first.dtype, tuple(first.shape)
        STATES.set(self._key, first)

    @classmethod
    def mode(cls) -> int:
        """Changes whenever a Module's training mode does, which programs depend on."""
        return _native.mode()

    @classmethod
    def change_mode(cls) -> None:
        _native.change_mode()

    @property
    def value(self) -> Any:
        trace = _READING.trace
        if trace is None:
            return STATES.get(self._key)
        if _READING.frozen:  # one constant, however often it is read
            return trace.read.setdefault(self, STATES.get(self._key))
        found = trace.variables.get(self)
        if found is not None:
            return found
        if self not in trace.read:
            root = trace.root
            made = trace.builder.read(root.fn, self.state_of(trace))
            if trace.values is not None:
                trace.values.note(root.fn, made, STATES.get(self._key))
            trace.read[self] = root.tensor(made)
        return trace.read[self]

    def assign(self, value: Any) -> None:
        """Gives it another content of the same type."""
        if _READING.frozen:
            raise TypeError(f"Variable '{self.name}' is assigned in a function that is exported or frozen, where it is a "
                            "constant, wanted one that reads it alone; put its Module into evaluation (net.eval())")
        from graphengine import functions

        value = functions.asarray(value)
        if value.dtype != self.dtype or len(value.shape) != len(self.shape) or any(
                isinstance(n, int) and n != m for n, m in zip(value.shape, self.shape)):
            raise TypeError(f"Variable '{self.name}' is assigned {value.dtype.name} of shape "
                            f"{tuple(value.shape)}, wanted {self.dtype.name} of shape {self.shape}; cast it by astype, or "
                            "reshape it")
        trace = _READING.trace
        if trace is None:
            STATES.set(self._key, value)
        else:
            _ = self.value
            trace.variables[self] = value

    @property
    def key(self) -> str:
        """The name of its state."""
        return self._key

    def change_type(self, dtype: Any) -> None:
        """Makes it one of another type; programs that read it are made anew."""
        from graphengine import functions

        if _READING.trace is not None:
            raise TypeError(f"Variable '{self.name}' changes its type in a function under jit, wanted outside of it")
        value = functions.astype(self.value, dtype)
        if value.dtype == self.dtype:
            return
        self._former = (*self._former, self._key)
        self._key = f"{self.name}#{next(_NUMBERS)}"
        STATES.set(self._key, value)
        self.dtype = value.dtype
        Variable.change_mode()

    def state_of(self, trace: Any) -> int:
        """The state of the trace's graph."""
        states: Dict[Any, int] = trace.states
        if self not in states:
            states[self] = trace.builder.state(self._key, self.dtype, list(self.shape), trainable=self.trainable)
        return states[self]

    def numpy(self) -> Any:
        """Its content as an array."""
        return self.value.numpy()

    def __del__(self) -> None:
        key: Optional[str] = getattr(self, "_key", None)
        for name in self._former if key is None else (*self._former, key):
            with contextlib.suppress(Exception):
                STATES.erase(name)

    def __repr__(self) -> str:
        return f"Variable({self.name!r}, {self.dtype}, {self.shape})"
