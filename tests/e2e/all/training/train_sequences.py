#!/usr/bin/env python3
"""A character GPT of four layers and an LSTM over characters, trained by the pass `train` and by
PyTorch with the same first weights and the same batches: 200 losses, which in float64 differ by 1e-6
at most and in float32 by 1e-3. Runs in a Python that has PyTorch: build/venv-torch.

The text is one that the script writes: products of two numbers in words."""
import argparse
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

STEPS, BATCH, LENGTH, WIDTH = 200, 8, 32, 32
BOUND = {np.float64: 1e-6, np.float32: 1e-3}
SMALL = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
         "fifteen sixteen seventeen eighteen nineteen").split()
TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety".split()


def words(n):
    if n < 20:
        return SMALL[n]
    tens, ones = divmod(n, 10)
    return TENS[tens - 1] + (" " + SMALL[ones] if ones else "")


def corpus():
    """Characters as numbers, and how many there are of them."""
    text = "".join(f"{words(a)} times {words(b)} is {words(a * b)}\n"
                   for a in range(10) for b in range(10))
    letters = sorted(set(text))
    return np.array([letters.index(c) for c in text]), len(letters)


TEXT, LETTERS = corpus()


class Block(nn.Module):
    """Norms ahead of attention and of what follows it, as in GPT-2."""

    def __init__(self, heads=4):
        super().__init__()
        self.heads = heads
        self.ahead, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.join = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (p.reshape(BATCH, LENGTH, self.heads, -1).transpose(1, 2)
                   for p in self.qkv(self.ahead(x)).chunk(3, -1))
        scores = q @ k.transpose(-1, -2) / (WIDTH // self.heads) ** 0.5
        later = torch.triu(torch.ones(LENGTH, LENGTH, dtype=torch.bool), 1)
        y = scores.masked_fill(later, -1e9).softmax(-1) @ v
        x = x + self.join(y.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH))
        return x + self.down(nn.functional.gelu(self.up(self.between(x))))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.word, self.place = nn.Embedding(LETTERS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(4)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, LETTERS)

    def forward(self, ids):
        return self.head(self.norm(self.blocks(self.word(ids) + self.place.weight)))


class Lstm(nn.Module):
    """Two layers of cells, which begin with zeros in each batch."""

    def __init__(self):
        super().__init__()
        self.word, self.head = nn.Embedding(LETTERS, WIDTH), nn.Linear(WIDTH, LETTERS)
        self.cells = nn.LSTM(WIDTH, WIDTH, num_layers=2, batch_first=True)

    def forward(self, ids):
        return self.head(self.cells(self.word(ids))[0])


OPTIMIZERS = {
    "adamw": ("adamw;lr=0.001;weight-decay=0.01",
              lambda p: torch.optim.AdamW(p, lr=1e-3, weight_decay=0.01)),
    "momentum": ("sgd;lr=0.1;momentum=0.9", lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9))}


def batches():
    """Stretches of the text, and the character behind each of theirs."""
    r = np.random.default_rng(5)
    for _ in range(STEPS):
        at = r.integers(0, len(TEXT) - LENGTH - 1, BATCH)[:, None] + np.arange(LENGTH)
        yield TEXT[at], TEXT[at + 1]


def export(model, path):
    """Inference as it is exported for training; see train_exported.py about first values."""
    with torch.no_grad():
        for value in model.parameters():
            value += 0.01 * torch.rand_like(value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, (torch.from_numpy(TEXT[:BATCH * LENGTH].reshape(BATCH, LENGTH)),),
                          str(path), input_names=["ids"], output_names=["logits"],
                          opset_version=17, dynamo=False, do_constant_folding=False,
                          training=torch.onnx.TrainingMode.PRESERVE)


def both(kind, optimizer, dtype, scratch):
    """Losses of all steps, ours and PyTorch's."""
    ours_by, theirs_by = OPTIMIZERS[optimizer]
    torch.manual_seed(1)
    model = kind().to(torch.float64 if dtype == np.float64 else torch.float32)
    export(model, scratch / "net.onnx")
    opt = theirs_by(model.parameters())
    session = GeSession(scratch / "net.onnx", plugins="grad", entry="train_step",
                        passes=f"train:loss=softmax-ce;optimizer={ours_by}")
    ours, theirs = [], []
    for ids, following in batches():
        found = dict(zip(session.outputs, session.run({"ids": ids, "label": following})))
        ours.append(float(found["loss"]))
        loss = nn.functional.cross_entropy(model(torch.from_numpy(ids)).flatten(0, 1),
                                           torch.from_numpy(following).flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        theirs.append(loss.item())
    session.close()
    return ours, theirs


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nets", nargs="*", default=["gpt", "lstm"])
    nets = parser.parse_args().nets
    os.environ.update(GE_CACHE_DIR="off", GE_PROBE="fixed")
    failed, passed = 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        for kind in (k for k in (Gpt, Lstm) if k.__name__.lower() in nets):
            for optimizer in OPTIMIZERS:
                for dtype, bound in BOUND.items():
                    ours, theirs = both(kind, optimizer, dtype, pathlib.Path(scratch))
                    off = max(abs(p - q) for p, q in zip(ours, theirs))
                    good = len(ours) == STEPS and off <= bound and theirs[-1] < 0.6 * theirs[0]
                    failed, passed = failed + (not good), passed + good
                    print(f"{'ok' if good else 'FAILED'}  {kind.__name__.lower()} {optimizer} "
                          f"{np.dtype(dtype)}: {len(ours)} losses, from {theirs[0]:.4f} to "
                          f"{theirs[-1]:.4f}, at most {off:.2g} from PyTorch's, wanted {bound:g}",
                          flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
