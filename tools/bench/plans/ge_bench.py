"""Drives ge-bench: makes lists of plans, runs it on a model's reference inputs, sums up the times.

Not a script by itself: market.py judges.
"""
import itertools
import json
import os
import subprocess
import tempfile

import numpy as np

import ge_run
import project_venv

DEFAULT_BENCH = project_venv.ROOT / "build" / "release" / "bin" / "ge-bench"


def orders(engines):
    """One plan for each order of `engines`, by priority; "ref" last means nothing here."""
    return [{"name": ">".join(order), "kind": "order", "policy": "priority", "order": list(order)}
            for order in itertools.permutations(engines)]


def call(command, timeout):
    """The JSON object that `command` prints; RunError in one sentence otherwise."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors="replace", timeout=timeout)
    except FileNotFoundError:
        raise ge_run.RunError(f"{os.path.relpath(command[0])} is not built; run: cmake --build "
                              "--preset release") from None
    except OSError as error:
        raise ge_run.RunError(f"{command[0]} cannot be started: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise ge_run.RunError(f"no end after {timeout} s") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise ge_run.RunError(f"exit {done.returncode}: {lines[-1]}")
    try:
        return json.loads(done.stdout)
    except ValueError as error:
        raise ge_run.RunError(f"stdout is not one JSON object: {error}") from None


def flags(folder, known, engines, threads, isa):
    """What `ge` and ge-bench are given beside the model."""
    out = ["--engines", engines, "--threads", str(threads), "--isa", isa]
    for name, file in known["inputs"].items():
        out += ["--input", f"{name}={folder / file}"]
    return out


def time_plans(bench, model, common, plans, moves, rounds, clock="wall", processes=1,
               timeout=3600):
    """ge-bench's answer for `plans` and so many single moves; each that ran gets "ratio", "low" and
    "high": its time / that of the session's own plan, with a 95 % bootstrap interval.

    The rounds are shared among `processes`: where a plan's memory comes to lie is chance, differs
    between processes and makes up to some percent, so that many rounds in one process are surer of
    that process than of the plan."""
    results = []
    with tempfile.NamedTemporaryFile("w", suffix=".json", prefix="ge-plans.") as file:
        json.dump(plans, file)
        file.flush()
        for _ in range(processes):
            results.append(call([str(bench), str(model), "--plans", file.name, "--rounds",
                                 str(-(-rounds // processes)), "--moves", str(moves), "--clock",
                                 clock, *common], timeout))
    for answer in results[0]["plans"]:
        timed = [p for r in results for p in r["plans"]
                 if "ns" in p and (p["kind"], p["name"]) == (answer["kind"], answer["name"])]
        if timed:
            answer["ratio"], answer["low"], answer["high"] = ratio_interval(
                [np.asarray(t["ns"]) / np.asarray(t["base_ns"]) for t in timed])
    return results[0]


def ratio_interval(groups, draws=4000, seed=0):
    """Median of the ratios of all groups, and its 95 % bootstrap interval: groups (processes) are
    drawn first, then ratios within each."""
    random, medians = np.random.default_rng(seed), []
    for _ in range(draws):
        drawn = [groups[k] for k in random.integers(0, len(groups), len(groups))]
        medians.append(np.median(np.concatenate([random.choice(g, len(g)) for g in drawn])))
    low, high = np.percentile(medians, [2.5, 97.5])
    return float(np.median(np.concatenate(groups))), float(low), float(high)
