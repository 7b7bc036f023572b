#!/usr/bin/env python3
"""A load, a compile and a run that take long or for ever end soon after ge_session_cancel,
ge_run_cancel, a time limit and Ctrl-C, and the session works afterwards.

Drives the C API by ctypes and the tool by signals. Prints how long each took to end, each fault,
and last the counts.

Example: tests/e2e/clients/cancel.py --build build/release
"""
import argparse
import ctypes
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools/bench"))
from ge_api import Error, Options, Tensor  # noqa: E402
# Seconds. Half a second is usual; the rest is for a busy machine.
WITHIN = 5.0
OK, CANCELLED, DEADLINE = 0, 7, 8
ENGINES = b"ref"

ENDLESS = """ge 1
opset "" 28
const go : bool[] = true
fn step(i: i64[], go_on: bool[], a: f32[4]) -> (go_on, b) {
  b: f32[4] = Neg(a)
}
fn main(x: f32[4]) -> (y) {
  y: f32[4] = Loop(_, go, x) calls {body=step}
}
entry infer "main" = main
"""

# The first run cuts it into pieces, whose shapes it works out.
UNSIZED = """ge 1
opset "" 28
symbol n
const go : bool[] = true
fn step(i: i64[], go_on: bool[], s: f32[n], x: f32[n]) -> (go_on, t, t) {
  t: f32[n] = Add(s, x)
}
fn main(x: f32[n]) -> (y) {
CHAIN
  last: f32[n], all = Loop(_, go, z399, x) {captures=1} calls {body=step}
  y = ReduceSum(all)
}
entry infer "main" = main
""".replace("CHAIN", "\n".join(f"  z{i} = Neg({f'z{i - 1}' if i else 'x'})" for i in range(400)))

# One kernel that computes for many seconds: its name, graph, and the dims of its inputs.
KERNELS = {
    "Einsum": ("y: f32[2000,2000] = Einsum(x, w, w) {equation=\"ij,jk,kl->il\"}",
               ([2000, 2000], [2000, 2000])),
    "Conv": ("y: f32[1,1,513,513] = Conv(x, w)", ([1, 1, 1024, 1024], [1, 1, 512, 512])),
    "MatMul": ("y: f32[5000,5000] = MatMul(x, w)", ([5000, 5000], [5000, 5000])),
    "Resize": ("y: f32[1,1,7900,7900] = Resize(x, _, _, big) "
               "{antialias=1, mode=\"cubic\"}", ([1, 1, 8000, 8000], [1])),
}


def chain(nodes, constant):
    """A chain of cheap nodes, on a constant (folding) or on the input (planning)."""
    lines = ["ge 1", 'opset "" 28', "const c : f32[4] = [1, 2, 3, 4]",
             "fn main(x: f32[4]) -> (y) {"]
    at = "c" if constant else "x"
    for i in range(nodes):
        lines.append(f"  v{i}: f32[4] = {'Neg' if i % 2 else 'Exp'}({at})")
        at = f"v{i}"
    lines += [f"  y: f32[4] = Add(x, {at})", "}", 'entry infer "main" = main']
    return "\n".join(lines) + "\n"


def kernel(name):
    body, (x, w) = KERNELS[name]
    dims = lambda d: ",".join(map(str, d))
    return (f"ge 1\nopset \"\" 28\nconst big : i64[4] = [1, 1, 7900, 7900]\n"
            f"fn main(x: f32[{dims(x)}], w: f32[{dims(w)}]) -> (y) {{\n  {body}\n}}\n"
            'entry infer "main" = main\n')


class Session:
    def __init__(self, library, limit_ms=0):
        self.ge, self.handle, self.kept = library, ctypes.c_void_p(), []
        options = Options()
        library.ge_session_options_init(ctypes.byref(options))
        options.size = ctypes.sizeof(Options)
        options.engines, options.prices, options.time_limit_ms = ENGINES, 1, limit_ms
        error = Error(size=ctypes.sizeof(Error))
        code = library.ge_session_create(ctypes.byref(options), ctypes.byref(self.handle),
                                         ctypes.byref(error))
        assert code == OK, error.message.decode()

    def call(self, function, *arguments):
        """Code and message."""
        error = Error(size=ctypes.sizeof(Error))
        code = getattr(self.ge, function)(self.handle, *arguments, ctypes.byref(error))
        return code, error.message.decode()

    def load(self, text):
        bytes_ = text.encode()
        return self.call("ge_session_load_bytes", bytes_, ctypes.c_uint64(len(bytes_)), 3)

    def tensors(self, shapes):
        array = (Tensor * len(shapes))()
        for t, dims in zip(array, shapes):
            t.size, t.dtype, t.rank = ctypes.sizeof(Tensor), 1, len(dims)
            count = 1
            for i, d in enumerate(dims):
                t.dims[i] = d
                count *= d
            memory = ctypes.create_string_buffer(4 * count)
            self.kept.append(memory)
            t.data, t.bytes = ctypes.cast(memory, ctypes.c_void_p), 4 * count
        return array

    def run(self, shapes, function="ge_session_run", *more, inputs=None):
        inputs = inputs or self.tensors(shapes)
        outputs = (Tensor * 1)(Tensor(size=ctypes.sizeof(Tensor)))
        self.kept.append(outputs)
        return self.call(function, None, inputs, len(shapes), outputs, 1, *more)

    def compile(self, shapes):
        return self.call("ge_session_compile", None, self.tensors(shapes), len(shapes))

    def cancel(self):
        return self.ge.ge_session_cancel(self.handle)

    def close(self):
        self.ge.ge_session_destroy(self.handle)


class Report:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, what, good, text=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {what}: {text}")

    def ended(self, what, seconds, wanted, code, message=""):
        print(f"{what:<44} ended {seconds * 1e3:6.0f} ms after it was told to")
        self.check(what, code == wanted and seconds < WITHIN,
                   f"status {code} ({message}), wanted {wanted}; after {seconds:.2f} s")


def timed(body):
    start = time.monotonic()
    out = body()
    return time.monotonic() - start, out


def cancelled(report, what, session, body, after=0.4):
    """Cancels the session while `body` works; `body` answers code and message."""
    told = []

    def tell():
        time.sleep(after)
        told.append(time.monotonic())
        report.check(what, session.cancel() == OK, "ge_session_cancel failed")

    thread = threading.Thread(target=tell)
    thread.start()
    code, message = body()
    end = time.monotonic()
    thread.join()
    seconds = end - told[0] if told else -1
    report.check(what, seconds >= 0, f"it ended by itself before it was told to: {code} {message}")
    report.ended(what, max(seconds, 0), CANCELLED, code, message)


def limited(report, what, session, body, limit=0.4):
    session.ge.ge_session_set_time_limit(session.handle, ctypes.c_uint64(int(limit * 1e3)))
    seconds, (code, message) = timed(body)
    report.ended(what + ", time limit", seconds - limit, DEADLINE, code, message)
    session.ge.ge_session_set_time_limit(session.handle, ctypes.c_uint64(0))


def at_once(report, library):
    """Time limits that are over while the first run still makes its pieces."""
    ends = {}
    for i in range(120):
        s = Session(library)
        if s.load(UNSIZED)[0] == OK:
            library.ge_session_set_time_limit(s.handle, ctypes.c_uint64(1 + i % 8))
            end = s.run([[4 + i]])
            ends[end] = ends.get(end, 0) + 1
        s.close()
    print(f"limits of 1 to 8 ms, 120 first runs: {len(ends)} ends")
    other = {end: n for end, n in ends.items() if end[0] != DEADLINE}
    report.check("limits that are over at once", sum(ends.values()) == 120 and not other, str(other))


def library_cases(report, library):
    folding, planning = chain(60000, True), chain(200000, False)
    four = [[4]]
    s = Session(library)
    cancelled(report, "load: folding of 60,000 constants", s, lambda: s.load(folding))
    limited(report, "load: folding of 60,000 constants", s, lambda: s.load(folding))
    # The session is as before, and takes another model.
    report.check("load after a cancelled load", s.load(ENDLESS)[0] == OK)
    cancelled(report, "run: an endless Loop", s, lambda: s.run(four))
    limited(report, "run: an endless Loop", s, lambda: s.run(four))
    asynchronous(report, library, s)
    asynchronous_limits(report, library, s)
    s.close()
    s = Session(library)
    report.check("load of 200,000 nodes", s.load(planning)[0] == OK)
    cancelled(report, "compile: 200,000 nodes", s, lambda: s.compile(four))
    limited(report, "compile: 200,000 nodes", s, lambda: s.compile(four))
    waiting(report, s)
    s.close()
    at_once(report, library)
    for name, (_, shapes) in KERNELS.items():
        s = Session(library)
        report.check(name, s.load(kernel(name))[0] == OK)
        inputs = s.tensors(shapes)  # before the clock begins
        cancelled(report, f"run: one {name}", s, lambda: s.run(shapes, inputs=inputs), after=0.5)
        s.kept.clear()
        s.close()
    s = Session(library, limit_ms=300)
    report.check("load within the limit", s.load(ENDLESS)[0] == OK)
    seconds, (code, message) = timed(lambda: s.run(four))
    report.ended("run: an endless Loop, limit of the options", seconds - 0.3, DEADLINE, code,
                 message)
    s.close()


def asynchronous(report, library, s):
    """ge_run_cancel ends its run alone, ge_session_cancel all; what begins later goes on."""
    runs = [ctypes.c_void_p() for _ in range(3)]
    for r in runs:
        code, message = s.run([[4]], "ge_session_run_async", None, None, ctypes.byref(r))
        report.check("run_async", code == OK, message)
    error = Error(size=ctypes.sizeof(Error))
    wait = lambda r, ns: library.ge_run_wait(r, ctypes.c_uint64(ns), ctypes.byref(error))
    library.ge_run_cancel(runs[0])
    seconds, code = timed(lambda: wait(runs[0], 2**64 - 1))
    report.ended("run_async: ge_run_cancel", seconds, CANCELLED, code)
    report.check("the others go on", wait(runs[1], 1000) == DEADLINE)
    s.cancel()
    for r in runs[1:]:
        seconds, code = timed(lambda: wait(r, 2**64 - 1))
        report.ended("run_async: ge_session_cancel", seconds, CANCELLED, code)
    for r in runs:
        library.ge_run_destroy(r)


class RunOptions(ctypes.Structure):  # ge_run_options
    _fields_ = [("size", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                ("time_limit_ms", ctypes.c_uint64), ("cancel", ctypes.c_void_p)]


def asynchronous_limits(report, library, s):
    """Limits of one asynchronous run: a time, a token, a token that is cancelled already."""
    error, token = Error(size=ctypes.sizeof(Error)), ctypes.c_void_p()
    library.ge_cancel_token_create(ctypes.byref(token), ctypes.byref(error))
    for what, limit, wanted in (("its time limit", 400, DEADLINE), ("its token", 0, CANCELLED),
                                ("a cancelled token", 0, CANCELLED)):
        options = RunOptions(ctypes.sizeof(RunOptions), 0, limit, None if limit else token)
        run, begin = ctypes.c_void_p(), time.monotonic()
        code, message = s.run([[4]], "ge_session_run_async_with", ctypes.byref(options), None, None,
                              ctypes.byref(run))
        report.check(what, code == OK, message)
        if what == "its token":
            time.sleep(0.2)
            report.check(what, library.ge_cancel_token_cancel(token) == OK)
            begin = time.monotonic()
        code = library.ge_run_wait(run, ctypes.c_uint64(2**64 - 1), ctypes.byref(error))
        report.ended(f"run_async: {what}", time.monotonic() - begin - limit / 1e3, wanted, code)
        library.ge_run_destroy(run)
    short = RunOptions(4, 0, 0, None)
    run = ctypes.c_void_p()
    code, message = s.run([[4]], "ge_session_run_async_with", ctypes.byref(short), None, None,
                          ctypes.byref(run))
    report.check("short options", code == 2 and "ge_run_options" in message and not run, message)
    library.ge_cancel_token_destroy(token)


def waiting(report, s):
    """A run that waits for another's compile ends when it is cancelled itself."""
    first = threading.Thread(target=lambda: s.compile([[4]]))
    first.start()
    time.sleep(0.3)
    run, error = ctypes.c_void_p(), Error(size=ctypes.sizeof(Error))
    s.run([[4]], "ge_session_run_async", None, None, ctypes.byref(run))
    time.sleep(0.2)
    s.ge.ge_run_cancel(run)
    seconds, code = timed(
        lambda: s.ge.ge_run_wait(run, ctypes.c_uint64(2**64 - 1), ctypes.byref(error)))
    report.ended("a run that waits for a compile", seconds, CANCELLED, code)
    report.check("the compile goes on", first.is_alive())
    s.cancel()
    first.join()
    s.ge.ge_run_destroy(run)


def middle_of(command, stage):
    """Seconds from the start of `command` to the middle of a stage, and a limit of each call that the
    stage exceeds and those before it keep; by a run that nothing ends."""
    seconds, done = timed(lambda: subprocess.run(command + ["--json"], capture_output=True, text=True,
                                                 check=True))
    told = json.loads(done.stdout)
    load, compile = told["load_ms"] / 1e3, told["compile_ms"] / 1e3
    if stage == "load":
        return load / 2, load / 2
    return load + min(compile / 2, seconds - load), (load + compile) / 2


def tool_cases(report, build, folder):
    files = {"load": chain(60000, True), "compile": chain(200000, False), "run": ENDLESS}
    for stage, text in files.items():
        path = pathlib.Path(folder) / f"{stage}.gt"
        path.write_text(text)
        command = [str(build / "bin/ge"), "run", str(path), "--engines", "ref", "--prices",
                   "analytic", "--input", "x=4:zeros"]
        after, limit = (0.7, 0.5) if stage == "run" else middle_of(command, stage)
        for sent in (signal.SIGINT, signal.SIGTERM):
            what = f"ge run, {sent.name} in {stage}"
            for _ in range(8):  # sooner where the machine is faster than it was for middle_of
                process = subprocess.Popen(command, stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE, text=True)
                time.sleep(after)
                if process.poll() is None:
                    break
                after /= 2
            report.check(what, process.poll() is None, "it ended by itself")
            process.send_signal(sent)
            seconds, (out, err) = timed(process.communicate)
            report.ended(what, seconds, 130, process.returncode, err)
            report.check(what, "CANCELLED" in err or "interrupted" in err, err)
        for _ in range(10):  # the machine may have been far slower when the middle was looked for
            seconds, done = timed(lambda: subprocess.run(
                command + ["--time-limit", f"{limit:.3f}"], capture_output=True, text=True))
            if done.returncode != 0:
                break
            limit /= 2
        print(f"ge run --time-limit {limit:.1f}, {stage:<20} ended after {seconds:.2f} s in all")
        report.check(f"--time-limit in {stage}", done.returncode == 3 and
                     "DEADLINE_EXCEEDED" in done.stderr, f"{done.returncode} {done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", default=os.environ.get("GE_BUILD", "build/release"))
    build = (ROOT / parser.parse_args().build).resolve()
    os.environ.update(GE_CACHE_DIR="off", GE_PROBE="fixed")
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        library_cases(report, ctypes.CDLL(str(build / "lib/libgraphengine.so")))
        tool_cases(report, build, folder)
    print(f"{report.passed} passed, {report.failed} failed, 0 skipped")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
