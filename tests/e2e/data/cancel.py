#!/usr/bin/env python3
"""Cancels and time limits in loads of pipes and in the making of batches: long fields, long lines, what is
inflated, tokens, and large pictures of each format end before half of the work is done, and no thread
is left (cancel_client.c). --large N: files N times as large, for figures. The last line counts checks."""
import argparse
import gzip
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

import tokens

ROOT = pathlib.Path(__file__).resolve().parents[3]


def sources(here, large):
    """Pipes whose sources take long to open."""
    r = np.random.default_rng(57)
    quoted = 'x""y ' * (4_000_000 * large)
    (here / "quoted.csv").write_text(f'a,t\n1,"{quoted}"\n2,b\n')
    (here / "long.csv").write_text("a,t\n1," + "x" * (40_000_000 * large) + "\n2,b\n")
    (here / "wide.jsonl").write_text(('{"a":[' + ",".join(["1.5"] * (400_000 * large)) + "]}\n") * 3)
    (here / "text.jsonl").write_text('{"t":"' + "text " * (4_000_000 * large) + '","a":1}\n')
    rows = r.integers(0, 8, (60_000 * large, 1000), dtype=np.uint8)
    np.savez_compressed(here / "packed.npz", x=rows)
    with gzip.open(here / "x-idx2-ubyte.gz", "wb", 1) as f:
        f.write(struct.pack(">HBBII", 0, 8, 2, *rows.shape))
        f.write(rows.tobytes())
    (here / "lines.txt").write_text("the order of rows is a function of their positions\n" * (800_000 * large))
    out = ["quoted.csv | select a", "long.csv | select a", "wide.jsonl", "text.jsonl | select a", "packed.npz",
           "x-idx2-ubyte.gz", "lines.txt | tokens bytes | pack 128"]
    if tokens.LIBRARY.exists():
        (here / "t.model").write_bytes(tokens.model(tokens.pieces()))
        out.append(f"lines.txt | tokens {here}/t.model | pack 128")
    return [f"{here}/{p}" for p in out]


def pictures(here, large):
    """Pipes of one large picture each."""
    r = np.random.default_rng(58)
    part = Image.fromarray(r.integers(0, 256, (64, 64, 3), dtype=np.uint8)).resize((1000, 1000))
    side = round(4000 * large ** 0.5)
    pixels = np.tile(np.asarray(part), (side // 1000 + 1, side // 1000 + 1, 1))[:side, :side]
    picture = Image.fromarray(pixels)
    for name, more in (("baseline.jpg", {}), ("progressive.jpg", {"progressive": True}),
                       ("fast.png", {"compress_level": 1}), ("lossy.webp", {"method": 0}),
                       ("strips.tif", {"compression": "tiff_lzw"})):
        (here / name.partition(".")[0]).mkdir()
        picture.save(here / name.partition(".")[0] / f"0{name[name.index('.'):]}", **more)
    each = [f"{here}/{n} | resize 32x32" for n in ("baseline", "progressive", "fast", "lossy", "strips")]
    return [*each, f"{here}/progressive | bad replace | resize 32x32"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", type=int, default=1)
    large = parser.parse_args().large
    build, counts = ROOT / "build/release", np.zeros(3, int)
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        program = here / "cancel_client"
        subprocess.run(["cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{ROOT}",
                        f"-I{ROOT}/sdk/include", f"{ROOT}/tests/e2e/data/cancel_client.c", "-o", program,
                        f"-L{build}/lib", "-lgraphengine", "-lpthread", f"-Wl,-rpath,{build}/lib"], check=True)
        for how, pipes in (("load", sources(here, large)), ("next", pictures(here, large))):
            done = subprocess.run([program, ROOT / "tests/e2e/data/batches.gt", how, *pipes], text=True,
                                  stdout=subprocess.PIPE, check=False,
                                  env={**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed"})
            *said, last = done.stdout.splitlines() or [""]
            print("\n".join(said))
            if done.returncode not in (0, 1) or " passed, " not in last:
                print(f"FAILED  {how}: exit {done.returncode}")
                counts += [0, 1, 0]
                continue
            counts += [int(word) for word in last.split()[::2]]
    print("{} passed, {} failed, {} skipped".format(*counts))
    return 1 if counts[1] else 0


if __name__ == "__main__":
    sys.exit(main())
