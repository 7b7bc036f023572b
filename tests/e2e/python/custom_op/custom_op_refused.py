"""What operators in numpy refuse, and what goes wrong in them: raised at the user's line, as the same
exception, with states as they were, and the next call is right.

Example: python tests/e2e/python/custom_op/custom_op_refused.py --build build/release --scratch FOLDER
"""
import functools
import pathlib
import subprocess
import sys
import traceback

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from python_checks import check, run_all  # noqa: E402

import graphengine as ge  # noqa: E402
from graphengine import nn  # noqa: E402

X = ge.asarray(np.linspace(-1, 1, 6, dtype=np.float32))
HERE = pathlib.Path(__file__).name


def raises(name, kind, words, call, last=None, door=True):
    """`call` leaves with this exception, whose last frame is of this file, in the function `last`. door:
    the package has no frame in it."""
    try:
        call()
    except Exception as error:  # pylint: disable=broad-except
        frames = traceback.extract_tb(error.__traceback__)
        ours = [f for f in frames if "graphengine" in f.filename]
        good = type(error) is kind and words in str(error) and not (
            door and (ours or pathlib.Path(frames[-1].filename).name != HERE))
        check(f"{name}: {type(error).__name__}: {error}\n{''.join(traceback.format_tb(error.__traceback__))}",
              good and (last is None or frames[-1].name == last))
        return error
    check(f"{name}: was not refused", False)
    return None


def results(_):
    """Answers that are not what was said."""
    wrong = {
        "nothing": (lambda x: None, TypeError, "answers None, a NoneType, wanted an array of numpy"),
        "a number": (lambda x: 3.0, TypeError, "answers 3.0, a float, wanted an array"),
        "a text": (lambda x: "x", TypeError, "a str, wanted an array"),
        "two": (lambda x: (x, x), TypeError, "answers 2 results, wanted 1"),
        "none of them": (lambda x: [], TypeError, "answers 0 results, wanted 1"),
        "another type": (lambda x: x.astype(np.float64), TypeError, "an array of float64, wanted float32"),
        "objects": (lambda x: x.astype(object), TypeError, "an array of object, wanted float32"),
        "another size": (lambda x: x[1:], ValueError, "an array of shape (5,), wanted (6,)"),
        "fewer axes": (lambda x: x[0], ValueError, "an array of shape (), wanted (6,)"),
        "more axes": (lambda x: x[None], ValueError, "an array of shape (1, 6), wanted (6,)"),
    }
    for name, (function, kind, words) in wrong.items():
        op = ge.custom_op(function, name=f"results.{name}")
        raises(f"{name}, at once", kind, words, lambda: op(X))  # pylint: disable=cell-var-from-loop
        raises(f"{name}, jit", kind, words, lambda: ge.jit(lambda x: op(x) + 1)(X))
        raises(f"{name}, place", kind, f"'results.{name}' at {HERE}:", lambda: ge.jit(lambda x: op(x) + 1)(X))
    two = ge.custom_op(lambda x: x, outputs=lambda x: (ge.Spec(1), ge.Spec(2)), name="results.both")
    raises("one of two", TypeError, "answers 1 results, wanted 2", lambda: two(X))
    raises("one of two, jit", TypeError, "answers 1 results, wanted 2", lambda: ge.jit(two)(X))
    second = ge.custom_op(lambda x: (x[:1], x), outputs=lambda x: (ge.Spec(1), ge.Spec(2)), name="results.second")
    raises("the second", ValueError, "answers for result 1 an array of shape (6,), wanted (2,)", lambda: ge.jit(second)(X))
    sized = ge.custom_op(lambda x: x[None], outputs=ge.Spec(None), name="results.sized")
    raises("axes of a size that the result decides", ValueError, "of shape (1, 6), wanted (any,)",
           lambda: ge.jit(lambda x: sized(x) * 1)(X))


def types(_):
    """outputs= that cannot be."""
    def op(outputs, count=[0]):
        count[0] += 1
        return ge.custom_op(lambda x: x, outputs=outputs, name=f"types.{count[0]}")

    for name, outputs, kind, words in (
            ("no Spec", lambda x: x.shape, TypeError, "wanted a ge.Spec for each result"),
            ("none", lambda x: (), TypeError, "wanted a ge.Spec for each result"),
            ("a name", lambda x: ge.Spec("n"), TypeError, "wanted sizes of the inputs"),
            ("below zero", lambda x: ge.Spec((x.shape[0] - 7,)), TypeError, "has the size -1"),
            ("its own", lambda x: {}["outputs"], KeyError, "outputs"),
            ("arguments", lambda: ge.Spec(1), TypeError, "positional argument")):
        for run in (lambda f: f, ge.jit):
            raises(f"outputs= {name}", kind, words, lambda: run(op(outputs))(X))  # pylint: disable=cell-var-from-loop
    raises("no input and no outputs=", TypeError, "has no input", lambda: ge.custom_op(lambda: 1, name="types.no")())
    # The size of a result that the data decide has no number, and arithmetic of it goes on.
    found = ge.custom_op(lambda x: np.nonzero(x)[0], outputs=ge.Spec((None,), ge.int64), name="types.found")
    twice = op(lambda x: ge.Spec((x.shape[0] * 2,), x.dtype))
    asked = op(lambda x: ge.Spec((int(x.shape[0]),), x.dtype))
    raises("a number that nobody knows", ge.jit.TraceError, "is known only when the program runs",
           lambda: ge.jit(lambda x: asked(found(x)))(X))
    raises("twice the size", ValueError, "wanted (12,)", lambda: ge.jit(lambda x: twice(found(x)))(X))
    path = _.scratch / "asked.gt"
    path.write_text('ge 1\nopset "" 28\nopset "python" 1\nsymbol n\nfn main(x: f32[n]) -> (y) {\n'
                    '  y = python.Function(x) {function="types.asked"} "here"\n}\nentry infer "main" = main\n')
    ge.custom_op(lambda x: x, outputs=lambda x: ge.Spec((int(x.shape[0]),)), name="types.asked")
    raises("a number asked of a loaded graph", ge.jit.TraceError, "asks for the number of the size 'n'",
           lambda: ge.Session(path))
    text = path.read_text().replace("f32[n]", "f32[?]").replace("symbol n\n", "")
    def cast(x):
        return ge._native.apply("", "Cast", [x], {"to": ge._native.dtype("int4")}, 1)  # pylint: disable=protected-access

    small = ge.custom_op(lambda x: x, name="types.small")
    raises("less than a byte", TypeError, "whose elements are less than a byte",
           lambda: ge.jit(lambda x: small(cast(x)))(X))
    raises("no number of axes", TypeError, "the number of axes of input 0", lambda: ge.Session(text.encode()))


def calls(_):
    """Arguments, names and decorators."""
    op = ge.custom_op(lambda x: x, name="calls.op")
    for run in (lambda f: f, ge.jit):
        raises("by name", TypeError, "takes tensors by position, and is given k= by name", lambda: run(op)(X, k=1))
        raises("too many", TypeError, "'calls.op': too many positional arguments", lambda: run(op)(X, X))
        raises("too few", TypeError, "'calls.op': missing a required argument", lambda: run(op)())
    raises("no function", TypeError, "custom_op() of 3, wanted a function", lambda: ge.custom_op(3))
    raises("a word", TypeError, "wants an argument by name", lambda: ge.custom_op(lambda x, *, k: x))
    raises("a name twice", ValueError, "has this name", lambda: ge.custom_op(lambda x: x, name="calls.op"))
    raises("two gradients", ValueError, "has a gradient already",
           lambda: [op.gradient(lambda x, y, dy: dy) for _ in range(2)])
    raises("no gradient", TypeError, "gradient() of 3, wanted a function", lambda: ge.custom_op(len, name="c").gradient(3))
    raises("a Spec", TypeError, "wanted a shape and a dtype", lambda: ge.Spec((1, 2), 3, 4))
    raises("a size", TypeError, "has the size -1", lambda: ge.Spec(-1))
    scaled = ge.custom_op(functools.partial(np.multiply, np.float32(3)), name="calls.scaled")
    check("a partial function", np.array_equal(ge.jit(lambda x: scaled(x))(X), X.numpy() * 3))
    made = []
    for k in (2, 3):
        @ge.custom_op
        def times(x):
            return x * np.float32(k)  # pylint: disable=cell-var-from-loop
        made.append((k, times))
        check(f"functions of one name are apart: {times}", np.array_equal(times(X), X.numpy() * k))
    check(f"they have names of their own: {made}", made[0][1].name != made[1][1].name and "process" in made[1][1].name)


def exceptions(args):
    """What the function raises is raised as it is, with its own frames."""
    class Own(Exception):
        pass

    kept = Own("mine")

    def fails(x):
        raise kept

    op = ge.custom_op(fails)
    jitted = ge.jit(lambda x: op(x * 2) + 1)
    for name, call in (("at once", lambda: op(X)), ("jit", lambda: jitted(X)), ("jit, prepared", lambda: jitted(X))):
        check(f"{name}: the same object", raises(name, Own, "mine", call, "fails") is kept)

    def chained(x):
        try:
            {}["k"]  # pylint: disable=expression-not-assigned
        except KeyError as error:
            raise Own("after") from error

    error = raises("chained", Own, "after", lambda: ge.jit(ge.custom_op(chained))(X), "chained")
    check("its cause", isinstance(error.__cause__, KeyError))
    raises("written to", ValueError, "read-only", lambda: ge.jit(ge.custom_op(lambda x: x.__iadd__(1)))(X))

    @ge.jit
    def loop(x, n):
        for i in range(n):
            x = op(x) if i == 3 else x + 1
        return x

    check("a loop that does not come there", np.allclose(loop(X, ge.asarray(3)), X.numpy() + 3))
    raises("in a Loop", Own, "mine", lambda: loop(X, ge.asarray(5)), "fails")
    check("the next call", np.allclose(loop(X, ge.asarray(2)), X.numpy() + 2))
    inner = ge.jit(lambda x: op(x) * 2)
    outer = ge.custom_op(lambda x: inner(x))
    raises("in a run within a run", Own, "mine", lambda: ge.jit(lambda x: outer(x) + 1)(X), "fails")
    path = args.scratch / "fails.gt"
    ge.export(lambda x: op(x), path, x=ge.Spec(6))
    with ge.Session(path) as session:
        raises("Session.run", Own, "mine", lambda: session.run(X), "fails")
        raises("Session.run_async", Own, "mine", lambda: session.run_async(X).result(), "fails")
        prepared = session.prepare(X)
        raises("Prepared.run", Own, "mine", prepared.run, "fails")
    for _ in range(200):  # of which nobody asks for most
        with ge.Session(path) as session:
            session.run_async(X).wait()
    raises("after many", Own, "mine", lambda: jitted(X), "fails")


def keeping(_):
    """An input that is kept lies in the run's memory: refused; what an exception keeps is let go."""
    kept = []

    @ge.custom_op
    def keeps(x):
        kept.append(x[1:])
        return x + 0

    raises("a view is kept", RuntimeError, "keeps input 0, or a view of it, beyond its call",
           lambda: ge.jit(lambda x: keeps(x * 2) * 2)(X))
    kept.clear()
    check("at once it may", np.array_equal(keeps(X), X.numpy()) and np.array_equal(kept[0], X.numpy()[1:]))

    @ge.custom_op
    def fails(x):
        view = x[1:]
        raise ValueError(view.shape)

    error = raises("locals", ValueError, "(5,)", lambda: ge.jit(lambda x: fails(x * 2) * 2)(X), "fails")
    frames = [f for f, _ in traceback.walk_tb(error.__traceback__) if f.f_code.co_name == "fails"]
    check("the exception keeps no array of the run", frames and not any(f.f_locals for f in frames))

    @ge.custom_op
    def tells(x):
        error = ValueError("told", x[1:3])
        error.all = x
        raise error

    error = raises("an exception with arrays", ValueError, "told", lambda: ge.jit(lambda x: tells(x * 2) * 2)(X), "tells")
    check("they are its own", error.args[1].flags.owndata and np.array_equal(error.all, X.numpy() * 2))

    def before():
        number = 7
        raise KeyError(number)

    try:
        before()
    except KeyError as first:
        jitted = ge.jit(lambda x: fails(x * 2))
        error = raises("while another is handled", ValueError, "(5,)", lambda: jitted(X), "fails")
        frames = [f for f, _ in traceback.walk_tb(first.__traceback__)]
        check("whose locals stay", error.__context__ is first and frames[-1].f_locals == {"number": 7})

    @ge.custom_op
    def hides(x):
        raise ValueError([x])

    error = raises("an exception that hides them", RuntimeError, "keeps input 0", lambda: ge.jit(lambda x: hides(x * 2))(X))
    check("and its cause", isinstance(error.__cause__, ValueError))

    @ge.custom_op
    def cyclic(x):
        cycle = [x]
        cycle.append(cycle)
        return x + 1
    check("a cycle is collected", np.array_equal(ge.jit(lambda x: cyclic(x * 2) * 1)(X), X.numpy() * 2 + 1))


class Net(nn.Module):
    def __init__(self, op):
        super().__init__()
        self.op, self.linear, self.seen = op, nn.Linear(4, 2), ge.Variable(ge.zeros(()), name="seen")

    def __call__(self, x):
        self.seen.assign(self.seen.value + 1)
        return self.op(self.linear(x))


def states(_):
    """A run that fails leaves Variables as they were, in a function, in a Loop and in fit."""
    calls_ = [0, 10 ** 9]  # so far; the one that fails

    @ge.custom_op
    def counts(x):
        calls_[0] += 1
        if calls_[0] == calls_[1]:
            raise ArithmeticError(f"call {calls_[0]}")
        return x + 1

    counts.gradient(lambda x, y, dy: dy)
    box, other = ge.Variable(ge.zeros(6)), ge.Variable(ge.ones(6))

    @ge.jit
    def step(n):
        other.assign(other.value * 2)
        for _ in range(n):
            box.assign(counts(box.value))
        return ge.sum(box.value)

    step(ge.asarray(3))
    before = box.numpy().copy(), other.numpy().copy()
    calls_[1] = calls_[0] + 2
    raises("in a Loop", ArithmeticError, "call 5", lambda: step(ge.asarray(3)), "counts")
    check("states are as before", np.array_equal(box.numpy(), before[0]) and np.array_equal(other.numpy(), before[1]))
    found = float(step(ge.asarray(1)))
    check(f"the next run: {found} {other.numpy()}", found == 24 and other.numpy()[0] == 4)

    net = Net(counts)
    model = ge.Model(net, nn.MSELoss(), ge.optim.Adam(net, 0.1))
    x, y = np.ones((32, 4), np.float32), np.zeros((32, 2), np.float32)
    model.fit(x, y, batch_size=8)
    steps = []

    class Watch(ge.Callback):
        def on_step_end(self, model, step, logs):
            steps.append({k: np.array(v) for k, v in net.state_dict().items()})

    calls_[1] = calls_[0] + 3
    raises("in fit", ArithmeticError, "call", lambda: model.fit(x, y, batch_size=8, callbacks=[Watch()]), "counts",
           door=False)
    now = {k: np.array(v) for k, v in net.state_dict().items()}
    check("fit ended in its third step", len(steps) == 2)
    check("the net is as after the second", all(np.array_equal(now[k], steps[-1][k]) for k in now))
    check("the optimizer's step, too", model.step == 6 and len(model.fit(x, y, batch_size=8)) == 1)


def gradients(_):
    """Gradients without a rule, and rules that are wrong."""
    def op(rule=None, function=lambda x: x, count=[0]):
        count[0] += 1
        made = ge.custom_op(function, name=f"gradients.{count[0]}")
        if rule is not None:
            made.gradient(rule)
        return made

    def gradient(made):
        return lambda: ge.grad(lambda x: ge.sum(made(x * 2)))(X)

    raises("no rule", TypeError, f"no rule says how the gradient of custom_op 'gradients.1' at {HERE}:", gradient(op()))
    raises("of a rule", TypeError, "no rule says how",
           lambda: ge.hessian(lambda x: ge.sum(ruled(x)))(X) if (ruled := op(op(function=lambda x, y, dy: dy))) else None, door=False)
    for name, rule, kind, words in (
            ("raises", lambda x, y, dy: 1 // 0, ZeroDivisionError, "by zero"),
            ("arguments", lambda x: x, TypeError, "positional argument"),
            ("a number", lambda x, y, dy: 1.0, TypeError, "answers 1.0 for input 0, wanted a tensor"),
            ("two", lambda x, y, dy: (dy, dy), TypeError, "answers 2 results, wanted 1"),
            ("another type", lambda x, y, dy: ge.astype(dy, ge.float64), TypeError, "both have to be of one type"),
            ("another size", lambda x, y, dy: dy[1:], TypeError, "both have to be of one type"),
            ("numpy", lambda x, y, dy: np.multiply(dy, 2), ge.jit.TraceError, "write the rule as another custom_op"),
            ("branches", lambda x, y, dy: dy if ge.sum(x) > 0 else x, ge.jit.TraceError, "no branches and loops"),
            ("a Variable", lambda x, y, dy: dy * VARIABLE.value, ge.jit.TraceError, "reads no Variable")):
        raises(f"a rule: {name}", kind, words, gradient(op(rule)))
    zero = ge.grad(lambda x: ge.sum(op(lambda x, y, dy: None)(x) + x))(X)
    check("None is zero", np.array_equal(zero, np.ones(6, np.float32)))


VARIABLE = ge.Variable(ge.ones(6), name="read by a rule")


def files(args):
    """Graphs for others, and graphs whose functions are not here."""
    op = ge.custom_op(lambda x: x, name="files.op")
    raises("ONNX", TypeError, f"custom_op 'files.op' at {HERE}:",
           lambda: ge.export(lambda x: op(x), args.scratch / "no.onnx", x=ge.Spec(3)), door=False)
    check("no file is left", not (args.scratch / "no.onnx").exists())
    path = args.scratch / "elsewhere.gt"
    ge.export(lambda x: op(x), path, x=ge.Spec(3))
    text = path.read_text()
    path.write_text(text.replace("files.op", "files.other"))
    raises("another name", LookupError, "calls the function 'files.other' of Python", lambda: ge.Session(path))
    code = f"import graphengine as ge\ntry:\n  ge.Session({str(path)!r})\nexcept ge.Error as e:\n  print(e)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    check(f"a process without any: {told}", "import the module that defines them first" in told.stdout)


if __name__ == "__main__":
    run_all([results, types, calls, exceptions, keeping, states, gradients, files])
