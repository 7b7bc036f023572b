// cuBLASLt as far as the engine uses it: values, types and functions by their public documentation
// (cuBLAS 13.0, "Using the cuBLASLt API"). No header of the vendor's is needed to build. Where one
// is installed, tests/e2e/engines/gpu_headers.sh compares every value and type with it.
// Declarations alone; ../cublaslt_plugins/device/library.h opens what exports them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugins/gpu/vendor/cuda.h"

namespace ge_engines::gpu::cublaslt {

inline constexpr const char* kLibrary = "libcublasLt.so.13";

enum Status : int {
  kSuccess = 0,
  kNotInitialized = 1,
  kAllocFailed = 3,
  kInvalidValue = 7,
  kArchMismatch = 8,
  kMappingError = 11,
  kExecutionFailed = 13,
  kInternalError = 14,
  kNotSupported = 15,
  kLicenseError = 16,
};

enum DataType : int { kF32 = 0, kF16 = 2, kBf16 = 14 };
// In what products are summed, and whether float32 may be rounded to TF32 before.
enum ComputeType : int { kComputeF32 = 68, kComputeFastTf32 = 77 };
enum Operation : int { kPlain = 0, kTransposed = 1 };

// Bits that are added up; kEpilogueDefault stands alone.
enum Epilogue : unsigned {
  kEpilogueDefault = 1,
  kEpilogueRelu = 2,
  kEpilogueBias = 4,
  kEpilogueGelu = 32,  // by tanh
};

// How parts of a long sum are brought together.
enum ReductionScheme : unsigned { kReductionNone = 0, kReductionComputeType = 2 };

// Of a layout. The count of matrices is an int32, the elements from one to the next an int64.
enum LayoutAttribute : int { kLayoutBatchCount = 5, kLayoutBatchStride = 6 };
// Of a product. Operations are int32, the epilogue an uint32, the bias a pointer.
enum MatmulAttribute : int {
  kMatmulTransA = 3,
  kMatmulTransB = 4,
  kMatmulEpilogue = 7,
  kMatmulBiasPointer = 8,
};
// Of a choice among algorithms. The workspace is an uint64, the mask of schemes an uint32.
enum PreferenceAttribute : int { kPreferWorkspaceBytes = 1, kPreferReductionMask = 3 };

using Handle = struct HandleTag*;
// Plain values, made by the *Init* functions in memory of the caller's.
struct MatrixLayout {
  uint64_t data[8];
};
struct MatmulDesc {
  uint64_t data[32];
};
struct MatmulPreference {
  uint64_t data[8];
};
struct MatmulAlgo {
  uint64_t data[8];
};
struct HeuristicResult {
  MatmulAlgo algo;
  size_t workspace_size;
  Status state;
  float waves_count;
  int reserved[4];
};

// F(name of the symbol, types of its parameters). All answer a Status.
// Matrices lie column by column: layouts have rows, columns, and elements from column to column.
// cublasLtMatmul: D = epilogue(alpha A B + beta C + bias), a bias of one element a row.
#define GE_CUBLASLT_FUNCTIONS(F)                                                               \
  F(cublasLtCreate, Handle*)                                                                   \
  F(cublasLtDestroy, Handle)                                                                   \
  F(cublasLtMatrixLayoutInit_internal, MatrixLayout*, size_t, DataType, uint64_t, uint64_t,    \
    int64_t)                                                                                   \
  F(cublasLtMatrixLayoutSetAttribute, MatrixLayout*, LayoutAttribute, const void*, size_t)     \
  F(cublasLtMatmulDescInit_internal, MatmulDesc*, size_t, ComputeType, DataType)               \
  F(cublasLtMatmulDescSetAttribute, MatmulDesc*, MatmulAttribute, const void*, size_t)         \
  F(cublasLtMatmulPreferenceInit_internal, MatmulPreference*, size_t)                          \
  F(cublasLtMatmulPreferenceSetAttribute, MatmulPreference*, PreferenceAttribute, const void*, \
    size_t)                                                                                    \
  F(cublasLtMatmulAlgoGetHeuristic, Handle, MatmulDesc*, MatrixLayout*, MatrixLayout*,         \
    MatrixLayout*, MatrixLayout*, MatmulPreference*, int, HeuristicResult*, int*)              \
  F(cublasLtMatmul, Handle, MatmulDesc*, const void*, const void*, MatrixLayout*, const void*, \
    MatrixLayout*, const void*, const void*, MatrixLayout*, void*, MatrixLayout*,              \
    const MatmulAlgo*, void*, size_t, cuda::Stream)

// The functions by name; all are there once the library is open.
struct Functions {
#define GE_CUBLASLT_POINTER(name, ...) Status (*name)(__VA_ARGS__) = nullptr;
  GE_CUBLASLT_FUNCTIONS(GE_CUBLASLT_POINTER)
#undef GE_CUBLASLT_POINTER
};

}  // namespace ge_engines::gpu::cublaslt
