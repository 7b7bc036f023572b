#!/usr/bin/env python3
"""Which operators are slower than in ONNX Runtime: every operator x its types x three sizes, timed.

Models of one node (rows_*.py) run on both, each side in a process of its own, in turns; a figure is
the least of all runs of all turns, a ratio ours / ONNX Runtime's. Sizes are such that ONNX Runtime
takes about 10 us, 100 us and 1 ms. Prices are learned in an empty folder that is dropped. Rows above
--above are printed, the worst first, with the engines that ran them; what ONNX Runtime refuses is
named and counts in no mean. Answers are compared. Exit code 1: an answer differs, ours refused what
ONNX Runtime runs, or a row of more than 50 us lies above 3.

Examples:
  tools/bench/operators/operators.py                        # all of it, 10 to 15 minutes
  tools/bench/operators/operators.py --only LSTM --only Conv --threads 1 --above 0
  tools/bench/operators/operators.py --only 'Reduce*' --type f64 --size large
  tools/bench/operators/operators.py --json > operators.json
"""
import argparse
import collections
import fnmatch
import json
import math
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import project_venv  # noqa: E402

project_venv.enter("numpy", "onnx", "onnxruntime", "ml_dtypes")

import numpy as np  # noqa: E402
import onnx  # noqa: E402

import operator_rows  # noqa: E402
import rows_layers  # noqa: E402,F401
import rows_microsoft  # noqa: E402,F401
import rows_ml  # noqa: E402,F401
import rows_movement  # noqa: E402,F401
import rows_pointwise  # noqa: E402,F401

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_S = 30            # of one command to a side
WARM_S, TURN_S = 0.005, 0.003
REST_S = 0.01          # until threads of the other side, which spin behind a run, sleep
MOST_BYTES = 48 << 20   # of a row's inputs
ROWS_A_PROCESS = 40
FITS = 4                # tries to find how large a row's inputs are
MUCH, MUCH_US = 3.0, 50.0
# Of the largest magnitude of an output; codes of 8 bits may be one apart.
TOLERANCE = {"f64": 1e-6, "f32": 1e-3, "f16": 2e-2, "bf16": 5e-2}


class Side:
    """A process that is started again after it ended or said nothing for LIMIT_S."""

    def __init__(self, name, threads, engines, environment):
        self.command = [sys.executable, str(HERE / "operator_side.py"), name, str(threads), engines]
        self.environment, self.process, self.rows = environment, None, 0

    def ask(self, command):
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                            env=self.environment)
            self.rows = 0
        try:
            self.process.stdin.write(json.dumps(command).encode() + b"\n")
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], LIMIT_S)
            line = self.process.stdout.readline() if ready else b""
        except BrokenPipeError:
            ready, line = True, b""
        if line:
            return json.loads(line)
        self.process.kill()
        code = self.process.wait()
        self.process = None
        return {"error": f"ended by signal {-code}" if ready else f"no answer in {LIMIT_S} s"}

    def end(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()
            self.process = None


def write_case(row, size, seed, folder):
    """Writes model and inputs; answers the command that loads them."""
    model, feeds = operator_rows.make(row, size, seed)
    path, data, inputs = folder / "case.onnx", folder / "case.feeds", []
    onnx.save(model, path)
    with open(data, "wb") as f:
        for name, array in feeds.items():
            f.write(b"\0" * (-f.tell() % 64))
            inputs.append([name, int(onnx.helper.np_dtype_to_tensor_dtype(array.dtype)),
                           list(array.shape), f.tell(), array.nbytes])
            f.write(array.tobytes())
    return {"load": str(path), "feeds": str(data), "inputs": inputs, "warm": WARM_S}


def arrays(said, path):
    data, out = path.read_bytes(), []
    for number, dims, offset, size in said["outputs"]:
        kind = onnx.helper.tensor_dtype_to_np_dtype(number)
        out.append(np.frombuffer(data[offset:offset + size], kind).reshape(dims))
    return out


def apart(mine, theirs, drawn):
    """Why two answers differ, "" where they do not."""
    for i, (a, b) in enumerate(zip(mine, theirs)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"output {i} is {a.dtype}{list(a.shape)}, wanted {b.dtype}{list(b.shape)}"
        if drawn or not a.size:
            continue
        name = next(k for k, v in operator_rows.TYPES.items() if np.dtype(v) == b.dtype)
        x, y = a.astype(np.float64), b.astype(np.float64)
        same = (x == y) | (np.isnan(x) & np.isnan(y))
        with np.errstate(invalid="ignore"):
            off = np.where(same, 0, np.abs(x - y))
        finite = np.abs(y[np.isfinite(y)])
        most = TOLERANCE.get(name, 0) * max(1, finite.max(initial=0)) + (name in ("i8", "u8"))
        if not off.max() <= most:
            return f"output {i} is {off.max():.2g} off, at most {most:.2g}"
    return ""


def measure(row, size, threads, sides, command, args):
    """One row of the table; "refused" or "unsupported" instead of times."""
    found = {"op": row["op"], "row": operator_rows.label(row), "type": row["type"], "size": size,
             "threads": threads}
    folder = pathlib.Path(command["load"]).parent
    said = {}
    for name in ("ort", "ours"):
        path = folder / f"{name}.outputs"
        said[name] = sides[name].ask({**command, "outputs": str(path)})
        if "error" in said[name]:
            kind = "unsupported" if name == "ort" else "refused"
            if name == "ours":
                sides["ort"].ask({"close": 1})
            return {**found, kind: said[name]["error"]}
        said[name] = arrays(said[name], path)
    found["apart"] = apart(said["ours"], said["ort"], row["drawn"])
    least = {"ours": math.inf, "ort": math.inf}
    for turn in range(args.rounds):
        for name in (("ours", "ort"), ("ort", "ours"))[turn % 2]:
            if threads > 1:
                time.sleep(REST_S)
            least[name] = min(least[name], sides[name].ask({"run": TURN_S}).get("ns", math.inf))
    found |= {**sides["ours"].ask({"close": 1}), **sides["ort"].ask({"close": 1})}
    if math.inf in least.values():
        return {**found, "refused": "a later run failed"}
    return {**found, "ours_us": least["ours"] / 1e3, "ort_us": least["ort"] / 1e3,
            "ratio": least["ours"] / least["ort"]}


def measure_all(rows, args, folder, say):
    environment = {**os.environ, "GE_CACHE_DIR": str(folder / "cache")}
    sides = {t: {name: Side(name, t, args.engines, environment) for name in ("ours", "ort")}
             for t in args.threads}
    found = []
    for i, row in enumerate(rows):
        say(f"{i + 1}/{len(rows)} {operator_rows.label(row)} {row['type']}")
        for size in args.size:
            command = write_case(row, size, args.seed, folder)
            results = [measure(row, size, t, sides[t], command, args) for t in args.threads]
            found += results
            if any("unsupported" in r for r in results):
                break
        if (i + 1) % ROWS_A_PROCESS == 0 or i + 1 == len(rows):
            for pair in sides.values():
                for side in pair.values():
                    side.end()
    return found


def fit_sizes(row, sides, folder, args):
    """The three n with which ONNX Runtime takes about what SIZES says; None where it refuses."""
    key, found = f"{operator_rows.label(row)} {row['type']}", dict(operator_rows.units(row))
    for size, wanted_us in operator_rows.SIZES.items():
        for _ in range(FITS):
            operator_rows.MEASURED[key] = list(found.values())
            command = write_case(row, size, args.seed, folder)
            said = sides["ort"].ask({**command, "outputs": str(folder / "ort.outputs")})
            if "error" in said:
                return None
            least = sides["ort"].ask({"run": TURN_S})["ns"] / 1e3
            sides["ort"].ask({"close": 1})
            if 0.8 < least / wanted_us < 1.25:
                break
            bytes_now = max(1, sum(size_ for *_, size_ in command["inputs"]))
            factor = min(8, MOST_BYTES / bytes_now, max(1 / 8, wanted_us / least))
            found[size] = max(1, int(float(f"{found[size] * factor:.2g}")))
    return list(found.values())


def write_sizes(rows, args, folder, say):
    """Measures sizes.json for the rows: where a machine is quiet."""
    sides = {"ort": Side("ort", 1, "", os.environ)}
    for i, row in enumerate(rows):
        key = f"{operator_rows.label(row)} {row['type']}"
        say(f"{i + 1}/{len(rows)} {key}")
        found = fit_sizes(row, sides, folder, args)
        operator_rows.MEASURED.pop(key, None)
        if found:
            operator_rows.MEASURED[key] = found
    sides["ort"].end()
    lines = [f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(operator_rows.MEASURED.items())]
    operator_rows.SIZES_FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def text_of(r):
    who = ",".join(r.get("engines", [])) or "host"
    if r.get("on_ref"):
        who += f" ({' '.join(r['on_ref'])})"
    mark = "!" if r["ratio"] > MUCH and r["ours_us"] > MUCH_US else " "
    return (f"{r['ratio']:8.2f}{mark} {r['ours_us']:10.1f} {r['ort_us']:10.1f}  "
            f"{r['row'] + ' ' + r['type']:46} {r['size']:7}{r['threads']:2}  {who}")


def report(found, args):
    """Prints the table; answers whether all is as it must be."""
    timed = sorted((r for r in found if "ratio" in r), key=lambda r: -r["ratio"])
    print(f"{'ratio':>8}  {'ours us':>10} {'ort us':>10}  {'operator and type':46} {'size':7}th"
          f"  engines; nodes on ref")
    for r in timed:
        if r["ratio"] > args.above:
            print(text_of(r))
    much = [r for r in timed if r["ratio"] > MUCH and r["ours_us"] > MUCH_US]
    for key, title in (("unsupported", "ONNX Runtime refuses"), ("refused", "ours refuses"),
                       ("apart", "answers differ")):
        first = {}
        for r in found:
            if r.get(key):
                first.setdefault((r["row"], r["type"]), r[key])
        print(f"{title}: {len(first)}")
        for (name, kind), why in first.items():
            print(f"  {name} {kind}: {why[:150]}")
    for t in args.threads:
        ratios = [r["ratio"] for r in timed if r["threads"] == t]
        above = collections.Counter(limit for r in ratios for limit in (1, 2, 3) if r > limit)
        print(f"{t} thread{'s' * (t > 1)}: {len(ratios)} times, geometric mean "
              f"{geometric_mean(ratios):.3f}; above 1: {above[1]}, 2: {above[2]}, 3: {above[3]}")
    pairs = {(r["op"], r["type"]) for r in timed}
    print(f"operators x types: {len(pairs)}; rows: {len({(r['row'], r['type']) for r in timed})}; "
          f"geometric mean of all {geometric_mean([r['ratio'] for r in timed]):.3f}; "
          f"above {MUCH:g} and {MUCH_US:g} us: {len(much)}")
    return not much and not any(r.get("refused") or r.get("apart") for r in found)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="OP",
                        help="operator or OP/variant, with * and ?; may be repeated")
    parser.add_argument("--type", action="append", choices=list(operator_rows.TYPES),
                        help="may be repeated (default: all)")
    parser.add_argument("--size", action="append", choices=list(operator_rows.SIZES),
                        help="may be repeated (default: all)")
    parser.add_argument("--threads", default="1,2", help="numbers of threads (default 1,2)")
    parser.add_argument("--engines", default="", help="ours by these alone, e.g. ref")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each side (default 3)")
    parser.add_argument("--above", type=float, default=2.0, help="ratios that are printed (default 2)")
    parser.add_argument("--seed", type=int, default=1, help="of inputs (default 1)")
    parser.add_argument("--list", action="store_true", help="print the rows and measure nothing")
    parser.add_argument("--sizes", action="store_true",
                        help="measure how large the rows' inputs are and write sizes.json")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    args = parser.parse_args()
    args.threads = [int(t) for t in args.threads.split(",")]
    args.size = args.size or list(operator_rows.SIZES)
    return args


def chosen(args):
    rows = [r for r in operator_rows.ROWS if not args.type or r["type"] in args.type]
    if args.only:
        rows = [r for r in rows if any(fnmatch.fnmatchcase(text, p) for p in args.only
                                       for text in (r["op"], operator_rows.label(r)))]
    if not rows:
        sys.exit("operators.py: no row has this operator and type; --list names them")
    return rows


def main():
    args = parse_arguments()
    rows = chosen(args)
    if args.list:
        print("\n".join(f"{operator_rows.label(r)} {r['type']}" for r in rows))
        return 0

    def say(text):
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\033[K{text}")
    folder, begin = pathlib.Path(tempfile.mkdtemp(prefix="operators.")), time.monotonic()
    try:
        if args.sizes:
            write_sizes(rows, args, folder, say)
            return 0
        found = measure_all(rows, args, folder, say)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    say("")
    if args.json:
        print(json.dumps({"seed": args.seed, "rows": found}))
        return 0
    print(f"seed {args.seed}, {time.monotonic() - begin:.0f} s")
    return 0 if report(found, args) else 1


if __name__ == "__main__":
    sys.exit(main())
