#!/usr/bin/env python3
"""Batches of data pipelines in Python: what is lent stays, orders, PyTorch, refusals.

Example: python tests/e2e/python/python_data.py --build build/release --scratch FOLDER
"""
import argparse
import gc
import importlib.util
import os
import pathlib
import re
import sys

import numpy as np

import graphengine

passed = failed = 0


def check(good, what, text=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAILED  {what}: {text}")


def refused(what, words, call):
    try:
        call()
    except graphengine.Error as error:
        check(words in str(error), what, error)
    else:
        check(False, what, "was taken")


def lent(file, x):
    batches = graphengine.batches(f"{file} | shuffle", batch=50, seed=3, limit=1000)
    kept = list(batches)
    rows = np.concatenate([b["x"] for b in kept])
    check(len(kept) == 20 and rows.shape == x.shape, "an epoch", rows.shape)
    check(np.array_equal(np.sort(rows[:, 0]), np.sort(x[:, 0])), "each row once")
    check(not np.array_equal(rows, x), "in another order")
    again = graphengine.batches(f"{file} | shuffle", batch=50, seed=3, first=250, ahead=4)
    check(np.array_equal(next(again)["x"], rows[250:300]), "from row 250 on")
    one = next(again)["x"]
    for _ in range(30):
        next(again)
    check(np.array_equal(one, rows[300:350]), "what is held is not written again")
    del again
    gc.collect()
    check(np.array_equal(one, rows[300:350]), "nor does it go with the iterator")
    parts = [np.concatenate([b["x"] for b in graphengine.batches(
        f"{file} | shuffle", batch=50, seed=3, limit=1000, rank=rank, world=2)]) for rank in range(2)]
    merged = np.concatenate([p.reshape(20, 25, -1) for p in parts], axis=1).reshape(1000, -1)
    check(np.array_equal(merged, rows), "two ranks are one world")


def entries(file):
    test = graphengine.batches(f"{file} | shuffle", batch=64, test=file, entry="data_test", limit=1000)
    sizes = [len(b["x"]) for b in test]
    check(sizes == [64] * 15 + [40], "the test part has a short last batch", sizes)
    session = graphengine.Session(file.parent / "doubled.gt", plugins="data")
    batch = next(session.batches(batch=8, first=5))
    check(batch["y"].tolist() == [2 * i for i in range(5, 13)], "an entry of one's own", batch)


def torches(file):
    try:
        import torch
    except ImportError:
        return 1
    batch = next(graphengine.batches(f"{file} | shuffle", batch=16))
    tensor = torch.from_numpy(batch["x"])
    check(tensor.shape == (16, 3) and tensor.data_ptr() == batch["x"].ctypes.data, "PyTorch's view")
    return 0


def page(scratch):
    """The blocks of docs/data.md for Python, typed; without PyTorch those that want it by NumPy."""
    text = (pathlib.Path(__file__).resolve().parents[3] / "docs/data.md").read_text()
    blocks = re.findall(r"^```py\n(.*?)^```", text, re.M | re.S)
    check(len(blocks) > 1, "blocks for Python", blocks)
    r, here = np.random.default_rng(7), scratch / "page"
    for i in range(80):
        path = here / f"photos/{'cat dog'.split()[i % 2]}/{i:02}.ppm"
        path.parent.mkdir(parents=True, exist_ok=True)
        height, width = (int(n) for n in r.integers(40, 90, 2))
        path.write_bytes(b"P6 %d %d 255\n" % (width, height) + r.bytes(height * width * 3))
    np.save(here / "x.npy", r.random((640, 3), dtype=np.float32))
    os.chdir(here)
    skipped = 0
    for block in blocks:
        torch = "torch" in block
        if torch and importlib.util.find_spec("torch") is None:
            skipped += 1
            block = block.replace("torch.from_numpy", "numpy.asarray").replace("torch", "numpy")
        taken = []
        names = {"step": taken.append}
        exec(block, names)
        batch = names["batch"]
        if not torch:
            check(len(taken) == 60000 // 64 + 1 and taken[-1].shape == (32, 3), "batches of arrays", len(taken))
            continue
        x, label = np.asarray(names["x"]), np.asarray(names["label"])
        check(x.shape == (16, 3, 224, 224) and set(label) == {0, 1}, "photos", (x.shape, label))
        check(np.shares_memory(x, batch["picture"]) and np.shares_memory(label, batch["label"]),
              "nothing was copied")
    return skipped


def refusals(file):
    refused("no such file", "cannot open", lambda: graphengine.batches("none.npy"))
    refused("a word that it has not", "batches takes no 'bach'",
            lambda: graphengine.batches(str(file), bach=3))
    refused("a number below 0", "wanted a number from 0 on",
            lambda: graphengine.batches(str(file), first=-1))
    refused("worlds", "some for each rank", lambda: graphengine.batches(str(file), world=65))
    refused("both quotes", "quotes of both kinds", lambda: graphengine.batches("'a' \"b\""))
    refused("no such entry", "entry", lambda: graphengine.batches(str(file), entry="data_test"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build")
    parser.add_argument("--scratch", required=True)
    scratch = pathlib.Path(parser.parse_args().scratch)
    x = np.arange(3000, dtype=np.float32).reshape(1000, 3)
    file = scratch / "rows.npy"
    np.save(file, x)
    (scratch / "doubled.gt").write_text(
        'ge 1\nopset "" 28\nsymbol n\nfn data(position: i64[n]) -> (y) {\n'
        '  y = Add(position, position)\n}\nentry data "data" = data\n')
    lent(file, x)
    entries(file)
    skipped = torches(file)
    skipped += page(scratch)
    refusals(file)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
