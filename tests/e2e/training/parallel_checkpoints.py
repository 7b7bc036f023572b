#!/usr/bin/env python3
"""Checkpoints of runs on ranks of MPI: what N ranks keep, M ranks or one process go on with, with the
same bits of every weight and the samples that come next; what is damaged is refused by name; and
a run killed at any moment leaves a checkpoint that can be loaded.

  parallel_checkpoints.py [--kills N] [--all]      --all: one to four ranks, each whole, in shares, tensor"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

import parallel

# Behind a mesh "shares": states lie in shares over data; "tensor": weights lie so over model.
KINDS = ("", "data=2", "data=2 shares", "data=3 shares")
GRID = "data=2,model=2 shares tensor"  # some boxes are those of two ranks
ALL_KINDS = ("", *(f"{axis}={n}{how}" for n in (2, 3, 4) for axis, how in
                   (("data", ""), ("data", " shares"), ("model", " tensor"))), GRID)
TENSOR = ("w0=-,model", "b0=model", "w1=model,-", "w2=-,model")
BATCH, EVERY = 12, 4


class Checkpoints(parallel.Checks):
    def __init__(self, scratch):
        super().__init__(scratch)
        self.net = self.mlp("net.onnx")
        self.rows_file = self.data("rows.npz", self.rows, np.float64)

    def line(self, kind, steps, folder, *more, every=EVERY):
        mesh, *how = kind.split(" ")
        ranks = ["--mesh", mesh] if mesh else []
        ranks += ["--shard-states"] if "shares" in how else []
        ranks += [word for pin in TENSOR if "tensor" in how for word in ("--shard", pin)]
        return [str(x) for x in (
            *(["mpirun", "-np", parallel.ranks_of(mesh)] if mesh else []), parallel.GE, "train",
            self.net, "--data", self.rows_file, "--no-test", "--threads", 1, "--optimizer", "adam",
            "--lr", 0.01, "--batch", BATCH, "--epochs", 100, "--steps", steps, "--checkpoint", folder,
            "--checkpoint-every", every, "--ema", 0.9, *ranks, *more)]

    def train_to(self, kind, steps, folder, *more):
        """Losses from where it goes on, the exported bytes, and the call."""
        csv, out = self.scratch / "log.csv", self.scratch / "out.onnx"
        for path in (csv, out):
            path.unlink(missing_ok=True)
        done = self.call(*self.line(kind, steps, folder, "--log", f"csv:{csv}", "--export", out,
                                    *more))
        losses = [float(line.split(",")[1]) for line in csv.read_text().splitlines()[1:]] \
            if csv.exists() else []
        return losses, out.read_bytes() if out.exists() else b"", done

    def pairs(self, kinds):
        """Every mesh goes on with what every mesh has kept."""
        for folder in self.scratch.glob("of*"):
            shutil.rmtree(folder)
        whole, _, _ = self.train_to("", 3 * EVERY, self.scratch / "of one")
        for kept in kinds:
            folder = self.scratch / f"of_{kept}"
            _, weights, done = self.train_to(kept, 2 * EVERY, folder)
            self.check(f"kept by '{kept}'", done.returncode == 0 and self.step_of(folder) == 2 * EVERY,
                       done.stderr)
            self.kept_once(kept, folder)
            for mesh in kinds:
                copy = self.scratch / "copy"
                shutil.rmtree(copy, ignore_errors=True)
                shutil.copytree(folder, copy)
                what = f"'{mesh}' goes on with what '{kept}' has kept"
                _, same, done = self.train_to(mesh, 2 * EVERY, copy, "--resume")
                self.check(f"{what}: the same bits", same == weights and len(same) > 0, done.stderr)
                self.check(f"{what}: one rank says so",
                           done.stderr.count("note: goes on at step 8") == 1, done.stderr)
                losses, _, done = self.train_to(mesh, 3 * EVERY, copy, "--resume")
                self.check(f"{what}: the samples that come next",
                           len(losses) == EVERY and
                           np.abs(np.array(losses) - whole[2 * EVERY:]).max() < 1e-9,
                           (losses, whole[2 * EVERY:], done.stderr))

    def kept_once(self, kind, folder):
        """Each element of each state is in one file: boxes lie side by side."""
        said = json.loads((folder / "checkpoint.json").read_text())["states"]
        many = kind.endswith(("shares", "tensor"))
        self.check(f"'{kind}' keeps boxes", ("tensors" in said) == many, said.keys())
        split = 0
        for name, state in said.get("tensors", {}).items():
            times = np.zeros(state["dims"], int)
            for part in state["parts"]:
                times[tuple(slice(first, first + size) for first, size in part["box"])] += 1
            self.check(f"'{kind}' keeps each element of {name} once", (times == 1).all(), state)
            split += len(state["parts"]) > 1
            average = said["tensors"].get(f"{name}.ema", state)
            self.check(f"'{kind}' has the average of {name} where {name} is",
                       [p["box"] for p in average["parts"]] == [p["box"] for p in state["parts"]], average)
        self.check(f"'{kind}' splits states", split > 0 or not many, said)

    @staticmethod
    def step_of(folder):
        try:
            return json.loads((folder / "checkpoint.json").read_text())["step"]
        except FileNotFoundError:
            return 0

    def refuses(self, kind):
        folder = self.scratch / f"refused {kind}"
        self.train_to(kind, EVERY, folder)
        for more, words in (([], "holds a checkpoint already"), (["--resume", "--seed", 9], "seed is"),
                            (["--resume", "--clip", 0.5], "pass is")):
            done = self.call(*self.line(kind, 2 * EVERY, folder, *more))
            self.check(f"{more}: {words}", done.returncode == 2 and words in done.stderr,
                       (done.returncode, done.stderr))
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            good = path.read_bytes()
            name = path.relative_to(folder)
            for how, bad in (("cut", good[:-2]), ("a bit", good[:40] + bytes([good[40] ^ 4]) + good[41:]),
                             ("gone", None)):
                if bad is None:
                    path.unlink()
                else:
                    path.write_bytes(bad)
                done = self.call(*self.line(kind, 2 * EVERY, folder, "--resume"))
                if how == "gone" and path.name == "checkpoint.json":  # then there is none
                    self.check("no checkpoint", done.returncode == 0 and "begins at step 0" in
                               done.stderr, done.stderr)
                    return
                self.check(f"{name}, {how}", done.returncode != 0 and path.name in done.stderr,
                           (done.returncode, done.stderr))
                path.write_bytes(good)

    def killed(self, kills, kinds):
        """A rank killed at random moments at which a checkpoint was half written."""
        r = random.Random(3)
        for k in range(kills):
            kind, folder = r.choice(kinds[1:]), self.scratch / "killed"
            shutil.rmtree(folder, ignore_errors=True)
            run = subprocess.Popen(self.line(kind, 100000, folder, every=1),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env=parallel.ENV)
            half_written = self.stop_half_written(run, folder, r)
            self.check(f"kill {k} came while a checkpoint was written", half_written, kind)
            ranks = self.ranks_of(run)
            os.kill(r.choice(ranks), signal.SIGKILL)
            self.signal_all(ranks, signal.SIGCONT)
            run.wait(timeout=60)
            at = self.step_of(folder)
            then = r.choice(kinds)
            _, _, done = self.train_to(then, at + 2, folder, "--resume")
            self.check(f"kill {k} of '{kind}', step {at}, then '{then}'", done.returncode == 0 and at > 0 and
                       f"goes on at step {at}" in done.stderr, done.stderr)

    def stop_half_written(self, run, folder, r):
        """Stops all ranks while files of states lie there that the manifest does not name. They are stopped
        before it is looked, so that what was seen is so at the kill, however slow the machine is."""
        end = time.monotonic() + 60
        while self.step_of(folder) == 0 and time.monotonic() < end:
            time.sleep(0.002)
        ranks = self.ranks_of(run)
        while time.monotonic() < end:
            time.sleep(r.random() * 0.02)
            while not self.unfinished(folder) and time.monotonic() < end:
                time.sleep(0.0002)
            time.sleep(r.random() * 0.002)
            self.signal_all(ranks, signal.SIGSTOP)
            time.sleep(0.01)  # a stop is seen by a thread when it leaves its system call
            if self.unfinished(folder):
                return True
            self.signal_all(ranks, signal.SIGCONT)
        return False

    @staticmethod
    def ranks_of(run):
        found = subprocess.run(["pgrep", "-P", str(run.pid)], capture_output=True, text=True, check=False)
        return [int(pid) for pid in found.stdout.split()]

    @staticmethod
    def signal_all(ranks, number):
        for rank in ranks:
            try:
                os.kill(rank, number)
            except ProcessLookupError:
                pass

    @staticmethod
    def unfinished(folder):
        """Whether there are files of states that the manifest does not name."""
        said = json.loads((folder / "checkpoint.json").read_text())["states"]
        named = {f["file"] for f in said.get("files", [said])}
        return any(f"{p.parent.name}/{p.name}" not in named for p in folder.glob("states-*/*"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--all", action="store_true")
    a = parser.parse_args()
    parallel.want_mpi()
    with tempfile.TemporaryDirectory() as scratch:
        checks = Checkpoints(pathlib.Path(scratch))
        checks.pairs(ALL_KINDS if a.all else KINDS)
        if not a.all:
            checks.pairs((GRID, ""))
        for kind in ("data=2", "data=2 shares"):
            checks.refuses(kind)
        checks.killed(a.kills, ALL_KINDS if a.all else (*KINDS, GRID))
    print(f"{checks.passed} passed, {checks.failed} failed, 0 skipped")
    sys.exit(checks.failed != 0)


if __name__ == "__main__":
    main()
