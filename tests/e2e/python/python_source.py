#!/usr/bin/env python3
"""Control flow found in the source of functions: converted ones answer as they are written, for
written cases and for random programs; what has no source of its own is refused; tracebacks show the
user's lines.

Example: python tests/e2e/python/python_source.py --build build/release --scratch FOLDER
"""
import importlib.util
import os
import sys
import traceback
import types

import source_cases
from python_checks import check, run_all
from source_programs import Programs

from graphengine.source import Converter, Hooks, Unconverted

SEED, PROGRAMS = 20261129, 150
NUMBERS = ((0, 1), (3, -2), (5, 5), (-1, 8))


class Called(Hooks):
    """Python's own, which converts the cases' functions when they are called."""

    def __init__(self):
        self.converter = Converter(self)
        self.asked = set()

    def if_(self, *args, **kwargs):
        self.asked.add("if")
        super().if_(*args, **kwargs)

    def while_(self, *args, **kwargs):
        self.asked.add("while")
        super().while_(*args, **kwargs)

    def call(self, function):
        if isinstance(function, types.FunctionType) and function.__module__ == source_cases.__name__:
            try:
                return self.converter.function(function)
            except Unconverted:
                return function
        return function


def answer(function, args):
    try:
        return repr(function(*args))
    except Exception as error:
        return "NameError" if isinstance(error, NameError) else type(error).__name__


def written(_):
    hooks = Called()
    for function, arguments in source_cases.CASES:
        made = hooks.converter.function(function)
        check(f"{function.__name__} is converted", made is not function)
        for args in arguments:
            wanted, got = answer(function, args), answer(made, args)
            check(f"{function.__name__}{args}: {got}, wanted {wanted}", wanted == got)
    check(f"hooks are asked: {hooks.asked}", hooks.asked == {"if", "while"})


def folder(args):
    made = args.scratch / "source"
    made.mkdir(exist_ok=True)
    return made


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def programs(args):
    scratch = folder(args)
    made = Programs(SEED)
    file = scratch / "programs.py"
    file.write_text("".join(made.text(f"f{i}") for i in range(PROGRAMS)))
    module, converter = load(file), Converter(Hooks())
    for i in range(PROGRAMS):
        function = getattr(module, f"f{i}")
        converted = converter.function(function)
        wanted, got = ([answer(f, numbers) for numbers in NUMBERS] for f in (function, converted))
        check(f"program {i} of seed {SEED}: {got}, wanted {wanted}", wanted == got)


RAISES = """def outer(x):
    if x > 1:
        while x > 2:
            raise ValueError("here")
    return x
"""


def lines(args):
    """Also of two files with one text, whose code is equal."""
    converter = Converter(Hooks())
    for name in ("raises.py", "raises_too.py"):
        file = folder(args) / name
        file.write_text(RAISES)
        try:
            converter.function(load(file).outer)(5)
            check("an exception comes through", False)
        except ValueError as error:
            frames = [(f.name, f.lineno) for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)]
            check(f"frames of {name} have the user's lines and names: {frames}",
                  frames == [("outer", 2), ("outer", 3), ("outer", 4)])


def unconverted(args):
    scratch = folder(args)

    def refused(what, function, words):
        try:
            Converter(Hooks()).function(function)
            check(f"{what}: was converted", False)
        except Unconverted as why:
            check(f"{what}: {why}", words in str(why))

    space = {}
    exec("def made(x):\n    if x:\n        return 1\n", space)
    refused("no source", space["made"], "write the function in a file")
    refused("a generator", source_cases.generator, "is a generator")
    file = scratch / "changed.py"
    file.write_text("def f(x):\n    if x:\n        return 1\n    return 2\n")
    module = load(file)
    file.write_text("def f(x):\n    if x:\n        return 3\n    return 4, x\n")
    os.utime(file, (1, 1))
    refused("a file that was changed", module.f, "load it again")


if __name__ == "__main__":
    run_all([written, programs, lines, unconverted])
