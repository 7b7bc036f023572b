#!/usr/bin/env python3
"""Writes random models of nnsmith as FOLDER/SEED.onnx; for nnsmith_models.py, in a Python environment
that has nnsmith and PyTorch.

nnsmith 0.1.0 exports by way of PyTorch's exporter as it was before 2.9, which has to be asked for
since. The operators and dtypes that it can export are found once and kept by nnsmith in the user's
cache. A seed whose constraints are not solved in time, or that PyTorch cannot export, is passed over.

Examples:
  build/venv-nnsmith/bin/python tests/e2e/all/models/nnsmith_write.py some/folder --count 100
"""
import argparse
import functools
import logging
import pathlib
import random
import sys
import warnings

import numpy
import onnx
import torch

torch.onnx.export = functools.partial(torch.onnx.export, dynamo=False)

from nnsmith.abstract.extension import activate_ext  # noqa: E402
from nnsmith.graph_gen import model_gen  # noqa: E402
from nnsmith.materialize import Model  # noqa: E402
from nnsmith.narrow_spec import auto_opset  # noqa: E402


def write(kind, opset, seed, nodes, to):
    """One model; False when this seed gives none."""
    random.seed(seed)
    numpy.random.seed(seed)
    torch.manual_seed(seed)
    try:
        made = model_gen(opset=opset, method="symbolic-cinit", seed=seed, max_nodes=nodes,
                         max_elem_per_tensor=4096, timeout_ms=5000)
        model = kind.from_gir(made.make_concrete())
        model.refine_weights()
        onnx.save(model.onnx_model, str(to))
    except Exception as error:
        print(f"seed {seed}: {type(error).__name__} {str(error).strip().splitlines()[:1]}",
              file=sys.stderr)
        return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="of the first model (default 1)")
    parser.add_argument("--nodes", type=int, default=15)
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    kind = Model.init("onnx", backend_target="cpu")
    opset = auto_opset(kind, None)
    activate_ext(opset=opset, factory=None)
    args.folder.mkdir(parents=True, exist_ok=True)
    written, seed = 0, args.seed
    while written < args.count and seed < args.seed + 3 * args.count:
        written += write(kind, opset, seed, args.nodes, args.folder / f"{seed}.onnx")
        seed += 1
    print(f"{written} models of {seed - args.seed} seeds, {len(opset)} kinds of operators")
    sys.exit(0 if written == args.count else 1)


if __name__ == "__main__":
    main()
