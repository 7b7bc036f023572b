#!/usr/bin/env python3
"""A set of models as users export them, against ONNX Runtime and OpenVINO.

Half of the set is fixed (exports_fixed.py), half is drawn by --seed from the registries of timm,
torchvision and transformers with random weights; both of PyTorch's exporters, opsets 11 to 21. --make
exports them to build/exports, a process and --limit-s a model; what cannot be exported is listed and
the next drawn one takes its place.

Without --make it compares: outputs with ONNX Runtime's (within 1e-4 of the largest magnitude), times
of fresh processes in turns, the ratio being ours / the least of the peers with a 95 % bootstrap
interval over rounds; peak memory above idle of both; the share of ref by the plan's prices
(ge-test --coverage). Sorted by ratio, the geometric mean last. "*" marks medians of less than 30 runs, "!" a
ratio whose whole interval lies above --mark. Exit code 1: a model refused, or its answer is wrong.

Examples:
  tools/bench/exports/exports.py --setup
  tools/bench/exports/exports.py --make --jobs 2
  tools/bench/exports/exports.py --threads 1,2
  tools/bench/exports/exports.py stn_op20d --rounds 9 --seconds 3
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import project_venv  # noqa: E402

ROOT = project_venv.ROOT
VENV = ROOT / "build" / "venv-exports"
FOLDER = ROOT / "build" / "exports"
HERE = pathlib.Path(__file__).resolve().parent
TOLERANCE = 1e-4  # of an output's largest magnitude
RUNS = 30
DRAWN_EACH = 12  # models of each registry


def set_up():
    subprocess.run(["/usr/bin/python3", "-m", "venv", str(VENV)], check=True)
    subprocess.run([str(VENV / "bin" / "pip"), "install", "-q", "-r",
                    str(ROOT / "tools" / "setup" / "requirements-exports.txt")], check=True)


def export_one(args, *words):
    """(JSON that export_one.py prints, None) or (None, why not in one line)."""
    command = [sys.executable, str(HERE / "export_one.py"), *map(str, words)]
    environment = dict(os.environ, OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1", PYTHONWARNINGS="ignore")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=args.limit_s,
                              env=environment, check=False)
    except subprocess.TimeoutExpired:
        return None, f"no end after {args.limit_s} s"
    if done.returncode:
        return None, (done.stderr.strip().splitlines() or ["no message"])[-1][:160]
    return json.loads(done.stdout.strip().splitlines()[-1]), None


def export_drawn(args, row):
    """The drawn row, and where it fails, one of TorchScript's at opset 17: as a user would try."""
    text = f"{row['library']}_{row['model']}".replace("/", "_").replace(".", "_")
    row = {**row, "kind": "drawn", "name": f"{text}_op{row['opset']}{'d' if row['dynamo'] else ''}"}
    made, why = export_one(args, FOLDER, json.dumps(row))
    if made or "too many" in why or why.startswith("no end"):
        return row, made, why
    again = {**row, "opset": 17, "dynamo": False, "name": f"{text}_op17"}
    made, _ = export_one(args, FOLDER, json.dumps(again))
    return (again if made else row), made, why


def make_drawn(args, pool, failed):
    """Rows in drawn order until each library gave DRAWN_EACH."""
    rows, why = export_one(args, "--draw", args.seed, "--count", 4 * DRAWN_EACH)
    if rows is None:
        sys.exit(f"exports.py: nothing could be drawn: {why}")
    for library in ("timm", "torchvision", "transformers"):
        waiting, have = [r for r in rows if r["library"] == library], 0
        while waiting and have < DRAWN_EACH:
            wave, waiting = waiting[:DRAWN_EACH - have], waiting[DRAWN_EACH - have:]
            for row, made, why in pool.map(lambda r: export_drawn(args, r), wave):
                have += made is not None
                note(row, made, why, failed)


def note(row, made, why, failed):
    print(f"{row['name']}: {str(made['nodes']) + ' nodes' if made else 'FAILED ' + why}", flush=True)
    if not made:
        failed[row["name"]] = why


def make(args):
    import exports_fixed
    FOLDER.mkdir(parents=True, exist_ok=True)
    failed = {}
    print(f"seed {args.seed}")
    wanted = [r for r in exports_fixed.ROWS if not args.model or r["name"] in args.model]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        tries = pool.map(lambda r: (r, *export_one(args, FOLDER, json.dumps(r))), wanted)
        for row, made, why in tries:
            note(row, made, why, failed)
        if not args.model:
            make_drawn(args, pool, failed)
    for partial in FOLDER.glob("*.partial"):
        partial.unlink()
    print(f"{len(list(FOLDER.glob('*.onnx')))} models in {FOLDER.relative_to(ROOT)}, "
          f"{len(failed)} could not be exported")


def answer(file):
    """What `ge run --output` wrote: an array, or texts as JSON."""
    import numpy as np
    texts = file.with_suffix(".json")
    if texts.exists():
        return np.array(json.loads(texts.read_text()), dtype=str)
    return np.load(file, allow_pickle=True)


def difference(got, wanted):
    """The greatest difference by the largest magnitude; inf where shapes or kinds differ."""
    import numpy as np
    if wanted.dtype.kind == "O":  # texts
        wanted = wanted.astype(str)
    if got.shape != wanted.shape or got.dtype.kind != wanted.dtype.kind:
        return math.inf
    if wanted.size == 0:
        return 0.0
    if wanted.dtype.kind not in "fiu":
        return float(np.mean(got != wanted))
    a, b = got.astype(np.float64), wanted.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    apart = np.where(same, 0.0, np.abs(a - b))
    if not np.isfinite(apart).all():
        return math.inf
    return float(apart.max() / max(np.abs(b[np.isfinite(b)]).max(initial=0.0), 1e-30))


def probe(model, folder, known, args):
    """One run each: (greatest difference of an output, how many runs fit in --seconds, who of the
    peers runs the model at all)."""
    import numpy as np
    import ge_run
    import reference
    import speed
    args.repeat, args.warmup, peers = 1, 1, []
    with tempfile.TemporaryDirectory() as room:
        room = pathlib.Path(room)
        slowest, apart, theirs = 0.0, math.nan, None
        for peer in args.peers:
            try:
                found = speed.time_peer(peer, model, folder, known, args, room / f"{peer}.npz")
            except ge_run.RunError as problem:
                print(f"  {model.stem}: {str(problem)[:200]}", file=sys.stderr)
                continue
            peers.append(peer)
            slowest = max(slowest, found["median_ms"])
            theirs = theirs or room / f"{peer}.npz"
        ours = speed.time_ours(model, folder, known, args, output=room / "ours")
        slowest = max(slowest, ours["median_ms"])
        if theirs:
            wanted = np.load(theirs, allow_pickle=True)
            for name, key in zip(known["outputs"], wanted.files):
                got = answer(room / "ours" / reference.file_name(name))
                apart = max(0.0 if math.isnan(apart) else apart, difference(got, wanted[key]))
    repeat = int(min(max(1e3 * args.seconds / slowest, 3), 100))
    return apart, repeat, peers


def share_of_ref(model, folder, known, args):
    """{operator: percent of the plan's time on ref}, or None where it cannot be planned."""
    command = [str(pathlib.Path(args.ge).with_name("ge-test")), "--coverage", str(model), "--bound", "100"]
    for name, file in known["inputs"].items():
        command += ["--input", f"{name}={folder / file}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stderr.strip(), file=sys.stderr)
        return None
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    return {op: float(percent) for op, percent, *_ in rows}


def race(model, args, threads):
    """One model's row at so many threads."""
    import numpy as np
    import speed
    folder = model.with_suffix("")
    known = json.loads((folder / "reference.json").read_text())
    args.threads = threads
    with tempfile.TemporaryDirectory() as cache:
        os.environ["GE_CACHE_DIR"] = cache  # starts empty; what our first round learns, later ones have
        apart, args.repeat, peers = probe(model, folder, known, args)
        args.warmup, who, found = 2, ["ours", *peers], {}
        for i in range(args.rounds):
            speed.progress(f"{model.stem}: round {i + 1} of {args.rounds}")
            for side in who[i % len(who):] + who[:i % len(who)]:
                report = (speed.time_ours(model, folder, known, args) if side == "ours" else
                          speed.time_peer(side, model, folder, known, args))
                found.setdefault(side, []).append(report)
    speed.progress("")
    ms = {side: [r["median_ms"] for r in reports] for side, reports in found.items()}
    row = {"model": model.stem, "threads": threads, "apart": apart, "wrong": not apart <= TOLERANCE,
           "ms": {side: float(np.median(t)) for side, t in ms.items()},
           "runs": args.rounds * args.repeat, "engines": found["ours"][-1]["engines"],
           "peak_mb": found["ours"][-1]["peak_rss_mb"] - found["ours"][-1]["base_rss_mb"]}
    if "ort" in found:
        row["ort_peak_mb"] = found["ort"][-1]["peak_mb"]
    if peers:
        best = min(peers, key=lambda peer: row["ms"][peer])
        ratios = [a / b for a, b in zip(ms["ours"], ms[best])]
        row["ratio"], (row["low"], row["high"]) = float(np.median(ratios)), speed.interval(ratios)
        row["best"] = best
    return row


def print_table(rows, args):
    print(f"{'model':44} {'thr':>3} {'ours ms':>9} {'peer ms':>9} {'ratio':>6}  95 % interval    "
          f"{'apart':>7} {'MB':>6} {'ort MB':>6}  on ref")
    for row in sorted(rows, key=lambda r: -r.get("ratio", 0)):
        ref = row.get("ref")
        text = "?" if ref is None else " ".join([f"{sum(ref.values()):.1f} %"] + [
            f"{op} {share}" for op, share in list(ref.items())[:3] if share >= 0.5])
        marks = ("*" if row["runs"] < RUNS else "") + ("!" if row.get("low", 0) > args.mark else "")
        print(f"{row['model'][:44]:44} {row['threads']:3} {row['ms']['ours']:9.3f} "
              f"{row['ms'].get(row.get('best'), math.nan):9.3f} {row.get('ratio', math.nan):6.2f}"
              f"{marks:2} [{row.get('low', math.nan):.2f}, {row.get('high', math.nan):.2f}] "
              f"{row.get('best', '-'):8} {row['apart']:7.0e} {row['peak_mb']:6.1f} "
              f"{row.get('ort_peak_mb', math.nan):6.1f}  {text}", flush=True)
    for threads in sorted({row["threads"] for row in rows}):
        logs = [math.log(r["ratio"]) for r in rows if r["threads"] == threads and "ratio" in r]
        if logs:
            print(f"{threads} thread(s): geometric mean {math.exp(sum(logs) / len(logs)):.3f} of "
                  f"{len(logs)}; {sum(r > math.log(args.mark) for r in logs)} above {args.mark:g}")


def compare(args):
    import ge_run
    rows, refused = [], {}
    for model in sorted(FOLDER.glob("*.onnx")):
        if args.model and model.stem not in args.model:
            continue
        try:
            mine = [race(model, args, int(threads)) for threads in str(args.all_threads).split(",")]
        except ge_run.RunError as problem:
            refused[model.stem] = str(problem)
            print(f"{model.stem}: REFUSED {problem}", flush=True)
            continue
        known = json.loads((model.with_suffix("") / "reference.json").read_text())
        mine[0]["ref"] = share_of_ref(model, model.with_suffix(""), known, args)
        for row in mine[1:]:
            row["ref"] = mine[0]["ref"]
        rows += mine
        if args.save:
            args.save.write_text(json.dumps({"rows": rows, "refused": refused}) + "\n")
        print(f"{model.stem}: " + ", ".join(f"{r.get('ratio', math.nan):.2f}" for r in mine),
              flush=True)
    return rows, refused


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="*", help="names of build/exports; default: all")
    parser.add_argument("--setup", action="store_true", help="install what exports, about 6 GB")
    parser.add_argument("--make", action="store_true", help="export the set")
    parser.add_argument("--show", type=pathlib.Path, metavar="FILE", help="the table of a --save")
    parser.add_argument("--seed", type=int, default=22)
    parser.add_argument("--jobs", type=int, default=1, help="exports at once")
    parser.add_argument("--limit-s", type=float, default=240, help="seconds a model's export has")
    parser.add_argument("--threads", dest="all_threads", default="1,2", metavar="LIST")
    parser.add_argument("--peers", type=lambda s: s.split(","), default=["ort", "openvino"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1, help="of runs in a round of one side")
    parser.add_argument("--mark", type=float, default=1.1)
    parser.add_argument("--save", type=pathlib.Path, default=FOLDER / "results.json")
    parser.add_argument("--ge", type=pathlib.Path, default=ROOT / "build/release/bin/ge")
    parser.set_defaults(engines=None, isa="native")
    return parser.parse_args()


def main():
    args = parse_arguments()
    if args.setup:
        return set_up()
    python = VENV / "bin" / "python"
    if not python.exists():
        sys.exit("exports.py: PyTorch is not installed; run: tools/bench/exports/exports.py --setup")
    if pathlib.Path(sys.prefix).resolve() != VENV.resolve():
        os.execv(python, [str(python), *sys.argv])
    if args.show:
        known = json.loads(args.show.read_text())
        print_table(known["rows"], args)
        return 0
    if args.make:
        return make(args)
    rows, refused = compare(args)
    print_table(rows, args)
    wrong = sorted({row["model"] for row in rows if row["wrong"]})
    print(f"refused: {', '.join(refused) or 'none'}; apart by more than {TOLERANCE:g}: "
          f"{', '.join(wrong) or 'none'}")
    return 1 if refused or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
