#!/usr/bin/env python3
"""`ge train` on pipes: the lines of docs/training.md as they stand there, over photos, a table and a text;
test parts; runs that are killed (-9) and go on to the same weights and losses; another pipe, seed or
data refused by name. --kills says how often each is killed. The last line counts checks."""
import argparse
import math
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

import train_tool
from train_tool import GE, ROOT, step_of

PHOTOS = "photos | random-resized-crop 224 | flip | normalise imagenet"
TEXT = "corpus.txt | tokens bytes | pack 128"


def save(path, nodes, inputs, output, weights):
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node(op, i.split(), [o], **more) for op, i, o, more in nodes], "net",
        [value(n, t, d) for n, t, d in inputs], [value("logits", TensorProto.FLOAT, output)],
        [numpy_helper.from_array(v.astype(np.float32), k) for k, v in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def nets(here):
    r = np.random.default_rng(1)
    save(here / "photos.onnx", [("AveragePool", "x", "p", {"kernel_shape": [32, 32], "strides": [32, 32]}),
                                ("Flatten", "p", "f", {}), ("Gemm", "f w b", "logits", {})],
         [("x", TensorProto.FLOAT, ["N", 3, 224, 224])], ["N", 3],
         {"w": r.standard_normal((147, 3)) * 0.02, "b": np.zeros(3)})
    save(here / "table.onnx", [("Gemm", "x w b", "logits", {})], [("x", TensorProto.FLOAT, ["N", 2])],
         ["N", 3], {"w": r.standard_normal((2, 3)), "b": np.zeros(3)})
    save(here / "text.onnx", [("Gather", "table x", "e", {}), ("MatMul", "e w", "logits", {})],
         [("x", TensorProto.INT64, ["N", 128])], ["N", 128, 256],
         {"table": r.standard_normal((256, 16)), "w": r.standard_normal((16, 256)) * 0.1})


def files(here):
    r = np.random.default_rng(2)
    for part, count in (("train", 32), ("test", 12)):
        for i in range(count * 3):
            size = [int(n) for n in r.integers(80, 300, 2)]
            pixels = r.integers(0, 80, (*size, 3))
            pixels[..., i % 3] += 120
            path = here / "photos" / part / f"kind {i % 3}" / f"{i:03}.{'jpg' if i % 2 else 'png'}"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels.astype(np.uint8)).save(path)
    for name, count in (("a.csv", 300), ("b.csv", 60)):
        kind = r.integers(0, 3, count)
        rows = [f"{100 * k + 20 * a:.3f},{50 - 20 * k + 5 * b:.3f},{'abc'[k]}"
                for k, a, b in zip(kind, *r.standard_normal((2, count)))]
        (here / name).write_text("\n".join(["width,height,class", *rows]) + "\n")
    words = "the order of rows is a function of their positions and of nothing else".split()
    (here / "corpus.txt").write_text("".join(" ".join(r.choice(words, 9)) + "\n" for _ in range(900)))


def unigram(path):
    counts = np.bincount(np.frombuffer(path.read_bytes(), np.uint8))
    p = counts[counts > 0] / counts.sum()
    return -(p * np.log(p)).sum()


class Pipes(train_tool.Checks):
    def __init__(self, scratch):
        super().__init__(scratch)
        nets(scratch)
        files(scratch)
        os.chdir(scratch)

    def typed(self):
        """The lines of the page, with few epochs for what learns slowly."""
        page = (ROOT / "docs/training.md").read_text()
        block = next(b for b in re.findall(r"```sh\n(.*?)```", page, re.S) if "--data 'photos" in b)
        more = {"photos.onnx": ["--epochs", "3"], "table.onnx": ["--epochs", "20", "--lr", "0.1"],
                "text.onnx": ["--epochs", "30", "--lr", "0.05"]}
        for line in block.splitlines():
            net = line.split()[2]
            if net not in more:
                continue
            done = subprocess.run([str(GE), *shlex.split(line)[1:], "--batch", "16"], capture_output=True,
                                  text=True, check=False)
            self.check(line, done.returncode == 0, done.stderr)
            words = shlex.split(line)[3:]
            last = self.last(*words[2:], *more[net], "--batch", 16, net=net, data=words[1])
            self.check(f"{net}: waits for data", 0 <= last.get("data_wait", -1) < 1, last)
            if net == "text.onnx":
                self.check("text: below the entropy of single bytes",
                           last.get("train_loss", 9) < unigram(self.scratch / "corpus.txt") - 0.3, last)
            else:
                self.check(f"{net} learns", last.get("test_accuracy", 0) > 0.9, last)

    def from_files(self):
        """The lines of docs/data.md that make batches of the same files."""
        page = (ROOT / "docs/data.md").read_text()
        block = next(b for b in re.findall(r"```sh\n(.*?)```", page, re.S) if "photos" in b)
        wanted = {"a.csv": ["x", "16x2"], "photos": ["picture", "16x3x224x224"], "corpus.txt": ["y", "16x128"]}
        for line in block.splitlines():
            words = shlex.split(line)
            done = subprocess.run([str(GE), *words[1:]], capture_output=True, text=True, check=False)
            self.check(line, done.returncode == 0, done.stderr)
            shown = wanted[words[3].split()[0]] if words[2] == "run" else ["class", "a, b, c"]
            self.check(f"{line}: {shown}", any(all(w in row for w in shown) for row in done.stdout.splitlines()),
                       done.stdout)

    def misspelt(self):
        """What a hand types wrongly at first is named, with what was meant."""
        for words, said in (
                (["a.csv | shufle"], "contrast, noise; did you mean 'shuffle'?"),
                (["a.csv | standardize"], "did you mean 'standardise'?"),
                (["photos | grayscale"], "did you mean 'gray'?"),
                (["photos | Normalize imagenet"], "did you mean 'normalise'?"),
                (["photos | random-resized-crop 32 scales=0.1..1"], "it has no option 'scales'; did you mean 'scale'?"),
                (["a.csv | select Width"], "not 'Width': width, height, class; did you mean 'width'?"),
                (["a.csv | select x=width,height"], "several in one are NEW=[A,B]"),
                (["a.csv | select x = [width,height]"], "without blanks around '='"),
                (["a.csv", "--batchs", "3"], "'--batchs' is no option of ge data run; did you mean '--batch' or "),
                (["fotos"], "cannot open 'fotos': No such file or directory"),
                (["a.csv | select width | normalise 0 1"], "a column of bytes or pictures ahead of it")):
            done = subprocess.run([str(GE), "data", "run", *words], capture_output=True, text=True, check=False)
            self.check(words, done.returncode == 2 and said in done.stderr, done.stderr)
        done = subprocess.run([str(GE), "data", "run", "a.csv | select x=[width, height] y=class"],
                              capture_output=True, text=True, check=False)
        self.check("blanks within brackets", done.returncode == 0, done.stderr)

    def tests(self):
        """The source's own test part is what --test-data of it gives; steps of a second pipe are its own."""
        run = ["--epochs", 1, "--batch", 16]
        own = self.last(*run, net="photos.onnx", data=PHOTOS)
        for pipe in ("photos#test", PHOTOS.replace("photos", "photos#test")):
            same = self.last(*run, "--test-data", pipe, net="photos.onnx", data=PHOTOS)
            self.check(pipe, own.get("test_loss") == same.get("test_loss") is not None, (own, same))
        other = self.last(*run, "--test-data", "photos#test | resize 224x224", net="photos.onnx", data=PHOTOS)
        self.check("other steps", other.get("test_loss") not in (None, own.get("test_loss")), other)
        none = self.last(*run, "--no-test", net="photos.onnx", data=PHOTOS)
        self.check("--no-test", none.get("test_loss", 0) is None, none)
        none = self.last(*run, net="text.onnx", data=TEXT)
        self.check("a source without a test part", none.get("test_loss", 0) is None, none)
        self.refused("give one of both", "--no-test", "--test-data", "b.csv")
        self.refused("cannot open 'c.csv'", "--test-data", "c.csv", net="table.onnx",
                     data="a.csv | select x=[width,height] y=class")

    def killed(self, name, kills):
        """Killed at random moments: the weights and each loss are those of a run that was not."""
        net, data = f"{name}.onnx", PHOTOS if name == "photos" else TEXT
        run = ["--epochs", 40 if name == "photos" else 60, "--checkpoint-every", 3, "--batch", 8]
        whole, part = (self.scratch / f"{name}-{n}.onnx" for n in ("whole", "part"))
        logs = [self.scratch / f"{name}-{n}.csv" for n in ("whole", "part")]
        began = time.monotonic()
        wanted = self.last(*run, "--export", whole, "--log", f"csv:{logs[0]}", net=net, data=data)
        took = time.monotonic() - began
        folder, r, done = self.scratch / f"{name}-kept", np.random.default_rng(3), 0
        again = [*run, "--checkpoint", folder, "--resume", "--log", f"csv:{logs[1]}"]
        for _ in range(kills):
            child = subprocess.Popen(self.args(*again, net=net, data=data), stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
            time.sleep(float(r.uniform(0.1, max(0.3, 1.5 * took / kills))))
            done += child.poll() is None
            child.send_signal(signal.SIGKILL)
            child.wait()
        at = step_of(folder)
        print(f"{name}: {done} of {kills} were killed on their way, the last at step {at}")
        found = self.last(*again, "--export", part, net=net, data=data)
        self.check(f"{name}: killed on its way", done > 0 and at > 0, (done, at))
        self.check(f"{name}: the same weights", whole.read_bytes() == part.read_bytes())
        self.check(f"{name}: the same losses", logs[0].read_text() == logs[1].read_text())
        self.check(f"{name}: in the report", found.get("train_loss") == wanted.get("train_loss"), found)
        other = data.replace("| flip ", "") if name == "photos" else data + " | select x y"
        path = self.scratch / ("corpus.txt" if name == "text" else "photos/train/kind 0/000.png")
        kept = path.read_bytes()
        path.write_bytes(kept[:-9] + bytes([kept[-9] ^ 1]) + kept[-8:])
        self.refused("its data is", *again, net=net, data=data)
        path.write_bytes(kept)
        for said, which, more in (("its seed is 1", data, ["--seed", 7]), ("its pipe is", other, []),
                                  ("its shuffle is", data, ["--no-shuffle"])):
            self.refused(said, *again, *more, net=net, data=which)

    def interrupted(self):
        """SIGINT while pictures are decoded ends the run; how long that took is printed."""
        child = subprocess.Popen(self.args("--epochs", 10000, net="photos.onnx", data=PHOTOS),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        child.stdout.readline()
        began = time.monotonic()
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=60)
        print(f"interrupted after {time.monotonic() - began:.3f} s")
        self.check("interrupted", child.returncode == 130, child.returncode)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=4)
    kills = parser.parse_args().kills
    os.environ.update(GE_CACHE_DIR="off", GE_PROBE="fixed")
    with tempfile.TemporaryDirectory() as scratch:
        checks = Pipes(pathlib.Path(scratch))
        checks.typed()
        checks.from_files()
        checks.misspelt()
        checks.tests()
        for name in ("photos", "text"):
            checks.killed(name, kills)
        checks.interrupted()
    print(f"{checks.passed} passed, {checks.failed} failed, 0 skipped")
    return checks.failed > 0


if __name__ == "__main__":
    sys.exit(main())
