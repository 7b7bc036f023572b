#!/usr/bin/env python3
"""ge-conform of the engine ascend on the simulated vendor: no FAIL, CRASH or HANG.

    tests/e2e/ascend/ascend_conform.py          every level on one chip, operators (L3) on one without bfloat16
    tests/e2e/ascend/ascend_conform.py --all    every level of each schedule, chip and format

What does not apply, and why: plugins/ascend/conform.txt. Faults that are planted in the simulated vendor are found.
"""
import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/e2e/plugins"))
import conform  # noqa: E402

ENGINE = conform.ENGINES / "ascend.so"
EXPECTED = ["--xfail", "plugins/ascend/conform.txt"]
WHOLE = ["--timeout", "120", *EXPECTED]
OPERATORS = [*WHOLE, "--level", "L3"]
# A chip with bfloat16 and private formats, one with neither, one that nobody knows.
PLACES = [("910b", "private"), ("910b", "plain"), ("310p", "plain"), ("unknown", "plain")]
PENDING = ["--case", "event-pends,event-pends-1us"]  # excluded, since a seeded schedule may be done before
# Options of the simulated vendor, the case that finds what they plant, and a word of its reason.
PLANTED = [
    ("refuse=aclnnAdd:1:507015", "add-f32", "507015"),
    ("without=Relu", "relu-f32", "the operator is not simulated"),
    ("fail_work=1:failed", "matmul-f32", "matmul"),
]


def judge(checks, badge, words, options, formats="private"):
    name = f"ascend, {options}, formats={formats}"
    conform.sound(checks, name, badge, ENGINE, "--options", f"formats={formats}", *words,
                  simulated=("ascend", options))


def planted(checks):
    for options, case, word in PLANTED:
        code, result = conform.report(ENGINE, "--case", case, simulated=("ascend", options))
        found = conform.bad(result)
        checks.check(f"{options} by {case}", "" if code == 1 and word in " ".join(found).lower()
                     else f"exit {code}, {found}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--all", action="store_true", help="every level of each schedule, chip and format")
    checks = conform.Checks()
    if parser.parse_args().all:
        for chip, formats in PLACES:
            for schedule in ("lazy", "seeded", "adversarial"):
                judge(checks, "L0-L8", WHOLE, f"chip={chip};schedule={schedule}", formats)
    else:
        judge(checks, "L0-L8", WHOLE, "schedule=seeded")
        judge(checks, "none", OPERATORS, "chip=310p", "plain")
    for schedule in ("lazy", "adversarial"):
        judge(checks, "none", PENDING, f"schedule={schedule}")
    planted(checks)
    print(f"{checks.passed} passed, {checks.failed} failed, 0 skipped")
    raise SystemExit(checks.failed != 0)


if __name__ == "__main__":
    main()
