"""Ratios, intervals, bounds and the table of door.py.

Not a script by itself. A row is one figure of one model; it is "beyond" its bound only if the whole
95 % interval is, else "ok". Rows of the same group have one geometric mean, with an interval and a
bound of its own.
"""
import numpy as np

import speed

# (every model, geometric mean); None = no bound.
WARM = {1: (1.05, 0.88)}
WARM_ELSE = (1.10, 0.95)
FRESH = (1.20, 0.98)
FIRST = (1.50, 1.00)
BEST_OF_THREADS = (1.05, None)
BEST_OF_THREADS_NEIGHBOUR = (1.25, None)
BESIDE_NEIGHBOUR = (1.50, None)
REST_MS = (1.0, None)

NAMES = {"ort": "ORT", "openvino": "OpenVINO"}


def bounds_of_runs(threads, cache):
    return FRESH if cache == "fresh" else WARM.get(threads, WARM_ELSE)


def verdict(low, bound):
    """"ok", "beyond", or "-" where nothing is asked."""
    if bound is None:
        return "-"
    return "beyond" if low > bound else "ok"


def ratios(times, side, against):
    return [ours["ms"] / peer["ms"] for ours, peer in zip(times[side], times[against])]


def middle(found, key="ms"):
    return float(np.median([f[key] for f in found]))


def best_of(times, names):
    """The one of `names` with the least median."""
    return min(names, key=lambda name: middle(times[name]))


def ratio_row(row, times, side, names, bound):
    """Fills `row` with `side` / the best of `names`; "ratios" are those of single rounds."""
    best = best_of(times, names)
    each = ratios(times, side, best)
    low, high = speed.interval(each)
    return {**row, "against": best, "ratios": each, "ratio": float(np.median(each)), "low": low,
            "high": high, "bound": bound, "verdict": verdict(low, bound)}


def value_row(row, times, side, bound):
    """The same for a figure that is no ratio."""
    values = [f["ms"] for f in times[side]]
    low, high = speed.interval(values)
    return {**row, "against": None, "ratios": values, "ratio": float(np.median(values)), "low": low,
            "high": high, "bound": bound, "verdict": verdict(low, bound)}


def geometric_mean(rows, bound, draws=10000, seed=0):
    """That of the rows' ratios, its 95 % bootstrap interval (the rounds of each row are drawn again)
    and the verdict."""
    rng, logs = np.random.default_rng(seed), np.zeros(draws)
    for row in rows:
        each = np.asarray(row["ratios"])
        picks = rng.integers(0, len(each), (draws, len(each)))
        logs += np.log(np.median(each[picks], axis=1))
    low, high = np.exp(np.percentile(logs / len(rows), [2.5, 97.5]))
    mean = float(np.exp(np.mean([np.log(row["ratio"]) for row in rows])))
    return {"mean": mean, "low": float(low), "high": float(high), "models": len(rows),
            "bound": bound, "verdict": verdict(float(low), bound)}


def bound_text(bound):
    return "" if bound is None else f"<= {bound:.2f}"


def title(columns, figure, detail, what):
    """The table's first line. `columns` are (side, heading)."""
    heads = " ".join(f"{f'{head} {figure} ({detail})':>21}" for _, head in columns)
    return f"{'model':<12} {'threads':<7} {'cache':<5} {heads}  {what:<23} {'bound':<8} verdict"


def line(row, times, columns):
    """One line of the table; a column whose side was not run is empty."""
    cells = []
    for side, _ in columns:
        found = times.get(side)
        cells.append(f"{middle(found):>11.3f} ({middle(found, 'more'):>7.2f})" if found else "")
    cells = " ".join(f"{cell:>21}" for cell in cells)
    figure = f"{row['ratio']:>7.3f} [{row['low']:.3f}, {row['high']:.3f}]"
    against = f"  of {NAMES.get(row['against'], row['against'])}" if row["against"] else ""
    return (f"{row['model']:<12} {row['threads']:<7} {row['cache']:<5} {cells}  {figure:<23} "
            f"{bound_text(row['bound']):<8} {row['verdict']:<6}{against}").rstrip()


def mean_line(label, mean):
    return (f"{label}: geometric mean {mean['mean']:.3f} [{mean['low']:.3f}, {mean['high']:.3f}] "
            f"over {mean['models']} models"
            + ("" if mean["bound"] is None else f", {bound_text(mean['bound'])}: {mean['verdict']}"))
