"""Control flow of a function, found in its source.

`converted(f)` is `f` with its `if`, `while`, `for`, `and`, `or`, `not`, conditional expressions and
calls handed to a `Hooks` object, which decides each time whether the condition is Python's or a
tensor's. All else stays as it was written, at the lines where it was written, so tracebacks, carets
and pdb show the user's text. Nothing here knows tensors or graphs.
"""
from graphengine.source.convert import Converter, Unconverted
from graphengine.source.hooks import Hooks

__all__ = ["Converter", "Hooks", "Unconverted"]
