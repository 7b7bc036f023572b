#!/usr/bin/env python3
"""How long does a training step of LeNet take that is written in Python, and its first call, beside torch,
jax.jit and `ge train`? Batch 64, SGD with momentum 0.9, one thread. Sides are processes that take turns on
one core. Times are CPU times of the process: a step's is the median of blocks of steps; the first call's has
trace, plan and compilation in it; that of `ge train` is what more steps add to a run. Prints a JSON line a
round and side, then for each ratio its median with a 95 % bootstrap interval and the bound.

  python_step.py --torch torch/bin/python --jax jax/bin/python --ours build/python/venv/bin/python
  python_step.py --rounds 9 --blocks 20

A ratio fails where its interval lies wholly above the bound: then the exit code is 1."""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

ROOT = pathlib.Path(__file__).resolve().parents[3]
BATCH, RATE, MOMENTUM = 64, 0.005, 0.9
BOUNDS = (("step", "ge", "torch", 0.45), ("step", "ge", "ge train", 1.05), ("first", "ge", "jax", 0.15),
          ("step", "ge", "jax", None), ("first", "ge", "torch", None))


def data():
    import numpy as np
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 512)
    return (rng.standard_normal((512, 1, 28, 28)) + y[:, None, None, None] / 10).astype(np.float32), y


def ours():
    import graphengine as ge
    from graphengine import nn

    class LeNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
            self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)
            self.pool, self.relu, self.flatten = nn.MaxPool2d(2), nn.ReLU(), nn.Flatten()

        def forward(self, x):
            x = self.pool(self.relu(self.conv1(x)))
            x = self.flatten(self.pool(self.relu(self.conv2(x))))
            return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))

    net, loss = LeNet(), nn.CrossEntropyLoss()
    optimizer = ge.optim.SGD(net, RATE, momentum=MOMENTUM)

    @ge.jit
    def train(x, y):
        value, gradients = ge.value_and_grad(lambda: loss(net(x), y), wrt=net)()
        optimizer(gradients)
        return value
    return ge.asarray, train, float


def torchs():
    import torch
    from torch import nn

    torch.set_num_threads(1)
    net = nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
                        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
                        nn.Linear(84, 10))
    loss, optimizer = nn.CrossEntropyLoss(), torch.optim.SGD(net.parameters(), RATE, MOMENTUM)

    def train(x, y):
        optimizer.zero_grad()
        value = loss(net(x), y)
        value.backward()
        optimizer.step()
        return value.detach()
    return torch.as_tensor, train, float


def jaxs():
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax import lax

    rng = np.random.default_rng(1)
    weights = [jnp.asarray(rng.standard_normal(s).astype(np.float32) * 0.05) for s in (
        (6, 1, 5, 5), (6,), (16, 6, 5, 5), (16,), (400, 120), (120,), (120, 84), (84,), (84, 10), (10,))]

    def layer(x, w, b, pad):
        x = lax.conv(x, w, (1, 1), pad) + b[:, None, None]
        return lax.reduce_window(jax.nn.relu(x), -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    def loss(w, x, y):
        x = layer(layer(x, w[0], w[1], "SAME"), w[2], w[3], "VALID")
        x = jax.nn.relu(x.reshape(x.shape[0], -1) @ w[4] + w[5])
        logs = jax.nn.log_softmax(jax.nn.relu(x @ w[6] + w[7]) @ w[8] + w[9])
        return -jnp.mean(jnp.take_along_axis(logs, y[:, None], 1))

    @jax.jit
    def step(w, v, x, y):
        value, g = jax.value_and_grad(loss)(w, x, y)
        v = [MOMENTUM * a + b for a, b in zip(v, g)]
        return value, [a - RATE * b for a, b in zip(w, v)], v
    kept = [weights, [0 * w for w in weights]]

    def train(x, y):
        value, *kept[:] = step(*kept, x, y)
        return value
    return jnp.asarray, train, float


def side(name, blocks, block):
    """CPU times of this process, ms."""
    made, train, number = {"ge": ours, "torch": torchs, "jax": jaxs}[name]()
    x, y = data()
    batches = [(made(x[i:i + BATCH]), made(y[i:i + BATCH])) for i in range(0, len(x), BATCH)]
    begin = time.process_time()
    losses = [number(train(*batches[0]))]
    first, times = time.process_time() - begin, []
    for _ in range(blocks):
        begin = time.process_time()
        for i in range(block):
            value = train(*batches[i % len(batches)])
        losses.append(number(value))
        times.append((time.process_time() - begin) / block)
    if not min(losses[1:]) < losses[0]:
        sys.exit(f"{name} does not learn: {losses}")
    print(json.dumps({"first": first * 1e3, "step": statistics.median(times) * 1e3}))


def cpu_of(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def by_tool(a, folder):
    """What a step adds to a run of `ge train`."""
    command = [a.ge, "train", folder / "lenet.onnx", "--data", folder / "data.npz", "--optimizer", "sgd", "--lr",
               str(RATE), "--momentum", str(MOMENTUM), "--batch", str(BATCH), "--threads", "1", "--no-test",
               "--epochs", "1000", "--no-shuffle", "--steps"]
    few, many = 8, 8 + a.blocks * a.block
    return {"step": (cpu_of([*command, str(many)]) - cpu_of([*command, str(few)])) / (many - few) * 1e3}


def ratio(ours_, theirs):
    """The median ratio of rounds, and its 95 % bootstrap interval."""
    import random
    rng, rows = random.Random(0), [x / y for x, y in zip(ours_, theirs)]
    drawn = sorted(statistics.median(rng.choices(rows, k=len(rows))) for _ in range(4000))
    return statistics.median(rows), drawn[100], drawn[3899]


def rounds(a, folder):
    import numpy as np
    import train_nets
    x, y = data()
    np.savez(folder / "data.npz", x=x, label=y)
    train_nets.lenet(folder / "lenet.onnx")
    pythons = {"ge": a.ours, "torch": a.torch, "jax": a.jax}
    found = {}
    for _ in range(a.rounds):
        for name in (*pythons, "ge train"):
            if name in pythons and not pythons[name]:
                continue
            if name == "ge train":
                row = by_tool(a, folder)
            else:
                own = {k: v for k, v in os.environ.items() if name == "ge" or k not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
                done = subprocess.run([pythons[name], __file__, "--side", name, "--blocks", str(a.blocks), "--block",
                                       str(a.block)], check=True, stdout=subprocess.PIPE, text=True, env=own)
                row = json.loads(done.stdout.splitlines()[-1])
            found.setdefault(name, []).append(row)
            print(json.dumps({"side": name, **{k: round(v, 3) for k, v in row.items()}}), flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", default=sys.executable, help="a Python with the package graphengine")
    parser.add_argument("--torch", default="", help="a Python with torch")
    parser.add_argument("--jax", default="", help="a Python with jax")
    parser.add_argument("--ge", default=ROOT / "build/release/bin/ge")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--blocks", type=int, default=15)
    parser.add_argument("--block", type=int, default=20, help="steps")
    parser.add_argument("--side", help="one side, in this process")
    a = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    if a.side:
        return side(a.side, a.blocks, a.block)
    with tempfile.TemporaryDirectory() as folder:
        found = rounds(a, pathlib.Path(folder))
    failed = False
    for what, we, they, bound in BOUNDS:
        if they not in found:
            continue
        middle, low, high = ratio([r[what] for r in found[we]], [r[what] for r in found[they]])
        failed |= bound is not None and low > bound
        print(f"{what}: {we} / {they} {middle:.3f} [{low:.3f}, {high:.3f}], "
              f"medians {statistics.median(r[what] for r in found[we]):.2f} and "
              f"{statistics.median(r[what] for r in found[they]):.2f} ms"
              + (f", wanted at most {bound}" if bound else ""))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
