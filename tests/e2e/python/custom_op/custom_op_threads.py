"""Operators in numpy on many threads: eight of them at once, sessions on threads of their own, runs
within runs, Ctrl-C, and the interpreter's end. Nothing here waits for a clock: what hangs is ended
by the step's own limit.

Example: python tests/e2e/python/custom_op/custom_op_threads.py --build build/release --scratch FOLDER
"""
import pathlib
import subprocess
import sys
import threading
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from custom_op_cases import CASES, built  # noqa: E402
from python_checks import check, run_all  # noqa: E402

import graphengine as ge  # noqa: E402

HANGS_S = 300  # a process that takes so long hangs


def all_at_once(work, count=8):
    """What each thread answered, or its exception."""
    found, begin = [None] * count, threading.Barrier(count)

    def run(i):
        try:
            begin.wait()
            found[i] = work(i)
        except BaseException as error:  # pylint: disable=broad-except
            found[i] = error

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(HANGS_S)
    check("no thread hangs", not any(t.is_alive() for t in threads))
    return found


def eight(_):
    """Eight threads call all operators, first calls and other sizes included, eager and as graphs."""
    jitted = [ge.jit(lambda x, op=case.op: op(x) * 2) for case in CASES]
    gradients = [ge.jit(ge.grad(lambda x, op=case.op: ge.sum(op(x)))) for case in CASES]

    def work(i):
        wrong = []
        for n in range(30):
            case, which = CASES[(i + n) % len(CASES)], (i + n) % len(CASES)
            x = np.random.default_rng(i * 100 + n).uniform(-2, 2, (2 + n % 3, 4))
            wanted = case.forward(x)
            back = case.back(x, wanted, np.ones_like(wanted))
            for name, got, right in (("eager", case.op(ge.asarray(x)), wanted),
                                     ("jit", jitted[which](ge.asarray(x)), wanted * 2),
                                     ("grad", gradients[which](ge.asarray(x)), back)):
                if not np.allclose(np.asarray(got), right, rtol=1e-9, atol=1e-9):
                    wrong.append((case.name, name, n))
        return wrong

    found = all_at_once(work)
    check(f"eight threads: {found}", found == [[]] * 8)
    check("programs are shared", all(j.traces() <= 4 for j in jitted))


def plugins(args):
    """Operators of plugins on eight threads, beside operators in numpy."""
    sample = built(args.scratch, "sdk/samples/op/op.c")
    acme = built(args.scratch, "tests/plugins/ops/decomposed.c")
    kernels = built(args.scratch, "tests/plugins/ops/kernels.c")
    mixed = ge.jit(lambda x: CASES[0].op(sample.Swish(acme.Mish(x), beta=2.0)) + kernels.Rotate(x, by=1))

    def wanted(x):
        mish = x * np.tanh(np.logaddexp(x, 0))
        return np.clip(mish / (1 + np.exp(-2 * mish)), -0.5, 0.5) + np.roll(x, 1)

    def work(i):
        rows = [np.random.default_rng(i).uniform(-1, 1, 3 + n % 3).astype(np.float32) for n in range(30)]
        return all(np.allclose(mixed(ge.asarray(x)), wanted(x), atol=1e-5) and np.allclose(
            acme.Mish(x), x * np.tanh(np.logaddexp(x, 0)), atol=1e-5) for x in rows)
    found = all_at_once(work)
    check(f"plugins on eight threads: {found}", found == [True] * 8)


def one_session(args):
    """One session, of which eight threads run the one operator; some calls fail, and fail for their
    callers alone."""
    @ge.custom_op(name="threads.meets")
    def meets(x):
        time.sleep(0)  # lets the others in
        if x[0] < 0:
            raise ValueError(f"{x[0]:g}")
        return x * 2

    path = args.scratch / "meets.gt"
    ge.export(lambda x: meets(x) + 1, path, x=ge.Spec("n"))
    with ge.Session(path) as session:
        def work(i):
            out = []
            for n in range(20):
                sign = -1 if (i + n) % 5 == 0 else 1
                x = np.full(3 + n % 2, sign * (1 + i + 10 * n), np.float32)
                try:
                    out.append(bool(np.array_equal(session.run(x)["output"], x * 2 + 1)) and sign > 0)
                except ValueError as error:
                    out.append(str(error) == f"{x[0]:g}")
            return out
        found = all_at_once(work)
    check(f"each has its own result or exception: {found}", found == [[True] * 20] * 8)


def within(_):
    """Operators that run programs that call operators, on eight threads."""
    inner = ge.jit(lambda x: CASES[0].op(x) * 2)
    middle = ge.custom_op(lambda x: inner(x) + 1, name="threads.middle")
    outer = ge.jit(lambda x: ge.sum(middle(x)))

    def work(i):
        x = np.random.default_rng(i).uniform(-1, 1, 5)
        wanted = (np.clip(x, -0.5, 0.5) * 2 + 1).sum()
        return all(np.isclose(float(outer(ge.asarray(x))), wanted) for _ in range(50))
    found = all_at_once(work)
    check(f"runs within runs: {found}", found == [True] * 8)

    box = ge.Variable(ge.ones(3))
    reads = ge.custom_op(lambda x: x + box.numpy(), name="threads.reads")

    @ge.jit
    def assigns(x):
        box.assign(box.value + x)
        return reads(x)
    try:
        assigns(ge.ones(3))
        check("an operator reads a Variable that its run writes: was not refused", False)
    except ge.Error as error:
        check(f"an operator reads a Variable that its run writes: {error}", np.array_equal(box.numpy(), np.ones(3)))


PROGRAM = """
import atexit, os, signal, sys, threading, time
import numpy as np
import graphengine as ge
inside = threading.Event()
@ge.custom_op(name="slow")
def slow(x):
    inside.set()
    time.sleep(0.3)
    return x + 1
path = sys.argv[1]
ge.export(lambda x: slow(x), path, x=ge.Spec(3))
session = ge.Session(path)
x = np.ones(3, np.float32)
def interrupted(call):
    inside.clear()
    def send():
        inside.wait()
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=send).start()
    try:
        call()
    except KeyboardInterrupt:
        return True
    return False
"""
ENDS = {
    "a run that goes on": "r = session.run_async(x); inside.wait(); print('end')",
    "a run that nobody began": "r = session.run_async(x); print('end')",
    "a daemon thread": "threading.Thread(target=lambda: [session.run(x) for _ in range(1000)], daemon=True).start()\n"
                       "inside.wait(); print('end')",
    "a daemon thread that waits without an end":
        "o = ge.custom_op(lambda x: [inside.set(), threading.Event().wait()] and x, name='waits')\n"
        "threading.Thread(target=lambda: ge.jit(lambda x: o(x))(x), daemon=True).start(); inside.wait(); print('end')",
    "a thread": "threading.Thread(target=lambda: print(session.run(x)['output'][0] == 2 and 'end')).start()",
    "atexit": "atexit.register(lambda: print(session.run(x)['output'][0] == 2 and 'end'))",
    "Ctrl-C at once": "print('end' if interrupted(lambda: slow(ge.ones(3))) else 'not raised')",
    "Ctrl-C in a run": "print('end' if interrupted(lambda: session.run(x)) and session.run(x) else 'not raised')",
    "Ctrl-C under jit": "f = ge.jit(lambda x: slow(x)); f(ge.ones(3))\n"
                        "print('end' if interrupted(lambda: f(ge.ones(3))) and f(ge.ones(3))[0] == 2 else 'not raised')",
}


def ends(args):
    """Processes that end while an operator is in Python, or wants to be: they end, and by themselves."""
    for name, code in ENDS.items():
        try:
            done = subprocess.run([sys.executable, "-c", PROGRAM + code, str(args.scratch / "slow.gt")],
                                  capture_output=True, text=True, timeout=HANGS_S, check=False)
            check(f"{name}: {done}", done.returncode == 0 and done.stdout.strip() == "end")
        except subprocess.TimeoutExpired:
            check(f"{name}: hangs", False)


if __name__ == "__main__":
    run_all([eight, plugins, one_session, within, ends])
