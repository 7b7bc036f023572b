#include "ge/run/state_slot.h"

#include <fmt/format.h>

#include <utility>

#include "ge/run/output_memory.h"

namespace ge {

Status StateSlot::Readable() const {
  const StateHome& home = now.home();
  if (home.lost()) {
    return Status(
        Code::kDataCorrupt,
        fmt::format("state '{}' was lost with device '{}', in whose memory it lay; set it "
                    "anew, or restore it",
                    name, home.memory->name()));
  }
  if (!lost) return {};
  return Status(Code::kDataCorrupt,
                fmt::format("state '{}' was lost: an engine failed while it overwrote it; set it "
                            "anew, or restore it",
                            name));
}

Status StateSlot::Out(void* to, uint64_t size) const {
  const Status copied = now.CopyOut(to, size);
  if (copied.code() != Code::kDeviceLost) return copied;
  return Status(
      Code::kDataCorrupt,
      fmt::format("state '{}' was lost with the device in whose memory it lay: {}; set it "
                  "anew, or restore it",
                  name, copied.message()));
}

Status StateSlot::Get(TensorView* out) const {
  out->dtype = type.dtype;
  out->dims = type.static_dims();
  if (!out->data) {
    out->bytes = bytes;
    return {};
  }
  OutputMemory memory;
  GE_RETURN_IF_ERROR(memory.Reserve("state", name, bytes, out));
  GE_RETURN_IF_ERROR(Readable());
  GE_RETURN_IF_ERROR(Out(out->data, bytes));
  memory.Commit();
  return {};
}

Status StateSlot::Set(const Type& given, const void* data) {
  const auto size = static_cast<uint64_t>(ByteCount(given).value_or(0));
  if (size != bytes || now.host() == nullptr) {
    GE_ASSIGN_OR_RETURN(now, StateMemory::Make({}, size, name));
    next = {};
    bytes = size;
    Count();
  }
  type = given;
  GE_RETURN_IF_ERROR(now.CopyIn(data, bytes));
  lost = false;
  return {};
}

Status StateSlot::MoveTo(const StateHome& home, std::atomic<uint64_t>* moves) {
  if (now.home() == home) return {};
  GE_ASSIGN_OR_RETURN(StateMemory there, StateMemory::Make(home, bytes, name));
  if (now.at_host()) {
    GE_RETURN_IF_ERROR(there.CopyIn(now.host(), bytes));
  } else if (there.at_host()) {
    GE_RETURN_IF_ERROR(Out(there.host(), bytes));
  } else {
    GE_RETURN_IF_ERROR(MoveTo({}, moves));
    return MoveTo(home, moves);
  }
  now = std::move(there);
  next = {};
  Count();
  moves->fetch_add(1, std::memory_order_relaxed);
  return {};
}

Status StateSlot::MakeAtHost() {
  GE_ASSIGN_OR_RETURN(now, StateMemory::Make({}, bytes, name));
  Count();
  return {};
}

void StateSlot::Count() {
  uint64_t all = 0, devices = 0;
  for (const StateMemory* m : {&now, &next}) {
    all += *m ? bytes : 0;
    devices += *m && !m->at_host() ? bytes : 0;
  }
  held.store(all, std::memory_order_relaxed);
  on_device.store(devices, std::memory_order_relaxed);
}

}  // namespace ge
