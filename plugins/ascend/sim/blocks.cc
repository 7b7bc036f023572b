// The simulated libascendcl.so: blocks, copies and fills.
#include <algorithm>
#include <cstring>
#include <string>

#include "plugins/ascend/sim/exported.h"

namespace ge_engines::ascend::sim {
namespace {

using acl::CopyKind;
using acl::Status;

void Keep(Tables* tables, void* block, uint64_t bytes, int device, uint64_t context) {
  const auto begin = reinterpret_cast<uintptr_t>(block);
  tables->blocks[begin] = {begin + bytes, device, context};
}

Status Allocate(const char* function, void** block, size_t bytes, bool pinned) {
  return InContext(function, true, [&](Machine& machine, uint64_t context, int device) {
    if (block == nullptr) return NoResult(&machine, function);
    if (bytes == 0) {
      const Status s = machine.Break(Rule::kMallocZero, std::string(function) + ": of 0 bytes");
      if (s != acl::kSuccess) return s;
    }
    const size_t some = std::max<size_t>(bytes, 1);
    void* made = nullptr;
    const auto code = pinned ? machine.simulator().PinnedAlloc(some, &made)
                             : machine.simulator().Alloc(device, some, &made);
    const Status s = machine.Of(code);
    if (made == nullptr) return s;
    Keep(&machine.tables(), made, some, pinned ? -1 : device, context);
    *block = made;
    return s;
  });
}

Status Release(const char* function, void* block, bool pinned) {
  return InContext(function, false, [&](Machine& machine, uint64_t, int) {
    Tables& tables = machine.tables();
    const auto at = reinterpret_cast<uintptr_t>(block);
    const auto it = tables.blocks.find(at);
    const std::string name = function;
    if (it == tables.blocks.end()) {
      if (machine.simulator().WasFreed(block)) {
        return machine.Break(Rule::kFreeTwice, name + ": the block was freed before");
      }
      return machine.Break(Rule::kFreeUnknown, name + ": no block begins there");
    }
    const bool is_pinned = it->second.device < 0;
    if (is_pinned != pinned) {
      const Status s = machine.Break(
          Rule::kFreeKind,
          name + ": it is " + (is_pinned ? "page-locked memory of the host" : "device memory"));
      if (s != acl::kSuccess) return s;
    }
    tables.blocks.erase(it);
    return machine.Of(is_pinned ? machine.simulator().PinnedFree(block)
                                : machine.simulator().Free(block));
  });
}

// ---- copies ------------------------------------------------------------------------------------

struct Copying {
  const char* function;
  void* to;
  size_t room;
  const void* from;
  size_t bytes;
  CopyKind kind;
};

// One side of a copy: where it lies, and whether it may.
Status Side(Machine& machine, const Copying& copy, const void* at, bool wants_device, bool async,
            int* device) {
  const Tables& tables = machine.tables();
  const auto it =
      tables.blocks.end() == tables.BlockAt(at) ? tables.blocks.end() : tables.BlockAt(at);
  const std::string text =
      std::string(copy.function) + (at == copy.to ? ": the destination " : ": the source ");
  *device = -1;
  if (it == tables.blocks.end() && machine.simulator().WasFreed(at)) {
    return machine.Break(Rule::kUseAfterFree, text + "was freed before");
  }
  const bool known = it != tables.blocks.end();
  const bool is_device = known && it->second.device >= 0;
  if (is_device) *device = it->second.device;
  Status s = acl::kSuccess;
  if (is_device != wants_device) {
    s = machine.Break(Rule::kCopyKind, text + (is_device ? "lies on a device" : "is the host's") +
                                           ", which the kind " + std::to_string(copy.kind) +
                                           " denies");
  }
  if (s == acl::kSuccess && async && !known) {
    s = machine.Break(Rule::kPinnedAsync, text + "is not page-locked");
  }
  if (s != acl::kSuccess || !known) return s;
  const uint64_t left = it->second.end - reinterpret_cast<uintptr_t>(at);
  if (copy.bytes <= left) return s;
  return machine.Break(Rule::kCopyBounds, text + "has " + std::to_string(left) + " bytes; wanted " +
                                              std::to_string(copy.bytes));
}

// Checks a copy; `done`: there is nothing to do, or nobody minds what is wrong.
Status Check(Machine& machine, const Copying& copy, bool async, int on, bool* done) {
  *done = copy.bytes == 0;
  if (copy.to == nullptr || copy.from == nullptr) {
    *done = true;
    return machine.Break(Rule::kNullArgument, std::string(copy.function) + ": an address is null");
  }
  if (copy.bytes > copy.room) {
    const Status s = machine.Break(Rule::kDestMax,
                                   std::string(copy.function) + ": " + std::to_string(copy.bytes) +
                                       " bytes into room for " + std::to_string(copy.room));
    if (s != acl::kSuccess) return s;
  }
  if (*done) return acl::kSuccess;
  int to = -1, from = -1;
  const bool to_device = copy.kind == acl::kHostToDevice || copy.kind == acl::kDeviceToDevice;
  const bool from_device = copy.kind == acl::kDeviceToHost || copy.kind == acl::kDeviceToDevice;
  Status s = Side(machine, copy, copy.to, to_device, async, &to);
  if (s == acl::kSuccess) s = Side(machine, copy, copy.from, from_device, async, &from);
  if (s != acl::kSuccess) return s;
  for (const int device : {to, from}) {
    if (device < 0 || device == on || machine.tables().peers.count({on, device}) != 0) continue;
    s = machine.Break(Rule::kPeerEnabled, std::string(copy.function) + ": device " +
                                              std::to_string(on) + " may not reach device " +
                                              std::to_string(device));
    if (s != acl::kSuccess) return s;
  }
  return s;
}

simulated::Code Queue(Machine& machine, simulated::Stream stream, const Copying& copy) {
  const bool pinned_both = machine.tables().BlockAt(copy.to) != machine.tables().blocks.end() &&
                           machine.tables().BlockAt(copy.from) != machine.tables().blocks.end();
  if (copy.kind != acl::kHostToHost || !pinned_both) {
    return machine.simulator().Copy(stream, copy.to, copy.from, copy.bytes, copy.function);
  }
  simulated::Kernel work;
  work.name = copy.function;
  work.reads = {{copy.from, copy.bytes}};
  work.writes = {{copy.to, copy.bytes}};
  work.body = [copy] { return std::memmove(copy.to, copy.from, copy.bytes) != nullptr; };
  return machine.simulator().Launch(stream, std::move(work));
}

// Of a synchronous call: for its own end, and for no other stream. One whose wait a test lets fail
// leaves nothing that runs later either: its caller may free the memory.
Status WaitForEnd(Machine& machine, simulated::Stream stream) {
  const auto code = machine.simulator().StreamSynchronize(stream);
  const bool failed = code != simulated::Code::kOk && code != simulated::Code::kNotReady;
  if (failed) (void)machine.simulator().StreamSynchronize(stream);
  return machine.Of(code);
}

Status CopyOn(Machine& machine, uint64_t context, int device, const Copying& copy,
              acl::Stream stream, bool async) {
  bool done = false;
  simulated::Stream on = simulated::Stream::kNone;
  Status s = machine.StreamOf(copy.function, context, stream, &on);
  if (s == acl::kSuccess) s = Check(machine, copy, async, device, &done);
  if (s != acl::kSuccess || done) return s;
  const bool pinned = machine.tables().BlockAt(copy.to) != machine.tables().blocks.end() ||
                      machine.tables().BlockAt(copy.from) != machine.tables().blocks.end();
  if (copy.kind == acl::kHostToHost && !async && !pinned) {
    std::memmove(copy.to, copy.from, copy.bytes);
    return acl::kSuccess;
  }
  s = machine.Of(Queue(machine, on, copy));
  if (s == acl::kSuccess && copy.kind == acl::kHostToDevice) {
    machine.Count("bytes_from_host", copy.bytes);
  }
  if (s == acl::kSuccess && copy.kind == acl::kDeviceToHost) {
    machine.Count("bytes_to_host", copy.bytes);
  }
  return s == acl::kSuccess && !async ? WaitForEnd(machine, on) : s;
}

Status Fill(const char* function, void* to, size_t room, int32_t value, size_t bytes,
            acl::Stream stream, bool async) {
  return InContext(function, true, [&](Machine& machine, uint64_t context, int) {
    simulated::Stream on = simulated::Stream::kNone;
    const std::string name = function;
    Status s = machine.StreamOf(function, context, stream, &on);
    if (s == acl::kSuccess && to == nullptr) {
      s = machine.Break(Rule::kNullArgument, name + ": the address is null");
    }
    if (s == acl::kSuccess && bytes > room) {
      s = machine.Break(Rule::kDestMax, name + ": " + std::to_string(bytes) +
                                            " bytes into room for " + std::to_string(room));
    }
    if (s != acl::kSuccess || bytes == 0) return s;
    const Tables& tables = machine.tables();
    const auto it = tables.BlockAt(to);
    if (it == tables.blocks.end() && machine.simulator().WasFreed(to)) {
      return machine.Break(Rule::kUseAfterFree, name + ": the block was freed before");
    }
    const bool inside = it != tables.blocks.end() && it->second.device >= 0 &&
                        bytes <= it->second.end - reinterpret_cast<uintptr_t>(to);
    if (!inside) {
      s = machine.Break(Rule::kMemsetBounds, name + ": no block of a device has " +
                                                 std::to_string(bytes) + " bytes from there");
      return s;  // where nobody minds, nothing is written
    }
    s = machine.Of(machine.simulator().Fill(on, to, static_cast<uint8_t>(value), bytes, function));
    return s == acl::kSuccess && !async ? WaitForEnd(machine, on) : s;
  });
}

}  // namespace
}  // namespace ge_engines::ascend::sim

using namespace ge_engines::ascend::sim;  // NOLINT: this file is that interface
using namespace ge_engines::ascend::acl;  // NOLINT

GE_SIM_EXPORT Status aclrtMalloc(void** block, size_t bytes, MallocPolicy) {
  return Allocate("aclrtMalloc", block, bytes, false);
}
GE_SIM_EXPORT Status aclrtFree(void* block) { return Release("aclrtFree", block, false); }
GE_SIM_EXPORT Status aclrtMallocHost(void** block, size_t bytes) {
  return Allocate("aclrtMallocHost", block, bytes, true);
}
GE_SIM_EXPORT Status aclrtFreeHost(void* block) { return Release("aclrtFreeHost", block, true); }

GE_SIM_EXPORT Status aclrtMemcpy(void* to, size_t room, const void* from, size_t bytes,
                                 CopyKind kind) {
  const Copying copy = {"aclrtMemcpy", to, room, from, bytes, kind};
  return InContext(copy.function, true, [&](Machine& machine, uint64_t context, int device) {
    return CopyOn(machine, context, device, copy, nullptr, false);
  });
}
GE_SIM_EXPORT Status aclrtMemcpyAsync(void* to, size_t room, const void* from, size_t bytes,
                                      CopyKind kind, Stream stream) {
  const Copying copy = {"aclrtMemcpyAsync", to, room, from, bytes, kind};
  return InContext(copy.function, true, [&](Machine& machine, uint64_t context, int device) {
    return CopyOn(machine, context, device, copy, stream, true);
  });
}
GE_SIM_EXPORT Status aclrtMemset(void* to, size_t room, int32_t value, size_t bytes) {
  return Fill("aclrtMemset", to, room, value, bytes, nullptr, false);
}
GE_SIM_EXPORT Status aclrtMemsetAsync(void* to, size_t room, int32_t value, size_t bytes,
                                      Stream stream) {
  return Fill("aclrtMemsetAsync", to, room, value, bytes, stream, true);
}
