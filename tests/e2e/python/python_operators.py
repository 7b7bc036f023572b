"""graphengine.ops: each operator as a function, on ONNX's own node tests; its signatures, refusals, plugins.

A node test is a model of one node; the node's inputs and attributes are given to the function of its
name, and what it answers is compared with the test's outputs.
"""
import inspect
import os
import pathlib

import numpy
import onnx
from functions_checks import asked, check, ended, skip
from graphengine import functions, ops
from onnx import helper, numpy_helper

DATA = pathlib.Path(os.environ.get("NODE_TESTS", "build/node-tests/node"))  # ./test makes it
NUMBERS = {"float32", "float64", "float16", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
           "uint64"}
# Random numbers, and operators whose bodies are functions. FlexAttention is of a domain that is not here.
APART = {"Bernoulli", "FlexAttention", "If", "Loop", "Scan", "SequenceMap", "RandomNormal", "RandomNormalLike", "RandomUniform",
         "RandomUniformLike", "Multinomial"}


def is_of_today(model):
    """Whether the node is of the operator's latest version."""
    node = model.graph.node[0]
    versions = {o.domain: o.version for o in model.opset_import}
    try:
        schema = onnx.defs.get_schema(node.op_type, node.domain)
    except onnx.defs.SchemaError:
        return False
    return not schema.deprecated and versions.get(node.domain, 0) >= schema.since_version


def models():
    """(name, model, inputs, outputs) of node tests of one operator over tensors of numbers."""
    for path in sorted(DATA.iterdir()):
        model = onnx.load(path / "model.onnx")
        graph = model.graph
        if len(graph.node) != 1 or graph.node[0].op_type in APART or not is_of_today(model):
            continue
        data = path / "test_data_set_0"
        try:
            inputs = [numpy_helper.to_array(onnx.load_tensor(data / f"input_{i}.pb")) for i in range(len(graph.input))]
            outputs = [numpy_helper.to_array(onnx.load_tensor(data / f"output_{i}.pb"))
                       for i in range(len(graph.output))]
        except Exception:  # pylint: disable=broad-except
            continue  # a sequence or an optional
        if all(a.dtype.name in NUMBERS for a in [*inputs, *outputs]):
            yield path.name, model, inputs, outputs


def call(model, inputs):
    """The function's answers, one for each output of the node that the model names."""
    node = model.graph.node[0]
    known = dict(zip((i.name for i in model.graph.input), inputs))
    known.update((i.name, numpy_helper.to_array(i)) for i in model.graph.initializer)
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    attributes = {k: v.decode() if isinstance(v, bytes) else numpy_helper.to_array(v)
                  if isinstance(v, onnx.TensorProto) else v for k, v in attributes.items()}
    place = ops if node.domain in ("", "ai.onnx") else ops.ml if node.domain == "ai.onnx.ml" else ops.training
    function = getattr(place, node.op_type)
    outputs = {"outputs": len(node.output)}
    found = function(*(known[name] if name else None for name in node.input), **attributes, **outputs)
    found = found if isinstance(found, tuple) else (found,)
    return [f for f, name in zip(found, node.output) if name]


def node_tests():
    if not DATA.is_dir():
        skip(f"{DATA} is not there, which ./test makes")
        return
    tried = set()
    for name, model, inputs, outputs in models():
        if asked().only not in name or name.startswith("test_training_dropout"):  # random numbers, too
            continue
        try:
            found = [numpy.asarray(f) for f in call(model, inputs)]
        except Exception as error:  # pylint: disable=broad-except
            check(f"{name}: {type(error).__name__}: {str(error)[:300]}", False)
            continue
        loose = 2e-2 if any(a.dtype == "float16" for a in [*inputs, *outputs]) else 1e-3
        good = len(found) == len(outputs) and all(
            f.dtype == w.dtype and f.shape == w.shape and numpy.allclose(f, w, rtol=loose, atol=1e-5, equal_nan=True)
            for f, w in zip(found, outputs))
        check(f"{name}: {[f.dtype for f in found]} {found}, wanted {outputs}", good)
        tried.add(model.graph.node[0].op_type)
    check(f"{len(tried)} operators have node tests, wanted 150 and more", len(tried) >= 150 or asked().only)


def every_signature():
    """Each operator is there, with its inputs by place and its attributes by name."""
    count = 0
    for place in (ops, ops.ge, ops.microsoft, ops.ml, ops.training):
        for name in dir(place):
            function = getattr(place, name)
            if name != "plugin" and not isinstance(function, ops.Operators):
                inspect.signature(function)
                count += bool(function.__doc__)
    check(f"{count} operators, wanted 300 and more", count >= 300)
    check(str(inspect.signature(ops.Conv)), str(inspect.signature(ops.Conv)) == (
        "(X, W, B=None, *, auto_pad='NOTSET', dilations=None, group=1, kernel_shape=None, pads=None, strides=None)"))


def same(found, wanted):
    return numpy.array_equal(numpy.asarray(found), wanted)


def calls():
    x = numpy.arange(16, dtype=numpy.float32).reshape(1, 1, 4, 4)
    w = numpy.ones((1, 1, 3, 3), numpy.float32)
    check("Conv by place and name", same(ops.Conv(x, w, pads=[1, 1, 1, 1]), numpy.asarray(ops.Conv(
        X=functions.asarray(x), W=w, B=None, pads=(1, 1, 1, 1)))))
    check("a number beside an array", numpy.asarray(ops.Mul(x, 2)).dtype == "float32")
    check("a list of axes", same(ops.ReduceSum(x, [2, 3], keepdims=0), x.sum((2, 3))))
    check("a type as attribute", ops.Cast(x, to="int32").dtype == "int32" and
          ops.Cast(x, to=functions.int8).dtype == "int8" and ops.Cast(x, to=11).dtype == "float64")
    values, places = ops.TopK(x, [2], axis=-1)
    check("two results", values.shape == (1, 1, 4, 2) and places.dtype == "int64")
    check("as many results as asked for", [p.shape for p in ops.Split(x, outputs=2, axis=3, num_outputs=2)] == [
        (1, 1, 4, 2)] * 2 and len(ops.Split(x, axis=3, num_outputs=4)) == 4)
    check("an optional input left out", same(ops.Clip(x, None, 3), numpy.minimum(x, 3)))
    check("any number of inputs", same(ops.Concat(x, x, axis=0), numpy.concatenate([x, x])))
    check("another domain", same(ops.ge.StopGradient(x), x))


def refused(name, error, words, function):
    try:
        function()
    except error as found:
        check(f"{name}: {found}", words in str(found))
    except Exception as found:  # pylint: disable=broad-except
        check(f"{name}: {type(found).__name__}: {found}", False)
    else:
        check(f"{name}: was not refused", False)


def refusals():
    x = numpy.zeros((1, 1, 4, 4), numpy.float32)
    refused("another attribute", TypeError, "Conv: found the argument 'pad', wanted X, W", lambda: ops.Conv(x, x, pad=1))
    refused("no input", TypeError, "Conv: found no 'W', wanted it", lambda: ops.Conv(x))
    refused("an input twice", TypeError, "by place and by name", lambda: ops.Conv(x, X=x, W=x))
    refused("too many", TypeError, "found 2 inputs, wanted 1 and fewer", lambda: ops.Abs(x, x))
    refused("no attribute", TypeError, "Concat: found no 'axis'", lambda: ops.Concat(x, x))
    refused("a word for a number", TypeError, "wanted ints", lambda: ops.Conv(x, x, pads="a"))
    refused("no operator", AttributeError, "ONNX has no operator 'Convolve'", lambda: ops.Convolve)
    refused("functions", TypeError, "If has functions; write if, for and while", lambda: ops.If(x))
    refused("states", TypeError, "Read has states; graphengine.Variable", ops.ge.Read)
    refused("how many", TypeError, "found no outputs=", lambda: ops.Split(x, axis=0))
    refused("no file", ValueError, "plugin: found './none.so'", lambda: ops.plugin("./none.so"))


def plugins():
    sample = pathlib.Path(asked().build or "build/release") / "lib" / "samples" / "op.so"
    refused("a plugin without operators", ValueError, "minimal.so', which does not open",
            lambda: ops.plugin(sample.parent / "minimal.so"))
    acme = ops.plugin(os.fspath(sample))
    check(f"its operators: {dir(acme)}", dir(acme) == ["Swish"])
    x = numpy.linspace(-3, 3, 7, dtype=numpy.float32)
    swish = numpy.asarray(acme.Swish(x))
    check("a plugin's operator", numpy.allclose(swish, x / (1 + numpy.exp(-x)), rtol=1e-5))


ended(every_signature, calls, refusals, node_tests, plugins)
