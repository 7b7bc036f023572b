#!/usr/bin/env python3
"""Computes from a printed plan how many bytes of each memory domain must be live at one moment.

Reads the text of `ge dump MODEL --to memory` and shares nothing with the planner or the prover. The
bound is the fullest moment of one legal execution: every instruction runs to its end when it is
issued. A value is live from its writer to its last reader, an internal value at its steps, a
workspace during its launch; of values in one place (alias_of) the largest counts. No arena can be
smaller than the bound. With --max-live and --arena the figures of the prover and of MEMORY (as
`ge run --json` prints them) are compared: exit code 1 when max-live is above --limit times the
bound's total, or the arena above --arena-limit times max-live.

Examples:
  ge dump lenet.onnx --to memory > lenet.plan && tools/bench/max_live.py lenet.plan
  tools/bench/max_live.py resnet50.plan --max-live 9633792 --arena 9633792
"""
import argparse
import json
import re
import sys

FIELD = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\[[^\]]*\]|\S+)')
VALUE = re.compile(r'^  value (\d+) ("(?:[^"\\]|\\.)*") : (.*)$')
KINDS = "input output constant state transient internal workspace".split()


def fields(text):
    return dict(FIELD.findall(text))


def ids(text):
    return [int(i) for i in text.strip("[]").split(",") if i.strip()]


class Function:
    def __init__(self):
        self.values, self.segments, self.code, self.arenas = {}, {}, [], []


def parse(lines):
    """The domains' names and the functions of a printed plan."""
    domains, functions, in_code = {}, [], False
    for line in lines:
        word = line.split(None, 2)
        if line.startswith("domain "):
            domains[int(word[1])] = re.search(r'"((?:[^"\\]|\\.)*)"', line).group(1)
        elif line.startswith("function "):
            functions.append(Function())
            in_code = False
        elif line.startswith("}"):
            in_code = False
        elif line.startswith("  code:"):
            in_code = True
        elif not functions or not line.startswith("  "):
            continue
        elif in_code:
            body = line.split("  # ")[0]
            functions[-1].code.append((word[0], fields(body)))
        elif VALUE.match(line):
            number, _, rest = VALUE.match(line).groups()
            kind = next(w for w in rest.split() if w in KINDS)
            functions[-1].values[int(number)] = dict(fields(rest), kind=kind)
        elif line.startswith("  segment "):
            functions[-1].segments[int(word[1])] = fields(line)
        elif line.startswith("  arena "):
            functions[-1].arenas.append(fields(line))
    if not functions:
        raise SystemExit("max_live: no function in the plan; wanted the text of `ge dump --to memory`")
    return domains, functions


def uses(function):
    """By value: position of its writer, and of its last use."""
    first, last = {}, {}
    for at, (op, f) in enumerate(function.code):
        reads, writes = [], []
        if op == "launch":
            s = function.segments[int(f.get("segment", 0))]
            reads = ids(s.get("inputs", ""))
            writes = ids(s.get("outputs", "")) + ids(s.get("internals", ""))
            writes += [int(s["workspace"])] if "workspace" in s else []
        elif op == "copy":
            reads, writes = [int(f["src"])], [int(f["dst"])]
        for v in writes:
            first[v] = at
        for v in reads + writes:
            last[v] = max(last.get(v, at), at)
    return first, last


def place_of(function, v):
    """The value that heads the chain of alias_of, so that one place is counted once."""
    seen = set()
    while int(function.values[v].get("alias_of", 0)) and v not in seen:
        seen.add(v)
        v = int(function.values[v]["alias_of"])
    return v


def live_bytes(function, live):
    """Bytes of a set of live values; values in one place count as the largest of them."""
    places = {}
    for v in live:
        place = place_of(function, v)
        places[place] = max(places.get(place, 0), int(function.values[v].get("bytes", 0)))
    return sum(places.values())


def bound(function, domain):
    """The fullest moment of the values of a domain."""
    first, last = uses(function)
    values = function.values
    mine = [v for v in first if int(values[v].get("domain", 0)) == domain and
            values[v]["kind"] in ("transient", "internal", "workspace")]
    starts = {}
    for v in mine:
        starts.setdefault(first[v], []).append(v)
    live, best = set(), 0
    for at in range(len(function.code)):
        live = {v for v in live if last[v] >= at} | set(starts.get(at, []))
        inside = [v for v in live if values[v]["kind"] == "internal"]
        steps = {int(values[v].get("first_step", 0)) for v in inside} or {0}
        for step in steps:
            idle = {v for v in inside if not (int(values[v].get("first_step", 0)) <= step <=
                                              int(values[v].get("last_step", 0)))}
            best = max(best, live_bytes(function, live - idle))
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", help="text of a plan after MEMORY, or - for standard input")
    parser.add_argument("--max-live", type=int, help="max_live_bytes, over all domains")
    parser.add_argument("--arena", type=int, help="arena_bytes, over all domains")
    parser.add_argument("--limit", type=float, default=1.10, help="max-live / bound (1.10)")
    parser.add_argument("--arena-limit", type=float, default=1.10, help="arena / max-live (1.10)")
    args = parser.parse_args()
    with (sys.stdin if args.plan == "-" else open(args.plan, encoding="utf-8")) as file:
        domains, functions = parse(file)
    report = {"domains": {}}
    for domain, name in domains.items():
        live = max(bound(f, domain) for f in functions)
        arena = max(sum(int(a.get("bytes", 0)) for a in f.arenas
                        if int(a.get("domain", 0)) == domain and a.get("use", "transient") ==
                        "transient") for f in functions)
        report["domains"][name] = {"bound_bytes": live, "arena_bytes": arena}
        if arena < live:
            raise SystemExit(f"max_live: the arena of domain '{name}' has {arena} bytes, but {live} "
                             "are live at one moment")
    report["bound_bytes"] = sum(d["bound_bytes"] for d in report["domains"].values())
    ok = True
    if args.max_live is not None and report["bound_bytes"]:
        report["max_live_ratio"] = args.max_live / report["bound_bytes"]
        ok = report["max_live_ratio"] <= args.limit
    if args.max_live and args.arena is not None:
        report["arena_ratio"] = args.arena / args.max_live
        ok = ok and report["arena_ratio"] <= args.arena_limit
    print(json.dumps(report))
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
