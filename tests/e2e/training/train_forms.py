#!/usr/bin/env python3
"""Nets in the forms in which PyTorch's exporters write them, without PyTorch: weights and running
statistics that were written once since their first values are equal, one norm that is applied twice,
nodes in training mode, quantization. Each is trained beside the same net written plainly: the same
bits. And what `ge train --export` makes of them."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, reference

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools" / "bench"), str(ROOT / "tests/e2e/training")]
from ge_session import GeError  # noqa: E402
from train_pass import Session  # noqa: E402

STEPS, SAMPLES = 4, 6
KIND = "pkg.torch.export.graph_signature.InputSpec.kind"
OPTIONS = "loss=softmax-ce;optimizer=adam;lr=0.05;momentum=0"
ONES, ZEROS = np.ones(4, np.float32), np.zeros(4, np.float32)


def random(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32) / 2


class Net:
    """x [N, 4] through nodes to z [N, 3]."""

    def __init__(self, nodes, inits, x=(TensorProto.FLOAT, ["N", 4])):
        self.nodes, self.inits, self.x, self.kinds = nodes, dict(inits), x, {}

    def save(self, path):
        graph = helper.make_graph(
            self.nodes, "net", [helper.make_tensor_value_info("x", *self.x)],
            [helper.make_tensor_value_info("z", TensorProto.FLOAT, ["N", 3])],
            [numpy_helper.from_array(v, k) for k, v in self.inits.items()])
        for name, kind in self.kinds.items():
            info = graph.value_info.add(name=name)
            info.metadata_props.add(key=KIND, value=kind)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)],
                                    ir_version=9), path)
        return path


def node(op, inputs, outputs, **attrs):
    return helper.make_node(op, inputs.split(), outputs.split(), name=f"n_{outputs.split()[0]}",
                            **attrs)


def dense():
    return {"w1": random(1, 4, 4), "w2": random(2, 4, 4), "w3": random(3, 4, 3)}


def norms(first, second, **attrs):
    """Two BatchNormalizations; what each reads behind its input."""
    outputs = " m{0} v{0}" if attrs.get("training_mode") else ""
    return [node("MatMul", "x w1", "a"),
            node("BatchNormalization", "a " + first, "b" + outputs.format(1), **attrs),
            node("Tanh", "b", "c"), node("MatMul", "c w2", "d"),
            node("BatchNormalization", "d " + second, "e" + outputs.format(2), **attrs),
            node("Tanh", "e", "f"), node("MatMul", "f w3", "z")]


APART = {"b1.weight": ONES, "b1.bias": ZEROS, "b1.mean": ZEROS, "b1.var": ONES,
         "b2.weight": ONES, "b2.bias": ZEROS, "b2.mean": ZEROS, "b2.var": ONES}
FIRST, SECOND = "b1.weight b1.bias b1.mean b1.var", "b2.weight b2.bias b2.mean b2.var"


def apart(**attrs):
    return Net(norms(FIRST, SECOND, **attrs), {**dense(), **APART})


def by_identity():
    """As PyTorch writes it with dynamo=False: the first of equal ones, and Identity of it."""
    names = [k for k in APART if k not in ("b1.weight", "b1.bias")]
    same = [helper.make_node("Identity", ["b1.weight" if k.endswith(("weight", "var")) else "b1.bias"],
                             [k], name=f"Identity_{i}") for i, k in enumerate(names)]
    return Net(same + norms(FIRST, SECOND), {**dense(), "b1.weight": ONES, "b1.bias": ZEROS})


def merged():
    """As its optimizer merges with dynamo=True: no name is left but the first."""
    one = "b1.weight b1.bias b1.bias b1.weight"
    return Net(norms(one, one), {**dense(), "b1.weight": ONES, "b1.bias": ZEROS})


class Checks:
    def __init__(self, scratch, ge):
        self.scratch, self.ge, self.passed, self.failed = scratch, ge, 0, 0

    def check(self, name, good, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}: {detail}")

    def batches(self, ints=False):
        r = np.random.default_rng(7)
        for _ in range(STEPS):
            x = r.integers(0, 5, (SAMPLES, 4)) if ints else r.standard_normal((SAMPLES, 4))
            yield {"x": x if ints else x.astype(np.float32), "label": r.integers(0, 3, SAMPLES)}

    def run(self, net, options="", ints=False, engines="ref"):
        """Losses, what eval says before and behind, and all states."""
        path = net.save(self.scratch / "net.onnx")
        session = Session(path, f"{OPTIONS};{options}", engines=engines)
        batches = list(self.batches(ints))
        losses = [float(session.named(b)["loss"]) for b in batches]
        session.enter("eval")
        evals = [session.named(batches[0]) for _ in range(2)]
        states = {k: session.state(k) for k in session.states()}
        session.close()
        self.check("eval says the same twice", np.array_equal(evals[0]["z"], evals[1]["z"]))
        return losses, evals[0], states

    def same(self, title, found, wanted, renamed=None):
        renamed = renamed or {}
        self.check(f"{title}: losses", found[0] == wanted[0], f"{found[0]}, wanted {wanted[0]}")
        self.check(f"{title}: eval", np.array_equal(found[1]["z"], wanted[1]["z"]))
        mine = {renamed.get(k, k): v for k, v in found[2].items()}
        self.check(f"{title}: states", sorted(mine) == sorted(wanted[2]),
                   f"{sorted(mine)}, wanted {sorted(wanted[2])}")
        for key in set(mine) & set(wanted[2]):
            self.check(f"{title}: {key}", np.array_equal(mine[key], wanted[2][key]))

    def refused(self, title, net, options, *parts):
        path = net.save(self.scratch / "net.onnx")
        try:
            Session(path, f"{OPTIONS};{options}").close()
            return self.check(title, False, "it was not refused")
        except GeError as e:
            lacking = [p for p in parts if p not in str(e)]
            return self.check(title, not lacking, f"'{e}' lacks {lacking}")

    def shared_statistics(self):
        wanted = self.run(apart())
        self.check("the statistics move", np.abs(wanted[2]["b1.mean"]).max() > 0)
        self.same("named by Identity", self.run(by_identity()), wanted)
        names = {"b1.bias@2": "b1.mean", "b1.weight@2": "b1.var", "b1.weight@3": "b2.weight",
                 "b1.bias@3": "b2.bias", "b1.bias@4": "b2.mean", "b1.weight@4": "b2.var"}
        names.update({f"{k}.{s}": f"{v}.{s}" for k, v in list(names.items())
                      for s in ("mean", "square")})
        self.refused("merged norms", merged(), "", "'b1.weight' by BatchNormalization 'n_b' and "
                     "BatchNormalization 'n_e'", "untie=NAME", "b1.weight+b1.bias", "optimize=False")
        self.same("merged norms, untied", self.run(merged(), "untie=b1.*"), wanted, names)
        tied = self.run(merged(), "tie=b1.weight+b1.bias")
        self.check("merged norms, tied: one scale, statistics of their own",
                   [k for k in sorted(tied[2]) if k.startswith("b1") and k.count(".") == 1] ==
                   ["b1.bias", "b1.bias@2", "b1.bias@4", "b1.weight", "b1.weight@2", "b1.weight@4"],
                   sorted(tied[2]))
        kept = self.run(by_identity(), "tie=b2.bias")
        self.check("tie of an Identity's name", "b2.bias" not in kept[2] and
                   "b2.weight" in kept[2] and "b2.mean" in kept[2], sorted(kept[2]))
        frozen = self.run(by_identity(), "freeze=b1.mean+b1.var+b2.mean+b2.var")
        plain = self.run(apart(), "freeze=b1.mean+b1.var+b2.mean+b2.var")
        self.same("frozen statistics", frozen, plain)
        self.refused("freeze that fits nothing", apart(), "freeze=c*", "freeze 'c*' fits no weight "
                     "of the model; it has ", "b1.weight")
        self.refused("tie that fits nothing", apart(), "tie=b9", "tie 'b9' fits no weight")
        self.refused("untie that fits nothing", apart(), "untie=w1", "untie 'w1' fits no weight")

    def shared_weights(self):
        def two(first, second):
            return [node("MatMul", "x w1", "a"),
                    node("LayerNormalization", f"a {first}", "b", axis=-1),
                    node("MatMul", "b w2", "c"),
                    node("LayerNormalization", f"c {second}", "d", axis=-1),
                    node("MatMul", "d w3", "z")]
        plain = Net(two("s1 o1", "s2 o2"), {**dense(), "s1": ONES, "o1": ZEROS, "s2": ONES,
                                            "o2": ZEROS})
        shared = Net(two("s1 o1", "s1 o1"), {**dense(), "s1": ONES, "o1": ZEROS})
        self.refused("one scale of two norms", shared, "", "'s1' by LayerNormalization 'n_b' and "
                     "LayerNormalization 'n_d'", "untie=NAME or tie=NAME", "s1+o1")
        names = {f"{k}@2{s}": f"{v}{s}" for k, v in (("s1", "s2"), ("o1", "o2"))
                 for s in ("", ".mean", ".square")}
        self.same("two norms", self.run(shared, "untie=s1+o1"), self.run(plain), names)
        once = self.run(shared, "tie=*1")
        self.check("one norm that is applied twice", {"s1", "o1"} < set(once[2]) and
                   not any("@" in k for k in once[2]), sorted(once[2]))
        # An equal constant under another name: this exporter merges nothing, so it is one norm.
        told = Net(two("s1 o1", "s1 o1") + [node("Mul", "z s3", "y")], {
            **dense(), "s1": ONES, "o1": ZEROS, "w3": random(3, 4, 4), "s3": ONES, "o3": ZEROS,
            "w4": random(6, 4, 3)})
        told.nodes[-1:] = [node("Mul", "z3 s3", "y"), node("Add", "y o3", "y2"),
                           node("MatMul", "y2 w4", "z")]
        told.nodes[4] = node("MatMul", "d w3", "z3")
        self.check("one norm beside an equal constant", "s1" in self.run(told)[2])
        # What was trained before has one name and other numbers: it is one weight, as it was.
        moved = Net(two("s1 o1", "s1 o1"), {**dense(), "s1": ONES + random(4, 4), "o1": random(5, 4)})
        self.check("trained norms stay one", "s1" in self.run(moved)[2])

    def tied_embedding(self):
        table = random(9, 5, 4)
        nodes = [node("Gather", "emb x", "a"), node("ReduceMean", "a axes", "b", keepdims=0),
                 node("Transpose", "emb", "t", perm=[1, 0]), node("MatMul", "b t", "c"),
                 node("MatMul", "c w", "z")]
        x = (TensorProto.INT64, ["N", 4])
        axes = np.array([1])
        net = Net(nodes, {"emb": table, "w": random(8, 5, 3), "axes": axes}, x)
        tied = self.run(net, ints=True)
        self.check("a table and a projection are one weight",
                   [k for k in sorted(tied[2]) if "." not in k] == ["emb", "w"], sorted(tied[2]))
        # Under two names its gradients are two, whose sum moves the one: so the losses part.
        nodes = [helper.make_node("Identity", ["emb"], ["out"], name="Identity_0")] + nodes
        nodes[3] = node("Transpose", "out", "t", perm=[1, 0])
        named = Net(nodes, net.inits, x)
        two = self.run(named, ints=True)
        self.check("under two names these are two", "out" in two[2] and two[0][1] != tied[0][1])
        self.same("but for tie", self.run(named, "tie=out", ints=True), tied)
        # An Identity of the program's own, a clone, is no other weight.
        nodes[0] = node("Identity", "emb", "out")
        clone = Net(nodes, net.inits, x)
        self.same("a clone", self.run(clone, ints=True), tied)
        self.check("but for untie", "out" in self.run(clone, "untie=out", ints=True)[2])

    def applied_twice(self):
        """One norm in two places: its statistics move by each batch that it sees, in order."""
        net = Net(norms(FIRST, FIRST), {**dense(), **{k: v for k, v in APART.items()
                                                      if k.startswith("b1")}})
        net.inits["b1.weight"] = ONES + random(4, 4)
        net.inits["b1.bias"] = random(5, 4)
        found = self.run(net)
        mean = np.zeros(4)
        session = Session(net.save(self.scratch / "net.onnx"), OPTIONS)
        w = {k: session.state(k).astype(float) for k in ("w1", "w2", "b1.weight", "b1.bias")}
        batch = next(iter(self.batches()))
        session.run(batch)
        a = batch["x"].astype(float) @ w["w1"]
        mean = 0.9 * mean + 0.1 * a.mean(0)
        b = (a - a.mean(0)) / np.sqrt(a.var(0) + 1e-5) * w["b1.weight"] + w["b1.bias"]
        mean = 0.9 * mean + 0.1 * (np.tanh(b) @ w["w2"]).mean(0)
        off = np.abs(session.state("b1.mean") - mean).max()
        session.close()
        self.check("statistics of a norm that is applied twice", off < 1e-6, off)
        # As PyTorch writes it with dynamo=True: the second reads the first's by an Identity.
        handed = Net([node("Identity", "b1.mean", "g3"), node("Identity", "b1.var", "g4")] +
                     norms(FIRST, "b1.weight b1.bias g3 g4"), net.inits)
        self.same("handed on", self.run(handed), found)

    def training_mode(self):
        """Exported in training mode: the same steps, and eval as for inference."""
        self.same("norms in training mode", self.run(apart(training_mode=1)), self.run(apart()))
        options = "freeze=b1.mean+b1.var"
        self.same("norms in training mode, frozen", self.run(apart(training_mode=1), options),
                  self.run(apart(), options))
        inits = {**dense(), "ratio": np.float32(0.5), "on": np.array(True)}

        def drops(mode):
            return Net([node("MatMul", "x w1", "a"), node("Dropout", f"a ratio {mode}", "b m"),
                        node("Dropout", f"b ratio {mode}", "c"), node("MatMul", "c w3", "z")],
                       {k: v for k, v in inits.items() if k != "on" or mode})
        for engines in ("ref", "native,onednn,openblas,ref"):
            found = self.run(drops("on"), engines=engines)
            self.same(f"Dropout in training mode, {engines}", found,
                      self.run(drops(""), engines=engines))
            w = found[2]
            x = next(iter(self.batches()))["x"]
            z = (x @ w["w1"]) @ w["w3"]
            self.check(f"eval drops nothing, {engines}", np.allclose(found[1]["z"], z, atol=1e-5))

    def literals(self):
        """Numbers of the program: of nodes Constant, and what the exporter says of initializers."""
        c = random(10, 4)
        value = numpy_helper.from_array(c, "by")
        plain = Net([node("Constant", "", "c", value=value), node("Mul", "x c", "a"),
                     node("MatMul", "a w3", "z")], dense())
        found = self.run(plain)
        self.check("a node Constant is no weight",
                   [k for k in sorted(found[2]) if "." not in k] == ["w3"], sorted(found[2]))
        for kind, weight in (("PARAMETER", True), ("CONSTANT_TENSOR", False), ("BUFFER", False)):
            net = Net([node("Mul", "x c", "a"), node("MatMul", "a w3", "z")], {**dense(), "c": c})
            net.kinds = {"c": kind}
            told = self.run(net)
            self.check(f"an initializer of kind {kind}", ("c" in told[2]) == weight)
            if not weight:
                self.same(f"kind {kind}", told, found)
        net = apart()
        net.kinds = {k: "BUFFER" for k in APART if k.endswith(("mean", "var"))}
        self.same("running statistics are buffers", self.run(net), self.run(apart()))

    def parts(self):
        """x.chunk(2) as PyTorch's exporter writes it with dynamo=True."""
        def net(*nodes, **more):
            return Net([node("MatMul", "x w1", "a"), *nodes, node("MatMul", "d w", "z")],
                       {"w1": random(1, 4, 4), "w": random(2, 2, 3), **more})
        wanted = self.run(net(node("Split", "a", "b c", axis=1, num_outputs=2),
                              node("Mul", "b c", "d")))
        first, last = np.array(0), np.array(-1)
        two = [node("SequenceAt", "s first", "b"), node("SequenceAt", "s last", "c"),
               node("Mul", "b c", "d")]
        for split in (np.array(2), np.array([2, 2])):
            found = self.run(net(node("SplitToSequence", "a by", "s", axis=-1), *two, by=split,
                                 first=first, last=last))
            self.check(f"chunk by {split}: losses", np.allclose(found[0], wanted[0], atol=1e-6),
                       f"{found[0]}, wanted {wanted[0]}")
        one = Net([node("MatMul", "x w1", "a"),
                   node("SplitToSequence", "a", "s", axis=1, keepdims=0), *two,
                   node("Unsqueeze", "d one", "e"), node("MatMul", "e w", "z")],
                  {"w1": random(1, 4, 4), "w": random(2, 1, 3), "first": first, "last": last,
                   "one": np.array([1])})
        plain = Net([node("MatMul", "x w1", "a"), node("Gather", "a first", "b", axis=1),
                     node("Gather", "a last", "c", axis=1), node("Mul", "b c", "d"),
                     node("Unsqueeze", "d one", "e"), node("MatMul", "e w", "z")], one.inits)
        self.check("unbind: losses", np.allclose(self.run(one)[0], self.run(plain)[0], atol=1e-6))

    def messages(self):
        """What has no gradient is named from the node to the weight."""
        net = Net([node("MatMul", "x w1", "a"), node("SplitToSequence", "a", "s", axis=0),
                   node("ConcatFromSequence", "s", "b", axis=0), node("MatMul", "b w3", "z")],
                  dense())
        self.refused("a sequence", net, "", "ConcatFromSequence 'n_b' <- SplitToSequence 'n_s' <- "
                     "MatMul 'n_a' <- 'w1': a sequence carries no gradient")

    def origins(self):
        """Nodes of a gradient name the node that they derive."""
        path = self.scratch / "origins.gt"
        path.write_text('ge 1\nopset "" 28\nconst w : f32[4,3] = splat 0.1\n'
                        'fn main(x: f32[N,4]) -> (s) {\n  h = MatMul(x, w) "fc"\n'
                        '  t = Tanh(h) "act"\n  s = ReduceSum(t) {keepdims=0} "sum"\n}\n'
                        'entry infer "main" = main\n')
        done = subprocess.run([str(self.ge), "dump", str(path), "--plugins", "grad", "--pass",
                               "grad:wrt=x", "--to", "rewrite", "--entry", "grad"],
                              capture_output=True, text=True, check=False)
        body = done.stdout.partition("fn grad(")[2].partition("\n}")[0].splitlines()
        made = [line for line in body if " from " in line]
        for name, op in (("sum", "Expand"), ("act", "Mul"), ("fc", "MatMul")):
            self.check(f"the gradient of '{name}'", any(
                f'from "grad" ["{name}"]' in line and f"{op}(" in line for line in made), body)

    def settings(self):
        """Floats with an axis that are no weights."""
        scale, zero = np.full(4, 0.05, np.float32), np.zeros(4, np.int8)
        net = Net([node("QuantizeLinear", "w1 s zero", "q", axis=1),
                   node("DequantizeLinear", "q s zero", "d", axis=1), node("MatMul", "x d", "a"),
                   node("Unsqueeze", "a two", "b"),
                   node("Resize", "b  sizes", "c", mode="nearest"), node("Squeeze", "c two", "e"),
                   node("MatMul", "e w3", "z")],
                  {**dense(), "s": scale, "zero": zero, "two": np.array([1]),
                   "sizes": np.array([1, 1, 1], np.float32)})
        net.nodes[4] = helper.make_node("Resize", ["b", "", "sizes"], ["c"], mode="nearest")
        losses, _, states = self.run(net, "")
        self.check("scales of quantization and of Resize are no weights",
                   not {"s", "sizes", "zero"} & set(states) and "w1" in states, sorted(states))
        self.check("quantized weights train", losses[0] != losses[1])
        nodes = [node("MatMul", "x w1", "a"), node("Clip", "a low high", "b"), node("MatMul", "b w3", "z")]
        bounds = {"low": np.float32(-0.1), "high": np.float32(0.4)}
        wanted = self.run(Net(nodes, {**dense(), **{k: np.array(v) for k, v in bounds.items()}}))
        found = self.run(Net(nodes, {**dense(), **{k: np.array([v]) for k, v in bounds.items()}}))
        self.same("bounds of Clip with an axis are no weights", found, wanted)

    def exported(self, title, net, *arguments):
        """The file's own outputs are those of eval, and nothing in it is for training."""
        path, to = net.save(self.scratch / "net.onnx"), self.scratch / "out.onnx"
        r = np.random.default_rng(5)
        np.savez(self.scratch / "d.npz", x_train=r.standard_normal((32, 4)).astype(np.float32),
                 y_train=r.integers(0, 3, 32), x_test=r.standard_normal((8, 4)).astype(np.float32),
                 y_test=r.integers(0, 3, 8))
        done = subprocess.run(
            [str(self.ge), "train", str(path), "--data", str(self.scratch / "d.npz"), "--batch", "8",
             "--epochs", "2", "--optimizer", "adam", "--lr", "0.05", "--export", str(to),
             *arguments], capture_output=True, text=True, check=False)
        self.check(f"{title}: ge train", done.returncode == 0, done.stderr)
        if done.returncode != 0:
            return None
        model = onnx.load(to)
        onnx.checker.check_model(model)
        data = np.load(self.scratch / "d.npz")
        z = reference.ReferenceEvaluator(model).run(None, {"x": data["x_test"]})[0]
        z = z - z.max(1, keepdims=True)
        loss = -(z - np.log(np.exp(z).sum(1, keepdims=True)))[np.arange(8), data["y_test"]].mean()
        said = [line for line in done.stdout.splitlines() if "test" in line]
        return model, loss, said

    def exports(self):
        def of(net, *arguments):
            made = self.exported("export", net, *arguments, "--json")
            if made is None:
                return {}
            model, loss, said = made
            told = json.loads(said[-1])["test_loss"]
            self.check("the exported net is what was tested", abs(told - loss) < 1e-5,
                       f"{loss}, told {told}")
            self.check("nothing of training is left", not any(
                n.op_type == "Identity" or (n.op_type == "Dropout" and len(n.input) > 2) or
                any(a.name == "training_mode" and a.i for a in n.attribute)
                for n in model.graph.node))
            return {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
        plain = of(apart())
        named = of(by_identity())
        self.check("weights of their own under their names", sorted(named) == sorted(plain) and
                   all(np.array_equal(named[k], plain[k]) for k in plain), sorted(named))
        moved = of(merged(), "--untie", "b1.*")
        self.check("weights of their own without names",
                   np.array_equal(moved.get("b1.bias@4"), plain.get("b2.mean")) and
                   np.array_equal(moved.get("b1.weight"), plain.get("b1.weight")), sorted(moved))
        of(apart(training_mode=1))
        drops = Net([node("MatMul", "x w1", "a"), node("Dropout", "a ratio on", "b"),
                     node("MatMul", "b w3", "z")],
                    {**dense(), "ratio": np.float32(0.5), "on": np.array(True)})
        of(drops)
        # Dropout2d as PyTorch's exporter writes it with dynamo=True.
        noise = Net([node("MatMul", "x w1", "a"), node("RandomUniformLike", "a", "u"),
                     node("Mul", "a u", "b"), node("MatMul", "b w3", "z")], dense())
        path = noise.save(self.scratch / "net.onnx")
        done = subprocess.run([str(self.ge), "train", str(path), "--data",
                               str(self.scratch / "d.npz"), "--batch", "8"], capture_output=True,
                              text=True, check=False)
        self.check("eval that draws is told", done.returncode == 0 and
                   "RandomUniformLike 'n_u' draws random numbers in eval" in done.stderr,
                   done.stderr)

    def all(self):
        self.shared_statistics()
        self.shared_weights()
        self.tied_embedding()
        self.applied_twice()
        self.training_mode()
        self.literals()
        self.parts()
        self.messages()
        self.origins()
        self.settings()
        self.exports()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ge", default=ROOT / "build/release/bin/ge")
    a = parser.parse_args()
    os.environ.update(GE_CACHE_DIR="off", GE_PROBE="fixed")
    with tempfile.TemporaryDirectory() as scratch:
        checks = Checks(pathlib.Path(scratch), a.ge)
        checks.all()
    print(f"{checks.passed} passed, {checks.failed} failed, 0 skipped")
    return checks.failed > 0


if __name__ == "__main__":
    sys.exit(main())
