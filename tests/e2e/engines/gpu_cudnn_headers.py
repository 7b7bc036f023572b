#!/usr/bin/env python3
"""Writes a C++ file that compares plugins/gpu/vendor/cudnn.h with the vendor's header: every value,
the size of every type, and of every function its name and its parameters.

A value of ours that this table lacks ends it with 1. gpu_cudnn_headers.sh compiles what it prints.

Example: tests/e2e/engines/gpu_cudnn_headers.py > same.cc
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import gpu_headers  # noqa: E402

# Of each enum: their type, and what stands before and behind the words of our name.
ENUMS = {
    "Status": ("cudnnStatus_t", "CUDNN_STATUS_"),
    "DataType": ("cudnnDataType_t", "CUDNN_DATA_"),
    "AttributeType": ("cudnnBackendAttributeType_t", "CUDNN_"),
    "DescriptorType": ("cudnnBackendDescriptorType_t", "CUDNN_BACKEND_"),
    "Attribute": ("cudnnBackendAttributeName_t", "CUDNN_ATTR_"),
    "PointwiseMode": ("cudnnPointwiseMode_t", "CUDNN_POINTWISE_"),
    "ConvolutionMode": ("cudnnConvolutionMode_t", "CUDNN_"),
    "NanPropagation": ("cudnnNanPropagation_t", "CUDNN_"),
    "HeurMode": ("cudnnBackendHeurMode_t", "CUDNN_HEUR_"),
    "NumericalNote": ("cudnnBackendNumericalNote_t", "CUDNN_NUMERICAL_"),
}
OTHERS = {"Handle": "cudnnHandle_t", "Descriptor": "cudnnBackendDescriptor_t"}
OWN = {"kLibrary", "kMajor", "kMajorUnit", "kAlignment"}  # no values of theirs
# Ours -> theirs, where our words are fewer or others.
NAMES = {
    "kNullPointer": "CUDNN_STATUS_BAD_PARAM_NULL_POINTER",
    "kMisalignedPointer": "CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER",
    "kNotFinalized": "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED",
    "kDuplicatedEntries": "CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES",
    "kAttributeType": "CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE",
    "kGraphPattern": "CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN",
    "kUnsupportedShape": "CUDNN_STATUS_NOT_SUPPORTED_SHAPE",
    "kUnsupportedDataType": "CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE",
    "kUnsupportedPadding": "CUDNN_STATUS_NOT_SUPPORTED_PADDING",
    "kDeviceAllocationFailed": "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
    "kBFloat16": "CUDNN_DATA_BFLOAT16",
    "kTypeInt64": "CUDNN_TYPE_INT64",
    "kTypeNanPropagation": "CUDNN_TYPE_NAN_PROPOGATION",  # so it is spelt
    "kTypeDescriptor": "CUDNN_TYPE_BACKEND_DESCRIPTOR",
    "kEngineConfig": "CUDNN_BACKEND_ENGINECFG_DESCRIPTOR",
    "kEngineHeur": "CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR",
    "kOperationForward": "CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR",
    "kOperationBackwardFilter": "CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR",
    "kOperationBackwardData": "CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR",
    "kOperationGraph": "CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR",
    "kEngineConfigEngine": "CUDNN_ATTR_ENGINECFG_ENGINE",
    "kOperationPointwiseX": "CUDNN_ATTR_OPERATION_POINTWISE_XDESC",
    "kOperationPointwiseB": "CUDNN_ATTR_OPERATION_POINTWISE_BDESC",
    "kOperationPointwiseY": "CUDNN_ATTR_OPERATION_POINTWISE_YDESC",
    "kPropagateNan": "CUDNN_PROPAGATE_NAN",
    "kReluForward": "CUDNN_POINTWISE_RELU_FWD",
    "kTanhForward": "CUDNN_POINTWISE_TANH_FWD",
    "kSigmoidForward": "CUDNN_POINTWISE_SIGMOID_FWD",
    "kEluForward": "CUDNN_POINTWISE_ELU_FWD",
    "kGeluForward": "CUDNN_POINTWISE_GELU_FWD",
    "kSwishForward": "CUDNN_POINTWISE_SWISH_FWD",
    "kGeluTanhForward": "CUDNN_POINTWISE_GELU_APPROX_TANH_FWD",
    "kNoteDownConvertInputs": "CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS",
    "kNoteReducedPrecision": "CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION",
    "kNoteWinogradTile4": "CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4",
    "kNoteWinogradTile6": "CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6",
    "kNoteWinogradTile13": "CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13",
}


def theirs_of(enum, name):
    if name in NAMES:
        return NAMES[name]
    words = "_".join(w.upper() for w in re.findall(r"[A-Z][a-z0-9]*", name[1:]))
    if enum == "Attribute":
        words = re.sub(r"^ENGINE_HEUR", "ENGINEHEUR", words)
        words = re.sub(r"^OPERATION_GRAPH", "OPERATIONGRAPH", words)
        words = re.sub(r"^ENGINE_CONFIG", "ENGINECFG", words)
        words = re.sub(r"^BACKWARD_", "OPERATION_CONVOLUTION_BWD_", words)
        words = re.sub(r"^FORWARD_", "OPERATION_CONVOLUTION_FORWARD_", words)
    return ENUMS[enum][1] + words + ("_DESCRIPTOR" if enum == "DescriptorType" else "")


def main():
    text = (ROOT / "plugins/gpu/vendor/cudnn.h").read_text()
    enums = dict(re.findall(r"enum (\w+) : int \{(.*?)\};", text, re.S))
    types = set(re.findall(r"using (\w+) =", text))
    values = {name for body in enums.values() for name in re.findall(r"(k\w+) =", body)}
    rest = set(re.findall(r"\b(k[A-Z]\w+) =", text)) - values - OWN
    if enums.keys() != ENUMS.keys() or types != OTHERS.keys() or rest:
        print(f"without a line: {sorted(enums.keys() ^ ENUMS.keys())} "
              f"{sorted(types ^ OTHERS.keys())} {sorted(rest)}", file=sys.stderr)
        return 1
    print(gpu_headers.HEAD.replace("#include <cuda.h>", "#include <cudnn_backend.h>")
          .replace("vendor/cuda.h", "vendor/cudnn.h").replace("gpu::cuda", "gpu::cudnn"))
    for enum, body in enums.items():
        for name in re.findall(r"(k\w+) =", body):
            theirs = theirs_of(enum, name)
            print(f'static_assert(static_cast<int>(ours::{name}) == static_cast<int>({theirs}), "{theirs}");')
        print(f"static_assert(sizeof(ours::{enum}) == sizeof({ENUMS[enum][0]}));")
    for ours, theirs in OTHERS.items():
        print(f"static_assert(sizeof(ours::{ours}) == sizeof({theirs}));")
    for name in re.findall(r"\bF\([\w\s*]+, (cudnn\w+)", text):
        print(f'static_assert(Alike<decltype(&{name}), decltype(ours::Functions::{name})>::value, "{name}");')
    return 0


if __name__ == "__main__":
    sys.exit(main())
