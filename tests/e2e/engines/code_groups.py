#!/usr/bin/env python3
"""Random groups of 8-bit codes, DequantizeLinear -> operator -> QuantizeLinear, on all engines in
each instruction set, against `ref`, which computes them in floats: codes are equal but for one
quantum on at most 0.01 % of all. What has the form of a group is one pattern of `native`; what only
looks like one is none, and gives the same codes.

Needs the built `ge` and the project's Python environment. Prints each fault and, last, the counts.

Examples:
  tests/e2e/engines/code_groups.py
  tests/e2e/engines/code_groups.py --cases 400 --seed 7
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))
import project_venv  # noqa: E402

project_venv.enter("numpy", "onnx")

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto as T  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402

GE = ROOT / "build" / "release" / "bin" / "ge"
ISAS = ("native", "avx2", "sse4.2")
MOST_OFF = 1e-4  # share of codes that may be one quantum apart
ONNX_TYPE = {np.uint8: T.UINT8, np.int8: T.INT8}
# Without these instructions, or below a cap on them, prices may prefer floats.
BY_FOURS = (os.environ.get("GE_MAX_ISA", "native") in ("native", "avx512")
            and "avx512_vnni" in pathlib.Path("/proc/cpuinfo").read_text())


class Group:
    """A model of one group, or of what only looks like one."""

    def __init__(self, rng):
        self.rng, self.nodes, self.constants = rng, [], []
        self.inputs, self.feeds, self.outputs, self.count = [], {}, [], 0
        self.kind = ""
        self.cheap = BY_FOURS  # whether integers are sure to be the cheaper way

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def const(self, array):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), self.name()))
        return self.constants[-1].name

    def op(self, kind, *inputs, **attrs):
        self.nodes.append(helper.make_node(kind, list(inputs), [self.name()], **attrs))
        return self.nodes[-1].output[0]

    def codes(self, dtype, shape):
        info = np.iinfo(dtype)
        return self.rng.integers(info.min, info.max + 1, shape).astype(dtype)

    def dtype(self):
        return [np.uint8, np.int8][self.rng.integers(2)]

    def zero(self, dtype):
        return np.array(self.rng.integers(-20, 21) + (128 if dtype == np.uint8 else 0), dtype)

    def scale(self, low=0.01, high=0.1):
        # Half of them powers of two: sums then lie in the middle between two codes.
        if self.rng.integers(2):
            return np.float32(2.0 ** self.rng.integers(-7, -3))
        return np.float32(self.rng.uniform(low, high))

    def given(self, shape, scale=None, dtype=None, zero=None):
        """Codes of the caller's, as floats; answers the floats, the scale and the zero point."""
        dtype = dtype or self.dtype()
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, ONNX_TYPE[dtype], shape))
        self.feeds[name] = self.codes(dtype, shape)
        scale = self.scale() if scale is None else scale
        zero = self.zero(dtype) if zero is None else zero
        floats = self.op("DequantizeLinear", name, self.const(scale), self.const(zero))
        return floats, scale, zero

    def weight(self, shape, axis):
        """Constant codes as floats, symmetric or not, of one scale or one for each channel."""
        dtype, n = self.dtype(), shape[axis]
        many = self.rng.integers(2) == 1
        scales = self.rng.uniform(0.002, 0.02, n if many else ()).astype(np.float32)
        if self.rng.integers(4):
            zeros = np.full(scales.shape, 128 if dtype == np.uint8 else 0, dtype)
        else:
            zeros, self.cheap = self.codes(dtype, scales.shape), False
        ins = [self.const(self.codes(dtype, shape)), self.const(scales), self.const(zeros)]
        return self.op("DequantizeLinear", *ins, axis=axis), scales

    def bias(self, n, sums):
        """None, int32 of the sums' scale, or floats."""
        way = self.rng.integers(3)
        if way == 0:
            return []
        if way == 1:
            return [self.const(self.rng.uniform(-5, 5, n).astype(np.float32))]
        scales = np.broadcast_to(sums, n) if self.rng.integers(2) or np.ndim(sums) else sums
        codes = self.rng.integers(-20000, 20000, n).astype(np.int32)
        ins = [self.const(codes), self.const(np.asarray(scales, np.float32))]
        return [self.op("DequantizeLinear", *ins, axis=0)]

    def quantized(self, y, scale, bounds=True, dtype=None, zero=None):
        way = self.rng.integers(4) if bounds else 0
        if way == 1:
            y = self.op("Relu", y)
        elif way == 2:
            y = self.op("Clip", y, self.const(np.float32(0)), self.const(np.float32(40 * scale)))
        dtype = dtype or self.dtype()
        zero = self.zero(dtype) if zero is None else zero
        out = self.op("QuantizeLinear", y, self.const(np.float32(scale)), self.const(zero))
        self.outputs.append(helper.make_tensor_value_info(out, ONNX_TYPE[dtype], None))
        return out

    def model(self):
        graph = helper.make_graph(self.nodes, self.kind, self.inputs, self.outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


# ---- groups: each makes one pattern ------------------------------------------------------------

def sums_scale(depth, x_scale, w_scales):
    """A scale with which most results lie among the codes."""
    return float(x_scale * np.mean(w_scales) * 70 * 70 * np.sqrt(depth) / 60)


def conv(g):
    r = g.rng
    way = r.integers(5)
    if way == 0:  # depth-wise
        groups = int(r.choice([8, 32, 64, 70, 150]))
        cin = cout = groups
        g.cheap = False  # floats have few products, too
    elif way == 1:
        groups, per = int(r.integers(2, 4)), int(r.choice([3, 4, 8]))
        g.cheap &= per % 4 == 0  # channels of a group go by fours, or not at all
        cin, cout = groups * per, groups * int(r.integers(1, 20))
    else:
        groups, cin, cout = 1, int(r.choice([1, 3, 16, 37, 64])), int(r.choice([5, 16, 40, 64, 90]))
    k, s, d = int(r.choice([1, 3, 5])), int(r.choice([1, 1, 2])), int(r.choice([1, 1, 2]))
    pads = [int(p) for p in r.integers(0, 1 + k // 2, 4)]
    size = [int(v) for v in r.integers(d * (k - 1) + 1, 22, 2)]
    x, xs, _ = g.given([int(r.integers(1, 3)), cin, *size])
    w, ws = g.weight([cout, cin // groups, k, k], 0)
    b = g.bias(cout, xs * ws)
    y = g.op("Conv", x, w, *b, kernel_shape=[k, k], strides=[s, s], dilations=[d, d], pads=pads,
             group=groups)
    g.quantized(y, sums_scale(cin // groups * k * k, xs, ws))


def line_conv(g):
    x, xs, _ = g.given([2, 12, 40])
    w, ws = g.weight([20, 12, 3], 0)
    y = g.op("Conv", x, w, kernel_shape=[3], pads=[1, 1])
    g.quantized(y, sums_scale(36, xs, ws))


def gemm(g):
    r = g.rng
    m, n, k = int(r.integers(1, 40)), int(r.integers(1, 150)), int(r.integers(1, 300))
    turned = int(r.integers(2))
    x, xs, _ = g.given([m, k])
    w, ws = g.weight([n, k] if turned else [k, n], 0 if turned else 1)
    y = g.op("Gemm", x, w, *g.bias(n, xs * ws), transB=turned)
    g.quantized(y, sums_scale(k, xs, ws))


def matmul(g):
    r = g.rng
    n, k = int(r.integers(1, 150)), int(r.integers(1, 300))
    x, xs, _ = g.given([2, 7, k] if r.integers(2) else [9, k])
    w, ws = g.weight([k, n], 1)
    g.quantized(g.op("MatMul", x, w), sums_scale(k, xs, ws))


def pair(g):
    shape = [2, 17, 9, 11]
    a, sa, _ = g.given(shape)
    b, sb, _ = g.given(shape)
    kind = str(g.rng.choice(["Add", "Sub", "Mul"]))
    scale = 60 * sa * sb if kind == "Mul" else float(g.rng.choice([sa, 2 * sa, sa + sb]))
    g.quantized(g.op(kind, a, b), scale)


def gate(g):
    """One factor for each channel of an image, as of squeeze and excitation."""
    shape = [2, 37, int(g.rng.integers(1, 20)), 11]
    a, sa, _ = g.given(shape)
    b, sb, _ = g.given([*shape[:2], 1, 1])
    kind = str(g.rng.choice(["Add", "Mul"]))
    scale = 60 * sa * sb if kind == "Mul" else sa + sb
    g.quantized(g.op(kind, *((a, b) if g.rng.integers(2) else (b, a))), scale)


def gated_conv(g):
    x, xs, _ = g.given([2, 16, 9, 11])
    w, ws = g.weight([24, 16, 1, 1], 0)
    s1, z1 = np.float32(sums_scale(16, xs, ws)), np.uint8(128)
    q = g.op("QuantizeLinear", g.op("Conv", x, w, kernel_shape=[1, 1]), g.const(s1), g.const(z1))
    b, sb, _ = g.given([2, 24, 1, 1])
    y = g.op("Mul", g.op("DequantizeLinear", q, g.const(s1), g.const(z1)), b)
    g.quantized(y, 160 * s1 * sb)  # a quantum of the convolution's is less than one here


def constant_of(g, shape):
    """One constant for each channel or column; floats, or codes that are folded to them."""
    n = [shape[1], shape[-1]][g.rng.integers(2)]
    dims = [n] + [1] * (len(shape) - 2) if n == shape[1] else [n]
    if g.rng.integers(2):
        return g.const((g.rng.uniform(0.2, 2, dims) * g.rng.choice([-1, 1], dims))
                       .astype(np.float32))
    ins = [g.const(g.codes(np.int8, dims) | np.int8(1)), g.const(np.float32(0.02))]
    return g.op("DequantizeLinear", *ins)


def constant(g):
    shape = [[2, 37, 9, int(g.rng.integers(1, 600))], [3, 5, 70]][g.rng.integers(2)]
    x, s, _ = g.given(shape)
    kind, c = str(g.rng.choice(["Add", "Sub", "Mul", "Div"])), constant_of(g, shape)
    g.quantized(g.op(kind, *((c, x) if kind != "Div" and g.rng.integers(2) else (x, c))), s * 2)


def scaled_conv(g):
    """A factor and a summand for each channel behind a convolution, each quantized."""
    x, xs, _ = g.given([2, 16, 9, 11])
    w, ws = g.weight([24, 16, 1, 1], 0)
    s1, z1 = np.float32(sums_scale(16, xs, ws)), np.uint8(128)
    y = g.op("Conv", x, w, kernel_shape=[1, 1])
    for kind in ("Mul", "Add"):
        q = g.op("QuantizeLinear", y, g.const(s1), g.const(z1))
        y = g.op("DequantizeLinear", q, g.const(s1), g.const(z1))
        y = g.op(kind, y, g.const(g.rng.uniform(0.2, 0.7, [24, 1, 1]).astype(np.float32)))
    g.quantized(y, 2 * s1)  # a quantum of the convolution's is less than one here


def table(g):
    x, s, _ = g.given([3, 1000])
    kind = str(g.rng.choice(["Relu", "LeakyRelu", "Sigmoid", "HardSwish", "Tanh"]))
    attrs = {"alpha": 0.1} if kind == "LeakyRelu" else {}
    g.quantized(g.op(kind, x, **attrs), s, bounds=False)


def same_grid(g, shape, make):
    dtype = g.dtype()
    scale, zero = g.scale(), g.zero(dtype)
    x, _, _ = g.given(shape, scale, dtype, zero)
    g.quantized(make(x), scale, False, dtype, zero)


def pool(g):
    same_grid(g, [2, 20, 13, 15], lambda x: g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2],
                                                 pads=[1, 1, 1, 1]))


def view(g):
    same_grid(g, [2, 6, 5, 4], lambda x: g.op("Flatten", x))


def mean(g):
    x, s, _ = g.given([2, 150, 7, 6])
    if g.rng.integers(2):
        y = g.op("GlobalAveragePool", x)
    else:
        y = g.op("ReduceMean", x, g.const(np.array([2, 3], np.int64)), keepdims=0)
    g.quantized(y, s / 4)


def concat(g):
    xs = [g.given([2, c, 5, 7]) for c in (3, 8, 20)]
    y = g.op("Concat", *[x for x, _, _ in xs], axis=1)
    g.quantized(y, max(s for _, s, _ in xs), bounds=False)


def chain(g):
    """Codes go from convolution to convolution, one of them around a residual."""
    x, xs, _ = g.given([1, 8, 16, 18])
    w, ws = g.weight([24, 8, 3, 3], 0)
    s1 = np.float32(sums_scale(72, xs, ws))
    y = g.op("Conv", x, w, kernel_shape=[3, 3], pads=[1] * 4)
    z1 = np.uint8(120)
    q = g.op("QuantizeLinear", y, g.const(s1), g.const(z1))
    left = g.op("DequantizeLinear", q, g.const(s1), g.const(z1))
    w2, ws2 = g.weight([24, 1, 3, 3], 0)
    s2 = np.float32(sums_scale(9, s1, ws2))
    z2 = np.uint8(100)
    y = g.op("Conv", left, w2, kernel_shape=[3, 3], pads=[1] * 4, group=24)
    q = g.op("QuantizeLinear", y, g.const(s2), g.const(z2))
    right = g.op("DequantizeLinear", q, g.const(s2), g.const(z2))
    g.quantized(g.op("Add", left, right), 2 * max(s1, s2))  # a quantum of each is one at most here


# ---- what only looks like a group --------------------------------------------------------------

def wrong_axis(g):
    """Scales of the weights along the input's channels."""
    x, xs, _ = g.given([1, 16, 9, 9])
    scales = g.rng.uniform(0.002, 0.02, 16).astype(np.float32)
    w = g.op("DequantizeLinear", g.const(g.codes(np.int8, [16, 16, 3, 3])), g.const(scales), axis=1)
    g.quantized(g.op("Conv", x, w, kernel_shape=[3, 3]), sums_scale(144, xs, scales))


def read_elsewhere(g):
    """The floats of the result leave, too."""
    x, xs, _ = g.given([1, 16, 9, 9])
    w, ws = g.weight([8, 16, 3, 3], 0)
    y = g.op("Conv", x, w, kernel_shape=[3, 3])
    g.quantized(y, sums_scale(144, xs, ws), bounds=False)
    g.outputs.append(helper.make_tensor_value_info(y, T.FLOAT, None))


def other_bias(g):
    """A bias of another scale than the sums'."""
    x, xs, _ = g.given([1, 16, 9, 9])
    w, ws = g.weight([8, 16, 3, 3], 0)
    codes = g.rng.integers(-20000, 20000, 8).astype(np.int32)
    b = g.op("DequantizeLinear", g.const(codes), g.const(np.float32(np.mean(xs * ws) * 1.5)))
    y = g.op("Conv", x, w, b, kernel_shape=[3, 3])
    g.quantized(y, sums_scale(144, xs, ws))


def scale_at_run_time(g):
    x, xs, _ = g.given([5, 40])
    w, ws = g.weight([40, 8], 1)
    y = g.op("MatMul", x, w)
    scale = np.float32(sums_scale(40, xs, ws))
    g.inputs.append(helper.make_tensor_value_info("s", T.FLOAT, []))
    g.feeds["s"] = scale
    out = g.op("QuantizeLinear", y, "s", g.const(np.uint8(128)))
    g.outputs.append(helper.make_tensor_value_info(out, T.UINT8, None))


def pool_to_other_grid(g):
    x, s, _ = g.given([1, 6, 9, 9])
    g.quantized(g.op("MaxPool", x, kernel_shape=[2, 2]), s * 1.7, bounds=False)


TAKEN = (conv, conv, conv, conv, line_conv, gemm, gemm, matmul, pair, gate,
         gated_conv, constant, scaled_conv, table, pool, view, mean,
         concat, chain)
NOT_TAKEN = (wrong_axis, read_elsewhere, other_bias, scale_at_run_time, pool_to_other_grid)


# ---- judging -----------------------------------------------------------------------------------

def run(model, feeds, folder, name, *options):
    out = folder / name
    command = [str(GE), "run", str(model), "--output", str(out), *options]
    for key, array in feeds.items():
        np.save(folder / f"{key}.npy", array)
        command += ["--input", f"{key}={folder / key}.npy"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return {p.name: np.load(p) for p in sorted(out.glob("*.npy"))}


def patterns(model):
    """The patterns of the plan that hold an operator between codes. Of two threads: sixteen would make floats cheap."""
    done = subprocess.run([str(GE), "explain", str(model), "--threads", "2"], capture_output=True,
                          text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return set(re.findall(r"\S*DequantizeLinear\+\S*\+QuantizeLinear", done.stdout))


class Sweep:
    def __init__(self):
        self.codes = self.off = self.passed = self.failed = 0

    def fail(self, what):
        self.failed += 1
        print(f"FAIL {what}", flush=True)

    def compare(self, label, want, got):
        for name, w in want.items():
            g = got[name]
            if w.dtype == np.float32:
                if not np.allclose(w, g, rtol=1e-4, atol=1e-4 * np.abs(w).max()):
                    return self.fail(f"{label}: floats of {name} differ")
                continue
            apart = np.abs(w.astype(np.int32) - g.astype(np.int32))
            if apart.max(initial=0) > 1:
                return self.fail(f"{label}: {name} is {apart.max()} codes off")
            self.codes += apart.size
            self.off += int(np.count_nonzero(apart))
        self.passed += 1

    def case(self, make, taken, seed, folder):
        g = Group(np.random.default_rng(seed))
        g.kind = make.__name__
        make(g)
        label = f"{g.kind}, seed {seed}"
        path = folder / "group.onnx"
        onnx.save(g.model(), path)
        want = run(path, g.feeds, folder, "ref", "--engines", "ref")
        found = patterns(path)
        if (g.cheap or not taken) and bool(found) != taken:
            self.fail(f"{label}: patterns {sorted(found)}, wanted {'some' if taken else 'none'}")
        for isa in ISAS:
            threads = str(1 + seed % 2)
            got = run(path, g.feeds, folder, isa, "--isa", isa, "--threads", threads)
            self.compare(f"{label}, {isa}", want, got)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0, help="of the first case")
    args = parser.parse_args()
    sweep = Sweep()
    for i in range(args.cases):
        seed = args.seed + i
        makes = NOT_TAKEN if i % 4 == 3 else TAKEN
        make = makes[(i - i // 4 if makes is TAKEN else i // 4) % len(makes)]
        with tempfile.TemporaryDirectory() as folder:
            try:
                sweep.case(make, makes is TAKEN, seed, pathlib.Path(folder))
            except RuntimeError as error:
                sweep.fail(f"{make.__name__}, seed {seed}: {error}")
    share = sweep.off / max(1, sweep.codes)
    print(f"{sweep.off} of {sweep.codes} codes are one quantum apart")
    if share > MOST_OFF:
        sweep.fail(f"{share:.2e} of the codes differ, at most {MOST_OFF:.0e}")
    print(f"{sweep.passed} passed, {sweep.failed} failed, 0 skipped")
    return 1 if sweep.failed or not sweep.passed else 0


sys.exit(main())
