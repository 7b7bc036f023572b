#!/usr/bin/env python3
"""100,000 shapes of one operation at once: the heap that is in use stays what it was after 2,000.

Example: python tests/e2e/all/python/python_shapes.py [--shapes 100000]
"""
import argparse
import ctypes
import random
import sys

import numpy as np

import graphengine as ge


class Heap(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def in_use():
    """Bytes that malloc has given out."""
    ask = ctypes.CDLL(None).mallinfo2
    ask.restype = Heap
    found = ask()
    return found.uordblks + found.hblkhd


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shapes", type=int, default=100_000)
    asked = parser.parse_args().shapes
    side = int(asked ** 0.5) + 1
    shapes = [(i, j) for i in range(1, side + 1) for j in range(1, side + 1)][:asked]
    random.Random(1).shuffle(shapes)
    base, wrong, first = np.arange(side * side, dtype=np.float32) / side, 0, 0
    for k, (i, j) in enumerate(shapes, 1):
        x = base[:i * j].reshape(i, j)
        got = (ge.asarray(x) * 2 + ge.asarray(x)).numpy()
        wrong += not np.allclose(got, x * 3, rtol=1e-6)
        del got, x
        if k == 2000:
            first = in_use()
    last = in_use()
    print(f"{len(shapes)} shapes: {first} bytes in use after 2,000, {last} at the end")
    good = wrong == 0 and last - first < 2 << 20
    print(f"{int(good)} passed, {int(not good)} failed, 0 skipped")
    sys.exit(not good)


main()
