#!/usr/bin/env python3
"""Large graphs of small nodes: chains, ladders, fans and small products are loaded, planned and run;
the time of one CPU and the peak memory of that grow no faster than they should, and 100,000 nodes
stay below 4 GB.

What is compared is CPU time of the process at two sizes, so that a busy machine does not matter: five
times the nodes may take 9 times the time (linear: 5, quadratic: 25), the least of three runs counts.

Needs the built `ge` alone. Prints a row a graph and size, each fault and, last, the counts.

Examples:
  tests/e2e/scale.py
  tests/e2e/scale.py --nodes 1000 5000 10000 20000 100000 --stages
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENGINES = ["ref", "native,onednn,openblas,ref"]
MOST_GROWTH = 1.8  # of time, for each time that the nodes are as many again, over proportion
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
        return "\n".join(["ge 1", 'opset "" 27', *self.constants,
                          f"fn main(x: f32[{self.shape}]) -> ({last}) {{", *lines, "}",
                          'entry infer "main" = main', ""])


def chain(nodes):
    g, at = Graph(), "x"
    for i in range(nodes // 2):
        at = g.add("Relu", g.add("Add", at, g.constant(WIDTH, i * 1e-6)))
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


GRAPHS = {"chain": chain, "ladder": ladder, "fan": fan, "products": products}


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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ge", default=ROOT / "build/release/bin/ge", type=pathlib.Path)
    parser.add_argument("--graphs", nargs="+", default=list(GRAPHS), choices=list(GRAPHS))
    parser.add_argument("--nodes", nargs="+", type=int, default=[4000, 20000])
    parser.add_argument("--stages", action="store_true", help="also seconds of stages over 20 ms")
    parser.add_argument("--timeout", type=float, default=300, help="seconds a run")
    args = parser.parse_args()
    passed = failed = 0

    def check(good, what):
        nonlocal passed, failed
        passed, failed = passed + bool(good), failed + (not good)
        if not good:
            print(f"FAILED {what}")

    print(f"{'graph':<9} {'engines':<27} {'nodes':>6} {'CPU s':>7} {'MB':>5} {'segments':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name in args.graphs:
            models = {}
            for n in args.nodes:
                models[n] = pathlib.Path(folder) / f"{name}{n}.gt"
                models[n].write_text(GRAPHS[name](n).text())
            for engines in ENGINES:
                before = None
                for n in args.nodes:
                    rounds = 3 if n <= 20000 else 1
                    runs = [run(args.ge, models[n], engines, args.stages, args.timeout)
                            for _ in range(rounds)]
                    what = f"{name} of {n} nodes by {engines}"
                    bad = [r for r in runs if r[0] is None]
                    check(not bad, f"{what}: {bad and bad[0][3]}")
                    if bad:
                        break
                    cpu, mb, report, stages = min(runs, key=lambda r: r[0])
                    print(f"{name:<9} {engines:<27} {n:>6} {cpu:>7.2f} {mb:>5.0f} "
                          f"{report['segments']:>8}  {stages}", flush=True)
                    most = min(MOST_MB, 100 + MB_A_NODE * n)
                    check(mb <= most, f"{what}: {mb:.0f} MB, wanted at most {most:.0f}")
                    arena, live = report["arena_bytes"], report["max_live_bytes"]
                    check(arena <= 1.1 * live + 4096,
                          f"{what}: an arena of {arena} bytes, where {live} are live at most")
                    if before:
                        times = n / before[0]
                        growth, most = cpu / before[1], times * MOST_GROWTH
                        check(growth <= most, f"{what}: {cpu:.2f} s of CPU, {growth:.1f} times those of "
                                              f"{before[0]} nodes; wanted at most {most:.1f} times")
                    before = (n, cpu)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
