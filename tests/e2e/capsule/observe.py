#!/usr/bin/env python3
"""Observed runs: what GE_OBSERVE and ge_session_observe record is repeated by `ge replay` bit for bit,
of runs by one plan, in pieces, of a decoder whose caches grow and of steps that train. What is run
stays as it is: outputs and plans are those of a run that nobody observes. Eight threads record at
once. A full disk is said once and the runs go on; a process that ends at any byte of writing leaves
a file that is read to its last whole member.

Prints each fault and, last, the counts.

Example: tests/e2e/capsule/observe.py --build build/release
"""
import argparse
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("numpy")

import numpy as np  # noqa: E402

MODELS = ROOT / "tests" / "e2e" / "models"
LENET = ROOT / "build" / "models" / "lenet.onnx"
DECODER = [MODELS / "decoder.gt", "--kv-cache=4", "--input", "ids=1x3:zeros"]
TRAIN = [LENET, "--plugins", "grad", "--pass", "train:loss=softmax-ce;optimizer=adam", "--entry",
         "train_step", "--input", "x=64x1x28x28:rand", "--input", "label=64:zeros"]
PIECES = [MODELS / "loop.gt", "--entry", "spin", "--input", "x=4:rand"]
POINTS = 100  # of writing


class Checks:
    def __init__(self, ge, folder):
        self.ge, self.folder, self.passed, self.failed, self.skipped = ge, folder, 0, 0, 0

    def check(self, good, name, found=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    {str(found).strip()[-1500:]}")

    def run(self, *words, observe=None, **more):
        env = {"GE_CACHE_DIR": "off", "GE_PROBE": "fixed", **os.environ}
        if observe is not None:
            env["GE_OBSERVE"] = observe
        return subprocess.run([self.ge, *map(str, words)], capture_output=True, text=True,
                              cwd=self.folder, env=env, **more)

    def replays(self, capsule, name):
        """Repeated bit for bit in another process; answers what `ge replay` found."""
        done = self.run("replay", capsule, "--json")
        found = json.loads(done.stdout) if done.stdout else {}
        self.check(done.returncode == 0 and found.get("equal") == found.get("compared", 0) > 0 and
                   found["same_machine"], f"{name} is repeated", f"{done.stdout}{done.stderr}")
        return found


def member(capsule, name):
    with zipfile.ZipFile(capsule) as z:
        return json.loads(z.read(name))


def recorded(c):
    cases = [("plan", [LENET, "--input", "x=64x1x28x28:rand"], 3),
             ("pieces", PIECES, 3), ("decoder", DECODER, 4), ("train", TRAIN, 3)]
    for name, words, runs in cases:
        done = c.run("run", *words, "--repeat", runs, "--output", f"{name}-out",
                     observe=f"record={name};values=border")
        c.check(done.returncode == 0, f"{name} runs while it is observed", done.stderr)
        files = sorted((c.folder / name).glob("*"))
        c.check([f.name for f in files] == [f"run-{i:06}.gecap" for i in range(1, runs + 1)],
                f"each run of {name} has its file", files)
        for i, f in enumerate(files):
            c.replays(f, f"{name}, run {i + 1}")
            c.check(member(f, "manifest.json")["run"] == i + 1, f"{name} counts its runs")
        c.run("run", *words, "--repeat", runs, "--output", f"{name}-plain")
        same = [np.array_equal(np.load(p), np.load(c.folder / f"{name}-plain" / p.name))
                for p in (c.folder / f"{name}-out").glob("*.npy")]
        c.check(same and all(same), f"the outputs of {name} are those of runs that nobody observes", same)
    manifest = member(c.folder / "train" / "run-000002.gecap", "manifest.json")
    with np.load(c.folder / "train" / "run-000001.gecap") as before, \
            np.load(c.folder / "train" / "run-000002.gecap") as after:
        states = [(s["member"][:-4], t["member"][:-4]) for s in manifest["states"]
                  for t in manifest["states_after"] if s["name"] == t["name"]]
        c.check(len(states) > 20 and all(np.array_equal(before[t], after[s]) for s, t in states),
                "a step begins with the states that the one before has left", len(states))
    done = c.run("bisect", "train/run-000002.gecap")
    c.check(done.returncode == 0 and "not judged" not in done.stdout and done.stdout.count(" right\n") > 5,
            "each segment of a step that trains is judged", done.stdout + done.stderr)
    manifest = member(c.folder / "decoder" / "run-000004.gecap", "manifest.json")
    c.check(manifest["kv_cache"] == 16, "the caches of the decoder have grown", manifest["kv_cache"])
    stages = [g["stage"] for g in member(c.folder / "train" / "run-000003.gecap", "manifest.json")["graphs"]]
    c.check(stages[0] == "load" and any(s.startswith("pass/") for s in stages) and stages[-1] == "check",
            "the graphs after each pass are there", stages)


def plans(c):
    """Looking leaves the plan as it is."""
    words = ["dump", LENET, "--input", "x=64x1x28x28:rand", "--to", "check"]
    plain, looked = c.run(*words), c.run(*words, observe="record=plans")
    c.check(plain.returncode == 0 and plain.stdout == looked.stdout, "the plan is that of a plain run")


def some(c):
    c.run("run", *PIECES, "--repeat", 9, observe="record=some;every=3;first=2")
    runs = [member(f, "manifest.json")["run"] for f in sorted((c.folder / "some").glob("*"))]
    c.check(runs == [1, 4], "every third run, two of them", runs)
    c.run("run", *PIECES, observe="record=some")
    c.check(len(list((c.folder / "some").glob("*"))) == 3, "a later process adds to the folder")
    c.run("run", *PIECES, "--repeat", 3, observe="record=last.gecap")
    c.check(member(c.folder / "last.gecap", "manifest.json")["run"] == 3, "one file has the latest run")
    c.replays("last.gecap", "the latest run")
    c.run("run", *PIECES, observe="record=none.gecap;values=none")
    found = c.replays("none.gecap", "a run without values")
    c.check(found.get("executions", 0) > 100 and found["compared"] == 1, "its outputs alone are compared")
    c.run("run", *PIECES, observe="record=stats.gecap;values=stats")
    whole = c.replays("last.gecap", "the latest run")
    found = c.replays("stats.gecap", "a run by its statistics")
    c.check(found["compared"] == whole["compared"] and
            (c.folder / "stats.gecap").stat().st_size < (c.folder / "last.gecap").stat().st_size,
            "as many values are compared by their checksums", found)


def changed(c):
    """A changed value of a piece is named."""
    with zipfile.ZipFile(c.folder / "last.gecap") as old, \
            zipfile.ZipFile(c.folder / "changed.gecap", "w") as new:
        at = next(e["outputs"][0]["member"] for e in (json.loads(old.read(f"execution/{i}.json"))
                                                      for i in range(50, 100)) if e["outputs"])
        for m in old.infolist():
            data = bytearray(old.read(m.filename))
            if m.filename == at:
                data[-1] ^= 0x40
            new.writestr(m.filename, bytes(data))
    done = c.run("replay", "changed.gecap", "--json")
    found = json.loads(done.stdout)
    c.check(done.returncode == 1 and found["first"]["member"] == at, "the changed value is named", found)
    done = c.run("bisect", "last.gecap")
    c.check(done.returncode == 2 and "is of a run in pieces" in done.stderr, "bisect says what it lacks",
            done.stderr)


def from_c(c, build):
    done = subprocess.run([build / "observe_client", MODELS / "prepared.gt", c.folder / "threads"],
                          capture_output=True, text=True, cwd=c.folder)
    c.check(done.returncode == 0, "the client passes", done.stdout + done.stderr)
    files = sorted((c.folder / "threads").glob("*.gecap"))
    c.check(len(files) == 8 * 5 + 7 + 2 + 6, "each run of each thread has its file", len(files))
    firsts = set()
    for f in files:
        c.replays(f, f"{f.name} of eight threads")
        with np.load(f) as arrays:
            firsts.add(float(arrays["input/0-x"][0]))
    c.check(firsts >= {10 * t + i for t in range(8) for i in range(5)}, "each has its own inputs", firsts)


def refused(c):
    for text, says in [("recrd=a", "GE_OBSERVE has the key 'recrd', wanted record, values, every or first"),
                       ("record", "GE_OBSERVE has 'record', wanted KEY=VALUE"),
                       ("values=border", "GE_OBSERVE names no place for the records; add record=DIR"),
                       ("record=a;every=0", "every is '0', wanted a number from 1"),
                       ("record=a;first=x", "first is 'x', wanted a number from 0"),
                       ("record=a;values=much", "recorded values are 'much', wanted"),
                       ("record=/dev/null/a", "no folder '/dev/null/a' for records of runs")]:
        done = c.run("run", *PIECES, observe=text)
        c.check(done.returncode == 2 and says in done.stderr, f"{text}: {says}", done.stderr)


def full(c, folder, name, **more):
    """Outputs are right, one line says it, and what is there can be read."""
    words = ["run", LENET, "--input", "x=64x1x28x28:rand", "--repeat", "4", "--output"]
    done = c.run(*words, f"{name}-out", observe=f"record={folder}", **more)
    c.run(*words, f"{name}-plain")
    c.check(done.returncode == 0 and done.stderr.count("runs are not recorded whole") == 1,
            f"{name}: it is said once, and the runs go on", f"{done.returncode} {done.stderr}")
    outputs = list((c.folder / f"{name}-out").glob("*.npy"))
    c.check(outputs and all(np.array_equal(np.load(p), np.load(c.folder / f"{name}-plain" / p.name))
                            for p in outputs), f"{name}: the outputs are right")
    for f in folder.iterdir():
        read = c.run("replay", f)
        c.check(f.suffix == ".gecap" and read.returncode == 0, f"{name}: {f.name} is read", read.stderr)


def disk_is_full(c):
    whole = (c.folder / "plan" / "run-000001.gecap").stat().st_size
    for bytes_ in (5_000, 100_000, whole - 4_000, whole - 100):
        def limit(most=bytes_):
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        full(c, c.folder / f"limit{bytes_}", f"files of {bytes_} bytes", preexec_fn=limit)
    small = c.folder / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1100k", "none", small],
                             capture_output=True, check=False).returncode == 0
    if not mounted:
        c.skipped += 1
        return
    try:
        full(c, small, "a disk of 1.1 MB")
    finally:
        subprocess.run(["umount", small], check=False)


def manifest_end(path):
    """Where the member behind the manifest begins."""
    with zipfile.ZipFile(path) as file:
        members = sorted(file.infolist(), key=lambda m: m.header_offset)
    return members[[m.filename for m in members].index("manifest.json") + 1].header_offset


def ended(c):
    """Ended by a signal at a byte of writing, over an earlier file."""
    c.run("run", LENET, "--input", "x=64x1x28x28:rand", observe="record=earlier.gecap")
    earlier = (c.folder / "earlier.gecap").read_bytes()
    target = c.folder / "ended.gecap"
    kept = 0
    for i in range(POINTS):
        most = i * len(earlier) // POINTS

        def limit(most=most):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        target.write_bytes(earlier)
        done = c.run("run", LENET, "--input", "x=64x1x28x28:rand", "--seed", 2,
                     observe="record=ended.gecap", preexec_fn=limit)
        if done.returncode != -signal.SIGXFSZ:
            c.check(False, f"at {most} bytes the process is ended", f"{done.returncode} {done.stderr}")
        kept += target.read_bytes() == earlier
        read = c.run("replay", target)
        c.check(read.returncode == 0, f"ended at {most} bytes: the file is whole or read to its last member",
                read.stderr)
    # How much of a file that is depends on how many values the plan shows behind the manifest.
    wanted = manifest_end(c.folder / "earlier.gecap") * POINTS / len(earlier)
    c.check(abs(kept - wanted) <= 1, "the earlier file is there until the manifest is written", (kept, wanted))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    args = parser.parse_args()
    build = args.build.resolve()
    with tempfile.TemporaryDirectory(prefix="ge-observe.") as folder:
        c = Checks(build / "bin" / "ge", pathlib.Path(folder))
        for part in (recorded, plans, some, changed, refused, disk_is_full, ended):
            part(c)
        from_c(c, build)
    print(f"{c.passed} passed, {c.failed} failed, {c.skipped} skipped")
    return c.failed != 0


if __name__ == "__main__":
    sys.exit(main())
