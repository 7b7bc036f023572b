#!/usr/bin/env python3
"""How much memory do train, eval and predict of one net take that is written in Python, beside torch? 100 MB
of convolutions and Linear, Adam, batch 32, one thread; sides are processes that take turns. Prints a JSON
line a round and side: MB resident above what the process had before the net, at the end and at the peak, and
of ours the Variables, the states by the session's report, and what is resident without the programs' arenas;
then the ratios with their bounds. Exit code 1: one is above its bound in the median.

  python_memory.py --torch torch/bin/python --ours build/python/venv/bin/python
  python_memory.py --rounds 5 --batch 64"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

MB = 1e6


def status(key):
    """Bytes of this process."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) * 1024
    raise KeyError(key)


def layers(nn):
    net = []
    for inputs, outputs in ((3, 64), (64, 128), (128, 256)):
        net += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*net, nn.Flatten(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 2048), nn.ReLU(),
                         nn.Linear(2048, 10))


def ours(x, y):
    import numpy as np

    import graphengine as ge
    from graphengine import nn

    float(ge.jit(lambda v: ge.sum(v))(ge.asarray(x)))
    base = status("VmRSS")
    net, loss = layers(nn), nn.CrossEntropyLoss()
    optimizer = ge.optim.Adam(net, 1e-4)

    @ge.jit
    def train(x, y):
        value, gradients = ge.value_and_grad(lambda: loss(net(x), y), wrt=net)()
        optimizer(gradients)
        return value

    @ge.jit
    def evaluate(x, y):
        return loss(net(x), y)

    predict = ge.jit(lambda x: ge.argmax(net(x), axis=1))
    losses = [float(train(x, y)) for _ in range(3)]
    net.eval()
    losses.append(float(evaluate(x, y)))
    predict(x).numpy()
    net.train()
    again = float(train(x, y))
    if not abs(again - losses[-1]) < 1e-4 * again or not again < losses[0]:
        sys.exit(f"the loss of training is {again} where that of evaluation is {losses}")
    reports = [json.loads(f._latest.session.report_text()) for f in (train, evaluate, predict)]
    held = sum(int(np.prod(v.shape)) * v.dtype.itemsize for v in (
        *net.variables().values(), *optimizer.variables().values()))
    resident = status("VmRSS") - base
    return {"resident": resident, "peak": status("VmHWM") - base, "variables": held,
            "states": reports[0]["state_bytes"], "apart": resident - sum(r["arena_bytes"] for r in reports)}


def torchs(x, y):
    import torch
    from torch import nn

    torch.set_num_threads(1)
    x, y = torch.as_tensor(x), torch.as_tensor(y)
    float((x * 2).sum())
    base = status("VmRSS")
    net, loss = layers(nn), nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(net.parameters(), 1e-4)

    def train():
        optimizer.zero_grad()
        value = loss(net(x), y)
        value.backward()
        optimizer.step()
        return float(value.detach())
    for _ in range(3):
        train()
    net.eval()
    with torch.no_grad():
        float(loss(net(x), y))
        net(x).argmax(1).numpy()
    net.train()
    train()
    return {"resident": status("VmRSS") - base, "peak": status("VmHWM") - base}


def side(name, batch):
    import numpy as np
    rng = np.random.default_rng(0)
    made = {"ge": ours, "torch": torchs}[name](
        rng.standard_normal((batch, 3, 32, 32)).astype(np.float32), rng.integers(0, 10, batch))
    print(json.dumps({k: round(v / MB, 1) for k, v in made.items()}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", default=sys.executable, help="a Python with the package graphengine")
    parser.add_argument("--torch", required="--side" not in sys.argv, help="a Python with torch")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--side", help="one side, in this process")
    a = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    if a.side:
        return side(a.side, a.batch)
    found = {"ge": [], "torch": []}
    for _ in range(a.rounds):
        for name, python in (("ge", a.ours), ("torch", a.torch)):
            own = {k: v for k, v in os.environ.items() if name == "ge" or k not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
            done = subprocess.run([python, __file__, "--side", name, "--batch", str(a.batch)], check=True,
                                  stdout=subprocess.PIPE, text=True, env=own)
            found[name].append(json.loads(done.stdout.splitlines()[-1]))
            print(json.dumps({"side": name, **found[name][-1]}), flush=True)
    mine = {k: statistics.median(r[k] for r in found["ge"]) for k in found["ge"][0]}
    peak = statistics.median(r["peak"] for r in found["torch"])
    rows = (("states by the report / variables", mine["states"] / mine["variables"], 1.02),
            ("resident without arenas / variables", mine["apart"] / mine["variables"], None),
            ("peak / torch's", mine["peak"] / peak, 1.0))
    for words, value, bound in rows:
        print(f"{words}: {value:.3f}" + (f", wanted at most {bound}" if bound else ""))
    return int(any(bound and value > bound for _, value, bound in rows))


if __name__ == "__main__":
    sys.exit(main())
