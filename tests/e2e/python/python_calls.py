"""Calls of the Python package: runs that go on by themselves, states, limits, errors, reports."""
import asyncio
import gc
import pickle
import subprocess
import sys
import threading
import time

import numpy as np

import graphengine
from python_checks import check, refused, run_all

TWO = "tests/e2e/models/two_entries.gt"
THREE = "tests/e2e/models/three_nodes.gt"


def slow_session(args, delay_us=60000):
    """Runs of "add" take some twice as long, on a device that does nothing most of the time."""
    devsim = (args.build / "lib/samples/devsim.so").resolve()
    return graphengine.Session(TWO, engines=[
        "ref", f"{devsim}:take=60;price=1;link_latency_ns=0;delay=2;delay_us={delay_us}"])


ONES = np.ones((32, 32), np.float32)


def the_interpreter_goes_on(args):
    session = slow_session(args, 300000)
    session.run({"x": ONES})
    counted, going = [0], threading.Event()

    def count():
        while not going.is_set():
            counted[0] += 1
            time.sleep(0.001)
    thread = threading.Thread(target=count)
    thread.start()
    begin = time.monotonic()
    session.run({"x": ONES})
    took = time.monotonic() - begin
    going.set()
    thread.join()
    check(f"another thread counted to {counted[0]} in a run of {took:.2f} s",
          took > 0.05 and counted[0] > 10)


def prepared_runs(_):
    session = graphengine.Session(THREE)
    feed = {name: np.arange(256, dtype=np.float32) for name in "abc"}
    prepared = session.prepare(feed)
    first = prepared.run()["y"]
    check("a prepared run", np.array_equal(first, session.run(feed)["y"]))
    feed["a"][:] = 7
    again = prepared.run()["y"]
    check("arrays are read anew, the result's memory is the same",
          again is first and np.array_equal(again, session.run(feed)["y"]))
    other = np.full(256, -2, np.float32)
    prepared.set_input("b", other)
    wanted = session.run({**feed, "b": other})["y"]
    check("another array", np.array_equal(prepared.run()["y"], wanted))
    refused("of another shape", "INVALID_ARGUMENT", "prepared with f32[256]",
            lambda: prepared.set_input("b", np.zeros(255, np.float32)))
    refused("of another name", "INVALID_ARGUMENT", "no input 'd'",
            lambda: prepared.set_input("d", other))
    out = np.zeros(256, np.float32)
    mine = session.prepare(feed, {"y": out})
    check("into an array of one's own", mine.run()["y"] is out and out.any())
    session.close()
    check("after the session was closed", np.array_equal(prepared.run()["y"], wanted))
    whole = graphengine.Session("tests/e2e/models/prepared.gt")
    x, y = np.array([0, 1, 0, 2], np.float32), np.zeros(2, np.float32)
    pick = whole.prepare([x], {"y": y}, entry="pick")
    check("where the data decide sizes", pick.run()["y"].tolist() == [1, 2])
    x[0] = 5
    refused("of another size", "INVALID_ARGUMENT", "at least 12", pick.run)
    refused("without an array", "INVALID_ARGUMENT", "has no buffer",
            lambda: whole.prepare([x], entry="pick"))


def placement(args):
    devsim = f"{(args.build / 'lib/samples/devsim.so').resolve()}:price=1;link_latency_ns=0"
    feed = {name: np.ones(256, np.float32) for name in "abc"}

    def devices(**options):
        session = graphengine.Session(THREE, engines=["ref", devsim], prices="analytic", **options)
        session.run(feed)
        return {n["node"]: n["chosen"]["device"] for n in session.explain()["nodes"]}
    check("pins", devices(pins=["*=devsim", "middle=ref"])
          == {"first": "devsim/sim:0", "middle": "ref/cpu", "last": "devsim/sim:0"})
    check("policy", set(devices(policy="priority").values()) == {"ref/cpu"})
    refused("a pin of nobody", "INVALID_ARGUMENT", "names the node 'nobody'",
            lambda: devices(pins="nobody=ref"))
    shapes = graphengine.Session("tests/e2e/models/inspect.gt").inputs()[0]
    check("names of sizes", shapes.dim_names == ("batch", None) and shapes.shape == (None, 4))


def asynchronous_runs(args):
    session = slow_session(args, 300000)  # a busy host gets as far as the checks before it is done
    session.run({"x": ONES})
    run = session.run_async({"x": ONES})
    check("run_async returns at once", not run.done())
    check("wait with a limit", run.wait(0.01) is False)
    try:
        run.result(timeout=0.01)
        check("result within a limit", False)
    except TimeoutError:
        check("result within a limit", True)
    check("wait", run.wait() and run.done())
    check("its sum", np.array_equal(run.result()["sum"], 2 * ONES))
    results, total = [], 2 * ONES
    session = slow_session(args)
    session.set_state("total", total)
    run = session.run_async({"x": ONES})
    threads = [threading.Thread(target=lambda: results.append(run.result())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check("several threads have one result", len(results) == 4
          and all(r is results[0] for r in results))
    session.run_async({"x": ONES})  # nobody keeps it: it is done nevertheless
    gc.collect()
    check("a run that nobody keeps", np.array_equal(session.get_state("total"), 4 * ONES))
    run = session.run_async({"x": ONES})
    session.close()
    check("a run after its session is closed", np.array_equal(run.result()["sum"], 5 * ONES))
    refused("a closed session", "FAILED_PRECONDITION", "closed", lambda: session.run({"x": ONES}))


def ending_runs(args):
    session = slow_session(args, 300000)
    session.run({"x": ONES})
    run = session.run_async({"x": ONES})
    run.cancel()
    refused("a cancelled run", "CANCELLED", "", run.result)
    check("a cancelled run is done", run.done())
    run = session.run_async({"x": ONES})
    session.cancel()
    refused("a cancelled session", "CANCELLED", "", run.result)
    session.set_time_limit(0.05)
    refused("a time limit", "DEADLINE_EXCEEDED", "", lambda: session.run({"x": ONES}))
    refused("a time limit of run_async", "DEADLINE_EXCEEDED", "",
            session.run_async({"x": ONES}).result)
    session.set_time_limit(0)
    check("states are those of the runs that ended well",
          np.array_equal(session.get_state("total"), ONES))
    check("the session stays in use", np.array_equal(session.run({"x": ONES})["sum"], 2 * ONES))


def the_end_of_the_process(args):
    """A process that ends while a run goes on ends well."""
    program = ("import sys; sys.path.insert(0, 'tests/e2e/python'); import pathlib, types\n"
               "import python_calls as c\n"
               f"s = c.slow_session(types.SimpleNamespace(build=pathlib.Path('{args.build}')))\n"
               "r = s.run_async({'x': c.ONES}); kept = s.run_async({'x': c.ONES}); sys.exit(7)\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    check(f"exit {done.returncode}: {done.stderr[-300:]}", done.returncode == 7)


def the_end_beside_daemons(_):
    """A process ends well while daemon threads make, use and drop runs and sessions of it."""
    program = ("import sys; sys.path.insert(0, 'tests/e2e/python'); import threading, time\n"
               "import python_calls as c, graphengine\n"
               "feed = {n: c.np.ones(256, c.np.float32) for n in 'abc'}\n"
               "s = graphengine.Session(c.THREE, engines='ref')\n"
               "def calls():\n  while True: s.run(feed)\n"
               "def runs():\n  while True: s.run_async(feed).result()\n"
               "def sessions():\n  while True: graphengine.Session(c.THREE, engines='ref')\n"
               "for work in (calls, runs, sessions):\n"
               "  threading.Thread(target=work, daemon=True).start()\n"
               "time.sleep(0.05); sys.exit(7)\n")
    for i in range(10):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        check(f"daemons {i}, exit {done.returncode}: {done.stderr[-300:]}", done.returncode == 7)


def awaiting(args):
    session = slow_session(args, 300000)

    async def several():
        first = await session.run_async({"x": ONES})
        waiting = asyncio.ensure_future(_outputs(session.run_async({"x": ONES})))
        await asyncio.sleep(0.01)
        waiting.cancel()
        try:
            await waiting
        except asyncio.CancelledError:
            return first, True
        return first, False

    async def _outputs(run):
        return await run
    first, cancelled = asyncio.run(several())
    check("await gives the outputs", np.array_equal(first["sum"], ONES))
    check("a task that is cancelled", cancelled)


def many_threads(_):
    session = graphengine.Session(THREE)
    bad = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(100):
            a, b, c = rng.standard_normal((3, 256), dtype=np.float32)
            if not np.allclose(session.run({"a": a, "b": b, "c": c})["y"], (a + b) * c + a,
                               atol=1e-5):
                bad.append(seed)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check("eight threads of one session", not bad)


def states(args):
    session = graphengine.Session(TWO)
    check("entries", session.entries == ["add", "scale"])
    info = session.states()[0]
    check("a state's type", (info.name, info.dtype, info.shape) == ("total", "float32", (32, 32)))
    session.run({"x": ONES})
    session.run({"x": ONES}, entry="add")
    check("a state is kept", np.array_equal(session.get_state("total"), 2 * ONES))
    y = session.run({"x": 3 * ONES}, entry="scale")["y"]
    check("another entry reads it", np.array_equal(y, 6 * ONES))
    kept = args.scratch / "states"
    session.save_states(kept)
    session.set_state("total", 7 * ONES)
    check("a state that is set", np.array_equal(session.get_state("total"), 7 * ONES))
    session.reset_states()
    check("a state that is reset", not session.get_state("total").any())
    session.restore_states(str(kept))
    check("states from a file", np.array_equal(session.get_state("total"), 2 * ONES))
    damaged = args.scratch / "damaged"
    damaged.write_bytes(kept.read_bytes()[:-9])
    refused("a damaged file of states", "DATA_CORRUPT", "",
            lambda: session.restore_states(damaged))
    refused("no file of states", "IO_ERROR", "nowhere",
            lambda: session.restore_states(args.scratch / "nowhere"))
    refused("an unknown state", "INVALID_ARGUMENT", "no state 'q'", lambda: session.get_state("q"))
    refused("a state of another shape", "INVALID_ARGUMENT", "",
            lambda: session.set_state("total", ONES[:4]))
    check("states are as they were", np.array_equal(session.get_state("total"), 2 * ONES))


def reports(_):
    with graphengine.Session(TWO, engines="ref") as session:
        session.compile({"x": (32, 32)})
        report = session.report()
        check("a report's numbers", report["nodes"] > 0 and report["engines"]["ref"] > 0)
        session.compile({"x": ONES}, entry="scale")
        check("an entry's report", session.report("scale")["nodes"] < report["nodes"])
        check("the text of a graph", "Transpose" in session.dump("load"))
        check("no such metadata", session.metadata("q") is None)
    refused("a stage that is none", "INVALID_ARGUMENT", "",
            lambda: graphengine.Session(TWO).dump("nowhere"))
    refused("shapes of an unknown input", "INVALID_ARGUMENT", "no input 'z'",
            lambda: graphengine.Session(TWO).compile({"z": (1,)}))
    refused("a shape that is none", "INVALID_ARGUMENT", "the shape of input 'x'",
            lambda: graphengine.Session(TWO).compile({"x": (1, "a")}))


def options(args):
    def make(**words):
        return lambda: graphengine.Session(THREE, **words)
    bad = "INVALID_ARGUMENT"
    refused("prices", bad, "prices is 'low', wanted analytic, cached, measure, shipped", make(prices="low"))
    refused("isa", bad, "isa is 'mmx'", make(isa="mmx"))
    refused("format", bad, "format is 'tf'", make(format="tf"))
    refused("denormals", bad, "denormals is 'x'", make(denormals="x"))
    refused("precision", bad, "precision is 'f16', wanted f32, bf16", make(precision="f16"))
    refused("precision and exact numerics", bad, "exact numerics",
            make(precision="bf16", numerics="exact"))
    refused("an unknown engine", "FAILED_PRECONDITION", "'nobody'", make(engines="nobody"))
    refused("engines that are no texts", bad, "engines wants texts", make(engines=[7]))
    refused("a cache of a model without past", "UNSUPPORTED", "", make(kv_cache=64))
    refused("threads below 0", bad, "threads is -1, wanted a whole number", make(threads=-1))
    refused("threads that are no number", bad, "threads is 'x'", make(threads="x"))
    refused("a limit that is no number", bad, "memory_limit is 1.5", make(memory_limit=1.5))
    refused("a time that is no number", bad, "time_limit is [], wanted a number", make(time_limit=[]))
    refused("a flag that is none", bad, "replan is 'no', wanted True or False", make(replan="no"))
    refused("a runtime that is none", bad, "wanted a graphengine.Runtime", make(runtime=4))
    refused("pins of another kind", bad, "pins is 5, wanted a text, or a list of texts", make(pins=5))
    refused("threads of a runtime", bad, "threads is -1", lambda: graphengine.Runtime(threads=-1))
    for call, words in ((make(engnes="ref"), "Session() has no keyword 'engnes'; did you mean 'engines'?"),
                        (make(nothing=1), "Session() has no keyword 'nothing'; it has model, format, engines"),
                        (lambda: graphengine.Session(), "Session() takes one model"),
                        (lambda: graphengine.Session(THREE, "ref"), "all else by keywords"),
                        (lambda: graphengine.Session(None), "not NoneType"),
                        (lambda: graphengine.Runtime(thread=1), "'thread'; did you mean 'threads'?")):
        try:
            call()
            check(f"a keyword that is none: {words}", False)
        except TypeError as error:
            check(f"a keyword that is none: {error}", words in str(error))
    session = graphengine.Session(THREE, engines=["ref"], prices="analytic", denormals="keep",
                                  numerics="exact", memory_limit=1 << 30, time_limit=60.0,
                                  skip_passes=["recognise-gelu"], max_streams=1)
    session.run([np.ones(256, np.float32)] * 3)
    check("options that hold", session.report()["engines"] == {"ref": 2}
          or set(session.report()["engines"]) == {"ref"})
    session = graphengine.Session(THREE, precision="bf16")
    check("a precision", session.run([np.ones(256, np.float32)] * 3) is not None)
    runtime = graphengine.Runtime()
    graphengine.Session(THREE, runtime=runtime, engines="ref")
    check("a runtime's engines", runtime.engine_count == 1)
    data = open(TWO, "rb").read()
    check("a model by its bytes", graphengine.Session(data, format="text").entries[0] == "add")
    refused("no file", "IO_ERROR", "nowhere.onnx",
            lambda: graphengine.Session(args.scratch / "nowhere.onnx"))


def errors(_):
    refused("a damaged model", "DATA_CORRUPT", "", lambda: graphengine.Session(b"\x07garbage"))
    # The model's fault is at a node, which the exception names.
    text = b"""ge 1
opset "" 28
fn main(x: f32[2,3], w: f32[5,7]) -> (y) {
  y = MatMul(x, w) "product"
}
entry infer "main" = main
"""
    refused("a node's fault", "INVALID_GRAPH", "MatMul",
            lambda: graphengine.Session(text, format="text"), node="product")
    try:
        graphengine.Session(text, format="text")
    except graphengine.Error as error:
        again = pickle.loads(pickle.dumps(error))
        check("an Error that was pickled", (again.code, again.node, str(again), again.status)
              == (error.code, error.node, str(error), 1))
        check("an Error is a RuntimeError", isinstance(error, RuntimeError))
    for call in (lambda: graphengine.Session(7), lambda: graphengine.Session(THREE, nothing=1)):
        try:
            call()
            check("a TypeError", False)
        except TypeError:
            check("a TypeError", True)


def observed(args):
    """Runs are recorded while a block lasts, for `ge replay`."""
    session = graphengine.Session(TWO)
    folder = args.scratch / "observed"
    with session.observe(folder, values="border") as same:
        check("observe hands the session on", same is session)
        for _ in range(2):
            session.run({"x": ONES})
    session.run({"x": ONES})
    files = sorted(f.name for f in folder.iterdir())
    check(f"two runs are recorded: {files}", files == ["run-000001.gecap", "run-000002.gecap"])
    with np.load(folder / "run-000002.gecap") as arrays:
        check("with their inputs", np.array_equal(arrays["input/0-x"], ONES))
    check("a capsule is a model", graphengine.Session(folder / "run-000001.gecap").entries
          == session.entries)
    session.observe(folder, every=2, first=1)
    for _ in range(4):
        session.run({"x": ONES})
    session.observe()
    session.run({"x": ONES})
    check("a third by every and first", len(list(folder.iterdir())) == 3)
    refused("values of no kind", "INVALID_ARGUMENT", "recorded values are 'much', wanted",
            lambda: session.observe(folder, values="much"))


if __name__ == "__main__":
    run_all([the_interpreter_goes_on, prepared_runs, placement, asynchronous_runs, ending_runs,
             the_end_of_the_process, the_end_beside_daemons, awaiting, many_threads, states,
             reports, options, errors, observed])
