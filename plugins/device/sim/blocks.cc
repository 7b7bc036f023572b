// Driver calls on memory.
#include <algorithm>
#include <utility>

#include "plugins/device/sim/state.h"

namespace ge_engines::device::sim {
namespace {

constexpr size_t kHostAlignment = 256;

}  // namespace

Code Simulator::MemoryInfo(int device, size_t* free_bytes, size_t* total_bytes) {
  const std::lock_guard lock(state_->mutex);
  const Code code = state_->Enter(Call::kMemoryInfo, device);
  if (code != Code::kOk) return code;
  if (!state_->HasDevice(device)) return state_->Leave(state_->Unknown("device", device, false));
  const auto& one = state_->devices[device];
  *free_bytes = one.options.bytes - one.bytes;
  *total_bytes = one.options.bytes;
  return state_->Leave(Code::kOk);
}

Code Simulator::Alloc(int device, size_t bytes, void** block) {
  const std::lock_guard lock(state_->mutex);
  const Code code = state_->Enter(Call::kAlloc, device);
  if (code != Code::kOk) return code;
  return state_->Leave(state_->AddBlock(device, bytes, block));
}

Code Simulator::PinnedAlloc(size_t bytes, void** block) {
  const std::lock_guard lock(state_->mutex);
  const Code code = state_->Enter(Call::kPinnedAlloc, -1);
  if (code != Code::kOk) return code;
  return state_->Leave(state_->AddBlock(-1, bytes, block));
}

Code Simulator::State::AddBlock(int device, size_t bytes, void** block) {
  if (device != -1 && !HasDevice(device)) return Unknown("device", device, false);
  if (bytes == 0) return Code::kInvalid;
  if (Capture* const capture = Running(device)) return Refuse(capture, "a block was allocated");
  if (device >= 0 && bytes > devices[device].options.bytes - devices[device].bytes)
    return Code::kOutOfMemory;
  const auto added = device < 0 ? memory.Add(device, bytes, kHostAlignment, "")
                                : memory.Add(device, bytes, devices[device].options.alignment,
                                             devices[device].label);
  if (added == nullptr) return Code::kOutOfMemory;
  if (device >= 0) {
    auto& one = devices[device];
    one.bytes += bytes;
    one.most_bytes = std::max(one.most_bytes, one.bytes);
  }
  *block = added->data;
  Note("block " + std::to_string(added->number) + " " + std::to_string(device) + " " +
       std::to_string(bytes));
  return Code::kOk;
}

Code Simulator::Free(void* block) {
  const std::lock_guard lock(state_->mutex);
  return state_->FreeBlock(Call::kFree, block);
}

Code Simulator::PinnedFree(void* block) {
  const std::lock_guard lock(state_->mutex);
  return state_->FreeBlock(Call::kPinnedFree, block);
}

Code Simulator::State::FreeBlock(Call call, void* address) {
  const auto block = memory.Find(address);
  const bool known =
      block != nullptr && block->data == address && block->pinned() == (call == Call::kPinnedFree);
  const Code code = Enter(call, known ? block->device : -1);
  if (stale_blocks.erase(address) != 0) return Leave(code);
  const std::string name = CallName(call) + (" " + Here());
  if (!known) return Leave(Reject(Fault::kWrongMemory, name, "no such block was allocated"));
  if (block->freed)
    return Leave(Reject(Fault::kDoubleDestroy, name, block->name + " was freed before"));
  if (Capture* const capture = Running(block->device))
    return Leave(Refuse(capture, "a block was freed"));
  Note("free " + std::to_string(block->number));
  CheckFree(*block);
  CheckGuard(*block);
  if (!block->pinned()) devices[block->device].bytes -= block->bytes;
  memory.Free(block);
  return Leave(code);
}

void Simulator::State::CheckFree(const Block& block) {
  AddConflicts(Fault::kFreeInFlight, block.shadow.Unknown(clocks.host), "free " + Here(),
               block.name, nullptr);
}

void Simulator::State::CheckGuard(const Block& block) {
  if (!block.GuardHolds())
    Reject(Fault::kOutOfBounds, "some work on " + block.name, "it wrote behind the block's end");
}

bool Simulator::State::Locate(int device, const Range& range, Work::Access* access,
                              Report* report) const {
  const auto block = memory.Find(range.data);
  access->block = block;
  access->begin = reinterpret_cast<uintptr_t>(range.data);
  if (block != nullptr) access->begin -= reinterpret_cast<uintptr_t>(block->data);
  access->end = access->begin + range.bytes;
  report->block = block != nullptr ? block->name : "pageable memory";
  report->begin = access->begin;
  report->end = access->end;
  const auto host_sees = [&](int one) { return one < 0 || !devices[one].options.own_memory; };
  if (block == nullptr) {
    if (host_sees(device)) return true;
    report->fault = Fault::kWrongMemory;
    report->missing = devices[device].label + " does not see it";
    return false;
  }
  if (block->freed) {
    report->fault = Fault::kUseAfterFree;
    report->missing = "it was freed before";
    return false;
  }
  if (access->begin > block->bytes || range.bytes > block->bytes - access->begin) {
    report->fault = Fault::kOutOfBounds;
    report->missing = "it has " + std::to_string(block->bytes) + " bytes";
    return false;
  }
  if (device == kCopy || block->device == device || block->pinned() ||
      (host_sees(device) && host_sees(block->device)))
    return true;
  report->fault = Fault::kWrongMemory;
  report->missing = (device < 0 ? "the host" : devices[device].label) + " does not see it";
  return false;
}

void Simulator::State::HostAccess(const Range& range, bool write, std::string name) {
  if (range.bytes == 0) return;
  Actor actor;
  actor.name = std::move(name);
  actor.call = calls;
  Work::Access access;
  Report report;
  if (!Locate(kHost, range, &access, &report)) {
    report.second = actor.text(write);
    Add(std::move(report));
    return;
  }
  Work work;
  access.write = write;
  work.accesses.push_back(std::move(access));
  work.name = actor.name;
  NoteWork("host", work);
  Check(work, {clocks.now(), &clocks.host, std::make_shared<Actor>(std::move(actor))}, nullptr);
}

void Simulator::HostRead(const void* data, size_t bytes, std::string name) {
  const std::lock_guard lock(state_->mutex);
  state_->HostAccess({data, bytes}, false, std::move(name));
}

void Simulator::HostWrite(const void* data, size_t bytes, std::string name) {
  const std::lock_guard lock(state_->mutex);
  state_->HostAccess({data, bytes}, true, std::move(name));
}

bool Simulator::WasFreed(const void* address) const {
  const std::lock_guard lock(state_->mutex);
  const auto block = state_->memory.Find(address);
  return block != nullptr && block->freed;
}

size_t Simulator::device_bytes(int device) const {
  const std::lock_guard lock(state_->mutex);
  return state_->HasDevice(device) ? state_->devices[device].bytes : 0;
}

size_t Simulator::most_device_bytes(int device) const {
  const std::lock_guard lock(state_->mutex);
  return state_->HasDevice(device) ? state_->devices[device].most_bytes : 0;
}

}  // namespace ge_engines::device::sim
