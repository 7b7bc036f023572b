#!/usr/bin/env python3
"""Gradients of functions with control flow beside torch's, of the same source, in float64: of their graphs
and of what is computed at once. GE_TORCH names a Python that has torch and array_api_compat; without one
it is skipped.

Example: GE_TORCH=torch/bin/python python tests/e2e/python/peers/control_peers.py"""
import pathlib
import sys
import tempfile
import traceback

import control_cases as cases
import numpy as np

import graphengine as ge

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from networks_peers import COUNTS, check, off, theirs  # noqa: E402


def total_of(function):
    """The sum of the floats that the function answers."""
    def total(*args):
        out = 0.0
        for leaf in cases.leaves(function(*args)):
            if isinstance(leaf, ge.Tensor) and leaf.dtype == ge.float64:
                out = out + ge.sum(leaf)
        return out
    return total


def compare(name, run, args, wanted):
    value, gradients = wanted
    try:
        got, ours = run(*[ge.asarray(a) for a in args])
    except Exception:
        return check(f"{name}\n{traceback.format_exc()}", np.inf, 1e-9)
    check(f"{name}: value", off(got, value), 1e-9)
    return max(check(f"{name}: gradient {i} {a.numpy()}, wanted {b}", off(a, b), 1e-9)
               for i, (a, b) in enumerate(zip(ours, gradients)))


def all_of(found):
    worst, functions = 0.0, 0
    for (function, calls), wanted in zip(cases.CASES, found or ()):
        if not any(wanted):
            continue
        functions += 1
        wrt = [i for i, a in enumerate(calls[0]) if a.dtype == np.float64]
        run = ge.value_and_grad(total_of(ge.jit(function)), wrt=tuple(wrt))
        for args, w in zip(calls, wanted):
            if w is None:
                continue
            with cases.under(ge):
                worst = max(worst, compare(f"{function.__name__} as a graph", run, args, w))
                with ge.eager():
                    worst = max(worst, compare(f"{function.__name__} at once", run, args, w))
    if found:
        print(f"{functions} functions, greatest difference from torch: {worst:.1e}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        all_of(theirs("GE_TORCH", "peers/control_torch.py", scratch))
    print(f"{COUNTS['passed']} passed, {COUNTS['failed']} failed, {COUNTS['skipped']} skipped")
    sys.exit(COUNTS["failed"] != 0)
