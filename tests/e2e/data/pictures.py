#!/usr/bin/env python3
"""Pictures of data pipelines: parts, sizes, steps, damage. The last line counts checks."""
import argparse
import math
import subprocess
import sys

import data_run
import numpy as np
import picture_files as pf

MODULE = data_run.ROOT / "build/release/lib/libgraphengine_image.so"
MODEL = """ge 1
opset "" 28
opset "ge.data" 1
symbol n
fn main(row: i64[n], box: i64[n,4], view: i64[n,4], flip: bool[n]) -> (x) {{
  x = ge.data.Pictures(row, box, view, flip) {{source="{source}", column="{column}", height={height}, width={width}, channels={channels}}}
}}
entry infer "main" = main
"""
U = np.float32
# Each has loops of its own.
ISAS = ("native", "avx2", "sse4.2")


class Pictures(data_run.DataRun):
    def parts(self, boxes):
        """Parts of every kind of file are those of the whole picture."""
        codecs = pf.Codecs(MODULE)
        r = np.random.default_rng(11)
        kinds = [(s, o) for s in pf.SAMPLINGS for o in pf.ORDERS] + [("png", "")]
        each = max(1, math.ceil(boxes / len(kinds) / 12))
        for sampling, order in kinds:
            wrong = []
            for _ in range(12):
                h, w = (int(v) for v in r.integers(1, 150, 2))
                pixels = pf.smooth(r, h, w)
                data = pf.png(pixels) if sampling == "png" else pf.jpeg(pixels, sampling, order)
                answer, whole = codecs.whole(data)
                self.check(f"{sampling} {order} whole", answer == 0)
                h, w = whole.shape[:2]
                for k in range(each):
                    x, y = int(r.integers(0, w)), int(r.integers(0, h))
                    box = (x, y, int(r.integers(1, w - x + 1)), int(r.integers(1, h - y + 1)))
                    if k == 0:
                        box = (0, 0, w, h)
                    gray = k % 5 == 4
                    wanted = codecs.whole(data, 2)[1] if gray else whole
                    answer, got, told, why = codecs.part(data, box, 2 if gray else 0)
                    cut = wanted[box[1]:box[1] + box[3], box[0]:box[0] + box[2]]
                    if answer or told != (h, w) or not np.array_equal(got, cut):
                        wrong.append(((h, w), box, answer, why))
            self.check(f"parts of {sampling} {order}", not wrong, f"{len(wrong)}: {wrong[:5]}")
        data = pf.png(pf.smooth(r, 4, 5))
        answer, lines, told, _ = codecs.part(data, (0, 0, 0, 0))
        self.check("the size alone", answer == 0 and told == (4, 5) and lines.size == 0, told)
        answer, _, _, why = codecs.part(data, (1, 0, 5, 4))
        self.check("a part beyond", answer == 6 and "does not lie within" in why, why)

    def frames(self, source, column, pictures, channels, count, seed):
        """Random boxes, views and flips of a source against Pillow."""
        r = np.random.default_rng(seed)
        height, width = int(r.integers(1, 60)), int(r.integers(1, 60))
        rows = r.integers(0, len(pictures), count)
        boxes, views = np.zeros((2, count, 4), np.int64)
        for i, row in enumerate(rows):
            h, w = pictures[row].shape[:2]
            if r.random() < 0.7:
                boxes[i] = *r.integers(-9, (w, h)), *r.integers(1, (w + 20, h + 20))
            if r.random() < 0.8:
                full = r.integers(1, 150, 2)
                views[i] = *full, *r.integers(-5, full)
        flips = r.random(count) < 0.5
        (self.here / "p.gt").write_text(MODEL.format(source=source, column=column, height=height,
                                                     width=width, channels=channels))
        for name, value in (("row", rows), ("box", boxes), ("view", views), ("flip", flips)):
            np.save(self.here / f"{name}.npy", value)
        inputs = [a for n in ("row", "box", "view", "flip") for a in ("--input", f"{n}={n}.npy")]
        for isa in ISAS:
            done = subprocess.run([str(data_run.GE), "run", "p.gt", "--plugins", "data", "--engines", "ref",
                                   "--isa", isa, *inputs, "--output", "out"], cwd=self.here,
                                  capture_output=True, text=True, timeout=300, check=False)
            if done.returncode:
                self.check(f"frames of {source}, {isa}", False, done.stderr)
                return
            got = np.load(self.here / "out/x.npy")
            wrong = [i for i, row in enumerate(rows) if not np.array_equal(
                got[i], pf.framed(pictures[row], boxes[i], views[i], flips[i], height, width))]
            detail = [(pictures[rows[i]].shape, boxes[i], views[i], flips[i]) for i in wrong[:3]]
            self.check(f"frames of {source}, {channels} channels, to {height}x{width}, {isa}", not wrong,
                       f"{len(wrong)}: {detail}")

    def arrays(self, count):
        r = np.random.default_rng(3)
        for name, shape in (("rgb", (6, 3, 32, 32)), ("one", (6, 1, 28, 20)), ("flat", (6, 28, 28))):
            x = r.integers(0, 256, shape).astype(np.uint8)
            np.save(self.here / f"{name}.npy", x)
            pictures = list(x.reshape(6, -1, *shape[-2:]).transpose(0, 2, 3, 1))
            channels = pictures[0].shape[2]
            for seed in range(3):
                self.frames(f"{name}.npy", "x", pictures, channels, count, seed)

    def folder(self, count):
        """Pictures of classes, of all kinds."""
        r = np.random.default_rng(4)
        codecs = pf.Codecs(MODULE)
        color, gray = [], []
        for i in range(40):
            h, w = (int(v) for v in r.integers(20, 160, 2))
            pixels = pf.smooth(r, h, w)
            sampling, order = pf.SAMPLINGS[i % 5], pf.ORDERS[i % 3]
            data = pf.jpeg(pixels, sampling, order) if i % 8 else pf.png(pixels)
            path = self.here / f"photos/{i // 20}/{i:03}.{'jpg' if i % 8 else 'png'}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            color.append(codecs.whole(data)[1])
            gray.append(codecs.whole(data, 2)[1])
        for seed in range(4):
            self.frames("photos", "picture", color, 3, count, seed)
        self.frames("photos", "picture", gray, 1, count, 9)
        return color

    def loops(self):
        """Flipped and through a table, by the loops of each ISA."""
        for isa in ISAS[1:]:
            for pipe in ("photos | resize 20x30 | flip | normalise imagenet",
                         "rgb.npy | random-crop 32 pad=4 | flip | normalise 0.5 0.25"):
                wanted, got = self.rows(pipe, range(6)), self.rows(pipe, range(6), more=("--isa", isa))
                self.check(f"{pipe}, {isa}", wanted and got and all(np.array_equal(got[k], v)
                                                                   for k, v in wanted.items()))

    def steps_of_photos(self, color):
        at = list(range(40))
        labels = np.array([i // 20 for i in at])

        def of(pipe, **more):
            got = self.rows(f"photos | {pipe}", at, **more)
            if got is not None:
                self.check(f"{pipe}: labels", np.array_equal(got["label"], labels), got["label"])
            return got and got["picture"]

        def same(name, got, wanted):
            good = got is not None and got.shape[1:] == wanted[0].shape and all(
                np.array_equal(g, w) for g, w in zip(got, wanted))
            self.check(name, good, "" if got is None else (got.shape, wanted[0].shape))

        same("resize", of("resize 20x30"), [pf.resized(p, 20, 30).transpose(2, 0, 1) for p in color])

        def shorter(p, short):
            h, w = p.shape[:2]
            return (short, short * w // h) if h <= w else (short * h // w, short)

        def center(p, size):
            at = [round((n - size) / 2) for n in p.shape[:2]]
            return pf.window(p, *at, size, size).transpose(2, 0, 1)

        for size in (24, 33):
            same(f"resize 32 | center-crop {size}", of(f"resize 32 | center-crop {size}"),
                 [center(pf.resized(p, *shorter(p, 32)), size) for p in color])
        same("center-crop", of("center-crop 50"), [center(p, 50) for p in color])
        same("center-crop | resize", of("center-crop 50 | resize 21x17"),
             [pf.resized(pf.window(p, *[round((n - 50) / 2) for n in p.shape[:2]], 50, 50), 21,
                         17).transpose(2, 0, 1) for p in color])
        draw = namespace()["draw"]
        flips = [U(draw(i, 1, "flip", 0)) < 0.5 for i in at]
        wanted = [pf.resized(p, 20, 20)[:, ::-1 if f else 1].transpose(2, 0, 1)
                  for p, f in zip(color, flips)]
        same("flip", of("resize 20x20 | flip", options=";seed=1"), wanted)
        self.check("flips are some", 5 < sum(flips) < 35, sum(flips))
        boxes = [random_box(p.shape[:2], [draw(i, 1, "random-resized-crop", k) for k in range(22)])
                 for i, p in enumerate(color)]
        same("random-resized-crop", of("random-resized-crop 24", options=";seed=1"),
             [pf.framed(p, b, (24, 24, 0, 0), False, 24, 24) for p, b in zip(color, boxes)])
        mean, std = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
        shift, scale = (255 * mean).astype(U), (1 / (255 * std)).astype(U)
        got = of("resize 20x30 | normalise imagenet")
        wanted = np.stack([pf.resized(p, 20, 30).transpose(2, 0, 1) for p in color]).astype(U)
        wanted = (wanted - shift[:, None, None]) * scale[:, None, None]
        if got is not None:
            self.check("normalise: 1 ulp", got.dtype == U and np.all(
                np.abs(got - wanted) <= np.spacing(np.abs(wanted))), np.abs(got - wanted).max())
        self.refused("photos", "column 'picture' of 'photos' holds pictures of any size; bring them to one")
        self.refused("photos | resize 32", "of different sizes when the shorter side is resized")
        self.refused("photos | flip | resize 32x32 | resize 8x8", "wanted one step that resizes")
        self.refused("photos | resize 32x32 | random-resized-crop 8", "ahead of other crops")
        self.refused("photos | resize 32x32 | center-crop 33", "a window within the 32x32")
        self.refused("photos | resize 32x32 | normalise imagenet | flip", "before the steps that make")
        self.refused("photos | random-resized-crop 8 scale=0..2", "parts of the area above 0")

    def steps_of_arrays(self):
        r = np.random.default_rng(5)
        x = r.integers(0, 256, (64, 3, 32, 32)).astype(np.uint8)
        np.save(self.here / "cifar.npy", x)
        draw = namespace()["draw"]
        at = list(range(64))
        draws = lambda name, k: np.array([[draw(i, 0, name, j) for j in range(k)] for i in at])
        crops = np.floor(draws("random-crop", 2) * 9).astype(int) - 4
        wanted = np.stack([pf.window(p.transpose(1, 2, 0), *c, 32, 32).transpose(2, 0, 1)
                           for p, c in zip(x, crops)])
        self.gives("random-crop", "cifar.npy | random-crop 32 pad=4", {"x": wanted})

        def close(pipe, wanted, bound):
            got = self.rows(f"cifar.npy | {pipe}", at)
            if got is not None:
                got = got["x"]
                self.check(pipe, got.dtype == U and got.shape == wanted.shape
                           and np.abs(got - wanted).max() <= bound, np.abs(got - wanted).max())
        f = x.astype(np.float64)
        factor = 0.8 + 0.4 * draws("brightness", 1)[:, :, None, None]
        bright = np.clip(f * factor, 0, 255)
        close("brightness 0.2", bright, 1e-3)
        gray = (f.mean((2, 3)) * [0.299, 0.587, 0.114]).sum(1)[:, None, None, None]
        factor = 0.8 + 0.4 * draws("contrast", 1)[:, :, None, None]
        close("contrast 0.2", np.clip((f - gray) * factor + gray, 0, 255), 1e-3)
        close("brightness 0.2 | normalise 0.5 0.25", (bright / 255 - 0.5) / 0.25, 1e-4)
        half = 3 * 32 * 32 // 2
        u = draws("noise", 2 * half)
        radius, angle = np.sqrt(-2 * np.log(1 - u[:, :half])), 2 * np.pi * u[:, half:]
        normal = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(x.shape)
        close("noise 0.05", f + 255 * 0.05 * normal, 2e-3)
        self.check("noise is normal", abs(normal.mean()) < 0.01 and abs(normal.std() - 1) < 0.01)
        turn = (draws("rotate", 1)[:, 0] * 2 - 1) * math.radians(10)
        shift = draws("shift", 2) * 0.2 - 0.1
        zoom = 0.9 + 0.2 * draws("zoom", 1)[:, 0]
        placed = np.stack([moved(p, a, s * 32, z) for p, a, s, z in zip(f, turn, shift, zoom)])
        close("rotate 10 | shift 0.1 | zoom 0.9..1.1", placed, 0.05)
        close("zoom 0.9..1.1", np.stack([moved(p, 0, (0, 0), z) for p, z in zip(f, zoom)]), 0.05)
        self.refused("cifar.npy | normalise 0.5 0.5 | contrast 0.2", "before normalise")
        self.refused("cifar.npy | rotate 10 | rotate 5", "step 'rotate 5': wanted it once")

    def amounts(self):
        """States in the place of numbers, with the same first contents, give what the numbers give; in a test
        part random ones are not read."""
        at = list(range(64))
        for numbers, states in (
                ("zoom 0.75..1.25", "zoom @a=0.75..@b=1.25"), ("zoom 0.75..1.25", "zoom 0.75..@b=1.25"),
                ("zoom 1", "zoom @a"), ("normalise 0.5 0.25", "normalise @m=0.5 @s=0.25"),
                ("normalise 0,0.5,1 1,0.5,0.25", "normalise @m,@n=0.5,1 1,0.5,@s=0.25"),
                ("random-resized-crop 16 scale=0.25..0.5 ratio=0.5..2",
                 "random-resized-crop 16 scale=@a=0.25..@b=0.5 ratio=0.5..@c=2"),
                ("random-resized-crop 16 scale=1 ratio=1", "random-resized-crop 16 scale=@a ratio=@b")):
            wanted, got = (self.rows(f"cifar.npy | {p}", at) for p in (numbers, states))
            if wanted and got:
                away = np.abs(wanted["x"].astype(float) - got["x"]).max()
                self.check(states, got["x"].dtype == wanted["x"].dtype and away <= 1e-3, away)
            tested = [self.rows("cifar.npy | flip", at, entry="data_test",
                                options=f";batch=1;test='cifar.npy | {p}'") for p in (numbers, states)]
            if tested[0] and tested[1]:
                same = tested[0]["x"].tobytes() == tested[1]["x"].tobytes()
                self.check(f"test part of {states}", same or "normalise" in states and
                           np.allclose(tested[0]["x"], tested[1]["x"], atol=1e-5))

    def fused(self):
        """The arithmetic behind Pictures becomes its table, and no bit changes."""
        at = list(range(40))
        skip = ("--skip", "fuse-pictures")
        for source in ("photos", "cifar.npy"):
            for steps in ("normalise imagenet", "normalise 0.5 0.3", "brightness 0.2 | normalise 0.5 0.3"):
                pipe = f"{source} | resize 16x16 | flip | {steps}"
                one, two = self.rows(pipe, at), self.rows(pipe, at, more=skip)
                if one and two:
                    x, y = (found["picture" if source == "photos" else "x"] for found in (one, two))
                    self.check(f"{pipe}: same bits", x.dtype == U and x.tobytes() == y.tobytes())
        for more, casts in (((), 0), (skip, 1)):
            done = subprocess.run(
                [str(data_run.GE), "dump", "model.gt", "--to", "rewrite", "--plugins", "data", "--pass",
                 'data:pipe="photos | resize 16x16 | normalise imagenet"', *more],
                cwd=self.here, capture_output=True, text=True, timeout=120, check=False)
            self.check(f"Cast nodes with {more}", done.stdout.count(" Cast(") == casts and
                       "ge.data.Pictures(" in done.stdout, done.stderr or done.stdout)

    def damaged(self, color):
        """One picture cut short: named, or replaced with all its columns by the next good row."""
        path = self.here / "photos/0/007.jpg"
        good = path.read_bytes()
        path.write_bytes(good[:len(good) // 2])
        self.refused("photos | resize 8x8", "row 7, ", "007.jpg", "add the step 'bad replace'", code=2,
                     positions=[6, 7])
        got = self.rows("photos | bad replace | resize 8x8", list(range(40)))
        wanted = list(color)
        wanted[7] = color[8]
        if got is not None:
            self.check("replaced", all(np.array_equal(g, pf.resized(p, 8, 8).transpose(2, 0, 1))
                                       for g, p in zip(got["picture"], wanted)))
        path.write_bytes(b"\xff\xd8\xff not a picture")
        self.refused("photos | resize 8x8", "row 7, ", "007.jpg", positions=[7])
        self.refused("photos | bad once", "bad raise or bad replace")
        path.write_bytes(good)


def namespace():
    """The Python of docs/data.md."""
    text = (data_run.ROOT / "docs/data.md").read_text()
    out = {}
    exec(text.split("```python\n")[1].split("```")[0], out)  # pylint: disable=exec-used
    return out


def random_box(size, draws, area=(0.08, 1), aspect=(3 / 4, 4 / 3)):
    height, width = size
    for t in range(10):
        part = height * width * (area[0] + (area[1] - area[0]) * draws[2 * t])
        log = [math.log(a) for a in aspect]
        ratio = math.exp(log[0] + (log[1] - log[0]) * draws[2 * t + 1])
        w, h = round(math.sqrt(part * ratio)), round(math.sqrt(part / ratio))
        if 0 < w <= width and 0 < h <= height:
            return int(draws[20] * (width - w + 1)), int(draws[21] * (height - h + 1)), w, h
    w, h = width, height
    if width / height < aspect[0]:
        h = round(w / aspect[0])
    elif width / height > aspect[1]:
        w = round(h * aspect[1])
    return (width - w) // 2, (height - h) // 2, w, h


def moved(picture, turn, shift, zoom):
    """[c, h, w] turned counter-clockwise, enlarged about the middle, then shifted by pixels."""
    _, h, w = picture.shape
    y, x = np.mgrid[:h, :w]
    x, y = x - (w - 1) / 2 - shift[0], y - (h - 1) / 2 - shift[1]
    c, s = math.cos(turn) / zoom, math.sin(turn) / zoom
    at_x, at_y = c * x - s * y + (w - 1) / 2, s * x + c * y + (h - 1) / 2
    x0, y0 = np.floor(at_x).astype(int), np.floor(at_y).astype(int)
    padded = np.pad(picture, ((0, 0), (1, 1), (1, 1)))
    take = lambda yy, xx: padded[:, np.clip(yy + 1, 0, h + 1), np.clip(xx + 1, 0, w + 1)]
    fx, fy = at_x - x0, at_y - y0
    return ((take(y0, x0) * (1 - fx) + take(y0, x0 + 1) * fx) * (1 - fy)
            + (take(y0 + 1, x0) * (1 - fx) + take(y0 + 1, x0 + 1) * fx) * fy)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--boxes", type=int, default=600)
    args = parser.parse_args()
    p = Pictures()
    p.parts(args.boxes)
    p.arrays(args.boxes // 10)
    color = p.folder(args.boxes // 5)
    p.steps_of_photos(color)
    p.loops()
    p.steps_of_arrays()
    p.amounts()
    p.fused()
    p.damaged(color)
    return p.close()


if __name__ == "__main__":
    sys.exit(main())
