#!/usr/bin/env python3
"""One-operator models at larger sizes against ONNX Runtime: products beside the sizes at which
weights are streamed or shared among threads, convolutions, layers with state, norms, softmax,
reductions, pools and 8-bit products, with 1 to 40 rows and the tails of every tile.

What a number may differ by is a part of the sum of the terms' magnitudes, which ONNX Runtime itself
computes from the inputs' magnitudes, where the operator is a sum of products; else a part of the
greatest output. Models go to `ge run` some at a time (they share nothing but a file). Prints each
fault and, last, the counts.

Examples:
  tests/e2e/all/engines/large_ops_ort.py
  tests/e2e/all/engines/large_ops_ort.py --count 200 --isa avx2 --threads 1 --kinds MatMul,LSTM
"""
import argparse
import collections
import copy
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("pip", "numpy", "onnx", "onnxruntime")

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402

GE = ROOT / "build" / "release" / "bin" / "ge"
TOGETHER = 16  # models in one file
SUM_BOUND = 3e-6  # of the sum of the terms' magnitudes: some 50 roundings that do not cancel
WINOGRAD_BOUND = 2e-5  # of the same, for 3x3 taps one pixel apart (docs say what Winograd may cost)
OTHER_BOUND = 2e-5  # of the greatest output
MOST = 12_000_000  # multiply-adds of a model
# Operators that multiply codes: the inputs that are codes of values, weights and the zero point of these.
CODES = {"MatMulInteger": (0, 1, 3), "QLinearMatMul": (0, 3, 5), "QLinearConv": (0, 3, 5)}


class Case:
    """A node, its arrays (name -> array; weights are initializers) and how it is judged."""

    def __init__(self, op, inputs, weights=(), outputs=1, bound=None, sums=False, steps=0, **attrs):
        self.op, self.inputs, self.weights = op, inputs, set(weights)
        self.outputs, self.attrs = outputs, attrs
        self.sums, self.bound, self.steps = sums, bound or (SUM_BOUND if sums else OTHER_BOUND), steps

    def text(self):
        shapes = [f"{a.dtype}{list(a.shape)}{'!' if i in self.weights else ''}"
                  for i, a in enumerate(self.inputs) if a is not None]
        return f"{self.op} {' '.join(shapes)} {self.attrs or ''}"


class Maker:
    """Random cases."""

    def __init__(self, seed):
        self.r = np.random.default_rng(seed)

    def int(self, low, high):
        return int(self.r.integers(low, high + 1))

    def pick(self, *of):
        return of[self.int(0, len(of) - 1)]

    def chance(self, p):
        return self.r.random() < p

    def size(self, most):
        """Small sizes, and those beside powers of two, oftener."""
        if self.chance(0.4):
            return self.int(1, min(most, 40))
        if self.chance(0.5):
            return self.int(1, most)
        return min(most, max(1, self.pick(8, 16, 32, 64, 128, 256, 512, 1024, 2048) + self.int(-2, 2)))

    def signal(self, *shape, scale=1.0):
        return (self.r.uniform(-scale, scale, shape)).astype(np.float32)

    def codes(self, dtype, *shape):
        info = np.iinfo(dtype)
        return self.r.integers(info.min, info.max + 1, shape).astype(dtype)

    def weight(self):
        return (1,) if self.chance(0.7) else ()

    def product(self, batch=1):
        rows = self.int(1, 40) if self.chance(0.8) else self.size(500)
        kind = self.int(0, 5)
        if kind <= 1:
            columns = self.int(100, 4200) if self.chance(0.7) else 128 + self.int(-3, 3)
            area = self.pick(16384, 65536, 262144, 262144, 262144, 524288)
            depth = max(1, area // columns + self.int(-2, 17))
        elif kind == 2:
            columns, depth = self.pick(4096, 8192) + self.int(-3, 3), self.int(60, 90)
        elif kind == 3:
            depth = self.pick(64, 128, 256, 384, 512, 640, 768, 1024) + self.int(-2, 2)
            columns = self.size(300)
        elif kind == 4:
            depth, columns = self.pick((384, 384), (384, 1536), (1536, 384), (768, 768), (512, 1000))
        else:
            depth, columns = self.size(700), self.size(700)
        return max(1, min(rows, MOST // (depth * columns * batch))), depth, columns

    # Each of the following makes a case of the operator that it is named after.
    def MatMul(self):
        batch = [] if self.chance(0.6) else [self.int(1, 12)]
        rows, depth, columns = self.product(int(np.prod(batch)))
        shared = not batch or self.chance(0.5) or depth * columns > 50000
        return Case("MatMul", [self.signal(*batch, rows, depth),
                               self.signal(*([] if shared else batch), depth, columns)],
                    self.weight(), sums=True)

    def Gemm(self):
        rows, depth, columns = self.product()
        turned_a, turned_b = self.int(0, 1) if self.chance(0.3) else 0, self.int(0, 1)
        a = self.signal(*((depth, rows) if turned_a else (rows, depth)))
        b = self.signal(*((columns, depth) if turned_b else (depth, columns)))
        inputs = [a, b] + ([self.signal(columns)] if self.chance(0.7) else [])
        return Case("Gemm", inputs, self.weight(), sums=True, transA=turned_a, transB=turned_b)

    def window(self):
        """(kernel, strides, pads, dilations, group, channels in and out of a group, sizes)"""
        kind, stride = self.int(0, 5), self.pick(1, 1, 1, 2)
        group, dilation, inside, outside = 1, 1, self.size(130), self.size(130)
        axes, kernel, most = 2, 3, 60
        if kind == 0:
            kernel, most, inside, outside = 1, 40, self.size(300), self.size(300)
        elif kind == 3:
            group, inside, outside, kernel = self.size(200), 1, self.pick(1, 1, 1, 2), self.pick(3, 5)
        elif kind == 4:
            axes, kernel, most, dilation = 1, self.int(1, 41), 3000, self.pick(1, 1, 1, 2)
        elif kind == 5:
            kernel, inside, most = self.int(3, 7), self.pick(1, 3, 4), 120
        sizes = [max((kernel - 1) * dilation + 1, self.size(most)) for _ in range(axes)]
        while group * inside * outside * kernel ** axes * int(np.prod(sizes)) > MOST * stride:
            if outside > 1:
                outside = (outside + 1) // 2
            elif inside > 1:
                inside = (inside + 1) // 2
            else:
                group = (group + 1) // 2
        pad = kernel // 2 if self.chance(0.7) else 0
        return dict(kernel_shape=[kernel] * axes, strides=[stride] * axes, pads=[pad] * (2 * axes),
                    dilations=[dilation] * axes, group=group), inside, outside, sizes

    def Conv(self):
        attrs, inside, outside, sizes = self.window()
        group, kernel = attrs["group"], attrs["kernel_shape"]
        inputs = [self.signal(self.pick(1, 1, 2), inside * group, *sizes),
                  self.signal(outside * group, inside, *kernel)]
        if self.chance(0.6):
            inputs.append(self.signal(outside * group))
        plain = kernel == [3, 3] and attrs["strides"] == [1, 1] and group == 1
        return Case("Conv", inputs, self.weight(), sums=True,
                    bound=WINOGRAD_BOUND if plain else None, **attrs)

    def ConvTranspose(self):
        kernel, inside, outside = self.int(1, 4), self.size(40), self.size(40)
        x = self.signal(self.int(1, 2), inside, self.size(24), self.size(24))
        return Case("ConvTranspose", [x, self.signal(inside, outside, kernel, kernel)], self.weight(),
                    sums=True, strides=[self.pick(1, 2, 2, 3)] * 2)

    def recurrent(self, op, gates):
        steps, batch, inside = self.int(1, 5), self.int(1, 24), self.size(130)
        hidden = self.size(130)
        if self.chance(0.5):
            hidden = int(np.ceil(np.sqrt(262144 / gates))) + self.int(-2, 2)
        one = gates * hidden * (inside + hidden)
        steps = max(1, min(steps, MOST // one))
        batch = max(1, min(batch, MOST // (one * steps)))
        both = self.chance(0.3)
        way, n = ("bidirectional", 2) if both else (self.pick("forward", "reverse"), 1)
        scale = min(1, 2 / np.sqrt(hidden))
        return Case(op, [self.signal(steps, batch, inside),
                         self.signal(n, gates * hidden, inside, scale=scale),
                         self.signal(n, gates * hidden, hidden, scale=scale),
                         self.signal(n, 2 * gates * hidden)], (1, 2, 3), outputs=2,
                    hidden_size=hidden, direction=way)

    def LSTM(self):
        return self.recurrent("LSTM", 4)

    def GRU(self):
        return self.recurrent("GRU", 3)

    def shape(self, least, most):
        """Up to some 100,000 elements, most of them along one axis."""
        rank = self.int(least, most)
        left = self.pick(24, 300, 2048, 4096, 16384, 16384, 40000, 100000)
        left = max(1, left + self.int(-left // 50 - 2, left // 50 + 2))
        dims, longest = [1] * rank, self.int(0, rank - 1)
        for d in range(rank):
            if d != longest:
                dims[d] = min(left, self.pick(1, self.size(70), self.size(70)))
                left = max(1, left // dims[d])
        dims[longest] = left
        return dims

    def Softmax(self):
        dims = self.shape(1, 4)
        return Case(self.pick("Softmax", "LogSoftmax"), [self.signal(*dims, scale=5)],
                    axis=self.int(-len(dims), len(dims) - 1))

    def LayerNormalization(self):
        dims = self.shape(2, 4)
        last = dims[-1]
        inputs = [self.signal(*dims), self.signal(last)] + ([self.signal(last)] if self.chance(0.7) else [])
        return Case("LayerNormalization", inputs, (1, 2), axis=-1, epsilon=0.125)

    def InstanceNormalization(self):
        channels = self.size(60)
        x = self.signal(self.int(1, 3), channels, *self.pick([self.size(500)], [self.size(40), self.size(40)]))
        return Case("InstanceNormalization", [x, self.signal(channels), self.signal(channels)], (1, 2),
                    epsilon=0.125)

    def BatchNormalization(self):
        channels = self.size(130)
        x = self.signal(self.int(1, 3), channels, self.size(40), self.size(40))
        return Case("BatchNormalization", [x, *(self.signal(channels) for _ in range(3)),
                                           np.abs(self.signal(channels)) + np.float32(0.3)], (1, 2, 3, 4))

    def Reduce(self):
        dims = self.shape(1, 4)
        axes = [a for a in range(len(dims)) if self.chance(0.5)] or [self.int(0, len(dims) - 1)]
        op = self.pick("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2")
        return Case(op, [self.signal(*dims), np.array(axes, np.int64)], (1,),
                    sums=op in ("ReduceSum", "ReduceMean"), keepdims=self.int(0, 1))

    def Pool(self):
        op = self.pick("MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool")
        kernel = self.int(1, 5) if self.chance(0.7) else self.int(6, 13)
        sizes = [max(kernel, self.size(130)), max(kernel, self.size(130))]
        channels = max(1, min(self.size(70), 2_000_000 // (sizes[0] * sizes[1] * kernel)))
        x = self.signal(self.int(1, 2), channels, *sizes)
        if op.startswith("Global"):
            return Case(op, [x])
        pad = self.int(0, kernel // 2)
        return Case(op, [x], kernel_shape=[kernel] * 2, pads=[pad] * 4, strides=[self.int(1, 3)] * 2)

    def Move(self):
        dims = self.shape(1, 4)
        x = self.signal(*dims)
        op = self.pick("Transpose", "Concat", "Gather")
        if op == "Transpose":
            return Case(op, [x], perm=[int(p) for p in self.r.permutation(len(dims))])
        axis = self.int(0, len(dims) - 1)
        if op == "Concat":
            return Case(op, [x, self.signal(*dims), x], axis=axis)
        some = min(200, max(1, 2_000_000 // max(1, x.size // dims[axis])))
        return Case(op, [x, self.r.integers(0, dims[axis], self.size(some)).astype(np.int64)], axis=axis)

    def Elementwise(self):
        dims = self.shape(1, 4)
        op = self.pick("Add", "Mul", "Sub", "Div", "Relu", "Sigmoid", "Tanh", "Exp", "Erf", "HardSwish",
                       "LeakyRelu", "Softplus", "Sqrt", "Gelu", "Sin", "Floor", "Round", "Clip")
        x = self.signal(*dims, scale=3)
        if op == "Sqrt":
            x = np.abs(x)
        if op not in ("Add", "Mul", "Sub", "Div"):
            return Case(op, [x])
        other = [1 if self.chance(0.3) else d for d in dims][self.int(0, len(dims) - 1):]
        y = self.signal(*other, scale=3)
        return Case(op, [x, np.where(np.abs(y) < 0.25, np.float32(0.5), y) if op == "Div" else y])

    def MatMulInteger(self):
        rows, depth, columns = self.product()
        left, right = self.pick(np.int8, np.uint8), self.pick(np.int8, np.uint8)
        if left == np.int8:  # ONNX Runtime's CPU kernel takes no other pair
            right = np.int8
        return Case("MatMulInteger", [self.codes(left, rows, depth), self.codes(right, depth, columns),
                                      self.codes(left), self.codes(right)], (1, 2, 3))

    def QLinearMatMul(self):
        rows, depth, columns = self.product()
        left, right = np.uint8, self.pick(np.int8, np.uint8)
        return Case("QLinearMatMul", [
            self.codes(left, rows, depth), np.float32(0.02), self.codes(left),
            self.codes(right, depth, columns), np.float32(0.01), self.codes(right),
            np.float32(0.02 * np.sqrt(depth)), self.codes(left)], (1, 2, 3, 4, 5, 6, 7), steps=1)

    def QLinearConv(self):
        attrs, inside, outside, sizes = self.window()
        group, filters = attrs["group"], attrs["group"] * outside
        right = self.pick(np.int8, np.uint8)
        terms = inside * int(np.prod(attrs["kernel_shape"]))
        inputs = [self.codes(np.uint8, 1, inside * group, *sizes), np.float32(0.02), self.codes(np.uint8),
                  self.codes(right, filters, inside, *attrs["kernel_shape"]), np.float32(0.01),
                  np.zeros((), right), np.float32(0.02 * np.sqrt(terms)), self.codes(np.uint8)]
        if self.chance(0.5):
            inputs.append(self.r.integers(-20000, 20000, filters).astype(np.int32))
        return Case("QLinearConv", inputs, tuple(range(1, 9)), steps=1, **attrs)


KINDS = {"MatMul": 16, "Gemm": 14, "Conv": 16, "LSTM": 6, "GRU": 2, "ConvTranspose": 3, "Softmax": 5,
         "LayerNormalization": 4, "InstanceNormalization": 2, "BatchNormalization": 2, "Reduce": 8,
         "Pool": 6, "Move": 5, "Elementwise": 8, "MatMulInteger": 4, "QLinearMatMul": 4, "QLinearConv": 4}


def as_model(cases):
    """(model, feed): each case a node of its own."""
    nodes, inputs, outputs, weights, feed = [], [], [], [], {}
    for k, c in enumerate(cases):
        names = []
        for i, array in enumerate(c.inputs):
            name = f"c{k}_i{i}"
            names.append(name)
            array = np.asarray(array)
            if i in c.weights:
                weights.append(numpy_helper.from_array(array, name))
                continue
            feed[name] = array
            kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            inputs.append(helper.make_tensor_value_info(name, kind, array.shape))
        results = [f"c{k}_o{i}" for i in range(c.outputs)]
        outputs += [onnx.ValueInfoProto(name=o) for o in results]
        nodes.append(helper.make_node(c.op, names, results, name=f"c{k}", **c.attrs))
    graph = helper.make_graph(nodes, "large", inputs, outputs, weights)
    # 22 is the newest that both read without a warning; Gelu came with 20.
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10), feed


def magnitudes(case):
    """The same case of the inputs' magnitudes: what comes out is the sum of the terms' magnitudes."""
    inputs = [np.abs(a) if a.dtype == np.float32 else a for a in case.inputs]
    return Case(case.op, inputs, case.weights, case.outputs, **case.attrs)


def peer(model, feed):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    return session.run(None, feed)


def ours(model, feed, folder, args):
    """Outputs of ge run, or the sentence that it failed with."""
    path = folder / "large.onnx"
    onnx.save(model, path)
    command = [GE, "run", path, "--output", folder / "out", "--prices", args.prices]
    command += ["--engines", args.engines] if args.engines else []
    command += ["--threads", str(args.threads)] if args.threads else []
    command += ["--isa", args.isa] if args.isa else []
    for name, array in feed.items():
        np.save(folder / f"{name}.npy", array)
        command += ["--input", f"{name}={folder / name}.npy"]
    done = subprocess.run([str(w) for w in command], capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1] if done.stderr else f"exit {done.returncode}"
    return [np.load(folder / "out" / f"{o.name}.npy") for o in model.graph.output]


def unsigned(case):
    """The case as the peer is asked it: weights of int8 beside values of uint8 become uint8, the same
    numbers less a zero point that is 128 more. Without VNNI ONNX Runtime adds products of uint8 and
    int8 in pairs in 16 bits, which saturate; those of uint8 and uint8 do not."""
    values, weights, zero = CODES.get(case.op, (0, 0, 0))
    if case.inputs[values].dtype != np.uint8 or case.inputs[weights].dtype != np.int8:
        return case
    again = copy.copy(case)
    again.inputs = list(case.inputs)
    for i in (weights, zero):
        again.inputs[i] = (np.asarray(case.inputs[i], np.int16) + 128).astype(np.uint8)
    return again


def difference(case, found, wanted, scales):
    """"" or how a case's outputs differ."""
    for i, (f, w) in enumerate(zip(found, wanted)):
        if f.shape != w.shape or f.dtype != w.dtype:
            return f"output {i} is {f.dtype}{list(f.shape)}, wanted {w.dtype}{list(w.shape)}"
        if w.size == 0:
            continue
        apart = np.abs(f.astype(np.float64) - w.astype(np.float64))
        if w.dtype.kind in "iu":
            allowed = np.full(w.shape, case.steps, np.float64)
        else:
            scale = scales[i] if scales else np.max(np.abs(w), initial=1)
            # A quantum of the output: sums of a few terms are rounded, too.
            allowed = case.bound * np.maximum(scale, 1e-3)
        wrong = ~(apart <= allowed)
        if np.any(wrong):
            at = tuple(int(k) for k in np.argwhere(wrong)[0])
            return (f"output {i}: {int(np.sum(wrong))} of {w.size} elements, first at {list(at)}: "
                    f"{f[at]}, wanted {w[at]}")
    return ""


def judge(cases, folder, args):
    """A list of "" or what is wrong, or None where ONNX Runtime takes no such model."""
    model, feed = as_model(cases)
    try:
        wanted = peer(*as_model([unsigned(c) for c in cases]))
    except Exception:
        return [None] if len(cases) == 1 else [judge([c], folder, args)[0] for c in cases]
    found = ours(model, feed, folder, args)
    if isinstance(found, str):
        return [found] if len(cases) == 1 else [judge([c], folder, args)[0] for c in cases]
    answers, at = [], 0
    for c in cases:
        scales = peer(*as_model([magnitudes(c)])) if c.sums else None
        end = at + c.outputs
        answers.append(difference(c, found[at:end], wanted[at:end], scales))
        at = end
    return answers


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default="", help="comma-separated; default: all")
    parser.add_argument("--isa", default="", help="as of ge run")
    parser.add_argument("--threads", type=int, default=0, help="as of ge run")
    parser.add_argument("--engines", default="", help="as of ge run")
    parser.add_argument("--prices", default="analytic", help="as of ge run")
    args = parser.parse_args()
    wanted = args.kinds.split(",") if args.kinds else list(KINDS)
    kinds = [k for k in wanted for _ in range(KINDS[k])]
    counts, shown = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        for first in range(0, args.count, TOGETHER):
            numbers = range(first, min(args.count, first + TOGETHER))
            makers = [Maker([args.seed, n]) for n in numbers]
            cases = [getattr(m, m.pick(*kinds))() for m in makers]
            for n, case, why in zip(numbers, cases, judge(cases, pathlib.Path(name), args)):
                verdict = "skipped" if why is None else "failed" if why else "passed"
                counts[verdict] += 1
                counts[f"{verdict} {case.op}"] += 1
                if why and shown[case.op] < 5:
                    shown[case.op] += 1
                    print(f"FAILED  case {n}, seed {args.seed}: {case.text()}: {why}", flush=True)
    for what in sorted(k for k in counts if k.startswith("skipped ")):
        print(f"ONNX Runtime takes {counts[what]} no models of {what.split()[1]}")
    print(f"{args.count} models, seed {args.seed}, isa {args.isa or os.environ.get('GE_MAX_ISA', 'native')}, "
          f"threads {args.threads or 'default'}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
