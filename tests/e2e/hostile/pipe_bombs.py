#!/usr/bin/env python3
"""Small files and pipes (10 kB at most) that claim or unpack to much, as sources of data pipelines: each ends
within 1 GB and 10 s of processor time with a message that names the file, or gives its rows where it is
just well packed. The last line counts checks."""
import gzip
import json
import os
import pathlib
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

import data_bombs as db

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "data"))
import gerec  # noqa: E402
import table_sources  # noqa: E402

MOST_BYTES, MOST_RSS_KB, MOST_S = 10_000, 1_000_000, 10
EMPTY = f"({2 ** 62}, 0)"


def npys():
    yield "overflow.npy", db.npy(f"({2 ** 62}, {2 ** 62})"), "", "'overflow.npy'"
    yield "claims.npy", db.npy("(1099511627776, 192)"), "", "its shape wants 844424930131968 bytes"
    yield "nothing.npy", db.npy(EMPTY), " | shuffle", "rows of nothing"
    yield "standard.npy", db.npy(EMPTY), " | standardise", "rows of nothing"
    yield "head.npy", db.npy("(64,)", version=2, length=2 ** 31), "", "its header does not end"
    yield "rank.npy", db.npy("(" + "1, " * 3000 + ")"), "", "'rank.npy'"
    yield "brackets.npy", db.npy("(" * 9000), "", "'brackets.npy'"
    yield "text.npy", db.npy("(64,)", "<U1000000000"), "", "has elements '<U"


def zips():
    good = db.zipped([("x", db.npy("(64, 9)", data=bytes(64 * 36)))])
    yield "size.npz", db.both(good, 24, 22, "<I", 2 ** 32 - 2), "", "claims 4294967294 bytes"
    yield "packed.npz", db.patched(good, db.DIRECTORY, 20, "<I", 2 ** 32 - 2), "", "'packed.npz'"
    yield "count.npz", db.patched(good, db.END, 10, "<H", 65534), "", "its directory of 65534 members"
    yield "zeros.npz", db.zipped([("x", [db.npy("(8388608,)", "|u1"), *db.zeros(8)])]), "", None
    yield "empty.npz", db.zipped([("x", db.npy(EMPTY))]), "", "rows of nothing"
    wide = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 2 ** 60, 2 ** 60, 2 ** 60, 0)
    yield "wide.npz", wide + struct.pack("<4sIQI", b"PK\6\7", 0, 0, 1) + struct.pack(
        "<4sHHHHIIH", db.END, 0, 0, 65535, 65535, 2 ** 32 - 1, 2 ** 32 - 1, 0), "", "'wide.npz'"
    many = good[:good.index(db.DIRECTORY)] + b"".join(
        db.entry(f"x{i}", 0, 1, 1) for i in range(150))
    yield "many.npz", many + struct.pack("<4sHHHHIIH", db.END, 0, 0, 150, 150, len(many) - good.index(db.DIRECTORY),
                                         good.index(db.DIRECTORY), 0), "", "'many.npz'"


def head(name, size, kind=b"0"):
    """The header of a member of a tar, whose size is a number of 64 bits."""
    out = bytearray(512)
    out[:len(name)] = name
    out[100:124] = b"0000644\x000000000\x000000000\x00"
    out[124:136] = b"\x80\0\0\0" + size.to_bytes(8, "big")
    out[136:157] = b"00000000000\0        " + kind
    out[257:265] = b"ustar\x0000"
    out[148:156] = b"%06o\0 " % sum(out)
    return bytes(out)


def tars():
    yield "size.tar", head(b"a.npy", 2 ** 62) + bytes(2048), "", "'size.tar'"
    yield "round.tar", head(b"a.npy", 2 ** 64 - 511) + bytes(2048), "", "'round.tar'"
    yield "name.tar", head(b"././@LongLink", 2 ** 40, b"L") + bytes(2048), "", "'name.tar'"
    yield "pax.tar", head(b"x", 2 ** 40, b"x") + b"30 size=99999999999999999999\n" + bytes(2048), "", "'pax.tar'"
    record = b"99999999999999999999 size=1\n"
    yield "record.tar", head(b"x", len(record), b"x") + record.ljust(512, b"\0") + head(b"a.cls", 1) + bytes(
        2048), "", "'record.tar'"
    inner = db.npy("(1099511627776,)")
    yield "claims.tar", table_sources.tar_bytes([("a.npy", inner)])[:9999], "", "'claims.tar'"
    yield "empty.tar", table_sources.tar_bytes([("a.npy", db.npy(EMPTY))])[:9999], "", "rows of nothing"


def idxs():
    yield "all-ubyte", db.idx(*[2 ** 32 - 1] * 8), "", "its sizes do not fit 64 bits"
    yield "ranks-ubyte", bytes([0, 0, 8, 255]) + bytes(1020), "", "'ranks-ubyte'"
    yield "rows-ubyte", db.idx(2 ** 32 - 1, 192), "", "its sizes want 824633720640 bytes"
    yield "empty-ubyte", db.idx(2 ** 32 - 1, 0), " | shuffle", "rows of nothing"
    yield "packed-ubyte.gz", db.packed(db.idx(2 ** 32 - 1, 192), 1), "", "cannot be the 824633720640"
    yield "more-ubyte.gz", db.packed(db.idx(64, 192), 8), "", "it inflates to more bytes than it says"
    yield "many-ubyte.gz", gzip.compress(db.idx(64, 192)) + gzip.compress(b"", mtime=0) * 400, "", "'many-ubyte.gz'"


GRAY, DC, AC = b"\0\x08\1\1\0\0\x3f\0", b"\0\x08\1\1\0\0\0\0", b"\0\x08\1\1\0\1\x3f\0"  # scans of one component


def jpeg(height, width, kind, *scans):
    """Of one component, and scans of (head, bytes). A bit 0 is a difference of 0 among DC codes; among AC codes,
    with 14 more, a run of 16,384 blocks without coefficients."""
    out = b"\xff\xd8\xff\xdb\0\x43\0" + b"\1" * 64 + b"\xff" + kind + struct.pack(">HBHHB", 11, 8, height, width, 1)
    out += b"\1\x11\0"
    for table, symbol in ((b"\0", b"\0"), (b"\x10", b"\xe0")):
        out += b"\xff\xc4\0\x14" + table + bytes([1] + [0] * 15) + symbol
    return out + b"".join(b"\xff\xda" + head + data for head, data in scans) + b"\xff\xd9"


def pictures():
    """Two million pixels are as many as 4 kB hold of one bit a block."""
    some = (DC, bytes(2048 * 1024 // 64 // 8))
    runs = (AC, bytes(4))
    yield "sides", jpeg(65500, 65500, b"\xc0", (GRAY, bytes(9000))), "cannot hold 65500 x 65500 pixels"
    yield "baseline", jpeg(16384, 16384, b"\xc0", (GRAY, bytes(9000))), "bytes cannot hold 16384 x 16384 pixels"
    yield "progressive", jpeg(2048, 2048, b"\xc2", (DC, bytes(7000)), *[(DC, b"")] * 200), "JPEG: "
    yield "order", jpeg(1024, 2048, b"\xc2", *[runs] * 500), "JPEG: Inconsistent progression"
    yield "honest", jpeg(1024, 2048, b"\xc2", some, runs), None
    yield "scans", jpeg(512, 1024, b"\xc2", (DC, bytes(1024)), *[runs] * 550), "has more than 500 scans"
    yield "line", jpeg(8, 65500, b"\xc2", (DC, bytes(1024)), *[runs] * 90), None
    yield "arithmetic", jpeg(16384, 16384, b"\xca", *[(DC, b"\0")] * 700), "bytes cannot hold 16384 x 16384 pixels"
    yield "small_arithmetic", jpeg(2048, 2048, b"\xca", *[(DC, b"\0")] * 700), "JPEG: "
    yield "tables", b"\xff\xd8" + (b"\xff\xc4\0\x13\0" + bytes(16)) * 450, "JPEG: "


def texts():
    names = ",".join(f"c{i}" for i in range(1700))
    yield "columns.csv", names + "\n", "", "'columns.csv'"
    yield "commas.csv", "," * 9999, "", "'commas.csv'"
    yield "long.csv", "a" * 9990 + "\n1\n", "", "'long.csv'"
    yield "quotes.csv", 'a\n"' + '""' * 4900, "", "'quotes.csv'"
    yield "exponent.csv", "a\n1e99999999999\n" + "9" * 9000 + "\n", " | tokens bytes | pack 8", None
    yield "rows.csv", "a\n" + "1\n" * 4000, "", None
    yield "depth.jsonl", '{"a": ' + "[" * 9900, "", "deeper than 8"
    yield "objects.jsonl", '{"a":' * 1990, "", "'objects.jsonl'"
    yield "numbers.jsonl", '{"a": ' + "9" * 9900 + "}", "", "'numbers.jsonl'"
    yield "fields.jsonl", "{" + ",".join(f'"{i}": 0' for i in range(1000)) + "}", "", None
    yield "escapes.jsonl", '{"a": "' + "\\u0000" * 1600 + '"}', " | tokens bytes | pack 8", None
    yield "lines.txt", "\n" * 9999, " | tokens bytes | pack 8", None


def records(folder):
    for name, change in (
            ("rows", lambda m, _: m.update(rows=2 ** 62)), ("depth", None),
            ("offsets", lambda _, f: f.update({"c1.offset.npy": gerec.npy(gerec.np.array([0, 2 ** 62, 1, 2, 3, 4]))})),
            ("empty", lambda m, f: (m.update(rows=2 ** 62), f.update({"c0.npy": db.npy(EMPTY)})))):
        path = folder / f"{name}.gerec"
        gerec.write(path, {"x": gerec.np.arange(5), "p": [b"a"] * 5}, 5, change=change)
        data = path.read_bytes()
        if name == "depth":
            meta = data.index(b'{"gerec"')
            data = data[:meta] + b"[" * (data.index(b"PK\1\2") - meta) + data[data.index(b"PK\1\2"):]
        yield path.name, data, " | select x", f"'{path.name}'"


def pipes():
    """Of a good small file."""
    yield "x.npy" + " | select x=[x,x]" * 60, "Concat"
    yield "x.npy | select x=[" + ",".join(["x"] * 4900) + "]", None
    yield "x.npy" + " | shuffle" * 900, None
    yield "x.npy | where '" + "(" * 9000 + "'", "where"
    yield "i.npy | where '" + "!" * 9000 + "(x > 0)'", "where"
    yield "p.npy | resize 32768x32768", ""
    yield "x-{0..9223372036854775807}.npy", "9223372036854775807"
    yield "x-{0..99999}.npy", "x-0.npy"
    yield "t.txt | tokens bytes | pack 9223372036854775807", "pack"


def bounded():
    resource.setrlimit(resource.RLIMIT_CPU, (3 * MOST_S, 3 * MOST_S))


class Bombs:
    def __init__(self, scratch):
        self.scratch, self.passed, self.failed, self.bombs = scratch, 0, 0, 0

    def check(self, name, good, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name[:300]}: {str(detail).strip()[-600:]}")

    def ends(self, name, pipe, wanted, size):
        """`wanted`: what the message says; None = it gives rows."""
        self.bombs += 1
        for words in (["info"], ["run", "--batches", "2"]):
            with subprocess.Popen([db.GE, "data", words[0], pipe, *words[1:]], cwd=self.scratch,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  preexec_fn=bounded) as child:
                said = child.stderr.read()
                _, status, used = os.wait4(child.pid, 0)
                child.returncode = code = os.waitstatus_to_exitcode(status)
            good = code == 0 if wanted is None else code == 2 and wanted in said
            if words[0] == "info":  # some are damaged where a row is read, not before
                good = code == 0 or wanted is not None and code == 2 and wanted in said
            self.check(f"{name} {words[0]}", good and size <= MOST_BYTES, f"{code}, {size} bytes: {said}")
            self.check(f"{name} {words[0]}: little memory and time", used.ru_maxrss <= MOST_RSS_KB
                       and used.ru_utime + used.ru_stime <= MOST_S, used)

    def run(self):
        for make in (npys, zips, tars, idxs, texts, lambda: records(self.scratch)):
            for name, data, steps, wanted in make():
                data = data if isinstance(data, bytes) else data.encode()
                (self.scratch / name).write_bytes(data)
                self.ends(name, name + steps, wanted, len(data))
        for name, data, wanted in pictures():
            for steps in ("resize 32x32", "random-crop 32", "bad replace | resize 32x32"):
                folder = self.scratch / name
                folder.mkdir(exist_ok=True)
                (folder / "p.jpg").write_bytes(data)
                mended = wanted and "bad replace" in steps and "has a damaged picture"
                self.ends(f"JPEG {name}, {steps}", f"{name} | {steps}", mended or wanted, len(data))
        (self.scratch / "x.npy").write_bytes(db.npy("(64, 4)", data=bytes(1024)))
        (self.scratch / "i.npy").write_bytes(db.npy("(64,)", data=bytes(256)))
        (self.scratch / "p.npy").write_bytes(db.npy("(64, 3, 2, 2)", "|u1", data=bytes(768)))
        (self.scratch / "t.txt").write_text("some text\n" * 9)
        for pipe, wanted in pipes():
            self.ends(pipe, pipe, wanted, len(pipe))


def main():
    os.environ.update(GE_CACHE_DIR="off", GE_PROBE="fixed")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    scratch = pathlib.Path(tempfile.mkdtemp())
    bombs = Bombs(scratch)
    bombs.run()
    shutil.rmtree(scratch)
    bombs.check("bombs", bombs.bombs >= 60, bombs.bombs)
    print(f"{bombs.bombs} bombs")
    print(f"{bombs.passed} passed, {bombs.failed} failed, 0 skipped")
    return bombs.failed > 0


if __name__ == "__main__":
    sys.exit(main())
