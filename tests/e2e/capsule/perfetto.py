"""Reads a trace in Perfetto's format by the numbers of its fields (perfetto.dev/docs/reference/
trace-packet-proto): tracks, slices, counters. It refuses slices that do not nest.

    trace = perfetto.read(path)
    trace.slices  # of every track: name, category, begin, end, depth, notes, inner
"""
import struct
from dataclasses import dataclass, field


def fields(data):
    """Pairs of a field's number and its value: a number, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        kind = tag & 7
        if kind == 0:
            value = varint()
        elif kind == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        else:
            assert kind == 2, f"wire type {kind}"
            size = varint()
            value, at = data[at:at + size], at + size
            assert len(value) == size, "a field ends behind the file"
        yield tag >> 3, value


def first(data, number, otherwise=0):
    return next((v for n, v in fields(data) if n == number), otherwise)


@dataclass
class Slice:
    track: str
    name: str
    category: str
    begin: int
    end: int = 0
    depth: int = 0
    inner: int = 0  # ns of the slices right inside
    notes: dict = field(default_factory=dict)

    @property
    def ns(self):
        return self.end - self.begin


class Trace:
    def __init__(self):
        self.tracks, self.slices, self.counts = {}, [], {}
        self.names = {1: {}, 2: {}, 3: {}}  # categories, events, notes
        self.open = {}

    def describe(self, data):
        thread = first(data, 4, None)
        name = first(thread, 5, b"") if thread is not None else first(data, 2, b"")
        self.tracks[first(data, 1)] = name.decode()

    def note(self, data):
        found = dict(fields(data))
        name = self.names[3][found.pop(1)]
        value = next(iter(found.values()), 0)
        return name, value.decode() if isinstance(value, bytes) else value

    def take(self, data, at):
        kind, track = first(data, 9), self.tracks[first(data, 11)]
        stack = self.open.setdefault(track, [])
        if kind == 1:
            notes = dict(self.note(v) for n, v in fields(data) if n == 4)
            stack.append(Slice(track, self.names[2][first(data, 10)], self.names[1][first(data, 3)], at,
                               depth=len(stack), notes=notes))
            self.slices.append(stack[-1])
        elif kind == 2:
            done = stack.pop()
            done.end = at
            assert done.end >= done.begin, f"{done.name} ends before it begins"
            if stack:
                assert done.begin >= stack[-1].begin, f"{done.name} begins before {stack[-1].name}"
                stack[-1].inner += done.ns
        else:
            assert kind == 4, f"event type {kind}"
            self.counts.setdefault(track, []).append((at, first(data, 30, None)))


def read(path):
    trace = Trace()
    for number, packet in fields(path.read_bytes()):
        assert number == 1, f"field {number} of a trace"
        parts = dict(fields(packet))
        assert parts[10] == 1, "one sequence"
        for kind, names in fields(parts.get(12, b"")):
            trace.names[kind][first(names, 1)] = first(names, 2, b"").decode()
        if 60 in parts:
            trace.describe(parts[60])
        if 11 in parts:
            trace.take(parts[11], parts[8])
    assert not any(trace.open.values()), "slices that never end"
    return trace
