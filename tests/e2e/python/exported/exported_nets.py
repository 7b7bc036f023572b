"""Networks and functions for export. NETS: (name, what is exported, specs by arguments, sizes of free ones, drawn
values by argument where they are no floats)."""
import numpy as np

import graphengine as ge
from graphengine import nn

RNG = np.random.default_rng(11)
F = nn.functional


class Residual(nn.Module):
    """Convolutions over images of any size."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 6, 3, padding=1), nn.Conv2d(6, 3, 3, padding="same")
        self.norm = nn.GroupNorm(2, 6)

    def forward(self, x):
        return x + self.second(F.silu(self.norm(self.first(x))))


class Recurrent(nn.Module):
    """A layer over sequences of any length, and its last state."""

    def __init__(self, kind):
        super().__init__()
        self.layer = kind(4, 5, batch_first=True)

    def forward(self, x):
        out, state = self.layer(x)
        return out, state[0] if isinstance(state, tuple) else state


class Block(nn.Module):
    """Of a transformer: words of any number."""

    def __init__(self):
        super().__init__()
        self.embed, self.norm = nn.Embedding(11, 8), nn.LayerNorm(8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.widen, self.narrow = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, words):
        x = self.embed(words)
        y = self.norm(x)
        mixed = self.attention(y, y, y)
        x = x + (mixed[0] if isinstance(mixed, tuple) else mixed)
        return x + self.narrow(F.gelu(self.widen(self.norm(x))))


class Decoder(nn.Module):
    """Chooses a word after the other until it is 0, or ten times."""

    def __init__(self):
        super().__init__()
        self.embed, self.cell, self.head = nn.Embedding(7, 6), nn.Linear(6, 6), nn.Linear(6, 7)

    def forward(self, word):
        state, out, n = self.embed(word), [], 0
        while n < 10 and word > 0:
            state = ge.tanh(self.cell(state) + self.embed(word))
            word = ge.argmax(self.head(state), axis=-1)
            out.append(state)
            n = n + 1
        return ge.sum(state), n


class Upsample(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.pool = nn.ConvTranspose2d(2, 3, 2, stride=2), nn.AvgPool2d(2)

    def forward(self, x):
        return self.pool(F.leaky_relu(self.up(x)))


class Heads(nn.Module):
    """Two inputs, results by names."""

    def __init__(self):
        super().__init__()
        self.body, self.value, self.policy = nn.Linear(6, 8), nn.Linear(8, 1), nn.Linear(8, 4)

    def forward(self, state, scale):
        x = ge.tanh(self.body(state)) * scale
        return {"value": ge.squeeze(self.value(x), axis=-1), "policy": F.log_softmax(self.policy(x))}


def clipped(x, low, high):
    """Rows whose sum is too great are scaled; two free sizes."""
    total = ge.sum(x)
    if total > high:
        x = x * (high / total)
    elif total < low:
        x = x + (low - total) / x.shape[0]
    return x, ge.max(x, axis=0)


def powers(x, n):
    """As many rounds as a tensor says, with a branch in each."""
    total = x
    for i in range(n):
        if i % 2 == 0:
            total = total * 0.5 + x
        else:
            total = ge.maximum(total, x * 0.25)
    return total


def bisect(x):
    """A loop in a loop that breaks."""
    out = x * 0
    for i in range(3):
        low, high = x * 0, x + 1
        while ge.max(high - low) > 0.01:
            middle = (low + high) / 2
            above = middle * middle > x
            low, high = ge.where(above, low, middle), ge.where(above, middle, high)
        out = out + high * (i + 1)
    return out


def picked(x, i):
    """Rows by index, slices of a free axis, and stacked ones."""
    rows = x[i]
    return ge.concat([rows, x[::2]]), ge.stack([x[0], x[-1]]), x[:, 1:].T


def distances(x, y):
    """Broadcasts of two free sizes."""
    return ge.sqrt(ge.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1))


def normalized(x):
    """Moments, and a mean of a free size."""
    x = x - ge.sum(x, axis=0) / x.shape[0]
    return x / (ge.std(x, axis=0, keepdims=True) + 1e-3), ge.argsort(x[:, 0])


def collatz(n):
    """Integers alone."""
    steps = n * 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps = steps + 1
    return steps


def stepped(x, slope):
    """An optimizer's step, whose operator is made of ONNX's."""
    return ge.ops.ge.MomentumStep(x, x * 0, slope, ge.asarray(0.1), momentum=0.9, outputs=2)


def ints(high, *shape):
    return lambda free: RNG.integers(0, high, [free.get(n, n) for n in shape])


I64, F64 = ge.int64, ge.float64
TWO = ({"n": 2}, {"n": 5})
NETS = [
    ("residual", Residual(), {"x": ge.Spec("n", 3, "h", "w")}, ({"n": 1, "h": 4, "w": 6}, {"n": 2, "h": 7, "w": 5}), {}),
    ("lstm", Recurrent(nn.LSTM), {"x": ge.Spec("n", "t", 4)}, ({"n": 2, "t": 3}, {"n": 1, "t": 6}), {}),
    ("gru", Recurrent(nn.GRU), {"x": ge.Spec("n", "t", 4)}, ({"n": 2, "t": 3}, {"n": 1, "t": 6}), {}),
    ("rnn", Recurrent(nn.RNN), {"x": ge.Spec("n", "t", 4)}, ({"n": 2, "t": 3}, {"n": 1, "t": 6}), {}),
    ("block", Block(), {"words": ge.Spec("n", "t", dtype=I64)}, ({"n": 2, "t": 3}, {"n": 1, "t": 6}),
     {"words": ints(11, "n", "t")}),
    ("decoder", Decoder(), {"word": ge.Spec(dtype=I64)}, ({}, {}), {"word": ints(7)}),
    ("upsample", Upsample(), {"x": ge.Spec("n", 2, 5, 5)}, TWO, {}),
    ("heads", Heads(), {"state": ge.Spec("n", 6), "scale": ge.Spec()}, TWO, {}),
    ("conv1d", nn.Sequential(nn.Conv1d(2, 4, 3, stride=2), nn.BatchNorm1d(4), nn.ELU()), {"x": ge.Spec("n", 2, "t")},
     ({"n": 2, "t": 9}, {"n": 3, "t": 12}), {}),
    ("rms", nn.Sequential(nn.RMSNorm(6), nn.Linear(6, 4), nn.Softplus()), {"x": ge.Spec("n", 6)}, TWO, {}),
    ("clipped", clipped, {"x": ge.Spec("n", "m"), "low": ge.Spec(), "high": ge.Spec()},
     ({"n": 2, "m": 3}, {"n": 5, "m": 2}), {}),
    ("powers", powers, {"x": ge.Spec("n"), "n": ge.Spec(dtype=I64)}, TWO, {"n": ints(6)}),
    ("bisect", bisect, {"x": ge.Spec("n")}, TWO, {"x": lambda free: RNG.uniform(0.5, 4, free["n"]).astype(np.float32)}),
    ("picked", picked, {"x": ge.Spec("n", 3), "i": ge.Spec("k", dtype=I64)}, ({"n": 4, "k": 2}, {"n": 5, "k": 3}),
     {"i": ints(4, "k")}),
    ("distances", distances, {"x": ge.Spec("n", 3), "y": ge.Spec("m", 3)}, ({"n": 2, "m": 4}, {"n": 5, "m": 3}), {}),
    ("normalized", normalized, {"x": ge.Spec("n", 3, dtype=F64)}, TWO, {}),
    ("stepped", stepped, {"x": ge.Spec("n", 2), "slope": ge.Spec("n", 2)}, TWO, {}),
    ("collatz", collatz, {"n": ge.Spec(dtype=I64)}, ({}, {}), {"n": lambda free: RNG.integers(1, 30, ())}),
]
