#!/usr/bin/env python3
"""Derivatives beside jax's, of the same source, in float64: grad, vjp, jvp, hessian, third order, steps of
gradients in a differentiated Loop, recursion, custom_vjp. GE_JAX names a Python that has jax; without one
it is skipped.

Example: GE_JAX=jax/bin/python python tests/e2e/python/peers/derivatives_peers.py"""
import pathlib
import sys
import tempfile
import traceback
import types

import derivative_cases as cases
import numpy as np

import graphengine as ge

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from networks_peers import COUNTS, check, loop, off, theirs, where  # noqa: E402


def leaves(value):
    if isinstance(value, dict):
        value = [value[k] for k in sorted(value)]
    return [x for v in value for x in leaves(v)] if isinstance(value, (tuple, list)) else [value]


def compare(name, function, args, wanted):
    try:
        got = leaves(function(*[ge.asarray(a) for a in args]))
    except Exception:
        return check(f"{name}\n{traceback.format_exc()}", np.inf, 1e-9)
    check(f"{name}: count of results", abs(len(got) - len(wanted)), 0)
    return max(check(f"{name}: result {i} {a}, wanted {b}", off(a, b), 1e-9)
               for i, (a, b) in enumerate(zip(got, wanted)))


def all_of(found):
    cases.xp = cases.gradient_cases.xp = ge
    cases.gradient_cases.where, cases.gradient_cases.loop = where, loop
    cases.d = types.SimpleNamespace(
        grad=ge.grad, value_and_grad=ge.value_and_grad, vjp=ge.vjp, jvp=ge.jvp, hessian=ge.hessian,
        stop_gradient=ge.stop_gradient, custom_vjp=ge.custom_vjp, where=where, loop=loop, count=ge.asarray)
    worst, names = 0.0, set()
    for (function, args), wanted in zip(cases.CASES, found[0]):
        names.add(function)
        name = f"{function.__name__} at {args[0].ravel()[0]}"
        worst = max(worst, compare(f"{name} as a graph", ge.jit(function), args, wanted))
        worst = max(worst, compare(f"{name} called plainly", function, args, wanted))
    for (function, args), wanted in zip(cases.gradient_cases.CASES, found[1]):
        names.add(function)
        name = f"orders of {function.__name__} at {args[0].ravel()[0]}"
        worst = max(worst, compare(name, ge.jit(lambda *a, f=function: cases.orders(f, a)), args, wanted))
    print(f"{len(names)} functions, greatest difference from jax: {worst:.1e}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        values = theirs("GE_JAX", "peers/derivatives_jax.py", scratch)
        if values is not None:
            all_of(values)
    print(f"{COUNTS['passed']} passed, {COUNTS['failed']} failed, {COUNTS['skipped']} skipped")
    sys.exit(COUNTS["failed"] != 0)
