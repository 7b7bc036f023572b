// The backend interface of cuDNN 9 as far as the engine uses it: values, types and functions by
// their public documentation (cuDNN Backend API). No header of the vendor's is needed to build.
// Where one is installed, tests/e2e/engines/gpu_cudnn_headers.sh compares every value and type
// with it. Declarations alone; plugins/device/library.h opens what exports them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugins/gpu/vendor/cuda.h"

namespace ge_engines::gpu::cudnn {

inline constexpr const char* kLibrary = "libcudnn.so.9";
inline constexpr size_t kMajor = 9;  // cudnnGetVersion: 10000 * major + ...
inline constexpr size_t kMajorUnit = 10000;
inline constexpr int64_t kAlignment = 16;  // of tensors' addresses, as all descriptors here say

// Thousands say what kind of failure it is.
enum Status : int {
  kSuccess = 0,
  kNotInitialized = 1001,
  kBadParam = 2000,
  kNullPointer = 2002,
  kMisalignedPointer = 2003,
  kNotFinalized = 2004,
  kDuplicatedEntries = 2009,
  kAttributeType = 2010,
  kNotSupported = 3000,
  kGraphPattern = 3001,
  kUnsupportedShape = 3002,
  kUnsupportedDataType = 3003,
  kUnsupportedPadding = 3011,
  kInternalError = 4000,
  kDeviceAllocationFailed = 4004,
  kExecutionFailed = 5000,
};

enum DataType : int { kFloat = 0, kHalf = 2, kBFloat16 = 9 };

enum AttributeType : int {
  kTypeHandle = 0,
  kTypeDataType = 1,
  kTypeBoolean = 2,
  kTypeInt64 = 3,
  kTypeFloat = 4,
  kTypeDouble = 5,
  kTypeVoidPtr = 6,
  kTypeConvolutionMode = 7,
  kTypeHeurMode = 8,
  kTypeNanPropagation = 10,
  kTypeNumericalNote = 11,
  kTypePointwiseMode = 14,
  kTypeDescriptor = 15,
};

enum DescriptorType : int {
  kPointwise = 0,
  kConvolution = 1,
  kEngine = 2,
  kEngineConfig = 3,
  kEngineHeur = 4,
  kExecutionPlan = 5,
  kOperationForward = 10,
  kOperationBackwardFilter = 11,
  kOperationBackwardData = 12,
  kOperationPointwise = 13,
  kOperationGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
};

enum Attribute : int {
  kPointwiseMode = 0,
  kPointwiseMathPrec = 1,
  kPointwiseNanPropagation = 2,
  kPointwiseReluLowerClip = 3,
  kPointwiseReluUpperClip = 4,
  kPointwiseReluLowerClipSlope = 5,
  kPointwiseEluAlpha = 6,
  kPointwiseSwishBeta = 8,
  kConvolutionCompType = 100,
  kConvolutionConvMode = 101,
  kConvolutionDilations = 102,
  kConvolutionFilterStrides = 103,
  kConvolutionPostPaddings = 104,
  kConvolutionPrePaddings = 105,
  kConvolutionSpatialDims = 106,
  kEngineHeurMode = 200,
  kEngineHeurOperationGraph = 201,
  kEngineHeurResults = 202,
  kEngineConfigEngine = 300,
  kExecutionPlanHandle = 400,
  kExecutionPlanEngineConfig = 401,
  kExecutionPlanWorkspaceSize = 402,
  kForwardAlpha = 700,
  kForwardBeta = 701,
  kForwardConvDesc = 702,
  kForwardW = 703,
  kForwardX = 704,
  kForwardY = 705,
  kBackwardDataAlpha = 706,
  kBackwardDataBeta = 707,
  kBackwardDataConvDesc = 708,
  kBackwardDataW = 709,
  kBackwardDataDx = 710,
  kBackwardDataDy = 711,
  kBackwardFilterAlpha = 712,
  kBackwardFilterBeta = 713,
  kBackwardFilterConvDesc = 714,
  kBackwardFilterDw = 715,
  kBackwardFilterX = 716,
  kBackwardFilterDy = 717,
  kOperationPointwisePwDescriptor = 750,
  kOperationPointwiseX = 751,
  kOperationPointwiseB = 752,
  kOperationPointwiseY = 753,
  kOperationGraphHandle = 800,
  kOperationGraphOps = 801,
  kTensorByteAlignment = 900,
  kTensorDataType = 901,
  kTensorDimensions = 902,
  kTensorStrides = 903,
  kTensorUniqueId = 906,
  kTensorIsVirtual = 907,
  kVariantPackUniqueIds = 1000,
  kVariantPackDataPointers = 1001,
  kVariantPackWorkspace = 1003,
  kEngineNumericalNote = 1303,
};

enum PointwiseMode : int {
  kAdd = 0,
  kReluForward = 100,
  kTanhForward = 101,
  kSigmoidForward = 102,
  kEluForward = 103,
  kGeluForward = 104,
  kSwishForward = 106,
  kGeluTanhForward = 107,
};

enum ConvolutionMode : int { kCrossCorrelation = 1 };
enum NanPropagation : int { kPropagateNan = 1 };
enum HeurMode : int { kModeFallback = 2, kModeA = 3 };

// What an engine does to its numbers.
enum NumericalNote : int {
  kNoteTensorCore = 0,
  kNoteDownConvertInputs = 1,
  kNoteReducedPrecision = 2,
  kNoteNondeterministic = 4,
  kNoteWinogradTile4 = 6,
  kNoteWinogradTile6 = 7,
  kNoteWinogradTile13 = 8,
};

using Handle = struct HandleTag*;
using Descriptor = void*;

// F(result, name of the symbol, types of its parameters).
#define GE_CUDNN_FUNCTIONS(F)                                                                     \
  F(size_t, cudnnGetVersion)                                                                      \
  F(const char*, cudnnGetErrorString, Status)                                                     \
  F(void, cudnnGetLastErrorString, char*, size_t)                                                 \
  F(Status, cudnnCreate, Handle*)                                                                 \
  F(Status, cudnnDestroy, Handle)                                                                 \
  F(Status, cudnnSetStream, Handle, cuda::Stream)                                                 \
  F(Status, cudnnBackendCreateDescriptor, DescriptorType, Descriptor*)                            \
  F(Status, cudnnBackendDestroyDescriptor, Descriptor)                                            \
  F(Status, cudnnBackendSetAttribute, Descriptor, Attribute, AttributeType, int64_t, const void*) \
  F(Status, cudnnBackendGetAttribute, Descriptor, Attribute, AttributeType, int64_t, int64_t*,    \
    void*)                                                                                        \
  F(Status, cudnnBackendFinalize, Descriptor)                                                     \
  F(Status, cudnnBackendExecute, Handle, Descriptor, Descriptor)

// The functions by name; all are there once the library is open.
struct Functions {
#define GE_CUDNN_POINTER(result, name, ...) result (*name)(__VA_ARGS__) = nullptr;
  GE_CUDNN_FUNCTIONS(GE_CUDNN_POINTER)
#undef GE_CUDNN_POINTER
};

}  // namespace ge_engines::gpu::cudnn
