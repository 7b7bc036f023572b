// Runs that go on without a device that is lost under them. A run has no effect before its end, so
// it begins again from its inputs, on a new plan.
#pragma once

#include "ge/base/log.h"
#include "ge/engine/device_losses.h"
#include "ge/session/session.h"

namespace ge {

template <typename Once>
Status Session::RunDespiteLoss(bool repeats, const Once& once) {
  const uint64_t losses = DeviceLosses::Count();
  if (losses != losses_seen_.load(std::memory_order_relaxed)) [[unlikely]]
    DropLostPlans();
  bool callers_in_use = false;
  Status ran = once(&callers_in_use);
  if (ran.ok()) [[likely]]
    return ran;
  if (callers_in_use || !MayRepeat(ran, losses)) return ran;
  if (!repeats) return NotRepeated(ran);
  LogLine(1, "a run is repeated without the lost device: " + ran.ToString());
  DropLostPlans();
  Status again = once(&callers_in_use);
  if (again.ok()) repeated_runs_.fetch_add(1, std::memory_order_relaxed);
  // Without the device nothing can do it: the reason is the loss.
  if (again.code() == Code::kUnsupported) return ran;
  return again;
}

}  // namespace ge
