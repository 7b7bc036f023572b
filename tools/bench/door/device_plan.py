#!/usr/bin/env python3
"""Plans beside a device that is slower than it says, against the best engine alone.

The device is devsim around native: its prices ask for so little that the first plan goes to it, its
host sees the end of work 100 us late without being told, and its links are half as fast as told. Each
side (native alone, the device alone, both; ref takes what is left) has a cache folder of its own and
lives through --sessions sessions first. Then the sides take turns, another one begins each round,
each a process that runs the model --repeat times.

The ratio is the median of "both" / that of the better side alone in the same round: the median over
rounds, with a 95 % bootstrap interval. A row is "beyond" its bound of 1.05 only if the whole interval
is, which ends in exit code 1, as does a side that fails. The simulated device's threads take the
processor from each other, which looks like a busy machine, so sessions are told that it is quiet
(GE_PROBE); --probe busy shows what sessions learn that doubt all that they see.

Examples:
  tools/bench/door/device_plan.py                       # all fifteen models
  tools/bench/door/device_plan.py lenet mlp --rounds 9
  tools/bench/door/device_plan.py tinychain --price 100 --json device.json
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import project_venv  # noqa: E402

project_venv.enter("numpy")

import numpy as np  # noqa: E402

import feeds  # noqa: E402
import ge_run  # noqa: E402
import models  # noqa: E402
import speed  # noqa: E402

BOUND = 1.05


def sides(args):
    device = (f"{args.build / 'lib/samples/devsim.so'}:wrap=native;price={args.price};"
              f"round_trip_ns={args.round_trip_us * 1000};link_gbps=10;link_told=20;paced=1")
    return {"native": "native,ref", "device": f"{device},ref", "both": f"native,{device},ref"}


class Model:
    """One model with its inputs, and a cache folder a side."""

    def __init__(self, name, args, folder):
        self.name, self.args, self.folder = name, args, folder
        self.known = {"inputs": {}}
        for key, array in feeds.make(name).items():
            np.save(folder / f"{key}.npy", array)
            self.known["inputs"][key] = f"{key}.npy"

    def run(self, side, engines):
        cache = self.folder / f"cache-{side}"
        cache.mkdir(exist_ok=True)
        options = ["--repeat", str(self.args.repeat), "--warmup", "3", "--threads",
                   str(self.args.threads)]
        return ge_run.run(self.args.build / "bin/ge", self.args.models_dir / f"{self.name}.onnx",
                          self.folder, self.known, engines, options,
                          environment={**os.environ, "GE_CACHE_DIR": str(cache),
                                                "GE_PROBE": self.args.probe})

    def measure(self):
        every = sides(self.args)
        for _ in range(self.args.sessions):
            for side, engines in every.items():
                self.run(side, engines)
        names, rounds = list(every), []
        for i in range(self.args.rounds):
            row = {}
            for side in names[i % len(names):] + names[:i % len(names)]:
                speed.progress(f"{self.name}: round {i + 1} of {self.args.rounds}, {side}")
                report = self.run(side, every[side])
                row[side] = {"median_ms": report["median_ms"], "engines": report["engines"]}
            rounds.append(row)
        speed.progress("")
        return rounds


def row_of(name, rounds):
    ms = {side: statistics.median(r[side]["median_ms"] for r in rounds) for side in rounds[0]}
    ratios = [r["both"]["median_ms"] / min(r["native"]["median_ms"], r["device"]["median_ms"])
              for r in rounds]
    low, high = speed.interval(ratios)
    return {"model": name, "ms": ms, "ratio": statistics.median(ratios), "interval": [low, high],
            "beyond": low > BOUND,
            "nodes_on_device": rounds[-1]["both"]["engines"].get("devsim", 0)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    root = project_venv.ROOT
    parser.add_argument("models", nargs="*", help="names of models.json; none: the fifteen")
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release")
    parser.add_argument("--models-dir", type=pathlib.Path, default=models.DEFAULT_DIR)
    parser.add_argument("--price", type=int, default=20, help="per cent of native's (20)")
    parser.add_argument("--round-trip-us", type=int, default=100)
    parser.add_argument("--sessions", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--probe", choices=("quiet", "busy"), default="quiet")
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    rows, failed = [], 0
    print(f"{'model':<14}{'native':>10}{'device':>10}{'both':>10}  {'ratio':<22} nodes on the device")
    for row in models.rows_named(args.models):
        name = row["name"]
        try:
            with tempfile.TemporaryDirectory() as folder:
                rounds = Model(name, args, pathlib.Path(folder)).measure()
        except ge_run.RunError as error:
            print(f"{name:<14} {error}", flush=True)
            failed += 1
            continue
        r = row_of(name, rounds)
        rows.append({**r, "rounds": rounds})
        ms = "".join(f"{r['ms'][side]:>10.3f}" for side in ("native", "device", "both"))
        print(f"{name:<14}{ms}  {r['ratio']:.3f} [{r['interval'][0]:.3f}, {r['interval'][1]:.3f}]"
              f"{'  beyond' if r['beyond'] else '':<9}{r['nodes_on_device']:>4}", flush=True)
    if args.json:
        args.json.write_text(json.dumps({"bound": BOUND, "rows": rows}, indent=1) + "\n")
    beyond = sum(r["beyond"] for r in rows)
    print(f"{len(rows)} models, {beyond} beyond {BOUND}, {failed} failed")
    return 1 if beyond or failed else 0


if __name__ == "__main__":
    sys.exit(main())
