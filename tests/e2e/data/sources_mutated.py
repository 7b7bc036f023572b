#!/usr/bin/env python3
"""Damaged files of every kind: each is answered or refused with words, in bounded time and memory.
Records also: no flipped bit goes unseen. The argument is the number of files a kind. The last line
counts checks."""
import gzip
import json
import sys
import zipfile

import data_run
import gerec
import numpy as np
import table_sources

INTERESTING = (0, 1, 127, 128, 255)


def mutate(data, r):
    """Cuts, flips, overwrites, repeats or drops a part."""
    data = bytearray(data)
    for _ in range(int(r.integers(1, 4))):
        at = int(r.integers(0, max(1, len(data))))
        many = int(r.integers(1, 9))
        kind = r.integers(0, 6)
        if kind == 0:
            data = data[:at]
        elif kind == 1 and data:
            data[at] ^= 1 << int(r.integers(0, 8))
        elif kind == 2:
            data[at:at + many] = bytes([int(r.choice(INTERESTING))]) * many
        elif kind == 3:
            data[at:at] = data[at:at + 50 * many]
        elif kind == 4:
            del data[at:at + 10 * many]
        else:
            data[at:at + many] = r.bytes(many)
    return bytes(data)


def samples(run):
    """{file name: bytes} of small good files."""
    r = np.random.default_rng(1)
    x, y = r.integers(0, 256, (5, 4, 3)).astype("u1"), r.integers(0, 9, 5)
    idx = bytes([0, 0, 8, 3, 0, 0, 0, 5, 0, 0, 0, 4, 0, 0, 0, 3]) + x.tobytes()
    csv = "a,b,c\n" + "".join(f'{i},{i / 7},"n ""{i % 3}"""\n' for i in range(9))
    jsonl = "\n".join(json.dumps({"a": i, "b": [i / 3, 1], "c": "xyz"[i % 3]}) for i in range(9))
    out = {"t.npy": gerec.npy(x), "t-ubyte": idx, "t-ubyte.gz": gzip.compress(idx),
           "t.bin": b"".join(bytes([i]) + r.bytes(3072) for i in range(3)), "t.csv": csv.encode(),
           "t.tsv": csv.replace(",", "\t").encode(), "t.jsonl": jsonl.encode(), "t.txt": csv.encode(),
           "t.tar": table_sources.tar_bytes([(f"{i}.{e}", d) for i in range(4) for e, d in (
               ("npy", gerec.npy(x[i])), ("cls", b"%d" % i), ("jpg", b"jpg"))])}
    for name, save in (("s.npz", np.savez), ("t.npz", np.savez_compressed)):
        save(run.here / name, x=x, y=y)
        out[name] = (run.here / name).read_bytes()
    gerec.write(run.here / "t.gerec", {"x": x, "y": y, "p": [b"ab", b"", b"c", b"d", b"e"]}, 5)
    out["t.gerec"] = (run.here / "t.gerec").read_bytes()
    return out


def steps(name):
    return {"t.tar": " | select npy cls", "t.gerec": " | select x y"}.get(name, "")


def sweep(run, count):
    for name, good in samples(run).items():
        r = np.random.default_rng(len(name))
        codes = {0: 0, 2: 0}
        for i in range(count):
            bad = mutate(good, r)
            run.write(name, bad)
            code = run.survives(f"{name}, mutation {i}", name + steps(name))
            codes[code] = codes.get(code, 0) + 1
        # A text is legal whatever its bytes are; only it is never refused.
        run.check(f"{name}: some are refused", codes[2] > 0, codes)


def flips(run, count):
    """A record with a flipped bit gives the same values or is refused; damage of data always."""
    r = np.random.default_rng(2)
    x, y = r.integers(0, 256, (300, 7)).astype("u1"), r.integers(0, 9, 300)
    gerec.write(run.here / "t.gerec", {"x": x, "y": y}, 300)
    good = (run.here / "t.gerec").read_bytes()
    with zipfile.ZipFile(run.here / "t.gerec") as z:
        end = max(i.header_offset for i in z.infolist())
    for _ in range(count):
        at = int(r.integers(0, end))
        run.write("t.gerec", good[:at] + bytes([good[at] ^ 1 << int(r.integers(0, 8))]) + good[at + 1:])
        done = run.call("t.gerec", range(300))
        if done.returncode == 0:
            run.check(f"byte {at} unseen", np.array_equal(np.load(run.here / "out/x.npy"), x)
                      and np.array_equal(np.load(run.here / "out/y.npy"), y))
        else:
            run.check(f"byte {at} refused", done.returncode == 2 and "'t.gerec'" in done.stderr,
                      done.stderr)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    run = data_run.DataRun()
    sweep(run, count)
    flips(run, 2 * count)
    run.small()
    return run.close()


if __name__ == "__main__":
    sys.exit(main())
