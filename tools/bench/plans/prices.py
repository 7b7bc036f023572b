#!/usr/bin/env python3
"""How good the prices are: rank correlation and factor between predicted and measured ns a node.

Each model is measured once, in a price cache of its own that begins empty (ge explain --prices
measure). "empty": the prices of an empty cache against what was measured. "left out": the prices of
a cache that holds the other models and not this one against the same measurement, and their totals.
Prices are those of what the plan takes, each alone; a pattern counts once. A factor is
exp(median |log(predicted / measured)|). "total" is the sum of those prices over the sum of what they
took alone; "plan" is what PLACE predicts for the whole plan over the median of its runs (in several
processes, the models taking turns). Both are judged. Exit code 1 when a bound is passed.

Examples:
  tools/bench/plans/prices.py lenet minilm resnet50
  tools/bench/plans/prices.py --isa avx2 --engines native,onednn,openblas,ref
  tools/bench/plans/prices.py --worst 10 ppocr_det lenet       # and the nodes that are furthest off
  tools/bench/plans/prices.py --keep build/prices              # what was measured serves the next time
"""
import argparse
import json
import math
import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import project_venv  # noqa: E402

project_venv.enter("pip", "numpy", "onnx", "onnxruntime")

import numpy as np  # noqa: E402

import ge_bench  # noqa: E402
import ge_run  # noqa: E402
import models  # noqa: E402
import price_rows  # noqa: E402
import reference  # noqa: E402

# Of the project's table, row 3.
EMPTY_RANK, EMPTY_FACTOR = 0.8, 1.41
LEFT_OUT_RANK, LEFT_OUT_TOTAL = 0.9, 1.2
PROCESSES = 5  # that time a plan: a shared machine has slow minutes


def ranks(values):
    """Ranks from 0, equal values sharing the mean of theirs."""
    values = np.asarray(values, float)
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts + 1) / 2)[inverse]


def spearman(a, b):
    """Rank correlation; NaN for fewer than three pairs or when all of a side are equal."""
    if len(a) < 3:
        return math.nan
    x, y = ranks(a), ranks(b)
    if x.std() == 0 or y.std() == 0:
        return math.nan
    return float(np.corrcoef(x, y)[0, 1])


def taken(explained):
    """What the plan takes: {key: {"node", "op", "engine", "price_ns"}}, each offer once. A key is
    (node, device, pattern), so that two explanations of one model can be put side by side."""
    found, seen = {}, set()
    for node in explained["nodes"]:
        bid, offer = node["chosen"], node["offer"]
        if not bid or offer in seen:
            continue
        seen.add(offer)
        found[node["id"], bid["device"], bid["pattern"]] = {
            "node": node["node"], "op": bid["pattern"] or node["op"], "engine": bid["device"],
            "price_ns": bid["price_ns"]}
    return found


def times_of(explained):
    """{key: measured ns} of every bid that was measured, taken or not."""
    return {(node["id"], bid["device"], bid["pattern"]): bid["measured_ns"]
            for node in explained["nodes"] for bid in node["bids"] if known(bid["measured_ns"])}


def known(value):
    return value is not None and value > 0


def compare(pairs):
    """Rank, factor and totals of [(predicted, measured), ...]."""
    predicted, measured = [p for p, _ in pairs], [m for _, m in pairs]
    logs = np.abs(np.log(np.asarray(predicted) / np.asarray(measured))) if pairs else []
    total = sum(predicted) / sum(measured) if pairs else math.nan
    return {"offers": len(pairs), "rank": spearman(predicted, measured),
            "factor": float(np.exp(np.median(logs))) if pairs else math.nan, "total": total}


def merge_caches(folders, into):
    """Puts the files of `folders` together in `into`: of prices of one offer, the first."""
    for folder in folders:
        for file in folder.iterdir():
            target = into / file.name
            if not target.exists():
                shutil.copy(file, target)
            elif file.suffix == ".rows":
                known = {price_rows.key(row) for _, row in price_rows.records(target.read_bytes())}
                with open(target, "ab") as out:
                    for whole, row in price_rows.records(file.read_bytes()):
                        if price_rows.key(row) not in known:
                            out.write(whole)


class Prices:
    """Explains models with a cache folder of the caller's choice."""

    def __init__(self, args, root):
        self.args, self.root = args, pathlib.Path(root)

    def call(self, name, cache, command, *options):
        """The answer of `ge COMMAND` on the model's reference inputs with a cache of its own."""
        model, folder, known_inputs = reference.ensure(name, say=lambda s: print(s, file=sys.stderr))
        common = ge_bench.flags(folder, known_inputs, self.args.engines, self.args.threads,
                                self.args.isa)
        os.environ["GE_CACHE_DIR"] = str(cache)
        try:
            return ge_bench.call([str(self.args.ge), command, str(model), "--json", *common,
                                  *options], timeout=600)
        finally:
            del os.environ["GE_CACHE_DIR"]

    def explain(self, name, cache, *options):
        return self.call(name, cache, "explain", *options)

    def folder(self, name):
        path = self.root / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def emptied(self, name):
        shutil.rmtree(self.root / name, ignore_errors=True)
        return self.folder(name)

    def measure(self, name):
        """(what an empty cache's plan takes, all that was measured of this model)."""
        empty = self.explain(name, self.emptied(f"{name}.empty"), "--prices", "cached")
        kept = any(self.folder(name).glob("prices-*.rows"))
        measured = self.explain(name, self.folder(name), "--prices", "cached" if kept else "measure",
                                "--measure-budget", str(self.args.budget_ms))
        if measured.get("offers_left"):
            print(f"{name}: {measured['offers_left']} offers were not measured within "
                  f"{self.args.budget_ms} ms; raise --budget-ms", file=sys.stderr)
        return taken(empty), times_of(measured)

    def left_out(self, name, others):
        into = self.emptied(f"{name}.others")
        merge_caches([self.folder(other) for other in others], into)
        explained = self.explain(name, into, "--prices", "cached")
        return taken(explained), explained["predicted_ns"]

    def run_left_out(self, name):
        """Median ns of the plan of left_out(); what its runs teach is thrown away."""
        copy = self.root / "run"
        shutil.copytree(self.folder(f"{name}.others"), copy)
        try:
            run = self.call(name, copy, "run", "--prices", "cached", "--warmup", "2", "--repeat", "10")
        finally:
            shutil.rmtree(copy)
        return run["median_ms"] * 1e6


def row_of(name, predicted, times):
    """compare() of what is known of both, with the pairs furthest off."""
    both = [(o["price_ns"], times[k], o) for k, o in predicted.items()
            if k in times and known(o["price_ns"])]
    row = compare([(p, m) for p, m, _ in both])
    row["unmeasured"] = len(predicted) - len(both)
    both.sort(key=lambda t: -abs(math.log(t[0] / t[1])))
    row["worst"] = [{"node": o["node"], "op": o["op"], "engine": o["engine"], "predicted_ns": p,
                     "measured_ns": m} for p, m, o in both]
    row["model"] = name
    return row


def measure_all(names, args):
    rows = {"empty": [], "left out": []}
    with tempfile.TemporaryDirectory(prefix="ge-prices.") as temporary:
        root = args.keep or temporary
        prices, times, failures = Prices(args, root), {}, []
        for name in names:
            try:
                empty, times[name] = prices.measure(name)
                rows["empty"].append(row_of(name, empty, times[name]))
            except ge_run.RunError as problem:
                failures.append(f"{name}: {problem}")
        predicted = {}
        for name in times if len(times) > 1 else []:
            try:
                found, predicted[name] = prices.left_out(name, [n for n in times if n != name])
                rows["left out"].append(row_of(name, found, times[name]))
            except ge_run.RunError as problem:
                failures.append(f"{name}, left out: {problem}")
        runs = {name: [] for name in predicted}
        for name in [n for _ in range(PROCESSES) for n in predicted]:
            try:
                runs[name].append(prices.run_left_out(name))
            except ge_run.RunError as problem:
                failures.append(f"{name}, run: {problem}")
        for row in rows["left out"]:
            ns = runs[row["model"]]
            row["plan"] = predicted[row["model"]] / float(np.median(ns)) if ns else math.nan
    return rows, failures


def pooled(rows):
    """All offers of all models as one row."""
    row = compare([(w["predicted_ns"], w["measured_ns"]) for r in rows for w in r["worst"]])
    row.update(model="all", unmeasured=sum(r["unmeasured"] for r in rows), worst=[])
    return row


def shortened(pattern):
    """A long chain by its beginning and its length."""
    ops = pattern.split("+")
    return pattern if len(ops) <= 4 else f"{'+'.join(ops[:3])}+... ({len(ops)})"


def print_rows(title, rows, worst):
    print(f"\n{title}\n{'model':<12} {'offers':>6} {'no time':>7} {'rank':>6} {'factor':>6} "
          f"{'total':>6} {'plan':>6}")
    for r in rows:
        plan = f"{r['plan']:>6.2f}" if "plan" in r else f"{'-':>6}"
        print(f"{r['model']:<12} {r['offers']:>6} {r['unmeasured']:>7} {r['rank']:>6.3f} "
              f"{r['factor']:>6.2f} {r['total']:>6.2f} {plan}")
        for w in r["worst"][:worst]:
            print(f"    {w['predicted_ns'] / w['measured_ns']:>7.2f}x  {w['predicted_ns']:>10.0f} "
                  f"ns for {w['measured_ns']:>10.0f} ns  {w['engine']:<14} {shortened(w['op']):<24} "
                  f"{w['node'][-40:]}")


def judge(rows):
    """Row 3's verdicts, over all offers of all models; plans model by model."""
    out = []
    if rows["empty"]:
        a = pooled(rows["empty"])
        out.append((a["rank"] >= EMPTY_RANK and a["factor"] <= EMPTY_FACTOR,
                    f"empty cache: rank {a['rank']:.3f} (wanted >= {EMPTY_RANK}), factor "
                    f"{a['factor']:.2f} (wanted <= {EMPTY_FACTOR})"))
    if rows["left out"]:
        b = pooled(rows["left out"])
        off = {key: [f"{r['model']} {r.get(key, math.nan):.2f}" for r in rows["left out"]
                     if not 1 / LEFT_OUT_TOTAL <= r.get(key, math.nan) <= LEFT_OUT_TOTAL]
               for key in ("plan", "total")}
        out.append((b["rank"] >= LEFT_OUT_RANK and not off["plan"] and not off["total"],
                    f"left out: rank {b['rank']:.3f} (wanted >= {LEFT_OUT_RANK}), plans off by more "
                    f"than 20 %: {', '.join(off['plan']) or 'none'}; sums of offers: "
                    f"{', '.join(off['total']) or 'none'}"))
    return out


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="*", help="default: all fifteen")
    parser.add_argument("--engines", default="native,onednn,openblas,ref")
    parser.add_argument("--isa", default="native", choices=["native", "avx2", "avx512"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--budget-ms", type=float, default=60000, help="of measuring one model")
    parser.add_argument("--keep", type=pathlib.Path, help="folder of what was measured; a model that "
                        "it has is not measured again (default: a temporary one)")
    parser.add_argument("--worst", type=int, default=0, help="print this many nodes a model")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--ge", type=pathlib.Path, default=ge_run.DEFAULT_GE)
    return parser.parse_args()


def main():
    args = parse_arguments()
    try:
        rows, failures = measure_all([r["name"] for r in models.rows_named(args.model)], args)
    except models.ModelError as error:
        sys.stderr.write(f"prices.py: {error}\n")
        sys.exit(2)
    verdicts = judge(rows)
    if args.json:
        print(json.dumps({**rows, "failures": failures,
                          "verdicts": [{"passes": bool(g), "text": t} for g, t in verdicts]}))
    else:
        for title, found in rows.items():
            if found:
                print_rows(title, [*found, pooled(found)], args.worst)
        for good, text in verdicts:
            print(f"row 3 {'yes' if good else 'NO '}  {text}")
        for text in failures:
            print(f"not measured: {text}")
    sys.exit(1 if failures or not all(good for good, _ in verdicts) else 0)


if __name__ == "__main__":
    main()
