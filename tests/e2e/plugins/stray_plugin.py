#!/usr/bin/env python3
"""A plugin whose kernel writes far from its output is named exactly (GE_RED_ZONES=1), and one that
does not return is named when a time limit or Ctrl-C ends the tool.

Prints each fault and, last, the counts.

Example: tests/e2e/plugins/stray_plugin.py --build build/release
"""
import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODEL = """ge 1
opset "" 28
opset "test" 1
fn f(x: f32[16]) -> (y, s) {
  a = Neg(x)
  e = test.Stray(a) "stray node"
  y = Exp(e)
  s = ReduceSum(y) {keepdims=0}
}
entry infer "main" = f
"""


class Checks:
    def __init__(self, build, folder):
        self.ge, self.folder = build / "bin/ge", folder
        self.passed = self.failed = 0
        self.model = folder / "stray.gt"
        self.model.write_text(MODEL)

    def check(self, good, name, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}\n    " + str(detail).strip().replace("\n", "\n    "))

    def plugin(self, *defines):
        to = self.folder / "stray.so"
        to.unlink(missing_ok=True)
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", *defines, "-I", ROOT / "sdk/include",
                        ROOT / "tests/e2e/plugins/stray_plugin.c", "-o", to], check=True)
        return to

    def command(self, plugin, *more):
        return [str(a) for a in (self.ge, "run", self.model, "--plugins", plugin, "--input",
                                 "x=16:rand", "--engines", "native,ref", *more)]

    def overruns(self):
        """Stretches of 1 to 262,144 floats next to the output's 16, and single ones far off."""
        for count in (1, 64, 5000, 262144):
            self.overrun(16, count, f"bytes 0 to {4 * count - 1} behind the end of")
            self.overrun(-count, count, f"bytes {-4 * count} to -1 before the begin of")
        for far in (64, 5000, 262144):
            self.overrun(16 + far, 1, f"bytes {4 * far} to {4 * far + 3} behind the end of")
            self.overrun(-far, 1, f"bytes {-4 * far} to {-4 * far + 3} before the begin of")
        done = self.guarded(self.plugin())
        self.check(done.returncode == 0, "a plugin that keeps to its output", done.stderr)

    def guarded(self, plugin):
        return subprocess.run(self.command(plugin, "--repeat", 2), capture_output=True, text=True,
                              env={**os.environ, "GE_RED_ZONES": "1"}, timeout=120, check=False)

    def overrun(self, at, count, words):
        done = self.guarded(self.plugin(f"-DAT={at}", f"-DCOUNT={count}"))
        name = f"{count} floats at {at}"
        self.check(done.returncode == 3, f"{name}: exit code", (done.returncode, done.stderr))
        self.check(f"{words} value 'e' of 64 bytes" in done.stderr, f"{name}: which bytes",
                   done.stderr)
        self.check("stray node" in done.stderr, f"{name}: whose", done.stderr)

    def hangs(self):
        for what in ("infer", "decompose", "work", "kernel"):
            plugin = self.plugin(f"-DHANG=HANG_{what.upper()}")
            wanted = f"{what} of test.Stray"
            done = subprocess.run(self.command(plugin, "--time-limit", 0.3), capture_output=True,
                                  text=True, timeout=120, check=False)
            self.check(done.returncode == 3 and "DEADLINE_EXCEEDED" in done.stderr,
                       f"{what}: a time limit ends it", (done.returncode, done.stderr))
            self.check(f"{plugin}', {wanted}" in done.stderr, f"{what}: it is named", done.stderr)
            process = subprocess.Popen(self.command(plugin), stderr=subprocess.PIPE, text=True,
                                       stdout=subprocess.DEVNULL)
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            err = process.communicate(timeout=120)[1]
            self.check(process.returncode == 130, f"{what}: Ctrl-C ends it",
                       (process.returncode, err))
            self.check(wanted in err, f"{what}: Ctrl-C names it", err)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", default=os.environ.get("GE_BUILD", "build/release"))
    build = (ROOT / parser.parse_args().build).resolve()
    os.environ.update(GE_CACHE_DIR="off", GE_PROBE="fixed")
    with tempfile.TemporaryDirectory() as folder:
        checks = Checks(build, pathlib.Path(folder))
        checks.overruns()
        checks.hangs()
    print(f"{checks.passed} passed, {checks.failed} failed, 0 skipped")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
