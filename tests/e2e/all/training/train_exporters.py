#!/usr/bin/env python3
"""Nets as people export them, by both of PyTorch's exporters and by the recipes of docs/training.md,
trained by `ge train` and by PyTorch itself: 50 losses in float32. PyTorch is given the masks that our
Dropout draws, which the page says how to calculate. Runs in a Python that has PyTorch and onnxscript:
build/venv-torch."""
import argparse
import csv
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnx
import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tests/e2e/training"))
from train_tool import order_of  # noqa: E402

STEPS, BATCH, SEED, BOUND = 50, 16, 1, 1e-5
GOLDEN, SECOND, MASK = 0x9e3779b97f4a7c15, 0x94d049bb133111eb, 2 ** 64 - 1


class Cnn(nn.Module):
    shape, classes = (1, 16, 16), 10
    options = {"optimizer": "sgd", "lr": 0.02, "momentum": 0.9}

    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)])
        self.norms = nn.ModuleList([nn.BatchNorm2d(8), nn.BatchNorm2d(8)])
        self.pool, self.drop = nn.AvgPool2d(2), nn.Dropout(0.25)
        self.head = nn.Linear(8 * 16, 10)

    def forward(self, x):
        for conv, norm in zip(self.convs, self.norms):
            x = self.pool(torch.relu(norm(conv(x))))
        return self.head(self.drop(x.flatten(1)))


class Lstm(nn.Module):
    shape, classes = (12, 7), 5
    options = {"optimizer": "adam", "lr": 0.002}

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LSTM(7, 16, batch_first=True), nn.LSTM(16, 16, batch_first=True)
        self.drop, self.head = nn.Dropout(0.2), nn.Linear(16, 5)

    def forward(self, x):
        x = self.drop(self.first(x)[0])
        return self.head(self.second(x)[0][:, -1])


class Gru(Lstm):
    def __init__(self):
        super().__init__()
        self.first = nn.GRU(7, 16, batch_first=True, bidirectional=True)
        self.second = nn.GRU(32, 16, batch_first=True)


class Transformer(nn.Module):
    shape, classes = (10, 6), 5
    options = {"optimizer": "adamw", "lr": 0.001, "weight-decay": 0.01}

    def __init__(self):
        super().__init__()
        self.embed, self.place = nn.Linear(6, 16), nn.Parameter(torch.randn(1, 10, 16) / 10)
        layer = nn.TransformerEncoderLayer(16, 4, 32, 0.1, batch_first=True)
        layer.self_attn.dropout = 0.0  # it is drawn within one function of PyTorch's
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(16, 5)

    def forward(self, x):
        return self.head(self.layers(self.embed(x) + self.place).mean(1))


class Words(nn.Module):
    """A table of words that is the last projection, too."""
    shape, classes = None, 11
    options = {"optimizer": "adam", "lr": 0.002}

    def __init__(self):
        super().__init__()
        self.embed, self.wide = nn.Embedding(11, 16), nn.Linear(16, 16)
        self.norms = nn.ModuleList([nn.LayerNorm(16), nn.LayerNorm(16)])
        self.out = nn.Linear(16, 11, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, x):
        x = self.norms[0](self.embed(x))
        return self.out(self.norms[1](x + torch.tanh(self.wide(x)))[:, -1])


def old(model, x, path, **how):
    torch.onnx.export(model, (x,), str(path), dynamo=False, input_names=["x"], output_names=["y"],
                      dynamic_axes={"x": {0: "N"}, "y": {0: "N"}}, do_constant_folding=False, **how)


def old_training(model, x, path):
    old(model.train(), x, path, training=torch.onnx.TrainingMode.TRAINING)


def old_eval(model, x, path):
    old(model.eval(), x, path, training=torch.onnx.TrainingMode.PRESERVE)


def new_training(model, x, path, **how):
    torch.onnx.export(model.train(), (x,), str(path), dynamo=True, input_names=["x"],
                      output_names=["y"], dynamic_shapes=({0: torch.export.Dim("N")},),
                      verbose=False, **{"optimize": False, **how})


def new_merged(model, x, path):
    new_training(model, x, path, optimize=True)


def quiet(export, model, x, path):
    before = {k: v.clone() for k, v in model.state_dict().items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        export(model, x, path)
    # The exporter with dynamo=False runs the model: its statistics are the file's.
    found = {i.name: onnx.numpy_helper.to_array(i) for i in onnx.load(path).graph.initializer}
    model.load_state_dict({k: torch.from_numpy(found[k].copy()) if k in found else v
                           for k, v in before.items()})


def mix(z):
    """All but the last step of splitmix64's finalizer."""
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & MASK
    z = (z ^ z >> 27) * SECOND & MASK
    return z


class Drawn:
    """What Dropout draws: the mask of the n-th Dropout of a step."""

    def __init__(self, on):
        self.on, self.step, self.site = on, 0, 0

    def __call__(self, x, p=0.5, training=True, inplace=False):
        if not self.on or not training or p == 0:
            return x
        self.site += 1
        key = mix((self.step * GOLDEN + ((SEED << 20) + self.site) * SECOND) & MASK)
        z = np.arange(x.numel(), dtype=np.uint64) * np.uint64(GOLDEN) + np.uint64(key)
        for by, factor in ((30, 0xbf58476d1ce4e5b9), (27, SECOND)):
            z = (z ^ z >> np.uint64(by)) * np.uint64(factor)
        u = (z >> np.uint64(40)).astype(np.float32) * np.float32(2 ** -24)
        p = np.float32(p)
        mask = np.where(u >= p, np.float32(1) / (np.float32(1) - p), np.float32(0))
        return x * torch.from_numpy(mask.reshape(x.shape))


def torch_losses(model, x, y, drops):
    options = {k.replace("-", "_"): v for k, v in model.options.items()}
    kind = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam,
            "adamw": torch.optim.AdamW}[options.pop("optimizer")]
    opt, drawn = kind(model.parameters(), **options), Drawn(drops)
    order, losses, before = order_of(SEED, 0, len(y), BATCH), [], nn.functional.dropout
    model.train()
    nn.functional.dropout = drawn
    try:
        for step in range(STEPS):
            rows, drawn.step, drawn.site = order[step * BATCH:(step + 1) * BATCH], step, 0
            loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
    finally:
        nn.functional.dropout = before
    return losses


def ge_train(ge, kind, scratch, *more):
    options = [t for k, v in kind.options.items() for t in (f"--{k}", str(v))]
    return subprocess.run(
        [str(ge), "train", str(scratch / "net.onnx"), "--data", str(scratch / "d.npz"), "--batch",
         str(BATCH), "--steps", str(STEPS), "--seed", str(SEED), "--log",
         f"csv:{scratch / 'log.csv'}", *options, *more], capture_output=True, text=True, check=False)


def samples(kind, scratch):
    r, n = np.random.default_rng(0), STEPS * BATCH
    x = r.integers(0, 11, (n, 6)) if kind.shape is None else \
        r.standard_normal((n, *kind.shape)).astype(np.float32)
    y = r.integers(0, kind.classes, n)
    np.savez(scratch / "d.npz", x_train=x, y_train=y, x_test=x[:40], y_test=y[:40])
    return torch.from_numpy(x), torch.from_numpy(y)


class Checks:
    def __init__(self, ge):
        self.ge, self.passed, self.failed = ge, 0, 0

    def check(self, what, good, text):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        print(f"{'ok' if good else 'FAILED'}  {what}: {text}")

    def losses(self, kind, export, scratch):
        what, log = f"{kind.__name__} by {export.__name__}", scratch / "log.csv"
        x, y = samples(kind, scratch)
        torch.manual_seed(0)
        model = kind()
        quiet(export, model, x[:2], scratch / "net.onnx")
        log.unlink(missing_ok=True)
        done = ge_train(self.ge, kind, scratch, "--export", str(scratch / "out.onnx"))
        if done.returncode != 0:
            return self.check(what, False, done.stderr)
        with open(log, encoding="utf-8") as f:
            ours = [float(row["loss"]) for row in csv.DictReader(f)]
        theirs = torch_losses(model, x, y, export is not old_eval)
        off = max(abs(p - q) for p, q in zip(ours, theirs))
        self.check(what, len(ours) == STEPS and off <= BOUND,
                   f"{len(ours)} losses, from {ours[0]:.4f} to {ours[-1]:.4f}, at most {off:.2g} "
                   f"from PyTorch's, wanted {BOUND:g}")
        return self.again(what, model, x[:40], scratch)

    def again(self, what, model, x, scratch):
        """The trained file answers as the trained model, but for PyTorch's unbiased variances."""
        np.save(scratch / "x.npy", x.numpy())
        done = subprocess.run(
            [str(self.ge), "run", str(scratch / "out.onnx"), "--input", f"x={scratch / 'x.npy'}",
             "--output", str(scratch / "out")], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return self.check(f"{what}: its export", False, done.stderr)
        with torch.no_grad():
            wanted = model.eval()(x).numpy()
        off = np.abs(np.load(scratch / "out/y.npy") - wanted).max()
        bound = 0.05 if isinstance(model, Cnn) else 1e-3
        return self.check(f"{what}: its export", off <= bound,
                          f"at most {off:.2g} from PyTorch's, wanted {bound:g}")

    def merged(self, kind, scratch):
        """The new exporter's own defaults make one weight of equal ones: said by name."""
        x, _ = samples(kind, scratch)
        torch.manual_seed(0)
        quiet(new_merged, kind(), x[:2], scratch / "net.onnx")
        done = ge_train(self.ge, kind, scratch)
        self.check(f"{kind.__name__} by the defaults of dynamo=True", done.returncode == 2 and
                   "untie=" in done.stderr and "optimize=False" in done.stderr, done.stderr.strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ge", default=ROOT / "build/release/bin/ge")
    parser.add_argument("--only", default="")
    a = parser.parse_args()
    os.environ.update(GE_CACHE_DIR="off", GE_PROBE="fixed")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    checks = Checks(a.ge)
    with tempfile.TemporaryDirectory() as scratch:
        for kind in (Cnn, Lstm, Gru, Transformer, Words):
            if a.only not in kind.__name__:
                continue
            for export in (new_training, old_training, old_eval):
                checks.losses(kind, export, pathlib.Path(scratch))
        if not a.only:
            checks.merged(Transformer, pathlib.Path(scratch))
            checks.merged(Words, pathlib.Path(scratch))
    print(f"{checks.passed} passed, {checks.failed} failed, 0 skipped")
    return checks.failed > 0


if __name__ == "__main__":
    sys.exit(main())
