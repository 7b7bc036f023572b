#!/usr/bin/env python3
"""Small models that ask for very much: each is answered or refused, within bounds.

For each bomb `ge dump --to memory` (load and compile) and then `ge run` in processes of their own, with
no deadline. Passes: each ends by an exit code of 0 to 3 within 10 s of CPU time and with a peak of 1 GB
above what a trivial model takes and the model's own size. What can only run for ever is sent SIGINT
after 2 s and must end within 1 s. Prints a row for each model and, last, the counts.

Examples:
  tests/e2e/all/hostile/bombs.py
  tests/e2e/all/hostile/bombs.py einsum gt_splat --engines ref
  tests/e2e/all/hostile/bombs.py --short
"""
import argparse
import dataclasses
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("numpy", "onnx")

import bomb_tensors  # noqa: E402,F401: registers its bombs
import bomb_structures  # noqa: E402,F401
from bomb_making import MODELS  # noqa: E402

CPU_SECONDS = 10      # of one stage
WALL_SECONDS = 180    # a busy machine gives less than a core
MORE_BYTES = 10**9    # above a trivial model's peak and the model's size
ADDRESS_BYTES = 6 << 30   # nothing that we try may take the machine
SIGINT_AFTER, SIGINT_SECONDS = 2.0, 1.0
TRIVIAL = ('ge 1\nopset "" 28\nfn main(x: f32[4]) -> (y) {\n  y = Relu(x)\n}\n'
           'entry infer "main" = main\n')


@dataclasses.dataclass
class Ended:
    stage: str
    code: int
    seconds: float       # of CPU
    peak: int            # bytes
    after_signal: float  # seconds from SIGINT to the end; 0 = none was sent
    text: str
    late: bool           # it had to be killed

    def outcome(self):
        if self.late:
            return "killed"
        return {0: "answered"}.get(self.code, f"exit {self.code}" if self.code > 0
                                   else f"signal {-self.code}")


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_BYTES, ADDRESS_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def wait(process, seconds):
    """(exit code, usage) once it ended, else None."""
    end = time.monotonic() + seconds
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage
        if time.monotonic() > end:
            return None
        time.sleep(0.005)


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(stage, command, forever):
    """Runs one stage of one bomb to its end."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=errors, preexec_fn=limit)
        begin, after, late = time.monotonic(), 0.0, False
        ended = wait(process, SIGINT_AFTER if forever else 0)
        if not ended and forever:
            process.send_signal(signal.SIGINT)
            sent = time.monotonic()
            ended = wait(process, 10 * SIGINT_SECONDS)
            after = time.monotonic() - sent
        while not ended:
            over = time.monotonic() - begin > WALL_SECONDS
            if forever or over or cpu_seconds(process.pid) > 1.5 * CPU_SECONDS:
                late = True
                process.kill()
            ended = wait(process, 0.1)
        errors.seek(0)
        text = errors.read()[-8000:].decode("utf-8", "replace").strip()
    code, usage = ended
    return Ended(stage, code, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, after, text, late)


def why_bad(e, most_bytes):
    if e.late:
        return f"{e.stage}: still going after {e.seconds:.0f} s of CPU time, or after SIGINT"
    if e.after_signal > SIGINT_SECONDS:
        return f"{e.stage}: ended {e.after_signal:.1f} s after SIGINT"
    if not 0 <= e.code <= 3 and not e.after_signal:
        return f"{e.stage}: exit code {e.code}: {e.text[-200:]}"
    if e.code < 0 or e.code not in (0, 1, 2, 3, 130):
        return f"{e.stage}: exit code {e.code}: {e.text[-200:]}"
    if e.code and not any(line.startswith("ge: ") for line in e.text.splitlines()):
        return f"{e.stage}: exit code {e.code} without a message"
    if "RESOURCE_EXHAUSTED" in e.text:
        return f"{e.stage}: memory ended before a limit said no: {e.text[-200:]}"
    if e.seconds > CPU_SECONDS and not e.after_signal:
        return f"{e.stage}: {e.seconds:.1f} s of CPU time"
    if e.peak > most_bytes:
        return f"{e.stage}: {e.peak / 1e6:.0f} MB, wanted at most {most_bytes / 1e6:.0f}"
    return ""


def try_bomb(args, name, bomb, folder, base_bytes):
    """The stages of one bomb, and what is wrong with them ("" = nothing)."""
    made = bomb.make()
    path = folder / (name + (".gt" if isinstance(made, str) else ".onnx"))
    path.write_bytes(made.encode() if isinstance(made, str) else made)
    size = path.stat().st_size
    options = ["--threads", "1"] + (["--engines", args.engines] if args.engines else [])
    stages, bad = [], ""
    if size > 10_240 and not bomb.large:
        bad = f"the model has {size} bytes, wanted at most 10,240"
    # What is planned piece by piece is run for its plans: it may not end there either.
    for stage, more in (("compile", ["dump", str(path), "--to", "memory"]), ("run", ["run", str(path)])):
        e = run(stage, [str(args.ge)] + more + options, bomb.forever)
        stages.append(e)
        bad = bad or why_bad(e, base_bytes + size + MORE_BYTES)
    path.unlink()
    return size, stages, bad


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bomb", nargs="*", help="default: all")
    parser.add_argument("--short", action="store_true", help="the quick ones alone")
    parser.add_argument("--engines", help="as in ge run (default: all)")
    parser.add_argument("--ge", type=pathlib.Path, default=ROOT / "build/release/bin/ge")
    parser.add_argument("-v", action="store_true", help="also what each said")
    args = parser.parse_args()
    unknown = [n for n in args.bomb if n not in MODELS]
    if unknown:
        parser.error(f"there is no bomb '{unknown[0]}'; there are {', '.join(MODELS)}")
    return args


def main():
    args = parse_arguments()
    os.environ.update(GE_CACHE_DIR="off", GE_PROBE="fixed")
    names = args.bomb or [n for n, b in MODELS.items() if b.short or not args.short]
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="ge-bombs.") as name:
        folder = pathlib.Path(name)
        (folder / "trivial.gt").write_text(TRIVIAL)
        base = run("run", [str(args.ge), "run", str(folder / "trivial.gt"), "--threads", "1"] +
                   (["--engines", args.engines] if args.engines else []), False)
        if base.code:
            sys.exit(f"bombs.py: a trivial model ends with exit code {base.code}: {base.text}")
        print(f"a trivial model takes {base.peak / 1e6:.0f} MB\n"
              f"{'model':30} {'bytes':>8}  {'compile':9} {'s':>5} {'MB':>5}  {'run':9} {'s':>5} {'MB':>5}")
        for bomb in names:
            size, (c, r), bad = try_bomb(args, bomb, MODELS[bomb], folder, base.peak)
            passed, failed = passed + (not bad), failed + bool(bad)
            print(f"{bomb:30} {size:>8}  {c.outcome():9} {c.seconds:>5.1f} {c.peak / 1e6:>5.0f}  "
                  f"{r.outcome():9} {r.seconds:>5.1f} {r.peak / 1e6:>5.0f}  "
                  f"{'FAILED ' + bad if bad else 'ok'}", flush=True)
            if args.v:
                print("".join(f"    {e.stage}: {e.text}\n" for e in (c, r) if e.code), end="")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
