#!/usr/bin/env python3
"""What a shape that a session has not seen costs, against ONNX Runtime.

Each side runs in its own process, in turn, --rounds of them; default options and threads, our cache
empty at each start. A process opens the model, runs it at the shape of models.json, then at 16 other
shapes: one first run each (timed from the call to the answer, planning included) and --repeat
steady ones. Outputs of both sides are compared.

first: sum of the 16 first runs, ours / ONNX Runtime's, the median over rounds and its 95 % bootstrap
interval. f/s: the median over shapes of our first run / steady run. steady: the geometric mean over
shapes of ours / ONNX Runtime's. filled: bytes that plans of the 16 shapes packed anew. growth: resident memory
gained per new shape / bytes of the weights, outputs and arenas of larger shapes included. file: that part of it
that is pages of the mapped model, such as rows of a vocabulary that are read for the first time: they are
weights, and the system may take them back. arena: that by which the largest shape's arena is larger than the
first shape's. peer: growth of ONNX Runtime, which copies all weights at load.
searches: covers that were searched for in 16 shapes.

Examples:
  tools/bench/door/shapes.py
  tools/bench/door/shapes.py ppocr_rec minilm --rounds 3 --show
  tools/bench/door/shapes.py --json shapes.json
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import project_venv  # noqa: E402

project_venv.enter("pip", "numpy", "onnx", "onnxruntime")

import numpy as np  # noqa: E402

import feeds  # noqa: E402
import models  # noqa: E402
import peer_bench  # noqa: E402
import speed  # noqa: E402

LENGTHS = [5, 9, 12, 17, 24, 31, 40, 48, 57, 64, 80, 96, 100, 111, 144, 160]
# Model -> (input, the axes that change, the 16 sizes).
SHAPES = {
    "ppocr_rec": ("x", [3], [160, 192, 224, 256, 288, 352, 384, 416, 448, 480, 512, 544, 576, 608,
                             640, 704]),
    "ppocr_det": ("x", [2, 3], [320, 352, 384, 416, 448, 480, 512, 544, 576, 608, 672, 704, 736,
                                768, 800, 832]),
    "minilm": ("ids", [1], LENGTHS),
    "gpt2_small": ("ids", [1], LENGTHS),
    "vad_16k_op15": ("input", [0], list(range(2, 18))),
}


def feeds_of(name, size):
    """Seeded inputs at one of the 16 sizes; None = the size of models.json."""
    row = json.loads(json.dumps(models.rows_named([name])[0]["feeds"]))
    key, axes, _ = SHAPES[name]
    if size is not None:
        for axis in axes:
            row[key]["shape"][axis] = size
        if name.startswith("vad"):
            row["state"]["shape"][1] = size
    return feeds.of_feeds(row, size or 0)


def resident_bytes():
    """All resident memory, and the part of it that is pages of files."""
    lines = dict(line.split(":", 1) for line in pathlib.Path("/proc/self/status").read_text().splitlines())
    rss, file = (int(lines[key].split()[0]) * 1024 for key in ("VmRSS", "RssFile"))
    return {"rss": rss, "file": file}


def ours(path):
    import ge_session
    session = ge_session.GeSession(path)

    def prepared(arrays):
        feed = session.feed(arrays)
        return lambda: session.run_feed(feed)
    return prepared, session.run, session.report


def onnx_runtime(path):
    run = peer_bench.open_ort(str(path), 0, "f32")
    return (lambda arrays: lambda: run(arrays)), run, lambda: {}


def side(name, path, which, repeat, save):
    """One process's figures, as JSON on stdout."""
    prepared, run, report = {"ours": ours, "ort": onnx_runtime}[which](path)
    start = prepared(feeds_of(name, None))
    for _ in range(5):
        start()
    rows, before = [], report()
    resident = resident_bytes()
    for size in SHAPES[name][2]:
        arrays = feeds_of(name, size)
        call = prepared(arrays)
        first = peer_bench.milliseconds(call)[1]
        steady = sorted(peer_bench.milliseconds(call)[1] for _ in range(repeat))[repeat // 2]
        rows.append({"size": size, "first": first, "steady": steady, **resident_bytes(),
                     "report": {k: v for k, v in report().items() if not isinstance(v, (dict, list))}})
        if save:  # at once: what is kept here would count as memory of the shapes
            for i, array in enumerate(run(arrays)):
                np.save(f"{save}/{size}-{i}.npy", np.asarray(array))
    print(json.dumps({"rows": rows, **resident, "before": before}))


def start_side(name, path, which, args, save):
    with tempfile.TemporaryDirectory() as cache:
        env = dict(os.environ, GE_CACHE_DIR=cache)
        env.pop("OPENBLAS_CORETYPE", None)
        command = [sys.executable, __file__, name, "--side", which, "--model", str(path),
                   "--repeat", str(args.repeat), "--save", save]
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"shapes.py: {which} failed on {name}")
    return json.loads(done.stdout.splitlines()[-1])


def compare(a, b):
    """The greatest difference of two folders of outputs, over the largest value of each."""
    worst, names = 0, sorted(path.name for path in pathlib.Path(a).iterdir())
    if names != sorted(path.name for path in pathlib.Path(b).iterdir()) or not names:
        sys.exit(f"shapes.py: the sides saved other outputs in {a} and {b}")
    for name in names:
        one, two = np.load(f"{a}/{name}"), np.load(f"{b}/{name}")
        scale = max(1e-30, float(np.abs(two).max()))
        worst = max(worst, float(np.abs(one.astype("f8") - two).max()) / scale)
    return worst


def measure(name, path, args):
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        for i in range(args.rounds):
            speed.progress(f"{name}: round {i + 1} of {args.rounds}")
            both = {}
            for which in (["ours", "ort"] if i % 2 == 0 else ["ort", "ours"]):
                save = f"{folder}/{which}" if i == 0 else ""
                if save:
                    os.mkdir(save)
                both[which] = start_side(name, path, which, args, save)
            rounds.append(both)
        speed.progress("")
        apart = compare(f"{folder}/ours", f"{folder}/ort")
    return rounds, apart


def summed(side_of, what):
    return sum(row[what] for row in side_of["rows"])


def count(rounds, what):
    """Of the last round: what all 16 plans report together."""
    return sum(row["report"].get(what, 0) for row in rounds[-1]["ours"]["rows"])


def summary(name, rounds, apart):
    ratios = [summed(r["ours"], "first") / summed(r["ort"], "first") for r in rounds]
    steady = [np.exp(np.mean([np.log(a["steady"] / b["steady"])
                              for a, b in zip(r["ours"]["rows"], r["ort"]["rows"])])) for r in rounds]
    over = [np.median([a["first"] / a["steady"] for a in r["ours"]["rows"]]) for r in rounds]
    last = rounds[-1]
    weights = last["ours"]["before"].get("weight_bytes", 0)

    def of_weights(size):
        return size / weights if weights else None

    arenas = [row["report"].get("arena_bytes", 0) for row in last["ours"]["rows"]]
    larger = max(0, max(arenas) - last["ours"]["before"].get("arena_bytes", 0)) / len(arenas)

    def growth(which, what):
        side_of = last[which]
        return of_weights((side_of["rows"][-1][what] - side_of[what]) / len(side_of["rows"]))

    return {"model": name, "first": float(np.median(ratios)), "interval": speed.interval(ratios),
            "first_over_steady": float(np.median(over)), "steady": float(np.median(steady)),
            "filled_bytes": count(rounds, "filled_bytes"), "searches": count(rounds, "searches"),
            "growth": growth("ours", "rss"), "file": growth("ours", "file"),
            "arena": of_weights(larger), "peer": growth("ort", "rss"), "apart": apart}


def show(rounds):
    last = rounds[-1]
    for a, b in zip(last["ours"]["rows"], last["ort"]["rows"]):
        print(f"  {a['size']:>5}  first {a['first']:8.2f} {b['first']:8.2f}  "
              f"steady {a['steady']:8.2f} {b['steady']:8.2f} ms  rss {a['rss'] / 2**20:7.1f} MiB")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*", help=f"of {' '.join(SHAPES)}; default: all")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=5, help="steady runs at each shape")
    parser.add_argument("--show", action="store_true", help="each shape of the last round")
    parser.add_argument("--json", metavar="FILE", help="all that was measured")
    parser.add_argument("--side", choices=["ours", "ort"], help=argparse.SUPPRESS)
    parser.add_argument("--model", help=argparse.SUPPRESS)
    parser.add_argument("--save", help=argparse.SUPPRESS)
    args = parser.parse_args()
    unknown = [n for n in args.name if n not in SHAPES]
    if unknown:
        parser.error(f"no shapes for {' '.join(unknown)}; there are some for {' '.join(SHAPES)}")
    return args


def main():
    args = parse_arguments()
    if args.side:
        side(args.name[0], args.model, args.side, args.repeat, args.save)
        return
    names = args.name or list(SHAPES)
    paths, results = models.ensure(names), {}
    print(f"{'model':<14} {'first':>6} {'95 % interval':>16} {'f/s':>6} {'steady':>7} {'filled MB':>10}"
          f" {'growth':>7} {'file':>6} {'arena':>6} {'peer':>6} {'searches':>8}  apart")
    for name in names:
        rounds, apart = measure(name, paths[name], args)
        row = summary(name, rounds, apart)
        results[name] = {"summary": row, "rounds": rounds}
        low, high = row["interval"]
        print(f"{name:<14} {row['first']:6.2f} {f'[{low:.2f}, {high:.2f}]':>16}"
              f" {row['first_over_steady']:6.2f} {row['steady']:7.3f} {row['filled_bytes'] / 1e6:10.1f}"
              f" {row['growth'] or 0:7.4f} {row['file'] or 0:6.4f} {row['arena'] or 0:6.4f}"
              f" {row['peer'] or 0:6.4f} {row['searches']:8}  {row['apart']:.1e}", flush=True)
        if args.show:
            show(rounds)
    steady = np.exp(np.mean([np.log(r["summary"]["steady"]) for r in results.values()]))
    print(f"steady, geometric mean over models: {steady:.3f}")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
