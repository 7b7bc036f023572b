#!/usr/bin/env python3
"""The engine ascend without a library, with libraries of each fault, and on the simulated vendor.

Libraries that fail are made here, in C, or are the simulator with an option. On the simulator a
model gives what the CPU gives, in every schedule, and the simulator finds nothing.

Example: tests/e2e/ascend/ascend.py --build build/release
"""
import argparse
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODEL = """ge 1
opset "" 28
fn main(x: f32[4,5]) -> (y) {
  y: f32[4,5] = Relu(x)
}
entry infer "main" = main
"""
# A libascendcl.so of these; its other functions answer 507000.
FAKE = """
int aclInit(const char* p) { (void)p; return INIT; }
int aclrtGetDeviceCount(unsigned* n) { *n = COUNT; return 0; }
const char* aclrtGetSocName(void) { return "Ascend910B3"; }
"""
# Of each fault: its numbers, the symbol that is missing, words of the answer.
STATES = [
    ("symbol", dict(INIT=0, COUNT=1), "aclrtMemcpyAsync", "aclrtMemcpyAsync"),
    ("refused", dict(INIT=500003, COUNT=1), None,
     "AscendCL could not be initialized: it answers 500003"),
    ("no_device", dict(INIT=0, COUNT=0), None, "AscendCL finds no device"),
]


class Checks:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.sim = build / "lib/sim/ascend"
        self.model = folder / "relu.gt"
        self.model.write_text(MODEL)
        self.passed = self.failed = self.skipped = 0

    def check(self, good, name, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}\n    {str(detail).strip()[-2000:]}")

    def run(self, *args, libraries=None, **env):
        """`ge` with the libraries that lie there; None: with none."""
        whole = {**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed", **env}
        for name in ("LD_LIBRARY_PATH", "ASCEND_HOME_PATH"):
            whole.pop(name, None)
        if libraries is not None:
            whole["LD_LIBRARY_PATH"] = str(libraries)
        return subprocess.run([self.build / "bin/ge", *map(str, args)], cwd=ROOT, timeout=300,
                              capture_output=True, text=True, check=False, env=whole)

    def ran(self, *args, libraries=None, **env):
        """(result, report, {file: bytes}) of a run of the model."""
        with tempfile.TemporaryDirectory(dir=self.folder) as out:
            done = self.run("run", self.model, "--seed", 5, "--json", "--output", out,
                            "--policy", "priority", *args, libraries=libraries, **env)
            report = json.loads(done.stdout) if done.returncode == 0 else {}
            return done, report, {f.name: f.read_bytes()
                                  for f in sorted(pathlib.Path(out).iterdir())}

    def plugin(self, *args, libraries=None, **env):
        """The record of ascend in `ge plugins`; --open also makes an engine."""
        done = self.run("plugins", "--json", *args, libraries=libraries, **env)
        found = [p for p in json.loads(done.stdout)["plugins"] if p["name"] == "ascend"]
        return found[0] if found else {}


def without_library(c, cpu):
    try:
        ctypes.CDLL("libascendcl.so")
    except OSError:
        pass
    else:
        print("skipped: this machine has the library")
        c.skipped += 1
        return
    words = "'libascendcl.so' that it needs is not on this machine"
    record = c.plugin()
    c.check(record.get("state") == "skipped" and words in record.get("why", ""),
            "ge plugins without the library", record)
    done, _, _ = c.ran("--engines", "ascend,ref")
    c.check(done.returncode == 3 and words in done.stderr, "the engine by name", done.stderr)
    done, _, found = c.ran("-v", LD_DEBUG="libs", GE_PLUGIN_FILTER="ascend,native,ref")
    c.check(done.returncode == 0 and found == cpu, "a run without the library", done.stderr)
    opened = re.findall(r"calling init: (\S*(?:ascend|nnopbase|opapi)\S*\.so)", done.stderr)
    c.check("calling init" in done.stderr and not opened, "nothing of it is opened", opened)


def fake(c, name, numbers, missing):
    folder = c.folder / name
    folder.mkdir()
    source = FAKE
    for key, value in numbers.items():
        source = source.replace(key, str(value))
    declared = (ROOT / "plugins/ascend/api/acl.h").read_text()
    known = set(re.findall(r"(acl\w+)\(", FAKE)) | {missing}
    source += "".join(f"int {f}(void) {{ return 507000; }}\n"
                      for f in re.findall(r"\bF\((acl\w+)", declared) if f not in known)
    (folder / "fake.c").write_text(source)
    subprocess.run(["cc", "-shared", "-fPIC", folder / "fake.c", "-o", folder / "libascendcl.so"],
                   check=True)
    return folder


def libraries_of_each_fault(c, cpu):
    made = [(name, fake(c, name, numbers, missing), "", words)
            for name, numbers, missing, words in STATES]
    made.append(("refused by the simulator", c.sim, "init=107001", "it answers 107001"))
    made.append(("no device of the simulator", c.sim, "devices=0", "AscendCL finds no device"))
    for name, folder, options, words in made:
        env = {"libraries": folder, "GE_SIM_ASCEND": options}
        record = c.plugin("--open", **env)
        c.check(record.get("state") == "unavailable" and words in record.get("why", ""),
                f"ge plugins: {name}", record)
        # Nobody named it: the run goes on without it, and -v says why.
        done, _, found = c.ran("-v", GE_PLUGIN_FILTER="ascend,native,ref", **env)
        c.check(done.returncode == 0 and words in done.stderr and found == cpu,
                f"a run with the library: {name}", done.stderr)
        done, _, _ = c.ran("--engines", "ascend,ref", **env)
        c.check(done.returncode == 3 and words in done.stderr, f"the engine by name: {name}",
                done.stderr)


def on_the_simulator(c, cpu):
    reports = c.folder / "reports"
    for chip in ["910b", "310p", "Ascend999"]:
        for schedule in ["eager", "lazy", "adversarial", "seeded;seed=1", "seeded;seed=2"]:
            done, report, found = c.ran(
                "--engines", "ascend,ref", libraries=c.sim,
                GE_SIM_ASCEND=f"chip={chip};schedule={schedule};reports={reports}")
            c.check(found == cpu and report.get("engines") == {"ascend": 1},
                    f"{chip}, schedule {schedule}", done.stderr)
    c.check(not reports.exists(), "findings of the simulator",
            reports.read_text() if reports.exists() else "")
    done, _, _ = c.ran("--engines", "ascend,ref", libraries=c.sim, GE_SIM_ASCEND="shape=round")
    c.check(done.returncode == 3, "a wrong option of the simulator", done.stderr)
    record = c.plugin("--open", libraries=c.sim, GE_SIM_ASCEND="devices=2")
    c.check(record.get("state") == "found" and record.get("devices") == ["sim:0"],
            "ge plugins on the simulator", record)


def folder_of_the_libraries(c, cpu):
    """The option libraries=DIR where nothing else leads to them, as a user types it."""
    near = os.path.relpath(c.sim, ROOT)
    plugin = c.build / "lib/graphengine/ascend.so"
    for engine in [f"ascend:libraries={c.sim}", f"ascend:device=0;libraries={near}", f'ascend:libraries="{c.sim}"',
                   f"{plugin}:libraries={c.sim}"]:
        done, report, found = c.ran("--engines", f"{engine},ref")
        c.check(found == cpu and report.get("engines") == {"ascend": 1}, engine, done.stderr)
    done, report, found = c.ran("--engines", "ascend:libraries=/nowhere,ref", libraries=c.sim)
    c.check(done.returncode == 3 and not found and "the library 'libascendcl.so' that it needs is not in the folder "
            "'/nowhere' of its option libraries" in done.stderr, "a folder without them", done.stderr)
    done, _, _ = c.ran("--engines", f"{plugin}:libraries=/nowhere,ref")
    c.check(done.returncode == 3 and "'/nowhere'" in done.stderr, "the same by the plugin's path", done.stderr)
    # The runtime alone: what the folder lacks is not looked for elsewhere.
    alone = c.folder / "alone"
    alone.mkdir()
    (alone / "libascendcl.so").symlink_to(c.sim / "libascendcl.so")
    done, _, found = c.ran("--engines", f"ascend:libraries={alone}", libraries=c.sim)
    c.check(done.returncode == 2 and not found and "libnnopbase.so" in done.stderr, "a folder without operators",
            done.stderr)
    done, report, found = c.ran("--engines", f"ascend:libraries={alone},ref", libraries=c.sim)
    c.check(found == cpu and report.get("engines") == {"ref": 1}, "another engine then", done.stderr)
    done = c.run("explain", c.model, "--engines", f"ascend:libraries={c.sim},ref", "--policy", "priority")
    c.check(done.returncode == 0 and "ascend/sim:0" in done.stdout, "ge explain with the option", done.stdout)


def faults(c, cpu):
    """Each call of a device, and each of the vendor's functions, fails in turn: the run ends with
    words, or with the right numbers."""
    counted = c.folder / "counted"
    c.ran("--engines", "ascend,ref", libraries=c.sim, GE_SIM_ASCEND=f"calls={counted}")
    lines = [line.split() for line in counted.read_text().splitlines()]
    calls = int(lines[0][0])
    functions = sum(int(n) for name, n in lines[1:] if name.startswith("acl"))
    codes = ["invalid", "failed", "device_lost", "out_of_memory"]
    planted = [f"fail=any:{k}:{codes[k % 4]}" for k in range(1, calls + 1)]
    planted += [f"fail_work={k}:failed" for k in (1, 2, 3)]
    numbers = [107000, 507015, 507899, 207001]
    planted += [f"refuse=any:{k}:{numbers[k % 4]}" for k in range(1, functions + 1)]
    for one in planted:
        done, _, found = c.ran("--engines", "ascend,ref", libraries=c.sim, GE_SIM_ASCEND=one)
        named = done.returncode == 3 and "ascend" in done.stderr
        c.check(named or (done.returncode == 0 and found == cpu), one,
                f"{done.returncode} {done.stderr}")
    c.check(calls >= 20 and functions >= 20, "calls", (calls, functions))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    build = parser.parse_args().build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        c = Checks(build, pathlib.Path(folder))
        _, _, cpu = c.ran("--engines", "ref")
        c.check(cpu, "the CPU's answer")
        without_library(c, cpu)
        libraries_of_each_fault(c, cpu)
        on_the_simulator(c, cpu)
        folder_of_the_libraries(c, cpu)
        faults(c, cpu)
    print(f"{c.passed} passed, {c.failed} failed, {c.skipped} skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
