"""Traces whose values are computed as they are made, for ge.eager(): gradients of what runs at once.

Each node that is added is run, too, and its Tensors are asked for their numbers like any: print, pdb
and Python's own conditions work. A node with functions (ge.Gradient, ge.Call) is run by a session
over the graph as it is by then. What stands for a cotangent to come has no numbers.
"""
import operator
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from graphengine import _native
from graphengine.jit import plugins, trees
from graphengine.jit.merge import as_tensor
from graphengine.jit.scope import Scope, Size, Symbol, Trace, TraceError, known
from graphengine.jit.sessions import session_of
from graphengine.variable import read_through


class Values:
    """The numbers of a trace's values."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._found: Dict[Tuple[int, int], Any] = {}  # by function and value

    def of(self, symbol: Symbol) -> Any:
        """An eager Tensor; None where it has none."""
        return self._found.get((symbol.scope.fn, symbol.value))

    def note(self, fn: int, value: int, tensor: Any) -> None:
        """This value is that of an eager Tensor; None: of none."""
        if tensor is not None:
            self._found[fn, value] = tensor

    def node(self, fn: int, made: Sequence[int], domain: str, op: str, inputs: Sequence[Any],
             attributes: Dict[str, Any], bodies: Dict[str, int]) -> None:
        """Runs a node that was added; inputs: eager Tensors, None for what is left out."""
        if bodies:
            found = self._run(domain, op, inputs, attributes, bodies, len(made))
        else:
            before = _native.set_trace(None)
            try:
                out = _native.apply(domain, op, list(inputs), attributes, len(made))
            finally:
                _native.set_trace(before)
            found = [out] if len(made) == 1 else list(out)
        for value, tensor in zip(made, found):
            self.note(fn, value, tensor)

    def _run(self, domain: str, op: str, inputs: Sequence[Any], attributes: Dict[str, Any], bodies: Dict[str, int],
             outputs: int) -> List[Any]:
        builder, name = self._trace.builder, self._trace.unique("at_once")
        fn = builder.function(name)
        feed = {f"input{i}": t for i, t in enumerate(inputs) if t is not None}
        values = [0 if t is None else builder.param(fn, f"input{i}", t.dtype, list(t.shape))
                  for i, t in enumerate(inputs)]
        made = builder.node(fn, domain, op, values, attributes, outputs, bodies=bodies)
        names = [f"output{i}" for i in range(outputs)]
        builder.results(fn, made, names)
        builder.entry(name, fn)
        got = session_of(self._trace).run(feed, entry=name)
        return [as_tensor_at_once(got[n]) for n in names]


def as_tensor_at_once(value: Any) -> Any:
    """An eager Tensor of an array, whatever is traced now."""
    before = _native.set_trace(None)
    try:
        return _native.tensor(value)
    finally:
        _native.set_trace(before)


_ASKED: Dict[str, Callable[[Any], Any]] = {
    "bool": bool, "int": int, "float": float, "complex": complex, "index": operator.index, "len": len,
    "array": lambda t: t.numpy(), "item": lambda t: t.item(), "nbytes": lambda t: t.nbytes,
    "dlpack": lambda t: t.__dlpack__()}


def asked(tensor: Any, wanted: str) -> Any:
    """(what a Tensor with numbers answers,) of a traced one; None where it has none."""
    found = known(tensor)
    if found is None or wanted not in _ASKED:
        return None
    before = _native.set_trace(None)
    try:
        return (_ASKED[wanted](found),)
    finally:
        _native.set_trace(before)


def run(function: Callable[..., Any], args: Any, kwargs: Any, is_data: Callable[[Any], bool]) -> Any:
    """What a function that needs a trace answers, with all that it does computed on the way."""
    leaves, tree = trees.flatten((args, kwargs), is_data)
    trace = Trace(_native.GraphBuilder(plugins.every()))
    values = trace.values = Values(trace)
    given = [as_tensor(v) for v in leaves]
    with trace:
        root = trace.root = Scope(trace, getattr(function, "__name__", "function"), None)
        with root:
            params = []
            for i, t in enumerate(given):
                params.append(root.param(f"argument{i}", dtype=t.dtype, dims=t.shape, number=t))
            made_args, made_kwargs = trees.unflatten(tree, params)
            with read_through(trace):
                answer = function(*made_args, **made_kwargs)
            out, out_tree = trees.flatten(answer, lambda v: is_data(v) or isinstance(v, Size))
            results = [_number(values, root.symbol(as_tensor(v))) for v in out]
            assigned = {v: _number(values, root.symbol(t)) for v, t in trace.variables.items()}
    for variable, value in assigned.items():
        variable.assign(value)
    return trees.unflatten(out_tree, results)


def _number(values: Values, symbol: Symbol) -> Optional[Any]:
    found = values.of(symbol)
    if found is None:
        raise TraceError("a value under ge.eager() hangs on a cotangent that is not there yet; call it without ge.eager()")
    return found
