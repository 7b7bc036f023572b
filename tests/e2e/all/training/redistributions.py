#!/usr/bin/env python3
"""Tensors from layout to layout: what passes/parallel plans (ge-shardcheck --redistributions), executed
here on the numbers of all ranks, beside PyTorch's DTensor on the same tensors: right, and in no
case more bytes than DTensor's cheapest plan that is right; and the kinds of case in which DTensor is
known to err, with what it makes of them. Without PyTorch (GE_TORCH, a Python that
has it; build/venv-torch) DTensor is skipped.

  redistributions.py [--cases N] [--seed N]"""
import argparse
import itertools
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path[:0] = [str(ROOT / "tests/e2e/training"), str(ROOT / "tests/e2e/all/training")]
import parallel  # noqa: E402
from parallel_nets import find_torch  # noqa: E402

# By the number of a report about DTensor (dtensor_faults.py says what each is): the same tensors here. Of
# 163241 and 179502, which are operators, cases are in tools/shardcheck/cases, and of all of them in
# tests/e2e/training/parallel_plans.py.
FAULTS = {"144109": ([4], [2, 14], [1], ["whole"]), "172812": ([2], [5], [0], ["whole"]),
          "194457": ([2, 2], [5, 3], [0, 0], ["whole", "whole"]),
          "194457, from a sum": ([2, 2], [5, 3], ["sum", "sum"], [0, 0])}
MESHES = [[2], [3], [4], [2, 2], [2, 3], [2, 4], [4, 2], [2, 2, 2]]
JOINS = {"sum": np.add, "max": np.maximum, "min": np.minimum}


def share(size, shares, at):
    each = -(-size // shares)
    first = min(size, each * at)
    return first, min(each, size - first)


class Mesh:
    def __init__(self, sizes):
        self.sizes, self.ranks = sizes, math.prod(sizes)
        self.at = list(itertools.product(*map(range, sizes)))  # by rank; the last axis is fastest

    def groups(self, axes):
        """Ranks that differ along these axes alone, each in order."""
        groups = {}
        for rank, at in enumerate(self.at):
            others = tuple(-1 if a in axes else c for a, c in enumerate(at))
            groups.setdefault(others, []).append(rank)
        return list(groups.values())

    def nested(self, dims, places):
        """Boxes where each axis splits what the axes ahead of it left, as DTensor's do."""
        boxes = []
        for at in self.at:
            box = [[0, n] for n in dims]
            for axis, place in enumerate(places):
                if not isinstance(place, str):
                    first, size = share(box[place][1], self.sizes[axis], at[axis])
                    box[place] = [box[place][0] + first, size]
            boxes.append(box)
        return boxes


def same(boxes, others):
    """Empty parts are anywhere."""
    return all(x[1] == y[1] and (x[1] == 0 or x[0] == y[0])
               for box, other in zip(boxes, others) for x, y in zip(box, other))


def cut(x, box):
    return x[tuple(slice(first, first + size) for first, size in box)]


def terms_of(places):
    return [a for a, p in enumerate(places) if p in JOINS]


def scattered(whole, mesh, places, boxes, random_):
    """What each rank holds; terms are made up."""
    held = [cut(whole, box).copy() for box in boxes]
    terms = terms_of(places)
    if not terms:
        return held
    for group in mesh.groups(terms):
        part, keeper = held[group[0]], random_.integers(len(group))
        kind, drawn = places[terms[0]], random_.integers(0, 100, (len(group), *part.shape))
        for k, rank in enumerate(group):
            others = drawn.sum(0) - drawn[k]
            kept = part - others if kind == "sum" else part
            other = {"sum": drawn[k], "max": part - drawn[k], "min": part + drawn[k]}[kind]
            held[rank] = kept if k == keeper else other
    return held


def joined(parts, kind):
    total = parts[0]
    for part in parts[1:]:
        total = JOINS[kind](total, part)
    return total


def executed(held, mesh, plan, kind):
    """The steps of a plan, as passes/parallel/collectives.h says what collectives do."""
    boxes = plan["from"]
    for step in plan["steps"]:
        after = list(held)
        if step["kind"] == "slice":
            for rank, (old, new) in enumerate(zip(boxes, step["boxes"])):
                after[rank] = cut(held[rank], [[n[0] - o[0] if n[1] else 0, n[1]]
                                               for o, n in zip(old, new)])
        for group in mesh.groups(step["axes"]) if step["kind"] != "slice" else []:
            parts = [held[r] for r in group]
            x = np.concatenate(parts, step["gather_dim"]) if step["gather_dim"] >= 0 else \
                joined(parts, kind)
            for k, rank in enumerate(group):
                first, size = share(x.shape[step["split_dim"]], len(group), k)
                after[rank] = x if step["split_dim"] < 0 else \
                    x.take(range(first, first + size), step["split_dim"])
        held, boxes = after, step["boxes"]
    return held


class Redistributions:
    def __init__(self, seed):
        self.random, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.passed = self.failed = 0

    def check(self, name, good, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}: {str(detail).strip()[-1000:]}")

    def places(self, mesh, rank, kind):
        return [self.random.choice(["whole", kind, *range(rank), *range(rank)]) for _ in mesh.sizes]

    def drawn(self):
        """One that both have words for: boxes of its ends are alike, terms come of terms."""
        while True:
            mesh = Mesh(self.random.choice(MESHES))
            even = self.random.random() < 0.5  # all shares of one size
            sizes = [mesh.ranks, 2 * mesh.ranks] if even else range(1, 13)
            dims = self.random.choices(sizes, k=self.random.randint(1, 3))
            kind = self.random.choice(["sum", "sum", "max", "min"])
            start, end = (self.places(mesh, len(dims), kind) for _ in range(2))
            made = any(e in JOINS and s not in JOINS for s, e in zip(start, end))
            if start != end and not made:
                return self.case(mesh, dims, start, end)

    @staticmethod
    def case(mesh, dims, start, end):
        names = ",".join(f"{name}={n}" for name, n in zip("abcd", mesh.sizes))
        return {"mesh": names, "sizes_of_mesh": mesh.sizes, "dims": dims, "element": 8, "from": start,
                "to": end}

    @staticmethod
    def plans(cases, scratch):
        (scratch / "cases.json").write_text(json.dumps({"cases": cases}))
        done = subprocess.run([str(parallel.BUILD / "bin/ge-shardcheck"), "--redistributions",
                               str(scratch / "cases.json")], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
        return json.loads(done.stdout)["cases"]

    def shared(self, n, scratch):
        """Of many that are drawn the first n whose boxes are alike."""
        drawn = [self.drawn() for _ in range(2 * n)]
        kept = []
        for case, plan in zip(drawn, self.plans(drawn, scratch)):
            mesh = Mesh(case["sizes_of_mesh"])
            if all(same(plan[end], mesh.nested(case["dims"], case[end])) for end in ("from", "to")):
                kept.append((case, plan))
        if len(kept) < n:
            sys.exit(f"{len(kept)} of {2 * n} drawn are shared, wanted {n}")
        return kept[:n]

    def ours(self, case, plan):
        """Draws what ranks hold, and executes the plan."""
        mesh = Mesh(case["sizes_of_mesh"])
        whole = np.arange(1, math.prod(case["dims"]) + 1).reshape(case["dims"])
        held = scattered(whole, mesh, case["from"], plan["from"], self.numbers)
        case["ranks"] = [x.flatten().tolist() for x in held]
        case["sizes"] = [list(x.shape) for x in held]
        kind = next((p for p in case["from"] if p in JOINS), "sum")
        self.check(f"{self.text(case)}: the plan is right", "steps" in plan and
                   self.wrong(case, plan["to"], executed(held, mesh, plan, kind)) == "", plan)

    @staticmethod
    def text(case):
        return f"{case['mesh']} of {case['dims']}: {case['from']} to {case['to']}"

    @staticmethod
    def wrong(case, boxes, held):
        """Empty, or what a rank holds that is not its box of the whole."""
        mesh, terms = Mesh(case["sizes_of_mesh"]), terms_of(case["to"])
        whole = np.arange(1, math.prod(case["dims"]) + 1).reshape(case["dims"])
        for group in mesh.groups(terms):
            for rank in group:
                wanted = cut(whole, boxes[rank])
                got = [held[r] for r in group] if terms else [held[rank]]
                if any(x.shape != wanted.shape for x in got):
                    return f"rank {rank} holds {list(got[0].shape)}, wanted {list(wanted.shape)}"
                if not np.array_equal(joined(got, case["to"][terms[0]] if terms else "sum"), wanted):
                    return f"rank {rank} holds other numbers"
        return ""

    def theirs(self, cases, torch, scratch):
        source, to = scratch / "theirs.json", scratch / "results.json"
        source.write_text(json.dumps({"cases": cases}))
        done = subprocess.run([torch, str(ROOT / "tests/e2e/all/training/dtensor.py"), str(source),
                               str(to)], capture_output=True, text=True, timeout=600, check=False)
        self.check("torch runs", done.returncode == 0, done.stderr)
        return json.loads(to.read_text()) if done.returncode == 0 else None

    def judged(self, case, boxes, result):
        """By planner: its bytes, or what is wrong."""
        said = {}
        for planner, one in result.items():
            if "error" in one:
                said[planner] = one["error"]
                continue
            held = [np.array(x, np.int64).reshape(dims) for x, dims in zip(one["ranks"], one["sizes"])]
            said[planner] = self.wrong(case, boxes, held) or one["moved"]
        return said

    def faults(self, torch, scratch):
        cases = [self.case(Mesh(mesh), *rest) for mesh, *rest in FAULTS.values()]
        for case, plan in zip(cases, self.plans(cases, scratch)):
            self.ours(case, plan)
        if torch is None:
            return
        done = subprocess.run([torch, str(ROOT / "tests/e2e/all/training/dtensor_faults.py")],
                              capture_output=True, text=True, timeout=600, check=False)
        self.check("torch says what it makes of known faults", done.returncode == 0, done.stderr)
        for name, said in json.loads(done.stdout or "{}").items():
            print(f"DTensor, {name}: {said}")

    def beside(self, kept, results):
        ours = theirs = less = erred = even = less_even = 0
        for (case, plan), result in zip(kept, results):
            said = self.judged(case, plan["to"], result)
            wrong = {k: v for k, v in said.items() if isinstance(v, str)}
            right = [v for v in said.values() if not isinstance(v, str)]
            erred += bool(wrong)
            if wrong:
                print(f"DTensor errs: {self.text(case)}: {wrong}")
            self.check(f"{self.text(case)}: DTensor is right by some planner", right, said)
            if not right:
                continue
            self.check(f"{self.text(case)}: no more bytes than DTensor", plan["moved"] <= min(right),
                       (plan["moved"], said, [s["kind"] for s in plan["steps"]]))
            fewer = plan["moved"] < min(right)
            ours, theirs, less = ours + plan["moved"], theirs + min(right), less + fewer
            divides = all(n % math.prod(case["sizes_of_mesh"]) == 0 for n in case["dims"])
            even, less_even = even + divides, less_even + (divides and fewer)
        print(f"{len(kept)} redistributions: {ours} bytes, by DTensor's best plans {theirs}; fewer in {less}, of "
              f"{even} with even shares in {less_even}; DTensor errs in {erred}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    torch, checks, skipped = find_torch(), Redistributions(a.seed), 0
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        kept = checks.shared(a.cases, scratch)
        for case, plan in kept:
            checks.ours(case, plan)
        results = checks.theirs([case for case, _ in kept], torch, scratch) if torch else None
        if results:
            print(f"torch {results['torch']}")
            checks.beside(kept, results["cases"])
        checks.faults(torch, scratch)
    if torch is None:
        skipped = 1
        print("DTensor is not compared with: tests/e2e/all/training/train_torch.sh makes "
              "build/venv-torch; or GE_TORCH=PYTHON")
    print(f"{checks.passed} passed, {checks.failed} failed, {skipped} skipped; seed {a.seed}")
    sys.exit(checks.failed != 0)


if __name__ == "__main__":
    main()
