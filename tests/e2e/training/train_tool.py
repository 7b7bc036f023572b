#!/usr/bin/env python3
"""`ge train` from end to end: what it learns, that a seed gives the same bits, that a run which is
killed at any step goes on to the same end, the export, each reader of data, and each refusal. With
--events, in a Python that has TensorBoard: what TensorBoard reads of a log."""
import argparse
import gzip
import json
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
GE = ROOT / "build/release/bin/ge"


def read_events(folder, out):
    """As TensorBoard sees it, for the caller's Python, which need not have it."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    seen = EventAccumulator(folder, size_guidance={"scalars": 0, "histograms": 0})
    seen.Reload()
    last = seen.Histograms("w0")[-1]
    json.dump({"scalars": {t: [[s.step, s.value] for s in seen.Scalars(t)]
                           for t in seen.Tags()["scalars"]},
               "w0": {"step": last.step, "num": last.histogram_value.num,
                      "min": last.histogram_value.min, "sum": last.histogram_value.sum,
                      "buckets": sum(last.histogram_value.bucket)},
               "graph": [[n.name, n.op, list(n.input)] for n in seen.Graph().node]}, out)


class Checks:
    def __init__(self, scratch):
        import numpy as np
        self.np, self.scratch, self.passed, self.failed = np, scratch, 0, 0
        r = np.random.default_rng(5)
        # Three heaps of points, and a part to test with.
        middle = r.standard_normal((3, 5)) * 2
        self.y = r.integers(0, 3, 500)
        self.x = (middle[self.y] + r.standard_normal((500, 5))).astype(np.float32)
        self.npz = scratch / "heaps.npz"
        np.savez(self.npz, x_train=self.x[:400], y_train=self.y[:400], x_test=self.x[400:],
                 y_test=self.y[400:])
        self.net = self.model("net.onnx", [5, 16, 3])

    def model(self, name, sizes, shape=None, drop=False):
        """Layers of these sizes; `shape` of the input where it has more axes."""
        import onnx
        from onnx import TensorProto, helper, numpy_helper
        r, nodes, weights, last = self.np.random.default_rng(1), [], {}, "x"
        if shape:
            nodes.append(helper.make_node("Flatten", ["x"], ["flat"]))
            last = "flat"
        for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
            weights[f"w{i}"] = (r.standard_normal((b, a)) / a ** 0.5).astype(self.np.float32)
            weights[f"b{i}"] = self.np.zeros(b, self.np.float32)
            end = i + 2 == len(sizes)
            nodes.append(helper.make_node("Gemm", [last, f"w{i}", f"b{i}"],
                                          ["logits" if end else f"y{i}"], transB=1))
            if not end:
                nodes.append(helper.make_node("Relu", [f"y{i}"], [f"r{i}"]))
                last = f"r{i}"
            if drop and not end:
                nodes.append(helper.make_node("Dropout", [last], [f"d{i}"]))
                last = f"d{i}"
        graph = helper.make_graph(
            nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT,
                                                         ["N", *(shape or sizes[:1])])],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", sizes[-1]])],
            [numpy_helper.from_array(v, k) for k, v in weights.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.scratch / name))
        return self.scratch / name

    def check(self, name, good, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}: {str(detail).strip()}")

    def args(self, *more, net=None, data=None):
        own = {"--batch": "20", "--optimizer": "adam", "--lr": "0.01"}
        own = [part for pair in own.items() if pair[0] not in more for part in pair]
        return [str(GE), "train", str(net or self.net), "--data", str(data or self.npz), *own,
                *map(str, more)]

    def call(self, *more, **which):
        return subprocess.run(self.args(*more, **which), capture_output=True, text=True,
                              timeout=120, check=False)

    def last(self, *more, **which):
        done = self.call("--json", *more, **which)
        if done.returncode:
            self.check(" ".join(map(str, more)), False, done.stderr)
            return {}
        return json.loads(done.stdout.splitlines()[-1])

    def learns(self):
        out, again, other = (self.scratch / f"{n}.onnx" for n in ("out", "again", "other"))
        last = self.last("--epochs", 8, "--export", out, "--plot", self.scratch / "curves.png")
        self.check("it learns", last.get("test_accuracy", 0) > 0.9, last)
        self.check("counts its steps", last.get("steps") == 160, last)
        self.check("says how fast", last.get("steps_per_s", 0) > 0, last)
        import onnxruntime
        z = onnxruntime.InferenceSession(str(out)).run(None, {"x": self.x[400:]})[0]
        self.check("ONNX Runtime gives the export the same accuracy",
                   abs((z.argmax(1) == self.y[400:]).mean() - last.get("test_accuracy", 0)) < 1e-9)
        self.last("--epochs", 8, "--export", again)
        self.check("the same seed, the same bytes", out.read_bytes() == again.read_bytes())
        self.last("--epochs", 8, "--seed", 2, "--export", other)
        self.check("another seed, others", out.read_bytes() != other.read_bytes())
        png = (self.scratch / "curves.png").read_bytes()
        self.check("a picture of 860 by 500",
                   png[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", png[16:24]) == (860, 500))
        text = self.call("--epochs", 2)
        self.check("a line for each epoch", text.stdout.count("test accuracy") == 2, text.stdout)

    def order(self):
        """The order of samples, by docs/data.md: training on them as they lie is the same."""
        rows = sum((order_of(7, epoch, 400, 20) for epoch in (0, 1)), [])
        lie = self.scratch / "lie.npz"
        self.np.savez(lie, x=self.x[rows], y=self.y[rows])
        a, b = self.scratch / "a.csv", self.scratch / "b.csv"
        self.last("--epochs", 2, "--seed", 7, "--log", f"csv:{a}")
        self.last("--epochs", 1, "--seed", 7, "--no-shuffle", "--log", f"csv:{b}", data=lie)
        self.check("the order of docs/data.md", a.read_text() == b.read_text())
        self.check("40 losses", len(a.read_text().splitlines()) == 41)

    def resumes(self):
        """Killed at five moments; each time the run goes on to the bytes that it would have had."""
        net = self.model("drop.onnx", [5, 64, 64, 3], drop=True)
        run = ["--epochs", 60, "--checkpoint-every", 7, "--momentum", 0, "--schedule", "cosine"]
        whole, part = self.scratch / "whole.onnx", self.scratch / "part.onnx"
        wanted = self.last(*run, "--export", whole, net=net)
        folder = self.scratch / "checkpoint"
        kills = at = 0
        r = self.np.random.default_rng(3)
        for _ in range(5):
            # The tool writes nothing but the checkpoint, so that is what says where it is.
            child = subprocess.Popen(self.args(*run, "--checkpoint", folder, "--resume", net=net),
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            goal, end = at + int(r.integers(50, 250)), time.monotonic() + 60
            while child.poll() is None and time.monotonic() < end and step_of(folder) < goal:
                time.sleep(0.001)
            kills += child.poll() is None
            child.send_signal(signal.SIGKILL)
            child.wait()
            at = step_of(folder)
        found = self.last(*run, "--checkpoint", folder, "--resume", "--export", part, net=net)
        self.check("it was killed on its way", kills >= 3 and 0 < at < 1200, (kills, at))
        self.check("it went on", found.get("resumed_at") == at, (found, at))
        self.check("killed and resumed: the same weights", whole.read_bytes() == part.read_bytes())
        self.check("and the same loss", found.get("train_loss") == wanted.get("train_loss"))
        states = [p.name for p in folder.iterdir() if p.name.startswith("states-")]
        self.check("one checkpoint is left", len(states) == 1, states)
        over = self.last(*run, "--checkpoint", folder, "--resume", net=net)
        self.check("a finished run has nothing to do", over.get("steps") == 1200
                   and over.get("train_loss") == wanted.get("train_loss"), over)
        for change, what in ((["--seed", 5], "seed"), (["--batch", 10], "batch"),
                             (["--lr", 0.1], "pass"), (["--no-shuffle"], "shuffle")):
            self.refused(f"its {what} is", *run, "--checkpoint", folder, "--resume", *change,
                         net=net)
        (folder / "checkpoint.json").write_text("{}")
        self.refused("it is not what ge train writes", *run, "--checkpoint", folder, "--resume",
                     net=net)

    def terminal(self):
        """A bar on a terminal and none in a pipe; an interrupted run says so and can go on."""
        ours, theirs = pty.openpty()
        run = self.args("--epochs", 200, "--checkpoint", self.scratch / "stopped",
                        "--checkpoint-every", 50)
        child = subprocess.Popen(run, stdout=subprocess.PIPE, stderr=theirs)
        os.close(theirs)
        seen, end = b"", time.monotonic() + 60
        while b"steps/s" not in seen and time.monotonic() < end:
            seen += os.read(ours, 4096)
        while step_of(self.scratch / "stopped") == 0 and time.monotonic() < end:
            time.sleep(0.001)
        child.send_signal(signal.SIGINT)
        lines = child.communicate(timeout=60)[0]
        os.close(ours)
        self.check("a bar", b"\repoch" in seen.replace(b"\x1b[K", b"") and b"[" in seen, seen[:200])
        self.check("no bar on stdout", b"\r" not in lines, lines[:200])
        self.check("interrupted", child.returncode == 130, child.returncode)
        at = step_of(self.scratch / "stopped")
        last = self.last("--steps", at + 7, "--epochs", 200, "--checkpoint",
                         self.scratch / "stopped", "--resume")
        self.check("an interrupted run goes on",
                   at > 0 and last.get("resumed_at") == at and last["steps"] == at + 7, (at, last))
        self.check("no bar in a pipe", "\r" not in self.call("--epochs", 2).stderr)

    def refused(self, wanted, *more, **which):
        done = self.call(*more, **which)
        self.check(wanted, done.returncode == 2 and wanted in done.stderr,
                   done.stderr or done.stdout)

    def readers(self):
        np, folder = self.np, self.scratch / "idx"
        folder.mkdir()
        r = np.random.default_rng(2)
        y = r.integers(0, 3, 120).astype(np.uint8)
        x = r.integers(0, 90, (120, 4, 4)).astype(np.uint8)
        x[np.arange(120), y] += 150  # the class is a bright row
        for name, a, pack in (("train-images-idx3", x, True), ("train-labels-idx1", y, False),
                              ("t10k-images-idx3", x[:50], False),
                              ("t10k-labels-idx1", y[:50], True)):
            data = struct.pack(f">4B{a.ndim}I", 0, 0, 8, a.ndim, *a.shape) + a.tobytes()
            path = folder / (name + "-ubyte" + (".gz" if pack else ""))
            path.write_bytes(gzip.compress(data) if pack else data)
        net = self.model("rows.onnx", [16, 12, 3], shape=[1, 4, 4])
        csv = self.scratch / "idx.csv"
        last = self.last("--epochs", 20, "--log", f"csv:{csv}", net=net, data=folder)
        self.check("idx files", last.get("test_accuracy", 0) > 0.95, last)
        for packed, save in (("packed.npz", np.savez_compressed), ("plain.npz", np.savez)):
            save(self.scratch / packed, x_train=x, y_train=y, x_test=x[:50], y_test=y[:50])
            other = self.scratch / f"{packed}.csv"
            self.last("--epochs", 20, "--log", f"csv:{other}", net=net, data=self.scratch / packed)
            self.check(f"{packed} gives what idx files give", other.read_text() == csv.read_text())
        self.pictures(net, x, y, csv)
        self.numbers()

    def pictures(self, net, x, y, csv):
        """As .pgm files in the order in which they are read: the losses are those of the arrays."""
        folder = self.scratch / "pictures"
        for part, n in (("train", 120), ("test", 50)):
            for i in range(n):
                to = folder / part / f"class {y[i]}" / f"{i:03}.pgm"
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(b"P5 4 4 255\n" + x[i].tobytes())
        rows = self.np.argsort(y, kind="stable")
        self.np.savez(self.scratch / "sorted.npz", x=x[rows], y=y[rows])
        logs = [self.scratch / "pictures.csv", self.scratch / "sorted.csv"]
        last = self.last("--epochs", 20, "--log", f"csv:{logs[0]}", net=net, data=folder)
        self.check("pictures", last.get("test_accuracy", 0) > 0.95, last)
        self.last("--epochs", 20, "--log", f"csv:{logs[1]}", net=net,
                  data=self.scratch / "sorted.npz")
        self.check("pictures give what their array gives",
                   logs[0].read_text() == logs[1].read_text())
        (folder / "train" / "class 0" / "wide.pgm").write_bytes(b"P5 5 4 255\n" + bytes(20))
        for more in ("", " | resize 4x4"):
            self.last("--log", f"csv:{logs[len(more) > 0]}", net=net, data=f"{folder}{more}")
        self.check("a picture of another size is brought to the net's",
                   logs[0].read_text() == logs[1].read_text())
        (folder / "train" / "class 0" / "wide.pgm").write_bytes(b"no picture")
        self.refused("class 0/wide.pgm', column 'picture': the 10 bytes begin with", "--epochs", 2,
                     net=net, data=folder)

    def numbers(self):
        """Labels that are numbers."""
        np = self.np
        to = np.stack([self.x[:, 0] + 1, self.x[:, 1] * 2, -self.x[:, 2]], 1).astype(np.float64)
        np.savez(self.scratch / "to.npz", x=self.x, y=to)
        last = self.last("--epochs", 30, "--loss", "mse", data=self.scratch / "to.npz")
        self.check("mse learns numbers", last.get("train_loss", 9) < 0.3, last)
        self.check("no accuracy of numbers", last.get("test_accuracy", 0) is None
                   and last.get("train_accuracy", 0) is None, last)

    def refusals(self):
        np, npz = self.np, self.scratch / "bad.npz"

        def data(**arrays):
            np.savez(npz, **arrays)
            return npz
        x, y = self.x[:40], self.y[:40]
        self.refused("cannot open 'mnist': No such file", data="mnist")
        nothing = self.scratch / "nothing"
        nothing.mkdir()
        self.refused("has no pictures; wanted CLASS/FILE", data=nothing)
        self.refused("has no column for the net's input 'x'; it has 'z'", data=data(z=x))
        self.refused("are of 4 each, wanted 5 as the net's 'x'", data=data(x=x[:, :4], y=y))
        self.refused("column 'x' has 40 rows, column 'y' 39", data=data(x=x, y=y[1:]))
        self.refused("has no column of labels, and loss softmax-ce wants some; it has 'x'", data=data(x=x))
        self.refused("is 3, wanted 0 to 2, as the net has 3 classes", data=data(x=x, y=y * 0 + 3))
        self.refused("wanted whole numbers", data=data(x=x, y=y + 0.5))
        self.refused("--batch is 41, more than the 40 samples", "--batch", 41, data=data(x=x, y=y))
        self.refused("--batch is 0", "--batch", 0)
        self.refused("--resume wants --checkpoint DIR", "--resume")
        self.refused("--log is 'wandb:x', wanted tensorboard:DIR or csv:FILE", "--log", "wandb:x")
        self.refused("optimizer is 'adams', wanted sgd", "--optimizer", "adams")
        self.refused("freeze 'w9' fits no weight", "--freeze", "w9")
        whole = self.npz.read_bytes()
        for wanted, damage in (("not a usable", whole[:-40]), ("not a usable", b""),
                               ("is damaged: its checksum", whole.replace(b"(400, 5)", b"(401, 5)", 1)),
                               ("is damaged: its checksum", whole.replace(b"NUMPY", b"NUMPI", 1))):
            npz.write_bytes(damage)
            self.refused(wanted, data=npz)
        self.damage(whole, npz)
        folder = self.scratch / "idx"
        for damage in (b"\0\0\x0d\1", b"\0\0\x08\1\0\0\0\x09abc", b"\0\0\x08\1\0\0\0\1ab", b"\0"):
            (folder / "train-labels-idx1-ubyte").write_bytes(damage)
            self.refused("is not a usable idx file", data=folder, net=self.scratch / "rows.onnx")

    def damage(self, whole, npz):
        """Bytes that are anything: an answer or a refusal, never a crash."""
        r, codes = self.np.random.default_rng(8), set()
        packed = self.scratch / "small.npz"
        self.np.savez_compressed(packed, x=self.x[:40], y=self.y[:40])
        for source in (whole, packed.read_bytes()):
            for i in range(40):
                bad = bytearray(source)
                # Headers and the directory are where sizes are.
                at = len(bad) - 1 - int(r.integers(0, 700)) if i % 2 else int(r.integers(0, 300))
                bad[at % len(bad)] = int(r.integers(0, 256))
                npz.write_bytes(bytes(bad[:int(r.integers(1, len(bad)))] if i % 10 == 0 else bad))
                codes.add(self.call("--steps", 1, data=npz).returncode)
        self.check("damaged arrays are refused or read", codes <= {0, 2} and 2 in codes, codes)

    def records(self):
        """The framing of a log; what is in it, TensorBoard itself tells (--tensorboard)."""
        folder = self.scratch / "records"
        self.last("--epochs", 2, "--log", f"tensorboard:{folder}")
        data, lengths = next(folder.iterdir()).read_bytes(), []
        self.check("checksums are CRC-32C", crc32c(b"123456789") == 0xe3069283)
        while data:
            head, rest = data[:12], data[12:]
            n = struct.unpack("<Q", head[:8])[0]
            good = masked(head[:8]) == struct.unpack("<I", head[8:])[0] and len(rest) >= n + 4
            good = good and masked(rest[:n]) == struct.unpack("<I", rest[n:n + 4])[0]
            if not good:
                return self.check("records are whole", False, f"record {len(lengths)}")
            lengths.append(n)
            data = rest[n + 4:]
        # The version, the graph; 40 steps with 3 numbers; 2 tests with 2; 12 states twice.
        return self.check("records", len(lengths) == 2 + 40 * 3 + 2 * 2 + 2 * 12, len(lengths))

    def events(self, python):
        folder = self.scratch / "tensorboard"
        csv = self.scratch / "tb.csv"
        last = self.last("--epochs", 3, "--log", f"tensorboard:{folder}", "--log", f"csv:{csv}",
                         "--eval-every", 10)
        done = subprocess.run([python, __file__, "--events", folder], capture_output=True,
                              text=True, timeout=300, check=False)
        self.check("TensorBoard reads it", done.returncode == 0, done.stderr[-2000:])
        if done.returncode:
            return
        seen, np = json.loads(done.stdout), self.np
        losses = [float(line.split(",")[1]) for line in csv.read_text().splitlines()[1:]]
        got = seen["scalars"]["train/loss"]
        self.check("each step's loss", [s for s, _ in got] == list(range(1, 61))
                   and np.allclose([v for _, v in got], losses, rtol=1e-6, atol=0), got[:3])
        tests = seen["scalars"]["test/accuracy"]
        self.check("tests every ten steps", [s for s, _ in tests] == [10, 20, 30, 40, 50, 60]
                   and abs(tests[-1][1] - last["test_accuracy"]) < 1e-6, tests)
        self.check("a histogram of every number", seen["w0"]["num"] == 80
                   and seen["w0"]["buckets"] == 80 and seen["w0"]["step"] == 60, seen["w0"])
        self.check("the graph", ["Gemm_3", "Gemm", ["Relu_2", "w1", "b1"]] in seen["graph"],
                   seen["graph"])


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def order_of(seed, epoch, count, batch):
    """The rows of an epoch, by the Python of docs/data.md."""
    page, scope = (ROOT / "docs/data.md").read_text(), {}
    exec(next(b for b in re.findall(r"```python\n(.*?)```", page, re.S) if "def order" in b), scope)
    rows = count // batch * batch
    return [scope["order"](epoch * rows + i, count, rows, seed) for i in range(rows)]


def step_of(folder):
    try:
        return json.loads((folder / "checkpoint.json").read_text())["step"]
    except FileNotFoundError:
        return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", help="print what TensorBoard reads of this folder")
    parser.add_argument("--tensorboard", help="a Python that has TensorBoard: check the log, too")
    a = parser.parse_args()
    if a.events:
        return read_events(a.events, sys.stdout)
    os.environ.update(GE_CACHE_DIR="off", GE_PROBE="fixed")
    with tempfile.TemporaryDirectory() as scratch:
        checks = Checks(pathlib.Path(scratch))
        for part in (checks.learns, checks.order, checks.resumes, checks.terminal,
                     checks.readers, checks.records, checks.refusals):
            part()
        if a.tensorboard:
            checks.events(a.tensorboard)
    print(f"{checks.passed} passed, {checks.failed} failed, 0 skipped")
    return checks.failed > 0


if __name__ == "__main__":
    sys.exit(main())
