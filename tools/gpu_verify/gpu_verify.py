#!/usr/bin/env python3
"""Tries the engine gpu on this machine's device and writes what it found, eight minutes at most.

  device      the driver, the device and the engine's own words about them
  operators   random cases of every operator, their types and odd shapes, against exact answers
  graphs      random models on gpu and ref, with red zones between their values
  schedules   repeated runs: replayed captures give the bits of the first run
  memory      the device's memory and the process's stay level over many runs and sessions
  speed       products, chains of pointwise steps and the host's time of a replay

Each part has its seconds and is written down when it is done, so that a report cut short still says
what held. Exit code 0: all passed; 1: something failed; 3: there is no device.

examples:
  tools/gpu_verify/gpu_verify.py                      # on this machine's device, from build/release
  tools/gpu_verify/gpu_verify.py --sim                # on the simulated vendor, all but speed
  tools/gpu_verify/gpu_verify.py --pack gpu_verify.pyz   # one file for a machine without the sources
  python3 gpu_verify.pyz --output report              # there
"""
import argparse
import datetime
import json
import os
import pathlib
import sys
import tempfile
import time
import zipfile

import parts

HERE = pathlib.Path(__file__).resolve().parent
SEEN = {"passed": "ok", "failed": "FAILED", "skipped": "skipped"}


class Report:
    """What was found, written anew whenever a check ends."""

    def __init__(self, folder, device):
        self.folder, self.checks, self.figures = folder, [], {}
        self.device = device
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, part, name, verdict, detail=""):
        self.checks.append({"part": part, "check": name, "verdict": verdict,
                            "detail": detail.strip()[-2000:]})
        shown = detail.strip().splitlines()[-1] if detail.strip() and verdict != "passed" else ""
        print(f"{part:<10} {SEEN[verdict]:<8} {name}{': ' + shown if shown else ''}", flush=True)
        self.write()

    def counts(self):
        verdicts = [c["verdict"] for c in self.checks]
        return {v: verdicts.count(v) for v in SEEN}

    def write(self):
        whole = {"device": self.device, "date": datetime.date.today().isoformat(),
                 "counts": self.counts(), "figures": self.figures, "checks": self.checks}
        lines = [f"# {self.device.get('name', 'no device')}, {whole['date']}", ""]
        lines += [f"- {key}: {value}" for key, value in self.device.items()]
        lines += ["", "| part | check | verdict |", "|---|---|---|"]
        lines += [f"| {c['part']} | {c['check']} | {c['verdict']} |" for c in self.checks]
        if self.figures:
            lines += ["", "| figure | value |", "|---|---|"]
            lines += [f"| {key} | {value} |" for key, value in self.figures.items()]
        for name, text in [("report.json", json.dumps(whole, indent=1)),
                           ("report.md", "\n".join(lines))]:
            partly = self.folder / (name + ".part")
            partly.write_text(text + "\n")
            os.replace(partly, self.folder / name)


def unpacked():
    """The folder of programs of the one file that runs; None: this is the source tree."""
    archive = pathlib.Path(sys.argv[0]).resolve()
    if not zipfile.is_zipfile(archive):
        return None
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gpu_verify."))
    with zipfile.ZipFile(archive) as packed:
        for entry in packed.infolist():
            if not entry.filename.startswith(("bin/", "lib/")):
                continue
            packed.extract(entry, folder)
            (folder / entry.filename).chmod(0o755)
    return folder


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, help="a build (default: build/release)")
    parser.add_argument("--sim", action="store_true", help="on the simulated vendor, all but speed")
    parser.add_argument("--parts", help="only these, by commas: " + ",".join(parts.PARTS))
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("gpu-report"),
                        help="folder of report.json and report.md (gpu-report)")
    parser.add_argument("--pack", type=pathlib.Path, metavar="FILE",
                        help="write one file that does all this elsewhere")
    given = parser.parse_args()
    given.chosen = given.parts.split(",") if given.parts else list(parts.PARTS)
    wrong = [p for p in given.chosen if p not in parts.PARTS]
    if wrong:
        parser.error(f"there is no part '{wrong[0]}'; wanted {', '.join(parts.PARTS)}")
    return given


def main():
    given = arguments()
    folder = unpacked()
    build = folder or (given.build or HERE.parents[1] / "build/release").resolve()
    if not (build / "bin/ge-test").exists():
        print(f"gpu_verify: {build} has no bin/ge-test; fix: build the preset release, or name another "
              "build by --build", file=sys.stderr)
        return 2
    if given.pack:
        import pack
        return pack.write(build, HERE, given.pack)
    machine = parts.Machine(build, given.sim)
    device = machine.device()
    report = Report(given.output, device)
    if "name" not in device:
        report.add("device", "the engine gpu has a device", "failed", device["why"])
        return 3
    for name in given.chosen:
        if name == "speed" and given.sim:
            report.add(name, "speed", "skipped", "a simulator has none")
            continue
        part, seconds = parts.PARTS[name]
        machine.until = time.monotonic() + seconds
        try:
            part(machine, report)
        except Exception as error:  # a part that breaks is a finding; the others go on
            report.add(name, "the part ends", "failed", f"{type(error).__name__}: {error}")
    counts = report.counts()
    print(f"report: {given.output / 'report.md'}")
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**counts))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
