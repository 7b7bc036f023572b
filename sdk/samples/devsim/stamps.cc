#include "stamps.h"

#include "engine.h"
#include "ge/ge_plugin.hpp"

namespace devsim {

using ge::plugin::Fail;
using ge::plugin::Guard;

ge_rc StampsCreate(ge_engine* e, uint32_t device, uint32_t n, ge_stamps** out, ge_err* err) {
  return Guard(err, "devsim: stamps_create", [&]() -> ge_rc {
    if (device >= e->n_device()) {
      return Fail(err, GE_OUT_OF_RANGE, UINT32_MAX, "devsim: stamps_create for device %u of %u",
                  device, e->n_device());
    }
    *out = new ge_stamps{e, device, std::vector<std::atomic<uint64_t>>(n)};
    return GE_OK;
  });
}

void StampsDestroy(ge_stamps* stamps) { delete stamps; }

ge_rc StampsRead(ge_stamps* stamps, uint32_t first, uint32_t n, uint64_t* ns, ge_err* err) {
  const size_t all = stamps->ns.size();
  for (uint32_t i = 0; i < n; ++i) {
    const size_t at = size_t{first} + i;
    ns[i] = at < all ? stamps->ns[at].load(std::memory_order_acquire) : 0;
    if (ns[i] != 0) continue;
    return Fail(err, GE_FAILED_PRECONDITION, UINT32_MAX,
                "devsim: stamps_read of %zu of %zu, which no stream has taken; wait for a signal "
                "behind it first",
                at, all);
  }
  return GE_OK;
}

ge_rc CheckStamp(const ge_stamps& stamps, uint32_t index, const ge_engine* engine, uint32_t device,
                 ge_err* err) {
  if (index < stamps.ns.size() && stamps.engine == engine && stamps.device == device) return GE_OK;
  return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
              "devsim: stream_stamp %u of %zu of device %u on a stream of device %u; wanted one of "
              "these, on a stream of the same device",
              index, stamps.ns.size(), stamps.device, device);
}

}  // namespace devsim
