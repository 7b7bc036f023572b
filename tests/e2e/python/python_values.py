"""Values of other kinds in the Python package: texts, sequences, maps and optionals."""
import json
import subprocess
import sys

import numpy as np

import graphengine
from python_checks import check, identity, refused, run_all

BAD, UNSUPPORTED = "INVALID_ARGUMENT", "UNSUPPORTED"


def session(inputs, outputs, *lines):
    text = ('ge 1\nopset "" 28\nopset "ai.onnx.ml" 5\n'
            f'fn main({inputs}) -> ({outputs}) {{\n  ' + "\n  ".join(lines) + '\n}\nentry infer "main" = main\n')
    return graphengine.Session(text.encode(), format="text", engines="ref")


def texts(_):
    s = identity("str", "N")
    check("what it takes", (s.inputs()[0].dtype, s.inputs()[0].kind) == ("string", "texts"))
    for given in (["a", "b\u00e9", ""], np.array(["a", "b\u00e9", ""]), np.array(["a", "b\u00e9", ""], object),
                  ("a", "b\u00e9", ""), np.array(["a", "b\u00e9".encode(), b""], object)):
        y = s.run({"x": given})["y"]
        check(f"texts by {type(given).__name__}", y.dtype == object and y.tolist() == ["a", "b\u00e9", ""])
    y = identity("str", "2,3").run(np.array([list("abc"), list("def")]).T.copy().T)["y"]
    check("two axes", y.tolist() == [list("abc"), list("def")])
    check("a text alone", identity("str", "").run("word")["y"].tolist() == "word")
    check("no texts", identity("str", "0").run(np.array([], object))["y"].shape == (0,))
    check("a zero byte within", s.run(["a\0b"])["y"].tolist() == ["a\0b"])
    check("bytes that are no UTF-8", s.run([b"\xff"])["y"].tolist() == ["\ufffd"])
    given = session("", "y", 'y = Constant() {value_strings=["a", "b"]}').run({})["y"]
    check("texts out alone", given.tolist() == ["a", "b"])
    refused("numbers for texts", BAD, "input 'x' has an element that is a float", lambda: s.run(np.ones(3)))
    refused("a number among texts", BAD, "an element that is a int", lambda: s.run(["a", 3]))
    refused("None for texts", BAD, "a NoneType", lambda: s.run(None))
    refused("a missing text", BAD, "input 'x' is not given", lambda: s.run({}))
    two = session("x: str[N], n: f32[1]", "y, m", "y = Identity(x)", "m = Neg(n)")
    check("texts by position", two.run([["a"], [1]])["m"] == -1)
    refused("too many by position", BAD, "3 inputs are given by position", lambda: two.run([["a"], [1], [2]]))
    refused("a shape that does not fit", BAD, "input", lambda: identity("str", "2").run(["a"]))
    refused("asynchronous texts", UNSUPPORTED, "run alone has", lambda: s.run_async(["a"]))
    refused("prepared texts", UNSUPPORTED, "run alone has", lambda: s.prepare(["a"]))
    refused("out beside texts", UNSUPPORTED, "without out", lambda: s.run(["a"], {"y": np.empty(1, object)}))


def sequences(_):
    x, y = np.ones((1, 2), np.float32), np.zeros((3, 2), np.float32)
    made = session("x: f32[N,2], y: f32[M,2]", "q, none", "q = SequenceConstruct(x, y)",
                   "none = SequenceEmpty()")
    out = made.run([x, y])
    check("a sequence out", len(out["q"]) == 2 and np.array_equal(out["q"][1], y) and out["none"] == [])
    check("what it gives", [(o.kind, o.dtype) for o in made.outputs()] == [("sequence", "float32")] * 2)
    s = session("q: seq(f32[?])", "n, y", "n = SequenceLength(q)", "y = Identity(q)")
    out = s.run({"q": [x, y, [5, 6]]})
    check("a sequence in", out["n"] == 3 and out["y"][2].tolist() == [5, 6])
    check("the only sequence", s.run([x, y])["n"] == 2)
    check("an empty sequence", s.run({"q": []})["n"] == 0)
    x[:] = 7
    check("what was given out is its own", out["y"][0][0, 0] == 1)
    texts_in = session("q: seq(str[?])", "y", "y = Identity(q)").run({"q": [["a", "b"], np.array(["c"])]})["y"]
    check("a sequence of texts", [t.tolist() for t in texts_in] == [["a", "b"], ["c"]])
    refused("an array for a sequence", BAD, "wanted a list of arrays", lambda: s.run({"q": x}))
    refused("another type in a sequence", BAD, "element 1 of the sequence",
            lambda: s.run({"q": [x, np.ones(2)]}))
    refused("no array in a sequence", BAD, "element 0 of input 'q' is a object", lambda: s.run({"q": [object()]}))


def maps(_):
    x = np.arange(4, dtype=np.float32).reshape(2, 2)
    for labels, keys in (('classlabels_strings=["no", "yes"]', ["no", "yes"]),
                         ("classlabels_int64s=[3, 5]", [3, 5])):
        s = session("x: f32[N,2]", "y, z", f"y = ai.onnx.ml.ZipMap(x) {{{labels}}}", "z = Neg(x)")
        out = s.run(x)
        check(f"maps of {keys}", out["y"] == [dict(zip(keys, [0.0, 1.0])), dict(zip(keys, [2.0, 3.0]))])
        check("tensors beside them", np.array_equal(out["z"], -x))
    taken = session("m: map(i64, f32[?])", "y", "y = ai.onnx.ml.CastMap(m) {map_form=\"DENSE\"}")
    check("a map in", taken.run({"m": {2: 2.5, 0: 1}})["y"].tolist() == [[1, 2.5]])
    check("numpy's keys", taken.run({"m": {np.int64(2): np.float32(2.5)}})["y"].tolist() == [[2.5]])
    check("its type", (taken.inputs()[0].kind, taken.inputs()[0].type) == ("map", "map(int64,tensor(float))"))
    named = session("m: map(str, i64[?])", "y", 'y = ai.onnx.ml.DictVectorizer(m) {string_vocabulary=["a", "b"]}')
    check("a map of texts", named.run({"m": {"b": 7}})["y"].ravel().tolist() == [0, 7])
    check("an empty map", named.run({"m": {}})["y"].ravel().tolist() == [0, 0])
    refused("no dict", BAD, "input 'm' is a list, wanted a dict", lambda: taken.run({"m": [1]}))
    refused("a text among keys", BAD, "a key that is a str, wanted integers", lambda: taken.run({"m": {"a": 1.0}}))
    refused("a number among keys", BAD, "a key that is a int, wanted texts", lambda: named.run({"m": {1: 1}}))
    refused("no number among values", BAD, "a value of input 'm'", lambda: taken.run({"m": {1: "b"}}))


def optionals(_):
    s = session("o: optional(f32[2])", "h", "h = OptionalHasElement(o)")
    check("what it may take", s.inputs()[0].optional and s.inputs()[0].dtype == "float32")
    check("nothing", not s.run({})["h"] and not s.run({"o": None})["h"])
    check("something", s.run({"o": [1, 2]})["h"])
    given = session("o: optional(f32[2])", "y", "y = Identity(o)")
    check("nothing out", given.run({})["y"] is None)
    check("something out", given.run({"o": [1, 2]})["y"].tolist() == [1, 2])


def as_onnxruntime(_):
    s = graphengine.InferenceSession(
        b'ge 1\nopset "" 28\nfn main(x: str[N]) -> (y) {\n  y = Identity(x)\n}\nentry infer "main" = main\n')
    check("its type", s.get_inputs()[0].type == "tensor(string)")
    for options in (None, graphengine.RunOptions()):
        check("by run", s.run(None, {"x": np.array(["a"])}, options)[0].tolist() == ["a"])
    ended = graphengine.RunOptions()
    ended.terminate = True
    refused("ended before", "CANCELLED", "terminate", lambda: s.run(None, {"x": ["a"]}, ended))
    binding = s.io_binding()
    binding.bind_cpu_input("x", np.array(["b"]))
    binding.bind_output("y")
    s.run_with_iobinding(binding)
    check("by a binding", binding.copy_outputs_to_cpu()[0].tolist() == ["b"])


def observed(args):
    """Runs with such values are recorded, and `ge replay` repeats them."""
    two = np.ones((2, 2), np.float32)
    feeds = [("greet", {"names": ["ann", "bob\0", "\u00e9", b"\xff"]}), ("turn", {"parts": [two[0], two, []]}),
             ("given", {"x": None}), ("given", {"x": two[0]}), ("read", {"texts": {1: "7", 2: "8"}}),
             ("wrap", {"x": np.array([1, 2])})]
    s = graphengine.Session("tests/e2e/models/values.gt")
    folder = args.scratch / "observed-values"
    with s.observe(folder):
        for entry, feed in feeds:
            s.run(feed, entry=entry)
    for (entry, _), file in zip(feeds, sorted(folder.iterdir())):
        done = subprocess.run([sys.executable, "-m", "graphengine", "replay", file, "--json"],
                              capture_output=True, text=True)
        found = json.loads(done.stdout) if done.stdout else {}
        check(f"{entry} is repeated: {found} {done.stderr}", done.returncode == 0 and
              found["equal"] == found["compared"] > 0)
    check("each run has a file", len(list(folder.iterdir())) == len(feeds))


if __name__ == "__main__":
    run_all([texts, sequences, maps, optionals, as_onnxruntime, observed])
