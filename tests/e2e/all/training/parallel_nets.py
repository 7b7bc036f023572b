#!/usr/bin/env python3
"""LeNet, an MLP and a BERT of four layers, 200 steps of `ge train --mesh data=2` under mpirun: in
float64 the losses of one process and of PyTorch's DistributedDataParallel on the same global batches;
in float32 all ranks, and a second run, have the same bits in every state. Without PyTorch (GE_TORCH, a
Python that has it; build/venv-torch) those comparisons are skipped."""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path[:0] = [str(ROOT / "tools/bench/training"), str(ROOT / "tests/e2e/training")]
import parallel  # noqa: E402
import train_nets  # noqa: E402

STEPS, BATCH, RANKS, WORDS, TOKENS = 200, 16, 2, 50, 12
# Dims of a sample, more of the net, the rate, how far losses may be from one process and from torch.
NETS = {"lenet": ([1, 28, 28], {}, 1e-3, 1e-9, 1e-9), "mlp": ([784], {}, 1e-3, 1e-9, 1e-9),
        "bert": ([TOKENS], {"width": 64, "tokens": TOKENS, "words": WORDS}, 1e-3, 1e-9, 1e-6)}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def find_torch():
    for python in (os.environ.get("GE_TORCH"), ROOT / "build/venv-torch/bin/python"):
        if python and pathlib.Path(python).exists() and subprocess.run([str(python), "-c", "import torch"], capture_output=True,
                                     check=False).returncode == 0:
            return str(python)
    return None


class Nets(parallel.Checks):
    def __init__(self, scratch, torch):
        super().__init__(scratch)
        self.torch, self.skipped = torch, 0
        self.rank_step = self.rank_program()

    def samples(self, name, dims):
        """As many samples as are taken, in order."""
        r, n = np.random.default_rng(3), STEPS * BATCH
        y = r.integers(0, 10, n)
        if name == "bert":
            x = r.integers(0, WORDS, (n, *dims))
            own = r.random(x.shape) < 0.3
            x = np.where(own, y[:, None] * 5 + x % 5, x)
        else:
            x = 0.5 * r.standard_normal((10, *dims))[y] + r.standard_normal((n, *dims))
        np.savez(self.scratch / f"{name}.npz", x=x, y=y)
        return self.scratch / f"{name}.npz"

    def losses(self, net, data, lr, ranks):
        csv = self.scratch / "log.csv"
        done = self.call(parallel.GE, "train", net, "--data", data, "--no-shuffle", "--no-test",
                         "--threads", 1, "--batch", BATCH, "--optimizer", "adam", "--lr", lr, "--log",
                         f"csv:{csv}", *(["--mesh", f"data={ranks}"] if ranks else []), ranks=ranks,
                         wait=600)
        self.check(f"{net.name}, {ranks} ranks", done.returncode == 0, done.stderr)
        return np.array([float(line.split(",")[1]) for line in csv.read_text().splitlines()[1:]])

    def theirs(self, name, weights, data, lr):
        np.savez(self.scratch / "weights.npz", **weights)
        env = dict(os.environ, WORLD_SIZE=str(RANKS), MASTER_ADDR="127.0.0.1",
                   MASTER_PORT=str(free_port()), OMP_NUM_THREADS="1")
        line = [self.torch, str(ROOT / "tests/e2e/all/training/ddp.py"), name,
                str(self.scratch / "weights.npz"), str(data), str(BATCH), str(STEPS), "adam", str(lr)]
        each = [subprocess.Popen(line, env={**env, "RANK": str(r)}, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True) for r in range(RANKS)]
        said = [p.communicate(timeout=600) for p in each]
        if any(p.returncode for p in each):
            self.check(f"{name}: torch runs", False, said[0][1] + said[1][1])
            return None
        return np.array(json.loads(said[0][0].splitlines()[-1]))

    def in_float64(self, name):
        dims, more, lr, bound, torch_bound = NETS[name]
        net, data = self.scratch / f"{name}64.onnx", self.samples(name, dims)
        weights = train_nets.NETS[name](net, seed=4, dtype=np.float64, **more)
        one, two = (self.losses(net, data, lr, ranks) for ranks in (0, RANKS))
        off = np.abs(one - two).max() if len(one) == len(two) else np.inf
        print(f"{name}: {len(two)} losses from {two[0]:.4f} to {two[-1]:.4f}, at most {off:.2g} from "
              "those of one process", flush=True)
        self.check(f"{name}: the losses of one process", len(two) == STEPS and off <= bound, off)
        self.check(f"{name}: it learns", two[-20:].mean() < 0.9 * two[0], two)
        if self.torch is None:
            self.skipped += 1
            return
        theirs = self.theirs(name, weights, data, lr)
        if theirs is not None:
            off = np.abs(theirs - two).max()
            print(f"{name}: at most {off:.2g} from those of torch's DDP", flush=True)
            self.check(f"{name}: the losses of torch's DDP", off <= torch_bound, off)

    def in_float32(self, name):
        dims, more, _, _, _ = NETS[name]
        net = self.scratch / f"{name}32.onnx"
        train_nets.NETS[name](net, seed=4, **more)
        first, second = (self.rank_states(self.rank_step, net, dims, RANKS, BATCH, STEPS)
                         for _ in range(2))
        self.check(f"{name}, float32: all ranks have the same bits",
                   "state " in first[0] and all(t == first[0] for t in first), first)
        self.check(f"{name}, float32: a second run has the same bits", first == second)


def main():
    parallel.want_mpi()
    torch = find_torch()
    if torch is None:
        print("torch is not compared with: tests/e2e/all/training/train_torch.sh makes "
              "build/venv-torch; or GE_TORCH=PYTHON")
    with tempfile.TemporaryDirectory() as scratch:
        checks = Nets(pathlib.Path(scratch), torch)
        for name in sys.argv[1:] or NETS:
            checks.in_float64(name)
            checks.in_float32(name)
    print(f"{checks.passed} passed, {checks.failed} failed, {checks.skipped} skipped")
    sys.exit(checks.failed != 0)


if __name__ == "__main__":
    main()
