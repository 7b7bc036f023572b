#include "ge/run/state_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace ge {
namespace {

ge_err NoStateError() {
  ge_err err{};
  err.h = GE_HDR(ge_err, GE_TAG_ERR);
  err.node = UINT32_MAX;
  return err;
}

ge_buf StateAtHost(const void* at, uint64_t bytes) {
  ge_buf b{};
  b.ptr = const_cast<void*>(at);
  b.bytes = bytes;
  return b;
}

ge_buf StateOnDevice(const DevicePlace& place, uint64_t bytes) {
  ge_buf b = StateAtHost(place.address, bytes);
  b.mem = place.mem;
  b.domain = 1;
  return b;
}

Status CopyState(const StateHome& home, const ge_buf& from, const ge_buf& to) {
  if (from.bytes == 0) return {};
  ge_copy copy{};
  copy.h = GE_HDR(ge_copy, GE_TAG_COPY);
  copy.src = from;
  copy.dst = to;
  ge_err err = NoStateError();
  const ge_rc rc = home.memory->api().copy(home.memory->engine(), &copy, &err);
  return rc == GE_OK ? Status() : home.memory->FailedCall("copy of a state", rc, err);
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
  m.held_->place = {block.address, block.mem, block.number};
  return m;
}

Status StateMemory::CopyOut(void* to, uint64_t bytes) const {
  if (!at_host()) return CopyOutOf(home(), held_->place, to, bytes);
  if (bytes > 0) std::memcpy(to, host(), bytes);
  return {};
}

Status StateMemory::CopyIn(const void* from, uint64_t bytes) {
  if (!at_host()) {
    return CopyState(home(), StateAtHost(from, bytes), StateOnDevice(held_->place, bytes));
  }
  if (bytes > 0) std::memcpy(host(), from, bytes);
  return {};
}

Status CopyOutOf(const StateHome& home, const DevicePlace& place, void* to, uint64_t bytes) {
  return CopyState(home, StateOnDevice(place, bytes), StateAtHost(to, bytes));
}

}  // namespace ge
