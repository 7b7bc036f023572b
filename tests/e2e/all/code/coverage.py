#!/usr/bin/env python3
"""Line coverage: builds the preset `coverage`, runs the quick steps of ./test on it, and counts by
gcov which lines of the product ran, by folder.

A line counts when some object was compiled from it, and is reached when it ran in any of them, so
that a template or a kernel of several instruction sets counts once. Objects for instructions that
this processor lacks are left out. What ends by a signal or by _exit is not seen. Tests, generated
files and headers of others do not count.

A table of folders, the files below --bar, and the counts: a step passes when its tests do; where a
step fails, its log is named. --write keeps the table, which tools/gen/testing_doc.py reads.

Examples:
  tests/e2e/all/code/coverage.py
  tests/e2e/all/code/coverage.py --only unit --keep    # adds what one step reaches to what was counted
  tests/e2e/all/code/coverage.py --report --write      # builds and runs nothing
  tests/e2e/all/code/coverage.py --report --missed passes/fold
"""
import argparse
import collections
import concurrent.futures
import datetime
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[4]
BUILD = ROOT / "build" / "coverage"
TREE = BUILD / "tree"  # a checkout whose build/release is the coverage build, for scripts
LOGS = BUILD / "logs"
RAN = BUILD / "steps_that_ran"
FOUND = pathlib.Path(__file__).with_name("coverage_found.txt")
FOLDERS = ("frontend/", "ge/", "passes/", "streams/", "plugins/")
# Objects of one instruction set, and the word of /proc/cpuinfo that a processor needs for them.
SETS = {"cpu_simd_avx2.dir": "avx2", "cpu_simd_avx512.dir": "avx512bw", "cpu_simd_avx512_bf16.dir": "avx512_bf16",
        "native_vnni.dir": "avx512_vnni"}
TEST, UNIT, UNIT_CPU, UNIT_DEVICE = (f"build/release/bin/{name}"
                                     for name in ("ge-test", "ge-unit", "ge-unit-cpu", "ge-unit-device"))
NODES = [TEST, "--onnx-node", "build/node-tests/node"]
ALL = "native,onednn,openblas,ref"
# Scripts of tests/e2e that are about no time, and reach what other steps do not.
SCRIPTS = ["adcheck", "bad_input", "c_client", "code_groups", "conform", "decoder", "discovery", "failing_files", "flow",
           "float_mode", "grad", "grad_rules", "inspect", "lifetimes", "op_plugins", "pass_plugins", "planted", "plot",
           "plugins", "precision", "prepared", "prices", "red_zones", "remat", "shardcheck", "shipped", "texts", "tour", "train_pass",
           "train_tool", "values", "versions"]


def processor():
    return set(pathlib.Path("/proc/cpuinfo").read_text().split())


def steps():
    """[(name, command)], those that take long first."""
    found = [("random", [TEST, "--random", "20"])]
    for isa in ["sse4.2"] + (["avx2"] if "avx2" in processor() else []):
        capped = ["env", f"GE_MAX_ISA={isa}"]
        found += [(f"large-{isa}", [*capped, TEST, "--random", "60", "--large", "--threads", "2"]),
                  (f"unit-cpu-{isa}", [*capped, UNIT_CPU])]
    if (ROOT / "build" / "node-tests" / "node").exists():
        found += [("onnx-node", NODES), ("onnx-node-all", [*NODES, "--engines", ALL])]
        found += [(f"onnx-node-{e}", [*NODES, "--engines", f"{e},ref", "--policy", "priority"])
                  for e in ("native", "onednn", "openblas")]
    found += [("text", [TEST, "tests/text"]), ("unit", [UNIT]), ("unit-cpu", [UNIT_CPU]),
              ("unit-device", [UNIT_DEVICE]), ("random-models", [TEST, "--random-models", "20"])]
    where = {path.stem: path.relative_to(ROOT) for path in (ROOT / "tests/e2e").glob("*/*.sh") if path.parent.name != "all"}
    return found + [(name, ["bash", str(where[name])]) for name in SCRIPTS]


def lay_out():
    """The tree, by links; scripts are copied, since they find their checkout by their own place."""
    shutil.rmtree(TREE, ignore_errors=True)
    (TREE / "build").mkdir(parents=True)
    for entry in ROOT.iterdir():
        if entry.name not in ("build", "tests", "tools", ".git"):
            (TREE / entry.name).symlink_to(entry)
    for name in ("tests", "tools"):
        shutil.copytree(ROOT / name, TREE / name, ignore=shutil.ignore_patterns("__pycache__"))
    for entry in (ROOT / "build").iterdir():
        if entry.name in ("venv", "node-tests", "models"):
            (TREE / "build" / entry.name).symlink_to(entry)
    (TREE / "build" / "release").symlink_to(BUILD)


def build(jobs):
    print(f"building {BUILD.relative_to(ROOT)}", flush=True)
    subprocess.run(["cmake", "--preset", "coverage"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run(["ninja", "-C", str(BUILD), f"-j{jobs}"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"coverage: the build failed\n{done.stdout[-4000:]}")


def run(step, limit):
    """(name, whether it passed, seconds)."""
    name, command = step
    begin = time.monotonic()
    env = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}
    env |= {"GE_CACHE_DIR": "off", "GE_PROBE": "fixed", "GE_THREAD_RUNS": "50", "GE_SLOW_RUNS": "2", "GE_FLOW_RUNS": "100",
            "PWD": str(TREE)}
    with open(LOGS / f"{name}.log", "w", encoding="utf-8") as log:
        code = subprocess.run(["timeout", "-k", "10", str(limit), *command], cwd=TREE, env=env, stdout=log,
                              stderr=subprocess.STDOUT).returncode
    return name, code == 0, time.monotonic() - begin


def run_all(args):
    """(steps that passed, steps that failed)."""
    if not args.keep:
        for path in [*BUILD.rglob("*.gcda"), RAN]:
            path.unlink(missing_ok=True)
    lay_out()
    LOGS.mkdir(exist_ok=True)
    wanted = [s for s in steps() if not args.only or s[0] in args.only]
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for future in concurrent.futures.as_completed([pool.submit(run, s, args.limit) for s in wanted]):
            name, good, seconds = future.result()
            passed, failed = passed + good, failed + (not good)
            with open(RAN, "a", encoding="utf-8") as file:
                file.write(f"{name}\n")
            log = (LOGS / f"{name}.log").relative_to(ROOT)
            print(f"  {name}: {'ok' if good else f'FAILED, see {log}'}, {seconds:.0f} s", flush=True)
    return passed, failed


def counted(path):
    """{file of the product: {line: whether it ran}} of one object, by gcov."""
    data = path.with_suffix(".gcda")
    done = subprocess.run(["gcov", "--json-format", "--stdout", str(data if data.exists() else path)], cwd=BUILD,
                          capture_output=True, check=True)
    found = collections.defaultdict(dict)
    for line in done.stdout.splitlines():
        for file in json.loads(line)["files"]:
            # Relative to the folder of the build, whichever clone compiled it first.
            name = os.path.relpath(os.path.normpath(BUILD / file["file"]), ROOT)
            if not name.startswith(FOLDERS) or name.rsplit(".", 1)[0].endswith("_test"):
                continue
            lines = found[name]
            for each in file["lines"]:
                number = each["line_number"]
                lines[number] = lines.get(number, False) or each["count"] > 0
    return found


def gather(jobs):
    """({file: {line: whether it ran}}, names of sets that are left out)."""
    words, left_out, objects = processor(), set(), []
    for path in sorted(BUILD.rglob("*.gcno")):
        lacking = [s for s, word in SETS.items() if s in path.parts and word not in words]
        left_out.update(lacking)
        if not lacking and path.with_suffix(".o").exists():  # one that was interrupted has none
            objects.append(path)
    if not objects:
        sys.exit("coverage: nothing is built; leave --report out")
    files = collections.defaultdict(dict)
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        for found in pool.map(counted, objects):
            for name, lines in found.items():
                for number, ran in lines.items():
                    files[name][number] = files[name].get(number, False) or ran
    return files, sorted(s.removesuffix(".dir") for s in left_out)


def table(files, left_out):
    """The lines of coverage_found.txt."""
    rows = collections.defaultdict(lambda: [0, 0])
    for name, lines in files.items():
        for key in (name.rsplit("/", 1)[0], "all"):
            rows[key][0] += len(lines)
            rows[key][1] += sum(lines.values())
    without = f", without {' '.join(left_out)}" if left_out else ""
    head = f"# Written by coverage.py --write, {datetime.date.today()}{without}; read by tools/gen/testing_doc.py"
    ran = RAN.read_text().split() if RAN.exists() else []
    names = [name for name, _ in steps()]
    of = "all" if set(names) <= set(ran) else " ".join(n for n in names if n in ran)
    body = [f"{folder} {lines} {reached} {reached / lines:.3f}" for folder, (lines, reached) in sorted(rows.items())
            if folder != "all"]
    total = rows["all"]
    return [head, f"# steps: {of}", "folder lines reached share", *body, f"all {total[0]} {total[1]} {total[1] / total[0]:.3f}"]


def print_files(files, bar):
    """Those of which less than `bar` ran, and of these the most lines first."""
    low = [(len(v) - sum(v.values()), len(v), name) for name, v in files.items() if sum(v.values()) < bar * len(v)]
    for missed, count, name in sorted(low, reverse=True):
        print(f"{name}: {count - missed} of {count} lines, {1 - missed / count:.0%}")
    print(f"{len(low)} of {len(files)} files are below {bar:.0%}")


def print_missed(files, word):
    """The lines that did not run of files whose path holds a word, with their text."""
    for name in sorted(n for n in files if word in n):
        text = (ROOT / name).read_text().splitlines()
        missed = sorted(number for number, ran in files[name].items() if not ran)
        for _, group in itertools.groupby(enumerate(missed), lambda p: p[1] - p[0]):
            for _, number in group:
                print(f"{name}:{number}: {text[number - 1].strip()}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", action="append", help="a step's name; may be repeated")
    parser.add_argument("--keep", action="store_true", help="add to what earlier runs counted")
    parser.add_argument("--as-built", action="store_true", help="build nothing")
    parser.add_argument("--report", action="store_true", help="build and run nothing, count what there is")
    parser.add_argument("--limit", type=int, default=1800, help="seconds of a step")
    parser.add_argument("--bar", type=float, default=0.7, help="files of which a smaller share ran are named")
    parser.add_argument("--missed", metavar="WORD", help="print the lines that did not run of files so named, and end")
    parser.add_argument("--write", action="store_true", help=f"write the table to {FOUND.name}")
    parser.add_argument("--list", action="store_true", help="print the names of the steps and end")
    return parser.parse_args()


def main():
    args = arguments()
    if args.list:
        print(*(name for name, _ in steps()), sep="\n")
        return 0
    unknown = set(args.only or []) - {name for name, _ in steps()}
    if unknown:
        sys.exit(f"coverage: no step {', '.join(sorted(unknown))}; --list names them")
    passed = failed = 0
    if not args.report:
        if not args.as_built:
            build(args.jobs)
        passed, failed = run_all(args)
    files, left_out = gather(args.jobs)
    if args.missed:
        print_missed(files, args.missed)
        return 0
    lines = table(files, left_out)
    for line in lines[2:]:
        print("{:24}{:>10}{:>10}{:>8}".format(*line.split()))
    print_files(files, args.bar)
    if left_out:
        print(f"not counted, since this processor lacks the instructions: {', '.join(left_out)}")
    if args.write:
        FOUND.write_text("\n".join(lines) + "\n")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
