#!/usr/bin/env python3
"""Counts the ONNX node tests that ONNX Runtime passes, plain and expanded apart: the peer's figure.

A test passes when every output of every data set has the expected shape and type and is within
rtol 1e-3 (2^-6 of a bf16, as ONNX's runner has it) and atol 1e-5 (exact for integers, bool and
strings). Sequences and optionals are compared element by element. ./test generates the data.

Examples:
  tools/bench/node_tests.py
  tools/bench/node_tests.py --list-failures
"""
import argparse
import pathlib

import project_venv

project_venv.enter("numpy", "onnx", "onnxruntime")

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from onnx import numpy_helper  # noqa: E402

DEFAULT_DIR = project_venv.ROOT / "build" / "node-tests" / "node"


def read(path, type_proto):
    """The value in a .pb file as an array, a list, or None."""
    kind = type_proto.WhichOneof("value")
    proto, convert = {
        "optional_type": (onnx.OptionalProto, numpy_helper.to_optional),
        "sequence_type": (onnx.SequenceProto, numpy_helper.to_list),
    }.get(kind, (onnx.TensorProto, numpy_helper.to_array))
    message = proto()
    message.ParseFromString(path.read_bytes())
    return convert(message)


def is_float(array):
    return array.dtype.kind in "fcV" or "float" in array.dtype.name


def same(got, want):
    if want is None or got is None:
        return got is None and want is None
    if isinstance(want, list):
        return len(got) == len(want) and all(map(same, got, want))
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape or got.dtype != want.dtype:
        return False
    if not is_float(want):
        return bool((got == want).all())
    wide = "c16" if want.dtype.kind == "c" else "f8"
    rtol = 2**-6 if want.dtype.name == "bfloat16" else 1e-3
    return np.allclose(got.astype(wide), want.astype(wide), rtol=rtol, atol=1e-5, equal_nan=True)


def why_failed(folder):
    """ "" if the test in `folder` passes, else a word on why not."""
    try:
        model = onnx.load(folder / "model.onnx")
        session = onnxruntime.InferenceSession(str(folder / "model.onnx"),
                                               providers=["CPUExecutionProvider"])
        for data in sorted(folder.glob("test_data_set_*")):
            files = [(v, data / f"input_{i}.pb") for i, v in enumerate(model.graph.input)]
            feed = {v.name: read(f, v.type) for v, f in files if f.exists()}
            for i, (got, v) in enumerate(zip(session.run(None, feed), model.graph.output)):
                if not same(got, read(data / f"output_{i}.pb", v.type)):
                    return f"output {v.name} differs"
    except Exception as error:  # whatever a runtime throws is that test's failure
        return type(error).__name__
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", nargs="?", type=pathlib.Path, default=DEFAULT_DIR)
    parser.add_argument("--list-failures", action="store_true")
    args = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    folders = sorted(p.parent for p in args.directory.glob("*/model.onnx"))
    if not folders:
        parser.exit(2, f"node_tests.py: no */model.onnx in {args.directory}; ./test makes them\n")
    counts, failures = {"plain": [0, 0], "expanded": [0, 0]}, []
    for folder in folders:
        kind = "expanded" if (folder.name + "_").count("_expanded_") else "plain"
        reason = why_failed(folder)
        counts[kind][0] += not reason
        counts[kind][1] += 1
        if reason:
            failures.append(f"{kind} {folder.name}: {reason}")
    for kind, (passed, total) in counts.items():
        print(f"{kind}: {passed} of {total}")
    if args.list_failures:
        print("\n".join(failures))


if __name__ == "__main__":
    main()
