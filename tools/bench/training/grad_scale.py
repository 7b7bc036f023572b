#!/usr/bin/env python3
"""What deriving gradients costs: of chains of small nodes, and of equal layers that are called.

  grad_scale.py                         times a load with and without the pass `grad`
  grad_scale.py --nodes 10000 100000    chains of these lengths
  grad_scale.py --layers 1 96           calls of one layer of 20 nodes

A row: nodes or layers, ms of the load as it is, ms that the pass adds to it (the pass, and that its
result is verified and typed), each the median of --rounds: of the processor, and by the clock. Times are
printed and judged by nobody; tests/e2e/gradients/grad_scale.sh compares instructions.
"""
import argparse
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from ge_session import GeSession  # noqa: E402

HEAD = ["ge 1", 'opset "" 28', 'opset "ge" 1', "const w : f32[16] = splat 0.9",
        "const m : f32[16,16] = splat 0.05"]
PASS = "grad:wrt=x+w;name=g"


def body(nodes, first, weight="w", linear=False):
    """Lines of a chain of so many nodes, and what its last one makes. Of a linear one the way back
    reads nothing but the weight."""
    lines, at = [], first
    for i in range(nodes):
        op = (f"Mul({at}, {weight})", f"Neg({at})" if linear else f"Tanh({at})",
              f"Add({at}, {weight})", f"Neg({at})" if linear else f"Sigmoid({at})")[i % 4]
        lines.append(f"  v{i} = {op}")
        at = f"v{i}"
    return lines, at


def text(lines, functions=()):
    return "\n".join([*HEAD, "fn main(x: f32[4,16]) -> (y) {", *lines, "}", *functions,
                      'entry infer "main" = main', ""])


def chain(nodes):
    lines, last = body(nodes - 1, "x")
    return text([*lines, f"  y = ReduceSum({last}) {{keepdims=0}}"])


def layers(calls, nodes=20, linear=False):
    """`calls` calls of one function of so many nodes, with the same weights."""
    lines, at = [], "x"
    for i in range(calls):
        lines.append(f"  c{i} = ge.Call({at}, w) calls {{fn=layer}}")
        at = f"c{i}"
    inner, last = body(nodes, "a", "b", linear)
    layer = ["fn layer(a: f32[4,16], b: f32[16]) -> (" + last + ") {", *inner, "}"]
    return text([*lines, f"  y = ReduceSum({at}) {{keepdims=0}}"], layer)


def handing(calls, values):
    """Calls of a function that hands so many values on to its way back, and does little else."""
    lines, at = [], "x"
    for i in range(calls):
        lines.append(f"  c{i} = ge.Call({at}, w) calls {{fn=layer}}")
        at = f"c{i}"
    kept = [f"t{k}" for k in range(values)]
    layer = ["fn layer(a: f32[4,16], b: f32[16]) -> (o) {", *(f"  {t} = Tanh(a)" for t in kept),
             f"  o = Sum({', '.join(kept)})", "}"]
    return text([*lines, f"  y = ReduceSum({at}) {{keepdims=0}}"], layer)


def load_ms(path, passes):
    start = time.process_time(), time.perf_counter()
    session = GeSession(path, plugins="grad" if passes else "", passes=passes, engines="ref")
    ms = [(time.process_time() - start[0]) * 1e3, (time.perf_counter() - start[1]) * 1e3]
    session.close()
    return ms


def measure(path, rounds):
    def median(passes):
        return [statistics.median(ms) for ms in zip(*(load_ms(path, passes) for _ in range(rounds)))]
    plain, derived = median(""), median(PASS)
    return plain, [d - p for p, d in zip(plain, derived)]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="*", default=[1000, 10000, 100000])
    parser.add_argument("--layers", type=int, nargs="*", default=[1, 96])
    parser.add_argument("--rounds", type=int, default=3)
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "model.gt"
        for what, sizes, make in (("nodes", a.nodes, chain), ("layers", a.layers, layers)):
            for size in sizes:
                path.write_text(make(size))
                plain, more = measure(path, a.rounds)
                print(f"{size:>7} {what:<7} load {plain[0]:>8.1f} ms ({plain[1]:.1f} by the clock), "
                      f"grad {more[0]:>8.1f} ms more ({more[1]:.1f})", flush=True)


if __name__ == "__main__":
    main()
