"""Twelve operators written in numpy, and how their gradients go back, in numpy too."""
import pathlib
import subprocess

import numpy as np

import graphengine as ge


class Case:
    """An operator on rows of 4 numbers: forward(x), back(x, y, dy) in numpy, both as custom_ops too."""

    def __init__(self, name, forward, back, outputs=None, rule=None):
        self.name, self.forward, self.back = name, forward, back
        self.op = ge.custom_op(forward, outputs=outputs, name=f"cases.{name}")
        if rule is None:
            def rule_of(x, y, dy):
                return back(x, y, dy).astype(x.dtype)

            rule = ge.custom_op(rule_of, outputs=lambda x, y, dy: ge.Spec(x.shape, x.dtype), name=f"cases.{name}_back")
        self.op.gradient(rule)

    @property
    def keeps_shape(self):
        x = np.ones((3, 4))
        return self.forward(x).shape == x.shape


def sorted_back(x, y, dy):
    out = np.empty_like(x)
    np.put_along_axis(out, np.argsort(x, -1, kind="stable"), dy, -1)
    return out


def last_max_back(x, y, dy):
    best = x.argmax(-1)
    return np.eye(x.shape[-1])[best] * dy[..., None]


def power_back(x, y, dy):
    """Of the squares of a real transform's terms: the transpose of the transform."""
    n = x.shape[-1]
    terms = np.fft.rfft(x) * 2 * dy
    wave = np.exp(2j * np.pi * np.outer(np.arange(terms.shape[-1]), np.arange(n)) / n)
    return np.real(terms @ wave)


def norm_back(x, y, dy):
    return x / y[..., None] * dy[..., None]


def like(x):
    return ge.Spec(x.shape, x.dtype)


CASES = [
    # The rules of the first two are made of ge's functions, the others are numpy's.
    Case("clip", lambda x: np.clip(x, -0.5, 0.5), lambda x, y, dy: dy * ((x > -0.5) & (x < 0.5)),
         rule=lambda x, y, dy: ge.where((x > -0.5) & (x < 0.5), dy, ge.zeros_like(dy))),
    Case("softplus", lambda x: np.logaddexp(x, 0), lambda x, y, dy: dy / (1 + np.exp(-x)),
         rule=lambda x, y, dy: dy / (1 + ge.exp(-x))),
    Case("sinc", np.sinc, lambda x, y, dy: dy * (np.cos(np.pi * x) - np.sinc(x)) / x),
    Case("sort", lambda x: np.sort(x, -1), sorted_back),
    Case("cumsum", lambda x: np.cumsum(x, -1), lambda x, y, dy: np.cumsum(dy[..., ::-1], -1)[..., ::-1]),
    Case("roll", lambda x: np.roll(x, 1, -1), lambda x, y, dy: np.roll(dy, -1, -1)),
    Case("centre", lambda x: x - x.mean(-1, keepdims=True), lambda x, y, dy: dy - dy.mean(-1, keepdims=True)),
    Case("cube", lambda x: x ** 3, lambda x, y, dy: 3 * x * x * dy, outputs=like),
    # Of other shapes than the input's.
    Case("last_max", lambda x: x.max(-1), last_max_back, outputs=lambda x: ge.Spec(x.shape[:-1], x.dtype)),
    Case("power", lambda x: np.abs(np.fft.rfft(x)) ** 2, power_back,
         outputs=lambda x: ge.Spec((*x.shape[:-1], x.shape[-1] // 2 + 1), x.dtype)),
    Case("norm", lambda x: np.linalg.norm(x, axis=-1), norm_back,
         outputs=lambda x: ge.Spec(x.shape[:-1], x.dtype)),
    Case("outer", lambda x: x[..., :, None] * x[..., None, :],
         lambda x, y, dy: np.einsum("...ij,...j->...i", dy + np.swapaxes(dy, -1, -2), x),
         outputs=lambda x: ge.Spec((*x.shape, x.shape[-1]), x.dtype)),
]


def built(scratch, source):
    """The operators of a plugin, built from its source."""
    out = scratch / (pathlib.Path(source).stem + ".so")
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-I", ge.get_include(), "-I.", source, "-o", str(out), "-lm"],
                   check=True)
    return ge.plugin(out)
