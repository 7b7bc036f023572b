#!/usr/bin/env python3
"""Rows a second of data pipelines, beside Grain, PyTorch's DataLoader and numpy, in turns and each in a process of
its own; a peer that the Python of --python cannot import is left out. Prints medians, and the ratio to the
best peer with its 95 % bootstrap interval.

  photos   500 JPEGs, random-resized-crop 224, flip, normalise imagenet, batch 64, default threads
  cifar    50,000 pictures of 32x32, random-crop 32 pad=4, flip, normalise, batch 128, one thread
  records  50,000 records of 4 KB, shuffled, batch 256: .npy and .gerec

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

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
BATCH = {"photos": 64, "cifar": 128, "records": 256}
PIPES = {"photos": {"ge": "photos | shuffle | random-resized-crop 224 | flip | normalise imagenet"},
         "cifar": {"ge": "cifar.npy | shuffle | random-crop 32 pad=4 | flip | normalise 0.5 0.25"},
         "records": {"ge": "records.npy | shuffle", "ge .gerec": "records.gerec | shuffle"}}
PEERS = {"photos": ("grain 0", "grain 2", "torch 0", "torch 2", "torch 4"),
         "cifar": ("grain 0", "torch 0", "numpy"), "records": ("grain 0", "numpy")}


# ---- data


def make_files(folder, rows, ge):
    import numpy as np
    from PIL import Image
    r = np.random.default_rng(1)
    if "photos" in rows:
        for i in range(500):
            path = folder / "photos" / f"c{i % 10}" / f"{i:03}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            small = Image.fromarray(r.integers(0, 256, (12, 16, 3), np.uint8))
            small.resize((500, 375), Image.Resampling.BICUBIC).save(path, quality=90)
    if "cifar" in rows:
        np.save(folder / "cifar.npy", r.integers(0, 256, (50_000, 3, 32, 32), np.uint8))
    if "records" in rows:
        np.save(folder / "records.npy", r.integers(0, 256, (50_000, 4096), np.uint8))
        subprocess.run([ge, "data", "pack", "records.npy", "-o", "records.gerec"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)


# ---- sides: each prints rows a second


def photo(path, r):
    import numpy as np
    from PIL import Image
    with Image.open(path) as picture:
        wide, high = picture.size
        for _ in range(10):
            area, aspect = wide * high * r.uniform(0.08, 1), 2.718281828 ** r.uniform(-0.2877, 0.2877)
            w, h = round((area * aspect) ** 0.5), round((area / aspect) ** 0.5)
            if w <= wide and h <= high:
                break
        else:
            w = h = min(wide, high)
        left, top = r.integers(0, wide - w + 1), r.integers(0, high - h + 1)
        small = picture.convert("RGB").resize((224, 224), Image.Resampling.BILINEAR,
                                              (left, top, left + w, top + h))
    x = np.asarray(small, np.float32).transpose(2, 0, 1)
    x = x[:, :, ::-1] if r.random() < 0.5 else x
    return (x / 255 - np.float32(MEAN)[:, None, None]) / np.float32(STD)[:, None, None]


def picture(x, r):
    import numpy as np
    padded = np.zeros((3, 40, 40), np.uint8)
    padded[:, 4:36, 4:36] = x
    top, left = r.integers(0, 9, 2)
    x = padded[:, top:top + 32, left:left + 32]
    x = x[:, :, ::-1] if r.random() < 0.5 else x
    return (x.astype(np.float32) / 255 - 0.5) / np.float32(0.25)


class Rows:
    """A row's numbers by its index, for loaders of others."""

    def __init__(self, row):
        import numpy as np
        self.row, self.random = row, np.random.default_rng(2)
        self.of = sorted(map(str, pathlib.Path("photos").rglob("*.jpg"))) if row == "photos" \
            else np.load(f"{row}.npy", mmap_mode="r")

    def __len__(self):
        return len(self.of)

    def __getitem__(self, i):
        import numpy as np
        if self.row == "photos":
            return photo(self.of[i], self.random)
        return picture(self.of[i], self.random) if self.row == "cifar" else np.array(self.of[i])


def batches_of(peer, row, size):
    name, _, workers = peer.partition(" ")
    source = Rows(row)
    if name == "numpy":
        import numpy as np
        order = np.random.default_rng(3).permutation(len(source))
        for at in range(0, len(order) - size + 1, size):
            part = order[at:at + size]
            yield source.of[part] if row == "records" else np.stack([source[i] for i in part])
    elif name == "grain":
        import grain
        loader = grain.MapDataset.source(source).shuffle(seed=3).to_iter_dataset().batch(size)
        yield from loader.mp_prefetch(grain.MultiprocessingOptions(int(workers))) if int(workers) else loader
    else:
        import torch
        yield from torch.utils.data.DataLoader(source, size, shuffle=True, num_workers=int(workers),
                                               drop_last=True)


def peer_side(peer, row, least_s):
    done, begin, first = 0, None, True
    while first or time.monotonic() - begin < least_s:
        for _ in batches_of(peer, row, BATCH[row]):
            if first:
                begin, first = time.monotonic(), False  # the first one starts workers
                continue
            done += BATCH[row]
            if time.monotonic() - begin >= least_s:
                break
    print(json.dumps(done / (time.monotonic() - begin)))


def ge_side(ge, row, side, folder, least_s):
    words = [ge, "data", "run", PIPES[row][side], "--batch", str(BATCH[row]), "--json",
             *(["--threads", "1"] if row == "cifar" else [])]

    def rate(*more):
        done = subprocess.run([*words, *more], cwd=folder, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["rows_per_s"]
    return rate("--batches", str(max(4, int(rate("--batches", "4") * least_s / BATCH[row]))))


# ---- turns


def interval(ours, theirs):
    r, ratios = random.Random(1), []
    for _ in range(2000):
        ratios.append(statistics.median(r.choices(ours, k=len(ours)))
                      / statistics.median(r.choices(theirs, k=len(theirs))))
    ratios.sort()
    return ratios[50], ratios[-51]


def measure(a, row, folder):
    seen = {side: [] for side in (*PIPES[row], *PEERS[row])}
    for _ in range(a.rounds):
        for side in list(seen):
            if side in PIPES[row]:
                seen[side].append(ge_side(str(a.ge), row, side, folder, a.seconds))
                continue
            done = subprocess.run([a.python, __file__, "--peer", side, "--seconds", str(a.seconds), row],
                                  cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{row}: {side} is left out: {done.stderr.strip().splitlines()[-1][:120]}")
                del seen[side]
            else:
                seen[side].append(json.loads(done.stdout))
    for side, rates in seen.items():
        print(f"{row:8} {side:10} {statistics.median(rates):12.0f} rows/s")
    peers = [s for s in seen if s not in PIPES[row]]
    for side in PIPES[row] if peers else ():
        best = max(peers, key=lambda s: statistics.median(seen[s]))
        low, high = interval(seen[side], seen[best])
        ratio = statistics.median(seen[side]) / statistics.median(seen[best])
        print(f"{row:8} {side} / {best}: {ratio:.2f} [{low:.2f}, {high:.2f}]")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", default=list(BATCH), help="photos, cifar, records")
    parser.add_argument("--ge", type=pathlib.Path, default=ROOT / "build/release/bin/ge")
    parser.add_argument("--python", default=sys.executable, help="one that has the peers")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=1, help="of each side and round")
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.peer:
        return peer_side(a.peer, a.rows[0], a.seconds)
    a.ge = a.ge.resolve()
    os.environ.update(GE_CACHE_DIR="off")
    with tempfile.TemporaryDirectory() as folder:
        make_files(pathlib.Path(folder), a.rows, a.ge)
        for row in a.rows:
            measure(a, row, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
