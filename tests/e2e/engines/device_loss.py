#!/usr/bin/env python3
"""`ge run` on a simulated device that is lost at each piece of its work, or never answers.

The outputs are those of the CPU, bit for bit, and the report says what was lost. Then what
`ge plugins` shows of engines that find no device, crash or fail where they are created.

Example: tests/e2e/engines/device_loss.py --build build/release
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODELS = ROOT / "tests/e2e/models"
NETS = ["attention.gt", "loop.gt", "recurrent.gt"]
CHEAP = "wrap=ref;price=1;link_latency_ns=1;link_gbps=1000"
BROKEN = """
#include <stdlib.h>
#include "ge/ge_plugin.h"
static ge_rc none(ge_engine* e, const ge_graph* g, const ge_sink* s, ge_err* r) {
  (void)e, (void)g, (void)s, (void)r;
  return GE_OK;
}
static ge_rc compile(ge_engine* e, const ge_segment* s, uint32_t n, uint32_t stride,
                     ge_compiled* out, uint32_t out_stride, ge_err* r) {
  (void)e, (void)s, (void)n, (void)stride, (void)out, (void)out_stride, (void)r;
  return GE_UNIMPLEMENTED;
}
static ge_rc enqueue(ge_exec* e, const ge_launch* l, ge_err* r) {
  (void)e, (void)l, (void)r;
  return GE_UNIMPLEMENTED;
}
static ge_rc create(const ge_create_args* a, ge_engine** out, ge_err* err) {
  (void)a, (void)out, (void)err;
  BODY
}
static const ge_engine_api api = {GE_HDR(ge_engine_api, GE_TAG_ENGINE_API), none, compile, enqueue};
static const ge_plugin_desc desc = {GE_PLUGIN_HEAD, {"broken", 6}, {"1", 1}, {"test", 4},
                                    GE_KIND_ENGINE, GE_SANITIZER_HERE, create, 0, &api};
GE_EXPORT const ge_plugin_desc* ge_plugin_query(ge_query_args* args) {
  (void)args;
  return &desc;
}
"""
NO_DEVICE = """const char text[] = "no device is here";
  for (unsigned i = 0; i < sizeof text - 1; ++i) err->msg[i] = text[i];
  err->msg_len = sizeof text - 1;
  return GE_UNAVAILABLE;"""


class Checks:
    def __init__(self, build, folder):
        self.ge, self.samples, self.folder = build / "bin/ge", build / "lib/samples", folder
        self.passed = self.failed = 0

    def check(self, good, name, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}\n    {str(detail).strip()[-2000:]}")

    def run(self, *args, **env):
        return subprocess.run([self.ge, *map(str, args)], cwd=ROOT, capture_output=True, text=True,
                              timeout=120, check=False, env={**os.environ, "GE_CACHE_DIR": "off",
                                                             "GE_PROBE": "fixed", **env})

    def outputs(self, model, engines, *more):
        """(result, {file: bytes}) of one run."""
        with tempfile.TemporaryDirectory(dir=self.folder) as out:
            done = self.run("run", MODELS / model, "--engines", engines, "--seed", 5, "--json",
                            "--output", out, *more)
            return done, {f.name: f.read_bytes() for f in sorted(pathlib.Path(out).iterdir())}

    def device(self, faults):
        return f"{self.samples / 'devsim.so'}:{CHEAP};{faults},native,ref"


def lost_everywhere(c):
    """At each piece of work, until a run has fewer."""
    losses = 0
    for net in NETS:
        _, wanted = c.outputs(net, "native,ref")
        c.check(wanted, f"{net}: the CPU's outputs")
        for k in range(1, 40):
            fault = f"lost_at={k}" if k % 2 else f"late_at={k};scope=device"
            done, found = c.outputs(net, c.device(fault))
            report = json.loads(done.stdout) if done.returncode == 0 else {}
            if done.returncode == 0 and not report["lost_devices"]:
                break
            losses += 1
            c.check(found == wanted and report.get("repeated_runs") == 1, f"{net}, {fault}",
                    done.stdout[-500:] + done.stderr)
            c.check([d["device"] for d in report.get("lost_devices", [])] == ["sim:0"],
                    f"{net}, {fault}: the report", report.get("lost_devices"))
    c.check(losses >= 10, "losses", losses)
    print(f"{losses} losses")


def never_answers(c):
    _, wanted = c.outputs("attention.gt", "native,ref")
    done, found = c.outputs("attention.gt", c.device("hang_at=2;timeout_ms=200"))
    report = json.loads(done.stdout) if done.returncode == 0 else {}
    c.check(found == wanted and report.get("kept_runs") == 1, "beyond its time limit",
            done.stdout[-500:] + done.stderr)
    begin = time.monotonic()
    done = c.run("run", MODELS / "attention.gt", "--engines", c.device("hang_at=2"),
                 "--time-limit", "0.5")
    took = time.monotonic() - begin
    print(f"a deadline of 500 ms ended the run after {took * 1e3:.0f} ms")
    c.check("DEADLINE_EXCEEDED" in done.stderr and "may still use the buffers" in done.stderr and
            took < 10, "a deadline", done.stderr)


def tried_engines(c):
    for name, body, state, words in [
            ("absent", NO_DEVICE, "unavailable", "no device is here"),
            ("aborts", "abort();", "died", "signal 6"),
            ("fails", "return GE_INTERNAL;", "failed", "no reason given")]:
        source, plugin = c.folder / f"{name}.c", c.folder / f"{name}.so"
        source.write_text(BROKEN.replace("BODY", body))
        subprocess.run(["cc", "-shared", "-fPIC", f"-I{ROOT}/sdk/include", source, "-o", plugin,
                        *os.environ.get("CFLAGS", "").split()], check=True)
        done = c.run("plugins", plugin, "--json")
        record = json.loads(done.stdout)["plugins"][0]
        c.check(done.returncode == 3 and record["state"] == state and words in record["why"],
                f"ge plugins: {name}", record)
    absent = {"GE_PLUGIN_EXTRA": str(c.folder / "absent.so")}
    model = ("run", MODELS / "attention.gt", "--json")
    quiet, loud = c.run(*model, **absent), c.run(*model, "-v", **absent)
    c.check(quiet.returncode == 0 and "no device is here" not in quiet.stderr,
            "an engine that nobody named is missing quietly", quiet.stderr)
    c.check("no device is here" in loud.stderr, "and said at -v", loud.stderr)
    done = c.run("plugins", "--json")
    ready = {p["name"]: p for p in json.loads(done.stdout)["plugins"]}
    c.check(ready["ref"]["state"] == "found" and ready["ref"]["devices"] == ["cpu"],
            "an engine that can be created", ready.get("ref"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    build = parser.parse_args().build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        c = Checks(build, pathlib.Path(folder))
        lost_everywhere(c)
        never_answers(c)
        tried_engines(c)
    print(f"{c.passed} passed, {c.failed} failed, 0 skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
