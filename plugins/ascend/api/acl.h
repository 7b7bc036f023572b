// The vendor's runtime interface as far as the engine uses it: values, types and functions by our
// own declarations, from facts that callers of it show. docs/ascend/sources.md says where each was
// read, and tests/e2e/engines/ascend_sources.sh holds that list complete. Declarations alone; api.h
// opens what exports them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ge_engines::ascend::acl {

// What functions answer. Others than these are told by number.
enum Status : int32_t {
  kSuccess = 0,
  kInvalidParameter = 100000,
  kUninitialized = 100001,
  kRepeatInitialize = 100002,
  kWrongParameter = 107000,  // of the runtime below
  kInvalidDevice = 107001,
  kNoContext = 107002,
  kOtherContext = 107003,  // a stream or an event of another
  kNotSupported = 207000,
  kOutOfMemory = 207001,
  kNoEvents = 207007,   // all of the device's are in use
  kNoStreams = 207008,  // likewise
  kInternal = 507000,
  kCoreException = 507015,  // work on the device failed
  kDeviceLost = 507899,
};

enum DataType : int32_t {
  kF32 = 0,
  kF16 = 1,
  kI8 = 2,
  kI32 = 3,
  kU8 = 4,
  kI16 = 6,
  kU16 = 7,
  kU32 = 8,
  kI64 = 9,
  kU64 = 10,
  kF64 = 11,
  kBool = 12,
  kBf16 = 27,
};

// How a tensor's elements lie in its storage.
enum Format : int32_t {
  kNchw = 0,
  kNhwc = 1,
  kNd = 2,          // by strides
  kNc1hwc0 = 3,     // axis 1 in blocks of 16, innermost
  kFractalNz = 29,  // the last two axes in blocks of 16 x 16, columns of blocks outermost
  kNcdhw = 30,
  kNcl = 47,
};

inline constexpr int64_t kLanes = 16;  // of a block, in both

enum CopyKind : int32_t { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice };
enum MallocPolicy : int32_t { kHugeFirst = 0 };
enum MemoryKind : int32_t { kHbm = 1 };
enum EventStatus : int32_t { kEventNotReady = 0, kEventComplete = 1 };
// Of aclrtCreateEventExWithFlag, whose events are recorded again without a reset.
inline constexpr uint32_t kEventSync = 1, kEventTimeLine = 8;
// How matrix products of float32 may be computed (cubeMathType).
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
  F(aclrtEventElapsedTime, float*, Event, Event)                            \
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
