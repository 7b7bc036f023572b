#!/usr/bin/env python3
"""What share of each model's time is left to ref, the engine of plain loops, operator by operator.

MODEL is a file or a folder of .onnx files. Times are those that the plan's prices add up to, as
`ge explain` shows them; --measure times the offers on this machine first. A pattern of nodes counts
once, under the operator of its first node. Bodies of If, Loop and Scan are no part of it.

Exit code 1 where an operator has more than --bound percent of a model on ref, 2 where a model cannot
be explained.

Examples:
  tools/bench/coverage.py build/models
  tools/bench/coverage.py lstm.onnx --input x=9x2x128:rand --measure
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys

import project_venv

GE = project_venv.ROOT / "build" / "release" / "bin" / "ge"


def models_in(paths):
    """Files as they are; of folders the .onnx files inside, in order of their names."""
    for path in map(pathlib.Path, paths):
        if path.is_dir():
            yield from sorted(path.rglob("*.onnx"))
        else:
            yield path


def explain(model, args):
    """The report of `ge explain --json`, or None once its refusal is shown."""
    command = [str(args.ge), "explain", str(model), "--json"]
    command += [word for text in args.input for word in ("--input", text)]
    command += ["--prices", "measure" if args.measure else "analytic"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout)
    print(f"{model}: {done.stderr.strip()}", file=sys.stderr)
    return None


def shares(report):
    """({operator: ns on ref}, ns of all nodes); each taken offer counts once. A model whose shapes
    the data decide is the sum of its pieces."""
    on_ref, total = collections.Counter(), 0.0
    for piece in report.get("pieces", [report]):
        seen = set()
        for node in piece["nodes"]:
            chosen = node["chosen"]
            if not chosen or node["offer"] in seen:
                continue
            seen.add(node["offer"])
            total += chosen["price_ns"]
            if chosen["device"].split("/")[0] == "ref":
                on_ref[node["op"]] += chosen["price_ns"]
    return on_ref, total


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--input", action="append", default=[],
                        help="as of ge explain; may be repeated")
    parser.add_argument("--bound", type=float, default=2, help="percent of a model (default 2)")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--ge", type=pathlib.Path, default=GE)
    args = parser.parse_args()
    code, count = 0, 0
    for model in models_in(args.models):
        report = explain(model, args)
        count += 1
        if report is None:
            code = 2
            continue
        on_ref, total = shares(report)
        print(f"{model.stem}: {100 * sum(on_ref.values()) / max(total, 1):.1f} % of "
              f"{total / 1e6:.3f} ms on ref")
        for op, ns in on_ref.most_common():
            share = 100 * ns / max(total, 1)
            beyond = share > args.bound
            code = max(code, int(beyond))
            print(f"  {op:32} {share:6.2f} %{f'  beyond {args.bound:g} %' if beyond else ''}")
    if count == 0:
        print(f"no .onnx file in {' '.join(args.models)}; name a model or a folder of them",
              file=sys.stderr)
        return 2
    return code


if __name__ == "__main__":
    sys.exit(main())
