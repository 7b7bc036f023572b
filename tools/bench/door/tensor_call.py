#!/usr/bin/env python3
"""What does a call on Tensors of 256 floats cost: `x + y` at once, and a jitted tanh(a * 2 + b), beside torch
at once and jax? Sides are processes that take turns on one core; times are CPU times of the calling thread,
the least of blocks, results waited for. Prints a JSON line a round and side, then for each ratio its median
with a 95 % bootstrap interval and the bound.

  tensor_call.py --torch torch/bin/python --jax jax/bin/python --ours build/python/venv/bin/python

A ratio fails where its interval lies wholly above the bound: then the exit code is 1."""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time

BOUNDS = (("at once", "ge", "torch", 1.0), ("at once", "ge", "jax", 0.2), ("jitted", "ge", "jax", 0.25))


def ours():
    import graphengine as ge

    jitted = ge.jit(lambda a, b: ge.tanh(a * 2 + b))
    return ge.asarray, jitted, lambda x: x


def torchs():
    import torch

    torch.set_num_threads(1)
    return torch.as_tensor, None, lambda x: x


def jaxs():
    import jax
    import jax.numpy as jnp

    jitted = jax.jit(lambda a, b: jnp.tanh(a * 2 + b))
    return jnp.asarray, jitted, lambda x: x.block_until_ready()


def least(call, blocks, calls):
    """us of a call, of the fastest block."""
    times = []
    for _ in range(blocks):
        begin = time.thread_time()
        for _ in range(calls):
            call()
        times.append((time.thread_time() - begin) / calls * 1e6)
    return min(times)


def side(name, blocks, calls):
    import numpy as np

    made, jitted, done = {"ge": ours, "torch": torchs, "jax": jaxs}[name]()
    rng = np.random.default_rng(0)
    x, y = (made(rng.standard_normal(256).astype(np.float32)) for _ in range(2))
    found = {"at once": least(lambda: done(x + y), blocks, calls)}
    if jitted:
        found["jitted"] = least(lambda: done(jitted(x, y)), blocks, calls)
    print(json.dumps(found))


def ratio(ours_, theirs):
    """The median ratio of rounds, and its 95 % bootstrap interval."""
    rng, rows = random.Random(0), [x / y for x, y in zip(ours_, theirs)]
    drawn = sorted(statistics.median(rng.choices(rows, k=len(rows))) for _ in range(4000))
    return statistics.median(rows), drawn[100], drawn[3899]


def rounds(a):
    found = {}
    for _ in range(a.rounds):
        for name, python in (("ge", a.ours), ("torch", a.torch), ("jax", a.jax)):
            if not python:
                continue
            own = {k: v for k, v in os.environ.items() if name == "ge" or k not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
            done = subprocess.run([python, __file__, "--side", name, "--blocks", str(a.blocks), "--calls", str(a.calls)],
                                  check=True, stdout=subprocess.PIPE, text=True, env=own)
            row = json.loads(done.stdout.splitlines()[-1])
            print(json.dumps({"side": name, **{k: round(v, 3) for k, v in row.items()}}), flush=True)
            for what, us in row.items():
                found.setdefault((what, name), []).append(us)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", default=sys.executable, help="a Python with the package graphengine")
    parser.add_argument("--torch", default="", help="a Python with torch")
    parser.add_argument("--jax", default="", help="a Python with jax")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--blocks", type=int, default=9)
    parser.add_argument("--calls", type=int, default=10000)
    parser.add_argument("--side", help="one side, in this process")
    a = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    if a.side:
        side(a.side, a.blocks, a.calls)
        return
    found, failed = rounds(a), False
    for what, mine, theirs, bound in BOUNDS:
        if (what, theirs) in found:
            middle, low, high = ratio(found[what, mine], found[what, theirs])
            failed |= low > bound
            print(f"{what}, {mine} / {theirs}: {middle:.3f} [{low:.3f}, {high:.3f}], wanted {bound}")
    sys.exit(failed)


main()
