"""ge-conform judged by engines that are known: ours pass, faulty ones are caught at their level.

    tests/e2e/plugins/conform.py          minimal at L0-L3, ref and native at L0-L2, refusals, faults,
                                  operators and passes
    tests/e2e/plugins/conform.py --all    every level of ref, native, onednn, openblas, minimal, devsim and
                                  the scaffold of a device

The last line is "N passed, N failed, N skipped"; GE_BUILD names another build folder.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

BUILD = pathlib.Path(os.environ.get("GE_BUILD", "build/release"))
CONFORM = BUILD / "bin" / "ge-conform"
ENGINES = BUILD / "lib" / "graphengine"
SAMPLES = BUILD / "lib" / "samples"
VERDICTS = ["PASS", "FAIL", "UNSUPPORTED", "CRASH", "HANG", "EXCLUDED", "XFAIL", "NOT_RUN"]

# Faulty samples: the level that catches them, and a word of the reason.
FAULTS = {
    "magic": ("L0", "magic number"),
    "null_query": ("L0", "query is NULL"),
    "no_symbol": ("L0", "ge_plugin_query"),
    "create_null": ("L0", "gave no engine"),
    "offer_bad_index": ("L2", "names node"),
    "offer_unsorted": ("L2", "not ascending"),
    "silent": ("L2", "neither offered nor declined"),
    "compile_error": ("L2", "compile"),
    "internal_steps": ("L2", "internal value"),
    "huge_workspace": ("L2", "workspace"),
    "enqueue_error": ("L2", "enqueue"),
    "wrong_result": ("L2", "element"),
    "wrong_result L3": ("L3", "element"),
    "long_message": ("L2", "msg_len"),
    "writes_behind": ("L4", "behind the end of an output"),
    "writes_before": ("L4", "before the begin of an output"),
    "changes_input": ("L4", "input 0 was written"),
    "writes_too_few": ("L4", "what outputs"),
}
# Plugins that are no engines, and the cases of L2 that are about them and have to PASS.
RULES = {"samples/op": ["operators-models", "operators-newer-host"],
         "samples/kernels": ["operators-kernels", "operators-models", "operators-newer-host"],
         "samples/square": ["passes-keep-values"],
         "samples/observe": ["passes-keep-values", "passes-asked-for"],
         "scaffold/scaffold_op_c": ["operators-models", "operators-newer-host"],
         "scaffold/scaffold_op_cpp": ["operators-models", "operators-newer-host"],
         "scaffold/scaffold_pass_c": ["passes-keep-values"],
         "scaffold/scaffold_pass_cpp": ["passes-keep-values"]}
# Other versions of the header, which have to work.
SOUND = ["none", "poisoned_tails", "grown", "may_skip"]


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, wrong):
        """`wrong`: empty, or what is not as it should be."""
        if wrong:
            self.failed += 1
            print(f"FAILED  {name}\n  {wrong}")
        else:
            self.passed += 1


def run(*words, simulated=None):
    """`simulated`: a simulated vendor, whose libraries then take the real one's place, and its options."""
    environment = dict(os.environ, GE_CACHE_DIR="off", GE_PROBE="fixed")
    if simulated is not None:
        vendor, options = simulated
        environment["LD_LIBRARY_PATH"] = str(BUILD / "lib/sim" / vendor)
        environment[f"GE_SIM_{vendor.upper()}"] = options
    environment.pop("OPENBLAS_CORETYPE", None)
    done = subprocess.run([CONFORM, *map(str, words)], capture_output=True, text=True,
                          env=environment, check=False)
    return done.returncode, done.stdout, done.stderr


def report(*words, simulated=None):
    """The exit code and the one JSON object of a run."""
    code, out, err = run(*words, "--json", simulated=simulated)
    try:
        return code, json.loads(out)
    except json.JSONDecodeError:
        return code, {"cases": [], "badge": "none", "counts": {}, "error": out[:300] + err[:300]}


def bad(result):
    return [f"{c['level']}/{c['case']} {c['verdict']}: {c['reason'][:300]}"
            for c in result["cases"] if c["verdict"] in ("FAIL", "CRASH", "HANG")]


def sound(checks, name, badge, *words, simulated=None):
    code, result = report(*words, simulated=simulated)
    wrong = "\n  ".join(bad(result)[:8])
    if not wrong and (code != 0 or result["badge"] != badge):
        wrong = f"exit {code}, badge {result['badge']}, wanted 0 and {badge}; {result.get('error')}"
    counts = {k: v for k, v in result["counts"].items() if v}
    print(f"{name}: {len(result['cases'])} cases, {counts}, badge {result['badge']}", flush=True)
    checks.check(name, wrong)


def table(checks):
    code, out, _ = run("--list", "--json")
    levels = [c["level"] for c in json.loads(out)["cases"]]
    few = [f"L{i}" for i in range(9) if levels.count(f"L{i}") < 10]
    checks.check("at least 150 cases", "" if len(levels) >= 150 and code == 0 else len(levels))
    checks.check("at least 10 a level", ", ".join(few))


def refusals(checks, folder):
    minimal = SAMPLES / "minimal.so"
    wrong_file = folder / "wrong.txt"
    wrong_file.write_text("xfail L0/load\n")
    cases = [
        ("no such file", 2, "is no file", ["missing.so"]),
        ("no plugin", 2, "PLUGIN.so is missing", []),
        ("unknown level", 2, "wanted L0 to L8", [minimal, "--level", "L9"]),
        ("unknown case", 2, "there is no case", [minimal, "--case", "nonsense"]),
        ("no reference engine", 3, "--ref", [minimal, "--ref", folder / "no.so"]),
        ("expectation without a reason", 2, "has no reason", [minimal, "--xfail", wrong_file]),
    ]
    for name, code, word, words in cases:
        got, out, err = run(*words)
        checks.check(name, "" if got == code and word in err and not out
                     else f"exit {got}, wanted {code}: {err}{out}")


def expectations(checks, folder):
    file = folder / "expected.txt"
    file.write_text("# of this test\nxfail L0/load it loads\nexclude L0/names left out\n"
                    "xfail L2/offers-of-chain it is wrong\n")
    code, result = report(SAMPLES / "minimal.so", "--xfail", file, "--case", "load,names")
    verdicts = {c["case"]: c["verdict"] for c in result["cases"]}
    checks.check("an xfail that passes is FAIL",
                 "" if verdicts.get("load") == "FAIL" and code == 1 else verdicts)
    checks.check("excluded", "" if verdicts.get("names") == "EXCLUDED" else verdicts)
    code, result = report(SAMPLES / "faulty_wrong_result.so", "--xfail", file, "--case",
                          "offers-of-chain")
    verdicts = [c["verdict"] for c in result["cases"]]
    checks.check("an xfail that fails", "" if verdicts == ["XFAIL"] and code == 0 else verdicts)
    page = folder / "report.html"
    code, result = report(SAMPLES / "minimal.so", "--level", "L0", "--html", page)
    checks.check("a page", "" if "<h2>L0 load</h2>" in page.read_text() else "no table")
    checks.check("all verdicts are counted", "" if list(result["counts"]) == VERDICTS
                 else result["counts"])


def faults(checks):
    for name, (level, word) in FAULTS.items():
        name = name.split()[0]
        more = ["--case", "add-f32"] if level == "L3" else []
        code, result = report(SAMPLES / f"faulty_{name}.so", "--level", level, *more)
        found = [line for line in bad(result) if word in line]
        checks.check(f"faulty_{name} at {level}", "" if found and code == 1 else
                     f"no reason with '{word}': {bad(result)[:2]}")
    for name in SOUND:
        sound(checks, f"faulty_{name}", "none", SAMPLES / f"faulty_{name}.so", "--level", "L2,L3")


def rules(checks):
    for name, cases in RULES.items():
        plugin = BUILD / "lib" / f"{name}.so"
        sound(checks, name, "L0-L2", plugin, "--level", "L0,L1,L2")
        _, result = report(plugin, "--case", ",".join(cases))
        other = [f"{c['case']} {c['verdict']}: {c['reason']}" for c in result["cases"]
                 if c["verdict"] != "PASS"]
        checks.check(f"{name}: operators and passes", other or ("" if result["cases"] else "no case"))
    name = "bad_pass_changes_values"
    code, result = report(SAMPLES / f"{name}.so", "--level", "L2")
    found = [line for line in bad(result) if "changed the model's values" in line]
    checks.check(name, "" if found and code == 1 else f"{bad(result)[:2]}")


def quick():
    checks = Checks()
    table(checks)
    sound(checks, "minimal", "L0-L3", SAMPLES / "minimal.so", "--level", "L0,L1,L2,L3")
    for engine in ["ref", "native"]:
        sound(checks, engine, "L0-L2", ENGINES / f"{engine}.so", "--level", "L0,L1,L2")
    sound(checks, "gpu on the simulated vendor", "L0-L2", ENGINES / "gpu.so", "--level", "L0,L1,L2", simulated=("cuda", ""))
    sound(checks, "scaffold_device_cpp", "L0-L2", BUILD / "lib/scaffold/scaffold_device_cpp.so",
          "--level", "L0,L1,L2,L4")
    with tempfile.TemporaryDirectory() as name:
        refusals(checks, pathlib.Path(name))
        expectations(checks, pathlib.Path(name))
    faults(checks)
    rules(checks)
    return checks


def everything():
    checks = Checks()
    for engine in ["ref", "native", "onednn", "openblas"]:
        sound(checks, engine, "L0-L8", ENGINES / f"{engine}.so", "--timeout", "120")
    sound(checks, "minimal", "L0-L3", SAMPLES / "minimal.so", "--level", "L0,L1,L2,L3")
    sound(checks, "devsim", "L0-L8", SAMPLES / "devsim.so", "--timeout", "120", "--options",
          f"wrap={(ENGINES / 'ref.so').resolve()}", "--xfail", "sdk/samples/devsim/conform.txt")
    sound(checks, "devsim that captures nothing", "none", SAMPLES / "devsim.so", "--case", "capture-*",
          "--options", f"wrap={(ENGINES / 'ref.so').resolve()};capture=2")
    sound(checks, "scaffold_device_cpp", "L0-L8", BUILD / "lib/scaffold/scaffold_device_cpp.so",
          "--timeout", "120", "--xfail", "sdk/scaffold/device/conform.txt")
    for schedule in ["seeded", "adversarial", "seeded;layouts=1"]:
        sound(checks, f"simdev, {schedule}", "L0-L8", SAMPLES / "simdev.so", "--timeout", "120",
              "--options", f"device=all;schedule={schedule}", "--xfail",
              "plugins/device/sim/engine/conform.txt")
    for schedule in ["lazy", "seeded", "adversarial"]:
        sound(checks, f"gpu on the simulated vendor, {schedule}", "L0-L8", ENGINES / "gpu.so", "--timeout", "120",
              "--xfail", "plugins/gpu/conform.txt", simulated=("cuda", f"schedule={schedule}"))
    return checks


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="every level of every engine")
    checks = everything() if parser.parse_args().all else quick()
    print(f"{checks.passed} passed, {checks.failed} failed, 0 skipped")
    raise SystemExit(checks.failed != 0)


if __name__ == "__main__":
    main()
