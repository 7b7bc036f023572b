#!/usr/bin/env python3
"""Deriving gradients takes work in proportion to the graph, and a function that is called many times
is derived once.

Work is instructions that valgrind counts while passes that derive run, with what is verified and typed
behind them: the same whatever else the machine does. Five times the nodes of a chain may take 7 times
as many (linear: 5, quadratic: 25). 96 calls of a layer may take 1.2 times what one call takes and what
95 more calls of a function of one node take, where the layer is linear, so that a call hands nothing
on to its way back. A call of one that is not has as many outputs more as the layer has values that
its way back reads, however often it is derived: there 95 calls of a function that hands on as many
are what one call is put beside."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools/bench/training"))
from grad_scale import chain, handing, layers  # noqa: E402

GE = pathlib.Path(os.environ.get("GE_BUILD", ROOT / "build/release")) / "bin/ge"
NODES, GROWTH = (400, 2000), 7
CALLS, LAYER, SHARE = 96, 200, 1.2


def instructions(folder, text):
    """In millions."""
    (folder / "model.gt").write_text(text)
    env = {**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed"}
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
         "--toggle-collect=ge::Runner::RunOnce(*", GE, "dump", folder / "model.gt", "--engines",
         "ref", "--isa", "avx2", "--plugins", "grad", "--pass", "grad:wrt=x;name=g", "--to", "rewrite", "-o",
         folder / "out"], env=env, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found or int(found[1]) == 0:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr[-300:]}")
    functions = len(re.findall(r"^fn ", (folder / "out").read_text(), re.M))
    return int(found[1]) / 1e6, functions


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        def count(text):
            return instructions(pathlib.Path(scratch), text)
        (few, _), (many, _) = (count(chain(n)) for n in NODES)
        rows = [(many <= GROWTH * few, f"a chain of {NODES[0]} nodes takes {few:.0f} M instructions, "
                 f"of {NODES[1]} {many:.0f} M: {many / few:.2f} times, wanted at most {GROWTH}")]
        (one, of_one), (all_calls, of_all) = (
            count(layers(n, LAYER, linear=True)) for n in (1, CALLS))
        calls = count(layers(CALLS, 1, True))[0] - count(layers(1, 1, True))[0]
        share = all_calls / (one + calls)
        rows.append((share <= SHARE, f"{CALLS} calls of a layer of {LAYER} nodes take "
                     f"{all_calls:.0f} M instructions, one {one:.0f} M and so many calls of one node "
                     f"{calls:.0f} M more: {share:.2f} times both, wanted at most {SHARE}"))
        one, all_calls = (count(layers(n, LAYER))[0] for n in (1, CALLS))
        calls = count(handing(CALLS, LAYER // 2))[0] - count(handing(1, LAYER // 2))[0]
        share = all_calls / (one + calls)
        rows.append((share <= SHARE, f"{CALLS} calls of a layer that keeps {LAYER // 2} values take "
                     f"{all_calls:.0f} M instructions, one {one:.0f} M and so many calls that hand on "
                     f"as many {calls:.0f} M more: {share:.2f} times both, wanted at most {SHARE}"))
        rows.append((of_one == of_all, f"{of_one} functions with one call, {of_all} with {CALLS}; "
                     "wanted as many"))
    for good, what in rows:
        passed, failed = passed + good, failed + (not good)
        print(f"{'ok' if good else 'FAILED'}  {what}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
