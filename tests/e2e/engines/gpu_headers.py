#!/usr/bin/env python3
"""Writes a C++ file that compares plugins/gpu/vendor/cuda.h with the vendor's header: every value,
the size of every type, and of every function its name and the sizes of its parameters.

A value of ours that this table lacks ends it with 1. gpu_headers.sh compiles what it prints.

Example: tests/e2e/engines/gpu_headers.py > same.cc
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Ours, and theirs with the prefix of the enum that it stands in.
STATUS = {
    "kSuccess": "CUDA_SUCCESS", "kNoBinaryForDevice": "CUDA_ERROR_NO_BINARY_FOR_GPU",
    "kLinkUncorrectable": "CUDA_ERROR_NVLINK_UNCORRECTABLE",
    "kNoJitCompiler": "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
    "kCaptureUnsupported": "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
    "kCaptureInvalidated": "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
    "kCaptureUnjoined": "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
    "kCaptureWrongThread": "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
}
OTHERS = {
    "kClockRate": "CU_DEVICE_ATTRIBUTE_CLOCK_RATE",
    "kProcessors": "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT",
    "kMemoryClockRate": "CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE",
    "kMemoryBusWidth": "CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH",
    "kCapabilityMajor": "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR",
    "kCapabilityMinor": "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR",
    "kCaptureGlobal": "CU_STREAM_CAPTURE_MODE_GLOBAL",
    "kCaptureThreadLocal": "CU_STREAM_CAPTURE_MODE_THREAD_LOCAL",
    "kCaptureRelaxed": "CU_STREAM_CAPTURE_MODE_RELAXED",
    "kStreamNonBlocking": "CU_STREAM_NON_BLOCKING",
    "kEventDisableTiming": "CU_EVENT_DISABLE_TIMING",
    "kHostAllocPortable": "CU_MEMHOSTALLOC_PORTABLE",
}
TYPES = {"Status": "CUresult", "Device": "CUdevice", "DevicePtr": "CUdeviceptr",
         "Context": "CUcontext", "Module": "CUmodule", "Function": "CUfunction",
         "Stream": "CUstream", "Event": "CUevent", "Graph": "CUgraph", "GraphExec": "CUgraphExec",
         "Uuid": "CUuuid", "Attribute": "CUdevice_attribute", "CaptureMode": "CUstreamCaptureMode"}
OWN = {"kLeastDriver"}  # no value of theirs
HEAD = """#include <cuda.h>

#include <type_traits>

#include "plugins/gpu/vendor/cuda.h"

namespace ours = ge_engines::gpu::cuda;

// Two functions whose parameters pass alike.
template <class Left, class Right>
struct Same {
  static constexpr bool value = sizeof(Left) == sizeof(Right) &&
                                std::is_pointer_v<Left> == std::is_pointer_v<Right>;
};
template <class Left, class Right>
struct Alike : std::false_type {};
template <class R, class S, class... Left, class... Right>
struct Alike<R (*)(Left...), S (*)(Right...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(Left) != sizeof...(Right)) {
      return false;
    } else {
      return (Same<Left, Right>::value && ...);
    }
  }();
};
"""


def theirs_of(name):
    """kOutOfMemory -> CUDA_ERROR_OUT_OF_MEMORY."""
    words = re.findall(r"[A-Z][a-z0-9]*", name[1:])
    return STATUS.get(name, "CUDA_ERROR_" + "_".join(w.upper() for w in words))


def main():
    text = (ROOT / "plugins/gpu/vendor/cuda.h").read_text()
    status = re.search(r"enum Status : int \{(.*?)\};", text, re.S)[1]
    pairs = {name: theirs_of(name) for name in re.findall(r"(k\w+) =", status)}
    rest = set(re.findall(r"\b(k[A-Z]\w+) =", text)) - pairs.keys() - OWN
    if rest != OTHERS.keys():
        print(f"values without a line: {sorted(rest ^ OTHERS.keys())}", file=sys.stderr)
        return 1
    pairs.update(OTHERS)
    types = set(re.findall(r"using (\w+) =", text)) | set(re.findall(r"\benum (\w+)", text)) | {"Uuid"}
    if types != TYPES.keys():
        print(f"types without a line: {sorted(types ^ TYPES.keys())}", file=sys.stderr)
        return 1
    print(HEAD)
    for ours, theirs in pairs.items():
        print(f'static_assert(static_cast<int>(ours::{ours}) == static_cast<int>({theirs}), "{theirs}");')
    for ours, theirs in TYPES.items():
        print(f"static_assert(sizeof(ours::{ours}) == sizeof({theirs}));")
    for name in re.findall(r"\bF\((cu\w+)", text):
        print(f'static_assert(Alike<decltype(&{name}), decltype(ours::Functions::{name})>::value, "{name}");')
    return 0


if __name__ == "__main__":
    sys.exit(main())
