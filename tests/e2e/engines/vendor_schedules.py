#!/usr/bin/env python3
"""Random models on the simulated vendor of an engine.

Schedules: 100 models, each in 100 orders of the device's work; the answers are ref's, and the simulator
finds nothing. Faults: of some of them every driver call fails once, and where the vendor's simulator is told
to, every piece of work when it runs; the run ends with words that name the engine, or with the right numbers.
Waits that are dropped: ../ascend/vendor_waits.py.

Example: tests/e2e/engines/vendor_schedules.py --engine ascend --models 10 --seeds 3
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[3]
CODES = ["invalid", "failed", "device_lost", "out_of_memory"]
ORDERS = ["lazy", "adversarial"]  # then seeded ones
# Of each engine: the folder of its simulator, the variable of that one's options.
SIMULATORS = {"gpu": ("cuda", "GE_SIM_CUDA"), "ascend": ("ascend", "GE_SIM_ASCEND")}


class Checks:
    def __init__(self, build, folder, engine):
        self.build, self.folder, self.engine = build, folder, engine
        simulator, self.variable = SIMULATORS[engine]
        self.libraries = build / "lib/sim" / simulator
        self.passed = self.failed = self.skipped = 0

    def check(self, good, name, detail=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    {str(detail).strip()[-1500:]}", flush=True)

    def run(self, program, *args, options=None):
        """With the simulated driver, where it has options."""
        env = {**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed"}
        if options is not None:
            env.update({"LD_LIBRARY_PATH": str(self.libraries), self.variable: options})
        words = [self.build / "bin" / program, *map(str, args)]
        try:
            return subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, timeout=900,
                                  check=False)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(words, -1, "", "it did not end in 900 s")

    def each(self, use, items):
        """[use(item)], on the machine's cores."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(use, items))


def schedules(c, models, seeds):
    orders = ORDERS + [f"seeded;seed={k}" for k in range(1, seeds - len(ORDERS) + 1)]
    reports = c.folder / "reports"
    for order in orders:
        done = c.run("ge-test", "--random-models", models, "--engines", f"{c.engine},ref",
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

    def ran(self, c, repeat, out, options, engines=None):
        return c.run("ge", "run", self.folder / "graph.gt", *self.inputs, "--engines",
                     engines or f"{c.engine},ref", "--policy",
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


def saved(c, models, seed=11):
    """Those of the random models that `ge run` takes."""
    folder = c.folder / "saved"
    c.run("ge-test", "--random-models", models, "--engines", "ref", "--seed", seed, "--save", folder)
    all_of_them = [Model(p) for p in sorted(folder.iterdir()) if p.name.isdigit()]
    taken = c.each(lambda m: m.expected(c), all_of_them)
    c.skipped += taken.count(False)
    return [m for m, t in zip(all_of_them, taken) if t]


def numbers_of(path):
    """{kind of driver call: how many}, and all of them as ''."""
    first, *rest = path.read_text().splitlines()
    path.unlink()
    return {"": int(first), **{name: int(n) for name, n in (line.split() for line in rest)}}


def ended(c, model, repeat, options):
    """(whether the run was refused by name, what is wrong with its end; "" where nothing is)."""
    with tempfile.TemporaryDirectory(dir=c.folder) as out:
        done = model.ran(c, repeat, out, options)
        if done.returncode == 3 and c.engine in done.stderr:
            return True, ""
        wrong = model.wrong(pathlib.Path(out)) if done.returncode == 0 else done.stderr or "no words"
        return False, wrong and f"{wrong} (exit status {done.returncode})"


# Every call of one run; every ninth of six, the last of which launch captures.
REPEATS = [(1, 1), (6, 9)]
WORK = ["launch", "copy", "peer_copy", "fill"]


def faults(c, models, late):
    total = named = 0
    for model in models:
        for repeat, step in REPEATS:
            counts = faults_of(c, model, repeat, step, late)
            total, named = total + counts[0], named + counts[1]
    print(f"{total} failing calls{' and pieces of work' * late} of {len(models)} models: "
          f"{named} refused by name, {total - named} right", flush=True)


def faults_of(c, model, repeat, step, late):
    """How many calls failed, and how many of these runs were refused."""
    counted, whole = model.folder / f"calls{repeat}", f"model {model.folder.name}, {repeat} runs"
    refused, wrong = ended(c, model, repeat, f"calls={counted}")
    c.check(not refused and not wrong, whole, wrong or "refused")
    calls = numbers_of(counted)
    tried = [f"fail=any:{k}:{CODES[k % len(CODES)]}" for k in range(1, calls[""] + 1, step)]
    if late:
        work = sum(calls.get(kind, 0) for kind in WORK)
        tried += [f"fail_work={k}:{CODES[1 + k % 2]}" for k in range(1, work + 1, step)]
    ends = c.each(lambda options: ended(c, model, repeat, options), tried)
    for options, (_, wrong) in zip(tried, ends):
        c.check(not wrong, f"{whole}, {options} of {calls['']} calls", wrong)
    return len(tried), sum(refused for refused, _ in ends)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--engine", choices=SIMULATORS, default="gpu")
    parser.add_argument("--models", type=int, default=100, help="of the schedules")
    parser.add_argument("--seeds", type=int, default=100, help="orders of each model")
    parser.add_argument("--faulty", type=int, default=25, help="models whose calls fail")
    parser.add_argument("--late", action="store_true", help="work fails, too, when it runs")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        c = Checks(given.build.resolve(), pathlib.Path(folder), given.engine)
        schedules(c, given.models, given.seeds)
        if given.faulty:
            faults(c, saved(c, given.faulty), given.late)
    print(f"{c.passed} passed, {c.failed} failed, {c.skipped} skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
