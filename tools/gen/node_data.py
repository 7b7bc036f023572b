#!/usr/bin/env python3
"""Writes ONNX's node tests, a folder each: model.onnx and test_data_set_0 with the inputs and outputs
as .pb files, in the layout of ONNX's backend tests. The `onnx` package holds them as Python code.

Examples:
  tools/gen/node_data.py build/node-tests/node
"""
import argparse
import pathlib
import sys
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("numpy", "onnx")

import onnx  # noqa: E402
from onnx import numpy_helper  # noqa: E402
from onnx.backend.test.case.node import collect_testcases  # noqa: E402


def encoded(value, declared):
    """The bytes of a value whose ValueInfoProto is `declared`."""
    if isinstance(value, onnx.TensorProto):
        return value.SerializeToString()
    write = {"sequence_type": numpy_helper.from_list,
             "optional_type": numpy_helper.from_optional}.get(declared.type.WhichOneof("value"),
                                                              numpy_helper.from_array)
    return write(value, declared.name).SerializeToString()


def write_case(case, folder):
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for number, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{number}"
        data.mkdir()
        for kind, values, declared in (("input", inputs, case.model.graph.input),
                                       ("output", outputs, case.model.graph.output)):
            for i, (value, info) in enumerate(zip(values, declared)):
                (data / f"{kind}_{i}.pb").write_bytes(encoded(value, info))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path, help="a folder that does not hold tests yet")
    args = parser.parse_args()
    if any(args.directory.glob("test_*")):
        parser.exit(2, f"node_data.py: {args.directory} holds tests already; remove it first\n")
    warnings.simplefilter("ignore")  # numpy's, of values that a test casts out of range
    cases = collect_testcases(None)
    for case in cases:
        write_case(case, args.directory / case.name)
    print(f"{len(cases)} node tests of onnx {onnx.__version__}")


if __name__ == "__main__":
    main()
