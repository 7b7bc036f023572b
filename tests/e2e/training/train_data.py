#!/usr/bin/env python3
"""Which data `ge train` takes, and what it does with them: dtypes, layouts, arrays of several inputs,
and the message for each that does not fit. Losses are compared with those of the same numbers as the
net's own dtype and layout, to the last bit. The last line counts checks."""
import os
import pathlib
import sys
import tempfile

import train_tool


class DataChecks(train_tool.Checks):
    def losses(self, net, loss="softmax-ce", more=(), **arrays):
        """The .csv of three steps; None where it is refused, whose words are in self.said."""
        path, csv = self.scratch / "d.npz", self.scratch / "d.csv"
        self.np.savez(path, **arrays)
        done = self.call("--steps", 3, "--batch", 4, "--no-test", "--loss", loss, "--log", f"csv:{csv}",
                         *more, net=net, data=path)
        self.said = done.stderr
        self.check("refused with code 2", done.returncode in (0, 2), done.stderr)
        return csv.read_text() if done.returncode == 0 else None

    def says(self, wanted, net, more=(), **arrays):
        losses = self.losses(net, more=more, **arrays)
        self.check(wanted, losses is None and wanted in self.said, self.said)

    def dtypes(self):
        np, r = self.np, self.np.random.default_rng(3)
        x, y = r.integers(0, 100, (12, 5)), r.integers(0, 3, 12)
        wanted = self.losses(self.net, x=x.astype(np.float32), y=y)
        for dtype in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u2", "u4", "u8"):
            self.check(f"samples of {dtype}", self.losses(self.net, x=x.astype(dtype), y=y) == wanted,
                       self.said)
        for dtype in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
            got = self.losses(self.net, x=x.astype(np.float32), y=y.astype(dtype))
            self.check(f"labels of {dtype}", got == wanted, self.said)
        wanted = self.losses(self.net, x=(x > 50).astype(np.float32), y=y)
        self.check("samples of bool", self.losses(self.net, x=x > 50, y=y) == wanted, self.said)
        wanted = self.losses(self.net, x=x.astype(np.float32) / np.float32(255), y=y)
        self.check("bytes are divided", self.losses(self.net, x=x.astype("u1"), y=y) == wanted,
                   self.said)
        halves = r.standard_normal((12, 5)).astype(np.float16)
        wanted = self.losses(self.net, x=halves.astype(np.float32), y=y)
        self.check("halves with fractions", self.losses(self.net, x=halves, y=y) == wanted, self.said)
        self.says("is of f32, wanted whole numbers as the net's 'label' is i64", self.net, x=halves,
                  y=y.astype(np.float32))
        self.says("has elements '>f4', wanted numbers, little-endian", self.net,
                  x=x.astype(">f4"), y=y)
        self.says("has elements '<c8', wanted numbers", self.net,
                  x=x.astype(np.complex64), y=y)
        self.says("is of column-major order; save numpy.ascontiguousarray", self.net, x=np.asfortranarray(x.astype("f4")), y=y)

    def layouts(self):
        np, r = self.np, self.np.random.default_rng(4)
        net = self.model("rgb.onnx", [3 * 4 * 6, 3], shape=[3, 4, 6])
        x, y = r.standard_normal((12, 3, 4, 6)).astype(np.float32), r.integers(0, 3, 12)
        last = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
        wanted = self.losses(net, x=x, y=y)
        nhwc = ["--layout", "nhwc"]
        self.says("its samples are of 4x6x3 each, wanted 3x4x6 as the net's 'x'; their channels come "
                  "last: give --layout nhwc", net, x=last, y=y)
        self.check("nhwc", self.losses(net, more=nhwc, x=last, y=y) == wanted, self.said)
        self.check("nhwc of halves", self.losses(net, more=nhwc, x=last.astype("f2"), y=y)
                   == self.losses(net, x=x.astype("f2"), y=y) is not None, self.said)
        self.check("flat", self.losses(net, x=x.reshape(12, -1), y=y) == wanted, self.said)
        self.check("flat nhwc", self.losses(net, more=nhwc, x=last.reshape(12, -1), y=y) == wanted,
                   self.said)
        self.says("they lie as the net takes them: leave --layout nhwc out", net, more=nhwc, x=x, y=y)
        self.says("where their numbers lie in the net's order, save x.reshape(-1, 3, 4, 6)", net,
                  x=x.reshape(12, 6, 12), y=y)
        self.says("are of 3x4x5 each, wanted 3x4x6", net, x=x[..., :5], y=y)
        self.says("are of 4x5x3 each, wanted 4x6x3 as the net's 'x' is 3x4x6 and --layout nhwc", net,
                  more=nhwc, x=last[:, :, :5], y=y)
        self.says("no input of the net has channels, rows and columns", self.net, more=nhwc,
                  x=self.x[:12], y=y)
        gray = self.model("gray.onnx", [24, 3], shape=[1, 4, 6])
        wanted = self.losses(gray, x=x[:, :1], y=y)
        for name, other in (("4x6", x[:, 0]), ("4x6x1", x[:, 0, :, :, None]), ("24", x[:, 0].reshape(12, 24))):
            self.check(f"gray of {name}", self.losses(gray, x=other, y=y) == wanted, self.said)
        ends = self.model("nhwc.onnx", [72, 3], shape=[4, 6, 3])
        self.says("save x.transpose(0, 2, 3, 1)", ends, x=x, y=y)
        self.check("a net of channels last", self.losses(ends, x=last, y=y) is not None, self.said)
        self.pictures(net, ends)

    def pictures(self, net, ends):
        """In the layout of the net, which the folder knows from it."""
        np, r = self.np, self.np.random.default_rng(6)
        x = r.integers(0, 256, (6, 4, 6, 3)).astype(np.uint8)
        for i in range(6):
            to = self.scratch / "ppm" / "abc"[i // 2] / f"{i}.ppm"
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(b"P6 6 4 255\n" + x[i].tobytes())
        y = np.arange(6) // 2
        for name, which, rows in (("first", net, x.transpose(0, 3, 1, 2)), ("last", ends, x)):
            csv = self.scratch / "ppm.csv"
            self.last("--batch", 4, "--steps", 3, "--epochs", 3, "--log", f"csv:{csv}", net=which,
                      data=self.scratch / "ppm")
            got = self.losses(which, x=np.ascontiguousarray(rows), y=y, more=["--epochs", 3])
            self.check(f"pictures, channels {name}", csv.read_text() == got, (csv.read_text(), got))
        self.refused("they lie as the net takes them: leave --layout nhwc out", "--layout", "nhwc",
                     "--batch", 2, net=net, data=self.scratch / "ppm")
        five = self.model("five.onnx", [60, 3], shape=[3, 4, 5])
        logs = [self.scratch / "bare.csv", self.scratch / "resized.csv"]
        for log, step in zip(logs, ("", " | resize 4x5")):
            self.last("--batch", 2, "--log", f"csv:{log}", net=five, data=f"{self.scratch}/ppm{step}")
        self.check("pictures of another size", logs[0].read_text() == logs[1].read_text())
        self.refused("its samples are of 3x4x6 each, wanted 3x4x5 as the net's 'x'", "--batch", 2,
                     net=five, data=f"{self.scratch}/ppm | resize 4x6")

    def two(self):
        """Two inputs of a net: numbers and rows of a table."""
        import onnx
        from onnx import TensorProto, helper, numpy_helper
        np, r = self.np, self.np.random.default_rng(7)
        weights = {"table": r.standard_normal((9, 4)), "w": r.standard_normal((3, 9)), "b": np.zeros(3)}
        graph = helper.make_graph(
            [helper.make_node("Gather", ["table", "id"], ["rows"]),
             helper.make_node("Concat", ["seen/at", "rows"], ["all"], axis=1),
             helper.make_node("Gemm", ["all", "w", "b"], ["logits"], transB=1)], "two",
            [helper.make_tensor_value_info("seen/at", TensorProto.FLOAT, ["N", 5]),
             helper.make_tensor_value_info("id", TensorProto.INT64, ["N"])],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", 3])],
            [numpy_helper.from_array(v.astype(np.float32), k) for k, v in weights.items()])
        net = self.scratch / "two.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
                  str(net))
        x, ids, y = self.x[:12], r.integers(0, 9, 12), self.y[:12]
        wanted = self.losses(net, **{"seen/at": x, "id": ids, "y": y})
        self.check("two inputs", wanted is not None, self.said)
        first = train_tool.order_of(1, 0, 12, 4)[:4]
        logits = np.concatenate([x[first],
                                 weights["table"][ids[first]]], 1) @ weights["w"].T
        z = np.log(np.exp(logits).sum(1)) - logits[np.arange(4), y[first]]
        self.check("its first loss", wanted and abs(float(wanted.split("\n")[1].split(",")[1]) - z.mean()) < 1e-5,
                   (wanted, z.mean()))
        for names in (("x", "id", "y"), ("x_train", "id_train", "y_train"),
                      ("seen/at_train", "id_train", "label_train"), ("x", "id", "label")):
            got = self.losses(net, **dict(zip(names, (x, ids.astype(np.int32), y))))
            self.check(" ".join(names), got == wanted, self.said)
        self.says("has no column for the net's input 'id'; it has 'x', 'y'; choose by 'select id=COLUMN'",
                  net, x=x, y=y)
        self.says("has no column for the net's input 'seen/at'; it has 'id', 'y'", net, id=ids, y=y)
        self.says("column 'x' has 12 rows, column 'id' 11", net, x=x, id=ids[1:], y=y)
        got = self.losses(net, a=x, b=ids, c=y)
        self.check("columns of other names, in order", got == wanted, self.said)
        self.says("has no column for the net's input 'seen/at'; it has 'a', 'b', 'c', 'd'", net, a=x,
                  b=ids, c=y, d=y)
        self.says("are of 5 each, wanted one number as the net's 'id'", net, x=x, id=x, y=y)
        path = self.scratch / "test.npz"
        np.savez(path, x_train=x, id_train=ids, y_train=y, x_test=x, id_test=ids, y_test=y)
        last = self.last("--batch", 4, "--epochs", 2, net=net, data=path)
        self.check("and is tested", last.get("test_loss") is not None, last)
        np.savez(path, x_train=x, id_train=ids, y_train=y, x_test=x, y_test=y)
        self.refused("#test' has no column for the net's input 'id'", "--batch", 4, net=net, data=path)
        self.refused("column 'picture' of", "--batch", 4, net=net, data=self.scratch / "ppm")

    def wide(self):
        """Whole numbers that the net's dtype does not hold."""
        import onnx
        from onnx import TensorProto, helper, numpy_helper
        table = numpy_helper.from_array(self.np.arange(12, dtype="f4").reshape(4, 3), "t")
        graph = helper.make_graph(
            [helper.make_node("Cast", ["id"], ["wide"], to=TensorProto.INT64),
             helper.make_node("Gather", ["t", "wide"], ["logits"])], "ids",
            [helper.make_tensor_value_info("id", TensorProto.INT32, ["N"])],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", 3])], [table])
        net = self.scratch / "ids.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
                  str(net))
        ids, y = self.np.arange(12) % 4, self.np.arange(12) % 3
        self.check("i64 for i32", self.losses(net, x=ids, y=y) is not None, self.said)
        self.says("the number for the net's 'id' at position 10 is 4294967296, which its dtype i32", net, x=self.np.where(self.np.arange(12) == 5, 2 ** 32, ids), y=y)

    def long(self):
        """An axis longer than a picture's side may be, of a net whose input has as many axes as one."""
        np, r, length = self.np, self.np.random.default_rng(8), 40_000
        x, y = r.standard_normal((12, length)).astype(np.float32), r.integers(0, 3, 12)
        for shape in ([1, 1, length], [1, length], [length, 1]):
            net = self.model("long.onnx", [length, 3], shape=shape)
            losses = [self.losses(net, x=x.reshape(12, *of), y=y) for of in (shape, [length])]
            self.check(f"a long axis, {shape}", losses[0] == losses[1] is not None, self.said)
            name = "x".join(map(str, shape))
            self.says(f", wanted {name} as the net's 'x'", net, x=x[:, 1:], y=y)

    def same_bits(self):
        """What the machine has learned by measuring does not change the bits of a run."""
        a, b = self.scratch / "a.onnx", self.scratch / "b.onnx"
        cache = self.scratch / "cache"
        env = {k: v for k, v in os.environ.items() if k not in ("GE_CACHE_DIR", "GE_PROBE")}
        env["GE_CACHE_DIR"] = str(cache)
        import subprocess
        for out, prices in ((a, None), (self.scratch / "c.onnx", "measure"), (b, None)):
            done = subprocess.run(self.args("--epochs", 2, "--export", out,
                                            *(["--prices", prices] if prices else [])),
                                  capture_output=True, text=True, env=env, check=False)
            self.check(f"prices {prices}", done.returncode == 0, done.stderr)
        self.check("the cache was filled", any(cache.rglob("*")))
        self.check("the same bits before and after", a.read_bytes() == b.read_bytes())


def main():
    os.environ.update(GE_CACHE_DIR="off", GE_PROBE="fixed")
    with tempfile.TemporaryDirectory() as scratch:
        checks = DataChecks(pathlib.Path(scratch))
        for part in (checks.dtypes, checks.layouts, checks.two, checks.wide, checks.long,
                     checks.same_bits):
            part()
    print(f"{checks.passed} passed, {checks.failed} failed, 0 skipped")
    return checks.failed > 0


if __name__ == "__main__":
    sys.exit(main())
