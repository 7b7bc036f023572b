#!/usr/bin/env python3
"""What a step of training and a decoder with caches copy on a device of its own memory.

A plan's copies are its inputs and outputs alone: states lie on the device. After eight runs their bits
are those of runs on the host.

Example: tests/e2e/engines/device_states.py --build build/release
"""
import argparse
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
LENET = ROOT / "build/models/lenet.onnx"
NETS = {
    "LeNet's step": (["correct", "loss"], LENET, "--plugins", "grad", "--pass",
                     "train:loss=softmax-ce;optimizer=adam", "--entry", "train_step", "--input",
                     "x=64x1x28x28:rand", "--input", "label=64:zeros"),
    "a decoder": (["logits"], ROOT / "tests/e2e/models/decoder.gt", "--kv-cache=4", "--input",
                  "ids=1x3:zeros"),
}
RUNS = 8


class Checks:
    def __init__(self, build):
        self.ge, self.devsim = build / "bin/ge", build / "lib/samples/devsim.so"
        self.passed = self.failed = self.skipped = 0

    def check(self, good, name, found=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    {str(found).strip()[-1500:]}")

    def record(self, words, engines):
        """The report, and what the run behind RUNS others was given and made: {member: bytes}."""
        with tempfile.TemporaryDirectory() as folder:
            env = {**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed",
                   "GE_OBSERVE": f"record={folder};values=border;every={RUNS}"}
            done = subprocess.run([self.ge, "run", *words, "--engines", engines, "--repeat",
                                   str(RUNS + 1), "--json"], capture_output=True, text=True,
                                  env=env, cwd=ROOT, timeout=300, check=False)
            if done.returncode != 0:
                print(done.stdout[-500:], done.stderr[-1500:])
                return {}, {}
            with zipfile.ZipFile(sorted(pathlib.Path(folder).glob("*.gecap"))[-1]) as z:
                members = {n: z.read(n) for n in z.namelist() if n.endswith(".npy")}
            return json.loads(done.stdout), {n: payload(b) for n, b in members.items()}


def payload(npy):
    wide = npy[6] > 1
    length = struct.unpack_from("<I" if wide else "<H", npy, 8)[0]
    return npy[(12 if wide else 10) + length:]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    c = Checks(parser.parse_args().build.resolve())
    for name, (outputs, model, *words) in NETS.items():
        if not model.exists():
            c.skipped += 1
            continue
        report, device = c.record([model, *words], f"{c.devsim}:strict=1")
        _, host = c.record([model, *words], "ref")
        states = [n for n in host if n.startswith("state/")]
        made = {n.split("-", 1)[-1][:-4]: b for n, b in device.items() if n.startswith("value/")}
        given = sum(len(b) for n, b in device.items() if n.startswith("input/"))
        wanted = given + sum(len(made.get(o, b"")) for o in outputs)
        print(f"{name}: {len(states)} states, {report.get('state_device_bytes')} bytes on the device; "
              f"a run copies {report.get('transfer_bytes')} bytes, its inputs and outputs {wanted}")
        c.check(all(o in made for o in outputs) and report.get("transfer_bytes") == wanted,
                f"{name}: bytes copied", report.get("transfer_bytes"))
        c.check(len(states) > 2 and any(any(host[s]) for s in states), f"{name}: states", states)
        c.check(all(host[s] == device.get(s) for s in states), f"{name}: the states' bits",
                [s for s in states if host[s] != device.get(s)])
    print(f"{c.passed} passed, {c.failed} failed, {c.skipped} skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
