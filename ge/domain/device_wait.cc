#include "ge/domain/device_wait.h"

#include <algorithm>

#include "ge/base/clock.h"

namespace ge {
namespace {

// Of one call of event_wait: a cancel is noticed behind it.
constexpr uint64_t kSliceNs = 50'000'000;

uint64_t Later(uint64_t now, uint64_t ns) { return ns > UINT64_MAX - now ? UINT64_MAX : now + ns; }

}  // namespace

ge_rc WaitFor(const ge_engine_api& api, ge_event* event, uint64_t value, const WaitLimits& limits,
              ge_err* err) {
  uint64_t slice = kSliceNs;
  uint64_t end = limits.until_ns != 0 ? limits.until_ns : UINT64_MAX;
  if (end != UINT64_MAX || limits.longest_ns != 0) {
    const uint64_t now = NowNs();
    if (limits.longest_ns != 0) end = std::min(end, Later(now, limits.longest_ns));
    slice = end > now ? std::min(slice, end - now) : 0;
  }
  bool ending = false;
  for (;;) {
    const ge_rc rc = api.event_wait(event, value, slice, err);
    if (rc != GE_PENDING) return rc;
    const uint64_t now = NowNs();
    if (!ending && limits.call != nullptr && limits.call->stopped()) {
      ending = true;
      end = std::min(end, Later(now, limits.grace_ns));
    }
    if (now >= end) return rc;
    slice = std::min(kSliceNs, end - now);
  }
}

}  // namespace ge
