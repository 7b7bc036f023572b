"""Functions as graphs: traced, with control flow over tensors found in their source.

`graphengine.jit` is this package and the function: `@graphengine.jit`.
"""
import sys
import types
from typing import Any

from graphengine import _native
from graphengine.jit.hooks import loop_range as range  # pylint: disable=redefined-builtin
from graphengine.jit.program import Jitted, eager, jit
from graphengine.jit.scope import TraceError
from graphengine.jit.sessions import configure

__all__ = ["Jitted", "TraceError", "configure", "eager", "jit", "range"]


class _Package(types.ModuleType):
    """The import of a part sets the attribute `jit` of graphengine to this, so it can be called."""

    @_native.Door
    def __call__(self, function: Any = None) -> Any:
        return jit(function)


sys.modules[__name__].__class__ = _Package
