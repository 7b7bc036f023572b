#!/usr/bin/env python3
"""The time of a training step of `ge train` beside PyTorch's (train_bench.py): processes that take
turns, so that a busy moment of the machine meets both. Prints a JSON line for each net: medians of
the rounds' median steps in ms, and how many times as fast we are, round by round.

Example: tools/bench/training/train.py --bench train_bench.py --python build/venv-torch/bin/python lenet mlp
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import project_venv  # noqa: E402
import train_nets  # noqa: E402

ROOT = project_venv.ROOT


def ours(ge, net, a):
    done = subprocess.run(
        [str(ge), "train", str(net), "--data", "fashion-mnist", "--optimizer", "sgd", "--lr", "0.01",
         "--momentum", "0.9", "--batch", str(a.batch), "--steps", str(a.steps), "--threads",
         str(a.threads), "--no-test", "--json", *a.ge_args.split()],
        check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])["step_ms_median"]


def theirs(net, a):
    done = subprocess.run([a.python, a.bench, "torch", net, "--threads", str(a.threads), "--batch",
                           str(a.batch), "--seconds", str(a.seconds)],
                          check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])["median_ms"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nets", nargs="*", default=["lenet", "mlp"], help="lenet, mlp")
    parser.add_argument("--bench", required=True, help="train_bench.py of the peers")
    parser.add_argument("--python", default=str(ROOT / "build/venv-torch/bin/python"))
    parser.add_argument("--ge", default=ROOT / "build/release/bin/ge")
    parser.add_argument("--ge-args", default="", help="more arguments of ge train")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for net in a.nets:
            path = pathlib.Path(scratch) / f"{net}.onnx"
            train_nets.NETS[net](path)
            rows = [(ours(a.ge, path, a), theirs(net, a)) for _ in range(a.rounds)]
            print(json.dumps({
                "net": net, "threads": a.threads, "batch": a.batch,
                "ge_ms": round(statistics.median(r[0] for r in rows), 3),
                "torch_ms": round(statistics.median(r[1] for r in rows), 3),
                "times_as_fast": [round(t / g, 3) for g, t in rows]}), flush=True)


if __name__ == "__main__":
    main()
