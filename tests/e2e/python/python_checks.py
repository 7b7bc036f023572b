"""What the checks of the Python package share: counting, and what a refusal has to say."""
import argparse
import ctypes
import os
import pathlib
import sys
import traceback

import graphengine

_counts = {"passed": 0, "failed": 0}


def check(name, good):
    """Counts one check and says which one failed."""
    _counts["passed" if good else "failed"] += 1
    if not good:
        print(f"FAILED  {name}")


def refused(name, code, words, call, node=None):
    """`call` has to leave with graphengine.Error of this code, words and node."""
    try:
        call()
    except graphengine.Error as error:
        good = error.code == code and words in str(error) and error.node == node
        check(f"{name}: {error.code} at {error.node}: {error}", good)
        return
    check(f"{name}: was not refused", False)


def run_all(functions):
    """Runs each with the script's arguments; ends the process with the line of counts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    args = parser.parse_args()
    for function in functions:
        try:
            function(args)
        except Exception:  # pylint: disable=broad-except
            traceback.print_exc(file=sys.stdout)
            check(f"{function.__name__} ended by an exception", False)
    print(f"{_counts['passed']} passed, {_counts['failed']} failed, 0 skipped")
    sys.exit(_counts["failed"] != 0)


class Noted:
    """The addresses that the library was given and gave at the latest run."""

    def __init__(self):
        self._library = ctypes.CDLL(os.environ["ADDRESSES"])

    def _read(self, name, i):
        return (ctypes.c_void_p * 16).in_dll(self._library, name)[i]

    def input(self, i=0):
        return self._read("noted_inputs", i)

    def output(self, i=0):
        return self._read("noted_outputs", i)

    def runs(self):
        return ctypes.c_int.in_dll(self._library, "noted_runs").value


class OnlyDlpack:
    """An array that shows itself by DLPack alone, as those of other frameworks do."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **arguments):
        return self._array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def identity(kind, shape="4"):
    """A session of a model that gives out what it takes."""
    text = (f'ge 1\nopset "" 28\nfn main(x: {kind}[{shape}]) -> (y) {{\n  y = Identity(x)\n}}\n'
            'entry infer "main" = main\n')
    return graphengine.Session(text.encode(), format="text", engines="ref")
