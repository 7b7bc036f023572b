"""The functions of control flow of jit_cases.py and jit_recursion.py with their arguments in float64.

CASES: (function, arguments of each call)."""
import contextlib
import dataclasses
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import jit_cases  # noqa: E402
import jit_loops  # noqa: E402
import jit_recursion  # noqa: E402


def doubled(array):
    return array.astype(np.float64) if array.dtype == np.float32 else array


CASES = [(function, [[doubled(a) for a in args] for args in calls])
         for function, calls, _ in (*jit_cases.CASES, *jit_recursion.CASES)]


@contextlib.contextmanager
def under(library):
    """The functions compute by this library."""
    parts = jit_cases, jit_loops, jit_recursion
    for part in parts:
        part.xp = library
    try:
        yield
    finally:
        for part in parts:
            part.xp = np


def leaves(value):
    """What an answer is made of, in order."""
    if isinstance(value, dict):
        return leaves(list(value.values()))
    if dataclasses.is_dataclass(value):
        return leaves([getattr(value, f.name) for f in dataclasses.fields(value)])
    return [x for v in value for x in leaves(v)] if isinstance(value, (tuple, list)) else [value]
