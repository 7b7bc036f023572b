"""Public functions as users call them: what goes wrong is raised at their own line."""
import sys
import types
from typing import Any

from graphengine import _native


def door(function: Any) -> Any:
    """The function, without the package's frames in its tracebacks; anything else as it is."""
    if not isinstance(function, types.FunctionType):
        return function
    made = _native.Door(function)
    # Where pickle looks for it.
    setattr(sys.modules[function.__module__], function.__name__, made)
    return made
