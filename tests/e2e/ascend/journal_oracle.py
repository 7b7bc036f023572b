#!/usr/bin/env python3
"""Judges the journal of a simulated device (plugins/device/sim/journal.cc) without the simulator's clocks.

What comes before what is a set of work, as the bits of a whole number: what a stream has behind it, what an event
was recorded behind, what the host has learnt. Two pieces of work that touch the same bytes, one of them writing, race
unless one lies in the other's set. The answers are pairs of numbers of calls.

As a program it judges the journals of ge-unit-device's random programs, whose tests know the truth by themselves; and
an oracle that does not look at one kind of line, or of access, has to disagree somewhere.

Example: tests/e2e/ascend/journal_oracle.py --build build/release
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
BLIND = ["record", "wait", "told stream", "told event", "free", "reads", "writes", "call", "host", "node", "copy"]


class Verdict:
    """What is wrong in a journal, as calls."""

    def __init__(self):
        self.races = set()   # (call, call)
        self.freed = set()   # (call of the work, call that frees): the host had not learnt of its end
        self.ended = set()   # calls that destroy a stream whose work may still run
        self.learnt = []     # of each access to the host's memory: when the host learnt that it is over; None: never
        self.drops = 0
        self.others = []     # reports of other kinds

    def unsafe(self):
        return bool(self.races or self.freed)


class Oracle:
    """Of one simulator. `blind` names kinds of lines that it does not look at, for tests of itself; `reads`,
    `writes`: kinds of accesses; `call`: that a copy may read pageable memory when it is called."""

    def __init__(self, verdict, blind=()):
        self.verdict, self.blind = verdict, set(blind)
        self.streams, self.devices = {}, {}  # what is behind, and on which device; destroyed ones too
        self.events, self.graphs, self.pinned = {}, {}, set()
        self.host = self.works = 0  # what the host has learnt; how many pieces there are
        self.newest = {}            # {stream: bit of its own newest work}
        self.touched = {}  # {block: [(bit, begin, end, writes, call)]}
        self.unlearnt = {}  # {bit: places in verdict.learnt}
        self.time = 0

    def line(self, call, kind, words, rest):
        if kind in self.blind or f"{kind} {words[0]}" in self.blind:
            return
        self.time += kind not in ("wait", "record") and (kind, len(words[0].strip("0123456789"))) != ("drop", 0)
        getattr(self, "on_" + kind)(call, words, rest)

    # ---- what is made and ordered
    def on_stream(self, _, words, __):
        self.streams[words[0]], self.devices[words[0]] = 0, words[1]

    def on_block(self, _, words, __):
        if words[1] == "-1":
            self.pinned.add(words[0])

    def on_record(self, _, words, __):
        self.events[words[0]] = self.streams[words[1]]

    def on_wait(self, _, words, __):
        self.streams[words[0]] |= self.events.get(words[1], 0)

    def on_drop(self, *_):
        self.verdict.drops += 1

    def on_told(self, _, words, __):
        self.learn((self.streams if words[0] == "stream" else self.events).get(words[1], 0))

    def on_idle(self, _, words, __):
        for stream, device in self.devices.items():
            if device == words[0]:
                self.learn(self.streams[stream])

    def learn(self, works):
        self.host |= works
        for bit in [bit for bit in self.unlearnt if works & bit]:
            for place in self.unlearnt.pop(bit):
                self.verdict.learnt[place] = self.time

    # ---- work
    def on_kernel(self, call, words, rest):
        self.streams[words[0]] = self.work(call, self.streams[words[0]] | self.host, words[1:], rest)
        self.newest[words[0]] = 1 << self.works - 1

    def on_copy(self, call, words, rest):
        for access in words[1:]:
            if access.startswith("r:p:") and "call" not in self.blind:
                self.look(call, self.host, access)
        self.on_kernel(call, words, rest)

    def on_host(self, call, words, rest):
        self.learn(self.work(call, self.host, words, rest))

    def on_graph(self, _, words, __):
        self.graphs[words[0]] = self.streams[words[1]] | self.host, []

    def on_node(self, call, words, rest):
        behind, nodes = self.graphs[words[0]]
        for other in words[2].split(","):
            behind |= 0 if other == "-" else nodes[int(other)]
        nodes.append(self.work(call, behind, words[3:], rest))

    def on_joined(self, _, words, __):
        for node in self.graphs[words[0]][1]:
            self.streams[words[1]] |= node
        self.newest[words[1]] = self.streams[words[1]]

    def work(self, call, behind, accesses, _):
        """What is behind a new piece of work, itself among it."""
        bit = 1 << self.works
        self.works += 1
        for access in accesses:
            self.look(call, behind, access, bit)
        return behind | bit

    def look(self, call, behind, access, bit=0):
        """An access of `bit`, which is kept, or of nobody's."""
        how, block, begin, end = access.split(":")
        begin, end, writes = int(begin), int(end), how == "w"
        if ("writes" if writes else "reads") in self.blind:
            return
        others = self.touched.setdefault(block, [])
        for other, first, last, wrote, other_call in others:
            if (writes or wrote) and first < end and begin < last and other != bit and not behind & other:
                self.verdict.races.add((other_call, call))
        if bit:
            others.append((bit, begin, end, writes, call))
        if bit and (block == "p" or block in self.pinned):
            self.unlearnt.setdefault(bit, []).append(len(self.verdict.learnt))
            self.verdict.learnt.append(None)

    # ---- what ends
    def on_free(self, call, words, __):
        for bit, _, _, _, other in self.touched.pop(words[0], []):
            if not self.host & bit:
                self.verdict.freed.add((other, call))

    def on_end(self, call, words, __):
        if self.newest.get(words[0], 0) & ~self.host:
            self.verdict.ended.add(call)


def judge(text, blind=()):
    """[(the Verdict, what the simulator found, as a Verdict)] of each simulator in a journal."""
    found = []
    for line in text.splitlines():
        head, _, name = line.partition(" | ")
        call, kind, *words = head.split()
        if kind == "simulator":
            found.append((Verdict(), Verdict()))
            oracle = Oracle(found[-1][0], blind)
        elif kind == "found":
            read_report(line, found[-1][1])
        else:
            oracle.line(int(call), kind, words, name)
    return found


def read_report(line, verdict):
    """A report of the simulator: into the verdict."""
    calls = [int(n) for n in re.findall(r"\bcall (\d+)", line)][:2]
    if re.search("found race: ", line):
        verdict.races.add(tuple(calls))
    elif re.search("found freed in flight: ", line):
        verdict.freed.add(tuple(calls))
    elif re.search("found destroyed in flight: stream ", line):
        verdict.ended.add(calls[0])
    else:
        verdict.others.append(line)


def differs(oracle, simulator):
    """What the simulator says otherwise than the oracle; "" where nothing. Of a byte the simulator keeps the newest
    accesses alone: it names fewer pairs, and behind a race may pass over a free."""
    if oracle.unsafe() != simulator.unsafe():
        return f"unsafe: {oracle.unsafe()} by the oracle, {simulator.unsafe()} by the simulator"
    for name in ("races", "freed", "ended"):
        alone = getattr(simulator, name) - getattr(oracle, name)
        if alone:
            return f"{name}: {sorted(alone)} by the simulator alone"
    missed = {free for _, free in oracle.freed} - {free for _, free in simulator.freed}
    missed |= oracle.ended - simulator.ended
    return f"calls {sorted(missed)} by the oracle alone" if missed and not oracle.races else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    program = parser.parse_args().build.resolve() / "bin/ge-unit-device"
    passed = failed = 0

    def check(good, name, detail=""):
        nonlocal passed, failed
        passed, failed = passed + bool(good), failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    {str(detail)[-1500:]}")

    with tempfile.TemporaryDirectory() as folder:
        journal = pathlib.Path(folder) / "journal"
        done = subprocess.run([program, "--gtest_filter=Programs.*"], capture_output=True, text=True, check=False,
                              timeout=600, env={**os.environ, "GE_SIM_JOURNAL": str(journal)})
        check(done.returncode == 0, "ge-unit-device", done.stdout)
        text = journal.read_text()
    judged = judge(text)
    for number, (mine, its) in enumerate(judged):
        check(not differs(mine, its), f"program {number}", differs(mine, its))
    unsafe, freed = sum(mine.unsafe() for mine, _ in judged), sum(bool(mine.freed) for mine, _ in judged)
    check(unsafe > 500 and freed > 50 and len(judged) > unsafe, "programs of each kind", (unsafe, freed))
    print(f"{len(judged)} programs: {unsafe} unsafe, {freed} of them free in flight")
    for name in BLIND:
        found = sum(bool(differs(*both)) for both in judge(text, [name]))
        check(found > 0, f"an oracle that does not look at '{name}' agrees everywhere")
        print(f"without '{name}' the oracle disagrees in {found}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
