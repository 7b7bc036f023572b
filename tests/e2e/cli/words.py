#!/usr/bin/env python3
"""Small mistakes, and the sentence that each is answered with: it names what was found, what is wanted
and what to do. Prints each fault and, last, the counts.

Example: tests/e2e/cli/words.py --build build/release
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "install"))
import installed  # noqa: E402
from installed import ROOT  # noqa: E402

HEAD = 'ge 1\nopset "" 28\nopset "acme" 1\n'
NOBODY = 65534


def model(body, params="x: f32[2,4]", results="y", more=""):
    return f'{HEAD}{more}fn main({params}) -> ({results}) {{\n{body}}}\nentry infer "main" = main\n'


class Words(installed.Checks):
    def __init__(self, build, folder):
        super().__init__()
        self.build, self.folder = build, folder
        self.ge, self.odd = build / "bin/ge", build / "lib/samples/odd.so"

    def call(self, *words, before=(), env=None):
        done = subprocess.run([*map(str, before), str(self.ge), *map(str, words)], cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=120, check=False,
                              env={**os.environ, **(env or {})})
        return done.returncode, done.stdout

    def says(self, code, texts, *words, never=(), **more):
        found, said = self.call(*words, **more)
        texts = [texts] if isinstance(texts, str) else texts
        good = found == code and all(t in said for t in texts) and not any(t in said for t in never)
        self.check(good, " ".join(map(str, words))[:150], f"exit {found}, wanted {code}\n{said}")
        return said

    def file(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def value(self, *words, before=()):
        """The output y of a run; None where it fails, with what was said."""
        code, said = self.call("run", *words, "--output", "out", before=before)
        return (np.load(self.folder / "out/y.npy") if code == 0 else None), said


def command_lines(c):
    all_names = "they are: run, explain, dump, plugins, ops, passes, compile, replay, bisect, isolate, reduce, tune, bench, train, data, plugin;"
    c.says(2, ["ge: 'frob' is no subcommand of ge; they", all_names, "ge --help says more"], "frob")
    for wrong, right in (("trian", "train"), ("rnu", "run"), ("expl", "explain"), ("Dump", "dump"),
                         ("plugin-s", "plugins")):
        c.says(2, [f"'{wrong}' is no subcommand of ge; did you mean '{right}'? "], wrong, "x.onnx")
    c.says(2, ["'nwe' is no subcommand of ge plugin; did you mean 'new'? ", "they are: new;"],
           "plugin", "nwe", "engine", "x")
    c.says(2, "A subcommand is required")
    c.says(0, "Exit codes", "--help")
    c.file("m.gt", model("  y = Relu(x)\n"))
    numbers = {"run": ("--seed", "--threads", "--repeat", "--warmup", "--max-streams"),
               "bench": ("--seed", "--concurrency"),
               "train": ("--seed", "--epochs", "--batch", "--steps", "--eval-every",
                         "--checkpoint-every", "--warmup", "--accumulate")}
    for command, options in numbers.items():
        for option in options:
            c.says(2, f"{option}: -1 is below 0, wanted a whole number from 0", command, "m.gt",
                   option, "-1", never=("18446744073709551615", "4294967295"))
    c.says(2, "--concurrency: -3 is below 0", "bench", "m.gt", "--concurrency", "2,-3")
    c.says(2, "--seed", "run", "m.gt", "--seed", "1.5")
    c.says(0, "", "run", "m.gt", "--seed", "18446744073709551615")


def made_up(c):
    """Sizes of inputs that nobody gives."""
    n = 'symbol N in 4..64 multiple 2\n'
    shapes = ((n, "x: f32[N]", (), "is random, 4 (sizes that are free"),
              ('symbol N in 0..64 multiple 6\n', "x: f32[N]", (), "is random, 6 ("),
              ('symbol N in 5..64 multiple 4\n', "x: f32[N]", (), "is random, 8 ("),
              ('symbol N in 0..0\n', "x: f32[N]", (), "is random, 0 ("),
              ("", "x: f32[N]", (), "is random, 1 ("),
              (n, "x: f32[2*N+1]", (), "is random, 9 ("),
              (n, "x: f32[N], z: f32[3]", (), "'z' is random, 3\n"))
    for symbols, params, given, wanted in shapes:
        c.file("n.gt", model("  y = Relu(x)\n", params, more=symbols))
        c.says(0, wanted, "run", "n.gt", *given)
    c.file("n.gt", model("  y = Add(x, z)\n", "x: f32[N,M], z: f32[N,M]", more=n))
    c.says(0, "'z' is random, 6x1 (", "run", "n.gt", "--input", "x=6x1:rand")
    c.says(0, "'x' is random, 8x3 (", "run", "n.gt", "--input", "z=8x3:zeros")
    c.says(2, "dim 'N' would be 5, wanted", "run", "n.gt", "--input", "x=5x1:rand")
    # The numbers of a seed do not depend on which inputs are named.
    c.file("n.gt", model("  y = Add(x, z)\n", "x: f32[2,3], z: f32[2,3]"))
    a, said = c.value("n.gt")
    b, _ = c.value("n.gt", "--input", "z=2x3:rand")
    c.check(a is not None and np.array_equal(a, b), "the same numbers", said)


def plugins(c):
    engines = "engine 'foo' is not loaded; found: native, onednn, openblas, ref; ge plugins"
    c.file("m.gt", model("  y = Relu(x)\n"))
    c.says(3, engines, "run", "m.gt", "--engines", "foo", never=("grad",))
    c.says(3, "plugin 'foo' is not loaded; found: data, grad, parallel; ge plugins", "run", "m.gt", "--plugins", "foo")
    said = {"ThrowingInfer": (3, ["node 'odd one'", "infer of acme.ThrowingInfer (plugin '",
                                  "it threw oops; no exception may leave a plugin"]),
            "ThrowNumber": (3, ["node 'odd one'", "it threw what is no std::exception"]),
            "ThrowingKernel": (3, ["'odd one'", "it threw kernel oops"]),
            "ThrowingParts": (2, ["it threw parts oops", "acme.ThrowingParts"]),
            "FarOutput": (2, ["node 'odd one'", "it called ge_infer.output for output 5, and there "
                              "are 1: 1 of the operator, 1 of the node"]),
            "NoDtype": (2, ["node 'odd one'", "for output 0 with dtype 99, rank -1"])}
    for op, (code, texts) in said.items():
        c.file("p.gt", model(f'  y = acme.{op}(x) "odd one"\n'))
        c.says(code, texts, "run", "p.gt", "--plugins", c.odd, never=("no reason given", "unexpected"))
    throwing = c.build / "lib/samples/throwing.so"
    for call, name in (("create", "engine_create"), ("devices", "devices"), ("query", "query"),
                       ("compile", "compile"), ("enqueue", "enqueue")):
        # What does not compile is an offer less: then nobody takes the node.
        c.says(2 if call == "compile" else 3, [f"engine 'throwing' failed in {name} ", f"it threw oops in {call}; no exception"],
               "run", "m.gt", "--engines", f"{throwing}:at={call}", never=("unexpected",))
    c.says(0, "y", "run", "m.gt", "--engines", f"{throwing}:at=none")
    c.says(3, ["throw", "it threw oops in a pass"], "run", "m.gt", "--plugins", throwing, "--pass",
           "throw", never=("unexpected",))
    # An output that the operator has and the node omits.
    c.file("p.gt", model('  y = acme.TwoOutputs(x) "odd one"\n'))
    c.says(0, "y", "run", "p.gt", "--plugins", c.odd)
    # Parts of parts of parts; and such as never end.
    c.file("p.gt", model('  y = acme.Outer(x) "odd one"\n'))
    x = np.float32([[1, -2, 3, -4], [5, -6, 7, -8]])
    np.save(c.folder / "x.npy", x)
    y, text = c.value("p.gt", "--plugins", c.odd, "--input", "x=x.npy")
    c.check(y is not None and np.array_equal(y, -np.abs(4 * x)), "parts of parts of parts", text)
    for op, way in (("Itself", "acme.Itself -> acme.Itself"),
                    ("Ping", "acme.Ping -> acme.Pong -> acme.Ping")):
        c.file("p.gt", model(f'  y = acme.{op}(x) "odd one"\n'))
        for engines in ("", "ref"):
            c.says(3, ["'odd one'", f"decomposes into itself: {way}", "give it a kernel"], "run",
                   "p.gt", "--plugins", c.odd, *(["--engines", engines] if engines else []))


def pins(c):
    """An operator with a kernel that copies and parts that make four times as much."""
    x = np.float32([[1, -2, 3, -4], [5, -6, 7, -8]])
    np.save(c.folder / "x.npy", x)
    c.file("p.gt", model('  a = Relu(x) "before"\n  b = acme.Quadruple(a) "act"\n'
                         '  y = Neg(b) "after"\n'))
    words = ["p.gt", "--plugins", c.odd, "--input", "x=x.npy", "--pin"]
    for pin, factor in (("act=native", 4), ("act=ref", 4), ("act=odd", 1), ("Quadruple=native", 4),
                        ("act=native/cpu", 4), ("*=ref", 4), ("#2=native", 4)):
        y, said = c.value(*words, pin)
        c.check(y is not None and np.array_equal(y, -factor * np.maximum(x, 0)), f"--pin {pin}",
                f"{y}\n{said}")
    said = c.says(0, "expanded from Quadruple: it is pinned to native, which takes its parts",
                  "explain", *words, "act=native")
    c.check(len(re.findall(r"^.*\b(?:Mul|Add)\b.*native", said, re.M)) == 2, "native has both", said)
    c.says(2, ["node 'act'", "pinned to 'openblas/cpu', which makes no offer for it, nor for all of "
               "its parts: for this Mul"], "run", *words, "act=openblas")
    # A layout means the node as it is.
    c.says(2, ["'act'", "makes no offer for this Quadruple"], "run", *words,
           "act=native@blocked1x8")
    c.says(2, "a pin names the node 'atc', which the graph that is placed does not have", "run", *words, "atc=native")
    # Of ONNX's own operators as well.
    c.file("h.gt", 'ge 1\nopset "" 28\nfn main(x: f32[2,4]) -> (y) {\n  y = HardSwish(x) "act"\n}\n'
           'entry infer "main" = main\n')
    free, _ = c.value("h.gt", "--input", "x=x.npy", "--engines", "ref")
    for pin in ("act=ref", "act=native"):
        y, said = c.value("h.gt", "--input", "x=x.npy", "--pin", pin)
        c.check(y is not None and np.allclose(y, free, rtol=1e-6), f"HardSwish {pin}", said)


def copy_of_the_tree(c, name):
    """bin/ge and its plugins in a folder of their own."""
    prefix = c.folder / name
    (prefix / "bin").mkdir(parents=True)
    shutil.copy(c.build / "bin/ge", prefix / "bin/ge")
    shutil.copytree(c.build / "lib/graphengine", prefix / "lib/graphengine")
    for library in (c.build / "lib").glob("*.so*"):
        shutil.copy(library, prefix / "lib", follow_symlinks=False)
    return prefix


def folders(c):
    """A folder that was made for a run's outputs is gone where there are none; others stay."""
    c.file("m.gt", model("  y = Relu(x)\n"))
    (c.folder / "there").mkdir()
    for folder in ("new", "new/deep/", "there", "there/deep"):
        c.says(2, "cannot open 'no.onnx'", "run", "no.onnx", "--output", folder)
    c.check(not (c.folder / "new").exists() and (c.folder / "there").exists()
            and not (c.folder / "there/deep").exists(), "nothing is left", list(c.folder.iterdir()))
    c.says(0, "y", "run", "m.gt", "--output", "new/deep/")
    c.check((c.folder / "new/deep/y.npy").exists(), "with outputs it stays")


def unreadable(c):
    prefix = copy_of_the_tree(c, "tree")
    c.ge = prefix / "bin/ge"
    plugins_folder = prefix / "lib/graphengine"
    c.file("m.gt", model("  y = Relu(x)\n"))
    c.folder.chmod(0o755)
    run = ["run", c.folder / "m.gt"]
    as_nobody = {"before": ()}
    if os.geteuid() == 0 and shutil.which("setpriv"):
        as_nobody = {"before": ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}",
                                "--clear-groups"], "env": {"HOME": "/nonexistent"}}
    elif os.geteuid() == 0:
        return c.skip("root reads everything, and there is no setpriv")
    c.says(0, "", *run, **as_nobody)
    # A program that may be started and not read: the system hides from it where it lies.
    c.ge.chmod(0o711), prefix.chmod(0o711)
    c.says(0, "", *run, **as_nobody)
    templates = prefix / "share/graphengine/scaffold/engine"
    c.says(3, f"there is no folder '{templates}' of templates", "plugin", "new", "engine", "mine",
           **as_nobody)
    templates.mkdir(parents=True)
    (prefix / "share/graphengine").chmod(0)
    c.says(3, f"the folder '{templates}' of templates cannot be read: Permission denied", "plugin",
           "new", "engine", "mine", **as_nobody)
    missing = f"'{plugins_folder}' cannot be read: Permission denied"
    plugins_folder.chmod(0)
    c.says(3, ["no engine plugin was found", f"the folder of plugins {missing}"], *run, **as_nobody)
    c.says(3, ["'native' is not loaded", missing], *run, "--engines", "native", **as_nobody)
    c.says(3, ["refused", missing], "plugins", **as_nobody)
    plugins_folder.chmod(0o755)
    (prefix / "lib").chmod(0)
    c.says(3, ["no engine plugin was found", missing], *run, **as_nobody)
    (prefix / "lib").chmod(0o755)
    shutil.rmtree(plugins_folder)
    neither = f"neither '{prefix}/bin/graphengine' nor '{plugins_folder}'"
    c.says(3, ["no engine plugin was found", neither], *run, **as_nobody)
    c.says(3, ["'native' is not loaded", neither], *run, "--engines", "native", **as_nobody)
    return None


def without_proc(c):
    """By its path and by PATH, where /proc is an empty folder."""
    hide = 'mount -t tmpfs none /proc && cd "$1" && PATH="$2:$PATH" && shift 2 && exec "$@"'
    words = ["unshare", "--mount", "bash", "-euc", hide, "bash", c.folder, c.build / "bin"]
    if subprocess.run([*map(str, words), "true"], check=False, capture_output=True).returncode:
        return c.skip("mount namespaces are not allowed here")
    c.file("m.gt", model("  y = Relu(x)\n"))
    for ge in (c.build / "bin/ge", "ge"):
        c.ge = ge
        c.says(0, "y", "run", "m.gt", before=words)
        c.says(0, "native", "plugins", before=words)
    c.says(0, "", "plugin", "new", "engine", "mine", before=words)
    c.ge = c.build / "bin/ge-conform"
    if c.ge.exists():
        c.says(2, "--seed: -1 is below 0", c.build / "lib/samples/minimal.so", "--seed", "-1")
        c.says(0, "L0", c.build / "lib/samples/minimal.so", "--level", "L0", before=words)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    build = parser.parse_args().build.resolve()
    counts = installed.Checks()
    for part in (command_lines, made_up, plugins, pins, folders, unreadable, without_proc):
        with tempfile.TemporaryDirectory(prefix="ge-words.") as folder:
            c = Words(build, pathlib.Path(folder).resolve())
            part(c)
            counts.passed, counts.failed = counts.passed + c.passed, counts.failed + c.failed
            counts.skipped += c.skipped
    return counts.end()


if __name__ == "__main__":
    sys.exit(main())
