// The simulated libcuda.so.1: the functions of vendor/cuda.h over Machine. Attributes are those of
// an H100, and `ge_simulated_device` marks it, so that nobody takes it for one.
#include "plugins/gpu/vendor/cuda.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "plugins/gpu/kernels/args.h"
#include "plugins/gpu/kernels/image.h"
#include "plugins/gpu/sim/current.h"
#include "plugins/gpu/sim/kernel_table.h"
#include "plugins/gpu/sim/machine.h"

#define GE_SIM_EXPORT extern "C" __attribute__((visibility("default")))

namespace ge_engines::gpu::sim {
namespace {

using namespace cuda;  // NOLINT: this file is that interface

constexpr uint32_t kFatBinary = 0xba55ed50;  // its first word

thread_local std::vector<Context> t_current;

}  // namespace

int CurrentDevice() {
  if (t_current.empty()) return -1;
  return static_cast<int>(reinterpret_cast<uintptr_t>(t_current.back())) - 1;
}

namespace {

// Handles are numbers of the simulator, or of devices, from 1.
template <class To, class From>
To Handle(From from) {
  return reinterpret_cast<To>(static_cast<uintptr_t>(from));
}
simulated::Stream Of(Stream stream) {
  return static_cast<simulated::Stream>(reinterpret_cast<uintptr_t>(stream));
}
simulated::Event Of(Event event) {
  return static_cast<simulated::Event>(reinterpret_cast<uintptr_t>(event));
}
void* At(DevicePtr address) { return reinterpret_cast<void*>(address); }

bool IsDevice(Device device) { return device >= 0 && device < Machine::Get().devices(); }

// Calls use(simulator, current device), in a context.
template <class Use>
Status In(const Use& use) {
  if (t_current.empty()) return kInvalidContext;
  Machine& machine = Machine::Get();
  const int device = CurrentDevice();
  return machine.Of(use(machine.simulator(), device));
}

// A captured graph, and what was made of it: both are one graph of the simulator.
struct SharedGraph {
  simulated::Graph graph;
  int owners;
};
Status Release(SharedGraph* graph) {
  const bool last = --graph->owners == 0;
  const Status s =
      last ? In([&](auto& simulator, int) { return simulator.GraphDestroy(graph->graph); })
           : kSuccess;
  if (last) delete graph;
  return s;
}

const char* NameOf(Status status) {
  switch (status) {
    case kSuccess:
      return "CUDA_SUCCESS";
    case kInvalidValue:
      return "CUDA_ERROR_INVALID_VALUE";
    case kOutOfMemory:
      return "CUDA_ERROR_OUT_OF_MEMORY";
    case kNoDevice:
      return "CUDA_ERROR_NO_DEVICE";
    case kEccUncorrectable:
      return "CUDA_ERROR_ECC_UNCORRECTABLE";
    case kNotReady:
      return "CUDA_ERROR_NOT_READY";
    case kIllegalAddress:
      return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case kLaunchFailed:
      return "CUDA_ERROR_LAUNCH_FAILED";
    default:
      return "CUDA_ERROR_UNKNOWN";
  }
}

}  // namespace
}  // namespace ge_engines::gpu::sim

using namespace ge_engines::gpu::sim;   // NOLINT
using namespace ge_engines::gpu::cuda;  // NOLINT
namespace simulated = ge_engines::device::sim;

GE_SIM_EXPORT const int ge_simulated_device = 1;

// ---- the driver and its devices ----------------------------------------------------------------

GE_SIM_EXPORT Status cuInit(unsigned) {
  if (!Machine::Get().usable()) return kInvalidValue;
  return Machine::Get().devices() == 0 ? kNoDevice : kSuccess;
}
GE_SIM_EXPORT Status cuDriverGetVersion(int* version) {
  *version = Machine::Get().driver();
  return kSuccess;
}
GE_SIM_EXPORT Status cuGetErrorName(Status status, const char** name) {
  *name = NameOf(status);
  return kSuccess;
}
GE_SIM_EXPORT Status cuGetErrorString(Status status, const char** text) {
  static thread_local std::string said;
  said = status == kLaunchFailed || status == kInvalidValue ? Machine::Get().Found() : "";
  if (said.empty()) said = "simulated failure";
  *text = said.c_str();
  return kSuccess;
}
GE_SIM_EXPORT Status cuDeviceGetCount(int* count) {
  *count = Machine::Get().devices();
  return kSuccess;
}
GE_SIM_EXPORT Status cuDeviceGet(Device* device, int number) {
  if (!IsDevice(number)) return kInvalidDevice;
  *device = number;
  return kSuccess;
}
GE_SIM_EXPORT Status cuDeviceGetName(char* name, int bytes, Device) {
  (void)std::snprintf(name, static_cast<size_t>(bytes), "GraphEngine simulator, as an H100");
  return kSuccess;
}
GE_SIM_EXPORT Status cuDeviceGetUuid_v2(Uuid* uuid, Device device) {
  *uuid = {};
  std::memcpy(uuid->bytes, "ge-simulator", 12);
  uuid->bytes[15] = static_cast<char>(device + 1);
  return kSuccess;
}
GE_SIM_EXPORT Status cuDeviceTotalMem_v2(size_t* bytes, Device) {
  *bytes = Machine::Get().bytes();
  return kSuccess;
}
GE_SIM_EXPORT Status cuDeviceGetAttribute(int* value, Attribute attribute, Device device) {
  if (!IsDevice(device)) return kInvalidDevice;
  switch (attribute) {
    case kClockRate:
      return *value = 1980000, kSuccess;
    case kProcessors:
      return *value = 132, kSuccess;
    case kMemoryClockRate:
      return *value = 2619000, kSuccess;
    case kMemoryBusWidth:
      return *value = 5120, kSuccess;
    case kCapabilityMajor:
      return *value = 9, kSuccess;
    case kCapabilityMinor:
      return *value = 0, kSuccess;
  }
  return kInvalidValue;
}
GE_SIM_EXPORT Status cuDeviceCanAccessPeer(int* can, Device one, Device two) {
  *can = one != two;
  return kSuccess;
}

// ---- contexts ----------------------------------------------------------------------------------

GE_SIM_EXPORT Status cuDevicePrimaryCtxRetain(Context* context, Device device) {
  if (!IsDevice(device)) return kInvalidDevice;
  Machine& machine = Machine::Get();
  const std::lock_guard<std::mutex> lock(machine.mutex());
  ++machine.retained()[static_cast<size_t>(device)];
  *context = Handle<Context>(device + 1);
  return kSuccess;
}
GE_SIM_EXPORT Status cuDevicePrimaryCtxRelease_v2(Device device) {
  if (!IsDevice(device)) return kInvalidDevice;
  Machine& machine = Machine::Get();
  const std::lock_guard<std::mutex> lock(machine.mutex());
  int& retained = machine.retained()[static_cast<size_t>(device)];
  if (retained == 0) return kInvalidContext;
  // A context that failed ends with its last owner.
  return --retained == 0 ? machine.Of(machine.simulator().Reset(device)) : kSuccess;
}
GE_SIM_EXPORT Status cuCtxPushCurrent_v2(Context context) {
  if (context == nullptr) return kInvalidContext;
  t_current.push_back(context);
  return kSuccess;
}
GE_SIM_EXPORT Status cuCtxPopCurrent_v2(Context* context) {
  if (t_current.empty()) return kInvalidContext;
  *context = t_current.back();
  t_current.pop_back();
  return kSuccess;
}
GE_SIM_EXPORT Status cuCtxSynchronize() {
  return In([](auto& simulator, int device) {
    Machine& machine = Machine::Get();
    const std::lock_guard<std::mutex> lock(machine.mutex());
    simulated::Code code = simulated::Code::kOk;
    for (const auto& [stream, of] : machine.streams()) {
      if (of != device) continue;
      const auto one = simulator.StreamSynchronize(static_cast<simulated::Stream>(stream));
      if (one != simulated::Code::kOk) code = one;
    }
    return code;
  });
}
GE_SIM_EXPORT Status cuCtxEnablePeerAccess(Context, unsigned) {
  return t_current.empty() ? kInvalidContext : kSuccess;
}

// ---- memory ------------------------------------------------------------------------------------

GE_SIM_EXPORT Status cuMemAlloc_v2(DevicePtr* address, size_t bytes) {
  return In([&](auto& simulator, int device) {
    void* block = nullptr;
    const auto code = simulator.Alloc(device, bytes, &block);
    if (code == simulated::Code::kOk) *address = reinterpret_cast<DevicePtr>(block);
    return code;
  });
}
GE_SIM_EXPORT Status cuMemFree_v2(DevicePtr address) {
  return In([&](auto& simulator, int) { return simulator.Free(At(address)); });
}
GE_SIM_EXPORT Status cuMemHostAlloc(void** block, size_t bytes, unsigned) {
  return In([&](auto& simulator, int) { return simulator.PinnedAlloc(bytes, block); });
}
GE_SIM_EXPORT Status cuMemFreeHost(void* block) {
  return In([&](auto& simulator, int) { return simulator.PinnedFree(block); });
}
GE_SIM_EXPORT Status cuMemcpyAsync(DevicePtr to, DevicePtr from, size_t bytes, Stream stream) {
  return In(
      [&](auto& simulator, int) { return simulator.Copy(Of(stream), At(to), At(from), bytes); });
}
GE_SIM_EXPORT Status cuMemcpyPeerAsync(DevicePtr to, Context, DevicePtr from, Context, size_t bytes,
                                       Stream stream) {
  return In([&](auto& simulator, int) {
    return simulator.Copy(Of(stream), At(to), At(from), bytes, "peer copy");
  });
}
GE_SIM_EXPORT Status cuMemsetD8Async(DevicePtr to, unsigned char value, size_t bytes,
                                     Stream stream) {
  return In([&](auto& simulator, int) { return simulator.Fill(Of(stream), At(to), value, bytes); });
}

// ---- streams and events ------------------------------------------------------------------------

GE_SIM_EXPORT Status cuStreamCreate(Stream* stream, unsigned) {
  return In([&](auto& simulator, int device) {
    auto made = simulated::Stream::kNone;
    const auto code = simulator.StreamCreate(device, &made);
    if (code != simulated::Code::kOk) return code;
    *stream = Handle<Stream>(made);
    Machine& machine = Machine::Get();
    const std::lock_guard<std::mutex> lock(machine.mutex());
    machine.streams()[static_cast<uint64_t>(made)] = device;
    return code;
  });
}
GE_SIM_EXPORT Status cuStreamDestroy_v2(Stream stream) {
  return In([&](auto& simulator, int) {
    Machine& machine = Machine::Get();
    const std::lock_guard<std::mutex> lock(machine.mutex());
    machine.streams().erase(static_cast<uint64_t>(Of(stream)));
    return simulator.StreamDestroy(Of(stream));
  });
}
GE_SIM_EXPORT Status cuStreamWaitEvent(Stream stream, Event event, unsigned) {
  return In([&](auto& simulator, int) { return simulator.StreamWait(Of(stream), Of(event)); });
}
GE_SIM_EXPORT Status cuEventCreate(Event* event, unsigned flags) {
  return In([&](auto& simulator, int device) {
    auto made = simulated::Event::kNone;
    const auto code = simulator.EventCreate(device, &made);
    if (code != simulated::Code::kOk) return code;
    *event = Handle<Event>(made);
    Machine& machine = Machine::Get();
    const std::lock_guard<std::mutex> lock(machine.mutex());
    machine.timed_events()[static_cast<uint64_t>(made)] = (flags & kEventDisableTiming) == 0;
    return code;
  });
}
GE_SIM_EXPORT Status cuEventDestroy_v2(Event event) {
  return In([&](auto& simulator, int) {
    Machine& machine = Machine::Get();
    const std::lock_guard<std::mutex> lock(machine.mutex());
    machine.timed_events().erase(static_cast<uint64_t>(Of(event)));
    return simulator.EventDestroy(Of(event));
  });
}
GE_SIM_EXPORT Status cuEventRecord(Event event, Stream stream) {
  return In([&](auto& simulator, int) { return simulator.EventRecord(Of(event), Of(stream)); });
}
GE_SIM_EXPORT Status cuEventQuery(Event event) {
  return In([&](auto& simulator, int) { return simulator.EventQuery(Of(event)); });
}
GE_SIM_EXPORT Status cuEventElapsedTime_v2(float* ms, Event from, Event to) {
  Machine& machine = Machine::Get();
  {
    const std::lock_guard<std::mutex> lock(machine.mutex());
    for (const Event event : {from, to}) {
      const auto known = machine.timed_events().find(static_cast<uint64_t>(Of(event)));
      if (known == machine.timed_events().end() || !known->second) return kInvalidHandle;
    }
  }
  return In([&](auto& simulator, int) {
    int64_t first = 0, last = 0;
    auto code = simulator.EventTime(Of(from), &first);
    if (code == simulated::Code::kOk) code = simulator.EventTime(Of(to), &last);
    if (code == simulated::Code::kOk)
      *ms = static_cast<float>(static_cast<double>(last - first) / 1e6);
    return code;
  });
}

// ---- kernels -----------------------------------------------------------------------------------

GE_SIM_EXPORT Status cuModuleLoadData(Module* module, const void* image) {
  using ge_engines::gpu::kNoKernelsImage;
  if (t_current.empty()) return kInvalidContext;
  uint32_t word = 0;
  std::memcpy(&word, image, sizeof word);
  const bool ours = std::memcmp(image, kNoKernelsImage, 4) == 0 &&
                    std::strcmp(static_cast<const char*>(image), kNoKernelsImage) == 0;
  if (word != kFatBinary && !ours) return kInvalidImage;
  *module = Handle<Module>(1);
  return kSuccess;
}
GE_SIM_EXPORT Status cuModuleUnload(Module) { return kSuccess; }
GE_SIM_EXPORT Status cuModuleGetFunction(Function* function, Module, const char* name) {
  const HostKernel* kernel = FindKernel(name);
  if (kernel == nullptr) return kNotFound;
  *function = reinterpret_cast<Function>(const_cast<HostKernel*>(kernel));
  return kSuccess;
}
GE_SIM_EXPORT Status cuLaunchKernel(Function function, unsigned grid_x, unsigned grid_y,
                                    unsigned grid_z, unsigned block_x, unsigned block_y,
                                    unsigned block_z, unsigned, Stream stream, void** parameters,
                                    void**) {
  using ge_engines::gpu::Head;
  using ge_engines::gpu::Place;
  const uint64_t threads = uint64_t{block_x} * block_y * block_z;
  if (t_current.empty()) return kInvalidContext;
  if (grid_x == 0 || grid_y == 0 || grid_z == 0 || threads == 0 || threads > 1024) {
    return kInvalidValue;
  }
  const auto* kernel = reinterpret_cast<const HostKernel*>(function);
  const auto* given = static_cast<const unsigned char*>(parameters[0]);
  std::vector<unsigned char> args(given, given + kernel->bytes);
  Head head;
  std::memcpy(&head, given, sizeof head);
  std::vector<simulated::Range> reads, writes;
  for (uint32_t k = 0; k < head.places; ++k) {
    Place place;
    std::memcpy(&place, given + sizeof head + k * sizeof place, sizeof place);
    if ((head.reads >> k & 1) != 0) reads.push_back({place.data, place.bytes});
    if ((head.writes >> k & 1) != 0) writes.push_back({place.data, place.bytes});
  }
  return Machine::Get().Launch(
      stream, kernel->name, std::move(reads), std::move(writes),
      [kernel, args = std::move(args)] { return kernel->run(args.data()); });
}

// ---- captures ----------------------------------------------------------------------------------

GE_SIM_EXPORT Status cuStreamBeginCapture_v2(Stream stream, CaptureMode) {
  return In([&](auto& simulator, int) { return simulator.CaptureBegin(Of(stream)); });
}
GE_SIM_EXPORT Status cuStreamEndCapture(Stream stream, Graph* graph) {
  return In([&](auto& simulator, int) {
    auto made = simulated::Graph::kNone;
    const auto code = simulator.CaptureEnd(Of(stream), &made);
    if (code == simulated::Code::kOk) {
      *graph = reinterpret_cast<Graph>(new SharedGraph{made, 1});
    }
    return code;
  });
}
GE_SIM_EXPORT Status cuGraphInstantiateWithFlags(GraphExec* exec, Graph graph, unsigned long long) {
  auto* shared = reinterpret_cast<SharedGraph*>(graph);
  ++shared->owners;
  *exec = reinterpret_cast<GraphExec>(shared);
  return kSuccess;
}
GE_SIM_EXPORT Status cuGraphLaunch(GraphExec exec, Stream stream) {
  return In([&](auto& simulator, int) {
    return simulator.GraphLaunch(reinterpret_cast<SharedGraph*>(exec)->graph, Of(stream));
  });
}
GE_SIM_EXPORT Status cuGraphExecDestroy(GraphExec exec) {
  return Release(reinterpret_cast<SharedGraph*>(exec));
}
GE_SIM_EXPORT Status cuGraphDestroy(Graph graph) {
  return Release(reinterpret_cast<SharedGraph*>(graph));
}

// Each is what the table of functions takes it for.
#define GE_CUDA_SAME(name, ...) \
  static_assert(std::is_same_v<decltype(&name), Status (*)(__VA_ARGS__)>);
GE_CUDA_FUNCTIONS(GE_CUDA_SAME)
