// The CUDA driver interface as far as the engine uses it: values, types and functions by their
// public documentation (CUDA Driver API 13.0). No header of the vendor's is needed to build. Where
// one is installed, tests/e2e/engines/gpu_headers.sh compares every value and type with it.
// Declarations alone; plugins/device/library.h opens what exports them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ge_engines::gpu::cuda {

// The first driver that the engine takes, as cuDriverGetVersion counts: 1000 * major + 10 * minor.
inline constexpr int kLeastDriver = 13000;

enum Status : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kStubLibrary = 34,
  kDeviceUnavailable = 46,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForDevice = 209,
  kEccUncorrectable = 214,
  kPeerAccessUnsupported = 217,
  kInvalidPtx = 218,
  kLinkUncorrectable = 220,
  kNoJitCompiler = 221,
  kUnsupportedPtxVersion = 222,
  kContained = 226,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kPeerAccessAlreadyEnabled = 704,
  kContextIsDestroyed = 709,
  kAssert = 710,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kInvalidPc = 718,
  kLaunchFailed = 719,
  kNotSupported = 801,
  kSystemNotReady = 802,
  kSystemDriverMismatch = 803,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureUnjoined = 904,
  kCaptureWrongThread = 908,
  kExternalDevice = 911,
  kUnknown = 999,
};

// What cuDeviceGetAttribute answers about.
enum Attribute : int {
  kClockRate = 13,  // kHz
  kProcessors = 16,
  kMemoryClockRate = 36,  // kHz
  kMemoryBusWidth = 37,   // bits
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
};

enum CaptureMode : int { kCaptureGlobal = 0, kCaptureThreadLocal = 1, kCaptureRelaxed = 2 };

inline constexpr unsigned kStreamNonBlocking = 1;  // beside the stream that has no handle
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kHostAllocPortable = 1;  // for all contexts

using Device = int;
using DevicePtr = unsigned long long;
using Context = struct ContextTag*;
using Module = struct ModuleTag*;
using Function = struct FunctionTag*;
using Stream = struct StreamTag*;
using Event = struct EventTag*;
using Graph = struct GraphTag*;
using GraphExec = struct GraphExecTag*;
struct Uuid {
  char bytes[16];
};

// F(name of the symbol, types of its parameters). All answer a Status.
#define GE_CUDA_FUNCTIONS(F)                                                              \
  F(cuInit, unsigned)                                                                     \
  F(cuDriverGetVersion, int*)                                                             \
  F(cuGetErrorName, Status, const char**)                                                 \
  F(cuGetErrorString, Status, const char**)                                               \
  F(cuDeviceGetCount, int*)                                                               \
  F(cuDeviceGet, Device*, int)                                                            \
  F(cuDeviceGetName, char*, int, Device)                                                  \
  F(cuDeviceGetUuid_v2, Uuid*, Device)                                                    \
  F(cuDeviceTotalMem_v2, size_t*, Device)                                                 \
  F(cuDeviceGetAttribute, int*, Attribute, Device)                                        \
  F(cuDeviceCanAccessPeer, int*, Device, Device)                                          \
  F(cuDevicePrimaryCtxRetain, Context*, Device)                                           \
  F(cuDevicePrimaryCtxRelease_v2, Device)                                                 \
  F(cuCtxPushCurrent_v2, Context)                                                         \
  F(cuCtxPopCurrent_v2, Context*)                                                         \
  F(cuCtxSynchronize)                                                                     \
  F(cuCtxEnablePeerAccess, Context, unsigned)                                             \
  F(cuMemAlloc_v2, DevicePtr*, size_t)                                                    \
  F(cuMemFree_v2, DevicePtr)                                                              \
  F(cuMemHostAlloc, void**, size_t, unsigned)                                             \
  F(cuMemFreeHost, void*)                                                                 \
  F(cuMemcpyAsync, DevicePtr, DevicePtr, size_t, Stream)                                  \
  F(cuMemcpyPeerAsync, DevicePtr, Context, DevicePtr, Context, size_t, Stream)            \
  F(cuMemsetD8Async, DevicePtr, unsigned char, size_t, Stream)                            \
  F(cuStreamCreate, Stream*, unsigned)                                                    \
  F(cuStreamDestroy_v2, Stream)                                                           \
  F(cuStreamWaitEvent, Stream, Event, unsigned)                                           \
  F(cuEventCreate, Event*, unsigned)                                                      \
  F(cuEventDestroy_v2, Event)                                                             \
  F(cuEventRecord, Event, Stream)                                                         \
  F(cuEventQuery, Event)                                                                  \
  F(cuEventElapsedTime_v2, float*, Event, Event)                                          \
  F(cuModuleLoadData, Module*, const void*)                                               \
  F(cuModuleUnload, Module)                                                               \
  F(cuModuleGetFunction, Function*, Module, const char*)                                  \
  F(cuLaunchKernel, Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
    unsigned, Stream, void**, void**)                                                     \
  F(cuStreamBeginCapture_v2, Stream, CaptureMode)                                         \
  F(cuStreamEndCapture, Stream, Graph*)                                                   \
  F(cuGraphInstantiateWithFlags, GraphExec*, Graph, unsigned long long)                   \
  F(cuGraphLaunch, GraphExec, Stream)                                                     \
  F(cuGraphExecDestroy, GraphExec)                                                        \
  F(cuGraphDestroy, Graph)

// The functions by name; all are there once the library is open.
struct Functions {
#define GE_CUDA_POINTER(name, ...) Status (*name)(__VA_ARGS__) = nullptr;
  GE_CUDA_FUNCTIONS(GE_CUDA_POINTER)
#undef GE_CUDA_POINTER
};

}  // namespace ge_engines::gpu::cuda
