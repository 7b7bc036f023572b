#!/usr/bin/env python3
"""Pictures of ge explain --plot, checked against ge explain --json and against geometry.

Every node is drawn once, the legend lists the devices that the plan uses and no other, every edge
between two segments carries a price, and segments and boundaries add up to the predicted time. No
two boxes overlap and no edge runs through a box. A refused command leaves no file.
Needs build/models/lenet.onnx and minilm.onnx. Prints each fault and, last, the counts.

Examples:
  tests/e2e/cli/plot.py
  tests/e2e/cli/plot.py --keep pictures
"""
import argparse
import collections
import json
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[3]
SVG = "{http://www.w3.org/2000/svg}"
DEVSIM = "ref,{build}/lib/samples/devsim.so:take=60;price=30;link_latency_ns=50;link_gbps=1000"


class Fault(Exception):
    """What is wrong with one picture."""


def ge(build, *args):
    return subprocess.run([str(build / "bin/ge"), *map(str, args)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace")


def draw(build, model, picture, *args):
    """Draws `model`; returns the root of the picture and the report of --json."""
    done = ge(build, "explain", model, "--json", "--prices", "analytic", "--plot", picture, *args)
    if done.returncode != 0:
        raise Fault(f"exit {done.returncode}: {done.stderr.strip()}")
    return xml.etree.ElementTree.parse(picture).getroot(), json.loads(done.stdout)


def of_class(root, name, tag="g"):
    return [e for e in root.iter(SVG + tag) if name in e.get("class", "").split()]


def check_nodes(root, report):
    drawn = collections.Counter((n.get("data-name"), n.get("data-op"))
                                for n in of_class(root, "node"))
    wanted = collections.Counter((n["node"], n["op"]) for n in report["nodes"])
    if drawn != wanted:
        raise Fault(f"nodes drawn and not in the plan {drawn - wanted}, the reverse "
                    f"{wanted - drawn}")
    prices = {(n["node"], n["op"]): n["chosen"] for n in report["nodes"]}
    for node in of_class(root, "node"):
        chosen = prices[node.get("data-name"), node.get("data-op")]
        if list(drawn.values()).count(1) == len(drawn) and \
                abs(float(node.get("data-price-ns")) - chosen["price_ns"]) > 0.01:
            raise Fault(f"{node.get('data-name')} is drawn with {node.get('data-price-ns')} ns, "
                        f"the table says {chosen['price_ns']}")
        title = node.find(SVG + "title").text
        if node.get("data-name") not in title or chosen["source"] not in title:
            raise Fault(f"the tooltip of {node.get('data-name')} lacks its name or the source of "
                        f"its price: {title}")


def check_legend(root, report):
    listed = sorted(d.get("data-device") for d in of_class(root, "device"))
    used = {n["chosen"]["device"] for n in report["nodes"]}
    converters = {r.get("data-device") for r in of_class(root, "region")}
    if listed != sorted(used | converters) or listed != sorted(set(listed)):
        raise Fault(f"the legend lists {listed}, the plan uses {sorted(used)}")


def check_prices(root):
    """Returns how many edges cross."""
    segment = {n.get("data-name"): n.get("data-segment") for n in of_class(root, "node")}
    crossing = of_class(root, "cross", "path")
    edges = [e for e in root.iter(SVG + "path") if e.get("data-from") is not None]
    for edge in edges:
        a, b = segment.get(edge.get("data-from")), segment.get(edge.get("data-to"))
        if a is not None and b is not None and a != b and edge.get("data-boundary-ns") is None:
            raise Fault(f"the edge {edge.get('data-from')} -> {edge.get('data-to')} goes from "
                        f"segment {a} to {b} and has no price")
    crossing = [e for e in crossing if e.get("data-from") is not None]
    labels = [t for t in of_class(root, "cross-fill", "text") if t.text]
    if len(labels) != len(crossing):
        raise Fault(f"{len(crossing)} edges cross, {len(labels)} prices are written")
    total = sum(float(r.get("data-price-ns")) for r in of_class(root, "region"))
    total += sum(float(e.get("data-boundary-ns")) for e in crossing)
    predicted = float(root.get("data-predicted-ns"))
    if abs(total - predicted) > 1e-3 * max(1.0, predicted) / 100 + 0.01 * len(edges):
        raise Fault(f"segments and boundaries add up to {total} ns, predicted are {predicted}")
    return len(crossing)


def boxes(root):
    """(name, left, top, right, bottom) of every box that is drawn."""
    out = []
    for kind in ("node", "input", "output"):
        for group in of_class(root, kind):
            rects = [r for r in group.iter(SVG + "rect") if "bar" not in r.get("class")]
            at = [[float(r.get(k)) for k in ("x", "y", "width", "height")] for r in rects]
            out.append((group.get("data-name"), min(a[0] for a in at), min(a[1] for a in at),
                        max(a[0] + a[2] for a in at), max(a[1] + a[3] for a in at)))
    return out


def points(d):
    """Points along a path of M, V, H, C and Q."""
    x = y = 0.0
    for op, text in re.findall(r"([MVHCQ])([^MVHCQ]*)", d):
        v = [float(t) for t in text.split()]
        if op == "M":
            x, y = v
            yield x, y
            continue
        ends = {"V": (x, v[0]), "H": (v[0], y)}.get(op, tuple(v[-2:]))
        inner = [tuple(v[i:i + 2]) for i in range(0, len(v) - 2, 2)] if op in "CQ" else []
        control = [(x, y), *inner, ends]
        for k in range(1, 17):
            t, p = k / 16, control
            while len(p) > 1:
                p = [(a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t)
                     for a, b in zip(p, p[1:])]
            yield p[0]
        x, y = ends


def check_geometry(root):
    placed = sorted(boxes(root), key=lambda b: b[2])
    for i, (name, left, top, right, bottom) in enumerate(placed):
        if left < 0 or right > float(root.get("width")) or bottom > float(root.get("height")):
            raise Fault(f"{name} is drawn outside the picture")
        for other, l, t, r, b in placed[i + 1:]:
            if t >= bottom:
                break
            if l < right and r > left and t < bottom and b > top:
                raise Fault(f"the boxes of {name} and {other} overlap")
    tops = [b[2] for b in placed]
    highest = max((b[4] - b[2] for b in placed), default=0)
    for edge in root.iter(SVG + "path"):
        if edge.get("data-from") is None:
            continue
        for x, y in points(edge.get("d")):
            first = next((i for i, t in enumerate(tops) if t > y - highest), len(placed))
            for name, left, top, right, bottom in placed[first:]:
                if top >= y:
                    break
                if left + 0.2 < x < right - 0.2 and top + 0.2 < y < bottom - 0.2:
                    raise Fault(f"the edge {edge.get('data-from')} -> {edge.get('data-to')} runs "
                                f"through the box of {name}")


def check_picture(root, report):
    check_nodes(root, report)
    check_legend(root, report)
    crossing = check_prices(root)
    check_geometry(root)
    return crossing


HEAD = "ge 1\nmodule \"{}\"\nopset \"\" 28\nfn main(a: f32[16,16]) -> ({}) {{\n"


def random_graph(seed, n, reach):
    """A graph of n nodes whose inputs are among the `reach` last values."""
    rng = random.Random(seed)
    text, unread, names = [], [], ["a"]
    for i in range(n):
        pick = [rng.choice(names[-reach:]) for _ in range(2)]
        op = rng.choice(["Add", "Mul", "MatMul", "Relu", "Softmax"])
        if op in ("Relu", "Softmax"):
            pick = pick[:1]
        text.append(f"  t{i}: f32[16,16] = {op}({', '.join(pick)})")
        unread = [u for u in unread if u not in pick] + [f"t{i}"]
        names.append(f"t{i}")
    return HEAD.format("random", ", ".join(unread)) + "\n".join(text) + "\n}\nentry infer \"main\" = main\n"


def hostile_names():
    names = ['<&>\\"]]>', "\\x01\\x02 \\xff\\xfe", "\\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80",
             "'" + 300 * "long", "\\xc3\\xa4\\n\\xe2\\x82\\xac", "\\xef\\xbf\\xbf"]
    lines, last = [], "a"
    for i, name in enumerate(names):
        lines.append(f'  t{i}: f32[16,16] = Relu({last}) "{name}"')
        last = f"t{i}"
    return HEAD.format("<title>&", last) + "\n".join(lines) + "\n}\nentry infer \"main\" = main\n"


class Cases:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.devsim = DEVSIM.format(build=build)

    def write(self, name, text):
        path = self.folder / f"{name}.gt"
        path.write_text(text)
        return path

    def case_lenet(self):
        root, report = draw(self.build, ROOT / "build/models/lenet.onnx",
                            self.folder / "lenet.svg", "--engines", "native,onednn,ref")
        check_picture(root, report)
        if len(report["nodes"]) != 12:
            raise Fault(f"lenet has 12 nodes, {len(report['nodes'])} are reported")

    def case_pinned(self):
        root, report = draw(self.build, ROOT / "build/models/lenet.onnx",
                            self.folder / "pinned.svg", "--engines", "native,onednn,ref", "--pin",
                            "MaxPool_5=ref")
        crossing = check_picture(root, report)
        if crossing != 2:
            raise Fault(f"a node of a chain runs elsewhere: 2 edges cross, {crossing} are drawn so")

    def case_minilm(self):
        root, report = draw(self.build, ROOT / "build/models/minilm.onnx",
                            self.folder / "minilm.svg", "--engines", "native,onednn,ref", "--input",
                            "ids=1x16:rand")
        check_picture(root, report)
        ratio = float(root.get("width")) / float(root.get("height"))
        if not 0.5 < ratio < 4:
            raise Fault(f"a long picture was not folded well: width / height is {ratio:.2f}")

    def case_two_memories(self):
        root, report = draw(self.build, ROOT / "build/models/lenet.onnx",
                            self.folder / "devsim.svg", "--engines", self.devsim)
        if check_picture(root, report) == 0:
            raise Fault("devsim has a memory of its own, but no edge crosses")
        labels = [t.text for t in of_class(root, "cross-fill", "text")]
        if not any(t.startswith("copy ") for t in labels):
            raise Fault(f"no copy is priced: {labels}")

    def case_random(self):
        for seed, n, reach in [(1, 40, 3), (2, 90, 8), (3, 150, 40), (4, 60, 60), (5, 600, 2)]:
            model = self.write(f"random{seed}", random_graph(seed, n, reach))
            for engines in ("native,onednn,ref", self.devsim):
                picture = self.folder / f"random{seed}-{engines[:3]}.svg"
                try:
                    check_picture(*draw(self.build, model, picture, "--engines", engines))
                except Fault as fault:
                    raise Fault(f"seed {seed}, {n} nodes, {engines}: {fault}") from fault

    def case_hostile_names(self):
        model = self.write("hostile", hostile_names())
        picture = self.folder / "hostile.svg"
        root, report = draw(self.build, model, picture, "--engines", "ref")
        drawn = [n.get("data-name") for n in of_class(root, "node")]
        names = [n["node"] for n in report["nodes"]]
        if len(drawn) != len(names) or drawn[0] != '<&>"]]>' or drawn[3] != names[3]:
            raise Fault(f"drawn are {drawn}, the plan has {names}")
        check_geometry(root)

    def refused(self, picture, code, words, *args):
        done = ge(self.build, "explain", *args, "--plot", picture)
        if done.returncode != code or words not in done.stderr:
            raise Fault(f"exit {done.returncode}, wanted {code}; {words!r} is not in: "
                        f"{done.stderr.strip()}")
        left = [p.name for p in self.folder.rglob("refused*")]
        if left:
            raise Fault(f"a refused command left {left}")

    def case_refused(self):
        lenet = ROOT / "build/models/lenet.onnx"
        self.refused(self.folder / "refused.png", 2, "does not end with .svg", lenet)
        self.refused(self.folder / "refused.svg", 2, "cannot", self.folder / "no_such.onnx")
        self.refused(self.folder / "nowhere/refused.svg", 2, "cannot write", lenet)
        self.refused(self.folder / "refused.svg", 2, "no input 'y'", lenet, "--input", "y=1:rand")

    def case_kept(self):
        """A refused command leaves the older picture as it was."""
        old = self.folder / "kept.svg"
        old.write_text("old")
        done = ge(self.build, "explain", self.folder / "no_such.onnx", "--plot", old)
        if done.returncode == 0 or old.read_text() != "old":
            raise Fault("the older picture was touched")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the pictures")
    args = parser.parse_args()
    folder = args.keep or pathlib.Path(tempfile.mkdtemp(prefix="ge-plot-"))
    folder.mkdir(parents=True, exist_ok=True)
    cases = Cases(args.build.resolve(), folder)
    passed = failed = 0
    for name in sorted(n for n in dir(Cases) if n.startswith("case_")):
        try:
            getattr(cases, name)()
            passed += 1
        except (Fault, xml.etree.ElementTree.ParseError, OSError) as fault:
            failed += 1
            print(f"FAILED {name[5:]}: {fault}")
    if not args.keep:
        shutil.rmtree(folder)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
