"""Small models of every kind that bad_input.py damages: control flow, strings, functions of the model,
quantized operators and weights in a file of their own. Each takes x, float32 of 2 x 3.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper

OPSET = helper.make_opsetid("", 21)


def value(name, shape=(2, 3), kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def const(name, array):
    return onnx.numpy_helper.from_array(np.asarray(array), name)


def model(nodes, constants=(), functions=(), opsets=(), shape=(2, 3)):
    graph = helper.make_graph(nodes, "damaged", [value("x")], [value("y", shape)], constants)
    made = helper.make_model(graph, opset_imports=[OPSET, *opsets], ir_version=10,
                             functions=list(functions))
    onnx.checker.check_model(made)
    return made


def control_flow():
    """If within Loop, and Scan; the body reads a value from outside."""
    then = helper.make_graph([helper.make_node("Add", ["carried", "x"], ["grown"])], "then", [],
                             [value("grown")])
    other = helper.make_graph([helper.make_node("Neg", ["carried"], ["turned"])], "else", [],
                              [value("turned")])
    body = helper.make_graph(
        [helper.make_node("Less", ["step", "two"], ["few"]),
         helper.make_node("If", ["few"], ["next"], then_branch=then, else_branch=other),
         helper.make_node("Identity", ["going"], ["on"])],
        "body",
        [value("step", [], TensorProto.INT64), value("going", [], TensorProto.BOOL),
         value("carried")],
        [value("on", [], TensorProto.BOOL), value("next")])
    scan = helper.make_graph(
        [helper.make_node("Add", ["sum", "row"], ["sum_out"]),
         helper.make_node("Identity", ["sum_out"], ["row_out"])],
        "scan", [value("sum", [3]), value("row", [3])], [value("sum_out", [3]), value("row_out", [3])])
    return model(
        [helper.make_node("Loop", ["trips", "", "x"], ["looped"], body=body),
         helper.make_node("Scan", ["start", "looped"], ["last", "rows"], body=scan,
                          num_scan_inputs=1),
         helper.make_node("Add", ["rows", "last"], ["y"])],
        [const("trips", np.int64(4)), const("two", np.int64(2)),
         const("start", np.zeros(3, np.float32))])


def strings():
    ml = helper.make_opsetid("ai.onnx.ml", 4)
    return model(
        [helper.make_node("StringConcat", ["words", "tail"], ["joined"]),
         helper.make_node("LabelEncoder", ["joined"], ["codes"], domain="ai.onnx.ml",
                          keys_strings=["one!", "two!", "three!"], values_int64s=[0, 1, 1],
                          default_int64=0),
         helper.make_node("Gather", ["x", "codes"], ["y"])],
        [const("words", np.array(["one", "two", "three", "other"], object)),
         const("tail", np.array("!", object))], opsets=[ml], shape=(4, 3))


def functions():
    """One function calls the other, with an attribute handed through."""
    own = helper.make_opsetid("own", 1)
    scaled = helper.make_node("LeakyRelu", ["a"], ["b"])
    scaled.attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name="slope",
                                                type=onnx.AttributeProto.FLOAT))
    inner = helper.make_function("own", "Inner", ["a"], ["b"], [scaled], [OPSET], ["slope"])
    call = helper.make_node("Inner", ["p"], ["q"], domain="own")
    call.attribute.append(onnx.AttributeProto(name="slope", ref_attr_name="slope",
                                              type=onnx.AttributeProto.FLOAT))
    outer = helper.make_function("own", "Outer", ["p"], ["r"],
                                 [call, helper.make_node("Add", ["q", "p"], ["r"])], [OPSET, own],
                                 ["slope"])
    return model([helper.make_node("Outer", ["x"], ["m"], domain="own", slope=0.25),
                  helper.make_node("Outer", ["m"], ["y"], domain="own", slope=0.5)],
                 functions=[inner, outer], opsets=[own])


def quantized():
    weights = np.arange(-9, 9, dtype=np.int8).reshape(3, 6)
    return model(
        [helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["codes"]),
         helper.make_node("QLinearMatMul", ["codes", "scale", "zero", "w", "w_scale", "w_zero",
                                            "scale", "zero"], ["product"]),
         helper.make_node("DequantizeLinear", ["product", "scale", "zero"], ["y"])],
        [const("scale", np.float32(0.05)), const("zero", np.uint8(128)), const("w", weights),
         const("w_scale", np.full(6, 0.1, np.float32)), const("w_zero", np.zeros(6, np.int8))], shape=(2, 6))


def external(folder):
    """Writes external.onnx and external.bin beside it; answers both paths."""
    made = model([helper.make_node("MatMul", ["x", "w"], ["m"]),
                  helper.make_node("Add", ["m", "b"], ["y"])],
                 [const("w", np.ones((3, 600), np.float32)), const("b", np.ones(600, np.float32))], shape=(2, 600))
    path = folder / "external.onnx"
    onnx.save(made, path, save_as_external_data=True, location="external.bin", size_threshold=0)
    return path, folder / "external.bin"


KINDS = {"control_flow": control_flow, "strings": strings, "functions": functions,
         "quantized": quantized}
