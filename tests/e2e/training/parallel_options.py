#!/usr/bin/env python3
"""What `ge train` offers, on ranks of MPI: a convolutional net with BatchNormalization and Dropout in
float64, with each option of the step, on each mesh, has the losses and the weights of one process."""
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import parallel

STEPS, BATCH = 20, 12
OPTIONS = {"clip": ["--clip", 0.05, "--momentum", 0.9],
           "accumulate": ["--accumulate", 3, "--optimizer", "adam"],
           "ema": ["--ema", 0.9, "--optimizer", "adamw", "--weight-decay", 0.01],
           "remat": ["--set", "remat=all", "--optimizer", "rmsprop"],
           "dynamic loss scale": ["--set", "loss-scale=dynamic", "--set", "scale-every=4"],
           "one-cycle, lamb": ["--schedule", "one-cycle", "--optimizer", "lamb"],
           "lars": ["--optimizer", "lars"]}
# A batch of 10 lies as 4, 4 and 2 over three.
UNEVEN = {"uneven": ["--momentum", 0.9], "uneven, accumulate": ["--accumulate", 2]}

# Columns of the first layer, rows of the second.
PINS = ("w0=-,model", "b0=model", "w1=model,-")


class Options(parallel.Checks):
    def net(self):
        """Convolutions with norms behind them, dropped parts ahead of the last layer."""
        r, nodes, weights = np.random.default_rng(2), [], {}

        def node(op, *inputs, **attributes):
            nodes.append(helper.make_node(op, inputs, [f"t{len(nodes)}"], **attributes))
            return nodes[-1].output[0]

        def weight(name, *dims, scale=None):
            fan_in = np.prod(dims[1:]) if len(dims) > 1 else 1
            weights[name] = r.standard_normal(dims) * (scale or fan_in ** -.5)
            return name
        last, channels = "x", 1
        for i, out in enumerate((6, 8)):
            # Without a bias: behind it a norm leaves a gradient of rounding alone, which lamb enlarges.
            last = node("Conv", last, weight(f"c{i}", out, channels, 3, 3), kernel_shape=[3, 3],
                        pads=[1, 1, 1, 1])
            for part, value in (("s", 1.0), ("o", 0.1), ("m", 0.0), ("v", 1.0)):
                weights[f"{part}{i}"] = value + 0.01 * np.arange(out)
            last = node("BatchNormalization", last, *(f"{part}{i}" for part in "somv"))
            last = node("MaxPool", node("Relu", last), kernel_shape=[2, 2], strides=[2, 2])
            channels = out
        weights["ratio"] = np.float32(0.3)
        last = node("Dropout", node("Flatten", last), "ratio")
        node("Gemm", last, weight("w", 32, 10), weight("b", 10))
        nodes[-1].output[0] = "z"
        graph = helper.make_graph(
            nodes, "net", [helper.make_tensor_value_info("x", TensorProto.DOUBLE, ["N", 1, 8, 8])],
            [helper.make_tensor_value_info("z", TensorProto.DOUBLE, ["N", 10])],
            [numpy_helper.from_array(np.asarray(v), k) for k, v in weights.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.scratch / "net.onnx"))
        return self.scratch / "net.onnx"

    def samples(self):
        r, n = np.random.default_rng(5), STEPS * BATCH
        y = r.integers(0, 10, n)
        np.savez(self.scratch / "d.npz", y=y,
                 x=r.standard_normal((10, 1, 8, 8))[y] + 0.5 * r.standard_normal((n, 1, 8, 8)))
        return self.scratch / "d.npz"

    def each_option(self):
        net, data = self.net(), self.samples()
        for name, more in OPTIONS.items():
            self.as_one(name, net, data, "--lr", 0.02, *more, batch=BATCH)
            self.as_one(f"{name}, shares", net, data, "--lr", 0.02, *more, batch=BATCH,
                        meshes=("data=3",), only=["--shard-states"])
        for name, more in UNEVEN.items():
            self.as_one(name, net, data, "--lr", 0.02, *more, batch=10, meshes=("data=3",))

    def layers(self):
        """An MLP with a layer by columns and the next by rows, on meshes of one axis and of two."""
        net, data = self.mlp("layers.onnx"), self.data("rows.npz", self.rows, np.float64)
        shard = [word for pin in PINS for word in ("--shard", pin)]
        for name, only in (("layers", shard), ("layers, shares", [*shard, "--shard-states"])):
            meshes = ("data=2,model=2",) if "--shard-states" in only else ("model=2",
                                                                           "data=2,model=2")
            self.as_one(name, net, data, "--optimizer", "adam", "--clip", 0.5, meshes=meshes, only=only)
        for words, *more in (("no state, constant or value 'w7'", "--shard", "w7=model,-"),
                             ("too few to give some", "--shard", "b2=data*model"),
                             ("it has 1 dims, wanted the 2", "--shard", "w0=model")):
            done = self.call(parallel.GE, "train", net, "--data", data, "--batch", 48, "--steps", 1,
                             "--mesh", "data=2,model=8", *more,
                             env={"RANK": "0", "WORLD_SIZE": "16"})
            self.check(words, done.returncode == 2 and words in done.stderr, done.stderr)


def main():
    parallel.want_mpi()
    with tempfile.TemporaryDirectory() as scratch:
        checks = Options(pathlib.Path(scratch))
        checks.each_option()
        checks.layers()
    print(f"{checks.passed} passed, {checks.failed} failed, 0 skipped")
    sys.exit(checks.failed != 0)


if __name__ == "__main__":
    main()
