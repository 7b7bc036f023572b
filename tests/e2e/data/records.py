#!/usr/bin/env python3
"""Records (.gerec): pictures and texts are packed as they are, arrays and classes too, a Python reader of
thirty lines and the engine read the same of them; each flipped bit is named by column and row. --flips
and --share say how many of them. The last line counts checks."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import zipfile

import numpy as np
from PIL import Image

import data_run
import gerec

SEED = 57


class Records(data_run.DataRun):
    def ran(self, *words):
        done = self.ge(*words, "--json")
        self.check(" ".join(map(str, words)), done.returncode == 0, done.stderr)
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def files(self):
        r = np.random.default_rng(SEED)
        self.photos, self.labels = [], []
        for i in range(40):
            name = f"photos/{'cat dog'.split()[i % 2]}/{i:02}.{'jpg' if i % 3 else 'png'}"
            path = self.here / name
            path.parent.mkdir(parents=True, exist_ok=True)
            size = [int(n) for n in r.integers(20, 90, 2)]
            Image.fromarray(r.integers(0, 256, (*size, 3), np.uint8)).save(path)
        for label, folder in enumerate(("cat", "dog")):
            for path in sorted((self.here / "photos" / folder).iterdir()):
                self.photos.append(path.read_bytes())
                self.labels.append(label)
        self.texts = ["".join(map(chr, r.integers(32, 1000, n))) for n in r.integers(0, 200, 300)]
        self.ids = r.integers(-2 ** 40, 2 ** 40, 300)
        rows = [json.dumps({"id": int(i), "v": [float(i % 7), 0.5], "text": t})
                for i, t in zip(self.ids, self.texts)]
        self.write("rows.jsonl", "\n".join(rows) + "\n")
        np.save(self.here / "wide.npy", r.integers(0, 256, (500, 1000), np.uint8))

    def packed(self):
        for source in ("photos", "rows.jsonl", "wide.npy"):
            self.ran("pack", source, "-o", f"{source[:4]}.gerec")
            seen = self.ran("verify", f"{source[:4]}.gerec")
            self.check(f"{source}: whole", seen.get("faults") == [], seen)
        photos, rows = gerec.read(self.here / "phot.gerec"), gerec.read(self.here / "rows.gerec")
        self.check("photos: bytes", photos["picture"] == self.photos)
        self.check("photos: labels", photos["label"].tolist() == self.labels)
        self.check("texts", [t.decode() for t in rows["text"]] == self.texts)
        self.check("numbers", rows["id"].tolist() == self.ids.tolist())
        self.check("lists", rows["v"].tolist() == [[float(i % 7), 0.5] for i in self.ids])
        with zipfile.ZipFile(self.here / "phot.gerec") as z:
            meta = json.loads(z.read("meta.json"))
        self.check("classes keep their names", meta["columns"][1].get("classes") == ["cat", "dog"], meta)
        for steps in (" | shuffle | resize 24x24 | flip", " | random-resized-crop 16 | normalise imagenet"):
            digests = {self.ran("run", f"{s}{steps}", "--digest", "--batch", 8).get("digest")
                       for s in ("photos", "phot.gerec")}
            self.check(f"the same batches{steps}", len(digests) == 1 and None not in digests, digests)
        steps = " | select text | tokens bytes | pack 32"
        digests = {self.ran("run", f"{s}{steps}", "--digest").get("digest")
                   for s in ("rows.jsonl", "rows.gerec")}
        self.check("the same tokens", len(digests) == 1 and None not in digests, digests)
        self.some()

    def some(self):
        """Parts of the rows, only some columns, a chosen order; and again from records."""
        self.ran("pack", "photos | select picture", "-o", "few.gerec", "--first", 5, "--batches", 2, "--batch", 10)
        self.check("a part", gerec.read(self.here / "few.gerec")["picture"] == self.photos[5:25])
        self.ran("pack", "phot.gerec | where 'label == 1'", "-o", "dogs.gerec")
        self.check("again, where", gerec.read(self.here / "dogs.gerec")["picture"]
                   == [p for p, k in zip(self.photos, self.labels) if k])
        self.ran("pack", "photos | resize 8x8", "-o", "small.gerec")
        self.check("resized ones are arrays",
                   gerec.read(self.here / "small.gerec")["picture"].shape == (40, 3, 8, 8))
        self.ran("pack", "rows.jsonl | shuffle", "-o", "mixed.gerec")
        mixed = gerec.read(self.here / "mixed.gerec")
        self.check("shuffled rows stay whole", sorted(mixed["id"].tolist()) == sorted(self.ids.tolist())
                   and mixed["id"].tolist() != self.ids.tolist()
                   and all(self.texts[self.ids.tolist().index(i)] == t.decode()
                           for i, t in zip(mixed["id"].tolist(), mixed["text"])))

    def bounded(self):
        """Columns of many megabytes are packed within little memory of its own, arrays and blobs."""
        r = np.random.default_rng(SEED)
        big = r.integers(0, 256, (600, 1 << 20), np.uint8)
        np.savez(self.here / "big.npz", a=big[:400], b=np.arange(400))
        (self.here / "big").mkdir()
        picture = (self.here / "photos/cat/00.png").read_bytes()
        for i in range(200):  # what stands behind a PNG's end does not count
            (self.here / f"big/{i:03}.png").write_bytes(picture + big[i].tobytes())
        np.save(self.here / "few.npy", big[:1])
        least = self.limited("few.npy", None)
        for source in ("big.npz", "big"):
            whole = (self.here / source).stat().st_size if source == "big.npz" else 200 << 20
            peak = self.limited(source, 160)
            print(f"{source}: {whole >> 20} MB packed; at most {peak} MB of data, {least} MB of {big[:1].nbytes >> 20} MB")
        arrays = gerec.read(self.here / "big.npz.gerec")
        self.check("large arrays", np.array_equal(arrays["a"], big[:400]) and arrays["b"].tolist() == list(range(400)))
        blobs = gerec.read(self.here / "big.gerec")["picture"]
        self.check("large blobs", [b[len(picture):] for b in blobs] == [row.tobytes() for row in big[:200]])
        left = [p.name for p in self.here.iterdir() if ".gerec." in p.name]
        self.check("nothing is left beside", not left, left)

    def limited(self, source, megabytes):
        """Packs with so much memory of its own at most; the greatest VmData that was seen."""
        limit = f"ulimit -d {megabytes << 10}; " if megabytes else ""
        env = dict(os.environ, GE_CACHE_DIR="off", GE_PROBE="fixed")
        words = [str(data_run.GE), "data", "pack", source, "-o", f"{source}.gerec", "--batch", "4", "--threads", "1"]
        child = subprocess.Popen(["bash", "-c", f'{limit}exec "$@"', "_", *words], cwd=self.here, env=env,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        most = 0
        while child.poll() is None:
            try:
                status = (pathlib.Path("/proc") / str(child.pid) / "status").read_text()
            except OSError:
                break
            found = re.search(r"VmData:\s+(\d+)", status)
            most = max(most, int(found.group(1)) >> 10) if found else most
        said = child.communicate()[1]
        self.check(f"pack {source} within {megabytes} MB", child.returncode == 0, said)
        return most

    def informs(self):
        """A source is looked at as it is: pictures of any size, texts, classes by name."""
        photos, rows = self.ran("info", "photos"), self.ran("info", "rows.jsonl")
        self.check("info of photos", photos["columns"] == [
            {"name": "picture", "kind": "picture"},
            {"name": "label", "dtype": "i64", "dims": "n", "classes": ["cat", "dog"]}], photos)
        self.check("info of texts", rows["columns"][-1] == {"name": "text", "kind": "text"}, rows)
        words = self.ge("info", "photos").stdout
        self.check("in a table", re.search(r"picture\s+picture\s+n\s*\n.*label\s+i64\s+n\s+cat, dog", words),
                   words)
        sized = self.ran("info", "photos | resize 8x8")
        self.check("of sized ones", sized["columns"][0] == {"name": "picture", "dtype": "u8", "dims": "nx3x8x8"},
                   sized)

    def flips(self, count):
        """Of each member's bytes, at random places."""
        r = np.random.default_rng(SEED)
        for i in range(count):
            name = ("phot.gerec", "rows.gerec", "wide.gerec")[i % 3]
            whole = (self.here / name).read_bytes()
            with zipfile.ZipFile(self.here / name) as z:
                infos, meta = z.infolist(), json.loads(z.read("meta.json"))
                member = infos[int(r.integers(len(infos)))]
                stem, end = member.filename.split(".", 1)
                if end.endswith(("offset.npy", "xxh3.npy")) and i % 4:
                    continue
            head = struct.unpack("<HH", whole[member.header_offset + 26:member.header_offset + 30])
            first = member.header_offset + 30 + sum(head)
            at = int(r.integers(member.file_size))
            bad = bytearray(whole)
            bad[first + at] ^= 1 << int(r.integers(8))
            (self.here / "bad.gerec").write_bytes(bad)
            done = self.ge("verify", "bad.gerec", "--json")
            self.named(f"{name} {member.filename} byte {at}", whole[first:first + member.file_size], stem, end,
                       at, {c["member"]: c for c in meta["columns"]}, done, name)

    def named(self, what, data, stem, end, at, columns, done, name):
        if stem == "meta":
            return self.check(what, done.returncode == 2 and "meta.json" in done.stderr, done.stderr)
        column = f"column '{columns[stem]['name']}'"
        if end != "npy" and end != "bin":
            return self.check(what, done.returncode == 2 and f"{column}, all rows" in done.stderr, done.stderr)
        if done.returncode == 2:  # the part with the array's head is read when the file is opened
            good = end == "npy" and at < gerec.PART and column in done.stderr
            return self.check(what, good and " row" in done.stderr, done.stderr)
        faults = json.loads(done.stdout)["faults"] if done.returncode == 1 else []
        good = len(faults) == 1 and column in faults[0]
        if good and end == "npy":
            size = 10 + int.from_bytes(data[8:10], "little")
            rows = json.loads(done.stdout)["rows"]
            row = (at - size) // ((len(data) - size) // rows)
            span = re.search(r"rows (\d+) to (\d+)", faults[0])
            good = span and int(span[1]) <= row <= int(span[2])
        elif good:
            with zipfile.ZipFile(self.here / name) as z, z.open(f"{stem}.offset.npy") as f:
                row = int(np.searchsorted(np.load(f), at, "right")) - 1
            good = f"row {row}:" in faults[0]
        return self.check(what, good, done.stdout + done.stderr)

    def every(self, share):
        """Each bit of a small file, or a share of them. Outside of members it is refused, or nothing changes."""
        self.write("tiny.jsonl", "".join(json.dumps({"id": i, "v": [i / 3, 1], "t": "text " * i}) + "\n" for i in range(4)))
        self.ran("pack", "tiny.jsonl", "-o", "tiny.gerec")
        whole = (self.here / "tiny.gerec").read_bytes()
        with zipfile.ZipFile(self.here / "tiny.gerec") as z:
            meta = json.loads(z.read("meta.json"))
            places = {}  # of each byte in a member
            for i in z.infolist():
                first = i.header_offset + 30 + sum(struct.unpack("<HH", whole[i.header_offset + 26:][:4]))
                places.update((first + at, (i.filename, first, at)) for at in range(i.file_size))
        columns = {c["member"]: c for c in meta["columns"]}
        wanted = self.ran("run", "tiny.gerec | select id v", "--batch", 4, "--digest")["digest"]
        bits = np.arange(8 * len(whole))
        if share < 1:
            bits = np.random.default_rng(SEED).choice(bits, int(share * len(bits)), replace=False)

        def one(bit):
            bad = bytearray(whole)
            bad[bit // 8] ^= 1 << bit % 8
            name = f"bit-{bit}.gerec"
            (self.here / name).write_bytes(bad)
            done, values = self.ge("verify", name, "--json"), None
            if bit // 8 not in places and done.returncode == 0:
                values = self.ge("run", f"{name} | select id v", "--batch", 4, "--digest", "--json")
            os.remove(self.here / name)
            return bit, name, done, values
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for bit, name, done, values in pool.map(one, bits.tolist()):
                if bit // 8 in places:
                    member, first, at = places[bit // 8]
                    stem, end = member.split(".", 1)
                    data = whole[first:first + max(p[2] for p in places.values() if p[1] == first) + 1]
                    self.named(f"bit {bit}: {member}", data, stem, end, at, columns, done, "tiny.gerec")
                elif done.returncode == 0:
                    self.check(f"bit {bit} changes nothing", values.returncode == 0
                               and json.loads(values.stdout)["digest"] == wanted, values.stderr)
                else:
                    self.check(f"bit {bit} is refused", done.returncode == 2 and f"'{name}'" in done.stderr, done.stderr)
        print(f"{len(bits)} of the {8 * len(whole)} bits of a file were flipped")

    def several(self):
        """All that is damaged is told, and what is whole is not."""
        whole = bytearray((self.here / "phot.gerec").read_bytes())
        for i in (3, 17, 30):
            whole[whole.index(self.photos[i]) + 40] ^= 4
        (self.here / "bad.gerec").write_bytes(whole)
        seen = json.loads(self.ge("verify", "bad.gerec", "--json").stdout)
        self.check("three damaged pictures", [re.search(r"row (\d+)", f)[1] for f in seen["faults"]]
                   == ["3", "17", "30"], seen)
        said = self.ge("verify", "bad.gerec")
        self.check("in words", said.returncode == 1 and said.stdout.endswith("in 2 columns, 3 faults\n"),
                   said.stdout)
        run = self.ge("run", "bad.gerec | resize 8x8", "--batch", 8)
        self.check("a run names the first", run.returncode == 2 and "row 3" in run.stderr, run.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flips", type=int, default=60)
    parser.add_argument("--share", type=float, default=0.01, help="of the bits of a small file (default 0.01)")
    args = parser.parse_args()
    c = Records()
    c.files()
    c.packed()
    c.informs()
    c.several()
    c.flips(args.flips)
    c.every(args.share)
    c.small()
    c.bounded()
    return c.close()


if __name__ == "__main__":
    sys.exit(main())
