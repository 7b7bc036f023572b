#!/usr/bin/env python3
"""Nets as PyTorch's exporter writes them, trained by the pass `train` and by PyTorch itself in
float64: one with BatchNormalization, residuals and strides, one with attention. Runs in a Python that
has PyTorch: build/venv-torch."""
import os
import pathlib
import sys
import tempfile
import warnings

import numpy as np
import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tools/bench"))
from ge_session import GeSession  # noqa: E402

STEPS, BATCH, BOUND = 20, 8, 1e-10


class Residual(nn.Module):
    shape, classes = (3, 8, 8), 10

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.second = nn.Conv2d(8, 8, 3, padding=1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(8), nn.BatchNorm2d(8)])
        self.down, self.head = nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.Linear(16, 10)

    def forward(self, x):
        x = torch.relu(self.norms[0](self.first(x)))
        x = torch.relu(x + self.norms[1](self.second(x)))
        return self.head(torch.relu(self.down(x)).mean((2, 3)))


class Attention(nn.Module):
    shape, classes = (9, 6), 5

    def __init__(self):
        super().__init__()
        self.embed, self.place = nn.Linear(6, 16), nn.Parameter(torch.randn(9, 16))
        self.norms = nn.ModuleList([nn.LayerNorm(16), nn.LayerNorm(16)])
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.wide, self.narrow, self.head = nn.Linear(16, 32), nn.Linear(32, 16), nn.Linear(16, 5)

    def forward(self, x):
        x = self.embed(x) + self.place
        q, k, v = (t.reshape(-1, 9, 2, 8).transpose(1, 2)
                   for t in self.qkv(self.norms[0](x)).chunk(3, -1))
        a = torch.softmax(q @ k.transpose(-1, -2) / 8 ** 0.5, -1) @ v
        x = x + self.out(a.transpose(1, 2).reshape(-1, 9, 16))
        x = x + self.narrow(nn.functional.gelu(self.wide(self.norms[1](x))))
        return self.head(x.mean(1))


def export(model, path):
    """In eval mode, as for inference. First values are moved apart: the exporter makes one
    initialiser of equal ones, and the scales of two norms would be one weight."""
    with torch.no_grad():
        for value in [*model.parameters(), *model.buffers()]:
            if value.is_floating_point():
                value += 0.1 * torch.rand_like(value)
    model.eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, (torch.randn((BATCH, *model.shape)).double(),), str(path),
                          input_names=["x"], output_names=["z"], opset_version=17, dynamo=False,
                          dynamic_axes={"x": {0: "N"}, "z": {0: "N"}}, do_constant_folding=False,
                          training=torch.onnx.TrainingMode.PRESERVE)
    return model.train()


def difference(kind, scratch):
    """The most by which a loss differs, and the first and last loss."""
    torch.manual_seed(0)
    model = export(kind().double(), scratch / "net.onnx")
    opt = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.01)
    session = GeSession(scratch / "net.onnx", plugins="grad", engines="ref", entry="train_step",
                        passes="train:loss=softmax-ce;optimizer=adamw;lr=0.01;weight-decay=0.01")
    r, off, losses = np.random.default_rng(0), [], []
    x, y = r.standard_normal((BATCH, *kind.shape)), r.integers(0, kind.classes, BATCH)
    for _ in range(STEPS):
        loss = nn.functional.cross_entropy(model(torch.from_numpy(x)), torch.from_numpy(y))
        opt.zero_grad()
        loss.backward()
        opt.step()
        ours = dict(zip(session.outputs, session.run({"x": x, "label": y})))["loss"]
        off.append(abs(float(ours) - loss.item()))
        losses.append(loss.item())
    session.close()
    return max(off), losses[0], losses[-1]


def main():
    os.environ.update(GE_CACHE_DIR="off", GE_PROBE="fixed")
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for kind in (Residual, Attention):
            off, first, last = difference(kind, pathlib.Path(scratch))
            good = off <= BOUND and last < first
            passed, failed = passed + bool(good), failed + (not good)
            print(f"{'ok' if good else 'FAILED'}  {kind.__name__}: loss from {first:.4f} to "
                  f"{last:.4f} in {STEPS} steps, at most {off:.2g} from PyTorch's, wanted {BOUND:g}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
