#!/usr/bin/env python3
"""Wrong programs: each leaves with an exception of the kind that Python has for it, at the marked line and
column of the program, without frames of the package; its text says what was found, what is wanted and
what helps; and what is called next is right.

Example: python tests/e2e/python/wrong/python_wrong.py --build build/release --scratch FOLDER
PROGRAMS="shapes_of_add matmul": these alone.
"""
import importlib
import os
import pathlib
import re
import sys
import traceback

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import wrong  # noqa: E402
from python_checks import check, run_all  # noqa: E402

import graphengine as ge  # noqa: E402
from graphengine import _native  # noqa: E402
from graphengine.jit.scope import active  # noqa: E402

PACKAGE = os.path.dirname(ge.__file__) + os.sep
FILES = ("shapes", "types", "control", "loops", "numbers", "kept", "gradients", "running", "networks", "training", "files", "own")


def raised(call, *args):
    """What the call leaves with; None where it answers."""
    try:
        call(*args)
    except BaseException as error:  # pylint: disable=broad-except
        return error
    return None


def of_package(error, seen=None):
    """Frames of the package in the tracebacks of an exception and of those that it came from."""
    seen = set() if seen is None else seen
    if error is None or id(error) in seen:
        return []
    seen.add(id(error))
    found = [f"{f.filename}:{f.lineno}" for f in traceback.extract_tb(error.__traceback__)
             if f.filename.startswith((PACKAGE, os.path.realpath(PACKAGE)))]
    return found + of_package(error.__cause__, seen) + of_package(error.__context__, seen)


def said(error):
    return "\n".join([str(error), *getattr(error, "__notes__", ())])


def has_parts(text):
    """Whether the text says what is wanted, and what helps."""
    return re.search(r"\bwant.*[;:]|[;:].*\bwant|; give indices inside|is not built; write|; load an engine that does", text, re.DOTALL) is not None


def look(name, program, error, noted):
    """noted: the line is named by a note, since the program ran as a graph."""
    if error is None:
        check(f"{name}: was not refused", False)
        return
    text = said(error)
    check(f"{name}: {type(error).__name__}, wanted {program.kind.__name__}: {text}", isinstance(error, program.kind))
    check(f"{name}: {program.words} in: {text}", all(w in text for w in program.words))
    check(f"{name}: what is wanted, and what helps: {text}", has_parts(text) or program.own)
    check(f"{name}: frames of the package: {of_package(error)}", not of_package(error))
    file, line, end, first, last = wrong.position(error.__traceback__)
    if noted or program.noted:
        wanted = f'"{program.file()}", line {program.noted or program.at[0]}'
        check(f"{name}: no note has {wanted}: {text}", any(wanted in n for n in getattr(error, "__notes__", ())))
    at = program.at
    if noted:
        check(f"{name}: the last frame is in {file}:{line}", file == __file__)
        return
    place = (line, first, last if end == line else None)
    text = "\n".join(["", wrong.text_at(file, line), " " * (first or 0) + "^" * ((last or 0) - (first or 0))])
    good = file == program.file() and place[0] == at[0] and (
        not program.column or place[1] == at[1] and place[2] in (at[2], None))
    check(f"{name}: the last frame is at {file}:{place}, wanted {at}{text}", good)


def clean(name):
    """What is called behind a refusal is right."""
    left = _native.set_trace(None)
    check(f"{name}: a trace is left", left is None and active() is None)

    def right(x):
        total = ge.zeros(())
        for row in x:
            total = total + ge.sum(row) if ge.sum(row) > 0 else total
        return total
    x = np.array([[1, 2], [-3, 1], [4, 5]], np.float32)
    check(f"{name}: the next call", float(ge.jit(right)(x)) == 12 and float(ge.sum(ge.asarray(x) + 1)) == 16)


def same(a, b):
    a, b = (v if isinstance(v, tuple) else (v,) for v in (a, b))
    return len(a) == len(b) and all(np.allclose(np.asarray(x), np.asarray(y)) for x, y in zip(a, b))


def one(program):
    name, function = f"{pathlib.Path(program.file()).stem}.{program.name}", program.function
    if program.how == wrong.PLAIN:
        look(name, program, raised(function), False)
        clean(name)
        return
    if program.how != wrong.JIT:
        look(f"{name} at once", program, raised(function, *program.args()), False)
        with ge.eager():
            error = raised(ge.jit(function), *program.args())
        if program.how == wrong.GRAPH:
            check(f"{name} under ge.eager(): {error!r}", error is None)
        else:
            look(f"{name} under ge.eager()", program, error, False)
    else:
        error = raised(function, *program.args())
        check(f"{name} at once: {error!r}", error is None or isinstance(error, program.kind))
    clean(name)
    jitted = ge.jit(function)
    if program.how != wrong.EAGER:
        look(f"{name} under jit", program, raised(jitted, *program.args()), program.how == wrong.RUN)
        look(f"{name} under jit, again", program, raised(jitted, *program.args()), program.how == wrong.RUN)
    clean(name)
    if program.good is not None:
        check(f"{name}: a right call", same(jitted(*program.good()), function(*program.good())))


def programs(_):
    chosen = os.environ.get("PROGRAMS", "").split()
    for file in FILES:
        importlib.import_module(f"wrong_{file}")
    names = [p.name for p in wrong.PROGRAMS]
    check(f"names twice: {[n for n in names if names.count(n) > 1]}", len(set(names)) == len(names))
    check(f"{len(names)} programs, wanted 80 and more", len(names) >= 80)
    for program in wrong.PROGRAMS:
        if chosen and program.name not in chosen:
            continue
        try:
            one(program)
        except Exception:  # pylint: disable=broad-except
            check(f"{program.name}\n{traceback.format_exc()}", False)
    print(f"{len(names)} wrong programs")


if __name__ == "__main__":
    run_all([programs])
