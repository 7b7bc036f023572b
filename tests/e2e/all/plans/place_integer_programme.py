#!/usr/bin/env python3
"""SolvePlacement against an integer programme on 100 graphs that are not series-parallel.

Set partition over columns: a column is one offer, or a connected set of growable offers of one
device. Bringing a value from place a to place b is a variable that a producing column and a
reading column together force to one. Cycles between columns are cut off as they appear.
Passes when every cost of ours is at most 1.02 times the optimum, and never below it.

Run: place_integer_programme.py [--ge-unit build/release/bin/ge-unit]   (needs PyPI highspy)
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

try:
    import highspy
except ImportError:
    sys.exit("place_integer_programme: no module highspy; install it: pip install highspy")

TOLERANCE = 1.02


class Problem:
    def __init__(self, p):
        self.p = p
        self.values, self.offers = p["values"], p["offers"]
        self.n = p["n_node"]
        for o in self.offers:
            o["set"] = frozenset(o["nodes"])
            o["layouts"] = dict(map(tuple, o["layout"] or []))
        self.next = collections.defaultdict(set)
        for v in self.values:
            if v["producer"] >= 0:
                self.next[v["producer"]].update(v["users"])
        self.reach = [self._reach(n) for n in range(self.n)]
        self.columns = self._columns()

    def _reach(self, n):
        seen, stack = set(), [n]
        while stack:
            for m in self.next[stack.pop()]:
                if m not in seen:
                    seen.add(m)
                    stack.append(m)
        return seen

    def convex(self, nodes):
        between = set().union(*(self.reach[n] for n in nodes)) - nodes
        return not any(self.reach[m] & nodes for m in between)

    def orderable(self, offers):
        """Whether the offers of one column can run one after the other."""
        left = set(offers)
        while left:
            free = [o for o in left
                    if not any(self.next[n] & self.offers[o]["set"]
                               for q in left - {o} for n in self.offers[q]["nodes"])]
            if not free:
                return False
            left -= set(free)
        return True

    def _columns(self):
        found = {frozenset([o]) for o in range(len(self.offers))}
        grow = [o for o in range(len(self.offers)) if self.offers[o]["growable"]]

        def touches(a, b):
            x, y = self.offers[a]["nodes"], self.offers[b]["set"]
            return any(self.next[n] & y for n in x) or any(
                self.next[n] & self.offers[a]["set"] for n in y)

        near = {a: [b for b in grow if b != a
                    and self.offers[a]["device"] == self.offers[b]["device"]
                    and not self.offers[a]["set"] & self.offers[b]["set"]
                    and touches(a, b)] for a in grow}
        stack = [frozenset([o]) for o in grow]
        while stack:
            column = stack.pop()
            nodes = set().union(*(self.offers[o]["set"] for o in column))
            for b in {b for a in column for b in near[a]} - column:
                bigger = column | {b}
                if bigger not in found and not nodes & self.offers[b]["set"]:
                    found.add(bigger)
                    stack.append(bigger)
        columns = []
        for offers in sorted(found, key=sorted):
            nodes = frozenset().union(*(self.offers[o]["set"] for o in offers))
            if self.convex(nodes) and self.orderable(offers):
                columns.append((offers, nodes))
        return columns

    def price(self, offers):
        take = [self.offers[o] for o in offers]
        cost = sum(o["marginal"] for o in take)
        cost += max(o["setup"] for o in take) + max(o["launch"] for o in take)
        for v in self.values:
            maker = [o for o in take if v["producer"] in o["set"]]
            if maker and any(u in o["set"] for u in v["users"] for o in take if o is not maker[0]):
                cost -= maker[0]["edge_saving"]
        return cost

    def place(self, offer, value):
        o = self.offers[offer]
        return (self.p["domain"][o["device"]], o["layouts"].get(value, 0))

    def bring(self, v, a, b):
        size, p = self.values[v]["bytes"], self.p
        cost = 0
        if a[0] != b[0]:
            cost += p["latency"][a[0]][b[0]] + size * p["per_byte"][a[0]][b[0]]
        if a[1] != b[1]:
            cost += p["relayout"] + size * p["relayout_per_byte"]
        return cost


class Programme:
    def __init__(self, problem):
        self.q = problem
        self.h = highspy.Highs()
        self.h.setOptionValue("output_flag", False)
        self.h.setOptionValue("mip_rel_gap", 1e-7)
        self.h.setOptionValue("time_limit", 300.0)
        self.n_var = 0
        for offers, _ in problem.columns:
            self.variable(problem.price(offers), True)
        for n in range(problem.n):
            self.row(1, 1, [(i, 1) for i, (_, nodes) in enumerate(problem.columns) if n in nodes])
        for v in range(len(problem.values)):
            self.boundary(v)

    def variable(self, cost, integer):
        self.h.addVar(0, 1)
        self.h.changeColCost(self.n_var, cost)
        if integer:
            self.h.changeColIntegrality(self.n_var, highspy.HighsVarType.kInteger)
        self.n_var += 1
        return self.n_var - 1

    def row(self, low, high, terms):
        self.h.addRow(low, high, len(terms), [i for i, _ in terms], [float(c) for _, c in terms])

    def boundary(self, v):
        q, value = self.q, self.q.values[v]
        host = (q.p["domain"][0], 0)
        made = collections.defaultdict(list)  # place -> columns that make the value there
        read = collections.defaultdict(lambda: collections.defaultdict(list))  # place, user
        for i, (offers, nodes) in enumerate(q.columns):
            for o in offers:
                if value["producer"] in q.offers[o]["set"]:
                    made[q.place(o, v)].append(i)
                for u in value["users"]:
                    if u in q.offers[o]["set"] and value["producer"] not in nodes:
                        read[q.place(o, v)][u].append(i)
        if value["producer"] < 0:
            made[host] = None
        if value["is_output"]:
            read[host]["output"] = None
        for a, makers in made.items():
            for b, readers in read.items():
                cost = q.bring(v, a, b)
                if a == b or cost == 0:
                    continue
                z = self.variable(cost, False)
                for columns in readers.values():
                    # z >= made there + read here outside - 1; None stands for "always"
                    terms = [(z, 1)] + [(i, -1) for part in (makers, columns) for i in part or []]
                    always = (makers is None) + (columns is None)
                    self.row(always - 1, highspy.kHighsInf, terms)

    def solve(self):
        while True:
            self.h.run()
            status = self.h.getModelStatus()
            if status != highspy.HighsModelStatus.kOptimal:
                raise RuntimeError("HiGHS stopped with " + self.h.modelStatusToString(status))
            x = self.h.getSolution().col_value
            taken = [i for i in range(len(self.q.columns)) if x[i] > 0.5]
            cycle = self.find_cycle(taken)
            if cycle is None:
                return self.h.getInfo().objective_function_value
            self.cut(cycle)

    def find_cycle(self, taken):
        """A shortest cycle as [(column, entered at node, left from node)], or None."""
        owner = {n: i for i in taken for n in self.q.columns[i][1]}
        edges = collections.defaultdict(dict)  # column -> next column -> (from node, to node)
        for n in range(self.q.n):
            for m in self.q.next[n]:
                if owner[n] != owner[m]:
                    edges[owner[n]].setdefault(owner[m], (n, m))
        best = None
        for start in taken:
            back, queue = {start: None}, collections.deque([start])
            while queue:
                i = queue.popleft()
                if start in edges[i]:
                    path = [i]
                    while back[path[-1]] is not None:
                        path.append(back[path[-1]])
                    path.reverse()
                    if best is None or len(path) < len(best):
                        best = path
                    break
                for j in edges[i]:
                    if j not in back:
                        back[j] = i
                        queue.append(j)
        if best is None:
            return None
        k = len(best)
        return [(best[i], edges[best[i - 1]][best[i]][1], edges[best[i]][best[(i + 1) % k]][0])
                for i in range(k)]

    def cut(self, cycle):
        """No k columns, the i-th with that entry and exit and with no other's, may be taken."""
        terms = []
        for i, (_, entry, leave) in enumerate(cycle):
            others = {n for j, (_, e, l) in enumerate(cycle) if j != i for n in (e, l)}
            for c, (_, nodes) in enumerate(self.q.columns):
                if entry in nodes and leave in nodes and not others & nodes:
                    terms.append((c, 1))
        self.row(-highspy.kHighsInf, len(cycle) - 1, terms)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ge-unit", default="build/release/bin/ge-unit")
    parser.add_argument("--limit", type=int, default=100, help="graphs to solve")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "problems.json")
        subprocess.run([args.ge_unit, "--gtest_filter=PlaceOracle.DumpForIntegerProgramme"],
                       check=True, env=dict(os.environ, GE_PLACE_DUMP=path),
                       stdout=subprocess.DEVNULL)
        with open(path) as f:
            dump = json.load(f)
    worst, equal, failed, methods = 1.0, 0, 0, collections.Counter()
    problems = dump["problems"][:args.limit]
    for i, p in enumerate(problems):
        problem = Problem(p)
        optimum = Programme(problem).solve()
        ratio = p["cost"] / optimum
        worst = max(worst, ratio)
        equal += abs(ratio - 1) < 1e-6
        methods[p["method"]] += 1
        if ratio > TOLERANCE or ratio < 1 - 1e-6:
            failed += 1
            print(f"graph {i} ({p['n_node']} nodes): ours {p['cost']:.6f} by {p['method']}, "
                  f"integer programme {optimum:.6f}")
        if sys.stderr.isatty():
            print(f"\r{i + 1}/{len(problems)}", end="", file=sys.stderr)
    print(f"place_integer_programme: seed {dump['seed']}, {len(problems)} graphs, {equal} equal to "
          f"the optimum, worst ratio {worst:.6f} (limit {TOLERANCE}), {failed} failed, "
          f"methods {dict(methods)}")
    print(f"{len(problems) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
