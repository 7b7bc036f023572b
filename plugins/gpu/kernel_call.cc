#include "plugins/gpu/kernel_call.h"

#include <algorithm>

#include "plugins/gpu/kernels/team.h"

namespace ge_engines::gpu {
namespace {

// Places: result, x.
class CopyCall final : public device::Kernel {
 public:
  device::Result Queue(const device::Call& c) const override {
    if (c.at[0].data == c.at[1].data) return {};
    return c.driver.Copy(c.device, c.stream, c.at[0].data, c.at[1].data, c.at[0].bytes);
  }
};

constexpr int64_t kThreads = 256;         // of a block, where threads work alone
constexpr int64_t kMostBlocks = 1 << 30;  // a kernel goes on to its next piece of work beyond

}  // namespace

KernelCall::KernelCall(KernelId id, const void* args, uint32_t bytes, int64_t work)
    : id_(id), args_(bytes) {
  std::memcpy(args_.data(), args, bytes);
  const bool team = kKernelTeams[static_cast<uint32_t>(id)];
  block_ = static_cast<uint32_t>(team ? kTeamLanes : kThreads);
  const int64_t blocks = team ? work : CeilDiv(work, kThreads);
  grid_ = static_cast<uint32_t>(std::clamp<int64_t>(blocks, 1, kMostBlocks));
}

device::Result KernelCall::Queue(const device::Call& call) const {
  alignas(16) unsigned char args[kMostArgBytes];
  std::memcpy(args, args_.data(), args_.size());
  for (size_t k = 0; k < call.at.size(); ++k) {
    const Place place = {call.at[k].data, call.at[k].bytes};
    std::memcpy(args + sizeof(Head) + k * sizeof place, &place, sizeof place);
  }
  void* const argument[] = {args};
  device::KernelLaunch launch;
  launch.function = reinterpret_cast<const void*>(static_cast<uintptr_t>(id_));
  launch.name = kKernelNames[static_cast<uint32_t>(id_)];
  launch.grid[0] = grid_;
  launch.block[0] = block_;
  launch.argument = argument;
  launch.buffers = call.at;
  return call.driver.Launch(call.device, call.stream, launch);
}

void AddCopy(const device::Ref& y, const device::Ref& x, device::Recorder* recorder) {
  if (y.bytes == 0) return;
  recorder->Add(std::make_unique<CopyCall>(), {device::Writes(y), device::Reads(x)});
}

}  // namespace ge_engines::gpu
