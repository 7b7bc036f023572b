#!/usr/bin/env python3
"""Control flow found in the source of functions: converted ones answer as they are written, for
written cases and for random programs; what has no source of its own is refused; tracebacks show the
user's lines.

Example: python tests/e2e/python/python_source.py --build build/release --scratch FOLDER
"""
import argparse
import importlib.util
import os
import pathlib
import sys
import traceback
import types

import source_cases
from source_programs import Programs

from graphengine.source import Converter, Hooks, Unconverted

SEED, PROGRAMS = 20261129, 150
passed = failed = 0


def check(good, what, text=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAILED  {what}: {text}")


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


def written():
    hooks = Called()
    for function, arguments in source_cases.CASES:
        made = hooks.converter.function(function)
        check(made is not function, f"{function.__name__} is converted")
        for args in arguments:
            wanted, got = answer(function, args), answer(made, args)
            check(wanted == got, f"{function.__name__}{args}", f"{got}, wanted {wanted}")
    check(hooks.asked == {"if", "while"}, "hooks are asked", hooks.asked)


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def programs(scratch):
    made = Programs(SEED)
    file = scratch / "programs.py"
    file.write_text("".join(made.text(f"f{i}") for i in range(PROGRAMS)))
    module, converter = load(file), Converter(Hooks())
    for i in range(PROGRAMS):
        function = getattr(module, f"f{i}")
        converted = converter.function(function)
        wanted = [answer(function, args) for args in ((0, 1), (3, -2), (5, 5), (-1, 8))]
        got = [answer(converted, args) for args in ((0, 1), (3, -2), (5, 5), (-1, 8))]
        check(wanted == got, f"program {i} of seed {SEED}", f"{got}, wanted {wanted}")


RAISES = """def outer(x):
    if x > 1:
        while x > 2:
            raise ValueError("here")
    return x
"""


def lines(scratch):
    file = scratch / "raises.py"
    file.write_text(RAISES)
    made = Converter(Hooks()).function(load(file).outer)
    try:
        made(5)
        check(False, "an exception comes through")
    except ValueError as error:
        frames = [(f.name, f.lineno) for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)]
        check(frames == [("outer", 2), ("outer", 3), ("outer", 4)], "frames have the user's lines and names", frames)


def unconverted(scratch):
    def refused(what, function, words):
        try:
            Converter(Hooks()).function(function)
            check(False, what, "was converted")
        except Unconverted as why:
            check(words in str(why), what, why)

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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--scratch", required=True)
    scratch = pathlib.Path(parser.parse_args().scratch) / "source"
    scratch.mkdir(exist_ok=True)
    written()
    programs(scratch)
    lines(scratch)
    unconverted(scratch)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
