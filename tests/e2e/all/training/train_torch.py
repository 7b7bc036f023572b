#!/usr/bin/env python3
"""`ge train` beside PyTorch: LeNet and an MLP on Fashion-MNIST, the same first weights and the same
order of samples: the losses of 200 steps are the same but for rounding. Runs in a Python that has
PyTorch: build/venv-torch. Needs `ge`, the package dataset-fashion-mnist, onnx.

In float64 any rate will do. In float32 LeNet's losses part at rates at which it learns fast, and
PyTorch's part from its own without oneDNN, by 0.14 at step 200 of sgd with lr 0.01: of 100,000 windows
of its pools a step, in one or the other the two greatest numbers differ by less than rounding, so that
a gradient goes another way, and the net makes that grow. So there float32 has a low rate. So it has in
the MLP with AdamW: at lr 1e-3 one of 65,536 Relus a step, about zero, went another way after 120 to 130
steps in four of six sets of engines, whose weights until then were as near to float64's as the others'."""
import argparse
import csv
import gzip
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path[:0] = [str(ROOT / "tools/bench/training"), str(ROOT / "tests/e2e/training")]
import train_nets  # noqa: E402
from train_tool import order_of  # noqa: E402

DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")
STEPS, BATCH, SEED = 200, 64, 1
# Of --optimizer: what both are given; the dtype, and by how much losses may differ.
FAST = {"lr": 0.01, "momentum": 0.9}
RUNS = [("lenet", "sgd", {"lr": 0.002, "momentum": 0.9}, np.float32, 1e-3),
        ("mlp", "sgd", FAST, np.float32, 1e-3),
        ("mlp", "adamw", {"lr": 2e-5, "weight-decay": 0.01}, np.float32, 1e-3),
        ("mlp", "adamw", {"lr": 1e-3, "weight-decay": 0.01}, np.float64, 1e-9),
        ("lenet", "sgd", FAST, np.float64, 1e-9), ("lenet", "adam", {"lr": 1e-3}, np.float64, 1e-9)]


def idx(name, head):
    return np.frombuffer(gzip.decompress((DATA / f"{name}-ubyte.gz").read_bytes())[head:], np.uint8)


def layers(net):
    linear = [nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)]
    if net == "lenet":
        linear = [nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5),
                  nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(),
                  nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)]
    return nn.Sequential(*linear)


def torch_losses(net, weights, optimizer, options, x, y):
    model = layers(net)
    dtype = next(iter(weights.values())).dtype
    model = model.to(torch.float64 if dtype == np.float64 else torch.float32)
    with torch.no_grad():
        for p, w in zip(model.parameters(), weights.values()):
            p.copy_(torch.from_numpy(w))
    options = {k.replace("-", "_"): v for k, v in options.items()}
    opt = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam,
           "adamw": torch.optim.AdamW}[optimizer](model.parameters(), **options)
    order, losses = order_of(SEED, 0, len(y), BATCH), []
    for step in range(STEPS):
        rows = order[step * BATCH:(step + 1) * BATCH]
        batch = torch.from_numpy((x[rows].astype(np.float32) / np.float32(255)).astype(dtype))
        loss = nn.functional.cross_entropy(
            model(batch.reshape(BATCH, 1, 28, 28) if net == "lenet" else batch),
            torch.from_numpy(y[rows].astype(np.int64)))
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses


def our_losses(ge, path, optimizer, options, scratch):
    log = scratch / "log.csv"
    subprocess.run([str(ge), "train", str(path), "--data", "fashion-mnist", "--optimizer",
                    optimizer, "--steps", str(STEPS), "--batch", str(BATCH), "--seed", str(SEED),
                    "--log", f"csv:{log}", *[t for k, v in options.items()
                                             for t in (f"--{k}", str(v))]],
                   check=True, stdout=subprocess.DEVNULL)
    with open(log, encoding="utf-8") as f:
        return [float(row["loss"]) for row in csv.DictReader(f)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ge", default=ROOT / "build/release/bin/ge")
    a = parser.parse_args()
    os.environ.update(GE_CACHE_DIR="off", GE_PROBE="fixed")
    x, y = idx("train-images-idx3", 16).reshape(-1, 784), idx("train-labels-idx1", 8)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for net, optimizer, options, dtype, bound in RUNS:
            weights = train_nets.NETS[net](scratch / "net.onnx", seed=4, dtype=dtype)
            ours = our_losses(a.ge, scratch / "net.onnx", optimizer, options, scratch)
            theirs = torch_losses(net, weights, optimizer, options, x, y)
            off = max(abs(p - q) for p, q in zip(ours, theirs))
            good = len(ours) == STEPS and off <= bound
            passed, failed = passed + bool(good), failed + (not good)
            print(f"{'ok' if good else 'FAILED'}  {net} {optimizer} {np.dtype(dtype)}: "
                  f"{len(ours)} losses, from {ours[0]:.4f} to {ours[-1]:.4f}, at most {off:.2g} "
                  f"from PyTorch's, wanted {bound:g}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
