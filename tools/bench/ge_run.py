"""Runs `ge run` of the release build on a model's reference inputs and reads what it reports.

Not a test by itself: compare.py and speed.py judge.
"""
import json
import os
import subprocess

import project_venv

DEFAULT_GE = project_venv.ROOT / "build" / "release" / "bin" / "ge"


class RunError(Exception):
    """One sentence: why `ge run` gave no result."""


def run(ge, model, folder, known, engines, options=(), output=None, timeout=600,
        environment=None):
    """Returns the JSON object that `ge run --json` prints; refuses anything else. `engines` None is
    the default, all that are found; `environment` None is this process's."""
    command = [str(ge), "run", str(model), "--json", *options]
    if engines is not None:
        command += ["--engines", engines]
    for name, file in known["inputs"].items():
        command += ["--input", f"{name}={folder / file}"]
    if output is not None:
        command += ["--output", str(output)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors="replace", timeout=timeout, env=environment)
    except FileNotFoundError:
        raise RunError(f"{os.path.relpath(ge)} is not built; run: cmake --build --preset release"
                       ) from None
    except OSError as error:
        raise RunError(f"{command[0]} cannot be started: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise RunError(f"no end after {timeout} s") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise RunError(f"exit {done.returncode}: {lines[0]}")
    try:
        report = json.loads(done.stdout)
        assert_keys(report, ("engines", "nodes", "median_ms"))
    except ValueError as error:
        raise RunError(f"stdout is not one JSON object as --json promises: {error}") from None
    return report


def assert_keys(report, keys):
    """Raises ValueError naming the first of `keys` that `report` lacks."""
    for key in keys:
        if not isinstance(report, dict) or key not in report:
            raise ValueError(f"no key {key!r}")
