"""How far each product of a model is from float32 with --precision bf16, taken by itself.

The model runs once in bf16 with what its products (Conv, Gemm, MatMul) read and make as further
outputs; each product is then computed again in float32 by ONNX Runtime, from the very inputs that
it had, so that errors of earlier layers are not counted again. Beside it stands what rounding both
factors to bfloat16 costs by itself, in sums of float32: no kernel of such factors can be nearer.
"""
import onnx
from onnx import helper, numpy_helper

import numpy as np

import compare
import reference

PRODUCTS = ("Conv", "Gemm", "MatMul")
# Outputs of a run that asks for the inputs and results of so many products: all of them may take
# more room than a run may take.
AT_ONCE = 16


def constants_of(graph):
    """Names of initializers and of what Constant nodes make, with their tensors."""
    found = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            found[node.output[0]] = node.attribute[0].t
    return found


def products_of(graph, constants):
    """Float32 products of something computed by a constant, which are those that may be rounded."""
    def is_float(name):
        return constants[name].data_type == onnx.TensorProto.FLOAT

    return [node for node in graph.node if node.op_type in PRODUCTS and len(node.input) > 1
            and node.input[0] not in constants and node.input[1] in constants
            and is_float(node.input[1])]


def alone(node, constants, opset):
    """A model of this node, its constants inside."""
    inputs = [helper.make_tensor_value_info(node.input[0], onnx.TensorProto.FLOAT, None)]
    inside = []
    for name in node.input[1:]:
        if name in constants:
            tensor = onnx.TensorProto()
            tensor.CopyFrom(constants[name])
            tensor.name = name
            inside.append(tensor)
        elif name:
            inputs.append(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
    outputs = [helper.make_tensor_value_info(node.output[0], onnx.TensorProto.FLOAT, None)]
    graph = helper.make_graph([node], "layer", inputs, outputs, initializer=inside)
    return helper.make_model(graph, opset_imports=opset, ir_version=8)


def rounded(array):
    """The nearest bfloat16 numbers, ties to even, as float32; all are finite."""
    bits = np.ascontiguousarray(array, dtype=np.float32).view(np.uint32)
    up = (bits >> 16 & 1) + np.uint32(0x7fff)
    return (bits + up & np.uint32(0xffff0000)).view(np.float32)


def exact(node, constants, opset, values):
    """The node's result in float32 from recorded inputs."""
    import onnxruntime  # pylint: disable=import-outside-toplevel  (asked for by --layers alone)

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(alone(node, constants, opset).SerializeToString(),
                                           options, providers=["CPUExecutionProvider"])
    return session.run(None, {i.name: values[i.name] for i in session.get_inputs()})[0]


def recorded(case, model, wanted, precision):
    """Values of these names in a run of the whole model with this precision."""
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    del probe.graph.output[:]
    kinds = {v.name for v in model.graph.input}
    names = [name for name in wanted if name not in kinds]
    probe.graph.output.extend(
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in names)
    path = case.folder / "probe.onnx"
    onnx.save(probe, path)
    out = case.folder / "probe"
    case.ours(precision, out, path)
    values = {name: np.load(out / reference.file_name(name)) for name in names}
    for name in kinds & set(wanted):
        values[name] = np.load(case.folder / case.inputs[name])
    return values


def errors(case):
    """(name, error, error of rounded factors) of each product, relative to the largest magnitude of
    its result."""
    model = onnx.load(case.model)
    constants = constants_of(model.graph)
    nodes = products_of(model.graph, constants)
    found = []
    for at in range(0, len(nodes), AT_ONCE):
        some = nodes[at:at + AT_ONCE]
        wanted = sorted({name for node in some for name in [*node.input, *node.output]
                         if name and name not in constants})
        values = recorded(case, model, wanted, "bf16")
        for node in some:
            want = exact(node, constants, model.opset_import, values)
            x, w = node.input[:2]
            factor = numpy_helper.from_array(rounded(numpy_helper.to_array(constants[w])), w)
            best = exact(node, {**constants, w: factor}, model.opset_import,
                         {**values, x: rounded(values[x])})
            found.append((node.name or node.output[0],
                          compare.error_of(values[node.output[0]], want),
                          compare.error_of(best, want)))
    return found


def summary(case):
    """One line: how many products were rounded (others are within 2^-16), the greatest error and
    whose it is, how many are beyond 2^-8 and beyond what rounded factors cost."""
    all_of = errors(case)
    done = [row for row in all_of if row[1] > 2.0**-16]
    if not done:
        return f"{case.name}: none of {len(all_of)} products rounded"
    name, worst, best = max(done, key=lambda row: row[1])
    mean = sum(row[1] for row in done) / len(done)
    beyond = sum(row[1] > 2.0**-8 for row in done)
    more = sum(row[1] > 1.1 * row[2] for row in done)
    return (f"{case.name}: {len(done)} of {len(all_of)} products rounded, off by {mean:.1e} in the "
            f"mean, at most {worst:.1e} ({name}; rounded factors alone {best:.1e}); {beyond} above "
            f"2^-8, {more} above 1.1 times what rounded factors cost")
