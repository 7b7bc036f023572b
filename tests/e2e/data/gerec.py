"""Writes and reads .gerec files with zipfile and numpy, after passes/data/sources/gerec.h."""
import ctypes
import io
import json
import zipfile

import numpy as np

PART = 65536
XXH = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
XXH.restype, XXH.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t]


def sum_of(data):
    return XXH(data, len(data))


def npy(array):
    out = io.BytesIO()
    np.save(out, np.ascontiguousarray(array))
    return out.getvalue()


def write(path, columns, rows, classes=None, change=None, align=64):
    """columns: {name: array, or a list of bytes (pictures), or a list of str (texts)}; change(meta,
    members) makes a bad one."""
    meta = {"gerec": 1, "rows": rows, "columns": [], "sums": {}}
    members = {}
    for i, (name, values) in enumerate(columns.items()):
        stem = f"c{i}"
        if isinstance(values, np.ndarray):
            members[f"{stem}.npy"] = data = npy(values)
            sums = [sum_of(data[at:at + PART]) for at in range(0, len(data), PART)]
            kind = "array"
        else:
            kind = "text" if values and isinstance(values[0], str) else "picture"
            blobs = [v.encode() if kind == "text" else v for v in values]
            members[f"{stem}.bin"] = b"".join(blobs)
            members[f"{stem}.offset.npy"] = npy(np.cumsum([0] + [len(b) for b in blobs], dtype="i8"))
            sums = [sum_of(b) for b in blobs]
        members[f"{stem}.xxh3.npy"] = npy(np.array(sums, "u8"))
        meta["columns"].append({"name": name, "kind": kind, "member": stem})
        if name in (classes or {}):
            meta["columns"][-1]["classes"] = classes[name]
    for name, data in members.items():
        if name.endswith((".offset.npy", ".xxh3.npy")):
            meta["sums"][name] = f"{sum_of(data):016x}"
    if change:
        change(meta, members)
    members["meta.json"] = json.dumps(meta).encode()
    with zipfile.ZipFile(path, "w") as z:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            pad = -(z.fp.tell() + 30 + len(name)) % align
            info.extra = b"\xff\xff" + (pad - 4 + align).to_bytes(2, "little") + bytes(pad - 4 + align)
            z.writestr(info, data)


def read(path):
    """The reader that docs/data.md speaks of: {column: array or list of bytes}."""
    out = {}
    with zipfile.ZipFile(path) as z:
        meta = json.loads(z.read("meta.json"))
        for column in meta["columns"]:
            stem = column["member"]

            def array(end):
                return np.load(io.BytesIO(z.read(stem + end)))

            if column["kind"] == "array":
                out[column["name"]] = array(".npy")
                continue
            offset, data = array(".offset.npy"), z.read(stem + ".bin")
            out[column["name"]] = [data[a:b] for a, b in zip(offset, offset[1:])]
    return out
