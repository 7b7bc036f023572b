// Driver calls on memory.
#include <algorithm>

#include "plugins/device/sim/state.h"

namespace ge_engines::device::sim {

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
  const auto added = memory.Add(device, bytes, device >= 0 ? devices[device].label : "");
  if (added == nullptr) return Code::kOutOfMemory;
  if (device >= 0) {
    auto& one = devices[device];
    one.bytes += bytes;
    one.most_bytes = std::max(one.most_bytes, one.bytes);
  }
  *block = added->data;
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
  const std::string name = std::string(CallName(call)) + " (call " + std::to_string(calls) + ")";
  if (!known) return Leave(Reject(Fault::kWrongMemory, name, "no such block was allocated"));
  if (block->freed)
    return Leave(Reject(Fault::kDoubleDestroy, name, block->name + " was freed before"));
  if (Capture* const capture = Running(block->device))
    return Leave(Refuse(capture, "a block was freed"));
  if (block->device >= 0) devices[block->device].bytes -= block->bytes;
  memory.Free(block);
  return Leave(code == Code::kDeviceLost ? Code::kOk : code);
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
