// The vendor's runtime interface as far as the engine uses it: values, types and functions by our
// own declarations, from facts that callers of it show. docs/ascend/sources.md says where each was
// read, and tests/e2e/ascend/ascend_sources.sh holds that list complete. Declarations alone; api.h
// opens what exports them. A value has the vendor's name behind it, `error N` where callers know
// the number alone.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ge_engines::ascend::acl {

// What functions answer. Others than these are told by number.
enum Status : int32_t {
  kSuccess = 0,                // ACL_SUCCESS
  kInvalidParameter = 100000,  // ACL_ERROR_INVALID_PARAM
  kUninitialized = 100001,     // ACL_ERROR_UNINITIALIZE
  kRepeatInitialize = 100002,  // ACL_ERROR_REPEAT_INITIALIZE
  kWrongParameter = 107000,    // ACL_ERROR_RT_PARAM_INVALID
  kInvalidDevice = 107001,     // ACL_ERROR_RT_INVALID_DEVICEID
  kNoContext = 107002,         // ACL_ERROR_RT_CONTEXT_NULL
  kOtherContext = 107003,      // error 107003: a stream of another context
  kNotSupported = 207000,      // ACL_ERROR_RT_FEATURE_NOT_SUPPORT
  kOutOfMemory = 207001,       // ACL_ERROR_RT_MEMORY_ALLOCATION
  kNoEvents = 207007,          // error 207007: all events are in use
  kNoStreams = 207008,         // error 207008: all streams are in use
  kInternal = 507000,          // error 507000
  kCoreException = 507015,     // error 507015: work on the device failed
  kDeviceLost = 507899,        // error 507899: of the driver
};

enum DataType : int32_t {
  kF32 = 0,    // ACL_FLOAT
  kF16 = 1,    // ACL_FLOAT16
  kI8 = 2,     // ACL_INT8
  kI32 = 3,    // ACL_INT32
  kU8 = 4,     // ACL_UINT8
  kI16 = 6,    // ACL_INT16
  kI64 = 9,    // ACL_INT64
  kF64 = 11,   // ACL_DOUBLE
  kBool = 12,  // ACL_BOOL
  kBf16 = 27,  // ACL_BF16
};

// How a tensor's elements lie in its storage.
enum Format : int32_t {
  kNchw = 0,        // ACL_FORMAT_NCHW
  kNd = 2,          // ACL_FORMAT_ND: by strides
  kNc1hwc0 = 3,     // ACL_FORMAT_NC1HWC0: axis 1 in blocks of 16, innermost
  kFractalNz = 29,  // ACL_FORMAT_FRACTAL_NZ: the last two axes in blocks of 16 x 16, columns of
                    // blocks outermost
  kNcdhw = 30,      // ACL_FORMAT_NCDHW
  kNcl = 47,        // ACL_FORMAT_NCL
};
inline constexpr int64_t kLanes = 16;  // of a block, in both; rule:nc1hwc0-shape, rule:nz-shape

enum CopyKind : int32_t {
  kHostToHost = 0,      // ACL_MEMCPY_HOST_TO_HOST
  kHostToDevice = 1,    // ACL_MEMCPY_HOST_TO_DEVICE
  kDeviceToHost = 2,    // ACL_MEMCPY_DEVICE_TO_HOST
  kDeviceToDevice = 3,  // ACL_MEMCPY_DEVICE_TO_DEVICE
};
// Of a copy between these.
inline CopyKind KindOf(bool to_device, bool from_device) {
  if (to_device) return from_device ? kDeviceToDevice : kHostToDevice;
  return from_device ? kDeviceToHost : kHostToHost;
}
enum MallocPolicy : int32_t {
  kHugeFirst = 0,  // ACL_MEM_MALLOC_HUGE_FIRST
};
enum MemoryKind : int32_t {
  kHbm = 1,  // ACL_HBM_MEM
};
enum EventStatus : int32_t {
  kEventNotReady = 0,  // ACL_EVENT_RECORDED_STATUS_NOT_READY
  kEventComplete = 1,  // ACL_EVENT_RECORDED_STATUS_COMPLETE
};
// Of aclrtCreateEventExWithFlag, whose events are recorded again without a reset.
inline constexpr uint32_t kEventSync = 1;  // ACL_EVENT_SYNC
// Of aclrtCreateEventWithFlag, whose events are reset ahead of another record: with times.
inline constexpr uint32_t kEventDefault = 14;  // ACL_EVENT_DEFAULT
// How matrix products of float32 may be computed: as they are. rule:cube-math
inline constexpr int8_t kKeepDtype = 0;

using Context = void*;
using Stream = void*;
using Event = void*;
struct Tensor;      // aclTensor
struct TensorList;  // aclTensorList
struct Scalar;      // aclScalar
struct IntArray;    // aclIntArray
struct Executor;    // aclOpExecutor

// F(name of the symbol, types of its parameters): all answer a Status, and the engine is useless
// without one of them.
#define GE_ACL_FUNCTIONS(F)                                                 \
  F(aclInit, const char*)                                                   \
  F(aclrtGetDeviceCount, uint32_t*)                                         \
  F(aclrtCreateContext, Context*, int32_t)                                  \
  F(aclrtDestroyContext, Context)                                           \
  F(aclrtSetCurrentContext, Context)                                        \
  F(aclrtGetCurrentContext, Context*)                                       \
  F(aclrtCreateStream, Stream*)                                             \
  F(aclrtDestroyStream, Stream)                                             \
  F(aclrtSynchronizeStream, Stream)                                         \
  F(aclrtSynchronizeDevice)                                                 \
  F(aclrtCreateEventExWithFlag, Event*, uint32_t)                           \
  F(aclrtDestroyEvent, Event)                                               \
  F(aclrtRecordEvent, Event, Stream)                                        \
  F(aclrtStreamWaitEvent, Stream, Event)                                    \
  F(aclrtSynchronizeEvent, Event)                                           \
  F(aclrtQueryEventStatus, Event, EventStatus*)                             \
  F(aclrtMalloc, void**, size_t, MallocPolicy)                              \
  F(aclrtFree, void*)                                                       \
  F(aclrtMallocHost, void**, size_t)                                        \
  F(aclrtFreeHost, void*)                                                   \
  F(aclrtMemcpy, void*, size_t, const void*, size_t, CopyKind)              \
  F(aclrtMemcpyAsync, void*, size_t, const void*, size_t, CopyKind, Stream) \
  F(aclrtMemset, void*, size_t, int32_t, size_t)                            \
  F(aclrtMemsetAsync, void*, size_t, int32_t, size_t, Stream)               \
  F(aclrtGetMemInfo, MemoryKind, size_t*, size_t*)

// The same, of which the engine works without any.
#define GE_ACL_OPTIONAL_FUNCTIONS(F)                      \
  F(aclrtCreateEventWithFlag, Event*, uint32_t)           \
  F(aclrtResetEvent, Event, Stream)                       \
  F(aclrtEventElapsedTime, float*, Event, Event)          \
  F(aclrtDeviceCanAccessPeer, int32_t*, int32_t, int32_t) \
  F(aclrtDeviceEnablePeerAccess, int32_t, uint32_t)

struct Functions {
#define GE_ACL_POINTER(name, ...) Status (*name)(__VA_ARGS__) = nullptr;
  GE_ACL_FUNCTIONS(GE_ACL_POINTER)
  GE_ACL_OPTIONAL_FUNCTIONS(GE_ACL_POINTER)
#undef GE_ACL_POINTER
  const char* (*aclrtGetSocName)() = nullptr;
  const char* (*aclGetRecentErrMsg)() = nullptr;  // optional; the thread's newest failure
};

}  // namespace ge_engines::ascend::acl
