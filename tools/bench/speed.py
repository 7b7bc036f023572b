#!/usr/bin/env python3
"""Times `ge run` against ONNX Runtime and OpenVINO on the same model and inputs, interleaved.

Rounds alternate between the runtimes, each a fresh process that warms up and gives the median of
--repeat runs; which goes first changes from round to round. The ratio is our time / that of the
peer with the least median (below 1: we are faster): the median over rounds, with a 95 % bootstrap
interval. A "!" marks a ratio above --mark; the geometric mean comes last, of all but tinychain,
which measures calls (nine microseconds in all). With --limit the exit
code is 1 for a model whose whole interval lies above the limit, or that does not run.

Examples:
  tools/bench/speed.py                                  # resnet50 and ppocr_det, one thread
  tools/bench/speed.py all --peers ort,openvino --engines native,onednn,openblas,ref --limit 1.5
  tools/bench/speed.py resnet50 --engines onednn,ref --rounds 11 --limit 1.6
  tools/bench/speed.py lenet mlp --threads 2 --json
"""
import argparse
import json
import pathlib
import subprocess
import sys

import project_venv

project_venv.enter("pip", "numpy", "onnx", "onnxruntime",
                   *(["openvino"] if "openvino" in " ".join(sys.argv) else []))

import numpy as np  # noqa: E402

import ge_run  # noqa: E402
import models  # noqa: E402
import reference  # noqa: E402

MODELS = ["resnet50", "ppocr_det"]
NOT_MEANT = {"tinychain"}  # a graph of microseconds would weigh as much as a network
PEERS = {"ort": "ONNX Runtime", "openvino": "OpenVINO"}


def time_ours(model, folder, known, args, output=None):
    """The report of one process of ours; `output`: a folder for what it gave."""
    options = ["--threads", args.threads, "--repeat", args.repeat, "--warmup", args.warmup,
               "--isa", args.isa]
    return ge_run.run(args.ge, model, folder, known, args.engines, options=map(str, options),
                      output=output)


def time_peer(peer, model, folder, known, args, output=None, timeout=600):
    """The report of one process of a peer's; `output`: an .npz for what it gave first."""
    command = [sys.executable, str(pathlib.Path(__file__).with_name("peer_bench.py")), peer,
               str(model)]
    for option in ("threads", "repeat", "warmup"):
        command += [f"--{option}", str(getattr(args, option))]
    for name, file in known["inputs"].items():
        command += ["--input", f"{name}={folder / file}"]
    if output is not None:
        command += ["--save", str(output)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=timeout)
    except subprocess.TimeoutExpired:
        raise ge_run.RunError(f"{PEERS[peer]}: no end after {timeout} s") from None
    if done.returncode:
        raise ge_run.RunError(f"{PEERS[peer]}: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    return json.loads(done.stdout)


def interval(values, draws=10000, seed=0):
    """95 % bootstrap interval of the median of `values`."""
    values, rng = np.asarray(values), np.random.default_rng(seed)
    picks = rng.integers(0, len(values), (draws, len(values)))
    return [float(v) for v in np.percentile(np.median(values[picks], axis=1), [2.5, 97.5])]


def progress(text):
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()


def race(name, args):
    """One model's row as a dict."""
    model, folder, known = reference.ensure(name, say=lambda s: print(s, file=sys.stderr))
    who, times, report = ["ours", *args.peers], {}, {}
    for i in range(args.rounds):
        progress(f"{name}: round {i + 1} of {args.rounds}")
        for runtime in who[i % len(who):] + who[:i % len(who)]:
            if runtime == "ours":
                found = report = time_ours(model, folder, known, args)
            else:
                found = time_peer(runtime, model, folder, known, args)
            times.setdefault(runtime, []).append(found["median_ms"])
    progress("")
    best = min(args.peers, key=lambda peer: np.median(times[peer]))
    ratios = [ours / peer for ours, peer in zip(times["ours"], times[best])]
    low, high = interval(ratios)
    return {"model": name, "ours_ms": float(np.median(times["ours"])),
            "peers_ms": {peer: float(np.median(times[peer])) for peer in args.peers},
            "best_peer": best, "ratio": float(np.median(ratios)), "low": low, "high": high,
            "marked": float(np.median(ratios)) > args.mark,
            "runs": args.rounds * args.repeat, "threads": args.threads,
            "isa": report.get("isa", "?"), "engines": report["engines"]}


def print_row(row):
    nodes = " ".join(f"{e}:{n}" for e, n in sorted(row["engines"].items()))
    peers = " ".join(f"{ms:>9.3f}" for ms in row["peers_ms"].values())
    print(f"{row['model']:<12} {row['ours_ms']:>9.3f} {peers} "
          f"{row['ratio']:>7.3f}{'!' if row['marked'] else ' '} [{row['low']:.3f}, {row['high']:.3f}]  {row['runs']:>5} runs, "
          f"{row['threads']} thread(s), {row['isa']}, {nodes}", flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="*", default=MODELS, help=f"default: {' '.join(MODELS)}; all for the fifteen")
    parser.add_argument("--peers", default="ort", metavar="LIST",
                        help="ort, openvino or both; the best of them counts (default: ort)")
    parser.add_argument("--engines", metavar="LIST", default="onednn,ref")
    parser.add_argument("--isa", default="native", choices=["native", "avx2", "avx512"],
                        help="of ours; the peers take what the host has")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--repeat", type=int, default=30, help="timed runs in a round (>= 30)")
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--mark", type=float, default=1.5, help="mark a ratio above (default 1.5)")
    parser.add_argument("--limit", type=float, help="fail a model that is surely slower than this")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--ge", type=pathlib.Path, default=ge_run.DEFAULT_GE)
    args = parser.parse_args()
    args.peers = args.peers.split(",")
    if unknown := [peer for peer in args.peers if peer not in PEERS]:
        parser.error(f"--peers names {unknown[0]!r}; wanted {' or '.join(PEERS)}")
    if args.repeat < 30 or args.rounds < 3:
        parser.error("a median needs --repeat of at least 30 and an interval --rounds of 3")
    return args


def main():
    args, rows, failed = parse_arguments(), [], 0
    if not args.json:
        heads = " ".join(f"{peer[:6] + ' ms':>9}" for peer in args.peers)
        print(f"{'model':<12} {'ours ms':>9} {heads} {'ratio':>7}  95 % interval")
    try:
        wanted = [] if args.model == ["all"] else args.model
        for name in [row["name"] for row in models.rows_named(wanted)]:
            try:
                rows.append(race(name, args))
            except ge_run.RunError as problem:
                failed += 1
                print(f"{name:<12} FAIL {problem}", file=sys.stderr)
                continue
            failed += args.limit is not None and rows[-1]["low"] > args.limit
            if not args.json:
                print_row(rows[-1])
    except models.ModelError as error:
        sys.stderr.write(f"speed.py: {error}\n")
        sys.exit(2)
    meant = [row["ratio"] for row in rows if row["model"] not in NOT_MEANT]
    mean = float(np.exp(np.mean(np.log(meant)))) if meant else None
    if args.json:
        print(json.dumps({"limit": args.limit, "models": rows, "geometric_mean": mean,
                          "failed": int(failed)}))
    elif len(meant) > 1:
        print(f"geometric mean {mean:.3f} over {len(meant)} models; above {args.mark:g}: "
              + (", ".join(row["model"] for row in rows if row["marked"]) or "none"))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
