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

StateMemory::~StateMemory() {
  if (!at_host()) home_.memory->Free(block_);
}

Result<StateMemory> StateMemory::Make(const StateHome& home, uint64_t bytes,
                                      const std::string& state) {
  StateMemory m;
  if (home.at_host()) {
    m.host_.reset(AllocateAligned(bytes, 64).release());
    if (m.host_) return m;
    return Status(Code::kResourceExhausted, fmt::format("no memory for state '{}'", state));
  }
  GE_ASSIGN_OR_RETURN(m.block_, home.memory->Make(HeldAs::kState, bytes, home.align,
                                                  fmt::format("state '{}'", state)));
  m.home_ = home;
  m.place_ = {m.block_.address, m.block_.mem, m.block_.number};
  return m;
}

Status StateMemory::CopyOut(void* to, uint64_t bytes) const {
  if (!at_host()) return CopyOutOf(home_, place_, to, bytes);
  if (bytes > 0) std::memcpy(to, host_.get(), bytes);
  return {};
}

Status StateMemory::CopyIn(const void* from, uint64_t bytes) {
  if (!at_host()) return CopyState(home_, StateAtHost(from, bytes), StateOnDevice(place_, bytes));
  if (bytes > 0) std::memcpy(host_.get(), from, bytes);
  return {};
}

Status CopyOutOf(const StateHome& home, const DevicePlace& place, void* to, uint64_t bytes) {
  return CopyState(home, StateOnDevice(place, bytes), StateAtHost(to, bytes));
}

}  // namespace ge
