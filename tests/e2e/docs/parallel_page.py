#!/usr/bin/env python3
"""What README.md says under "On several ranks", and docs/parallel.md in its blocks, typed as it stands,
in one folder, in the pages' order. A machine of fewer cores than ranks, and the user root, are told to
mpirun by its variables."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/e2e/training"), str(ROOT / "tools/bench/training")]
import parallel  # noqa: E402
import train_nets  # noqa: E402

DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")


def lines(text):
    """Those of blocks without a language."""
    return [line for block in re.findall(r"^```\n(.*?)^```$", text, re.M | re.S)
            for line in block.splitlines()]


def main():
    parallel.want_mpi()
    if not DATA.exists():
        print("skipped: no data (apt-get install dataset-fashion-mnist)")
        print("0 passed, 0 failed, 1 skipped")
        return
    readme = (ROOT / "README.md").read_text().split("## On several ranks")[1].split("\n## ")[0]
    typed = [*lines(readme), *lines((ROOT / "docs/parallel.md").read_text())]
    env = dict(parallel.ENV, PATH=f"{parallel.GE.parent}:{os.environ['PATH']}")
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        train_nets.lenet(f"{folder}/lenet.onnx")
        for line in typed:
            done = subprocess.run(line, shell=True, cwd=folder, env=env, capture_output=True, text=True,
                                  timeout=600, check=False)
            said = "\noutputs\n" if " ge run " in line else "steps/s"
            good = done.returncode == 0 and done.stdout.count(said) == 1
            passed, failed = passed + good, failed + (not good)
            if not good:
                print(f"FAILED  {line}: {done.stdout[-300:]} {done.stderr[-600:]}")
    print(f"{passed} passed, {failed + (passed < 6)} failed, 0 skipped")
    sys.exit(failed > 0 or passed < 6)


if __name__ == "__main__":
    main()
