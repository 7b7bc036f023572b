#!/usr/bin/env python3
"""Computes from a printed plan how many bytes of each memory domain must be live at one moment.

Reads the text of `ge dump MODEL --to memory` and shares nothing with the planner or the prover. The
bound is the fullest moment of legal executions: of the one in which everything ends as it is
issued, and, when a device has streams, of random ones in which they run ahead or lag behind. A
value is live from the start of its writer to the end of its last use, an internal value at its
steps, a workspace during its launch; of values in one place (alias_of) the largest counts. No arena
can be smaller. With --max-live and --arena the figures of the prover and of MEMORY (as
`ge run --json` prints them) are compared: exit code 1 when max-live is above --limit times the
bound's total, or the arena above --arena-limit times max-live.

Examples:
  ge dump lenet.onnx --to memory > lenet.plan && tools/bench/plans/max_live.py lenet.plan
  tools/bench/plans/max_live.py resnet50.plan --max-live 9633792 --arena 9633792
"""
import argparse
import json
import random
import re
import sys

FIELD = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\[[^\]]*\]|\S+)')
VALUE = re.compile(r'^  value (\d+) ("(?:[^"\\]|\\.)*") : (.*)$')
NAME = re.compile(r'^\w+ (\d+) "((?:[^"\\]|\\.)*)"')
KINDS = ("input", "output", "constant", "state", "transient", "internal", "workspace")


def fields(text):
    return dict(FIELD.findall(text))


def number(record, name):
    return int(record.get(name, 0))


def ids(text):
    return [int(i) for i in text.strip("[]").split(",") if i.strip()]


class Instruction:
    def __init__(self, op, record, segments):
        self.op, self.stream = op, number(record, "stream")
        self.event, self.value = number(record, "event"), number(record, "value")
        self.segment = number(record, "segment")
        self.reads, self.writes = [], []
        if op == "launch":
            s = segments[self.segment]
            self.reads = ids(s.get("inputs", ""))
            self.writes = ids(s.get("outputs", "")) + ids(s.get("internals", ""))
            self.writes += [number(s, "workspace")] if number(s, "workspace") else []
        elif op == "copy":
            self.reads, self.writes = [number(record, "src")], [number(record, "dst")]
        elif op not in ("signal", "wait"):
            raise SystemExit(f"max_live: instruction '{op}' is control flow, which has no bound yet")


class Function:
    def __init__(self):
        self.values, self.segments, self.code, self.arenas, self.streams = {}, {}, [], [], 0


def parse(lines):
    """The domains' names and the functions of a printed plan."""
    domains, functions, in_code = {}, [], False
    for line in lines:
        word = line.split(None, 1)[:1]
        if line.startswith("domain "):
            at, name = NAME.match(line).groups()
            domains[int(at)] = name
        elif line.startswith("function "):
            functions.append(Function())
            in_code = False
        elif line.startswith("}"):
            in_code = False
        elif not functions or not line.startswith("  "):
            continue
        elif line.startswith("  code:"):
            in_code = True
        elif in_code:
            record = fields(line.split("  # ")[0])
            functions[-1].code.append(Instruction(word[0], record, functions[-1].segments))
        elif VALUE.match(line):
            at, _, rest = VALUE.match(line).groups()
            kind = next(w for w in rest.split() if w in KINDS)
            functions[-1].values[int(at)] = dict(fields(rest), kind=kind)
        elif line.startswith("  segment "):
            functions[-1].segments[int(line.split()[1])] = fields(line)
        elif line.startswith("  arena "):
            functions[-1].arenas.append(fields(line))
        elif line.startswith("  stream "):
            functions[-1].streams += 1
    if not functions:
        raise SystemExit("max_live: no function in the plan; wanted what `ge dump --to memory` prints")
    return domains, functions


class Live:
    """Bytes that are live now in one domain, and the most that ever were."""

    def __init__(self, function, domain):
        self.values, self.best = function.values, 0
        self.mine = {v for v, r in self.values.items() if number(r, "domain") == domain and
                     r["kind"] in ("transient", "internal", "workspace")}
        self.place = {v: self.head(v) for v in self.mine}
        self.uses = dict.fromkeys(self.mine, 0)
        for i in function.code:
            for v in set(i.reads + i.writes) & self.mine:
                self.uses[v] += 1

    def head(self, v):
        """The value that the chain of alias_of leads to."""
        for _ in self.values:
            if not number(self.values[v], "alias_of"):
                break
            v = number(self.values[v], "alias_of")
        return v

    def reset(self):
        self.left, self.now = dict(self.uses), set()

    def bytes_of(self, values):
        places = {}
        for v in values:
            at = self.place[v]
            places[at] = max(places.get(at, 0), number(self.values[v], "bytes"))
        return sum(places.values())

    def start(self, instruction):
        self.now |= set(instruction.writes) & self.mine
        inside = [v for v in self.now if self.values[v]["kind"] == "internal"]
        # Launches at one time may be at any of their steps: the fullest of each.
        for segment in {number(self.values[v], "segment") for v in inside}:
            of = [v for v in inside if number(self.values[v], "segment") == segment]
            steps = {number(self.values[v], "first_step") for v in of}
            at = {s: [v for v in of if number(self.values[v], "first_step") <= s <=
                      number(self.values[v], "last_step")] for s in steps}
            fullest = max(at.values(), key=self.bytes_of)
            self.now -= set(of) - set(fullest)
        self.best = max(self.best, self.bytes_of(self.now))

    def end(self, instruction):
        for v in set(instruction.reads + instruction.writes) & self.mine:
            self.left[v] -= 1
            if self.left[v] == 0:
                self.now.discard(v)
        self.now -= {v for v in instruction.writes if v in self.mine and
                     self.values[v]["kind"] == "internal"}


def execute(function, lives, choose):
    """Runs the function once. `choose(actions)` picks among what can happen next: ("host",),
    ("start", stream) and ("end", stream)."""
    for live in lives:
        live.reset()
    streams = max([function.streams] + [i.stream + 1 for i in function.code])
    queues, running, events = [[] for _ in range(streams)], [None] * streams, {}
    issued = 0

    def can_pass(i):
        return i.op != "wait" or events.get(i.event, 0) >= i.value

    while True:
        actions = []
        if issued < len(function.code):
            i = function.code[issued]
            if i.stream or can_pass(i):
                actions.append(("host", 0))
        for s in range(1, streams):
            if running[s]:
                actions.append(("end", s))
            elif queues[s] and can_pass(queues[s][0]):
                actions.append(("start", s))
        if not actions:
            break
        what, s = choose(actions)
        if what == "host":
            i = function.code[issued]
            issued += 1
            if i.stream:
                queues[i.stream].append(i)
                continue
            for live in lives:
                live.start(i)
                live.end(i)
        elif what == "start":
            running[s] = queues[s].pop(0)
            for live in lives:
                live.start(running[s])
        else:
            for live in lives:
                live.end(running[s])
            if running[s].op == "signal":
                events[running[s].event] = max(events.get(running[s].event, 0), running[s].value)
            running[s] = None
    if issued < len(function.code) or any(queues):
        raise SystemExit("max_live: the plan waits for ever")


def bounds(function, domains, runs, seed):
    """By domain: bytes of the fullest moment found."""
    lives = [Live(function, d) for d in domains]
    # All that is queued ends before the host goes on.
    execute(function, lives, lambda actions: actions[-1])
    if function.streams > 1:
        rng = random.Random(seed)
        for run in range(runs):
            # Each run has its own taste, so that streams drift far apart.
            weight = {}

            def taste(action):
                return weight.setdefault(action, 10 ** rng.uniform(-3, 3))

            execute(function, lives,
                    lambda actions: rng.choices(actions, [taste(a) for a in actions])[0])
    return {d: live.best for d, live in zip(domains, lives)}


def arena_bytes(function, domain):
    return sum(number(a, "bytes") for a in function.arenas if number(a, "domain") == domain and
               a.get("use", "transient") == "transient")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", help="text of a plan after MEMORY, or - for standard input")
    parser.add_argument("--max-live", type=int, help="max_live_bytes, over all domains")
    parser.add_argument("--arena", type=int, help="arena_bytes, over all domains")
    parser.add_argument("--limit", type=float, default=1.10, help="max-live / bound (1.10)")
    parser.add_argument("--arena-limit", type=float, default=1.10, help="arena / max-live (1.10)")
    parser.add_argument("--runs", type=int, default=300, help="random executions (300)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with (sys.stdin if args.plan == "-" else open(args.plan, encoding="utf-8")) as file:
        domains, functions = parse(file)
    live = [bounds(f, domains, args.runs, args.seed) for f in functions]
    report = {"domains": {}, "bound_bytes": 0, "arena_bytes": 0}
    for domain, name in domains.items():
        bound = max(of[domain] for of in live)
        arena = max(arena_bytes(f, domain) for f in functions)
        report["domains"][name] = {"bound_bytes": bound, "arena_bytes": arena}
        report["bound_bytes"] += bound
        report["arena_bytes"] += arena
        if arena < bound:
            raise SystemExit(f"max_live: the arena of domain '{name}' has {arena} bytes, but {bound} "
                             "are live at one moment")
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
