"""Sources of tables and archives: .csv, .tsv, .jsonl, .tar, .gerec. Called by sources.py."""
import csv
import io
import json
import tarfile

import gerec
import numpy as np


def csv_text(rows, **dialect):
    out = io.StringIO()
    csv.writer(out, **dialect).writerows(rows)
    return out.getvalue()


def columns_of(rows, dtypes):
    return {name: np.array([r[i] for r in rows[1:]]).astype(dtype)
            for i, (name, dtype) in enumerate(zip(rows[0], dtypes))}


def classes(texts):
    names = sorted(set(texts), key=str.encode)
    return np.array([names.index(t) for t in texts], "i8")


def check_csv(run):
    r = np.random.default_rng(5)
    floats = r.standard_normal(40).astype("f4")
    doubles = r.standard_normal(40)
    names = ["zebra", "Ape", 'a "quoted", one', "two\nlines", "Ä", ""]
    rows = [["whole", "f32", "f64", "mixed", "name"]]
    for i in range(40):
        rows.append([int(r.integers(-2**62, 2**62)), floats[i], repr(float(doubles[i])),
                     i if i % 3 else i + 0.5, names[i % len(names)]])
    wanted = {"whole": np.array([x[0] for x in rows[1:]], "i8"), "f32": floats, "f64": doubles,
              "mixed": np.array([x[3] for x in rows[1:]], "f4"),
              "name": classes([x[4] for x in rows[1:]])}
    for ending, dialect in (("csv", {}), ("csv", {"lineterminator": "\n"}),
                            ("csv", {"quoting": csv.QUOTE_ALL}), ("tsv", {"delimiter": "\t"})):
        for mark in ("", "\ufeff"):
            run.write(f"t.{ending}", mark + csv_text(rows, **dialect))
            run.gives(f"{ending} {dialect}", f"t.{ending}", wanted)
    run.gives("rows of an order", "t.tsv", wanted, positions=[39, 0, 7, 7])
    run.write("end.csv", "a,b\n1,2\n\n3,4")
    run.gives("no last line end", "end.csv", {"a": np.array([1, 3]), "b": np.array([2, 4])})
    run.write("pandas.csv", ",a\n0,3\n1,4\n")  # as its to_csv writes
    run.gives("pandas' index", "pandas.csv", {"index": np.array([0, 1]), "a": np.array([3, 4])})
    run.write("gaps.csv", "a,b,c\n1,,x\n,2.5,x\n")
    run.gives("empty cells", "gaps.csv", {"a": np.array([1, np.nan], "f4"),
                                          "b": np.array([np.nan, 2.5], "f4"), "c": np.zeros(2, "i8")})
    run.write("large.csv", "id,x\n18446744073709551615,16777217\n18446744073709551615,0.5\n")
    run.gives("nothing is lost", "large.csv", {"id": np.zeros(2, "i8"), "x": np.array([16777217, .5])})
    run.write("part-0.csv", "k,v\nb,1\na,2\n")
    run.write("part-1.csv", "k,v\nc,3\nb,4\n")
    run.gives("classes of all files", "part-{0..1}.csv",
              {"k": np.array([1, 0, 2, 1]), "v": np.array([1, 2, 3, 4])})
    for name, text, wanted in [
            ("few", "a,b\n1,2\n3\n", "line 3: 1 fields, wanted 2 as the first line names"),
            ("many", "a,b\n1,2\n\"x\ny\",2,3\n", "line 3: 3 fields, wanted 2"),
            ("two", "a,b,a\n1,2,3\n", "line 1: two columns are named 'a'"),
            ("parted", "a;b\n1;2\n", "one column, 'a;b', which looks like several parted by ';'"),
            ("noname", "a,,b\n1,2,3\n", "line 1: column 2 has no name; name all columns"),
            ("nohead", "1,2\n3,4\n", "line 1: '1' where the first column's name is wanted; put a line"),
            ("open", "a\n\"x\n", "line 2: a field whose quote has no end"),
            ("behind", "a,b\n\"x\"y,2\n", "line 2: 'y' behind a closing quote, wanted ',' or"),
            ("inside", "a,b\nx\"y,2\n", "line 2: a quote inside a field; put quotes around it"),
            ("zero", "a,b\nx\0,2\n", "line 2: a byte 0, wanted text"),
            ("nothing", "", "line 1: nothing, wanted the names of the columns"),
            ("latin", b"a\xe3,b\n1,2\n", "the column 'a?' has a name of 2 bytes, wanted 1 to 1000 of UTF-8"),
            ("control", "a\tb,c\n1,2\n", "the column 'a?b' has a name of 3 bytes"),
            ("norows", "a,b\n", "has no rows"),
            ("wide", ",".join(f"c{i}" for i in range(70000)) + "\n", "line 1: more than 65536 columns")]:
        run.write(f"{name}.csv", text)
        run.refused(f"{name}.csv", f"'{name}.csv'", wanted)


def check_jsonl(run):
    r = np.random.default_rng(6)
    rows = [{"n": int(r.integers(-2**62, 2**62)), "x": float(np.float32(r.standard_normal())),
             "list": r.integers(0, 9, (2, 3)).tolist(), "ok": bool(i % 2), "empty": [],
             "w": r.standard_normal(2).tolist(), "name": ["b", "a\"\n\u00e4", ""][i % 3]}
            for i in range(30)]
    run.write("t.jsonl", "\n".join(json.dumps(dict(reversed(d.items()) if i % 2 else d))
                                   for i, d in enumerate(rows)) + "\n\n")
    wanted = {"n": np.array([d["n"] for d in rows]), "list": np.array([d["list"] for d in rows]),
              "x": np.array([d["x"] for d in rows], "f4"), "ok": np.array([d["ok"] for d in rows], "i8"),
              "empty": np.zeros((30, 0), "i8"), "w": np.array([d["w"] for d in rows]),
              "name": classes([d["name"] for d in rows])}
    # json writes a float as the double that it is: a float stands for that.
    run.gives("jsonl", "t.jsonl", wanted)
    run.write("f.jsonl", '{"x": 0.1, "y": null}\r\n{"x": null, "y": "t"}\n{"x": 2, "y": null}')
    run.gives("floats and nulls", "f.jsonl", {"x": np.array([0.1, np.nan, 2], "f4"),
                                              "y": np.array([0, 1, 0])})
    for name, text, wanted in [
            ("cut", '{"a": 1}\n{"a": 1', "line 2: it is no JSON from its byte"),
            ("missing", '{"a": 1, "b": 2}\n{"a": 1}', "line 2: it has no field 'b', which the first"),
            ("more", '{"a": 1}\n{"a": 1, "b": 2}', "line 2: it has a field 'b', which the first line"),
            ("twice", '{"a": 1, "a": 2}', "line 1: field 'a' is given twice"),
            ("object", '{"a": {"b": 1}}', "line 1: field 'a' is or holds an object"),
            ("kinds", '{"a": 1}\n{"a": "x"}', "line 2: field 'a' is a text, wanted a number as above"),
            ("shapes", '{"a": [1]}\n{"a": [1, 2]}', "line 2: field 'a' is a list of [2] numbers, wanted "
             "a list of [1] numbers"),
            ("ragged", '{"a": [[1], [1, 2]]}', "line 1: field 'a' is a list whose parts differ"),
            ("ragged2", '{"a": [1, []]}', "line 1: field 'a' is a list whose parts differ"),
            ("ragged3", '{"a": [[], 1]}', "line 1: field 'a' is a list whose parts differ"),
            ("texts", '{"a": ["x"]}', "line 1: field 'a' is a list with a text, wanted numbers"),
            ("scalar", "3", "line 1: no object; wanted"), ("array", "[1]", "line 1: no object; wanted"),
            ("large", '{"a": 18446744073709551615}', "field 'a' is 18446744073709551615, wanted at most"),
            ("huge", '{"a": 1e999}', "line 1:"),
            ("deep", '{"a": ' + "[" * 9000, "line 1: field 'a' has lists deeper than 8"),
            ("none", "{}", "line 1: an object without fields")]:
        run.write(f"{name}.jsonl", text)
        run.refused(f"{name}.jsonl", f"'{name}.jsonl'", wanted)


def tar_bytes(members, format=tarfile.PAX_FORMAT, kind=tarfile.REGTYPE):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format) as t:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size, info.type, info.linkname = len(data), kind, "x" if kind != tarfile.REGTYPE else ""
            t.addfile(info, io.BytesIO(data))
    return out.getvalue()


def check_tar(run):
    r = np.random.default_rng(7)
    x = r.standard_normal((12, 3, 2)).astype("f4")
    label = r.integers(0, 1000, 12)
    names = [["dog", "cat", "eel"][i % 3] for i in range(12)]
    for format in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        prefix = "d/" * 20 + "k" * (40 if format == tarfile.USTAR_FORMAT else 200)

        def members(rows, of_class):
            for i in rows:
                yield f"{prefix}{i:04}.X.npy", gerec.npy(x[i])
                yield f"{prefix}{i:04}.cls", of_class[i].encode() + b"\n" * (i % 2)

        for i in range(3):
            run.write(f"s-{i:02}.tar", tar_bytes(members(range(4 * i, 4 * i + 4), names), format))
            run.write(f"n-{i:02}.tar", tar_bytes(members(range(4 * i, 4 * i + 4), label.astype(str)),
                                                 format))
        run.gives(f"tar {format}", "s-00.tar", {"x.npy": x[:4], "cls": classes(names[:4])})
        run.gives("tars as one table", "s-{00..02}.tar", {"x.npy": x, "cls": classes(names)})
        run.gives("classes that are numbers", "n-{00..02}.tar", {"x.npy": x, "cls": label})
    good = tar_bytes([("a.cls", b"1"), ("a.b.png", b"x"), ("b.cls", b"2"), ("b.b.png", b"y")])
    run.write("p.tar", good)
    run.gives("pictures", "p.tar | select cls", {"cls": np.array([1, 2])})
    run.refused("p.tar", "column 'b.png' of 'p.tar' holds pictures of any size")
    bad = bytearray(good)
    bad[3] ^= 1
    minus = bytearray(good)
    minus[124:136] = b"\xff" * 12
    minus[148:156] = b"%06o\0 " % (sum(minus[:148]) + 8 * 32 + sum(minus[156:512]))
    for name, data, wanted in [
            ("cut", good[:512 * 7], "wants 1 bytes, 0 are left; it is cut"),
            ("noend", good[:512 * 8], "it ends without the two blocks of zeros"),
            ("empty", b"", "it ends without the two blocks of zeros"),
            ("sum", bytes(bad), "the header at byte 0 has the checksum"),
            ("minus", bytes(minus), "a size below 0 or beyond 2^63"),
            ("out", tar_bytes([("a/../../b.cls", b"1")]), "'a/../../b.cls' is named as a file outside"),
            ("root", tar_bytes([("/etc/b.cls", b"1")]), "member '/etc/b.cls' is named as a file outside"),
            ("link", tar_bytes([("b.cls", b"")], kind=tarfile.SYMTYPE), "member 'b.cls' is of type '2'"),
            ("lacks", tar_bytes([("a.cls", b"1"), ("a.txt", b"x"), ("b.cls", b"1")]),
             "row 1 ('b') has no member .txt, which the first row ('a') has"),
            ("more", tar_bytes([("a.cls", b"1"), ("b.cls", b"1"), ("b.txt", b"1")]),
             "row 1 ('b') has a member .txt, which the first row ('a') has not"),
            ("twice", tar_bytes([("a.cls", b"1"), ("a.cls", b"1")]), "two members are named 'a.cls'"),
            ("noext", tar_bytes([("a", b"1")]), "member 'a' has no extension; wanted KEY.EXT"),
            ("nocls", tar_bytes([("a.cls", b"\n")]), "row 0 ('a') of 'nocls.tar': its .cls has 1 bytes"),
            ("shape", tar_bytes([("a.npy", gerec.npy(x[0])), ("b.npy", gerec.npy(x[0, 0]))]),
             "row 1 ('b') of 'shape.tar': column 'npy', float32[2], wanted column 'npy', float32[3,2]")]:
        run.write(f"{name}.tar", data)
        run.refused(f"{name}.tar", f"'{name}.tar'", wanted)


def check_gerec(run):
    r = np.random.default_rng(8)
    rows = 3000
    columns = {"x": r.standard_normal((rows, 5, 3)).astype("f4"), "label": r.integers(0, 3, rows),
               "flag": r.integers(0, 2, rows) > 0, "a/b": r.integers(0, 9, (rows, 0)),
               "picture": [r.bytes(int(n)) for n in r.integers(0, 50, rows)],
               "text": ["t" * int(n) for n in r.integers(0, 50, rows)]}
    path = run.here / "t.gerec"
    gerec.write(path, columns, rows, classes={"label": ["a", "b", "c"]})
    back = gerec.read(path)
    run.check("Python reads it", all(
        np.array_equal(back[k], v) if isinstance(v, np.ndarray)
        else back[k] == [b.encode() if isinstance(b, str) else b for b in v] for k, v in columns.items()))
    arrays = {k.replace("/", "_"): v for k, v in columns.items() if isinstance(v, np.ndarray)}
    run.gives("gerec", "t.gerec | select x label flag a/b", arrays)
    run.gives("rows of an order", "t.gerec | select label x", {k: arrays[k] for k in ("label", "x")},
              positions=[2999, 0, 5])
    run.refused("t.gerec", "column 'picture' of 't.gerec' holds pictures of any size")
    good = path.read_bytes()
    at = good.index(columns["x"].tobytes())
    for row in (0, 1500, 2999):
        bad = bytearray(good)
        bad[at + row * 60 + 7] ^= 16
        run.write("bad.gerec", bytes(bad))
        first = (at + row * 60 + 7 - (at - 128)) // 65536 * 65536 - 128
        run.refused("bad.gerec | select x", "'bad.gerec', column 'x', rows "
                    f"{max(first, 0) // 60} to {min((first + 65536 + 59) // 60, rows) - 1}: their bytes "
                    "have not the sum", positions=[row])
        other = 0 if row == 2999 else 2999
        if row:
            run.rows("bad.gerec | select x", [other])  # another part is good still
    meta = good.index(b'{"gerec"')
    bad_meta = good[:meta + 30] + bytes([good[meta + 30] ^ 1]) + good[meta + 31:]
    run.write("meta.gerec", bad_meta)
    run.refused("meta.gerec", "meta.json is damaged or larger than 256 MiB")
    small = {"x": np.arange(3), "p": [b"1", b"2", b"3"]}
    for name, change, wanted in [
            ("version", lambda m, f: m.update(gerec=2), "is a .gerec file of version 2, wanted 1"),
            ("rows", lambda m, f: m.update(rows=4), "column 'x' has not the 4 rows of the file"),
            ("many", lambda m, f: m.update(rows=1 << 60), "rows in 2 columns, which it cannot hold"),
            ("minus", lambda m, f: m.update(rows=-1), "meta.json has not"),
            ("member", lambda m, f: f.pop("c1.bin"), "it has no member 'c1.bin'"),
            ("stem", lambda m, f: m["columns"][0].update(member="../x"), "wanted [A-Za-z0-9_-]+"),
            ("kind", lambda m, f: m["columns"][0].update(kind="y"), "is of kind 'y', wanted array"),
            ("same", lambda m, f: m["columns"][0].update(name="p"), "two columns are named 'p'"),
            ("sum", lambda m, f: m["sums"].update({"c1.offset.npy": "0" * 16}), "meta.json wants"),
            ("sums", lambda m, f: m["sums"].clear(), "member 'c0.xxh3.npy' has the sum"),
            ("deep", lambda m, f: m.update(rows=json.loads("[" * 900 + "]" * 900)), "meta.json has not")]:
        gerec.write(run.here / f"{name}.gerec", small, 3, change=change)
        run.refused(f"{name}.gerec", f"'{name}.gerec'", wanted)
    gerec.write(run.here / "odd.gerec", small, 3, align=63)
    run.refused("odd.gerec", "wanted a multiple of 64")


def check_texts(run):
    """Lines of text as tokens, which are the bytes of the file; texts of a table in the same way."""
    r = np.random.default_rng(9)
    lines = [bytes(r.integers(32, 127, int(n)).astype("u1")) for n in r.integers(0, 100, 50)]
    for ending, last in ((b"\n", b"\n"), (b"\r\n", b"\r\n"), (b"\n", b"")):
        run.write("t.txt", ending.join(lines) + last)
        stream = np.frombuffer(b"\n".join(lines) + b"\n", "u1").astype("i8")
        for length in (1, 7, 128):
            rows = (len(stream) - 1) // length
            run.gives(f"windows of {length}", f"t.txt | tokens bytes | pack {length}",
                      {"x": stream[:rows * length].reshape(rows, length),
                       "y": stream[1:rows * length + 1].reshape(rows, length)})
    texts = ["long " * 20 + str(i) for i in range(9)]
    run.write("texts.csv", csv_text([["t", "n"]] + [[t + '"', i] for i, t in enumerate(texts)]))
    run.write("texts.jsonl", "\n".join(json.dumps({"t": t + '"', "n": 1}) for t in texts))
    run.write("texts.tar", table_tar(texts))
    gerec.write(run.here / "texts.gerec", {"t": [t + '"' for t in texts]}, 9)
    stream = np.frombuffer("".join(t + '"\n' for t in texts).encode(), "u1").astype("i8")
    for name in ("texts.csv", "texts.jsonl", "texts.gerec", "texts.tar"):
        pipe = name + (" | select txt" if name.endswith("tar") else " | select t")
        run.gives(name, f"{pipe} | tokens bytes | pack 50",
                  {"x": stream[:850].reshape(17, 50), "y": stream[1:851].reshape(17, 50)},
                  positions=list(range(17)))
    run.refused("t.txt", "column 'text' of 't.txt' holds texts of any length; make windows of tokens")
    run.refused("t.txt | tokens bytes", "add 'pack LENGTH'")
    run.refused("t.txt | pack 3", "step 'pack 3': wanted pack LENGTH behind tokens")
    run.refused("t.txt | tokens bytes | pack 99999", "wanted more than 99999 tokens in 't.txt', which has")
    run.refused("texts.tar | tokens words", "step 'tokens words': wanted tokens bytes")
    run.refused("end.csv | tokens bytes", "one column of texts ahead of it; there are 0")


def table_tar(texts):
    return tar_bytes([m for i, t in enumerate(texts)
                      for m in ((f"{i}.txt", (t + '"').encode()), (f"{i}.json", b"{}"))])


def check(run):
    for part in (check_csv, check_texts, check_jsonl, check_tar, check_gerec):
        part(run)
