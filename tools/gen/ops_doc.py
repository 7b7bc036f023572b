#!/usr/bin/env python3
"""Writes docs/ops.md: every operator with its element types, opset, the engines that take it, ONNX's
node tests that pass, and what is missing, with reasons.

It asks the built binaries: `ge ops`, `ge-test --onnx-node` and `ge-test --random`. The file is not kept
in git. Needs the node tests (tools/bench/node_tests.py writes them) and the `onnx` package.

Examples:
  tools/gen/ops_doc.py
  tools/gen/ops_doc.py --cases 50 -o ops.md
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("pip", "onnx")

import onnx  # noqa: E402

CLASSES = [("floats", ["f32", "f64", "f16", "bf16"]), ("ints", ["i8", "i16", "i32", "i64"]),
           ("uints", ["u8", "u16", "u32", "u64"]), ("complex", ["c64", "c128"]),
           ("f8", ["f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz"]), ("int4", ["u4", "i4"]),
           ("int2", ["u2", "i2"]), ("f6", ["f6e2m3", "f6e3m2"])]


def run(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, **more)
    if done.returncode not in (0, 1):
        sys.exit(f"ops_doc.py: {' '.join(map(str, command))}: exit {done.returncode}")
    return done.stdout


def short(dtypes):
    """The types with whole classes named once."""
    left, out = list(dtypes), []
    for name, members in CLASSES:
        if all(m in left for m in members):
            out.append(name)
            left = [d for d in left if d not in members]
    return " ".join(out + left)


def node_tests(ge_test, folder, environment):
    """({operator: [passed, tests]}, {test: reason it does not pass})."""
    text = run([ge_test, "--onnx-node", folder, "-v"], env=environment)
    passed = set(re.findall(r"^passed  (\S+)$", text, re.M))
    reasons, why = {}, ""
    for line in text.splitlines():
        if found := re.match(r"(?:skipped +\d+|not counted): (.*)", line):
            why = found.group(1)
            why = "an operator that is not here" if "operators that are not" in why else why
        elif found := re.match(r"FAILED  (\S+): (.*)", line):
            reasons[found.group(1)] = found.group(2)
        elif found := re.match(r" {10}(\S+)$", line):
            reasons[found.group(1)] = why
    counts = collections.defaultdict(lambda: [0, 0])
    for model in sorted(pathlib.Path(folder).glob("*/model.onnx")):
        name = model.parent.name
        if (name + "_").count("_expanded_"):
            continue
        nodes = onnx.load(model, load_external_data=False).graph.node
        for op in {(n.domain, n.op_type) for n in nodes}:
            counts[op][0] += name in passed
            counts[op][1] += 1
    return counts, reasons, text.strip().splitlines()[-2:]


def engines_of(ge_test, cases, environment):
    """{operator: engines that took random cases of it}."""
    text, out = run([ge_test, "--random", str(cases), "-v"], env=environment), {}
    for engine, op in re.findall(r"^(\S+) +(\S+) +\d+ cases", text, re.M):
        out.setdefault(op, []).append(engine)
    return out


def write(records, engines, counts, reasons, summary, out):
    lines = ["# Operators", "",
             "Written by `tools/gen/ops_doc.py`; not kept in git. Element types are those of the first "
             "input (of the output where there is none). An engine is named where it took random "
             "cases; `host` runs what is no tensor of numbers. Node tests are ONNX's plain ones in "
             "which the operator stands.", ""]
    domains = collections.defaultdict(list)
    for r in records:
        domains[r["domain"] or "ai.onnx"].append(r)
    for domain, of_domain in domains.items():
        lines += [f"## {domain}: {len(of_domain)}", "",
                  "| operator | since | element types | engines | node tests |", "|---|---|---|---|---|"]
        for r in of_domain:
            full = f"{r['domain']}.{r['name']}" if r["domain"] else r["name"]
            who = engines.get(full) or (["by its parts"] if r["decomposes"] else ["host"])
            passed, tests = counts.get((r["domain"], r["name"]), (0, 0))
            lines.append(f"| {r['name']} | {r['since']} | {short(r['dtypes'].split())} | "
                         f"{' '.join(who)} | {f'{passed} of {tests}' if tests else ''} |")
        lines.append("")
    lines += ["## Node tests that do not pass", "", *[f"{s}  " for s in summary], ""]
    by_reason = collections.defaultdict(list)
    for test, why in sorted(reasons.items()):
        by_reason[why].append(test)
    for why, tests in sorted(by_reason.items()):
        lines.append(f"- {why}: {', '.join(tests)}")
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(f".{out.name}.{os.getpid()}")
    partial.write_text("\n".join(lines) + "\n")
    partial.rename(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin")
    parser.add_argument("--node-tests", default=ROOT / "build" / "node-tests" / "node")
    parser.add_argument("--cases", type=int, default=10, help="random cases an operator (default 10)")
    parser.add_argument("-o", type=pathlib.Path, default=ROOT / "docs" / "ops.md")
    args = parser.parse_args()
    environment = dict(os.environ, GE_CACHE_DIR="off", GE_PROBE="fixed")
    records = json.loads(run([args.bin / "ge", "ops", "--json"]))["ops"]
    counts, reasons, summary = node_tests(args.bin / "ge-test", args.node_tests, environment)
    engines = engines_of(args.bin / "ge-test", args.cases, environment)
    write(records, engines, counts, reasons, summary, args.o)
    print(f"{args.o}: {len(records)} operators; {'; '.join(summary)}")


if __name__ == "__main__":
    main()
