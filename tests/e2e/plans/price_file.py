#!/usr/bin/env python3
"""A cache of 20,000 learned prices: a session of a small model reads little of it and appends to it; a long tail is
sorted in; many processes at once, killed ones, cut files and flipped bits cost few rows or none; what releases before
have kept is taken over.

Needs the built `ge`. Prints each fault and, last, the counts.

Example: tests/e2e/plans/price_file.py --build build/release
"""
import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools/bench/plans"), str(ROOT / "tools/bench/door")]
import learned  # noqa: E402
import price_rows  # noqa: E402

SEED, ROWS = 4711, 20000
READ = re.compile(r"price cache: read (\d+) of (\d+) bytes, (\d+) of (\d+) sorted rows")


class Checks:
    """Counts and the first words of each fault."""

    def __init__(self, build, folder):
        self.ge, self.folder, self.cache = build / "bin/ge", folder, folder / "cache"
        self.passed = self.failed = 0
        for width in (8, *range(16, 24)):
            self.model(width).write_text(f"""ge 1
opset "" 28
fn main(x: f32[4,{width}], w: f32[{width},{width}], b: f32[{width}]) -> (y) {{
  m = MatMul(x, w)
  s = Add(m, b)
  r = Relu(s)
  t = Tanh(r)
  y = Softmax(t)
}}
entry infer "main" = main
""")

    def model(self, width):
        return self.folder / f"{width}.gt"

    def check(self, good, name, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}\n    " + str(detail).strip()[:2000].replace("\n", "\n    "))

    def start(self, width=8, command="run"):
        env = {**os.environ, "GE_CACHE_DIR": str(self.cache), "GE_PROBE": "fixed", "GE_LOG_LEVEL": "3"}
        return subprocess.Popen([self.ge, command, self.model(width), "--engines", "native,ref", "--threads", "1",
                                 "--json", *(["--repeat", "5"] if command == "run" else [])],
                                env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, **how):
        """What it says on stderr."""
        with self.start(**how) as process:
            said = process.communicate(timeout=120)[1]
        self.check(process.returncode == 0, f"ge {how}", said)
        return said

    def file(self):
        return price_rows.files(self.cache)[0]

    def rows(self):
        return {price_rows.key(row): row for row in price_rows.rows(self.cache)}


def check_taken_over(c):
    """The JSON of releases before, as large as it gets."""
    c.run()
    first = list(c.rows().values())
    c.check(first, "a run is remembered", c.file())
    old = c.file().with_suffix(".json")
    old.write_text(price_rows.old_text(learned.like(first, ROWS), *price_rows.machine(c.file())))
    c.file().unlink()
    said = c.run(command="explain")
    c.check(not old.exists() and len(c.rows()) == ROWS, "20,000 rows are taken over", (len(c.rows()), said))


def check_reads(c):
    """By what the model needs."""
    size = c.file().stat().st_size
    found = READ.search(c.run(command="explain"))
    read, of, rows, sorted_rows = map(int, found.groups()) if found else (0, 0, ROWS, 0)
    c.check(of == size and sorted_rows == ROWS, "the file is what was read", found)
    c.check(rows <= ROWS / 20 and read <= size / 8, f"read {read} of {of} bytes, {rows} of {sorted_rows} rows")
    print(f"read {read} of {of} bytes, {rows} of {sorted_rows} rows")
    before = c.file().read_bytes()
    c.run()
    after = c.file().read_bytes()
    c.check(after.startswith(before) and 0 < len(after) - len(before) < 16384, "a run appends",
            (len(before), len(after)))


def check_processes(c):
    """Eight at once, each with a model of its own, while the tail is long and so is sorted in; then some are killed."""
    before = set(c.rows())
    with open(c.file(), "ab") as out:
        for i, row in enumerate(learned.like(list(c.rows().values())[:20], 800)):
            out.write(price_rows.record({**row, "shape": f"tail {i}", "day": 30000}))
    c.check(len(c.rows()) == len(before) + 800, "appended rows are rows", len(c.rows()))
    running = [c.start(width=width) for width in range(16, 24)]
    for process in running:
        said = process.communicate(timeout=120)[1]
        c.check(process.returncode == 0 and "is not updated" not in said, "one of eight processes", said)
    found = READ.search(c.run(command="explain"))
    c.check(found and int(found[4]) == ROWS, "the tail was sorted in, and the oldest rows went", found)
    rows = c.rows()
    c.check(sum(key[3].startswith("tail") for key in rows) == 800, "what was appended is kept")
    for width in range(16, 24):
        c.check(any(f"{width}x{width}" in key[3] for key in rows), f"rows of process {width}", len(rows))
    source, least = random.Random(SEED), len(rows)
    for _ in range(25):
        with c.start(width=16) as process:
            time.sleep(source.random() * 0.06)
            process.kill()
            process.communicate()
    said = c.run()
    c.check("is ignored" not in said and "damaged" not in said and len(c.rows()) >= least - 1,
            "killed processes cost no row that was there", (len(c.rows()), least, said))


def check_damage(c):
    """Each costs what it hits."""
    whole, rows = c.file().read_bytes(), len(c.rows())
    source = random.Random(SEED)
    for at in (*range(0, 64, 16), *(source.randrange(len(whole)) for _ in range(12))):
        bad = bytearray(whole)
        bad[at] ^= 1 << source.randrange(8)
        c.file().write_bytes(bad)
        said = c.run(command="explain")
        later = 8 <= at < 12  # another format: the file of a later release
        c.check(later or len(c.rows()) >= min(rows, ROWS) - 1, f"a flipped bit at {at}", (len(c.rows()), rows, said))
        for aside in c.cache.glob("*.damaged"):
            aside.unlink()
    for share in (0, 0.001, 0.3, 0.9):
        c.file().write_bytes(whole[:int(share * len(whole))])
        said = c.run()
        left = len(c.rows())
        c.check(left >= (share - 0.35) * rows, f"cut at {share}", (left, said))
        said = c.run()
        c.check("is ignored" not in said and "damaged" not in said, "and it is whole again", said)
    c.check(not list(c.cache.glob(".*.part")), "nothing half written stays", list(c.cache.iterdir()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.environ.get("GE_BUILD", "build/release"))
    build = (ROOT / parser.parse_args().build).resolve()
    with tempfile.TemporaryDirectory() as folder:
        c = Checks(build, pathlib.Path(folder))
        check_taken_over(c)
        check_reads(c)
        check_processes(c)
        check_damage(c)
    print(f"{c.passed} passed, {c.failed} failed, 0 skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
