#!/usr/bin/env python3
"""`ge train` of LeNet on Fashion-MNIST, five epochs by Adam: five seeds beside PyTorch from the same
first weights and in the same order of samples, and one of them killed at twenty random steps and
resumed, which must end at the same bytes. The last line counts checks. Runs in a Python that has
PyTorch: build/venv-torch. Needs `ge`, the package dataset-fashion-mnist, onnx."""
import argparse
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
from torch import nn

import train_torch  # puts tools/bench/training and tests/e2e/training where modules are found
import train_nets
from train_tool import order_of, step_of

EPOCHS, BATCH, SEEDS = 5, 64, [1, 2, 3, 4, 5]
STEPS_A_RUN = EPOCHS * (60000 // BATCH)
KILLS, BEHIND, LEAST = 20, 1.0, 87.0  # points of accuracy


class Checks:
    passed = failed = 0

    def check(self, good, text):
        self.passed += good
        self.failed += not good
        print(f"{'ok' if good else 'FAILED'}  {text}", flush=True)


def command(ge, net, seed, *more):
    return [str(ge), "train", str(net), "--data", "fashion-mnist", "--optimizer", "adam", "--lr",
            "1e-3", "--epochs", str(EPOCHS), "--batch", str(BATCH), "--seed", str(seed), "--json",
            *map(str, more)]


def ours(ge, net, seed, *more):
    """The report of a whole run: the last line of --json."""
    done = subprocess.run(command(ge, net, seed, *more), check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout.splitlines()[-1])


def theirs(weights, seed, train, test):
    """PyTorch's accuracy on the test pictures, in percent."""
    model = train_torch.layers("lenet")
    with torch.no_grad():
        for p, w in zip(model.parameters(), weights.values()):
            p.copy_(torch.from_numpy(w))
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(EPOCHS):
        order = torch.tensor(order_of(seed, epoch, len(train[1]), BATCH))
        for step in range(len(train[1]) // BATCH):
            rows = order[step * BATCH:(step + 1) * BATCH]
            opt.zero_grad()
            nn.functional.cross_entropy(model(train[0][rows]), train[1][rows]).backward()
            opt.step()
    with torch.no_grad():
        right = sum((model(test[0][i:i + 500]).argmax(1) == test[1][i:i + 500]).sum().item()
                    for i in range(0, len(test[1]), 500))
    return 100 * right / len(test[1])


def read(kind):
    x = train_torch.idx(f"{kind}-images-idx3", 16).reshape(-1, 1, 28, 28)
    y = train_torch.idx(f"{kind}-labels-idx1", 8)
    return (torch.from_numpy(x.astype(np.float32) / np.float32(255)),
            torch.from_numpy(y.astype(np.int64)))


def accuracies(ge, scratch, checks):
    train, test = read("train"), read("t10k")
    pairs = []
    for seed in SEEDS:
        weights = train_nets.NETS["lenet"](scratch / "net.onnx", seed=seed)
        report = ours(ge, scratch / "net.onnx", seed)
        mine = 100 * report["test_accuracy"]
        pairs.append((mine, theirs(weights, seed, train, test)))
        print(f"    seed {seed}: {mine:.2f} %, PyTorch {pairs[-1][1]:.2f} %, "
              f"{report['steps_per_s']:.0f} steps/s", flush=True)
    mine, torchs = (statistics.mean(side) for side in zip(*pairs))
    checks.check(mine >= torchs - BEHIND, f"the mean, {mine:.2f} %, beside PyTorch's {torchs:.2f} %")
    checks.check(mine >= LEAST, f"the mean, {mine:.2f} %, is at least {LEAST} %")


def killed(ge, scratch, checks, seed):
    """Killed at KILLS steps drawn by `seed`, each time resumed: the same bytes as in one go."""
    net, folder = scratch / "net.onnx", scratch / "checkpoint"
    train_nets.NETS["lenet"](net, seed=1)
    whole, part = scratch / "whole.onnx", scratch / "part.onnx"
    ours(ge, net, 1, "--export", whole)
    run = ["--checkpoint", folder, "--checkpoint-every", 25, "--resume"]
    at, kills = [], 0
    for goal in sorted(random.Random(seed).sample(range(25, STEPS_A_RUN - 25), KILLS)):
        child = subprocess.Popen(command(ge, net, 1, *run), stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        end = time.monotonic() + 120
        while child.poll() is None and time.monotonic() < end and step_of(folder) + 25 < goal:
            time.sleep(0.001)
        time.sleep(0.01)  # into the steps behind a checkpoint
        kills += child.poll() is None
        child.send_signal(signal.SIGKILL)
        child.wait()
        at.append(step_of(folder))
    ours(ge, net, 1, *run, "--export", part)
    checks.check(kills == KILLS, f"killed {kills} times, seed {seed}; went on from steps {at}")
    checks.check(whole.read_bytes() == part.read_bytes(), "and ended at the same bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ge", default=train_torch.ROOT / "build/release/bin/ge")
    parser.add_argument("--seed", type=int, default=1, help="draws the steps of the kills")
    a = parser.parse_args()
    for name in ("GE_CACHE_DIR", "GE_PROBE"):  # plans as users have them, on each day the same
        os.environ.pop(name, None)
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch:
        killed(a.ge, pathlib.Path(scratch), checks, a.seed)
        accuracies(a.ge, pathlib.Path(scratch), checks)
    print(f"{checks.passed} passed, {checks.failed} failed, 0 skipped")
    return checks.failed > 0


if __name__ == "__main__":
    sys.exit(main())
