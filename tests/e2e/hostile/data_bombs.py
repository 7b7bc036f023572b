#!/usr/bin/env python3
"""Small files that claim or unpack to much, as data sets, zips, pictures, JSON and CSV of `ge train`:
each ends within 1 GB and 10 s of processor time with a message that names the file, or trains where it
is just well packed. The last line counts checks."""
import gzip
import io
import os
import pathlib
import random
import resource
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
GE = ROOT / "build/release/bin/ge"
MOST_BYTES, MOST_RSS_KB, MOST_S = 100_000, 1_000_000, 10
NET = """ge 1
opset "" 28
symbol N from "x axis 0"
const s : i64[2] = [0,-1]
const w : f32[2,{size}] = splat 0.01
fn f(x: f32[N,{dims}]) -> (y) {{
  h = Reshape(x, s) "rs"
  y: f32[N,2] = Gemm(h, w) {{transB=1}} "g"
}}
entry infer "main" = f
"""


def npy(shape, descr="<f4", data=b"", version=1, length=None):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    size = struct.pack("<H" if version == 1 else "<I", len(head) if length is None else length)
    return b"\x93NUMPY" + bytes([version, 0]) + size + head + data


def zipped(members, method=zipfile.ZIP_DEFLATED):
    to = io.BytesIO()
    with zipfile.ZipFile(to, "w", method, compresslevel=9) as z:
        for name, data in members:
            with z.open(name + ".npy", "w") as f:
                for part in data if isinstance(data, list) else [data]:
                    f.write(part)
    return to.getvalue()


def zeros(n):
    """n MiB, a part at a time."""
    return [bytes(1 << 20)] * n


def patched(data, signature, offset, form, value):
    """Of the first record of that signature, a field."""
    at = data.index(signature) + offset
    return data[:at] + struct.pack(form, value) + data[at + struct.calcsize(form):]


DIRECTORY, LOCAL, END = b"PK\1\2", b"PK\3\4", b"PK\5\6"
GOOD = [("x", npy("(64, 192)", data=bytes(64 * 192 * 4))), ("y", npy("(64,)", "<i8", bytes(512)))]


def entry(name, at, packed, size):
    name = name.encode() + b".npy"
    return struct.pack("<4sHHHHHHIIIHHHHHII", DIRECTORY, 20, 20, 8, 8, 0, 0, 0, packed, size,
                       len(name), 0, 0, 0, 0, 0, at) + name


def overlapping():
    """900 names for the same 30 kB, each of 30 MB."""
    one = zipped([("x", [npy("(39321, 192)"), *zeros(28), bytes(842496)])])
    end = one.index(DIRECTORY)
    packed = end - one.index(LOCAL) - 35
    entries = b"".join(entry(f"x{i}", 0, packed, 1) for i in range(900))
    return one[:end] + entries + struct.pack("<4sHHHHIIH", END, 0, 0, 900, 900, len(entries), end, 0)


def quoted():
    """Each member holds the headers of all that follow: members that overlap without being equal."""
    kernel = zlib.compressobj(9, wbits=-15)
    body = kernel.compress(bytes(20 << 20)) + kernel.flush()
    heads, at, places = b"", 0, []
    for i in range(200):
        name = f"a{i}.npy".encode()
        places.append((f"a{i}", len(heads)))
        heads += struct.pack("<4sHHHHHIIIHH", LOCAL, 20, 0, 8, 0, 0, 0, 0, 0, len(name), 0) + name
    whole = heads + body
    entries = b"".join(entry(n, a, len(whole) - a - 34 - len(n), 20 << 20) for n, a in places)
    return whole + entries + struct.pack("<4sHHHHIIH", END, 0, 0, 200, 200, len(entries), len(whole), 0)


def both(data, directory, local, kind, value):
    """The same lie in both headers of the first member."""
    return patched(patched(data, DIRECTORY, directory, kind, value), LOCAL, local, kind, value)


def zips():
    good = zipped(GOOD)
    zero_rows = zipped([("x", npy("(0, 192)")), ("y", npy("(0,)", "<i8"))])
    huge = [("x", [npy("(122880, 192)"), *zeros(90)]), ("y", npy("(64,)", "<i8", bytes(512)))]
    yield "good.npz", good, None
    yield "zeros.npz", zipped(huge), "column 'x' has 122880 rows, column 'y' 64"
    yield "no_rows.npz", zero_rows, "has no rows"
    yield "claims.npz", zipped([("x", npy("(1099511627776, 192)")), GOOD[1]]), "its shape wants 844424930131968 bytes"
    yield "overflow.npz", zipped([("x", npy(f"({2 ** 62}, {2 ** 62})"))]), "does not fit"
    yield "nothing_of_much.npz", zipped([("x", npy(f"({2 ** 62}, 0)"))]), "rows of nothing"
    yield "rank.npz", zipped([("x", npy("(" + "1, " * 3000 + ")"))]), "its shape wants 4 bytes"
    yield "digits.npz", zipped([("x", npy("(" + "9" * 3000 + ",)"))]), "63 bits"
    yield "objects.npz", zipped([("x", npy("(64,)", "|O"))]), "has elements '|O'"
    yield "texts.npz", zipped([("x", npy("(64, 192)", "<U1000000000"))]), "has elements '<U"
    yield "head.npz", zipped([("x", npy("(64,)", version=2, length=2 ** 31))]), "its header does not end"
    yield "long_head.npz", zipped([("x", npy("(" + " " * 70000 + ")", version=2))]), "its header does not end"
    yield "twice.npz", good[:good.index(DIRECTORY)] + entry("x", 0, 1, 1) * 2 + struct.pack(
        "<4sHHHHIIH", END, 0, 0, 2, 2, 102, good.index(DIRECTORY), 0), "two members are named"
    yield "overlapping.npz", overlapping(), "'x0.npy' has another name where it lies"
    yield "quoted.npz", quoted(), "'a0.npy' and 'a1.npy' overlap"
    yield "size.npz", both(good, 24, 22, "<I", 2 ** 32 - 2), "claims 4294967294 bytes"
    yield "packed.npz", patched(good, DIRECTORY, 20, "<I", 2 ** 32 - 2), "wants 4294967294 bytes at 35"
    yield "crc.npz", both(good, 16, 14, "<I", 1), "its checksum is not that"
    yield "crc_of_one.npz", patched(good, DIRECTORY, 16, "<I", 1), "its checksum is not that"
    yield "count.npz", patched(good, END, 10, "<H", 65534), "its directory of 65534 members"
    yield "place.npz", patched(good, END, 16, "<I", 0), "its directory is damaged"
    yield "method.npz", both(good, 10, 8, "<H", 12), "method.npz': member 'x.npy' is packed by another method"
    yield "encrypted.npz", patched(good, DIRECTORY, 8, "<H", 1), "encrypted.npz': member 'x.npy' is encrypted"
    wide = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 2 ** 60, 2 ** 60, 2 ** 60, 0)
    yield "wide.npz", wide + struct.pack("<4sIQI", b"PK\6\7", 0, 0, 1) + struct.pack(
        "<4sHHHHIIH", END, 0, 0, 65535, 65535, 2 ** 32 - 1, 2 ** 32 - 1, 0), "wide.npz"
    of_many = zipped([(f"n{i}", npy("(1, 1)", data=bytes(4))) for i in range(400)])
    yield "many.npz", of_many, "has no column for the net's input 'x'"
    deep = good
    for i in range(9):
        deep = zipped([("x", deep)])
    yield "nested.npz", deep, "does not begin as one"


def idx(*dims, data=b""):
    return struct.pack(f">4B{len(dims)}I", 0, 0, 8, len(dims), *dims) + data


def packed(head, mib):
    to = io.BytesIO()
    with gzip.GzipFile(fileobj=to, mode="wb", compresslevel=9, mtime=0) as f:
        f.write(head)
        for part in zeros(mib):
            f.write(part)
    return to.getvalue()


def folders_of_idx():
    """The file of pictures; whether it is packed, its bytes say."""
    labels = idx(64, data=bytes(64))
    for name, data, wanted in (
            ("all", idx(*[2 ** 32 - 1] * 8), "its sizes do not fit 64 bits"),
            ("rows", idx(2 ** 32 - 1, 192), "its sizes want 824633720640 bytes"),
            ("packed_rows", packed(idx(2 ** 32 - 1, 192), 1), "cannot be the 824633720640"),
            ("ends", packed(idx(200_000, 192, data=random.Random(1).randbytes(20_000)), 30),
             "the deflated bytes end 6922720 bytes early"),
            ("more", packed(idx(64, 192), 90), "it inflates to more bytes than it says"),
            ("zeros", packed(idx(491_520, 192), 90), "column 'x' has 491520 rows, column 'y' 64"),
            ("other_shape", packed(idx(1, 94_371_840), 90), "column 'x' has 1 rows, column 'y' 64"),
            ("many_members", gzip.compress(idx(64, 192)) + gzip.compress(b"", mtime=0) * 4000,
             "the deflated bytes end 12288 bytes early")):
        yield name, {"train-images-idx3-ubyte": data, "train-labels-idx1-ubyte": labels}, wanted


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, rows=b"", before=b"", bits=1):
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, 0, 0, 0, 0))
            + before + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def pictures():
    note = chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(90 << 20), 9))
    good = png(8, 8, bytes(16))
    yield "rows", png(16384, 16384, bytes(2049 * 16384)), None
    yield "claims", png(2 ** 31 - 1, 2 ** 31 - 1), "wanted at most"
    yield "wide", png(2 ** 28, 1), "wanted sides of 1 to 1048576"
    yield "note", png(8, 8, bytes(16), note), None
    yield "notes", png(8, 8, bytes(16), chunk(b"tEXt", b"k\0v") * 4000), None
    yield "more_rows", png(8, 8, bytes(90 << 20)), None
    yield "no_rows", png(8, 8), "p.png"
    yield "bmp", struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 54, 0, 0, 54, 40, 2 ** 31 - 1, 2 ** 31 - 1,
                             1, 24, 0, 0, 0, 0, 0, 0), "wanted at most"
    yield "pgm", b"P5 16000 16000 255\n", "wanted 256000000"
    yield "pnm", b"P6 99999999999 99999999999 255\n", "p.png"
    yield "jpeg", (b"\xff\xd8\xff\xc2\0\x11\x08\xff\xdc\xff\xdc\3\1\x22\0\2\x11\1\3\x11\1"
                   b"\xff\xda\0\x0c\3\1\0\2\x11\3\x11\0\x3f\0" + bytes(100)), "p.png"
    yield "tiff", (b"II*\0\x08\0\0\0\3\0" + struct.pack("<HHII", 256, 4, 1, 2 ** 31)
                   + struct.pack("<HHII", 257, 4, 1, 2 ** 31)
                   + struct.pack("<HHII", 258, 3, 2 ** 31, 8) + bytes(4)), "p.png"
    yield "jp2", (b"\xff\x4f\xff\x51\0\x29\0\0" + struct.pack(">IIIIIIII", 2 ** 31, 2 ** 31, 0, 0, 1, 1, 0, 0)
                  + b"\0\1\7\1\1" + bytes(50)), "p.png"
    yield "webp", (b"RIFF\x20\0\0\0WEBPVP8L\x14\0\0\0\x2f\xff\xff\xff\x0f" + bytes(20)), "p.png"
    yield "good", good, None


class Bombs:
    def __init__(self, scratch):
        self.scratch, self.passed, self.failed, self.bombs = scratch, 0, 0, 0
        self.net = scratch / "net.gt"
        self.net.write_text(NET.format(size=192, dims="3,8,8"))
        self.flat = scratch / "flat.gt"
        self.flat.write_text(NET.format(size=192, dims="192"))

    def check(self, name, good, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}: {str(detail).strip()[-600:]}")

    def ends(self, name, wanted, *args, net=None, size=0):
        """`wanted`: what the message says; None = it trains."""
        self.bombs += 1
        with subprocess.Popen([GE, "train", net or self.net, "--batch", "1", "--steps", "1", *args],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as child:
            said = child.stderr.read()
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = code = os.waitstatus_to_exitcode(status)
        good = code == 0 if wanted is None else code == 2 and wanted in said
        self.check(name, good and size <= MOST_BYTES, f"{code}, {size} bytes: {said}")
        self.check(f"{name}: little memory and time", used.ru_maxrss <= MOST_RSS_KB
                   and used.ru_utime + used.ru_stime <= MOST_S, used)

    def data(self):
        for name, data, wanted in zips():
            path = self.scratch / name
            path.write_bytes(data)
            self.ends(name, wanted, "--data", path, net=self.flat, size=len(data))
        for name, files, wanted in folders_of_idx():
            folder = self.scratch / "idx" / name
            folder.mkdir(parents=True)
            for file, data in files.items():
                (folder / file).write_bytes(data)
            self.ends(f"idx {name}", wanted, "--data", folder, net=self.flat,
                      size=sum(map(len, files.values())))
        for name, data, wanted in pictures():
            folder = self.scratch / "pictures" / name
            for c in "ab":
                (folder / c).mkdir(parents=True)
                (folder / c / "p.png").write_bytes(data)
            self.ends(f"picture {name}", wanted, "--data", folder, size=len(data))

    def budget(self):
        """The least memory for batches made ahead is that of one."""
        self.ends("a budget", None, "--data", self.scratch / "pictures" / "good", "--data-limit", "1")

    def texts(self):
        """What a resumed run reads."""
        data, folder = self.scratch / "good.npz", self.scratch / "held"
        log = self.scratch / "log.csv"
        run = ["--data", data, "--checkpoint", folder, "--resume", "--log", f"csv:{log}"]
        self.ends("a checkpoint", None, *run, net=self.flat)
        good = (folder / "checkpoint.json").read_bytes()
        for name, text in (("brackets", b"[" * MOST_BYTES), ("objects", b'{"a":' * 20000),
                           ("a number", b'{"run":{},"version":' + b"9" * 90000 + b"}"),
                           ("an exponent", good.replace(b'"step": 1', b'"step": 1e999999999')),
                           ("escapes", b'{"run":{},"version":"' + b"\\u0000" * 15000 + b'"}'),
                           ("many", b'{"run":{' + b",".join(b'"%d":0' % i for i in range(9000)) + b"}}")):
            (folder / "checkpoint.json").write_bytes(text)
            self.ends(f"JSON of {name}", "checkpoint.json", *run, net=self.flat, size=len(text))
        (folder / "checkpoint.json").write_bytes(good)
        head = b"step,loss,correct,rate\n"
        for name, text in (("one line", b"1" * MOST_BYTES), ("commas", head + b"1" + b"," * 90000),
                           ("lines", head + b"\n" * 90000), ("NULs", bytes(MOST_BYTES))):
            log.write_bytes(text)
            self.ends(f"CSV of {name}", "is no log of ge train", *run, net=self.flat, size=len(text))
        log.write_bytes(head + b"9,1,1,1\n" * 12000)
        self.ends("CSV of later steps", None, *run, net=self.flat)
        self.check("which go", log.read_bytes() == head, log.read_bytes()[:100])


def main():
    os.environ.update(GE_CACHE_DIR="off", GE_PROBE="fixed")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as scratch:
        bombs = Bombs(pathlib.Path(scratch))
        bombs.data()
        bombs.budget()
        bombs.texts()
    bombs.check("bombs", bombs.bombs >= 60, bombs.bombs)
    print(f"{bombs.passed} passed, {bombs.failed} failed, 0 skipped")
    return bombs.failed > 0


if __name__ == "__main__":
    sys.exit(main())
