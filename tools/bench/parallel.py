#!/usr/bin/env python3
"""Steps of training on two ranks, one thread each, beside PyTorch's DDP and FSDP2 on Gloo, and all-reduces beside
Gloo's. Sides take turns, each in processes of its own. `exposed` is a step less the step of two lone processes that
run at once on as many samples each: what being two costs. Prints medians of the rounds, and the ratios with their
95 % bootstrap intervals; figures are good on a quiet machine alone.

  steps       lenet and mlp_wide (8 x 1,024), batch 32 a rank; bert (4 layers of 256, 64 tokens), batch 8; Adam
  shards      the same with --shard-states, beside FSDP2
  allreduce   4 B, 1 MiB, 32 MiB

Example: tools/bench/parallel.py --python build/venv-torch/bin/python --rounds 5 steps allreduce
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import socket
import statistics
import subprocess
import tempfile

import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent / "training")]
import train_nets  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
RANKS = 2
BATCH = {"lenet": 32, "mlp_wide": 32, "bert": 8}
SIZES = {"4 B": 4, "1 MiB": 1 << 20, "32 MiB": 32 << 20}
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
ALLREDUCE = """ge 1
opset "" 28
opset "comm" 1
fn main(x: f32[{n}]) -> (y) {{
  y: f32[{n}] = comm.AllReduce(x) {{mesh="data={ranks}", axes="data", rank={rank}, reduction="sum"}} effects [collective 1 seq 0]
}}
entry infer "main" = main
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Bench:
    def __init__(self, a, scratch):
        self.a, self.scratch = a, scratch
        self.env = dict(os.environ, OMP_NUM_THREADS="1", **MPI)

    def at_once(self, lines, env=()):
        """Processes that run side by side: what the first prints last, and the mean of their `ms`."""
        run = [subprocess.Popen(list(map(str, line)), stdout=subprocess.PIPE, text=True,
                                env={**self.env, **(env[i] if env else {})}, cwd=self.scratch)
               for i, line in enumerate(lines)]
        said = [p.communicate()[0] for p in run]
        if any(p.returncode for p in run):
            sys.exit(f"failed: {lines[0]}")
        return [json.loads(s.splitlines()[-1]) for s in said if s.strip()]

    # ---- sides: each returns ms of a step

    def train(self, net, batch, *more):
        rows = self.scratch / f"{net}.npz"
        return [self.a.ge, "train", self.scratch / f"{net}.onnx", "--data", rows, "--no-test", "--threads",
                1, "--optimizer", "adam", "--lr", "1e-4", "--batch", batch, "--epochs", 100000, "--steps",
                self.steps[net], "--json", *more]

    def ge_lone(self, net):
        done = self.at_once([["taskset", "-c", str(r % os.cpu_count()), *self.train(net, BATCH[net])]
                             for r in range(RANKS)])
        return statistics.mean(d["step_ms_median"] for d in done)

    def ge_ranks(self, net, *more):
        line = self.train(net, RANKS * BATCH[net], "--mesh", f"data={RANKS}", *more)
        return self.at_once([["mpirun", "-np", RANKS, *line]])[0]["step_ms_median"]

    def torch(self, how, net):
        world = {"WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        line = [self.a.python, ROOT / "tools/bench/parallel_torch.py", "step", how, net,
                self.scratch / f"{net}.onnx", BATCH[net], self.a.seconds]
        done = self.at_once([line] * RANKS, [{**world, "RANK": str(r)} for r in range(RANKS)])
        return statistics.mean(d["ms"] for d in done)

    def prepare(self, net):
        import numpy as np
        train_nets.NETS[net](self.scratch / f"{net}.onnx", seed=4)
        r, n = np.random.default_rng(1), 8 * RANKS * BATCH[net]
        x = r.integers(0, 1000, (n, 64)) if net == "bert" else r.standard_normal(
            (n, 1, 28, 28) if net == "lenet" else (n, 1024)).astype(np.float32)
        np.savez(self.scratch / f"{net}.npz", x=x, y=r.integers(0, 10, n))
        self.steps = getattr(self, "steps", {})
        self.steps[net] = 40
        self.steps[net] = max(40, int(self.a.seconds * 1e3 / self.ge_ranks(net)))

    def rounds(self, sides):
        """By side, its time in each round; sides take turns in an order of chance."""
        taken = {name: [] for name in sides}
        for _ in range(self.a.rounds):
            for name in random.sample(list(sides), len(sides)):
                taken[name].append(sides[name]())
        return taken

    # ---- rows

    def steps_of(self, net, theirs, *more):
        self.prepare(net)
        taken = self.rounds({"ge lone": lambda: self.ge_lone(net),
                             "ge": lambda: self.ge_ranks(net, *more),
                             "torch lone": lambda: self.torch("lone", net),
                             "torch": lambda: self.torch(theirs, net)})
        exposed = {s: [two - lone for two, lone in zip(taken[s], taken[f"{s} lone"])]
                   for s in ("ge", "torch")}
        print(json.dumps({
            "row": f"{net}{' shards' if more else ''}", "beside": theirs,
            **{f"{name}_ms".replace(" ", "_"): round(statistics.median(t), 3) for name, t in taken.items()},
            "ge_exposed_ms": round(statistics.median(exposed["ge"]), 3),
            "torch_exposed_ms": round(statistics.median(exposed["torch"]), 3),
            "exposed_ratio": interval(exposed["ge"], exposed["torch"]),
            "step_ratio": interval(taken["ge"], taken["torch"])}), flush=True)

    def ge_allreduce(self, size):
        parts = []
        for r in range(RANKS):
            file = self.scratch / f"reduce{r}.gt"
            file.write_text(ALLREDUCE.format(n=size // 4, ranks=RANKS, rank=r))
            quiet = ["sh", "-c", 'exec "$@" >/dev/null 2>&1', "sh"] if r else []
            parts += [":"] * bool(r) + ["-np", 1, *quiet, self.a.ge, "run", file, "--plugins", "parallel", "--threads",
                                        1, "--json", "--warmup", 20, "--repeat", self.repeats(size)]
        return self.at_once([["mpirun", *parts]])[0]["median_ms"]

    def repeats(self, size):
        return max(50, min(5000, int(self.a.seconds * 2e9 / (size + 2e5))))

    def torch_allreduce(self, size):
        world = {"WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        line = [self.a.python, ROOT / "tools/bench/parallel_torch.py", "allreduce", size, self.a.seconds]
        return self.at_once([line] * RANKS, [{**world, "RANK": str(r)} for r in range(RANKS)])[0]["ms"]

    def allreduces(self):
        for name, size in SIZES.items():
            taken = self.rounds({"ge": lambda size=size: self.ge_allreduce(size),
                                 "torch": lambda size=size: self.torch_allreduce(size)})
            print(json.dumps({"row": f"all-reduce {name}", "ge_ms": round(statistics.median(taken["ge"]), 4),
                              "torch_ms": round(statistics.median(taken["torch"]), 4),
                              "ratio": interval(taken["ge"], taken["torch"])}), flush=True)


def interval(ours, theirs):
    """Ratio of medians, and what 95 % of resampled rounds give."""
    def ratio(rounds):
        return (statistics.median(ours[i] for i in rounds) /
                max(1e-9, statistics.median(theirs[i] for i in rounds)))
    every = range(len(ours))
    some = sorted(ratio(random.choices(every, k=len(ours))) for _ in range(2000))
    return [round(v, 3) for v in (ratio(every), some[50], some[-51])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", default=["steps", "allreduce"], help="steps, shards, allreduce")
    parser.add_argument("--python", default=str(ROOT / "build/venv-torch/bin/python"))
    parser.add_argument("--ge", default=str(ROOT / "build/release/bin/ge"))
    parser.add_argument("--nets", default=",".join(BATCH))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    a = parser.parse_args()
    if not shutil.which("mpirun"):
        sys.exit("there is no mpirun: apt-get install libopenmpi-dev openmpi-bin, then build")
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(a, pathlib.Path(scratch))
        for net in a.nets.split(","):
            if "steps" in a.rows:
                bench.steps_of(net, "ddp")
            if "shards" in a.rows:
                bench.steps_of(net, "fsdp", "--shard-states")
        if "allreduce" in a.rows:
            bench.allreduces()


if __name__ == "__main__":
    main()
