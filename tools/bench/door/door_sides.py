"""Starts each side that door.py compares in a process of its own and answers what it measured.

Not a script by itself: door.py judges. Ours is `ge run`, or a C program on libgraphengine.so
(first_run.c); a peer is peer_bench.py, or the same C program on ONNX Runtime's library. Every answer
is a dict; "ms" is the figure that counts and "more" the one shown beside it.
"""
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import types

import numpy as np
import onnx

import compare
import ge_run
import project_venv
import reference
import speed

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT = 600
# Float32 sums in another order stay well below it; a wrong output does not.
MOST_ERROR = 1e-3


class Case:
    """One model with its reference inputs, as files of raw bytes too."""

    def __init__(self, name, folder):
        self.name = name
        self.model, self.folder, self.known = reference.ensure(
            name, say=lambda text: print(text, file=sys.stderr))
        self.outputs = folder / f"{name}.outputs"
        self.arguments = []
        for tensor, file in self.known["inputs"].items():
            array, raw = np.load(self.folder / file), folder / f"{name}.{file}.raw"
            array.tofile(raw)
            self.arguments += ["in", tensor, str(onnx.helper.np_dtype_to_tensor_dtype(array.dtype)),
                               "x".join(map(str, array.shape)) or "-", str(raw)]
        self.outputs.mkdir()
        for i, tensor in enumerate(self.known["outputs"]):
            self.arguments += ["out", tensor, str(self.outputs / f"{i}.raw")]

    def check_outputs(self, side):
        """Refuses outputs of the C program that are not the reference's."""
        for i, (tensor, file) in enumerate(self.known["outputs"].items()):
            want = np.load(self.folder / file)
            got = np.fromfile(self.outputs / f"{i}.raw", want.dtype)
            if got.size != want.size:
                raise ge_run.RunError(f"{side}: output {tensor} has {got.size} numbers, "
                                      f"wanted {want.size}")
            error = compare.error_of(got.reshape(want.shape), want)
            if error > MOST_ERROR:
                raise ge_run.RunError(f"{side}: output {tensor} is {error:.1e} off")


def ort_library():
    """The library in the wheel of ONNX Runtime, for its C API."""
    package = pathlib.Path(importlib.util.find_spec("onnxruntime").origin).parent
    found = sorted((package / "capi").glob("libonnxruntime.so*"))
    if not found:
        raise ge_run.RunError("ONNX Runtime: its package holds no libonnxruntime.so")
    return found[0]


def headers_of(ge):
    """The folder of the ge.h that `ge` was built with; an older one has its own."""
    prefix = ge.resolve().parents[1]
    for folder in (prefix / "include", prefix.parents[1] / "sdk" / "include"):
        if (folder / "ge" / "ge.h").is_file():
            return folder
    return project_venv.ROOT / "sdk" / "include"


def compile_client(side, ge, folder):
    """Compiles first_run.c for ours (with the lib folder beside `ge`'s own) or for "ort"."""
    program = folder / f"first_run.{side}"
    command = ["cc", "-std=c11", "-O1", f"-I{project_venv.ROOT}", str(HERE / "first_run.c")]
    if side == "ort":
        command += [str(HERE / "first_run_ort.c"), "-ldl"]
    else:
        lib = ge.resolve().parents[1] / "lib"
        command += [str(HERE / "first_run_ge.c"), f"-I{headers_of(ge)}", f"-L{lib}", "-lgraphengine",
                    f"-Wl,-rpath,{lib}"]
    try:
        done = subprocess.run([*command, "-lpthread", "-o", str(program)], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
    except OSError as error:
        raise ge_run.RunError(f"cc cannot be started: {error.strerror}") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or ["?"]
        raise ge_run.RunError(f"cc cannot compile first_run.c: {lines[0].strip()}")
    return program


class Sides:
    """Starts processes. `what` is "run" (the time of a run), "first" (session, model and first run),
    "rest" (processor time after a run) or "two" (threads that can run while two sessions do)."""

    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.programs, self.warmed = {}, set()

    def ours(self, who, case, threads, cache, what):
        """One process of "ours" or "before", with an empty cache folder or with one that an earlier
        process has used on this model and so many threads. `threads` 0 is the default."""
        if cache == "fresh":
            folder = pathlib.Path(tempfile.mkdtemp(prefix="cache.", dir=self.folder))
            try:
                return self._start_ours(who, case, threads, folder, what)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        folder = self.folder / f"cache.{who}.{threads}"
        if (key := (who, case.name, threads, what)) not in self.warmed:
            self._start_ours(who, case, threads, folder, what)
            self.warmed.add(key)
        return self._start_ours(who, case, threads, folder, what)

    def peer(self, name, case, threads, what):
        """One process of a peer of speed.PEERS."""
        if what != "run" and name == "ort":
            return self._start_client("ort", None, case, threads, what, dict(os.environ))
        runs = (self.args.repeat, self.args.warmup) if what == "run" else (1, 0)
        options = types.SimpleNamespace(threads=threads, repeat=runs[0], warmup=runs[1])
        found = speed.time_peer(name, case.model, case.folder, case.known, options)
        if what == "run":
            return {**found, "ms": found["median_ms"], "more": found["p99_ms"]}
        return {**found, "ms": found["load_ms"] + found["first_ms"], "more": found["first_ms"]}

    def _start_ours(self, who, case, threads, cache, what):
        ge = self.args.ge if who == "ours" else self.args.before
        environment = {**os.environ, "GE_CACHE_DIR": str(cache)}
        if what != "run":
            return self._start_client(who, ge, case, threads, what, environment)
        options = ["--repeat", self.args.repeat, "--warmup", self.args.warmup]
        if threads:
            options += ["--threads", threads]
        found = ge_run.run(ge, case.model, case.folder, case.known, None, options=map(str, options),
                           environment=environment)
        return {**found, "ms": found["median_ms"], "more": found["p99_ms"]}

    def _start_client(self, side, ge, case, threads, what, environment):
        if side not in self.programs:
            self.programs[side] = compile_client(side, ge, self.folder)
        library = ["library", str(ort_library())] if side == "ort" else []
        command = [str(self.programs[side]), what, str(threads), str(case.model)]
        try:
            done = subprocess.run([*command, str(time.monotonic_ns()), *library, *case.arguments],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  errors="replace", timeout=TIMEOUT, env=environment)
        except subprocess.TimeoutExpired:
            raise ge_run.RunError(f"{side}: no end after {TIMEOUT} s") from None
        if done.returncode:
            lines = done.stderr.strip().splitlines() or [f"exit {done.returncode}"]
            raise ge_run.RunError(f"{side}: {lines[-1]}")
        found = json.loads(done.stdout)
        if what == "two":
            return {**found, "ms": found["runnable_median"], "more": found["runnable_max"]}
        case.check_outputs(side)
        if what == "rest":
            return {**found, "ms": float(np.median(found["rest_ms"])), "more": max(found["rest_ms"])}
        return {**found, "ms": found["total_ms"], "more": found["first_ms"]}
