"""Doors: functions of the package whose failures are raised at the user's line."""
import inspect
import pathlib
import pickle
import traceback

import numpy as np

import graphengine
from graphengine import Tensor, _native
from python_checks import check, run_all

# As if it were of the package.
INSIDE = '''
def fails(x):
    """What it does."""
    try:
        return 1 / x
    except ZeroDivisionError as error:
        raise ValueError("bad") from error


def calls(f, x, *, more=1):
    return f(x)


def again(f, x):
    try:
        return f(x)
    except KeyError:
        raise TypeError("while another one was handled")
'''


def inside():
    file = pathlib.Path(graphengine.__file__).parent / "inside.py"
    names = {"__name__": "graphengine.inside"}
    exec(compile(INSIDE, str(file), "exec"), names)  # pylint: disable=exec-used
    return names


def frames(error):
    return [] if error is None else [f.name for f in traceback.extract_tb(error.__traceback__)]


def raised(call):
    try:
        call()
    except Exception as error:  # pylint: disable=broad-except
        return error
    return None


@_native.Door
def told(x):
    return x


def doors(_):
    names = inside()
    fails, calls, again = (_native.Door(names[name]) for name in ("fails", "calls", "again"))
    check("it does what the function does", fails(2) == 0.5 and calls(lambda x: x, 3) == 3 and fails(x=4) == 0.25)

    def user(x):
        raise KeyError(x)

    def call_fails():
        fails(0)

    def call_user():
        calls(user, 1)

    def call_nested():
        calls(fails, 0)

    def call_again():
        again(user, 1)

    error = raised(call_fails)
    check("no frame of the package", frames(error) == ["raised", "call_fails"] and str(error) == "bad")
    check("nor in its cause", isinstance(error.__cause__, ZeroDivisionError) and not frames(error.__cause__))
    error = raised(call_user)
    check("the user's own frames stay", isinstance(error, KeyError) and frames(error) == ["raised", "call_user", "user"])
    check("a door in a door", frames(raised(call_nested)) == ["raised", "call_nested"])
    error = raised(call_again)
    check("nor in its context", frames(error) == ["raised", "call_again"] and frames(error.__context__) == ["user"])
    was = _native.show_all_frames(True)
    check("all frames", not was and frames(raised(call_fails)) == ["raised", "call_fails", "fails"])
    _native.show_all_frames(was)
    error = raised(lambda: calls(1, 2, 3))
    check("wrong arguments", isinstance(error, TypeError) and "calls()" in str(error))
    error = raised(lambda: _native.Door(3))
    check("no function", isinstance(error, TypeError) and "takes a function" in str(error))


def look_like_functions(_):
    calls = _native.Door(inside()["calls"])
    fails = _native.Door(inside()["fails"])
    check("name, text, module", (fails.__name__, fails.__doc__, fails.__module__, fails.__qualname__)
          == ("fails", "What it does.", "graphengine.inside", "fails"))
    check("signature", str(inspect.signature(calls)) == "(f, x, *, more=1)" and calls.__wrapped__.__name__ == "calls")
    check("repr", repr(fails) == repr(fails.__wrapped__))

    class Holder:
        method = calls

    holder = Holder()
    bound = Holder.__dict__["method"].__get__(holder)
    check("bound", bound.__self__ is holder and Holder.method is calls)
    Holder.twice = _native.Door(lambda self, x: (self, 2 * x))
    check("called as one", holder.twice(4) == (holder, 8))
    check("pickled by its name", pickle.loads(pickle.dumps(told)) is told)


def operators(_):
    """Failures of operators on Tensors that go straight to the engine."""
    x, y = Tensor(np.ones(3, np.float32)), Tensor(np.ones(4, np.float32))

    def add():
        return x + y

    error = raised(add)
    check(f"the last frame is the user's: {error}", frames(error) == ["raised", "add"]
          and isinstance(error, graphengine.Error) and "[3] and [4] do not broadcast" in str(error))


if __name__ == "__main__":
    run_all([doors, look_like_functions, operators])
