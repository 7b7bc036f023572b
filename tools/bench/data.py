#!/usr/bin/env python3
"""Rows a second of data pipelines, beside PyTorch's DataLoader, tf.data, Grain, ArrayRecord, numpy and loops in C; steps
a second of `ge train` beside another build's; memory. Sides take turns, each in a process of its own. Prints each
ratio with its 95 % bootstrap interval and the one that is wanted, which an interval wholly below fails, then medians.
A peer that the Python of --python cannot import is left out.

  photos   500 JPEGs as detailed as photos, random-resized-crop 224, flip, normalise imagenet, batch 64; defaults
  loop     the same on one CPU, beside a loop in C over libjpeg which decodes the whole photo
  cifar    50,000 pictures of 32x32, random-crop 32 pad=4, flip, normalise, batch 128; one CPU
  records  50,000 records of 4 KB, random batches of 256: .npy and .gerec
  lenet    steps a second of LeNet's training on an idx folder, one thread, beside the build of --before
  memory   of photos: batches and scratch by what is taken above the start; DataLoader's PSS with 4 workers by ours;
           growth from the first epoch to the 20th

Example: tools/bench/data.py --python build/venv-peers/bin/python --rounds 5 photos records
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "data"), str(HERE / "training")]
import peers  # noqa: E402
import project_venv  # noqa: E402

PHOTOS = "photos | shuffle | random-resized-crop 224 | flip | normalise imagenet"
CIFAR = "cifar.npy | shuffle | random-crop 32 pad=4 | flip | normalise 0.5 0.25"
EPOCHS = 20
PHOTO_PEERS = ("torch 0", "torch 1", "torch 2", "torch 4", "grain 0 16", "grain 2 16", "tf")
CIFAR_PEERS = ("torch 0", "grain 0 0", "tf 1")
# Ours, the others of whom the best counts, and the ratio that is wanted, of each row.
CLAIMS = {
    "photos": [("ge", PHOTO_PEERS, 2.5)],
    "loop": [("ge", ("C",), 1.3)],
    "cifar": [("ge", CIFAR_PEERS, 8), ("ge", ("C",), 0.5)],
    "records": [(ours, *other) for ours in ("ge .npy", "ge .gerec")
                for other in ((("arrayrecord",), 5), (("numpy",), 0.6))],
    "lenet": [("ge", ("before",), 1.0)],
}


# ---- data


def detail(r, high, wide):
    """Noise of which finer waves have less, as photos: x**-1.4."""
    import numpy as np
    waves = np.hypot(np.fft.fftfreq(high)[:, None], np.fft.rfftfreq(wide)[None])
    waves[0, 0] = 1
    x = np.fft.irfft2((r.normal(size=waves.shape) + 1j * r.normal(size=waves.shape)) / waves**1.4, s=(high, wide))
    return x / x.std()


def make_photos(folder, r):
    import numpy as np
    from PIL import Image
    for i in range(500):
        gray = detail(r, 375, 500)
        pixels = [128 + 50 * (gray + 0.4 * detail(r, 375, 500)) for _ in range(3)]
        path = folder / "photos" / f"c{i % 10}" / f"{i:03}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.stack(pixels, -1).clip(0, 255).astype(np.uint8)).save(path, quality=90)


def make_idx(folder, r):
    import numpy as np
    folder.mkdir()
    for part, rows in (("train", 60_000), ("t10k", 10_000)):
        for name, dims in (("images-idx3", (rows, 28, 28)), ("labels-idx1", (rows,))):
            head = bytes([0, 0, 8, len(dims)]) + b"".join(d.to_bytes(4, "big") for d in dims)
            numbers = r.integers(0, 256 if len(dims) > 1 else 10, dims, np.uint8)
            (folder / f"{part}-{name}-ubyte").write_bytes(head + numbers.tobytes())


def make_files(folder, rows, ge):
    import numpy as np
    r = np.random.default_rng(1)
    if {"photos", "loop", "memory"} & set(rows):
        make_photos(folder, r)
    if "cifar" in rows:
        np.save(folder / "cifar.npy", r.integers(0, 256, (50_000, 3, 32, 32), np.uint8))
    if "records" in rows:
        np.save(folder / "records.npy", r.integers(0, 256, (50_000, 4096), np.uint8))
        subprocess.run([ge, "data", "pack", "records.npy", "-o", "records.gerec"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
    if "lenet" in rows:
        import train_nets
        train_nets.lenet(folder / "lenet.onnx")
        make_idx(folder / "digits", r)
    if {"loop", "cifar"} & set(rows):
        subprocess.run(["cc", "-O3", "-march=native", "-o", folder / "loops", HERE / "data/loops.c", "-ljpeg", "-lm"],
                       check=True)


# ---- sides


class LeftOut(Exception):
    pass


def run(folder, words, one_cpu=False, text=None):
    cpu = max(os.sched_getaffinity(0))
    pin = (lambda: os.sched_setaffinity(0, {cpu})) if one_cpu else None
    done = subprocess.run([str(w) for w in words], cwd=folder, capture_output=True, text=True, check=False, input=text,
                          preexec_fn=pin)  # pylint: disable=subprocess-popen-preexec-fn
    if done.returncode:
        raise LeftOut((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1][:120])
    return done.stdout


def ge_side(a, folder, pipe, batch, one=False):
    words = [a.ge, "data", "run", pipe, "--batch", batch, "--json", *(["--threads", 1, "--ahead", 0] if one else [])]

    batches = 4
    while True:
        found = json.loads(run(folder, [*words, "--batches", batches], one))
        if found["seconds"] >= 0.8 * a.seconds:
            return found["rows_per_s"]
        batches = int(batches * min(16, 1.2 * a.seconds / found["seconds"]) + 1)


def train_side(a, folder, ge):
    words = [ge, "train", "lenet.onnx", "--data", "digits", "--optimizer", "sgd", "--lr", "0.01", "--momentum", "0.9",
             "--batch", 64, "--threads", 1, "--no-test", "--json", "--steps", int(2000 * a.seconds)]
    return json.loads(run(folder, words).splitlines()[-1])["steps_per_s"]


def side_rate(a, row, side, folder):
    one = row in ("loop", "cifar")
    if side == "C":
        paths = sorted(map(str, folder.glob("photos/*/*.jpg"))) if row == "loop" else ["cifar.npy"]
        return float(run(folder, [folder / "loops", "photos" if row == "loop" else row, a.seconds], True,
                         "\n".join(paths)))
    if row == "lenet":
        if side == "before" and a.before is None:
            raise LeftOut("--before names no ge")
        return train_side(a, folder, a.ge if side == "ge" else a.before)
    if side.startswith("ge"):
        pipe = {"cifar": CIFAR, "records": f"records{side[3:]} | shuffle"}.get(row, PHOTOS)
        return ge_side(a, folder, pipe, peers.BATCH.get(row, 64), one)
    return json.loads(run(folder, [a.python, HERE / "data/peers.py", side, row, "--seconds", a.seconds], one))


# ---- turns


def interval(ours, theirs):
    r, ratios = random.Random(1), []
    for _ in range(2000):
        ratios.append(statistics.median(r.choices(ours, k=len(ours)))
                      / statistics.median(r.choices(theirs, k=len(theirs))))
    ratios.sort()
    return ratios[50], ratios[-51]


def judge(row, what, ours, theirs, wanted):
    """Prints the ratio; whether it holds."""
    low, high = interval(ours, theirs)
    fails = high < wanted
    print(f"{row:8} {what}: {statistics.median(ours) / statistics.median(theirs):.2f} [{low:.2f}, {high:.2f}], "
          f"wanted >= {wanted}{': FAILS' if fails else ''}", flush=True)
    return not fails


def turns(a, row, sides, measure):
    seen = {side: [] for side in sides}
    for _ in range(a.rounds):
        for side in list(seen):
            try:
                seen[side].append(measure(side))
            except LeftOut as why:
                print(f"{row:8} {side} is left out: {why}")
                del seen[side]
    return seen


def rates(a, row, folder):
    sides = dict.fromkeys(s for ours, others, _ in CLAIMS[row] for s in (ours, *others))
    seen = turns(a, row, sides, lambda side: side_rate(a, row, side, folder))
    good = True
    for ours, others, wanted in CLAIMS[row]:
        there = [s for s in others if s in seen]
        if there:
            best = max(there, key=lambda s: statistics.median(seen[s]))
            good &= judge(row, f"{ours} / {best}", seen[ours], seen[best], wanted)
    for side, found in seen.items():
        print(f"{row:8} {side:12} {statistics.median(found):12.0f} {'steps' if row == 'lenet' else 'rows'}/s")
    return good


# ---- memory


def ge_memory(a, folder):
    """(slots and scratch in MB, what is taken above the start, growth from the end of the first epoch on)."""
    with subprocess.Popen([str(a.ge), "data", "run", PHOTOS, "--json", "--batches", str(EPOCHS * (500 // 64))],
                          cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        seen, status = [], pathlib.Path(f"/proc/{child.pid}/status")
        while child.poll() is None:
            lines = [x for x in status.read_text().splitlines() if x.startswith("VmRSS")]
            seen += [int(x.split()[1]) / 1024 for x in lines]
            time.sleep(0.02)
        found = json.loads(child.stdout.read())
    late = seen[len(seen) // EPOCHS + len(seen) // 10:]
    return ((found["slot_bytes"] + found["scratch_bytes"]) / 2**20, found["peak_rss_mb"] - found["base_rss_mb"],
            max(late) - late[0])


def memory(a, folder):
    ours = []

    def measure(side):
        if side == "ge":
            ours.append(ge_memory(a, folder))
            return ours[-1][1]
        return json.loads(run(folder, [a.python, HERE / "data/peers.py", "torch 4", "photos", "--memory"]))
    seen = turns(a, "memory", ("ge", "torch 4"), measure)
    good = judge("memory", "slots + scratch / above the start", [x[0] for x in ours], seen["ge"], round(1 / 1.1, 3))
    if "torch 4" in seen:
        good &= judge("memory", "DataLoader's PSS / above the start", seen["torch 4"], seen["ge"], 3)
    growth = statistics.median(x[2] for x in ours)
    print(f"memory   growth in {EPOCHS} epochs: {growth:.2f} MB, wanted <= 1{': FAILS' if growth > 1 else ''}")
    for side, found in seen.items():
        print(f"memory   {side:12} {statistics.median(found):12.1f} MB")
    print(f"memory   slots + scratch {statistics.median(x[0] for x in ours):9.1f} MB")
    return good and growth <= 1


def main():
    project_venv.enter("numpy", "PIL", "onnx")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = [*CLAIMS, "memory"]
    parser.add_argument("rows", nargs="*", default=every, help=", ".join(every))
    parser.add_argument("--ge", type=pathlib.Path, default=project_venv.ROOT / "build/release/bin/ge")
    parser.add_argument("--before", type=pathlib.Path, help="ge of another build, for lenet")
    parser.add_argument("--python", default=sys.executable, help="of the peers: torch, tensorflow, grain, array_record, pillow")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=1, help="of each side and round")
    a = parser.parse_args()
    if set(a.rows) - set(every):
        parser.error(f"rows are {', '.join(every)}; {sorted(set(a.rows) - set(every))} are none")
    a.ge = a.ge.resolve()
    a.before = a.before.resolve() if a.before else None
    os.environ.update(GE_CACHE_DIR="off")
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_files(folder, a.rows, a.ge)
        for row in a.rows:
            good &= memory(a, folder) if row == "memory" else rates(a, row, folder)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
