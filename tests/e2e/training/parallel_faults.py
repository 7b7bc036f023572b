#!/usr/bin/env python3
"""`ge train --mesh data=2` where one rank is killed, stopped, fails, runs another model or other
options, ends early or is interrupted: the other one ends with exit code 3 and names rank, node and
step. mpirun is told to let the others live; by itself it ends them where one dies."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = ROOT / "build/release"
ENV = dict(os.environ, GE_CACHE_DIR="off", GE_PROBE="fixed", OMPI_ALLOW_RUN_AS_ROOT="1",
           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")
# Runs a rank, and leaves its process, exit code and words.
RANK = """echo $$ > "$0.pid"; "$@" > "$0.out" 2> "$0.err" & echo $! > "$0.pid"; wait $!
echo $? > "$0.code.new"; mv "$0.code.new" "$0.code" """
ENDLESS = 1_000_000


class Ranks:
    """Two ranks, whose command lines may differ."""

    def __init__(self, scratch, lines):
        self.at = [pathlib.Path(tempfile.mkdtemp(dir=scratch)) / "rank" for _ in lines]
        parts = []
        for i, line in enumerate(lines):
            parts += [":"] * bool(i) + ["-np", "1", "sh", "-c", RANK, str(self.at[i])]
            parts += list(map(str, line))
        self.begin = time.monotonic()
        self.mpirun = subprocess.Popen(["mpirun", "--enable-recovery", *parts], env=ENV,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def read(self, rank, what):
        path = self.at[rank].with_suffix("." + what)
        return path.read_text() if path.exists() else ""

    def wait(self, done):
        """Until done() or for long: no bound on how fast it is."""
        while not done() and time.monotonic() - self.begin < 120:
            time.sleep(0.05)

    def trains(self):
        self.wait(lambda: re.search(r"step \d+", self.read(0, "out")) or self.read(0, "code"))

    def kill(self, rank, how):
        os.kill(int(self.read(rank, "pid")), how)
        self.begin = time.monotonic()

    def end(self, rank):
        """Exit code and words of a rank that ends by itself."""
        self.wait(lambda: self.read(rank, "code"))
        self.seconds = time.monotonic() - self.begin
        return self.read(rank, "code").strip(), self.read(rank, "err")

    def clear(self):
        for rank in range(len(self.at)):
            try:
                os.kill(int(self.read(rank, "pid") or 0) or 2 ** 22, signal.SIGKILL)
            except (ProcessLookupError, OSError):
                pass
        self.mpirun.terminate()  # killed, it leaves what the next one stumbles over
        try:
            self.mpirun.wait(20)
        except subprocess.TimeoutExpired:
            self.mpirun.kill()
            self.mpirun.wait()


class Checks:
    def __init__(self, scratch):
        self.scratch, self.passed, self.failed = scratch, 0, 0
        r = np.random.default_rng(5)
        y = r.integers(0, 10, 960)
        np.savez(scratch / "pictures.npz", y=y,
                 x=(r.random((10, 1, 28, 28))[y]).astype(np.float32))

    def check(self, name, good, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}: {str(detail).strip()}")

    def line(self, *more, net="lenet", steps=ENDLESS):
        return [BUILD / "bin/ge", "train", ROOT / f"build/models/{net}.onnx", "--data",
                self.scratch / "pictures.npz", "--no-test", "--threads", 1, "--batch", 48,
                "--mesh", "data=2", "--epochs", ENDLESS, "--steps", steps, *more]

    def ends(self, name, lines, words, act=None, rank=0, code="3"):
        ranks = Ranks(self.scratch, lines)
        try:
            if act:
                ranks.trains()
                act(ranks)
            got, said = ranks.end(rank)
            print(f"{name}: rank {rank} ended after {ranks.seconds:.1f} s")
            self.check(f"{name}: exit code", got == code, (got, said))
            for word in words:
                self.check(f"{name}: says '{word}'", re.search(word, said), said)
        finally:
            ranks.clear()

    def run(self):
        where = r"rank 0 in AllReduce '\w+', step \d+: "
        same = [self.line(), self.line()]
        for name, how in (("kill -9", signal.SIGKILL), ("SIGSTOP", signal.SIGSTOP)):
            self.ends(name, same, ["DEVICE_LOST", where + "rank 1 is lost: nothing was heard"],
                      lambda ranks, how=how: ranks.kill(1, how))
        self.ends("interrupted", same, ["DEVICE_LOST", where + "rank 1 (failed|ended)"],
                  lambda ranks: ranks.kill(1, signal.SIGINT))
        self.ends("a failing node",
                  [self.line(), self.line("--engines", "ref," + str(BUILD / "lib/samples/devsim.so") +
                                          ":price=1;fail_at=40,mpi")],
                  ["DEVICE_LOST", where + "rank 1 ended with exit code"])
        self.ends("another model", [self.line(), self.line(net="mlp")],
                  ["ranks were started with different options: they differ in the model"], code="2")
        for option, what in (("--lr=0.5", "--lr, which is '0.001' for rank 0"), ("--seed=7", "--seed"),
                             ("--no-shuffle", "--no-shuffle"), ("--clip=1", "the options of the pass train")):
            self.ends(f"another option: {option}", [self.line(), self.line(option)],
                      [f"ranks were started with different options: they differ in {what}"], code="2")
        self.ends("fewer steps", [self.line(), self.line(steps=3)],
                  ["DEVICE_LOST", where + "rank 1 has ended, with exit code 0"])
        self.ends("who does not come", [self.line("--engines", "native,ref,mpi:wait=1")] +
                  [self.line()], ["DEVICE_LOST", where + "rank 1 lives and does not come"],
                  lambda ranks: ranks.kill(1, signal.SIGSTOP))


def main():
    if subprocess.run(["sh", "-c", "command -v mpirun"], capture_output=True,
                      check=False).returncode or not (BUILD / "lib/graphengine/mpi.so").exists():
        print("skipped: no Open MPI (apt-get install libopenmpi-dev openmpi-bin, then build)")
        print("0 passed, 0 failed, 1 skipped")
        return
    with tempfile.TemporaryDirectory() as scratch:
        checks = Checks(pathlib.Path(scratch))
        checks.run()
    print(f"{checks.passed} passed, {checks.failed} failed, 0 skipped")
    sys.exit(checks.failed != 0)


main()
