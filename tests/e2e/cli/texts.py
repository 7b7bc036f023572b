#!/usr/bin/env python3
"""Texts in .npy files: what NumPy writes as str and as bytes reaches a model as it was, and what is no
text is refused by name.

Prints each fault and, last, the counts.

Example: tests/e2e/cli/texts.py --build build/release
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("numpy")

import numpy as np  # noqa: E402

HEAD = 'ge 1\nopset "" 28\nopset "ai.onnx.ml" 5\n'
ECHO = HEAD + """symbol n
symbol m
fn main(x: str[n,m]) -> (y) {
  y = Identity(x)
}
entry infer "main" = main
"""
COUNT = HEAD + """symbol n
fn main(x: str[n]) -> (y) {
  y = ai.onnx.ml.LabelEncoder(x) {keys_strings=["red", "green"], values_floats=[1.0, 2.0], default_float=-1.0}
}
entry infer "main" = main
"""
SCALED = COUNT.replace("y = ai", "z = ai").replace("}\nentry", "  y = Relu(z)\n}\nentry")
NUMBERS = HEAD + """fn main(x: f32[2]) -> (y) {
  y = Relu(x)
}
entry infer "main" = main
"""


class Checks:
    def __init__(self, ge, folder):
        self.ge, self.folder = ge, folder
        self.passed = self.failed = 0
        for name, text in (("echo", ECHO), ("count", COUNT), ("scaled", SCALED),
                           ("numbers", NUMBERS)):
            (folder / f"{name}.gt").write_text(text)

    def check(self, good, name, found=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    {str(found).strip()[-2000:]}")

    def run(self, model, feed, *more, command="run"):
        words = ["--input", f"x={feed}"] if feed else []
        return subprocess.run([self.ge, command, self.folder / f"{model}.gt", "--threads", "1",
                               *words, *more], capture_output=True, text=True, timeout=120)

    def same(self, name, array, wanted=None):
        """`ge run` writes the texts of `array` as JSON."""
        path = self.folder / "x.npy"
        np.save(path, array)
        done = self.run("echo", path, "--output", self.folder / "out")
        if done.returncode:
            return self.check(False, name, done.stderr)
        found = json.loads((self.folder / "out" / "y.json").read_text())
        self.check(found == (array.tolist() if wanted is None else wanted), name, found)

    def refused(self, name, words, feed, model="echo", *more):
        done = self.run(model, feed, *more)
        messages = [line for line in done.stderr.splitlines() if line.startswith("ge: ")]
        self.check(done.returncode == 2 and len(messages) == 1 and words in messages[0],
                   f"refused: {name}", done.stderr)

    def raw(self, descr, shape, data):
        header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
        path = self.folder / "raw.npy"
        path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data)
        return path


def check_taken(c):
    words = [["plain", "", "a\0b"], ["grün", "日本語", "🙂 \U0010ffff"]]
    c.same("str", np.array(words))
    c.same("str of the other order of bytes", np.array(words).astype(">U8"))
    c.same("bytes of UTF-8", np.array([[w.encode() for w in row] for row in words]), words)
    c.same("one letter each", np.array([["a", "b"]]))
    c.same("no rows", np.empty((0, 2), dtype="U3"))
    c.same("rows of nothing", np.array([["", ""]]))
    np.save(c.folder / "x.npy", np.array(["red", "blue", "green"]))
    done = c.run("count", c.folder / "x.npy", "--output", c.folder / "out")
    found = np.load(c.folder / "out" / "y.npy") if done.returncode == 0 else done.stderr
    c.check(np.array_equal(found, np.float32([1, -1, 2])), "numbers of texts", found)
    for stage in ("place", "memory"):
        done = c.run("scaled", c.folder / "x.npy", "--to", stage, command="dump")
        c.check(done.returncode == 0 and "# piece 1 of 1, of function 'main" in done.stdout
                and 'op="Relu"' in done.stdout and "finished plans of one run" in done.stderr,
                f"dump --to {stage} of a model in pieces", done.stdout + done.stderr)
    done = c.run("count", c.folder / "x.npy", "--to", "place", command="dump")
    c.check(done.returncode == 0 and done.stdout.startswith("# no piece: "),
            "dump of texts alone", done.stdout + done.stderr)
    done = c.run("count", c.folder / "x.npy", "--seconds", "0.1", "--concurrency", "1,2", "--json",
                 command="bench")
    rows = json.loads(done.stdout)["rows"] if done.returncode == 0 else []
    c.check(len(rows) == 2 and all(row["requests"] > 0 for row in rows), "bench", done.stderr)


def check_refused(c):
    for code, order in ((0xD800, "<"), (0x110000, "<"), (0xDFFF, ">")):
        data = np.array([97, code], dtype=f"{order}u4").tobytes()
        c.refused(f"{code:#x}", f"its text 1 has the code point {code:#x}, which is no character",
                  c.raw(f"{order}U1", "(1, 2)", data))
    for data in (b"ab\xff", b"\xc3\0\0", b"\xed\xa0\x80"):
        c.refused(f"bytes {data}", "its text 1 is not UTF-8", c.raw("|S3", "(1, 2)", b"abc" + data))
    c.refused("too few bytes", "needs 24 bytes, it has 23", c.raw("<U3", "(1, 2)", bytes(23)))
    c.refused("elements of no bytes", "its dtype is <U0", c.raw("<U0", "(1, 9223372036854775807)", b""))
    c.refused("elements beyond memory", "does not fit in 63 bits",
              c.raw("<U536870912", "(9223372036854775807, 2)", b""))
    c.refused("a width beyond any", "its dtype is", c.raw("<U99999999999999999999", "(1, 1)", b""))
    c.refused("a width of letters", "its dtype is <Ux", c.raw("<Ux", "(1, 1)", b""))
    c.refused("characters without an order", "its dtype is |U1", c.raw("|U1", "(1, 1)", bytes(4)))
    np.save(c.folder / "x.npy", np.array([["a", 1]], dtype=object), allow_pickle=True)
    c.refused("objects", "or texts as x.astype(str) makes them", c.folder / "x.npy")
    np.save(c.folder / "x.npy", np.array(["a", "b"]))
    c.refused("texts for numbers", "input 'x' is str, the model wants f32", c.folder / "x.npy",
              "numbers")
    c.refused("the wrong rank", "'x'", c.folder / "x.npy")
    np.save(c.folder / "x.npy", np.float32([[1, 2]]))
    c.refused("numbers for texts", "the model wants str", c.folder / "x.npy")
    c.refused("made up", "is of texts, which are not made up; give --input x=FILE.npy", "1x2:rand")
    c.refused("nothing given", "is of texts, which are not made up", None)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        c = Checks(args.build / "bin/ge", pathlib.Path(folder))
        check_taken(c)
        check_refused(c)
    print(f"{c.passed} passed, {c.failed} failed, 0 skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
