#!/usr/bin/env python3
"""`ge train --mesh data=N` under mpirun: losses and weights of two and three ranks against one
process on the same global batches, that all ranks hold the same bits, and each refusal."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = ROOT / os.environ.get("GE_BUILD", "build/release")
GE = BUILD / "bin/ge"
ENV = dict(os.environ, GE_CACHE_DIR="off", GE_PROBE="fixed", OMPI_ALLOW_RUN_AS_ROOT="1",
           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")


def in_float64(path, to):
    """The model with every float32 of it as float64."""
    model = onnx.load(str(path))
    for i, t in enumerate(model.graph.initializer):
        if t.data_type == TensorProto.FLOAT:
            model.graph.initializer[i].CopyFrom(
                numpy_helper.from_array(numpy_helper.to_array(t).astype(np.float64), t.name))
    for v in [*model.graph.input, *model.graph.output, *model.graph.value_info]:
        if v.type.tensor_type.elem_type == TensorProto.FLOAT:
            v.type.tensor_type.elem_type = TensorProto.DOUBLE
    onnx.save(model, str(to))
    return to


def ranks_of(mesh):
    """How many ranks a mesh has; 0 without one, which is one process without a launcher."""
    return int(np.prod([int(axis.split("=")[1]) for axis in mesh.split(",")])) if mesh else 0


class Checks:
    def __init__(self, scratch):
        self.scratch, self.passed, self.failed = scratch, 0, 0
        r = np.random.default_rng(5)
        y = r.integers(0, 10, 960)
        self.rows = r.standard_normal((10, 20))[y] + r.standard_normal((960, 20))
        self.pictures = r.random((10, 1, 28, 28))[y] + 0.3 * r.standard_normal((960, 1, 28, 28))
        self.labels = y
        self.lenet = ROOT / "build/models/lenet.onnx"

    def check(self, name, good, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}: {str(detail).strip()}")

    def data(self, name, x, dtype):
        np.savez(self.scratch / name, x=x.astype(dtype), y=self.labels)
        return self.scratch / name

    def mlp(self, name, norm=False):
        """Three layers as PyTorch exports them; with norm, what has no rule in between."""
        r, nodes, weights, last = np.random.default_rng(1), [], {}, "x"
        for i, (a, b) in enumerate([(20, 32), (32, 24), (24, 10)]):
            weights[f"w{i}"] = r.standard_normal((a, b)) / a ** 0.5
            weights[f"b{i}"] = r.standard_normal(b) * 0.1
            nodes.append(helper.make_node("MatMul", [last, f"w{i}"], [f"m{i}"]))
            last = "z" if i == 2 else f"a{i}"
            nodes.append(helper.make_node("Add", [f"m{i}", f"b{i}"], [last]))
            if i == 0 and norm:
                # LpNormalization has no rule, and is split along its second axis here.
                nodes += [helper.make_node("Transpose", [last], ["t"]),
                          helper.make_node("LpNormalization", ["t"], ["ts"], axis=0),
                          helper.make_node("Transpose", ["ts"], ["tt"])]
                last = "tt"
                for k, v in (("s", 1.0), ("o", 0.0), ("u", 0.0), ("v", 1.0)):
                    weights[k] = np.full(b, v)
                nodes.append(helper.make_node("BatchNormalization", [last, "s", "o", "u", "v"],
                                              ["n"]))
                last = "n"
            if i < 2:
                nodes.append(helper.make_node("Tanh" if i else "Relu", [last], [f"r{i}"]))
                last = f"r{i}"
        graph = helper.make_graph(
            nodes, "mlp", [helper.make_tensor_value_info("x", TensorProto.DOUBLE, ["N", 20])],
            [helper.make_tensor_value_info("z", TensorProto.DOUBLE, ["N", 10])],
            [numpy_helper.from_array(v, k) for k, v in weights.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.scratch / name))
        return self.scratch / name

    def call(self, *args, ranks=0, env=None, wait=120):
        line = (["mpirun", "-np", str(ranks)] if ranks else []) + list(map(str, args))
        return subprocess.run(line, capture_output=True, text=True, timeout=wait, check=False,
                              env={**ENV, **(env or {})})

    def train(self, net, data, *more, mesh="", tag="", batch=48):
        """Losses and weights of a run."""
        ranks = ranks_of(mesh)
        csv, out = self.scratch / f"{tag}{ranks}.csv", self.scratch / f"{tag}{ranks}.onnx"
        done = self.call(GE, "train", net, "--data", data, "--no-test", "--threads", 1, "--steps",
                         20, "--batch", batch, *more, "--log", f"csv:{csv}", "--export", out,
                         *(["--mesh", mesh] if mesh else []), ranks=ranks)
        if done.returncode:
            self.check(f"{tag}, mesh {mesh}", False, done.stderr)
            return None, None, done
        losses = np.array([float(line.split(",")[1])
                           for line in csv.read_text().splitlines()[1:]])
        weights = {t.name: numpy_helper.to_array(t)
                   for t in onnx.load(str(out)).graph.initializer}
        return losses, weights, done

    def as_one(self, tag, net, data, *more, bound=1e-9, meshes=("data=2", "data=3"), batch=48,
               only=()):
        """only: what is said to ranks alone."""
        one, weights, _ = self.train(net, data, *more, tag=tag, batch=batch)
        for mesh in meshes if one is not None else ():
            losses, same, done = self.train(net, data, *more, *only, mesh=mesh, tag=tag, batch=batch)
            if losses is None:
                continue
            self.check(f"{tag}: {mesh} has the losses of one",
                       len(losses) == 20 and np.abs(losses - one).max() <= bound,
                       (losses, one))
            worst = max(float(np.abs(same[k] - w).max()) for k, w in weights.items() if w.size)
            self.check(f"{tag}: {mesh} has the weights of one", worst <= 100 * bound, worst)
            self.check(f"{tag}: one rank prints", done.stdout.count("epoch 1/") == 1, done.stdout)
            self.check(f"{tag}: the loss falls or moves", one[0] != one[-1], one)

    def learns(self):
        rows, pictures = (self.data(n, x, np.float64) for n, x in
                          (("rows.npz", self.rows), ("pictures.npz", self.pictures)))
        wide = in_float64(self.lenet, self.scratch / "lenet64.onnx")
        self.as_one("lenet, adam", wide, pictures, "--optimizer", "adam")
        self.as_one("lenet, f32", self.lenet, self.data("narrow.npz", self.pictures, np.float32),
                    "--optimizer", "adam", bound=2e-3)
        mlp = self.mlp("mlp.onnx")
        self.as_one("mlp, clip", mlp, rows, "--lr", 0.1, "--momentum", 0.9, "--clip", 0.5,
                    "--weight-decay", 0.01)
        self.as_one("mlp, accumulate, ema", mlp, rows, "--optimizer", "adamw", "--accumulate", 2,
                    "--ema", 0.9, meshes=("data=2",))
        self.as_one("mlp, norm without a rule", self.mlp("norm.onnx", norm=True), rows, "--lr", 0.1)

    def rank_program(self):
        program = self.scratch / "rank_step"
        subprocess.run(["c++", "-std=c++20", "-O1", f"-I{ROOT}/sdk/include",
                        str(ROOT / "tests/e2e/training/rank_step.cc"), "-o", str(program),
                        f"-L{BUILD}/lib", "-lgraphengine", f"-Wl,-rpath,{BUILD}/lib"], check=True)
        return program

    def rank_line(self, program, net, dims, batch, steps, *, mesh="-", rank=0, first=0, size=None):
        return [str(program), str(net), "loss=softmax-ce;optimizer=adam", mesh, str(rank), str(first),
                str(batch if size is None else size), str(batch), str(steps), "10", *map(str, dims)]

    def rank_states(self, program, net, dims, ranks, batch, steps):
        """What each rank prints: losses and digests of its states."""
        each, parts = -(-batch // ranks), []
        for r in range(ranks):
            first = min(batch, r * each)
            parts += [":"] * bool(r) + ["-np", "1", "sh", "-c", 'exec "$@" > "$0"',
                                        str(self.scratch / f"rank{r}"),
                                        *self.rank_line(program, net, dims, batch, steps,
                                                        mesh=f"data={ranks}", rank=r, first=first,
                                                        size=min(each, batch - first))]
        done = self.call("mpirun", *parts, wait=600)
        self.check(f"{net.name}, batch {batch} on {ranks} ranks", done.returncode == 0, done.stderr)
        return [(self.scratch / f"rank{r}").read_text() for r in range(ranks)]

    def same_bits(self):
        """Every rank's states, and those of one process where shares are uneven."""
        program = self.rank_program()
        mlp, lenet = self.mlp("bits.onnx"), self.scratch / "lenet64.onnx"
        for name, net, dims, ranks, batch in (("mlp", mlp, [20], 2, 16), ("mlp", mlp, [20], 3, 10),
                                              ("lenet", lenet, [1, 28, 28], 2, 8)):
            one = self.call(*self.rank_line(program, net, dims, batch, 10))
            self.check(f"{name} runs alone", one.returncode == 0, one.stderr)
            texts = self.rank_states(program, net, dims, ranks, batch, 10)
            what = f"{name}, batch {batch} on {ranks} ranks"
            self.check(f"{what}: all have the same bits",
                       "state " in texts[0] and all(t == texts[0] for t in texts), texts)
            losses = [np.array([float(x) for x in re.findall(r"loss (\S+)", t)])
                      for t in (one.stdout, texts[0])]
            self.check(f"{what}: the losses of one",
                       len(losses[0]) == 10 and np.abs(losses[0] - losses[1]).max() < 1e-9, losses)

    def program(self):
        """What is in a rank's program: each gradient, the loss and the count once, together."""
        done = self.call(GE, "dump", self.lenet, "--plugins", "grad,parallel", "--pass",
                         "train:loss=softmax-ce", "--pass", "parallel:mesh=data=2;batch=64", "--to",
                         "rewrite")
        step = re.search(r'^fn "?parallel\.step"?\(.*?^}', done.stdout, re.M | re.S)
        nodes = re.findall(r"^ .*comm\.(\w+)\(([^)]*)\)", step[0] if step else "", re.M)
        self.check("one collective of 12 tensors",
                   [(op, len(x.split(","))) for op, x in nodes] == [("AllReduce", 12)], nodes)
        said = self.call(GE, "train", self.scratch / "norm.onnx", "--data",
                         self.scratch / "rows.npz", "--no-test", "--steps", 1, "--batch", 48,
                         "--mesh", "data=2", "-v", ranks=2)
        self.check("-v tells what is gathered", "no rule: LpNormalization" in said.stderr and
                   "bytes" in said.stderr, said.stderr)

    def counting(self):
        """LeNet with a node whose result is as long as its data say."""
        model = onnx.load(str(self.lenet))
        graph, last = model.graph, model.graph.output[0].name
        graph.node[-1].output[0] = "logits_before"
        graph.initializer.append(numpy_helper.from_array(np.float32(0), "nought"))
        graph.node.extend([
            helper.make_node("NonZero", ["logits_before"], ["places"]),
            helper.make_node("Cast", ["places"], ["numbers"], to=TensorProto.FLOAT),
            helper.make_node("ReduceSum", ["numbers"], ["all"], keepdims=0),
            helper.make_node("Mul", ["all", "nought"], ["none"]),
            helper.make_node("Add", ["logits_before", "none"], [last])])
        onnx.save(model, str(self.scratch / "counting.onnx"))
        return self.scratch / "counting.onnx"

    def refuses(self):
        def refused(name, words, *more, code=2, ranks=0, env=None, net=self.lenet):
            batch = [] if "--batch" in more else ["--batch", 48]
            data = ["--data", self.scratch / "narrow.npz", *batch, "--steps", 2]
            done = self.call(GE, "train", net, *data, *more, ranks=ranks, env=env)
            self.check(name, done.returncode == code and words in done.stderr,
                       (done.returncode, done.stderr))
        for bad in ("data", "data=0", "data=x", "=2", "data=2,", "data=2,model", "a b=2"):
            refused(f"mesh {bad}", "wanted AXIS=RANKS", "--mesh", bad)
        refused("an axis twice", "has axis 'data' twice", "--mesh", "data=2,data=2")
        refused("too many ranks", "wanted AXIS=RANKS", "--mesh", "data=1048576,model=2")
        refused("no launcher of four", "mpirun -np 4 ge train", "--mesh", "data=2,model=2")
        refused("shards of an unknown axis", "names axis 'modle' and the mesh has data, model",
                "--mesh", "data=2,model=2", "--shard", "conv1.weight=modle,-,-,-")
        for bad in ("conv1.weight", "conv1.weight=", "=data"):
            refused(f"shard {bad}", "wanted NAME=AXIS,-", "--mesh", "data=2", "--shard", bad)
        refused("shards without a mesh", "--shard wants --mesh", "--shard", "w=data,-")
        refused("states without a mesh", "--shard-states wants --mesh", "--shard-states")
        refused("states without the axis", "add data=RANKS to --mesh", "--mesh", "model=2",
                "--shard-states")
        refused("no launcher", "mpirun -np 2 ge train", "--mesh", "data=2")
        refused("more ranks than were started", "mpirun started 2", "--mesh", "data=3", ranks=2)
        for rank, count, launcher in (("PMI_RANK", "PMI_SIZE", "a launcher with PMI"),
                                      ("SLURM_PROCID", "SLURM_NTASKS", "Slurm"),
                                      ("RANK", "WORLD_SIZE", "torchrun")):
            refused(f"another number of ranks than {launcher} started",
                    f"{launcher} started 3 ({count})", "--mesh", "data=2", env={rank: "0", count: "3"})
        refused("sizes that the data decide", "no known size", "--mesh", "data=2", net=self.counting(),
                env={"RANK": "0", "WORLD_SIZE": "2"})
        refused("a rank without rows", "enough that each of 3 ranks has some", "--mesh", "data=3",
                "--batch", 4, ranks=3)
        started = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}
        nothing = self.scratch / "lib"
        nothing.mkdir()
        (nothing / "libmpi.so.40").write_text("")
        refused("no libmpi", "install the package openmpi-bin", "--mesh", "data=2",
                env={**started, "LD_LIBRARY_PATH": str(nothing)})
        refused("a launcher without MPI", "by mpirun -np", "--mesh", "data=2", env={"RANK": "0", "WORLD_SIZE": "2"})
        done = self.call(GE, "train", self.lenet, "--data", self.scratch / "narrow.npz", "--batch",
                         48, "--steps", 2, "--mesh", "data=1", "--no-test")
        self.check("a mesh of one is no mesh", done.returncode == 0, done.stderr)


def want_mpi():
    """Ends the script where ranks cannot be started."""
    if subprocess.run(["sh", "-c", "command -v mpirun"], capture_output=True,
                      check=False).returncode or not (BUILD / "lib/graphengine/mpi.so").exists():
        print("skipped: no Open MPI (apt-get install libopenmpi-dev openmpi-bin, then build)")
        print("0 passed, 0 failed, 1 skipped")
        sys.exit(0)


def main():
    want_mpi()
    with tempfile.TemporaryDirectory() as scratch:
        checks = Checks(pathlib.Path(scratch))
        for part in (checks.learns, checks.same_bits, checks.program, checks.refuses):
            part()
    print(f"{checks.passed} passed, {checks.failed} failed, 0 skipped")
    sys.exit(checks.failed != 0)


if __name__ == "__main__":
    main()
