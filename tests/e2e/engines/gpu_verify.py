#!/usr/bin/env python3
"""README's section "GPU" as a new user types it on a machine without a card, what gpu_verify reports and
packs, and what the pages may say of devices.

Prints each fault and, last, the counts.

Examples:
  tests/e2e/engines/gpu_verify.py --build build/release
  tests/e2e/engines/gpu_verify.py --whole          # all parts of gpu_verify on the simulator
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
SENTENCE = "built, and tested on a simulator of ours; not run on a GPU"
PAGES = ["README.md", "docs/engines.md", "docs/gpu/README.md", "plugins/gpu/README.md"]
QUICK = "device,schedules,memory"


class Checks:
    def __init__(self, build):
        self.build, self.passed, self.failed, self.skipped = build, 0, 0, 0

    def check(self, good, name, detail=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    {str(detail).strip()[-1500:]}")


def run(words, cwd=ROOT, env=None):
    return subprocess.run(words, capture_output=True, text=True, cwd=cwd, env=env, check=False,
                          timeout=600)


def pages(c):
    """Until a report of a device lies in docs/gpu the pages say so; then they name the newest."""
    reports = sorted(p.stem for p in (ROOT / "docs/gpu").glob("20*.md"))
    for page in PAGES:
        text = " ".join((ROOT / page).read_text().split())
        if reports:
            c.check(SENTENCE not in text and reports[-1] in text, f"{page} names {reports[-1]}")
        else:
            c.check(SENTENCE in text.replace("Built", "built"), f"{page} says: {SENTENCE}")
        for claim in re.findall(r"[^.;]*\b(?:runs?|ran|verified|measured|faster) on (?:a|an) (?:GPU|H100|card)[^.;]*",
                                text):
            c.check(reports or re.search(r"\bnot\b", claim), f"{page} claims a device", claim)


def commands():
    section = (ROOT / "README.md").read_text().split("## GPU")[1].split("\n## ")[0]
    return [re.split(r"\s{3,}", line)[0] for line in section.split("```")[1].splitlines() if line]


def typed(c, whole):
    lines = commands()
    c.check(len(lines) == 6 and lines[0] == "tools/setup/install.sh gpu", "README's commands", lines)
    env = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
    with tempfile.TemporaryDirectory() as folder:
        for line in lines[3:]:
            line = line.replace("build/release/", f"{c.build}/")
            if "gpu_verify" in line:
                line += f" --build {c.build} --output {folder}/report"
                line += "" if whole else f" --parts {QUICK}"
            done = run(["bash", "-c", line], env=env)
            said = done.stdout + done.stderr
            words = {"plugins": "gpu", "run": "; gpu 11", "gpu_verify": " passed, 0 failed"}
            key = next(w for w in words if re.search(rf"\b{w}\b", line.replace(".py", "")))
            c.check(done.returncode == 0 and words[key] in said, line, said)
        report = json.loads(pathlib.Path(folder, "report/report.json").read_text())
        c.check(report["device"] == {"name": "gpu/sim:0", "simulated": True} and
                report["counts"]["failed"] == 0, "the report says what it ran on", report)
        c.check("# gpu/sim:0" in pathlib.Path(folder, "report/report.md").read_text(), "report.md")


def refusals(c):
    verify = [sys.executable, ROOT / "tools/gpu_verify/gpu_verify.py"]
    with tempfile.TemporaryDirectory() as folder:
        for words, code, wanted in [
                (["--parts", "heat"], 2, "there is no part 'heat'; wanted device, operators,"),
                (["--build", folder], 2, "has no bin/ge-test; fix: build the preset release"),
        ]:
            done = run([*verify, *words], cwd=folder)
            c.check(done.returncode == code and wanted in done.stderr, " ".join(words), done.stderr)


def packed(c):
    """One file, elsewhere, with an empty environment."""
    verify = ROOT / "tools/gpu_verify/gpu_verify.py"
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "gv.pyz")
        done = run([sys.executable, verify, "--build", c.build, "--pack", file])
        if not (c.build / "plugins/gpu/kernels.fatbin").exists():
            c.check(done.returncode == 1 and not file.exists() and
                    "this build has no kernels for devices; fix: tools/setup/install.sh gpu" in done.stderr,
                    "a build without kernels is not packed", done.stderr)
            print("skipped: the packed file; this build has no kernels for devices")
            c.skipped += 1
            return
        c.check(done.returncode == 0 and file.stat().st_size <= 40 << 20, "--pack", done.stdout + done.stderr)
        bare = {"PATH": "/usr/bin:/bin"}
        done = run(["python3", file, "--sim", "--parts", QUICK], cwd=folder, env=bare)
        c.check(done.returncode == 0 and " passed, 0 failed" in done.stdout, "the packed file on the simulator",
                done.stdout + done.stderr)
        if subprocess.run([sys.executable, "-c", "import ctypes; ctypes.CDLL('libcuda.so.1')"],
                          capture_output=True, check=False).returncode == 0:
            c.skipped += 1
            return
        done = run(["python3", file, "--parts", "device"], cwd=folder, env=bare)
        c.check(done.returncode == 3 and "'libcuda.so.1' that it needs is not on this machine" in done.stdout,
                "the packed file without a driver", done.stdout + done.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--whole", action="store_true", help="all parts of gpu_verify, a minute")
    given = parser.parse_args()
    c = Checks(given.build.resolve())
    pages(c)
    typed(c, given.whole)
    refusals(c)
    packed(c)
    print(f"{c.passed} passed, {c.failed} failed, {c.skipped} skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
