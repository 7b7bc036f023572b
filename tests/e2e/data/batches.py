#!/usr/bin/env python3
"""Order and Draw against the Python of docs/data.md; batches in its order, by slices and from any row on.

Example: tests/e2e/data/batches.py --build build/release
"""
import argparse
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
SEED = 57
# order(position, rows, epoch_rows, seed) and the 24 bits of draw(position, seed, name, i): twenty lines that
# stay for ever.
GOLDEN_ORDER = [
    ((0, 1, 1, 0), 0), ((5, 10, 8, 1), 9), ((23, 10, 8, 1), 9), ((999, 1000, 960, 7), 864),
    ((10**9, 2**40, 2**40 - 64, -3), 946123184076), ((2**50, 12345678, 12345600, 2**62), 8664397),
    ((0, 2, 2, 1), 0), ((63, 64, 64, 9), 63), ((2**20, 60000, 59904, 1), 1285),
    ((123456789, 1281167, 1281152, 42), 1263841), ((7, 2**33 + 1, 2**33, -2**63), 2644959495),
    ((2**61, 3, 3, 2**63 - 1), 1)]
GOLDEN_DRAW = [
    ((0, 0, "flip", 0), 13413023), ((1, 1, "flip", 3), 2344935), ((2**40, -5, "random-crop", 1), 1383477),
    ((63, 1, "random-resized-crop", 21), 6232226), ((12345, 7, "noise 2", 3071), 8074634),
    ((2**62, 2**63 - 1, "rotate", 0), 4056424), ((99, -2**63, "zoom", 0), 13941098), ((1, 1, "\u00e9", 5), 11862955)]
# Philox4x32-10 of Random123's kat_vectors: counter, key, result.
KNOWN = [([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
         ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
         ([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0],
          [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1])]


def documented():
    """The functions of the page."""
    text = (ROOT / "docs/data.md").read_text()
    scope = {}
    exec(next(b for b in re.findall(r"```python\n(.*?)```", text, re.S) if "def order" in b), scope)
    return scope


class Check:
    def __init__(self, build, folder):
        self.ge, self.folder = ROOT / build / "bin/ge", folder
        self.passed = self.failed = 0
        self.python = documented()
        self.random = random.Random(SEED)

    def check(self, good, what, text=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {what}: {str(text)[:600]}")

    def call(self, *args):
        return subprocess.run([self.ge, *map(str, args)], capture_output=True, text=True,
                              cwd=self.folder, check=False,
                              env={**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed"})

    def data(self, pipe, *args):
        done = self.call("data", "run", pipe, "--json", *args)
        self.check(done.returncode == 0, f"{pipe} {args}", done.stderr)
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def rows(self, nodes, positions):
        """What a function of ge.data's nodes gives."""
        (self.folder / "op.gt").write_text(
            'ge 1\nopset "" 28\nopset "ge.data" 1\nsymbol n\nfn data(position: i64[n]) -> (y) {\n'
            f'  y = {nodes}\n}}\nentry data "data" = data\n')
        np.save(self.folder / "p.npy", np.array(positions, dtype=np.int64))
        done = self.call("run", "op.gt", "--plugins", "data", "--input", "position=p.npy",
                         "--output", "out")
        self.check(done.returncode == 0, nodes, done.stderr)
        return np.load(self.folder / "out/y.npy") if done.returncode == 0 else np.zeros(0)

    def golden(self):
        for arguments, wanted in GOLDEN_ORDER:
            position, rows, epoch_rows, seed = arguments
            got = self.rows(f"ge.data.Order(position) {{seed={seed}, rows={rows}, epoch_rows={epoch_rows}}}",
                            [position])
            self.check(self.python["order"](*arguments) == wanted == got[0], f"order{arguments}", [got, wanted])
        for arguments, wanted in GOLDEN_DRAW:
            position, seed, name, i = arguments
            got = self.rows(f'ge.data.Draw(position) {{seed={seed}, name="{name}", count={i + 1}}}', [position])
            wanted *= 2.0**-24
            self.check(self.python["draw"](*arguments) == wanted == got[0][i], f"draw{arguments}", [got, wanted])

    def orders(self, count):
        python = self.python
        for counter, key, wanted in KNOWN:
            self.check(python["philox"](counter, key) == wanted, "Random123's vector", wanted)
        for _ in range(count):
            rows = int(2 ** self.random.uniform(0, 40))
            epoch_rows = self.random.randint(1, rows)
            seed = self.random.randint(-2**63, 2**63 - 1)
            positions = [self.random.randint(0, min(2**62, epoch_rows * 5)) for _ in range(25)]
            got = self.rows(f"ge.data.Order(position) {{seed={seed}, rows={rows}, "
                            f"epoch_rows={epoch_rows}}}", positions)
            wanted = [python["order"](p, rows, epoch_rows, seed) for p in positions]
            self.check(list(got) == wanted, f"Order of {rows} rows, seed {seed}", [got, wanted])
        for rows in (1, 2, 3, 100, 1000):
            got = self.rows(f"ge.data.Order(position) {{seed=1, rows={rows}, epoch_rows={rows}}}",
                            range(2 * rows))
            for epoch in (got[:rows], got[rows:]):
                self.check(sorted(epoch) == list(range(rows)), f"each of {rows} rows once", epoch)
        self.check(rows < 2 or list(got[:rows]) != list(got[rows:]), "epochs have orders of their own")
        self.places(64, 4000)

    def places(self, rows, epochs):
        """Chi-square of where row 0 lands, and of the pairs of the first two places."""
        got = self.rows(f"ge.data.Order(position) {{seed=9, rows={rows}, epoch_rows={rows}}}",
                        range(rows * epochs)).reshape(epochs, rows)
        counts = np.bincount(np.argmin(got, axis=1), minlength=rows)
        self.chi(counts, "places of row 0")
        self.chi(np.bincount(got[:, 0], minlength=rows), "rows at place 0")
        self.chi(np.bincount((got[:, 1] - got[:, 0]) % rows, minlength=rows)[1:], "steps of places")

    def chi(self, counts, what):
        expected = counts.sum() / len(counts)
        chi = float(((counts - expected) ** 2 / expected).sum())
        # Wilson and Hilferty: the cube root of chi-square over its freedom is nearly normal.
        k = len(counts) - 1
        z = ((chi / k) ** (1 / 3) - (1 - 2 / (9 * k))) / math.sqrt(2 / (9 * k))
        p = 0.5 * math.erfc(z / math.sqrt(2))
        self.check(1e-4 < p < 1 - 1e-4, f"chi-square of {what}", p)

    def draws(self, count_of_cases):
        for _ in range(count_of_cases):
            seed, name = self.random.randint(-2**63, 2**63 - 1), self.random.choice(
                ["flip", "random-crop", "noise 2"])
            count = self.random.choice([1, 4, 7, 2000])
            positions = [self.random.randint(0, 2**62) for _ in range(3)]
            got = self.rows(f'ge.data.Draw(position) {{seed={seed}, name="{name}", count={count}}}',
                            positions)
            wanted = [[self.python["draw"](p, seed, name, i) for i in range(count)]
                      for p in positions]
            self.check(np.array_equal(got, np.array(wanted, dtype=np.float32)),
                       f"Draw {name} of {count}", got)
        got = self.rows('ge.data.Draw(position) {seed=3, name="flip", count=16}', range(4000))
        self.chi(np.bincount((got * 64).astype(int).ravel(), minlength=64), "draws")

    def normalised(self):
        rng = np.random.default_rng(SEED)
        np.save(self.folder / "pictures.npy", rng.integers(0, 256, (300, 3, 9, 7), dtype=np.uint8))
        np.save(self.folder / "rows.npy", rng.standard_normal((1000, 5)).astype(np.float32))
        x = np.load(self.folder / "pictures.npy").astype(np.float32)
        self.data("pictures.npy | normalise 0.5 0.25", "--batch", 60, "--output", "all")
        got = np.load(self.folder / "all/x.npy")
        self.check(got.shape == x.shape and
                   np.abs(got - (x - 127.5) / 63.75).max() < 1e-6, "normalised as numpy does")

    def worlds(self):
        """Slices of several ranks, merged, are the batches of one."""
        x = np.load(self.folder / "rows.npy")
        common = ["--batch", 40, "--output", "w"]
        self.data("rows.npy | shuffle", *common)
        one = np.load(self.folder / "w/x.npy")
        wanted = [self.python["order"](p, 1000, 1000, 1) for p in range(1000)]
        self.check(np.array_equal(one, x[wanted]), "rows in the order of the page")
        for world in (2, 4, 3, 7):
            parts, each = [], -(-40 // world)
            for rank in range(world):
                self.data("rows.npy | shuffle", *common, "--world", world, "--rank", rank)
                mine = min(each, 40 - rank * each)
                parts.append(np.load(self.folder / "w/x.npy").reshape(-1, mine, 5))
            merged = np.concatenate(parts, axis=1).reshape(-1, 5)
            self.check(np.array_equal(merged, one), f"world {world} merged")
        report = self.data("rows.npy | shuffle", "--batch", 64)
        self.check(report.get("rows") == 960, "an epoch leaves out what fills no batch", report)
        self.data("rows.npy | shuffle", "--batch", 40, "--first", 400, "--batches", 3, "--output", "w")
        self.check(np.array_equal(np.load(self.folder / "w/x.npy"), one[400:520]), "from row 400 on")

    def across(self):
        """An entry that looks across rows is made by whole batches, and says so."""
        (self.folder / "mix.gt").write_text(
            'ge 1\nopset "" 28\nopset "ge.data" 1\nsymbol n\nconst axes : i64[1] = [0]\n'
            'fn data(position: i64[n]) -> (y) {\n'
            '  d = ge.data.Draw(position) {seed=1, name="x", count=2000}\n'
            '  m = ReduceMean(d, axes)\n  y = Sub(d, m)\n}\nentry data "data" = data\n')
        wanted = self.data("mix.gt", "--batch", 64, "--batches", 3, "--digest", "--rows", 64)
        found = self.data("mix.gt", "--batch", 64, "--batches", 3, "--digest")
        self.check(found.get("digest") == wanted.get("digest") and found.get("rows_a_run") == 64,
                   "rows that are mixed", [found, wanted])

    def shown(self):
        """A sheet of 16 samples, and the graph as text."""
        done = self.call("data", "show", "pictures.npy | shuffle", "--plot", "sheet.png")
        self.check(done.returncode == 0, "ge data show", done.stderr)
        (self.folder / "decode.gt").write_text(
            'ge 1\nopset "" 28\nfn main(file: u8[n]) -> (y) {\n  y = ImageDecoder(file)\n}\n'
            'entry infer "main" = main\n')
        png = np.fromfile(self.folder / "sheet.png", dtype=np.uint8)
        np.save(self.folder / "png.npy", png)
        done = self.call("run", "decode.gt", "--input", "file=png.npy", "--output", "sheet")
        self.check(done.returncode == 0, "the sheet is a PNG", done.stderr)
        sheet = np.load(self.folder / "sheet/y.npy")
        x = np.load(self.folder / "pictures.npy")
        rows = [self.python["order"](p, 300, 256, 1) for p in range(16)]
        by = 64 // 9
        for n, row in enumerate(rows):
            y0, x0 = n // 4 * (9 * by + 2) + 2, n % 4 * (7 * by + 2) + 2
            part = sheet[y0:y0 + 9 * by:by, x0:x0 + 7 * by:by]
            self.check(np.array_equal(part, x[row].transpose(1, 2, 0)), f"sample {n} of the sheet")
        done = self.call("data", "dump", "pictures.npy | normalise imagenet")
        self.check(done.returncode == 0 and "ge.data.Rows" in done.stdout, "ge data dump", done.stderr)
        done = self.call("data", "dump", "pictures.npy", "--to", "memory")
        self.check(done.returncode == 0 and "arena" in done.stdout, "ge data dump --to memory",
                   done.stderr)
        done = self.call("data", "show", "rows.npy", "--plot", "no.png")
        self.check(done.returncode == 2 and "none of the columns x holds pictures" in done.stderr and
                   not (self.folder / "no.png").exists(), "no pictures", done.stderr)

    def packed(self):
        """Records: the same rows, read by us and by zipfile and numpy."""
        pipe = "pictures.npy | select picture=x"
        done = self.call("data", "pack", pipe, "-o", "all.gerec", "--json")
        self.check(done.returncode == 0 and json.loads(done.stdout)["rows"] == 300, "ge data pack",
                   done.stderr)
        with zipfile.ZipFile(self.folder / "all.gerec") as z:
            self.check(z.testzip() is None, "a ZIP file")
            with z.open("picture.npy") as member:
                self.check(np.array_equal(np.load(member), np.load(self.folder / "pictures.npy")),
                           "its array")
        wanted, found = (self.data(p, "--batch", 60, "--digest").get("digest") for p in (
            "pictures.npy | shuffle | normalise 0.5 0.5",
            "all.gerec | shuffle | normalise 0.5 0.5"))
        self.check(wanted == found, "the same batches from records", [wanted, found])
        self.call("data", "pack", pipe, "-o", "a-00.gerec", "--batches", 2, "--batch", 75)
        self.call("data", "pack", pipe, "-o", "a-01.gerec", "--first", 150, "--batches", 2, "--batch", 75)
        found = self.data("a-{00..01}.gerec | shuffle | normalise 0.5 0.5", "--batch", 60, "--digest")
        self.check(wanted == found.get("digest"), "two parts are one table", found)
        done = self.call("data", "pack", pipe, "-o", "none/all.gerec")
        self.check(done.returncode == 2 and "none/all.gerec" in done.stderr, "no such folder", done.stderr)

    def refusals(self):
        np.save(self.folder / "fortran.npy", np.asfortranarray(np.zeros((3, 4))))
        np.save(self.folder / "one.npy", np.float32(3))
        np.save(self.folder / "bytes.npy", np.zeros((64, 3, 4, 4), np.uint8))
        np.save(self.folder / "text.npy", np.array(["a", "b"]))
        (self.folder / "cut.npy").write_bytes((self.folder / "rows.npy").read_bytes()[:500])
        (self.folder / "x.what").write_text("x")
        for pipe, args, text in [
                ("none.npy", [], "cannot open 'none.npy': No such file"),
                ("*.npy", [], "patterns are not expanded here: numbered files are one table by "),
                ("x.what", [], "'x.what' is of no known kind; wanted a"),
                ("fortran.npy", [], "column-major order; save numpy.ascontiguousarray"),
                ("one.npy", [], "holds one number, wanted rows along an axis"),
                ("text.npy", [], "has elements '<U1', wanted numbers"),
                ("cut.npy", [], "its shape wants 20000 bytes, it has 372"),
                ("rows.npy | shufle", [], "there is no step 'shufle'; the steps are shuffle"),
                ("rows.npy shuffle", [], "put a bar between them"),
                ("rows.npy | | shuffle", [], "an empty step between bars"),
                ("", [], "the pipe names no source"),
                ("'rows.npy", [], "a quote ' has no end"),
                ("rows.npy | shuffle 3", [], "step 'shuffle 3': wanted no argument"),
                ("rows.npy | select y", [], "wanted columns that there are, not 'y': x"),
                ("rows.npy | normalise imagenet", [], "a column of bytes or pictures"),
                ("bytes.npy | noise @", [], "or @NAME=FIRST, a state and its first content"),
                ("bytes.npy | noise @a=-1", [], "or @NAME=FIRST, a state and its first content"),
                ("bytes.npy | zoom @a=0..1.1", [], "a state and its first content from 0.01 to 100"),
                ("bytes.npy | zoom 1.1..0.9", [], "wanted zoom LEAST..MOST"),
                ("bytes.npy | normalise @m @s=0", [], "and its first content from 1e-09"),
                ("bytes.npy | random-resized-crop 4 scale=@a=2..1", [], "from 1e-06 to 1"),
                ("bytes.npy | random-crop @n", [], "a number in place of '@n': sizes are those of the graph"),
                ("bytes.npy | random-crop 4 pad=@p", [], "a number in place of '@p'"),
                ("bytes.npy | resize @n", [], "a number in place of '@n'"),
                ("rows.npy", ["--world", 65], "batch is 64 with world 65"),
                ("rows.npy", ["--rank", 1], "rank is 1 of world 1"),
                ("rows.npy", ["--entry", "x"], "entry 'x'"),
                ("rows.npy", ["--batch", 0], "batch is 0")]:
            done = self.call("data", "run", pipe, *args)
            self.check(done.returncode == 2 and text in done.stderr, f"{pipe} {args} is refused",
                       f"{done.returncode} {done.stderr}")
            self.check(not done.stdout, "nothing on stdout", done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.environ.get("GE_BUILD", "build/release"))
    parser.add_argument("--cases", type=int, default=40, help="of orders, and of draws")
    args = parser.parse_args()
    print(f"seed {SEED}")
    with tempfile.TemporaryDirectory() as folder:
        c = Check(args.build, pathlib.Path(folder))
        c.golden()
        c.orders(args.cases)
        c.draws(args.cases)
        c.normalised()
        c.worlds()
        c.across()
        c.shown()
        c.packed()
        c.refusals()
    print(f"{c.passed} passed, {c.failed} failed, 0 skipped")
    return c.failed != 0


if __name__ == "__main__":
    sys.exit(main())
