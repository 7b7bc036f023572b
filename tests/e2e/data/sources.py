#!/usr/bin/env python3
"""Sources of data pipelines: each kind of file, written by another program, gives every value; bad
files are refused with file, row, what was found and wanted. The last line counts checks."""
import gzip
import os
import struct
import sys
import zipfile
import zlib

import data_run
import table_sources
import numpy as np


def idx_bytes(array):
    codes = {"u1": 8, "i1": 9, "i2": 11, "i4": 12, "f4": 13, "f8": 14}
    head = bytes([0, 0, codes[array.dtype.str[1:]], array.ndim])
    head += struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.astype(array.dtype.newbyteorder(">")).tobytes()


class Sources(data_run.DataRun):
    def idx(self):
        r = np.random.default_rng(1)
        for dtype in ("u1", "i1", "i2", "i4", "f4", "f8"):
            x = r.integers(-100 if dtype != "u1" else 0, 100, (7, 3, 2)).astype(dtype)
            self.write("x.idx", idx_bytes(x))
            self.gives(f"idx of {dtype}", "x.idx", {"x": x})
        x, y = r.integers(0, 256, (9, 5, 4)).astype("u1"), r.integers(0, 10, 9).astype("u1")
        for packed in ("", ".gz"):
            for part in ("train", "t10k"):
                pack = gzip.compress if packed else bytes
                rows = x if part == "train" else x[::-1][:4]
                labels = y if part == "train" else y[::-1][:4]
                self.write(f"mnist{packed}/{part}-images-idx3-ubyte{packed}", pack(idx_bytes(rows)))
                self.write(f"mnist{packed}/{part}-labels-idx1-ubyte{packed}", pack(idx_bytes(labels)))
            wanted = {"x": x, "y": y.astype("i8")}
            self.gives("a folder", f"mnist{packed}", wanted)
            self.gives("its training part", f"mnist{packed}#train", wanted)
            self.gives("its test part", f"mnist{packed}#test",
                       {"x": x[::-1][:4], "y": y[::-1][:4].astype("i8")})
            self.gives("images alone", f"mnist{packed}/train-images-idx3-ubyte{packed}", wanted)
        self.gives("rows of an order", "mnist", wanted, positions=[8, 0, 3, 3])
        os.remove(self.here / "mnist/t10k-images-idx3-ubyte")
        self.refused("mnist#test", "'mnist' has no test part; it has train-images-*")
        good = idx_bytes(x)
        self.write("cut.idx", good[:-1])
        self.refused("cut.idx", "'cut.idx' is not a usable idx file: its sizes want 180 bytes, it has 179")
        self.write("long.idx.gz", b"")
        self.write("cut-ubyte.gz", gzip.compress(good)[:-12])
        self.refused("cut-ubyte.gz", "'cut-ubyte.gz': the deflated bytes ")
        self.write("long-ubyte.gz", gzip.compress(good + b"!"))
        self.refused("long-ubyte.gz", "it inflates to more bytes than it says")
        self.write("bomb-ubyte.gz", gzip.compress(b"\0\0\x08\3" + b"\x00\x00\xff\xff" * 3))
        self.refused("bomb-ubyte.gz", "packed bytes cannot be the 281462092005375 that its sizes want")
        self.write("head.idx", b"\0\0\x08\x03\0\0")
        self.refused("head.idx", "its header does not end")
        self.write("type.idx", b"\0\0\x0a\x01\0\0\0\0")
        self.refused("type.idx", "its type is 0x0a, wanted 0x08, 0x09 or 0x0b to 0x0e")
        self.write("few/train-images-idx3-ubyte", good)
        self.write("few/train-labels-idx1-ubyte", idx_bytes(y[:8]))
        self.refused("few", "column 'x' has 9 rows, column 'y' 8; they must be as many")

    def cifar(self):
        r = np.random.default_rng(2)
        pictures = r.integers(0, 256, (11, 3, 32, 32)).astype("u1")
        label, coarse = r.integers(0, 10, 11).astype("u1"), r.integers(0, 20, 11).astype("u1")

        def ten(rows):
            return b"".join(label[i].tobytes() + pictures[i].tobytes() for i in rows)

        def hundred(rows):
            return b"".join(coarse[i].tobytes() + label[i].tobytes() + pictures[i].tobytes()
                            for i in rows)

        wanted = {"picture": pictures, "label": label.astype("i8")}
        self.write("c10.bin", ten(range(11)))
        self.gives("CIFAR-10", "c10.bin", wanted)
        for i in range(5):
            self.write(f"c10/data_batch_{i + 1}.bin", ten(range(2 * i, 2 * i + 2 + (i == 4))))
        self.write("c10/test_batch.bin", ten([4, 2]))
        self.gives("CIFAR-10, five files", "c10", wanted)
        self.gives("rows of several files", "c10", wanted, positions=[10, 0, 1, 9, 9, 2, 3])
        self.gives("its test part", "c10#test", {k: v[[4, 2]] for k, v in wanted.items()})
        wanted["coarse"] = coarse.astype("i8")
        self.write("c100/train.bin", hundred(range(11)))
        self.write("c100/test.bin", hundred([5]))
        self.gives("CIFAR-100", "c100", wanted)
        self.gives("its test part", "c100/#test", {k: v[[5]] for k, v in wanted.items()})
        self.write("cut.bin", ten(range(11))[:-1])
        self.refused("cut.bin", "its 33802 bytes are no multiple of 3073 (CIFAR-10) or 3074")
        self.write("bad.bin", ten([0, 1]) + b"\x0a" + bytes(3072))
        self.refused("bad.bin", "'bad.bin', row 2: column 'label' is 10, wanted 0 to 9")

    def npz(self):
        r = np.random.default_rng(3)
        x, y = r.standard_normal((8, 3, 2)).astype("f4"), r.integers(0, 5, 8)
        more = {f"a_{np.dtype(d).name}": r.integers(0, 2, (8, 2)).astype(d)
                for d in ("u1", "i1", "?", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8")}
        for save in (np.savez, np.savez_compressed):
            save(self.here / "plain.npz", x=x, y=y, **more)
            self.gives(save.__name__, "plain.npz", {"x": x, "y": y, **more})
            save(self.here / "parts.npz", x_train=x, y_train=y, x_test=x[:3] + 1, y_test=y[:3] + 1)
            self.gives("the training part", "parts.npz", {"x": x, "y": y})
            self.gives("the test part", "parts.npz#test", {"x": x[:3] + 1, "y": y[:3] + 1})
        self.refused("plain.npz#test", "'plain.npz' has no test part; it has arrays without parts")
        np.savez(self.here / "few.npz", x=x, y=y[:5])
        self.refused("few.npz", "column 'x' has 8 rows, column 'y' 5; they must be as many")
        np.savez(self.here / "one.npz", x=np.float32(3))
        self.refused("one.npz", "array 'x.npy' is one number, wanted rows along an axis")
        np.savez(self.here / "fortran.npz", x=np.asfortranarray(x))
        self.refused("fortran.npz", "column-major order; save numpy.ascontiguousarray of it", code=2)
        np.savez(self.here / "big.npz", x=x.astype(">f4"))
        self.refused("big.npz", "array 'x.npy' has elements '>f4', wanted numbers, little-endian")
        with zipfile.ZipFile(self.here / "wide.npz", "w") as z:
            with z.open("x.npy", "w", force_zip64=True) as f:
                np.save(f, x)
        self.gives("zip64 fields", "wide.npz", {"x": x})
        np.savez(self.here / "flip.npz", x=x)
        bad = bytearray((self.here / "flip.npz").read_bytes())
        bad[bad.index(x.tobytes()) + 5] ^= 1
        self.write("flip.npz", bytes(bad))
        self.refused("flip.npz", "'flip.npz' array 'x.npy' is damaged: its checksum is not that")
        self.write("cut.npz", bytes(bad)[:-30])
        self.refused("cut.npz", "'cut.npz' is not a usable zip file: it has no directory; it may")
        self.npz_bombs(x)

    def npz_bombs(self, x):
        with zipfile.ZipFile(self.here / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as z:
            z.writestr("x.npy", bytes(8 << 20))
        data = bytearray((self.here / "bomb.npz").read_bytes())
        at = data.rindex(b"PK\1\2")
        for size in (0xfffffff0, 1 << 31):
            data[at + 24:at + 28] = struct.pack("<I", size)
            self.write("lies.npz", bytes(data))
            self.refused("lies.npz", f"'x.npy' claims {size} bytes, which its")
        # Many names for the same deflated bytes: each is honest, all together are a bomb.
        packed = zlib.compressobj(9, zlib.DEFLATED, -15)
        raw = packed.compress(bytes(8 << 20)) + packed.flush()
        head = struct.pack("<IHHHHHIIIHH", 0x04034b50, 20, 0, 8, 0, 0, zlib.crc32(bytes(8 << 20)),
                           len(raw), 8 << 20, 5, 0) + b"x.npy"
        entries = b"".join(
            struct.pack("<IHHHHHHIIIHHHHHII", 0x02014b50, 20, 20, 0, 8, 0, 0,
                        zlib.crc32(bytes(8 << 20)), len(raw), 8 << 20, 5, 0, 0, 0, 0, 0, 0)
            + b"x.npy" for _ in range(30))
        end = struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, 30, 30, len(entries), len(head + raw), 0)
        self.write("same.npz", head + raw + entries + end)
        self.refused("same.npz", "two members are named 'x.npy'")
        np.savez(self.here / "a.npz", x=x, y=x)
        data = (self.here / "a.npz").read_bytes()
        second = data.rindex(b"PK\1\2")
        place = data.index(b"PK\3\4", 10)
        self.write("over.npz", data[:second + 42] + struct.pack("<I", place - 1) + data[second + 46:])
        self.refused("over.npz", "'y.npy' is not where it says")

    def folders(self):
        r = np.random.default_rng(4)
        files = {}
        for part, count in (("train", 5), ("test", 2)):
            for name in ("dog", "Ape", "cat"):
                for i in range(count):
                    data = r.bytes(100)
                    files[part, name, f"{i}.png"] = data
                    self.write(f"photos/{part}/{name}/{i}.png", data)
        self.write("photos/train/cat/.hidden.png", "x")
        self.write("photos/train/cat/Thumbs.db", "x")
        label = np.repeat(np.arange(3), 5)
        self.gives("classes by bytes", "photos | select label", {"label": label})
        self.gives("CLASS/FILE", "photos/train | select label", {"label": label})
        self.gives("test", "photos#test | select label", {"label": np.repeat(np.arange(3), 2)})
        self.write("photos/train/cat/5.JPG", "x")
        self.gives("one more", "photos | select label", {"label": np.repeat(np.arange(3), [5, 6, 5])})
        self.refused("photos", "column 'picture' of 'photos' holds pictures of any size; bring them to one")
        (self.here / "photos/train/bird").mkdir()
        self.refused("photos", "the class folder 'photos/train/bird' has no pictures; take it away")
        self.write("photos/train/bird/a/b.png", "x")
        self.refused("photos", "'photos/train/bird' has the folder 'a'; pictures lie in CLASS/FILE")
        self.refused("photos/test#test", "'photos/test' has no test part; it has no folder 'train'")
        (self.here / "empty").mkdir()
        self.refused("empty", "'empty' has no pictures; wanted CLASS/FILE, train/CLASS/FILE or FILE")
        self.write("zero/a/b.png", "")
        self.refused("zero", "'zero/a/b.png' has 0 bytes, wanted a picture of 1 to 2^30")

    def tables_of_files(self):
        x = np.arange(24, dtype="f4").reshape(12, 2)
        for i in range(3):
            np.save(self.here / f"p-{i:02}.npy", x[4 * i:4 * i + 4])
        self.gives("a range of files", "p-{00..02}.npy", {"x": x})
        self.gives("in any order", "p-{00..02}.npy", {"x": x}, positions=[11, 0, 5, 4, 3])
        self.gives("a part of it", "p-{01..02}.npy", {"x": x[4:]})
        self.refused("p-{00..03}.npy", "cannot open 'p-03.npy': No such file or directory")
        self.refused("p-{0..99999999}.npy", "names files 0 to 99999999; wanted 1 to 100000")
        np.save(self.here / "p-01.npy", x[:4].astype("f8"))
        self.refused("p-{00..02}.npy", "'p-01.npy' has column 'x', float64[2], 'p-00.npy' has column 'x', "
                     "float32[2]; files of one table have the same columns")
        self.refused("p-00.npy#test", "'p-00.npy' has no test part; it has rows without parts")
        self.refused("nothing.npy", "cannot open 'nothing.npy': No such file or directory")
        self.write("some.thing", "x")
        self.refused("some.thing", "'some.thing' is of no known kind; wanted a folder, or a name that "
                     "ends with .npy, .npz, .bin")


def main():
    run = Sources()
    for part in (run.idx, run.cifar, run.npz, run.folders, run.tables_of_files):
        part()
    table_sources.check(run)
    run.small()
    return run.close()


if __name__ == "__main__":
    sys.exit(main())
