"""Training of a small net in NumPy, float64, from the formulas alone: what tests/e2e/training/train_pass.py
compares the pass `train` with. Optimizers as PyTorch's documentation has them; lamb from
arXiv 1904.00962, lars from arXiv 1708.03888, lion from arXiv 2302.06675."""
import math

import numpy as np


def forward(weights, x):
    y = x @ weights["w0"].T + weights["b0"]
    r = np.maximum(y, 0)
    return y, r, r @ weights["w1"].T + weights["b1"]


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def loss_of(kind, z, label):
    """The loss and its change with z."""
    n = len(z)
    if kind == "softmax-ce":
        p, rows = softmax(z), np.arange(n)
        change = p.copy()
        change[rows, label] -= 1
        return -np.log(p[rows, label]).mean(), change / n
    if kind == "mse":
        return ((z - label) ** 2).mean(), 2 * (z - label) / z.size
    p = 1 / (1 + np.exp(-z))
    return (-label * np.log(p) - (1 - label) * np.log(1 - p)).mean(), (p - label) / z.size


def gradients(weights, x, label, kind):
    y, r, z = forward(weights, x)
    loss, dz = loss_of(kind, z, label)
    dy = (dz @ weights["w1"]) * (y > 0)
    return loss, {"w0": dy.T @ x, "b0": dy.sum(0), "w1": dz.T @ r, "b1": dz.sum(0)}


class Optimizer:
    """One of the pass's optimizers with its options, by their names there."""

    DEFAULTS = {"lr": 1e-3, "momentum": 0, "nesterov": 0, "weight-decay": 0, "beta1": 0.9,
                "alpha": 0.99, "trust": 1e-3, "clip": 0}
    EPS = {"adagrad": 1e-10, "lamb": 1e-6}

    def __init__(self, name, **options):
        self.name, self.o = name, {**self.DEFAULTS, **options}
        self.o.setdefault("eps", self.EPS.get(name, 1e-8))
        self.o.setdefault("beta2", 0.99 if name == "lion" else 0.999)
        self.slots, self.updates = {}, 0

    def slot(self, name, p):
        return self.slots.setdefault(name, np.zeros_like(p))

    def momentum(self, key, g, p):
        if not self.o["momentum"]:
            return g
        self.slots[key] = v = self.o["momentum"] * self.slot(key, p) + g
        return g + self.o["momentum"] * v if self.o["nesterov"] else v

    def adam(self, key, g, p):
        b1, b2, t = self.o["beta1"], self.o["beta2"], self.updates
        self.slots[key + "m"] = m = b1 * self.slot(key + "m", p) + (1 - b1) * g
        self.slots[key + "v"] = v = b2 * self.slot(key + "v", p) + (1 - b2) * g * g
        return m / (1 - b1 ** t) / (np.sqrt(v / (1 - b2 ** t)) + self.o["eps"])

    def step(self, weights, grads, lr=None):
        """New weights; `lr` where a schedule decides."""
        self.updates += 1
        o = self.o
        lr = o["lr"] if lr is None else lr
        if o["clip"]:
            norm = math.sqrt(sum((g * g).sum() for g in grads.values()))
            by = min(1, o["clip"] / (norm + 1e-6))
            grads = {k: g * by for k, g in grads.items()}
        return {k: self.moved(k, p, grads[k], lr) if k in grads else p for k, p in weights.items()}

    def moved(self, key, p, g, lr):
        o, wd = self.o, self.o["weight-decay"]
        decayed = g + wd * p
        if self.name == "sgd":
            return p - lr * self.momentum(key, decayed, p)
        if self.name == "rmsprop":
            v = o["alpha"] * self.slot(key + "v", p) + (1 - o["alpha"]) * decayed ** 2
            self.slots[key + "v"] = v
            return p - lr * self.momentum(key, decayed / (np.sqrt(v) + o["eps"]), p)
        if self.name == "adagrad":
            self.slots[key + "v"] = v = self.slot(key + "v", p) + decayed ** 2
            return p - lr * decayed / (np.sqrt(v) + o["eps"])
        if self.name == "adam":
            return p - lr * self.adam(key, decayed, p)
        if self.name == "adamw":
            return p * (1 - lr * wd) - lr * self.adam(key, g, p)
        if self.name == "lamb":
            u = self.adam(key, g, p) + wd * p
            a, b = np.linalg.norm(p), np.linalg.norm(u)
            return p - lr * (a / b if a > 0 and b > 0 else 1) * u
        if self.name == "lars":
            a = np.linalg.norm(p)
            local = o["trust"] * a / (np.linalg.norm(g) + wd * a + o["eps"]) if a > 0 else 1
            return p - lr * self.momentum(key, decayed * local, p)
        m = self.slot(key + "m", p)
        self.slots[key + "m"] = o["beta2"] * m + (1 - o["beta2"]) * g
        return p * (1 - lr * wd) - lr * np.sign(o["beta1"] * m + (1 - o["beta1"]) * g)


def rate(schedule, t, lr, steps=0, every=0, decay=0.1, power=1, lr_min=0, warmup=0):
    """lr at update t, counted from 0."""
    if t < warmup:
        return lr * (t + 1) / warmup
    t, n = t - warmup, steps - warmup
    wave = lambda a, b, part: b + (a - b) / 2 * (1 + math.cos(math.pi * part))  # noqa: E731
    if schedule == "step":
        return lr * decay ** (t // every)
    if schedule == "cosine":
        return wave(lr, lr_min, min(t, n) / n)
    if schedule == "poly":
        return lr_min + (lr - lr_min) * (1 - min(t, n) / n) ** power
    if schedule == "one-cycle":
        t, top = min(t, n - 1), 0.3 * n - 1
        if t <= top:
            return wave(lr / 25, lr, t / top)
        return wave(lr, lr / 25e4, (t - top) / (n - 1 - top))
    return lr
