#!/usr/bin/env python3
"""Large graphs of small nodes: chains, ladders, fans and small products are loaded, planned and run;
the work and the peak memory of that grow no faster than they should, and 100,000 nodes stay below
4 GB.

Work is compared as instructions that valgrind counts at two sizes, since they are the same whatever
else the machine does: five times the nodes may take 7 times the instructions (linear: 5, quadratic:
25). Larger sizes are run for their memory; the time printed beside it is judged by nobody.

Needs the built `ge` and valgrind. Prints a row a graph and size, each fault and, last, the counts.

Examples:
  tests/e2e/plans/scale.py
  tests/e2e/plans/scale.py --nodes 1000 5000 10000 20000 100000 --stages
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[3]
ENGINES = ["ref", "native,onednn,openblas,ref"]
COUNTED = (600, 3000)  # nodes of the graphs whose instructions are counted
# All values of a fan are live at once: MEMORY looks at each pair of up to some 3,000 of them, and
# goes on more coarsely beyond, so that 6,000 nodes take less than 3,000.
# Engines take a chain of one operator as one pattern, whose parts were gone through for each of its nodes;
# with fewer nodes the rest hid that (9.2 times from 3,000 to 15,000, since then 4.9).
COUNTED_OF = {"fan": (1200, 6000), "relus": (2000, 10000)}
MOST_GROWTH = 7        # of instructions from the first to the second; 4.4 to 6.3 were seen
MOST_MB = 4096     # at any size
MB_A_NODE = 0.035  # above 100 MB; 0.01 is what they take
WIDTH = 64         # elements of a value
READERS = 1000     # of one Sum


class Graph:
    """Text of a graph that grows node by node."""

    def __init__(self, shape=f"{WIDTH}"):
        self.shape, self.constants, self.nodes = shape, [], []

    def constant(self, shape, value):
        self.constants.append(f"const w{len(self.constants)} : f32[{shape}] = splat {value:.9g}")
        return f"w{len(self.constants) - 1}"

    def add(self, op, *inputs):
        self.nodes.append((f"v{len(self.nodes)}", op, inputs))
        return self.nodes[-1][0]

    def text(self):
        last = self.nodes[-1][0]
        lines = [f"  {out} = {op}({', '.join(inputs)})" for out, op, inputs in self.nodes]
        return "\n".join(["ge 1", 'opset "" 28', *self.constants,
                          f"fn main(x: f32[{self.shape}]) -> ({last}) {{", *lines, "}",
                          'entry infer "main" = main', ""])


def chain(nodes):
    g, at = Graph(), "x"
    for i in range(nodes // 2):
        at = g.add("Relu", g.add("Add", at, g.constant(WIDTH, i * 1e-6)))
    return g


def relus(nodes):
    g, at = Graph(), "x"
    for _ in range(nodes):
        at = g.add("Relu", at)
    return g


def ladder(nodes):
    """Each step has a residual."""
    g, at = Graph(), "x"
    for i in range(nodes // 3):
        at = g.add("Add", at, g.add("Relu", g.add("Mul", at, g.constant(WIDTH, i * 1e-6))))
    return g


def fan(nodes):
    """All read one value, and one value reads all."""
    g = Graph()
    ends = [g.add("Relu", g.add("Add", "x", g.constant(WIDTH, i * 1e-6))) for i in range(nodes // 2)]
    while len(ends) > 1:
        ends = [g.add("Sum", *ends[i:i + READERS]) for i in range(0, len(ends), READERS)]
    return g


def products(nodes):
    g, at = Graph("4,8"), "x"
    for i in range(nodes // 3):
        at = g.add("MatMul", at, g.constant("8,8", 0.1 + i * 1e-6))
        at = g.add("Relu", g.add("Add", at, g.constant("8", i * 1e-6)))
    return g


GRAPHS = {"chain": chain, "relus": relus, "ladder": ladder, "fan": fan, "products": products}


def run(ge, model, engines, stages, timeout):
    """(CPU seconds, peak MB, report, stage times) or (None, ..., why)."""
    env = {**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed"}
    args = [ge, "run", model, "--engines", engines, "--prices", "analytic", "--threads", "1",
            "--json", "--times"]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        done = subprocess.Popen(args, stdout=out, stderr=err, env=env)
        timer = threading.Timer(timeout, done.kill)
        timer.start()
        _, status, usage = os.wait4(done.pid, 0)
        timer.cancel()
        done.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        text, notes = out.read(), err.read()
    peak = usage.ru_maxrss / 1024
    if done.returncode != 0:
        return None, peak, {}, f"exit code {done.returncode}: {notes.strip()[-300:]}"
    times = {}
    for name, ms in re.findall(r"^  (\S+) +([\d.]+) ms$", notes, re.M):
        times[name] = times.get(name, 0) + float(ms)
    shown = [f"{k} {v / 1000:.2f}" for k, v in times.items() if stages and v >= 20]
    return usage.ru_utime + usage.ru_stime, peak, json.loads(text), "  ".join(shown)


def instructions(ge, model, engines):
    """(Instructions of loading, planning and one run, or None; what valgrind said)."""
    env = {**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed"}
    args = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
            ge, "run", model, "--engines", engines, "--prices", "analytic", "--threads", "1",
            "--isa", "avx2"]  # valgrind knows no AVX-512
    done = subprocess.run(args, env=env, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    good = done.returncode == 0 and found
    return (int(found[1]) if good else None), f"exit code {done.returncode}: {done.stderr[-300:]}"


def check_growth(ge, folder, name, check):
    """Instructions at both sizes of COUNTED, with each list of engines."""
    sizes = COUNTED_OF.get(name, COUNTED)
    models = [folder / f"counted_{name}{n}.gt" for n in sizes]
    for model, n in zip(models, sizes):
        model.write_text(GRAPHS[name](n).text())
    for engines in ENGINES:
        what = f"{name} by {engines}"
        counts = [instructions(ge, model, engines) for model in models]
        bad = [why for count, why in counts if count is None]
        check(not bad, f"{what}: {bad and bad[0]}")
        if bad:
            continue
        few, many = (count for count, _ in counts)
        print(f"{name:<9} {engines:<27} {few / 1e6:.0f} M instructions with {sizes[0]} nodes, "
              f"{many / 1e6:.0f} M with {sizes[1]}: {many / few:.2f} times", flush=True)
        check(many <= MOST_GROWTH * few, f"{what}: {sizes[1]} nodes take {many / few:.2f} times "
              f"the instructions of {sizes[0]}; wanted at most {MOST_GROWTH}")


def check_graph(args, folder, name, check):
    models = {}
    for n in args.nodes:
        models[n] = folder / f"{name}{n}.gt"
        models[n].write_text(GRAPHS[name](n).text())
    for engines in ENGINES:
        for n in args.nodes:
            what = f"{name} of {n} nodes by {engines}"
            cpu, mb, report, stages = run(args.ge, models[n], engines, args.stages, args.timeout)
            check(cpu is not None, f"{what}: {stages}")
            if cpu is None:
                break
            print(f"{name:<9} {engines:<27} {n:>6} {cpu:>7.2f} {mb:>5.0f} "
                  f"{report['segments']:>8}  {stages}", flush=True)
            most = min(MOST_MB, 100 + MB_A_NODE * n)
            check(mb <= most, f"{what}: {mb:.0f} MB, wanted at most {most:.0f}")
            arena, live = report["arena_bytes"], report["max_live_bytes"]
            check(arena <= 1.1 * live + 4096,
                  f"{what}: an arena of {arena} bytes, where {live} are live at most")
    check_growth(args.ge, folder, name, check)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ge", default=ROOT / "build/release/bin/ge", type=pathlib.Path)
    parser.add_argument("--graphs", nargs="+", default=list(GRAPHS), choices=list(GRAPHS))
    parser.add_argument("--nodes", nargs="+", type=int, default=[20000])
    parser.add_argument("--stages", action="store_true", help="also seconds of stages over 20 ms")
    parser.add_argument("--timeout", type=float, default=300, help="seconds a run")
    args = parser.parse_args()
    results = []

    def check(good, what):
        results.append(bool(good))
        if not good:
            print(f"FAILED {what}")

    print(f"{'graph':<9} {'engines':<27} {'nodes':>6} {'CPU s':>7} {'MB':>5} {'segments':>8}")
    with tempfile.TemporaryDirectory() as temporary, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = pathlib.Path(temporary)
        for done in [pool.submit(check_graph, args, folder, name, check) for name in args.graphs]:
            done.result()
    passed = sum(results)
    failed = len(results) - passed
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
