"""export: a function or a Module as a file for others; freeze: its Variables as constants."""
import inspect
import os
from typing import Any, Callable, Dict, List, Sequence, Tuple, Union

from graphengine import _native, functions
from graphengine._doors import door
from graphengine._error import Error
from graphengine.jit import plugins, trees
from graphengine.jit.hooks import HOOKS
from graphengine.jit.merge import as_tensor, describe
from graphengine.jit.notes import add_note
from graphengine.jit.program import Jitted, is_argument
from graphengine.jit.recursion import RecursionFound
from graphengine.jit.scope import Scope, Size, Trace
from graphengine.nn.module import Module
from graphengine.spec import Spec
from graphengine.variable import frozen, read_through


def _spec(name: str, value: Any) -> Spec:
    if isinstance(value, Spec):
        if None in value.shape:
            raise TypeError(f"argument '{name}' is {value}, wanted a number or a name for each size")
        return value
    if is_argument(value):
        value = as_tensor(value)
        return Spec(*value.shape, dtype=value.dtype)
    raise TypeError(f"argument '{name}' is {describe(value)}, wanted a ge.Spec, a tensor or an array; as ge.Spec(\"batch\", 784)")


def _named(answer: Any) -> Tuple[List[Any], List[str]]:
    """Tensors and names: of a dict its keys, else output, output_1 ..."""
    leaves, _ = trees.flatten(answer, lambda v: is_argument(v) or isinstance(v, (Size, int, float)))
    if not leaves:
        raise TypeError(f"export() of a function that answers {describe(answer)}, wanted tensors; return what it computes")
    if isinstance(answer, dict) and len(answer) == len(leaves) and all(isinstance(k, str) for k in answer):
        return leaves, list(answer)
    return leaves, ["output" if i == 0 else f"output_{i}" for i in range(len(leaves))]


@door
def export(function: Callable[..., Any], path: "str | os.PathLike[str]", **specs: Any) -> None:
    """Writes the graph of a function of these arguments: ONNX, or .gt and .gepb by the name's end.

    specs: by the function's own names: ge.Spec("batch", 784), or an array of the type. What Variables
    hold now are its constants; a Module computes as in evaluation. What ONNX has no form for is refused
    by name.
    """
    if not callable(function):
        raise TypeError(f"export() of {type(function).__name__}, wanted a function or a Module; give what is called")
    recursive: Dict[Any, bool] = {}
    while True:
        try:
            _graph_of(function, specs, recursive, os.fspath(path))
            return
        except RecursionFound as found:
            recursive[found.code] = found.numbers
        except plugins.PluginAdded:
            continue


def _graph_of(function: Callable[..., Any], specs: Dict[str, Any], recursive: Dict[Any, bool], path: str) -> None:
    builder = _native.GraphBuilder(plugins.every())
    trace = Trace(builder, recursive)
    inner = function._function if isinstance(function, Jitted) else function  # pylint: disable=protected-access
    with trace, _evaluating(function):
        root = trace.root = Scope(trace, "main", None)
        with root:
            given: Dict[str, Any] = {}
            for name, value in specs.items():
                spec = _spec(name, value)
                given[name] = root.param(name, dtype=spec.dtype, dims=spec.shape)
            with read_through(trace), frozen():
                args, kwargs = _arguments(inner, given)
                leaves, names = _named(HOOKS.call(inner)(*args, **kwargs))
            root.results([as_tensor(v) for v in leaves], names)
    if trace.custom_ops and path.endswith(".onnx"):
        name, where = next(iter(trace.custom_ops.items()))
        raise TypeError(f"export() of a function that calls custom_op '{name}' at {where}, which ONNX has no form for; "
                        "write it by ge's functions, or export to a file that ends with .gt or .gepb, which Python "
                        "loads where the operator is defined")
    builder.entry("main", root.fn)
    try:
        builder.save(path)
    except Error as error:
        add_note(error, trace.places)
        raise


def _arguments(function: Any, given: Dict[str, Any]) -> Tuple[Any, Dict[str, Any]]:
    """By position where the function's signature says which, since gradients count them."""
    try:
        bound = inspect.signature(function).bind(**given)
    except (TypeError, ValueError):  # it says what is wrong itself
        return (), given
    return bound.args, bound.kwargs


class _evaluating:  # pylint: disable=invalid-name
    """A Module is in evaluation meanwhile."""

    def __init__(self, function: Any) -> None:
        self._modes: Sequence[Tuple[Module, bool]] = (
            [(m, m.training) for _, m in function.modules()] if isinstance(function, Module) else ())

    def __enter__(self) -> None:
        for module, _ in self._modes:
            object.__setattr__(module, "training", False)

    def __exit__(self, *_: Any) -> None:
        for module, mode in self._modes:
            object.__setattr__(module, "training", mode)


@door
def freeze(net: Callable[..., Any]) -> Jitted:
    """The function under jit, with what Variables hold at its first call as constants, which engines pack
    once. A Module computes as in evaluation. Later assignments to the Variables are not seen."""
    if not callable(net):
        raise TypeError(f"freeze() of {type(net).__name__}, wanted a function or a Module; give what is called")

    def run(*args: Any, **kwargs: Any) -> Any:
        with frozen(), _evaluating(net):
            return HOOKS.call(net)(*args, **kwargs)
    return Jitted(run)
