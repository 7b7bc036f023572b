#!/usr/bin/env python3
"""What the host costs: ns a segment, allocations a run, and ns a node of a chain of tiny operators.

segments: 1,000 one-node segments that alternate between two engines that do nothing (ge-overhead).
tinychain: 1,000 Sin and Neg on 4 floats by each list of engines, every node a segment of its own
(--no-fuse) and as placed. Exit code 1 when a bound is passed; the bounds are the project's.

Examples:
  tools/bench/plans/overhead.py
  tools/bench/plans/overhead.py --engines ref --engines native,onednn,ref --json
"""
import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import project_venv  # noqa: E402

project_venv.enter("pip", "numpy", "onnx", "onnxruntime")

import ge_bench  # noqa: E402
import ge_run  # noqa: E402
import models  # noqa: E402
import reference  # noqa: E402

SEGMENT_NS, NODE_NS = 100, 200
NULL_ENGINES = "{0}/null_a.so:op=Neg,{0}/null_b.so:op=Sin"


def segments(args):
    """ge-overhead's object and whether it is within the bounds."""
    folder = args.ge.parent.parent / "lib" / "bench"
    found = ge_bench.call([str(args.ge.parent / "ge-overhead"), NULL_ENGINES.format(folder),
                           str(args.segments), str(args.runs)], 600)
    report = found["report"]
    if report["segments"] != args.segments:
        raise ge_run.RunError(f"{report['segments']} segments, wanted {args.segments}")
    good = found["ns_per_segment"] <= SEGMENT_NS and found["allocations_per_run"] == 0
    return found, good


def tinychain(engines, args):
    """One row: ns a node without and with fusing."""
    model, folder, known = reference.ensure("tinychain", say=lambda s: print(s, file=sys.stderr))
    row = {"engines": engines}
    for key, extra in (("alone", ["--no-fuse"]), ("fused", [])):
        options = ["--threads", "1", "--isa", args.isa, "--repeat", str(args.runs),
                   "--warmup", "20", *extra]
        report = ge_run.run(args.ge, model, folder, known, engines, options=options)
        row[f"{key}_ns"] = report["median_ms"] * 1e6 / report["nodes"]
        row[f"{key}_segments"] = report["segments"]
        row[f"{key}_nodes"] = report["engines"]
    return row


def every_engine(args):
    """The names that `ge plugins` loads, ref last."""
    found = ge_bench.call([str(args.ge), "plugins", "--json"], 60)
    found = found["plugins"] if isinstance(found, dict) else found
    names = [p["name"] for p in found if p["loaded"]]
    return sorted(names, key=lambda n: (n == "ref", n))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", action="append", metavar="LIST",
                        help="for tinychain; may be repeated (default: ref, each other engine with "
                             "ref, and all)")
    parser.add_argument("--isa", default="native", choices=["native", "avx2", "avx512"])
    parser.add_argument("--segments", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--ge", type=pathlib.Path, default=ge_run.DEFAULT_GE)
    return parser.parse_args()


def main():
    args = parse_arguments()
    try:
        own, own_good = segments(args)
        names = every_engine(args)
        lists = args.engines or ["ref", *(f"{n},ref" for n in names if n != "ref"),
                                 ",".join(names)]
        rows = [tinychain(engines, args) for engines in dict.fromkeys(lists)]
    except (ge_run.RunError, models.ModelError) as problem:
        sys.stderr.write(f"overhead.py: {problem}\n")
        sys.exit(2)
    best = min(rows, key=lambda row: row["alone_ns"])
    good = own_good and best["alone_ns"] <= NODE_NS
    if args.json:
        print(json.dumps({"segments": own, "tinychain": rows, "passes": good}))
        sys.exit(0 if good else 1)
    print(f"{own['segments']} segments of two null engines: {own['ns_per_segment']:.1f} ns each "
          f"(least {own['min_ns_per_segment']:.1f}, p99 {own['p99_ns_per_segment']:.1f}), "
          f"{own['allocations_per_run']:g} allocations a run")
    wide = max(len(row["engines"]) for row in rows)
    print(f"\n{'tinychain':<{wide}}  {'ns a node alone':>15}  {'segments':>8}  {'fused':>7}  "
          f"{'segments':>8}")
    for row in rows:
        print(f"{row['engines']:<{wide}}  {row['alone_ns']:>15.1f}  {row['alone_segments']:>8}  "
              f"{row['fused_ns']:>7.1f}  {row['fused_segments']:>8}")
    print(f"row 5 {'yes' if own_good else 'NO '}  <= {SEGMENT_NS} ns a segment, no allocation")
    print(f"row 6 {'yes' if best['alone_ns'] <= NODE_NS else 'NO '}  <= {NODE_NS} ns a node without "
          f"fusing: {best['alone_ns']:.1f} by {best['engines']}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
