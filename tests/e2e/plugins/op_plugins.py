#!/usr/bin/env python3
"""Operators that plugins bring (tests/plugins/ops, sdk/samples/op): models of 20 nodes and more in ONNX, with
nodes of a domain of their own between ONNX's, run by `ge run --plugins` on every list of engines and
compared with plain answers in NumPy; without the plugin they are refused by a message that says what
to do. Each plugin that is not legal is refused by name.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))
import op_plugins_control  # noqa: E402
from ge_session import GeError, GeSession  # noqa: E402

ENGINES = ["ref", "native,ref", "onednn,ref", "openblas,native,ref", ""]
TYPES = {np.dtype("float32"): TensorProto.FLOAT, np.dtype("int64"): TensorProto.INT64}


class Model:
    """A graph under construction whose answer is computed beside it."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.initializers, self.inputs, self.given = [], [], [], {}
        self.count = 0

    def name(self, stem):
        self.count += 1
        return f"{stem}_{self.count}"

    def given_input(self, name, array, dims=None):
        """An input of the model; `dims` as it declares them."""
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[array.dtype],
                                                         dims or array.shape))
        self.given[name] = array
        return name, array

    def constant(self, array):
        name = self.name("c")
        self.initializers.append(numpy_helper.from_array(array, name))
        return name, array

    def add(self, op, inputs, answers, domain="", **attrs):
        """One node; `answers` what it gives, or a list of it."""
        many = isinstance(answers, list)
        outs = [self.name(op) for _ in (answers if many else [answers])]
        self.nodes.append(helper.make_node(op, [i[0] for i in inputs], outs, name=self.name("n"),
                                           domain=domain, **attrs))
        pairs = list(zip(outs, answers if many else [answers]))
        return pairs if many else pairs[0]

    def pad_with(self, x, least):
        """Plain nodes behind x, until there are so many."""
        while len(self.nodes) < least - 1:
            c = self.constant(np.float32(self.random.uniform(0.5, 1.5)))
            x = self.add("Mul", [x, c], x[1] * c[1])
            x = self.add("Abs", [x], np.abs(x[1]))
        return x

    def save(self, path, outputs):
        infos = [helper.make_tensor_value_info(name, TYPES[array.dtype], [None] * array.ndim)
                 for name, array in outputs]
        graph = helper.make_graph(self.nodes, "ops", self.inputs, infos, self.initializers)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18),
                                                          helper.make_opsetid("acme", 1),
                                                          helper.make_opsetid("sample", 1)],
                                    ir_version=9), path)
        return {name: array for name, array in outputs}


def f32(random, *dims):
    return random.standard_normal(dims).astype(np.float32)


def decomposed(m):
    """Mish, SquaredDifference, RmsNorm, Lerp, and the sample's Swish."""
    x = m.given_input("x", f32(m.random, 3, 5, 8), ["batch", 5, 8])
    for k in range(2):
        y = m.add("Mish", [x], x[1] * np.tanh(np.log1p(np.exp(x[1]))), "acme")
        w = m.constant(f32(m.random, 8, 8))
        y = m.add("MatMul", [y, w], y[1] @ w[1])
        scale = m.constant(f32(m.random, 8))
        epsilon = 0.25 if k else 1e-5
        root = np.sqrt((y[1] ** 2).mean(-1, keepdims=True) + epsilon)
        attrs = {"epsilon": epsilon} if k else {}
        y = m.add("RmsNorm", [y, scale], y[1] / root * scale[1], "acme", **attrs)
        b = m.constant(f32(m.random, 8))
        t = m.constant(np.float32(0.25))
        y = m.add("Add", [y, b], y[1] + b[1])
        y = m.add("Lerp", [y, x, t], y[1] + t[1] * (x[1] - y[1]), "acme")
        y = m.add("SquaredDifference", [y, x], (y[1] - x[1]) ** 2, "acme")
        x = m.add("Swish", [y], y[1] / (1 + np.exp(-2.0 * y[1])), "sample", beta=2.0)
    return [m.pad_with(x, 22)]


def kernels(m):
    """Rotate and Distances."""
    a = m.given_input("a", f32(m.random, 6, 16), ["n", 16])
    b = m.given_input("b", f32(m.random, 9, 16), ["m", 16])
    a = m.add("Tanh", [a], np.tanh(a[1]))
    b = m.add("Relu", [b], np.maximum(b[1], 0))
    a = m.add("Rotate", [a], np.roll(a[1].ravel(), 5).reshape(a[1].shape), "acme", by=5)
    d = m.add("Distances", [a, b],
              np.sqrt(((a[1][:, None] - b[1][None]) ** 2).sum(2)), "acme")
    r = m.add("Rotate", [d], np.roll(d[1].ravel(), 1).reshape(d[1].shape), "acme")
    return [m.pad_with(r, 22), d]


def data_sized(m):
    """Positive, RunLength, FirstRows, CountOf: sizes that the data decide, and what follows."""
    x = m.given_input("x", f32(m.random, 7, 6), ["n", 6])
    k = m.given_input("k", np.array(4, dtype=np.int64))
    i = m.given_input("i", m.random.integers(0, 4, 40), ["many"])
    x = m.add("Tanh", [x], np.tanh(x[1]))
    rows = m.add("FirstRows", [x, k], x[1][:4], "acme")
    rows = m.add("Sigmoid", [rows], 1 / (1 + np.exp(-rows[1])))
    two = m.constant(np.float32(0.5))
    rows = m.add("Sub", [rows, two], rows[1] - two[1])
    positive = m.add("Positive", [rows], rows[1][rows[1] > 0], "acme")
    positive = m.add("Exp", [positive], np.exp(positive[1]))
    starts = np.flatnonzero(np.r_[True, i[1][1:] != i[1][:-1]])
    lengths = np.diff(np.r_[starts, i[1].size])
    values, lengths = m.add("RunLength", [i], [i[1][starts], lengths], "acme")
    counts = m.add("CountOf", [values], np.bincount(values[1]), "acme")
    counts = m.add("Mul", [counts, counts], counts[1] ** 2)
    positive = m.pad_with(positive, 22)
    return [positive, lengths, counts, rows]


def stateful(m):
    """RunningMean and StepCount in one run; see Run.states for more."""
    x = m.given_input("x", f32(m.random, 8))
    y = m.add("RunningMean", [x], x[1], "acme", size=8, rate=0.25)
    y = m.add("StepCount", [y], y[1], "acme")
    return [m.pad_with(y, 22)]


PLUGINS = {decomposed: "decomposed,op", kernels: "kernels", data_sized: "data_sized",
           stateful: "stateful"}


class Run:
    def __init__(self, build, scratch):
        self.ge = build / "bin" / "ge"
        self.samples = build / "lib" / "samples"
        self.scratch = scratch
        self.passed = self.failed = 0

    def check(self, what, good, text=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {what}: {text}")

    def paths(self, names):
        return ",".join(str(self.samples / f"{n}.so") for n in names.split(",") if n)

    def call(self, *args, **more):
        return subprocess.run([self.ge, *map(str, args)], capture_output=True, text=True,
                              env={**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed", **more})

    def inputs(self, model):
        out = []
        for name, array in model.given.items():
            path = self.scratch / f"{name}.npy"
            np.save(path, array)
            out += ["--input", f"{name}={path}"]
        return out

    def equal(self, make, seed):
        m = Model(seed)
        path = self.scratch / f"{make.__name__}.onnx"
        answers = m.save(path, make(m))
        self.check(f"{make.__name__}: size of the model", len(m.nodes) >= 20, f"{len(m.nodes)} nodes")
        for engines in ENGINES:
            what = f"{make.__name__} on '{engines or 'all'}'"
            folder = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
            args = ["run", path, "--plugins", self.paths(PLUGINS[make]), "--output", folder]
            done = self.call(*args, *self.inputs(m), *(["--engines", engines] if engines else []))
            self.check(what, done.returncode == 0, done.stderr)
            for name, wanted in answers.items():
                got = np.load(folder / f"{name}.npy") if done.returncode == 0 else np.zeros(0)
                same = got.shape == wanted.shape and got.dtype == wanted.dtype and \
                    np.allclose(got, wanted, rtol=1e-5, atol=1e-5)
                self.check(f"{what}: {name}", same, f"{got.shape} {got.ravel()[:4]}, wanted "
                                                    f"{wanted.shape} {wanted.ravel()[:4]}")
        self.unknown(make, path, m)

    def unknown(self, make, path, m):
        """Without the plugin."""
        done = self.call("run", path, *self.inputs(m))
        said = "is not known" in done.stderr and "--plugins" in done.stderr
        self.check(f"{make.__name__} without its plugin", done.returncode == 2 and said,
                   f"{done.returncode} {done.stderr}")
        if make is kernels:
            return
        done = self.call("run", path, "--plugins", self.paths("kernels"), *self.inputs(m))
        said = "of this domain, which the model uses at version 1, the loaded plugins bring Rotate, " \
               "AddKept, Distances" in done.stderr
        self.check(f"{make.__name__} with another plugin of its domain",
                   done.returncode == 2 and said, f"{done.returncode} {done.stderr}")

    def chosen(self):
        """Who runs what: parts on the engines, kernels by the plugin's own."""
        m = Model(5)
        m.save(self.scratch / "who.onnx", kernels(m))
        done = self.call("run", self.scratch / "who.onnx", "--plugins", self.paths("kernels"),
                         "--json", *self.inputs(m))
        engines = json.loads(done.stdout)["engines"] if done.returncode == 0 else {}
        self.check("Rotate runs on its plugin's kernel", engines.get("kernels", 0) >= 2,
                   done.stderr + str(engines))
        done = self.call("explain", self.scratch / "who.onnx", "--plugins", self.paths("kernels"),
                         *self.inputs(m))
        self.check("explain names the plugin", "kernels" in done.stdout, done.stdout[-400:])

    def kept(self):
        """AddKept opens once for each node that is compiled, and every open has its close."""
        log, x = self.scratch / "kept.log", np.arange(4, dtype=np.float32)
        for by, wanted in ((2, 0), (13, 2)):
            text = ('ge 1\nopset "" 28\nopset "acme" 1\nfn main(x: f32[n]) -> (z) {\n'
                    f'  y = acme.AddKept(x) {{by={by}}}\n  z = acme.AddKept(y)\n}}\n'
                    'entry infer "main" = main\n')
            (self.scratch / "kept.gt").write_text(text)
            np.save(self.scratch / "x.npy", x)
            log.unlink(missing_ok=True)
            done = self.call("run", self.scratch / "kept.gt", "--plugins", self.paths("kernels"),
                             "--input", f"x={self.scratch / 'x.npy'}", "--output",
                             self.scratch / "kept", "--repeat", 3, GE_TEST_KEPT=str(log))
            lines = log.read_text().split() if log.exists() else []
            self.check(f"AddKept by {by}", done.returncode == wanted and
                       lines.count("open") == lines.count("close") and
                       (by == 13 or lines.count("open") == 2), f"{done.stderr} {lines}")
            if by == 13:
                self.check("the reason of open", "attribute by is 13" in done.stderr, done.stderr)
            else:
                found = np.load(self.scratch / "kept/z.npy")
                self.check("AddKept adds what it keeps", np.array_equal(found, x + 3), found)

    def states(self):
        """Three runs of one session go on where the last one ended; a second session begins anew."""
        m = Model(3)
        path = self.scratch / "states.onnx"
        m.save(path, stateful(m))
        x = m.given["x"]
        for engines in ENGINES:
            for _ in range(2):
                session = GeSession(path, library=self.samples.parent / "libgraphengine.so",
                                    plugins=self.paths("stateful"), engines=engines)
                mean = np.zeros(8, dtype=np.float32)
                for step in (1, 2, 3):
                    wanted = np.abs((x - mean) * step)
                    for c in m.initializers:
                        wanted = np.abs(wanted * numpy_helper.to_array(c))
                    got = session.run({"x": x})[0]
                    self.check(f"states on '{engines}', run {step}",
                               np.allclose(got, wanted, rtol=1e-5, atol=1e-6), f"{got} {wanted}")
                    mean += np.float32(0.25) * (x - mean)

    def control(self):
        plugins = self.paths("decomposed,data_sized,kernels,stateful")
        path = self.scratch / "control.onnx"

        def call(graph, given, *args):
            onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18),
                                                              helper.make_opsetid("acme", 1)],
                                        ir_version=9), path)
            m = Model(0)
            m.given = given
            return self.call("run", path, "--plugins", plugins, *self.inputs(m), *args)

        for name, (graph, given, answers) in op_plugins_control.EQUAL.items():
            for engines in ENGINES:
                folder = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
                done = call(graph, given, "--output", folder,
                            *(["--engines", engines] if engines else []))
                for output, wanted in answers.items():
                    got = np.load(folder / f"{output}.npy") if done.returncode == 0 else None
                    same = got is not None and got.shape == wanted.shape and \
                        np.allclose(got, wanted, rtol=1e-5, atol=1e-5)
                    self.check(f"{name} on '{engines}': {output}", same, f"{done.stderr} {got}")
        for name, ((graph, given, _), text) in op_plugins_control.REFUSED.items():
            done = call(graph, given)
            self.check(name, done.returncode == 2 and text in done.stderr, done.stderr)

    def listed(self):
        done = self.call("ops", "--json", "--plugins", self.paths("kernels,stateful"))
        ops = {op["domain"] + "." + op["name"]: op for op in json.loads(done.stdout)["ops"]}
        distances, mean = ops.get("acme.Distances", {}), ops.get("acme.RunningMean", {})
        self.check("ge ops lists them", distances.get("decomposes") and distances.get("kernel") and
                   mean.get("states") == 1 and ops["Conv" if "Conv" in ops else ".Conv"],
                   f"{distances} {mean}")

    def gradients(self):
        """A gradient rule, and what is said of one that answers what it may not."""
        path = self.scratch / "twice.gt"

        def gradient(fault, dims="N,4"):
            path.write_text('ge 1\nopset "" 28\nopset "acme" 1\n'
                            f"fn main(x: f32[{dims}]) -> (s) {{\n  t = Tanh(x)\n"
                            f'  y, z = acme.Twice(t) {{fault={fault}}} "act"\n  p = Mul(y, z)\n'
                            '  s = ReduceSum(p) {keepdims=0} "sum"\n}\nentry infer "main" = main\n')
            return GeSession(path, library=self.samples.parent / "libgraphengine.so", engines="ref",
                             plugins=f"grad,{self.paths('bad_grad')}", entry="grad",
                             passes="grad:wrt=x")
        x = f32(np.random.default_rng(2), 3, 4)
        session = gradient(0)
        got = session.run({"x": x})[1]
        session.close()
        wanted = 12 * np.tanh(x) * (1 - np.tanh(x) ** 2)
        self.check("a gradient rule", np.allclose(got, wanted, atol=1e-5), f"{got}, wanted {wanted}")
        by = ("node 'act': ", f"plugin '{self.paths('bad_grad')}'", "grad of acme.Twice")
        for fault, texts in GRAD_FAULTS.items():
            try:
                gradient(*fault).close()
                self.check(f"gradient rule with fault {fault}", False, "it was taken")
            except GeError as e:
                lacking = [t for t in (*by, "acme.Twice 'act' <- Tanh", *texts) if t not in str(e)]
                self.check(f"gradient rule with fault {fault}", not lacking, f"{e} lacks {lacking}")

    def refusals(self):
        x = ["--input", "x=2x2:rand"]
        m = Model(1)
        y = m.given_input("x", f32(m.random, 2, 2))
        k = m.constant(np.array(-1, dtype=np.int64))
        m.save(self.scratch / "k.onnx", [m.add("FirstRows", [y, k], y[1], "acme")])
        done = self.call("run", self.scratch / "k.onnx", "--plugins", self.paths("data_sized"), *x)
        said = "kernel of acme.FirstRows" in done.stderr and "k is below zero" in done.stderr
        self.check("a kernel's own refusal", done.returncode != 0 and said, done.stderr)
        m = Model(1)
        y = m.given_input("x", f32(m.random, 2, 2, 2))
        k = m.constant(np.array(1, dtype=np.int64))
        m.save(self.scratch / "r.onnx", [m.add("FirstRows", [y, k], y[1], "acme")])
        done = self.call("run", self.scratch / "r.onnx", "--plugins", self.paths("data_sized"))
        said = "infer of acme.FirstRows" in done.stderr and "rank two" in done.stderr
        self.check("infer's own refusal", done.returncode == 2 and said, done.stderr)
        twice = f"{self.paths('decomposed')},{self.paths('bad_op_twice')}"
        done = self.call("run", self.scratch / "k.onnx", "--plugins", twice, *x)
        self.check("an operator of two plugins", "has brought already" in done.stderr, done.stderr)
        done = self.call("run", self.scratch / "k.onnx", "--plugins", self.paths("minimal"), *x)
        self.check("an engine among the plugins", "neither operators nor passes" in done.stderr,
                   done.stderr)
        done = self.call("run", self.scratch / "k.onnx", "--engines", self.paths("op"), *x)
        self.check("operators among the engines", "has no engine" in done.stderr, done.stderr)
        for fault, text in FAULTS.items():
            path = self.samples / f"bad_op_{fault}.so"
            done = self.call("run", self.scratch / "k.onnx", "--plugins", path, *x)
            self.check(f"bad operator {fault}", text in done.stderr,
                       f"{done.returncode} {done.stderr}")


# Of tests/plugins/ops/bad_grad.c, by the attribute and the shape of x: what the refusal says.
GRAD_FAULTS = {
    (1,): ["PLUGIN_ERROR", "gave value 9999 for the gradient of input 0; wanted 0, one that"],
    (2, "3,4"): ["PLUGIN_ERROR", "gave f32[1,1] for the gradient of input 0; the input is f32[3,4]"],
    (2,): ["PLUGIN_ERROR", "gave f32[1,1] for the gradient of input 0; the input is f32[", ",4]"],
    (3,): ["UNSUPPORTED", "answers GE_UNIMPLEMENTED for this node: three halves have no slope"],
    (4,): ["PLUGIN_ERROR", "MatMul"],
    (5,): ["PLUGIN_ERROR", "failed with code", "the rule has lost its way"],
    (6,): ["PLUGIN_ERROR", "gave bool[", "for the gradient of input 0; the input is f32["]}
# Of tests/plugins/ops/bad.c, by -DFAULT: what the refusal says.
FAULTS = {"no_infer": "infer is NULL", "no_way": "decompose and kernel are NULL",
          "our_domain": "wanted a domain of the plugin's own", "no_name": "its name ''",
          "variadic_first": "is variadic, but not the last",
          "state_apart": "wanted the same names in the same order",
          "no_states": "`states` is NULL", "data_and_parts": "exclude each other",
          "no_version": "version is 0", "attr_kind": "is of kind 99",
          "dtype_bit": "input 0 ('x') has dtypes 0x1, whose bit 0 stands for no dtype; wanted a bit "
                       "1u << GE_F32",
          "high_bit": "whose bit 40 stands for no dtype", "short_record": "bytes",
          "no_ops": "0 operators"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        run = Run(args.build, pathlib.Path(scratch))
        for seed, make in enumerate(PLUGINS):
            run.equal(make, seed)
        run.kept()
        run.states()
        run.chosen()
        run.gradients()
        run.listed()
        run.control()
        run.refusals()
    print(f"{run.passed} passed, {run.failed} failed, 0 skipped")
    return run.failed != 0


if __name__ == "__main__":
    sys.exit(main())
