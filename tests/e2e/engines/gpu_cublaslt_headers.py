#!/usr/bin/env python3
"""Writes a C++ file that compares plugins/gpu/vendor/cublaslt.h with the vendor's header: every
value, the size of every type, and of every function its name and its parameters.

A value of ours that this table lacks ends it with 1. gpu_cublaslt_headers.sh compiles what it
prints.

Example: tests/e2e/engines/gpu_cublaslt_headers.py > same.cc
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import gpu_headers  # noqa: E402

VALUES = {
    "kF32": "CUDA_R_32F", "kF16": "CUDA_R_16F", "kBf16": "CUDA_R_16BF",
    "kComputeF32": "CUBLAS_COMPUTE_32F", "kComputeFastTf32": "CUBLAS_COMPUTE_32F_FAST_TF32",
    "kPlain": "CUBLAS_OP_N", "kTransposed": "CUBLAS_OP_T",
    "kEpilogueDefault": "CUBLASLT_EPILOGUE_DEFAULT", "kEpilogueRelu": "CUBLASLT_EPILOGUE_RELU",
    "kEpilogueBias": "CUBLASLT_EPILOGUE_BIAS", "kEpilogueGelu": "CUBLASLT_EPILOGUE_GELU",
    "kReductionNone": "CUBLASLT_REDUCTION_SCHEME_NONE",
    "kReductionComputeType": "CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE",
    "kLayoutBatchCount": "CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT",
    "kLayoutBatchStride": "CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET",
    "kMatmulTransA": "CUBLASLT_MATMUL_DESC_TRANSA",
    "kMatmulTransB": "CUBLASLT_MATMUL_DESC_TRANSB",
    "kMatmulEpilogue": "CUBLASLT_MATMUL_DESC_EPILOGUE",
    "kMatmulBiasPointer": "CUBLASLT_MATMUL_DESC_BIAS_POINTER",
    "kPreferWorkspaceBytes": "CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES",
    "kPreferReductionMask": "CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK",
}
TYPES = {
    "Status": "cublasStatus_t", "DataType": "cudaDataType_t", "ComputeType": "cublasComputeType_t",
    "Operation": "cublasOperation_t", "Epilogue": "cublasLtEpilogue_t",
    "ReductionScheme": "cublasLtReductionScheme_t",
    "LayoutAttribute": "cublasLtMatrixLayoutAttribute_t",
    "MatmulAttribute": "cublasLtMatmulDescAttributes_t",
    "PreferenceAttribute": "cublasLtMatmulPreferenceAttributes_t", "Handle": "cublasLtHandle_t",
    "MatrixLayout": "cublasLtMatrixLayoutOpaque_t", "MatmulDesc": "cublasLtMatmulDescOpaque_t",
    "MatmulPreference": "cublasLtMatmulPreferenceOpaque_t", "MatmulAlgo": "cublasLtMatmulAlgo_t",
    "HeuristicResult": "cublasLtMatmulHeuristicResult_t",
}
# Fields of the one struct that both sides look into.
FIELDS = {"algo": "algo", "workspace_size": "workspaceSize", "state": "state",
          "waves_count": "wavesCount", "reserved": "reserved"}
OWN = {"kLibrary"}


def main():
    text = (ROOT / "plugins/gpu/vendor/cublaslt.h").read_text()
    status = re.search(r"enum Status : int \{(.*?)\};", text, re.S)[1]
    pairs = {name: "CUBLAS_STATUS_" + "_".join(w.upper() for w in re.findall("[A-Z][a-z]*", name))
             for name in re.findall(r"(k\w+) =", status)}
    rest = set(re.findall(r"\b(k[A-Z]\w+) =", text)) - pairs.keys() - OWN
    if rest != VALUES.keys():
        print(f"values without a line: {sorted(rest ^ VALUES.keys())}", file=sys.stderr)
        return 1
    pairs.update(VALUES)
    types = set(re.findall(r"using (\w+) =", text)) | set(re.findall(r"\b(?:enum|struct) (\w+) [:{]", text))
    types -= {"Functions"}
    if types != TYPES.keys():
        print(f"types without a line: {sorted(types ^ TYPES.keys())}", file=sys.stderr)
        return 1
    head = gpu_headers.HEAD.replace("<cuda.h>", "<cublasLt.h>").replace("vendor/cuda.h", "vendor/cublaslt.h")
    print(head.replace("gpu::cuda;", "gpu::cublaslt;").replace("#include <type", "#include <cstddef>\n#include <type"))
    for ours, theirs in pairs.items():
        print(f'static_assert(static_cast<int>(ours::{ours}) == static_cast<int>({theirs}), "{theirs}");')
    for ours, theirs in TYPES.items():
        print(f'static_assert(sizeof(ours::{ours}) == sizeof({theirs}), "{theirs}");')
    for ours, theirs in FIELDS.items():
        print(f"static_assert(offsetof(ours::HeuristicResult, {ours}) == "
              f'offsetof({TYPES["HeuristicResult"]}, {theirs}), "{theirs}");')
    for name in re.findall(r"\bF\((cublasLt\w+)", text):
        print(f'static_assert(Alike<decltype(&{name}), decltype(ours::Functions::{name})>::value, "{name}");')
    return 0


if __name__ == "__main__":
    sys.exit(main())
