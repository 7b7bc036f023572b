"""custom_op: operators that are functions of Python over arrays of numpy, in graphs too.

A function is known by its name; graphs hold the name alone, in the attribute `function` of
python.Function. `_native` is the plugin that brings this operator; it calls infer, run and derive here.
"""
import atexit
import contextlib
import gc
import inspect
import itertools
import operator
import os
import sys
import threading
import traceback
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy

from graphengine import _native
from graphengine.functions import dtypes
from graphengine.jit import plugins
from graphengine.jit.hooks import HOOKS
from graphengine.jit.merge import as_tensor, describe
from graphengine.jit.scope import AskedSize, Scope, Size, Trace, TraceError, active, outside, place
from graphengine.spec import Spec
from graphengine.variable import read_through

DOMAIN = "python"
_PLUGIN = os.path.abspath(_native.__file__)
_FUNCTIONS: Dict[str, "CustomOp"] = {}  # as long as the process: graphs hold names
_LOCK = threading.Lock()
_COUNT = itertools.count(2)
_ADD, _SUB, _MUL, _FLOOR_DIV, _MOD = 1, 2, 3, 4, 6  # GE_DIM_*

atexit.register(_native.end_custom)


# ---- sizes that are not known yet

class FreeSize(AskedSize):
    """A size that is known when the graph runs, as `outputs=` sees it: + - * // % make others."""

    __slots__ = ("_handle", "_calculate", "_ask")

    def __init__(self, handle: Any, calculate: Callable[..., Any], ask: Callable[[Any], int]) -> None:
        self._handle, self._calculate, self._ask = handle, calculate, ask

    def _with(self, op: int, a: Any, b: Any) -> Any:
        if not all(hasattr(v, "__index__") for v in (a, b)):
            return NotImplemented
        handles = [v._handle if isinstance(v, FreeSize) else operator.index(v) for v in (a, b)]
        made = self._calculate(op, *handles)
        return made if isinstance(made, int) else FreeSize(made, self._calculate, self._ask)

    def __index__(self) -> int:
        return self._ask(self.dim)

    @property
    def dim(self) -> Any:
        """What the graph knows it by; None for an expression of a trace."""
        return getattr(self._handle, "dim", self._handle if isinstance(self._handle, _native.Dim) else None)

    @property
    def handle(self) -> Any:
        return self._handle


def _operation(op: int, reverse: bool) -> Callable[[Any, Any], Any]:
    if reverse:
        return lambda self, other: self._with(op, other, self)
    return lambda self, other: self._with(op, self, other)


for _name, _op in (("add", _ADD), ("sub", _SUB), ("mul", _MUL), ("floordiv", _FLOOR_DIV), ("mod", _MOD)):
    setattr(FreeSize, f"__{_name}__", _operation(_op, False))
    setattr(FreeSize, f"__r{_name}__", _operation(_op, True))


class _Type:
    """An input as `outputs=` sees it: dtype, shape of ints and FreeSizes, ndim."""

    __slots__ = ("dtype", "shape", "ndim")

    def __init__(self, dtype: Any, shape: Tuple[Any, ...]) -> None:
        self.dtype, self.shape, self.ndim = dtype, shape, len(shape)

    def __repr__(self) -> str:
        return f"{self.dtype} of shape ({', '.join(map(str, self.shape))})"


# ---- the operator

class CustomOp:
    """A function over arrays of numpy as an operator; see custom_op."""

    def __init__(self, function: Callable[..., Any], outputs: Any, name: str) -> None:
        self.function, self.name = function, name
        self._outputs = outputs
        self._rule: Optional[Callable[..., Any]] = None
        self.__name__ = getattr(function, "__name__", name)
        self.__doc__ = function.__doc__
        self.__wrapped__ = function
        self._least, self._most = _counts(function)

    def __repr__(self) -> str:
        return f"<custom_op {self.name}>"

    def __reduce__(self) -> Any:
        return self.__name__

    def _gradient(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Takes rule(*inputs, *results, *cotangents), which answers the gradient of each input, None for
        zero: made of ge's functions, or of another custom_op. Answers the rule."""
        if not callable(rule):
            raise TypeError(f"gradient() of {describe(rule)}, wanted a function or a custom_op")
        if self._rule is not None:
            raise ValueError(f"custom_op '{self.name}' has a gradient already: {self._rule!r}")
        self._rule = rule
        return rule

    gradient = _native.Door(_gradient)

    def _call(self, *args: Any, **words: Any) -> Any:
        if words:
            raise TypeError(f"custom_op '{self.name}' takes tensors by position, and is given "
                            f"{', '.join(words)}= by name; make an operator for each such value: "
                            "ge.custom_op(functools.partial(...), name=...)")
        if not self._least <= len(args) <= self._most:
            try:
                inspect.signature(self.function).bind(*args)
            except TypeError as why:
                raise TypeError(f"custom_op '{self.name}': {why}") from None
        tensors = [as_tensor(a) for a in args]
        scope = active()
        if scope is None:
            return self._at_once(tensors)
        scope.trace.custom_ops.setdefault(self.name, place())
        specs, one = self._specs([_Type(t.dtype, tuple(map(_stand_in, t.shape))) for t in tensors])
        sized = not any(size is None for s in specs for size in s.shape)
        made = _native.apply(DOMAIN, "Function" if sized else "FunctionDataSized", tensors, {"function": self.name}, len(specs))
        return made if one or len(specs) > 1 else (made,)

    __call__ = _native.Door(_call)

    def _at_once(self, tensors: Sequence[Any]) -> Any:
        if self._outputs is None and tensors:
            wanted, one = [(tensors[0].dtype, tensors[0].shape)], True
        else:
            specs, one = self._specs([_Type(t.dtype, tuple(t.shape)) for t in tensors])
            wanted = [(_dtype(s), s.shape) for s in specs]
        answer = self.function(*[t.numpy() for t in tensors])
        arrays = self._results(answer, wanted, "")
        made = tuple(_native.tensor(a, copy=True) for a in arrays)
        return made[0] if one else made

    # ---- types

    def _specs(self, inputs: Sequence[_Type]) -> Tuple[List[Spec], bool]:
        """The types of the results, and whether there is one alone, and no tuple of one."""
        if self._outputs is None:
            if not inputs:
                raise TypeError(f"custom_op '{self.name}' has no input, and so no type of its result; say it: "
                                "custom_op(outputs=lambda: ge.Spec(3))")
            return [Spec(inputs[0].shape, inputs[0].dtype)], True
        with outside():
            found = self._outputs(*inputs) if callable(self._outputs) else self._outputs
        specs = list(found) if isinstance(found, (tuple, list)) else [found]
        if not specs or not all(isinstance(s, Spec) for s in specs):
            raise TypeError(f"outputs= of custom_op '{self.name}' answers {found!r}, wanted a ge.Spec for each result")
        for spec in specs:
            for size in spec.shape:
                if isinstance(size, str):
                    raise TypeError(f"outputs= of custom_op '{self.name}' answers {spec}, wanted sizes of the inputs, "
                                    "numbers, or None for a size that the result decides")
        return specs, not isinstance(found, (tuple, list))

    # ---- results

    def _results(self, answer: Any, wanted: Sequence[Tuple[Any, Any]], place: str) -> List[Any]:
        """The arrays that the function answered, once they are of the types that were said. A size, or
        all of them, may be None: any."""
        where = f" at {place}" if place else ""
        found = list(answer) if isinstance(answer, (tuple, list)) else [answer]
        if len(found) != len(wanted):
            raise TypeError(f"custom_op '{self.name}'{where} answers {len(found)} results, wanted {len(wanted)}; say "
                            "their types by custom_op(outputs=...), a ge.Spec for each")
        for i, (value, (dtype, shape)) in enumerate(zip(found, wanted)):
            if isinstance(value, _native.Tensor):
                value = found[i] = value.numpy()
            if isinstance(value, numpy.ndarray) and value.shape == shape and dtype == value.dtype:
                continue
            what = f"custom_op '{self.name}'{where} answers for result {i} " if len(wanted) > 1 else (
                f"custom_op '{self.name}'{where} answers ")
            if not isinstance(value, (numpy.ndarray, numpy.generic)):
                raise TypeError(f"{what}{value!r:.60}, a {type(value).__name__}, wanted an array of numpy; "
                                "numpy.asarray(value, dtype) makes one")
            if not dtype == value.dtype:
                raise TypeError(f"{what}an array of {value.dtype}, wanted {dtype.name}; convert it, "
                                f"result.astype('{dtype.name}'), or say the type: custom_op(outputs=...)")
            if shape is None:
                continue
            if len(shape) != value.ndim or any(n is not None and n != m for n, m in zip(shape, value.shape)):
                raise ValueError(f"{what}an array of shape {value.shape}, wanted {_shape(shape)}; say how it follows "
                                 "from the inputs: custom_op(outputs=lambda x: ge.Spec(...))")
        return found

    # ---- gradients

    def _derive(self, place: str, inputs: List[Any], outputs: List[Any], cotangents: List[Any]) -> List[Any]:
        if self._rule is None:
            where = f" at {place}" if place else ""
            raise TypeError(f"no rule says how the gradient of custom_op '{self.name}'{where} is built; give it one "
                            f"by @{self.__name__}.gradient, or let no gradient through by ge.stop_gradient(x)")
        answer = HOOKS.call(self._rule)(*inputs, *outputs, *cotangents)
        found = list(answer) if isinstance(answer, (tuple, list)) else [answer]
        if len(found) != len(inputs):
            raise TypeError(f"the gradient of custom_op '{self.name}' answers {len(found)} results, wanted "
                            f"{len(inputs)}, one for each input")
        for i, (value, x) in enumerate(zip(found, inputs)):
            if value is None:
                continue
            if not isinstance(value, _native.Tensor):
                raise TypeError(f"the gradient of custom_op '{self.name}' answers {describe(value)} for input {i}, "
                                "wanted a tensor, or None for zero")
            differ = value.dtype != x.dtype or len(value.shape) != len(x.shape) or any(
                isinstance(n, int) and isinstance(m, int) and n != m for n, m in zip(value.shape, x.shape))
            if differ:
                raise TypeError(f"the gradient of custom_op '{self.name}' answers {describe(value)} for input {i}, "
                                f"which is {describe(x)}; both have to be of one type")
        return found


def _counts(function: Callable[..., Any]) -> Tuple[int, float]:
    """How many arguments it takes by position, at least and at most."""
    try:
        params = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a function in C that tells none
        return 0, float("inf")
    if any(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in params):
        raise TypeError(f"custom_op() of {describe(function)}, which wants an argument by name; an operator's arguments "
                        "are tensors by position: give this one a default, or functools.partial")
    placed = [p for p in params if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    most = float("inf") if any(p.kind is p.VAR_POSITIONAL for p in params) else len(placed)
    return sum(p.default is p.empty for p in placed), most


def _shape(shape: Sequence[Any]) -> str:
    inside = ", ".join("any" if n is None else str(n) for n in shape)
    return f"({inside},)" if len(shape) == 1 else f"({inside})"


def _dtype(spec: Spec) -> Any:
    return _native.dtype(spec.dtype)


def _stand_in(size: Any) -> Any:
    """A size of a traced tensor, for how many results there are; the core is asked for types."""
    if not isinstance(size, Size):
        return size
    scope = active()
    assert scope is not None

    def ask(dim: Any) -> int:
        return scope.trace.number(dim)
    return FreeSize(size.dim, lambda *_: object(), ask)


# ---- what the plugin calls

def _named(name: str) -> CustomOp:
    found = _FUNCTIONS.get(name)
    if found is None:
        raise LookupError(f"the graph calls the function '{name}' of Python, and no custom_op of this name is there; "
                          "import the module that defines it first")
    return found


def infer(name: str, call: Any, inputs: Sequence[Any], count: int) -> List[Tuple[Any, Any]]:
    """(dtype, sizes) of each result."""
    op = _named(name)
    scope = active()
    types = []
    for i, given in enumerate(inputs):
        if given is None:
            raise TypeError(f"input {i} of custom_op '{name}' is no tensor of numbers")
        dtype, sizes = given
        if sizes is None:
            raise TypeError(f"the number of axes of input {i} of custom_op '{name}' is known only when the graph runs; "
                            "give it a shape (reshape) in the operator that makes it")
        if dtype.name in ("int4", "uint4", "int2", "uint2", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"):
            raise TypeError(f"input {i} of custom_op '{name}' is {dtype.name}, whose elements are less than a byte; convert "
                            "it by astype before")

        def ask(dim: Any) -> int:
            if scope is not None and dim is not None and dim in scope.trace.free:
                return scope.trace.number(dim)
            raise TraceError(f"outputs= of custom_op '{name}' asks for the number of the size '{dim}', which is known "
                             "only when the graph runs; make sizes of it by + - * // %")
        types.append(_Type(dtype, tuple(n if isinstance(n, int) else FreeSize(n, call.calculate, ask) for n in sizes)))
    specs, _ = op._specs(types)
    if len(specs) != count:
        raise TypeError(f"outputs= of custom_op '{name}' answers {len(specs)} results, and the node has {count}")
    return [(_dtype(s), tuple(call.data_size() if n is None else n.handle if isinstance(n, FreeSize) else int(n)
                              for n in s.shape)) for s in specs]


def run(name: str, place: str, tensors: List[Any], wanted: Sequence[Tuple[Any, Any]]) -> List[Any]:
    """The results of the function on tensors over memory of the run."""
    op = _named(name)
    if active() is None:
        return _run(op, place, tensors, wanted)
    with outside():
        return _run(op, place, tensors, wanted)


def _run(op: CustomOp, place: str, tensors: List[Any], wanted: Sequence[Tuple[Any, Any]]) -> List[Any]:
    arrays = [t.numpy() for t in tensors]
    if any(shape is None for _, shape in wanted):
        wanted = [(_dtype(s), s.shape) for s in op._specs([_Type(t.dtype, t.shape) for t in tensors])[0]]
    tensors.clear()
    return op._results(op.function(*arrays), wanted, place)


def derive(name: str, place: str, graph: Any, inputs: Sequence[int], outputs: Sequence[int],
           cotangents: Sequence[int]) -> List[int]:
    """Values of the gradients by input, 0 for zero."""
    from graphengine import functions

    op = _named(name)
    trace = Trace(_RuleGraph(graph))
    with outside(), trace, read_through(trace):
        scope = trace.root = _RuleScope(trace, "gradient", None)
        with scope:
            xs, ys = [scope.tensor(v) for v in inputs], [scope.tensor(v) for v in outputs]
            cts = [scope.tensor(c) if c else functions.zeros_like(y) for c, y in zip(cotangents, ys)]
            made = op._derive(place, xs, ys, cts)
            return [0 if m is None else scope.symbol(m).value for m in made]


class _RuleGraph:
    """The graph of a gradient rule as traces want it: one function, whose values are the rule's."""

    def __init__(self, call: Any) -> None:
        self.node, self.constant, self.value_type = call.node, call.constant, call.value_type
        self._begun = False

    def function(self, *_: Any) -> int:
        if not self._begun:
            self._begun = True
            return 0
        raise TraceError("a gradient rule of a custom_op has no branches and loops of tensors; choose by ge.where(), "
                         "or write this part as a custom_op of its own")

    def state(self, name: str, *_: Any, **__: Any) -> int:
        raise TraceError(f"a gradient rule of a custom_op reads no Variable ('{name}'); give its value to the "
                         "operator as an input")

    read = assign = state


class _RuleScope(Scope):
    """The function that a gradient rule adds to."""

    advice = "compute with it by ge's functions, or write the rule as another custom_op"


def forget_locals(error: BaseException) -> None:
    """Clears local variables of the frames that an exception went through, and gives it copies of arrays
    that it holds: some lie in memory that is the run's alone."""
    seen: List[Any] = [sys.exc_info()[1]]  # what the caller handles is none of the run's
    todo: List[Optional[BaseException]] = [error]
    while todo:
        each = todo.pop()
        if each is None or any(each is s for s in seen):
            continue
        seen.append(each)
        for frame, _ in traceback.walk_tb(each.__traceback__):
            _clear(frame)
        each.args = tuple(map(_owned, each.args))
        for key, value in vars(each).items():
            vars(each)[key] = _owned(value)
        todo += [each.__cause__, each.__context__]


def _clear(frame: Any) -> None:
    """The frame and those that called it, some of which no traceback names, unless they still run."""
    while frame is not None:
        with contextlib.suppress(RuntimeError):
            frame.clear()
        frame = frame.f_back


def _owned(value: Any) -> Any:
    return value.copy() if isinstance(value, numpy.ndarray) and not value.flags.owndata else value


def collect() -> None:
    """Frees what only cycles keep."""
    gc.collect()


def refuse_kept(name: str, place: str, i: int, error: Optional[BaseException]) -> None:
    """Refuses to go on where an array over the run's memory is kept."""
    raise RuntimeError(f"custom_op '{name}' at {place} keeps input {i}, or a view of it, beyond its call; it lies in "
                       "memory of the run, which goes on to hold other tensors: keep a copy, x.copy()") from error


# ---- the decorator

def _register(function: Callable[..., Any], outputs: Any, name: Optional[str]) -> CustomOp:
    if not callable(function):
        raise TypeError(f"custom_op() of {describe(function)}, wanted a function over arrays of numpy")
    inner = getattr(function, "func", function)  # of functools.partial
    own = f"{getattr(inner, '__module__', None)}.{getattr(inner, '__qualname__', type(inner).__qualname__)}"
    with _LOCK:
        if name is not None and name in _FUNCTIONS:
            raise ValueError(f"custom_op(name={name!r}): {_FUNCTIONS[name].function!r} has this name; graphs know "
                             "functions by their names, so give this one another")
        if name is None:
            # The second of a name is none that a file could mean: it has a name of this process.
            name = own if own not in _FUNCTIONS else f"{own} #{next(_COUNT)} of process {os.getpid()}"
        made = _FUNCTIONS[name] = CustomOp(function, outputs, name)
    plugins.bring(DOMAIN, _PLUGIN)
    _native.begin_custom(_PLUGIN)
    _native.add_plugin(_PLUGIN)
    return made


def _custom_op(function: Optional[Callable[..., Any]] = None, *, outputs: Any = None, name: Optional[str] = None) -> Any:
    """An operator that is a function over arrays of numpy, used as any other: at once, under jit, in
    branches and loops, in fit. As a decorator, with arguments or without.

    The function is given an array for each tensor, read-only: keep copies. It answers an array, or a
    tuple, of the types that outputs= says: a ge.Spec for each result, or a function of the inputs'
    dtypes and shapes that answers them; without it there is one result of the first input's type. A
    size None of a Spec is decided by the result. It may be called in any thread.
    name: what graphs know it by; else the names of its module and itself.
    """
    if function is None:
        return _native.Door(lambda f: _register(f, outputs, name))
    return _register(function, outputs, name)


_custom_op.__name__ = _custom_op.__qualname__ = "custom_op"
custom_op = _native.Door(_custom_op)
