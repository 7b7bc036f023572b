#!/usr/bin/env python3
"""Batches of data pipelines in Python: what is lent stays, orders, PyTorch, refusals.

Example: python tests/e2e/python/python_data.py --build build/release --scratch FOLDER
"""
import argparse
import gc
import pathlib
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
    refusals(file)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
