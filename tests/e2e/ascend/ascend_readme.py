#!/usr/bin/env python3
"""README's section "Ascend" and docs/ascend/README.md as a new user types them on a machine without
AscendCL: the first command says that the library is not there, the others run on the simulator, which
is named as such.

Prints each fault and, last, the counts.

Example: tests/e2e/ascend/ascend_readme.py --build build/release
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODEL = ROOT / "build/models/lenet.onnx"
MISSING = "the library 'libascendcl.so' that it needs is not on this machine"
# What a command says, by a word of it.
SAYS = {
    "plugins": [MISSING],
    "run": ["; ascend 12"],
    "explain": ["  ascend/sim:0  "],
    "ascend_check": ["Ascend910B3, simulated", " 0 differs", " 0 crashed, 0 hung"],
}


class Checks:
    def __init__(self, build):
        self.build, self.passed, self.failed, self.skipped = build, 0, 0, 0

    def check(self, good, name, detail=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    {str(detail).strip()[-1500:]}")

    def skip(self, why):
        self.skipped += 1
        print(f"skipped: {why}")

    def typed(self, line, cwd=ROOT):
        """A page's line, with this build's folder in the place of its own."""
        env = {k: v for k, v in os.environ.items()
               if k not in ("LD_LIBRARY_PATH", "ASCEND_HOME_PATH", "GE_SIM_ASCEND")}
        return subprocess.run(["bash", "-c", line.replace("build/release", str(self.build))], capture_output=True,
                              text=True, cwd=cwd, env=env, check=False, timeout=600)


def commands(text, fence):
    block = text.split("```")[2 * fence + 1]
    return [re.split(r"\s{3,}", line)[0] for line in block.splitlines() if line]


def has_library():
    done = subprocess.run([sys.executable, "-c", "import ctypes; ctypes.CDLL('libascendcl.so')"],
                          capture_output=True, check=False, env={"PATH": os.environ["PATH"]})
    return done.returncode == 0


def type_all(c, page, lines, wanted):
    said = [next(word for word in SAYS if re.search(rf"\b{word}\b(?!/)", line.split("bin/")[-1])) for line in lines]
    c.check(said == wanted, f"{page}: its commands", lines)
    for word, line in zip(said, lines):
        if word == "plugins" and has_library():
            c.skip(f"{page}: {line}; this machine has the library")
        elif "lenet.onnx" in line and not MODEL.exists():
            c.skip(f"{page}: {line}; there is no build/models/lenet.onnx")
        else:
            done = c.typed(line)
            c.check(done.returncode == 0 and all(text in done.stdout for text in SAYS[word]), f"{page}: {line}",
                    done.stdout + done.stderr)


def named(c, line):
    """The device's name is the simulator's, wherever a run tells one."""
    if not MODEL.exists():
        return c.skip("the device's name; there is no build/models/lenet.onnx")
    done = c.typed(line + " --json")
    names = set(re.findall(r'"(?:device|memory)":"(ascend[^",]*)', done.stdout))
    c.check(done.returncode == 0 and names == {"ascend/sim:0"}, f"{line} --json names the device", names or done.stderr)
    return None


def without(c, lines):
    """The commands for the simulator, without it: the engine's sentence, and no answer of another engine."""
    if has_library():
        return c.skip("without the library; this machine has it")
    if MODEL.exists():
        line = next(line for line in lines if " run " in line).split(maxsplit=1)[1]
        done = c.typed(line)
        c.check(done.returncode not in (0, 1) and "libascendcl.so" in done.stderr and "outputs" not in done.stdout, line,
                done.stdout + done.stderr)
    else:
        c.skip("ge run without the library; there is no build/models/lenet.onnx")
    return None


def with_a_card(c, text):
    """What the page says of ascend_check, on the simulator in the place of a card."""
    section = text.split("## With a card")[1]
    line = commands(section, 0)[0]
    with tempfile.TemporaryDirectory() as folder:
        if not has_library():
            done = c.typed(line, cwd=folder)
            c.check(done.returncode == 3 and "there is no libascendcl.so" in done.stderr,
                    f"{line}, without the library", done.stderr)
        done = c.typed(f"LD_LIBRARY_PATH=build/release/lib/sim/ascend {line}", cwd=folder)
        c.check(done.returncode == 0 and pathlib.Path(folder, "report.json").exists(), line, done.stdout + done.stderr)
    shown = section.split("```")[3]
    said = c.typed("build/release/bin/ascend_check --libraries build/release/lib/sim/ascend "
                   "--only init-twice --only aclnnErf --only told-cube-math").stdout
    for row in shown.strip().splitlines()[1:]:
        c.check(row in said, f"docs/ascend/README.md shows: {row}", said)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path,
                        default=pathlib.Path(os.environ.get("GE_BUILD", ROOT / "build/release")))
    c = Checks(parser.parse_args().build.resolve())
    readme = (ROOT / "README.md").read_text().split("## Ascend")[1].split("\n## ")[0]
    page = (ROOT / "docs/ascend/README.md").read_text()
    type_all(c, "README.md", commands(readme, 0), ["plugins", "run"])
    named(c, commands(readme, 0)[1])
    type_all(c, "docs/ascend/README.md", commands(page, 0), ["plugins", "run", "explain", "ascend_check"])
    without(c, commands(readme, 0))
    with_a_card(c, page)
    print(f"{c.passed} passed, {c.failed} failed, {c.skipped} skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
