#!/usr/bin/env python3
"""The pass `train` against NumPy in float64 (train_numpy.py): each loss, optimizer, schedule and
option, six steps each; what it leaves of BatchNormalization and Dropout; and each refusal."""
import argparse
import ctypes
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import train_numpy

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))
from ge_api import Tensor, TensorInfo  # noqa: E402
from ge_session import DTYPES, GeError, GeSession  # noqa: E402

STEPS, SAMPLES = 6, 8
BOUND = 1e-12


def model(path, nodes, inits, outputs, x=(None, 5), dtype=TensorProto.DOUBLE):
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info("x", dtype, ["N", *x[1:]])],
        [helper.make_tensor_value_info(n, dtype, s) for n, s in outputs],
        [numpy_helper.from_array(v, k) for k, v in inits.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)
    return path


def first_weights():
    r = np.random.default_rng(3)
    return {"w0": r.standard_normal((7, 5)), "b0": r.standard_normal(7) / 10,
            "w1": r.standard_normal((3, 7)), "b1": r.standard_normal(3) / 10}


def net(path, last=None):
    nodes = [helper.make_node("Gemm", ["x", "w0", "b0"], ["y"], transB=1),
             helper.make_node("Relu", ["y"], ["r"]),
             helper.make_node("Gemm", ["r", "w1", "b1"], ["z"], transB=1)]
    if last:
        nodes.append(helper.make_node(last, ["z"], ["p"]))
    return model(path, nodes, first_weights(), [("p" if last else "z", ["N", 3])])


class Session(GeSession):
    def __init__(self, path, options, entry="train_step", engines="ref"):
        super().__init__(path, plugins="grad", passes=f"train:{options}", engines=engines,
                         entry=entry)

    def state(self, name):
        t = Tensor(size=ctypes.sizeof(Tensor))
        self._try(self.lib.ge_session_get_state(self.session, name.encode(), ctypes.byref(t),
                                                self._error()))
        out = np.zeros(tuple(t.dims[:t.rank]), DTYPES[t.dtype])
        t.data = out.ctypes.data
        self._try(self.lib.ge_session_get_state(self.session, name.encode(), ctypes.byref(t),
                                                self._error()))
        return out

    def states(self):
        count, info = ctypes.c_uint32(), TensorInfo(size=ctypes.sizeof(TensorInfo))
        self._try(self.lib.ge_session_state_count(self.session, ctypes.byref(count)))
        names = []
        for i in range(count.value):
            self._try(self.lib.ge_session_state_info(self.session, i, ctypes.byref(info)))
            names.append(info.name.decode())
        return names

    def enter(self, entry):
        self.entry = entry.encode() if entry else None
        self.inputs, self.outputs = self._names("input"), self._names("output")
        self.out = (Tensor * len(self.outputs))(*[Tensor(size=ctypes.sizeof(Tensor))
                                                  for _ in self.outputs])

    def named(self, arrays):
        return dict(zip(self.outputs, self.run(arrays)))


class Checks:
    def __init__(self, scratch):
        self.scratch, self.passed, self.failed = scratch, 0, 0
        self.net = net(scratch / "net.onnx")

    def check(self, name, good, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}: {detail}")

    def near(self, name, found, wanted, bound=BOUND):
        off = np.abs(found - wanted).max() / max(1e-3, np.abs(wanted).max())
        self.check(name, off <= bound, f"off by {off:.3g}, wanted {bound:g}")

    def batches(self, kind):
        r = np.random.default_rng(11)
        for _ in range(STEPS):
            x = r.standard_normal((SAMPLES, 5))
            yield x, {"softmax-ce": lambda: r.integers(0, 3, SAMPLES),
                      "mse": lambda: r.standard_normal((SAMPLES, 3)),
                      "bce": lambda: r.integers(0, 2, (SAMPLES, 3)).astype(float)}[kind]()

    def trajectory(self, title, options, mine, kind="softmax-ce", path=None, rates=None,
                   frozen=()):
        """Six steps of both; every loss and at the end every weight."""
        session, weights = Session(path or self.net, f"loss={kind};{options}"), first_weights()
        for i, (x, label) in enumerate(self.batches(kind)):
            loss, grads = train_numpy.gradients(weights, x, label, kind)
            grads = {k: g for k, g in grads.items() if k not in frozen}
            weights = mine.step(weights, grads, rates(i) if rates else None)
            found = session.named({"x": x, "label": label})
            self.near(f"{title}: loss {i}", found["loss"], loss)
            if rates:
                self.near(f"{title}: rate {i}", found["learning_rate"], rates(i), 1e-6)
        for name, w in weights.items():
            if name not in frozen:
                self.near(f"{title}: {name}", session.state(name), w)
        self.check(f"{title}: counts its steps", session.state("train.step") == STEPS)
        session.close()

    def optimizers(self):
        # Options in their own spelling: both sides are made from them.
        for name, options in [
                ("sgd", {}), ("sgd", {"momentum": 0.9}), ("sgd", {"weight-decay": 0.1}),
                ("sgd", {"momentum": 0.8, "nesterov": 1, "weight-decay": 0.05}),
                ("rmsprop", {}), ("rmsprop", {"alpha": 0.8, "momentum": 0.5, "weight-decay": 0.1}),
                ("adagrad", {}), ("adagrad", {"eps": 1e-3, "weight-decay": 0.1}), ("adam", {}),
                ("adam", {"beta1": 0.7, "beta2": 0.9, "eps": 1e-3, "weight-decay": 0.1}),
                ("adamw", {"weight-decay": 0.1}), ("adamw", {"beta1": 0.5, "beta2": 0.8}),
                ("lamb", {}), ("lamb", {"weight-decay": 0.1}), ("lars", {"momentum": 0.9}),
                ("lars", {"trust": 0.5, "weight-decay": 0.1, "momentum": 0.9, "nesterov": 1}),
                ("lion", {}), ("lion", {"weight-decay": 0.2, "beta2": 0.8}),
                ("sgd", {"clip": 0.1}), ("adam", {"clip": 0.5})]:
            options["lr"] = 0.05
            text = ";".join(f"{k}={v}" for k, v in options.items())
            self.trajectory(f"{name} {text}", f"optimizer={name};{text}",
                            train_numpy.Optimizer(name, **options))

    def schedules(self):
        for name, options in [("step", {"every": 2, "decay": 0.5}), ("cosine", {"steps": 5}),
                              ("cosine", {"steps": 6, "lr-min": 0.01, "warmup": 2}),
                              ("poly", {"steps": 5, "power": 2}), ("one-cycle", {"steps": 20}),
                              ("constant", {"warmup": 3})]:
            text = ";".join(f"{k}={v}" for k, v in options.items())
            numbers = {k.replace("-", "_"): v for k, v in options.items()}
            self.trajectory(f"schedule {name} {text}", f"lr=0.05;schedule={name};{text}",
                            train_numpy.Optimizer("sgd"),
                            rates=lambda t: train_numpy.rate(name, t, 0.05, **numbers))

    def losses(self):
        sgd = lambda: train_numpy.Optimizer("sgd", lr=0.05)  # noqa: E731
        for kind, last in [("mse", None), ("bce", None), ("bce", "Sigmoid"),
                           ("softmax-ce", "Softmax"), ("softmax-ce", "LogSoftmax")]:
            path = net(self.scratch / f"{last}.onnx", last)
            self.trajectory(f"{kind} behind {last}", "lr=0.05", sgd(), kind, path)
        self.trajectory("frozen", "lr=0.05;freeze=b?+w1", sgd(), frozen=("b0", "b1", "w1"))

    def eval_entry(self):
        """The entry `eval` sees what train_step has written: both in one session."""
        options = "loss=softmax-ce;lr=0.1;ema=0.5"
        session, weights = Session(self.net, options), first_weights()
        mine, mean = train_numpy.Optimizer("sgd", lr=0.1), first_weights()
        for x, label in self.batches("softmax-ce"):
            session.run({"x": x, "label": label})
            weights = mine.step(weights, train_numpy.gradients(weights, x, label, "softmax-ce")[1])
            mean = {k: 0.5 * m + 0.5 * weights[k] for k, m in mean.items()}
        session.enter("eval")
        self.check("outputs of eval", session.outputs == ["z", "loss", "correct"])
        found = session.named({"x": x, "label": label})
        z = train_numpy.forward(mean, x)[2]
        self.near("eval: the net's own output, by averaged weights", found["z"], z)
        self.near("eval: loss", found["loss"], train_numpy.loss_of("softmax-ce", z, label)[0])
        self.check("eval: correct", found["correct"] == (z.argmax(1) == label).sum())
        session.enter(None)
        self.near("the first entry is the net as it came", session.run({"x": x})[0],
                  train_numpy.forward(first_weights(), x)[2])
        session.close()

    def accumulate(self):
        session, weights = Session(self.net, "loss=softmax-ce;optimizer=adam;lr=0.05;"
                                             "accumulate=3"), first_weights()
        mine, sums = train_numpy.Optimizer("adam", lr=0.05), []
        for i, (x, label) in enumerate(self.batches("softmax-ce")):
            loss, grads = train_numpy.gradients(weights, x, label, "softmax-ce")
            sums.append(grads)
            if i % 3 == 2:
                weights = mine.step(weights, {k: sum(g[k] for g in sums) / 3 for k in weights})
                sums = []
            found = session.named({"x": x, "label": label})
            self.near(f"accumulate: loss {i}", found["loss"], loss)
        for name, w in weights.items():
            self.near(f"accumulate: {name}", session.state(name), w)
        session.close()

    def accumulate_momentum(self):
        """The other operator that a step is, and in float32 on all engines."""
        wide = {k: v.astype(np.float32) for k, v in first_weights().items()}
        path = model(self.scratch / "wide.onnx",
                     [helper.make_node("Gemm", ["x", "w0", "b0"], ["y"], transB=1),
                      helper.make_node("Relu", ["y"], ["r"]),
                      helper.make_node("Gemm", ["r", "w1", "b1"], ["z"], transB=1)], wide,
                     [("z", ["N", 3])], dtype=TensorProto.FLOAT)
        for name, options in [("sgd", {"momentum": 0.9, "nesterov": 1}), ("adamw", {}),
                              ("adam", {"weight-decay": 0.1}), ("rmsprop", {"alpha": 0.8}),
                              ("rmsprop", {"momentum": 0.5}), ("adagrad", {"weight-decay": 0.1}),
                              ("lars", {"momentum": 0.9, "trust": 0.1}), ("lars", {}),
                              ("lamb", {"weight-decay": 0.1}), ("lion", {"weight-decay": 0.1})]:
            text = ";".join(f"{k}={v}" for k, v in options.items())
            session = Session(path, f"loss=softmax-ce;optimizer={name};lr=0.05;accumulate=2;{text}",
                              engines="native,onednn,openblas,ref")
            weights, sums = {k: v.astype(float) for k, v in wide.items()}, []
            mine = train_numpy.Optimizer(name, lr=0.05, **options)
            for i, (x, label) in enumerate(self.batches("softmax-ce")):
                x = x.astype(np.float32)
                sums.append(train_numpy.gradients(weights, x, label, "softmax-ce")[1])
                if i % 2 == 1:
                    weights = mine.step(weights, {k: sum(g[k] for g in sums) / 2 for k in weights})
                    sums = []
                session.run({"x": x, "label": label})
            for key, w in weights.items():
                self.near(f"accumulate by {name}, float32: {key}", session.state(key), w, 2e-5)
            session.close()

    def turned(self):
        """Weights that an exporter turned ahead of a product, and a left operand that is turned: the
        way back reads what they were turned from."""
        r = np.random.default_rng(9)
        w0, w1 = r.standard_normal((4, 5)) / 4, r.standard_normal((3, 4)) / 4
        path = model(self.scratch / "turned.onnx",
                     [helper.make_node("Transpose", ["w0"], ["t0"], perm=[1, 0]),
                      helper.make_node("MatMul", ["x", "t0"], ["a"]),
                      helper.make_node("Transpose", ["w1"], ["t1"], perm=[1, 0]),
                      helper.make_node("MatMul", ["a", "t1"], ["b"]),
                      helper.make_node("Transpose", ["b"], ["t2"], perm=[0, 2, 1]),
                      helper.make_node("MatMul", ["t2", "b"], ["z"])],
                     {"w0": w0, "w1": w1}, [("z", ["N", 3, 3])], x=(None, 6, 5))
        session = Session(path, "loss=mse;lr=0.001")
        for i in range(STEPS):
            x, label = r.standard_normal((2, 6, 5)), r.standard_normal((2, 3, 3))
            a = x @ w0.T
            b = a @ w1.T
            z = b.transpose(0, 2, 1) @ b
            dz = 2 * (z - label) / z.size
            db = b @ (dz + dz.transpose(0, 2, 1))
            found = session.named({"x": x, "label": label})["loss"]
            self.near(f"turned: loss {i}", found, ((z - label) ** 2).mean())
            w0, w1 = (w0 - 0.001 * np.einsum("nik,kj,nil->jl", db, w1, x),
                      w1 - 0.001 * np.einsum("nik,nij->kj", db, a))
        self.near("turned: w0", session.state("w0"), w0)
        self.near("turned: w1", session.state("w1"), w1)
        session.close()

    def rows(self):
        """A table that words are looked up in: sgd moves their rows alone, where they lie."""
        r = np.random.default_rng(8)
        table = r.standard_normal((3000, 8)).astype(np.float32)
        path = self.scratch / "table.onnx"
        graph = helper.make_graph(
            [helper.make_node("Gather", ["t", "x"], ["e"]),
             helper.make_node("ReduceSum", ["e", "one"], ["z"], keepdims=0)], "net",
            [helper.make_tensor_value_info("x", TensorProto.INT64, ["N", 4])],
            [helper.make_tensor_value_info("z", TensorProto.FLOAT, ["N", 8])],
            [numpy_helper.from_array(table, "t"), numpy_helper.from_array(np.array([1]), "one")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), path)
        for engines in ("ref", "native,ref"):
            session, w = Session(path, "loss=mse;lr=0.1", engines=engines), table.astype(float)
            for _ in range(3):
                x, label = r.integers(-3000, 3000, (8, 4)), r.standard_normal((8, 8))
                x[0, :3] = 7  # of which each counts
                session.run({"x": x, "label": label.astype(np.float32)})
                dz = train_numpy.loss_of("mse", w[x].sum(1), label)[1]
                change = np.zeros_like(w)
                np.add.at(change, x, np.repeat(dz[:, None], 4, 1))
                w = w - 0.1 * change
            self.near(f"rows on {engines}", session.state("t"), w, 1e-6)
            report = session.report()
            bytes_of = {k: report[k] for k in ("arena_bytes", "state_bytes")}
            if engines != "ref":
                self.check("rows: neither a gradient nor a second table", bytes_of["arena_bytes"] <
                           table.nbytes / 4 and bytes_of["state_bytes"] < table.nbytes * 1.05,
                           bytes_of)
            session.close()

    def loss_scale(self):
        """Powers of two change nothing; what is not finite is left out and not counted."""
        for name in ("adam", "sgd"):
            for scale in ("1024", "dynamic"):
                options = {"lr": 0.05, **({"momentum": 0.5} if name == "sgd" else {})}
                text = ";".join(f"{k}={v}" for k, v in options.items())
                self.trajectory(f"{name}, loss-scale {scale}",
                                f"optimizer={name};{text};loss-scale={scale};scale-every=2",
                                train_numpy.Optimizer(name, **options))
        for extra in ("", ";accumulate=2", ";clip=0.5"):
            session = Session(self.net, "loss=mse;optimizer=adam;lr=0.05;loss-scale=dynamic;"
                                        "scale-every=3" + extra)
            batches = list(self.batches("mse"))
            good = [b for b in batches for _ in range(2 if "accumulate" in extra else 1)]
            for x, label in good[:len(good) // 2]:
                session.run({"x": x, "label": label})
            self.check(f"loss scale grows{extra}", session.state("train.scale") == 2 ** 17)
            before = {k: session.state(k) for k in ("w0", "w0.mean", "w0.square", "b1")}
            x, label = batches[0]
            for hole in (np.inf, np.nan):
                bad = x.copy()
                bad[0, 0] = hole
                session.run({"x": bad, "label": label})
                if "accumulate" in extra:
                    session.run({"x": x, "label": label})
            for key, value in before.items():
                self.check(f"overflow leaves {key}{extra}",
                           np.array_equal(session.state(key), value))
            self.check(f"overflow halves the scale{extra}", session.state("train.scale") == 2 ** 15)
            self.check(f"overflow is no update{extra}", session.state("train.updates") == 3)
            for x, label in good[:2 if "accumulate" in extra else 1]:
                session.run({"x": x, "label": label})
            self.check(f"goes on{extra}", session.state("train.updates") == 4 and
                       np.isfinite(session.state("w0")).all() and
                       not np.array_equal(session.state("w0"), before["w0"]))
            session.close()

    def precision(self):
        """Products on 16-bit floats: near float32, weights in float32; small gradients live on."""
        r, weights = np.random.default_rng(6), {}
        for key, shape in (("w", (5, 4)), ("v", (4, 3))):
            weights[key] = r.standard_normal(shape).astype(np.float32)
        path = model(self.scratch / "half.onnx",
                     [helper.make_node("MatMul", ["x", "w"], ["y"]),
                      helper.make_node("Tanh", ["y"], ["t"]),
                      helper.make_node("MatMul", ["t", "v"], ["z"])], weights, [("z", ["N", 3])],
                     dtype=TensorProto.FLOAT)
        x = r.standard_normal((8, 5)).astype(np.float32)
        label = r.standard_normal((8, 3)).astype(np.float32)
        for engines in ("ref", "native,onednn,openblas,ref"):
            found = {}
            for precision in ("f32", "f16", "bf16"):
                session = Session(path, f"loss=mse;lr=0.1;precision={precision};loss-scale=dynamic",
                                  engines=engines)
                found[precision] = [session.named({"x": x, "label": label})["loss"]
                                    for _ in range(STEPS)]
                self.check("weights stay float32", session.state("w").dtype == np.float32)
                session.close()
            for precision, bound in (("f16", 2e-3), ("bf16", 2e-2)):
                same = np.array_equal(found[precision], found["f32"])
                self.check(f"{precision} on {engines} is rounded", not same)
                self.near(f"{precision} on {engines}", np.array(found[precision]),
                          np.array(found["f32"]), bound)
        # A loss times 1e-7 has gradients below what float16 can tell from zero.
        small = model(self.scratch / "small.onnx",
                      [helper.make_node("MatMul", ["x", "w"], ["y"]),
                       helper.make_node("Mul", ["y", "c"], ["s"]),
                       helper.make_node("ReduceSum", ["s"], ["l"], keepdims=0)],
                      {"w": weights["w"], "c": np.float32(1e-9)}, [("l", [])],
                      dtype=TensorProto.FLOAT)
        for scale, moves in (("none", False), ("dynamic", True)):
            session = Session(small, f"lr=1e6;precision=f16;loss-scale={scale}")
            session.run({"x": x})
            moved = np.abs(session.state("w") - weights["w"]).max() > 0
            self.check(f"small gradients with loss-scale {scale}", moved == moves)
            session.close()

    def update(self):
        """The entry `update`: the same steps by gradients from outside, on the same states."""
        weights = first_weights()
        for name, extra in (("adamw", {}), ("sgd", {}), ("sgd", {"momentum": 0.9}),
                            ("lamb", {"ema": 0.5}), ("rmsprop", {"clip": 0.1})):
            text = ";".join(f"{k}={v}" for k, v in extra.items())
            options = f"loss=mse;optimizer={name};lr=0.05;schedule=step;every=2;update=1;{text}"
            whole, parts = Session(self.net, options), Session(self.net, options, entry="update")
            self.check("update: its inputs", sorted(parts.inputs) ==
                       sorted(f"grad.{k}" for k in weights), parts.inputs)
            for x, label in self.batches("mse"):
                now = {k: whole.state(k) for k in weights}
                gradients = train_numpy.gradients(now, x, label, "mse")[1]
                rate = whole.named({"x": x, "label": label})["learning_rate"]
                made = parts.named({f"grad.{k}": v for k, v in gradients.items()})
                self.check(f"update by {name}: the rate", made["learning_rate"] == rate)
            keys = [*weights, "train.step", *(["w0.ema"] if "ema" in extra else [])]
            for key in keys:
                self.near(f"update by {name} {text}: {key}", parts.state(key), whole.state(key),
                          BOUND)
            whole.close(), parts.close()

    def init(self):
        """The entry `init`: every state is what it was at first, and the same steps follow."""
        for text in ("optimizer=adam;ema=0.9", "optimizer=sgd;momentum=0.9;accumulate=2",
                     "optimizer=lamb;update=1;clip=0.1", "optimizer=sgd",
                     "optimizer=adam;loss-scale=dynamic;scale-every=2"):
            self.begins_anew(f"loss=mse;lr=0.05;init=1;{text}")

    def begins_anew(self, options):
        session = Session(self.net, options)
        keys = session.states()
        first = {k: session.state(k) for k in keys}
        steps = [{"x": x, "label": label} for x, label in self.batches("mse")]
        made = [session.named(feeds) for feeds in steps]
        after = {k: session.state(k) for k in keys}
        self.check(f"init, {options}: steps move something",
                   any((after[k] != first[k]).any() for k in keys))
        session.enter("init")
        self.check(f"init, {options}: no inputs, one output",
                   (session.inputs, session.outputs) == ([], ["step"]),
                   (session.inputs, session.outputs))
        self.check(f"init, {options}: the step", session.named({})["step"] == 0)
        for k in keys:
            self.check(f"init, {options}: {k}", session.state(k).tobytes() == first[k].tobytes(),
                       session.state(k))
        session.enter("train_step")
        again = [session.named(feeds) for feeds in steps]
        self.check(f"init, {options}: the same steps again",
                   all(a[k].tobytes() == b[k].tobytes() for a, b in zip(made, again) for k in a))
        session.close()

    def own_loss(self):
        """loss=none: the output is the loss."""
        path = model(self.scratch / "own.onnx",
                     [helper.make_node("MatMul", ["x", "w"], ["y"]),
                      helper.make_node("ReduceSumSquare", ["y"], ["l"], keepdims=0)],
                     {"w": np.arange(10.0).reshape(5, 2) / 10}, [("l", [])])
        session, w = Session(path, "lr=0.001"), np.arange(10.0).reshape(5, 2) / 10
        x = np.random.default_rng(2).standard_normal((4, 5))
        for i in range(3):
            self.near(f"own loss {i}", session.named({"x": x})["loss"], ((x @ w) ** 2).sum())
            w = w - 0.001 * 2 * x.T @ (x @ w)
        self.near("own loss: w", session.state("w"), w)
        session.close()

    def dropout(self):
        """The mask is a hash that is written down: of seed 5, of the first Dropout, of each step."""
        path = model(self.scratch / "drop.onnx",
                     [helper.make_node("Dropout", ["x", "ratio"], ["d"]),
                      helper.make_node("MatMul", ["d", "w"], ["z"])],
                     {"ratio": np.array(0.25), "w": np.eye(5)}, [("z", ["N", 5])])
        session, w, x = Session(path, "loss=mse;lr=0.1;seed=5"), np.eye(5), np.ones((8, 5))
        shares = []
        for step in range(4):
            mask = mask_of(5, 1, step, x.size).reshape(x.shape) >= 0.25
            shares.append(mask.mean())
            d = x * mask * np.float64(np.float32(1) / np.float32(0.75))
            found = session.named({"x": x, "label": x})["loss"]
            self.near(f"dropout: loss {step}", found, ((d @ w - x) ** 2).mean())
            w = w - 0.1 * d.T @ (2 * (d @ w - x) / x.size)
        self.near("dropout: w", session.state("w"), w)
        self.check("dropout: a quarter goes", 0.6 < np.mean(shares) < 0.9, shares)
        many = mask_of(5, 1, 9, 100000)
        self.check("dropout: even numbers", abs(many.mean() - 0.5) < 0.005, many.mean())
        session.close()

    def batch_norm(self):
        """By the batch's statistics in training, by running ones in eval."""
        r = np.random.default_rng(4)
        inits = {"scale": r.random(5) + 0.5, "bias": r.standard_normal(5), "mean": np.zeros(5),
                 "var": np.ones(5), "w": r.standard_normal((5, 3))}
        path = model(self.scratch / "norm.onnx",
                     [helper.make_node("BatchNormalization", ["x", "scale", "bias", "mean", "var"],
                                       ["n"], momentum=0.75, epsilon=2 ** -10),
                      helper.make_node("MatMul", ["n", "w"], ["z"])], inits, [("z", ["N", 3])])
        session, v = Session(path, "loss=mse;lr=0.05"), dict(inits)
        for i in range(4):
            x, label = r.standard_normal((8, 5)) * 2 + 1, r.standard_normal((8, 3))
            mean, var = x.mean(0), x.var(0)
            h = (x - mean) / np.sqrt(var + 2 ** -10)
            z = (h * v["scale"] + v["bias"]) @ v["w"]
            loss, dz = train_numpy.loss_of("mse", z, label)
            dn = dz @ v["w"].T
            # What is behind the statistics of an input has no gradient: x is no weight.
            grads = {"scale": (dn * h).sum(0), "bias": dn.sum(0),
                     "w": (h * v["scale"] + v["bias"]).T @ dz}
            found = session.named({"x": x, "label": label})["loss"]
            self.near(f"batch norm: loss {i}", found, loss)
            v.update({k: v[k] - 0.05 * g for k, g in grads.items()})
            v["mean"], v["var"] = 0.75 * v["mean"] + 0.25 * mean, 0.75 * v["var"] + 0.25 * var
        for name, w in v.items():
            self.near(f"batch norm: {name}", session.state(name), w)
        frozen = Session(path, "loss=mse;lr=0.05;freeze=mean+var")
        z = (x / np.sqrt(1 + 2 ** -10) * inits["scale"] + inits["bias"]) @ inits["w"]
        self.near("batch norm: frozen statistics are what they were",
                  frozen.named({"x": x, "label": label})["loss"], ((z - label) ** 2).mean())
        frozen.close()
        session.enter("eval")
        z = ((x - v["mean"]) / np.sqrt(v["var"] + 2 ** -10) * v["scale"] + v["bias"]) @ v["w"]
        self.near("batch norm: eval", session.named({"x": x, "label": label})["z"], z)
        session.close()

    def refusals(self):
        whole = model(self.scratch / "fixed.onnx", [helper.make_node("Relu", ["x"], ["y"])], {},
                      [("y", ["N", 5])])
        label = model(self.scratch / "flat.onnx",
                      [helper.make_node("MatMul", ["x", "w"], ["z"])], {"w": np.ones(5)},
                      [("z", ["N"])])
        norm = model(self.scratch / "shared.onnx",
                     [helper.make_node("BatchNormalization", ["x", "one", "b", "mean", "one"],
                                       ["y"])],
                     {"one": np.arange(1., 6), "b": np.zeros(5), "mean": np.zeros(5)},
                     [("y", ["N", 5])])
        for path, options, wanted in [
                (norm, "loss=mse", "'one' is a running statistic of BatchNormalization of 'y' and is "
                                   "read by BatchNormalization of 'y', too; say untie=one"),
                (self.net, "loss=mae", "loss is 'mae', wanted softmax-ce, mse, bce or none"),
                (self.net, "optimizer=sdg", "optimizer is 'sdg', wanted sgd, rmsprop"),
                (self.net, "schedule=cos", "schedule is 'cos', wanted constant"),
                (self.net, "loss=mse;momentum=1", "momentum is 1.000000, wanted a number from"),
                (self.net, "loss=mse;lr=-1", "lr is -1.000000, wanted a number from 0.0"),
                (self.net, "loss=mse;accumulate=0", "accumulate is 0, wanted 1 or more"),
                (self.net, "loss=mse;schedule=cosine", "schedule cosine needs steps"),
                (self.net, "loss=mse;schedule=step", "schedule step needs every"),
                (self.net, "loss=mse;nesterov=1", "nesterov is of sgd and lars"),
                (self.net, "loss=mse;precision=f8", "precision is 'f8', wanted f32, f16 or bf16"),
                (self.net, "loss=mse;loss-scale=big", "loss-scale is 'big', wanted none, dynamic"),
                (self.net, "loss=mse;loss-scale=0.5", "loss-scale is '0.5', wanted none"),
                (self.net, "loss=mse;update=1;accumulate=2", "update=1 goes with neither accumulate"),
                (self.net, "loss=mse;freeze=c*", "freeze 'c*' fits no weight of the model"),
                (self.net, "loss=mse;freeze=*", "there is nothing to train"),
                (self.net, "loss=mse;entry=inner", "there is no entry 'inner'; the model has"),
                (self.net, "loss=mse;output=q", "there is no output 'q'; the entry has 'z'"),
                (self.net, "loss=none", "loss none takes an output of one element"),
                (whole, "loss=mse", "there is nothing to train"),
                (label, "loss=softmax-ce", "wants an output of samples by classes")]:
            try:
                Session(path, options).close()
                self.check(options, False, "was taken")
            except GeError as e:
                self.check(options, wanted in str(e), e)


def mask_of(seed, site, step, n):
    """The numbers of DropAtRandom in passes/grad/train/training_mode.cc."""
    with np.errstate(over="ignore"):
        golden, first, second = (np.uint64(c) for c in (0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9,
                                                        0x94d049bb133111eb))

        def mixed(z):
            z = (z ^ (z >> np.uint64(30))) * first
            return (z ^ (z >> np.uint64(27))) * second
        key = mixed(np.array([step], np.uint64) * golden
                    + np.array([(seed << 20) + site], np.uint64) * second)
        z = mixed(np.arange(n, dtype=np.uint64) * golden + key)
    return (z >> np.uint64(40)).astype(np.float64) / 2 ** 24


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        checks = Checks(pathlib.Path(scratch))
        for part in (checks.optimizers, checks.schedules, checks.losses, checks.eval_entry,
                     checks.accumulate, checks.accumulate_momentum, checks.turned, checks.rows,
                     checks.loss_scale, checks.precision, checks.update, checks.init,
                     checks.own_loss, checks.dropout, checks.batch_norm,
                     checks.refusals):
            part()
    print(f"{checks.passed} passed, {checks.failed} failed, 0 skipped")
    sys.exit(checks.failed > 0)


if __name__ == "__main__":
    main()
