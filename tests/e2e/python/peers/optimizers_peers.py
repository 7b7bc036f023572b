#!/usr/bin/env python3
"""Optimizers beside torch: 100 steps of LeNet and of a small GPT in float64 from the same weights, the
losses to 1e-9; lamb, lars and lion beside tests/e2e/training/train_numpy.py. GE_TORCH names a Python that
has torch and array_api_compat; without one it is skipped.

Example: GE_TORCH=torch/bin/python python tests/e2e/python/peers/optimizers_peers.py"""
import pathlib
import sys
import tempfile

import numpy as np
import optimizer_cases as cases

import graphengine as ge
from graphengine import nn

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from networks_peers import COUNTS, check, theirs  # noqa: E402


def optimizer(net, name):
    kind, options, _, _ = cases.OPTIMIZERS[name]
    options = dict(options)
    rate = options.pop("lr", lambda step: cases.schedule(ge.astype(step, ge.float64)))
    return getattr(ge.optim, kind)(net, rate, **options)


def losses_of(net, name, data):
    step = optimizer(net, name)

    @ge.jit
    def train(x, y):
        loss, gradients = ge.value_and_grad(lambda: nn.functional.cross_entropy(net(x), y), wrt=net)()
        step(gradients)
        return loss
    return [float(train(*(a[i % len(a)] for a in data))) for i in range(cases.STEPS)]


def compare(found):
    nets = cases.nets(nn, ge, nn.functional.softmax)
    for net_name, (first, losses) in (found or {}).items():
        for name, wanted in losses.items():
            net = nets[net_name]().to(ge.float64)
            net.load_state_dict(first)
            got = losses_of(net, name, cases.data(net_name))
            worst = check(f"{net_name} by {name}", np.max(np.abs(np.subtract(got, wanted))), 1e-9)
            check(f"{net_name} by {name} trains: {wanted[0]} to {wanted[-1]}", wanted[-1] - wanted[0], -1e-3)
            print(f"{net_name} by {name}: loss {wanted[0]:.4f} to {wanted[-1]:.4f}, greatest difference {worst:.1e}",
                  flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        compare(theirs("GE_TORCH", "peers/optimizers_torch.py", scratch))
    print(f"{COUNTS['passed']} passed, {COUNTS['failed']} failed, {COUNTS['skipped']} skipped")
    sys.exit(COUNTS["failed"] != 0)
