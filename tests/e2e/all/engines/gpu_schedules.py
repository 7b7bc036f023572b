#!/usr/bin/env python3
"""Random models on the simulated vendor of the engine gpu.

Schedules: 100 models, each in 100 orders of the device's work; the answers are ref's, and the simulator
finds nothing. Faults: of a quarter of them every driver call fails once; the run ends with words that name the
engine, or with the right numbers.

Example: tests/e2e/all/engines/gpu_schedules.py --models 10 --seeds 3
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[4]
CODES = ["invalid", "failed", "device_lost", "out_of_memory"]
ORDERS = ["lazy", "adversarial"]  # then seeded ones


class Checks:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.passed = self.failed = self.skipped = 0

    def check(self, good, name, detail=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    {str(detail).strip()[-1500:]}", flush=True)

    def run(self, program, *args, options=None):
        """With the simulated driver, where it has options."""
        env = {**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed"}
        if options is not None:
            env.update(LD_LIBRARY_PATH=str(self.build / "lib/sim/cuda"), GE_SIM_CUDA=options)
        return subprocess.run([self.build / "bin" / program, *map(str, args)], cwd=ROOT, env=env,
                              capture_output=True, text=True, timeout=900, check=False)


def schedules(c, models, seeds):
    orders = ORDERS + [f"seeded;seed={k}" for k in range(1, seeds - len(ORDERS) + 1)]
    reports = c.folder / "reports"
    for order in orders:
        done = c.run("ge-test", "--random-models", models, "--engines", "gpu,ref",
                     options=f"schedule={order};reports={reports}")
        found = reports.read_text() if reports.exists() else ""
        c.check(done.returncode == 0 and not found, f"{models} models, schedule {order}",
                done.stdout + done.stderr + found)
    print(f"{models * len(orders)} schedules of {models} models", flush=True)


def array(path):
    """As numbers; bfloat16 is stored as two bytes."""
    found = numpy.load(path)
    if found.dtype.kind == "V":
        found = (found.view(numpy.uint16).astype(numpy.uint32) << 16).view(numpy.float32)
    return found


class Model:
    """A saved model: its inputs, what ref gives and what may differ."""

    def __init__(self, folder):
        self.folder = folder
        self.inputs = [w for f in sorted(folder.glob("*.npy")) for w in ("--input", f"{f.stem}={f}")]
        self.allowed = {}
        for line in (folder / "tolerance.txt").read_text().splitlines():
            name, bound, unsettled = line.rsplit(" ", 2)
            self.allowed[name] = float(bound), int(unsettled)

    def ran(self, c, repeat, out, options, engines="gpu,ref"):
        return c.run("ge", "run", self.folder / "graph.gt", *self.inputs, "--engines", engines, "--policy",
                     "priority", "--repeat", repeat, "--output", out, options=options)

    def expected(self, c):
        """Whether `ge run` takes its inputs, types that .npy lacks left out; what ref gives is kept."""
        return self.ran(c, 1, self.folder / "ref", None, "ref").returncode == 0

    def wrong(self, out):
        """What differs from ref's numbers by more than it may; "" where nothing does."""
        for name, (bound, unsettled) in self.allowed.items():
            path = out / f"{name}.npy"
            if not path.exists():
                return f"no output {name}"
            found, wanted = array(path), array(self.folder / "ref" / f"{name}.npy")
            if found.shape != wanted.shape:
                return f"{name}: shape {found.shape}, wanted {wanted.shape}"
            if found.dtype.kind not in "fc":
                if unsettled == 0 and not (found == wanted).all():
                    return f"{name}: other numbers"
                continue
            same = (found == wanted) | (numpy.isnan(found) & numpy.isnan(wanted))
            with numpy.errstate(all="ignore"):
                apart = numpy.abs(found.astype(numpy.float64) - wanted.astype(numpy.float64))
            if unsettled == 0 and not (same | (apart <= bound)).all():
                return f"{name}: {found[~same][:3]}, wanted {wanted[~same][:3]} within {bound}"
        return ""


# Every call of one run; every ninth of six, the last of which launch captures.
REPEATS = [(1, 1), (6, 9)]


def faults(c, models):
    saved = c.folder / "saved"
    c.run("ge-test", "--random-models", models, "--engines", "ref", "--seed", 11, "--save", saved)
    total = named = 0
    for folder in sorted(p for p in saved.iterdir() if p.name.isdigit()):
        model = Model(folder)
        if not model.expected(c):
            c.skipped += 1
            continue
        for repeat, step in REPEATS:
            counts = faults_of(c, model, repeat, step)
            total, named = total + counts[0], named + counts[1]
    print(f"{total} failing calls of {models - c.skipped} models: {named} refused by name, {total - named} right")


def faults_of(c, model, repeat, step):
    """How many calls failed, and how many of these runs were refused."""
    counted, whole = model.folder / f"calls{repeat}", f"model {model.folder.name}, {repeat} runs"
    with tempfile.TemporaryDirectory(dir=c.folder) as out:
        done = model.ran(c, repeat, out, f"calls={counted}")
        wrong = model.wrong(pathlib.Path(out))
        c.check(done.returncode == 0 and not wrong, whole, done.stderr + wrong)
    calls, named = int(counted.read_text().splitlines()[0]), 0
    tried = range(1, calls + 1, step)
    for k in tried:
        code = CODES[k % len(CODES)]
        with tempfile.TemporaryDirectory(dir=c.folder) as out:
            done = model.ran(c, repeat, out, f"fail=any:{k}:{code}")
            refused = done.returncode == 3 and "gpu" in done.stderr
            wrong = "" if refused else model.wrong(pathlib.Path(out))
        c.check(refused or (done.returncode == 0 and not wrong), f"{whole}, call {k} of {calls}: {code}",
                wrong + done.stderr)
        named += refused
    return len(tried), named


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--models", type=int, default=100, help="of the schedules; a quarter of them fails")
    parser.add_argument("--seeds", type=int, default=100, help="orders of each model")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        c = Checks(given.build.resolve(), pathlib.Path(folder))
        schedules(c, given.models, given.seeds)
        faults(c, max(1, given.models // 4))
    print(f"{c.passed} passed, {c.failed} failed, {c.skipped} skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
