#!/usr/bin/env python3
"""The rules of the simulated vendor: each kept, broken on purpose, and broken with the rule off.

A case is a small program against the vendor's functions, in a process of its own. Kept, every call
succeeds and the reports are empty; broken, a call answers the rule's code and names it, and so do
the reports; off, nothing does.

Example: tests/e2e/ascend/ascend_rules.py --build build/release
"""
import argparse
import ctypes
import json
import os
import pathlib
import re
import sys
import tempfile

from ascend_rule_programs import CASES
from ascend_vendor import Vendor

ROOT = pathlib.Path(__file__).resolve().parents[3]


def run_case(folder, name, wrong, off, reports):
    """(answers other than 0, lines of the reports, exit status) of a program."""
    body, options, broken = CASES[name]
    options += (";" + broken) if wrong else ""
    if off:
        options = options.replace("off=", f"off={name}+") if "off=" in options \
            else f"{options};off={name}"
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.environ["GE_SIM_ASCEND"] = f"{options};reports={reports}".strip(";")
        try:
            vendor = Vendor(folder)
            body(vendor, wrong)
            if not wrong:
                vendor.tidy()
            os.write(write, json.dumps(vendor.failed).encode())
        except BaseException as x:  # pylint: disable=broad-except; told to the parent
            os.write(write, json.dumps([["python", -1, repr(x)]]).encode())
        os.close(write)
        ctypes.CDLL(None).exit(0)  # so that the libraries tell what is left
    os.close(write)
    with os.fdopen(read, "rb") as answers:
        failed = json.loads(answers.read() or b"null")
    _, status = os.waitpid(child, 0)
    lines = reports.read_text().splitlines() if reports.exists() else []
    reports.unlink(missing_ok=True)
    return failed or [], lines, status if failed is not None else -1


def rules():
    """{name: (code, whether it is told)}"""
    text = (ROOT / "plugins/ascend/sim/rules.def").read_text()
    codes = dict(re.findall(r"(k\w+) = (\d+),",
                            (ROOT / "plugins/ascend/api/acl.h").read_text()))
    return {name: (int(codes[code]), told == "true") for name, code, told in
            re.findall(r'GE_RULE\(k\w+, "([^"]+)", (k\w+), (true|false),', text)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--rule", help="this one alone")
    options = parser.parse_args()
    folder = options.build.resolve() / "lib/sim/ascend"
    passed = failed = 0

    def check(good, text, *details):
        nonlocal passed, failed
        passed += bool(good)
        failed += not good
        if not good:
            print(f"FAILED  {text}\n    {details}")

    known = rules()
    check(set(known) == set(CASES) and len(known) >= 30, "a case of every rule",
          set(known) ^ set(CASES))
    with tempfile.TemporaryDirectory() as scratch:
        reports = pathlib.Path(scratch) / "reports"
        for name, (code, told) in known.items():
            if name not in CASES or options.rule not in (None, name):
                continue
            answers, lines, status = run_case(folder, name, False, False, reports)
            check(not answers and not lines and status == 0, f"{name}: kept", answers, lines, status)
            answers, lines, status = run_case(folder, name, True, False, reports)
            named = [a for a in answers if a[2].startswith(name + ": ") and a[1] == code]
            # A leak is found when there is no call any more.
            check((named or name == "leak") and status == 0, f"{name}: broken", answers, status)
            check(told == any(line.startswith(name + ": ") for line in lines),
                  f"{name}: its report", lines)
            answers, lines, status = run_case(folder, name, True, True, reports)
            check(not [a for a in answers if name + ": " in a[2]] and status == 0 and
                  not [a for a in answers if a[0] == "python"], f"{name}: off", answers, status)
            check(not any(line.startswith(name + ": ") for line in lines), f"{name}: off, reported",
                  lines)
    print(f"{len(known)} rules")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
