"""The records of a cache's files of prices (ge/price/price_record.h), read and written without ge: for tests and
for bench scripts that put caches together. Texts of names are taken as UTF-8, what is none of it replaced."""
import json
import struct

MARK = struct.pack("<I", 0x33524547)
HEAD, NUMBERS = struct.Struct("<IIQ"), struct.Struct("<5d3II5I4x")
WORD = (1 << 64) - 1


def stable_hash(data, seed=0x2545F4914F6CDD1D):
    """ge/price/stable_hash.h."""
    def mixed(h, word):
        h = ((h ^ word) * 0x9FB21C651E98DF25) & WORD
        return h ^ (h >> 29)
    h = mixed(seed, len(data))
    whole = len(data) // 8 * 8
    for (word,) in struct.iter_unpack("<Q", data[:whole]):
        h = mixed(h, word)
    h = mixed(h, int.from_bytes(data[whole:], "little"))
    return h ^ (h >> 32)


def records(data):
    """(whole record, row) of each; a row has plugin, device, signature, shape, family, size, day, asked_ns, alone,
    asked_inside_ns, inside, doubts: [ns, samples] of the times, 1 and 2 of doubts that of alone and inside."""
    at = data.find(MARK)
    while at >= 0:
        head = data[at:at + HEAD.size]
        size = HEAD.unpack(head)[1] if len(head) == HEAD.size else 0
        body = data[at + HEAD.size:at + HEAD.size + size]
        if size < NUMBERS.size or len(body) < size or stable_hash(body) != HEAD.unpack(head)[2]:
            at = data.find(MARK, at + 1)
            continue
        n = NUMBERS.unpack_from(body)
        row, place = {}, NUMBERS.size
        for name, length in zip(("plugin", "device", "signature", "shape", "family"), n[9:]):
            row[name] = body[place:place + length].decode(errors="replace")
            place += length
        row.update(size=n[0], asked_ns=n[1], alone=[n[2], n[6]], asked_inside_ns=n[3], inside=[n[4], n[7]], day=n[5],
                   doubts=n[8])
        yield data[at:at + HEAD.size + size], row
        at = data.find(MARK, at + HEAD.size + size)


def record(row):
    """The bytes of a row as records() gives it."""
    texts = [row[name].encode() for name in ("plugin", "device", "signature", "shape", "family")]
    body = NUMBERS.pack(row["size"], row["asked_ns"], row["alone"][0], row["asked_inside_ns"], row["inside"][0],
                        row["day"], row["alone"][1], row["inside"][1], row["doubts"], *map(len, texts)) + b"".join(texts)
    body += bytes(-len(body) % 8)
    return HEAD.pack(int.from_bytes(MARK, "little"), len(body), stable_hash(body)) + body


def key(row):
    """What makes two rows of one offer."""
    return tuple(row[name] for name in ("plugin", "device", "signature", "shape"))


def files(folder):
    return sorted(folder.glob("prices-*.rows"))


def rows(folder):
    """All rows of a cache folder; an offer that was measured since its file was sorted has several."""
    return [row for file in files(folder) for _, row in records(file.read_bytes())]


def machine(file):
    """(cpu, isa, threads) of a file's head."""
    data = file.read_bytes()
    length = int.from_bytes(data[40:44], "little")
    return data[44:44 + length].decode(), *struct.unpack_from("<II", data, 44 + length)


def old_text(row_list, cpu, isa, threads):
    """The file of releases that kept JSON, NAME.json."""
    books = {}
    for row in row_list:
        books.setdefault((row["plugin"], row["device"]), {})[f"{row['signature']}|{row['shape']}"] = [
            row["family"], row["size"], row["day"], row["asked_ns"], *row["alone"], row["asked_inside_ns"],
            *row["inside"], row["doubts"]]
    engines = [{"plugin": p, "device": d, "rows": r} for (p, d), r in books.items()]
    return json.dumps({"format": 2, "cpu": cpu, "isa": isa, "threads": threads, "engines": engines})
