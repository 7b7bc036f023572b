"""Functions of a graph while they are traced: which value of which function a tensor stands for.

A traced Tensor carries a Symbol. Each body of If or Loop is a Scope of its own, a closed function: a
value of a scope around it that is used in it becomes a parameter, and an input of the node (a
capture). One thread traces at a time in one Trace.
"""
import os
import sys
import threading
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Set, Tuple

from graphengine import _native
from graphengine.jit import plugins

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


# Operators that cannot fail when they run, so that `a and b` may compute b always.
INFALLIBLE = frozenset((
    "Abs Add And Cast Equal Exp Greater GreaterOrEqual Identity IsInf IsNaN Less LessOrEqual Log Max Min Mul Neg Not "
    "Or Pow ReduceMax ReduceMean ReduceMin ReduceSum Relu Shape Sigmoid Sqrt Squeeze Sub Tanh Unsqueeze Xor").split())


class Symbol:
    """A value of a function: of the scope, its number there, and what is known of its type."""

    __slots__ = ("scope", "value", "dtype", "dims")

    def __init__(self, scope: "Scope", value: int, dtype: Any, dims: Tuple[Any, ...]) -> None:
        self.scope, self.value, self.dtype, self.dims = scope, value, dtype, dims


class TraceError(TypeError):
    """What cannot stand in a graph."""


class KeptError(TraceError):
    """A tensor of a trace that is over."""

    def __init__(self) -> None:
        super().__init__("this tensor was kept from a trace that is over, where it stood for a value of a graph, wanted one "
                         "of this call, or one with numbers; return it from the function instead, or keep it in a "
                         "ge.Variable")


class ConditionError(TraceError, ValueError):
    """A condition of more than one element."""


class _Active(threading.local):
    scope: Optional["Scope"] = None
    modules: Tuple[Tuple[Any, str], ...] = ()  # that are called now, with their names: `Net.fc1`


_ACTIVE = _Active()


def active() -> Optional["Scope"]:
    """The scope that operations of this thread add nodes to; None where they run at once."""
    return _ACTIVE.scope


@contextmanager
def outside() -> Iterator[None]:
    """Operations of this thread run at once meanwhile, whatever it traces."""
    scope, trace = _ACTIVE.scope, _native.set_trace(None)
    _ACTIVE.scope = None
    try:
        yield
    finally:
        _ACTIVE.scope = scope
        _native.set_trace(trace)


class calling:  # pylint: disable=invalid-name
    """A Module is called meanwhile: what it adds goes by its name."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __enter__(self) -> None:
        self._before = _ACTIVE.modules
        name = type(self._module).__name__
        if self._before:
            holder, at = self._before[-1]
            path = next((path for path, m in holder.modules() if m is self._module), name)
            name = f"{at}.{path}" if path else at
        _ACTIVE.modules = (*self._before, (self._module, name))

    def __exit__(self, *_: Any) -> None:
        _ACTIVE.modules = self._before


def users_place() -> Tuple[str, int, str]:
    """(file, line, function) of the user's program; the function of a layer goes by the layer: `Net.fc1`."""
    frame = sys._getframe(1)  # pylint: disable=protected-access
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    if frame is None:
        return "", 0, ""
    code, name = frame.f_code, frame.f_code.co_name
    if _ACTIVE.modules:
        module, called = _ACTIVE.modules[-1]
        if name == "forward" or type(module).__module__.startswith("graphengine."):
            name = called
    return code.co_filename, frame.f_lineno, name


def place() -> str:
    """Where the user's program is: `net.py:42 Net.fc1`."""
    file, line, name = users_place()
    return f"{os.path.basename(file)}:{line} {name}" if file else ""


def known(tensor: Any) -> Any:
    """The Tensor with numbers that a traced one stands for under ge.eager(); None where there is none."""
    symbol = tensor.symbol
    values = symbol.scope.trace.values if isinstance(symbol, Symbol) else None
    return None if values is None else values.of(symbol)


class AskedSize:
    """What sizes that are free have in common: compared, they ask for the number, unless both are one
    size of the graph (`dim`, None for an expression)."""

    __slots__ = ()
    dim: Any

    def __index__(self) -> int:
        raise NotImplementedError

    def __bool__(self) -> bool:
        return self.__index__() != 0

    def __eq__(self, other: object) -> Any:
        if isinstance(other, AskedSize) and self.dim is not None and self.dim == other.dim:
            return True
        if isinstance(other, (int, AskedSize)):
            return self.__index__() == int(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.dim)

    def __int__(self) -> int:
        return self.__index__()

    def __lt__(self, other: Any) -> bool:
        return self.__index__() < int(other)

    def __le__(self, other: Any) -> bool:
        return self.__index__() <= int(other)

    def __gt__(self, other: Any) -> bool:
        return self.__index__() > int(other)

    def __ge__(self, other: Any) -> bool:
        return self.__index__() >= int(other)

    def __repr__(self) -> str:
        return "?" if self.dim is None else str(self.dim)


class Size(AskedSize):
    """A size of a traced tensor that is free: known when the program runs, not while it is traced.

    As a number (int(), range(), an index) it asks for the number, and the program is traced again
    for this size alone; arithmetic answers a Tensor, a scalar of int64.
    """

    __slots__ = ("_tensor", "_axis", "dim")

    def __init__(self, tensor: Any, axis: int, dim: Any) -> None:
        self._tensor, self._axis, self.dim = tensor, axis, dim

    def tensor(self) -> Any:
        """The size as data: a scalar of int64."""
        found = _native.apply("", "Shape", [self._tensor], {"start": self._axis, "end": self._axis + 1}, 1)
        return _native.apply("", "Squeeze", [found], {}, 1)

    def __index__(self) -> int:
        scope = active()
        if scope is None:
            raise TraceError("a size of a traced tensor was asked for when its trace was over")
        return scope.trace.number(self.dim)

    def __float__(self) -> float:
        return float(self.__index__())


def _with_tensor(name: str) -> Callable[[Any, Any], Any]:
    def operation(self: Size, other: Any) -> Any:
        if isinstance(other, Size):
            other = other.tensor()
        return getattr(self.tensor(), name)(other)
    return operation


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    for _form in (f"__{_name}__", f"__r{_name}__"):
        setattr(Size, _form, _with_tensor(_form))


class Scope:
    """A function being traced."""

    # What to do where the numbers of a tensor are asked for.
    advice = ("compute with it as a tensor, give what has to be a number as an argument of Python, or look at it "
              "under ge.eager()")

    def __init__(self, trace: "Trace", name: str, parent: Optional["Scope"], recursive: bool = False,
                 custom_vjp: int = 0) -> None:
        self.trace, self.parent, self.name = trace, parent, name
        self.in_loop: bool = name == "body" or (parent is not None and parent.in_loop)
        # So is each function in one that calls itself: a call of it may stand there.
        self.recursive: bool = recursive or (parent is not None and parent.recursive)
        self.fn = trace.builder.function(trace.unique(name), self.recursive, custom_vjp)
        self.params: Set[int] = set()
        self._names: Dict[str, int] = {}
        self._constants: Dict[int, Tuple[Any, Symbol]] = {}
        # By value of another scope: the value around, and the parameter here. In order.
        self.captures: Dict[Tuple[int, int], Tuple[Symbol, Symbol]] = {}
        self.origins: List[Symbol] = []  # of the captures: each as a value of the function that makes it
        self.twin: Optional[Scope] = None  # the other branch of an If, which takes the same captures

    def __enter__(self) -> "Scope":
        self._before = _ACTIVE.scope
        _ACTIVE.scope = self
        return self

    def __exit__(self, *_: Any) -> None:
        _ACTIVE.scope = self._before

    def captured(self) -> List[Any]:
        """Tensors of the scope around, in the order of the parameters that stand for them."""
        assert self.parent is not None
        return [self.parent.tensor(outer.value) for outer, _ in self.captures.values()]

    # ---- values

    def tensor(self, value: int) -> Any:
        """The traced Tensor of a value of this function."""
        dtype, dims = self.trace.builder.value_type(self.fn, value)
        if dims is None:
            raise TraceError("the number of axes of this result is known only when it runs, wanted one that is known before; "
                             "give it a shape (reshape) in the operator that makes it")
        symbol = Symbol(self, value, dtype, tuple(dims))
        made = _native.traced(symbol, dtype, ())
        number = known(made)
        if number is not None:
            made.set_shape(tuple(number.shape))
            return made
        shape = tuple(d if isinstance(d, int) else Size(made, i, d) for i, d in enumerate(dims))
        made.set_shape(shape)
        return made

    def param(self, name: str, like: Any = None, dtype: Any = None, dims: Sequence[Any] = (),
              number: Any = None) -> Any:
        """One more parameter: of the type of a traced Tensor, or of this type. number: what it is under
        ge.eager()."""
        n = self._names[name] = self._names.get(name, 0) + 1
        name = name if n == 1 else f"{name}.{n}"
        if like is not None:
            of = like.symbol
            value = self.trace.builder.param_like(self.fn, name, of.scope.fn, of.value)
        else:
            value = self.trace.builder.param(self.fn, name, dtype, list(dims))
        self.params.add(value)
        if self.trace.values is not None:
            self.trace.values.note(self.fn, value, number)
        return self.tensor(value)

    def lift(self, symbol: Symbol) -> Symbol:
        """The same value as this function sees it; a capture where it is of one around."""
        if symbol.scope is self:
            return symbol
        key = (id(symbol.scope), symbol.value)
        found = self.captures.get(key)
        if found is not None:
            return found[1]
        if self.parent is None or not self._within(symbol.scope):
            raise KeptError()
        outer = self.parent.lift(symbol)
        inner = self._capture(key, outer, symbol)
        if self.twin is not None:
            self.twin._capture(key, outer, symbol)
        return inner

    def _capture(self, key: Tuple[int, int], outer: Symbol, symbol: Symbol) -> Symbol:
        value = self.trace.builder.param_like(self.fn, f"capture.{len(self.captures)}", outer.scope.fn, outer.value)
        self.params.add(value)
        inner = Symbol(self, value, symbol.dtype, symbol.dims)
        if self.trace.values is not None:
            self.trace.values.note(self.fn, value, self.trace.values.of(outer))
        self.captures[key] = (outer, inner)
        self.origins.append(symbol)
        return inner

    def _within(self, scope: "Scope") -> bool:
        at: Optional[Scope] = self
        while at is not None:
            if at is scope:
                return True
            at = at.parent
        return False

    def symbol(self, tensor: Any) -> Symbol:
        """What the Tensor is here; one with numbers becomes a constant."""
        if tensor.symbol is not None:
            return self.lift(tensor.symbol)
        # Shapes are known where the numbers that decide them are of the same function.
        home = self if tensor.size <= 64 else self.trace.root
        assert home is not None
        return self.lift(home.constant(tensor))

    def constant(self, tensor: Any) -> Symbol:
        """A Tensor with numbers as a constant of this function."""
        found = self._constants.get(id(tensor))
        if found is None:
            value = self.trace.builder.constant(self.fn, tensor)
            if self.trace.values is not None:
                self.trace.values.note(self.fn, value, tensor)
            symbol = self.tensor(value).symbol
            found = self._constants[id(tensor)] = (tensor, symbol)  # the id is its own as long as it lives
        return found[1]

    def holds_constant(self, symbol: Symbol) -> bool:
        """Whether the value is a constant of this function."""
        return any(s.scope is symbol.scope and s.value == symbol.value for _, s in self._constants.values())

    def node(self, domain: str, op: str, inputs: Sequence[Any], attributes: Dict[str, Any], outputs: int,
             bodies: Optional[Dict[str, int]] = None) -> List[Any]:
        """The Tensors that a new node answers. inputs: Tensors, None for one that is left out."""
        values = [0 if t is None else self.symbol(t).value for t in inputs]
        if op not in INFALLIBLE:
            self.trace.fallible += 1
        if domain:
            self.trace.use(domain)
        made = self.trace.builder.node(self.fn, domain, op, values, attributes, outputs, name=self.trace.placed(),
                                       bodies=bodies or {})
        numbers = self.trace.values
        if numbers is not None:
            given = [None if t is None else numbers.of(self.symbol(t)) for t in inputs]
            if all(g is not None or t is None for g, t in zip(given, inputs)):
                numbers.node(self.fn, made, domain, op, given, attributes, bodies or {})
        return [self.tensor(v) for v in made]

    def results(self, tensors: Sequence[Any], names: Optional[Sequence[str]] = None) -> None:
        """Ends the function: each result a value of its own that is no parameter."""
        values: List[int] = []
        for t in tensors:
            value = self.symbol(t).value
            if value in values or value in self.params:
                value = self.node("", "Identity", [t], {}, 1)[0].symbol.value
            values.append(value)
        self.trace.builder.results(self.fn, values, list(names or [f"result{i}" for i in range(len(values))]))


class NumberAsked(BaseException):
    """The code asks for the number of a free axis: the trace begins again with it fixed."""

    def __init__(self, axis: Tuple[int, int]) -> None:
        super().__init__(axis)
        self.axis = axis


class Trace:
    """One graph being made."""

    def __init__(self, builder: Any, recursive: Optional[Dict[Any, bool]] = None) -> None:
        self.builder = builder
        self.free: Dict[Any, Tuple[int, int]] = {}  # by dim: the argument and its axis
        self.variables: Dict[Any, Any] = {}  # by Variable: its value now, a Tensor
        self.read: Dict[Any, Any] = {}  # by Variable: its value before
        self._names: Dict[str, int] = {}
        self.plugins: List[str] = []  # that the program's session loads
        self._open = plugins.every()  # whose operators the graph may have
        self.states: Dict[Any, int] = {}  # by Variable: the state of the graph
        self.modes: Dict[int, Tuple[Any, bool]] = {}  # by id: a Module that was called, and its mode
        self.custom_ops: Dict[str, str] = {}  # by name: where it is first called
        self.fallible = 0  # nodes that may fail when they run
        self.places: Dict[str, Tuple[str, int, str]] = {}  # by nodes' names
        self.root: Optional[Scope] = None
        self.params: List[Any] = []  # Tensors of the root function, by argument
        self.values: Any = None  # jit.at_once.Values under ge.eager()
        self.frames: List[Any] = []  # calls of the user's functions that go on
        self.recursive: Dict[Any, bool] = recursive or {}  # by code: functions that are ge.Call, and whether numbers are its data
        self.recursions: List[Any] = []  # of them, those being traced
        self.plain: List[Any] = []  # functions whose own derivative is being traced

    def use(self, domain: str) -> None:
        """A node of this domain is added: the session needs what brings its operator."""
        for path in plugins.of(domain):
            if path not in self._open and self.values is not None:  # what has run does not run again
                raise TraceError(f"an operator of {domain} was made in a function under ge.eager(), wanted it before; "
                                 "make it outside of the function")
            if path not in self._open:
                raise plugins.PluginAdded(path)
            if path not in self.plugins:
                self.plugins.append(path)

    def placed(self) -> str:
        """The name of a node that is added now, which is its place."""
        name = place()
        if name not in self.places:
            self.places[name] = users_place()
        return name

    def unique(self, name: str) -> str:
        n = self._names[name] = self._names.get(name, 0) + 1
        return name if n == 1 else f"{name}.{n}"

    def size_of(self, dim: Any) -> Size:
        """A free axis of an argument."""
        argument, axis = self.free[dim]
        return Size(self.params[argument], axis, dim)

    def number(self, dim: Any) -> int:
        axis = self.free.get(dim)
        if axis is None:
            raise TraceError(f"the size '{dim}' is known only when the program runs, wanted a number of Python; compute "
                             "with it as a tensor, or make the tensor of a size that is known")
        raise NumberAsked(axis)

    def __enter__(self) -> "Trace":
        self._before = _native.set_trace(_add)
        return self

    def __exit__(self, *_: Any) -> None:
        _native.set_trace(self._before)


def _add(domain: str, op: str, inputs: Sequence[Any], attributes: Dict[str, Any], outputs: int) -> Any:
    """What _native.apply calls while a function is traced."""
    scope = active()
    if scope is None:
        raise KeptError()
    made = scope.node(domain, op, inputs, attributes, outputs)
    return made[0] if outputs == 1 else tuple(made)
