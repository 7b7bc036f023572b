#!/usr/bin/env python3
"""Steps of training on two ranks, one thread each, beside PyTorch's DDP and FSDP2 on Gloo, and all-reduces beside
Gloo's. Sides take turns, each in processes of its own. `exposed` is a step less the step of two lone processes that
run at once on as many samples each: what being two costs. Prints medians of the rounds, and the ratios with their
95 % bootstrap intervals; figures are good on a quiet machine alone.

  steps       lenet and mlp_wide (8 x 1,024), batch 32 a rank; bert (4 layers of 256, 64 tokens), batch 8; Adam
  shards      the same with --shard-states, beside FSDP2
  allreduce   4 B, 1 MiB, 32 MiB
  hiding      mlp_wide and bert, transfers held at 2 Gbit/s (GE_COMM_RATE): how much of what backward could hide is
              hidden, (lone + C - held) / min(C, B). lone: a step of two lone processes; held: one of two ranks;
              C: the step's collectives alone, held; B: backward behind the first of them, that is the host's launches
              between the first and the last collective, one after the other. `of_two`: by a step of two ranks whose
              transfers are not held in place of lone's, (two + C - alone - held) / min(C, B), where alone is C unheld

Example: tools/bench/parallel.py --python build/venv-torch/bin/python --rounds 5 steps allreduce
"""
import argparse
import json
import math
import os
import pathlib
import random
import re
import shutil
import socket
import statistics
import subprocess
import tempfile

import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/bench/training"), str(ROOT / "tests/e2e/capsule")]
import perfetto  # noqa: E402
import train_nets  # noqa: E402

RANKS = 2
BATCH = {"lenet": 32, "mlp_wide": 32, "bert": 8}
SIZES = {"4 B": 4, "1 MiB": 1 << 20, "32 MiB": 32 << 20}
HELD_GBIT = 2
HELD = {"GE_COMM_RATE": str(HELD_GBIT)}
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
        run = [subprocess.Popen(list(map(str, line)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**self.env, **(env[i] if env else {})}, cwd=self.scratch)
               for i, line in enumerate(lines)]
        said = [p.communicate() for p in run]
        if any(p.returncode for p in run):
            sys.exit(f"failed: {lines[0]}\n{said[0][1]}")
        return [json.loads(s.splitlines()[-1]) for s, _ in said if s.strip()]

    def by_rank(self, line, env=()):
        """What line(rank) prints for the first rank, where each rank has words of its own."""
        parts = []
        for r in range(RANKS):
            quiet = ["sh", "-c", 'exec "$@" >/dev/null 2>&1', "sh"] if r else []
            parts += [":"] * bool(r) + ["-np", 1, *quiet, *line(r)]
        return self.at_once([["mpirun", *parts]], env)[0]

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

    def ge_ranks(self, net, *more, env=()):
        line = self.train(net, RANKS * BATCH[net], "--mesh", f"data={RANKS}", *more)
        return self.at_once([["mpirun", "-np", RANKS, *line]], [dict(env)])[0]["step_ms_median"]

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
        def line(r):
            file = self.scratch / f"reduce{r}.gt"
            file.write_text(ALLREDUCE.format(n=size // 4, ranks=RANKS, rank=r))
            return [self.a.ge, "run", file, "--plugins", "parallel", "--threads", 1, "--json", "--warmup", 20,
                    "--repeat", self.repeats(size)]
        return self.by_rank(line)["median_ms"]

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

    # ---- hiding

    def step(self, net, command, rank, *more):
        """Words for a rank's step of `ge train`, under another command."""
        words = ["train:loss=softmax-ce;optimizer=adam;lr=1e-4",
                 f"parallel:mesh=data={RANKS};rank={rank};batch={RANKS * BATCH[net]}"]
        return [self.a.ge, command, self.scratch / f"{net}.onnx", "--plugins", "grad,parallel", "--pass", words[0],
                "--pass", words[1], "--entry", "train_step", "--threads", 1, "--prices", "shipped", *more]

    def backward_ms(self, net):
        """B: the median of runs that are traced. What is launched is waited for there, so that nothing is held."""
        file = self.scratch / f"{net}.pftrace"
        rows = 1024 if net == "mlp_wide" else 64
        inputs = ["--input", f"x={BATCH[net]}x{rows}:zeros", "--input", f"label={BATCH[net]}:zeros"]
        runs = ["--warmup", 2, "--repeat", 7, "--json"]
        self.by_rank(lambda r: self.step(net, "run", r, *inputs, *runs, *([] if r else ["--trace", file])))
        trace, taken = perfetto.read(file), []
        for run in [s for s in trace.slices if s.category == "run" and s.name.startswith("run ")]:
            launches = sorted((s for s in trace.slices if s.category == "launch" and run.begin <= s.begin < run.end),
                              key=lambda s: s.begin)
            comm = [i for i, s in enumerate(launches) if s.notes["device"].startswith("mpi")]
            taken.append(sum(s.ns for s in launches[comm[0]:comm[-1]] if not s.notes["device"].startswith("mpi")))
        return statistics.median(taken) / 1e6

    def collectives(self, net):
        """Files of a program for each rank with the step's collectives alone, and the bytes in them."""
        bytes_of = {"f32": 4, "f64": 8, "i64": 8}
        for r in range(RANKS):
            line = self.step(net, "dump", r, "--to", "rewrite")
            text = subprocess.run(list(map(str, line)), check=True, capture_output=True, text=True, cwd=self.scratch,
                                  env=self.env).stdout
            step = re.search(r'^fn "parallel.step".*?^}', text, re.M | re.S).group(0)
            found = [re.findall(r"[^\s,]+: (\w+)\[([\d,]*)\]", made)
                     for made in re.findall(r"^(.*) = comm\.AllReduce\(.*$", step, re.M)]
            params, lines, results, size = [], [], [], 0
            for k, tensors in enumerate(found):
                names = [f"x{k}_{i}" for i in range(len(tensors))]
                params += [f"{n}: {t}[{d}]" for n, (t, d) in zip(names, tensors)]
                results += [f"y{n}" for n in names]
                outs = ", ".join(f"y{n}: {t}[{d}]" for n, (t, d) in zip(names, tensors))
                lines.append(f'  {outs} = comm.AllReduce({", ".join(names)}) {{mesh="data={RANKS}", axes="data", '
                             f'rank={r}, reduction="sum"}} effects [collective 1 seq {k}]')
                size += sum(bytes_of[t] * math.prod(map(int, filter(None, d.split(",")))) for t, d in tensors)
            (self.scratch / f"{net}{r}.gt").write_text(
                'ge 1\nopset "" 28\nopset "comm" 1\n' + f'fn main({", ".join(params)}) -> ({", ".join(results)}) {{\n' +
                "\n".join(lines) + '\n}\nentry infer "main" = main\n')
        return len(found), size

    def transfers_ms(self, net, env=()):
        """The collectives of a step, alone."""
        return self.by_rank(lambda r: [self.a.ge, "run", self.scratch / f"{net}{r}.gt", "--plugins", "parallel",
                                       "--threads", 1, "--json", "--warmup", 2, "--repeat", 12], [dict(env)])["median_ms"]

    def hiding_of(self, net):
        self.prepare(net)
        count, size = self.collectives(net)
        taken = self.rounds({
            "lone": lambda: self.ge_lone(net), "held": lambda: self.ge_ranks(net, env=HELD),
            "two": lambda: self.ge_ranks(net), "C": lambda: self.transfers_ms(net, HELD),
            "alone": lambda: self.transfers_ms(net), "B": lambda: self.backward_ms(net)})
        rounds = [dict(zip(taken, v)) for v in zip(*taken.values())]
        could = [min(t["C"], t["B"]) for t in rounds]
        hidden = [(t["lone"] + t["C"] - t["held"]) / c for t, c in zip(rounds, could)]
        of_two = [(t["two"] + t["C"] - t["alone"] - t["held"]) / c for t, c in zip(rounds, could)]
        print(json.dumps({
            "row": f"{net} at {HELD_GBIT} Gbit/s", "collectives": count, "bytes": size,
            **{f"{name}_ms": round(statistics.median(t), 2) for name, t in taken.items()},
            "bytes_by_rate_ms": round(size * 8 / HELD_GBIT / 1e6, 2), "hidden": round(statistics.median(hidden), 3),
            "of_rounds": [round(h, 3) for h in sorted(hidden)], "of_two": round(statistics.median(of_two), 3)}),
            flush=True)


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
    parser.add_argument("rows", nargs="*", default=["steps", "allreduce"], help="steps, shards, allreduce, hiding")
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
            if "hiding" in a.rows and net != "lenet":
                bench.hiding_of(net)
        if "allreduce" in a.rows:
            bench.allreduces()


if __name__ == "__main__":
    main()
