#!/usr/bin/env python3
"""Sessions beside a device that is slower than it says: what they learn, and where later plans go.

devsim hides 100 us of each visit and copies at half of the speed that it tells. It takes at least so
long, whatever else the machine does; so all that is compared are decisions, and learned times with
the least that they can be. No bound is one of a clock. On a busy machine what runs show counts as
doubtful, for a quarter: each bound is one for each case.

Example: tests/e2e/engines/device_time.py --build build/release
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
LATE_NS = 100_000
LATENCY_NS, GBPS, TOLD_GBPS = 1, 10, 20
BYTES = 4 << 20  # of the large tensor
SMALL = """ge 1
opset "" 28
const weights : f32[128,128] = splat 0.01
fn main(x: f32[16,128]) -> (y) {
  a = MatMul(x, weights) "product"
  b = Add(a, a) "sum"
  y = Relu(b) "last"
}
entry infer "main" = main
"""
LARGE = """ge 1
opset "" 28
fn main(x: f32[1024,1024]) -> (y) {
  y = Relu(x) "only"
}
entry infer "main" = main
"""


class Checks:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.passed = self.failed = 0
        for name, text in (("small", SMALL), ("large", LARGE)):
            (folder / f"{name}.gt").write_text(text)

    def expect(self, what, good, found):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED: {what}; found {found}")

    def device(self, **more):
        options = {"wrap": "native", "price": 1, "round_trip_ns": LATE_NS, "paced": 1,
                   "link_latency_ns": LATENCY_NS, "link_gbps": GBPS, "link_told": TOLD_GBPS, **more}
        text = ";".join(f"{key}={value}" for key, value in options.items())
        return f"{self.build / 'lib/samples/devsim.so'}:{text}"

    def run_ge(self, words, cache):
        environment = {**os.environ, "GE_CACHE_DIR": str(cache), "GE_PROBE": "fixed"}
        done = subprocess.run([str(self.build / "bin/ge"), *words, "--json"], capture_output=True,
                              text=True, env=environment, timeout=120, check=False)
        if done.returncode != 0:
            sys.exit(f"FAILED: ge {' '.join(words)}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def ge(self, command, model, engines, cache, *options):
        return self.run_ge([command, str(self.folder / f"{model}.gt"), "--engines", engines,
                            *options], cache)

    def session(self, model, engines, cache):
        return self.ge("run", model, engines, cache, "--repeat", "40")

    def links(self, model, engines, cache, *options):
        report = self.ge("explain", model, engines, cache, *options)
        return report, {(l["from"], l["to"]): l for l in report["links"]}


def leaves(c):
    """A net of microseconds: told, it pays on the device; learned, it does not."""
    cache = c.folder / "leaves"
    both = f"{c.device()},native,ref"
    first = c.session("small", both, cache)
    c.expect("the first session believes what it is told", first["engines"].get("devsim", 0) == 3,
             first["engines"])
    c.session("small", both, cache)
    third = c.session("small", both, cache)
    c.expect("after two sessions no node stays", third["engines"].get("devsim", 0) == 0,
             third["engines"])
    report, links = c.links("small", both, cache)
    back = links[("devsim/sim:0", "host")]
    least = LATE_NS * {"measured": 0.95, "doubtful": 0.2}.get(back["wait_source"], 9)
    c.expect("the wait is learned", back["wait_ns"] >= least, back)
    c.expect("the way to the device has none", links[("host", "devsim/sim:0")]["wait_ns"] == 0,
             links)
    c.expect("what is predicted is native's", report["predicted_ns"] < least, report["predicted_ns"])
    told, links = c.links("small", both, cache, "--prices", "analytic")
    c.expect("analytic prices know nothing of it", not links, links)
    c.expect("and take the device", all(n["chosen"]["device"].startswith("devsim")
                                        for n in told["nodes"]), told["nodes"])


def learns_links(c):
    """Alone on a device: the prediction comes up to what was simulated."""
    cache = c.folder / "links"
    alone = c.device()
    told = c.links("large", alone, cache)[0]["predicted_ns"]
    for _ in range(2):
        run = c.session("large", alone, cache)
    c.expect("it has the node", run["engines"] == {"devsim": 1}, run["engines"])
    report, links = c.links("large", alone, cache)
    for way, link in links.items():
        c.expect(f"{way} is learned", link["source"] in ("measured", "doubtful"), link)
        c.expect(f"{way} says what was told", link["told_bytes_per_ns"] == TOLD_GBPS, link)
        time = link["latency_ns"] + BYTES / link["bytes_per_ns"]
        least = BYTES / GBPS * {"measured": 0.9, "doubtful": 0.55}.get(link["source"], 9)
        c.expect(f"{way} is half as fast as told", time >= least, link)
    sure = all(l["source"] == "measured" and l["wait_source"] in ("measured", "none")
               for l in links.values())
    simulated = LATE_NS + 2 * BYTES / GBPS
    c.expect("the plan's prediction is that of the simulated device",
             report["predicted_ns"] >= (0.9 * simulated if sure else told), report["predicted_ns"])
    c.expect("and was less as told", told < simulated, told)


def tunes(c):
    """`ge tune` measures the same before any run."""
    cache, alone = c.folder / "tuned", c.device()
    c.run_ge(["tune", "--engines", alone, "--measure-budget", "50"], cache)
    _, links = c.links("large", alone, cache)
    for way, link in links.items():
        time = link["latency_ns"] + BYTES / link["bytes_per_ns"]
        c.expect(f"{way} is tuned", link["source"] == "measured" and time >= 0.9 * BYTES / GBPS,
                 link)
    back = links[("devsim/sim:0", "host")]
    c.expect("the wait is tuned", back["wait_ns"] >= 0.9 * LATE_NS, back)


def stays(c):
    """Where it pays, it stays: beside an engine that is far slower than 100 us."""
    cache = c.folder / "stays"
    both = f"{c.device(ops='MatMul')},ref"
    model = c.folder / "wide.gt"
    model.write_text(SMALL.replace("[128,128]", "[512,512]").replace("[16,128]", "[256,512]"))
    for _ in range(3):
        run = c.session("wide", both, cache)
    c.expect("a product of plain loops goes to the device", run["engines"].get("devsim", 0) >= 1,
             run["engines"])


def fixed(c):
    """Without a cache folder nothing is learned."""
    both = f"{c.device()},native,ref"
    for _ in range(2):
        run = c.session("small", both, "off")
        c.expect("each session plans as the first", run["engines"].get("devsim", 0) == 3,
                 run["engines"])
    links = c.links("small", both, "off")[1]
    c.expect("links are as told", all(l["source"] == "told" and l["wait_source"] == "none"
                                      for l in links.values()), links)
    links = c.links("small", "native,ref", c.folder / "leaves")[1]
    c.expect("plans of the host's engines have no links", not links, links)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checks = Checks(args.build.resolve(), pathlib.Path(folder))
        for case in (leaves, learns_links, tunes, stays, fixed):
            case(checks)
    print(f"{checks.passed} passed, {checks.failed} failed, 0 skipped")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
