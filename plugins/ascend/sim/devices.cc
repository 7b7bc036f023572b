// The simulated libascendcl.so: the library itself, devices and contexts.
#include <string>

#include "plugins/ascend/sim/exported.h"

namespace ge_engines::ascend::sim {

const char* RecentText();

namespace {

bool IsDevice(Machine& machine, int device) { return device >= 0 && device < machine.devices(); }

acl::Status NoDevice(Machine& machine, const char* function, int device) {
  return machine.Break(Rule::kDeviceKnown, std::string(function) + ": device " +
                                               std::to_string(device) + "; there are " +
                                               std::to_string(machine.devices()));
}

}  // namespace
}  // namespace ge_engines::ascend::sim

using namespace ge_engines::ascend::sim;  // NOLINT: this file is that interface
using namespace ge_engines::ascend::acl;  // NOLINT

GE_SIM_EXPORT const int ge_simulated_device = 1;

// ---- the library -------------------------------------------------------------------------------

GE_SIM_EXPORT Status aclInit(const char*) {
  Machine& machine = Machine::Get();
  const std::lock_guard<std::mutex> lock(machine.mutex());
  const Status s = machine.Enter("aclInit", true, true);
  if (s != kSuccess) return s;
  if (machine.initialization() != kSuccess) {
    return machine.Say(machine.initialization(),
                       "initialization is refused: a test asked for that");
  }
  if (machine.initialized()) return machine.Break(Rule::kInitTwice, "aclInit was called before");
  machine.initialized() = true;
  return kSuccess;
}
GE_SIM_EXPORT Status aclFinalize() {
  return InLibrary("aclFinalize", false, [](Machine& machine) {
    const size_t left = machine.tables().streams.size() + machine.tables().events.size();
    machine.initialized() = false;
    return left == 0 ? kSuccess
                     : machine.Break(Rule::kFinishLast, "aclFinalize: " + std::to_string(left) +
                                                            " streams and events are left");
  });
}
GE_SIM_EXPORT const char* aclGetRecentErrMsg() { return RecentText(); }
GE_SIM_EXPORT const char* aclrtGetSocName() { return Machine::Get().chip().name; }

// ---- devices -----------------------------------------------------------------------------------

GE_SIM_EXPORT Status aclrtGetDeviceCount(uint32_t* count) {
  return InLibrary("aclrtGetDeviceCount", true, [&](Machine& machine) {
    if (count == nullptr) return NoResult(&machine, "aclrtGetDeviceCount");
    *count = static_cast<uint32_t>(machine.devices());
    return kSuccess;
  });
}
GE_SIM_EXPORT Status aclrtSetDevice(int32_t device) {
  return InLibrary("aclrtSetDevice", true, [&](Machine& machine) {
    if (!IsDevice(machine, device)) return NoDevice(machine, "aclrtSetDevice", device);
    Machine::Current() = machine.PrimaryOf(device);
    return kSuccess;
  });
}
GE_SIM_EXPORT Status aclrtGetDevice(int32_t* device) {
  return InContext("aclrtGetDevice", true, [&](Machine& machine, uint64_t, int current) {
    if (device == nullptr) return NoResult(&machine, "aclrtGetDevice");
    *device = current;
    return kSuccess;
  });
}
GE_SIM_EXPORT Status aclrtResetDevice(int32_t device) {
  return InLibrary("aclrtResetDevice", false, [&](Machine& machine) {
    if (!IsDevice(machine, device)) return NoDevice(machine, "aclrtResetDevice", device);
    uint64_t& primary = machine.tables().primaries[static_cast<size_t>(device)];
    if (primary == 0) return kSuccess;
    const uint64_t gone = primary;
    primary = 0;
    if (Machine::Current() == gone) Machine::Current() = 0;
    return machine.EndContext(gone);
  });
}
GE_SIM_EXPORT Status aclrtDeviceCanAccessPeer(int32_t* can, int32_t device, int32_t other) {
  return InLibrary("aclrtDeviceCanAccessPeer", true, [&](Machine& machine) {
    if (can == nullptr) return NoResult(&machine, "aclrtDeviceCanAccessPeer");
    for (const int32_t one : {device, other}) {
      if (!IsDevice(machine, one)) return NoDevice(machine, "aclrtDeviceCanAccessPeer", one);
    }
    *can = machine.chip().peers && device != other;
    return kSuccess;
  });
}
GE_SIM_EXPORT Status aclrtDeviceEnablePeerAccess(int32_t other, uint32_t) {
  constexpr char kName[] = "aclrtDeviceEnablePeerAccess";
  return InContext(kName, true, [&](Machine& machine, uint64_t, int device) {
    if (!IsDevice(machine, other)) return NoDevice(machine, kName, other);
    if (!machine.chip().peers)
      return machine.Say(kNotSupported, "the chip reaches no other device");
    machine.tables().peers.insert({device, other});
    return kSuccess;
  });
}
GE_SIM_EXPORT Status aclrtGetMemInfo(MemoryKind kind, size_t* left, size_t* all) {
  return InContext("aclrtGetMemInfo", true, [&](Machine& machine, uint64_t, int device) {
    if (left == nullptr || all == nullptr) return NoResult(&machine, "aclrtGetMemInfo");
    if (kind != kHbm) return machine.Say(kNotSupported, "the device has no memory of this kind");
    return machine.Of(machine.simulator().MemoryInfo(device, left, all));
  });
}
GE_SIM_EXPORT Status aclrtSynchronizeDevice() {
  return InContext("aclrtSynchronizeDevice", true, [](Machine& machine, uint64_t, int device) {
    Status status = kSuccess;
    const auto wait = [&](simulated::Stream stream) {
      const Status s = machine.Of(machine.simulator().StreamSynchronize(stream));
      if (status == kSuccess) status = s;
    };
    const Tables& tables = machine.tables();
    for (const auto& [stream, context] : tables.streams) {
      const auto of = tables.contexts.find(context);
      if (of != tables.contexts.end() && of->second.device == device) {
        wait(static_cast<simulated::Stream>(stream));
      }
    }
    for (const auto& [number, context] : tables.contexts) {
      if (context.device == device && context.own != simulated::Stream::kNone) wait(context.own);
    }
    return status;
  });
}

// ---- contexts ----------------------------------------------------------------------------------

GE_SIM_EXPORT Status aclrtCreateContext(Context* context, int32_t device) {
  return InLibrary("aclrtCreateContext", true, [&](Machine& machine) {
    if (context == nullptr) return NoResult(&machine, "aclrtCreateContext");
    if (!IsDevice(machine, device)) return NoDevice(machine, "aclrtCreateContext", device);
    Machine::Current() = machine.AddContext(device);
    *context = Handle<Context>(Machine::Current());
    return kSuccess;
  });
}
GE_SIM_EXPORT Status aclrtDestroyContext(Context context) {
  return InLibrary("aclrtDestroyContext", false, [&](Machine& machine) {
    const uint64_t number = IdOf(context);
    if (machine.tables().contexts.count(number) == 0) {
      return machine.Break(Rule::kDestroyedContext,
                           "aclrtDestroyContext: it is destroyed or was never made");
    }
    if (Machine::Current() == number) Machine::Current() = 0;
    return machine.EndContext(number);
  });
}
GE_SIM_EXPORT Status aclrtSetCurrentContext(Context context) {
  return InLibrary("aclrtSetCurrentContext", true, [&](Machine& machine) {
    const uint64_t number = IdOf(context);
    if (machine.tables().contexts.count(number) == 0) {
      const Status s = machine.Break(Rule::kDestroyedContext,
                                     "aclrtSetCurrentContext: it is destroyed or was never made");
      if (s != kSuccess) return s;
    }
    Machine::Current() = number;
    return kSuccess;
  });
}
GE_SIM_EXPORT Status aclrtGetCurrentContext(Context* context) {
  return InLibrary("aclrtGetCurrentContext", true, [&](Machine& machine) {
    if (context == nullptr) return NoResult(&machine, "aclrtGetCurrentContext");
    if (machine.tables().contexts.count(Machine::Current()) == 0) {
      // A question, which many threads ask that have none.
      return machine.Say(kNoContext, "no context is current in this thread");
    }
    *context = Handle<Context>(Machine::Current());
    return kSuccess;
  });
}
