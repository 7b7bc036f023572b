#!/usr/bin/env python3
"""`ge reduce`: faults on purpose in random graphs of 500 nodes become at most ten nodes that fail for the
same reason, from the file that is read back. `ge isolate`: drawn segments replay with the recorded bits.
Plugins are built from tests/plugins/planted.

Prints each fault and, last, the counts.

Example: tests/e2e/capsule/reduce.py --build build/release --segments 50
"""
import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
NODES, MOST = 500, 10
LAST_ROW, IGNORES, CRASHES, HANGS, FAILS, NANS, ABORTS = 3, 4, 5, 6, 7, 8, 9  # of planted/engine.c
# What stands in the midst of the graph, {x} an earlier value; its last line is a value for later ones. Products
# have six rows, but this one has five.
PARTS = {
    "product": ['s = Slice({x}, c0, c5) "faulty/cut"', 'p = MatMul(s, w) "faulty/product"',
                'v = Concat(p, z) {{axis=0}} "faulty/join"'],
    "slope": ['v = LeakyRelu({x}) {{alpha=0.5}} "faulty/slope"'],
    "sum": ['a = Tanh({x}) "faulty/left"', 'b = Cos({x}) "faulty/right"', 'v = Add(a, b) "faulty/sum"'],
    "root": ['g = Tanh({x}) "faulty/small"', 'a = Cos(g) "faulty/left"', 'b = Exp(g) "faulty/right"',
             'd = Add(a, b) "faulty/sum"', 'v = Sqrt(d) "faulty/root"'],
    "pattern": ['a = Cos({x}) "faulty/left"', 'b = Exp(x1) "faulty/right"', 'd = Add(a, b) "faulty/sum"',
                'v = Relu(d) "faulty/rectified"'],
}


def net(seed, part):
    """Text of a graph of 500 nodes, whose values stay small."""
    r = random.Random(seed)
    at, values, lines = r.randrange(150, 350), ["x0", "x1"], []
    while len(lines) < NODES:
        i, a, b = len(lines), r.choice(values[-12:]), r.choice(values[-12:])
        if part and i >= at:
            lines += [line.format(x=a) for line in PARTS[part]]
            values.append("v")
            part = None
            continue
        kind = r.random()
        if kind < 0.3:
            lines.append(f'v{i} = {r.choice(["Tanh", "Sin", "Abs", "Neg"])}({a}) "layer{i}"')
        elif kind < 0.7 and a != b:
            lines.append(f'v{i} = {r.choice(["Sub", "Max", "Min"])}({a}, {b}) "layer{i}"')
        elif kind < 0.8:
            lines += [f'p{i} = MatMul({a}, w) "product{i}"', f'v{i} = Tanh(p{i}) "curve{i}"']
        else:
            lines.append(f'v{i} = Tanh({a}) "layer{i}"')
        values.append(f"v{i}")
    lines = lines[:NODES]
    read = set(re.findall(r"\w+", " ".join(line.split(" = ")[1].split(' "')[0] for line in lines)))
    results = [line.split(" = ")[0] for line in lines if line.split(" = ")[0] not in read]
    body = "\n".join("  " + line for line in lines)
    return ('ge 1\nopset "" 28\nconst c0 : i64[1] = [0]\nconst c5 : i64[1] = [5]\n'
            "const z : f32[1,8] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]\n"
            f"fn main(x0: f32[6,8], x1: f32[6,8], w: f32[8,8]) -> ({', '.join(results)}) {{\n{body}\n}}\n"
            'entry infer "main" = main\n')


class Checks:
    def __init__(self, ge, folder):
        self.ge, self.folder, self.passed, self.failed = ge, folder, 0, 0

    def check(self, good, name, found=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    {str(found).strip()[-1500:]}")

    def run(self, *words):
        return subprocess.run([self.ge, *map(str, words)], capture_output=True, text=True, cwd=self.folder,
                              timeout=300)

    def built(self, source, fault, rows=0):
        name = f"{source}_{fault}_{rows}"
        done = subprocess.run(["cc", "-std=c11", "-O1", "-shared", "-fPIC", f"-DFAULT={fault}", f"-DROWS={rows}",
                               f"-I{ROOT}/sdk/include", ROOT / f"tests/plugins/planted/{source}.c", "-o",
                               self.folder / f"{name}.so"], capture_output=True, text=True)
        self.check(done.returncode == 0, f"{name} is built", done.stderr)
        return f"./{name}.so"

    def reduced(self, name, *words):
        done = self.run("reduce", *words, "--json")
        try:
            return done.returncode, json.loads(done.stdout)
        except json.JSONDecodeError:
            self.check(False, f"{name}: JSON", done.stdout + done.stderr)
            return done.returncode, {}


# Part of the graph, plugin, its fault, rows of the products that have it; what is said, of which node, of how
# many nodes.
FAULTS = [
    ("product", "engine", LAST_ROW, 0, "mismatch", "faulty/product", 1),
    ("slope", "engine", IGNORES, 0, "mismatch", "faulty/slope", 1),
    ("sum", "pass", 1, 0, "mismatch", "faulty/sum", 1),
    ("pattern", "pass", 3, 0, "mismatch", "faulty/rectified", 2),
    ("root", "pass", 1, 0, "nan", "faulty/root", MOST),
    ("product", "engine", NANS, 5, "nan", "faulty/product", 1),
    ("product", "engine", CRASHES, 5, "signal", "faulty/product", 1),
    ("product", "engine", ABORTS, 5, "signal", "faulty/product", 1),
    ("product", "engine", HANGS, 5, "hang", "faulty/product", 1),
    ("product", "engine", FAILS, 5, "error", "faulty/product", 1),
]


def ten_faults(c):
    for seed, (part, source, fault, rows, kind, node, most) in enumerate(FAULTS):
        name = f"{kind} of a {source} in {part}"
        (c.folder / "net.gt").write_text(net(seed, part))
        plugin = c.built(source, fault, rows)
        flags = ["--plugins", plugin] if source == "pass" else ["--engines", f"{plugin},ref"]
        code, said = c.reduced(name, "net.gt", "-o", "small.gecap", "--seconds-per-trial", 3, *flags)
        c.check(code == 0 and said["kind"] == kind and said["node"] == node and said["in_time"] and
                said["nodes_before"] == NODES and said["nodes_after"] <= most, f"{name} is reduced", said)
        print(f"  {name:<32} {said.get('nodes_before')} -> {said.get('nodes_after')} nodes, "
              f"{said.get('trials')} trials, {said.get('seconds', 0):.1f} s")
        if kind == "hang":
            continue
        done = c.run("replay", "small.gecap", *flags)
        c.check(done.returncode == 1 if kind in ("mismatch", "nan") else done.returncode not in (0, 1),
                f"{name}: its replay shows it", done.stdout + done.stderr)
        done = c.run("replay", "small.gecap", "--engines", "ref")
        c.check(done.returncode == 0, f"{name}: on ref all is well", done.stdout + done.stderr)


def other_ways(c):
    """From a recorded run, as a case, as an ONNX model by a command; what is refused."""
    (c.folder / "net.gt").write_text(net(1, "product"))
    wrong, right = (f"{c.built('engine', fault)},ref" for fault in (LAST_ROW, 0))
    done = c.run("dump", "net.gt", "--values", "-o", "net.gecap", "--engines", wrong, "--policy", "priority")
    c.check(done.returncode == 0, "the run is recorded", done.stderr)
    done = c.run("reduce", "net.gecap", "-o", "small.gt", "--engines", wrong)
    c.check(done.returncode == 0 and re.search(r"small.gt: 500 -> 1 nodes in \d+ trials, .* s: mismatch at "
                                               r"'faulty/product': 'p' differs in ", done.stdout) and
            not done.stderr, "a recorded run becomes a case", done.stdout + done.stderr)
    done = subprocess.run([c.ge.parent / "ge-test", "small.gt"], capture_output=True, text=True, cwd=c.folder)
    c.check(done.returncode == 0, "which holds elsewhere", done.stdout)
    (c.folder / "judge.sh").write_text("case $(cat \"$1\") in *faulty/product*) exit 7 ;; esac\n")
    done = c.run("reduce", "net.gecap", "-o", "small.onnx", "--check", "sh judge.sh {}")
    c.check(done.returncode == 0 and done.stdout.strip().endswith("check at 'faulty/product': the command ends "
                                                                  "with 7"),
            "a command judges ONNX models", done.stdout + done.stderr)
    (c.folder / "kept.gecap").write_text("kept")
    code, said = c.reduced("sound", "net.gecap", "-o", "kept.gecap", "--engines", right)
    c.check(code == 1 and said["written"] is None and (c.folder / "kept.gecap").read_text() == "kept" and
            "the fault does not show: on " in said["why"], "of a sound engine nothing is written", said)
    code, said = c.reduced("late", "net.gecap", "-o", "late.gecap", "--engines", wrong, "--seconds", 0.1)
    c.check(code == 0 and said["written"] == "late.gecap", "what failed so far is written in the end", said)
    for code, text, words in (
            (2, "wanted F.gecap, F.gt or, with --check, F.onnx", ["net.gecap", "-o", "small.txt"]),
            (2, "which has no place for the inputs that show the fault", ["net.gecap", "-o", "small.onnx"]),
            (2, "wanted a command with {} where the file goes",
             ["net.gecap", "-o", "small.onnx", "--check", "true"]),
            (3, "engine 'planted' is not loaded", ["net.gecap", "-o", "small.gecap"]),
            (2, "no-such.gecap", ["no-such.gecap", "-o", "small.gecap"])):
        done = c.run("reduce", *words)
        c.check(done.returncode == code and text in done.stderr, f"'{text}' is said",
                f"exit {done.returncode}\n{done.stdout + done.stderr}")


def segments(c, count):
    """Drawn segments of recorded runs, each as a file of its own, replay bit by bit."""
    models = ROOT / "build/models"
    (c.folder / "random.gt").write_text(net(3, "sum"))
    drawn = []
    alone = ["--no-fuse"]
    for i, (model, flags) in enumerate((
            (models / "lenet.onnx", []), (models / "lenet.onnx", alone), (models / "mlp.onnx", alone),
            (models / "tinychain.onnx", alone), (c.folder / "random.gt", []), (c.folder / "random.gt", alone))):
        done = c.run("dump", model, "--values", "-o", f"whole{i}.gecap", *flags)
        c.check(done.returncode == 0, f"{model.name} is recorded", done.stderr)
        drawn += [(i, s) for s in range(40)]
    random.Random(54).shuffle(drawn)
    done_so_far = 0
    for i, segment in drawn:
        if done_so_far == count:
            break
        done = c.run("isolate", f"whole{i}.gecap", f"#{segment}", "-o", "piece.gecap")
        if "is not there" in done.stderr or "is a copy" in done.stderr:
            continue
        name = f"segment {segment} of whole{i}"
        c.check(done.returncode == 0, f"{name} is isolated", done.stderr)
        done = c.run("replay", "piece.gecap", "--json")
        found = json.loads(done.stdout or "{}")
        c.check(done.returncode == 0 and found.get("compared", 0) > 0 and
                found["compared"] == found["equal"], f"{name} replays bit by bit", done.stdout + done.stderr)
        done = c.run("replay", "piece.gecap", "--engines", "ref")
        c.check(done.returncode == 0, f"{name} is placed anew on ref", done.stdout + done.stderr)
        done_so_far += 1
    c.check(done_so_far == count, f"{count} segments are drawn", done_so_far)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--segments", type=int, default=10)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ge-reduce-test.") as folder:
        c = Checks(args.build.resolve() / "bin" / "ge", pathlib.Path(folder))
        ten_faults(c)
        other_ways(c)
        segments(c, args.segments)
    print(f"{c.passed} passed, {c.failed} failed, 0 skipped")
    return c.failed != 0


if __name__ == "__main__":
    sys.exit(main())
