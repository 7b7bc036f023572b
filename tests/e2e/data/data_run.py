"""Runs the entry `data` of a pipe by `ge run`, and counts checks. Used by the scripts of this folder."""
import os
import pathlib
import re
import resource
import shutil
import subprocess
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
GE = ROOT / "build/release/bin/ge"
MODEL = 'ge 1\nopset "" 28\nfn main(x: f32[1]) -> (y) {\n  y = Identity(x)\n}\nentry infer "main" = main\n'


class DataRun:
    """A folder for the files of a test, and the counts of its checks."""

    def __init__(self):
        self.here = pathlib.Path(tempfile.mkdtemp(prefix="ge-data-"))
        self.passed = self.failed = self.skipped = 0
        (self.here / "model.gt").write_text(MODEL)

    def close(self):
        shutil.rmtree(self.here)
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        return 1 if self.failed else 0

    def write(self, name, data):
        path = self.here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return name

    def check(self, name, good, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}: {str(detail).strip()[:2000]}")

    def ge(self, *words, **env):
        """ge data WORDS in this folder."""
        return subprocess.run([str(GE), "data", *map(str, words)], cwd=self.here, capture_output=True, text=True,
                              timeout=600, check=False,
                              env={**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed", **env})

    def call(self, pipe, positions=(0,), more=(), options=";batch=1", entry="data"):
        np.save(self.here / "position.npy", np.asarray(positions, np.int64))
        shutil.rmtree(self.here / "out", ignore_errors=True)
        env = dict(os.environ, GE_CACHE_DIR="off", GE_PROBE="fixed")
        return subprocess.run(
            [str(GE), "run", "model.gt", "--plugins", "data", "--engines", "ref", "--threads", "1",
             "--pass", f'data:pipe="{pipe}"{options}', "--entry", entry, "--input",
             "position=position.npy", "--output", "out", *more],
            cwd=self.here, env=env, capture_output=True, text=True, timeout=120, check=False)

    def rows(self, pipe, positions, **more):
        """The columns at these positions, by name; None where they are refused."""
        done = self.call(pipe, positions, **more)
        if done.returncode:
            self.check(pipe, False, done.stderr)
            return None
        return {p.stem: np.load(p) for p in (self.here / "out").glob("*.npy")}

    def gives(self, name, pipe, wanted, positions=None, **more):
        """All rows, or these, are equal to `wanted`, dtypes and shapes too."""
        count = len(next(iter(wanted.values())))
        at = list(range(count)) if positions is None else positions
        got = self.rows(pipe, at, **more)
        if got is None:
            return
        self.check(f"{name}: columns", set(got) == set(wanted), f"{set(got)} {set(wanted)}")
        for column in set(got) & set(wanted):
            w = np.asarray(wanted[column])
            w = w if positions is None else w[at]
            same = got[column].dtype == w.dtype and got[column].shape == w.shape \
                and got[column].tobytes() == w.tobytes()
            self.check(f"{name}: {column}", same,
                       f"{got[column].dtype}{got[column].shape} {w.dtype}{w.shape}\n{got[column]}\n{w}")

    def refused(self, pipe, *wanted, code=2, positions=(0,), **more):
        done = self.call(pipe, positions, **more)
        self.check(f"{pipe} refused: {wanted}",
                   done.returncode == code and all(w in done.stderr for w in wanted),
                   f"{done.returncode} {done.stderr or done.stdout}")

    def survives(self, name, pipe, positions=(0, 1, 2), allowed=(0, 2)):
        """Any bytes: an answer or a refusal with words. Returns the exit code."""
        done = self.call(pipe, positions)
        said = done.returncode == 0 or re.match(r"ge: [A-Z_]+: \S", done.stderr)
        self.check(name, done.returncode in allowed and said, f"{done.returncode} {done.stderr}")
        return done.returncode

    def small(self, megabytes=1000):
        """No run so far took more memory than this."""
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        self.check("memory of the largest run", peak < megabytes, f"{peak:.0f} MB")
