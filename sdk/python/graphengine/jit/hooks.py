"""Control flow of converted functions: Python's where the condition is Python's, If and Loop where it
is a tensor of a trace. Each construct decides when it is reached.
"""
import builtins
import functools as python_functools
import operator
import sys
import types
from typing import Any, Callable, Iterable, Optional, Sequence, Tuple

from graphengine import _native
from graphengine.jit import at_once, loops
from graphengine.jit.branches import both, if_else, negation, truth
from graphengine.jit.merge import Undefined, as_tensor
from graphengine.jit.places import Places, put_back
from graphengine.jit.recursion import watched
from graphengine.jit.scope import PACKAGE, KeptError, Scope, Size, TraceError, active
from graphengine.source import Converter, Hooks, Unconverted

Thunk = Callable[[], Any]


def traced(value: Any) -> bool:
    """Whether the value is one that a trace computes."""
    return isinstance(value, _native.Tensor) and value.symbol is not None


_WORDS = {"bool": "its truth (bool) by Python itself, as by `assert`, `in`, `match`, a comprehension, any() or a function "
                  "without source",
          "len": "len() of an axis whose size is free"}


def _asked(tensor: Any, wanted: str) -> Any:
    """What a traced tensor says to who wants its numbers."""
    found = at_once.asked(tensor, wanted)
    if found is not None:
        return found[0]
    scope = active()
    if scope is None or tensor.symbol.scope.trace is not scope.trace:
        raise KeptError()
    if wanted == "len":
        return int(tensor.shape[0])
    shape = ", ".join(map(str, tensor.shape))
    what = _WORDS.get(wanted, f"its numbers ({wanted})")
    raise TraceError(f"a tensor of {tensor.dtype.name} of shape ({shape}) of a function under jit is asked for {what}, "
                     f"which is known only when it runs, wanted a number of Python; {scope.advice}")


_native.set_traced_hook(_native.Door(_asked))


class Rounds:
    """What a `for` of the graph goes over: a number of rounds, and item(i), what each is given. sources:
    where these are rows of tensors, the tensors and whether from behind; of(i, rows) is then the item,
    which asks for i only if `indexed`."""

    def __init__(self, count: Any, item: Callable[[Any], Any], sources: Sequence[Tuple[Any, bool]] = (),
                 of: Optional[Callable[[Any, Sequence[Any]], Any]] = None, indexed: bool = False) -> None:
        self.count, self.item, self.sources, self.of, self.indexed = count, item, sources, of, indexed

    def rest(self) -> "Rounds":
        """Without the first, of a number that is known."""
        of = self.of
        return Rounds(self.count - 1, lambda i: self.item(i + 1), [(t[:-1] if back else t[1:], back) for t, back in self.sources],
                      None if of is None else lambda i, found: of(i + 1 if self.indexed else i, found), self.indexed)

    def __iter__(self) -> Any:
        raise TraceError("this range belongs to the graph; only a `for` of a function under jit goes over it")


def rows(tensor: Any) -> Rounds:
    """The rows of a traced tensor."""
    if len(tensor.shape) == 0:
        raise TypeError("iteration over a Tensor without axes, wanted one axis or more; reshape it to (1,)")
    count = tensor.shape[0]
    return Rounds(count.tensor() if isinstance(count, Size) else count,
                  lambda i: _native.apply("", "Gather", [tensor, as_tensor(i)], {"axis": 0}, 1), [(tensor, False)],
                  lambda _, found: found[0])


def rounds_of(*arguments: Any) -> Rounds:
    """range(...) of tensors."""
    from graphengine import functions

    start, stop, step = (0, arguments[0], 1) if len(arguments) == 1 else (*arguments, 1)[:3]
    start, stop, step = (a.tensor() if isinstance(a, Size) else a for a in (start, stop, step))
    for part in (start, stop, step):
        if isinstance(part, _native.Tensor) and not functions.isdtype(part.dtype, "integral"):
            raise TypeError(f"range() of a tensor of {part.dtype.name}, wanted integers; cast it by astype(x, ge.int64)")
    if isinstance(step, int) and step == 0:
        raise ValueError("range() step must not be zero")
    if isinstance(start, int) and isinstance(step, int) and (start, step) == (0, 1):
        count = stop
    elif all(isinstance(a, int) for a in (start, stop, step)):
        count = len(range(start, stop, step))
    elif isinstance(step, int):
        span = (stop - start) if step > 0 else (start - stop)
        count = (span + (abs(step) - 1)) // abs(step)
    else:
        up, down = (stop - start + step - 1) // step, (start - stop - step - 1) // -step
        count = functions.where(step > 0, up, down)
    if isinstance(count, _native.Tensor):
        count = functions.astype(functions.maximum(count, 0), functions.int64)
    return Rounds(count, lambda i: start + i * step)


def loop_range(*arguments: Any) -> Any:
    """As range(); a `for` over it in a function under jit is a Loop of the graph, not unrolled, whatever
    its arguments are: ge.range(1000)."""
    if not 1 <= len(arguments) <= 3:
        raise TypeError(f"ge.range() takes 1 to 3 arguments, and is given {len(arguments)}")
    scope = active()
    if scope is None or scope.trace.values is not None:
        return range(*(operator.index(a) for a in arguments))
    return rounds_of(*arguments)


class GraphHooks(Hooks):
    """What functions under jit call."""

    def __init__(self) -> None:
        self.converter = Converter(self)
        self.unconverted: dict = {}  # by code: why it is traced as it is

    # ---- branches

    def if_(self, test: Any, then: Thunk, orelse: Optional[Thunk], globals: Tuple[str, ...] = ()) -> None:
        scope = active()
        if scope is None or not traced(test):
            super().if_(test, then, orelse, globals)
        else:
            if_else(test, then, orelse, scope, globals)

    def if_return(self, test: Any, then: Thunk, orelse: Thunk, globals: Tuple[str, ...] = ()) -> Any:
        scope = active()
        if scope is None or not traced(test):
            return then() if test else orelse()
        return if_else(test, then, orelse, scope, globals)

    def if_exp(self, test: Any, then: Thunk, orelse: Thunk) -> Any:
        return self.if_return(test, then, orelse)

    def and_(self, first: Any, *others: Thunk) -> Any:
        return self._both(first, others, True)

    def or_(self, first: Any, *others: Thunk) -> Any:
        return self._both(first, others, False)

    def _both(self, first: Any, others: Tuple[Thunk, ...], is_and: bool) -> Any:
        for k, other in enumerate(others):
            scope = active()
            if scope is not None and traced(first):
                return both(first, lambda: self._both(other(), others[k + 1:], is_and), scope, is_and)
            if bool(first) != is_and:
                return first
            first = other()
        return first

    def not_(self, value: Any) -> Any:
        return negation(value) if traced(value) else not value

    # ---- loops

    def while_(self, test: Thunk, body: Thunk, broke: Optional[Thunk], globals: Tuple[str, ...] = ()) -> None:
        scope = active()
        while True:
            going = test()
            if scope is not None and traced(going):
                loops.while_(scope, going, test, body, broke, globals)
                return
            if not going:
                return
            left = self._once(scope, body, broke, (test, body, broke), globals)
            if left is None:  # whether it goes on is the graph's to know
                loops.while_(scope, True, test, body, broke, globals)
                return
            if left:
                return

    def _once(self, scope: Optional[Scope], body: Thunk, broke: Optional[Thunk], parts: Any,
              globals_: Tuple[str, ...]) -> Optional[bool]:
        """A round at once: whether it broke; None, and undone, where a tensor says so."""
        if scope is None or broke is None:
            body()
            return broke is not None and bool(broke())
        before = Places(scope.trace, parts, globals_).look()
        body()
        left = broke()
        if not traced(left):
            return bool(left)
        put_back(before)
        return None

    def for_(self, items: Iterable[Any], body: Callable[[Any], None], broke: Optional[Thunk],
             globals: Tuple[str, ...] = ()) -> None:
        scope = active()
        if scope is not None and traced(items):
            items = rows(items)
        if scope is not None and isinstance(items, Rounds):
            loops.for_(scope, items, body, broke, globals)
            return
        rest = iter(items)
        for item in rest:
            left = self._once(scope, lambda: body(item), broke, (body, broke), globals)
            if left is None:
                self._unrolled(scope, [item, *rest], body, broke, globals)
                return
            if left:
                return

    def _unrolled(self, scope: Scope, items: Any, body: Any, broke: Any, globals_: Tuple[str, ...]) -> None:
        """Python's items, of which a tensor decides how many there are: each is an If within."""
        body(items[0])
        left = broke()
        if len(items) == 1:
            return
        if traced(left):
            if_else(negation(left), lambda: self._unrolled(active(), items[1:], body, broke, globals_), None, scope,
                    globals_)
        elif not left:
            self._unrolled(scope, items[1:], body, broke, globals_)

    def range_(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        if function is range and active() is not None and any(traced(a) for a in args):
            return rounds_of(*args)
        return function(*args, **kwargs)

    # ---- calls

    def call(self, function: Any) -> Any:
        scope = active()
        if scope is not None and scope.trace.values is not None:
            return function  # its conditions have numbers
        if isinstance(function, types.FunctionType):
            return self.convert(function)
        if isinstance(function, types.MethodType):
            inner = function.__func__
            return types.MethodType(self.convert(inner), function.__self__) if isinstance(
                inner, types.FunctionType) else function
        if isinstance(function, python_functools.partial):
            return python_functools.partial(self.call(function.func), *function.args, **function.keywords)
        replaced = BUILTINS.get(function) if isinstance(function, (types.BuiltinFunctionType, type)) else None
        if replaced is not None:
            return replaced
        method = getattr(type(function), "__call__", None)
        if isinstance(method, types.FunctionType) and not isinstance(function, type) and users(method):
            return types.MethodType(self.convert(method), function)
        return function

    def convert(self, function: types.FunctionType) -> Any:
        """The converted function; a library's, and one without source, as it is."""
        if not users(function) or function.__code__ in self.unconverted:
            return function
        try:
            made = self.converter.function(function)
            return made if active() is None else watched(function, made)
        except Unconverted as why:
            self.unconverted[function.__code__] = str(why)
            return function


def users(function: types.FunctionType) -> bool:
    """Whether a function is of the user's program, and not of a library."""
    module = (function.__module__ or "").partition(".")[0]
    name = function.__code__.co_filename
    if name.startswith(PACKAGE):
        return bool(getattr(function, "__ge_convert__", False))
    if module in sys.stdlib_module_names and module != "__main__":
        return False
    return "site-packages" not in name and "dist-packages" not in name


# ---- functions of Python over tensors of a trace

def _len(value: Any) -> Any:
    if isinstance(value, list) and any(isinstance(v, (loops.Rows, Undefined)) for v in value):
        known = sum(1 for v in value if not isinstance(v, loops.Rows))
        for v in value:
            if isinstance(v, Undefined):
                v._ge_fail()
        return sum((Size_of(v.__ge_rows__) for v in value if isinstance(v, loops.Rows)), known)
    return len(value)


def Size_of(tensor: Any) -> Any:
    size = tensor.shape[0]
    return size.tensor() if isinstance(size, Size) else size


def _enumerate(items: Any, start: int = 0) -> Any:
    if traced(items):
        items = rows(items)
    if isinstance(items, Rounds):
        of = items.of
        return Rounds(items.count, lambda i: (i + start, items.item(i)), items.sources,
                      None if of is None else lambda i, found: (i + start, of(i, found)), True)
    return enumerate(items, start)


def _zip(*items: Any, strict: bool = False) -> Any:
    if not any(traced(x) or isinstance(x, Rounds) for x in items):
        return zip(*items, strict=strict) if strict else zip(*items)
    parts = [rows(x) if traced(x) else x for x in items]
    if not all(isinstance(p, Rounds) for p in parts):
        raise TraceError("zip() of a tensor and something else, wanted tensors; stack the others by ge.stack(), or make "
                         "them a tensor by ge.asarray()")
    counts = [p.count for p in parts]
    if all(isinstance(c, int) for c in counts):
        least: Any = min(counts)
    else:
        from graphengine import functions

        least = python_functools.reduce(functions.minimum, counts)
    return Rounds(least, lambda i: tuple(p.item(i) for p in parts), *_together(parts))


def _together(parts: Sequence[Rounds]) -> Tuple[Any, ...]:
    """(sources, of, indexed) of rounds side by side; nothing where their lengths may differ."""
    lengths = {t.shape[0] for p in parts for t, _ in p.sources}
    if len(lengths) != 1 or not all(p.sources for p in parts):
        return ()

    def of(i: Any, found: Sequence[Any]) -> Any:
        rest, out = iter(found), []
        for p in parts:
            out.append(p.of(i, [next(rest) for _ in p.sources]))
        return tuple(out)
    return [s for p in parts for s in p.sources], of, any(p.indexed for p in parts)


def _reversed(items: Any) -> Any:
    if traced(items):
        items = rows(items)
    if isinstance(items, Rounds):
        count = items.count
        return Rounds(count, lambda i: items.item(count - 1 - i), [(t, not back) for t, back in items.sources], items.of)
    return reversed(items)


def _extreme(function: Any, keep_first: Callable[[Any, Any], Any]) -> Any:
    def choose(*args: Any, **kwargs: Any) -> Any:
        if len(args) < 2 or kwargs or not any(traced(a) for a in args):
            return function(*args, **kwargs)
        out = args[0]
        for other in args[1:]:
            first, second = out, other
            test = keep_first(second, first)
            out = HOOKS.if_return(truth(test), lambda: second, lambda: first)  # pylint: disable=cell-var-from-loop
        return out
    return choose


BUILTINS = {len: _len, enumerate: _enumerate, zip: _zip, reversed: _reversed,
            builtins.max: _extreme(max, lambda b, a: b > a), builtins.min: _extreme(min, lambda b, a: b < a)}
HOOKS = GraphHooks()
