#!/usr/bin/env python3
"""Compares the outputs of `ge run` with those of ONNX Runtime on the same inputs.

For each model and list of engines: error = max|got - want| / max|want| over the worst output.
Prints one row each and exits 1 if any error is over 1e-4, a shape or type differs, or a run fails.
A --need NAME=SHARE also fails a row in which engine NAME runs less than that share of the nodes;
--transfers and --streams set what else it must show.

Examples:
  tools/bench/compare.py                                  # the six models, ref and onednn,ref
  tools/bench/compare.py --engines ref --models lenet magika
  tools/bench/compare.py --engines devsim,ref --need devsim=0.25 --transfers devsim=2 --streams devsim=2
"""
import argparse
import pathlib
import sys
import tempfile

import project_venv

project_venv.enter("pip", "numpy", "onnx", "onnxruntime")

import numpy as np  # noqa: E402

import ge_run  # noqa: E402
import models  # noqa: E402
import reference  # noqa: E402

MODELS = ["lenet", "squeezenet", "resnet50", "minilm", "ppocr_det", "ppocr_rec"]
ENGINES = ["ref", "onednn,ref"]
# The bound of the project's table: float32 sums in another order stay well below it.
BOUND = 1e-4


def error_of(got, want):
    """max|got - want| / max|want|; infinite unless NaN and infinity stand where wanted."""
    if got.shape != want.shape or got.dtype != want.dtype:
        raise ge_run.RunError(f"found {got.dtype}{list(got.shape)}, "
                              f"wanted {want.dtype}{list(want.shape)}")
    if want.size == 0:
        return 0.0
    got, want = got.astype(np.float64), want.astype(np.float64)
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return float("inf")
    if not np.isfinite(got[finite]).all():
        return float("inf")
    difference = np.max(np.abs(got[finite] - want[finite]), initial=0.0)
    largest = np.max(np.abs(want[finite]), initial=0.0)
    return float(difference / largest if largest > 0 else difference)


def worst_error(folder, known, output):
    """The greatest error over all outputs."""
    worst = 0.0
    for name, file in known["outputs"].items():
        path = output / reference.file_name(name)
        if not path.is_file():
            raise ge_run.RunError(f"output {name}: no file {path.name}")
        try:
            worst = max(worst, error_of(np.load(path), np.load(folder / file)))
        except (ge_run.RunError, ValueError) as error:
            raise ge_run.RunError(f"output {name}: {error}") from None
    return worst


def shortfall(report, args):
    """Why the report misses --need or --transfers, or ""."""
    for item in args.need:
        engine, share = item.rsplit("=", 1)
        found = report["engines"].get(engine, 0) / max(1, report["nodes"])
        if found < float(share):
            return f"{engine} runs {found:.0%} of the nodes, wanted {float(share):.0%}"
    for item in args.transfers:
        engine, count = item.rsplit("=", 1)
        ways = report.get("transfers_by_way", {})
        into = sum(n for way, n in ways.items() if way.split("->")[1].startswith(engine + "/"))
        out = sum(n for way, n in ways.items() if way.startswith(engine + "/"))
        if min(into, out) < int(count):
            return f"{into} transfers to {engine} and {out} from it, wanted {count} each way"
    for item in args.streams:
        engine, count = item.rsplit("=", 1)
        found = sum(1 for stream in report.get("streams", {}) if stream.startswith(engine + "/"))
        if found < int(count):
            return f"{found} streams of {engine} used, wanted {count}"
    return ""


def compare(name, engines, args):
    """One row: (cells, ok)."""
    model, folder, known = reference.ensure(name, say=lambda s: print(s, file=sys.stderr))
    with tempfile.TemporaryDirectory(prefix="ge-compare.") as output:
        try:
            report = ge_run.run(args.ge, model, folder, known, engines, output=output,
                                options=["--threads", str(args.threads)])
            error = worst_error(folder, known, pathlib.Path(output))
            nodes = " ".join(f"{e}:{n}" for e, n in sorted(report["engines"].items()))
            miss = shortfall(report, args)
        except ge_run.RunError as problem:
            return (name, engines, "-", "-", "-", f"FAIL {problem}"), False
    verdict = "ok" if error <= BOUND else f"FAIL over {BOUND:g}"
    if error <= BOUND and miss:
        verdict = f"FAIL {miss}"
    cells = (name, engines, nodes, str(report.get("transfers", "-")), f"{error:.2e}", verdict)
    return cells, verdict == "ok"


def print_table(rows):
    head = ("model", "engines", "nodes per engine", "transfers", "error", "")
    wide = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head) - 1)]
    for row in [head, *rows]:
        cells = [*(cell.ljust(w) for cell, w in zip(row, wide)), row[-1]]
        print("  ".join(cells).rstrip())


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", metavar="LIST", action="append",
                        help="a comma-separated list; may be repeated (default: ref; onednn,ref)")
    parser.add_argument("--models", nargs="+", default=MODELS, metavar="NAME",
                        help=f"default: {' '.join(MODELS)}; 'all' for the fifteen")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--need", action="append", default=[], metavar="ENGINE=SHARE",
                        help="least share of nodes, 0 to 1, that ENGINE must run; may be repeated")
    parser.add_argument("--transfers", action="append", default=[], metavar="ENGINE=N",
                        help="least transfers to ENGINE, and from it; may be repeated")
    parser.add_argument("--streams", action="append", default=[], metavar="ENGINE=N",
                        help="least streams of ENGINE that hold work; may be repeated")
    parser.add_argument("--ge", type=pathlib.Path, default=ge_run.DEFAULT_GE,
                        help="the binary (default: build/release/bin/ge)")
    return parser.parse_args()


def main():
    args = parse_arguments()
    try:
        names = [] if args.models == ["all"] else args.models
        names = [row["name"] for row in models.rows_named(names)]
        results = [compare(name, engines, args)
                   for name in names for engines in args.engines or ENGINES]
    except models.ModelError as error:
        sys.stderr.write(f"compare.py: {error}\n")
        sys.exit(2)
    print_table([cells for cells, _ in results])
    good = sum(ok for _, ok in results)
    print(f"{good} passed, {len(results) - good} failed, 0 skipped")
    sys.exit(0 if good == len(results) else 1)


if __name__ == "__main__":
    main()
