#!/usr/bin/env python3
"""Models compiled by `ge compile`: a new process asks no engine for a price, searches for no plan and
fills no pack, and has the bits of the session that made the file; shapes that it does not have are
planned like those that it has. What does not fit is named and planned anew, or refused with --strict.
Plans and packs that lie are refused by member, or give a right run.

Prints each fault and, last, the counts.

Example: tests/e2e/capsule/compiled.py --build build/release
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("numpy")

import numpy as np  # noqa: E402

import ge_session  # noqa: E402

SEED = 54
FLIPS = 60
# Rows of any number, weights that are worth a pack, and a state.
ROWS = """ge 1
opset "" 28
opset "ge" 1
const w : f32[64,96] = {weights}
const zero : f32[4] = [0, 0, 0, 0]
state total : f32[4] buffer init zero
fn main(x: f32[n,64]) -> (y) {{
  a = MatMul(x, w) "product"
  b = Relu(a) "relu"
  y = Exp(b) "exp"
}}
fn count(x: f32[4]) -> (sum) effects [state total] {{
  old: f32[4] = ge.Read() effects [state total]
  sum = Add(old, x) "add"
  ge.Assign(sum) effects [state total]
}}
entry infer "main" = main
entry infer "count" = count
"""


class Checks:
    def __init__(self, ge, folder):
        self.ge, self.folder, self.passed, self.failed, self.skipped = ge, folder, 0, 0, 0

    def check(self, good, name, found=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    {str(found).strip()[-1500:]}")

    def run(self, *words, **more):
        return subprocess.run([self.ge, *map(str, words)], capture_output=True, text=True,
                              cwd=self.folder, timeout=300, **more)

    def outputs(self, model, *more):
        """(the report, the outputs) of one run."""
        out = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        done = self.run("run", model, "--json", "--output", out, *more)
        if done.returncode != 0:
            return {"stderr": done.stderr, "code": done.returncode}, {}
        report = json.loads(done.stdout)
        report["stderr"] = done.stderr
        return report, {f.name: np.load(f) for f in out.glob("*.npy")}

    def compiled(self, model, file, *more):
        done = self.run("compile", model, "-o", file, *more)
        self.check(done.returncode == 0, f"{file} is made", done.stderr)
        return self.folder / file


def equal(a, b):
    return len(a) > 0 and a.keys() == b.keys() and all(
        np.array_equal(v.view(np.uint8), b[k].view(np.uint8)) for k, v in a.items())


def close(a, b):
    return len(a) > 0 and a.keys() == b.keys() and all(
        np.allclose(v, b[k], rtol=1e-4, atol=1e-5) for k, v in a.items())


def rewritten(source, target, changed):
    """A copy whose members are those of `changed` where it has them; stored, as Python writes them."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for m in old.infolist():
            new.writestr(m.filename, changed.get(m.filename, old.read(m.filename)))


def fast(report):
    """Whether nothing was searched, asked or filled."""
    return [report.get(k) for k in ("plans_searched", "queries", "fills")] == [0, 0, 0]


def begins_at_once(c):
    for name, model, more in [("lenet", ROOT / "build/models/lenet.onnx", []),
                              ("rows", "rows.gt", ["--input", "x=5x64:rand"]),
                              ("count", "rows.gt", ["--entry", "count"])]:
        file = c.compiled(model, f"{name}.gecap", *more)
        _, wanted = c.outputs(model, *more)
        moved = c.folder / "moved" / f"{name}.gecap"
        moved.parent.mkdir(exist_ok=True)
        shutil.copy(file, moved)
        report, found = c.outputs(moved, *more)
        c.check(fast(report) and report["plans_saved"] == 1, f"{name} runs by its saved plan", report)
        c.check("incompatible" not in report and "warning" not in report["stderr"], f"{name} fits", report)
        c.check(equal(wanted, found), f"{name} has the bits of the model")
        if name != "count":
            c.check(report["packs_mapped"] > 0, f"packs of {name} are mapped", report)
        with zipfile.ZipFile(file) as z:
            c.check(z.testzip() is None, f"{name} opens as a ZIP file")
    for words in (["explain", "lenet.gecap"], ["dump", "lenet.gecap", "--to", "memory"],
                  ["dump", "lenet.gecap", "--to", "rewrite"],
                  ["bench", "lenet.gecap", "--seconds", "0.05", "--concurrency", "1"]):
        done = c.run(*words)
        c.check(done.returncode == 0, f"{words} takes a compiled model", done.stderr)


def other_shapes(c):
    c.compiled("rows.gt", "two.gecap", "--input", "x=3x64:rand", "--input", "x=40x64:rand")
    for rows in (3, 40):
        more = ["--input", f"x={rows}x64:rand"]
        report, found = c.outputs("two.gecap", *more)
        c.check(fast(report) and report["plans_saved"] == 1, f"{rows} rows are saved", report)
        c.check(close(c.outputs("rows.gt", *more)[1], found), f"{rows} rows are right")
    more = ["--input", "x=17x64:rand"]
    report, found = c.outputs("two.gecap", *more)
    c.check(report["plans_searched"] == 0 and report["plans_shaped"] == 1 and report["queries"] == 0,
            "17 rows are planned like the saved ones", report)
    c.check(close(c.outputs("rows.gt", *more)[1], found), "17 rows are right")


def pieces(c):
    """Models that run in pieces: each piece's plan is found by its bound graph, with its payloads."""
    models = ROOT / "tests/e2e/models"
    for name, model, more in [
            ("spin", models / "loop.gt", ["--entry", "spin", "--input", "x=4:rand"]),
            ("vad_op18_ifless", ROOT / "build/models/vad_op18_ifless.onnx", ["--input", "input=1x576:rand"])]:
        if not model.exists():  # tools/bench/models.py fetches it; ./test does not.
            c.skipped += 1
            continue
        file = c.compiled(model, f"{name}.gecap", *more)
        before, wanted = c.outputs(model, *more)
        report, found = c.outputs(file, *more)
        c.check(before["plans_searched"] >= 1 and report["plans_saved"] == before["plans_searched"],
                f"all pieces of {name} are saved", [before, report])
        c.check(fast(report) and report["flow_plans"] == 0, f"{name} searches, asks and fills nothing", report)
        c.check(equal(wanted, found), f"{name} has the bits of the model")
    # What is missing is planned.
    pick = ["--entry", "pick", "--input", "x=40:rand"]
    file = c.compiled(models / "prepared.gt", "pick.gecap", *pick)
    report, _ = c.outputs(file, *pick)
    c.check(fast(report) and report["plans_saved"] > 0, "sizes that the data decide are saved", report)
    other = ["--entry", "pick", "--input", "x=30:rand"]
    _, wanted = c.outputs(models / "prepared.gt", *other)
    report, found = c.outputs(file, *other)
    c.check(report.get("plans_searched", 0) > 0 and close(wanted, found), "a piece of another size is planned",
            report)
    index = json.loads(zipfile.ZipFile(c.folder / "spin.gecap").read("compiled.json"))
    for fn in (0, 4000000000):
        lie = json.loads(json.dumps(index))
        lie["plans"][0]["fn"] = fn
        rewritten(c.folder / "spin.gecap", c.folder / "lie.gecap", {"compiled.json": json.dumps(lie)})
        done = c.run("run", "lie.gecap", "--entry", "spin", "--input", "x=4:rand")
        c.check(done.returncode == 2 and f"has no function '{fn}'" in done.stderr, f"function {fn} is refused",
                f"{done.returncode} {done.stderr}")


def plan_engines(file):
    """Names of the engines that have a segment in a plan of the file."""
    with zipfile.ZipFile(file) as z:
        text = "".join(z.read(m).decode() for m in z.namelist() if m.startswith("plan/"))
    used = {int(n) for n in re.findall(r"^ *segment .*\bdevice=(\d+)", text, re.M)}
    devices = re.findall(r'^device (\d+) "([^"/]+)/', text, re.M)
    return {name for number, name in devices if int(number) in used}


def opens_what_plans_name(c, build):
    """Only the plan's engines; a search opens the others and finds what it finds with all of them open."""
    library = build / "lib/libgraphengine.so"
    wanted = plan_engines(c.folder / "rows.gecap")
    whole = ge_session.GeSession(c.folder / "rows.gt", library=library, entry="main")
    five, one = ({"x": np.random.default_rng(SEED).standard_normal((n, 64)).astype(np.float32)} for n in (5, 1))
    first = whole.run(five)
    every = whole.report()["open_engines"]
    whole.close()
    c.check(wanted and wanted < set(every), "a plan needs few of the engines", [wanted, every])
    report, _ = c.outputs("rows.gecap", "--input", "x=5x64:rand")
    c.check(set(report["open_engines"]) == wanted, "the plan's engines alone are opened", report)

    def searched(engines):
        session = ge_session.GeSession(c.folder / "rows.gecap", library=library, entry="main", engines=engines)
        saved, before = session.run(five), session.report()
        out, after, plan = session.run(one), session.report(), session.explain()
        again = session.run(five)
        session.close()
        c.check(np.array_equal(saved[0], first[0]) and np.array_equal(again[0], first[0]),
                "a saved plan has its bits before and after a search")
        return before, after, out, plan
    before, after, found, plan = searched("")
    c.check(set(before["open_engines"]) == wanted and before["plans_searched"] == 0,
            "a session opens them alone, too", before["open_engines"])
    c.check(after["open_engines"] == every and after["plans_searched"] == 1, "a search opens the others", after)
    with_all = searched(",".join(every))
    c.check(with_all[0]["open_engines"] == every and with_all[0]["plans_saved"] == 1,
            "engines that were named are open from the start", with_all[0])
    timeless = [{k: v for k, v in p.items() if not k.endswith("_ms")} for p in (plan, with_all[3])]
    c.check(timeless[0] == timeless[1] and np.array_equal(found[0], with_all[2][0]),
            "the plan is that of a session with all engines open", timeless)
    report, _ = c.outputs("rows.gecap", "--input", "x=5x64:rand", "--engines", ",".join(sorted(wanted)))
    c.check(fast(report) and "incompatible" not in report, "engines that no plan needs may be missing", report)
    done = c.run("run", "rows.gecap", "--input", "x=5x64:rand", "--engines", "nowhere")
    c.check(done.returncode == 3 and "engine 'nowhere' is not loaded" in done.stderr,
            "an engine that was named and is missing is an error", done.stderr)
    index = json.loads(zipfile.ZipFile(c.folder / "rows.gecap").read("compiled.json"))
    planted = c.folder / "planted.so"
    planted.write_bytes(b"no library")
    for name in (str(planted), "nowhere", ""):
        lie = json.loads(json.dumps(index))
        lie["engines"].append({"name": name, "hash": "0" * 40, "options": "", "used": True})
        rewritten(c.folder / "rows.gecap", c.folder / "lie.gecap", {"compiled.json": json.dumps(lie)})
        report, found = c.outputs("lie.gecap", "--input", "x=5x64:rand")
        c.check(f"engine '{name}': not in this session" in report.get("incompatible", "")
                and "is refused" not in report["stderr"], f"a file that names '{name}' opens nothing by it", report)


def misfits(c):
    threads = 2 if json.loads(c.run("run", "lenet.gecap", "--json").stdout)["threads"] == 1 else 1
    cases = [(["--threads", threads], "threads: "), (["--isa", "sse4.2"], "isa: "),
             (["--numerics", "exact"], "numerics: fast there, exact here"),
             (["--denormals", "keep"], "denormals: flush there, keep here"),
             (["--engines", "ref"], "engine 'native': not in this session")]
    _, wanted = c.outputs("lenet.gecap")
    for more, text in cases:
        report, found = c.outputs("lenet.gecap", *more)
        c.check(text in report.get("incompatible", "") and text in report["stderr"], f"'{text}' is named",
                report)
        c.check(report.get("plans_searched") == 1 and close(wanted, found), f"{more} is right", report)
        strict = c.run("run", "lenet.gecap", "--strict", *more)
        c.check(strict.returncode == 3 and text in strict.stderr, f"--strict refuses '{text}'",
                strict.stderr)
    c.check(c.run("run", "lenet.gecap", "--strict").returncode == 0, "--strict takes what fits")
    index = json.loads(zipfile.ZipFile(c.folder / "lenet.gecap").read("compiled.json"))
    for engine in index["engines"]:
        engine["hash"] = "0" * 40
    rewritten(c.folder / "lenet.gecap", c.folder / "built.gecap",
              {"compiled.json": json.dumps(index)})
    report, found = c.outputs("built.gecap")
    c.check("build id: 0000" in report.get("incompatible", "") and close(wanted, found),
            "another build is named", report)


def asked_where_not_promised(c, build):
    plugin = build / "lib/samples/devsim.so"
    if not plugin.exists():
        return
    engines = ["--engines", f"{plugin}:wrap=ref,ref"]
    _, wanted = c.outputs(ROOT / "build/models/lenet.onnx", *engines)
    c.compiled(ROOT / "build/models/lenet.onnx", "devsim.gecap", *engines)
    report, found = c.outputs("devsim.gecap", *engines)
    c.check(report.get("plans_saved") == 1 and report["plans_searched"] == 0
            and report["queries"] <= 1, "an engine without the promise is asked", report)
    c.check(equal(wanted, found), "its bits are the same")


def saved_by_c(c, build):
    client = c.folder / "compiled_client"
    made = subprocess.run(["cc", "-O1", "-Wall", "-Wextra", f"-I{ROOT / 'sdk/include'}",
                           ROOT / "tests/e2e/capsule/compiled_client.c", "-o", client,
                           f"-L{build / 'lib'}", "-lgraphengine", f"-Wl,-rpath,{build / 'lib'}"],
                          capture_output=True, text=True)
    c.check(made.returncode == 0, "the client is built", made.stderr)
    runs = [subprocess.run([client, *words], capture_output=True, text=True, cwd=c.folder)
            for words in ([ROOT / "build/models/lenet.onnx", "api.gecap"], ["api.gecap"])]
    c.check(all(r.returncode == 0 for r in runs) and runs[0].stdout == runs[1].stdout != "",
            "a session saves what it compiled", [r.stdout + r.stderr for r in runs])
    report, _ = c.outputs("api.gecap")
    c.check(fast(report) and report["plans_saved"] == 1, "the file begins at once", report)


def lies(c):
    """Members with right checksums that are wrong in one place."""
    source = c.folder / "lenet.gecap"
    z = zipfile.ZipFile(source)
    plan, index = z.read("plan/0.plan").decode(), json.loads(z.read("compiled.json"))
    _, wanted = c.outputs("lenet.gecap")
    first = re.search(r"nodes=\[(\d+)", plan).group(1)
    cases = {
        "a foreign node": plan.replace(f"nodes=[{first}", "nodes=[999999", 1),
        "a node twice": re.sub(r"nodes=\[(\d+), (\d+)", r"nodes=[\1, \1", plan, count=1),
        "a lost node": re.sub(r"nodes=\[(\d+), ", "nodes=[", plan, count=1),
        "a foreign device": re.sub(r"device=\d+", "device=77", plan, count=1),
        "a foreign layout": re.sub(r"(offer nodes=\[[^\]]*\])", r"\1 layouts=[1:4000]", plan, count=1),
        "an alignment": re.sub(r"(offer nodes=\[[^\]]*\])", r"\1 const_align=3",
                               re.sub(r" const_align=\d+", "", plan)),
        "no price": re.sub(r"marginal_ns=[0-9.e+]+", "marginal_ns=nan", plan, count=1),
        "no function": plan[:plan.index("function 0")],
        "no text": "plan 1 nothing",
    }
    for name, text in cases.items():
        c.check(text != plan, f"{name} is another plan")
        rewritten(source, c.folder / "lie.gecap", {"plan/0.plan": text})
        done = c.run("run", "lie.gecap")
        c.check(done.returncode == 2 and "member 'plan/0.plan'" in done.stderr,
                f"{name} is refused by member", f"{done.returncode} {done.stderr}")
    cookies = re.sub(r"(offer nodes=\[[^\]]*\])", r"\1 cookie=12345678901", plan)
    turned = {"plan/0.plan": cookies}
    rewritten(source, c.folder / "lie.gecap", turned)
    report, found = c.outputs("lie.gecap")
    c.check(close(wanted, found), "foreign cookies give a right run", report)
    rng = np.random.default_rng(SEED)
    packs = [m for m in z.namelist() if m.startswith("pack/")]
    rewritten(source, c.folder / "lie.gecap", {m: rng.bytes(len(z.read(m))) for m in packs})
    report, found = c.outputs("lie.gecap")
    c.check(close(wanted, found), "packs of random bytes give a right run", report)
    for name, change in {"a pack of another size": lambda p: p.update(member="plan/0.plan"),
                         "a pack of another segment": lambda p: p.update(segment=1000000),
                         "a pack without a member": lambda p: p.update(member="pack/none"),
                         "a pack without a hash": lambda p: p.update(hash="none")}.items():
        lie = json.loads(json.dumps(index))
        change(lie["plans"][0]["packs"][0])
        rewritten(source, c.folder / "lie.gecap", {"compiled.json": json.dumps(lie)})
        report, found = c.outputs("lie.gecap")
        right = close(wanted, found)
        c.check(right or (report["code"] == 2 and ("compiled.json" in report["stderr"]
                                                   or "pack/none" in report["stderr"])),
                f"{name} is refused or right", report)
    for name, change in {"another entry": {"entry": "none"}, "a foreign state": {"states_in": [7]},
                         "other sizes": {"inputs": [{"dims": [2, 1, 28, 28]}]}}.items():
        lie = json.loads(json.dumps(index))
        lie["plans"][0].update(change)
        rewritten(source, c.folder / "lie.gecap", {"compiled.json": json.dumps(lie)})
        report, found = c.outputs("lie.gecap")
        c.check(close(wanted, found) or (report["code"] == 2 and "lie.gecap" in report["stderr"]),
                f"{name} is refused or right", report)


def flips(c):
    data = (c.folder / "rows.gecap").read_bytes()
    rng = random.Random(SEED)
    for i in range(FLIPS):
        damaged = bytearray(data)
        for _ in range(1 + i % 3):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        if i % 4 == 3:
            damaged = damaged[:rng.randrange(len(damaged))]
        (c.folder / "flip.gecap").write_bytes(damaged)
        done = c.run("run", "flip.gecap", "--input", "x=5x64:rand")
        c.check(done.returncode in (0, 2, 3), f"flip {i} ends", f"{done.returncode} {done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0],
                                     epilog="Example: tests/e2e/capsule/compiled.py")
    parser.add_argument("--build", default=str(ROOT / "build/release"))
    build = pathlib.Path(parser.parse_args().build).resolve()
    os.environ["GE_CACHE_DIR"] = "off"
    os.environ["GE_PROBE"] = "fixed"
    with tempfile.TemporaryDirectory() as folder:
        c = Checks(str(build / "bin/ge"), pathlib.Path(folder))
        rng = np.random.default_rng(SEED)
        weights = json.dumps(np.round(rng.standard_normal((64, 96)) * 0.05, 4).ravel().tolist())
        (c.folder / "rows.gt").write_text(ROWS.format(weights=weights))
        begins_at_once(c)
        other_shapes(c)
        pieces(c)
        opens_what_plans_name(c, build)
        misfits(c)
        asked_where_not_promised(c, build)
        saved_by_c(c, build)
        lies(c)
        flips(c)
        print(f"{c.passed} passed, {c.failed} failed, {c.skipped} skipped")
        return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
