#!/usr/bin/env python3
"""What the pass parallel makes beside the step: the metadata of a rank, the entry agree on two and three
MPI ranks, states in shares and eval, which gathers them; and entries that are refused there."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from parallel import BUILD, Checks as Training, ENV, GE, ROOT, want_mpi

sys.path.insert(0, str(ROOT / "tools" / "bench"))
from ge_session import GeSession  # noqa: E402

LENET = ROOT / "build/models/lenet.onnx"


def share(size, shares, rank):
    each = -(-size // shares)
    first = min(size, rank * each)
    return [first, min(each, size - first)]


def dims_of(text):
    return [int(d) for d in re.search(r"\[(.*)\]", text)[1].split(",") if d]


class Checks:
    def __init__(self, scratch):
        self.scratch, self.passed, self.failed = scratch, 0, 0

    def check(self, name, good, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}: {str(detail).strip()[-2000:]}")

    def passes(self, mesh, rank, batch=64, more="", train=""):
        return ["--plugins", "grad,parallel", "--pass", f"train:loss=softmax-ce;optimizer=adam{train}",
                "--pass", f"parallel:mesh={mesh};rank={rank};batch={batch}{more}"]

    def dump(self, *args):
        done = subprocess.run([str(GE), "dump", str(LENET), *args, "--to", "rewrite"],
                              capture_output=True, text=True, env=ENV, check=False)
        return done.stdout, done.stderr

    def ranks(self, mesh, lines, more="", train=""):
        """Each rank's line of `ge run`, its outputs by name."""
        outs = [pathlib.Path(tempfile.mkdtemp(dir=self.scratch)) for _ in lines]
        parts = []
        for r, line in enumerate(lines):
            parts += [":"] * bool(r) + ["-np", "1", str(GE), "run", str(LENET), "--threads", "1",
                                        *self.passes(mesh, r, 64, more, train), *map(str, line), "--output", str(outs[r])]
        done = subprocess.run(["mpirun", *parts], capture_output=True, text=True, env=ENV, timeout=120,
                              check=False)
        self.check(f"{mesh} runs", done.returncode == 0, done.stderr)
        return [{p.stem: np.load(p) for p in out.glob("*.npy")} for out in outs]

    def describes(self):
        for ranks, batch in ((2, 64), (3, 10)):
            for rank in range(ranks):
                said, err = self.dump(*self.passes(f"data={ranks}", rank, batch))
                found = re.search(r'^meta "parallel" = (".*")$', said, re.M)
                meta = json.loads(json.loads(found[1])) if found else {}
                name = f"rank {rank} of {ranks}"
                self.check(f"{name}: mesh", (meta.get("mesh"), meta.get("rank"), meta.get("batch")) ==
                           (f"data={ranks}", rank, batch), said[:2000] + err)
                rows = share(batch, ranks, rank)
                self.check(f"{name}: inputs", meta.get("inputs") ==
                           {"x": {"dims": [batch, 1, 28, 28],
                                  "box": [rows, [0, 1], [0, 28], [0, 28]]},
                            "label": {"dims": [batch], "box": [rows]}}, meta.get("inputs"))
                states = {m[1]: [int(d) for d in m[2].split(",") if d] for m in
                          re.finditer(r'^state "?([\w.]+)"? : \w+\[(.*?)\]', said, re.M)}
                self.check(f"{name}: whole states", len(states) == 31 and meta.get("states") ==
                           {k: {"dims": d, "box": [[0, n] for n in d], "holder": 0} for k, d in states.items()},
                           (states, meta.get("states")))
                entries = re.findall(r'^entry (\w+) "(\w+)"', said, re.M)
                self.check(f"{name}: entries", [e for e in entries if e[1] != "lenet"][-3:] ==
                           [("train_step", "train_step"), ("eval", "eval"), ("infer", "agree")], entries)

    def agrees(self):
        random = np.random.default_rng(7)
        for mesh, ranks in (("data=2", 2), ("data=3", 3)):
            for size in (1, 5):
                values = [random.standard_normal(size) for _ in range(ranks)]
                lines = []
                for r, v in enumerate(values):
                    np.save(self.scratch / f"v{r}.npy", v)
                    lines.append(["--entry", "agree", "--input", f"values={self.scratch / f'v{r}.npy'}"])
                for r, out in enumerate(self.ranks(mesh, lines)):
                    self.check(f"{mesh}: sums of rank {r}", "sum" in out and
                               np.allclose(out["sum"], np.sum(values, axis=0), rtol=1e-15), out)
                    self.check(f"{mesh}: least of rank {r}", "least" in out and
                               np.array_equal(out["least"], np.min(values, axis=0)), out)

    def shares_states(self):
        """States in shares: their boxes, their first content, and eval, which gathers them, on any rows."""
        whole, _ = self.dump(*self.passes("data=2", 0))
        sizes = dict(re.findall(r'^state "?([\w.]+)"? : (\w+\[.*?\])', whole, re.M))
        for ranks in (2, 3):
            for rank in range(ranks):
                said, err = self.dump(*self.passes(f"data={ranks}", rank, 12, ";states=data"))
                meta = json.loads(json.loads(re.search(r'^meta "parallel" = (".*")$', said, re.M)[1]))
                states = dict(re.findall(r'^state "?([\w.]+)"? : (\w+\[.*?\])', said, re.M))
                wrong = [k for k, s in meta["states"].items()
                         if dims_of(sizes[k]) != s["dims"] or dims_of(states[k]) != [n for _, n in s["box"]]]
                self.check(f"types of rank {rank} of {ranks} are its boxes", len(states) == 31 and
                           states.keys() == meta["states"].keys() and not wrong, (wrong, err))
        random = np.random.default_rng(8)
        x, y = random.standard_normal((8, 1, 28, 28)).astype(np.float32), random.integers(0, 10, 8)
        parts = [slice(0, 5), slice(5, 8)]
        lines = []
        for r, part in enumerate(parts):
            np.save(self.scratch / f"x{r}.npy", x[part])
            np.save(self.scratch / f"y{r}.npy", y[part])
            lines.append(["--entry", "eval", "--input", f"x={self.scratch / f'x{r}.npy'}",
                          "--input", f"label={self.scratch / f'y{r}.npy'}"])
        found = self.ranks("data=2", lines, ";states=data")
        for r, line in enumerate(lines):
            out = self.scratch / f"alone{r}"
            done = subprocess.run([str(GE), "run", str(LENET), "--threads", "1", "--plugins", "grad",
                                   "--pass", "train:loss=softmax-ce;optimizer=adam", *map(str, line),
                                   "--output", str(out)], capture_output=True, text=True, env=ENV, check=False)
            alone = {p.stem: np.load(p) for p in out.glob("*.npy")}
            self.check(f"eval of rank {r} on its rows", len(alone) == 3 and alone.keys() == found[r].keys() and
                       all(np.allclose(alone[k], found[r][k], rtol=1e-5, atol=1e-6) for k in alone),
                       (done.stderr, {k: np.abs(alone[k] - found[r][k]).max() for k in alone}))

    def gathers_whole(self):
        """The entry whole: weights and averages, without slots, as the file has them."""
        file = {w.name: numpy_helper.to_array(w) for w in onnx.load(str(LENET)).graph.initializer}
        said, _ = self.dump(*self.passes("data=2", 0))
        self.check("no entry whole where states are", 'entry infer "whole"' not in said, said[-300:])
        for rank, out in enumerate(self.ranks("data=3", [["--entry", "whole"]] * 3, ";states=data", ";ema=0.9")):
            wanted = {k: v for k, v in file.items() if any(share(n, 3, 2)[1] for n in v.shape)}
            self.check(f"whole of rank {rank}: names", len(wanted) > 8 and
                       out.keys() == wanted.keys() | {f"{k}.ema" for k in wanted}, (out.keys(), wanted.keys()))
            self.check(f"whole of rank {rank}: numbers", all(
                np.array_equal(v, file[k.removesuffix(".ema")]) for k, v in out.items()))

    def counts_bytes(self):
        """Bytes of states on each rank by the formula: of dims that give every rank some the first is split,
        in shares rounded up; what has none is whole. 31 and 19 states of AdamW."""
        for net, n_states in ((LENET, 31), (ROOT / "build/models/mlp.onnx", 19)):
            def load(passes, net=net):
                session = GeSession(net, library=BUILD / "lib/libgraphengine.so",
                                    plugins="grad,parallel", passes=passes)
                return session, json.loads(session.metadata("parallel") or "{}").get("states")
            step = "train:loss=softmax-ce;optimizer=adamw"
            alone, _ = load(step)
            for ranks in (2, 4):
                total = 0
                for rank in range(ranks):
                    session, states = load(f"{step},parallel:mesh=data={ranks};rank={rank};batch=64;"
                                           "states=data")
                    for name, s in states.items():
                        whole, own = alone.state(name), session.state(name)
                        split = next((d for d, n in enumerate(whole.shape)
                                      if share(n, ranks, ranks - 1)[1] > 0), None)
                        box = [slice(None)] * whole.ndim
                        if split is not None:
                            first, size = share(whole.shape[split], ranks, rank)
                            box[split] = slice(first, first + size)
                        wanted = whole[tuple(box)]
                        self.check(f"{net.name}: state {name} of rank {rank} of {ranks}",
                                   own.nbytes == wanted.nbytes and np.array_equal(own, wanted),
                                   (own.shape, wanted.shape))
                        total += own.nbytes if split is not None else 0
                    self.check(f"{net.name}: states", len(states) == n_states, len(states))
                    session.close()
                once = sum(alone.state(name).nbytes for name in states
                           if any(share(n, ranks, ranks - 1)[1] for n in alone.state(name).shape))
                self.check(f"{net.name}: {ranks} ranks have each split state once", total == once,
                           (total, once))
            alone.close()

    def saves_memory(self, times):
        """AdamW of an MLP of 33.6 MB: what its states take on 2 and 4 ranks; with several runs, by their medians
        the most that the process had. Of what shares save a step wants the weights back, gathered; 0.9 of the
        rest is to be seen. One run tells little: how many collectives are under way at once changes with time."""
        random, nodes, weights, last = np.random.default_rng(2), [], [], "x"
        for i in range(8):
            weights += [numpy_helper.from_array(random.standard_normal((1024, 1024)).astype(np.float32) / 32,
                                                f"w{i}"),
                        numpy_helper.from_array(np.zeros(1024, np.float32), f"b{i}")]
            nodes.append(helper.make_node("Gemm", [last, f"w{i}", f"b{i}"], [f"a{i}"]))
            last = f"a{i}"
        graph = helper.make_graph(nodes, "mlp",
                                  [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 1024])],
                                  [helper.make_tensor_value_info(last, TensorProto.FLOAT, ["N", 1024])],
                                  weights)
        net = self.scratch / "large.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), net)
        once = 8 * (1024 * 1024 + 1024) * 4
        for ranks in (2, 4):
            peaks = []
            for more, wanted in (("", 3 * once + 8), (";states=data", 3 * once // ranks + 8)):
                parts = []
                for r in range(ranks):
                    parts += [":"] * bool(r) + [
                        "-np", "1", "sh", "-c", 'exec "$@" > "$0"', str(self.scratch / f"json{r}"), str(GE),
                        "run", str(net), "--threads", "1", "--repeat", "2", "--json", "--plugins",
                        "grad,parallel", "--pass", "train:loss=softmax-ce;optimizer=adamw", "--pass",
                        f"parallel:mesh=data={ranks};rank={r};batch=64{more}", "--entry", "train_step",
                        "--input", f"x={64 // ranks}x1024:rand", "--input", f"label={64 // ranks}:rand"]
                most = [self.steps_of(parts, ranks, wanted, more) for _ in range(times)]
                peaks.append(np.median(most))
            saved = (3 * once - 3 * once // ranks - once) / 2 ** 20
            if times > 1:
                print(f"{ranks} ranks: {peaks[0]:.1f} MiB whole, {peaks[1]:.1f} in shares, {saved:.1f} to be saved")
                self.check(f"{ranks} ranks with shares have less at once", peaks[0] - peaks[1] >= 0.9 * saved,
                           (peaks, saved))

    def steps_of(self, parts, ranks, wanted, more):
        """MiB that the rank with most had at once."""
        done = subprocess.run(["mpirun", *parts], capture_output=True, text=True, env=ENV, timeout=300, check=False)
        self.check(f"{ranks} ranks{more} run", done.returncode == 0, done.stderr)
        said = [json.loads((self.scratch / f"json{r}").read_text()) for r in range(ranks)]
        for r, one in enumerate(said):
            self.check(f"bytes of states of rank {r} of {ranks}{more}", one["state_bytes_written"] == wanted,
                       (one["state_bytes_written"], wanted))
        return max(one["peak_rss_mb"] for one in said)

    def trains(self):
        """Steps on states in shares: the losses of one process."""
        data = Training(self.scratch)
        rows = data.data("rows.npz", data.rows, np.float64)
        net, seen = data.mlp("mlp.onnx"), {}
        for mesh, ranks in (("", 0), ("data=2", 2), ("data=3", 3)):
            csv = self.scratch / f"losses{ranks}.csv"
            done = data.call(GE, "train", net, "--data", rows, "--no-test", "--threads", 1, "--steps", 20,
                             "--batch", 48, "--optimizer", "adamw", "--clip", 0.5, "--ema", 0.9,
                             "--log", f"csv:{csv}", *(["--mesh", mesh, "--shard-states"] if mesh else []),
                             ranks=ranks)
            self.check(f"shares on {mesh or 'one process'}", done.returncode == 0, done.stderr)
            lines = csv.read_text().splitlines()[1:] if csv.exists() else []
            seen[mesh] = np.array([float(line.split(",")[1]) for line in lines])
            self.check(f"shares on {mesh}: the losses of one", len(seen[mesh]) == 20 and
                       np.abs(seen[mesh] - seen[""]).max() <= 1e-9, (seen[mesh], seen[""]))

    def refuses(self):
        for train, words in (("init=1", "entry 'init' uses state 'w1', of which each rank has a share, by Assign; on many ranks train_step alone writes"),
                             ("update=1", "entry 'update' uses state 'w1.mean', of which each rank has")):
            for more in (";states=data", ""):
                said, err = self.dump(*self.passes("data=2", 1, 64, more, ";" + train))
                good = words in err and not said if more else f'"{train[:-2]}" = {train[:-2]}' in said
                self.check(f"{train}{more}", good, err + said[-300:])


def main():
    want_mpi()
    with tempfile.TemporaryDirectory() as scratch:
        checks = Checks(pathlib.Path(scratch))
        if "--memory" in sys.argv:
            checks.saves_memory(9)
            print(f"{checks.passed} passed, {checks.failed} failed, 0 skipped")
            sys.exit(checks.failed != 0)
        checks.describes()
        checks.agrees()
        checks.shares_states()
        checks.gathers_whole()
        checks.counts_bytes()
        checks.saves_memory(1)
        checks.trains()
        checks.refuses()
    print(f"{checks.passed} passed, {checks.failed} failed, 0 skipped")
    sys.exit(checks.failed != 0)


if __name__ == "__main__":
    main()
