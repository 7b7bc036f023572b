#include "faults.h"

#include <chrono>
#include <thread>

#include "ge/ge_plugin.hpp"

namespace devsim {
namespace {

using ge::plugin::Fail;

void SetScope(ge_err* err, uint32_t scope) {
  if (err != nullptr) err->scope = scope;
}

}  // namespace

void Faults::MayHang(uint32_t device) const {
  while (hangs_[device]) std::this_thread::sleep_for(std::chrono::hours(1));
}

ge_rc Faults::OnDevice(uint32_t device, ge_err* err) const {
  if (!lost_[device]) return GE_OK;
  const ge_rc rc = Fail(err, GE_DEVICE_LOST, UINT32_MAX, "devsim: device sim:%u is lost", device);
  SetScope(err, GE_SCOPE_DEVICE);
  return rc;
}

ge_rc Faults::OnWork(const Options& options, uint32_t device, bool on_stream, ge_err* err) {
  const auto nth = static_cast<unsigned long long>(++work_);
  if (nth == options.fail_at) {
    return Fail(err, GE_INTERNAL, UINT32_MAX, "devsim: work %llu fails, as option fail_at asks",
                nth);
  }
  if (nth == options.late_at) {
    if (options.scope_is_device) lost_[device] = true;
    const ge_rc rc =
        Fail(err, GE_INTERNAL, UINT32_MAX, "devsim: work %llu fails, as option late_at asks", nth);
    SetScope(err, options.scope_is_device ? GE_SCOPE_DEVICE : GE_SCOPE_CALL);
    return rc;
  }
  if (nth == options.lost_at) lost_[device] = true;
  if (nth == options.hang_at) hangs_[device] = true;
  if (on_stream) MayHang(device);
  return OnDevice(device, err);
}

}  // namespace devsim
