#!/usr/bin/env python3
"""One digest a pipe: on any threads, batches ahead, rows a run, each pass skipped, slices of several worlds
merged; and of pipes that mean the same: steps in another order, words spelled out, the same rows from
another kind of file, the graph as `ge data dump` prints it. No plan is made behind the first batch.
--all: the whole grid of 200 batches, and 60 rewritten pipes. The last line counts checks."""
import argparse
import concurrent.futures
import csv
import hashlib
import io
import itertools
import json
import random
import subprocess
import sys

import numpy as np
from PIL import Image

import data_run

SEED = 57
BATCH = 64
GRID = list(itertools.product((1, 2, 4), (0, 1, 4), (1, 8, 64)))  # threads, ahead, rows a run
PIPES = {
    "arrays": "pictures.npy | shuffle | normalise imagenet",
    "photos": "photos | shuffle | random-resized-crop 16 | flip | normalise imagenet",
    "pixels": "pictures.npy | shuffle | random-crop 8x7 pad=1 | flip | rotate 10 | shift 0.1 | zoom 0.9..1.1 "
              "| brightness 0.2 | contrast 0.2 | noise 0.05 | normalise 0.5 0.25",
    "table": "t.csv | where 'width >= 100 && label < 15' | shuffle | standardise x width "
             "| select z=[x,width] label kind",
    "text": "t.txt | shuffle | tokens bytes | pack 24",
}


def photo(r, most=60):
    pixels = r.integers(0, 256, (*(int(n) for n in r.integers(18, most, 2)), 3), np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", subsampling=int(r.integers(0, 3)))
    return out.getvalue()


class Same(data_run.DataRun):
    def report(self, pipe, *words, **env):
        done = self.ge("run", pipe, "--batch", BATCH, "--digest", "--json", *words, **env)
        if done.returncode:
            self.check(f"{pipe} {words} {env}", False, done.stderr)
            return {}
        return json.loads(done.stdout)

    def files(self):
        r = np.random.default_rng(SEED)
        np.save(self.here / "pictures.npy", r.integers(0, 256, (300, 3, 9, 7), np.uint8))
        np.savez(self.here / "same.npz", x=np.load(self.here / "pictures.npy"))
        for part in range(2):
            np.save(self.here / f"p-{part}.npy", np.load(self.here / "pictures.npy")[150 * part:150 * part + 150])
        for i in range(200):
            self.write(f"photos/{'ab'[i % 2]}/{i:03}.jpg", photo(r))
        rows = [["width", "label", "x", "kind"]]
        rows += [[int(r.integers(0, 500)), int(r.integers(0, 20)), float(np.float32(r.standard_normal() * 3)),
                  ["cat", "dog", "eel"][i % 3]] for i in range(400)]
        out = io.StringIO()
        csv.writer(out).writerows(rows)
        self.write("t.csv", out.getvalue())
        self.write("t.tsv", out.getvalue().replace(",", "\t"))
        self.write("t.jsonl", "\n".join(json.dumps(dict(zip(rows[0], row))) for row in rows[1:]) + "\n")
        lines = ["".join(map(chr, r.integers(97, 123, n))) for n in r.integers(0, 60, 400)]
        self.write("t.txt", "\n".join(lines) + "\n")
        for name, source in (("photos", "photos"), ("arrays", "pictures.npy"), ("rows", "t.csv"), ("text", "t.txt")):
            done = self.ge("pack", source, "-o", f"{name}.gerec")
            self.check(f"packed {source}", done.returncode == 0, done.stderr)
        passes = subprocess.run([str(data_run.GE), "passes", "--plugins", "data", "--json"], capture_output=True,
                                text=True, check=True).stdout
        self.passes = [p["name"] for p in json.loads(passes)["passes"] if p["kind"] != "derive"]
        self.check("passes", len(self.passes) > 20 and "fuse-pictures" in self.passes, self.passes)

    def grid(self, whole):
        """Threads x ahead x rows x each pass skipped; without `whole` each pass at one point of the grid."""
        batches = 200 if whole else 12
        for name, pipe in PIPES.items():
            points = [(at, None) for at in (GRID if whole else GRID[::4])]
            points += [(at, p) for i, p in enumerate(self.passes)
                       for at in (GRID if whole else [GRID[(5 * i + len(name)) % len(GRID)]])]

            def one(point, pipe=pipe):
                (threads, ahead, rows), skipped = point
                skip = ["--skip", skipped] if skipped else []
                return self.report(pipe, "--batches", batches, "--threads", threads, "--ahead", ahead, "--rows",
                                   rows, *skip).get("digest")
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                found = list(pool.map(one, points))
            wanted = found[0]
            other = [(p, f) for p, f in zip(points, found) if f != wanted]
            self.check(f"{name}: one digest of {len(points)}", wanted and not other, f"{len(other)}: {other[:5]}")
            print(f"{name}: {len(points)} runs of {batches} batches, digest {wanted}")

    def merged(self, batches):
        """Ranks' slices, merged, are the batches of one; and each row comes once an epoch."""
        for name, pipe in PIPES.items():
            wanted = self.report(pipe, "--batches", batches)
            for world in (1, 2, 4):
                parts = []
                for rank in range(world):
                    self.report(pipe, "--batches", batches, "--world", world, "--rank", rank, "--output", "w")
                    parts.append({p.stem: np.load(p) for p in (self.here / "w").glob("*.npy")})
                digest = hashlib.sha256()
                for column in (c["name"] for c in wanted["columns"]):
                    slices = [p[column].reshape(batches, BATCH // world, *p[column].shape[1:]) for p in parts]
                    digest.update(hashlib.sha256(np.concatenate(slices, 1).tobytes()).digest())
                self.check(f"{name}: world {world} merged", digest.hexdigest() == wanted["digest"])
        np.save(self.here / "ids.npy", np.arange(640))
        for world in (1, 2, 4):
            seen = []
            for rank in range(world):
                self.report("ids.npy | shuffle", "--batches", 30, "--world", world, "--rank", rank, "--output", "w")
                seen.append(np.load(self.here / "w/x.npy").reshape(3, -1))
            for epoch in np.concatenate(seen, 1):
                self.check(f"world {world}: each row once an epoch", sorted(epoch) == list(range(640)))

    def rewritten(self, count):
        """Pipes that mean the same give the same, and each pass keeps values: GE_CHECK_PASSES=1."""
        r = random.Random(SEED)
        for i in range(count):
            make = (of_pictures, of_photos, of_table, of_text)[i % 4]
            one, two = make(r), None
            while two is None or two == one:
                two = again(one, r)
            wanted = self.report(written(one), "--batches", 6).get("digest")
            found = self.report(written(two), "--batches", 6, GE_CHECK_PASSES="1").get("digest")
            self.check("rewritten", wanted == found and wanted, f"{written(one)}\n{written(two)}\n{wanted}\n{found}")
            skipped = r.choice(self.passes)
            found = self.report(written(two), "--batches", 6, "--skip", skipped).get("digest")
            self.check(f"without {skipped}", wanted == found, f"{written(two)}\n{wanted}\n{found}")
            done = subprocess.run(
                [str(data_run.GE), "dump", "model.gt", "--plugins", "data", "--pass",
                 f'data:pipe="{written(one)}";seed=1;batch={BATCH}', "--to", "rewrite", "--format", "proto", "-o",
                 "dumped.gepb"], cwd=self.here, capture_output=True, text=True, check=False)
            self.check("dumped", done.returncode == 0, done.stderr)
            found = self.report("dumped.gepb", "--batches", 6).get("digest")
            self.check("the graph as it was written", wanted == found, f"{written(one)}\n{wanted}\n{found}")

    def sizes(self, count):
        """As many photos of as many sizes: no plan is made behind the first batch."""
        r, seen = np.random.default_rng(SEED), set()
        while len(seen) < count:
            size = tuple(int(n) for n in r.integers(17, 120, 2))
            if size in seen:
                continue
            out = io.BytesIO()
            Image.fromarray(r.integers(0, 256, (*size, 3), np.uint8)).save(out, "JPEG")
            self.write(f"sizes/{len(seen):05}.jpg", out.getvalue())
            seen.add(size)
        for steps in ("shuffle | random-resized-crop 32 | flip | normalise imagenet", "resize 40 | center-crop 36",
                      "random-crop 24 pad=4"):
            got = self.report(f"sizes | {steps}")
            self.check(f"plans of {count} sizes, {steps}",
                       got.get("plans", 0) > 0 and got.get("plans_late") == 0 and got.get("rows", 0) > count - BATCH, got)
            print(f"sizes | {steps}: {got.get('rows')} rows, {got.get('plans')} plans, "
                  f"{got.get('plans_late')} behind the first batch")


def written(pipe):
    return " | ".join([pipe[0], *(step for step, _ in pipe[1:])])


# A pipe: its source, then steps, each with a set of the names of those that it may change places with.
def of_pictures(r):
    pipe = ["pictures.npy", ("shuffle", {"*"})]
    crop = r.choice(["random-crop 8 pad=2", "random-crop 6x5", "center-crop 6", "resize 12x12"])
    pipe += [(crop, {"flip", "shuffle"}), ("flip", {"*crop", "*resize", "shuffle"})]
    moves = r.sample([("rotate 10", None), ("shift 0.1", None), ("zoom 0.9..1.1", None)], r.randint(0, 3))
    pipe += [(m, {"rotate", "shift", "zoom"}) for m, _ in moves]
    pipe += [(s, set()) for s in r.sample(["brightness 0.2", "contrast 0.2", "noise 0.05"], r.randint(0, 2))]
    return pipe + [(r.choice(["normalise imagenet", "normalise 0.5 0.25"]), set())] * r.randint(0, 1)


def of_photos(r):
    crop = r.choice(["random-resized-crop 16", "resize 20 | center-crop 16", "resize 18x17", "random-crop 16 pad=3"])
    pipe = ["photos", ("shuffle", {"*"}), ("bad " + r.choice(["raise", "replace"]), {"*"})]
    pipe += [(crop, {"flip"}), ("flip", {"*crop", "*resize", "shuffle", "bad"})]
    return pipe + [(r.choice(["normalise imagenet", "brightness 0.3 | normalise 0.5 0.25"]), set())]


def of_table(r):
    pipe = ["t.csv", ("shuffle", {"where"}), (f"where 'width >= {r.randint(0, 200)} && label < {r.randint(9, 20)}'",
                                              {"shuffle"})]
    return pipe + [("standardise", set())] * r.randint(0, 1) + [
        (r.choice(["select width label x kind", "select z=[width,x] kind", "select y=label x"]), set())]


def of_text(r):
    return ["t.txt", *[("shuffle", {"*"})] * r.randint(0, 1), ("tokens bytes", {"shuffle"}),
            (f"pack {r.randint(1, 40)}", set())]


SPELLED = {
    "random-resized-crop 16": ["random-resized-crop 16x16", "random-resized-crop scale=0.08..1 16"],
    "random-crop 8 pad=2": ["random-crop pad=2 8x8"], "random-crop 16 pad=3": ["random-crop pad=3 16"],
    "center-crop 6": ["center-crop 6x6"], "resize 20 | center-crop 16": ["resize 20|center-crop  16x16"],
    "normalise imagenet": ["normalise 0.485,0.456,0.406 0.229,0.224,0.225"],
    "normalise 0.5 0.25": ["normalise 0.5,0.5,0.5 0.25,0.25,0.25", "normalise .5 25e-2"],
    "brightness 0.2": ["brightness @b=0.2"], "noise 0.05": ["noise @n=0.05"], "rotate 10": ["rotate 1e1"],
    "contrast 0.2": ["contrast @c=0.2"], "shift 0.1": ["shift @s=0.1"], "tokens bytes": ["'tokens' 'bytes'"],
    "select y=label x": ["select label x | select y=label x"],
    "select width label x kind": ["select kind x label width | select width label x kind"],
    "select z=[width,x] kind": ["select w=width kind x | select z=[w,x] kind"],
}
SOURCES = {"pictures.npy": ["p-{0..1}.npy", "same.npz", "arrays.gerec"], "photos": ["photos.gerec", "photos/"],
           "t.csv": ["t.tsv", "t.jsonl", "rows.gerec"], "t.txt": ["text.gerec"]}


def name_of(step):
    return step.split()[0]


def may_change(one, two):
    def allows(a, b):
        return any(w == name_of(b[0]) or w == "*" or (w[0] == "*" and name_of(b[0]).endswith(w[1:])) for w in a[1])
    return allows(one, two) and allows(two, one)


def again(pipe, r):
    """The same meaning, written in another way."""
    source = r.choice([pipe[0], *SOURCES[pipe[0]]])
    steps = list(pipe[1:])
    for _ in range(6):
        i = r.randrange(len(steps))
        if i + 1 < len(steps) and may_change(steps[i], steps[i + 1]):
            steps[i:i + 2] = steps[i + 1], steps[i]
        step, free = steps[i]
        if name_of(step) == "where":
            a, b = step[len("where '"):-1].split(" && ")
            step = r.choice([f"where '{b}&&{a}'", f"where '{a}' | where '{b}'", f"where '{b}' | where '{a}'",
                             f"where '!(!({a}) || !({b}))'"])
            steps[i] = step, free
            break
        steps[i] = r.choice([step, *SPELLED.get(step, [])]), free
    return [source, *steps]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true")
    whole = parser.parse_args().all
    c = Same()
    c.files()
    c.grid(whole)
    c.merged(200 if whole else 4)
    c.rewritten(60 if whole else 8)
    c.sizes(2000 if whole else 200)
    return c.close()


if __name__ == "__main__":
    sys.exit(main())
