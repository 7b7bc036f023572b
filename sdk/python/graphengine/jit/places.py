"""Everything that a part of a function may change, as places that can be looked at and put back.

A part of a converted function (a branch, a round of a loop) binds names of the function around it,
appends to lists, sets items and attributes, gives tensors other values and assigns Variables. It is
run once as a trial, so all of that has to be undone; and what it changed is what If and Loop answer.
Owner: the caller. One thread.
"""
import dataclasses
import sys
import types
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from graphengine import _native
from graphengine.jit.scope import PACKAGE, Trace

_LIMIT = 100000  # objects that are looked at; a part that reaches more is not a network


class _Unset:
    def __repr__(self) -> str:
        return "unset"


UNSET = _Unset()


class Place:
    """One thing that may change; `name`: what its user calls it, "" for none."""

    def __init__(self, name: str = "") -> None:
        self.name = name

    def get(self) -> Any:
        raise NotImplementedError

    def set(self, value: Any) -> None:
        raise NotImplementedError


class Cell(Place):
    """A name of a function around the part."""

    def __init__(self, cell: types.CellType, name: str) -> None:
        super().__init__(name)
        self._cell = cell

    def get(self) -> Any:
        try:
            return self._cell.cell_contents
        except ValueError:
            return UNSET

    def set(self, value: Any) -> None:
        if value is not UNSET:
            self._cell.cell_contents = value
        elif self.get() is not UNSET:
            del self._cell.cell_contents


class Item(Place):
    """An entry of a dict: a global name, an attribute, an item."""

    def __init__(self, holder: Dict[Any, Any], key: Any) -> None:
        super().__init__(key if isinstance(key, str) else f"[{key!r}]")
        self._holder, self._key = holder, key

    def get(self) -> Any:
        return self._holder.get(self._key, UNSET)

    def set(self, value: Any) -> None:
        if value is UNSET:
            self._holder.pop(self._key, None)
        else:
            self._holder[self._key] = value


class Items(Place):
    """What a list holds, as a tuple."""

    def __init__(self, holder: List[Any], name: str) -> None:
        super().__init__(name)
        self.holder = holder

    def get(self) -> Any:
        return tuple(self.holder)

    def set(self, value: Any) -> None:
        self.holder[:] = value if isinstance(value, tuple) else (value,)  # what has no value is one item


class Value(Place):
    """The value of a Tensor object, which x[i] = v changes."""

    def __init__(self, tensor: Any, name: str) -> None:
        super().__init__(name)
        self._tensor = tensor

    def get(self) -> Any:
        return _native.alias(self._tensor)

    def set(self, value: Any) -> None:
        self._tensor.replace_value(value)


class Assigned(Place):
    """The value of a ge.Variable in this trace."""

    def __init__(self, trace: Trace, variable: Any) -> None:
        super().__init__(variable.name)
        self._trace, self._variable = trace, variable

    def first(self) -> Any:
        """Its value when the program begins: what one has that is first read in a part."""
        return self._trace.read.get(self._variable, UNSET)

    def get(self) -> Any:
        found = self._trace.variables.get(self._variable)
        return self.first() if found is None else found

    def set(self, value: Any) -> None:
        if value is UNSET:
            self._trace.variables.pop(self._variable, None)
        else:
            self._trace.variables[self._variable] = value


def same(a: Any, b: Any) -> bool:
    """Whether nothing was changed from a to b."""
    if a is b:
        return True
    if isinstance(a, _native.Tensor) and isinstance(b, _native.Tensor):
        if a.symbol is None or b.symbol is None:
            return a.symbol is b.symbol and _native.same_memory(a, b)
        return a.symbol.scope is b.symbol.scope and a.symbol.value == b.symbol.value
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if isinstance(a, float):
        return a == b or (a != a and b != b)
    return isinstance(a, (int, str, bytes, complex)) and a == b


def _is_users(value: Any) -> bool:
    """An object of a class of the user's, or of a Module, with attributes of its own."""
    kind = type(value)
    if isinstance(value, (type, types.ModuleType, types.FunctionType)) or not hasattr(value, "__dict__"):
        return False
    if dataclasses.is_dataclass(value) or getattr(kind, "__ge_module__", False):
        return True
    module = kind.__module__
    if module.partition(".")[0] in sys.stdlib_module_names:
        return module == "__main__"
    path = getattr(sys.modules.get(module), "__file__", None) or ""
    return not path.startswith(PACKAGE) and "site-packages" not in path and "dist-packages" not in path


Snapshot = Dict[Any, Tuple[Place, Any]]


class Places:
    """The places that parts of a construct can reach."""

    def __init__(self, trace: Trace, parts: Iterable[Optional[Callable[..., Any]]], globals_: Tuple[str, ...]) -> None:
        self._trace = trace
        self._parts = [p for p in parts if p is not None]
        self._globals = globals_

    def look(self) -> Snapshot:
        """Each place with its value now."""
        found: Snapshot = {}
        seen: Dict[int, Any] = {}
        for part in self._parts:
            self._walk(part, "", found, seen)
            for name in _names(part.__code__):
                if name in part.__globals__:
                    self._walk(part.__globals__[name], name, found, seen)
            for name in self._globals:
                place: Place = Item(part.__globals__, name)
                found["global", name] = (place, place.get())
        for variable in {**self._trace.read, **self._trace.variables}:
            place = Assigned(self._trace, variable)
            found["variable", id(variable)] = (place, place.get())
        assigned = self._trace.variables
        found["keys", "variables"] = (_Keys(assigned, ""), tuple(assigned))
        return found

    def _walk(self, value: Any, name: str, found: Snapshot, seen: Dict[int, Any]) -> None:
        todo = [(value, name)]
        while todo and len(seen) < _LIMIT:
            value, name = todo.pop()
            if id(value) in seen or isinstance(value, (int, float, str, bytes, type(None))):
                continue
            seen[id(value)] = value
            place: Place
            if isinstance(value, _native.Tensor):
                place = Value(value, name)
                found["tensor", id(value)] = (place, place.get())
            elif isinstance(value, (list, tuple)):
                if isinstance(value, list):
                    place = Items(value, name)
                    found["list", id(value)] = (place, place.get())
                todo += [(v, f"{name}[{i}]") for i, v in enumerate(value)]
            elif isinstance(value, dict) or _is_users(value):
                holder = value if isinstance(value, dict) else vars(value)
                for key, v in list(holder.items()):
                    place = Item(holder, key)
                    found["item", id(holder), key] = (place, v)
                    todo.append((v, f"{name}[{key!r}]" if holder is value else f"{name}.{key}"))
                found["keys", id(holder)] = (_Keys(holder, name), tuple(holder))
            elif isinstance(value, types.FunctionType):
                for n, cell in zip(value.__code__.co_freevars, value.__closure__ or ()):
                    if n != "__ge":
                        place = Cell(cell, n)
                        found["cell", id(cell)] = (place, place.get())
                        todo.append((place.get(), n))
            elif isinstance(value, types.MethodType):
                todo.append((value.__self__, name))


class _Keys(Place):
    """Which keys a dict has; what a part adds goes when it is undone."""

    def __init__(self, holder: Dict[Any, Any], name: str) -> None:
        super().__init__(name)
        self.holder = holder

    def get(self) -> Any:
        return tuple(self.holder)

    def set(self, value: Any) -> None:
        for key in [k for k in self.holder if k not in value]:
            del self.holder[key]


def _names(code: types.CodeType) -> Tuple[str, ...]:
    """The global names that a part and the functions in it may read."""
    out = list(code.co_names)
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            out += _names(c)
    return tuple(out)


def put_back(before: Snapshot) -> None:
    """Undoes what was changed since."""
    for place, value in before.values():
        if not same(place.get(), value):
            place.set(value)


def changed(before: Snapshot, after: Snapshot) -> Dict[Any, Tuple[Place, Any, Any]]:
    """By place: its value before and after. A place that `before` lacks was unset, if it is a name's."""
    out = {}
    for key, (place, value) in after.items():
        if key in before:
            if not same(before[key][1], value):
                out[key] = (place, before[key][1], value)
        elif key[0] == "item" and ("keys", key[1]) in before:
            out[key] = (place, UNSET, value)
        elif key[0] == "variable" and not same(place.first(), value):
            out[key] = (place, place.first(), value)
    return {k: v for k, v in out.items() if k[0] != "keys"}


def run_alone(trace: Trace, function: Callable[..., Any], args: Any, refuse: Callable[[str], None],
              kwargs: Any = types.MappingProxyType({}), watch: Tuple[Any, ...] = ()) -> Any:
    """function(*args, **kwargs), which may change nothing of outside, nor may the functions `watch` that
    it calls: refuse(name) is called where it does, and raises. All is put back."""
    parts = [getattr(f, "__func__", f) for f in (function, *watch)]
    parts = [f for f in parts if isinstance(f, types.FunctionType)]
    places = Places(trace, (*parts, lambda: (args, dict(kwargs), watch)), ())
    before = places.look()
    try:
        answer = function(*args, **kwargs)
        for at, _, _ in changed(before, places.look()).values():
            refuse(at.name or "a value")
        return answer
    finally:
        put_back(before)
