"""How bombs are made: small models that ask for very much, registered in MODELS by name.

A bomb's `make` answers the bytes of an ONNX model, or the text of a .gt file. `forever` marks what
can only run for ever, `large` what does not fit into 10 KB, and `short` what the default form runs.
"""
import dataclasses
import typing

import numpy as np
from onnx import TensorProto, helper, numpy_helper

F, I, S, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING, TensorProto.BOOL


@dataclasses.dataclass
class Bomb:
    make: typing.Callable
    forever: bool = False
    large: bool = False
    short: bool = True  # of the default form: quick, and a kind of its own


MODELS = {}


def bomb(forever=False, large=False, short=True, sizes=()):
    """Registers a bomb. With two sizes `make` takes one: a machine's memory may hold what the first
    asks for, and nothing what the second does."""
    def add(make):
        name = make.__name__
        for k, size in enumerate(sizes):
            MODELS[name + ("_beyond" if k else "")] = Bomb(lambda size=size: make(size), forever, large,
                                                           short)
        if not sizes:
            MODELS[name] = Bomb(make, forever, large, short)
        return make
    return add


def const(name, value, dtype=np.int64):
    return numpy_helper.from_array(np.array(value, dtype), name)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def model(nodes, constants=(), inputs=(("x", F, [2]),), outputs=(("y", F, None),), functions=(),
          domains=(), opset=18):
    graph = helper.make_graph(
        list(nodes), "bomb", [helper.make_tensor_value_info(*i) for i in inputs],
        [helper.make_tensor_value_info(*o) for o in outputs], list(constants))
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in domains]
    made = helper.make_model(graph, opset_imports=opsets, functions=list(functions))
    made.ir_version = 9
    return made.SerializeToString()


def filled(name, shape, value=1.0, dtype=np.float32):
    """Nodes' worth of one ConstantOfShape: (node, initializer)."""
    fill = numpy_helper.from_array(np.array([value], dtype))
    return (node("ConstantOfShape", f"{name}_shape", name, value=fill),
            const(f"{name}_shape", shape))


def of_filled(shapes, nodes, constants=(), **more):
    """A model whose values a, b, c ... are filled tensors of these shapes."""
    pairs = [filled("abcdefgh"[i], s) for i, s in enumerate(shapes)]
    return model([p[0] for p in pairs] + list(nodes), [p[1] for p in pairs] + list(constants), **more)


def body(nodes, inputs, outputs, constants=()):
    return helper.make_graph(list(nodes), "body", [helper.make_tensor_value_info(*i) for i in inputs],
                             [helper.make_tensor_value_info(*o) for o in outputs], list(constants))
