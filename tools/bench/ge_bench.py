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


def explain(ge, model, common, extra=(), timeout=600):
    return call([str(ge), "explain", str(model), "--json", *common, *extra], timeout)


def time_plans(bench, model, common, plans, moves, rounds, clock="wall", timeout=3600):
    """ge-bench's answer for `plans` and so many single moves; each that ran gets "ratio", "low" and
    "high": its time / that of the session's own plan, with a 95 % bootstrap interval."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", prefix="ge-plans.") as file:
        json.dump(plans, file)
        file.flush()
        result = call([str(bench), str(model), "--plans", file.name, "--rounds", str(rounds),
                       "--moves", str(moves), "--clock", clock, *common], timeout)
    for answer in result["plans"]:
        if "ns" in answer:
            answer["ratio"], answer["low"], answer["high"] = ratio_interval(
                answer["ns"], answer["base_ns"])
    return result


def ratio_interval(ns, base_ns, draws=4000, seed=0):
    """Median of the ratios of pairs, and its 95 % bootstrap interval."""
    ratios = np.asarray(ns) / np.asarray(base_ns)
    picks = np.random.default_rng(seed).integers(0, len(ratios), (draws, len(ratios)))
    low, high = np.percentile(np.median(ratios[picks], axis=1), [2.5, 97.5])
    return float(np.median(ratios)), float(low), float(high)
