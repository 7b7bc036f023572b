"""Functions that call themselves where a tensor decides whether: ge.Call of a function of the graph.

A call whose condition is Python's is unrolled. One that comes again, with arguments of the same
types, within a branch or a loop of tensors would be traced without an end: the trace begins again,
and the function is one of the graph. What it answers is found first with its branches that do not
call it; then it is traced until its results and what it reads from around are settled.
"""
from typing import Any, Callable, Dict, List, Optional, Tuple

from graphengine import _native
from graphengine.jit import trees
from graphengine.jit.merge import as_tensor, is_number
from graphengine.jit.places import run_alone
from graphengine.jit.scope import Scope, Size, Symbol, TraceError, active, place

_TRACES = 8  # of one function; each settles a result or a value from around
_DEPTH = 32  # calls within calls whose arguments differ; behind that numbers of Python become tensors


class RecursionFound(BaseException):
    """A function calls itself where a tensor decides: the trace begins again with it known."""

    def __init__(self, code: Any, numbers: bool) -> None:
        super().__init__(code, numbers)
        self.code, self.numbers = code, numbers


class NoResultYet(BaseException):
    """A call of the function whose results are looked for: this branch cannot tell them."""


def looks_for_results(trace: Any) -> bool:
    """Whether the innermost function that calls itself is traced for what it answers alone."""
    return bool(trace.recursions) and trace.recursions[-1].looks()


def is_data(value: Any) -> bool:
    """What a call is given as data."""
    return isinstance(value, (_native.Tensor, Size)) or hasattr(value, "__array_interface__")


def _types(tensors: List[Any]) -> Tuple[Any, ...]:
    return tuple((t.dtype, t.symbol.dims if t.symbol is not None else tuple(t.shape)) for t in tensors)


class _Arguments:
    """What a function is called with; `key` is equal where one function of the graph fits."""

    def __init__(self, args: Any, kwargs: Any, numbers: bool) -> None:
        def data(v: Any) -> bool:
            return is_data(v) or (numbers and is_number(v) and not isinstance(v, bool))

        leaves, self.tree = trees.flatten((args, kwargs), data)
        self.tensors = [as_tensor(v) for v in leaves]
        self.key = (self.tree, _types(self.tensors))


class Frame:
    """A call that goes on."""

    def __init__(self, code: Any, scope: Scope, args: Any, kwargs: Any) -> None:
        self.code, self.scope, self.args, self.kwargs = code, scope, args, kwargs


def watched(function: Any, converted: Callable[..., Any]) -> Callable[..., Any]:
    """The converted function, whose calls are noted in the trace."""

    def call(*args: Any, **kwargs: Any) -> Any:
        scope = active()
        if scope is None:
            return converted(*args, **kwargs)
        trace, code = scope.trace, function.__code__
        if code in trace.recursive:
            return _call(scope, code, converted, args, kwargs)
        _look_for(trace.frames, code, scope, args, kwargs)
        trace.frames.append(Frame(code, scope, args, kwargs))
        try:
            return converted(*args, **kwargs)
        finally:
            trace.frames.pop()

    return call


def _look_for(frames: List[Frame], code: Any, scope: Scope, args: Any, kwargs: Any) -> None:
    """Raises RecursionFound where this call would be traced without an end."""
    around = [f for f in frames if f.code is code and f.scope is not scope]
    if not around:
        return
    key = _Arguments(args, kwargs, False).key
    if any(_Arguments(f.args, f.kwargs, False).key == key for f in around):
        raise RecursionFound(code, False)
    if len({id(f.scope) for f in around}) > _DEPTH:
        raise RecursionFound(code, True)


def _call(scope: Scope, code: Any, converted: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    numbers = scope.trace.recursive[code]
    given = _Arguments(args, kwargs, numbers)
    going = [r for r in scope.trace.recursions if r.code is code]
    for r in reversed(going):
        if r.arguments.key == given.key:
            return r.call(scope, given)
    if len(going) > _DEPTH:
        if not numbers:
            raise RecursionFound(code, True)
        raise TraceError(f"'{code.co_name}' calls itself with other sizes or objects of Python each time, {_DEPTH} deep, "
                         "where a tensor decides whether it goes on; give it arguments of the same types and sizes")
    return Recursion(scope, code, converted, given).answer()


class Recursion:
    """One function of the graph that calls itself."""

    def __init__(self, scope: Scope, code: Any, converted: Callable[..., Any], arguments: _Arguments) -> None:
        self.code, self.arguments = code, arguments
        self._parent, self._converted, self._where = scope, converted, place()
        self._around: List[Symbol] = []  # values of functions around that it reads
        self._tree: Any = None  # of what it answers; None: not known yet
        self._types: Tuple[Any, ...] = ()
        self._scope: Optional[Scope] = None

    def looks(self) -> bool:
        return self._tree is None

    def answer(self) -> Any:
        """Traces it, and answers what the first call of it does."""
        for _ in range(_TRACES):
            around, tree, types = self._trace()
            settled = (tree, types) == (self._tree, self._types) and len(around) == len(self._around)
            self._around, self._tree, self._types = around, tree, types
            if settled:
                return self.call(self._parent, self.arguments)
        raise TraceError(f"the types of what '{self.code.co_name}' answers do not settle, since it calls itself; it is "
                         f"called at {self._where}; let all its branches answer one type")

    def call(self, scope: Scope, given: _Arguments) -> Any:
        """What a call of it answers, in a scope of its own or of the caller."""
        if self._tree is None:
            raise NoResultYet()
        assert self._scope is not None
        around = [scope.tensor(scope.lift(s).value) for s in self._around]
        made = scope.node("ge", "Call", [*given.tensors, *around], {}, len(self._types), {"fn": self._scope.fn}) if (
            self._types) else []
        return trees.unflatten(self._tree, list(made))

    def _trace(self) -> Tuple[List[Symbol], Any, Tuple[Any, ...]]:
        trace = self._parent.trace
        scope = self._scope = Scope(trace, self.code.co_name, self._parent, recursive=True)
        with scope:
            params = [scope.param(f"argument{i}", like=_here(self._parent, t))
                      for i, t in enumerate(self.arguments.tensors)]
            for symbol in self._around:
                scope.lift(symbol)
            if self._types:
                declared = [trace.builder.placeholder(scope.fn, dtype, list(dims)) for dtype, dims in self._types]
                trace.builder.results(scope.fn, declared, [f"result{i}" for i in range(len(declared))])
            answer = self._run(trace, params)
            leaves, tree = trees.flatten(answer, is_data)
            tensors = [as_tensor(v) for v in leaves]
            self._want_sizes(tensors, params)
            types = _types([_here(scope, t) for t in tensors])
            if tensors and (tree, types) == (self._tree, self._types):
                scope.results(tensors)
        return [s for s in scope.origins], tree, types

    def _run(self, trace: Any, params: List[Any]) -> Any:
        """What the function answers for the parameters; it may change nothing of outside."""
        args, kwargs = trees.unflatten(self.arguments.tree, params)
        trace.recursions.append(self)
        try:
            return run_alone(trace, self._converted, args, self._refuse, kwargs)
        except NoResultYet:
            raise TraceError(f"'{self.code.co_name}' calls itself on every path, so it has no end and no result; it is "
                             f"called at {self._where}; let a branch answer without a call") from None
        finally:
            trace.recursions.pop()

    def _refuse(self, name: str) -> None:
        raise TraceError(f"'{self.code.co_name}' calls itself where a tensor decides, and changes '{name}', which is not "
                         "its own; let it answer the new value")

    def _want_sizes(self, tensors: List[Any], params: List[Any]) -> None:
        known = {d for p in params for d in p.symbol.dims}.union(self._parent.trace.free)
        for t in tensors:
            for size in t.shape:
                if isinstance(size, Size) and size.dim not in known:
                    raise TraceError(f"'{self.code.co_name}' calls itself where a tensor decides, and answers a tensor "
                                     "of a size that is known only when it runs; let it answer tensors of one size")


def _here(scope: Scope, tensor: Any) -> Any:
    return scope.tensor(scope.symbol(tensor).value)
