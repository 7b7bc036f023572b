#include "plugins/device/program.h"

#include <algorithm>

#include "ge/ge_plugin.hpp"
#include "plugins/device/memory.h"

namespace ge_engines::device {
namespace {

using ge::plugin::Fail;
using Kind = Storage::Kind;

const char* NameOf(Kind kind) {
  switch (kind) {
    case Kind::kIn:
      return "input";
    case Kind::kOut:
      return "output";
    case Kind::kInternal:
      return "internal value";
    case Kind::kPack:
      return "pack";
    case Kind::kWorkspace:
      return "workspace";
  }
  return "";
}

// nullptr where the launch has too few.
const ge_buf* BufOf(const ge_launch& launch, const Storage& s) {
  switch (s.kind) {
    case Kind::kIn:
      return s.index < launch.n_in ? &launch.in[s.index] : nullptr;
    case Kind::kOut:
      return s.index < launch.n_out ? &launch.out[s.index] : nullptr;
    case Kind::kInternal:
      return s.index < launch.n_internal ? &launch.internal[s.index] : nullptr;
    case Kind::kPack:
      return s.index < launch.n_pack ? &launch.pack[s.index] : nullptr;
    case Kind::kWorkspace:
      return &launch.workspace;
  }
  return nullptr;
}

// What is wrong with it; nullptr where nothing is. A wrong address would cost the whole device.
const char* FaultOf(const ge_buf* buf, const Storage& s, const Device& device) {
  if (buf == nullptr) return "is missing";
  if (s.bytes == 0) return nullptr;
  if (buf->bytes < s.bytes) return "has fewer bytes than its type needs";
  if (buf->mem == nullptr) return "lies in the host's memory";
  if (buf->mem->device != &device) return "lies in another device's memory";
  return device::FaultOf(*buf);
}

}  // namespace

bool Program::capturable() const {
  return std::all_of(steps.begin(), steps.end(),
                     [](const Step& s) { return s.kernel->capturable(); });
}

ge_rc Program::Check(const ge_launch& launch, const Device& device, ge_err* err) const {
  for (const Storage& s : storages) {
    const char* fault = FaultOf(BufOf(launch, s), s, device);
    if (fault == nullptr) continue;
    return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX, "%.40s: %s %u of a launch %s",
                device.engine().c_str(), NameOf(s.kind), s.index, fault);
  }
  return GE_OK;
}

ge_rc Program::Queue(const ge_launch& launch, Device* device, StreamHandle stream,
                     ge_err* err) const {
  if (const ge_rc rc = Check(launch, *device, err)) return rc;
  Buffer at[kMostUses];
  for (const Step& step : steps) {
    if (!infallible && launch.stop != nullptr &&
        __atomic_load_n(launch.stop, __ATOMIC_RELAXED) != 0) {
      return Fail(err, GE_CANCELLED, step.node, "%.40s: stopped by the host",
                  device->engine().c_str());
    }
    for (size_t i = 0; i < step.uses.size(); ++i) {
      const Use& use = step.uses[i];
      char* base = static_cast<char*>(BufOf(launch, storages[use.ref.storage])->ptr);
      at[i] = {base + use.ref.offset, use.ref.bytes, use.reads, use.writes};
    }
    const Result result =
        step.kernel->Queue({device->driver(), device->number(), stream, {at, step.uses.size()}});
    if (!result.ok()) return device->Answer(result, "a kernel", step.node, err);
  }
  return GE_OK;
}

}  // namespace ge_engines::device
