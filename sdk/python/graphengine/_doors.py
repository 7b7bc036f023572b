"""Public functions as users call them: what goes wrong is raised at their own line."""
import sys
import types
from typing import Any, TypeVar

from graphengine import _native

Class = TypeVar("Class", bound=type)


def door(function: Any) -> Any:
    """The function, without the package's frames in its tracebacks; anything else as it is."""
    if not isinstance(function, types.FunctionType):
        return function
    made = _native.Door(function)
    # Where pickle looks for it.
    setattr(sys.modules[function.__module__], function.__name__, made)
    return made


_SPECIAL = frozenset(("__init__", "__call__", "__setattr__", "__getitem__", "__iter__", "__enter__", "__exit__", "__format__",
                      "__getattr__"))


def doors(kind: Class) -> Class:
    """The class, whose public methods and properties are such functions."""
    for name, value in list(vars(kind).items()):
        if name.startswith("_") and name not in _SPECIAL:
            continue
        if isinstance(value, types.FunctionType):
            setattr(kind, name, _native.Door(value))
        elif isinstance(value, property):
            setattr(kind, name, property(_native.Door(value.fget), value.fset, value.fdel, value.__doc__))
        elif isinstance(value, classmethod) and isinstance(value.__func__, types.FunctionType):
            setattr(kind, name, classmethod(_native.Door(value.__func__)))
    return kind
