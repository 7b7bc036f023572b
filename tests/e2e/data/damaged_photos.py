#!/usr/bin/env python3
"""One in a hundred photos is damaged: `bad raise` names file and row, `bad replace` puts the next good row in
its place, the same on every run, on any threads, batches ahead and rows a run; of what `where` keeps, of
several columns, of folders, archives and records. --photos says how many there are. The last line counts
checks."""
import argparse
import io
import itertools
import json
import re
import sys

import numpy as np
from PIL import Image

import data_run
import picture_files as pf
import table_sources

SEED = 57
STEPS = ("resize 18x20", "shuffle | random-resized-crop 16 | flip | normalise imagenet",
         "shuffle | resize 20 | center-crop 16", "random-crop 16 pad=2 | brightness 0.2")


def cut(data, r):
    return data[:len(data) * int(r.integers(20, 80)) // 100]


def no_head(data, r):
    return b"no picture" + data[10:]


def nothing_left(data, r):
    return data[:2] + bytes(len(data) - 2)


def without_middle(data, r):
    return data[:len(data) // 3] + bytes(len(data) // 3)


DAMAGES = (cut, no_head, nothing_left, without_middle)


class Damaged(data_run.DataRun):
    def digest(self, pipe, *words):
        done = self.ge("run", pipe, "--digest", "--json", *words)
        self.check(f"{pipe} {words}", done.returncode == 0, done.stderr)
        return json.loads(done.stdout)["digest"] if done.returncode == 0 else None

    def files(self, count):
        """bad/ and good/, where what is damaged in bad/ is the next good picture."""
        r = np.random.default_rng(SEED)
        self.bad = sorted(r.choice(count, max(8, count // 100), replace=False).tolist())
        self.bad[-2:] = [count - 2, count - 1]  # behind the last row comes the first
        self.names, photos = [], []
        for i in range(count):
            pixels = pf.smooth(r, *(int(n) for n in r.integers(17, 90, 2)))
            kind = "png" if i % 9 == 8 else "jpg"
            photos.append(pf.png(pixels) if kind == "png" else pf.jpeg(
                pixels, pf.SAMPLINGS[i % 5], pf.ORDERS[i // 5 % 3]))
            self.names.append(f"{'ab'[i >= count // 2]}/{i:05}.{kind}")
        codecs = pf.Codecs(data_run.ROOT / "build/release/lib/libgraphengine_image.so")
        self.damaged = list(photos)
        for k, row in enumerate(self.bad):
            self.damaged[row] = DAMAGES[k % len(DAMAGES)](photos[row], r)
            answer, _ = codecs.whole(self.damaged[row])
            self.check(f"row {row} is damaged by {DAMAGES[k % len(DAMAGES)].__name__}", answer != 0)
        self.good = list(photos)
        for row in self.bad:
            self.good[row] = photos[next(j % count for j in range(row, 2 * count) if j % count not in self.bad)]
        for name, one, other in zip(self.names, self.damaged, self.good):
            self.write(f"bad/{name}", one)
            self.write(f"good/{name}", other)
        for folder in ("bad", "good"):
            files = self.damaged if folder == "bad" else self.good
            self.write(f"{folder}.tar", table_sources.tar_bytes(
                [(f"{i:05}.{e}", d) for i, f in enumerate(files) for e, d in (("jpg", f), ("cls", b"%d" % (i % 7)))]))
            done = self.ge("pack", folder, "-o", f"{folder}.gerec")
            self.check(f"{folder}.gerec", done.returncode == 0, done.stderr)

    def raised(self):
        """The message has the row and the file, which are one of those that are damaged."""
        for source, steps, words in itertools.product(
                ("bad", "bad.gerec", "bad.tar"), ("resize 18x20", "shuffle | resize 18x20", "bad raise | resize 8x8"),
                ((), ("--threads", 2, "--ahead", 4, "--rows", 8))):
            done = self.ge("run", f"{source} | {steps}", *words)
            said = re.search(r"row (\d+)", done.stderr)
            row = int(said[1]) if said else -1
            file = self.names[row] if source == "bad" else source
            self.check(f"{source} | {steps} {words} raises", done.returncode == 2 and row in self.bad
                       and file in done.stderr and "'bad replace'" in done.stderr, done.stderr)

    def replaced(self):
        """On any threads, ahead, rows and again: what the mended folder gives, and no row is refused."""
        grid = [("--threads", t, "--ahead", a, "--rows", n)
                for t, a, n in itertools.product((1, 2, 4), (0, 1, 4), (1, 8, 64))]
        for steps in STEPS:
            wanted = self.digest(f"good | select picture | {steps}")
            for source in ("bad", "bad.gerec"):
                pipe = f"{source} | bad replace | select picture | {steps}"
                found = {self.digest(pipe, *words) for words in grid[::1 if source == "bad" else 9]}
                self.check(pipe, found == {wanted}, found)
            wanted = self.digest(f"good.tar | select jpg | {steps}")
            found = {self.digest(f"bad.tar | bad replace | select jpg | {steps}") for _ in range(2)}
            self.check(f"bad.tar | {steps}", found == {wanted}, found)

    def kept(self):
        """What stands for a damaged row is a row that `where` keeps, with its label."""
        last = len(self.names) // 2 - 1  # of class 0
        path = self.here / "bad" / self.names[last]
        whole = path.read_bytes()
        path.write_bytes(whole[:len(whole) // 2])
        for label in (0, 1):
            rows = [i for i in range(len(self.names)) if self.names[i][0] == "ab"[label]]
            good = [i for i in rows if i not in self.bad and i != last]
            got = self.rows(f"bad | where 'label == {label}' | bad replace | resize 6x6", range(len(rows)))
            if got is None:
                continue
            self.check(f"labels of class {label}", set(got["label"]) == {label}, got["label"])
            stand = [next(j for j in good + [good[0] + len(self.names)] if j >= i) % len(self.names) for i in rows]
            wanted = self.rows("good | resize 6x6", stand)
            self.check(f"pictures of class {label}", np.array_equal(got["picture"], wanted["picture"]))
        path.write_bytes(whole)

    def several(self):
        """Two columns of pictures: a row stands for another only if both of its pictures are good."""
        r = np.random.default_rng(3)
        files = [[pf.jpeg(pf.smooth(r, 20, 24), "420", "baseline") for _ in range(8)] for _ in "lr"]
        pixels = [[np.asarray(Image.open(io.BytesIO(f)).convert("RGB")) for f in column] for column in files]
        for column, row in ((0, 2), (1, 3), (0, 4), (1, 7)):
            files[column][row] = files[column][row][:200]
        members = [(f"{i}.{e}", d) for i in range(8) for e, d in (
            ("left.jpg", files[0][i]), ("right.jpg", files[1][i]), ("cls", b"%d" % i))]
        self.write("two.tar", table_sources.tar_bytes(members))
        stand = [0, 1, 5, 5, 5, 5, 6, 0]
        got = self.rows("two.tar | bad replace | resize 20x24", range(8))
        if got is None:
            return
        self.check("their labels", sorted(got) == ["cls", "left.jpg", "right.jpg"] and got["cls"].tolist() == stand,
                   got.get("cls"))
        for column, name in enumerate(("left.jpg", "right.jpg")):
            wanted = np.stack([pixels[column][i].transpose(2, 0, 1) for i in stand])
            self.check(name, np.abs(got[name].astype(int) - wanted).max() <= 2)

    def none_good(self):
        for i in range(5):
            self.write(f"none/{i}.jpg", b"\xff\xd8\xff" + bytes(50))
        self.refused("none | bad replace | resize 8x8", "'none': each of the 5 rows has a damaged picture")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=int, default=400)
    c = Damaged()
    c.files(parser.parse_args().photos)
    for part in (c.raised, c.replaced, c.kept, c.several, c.none_good):
        part()
    c.small()
    return c.close()


if __name__ == "__main__":
    sys.exit(main())
