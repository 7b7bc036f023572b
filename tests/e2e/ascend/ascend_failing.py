#!/usr/bin/env python3
"""Calls that fail, in sessions on the simulated vendor of the engine ascend: of twenty graphs, in turn.

A function of the vendor's is refused (refuse=), a call of the device fails or loses it (fail=), a piece of work fails
when it runs (fail_work=). Each in a process of its own, which opens a session, runs the graph three
times and closes it. A call that is refused says the engine's name and the library's text; the same call once more
succeeds, states are what they were, and all outputs are right: those of ref within the bound. A device that is lost
stays lost, and later runs are the CPU's. Nothing is left when the process ends, and nothing hangs.

Example: tests/e2e/ascend/ascend_failing.py --step 23
"""
import argparse
import ctypes
import json
import os
import pathlib
import re
import signal
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools/bench"), str(ROOT / "tests/e2e/engines")]
from ge_api import TensorInfo  # noqa: E402  pylint: disable=wrong-import-position
from ge_session import DTYPES, GeError, GeSession  # noqa: E402  pylint: disable=wrong-import-position
from vendor_schedules import CODES, WORK, Checks, saved  # noqa: E402  pylint: disable=wrong-import-position

ENGINES = "ascend,ref"
# Of the vendor's: parameter, memory. A call that says that the device has failed, while its work goes on, would be
# answered by what nobody waits for any more; fail_work and device_lost end the work, too.
STATUSES = [107000, 207001]
SAID = "a test planted this answer|it answers [12]07"  # where no engine comes to be its code
LOST = [code for code in CODES if code != "failed"]
RUNS, PRIORITY, BFLOAT16 = 3, 1, 16
NO_ANSWER_S = 300  # a process that takes longer hangs
STEP = """ge 1
opset "" 28
opset "ge" 1
const first : f32[6,6] = splat 0.125
const zero : f32[6,6] = splat 0
state w : f32[6,6] param trainable init first
state total : f32[6,6] buffer init zero
fn step(x: f32[6,6]) -> (y) effects [state w, state total] {
  a: f32[6,6] = ge.Read() effects [state w]
  t: f32[6,6] = ge.Read() effects [state total]
  p = MatMul(a, x)
  y: f32[6,6] = Tanh(p)
  sum = Add(t, y)
  ge.Assign(y) effects [state w]
  ge.Assign(sum) effects [state total]
}
entry train_step "step" = step
"""


class Net:
    """A graph, what it is fed, and by how much an output may differ from ref's."""

    def __init__(self, path, feeds, allowed=None, **options):
        self.path, self.feeds, self.allowed, self.options = path, feeds, allowed or {}, options
        self.name = path.parent.name if path.name == "graph.gt" else path.stem
        self.wanted = []  # of each run, by ref: (outputs, states behind it)

    def near(self, name, found, wanted):
        bound, unsettled = self.allowed.get(name, (1e-4, 0))
        if found.shape != wanted.shape:
            return False
        with numpy.errstate(all="ignore"):
            apart = numpy.abs(found.astype(numpy.float64) - wanted.astype(numpy.float64))
        same = (found == wanted) | (numpy.isnan(apart) & (numpy.isnan(found) == numpy.isnan(wanted)))
        return unsettled != 0 or bool((same | (apart <= bound)).all())


class Session(GeSession):
    """With its states, and outputs as numbers that numpy has."""

    def __init__(self, net, library, engines):
        try:
            super().__init__(net.path, library=library, engines=engines, policy=PRIORITY, threads=1, **net.options)
        except GeError:
            if self.session:
                self.lib.ge_session_destroy(self.session)
            raise
        count, self.names = ctypes.c_uint32(), []
        self._try(self.lib.ge_session_state_count(self.session, ctypes.byref(count)))
        for k in range(count.value):
            info = TensorInfo(size=ctypes.sizeof(TensorInfo))
            self._try(self.lib.ge_session_state_info(self.session, k, ctypes.byref(info)))
            self.names.append(info.name.decode())

    def arrays(self):
        found = []
        for t in self.out:
            raw = ctypes.string_at(t.data, t.bytes) if t.bytes else b""
            if t.dtype not in DTYPES and t.dtype != BFLOAT16:  # numpy has no numbers of less than a byte
                found.append(numpy.frombuffer(raw, "uint8"))
                continue
            kind = "uint16" if t.dtype == BFLOAT16 else DTYPES[t.dtype]
            array = numpy.frombuffer(raw, kind).reshape(t.dims[:t.rank])
            found.append((array.astype(numpy.uint32) << 16).view(numpy.float32) if t.dtype == BFLOAT16 else array)
        return found

    def states(self):
        return [self.state(name) for name in self.names]


class Trial:
    """What a process does, and what it finds wrong."""

    def __init__(self, net, library, words):
        self.net, self.library, self.words = net, library, words
        self.refused, self.wrong = [], []

    def twice(self, what, call):
        """Of a call that may be refused once. None: it was again, since the device is lost."""
        for again in range(2):
            try:
                return call()
            except GeError as x:
                text = f"{what}: {x}"
                self.refused.append(text)
                if "ascend" not in text or not re.search(f"{self.words}|was lost with device", text):
                    self.wrong.append(f"no name of the engine, or no text of the library's: {text}")
                if again and not re.search("lost|device lost", text):
                    self.wrong.append(f"refused again: {text}")
        return None

    def run(self):
        """A session from its beginning to its end; False: it lost what it held."""
        session = self.twice("open", lambda: Session(self.net, self.library, ENGINES))
        if session is None:
            return False
        try:
            return self.runs(session)
        finally:
            session.close()

    def runs(self, session):
        for k, (outputs, states) in enumerate(self.net.wanted):
            before = self.twice("states", session.states)
            refused = len(self.refused)
            found = self.twice(f"run {k}", lambda: session.run(self.net.feeds))
            if before is None or found is None:
                return False
            behind = self.twice("states", session.states)
            if behind is None:
                return False
            for name, one, other in zip(session.outputs, found, outputs):
                if not self.net.near(name, one, other):
                    self.wrong.append(f"run {k}, output {name}: {one.ravel()[:3]}, wanted {other.ravel()[:3]}")
            for name, one, other in zip(session.names, behind, states):
                if not self.net.near(name, one, other):
                    self.wrong.append(f"run {k}, state {name}: {one.ravel()[:3]}, wanted {other.ravel()[:3]}"
                                      f" {self.refused[refused:]}")
        return True


def in_child(use, options, reports):
    """use() in a process of its own, as JSON; what it said otherwise where it did not end well."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(NO_ANSWER_S)
        os.close(read)
        os.environ["GE_SIM_ASCEND"] = options
        os.dup2(os.open(f"{reports}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        try:
            said = use()
        except BaseException as x:  # pylint: disable=broad-except; told to the parent
            said = {"wrong": [repr(x)], "refused": []}
        os.write(write, json.dumps(said).encode())
        os.close(write)
        ctypes.CDLL(None).exit(0)  # so that the libraries tell what is left
    os.close(write)
    with os.fdopen(read, "rb") as answers:
        text = answers.read()
    _, status = os.waitpid(child, 0)
    if status != 0 or not text:
        log = pathlib.Path(f"{reports}.log").read_text()[-1000:]
        return {"wrong": [f"the process ended with {status}: {log}"], "refused": []}
    return json.loads(text)


def tried(net, library, folder, options, words):
    """{"refused": texts, "wrong": texts} of a trial."""
    reports = pathlib.Path(folder) / f"reports-{os.getpid()}"

    def whole():
        trial = Trial(net, library, words)
        if not trial.run():  # it says that the device is lost: a new session is the CPU's
            trial.run()
        return {"refused": trial.refused, "wrong": trial.wrong}

    said = in_child(whole, f"{options};reports={reports}", reports)
    if reports.exists():
        lines = set(reports.read_text().splitlines())
        reports.unlink()
        # No caller shows who owns an executor whose launch was refused: it is left.
        if re.search(r"\baclnn(?!\w*GetWorkspaceSize)\w+: a test planted",
                     "\n".join(said["refused"]) + pathlib.Path(f"{reports}.log").read_text()):
            lines.discard("leak: 1 objects, executors, are left")
        if lines:
            said["wrong"].append("the simulator reports: " + "\n".join(lines)[:500])
    return said


def by_ref(net, library, folder):
    """Fills in what ref gives; "" or why it cannot."""
    path = pathlib.Path(folder) / "ref.npz"

    def whole():
        session = Session(net, library, "ref")
        found = {}
        for k in range(RUNS):
            found |= {f"o{k} {n}": a for n, a in enumerate(session.run(net.feeds))}
            found |= {f"s{k} {n}": a for n, a in enumerate(session.states())}
        session.close()
        numpy.savez(path, **found)
        return {"refused": [], "wrong": []}

    said = in_child(whole, "", path)
    if said["wrong"]:
        return said["wrong"]
    with numpy.load(path) as found:
        for k in range(RUNS):
            net.wanted.append(tuple([found[n] for n in found if n.startswith(f"{kind}{k} ")] for kind in "os"))
    return ""


def nets(c, models):
    """The random ones, and those with states, a loop, a decoder's caches."""
    made = []
    for model in saved(c, models + models // 2 + 1):
        if len(made) < models:
            feeds = {f.stem: numpy.load(f) for f in sorted(model.folder.glob("*.npy"))}
            made.append(Net(model.folder / "graph.gt", feeds, model.allowed))
    random = numpy.random.default_rng(7)
    step = c.folder / "step.gt"
    step.write_text(STEP)
    files = ROOT / "tests/e2e/models"
    ids = numpy.array([[1, 4, 2]], numpy.int64)
    return made + [Net(step, {"x": random.uniform(-1, 1, (6, 6)).astype(numpy.float32)}, entry="step"),
                   Net(files / "inspect.gt", {"x": numpy.arange(8, dtype=numpy.float32)}, entry="add"),
                   Net(files / "decoder.gt", {"ids": ids}, kv_cache=4),
                   Net(files / "attention.gt", {"x": random.uniform(-1, 1, (1, 4, 8)).astype(numpy.float32)})]


def faults(counts, step, offset):
    """[(options, what a refusal has to say)]: each of `step`."""
    calls = sum(n for name, n in counts.items() if name.startswith("acl") and not re.search("Destroy|Free|Final", name))
    planted = r"the device: (out of memory|invalid|failed|device lost)"
    work = sum(counts.get(kind, 0) for kind in WORK)
    some = []
    for kind, last, codes, words in (("refuse=any:", calls, STATUSES, SAID),
                                     ("fail=any:", counts[""], LOST, planted),
                                     ("fail_work=", work, CODES[1:3], planted)):
        for k in range(1 + offset, last + 1, step):
            some.append((f"{kind}{k}:{codes[k // step % len(codes)]}", words))
    return some


def numbers(path):
    first, *rest = path.read_text().splitlines()
    return {"": int(first), **{name: int(n) for name, n in (line.split() for line in rest)}}


def shared(items, use):
    """[use(item)] by processes of the machine's cores. No threads: each item is a process of its own again."""
    readers = []
    for k in range(os.cpu_count()):
        read, write = os.pipe()
        if os.fork() == 0:
            os.close(read)
            with os.fdopen(write, "w") as answers:
                json.dump([use(item) for item in items[k::os.cpu_count()]], answers)
            os._exit(0)
        os.close(write)
        readers.append(read)
    found = [None] * len(items)
    for k, read in enumerate(readers):
        with os.fdopen(read) as answers:
            found[k::os.cpu_count()] = json.loads(answers.read())
        os.wait()
    return found


def sweep(c, net, library, step):
    """(failing calls, those that were refused) of a graph."""
    counted = c.folder / "calls"
    said = tried(net, library, c.folder, f"calls={counted};schedule=lazy", "")
    c.check(not said["wrong"] and not said["refused"], net.name, said)
    cases = faults(numbers(counted), step, len(net.name) * 7 % step)
    counted.unlink()
    ends = shared(cases, lambda case: tried(net, library, c.folder, f"{case[0]};schedule=lazy", case[1]))
    for (options, _), end in zip(cases, ends):
        c.check(not end["wrong"], f"{net.name}, {options}", "\n    ".join(end["wrong"]))
    return len(cases), sum(bool(end["refused"]) for end in ends)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--models", type=int, default=16, help="random ones, beside four others")
    parser.add_argument("--step", type=int, default=1, help="every so many calls fail")
    given = parser.parse_args()
    build = given.build.resolve()
    libraries = str(build / "lib/sim/ascend")
    if os.environ.get("LD_LIBRARY_PATH") != libraries:  # the linker reads it once
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "LD_LIBRARY_PATH": libraries})
    os.environ.update({"GE_CACHE_DIR": "off", "GE_PROBE": "fixed"})
    with tempfile.TemporaryDirectory() as folder:
        c = Checks(build, pathlib.Path(folder), "ascend")
        total = refused = 0
        graphs = nets(c, given.models)
        c.check(len(graphs) == given.models + 4, "graphs", len(graphs))
        for net in graphs:
            wrong = by_ref(net, build / "lib/libgraphengine.so", folder)
            c.check(not wrong, f"{net.name} on ref", wrong)
            if not wrong:
                calls, named = sweep(c, net, build / "lib/libgraphengine.so", given.step)
                total, refused = total + calls, refused + named
    c.check(refused > 0, "some are refused", total)
    print(f"{total} failing calls and pieces of work of {len(graphs)} graphs: {refused} refused by name, and right "
          f"when called again; {total - refused} right")
    print(f"{c.passed} passed, {c.failed} failed, {c.skipped} skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
