#include "ge/run/state_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ge/base/interrupt.h"

namespace ge {
namespace {

// Large enough that what a copy costs beside its bytes is little.
constexpr uint64_t kStateChunk = uint64_t{4} << 20;

ge_buf StateAtHost(const void* at, uint64_t bytes) {
  ge_buf b{};
  b.ptr = const_cast<void*>(at);
  b.bytes = bytes;
  return b;
}

ge_buf StateOnDevice(const DevicePlace& place, uint64_t at, uint64_t bytes) {
  ge_buf b = StateAtHost(static_cast<std::byte*>(place.address) + at, bytes);
  b.mem = place.mem;
  b.offset = at;
  b.domain = 1;
  return b;
}

// In pieces, through memory of ours: a copy that does not end may use it when the call is over.
Status CopyState(const StateHome& home, const DevicePlace& place, std::byte* host, uint64_t bytes,
                 bool to_device) {
  if (bytes == 0) return {};
  struct Ends {
    AlignedBytes staging;
    std::shared_ptr<const void> block;
  };
  const uint64_t most = std::min(bytes, kStateChunk);
  const auto used = std::make_shared<Ends>(Ends{AllocateAligned(most, 64), place.owner.lock()});
  if (!used->staging) return Status(Code::kResourceExhausted, "no memory to copy a state through");
  for (uint64_t at = 0; at < bytes; at += most) {
    const uint64_t piece = std::min(most, bytes - at);
    const ge_buf near = StateAtHost(used->staging.get(), piece);
    const ge_buf far = StateOnDevice(place, at, piece);
    if (to_device) std::memcpy(near.ptr, host + at, piece);
    GE_RETURN_IF_ERROR(home.memory->Copy("copy of a state", to_device ? near : far,
                                         to_device ? far : near, used, CurrentInterrupt()));
    if (!to_device) std::memcpy(host + at, near.ptr, piece);
  }
  return {};
}

}  // namespace

StateMemory::Held::~Held() {
  if (!home.at_host()) home.memory->Free(block);
}

StateMemory::StateMemory(std::byte* host, FreeState free) : held_(std::make_shared<Held>()) {
  held_->host = {host, free};
}

const StateHome& StateMemory::home() const {
  static const StateHome host;
  return held_ ? held_->home : host;
}

Result<StateMemory> StateMemory::Make(const StateHome& home, uint64_t bytes,
                                      const std::string& state) {
  StateMemory m(std::make_shared<Held>());
  if (home.at_host()) {
    m.held_->host.reset(AllocateAligned(bytes, 64).release());
    if (m.host() != nullptr) return m;
    return Status(Code::kResourceExhausted, fmt::format("no memory for state '{}'", state));
  }
  GE_ASSIGN_OR_RETURN(
      const DomainMemory::Block block,
      home.memory->Make(HeldAs::kState, bytes, home.align, fmt::format("state '{}'", state)));
  m.held_->home = home;
  m.held_->block = block;
  m.held_->place = {block.address, block.mem, block.number, m.held_};
  return m;
}

Status StateMemory::CopyOut(void* to, uint64_t bytes) const {
  if (!at_host()) return CopyOutOf(home(), held_->place, to, bytes);
  if (bytes > 0) std::memcpy(to, host(), bytes);
  return {};
}

Status StateMemory::CopyIn(const void* from, uint64_t bytes) {
  if (!at_host()) {
    auto* host = static_cast<std::byte*>(const_cast<void*>(from));  // read alone
    return CopyState(home(), held_->place, host, bytes, true);
  }
  if (bytes > 0) std::memcpy(host(), from, bytes);
  return {};
}

Status CopyOutOf(const StateHome& home, const DevicePlace& place, void* to, uint64_t bytes) {
  return CopyState(home, place, static_cast<std::byte*>(to), bytes, false);
}

}  // namespace ge
