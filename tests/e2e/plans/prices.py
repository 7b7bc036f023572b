#!/usr/bin/env python3
"""Prices are corrected by measurement: engines of known speed, made from the minimal sample, state
prices that are wrong, tenfold at all sizes or threefold at one, and are found out. Their speed is
that of a clock of the test's own (virtual_clock.c), so that a busy machine changes nothing.

Needs a C compiler and the built `ge`. Prints each fault and, last, the counts.

Example: tests/e2e/plans/prices.py --build build/release
"""
import argparse
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools/bench/plans"))
import price_rows  # noqa: E402

ELEMENTS = 4096
MODEL = f"""ge 1
opset "" 28
fn main(a: f32[{ELEMENTS}], b: f32[{ELEMENTS}], c: f32[{ELEMENTS}]) -> (y) {{
  s = Add(a, b) "first"
  m = Mul(s, c) "middle"
  y = Add(m, a) "last"
}}
entry infer "main" = main
"""
LOOP = "  for (uint64_t i = 0; i < l->out[0].bytes"
# What a node takes on each engine, in us.
TAKES = {"quick": 50, "slow": 200}
PRICE = "    cost.marginal_ns = (uint64_t)(count < 0 ? 0 : count) * e->percent / 100;\n"
# Engines of one price and one time for each of two sizes, far apart: (asks, takes) in us of an Add.
# The honest one is the fastest, asked too little once and asks 2.6 times too much at the other size.
SIZES = {"small": 1024, "large": 65536}
CURVES = {"honest": {"small": (10, 30), "large": (1040, 400)},
          "rival": {"small": (40, 40), "large": (1000, 1000)},
          "under": {"small": (40, 40), "large": (20, 2000)}}


class Checks:
    """Counts and the first words of each fault."""

    def __init__(self, ge, folder):
        self.ge, self.folder, self.model = ge, folder, folder / "model.gt"
        self.model.write_text(MODEL)
        self.passed = self.failed = 0
        self.clock = folder / "virtual_clock.so"
        subprocess.run(["cc", "-std=c11", "-O2", "-shared", "-fPIC",
                        ROOT / "tests/e2e/plans/virtual_clock.c", "-o", self.clock], check=True)

    def env(self, cache, probe):
        return {**os.environ, "GE_CACHE_DIR": str(cache), "GE_PROBE": probe, "GE_LOG_LEVEL": "2",
                "LD_PRELOAD": str(self.clock)}

    def check(self, good, name, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}\n    " + str(detail).strip().replace("\n", "\n    "))

    def run(self, command, engines, *args, cache, probe="fixed", model=None):
        """(the JSON object or {}, stderr) of a subcommand of ge."""
        env = self.env(cache, probe)
        engines = [str(e) for e in engines]
        done = subprocess.run(
            [self.ge, command, model or self.model, "--engines", ",".join(engines), "--threads", "1",
             "--json", *args], env=env, capture_output=True, text=True, timeout=120, check=False)
        self.check(done.returncode == 0, f"ge {command} {' '.join(args)}", done.stderr)
        return json.loads(done.stdout) if done.returncode == 0 else {}, done.stderr

    def explain(self, engines, *args, **how):
        return self.run("explain", engines, *args, **how)[0]

    def tune(self, engines, *args, cache, probe, code=0):
        """What ge tune prints."""
        env = self.env(cache, probe)
        done = subprocess.run(
            [self.ge, "tune", "--engines", ",".join(map(str, engines)), "--threads", "1", *args],
            env=env, capture_output=True, text=True, timeout=120, check=False)
        self.check(done.returncode == code, f"ge tune {' '.join(args)}", done.stderr)
        return done.stdout


def build(folder, name, source):
    """The sample's source under another name, as an engine."""
    assert source.count('{"minimal", 7}') == 1
    source = source.replace('{"minimal", 7}', f'{{"{name}", {len(name)}}}')
    (folder / f"{name}.c").write_text("void pass_ns(long ns);\n" + source)
    subprocess.run(["cc", "-std=c11", "-O2", "-shared", "-fPIC", f"-I{ROOT / 'sdk/include'}",
                    f"{name}.c", "-o", f"{name}.so"], cwd=folder, check=True)
    return folder / f"{name}.so"


def build_engine(folder, name):
    """The minimal sample under another name, which takes TAKES us a node."""
    source = (ROOT / "sdk/samples/minimal/minimal.c").read_text()
    assert source.count(LOOP) == 1
    return build(folder, name, source.replace(LOOP, f"  pass_ns({1000 * TAKES[name]});\n{LOOP}"))


def build_curve(folder, name):
    """The minimal sample under another name, with the prices and times of CURVES."""
    curve, source = CURVES[name], (ROOT / "sdk/samples/minimal/minimal.c").read_text()
    assert source.count(PRICE) == 1 and source.count(LOOP) == 1
    asks, takes = ([1000 * curve[size][i] for size in SIZES] for i in (0, 1))
    source = source.replace(PRICE, f"    cost.marginal_ns = count > {SIZES['small']} ? {asks[1]} : "
                                   f"{asks[0]};\n")
    return build(folder, name, source.replace(
        LOOP, f"  pass_ns(l->out[0].bytes > {4 * SIZES['small']} ? {takes[1]} : {takes[0]});\n"
              f"{LOOP}"))


def devices(told):
    return {n["chosen"]["device"].split("/")[0] for n in told.get("nodes", [])}


def true_ns(c, engine):
    """What one node takes on an engine, in ns, by --prices measure."""
    told = c.explain([f"{engine}:price=100"], "--prices", "measure", cache="off")
    times = [n["measured_ns"] for n in told.get("nodes", [])]
    c.check(len(times) == 3 and all(t and t > 0 for t in times), "measured_ns of every node", told)
    return min(times)


def check_underbidder(c, quick, slow):
    """Displaced after one run: a second session with the same cache takes the other."""
    cache = c.folder / "underbid"
    told = c.explain([quick, slow], cache=cache)
    c.check(devices(told) == {"slow"}, "the underbidder wins at first", told)
    c.check(all(n["price_source"] == "analytic" for n in told["nodes"]), "an empty cache", told)
    ran, _ = c.run("run", [quick, slow], cache=cache)
    c.check(ran.get("engines") == {"slow": 3}, "the plan of a session is frozen", ran)
    c.check(price_rows.rows(cache), "the run was remembered")
    told = c.explain([quick, slow], cache=cache)
    c.check(devices(told) == {"quick"}, "the underbidder is displaced after one run", told)
    told = c.explain([slow], cache=cache)
    for n in told["nodes"]:
        c.check(n["price_source"] == "measured" and 9 < n["price_ns"] / n["analytic_ns"] < 11
                and abs(n["chosen"]["factor"] - n["price_ns"] / n["analytic_ns"]) < 0.01,
                f"{n['node']}: corrected about tenfold", n)
    told = c.explain([quick, slow], "--prices", "analytic", cache=cache)
    c.check(devices(told) == {"slow"}, "analytic prices do not know the cache", told)
    before = [f.read_bytes() for f in sorted(cache.iterdir())]
    ran, _ = c.run("run", [quick, slow], "--prices", "shipped", cache=cache)
    c.check(ran.get("engines") == {"slow": 3}, "nor do those that ship", ran)
    c.check(before == [f.read_bytes() for f in sorted(cache.iterdir())], "and they leave it alone")


def check_probe(c, quick, slow):
    """A session times nothing; `ge tune` times engines on a sample of work: who underbids is found
    out before anything ran."""
    cache = c.folder / "probed"
    told = c.explain([quick, slow], cache=cache, probe="quiet")
    c.check(devices(told) == {"slow"} and not list(cache.glob("*.*")),
            "a session times nothing", told)
    c.tune([quick, slow], cache=cache, probe="quiet")
    told = c.explain([quick, slow], "--prices", "analytic", cache=cache, probe="quiet")
    c.check(devices(told) == {"slow"}, "analytic prices know nothing of it", told)
    told = c.explain([quick, slow], "--prices", "shipped", cache=cache, probe="quiet")
    c.check(devices(told) == {"slow"}, "nor do those that ship", told)
    told = c.explain([quick, slow], cache=cache, probe="quiet")
    c.check(devices(told) == {"quick"}, "what was tuned finds the underbidder", told)
    c.check(all(n["price_source"] == "table" for n in told["nodes"]), "and says so", told)
    files = price_rows.files(cache)
    c.check(len(files) == 1 and price_rows.rows(cache), "its rows are kept", files)
    told = json.loads(c.tune([quick, slow], "--json", cache="off", probe="quiet"))
    c.check(told["offers_measured"] >= 16 and told["kept_in"] == "" and not told["busy"],
            "without a folder nothing is kept", told)
    told = c.explain([quick, slow], cache="off", probe="quiet")
    c.check(devices(told) == {"slow"}, "as is seen", told)
    shipped = c.folder / "shipped"
    for _ in range(2):
        c.tune([quick, slow], "--export", str(shipped), cache="off", probe="quiet")
    sets = [json.loads(f.read_bytes())["sets"] for f in (shipped / "priors").glob("*.json")]
    check_rows(c, [*(shipped / "priors").glob("*.json"), *(ROOT / "share/graphengine/priors").glob("*.json")])
    machines = json.loads((shipped / "machines.json").read_bytes())
    c.check(len(sets) == 1 and len(sets[0]) == 1 and len(machines) == 1, "one set a machine", sets)
    c.check(sum(len(e["rows"]) for e in sets[0][0]["engines"]) >= 4, "with its rows", sets)


def check_rows(c, files):
    """Each row of priors is a line, in what is written and in what ships."""
    for file in files:
        lines = {line.rstrip(",") for line in file.read_text().splitlines()}
        rows = [r for s in json.loads(file.read_bytes())["sets"] for e in s["engines"]
                for r in e["rows"].items()]
        texts = [f"{json.dumps(name)}: {json.dumps(row, separators=(',', ':'))}" for name, row in rows]
        c.check(texts and lines.issuperset(texts), f"{file.name}: a row a line",
                [t for t in texts if t not in lines][:3])


def check_overbidder(c, quick, slow):
    """Found by --prices measure, not by running the plan that leaves it out."""
    cache = c.folder / "overbid"
    c.run("run", [quick, slow], cache=cache)
    told = c.explain([quick, slow], cache=cache)
    c.check(devices(told) == {"slow"}, "who overbids is left out", told)
    told, note = c.run("explain", [quick, slow], "--prices", "measure", "--measure-budget", "0",
                       cache=c.folder / "none")
    c.check(devices(told) == {"slow"} and told["offers_measured"] == 0 and told["offers_left"] > 0,
            "no budget, no measurement", told)
    c.check("measured 0 offers" in note, "the budget is printed", note)
    told = c.explain([quick, slow], "--prices", "measure", cache=cache)
    c.check(devices(told) == {"quick"}, "who overbids is found by --prices measure", told)
    ran, _ = c.run("run", [quick, slow], "--prices", "measure", cache="off")
    c.check(ran.get("engines") == {"quick": 3}, "also without a cache folder", ran)


def check_replan(c, quick, slow):
    """A session changes its plan only where the caller allows it."""
    ran, _ = c.run("run", [quick, slow], "--repeat", "40", cache="off")
    c.check(ran.get("engines") == {"slow": 3} and ran.get("replans") == 0, "frozen", ran)
    ran, _ = c.run("run", [quick, slow], "--repeat", "40", "--replan", cache="off")
    c.check(ran.get("engines") == {"quick": 3} and ran.get("replans") == 1, "re-planned once", ran)
    ran, _ = c.run("run", [quick, slow], "--repeat", "40", "--replan", "--prices", "analytic",
                   cache="off")
    c.check(ran.get("engines") == {"quick": 3}, "re-planned from analytic prices", ran)


def check_files(c, quick):
    """A cache that is damaged or cannot be written is no error."""
    cache = c.folder / "damaged"
    c.run("run", [quick], cache=cache)
    files = price_rows.files(cache)
    c.check(len(files) == 1, "one file of prices", files)
    whole = files[0].read_bytes()
    later = whole[:8] + bytes([9]) + whole[9:]
    for bad in [whole[:20], b"\xff\xfe{]", later]:
        files[0].write_bytes(bad)
        told, text = c.run("explain", [quick], cache=cache)
        c.check(all(n["price_source"] == "analytic" for n in told["nodes"]), "ignored", told)
        c.check("is ignored" in text, "and said so", text)
        if bad is later:
            c.check(files[0].read_bytes() == later, "what a later release wrote stays")
            files[0].unlink()
        c.run("run", [quick], cache=cache)
        told, text = c.run("explain", [quick], cache=cache)
        c.check("is ignored" not in text and told["nodes"][0]["price_source"] == "measured",
                "written anew", text)
    files[0].write_bytes(b"")
    told, text = c.run("explain", [quick], cache=cache)
    c.check("is ignored" not in text and told["nodes"][0]["price_source"] == "analytic",
            "an empty file is one that is being made", text)
    c.run("run", [quick], cache=cache)
    c.check(price_rows.rows(cache), "and is filled")
    left = [p.name for p in cache.iterdir() if p.name.endswith(".part")]
    c.check(not left, "no temporary file stays", left)
    blocked = c.folder / "file"
    blocked.write_text("not a folder\n")
    for where in [blocked, blocked / "inside", "/proc/nowhere"]:
        _, text = c.run("run", [quick], cache=where)
        c.check("cache" not in text, f"{where}: no word about it", text)


def check_sizes(c):
    """An honest engine that asked too little at one size is not locked out at another, where it asks
    too much and is the fastest."""
    engines = {name: build_curve(c.folder, name) for name in CURVES}
    models = {}
    for size, n in SIZES.items():
        models[size] = c.folder / f"{size}.gt"
        models[size].write_text(f'''ge 1
opset "" 28
fn main(a: f32[{n}], b: f32[{n}]) -> (y) {{
  y = Add(a, b) "sum"
}}
entry infer "main" = main
''')
    once = c.folder / "sizes"
    c.run("run", [engines["honest"]], "--repeat", "5", cache=once, model=models["small"])

    def large(command, names, *args):
        """With a cache of that one sample."""
        cache = c.folder / f"sizes.{len(list(c.folder.iterdir()))}"
        shutil.copytree(once, cache)
        return c.run(command, [engines[n] for n in names], *args, cache=cache,
                     model=models["large"])[0]

    told = c.explain([engines["honest"]], cache=once, model=models["small"])
    factor = told["nodes"][0]["chosen"]["factor"]
    c.check(2.8 < factor < 3.2, "what one sample says of its own size", told)
    told = large("explain", ["honest", "rival"])
    bids = {b["device"].split("/")[0]: b for b in told["nodes"][0]["bids"]}
    c.check(bids["honest"]["factor"] < 1.6 and devices(told) == {"rival"},
            "and of one that is 64 times larger", told)
    ran = large("run", ["honest", "rival"], "--repeat", "40")
    c.check(ran.get("engines") == {"rival": 1} and ran.get("replans") == 0, "frozen", ran)
    ran = large("run", ["honest", "rival"], "--repeat", "40", "--replan")
    c.check(ran.get("engines") == {"honest": 1} and ran.get("replans") == 1,
            "--replan tries who is within four times of the plan", ran)
    ran = large("run", ["honest", "rival", "under"], "--repeat", "3", "--prices", "measure")
    c.check(ran.get("engines") == {"honest": 1},
            "--prices measure tries who is, once the underbidder is found out", ran)


def doubtful_rows(cache):
    """(doubtful ones, all) of the cache's prices, as they stand after the last run."""
    last = {}
    for row in price_rows.rows(cache):
        known = last.setdefault(price_rows.key(row), dict(row))
        for bit, name in ((1, "alone"), (2, "inside")):  # sound samples replace doubtful ones
            if row[name][1] and (not known[name][1] or known["doubts"] & bit):
                known[name], known["doubts"] = row[name], known["doubts"] & ~bit | row["doubts"] & bit
    return sum(row["doubts"] != 0 for row in last.values()), len(last)


def check_busy(c, quick, slow):
    """What is measured on a busy machine is doubtful, and taken again once it is quiet."""
    cache = c.folder / "busy"
    text = c.tune([quick, slow], cache=cache, probe="busy")
    c.tune([quick, slow], "--export", str(c.folder / "unexported"), cache="off", probe="busy", code=3)
    c.check(not (c.folder / "unexported").exists(), "and nothing is exported")
    doubtful, rows = doubtful_rows(cache)
    c.check(rows > 0 and doubtful == rows, "rows of a busy machine are doubtful", (doubtful, rows))
    c.check("the machine is busy: these prices are doubtful" in text, "and that is said", text)
    files = sorted(cache.glob("*.json"))
    machine = [f for f in files if f.name.startswith("machine-")]
    c.check(len(machine) == 1 and json.loads(machine[0].read_bytes()).get("doubtful") is True,
            "so is the record of the machine", files)
    c.run("run", [quick, slow], "--repeat", "5", cache=cache, probe="busy")
    doubtful, rows = doubtful_rows(cache)
    c.check(doubtful == rows, "runs on a busy machine are doubtful, too", (doubtful, rows))
    c.tune([quick, slow], cache=cache, probe="quiet")
    told, _ = c.run("explain", [quick, slow], cache=cache, probe="quiet")
    doubtful, again = doubtful_rows(cache)
    c.check(again >= rows and doubtful < rows / 4, "a quiet one is measured", (doubtful, again))
    c.check(devices(told) == {"quick"}, "and the underbidder is found out", told)
    c.check(json.loads(machine[0].read_bytes()).get("doubtful") is False, "the machine, too")


def check_lock(c, quick):
    """Somebody else holds the lock of the cache: the session does without, and says so to who asks."""
    cache = c.folder / "locked"
    c.run("run", [quick], cache=cache)
    prices = price_rows.files(cache)[0]
    before = prices.read_bytes()
    with open(prices, "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = [c.ge, "run", c.model, "--engines", quick, "--threads", "1", "--repeat", "5"]
        env = c.env(cache, "quiet")  # whose clock goes on while it waits
        try:
            done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60,
                                  check=False)
            c.check(done.returncode == 0 and "another process held the lock" in done.stderr,
                    "a lock that is held: said so", done.stderr)
        except subprocess.TimeoutExpired:
            c.check(False, "a lock that is held", "ge run still waits for it after 60 s")
    c.check(prices.read_bytes() == before, "a lock that is held: nothing is written")
    c.run("run", [quick], "--repeat", "5", cache=cache)
    c.check(prices.read_bytes() != before, "and afterwards it is")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.environ.get("GE_BUILD", "build/release"))
    ge = (ROOT / parser.parse_args().build).resolve() / "bin" / "ge"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        c = Checks(ge, folder)
        paths = {engine: build_engine(folder, engine) for engine in TAKES}
        true = {engine: true_ns(c, path) for engine, path in paths.items()}
        for engine, ns in true.items():
            print(f"{engine}: {ns:.0f} ns a node")
        c.check(all(TAKES[e] <= ns / 1000 < TAKES[e] + 2 for e, ns in true.items()),
                "the engines are as they should be", true)

        def at(engine, share):
            return f"{paths[engine]}:price={max(1, round(100 * share * true[engine] / ELEMENTS))}"

        check_underbidder(c, at("quick", 1), at("slow", 0.1))
        check_probe(c, at("quick", 1), at("slow", 0.1))
        check_overbidder(c, at("quick", 10), at("slow", 1))
        check_replan(c, at("quick", 1), at("slow", 0.1))
        check_files(c, at("quick", 1))
        check_lock(c, at("quick", 1))
        check_sizes(c)
        check_busy(c, at("quick", 1), at("slow", 0.1))
    print(f"{c.passed} passed, {c.failed} failed, 0 skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
