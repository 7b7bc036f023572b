"""Operators of plugins where models are not one straight line: in bodies of If and Loop, of constants
alone, of no elements, in float64; and what is refused there. Used by op_plugins.py."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
X = np.random.default_rng(0).standard_normal((4, 5)).astype(np.float32)


def info(name, dtype, *dims):
    return helper.make_tensor_value_info(name, dtype, dims)


def acme(op, inputs, outputs, **attrs):
    return helper.make_node(op, inputs, outputs, domain="acme", **attrs)


def constant(name, values):
    return numpy_helper.from_array(np.asarray(values), name)


def mish(x):
    return x * np.tanh(np.log1p(np.exp(x)))


def branches(flag):
    """A kernel that says its sizes in one branch, parts in the other."""
    then = helper.make_graph([acme("Positive", ["x"], ["a"])], "then", [], [info("a", FLOAT, None)])
    other = helper.make_graph([acme("Mish", ["x"], ["b"]),
                               helper.make_node("Reshape", ["b", "flat"], ["c"])],
                              "else", [], [info("c", FLOAT, None)])
    nodes = [helper.make_node("If", ["flag"], ["y"], then_branch=then, else_branch=other),
             helper.make_node("Neg", ["y"], ["z"])]
    graph = helper.make_graph(nodes, "g", [info("x", FLOAT, "n", 5), info("flag", BOOL)],
                              [info("z", FLOAT, None)], [constant("flat", np.int64([-1]))])
    answer = X[X > 0] if flag else mish(X).ravel()
    return graph, {"x": X, "flag": np.array(flag)}, {"z": -answer}


def loop():
    body = helper.make_graph(
        [acme("Rotate", ["s"], ["next"], by=3), acme("RunLength", ["ints"], ["v", "lengths"]),
         helper.make_node("Identity", ["on"], ["still"])], "body",
        [info("i", INT), info("on", BOOL), info("s", FLOAT, "n", 5)],
        [info("still", BOOL), info("next", FLOAT, "n", 5), info("lengths", INT, None)])
    graph = helper.make_graph([helper.make_node("Loop", ["trips", "", "x"], ["y", "all"], body=body)],
                              "g", [info("x", FLOAT, "n", 5), info("trips", INT), info("ints", INT, "k")],
                              [info("y", FLOAT, "n", 5), info("all", INT, None, None)])
    return graph, {"x": X, "trips": np.array(4), "ints": np.array([1, 1, 2, 2, 2, 5])}, \
        {"y": np.roll(X.ravel(), 12).reshape(X.shape), "all": np.tile([2, 3, 1], (4, 1))}


def constants():
    five = np.arange(5, dtype=np.float32)
    graph = helper.make_graph(
        [acme("CountOf", ["c"], ["y"]), acme("Rotate", ["five"], ["e"]),
         helper.make_node("Add", ["x", "e"], ["z"]), acme("Mish", ["five"], ["f"])], "g",
        [info("x", FLOAT, "n", 5)],
        [info("y", INT, None), info("z", FLOAT, None, None), info("f", FLOAT, None)],
        [constant("c", np.array([0, 2, 2, 3])), constant("five", five)])
    return graph, {"x": X}, {"y": np.bincount([0, 2, 2, 3]), "z": X + np.roll(five, 1),
                             "f": mish(five)}


def of(op, x, answer, dtype=FLOAT, **attrs):
    graph = helper.make_graph([acme(op, ["x"], ["y"], **attrs)], "g",
                              [info("x", dtype, *(["n"] + [5] * (x.ndim - 1)))],
                              [info("y", dtype, *[None] * answer.ndim)])
    return graph, {"x": x}, {"y": answer}


def state_in_a_body():
    then = helper.make_graph([acme("StepCount", ["x"], ["a"])], "then", [],
                             [info("a", FLOAT, None, 5)])
    other = helper.make_graph([helper.make_node("Neg", ["x"], ["b"])], "else", [],
                              [info("b", FLOAT, None, 5)])
    node = helper.make_node("If", ["flag"], ["y"], then_branch=then, else_branch=other)
    graph = helper.make_graph([node], "g", [info("x", FLOAT, "n", 5), info("flag", BOOL)],
                              [info("y", FLOAT, None, 5)])
    return graph, {"x": X, "flag": np.array(True)}, {}


WIDE = X.astype(np.float64)
NONE = np.zeros((0, 5), dtype=np.float32)
# Name -> (graph, inputs, answers).
EQUAL = {"a branch that says its size": branches(True), "a branch of parts": branches(False),
         "a loop": loop(), "constants": constants(),
         "float64": of("Mish", WIDE, mish(WIDE), TensorProto.DOUBLE),
         "nothing, of parts": of("Mish", NONE, NONE), "nothing, by a kernel": of("Rotate", NONE, NONE),
         "nothing, sized": of("Positive", NONE, np.zeros(0, dtype=np.float32))}
# Name -> (graph, inputs, answers), what the refusal says.
REFUSED = {"a state in a body": (state_in_a_body(), "within a body of If"),
           "a wrong dtype": (of("Rotate", WIDE, WIDE, TensorProto.DOUBLE),
                             "acme.Rotate: input 0 ('a') has dtype f64, wanted one of f32"),
           "an unknown attribute": (of("Rotate", X, X, to=2),
                                    "acme.Rotate: unknown attribute 'to', wanted one of (by)"),
           "a missing attribute": (of("RunningMean", X[0], X[0]), "attribute 'size' is missing")}
