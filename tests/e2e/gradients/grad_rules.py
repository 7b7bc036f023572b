#!/usr/bin/env python3
"""Gradient rules that ge-adcheck's dual numbers cannot judge: conventions (quantization straight
through, what is ZERO), operators of single precision, operators that no engine runs here, and each
way to be refused.
"""
import argparse
import pathlib
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))
from ge_session import GeError, GeSession  # noqa: E402

HEAD = """ge 1
opset "" 28
opset "ge" 1
opset "com.microsoft" 1
opset "ai.onnx.ml" 5
"""

# Parameters; nodes, the last of which makes y; what is differentiated; what the refusal says.
REFUSED = [
    ("x: f32[4]", "y, i, n = com.microsoft.Unique(x)", "x", "the order of distinct elements"),
    ("x: f64[4]", "y = BitCast(x) {to=11}", "x", "bits have no slope"),
    ("x: f64[1,1,3,3], w: f64[1,1,2,2], o: f64[1,8,2,2]", "y = DeformConv(x, w, o)", "x",
     "write it with GridSample and Conv"),
    ("x: f64[1,1,4,4], r: f64[1,5]", "y = MaxRoiPool(x, r) {pooled_shape=[2,2]}", "x",
     "write it with GridSample and Conv"),
    ("x: f64[1,1,4,4], r: f64[1,4], i: i64[1]", "y = RoiAlign(x, r, i)", "x",
     "write it with GridSample and Conv"),
    ("x: f32[1,1,4,4], r: f32[1,4], i: i32[1]",
     "h = Shape(x) {start=2}\n  s = Cast(h) {to=6}\n  y = com.microsoft.CropAndResize(x, r, i, s)", "x",
     "write it with GridSample"),
    ("q: f32[2,1,4], k: f32[2,1,4], v: f32[2,1,4], s: f32[1,1,4,4]",
     'y = com.microsoft.GatedDeltaNet(q, k, v, _, _, _, s) {update_rule="linear"}', "q",
     "write its recurrence as a Scan"),
    ("q: f32[1,2,4], k: f32[1,2,4], v: f32[1,2,4]",
     'y, s = LinearAttention(q, k, v) {q_num_heads=2, kv_num_heads=2, update_rule="linear"}', "q",
     "write its recurrence as a Scan"),
    ("x: f32[1,2,4], w: f32[2,1,3]", "y, s = CausalConvWithState(x, w)", "x",
     "write its recurrence as a Scan"),
    ("x: f64[3], i: i64[]", "s = SequenceConstruct(x, x)\n  y = SequenceAt(s, i)", "x",
     "a sequence carries no gradient"),
    ("x: f64[4]", "s = SplitToSequence(x)\n  y = ConcatFromSequence(s) {axis=0}", "x",
     "a sequence carries no gradient"),
    ("x: f64[3]", "o = Optional(x)\n  y = OptionalGetElement(o)", "x",
     "an optional value carries no gradient"),
    ("x: f32[1,1,3,3], s: f32[], w: u8[1,1,2,2]",
     "q = QuantizeLinear(x, s)\n  c = ConvInteger(q, w)\n  y = Cast(c) {to=1}", "x",
     "put QuantizeLinear and DequantizeLinear around"),
    ("x: f32[2,2], s: f32[], z: u8[]",
     "q = QuantizeLinear(x, s, z)\n  c = QLinearMatMul(q, s, z, q, s, z, s, z)\n"
     "  y = DequantizeLinear(c, s, z)", "x", "put QuantizeLinear and DequantizeLinear around"),
    ("x: f32[2,2]", "k, y = ai.onnx.ml.LinearClassifier(x) "
     "{coefficients=[0.1, 0.2, 0.3, 0.4], classlabels_ints=[0, 1]}", "x", "is not trained here"),
    ("x: f32[2,2]", "y = ai.onnx.ml.Normalizer(x)", "x", "use LpNormalization or Concat"),
    ("x: f32[2,2]", "y = ai.onnx.ml.FeatureVectorizer(x, x)", "x", "use LpNormalization or Concat"),
    ("x: f64[2], r: f64[], t: bool[]", "y = Dropout(x, r, t)", "r", "drawn anew for another ratio"),
    ("x: f32[1,1,2,4], c: f32[1,2,2], s: f32[1,2,2]", "y = RotaryEmbedding(x, c, s)", "c",
     "write the rotation with Mul and Add"),
    ("x: f64[1,1,1,1], i: i64[1,1,1,1], n: i64[4]",
     "y = MaxUnpool(x, i, n) {kernel_shape=[2,2], strides=[2,2]}", "x",
     "places are not those of the indices"),
    ("x: f64[3], a: i64[]", "y = CumProd(x, a)", "x", "its axis is no constant"),
    ("x: f64[1,3,1], a: i64[]", "y = DFT(x, _, a)", "x", "its axis is no constant"),
    ("x: f64[1,4,4], k: i64[2]",
     "i = Constant() {value_ints=[3, 3]}\n  y = Col2Im(x, i, k)", "x", "its block"),
    ("x: f64[2,3], a: i64[1]", "y = ReduceProd(x, a)", "x", "its axes are no constant"),
    ("x: f64[1,1,4,4], r: f64[4], n: i64[2]", "y = Resize(x, r, _, n) {axes=[2,3], "
     'coordinate_transformation_mode="tf_crop_and_resize", '
     'keep_aspect_ratio_policy="not_larger"}', "x", "a kept ratio together are not built"),
    ("x: f64[?]", "y = LpPool(x) {kernel_shape=[2, 2]}", "x", "an input's rank is not known"),
    ("x: f64[?], t: i64[2]", "y = Tile(x, t)", "x", "an input's rank is not known"),
    ("x: f64[?], i: i64[2]", "y = Gather(x, i)", "x", "an input's rank is not known"),
    ("x: f64[?]", "y = ReduceProd(x)", "x", "an input's rank is not known"),
    ("x: f64[?]", "y = GlobalAveragePool(x)", "x", "an input's rank is not known"),
    ("x: f64[?]", "y = GlobalMaxPool(x)", "x", "an input's rank is not known"),
    ("x: f64[?], s: f64[2]", "y = InstanceNormalization(x, s, s)", "x", "rank is not known"),
    ("x: f64[?], s: f64[2]", "y = GroupNormalization(x, s, s) {num_groups=1}", "x",
     "rank is not known"),
    ("x: f64[?], s: f64[2]", "y = BatchNormalization(x, s, s, s, s)", "x", "rank is not known"),
    ("x: f64[?]", "y = LRN(x) {size=3}", "x", "an input's rank is not known"),
    ("x: f64[?], n: f32[2]", "y = Resize(x, _, n) {axes=[0,1]}", "x", "rank is not known"),
    ("x: f64[?], z: f64[?]", 'y = Einsum(x, z) {equation="...,..."}', "x", "rank is not known"),
    ("x: f64[?], g: f64[?]", "y = GridSample(x, g)", "x", "an input's rank is not known"),
    ("x: f64[?]", "y = Attention(x, x, x)", "x", "an input's rank is not known"),
    ("x: f64[1,N,2,2], k: f64[1,M,2,2]", "y = Attention(x, k, k)", "x",
     "the number of heads is not known"),
    ("x: f64[2,1,3], w: f64[1,H,3], r: f64[1,H,K]", "y, h = RNN(x, w, r)", "x",
     "its hidden size is not known"),
    ("x: f64[1,1,N], w: f64[1,1,2]", 'y = ConvTranspose(x, w) {auto_pad="SAME_UPPER"}', "x",
     "pads follow from them"),
    ("x: f64[1,4,K]", "y = DFT(x)", "x", "whether it is complex is not known"),
    ("x: f64[1,8,1], s: i64[]", "y = STFT(x, s)", "x", "it cannot be taken apart"),
]


class Check:
    def __init__(self, build, folder):
        self.library = build / "lib" / "libgraphengine.so"
        self.folder = folder
        self.rng = np.random.default_rng(3)
        self.passed = self.failed = 0

    def check(self, name, good, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}\n    {detail}")

    def near(self, name, got, wanted, bound=1e-12):
        got, wanted = np.asarray(got), np.asarray(wanted)
        scale = max(np.abs(wanted).max(initial=0), 1e-3)
        good = got.shape == wanted.shape and np.abs(got - wanted).max(initial=0) <= bound * scale
        self.check(name, good, f"{got} instead of {wanted}")

    def open(self, params, nodes, options, entry, results="loss", consts=""):
        path = self.folder / "program.gt"
        path.write_text(f"{HEAD}{consts}fn main({params}) -> ({results}) {{\n  {nodes}\n}}\n"
                        'entry infer "main" = main\n')
        return GeSession(path, library=self.library, engines="ref", entry=entry,
                         plugins="grad" if options else "",
                         passes=f"grad:{options}" if options else "")

    def gradients(self, feeds, nodes, wrt, dtype="f64"):
        """Those of sum(w y), by name; w is of y's shape and given with the others."""
        names = {"float64": "f64", "float32": "f32", "int64": "i64", "int32": "i32", "uint8": "u8",
                 "int8": "i8", "bool": "bool"}
        params = ", ".join(f"{k}: {names[v.dtype.name]}[{','.join(map(str, v.shape))}]"
                           for k, v in feeds.items())
        nodes += "\n  p = Mul(y, w)\n  loss = ReduceSum(p, _) {keepdims=0}"
        of = "wrt=" + "+".join(wrt)
        _, *grads = self.open(params, nodes, of, "grad").run(feeds)
        tangents = {f"t.{k}": self.rng.standard_normal(feeds[k].shape).astype(feeds[k].dtype)
                    for k in wrt}
        forward = self.open(params, nodes, of + ";kind=jvp;name=jvp", "jvp")
        jvp = forward.run({**feeds, **tangents})[1]
        along = sum((g * tangents[f"t.{k}"]).sum() for k, g in zip(wrt, grads))
        self.near(f"{nodes.splitlines()[0]}: forward and reverse", jvp, along,
                  1e-12 if dtype == "f64" else 1e-5)
        return dict(zip(wrt, grads))

    # ---- conventions

    def quantized(self):
        x = np.array([[-7.3, .4, 2.6], [3.1, 90, -120.]], np.float32)
        w = self.rng.standard_normal(x.shape).astype(np.float32)
        for name, scale, point, attrs in (
                ("whole", np.array(.5), np.array(3, np.int8), ""),
                ("by axis", np.array([.5, .3, 1.1]), np.array([1, -2, 0], np.int8), ""),
                ("by block", np.array([[.5, .9], [.4, 1.2]]), np.array([[1, 0], [2, -3]], np.int8),
                 " {axis=1, block_size=2}")):
            nodes = f"q = QuantizeLinear(x, s, z){attrs}\n  y = DequantizeLinear(q, s, z){attrs}"
            scale = scale.astype(np.float32)
            g = self.gradients({"x": x, "s": scale, "z": point, "w": w}, nodes, ["x", "s"], "f32")
            full = (lambda v: np.repeat(v, 2, 1)[:, :3]) if "block" in name else (lambda v: v)
            s, z = full(scale), full(point).astype(float)
            at = np.rint(x / s) + z
            inside = (at >= -128) & (at <= 127)
            self.check(f"quantized {name}: both kinds of element", 0 < inside.sum() < x.size)
            self.near(f"quantized {name}: x", g["x"], w * inside, 1e-6)
            each = w * (np.clip(at, -128, 127) - z - inside * x / s)
            wanted = {"whole": each.sum(), "by axis": each.sum(0),
                      "by block": np.stack([each[:, :2].sum(1), each[:, 2]], 1)}[name]
            self.near(f"quantized {name}: scale", g["s"], wanted, 1e-5)

    def quantized_product(self):
        x = self.rng.standard_normal((2, 3)).astype(np.float32)
        b, w = np.array([[1, 2], [3, 9], [0, 7]], np.uint8), np.ones((2, 2), np.float32)
        nodes = ("q, s, z = DynamicQuantizeLinear(x)\n  i = MatMulInteger(q, b, z)\n"
                 "  f = Cast(i) {to=1}\n  y = Mul(f, s)")
        g = self.gradients({"x": x, "b": b, "w": w}, nodes, ["x"], "f32")["x"]
        # Straight through it is x b, and what it is off by moves with the greatest and the least.
        rest = np.ones(x.shape, bool)
        rest[np.unravel_index([x.argmax(), x.argmin()], x.shape)] = False
        self.near("a product of whole numbers", g[rest], (w @ b.T.astype(np.float32))[rest], 1e-5)

    def zeros(self):
        x, w = np.array([-1.3, .4, 2.6]), np.array([.7, -.2, 1.9])
        for op in ("Floor", "Ceil", "Round", "Sign", "Hardmax", "ge.StopGradient"):
            g = self.gradients({"x": x, "w": w}, f"f = {op}(x)\n  y = Mul(f, x)", ["x"])["x"]
            value = {"Floor": np.floor, "Ceil": np.ceil, "Round": np.rint, "Sign": np.sign,
                     "Hardmax": lambda v: np.eye(3)[v.argmax()], "ge.StopGradient": lambda v: v}[op]
            self.near(f"{op} is a constant", g, value(x) * w)
        for op in ("Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal"):
            y = f"c = {op}(x, w)\n  f = Cast(c) {{to=11}}\n  y = Mul(f, x)"
            g = self.gradients({"x": x, "w": w}, y, ["x"])["x"]
            value = {"Greater": x > w, "Less": x < w, "GreaterOrEqual": x >= w,
                     "LessOrEqual": x <= w, "Equal": x == w}[op]
            self.near(f"{op} is a constant", g, value * w)
        kept = self.open("x: f64[2]", "y = ge.StopGradient(x)\n  loss = Neg(y)", "", "")
        self.near("ge.StopGradient is Identity", kept.run({"x": x[:2]})[0], -x[:2])

    def ties(self):
        x, w = np.array([1., 2, 2]), np.array([.7, -.2, 1.9])
        g = self.gradients({"x": x, "b": np.array([1., 3, 2]), "w": w}, "y = Max(x, b)", ["x", "b"])
        self.near("Max shares ties: x", g["x"], w * [.5, 0, .5])
        self.near("Max shares ties: b", g["b"], w * [.5, 1, .5])
        g = self.gradients({"x": x, "l": np.array(1.), "h": np.array(2.), "w": w},
                           "y = Clip(x, l, h)", ["x", "l", "h"])
        self.near("Clip's bounds pass: x", g["x"], w)
        self.near("Clip's bounds pass: bound", g["l"], 0)
        for op in ("Relu", "Abs", "LeakyRelu", "Elu"):
            slope = {"Relu": 0, "Abs": 0, "LeakyRelu": np.float32(.01), "Elu": 1}[op]
            g = self.gradients({"x": np.zeros(2), "w": w[:2]}, f"y = {op}(x)", ["x"])["x"]
            self.near(f"{op} at 0", g, slope * w[:2])

    # ---- single precision

    def single(self):
        x = self.rng.standard_normal((2, 3)).astype(np.float32)
        w = self.rng.standard_normal(x.shape).astype(np.float32)
        g = self.gradients({"x": x, "w": w}, "y = Celu(x) {alpha=0.7}", ["x"], "f32")["x"]
        self.near("Celu", g, w * np.where(x > 0, 1, np.exp(x / .7)), 1e-6)
        g = self.gradients({"x": x, "w": w}, "y = ai.onnx.ml.Scaler(x) {offset=[0.1], "
                           "scale=[0.5, 2.0, 3.0]}", ["x"], "f32")["x"]
        self.near("Scaler", g, w * np.float32([.5, 2, 3]), 1e-6)
        x[0, 1] = 7
        g = self.gradients({"x": x, "w": w}, "y = ai.onnx.ml.Imputer(x) "
                           "{imputed_value_floats=[9.0], replaced_value_float=7.0}", ["x"],
                           "f32")["x"]
        self.near("Imputer", g, w * (x != 7))
        g = self.gradients({"x": x, "w": w[:, :1]}, "y = ai.onnx.ml.LinearRegressor(x) "
                           "{coefficients=[0.1, 0.2, 0.3], intercepts=[0.5]}", ["x"], "f32")["x"]
        self.near("LinearRegressor", g, w[:, :1] * np.float32([[.1, .2, .3]]), 1e-6)

    def rotary(self):
        """Linear: the gradient of w y is what the operator's own matrix says."""
        shape, half = (1, 2, 3, 4), (1, 3, 2)
        feeds = {"x": self.rng.standard_normal(shape), "c": self.rng.standard_normal(half),
                 "s": self.rng.standard_normal(half), "w": self.rng.standard_normal(shape)}
        feeds = {k: v.astype(np.float32) for k, v in feeds.items()}
        for attrs in ("", " {interleaved=1}"):
            node = f"RotaryEmbedding(x, c, s){attrs}"
            g = self.gradients(feeds, f"y = {node}", ["x"], "f32")["x"]
            plain = self.open("x: f32[1,2,3,4], c: f32[1,3,2], s: f32[1,3,2]", f"loss = {node}",
                              "", "")
            wanted = np.zeros(shape)
            for at in np.ndindex(shape):
                unit = np.zeros(shape, np.float32)
                unit[at] = 1
                wanted[at] = (plain.run({**feeds, "x": unit})[0] * feeds["w"]).sum()
            self.near(f"RotaryEmbedding{attrs}", g, wanted, 1e-6)

    def statistics(self):
        """LayerNormalization's mean and 1 / deviation, which are f32 beside x of f64."""
        x = self.rng.standard_normal((2, 4))
        for name in ("m", "d"):
            feeds = {"x": x, "s": np.ones(4), "w": np.float32([[.7], [-1.2]])}
            g = self.gradients(feeds, f"o, {'y, d' if name == 'm' else 'm, y'} = "
                               "LayerNormalization(x, s)", ["x"], "f32")["x"]
            centred = x - x.mean(1, keepdims=True)
            inverse = 1 / np.sqrt((centred ** 2).mean(1, keepdims=True) + np.float32(1e-5))
            slope = np.ones(x.shape) / 4 if name == "m" else -inverse ** 3 * centred / 4
            self.near(f"LayerNormalization: {name}", g, feeds["w"] * slope, 1e-5)

    # ---- refusals

    def refusals(self):
        for params, nodes, wrt, text in REFUSED:
            nodes += "\n  loss = ReduceSum(y, _) {keepdims=0}"
            try:
                self.open(params, nodes, f"wrt={wrt}", "grad")
                self.check(f"refused: {nodes}", False, "it was taken")
            except GeError as e:
                self.check(f"refused: {nodes}", text in str(e), str(e))

    def dropout(self):
        """No engine here draws numbers: where it drops nothing it runs, and else what is derived
        has to get as far as the operator itself."""
        x, w = np.array([1., 2, 3, 4]), np.array([.7, -.2, 1.1, .3])
        g = self.gradients({"x": x, "w": w}, "y = Dropout(x)", ["x"])["x"]
        self.near("Dropout at rest", g, w)
        for outputs in ("y", "y, m"):
            node = f"{outputs} = Dropout(x, r, t) {{seed=5}}"
            for ratio, training in ((0., True), (.5, False)):
                feeds = {"x": x, "r": np.array(ratio), "t": np.array(training), "w": w}
                g = self.gradients(feeds, node, ["x"])["x"]
                self.near(f"{node}, {ratio}, {training}", g, w)
            try:
                self.gradients({**feeds, "t": np.array(True)}, node, ["x"])
                self.check(node, False, "it ran: compare its gradient with its mask")
            except GeError as e:
                self.check(node, "needs random numbers" in str(e), str(e))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        check = Check(args.build.resolve(), pathlib.Path(folder))
        for part in (check.quantized, check.quantized_product, check.zeros, check.ties,
                     check.single, check.rotary, check.statistics, check.refusals, check.dropout):
            try:
                part()
            except GeError as e:
                check.check(part.__name__, False, str(e))
    print(f"{check.passed} passed, {check.failed} failed, 0 skipped")
    return check.failed != 0


if __name__ == "__main__":
    sys.exit(main())
