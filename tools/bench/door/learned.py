#!/usr/bin/env python3
"""What learned prices cost at the door: load and close of a small model with a cache of 20,000 rows, over the same
with an empty one. Separate processes take turns; medians of the rounds, and the median ratio of a round with a 95 %
bootstrap interval. With --runs N the model is run in between, so that something is learned and kept: the full cache
then grows by some rows each round, the empty one is emptied. --before names an older `ge` whose library is shown beside.

Example: tools/bench/door/learned.py build/models/lenet.onnx --rounds 40 --runs 1
"""
import argparse
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent / "plans"))
import price_rows  # noqa: E402

SEED = 4711


def like(rows, count):
    """`count` rows like these: of other shapes, and 31 of 32 with other attributes, 8 shapes each."""
    source, out = random.Random(SEED), {price_rows.key(row): row for row in rows}
    for i in range(100 * count):
        if len(out) >= count:
            break
        row, turn = dict(rows[i % len(rows)]), i // len(rows)
        if turn % 32:
            row["signature"] = row["signature"].replace("(", f"[v={turn // 8}](", 1)
        row["shape"] += f"x{turn}"
        row["size"] = min(60.0, max(0.0, row["size"] + source.gauss(0, 2)))
        for name in ("alone", "inside"):
            row[name] = [row[name][0] * 2 ** source.gauss(0, 0.3), row[name][1]]
        out.setdefault(price_rows.key(row), row)
    return list(out.values())[:count]


def compiled(ge, folder, name):
    lib = ge.resolve().parents[1] / "lib"
    program = folder / name
    subprocess.run(["cc", "-std=c11", "-O1", "-Wall", f"-I{ROOT / 'sdk/include'}", HERE / "learned.c", "-o", program,
                    f"-L{lib}", "-lgraphengine", f"-Wl,-rpath,{lib}"], check=True)
    return program


def call(program, model, runs, cache):
    env = {k: v for k, v in os.environ.items() if k not in ("GE_PROBE", "OPENBLAS_CORETYPE")}
    done = subprocess.run([program, model, str(runs)], env={**env, "GE_CACHE_DIR": str(cache)}, check=True,
                          capture_output=True, text=True)
    return [float(word) for word in done.stdout.split()]


def interval(ratios):
    source = random.Random(SEED)
    means = sorted(statistics.median(source.choices(ratios, k=len(ratios))) for _ in range(2000))
    return statistics.median(ratios), means[50], means[1949]


def caches(args, folder, program):
    """{name: folder}: an empty one, and one of 20,000 rows, among them those of the model."""
    empty, full = folder / "empty", folder / "full"
    first = folder / "first"
    for _ in range(3):
        call(program, args.model, 20, first)
    file, known = price_rows.files(first)[0], price_rows.rows(first)
    full.mkdir()
    empty.mkdir()
    text = price_rows.old_text(like(known, args.rows), *price_rows.machine(file))
    (full / file.with_suffix(".json").name).write_text(text)
    if args.before:
        shutil.copytree(full, folder / "full before")
    call(program, args.model, 0, full)  # takes them over
    return {"empty": empty, "full": full}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default=str(ROOT / "build/models/lenet.onnx"))
    parser.add_argument("--ge", type=pathlib.Path, default=ROOT / "build/release/bin/ge")
    parser.add_argument("--before", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--runs", type=int, default=0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = compiled(args.ge, folder, "now")
        sides = {side: (program, cache) for side, cache in caches(args, folder, program).items()}
        if args.before:
            sides["full before"] = (compiled(args.before, folder, "before"), folder / "full before")
        times = {side: [] for side in sides}
        for i in range(args.rounds):
            for side in [*sides][i % len(sides):] + [*sides][:i % len(sides)]:
                program, cache = sides[side]
                if side == "empty":
                    shutil.rmtree(cache)
                    cache.mkdir()
                times[side].append(call(program, args.model, args.runs, cache))
        for side, rows in times.items():
            load, run, close, both = (statistics.median(column) for column in zip(*rows))
            line = f"{side}: load {load:.2f} ms, runs {run:.2f}, close {close:.2f}, load + close {both:.2f}"
            if side != "empty":
                middle, low, high = interval([a[3] / b[3] for a, b in zip(rows, times["empty"])])
                line += f"; over the empty one {middle:.3f} [{low:.3f}, {high:.3f}]"
            print(line)


if __name__ == "__main__":
    main()
