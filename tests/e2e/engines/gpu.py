#!/usr/bin/env python3
"""The engine gpu without a driver, with drivers of each fault, and on the simulated vendor.

Drivers that fail are made here, in C. On the simulator operators and small networks give what ref
gives, every driver call of a run fails once, and schedules of the device change no bit.

Example: tests/e2e/engines/gpu.py --build build/release
"""
import argparse
import ctypes
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODEL = ROOT / "tests/e2e/models/attention.gt"
# A libcuda.so.1 with these functions; all others answer 999. With MARKER it says that it is simulated,
# so that an engine without kernels goes on.
FAKE = """
#include <stddef.h>
int cuDriverGetVersion(int* v) { *v = VERSION; return 0; }
int cuInit(unsigned f) { (void)f; return INIT; }
int cuDeviceGetCount(int* n) { *n = COUNT; return 0; }
int cuGetErrorName(int s, const char** t) { (void)s; *t = "FAKE_STATUS"; return 0; }
int cuGetErrorString(int s, const char** t) { (void)s; *t = "a fake's answer"; return 0; }
int cuDeviceGet(int* d, int i) { *d = i; return 0; }
"""
MARKER = "int ge_simulated_device = 1;\n"
# What each fake lacks: its texts, whether it has all symbols, and words of the answer.
STATES = [
    ("old", dict(VERSION=12080, INIT=0, COUNT=1), True,
     "the driver is one of CUDA 12.8; wanted 13.0 or later"),
    ("no_device", dict(VERSION=13000, INIT=100, COUNT=0), True, "the driver finds no device"),
    ("empty", dict(VERSION=13000, INIT=0, COUNT=0), True, "the driver finds no device"),
    ("symbols", dict(VERSION=13000, INIT=0, COUNT=1), False, "wanted one of CUDA 13.0 or later"),
    ("broken", dict(VERSION=13000, INIT=999, COUNT=0), True, "a fake's answer (FAKE_STATUS)"),
    # Without MARKER: cuInit would fail, and is not called.
    ("kernels", dict(VERSION=13000, INIT=999, COUNT=1), True,
     "it was built without kernels, for want of a compiler for them; tools/setup/install.sh gpu brings one"),
]


class Checks:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.sim = build / "lib/sim/cuda"
        self.passed = self.failed = self.skipped = 0

    def check(self, good, name, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}\n    {str(detail).strip()[-2000:]}")

    def run(self, program, *args, libraries=None, **env):
        """With the driver that lies in `libraries`; None: with none."""
        whole = {**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed", **env}
        whole.pop("LD_LIBRARY_PATH", None)
        if libraries is not None:
            whole["LD_LIBRARY_PATH"] = str(libraries)
        return subprocess.run([self.build / "bin" / program, *map(str, args)], cwd=ROOT,
                              capture_output=True, text=True, timeout=600, check=False, env=whole)

    def ran(self, *args, engines="gpu,ref", libraries=None, **env):
        """(result, report, {file: bytes}) of a run of a model."""
        with tempfile.TemporaryDirectory(dir=self.folder) as out:
            done = self.run("ge", "run", *args, "--engines", engines, "--seed", 5, "--json",
                            "--output", out, "--policy", "priority", libraries=libraries, **env)
            report = json.loads(done.stdout) if done.returncode == 0 else {}
            return done, report, {f.name: f.read_bytes()
                                  for f in sorted(pathlib.Path(out).iterdir())}

    def plugin(self, *args, libraries=None, **env):
        """The record of gpu in `ge plugins`; --open also makes an engine."""
        done = self.run("ge", "plugins", "--json", *args, libraries=libraries, **env)
        found = [p for p in json.loads(done.stdout)["plugins"] if p["name"] == "gpu"]
        return found[0] if found else {}


def functions():
    """Names that the engine looks up."""
    text = (ROOT / "plugins/gpu/vendor/cuda.h").read_text()
    return re.findall(r"\bF\((cu\w+)", text)


def without_driver(c):
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        pass
    else:
        print("skipped: this machine has a driver")
        c.skipped += 1
        return
    record = c.plugin()
    c.check(record.get("state") == "skipped" and "'libcuda.so.1' that it needs is not on this machine"
            in record.get("why", ""), "ge plugins without a driver", record)
    done, _, _ = c.ran(MODEL, engines="native,ref")
    c.check(done.returncode == 0, "a run without a driver", done.stderr)
    done, _, _ = c.ran(MODEL, engines="gpu,ref")
    c.check(done.returncode == 3 and "the library 'libcuda.so.1' that it needs is not on this machine"
            in done.stderr,
            "the engine by name without a driver", done.stderr)
    trace = subprocess.run(["ldd", c.build / "lib/graphengine/gpu.so"], capture_output=True,
                           text=True, check=False).stdout
    c.check(not re.search("cuda|cublas|cudnn", trace), "gpu.so names no library of the vendor's", trace)
    maps = c.run("ge", "run", MODEL, "-v", "--json")
    c.check(maps.returncode == 0 and "gpu.so" not in maps.stderr, "gpu.so is not opened", maps.stderr)


def fake(c, name, texts, whole):
    folder = c.folder / name
    folder.mkdir()
    source = FAKE
    for key, value in texts.items():
        source = source.replace(key, str(value))
    known = set(re.findall(r"int (cu\w+)\(", FAKE))
    rest = [f for f in functions() if f not in known] if whole else []
    source += "".join(f"int {f}(void) {{ return 999; }}\n" for f in rest)
    source += MARKER if name != "kernels" else ""
    (folder / "fake.c").write_text(source)
    subprocess.run(["cc", "-shared", "-fPIC", folder / "fake.c", "-o", folder / "libcuda.so.1"],
                   check=True)
    return folder


def drivers_of_each_fault(c):
    _, _, wanted = c.ran(MODEL, engines="native,ref")
    for name, texts, whole, words in STATES:
        if name == "kernels" and (c.build / "plugins/gpu/kernels.fatbin").exists():
            print("skipped: this build has kernels")
            c.skipped += 1
            continue
        folder = fake(c, name, texts, whole)
        record = c.plugin("--open", libraries=folder)
        c.check(record.get("state") == "unavailable" and words in record.get("why", ""),
                f"ge plugins: {name}", record)
        # Nobody named it: the run goes on without it, and -v says why.
        with tempfile.TemporaryDirectory(dir=c.folder) as out:
            done = c.run("ge", "run", MODEL, "--seed", 5, "-v", "--output", out, libraries=folder,
                         GE_PLUGIN_FILTER="gpu,native,ref")
            found = {f.name: f.read_bytes() for f in sorted(pathlib.Path(out).iterdir())}
        c.check(done.returncode == 0 and words in done.stderr and found.keys() == wanted.keys(),
                f"a run with the driver '{name}'", done.stderr)
        done, _, _ = c.ran(MODEL, libraries=folder)
        c.check(done.returncode == 3 and words in done.stderr, f"the engine by name: {name}",
                done.stderr)


def options(c):
    for option, words in [("speed=3", "it has no option 'speed'; wanted device, memory or libraries"),
                          ("device=7", "names device 7, and the machine has 1")]:
        done, _, _ = c.ran(MODEL, engines=f"gpu:{option},ref", libraries=c.sim)
        c.check(done.returncode != 0 and words in done.stderr, option, done.stderr)
    done, _, _ = c.ran(MODEL, libraries=c.sim, GE_SIM_CUDA="shape=round")
    c.check(done.returncode == 3 and "there is no option 'shape'" in done.stderr,
            "a wrong option of the simulator", done.stderr)
    record = c.plugin("--open", libraries=c.sim, GE_SIM_CUDA="devices=2")
    c.check(record.get("state") == "found" and record.get("devices") == ["sim:0"],
            "ge plugins on the simulator", record)


def named_everywhere(c):
    done = c.run("ge", "explain", MODEL, "--engines", "gpu,ref", "--policy", "priority",
                 libraries=c.sim)
    c.check("gpu/sim:0" in done.stdout, "ge explain names the simulator", done.stdout + done.stderr)


def operators(c):
    """Random cases and ONNX's own, on the simulator."""
    done = c.run("ge-test", "--random", 2, "--engines", "gpu", libraries=c.sim)
    last = done.stdout.strip().splitlines()[-1:]
    count = re.search(r"gpu: (\d+) operators", done.stdout)
    c.check(done.returncode == 0, f"random operators: {last}", done.stdout)
    c.check(count and int(count[1]) >= 120, "kinds of operators", done.stdout[-300:])
    done = c.run("ge-test", "--random-models", 12, "--engines", "gpu,ref", libraries=c.sim)
    c.check(done.returncode == 0, "random models", done.stdout)


def calls_of(path):
    """{kind of driver call: how many}, and all of them as ''."""
    first, *rest = path.read_text().splitlines()
    return {"": int(first), **{name: int(n) for name, n in (line.split() for line in rest)}}


# One segment, and as many as there are nodes, which stand still after three runs and are captured.
FORMS = {"fused": [MODEL, "--repeat", 6], "nodes": [MODEL, "--no-fuse", "--repeat", 6]}


def schedules(c):
    """The order in which a device works changes no bit, and its simulator finds nothing."""
    reports, counted = c.folder / "reports", c.folder / "counted"
    for form, words in FORMS.items():
        wanted = None
        for schedule in ["eager", "lazy", "adversarial", *(f"seeded;seed={k}" for k in range(1, 8))]:
            done, report, found = c.ran(
                *words, libraries=c.sim,
                GE_SIM_CUDA=f"schedule={schedule};reports={reports};calls={counted}")
            wanted = wanted or found
            c.check(found and found == wanted and not report.get("lost_devices"),
                    f"{form}, schedule {schedule}", done.stderr)
            calls = calls_of(counted)
            counted.unlink()
            c.check(form == "fused" or calls.get("graph_launch", 0) > 0,
                    f"{form}, schedule {schedule}: launches of captures", calls)
    c.check(not reports.exists() or not reports.read_text(), "findings of the simulator",
            reports.read_text() if reports.exists() else "")


def near(found, wanted):
    """Whether the arrays are those of the CPU but for rounding."""
    def array(data):
        return numpy.load(io.BytesIO(data))
    return found.keys() == wanted.keys() and all(
        numpy.allclose(array(found[k]), array(wanted[k]), rtol=1e-5, atol=1e-5) for k in found)


def faults(c):
    """Each call of the driver fails in turn: the run ends with words, or with the right numbers."""
    for form, words in FORMS.items():
        _, _, cpu = c.ran(*words, engines="ref")
        counted = c.folder / f"calls_{form}"
        _, _, gpu = c.ran(*words, libraries=c.sim, GE_SIM_CUDA=f"calls={counted}")
        calls = calls_of(counted)[""]
        codes = ["invalid", "failed", "device_lost", "out_of_memory"]
        # Every call of the one, every seventh of the other, which repeats its calls.
        tried = range(1, calls + 1) if form == "fused" else range(1, calls + 1, 7)
        for k in tried:
            code = codes[k % 4]
            done, _, found = c.ran(*words, libraries=c.sim, GE_SIM_CUDA=f"fail=any:{k}:{code}")
            named = "gpu" in done.stderr and done.returncode == 3
            # Of several segments some may be the CPU's.
            right = found in (gpu, cpu) or (form == "nodes" and near(found, cpu))
            c.check(named or (done.returncode == 0 and right), f"{form}, call {k} of {calls}: {code}",
                    done.stderr)
        c.check(near(gpu, cpu) and calls >= 20, f"{form}: calls", calls)
        print(f"{form}: {len(tried)} failing calls of {calls}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    build = parser.parse_args().build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        c = Checks(build, pathlib.Path(folder))
        without_driver(c)
        drivers_of_each_fault(c)
        options(c)
        named_everywhere(c)
        operators(c)
        schedules(c)
        faults(c)
    print(f"{c.passed} passed, {c.failed} failed, {c.skipped} skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
