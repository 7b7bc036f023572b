#!/usr/bin/env python3
"""`ge run --mesh` under mpirun: outputs of LeNet, an MLP by columns, then rows, and a BERT of two layers
are those of one process; weights by their shares take that much less memory; each refusal."""
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import parallel
from parallel import GE, ROOT, ranks_of

sys.path.insert(0, str(ROOT / "tools/bench/training"))
import train_nets  # noqa: E402

LAYERS = ("w0=-,model", "b0=model", "w1=model,-")


def shard(pins):
    return [word for pin in pins for word in ("--shard", pin)]


class Run(parallel.Checks):
    def outputs(self, net, more, mesh=""):
        """Outputs by name, and the call."""
        out = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
        done = self.call(GE, "run", net, "--threads", 1, "--output", out, *more,
                         *(["--mesh", mesh] if mesh else []), ranks=ranks_of(mesh))
        return {p.stem: np.load(p) for p in out.glob("*.npy")}, done

    def equal(self, tag, net, more, mesh, only=(), bound=1e-12):
        one, alone = self.outputs(net, more)
        found, done = self.outputs(net, [*more, *only], mesh)
        name = f"{tag} on {mesh}"
        self.check(f"{name} runs", (alone.returncode, done.returncode) == (0, 0), alone.stderr + done.stderr)
        self.check(f"{name}: outputs and sizes of one", len(one) > 0 and
                   {k: (v.dtype, v.shape) for k, v in one.items()} ==
                   {k: (v.dtype, v.shape) for k, v in found.items()}, (one.keys(), found.keys()))
        for k in one.keys() & found.keys():
            worst = np.abs(one[k] - found[k]).max() / max(1.0, np.abs(one[k]).max())
            self.check(f"{name}: {k}", worst <= bound, worst)
        self.check(f"{name}: the first rank alone prints", done.stdout.count("\noutputs\n") == 1 and
                   "warning" not in done.stderr, done.stdout + done.stderr)

    def inputs(self, name, *arrays):
        words = []
        for key, value in zip(name, arrays):
            np.save(self.scratch / f"{key}.npy", value)
            words += ["--input", f"{key}={self.scratch / f'{key}.npy'}"]
        return words

    def bert(self):
        net = self.scratch / "bert.onnx"
        train_nets.bert(net, dtype=np.float64, layers=2, width=32, tokens=12, words=50)
        pins = []
        for layer in ("block0", "block1"):
            for part in "qkv":
                pins += [f"{layer}.{part}.weight=-,model", f"{layer}.{part}.bias=model"]
            pins += [f"{layer}.out.weight=model,-", f"{layer}.up.weight=-,model",
                     f"{layer}.up.bias=model", f"{layer}.down.weight=model,-"]
        return net, pins

    def two_inputs(self):
        """Rows of two inputs, of which one is scaled by a number, and a mask that has no rows."""
        nodes = [helper.make_node("Mul", ["x", "by"], ["s"]), helper.make_node("Add", ["s", "y"], ["a"]),
                 helper.make_node("Add", ["a", "mask"], ["z"]), helper.make_node("Softmax", ["z"], ["p"]),
                 helper.make_node("ReduceMax", ["z"], ["most"], keepdims=0)]
        sizes = {"x": ["N", 8], "by": [], "y": ["N", 8], "mask": [1, 8]}
        graph = helper.make_graph(
            nodes, "two", [helper.make_tensor_value_info(k, TensorProto.DOUBLE, v) for k, v in sizes.items()],
            [helper.make_tensor_value_info("p", TensorProto.DOUBLE, ["N", 8]),
             helper.make_tensor_value_info("most", TensorProto.DOUBLE, [])])
        net = self.scratch / "two.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(net))
        return net

    def groups(self):
        """A convolution in groups, whose weights no way splits."""
        weight = numpy_helper.from_array(np.ones((4, 2, 3, 3), np.float32), "w")
        graph = helper.make_graph([helper.make_node("Conv", ["x", "w"], ["y"], group=2)], "groups",
                                  [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4, 8, 8])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4, 6, 6])], [weight])
        net = self.scratch / "groups.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(net))
        return net

    def as_one(self):
        r = np.random.default_rng(11)
        wide = parallel.in_float64(self.lenet, self.scratch / "lenet64.onnx")
        pictures = r.standard_normal((5, 1, 28, 28))
        for mesh in ("data=2", "data=3", "data=2,model=2"):
            self.equal("lenet", wide, self.inputs("x", pictures), mesh)
        self.equal("lenet, f32", self.lenet, self.inputs("x", pictures.astype(np.float32)), "data=2", bound=1e-5)
        mlp, rows = self.mlp("mlp.onnx"), self.inputs("x", r.standard_normal((5, 20)))
        for mesh in ("model=2", "data=2,model=2"):
            self.equal("mlp by columns, then rows", mlp, rows, mesh, shard(LAYERS))
        self.equal("mlp, rows that the tool makes", mlp, ["--input", "x=7x20:rand", "--seed", 3], "data=2")
        bert, pins = self.bert()
        ids = self.inputs("x", r.integers(0, 50, (5, 12)))
        self.equal("bert", bert, ids, "data=2")
        self.equal("bert by heads", bert, ids, "model=2", shard(pins))
        self.equal("bert by heads", bert, ids, "data=2,model=2", shard(pins))
        self.equal("two inputs", self.two_inputs(),
                   self.inputs(["x", "y", "by", "mask"], r.standard_normal((5, 8)), r.standard_normal((5, 8)),
                               np.array(0.5), r.standard_normal((1, 8))), "data=2")
        self.equal("an entry of a step, with states", self.scratch / "lenet64.onnx",
                   ["--plugins", "grad", "--pass", "train:loss=softmax-ce;optimizer=adam", "--entry", "eval",
                    *self.inputs(["x", "label"], pictures, r.integers(0, 10, 5))], "data=2")

    def collectives(self):
        """An MLP by columns, then rows, wants one all-reduce: as many bytes as its result."""
        mlp = self.mlp("mlp.onnx")
        done = self.call(GE, "dump", mlp, "--plugins", "parallel", "--pass", "parallel:mesh=model=2;sizes=5x20;pins=" +
                         "|".join(LAYERS).replace(",", "+"), "--to", "rewrite")
        fn = done.stdout.split('fn "parallel.run"')[-1].split("\n}")[0]
        self.check("one all-reduce", fn.count("comm.") == 1 and "comm.AllReduce" in fn and
                   "f64[20,16]" in fn and "f64[16,24]" in fn, fn + done.stderr)

    def saves_memory(self):
        """Eight layers of 4 MiB, by columns and rows in turns."""
        random, nodes, weights, last = np.random.default_rng(2), [], [], "x"
        for i in range(8):
            weights += [numpy_helper.from_array(random.standard_normal((1024, 1024)).astype(np.float32) / 32, f"w{i}"),
                        numpy_helper.from_array(np.ones(1024, np.float32), f"b{i}")]
            nodes.append(helper.make_node("Gemm", [last, f"w{i}", f"b{i}"], [f"a{i}"]))
            last = f"a{i}"
        graph = helper.make_graph(nodes, "large", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 1024])],
                                  [helper.make_tensor_value_info(last, TensorProto.FLOAT, ["N", 1024])], weights)
        net = self.scratch / "large.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(net))
        pins = [word for i in range(0, 8, 2)
                for word in (f"w{i}=-,model", f"b{i}=model", f"w{i + 1}=model,-")]
        self.equal("large", net, ["--input", "x=6x1024:rand"], "model=2", shard(pins), bound=1e-5)
        taken = {}
        for name, more in (("whole", "mesh=data=2"),
                           ("shares", "mesh=model=2;pins=" + "|".join(pins).replace(",", "+"))):
            runs = [self.each_rank(net, more) for _ in range(3)]
            taken[name] = [(np.median([run[r]["peak_rss_mb"] for run in runs]), runs[0][r]["packed_bytes"])
                           for r in range(2)]
        for r in range(2):
            (peak, packed), (less, fewer) = taken["whole"][r], taken["shares"][r]
            self.check(f"rank {r} packs its share", fewer <= 0.51 * packed, (packed, fewer))
            self.check(f"rank {r} has less at once", peak - less >= 0.9 * 16, (peak, less))

    def each_rank(self, net, more):
        parts = []
        for r in range(2):
            parts += [":"] * bool(r) + ["-np", "1", "sh", "-c", 'exec "$@" > "$0"', str(self.scratch / f"json{r}"),
                                        str(GE), "run", str(net), "--threads", "1", "--json", "--repeat", "3",
                                        "--plugins", "parallel", "--pass",
                                        f"parallel:rank={r};sizes=6x1024;{more}",
                                        "--input", "x=6x1024:rand"]
        done = self.call("mpirun", *parts)
        self.check(f"each rank runs, {more[:12]}", done.returncode == 0, done.stderr)
        return [json.loads((self.scratch / f"json{r}").read_text()) for r in range(2)]

    def prints(self):
        done = self.call(GE, "run", self.lenet, "--mesh", "data=2", "--input", "x=4x1x28x28:rand", "--json", ranks=2)
        said = json.loads(done.stdout) if done.returncode == 0 else {}
        self.check("one object of JSON", said.get("mesh") == "data=2" and said["engines"].get("mpi") == 1,
                   done.stdout + done.stderr)
        done = self.call(GE, "run", self.lenet, "--mesh", "data=1")
        self.check("a mesh of one is no mesh", done.returncode == 0 and "outputs" in done.stdout, done.stderr)
        done = self.call(GE, "run", self.groups(), "--mesh", "model=2", "--shard", "w=-,model,-,-", ranks=2)
        self.check("a pin that nobody reads so is told", done.returncode == 0 and
                   "pin 'w=-,model,-,-': an operator reads 'w' otherwise" in done.stderr, done.stderr)

    def refuses(self):
        def refused(name, words, *more, ranks=2, code=2, net=self.lenet, env=None):
            done = self.call(GE, "run", net, *more, ranks=ranks, env=env)
            self.check(name, done.returncode == code and words in done.stderr and not done.stdout,
                       (done.returncode, done.stdout, done.stderr))
        two = ["--mesh", "data=2", "--input", "x=4x1x28x28:rand"]
        refused("one row for two ranks", "input 'x' has 1 rows, too few to give each of 2 ranks of the axis 'data' some; "
                "give it 2, or take a mesh without that axis", "--mesh", "data=2", "--input", "x=1x1x28x28:rand")
        refused("five rows for four ranks", "give it 7, or", "--mesh", "data=4", "--input", "x=5x1x28x28:rand", ranks=4)
        refused("an unknown axis", "names axis 'modle' and the mesh has data", *two, "--shard", "conv1.weight=modle,-,-,-")
        refused("a pin of nothing", "no state, constant or value 'w77'", *two, "--shard", "w77=data,-")
        refused("no launcher", "mpirun -np 2 ge run", *two, ranks=0)
        refused("more ranks than were started", "mpirun started 2", "--mesh", "data=3")
        refused("a watch", "--watch stops one process", *two, "--watch", "nan")
        refused("shards without a mesh", "--shard wants --mesh", "--shard", "w=data,-", ranks=0)
        started = {"RANK": "0", "WORLD_SIZE": "2"}
        refused("a launcher without MPI", "by mpirun -np", *two, ranks=0, env=started, code=2)
        parts = []
        for r, rows in enumerate(("x.npy", "other.npy")):
            np.save(self.scratch / rows, np.full((4, 1, 28, 28), r, np.float32))
            parts += [":"] * bool(r) + ["-np", "1", str(GE), "run", str(self.lenet), "--mesh", "data=2", "--input",
                                        f"x={self.scratch / rows}"]
        done = self.call("mpirun", *parts)
        self.check("other inputs on one rank", done.returncode == 2 and
                   "they differ in input 'x'" in done.stderr, done.stderr)
        options = {"sizes=4x1x28x28;batch=4": "give one of both", "sizes=4x1x28x28|5": "the entry takes 1",
                   "sizes=4x": "wanted those of each input", "sizes=4x1x28": "other sizes than the entry takes",
                   "sizes=scalar": "other sizes than the entry takes",
                   "sizes=4x1x28x28;entry=no": "no entry 'no'"}
        for text, words in options.items():
            done = self.call(GE, "dump", self.lenet, "--plugins", "parallel", "--pass", f"parallel:mesh=data=2;{text}",
                             "--to", "rewrite")
            self.check(f"pass {text}", done.returncode == 2 and words in done.stderr, done.stderr)


def main():
    parallel.want_mpi()
    with tempfile.TemporaryDirectory() as scratch:
        checks = Run(pathlib.Path(scratch))
        for part in (checks.as_one, checks.collectives, checks.saves_memory, checks.prints, checks.refuses):
            part()
    print(f"{checks.passed} passed, {checks.failed} failed, 0 skipped")
    sys.exit(checks.failed != 0)


if __name__ == "__main__":
    main()
