#!/usr/bin/env python3
"""ascend_check on the simulated vendor: every check passes, on each chip and schedule; a rule of the
simulator that is switched off is found by the check that relies on it; a crash, a hang and a missing
symbol are results of their checks; reports, refusals, and what it needs.

Prints each fault and, last, the counts.

Example: tests/e2e/ascend/ascend_check.py --build build/release
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Rules of the simulator, and the check that finds each switched off.
RELIED = {
    "init-twice": "init-twice",
    "init-first": "init-first",
    "device-known": "device-known",
    "context-current": "context-needed",
    "destroyed-context": "context-destroyed",
    "context-of-stream": "context-of-stream",
    "context-of-event": "context-of-event",
    "streams-cap": "stream-cap",
    "event-query-unrecorded": "event-query-unrecorded",
    "elapsed-untimed": "event-time-untimed",
    "malloc-zero": "block-empty",
    "free-unknown": "free-inside",
    "free-twice": "free-twice",
    "free-kind": "free-kind",
    "dest-max": "copy-room",
    "executor-once": "phase-executor-once",
    "executor-operator": "phase-executor-other",
    "workspace-size": "phase-workspace-short",
    "workspace-null": "phase-workspace-null",
    "operator-arguments": "phase-shapes",
    "tensor-null": "phase-no-address",
    "null-argument": "error-null",
}
WRONG = ("differs", "crashed", "hung")
# A runtime that ends badly: what it does at aclInit is %s.
BAD = """#include <stdlib.h>
#include <unistd.h>
int aclInit(const char* c) { (void)c; %s; return 0; }
int aclrtGetDeviceCount(unsigned* n) { *n = 1; return 0; }
"""


class Checks:
    def __init__(self, build):
        self.build, self.passed, self.failed, self.skipped = build, 0, 0, 0
        self.program = build / "bin/ascend_check"
        self.libraries = build / "lib/sim/ascend"

    def check(self, good, name, detail=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    {str(detail).strip()[-1500:]}")

    def run(self, *words, program=None, **env):
        clean = {k: v for k, v in os.environ.items()
                 if k not in ("LD_LIBRARY_PATH", "ASCEND_HOME_PATH", "GE_SIM_ASCEND")}
        return subprocess.run([program or self.program, *map(str, words)], capture_output=True, text=True,
                              env={**clean, **env}, check=False, timeout=600)

    def report(self, *words, simulator="", folder=None):
        """On the simulator: the exit code, and the object of --json."""
        done = self.run("--libraries", folder or self.libraries, "--json", *words, GE_SIM_ASCEND=simulator)
        try:
            return done.returncode, json.loads(done.stdout)
        except ValueError:
            return done.returncode, {"checks": [], "totals": {}, "text": done.stdout + done.stderr}


def outcomes(report, *kinds):
    return {one["name"]: one["text"] for one in report["checks"] if one["outcome"] in kinds}


def all_pass(c):
    for simulator in ("", "chip=310p", "devices=2", "schedule=lazy", "schedule=adversarial;seed=7", "schedule=timed"):
        code, report = c.report(simulator=simulator)
        wrong = outcomes(report, *WRONG)
        c.check(code == 0 and not wrong and report["totals"]["checks"] >= 120, f"all pass: {simulator}", wrong or report)
        skipped = set(outcomes(report, "skipped"))
        c.check(skipped == (set() if "devices" in simulator else {"peer-asked", "peer-copies"}),
                f"what is skipped: {simulator}", skipped)
        c.check(report.get("simulated") is True and re.fullmatch("Ascend910B3|Ascend310P3", report["chip"]) and
                report["devices"] == (2 if "devices" in simulator else 1), "the report says what it ran on",
                {key: report.get(key) for key in ("simulated", "chip", "devices")})
        c.check([one["name"] for one in report["libraries"]] ==
                ["libascendcl.so", "libnnopbase.so", "libopapi.so"] and
                all(pathlib.Path(one["file"]).stat().st_size == one["bytes"] for one in report["libraries"]),
                "the report names its libraries", report["libraries"])
    code, report = c.report("--only", "chip-known", simulator="chip=Ascend999")
    c.check(code == 1 and "does not know 'Ascend999'" in outcomes(report, "differs").get("chip-known", ""),
            "a chip that is in no table", report)


def each_operator(c):
    """Beside its symbols, every operator of operators.def has a check of what it computes."""
    table = (ROOT / "plugins/ascend/api/operators.def").read_text().split("#define GE_ACLNN_BINARY", 1)[1]
    names = re.findall(r"^GE_ACLNN(?:_UNARY|_BINARY)?\((\w+)", table, re.M)
    _, report = c.report()
    tried = {one["name"] for one in report["checks"]}
    for name in names:
        c.check({f"aclnn{name}", f"symbol-aclnn{name}"} <= tried, f"aclnn{name} is tried")
    for one in report["checks"]:
        if one["name"].startswith("aclnn") and "float32" in one["text"]:
            c.check(one["text"] == "float32, float16, bfloat16", f"{one['name']}: dtypes", one["text"])


def switched_off(c):
    for rule, name in RELIED.items():
        code, report = c.report(simulator=f"off={rule}")
        wrong = outcomes(report, *WRONG)
        c.check(code == 1 and name in wrong and len(wrong) <= 4, f"{rule} switched off is found by {name}",
                wrong or report)
    code, report = c.report("--only", "error-late", simulator="fail=stream_synchronize:1:device_lost")
    c.check(report["checks"], "a check whose call fails has an outcome", report)


def bad_libraries(c):
    """Crashes, hangs and missing symbols of a library are results, one check each."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        c.skipped += 1
        print("skipped: libraries that crash and hang; there is no C compiler")
        return
    for what, outcome, text in [("abort()", "crashed", "signal 6 "), ("for (;;) pause()", "hung", "no answer in 1 s"),
                                ("_exit(7)", "crashed", "ended by itself, with 7"),
                                ("return 507008", "differs", "aclInit(null) answers 507008; wanted success")]:
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "bad.c")
            source.write_text(BAD % what)
            subprocess.run([compiler, "-shared", "-fPIC", "-o", f"{folder}/libascendcl.so", source], check=True)
            if outcome == "hung":
                code, report = c.report("--seconds", "1", "--only", "init", folder=folder)
                c.check(report["chip"].startswith("not told: hung, no answer in 1 s") and
                        len(report["libraries"]) == 1, "the chip is not told, the file is", report)
            else:
                code, report = c.report("--only", "init", "--only", "symbol-aclrtMalloc", "--only", "symbol-aclnnAbs",
                                        "--only", "aclnnAbs", folder=folder)
            found = {one["name"]: one for one in report["checks"]}
            c.check(code == 1 and found["init"]["outcome"] == outcome and text in found["init"]["text"],
                    f"aclInit does {what}", found)
            if outcome == "hung":
                continue
            for name, said in [("symbol-aclrtMalloc", "libascendcl.so has no aclrtMalloc"),
                               ("symbol-aclnnAbs", f"there is no libnnopbase.so: looked for in {folder}")]:
                c.check(found[name]["outcome"] == "differs" and said in found[name]["text"], f"{name} is named", found)
            c.check(found["aclnnAbs"]["outcome"] == "skipped", "what needs a missing library is skipped", found)


def words(c):
    bare = "there is no libascendcl.so: looked for in the linker's folders; ASCEND_HOME_PATH is not set"
    with tempfile.TemporaryDirectory() as folder:
        for arguments, code, wanted in [
                (["--frob"], 2, "there is no argument '--frob'"), (["--only", "heat"], 2, "there is no check 'heat'"),
                (["--only"], 2, "--only wants a value"), (["--seconds", "x"], 2, "wanted a whole number from 1"),
                (["--libraries", folder], 3, f"there is no libascendcl.so: looked for in {folder}"), ([], 3, bare),
                (["--libraries", c.libraries, "--only", "init", "-o", f"{folder}/no/r.json"], 2, "can't be written"),
        ]:
            if code == 3 and not arguments and on_the_way():
                c.skipped += 1
                continue
            done = c.run(*arguments)
            c.check(done.returncode == code and wanted in done.stderr and not done.stdout, f"{arguments}", done)
        c.check(c.run("--help").stdout.count("\n  ascend_check") >= 3, "--help has examples")
        listed = c.run("--list").stdout.splitlines()
        c.check(len(listed) >= 120 and len({line.split()[0] for line in listed}) == len(listed), "--list", listed[:3])
        for end in ("json", "txt"):
            file = pathlib.Path(folder, f"r.{end}")
            done = c.run("--libraries", c.libraries, "--only", "event-", "-o", file)
            c.check(done.returncode == 0 and " pass" in done.stdout and file.exists(), f"-o r.{end}", done)
        report = json.loads(pathlib.Path(folder, "r.json").read_text())
        c.check(report["totals"]["pass"] == len(report["checks"]) >= 10, "the file's totals", report["totals"])
        text = pathlib.Path(folder, "r.txt").read_text()
        c.check("Ascend910B3, simulated" in text and "\npass    event-order " in text, "the text", text)
        home = pathlib.Path(folder, "home")
        home.mkdir()
        (home / "lib64").symlink_to(c.libraries)
        done = c.run("--only", "init", "--json", ASCEND_HOME_PATH=str(home))
        c.check(done.returncode == 0 and json.loads(done.stdout)["ASCEND_HOME_PATH"] == str(home), "$ASCEND_HOME_PATH",
                done)


def on_the_way():
    done = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False,
                          env={"PATH": "/usr/sbin:/sbin:/usr/bin:/bin"})
    return "libascendcl.so" in done.stdout


def stands_alone(c):
    """At run time: the system's libraries alone. One command compiles it, without the build."""
    done = subprocess.run(["ldd", c.program], capture_output=True, text=True, check=False)
    names = set(re.findall(r"^\s*(lib[\w+-]+)\.so", done.stdout, re.M))
    allowed = {"libstdc++", "libm", "libgcc_s", "libc", "libdl", "libpthread", "libasan", "libubsan", "libtsan"}
    c.check(names <= allowed, "what it is linked to", names - allowed)
    files = sorted((ROOT / "tools/ascend_check").glob("*.*"))
    own = {name for file in files if file.suffix in (".cc", ".h")
           for name in re.findall(r'#include "([^"]+)"', file.read_text())}
    own = {name for name in own if not name.startswith("tools/ascend_check/")}
    c.check(own <= {"plugins/ascend/api/acl.h", "plugins/ascend/api/operators.h", "plugins/ascend/api/operators.def"},
            "it includes declarations alone", own)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path,
                        default=pathlib.Path(os.environ.get("GE_BUILD", ROOT / "build/release")))
    c = Checks(parser.parse_args().build.resolve())
    for part in (all_pass, each_operator, switched_off, bad_libraries, words, stands_alone):
        part(c)
    print(f"{c.passed} passed, {c.failed} failed, {c.skipped} skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
