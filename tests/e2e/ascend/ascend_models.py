#!/usr/bin/env python3
"""Whole models of the engine ascend on the simulated vendor, beside ref.

A decoder with caches, and where build/models has them a BERT and resnet50, in float32 and in float16: whole on the
device, the CPU's outputs, in the second run too; what a run copies is its inputs and outputs alone, as the plan says
and as the vendor counts. In private formats each convolution reads and leaves NC1HWC0 and each constant factor is in
FRACTAL_NZ; what stands in their padding changes no bit, though the rule that looks at it is off.

Example: tests/e2e/ascend/ascend_models.py --build build/release
"""
import argparse
import ctypes
import os
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx

from ascend_operators import ROOT, Checks
from ascend_rule_programs import to_nz
from ascend_vendor import F16, SIZE, TO_HOST, Vendor

sys.path.insert(0, str(ROOT / "tools/bench/precision"))
import halves  # noqa: E402

KEPT = ROOT / "build/models"
DECODER = ROOT / "tests/e2e/models/decoder.gt"
# What the host reads of a cache in each run: how many rows it has, of keys and of values.
LENGTHS = 2 * 8
# Of each model: words of a run, bytes that a run is fed in float32 and in float16, and bounds of the outputs there,
# relative to the greatest number; float16 rounds each value between by 2^-11.
ROOMY = ["--kv-cache=16", "--input", "ids=1x3:zeros"]
MODELS = {
    "decoder": (ROOMY, (24, 24), (1e-5, 4e-3)),
    "minilm": (["--input", "ids=1x32:zeros"], (32 * 8, 32 * 8), (1e-4, 4e-3)),
    "resnet50": (["--input", "x=1x3x224x224:rand"], (4 * 3 * 224 * 224, 2 * 3 * 224 * 224), (1e-4, 4e-3)),
}
DTYPES = ("float32", "float16")
PADDINGS = (0, 60000)  # 60000 is a float16 that a sum would show


class Run:
    """Reports, outputs and the vendor's counts of so many runs of a session."""

    def __init__(self, c, words, engines, repeat=1, sim=""):
        calls = c.folder / "calls"
        calls.unlink(missing_ok=True)
        self.report, self.made = c.ran(*words, "--repeat", repeat, engines=engines, sim=f"calls={calls};{sim}")
        text = calls.read_text() if calls.exists() else ""
        self.counts = {name: int(n) for name, n in re.findall(r"^(\S+) (\d+)$", text, re.M)}

    def of_format(self, name):
        return {k.split("aclnn")[-1]: n for k, n in self.counts.items() if k.startswith(name)}

    def bits(self):
        return {name: value.tobytes() for name, value in self.made.items()}


class Graph:
    """An ONNX model: what it has to lay out."""

    def __init__(self, path):
        graph = onnx.load(path, load_external_data=False).graph
        matrices = {t.name for t in graph.initializer if len(t.dims) == 2}
        matrices |= {o for n in graph.node if n.op_type == "Constant" for o in n.output}
        self.convolutions = sum(n.op_type == "Conv" for n in graph.node)
        self.factors = sum(n.op_type in ("MatMul", "Gemm") and n.input[1] in matrices for n in graph.node)


def written(c, name):
    """The model in float32 and in float16; None: build/models has it not."""
    path = KEPT / f"{name}.onnx"
    if name == "decoder":
        path = c.folder / "decoder.onnx"
        done = c.run("ge", "dump", DECODER, "--format", "onnx", "-o", path)
        c.check(done.returncode == 0, "the decoder as ONNX", done.stderr)
    return (path, halves.write(name, path, c.folder)) if path.exists() else None


def with_logits(path, to):
    """The model's last Softmax hides what stands before it: that is an output, too."""
    model = onnx.load(path)
    last = model.graph.node[-1]
    if last.op_type == "Softmax":
        kind = model.graph.output[0].type.tensor_type.elem_type
        model.graph.output.append(onnx.helper.make_tensor_value_info(last.input[0], kind, None))
        onnx.save(model, to)
        return to
    return path


def near(c, name, found, wanted, bound):
    c.check(found.keys() == wanted.keys() and len(wanted) > 0, f"{name}: outputs", found.keys())
    for output in wanted.keys() & found.keys():
        value = wanted[output].astype(np.float64)
        far = np.abs(found[output].astype(np.float64) - value).max()
        c.check(far <= bound * np.abs(value).max(), f"{name}: {output}", far)


def alike(c, name, words, fed, bound, formats):
    """A model is on the device whole, gives the CPU's outputs, and copies no more than it must; its first run."""
    engines = f"ascend:formats={formats},ref"
    first, second = (Run(c, words, engines, n) for n in (1, 2))
    for count, one in ((1, first), (2, second)):
        near(c, f"{name}, {count} runs", one.made, Run(c, words, "ref", count).made, bound)
    made = sum(v.nbytes for v in first.made.values())
    c.check(set(first.report.get("engines", {})) == {"ascend"}, f"{name}: engines", first.report.get("engines"))
    c.check(first.report.get("transfer_bytes") == fed + made, f"{name}: bytes that the plan copies",
            (first.report.get("transfer_bytes"), fed + made))
    copied = [second.counts.get(k, 0) - first.counts.get(k, 0) for k in ("bytes_from_host", "bytes_to_host")]
    made += LENGTHS if words[1:] == ROOMY else 0
    c.check(copied == [fed, made], f"{name}: bytes that the second run copies", (copied, fed, made))
    return first


def layouts(c, name, graph, run, formats):
    """Which tensors are in private formats, and how many conversions there are."""
    images, factors = run.of_format("NC1HWC0:"), run.of_format("FRACTAL_NZ:")
    private = formats == "private"
    wanted = 2 * graph.convolutions if private else 0
    c.check(images.get("Convolution", 0) == wanted, f"{name}: NC1HWC0 in and out of convolutions", images)
    wanted = graph.factors if private else 0
    c.check(graph.factors > 0, f"{name}: constant factors")
    c.check(sum(factors.values()) == wanted, f"{name}: factors in FRACTAL_NZ", (factors, wanted))
    # The input's three channels in a block whose rest is zeroed; what the global pool reads.
    wanted = [2, 1] if private and graph.convolutions else [0, 0]
    copies = [run.counts.get(k, 0) for k in ("aclnnInplaceCopy", "aclnnInplaceZero")]
    if graph.convolutions:
        c.check(copies == wanted, f"{name}: conversions", copies)


def padding(c, name, words, run):
    """Whatever stands in the padding, and though nobody looks at it: the same bits."""
    for number in PADDINGS:
        found = Run(c, words, "ascend:formats=private,ref", sim=f"off=padded-lane;padding={number}")
        c.check(found.bits() == run.bits() and found.bits(), f"{name}: padding of {number}")


def whole(c, name):
    paths = written(c, name)
    if paths is None:
        c.skipped += 1
        return
    words, fed, bounds = MODELS[name]
    for dtype, path, size, bound in zip(DTYPES, paths, fed, bounds):
        graph, path = Graph(path), with_logits(path, c.folder / f"{name}_{dtype}.onnx")
        for formats in ("private", "plain") if graph.convolutions else ("private",):
            title = f"{name}, {dtype}, {formats}"
            run = alike(c, title, [path, *words], size, bound, formats)
            layouts(c, title, graph, run, formats)
            if formats == "private" and name != "minilm":  # its sizes are whole blocks
                padding(c, title, [path, *words], run)


def growth(c):
    """A cache that the second run finds full, and doubles."""
    words = [DECODER, "--kv-cache=4", "--input", "ids=1x3:zeros"]
    device, host = (Run(c, words, engines, 2) for engines in ("ascend,ref", "ref"))
    near(c, "a decoder whose cache grows", device.made, host.made, 1e-5)


def read_in_blocks(folder, options):
    """What a program finds that takes the padding of FRACTAL_NZ, a matrix of 15 x 15 zeros, for elements."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.environ["GE_SIM_ASCEND"] = options
        v = Vendor(folder)
        stream, block = to_nz(v, 15)
        result, host = v.block(512), ctypes.create_string_buffer(512)
        v.relu(stream, v.tensor([16, 16], block, F16), v.tensor([16, 16], result, F16))
        v.wait(stream)
        v.call("aclrtMemcpy", host, SIZE(512), result, SIZE(512), TO_HOST)
        os.write(write, host.raw)
        os._exit(1 if v.failed else 0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        found = np.frombuffer(answer.read(), np.float16)
    return os.waitpid(child, 0)[1] == 0, found


def padding_is_there(c):
    """So that the runs above could differ: who reads the padding reads what was planted, or is told so."""
    folder = c.build / "lib/sim/ascend"
    for number in PADDINGS:
        right, found = read_in_blocks(folder, f"off=padded-lane;padding={number}")
        rows, columns = np.divmod(np.arange(256), 16)
        wanted = np.where((rows == 15) | (columns == 15), number, 0)
        c.check(right and (found == wanted).all(), f"padding of {number} that is read", found)
    c.check(not read_in_blocks(folder, "")[0], "padding that is read is told")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        c = Checks(options.build.resolve(), pathlib.Path(folder))
        padding_is_there(c)
        growth(c)
        for name in MODELS:
            whole(c, name)
    print(f"{c.passed} passed, {c.failed} failed, {c.skipped} skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
