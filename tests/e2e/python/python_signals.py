"""Ctrl-C in the Python package: what goes on in the main thread ends with KeyboardInterrupt, however
long it would take. Each case is a process that interrupts itself; one that is not ended does not end.

  python_signals.py --build FOLDER --scratch FOLDER
  python_signals.py CASE                              in that process
"""
import functools
import itertools
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np

import graphengine

ENDLESS = """ge 1
opset "" 28
const go : bool[] = true
fn step(i: i64[], go_on: bool[], a: f32[4]) -> (go_on, b) {
  b: f32[4] = Neg(a)
}
fn main(x: f32[4]) -> (y) {
  y: f32[4] = Loop(_, go, x) calls {body=step}
}
fn short(x: f32[4]) -> (y) {
  y: f32[4] = Neg(x)
}
entry infer "main" = main
entry infer "short" = short
"""
X = np.ones(4, np.float32)


def chain(nodes, constant):
    """Many nodes, on a constant, which is folded at load, or on the input, which is planned."""
    lines = ["ge 1", 'opset "" 28', "const c : f32[4] = [1, 2, 3, 4]",
             "fn main(x: f32[4]) -> (y) {"]
    at = "c" if constant else "x"
    for i in range(nodes):
        lines.append(f"  v{i}: f32[4] = {'Neg' if i % 2 else 'Exp'}({at})")
        at = f"v{i}"
    return "\n".join(lines + [f"  y: f32[4] = Add(x, {at})", "}", 'entry infer "main" = main\n'])


def session(text):
    return graphengine.Session(text.encode(), format="text", engines="ref", prices="analytic")


def interrupt_soon(seconds=0.3):
    threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT)).start()


def interrupted(call, *arguments):
    """Whether the call was ended. What it returned would be kept before Python hears of the signal,
    where no function of Python is in between."""
    returned = []
    interrupt_soon()
    try:
        returned.extend(itertools.starmap(call, [arguments]))
        time.sleep(30)
    except KeyboardInterrupt:
        return not returned
    return False


def case_run():
    s = session(ENDLESS)
    assert interrupted(s.run, X)
    assert interrupted(s.run, X), "a second time"
    assert s.run(X, entry="short")["y"][0] == -1, "the session stays in use"


def case_result():
    s = session(ENDLESS)
    assert interrupted(lambda: s.run_async(X).result())
    run = s.run_async(X)
    assert interrupted(run.result)
    assert run.wait() and run.done(), "the run was ended"


def case_wait():
    run = session(ENDLESS).run_async(X)
    assert interrupted(run.wait)
    try:
        run.result()
    except graphengine.Error as error:
        assert error.code == "CANCELLED", error


def case_drop_in():
    s = graphengine.InferenceSession(ENDLESS.encode())
    assert interrupted(s.run, None, {"x": X})
    assert interrupted(s.run, None, {"x": X}, graphengine.RunOptions())
    binding = s.io_binding()
    binding.bind_cpu_input("x", X)
    binding.bind_output("y")
    assert interrupted(s.run_with_iobinding, binding)


def case_load():
    text = chain(60000, True).encode()
    make = functools.partial(graphengine.Session, format="text", engines="ref", prices="analytic")
    assert interrupted(make, text)


def case_compile():
    s = session(chain(200000, False))
    assert interrupted(s.compile, {"x": X})


def case_handler_of_its_own():
    """It runs after the call, as for any call into C, and the run is not ended."""
    s, seen = session(ENDLESS.replace("Loop(_", "Loop(n").replace(
        "const go", "const n : i64[] = 100000\nconst go")), []
    signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    interrupt_soon(0.05)
    assert s.run(X)["y"][0] == 1
    while not seen:
        time.sleep(0.01)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    assert interrupted(session(ENDLESS).run, X), "with Python's own handler again"


def case_ignored():
    s, x = session(ENDLESS), {"x": X}
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    s.set_time_limit(0.2)
    interrupt_soon(0.05)
    try:
        s.run(x)
    except graphengine.Error as error:
        assert error.code == "DEADLINE_EXCEEDED", error


def case_another_thread():
    """A run of another thread goes on when the main thread, which waits elsewhere, is interrupted."""
    s, done = session(ENDLESS), []

    def work():
        try:
            s.run(X)
        except graphengine.Error as error:
            done.append(error.code)
    thread = threading.Thread(target=work)
    thread.start()
    interrupt_soon()
    try:
        time.sleep(30)
    except KeyboardInterrupt:
        pass
    time.sleep(0.2)
    assert not done, done
    s.cancel()
    thread.join()
    assert done == ["CANCELLED"], done


def case_idle():
    """Between calls Ctrl-C is Python's, as without the package."""
    s = session(ENDLESS)
    s.run(X, entry="short")
    interrupt_soon()
    try:
        time.sleep(30)
    except KeyboardInterrupt:
        assert s.run(X, entry="short")["y"][0] == -1


CASES = {name[5:]: call for name, call in globals().items() if name.startswith("case_")}


def all_cases(_):
    from python_checks import check  # pylint: disable=import-outside-toplevel
    for name in CASES:
        try:
            done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True,
                                  timeout=120)
            check(f"Ctrl-C, {name}: exit {done.returncode}: {done.stderr[-600:]}", done.returncode == 0)
        except subprocess.TimeoutExpired:
            check(f"Ctrl-C, {name}: it goes on", False)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it
        CASES[sys.argv[1]]()
    else:
        from python_checks import run_all
        run_all([all_cases])
