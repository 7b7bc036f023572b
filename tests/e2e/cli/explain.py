#!/usr/bin/env python3
"""The table of ge explain: names as long as converters write them, names of other alphabets, patterns.

Prints each fault and, last, the counts.

Example: tests/e2e/cli/explain.py --build build/release
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
LONG = "/".join(f"net_1.00_224_1/block_{i}/batchnorm" for i in range(12)) + "/sub_dequant"
WIDE = "слой" * 40 + "/конец"  # two bytes a letter, so that a cut by bytes splits one
PLAIN = "Überlauf"
MODEL = f"""ge 1
opset "" 28
fn main(x: f32[64,64]) -> (y) {{
  a = Add(x, x) "{LONG}"
  b = Mul(a, x) "{WIDE}"
  c = Mul(b, x) "twice"
  d = Mul(c, x) "{PLAIN}"
  y = Relu(d) "last"
}}
entry infer "main" = main
"""


def explain(build, model, *args):
    done = subprocess.run([build / "bin/ge", "explain", model, "--prices", "analytic", *args],
                          capture_output=True, timeout=120, check=False,
                          env={**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed"})
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    return done.stdout.decode()  # raises where a letter was split


def check_table(text):
    """Every row's columns begin where the rule says, whatever the names."""
    lines = text.split("\n\n")[0].splitlines()
    starts = [m.start() for m in re.finditer("-+", lines[1])]
    faults = []
    if len(lines) != 7:
        faults.append(f"{len(lines)} lines for 5 nodes")
    for line in lines[2:]:
        if any(line[s - 2:s].strip() for s in starts[1:] if s < len(line)):
            faults.append(f"not aligned: {line}")
    names = [line[:starts[1]].strip() for line in lines[2:]]
    if starts[1] != max(map(len, names)) + 2:
        faults.append("the first column is wider than its longest name")
    whole_letters = re.fullmatch(r"#2 (слой)*(с|сл|сло)?\.\.(й|ой|лой)?(слой)*/конец", names[1])
    wanted = [f"#1 {LONG[:16]}..{LONG[-28:]}",
              names[1] if whole_letters else "#2 its begin..its end, no letter split",
              "twice", PLAIN, "last"]
    faults += [f"'{have}' for '{want}'" for have, want in zip(names, wanted) if have != want]
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    build = parser.parse_args().build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "names.gt"
        model.write_text(MODEL)
        text = explain(build, model, "--engines", "native,ref")
        checks = {"table": check_table(text)}
        checks["pattern"] = [] if re.search(r"Add\+3 Mul\+Relu", text) else [text]
        whole = json.loads(explain(build, model, "--engines", "native,ref", "--json"))
        names = [n["node"] for n in whole["nodes"]]
        checks["json"] = [] if names[:2] == [LONG, WIDE] else [f"--json shortens: {names}"]
        pinned = explain(build, model, "--engines", "native,ref", "--pin", "#1=ref")
        first = pinned.splitlines()[2]
        checks["pin"] = [] if first.startswith("#1 ") and " ref/cpu" in first else [first]
    for name, faults in checks.items():
        for fault in faults:
            print(f"FAILED {name}: {fault}")
    failed = sum(bool(faults) for faults in checks.values())
    print(f"{len(checks) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
