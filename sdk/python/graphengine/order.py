"""The order of rows in training, that of docs/data.md: pure in the position, so that a run goes on where
it was by a number alone.
"""
from typing import List

_M = (1 << 64) - 1
_ORDER = 0x4F726465


def _mix(z: int) -> int:
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _M
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _M
    return z ^ z >> 31


def _philox(c: List[int], k: List[int]) -> List[int]:
    """Philox4x32-10."""
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [k[0] + 0x9E3779B9 & 0xFFFFFFFF, k[1] + 0xBB67AE85 & 0xFFFFFFFF]
    return c


def _halves(x: int) -> List[int]:
    return [x & 0xFFFFFFFF, x >> 32 & 0xFFFFFFFF]


class Order:
    """The rows of one epoch by their place. epoch_rows of `rows` fill whole batches."""

    def __init__(self, epoch: int, rows: int, epoch_rows: int, seed: int) -> None:
        self._rows, self._count = rows, epoch_rows
        self._half = max(1, ((rows - 1).bit_length() + 1) // 2)
        keys = [_philox([r, *_halves(epoch), _ORDER], _halves(seed & _M)) for r in range(8)]
        self._keys = [k[0] | k[1] << 32 for k in keys]

    def row(self, i: int) -> int:
        mask = (1 << self._half) - 1
        while True:
            left, right = i >> self._half, i & mask
            for key in self._keys:
                left, right = right, left ^ _mix(right ^ key) & mask
            i = left << self._half | right
            if i < self._rows:
                return i

    def rows(self, first: int, count: int) -> List[int]:
        return [self.row(i) for i in range(first, first + count)]
