"""jit: a function as programs, one for each structure, types and sizes of its arguments."""
import functools
import inspect
import json
import os
import threading
import types
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from graphengine import _native
from graphengine._doors import door, doors
from graphengine._error import Error
from graphengine.jit import at_once, plugins, trees
from graphengine.jit.hooks import HOOKS
from graphengine.jit.merge import Undefined, as_tensor
from graphengine.jit.notes import add_note
from graphengine.jit.recursion import RecursionFound
from graphengine.jit.scope import KeptError, NumberAsked, Scope, Size, Trace, TraceError, active
from graphengine.jit.sessions import session_of
from graphengine.tensor import Tensor
from graphengine.variable import Variable, read_through

_UNTRACED = ((inspect.isgeneratorfunction, "the generator"), (inspect.iscoroutinefunction, "the coroutine"),
             (inspect.isasyncgenfunction, "the asynchronous generator"))
MOST = 64  # programs of one structure; more are a Python number that changes with each call


class eager:  # pylint: disable=invalid-name
    """with ge.eager(): functions under jit run each operation at once, for print and pdb."""

    def __enter__(self) -> "eager":
        _native.at_once(1)
        return self

    def __exit__(self, *_: Any) -> None:
        _native.at_once(-1)


_ALWAYS_EAGER = os.environ.get("GE_EAGER", "0") not in ("", "0")


def runs_at_once() -> bool:
    return _ALWAYS_EAGER or _native.at_once(0) > 0


def is_argument(value: Any) -> bool:
    """Whether an argument is data, and not part of the program: tensors and arrays."""
    return isinstance(value, _native.Tensor) or hasattr(value, "__array_interface__") or (
        hasattr(value, "__dlpack__"))


class Program:
    """One traced function with its session."""

    def __init__(self, function: Callable[..., Any], tree: Any, leaves: Sequence[Any], free: Any,
                 recursive: Dict[Any, bool]) -> None:
        builder = _native.GraphBuilder(plugins.every())
        trace = Trace(builder, recursive)
        with trace:
            root = trace.root = Scope(trace, getattr(function, "__name__", "function"), None)
            with root:
                trace.params = [self._param(trace, root, i, leaf, free) for i, leaf in enumerate(leaves)]
                args, kwargs = trees.unflatten(tree, list(trace.params))
                with read_through(trace):
                    answer = HOOKS.call(function)(*args, **kwargs)
                self._end(trace, root, answer)
            builder.entry("main", root.fn)
        self._modes, self._mode = list(trace.modes.values()), Variable.mode()
        self._places = trace.places
        try:
            self.session = session_of(trace)
        except Error as error:
            add_note(error, self._places)
            raise
        # It keeps them alive, and lets them go behind the session: a state in use is not freed.
        self.variables = list(trace.read)
        self._states = [v.key for v in self.variables]

    def _param(self, trace: Trace, root: Scope, i: int, leaf: Any, free: Any) -> Any:
        dims = [f"{_axis_name(i, k)}" if (i, k) in free else n for k, n in enumerate(leaf.shape)]
        made = root.param(f"argument{i}", dtype=leaf.dtype, dims=dims)
        for k, dim in enumerate(made.symbol.dims):
            if (i, k) in free:
                trace.free[dim] = (i, k)
        return made

    def _end(self, trace: Trace, root: Scope, answer: Any) -> None:
        leaves, self._out = trees.flatten(answer, lambda v: is_argument(v) or isinstance(v, Size))
        for static in trees.statics(self._out):
            if isinstance(static, Undefined):
                static._ge_fail()
            if _holds_traced(static):
                raise TraceError(f"'{root.name}' answers a {type(static).__name__} that holds tensors, wanted tensors in "
                                 "tuples, lists, dicts or dataclasses; make its class a dataclass, or return its tensors")
        for variable, value in trace.variables.items():
            builder = trace.builder
            builder.assign(root.fn, variable.state_of(trace), root.symbol(value).value)
        tensors = [as_tensor(v) for v in leaves]
        self._constant = not tensors
        self.single = self._out is trees.LEAF  # it answers one Tensor
        if not tensors:
            from graphengine import functions

            tensors = [functions.zeros((), dtype=functions.bool)]
        root.results(tensors)

    def fits(self) -> bool:
        """Whether the Modules that it called are in the modes of its trace, and Variables are its states."""
        now = Variable.mode()
        if self._mode != now:
            if any(module.training != mode for module, mode in self._modes) or any(
                    v.key != key for v, key in zip(self.variables, self._states)):
                return False
            self._mode = now
        return True

    def __call__(self, leaves: Sequence[Any]) -> Any:
        try:
            made = self.session.run_tensors(leaves)
        except Error as error:
            if any(v.symbol is not None for v in leaves):
                raise KeptError() from None
            self.failed(error)
            raise
        if self._out is trees.LEAF:
            return made[0]
        return trees.unflatten(self._out, [] if self._constant else list(made))


    def failed(self, error: BaseException) -> None:
        """Names the line of the node at which a run failed; the native calls of Jitted do so, too."""
        if isinstance(error, Error):
            add_note(error, self._places)


def _holds_traced(value: Any) -> bool:
    """Whether an object that a function answers has tensors of the trace that the answer's tree does not show."""
    if isinstance(value, (Iterator, set, frozenset)):
        return True
    held = getattr(value, "__dict__", None)
    return isinstance(held, dict) and not isinstance(value, (type, types.ModuleType, types.FunctionType)) and any(
        isinstance(v, _native.Tensor) and v.symbol is not None for v in held.values())


def _axis_name(argument: int, axis: int) -> str:
    return f"argument{argument}_{axis}"


class _Family:
    """The programs of one structure and one set of types."""

    def __init__(self) -> None:
        # By the sizes that are fixed, free ones -1: one for each set of modes of Modules.
        self.programs: Dict[Tuple[Any, ...], List[Program]] = {}
        self.fixed: set = set()  # axes (argument, axis) whose number the code asked for
        self.free: set = set()  # axes that have had two sizes
        self.first: Optional[List[Tuple[int, ...]]] = None
        self.recursive: Dict[Any, bool] = {}  # see Trace

    def find(self, shapes: Sequence[Tuple[int, ...]]) -> Optional[Program]:
        for program in self.programs.get(self.key(shapes), ()):
            if program.fits():
                return program
        return None

    def key(self, shapes: Sequence[Tuple[int, ...]]) -> Tuple[Any, ...]:
        return tuple(tuple(-1 if (i, k) in self.free else n for k, n in enumerate(s)) for i, s in enumerate(shapes))

    def note(self, shapes: Sequence[Tuple[int, ...]]) -> None:
        """An axis of another size than before is free from now on, unless its number is asked for."""
        if self.first is None:
            self.first = list(shapes)
        for i, (a, b) in enumerate(zip(self.first, shapes)):
            for k, (x, y) in enumerate(zip(a, b)):
                if x != y and (i, k) not in self.fixed:
                    self.free.add((i, k))


@doors
class Jitted(_native.Programs):
    """A function that runs as a graph. Calls with Tensors alone that have been made before, and answer one
    Tensor, do not come to Python."""

    def __init__(self, function: Callable[..., Any], always: bool = False) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._always = always  # under ge.eager() it needs a trace, too
        self._families: Dict[Any, _Family] = {}
        self._latest: Optional[Program] = None
        self._lock = threading.RLock()

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        if runs_at_once() and not self._always:
            return self._function(*args, **kwargs)
        if active() is None and runs_at_once():
            return at_once.run(self._function, args, kwargs, is_argument)
        if active() is not None:
            return HOOKS.call(self._function)(*args, **kwargs)
        leaves, tree = trees.flatten((args, kwargs), is_argument)
        leaves = [as_tensor(v) for v in leaves]
        program = self._program(tree, leaves)
        if program.single and not kwargs and all(type(a) is Tensor for a in args):
            self._keep(args, program)
        return program(leaves)

    def traces(self) -> int:
        """How many programs it has."""
        return sum(len(p) for f in self._families.values() for p in f.programs.values())

    def dump(self, stage: str = "load") -> str:
        """The latest program in text form, after a stage, as `ge dump`."""
        if self._latest is None:
            raise RuntimeError(f"'{self.__name__}' has no program yet, wanted one; call it first")
        return self._latest.session.dump(stage)

    def explain(self) -> Dict[str, Any]:
        """Who asked how much for each node of the latest program, and who took it, as `ge explain`."""
        if self._latest is None:
            raise RuntimeError(f"'{self.__name__}' has no program yet; call it first")
        found: Dict[str, Any] = json.loads(self._latest.session.explain_text())
        return found

    def _program(self, tree: Any, leaves: List[Any]) -> Program:
        kinds = tuple((v.dtype, len(v.shape)) for v in leaves)
        shapes = [tuple(v.shape) for v in leaves]
        with self._lock:
            family = self._families.setdefault((tree, kinds), _Family())
            known = family.find(shapes)
            if known is not None:
                return known
            if len(self._families) > MOST:
                raise TraceError(f"'{self.__name__}' has been called with {MOST} structures or Python values, each of "
                                 f"which is a program of its own, wanted fewer; the last is {tree}; give numbers that "
                                 "change as tensors: ge.asarray(value)")
            family.note(shapes)
            while True:
                try:
                    made = Program(self._function, tree, leaves, family.free, family.recursive)
                    break
                except RecursionFound as found:
                    family.recursive[found.code] = found.numbers
                except NumberAsked as asked:
                    family.fixed.add(asked.axis)
                    family.free.discard(asked.axis)
                except plugins.PluginAdded:
                    continue
            family.programs.setdefault(family.key(shapes), []).append(made)
            self._latest = made
            return made


@door
def jit(function: Optional[Callable[..., Any]] = None) -> Any:
    """The function as a graph: traced at its first call for each structure, types and sizes.

    `if`, `while` and `for` over tensors become If and Loop of the graph. Arguments that are tensors
    or arrays are data; numbers, strings and other objects of Python are part of the program.
    """
    if function is None:
        return jit
    if not callable(function):
        raise TypeError(f"jit() of {type(function).__name__}, wanted a function; give the function itself, not what it "
                        "answers")
    inner = function.forward if hasattr(function, "forward") else function
    for is_one, what in _UNTRACED:
        if is_one(inner):
            raise TypeError(f"jit() of {what} '{getattr(function, '__name__', function)}', wanted a function that answers "
                            "when it ends; return a list of what it would yield, or jit the functions that it calls")
    return Jitted(function)
